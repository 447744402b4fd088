//! What a fit has found.

use serde::Serialize;
use toml::{Table, Value};

use super::accuracy::Accuracy;
use super::parameter::{Parameter, apply};
use crate::config::{get, set};
use hardstand_error::{Error, ErrorKind, Result};

/// The result of a fit.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    /// In the order of the parameters.
    pub estimates: Vec<Estimate>,
    /// Iterations of all searches.
    pub iterations: usize,
    /// Where the part that was held back begins, s.
    pub split_s: f64,
    /// Errors on the part that was fitted, before and after.
    pub fit: [Accuracy; 2],
    /// The same on the part that was held back.
    pub held_back: Option<[Accuracy; 2]>,
}

/// What the log says about a parameter.
#[derive(Clone, Debug, Serialize)]
pub struct Estimate {
    /// Its name.
    pub name: String,
    /// Value that the search began with.
    pub start: f64,
    /// Value after.
    #[serde(flatten)]
    pub finding: Finding,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "finding")]
pub enum Finding {
    /// The log says how large it is.
    Determined {
        /// The value.
        value: f64,
        /// Half the width of the 95 % interval.
        half_width: f64,
        /// The scenario allows no smaller value, or no larger one.
        at_bound: bool,
    },
    /// The log does not say it.
    NotDetermined {
        /// The value of the scenario, which stays (of several keys the mean; each keeps its own);
        /// the nearest one that the log allows, if it excludes that.
        kept: f64,
        /// Why.
        why: String,
    },
}

/// The determined values, and those that the log changed without determining them, as an overlay
/// for the scenario whose complete table is `complete`.
///
/// # Errors
/// [`ErrorKind::Internal`] if it cannot be written as TOML.
pub fn overlay(
    calibration: &Calibration,
    parameters: &[Parameter],
    complete: &Table,
) -> Result<String> {
    let mut table = Table::new();
    for (parameter, estimate) in parameters.iter().zip(&calibration.estimates) {
        let value = match estimate.finding {
            Finding::Determined { value, .. } => value,
            Finding::NotDetermined { kept, .. } if Some(kept) == parameter.own => continue,
            Finding::NotDetermined { kept, .. } => kept,
        };
        // a joint whose own drive is a name keeps it beside the key that changes it
        for path in parameter.paths.iter().filter(|path| path.len() > 3) {
            let preset = [&path[..3], &["preset".to_string()]].concat();
            if let Some(name @ Value::String(_)) = get(complete, &preset) {
                set(&mut table, &preset, name.clone()).map_err(internal)?;
            }
        }
        apply(&mut table, parameter, value)?;
    }
    let text = toml::to_string(&table).map_err(internal)?;
    let mut head = String::from(
        "# Fitted to a log by `hardstand calibrate`. A scenario takes these values with\n\
         # overlays = [\"this file\"].\n",
    );
    for estimate in &calibration.estimates {
        let line = match &estimate.finding {
            Finding::Determined { value, half_width, at_bound } => {
                let bound = if *at_bound { ", at its bound" } else { "" };
                format!("# {} = {value:.6} ± {half_width:.6} (95 %){bound}\n", estimate.name)
            }
            Finding::NotDetermined { why, .. } => {
                format!("# {}: not determined by this log: {why}\n", estimate.name)
            }
        };
        head += &line;
    }
    Ok(format!("{head}\n{text}"))
}

fn internal(e: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Internal, format!("the result as TOML: {e}"))
}
