"""Gymnasium environments, on a plant without physics and on the extension module."""

from __future__ import annotations

from dataclasses import replace

import hardstand
import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from conftest import SCENARIO  # noqa: E402
from fake_plant import FakePlant  # noqa: E402
from hardstand.contract import Term  # noqa: E402
from hardstand.errors import Refused  # noqa: E402
from hardstand.gym import Env, VectorEnv, usual_contract  # noqa: E402


def test_an_environment_keeps_gymnasiums_rules() -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(Env(plant=FakePlant(), episode_s=0.1), skip_render_check=True)


def test_actions_become_targets_at_the_rate_of_the_policy() -> None:
    plant = FakePlant()
    env = Env(plant=plant, policy_hz=50, action_scale=0.5, kp=20, kd=1)
    first, _info = env.reset()
    assert first.shape == env.observation_space.shape == (15,) and first.dtype == np.float32
    env.step(np.array([0.0, 1.0, -1.0], np.float32))
    step = plant.steps[-1]
    assert np.allclose(step["q"], [0.0, 0.6, -0.3]) and step["ticks"] == 20
    assert (step["kp"] == 20).all() and (step["kd"] == 1).all()


def test_a_fallen_robot_ends_the_episode_and_time_truncates_it() -> None:
    env = Env(plant=FakePlant(), action_scale=1.0, episode_s=0.06)
    env.reset()
    fell = env.step(np.array([1.5, 0, 0], np.float32))
    assert fell[2:4] == (True, False)
    env.reset()
    ends = [env.step(np.zeros(3, np.float32))[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]


def test_robots_of_a_vector_are_reset_one_by_one() -> None:
    env = VectorEnv("", 3, plants=FakePlant(3), action_scale=1.0)
    observations, _info = env.reset()
    assert observations.shape == (3, 15)
    actions = np.zeros((3, 3), np.float32)
    actions[1, 0] = 1.5
    _obs, _reward, fallen, _over, _info = env.step(actions)
    assert fallen.tolist() == [False, True, False]
    observations, reward, fallen, _over, _info = env.step(np.ones((3, 3), np.float32) * 0.1)
    assert not fallen.any() and reward[1] == 0 and reward[0] != 0
    assert np.allclose(observations[1], env.reset()[0][1])


def test_terms_in_the_axes_of_the_base_are_turned_as_the_unit_is_mounted() -> None:
    pytest.importorskip("hardstand._native")
    sets = ["imu.rpy_rad=[0.0, 0.0, 1.5707963267948966]", "initial.rpy_rad=[0.1, 0.2, 0.0]"]
    contract = usual_contract(hardstand.Plant(SCENARIO), 50, 100, 3, 0.25)
    both = replace(contract, observation=[Term("gravity"), Term("gravity", frame="base")])
    seen, _info = Env(SCENARIO, contract=both, set=sets).reset()
    (x, y, z), base = seen[:3], seen[3:]
    assert abs(x) > 0.05 and abs(y) > 0.05 and np.allclose(base, [-y, x, z], atol=1e-6)


def test_a_seed_is_that_of_the_environments_random_numbers() -> None:
    for seed in (7, [7, 8]):
        env = VectorEnv("", 2, plants=FakePlant(2))
        env.reset(seed=seed)
        one = Env(plant=FakePlant())
        one.reset(seed=7)
        assert env.np_random.random() == one.np_random.random()


def test_the_time_of_a_robot_begins_again_with_its_episode() -> None:
    env = VectorEnv("", 2, plants=FakePlant(2), action_scale=1.0, episode_s=0.08)
    env.reset()
    ends = []
    for step in range(5):
        actions = np.zeros((2, 3), np.float32)
        actions[1, 0] = 1.5 * (step == 0)
        ends.append(env.step(actions)[3].tolist())
    assert ends == [[False, False]] * 3 + [[True, False]] + [[False, False]]


def test_an_action_of_another_shape_is_refused_before_the_plant_advances() -> None:
    one, many = FakePlant(), FakePlant(2)
    env, envs = Env(plant=one), VectorEnv("", 2, plants=many)
    env.reset()
    envs.reset()
    for step, plant, action, shape in [
        (env.step, one, np.zeros(2), r"\(2,\); it must be \(3,\)"),
        (env.step, one, 0.0, r"\(\); it must be \(3,\)"),
        (envs.step, many, np.zeros(3), r"\(3,\); it must be \(2, 3\)"),
        (envs.step, many, np.zeros((2, 1)), r"\(2, 1\); it must be \(2, 3\)"),
    ]:
        with pytest.raises(Refused, match=f"action has the shape {shape}.* joints a, b"):
            step(action)
        assert plant.tick == 0
    with pytest.raises(Refused, match="action is 'up'"):
        env.step("up")


def test_the_plant_in_this_process_stands() -> None:
    pytest.importorskip("hardstand._native")
    env = Env(SCENARIO, policy_hz=50, episode_s=0.5)
    digests = []
    for _ in range(2):
        env.reset()
        over = False
        while not over:
            _obs, _reward, fallen, over, info = env.step(np.zeros(12, np.float32))
            assert not fallen
        digests.append(info["digest"])
    assert digests[0] == digests[1]
    many = VectorEnv(SCENARIO, 4)
    many.reset()
    _obs, reward, fallen, _over, _info = many.step(np.zeros((4, 12), np.float32))
    assert not fallen.any() and (reward == reward[0]).all()
