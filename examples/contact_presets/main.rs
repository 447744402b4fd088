//! Each preset beside what it matches: the plots and the table of docs/contact.md.
//!
//! ```text
//! cargo run --release --no-default-features --example contact_presets
//! ```
//!
//! Reads what `benches/contact_presets/mujoco_reference.py` has written.
#![allow(clippy::disallowed_methods, reason = "what is only shown needs no pinned functions")]
#![allow(clippy::print_stdout, non_snake_case, reason = "an example; monogram notation")]

#[path = "../cube_tosses/cube/mod.rs"]
#[allow(dead_code, reason = "the example reads the data and the first states")]
mod cube;
mod fall;
#[path = "../contact_models/plot.rs"]
mod plot;
mod scenes;
mod toss;

use std::path::Path;

use fall::{BALL, BOX, Body, Reference, TENNIS_BALL, differences_m, extremes_m, fall as drop_body};
use plot::{Panel, Points, draw};
use scenes::{Kind, Result};

const OURS: Kind = Kind { name: "this preset", colour: (0, 114, 178) };
const DEFAULT: Kind = Kind { name: "default of this project", colour: (150, 150, 150) };
const MUJOCO: Kind = Kind { name: "MuJoCo", colour: (213, 94, 0) };
const CAMERA: Kind = Kind { name: "camera", colour: (213, 94, 0) };
const LIMITS: Kind = Kind { name: "limits of the ITF", colour: (213, 94, 0) };
const BEGIN: &str = "<!-- presets: written by examples/contact_presets -->";
const END: &str = "<!-- end of presets -->";
/// Height of the fall, m, and end of the comparison, s.
const FALL: (f64, f64) = (0.1, 0.6);

fn main() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut table = String::from(
        "| against MuJoCo, a fall from 0.1 m | depth at rest, mm | greatest depth, mm | highest after \
         it, mm | difference: rms, mm | greatest, mm |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for preset in ["mujoco_default", "mujoco_stiff"] {
        for (name, body) in [("ball", &BALL), ("box", &BOX)] {
            table.push_str(&compare(root, preset, name, body)?);
        }
        plot_fall(root, preset)?;
    }
    let text = format!("{table}\n{}\n{}", plastic(root)?, tennis_ball(root)?);
    print!("{text}");
    replace_in_page(&root.join("docs/contact.md"), &format!("\n{text}\n"))
}

fn reference(root: &Path, preset: &str, name: &str) -> Result<Reference> {
    let path = root.join(format!("benches/contact_presets/{preset}_{name}.csv"));
    Reference::parse(&std::fs::read_to_string(path)?)
}

/// Two rows of the table: MuJoCo's and ours.
fn compare(root: &Path, preset: &str, name: &str, body: &Body) -> Result<String> {
    let of_mujoco = reference(root, preset, name)?;
    let set = format!("contact.preset={preset}");
    let ours = drop_body(&[&set], body, FALL.0, FALL.1)?;
    let rest = drop_body(&[&set], body, 0.0, 3.0)?;
    let rest_m = rest.last().map_or(f64::NAN, |p| p.1);
    let [rms_m, greatest_m] = differences_m(&ours, &of_mujoco.points);
    let row = |who: &str, rest_m: f64, [low_m, high_m]: [f64; 2], differences: &str| {
        let (rest, low, high) = (-1e3 * rest_m, -1e3 * low_m, 1e3 * high_m);
        format!("| {name}, {who} | {rest:.4} | {low:.3} | {high:.3} | {differences} |\n")
    };
    let differences = format!("{:.3} | {:.3}", 1e3 * rms_m, 1e3 * greatest_m);
    let theirs = format!("MuJoCo, {}", solref(preset));
    Ok(row(&theirs, of_mujoco.rest_m, of_mujoco.extremes_m, "– | –")
        + &row(&format!("`{preset}`"), rest_m, extremes_m(&ours), &differences))
}

fn solref(preset: &str) -> &'static str {
    if preset == "mujoco_stiff" { "solref 0.002 1" } else { "solref 0.02 1" }
}

fn in_mm(points: &Points) -> Points {
    points.iter().map(|&(t, z)| (t, 1e3 * z)).collect()
}

/// The whole fall at the left, what is below the plane at the right.
fn plot_fall(root: &Path, preset: &str) -> Result<()> {
    let of_mujoco = in_mm(&reference(root, preset, "ball")?.points);
    let set = format!("contact.preset={preset}");
    let ours = in_mm(&drop_body(&[&set], &BALL, FALL.0, FALL.1)?);
    let default = in_mm(&drop_body(&[], &BALL, FALL.0, FALL.1)?);
    let (y_mm, end_s) =
        if preset == "mujoco_stiff" { ([-1.5, 1.5], 0.25) } else { ([-12.0, 6.0], 0.4) };
    let panel = |title: String, x, y| Panel {
        title,
        x_title: "time (s)",
        y_title: "height of the lowest point (mm)",
        x,
        y,
        log: false,
    };
    let panels = [
        panel(format!("a ball falls: {preset}"), [0.0, FALL.1], [-20.0, 100.0]),
        panel("the contact".into(), [0.13, end_s], y_mm),
    ];
    let curves = vec![(&DEFAULT, &default), (&MUJOCO, &of_mujoco), (&OURS, &ours)];
    let path = root.join(format!("docs/contact/preset-{preset}.svg"));
    draw(&path, &panels, &[curves.clone(), curves])
}

