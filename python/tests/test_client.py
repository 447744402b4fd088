"""Controllers against a real daemon."""

from __future__ import annotations

import itertools
import os
import threading
import time
from pathlib import Path

import hardstand
import numpy as np
import pytest
from conftest import PATIENT
from hardstand.free import Free
from hardstand.lease import Lease
from hardstand.state import State
from hardstand.wire import public_session


def stand(robot: hardstand.Robot, **options: object) -> list[State]:
    """Holds the initial pose until the run ends."""
    states = []
    for state in robot.states(join="legs", **options):  # type: ignore[arg-type]
        robot.command(q=robot.q_initial, kp=100, kd=3)
        states.append(state)
    return states


def test_a_run_in_lockstep_repeats_bit_for_bit(scenario: Path) -> None:
    digests = []
    for _ in range(2):
        with hardstand.daemon(scenario, duration=0.3) as robot:
            states = stand(robot)
            digests.append(robot.daemon.wait()["digest"])
        assert [s.tick for s in states[:300]] == list(range(300))
        assert states[10].mode == "lockstep"
    assert digests[0] == digests[1]


def test_the_robot_stands_and_arrays_are_views(scenario: Path) -> None:
    with hardstand.daemon(scenario, duration=0.5) as robot:
        state = stand(robot)[-1]
        assert state.q.base is not None and not state.q.flags.writeable
        assert state.q.shape == state.tau.shape == (12,)
        assert 0.3 < state.truth_base_position[2] < 0.36
        assert np.isclose(np.linalg.norm(state.imu_quat), 1)
        assert state.foot_contact.all() and state.foot_contact.shape == (4,)
        weight = -robot.model.mass * robot.model.gravity[2]
        assert abs(state.foot_normal.sum() - weight) < 0.1 * weight
        assert state.authority == "fresh" and state.command_age == 0


def test_drives_are_published_beside_the_states(scenario: Path) -> None:
    drive = 'joints."*".drive.elastic.stiffness_nm_per_rad=300'
    with hardstand.daemon(scenario, duration=20, set=[drive, "battery.voltage_v=28"]) as robot:
        found: list[hardstand.Drives] = []
        first = itertools.islice(robot.drives(), 20)
        reader = threading.Thread(target=lambda: found.extend(first))
        reader.start()
        states = {}
        for state in robot.states(join="legs"):
            states[state.tick] = state
            robot.command(q=robot.q_initial, kp=100, kd=3)
            if not reader.is_alive() and state.tick >= found[-1].tick:
                break
    assert len(found) == 20
    for seen in found:
        assert seen.joints.shape == (12,) and seen.bus_v == 28
        state = states[seen.tick]
        assert (seen.run_id, seen.time_ns) == (state.run_id, state.time_ns)
        # the encoder is on the motor's side
        assert np.array_equal(seen.joints["motor_q"], state.q)
        assert np.all(seen.joints["winding_c"] == 25) and not seen.joints["flags"].any()
    ticks = [seen.tick for seen in found]
    assert ticks == sorted(ticks) and ticks[-1] > 0  # that of tick 0 repeats until a join
    assert np.abs(found[-1].joints["truth_q"] - found[-1].joints["motor_q"]).max() > 0


def test_joints_are_commanded_in_the_order_in_which_they_were_asked_for(scenario: Path) -> None:
    names = ["RR_calf_joint", "FL_hip_joint", "FL_calf_joint"]
    with hardstand.daemon(scenario, duration=0.05, set=["sim.gravity_m_per_s2=[0,0,0]"]) as robot:
        for state in robot.states(join="some", joints=names):
            robot.command(tau=[1.0, 2.0, 3.0])
        assert robot.joints == tuple(names)
        assert np.allclose(state.tau[robot.index], [1, 2, 3])
        others = np.setdiff1d(np.arange(12), robot.index)
        assert np.allclose(state.tau[others], 0)


def test_period_phase_and_offset_are_kept(scenario: Path) -> None:
    with hardstand.daemon(scenario, duration=0.1) as robot:
        states = stand(robot, period=10, phase=3, offset=5)
        assert [s.tick for s in states] == list(range(3, 100, 10))


