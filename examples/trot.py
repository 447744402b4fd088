"""A controller that walks: it trots with the quadruped of config/quadruped.toml.

    hardstand run config/quadruped.toml            # in one terminal; or with --mode lockstep
    python3 examples/trot.py                       # in another: the demo
    python3 examples/trot.py --vx 0.4 --wz 0.3     # trots with this velocity until it is ended
    python3 examples/trot.py --in-process config/quadruped.toml     # without a daemon

It sees what a real robot measures, and nothing else: `Readings`. In each tick it

1. computes where the feet are (`Legs`), and estimates how the base moves (`Estimator`),
2. asks the clock which feet are to carry and which to swing (`Gait`),
3. distributes the force that the base needs over the feet that carry (`Distribution`),
4. moves the feet that swing to where they will be needed (`Trot.swing`),
5. turns both into set-points of the joints (`Trot.joints`).

Frames: "world" is that of the IMU's orientation, z up; "body" has the axes of the trunk, x forward,
y left. Arrays have a row for each leg, in the order FL, FR, RL, RR; joints are hip, thigh, calf.
"""

from __future__ import annotations

import argparse
import contextlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import hardstand

Array = npt.NDArray[np.float64]
SetPoints = dict[str, Array]
Mask = npt.NDArray[np.bool_]

# The robot: config/robots/quadruped.urdf. The centre of mass and the inertia are those of the
# whole robot as it stands; the legs are half of its mass.
JOINTS = tuple(f"{a}_{b}_joint" for a in ("FL", "FR", "RL", "RR") for b in ("hip", "thigh", "calf"))
HIPS_BODY_M = np.array([[0.19, 0.05, 0], [0.19, -0.05, 0], [-0.19, 0.05, 0], [-0.19, -0.05, 0]])
SIDES = np.array([1.0, -1.0, 1.0, -1.0])  # left, right
THIGH_OFFSET_M = 0.095  # outwards from the hip joint
LINK_M = 0.213  # length of the thigh, and of the calf
FOOT_RADIUS_M = 0.022
MASS_KG = 14.56
CENTRE_BODY_M = np.array([-0.011, 0.0, -0.021])
INERTIA_BODY_KG_M2 = np.array([0.19, 0.44, 0.50])
# Where the feet stand below: under the shoulders, and evenly around the centre of mass.
SHOULDERS_BODY_M = HIPS_BODY_M + np.outer(SIDES, [0, THIGH_OFFSET_M, 0]) + [-0.011, 0, 0]
LINKS_KG = np.array([0.65, 1.0, 0.24])  # hip, thigh, calf with foot
LINK_CENTRES_M = np.array([0.02, 0.03195, 0.1243])  # from the joint: outwards, and down the links

# The gait. Diagonal legs move together; a foot carries in this share of the period.
PERIOD_S = 0.4
DUTY = 0.55
PHASES = np.array([0.0, 0.5, 0.5, 0.0])
STANCE_S = DUTY * PERIOD_S
SWING_S = PERIOD_S - STANCE_S
HEIGHT_M = 0.30  # of the base above the ground under it
CLEARANCE_M = 0.07  # of a foot in the middle of its swing
LOAD_S = 0.03  # in which a foot takes over its load
SEARCH_M_PER_S = 0.4  # how fast a foot that should carry, but is in the air, looks for the ground
BOUNCE_S = 0.05  # for which a foot of a robot that stands may leave the ground

# Accelerations that the force control asks for, per error.
VELOCITY_GAIN_PER_S = np.array([5.0, 5.0, 20.0])
DRIFT_GAIN_PER_S2 = 6.0  # of the time integral of the error of velocity
DRIFT_MAX_M_PER_S2 = 1.5
HEIGHT_GAIN_PER_S2 = 150.0
POSITION_GAIN_PER_S2 = 15.0  # while it stands
TILT_GAIN_PER_S2 = np.array([200.0, 200.0, 100.0])
TILT_DAMPING_PER_S = np.array([20.0, 20.0, 15.0])
ACCELERATION_MAX_M_PER_S2 = 6.0

FRICTION = 0.5  # assumed: below that of most floors
FORCE_MAX_N = 200.0  # of one foot, along z
PLACEMENT_GAIN_S = 0.06  # how far a foot steps out per error of velocity
SWING_KP, SWING_KD, STANCE_KD = 60.0, 1.5, 1.0  # N·m/rad, N·m·s/rad, N·m·s/rad

