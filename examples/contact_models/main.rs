//! The three contact models in the same scenes: the plots and the table of docs/contact.md.
//!
//! ```text
//! cargo run --release --no-default-features --example contact_models [-- OUT_DIR]
//! ```
//!
//! Writes SVG plots and `table.md` to OUT_DIR (docs/contact). If there is a page of the folder's
//! name beside it, docs/contact.md, the table there is replaced, too.
#![allow(clippy::disallowed_methods, reason = "what is only shown needs no pinned functions")]
#![allow(clippy::print_stdout, non_snake_case, reason = "an example; monogram notation")]

mod bodies;
mod cost;
mod landing;
mod plot;
mod scenes;
mod slope;
mod table;

use std::path::{Path, PathBuf};

use plot::{Panel, Points, draw};
use scenes::{KINDS, Kind, Result};
use table::Measured;

fn main() -> Result<()> {
    let out = std::env::args().nth(1).map_or_else(default_folder, PathBuf::from);
    std::fs::create_dir_all(&out)?;
    let costs = cost::measure()?;
    let mut measured = Measured { costs, machine: cost::machine(), ..Measured::default() };
    for kind in &KINDS {
        measured.landings.push(landing::run(kind, 100_000)?);
        measured.fine_peaks_n.push(landing::run(kind, 25_000)?.peak_n);
        measured.trials.push(landing::trials(kind)?);
        measured.slopes.push(slope::run(kind, 100_000)?);
        measured.fine_slopes.push(slope::run(kind, 25_000)?);
        measured.slides.push(bodies::slide(kind)?);
        measured.bounces.push(bodies::bounce(kind)?);
    }
    measured.drives_us = landing::drives_us(&KINDS[0])?;
    plots(&out, &measured)?;
    let fragment = table::fragment(&measured);
    print!("{fragment}");
    std::fs::write(out.join("table.md"), &fragment)?;
    table::replace_in_page(&out.with_extension("md"), &fragment)
}

fn default_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/contact")
}

const TIME: &str = "time (s)";

/// The same quantity in several panels.
fn all<'a>(curves: &[&'a Points], panels: usize) -> Vec<Vec<(&'static Kind, &'a Points)>> {
    vec![KINDS.iter().zip(curves.iter().copied()).collect(); panels]
}

fn plots(out: &Path, m: &Measured) -> Result<()> {
    landing_plots(out, m)?;
    let ways: Vec<&Points> = m.slopes.iter().map(|s| &s.log_m).collect();
    let slope = Panel {
        title: "standing on a slope of 10°".into(),
        x_title: TIME,
        y_title: "way along the slope (m)",
        x: [0.0, 60.0],
        y: [slope::LEAST_M.log10(), 4.0],
        log: true,
    };
    draw(&out.join("slope.svg"), &[slope], &all(&ways, 1))?;
    slide_plot(out, m)?;
    let forces: Vec<&Points> = m.bounces.iter().take(2).map(|b| &b.force).collect();
    let loop_ = Panel {
        title: "a ball of 0.2 kg bounces at 1.4 m/s".into(),
        x_title: "depth (mm), negative above the plane",
        y_title: "normal force (N)",
        x: [-8.0, 4.0],
        y: [0.0, 300.0],
        log: false,
    };
    draw(&out.join("ball.svg"), &[loop_], &all(&forces, 1))
}

/// Landing at the left, push at the right.
fn landing_plots(out: &Path, m: &Measured) -> Result<()> {
    let touch_s = m.landings.iter().map(|r| r.touch_s).fold(f64::MAX, f64::min);
    let landing = [touch_s - 0.02, touch_s + 0.3];
    let push = [landing::PUSH_S - 0.1, landing::PUSH_S + 1.5];
    let panel = |title: &str, x, y_title, y| Panel {
        title: title.into(),
        x_title: TIME,
        y_title,
        x,
        y,
        log: false,
    };
    let pair = |y_title, y: [[f64; 2]; 2]| {
        [
            panel("landing from 0.1 m", landing, y_title, y[0]),
            panel("a push of 60 N for 0.15 s", push, y_title, y[1]),
        ]
    };
    let force = "vertical force, one foot (N)";
    let forces: Vec<&Points> = m.landings.iter().map(|r| &r.force).collect();
    let panels = pair(force, [[0.0, 800.0], [0.0, 100.0]]);
    draw(&out.join("force.svg"), &panels, &all(&forces, 2))?;
    let heights: Vec<&Points> = m.landings.iter().map(|r| &r.height).collect();
    let panels = pair("height of the base (m)", [[0.3, 0.37], [0.315, 0.345]]);
    draw(&out.join("height.svg"), &panels, &all(&heights, 2))?;
    let depths: Vec<&Points> = m.landings.iter().map(|r| &r.depth).collect();
    let panels = pair("depth of a foot (mm)", [[-8.0, 8.0], [-6.0, 4.0]]);
    draw(&out.join("depth.svg"), &panels, &all(&depths, 2))
}

fn slide_plot(out: &Path, m: &Measured) -> Result<()> {
    let velocities: Vec<&Points> = m.slides.iter().map(|s| &s.velocity).collect();
    let shares: Vec<&Points> = m.slides.iter().map(|s| &s.share).collect();
    let panel = |title: &str, y_title, y| Panel {
        title: title.into(),
        x_title: TIME,
        y_title,
        x: [0.0, 0.3],
        y,
        log: false,
    };
    let panels = [
        panel("a box of 10 kg slides to rest", "velocity (m/s)", [-0.1, 1.0]),
        panel("its friction", "friction / (kinetic coefficient × load)", [-1.5, 2.5]),
    ];
    let mut curves = all(&velocities, 1);
    curves.extend(all(&shares, 1));
    draw(&out.join("box.svg"), &panels, &curves)
}
