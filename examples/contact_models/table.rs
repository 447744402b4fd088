//! The measured part of the page.

use std::fmt::Write as _;
use std::path::Path;

use crate::bodies::{Bounce, Slide};
use crate::cost::Costs;
use crate::landing::{Run, STEPS_US, Trial, longest_us};
use crate::scenes::{KINDS, Result};
use crate::slope::Way;

/// All measurements, in the order of [`KINDS`].
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) costs: Costs,
    pub(crate) machine: String,
    pub(crate) landings: Vec<Run>,
    /// Peaks of the landing with micro-steps of 25 µs, N.
    pub(crate) fine_peaks_n: Vec<f64>,
    pub(crate) trials: Vec<Vec<Trial>>,
    pub(crate) slopes: Vec<Way>,
    /// With micro-steps of 25 µs.
    pub(crate) fine_slopes: Vec<Way>,
    pub(crate) slides: Vec<Slide>,
    pub(crate) bounces: Vec<Bounce>,
    /// Longest micro-step for the drives alone, µs.
    pub(crate) drives_us: u64,
}

/// The measurements in Markdown.
pub(crate) fn fragment(m: &Measured) -> String {
    let mut t = String::from("|");
    for kind in &KINDS {
        let _ = write!(t, " | {}", kind.name);
    }
    t.push_str(" |\n| --- | --- | --- | --- |\n");
    landing_rows(&mut t, m);
    let mut row = |name: &str, cell: &dyn Fn(usize) -> String| write_row(&mut t, name, cell);
    row("slope of 10°: way in 60 s, m; chatter, N", &|i| way(&m.slopes[i]));
    row("the same with micro-steps of 25 µs", &|i| way(&m.fine_slopes[i]));
    row("box: slower than 1 cm/s after, s", &|i| format!("{:.4}", m.slides[i].stop_s));
    row("ball: restitution", &|i| {
        let b = &m.bounces[i];
        format!("{:.3} at {:.2} m/s", b.restitution, b.speed_m_per_s)
    });
    row("the same from the law alone", &|i| match m.bounces[i].closed_form {
        e if e.is_nan() => "0".into(),
        e => format!("{e:.3}"),
    });
    for (k, name) in ["4 stations", "12 stations"].iter().enumerate() {
        row(&format!("cost of a micro-step, {name}: median (90 %), µs"), &|i| {
            let [median, most] = m.costs[i][k];
            format!("{median:.2} ({most:.2})")
        });
    }
    row("longest good micro-step, µs", &|i| longest_us(&m.trials[i], false).to_string());
    row("longest one without chatter, µs", &|i| longest_us(&m.trials[i], true).to_string());
    let (machine, drives_us) = (&m.machine, m.drives_us);
    let _ = write!(t, "\nCosts on {machine}. ");
    let _ = writeln!(t, "The drives alone, without ground and gravity, bear {drives_us} µs.\n");
    step_rows(&mut t, m);
    t
}

fn way(way: &Way) -> String {
    format!("{:.2e}; {:.2}", way.m, way.chatter_n)
}

fn landing_rows(t: &mut String, m: &Measured) {
    let run = |i: usize| &m.landings[i];
    let mut row = |name: &str, cell: &dyn Fn(usize) -> String| write_row(t, name, cell);
    row("landing: mean force on the robot, first 0.1 s, N", &|i| format!("{:.0}", run(i).mean_n));
    row("landing: peak on one foot, N", &|i| format!("{:.0}", run(i).peak_n));
    row("the same with micro-steps of 25 µs, N", &|i| format!("{:.0}", m.fine_peaks_n[i]));
    row("landing: greatest depth, mm", &|i| format!("{:.3}", run(i).deepest_mm));
    row("standing: depth of a foot under its load, mm", &|i| {
        let [force_n, depth_mm] = run(i).standing;
        format!("{:.3} at {force_n:.1} N", (depth_mm * 1e3).round() / 1e3 + 0.0)
    });
    row("pushed: ends beside its place by, mm", &|i| format!("{:.1}", run(i).shift_mm));
}

fn write_row(t: &mut String, name: &str, cell: &dyn Fn(usize) -> String) {
    let _ = write!(t, "| {name}");
    for i in 0..KINDS.len() {
        let _ = write!(t, " | {}", cell(i));
    }
    t.push_str(" |\n");
}

/// Rise of the energy by micro-step.
fn step_rows(t: &mut String, m: &Measured) {
    t.push_str("| micro-step, µs: rise of energy, J; chatter, N");
    for kind in &KINDS {
        let _ = write!(t, " | {}", kind.name);
    }
    t.push_str(" |\n| --- | --- | --- | --- |\n");
    for (k, h_us) in STEPS_US.iter().enumerate() {
        write_row(t, &h_us.to_string(), &|i| {
            let trial = &m.trials[i][k];
            if !trial.sound {
                return "stops itself".into();
            }
            let numbers = format!("{:.3}; {:.2}", trial.rise_j, trial.chatter_n);
            match (trial.stands, trial.good) {
                (false, _) => format!("{numbers}: does not stand"),
                (_, false) => format!("{numbers}: gains energy"),
                _ => numbers,
            }
        });
    }
}

const BEGIN: &str = "<!-- measured: written by examples/contact_models -->\n";
const END: &str = "<!-- end of measured -->\n";

/// Replaces the text between the two marks of the page, if the page exists.
pub(crate) fn replace_in_page(page: &Path, fragment: &str) -> Result<()> {
    if !page.exists() {
        return Ok(());
    }
    let text = std::fs::read_to_string(page)?;
    let parts = text.split_once(BEGIN).and_then(|(a, rest)| Some((a, rest.split_once(END)?.1)));
    let Some((before, after)) = parts else {
        return Err(format!("{} lacks the marks of the measured part", page.display()).into());
    };
    std::fs::write(page, format!("{before}{BEGIN}\n{fragment}\n{END}{after}"))?;
    Ok(())
}
