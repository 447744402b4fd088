"""Makes the scenario of a walker: what `hardstand new` writes, in the posture of the contract."""

from __future__ import annotations

import re
from pathlib import Path

from hardstand import binary
from hardstand import contract as contracts

from walkers import Robot, Walker

MODELS = ("exponential_spring", "hunt_crossley", "rigid")


def posture(walker: Walker) -> dict[str, float]:
    """The initial positions of all joints, rad."""
    contract = contracts.load(walker.contract)
    out = dict(zip(contract.joints, contract.default_q, strict=True))
    for hold in contract.hold:
        values = hold.q if isinstance(hold.q, list) else [hold.q] * len(hold.joints)
        out.update(zip(hold.joints, values, strict=True))
    return out


def feet(robot: Robot) -> str:
    """The tables of the feet."""
    return "".join(
        f'[[feet]]\nname = "{foot.name}"\nlink = "{foot.link}"\n'
        f"points_m = {[list(p) for p in foot.points]}\nradius_m = {foot.radius}\n\n"
        for foot in robot.feet
    )


def write(walker: Walker, folder: Path) -> Path:
    """The scenario. Feet and posture are replaced; everything else is that of `hardstand new`."""
    file = folder / (re.sub(r"\W+", "-", walker.name.lower()) + ".toml")
    binary.call("new", walker.mjcf, "-o", file, "--force", "--json")
    text = file.read_text()
    joints = "".join(f'"{name}" = {value}\n' for name, value in posture(walker).items())
    # a scenario has these blocks in this order: initial, joints, contact, feet, stations, imu
    text = re.sub(r"keyframe = .*\n", "", text)
    text, n = re.subn(r"(?s)(\[initial\.joints\]\n).*?(?=\n# hold_kp)", rf"\g<1>{joints}", text)
    old = r"(?s)\[\[feet\]\].*?(?=\n# The corners|\n\[imu\]|\Z)"
    text, m = re.subn(old, feet(walker.robot), text)
    if (n, m) != (1, 1):
        raise ValueError(f"{file}: not the form that `hardstand new` is known to write")
    file.write_text(text)
    return file


def changes(robot: Robot, model: str) -> list[str]:
    """What is set for a contact model: the friction of the MuJoCo model, without a lower kinetic
    one, which MuJoCo does not have. In *MuJoCo stiff* links do not touch each other either."""
    mu = robot.friction
    out = ["contact.self_collision=false", f"contact.model={model}"]
    out += [f"contact.mu_static={mu}", f"contact.mu_kinetic={mu}"]
    if model == "hunt_crossley":
        for material in ("rubber", "concrete"):
            out += [f"materials.{material}.mu_static={mu}", f"materials.{material}.mu_dynamic={mu}"]
    return [*out, *robot.set]
