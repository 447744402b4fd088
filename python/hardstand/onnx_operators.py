"""The operators of ONNX that feed-forward policies use, in NumPy. Each takes the node's attributes
and its inputs, and gives its first output (https://onnx.ai/onnx/operators)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Attributes = dict[str, Any]

_DTYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_, 11: np.float64}


def _gemm(a: Attributes, x: Array, w: Array, b: Array | None = None) -> Array:
    x = x.T if a.get("transA") else x
    w = w.T if a.get("transB") else w
    out = x @ w
    if (alpha := a.get("alpha", 1.0)) != 1.0:
        out = np.float32(alpha) * out
    if b is None:
        return out
    beta = a.get("beta", 1.0)
    return np.asarray(out + (b if beta == 1.0 else np.float32(beta) * b))


def _elu(a: Attributes, x: Array) -> Array:
    least = np.float32(a.get("alpha", 1.0)) * np.expm1(np.minimum(x, 0))
    return np.where(x > 0, x, least).astype(x.dtype)


def _layer_norm(a: Attributes, x: Array, scale: Array, bias: Array | None = None) -> Array:
    axes = tuple(range(a.get("axis", -1) % x.ndim, x.ndim))
    centred = x - x.mean(axes, keepdims=True)
    variance = np.square(centred).mean(axes, keepdims=True)
    out = centred / np.sqrt(variance + np.float32(a.get("epsilon", 1e-5))) * scale
    return np.asarray(out if bias is None else out + bias)


def _slice(
    a: Attributes, x: Array, starts: Array | None = None, ends: Array | None = None,
    axes: Array | None = None, steps: Array | None = None,
) -> Array:
    first = a["starts"] if starts is None else starts.tolist()
    last = a["ends"] if ends is None else ends.tolist()
    along = a.get("axes", list(range(len(first)))) if axes is None else axes.tolist()
    by = [1] * len(first) if steps is None else steps.tolist()
    cut = [slice(None)] * x.ndim
    for axis, i, j, k in zip(along, first, last, by, strict=True):
        cut[axis] = slice(i, j if j > -(2**31) else None, k)
    return x[tuple(cut)]


def _reshape(_a: Attributes, x: Array, shape: Array) -> Array:
    sizes = [x.shape[i] if n == 0 else int(n) for i, n in enumerate(shape.tolist())]
    return x.reshape(sizes)


def _axes(a: Attributes, given: Array | None) -> tuple[int, ...]:
    return tuple(a.get("axes", ())) if given is None else tuple(given.tolist())


def _squeeze(a: Attributes, x: Array, axes: Array | None = None) -> Array:
    return np.squeeze(x, _axes(a, axes) or None)


def _unsqueeze(a: Attributes, x: Array, axes: Array | None = None) -> Array:
    return np.expand_dims(x, _axes(a, axes))


def _clip(a: Attributes, x: Array, low: Array | None = None, high: Array | None = None) -> Array:
    least = a.get("min") if low is None else low
    most = a.get("max") if high is None else high
    return x if least is None and most is None else np.clip(x, least, most)


def _flatten(a: Attributes, x: Array) -> Array:
    axis = a.get("axis", 1)
    return x.reshape(int(np.prod(x.shape[:axis])), -1)


def _mean(a: Attributes, x: Array, axes: Array | None = None) -> Array:
    return np.asarray(x.mean(_axes(a, axes) or None, keepdims=bool(a.get("keepdims", 1))))


def _constant(a: Attributes) -> Array:
    if "value" in a:
        return np.asarray(a["value"])
    name, value = next(iter(a.items()))
    return np.asarray(value, np.float32 if "float" in name else np.int64)


OPERATORS: dict[str, Callable[..., Array]] = {
    "Gemm": _gemm,
    "MatMul": lambda _a, x, y: x @ y,
    "Add": lambda _a, x, y: x + y,
    "Sub": lambda _a, x, y: x - y,
    "Mul": lambda _a, x, y: x * y,
    "Div": lambda _a, x, y: x / y,
    "Neg": lambda _a, x: -x,
    "Sqrt": lambda _a, x: np.sqrt(x),
    "Pow": lambda _a, x, y: np.power(x, y).astype(x.dtype),
    "Elu": _elu,
    "Relu": lambda _a, x: np.maximum(x, 0),
    "LeakyRelu": lambda a, x: np.where(x > 0, x, np.float32(a.get("alpha", 0.01)) * x),
    "Tanh": lambda _a, x: np.tanh(x),
    "Sigmoid": lambda _a, x: 1 / (1 + np.exp(-x)),
    "Softplus": lambda _a, x: np.logaddexp(x, np.float32(0)),
    "LayerNormalization": _layer_norm,
    "ReduceMean": _mean,
    "Concat": lambda a, *xs: np.concatenate(xs, a["axis"]),
    "Slice": _slice,
    "Gather": lambda a, x, i: np.take(x, i, a.get("axis", 0)),
    "Transpose": lambda a, x: np.transpose(x, a.get("perm")),
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Clip": _clip,
    "Cast": lambda a, x: x.astype(_DTYPES[a["to"]]),
    "Constant": _constant,
    "Identity": lambda _a, x: x,
}