FORWARD = np.array([1.0, 0.0, 0.0])
# [a]x, the matrix of the cross product, is a @ LEVI_CIVITA.
LEVI_CIVITA = np.zeros((3, 9))
LEVI_CIVITA[[2, 1, 2, 0, 1, 0], [1, 2, 3, 5, 6, 7]] = [-1, 1, 1, -1, -1, 1]


@dataclass(frozen=True)
class Readings:
    """What the sensors of the robot say in one tick."""

    time_s: float
    orientation: Array  # of the IMU in the world, w x y z
    gyro_body_rad_per_s: Array
    acc_body_m_per_s2: Array  # specific force: +9.81 on z at rest
    q_rad: Array  # (legs, 3)
    dq_rad_per_s: Array  # (legs, 3)
    contact: Mask  # (legs,)


@dataclass(frozen=True)
class Command:
    """What the robot shall do: stand, or trot with this velocity along and across its heading."""

    trot: bool = True
    vx_m_per_s: float = 0.0
    vy_m_per_s: float = 0.0
    wz_rad_per_s: float = 0.0


def skew(a: Array) -> Array:
    """The matrices [a]x of a × b = [a]x b, for each row of `a`."""
    return (a @ LEVI_CIVITA).reshape(*a.shape[:-1], 3, 3)


def rotation(quaternion: Array) -> Array:
    """The matrix that turns vectors of the body into the world."""
    unit = quaternion / math.sqrt(quaternion @ quaternion)
    across = skew(unit[1:])
    return np.eye(3) + 2 * unit[0] * across + 2 * across @ across


def heading(yaw: float) -> Array:
    """The matrix that turns a vector along and across the heading into x and y of the world."""
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s], [s, c]])


class Legs:
    """Where the legs are: joint axes and points, in body axes, from the base."""

    def __init__(self, q: Array) -> None:
        hip, thigh, calf = q[:, 0], q[:, 1], q[:, 1] + q[:, 2]
        sin, cos, zero = np.sin(hip), np.cos(hip), np.zeros(4)
        down = np.stack([zero, sin, -cos], axis=1)  # along the leg, as the hip has turned it
        pitch_axis = np.stack([zero, cos, sin], axis=1)  # of thigh and calf
        outwards = SIDES[:, None] * pitch_axis
        along = [np.cos(a)[:, None] * down - np.sin(a)[:, None] * FORWARD for a in (thigh, calf)]
        self.links = np.stack([outwards, *along], axis=1)
        thigh_joints = HIPS_BODY_M + THIGH_OFFSET_M * outwards
        knees = thigh_joints + LINK_M * self.links[:, 1]
        self.feet = knees + LINK_M * self.links[:, 2]  # their centres
        axes = np.stack([np.tile(FORWARD, (4, 1)), pitch_axis, pitch_axis], axis=1)
        self.across = skew(axes)  # (legs, joints, 3, 3)
        self.origins = np.stack([HIPS_BODY_M, thigh_joints, knees], axis=1)

    def jacobians(self, points: Array) -> Array:
        """Velocity of these points of the calves per velocity of each joint: the cross product
        of the joint's axis with the way from it to the point. (legs, 3, joints)"""
        ways = points[:, None] - self.origins
        return (self.across @ ways[..., None])[..., 0].transpose(0, 2, 1)

    def weight(self, gravity_body: Array) -> Array:
        """Torques (legs, 3) that hold the weight of the links, N·m."""
        centres = self.origins + LINK_CENTRES_M[:, None] * self.links
        ways = centres[:, None] - self.origins[:, :, None]  # (legs, joints, links, 3)
        moments = (ways @ (self.across @ gravity_body)[..., None])[..., 0]
        return moments * np.triu(np.ones((3, 3))) @ LINKS_KG  # a joint holds the links beyond it


def inverse_kinematics(feet_body: Array) -> Array:
    """Joint positions (legs, 3) for these centres of the feet; knees point backwards."""
    way = feet_body - HIPS_BODY_M
    d = SIDES * THIGH_OFFSET_M
    below = np.sqrt(np.maximum(way[:, 1] ** 2 + way[:, 2] ** 2 - d**2, 1e-4))
    hip = np.arctan2(way[:, 2], way[:, 1]) - np.arctan2(-below, d)
    length = np.clip(np.hypot(way[:, 0], below), 0.12, 0.385)
    calf = -2 * np.arccos(length / (2 * LINK_M))
    thigh = np.arctan2(-way[:, 0], below) - calf / 2
    return np.stack([hip, thigh, calf], axis=1)


