//! What is kept of a hunt: a sentence, and a campaign that runs the case again.

use std::path::Path;

use serde::Serialize;
use toml::{Table, Value};

use super::judge::{Judged, Kind};
use super::shrink::{Edge, Shrunk};
use super::space::Space;
use crate::campaign::{Common, UNTIL, Way, Word, relative};

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
    /// True if the same happened when the case was run again.
    pub repeats: bool,
}

impl Catch {
    /// Of a shrunk case, which was run again as `kept`.
    #[must_use]
    pub fn of(space: &Space, until: &str, shrunk: &Shrunk, kept: &Judged) -> Self {
        let repeats = shrunk.judged.repeats(kept);
        let judged = if repeats { kept } else { &shrunk.judged };
        let (case, kind) = (&judged.case, judged.kind.unwrap_or(Kind::Held));
        let changes = space.words(case);
        let what = match kind {
            Kind::Held => format!("{until} at"),
            Kind::Failure => "the plant stops itself at".into(),
            Kind::ControllerEnded => {
                let why = judged.outcome.reason.trim_start_matches("the controller's ");
                format!("the controller ends ({why}) at")
            }
            Kind::ControllerTimeout if judged.outcome.ticks == 0 => {
                "the controller does not join within control.patience_s, at".into()
            }
            Kind::ControllerTimeout => "the controller stops answering at".into(),
        };
        let because = match changes.len() {
            0 => "in the scenario as it is".into(),
            _ => format!("if {}", changes.join(", and ")),
        };
        let at_s = judged.at_s();
        Self {
            kind,
            until: until.into(),
            at_s,
            sentence: format!("{what} {at_s:.3} s {because}"),
            changes,
            sets: space.sets(case),
            edges: shrunk.edges.clone(),
            digest: judged.outcome.digest.clone(),
            repeats,
        }
    }
}

/// A campaign that runs the case again and fails as long as it happens, or the run does not reach
/// its end. Paths in it begin where `file` lies; the controller's command runs in `here`.
#[must_use]
pub fn campaign_text(
    [file, here]: [&Path; 2],
    catch: &Catch,
    common: &Common,
    duration_s: f64,
) -> String {
    let text = |s: &str| Value::String(s.into());
    let texts = |all: &[String]| Value::Array(all.iter().map(|s| text(s)).collect());
    let words: Vec<String> =
        common.controller.iter().map(|w| w.to_string_lossy().into_owned()).collect();
    // links and ".." are followed, for the way back from a folder does not lead over them
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    let folder = real(file.parent().unwrap_or(Path::new("/")));
    let to = |to: &Path| relative(&folder, &real(to)).display().to_string();
    let [scenario, here] = [to(&common.file), to(here)];
    let ground = Table::from_iter([
        ("name".into(), text("found")),
        ("file".into(), text(&scenario)),
        ("set".into(), texts(&catch.sets)),
    ]);
    let not_done = Word::ALL.into_iter().filter(|word| *word != Word::Done).map(Word::word);
    let fail_if = std::iter::once(UNTIL).chain(not_done).map(text).collect();
    let mut campaign = Table::from_iter([
        ("controller".into(), texts(&words)),
        ("controller_folder".into(), text(if here.is_empty() { "." } else { &here })),
        ("duration_s".into(), Value::Float(duration_s)),
        ("seeds".into(), Value::Array(vec![Value::Integer(common.seed.into())])),
        ("fail_if".into(), Value::Array(fail_if)),
        ("scenarios".into(), Value::Array(vec![Value::Table(ground)])),
        (
            "conditions".into(),
            Value::Table(Table::from_iter([(UNTIL.into(), text(&common.until))])),
        ),
    ]);
    let way = match common.way {
        Way::OwnProcess => None,
        Way::StaysUp => Some("controller_resets"),
        Way::InProcess => Some("in_process"),
    };
    campaign.extend(way.map(|key| (key.into(), Value::Boolean(true))));
    let name = file.file_name().unwrap_or_default().display();
    let sentence = catch.sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("# {sentence}\n# hardstand campaign {name} --again\n\n{campaign}")
}