def test_a_repeated_state_gets_the_same_answer(robot: hardstand.Robot) -> None:
    sent: list[bytes] = []
    states = robot.states(join="legs")
    state = next(states)
    lease = robot._stream
    assert isinstance(lease, Lease)
    robot.command(q=robot.q_initial, kp=100, kd=3)
    publisher, lease._publisher = lease._publisher, type("P", (), {"put": sent.append})()
    assert not lease.is_asked(state), "it has been answered"
    assert not lease.is_asked(state)
    lease._publisher = publisher
    assert len(sent) == 2 and sent[0] == sent[1]
    assert next(states).tick == state.tick + 1


def test_a_state_without_an_answer_comes_again(robot: hardstand.Robot) -> None:
    ticks = [s.tick for s in itertools.islice(robot.states(join="legs"), 3)]
    assert ticks == [0, 0, 0]


def test_values_out_of_range_are_refused_before_they_are_sent(robot: hardstand.Robot) -> None:
    with pytest.raises(hardstand.Refused, match="call it inside"):
        robot.command(q=0)
    next(robot.states(join="legs"))
    with pytest.raises(hardstand.Refused, match=r"kd of RL_hip_joint is -1; it must be 0 to"):
        robot.command(q=0, kp=1, kd=[1.0] * 6 + [-1.0] * 6)
    with pytest.raises(hardstand.Refused, match=r"q of FL_hip_joint is nan"):
        robot.command(q=np.nan, kp=1)
    with pytest.raises(hardstand.Refused, match=r"q has the shape \(3,\)"):
        robot.command(q=[0, 0, 0], kp=1)
    with pytest.raises(hardstand.Refused, match="kp without q"):
        robot.command(kp=1)


def test_a_refusal_to_join_is_the_daemons_reason(robot: hardstand.Robot) -> None:
    with pytest.raises(hardstand.Refused, match='joint "nose" is not one of the robot quadruped'):
        next(robot.states(join="legs", joints=["nose"]))
    next(robot.states(join="legs", joints=["FL_*"]))
    with hardstand.connect("quadruped", robot.bus.endpoint) as second:
        with pytest.raises(hardstand.Refused, match="FL_hip_joint.*legs"):
            next(second.states(join="other"))


def test_a_reset_is_joined_again(robot: hardstand.Robot) -> None:
    seen = []
    for state in robot.states(join="legs"):
        robot.command(q=robot.q_initial, kp=100, kd=3)
        seen.append((state.run_id, state.tick))
        if state.run_id == 1 and state.tick == 50:
            robot.reset()
        if state.run_id == 2 and state.tick == 20:
            break
    assert (2, 0) in seen and (1, 50) in seen


def test_a_snapshot_is_continued_bit_for_bit(robot: hardstand.Robot, tmp_path: Path) -> None:
    digests: dict[tuple[int, int], int] = {}
    saved = b""
    for state in robot.states(join="legs"):
        digests[state.run_id, state.tick] = state.digest
        robot.command(q=robot.q_initial, kp=100, kd=3)
        if state.run_id == 1 and state.tick == 30:
            robot.pause()
            saved = robot.snapshot(tmp_path / "s.state")
            robot.resume()
        if state.run_id == 1 and state.tick == 80:
            robot.restore(tmp_path / "s.state")
        if state.run_id == 2 and state.tick == 60:
            break
    assert os.stat(tmp_path / "s.state").st_mode & 0o777 == 0o600
    first = min(tick for run, tick in digests if run == 2)
    assert 30 <= first <= 32 and saved[:2] == b"HS"
    for tick in range(first, 60):
        assert digests[1, tick] == digests[2, tick], tick


def test_an_observer_sees_every_tick(robot: hardstand.Robot) -> None:
    with hardstand.connect(robot.model.robot, robot.bus.endpoint) as watcher:
        seen = watcher.states(join="watcher", role="observer")
        ticks = {next(seen).tick}
        for state in robot.states(join="legs"):
            robot.command(q=robot.q_initial, kp=100, kd=3)
            if state.tick == 300:
                break
        while max(ticks) < 200:
            ticks.add(next(seen).tick)
        # what a reader that is held up for long does not get, the daemon counts
        lost, until = len(set(range(201)) - ticks), time.monotonic() + 30
        while robot.status().counters.get("messages_unsent", 0) < lost:
            assert time.monotonic() < until, f"{lost} states are missing"
            time.sleep(0.2)
        with pytest.raises(hardstand.Refused, match="observer"):
            watcher.command(q=0)


