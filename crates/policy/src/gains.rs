//! Gains of a contract: numbers, or those in the metadata of the policy.

use crate::contract::Contract;
use crate::network::Network;
use crate::numbers::short;
use crate::robot::RobotFacts;

/// `kp` or `kd` of each joint. None: it is in the network's metadata, but not there.
///
/// # Errors
/// If what is in the metadata is no number and no list with a number for each joint.
pub(crate) fn gains_of(
    contract: &Contract,
    name: &str,
    network: &Network,
) -> Result<Option<Vec<f64>>, String> {
    let n = contract.joints.len();
    let given = if name == "kp" { &contract.kp } else { &contract.kd };
    if let Some(numbers) = given {
        return Ok(Some((0..n).map(|i| numbers.at(i)).collect()));
    }
    let Some(text) = network.metadata(name) else { return Ok(None) };
    if let Ok(one) = serde_json::from_str::<f64>(text) {
        return Ok(Some(vec![one; n]));
    }
    let list = serde_json::from_str::<Vec<f64>>(text);
    list.ok().filter(|list| list.len() == n).map(Some).ok_or_else(|| {
        let text: String = text.chars().take(60).collect();
        format!(
            "{name} in the policy's metadata is {text}; it must have a number for each of {n} \
             joints"
        )
    })
}

/// The violated clauses of the joints that the policy commands.
pub(crate) fn violations(
    contract: &Contract,
    robot: &RobotFacts,
    network: &Network,
) -> Vec<String> {
    let mut out = Vec::new();
    for (name, most) in [("kp", robot.kp_max), ("kd", robot.kd_max)] {
        match gains_of(contract, name, network) {
            Ok(Some(values)) => {
                let named = contract.joints.iter().zip(values);
                out.extend(named.filter_map(|(joint, value)| gain(name, joint, value, most)));
            }
            Ok(None) => {
                out.push(format!("{name} is \"policy\", but the policy's metadata has no {name}"));
            }
            Err(text) => out.push(text),
        }
    }
    out
}

fn gain(name: &str, joint: &str, value: f64, most: f64) -> Option<String> {
    let (given, limit) = (short(value), short(most));
    let is_allowed = (0.0..=most).contains(&value);
    (!is_allowed).then(|| format!("{name} of {joint} is {given}; the robot takes 0 to {limit}"))
}

/// Joints that are held: their numbers, and the gains that the robot takes.
pub(crate) fn of_held_joints(contract: &Contract, robot: &RobotFacts) -> Vec<String> {
    let mut out = Vec::new();
    for (i, hold) in contract.hold.iter().enumerate() {
        let n = hold.joints.len();
        for (name, numbers) in [("q", &hold.q), ("kp", &hold.kp), ("kd", &hold.kd)] {
            if let Some(count) = numbers.count().filter(|count| *count != n) {
                out.push(format!("hold[{i}].{name} has {count} numbers; its joints has {n} names"));
                continue;
            }
            let most = match name {
                "kp" => robot.kp_max,
                "kd" => robot.kd_max,
                _ => continue,
            };
            let named = hold.joints.iter().enumerate();
            out.extend(named.filter_map(|(i, joint)| gain(name, joint, numbers.at(i), most)));
        }
    }
    out
}
