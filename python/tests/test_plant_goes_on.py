"""How a plant in this process goes on: from saved states, after laws, in threads, at signals."""

from __future__ import annotations

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hardstand
import numpy as np
import pytest

pytest.importorskip("hardstand._native")


def standing(scenario: Path) -> hardstand.Plant:
    plant = hardstand.Plant(scenario)
    plant.step(q=plant.q_initial, kp=100, kd=3, ticks=300)
    return plant


def law_of_one_leg(plant: hardstand.Plant) -> hardstand.Law:
    joints = [name for name in plant.joints if name.startswith("RR")]
    return hardstand.Law.stand(plant.model, joints=joints)


def test_a_step_after_a_law_for_some_joints_commands_all(scenario: Path) -> None:
    plant = hardstand.Plant(scenario)
    plant.run(law_of_one_leg(plant), 10)
    plant.step(q=plant.q_initial, kp=100, kd=3, ticks=1000)
    assert plant.base_position[2] > 0.3
    # a refused step leaves the law's lease as it is
    plant, other = hardstand.Plant(scenario), hardstand.Plant(scenario)
    for one in (plant, other):
        one.run(law_of_one_leg(one), 10)
    with pytest.raises(hardstand.Refused):
        plant.step(q=plant.q_initial, kp=-1)
    for one in (plant, other):
        one.run(law_of_one_leg(one), 10)
    assert plant.digest == other.digest


def test_a_restored_state_brings_its_lease_back(scenario: Path) -> None:
    plant = standing(scenario)
    saved, other = plant.snapshot(), plant.clone()
    plant.run(law_of_one_leg(plant), 50)
    of_one_leg, undisturbed = plant.snapshot(), plant.clone()
    plant.restore(saved)
    for one in (plant, other):
        one.step(ticks=500)
    assert plant.base_position[2] > 0.3 and plant.digest == other.digest

    new = hardstand.Plant(scenario)
    new.restore(of_one_leg)
    for one in (new, undisturbed):
        one.run(law_of_one_leg(one), 5)
    assert new.digest == undisturbed.digest
    new.restore(of_one_leg)
    new.step(q=new.q_initial, kp=100, kd=3, ticks=500)
    assert new.base_position[2] > 0.3


def test_a_restored_state_brings_its_set_points_back(scenario: Path) -> None:
    plant = standing(scenario)
    saved = plant.snapshot()
    new = hardstand.Plant(scenario)
    new.restore(saved)
    for one in (plant, new):
        one.step(ticks=500)
    assert new.base_position[2] > 0.3 and new.digest == plant.digest


def test_plant_and_daemon_take_each_others_states(scenario: Path, tmp_path: Path) -> None:
    plant = standing(scenario)
    saved = plant.snapshot()
    (tmp_path / "s.state").write_bytes(saved)
    with hardstand.daemon(scenario) as robot:
        states = robot.states(join="python")
        next(states)
        assert robot.restore(tmp_path / "s.state") == 300
        state = next(s for s in states if s.run_id == 2)
        assert state.tick == 300 and np.array_equal(state.q, plant.q)
        robot.command(q=robot.q_initial, kp=100, kd=3)
        for state in states:
            robot.command(q=robot.q_initial, kp=100, kd=3)
            if state.tick == 350:
                break
        theirs, height = robot.snapshot(), state.truth_base_position[2]
    new = hardstand.Plant(scenario)
    new.restore(theirs)
    assert new.tick >= 350 and new.base_position[2] == pytest.approx(height, abs=1e-3)
    new.step(ticks=500)
    assert new.base_position[2] > 0.3, "what was commanded there goes on"


