"""A convex model-predictive controller for Go2 that commands torques.

The controller of Di Carlo et al., "Dynamic Locomotion in the MIT Cheetah 3 Through Convex
Model-Predictive Control" (IROS 2018): a trot by the clock, forces of the standing feet from a
quadratic program over the next quarter second, joint torques by the Jacobian of the feet, and a
Cartesian spring and damper for swinging feet. It reads the state of the base, which only a
simulator knows. The weights were chosen once, with MuJoCo stiff.
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import quadprog

import peer
from motion import Floats, yaw
from walkers import Command, Robot

CONTROL_S, STEP_S, HORIZON = 0.001, 0.025, 10
STANCE_S, PERIOD_S, LIFT_M, HEIGHT_M = 0.25, 0.5, 0.06, 0.29
FORCE_MAX_N, MU, WALK_FROM_S = 200.0, 0.5, 0.5
#: Roll, pitch, yaw, position, rate of turn, velocity; and of the forces.
WEIGHTS = np.array([5, 5, 10, 2, 2, 50, 0.1, 0.1, 0.3, 2.0, 2.0, 0.5])
FORCE_WEIGHT = 1e-5
SWING_KP, SWING_KD = np.diag([700.0, 700.0, 500.0]), np.diag([15.0, 15.0, 15.0])
#: Offset of each leg's clock: diagonal legs step together.
PHASES = {"FL": 0.0, "RR": 0.0, "FR": 0.5, "RL": 0.5}


def cross(p: Floats) -> Floats:
    """The matrix of a cross product."""
    x, y, z = p
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


class Body:
    """The robot as the controller knows it: kinematics by the model of the package."""

    def __init__(self, robot: Robot, mjcf: Path, joints: list[str]) -> None:
        self.robot, self.model = robot, peer.model_of(robot, mjcf, "stiff")
        self.data = mujoco.MjData(self.model)
        self.qpos = np.array([self.model.joint(j).qposadr[0] for j in joints])
        self.dofs = np.array([self.model.joint(j).dofadr[0] for j in joints])
        self.feet = [(self.model.body(f.link).id, np.array(f.points[0])) for f in robot.feet]
        self.legs = [[i for i, j in enumerate(joints) if j.startswith(f.name)] for f in robot.feet]
        self.hips = [self.model.body(f"{f.name}_thigh").id for f in robot.feet]
        self.mass = float(self.model.body_mass.sum())

    def update(self, s: dict[str, Floats]) -> None:
        """Takes a measured state: places and Jacobians of the feet, in the world."""
        d = self.data
        d.qpos[:3], d.qpos[3:7], d.qpos[self.qpos] = s["position"], s["quat"], s["q"]
        d.qvel[:3], d.qvel[3:6], d.qvel[self.dofs] = s["velocity"], s["gyro"], s["dq"]
        mujoco.mj_fwdPosition(self.model, d)
        mujoco.mj_fwdVelocity(self.model, d)
        self.R = d.xmat[1].reshape(3, 3).copy()
        self.com = d.subtree_com[1].copy()
        self.places, self.jacobians, self.speeds = [], [], []
        for body, point in self.feet:
            place = d.xpos[body] + d.xmat[body].reshape(3, 3) @ point
            J = np.zeros((3, self.model.nv))
            mujoco.mj_jac(self.model, d, J, None, place, body)
            self.places.append(place)
            self.jacobians.append(J[:, self.dofs])
            self.speeds.append(J @ d.qvel)

    def inertia(self) -> Floats:
        """About the centre of mass, in the world, in the posture of now."""
        d, total = self.data, np.zeros((3, 3))
        for b in range(1, self.model.nbody):
            R, r = d.ximat[b].reshape(3, 3), cross(d.xipos[b] - self.com)
            total += R @ np.diag(self.model.body_inertia[b]) @ R.T
            total -= self.model.body_mass[b] * r @ r
        return total


class Mpc:
    """The controller: measured state in, torques out."""

    def __init__(self, body: Body, command: Command) -> None:
        self.body, self.command = body, command
        self.forces = np.zeros((4, 3))
        self.lifted: list[Floats | None] = [None] * 4
        self.aim, self.heading = np.zeros(2), 0.0
        self.phases = [PHASES[f.name] for f in body.robot.feet]
        self.solve_at, self.last_t = 0.0, 0.0
        self.yaw_last: float | None = None

    def stands(self, foot: int, t: float) -> bool:
        """By the clock alone."""
        if t < WALK_FROM_S:
            return True
        return self.clock(foot, t) < STANCE_S / PERIOD_S

    def clock(self, foot: int, t: float) -> float:
        return float((t - WALK_FROM_S) / PERIOD_S + self.phases[foot]) % 1.0

    def torques(self, t: float, s: dict[str, Floats]) -> Floats:
        """The torques from now on; to be called every CONTROL_S, or every step if that is longer."""
        self.body.update(s)
        turn = float(yaw(np.array([s["quat"]]))[0])
        if self.yaw_last is None:
            self.aim, self.heading, self.yaw_last = self.body.com[:2].copy(), turn, turn
        turn = self.yaw_last + (turn - self.yaw_last + np.pi) % (2 * np.pi) - np.pi
        self.yaw_last = turn
        c, sn = np.cos(turn), np.sin(turn)
        self.Rz = np.array([[c, -sn, 0], [sn, c, 0], [0, 0, 1]])
        walking = t >= WALK_FROM_S
        asked = [self.command.get(k, 0.0) if walking else 0.0 for k in ("vx", "vy", "yaw_rate")]
        self.wanted, self.turning = self.Rz @ np.array([asked[0], asked[1], 0.0]), asked[2]
        passed, self.last_t = t - self.last_t, t
        self.aim += self.wanted[:2] * passed
        self.heading += self.turning * passed
        # what is asked for does not run away from a robot that is held back
        self.aim = np.clip(self.aim, self.body.com[:2] - 0.1, self.body.com[:2] + 0.1)
        if t >= self.solve_at - 1e-9:
            self.solve(t, s, turn)
            self.solve_at += STEP_S
        tau = np.zeros(len(s["q"]))
        for foot, leg in enumerate(self.body.legs):
            J = self.body.jacobians[foot][:, leg]
            if self.stands(foot, t):
                self.lifted[foot] = None
                tau[leg] = -J.T @ self.forces[foot]
            else:
                bias = self.body.data.qfrc_bias[self.body.dofs[leg]]
                tau[leg] = J.T @ self.swing(foot, t, s) + bias
        return tau

    def swing(self, foot: int, t: float, s: dict[str, Floats]) -> Floats:
        """Force on a swinging foot: half a sine up, and to where Raibert's rule puts it."""
        body = self.body
        part = (self.clock(foot, t) * PERIOD_S - STANCE_S) / (PERIOD_S - STANCE_S)
        if self.lifted[foot] is None:
            self.lifted[foot] = body.places[foot].copy()
        begin = self.lifted[foot]
        assert begin is not None
        v, rest = s["velocity"], (1 - part) * (PERIOD_S - STANCE_S)
        hip = body.data.xpos[body.hips[foot]] - s["position"]
        ahead = self.turning * (rest + STANCE_S / 2)
        hip = np.array([hip[0] - ahead * hip[1], hip[1] + ahead * hip[0], 0.0])
        end = s["position"] + hip + v * (rest + STANCE_S / 2)
        end += np.sqrt(HEIGHT_M / 9.81) * 0.5 * (v - self.wanted)
        end[2] = body.robot.feet[foot].radius - 0.005
        blend = part - np.sin(2 * np.pi * part) / (2 * np.pi)
        rate = (1 - np.cos(2 * np.pi * part)) / (PERIOD_S - STANCE_S)
        place, speed = begin + blend * (end - begin), rate * (end - begin)
        place[2] += LIFT_M * np.sin(np.pi * part)
        speed[2] += LIFT_M * np.pi * np.cos(np.pi * part) / (PERIOD_S - STANCE_S)
        return np.asarray(
            SWING_KP @ (place - body.places[foot]) + SWING_KD @ (speed - body.speeds[foot])
        )

    def solve(self, t: float, s: dict[str, Floats], turn: float) -> None:
        """The quadratic program: forces of the standing feet over the horizon."""
        body, n, h = self.body, HORIZON, STEP_S
        w = body.R @ s["gyro"]
        roll = np.arctan2(body.R[2, 1], body.R[2, 2])
        pitch = -np.arcsin(np.clip(body.R[2, 0], -1, 1))
        x = np.concatenate([[roll, pitch, turn], body.com, w, s["velocity"]])
        A = np.eye(12)
        A[:3, 6:9], A[3:6, 9:12] = h * self.Rz.T, h * np.eye(3)
        inverse = np.linalg.inv(body.inertia())
        B = np.zeros((12, 12))
        for i, place in enumerate(body.places):
            B[6:9, 3 * i:3 * i + 3] = h * inverse @ cross(place - body.com)
            B[9:12, 3 * i:3 * i + 3] = h / body.mass * np.eye(3)
        fall = np.zeros(12)
        fall[11] = -9.81 * h
        used = [[i for i in range(4) if self.stands(i, t + (k + 0.5) * h)] for k in range(n)]
        columns = [(k, 3 * i + a) for k in range(n) for i in used[k] for a in range(3)]
        free, moved = np.zeros((n, 12)), np.zeros((12 * n, len(columns)))
        here, row = x, np.zeros((12, len(columns)))
        for k in range(n):
            here, row = A @ here + fall, A @ row
            for c, (step, part) in enumerate(columns):
                if step == k:
                    row[:, c] += B[:, part]
            free[k], moved[12 * k:12 * k + 12] = here, row
        ahead = h * np.arange(1, n + 1)[:, None]
        goal = np.zeros((n, 12))
        goal[:, 2:3] = self.heading + ahead * self.turning
        goal[:, 3:5] = self.aim + ahead * self.wanted[:2]
        goal[:, 5], goal[:, 8], goal[:, 9:12] = HEIGHT_M, self.turning, self.wanted
        Q = np.tile(WEIGHTS, n)
        H = 2 * (moved.T * Q) @ moved + 2 * FORCE_WEIGHT * np.eye(len(columns))
        g = 2 * moved.T @ (Q * (free - goal).ravel())
        feet = len(columns) // 3
        pyramid = np.array([[-1, 0, MU], [1, 0, MU], [0, -1, MU], [0, 1, MU], [0, 0, -1]])
        C = np.kron(np.eye(feet), pyramid)
        bound = np.tile([0, 0, 0, 0, -FORCE_MAX_N], feet).astype(float)
        found = quadprog.solve_qp(H, -g, C.T, bound)[0].reshape(feet, 3)
        self.forces = np.zeros((4, 3))
        for index, foot in enumerate(used[0]):
            self.forces[foot] = found[index]
