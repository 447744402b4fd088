"""Drops a ball and a box on MuJoCo's contact: the references of the presets "mujoco_…".

    python benches/contact_presets/mujoco_reference.py     # needs: pip install mujoco

Writes mujoco_*.csv beside itself: time, s, and the height of the lowest point over the plane, m, of
a body that falls from 0.1 m. Each file begins with its provenance, and with the height at rest and
the extremes of all steps, of which it has every tenth.
"""

from pathlib import Path

import mujoco

TIMESTEP_S = 1e-4
EVERY_S = 1e-3
END_S = 0.6
DROP_M = 0.1
SIZE_M = 0.05
BODIES = {
    "ball": 'type="sphere" size="0.05"',
    "box": 'type="box" size="0.05 0.05 0.05"',
}
# solref: time constant, s, and damping ratio; solimp is MuJoCo's default everywhere
CONTACTS = {"mujoco_default": "0.02 1", "mujoco_stiff": "0.002 1"}
SOLIMP = "0.9 0.95 0.001"

MODEL = """
<mujoco>
  <option timestep="{timestep}" gravity="0 0 -9.81"/>
  <default><geom solref="{solref}" solimp="{solimp}"/></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body pos="0 0 {z}"><freejoint/><geom {shape} mass="{mass}"/></body>
  </worldbody>
</mujoco>
"""


def fall(solref: str, shape: str, mass_kg: float, drop_m: float, end_s: float) -> list[tuple]:
    """Time and height of the lowest point after every step."""
    xml = MODEL.format(timestep=TIMESTEP_S, solref=solref, solimp=SOLIMP, shape=shape,
                       mass=mass_kg, z=SIZE_M + drop_m)
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    rows = [(0.0, data.qpos[2] - SIZE_M)]
    for i in range(round(end_s / TIMESTEP_S)):
        mujoco.mj_step(model, data)
        rows.append(((i + 1) * TIMESTEP_S, data.qpos[2] - SIZE_M))
    return rows


def main() -> None:
    folder = Path(__file__).parent
    for preset, solref in CONTACTS.items():
        for body, shape in BODIES.items():
            rows = fall(solref, shape, 1.0, DROP_M, END_S)
            rest_m = fall(solref, shape, 1.0, 0.0, 3.0)[-1][1]
            heavy_m = fall(solref, shape, 1000.0, 0.0, 3.0)[-1][1]
            lowest_m, at = min((z, i) for i, (_, z) in enumerate(rows))
            every = round(EVERY_S / TIMESTEP_S)
            head = [
                f"# MuJoCo {mujoco.__version__}, timestep {TIMESTEP_S} s, Euler, solver and cone "
                "at their defaults",
                f"# solref {solref}, solimp {SOLIMP}; {body} of 1 kg, {shape}",
                f"# rest_m {rest_m:.9f}",
                f"# rest_of_1000_kg_m {heavy_m:.9f}",
                f"# lowest_m {lowest_m:.9f}",
                f"# highest_after_it_m {max(z for _, z in rows[at:]):.9f}",
                "time_s,height_m",
            ]
            lines = [f"{t:.3f},{z:.9f}" for t, z in rows[::every]]
            path = folder / f"{preset}_{body}.csv"
            path.write_text("\n".join(head + lines) + "\n")
            print("\n".join([path.name, *head]))


if __name__ == "__main__":
    main()
