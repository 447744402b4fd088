"""Broken contracts with the clauses that the Python package finds violated.

Each case replaces parts of example.toml, and has numbers of the robot and a command.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hardstand import contract, contract_file, network

HERE = Path(__file__).parent
JOINTS = ["FL_hip", "FL_thigh", "FL_calf", "FR_hip"]
ROBOT = {
    "joints": JOINTS, "period": 0.001, "q_min": [-1.0, 0.0, -2.5, -1.0],
    "q_max": [1.0, 3.0, -0.5, 1.0], "kp_max": 100.0, "kd_max": 5.0, "feet": 2,
    "imu_on_base": True, "prismatic": [False] * 4,
}
HOLD = '[[hold]]\njoints = ["RL_hip"]\nq = 0.1\nkp = 30.0\nkd = 1.0\n'
FIRST = '[[observation]]\nterm = "gyro"\nscale = 0.25'

#: Replacements in the text, changes of the robot, and the command.
CASES: dict[str, tuple[dict[str, str], dict, dict[str, float]]] = {
    "whole": ({}, {}, {"vx": 1.0}),
    "schema": ({"contract.v1": "contract.v9", "kp = 25.0": "kpp = 25.0"}, {}, {}),
    "missing": ({'name = "example"': "", "kd = 0.5": "", 'term = "gyro"': 'turm = "gyro"'}, {}, {}),
    "clock_form": ({"[commands]": "[clock]\nperiod = 0.8\n[commands]"}, {}, {}),
    "hold_form": ({FIRST: '[[hold]]\njoints = ["FR_hip"]\nkp = 1.0\n' + FIRST}, {}, {}),
    "lengths": ({"-1.5, 0.0]": "-1.5]", "kp = 25.0": "kp = [25.0]",
                 "action_scale = 0.25": "action_scale = [1.0, 2.0]\nhistory_layout = \"row\"\n"
                 "history_fill = \"last\"\nhistory_order = \"none\""}, {}, {}),
    "joints": ({'"FR_hip"]': '"FR_foot"]'}, {}, {}),
    "twice": ({'"FR_hip"]': '"FL_hip"]'}, {}, {}),
    "held_too": ({FIRST: HOLD.replace("RL_hip", "FR_hip") + FIRST}, {}, {}),
    "free": ({}, {"joints": [*JOINTS, "RL_hip", "RR_hip"]}, {}),
    "unknown_held": ({FIRST: HOLD + FIRST}, {}, {}),
    "term": ({'term = "gravity"': 'term = "gravitas"'}, {}, {}),
    "frame": ({FIRST: FIRST + '\nframe = "world"'}, {}, {}),
    "imu_elsewhere": ({FIRST: FIRST + '\nframe = "base"'}, {"imu_on_base": False}, {}),
    "truth": ({FIRST: '[[observation]]\nterm = "base_velocity"'}, {}, {}),
    "history": ({FIRST: FIRST + "\nhistory = 0\ndecimation = -2"}, {}, {}),
    "frames": ({FIRST: FIRST + "\nhistory = 2", "action_scale": 'history_layout = "frame"\n'
                "action_scale"}, {}, {}),
    "term_joints": ({'term = "q"': 'term = "q"\njoints = ["tail", "FL_hip"]'}, {}, {}),
    "term_names": ({'term = "command"': 'term = "command"\nnames = ["jump", "vx"]'}, {}, {}),
    "clock": ({'term = "command"': 'term = "clock_sin"'}, {}, {}),
    "scale": ({"scale = 0.25\n\n[[": "scale = [1.0, 2.0]\n\n[[",
               'term = "q"': 'term = "q"\noffset = [1]'}, {}, {}),
    "timing": ({"policy_hz = 50.0": "policy_hz = 60"}, {}, {}),
    "too_fast": ({"policy_hz = 50.0": "policy_hz = 2000.0"}, {}, {}),
    "no_rate": ({"policy_hz = 50.0": "policy_hz = -1"}, {}, {}),
    "gains": ({"kp = 25.0": "kp = [-1.0, 25.0, 100.5, 3e7]", "kd = 0.5": "kd = 5.00001"}, {}, {}),
    "no_metadata": ({"kp = 25.0": 'kp = "policy"'}, {}, {}),
    "pose": ({"0.8, -1.5": "-0.8, -0.00001234"}, {"prismatic": [True, False, False, True]}, {}),
    "command": ({}, {}, {"vx": 1.5, "vz": 0.0}),
    "ranges": ({"vx = [-1.0, 1.0]": "vx = [1.0, -1.0]"}, {}, {}),
    "nan": ({"kp = 25.0": "kp = nan", "vx = [-1.0, 1.0]": "vx = [-1.0, nan]",
             "scale = 0.25\n\n[[": "scale = [nan, 1, 1]\n\n[["}, {}, {}),
    "clips": ({"action_clip = 10.0": "action_clip = -1", FIRST: FIRST + "\nclip = 0"}, {}, {}),
    "long_history": ({FIRST: FIRST + "\nhistory = 1000000000"}, {}, {}),
    "clock_period": ({FIRST: "[clock]\nperiod_s = 0\n" + FIRST}, {}, {}),
    "ports": ({'policy = "elu.onnx"': 'input = "x"\noutput = "y"'}, {}, {}),
    "size": ({'term = "gravity"': 'term = "gravity"\nhistory = 3'}, {}, {}),
    "actions": ({'"FL_hip", ': "", "[0.0, 0.8": "[0.8"}, {"joints": JOINTS[1:]}, {}),
    "everything": ({
        "policy_hz = 50.0": "policy_hz = 7.5", '"FR_hip"]': '"FR_foot"]',
        'term = "gravity"': 'term = "gravitas"', FIRST: FIRST + '\nframe = "world"\nhistory = 4',
        "kp = 25.0": "kp = 250.0", "kd = 0.5": 'kd = "policy"', "0.8, -1.5": "9.5, -1.5",
        'term = "command"': 'term = "command"\nnames = ["jump"]', 'policy = "elu.onnx"':
        'output = "y"',
    }, {"imu_on_base": False}, {"vx": -3.0}),
}


def make() -> dict:
    example = (HERE / "example.toml").read_text()
    net = network.load(HERE / "elu.onnx", "numpy")
    out = {}
    for name, (changes, robot, command) in CASES.items():
        text = example
        for old, new in changes.items():
            assert old in text, (name, old)
            text = text.replace(old, new, 1)
        facts = ROBOT | robot
        n = len(facts["joints"])
        facts |= {k: facts[k][:n] + [False] * (n - 4) for k in ("q_min", "q_max", "prismatic")}
        clauses = violated(text, facts, net, command)
        assert (name == "whole") == (not clauses), (name, clauses)
        out[name] = {"text": text, "robot": facts, "command": command, "clauses": clauses}
        facts |= {k: [float(x) for x in facts[k]] for k in ("q_min", "q_max")}
    return out


def violated(text: str, facts: dict, net: network.Network, command: dict) -> list[str]:
    try:
        parsed = contract_file.parse(text, Path("broken.toml"))
    except contract_file.Violated as e:
        return e.clauses
    arrays = {k: np.array(facts[k]) for k in ("q_min", "q_max", "prismatic")}
    return contract.violations(parsed, contract.Robot(**facts | arrays), net, command)
