"""Controllers that lose the robot in real time, and come back."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import hardstand
import pytest

# short, so that a pause of the controller loses the robot
SHORT = ["command.hold_ticks=30", "command.damped_ticks=30"]


def test_a_late_controller_joins_again_and_says_why(
    scenario: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "hardstand")
    with hardstand.daemon(scenario, "realtime", "realtime", duration=20, set=SHORT) as robot:
        fresh = 0
        for state in robot.states(join="legs"):
            robot.command(q=robot.q_initial, kp=100, kd=3)
            fresh += state.authority == "fresh"
            if fresh == 20 and robot.losses == 0:
                time.sleep(0.3)
            if robot.losses > 0 and state.authority == "fresh":
                break
        event = robot.events.find("rejoined")
    assert event is not None and event.controller == "legs"
    assert 'controller "legs" lost its joints at tick' in event.text
    assert "its owner now: " in event.text and "joined again from tick" in event.text
    assert event.text in caplog.text


def test_a_controller_whose_joints_were_taken_names_the_owner(scenario: Path) -> None:
    with hardstand.daemon(scenario, "realtime", "realtime", duration=20, set=SHORT) as robot:
        with hardstand.connect(robot.model.robot, robot.bus.endpoint) as thief:
            states = robot.states(join="legs")
            for state in states:
                robot.command(q=robot.q_initial, kp=100, kd=3)
                if state.authority == "fresh":
                    break
            robot._leases["legs"].leave()
            stolen = thief.states(join="thief")
            with pytest.raises((hardstand.Lost, hardstand.Refused), match="thief"):
                while True:
                    next(stolen)
                    thief.command(q=thief.q_initial, kp=100, kd=3)
                    robot._leases["legs"].join()


def test_a_late_controller_that_has_not_joined_takes_a_new_session(scenario: Path) -> None:
    with hardstand.daemon(scenario, "realtime", "realtime", duration=20, set=SHORT) as robot:
        sessions = set()
        fresh = 0
        for state in robot.states():
            robot.command(q=robot.q_initial, kp=100, kd=3)
            if state.authority == "fresh":
                sessions.add(state.owner)
                fresh += 1
            if fresh == 20 and robot.losses == 0:
                time.sleep(0.3)
            if len(sessions) == 2:
                break
        event = robot.events.find("rejoined")
        assert robot.losses >= 1 and event is not None
        assert "lost the robot at tick" in event.text and "late" in event.text
