"""Compares `hardstand.Dynamics` with what MuJoCo computed.

    python mjcf_compare.py FOLDER... [--base-axes body|world] [--check]

Each `X.json` of the folders and of the folders in them is a reference of `mjcf_reference.py` for
`X.xml` beside it. Prints the largest relative error of each robot and quantity; exit code 1 if one
is above 1e-10 or a model cannot be read. With --check the place of `hardstand` is taken by
`mjcf_newton_euler.py`, and the limit is 1e-12: a test of this file.

The two kinds of generalized velocity, with R the rotation from the base to the world:

- MuJoCo: u = [v_W, w_B, dq]: velocity of the base's origin in world axes, angular velocity in body
  axes.
- Ours, body axes: s = [w_B, v_B, dq]. v_W = R v_B, hence u = T s with the blocks R and 1.
- Ours, world axes: s = [w_W, v_W, dq]. w_B = R^T w_W, hence u = T s with the blocks 1 and R^T. This
  is what `crates/physics/src/dynamics` has inside.

With power alike, f_s = T^T f_u. With u' = T s' + T' s and M u' + b = f it follows that

    M_s = T^T M T,    b_s = T^T (b + M T' s).

T' s is the extra term: with body axes it is (R v_B)' - R v_B' = R (w_B x v_B) in the rows of v_W;
with world axes it is (R^T)' w_W = -w_B x w_B = 0.

MuJoCo gives a base whose joint is written as `<joint type="free">` the armature of its class. Ours
has none: it is taken off the diagonal of M first.
"""

import argparse
import json
import pathlib
import sys

import mjcf_newton_euler
import numpy as np

QUANTITIES = ("mass", "M", "bias", "position", "quaternion")


def transformation(reference, state, joints, axes):
    """T and T' s of the text above; `joints` are the names in our order."""
    names, first = reference["dofs"], 6 if reference["base"] else 0
    T, drift = np.zeros((len(names), len(names))), np.zeros(len(names))
    for column, name in enumerate(joints):
        T[names.index(name, first), first + column] = 1
    if first:
        R, base = mjcf_newton_euler.rotation(state["base"]["quaternion"]), state["base"]
        v_W, w_B = np.array(base["linear_velocity"]), np.array(base["angular_velocity"])
        T[0:3, 3:6] = R if axes == "body" else np.eye(3)
        T[3:6, 0:3] = np.eye(3) if axes == "body" else R.T
        drift[0:3] = R @ np.cross(w_B, R.T @ v_W) if axes == "body" else 0.0
    return T, drift


def expected(reference, state, joints, axes):
    """Velocity, mass matrix and bias force of the reference in our convention."""
    M, bias = np.array(state["mass_matrix"]), np.array(state["bias_force"])
    armature = np.zeros(len(M))
    armature[: len(reference["base_armature"])] = reference["base_armature"]
    M = M - np.diag(armature)
    base = state["base"] or {"linear_velocity": [], "angular_velocity": []}
    speeds = [state["joint_velocities"][joint["name"]] for joint in reference["joints"]]
    u = np.array([*base["linear_velocity"], *base["angular_velocity"], *speeds])
    T, drift = transformation(reference, state, joints, axes)
    return np.linalg.solve(T, u), T.T @ M @ T, T.T @ (bias + M @ drift)


def last(values, size):
    """The part of a vector or matrix that is about `size` last degrees of freedom."""
    values = np.asarray(values, float)
    return values[(slice(-size, None),) * values.ndim]


def compare(model, reference, axes):
    """Largest error of each quantity. M is measured in units of the root of its diagonal, so that
    light links count as heavy ones do; so is the bias force, and then against its largest entry."""
    wanted = {joint["name"] for joint in reference["joints"]}
    if set(model.joints) != wanted or len(model.joints) != len(wanted):
        raise ValueError(f"joints differ: {sorted(set(model.joints) ^ wanted)}")
    if not set(model.bodies) & {body["name"] for body in reference["bodies"]}:
        raise ValueError("no body has a name of the reference")
    seen = {name: [] for name in QUANTITIES}
    seen["mass"].append(model.mass / reference["mass"] - 1)
    gravity, size = np.array(reference["gravity"]), len(reference["dofs"])
    for state in reference["states"]:
        v, M, bias = expected(reference, state, model.joints, axes)
        base = state["base"] or {"position": [0.0] * 3, "quaternion": [1.0, 0.0, 0.0, 0.0]}
        q = np.array([state["joint_positions"][name] for name in model.joints])
        place = (np.array(base["position"]), np.array(base["quaternion"]))
        moving = (v[:6], q, v[6:]) if state["base"] else (np.zeros(6), q, v)
        got_M = last(model.mass_matrix(*place, q), size)
        got_bias = last(model.bias_forces(*place, *moving, gravity), size)
        unit = np.sqrt(np.diag(M))
        seen["M"].extend(((got_M - M) / np.outer(unit, unit)).flat)
        seen["bias"].extend((got_bias - bias) / unit / np.abs(bias / unit).max())
        for name, pose in state["poses"].items():
            if name in model.bodies:
                x, quat = map(np.array, model.pose(name, *place, q))
                seen["position"].extend((x - pose[:3]) / max(1.0, np.linalg.norm(pose[:3])))
                sign = 1 if quat @ pose[3:] > 0 else -1
                seen["quaternion"].extend(quat - sign * np.array(pose[3:]))
    return {name: np.abs(errors).max() for name, errors in seen.items()}


def opened(path, reference, check, axes):
    """The model under test."""
    if check:
        return mjcf_newton_euler.Model(reference, axes)
    import hardstand

    return hardstand.Dynamics(str(path))


def report(path, chosen, limit):
    """Compares one model and prints a line; whether all is well."""
    reference = json.loads(path.read_text(encoding="utf-8"))
    try:
        model = opened(path.with_suffix(".xml"), reference, chosen.check, chosen.base_axes)
        worst = compare(model, reference, chosen.base_axes)
    except Exception as error:  # a robot that fails must not hide the others
        print(f"FAIL  {path}: {type(error).__name__}: {error}")
        return False
    known = sum(body["name"] in model.bodies for body in reference["bodies"])
    good = all(error <= limit for error in worst.values())
    cells = "  ".join(f"{name} {error:.1e}" for name, error in worst.items())
    of = f"{known} of {len(reference['bodies'])} bodies, {len(model.joints)} joints"
    print(f"{'ok  ' if good else 'FAIL'}  {cells}  {path} ({of})")
    return good


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments.add_argument("--base-axes", choices=("body", "world"), default="body")
    arguments.add_argument("--check", action="store_true")
    chosen = arguments.parse_args()
    files = sorted(f for folder in chosen.folders for f in folder.rglob("*.json"))
    files = [f for f in files if f.with_suffix(".xml").exists()]
    good = [report(f, chosen, 1e-12 if chosen.check else 1e-10) for f in files]
    print(f"{sum(good)} of {len(good)} robots agree")
    sys.exit(0 if good and all(good) else 1)


if __name__ == "__main__":
    main()
