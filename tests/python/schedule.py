"""A controller of the package that holds the joints with a schedule, until no state comes."""

import argparse

import hardstand

options = argparse.ArgumentParser(description=__doc__)
options.add_argument("--connect", required=True)
for name, default in [("period", 1), ("phase", 0), ("offset", 0)]:
    options.add_argument(f"--{name}", default=default, type=int)
a = options.parse_args()
with hardstand.connect("quadruped", a.connect) as robot:
    schedule = {"period": a.period, "phase": a.phase, "offset": a.offset}
    for _state in robot.states(join="legs", patience=60.0, **schedule):
        robot.command(q=robot.q_initial, kp=100, kd=3)
