//! `hardstand pushes`.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::Scenario;
use crate::hunt::{Kind, PushLimit, PushProgress, Pushes, push_limits};
use hardstand_error::{Error, ErrorKind, Result};

use super::super::arguments::PushesArguments;
use super::super::{ExitCode, output_file, show};
use super::setup::Setup;
use super::{STOPPED, push_plot};

/// Most limits in one plot, and finest force.
const DIRECTIONS_MAX: usize = 360;
const TIMES_MAX: usize = 1000;
const STEPS_MAX: usize = 10_000;
/// Forces are between this one and its opposite, whose distance must be a number.
const MOST_MAX_N: f64 = f64::MAX / 2.0;

/// What `hardstand pushes` has measured.
#[derive(Debug, Serialize)]
pub(super) struct PushesResult {
    /// The condition.
    pub(super) until: String,
    #[serde(flatten)]
    pub(super) pushes: Pushes,
    /// In the order of times, then of directions; none if it was stopped.
    pub(super) limits: Vec<PushLimit>,
    /// Cases that were run.
    cases: usize,
    /// Cases of every step in every direction at every time.
    cases_of_a_sweep: usize,
    /// A signal ended it before its time: then there are no files.
    stopped: bool,
    #[serde(serialize_with = "crate::path_text::maybe")]
    table: Option<PathBuf>,
    #[serde(serialize_with = "crate::path_text::maybe")]
    plot: Option<PathBuf>,
}

pub(in crate::cli) fn pushes(a: &PushesArguments) -> Result<ExitCode> {
    let setup = Setup::of(&a.cases, "pushes")?;
    let scenario = setup.one_robot()?;
    let pushes = pushes_of(a, scenario)?;
    let duration_s = pushes.at_s.last().copied().unwrap_or_default() + pushes.duration_s + a.after;
    let space = pushes.space(scenario, &a.cases.set, duration_s)?;
    setup.check(&space, "the pushes were refused")?;
    let print = |text: String| {
        if !a.cases.json {
            show::line(&text);
        }
    };
    let Pushes { link, directions, most_n, steps, .. } = &pushes;
    print(format!(
        "pushes     {link} for {} s in {directions} directions, up to {most_n} N in {steps} steps",
        pushes.duration_s
    ));
    print(format!("limits     {}, within {duration_s:.3} s of simulated time", a.cases.until));
    let mut judge = setup.judge(&space);
    let found = push_limits(&mut judge, &pushes, a.sweep, &mut |p| print(in_words(p)))?;
    let mut result = PushesResult {
        until: a.cases.until.clone(),
        cases: judge.count(),
        cases_of_a_sweep: pushes.at_s.len() * pushes.directions * pushes.steps,
        stopped: found.is_none(),
        limits: found.unwrap_or_default(),
        pushes,
        table: None,
        plot: None,
    };
    if !result.stopped {
        result.write(&setup.out)?;
    }
    if a.cases.json {
        show::json(&result)?;
    } else if result.stopped {
        print(STOPPED.into());
    } else {
        result.show();
    }
    Ok(if result.stopped { ExitCode::Incomplete } else { ExitCode::Done })
}

fn pushes_of(a: &PushesArguments, scenario: &Scenario) -> Result<Pushes> {
    let model = &scenario.model;
    let most_n = a.most.unwrap_or_else(|| Pushes::usual_most_n(scenario));
    let period_s = a.period.unwrap_or(1.0);
    for (option, value, least) in [
        ("--push", a.push, f64::MIN_POSITIVE),
        ("--at", a.at, 0.0),
        ("--period", period_s, f64::MIN_POSITIVE),
        ("--most", most_n, f64::MIN_POSITIVE),
        ("--after", a.after, 0.0),
    ] {
        if !(value.is_finite() && value >= least) {
            let allowed = if least > 0.0 { "greater than 0" } else { "at least 0" };
            let text = format!("{option} is {value}; it must be finite and {allowed}");
            return Err(Error::new(ErrorKind::Input, text));
        }
    }
    if most_n > MOST_MAX_N {
        let text = format!("--most is {most_n:e}; it must be at most {MOST_MAX_N:e}");
        return Err(Error::new(ErrorKind::Input, text));
    }
    for (option, value, most) in [
        ("--directions", a.directions.get(), DIRECTIONS_MAX),
        ("--times", a.times.get(), TIMES_MAX),
        ("--steps", a.steps.get(), STEPS_MAX),
    ] {
        if value > most {
            let text = format!("{option} is {value}; it must be at most {most}");
            return Err(Error::new(ErrorKind::Input, text));
        }
    }
    let at_s = times_s(a.at, period_s, a.times.get())?;
    Ok(Pushes {
        link: a.link.clone().unwrap_or_else(|| model.bodies[0].name.clone()),
        duration_s: a.push,
        at_s,
        directions: a.directions.get(),
        most_n,
        steps: a.steps.get(),
    })
}

