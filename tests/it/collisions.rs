//! Scenarios with shapes that touch: bodies beside the robot, soles, self-collision.

use std::path::Path;

use crate::common::scene::feet_of_shapes;
use hardstand::config::Scenario;
use hardstand::simulation::Simulation;
use hardstand_physics::plant::{Carrier, CollisionPoint, PlantFailure, Walk as _};
use hardstand_protocol::TickInput;

fn scenario(sets: &[&str]) -> hardstand_error::Result<Scenario> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    // the trunk touches with its shape, not with stations at its corners
    let all = sets.iter().chain(&["stations=[]"]);
    let sets: Vec<String> = all.map(|s| (*s).to_owned()).collect();
    Scenario::load(&path, &sets)
}

fn run(simulation: &mut Simulation, ticks: u32) {
    for _ in 0..ticks {
        simulation.step(&TickInput::new());
        assert_eq!(simulation.failure(), None, "tick {}", simulation.state().tick);
    }
}

/// Force of the ground on links of the robot through their shapes, N.
fn on_links_n(simulation: &Simulation) -> f64 {
    let points = simulation.plant().collisions().points().iter();
    let on = points.filter(|p| matches!(p.carriers, [Carrier::Link(_), Carrier::Surface(_)]));
    on.map(|p| p.force_W().z).sum()
}

#[test]
fn a_robot_without_controller_ends_on_its_trunk() {
    for model in ["exponential_spring", "hunt_crossley", "rigid"] {
        let model = format!("contact.model={model}");
        let mut simulation = scenario(&[&model, "contact.stiction=holding"]).unwrap().simulation();
        run(&mut simulation, 4000);
        let height_m = simulation.state().q.p_WB.z;
        // half the height of the trunk's shape; without shapes it falls to the ground: 0 m
        assert!((0.04..0.1).contains(&height_m), "{model}: {height_m}");
        assert!(on_links_n(&simulation) > 20.0, "{model}: {}", on_links_n(&simulation));
    }
    let mut simulation = scenario(&["contact.bodies=feet"]).unwrap().simulation();
    run(&mut simulation, 4000);
    assert!(simulation.state().q.p_WB.z < 0.03, "{}", simulation.state().q.p_WB);
}

/// Where a robot and a body rest does not depend on how the ground begins to move.
#[test]
fn robots_and_bodies_are_placed_on_ground_that_moves_as_on_ground_that_does_not() {
    let placed = |motion: &str| {
        let plane =
            format!("planes=[{{position_m=[0.0, 0.0, 0.0], rpy_rad=[0.0, 0.0, 0.0]{motion}}}]");
        let ball = "bodies=[{name=\"ball\", shape=\"sphere\", radius_m=0.1, mass_kg=1.0, \
                    position_m=[2.0, 0.0, -3.0], place=\"above_ground\"}]";
        let spec = scenario(&[&plane, ball]).unwrap().spec;
        [spec.q.p_WB.z, spec.collisions.bodies[0].X_WB.p.z]
    };
    let still = placed("");
    for motion in [
        "amplitude_m=[0.0, 0.0, 0.02], frequency_hz=2.0",
        "rocking_rad=[0.1, 0.0, 0.0], frequency_hz=1.0",
        "velocity_m_per_s=[0.0, 0.0, -1.0]",
    ] {
        assert_eq!(placed(&format!(", motion={{{motion}}}")), still, "{motion}");
    }
    let raised = ", motion={amplitude_m=[0.0, 0.0, 0.02], frequency_hz=2.0, phase_rad=1.0}";
    let rise_m = 0.02 * 0.841_470_984_807_896_5; // sin 1
    for (raised, still) in placed(raised).iter().zip(still) {
        assert!((raised - still - rise_m).abs() < 1e-9, "{raised} {still}");
    }
}