def test_contacts_carry_the_weight(scenario: Path) -> None:
    with hardstand.daemon(scenario, duration=0.5) as robot:
        contacts = robot.contacts()
        states = robot.states(join="legs")
        next(states)
        robot.command(q=robot.q_initial, kp=100, kd=3)
        first = next(contacts)
        assert first.feet["force_world_n"].shape == (4, 3)
        assert first.stations["slip_m_per_s"].shape == (len(robot.model.stations), 1)
        for state in states:
            robot.command(q=robot.q_initial, kp=100, kd=3)
        last = [c for c in contacts][-1]
        assert last.tick == state.tick
        assert np.allclose(last.feet["normal_n"], state.foot_normal)


def test_bodies_are_read_with_what_they_touch(scenario: Path) -> None:
    box = (
        'bodies=[{name="box", shape="box", size_m=[0.3, 0.3, 0.2], mass_kg=3.0, '
        "position_m=[2.0, 0.0, 0.1031034]}]"
    )
    with hardstand.daemon(scenario, duration=1.0, set=[box]) as robot:
        described = robot.model.bodies[0]
        assert (described.name, described.mass, described.joint) == ("box", 3.0, "free")
        shape = next(s for s in robot.model.shapes if s.carrier == "box")
        assert (shape.kind, shape.size_m) == ("box", pytest.approx((0.3, 0.3, 0.2)))
        seen = robot.bodies()
        states = robot.states(join="legs")
        next(states)
        robot.command(q=robot.q_initial, kp=100, kd=3)
        assert next(seen).names == ("box",)
        for _state in states:
            robot.command(q=robot.q_initial, kp=100, kd=3)
        last = [b for b in seen][-1]
        assert last["box"]["position_world_m"] == pytest.approx((2.0, 0.0, 0.1), abs=0.01)
        assert last.force_on("box") == pytest.approx((0, 0, 3 * 9.81), abs=0.1)
        sides = [last.sides(i) for i in range(len(last.points))]
        assert sides.count(("box", robot.model.surfaces[0])) == 4
        assert last.left_out == 0


def test_a_controller_that_has_not_joined_commands_in_real_time(scenario: Path) -> None:
    with hardstand.daemon(scenario, "realtime", "realtime", set=PATIENT) as robot:
        for state in robot.states():
            robot.command(q=robot.q_initial, kp=100, kd=3)
            if state.tick > 100 and state.authority == "fresh":
                break
        assert isinstance(robot._stream, Free)
        assert state.owner == public_session(robot._stream.session) and robot.losses == 0


def test_a_stopped_daemon_is_an_error(scenario: Path) -> None:
    with hardstand.daemon(scenario) as robot:
        other = hardstand.connect("quadruped", robot.bus.endpoint)
        states = other.states(join="legs", patience=0.5)
        next(states)
    with other, pytest.raises(hardstand.DaemonGone, match="no state on hardstand/quadruped/state"):
        for _state in states:
            pass


def test_no_daemon_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(hardstand.DaemonGone, match="no daemon answers on hardstand/quadruped/mod"):
        hardstand.connect("quadruped", f"unixsock-stream/{tmp_path}/none", timeout=0.1)


def test_a_failed_daemon_raises_its_error(scenario: Path) -> None:
    with pytest.raises(hardstand.HardstandError, match="sim.rate_hz") as refused:
        with hardstand.daemon(scenario, set=["sim.rate_hz=0"]):
            pass
    assert (refused.value.kind, refused.value.exit_code) == ("input", 2)
    patience = ["control.patience_s=1"]
    with pytest.raises(hardstand.HardstandError) as late:
        with hardstand.daemon(scenario, set=patience) as robot:
            for state in robot.states(join="legs"):
                if state.tick < 3:
                    robot.command(q=robot.q_initial, kp=100, kd=3)
    assert (late.value.kind, late.value.exit_code) == ("controller_timeout", 8)


def test_passwords_must_be_secret(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("secret\n")
    file.chmod(0o644)
    with pytest.raises(hardstand.Refused, match="chmod 600"):
        hardstand.connect(user="me", password_file=file, timeout=0.1)
    with pytest.raises(hardstand.Refused, match="belong together"):
        hardstand.connect(user="me", timeout=0.1)
