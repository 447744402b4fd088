//! Types of the fields of ROS 2 messages, and their encoding.

use super::cdr::{CdrError, Reader, Writer};

/// A type that can be a field of a message.
pub trait Field: Sized {
    /// Smallest encoded size of a value, bytes: bounds the claimed length of a sequence.
    const BYTES_MIN: usize;

    /// The type's name in a message definition, `float64[]` or `geometry_msgs/Vector3`.
    fn type_name() -> String;

    /// The default value of a field.
    fn zero() -> Self;

    /// Adds the definitions of this type and of the types of its fields, each once.
    fn describe(_: &mut Vec<Definition>) {}

    /// Appends the value.
    fn write(&self, w: &mut Writer<'_>);

    /// Reads the next value.
    ///
    /// # Errors
    /// The reason why the bytes are invalid.
    fn read(r: &mut Reader<'_>) -> Result<Self, CdrError>;
}

/// The fields of one message type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// `package/Type`.
    pub name: &'static str,
    /// One `type name` per line.
    pub text: String,
}

macro_rules! numbers {
    ($($rust:ty, $ros:literal, $bytes:literal;)*) => {$(
        impl Field for $rust {
            const BYTES_MIN: usize = $bytes;

            fn type_name() -> String {
                $ros.into()
            }

            fn zero() -> Self {
                Self::default()
            }

            fn write(&self, w: &mut Writer<'_>) {
                w.number(self.to_le_bytes());
            }

            fn read(r: &mut Reader<'_>) -> Result<Self, CdrError> {
                Ok(Self::from_le_bytes(r.number()?))
            }
        }
    )*};
}

numbers! {
    i8, "int8", 1;
    u8, "uint8", 1;
    i16, "int16", 2;
    u16, "uint16", 2;
    i32, "int32", 4;
    u32, "uint32", 4;
    i64, "int64", 8;
    u64, "uint64", 8;
    f32, "float32", 4;
    f64, "float64", 8;
}

impl Field for bool {
    const BYTES_MIN: usize = 1;

    fn type_name() -> String {
        "bool".into()
    }

    fn zero() -> Self {
        Self::default()
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.number([u8::from(*self)]);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, CdrError> {
        match r.number::<1>()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => Err(CdrError::Bool(other)),
        }
    }
}

/// The type `byte`: eight bits that are not a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Byte(pub u8);

impl Field for Byte {
    const BYTES_MIN: usize = 1;

    fn type_name() -> String {
        "byte".into()
    }

    fn zero() -> Self {
        Self::default()
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.number([self.0]);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, CdrError> {
        let [byte] = r.number()?;
        Ok(Self(byte))
    }
}

impl Field for String {
    const BYTES_MIN: usize = 4;

    fn type_name() -> String {
        "string".into()
    }

    fn zero() -> Self {
        Self::default()
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.text(self);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, CdrError> {
        Ok(r.text()?.into())
    }
}

impl<T: Field> Field for Vec<T> {
    const BYTES_MIN: usize = 4;

    fn type_name() -> String {
        format!("{}[]", T::type_name())
    }

    fn describe(out: &mut Vec<Definition>) {
        T::describe(out);
    }

    fn zero() -> Self {
        Self::default()
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.count(self.len());
        self.iter().for_each(|x| x.write(w));
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, CdrError> {
        let count = r.count(T::BYTES_MIN)?;
        let mut all = Self::with_capacity(count);
        for _ in 0..count {
            all.push(T::read(r)?);
        }
        Ok(all)
    }
}

impl<T: Field, const N: usize> Field for [T; N] {
    const BYTES_MIN: usize = T::BYTES_MIN * N;

    fn type_name() -> String {
        format!("{}[{N}]", T::type_name())
    }

    fn describe(out: &mut Vec<Definition>) {
        T::describe(out);
    }

    fn zero() -> Self {
        std::array::from_fn(|_| T::zero())
    }

    fn write(&self, w: &mut Writer<'_>) {
        self.iter().for_each(|x| x.write(w));
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, CdrError> {
        let mut all = Self::zero();
        for x in &mut all {
            *x = T::read(r)?;
        }
        Ok(all)
    }
}

/// Defines a struct whose fields are encoded in the order of the list: the list is the only source
/// of layout, reader and definition.
macro_rules! structs {
    ($(
        $(#[$about:meta])*
        $name:ident is $ros:literal {
            $($(#[$meaning:meta])* $field:ident: $type:ty,)*
        }
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $($(#[$meaning])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $crate::ros2::field::Field::zero(),)* }
            }
        }

        impl $crate::ros2::field::Field for $name {
            const BYTES_MIN: usize = 0 $(+ <$type as $crate::ros2::field::Field>::BYTES_MIN)*;

            fn type_name() -> String {
                $ros.into()
            }

            fn describe(out: &mut Vec<$crate::ros2::field::Definition>) {
                if out.iter().any(|d| d.name == $ros) {
                    return;
                }
                let mut text = String::new();
                $(
                    text += &<$type as $crate::ros2::field::Field>::type_name();
                    text.push(' ');
                    text += stringify!($field).trim_start_matches("r#");
                    text.push('\n');
                )*
                out.push($crate::ros2::field::Definition { name: $ros, text });
                $(<$type as $crate::ros2::field::Field>::describe(out);)*
            }

            fn zero() -> Self {
                Self::default()
            }

            fn write(&self, w: &mut $crate::ros2::cdr::Writer<'_>) {
                $($crate::ros2::field::Field::write(&self.$field, w);)*
            }

            fn read(
                r: &mut $crate::ros2::cdr::Reader<'_>,
            ) -> Result<Self, $crate::ros2::cdr::CdrError> {
                Ok(Self { $($field: $crate::ros2::field::Field::read(r)?,)* })
            }
        }
    )*};
}
pub(super) use structs;
