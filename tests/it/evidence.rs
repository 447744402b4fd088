//! Tosses of a real cube: the reader of the files, the first state, and the errors of every law on
//! five tosses. docs/evidence.md has the errors on all of them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use hardstand_physics::spatial::{Quaternion, Vec3};
use serde_json::{Value, json};

#[path = "../../examples/cube_tosses/cube/mod.rs"]
#[allow(dead_code, reason = "the tests use parts of it")]
pub(crate) mod cube;

use cube::data::{Sample, Toss, Tosses, load};
use cube::fitted::{SHIPPED, values};
use cube::laws::{Law, MUJOCO};
use cube::predict::{G, Setting};
use cube::score::{errors, summaries};
use cube::start::{FirstStates, Flyer, rotation_vector, start};

fn stored() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cube_tosses.json.gz")
}

/// Mean errors of a law on the stored tosses: position, % of the width, and rotation, °.
fn means(of: &Tosses, law: Law, values: &[f64]) -> [f64; 2] {
    let all: Vec<usize> = (0..of.tosses.len()).collect();
    let setting = Setting::with(&Setting::shipped_measures().unwrap());
    let errors = errors(of, &all, law, values, &setting).unwrap();
    summaries(&errors).map(|s| s.mean)
}

#[test]
fn every_law_predicts_a_real_cube_and_a_wrong_friction_does_not() {
    let of = load(&stored()).unwrap();
    assert_eq!(of.tosses.len(), 5);
    for law in Law::ALL {
        let fitted = values(SHIPPED, law.key(), law.parameters()).unwrap();
        let [position, rotation] = means(&of, law, &fitted);
        println!("{}: {position:.2} %, {rotation:.2}°", law.key());
        // the means on all 60 tosses are at most 9.6 % and 8.9°: docs/evidence.md
        assert!(position < 10.0, "{}: position {position} %", law.key());
        assert!(rotation < 10.0, "{}: rotation {rotation}°", law.key());
        let mu = law.parameters().iter().position(|p| p.name == "mu").unwrap();
        for factor in [0.5, 2.0] {
            let mut broken = fitted.clone();
            broken[mu] *= factor;
            let [worse, _] = means(&of, law, &broken);
            let key = law.key();
            assert!(worse > 1.5 * position, "{key}, friction × {factor}: {worse} % is no worse");
        }
    }
}

#[test]
fn the_shipped_values_have_every_parameter() {
    assert_eq!(values(SHIPPED, "mujoco", &MUJOCO).unwrap().len(), MUJOCO.len());
    let text = SHIPPED.replace("cz_s_per_m", "cz");
    let e = values(&text, Law::Spring.key(), Law::Spring.parameters()).unwrap_err();
    assert_eq!(e.to_string(), "fitted.toml lacks exponential_spring.cz_s_per_m as a float");
}

const FLYER: Flyer =
    Flyer { half_width_m: 0.05, com_B: Vec3::new(0.001, 0.0, 0.006), g: G, dt_s: 0.005 };

/// A flight with constant angular velocity, 1 m above the table; `v_W` is the centre of mass's.
fn flight(w_W: Vec3, v_W: Vec3) -> Toss {
    let sample = |i: usize| {
        let t = FLYER.dt_s * i as f64;
        let q_WB = Quaternion::from_rotation_vector(&(w_W * t));
        let com_W = Vec3::z() + v_W * t - Vec3::z() * (0.5 * G * t * t);
        let p_W = com_W - q_WB.to_matrix() * FLYER.com_B;
        Sample { p_W, q_WB, v_W: Vec3::zeros(), w_B: Vec3::zeros() }
    };
    Toss { samples: (0..20).map(sample).collect() }
}

#[test]
fn the_first_state_of_a_flight_is_exact() {
    let (w_W, v_W) = (Vec3::new(3.0, -5.0, 2.0), Vec3::new(1.0, -0.5, 0.2));
    let toss = flight(w_W, v_W);
    let first = start(&toss, FirstStates::Flight(6), &FLYER);
    assert_eq!(first.sample, 5);
    let seen = &toss.samples[5];
    assert!((first.p_W - seen.p_W).norm() < 1e-12);
    assert!(rotation_vector(&first.q_WB, &seen.q_WB).norm() < 1e-12);
    assert!((first.w_W - w_W).norm() < 1e-10, "{:?}", first.w_W);
    let arm_W = seen.q_WB.to_matrix() * FLYER.com_B;
    let fallen = v_W - Vec3::z() * (G * 0.025) - w_W.cross(&arm_W);
    assert!((first.v_W - fallen).norm() < 1e-10, "{:?}", first.v_W);
}

