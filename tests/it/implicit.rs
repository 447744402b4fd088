//! The linearly implicit step: stiff contact and stiff drives with micro-steps of 1 ms.

mod blocks;
mod formulas;
mod quadruped;
