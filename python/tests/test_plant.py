"""The plant in this process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hardstand

pytest.importorskip("hardstand._native")


def standing(scenario: Path) -> hardstand.Plant:
    plant = hardstand.Plant(scenario)
    plant.step(q=plant.q_initial, kp=100, kd=3, ticks=300)
    return plant


def test_a_plant_has_the_bits_of_the_daemon(scenario: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.mcap"
    push = '{at_s=0.1, kind="push", link="trunk", force_n=[0.0, 40.0, 0.0], duration_s=0.05}'
    with hardstand.daemon(scenario, duration=0.5, log=log, set=[f"events=[{push}]"]) as robot:
        for _state in robot.states(join="python"):
            robot.command(q=robot.q_initial, kp=100, kd=3)
    plant = hardstand.Plant(scenario)
    plant.step(q=plant.q_initial, kp=100, kd=3, ticks=100)
    plant.push("trunk", [0, 40, 0], 0.05)
    plant.step(ticks=400)
    last = hardstand.read(log).to_numpy()["base.z"][-1]
    assert plant.base_position[2] == last
    assert hardstand.replay(log)["digest"] == f"{plant.digest:016x}"


NOISY = [
    "sensors.imu.gyro.bias_rad_per_s=0.02",
    'sensors.joints."*"={noise_rad=1e-3, torque={noise_nm=0.2}}',
    "sensors.feet.force.noise_n=2",
]


def test_sensors_with_errors_have_the_truth_beside_them(scenario: Path, tmp_path: Path) -> None:
    plant = hardstand.Plant(scenario, set=NOISY)
    plant.step(q=plant.q_initial, kp=100, kd=3, ticks=300)
    pairs = [(plant.q, plant.truth_q), (plant.tau, plant.truth_tau),
             (plant.imu_gyro, plant.truth_imu_gyro), (plant.foot_normal, plant.truth_foot_normal)]
    for shown, truth in pairs:
        assert shown.shape == truth.shape and np.all(shown != truth)
    assert np.abs(plant.q - plant.truth_q).max() < 0.006
    assert np.array_equal(plant.imu_acc, plant.truth_imu_acc), "it has no errors"
    ideal = standing(scenario)
    assert np.array_equal(ideal.q, ideal.truth_q) and np.array_equal(ideal.q, plant.truth_q)
    plants = hardstand.Plants(scenario, 2, set=NOISY)
    plants.step(q=plants.q_initial, kp=100, kd=3, ticks=300)
    assert np.array_equal(plants.q[1], plant.q) and np.array_equal(plants.truth_q[0], plant.truth_q)

    log = tmp_path / "run.mcap"
    with hardstand.daemon(scenario, duration=0.3, log=log, set=NOISY) as robot:
        for _state in robot.states(join="python"):
            robot.command(q=robot.q_initial, kp=100, kd=3)
    recorded = hardstand.read(log)
    last, seen = recorded.sensors[-1], recorded.states[-1]
    assert (last.tick, len(recorded.sensors)) == (300, 300)
    assert np.array_equal(last.joints["truth_q"], plant.truth_q)
    assert np.array_equal(seen.q, plant.q)
    assert np.array_equal(last.truth_imu_gyro + last.truth_gyro_bias, seen.imu_gyro)


DRIVEN = [
    "battery.voltage_v=28", "battery.resistance_ohm=0.1",
    'joints."*".drive={elastic={stiffness_nm_per_rad=300}, heat={winding_j_per_k=30, trip_c=120}, '
    "motor={torque_constant_nm_per_a=0.1, resistance_ohm=0.2}, gear={ratio=6}, "
    "torque_speed={stall_nm=12, no_load_rad_per_s=30, nominal_v=28}}",
]
DRIVE_READINGS = {
    "drive_motor_q": "motor_q", "drive_motor_dq": "motor_dq", "drive_current": "current_a",
    "drive_winding": "winding_c", "drive_housing": "housing_c", "drive_flags": "flags",
}


def test_drives_show_the_same_in_this_process_on_the_bus_and_in_a_log(
    scenario: Path, tmp_path: Path
) -> None:
    plant = hardstand.Plant(scenario, set=DRIVEN)
    plants = hardstand.Plants(scenario, 2, set=DRIVEN)
    for one in (plant, plants):
        one.step(q=one.q_initial, kp=100, kd=3, ticks=300)
    log = tmp_path / "run.mcap"
    with hardstand.daemon(scenario, duration=0.3, log=log, set=DRIVEN) as robot:
        for _state in robot.states(join="python"):
            robot.command(q=robot.q_initial, kp=100, kd=3)
    recorded = hardstand.read(log)
    last = recorded.drives[-1]
    assert (last.tick, last.time_ns, len(recorded.drives)) == (300, 300_000_000, 300)
    assert last.run_id == recorded.states[-1].run_id
    for ours, theirs in DRIVE_READINGS.items():
        shown = getattr(plant, ours)
        assert shown.shape == (12,) and np.array_equal(shown, last.joints[theirs]), ours
        rows = getattr(plants, ours)
        assert rows.shape == (2, 12) and np.array_equal(rows[1], shown), ours
        assert rows.dtype == shown.dtype
    assert plant.battery_voltage == last.bus_v and plants.battery_voltage.shape == (2,)
    assert np.all(plants.battery_voltage == plant.battery_voltage)
    # a robot that stands bends its springs, warms its windings and lowers its battery
    assert np.abs(plant.drive_motor_q - plant.truth_q).max() > 1e-3
    assert np.abs(plant.drive_current).max() > 1 and plant.drive_winding.max() > 25
    assert 27 < plant.battery_voltage < 28
    assert plant.drive_flags.dtype == np.uint32 and not plant.drive_flags.any()
    # by replay, as columns of a table
    calf = plant.joints.index("FL_calf_joint")
    table = recorded.to_numpy(["drive.FL_calf_joint.*", "battery.voltage"])
    assert table["drive.FL_calf_joint.winding"][-1] == plant.drive_winding[calf]
    assert table["battery.voltage"][-1] == plant.battery_voltage


def test_a_drive_that_is_too_hot_says_so(scenario: Path) -> None:
    motor = "motor={torque_constant_nm_per_a=0.1, resistance_ohm=0.2}"
    hot = "heat={winding_j_per_k=30, air_c=90, trip_c=80}"
    plant = hardstand.Plant(scenario, set=[f'joints."*".drive={{{motor}, {hot}}}'])
    plant.step(q=plant.q_initial, kp=100, kd=3, ticks=10)
    assert np.all(plant.drive_flags & 2) and np.all(plant.drive_housing > 80)


def test_ideal_drives_show_nothing(scenario: Path, log: Path) -> None:
    plant = standing(scenario)
    for name in DRIVE_READINGS:
        assert getattr(plant, name).shape == (0,), name
        assert getattr(hardstand.Plants(scenario, 2), name).shape == (2, 0), name
    assert plant.battery_voltage == 0 and hardstand.read(log).drives == []


def test_a_saved_state_goes_on_with_the_same_bits(scenario: Path) -> None:
    plant = standing(scenario)
    saved, other = plant.snapshot(), plant.clone()
    plant.push("trunk", [30, 0, 0], 0.05)
    plant.friction(0.3, 0.2)
    plant.step(ticks=200)
    other.step(ticks=200)
    assert plant.digest != other.digest
    plant.restore(saved)
    plant.step(ticks=200)
    assert plant.digest == other.digest
    plant.reset()
    assert plant.tick == 0
    again = standing(scenario)
    assert again.mass == pytest.approx(14.56)
    assert again.foot_contact.all()
    assert again.foot_normal.sum() == pytest.approx(again.mass * 9.81, rel=0.05)


def test_the_initial_state_can_be_saved_too(scenario: Path) -> None:
    plant = hardstand.Plant(scenario)
    saved = plant.snapshot()
    plant.step(q=plant.q_initial, kp=100, kd=3, ticks=100)
    once = plant.digest
    plant.restore(saved)
    plant.step(ticks=100)
    assert plant.digest == once


def test_a_refused_fault_does_not_act(scenario: Path) -> None:
    sound, other = standing(scenario), standing(scenario)
    with pytest.raises(ValueError, match="shore"):
        other.fault("motor_dead", joint="FL_calf_joint", shore=1.0)
    sound.step(ticks=50)
    other.step(ticks=50)
    assert sound.digest == other.digest


def test_many_plants_are_as_one(scenario: Path) -> None:
    one = standing(scenario)
    many = hardstand.Plants(scenario, 5, threads=2)
    failed = many.step(q=one.q_initial, kp=100, kd=3, ticks=300)
    assert not failed.any()
    assert (many.digest == one.digest).all()
    rows = np.tile(one.q_initial, (5, 1))
    rows[2] += 0.1
    many.step(q=rows, ticks=50)
    assert many.digest[2] != many.digest[1] == many.digest[0]
    assert many.q.shape == (5, 12)
    many.reset([False, True, False, False, False])
    assert many.tick.tolist() == [350, 0, 350, 350, 350]


def test_wrong_input_is_refused_by_name(scenario: Path) -> None:
    plant = hardstand.Plant(scenario)
    for call, words in [
        (lambda: plant.step(q=[1, 2]), "q has the shape"),
        (lambda: plant.step(kp=float("nan")), "command"),
        (lambda: plant.step(kp=1e9), "kp is at most"),
        (lambda: plant.push("wing", [1, 0, 0], 0.1), "link"),
        (lambda: plant.fault("wing_loss"), "no fault"),
        (lambda: plant.fault("motor_derated", joint="FL_calf_joint"), "share is missing"),
        (lambda: plant.fault("state_delay", delay_ticks=3), "in a daemon"),
        (lambda: plant.fault("motor_derated", share=0.5, shore=1.0), "shore"),
        (lambda: plant.restore(b"123"), "8 bytes"),
        (lambda: plant.restore(bytes(800)), "snapshot"),
        (lambda: hardstand.Plants(scenario, 0), "n is 0"),
        (lambda: hardstand.Plant("absent.toml"), "absent.toml"),
    ]:
        with pytest.raises((ValueError, OSError), match=words):
            call()
    assert plant.tick == 0


def test_dynamics_of_a_robot(scenario: Path) -> None:
    robot = hardstand.Dynamics(scenario.parent / "robots" / "quadruped.urdf")
    M = robot.mass_matrix([0, 0, 0.5], [1, 0, 0, 0], np.zeros(12))
    assert M.shape == (18, 18)
    assert np.allclose(M, M.T)
    assert np.allclose(M[3:6, 3:6], np.eye(3) * robot.mass)
    weight = robot.bias_forces([0, 0, 0], [1, 0, 0, 0], np.zeros(6), np.zeros(12), np.zeros(12),
                               [0, 0, -9.81])
    assert weight[5] == pytest.approx(robot.mass * 9.81)
    position, _ = robot.pose("FL_foot", [0, 0, 0.5], [1, 0, 0, 0], np.zeros(12))
    assert position[2] == pytest.approx(0.5 - 2 * 0.213)


def test_what_a_plant_refuses_is_an_error_of_the_package(scenario: Path) -> None:
    plant = hardstand.Plant(scenario)
    with pytest.raises(hardstand.Refused, match=r"kp of \S+ is -1; it must be 0 to 10000") as low:
        plant.step(q=0, kp=-1)
    assert low.value.kind == "input"
    with pytest.raises(hardstand.Refused, match=r"tau of \S+ is NaN"):
        plant.step(tau=float("nan"))
    with pytest.raises(hardstand.Refused, match=r"q has the shape \(3,\)"):
        plant.step(q=[0, 1, 2])
    with pytest.raises(hardstand.FileFailed, match="none.toml") as missing:
        hardstand.Plant("none.toml")
    assert missing.value.kind == "file"
