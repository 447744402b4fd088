//! Writes small ONNX files.

/// A field of a message: a number, or bytes.
pub enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

pub fn text(text: &str) -> Field {
    Field::Bytes(text.as_bytes().to_vec())
}

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(u8::try_from(value & 0x7F).unwrap() | 0x80);
        value >>= 7;
    }
    out.push(u8::try_from(value).unwrap());
}

pub fn message(fields: Vec<(u64, Field)>) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, field) in fields {
        match field {
            Field::Number(value) => {
                varint(number << 3, &mut out);
                varint(value, &mut out);
            }
            Field::Bytes(bytes) => {
                varint(number << 3 | 2, &mut out);
                varint(bytes.len() as u64, &mut out);
                out.extend(bytes);
            }
        }
    }
    out
}

/// A tensor of this data type, with raw bytes.
pub fn tensor(name: &str, kind: u64, shape: &[u64], raw: Vec<u8>) -> Vec<u8> {
    let mut fields: Vec<(u64, Field)> = shape.iter().map(|n| (1, Field::Number(*n))).collect();
    fields.extend([(2, Field::Number(kind)), (8, text(name)), (9, Field::Bytes(raw))]);
    message(fields)
}

pub fn floats(name: &str, shape: &[u64], numbers: &[f32]) -> Vec<u8> {
    tensor(name, 1, shape, numbers.iter().flat_map(|x| x.to_le_bytes()).collect())
}

pub fn integers(name: &str, numbers: &[i64]) -> Vec<u8> {
    let raw = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    tensor(name, 7, &[numbers.len() as u64], raw)
}

/// A node with attributes that are integers.
pub fn node(
    operator: &str,
    inputs: &[&str],
    outputs: &[&str],
    attributes: &[(&str, i64)],
) -> Vec<u8> {
    let mut fields: Vec<(u64, Field)> = inputs.iter().map(|name| (1, text(name))).collect();
    fields.extend(outputs.iter().map(|name| (2, text(name))));
    fields.extend([(3, text(&format!("n_{operator}"))), (4, text(operator))]);
    for (name, value) in attributes {
        let number = Field::Number(u64::from_ne_bytes(value.to_ne_bytes()));
        let attribute = message(vec![(1, text(name)), (3, number), (20, Field::Number(2))]);
        fields.push((5, Field::Bytes(attribute)));
    }
    message(fields)
}

/// An input or output; a size of 0 is open.
pub fn value(name: &str, kind: u64, shape: &[u64]) -> Vec<u8> {
    let dims = shape.iter().map(|n| {
        let size = if *n == 0 { (2, text("open")) } else { (1, Field::Number(*n)) };
        (1, Field::Bytes(message(vec![size])))
    });
    let shape = message(dims.collect());
    let tensor = message(vec![(1, Field::Number(kind)), (2, Field::Bytes(shape))]);
    let kind = message(vec![(1, Field::Bytes(tensor))]);
    message(vec![(1, text(name)), (2, Field::Bytes(kind))])
}

/// Nodes, constants, inputs and outputs, as a file.
pub fn model(parts: [Vec<Vec<u8>>; 4]) -> Vec<u8> {
    let numbers = [1, 5, 11, 12];
    let fields = numbers
        .into_iter()
        .zip(parts)
        .flat_map(|(number, all)| all.into_iter().map(move |bytes| (number, Field::Bytes(bytes))));
    message(vec![(1, Field::Number(8)), (7, Field::Bytes(message(fields.collect())))])
}

/// From `obs` (1 × 4) to `actions`.
pub fn from_four(nodes: Vec<Vec<u8>>, constants: Vec<Vec<u8>>) -> Vec<u8> {
    let (inputs, outputs) = (vec![value("obs", 1, &[1, 4])], vec![value("actions", 1, &[1, 0])]);
    model([nodes, constants, inputs, outputs])
}
