//! The page of a calibration: HTML without scripts or other files.

use std::fmt::Write as _;

use crate::calibrate::{Accuracy, Calibration, Finding};

use super::html::escape;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;\
padding:0 1rem}table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .75rem;\
border-bottom:1px solid #ccc;text-align:right}th:first-child,td:first-child{text-align:left}\
td.why{text-align:left}code{background:#eee;padding:0 .25rem}\
.bar{display:inline-block;height:.7em;background:#005ab5}.before{background:#bbb}";

/// The page.
pub(super) fn page(title: &str, fit: &str, c: &Calibration) -> String {
    let title = escape(title);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Calibration: {title}\
         </title>\n<style>{STYLE}</style>\n<h1>Calibration</h1>\n<p>{title}. Fitted: <code>{}\
         </code>. {} iterations.</p>\n",
        escape(fit),
        c.iterations
    );
    out += &parameters(c);
    out += &errors("The part that was fitted", &c.fit);
    match &c.held_back {
        Some(held_back) => {
            let head = format!("The part that was held back, from {:.3} s on", c.split_s);
            out += &errors(&head, held_back);
        }
        None => out += "<p>No part of the log was held back.</p>\n",
    }
    out
}

fn parameters(c: &Calibration) -> String {
    let mut out = String::from(
        "<h2>Values</h2>\n<table>\n<tr><th>parameter<th>before<th>after<th>95 % interval</tr>\n",
    );
    for e in &c.estimates {
        let found = match &e.finding {
            Finding::Determined { value, half_width, at_bound } => {
                let bound = if *at_bound { " (at its bound)" } else { "" };
                let [low, high] = [value - half_width, value + half_width];
                format!("<td>{value:.5}{bound}<td>{low:.5} to {high:.5}")
            }
            Finding::NotDetermined { why, .. } => {
                let why = escape(why);
                format!("<td class=\"why\" colspan=\"2\">not determined by this log: {why}")
            }
        };
        // writing to a string cannot fail
        let _ = writeln!(out, "<tr><td>{}<td>{:.5}{found}</tr>", escape(&e.name), e.start);
    }
    out + "</table>\n<p>Intervals take errors of one joint within 0.5 s as one observation; \
           where the replay follows the recording, they say how far the parts of the log agree. \
           They hold for the model that was fitted: an effect that the model does not have can \
           shift a value by more.</p>\n"
}

/// An error in thousandths of its unit; a dash where nothing was compared.
pub(super) fn milli(error: f64) -> String {
    if error.is_nan() { "–".into() } else { format!("{:.2}", 1e3 * error) }
}

fn errors(head: &str, [before, after]: &[Accuracy; 2]) -> String {
    let mut out = format!(
        "<h2>{}</h2>\n<table>\n<tr><th>joint<th>before, rms<th>after<th></tr>\n",
        escape(head)
    );
    let joints = before.joints.iter().zip(&after.joints);
    let rows = joints.map(|(b, a)| (b.name.as_str(), b.milli_unit(), b.rms_rad, a.rms_rad));
    let all = ("all joints", after.milli_unit(), before.rms_rad, after.rms_rad);
    let rows: Vec<_> = rows.chain([all]).collect();
    let largest = rows.iter().fold(1e-12_f64, |m, (.., b, a)| m.max(*b).max(*a));
    for (name, unit, b, a) in rows {
        let bar = |x: f64, class: &str| {
            format!(
                "<span class=\"bar {class}\" style=\"width:{:.1}rem\"></span>",
                if x.is_nan() { 0.0 } else { 12.0 * x / largest }
            )
        };
        let bars = format!("{}<br>{}", bar(b, "before"), bar(a, "after"));
        let (name, b, a) = (escape(name), milli(b), milli(a));
        let _ = writeln!(out, "<tr><td>{name}, {unit}<td>{b}<td>{a}<td class=\"why\">{bars}</tr>");
    }
    out += "</table>\n";
    if let (Some(p), Some(r)) = (after.base_rms_m, after.base_rms_rad) {
        let before = [before.base_rms_m, before.base_rms_rad].map(Option::unwrap_or_default);
        let _ = writeln!(
            out,
            "<p>Base: {:.2} → {:.2} mm, {:.2} → {:.2} mrad rms.</p>",
            1e3 * before[0],
            1e3 * p,
            1e3 * before[1],
            1e3 * r
        );
    }
    out
}
