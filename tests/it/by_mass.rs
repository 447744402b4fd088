//! `contact.spring = "by_mass"`: robots of any weight rest, are damped as stated, and land.
#![allow(clippy::disallowed_methods, reason = "sizes and expected values, compared within bounds")]

use crate::common::scene::Standing;
use hardstand::ErrorKind;
use hardstand::config::Scenario;
use hardstand_physics::contact::SpringParameters;
use hardstand_physics::plant::ContactModel;
use hardstand_physics::sensor::FootSwitchSpec;
use hardstand_protocol::TickInput;

const MASSES_KG: [f64; 7] = [0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e5];
const DAMPING_RATIO: f64 = 0.25;
/// A robot that trembles less than this is at rest, m/s.
const STILL_M_PER_S: f64 = 1e-5;

/// A cube of the density of the 10 kg one of 0.2 m, with all its corners as stations of one foot.
fn cube(mass_kg: f64, sets: &[&str]) -> hardstand::Result<Scenario> {
    let side_m = cube_side_m(mass_kg);
    let inertia = mass_kg * side_m * side_m / 6.0;
    let robot = format!(
        r#"<robot name="cube"><link name="body"><inertial><mass value="{mass_kg}"/>
<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="{side_m} {side_m} {side_m}"/></geometry></collision>
</link></robot>"#
    );
    let feet = "[contact]\nspring = \"by_mass\"\n[[feet]]\nname = \"cube\"\nlink = \"body\"\n";
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Scenario::from_texts(feet, &robot, &sets)
}

fn cube_side_m(mass_kg: f64) -> f64 {
    0.2 * (mass_kg / 10.0).cbrt()
}

/// The shipped quadruped, enlarged in all directions: of the same materials, with motors and gains
/// under which it moves as in slow motion.
fn quadruped(mass_kg: f64, sets: &[&str]) -> (Scenario, f64) {
    let scale = (mass_kg / 14.56_f64).cbrt();
    let scenario = include_str!("../../config/quadruped.toml").replace("radius_m = 0.01", "");
    let robot = scaled(include_str!("../../config/robots/quadruped.urdf"), scale);
    let armature = format!("joints.*.armature={:e}", 0.01 * scale.powi(5));
    let mut all = vec!["contact.spring=by_mass".to_string(), armature];
    all.extend(sets.iter().map(ToString::to_string));
    (Scenario::from_texts(&scenario, &robot, &all).unwrap(), scale)
}

/// All numbers of a URDF times the power of the scale that their unit has; times grow with its root.
fn scaled(urdf: &str, scale: f64) -> String {
    let mut out = String::new();
    for (i, part) in urdf.split('"').enumerate() {
        if i > 0 {
            out.push('"');
        }
        let before = out.trim_end_matches("=\"");
        let name = before.rsplit([' ', '\n']).next().unwrap_or("");
        let axis = before.trim_end_matches("xyz").ends_with("<axis ");
        let power = match name {
            "xyz" if axis => 0.0,
            "xyz" | "size" | "radius" | "length" => 1.0,
            "value" => 3.0,
            "ixx" | "ixy" | "ixz" | "iyy" | "iyz" | "izz" => 5.0,
            "effort" | "friction" => 4.0,
            "damping" => 4.5,
            "velocity" => -0.5,
            _ => 0.0,
        };
        if i % 2 == 0 || power == 0.0 {
            out.push_str(part);
            continue;
        }
        let number = |word: &str| word.parse::<f64>().unwrap() * scale.powf(power);
        let numbers: Vec<String> =
            part.split_whitespace().map(|w| format!("{:e}", number(w))).collect();
        out.push_str(&numbers.join(" "));
    }
    out
}

fn standing(scenario: &Scenario, scale: f64) -> Standing {
    let mut robot = Standing::new(scenario);
    robot.gains = [100.0 * scale.powi(4), 3.0 * scale.powf(4.5)];
    robot
}

/// Depth of each of the loaded stations, m.
fn depths_m(robot: &Standing) -> Vec<f64> {
    let contacts = robot.foot_contacts().into_iter();
    contacts.map(|at| -at.touch.p_C.z).filter(|&depth_m| depth_m > 0.0).collect()
}

/// Root mean square of the speed of the base and of the feet over `ticks`, m/s.
fn rms_m_per_s(robot: &mut Standing, ticks: u32) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for _ in 0..ticks {
        robot.run(1);
        sum += robot.simulation.state().v.v_WB.norm_squared();
        let feet = robot.foot_contacts();
        sum += feet.iter().map(|at| at.v_C.norm_squared()).sum::<f64>();
        count += 1 + feet.len();
    }
    (sum / count as f64).sqrt()
}

