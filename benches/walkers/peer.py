"""Runs a policy in MuJoCo: the same model, contract and PD control."""

from __future__ import annotations

import time
from pathlib import Path

import mujoco
import numpy as np
from hardstand import contract as contracts
from hardstand import network, policy
from hardstand.observation import Sensors

from motion import Floats, Trace
from walkers import Command, Robot, Walker

KINDS = ("out of the box", "stiff")
#: Of the stiff variant: time constant of contacts, limits and friction, and step, s.
SOLREF_S, STEP_S = 0.002, 0.0005
PLANE, BALL, CAPSULE = (
    int(t) for t in (
        mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CAPSULE
    )
)
SOLIMP = [0.95, 0.99, 0.001, 0.5, 2.0]


def spec_of(robot: Robot, mjcf: Path) -> mujoco.MjSpec:
    """The model on a plane, without meshes (the models draw with them only) and without its
    actuators: the PD control of the contract takes their place."""
    spec = mujoco.MjSpec.from_file(str(mjcf))
    if not any(g.type == mujoco.mjtGeom.mjGEOM_PLANE for g in spec.worldbody.geoms):
        spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.05])
    for geom in list(spec.geoms):
        if geom.type == mujoco.mjtGeom.mjGEOM_MESH:
            spec.delete(geom)
        else:
            geom.material = ""
    for kind in (spec.meshes, spec.textures, spec.materials, spec.actuators, spec.sensors):
        for each in list(kind):
            spec.delete(each)
    for key in list(spec.keys):
        spec.delete(key)
    return spec


def model_of(robot: Robot, mjcf: Path, kind: str) -> mujoco.MjModel:
    """The model as the package has it, or stiff: only feet touch only the ground, everything is as
    rigid as a step of 0.5 ms allows, and the solver converges."""
    spec = spec_of(robot, mjcf)
    if kind == "stiff":
        for part in (spec.pairs, spec.excludes, spec.tendons, spec.equalities):
            for each in list(part):
                spec.delete(each)
    model = spec.compile()
    if kind == "stiff":
        stiffen(model, robot)
    return model


def stiffen(model: mujoco.MjModel, robot: Robot) -> None:
    """Changes a compiled model to the stiff variant."""
    model.opt.timestep, model.opt.density = STEP_S, 0.0
    model.opt.cone, model.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 100.0
    model.opt.iterations, model.opt.tolerance, model.opt.ls_iterations = 200, 1e-12, 100
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.geom_contype[:], model.geom_conaffinity[:] = 0, 0
    for floor in np.flatnonzero(model.geom_type == PLANE):
        model.geom_contype[floor] = 1
    for part in feet_of(model, robot):
        model.geom_conaffinity[part] = 1
        for geom in part:
            if model.geom_type[geom] == CAPSULE:
                model.geom_size[geom, 0] = robot.feet[0].radius
    model.geom_condim[:], model.geom_priority[:] = 3, 0
    model.geom_friction[:, 0] = robot.friction
    model.geom_margin[:], model.geom_gap[:] = 0.0, 0.0
    for solref in (model.geom_solref, model.jnt_solref, model.dof_solref):
        solref[:] = [SOLREF_S, 1.0]
    for solimp in (model.geom_solimp, model.jnt_solimp, model.dof_solimp):
        solimp[:] = SOLIMP


def feet_of(model: mujoco.MjModel, robot: Robot) -> list[list[int]]:
    """The shapes of each foot: balls and capsules of its radius on its link."""
    out = []
    for foot in robot.feet:
        body = model.body(foot.link).id
        own = (model.geom_bodyid == body) & np.isin(model.geom_type, (BALL, CAPSULE))
        own &= np.abs(model.geom_size[:, 0] - foot.radius) < 0.0025
        out.append([int(g) for g in np.flatnonzero(own)])
    return out


def normal(model: mujoco.MjModel, data: mujoco.MjData, feet: list[list[int]]) -> Floats:
    """The force of the ground on each foot, N."""
    force, out = np.zeros(6), np.zeros(len(feet))
    for i in range(data.ncon):
        pair = data.contact.geom[i]
        for foot, geoms in enumerate(feet):
            if pair[0] in geoms or pair[1] in geoms:
                mujoco.mj_contactForce(model, data, i, force)
                out[foot] += force[0]
    return out


class Loop:
    """A policy with a robot in MuJoCo, from the state in which ours begins."""

    def __init__(
        self, walker: Walker, model: mujoco.MjModel, start: dict[str, Floats],
        joints: list[str], effort: Floats, command: Command,
        loaded: tuple[contracts.Contract, network.Network],
    ) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        contract, net = loaded
        robot = contracts.Robot(joints, model.opt.timestep, feet=len(walker.robot.feet))
        self.policy = policy.Policy(contract, net, robot, command=command)
        places = [self.policy.joints.index(name) for name in joints]
        self.places, self.kp, self.kd = places, self.policy.kp[places], self.policy.kd[places]
        self.qpos = np.array([model.joint(j).qposadr[0] for j in joints])
        self.dofs = np.array([model.joint(j).dofadr[0] for j in joints])
        self.effort, self.base = effort, model.body(walker.robot.base).id
        self.feet = feet_of(model, walker.robot)
        self.push = np.zeros(3)
        self.delay: list[Floats] = []
        self.data.qpos[:3], self.data.qpos[3:7] = start["position"], start["quat"]
        self.data.qpos[self.qpos] = start["q"]
        mujoco.mj_forward(model, self.data)

    def sensors(self) -> Sensors:
        """What the policy sees: the base's body carries the IMU."""
        d = self.data
        return Sensors(
            gyro=d.qvel[3:6].copy(), acc=np.zeros(3), quat=d.qpos[3:7].copy(),
            q=d.qpos[self.qpos], dq=d.qvel[self.dofs], foot_contact=np.zeros(len(self.feet)),
            base_velocity=d.qvel[:3].copy(), base_quat=d.qpos[3:7].copy(),
            base_position=d.qpos[:3].copy(),
        )

    def advance(self, trace: Trace | None = None) -> None:
        """One action, with PD control at each step."""
        target = self.policy.act(self.sensors())[self.places]
        d = self.data
        for _ in range(self.policy.period):
            tau = self.kp * (target - d.qpos[self.qpos]) - self.kd * d.qvel[self.dofs]
            tau = np.clip(tau, -self.effort, self.effort)
            d.qfrc_applied[self.dofs] = tau
            d.xfrc_applied[self.base, :3] = self.push
            mujoco.mj_step(self.model, d)
            if trace is not None:
                self.record(trace, tau)

    def record(self, trace: Trace, tau: Floats) -> None:
        """A row of the state."""
        d = self.data
        trace.add(
            position=d.qpos[:3], quat=d.qpos[3:7], velocity=d.qvel[:3], q=d.qpos[self.qpos],
            dq=d.qvel[self.dofs], tau=tau, normal=normal(self.model, d, self.feet),
        )


def run(loop: Loop, seconds: float) -> Trace:
    """The trace of some seconds."""
    trace = Trace(loop.model.opt.timestep)
    begin = time.perf_counter()
    loop.record(trace, np.zeros(len(loop.dofs)))
    while loop.data.time < seconds - 1e-9:
        loop.advance(trace)
    trace.wall_s = time.perf_counter() - begin
    return trace
