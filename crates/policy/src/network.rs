//! A policy's network, from an ONNX file.

use crate::compile::{self, Port};
use crate::onnx;
use crate::program::Program;
use hardstand_error::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Largest file that is read, bytes.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// A network from an ONNX file, compiled: a list of operations in float32, without branches on
/// data.
///
/// It runs one robot: axes whose size the file leaves open ("batch") have size 1. Two runs with
/// the same inputs have the same bits on every machine.
///
/// ```
/// # use hardstand_policy::Network;
/// # fn main() -> hardstand_error::Result<()> {
/// # let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/elu.onnx");
/// let mut network = Network::read(file)?;
/// let (name, size) = network.inputs().next().map(|(n, s)| (n.to_string(), s)).unwrap_or_default();
/// network.run(&[(&name, &vec![0.5; size])])?;
/// let actions = network.output("actions").unwrap_or_default();
/// assert_eq!(actions.len(), 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Network {
    pub(crate) program: Program,
    pub(crate) inputs: Vec<Port>,
    pub(crate) outputs: Vec<Port>,
    pub(crate) metadata: BTreeMap<String, String>,
    digest: u64,
}

impl Network {
    /// Reads a file `.onnx`, of at most 256 MiB.
    ///
    /// # Errors
    /// If the file cannot be read, and as [`Network::from_bytes`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display();
        let failed = |e: std::io::Error| Error::new(ErrorKind::File, format!("policy {name}: {e}"));
        let file = std::fs::File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
        Self::from_bytes(&bytes, &name.to_string())
    }

    /// The network in the bytes of an ONNX file; `name` is used in errors.
    ///
    /// # Errors
    /// If the bytes are no ONNX file or more than 256 MiB, if an operator is not known (the text
    /// has a list of those that are), or if a type or shape is not supported.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self> {
        let refused = |e: String| Error::new(ErrorKind::Input, format!("policy {name}: {e}"));
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(refused(format!("it is larger than {} MiB", FILE_BYTES_MAX >> 20)));
        }
        let model = onnx::decode(bytes).map_err(refused)?;
        let graph =
            model.graph.ok_or_else(|| refused("it is no ONNX file: it has no graph".into()))?;
        let compiled = compile::compile(graph, bytes.len()).map_err(refused)?;
        let entries = model.metadata_props.into_iter().map(|entry| (entry.key, entry.value));
        Ok(Self {
            program: compiled.program,
            inputs: compiled.inputs,
            outputs: compiled.outputs,
            metadata: entries.collect(),
            digest: xxhash_rust::xxh3::xxh3_64(bytes),
        })
    }

    /// XXH3 of the file's bytes.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Names of the inputs with their count of numbers, in the order of the file.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, usize)> {
        self.inputs.iter().map(|port| (port.name.as_str(), port.span.len))
    }

    /// Names of the outputs with their count of numbers, in the order of the file.
    pub fn outputs(&self) -> impl Iterator<Item = (&str, usize)> {
        self.outputs.iter().map(|port| (port.name.as_str(), port.span.len))
    }

    /// The metadata of the file, such as the gains for which the policy was trained.
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).map(String::as_str)
    }

    /// Runs the network once. An input that is not given keeps the numbers of the last run, at
    /// first zeros. States are not carried from outputs to inputs: [`Policy`](crate::Policy) does.
    ///
    /// # Errors
    /// If a name or a size is not that of an input.
    pub fn run(&mut self, inputs: &[(&str, &[f32])]) -> Result<()> {
        for (name, numbers) in inputs {
            let port = self.inputs.iter().find(|port| port.name == *name);
            let span = port.map(|port| port.span).filter(|span| span.len == numbers.len());
            let Some(span) = span else {
                let known: Vec<String> = self.inputs().map(|(n, s)| format!("{n} ({s})")).collect();
                let known = known.join(", ");
                let text = format!("input {name} ({}) must be one of {known}", numbers.len());
                return Err(Error::new(ErrorKind::Input, text));
            };
            self.program.workspace[span.at..span.at + span.len].copy_from_slice(numbers);
        }
        self.program.run();
        Ok(())
    }

    /// An output of the last run.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<&[f32]> {
        let port = self.outputs.iter().find(|port| port.name == name)?;
        Some(port.span.of(&self.program.workspace))
    }
}
