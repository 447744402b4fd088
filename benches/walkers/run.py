"""Runs walking policies of other projects on Hardstand and in MuJoCo, and compares them.

    python3 benches/walkers/run.py [--quick] [--only NAME] [--json FILE] [--markdown FILE.md]

The policies and robots are read from installed packages; what is missing is named with the command
that installs it. docs/walkers.md describes what is measured.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
import time
from importlib import metadata, util
from pathlib import Path
from typing import Any

from walkers import INSTALL, NEEDED, WALKERS, Walker

FULL_S, QUICK_S, SETTLE_S, QUICK_SETTLE_S = 8.0, 4.0, 2.0, 1.0
QUICK = ("stand", "forward slow", "turn left")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three commands, fewer tests")
    parser.add_argument("--only", action="append", default=[], help="walkers with this in the name")
    parser.add_argument("--json", type=Path, help="file for all numbers")
    parser.add_argument("--markdown", type=Path, help="page whose measured part is rewritten")
    parser.add_argument("--no-sharp", action="store_true", help="only the table")
    parser.add_argument("--from-json", type=Path, help="measure nothing, write the page")
    return parser.parse_args()


def chosen(only: list[str]) -> list[Walker]:
    """The walkers whose packages are installed; prints what is missing."""
    walkers = [w for w in WALKERS if not only or any(o.lower() in w.name.lower() for o in only)]
    absent = sorted({package for w in walkers for package in w.missing()})
    if absent:
        names = ", ".join(w.name for w in walkers if w.missing())
        print(f"not installed: the packages of {names}; {INSTALL} {' '.join(absent)}")
    return [w for w in walkers if not w.missing()]


def measure_all(walkers: list[Walker], quick: bool, sharp: bool) -> dict[str, Any]:
    """All rows and tests."""
    from rows import Bench, live_rows, rows

    seconds, settle = (QUICK_S, QUICK_SETTLE_S) if quick else (FULL_S, SETTLE_S)
    found: dict[str, Any] = {
        "versions": {name: metadata.version(name) for name in NEEDED}
        | {"python": platform.python_version()},
        "packages": {w.name: w.versions for w in walkers}, "quick": quick, "seconds": seconds,
        "settle_s": settle, "rows": [], "sharp": {},
    }
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        for walker in walkers:
            bench = Bench(walker, Path(folder))
            commands = {n: c for n, c in walker.commands.items() if not quick or n in QUICK}
            for row in rows(bench, commands, seconds, settle):
                found["rows"].append(row)
                say(row)
            slow = "forward slow"
            for row in live_rows(bench, slow, walker.commands[slow], seconds, settle):
                found["rows"].append(row)
                say(row)
            if sharp:
                from sharp import sharp_tests

                for name, result in sharp_tests(bench, quick):
                    found["sharp"].setdefault(walker.name, {})[name] = result
                    print(f"{walker.name:11} {name}: {json.dumps(result)}", flush=True)
    found["wall_s"] = time.perf_counter() - begin
    return found


def say(row: dict[str, Any]) -> None:
    """A row as a line."""
    asked = " ".join(f"{v:5.2f}" for v in row["asked"])
    got = " ".join(f"{v:6.3f}" for v in row["measured"])
    fell = "" if row["fell_s"] is None else f" FELL at {row['fell_s']:.2f} s"
    bits = {True: " same bits", False: " OTHER BITS"}.get(row.get("same_bits", ""), "")
    print(
        f"{row['walker']:11} {row['command']:13} {row['simulator']:26} asked {asked}  measured "
        f"{got}  {row['height_m']:.3f} m {row['torque_nm']:6.2f} N·m {row['power_w']:7.1f} W "
        f"{row['positive_w']:7.1f} W {row['steps_hz']:5.2f} Hz {row['digest']}{fell}{bits}",
        flush=True,
    )


def main() -> int:
    """Runs the command line: 0, or 1 if a test failed, or 2 if nothing can be run."""
    a = arguments()
    absent = [name for name in NEEDED if util.find_spec(name) is None]
    if absent:
        wheel = "target/wheel/hardstand-*.whl"  # not on PyPI; .ci/wheel builds it
        names = [wheel if name == "hardstand" else name for name in absent]
        print(f"not installed: pip install {' '.join(names)}")
        return 2
    if a.from_json:
        found = json.loads(a.from_json.read_text())
    else:
        walkers = chosen(a.only)
        if not walkers:
            return 2
        found = measure_all(walkers, a.quick, not a.no_sharp)
    if a.json:
        a.json.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    if a.markdown:
        from report import rewrite

        rewrite(a.markdown, found)
    from report import problems

    wrong = problems(found)
    for line in wrong:
        print(f"PROBLEM {line}")
    print(f"{len(found['rows'])} rows, {len(wrong)} problems, {found['wall_s']:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
