//! Compiles the graph of an ONNX file to a [`Program`].
//!
//! Each operator becomes operations on the workspace. A node whose inputs are all constant is run
//! at once, and what only moves numbers (reshapes, slices in one piece) costs nothing at run time.

mod arithmetic;
mod integers;
mod layers;
mod movement;
mod node;
mod operators;
mod recurrent;
mod value;

pub(crate) use value::{Data, Place, Value, elements};

use crate::onnx::messages::{self, GraphProto, NodeProto, TensorProto, ValueInfoProto};
use crate::onnx::tensor;
use crate::program::{self, Kind, Op, Program, Span};
use node::Node;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A result with the reason of a refusal, to which the caller adds where it happened.
pub(crate) type Outcome<T> = std::result::Result<T, String>;

/// Most numbers that values may have together, besides one for each byte of the file: a constant of
/// 4 bytes can be there as read, transposed and packed.
const NUMBERS_MAX: usize = 1 << 22;

/// An input or output of a graph, in the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub name: String,
    pub shape: Vec<usize>,
    pub span: Span,
}

/// A compiled graph; its inputs are at the begin of the workspace.
pub(crate) struct Compiled {
    pub program: Program,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
}

/// The state of a compilation.
pub(crate) struct Compiler {
    ops: Vec<Op>,
    weights: Vec<f32>,
    workspace: Vec<f32>,
    budget: usize,
}

impl Compiler {
    /// Accounts for `count` new numbers.
    fn spend(&mut self, count: usize) -> Outcome<()> {
        self.budget = self
            .budget
            .checked_sub(count)
            .ok_or_else(|| format!("values of more than {NUMBERS_MAX} numbers together"))?;
        Ok(())
    }

    /// A new part of the workspace, zero.
    fn reserve(&mut self, len: usize) -> Outcome<Span> {
        if len == 0 {
            return Err("a value without numbers".to_string());
        }
        self.spend(len)?;
        let at = self.workspace.len();
        self.workspace.resize(at + len, 0.0);
        Ok(Span { at, len })
    }

    /// Where a value is in the workspace; a constant is put there.
    fn place(&mut self, value: &Value) -> Outcome<Span> {
        match &value.place {
            Place::Computed(at) => Ok(Span { at: *at, len: value.len() }),
            Place::Constant(data) => {
                let numbers = data.floats()?;
                let span = self.reserve(numbers.len())?;
                self.workspace[span.at..].copy_from_slice(numbers);
                Ok(span)
            }
        }
    }

    /// Adds an operation whose result has this shape.
    fn emit(&mut self, kind: Kind, shape: Vec<usize>) -> Outcome<Value> {
        let out = self.reserve(elements(&shape)?)?;
        self.ops.push(Op { kind, out });
        Ok(Value { shape, place: Place::Computed(out.at) })
    }

    /// Appends weights: where they begin.
    fn store(&mut self, numbers: &[f32]) -> Outcome<usize> {
        self.spend(numbers.len())?;
        let at = self.weights.len();
        self.weights.extend_from_slice(numbers);
        Ok(at)
    }

    /// The outputs of a node. Those of a node with constant inputs are constants.
    fn lower(&mut self, node: &Node<'_>) -> Outcome<Vec<Value>> {
        let operator = operators::find(node.operator())?;
        let marks = (self.ops.len(), self.weights.len(), self.workspace.len());
        let outputs = operator(self, node)?;
        if !node.is_constant() || self.ops.len() == marks.0 {
            return Ok(outputs);
        }
        program::run(&self.ops[marks.0..], &self.weights, &mut self.workspace);
        let folded = outputs.into_iter().map(|value| value.folded(&self.workspace)).collect();
        self.ops.truncate(marks.0);
        self.weights.truncate(marks.1);
        self.workspace.truncate(marks.2);
        Ok(folded)
    }
}

