"""Gymnasium environments on the simulation inside this process. Needs gymnasium.

    env = hardstand.gym.Env("config/quadruped.toml", policy_hz=50)

Observation and action are those of a contract (docs/python.md), so a policy that is trained here
runs with the same file on a daemon: `python -m hardstand.policy CONTRACT.toml`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from . import contract as contracts
from .contract_file import Contract, Term
from .errors import PlantFailed, Refused
from .observation import Observer, Sensors, unrotate

Array = npt.NDArray[Any]
#: From the plant, the last action and the command to the reward, a number for each robot.
Reward = Callable[[Any, Array, Array], Array]

_DOWN = np.array([0.0, 0.0, -1.0])


def upright(plant: Any) -> Array:
    """Cosine of the angle between the base's z and the vertical, of each robot."""
    quat = np.asarray(plant.base_quat)
    return np.asarray(-unrotate(quat, np.broadcast_to(_DOWN, (*quat.shape[:-1], 3)))[..., 2])


def standing(plant: Any, action: Array, command: Array) -> Array:
    """The default reward: upright, slow, with small actions."""
    speed = np.square(plant.base_velocity).sum(-1)
    return np.asarray(upright(plant) - 0.1 * speed - 0.01 * np.square(action).sum(-1))


def usual_contract(plant: Any, policy_hz: float, kp: float, kd: float, scale: float) -> Contract:
    """A contract of all joints, with the sensors of a real robot."""
    q = np.asarray(plant.q_initial).reshape(-1, len(plant.joints))[0]
    terms = ["gyro", "gravity", "q", "dq", "last_action"]
    return Contract(
        name="usual", policy_hz=policy_hz, joints=list(plant.joints), default_q=q.tolist(),
        kp=kp, kd=kd, action_scale=scale,
        observation=[Term(t, 0.05 if t == "dq" else 1.0) for t in terms],
    )


class _Loop:
    """What both environments share: a contract, observations, actions, the end of an episode."""

    def __init__(
        self, plant: Any, contract: Contract | None, policy_hz: float, kp: float, kd: float,
        action_scale: float, episode_s: float, reward: Reward, batch: tuple[int, ...],
        command: Mapping[str, float], tilt_max: float,
    ) -> None:
        self.plant = plant
        self.contract = contract or usual_contract(plant, policy_hz, kp, kd, action_scale)
        robot = contracts.Robot.of_plant(plant)
        contracts.check(self.contract, robot, None, command)
        self.ticks = round(1 / (self.contract.policy_hz * plant.period))
        self.steps_max = max(1, round(episode_s * self.contract.policy_hz))
        of = self.contract
        self.observe = Observer(of, plant.joints, robot.feet, robot.imu_quat, batch)
        self.reward, self.batch = reward, batch
        self.cos_min = np.cos(tilt_max)
        one = np.array(self.contract.command_values(command), np.float64)
        self.command = np.broadcast_to(one, (*batch, len(one)))
        self._spread()
        self.n = len(self.contract.joints)
        self.action = np.zeros((*batch, self.n))
        self.steps = np.zeros(batch, np.int64)

    def _spread(self) -> None:
        """Set-points of all joints of the plant, in its order."""
        c, n = self.contract, len(self.plant.joints)
        self.q = np.zeros((*self.batch, n))
        self.kp, self.kd = np.zeros(n), np.zeros(n)
        places = [self.plant.joints.index(name) for name in c.joints]
        for name in ("kp", "kd"):
            given = contracts.values(c, name, None)
            if given is None:
                raise contracts.Violated(c.name, [f'{name} is "policy": write numbers to train'])
            getattr(self, name)[places] = given
        for hold in c.hold:
            held = [self.plant.joints.index(name) for name in hold.joints]
            self.q[..., held], self.kp[held], self.kd[held] = hold.q, hold.kp, hold.kd
        self._places = places

    def look(self) -> Array:
        """The observation now."""
        return self.observe(Sensors.of_plant(self.plant), self.action, self.command)

    def begin(self, mask: Array | None = None) -> None:
        """Forgets the past of those in `mask`, or of all."""
        chosen = np.ones(self.batch, np.bool_) if mask is None else mask
        self.action = np.where(chosen[..., None], 0.0, self.action)
        self.steps = np.where(chosen, 0, self.steps)
        self.observe.reset(chosen)

    def checked(self, action: Any) -> Array:
        """The action as an array, if it has the right shape."""
        shape = (*self.batch, self.n)
        try:
            array = np.asarray(action, np.float64)
        except (TypeError, ValueError):
            raise Refused(f"action is {action!r}; it must be numbers of shape {shape}") from None
        if array.shape != shape:
            raise Refused(
                f"action has the shape {array.shape}; it must be {shape}, with a number for each "
                f"of the joints {', '.join(self.contract.joints)}"
            )
        return array

    def step(self, action: Array) -> tuple[Array, Array, Array]:
        """One action for all: reward, terminated, truncated."""
        clip = self.contract.action_clip
        self.action = self.checked(action)
        if clip is not None:
            self.action = np.clip(self.action, -clip, clip)
        scale, usual = np.asarray(self.contract.action_scale), np.asarray(self.contract.default_q)
        self.q[..., self._places] = usual + scale * self.action
        failed = False
        try:
            self.plant.step(q=self.q, kp=self.kp, kd=self.kd, ticks=self.ticks)
        except PlantFailed:
            failed = True
        self.steps = self.steps + 1
        # of many plants, one that has failed gives NaN
        fallen = ~(upright(self.plant) > self.cos_min) | failed
        reward = np.nan_to_num(self.reward(self.plant, self.action, self.command))
        return reward, fallen, (self.steps >= self.steps_max) & ~fallen


