//! `hardstand controller trot` and `policy`.

use hardstand_controllers::{PolicyLaw, TrotLaw, read_policy, robot_facts};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_policy::Policy;
use hardstand_protocol::VelocityCommand;

use super::super::arguments::{PolicyArguments, TrotArguments, VelocityArguments};
use super::super::{ExitCode, show};

pub(super) fn trot(a: &TrotArguments) -> Result<ExitCode> {
    let law = |model: &_| Ok(Some(Box::new(TrotLaw::new(model, given(a.velocity))?) as _));
    super::run(&a.connection, &a.join, law, |_| {})
}

/// The velocity of the arguments, if there is one.
fn given(v: VelocityArguments) -> Option<VelocityCommand> {
    let all = [v.vx, v.vy, v.yaw_rate];
    let any = all.iter().any(Option::is_some);
    any.then(|| VelocityCommand::from(all.map(|x| x.unwrap_or(0.0))))
}

pub(super) fn policy(a: &PolicyArguments) -> Result<ExitCode> {
    let (contract, network) = read_policy(&a.contract, a.policy.as_deref())?;
    let command = command_of(a)?;
    let name = contract.name().to_string();
    let follows = given(a.velocity).is_none() && a.commands.is_empty();
    let law = |model: &_| {
        let policy = Policy::new(contract, network, &robot_facts(model), &command)?;
        if !a.connection.in_process.json {
            show::line(&format!("contract   {name}: every clause holds"));
        }
        let law = PolicyLaw::new(policy, model, follows);
        Ok((!a.check).then(|| Box::new(law) as _))
    };
    super::run(&a.connection, &a.join, law, |_| {})
}

/// The command by names: velocities, and those of `--command`.
fn command_of(a: &PolicyArguments) -> Result<Vec<(String, f64)>> {
    let v = a.velocity;
    let velocities = [("vx", v.vx), ("vy", v.vy), ("yaw_rate", v.yaw_rate)];
    let given = velocities.iter().filter_map(|(name, v)| Some(((*name).to_string(), (*v)?)));
    let mut out: Vec<_> = given.collect();
    for text in &a.commands {
        let pair = text.split_once('=');
        let Some((name, value)) = pair.and_then(|(n, v)| Some((n, v.parse().ok()?))) else {
            let text = format!("--command {text:?} must be NAME=VALUE, with a number");
            return Err(Error::new(ErrorKind::Input, text));
        };
        out.push((name.to_string(), value));
    }
    Ok(out)
}
