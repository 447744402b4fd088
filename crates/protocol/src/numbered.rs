//! Enums whose numbers and names are written down.

/// Declares an enum without fields. Each variant has a number (one byte on the wire, in the log and
/// in a state) and a name.
macro_rules! numbered {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$doc:meta])* $variant:ident = $code:literal, $text:literal; )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name {
            $( $(#[$doc])* $variant = $code, )+
        }

        impl $name {
            /// All of them, in the order of their numbers.
            pub const ALL: [Self; [$($code),+].len()] = [$(Self::$variant),+];

            /// Its number.
            #[must_use]
            pub const fn code(self) -> u8 {
                self as u8
            }

            /// The one with this number, if there is one.
            #[must_use]
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $( $code => Some(Self::$variant), )+
                    _ => None,
                }
            }

            /// Its name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $text, )+
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u8(self.code())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                let code = <u8 as serde::Deserialize>::deserialize(source)?;
                Self::from_code(code).ok_or_else(|| {
                    serde::de::Error::custom(format_args!("{code} is no {}", stringify!($name)))
                })
            }
        }
    };
}
