"""Networks as exporters write them, with the outputs of onnxruntime for random inputs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

ACTIVATIONS = {
    "Relu": {}, "Elu": {"alpha": 1.0}, "LeakyRelu": {"alpha": 0.01}, "Selu": {}, "Tanh": {},
    "Sigmoid": {}, "Softplus": {}, "Softsign": {}, "Celu": {"alpha": 0.7}, "HardSigmoid": {},
    "HardSwish": {}, "Mish": {}, "Gelu": {}, "Erf": {},
}


class Builder:
    """A graph from `obs`; `values` are names with their sizes of the last axis."""

    def __init__(self, rng: np.random.Generator, size: int) -> None:
        self.rng, self.nodes, self.constants = rng, [], []
        self.inputs = [self.info("obs", ["batch", size])]
        self.outputs = []
        self.x, self.size, self.count = "obs", size, 0

    @staticmethod
    def info(name: str, shape: list) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def constant(self, array: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def floats(self, *shape: int, scale: float = 1.0) -> str:
        return self.constant((scale * self.rng.standard_normal(shape)).astype(np.float32))

    def ints(self, *numbers: int) -> str:
        return self.constant(np.array(numbers, np.int64))

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes) -> list[str]:
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names

    def then(self, operator: str, *others: str, **attributes) -> None:
        (self.x,) = self.add(operator, self.x, *others, **attributes)

    def dense(self, size: int) -> None:
        """One of the three ways to write a layer."""
        scale = self.size**-0.5
        way = self.rng.integers(4)
        if way == 0:
            bias = self.floats(size, scale=0.1)
            self.then("Gemm", self.floats(size, self.size, scale=scale), bias, transB=1)
        elif way == 1:
            self.then("Gemm", self.floats(self.size, size, scale=scale),
                      self.floats(size), alpha=0.5, beta=0.25)
        elif way == 2:
            self.then("MatMul", self.floats(self.size, size, scale=scale))
            self.then("Add", self.floats(size, scale=0.1))
        else:
            (w,) = self.add("Transpose", self.floats(size, self.size, scale=scale), perm=[1, 0])
            self.then("MatMul", w)
            self.x, = self.add("Add", self.floats(1, size, scale=0.1), self.x)
        self.size = size

    def activation(self, kind: str) -> None:
        if kind == "Swish":
            (gate,) = self.add("Sigmoid", self.x)
            self.then("Mul", gate)
        elif kind == "Clip":
            self.then("Clip", self.constant(np.float32(-0.5)), self.constant(np.float32(0.75)))
        elif kind == "Pow":
            self.then("Abs")
            self.then("Pow", self.constant(np.float32(1.5)))
        else:
            attributes = ACTIVATIONS[kind]
            self.then(kind, **attributes)

    def normaliser(self) -> None:
        self.then("Sub", self.floats(1, self.size))
        std = np.exp(self.rng.standard_normal((1, self.size))).astype(np.float32)
        (std,) = self.add("Add", self.constant(std), self.constant(np.float32(1e-2)))
        self.then("Div", std)

    def layer_norm(self, decomposed: bool) -> None:
        scale, bias = self.floats(self.size), self.floats(self.size)
        if not decomposed:
            self.then("LayerNormalization", scale, bias, axis=-1, epsilon=1e-2)
            return
        (mean,) = self.add("ReduceMean", self.x, axes=[-1])
        self.then("Sub", mean)
        centred = self.x
        self.then("Pow", self.constant(np.float32(2.0)))
        self.then("ReduceMean", axes=[-1])
        self.then("Add", self.constant(np.float32(1e-2)))
        self.then("Sqrt")
        (self.x,) = self.add("Div", centred, self.x)
        self.then("Mul", scale)
        self.then("Add", bias)

    def recurrent(self, kind: str, hidden: int, states: bool, index: int) -> None:
        """A layer with its states as inputs and outputs, or from zeros."""
        gates = 4 if kind == "LSTM" else 3
        n = self.size
        weights = [
            self.floats(1, gates * hidden, n, scale=n**-0.5),
            self.floats(1, gates * hidden, hidden, scale=hidden**-0.5),
            self.floats(1, 2 * gates * hidden, scale=0.2),
        ]
        attributes = {"hidden_size": hidden}
        if kind == "GRU":
            attributes["linear_before_reset"] = int(self.rng.integers(2))
        self.then("Unsqueeze", self.ints(0))
        letters = "hc" if kind == "LSTM" else "h"
        begin = []
        if states:
            begin = ["", *(f"{letter}{index}_in" for letter in letters)]
            self.inputs += [self.info(name, [1, 1, hidden]) for name in begin[1:]]
        made = self.add(kind, self.x, *weights, *begin, outputs=1 + len(letters), **attributes)
        (self.x,) = self.add("Squeeze", made[0], self.ints(0, 1))
        if states:
            for letter, name in zip(letters, made[1:], strict=True):
                out = f"{letter}{index}_out"
                self.nodes.append(helper.make_node("Identity", [name], [out]))
                self.outputs.append(self.info(out, [1, 1, hidden]))
        self.size = hidden

    def shuffle(self) -> None:
        """Slices, splits, gathers and joins the value."""
        n = self.size
        cut = int(self.rng.integers(1, n)) if n > 1 else 1
        (late,) = self.add("Slice", self.x, self.ints(cut), self.ints(2**31), self.ints(1))
        (back,) = self.add("Slice", self.x, self.ints(-1), self.ints(-(2**31)), self.ints(1),
                           self.ints(-2))
        picks = self.rng.integers(0, n, 3)
        (some,) = self.add("Gather", self.x, self.ints(*map(int, picks)), axis=1)
        (rows,) = self.add("Reshape", some, self.ints(-1, 3, 1))
        (rows,) = self.add("Transpose", rows, perm=[0, 2, 1])
        (some,) = self.add("Flatten", rows)
        (self.x,) = self.add("Concat", self.x, late, back, some, axis=-1)
        self.size = n + (n - cut) + (n + 1) // 2 + 3
        first, second = self.add("Split", self.x, self.ints(2, self.size - 2), outputs=2, axis=1)
        (self.x,) = self.add("Concat", second, first, axis=1)

    def dynamic(self) -> None:
        """Reshapes by computed shapes, as exporters write them for an open batch."""
        (shape,) = self.add("Shape", self.x)
        (batch,) = self.add("Gather", shape, self.constant(np.int64(0)), axis=0)
        (batch,) = self.add("Unsqueeze", batch, self.ints(0))
        (wanted,) = self.add("Concat", batch, self.ints(-1, 1), axis=0)
        self.then("Reshape", wanted)
        (ones,) = self.add("ConstantOfShape", self.ints(2),
                           value=numpy_helper.from_array(np.array([1], np.int64)))
        (ones,) = self.add("Concat", batch, ones, axis=0)
        self.then("Expand", ones)
        self.then("Squeeze", self.ints(2))

    def others(self) -> None:
        """Operators that are rare in policies."""
        n, x = self.size, self.x
        (some,) = self.add("BatchNormalization", x, self.floats(n), self.floats(n), self.floats(n),
                           self.constant(np.exp(self.rng.standard_normal(n)).astype(np.float32)))
        (some,) = self.add("PRelu", some, self.floats(n))
        (most,) = self.add("Max", some, x, self.floats(1))
        (least,) = self.add("Min", some, x)
        (total,) = self.add("Sum", most, least, self.floats(1, n))
        (length,) = self.add("ReduceL2", total, axes=[1])
        (unit,) = self.add("Div", total, length)
        (sine,) = self.add("Sin", unit)
        (cosine,) = self.add("Cos", unit)
        (square,) = self.add("Mul", cosine, cosine)
        (power,) = self.add("Exp", sine)
        (root,) = self.add("Sqrt", power)
        (inverse,) = self.add("Reciprocal", root)
        (log,) = self.add("Log", inverse)
        (log,) = self.add("Neg", log)
        (log,) = self.add("Cast", log, to=1)
        (log,) = self.add("Dropout", log)
        (peak,) = self.add("ReduceMax", square, axes=[1], keepdims=0)
        (peak,) = self.add("Unsqueeze", peak, self.ints(1))
        (sums,) = self.add("ReduceSum", log, self.ints(0, 1))
        (both,) = self.add("Tile", self.add("Concat", peak, sums, axis=1)[0], self.ints(1, 2))
        (where,) = self.add("Equal", self.ints(-1, 3), self.ints(-1, -1))
        (shape,) = self.add("Where", where, self.ints(1, 1), self.ints(1, 3))
        (length,) = self.add("Expand", length, shape)
        (row,) = self.add("Unsqueeze", unit, self.ints(1))
        (column,) = self.add("Unsqueeze", unit, self.ints(2))
        (outer,) = self.add("Mul", column, row)
        (means,) = self.add("ReduceMean", outer, axes=[1], keepdims=0)
        (self.x,) = self.add("Concat", log, both, length, means, axis=1)
        self.size = 2 * n + 7

    def softmax(self) -> None:
        self.then("Softmax", axis=-1)

    def done(self, actions: int) -> onnx.ModelProto:
        self.dense(actions)
        self.nodes.append(helper.make_node("Identity", [self.x], ["actions"]))
        outputs = [self.info("actions", ["batch", actions]), *self.outputs]
        graph = helper.make_graph(self.nodes, "g", self.inputs, outputs, self.constants)
        opset = 21 if any(n.op_type in ("Gelu", "Mish") for n in self.nodes) else 17
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
        model.ir_version = 9
        return model


def mlp(rng: np.random.Generator, kinds: list[str], size: int, hidden: list[int]) -> Builder:
    b = Builder(rng, size)
    for i, n in enumerate(hidden):
        b.dense(n)
        b.activation(kinds[i % len(kinds)])
    return b


def random(rng: np.random.Generator) -> onnx.ModelProto:
    kinds = [*ACTIVATIONS, "Swish", "Clip", "Pow"]
    b = Builder(rng, int(rng.integers(1, 120)))
    if rng.random() < 0.5:
        b.normaliser()
    recurrent = rng.choice(["", "LSTM", "GRU"])
    if recurrent:
        states, layers = bool(rng.integers(2)), int(rng.integers(1, 3))
        for i in range(layers):
            b.recurrent(str(recurrent), int(rng.integers(1, 80)), states, i)
    for _ in range(int(rng.integers(1, 5))):
        b.dense(int(rng.integers(2, 300)))
        newer = any(n.op_type == "ReduceMean" for n in b.nodes)
        kind = str(rng.choice([k for k in kinds if not (newer and k in ("Gelu", "Mish"))]))
        b.activation(kind)
        older = not any(n.op_type in ("Gelu", "Mish") for n in b.nodes)
        for part, chance in ((b.shuffle, 0.3), (b.dynamic, 0.2), (b.softmax, 0.1), (lambda: older and b.others(), 0.1),
                             (lambda: b.layer_norm(older and bool(rng.integers(2))), 0.4)):
            if rng.random() < chance:
                part()
    return b.done(int(rng.integers(1, 40)))


def layered(rng: np.random.Generator, decomposed: bool) -> onnx.ModelProto:
    b = Builder(rng, 10)
    b.normaliser()
    b.dense(20)
    b.layer_norm(decomposed)
    b.activation("Swish")
    return b.done(4)


def recurrent(rng: np.random.Generator, kind: str, layers: int, states: bool):
    b = Builder(rng, 9)
    for i in range(layers):
        b.recurrent(kind, 10, states, i)
    b.dense(8)
    b.activation("Elu")
    return b.done(4)


def moves(rng: np.random.Generator) -> onnx.ModelProto:
    b = Builder(rng, 7)
    b.shuffle()
    b.dynamic()
    b.softmax()
    return b.done(4)


def rare(rng: np.random.Generator) -> onnx.ModelProto:
    b = Builder(rng, 5)
    b.others()
    return b.done(4)


STORED = {
    "elu": lambda rng: mlp(rng, ["Elu"], 15, [24, 16]).done(4),
    "rectifiers": lambda rng: mlp(rng, ["Relu", "LeakyRelu", "Selu", "Celu"], 11, [17] * 4).done(4),
    "sigmoids": lambda rng: mlp(
        rng, ["Tanh", "Sigmoid", "Softplus", "Swish", "Clip", "Pow"], 11, [17] * 6).done(4),
    "newer": lambda rng: mlp(
        rng, ["Gelu", "Mish", "HardSwish", "HardSigmoid", "Softsign", "Erf"], 11, [17] * 6).done(4),
    "layer_norm": lambda rng: layered(rng, False),
    "layer_norm_decomposed": lambda rng: layered(rng, True),
    "lstm": lambda rng: recurrent(rng, "LSTM", 2, True),
    "lstm_from_zero": lambda rng: recurrent(rng, "LSTM", 1, False),
    "gru": lambda rng: recurrent(rng, "GRU", 1, True),
    "gru_from_zero": lambda rng: recurrent(rng, "GRU", 2, False),
    "moves": moves,
    "rare": rare,
    "wide": lambda rng: mlp(rng, ["Elu"], 70, [36]).done(4),
}


def save(folder: Path, name: str, model: onnx.ModelProto, rng: np.random.Generator) -> None:
    """The file and a JSON with inputs and outputs of three runs, of onnxruntime and in float64."""
    onnx.checker.check_model(model)
    path = folder / f"{name}.onnx"
    path.write_bytes(model.SerializeToString())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    reference = ReferenceEvaluator(in_float64(model))
    runs = []
    for _ in range(3):
        given = {}
        for info in session.get_inputs():
            shape = [n if isinstance(n, int) else 1 for n in info.shape]
            given[info.name] = rng.standard_normal(shape).astype(np.float32)
        made = session.run(None, given)
        names = [o.name for o in session.get_outputs()]
        exact = reference.run(None, {k: v.astype(np.float64) for k, v in given.items()})
        runs.append({
            "inputs": {k: flat(v) for k, v in given.items()},
            "outputs": {k: flat(v) for k, v in zip(names, made, strict=True)},
            "exact": {k: flat(v) for k, v in zip(names, exact, strict=True)},
        })
    (folder / f"{name}.network.json").write_text(json.dumps(runs, separators=(",", ":")) + "\n")


def in_float64(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same network, to be computed without rounding to float32."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for tensor in made.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            array = numpy_helper.to_array(tensor).astype(np.float64)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    for node in made.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Cast" and attribute.i == TensorProto.FLOAT:
                attribute.i = TensorProto.DOUBLE
    for info in (*made.graph.input, *made.graph.output):
        info.type.tensor_type.elem_type = TensorProto.DOUBLE
    return made


def flat(array: np.ndarray) -> list[float]:
    """Nine digits, which are enough to restore a float32."""
    return [float(f"{x:.9g}") for x in np.asarray(array).ravel()]
