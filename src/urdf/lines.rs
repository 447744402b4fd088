//! Lines of a file.

use roxmltree::Node;

/// Where the lines of a text begin. roxmltree counts them from the top at each call.
#[derive(Debug)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        Self(std::iter::once(0).chain(after_breaks.map(|(i, _)| i + 1)).collect())
    }

    /// Line of an element, from 1.
    pub(crate) fn line(&self, node: Node<'_, '_>) -> usize {
        self.at(node.range().start)
    }

    /// Line of a byte offset, from 1.
    pub(super) fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|&start| start <= offset)
    }
}
