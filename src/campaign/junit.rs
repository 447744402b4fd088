//! The results as a report in JUnit's XML, which continuous integration reads.

use std::fmt::Write as _;

use super::outcome::{Held, Outcome};
use super::plan::Case;
use super::results::{Grade, Judgement, Results};

/// Counts of a suite, or of all of them.
#[derive(Clone, Copy, Default)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    wall_s: f64,
}

type Judged<'a> = (&'a Case, Option<&'a Outcome>, Judgement);

impl Results {
    /// The report: a suite for each scenario with each fault, and a test for each of their cases. A
    /// case that `fail_if` names is a failure, one that did not reach its end otherwise an error,
    /// one without an outcome is skipped. Valid by the schema `junit-10.xsd` of Jenkins.
    #[must_use]
    pub fn junit(&self) -> String {
        let judged = self.cases.iter().map(|(case, outcome)| {
            let outcome = outcome.as_ref();
            (case, outcome, self.judge(outcome))
        });
        let all: Vec<Judged<'_>> = judged.collect();
        let total = Counts::of(&all);
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        let name = text(self.manifest.name());
        let Counts { tests, failures, errors, wall_s, .. } = total;
        let _infallible = writeln!(
            out,
            "<testsuites name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" \
             errors=\"{errors}\" time=\"{wall_s:.3}\">"
        );
        for suite in
            all.chunk_by(|(a, ..), (b, ..)| self.manifest.names(a) == self.manifest.names(b))
        {
            self.suite(&mut out, suite);
        }
        out.push_str("</testsuites>\n");
        out
    }

    fn suite(&self, out: &mut String, cases: &[Judged<'_>]) {
        let Some((first, ..)) = cases.first() else { return };
        let [scenario, fault] = self.manifest.names(first);
        let name = format!("{}.{scenario}.{fault}", self.manifest.name());
        let Counts { tests, failures, errors, skipped, wall_s } = Counts::of(cases);
        let _infallible = writeln!(
            out,
            "<testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
             skipped=\"{skipped}\" time=\"{wall_s:.3}\">\n<properties>",
            text(&name)
        );
        for (name, value) in self.properties(first) {
            let _infallible =
                writeln!(out, "<property name=\"{}\" value=\"{}\"/>", text(&name), text(&value));
        }
        out.push_str("</properties>\n");
        cases.iter().for_each(|case| self.test(out, &name, case));
        out.push_str("</testsuite>\n");
    }

    /// What the cases of a suite have in common.
    fn properties(&self, case: &Case) -> Vec<(String, String)> {
        let m = &self.manifest;
        let [scenario, fault] = m.names(case);
        let of = m.scenarios.get(case.scenario).cloned().unwrap_or_default();
        let fixed = [
            ("campaign", m.file.clone()),
            ("scenario", scenario.into()),
            ("scenario.file", of.file),
            ("scenario.hash", of.hash),
            ("fault", fault.into()),
            ("duration_s", format!("{:?}", m.duration_s)),
            ("mode", m.mode.clone()),
            ("controller", m.controller.join(" ")),
            ("fail_if", m.fail_if.join(", ")),
            ("hardstand", m.hardstand.clone()),
        ];
        let conditions =
            m.conditions.iter().map(|(name, text)| (format!("condition.{name}"), text.clone()));
        fixed.map(|(name, value)| (name.to_string(), value)).into_iter().chain(conditions).collect()
    }

    fn test(&self, out: &mut String, class: &str, (case, outcome, judged): &Judged<'_>) {
        let wall_s = outcome.map_or(0.0, |o| o.wall_s);
        let _infallible = write!(
            out,
            "<testcase name=\"{}\" classname=\"{}\" time=\"{wall_s:.3}\">",
            text(&case.id),
            text(class)
        );
        let tag = match judged.grade {
            Grade::Passed => None,
            Grade::Failed => Some("failure"),
            Grade::Broken => Some("error"),
            Grade::Unfinished => Some("skipped"),
        };
        if let Some(tag) = tag {
            let (kind, why) = (text(&judged.kind), text(&judged.why));
            let _infallible =
                write!(out, "\n<{tag} type=\"{kind}\" message=\"{why}\">{why}</{tag}>");
        }
        let lines = self.parameters(case, *outcome).join("\n");
        let _infallible = writeln!(out, "\n<system-out>{}</system-out>\n</testcase>", text(&lines));
    }

    /// The parameters of a case and what was measured, `name = value`.
    fn parameters(&self, case: &Case, outcome: Option<&Outcome>) -> Vec<String> {
        let [scenario, fault] = self.manifest.names(case);
        let mut lines = vec![
            format!("scenario = {scenario}"),
            format!("fault = {fault}"),
            format!("seed = {}", case.seed),
        ];
        let drawn = self.manifest.vary.iter().map(|v| (&v.key, v.draw(case.seed)));
        lines.extend(drawn.map(|(key, x)| format!("{key} = {x:?}")));
        let Some(o) = outcome else { return lines };
        lines.push(format!("outcome = {}", o.outcome.word()));
        lines.push(format!("time_s = {:?}", o.time_s));
        lines.push(format!("digest = {}", o.digest));
        for (name, held) in &o.conditions {
            lines.push(match held {
                Held::Unknown => format!("{name} = unknown"),
                Held::Never => format!("{name} = false"),
                Held::AtS(at_s) => format!("{name} = true, first at {at_s:?} s"),
            });
        }
        let number = |x: &Option<f64>| x.map_or("none".into(), |x| format!("{x:?}"));
        lines.extend(o.measures.iter().map(|(name, x)| format!("{name} = {}", number(x))));
        let files = [("log", &o.log), ("page", &o.page)];
        lines.extend(
            files.iter().filter_map(|(name, f)| Some(format!("{name} = {}", (*f).as_ref()?))),
        );
        lines
    }
}

impl Counts {
    fn of(cases: &[Judged<'_>]) -> Self {
        let mut counts = Self::default();
        for (_, outcome, judged) in cases {
            counts.tests += 1;
            counts.wall_s += outcome.map_or(0.0, |o| o.wall_s);
            match judged.grade {
                Grade::Passed => {}
                Grade::Failed => counts.failures += 1,
                Grade::Broken => counts.errors += 1,
                Grade::Unfinished => counts.skipped += 1,
            }
        }
        counts
    }
}

/// Text as XML, also within quotes. XML has no form for most control characters.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::text;

    #[test]
    fn no_text_becomes_a_tag_and_all_of_it_is_xml() {
        let odd = "<a href=\"x\">&\u{1b}[1m\u{0}\t\u{ffff}ä\n";
        let xml = format!("<t a=\"{}\">{}</t>", text(odd), text(odd));
        let read = roxmltree::Document::parse(&xml).unwrap();
        let expected = "<a href=\"x\">&\u{fffd}[1m\u{fffd}\t\u{fffd}ä\n";
        assert_eq!(read.root_element().attribute("a"), Some(expected));
        assert_eq!(read.root_element().text(), Some(expected));
    }
}
