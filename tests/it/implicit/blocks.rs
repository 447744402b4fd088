//! The golden boxes with the method of real-time runs and with the linearly implicit one, against
//! Simbody's samples of steps of 0.1 ms.

use std::fs;
use std::path::Path;

use hardstand::simulation::Simulation;
use hardstand_physics::dynamics::{kinetic_energy, potential_energy};
use hardstand_physics::plant::Integrator;
use hardstand_physics::spatial::Vec3;
use serde_json::Value;

use crate::common::golden::block::{changed, play};
use crate::common::golden::files::{GoldenFile, list, num, own_file, vec3};

const METHODS: [(Integrator, &str); 2] =
    [(Integrator::SemiImplicitEuler, "semi-implicit"), (Integrator::LinearlyImplicit, "implicit")];
/// In the flight after the first impact of drop and tumble. Later impacts come at other times.
const FLIGHT_S: f64 = 0.6;
const STEPS_MS: [f64; 4] = [0.1, 0.25, 0.5, 1.0];

fn scene(name: &str) -> GoldenFile {
    own_file(&format!("exp_spring_block_{name}.json.gz"))
}

/// What a run does wrong.
#[derive(Debug)]
struct Errors {
    /// Of the position, anywhere on the way, m.
    position_m: f64,
    /// Length of the way, m.
    way_m: f64,
    /// Of the velocity where the reference flies, slides or rests, m/s.
    velocity_m_per_s: f64,
    /// The reference's highest speed, m/s.
    top_m_per_s: f64,
    /// Most energy above that of the start, J.
    gain_j: f64,
}

/// Of motion and height, J. What springs store comes from it.
pub fn energy(simulation: &Simulation) -> f64 {
    let (model, data, v) = (simulation.model(), simulation.data(), &simulation.state().v);
    let height = potential_energy(model, data, &simulation.spec().gravity_W);
    kinetic_energy(model, data, v) + height
}

/// True if the acceleration is the same on both sides of this sample: no impact is near.
fn is_smooth(samples: &[Value], i: usize) -> bool {
    let Some([a, b, c]) = samples.get(i.wrapping_sub(1)..=i + 1).and_then(|s| s.first_chunk())
    else {
        return false;
    };
    (vec3(a, "v") - vec3(b, "v") * 2.0 + vec3(c, "v")).norm() < 1e-3
}

/// Velocities are compared until `until_s`.
fn errors(file: &GoldenFile, integrator: Integrator, h_s: f64, until_s: f64) -> Errors {
    let mut simulation = changed(file, h_s, |spec| spec.integrator = integrator);
    let samples = list(&file.json, "samples");
    let start_j = energy(&simulation);
    let mut out = Errors {
        position_m: 0.0,
        way_m: samples.windows(2).map(|s| (vec3(&s[1], "p") - vec3(&s[0], "p")).norm()).sum(),
        velocity_m_per_s: 0.0,
        top_m_per_s: samples.iter().map(|s| vec3(s, "v").norm()).fold(0.0, f64::max),
        gain_j: 0.0,
    };
    let every = (num(&samples[1], "t") / h_s).round() as u64;
    let mut smooth = 0;
    play(&mut simulation, file, |simulation| {
        out.gain_j = out.gain_j.max(energy(simulation) - start_j);
        if !simulation.state().tick.is_multiple_of(every) {
            return;
        }
        let i = (simulation.state().tick / every) as usize;
        let off: Vec3 = simulation.state().q.p_WB - vec3(&samples[i], "p");
        out.position_m = out.position_m.max(off.norm());
        if is_smooth(samples, i) && num(&samples[i], "t") < until_s {
            let off: Vec3 = simulation.state().v.v_WB - vec3(&samples[i], "v");
            out.velocity_m_per_s = out.velocity_m_per_s.max(off.norm());
            smooth += 1;
        }
    });
    assert!(smooth > 10, "{smooth} smooth samples in {}", file.name);
    out
}

