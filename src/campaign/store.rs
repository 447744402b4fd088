//! The folder of results: what is finished, and what is not.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hardstand_error::{Error, ErrorKind, Result};

use super::columns::Table;
use super::manifest::Manifest;
use super::outcome::Outcome;
use super::parts;
use super::plan::{Case, Plan};
use super::results::Results;

/// A folder with `campaign.json`, `cases/ID/outcome.json` for each case that is finished, and the
/// tables. Any number of processes may share it.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

const OUTCOME: &str = "outcome.json";
pub(super) const MANIFEST: &str = "campaign.json";
/// Folder of the parts of the table.
const PARTS: &str = "parts";
const TRY: &str = "try-";
/// Folder of the cases, and files of the tables.
const CASES: &str = "cases";
const TABLES: [&str; 2] = ["table.csv", "table.parquet"];

/// A case that runs has a folder `try-N` of its own until it is finished: one that was killed may
/// still have processes that write to theirs. It is locked as long as its campaign lives.
#[derive(Debug)]
pub(super) struct Try {
    pub(super) folder: PathBuf,
    _lock: File,
}

impl Store {
    /// The store in `folder`, which need not exist.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn case(&self, id: &str) -> PathBuf {
        self.folder.join(CASES).join(id)
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// True of the name of a file that is written here.
    #[must_use]
    pub fn writes(&self, file: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
        let (folder, parent) = (real(&self.folder), real(file.parent().unwrap_or(file)));
        let is_named = |name: &&str| parent == folder && file.file_name() == Some(name.as_ref());
        let is_below = |name: &&str| parent.starts_with(folder.join(name));
        TABLES.iter().chain([&MANIFEST]).any(is_named) || [PARTS, CASES].iter().any(is_below)
    }

    /// The outcome of a case, if it is finished. One that cannot be read is none.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if it is the outcome of other inputs.
    pub fn outcome(&self, plan: &Plan, case: &Case) -> Result<Option<Outcome>> {
        let file = self.case(&case.id).join(OUTCOME);
        let Some(outcome) = self.read(&case.id) else { return Ok(None) };
        let now = plan.inputs(case);
        if outcome.inputs == now {
            return Ok(Some(outcome));
        }
        let other = now.as_object().into_iter().flatten();
        let other = other.filter(|(key, value)| outcome.inputs.get(key) != Some(value));
        let keys: Vec<&str> = other.map(|(key, _)| key.as_str()).collect();
        Err(Error::new(
            ErrorKind::Input,
            format!(
                "{} is the outcome of another campaign: {} differs. Take another folder with \
                 --out, or remove this one to run all cases again",
                file.display(),
                keys.join(", ")
            ),
        ))
    }

    /// Refuses a plan with other inputs than an outcome that is here has. Looks at cases that
    /// `slice` does not have; [`to_run`](Self::to_run) looks at the others.
    ///
    /// # Errors
    /// As [`outcome`](Self::outcome).
    pub fn refuse_other(&self, plan: &Plan, slice: &[Case]) -> Result<()> {
        let all = plan.cases();
        if slice.len() == all.len() {
            return Ok(());
        }
        let there = fs::read_dir(self.folder.join(CASES)).into_iter().flatten().flatten();
        let there: BTreeSet<_> = there.map(|case| case.file_name()).collect();
        let slice: BTreeSet<&str> = slice.iter().map(|case| case.id.as_str()).collect();
        for case in all {
            let id = case.id.as_str();
            if there.contains(OsStr::new(id)) && !slice.contains(id) {
                self.outcome(plan, &case)?;
            }
        }
        Ok(())
    }

    /// What the folder holds the results of.
    ///
    /// # Errors
    /// Why `campaign.json` cannot be read.
    pub fn manifest(&self) -> std::result::Result<Manifest, String> {
        let bytes = fs::read(self.folder.join(MANIFEST)).map_err(|e| e.to_string())?;
        serde_json::from_slice(&bytes).map_err(|e| e.to_string())
    }

    /// The outcome of a case, whatever its inputs.
    pub(super) fn read(&self, id: &str) -> Option<Outcome> {
        let case = self.case(id);
        let read = || fs::read(case.join(OUTCOME)).ok();
        let bytes = read().or_else(|| {
            // another campaign may be replacing it
            let gate = File::open(&case).ok()?;
            let _locked = gate.lock_shared().is_ok();
            read()
        })?;
        serde_json::from_slice(&bytes).ok()
    }

    /// What time it is for files of the folder, if one can be made.
    #[must_use]
    pub fn time(&self) -> Option<SystemTime> {
        fs::create_dir_all(&self.folder).ok()?;
        let file = self.folder.join(format!(".time-{}", std::process::id()));
        let time = File::create(&file).and_then(|file| file.metadata()?.modified());
        let _removed = fs::remove_file(&file).is_ok();
        time.ok()
    }

