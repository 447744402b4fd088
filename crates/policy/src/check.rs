//! Checks a contract against a robot, a network and a command: a line for each violated clause.

use crate::contract::{Contract, Term};
use crate::gains;
use crate::network::Network;
use crate::numbers::{Numbers, short};
use crate::observation::term_size;
use crate::robot::RobotFacts;
use crate::state;

/// Terms of an observation: whether they have a frame, and whether only a simulator knows them.
const TERMS: [(&str, bool, bool); 13] = [
    ("gyro", true, false),
    ("gravity", true, false),
    ("acc", true, false),
    ("q", false, false),
    ("dq", false, false),
    ("last_action", false, false),
    ("command", false, false),
    ("clock_sin", false, false),
    ("clock_cos", false, false),
    ("foot_contact", false, false),
    ("constant", false, false),
    ("base_velocity", true, true),
    ("base_height", false, true),
];

/// Most policy steps that a history may reach back.
const STEPS_MAX: i64 = 10_000;

/// The violated clauses, a line each.
pub(crate) fn violations(
    contract: &Contract,
    robot: &RobotFacts,
    network: &Network,
    command: &[(String, f64)],
) -> Vec<String> {
    let mut out = lengths(contract);
    let lengths_hold = out.is_empty();
    out.extend(joints(contract, robot));
    out.extend(gains::of_held_joints(contract, robot));
    out.extend(terms(contract, robot));
    out.extend(timing(contract, robot));
    if lengths_hold {
        out.extend(gains::violations(contract, robot, network));
        out.extend(pose(contract, robot));
    }
    out.extend(ranges(contract));
    out.extend(violations_of_command(contract, command));
    out.extend(shapes(contract, robot, network));
    out
}

fn lengths(contract: &Contract) -> Vec<String> {
    let n = contract.joints.len();
    let count = |numbers: &Option<Numbers>| numbers.as_ref().and_then(Numbers::count);
    let lengths = [
        ("default_q", Some(contract.default_q.len())),
        ("kp", count(&contract.kp)),
        ("kd", count(&contract.kd)),
        ("action_scale", contract.action_scale.count()),
    ];
    let mut out = Vec::new();
    for (name, count) in lengths {
        if let Some(count) = count.filter(|count| *count != n) {
            out.push(format!("{name} has {count} numbers; joints has {n} names"));
        }
    }
    for (name, given, allowed) in [
        ("history_layout", &contract.history_layout, ["term", "frame"]),
        ("history_fill", &contract.history_fill, ["zero", "first"]),
        ("history_order", &contract.history_order, ["oldest_first", "newest_first"]),
    ] {
        if !allowed.contains(&given.as_str()) {
            out.push(format!("{name} is \"{given}\"; it must be {}", allowed.join(" or ")));
        }
    }
    out
}

fn joints(contract: &Contract, robot: &RobotFacts) -> Vec<String> {
    let held = contract.hold.iter().flat_map(|hold| &hold.joints);
    let named: Vec<&String> = contract.joints.iter().chain(held).collect();
    let known = robot.joints.join(", ");
    let unknown = named.iter().filter(|name| !robot.joints.contains(name));
    let mut out: Vec<String> = unknown
        .map(|name| format!("joints: the robot has no joint {name}; its joints are {known}"))
        .collect();
    let mut twice: Vec<&String> = named.clone();
    twice.sort();
    twice.retain(|name| named.iter().filter(|other| other == &name).count() > 1);
    twice.dedup();
    out.extend(twice.iter().map(|name| format!("joints: {name} is there twice")));
    let free = robot.joints.iter().filter(|name| !named.contains(name)).cloned();
    let free = free.collect::<Vec<_>>().join(", ");
    if !free.is_empty() {
        out.push(format!(
            "joints: the robot's joints {free} are not commanded; add a table [[hold]] with \
             joints, q, kp and kd"
        ));
    }
    out
}

