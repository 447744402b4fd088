//! The meshes of a robot description: where they are on this machine, and under which names the
//! page asks for them.

#[cfg(feature = "server")]
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
#[cfg(feature = "server")]
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Folders that meshes of a URDF are looked for in.
#[derive(Clone, Debug, Default)]
pub struct MeshFolders(Vec<PathBuf>);

/// The meshes that were found, by the name under which the page asks for them.
#[cfg(feature = "server")]
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
        let named = |path: &Path, _| {
            let bytes = std::fs::read(path).ok()?;
            let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            Some(format!("data:model/{extension};base64,{}", STANDARD.encode(bytes)))
        };
        self.renamed(urdf, named)
    }

    /// `urdf` with the names under which the page gets its meshes, and where they are. Those that
    /// are not found keep their names: the page shows a bone instead. `robot` is its number among
    /// those of the page.
    #[cfg(feature = "server")]
    fn resolve(&self, urdf: &str, robot: usize) -> (String, Meshes) {
        let mut found = BTreeMap::new();
        let text = self.renamed(urdf, |path, number| {
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            let own = format!("mesh/{robot}-{number}.{extension}");
            found.insert(own.clone(), path.into());
            Some(own)
        });
        (text, Meshes(Arc::new(found)))
    }

    /// `urdf` with other names of the meshes that are found; `name` makes them from the file and
    /// its number. A text that is no XML stays as it is.
    fn renamed(&self, urdf: &str, mut name: impl FnMut(&Path, usize) -> Option<String>) -> String {
        let Ok(document) = roxmltree::Document::parse(urdf) else { return urdf.into() };
        let (mut text, mut copied, mut number) = (String::new(), 0, 0);
        for node in document.descendants().filter(|node| node.has_tag_name("mesh")) {
            let Some(attribute) = node.attribute_node("filename") else { continue };
            let Some(path) = self.find(attribute.value()) else { continue };
            let Some(name) = name(&path, number) else { continue };
            text += &urdf[copied..attribute.range_value().start];
            text += &name;
            copied = attribute.range_value().end;
            number += 1;
        }
        text + &urdf[copied..]
    }
}

#[cfg(feature = "server")]
impl Meshes {
    /// The mesh that the page calls `name`.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.0.get(name)?).ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::MeshFolders;

    #[test]
    fn a_mesh_is_found_however_xml_writes_its_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.stl", "b & c.stl"] {
            std::fs::write(folder.path().join(name), "solid").unwrap();
        }
        let folders = MeshFolders::new(vec![folder.path().into()]);
        let names =
            ["filename='a.stl'", "filename = \"a.stl\"", "filename=\"b &amp; c.stl\"", "x=''"];
        let urdf = names.map(|name| format!("<mesh {name}/>")).concat();
        let urdf = format!("<robot>{urdf}<mesh filename=\"gone.stl\"/></robot>");
        let page = folders.inlined(&urdf);
        assert_eq!(page.matches("data:model/stl;base64,c29saWQ=").count(), 3, "{page}");
        assert!(page.ends_with("<mesh x=''/><mesh filename=\"gone.stl\"/></robot>"), "{page}");
        assert_eq!(folders.inlined("no <xml"), "no <xml");
    }
}
