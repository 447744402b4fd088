//! `hardstand campaign report`: the results for people and for continuous integration.

use std::path::PathBuf;

use serde::Serialize;

use crate::campaign::{Grade, Results, Store};
use hardstand_error::{Error, ErrorKind, Result};

use super::super::arguments::{CampaignReportArguments, ReportFiles};
use super::super::{ExitCode, output_file, show};
use super::{code, no_place, page};

/// Where reports are written, whatever the current folder is by then.
pub(super) struct Places {
    junit: Option<PathBuf>,
    html: Option<PathBuf>,
}

impl Places {
    pub(super) fn of(a: &ReportFiles) -> Result<Self> {
        if let (Some(junit), Some(html)) = (&a.junit, &a.html)
            && (junit == html || output_file::are_one(junit, html))
        {
            let text = format!("--junit and --html are both {}; choose two names", junit.display());
            return Err(Error::new(ErrorKind::Input, text));
        }
        let absolute = |file: &Option<PathBuf>| {
            let file = file.as_ref();
            file.map(|f| std::path::absolute(f).map_err(|e| no_place(f, &e))).transpose()
        };
        Ok(Self { junit: absolute(&a.junit)?, html: absolute(&a.html)? })
    }

    /// Refuses names of `inputs` and of files of the results, and files that cannot be written.
    pub(super) fn check(
        &self,
        inputs: impl IntoIterator<Item = PathBuf>,
        store: &Store,
    ) -> Result<()> {
        let inputs: Vec<PathBuf> = inputs.into_iter().collect();
        for (option, to) in [("--junit", &self.junit), ("--html", &self.html)] {
            let Some(to) = to else { continue };
            output_file::check(option, to, inputs.iter().map(PathBuf::as_path))?;
            if store.writes(to)
                || store.tables().iter().any(|table| output_file::is_same(table, to))
            {
                let text = format!(
                    "{option} is {}, a place of the campaign's own results; choose another name",
                    to.display()
                );
                return Err(Error::new(ErrorKind::Input, text));
            }
            // the folder of the results need not exist yet
            if to.parent() != Some(store.folder()) || store.folder().exists() {
                output_file::check_writable(option, to)?;
            }
        }
        Ok(())
    }

    /// Writes those that were asked for.
    pub(super) fn write(&self, results: &Results) -> Result<()> {
        if let Some(file) = &self.junit {
            output_file::write_text("JUnit report", file, &results.junit())?;
        }
        if let Some(file) = &self.html {
            output_file::write_text("page", file, &page::page(results, file)?)?;
        }
        Ok(())
    }

    pub(super) fn show(&self) {
        for (name, file) in [("junit", &self.junit), ("html", &self.html)] {
            if let Some(file) = file {
                show::line(&format!("{name:10} {}", file.display()));
            }
        }
    }
}

/// The counts of a report.
#[derive(Debug, Serialize)]
struct ReportResult {
    cases: usize,
    passed: usize,
    /// By `fail_if`.
    failed: usize,
    /// Did not reach their end, and `fail_if` does not name that.
    broken: usize,
    missing: usize,
    /// Of those that did not reach their end, those whose daemon failed: they say nothing.
    daemon_failed: usize,
    #[serde(serialize_with = "crate::path_text::maybe")]
    junit: Option<PathBuf>,
    #[serde(serialize_with = "crate::path_text::maybe")]
    html: Option<PathBuf>,
}

pub(super) fn report(a: &CampaignReportArguments) -> Result<ExitCode> {
    let folder = std::path::absolute(&a.folder).map_err(|e| no_place(&a.folder, &e))?;
    let results = Results::open(&folder)?;
    results.refuse_mixed()?;
    let places = Places::of(&a.reports)?;
    places.check(results.manifest.files(), &Store::new(folder))?;
    places.write(&results)?;
    let grades: Vec<Grade> =
        results.cases.iter().map(|(_, o)| results.judge(o.as_ref()).grade).collect();
    let count = |grade| grades.iter().filter(|g| **g == grade).count();
    let result = ReportResult {
        cases: grades.len(),
        passed: count(Grade::Passed),
        failed: count(Grade::Failed),
        broken: count(Grade::Broken),
        missing: count(Grade::Unfinished),
        daemon_failed: results.finished().filter(|(_, o)| !o.outcome.is_verdict()).count(),
        junit: places.junit.clone(),
        html: places.html.clone(),
    };
    if a.json {
        show::json(&result)?;
    } else {
        let ReportResult { cases, passed, failed, broken, missing, .. } = &result;
        show::line(&format!(
            "cases      {cases}: {passed} passed, {failed} failed by fail_if, {broken} did not \
             reach their end, {missing} missing"
        ));
        places.show();
    }
    Ok(code(result.missing, result.failed, result.daemon_failed))
}