fn terms(contract: &Contract, robot: &RobotFacts) -> Vec<String> {
    let mut out = Vec::new();
    for (i, term) in contract.observation.iter().enumerate() {
        let place = format!("observation[{i}] {}", term.term);
        let clauses = match TERMS.iter().find(|(name, ..)| *name == term.term) {
            Some((_, has_frame, is_truth)) => {
                self::term(contract, term, robot, *has_frame, *is_truth)
            }
            None => {
                let known: Vec<&str> = TERMS.iter().map(|(name, ..)| *name).collect();
                vec![format!("unknown; it must be one of {}", known.join(", "))]
            }
        };
        out.extend(clauses.into_iter().map(|text| format!("{place}: {text}")));
    }
    let mut steps = known_terms(contract).map(|term| (term.history, term.decimation));
    let first = steps.next();
    if contract.history_layout == "frame" && steps.any(|other| Some(other) != first) {
        let needs = "needs the same history and decimation in all terms";
        out.push(format!("history_layout \"frame\" {needs}"));
    }
    out
}

fn known_terms(contract: &Contract) -> impl Iterator<Item = &Term> {
    contract.observation.iter().filter(|t| TERMS.iter().any(|(name, ..)| *name == t.term))
}

fn term(
    contract: &Contract,
    term: &Term,
    robot: &RobotFacts,
    has_frame: bool,
    is_truth: bool,
) -> Vec<String> {
    let mut out = frame(term, robot, has_frame, is_truth);
    if is_truth && !term.truth {
        out.push("only a simulator knows it; write truth = true to accept that".to_string());
    }
    let (history, decimation) = (term.history, term.decimation);
    if history < 1 || decimation < 1 {
        out.push(format!("history is {history} and decimation {decimation}; 1 is the least"));
    } else if history.saturating_mul(decimation) > STEPS_MAX {
        let most = format!("history times decimation may be {STEPS_MAX}");
        out.push(format!("history is {history} and decimation {decimation}; {most}"));
    }
    out.extend(not_above_0("clip", term.clip));
    let named = term.joints.iter().flatten();
    let unknown = named.filter(|name| !robot.joints.contains(name));
    out.extend(unknown.map(|name| format!("the robot has no joint {name}")));
    let is_command = |name: &String| contract.commands.iter().any(|(known, _)| known == name);
    let unknown = term.names.iter().filter(|name| !is_command(name));
    out.extend(unknown.map(|name| format!("the contract has no command \"{name}\"")));
    if term.term.starts_with("clock") && contract.clock.is_none() {
        out.push("the contract has no [clock]".to_string());
    }
    let size = term_size(contract, term, robot.feet);
    for (name, given) in [("scale", Some(&term.scale)), ("offset", term.offset.as_ref())] {
        if let Some(count) = given.and_then(Numbers::count).filter(|count| *count != size) {
            out.push(format!("{name} has {count} numbers; the term has {size}"));
        }
    }
    out
}

fn frame(term: &Term, robot: &RobotFacts, has_frame: bool, is_truth: bool) -> Vec<String> {
    let mut out = Vec::new();
    let frames = if term.term == "base_velocity" { ["base", "world"] } else { ["imu", "base"] };
    if has_frame && !frames.contains(&term.frame.as_str()) {
        let allowed = frames.join(" or ");
        out.push(format!("frame is \"{}\"; it must be {allowed}", term.frame));
    }
    if term.frame == "base" && !is_truth && !robot.imu_on_base {
        let text = "frame is base, but the IMU is on another body, so it cannot be turned";
        out.push(text.to_string());
    }
    out
}

/// How many ticks of the robot a policy step has, if they are a whole number.
pub(crate) fn period_ticks(contract: &Contract, robot: &RobotFacts) -> Option<u64> {
    let ticks = 1.0 / (contract.policy_hz * robot.period_s);
    let whole = ticks.round();
    let is_whole = (ticks - whole).abs() <= 1e-6 && (1.0..1e9).contains(&ticks);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 1e9")]
    is_whole.then_some(whole as u64)
}

fn timing(contract: &Contract, robot: &RobotFacts) -> Vec<String> {
    let mut out = Vec::new();
    if contract.policy_hz <= 0.0 || period_ticks(contract, robot).is_none() {
        out.push(format!(
            "policy_hz is {}; it must divide the robot's {} ticks per second",
            short(contract.policy_hz),
            short(1.0 / robot.period_s)
        ));
    }
    if let Some(clock) = contract.clock.as_ref().filter(|clock| clock.period_s <= 0.0) {
        out.push(format!("clock.period_s is {}; it must be above 0", short(clock.period_s)));
    }
    out
}

