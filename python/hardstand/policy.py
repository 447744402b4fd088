"""Runs an ONNX policy with its contract:

    python -m hardstand.policy CONTRACT.toml --policy walk.onnx --join legs --vx 0.5
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import contract as contracts
from .client import Robot, connect
from .contract_file import Contract
from .errors import DaemonGone, HardstandError
from .network import Network, load
from .observation import Observer, Sensors

Array = npt.NDArray[Any]


class Policy:
    """A policy on a robot. It keeps the last action, histories and the gait clock.

    Attributes:
        period: ticks from one action to the next.
        joints: names of the joints that `act` commands, those of the contract, then those held.
        kp, kd: gains of these joints.
    """

    def __init__(
        self,
        contract: Contract,
        network: Network,
        robot: contracts.Robot,
        imu_quat: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0),
        batch: tuple[int, ...] = (),
        command: Mapping[str, float] | None = None,
    ) -> None:
        contracts.check(contract, robot, network, command)
        self.contract, self.network, self._batch = contract, network, batch
        self.period = round(1 / (contract.policy_hz * robot.period))
        self.observe = Observer(contract, robot.joints, robot.feet, imu_quat, batch)
        self._input = contract.input or next(iter(network.shapes.inputs))
        self._output = contract.output or next(iter(network.shapes.outputs))
        self.joints = contract.joints + [joint for hold in contract.hold for joint in hold.joints]
        held = contract.hold

        def spread(name: str) -> Array:
            parts = [np.broadcast_to(getattr(h, name), len(h.joints)) for h in held]
            return np.concatenate([np.zeros(0), *parts])

        gains = [contracts.values(contract, name, network) for name in ("kp", "kd")]
        self.kp, self.kd = (
            np.concatenate([g if g is not None else np.zeros(0), spread(name)])
            for g, name in zip(gains, ("kp", "kd"), strict=True)
        )
        self._held = spread("q")
        self._default = np.asarray(contract.default_q)
        self._scale = np.asarray(contract.action_scale)
        self.last_action = np.zeros((*batch, len(contract.joints)))
        self.set_command(**(command or {}))

    def set_command(self, **command: float) -> None:
        """Sets the command by name; names that are not given are 0, or the limit nearest to 0."""
        if mistakes := contracts.violations_of_command(self.contract, command):
            raise contracts.Violated(self.contract.name, mistakes)
        one = np.array(self.contract.command_values(command), np.float64)
        self.command = np.broadcast_to(one, (*self._batch, len(one))).copy()

    def set_velocity(self, vx: float, vy: float, yaw_rate: float) -> None:
        """Sets those commands that are named so, m/s and rad/s, as far as the contract's ranges
        allow. The others stay."""
        velocity = {"vx": vx, "vy": vy, "yaw_rate": yaw_rate}
        for i, (name, (low, high)) in enumerate(self.contract.commands.items()):
            if name in velocity:
                self.command[..., i] = min(max(velocity[name], low), high)

    def reset(self, mask: Array | None = None) -> None:
        """Forgets the last action and histories, of those in `mask` or of all."""
        chosen = np.ones(self._batch, np.bool_) if mask is None else np.asarray(mask)
        self.last_action = np.where(chosen[..., None], 0.0, self.last_action)
        self.observe.reset(chosen)

    def act(self, sensors: Sensors) -> Array:
        """Positions for `joints`, rad, (…, joints)."""
        seen = self.observe(sensors, self.last_action, self.command)
        rows = seen.reshape(-1, seen.shape[-1])
        action = self.network.run({self._input: rows})[self._output].astype(np.float64)
        if self.contract.action_clip is not None:
            action = np.clip(action, -self.contract.action_clip, self.contract.action_clip)
        self.last_action = action.reshape(self.last_action.shape)
        q = self._default + self._scale * self.last_action
        held = np.broadcast_to(self._held, (*self._batch, len(self._held)))
        return np.concatenate([q, held], -1)


def of_robot(
    robot: Robot, contract: Contract, network: Network, command: Mapping[str, float] | None = None
) -> Policy:
    """The policy for a robot on the bus, after the contract has been checked."""
    frame = robot.model.imu_frame
    return Policy(
        contract, network, contracts.Robot.of_model(robot.model), frame.quat_wxyz, (), command
    )


def run(
    robot: Robot,
    policy: Policy,
    join: str = "policy",
    seconds: float | None = None,
    follow: bool = False,
) -> int:
    """Joins and runs the policy until the run ends or `seconds` of simulated time have passed: the
    number of actions. With `follow`, it is asked for the `velocity_command` of the states. A
    reset, a restore or a loss begins the policy again."""
    run_id, begin, actions = -1, 0, 0
    for state in robot.states(join, joints=policy.joints, period=policy.period):
        if state.run_id != run_id:
            run_id, begin = state.run_id, state.tick
            policy.reset()
        if seconds is not None and (state.tick - begin) * robot.model.period >= seconds:
            break
        if follow:
            policy.set_velocity(*state.velocity_command)
        q = policy.act(Sensors.of_state(state))
        robot.command(q=q, kp=policy.kp, kd=policy.kd)
        actions += 1
    return actions


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hardstand.policy", description=__doc__)
    parser.add_argument("contract", help="file of the contract, or the name of a shipped one")
    parser.add_argument("--policy", help="file .onnx [default: that of the contract]")
    parser.add_argument("--join", default="policy", help="name under which to join")
    parser.add_argument("--connect", help="endpoint of the daemon [default: HARDSTAND_CONNECT]")
    parser.add_argument("--robot", help="name of the robot in the keys [default: HARDSTAND_ROBOT]")
    parser.add_argument("--engine", default="auto", choices=["auto", "onnxruntime", "numpy"])
    parser.add_argument("--seconds", type=float, help="simulated time to run [default: no end]")
    parser.add_argument("--check", action="store_true", help="check the contract, and do no step")
    parser.add_argument("--command", action="append", default=[], metavar="NAME=VALUE")
    for name in ("vx", "vy", "yaw_rate"):
        parser.add_argument("--" + name.replace("_", "-"), type=float, help=f"command {name}")
    return parser


def _command(a: argparse.Namespace) -> dict[str, float]:
    given = {n: getattr(a, n) for n in ("vx", "vy", "yaw_rate") if getattr(a, n) is not None}
    for text in a.command:
        name, _, value = text.partition("=")
        try:
            given[name] = float(value)
        except ValueError:
            raise HardstandError(f'--command "{text}" must be NAME=VALUE', kind="input") from None
    return given


def main() -> int:
    """Runs the command line: the exit code."""
    a = _arguments().parse_args()
    try:
        contract = contracts.load(a.contract)
        file = a.policy or (contract.policy and os.fspath(contract.folder / contract.policy))
        if file is None:
            raise HardstandError(
                f"contract {contract.name} names no policy: give --policy FILE.onnx", kind="input"
            )
        network = load(file, a.engine)
        with connect(a.robot, a.connect) as robot:
            command = _command(a)
            policy = of_robot(robot, contract, network, command)
            print(f"contract   {contract.name}: every clause holds", flush=True)
            if not a.check:
                print(f"actions    {run(robot, policy, a.join, a.seconds, not command)}")
    except DaemonGone as e:
        print(f"hardstand: {e}", file=sys.stderr)
        return 5
    except HardstandError as e:
        print(f"hardstand: {e}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