def test_states_that_do_not_fit_are_refused(scenario: Path) -> None:
    plant = standing(scenario)
    saved, digest = plant.snapshot(), plant.digest
    other = hardstand.Plant(scenario, set=["contact.mu_static=0.5", "contact.mu_kinetic=0.4"])
    with pytest.raises(hardstand.Refused, match="from another robot or scenario"):
        other.restore(saved)
    with pytest.raises(hardstand.Refused, match="it is damaged"):
        plant.restore(saved[:-1] + bytes([saved[-1] ^ 1]))
    with pytest.raises(hardstand.Refused, match="version 200"):
        plant.restore(b"HS\xc8\x0c" + saved[4:])
    assert plant.digest == digest


def test_plants_and_laws_work_in_any_thread(scenario: Path) -> None:
    plant = hardstand.Plant(scenario)
    plants = hardstand.Plants(scenario, 2)
    law = hardstand.Law.stand(plant.model)
    with ThreadPoolExecutor(1) as other:
        other.submit(plant.step, plant.q_initial, kp=100, kd=3, ticks=10).result()
        other.submit(plants.step, plant.q_initial, kp=100, kd=3, ticks=10).result()
        assert (plants.digest == plant.digest).all()
        other.submit(plant.run, law, 10).result()
    assert plant.tick == 20 and law.period == 1


@pytest.mark.parametrize("what", ["step", "run", "plants"])
def test_ctrl_c_ends_a_long_step(scenario: Path, what: str) -> None:
    plant = hardstand.Plant(scenario)
    plants = hardstand.Plants(scenario, 2)
    law = hardstand.Law.stand(plant.model)
    calls = {
        "step": lambda: plant.step(q=plant.q_initial, kp=100, kd=3, ticks=10**9),
        "run": lambda: plant.run(law, 10**9),
        "plants": lambda: plants.step(q=plant.q_initial, kp=100, kd=3, ticks=10**9),
    }
    # in the background of a shell Ctrl-C is ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    begun = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        calls[what]()
    assert time.monotonic() - begun < 20
    assert max(plant.tick, int(plants.tick[0])) > 0


def test_another_thread_runs_during_a_step(scenario: Path) -> None:
    plant = hardstand.Plant(scenario)
    seen: list[int] = []
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            seen.append(1)
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    before = len(seen)
    plant.step(q=plant.q_initial, kp=100, kd=3, ticks=2000)
    during = len(seen) - before
    done.set()
    other.join()
    assert during > 3


FAR_TOO_MUCH = [1e6, 0, 0]


def test_a_plant_that_fails_says_so_with_its_own_kind(scenario: Path) -> None:
    plant = standing(scenario)
    plant.push("trunk", FAR_TOO_MUCH, 10.0)
    with pytest.raises(hardstand.PlantFailed, match="tick ") as failed:
        plant.step(ticks=10000)
    assert failed.value.kind == "plant_failure"
    plant.reset()
    plant.step(q=plant.q_initial, kp=100, kd=3, ticks=10)
    assert plant.tick == 10


def test_an_environment_whose_plant_fails_is_terminated(scenario: Path) -> None:
    pytest.importorskip("gymnasium")
    env = hardstand.gym.Env(scenario, tilt_max=np.pi)
    env.reset()
    env.plant.push("trunk", FAR_TOO_MUCH, 10.0)
    for _ in range(500):
        observation, reward, fallen, over, _info = env.step(np.zeros(12))
        assert np.isfinite(reward) and not over
        if fallen:
            break
    assert fallen and np.isfinite(observation).all()
    env.reset()
    assert not env.step(np.zeros(12))[2]


def test_joints_are_where_their_encoders_say(scenario: Path) -> None:
    for sets, offset in [([], 0.1), (["joints.\"*\".drive.encoder.offset_rad=0.5"], 0.6)]:
        plant = hardstand.Plant(scenario, set=sets)
        plant.fault("encoder_offset", joint="FL_hip_joint", offset=0.1)
        plant.step(ticks=3)
        shown, true = plant.q[0], plant.truth_q[0]
        assert shown - true == pytest.approx(offset), sets
        assert plant.state.q[0] == shown
