"""Predicts tosses with MuJoCo for the example `cube_tosses`, which starts this script.

Reads lines of JSON and answers each with one line. The first line describes the cube and the first
state of each toss, all in SI units; the answer is MuJoCo's version. Each further line has the
parameters of one prediction; the answer is, for each toss, for each sample after the first state,
[x, y, z, qw, qx, qy, qz]. The example scores both simulators with the same code.
"""

from __future__ import annotations

import itertools
import json
import sys
from typing import Any

import mujoco
import numpy as np

# Out of the box, but for the coefficient of friction that was published with the data: with MuJoCo's
# own, 1, the cube tumbles much further.
DEFAULT = 'friction="0.18"'
TUNED = """
    solref="{timeconst_s:.9g} {dampratio:.9g}" solimp="{dmin:.9g} {dmax:.9g} {width_m:.9g}"
    friction="{mu:.9g} {mu_torsion_m:.9g} {mu_roll_m:.9g}" condim="6"
"""
XML = """
<mujoco>
  <option timestep="{timestep_s:.17g}" gravity="0 0 -{gravity:.9g}" {option}/>
  <default><geom {geom}/></default>
  <worldbody>
    <geom name="table" type="plane" size="10 10 1"/>
    <body name="cube">
      <freejoint/>
      <inertial pos="{com}" mass="{mass_kg:.9g}" diaginertia="{I:.9g} {I:.9g} {I:.9g}"/>
      {body}
    </body>
  </worldbody>
</mujoco>
"""


def corners(half: float, radius: float) -> str:
    """Eight spheres, as the stations of the other laws have them."""
    sides = itertools.product((-1, 1), repeat=3)
    places = (" ".join(f"{side * (half - radius):.9g}" for side in corner) for corner in sides)
    return "".join(f'<geom type="sphere" size="{radius:.9g}" pos="{p}"/>' for p in places)


def model(cube: dict[str, Any], parameters: dict[str, float] | None) -> tuple[mujoco.MjModel, int]:
    """The cube on the table, and the number of steps per sample."""
    half = cube["half_width_m"]
    if parameters is None:
        steps, option, geom = 4, "", DEFAULT  # 1.7 ms; MuJoCo's default is 2 ms
        inertia = cube["inertia_kg_m2"]
        body = f'<geom type="box" size="{half:.9g} {half:.9g} {half:.9g}"/>'
    else:
        steps, geom = 8, TUNED.format(**parameters)
        option = f'cone="elliptic" impratio="{parameters["impratio"]:.9g}"'
        inertia = parameters["inertia_kg_m2"]
        body = corners(half, parameters["radius_m"])
    text = XML.format(
        timestep_s=cube["dt_s"] / steps,
        gravity=cube["gravity_m_per_s2"],
        option=option,
        geom=geom,
        com=" ".join(f"{x:.9g}" for x in cube["com_m"]),
        mass_kg=cube["mass_kg"],
        I=inertia,
        body=body,
    )
    return mujoco.MjModel.from_xml_string(text), steps


def rotation(q: list[float]) -> np.ndarray:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, np.array(q))
    return flat.reshape(3, 3)


def predict(m: mujoco.MjModel, steps: int, start: dict[str, Any]) -> list[list[float]]:
    d = mujoco.MjData(m)
    d.qpos[:3] = start["p_m"]
    d.qpos[3:] = start["q_wxyz"]
    d.qvel[:3] = start["v_m_per_s"]
    d.qvel[3:] = rotation(start["q_wxyz"]).T @ np.array(start["w_rad_per_s"])  # MuJoCo: in the body
    out = []
    for _ in range(start["samples"]):
        mujoco.mj_step(m, d, nstep=steps)
        out.append(d.qpos.tolist())
    return out


def main() -> None:
    cube = json.loads(sys.stdin.readline())
    print(json.dumps({"version": mujoco.__version__}), flush=True)
    for line in sys.stdin:
        m, steps = model(cube, json.loads(line))
        print(json.dumps([predict(m, steps, start) for start in cube["starts"]]), flush=True)


if __name__ == "__main__":
    main()
