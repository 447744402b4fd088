//! A certificate that is repeated, here or on another machine.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use hardstand_error::{Error, ErrorKind, Result};

use super::certificate::Certificate;
use super::inputs::{FileHasher, InputDifference, Inputs};
use super::plan::REFERENCE;
use crate::process_harness::LOG;

/// What a certificate claims, as far as a repetition needs it.
#[derive(Clone, Debug, Deserialize)]
pub struct Claim {
    /// Of which form it is.
    pub schema: String,
    /// It said so.
    pub certified: bool,
    /// Version of Hardstand.
    pub hardstand: String,
    /// What was simulated.
    pub scenario: ClaimedScene,
    /// The controller.
    pub controller: ClaimedController,
    /// What decided the runs; certificates of older versions do not say it.
    #[serde(default)]
    pub inputs: Option<Inputs>,
    /// All runs, the reference first.
    pub runs: Vec<ClaimedRun>,
}

/// What was simulated.
#[derive(Clone, Debug, Deserialize)]
pub struct ClaimedScene {
    /// Its file.
    pub file: String,
    /// Keys that were set.
    pub set: Vec<String>,
    /// Hash of the physics, 16 hex digits.
    pub physics_hash: String,
    /// Simulated time, s.
    pub duration_s: f64,
}

/// The controller of a claim.
#[derive(Clone, Debug, Deserialize)]
pub struct ClaimedController {
    /// Its command.
    pub command: Vec<String>,
}

/// A run of a claim.
#[derive(Clone, Debug, Deserialize)]
pub struct ClaimedRun {
    /// Its name.
    pub name: String,
    /// Ticks.
    pub ticks: u64,
    /// Digest after the last one, 16 hex digits.
    pub digest: String,
}

/// A claim beside its repetition. As JSON, its fields are those of `docs/certify.md`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// File of the certificate.
    pub of: String,
    /// Its signature was checked. Without a public key it is not.
    pub signature_checked: bool,
    /// Both are certified, and the references have the same ticks and the same digest.
    pub confirmed: bool,
    /// It was certified there.
    pub certified_then: bool,
    /// The scenarios describe the same physics.
    pub same_physics: bool,
    /// Ticks and digest of the reference there.
    pub then: (u64, String),
    /// Ticks and digest of the reference here.
    pub now: (u64, String),
    /// Inputs that differ; `None` if the certificate has none.
    pub differences: Option<Vec<InputDifference>>,
}

impl Claim {
    /// Reads a certificate.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if the file cannot be read; [`ErrorKind::Input`] if it is no
    /// certificate.
    pub fn read(file: &Path) -> Result<Self> {
        let name = file.display();
        let text = std::fs::read_to_string(file)
            .map_err(|e| Error::new(ErrorKind::File, format!("cannot read {name}: {e}")))?;
        let refuse = |why: String| {
            let how = "give the certificate.json that `hardstand certify` has written";
            Error::new(ErrorKind::Input, format!("{name} is no certificate: {why}; {how}"))
        };
        let claim: Self = serde_json::from_str(&text).map_err(|e| refuse(e.to_string()))?;
        if claim.schema != super::SCHEMA {
            return Err(refuse(format!("schema {:?} is not {:?}", claim.schema, super::SCHEMA)));
        }
        if claim.runs.is_empty() || claim.controller.command.is_empty() {
            return Err(refuse("it has no runs, or no command".into()));
        }
        Ok(claim)
    }

    /// Refuses a log of the reference beside the certificate that is not the one it was made with.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with its name; [`ErrorKind::File`] if it cannot be read.
    pub fn refuse_other_log(&self, of: &Path) -> Result<()> {
        let Some(wanted) = self.inputs.as_ref().map(|inputs| &inputs.reference_log.sha256) else {
            return Ok(());
        };
        let log = of.with_file_name(REFERENCE).join(LOG);
        if wanted.is_empty() || !log.is_file() {
            return Ok(());
        }
        let found = FileHasher::default().of(&log)?.sha256;
        if found == *wanted {
            return Ok(());
        }
        let (name, of) = (log.display(), of.display());
        let text = format!(
            "{name} is not the log that {of} was made with: its SHA-256 is {found}, and not \
             {wanted}; give the log that belongs to it, or none"
        );
        Err(Error::new(ErrorKind::Input, text))
    }

    /// Files of the controller that lie here under the same names.
    #[must_use]
    pub fn files_here(&self) -> Vec<PathBuf> {
        let all = self.inputs.iter().flat_map(|inputs| &inputs.controller);
        all.map(|hashed| PathBuf::from(&hashed.file)).filter(|file| file.is_file()).collect()
    }

    /// Compares the claim with a repetition.
    #[must_use]
    pub fn check(&self, of: &Path, signature_checked: bool, now: &Certificate) -> Check {
        let end = |ticks, digest: &str| (ticks, digest.to_string());
        let then = self.runs.first().map_or_else(Default::default, |r| end(r.ticks, &r.digest));
        let here = now.runs.first().map_or_else(Default::default, |r| end(r.ticks, &r.digest));
        Check {
            of: of.display().to_string(),
            signature_checked,
            confirmed: self.certified && now.certified && then == here,
            certified_then: self.certified,
            same_physics: self.scenario.physics_hash == now.scenario.physics_hash,
            then,
            now: here,
            differences: self.inputs.as_ref().map(|then| {
                let mut all = now.inputs.differences(then);
                let [then, now] = [&self.controller.command, &now.controller.command];
                if then != now {
                    let (then, now) = (Some(then.join(" ")), Some(now.join(" ")));
                    let (what, name) = ("command", "of the controller".into());
                    all.insert(0, InputDifference { what, name, then, now });
                }
                all
            }),
        }
    }
}