#[test]
fn samples_near_the_table_and_later_ones_are_not_seen() {
    let mut toss = flight(Vec3::zeros(), Vec3::zeros());
    toss.samples[3].p_W.z = 0.052;
    let before = start(&toss, FirstStates::Flight(6), &FLYER);
    assert_eq!(before.sample, 2);
    for sample in &mut toss.samples[3..] {
        sample.p_W.x = 7.0;
    }
    let after = start(&toss, FirstStates::Flight(6), &FLYER);
    assert_eq!(before.v_W, after.v_W);
}

/// A file with two samples more than needed, changed by `change`; the message with which it is
/// refused.
fn refused(change: impl FnOnce(&mut Value)) -> String {
    let (p, zero) = (json!([0.0, 0.0, 1.0]), json!([0.0, 0.0, 0.0]));
    let q = json!([1.0, 0.0, 0.0, 0.0]);
    let mut file = json!({
        "dt_s": 0.00675675, "mass_kg": 0.37, "half_width_m": 0.0524, "inertia_kg_m2": 0.00081,
        "tosses": [{
            "id": 3, "p_m": [p, p, p, p, p], "q_wxyz": [q, q, q, q, q],
            "v_m_per_s": [zero, zero, zero, zero, zero],
            "w_body_rad_per_s": [zero, zero, zero, zero, zero],
        }],
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tosses.json");
    fs::write(&path, file.to_string()).unwrap();
    assert_eq!(load(&path).unwrap().tosses[0].samples.len(), 5);
    change(&mut file);
    fs::write(&path, file.to_string()).unwrap();
    let message = load(&path).unwrap_err().to_string();
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    message.rsplit("tosses.json: ").next().unwrap().to_string()
}

#[test]
fn a_wrong_file_is_refused_with_place_and_reason() {
    let toss = |file: &mut Value, key: &str, value: Value| file["tosses"][0][key] = value;
    let message = refused(|f| f.as_object_mut().unwrap().remove("dt_s").map_or((), drop));
    assert_eq!(message, "the file lacks the key dt_s");
    let message = refused(|f| toss(f, "q_wxyz", Value::Null));
    assert_eq!(message, "tosses[0].q_wxyz must be a list");
    let message = refused(|f| f["tosses"][0]["p_m"][2][1] = Value::Null);
    assert_eq!(message, "tosses[0].p_m[2][1] is null; it must be a number");
    let message = refused(|f| f["tosses"][0]["p_m"][2] = json!([0.0, 1.0]));
    assert_eq!(message, "tosses[0].p_m[2] has 2 numbers; it must have 3");
    let message = refused(|f| f["tosses"][0]["q_wxyz"][4] = json!([0.9, 0.0, 0.0, 0.0]));
    assert_eq!(message, "tosses[0].q_wxyz[4] has length 0.9; it must be 1 within 0.001");
    let message = refused(|f| toss(f, "v_m_per_s", json!([[0.0, 0.0, 0.0]])));
    let expected = "tosses[0].v_m_per_s has 1 samples, but p_m has 5; they must be equal";
    assert_eq!(message, expected);
    let message = refused(|f| f["mass_kg"] = json!(-1.0));
    assert_eq!(message, "mass_kg is -1; it must be 0.001 to 1000");
    let message = refused(|f| f["tosses"] = json!([]));
    assert_eq!(message, "tosses is empty; it must have at least one toss");
    let message = refused(|f| {
        for key in ["p_m", "v_m_per_s", "w_body_rad_per_s"] {
            toss(f, key, json!([[0.0, 0.0, 1.0]]));
        }
        toss(f, "q_wxyz", json!([[1.0, 0.0, 0.0, 0.0]]));
    });
    assert_eq!(message, "tosses[0].p_m has 1 samples; a toss must have at least 3");
}

#[test]
fn a_damaged_file_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.json.gz");
    let whole = fs::read(stored()).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let message = load(&path).unwrap_err().to_string();
    assert!(message.contains("cannot be unpacked as gzip"), "{message}");
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(b"{\"dt_s\": NaN}").unwrap();
    fs::write(&path, packed.finish().unwrap()).unwrap();
    let message = load(&path).unwrap_err().to_string();
    assert!(message.contains("no JSON") && message.contains("line 1 column 10"), "{message}");
    let message = load(&folder.path().join("missing.json")).unwrap_err().to_string();
    assert!(message.contains("missing.json"), "{message}");
}
