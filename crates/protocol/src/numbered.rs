//! Enums whose numbers and names are written down.

/// Declares an enum without fields. Each variant has a number (one byte on the wire, in the log and
/// in a state) and a name (in JSON and other formats that people read).
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

            /// Name of a number; `unknown` if there is none.
            #[must_use]
            pub const fn name_of(code: u8) -> &'static str {
                match Self::from_code(code) {
                    Some(this) => this.name(),
                    None => "unknown",
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.serialize_str(self.name())
                } else {
                    serializer.serialize_u8(self.code())
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                let unknown = |what: &dyn std::fmt::Display| {
                    serde::de::Error::custom(format_args!("{what} is no {}", stringify!($name)))
                };
                if source.is_human_readable() {
                    let name = <String as serde::Deserialize>::deserialize(source)?;
                    let named = Self::ALL.into_iter().find(|x| x.name() == name);
                    return named.ok_or_else(|| unknown(&name));
                }
                let code = <u8 as serde::Deserialize>::deserialize(source)?;
                Self::from_code(code).ok_or_else(|| unknown(&code))
            }
        }
    };
}
