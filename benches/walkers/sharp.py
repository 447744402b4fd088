"""Tests that see more than whether a robot walks."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np

import live
import ours
import peer
from motion import TILT_MAX_RAD, measure, up
from rows import Bench
from walkers import Command

Result = dict[str, Any]

#: Of the fall: duration, s, step, s, how far the joints are driven, rad.
FALL_S, FINE_S, SWING = 0.5, 1e-4, 0.2
#: Of the push: when, how long, how long it may take to fall, s.
PUSH_AT_S, PUSH_FOR_S, PUSH_WAIT_S = 3.0, 0.1, 3.0
#: First and last push of the search, N, and steps of the bisection.
PUSH_FIRST_N, PUSH_LAST_N, PUSH_STEPS = 150.0, 3000.0, 5

#: Of the bounce: contact.cz_s_per_m, the default first.
DISSIPATION = (0.5, 2.0, 5.0)
#: For the pause: the default, and longer than the pause.
HOLD_TICKS = (50, 400)


def sharp_tests(bench: Bench, quick: bool) -> Iterator[tuple[str, Result]]:
    """All tests of a walker: name and result."""
    yield "free fall", free_fall(bench)
    yield "repeat", repeat(bench, 2.0 if quick else 8.0)
    if quick:
        return
    yield "push", push_limits(bench)
    yield "wrong plants", wrong_plants(bench)
    yield "bounce", bounce(bench)
    for ticks in HOLD_TICKS:
        yield f"pause, hold_ticks {ticks}", live.pause(bench, ticks)
    if bench.walker.name.startswith("Go2"):
        yield "certify", live.certify(bench)


def fall(bench: Bench, model: mujoco.MjModel, corrected: bool = False) -> float:
    """The largest difference of a joint, rad, while PD control swings all joints in the air.
    Hardstand corrects the momentum of a robot on which nothing but gravity acts, MuJoCo does not:
    unless `corrected`, a push of 1e-12 N prevents it."""
    changes = [*bench.changes("rigid"), "initial.clearance_m=5", "joints.*.friction=0"]
    loop = ours.Loop(bench.walker, bench.scenario, changes, {}, bench.loaded)
    plant, joints = loop.plant, list(loop.plant.joints)
    if not corrected:
        plant.push(bench.walker.robot.base, [0.0, 0.0, 1e-12], FALL_S)
    data = mujoco.MjData(model)
    data.qpos[:3], data.qpos[3:7] = plant.base_position, plant.base_quat
    qpos = [model.joint(j).qposadr[0] for j in joints]
    dofs = [model.joint(j).dofadr[0] for j in joints]
    data.qpos[qpos] = plant.q_initial
    limits = np.array([model.joint(j).range for j in joints])
    target = plant.q_initial + SWING * np.where(np.arange(len(joints)) % 2, 1.0, -1.0)
    target = np.clip(target, limits[:, 0] + 0.1, limits[:, 1] - 0.1)
    worst, effort = 0.0, plant.effort_max
    for _ in range(round(FALL_S / plant.period)):
        plant.step(q=target, kp=loop.kp, kd=loop.kd, dq=0.0, tau=0.0)
        for _ in range(round(plant.period / FINE_S)):
            tau = loop.kp * (target - data.qpos[qpos]) - loop.kd * data.qvel[dofs]
            data.qfrc_applied[dofs] = np.clip(tau, -effort, effort)
            mujoco.mj_step(model, data)
        worst = max(worst, float(np.abs(data.qpos[qpos] - plant.q).max()))
    return worst


def free_fall(bench: Bench) -> Result:
    """The dynamics alone: no contact, no joint friction, steps of 0.1 ms in both."""
    model = copy.copy(bench.models["stiff"])
    model.opt.timestep = FINE_S
    model.dof_frictionloss[:] = 0.0
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    implicit = fall(bench, model)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
    explicit, corrected = fall(bench, model), fall(bench, model, corrected=True)
    model.dof_armature[6:] *= 1.01
    return {
        "error_rad": implicit, "same_integrator_rad": explicit, "corrected_rad": corrected,
        "armature_1_percent_rad": fall(bench, model),
    }


def repeat(bench: Bench, seconds: float) -> Result:
    """The digest of the same run, twice, for each contact model."""
    command = bench.walker.push
    out = {}
    for model in ("exponential_spring", "hunt_crossley", "rigid"):
        digests = {bench.ours(model, command, seconds).digest for _ in range(2)}
        out[model] = sorted(digests)
    return {"digests": out, "equal": all(len(d) == 1 for d in out.values())}


def stands_push(bench: Bench, simulator: str, force: float) -> bool:
    """Whether the robot stays up after a push of its base to the left (negative: right), at its
    centre of mass."""
    walker = bench.walker
    point = bench.models["stiff"].body(walker.robot.base).ipos.tolist()
    here = there = None
    if simulator in peer.KINDS:
        there = bench.peer_loop(simulator, walker.push)
    else:
        here = ours.Loop(
            walker, bench.scenario, bench.changes(simulator), walker.push, bench.loaded
        )
    period = 1 / (here or there).policy.contract.policy_hz  # type: ignore[union-attr]
    first, last = round(PUSH_AT_S / period), round((PUSH_AT_S + PUSH_FOR_S) / period)
    height = 0.0
    for i in range(last + round(PUSH_WAIT_S / period)):
        if there is not None:
            there.push = np.array([0.0, force if first <= i < last else 0.0, 0.0])
            there.advance()
            quat, z = there.data.qpos[3:7], float(there.data.qpos[2])
        elif here is not None:
            if i == first:
                here.plant.push(walker.robot.base, [0.0, force, 0.0], PUSH_FOR_S, point)
            here.advance()
            quat, z = here.plant.base_quat, float(here.plant.base_position[2])
        height = z if i < first else height
        if i >= first and (up(quat) < np.cos(TILT_MAX_RAD) or z < 0.5 * height):
            return False
    return True


def push_limit(bench: Bench, simulator: str, sign: float) -> float:
    """The largest push that it bears, N: the first one that fells it is found in steps of a
    quarter, then bisected."""
    low, high = 0.0, PUSH_FIRST_N
    while stands_push(bench, simulator, sign * high) and high < PUSH_LAST_N:
        low, high = high, 1.25 * high
    for _ in range(PUSH_STEPS):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if stands_push(bench, simulator, sign * middle) else (low, middle)
        )
    return low


def push_limits(bench: Bench) -> Result:
    """Largest pushes to the left and to the right, N."""
    return {
        simulator: [push_limit(bench, simulator, sign) for sign in (1.0, -1.0)]
        for simulator in ("exponential_spring", "rigid", "stiff")
    }


def wrong_plants(bench: Bench) -> Result:
    """The measures of plants that are wrong on purpose, beside the right one and MuJoCo."""
    friction = float(bench.models["stiff"].dof_frictionloss[6:].max())
    command: Command = bench.walker.push
    cases: dict[str, dict[str, Any]] = {
        "right": {},
        "armature 0": {"set": ["joints.*.armature=0"]},
        "20 ms late": {"delay": 1},
    }
    if friction > 0:
        cases["friction x10"] = {"set": [f"joints.*.friction={10 * friction}"]}
    out = {
        name: measure(bench.ours("rigid", command, 8.0, **more), command)
        for name, more in cases.items()
    }
    out["MuJoCo stiff"] = measure(bench.run("stiff", command, 8.0), command)
    return out


def bounce(bench: Bench) -> Result:
    """Power on the spring with more dissipation than the default, and in MuJoCo."""
    command = bench.walker.commands["back"]
    out = {
        f"{cz:g}": bench.ours(
            "exponential_spring", command, 8.0, set=[f"contact.cz_s_per_m={cz}"]
        )
        for cz in DISSIPATION
    }
    out["MuJoCo stiff"] = bench.run("stiff", command, 8.0)
    return {name: measure(trace, command)["power_w"] for name, trace in out.items()}