#[test]
fn a_slab_lies_on_a_beam_of_the_scenario() {
    let beam = "terrain=[{kind=\"box\", position_m=[3.0, 0.0, 0.05], size_m=[0.2, 2.0, 0.1]}]";
    let slab = "bodies=[{name=\"slab\", shape=\"box\", size_m=[1.0, 1.0, 0.2], mass_kg=10.0, \
                position_m=[3.0, 0.0, 0.3]}]";
    for model in ["exponential_spring", "hunt_crossley", "rigid"] {
        let model = format!("contact.model={model}");
        let sets = [&model[..], "contact.cz_s_per_m=5.0", "contact.stiction=holding", beam, slab];
        let mut simulation = scenario(&sets).unwrap().simulation();
        run(&mut simulation, 3000);
        let z = simulation.state().bodies[0].p_WB.z;
        assert!((z - 0.2).abs() < 0.006, "{model}: {z}");
    }
}

#[test]
fn a_ball_that_hits_the_robot_is_felt_by_both() {
    let ball = "bodies=[{name=\"ball\", shape=\"sphere\", radius_m=0.1, mass_kg=2.0, \
                position_m=[0.0, -1.0, 0.3], velocity_m_per_s=[0.0, 8.0, 1.0]}]";
    let mut simulation = scenario(&[ball]).unwrap().simulation();
    let mut force_n = 0.0_f64;
    for _ in 0..300 {
        run(&mut simulation, 1);
        let hits = |p: &&CollisionPoint| matches!(p.carriers, [Carrier::Link(_), Carrier::Body(0)]);
        let points = simulation.plant().collisions().points();
        force_n = points.iter().filter(hits).map(|p| p.force_W().norm()).fold(force_n, f64::max);
    }
    assert!(force_n > 50.0, "{force_n}");
    assert!(simulation.state().v.v_WB.y > 0.3 || simulation.state().q.p_WB.y > 0.05);
    assert!(simulation.state().bodies[0].v_WB.y < 4.0);
}

#[test]
fn a_foot_of_shapes_carries_the_robot_and_is_read_like_one_of_points() {
    let feet = feet_of_shapes();
    let mut simulation = scenario(&[&feet]).unwrap().simulation();
    assert!(simulation.spec().stations.is_empty());
    let mut snapshot = simulation.new_snapshot();
    run(&mut simulation, 1);
    simulation.fill(&mut snapshot);
    let sum: f64 = snapshot.contacts.feet.iter().map(|f| f.force_world_n[2]).sum();
    let weight_n = simulation.model().total_mass() * 9.81;
    assert!((sum - weight_n).abs() < 0.05 * weight_n, "{sum} {weight_n}");
    assert_eq!(snapshot.state.foot_contact, [1; 4]);
    let slippery = "events=[{at_s=0.1, kind=\"friction\", foot=\"FL\", mu_static=0.1, \
                    mu_kinetic=0.05}]";
    let refused = scenario(&[&feet, slippery]).unwrap_err().to_string();
    assert!(refused.contains("a foot with points_m"), "{refused}");
}

#[test]
fn a_snapshot_with_points_that_touch_is_restored_to_the_bit() {
    let bodies = "bodies=[{name=\"box\", shape=\"box\", size_m=[0.3, 0.3, 0.2], mass_kg=3.0, \
                  position_m=[0.05, 0.02, 0.7], angular_velocity_rad_per_s=[1.0, 0.5, 0.0]}]";
    let scenario = scenario(&[bodies]).unwrap();
    let mut one = scenario.simulation();
    let mut touching = 0;
    for _ in 0..15 {
        run(&mut one, 61);
        touching += one.plant().collisions().points().len();
        let words = one.snapshot_words();
        let mut other = scenario.simulation();
        other.restore(&words).unwrap();
        let mut ahead = one.clone();
        run(&mut ahead, 20);
        run(&mut other, 20);
        assert_eq!(ahead.state().digest, other.state().digest);
        assert_eq!(ahead.snapshot_words(), other.snapshot_words());
        // a word more or less, or a number of points that is not the one that follows
        assert!(other.restore(&words[1..]).is_err());
        let names = one.word_names();
        let count = names.iter().position(|(name, _)| *name == "touch.count").unwrap();
        let mut wrong = words.clone();
        wrong[count] += 1;
        assert!(other.restore(&wrong).is_err());
        assert_eq!(ahead.snapshot_words(), other.snapshot_words());
    }
    assert!(touching > 50, "{touching}");
}

