//! The golden boxes under the holding law. The test box has 1 kg·m², fifteen times what a real one
//! of its size has: it rocks slowly, and hardly damped, on its normal springs.

use hardstand::simulation::Simulation;
use hardstand_physics::contact::{Friction, Stiction};
use hardstand_physics::dynamics::{kinetic_energy, potential_energy};
use hardstand_physics::plant::Integrator;
use hardstand_physics::spatial::Vec3;

use super::set_law;
use crate::common::golden::block::{changed, play};
use crate::common::golden::files::{GoldenFile, golden_files, own_file};

const STEPS_S: [f64; 4] = [2.5e-5, 1e-4, 2.5e-4, 1e-3];

fn scene(name: &str) -> GoldenFile {
    own_file(&format!("exp_spring_block_{name}.json.gz"))
}

/// The scene under a law with the method of real-time runs.
fn box_of(file: &GoldenFile, h_s: f64, law: Stiction) -> Simulation {
    changed(file, h_s, |spec| {
        spec.integrator = Integrator::SemiImplicitEuler;
        set_law(spec, law);
    })
}

/// How far the box gets, and how fast it is at the end.
fn travel(mut simulation: Simulation, file: &GoldenFile) -> (f64, f64) {
    let start = simulation.state().q.p_WB;
    play(&mut simulation, file, |_| ());
    ((simulation.state().q.p_WB - start).norm(), simulation.state().v.v_WB.norm())
}

#[test]
fn the_motion_is_the_same_for_every_micro_step() {
    for name in [
        "slide",
        "slippery",
        "slippery_creep",
        "incline_below_cone",
        "incline_marginal",
        "incline_above_cone",
        "spin_slide",
    ] {
        let file = scene(name);
        let of = |h_s| travel(box_of(&file, h_s, Stiction::Holding), &file);
        let runs = STEPS_S.map(of);
        let (way, speed) = runs[0];
        println!("{name:18} {runs:.6?}");
        for (h, run) in STEPS_S.iter().zip(&runs) {
            assert!((run.0 - way).abs() < 0.01 * way, "{name}, {h} s: {} of {way} m", run.0);
            // only this scene ends in a slide; what moves in the others is the rocking box
            if name == "incline_above_cone" {
                assert!((run.1 - speed).abs() < 0.01 * speed, "{name}, {h} s: {} m/s", run.1);
            }
        }
    }
}

/// At 4 m/s onto an edge it is the normal spring that needs short steps: without any friction the
/// ways differ as much.
#[test]
fn a_tumble_differs_by_its_normal_springs_alone() {
    let file = scene("tumble");
    let ends = |frictionless: bool| {
        STEPS_S.map(|h_s| {
            let mut simulation = box_of(&file, h_s, Stiction::Holding);
            if frictionless {
                let mut spec = simulation.spec().clone();
                spec.stations.iter_mut().for_each(|s| s.friction = Friction::NONE);
                simulation =
                    Simulation::new(simulation.model().clone(), spec, *simulation.watchdog());
            }
            play(&mut simulation, &file, |_| ());
            simulation.state().q.p_WB
        })
    };
    for frictionless in [false, true] {
        let ends = ends(frictionless);
        println!("tumble, frictionless {frictionless}: {ends:.4?}");
        assert!((ends[3] - ends[0]).norm() > 0.01, "1 ms is too long for this scene");
    }
}

/// Released at rest on 20°, with μₛ = 0.5 > tan 20° = 0.36 > μₖ = 0.25: it holds.
#[test]
fn the_marginal_slope_is_held() {
    let file = scene("incline_marginal");
    let mut simulation = box_of(&file, 1e-4, Stiction::Holding);
    let start = simulation.state().q.p_WB;
    let mut anchors = Vec::new();
    let mut late = Vec::new();
    for tick in 0..100_000 {
        simulation.step(&hardstand_protocol::TickInput::new());
        if tick % 20_000 == 19_999 {
            let stuck = |i| simulation.plant().spring_memory(i).unwrap().anchor_P;
            anchors = (0..8).map(stuck).collect();
            late.push((simulation.state().q.p_WB - start).norm());
        }
    }
    println!("way at 2, 4, … 10 s: {late:.6?} m; anchors {anchors:.6?}");
    assert!(late.iter().all(|&way| way < 2.5e-3), "it slides: {late:?}");
    assert!((late[4] - late[3]).abs() < 1e-4, "it creeps: {late:?}");
}

fn energy(simulation: &Simulation) -> f64 {
    let (model, data) = (simulation.model(), simulation.data());
    kinetic_energy(model, data, &simulation.state().v)
        + potential_energy(model, data, &simulation.spec().gravity_W)
        + simulation.contacts().potential_energy()
}

/// Runge–Kutta with 0.1 ms, the reference method: what is left is its error, of order h⁴ where the
/// motion is smooth, largest in the free fall and impact of `drop`.
#[test]
fn no_scene_gains_energy() {
    for file in golden_files("exp_spring_block_") {
        let mut simulation = changed(&file, 1e-4, |spec| set_law(spec, Stiction::Holding));
        let start = energy(&simulation);
        let (mut lowest, mut above_start, mut rise) = (start, f64::MIN, 0.0_f64);
        play(&mut simulation, &file, |simulation| {
            let now = energy(simulation);
            above_start = above_start.max(now - start);
            lowest = lowest.min(now);
            rise = rise.max(now - lowest);
        });
        println!(
            "{:45} start {start:9.3} J, above it {above_start:.2e}, rise {rise:.2e}, end {:9.3}",
            file.name,
            energy(&simulation)
        );
        assert!(above_start < 1e-9, "{}: {above_start} J above its start", file.name);
        assert!(rise < 1e-9, "{}: a rise of {rise} J", file.name);
    }
}

/// The table of docs/holding.md.
#[test]
fn both_laws_side_by_side() {
    let along_slope =
        |simulation: &Simulation, d: Vec3| simulation.spec().ground[0].X_WS.R.tr_mul(&d).x;
    for name in ["slippery_creep", "incline_marginal"] {
        println!("\n{name}: t s | simbody x m, v m/s | holding x m, v m/s");
        let file = scene(name);
        let rows = [Stiction::Simbody, Stiction::Holding].map(|law| {
            let mut simulation = box_of(&file, 1e-4, law);
            let start = simulation.state().q.p_WB;
            let mut rows = Vec::new();
            play(&mut simulation, &file, |simulation| {
                if simulation.state().tick % 2500 == 0 {
                    let d = along_slope(simulation, simulation.state().q.p_WB - start);
                    rows.push((d, along_slope(simulation, simulation.state().v.v_WB)));
                }
            });
            rows
        });
        for (i, (a, b)) in rows[0].iter().zip(&rows[1]).enumerate() {
            let t = 0.25 * (i + 1) as f64;
            println!("| {t:.2} | {:.4} | {:.4} | {:.4} | {:.4} |", a.0, a.1, b.0, b.1);
        }
        let (simbody, holding) = (rows[0][7], rows[1][7]);
        assert!(simbody.0 > holding.0 + 0.01, "the laws differ: {simbody:?}, {holding:?}");
        assert_eq!(rows[0].len(), 8);
    }
}
