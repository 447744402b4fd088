//! The robot's URDF as the page draws it: without the bodies that fly free, which are among the
//! surfaces that move.

use std::collections::BTreeSet;
use std::ops::Range;

/// `urdf` without those of these bodies that are below its floating joints, what is fixed to them,
/// and the joints above them.
pub(crate) fn without(urdf: &str, bodies: &[String]) -> String {
    let joints: Vec<(Range<usize>, [String; 2])> = elements(urdf, "joint")
        .filter_map(|e| {
            let [parent, child] = ["<parent", "<child"].map(|end| {
                let (_, rest) = urdf[e.clone()].split_once(end)?;
                Some(attribute(rest, "link")?.to_string())
            });
            Some((e, [parent?, child?]))
        })
        .collect();
    let floats = |e: &Range<usize>| attribute(&urdf[e.clone()], "type") == Some("floating");
    let free = joints.iter().filter(|(e, [_, child])| floats(e) && bodies.contains(child));
    let mut gone: BTreeSet<&String> = free.map(|(_, [_, child])| child).collect();
    if gone.is_empty() {
        return urdf.into();
    }
    // as many rounds as the longest chain has links
    while joints.iter().any(|(_, [parent, child])| gone.contains(parent) && gone.insert(child)) {}
    let of_links = elements(urdf, "link").filter(|e| {
        attribute(&urdf[e.clone()], "name")
            .is_some_and(|link| gone.iter().any(|g| g.as_str() == link))
    });
    let above = joints.iter().filter(|(_, [_, child])| gone.contains(child));
    let mut cut: Vec<Range<usize>> = above.map(|(e, _)| e.clone()).chain(of_links).collect();
    cut.sort_by_key(|e| e.start);
    let (mut out, mut at) = (String::new(), 0);
    for e in cut {
        out += &urdf[at..e.start];
        at = e.end;
    }
    out + &urdf[at..]
}

/// Where the elements with this tag are in the text.
fn elements<'a>(urdf: &'a str, tag: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + urdf[at..].find(&open)?;
            let after = start + open.len();
            at = after;
            if !urdf[after..].starts_with(|c: char| c.is_whitespace() || c == '>' || c == '/') {
                continue; // another tag that begins with the same letters
            }
            let head_end = after + urdf[after..].find('>')? + 1;
            at = if urdf[..head_end].ends_with("/>") {
                head_end
            } else {
                head_end + urdf[head_end..].find(&close)? + close.len()
            };
            return Some(start..at);
        }
    })
}

/// An attribute of the first tag in the text, which begins inside that tag.
fn attribute<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let head = &text[..text.find('>')?];
    let (_, rest) = head.split_once(&format!(" {key}="))?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split(quote).next()
}
