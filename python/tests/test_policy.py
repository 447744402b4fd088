"""Policies with contracts, against robots."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import hardstand
import numpy as np
import pytest
from conftest import SCENARIO
from hardstand import contract as contracts
from hardstand import network, policy
from hardstand.contract_file import Clock, Contract, Term
from hardstand.observation import Observer, Phases, Sensors
from onnx_writer import linear

LEGS = [f"{leg}_{part}_joint" for leg in ("FR", "FL", "RR", "RL") for part in
        ("hip", "thigh", "calf")]

CONTRACT = f"""
schema = "hardstand.contract.v1"
name = "stand"
policy_hz = 50.0
policy = "stand.onnx"
joints = {LEGS}
default_q = {[0.0, 0.8, -1.5] * 4}
kp = 100.0
kd = 3.0
action_scale = 0.25

[commands]
vx = [-1.0, 1.0]

[[observation]]
term = "gyro"
scale = 0.25

[[observation]]
term = "gravity"

[[observation]]
term = "command"

[[observation]]
term = "q"

[[observation]]
term = "dq"
scale = 0.05

[[observation]]
term = "last_action"
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A contract and a policy that takes a little of each deviation back."""
    weights = np.zeros((12, 43))
    weights[:, 7:19] = -0.1 * np.eye(12)
    linear(tmp_path / "stand.onnx", weights)
    path = tmp_path / "stand.toml"
    path.write_text(CONTRACT)
    return path


def test_a_policy_stands_and_repeats_bit_for_bit(files: Path) -> None:
    digests = []
    for _ in range(2):
        with hardstand.daemon(SCENARIO, duration=1.0) as robot:
            contract = contracts.load(files)
            net = network.load(files.with_name("stand.onnx"), "numpy")
            controller = policy.of_robot(robot, contract, net, {"vx": 0.5})
            # the last state is answered too, if it comes before the daemon has gone
            assert policy.run(robot, controller) in (50, 51)
            ended = robot.daemon.wait()
        assert ended is not None and ended.kind == "duration_reached"
        digests.append(ended.digest)
    assert digests[0] == digests[1]


def test_the_command_line_runs_a_policy(files: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.mcap"
    command = [sys.executable, "-m", "hardstand.policy", str(files), "--join", "legs"]
    with hardstand.daemon(SCENARIO, duration=1.0, log=log) as robot:
        environment = os.environ | {"HARDSTAND_CONNECT": robot.bus.endpoint}
        more = ["--engine", "numpy", "--vx", "0.5", "--seconds", "0.5"]
        wrong = subprocess.run(
            [*command, "--check", "--vx", "3"], env=environment, capture_output=True, text=True,
            check=False,
        )
        assert wrong.returncode == 2
        assert "command vx is 3; it must be -1 to 1" in wrong.stderr
        done = subprocess.run(
            [*command, *more], env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == "contract   stand: every clause holds\nactions    25\n"


def test_a_policy_follows_the_velocity_of_the_states(files: Path, tmp_path: Path) -> None:
    commands = ["commands=[{at_s=0.25, vx_m_per_s=3.0, vy_m_per_s=0.5}]"]
    with hardstand.daemon(SCENARIO, duration=0.5, set=commands) as robot:
        net = network.load(files.with_name("stand.onnx"), "numpy")
        controller = policy.of_robot(robot, contracts.load(files), net)
        assert controller.command.tolist() == [0]
        policy.run(robot, controller, follow=True)
    # as far as the contract allows, and only what it knows
    assert controller.command.tolist() == [1]


def test_every_violated_clause_is_named_in_one_list(files: Path) -> None:
    contract = contracts.load(files)
    broken = dataclasses.replace(
        contract, policy_hz=33.0, kp=1e9, default_q=[0.0, 9.0, -1.5] * 4, name="broken",
        joints=[*LEGS[:-1], "nose"], input="eyes",
        observation=[*contract.observation, Term("smell"), Term("base_velocity", frame="base")],
    )
    net = network.load(files.with_name("stand.onnx"), "numpy")
    with hardstand.daemon(SCENARIO) as robot, pytest.raises(contracts.Violated) as found:
        policy.of_robot(robot, broken, net, {"vx": 2.0, "vz": 1.0})
    said = "\n".join(found.value.clauses)
    for clause in (
        "the robot has no joint nose", "RL_calf_joint are not commanded", "policy_hz is 33",
        "kp of FR_hip_joint is 1e+09", "default_q of FR_thigh_joint is 9",
        "observation[6] smell: unknown", "only a simulator knows it", 'input "eyes"',
        "it has 46 numbers", "command vx is 2", 'command "vz" is unknown',
    ):
        assert clause in said, clause
    assert str(found.value).count("\n  - ") == len(found.value.clauses)


def test_mistakes_of_a_file_are_named_in_one_list() -> None:
    text = 'schema = "other"\nname = "x"\ncolour = 3\n[[observation]]\nterm = "q"\nsize = 3\n'
    with pytest.raises(contracts.Violated) as found:
        contracts.parse(text)
    said = str(found.value)
    assert "schema must be" in said and "colour is unknown" in said
    assert "observation[0].size is unknown" in said and "lacks" in said


@pytest.mark.parametrize(("old", "new", "clause"), [
    ("kp = 100.0", "kp = nan", "kp is nan; it must be finite"),
    ("action_scale = 0.25", "action_scale = [nan]", "action_scale has a nan; its numbers must be"),
    ("vx = [-1.0, 1.0]", "vx = [-1.0, nan]", "commands has a nan; its numbers must be finite"),
    ("scale = 0.05", "scale = nan", r"observation\[4\].scale is nan; it must be finite"),
    ("vx = [-1.0, 1.0]", "vx = [1.0, -1.0]", r"commands.vx is \[1, -1\]; the least must come"),
    ("scale = 0.05", "history = 1000000000", "history times decimation may be 10000"),
    ("action_scale = 0.25", "action_clip = -1.0", "action_clip is -1; it must be above 0"),
    ("scale = 0.05", "clip = 0.0", "clip is 0; it must be above 0"),
    ("[commands]", "[clock]\nperiod_s = -1\n[commands]", "clock.period_s is -1; it must be above"),
])
def test_numbers_that_make_no_sense_are_violated_clauses(old: str, new: str, clause: str) -> None:
    assert old in CONTRACT
    robot = contracts.Robot(LEGS, 0.001)
    with pytest.raises(contracts.Violated, match=clause):
        contracts.check(contracts.parse(CONTRACT.replace(old, new, 1)), robot)


def test_a_contract_that_is_no_file_is_checked_too() -> None:
    pytest.importorskip("gymnasium")
    pytest.importorskip("hardstand._native")
    good = contracts.parse(CONTRACT)
    for changes, clause in [
        ({"action_clip": float("nan")}, "action_clip is nan"),
        ({"default_q": [0.0, float("nan"), -1.5] * 4}, "default_q has a nan"),
        ({"default_q": [0.0, 9.0, -1.5] * 4}, "default_q of FR_thigh_joint is 9; the joint's lim"),
    ]:
        wrong = dataclasses.replace(good, **changes)  # type: ignore[arg-type]
        for make in (hardstand.gym.Env, lambda s, contract: hardstand.gym.VectorEnv(
                s, 2, contract=contract)):
            with pytest.raises(contracts.Violated, match=clause):
                make(SCENARIO, contract=wrong)


#: Sizes of observation and action that the policies of these contracts have.
SHIPPED = {
    "holosoma-g1-29dof": (100, 29), "holosoma-t1-29dof": (100, 29), "judo-spot": (84, 12),
    "rl-sar-go2": (45, 12),
}


def test_the_shipped_contracts_are_complete() -> None:
    assert contracts.names() == sorted(SHIPPED)
    for name, sizes in SHIPPED.items():
        contract = contracts.load(name)
        joints = contract.joints + [joint for hold in contract.hold for joint in hold.joints]
        robot = contracts.Robot(joints, 0.001)
        extremes = [{n: limits[i] for n, limits in contract.commands.items()} for i in (0, 1)]
        for command in extremes:
            assert contracts.violations(contract, robot, None, command) == [], name
        assert (Observer(contract, joints).size, len(contract.joints)) == sizes, name
        assert contract.source and set(contract.commands) == {"vx", "vy", "yaw_rate"}, name


def sensors(n: int, *batch: int) -> Sensors:
    random = np.random.default_rng(3)
    quat = random.normal(size=(*batch, 4))
    quat /= np.linalg.norm(quat, axis=-1, keepdims=True)
    return Sensors(
        gyro=random.normal(size=(*batch, 3)), acc=random.normal(size=(*batch, 3)), quat=quat,
        q=random.normal(size=(*batch, n)), dq=random.normal(size=(*batch, n)),
        foot_contact=np.ones((*batch, 4), np.bool_), base_quat=quat,
        base_velocity=random.normal(size=(*batch, 3)),
        base_position=random.normal(size=(*batch, 3)),
    )


def contract_of(*terms: Term, **more: object) -> Contract:
    return Contract(
        name="t", policy_hz=50.0, joints=["a", "b"], default_q=[0.5, -0.5], kp=1.0, kd=1.0,
        observation=list(terms), **more,  # type: ignore[arg-type]
    )


def test_terms_are_in_their_order_frame_and_scale() -> None:
    contract = contract_of(
        Term("q", 2.0), Term("dq", 0.1, joints=["b"]), Term("gyro", frame="base"),
        Term("gravity"), Term("base_velocity", frame="base", truth=True), Term("last_action"),
    )
    s = sensors(2)
    half = np.sqrt(0.5)  # the IMU is turned by 90 degrees about z: its x is the base's y
    observe = Observer(contract, ["b", "a"], 0, (half, 0.0, 0.0, half))
    seen = observe(s, np.array([7.0, 8.0]), np.zeros(0))
    assert seen.dtype == np.float32 and seen.shape == (14,)
    assert np.allclose(seen[:2], 2 * (s.q[[1, 0]] - [0.5, -0.5]))
    assert np.allclose(seen[2], 0.1 * s.dq[0])
    assert np.allclose(seen[3:6], [-s.gyro[1], s.gyro[0], s.gyro[2]])
    w, x, y, z = s.quat
    down = -np.array([2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z])
    assert np.allclose(seen[6:9], down, atol=1e-6)
    assert np.isclose(np.linalg.norm(seen[9:12]), np.linalg.norm(s.base_velocity))
    assert np.allclose(seen[12:], [7, 8])


def test_histories_are_stacked_as_the_contract_says() -> None:
    term = Term("constant", value=[1.0], history=3, decimation=2)

    def shown(**more: object) -> list[list[float]]:
        observe = Observer(contract_of(term, **more), ["a", "b"])
        out = []
        for i in range(5):
            term.value[0] = float(i + 1)
            out.append(observe(sensors(2), np.zeros(2), np.zeros(0)).tolist())
        return out

    assert shown() == [[0, 0, 1], [0, 0, 2], [0, 1, 3], [0, 2, 4], [1, 3, 5]]
    assert shown(history_order="newest_first")[4] == [5, 3, 1]
    assert shown(history_fill="first")[0] == [1, 1, 1]


def test_a_batch_sees_what_each_robot_sees() -> None:
    terms = [Term("gyro", frame="base"), Term("gravity"), Term("q", history=2), Term("clock_sin")]
    contract = contract_of(*terms, clock=Clock(1.0, [0.0, 0.5]))
    quat = (0.8, 0.6, 0.0, 0.0)
    many = Observer(contract, ["a", "b"], 0, quat, (3,))
    s = sensors(2, 3)
    seen = [many(s, np.zeros((3, 2)), np.zeros((3, 0))) for _ in range(3)][-1]
    for i in range(3):
        one = Observer(contract, ["a", "b"], 0, quat)
        fields = {f.name: getattr(s, f.name)[i] for f in dataclasses.fields(s)}
        own = [one(Sensors(**fields), np.zeros(2), np.zeros(0)) for _ in range(3)][-1]
        assert np.allclose(seen[i], own)


def test_the_gait_clock_runs_stands_and_starts_again() -> None:
    clock = Clock(1.0, [0.0, 0.5], first_step=1, standing=0.5)
    phases = Phases(clock, 4.0, ())
    walk, stand = np.array([0.5]), np.array([0.0])
    quarter = np.pi / 2
    assert np.allclose(phases.advance(walk), [quarter, -quarter])
    assert np.allclose(np.abs(phases.advance(walk)), [np.pi, 0])
    assert np.allclose(np.abs(phases.advance(stand)), [np.pi, np.pi])
    assert np.allclose(np.abs(phases.advance(walk)), [0, np.pi])
