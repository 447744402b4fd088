//! What `hardstand run` says while robots run: to people, and in lines of JSON.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde::Serialize;

use crate::config::{Pace, Scenario};
use crate::daemon::{Happening, Report, ReportFile, SecondReport, Stall};
use hardstand_error::{Error, Result};
use hardstand_protocol::Phase;

use super::{progress, show};

/// The same loss is said again after this.
const SAID_AGAIN: Duration = Duration::from_secs(10);

/// Where the lines for programs go: `--json`, `--report`. One that cannot be written ends no run;
/// the first failure shows at its end.
pub(super) struct Lines {
    json: bool,
    report: Option<ReportFile>,
    failed: Option<Error>,
}

impl Lines {
    pub(super) const fn new(json: bool, report: Option<ReportFile>) -> Self {
        Self { json, report, failed: None }
    }

    pub(super) fn write(&mut self, line: &Report) {
        self.print(line);
        if let Some(report) = &mut self.report {
            let written = report.write(line);
            self.note(written);
        }
    }

    /// The first line that could not be written.
    pub(super) fn end(self) -> Result<()> {
        self.failed.map_or(Ok(()), Err)
    }

    /// A line for `--json` alone.
    fn print(&mut self, line: &impl Serialize) {
        if self.json {
            self.note(show::json(line));
        }
    }

    fn note(&mut self, written: Result<()>) {
        self.failed = self.failed.take().or(written.err());
    }
}

/// What is said of one robot.
pub(super) struct Watch<'a> {
    scenario: &'a Scenario,
    /// At free pace a bar is easier to read than a line a second.
    bar: Option<ProgressBar>,
    waited_s: u64,
    paused: bool,
    /// What was said of a lost controller, and when: a port joins again at once, and loses again.
    lost: Option<(String, Instant)>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(scenario: &'a Scenario) -> Self {
        let shows_bar = !scenario.has_company()
            && scenario.pace == Pace::Free
            && std::io::stderr().is_terminal();
        let bar = scenario.ticks.filter(|_| shows_bar).map(|n| progress::bar(n, "simulating"));
        Self { scenario, bar, waited_s: 0, paused: false, lost: None }
    }

    pub(super) fn see(&mut self, happening: &Happening<'_>, lines: &mut Lines) {
        let robot = || self.scenario.bus.robot.clone();
        match happening {
            Happening::Ready(ready, grants) => {
                if !lines.json {
                    show::ready(self.scenario, grants);
                    show::packet_ports(self.scenario, ready.udp);
                }
                lines.write(&Report::Ready((*ready).clone()));
            }
            Happening::Log(text) => {
                show::note(&format!("{}{text}", show::of_robot(self.scenario)));
            }
            Happening::ControllerLost(event) => self.lost(&event.text),
            Happening::Stall(stall) if lines.json => {
                lines.print(&Progress::of_stall(robot(), *stall));
            }
            Happening::Second(second) if lines.json => lines.print(&Progress::of(robot(), second)),
            Happening::Stall(stall) => show::stall(self.scenario, *stall),
            Happening::Second(second) => self.second(second),
            Happening::Ending => {}
        }
    }

    fn lost(&mut self, text: &str) {
        let again = |(said, at): &(String, Instant)| said == text && at.elapsed() < SAID_AGAIN;
        if !self.lost.as_ref().is_some_and(again) {
            show::note(&format!("{}{text}", show::of_robot(self.scenario)));
            self.lost = Some((text.into(), Instant::now()));
        }
    }

    fn second(&mut self, second: &SecondReport) {
        match second.phase {
            Phase::Waiting => {
                // once, and then a reminder every ten seconds
                if self.waited_s.is_multiple_of(10) {
                    show::waiting(self.scenario);
                }
                self.waited_s += 1;
            }
            Phase::Paused => {
                if !self.paused {
                    show::paused(self.scenario, second);
                }
                self.paused = true;
            }
            _ => {
                self.paused = false;
                match &self.bar {
                    Some(bar) => {
                        bar.set_position(second.tick);
                        bar.set_message(format!("{:.0} × real time", second.real_time_factor));
                    }
                    None => show::second(self.scenario, second),
                }
            }
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}

/// A line of `--json` while the daemon runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Progress {
    /// A second of wall time has passed.
    Second {
        robot: String,
        phase: &'static str,
        /// Ticks done in this run.
        tick: u64,
        time_s: f64,
        real_time_factor: f64,
        base_height_m: f64,
        tilt_deg: f64,
        foot_normal_sum_n: f64,
        weight_n: f64,
        /// What the drives obey.
        authority: &'static str,
        command_age_ticks: Option<u32>,
        missed_deadlines: u64,
        wakeup_p99_ns: u64,
    },
    /// Many deadlines were missed at once.
    Stall {
        robot: String,
        /// Tick before which it happened.
        tick: u64,
        missed_deadlines: u64,
    },
}

impl Progress {
    fn of(robot: String, s: &SecondReport) -> Self {
        Self::Second {
            robot,
            phase: s.phase.name(),
            tick: s.tick,
            time_s: s.time_s,
            real_time_factor: s.real_time_factor,
            base_height_m: s.base_height_m,
            tilt_deg: s.tilt_deg,
            foot_normal_sum_n: s.foot_normal_sum_n,
            weight_n: s.weight_n,
            authority: s.authority.name(),
            command_age_ticks: s.command_age_ticks,
            missed_deadlines: s.missed_deadlines,
            wakeup_p99_ns: s.wakeup_p99_ns,
        }
    }

    const fn of_stall(robot: String, stall: Stall) -> Self {
        Self::Stall { robot, tick: stall.tick, missed_deadlines: stall.missed }
    }
}
