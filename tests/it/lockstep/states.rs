//! Lockstep with faults of the states on their way: ticks wait for the answers that can come, and
//! for no others, whatever else happens to the messages.

use super::{Link, Pace, Plan, Ran, SLIP, peer, plan, run, schedule, two};
use hardstand::rt::{Ending, Request};
use hardstand_protocol::{CandidateRecord, Verdict};

const TICKS: u64 = 300;

fn with(events: &str) -> Plan {
    Plan { events: format!("events=[{events}]"), ..plan(TICKS, two()) }
}

fn session(ran: &Ran, i: usize) -> u64 {
    ran.peers[i].granted.as_ref().unwrap().session
}

/// Everything that was offered, tick by tick.
fn offered(ran: &Ran) -> Vec<(u64, Vec<CandidateRecord>)> {
    let own = |t: &hardstand_protocol::LogTick| (t.tick, t.candidates.clone());
    ran.log.iter().map(own).collect()
}

/// The states that were sent, but for that of the beginning: it is sent to each who joins.
fn seen(ran: &Ran) -> Vec<u64> {
    ran.states.iter().map(|s| s.tick).filter(|tick| *tick > 0).collect()
}

/// Runs the plan calmly, then with a bad bus in many ways: always the same run.
fn same_whatever_the_bus_does(events: &str) -> Ran {
    let calm = run(with(events));
    assert_eq!((calm.ending, calm.log.len() as u64), (Ending::Done, TICKS), "{events}");
    for seed in 1..7 {
        let link = Link { lose: 30, double: 100, delay_max: 40 };
        let pace = if seed % 2 == 0 { SLIP } else { Pace::Free };
        let ran = run(Plan { link, pace, seed, ..with(events) });
        assert_eq!(ran.ending, Ending::Done, "{events}");
        assert_eq!(ran.digests(), calm.digests(), "{events}, seed {seed}");
        assert_eq!(offered(&ran), offered(&calm), "{events}, seed {seed}");
        assert_eq!(ran.last().states, calm.last().states, "{events}, seed {seed}");
    }
    let candidates = calm.log.iter().flat_map(|t| &t.candidates);
    let refused: Vec<_> = candidates.filter(|o| o.verdict != Verdict::Accepted).collect();
    assert!(refused.is_empty(), "{events}: {refused:?}");
    calm
}

#[test]
fn a_delayed_state_is_answered_later_and_its_answer_applies_later() {
    let ran = same_whatever_the_bus_does("{at_s=0.1, kind=\"state_delay\", delay_ticks=3}");
    let late = |t: u64| if t > 100 { t + 3 } else { t };
    let joints = (0..TICKS).map(|t| (t, late(t))).filter(|(_, at)| *at < TICKS);
    assert_eq!(ran.obeyed(session(&ran, 0)), joints.collect::<Vec<_>>());
    // the offset counts from when the state has come
    let policy = (0..30).map(|i| 3 + 10 * i).map(|t| (t, late(t) + 7)).filter(|a| a.1 < TICKS);
    assert_eq!(ran.obeyed(session(&ran, 1)), policy.collect::<Vec<_>>());
    assert_eq!((ran.last().states.delayed, ran.last().states.dropped), (200, 0));
}

/// A delay of the states moves the robot as one of the answers by as many ticks.
#[test]
fn a_delay_of_states_is_a_delay_of_the_answers() {
    let motion = |ran: &Ran| -> Vec<Vec<[f64; 3]>> {
        let joints = |t: &hardstand_protocol::LogTick| {
            t.state.joints.iter().map(|j| [j.q, j.dq, j.tau]).collect()
        };
        ran.log.iter().map(joints).collect()
    };
    let push = "{at_s=0.12, kind=\"push\", link=\"trunk\", force_n=[0, 40, 0], duration_s=0.05}";
    let states = run(with(&format!("{{at_s=0.1, kind=\"state_delay\", delay_ticks=4}}, {push}")));
    let commands =
        run(with(&format!("{{at_s=0.101, kind=\"link_delay\", delay_ticks=4}}, {push}")));
    assert!(motion(&states) == motion(&commands));
    assert!(motion(&states) != motion(&run(with(push))), "the delay does something");
}

#[test]
fn no_tick_waits_for_the_answer_to_a_lost_state() {
    let ran = same_whatever_the_bus_does(
        "{at_s=0.1, kind=\"state_drop\", probability=0.4, length=2, seed=7}",
    );
    let obeyed = ran.obeyed(session(&ran, 0));
    assert!(obeyed.iter().all(|(answered, tick)| answered == tick));
    let lost = ran.last().states.dropped;
    // the last state has no tick
    assert!((TICKS..=TICKS + 1).contains(&(obeyed.len() as u64 + lost)), "{lost}");
    assert!((50..110).contains(&lost), "{lost}");
    let seen = seen(&ran);
    assert!(seen.windows(2).all(|w| w[0] < w[1]), "none is sent again");
    // all are lost: the robot goes on without a controller
    let ran = same_whatever_the_bus_does("{at_s=0.1, kind=\"state_drop\", probability=1}");
    assert_eq!(ran.last().states.dropped, TICKS - 100);
    assert_eq!(ran.obeyed(session(&ran, 0)).len(), 101);
}

