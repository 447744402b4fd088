"""Random contracts with the observations and targets of the Python package.

The network is one that both sides compute exactly: half of some of the observation's numbers.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hardstand import contract_file, network, observation, policy
from hardstand.contract import Robot
from onnx import TensorProto, helper, numpy_helper

STEPS = 10


def quat(rng: np.random.Generator) -> np.ndarray:
    q = rng.standard_normal(4)
    return q / np.linalg.norm(q)


def toml(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, np.ndarray)):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return repr(value.item() if hasattr(value, "item") else value)


def numbers(rng: np.random.Generator, n: int):
    return float(rng.uniform(0.1, 3)) if rng.integers(2) else list(rng.uniform(-2, 2, n))


def term(rng: np.random.Generator, kind: str, robot: Robot, n: int, commands: list[str]) -> dict:
    out: dict = {"term": kind}
    sizes = {"q": n, "dq": n, "last_action": n, "command": len(commands), "clock_sin": 2,
             "clock_cos": 2, "foot_contact": robot.feet, "base_height": 1, "constant": 2}
    size = sizes.get(kind, 3)
    if kind in ("gyro", "gravity", "acc"):
        out["frame"] = str(rng.choice(["imu", "base"]))
    if kind == "base_velocity":
        out["frame"] = str(rng.choice(["base", "world"]))
    if kind.startswith("base"):
        out["truth"] = True
    if kind == "constant":
        out["value"] = list(rng.standard_normal(2))
    if kind in ("q", "dq") and rng.integers(2):
        chosen = rng.permutation(robot.joints)[: rng.integers(1, len(robot.joints) + 1)]
        out["joints"], size = [str(j) for j in chosen], len(chosen)
    if kind == "q" and rng.integers(2):
        out["offset"] = numbers(rng, size)
    if kind == "command" and rng.integers(2):
        out["names"], size = [str(c) for c in rng.permutation(commands)[:1]], 1
    if rng.integers(2):
        out["scale"] = numbers(rng, size)
    if rng.integers(2):
        out["clip"] = float(rng.uniform(0.2, 2))
    out["size"] = size
    return out


def contract(rng: np.random.Generator, robot: Robot) -> tuple[str, int, int, list[str]]:
    """The text, the size of the observation, the count of joints and the commands."""
    n = int(rng.integers(1, len(robot.joints)))
    order = [str(j) for j in rng.permutation(robot.joints)]
    commands = [str(c) for c in rng.permutation(["vx", "vy", "yaw_rate"])]
    lines = ['schema = "hardstand.contract.v1"', 'name = "random"', "policy_hz = 50.0"]
    layout = str(rng.choice(["term", "frame"]))
    for key, value in {
        "joints": order[:n], "default_q": rng.uniform(-1, 1, n), "kp": 20.0, "kd": [0.5] * n,
        "action_scale": numbers(rng, n), "history_layout": layout,
        "history_order": str(rng.choice(["oldest_first", "newest_first"])),
        "history_fill": str(rng.choice(["zero", "first"])),
    }.items():
        lines.append(f"{key} = {toml(value)}")
    if rng.random() < 0.7:
        lines.append(f"action_clip = {rng.uniform(0.05, 0.5)}")
    lines += ["[commands]", *(f"{c} = [-1.0, {rng.uniform(0.5, 1)}]" for c in commands)]
    lines += ["[clock]", f"period_s = {rng.uniform(0.3, 1)}", "offsets = [0.0, 0.37]",
              f"first_step = {rng.integers(0, 3)}"]
    if rng.random() < 0.8:
        lines += ["standing = 0.5", "standing_below = 0.3"]
    kinds = rng.choice(list(contract_file.TERMS), int(rng.integers(2, 9)))
    size, frame = 0, (int(rng.integers(1, 5)), int(rng.integers(1, 4)))
    for kind in ["gyro", "clock_sin", "last_action", *kinds]:
        made = term(rng, str(kind), robot, n, commands)
        steps = frame if layout == "frame" else (int(rng.integers(1, 5)), int(rng.integers(1, 4)))
        made["history"], made["decimation"] = steps
        size += made.pop("size") * steps[0]
        lines += ["[[observation]]", *(f"{k} = {toml(v)}" for k, v in made.items())]
    held = order[n:]
    lines += ["[[hold]]", f"joints = {toml(held)}", f"q = {toml(numbers(rng, len(held)))}",
              "kp = 30.0", "kd = 1.5"]
    return "\n".join(lines) + "\n", size, n, commands


def half_of_some(rng: np.random.Generator, size: int, n: int) -> bytes:
    picks = rng.integers(0, size, n)
    constants = [numpy_helper.from_array(np.array(picks, np.int64), "picks"),
                 numpy_helper.from_array(np.float32(0.5), "half")]
    nodes = [helper.make_node("Gather", ["obs", "picks"], ["some"], axis=1),
             helper.make_node("Mul", ["some", "half"], ["actions"])]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [info("obs", TensorProto.FLOAT, [1, size])],
        [info("actions", TensorProto.FLOAT, [1, n])], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    return model.SerializeToString()


def random(rng: np.random.Generator) -> dict:
    joints = [f"j{i}" for i in range(int(rng.integers(2, 9)))]
    robot = Robot(joints, 0.001, kp_max=100.0, kd_max=10.0, feet=int(rng.integers(0, 5)))
    imu = quat(rng) if rng.integers(2) else np.array([1.0, 0, 0, 0])
    text, size, n, commands = contract(rng, robot)
    model = half_of_some(rng, size, n)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "p.onnx"
        file.write_bytes(model)
        net = network.load(file, "numpy")
    twin = policy.Policy(contract_file.parse(text), net, robot, tuple(imu))
    steps = []
    for i in range(STEPS):
        step: dict = {"reset": bool(i == 7), "command": {}}
        if rng.random() < 0.5:
            step["command"] = {c: float(rng.uniform(-0.5, 0.5)) for c in commands[:2]}
            twin.set_command(**step["command"])
        if step["reset"]:
            twin.reset()
        step |= {
            "gyro": rng.standard_normal(3), "acc": 9 * rng.standard_normal(3), "quat": quat(rng),
            "q": rng.standard_normal(len(joints)), "dq": 5 * rng.standard_normal(len(joints)),
            "foot_contact": rng.integers(0, 2, robot.feet).astype(bool),
            "base_velocity": rng.standard_normal(3), "base_quat": quat(rng),
            "base_position": rng.standard_normal(3),
        }
        keys = ("gyro", "acc", "quat", "q", "dq", "foot_contact", "base_velocity", "base_quat",
                "base_position")
        sensors = observation.Sensors(*(np.asarray(step[k]) for k in keys))
        seen: list[np.ndarray] = []
        run = net.run
        net.run = lambda inputs: (seen.append(inputs["obs"]), run(inputs))[1]
        targets = twin.act(sensors)
        net.run = run
        step["observation"] = [float(f"{x:.9g}") for x in seen[0].ravel()]
        step["targets"] = targets
        steps.append({k: v.tolist() if hasattr(v, "tolist") else v for k, v in step.items()})
    return {
        "contract": text, "network": model.hex(), "joints": joints, "feet": robot.feet,
        "imu_quat": imu.tolist(), "period": twin.period, "commanded": twin.joints,
        "kp": twin.kp.tolist(), "kd": twin.kd.tolist(), "steps": steps,
    }
