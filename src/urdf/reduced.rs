//! Writes the reduced URDF that urdf-rs reads.

use std::fmt::Write;

/// The reduced URDF so far.
#[derive(Debug, Default)]
pub(super) struct Reduced {
    text: String,
}

impl Reduced {
    pub(super) fn leaf(&mut self, element: &str, attributes: &[(&str, f64)]) {
        let texts: Vec<String> = attributes.iter().map(|(_, v)| v.to_string()).collect();
        let pairs: Vec<(&str, &str)> =
            attributes.iter().zip(&texts).map(|((a, _), t)| (*a, t.as_str())).collect();
        self.open(element, &pairs);
        self.close(element);
    }

    pub(super) fn axis(&mut self, axis: [f64; 3]) {
        let xyz = spaced(axis);
        self.open("axis", &[("xyz", &xyz)]);
        self.close("axis");
    }

    pub(super) fn open(&mut self, element: &str, attributes: &[(&str, &str)]) {
        self.text.push('<');
        self.text.push_str(element);
        for (name, value) in attributes {
            // writing to a String cannot fail
            let _ = write!(self.text, " {name}=\"{}\"", escaped(value));
        }
        self.text.push('>');
    }

    pub(super) fn close(&mut self, element: &str) {
        let _ = write!(self.text, "</{element}>");
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

pub(crate) fn escaped(value: &str) -> String {
    let pairs = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&apos;")];
    pairs.iter().fold(value.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// A vector in URDF's notation, with the shortest digits that read back to the same bits.
pub(super) fn spaced(v: [f64; 3]) -> String {
    format!("{} {} {}", v[0], v[1], v[2])
}
