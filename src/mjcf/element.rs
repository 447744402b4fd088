//! The elements of a model, after its includes.

use std::path::{Path, PathBuf};

use roxmltree::Node;

use crate::urdf::{Lines, parse_xml, read_urdf_text};
use hardstand_error::{Error, ErrorKind, Result};

/// Files of a model.
const FILES_MAX: usize = 64;
/// Elements inside each other.
const DEPTH_MAX: usize = 256;

/// An element.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) tag: String,
    attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    /// File and line, for messages.
    pub(super) place: String,
}

impl Element {
    /// An attribute.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Names of the attributes.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().map(|(name, _)| name.as_str())
    }

    /// Children with this tag.
    pub(super) fn all<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |c| c.tag == tag)
    }
}

/// Reads a model and what it includes: the root, and the files that are included.
///
/// # Errors
/// [`ErrorKind::File`] if a file cannot be read; [`ErrorKind::Input`] if one is not well-formed
/// XML, is included twice, or the root element is not `mujoco`.
pub(super) fn read(path: &Path) -> Result<(Element, Vec<PathBuf>)> {
    let mut reader = Reader { main: folder(path), seen: Vec::new() };
    let root = reader.file(path, 0)?;
    if root.tag != "mujoco" {
        let text = format!("{}: the root element is <{}>, not <mujoco>", root.place, root.tag);
        return Err(Error::new(ErrorKind::Input, text));
    }
    Ok((root, reader.seen.split_off(1)))
}

/// True if the text is a MuJoCo model.
pub(super) fn is_mjcf(text: &str) -> bool {
    parse_xml(text, "").is_ok_and(|document| document.root_element().tag_name().name() == "mujoco")
}

/// A file that is being read.
struct File<'a> {
    path: &'a Path,
    lines: Lines,
}

impl File<'_> {
    fn place(&self, node: Node<'_, '_>) -> String {
        format!("{}:{}", self.path.display(), self.lines.line(node))
    }
}

struct Reader {
    /// Folder of the main file.
    main: PathBuf,
    seen: Vec<PathBuf>,
}

fn folder(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).to_path_buf()
}

impl Reader {
    fn file(&mut self, path: &Path, depth: usize) -> Result<Element> {
        let file = path.display().to_string();
        let refuse = |text: String| Error::new(ErrorKind::Input, text);
        if self.seen.iter().any(|p| p == path) {
            return Err(refuse(format!("{file}: the model includes this file twice")));
        }
        if self.seen.len() >= FILES_MAX {
            return Err(refuse(format!("{file}: the model has more than {FILES_MAX} files")));
        }
        self.seen.push(path.to_path_buf());
        let text = read_urdf_text(path)?;
        let document = parse_xml(&text, &file)?;
        let file = File { path, lines: Lines::of(&text) };
        self.element(document.root_element(), &file, depth)
    }

    fn element(&mut self, node: Node<'_, '_>, file: &File<'_>, depth: usize) -> Result<Element> {
        let place = file.place(node);
        if depth > DEPTH_MAX {
            let text = format!("{place}: more than {DEPTH_MAX} elements inside each other");
            return Err(Error::new(ErrorKind::Input, text));
        }
        let mut children = Vec::new();
        for child in node.children().filter(Node::is_element) {
            if child.tag_name().name() == "include" {
                children.extend(self.included(child, file, depth)?.children);
            } else {
                children.push(self.element(child, file, depth + 1)?);
            }
        }
        let attribute = |a: roxmltree::Attribute<'_, '_>| (a.name().into(), a.value().into());
        // an empty name is none
        let says = |a: &roxmltree::Attribute<'_, '_>| a.name() != "name" || !a.value().is_empty();
        let attributes = node.attributes().filter(says).map(attribute).collect();
        Ok(Element { tag: node.tag_name().name().into(), attributes, children, place })
    }

    /// As MuJoCo: relative to the main file, or else to the file that includes it.
    fn included(&mut self, node: Node<'_, '_>, file: &File<'_>, depth: usize) -> Result<Element> {
        let place = file.place(node);
        let Some(name) = node.attribute("file") else {
            let text = format!("{place}: <include> inside needs the attribute file");
            return Err(Error::new(ErrorKind::Input, text));
        };
        let beside_main = self.main.join(name);
        let found = if beside_main.exists() { beside_main } else { folder(file.path).join(name) };
        self.file(&found, depth + 1).map_err(|e| e.within(format!("{place}: <include>")))
    }
}
