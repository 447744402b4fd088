//! What the plots need to know of a curve.

pub(crate) use crate::fall::Result;

/// A curve: its name in the legend and its colour.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) colour: (u8, u8, u8),
}
