//! Meshes and materials.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::compiler::Compiler;
use super::defaults::Defaults;
use super::element::Element;
use hardstand_physics::spatial::{Mat3, Quaternion, Transform, Vec3};

use super::mesh::{self, Measure, Spread};
use super::report::Report;

/// A mesh: its file, relative to the main file if it lies below it, and its scale.
#[derive(Clone, Debug)]
pub(super) struct MeshFile {
    pub(super) file: String,
    pub(super) scale: [f64; 3],
    /// Pose that becomes the mesh's own.
    reference: Transform,
    /// How it is weighed, in MuJoCo's word.
    inertia: String,
    path: PathBuf,
    /// A mass or an inertia of the robot comes from it.
    is_weighed: Cell<bool>,
}

impl MeshFile {
    /// The pose in the geom of the file's frame, scaled.
    pub(super) fn X_GF(&self) -> Transform {
        let mut X = self.reference.inverse();
        let [x, y, z] = self.scale;
        X.p = Vec3::new(x * X.p.x, y * X.p.y, z * X.p.z);
        X
    }

    /// Its mass and inertia.
    ///
    /// # Errors
    /// As [`mesh::read`], or if it cannot be weighed in this way.
    pub(super) fn measure(&self) -> std::result::Result<Measure, String> {
        let spread = match self.inertia.as_str() {
            "exact" => Spread::Exact,
            "legacy" => Spread::Legacy,
            "shell" => Spread::Shell,
            other => return Err(format!("a mesh cannot be weighed by inertia=\"{other}\" here")),
        };
        self.is_weighed.set(true);
        let mut triangles = mesh::read(&self.path).map_err(|e| e.to_string())?;
        let back = self.reference.inverse();
        let mirrored = self.scale.iter().product::<f64>() < 0.0;
        for t in &mut triangles {
            *t = t.map(|v| {
                let [x, y, z] = (back.R * v + back.p).to_array();
                Vec3::new(x * self.scale[0], y * self.scale[1], z * self.scale[2])
            });
            if mirrored {
                t.swap(1, 2);
            }
        }
        mesh::measure(&triangles, spread).ok_or_else(|| "the mesh has no volume".into())
    }
}

/// What geoms refer to by name.
#[derive(Debug, Default)]
pub(super) struct Assets {
    pub(super) meshes: BTreeMap<String, MeshFile>,
    pub(super) colours: BTreeMap<String, [f64; 4]>,
}

impl Assets {
    pub(super) fn of(
        root: &Element,
        folder: &Path,
        compiler: &Compiler,
        defaults: &Defaults,
        report: &mut Report,
    ) -> Self {
        let mut all = Self::default();
        for e in root.all("asset").flat_map(|section| &section.children) {
            let of = defaults.resolve(e, "", &[&e.tag], report);
            match (e.tag.as_str(), e.get("name"), e.get("file")) {
                ("mesh", name, Some(file)) => {
                    let stem = Path::new(file).file_stem().unwrap_or_default();
                    let name = name.map_or_else(|| stem.to_string_lossy().into(), String::from);
                    let scale = of.vec3("scale", report).unwrap_or([1.0; 3]);
                    let p = Vec3::from(of.vec3("refpos", report).unwrap_or_default());
                    let quat = of.numbers("refquat", 4..=4, report);
                    let R = quat.map_or(Mat3::identity(), |q| {
                        Quaternion::from_wxyz([q[0], q[1], q[2], q[3]]).normalised().to_matrix()
                    });
                    let reference = Transform { R, p };
                    let is_uniform = scale[0] == scale[1] && scale[1] == scale[2];
                    if R != Mat3::identity() && !is_uniform {
                        let text = "refquat of a mesh whose scales differ is not supported";
                        report.mistake(format!("{}: {text}", e.place));
                    }
                    let path = path_of(file, folder, compiler, &e.place);
                    let file = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
                    let inertia = of.text("inertia").unwrap_or("legacy").to_string();
                    let is_weighed = Cell::default();
                    let mesh = MeshFile { file, scale, reference, inertia, path, is_weighed };
                    all.meshes.insert(name, mesh);
                }
                ("material", Some(name), _) => {
                    if let Some(c) = of.numbers("rgba", 4..=4, report) {
                        all.colours.insert(name.into(), [c[0], c[1], c[2], c[3]]);
                    }
                }
                _ => {}
            }
        }
        all
    }

    /// The files of the meshes that were weighed.
    pub(super) fn weighed(&self) -> impl Iterator<Item = PathBuf> {
        self.meshes.values().filter(|mesh| mesh.is_weighed.get()).map(|mesh| mesh.path.clone())
    }
}

/// As MuJoCo: in the folder of meshes, or else beside the file that names it.
fn path_of(file: &str, folder: &Path, compiler: &Compiler, place: &str) -> PathBuf {
    let last = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file);
    let file = if compiler.strips_path { last } else { file };
    let first = folder.join(&compiler.mesh_folder).join(file);
    let beside = place.rsplit_once(':').map_or(Path::new(""), |(path, _)| Path::new(path));
    let second = beside.parent().unwrap_or(Path::new("")).join(file);
    if !first.exists() && second.exists() { second } else { first }
}
