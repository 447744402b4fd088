"""Fits MuJoCo to the log of a Go2 in the air, with the same model of the robot, the same parameters,
the same split and the same method (Levenberg-Marquardt) as `hardstand calibrate`.

    python3 benches/go2_air/mujoco_fit.py TABLE [--hold-back 0.3333] [--json]

TABLE comes from `hardstand import`. Needs the packages mujoco (4.0.0 was used) and numpy.
"""

import argparse
import copy
import csv
import gzip
import json
import re
import time
from pathlib import Path

import mujoco
import numpy as np
from mujoco import rollout

URDF = Path(__file__).parent.parent / "robots" / "go2_like.urdf"
LEGS, KINDS = ("FL", "FR", "RL", "RR"), ("hip", "thigh", "calf")
JOINTS = [f"{leg}_{kind}_joint" for leg in LEGS for kind in KINDS]
KIND = np.tile([0, 1, 2], 4)
STEP_S = 0.001
THREADS = 2
# name, number of values, first value, size that matters, smallest value
PARAMETERS = [
    ("kp", 3, 20.0, 5.0, 1.0),
    ("kd", 3, 1.5, 0.2, 0.0),
    ("armature", 3, 0.005, 0.01, 1e-4),
    ("friction", 12, 0.2, 0.1, 0.0),
    ("delay_s", 1, 0.004, 0.002, 0.0),
]


def read(path):
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)
    with opened as file:
        rows = csv.reader(file)
        names = next(rows)
        data = np.array([[float(x) for x in row] for row in rows])
    column = {name: data[:, i] for i, name in enumerate(names)}
    q = np.stack([column[f"q.{j}"] for j in JOINTS], axis=1)
    q_des = np.stack([column[f"q_des.{j}"] for j in JOINTS], axis=1)
    return column["time_s"], q, q_des


def model():
    text = re.sub(r"<(visual|collision)>.*?</\1>", "", URDF.read_text(), flags=re.S)
    text = re.sub(r"<(visual|collision)\b[^>]*/>", "", text)
    spec = mujoco.MjSpec.from_string(text)
    for joint in JOINTS:
        actuator = spec.add_actuator(
            name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT
        )
        actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED
        actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    spec.option.timestep = STEP_S
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    return spec.compile()


class Replays:
    def __init__(self, time_s, q, q_des):
        self.time_s, self.q, self.q_des = time_s, q, q_des
        self.model = model()
        self.datas = [mujoco.MjData(self.model) for _ in range(THREADS)]

    def run(self, points, begin, end):
        """Joint positions in the rows begin + 1 to end, for each point."""
        time_s = self.time_s[begin:end]
        steps = int(np.ceil((time_s[-1] - time_s[0]) / STEP_S)) + 1
        control = np.zeros((len(points), steps, 12))
        initial = np.zeros((len(points), 25))
        models = []
        for i, point in enumerate(points):
            m = copy.copy(self.model)
            m.actuator_gainprm[:, 0] = point["kp"][KIND]
            m.actuator_biasprm[:, 1] = -point["kp"][KIND]
            m.actuator_biasprm[:, 2] = -point["kd"][KIND]
            m.dof_armature[:] = point["armature"][KIND]
            m.dof_frictionloss[:] = point["friction"]
            now = time_s[0] + np.arange(steps) * STEP_S - point["delay_s"][0]
            row = np.searchsorted(self.time_s, now + 1e-9, side="right") - 1
            control[i] = self.q_des[np.maximum(row, 0)]
            initial[i, 1:13] = self.q[begin]
            models.append(m)
        state, _ = rollout.rollout(models, self.datas, initial_state=initial, control=control)
        at = time_s[0] + np.arange(1, steps + 1) * STEP_S
        out = np.empty((len(points), end - begin - 1, 12))
        for i in range(len(points)):
            for j in range(12):
                out[i, :, j] = np.interp(time_s[1:], at, state[i, :, 1 + j])
        return out

    def residuals(self, points, begin, end):
        error = self.run(points, begin, end) - self.q[None, begin + 1 : end]
        return np.nan_to_num(error.reshape(len(points), -1), nan=1e3)


def named(values):
    point, at = {}, 0
    for name, count, *_ in PARAMETERS:
        point[name] = values[at : at + count]
        at += count
    return point


def fit(replays, end):
    column = lambda i: np.concatenate([np.full(p[1], p[i]) for p in PARAMETERS])
    start, typical, lower = column(2), column(3), column(4)
    evaluate = lambda points: replays.residuals([named(p) for p in points], 0, end)
    x, damping = start.copy(), 1e-3
    r = evaluate([x])[0]
    for _ in range(40):
        cost = r @ r
        scale = np.maximum(np.abs(x), typical)
        step = 5e-3 * scale
        step[-1] = STEP_S
        moved = np.array([x + step[i] * np.eye(len(x))[i] for i in range(len(x))])
        J = ((evaluate(moved) - r) / step[:, None]).T * scale
        A, g = J.T @ J, J.T @ r
        free = ~((x <= lower) & (g > 0))
        dampings = damping * np.array([0.1, 1, 10, 100, 1e3])
        points = []
        for d in dampings:
            move = np.zeros_like(x)
            F = A[np.ix_(free, free)]
            D = np.diag(np.diag(F)) * d + 1e-12 * np.diag(F).max() * np.eye(len(F))
            move[free] = -np.linalg.solve(F + D, g[free])
            points.append(np.maximum(x + scale * move, lower))
        found = evaluate(points)
        costs = (found**2).sum(axis=1)
        best = costs.argmin()
        if costs[best] >= cost * (1 - 1e-6):
            break
        x, r, damping = points[best], found[best], max(dampings[best], 1e-9)
    return x, start


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("table")
    parser.add_argument("--hold-back", type=float, default=1 / 3)
    parser.add_argument("--json", action="store_true")
    a = parser.parse_args()
    time_s, q, q_des = read(a.table)
    replays = Replays(time_s, q, q_des)
    split = np.searchsorted(time_s, time_s[-1] - a.hold_back * (time_s[-1] - time_s[0]))
    begin = time.time()
    x, start = fit(replays, split)
    wall_s = time.time() - begin
    def rms(p, b, e):
        return round(1e3 * float(np.sqrt((replays.residuals([named(p)], b, e) ** 2).mean())), 2)

    held_back = [rms(p, split, len(q)) for p in (start, x)] if a.hold_back else None
    result = {
        "mujoco": mujoco.__version__,
        "fitted_mrad": [rms(start, 0, split), rms(x, 0, split)],
        "held_back_mrad": held_back,
        "values": {name: value.round(5).tolist() for name, value in named(x).items()},
        "wall_s": wall_s,
    }
    if a.json:
        print(json.dumps(result))
    else:
        for key, value in result.items():
            print(f"{key:14} {value}")


if __name__ == "__main__":
    main()
