//! Predicts tosses of a real cube with every contact law: the numbers of docs/evidence.md.
//!
//! ```text
//! cargo run --release --example cube_tosses -- FILE…
//! ```
//!
//! FILE is JSON, or JSON packed with gzip: `--help` says more.
#![allow(clippy::print_stdout, clippy::print_stderr, non_snake_case, reason = "an example")]

mod cube;
mod fit;
mod flight;
mod floor;
mod mujoco;
mod plot;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use cube::Result;
use cube::data::{Tosses, load};
use cube::fitted::{SHIPPED, table, values};
use cube::laws::{Law, MEASURED, MUJOCO};
use cube::predict::{Setting, check_period};
use cube::score::{TossError, cost, errors};
use cube::start::FirstStates;
use mujoco::MuJoCo;
use report::Row;

/// Predicts tosses of a cube from their first samples to their end, with every contact law and, if
/// the Python of HARDSTAND_PYTHON (or python3) has the package `mujoco`, with MuJoCo. Prints the
/// mean distance (% of the cube's width) and the mean angle (degrees) between prediction and
/// measurement over all samples after the first ones.
#[derive(Parser)]
#[command(name = "cube_tosses")]
struct Arguments {
    /// Tosses, `.json` or `.json.gz`: an object with dt_s, mass_kg, half_width_m, inertia_kg_m2 and
    /// tosses, a list of objects with id, p_m, q_wxyz, v_m_per_s and w_body_rad_per_s. Several
    /// files must describe the same cube.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Find the parameters on these tosses, print them as TOML, and use them. Takes minutes.
    #[arg(long)]
    fit: bool,
    /// Cross-validation: with `--fit`, fit on all tosses but one part of so many, and predict that
    /// part, for each part.
    #[arg(long, value_name = "PARTS", requires = "fit")]
    #[arg(value_parser = clap::value_parser!(u32).range(2..=20))]
    folds: Option<u32>,
    /// Print a JSON list, one object for each law.
    #[arg(long)]
    json: bool,
    /// Predict from first states that the camera's noise has disturbed, and compare with the
    /// undisturbed prediction: no law can be expected to do better than that.
    #[arg(long)]
    floor: bool,
    /// Samples from which the first state is estimated, as far as the cube flies: 2 to 20. With 1
    /// it is sample 1 with the velocities of the file, which are differences of two samples.
    #[arg(long, value_name = "SAMPLES", default_value_t = Setting::FIRST)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=20))]
    first: u8,
    /// Only laws with this in their name; "mujoco" is one.
    #[arg(long, value_name = "NAME", default_value = "")]
    only: String,
    /// Micro-steps of one sample of 6.76 ms, of our laws: a divisor of 6756750.
    #[arg(long, default_value_t = 22, value_parser = clap::value_parser!(u32).range(1..=500))]
    micro_steps: u32,
    /// Write the plots of docs/evidence.md into this folder.
    #[arg(long, value_name = "FOLDER")]
    plot: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    let of = read(&arguments.files)?;
    let first = match arguments.first {
        1 => FirstStates::Differences,
        n => FirstStates::Flight(n.into()),
    };
    let measured = match arguments.fit {
        true => flight::measure(&of)?,
        false => Setting::shipped_measures()?,
    };
    if arguments.fit {
        eprintln!("{}", table("measured", &MEASURED, &measured));
    }
    let setting = Setting { first, micro_steps: arguments.micro_steps, ..Setting::with(&measured) };
    if !cube::predict::PERIOD_NS.is_multiple_of(arguments.micro_steps.into()) {
        let n = arguments.micro_steps;
        return Err(format!("--micro-steps is {n}; it must divide 6756750").into());
    }
    if arguments.floor {
        return print_floor(&of, &setting, arguments);
    }
    let mut rows = Vec::new();
    for law in Law::ALL.into_iter().filter(|l| l.key().contains(&arguments.only)) {
        rows.push(law_row(&of, law, &setting, arguments)?);
    }
    if "mujoco".contains(&arguments.only) || arguments.only.contains("mujoco") {
        mujoco_rows(&of, &setting, arguments, &mut rows)?;
    }
    if let Some(folder) = &arguments.plot {
        plot::draw(folder, &rows)?;
    }
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report::json(&rows))?);
    } else {
        println!("{} tosses\n\n{}", of.tosses.len(), report::table(&rows));
    }
    Ok(())
}

/// All files as one.
fn read(files: &[PathBuf]) -> Result<Tosses> {
    let mut all: Option<Tosses> = None;
    for path in files {
        let one = load(path)?;
        check_period(&one).map_err(|e| format!("{}: {e}", path.display()))?;
        let Some(before) = &mut all else {
            all = Some(one);
            continue;
        };
        let cube = |t: &Tosses| [t.dt_s, t.mass_kg, t.half_width_m, t.inertia_kg_m2];
        if cube(before) != cube(&one) {
            return Err(format!("{}: another cube than in the files before", path.display()).into());
        }
        before.tosses.extend(one.tosses);
    }
    all.ok_or_else(|| "no file".into())
}

