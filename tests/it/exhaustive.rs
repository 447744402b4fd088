//! Models with small constants, in every state that they can reach.
//!
//! [`arbitration`] drives the real [`Simulation`](hardstand::simulation::Simulation), beside an
//! independent model of leases, ladder and emergency stop, until no new state comes. `loop_states`
//! does the same with the loop's table of transitions.
//!
//! A search prints how many states it has visited. A failure prints the shortest way to it.

mod arbitration;
mod explorer;
mod loop_states;
mod oracle;
