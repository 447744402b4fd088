//! The ground of a scenario: planes, solids, heightfields, and how they move.

use crate::limits::{NAME_BYTES_MAX, STAIRS_MAX, SURFACES_MAX};
use hardstand_error::Result;
use hardstand_physics::contact::{
    ContactMaterial, ConvexSolid, Heightfield, Platform, PlatformMotion, SoftGround, Surface,
    SurfaceShape, stairs,
};
use hardstand_physics::spatial::Transform;

use super::materials::Materials;
use super::section::{Mistakes, Range, Section};
use super::spring_keys;

const EDGE_RADIUS_M: f64 = 0.01;

/// Surfaces and their materials.
#[derive(Debug, Default)]
pub(super) struct Ground {
    pub(super) surfaces: Vec<Surface>,
    pub(super) materials: Vec<ContactMaterial>,
}

pub(super) fn ground(
    root: &Section<'_>,
    materials: &Materials,
    material: Option<ContactMaterial>,
    mistakes: &Mistakes,
) -> Ground {
    let mut out = Ground::default();
    for (i, s) in root.sections("planes").into_iter().enumerate() {
        let shape = |_: &Section<'_>| Some(vec![(Transform::identity(), SurfaceShape::Plane)]);
        add(&s, &format!("plane.{i}"), shape, materials, material, &mut out);
        s.finish();
    }
    for (i, s) in root.sections("terrain").into_iter().enumerate() {
        let shape = |s: &Section<'_>| shape(s, mistakes);
        add(&s, &format!("terrain.{i}"), shape, materials, material, &mut out);
        s.finish();
    }
    let count = out.surfaces.len();
    if count == 0 || count > SURFACES_MAX {
        mistakes.add(format!(
            "planes and terrain make {count} surfaces; 1 to {SURFACES_MAX} (stairs count each step)"
        ));
    }
    mistakes.refuse_twins("planes and terrain", out.surfaces.iter().map(|s| s.name.as_str()));
    out
}

/// Adds the surfaces of one entry; stairs have several.
fn add(
    s: &Section<'_>,
    default_name: &str,
    shape: impl Fn(&Section<'_>) -> Option<Vec<(Transform, SurfaceShape)>>,
    materials: &Materials,
    material: Option<ContactMaterial>,
    out: &mut Ground,
) {
    let name = s.text_if_given("name").unwrap_or(default_name);
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        s.mistake("name", &format!("1 to {NAME_BYTES_MAX} bytes long"));
    }
    let p = s.vec3("position_m", Range::between(-1e5, 1e5));
    let rpy =
        if s.has("rpy_rad") { s.vec3("rpy_rad", Range::between(-10.0, 10.0)) } else { [0.0; 3] };
    let X_WS = Transform::from_xyz_rpy(p, rpy);
    let platform = s.has("motion").then(|| Platform { X_WE: X_WS, motion: motion(s) });
    let Some(material) = materials.named(s, "material", material) else { return };
    let spring = spring_keys::of_surface(s);
    let soft = if s.has("soft") { soft_ground(s) } else { None };
    let Some(shapes) = shape(s) else { return };
    let several = shapes.len() > 1;
    for (i, (X_EP, shape)) in shapes.into_iter().enumerate() {
        let name = if several { format!("{name}.{i}") } else { name.to_string() };
        let (X_WS, platform) = (X_WS.compose(&X_EP), platform.clone());
        out.surfaces.push(Surface { name, X_WS, shape, platform, spring, soft });
        out.materials.push(material);
    }
}

/// Soft ground of which nothing else is said.
const DISSIPATION_S_PER_M: f64 = 1.0;
const PRINT_RADIUS_M: f64 = 0.05;

/// Ground that has a name, under a round foot of 2 cm radius that carries 50 N: force by depth,
/// N/m, and how much steeper the way out is. `docs/contact.md` has the sources.
const NAMED: [(&str, [f64; 2]); 3] =
    [("sand", [1400.0, 10.0]), ("grass", [11_000.0, 10.0]), ("gravel", [120_000.0, 10.0])];

/// The law in the key `soft` of `surface`: one that has a name, or its numbers.
fn soft_ground(surface: &Section<'_>) -> Option<SoftGround> {
    if surface.is_text("soft") {
        let [sink_n_per_m, rebound] = surface.choice("soft", &NAMED)?;
        return SoftGround::new(sink_n_per_m, rebound, DISSIPATION_S_PER_M, PRINT_RADIUS_M).ok();
    }
    let s = surface.section("soft");
    let number =
        |key: &str, range: Range, default: f64| s.f64_if_given(key, range).unwrap_or(default);
    let sink_n_per_m = s.f64("sink_n_per_m", Range::above(0.0));
    let rebound = number("rebound", Range::between(1.0, 1000.0), 10.0);
    let dissipation =
        number("dissipation_s_per_m", Range::between(0.0, 1000.0), DISSIPATION_S_PER_M);
    let radius_m = number("print_radius_m", Range::between(1e-3, 10.0), PRINT_RADIUS_M);
    s.finish();
    // a number out of range is already reported
    SoftGround::new(sink_n_per_m, rebound, dissipation, radius_m).ok()
}