/// `count` times from `first_s` on, evenly spaced over `period_s` and rounded to whole
/// milliseconds, so that the number that is printed is the one that is used.
fn times_s(first_s: f64, period_s: f64, count: usize) -> Result<Vec<f64>> {
    let whole = |s: f64| (s * 1e3).round() / 1e3;
    if (first_s - whole(first_s)).abs() > 1e-9 {
        let text = format!("--at is {first_s}; it must be a whole number of ms, such as 1.001");
        return Err(Error::new(ErrorKind::Input, text));
    }
    if count > 1 && period_s < 1e-3 * count as f64 {
        let text = format!(
            "--period is {period_s}; with --times {count} it must be at least {}, for pushes begin \
             at whole ms",
            1e-3 * count as f64
        );
        return Err(Error::new(ErrorKind::Input, text));
    }
    Ok((0..count).map(|i| whole(first_s + period_s * i as f64 / count as f64)).collect())
}

fn in_words(p: PushProgress) -> String {
    let PushProgress { cases, limits, lowered } = p;
    match lowered {
        0 => format!("narrowed   {limits} limits with {cases} cases"),
        n => format!("compared   {n} limits are lower, as their neighbours', after {cases} cases"),
    }
}

/// The limits of one time: `at 2.000 s   least 63 N at 270°, mean 80 N, most 101 N at 0°`.
fn row_in_words(row: &[PushLimit]) -> String {
    let mut known: Vec<(f64, f64)> =
        row.iter().filter_map(|l| Some((l.limit_n?, l.direction_deg))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at_s = row.first().map_or(0.0, |l| l.at_s);
    let (Some((least_n, least)), Some((most_n, most))) = (known.first(), known.last()) else {
        return format!("at {at_s:.3} s no limit in any direction");
    };
    let mean_n = known.iter().map(|(n, _)| n).sum::<f64>() / known.len() as f64;
    let none = match row.len() - known.len() {
        0 => String::new(),
        n => format!("; none in {n} directions"),
    };
    format!(
        "at {at_s:.3} s least {least_n:.1} N at {least:.1}°, mean {mean_n:.1} N, most {most_n:.1} \
         N at {most:.1}°{none}"
    )
}

impl PushesResult {
    /// Writes table and plot into this folder.
    fn write(&mut self, folder: &Path) -> Result<()> {
        let (table, plot) = (folder.join("pushes.csv"), folder.join("pushes.svg"));
        output_file::write_text("table", &table, &self.csv())?;
        push_plot::draw(&plot, self)?;
        (self.table, self.plot) = (Some(table), Some(plot));
        Ok(())
    }

    /// One row for each limit; empty cells where there is none.
    fn csv(&self) -> String {
        let cell = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
        let row = |l: &PushLimit| {
            let impulse = l.limit_n.map(|n| n * self.pushes.duration_s);
            let [limit, impulse, at] = [l.limit_n, impulse, l.happens_at_s].map(cell);
            let kind = l.kind.map_or("", Kind::word);
            format!("{},{},{limit},{impulse},{at},{kind}\n", l.at_s, l.direction_deg)
        };
        let head = "at_s,direction_deg,limit_n,impulse_n_s,happens_at_s,kind\n".to_string();
        head + &self.limits.iter().map(row).collect::<String>()
    }

    fn show(&self) {
        let weakest = self.limits.iter().filter_map(|l| Some((l.limit_n?, l)));
        show::line("");
        for row in self.limits.chunks(self.pushes.directions) {
            show::line(&row_in_words(row));
        }
        if let Some((limit_n, l)) = weakest.min_by(|a, b| a.0.total_cmp(&b.0)) {
            show::line(&format!(
                "weakest    {limit_n:.1} N ({:.2} N·s) at {:.3} s towards {:.1}°: {} at {:.3} s",
                limit_n * self.pushes.duration_s,
                l.at_s,
                l.direction_deg,
                match l.kind {
                    Some(Kind::Held) | None => &self.until,
                    Some(other) => other.word(),
                },
                l.happens_at_s.unwrap_or_default()
            ));
        }
        let failed = self.limits.iter().filter(|l| l.kind.is_some_and(|kind| kind != Kind::Held));
        match failed.count() {
            0 => {}
            n => show::line(&format!(
                "failed     {n} limits are the end of the plant or of the controller, not the \
                 condition"
            )),
        }
        let share = 100.0 * self.cases as f64 / self.cases_of_a_sweep as f64;
        let all = self.cases_of_a_sweep;
        show::line(&format!("cases      {} of the {all} of a sweep ({share:.1} %)", self.cases));
        for (name, file) in [("table", &self.table), ("plot", &self.plot)] {
            let file = file.iter().map(|file| file.display());
            file.for_each(|file| show::line(&format!("{name:10} {file}")));
        }
    }
}
