//! `hardstand hunt`, and `hardstand pushes`.

mod push_plot;
mod pushes;
mod setup;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::campaign::Common;
use crate::hunt::{self, Catch, Judge, Judged, Limits, Progress, Shrunk, Space};
use hardstand_error::{Error, ErrorKind, Result};

use super::arguments::HuntArguments;
use super::campaign::no_place;
use super::shell::quoted;
use super::{ExitCode, output_file, show};
use setup::Setup;

pub(super) use pushes::pushes;

/// Name of the last run of the case that was found.
const FOUND: &str = "found";
/// Simulated time that is kept after what was looked for, s.
const AFTER_S: f64 = 0.1;
const STOPPED: &str = "stopped    the same command goes on";

pub(super) fn hunt(a: &HuntArguments) -> Result<ExitCode> {
    let cases = &a.cases;
    let setup = Setup::of(cases, "hunt")?;
    let mut space = Space::of(&setup.robots, &cases.set)?;
    if let Some(duration_s) = a.duration {
        space.set_duration_s(duration_s)?;
    }
    setup.check(&space, "the hunt was refused")?;
    let [keys, events] = space.counts();
    let print = |text: String| {
        if !cases.json {
            show::line(&text);
        }
    };
    let from = if space.is_usual() { "; the scenario has no section hunt" } else { "" };
    print(format!("space      {keys} keys, {events} events: {} numbers{from}", space.genes()));
    let (until, most, jobs) = (&cases.until, a.cases_max, setup.jobs);
    print(format!("hunts      until {until}; at most {most} cases, {jobs} at a time"));
    let limits = Limits { cases: most.get(), random: a.random, seed: cases.seed.into() };
    let hunt = Hunt { judge: setup.judge(&space), limits, print: &print };
    let mut result = hunt.run(&setup.common, &setup.out)?;
    result.stopped = setup.is_stopped();
    if cases.json {
        show::json(&result)?;
    } else if result.stopped {
        print(STOPPED.into());
    } else {
        result.show();
    }
    if result.stopped {
        return Ok(ExitCode::Incomplete);
    }
    Ok(if result.found.is_some() { ExitCode::Negative } else { ExitCode::Done })
}

/// The result of a hunt.
#[derive(Debug, Default, Serialize)]
struct HuntResult {
    /// Cases of the search.
    cases: usize,
    /// Cases that shrinking took.
    shrink_cases: usize,
    /// Of both, those that the scenario refused.
    refused_cases: usize,
    /// The largest margin: how near the nearest case came.
    best_margin: Option<f64>,
    /// What was found.
    found: Option<Found>,
    /// A signal ended it before its time.
    stopped: bool,
}

#[derive(Debug, Serialize)]
struct Found {
    #[serde(flatten)]
    catch: Catch,
    /// Its log; none of a case that ended before its first tick.
    #[serde(serialize_with = "crate::path_text::maybe")]
    log: Option<PathBuf>,
    /// The run in the browser.
    #[serde(serialize_with = "crate::path_text::maybe")]
    page: Option<PathBuf>,
    /// A campaign that fails as long as it happens.
    #[serde(serialize_with = "crate::path_text::one")]
    campaign: PathBuf,
}

struct Hunt<'a> {
    judge: Judge<'a>,
    limits: Limits,
    print: &'a dyn Fn(String),
}

impl Hunt<'_> {
    fn run(mut self, common: &Common, out: &Path) -> Result<HuntResult> {
        let mut result = HuntResult::default();
        let print = self.print;
        let caught = hunt::search(&mut self.judge, &self.limits, &mut |p: Progress| {
            let way = if p.at_random { "at random" } else { "guided" };
            let (cases, best) = (p.cases, p.best);
            print(format!("{way:10} {cases} cases, the nearest {best:+.4}"));
            result.best_margin = Some(best).filter(|best| best.is_finite());
        })?;
        result.cases = self.judge.count();
        let Some(caught) = caught else { return self.nothing(result) };
        let changes = self.judge.space().changes(&caught);
        print(format!("found      after {} cases; {changes} changes", result.cases));
        let Some(shrunk) = hunt::shrink(&mut self.judge, caught, self.limits.seed)? else {
            return Ok(result);
        };
        result.shrink_cases = self.judge.count() - result.cases;
        result.refused_cases = self.judge.refused().map_or(0, |(count, _)| count);
        let left = self.judge.space().changes(&shrunk.judged);
        print(format!("shrunk     to {left} changes with {} cases", result.shrink_cases));
        let duration_s = self.duration(&shrunk.judged);
        let Some(kept) = self.judge.keep(FOUND, &shrunk.judged.case, duration_s)? else {
            return Ok(result);
        };
        result.found = Some(self.found(common, out, &shrunk, &kept, duration_s)?);
        Ok(result)
    }

    /// A result without a find; of cases that were all refused it says nothing.
    fn nothing(&self, mut result: HuntResult) -> Result<HuntResult> {
        let Some((count, reason)) = self.judge.refused() else { return Ok(result) };
        result.refused_cases = count;
        // the first case is the scenario as it is, and may have run
        if count + 1 >= result.cases {
            let text = format!("the scenario refuses all {count} cases; the first: {reason}");
            return Err(Error::new(ErrorKind::Input, text));
        }
        (self.print)(format!("refused    {count} cases count as none; the first: {reason}"));
        Ok(result)
    }

    /// Until shortly after it happens, in ms.
    fn duration(&self, judged: &Judged) -> f64 {
        let whole = self.judge.space().duration_s();
        let until_s = ((judged.at_s() + AFTER_S) * 1000.0).ceil() / 1000.0;
        until_s.min(whole)
    }

    fn found(
        &self,
        common: &Common,
        out: &Path,
        shrunk: &Shrunk,
        kept: &Judged,
        duration_s: f64,
    ) -> Result<Found> {
        let catch = Catch::of(self.judge.space(), &common.until, shrunk, kept);
        let campaign = out.join("found.toml");
        let here = std::env::current_dir().map_err(|e| no_place(Path::new("."), &e))?;
        let text = hunt::campaign_text([&campaign, &here], &catch, common, duration_s);
        output_file::write_text("campaign", &campaign, &text)?;
        let below = |name: &Option<String>| name.as_ref().map(|name| out.join(name));
        Ok(Found {
            catch,
            log: below(&kept.outcome.log),
            page: below(&kept.outcome.page),
            campaign,
        })
    }
}

impl HuntResult {
    fn show(&self) {
        let Some(found) = &self.found else {
            let best = self.best_margin.map_or("none".into(), |best| format!("{best:+.4}"));
            show::line(&format!("nothing    in {} cases; the nearest has {best}", self.cases));
            return;
        };
        show::line("");
        show::line(&found.catch.sentence);
        for edge in &found.catch.edges {
            show::line(&format!("           not if {} is {}", edge.name, edge.not_at));
        }
        if !found.catch.repeats {
            show::line(
                "           but not when it was run again: `hardstand certify` shows what differs",
            );
        }
        show::line("");
        if let Some(log) = &found.log {
            show::line(&format!("log        {}", log.display()));
        }
        if let Some(page) = &found.page {
            show::line(&format!("page       {}", page.display()));
        }
        let campaign = quoted(&found.campaign.to_string_lossy());
        show::line(&format!("again      hardstand campaign {campaign} --again"));
    }
}
