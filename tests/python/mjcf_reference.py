"""Writes reference numbers for an MJCF model, computed by MuJoCo's own functions.

    python mjcf_reference.py MODEL.xml [--states 5] [--seed 1] -o OUT.json

Needs `mujoco` 4. The model may have hinge and slide joints and at most one free joint. Elements
without a name are called `joint#3` and so on, with their numbers in MuJoCo. The file says with each
block which convention it has. SI units, radians, quaternions as w x y z; numbers are the shortest
decimals that read back to the same double.
"""

import argparse
import json
import pathlib

import mujoco
import numpy as np

CONVENTIONS = {
    "dofs": "of mass_matrix and bias_force, in this order: for a floating base the linear velocity "
    "of the base body's origin in world axes, then its angular velocity in the base body's axes, "
    "then one per joint",
    "mass_matrix": "mj_fullM: with the armature of joints and actuators; base_armature is on its "
    "diagonal too",
    "bias_force": "qfrc_bias with qacc = 0: Coriolis, centrifugal and gravity; no passive forces",
    "base": "position of the base body's origin and quaternion of its frame in the world, linear "
    "velocity of that origin in world axes, angular velocity in the base body's axes",
    "poses": "position of the origin of every body's frame in the world, and its quaternion",
    "center_of_mass": "in the world, of all bodies that can move",
    "bodies": "pos and quat in the parent's frame where the body's joints are at their ref; center "
    "of mass in the body's frame; inertia about it in the body's axes: xx yy zz xy xz yz; moves: "
    "false when it is welded to the world",
    "joints": "axis and pos in the body's frame; several joints of one body act in this order; the "
    "body moves by q - ref; range is null where there is no limit",
    "actuators": "of a joint q: force = gear * clamp(kp * ctrl + offset - kp_q * gear * q - kd * "
    "gear * dq, force_range); kp is MuJoCo's gain, kp_q and kd are -biasprm[1] and -biasprm[2]; "
    "ranges are null where there is no limit; effort_range is what reaches the joint at most, with "
    "the joint's actuatorfrcrange and, where no bias is, the ctrl_range",
}


def named(model, kind, index):
    """The name of an element, or its kind and number."""
    number = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
    return mujoco.mj_id2name(model, number, index) or f"{kind}#{index}"


def matrix(quat):
    """The rotation matrix of a quaternion."""
    out = np.zeros(9)
    mujoco.mju_quat2Mat(out, np.asarray(quat, float))
    return out.reshape(3, 3)


def limited(flag, pair):
    """A range as a list, or nothing where it does not hold."""
    return list(map(float, pair)) if flag else None


def scalar_joints(model):
    """Numbers of the hinge and slide joints."""
    return [j for j in range(model.njnt) if model.jnt_type[j] != mujoco.mjtJoint.mjJNT_FREE]


def free_joint(model):
    """Number of the free joint, or nothing."""
    free = [j for j in range(model.njnt) if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE]
    if len(free) > 1 or any(model.jnt_type == mujoco.mjtJoint.mjJNT_BALL):
        raise SystemExit("only hinge and slide joints and at most one free joint")
    return free[0] if free else None


def joint(model, j):
    """What MuJoCo compiled for a joint."""
    dof = model.jnt_dofadr[j]
    return {
        "name": named(model, "joint", j),
        "body": named(model, "body", model.jnt_bodyid[j]),
        "type": "hinge" if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE else "slide",
        "axis": model.jnt_axis[j].tolist(),
        "pos": model.jnt_pos[j].tolist(),
        "ref": float(model.qpos0[model.jnt_qposadr[j]]),
        "range": limited(model.jnt_limited[j], model.jnt_range[j]),
        "armature": float(model.dof_armature[dof]),
        "damping": float(model.dof_damping[dof]),
        "frictionloss": float(model.dof_frictionloss[dof]),
        "stiffness": float(model.jnt_stiffness[j]),
        "springref": float(model.qpos_spring[model.jnt_qposadr[j]]),
        "actuator_force_range": limited(model.jnt_actfrclimited[j], model.jnt_actfrcrange[j]),
    }


def narrower(one, other):
    """The intersection of two ranges, each of which may be missing."""
    if one is None or other is None:
        return one if other is None else other
    return [max(one[0], other[0]), min(one[1], other[1])]


