//! Which inputs and outputs of a network are the observation, the action, and states that are
//! carried from one step to the next.

use crate::compile::Port;
use crate::contract::Contract;
use crate::network::Network;
use crate::program::Span;

/// A state: what the output has after a step, the input has in the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    pub input: Span,
    pub output: Span,
}

/// The input of the observation: that of the contract, or the first.
pub(crate) fn observation_input<'a>(contract: &Contract, network: &'a Network) -> Option<&'a Port> {
    let named = network.inputs.iter().find(|port| Some(&port.name) == contract.input.as_ref());
    named.or(network.inputs.first())
}

/// The output of the actions: that of the contract, or the first.
pub(crate) fn action_output<'a>(contract: &Contract, network: &'a Network) -> Option<&'a Port> {
    match &contract.output {
        Some(name) => network.outputs.iter().find(|port| &port.name == name),
        None => network.outputs.first(),
    }
}

/// The states of a network whose contract has been checked.
pub(crate) fn states(contract: &Contract, network: &Network) -> Vec<State> {
    let pairs = inputs(contract, network).filter_map(|port| {
        let output = next(port, network)?;
        Some(State { input: port.span, output: output.span })
    });
    pairs.collect()
}

/// A line for each input that is neither the observation nor a state.
pub(crate) fn violations(contract: &Contract, network: &Network) -> Vec<String> {
    let mut out = Vec::new();
    for port in inputs(contract, network) {
        let (name, shape) = (&port.name, &port.shape);
        match next(port, network) {
            None => out.push(format!(
                "the policy's input \"{name}\" is not the observation, and no output has its next \
                 value; known are {}",
                names("NAME").map(|(i, o)| format!("{i} with {o}")).join(", ")
            )),
            Some(output) if output.shape != port.shape => out.push(format!(
                "the policy's input \"{name}\" has shape {shape:?}, but its next value \"{}\" has \
                 {:?}",
                output.name, output.shape
            )),
            Some(_) => {}
        }
    }
    out
}

/// All inputs but the observation.
fn inputs<'a>(contract: &Contract, network: &'a Network) -> impl Iterator<Item = &'a Port> {
    let observation = observation_input(contract, network).map(|port| port.span);
    network.inputs.iter().filter(move |port| Some(port.span) != observation)
}

/// Names of a state as input and as output, as exporters write them.
fn names(state: &str) -> [(String, String); 7] {
    let s = state;
    [
        (format!("{s}_in"), format!("{s}_out")),
        (format!("in_{s}"), format!("out_{s}")),
        (s.to_string(), format!("{s}_out")),
        (s.to_string(), format!("next_{s}")),
        (s.to_string(), format!("new_{s}")),
        (s.to_string(), format!("{s}_next")),
        (format!("{s}0"), format!("{s}n")),
    ]
}

/// The output with the next value of a state.
fn next<'a>(input: &Port, network: &'a Network) -> Option<&'a Port> {
    let given = input.name.as_str();
    let stems = [
        given.strip_suffix("_in"),
        given.strip_prefix("in_"),
        Some(given),
        given.strip_suffix('0'),
    ];
    let pairs = stems.into_iter().flatten().flat_map(names);
    let mut found = pairs
        .filter(|(input, _)| input == given)
        .filter_map(|(_, output)| network.outputs.iter().find(|port| port.name == output));
    found.next()
}