#[test]
fn drop_and_tumble_stay_within_2_percent_with_steps_of_1_ms() {
    for name in ["drop", "tumble"] {
        let e = errors(&scene(name), Integrator::LinearlyImplicit, 1e-3, FLIGHT_S);
        println!("{name}: {e:?}");
        assert!(e.position_m < 0.02 * e.way_m, "{name}: {e:?}");
        assert!(e.velocity_m_per_s < 0.01 * e.top_m_per_s, "{name}: {e:?}");
        assert!(e.gain_j < 1e-9, "{name}: {e:?}");
        // the method of real-time runs is thrown about
        let e = errors(&scene(name), Integrator::SemiImplicitEuler, 1e-3, FLIGHT_S);
        println!("{name}, semi-implicit: {e:?}");
        assert!(e.position_m > 0.1 * e.way_m && e.gain_j > 1.0, "{name}: {e:?}");
    }
}

#[test]
fn sliding_and_sticking_stay_within_a_quarter_percent_with_steps_of_1_ms() {
    for name in ["slide", "incline_below_cone", "incline_above_cone"] {
        let e = errors(&scene(name), Integrator::LinearlyImplicit, 1e-3, f64::INFINITY);
        println!("{name}: {e:?}");
        assert!(e.position_m < 0.0025 * e.way_m, "{name}: {e:?}");
        assert!(e.velocity_m_per_s < 0.03 * e.top_m_per_s, "{name}: {e:?}");
        assert!(e.gain_j < 1e-9, "{name}: {e:?}");
    }
}

/// Rows of the first table in `docs/integrators.md`: greatest error of the position by scene and
/// step.
fn table() -> String {
    let mut rows = String::new();
    for name in ["drop", "tumble", "slide", "incline_below_cone", "incline_above_cone"] {
        let file = scene(name);
        for (integrator, word) in METHODS {
            let all = STEPS_MS.map(|ms| errors(&file, integrator, 1e-3 * ms, f64::INFINITY));
            let way_m = all[0].way_m;
            rows += &format!("| {} | {way_m:.3} m | {word} |", name.replace('_', " "));
            for e in all {
                let percent = 100.0 * e.position_m / way_m;
                rows += &format!(" {:.3} ({percent:.2} %) |", 1e3 * e.position_m);
            }
            rows.push('\n');
        }
    }
    rows
}

/// Places every 10 ms from start number `k`: the box turns and moves a little differently.
fn places(file: &GoldenFile, k: u32, integrator: Integrator, h_s: f64) -> Vec<Vec3> {
    let mut simulation = changed(file, h_s, |spec| {
        spec.integrator = integrator;
        let k = f64::from(k);
        spec.v.w_WB += Vec3::new(0.1, 0.0, -0.13) * k;
        spec.v.v_WB += Vec3::new(0.03, 0.0, -0.05) * k;
    });
    let every = (0.01 / h_s).round() as u64;
    let mut places = Vec::new();
    play(&mut simulation, file, |simulation| {
        if simulation.state().tick.is_multiple_of(every) {
            places.push(simulation.state().q.p_WB);
        }
    });
    places
}

/// Rows of the second table: eleven other starts of drop and tumble, against Runge-Kutta steps of
/// 0.1 ms; median and greatest of their errors.
fn other_starts() -> String {
    let mut rows = String::new();
    for name in ["drop", "tumble"] {
        let file = scene(name);
        let reference: Vec<Vec<Vec3>> =
            (1..=11).map(|k| places(&file, k, Integrator::Rk4, 1e-4)).collect();
        for (integrator, word) in METHODS {
            rows += &format!("| {name} | {word} |");
            for ms in STEPS_MS {
                let percent = |(k, path): (u32, &Vec<Vec3>)| {
                    let way_m: f64 = path.windows(2).map(|p| (p[1] - p[0]).norm()).sum();
                    let own = places(&file, k, integrator, 1e-3 * ms);
                    let off = own.iter().zip(path).map(|(a, b)| (a - b).norm());
                    100.0 * off.fold(0.0, f64::max) / way_m
                };
                let mut all: Vec<f64> = (1..).zip(&reference).map(percent).collect();
                all.sort_unstable_by(f64::total_cmp);
                rows += &format!(" {:.1} % ({:.1} %) |", all[all.len() / 2], all[all.len() - 1]);
            }
            rows.push('\n');
        }
    }
    rows
}

#[test]
fn the_page_shows_the_errors_that_are_measured() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/integrators.md");
    let page = fs::read_to_string(path).unwrap();
    let tables = [table(), other_starts()];
    let missing: String = tables.into_iter().filter(|rows| !page.contains(rows)).collect();
    assert!(missing.is_empty(), "these rows are not in docs/integrators.md:\n{missing}");
}
