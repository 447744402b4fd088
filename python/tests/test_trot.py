"""The example that walks: how well it walks, and that it does so by its sensors only.

The plant runs in this process, so no result depends on how fast the machine is.
"""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest
from conftest import ROOT

import hardstand

FILE = ROOT / "examples" / "trot.py"
TILT_MAX_RAD, HEIGHT_MIN_M = 0.3, 0.22


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("trot", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["trot"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


trot = load()
Command = trot.Command
STAND, SPOT = (0.0, Command(trot=False)), (0.5, Command())
WALK = [STAND, SPOT, (1.0, Command(vx_m_per_s=0.4))]


@dataclass
class Walk:
    """What the base did, a row for each tick."""

    position: npt.NDArray[np.float64]  # m, world
    yaw: npt.NDArray[np.float64]  # rad, without jumps
    tilt: npt.NDArray[np.float64]  # rad, against the world's z
    velocity: npt.NDArray[np.float64]  # m/s, world
    believed: npt.NDArray[np.float64]  # m/s, the velocity of the estimator
    digest: int

    def speed(self, from_s: float) -> npt.NDArray[np.float64]:
        """Mean velocity since then, m/s."""
        begin = round(from_s * 1000)
        return (self.position[-1] - self.position[begin]) / ((len(self.yaw) - 1 - begin) * 0.001)


def walk(
    scenario: Path,
    schedule: list[tuple[float, object]],
    duration_s: float,
    *changes: str,
    before: Callable[[hardstand.Plant], None] = lambda plant: None,
    height: Callable[[npt.NDArray[np.float64]], float] = lambda position: position[2],
) -> Walk:
    """Walks, and fails where the robot falls. `before` is called before each tick."""
    pytest.importorskip("hardstand._native")
    plant, controller = hardstand.Plant(scenario, set=changes), trot.Trot()
    rows = []
    for _ in range(round(duration_s / plant.period)):
        before(plant)
        command = [command for start_s, command in schedule if start_s <= plant.time][-1]
        plant.step(**controller.step(trot.read(plant), command))
        position, axes = plant.base_position, trot.rotation(plant.base_quat)
        tilt = math.acos(min(1.0, axes[2, 2]))
        assert tilt < TILT_MAX_RAD, f"tilted by {tilt:.2f} rad at {plant.time:.2f} s"
        assert height(position) > HEIGHT_MIN_M, f"sank at {plant.time:.2f} s"
        yaw = math.atan2(axes[1, 0], axes[0, 0])
        believed = controller.estimator.velocity
        rows.append([*position, yaw, tilt, *plant.base_velocity, *believed])
    r = np.array(rows)
    return Walk(r[:, :3], np.unwrap(r[:, 3]), r[:, 4], r[:, 5:8], r[:, 8:], plant.digest)


def test_it_stands_and_trots_on_the_spot(scenario: Path) -> None:
    stood = walk(scenario, [STAND], 1.0)
    assert stood.position[-1][2] == pytest.approx(trot.HEIGHT_M, abs=0.01)
    assert np.abs(stood.velocity[-1]).max() < 0.02
    trotted = walk(scenario, [STAND, SPOT], 2.5)
    assert np.hypot(*trotted.position[-1][:2]) < 0.1
    assert abs(trotted.yaw[-1]) < 0.05


def test_it_walks_at_the_speed_it_is_told(scenario: Path) -> None:
    ahead = walk(scenario, WALK, 5.5)
    assert ahead.speed(1.5)[0] == pytest.approx(0.4, rel=0.25)
    assert abs(ahead.speed(1.5)[1]) < 0.05
    aside = walk(scenario, [STAND, SPOT, (1.0, Command(vy_m_per_s=0.2))], 3.5)
    assert aside.speed(1.5)[1] == pytest.approx(0.2, rel=0.25)


def test_it_turns_in_place(scenario: Path) -> None:
    turned = walk(scenario, [STAND, SPOT, (1.0, Command(wz_rad_per_s=0.5))], 4.5)
    assert (turned.yaw[-1] - turned.yaw[1500]) / 3 == pytest.approx(0.5, rel=0.3)
    assert np.hypot(*turned.position[-1][:2]) < 0.15


def test_it_follows_the_scenario_s_velocity_commands(scenario: Path) -> None:
    pytest.importorskip("hardstand._native")
    commands = "commands=[{at_s=0.5, vx_m_per_s=0.4}, {at_s=3.0, yaw_rate_rad_per_s=0.5}, {at_s=5.0}]"
    plant, controller = hardstand.Plant(scenario, set=[commands]), trot.Trot()
    pilot, seen = trot.Pilot(None), {}
    while plant.time < 6.5:
        command = pilot.command(plant, plant.time)
        plant.step(**controller.step(trot.read(plant), command))
        axes = trot.rotation(plant.base_quat)
        yaw = math.atan2(axes[1, 0], axes[0, 0])
        seen[plant.tick] = (plant.base_position[0], yaw, np.abs(plant.base_velocity).max())
    assert seen[3000][0] - seen[2000][0] == pytest.approx(0.4, rel=0.25)
    assert seen[5000][1] - seen[4000][1] == pytest.approx(0.5, rel=0.3)
    assert seen[6500][2] < 0.03 and not command.trot


def test_it_stops(scenario: Path) -> None:
    stopped = walk(scenario, [STAND, (0.3, Command(vx_m_per_s=0.4)), (1.5, STAND[1])], 3.0)
    assert np.abs(stopped.velocity[-1]).max() < 0.02
    assert stopped.tilt[-1] < 0.03


@pytest.mark.parametrize("at_s", [1.5, 1.6])
@pytest.mark.parametrize("force_n", [60.0, -60.0])
def test_a_push_does_not_make_it_fall(scenario: Path, force_n: float, at_s: float) -> None:
    def push(plant: hardstand.Plant) -> None:
        if plant.tick == round(at_s * 1000):
            plant.push("trunk", (0, force_n, 0), 0.1)

    pushed = walk(scenario, [STAND, SPOT], 3.0, before=push)
    assert np.abs(pushed.velocity[:, 1]).max() > 0.25, "the push was no push"
    assert abs(pushed.speed(2.5)[1]) < 0.1


@pytest.mark.parametrize("slope_rad", [0.1, -0.1])
def test_it_walks_up_and_down_where_gravity_leans(scenario: Path, slope_rad: float) -> None:
    x, z = -9.81 * math.sin(slope_rad), -9.81 * math.cos(slope_rad)
    walked = walk(scenario, WALK, 4.0, f"sim.gravity_m_per_s2=[{x}, 0.0, {z}]")
    assert walked.speed(2.0)[0] == pytest.approx(0.4, rel=0.25)


@pytest.mark.parametrize("slope_rad", [0.1, -0.1])
def test_it_walks_up_and_down_an_inclined_plane(scenario: Path, slope_rad: float) -> None:
    rpy = [0.0, -slope_rad, 0.0]
    walked = walk(
        scenario, WALK, 4.0, f"planes=[{{position_m=[0.0, 0.0, 0.0], rpy_rad={rpy}}}]",
        f"initial.rpy_rad={rpy}", height=lambda p: p[2] - math.tan(slope_rad) * p[0],
    )
    assert walked.speed(2.0)[0] == pytest.approx(0.4, rel=0.25)


def test_it_walks_over_a_curb(scenario: Path) -> None:
    curb = "terrain=[{kind='box', position_m=[0.8, 0.0, 0.0], size_m=[0.6, 2.0, 0.06]}]"
    walked = walk(scenario, WALK, 5.5, curb)
    assert walked.position[-1][0] > 1.4, "both feet are beyond the far edge"
    assert walked.position[:, 2].max() > 0.33


def test_the_estimator_knows_the_velocity(scenario: Path) -> None:
    walked = walk(scenario, WALK, 3.0)
    error = (walked.believed - walked.velocity)[500:]
    assert np.sqrt((error**2).mean(axis=0)) == pytest.approx(0, abs=0.03)


def test_it_uses_its_sensors_only() -> None:
    source = FILE.read_text()
    assert not re.search(r"truth|\.base_|foot_normal|\.tau\b", source)
    assert [f.name for f in fields(trot.Readings)] == [
        "time_s", "orientation", "gyro_body_rad_per_s", "acc_body_m_per_s2", "q_rad",
        "dq_rad_per_s", "contact",
    ]
    assert "source" not in source[source.index("class Trot"):source.index("def read")]
    imports = re.findall(r"^(?:import|from) (\w+)", source, re.M)
    assert {i for i in imports if i not in sys.stdlib_module_names} == {"numpy", "hardstand"}
    assert len(source.splitlines()) <= 500


def test_jacobians_and_inverse_kinematics_fit_the_robot(scenario: Path) -> None:
    pytest.importorskip("hardstand._native")
    robot = hardstand.Dynamics(scenario.parent / "robots" / "quadruped.urdf")
    q = np.array([[0.2, 0.9, -1.4], [-0.3, 0.4, -1.9], [0.0, 1.3, -2.5], [0.5, -0.2, -1.0]])
    legs = trot.Legs(q)
    for i, name in enumerate(("FL", "FR", "RL", "RR")):
        foot, _ = robot.pose(f"{name}_foot", [0, 0, 0], [1, 0, 0, 0], q)
        assert legs.feet[i] == pytest.approx(foot, abs=1e-12)
    straight = trot.Legs(trot.inverse_kinematics(legs.feet))
    assert straight.feet == pytest.approx(legs.feet, abs=1e-9)
    for joint in range(3):
        step = np.zeros((4, 3))
        step[:, joint] = 1e-6
        change = (trot.Legs(q + step).feet - trot.Legs(q - step).feet) / 2e-6
        assert legs.jacobians(legs.feet)[:, :, joint] == pytest.approx(change, abs=1e-8)


def test_in_lockstep_every_run_is_the_same(scenario: Path) -> None:
    ahead, digests = (0.4, 0.0, 0.0), []
    for _ in range(2):
        with hardstand.daemon(scenario, duration=2.0) as robot:
            trot.run_in_daemon(robot, ahead, math.inf)
            ended = robot.daemon.wait()
        assert ended is not None and ended.ticks == 2000
        digests.append(ended.digest)
    assert digests[0] == digests[1]
    plant, controller, pilot = hardstand.Plant(scenario), trot.Trot(), trot.Pilot(ahead)
    while plant.tick < 2000:
        command = pilot.command(plant, plant.time)
        plant.step(**controller.step(trot.read(plant), command))
    assert digests[0] == f"{plant.digest:016x}"
