"""Orders to a running daemon, and what it answers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import hardstand
import numpy as np
import pytest
from hardstand.fault_table import FAULTS


@pytest.fixture
def free(scenario: Path, tmp_path: Path):  # type: ignore[no-untyped-def]
    """A daemon that needs no controller, paused, with a log."""
    more = ["sim.start='now'"]
    log = tmp_path / "run.mcap"
    with hardstand.daemon(scenario, "realtime", "realtime", set=more, log=log) as robot:
        robot.wait_tick(5)
        robot.pause()
        yield robot


def test_ticks_are_stepped_forward_and_back(free: hardstand.Robot) -> None:
    here = free.step(10)
    state = free.wait_tick(here)
    assert state.tick == here
    assert free.step(-4) == here - 4
    back = free.state()
    assert (back.tick, back.phase, back.run_id) == (here - 4, "paused", 2)
    assert free.run_until(here + 20) == here + 20
    again = free.wait_tick(here + 20)
    assert again.tick == here + 20 and again.run_id == 2


def test_speed_reset_stop_and_arm_are_ordered(free: hardstand.Robot) -> None:
    free.speed(2.0)
    free.resume()
    assert free.status().mode == "realtime"
    tick = free.stop()
    assert free.wait_tick(tick + 1).authority == "stopped"
    free.arm()
    assert free.reset() == 0
    event = free.events.wait("order", 5.0, test=lambda e: "reset" in e.text)
    assert event is not None and event.asker.startswith("pid-")
    with pytest.raises(hardstand.Refused, match="speed"):
        free.speed(-1.0)


def test_a_velocity_is_in_every_state(free: hardstand.Robot) -> None:
    assert free.state().velocity_command.tolist() == [0, 0, 0]
    tick = free.velocity(0.4, -0.1, 0.2)
    free.step(5)
    assert free.wait_tick(tick + 1).velocity_command.tolist() == [0.4, -0.1, 0.2]
    with pytest.raises(hardstand.Refused, match="vx_m_per_s is 1000; it must be -100 to 100"):
        free.velocity(1000)


def test_a_push_moves_the_robot(free: hardstand.Robot) -> None:
    tick = free.push("trunk", (0, 200, 0), ticks=20)
    free.step(30)
    state = free.wait_tick(tick + 25)
    assert state.truth_base_velocity[1] > 0.1
    with pytest.raises(hardstand.Refused, match="nose"):
        free.push("nose", (0, 1, 0), 0.1)
    with pytest.raises(hardstand.Refused, match="force has 2 numbers"):
        free.push("trunk", (0, 1), 0.1)
    with pytest.raises(hardstand.Refused, match="either duration"):
        free.push("trunk", (0, 1, 0))


def test_friction_and_faults_are_set_and_cleared(free: hardstand.Robot) -> None:
    contacts = free.contacts()
    tick = free.friction(0.3, 0.2, foot="FL")
    free.step(5)
    shown = next(c for c in contacts if c.tick > tick)
    own = list(free.model.foot_stations[free.model.foot("FL")])
    assert np.allclose(shown.stations["mu_static"][own], 0.3)
    with pytest.raises(hardstand.Refused, match="mu_kinetic is 0.9"):
        free.friction(0.5, 0.9)
    with pytest.raises(hardstand.Refused, match='foot "XX" is not one of the robot quadruped'):
        free.friction(0.5, 0.4, foot="XX")
    before = free.state().q[0]
    free.fault("encoder_offset", joint="FL_hip_joint", offset=0.5)
    tick = free.step(2)
    assert free.wait_tick(tick).q[0] - before > 0.4
    free.clear("encoder_offset")
    with pytest.raises(hardstand.Refused, match="share is 1.5"):
        free.fault("battery_sag", share=1.5)
    with pytest.raises(hardstand.Refused, match='no parameter "shape"; it has: share'):
        free.fault("battery_sag", shape=1)
    with pytest.raises(hardstand.Refused, match="needs the parameter share"):
        free.fault("battery_sag")
    with pytest.raises(hardstand.Refused, match='fault "nap"'):
        free.fault("nap")


def test_the_model_has_names_limits_and_the_urdf(free: hardstand.Robot) -> None:
    model = free.model
    assert model.robot == "quadruped" and len(model.joints) == 12 and model.period == 0.001
    assert (model.q_min < model.q_initial).all() and (model.q_initial < model.q_max).all()
    assert model.feet == ("FL", "FR", "RL", "RR") and 14 < model.mass < 15
    assert (model.effort_max > 0).all() and not model.prismatic.any()
    assert model.imu_frame.body == model.base_link
    assert "<robot" in free.urdf()


def test_the_table_of_faults_is_the_programs(program: str) -> None:
    said = subprocess.run([program, "faults", "--json"], capture_output=True, check=True)
    theirs = {f["name"]: [p["name"] for p in f["parameters"]] for f in json.loads(said.stdout)}
    assert theirs == {name: list(parameters) for name, parameters in FAULTS.items()}
