//! ONNX files: the messages, and the constants in them.

mod extent;
pub(crate) mod messages;
pub(crate) mod tensor;

use messages::ModelProto;
use prost::Message;

/// The model in the bytes of a file.
///
/// # Errors
/// If they are no such message, or one with more parts than any policy has.
pub(crate) fn decode(bytes: &[u8]) -> Result<ModelProto, String> {
    extent::check(bytes)?;
    ModelProto::decode(bytes).map_err(|e| format!("it is no ONNX file: {e}"))
}