fn assert_rests(name: &str, robot: &mut Standing, stations: usize) {
    let rms = rms_m_per_s(robot, 500);
    let depths = depths_m(robot);
    println!("{name}: {rms:.2e} m/s, depths {depths:?}");
    assert!(rms < STILL_M_PER_S, "{name}: trembles with {rms} m/s");
    assert_eq!(depths.len(), stations, "{name}: {depths:?}");
    assert!(depths.iter().all(|d| (d - 1e-3).abs() < 1e-4), "{name}: rests at {depths:?} m");
}

/// Dropped from a tenth of its height, which is also the test that it does not fault: `run` asserts.
#[test]
fn cubes_of_any_weight_land_and_rest_one_millimetre_deep() {
    for mass_kg in MASSES_KG {
        let drop = format!("initial.clearance_m={}", 0.1 * cube_side_m(mass_kg));
        let mut robot = Standing::new(&cube(mass_kg, &[&drop]).unwrap());
        robot.run(4000);
        assert_rests(&format!("{mass_kg} kg"), &mut robot, 4);
    }
}

#[test]
fn quadrupeds_of_any_weight_land_and_rest_one_millimetre_deep() {
    for mass_kg in MASSES_KG {
        let scale = (mass_kg / 14.56_f64).cbrt();
        let drop = format!("initial.clearance_m={}", 0.1 * 0.33 * scale);
        let (scenario, scale) = quadruped(mass_kg, &[&drop]);
        let mut robot = standing(&scenario, scale);
        robot.run(2000 + (6000.0 * scale.sqrt()) as u32);
        assert_rests(&format!("{mass_kg} kg"), &mut robot, 4);
    }
}

/// The counterexample: with the values for every robot a light one hovers. A heavy one sinks through
/// the ground, because a foot carries more than the largest force, until the plant stops.
#[test]
fn with_the_values_for_every_robot_a_light_one_hovers_and_a_heavy_one_stops() {
    let mut light = Standing::new(&cube(0.1, &["contact.spring=simbody"]).unwrap());
    light.run(2000);
    let height_m = light.foot_contacts().iter().map(|at| at.touch.p_C.z).fold(f64::MAX, f64::min);
    assert!((0.006..0.008).contains(&height_m), "{height_m} m");
    let at = format!("initial.position_m=[0, 0, {}]", 0.5 * cube_side_m(1e5));
    let heavy = ["contact.spring=simbody", "initial.place=as_given", &at];
    let mut heavy = cube(1e5, &heavy).unwrap().simulation();
    let fails = (0..1000).any(|_| heavy.step(&TickInput::default()).failure.is_some());
    assert!(fails, "the heavy cube stands at {:?}", heavy.state().q.p_WB);
}

/// Lifted by 20 µm and released, it swings around its height at rest; a period later it is higher by
/// a share that its damping ratio ζ gives: e^(−2πζ/√(1 − ζ²)).
#[test]
fn a_small_disturbance_is_damped_as_stated() {
    for mass_kg in MASSES_KG {
        for ratio in [0.1, DAMPING_RATIO, 0.4] {
            let set = format!("contact.damping_ratio={ratio}");
            let sets = [&set, "sim.rate_hz=5000", "sim.micro_steps=2", "initial.clearance_m=2e-5"];
            let mut robot = Standing::new(&cube(mass_kg, &sets).unwrap());
            let start_m = robot.simulation.state().q.p_WB.z;
            let rest_m = start_m - 2e-5;
            let (mut least_m, mut again_m) = (start_m, f64::MIN);
            // the period is 2π / √(g d2) = 37 ms, and more with damping
            for tick in 0..240 {
                robot.run(1);
                let z = robot.simulation.state().q.p_WB.z;
                least_m = least_m.min(z);
                if tick > 120 {
                    again_m = again_m.max(z);
                }
            }
            assert!(least_m < rest_m, "{mass_kg} kg does not swing");
            let decay = ((start_m - rest_m) / (again_m - rest_m)).ln() / std::f64::consts::TAU;
            let measured = decay / (1.0 + decay * decay).sqrt();
            println!("{mass_kg} kg: {ratio} stated, {measured:.4} measured");
            assert!((measured / ratio - 1.0).abs() < 0.1, "{mass_kg} kg: {measured}, not {ratio}");
        }
    }
}

fn parameters(scenario: &Scenario) -> SpringParameters {
    match &scenario.spec.stations[0].model {
        ContactModel::ExponentialSpring(spring) => *spring.parameters(),
        _ => panic!("not a spring"),
    }
}