/// Tosses of an acrylic cube beside what a camera saw.
fn plastic(root: &Path) -> Result<String> {
    let of = cube::data::load(&root.join("tests/data/cube_tosses.json.gz"))
        .map_err(|e| e.to_string())?;
    let mut text =
        String::from("| toss of an acrylic cube, mean error of its centre, % of its width |");
    for i in 1..=of.tosses.len() {
        text.push_str(&format!(" {i} |"));
    }
    text.push_str(&format!("\n| --- |{}\n", " --- |".repeat(of.tosses.len())));
    for (name, set) in [("`plastic`", "contact.preset=plastic"), ("default", "contact.preset=none")]
    {
        text.push_str(&format!("| {name} |"));
        for toss in &of.tosses {
            let percent = toss::predict(&[set], &of, toss)?.error_percent(of.half_width_m);
            text.push_str(&format!(" {percent:.1} |"));
        }
        text.push('\n');
    }
    let ours = toss::predict(&["contact.preset=plastic"], &of, &of.tosses[0])?;
    let default = toss::predict(&[], &of, &of.tosses[0])?;
    let height = |points: &[(f64, _)]| -> Points {
        points
            .iter()
            .map(|(t, p): &(f64, hardstand_physics::spatial::Vec3)| (*t, 1e3 * p.z))
            .collect()
    };
    let curves = [height(&default.predicted), height(&ours.seen), height(&ours.predicted)];
    let end_s = ours.seen.last().map_or(0.0, |p| p.0);
    let panel = Panel {
        title: "the first toss of an acrylic cube".into(),
        x_title: "time (s)",
        y_title: "height of the centre (mm)",
        x: [0.0, end_s],
        y: [0.0, 250.0],
        log: false,
    };
    let curves = vec![(&DEFAULT, &curves[0]), (&CAMERA, &curves[1]), (&OURS, &curves[2])];
    draw(&root.join("docs/contact/preset-plastic.svg"), &[panel], &[curves])?;
    Ok(text)
}

/// Rebound and deformation beside the limits of the ITF.
fn tennis_ball(root: &Path) -> Result<String> {
    let preset = ["contact.preset=tennis_ball"];
    let ours = drop_body(&preset, &TENNIS_BALL, 2.54, 1.6)?;
    let default = drop_body(&[], &TENNIS_BALL, 2.54, 1.6)?;
    let ([_, ours_m], [_, default_m]) = (extremes_m(&ours), extremes_m(&default));
    let heavy = Body { mass_kg: 80.07 / 9.81, ..TENNIS_BALL };
    let pressed = drop_body(&preset, &heavy, -0.00325, 4.0)?;
    let depth_mm = pressed.last().map_or(f64::NAN, |p| -2e3 * p.1);
    let limits: Points = vec![(0.0, 1.35), (1.6, 1.35), (1.6, 1.47), (0.0, 1.47)];
    let panel = Panel {
        title: "a tennis ball falls from 2.54 m".into(),
        x_title: "time (s)",
        y_title: "height of the lowest point (m)",
        x: [0.0, 1.6],
        y: [-0.05, 2.6],
        log: false,
    };
    let curves = vec![(&DEFAULT, &default), (&LIMITS, &limits), (&OURS, &ours)];
    draw(&root.join("docs/contact/preset-tennis_ball.svg"), &[panel], &[curves])?;
    Ok(format!(
        "| a tennis ball | ITF, type 2 | `tennis_ball` | default |\n| --- | --- | --- | --- |\n\
         | rebound from 2.54 m, m | 1.35 to 1.47 | {ours_m:.3} | {default_m:.3} |\n\
         | deformation by 80.07 N, two sides, mm | 5.6 to 7.4 | {depth_mm:.2} | – |\n"
    ))
}

fn replace_in_page(page: &Path, fragment: &str) -> Result<()> {
    let text = std::fs::read_to_string(page)?;
    let parts = text.split_once(BEGIN).and_then(|(a, rest)| Some((a, rest.split_once(END)?.1)));
    let (before, after) = parts.ok_or("docs/contact.md lacks the marks of the presets")?;
    Ok(std::fs::write(page, format!("{before}{BEGIN}\n{fragment}\n{END}{after}"))?)
}