class Estimator:
    """How the base moves, from the IMU and from the legs whose feet are on the ground.

    A foot on the ground stands still, so its leg tells the velocity of the base, but with shocks.
    The accelerometer has none, but its integral drifts. The velocity follows the accelerometer, and
    the legs correct it. What the two disagree about for long is taken for gravity, so that the
    controller also knows where down is if the world it is given leans.
    """

    VELOCITY_PER_S = 40.0  # how fast the velocity follows the legs
    GRAVITY_PER_S2 = 60.0
    SLOPE_PER_S = 6.0

    def __init__(self) -> None:
        self.position = np.zeros(3)  # m, world; from where it began
        self.velocity = np.zeros(3)  # m/s, world
        self.gravity = np.array([0, 0, -9.81])
        self.footholds: Array | None = None  # m, world: where the feet touched the ground last
        self.slope = np.zeros(2)  # of the ground along x and y of the world
        self.height = HEIGHT_M  # of the base above the ground under it, m

    def update(self, s: Readings, legs: Legs, carrying: Mask, dt: float) -> None:
        """Takes the readings of one tick."""
        self.to_world = rotation(s.orientation)
        self.yaw = math.atan2(self.to_world[1, 0], self.to_world[0, 0])
        self.normal = np.append(-self.slope, 1) / math.hypot(*self.slope, 1)  # of the ground
        # A foot is a ball that rolls, so what stands still is its lowest point, not its centre.
        lowest = legs.feet - FOOT_RADIUS_M * (self.normal @ self.to_world)
        arm = (legs.jacobians(lowest) @ s.dq_rad_per_s[..., None])[..., 0]
        turn = lowest @ skew(s.gyro_body_rad_per_s).T
        self.contact_points = lowest @ self.to_world.T  # m, world axes, from the base
        self.velocity += (self.to_world @ s.acc_body_m_per_s2 + self.gravity) * dt
        if carrying.any():
            measured = -self.to_world @ (arm + turn)[carrying].mean(axis=0)
            error = measured - self.velocity
            self.velocity += self.VELOCITY_PER_S * dt * error
            self.gravity += self.GRAVITY_PER_S2 * dt * error
        self.position += self.velocity * dt
        self.ground(carrying, dt)

    def ground(self, carrying: Mask, dt: float) -> None:
        """Fits a plane to the footholds: its slope, and the height above it."""
        now = self.position + self.contact_points
        if self.footholds is None:
            self.footholds = now
        self.footholds = np.where(carrying[:, None], now, self.footholds)
        from_base = self.footholds - self.position
        level = from_base.mean(axis=0)
        spread = from_base - level
        slope = np.linalg.solve(spread[:, :2].T @ spread[:, :2], spread[:, :2].T @ spread[:, 2])
        self.slope += self.SLOPE_PER_S * dt * (np.clip(slope, -0.4, 0.4) - self.slope)
        self.height = -(level[2] - self.slope @ level[:2])


class Gait:
    """The clock of the legs."""

    def __init__(self) -> None:
        self.clock = 0.0
        self.trotting = False

    def advance(self, trot: bool, dt: float) -> None:
        """Starts at once, and stops when all feet are to carry."""
        if trot and not self.trotting:
            self.trotting, self.clock = True, 0.0
        if self.trotting:
            self.clock = (self.clock + dt / PERIOD_S) % 1.0
            self.trotting = trot or not (self.phase < DUTY).all()

    @property
    def phase(self) -> Array:
        """Of each leg, 0 to 1; it carries up to DUTY, then it swings."""
        return (self.clock + PHASES) % 1.0

    @property
    def stance(self) -> Mask:
        """Which feet are to carry."""
        return self.phase < DUTY if self.trotting else np.ones(4, np.bool_)

    @property
    def swing_share(self) -> Array:
        """How much of its swing each foot has done, 0 to 1."""
        return np.maximum(self.phase - DUTY, 0) / (1 - DUTY)

    @property
    def load_share(self) -> Array:
        """How much each foot may carry, 0 to 1: a load that comes and goes in steps shakes."""
        to_edge_s = np.minimum(self.phase, DUTY - self.phase) * PERIOD_S
        return np.clip(to_edge_s / LOAD_S, 0.1, 1.0) if self.trotting else np.ones(4)