#[test]
fn links_of_one_robot_touch_each_other_unless_they_are_kept_apart() {
    let loaded = scenario(&[]).unwrap();
    let pairs = |s: &Scenario| s.spec.collisions.apart.len();
    let none = scenario(&["contact.self_collision=false"]).unwrap();
    assert!(pairs(&none) > pairs(&loaded));
    let disabled = scenario(&["contact.disable=[[\"FL_foot\", \"FR_foot\"]]"]).unwrap();
    assert_eq!(disabled.spec.collisions.apart_shapes.len(), 1);
    assert!(loaded.spec.collisions.apart_shapes.is_empty());
}

/// A scenario of this robot with these keys.
fn scenario_of(urdf: &str, sets: &[&str]) -> Scenario {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("robot.urdf"), urdf).unwrap();
    let path = dir.path().join("scenario.toml");
    std::fs::write(&path, "[robot]\nurdf = \"robot.urdf\"\n").unwrap();
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    Scenario::load(&path, &sets).unwrap()
}

const MASS: &str = "<inertial><mass value=\"1\"/><inertia ixx=\"0.01\" iyy=\"0.01\" izz=\"0.01\" \
                    ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>";

fn link(name: &str, mass: &str, shape: &str) -> String {
    let shape = match shape {
        "" => String::new(),
        shape => format!("<collision><geometry>{shape}</geometry></collision>"),
    };
    format!("<link name=\"{name}\">{mass}{shape}</link>")
}

fn joint(kind: &str, [parent, child]: [&str; 2], xyz: &str) -> String {
    format!(
        "<joint name=\"{child}_joint\" type=\"{kind}\"><parent link=\"{parent}\"/>\
         <child link=\"{child}\"/><origin xyz=\"{xyz}\"/><axis xyz=\"0 1 0\"/>\
         <limit lower=\"-3\" upper=\"3\" effort=\"0\" velocity=\"0\"/></joint>"
    )
}

/// A planar joint is a chain of steps without mass, as is a joint with a cross of one's own.
#[test]
fn links_that_several_joints_in_a_row_connect_do_not_touch() {
    let robot = |joints: &str| {
        let ball = "<sphere radius=\"0.05\"/>";
        let base = link("base", MASS, "<box size=\"0.2 0.2 0.1\"/>");
        let (plate, tip) = (link("plate", MASS, ball), link("tip", MASS, ball));
        // clear of each other at the start, and within reach as the joints give way
        let far = joint("revolute", ["plate", "tip"], "0 0 0.2");
        format!("<robot name=\"r\">{base}{plate}{tip}{joints}{far}</robot>")
    };
    let planar = joint("planar", ["base", "plate"], "0 0 0.12");
    let cross = [
        link("cross", "", ""),
        joint("revolute", ["base", "cross"], "0 0 0.12"),
        joint("prismatic", ["cross", "plate"], "0 0 0"),
    ]
    .concat();
    for joints in [planar, cross] {
        let loaded = scenario_of(&robot(&joints), &[]);
        let body = |name: &str| Carrier::Link(loaded.model.frame(name).unwrap().body);
        let apart = |a: &str, b: &str| loaded.spec.collisions.apart.contains(&(body(a), body(b)));
        assert!(apart("base", "plate") && apart("plate", "tip"), "{joints}");
        assert!(!apart("base", "tip"), "{joints}");
    }
}