#[test]
fn keys_that_a_scenario_gives_take_precedence_in_the_file_and_in_sets() {
    let fitted = parameters(&cube(10.0, &[]).unwrap());
    let share_n = 10.0 * 9.81 / 4.0;
    assert_eq!((fitted.d0_m, fitted.d2_per_m), (-0.001, 3000.0));
    assert!((fitted.d1_n / share_n - 1.0).abs() < 1e-12, "{fitted:?}");
    let cz = 2.0 * DAMPING_RATIO * (3000.0_f64 / 9.81).sqrt();
    assert!((fitted.cz_s_per_m / cz - 1.0).abs() < 1e-12, "{fitted:?}");
    let own = ["contact.d1_n=7", "contact.d2_per_m=2000", "contact.cxy_n_s_per_m=3"];
    let own = parameters(&cube(10.0, &own).unwrap());
    assert_eq!((own.d1_n, own.d2_per_m, own.cxy_n_s_per_m), (7.0, 2000.0, 3.0));
    assert!((own.kxy_n_per_m / (share_n * 3000.0) - 1.0).abs() < 1e-12, "{own:?}");
    // in the layer of the sets, the name comes before the keys, whatever their order
    let layered = ["contact.d2_per_m=2000", "contact.spring=by_mass"];
    assert_eq!(parameters(&cube(10.0, &layered).unwrap()).d2_per_m, 2000.0);
    let back = parameters(&cube(10.0, &["contact.spring=simbody"]).unwrap());
    assert_eq!(back, SpringParameters::default());
}

/// The complete scenario is what a log holds: it gives the same one again.
#[test]
fn the_complete_scenario_of_a_fitted_robot_gives_it_again() {
    let (scenario, _) = quadruped(14.56, &[]);
    let robot = include_str!("../../config/robots/quadruped.urdf");
    let complete = Scenario::from_texts(&scenario.complete_toml, robot, &[]).unwrap();
    let again = Scenario::from_texts(&complete.complete_toml, robot, &[]).unwrap();
    assert_ne!(parameters(&complete), SpringParameters::default());
    assert_eq!((again.physics_hash, again.spec), (complete.physics_hash, complete.spec));
}

#[test]
fn the_foot_switch_follows_the_weight() {
    let of = |scenario: &Scenario| scenario.spec.foot_switch;
    let (scenario, _) = quadruped(14.56, &[]);
    let FootSwitchSpec { on_n, off_n, .. } = of(&scenario);
    assert!((on_n - 5.0).abs() < 0.01 && (off_n - 2.0).abs() < 0.01, "{on_n} {off_n}");
    let (toy, scale) = quadruped(0.1, &[]);
    assert!((of(&toy).on_n / on_n - 0.1 / 14.56).abs() < 1e-6);
    let mut robot = standing(&toy, scale);
    robot.run(1000);
    let mut snapshot = robot.simulation.new_snapshot();
    robot.simulation.fill_state(&mut snapshot.state);
    assert!(snapshot.state.foot_contact.iter().all(|&down| down != 0), "a toy's switches close");
    let (own, _) = quadruped(0.1, &["foot_switch.on_n=3", "foot_switch.off_n=1"]);
    assert_eq!((of(&own).on_n, of(&own).off_n), (3.0, 1.0));
}

#[test]
fn what_cannot_be_fitted_is_refused_with_key_value_and_remedy() {
    let refused = |sets: &[&str], expected: &[&str]| {
        let e = cube(10.0, sets).map(|_| ()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Input, "{e}");
        for part in expected {
            assert!(e.to_string().contains(part), "no \"{part}\" in:\n{e}");
        }
    };
    refused(
        &["contact.spring=bymass"],
        &["contact.spring is \"bymass\"; it must be \"simbody\" or \"by_mass\""],
    );
    refused(
        &["contact.d1_n=heavy"],
        &["contact.d1_n is \"heavy\"; it must be finite and greater than 0, or \"by_mass\""],
    );
    refused(
        &["sim.gravity_m_per_s2=[0, 0, 0]"],
        &["\"by_mass\"; it must be a number", "sim.gravity_m_per_s2 is [0.0, 0.0, 0.0]"],
    );
    refused(
        &["contact.damping_ratio=10", "contact.d2_per_m=1e6"],
        &["contact.cz_s_per_m is 63", "contact.damping_ratio = 10", "it must be at most 1000"],
    );
    refused(&["foot_switch.on_n=1"], &["foot_switch.off_n is 5.49", "it must be at most on_n, 1"]);
    refused(
        &["sim.micro_steps=1", "sim.rate_hz=100"],
        &["sim.micro_steps is 1; it must be at least ", "contact.damping_ratio", "cube.0"],
    );
}

/// The number that a refusal advises is taken.
#[test]
fn the_advised_micro_steps_are_enough() {
    let sets = |n: &str| vec!["sim.rate_hz=100".to_string(), format!("sim.micro_steps={n}")];
    let load = |n: &str| {
        let sets = sets(n);
        cube(10.0, &sets.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let text = load("1").map(|_| ()).unwrap_err().to_string();
    let advised = text.split("at least ").nth(1).unwrap().split(',').next().unwrap();
    let mut robot = Standing::new(&load(advised).unwrap());
    robot.run(300);
    assert!(rms_m_per_s(&mut robot, 100) < STILL_M_PER_S, "{advised} micro-steps");
}
