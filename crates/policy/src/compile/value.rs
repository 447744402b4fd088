//! Values of a graph while it is compiled.

use super::Outcome;
use std::rc::Rc;

/// Most axes of a value.
const RANK_MAX: usize = 8;

/// Numbers of a constant. int32 and bool are kept as int64.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    F32(Vec<f32>),
    F64(Vec<f64>),
    I64(Vec<i64>),
}

impl Data {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::F32(numbers) => numbers.len(),
            Self::F64(numbers) => numbers.len(),
            Self::I64(numbers) => numbers.len(),
        }
    }

    pub(crate) fn floats(&self) -> Outcome<&[f32]> {
        match self {
            Self::F32(numbers) => Ok(numbers),
            Self::F64(_) => Err("it computes with float64; a policy computes with float32".into()),
            Self::I64(_) => Err("it computes with integers, where float32 is supported".into()),
        }
    }

    pub(crate) fn integers(&self) -> Outcome<&[i64]> {
        match self {
            Self::I64(numbers) => Ok(numbers),
            Self::F32(_) | Self::F64(_) => Err("it has floats where it needs integers".into()),
        }
    }

    /// The numbers at these places.
    pub(crate) fn picked(&self, places: &[usize]) -> Self {
        fn pick<T: Copy>(from: &[T], places: &[usize]) -> Vec<T> {
            places.iter().map(|&i| from[i]).collect()
        }
        match self {
            Self::F32(numbers) => Self::F32(pick(numbers, places)),
            Self::F64(numbers) => Self::F64(pick(numbers, places)),
            Self::I64(numbers) => Self::I64(pick(numbers, places)),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Place {
    Constant(Rc<Data>),
    /// In the workspace from here on.
    Computed(usize),
}

/// A value: row-major, with its shape.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub shape: Vec<usize>,
    pub place: Place,
}

impl Value {
    pub(crate) fn computed(shape: Vec<usize>, at: usize) -> Self {
        Self { shape, place: Place::Computed(at) }
    }

    pub(crate) fn constant(shape: Vec<usize>, data: Data) -> Self {
        Self { shape, place: Place::Constant(Rc::new(data)) }
    }

    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The same numbers in another shape.
    pub(crate) fn reshaped(&self, shape: Vec<usize>) -> Outcome<Self> {
        if elements(&shape)? != self.len() {
            return Err(format!("shape {:?} cannot become {shape:?}", self.shape));
        }
        Ok(Self { shape, place: self.place.clone() })
    }

    pub(crate) fn data(&self) -> Option<&Data> {
        match &self.place {
            Place::Constant(data) => Some(data),
            Place::Computed(_) => None,
        }
    }

    /// The floats of a constant.
    pub(crate) fn floats(&self) -> Outcome<&[f32]> {
        let data = self.data().ok_or("it must be constant, but is computed")?;
        data.floats()
    }

    /// As a constant, with the numbers that are in the workspace now.
    pub(crate) fn folded(self, workspace: &[f32]) -> Self {
        match self.place {
            Place::Constant(_) => self,
            Place::Computed(at) => {
                let numbers = workspace[at..at + self.len()].to_vec();
                Self::constant(self.shape, Data::F32(numbers))
            }
        }
    }

    /// The axis that a signed number names.
    pub(crate) fn axis(&self, axis: i64) -> Outcome<usize> {
        axis_of(axis, self.shape.len())
    }
}

/// The axis that a signed number names, of `rank`.
pub(crate) fn axis_of(axis: i64, rank: usize) -> Outcome<usize> {
    let from_end = if axis < 0 { axis.checked_add_unsigned(rank as u64) } else { Some(axis) };
    let found = from_end.and_then(|n| usize::try_from(n).ok()).filter(|n| *n < rank);
    found.ok_or_else(|| format!("axis {axis} of a value with {rank} axes"))
}

/// The count of numbers in a shape.
pub(crate) fn elements(shape: &[usize]) -> Outcome<usize> {
    if shape.len() > RANK_MAX {
        return Err(format!("a shape with {} axes; at most {RANK_MAX}", shape.len()));
    }
    let count = shape.iter().try_fold(1_usize, |count, n| count.checked_mul(*n));
    count.filter(|n| *n < 1 << 31).ok_or_else(|| format!("shape {shape:?} is too large"))
}

/// How far apart the numbers along each axis are.
pub(crate) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut out = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        out[i - 1] = out[i] * shape[i];
    }
    out
}