/// Force and depth of what a tower meets that is fixed to the world 0.1 m deep in this ground, and
/// the number of points, at the start and after 20 ms.
fn tower_on(ground: &str, model: &str) -> (f64, f64, usize) {
    let urdf = [
        "<robot name=\"r\">".to_owned(),
        link("world", "", ""),
        link("tower", "", "<box size=\"0.2 0.2 1\"/>"),
        joint("fixed", ["world", "tower"], "0 0 0.4"),
        link("arm", MASS, ""),
        joint("revolute", ["world", "arm"], "0 0 1.3"),
        "</robot>".to_owned(),
    ]
    .concat();
    let model = format!("contact.model={model}");
    let mut simulation = scenario_of(&urdf, &[&model, ground]).simulation();
    run(&mut simulation, 20);
    let points = simulation.plant().collisions().points();
    let force_n = points.iter().map(|p| p.force_W().norm()).fold(0.0, f64::max);
    let depth_m = points.iter().map(|p| p.depth_m).fold(0.0, f64::max);
    (force_n, depth_m, points.len())
}

#[test]
fn a_base_that_cannot_move_does_not_touch_ground_at_rest() {
    let plane = "planes=[{position_m=[0.0, 0.0, 0.0], rpy_rad=[0.0, 0.0, 0.0]}]";
    let pedestal = "terrain=[{kind=\"box\", position_m=[0.0, 0.0, -0.1], size_m=[1.0, 1.0, 0.2]}]";
    let field = "terrain=[{kind=\"heightfield\", position_m=[0.0, 0.0, 0.0], \
                 origin_m=[-1.0, -1.0], spacing_m=1.0, \
                 heights_m=[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]}]";
    let belt = "planes=[{position_m=[0.0, 0.0, 0.0], rpy_rad=[0.0, 0.0, 0.0], \
                motion={velocity_m_per_s=[0.5, 0.0, 0.0]}}]";
    for model in ["exponential_spring", "hunt_crossley", "rigid"] {
        for still in [plane, pedestal, field] {
            assert_eq!(tower_on(still, model), (0.0, 0.0, 0), "{model}, {still}");
        }
    }
    let (force_n, depth_m, points) = tower_on(belt, "exponential_spring");
    assert!(force_n > 1e3 && depth_m > 0.09 && points >= 4, "{force_n} N, {depth_m} m, {points}");
}

/// A limp arm over a shelf; its finger is fixed to the hand, the shelf to the world, as a tower is.
#[test]
fn a_disabled_pair_is_of_two_links_and_not_of_what_is_fixed_to_them() {
    let urdf = [
        "<robot name=\"r\">".to_owned(),
        link("world", "", ""),
        link("tower", "", "<box size=\"0.1 0.1 1\"/>"),
        joint("fixed", ["world", "tower"], "0 0 0.6"),
        link("shelf", "", "<box size=\"1 0.2 0.05\"/>"),
        joint("fixed", ["world", "shelf"], "0.6 0 1"),
        link("arm", MASS, ""),
        joint("revolute", ["world", "arm"], "0 0 1.3"),
        link("hand", MASS, ""),
        joint("revolute", ["arm", "hand"], "0.6 0 0"),
        link("finger", "", "<sphere radius=\"0.05\"/>"),
        joint("fixed", ["hand", "finger"], "0.02 0 0"),
        "</robot>".to_owned(),
    ]
    .concat();
    let lowest_m = |disable: &str| {
        let mut simulation = scenario_of(&urdf, &[disable]).simulation();
        let hand = simulation.model().frame("hand").unwrap().body;
        let mut lowest_m = f64::INFINITY;
        for _ in 0..1000 {
            run(&mut simulation, 1);
            lowest_m = lowest_m.min(simulation.data().X_WB[hand].p.z);
        }
        lowest_m
    };
    assert!(lowest_m("contact.disable=[]") > 0.95);
    let other = lowest_m("contact.disable=[[\"finger\", \"tower\"]]");
    assert!(other > 0.95, "the shelf holds the finger: {other} m");
    let shelf = lowest_m("contact.disable=[[\"shelf\", \"finger\"]]");
    assert!(shelf < 0.8, "the finger falls past the shelf: {shelf} m");
}