fn law_row(of: &Tosses, law: Law, setting: &Setting, arguments: &Arguments) -> Result<Row> {
    let all: Vec<usize> = (0..of.tosses.len()).collect();
    let shipped = || values(SHIPPED, law.key(), law.parameters());
    if let Some(parts) = arguments.folds {
        return folds(of, law.key(), parts as usize, |rest, out| {
            let fitted = fit::fit_law(of, rest, law, setting)?;
            errors(of, out, law, &fitted, setting)
        });
    }
    let chosen = if arguments.fit { fit::fit_law(of, &all, law, setting)? } else { shipped()? };
    if arguments.fit {
        eprintln!("{}", table(law.key(), law.parameters(), &chosen));
    }
    let errors = errors(of, &all, law, &chosen, setting)?;
    Ok(Row { law: law.key().into(), errors })
}

/// Each part of the tosses, predicted with what was fitted to the others: `predict` is given these
/// and that part.
fn folds(
    of: &Tosses,
    name: &str,
    parts: usize,
    mut predict: impl FnMut(&[usize], &[usize]) -> Result<Vec<TossError>>,
) -> Result<Row> {
    let mut held_out = Vec::new();
    for part in 0..parts {
        let of_part = |&i: &usize| i % parts == part;
        let (out, rest): (Vec<usize>, Vec<usize>) = (0..of.tosses.len()).partition(of_part);
        held_out.extend(predict(&rest, &out)?);
        eprintln!("{name}: part {part} of {parts}: {:.2}", cost(&held_out));
    }
    Ok(Row { law: format!("{name} ({parts} folds)"), errors: held_out })
}

fn mujoco_rows(
    of: &Tosses,
    setting: &Setting,
    arguments: &Arguments,
    rows: &mut Vec<Row>,
) -> Result<()> {
    let Some(python) = mujoco::python() else {
        eprintln!("no MuJoCo: `pip install mujoco`, or set HARDSTAND_PYTHON to a Python with it");
        return Ok(());
    };
    let mut mujoco = MuJoCo::start(&python, of, setting)?;
    if let Some(parts) = arguments.folds {
        let chosen = |errors: &[TossError], which: &[usize]| -> Vec<TossError> {
            which.iter().map(|&i| errors[i]).collect()
        };
        let row = folds(of, "mujoco_tuned", parts as usize, |rest, out| {
            let found = fit::search("mujoco", &MUJOCO, |points| {
                let one =
                    |x: &Vec<f64>| Ok(cost(&chosen(&mujoco.errors(of, setting, Some(x))?, rest)));
                points.iter().map(one).collect()
            })?;
            Ok(chosen(&mujoco.errors(of, setting, Some(&found))?, out))
        })?;
        rows.push(row);
        return Ok(());
    }
    let untouched = mujoco.errors(of, setting, None)?;
    let tuned = if arguments.fit {
        let found = fit::search("mujoco", &MUJOCO, |points| {
            let one = |x: &Vec<f64>| Ok(cost(&mujoco.errors(of, setting, Some(x))?));
            points.iter().map(one).collect()
        })?;
        eprintln!("{}", table("mujoco", &MUJOCO, &found));
        found
    } else {
        values(SHIPPED, "mujoco", &MUJOCO)?
    };
    let tuned = mujoco.errors(of, setting, Some(&tuned))?;
    eprintln!("MuJoCo {}", mujoco.version);
    rows.push(Row { law: "mujoco_default".into(), errors: untouched });
    rows.push(Row { law: "mujoco_tuned".into(), errors: tuned });
    Ok(())
}

fn print_floor(of: &Tosses, setting: &Setting, arguments: &Arguments) -> Result<()> {
    let noise = floor::camera_noise(of, setting);
    let mut text = format!(
        "camera: jitter {:.3} mm, {:.3}°; offset {:.2} mm, {:.2}°\n\n",
        1e3 * noise.jitter_m,
        noise.jitter_rad.to_degrees(),
        1e3 * noise.offset_m,
        noise.offset_rad.to_degrees()
    );
    let mut list = Vec::new();
    for law in Law::ALL.into_iter().filter(|l| l.key().contains(&arguments.only)) {
        let contact = law.contact(&values(SHIPPED, law.key(), law.parameters())?)?;
        let errors = floor::floor(of, &contact, setting, &noise)?;
        list.push(Row { law: format!("{} (floor)", law.key()), errors });
    }
    text.push_str(&report::table(&list));
    if arguments.json {
        text = serde_json::to_string_pretty(&report::json(&list))?;
    }
    println!("{text}");
    Ok(())
}