def _spaces(loop: _Loop) -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    sees = gymnasium.spaces.Box(-np.inf, np.inf, (loop.observe.size,), np.float32)
    most = loop.contract.action_clip or np.inf
    return sees, gymnasium.spaces.Box(-most, most, (loop.n,), np.float32)


class Env(gymnasium.Env[Array, Array]):
    """One robot. The observation is float32 (size,), the action float32 (joints,): targets are
    `default_q + action_scale · action`, rad, for drives with `kp` and `kd`.

    Args:
        scenario: file of the scenario.
        policy_hz: actions per second of simulated time, without a contract.
        contract: a contract, its file, or None for all joints and the sensors of a real robot.
        kp, kd, action_scale: without a contract.
        episode_s: simulated seconds after which an episode is truncated.
        tilt_max: tilt of the base, rad, at which it is terminated.
        reward: from plant, action and command to a number.
        command: the command by name; names that are not given are 0.
        set: changes to the scenario.
        plant: a plant, for tests; without it one is made from the scenario.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - gymnasium's form

    def __init__(
        self,
        scenario: str | os.PathLike[str] = "",
        policy_hz: float = 50.0,
        *,
        contract: Contract | str | os.PathLike[str] | None = None,
        kp: float = 100.0,
        kd: float = 3.0,
        action_scale: float = 0.25,
        episode_s: float = 20.0,
        tilt_max: float = 1.0,
        reward: Reward = standing,
        command: Mapping[str, float] | None = None,
        set: Sequence[str] = (),
        plant: Any = None,
    ) -> None:
        if plant is None:
            from .plant import Plant

            plant = Plant(scenario, set=list(set))
        self.plant = plant
        self._loop = _Loop(
            plant, _loaded(contract), policy_hz, kp, kd, action_scale, episode_s, reward, (),
            command or {}, tilt_max,
        )
        self.contract = self._loop.contract
        self.observation_space, self.action_space = _spaces(self._loop)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """The initial state of the scenario, always the same: its observation."""
        super().reset(seed=seed)
        self.plant.reset()
        self._loop.begin()
        return self._loop.look(), self._info()

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One action: observation, reward, terminated (fallen, or the physics has failed),
        truncated (time is over), info."""
        reward, fallen, over = self._loop.step(action)
        return self._loop.look(), float(reward), bool(fallen), bool(over), self._info()

    def _info(self) -> dict[str, Any]:
        return {"tick": self.plant.tick, "digest": self.plant.digest}


class VectorEnv(gymnasium.vector.VectorEnv[Array, Array, Array]):
    """`n` robots, stepped on all cores. A robot whose episode has ended is reset in the next step
    (`AutoresetMode.NEXT_STEP`), whose reward is 0. Arguments are those of `Env`."""

    def __init__(
        self,
        scenario: str | os.PathLike[str],
        n: int,
        policy_hz: float = 50.0,
        *,
        contract: Contract | str | os.PathLike[str] | None = None,
        kp: float = 100.0,
        kd: float = 3.0,
        action_scale: float = 0.25,
        episode_s: float = 20.0,
        tilt_max: float = 1.0,
        reward: Reward = standing,
        command: Mapping[str, float] | None = None,
        set: Sequence[str] = (),
        threads: int | None = None,
        plants: Any = None,
    ) -> None:
        if plants is None:
            from .plant import Plants

            plants = Plants(scenario, n, set=list(set), threads=threads)
        self.plants = plants
        self._loop = _Loop(
            plants, _loaded(contract), policy_hz, kp, kd, action_scale, episode_s, reward, (n,),
            command or {}, tilt_max,
        )
        self.contract, self.num_envs = self._loop.contract, n
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space, self.single_action_space = _spaces(self._loop)
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, n)
        self.action_space = batch(self.single_action_space, n)
        self._ended = np.zeros(n, np.bool_)

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """The initial state of all robots: observations (n, size)."""
        super().reset(seed=seed[0] if isinstance(seed, list) else seed)
        self.plants.reset()
        self._loop.begin()
        self._ended = np.zeros(self.num_envs, np.bool_)
        return self._loop.look(), {}

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """One action for each robot: observations, rewards, terminated, truncated, info."""
        begins = self._ended
        checked = self._loop.checked(actions)
        reward, fallen, over = self._loop.step(np.where(begins[:, None], 0.0, checked))
        if begins.any():
            self.plants.reset(begins)
            self._loop.begin(begins)
            reward = np.where(begins, 0.0, reward)
            fallen, over = fallen & ~begins, over & ~begins
        self._ended = fallen | over
        return self._loop.look(), reward, fallen, over, {}


def _loaded(contract: Contract | str | os.PathLike[str] | None) -> Contract | None:
    if contract is None or isinstance(contract, Contract):
        return contract
    return contracts.load(contract)
