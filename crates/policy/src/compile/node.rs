//! A node with its inputs as values and its attributes by name.

use super::{Data, Outcome, Value};
use crate::onnx::messages::{AttributeProto, NodeProto, TensorProto};
use std::collections::BTreeMap;

pub(crate) struct Node<'a> {
    proto: &'a NodeProto,
    /// None: an optional input that is left out.
    inputs: Vec<Option<Value>>,
}

impl<'a> Node<'a> {
    pub(crate) fn new(proto: &'a NodeProto, values: &BTreeMap<String, Value>) -> Outcome<Self> {
        let mut inputs = Vec::with_capacity(proto.input.len());
        for name in &proto.input {
            inputs.push(match name.as_str() {
                "" => None,
                name => {
                    let value = values.get(name);
                    Some(value.ok_or_else(|| format!("its input \"{name}\" is unknown"))?.clone())
                }
            });
        }
        Ok(Self { proto, inputs })
    }

    pub(crate) fn operator(&self) -> &str {
        &self.proto.op_type
    }

    pub(crate) fn outputs(&self) -> usize {
        self.proto.output.len()
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.inputs.iter().flatten().all(|value| value.data().is_some())
    }

    /// All inputs that are given.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &Value> {
        self.inputs.iter().flatten()
    }

    pub(crate) fn optional(&self, i: usize) -> Option<&Value> {
        self.inputs.get(i).and_then(Option::as_ref)
    }

    pub(crate) fn input(&self, i: usize) -> Outcome<&Value> {
        self.optional(i).ok_or_else(|| format!("it lacks input {i}"))
    }

    /// The integers of an input, which must be constant.
    pub(crate) fn integers(&self, i: usize) -> Outcome<Option<Vec<i64>>> {
        let Some(value) = self.optional(i) else { return Ok(None) };
        let data = value.data().ok_or_else(|| format!("its input {i} must be constant"))?;
        Ok(Some(data.integers()?.to_vec()))
    }

    /// The one float of an input, which must be constant.
    pub(crate) fn scalar(&self, i: usize) -> Outcome<Option<f32>> {
        let Some(value) = self.optional(i) else { return Ok(None) };
        match value.floats().map_err(|e| format!("its input {i}: {e}"))? {
            [one] => Ok(Some(*one)),
            many => Err(format!("its input {i} has {} numbers; it must have 1", many.len())),
        }
    }

    fn attribute(&self, name: &str) -> Option<&AttributeProto> {
        self.proto.attribute.iter().find(|a| a.name == name)
    }

    pub(crate) fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).and_then(|a| a.i).unwrap_or(default)
    }

    pub(crate) fn float(&self, name: &str, default: f32) -> f32 {
        self.attribute(name).and_then(|a| a.f).unwrap_or(default)
    }

    pub(crate) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.attribute(name).map(|a| a.ints.clone())
    }

    pub(crate) fn text(&self, name: &str, default: &str) -> String {
        let given = self.attribute(name).and_then(|a| a.s.as_deref());
        given.map_or_else(|| default.to_string(), |s| String::from_utf8_lossy(s).into_owned())
    }

    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let given = self.attribute(name).map_or(&[][..], |a| &a.strings);
        given.iter().map(|s| String::from_utf8_lossy(s).into_owned()).collect()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    pub(crate) fn tensor(&self, name: &str) -> Option<TensorProto> {
        self.attribute(name).and_then(|a| a.t.clone())
    }

    /// Integers that are an attribute in old files and an input in new ones.
    pub(crate) fn ints_or_input(&self, name: &str, i: usize) -> Outcome<Option<Vec<i64>>> {
        Ok(self.integers(i)?.or_else(|| self.ints(name)))
    }

    /// The value of a node `Constant`.
    pub(crate) fn constant(&self) -> Outcome<Value> {
        let floats = |numbers: Vec<f32>, shape| Value::constant(shape, Data::F32(numbers));
        let ints = |numbers: Vec<i64>, shape| Value::constant(shape, Data::I64(numbers));
        for a in &self.proto.attribute {
            match (a.name.as_str(), a.f, a.i, &a.t) {
                ("value", _, _, Some(tensor)) => {
                    let (shape, data) = crate::onnx::tensor::read(tensor.clone())?;
                    return Ok(Value::constant(shape, data));
                }
                ("value_float", Some(f), _, _) => return Ok(floats(vec![f], vec![])),
                ("value_int", _, Some(i), _) => return Ok(ints(vec![i], vec![])),
                ("value_floats", ..) => {
                    return Ok(floats(a.floats.clone(), vec![a.floats.len()]));
                }
                ("value_ints", ..) => return Ok(ints(a.ints.clone(), vec![a.ints.len()])),
                _ => {}
            }
        }
        Err("it has no value that is a tensor, floats or integers".to_string())
    }
}
