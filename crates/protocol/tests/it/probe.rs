//! A deserializer without input. It gives every field of a payload a number of its own, and notes
//! the names and types of the fields in their order.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};

/// One field of a payload, or of an element of one of its lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The structs around it, from the outside in: names of fields.
    pub path: Vec<&'static str>,
    /// Its name.
    pub name: &'static str,
    /// Its type in the words of docs/protocol.md.
    pub kind: String,
}

/// A value of `T` in which each number is another one, and its fields.
///
/// The first number is 1. A `u8` is the number, `u32` and `u64` are 1000 more, an `f64` is half
/// more, a text is `t` and the number. A list has two elements.
pub fn probe<'de, T: Deserialize<'de>>() -> (T, Vec<Field>) {
    let mut probe = Probe::default();
    let value = T::deserialize(&mut probe).unwrap();
    (value, probe.fields)
}

/// Names of the fields of `T`, also if a field is an enum, for which `probe` has no value.
pub fn top_names<'de, T: Deserialize<'de>>() -> Vec<&'static str> {
    let mut probe = Probe::default();
    let _is_incomplete = T::deserialize(&mut probe);
    probe.top_names
}

#[derive(Debug, Default)]
struct Probe {
    /// Names of the fields of the outermost struct.
    top_names: Vec<&'static str>,
    count: u32,
    path: Vec<&'static str>,
    fields: Vec<Field>,
    /// Above 0 within a second element of a list, whose fields are known.
    repeats: u32,
    /// Type of what was read last.
    kind: String,
}

impl Probe {
    fn next(&mut self, kind: &str) -> u32 {
        self.count += 1;
        self.kind = kind.into();
        self.count
    }
}

#[derive(Debug)]
struct Mistake(String);

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Mistake {}

impl serde::de::Error for Mistake {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Self(text.to_string())
    }
}

type Given<T> = Result<T, Mistake>;

impl<'de> Deserializer<'de> for &mut Probe {
    type Error = Mistake;

    fn is_human_readable(&self) -> bool {
        false // as bincode
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Given<V::Value> {
        Err(Mistake(
            "payloads consist of u8, u32, u64, f64, text, lists, arrays and structs".into(),
        ))
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Given<V::Value> {
        visitor.visit_u8(u8::try_from(self.next("u8")).unwrap())
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Given<V::Value> {
        visitor.visit_u32(1000 + self.next("u32"))
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Given<V::Value> {
        visitor.visit_u64(1000 + u64::from(self.next("u64")))
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Given<V::Value> {
        visitor.visit_f64(f64::from(self.next("f64")) + 0.5)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Given<V::Value> {
        visitor.visit_string(format!("t{}", self.next("text")))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Given<V::Value> {
        let value = visitor.visit_seq(Elements { probe: self, given: 0, len: 2 })?;
        self.kind = "list".into();
        Ok(value)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Given<V::Value> {
        let value = visitor.visit_seq(Elements { probe: self, given: 0, len })?;
        self.kind = format!("{}[{len}]", self.kind);
        Ok(value)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Given<V::Value> {
        if self.top_names.is_empty() {
            self.top_names = names.to_vec();
        }
        let value = visitor.visit_seq(Fields { probe: self, names, given: 0 })?;
        self.kind = name.into();
        Ok(value)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u16 u128 f32 char str bytes byte_buf option unit unit_struct
        newtype_struct tuple_struct map enum identifier ignored_any
    }
}

struct Elements<'a> {
    probe: &'a mut Probe,
    given: usize,
    len: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Mistake;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Given<Option<S::Value>> {
        if self.given == self.len {
            return Ok(None);
        }
        let repeat = u32::from(self.given > 0);
        self.given += 1;
        self.probe.repeats += repeat;
        let value = seed.deserialize(&mut *self.probe)?;
        self.probe.repeats -= repeat;
        Ok(Some(value))
    }
}

struct Fields<'a> {
    probe: &'a mut Probe,
    names: &'static [&'static str],
    given: usize,
}

impl<'de> SeqAccess<'de> for Fields<'_> {
    type Error = Mistake;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Given<Option<S::Value>> {
        let Some(&name) = self.names.get(self.given) else { return Ok(None) };
        self.given += 1;
        let place = self.probe.fields.len();
        let path = self.probe.path.clone();
        if self.probe.repeats == 0 {
            self.probe.fields.push(Field { path, name, kind: String::new() });
        }
        self.probe.path.push(name);
        let value = seed.deserialize(&mut *self.probe)?;
        self.probe.path.pop();
        if self.probe.repeats == 0 {
            self.probe.fields[place].kind.clone_from(&self.probe.kind);
        }
        Ok(Some(value))
    }
}