fn pose(contract: &Contract, robot: &RobotFacts) -> Vec<String> {
    let mut out = Vec::new();
    for (name, q) in contract.joints.iter().zip(&contract.default_q) {
        let Some(i) = robot.joints.iter().position(|joint| joint == name) else { continue };
        if let (Some(low), Some(high)) = (robot.q_min.get(i), robot.q_max.get(i))
            && !(low..=high).contains(&q)
        {
            let limits = format!("{} to {}", short(*low), short(*high));
            out.push(format!(
                "default_q of {name} is {}; the joint's limits are {limits}",
                short(*q)
            ));
        }
        if robot.prismatic.get(i) == Some(&true) {
            out.push(format!("joints: {name} is prismatic; a policy commands revolute joints"));
        }
    }
    out
}

fn ranges(contract: &Contract) -> Vec<String> {
    let wrong = contract.commands.iter().filter(|(_, [low, high])| low > high);
    let wrong = wrong.map(|(name, [low, high])| {
        let (low, high) = (short(*low), short(*high));
        format!("commands.{name} is [{low}, {high}]; the least must come first")
    });
    wrong.chain(not_above_0("action_clip", contract.action_clip)).collect()
}

fn not_above_0(name: &str, limit: Option<f64>) -> Option<String> {
    let wrong = limit.filter(|limit| *limit <= 0.0)?;
    Some(format!("{name} is {}; it must be above 0", short(wrong)))
}

/// The violated clauses of a command. Without any, it does not allocate.
pub(crate) fn violations_of_command(contract: &Contract, command: &[(String, f64)]) -> Vec<String> {
    let mut out = Vec::new();
    for (i, (name, value)) in command.iter().enumerate() {
        if command[..i].iter().any(|(other, _)| other == name) {
            out.push(format!("command {name} is given twice"));
        }
        match contract.commands.iter().find(|(known, _)| known == name) {
            None => {
                let known: Vec<&str> = contract.commands().map(|(name, _)| name).collect();
                let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
                out.push(format!("command \"{name}\" is unknown; the contract has {known}"));
            }
            Some((_, [low, high])) if !(low..=high).contains(&value) => {
                let (value, low, high) = (short(*value), short(*low), short(*high));
                out.push(format!("command {name} is {value}; it must be {low} to {high}"));
            }
            Some(_) => {}
        }
    }
    out
}

/// The network's inputs and outputs against the observation and the joints.
fn shapes(contract: &Contract, robot: &RobotFacts, network: &Network) -> Vec<String> {
    let mut out = Vec::new();
    let inputs: Vec<&str> = network.inputs().map(|(name, _)| name).collect();
    let outputs: Vec<&str> = network.outputs().map(|(name, _)| name).collect();
    for (what, name, known) in
        [("input", &contract.input, &inputs), ("output", &contract.output, &outputs)]
    {
        if let Some(name) = name.as_ref().filter(|name| !known.contains(&name.as_str())) {
            let known = known.join(", ");
            out.push(format!("{what} \"{name}\" is none of the policy's: {known}"));
        }
    }
    if contract.input.is_none() && inputs.len() != 1 {
        let inputs = inputs.join(", ");
        out.push(format!("the policy has the inputs {inputs}; name one as input"));
    } else {
        out.extend(state::violations(contract, network));
    }
    let sizes = known_terms(contract).map(|term| {
        let history = usize::try_from(term.history).unwrap_or(0);
        (&term.term, history.saturating_mul(term_size(contract, term, robot.feet)))
    });
    let sizes: Vec<(&String, usize)> = sizes.collect();
    let sum = sizes.iter().fold(0_usize, |sum, (_, n)| sum.saturating_add(*n));
    let takes = state::observation_input(contract, network).map(|port| port.span.len);
    if let Some(takes) = takes.filter(|takes| *takes != sum) {
        let parts: Vec<String> = sizes.iter().map(|(term, n)| format!("{term} {n}")).collect();
        let parts = parts.join(" + ");
        out.push(format!("observation: it has {sum} numbers ({parts}); the policy takes {takes}"));
    }
    let (gives, n) = (state::action_output(contract, network), contract.joints.len());
    if let Some(gives) = gives.map(|port| port.span.len).filter(|gives| *gives != n) {
        out.push(format!("joints: there are {n}; the policy gives {gives} actions"));
    }
    out
}
