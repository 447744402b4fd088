//! First check of untrusted XML: the document is well-formed and its nesting is bounded.

use std::borrow::Cow;

use roxmltree::{Document, Error as XmlError, Node, ParsingOptions};

use super::bounds;
use super::lines::Lines;
use hardstand_error::{Error, ErrorKind, Result};

/// Elements, texts and comments. A humanoid with plugins has 10,000.
const NODES_MAX: u32 = 1_000_000;
/// Levels of elements of a URDF. It needs 5, SDF inside `<gazebo>` a few more; deeper is an attack.
const DEPTH_MAX: usize = 32;
/// Levels of elements of any file: a MuJoCo model has one for each body of a chain.
const ANY_DEPTH_MAX: usize = 512;
/// Links or joints of one robot. Bounds the time of name look-ups.
pub(crate) const LINKS_MAX: usize = 4096;
/// Prefixes that this module declares for the file.
const PREFIXES_MAX: usize = 16;

/// The text with a declaration for each namespace prefix that it uses and does not declare.
///
/// Most URDF readers ignore namespaces, so files with a bare `drake:gear_ratio` are common. The
/// declarations go after the name of the root element and add no line.
pub(super) fn declare_prefixes<'a>(text: &'a str, file: &str) -> Result<Cow<'a, str>> {
    within_bounds(text, file, DEPTH_MAX)?;
    let mut text = Cow::Borrowed(text);
    for _ in 0..PREFIXES_MAX {
        let unknown = match parse(&text) {
            Ok(_) => return Ok(text),
            Err(XmlError::UnknownNamespace(prefix, _)) => prefix,
            Err(e) => return Err(malformed(file, &text, &e)),
        };
        let Some(at) = end_of_root_name(&text) else { break };
        let (head, tail) = text.split_at(at);
        text = Cow::Owned(format!("{head} xmlns:{unknown}=\"urn:undeclared:{unknown}\"{tail}"));
    }
    parse(&text).map_err(|e| malformed(file, &text, &e))?;
    Ok(text)
}

/// Parses the document and checks that it can be a robot.
pub(super) fn open<'a>(text: &'a str, file: &str) -> Result<Document<'a>> {
    let document = parse(text).map_err(|e| malformed(file, text, &e))?;
    for node in document.descendants().filter(Node::is_element) {
        if is_xacro(node) {
            let reason = "xacro is a macro language and must be expanded first: \
                          `xacro robot.urdf.xacro > robot.urdf`, or without ROS `pip install \
                          xacrodoc && xacrodoc robot.urdf.xacro -o robot.urdf`, then name the \
                          result";
            return Err(refuse(file, line(&document, node), reason));
        }
    }
    let root = document.root_element();
    if root.tag_name().name() != "robot" {
        let found = super::report::shown(root.tag_name().name());
        let reason = format!("the root element is <{found}>, not <robot>; is this a URDF file?");
        return Err(refuse(file, line(&document, root), &reason));
    }
    for name in ["link", "joint"] {
        let mut elements = root.children().filter(|n| n.tag_name().name() == name);
        if let Some(first_too_many) = elements.nth(LINKS_MAX) {
            let reason = format!("more than {LINKS_MAX} elements <{name}>");
            return Err(refuse(file, line(&document, first_too_many), &reason));
        }
    }
    Ok(document)
}

fn within_bounds(text: &str, file: &str, depth_max: usize) -> Result<()> {
    bounds::check(text, depth_max)
        .map_err(|(at, reason)| refuse(file, Lines::of(text).at(at), &reason))
}

/// Parses a file that may be no URDF.
pub(crate) fn parse_any<'a>(text: &'a str, file: &str) -> Result<Document<'a>> {
    within_bounds(text, file, ANY_DEPTH_MAX)?;
    parse(text).map_err(|e| malformed(file, text, &e))
}

/// roxmltree parses without recursion and rejects DTDs, hence also entity bombs.
fn parse(text: &str) -> std::result::Result<Document<'_>, XmlError> {
    let options = ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    Document::parse_with_options(text, options)
}

fn malformed(file: &str, text: &str, error: &XmlError) -> Error {
    let pos = error.pos();
    let reason = match error {
        XmlError::NoRootNode if text.trim().is_empty() => "the file is empty".to_owned(),
        XmlError::NoRootNode => "the file has no XML element; is this a URDF file?".to_owned(),
        XmlError::UnclosedRootNode => {
            let line = text.lines().count();
            let hint = "the root element is never closed; is the file cut off?";
            return refuse(file, line, &format!("not well-formed XML: {hint}"));
        }
        XmlError::DtdDetected => "a document type (<!DOCTYPE …>) is not accepted; \
                                  remove it, URDF needs none"
            .to_owned(),
        XmlError::NodesLimitReached => format!("the file has more than {NODES_MAX} XML nodes"),
        other => format!("not well-formed XML: {other}"),
    };
    refuse(file, pos.row as usize, &reason)
}

fn refuse(file: &str, line: usize, reason: &str) -> Error {
    Error::new(ErrorKind::Input, format!("{file}:{line}: {reason}"))
}

fn line(document: &Document<'_>, node: Node<'_, '_>) -> usize {
    document.text_pos_at(node.range().start).row as usize
}

/// A xacro element, or a URDF element with an unexpanded expression. A declaration of the prefix
/// alone is no evidence: xacro leaves it in its output.
fn is_xacro(node: Node<'_, '_>) -> bool {
    let is_xacro_uri = |uri: Option<&str>| uri.is_some_and(|u| u.ends_with("xacro"));
    const URDF: [&str; 14] = [
        "robot", "link", "joint", "origin", "mass", "inertia", "parent", "child", "axis", "limit",
        "dynamics", "box", "cylinder", "sphere",
    ];
    is_xacro_uri(node.tag_name().namespace())
        || URDF.contains(&node.tag_name().name())
            && node.attributes().any(|a| {
                is_xacro_uri(a.namespace()) || a.value().contains("${") || a.value().contains("$(")
            })
}

/// Byte offset after the name of the root element's start tag.
fn end_of_root_name(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text.get(at..)?.find('<')?;
        let tail = text.get(at..)?;
        at += if tail.starts_with("<?") {
            tail.find("?>")? + 2
        } else if tail.starts_with("<!--") {
            tail.find("-->")? + 3
        } else {
            return Some(at + tail.find(|c: char| c.is_whitespace() || c == '>' || c == '/')?);
        };
    }
}