#[test]
fn mistakes_in_bodies_and_shapes_are_named() {
    let body = |rest: &str| format!("bodies=[{{name=\"b\", mass_kg=1.0, {rest}}}]");
    let jointed = |joint: &str, rest: &str| {
        let axis = if joint == "free" { "" } else { ", axis=[0.0, 0.0, 1.0]" };
        body(&format!(
            "shape=\"sphere\", radius_m=0.1, position_m=[0.0, 0.0, 1.0], joint=\"{joint}\"{axis}, \
             {rest}"
        ))
    };
    for (set, named) in [
        ("contact.bodies=some".to_owned(), "contact.bodies"),
        ("contact.bodies=[\"no_link\"]".into(), "no link \"no_link\""),
        ("contact.disable=[[\"trunk\"]]".into(), "two links"),
        ("contact.self_collision=1".into(), "true or false"),
        (body("shape=\"cone\", position_m=[0.0, 0.0, 1.0]"), "\"box\" or \"sphere\""),
        (body("shape=\"sphere\", radius_m=-1.0, position_m=[0.0, 0.0, 1.0]"), "radius_m"),
        (body("shape=\"sphere\", radius_m=0.1"), "position_m"),
        (
            body("shape=\"sphere\", radius_m=0.1, position_m=[0.0, 0.0, 1.0], joint=\"hinge\""),
            "axis",
        ),
        (
            body(
                "shape=\"sphere\", radius_m=0.1, position_m=[0.0, 0.0, 1.0], center_m=[1.0, 0.0, 0.0]",
            ),
            "center_m",
        ),
        (jointed("free", "damping=0.1"), "damping"),
        (jointed("hinge", "velocity_m_per_s=[0.0, 0.0, 1.0]"), "velocity_m_per_s"),
        (jointed("hinge", "angular_velocity_rad_per_s=[1.0, 0.0, 1.0]"), "must be along axis"),
        (jointed("slide", "angular_velocity_rad_per_s=[0.0, 0.0, 1.0]"), "does not turn"),
        (jointed("slide", "velocity_m_per_s=[1.0, 0.0, 0.0]"), "must be along axis"),
        (body("shape=\"sphere\", radius_m=0.1, position_m=[0.0, 0.0, 1.0], size=1"), "unknown"),
        (
            body(
                "shape=\"sphere\", radius_m=0.1, position_m=[0.0, 0.0, 1.0], \
                 model=\"hunt_crossley\", contact=\"brick\"",
            ),
            "\"brick\" needs the shape \"box\"",
        ),
        (
            body(
                "shape=\"box\", size_m=[1.0, 1.0, 1.0], position_m=[0.0, 0.0, 1.0], \
                 model=\"rigid\", contact=\"brick\"",
            ),
            "needs the contact model \"hunt_crossley\"",
        ),
    ] {
        let refused = scenario(&[&set]).unwrap_err().to_string();
        assert!(refused.contains(named), "{set}: {refused}");
    }
    let swinging = jointed("hinge", "angular_velocity_rad_per_s=[0.0, 0.0, -2.0], damping=0.1");
    scenario(&[&swinging]).unwrap();
    let moving = body("shape=\"sphere\", radius_m=0.1, position_m=[0.0, 0.0, 1.0]");
    let refused = scenario(&[&moving, "sim.integrator=rk4"]).unwrap_err().to_string();
    assert!(refused.contains("[[bodies]]"), "{refused}");
}