#[test]
fn states_in_another_order_are_seen_and_the_newest_answer_counts() {
    let ran = same_whatever_the_bus_does(
        "{at_s=0.1, kind=\"state_reorder\", probability=0.2, delay_ticks=2, seed=11}",
    );
    let seen = seen(&ran);
    let behind = seen.windows(2).filter(|w| w[1] < w[0]).count();
    // 40 of 200, with a standard deviation of 6; two in a row are one step back
    assert!((15..65).contains(&behind), "{behind}");
    let obeyed = ran.obeyed(session(&ran, 0));
    assert!(obeyed.windows(2).all(|w| w[0].0 < w[1].0), "never an older one after a newer one");
    assert!(obeyed.iter().all(|(answered, tick)| tick - answered <= 2));
    assert!(ran.last().admission.void > 10, "{:?}", ran.last().admission);
    assert_eq!(ran.last().states.dropped, 0);
}

#[test]
fn of_states_that_come_together_the_newest_is_waited_for() {
    let ran = same_whatever_the_bus_does("{at_s=0.1, kind=\"state_burst\", every_ticks=10}");
    let obeyed: Vec<u64> =
        ran.obeyed(session(&ran, 0)).iter().map(|(answered, _)| *answered).collect();
    let expected: Vec<u64> = (0..=100).chain((110..TICKS).step_by(10)).collect();
    assert_eq!(obeyed, expected);
    let jitter = "{at_s=0.1, kind=\"state_jitter\", delay_ticks=6, seed=3}";
    let ran = same_whatever_the_bus_does(jitter);
    let seen = seen(&ran);
    assert!(seen.windows(2).all(|w| w[0] + 1 == w[1]), "in their order, and all: {seen:?}");
    let obeyed = ran.obeyed(session(&ran, 0));
    let lates: Vec<u64> = obeyed.iter().map(|(answered, tick)| tick - answered).collect();
    assert!(lates.contains(&0) && lates.iter().any(|late| (3..=6).contains(late)), "{lates:?}");
    assert!(lates.iter().all(|late| *late <= 6), "{lates:?}");
}

#[test]
fn both_directions_together_are_a_function_of_their_seeds() {
    let events = "{at_s=0.05, kind=\"state_drop\", probability=0.1, seed=1}, \
                  {at_s=0.05, kind=\"state_jitter\", delay_ticks=5, seed=2}, \
                  {at_s=0.08, kind=\"state_reorder\", probability=0.1, delay_ticks=9, seed=3}, \
                  {at_s=0.1, kind=\"link_delay\", delay_ticks=2, duration_s=0.1}, \
                  {at_s=0.2, kind=\"state_delay\", delay_ticks=60, duration_s=0.02}";
    let run = |events: &str| {
        let calm = super::run(with(events));
        let rough = Link { lose: 30, double: 100, delay_max: 40 };
        let again = super::run(Plan { link: rough, seed: 9, ..with(events) });
        assert_eq!((again.ending, again.digests()), (Ending::Done, calm.digests()));
        assert_eq!(offered(&again), offered(&calm));
        calm.digests()
    };
    assert_ne!(run(events), run(&events.replace("seed=2", "seed=5")));
}

/// Pauses show controllers nothing that the link keeps from them.
#[test]
fn a_pause_changes_nothing() {
    let events = "{at_s=0.05, kind=\"state_drop\", probability=0.5, seed=4}, \
                  {at_s=0.05, kind=\"state_delay\", delay_ticks=2}";
    let calm = run(with(events));
    let paused = run(Plan {
        act: |world| match world.looks % 40 {
            20 => drop(world.orders.send(Request::Pause)),
            35 => drop(world.orders.send(Request::Resume)),
            _ => {}
        },
        ..with(events)
    });
    assert!(paused.states.iter().filter(|s| s.phase == 3).count() > 3, "it was paused");
    assert_eq!(paused.digests(), calm.digests());
    assert_eq!(offered(&paused), offered(&calm));
}

/// A controller that looks at no old state does not hold up the others.
#[test]
fn who_ignores_old_states_is_not_waited_for() {
    let events = "{at_s=0.05, kind=\"state_reorder\", probability=0.3, delay_ticks=3, seed=4}";
    let ran = run(with(events));
    let deaf = run(Plan {
        act: |world| {
            // it takes back its answers to what was overtaken
            let newest = world.states.iter().map(|s| s.tick).max().unwrap_or(0);
            world.flying.retain(|(_, command)| command.answers_tick >= newest);
        },
        peers: vec![peer("joints", schedule(1, 0, 0), 0..6)],
        ..plan_of_one(events)
    });
    assert_eq!(deaf.ending, Ending::Done);
    assert!(ran.last().admission.void > 0 && deaf.last().admission.void == 0);
    assert_eq!(deaf.digests(), run(plan_of_one(events)).digests());
}

fn plan_of_one(events: &str) -> Plan {
    let one = vec![peer("joints", schedule(1, 0, 0), 0..6)];
    Plan { events: format!("events=[{events}]"), ..plan(TICKS, one) }
}
