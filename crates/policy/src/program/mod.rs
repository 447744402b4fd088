//! A compiled policy: a list of operations on one workspace of f32.
//!
//! Each operation reads what lies before its output in the workspace, so a run is a plain loop that
//! neither allocates nor fails. The order of every sum is written in the code, and no operation
//! fuses roundings or calls the system's library, so the bits are the same on every machine.

mod dense;
mod elementwise;
mod recurrent;
mod reduction;

pub(crate) use dense::{Dense, pack};
pub(crate) use elementwise::{Map, Zip};
pub(crate) use recurrent::{Cell, Recurrent};
pub(crate) use reduction::Reduction;
use std::sync::Arc;

/// A part of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub at: usize,
    pub len: usize,
}

impl Span {
    pub(crate) fn of(self, workspace: &[f32]) -> &[f32] {
        &workspace[self.at..self.at + self.len]
    }
}

/// What an operation does; its output begins at `Op::out`.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Dense(Dense),
    Map {
        function: Map,
        x: Span,
    },
    /// The shorter operand is repeated.
    Zip {
        function: Zip,
        a: Span,
        b: Span,
    },
    /// The parts one after the other.
    Copy {
        parts: Vec<Span>,
    },
    /// Of each row of `x`.
    Reduce {
        function: Reduction,
        x: Span,
        rows: usize,
    },
    Recurrent(Recurrent),
}

#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub kind: Kind,
    pub out: Span,
}

/// The operations of a policy with their weights and their workspace.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub ops: Arc<[Op]>,
    pub weights: Arc<[f32]>,
    pub workspace: Vec<f32>,
}

impl Program {
    pub(crate) fn run(&mut self) {
        run(&self.ops, &self.weights, &mut self.workspace);
    }
}

/// Runs the operations in their order.
pub(crate) fn run(ops: &[Op], weights: &[f32], workspace: &mut [f32]) {
    for op in ops {
        let (before, after) = workspace.split_at_mut(op.out.at);
        let out = &mut after[..op.out.len];
        match &op.kind {
            Kind::Dense(dense) => dense.run(weights, before, out),
            Kind::Map { function, x } => function.run(x.of(before), out),
            Kind::Zip { function, a, b } => function.run(a.of(before), b.of(before), out),
            Kind::Copy { parts } => {
                let mut at = 0;
                for part in parts {
                    out[at..at + part.len].copy_from_slice(part.of(before));
                    at += part.len;
                }
            }
            Kind::Reduce { function, x, rows } => function.run(before, x.of(before), *rows, out),
            Kind::Recurrent(layer) => layer.run(weights, before, out),
        }
    }
}