class Distribution:
    """Finds the forces of the ground on the feet that together give the base a force and a torque,
    as well as friction allows.

    The least squares problem is solved by ADMM, which takes turns between the solution without
    limits and the limits. It goes on from the last tick, so a few turns are enough.
    """

    WEIGHTS = np.array([1, 1, 3, 40, 40, 10.0])  # of errors of force (N) and of torque (N·m)
    EFFORT = 0.002  # weight of the forces themselves
    PENALTY = 1.0
    TURNS = 8

    def __init__(self) -> None:
        self.forces, self.prices = np.zeros((4, 3)), np.zeros((4, 3))

    def solve(self, arms: Array, force: Array, torque: Array, force_max: Array) -> Array:
        """Forces (legs, 3) in world axes, N, with these arms from the centre of mass, m."""
        A = np.vstack([np.tile(np.eye(3), 4), np.hstack(list(skew(arms)))])  # f ↦ force, torque
        A[:, np.repeat(force_max == 0, 3)] = 0
        weighted = A.T * self.WEIGHTS
        inverse = np.linalg.inv(weighted @ A + (self.EFFORT + self.PENALTY) * np.eye(12))
        goal = weighted @ np.concatenate([force, torque])
        for _ in range(self.TURNS):
            free = inverse @ (goal + self.PENALTY * (self.forces - self.prices).ravel())
            wanted = free.reshape(4, 3) + self.prices
            self.forces = within_friction(wanted, force_max)
            self.prices = wanted - self.forces
        return self.forces


def within_friction(forces: Array, force_max: Array) -> Array:
    """The forces, cut to a pyramid inside the friction cone."""
    up = np.minimum(np.maximum(forces[:, 2:], 0), force_max[:, None])
    side = FRICTION / math.sqrt(2) * up
    return np.hstack([np.minimum(np.maximum(forces[:, :2], -side), side), up])


@dataclass(frozen=True)
class Goal:
    """How the base shall move now, in world axes."""

    velocity: Array  # m/s
    turn: Array  # rad/s
    yaw: float  # rad