/// The motion in the key `motion` of `surface`.
fn motion(surface: &Section<'_>) -> PlatformMotion {
    let s = surface.section("motion");
    let vec3 = |key: &str, range: Range| if s.has(key) { s.vec3(key, range) } else { [0.0; 3] };
    let number = |key: &str, range: Range| s.f64_if_given(key, range).unwrap_or(0.0);
    let motion = PlatformMotion {
        velocity_m_per_s: vec3("velocity_m_per_s", Range::between(-100.0, 100.0)),
        amplitude_m: vec3("amplitude_m", Range::between(-100.0, 100.0)),
        rocking_rad: vec3("rocking_rad", Range::between(-3.0, 3.0)),
        frequency_hz: number("frequency_hz", Range::between(0.0, 1000.0)),
        phase_rad: number("phase_rad", Range::between(-6.0, 6.0)),
        ramp_s: number("ramp_s", Range::between(0.0, 1e6)),
    };
    if let Err(e) = motion.check() {
        surface.complain("motion", &e.to_string());
    }
    let swings = s.has("amplitude_m") || s.has("rocking_rad");
    let timed = s.has("frequency_hz") || s.has("phase_rad");
    if swings && !timed {
        s.complain("frequency_hz", "it is missing: without it an amplitude moves nothing");
    }
    if !swings && (timed || !s.has("velocity_m_per_s")) {
        let rule = "give amplitude_m or rocking_rad with frequency_hz, or velocity_m_per_s alone";
        surface.complain("motion", rule);
    }
    s.finish();
    motion
}

#[derive(Clone, Copy)]
enum Kind {
    Box,
    Ramp,
    Stairs,
    Heightfield,
}

fn shape(s: &Section<'_>, mistakes: &Mistakes) -> Option<Vec<(Transform, SurfaceShape)>> {
    let kinds = [
        ("box", Kind::Box),
        ("ramp", Kind::Ramp),
        ("stairs", Kind::Stairs),
        ("heightfield", Kind::Heightfield),
    ];
    let before = mistakes.count();
    let shapes = match s.choice("kind", &kinds)? {
        Kind::Heightfield => {
            heightfield(s).map(|h| vec![SurfaceShape::Heightfield(h)]).map(at_origin)
        }
        kind => solids(s, kind),
    };
    if mistakes.count() > before {
        return None;
    }
    shapes.map_err(|e| s.complain("kind", &e.to_string())).ok()
}

fn at_origin(shapes: Vec<SurfaceShape>) -> Vec<(Transform, SurfaceShape)> {
    shapes.into_iter().map(|shape| (Transform::identity(), shape)).collect()
}

fn solids(s: &Section<'_>, kind: Kind) -> Result<Vec<(Transform, SurfaceShape)>> {
    let size = Range::between(1e-3, 999.0);
    let edge_m =
        s.f64_if_given("edge_radius_m", Range::between(1e-4, 1e3)).unwrap_or(EDGE_RADIUS_M);
    let solid = |solid: ConvexSolid| at_origin(vec![SurfaceShape::Solid(solid)]);
    match kind {
        Kind::Ramp => {
            let (length, width) = (s.f64("length_m", size), s.f64("width_m", size));
            ConvexSolid::ramp(length, width, s.f64("height_m", size), edge_m).map(solid)
        }
        Kind::Stairs => {
            let steps = s.count("steps", 1, STAIRS_MAX as u32) as usize;
            let step = Range::between(1e-3, 10.0);
            let (rise, run) = (s.f64("rise_m", step), s.f64("run_m", step));
            let steps = stairs(steps, rise, run, s.f64("width_m", step), edge_m)?;
            Ok(steps.into_iter().map(|(X, step)| (X, SurfaceShape::Solid(step))).collect())
        }
        _ => ConvexSolid::cuboid(s.vec3("size_m", size), edge_m).map(solid),
    }
}

fn heightfield(s: &Section<'_>) -> Result<Heightfield> {
    let origin = s.vec2("origin_m", Range::between(-1e5, 1e5));
    let spacing_m = s.f64("spacing_m", Range::between(1e-3, 100.0));
    let rows = s.rows("heights_m", Range::between(-1e4, 1e4));
    let columns = rows.first().map_or(0, Vec::len);
    Heightfield::new(origin, spacing_m, columns, rows.len(), &rows.concat())
}
