"""Policies as ONNX files, run by NumPy and by onnxruntime."""

from __future__ import annotations

from pathlib import Path

import hardstand
import numpy as np
import pytest
from hardstand import network
from onnx_writer import linear, node, write


def layers(path: Path) -> Path:
    """All that feed-forward policies are made of."""
    random = np.random.default_rng(7)
    f = np.float32
    constants = {
        "w1": random.normal(size=(16, 10)).astype(f), "b1": random.normal(size=16).astype(f),
        "w2": random.normal(size=(16, 12)).astype(f), "b2": random.normal(size=12).astype(f),
        "scale": random.normal(size=16).astype(f), "bias": random.normal(size=16).astype(f),
        "from": np.array([1]), "to": np.array([5]), "axis": np.array([1]),
        "w3": random.normal(size=(16, 6)).astype(f),
    }
    nodes = [
        node("Gemm", ["obs", "w1", "b1"], "h1", transB=1, alpha=1.0, beta=1.0),
        node("LayerNormalization", ["h1", "scale", "bias"], "h2", epsilon=1e-5),
        node("Elu", ["h2"], "h3", alpha=1.0),
        node("MatMul", ["h3", "w2"], "h4"),
        node("Add", ["h4", "b2"], "h5"),
        node("Tanh", ["h5"], "h6"),
        node("Slice", ["h6", "from", "to", "axis"], "h7"),
        node("Concat", ["h7", "h6"], "h8", axis=1),
        node("Relu", ["h8"], "h9"),
        node("Identity", ["h9"], "h10"),
        node("MatMul", ["h10", "w3"], "h11"),
        node("Sigmoid", ["h11"], "actions"),
    ]
    return write(path, nodes, constants, (10, 6), {"kp": "[1, 2]"})


def test_numpy_and_onnxruntime_agree(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    file = layers(tmp_path / "p.onnx")
    obs = np.random.default_rng(1).normal(size=(5, 10))
    ours, theirs = network.load(file, "numpy"), network.load(file, "onnxruntime")
    assert ours.shapes.metadata == theirs.shapes.metadata == {"kp": "[1, 2]"}
    assert ours.shapes.inputs == theirs.shapes.inputs == {"obs": 10}
    assert ours.shapes.outputs == theirs.shapes.outputs == {"actions": 6}
    a, b = ours.run({"obs": obs})["actions"], theirs.run({"obs": obs})["actions"]
    assert a.dtype == b.dtype == np.float32 and a.shape == (5, 6)
    assert np.allclose(a, b, atol=1e-5)  # float32 with sums in another order


def test_a_file_that_is_no_policy_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "p.onnx"
    file.write_text("no policy")
    with pytest.raises(hardstand.HardstandError, match="no ONNX file"):
        network.load(file, "numpy")
    with pytest.raises(hardstand.HardstandError, match="there is no such file"):
        network.load(tmp_path / "none.onnx")
    unknown = write(tmp_path / "u.onnx", [node("LSTM", ["obs"], "actions")], {}, (3, 3))
    with pytest.raises(hardstand.HardstandError, match="LSTM.*pip install onnxruntime"):
        network.load(unknown, "numpy")


def test_every_cut_of_a_file_is_refused(tmp_path: Path) -> None:
    whole = linear(tmp_path / "p.onnx", np.eye(4)).read_bytes()
    cut = tmp_path / "cut.onnx"
    for n in range(0, len(whole) - 20, 7):
        cut.write_bytes(whole[:n])
        with pytest.raises(hardstand.HardstandError):
            network.load(cut, "numpy")
