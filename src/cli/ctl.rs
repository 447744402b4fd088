//! `hardstand ctl`: changes the world of a running daemon.

use std::time::Duration;

use crate::error::{Error, ErrorKind, Result};
use crate::message::ModelReply;
use crate::plant::Scope;

use super::arguments::{CtlArguments, CtlKind, FrictionArguments};
use super::{exit, show};

/// Time to find the daemon, and again to get its answer.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn ctl(a: &CtlArguments) -> Result<u8> {
    match &a.kind {
        CtlKind::Friction(a) => friction(a),
    }
}

fn friction(a: &FrictionArguments) -> Result<u8> {
    let client = a.daemon.client()?;
    let model = client.model(PATIENCE)?;
    let (scope, whose) = scope_of(a, &model)?;
    let (mu_s, mu_k) = (a.mu_static, a.mu_kinetic);
    let tick = client.set_friction(&model, scope, mu_s, mu_k, PATIENCE)?;
    let time_s = tick as f64 * model.period_ns as f64 * 1e-9;
    show::line(&format!(
        "friction of {whose}: static {mu_s}, kinetic {mu_k} from tick {tick} on ({time_s:.3} s)"
    ));
    Ok(exit::OK)
}

/// What the names mean to the daemon, and in words.
fn scope_of(a: &FrictionArguments, model: &ModelReply) -> Result<(Scope, String)> {
    if let Some(name) = &a.foot {
        let feet: Vec<&str> = model.feet.iter().map(|f| f.name.as_str()).collect();
        return Ok((Scope::Foot(index("foot", name, &feet)?), format!("foot {name}")));
    }
    if let Some(name) = &a.station {
        let stations: Vec<&str> = model.stations.iter().map(|s| s.name.as_str()).collect();
        return Ok((Scope::Station(index("station", name, &stations)?), format!("station {name}")));
    }
    if let Some(name) = &a.region {
        let regions: Vec<&str> = model.regions.iter().map(|r| r.name.as_str()).collect();
        return Ok((Scope::Region(index("region", name, &regions)?), format!("region {name}")));
    }
    Ok((Scope::All, "all stations".into()))
}

fn index(option: &str, name: &str, names: &[&str]) -> Result<u32> {
    let found = names.iter().position(|n| *n == name);
    found.map(|i| i as u32).ok_or_else(|| {
        let known = if names.is_empty() { "there are none".into() } else { names.join(", ") };
        Error::new(ErrorKind::Input, format!("--{option} is {name}; it must be one of: {known}"))
    })
}
