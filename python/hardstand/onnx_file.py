"""Reads the graph of an ONNX file: as much of its protobuf messages as a policy needs."""

from __future__ import annotations

import struct
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import HardstandError

# numbers of fields in onnx.proto; data types by number
_DTYPES = {1: "<f4", 6: "<i4", 7: "<i8", 9: "?", 10: "<f2", 11: "<f8"}
_FLOATS, _INTS32, _INTS64, _DOUBLES = 4, 5, 7, 10

Fields = dict[int, list[Any]]
Array = npt.NDArray[Any]


@dataclass
class Node:
    """An operator with the names of its inputs and outputs."""

    operator: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]


@dataclass
class Graph:
    """Nodes in their order, constants, and shapes of inputs and outputs (None: any size)."""

    nodes: list[Node]
    constants: dict[str, Array]
    inputs: dict[str, list[int | None]]
    outputs: dict[str, list[int | None]]
    metadata: dict[str, str]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _fields(data: bytes) -> Fields:
    """Values of a message by number of the field: integers, 4 or 8 bytes, or bytes."""
    out: Fields = defaultdict(list)
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _varint(data, at)
            out[tag >> 3].append(value)
            continue
        if kind == 2:
            size, at = _varint(data, at)
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
        else:
            raise ValueError(f"wire type {kind}")
        if at + size > len(data):
            raise ValueError("it is cut short")
        out[tag >> 3].append(data[at:at + size])
        at += size
    return out


def _text(fields: Fields, number: int) -> str:
    return bytes(fields[number][-1]).decode() if fields[number] else ""


def _integers(values: list[Any]) -> list[int]:
    """Repeated integers, packed or not; negative ones have 64 bits."""
    out: list[int] = []
    for value in values:
        if isinstance(value, int):
            out.append(value)
            continue
        at = 0
        while at < len(value):
            one, at = _varint(value, at)
            out.append(one)
    return [v - 2**64 if v >= 2**63 else v for v in out]


def _tensor(data: bytes) -> Array:
    fields = _fields(data)
    kind = fields[2][-1]
    if kind not in _DTYPES:
        raise ValueError(f"a tensor has data type {kind}")
    dtype, shape = np.dtype(_DTYPES[kind]), _integers(fields[1])
    if fields[9]:
        return np.frombuffer(fields[9][-1], dtype).reshape(shape)
    if fields[_FLOATS] or fields[_DOUBLES]:
        number, stored = (_FLOATS, "<f4") if fields[_FLOATS] else (_DOUBLES, "<f8")
        return np.frombuffer(b"".join(fields[number]), stored).astype(dtype).reshape(shape)
    integers = _integers(fields[_INTS64] or fields[_INTS32])
    return np.array(integers, dtype).reshape(shape)


def _attribute(data: bytes) -> tuple[str, Any]:
    fields = _fields(data)
    name = _text(fields, 1)
    if fields[5]:
        return name, _tensor(fields[5][-1])
    if fields[2]:
        return name, struct.unpack("<f", fields[2][-1])[0]
    if fields[7]:
        return name, np.frombuffer(b"".join(fields[7]), "<f4").tolist()
    if fields[8]:
        return name, _integers(fields[8])
    if fields[4]:
        return name, _text(fields, 4)
    return name, _integers(fields[3])[-1] if fields[3] else 0


def _shape(data: bytes) -> tuple[str, list[int | None]]:
    fields = _fields(data)
    kind = _fields(_fields(fields[2][-1])[1][-1]) if fields[2] else _fields(b"")
    dims = _fields(kind[2][-1])[1] if kind[2] else []
    sizes = [_fields(dim)[1] for dim in dims]
    return _text(fields, 1), [int(size[-1]) if size else None for size in sizes]


def read_graph(path: Path) -> Graph:
    """The graph of an ONNX file."""
    try:
        model = _fields(path.read_bytes())
        graph = _fields(model[7][-1])
        constants = {_text(_fields(t), 8): _tensor(t) for t in graph[5]}
        nodes = []
        for data in graph[1]:
            node = _fields(data)
            takes, gives = ([bytes(n).decode() for n in node[number]] for number in (1, 2))
            nodes.append(Node(_text(node, 4), takes, gives, dict(map(_attribute, node[5]))))
        inputs = dict(map(_shape, graph[11]))
        entries = [_fields(data) for data in model[14]]
    except (ValueError, IndexError, struct.error, OSError, UnicodeDecodeError) as e:
        raise HardstandError(f"policy {path}: it is no ONNX file: {e}", kind="input") from None
    return Graph(
        nodes, constants, {name: s for name, s in inputs.items() if name not in constants},
        dict(map(_shape, graph[12])), {_text(e, 1): _text(e, 2) for e in entries},
    )
