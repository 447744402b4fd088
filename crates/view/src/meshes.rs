//! The meshes of a robot description: where they are on this machine, and under which names the
//! page asks for them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "server")]
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Folders that meshes of a URDF are looked for in.
#[derive(Clone, Debug, Default)]
pub struct MeshFolders(Vec<PathBuf>);

/// The meshes that were found, by the name under which the page asks for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meshes(Arc<BTreeMap<String, PathBuf>>);

/// The meshes of all robots of a page, by the number of the robot.
#[cfg(feature = "server")]
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedMeshes(Arc<Mutex<BTreeMap<usize, Meshes>>>);

#[cfg(feature = "server")]
impl SharedMeshes {
    /// `urdf` of a robot with the names under which the page gets its meshes, which are served
    /// from now on instead of earlier ones of this robot.
    pub(crate) fn resolve(&self, robot: usize, folders: &MeshFolders, urdf: &str) -> String {
        let (urdf, meshes) = folders.resolve(urdf, robot);
        self.all().insert(robot, meshes);
        urdf
    }

    /// The mesh that the page calls `name`.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        let all: Vec<Meshes> = self.all().values().cloned().collect();
        all.iter().find_map(|meshes| meshes.read(name))
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<usize, Meshes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A larger mesh is not served, bytes.
const MESH_BYTES_MAX: u64 = 64 << 20;
/// Files that a page may ask for. Nothing else of a folder is served.
const EXTENSIONS: [&str; 3] = ["stl", "obj", "dae"];

impl MeshFolders {
    /// Looks in these folders: for `package://PACKAGE/REST` under `PACKAGE/REST` and `REST`, for
    /// other names under the name itself.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self(folders)
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        let rest = name.strip_prefix("package://").or_else(|| name.strip_prefix("file://"));
        let rest = rest.unwrap_or(name).trim_start_matches('/');
        let within = rest.split_once('/').map_or(rest, |(_, rest)| rest);
        let known = |path: &Path| {
            let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
            EXTENSIONS.contains(&extension.to_lowercase().as_str())
                && path.metadata().is_ok_and(|m| m.is_file() && m.len() <= MESH_BYTES_MAX)
        };
        let goes_up = Path::new(rest).components().any(|c| c.as_os_str() == "..");
        let candidates = self.0.iter().flat_map(|f| [f.join(rest), f.join(within)]);
        candidates.filter(|_| !goes_up).find(|path| known(path))
    }

    /// `urdf` with the meshes inside, as data URLs, for a page without a server.
    #[must_use]
    pub fn inlined(&self, urdf: &str) -> String {
        let (text, meshes) = self.resolve(urdf, 0);
        meshes.0.keys().fold(text, |text, name| {
            let Some(bytes) = meshes.read(name) else { return text };
            let extension = name.rsplit('.').next().unwrap_or_default();
            let url = format!("data:model/{extension};base64,{}", STANDARD.encode(bytes));
            text.replace(&format!("filename=\"{name}\""), &format!("filename=\"{url}\""))
        })
    }

    /// `urdf` with the names under which the page gets its meshes, and where they are. Those that
    /// are not found keep their names: the page shows a bone instead. `robot` is its number among
    /// those of the page.
    fn resolve(&self, urdf: &str, robot: usize) -> (String, Meshes) {
        let (mut text, mut found, mut rest) = (String::new(), BTreeMap::new(), urdf);
        while let Some((before, after)) = rest.split_once("filename=\"") {
            let (name, behind) = after.split_once('"').unwrap_or((after, ""));
            text += before;
            match self.find(name) {
                Some(path) => {
                    let extension = path.extension().unwrap_or_default().to_string_lossy();
                    let own = format!("mesh/{robot}-{}.{extension}", found.len());
                    text += &format!("filename=\"{own}\"");
                    found.insert(own, path);
                }
                None => text += &format!("filename=\"{name}\""),
            }
            rest = behind;
        }
        (text + rest, Meshes(Arc::new(found)))
    }
}

impl Meshes {
    /// The mesh that the page calls `name`.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.0.get(name)?).ok()
    }
}