    /// The first of `cases` that has no outcome, or a daemon that failed before `began`: the
    /// process that has its slice runs it again.
    ///
    /// # Errors
    /// As [`outcome`](Self::outcome).
    pub fn awaited<'a>(
        &self,
        plan: &Plan,
        cases: &'a [Case],
        began: Option<SystemTime>,
    ) -> Result<Option<&'a Case>> {
        for case in cases {
            let is_old = || {
                let file = fs::metadata(self.case(&case.id).join(OUTCOME));
                file.and_then(|file| file.modified()).is_ok_and(|written| Some(written) < began)
            };
            match self.outcome(plan, case)? {
                Some(outcome) if outcome.outcome.is_verdict() || !is_old() => {}
                _ => return Ok(Some(case)),
            }
        }
        Ok(None)
    }

    /// Those of `cases` that are to be run: without an outcome, or with a daemon that failed, which
    /// says nothing about the case.
    ///
    /// # Errors
    /// As [`outcome`](Self::outcome).
    pub fn to_run(&self, plan: &Plan, cases: Vec<Case>) -> Result<Vec<Case>> {
        let mut open = Vec::new();
        for case in cases {
            let stored = self.outcome(plan, &case)?;
            if !stored.is_some_and(|outcome| outcome.outcome.is_verdict()) {
                open.push(case);
            }
        }
        Ok(open)
    }

    /// Forgets the outcomes of `cases`, whatever they were run with.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if one cannot be removed.
    pub fn forget_outcomes(&self, cases: &[Case]) -> Result<()> {
        for case in cases {
            let file = self.case(&case.id).join(OUTCOME);
            match fs::remove_file(&file) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(refused(&file, &e)),
                _ => {}
            }
        }
        Ok(())
    }

    /// A folder for a case that is to be run. What is left of one that was killed goes.
    pub(super) fn begin(&self, id: &str) -> Result<Try> {
        let case = self.case(id);
        fs::create_dir_all(&case).map_err(|e| refused(&case, &e))?;
        // another campaign must not take a folder for a dead one before it is locked
        let gate = File::open(&case).map_err(|e| refused(&case, &e))?;
        let _locked = gate.lock().is_ok();
        for entry in fs::read_dir(&case).map_err(|e| refused(&case, &e))?.flatten() {
            let dead = || File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok());
            if entry.file_name().to_string_lossy().starts_with(TRY) && dead() {
                forget(&entry.path());
            }
        }
        let folder = fresh(&case, TRY)?;
        let lock = File::open(&folder).map_err(|e| refused(&folder, &e))?;
        // a folder that cannot be locked counts as in use
        let _locked = lock.try_lock().is_ok();
        Ok(Try { folder, _lock: lock })
    }

    /// Makes the files of a try true of the case's folder, where [`finish`](Self::finish) moves
    /// them, and returns the place there of the first of `logs` that there is.
    pub(super) fn keep(&self, id: &str, tried: &Try, logs: &[PathBuf]) -> Result<Option<String>> {
        let (case, folder) = (self.case(id), &tried.folder);
        for entry in fs::read_dir(folder).map_err(|e| refused(folder, &e))?.flatten() {
            let file = entry.path();
            if file.extension().is_some_and(|extension| extension == "txt") {
                let text = fs::read(&file).map_err(|e| refused(&file, &e))?;
                let text = String::from_utf8_lossy(&text);
                let text = text.replace(&*folder.to_string_lossy(), &case.to_string_lossy());
                fs::write(&file, text).map_err(|e| refused(&file, &e))?;
            }
        }
        let log = logs.iter().find(|log| folder.join(log).is_file());
        Ok(log.map(|log| format!("cases/{id}/{}", log.display())))
    }

    /// Draws the pages of a case whose logs are kept, and returns the place of the first; none if
    /// no log can be shown.
    pub(super) fn draw(id: &str, tried: &Try, logs: &[PathBuf]) -> Option<String> {
        let folder = &tried.folder;
        let page_of = |log: &PathBuf| {
            let page = log.with_extension("html");
            write_page(&folder.join(log), &folder.join(&page)).then_some(page)
        };
        let pages: Vec<PathBuf> = logs.iter().filter_map(page_of).collect();
        Some(format!("cases/{id}/{}", pages.first()?.display()))
    }

    /// The case is finished: its outcome is there whole, or not at all, and beside it lies nothing
    /// of an earlier one. The files of the try stay if they are `kept`.
    pub(super) fn finish(&self, outcome: &Outcome, tried: &Try, kept: bool) -> Result<()> {
        let text = serde_json::to_vec_pretty(outcome);
        let text = text.map_err(|e| Error::new(ErrorKind::Internal, format!("outcome: {e}")))?;
        let (case, folder) = (self.case(&outcome.case), &tried.folder);
        // another campaign may be finishing the same case
        let gate = File::open(&case).map_err(|e| refused(&case, &e))?;
        let _locked = gate.lock().is_ok();
        clear(&case)?;
        if kept {
            for entry in fs::read_dir(folder).map_err(|e| refused(folder, &e))?.flatten() {
                let to = case.join(entry.file_name());
                fs::rename(entry.path(), &to).map_err(|e| refused(&to, &e))?;
            }
        }
        let (new, to) = (folder.join(OUTCOME), case.join(OUTCOME));
        fs::write(&new, text).map_err(|e| refused(&new, &e))?;
        fs::rename(&new, &to).map_err(|e| refused(&to, &e))?;
        forget(folder);
        Ok(())
    }

    /// Writes `campaign.json`, so that what is finished can be read whatever comes. What ran cases
    /// before stays in it.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if it cannot be written.
    pub fn write_manifest(&self, manifest: Manifest) -> Result<()> {
        let _lock = self.lock()?;
        self.note(manifest).map(|_| ())
    }

    /// Writes `campaign.json` and both tables of all outcomes that are there, and the parts of the
    /// slice `shard`; returns all outcomes.
    ///
    /// # Errors
    /// As [`outcome`](Self::outcome); [`ErrorKind::File`] if they cannot be written.
    pub fn write_tables(
        &self,
        plan: &Plan,
        manifest: Manifest,
        shard: [usize; 2],
    ) -> Result<Results> {
        // of several that end at a time the last one sees all outcomes; where a folder cannot be
        // locked, `--table` makes the table again
        let _lock = self.lock()?;
        let mut cases = Vec::new();
        for case in plan.cases() {
            let outcome = self.outcome(plan, &case)?;
            cases.push((case, outcome));
        }
        let manifest = self.note(manifest)?;
        let results = Results { folder: self.folder.clone(), manifest, cases };
        let table = Table::of(&results);
        for (file, bytes) in self.tables().iter().zip([table.csv()?, table.parquet()?]) {
            replace(file, &bytes)?;
        }
        let slice = plan.slice(shard);
        let ids = slice.iter().map(|case| case.id.as_str()).collect();
        parts::write(&self.folder.join(PARTS), &results.only(&ids), shard)?;
        Ok(results)
    }

    /// The folder, locked if that is possible, until it is dropped.
    fn lock(&self) -> Result<File> {
        fs::create_dir_all(&self.folder).map_err(|e| refused(&self.folder, &e))?;
        let lock = File::open(&self.folder).map_err(|e| refused(&self.folder, &e))?;
        let _locked = lock.lock().is_ok();
        Ok(lock)
    }

    /// Writes `campaign.json` with what it says already of what ran cases.
    fn note(&self, mut manifest: Manifest) -> Result<Manifest> {
        let file = self.folder.join(MANIFEST);
        let made_by = std::mem::take(&mut manifest.made_by);
        manifest.add_makers(self.manifest().unwrap_or_default().made_by);
        manifest.add_makers(made_by);
        let text = serde_json::to_vec_pretty(&manifest)
            .map_err(|e| Error::new(ErrorKind::Internal, format!("{MANIFEST}: {e}")))?;
        replace(&file, &text)?;
        Ok(manifest)
    }

    /// The files of the tables: CSV, Parquet.
    #[must_use]
    pub fn tables(&self) -> [PathBuf; 2] {
        TABLES.map(|name| self.folder.join(name))
    }
}

