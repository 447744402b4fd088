"""Chooses the groups of parameters that are fitted to a log on the first half of it, and predicts the
second half once.

    python3 benches/go2_air/choose.py TABLE [--hardstand target/release/hardstand]

TABLE comes from `hardstand import`. Each choice of groups is fitted to the first two thirds of the
first half and scored on its last third; the second half is not read. The best choice is then fitted
to the whole first half, and its error on the second half is printed. Python's own library is enough.
"""

import argparse
import csv
import gzip
import json
import subprocess
import tempfile
from pathlib import Path

SCENARIO = Path(__file__).parents[2] / "examples/go2_air/go2.toml"
KINDS = ("*_hip_joint", "*_thigh_joint", "*_calf_joint")
KEYS = ("hold_kp", "hold_kd", "armature", "friction")


def each_kind(keys):
    return [f"{key}@{kind}" for key in keys for kind in KINDS]


CHOICES = {
    "one of each for all joints": list(KEYS),
    "gains and friction of hip, thigh, calf": each_kind(("hold_kp", "hold_kd", "friction")),
    "all of hip, thigh, calf": each_kind(KEYS),
    "the same, friction of each joint": each_kind(KEYS[:3]) + ["friction@each"],
    "the same, damping of each kind": each_kind((*KEYS[:3], "damping")) + ["friction@each"],
    "all of each joint": [f"{key}@each" for key in KEYS],
}


def calibrate(program, table, groups, hold_back, folder):
    """The report of a fit, or the reason why there is none."""
    words = [program, "calibrate", table, SCENARIO, "--fit", ",".join(groups), "--json"]
    words += ["--hold-back", str(hold_back), "-o", folder / "fitted"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


def first_half(table, folder):
    opened = gzip.open(table, "rt") if str(table).endswith(".gz") else open(table)
    with opened as file:
        head, *rows = csv.reader(file)
    time = head.index("time_s")
    middle_s = 0.5 * (float(rows[0][time]) + float(rows[-1][time]))
    half = folder / "half.csv"
    with open(half, "w", newline="") as file:
        csv.writer(file).writerows([head, *(row for row in rows if float(row[time]) < middle_s)])
    return half


def mrad(report, part):
    return 1e3 * report[part][1]["rms_rad"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--hardstand", default="target/release/hardstand")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        half = first_half(given.table, folder)
        scores = {}
        print(f"{'groups':40} numbers  fitted  scored, mrad")
        for choice, groups in CHOICES.items():
            report = calibrate(given.hardstand, half, groups, 1 / 3, folder)
            if isinstance(report, str):
                print(f"{choice:40} {report}")
                continue
            count, fit = len(report["estimates"]), mrad(report, "fit")
            scores[choice] = mrad(report, "held_back")
            print(f"{choice:40} {count:7} {fit:7.2f} {scores[choice]:7.2f}")
        best = min(scores, key=scores.get)
        report = calibrate(given.hardstand, given.table, CHOICES[best], 0.5, folder)
        if isinstance(report, str):
            raise SystemExit(f"{best}: {report}")
        print(f"chosen: {best}; second half {mrad(report, 'held_back'):.2f} mrad")


if __name__ == "__main__":
    main()
