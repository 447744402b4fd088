//! The tree of links: names, root and cycles.

use std::collections::BTreeMap;

use super::report::{Report, list};
use super::source::Source;

/// The joints between links, without refused joints, so that the later checks see the rest.
#[derive(Debug)]
pub(super) struct Tree {
    /// The only link that is no joint's child; `None` if there is not exactly one.
    pub(super) root: Option<usize>,
    /// For each link the joint whose child it is.
    pub(super) joint_above: Vec<Option<usize>>,
    /// For each link the joints whose parent it is, in the order of the file.
    pub(super) joints_below: Vec<Vec<usize>>,
    /// For each joint its parent and child link.
    pub(super) ends: Vec<Option<(usize, usize)>>,
}

/// Builds the tree and reports mistakes in its structure.
pub(super) fn find(source: &Source, report: &mut Report) -> Tree {
    let links = &source.robot.links;
    let mut tree = Tree {
        root: None,
        joint_above: vec![None; links.len()],
        joints_below: vec![Vec::new(); links.len()],
        ends: Vec::with_capacity(source.robot.joints.len()),
    };
    if links.is_empty() {
        report.mistake("the robot has no links".into());
    }
    let link_names = links.iter().map(|l| l.name.as_str());
    let (index, mut has_parent) = unique(link_names, |i| source.link(i), report);
    let joint_names = source.robot.joints.iter().map(|j| j.name.as_str());
    unique(joint_names, |j| source.joint(j), report);

    for (j, joint) in source.robot.joints.iter().enumerate() {
        let mut end = |role: &str, name: &str| {
            let found = index.get(name).copied();
            if found.is_none() {
                let text =
                    format!("{}: {role} link {} does not exist", source.joint(j), list(&[name]));
                report.mistake(text);
            }
            found
        };
        let parent = end("parent", &joint.parent.link);
        let child = end("child", &joint.child.link);
        if let Some(claim) = child.and_then(|c| has_parent.get_mut(c)) {
            *claim = true;
        }
        let ends = parent.zip(child).filter(|&(_, c)| !is_claimed(source, &tree, c, j, report));
        if let Some((p, c)) = ends {
            tree.joint_above[c] = Some(j);
            tree.joints_below[p].push(j);
        }
        tree.ends.push(ends);
    }
    report_cycles(source, &tree, report);
    tree.root = root(source, &has_parent, report);
    tree
}

/// Index of each name. The flags mark repeated names, which are reported and not indexed.
fn unique<'a>(
    names: impl Iterator<Item = &'a str>,
    describe: impl Fn(usize) -> String,
    report: &mut Report,
) -> (BTreeMap<&'a str, usize>, Vec<bool>) {
    let mut index = BTreeMap::new();
    let mut is_repeated = Vec::new();
    for (i, name) in names.enumerate() {
        let first = *index.entry(name).or_insert(i);
        is_repeated.push(first != i);
        if first != i {
            report.mistake(format!("{} has the same name as {}", describe(i), describe(first)));
        }
    }
    (index, is_repeated)
}

fn is_claimed(source: &Source, tree: &Tree, link: usize, j: usize, report: &mut Report) -> bool {
    let Some(first) = tree.joint_above[link] else { return false };
    report.mistake(format!(
        "{} has two parents: it is the child of {} and of {}",
        source.link(link),
        source.joint(first),
        source.joint(j)
    ));
    true
}

/// Walks up from each link; a link that the walk reaches again is on a cycle.
fn report_cycles(source: &Source, tree: &Tree, report: &mut Report) {
    /// The walk that passed a link first.
    const NOT_YET: usize = usize::MAX;
    let mut walk_of = vec![NOT_YET; tree.joint_above.len()];
    for start in 0..walk_of.len() {
        let mut at = start;
        while walk_of[at] == NOT_YET {
            walk_of[at] = start;
            match parent(tree, at) {
                Some(up) => at = up,
                None => break,
            }
        }
        if walk_of[at] != start || parent(tree, at).is_none() {
            continue;
        }
        let mut cycle = vec![at];
        while let Some(up) = cycle.last().and_then(|&l| parent(tree, l)).filter(|&up| up != at) {
            cycle.push(up);
        }
        // the walk goes from child to parent, the message from parent to child
        if let Some(others) = cycle.get_mut(1..) {
            others.reverse();
        }
        let names: Vec<&str> = cycle.iter().map(|&l| source.robot.links[l].name.as_str()).collect();
        report.mistake(format!(
            "{}: a cycle of joints leads back to it; links on the cycle: {}",
            source.link(at),
            list(&names)
        ));
    }
}

fn parent(tree: &Tree, link: usize) -> Option<usize> {
    tree.joint_above[link].and_then(|j| tree.ends[j]).map(|(p, _)| p)
}

/// The only link without a parent. A file without any has a cycle, which is already reported.
fn root(source: &Source, has_parent: &[bool], report: &mut Report) -> Option<usize> {
    let roots: Vec<usize> = (0..has_parent.len()).filter(|&l| !has_parent[l]).collect();
    match roots[..] {
        [root] => Some(root),
        [] => None,
        _ => {
            // a joint without ends is already reported and is the reason for its extra root
            if !source.has_lost_joints {
                let names: Vec<&str> =
                    roots.iter().map(|&l| source.robot.links[l].name.as_str()).collect();
                report.mistake(format!(
                    "{} links are no joint's child, but a robot has one root: {}",
                    roots.len(),
                    list(&names)
                ));
            }
            None
        }
    }
}
