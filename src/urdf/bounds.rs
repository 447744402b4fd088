//! Bounds on raw XML that must hold before roxmltree sees it.
//!
//! roxmltree compares each attribute of an element with all others, and copies all surrounding
//! namespaces to each element that declares one. In a file of the size allowed here, that can be
//! 10¹² comparisons or gigabytes. This scan takes one pass and no memory. It does not have to
//! understand malformed text: up to the first error both see the same tags, and roxmltree stops at
//! that error.

/// Attributes of one element. URDF needs 7.
const ATTRIBUTES_MAX: usize = 256;
/// Namespace declarations of the whole file. PR2 has 7, the most of all known robots.
const NAMESPACES_MAX: usize = 256;

/// Checks the bounds, with so many levels of elements.
///
/// # Errors
/// The byte offset of the first element that exceeds a bound, and the reason.
pub(super) fn check(text: &str, depth_max: usize) -> Result<(), (usize, String)> {
    if let Some((at, _)) = text.match_indices("xmlns").nth(NAMESPACES_MAX) {
        return Err((at, format!("more than {NAMESPACES_MAX} namespace declarations")));
    }
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(open) = behind(text, at, "<").map(|end| end - 1) {
        let tail = text.get(open..).unwrap_or_default();
        let end = if tail.starts_with("<!--") {
            behind(text, open + 4, "-->")
        } else if tail.starts_with("<![CDATA[") {
            behind(text, open + 9, "]]>")
        } else if tail.starts_with("<?") {
            behind(text, open + 2, "?>")
        } else if tail.starts_with("</") {
            depth = depth.saturating_sub(1);
            behind(text, open, ">")
        } else {
            let tag = Tag::scan(tail);
            depth += usize::from(!tail.starts_with("<!") && !tag.is_empty);
            if tag.attributes > ATTRIBUTES_MAX {
                return Err((
                    open,
                    format!("an element with more than {ATTRIBUTES_MAX} attributes"),
                ));
            }
            if depth > depth_max {
                return Err((open, format!("nested deeper than {depth_max} elements")));
            }
            Some(open + tag.bytes)
        };
        let Some(end) = end else { break };
        at = end;
    }
    Ok(())
}

/// Byte offset after the first `pattern` at or after `at`.
fn behind(text: &str, at: usize, pattern: &str) -> Option<usize> {
    Some(at + text.get(at..)?.find(pattern)? + pattern.len())
}

/// A start tag.
#[derive(Debug)]
struct Tag {
    bytes: usize,
    attributes: usize,
    /// `<tag/>`.
    is_empty: bool,
}

impl Tag {
    fn scan(text: &str) -> Self {
        let mut quote = None;
        let mut attributes = 0;
        let mut before = b'<';
        for (i, byte) in text.bytes().enumerate() {
            match (quote, byte) {
                (None, b'"' | b'\'') => {
                    quote = Some(byte);
                    attributes += 1;
                }
                (None, b'>') => {
                    return Self { bytes: i + 1, attributes, is_empty: before == b'/' };
                }
                (Some(q), _) if q == byte => quote = None,
                _ => {}
            }
            before = byte;
        }
        Self { bytes: text.len(), attributes, is_empty: true }
    }
}
