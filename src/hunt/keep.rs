//! What is kept of a hunt: a sentence, and a campaign that runs the case again.

use std::path::{Path, PathBuf};

use serde::Serialize;
use toml::{Table, Value};

use super::judge::{Judged, Kind};
use super::shrink::{Edge, Shrunk};
use super::space::Space;
use crate::campaign::{Common, UNTIL};

/// What was caught, in words and as data.
#[derive(Clone, Debug, Serialize)]
pub struct Catch {
    /// What happened.
    pub kind: Kind,
    /// The condition.
    pub until: String,
    /// When, s.
    pub at_s: f64,
    /// One sentence.
    pub sentence: String,
    /// In what the case differs from the scenario.
    pub changes: Vec<String>,
    /// The same as `--set` has it.
    pub sets: Vec<String>,
    /// Where its numbers begin to matter.
    pub edges: Vec<Edge>,
    /// Digest after the last tick, in hex.
    pub digest: String,
}

impl Catch {
    /// Of a shrunk case, which was run again as `kept`.
    #[must_use]
    pub fn of(space: &Space, until: &str, shrunk: &Shrunk, kept: &Judged) -> Self {
        let (case, kind) = (&shrunk.judged.case, shrunk.judged.kind.unwrap_or(Kind::Held));
        let changes = space.words(case);
        let what = match kind {
            Kind::Held => format!("{until} at"),
            Kind::Failure => "the plant stops itself at".into(),
            Kind::ControllerEnded => "the controller ends at".into(),
            Kind::ControllerTimeout => "the controller stops answering at".into(),
        };
        let because = match changes.len() {
            0 => "in the scenario as it is".into(),
            _ => format!("if {}", changes.join(", and ")),
        };
        let at_s = kept.at_s();
        Self {
            kind,
            until: until.into(),
            at_s,
            sentence: format!("{what} {at_s:.3} s {because}"),
            changes,
            sets: space.sets(case),
            edges: shrunk.edges.clone(),
            digest: kept.outcome.digest.clone(),
        }
    }
}

/// A campaign that runs the case again and fails as long as it happens; paths in it begin where
/// `file` lies.
#[must_use]
pub fn campaign_text(file: &Path, catch: &Catch, common: &Common, duration_s: f64) -> String {
    let text = |s: &str| Value::String(s.into());
    let texts = |all: &[String]| Value::Array(all.iter().map(|s| text(s)).collect());
    let words: Vec<String> =
        common.controller.iter().map(|w| w.to_string_lossy().into_owned()).collect();
    let scenario = relative(file, &common.file).display().to_string();
    let ground = Table::from_iter([
        ("name".into(), text("found")),
        ("file".into(), text(&scenario)),
        ("set".into(), texts(&catch.sets)),
    ]);
    let fail_if = match catch.kind {
        Kind::Held => UNTIL,
        Kind::Failure => "failure",
        Kind::ControllerEnded => "controller_ended",
        Kind::ControllerTimeout => "controller_timeout",
    };
    let campaign = Table::from_iter([
        ("controller".into(), texts(&words)),
        ("duration_s".into(), Value::Float(duration_s)),
        ("seeds".into(), Value::Array(vec![Value::Integer(common.seed.into())])),
        ("fail_if".into(), Value::Array(vec![text(fail_if)])),
        ("scenarios".into(), Value::Array(vec![Value::Table(ground)])),
        (
            "conditions".into(),
            Value::Table(Table::from_iter([(UNTIL.into(), text(&common.until))])),
        ),
    ]);
    let name = file.file_name().unwrap_or_default().display();
    format!("# {}\n# hardstand campaign {name}\n\n{campaign}", catch.sentence)
}

/// `to` as seen from the folder of `file`; both are absolute.
fn relative(file: &Path, to: &Path) -> PathBuf {
    let from: Vec<_> = file.parent().unwrap_or(Path::new("/")).components().collect();
    let to: Vec<_> = to.components().collect();
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(std::path::Component::ParentDir, from.len() - same);
    up.chain(to[same..].iter().copied()).collect()
}
