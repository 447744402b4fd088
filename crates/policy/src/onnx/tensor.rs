//! Constants of an ONNX file, with their data as numbers.

use super::messages::{self, TensorProto};
use crate::compile::{Data, Outcome, elements};

/// Shape and data of a stored tensor.
///
/// # Errors
/// If its type is not used by policies, its data is in another file or does not fit its shape.
pub(crate) fn read(tensor: TensorProto) -> Outcome<(Vec<usize>, Data)> {
    let kind = tensor.data_type;
    if tensor.data_location != 0 {
        return Err("its data is in another file; save the policy as one file, with \
             onnx.save_model(model, path, save_as_external_data=False)"
            .to_string());
    }
    let shape = sizes(&tensor.dims)?;
    let wanted = elements(&shape)?;
    let raw = tensor.raw_data;
    let data = match kind {
        messages::FLOAT if raw.is_empty() => Data::F32(tensor.float_data),
        messages::FLOAT => Data::F32(numbers(&raw, f32::from_le_bytes)?),
        messages::DOUBLE if raw.is_empty() => Data::F64(tensor.double_data),
        messages::DOUBLE => Data::F64(numbers(&raw, f64::from_le_bytes)?),
        messages::INT64 if raw.is_empty() => Data::I64(tensor.int64_data),
        messages::INT64 => Data::I64(numbers(&raw, i64::from_le_bytes)?),
        messages::INT32 | messages::BOOL if raw.is_empty() => {
            Data::I64(tensor.int32_data.into_iter().map(i64::from).collect())
        }
        messages::INT32 => Data::I64(numbers(&raw, |b| i64::from(i32::from_le_bytes(b)))?),
        messages::BOOL => Data::I64(numbers(&raw, |[b]: [u8; 1]| i64::from(b != 0))?),
        _ => {
            return Err(format!(
                "it is {}; a policy may have float32, float64, int32, int64 and bool",
                messages::type_name(kind)
            ));
        }
    };
    if data.len() != wanted {
        return Err(format!("it has {} numbers; its shape {shape:?} has {wanted}", data.len()));
    }
    Ok((shape, data))
}

/// The sizes of a shape.
pub(crate) fn sizes(dims: &[i64]) -> Outcome<Vec<usize>> {
    let size = |&n: &i64| usize::try_from(n).ok();
    dims.iter().map(size).collect::<Option<_>>().ok_or(format!("its shape is {dims:?}"))
}

fn numbers<const N: usize, T>(raw: &[u8], read: impl Fn([u8; N]) -> T) -> Outcome<Vec<T>> {
    let (parts, rest) = raw.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(format!("its data has {} bytes; numbers have {N}", raw.len()));
    }
    Ok(parts.iter().map(|bytes| read(*bytes)).collect())
}
