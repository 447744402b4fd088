#!/usr/bin/env python3
"""Runs a campaign on a Ray cluster, one slice of it in each task, and shows its table.

    pip install ray
    python3 examples/campaign_ray.py examples/campaign.toml --slices 6

Without --address it starts a cluster on this machine, for itself. On several machines FILE and the
results have to lie in a folder that all of them share.
"""

import argparse
import csv
import pathlib
import subprocess
import sys

import ray

LACKS_CASES = 3  # exit code of a campaign that was stopped


def campaign(*arguments):
    """Runs `hardstand campaign` and returns its exit code and its output."""
    done = subprocess.run(["hardstand", "campaign", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


# A task that was stopped, or whose machine was lost, runs again; finished cases do not.
@ray.remote(num_cpus=1, max_retries=3, retry_exceptions=True)
def run_slice(index, count, arguments):
    code, said = campaign(*arguments[0], "--shard", f"{index}/{count}", "--jobs", "1", *arguments[1])
    if code == LACKS_CASES or code < 0:
        raise RuntimeError(f"slice {index} of {count} was stopped:\n{said}")
    return code, said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--slices", type=int, default=8)
    parser.add_argument("--out", type=pathlib.Path, help="folder of results")
    parser.add_argument("--address", help="of a cluster that runs already")
    parser.add_argument("controller", nargs="*", help="its command, after --")
    a = parser.parse_args()
    file = a.file.resolve()
    out = (a.out or file.with_name(f"{file.stem}-results")).resolve()
    arguments = [str(file), "--out", str(out)], ["--", *a.controller] if a.controller else []

    ray.init(address=a.address, include_dashboard=False)
    tasks = [run_slice.remote(i, a.slices, arguments) for i in range(a.slices)]
    while tasks:
        [done], tasks = ray.wait(tasks)
        code, said = ray.get(done)
        print(f"a slice has ended with {code}, {len(tasks)} to go", flush=True)
        if code == 2:
            sys.exit(said)
    ray.shutdown()

    code, said = campaign(*arguments[0], "--table", *arguments[1])
    print(said, end="")
    with open(out / "table.csv", newline="", encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    slowest = max(rows, key=lambda row: float(row["wall_s"]))
    print(f"{len(rows)} rows; {slowest['case']} took longest, {float(slowest['wall_s']):.1f} s")
    sys.exit(code)


if __name__ == "__main__":
    main()