/// Compiles the graph of a file with this size.
///
/// # Errors
/// If it has an operator, a type or a shape that is not supported; the text names the node.
pub(crate) fn compile(graph: GraphProto, file_bytes: usize) -> Outcome<Compiled> {
    let mut compiler = Compiler {
        ops: Vec::new(),
        weights: Vec::new(),
        workspace: Vec::new(),
        budget: NUMBERS_MAX + file_bytes,
    };
    operators::check(&graph.node)?;
    let mut values = constants(&mut compiler, graph.initializer)?;
    let mut inputs = Vec::new();
    for info in graph.input.iter().filter(|info| !values.contains_key(&info.name)) {
        inputs.push(input(&mut compiler, info)?);
    }
    let inputs_end = compiler.workspace.len();
    for port in &inputs {
        values.insert(port.name.clone(), Value::computed(port.shape.clone(), port.span.at));
    }
    for (i, proto) in graph.node.iter().enumerate() {
        let place = || format!("node {} ({})", label(proto, i), proto.op_type);
        lower_into(&mut compiler, proto, &mut values).map_err(|e| format!("{}: {e}", place()))?;
    }
    let mut outputs = Vec::new();
    for info in &graph.output {
        let name = &info.name;
        let value =
            values.get(name).ok_or_else(|| format!("output \"{name}\": no node computes it"))?;
        let port = output(&mut compiler, name, value, inputs_end);
        outputs.push(port.map_err(|e| format!("output \"{name}\": {e}"))?);
    }
    let Compiler { ops, weights, workspace, .. } = compiler;
    let program = Program { ops: ops.into(), weights: weights.into(), workspace };
    Ok(Compiled { program, inputs, outputs })
}

fn label(node: &NodeProto, index: usize) -> String {
    match (node.name.as_str(), node.output.first()) {
        ("", Some(output)) => format!("{index} for \"{output}\""),
        ("", None) => index.to_string(),
        (name, _) => format!("\"{name}\""),
    }
}

fn lower_into(
    compiler: &mut Compiler,
    proto: &NodeProto,
    values: &mut BTreeMap<String, Value>,
) -> Outcome<()> {
    let node = Node::new(proto, values)?;
    let outputs = compiler.lower(&node)?;
    for (name, value) in proto.output.iter().zip(outputs).filter(|(name, _)| !name.is_empty()) {
        values.insert(name.clone(), value);
    }
    Ok(())
}

fn constants(
    compiler: &mut Compiler,
    initializers: Vec<TensorProto>,
) -> Outcome<BTreeMap<String, Value>> {
    let mut values = BTreeMap::new();
    for mut proto in initializers {
        let name = std::mem::take(&mut proto.name);
        let read = tensor::read(proto).and_then(|(shape, data)| {
            compiler.spend(data.len())?;
            Ok(Value { shape, place: Place::Constant(Rc::new(data)) })
        });
        let value = read.map_err(|e| format!("tensor \"{name}\": {e}"))?;
        values.insert(name, value);
    }
    Ok(values)
}

/// Sizes that the file leaves open are 1, except the last: it is the size of an observation.
fn input(compiler: &mut Compiler, info: &ValueInfoProto) -> Outcome<Port> {
    let refused = |text: &str| format!("input \"{}\": {text}", info.name);
    let kind = info.r#type.as_ref().and_then(|t| t.tensor_type.as_ref());
    let kind = kind.ok_or_else(|| refused("it is no tensor"))?;
    if kind.elem_type != messages::FLOAT {
        let name = messages::type_name(kind.elem_type);
        return Err(refused(&format!("it is {name}; it must be float32")));
    }
    let dims = kind.shape.as_ref().map_or(&[][..], |shape| &shape.dim);
    let Some((last, others)) = dims.split_last() else {
        return Err(refused("it has no shape; export the policy with a fixed size"));
    };
    let Some(size) = last.dim_value.filter(|n| *n > 0) else {
        return Err(refused("its last size is open; export the policy with a fixed size"));
    };
    let sizes: Vec<i64> = others.iter().map(|dim| dim.dim_value.unwrap_or(1)).collect();
    let mut shape = tensor::sizes(&sizes).map_err(|e| refused(&e))?;
    shape.push(usize::try_from(size).map_err(|_huge| refused("its size is too large"))?);
    let span = elements(&shape).and_then(|n| compiler.reserve(n)).map_err(|e| refused(&e))?;
    Ok(Port { name: info.name.clone(), shape, span })
}

/// An output in a place of its own, so that carrying a state cannot overwrite another one.
fn output(compiler: &mut Compiler, name: &str, value: &Value, inputs_end: usize) -> Outcome<Port> {
    let mut span = compiler.place(value)?;
    if span.at < inputs_end {
        let copy = compiler.emit(Kind::Copy { parts: vec![span] }, value.shape.clone())?;
        span = compiler.place(&copy)?;
    }
    Ok(Port { name: name.to_string(), shape: value.shape.clone(), span })
}
