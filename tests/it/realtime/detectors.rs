//! What must hold, and that each detector sees its misdeed.

use super::child::{Misdeed, run};

/// Ticks with a misdeed at every 100th.
const BAD_TICKS: u64 = 2000;

/// RT-2, RT-3: in 60,000 ticks under commands, with everything handed over, the thread calls
/// nothing but the one wait, at most once a tick, and meets no fault.
#[test]
fn the_loop_makes_one_kind_of_call_and_no_fault() {
    let seen = run(Misdeed::Nothing, 60_000).expect("a call that is not allowed");
    assert!(seen.ticks >= 59_900 && seen.commands_accepted > 10_000, "{seen:?}");
    assert_eq!((seen.minor_faults, seen.major_faults), (0, 0), "{seen:?}");
    // a tick that ends within the spin before its deadline does not sleep
    assert!(seen.voluntary_switches <= seen.ticks + 1, "{seen:?}");
    assert!(seen.voluntary_switches * 10 >= seen.ticks * 5, "{seen:?}");
}

#[test]
fn a_loop_that_calls_the_system_is_caught() {
    let seen = run(Misdeed::SystemCall, BAD_TICKS);
    assert!(seen.is_none(), "{seen:?}");
}

#[test]
fn a_loop_that_touches_fresh_memory_is_caught() {
    let seen = run(Misdeed::FreshPage, BAD_TICKS).expect("no call");
    assert!(seen.minor_faults >= BAD_TICKS / 100 - 1, "{seen:?}");
}

#[test]
fn a_loop_that_waits_twice_is_caught() {
    let seen = run(Misdeed::SecondWait, BAD_TICKS).expect("the same call");
    assert!(seen.voluntary_switches * 10 >= seen.ticks * 15, "{seen:?}");
}

#[test]
fn a_loop_that_stalls_is_caught() {
    let seen = run(Misdeed::Stall, BAD_TICKS).expect("no call");
    // three to four periods each time
    assert!(seen.missed_deadlines >= 3 * (BAD_TICKS / 100 - 1), "{seen:?}");
}