def actuator(model, i):
    """What MuJoCo compiled for an actuator of a joint."""
    j = model.actuator_trnid[i, 0]
    gear, gain = float(model.actuator_gear[i, 0]), float(model.actuator_gainprm[i, 0])
    bias = model.actuator_biasprm[i, :3] if model.actuator_biastype[i] else np.zeros(3)
    ctrl = limited(model.actuator_ctrllimited[i], model.actuator_ctrlrange[i])
    force = limited(model.actuator_forcelimited[i], model.actuator_forcerange[i])
    by_ctrl = None if bias.any() or ctrl is None else sorted(gain * c for c in ctrl)
    pushed = narrower(force, by_ctrl)
    effort = None if pushed is None else sorted(gear * f for f in pushed)
    at_joint = limited(model.jnt_actfrclimited[j], model.jnt_actfrcrange[j])
    return {
        "name": named(model, "actuator", i),
        "joint": named(model, "joint", j),
        "affine": bool(model.actuator_biastype[i]),
        "gear": gear,
        "kp": gain,
        "offset": float(bias[0]),
        "kp_q": float(-bias[1]) + 0.0,
        "kd": float(-bias[2]) + 0.0,
        "ctrl_range": ctrl,
        "force_range": force,
        "armature": float(getattr(model, "actuator_armature", np.zeros(model.nu))[i]),
        "effort_range": narrower(effort, at_joint),
    }


def body(model, b):
    """What MuJoCo compiled for a body."""
    R = matrix(model.body_iquat[b])
    I = R @ np.diag(model.body_inertia[b]) @ R.T
    return {
        "name": named(model, "body", b),
        "parent": named(model, "body", model.body_parentid[b]),
        "moves": bool(model.body_weldid[b]),
        "pos": model.body_pos[b].tolist(),
        "quat": model.body_quat[b].tolist(),
        "mass": float(model.body_mass[b]),
        "com": model.body_ipos[b].tolist(),
        "inertia": [float(I[r, c]) for r, c in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))],
    }


def placed(model, kind, index, owner, pos, quat):
    """Name and place of an element of a body."""
    return {
        "name": named(model, kind, index),
        "body": named(model, "body", owner[index]),
        "pos": pos[index].tolist(),
        "quat": quat[index].tolist(),
    }


def geom(model, g):
    """Shape and place of a geom; a mesh's place is that of its principal axes of inertia."""
    return placed(model, "geom", g, model.geom_bodyid, model.geom_pos, model.geom_quat) | {
        "type": mujoco.mjtGeom(model.geom_type[g]).name.removeprefix("mjGEOM_").lower(),
        "size": model.geom_size[g].tolist(),
        "contype": int(model.geom_contype[g]),
        "conaffinity": int(model.geom_conaffinity[g]),
        "friction": model.geom_friction[g].tolist(),
    }


def keyframe(model, free):
    """The keyframe `home`, by names."""
    k = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, "home")
    if k < 0:
        return None
    qpos = model.key_qpos[k]
    joints = scalar_joints(model)
    base = None if free is None else qpos[model.jnt_qposadr[free] :][:7].tolist()
    angles = {named(model, "joint", j): float(qpos[model.jnt_qposadr[j]]) for j in joints}
    return {"base": base, "joints": angles}


def randomize(model, data, free, rng):
    """Sets a random state: angles in their ranges, or within ±π or ±0.5 m without one."""
    for j in scalar_joints(model):
        reach = np.pi if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_HINGE else 0.5
        low, high = model.jnt_range[j] if model.jnt_limited[j] else (-reach, reach)
        data.qpos[model.jnt_qposadr[j]] = rng.uniform(low, high)
    if free is not None:
        quat = rng.normal(size=4)
        start = model.jnt_qposadr[free]
        data.qpos[start : start + 3] = rng.uniform(-1, 1, 3)
        data.qpos[start + 3 : start + 7] = quat / np.linalg.norm(quat)
    data.qvel[:] = rng.uniform(-2, 2, model.nv)


