//! Default classes, and attributes with their defaults.

use std::collections::BTreeMap;

use super::element::Element;
use super::report::Report;

/// The class that every other one inherits from.
const MAIN: &str = "main";

/// A class: its parent, and what it says of elements.
#[derive(Debug, Default)]
struct Class {
    parent: Option<String>,
    elements: Vec<Element>,
}

/// All default classes.
#[derive(Debug)]
pub(super) struct Defaults(BTreeMap<String, Class>);

/// An element with its defaults: the element first, then its classes from the nearest on.
#[derive(Clone, Debug)]
pub(super) struct Resolved<'a>(Vec<&'a Element>);

impl Defaults {
    /// Those of a model; sections add up.
    pub(super) fn of(root: &Element, report: &mut Report) -> Self {
        let mut all = Self(BTreeMap::from([(MAIN.into(), Class::default())]));
        for section in root.all("default") {
            all.add(section, MAIN, report);
        }
        all
    }

    fn add(&mut self, section: &Element, name: &str, report: &mut Report) {
        for child in &section.children {
            if child.tag != "default" {
                if let Some(class) = self.0.get_mut(name) {
                    class.elements.push(child.clone());
                }
                continue;
            }
            let Some(inner) = child.get("class") else {
                report.mistake(format!("{}: a nested <default> needs a class", child.place));
                continue;
            };
            if self.0.contains_key(inner) {
                report.mistake(format!("{}: there are two classes \"{inner}\"", child.place));
                continue;
            }
            let class = Class { parent: Some(name.into()), elements: Vec::new() };
            self.0.insert(inner.into(), class);
            self.add(child, inner, report);
        }
    }

    /// `element` with the defaults of its own `class`, or of `childclass`, for one of `tags`.
    pub(super) fn resolve<'a>(
        &'a self,
        element: &'a Element,
        childclass: &str,
        tags: &[&str],
        report: &mut Report,
    ) -> Resolved<'a> {
        let mut layers = vec![element];
        let own = element.get("class").unwrap_or(childclass);
        let mut next = Some(if own.is_empty() { MAIN } else { own });
        while let Some(name) = next {
            let Some(class) = self.0.get(name) else {
                report.mistake(format!("{}: there is no class \"{name}\"", element.place));
                break;
            };
            // of two in one class, the later one counts
            layers.extend(class.elements.iter().rev().filter(|e| tags.contains(&e.tag.as_str())));
            next = class.parent.as_deref();
        }
        Resolved(layers)
    }
}

impl<'a> Resolved<'a> {
    /// An element without defaults.
    pub(super) fn alone(element: &'a Element) -> Self {
        Self(vec![element])
    }

    pub(super) fn element(&self) -> &'a Element {
        self.0[0]
    }

    /// The element and its defaults, nearest first.
    pub(super) fn layers(&self) -> &[&'a Element] {
        &self.0
    }

    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find_map(|layer| layer.get(name))
    }

    /// The numbers of an attribute; a mistake if there are not as many as `count` allows.
    pub(super) fn numbers(
        &self,
        name: &str,
        count: std::ops::RangeInclusive<usize>,
        report: &mut Report,
    ) -> Option<Vec<f64>> {
        let text = self.text(name)?;
        let parsed = |text: &str| -> Option<Vec<f64>> {
            let number = |word: &str| word.parse::<f64>().ok().filter(|x| x.is_finite());
            text.split_whitespace().map(number).collect()
        };
        // an element with fewer numbers than its class keeps the rest of the class
        let mut numbers = parsed(text);
        for layer in self.0.iter().filter_map(|layer| layer.get(name)) {
            if let (Some(n), Some(more)) = (&mut numbers, parsed(layer)) {
                n.extend(more.into_iter().skip(n.len()));
            }
        }
        let numbers = numbers.filter(|n| count.contains(&n.len()));
        if numbers.is_none() {
            let (least, most) = (count.start(), count.end());
            let many = if least == most { least.to_string() } else { format!("{least} to {most}") };
            let tag = &self.element().tag;
            report.mistake(format!(
                "{}: {name} of <{tag}> is \"{text}\"; it must be {many} finite numbers",
                self.element().place
            ));
        }
        numbers
    }

    pub(super) fn number(&self, name: &str, default: f64, report: &mut Report) -> f64 {
        self.numbers(name, 1..=1, report).map_or(default, |n| n[0])
    }

    pub(super) fn vec3(&self, name: &str, report: &mut Report) -> Option<[f64; 3]> {
        self.numbers(name, 3..=3, report).map(|n| [n[0], n[1], n[2]])
    }

    pub(super) fn pair(&self, name: &str, report: &mut Report) -> Option<[f64; 2]> {
        self.numbers(name, 2..=2, report).map(|n| [n[0], n[1]])
    }

    /// The limits of `range`, if `limited` says that they count. Without a word, they count if the
    /// first is below the second.
    pub(super) fn limits(
        &self,
        range: &str,
        limited: &str,
        autolimits: bool,
        report: &mut Report,
    ) -> Option<[f64; 2]> {
        let found = self.pair(range, report);
        match self.text(limited).unwrap_or("auto") {
            "true" => {
                if found.is_none() {
                    let place = &self.element().place;
                    report.mistake(format!("{place}: {limited} is true, but {range} is missing"));
                }
                found
            }
            "auto" if autolimits => found.filter(|[low, high]| low < high),
            "auto" if found.is_some() => {
                let place = &self.element().place;
                report.mistake(format!(
                    "{place}: {range} is given without {limited}, and autolimits is false"
                ));
                None
            }
            "auto" | "false" => None,
            other => {
                let place = &self.element().place;
                report.mistake(format!(
                    "{place}: {limited} is \"{other}\"; it must be true, false or auto"
                ));
                None
            }
        }
    }
}
