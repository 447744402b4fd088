"""How hard a walker can be pushed, by direction and by phase of its gait: `hardstand pushes`, with
the policy in the process of the simulation.

    python3 benches/walkers/pushes.py "Go2 rl_sar" FOLDER --period 0.5 --most 1000

What follows the folder goes to `hardstand pushes`: `--sweep` tries all cases.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hardstand import binary

import ours
import scenario
from run import chosen


def main() -> int:
    """Exit code of `hardstand pushes`; 2 without a walker and a folder."""
    if len(sys.argv) < 3 or len(walkers := chosen(sys.argv[1:2])) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    [walker], folder = walkers, Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    file = scenario.write(walker, folder)
    program = str(binary.find())
    sets = [w for s in scenario.changes(walker.robot, "exponential_spring") for w in ("--set", s)]
    options = ["--until", "fell", "--at", "3", "--times", "4", "--directions", "12"]
    out = ["--out", str(folder / "pushes"), "--in-process"]
    controller = ours.command_line(walker)
    line = [program, "pushes", str(file), *options, *sets, *out, *sys.argv[3:], "--", *controller]
    return subprocess.run(line, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
