//! Distributions as text and JSON.
//!
//! Bars grow with the logarithm of the count, as in latency plots: the one tick in a million that
//! was late is to be seen.

use serde_json::{Value, json};

use hardstand_protocol::Distribution;

/// Length of the longest bar, characters.
const LENGTH: f64 = 48.0;

/// A line for every bin from the first to the last that is not empty: its range, a bar, its count.
pub(super) fn bars(counts: &[u64], edges: &[u64], name: impl Fn(u64) -> String) -> Vec<String> {
    let full = |n: &u64| *n > 0;
    let (Some(first), Some(last)) = (counts.iter().position(full), counts.iter().rposition(full))
    else {
        return vec!["  nothing yet".into()];
    };
    let most = steepness(counts.iter().copied().max().unwrap_or(1));
    let line = |bin: usize| {
        let from =
            bin.checked_sub(1).and_then(|i| edges.get(i)).map_or_else(String::new, |e| name(*e));
        let to = edges.get(bin).map_or_else(|| "…".into(), |e| name(*e));
        let count = counts[bin];
        let length = (LENGTH * steepness(count) / most).round() as usize;
        format!("  {from:>7} – {to:<7} |{:<48} {count}", "#".repeat(length))
    };
    (first..=last).map(line).collect()
}

/// 0 for 0, 1 for 1, and one more for each doubling, straight in between.
fn steepness(count: u64) -> f64 {
    match count.checked_ilog2() {
        None => 0.0,
        Some(doublings) => f64::from(doublings) + count as f64 / (1_u64 << doublings) as f64,
    }
}

/// `15 µs`, `1.5 ms`, `1 s`.
pub(super) fn duration(ns: u64) -> String {
    let (unit, name) = match ns {
        0..1_000_000 => (1e3, "µs"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {name}", ns as f64 / unit)
}

/// `42.2 / 98.4 / … µs`.
pub(super) fn microseconds(ns: &[u64]) -> String {
    let texts: Vec<String> = ns.iter().map(|ns| format!("{:.1}", *ns as f64 / 1e3)).collect();
    format!("{} µs", texts.join(" / "))
}

/// A distribution with its edges.
pub(super) fn as_json(d: &Distribution, edges: &[u64]) -> Value {
    json!({
        "p50": d.p50, "p99": d.p99, "p99_9": d.p99_9, "p99_99": d.p99_99, "max": d.max,
        "edges": edges, "counts": d.counts,
    })
}
