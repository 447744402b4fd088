"""Writes small ONNX files for tests, without the package onnx."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

Field = tuple[int, "int | float | str | bytes"]


def varint(value: int) -> bytes:
    value, out = value % 2**64, b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def message(*fields: Field) -> bytes:
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        elif isinstance(value, float):
            out += varint(number << 3 | 5) + struct.pack("<f", value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def tensor(name: str, array: np.ndarray) -> bytes:
    kind = {"float32": 1, "int64": 7}[array.dtype.name]
    dims = [(1, n) for n in array.shape]
    return message(*dims, (2, kind), (8, name), (9, array.tobytes()))


def attribute(name: str, value: int | float) -> bytes:
    if isinstance(value, float):
        return message((1, name), (2, value), (20, 1))
    return message((1, name), (3, value), (20, 2))


def node(operator: str, inputs: list[str], output: str, **attributes: int | float) -> bytes:
    fields: list[Field] = [(1, name) for name in inputs]
    fields += [(2, output), (4, operator)]
    return message(*fields, *((5, attribute(k, v)) for k, v in attributes.items()))


def value_info(name: str, size: int) -> bytes:
    shape = message((1, message((2, "batch"))), (1, message((1, size))))
    return message((1, name), (2, message((1, message((1, 1), (2, shape))))))


def write(
    path: Path, nodes: list[bytes], constants: dict[str, np.ndarray], sizes: tuple[int, int],
    metadata: dict[str, str] | None = None,
) -> Path:
    """A graph from `obs` to `actions` with these sizes."""
    graph = message(
        *((1, n) for n in nodes), (2, "g"),
        *((5, tensor(name, array)) for name, array in constants.items()),
        (11, value_info("obs", sizes[0])), (12, value_info("actions", sizes[1])),
    )
    entries = [(14, message((1, k), (2, v))) for k, v in (metadata or {}).items()]
    opset = message((1, ""), (2, 17))
    path.write_bytes(message((1, 8), (7, graph), (8, opset), *entries))
    return path


def linear(path: Path, weights: np.ndarray, metadata: dict[str, str] | None = None) -> Path:
    """A policy without layers between: actions = weights · obs."""
    constants = {"w": weights.astype(np.float32)}
    nodes = [node("Gemm", ["obs", "w"], "actions", transB=1)]
    return write(path, nodes, constants, (weights.shape[1], weights.shape[0]), metadata)
