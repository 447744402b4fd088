//! The runs of a certificate.

use serde::Serialize;

use crate::process_harness::Side;

/// How a run is perturbed, besides its pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Perturbation {
    /// Not at all.
    None,
    /// The controller is stopped for a while, as in a debugger.
    ControllerStopped,
    /// The daemon is stopped for a while.
    DaemonStopped,
    /// Other threads take all cores.
    Load,
    /// The run begins in the state at half of the reference.
    SavedState,
}

impl Perturbation {
    /// The side that is stopped, if one is.
    #[must_use]
    pub const fn stopped(self) -> Option<Side> {
        match self {
            Self::ControllerStopped => Some(Side::Controller),
            Self::DaemonStopped => Some(Side::Daemon),
            Self::None | Self::Load | Self::SavedState => None,
        }
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its name, and that of its folder.
    pub name: &'static str,
    /// What is done, as text.
    pub what: String,
    /// Simulated seconds per second of wall time; `None` for as many as the machine allows.
    pub speed: Option<f64>,
    /// How it is perturbed.
    pub perturbation: Perturbation,
    /// Its place in the list of the run that it has to be equal to; `None` if others have to be
    /// equal to it.
    pub equals: Option<usize>,
}

/// Name of the first run, which most others have to be equal to.
pub(super) const REFERENCE: &str = "reference";
/// A run in which a side is stopped lasts at least so long, so that it is not over before, s.
const STOPPED_RUN_S: f64 = 2.0;
/// Time for which a side is stopped, s.
pub const STOPPED_S: f64 = 1.0;
/// What a run takes besides, as a guess: to come up, join and end, s.
const OVERHEAD_S: f64 = 1.0;

/// All runs of `duration_s` of simulated time, the reference first; `load` programs are a load.
#[must_use]
pub fn plan(duration_s: f64, load: usize) -> Vec<Task> {
    let slow = (duration_s / STOPPED_RUN_S).clamp(0.001, 1.0);
    let stopped = |side| format!("{side} stopped for {STOPPED_S} s (SIGSTOP) at {slow:.3} ×");
    let task = |name, what: &str, speed, perturbation, equals| Task {
        name,
        what: what.into(),
        speed,
        perturbation,
        equals,
    };
    let (free, none) = (None, Perturbation::None);
    let mut tasks = vec![
        task(REFERENCE, "as fast as possible", free, none, None),
        task("repeat", "as fast as possible, once more", free, none, Some(0)),
        task("speed-1", "at 1 × real time", Some(1.0), none, Some(0)),
        task("speed-0.1", "at 0.1 × real time", Some(0.1), none, Some(0)),
        task(
            "controller-stopped",
            &stopped("the controller"),
            Some(slow),
            Perturbation::ControllerStopped,
            Some(0),
        ),
        task(
            "daemon-stopped",
            &stopped("the daemon"),
            Some(slow),
            Perturbation::DaemonStopped,
            Some(0),
        ),
        task(
            "loaded",
            &format!("as fast as possible, beside {load} threads that spin"),
            free,
            Perturbation::Load,
            Some(0),
        ),
    ];
    let snapshot = tasks.len();
    let from_half = "from the state at half of the reference, with a new controller";
    let again = "the same once more";
    tasks.extend([
        task("snapshot-1", from_half, free, Perturbation::SavedState, None),
        task("snapshot-2", again, free, Perturbation::SavedState, Some(snapshot)),
    ]);
    tasks
}

/// Wall time of a run, as a guess, s.
#[must_use]
pub fn wall_s(task: &Task, duration_s: f64) -> f64 {
    let paced_s = task.speed.map_or(0.5 * duration_s, |speed| duration_s / speed);
    let stopped_s = if task.perturbation.stopped().is_some() { STOPPED_S } else { 0.0 };
    paced_s + stopped_s + OVERHEAD_S
}

#[cfg(test)]
mod tests {
    use super::plan;

    #[test]
    fn every_run_has_another_that_it_is_compared_with() {
        for duration_s in [0.001, 2.0, 100.0] {
            let tasks = plan(duration_s, 4);
            for (i, task) in tasks.iter().enumerate() {
                let compared = tasks.iter().any(|t| t.equals == Some(i));
                assert!(task.equals.is_some_and(|of| of < i) != compared, "{}", task.name);
                assert!(task.speed.is_none_or(|speed| (0.001..=1.0).contains(&speed)));
            }
        }
    }
}