/// A key is not unknown because another one is wrong, and a missing key is missing once.
#[test]
fn a_mistake_in_a_body_or_a_foot_is_one_mistake() {
    let body = |rest: &str| {
        format!("bodies=[{{name=\"b\", mass_kg=1.0, position_m=[0.0, 0.0, 1.0], {rest}}}]")
    };
    let foot = |rest: &str| format!("feet=[{{name=\"FL\", link=\"FL_foot\", {rest}}}]");
    let ball = "shape=\"sphere\", radius_m=0.1";
    for (set, named) in [
        (body("shape=\"cone\""), "shape is \"cone\""),
        (body("shape=\"cone\", radius_m=0.1, length_m=0.2"), "shape is \"cone\""),
        (body(&format!("{ball}, joint=\"ball\", axis=[0.0, 0.0, 1.0]")), "joint is \"ball\""),
        (body(&format!("{ball}, joint=\"hinge\"")), "axis is missing"),
        (
            body(&format!("{ball}, joint=\"slide\", axis=[0.0, 0.0, 0.0]")),
            "axis is [0.0, 0.0, 0.0]",
        ),
        (foot("ring_radius_m=0.1, points_m=[[0.0, 0.0, 0.0]]"), "axis is missing"),
        (foot("points_m=1"), "points_m is 1"),
        (foot("points_m=[]"), "points_m is []"),
        ("feet=[{name=\"hip\", link=\"FL_hip\"}]".into(), "points_m is missing"),
        ("constraints=[{name=\"c\", link=\"trunk\", normal=\"up\"}]".into(), "normal is \"up\""),
    ] {
        let refused = scenario(&[&set]).unwrap_err().to_string();
        assert!(refused.contains(named), "{set}: {refused}");
        let mistakes = refused.lines().filter(|line| line.trim_start().starts_with("- "));
        assert!(mistakes.count() <= 1 && !refused.contains("unknown"), "{set}: {refused}");
    }
}

#[test]
fn a_pile_that_is_too_large_for_rigid_contacts_stops_the_run() {
    // 160 points of boxes that stand alone, and more than 256 of a row of boxes side by side
    for (count, apart_m, expected) in
        [(40, 0.2, None), (60, 0.1005, Some(PlantFailure::TooManyContacts))]
    {
        let bodies: Vec<String> = (0..count)
            .map(|i| {
                format!(
                    "{{name=\"b{i}\", shape=\"box\", size_m=[0.1, 0.1, 0.1], mass_kg=1.0, \
                     position_m=[{}, 3.0, 0.051]}}",
                    apart_m * f64::from(i)
                )
            })
            .collect();
        let bodies = format!("bodies=[{}]", bodies.join(", "));
        let mut simulation = scenario(&[&bodies, "contact.model=rigid"]).unwrap().simulation();
        for _ in 0..100 {
            simulation.step(&TickInput::new());
        }
        assert_eq!(simulation.plant().failure(), expected, "{count} boxes");
    }
}

/// A box with `contact = "brick"` stands on the four corners of a face, as Simbody's brick does.
#[test]
fn a_box_of_a_scenario_is_a_brick_on_planes() {
    let set = "bodies=[{name=\"b\", shape=\"box\", size_m=[0.4, 0.3, 0.2], mass_kg=6.0, \
               position_m=[3.0, 0.0, 0.12], model=\"hunt_crossley\", contact=\"brick\"}]";
    let loaded = scenario(&[set]).unwrap();
    assert_eq!(loaded.spec.collisions.bricks.len(), 1);
    let mut simulation = loaded.simulation();
    run(&mut simulation, 3000);
    let points = simulation.plant().collisions().points().iter();
    let of_body = points.filter(|p| p.carriers[0] == Carrier::Body(0));
    let forces: Vec<f64> = of_body.map(|p| p.force_W().z).collect();
    let each_n = 6.0 * 9.81 / 4.0;
    assert_eq!(forces.len(), 4);
    assert!(forces.iter().all(|f| (f - each_n).abs() < 0.1 * each_n), "{forces:?}");
}