def state(model, free, rng):
    """A random state and what follows from it."""
    data = mujoco.MjData(model)
    randomize(model, data, free, rng)
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    out = {"base": None, "joint_positions": {}, "joint_velocities": {}, "poses": {}}
    if free is not None:
        q, v = model.jnt_qposadr[free], model.jnt_dofadr[free]
        out["base"] = {
            "position": data.qpos[q : q + 3].tolist(),
            "quaternion": data.qpos[q + 3 : q + 7].tolist(),
            "linear_velocity": data.qvel[v : v + 3].tolist(),
            "angular_velocity": data.qvel[v + 3 : v + 6].tolist(),
        }
    for j in scalar_joints(model):
        name = named(model, "joint", j)
        out["joint_positions"][name] = float(data.qpos[model.jnt_qposadr[j]])
        out["joint_velocities"][name] = float(data.qvel[model.jnt_dofadr[j]])
    order = dof_order(model, free)
    weights = np.where(model.body_weldid > 0, model.body_mass, 0.0)
    out["mass_matrix"] = M[np.ix_(order, order)].tolist()
    out["bias_force"] = data.qfrc_bias[order].tolist()
    out["center_of_mass"] = (weights @ data.xipos / weights.sum()).tolist()
    for b in range(1, model.nbody):
        out["poses"][named(model, "body", b)] = [*data.xpos[b].tolist(), *data.xquat[b].tolist()]
    return out


def dof_order(model, free):
    """Numbers of the degrees of freedom, those of the base first."""
    base = [] if free is None else list(range(model.jnt_dofadr[free], model.jnt_dofadr[free] + 6))
    return base + [int(model.jnt_dofadr[j]) for j in scalar_joints(model)]


def notes(model):
    """What the model has that the numbers here do not contain or that is unusual."""
    counts = {
        "equality constraints": model.neq,
        "tendons": model.ntendon,
        "mocap bodies": model.nmocap,
        "bodies with gravcomp": int(np.count_nonzero(model.body_gravcomp)),
        "actuators not of joints": int(np.count_nonzero(model.actuator_trntype)),
        "fluid (density or viscosity)": int(model.opt.density > 0 or model.opt.viscosity > 0),
    }
    return [f"{kind}: {count}" for kind, count in counts.items() if count]


def reference(path, states, seed):
    """Everything about the model that this file promises."""
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    free, joints = free_joint(model), scalar_joints(model)
    at_joints = [i for i in range(model.nu) if model.actuator_trntype[i] == 0]
    site_places = (model.site_bodyid, model.site_pos, model.site_quat)
    base_dofs = dof_order(model, free)[:6] if free is not None else []
    parts = ("linear {} (world)", "angular {} (body)")
    names = [f"base {part.format(axis)}" for part in parts for axis in "xyz"]
    rng = np.random.default_rng(seed)
    return {
        "model": path.name,
        "made_by": f"mjcf_reference.py with mujoco {mujoco.__version__}, seed {seed}",
        "conventions": CONVENTIONS,
        "notes": notes(model),
        "gravity": model.opt.gravity.tolist(),
        "base": None if free is None else named(model, "body", model.jnt_bodyid[free]),
        "base_armature": model.dof_armature[base_dofs].tolist(),
        "mass": float(model.body_mass[model.body_weldid > 0].sum()),
        "dofs": (names if base_dofs else []) + [named(model, "joint", j) for j in joints],
        "bodies": [body(model, b) for b in range(1, model.nbody)],
        "joints": [joint(model, j) for j in joints],
        "actuators": [actuator(model, i) for i in at_joints],
        "sites": [placed(model, "site", s, *site_places) for s in range(model.nsite)],
        "geoms": [geom(model, g) for g in range(model.ngeom)],
        "home": keyframe(model, free),
        "states": [state(model, free, rng) for _ in range(states)],
    }


def inside(value):
    """The elements of a list or an object."""
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def written(value, indent=""):
    """JSON with one line for each list of numbers and each short object."""
    inner = indent + " "
    if not any(len(inside(c)) > 9 or any(map(inside, inside(c))) for c in inside(value)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(k)}: {written(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + written(v, inner) for v in value) + f"\n{indent}]"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("model", type=pathlib.Path)
    arguments.add_argument("--states", type=int, default=5)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("-o", "--output", type=pathlib.Path, required=True)
    chosen = arguments.parse_args()
    text = written(reference(chosen.model, chosen.states, chosen.seed))
    chosen.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
