"""Runs ONNX policies: with onnxruntime if it is installed, otherwise with NumPy.

NumPy runs the operators of feed-forward policies (`OPERATORS`); onnxruntime runs any policy. The
two agree to rounding, but not in every bit: name the one that a comparison of digests needs.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .errors import HardstandError
from .onnx_file import Graph, read_graph
from .onnx_operators import OPERATORS

Array = npt.NDArray[Any]


@dataclass
class Shapes:
    """Names and sizes of the last axis of inputs and outputs (None: any), and the metadata."""

    inputs: dict[str, int | None] = field(default_factory=dict)
    outputs: dict[str, int | None] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)


class Network(Protocol):
    """A policy that can be run."""

    shapes: Shapes

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by name; arrays have a leading batch axis."""
        ...


class NumpyNetwork:
    """A feed-forward policy, run by NumPy in the order of the file."""

    def __init__(self, path: Path) -> None:
        self.graph: Graph = read_graph(path)
        unknown = sorted({node.operator for node in self.graph.nodes} - set(OPERATORS))
        if unknown:
            raise HardstandError(
                f"policy {path} has the operators {', '.join(unknown)}, which NumPy does not run: "
                "pip install onnxruntime",
                kind="input",
            )
        sizes = {name: shape[-1] if shape else None for name, shape in self.graph.inputs.items()}
        ends = {name: shape[-1] if shape else None for name, shape in self.graph.outputs.items()}
        self.shapes = Shapes(sizes, ends, self.graph.metadata)

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by name."""
        values: dict[str, Array] = dict(self.graph.constants)
        values.update({name: np.asarray(array, np.float32) for name, array in inputs.items()})
        for node in self.graph.nodes:
            given = [values[name] if name else None for name in node.inputs]
            made = OPERATORS[node.operator](node.attributes, *given)
            values.update(zip(node.outputs, (made,), strict=False))
        return {name: values[name] for name in self.graph.outputs}


class RuntimeNetwork:
    """A policy, run by onnxruntime on one thread, so that its result does not depend on cores."""

    def __init__(self, path: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            self.session = onnxruntime.InferenceSession(
                os.fspath(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as e:  # onnxruntime has many kinds, all with a text
            raise HardstandError(f"policy {path}: {e}", kind="input") from None

        def last(shape: list[Any]) -> int | None:
            return shape[-1] if shape and isinstance(shape[-1], int) else None

        self.shapes = Shapes(
            {i.name: last(i.shape) for i in self.session.get_inputs()},
            {o.name: last(o.shape) for o in self.session.get_outputs()},
            dict(self.session.get_modelmeta().custom_metadata_map),
        )

    def run(self, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """Outputs by name."""
        given = {name: np.asarray(array, np.float32) for name, array in inputs.items()}
        return dict(zip(self.shapes.outputs, self.session.run(None, given), strict=True))


def load(path: str | os.PathLike[str], engine: str = "auto") -> Network:
    """The policy in a file .onnx. `engine`: `"onnxruntime"`, `"numpy"`, or `"auto"`, which takes
    onnxruntime if it is installed."""
    file = Path(path)
    if not file.is_file():
        raise HardstandError(f"policy {file}: there is no such file", kind="file")
    if engine not in ("auto", "onnxruntime", "numpy"):
        raise HardstandError(f'engine "{engine}" must be auto, onnxruntime or numpy', kind="input")
    if engine != "numpy":
        try:
            return RuntimeNetwork(file)
        except ImportError:
            if engine == "onnxruntime":
                raise HardstandError(
                    "onnxruntime is not installed: pip install onnxruntime", kind="input"
                ) from None
    return NumpyNetwork(file)