/// A new folder in `parent` for this user only: the first free one of `prefix0`, `prefix1`, …
pub(super) fn fresh(parent: &Path, prefix: &str) -> Result<PathBuf> {
    for n in 0_u32.. {
        let folder = parent.join(format!("{prefix}{n}"));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(refused(&folder, &e)),
        }
    }
    Err(Error::new(ErrorKind::File, format!("{}: full of {prefix}", parent.display())))
}

/// Removes what an earlier outcome of a case has left, the outcome first: without it, the rest says
/// nothing. Tries may be running.
fn clear(case: &Path) -> Result<()> {
    let outcome = case.join(OUTCOME);
    let others = fs::read_dir(case).map_err(|e| refused(case, &e))?.flatten();
    let others = others.filter(|e| !e.file_name().to_string_lossy().starts_with(TRY));
    for file in std::iter::once(outcome).chain(others.map(|entry| entry.path())) {
        match if file.is_dir() { fs::remove_dir_all(&file) } else { fs::remove_file(&file) } {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(refused(&file, &e)),
            _ => {}
        }
    }
    Ok(())
}

/// Removes a folder of ours. What is in use goes when it is no longer.
pub(super) fn forget(folder: &Path) {
    let _gone = fs::remove_dir_all(folder).is_ok();
}

/// Writes a file: it is there whole, or as it was.
pub(super) fn replace(file: &Path, bytes: &[u8]) -> Result<()> {
    let new = file.with_extension("new");
    fs::write(&new, bytes).map_err(|e| refused(&new, &e))?;
    fs::rename(&new, file).map_err(|e| refused(file, &e))
}

pub(super) fn refused(path: &Path, e: &std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("cannot write {}: {e}", path.display()))
}

#[cfg(feature = "view")]
fn write_page(log: &Path, page: &Path) -> bool {
    // a log that breaks off before its first tick has nothing to show
    crate::view::write_page(log, None, page).is_ok()
}

#[cfg(not(feature = "view"))]
const fn write_page(_log: &Path, _page: &Path) -> bool {
    false
}