class Trot:
    """The controller: readings and a command in, joint commands out, once for each tick."""

    def __init__(self) -> None:
        self.estimator, self.gait, self.distribution = Estimator(), Gait(), Distribution()
        self.time_s: float | None = None
        self.yaw: float | None = None  # of the goal
        self.drift = np.zeros(2)  # m/s², along and across the heading: what holds the speed
        self.lift = np.zeros((4, 3))  # m, world: where the feet were when they began to swing
        self.target = np.zeros((4, 3))  # m, world: where the feet that do not carry shall be now
        self.stance = np.ones(4, np.bool_)
        self.bounce_s = np.zeros(4)  # for which feet go on to carry without contact

    def step(self, s: Readings, command: Command) -> SetPoints:
        """One tick: the arguments of `Robot.command` and `Plant.step`."""
        dt = 0.001 if self.time_s is None else min(s.time_s - self.time_s, 0.02)
        self.time_s = s.time_s
        self.gait.advance(command.trot, dt)
        stance = self.gait.stance
        self.bounce_s = np.where(s.contact, BOUNCE_S, self.bounce_s - dt) * (not self.gait.trotting)
        contact = s.contact | (self.bounce_s > 0)  # or it searches, and kicks itself off
        early = contact & (self.gait.swing_share > 0.6)  # the ground came before its time
        self.carrying = (contact & stance) | early
        legs = Legs(s.q_rad)
        self.estimator.update(s, legs, self.carrying, dt)
        goal = self.goal(command, dt)
        forces = self.forces(s, goal)
        speed = self.swing(legs, stance, goal, dt)
        return self.joints(s, legs, forces, speed, goal)

    def goal(self, command: Command, dt: float) -> Goal:
        """What the command means here, and how much force it takes to hold the speed."""
        e = self.estimator
        if self.yaw is None:
            self.yaw = e.yaw
        ahead = math.remainder(self.yaw - e.yaw, 2 * math.pi) + command.wz_rad_per_s * dt
        self.yaw = e.yaw + max(-0.2, min(0.2, ahead))  # do not wind up against an obstacle
        level = heading(e.yaw) @ [command.vx_m_per_s, command.vy_m_per_s]
        lacking = (level - e.velocity[:2]) @ heading(e.yaw)
        drift = self.drift + DRIFT_GAIN_PER_S2 * dt * lacking * self.gait.trotting
        self.drift = np.clip(drift, -DRIFT_MAX_M_PER_S2, DRIFT_MAX_M_PER_S2)
        turn = np.array([0, 0, command.wz_rad_per_s])
        return Goal(np.append(level, e.slope @ level), turn, self.yaw)

    def forces(self, s: Readings, goal: Goal) -> Array:
        """Forces of the ground on the feet, N, world, that hold height, attitude and velocity."""
        e = self.estimator
        acceleration = VELOCITY_GAIN_PER_S * (goal.velocity - e.velocity)
        acceleration[:2] += heading(e.yaw) @ self.drift
        acceleration[2] += HEIGHT_GAIN_PER_S2 * (HEIGHT_M - e.height)
        centre = e.to_world @ CENTRE_BODY_M
        if not self.gait.trotting:  # keep the centre of mass above the middle of the feet
            middle = e.contact_points.mean(axis=0)
            acceleration[:2] += POSITION_GAIN_PER_S2 * (middle - centre)[:2]
        acceleration = np.clip(acceleration, -ACCELERATION_MAX_M_PER_S2, ACCELERATION_MAX_M_PER_S2)
        force = MASS_KG * (acceleration - e.gravity)
        y = skew(e.normal) @ [math.cos(goal.yaw), math.sin(goal.yaw), 0]
        y /= math.sqrt(y @ y)
        axes = np.stack([skew(y) @ e.normal, y, e.normal])  # that the body shall have
        tilt = 0.5 * (skew(e.to_world.T) @ axes[..., None])[..., 0].sum(axis=0)
        rate = goal.turn - e.to_world @ s.gyro_body_rad_per_s
        turn = TILT_GAIN_PER_S2 * tilt + TILT_DAMPING_PER_S * rate
        torque = e.to_world @ (INERTIA_BODY_KG_M2 * (turn @ e.to_world))
        force_max = FORCE_MAX_N * self.carrying * self.gait.load_share
        return self.distribution.solve(e.contact_points - centre, force, torque, force_max)

    def swing(self, legs: Legs, stance: Mask, goal: Goal, dt: float) -> Array:
        """Moves the targets of the feet that do not carry. Their velocities, m/s, world."""
        e = self.estimator
        feet = e.position + legs.feet @ e.to_world.T
        self.lift[self.stance & ~stance] = feet[self.stance & ~stance]
        self.stance = stance
        share = self.gait.swing_share[:, None]
        end = self.placement(goal, (1 - share) * SWING_S)
        way = end - self.lift
        target = self.lift + way * share**2 * (3 - 2 * share)
        target[:, 2:] += CLEARANCE_M * 16 * share**2 * (1 - share) ** 2
        speed = way * 6 * share * (1 - share)
        speed[:, 2:] += CLEARANCE_M * 32 * share * (1 - share) * (1 - 2 * share)
        search = self.target - [0, 0, SEARCH_M_PER_S * dt]
        target = np.where(stance[:, None], search, target)
        self.target = np.where(self.carrying[:, None], feet, target)
        return np.where(stance[:, None], [0, 0, -SEARCH_M_PER_S], speed / SWING_S)

    def placement(self, goal: Goal, left_s: Array) -> Array:
        """Where the feet shall touch down, m, world: under the hips when half of their stance is
        over (Raibert), and further out in the direction of an error, which stops it."""
        e = self.estimator
        hips = SHOULDERS_BODY_M[:, :2] @ heading(e.yaw).T
        hips += goal.turn[2] * (left_s + STANCE_S / 2) * (hips[:, ::-1] * [-1, 1])
        step = goal.velocity * STANCE_S / 2 + PLACEMENT_GAIN_S * (e.velocity - goal.velocity)
        from_base = hips + (e.velocity * left_s + step)[:, :2]
        up = -e.height + from_base @ e.slope + FOOT_RADIUS_M - 0.005
        return e.position + np.hstack([from_base, up[:, None]])

    def joints(self, s: Readings, legs: Legs, forces: Array, speed: Array, goal: Goal) -> SetPoints:
        """Feet that carry push with their forces; the others follow their targets."""
        e = self.estimator
        carrying = self.carrying[:, None]
        points = np.where(carrying, e.contact_points @ e.to_world, legs.feet)
        jacobians = legs.jacobians(points)
        pushed = -(jacobians.transpose(0, 2, 1) @ (forces @ e.to_world)[..., None])[..., 0]
        turn = np.where(carrying, goal.turn @ e.to_world, s.gyro_body_rad_per_s)
        seen = np.where(carrying, -goal.velocity, speed - e.velocity) @ e.to_world  # from the base
        seen -= (skew(turn) @ points[..., None])[..., 0]
        dq = np.linalg.solve(jacobians, seen[..., None])[..., 0]
        q = inverse_kinematics((self.target - e.position) @ e.to_world)
        tau = np.where(carrying, pushed, 0.0) + legs.weight(e.gravity @ e.to_world)
        return {
            "q": np.where(carrying, s.q_rad, q).ravel(), "dq": np.clip(dq, -20, 20).ravel(),
            "kp": np.repeat(np.where(self.carrying, 0.0, SWING_KP), 3),
            "kd": np.repeat(np.where(self.carrying, STANCE_KD, SWING_KD), 3),
            "tau": tau.ravel(),
        }


