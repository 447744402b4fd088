"""Proposes a scenario for each robot with `hardstand new`, and prints which of them stand.

    python stands.py FILE... [--hardstand PATH] [--folder FOLDER]

FILE is a URDF or a MuJoCo model. `stands` is what `hardstand new` found in 10 s of simulated time.
The scenarios are kept in FOLDER, if one is named. Exit code 1 if a robot does not stand.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


def propose(program, robot, folder, number):
    """The result of `hardstand new`, or why it refused the file."""
    scenario = pathlib.Path(folder) / f"{number}_{robot.stem}.toml"
    words = [program, "new", robot, "-o", scenario, "--force", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"refused": " ".join(done.stderr.split())}


def row(robot, result):
    """One line of the table."""
    name = "/".join(robot.parts[-3:])
    if "refused" in result:
        return f"{name:60}  refused  {result['refused'][:160]}"
    stands = {True: "stands", False: "FALLS", None: "fixed"}[result["stands"]]
    return f"{name:60}  {stands:7}  {result['posture']:8} {', '.join(result['feet'])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--hardstand", default="hardstand")
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        failed = 0
        for number, robot in enumerate(arguments.files):
            folder = arguments.folder or scratch
            result = propose(arguments.hardstand, robot, folder, number)
            failed += result.get("stands", False) is False
            print(row(robot, result), flush=True)
    print(f"{len(arguments.files)} files, {len(arguments.files) - failed} of them stand or are fixed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
