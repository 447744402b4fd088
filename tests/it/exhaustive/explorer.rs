//! Breadth-first search through all states of a system.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};

/// Something with states, and actions that lead from one to the next.
pub trait System {
    type State;
    type Action: Copy + Debug;

    fn first(&self) -> Self::State;

    /// What can happen in a state. The first action is that nothing happens.
    fn actions(&self, state: &Self::State) -> Vec<Self::Action>;

    /// The state after `action`; an error names the property that does not hold.
    fn next(&self, state: &Self::State, action: Self::Action) -> Result<Self::State, String>;

    /// Equal for states with the same future.
    fn key(&self, state: &Self::State) -> Vec<u8>;

    /// True for the states that must be reached from everywhere if nothing happens.
    fn is_at_rest(&self, state: &Self::State) -> bool;
}

/// What a search has seen.
#[derive(Clone, Copy, Debug)]
pub struct Visited {
    pub states: usize,
    pub transitions: usize,
    /// Actions to the state that is farthest from the first.
    pub depth: usize,
    /// Actions of nothing after which every state has come to rest.
    pub quiet_steps_max: usize,
}

struct Node<A> {
    parent: usize,
    action: Option<A>,
    depth: usize,
    at_rest: bool,
    after_nothing: usize,
}

/// Visits every state of `system`.
///
/// # Errors
/// The shortest sequence of actions that breaks a property, or that there are more than
/// `states_max` states.
pub fn explore<S: System>(system: &S, states_max: usize) -> Result<Visited, String> {
    let first = system.first();
    let mut known = BTreeMap::from([(system.key(&first).into_boxed_slice(), 0)]);
    let root = Node {
        parent: 0,
        action: None,
        depth: 0,
        at_rest: system.is_at_rest(&first),
        after_nothing: 0,
    };
    let (mut nodes, mut states, mut transitions) = (vec![root], vec![Some(first)], 0);
    let mut at = 0;
    while let Some(state) = states.get_mut(at).and_then(Option::take) {
        for (nth, action) in system.actions(&state).into_iter().enumerate() {
            transitions += 1;
            let next = system
                .next(&state, action)
                .map_err(|broken| format!("{broken}\n{}", way_to(&nodes, at, Some(action))))?;
            let fresh = nodes.len();
            let index = *known.entry(system.key(&next).into_boxed_slice()).or_insert(fresh);
            if nth == 0 {
                nodes[at].after_nothing = index;
            }
            if index == fresh {
                nodes.push(Node {
                    parent: at,
                    action: Some(action),
                    depth: nodes[at].depth + 1,
                    at_rest: system.is_at_rest(&next),
                    after_nothing: fresh,
                });
                states.push(Some(next));
            }
        }
        if nodes.len() > states_max {
            return Err(format!("more than {states_max} states, {transitions} transitions"));
        }
        at += 1;
    }
    let depth = nodes.last().map_or(0, |node| node.depth);
    let quiet_steps_max = steps_to_rest(&nodes)?;
    Ok(Visited { states: nodes.len(), transitions, depth, quiet_steps_max })
}

/// The largest number of times that nothing has to happen until the system is at rest.
fn steps_to_rest<A: Copy + Debug>(nodes: &[Node<A>]) -> Result<usize, String> {
    let mut longest = 0;
    for begin in 0..nodes.len() {
        let (mut at, mut steps) = (begin, 0);
        while !nodes[at].at_rest {
            (at, steps) = (nodes[at].after_nothing, steps + 1);
            if steps > nodes.len() {
                return Err(format!("it never comes to rest\n{}", way_to(nodes, begin, None)));
            }
        }
        longest = longest.max(steps);
    }
    Ok(longest)
}

fn way_to<A: Copy + Debug>(nodes: &[Node<A>], mut at: usize, last: Option<A>) -> String {
    let mut actions: Vec<A> = last.into_iter().collect();
    while let Some(action) = nodes[at].action {
        actions.push(action);
        at = nodes[at].parent;
    }
    let mut text = "the shortest way there:".to_owned();
    for (i, action) in actions.iter().rev().enumerate() {
        let _ = write!(text, "\n  {:2}: {action:?}", i + 1);
    }
    text
}

/// Counts to a number of its own, and is broken at another.
struct Counter {
    last: u8,
    broken_at: u8,
}

impl System for Counter {
    type State = u8;
    type Action = u8;

    fn first(&self) -> u8 {
        0
    }

    fn actions(&self, _: &u8) -> Vec<u8> {
        vec![0, 1, 2]
    }

    fn next(&self, state: &u8, action: u8) -> Result<u8, String> {
        let next = (state + action).min(self.last);
        if next == self.broken_at { Err(format!("{next} is broken")) } else { Ok(next) }
    }

    fn key(&self, state: &u8) -> Vec<u8> {
        vec![*state]
    }

    fn is_at_rest(&self, state: &u8) -> bool {
        *state != 7
    }
}

#[test]
fn a_search_finds_all_states_and_the_shortest_way_to_a_broken_one() {
    let visited = explore(&Counter { last: 6, broken_at: 9 }, 100).unwrap();
    assert_eq!((visited.states, visited.transitions, visited.depth), (7, 21, 3));
    let broken = explore(&Counter { last: 8, broken_at: 5 }, 100).unwrap_err();
    assert_eq!(broken.lines().count(), 5, "{broken}");
    assert!(explore(&Counter { last: 6, broken_at: 9 }, 5).unwrap_err().contains("more than 5"));
    let stuck = explore(&Counter { last: 8, broken_at: 9 }, 100).unwrap_err();
    assert!(stuck.contains("never comes to rest"), "{stuck}");
}