def read(source: Any) -> Readings:
    """The sensors of a `hardstand.State` or a `hardstand.Plant`."""
    q, dq = source.q.reshape(4, 3), source.dq.reshape(4, 3)
    imu = (source.imu_quat, source.imu_gyro, source.imu_acc)
    return Readings(source.time, *imu, q, dq, source.foot_contact)


Given = tuple[float, ...] | None  # vx, vy (m/s), wz (rad/s)


class Pilot:
    """Commands these velocities, or those of the states; trots on the spot before and after."""

    def __init__(self, given: Given) -> None:
        self.given, self.moved_s = given, -math.inf

    def command(self, source: Any, since_s: float) -> Command:
        velocity = self.given or tuple(source.velocity_command)
        if any(velocity) and since_s >= 1.0:
            self.moved_s = since_s
        trot = since_s < self.moved_s + 0.5
        return Command(trot, *velocity) if since_s >= 1.5 else Command(trot)


def report(time_s: float, e: Estimator) -> str:
    """What the controller believes."""
    vx, vy = e.velocity[:2] @ heading(e.yaw)
    return f"{time_s:.2f} s: {vx:+.2f} {vy:+.2f} m/s, height {e.height:.3f} m, yaw {e.yaw:+.2f} rad"


def run_in_process(scenario: str, given: Given, duration_s: float) -> None:
    """Walks in a plant of this process."""
    plant, trot, pilot = hardstand.Plant(scenario), Trot(), Pilot(given)
    while plant.time < duration_s:
        plant.step(**trot.step(read(plant), pilot.command(plant, plant.time)))
        if plant.tick % 500 == 0:
            print(report(plant.time, trot.estimator))
    print(f"digest {plant.digest:016x}")


def run_in_daemon(robot: hardstand.Robot, given: Given, duration_s: float) -> None:
    """Walks in a daemon until that stops, or for this long. A reset begins a new run."""
    if robot.joints != JOINTS:
        raise SystemExit(f"this controller is for the joints {JOINTS}, not {robot.joints}")
    trot, pilot, run, begun_s, reported_s = Trot(), Pilot(given), None, 0.0, 0.0
    for state in robot.states(join="python"):  # the name that digests of a `Plant` have, too
        if state.run_id != run:
            trot, pilot = Trot(), Pilot(given)
            run, begun_s, reported_s = state.run_id, state.time, -math.inf
        robot.command(**trot.step(read(state), pilot.command(state, state.time - begun_s)))
        if state.time >= reported_s + 0.5:
            reported_s = state.time
            print(report(state.time, trot.estimator), f" skipped {robot.skipped}", flush=True)
        if state.time >= begun_s + duration_s:
            break


def main() -> None:
    options = argparse.ArgumentParser(description="Trots; without velocities as the states ask.")
    for name, text in [("vx", "forward, m/s"), ("vy", "to the left, m/s"),
                       ("wz", "turn to the left, rad/s"), ("duration", "of the walk, s")]:
        options.add_argument(f"--{name}", type=float, help=text)
    options.add_argument("--in-process", metavar="SCENARIO", help="without a daemon")
    options.add_argument("--robot", help="default: HARDSTAND_ROBOT, or else quadruped")
    options.add_argument("--connect", help="endpoint; default: HARDSTAND_CONNECT")
    a = options.parse_args()
    given = (a.vx or 0.0, a.vy or 0.0, a.wz or 0.0) if {a.vx, a.vy, a.wz} != {None} else None
    if a.in_process:
        return run_in_process(a.in_process, given, a.duration or 12.0)
    ended = contextlib.suppress(hardstand.DaemonGone)
    with hardstand.connect(a.robot, a.connect) as robot, ended:
        run_in_daemon(robot, given, a.duration or math.inf)


if __name__ == "__main__":
    main()
