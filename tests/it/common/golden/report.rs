//! Collects the worst deviation of each quantity of a file.

use std::fmt::Write as _;

use hardstand_physics::spatial::{Quaternion, Vec3};

struct Row {
    quantity: &'static str,
    worst: f64,
    tolerance: f64,
    place: String,
}

pub struct Report {
    file: String,
    rows: Vec<Row>,
}

impl Report {
    pub fn new(file: &str) -> Self {
        Self { file: file.into(), rows: Vec::new() }
    }

    /// Takes in one deviation. NaN counts as the worst of all.
    pub fn add(&mut self, quantity: &'static str, deviation: f64, tolerance: f64, place: &str) {
        let deviation = if deviation.is_nan() { f64::INFINITY } else { deviation };
        let k = self.rows.iter().position(|r| r.quantity == quantity).unwrap_or_else(|| {
            self.rows.push(Row { quantity, worst: -1.0, tolerance, place: String::new() });
            self.rows.len() - 1
        });
        let row = &mut self.rows[k];
        if deviation > row.worst {
            (row.worst, row.place) = (deviation, place.into());
        }
    }

    pub fn number(&mut self, what: &'static str, a: f64, b: f64, scale: f64, tol: f64, at: &str) {
        // the oracle may itself write NaN or an infinity; then the same must come out
        let same = a == b || (a.is_nan() && b.is_nan());
        self.add(what, if same { 0.0 } else { (a - b).abs() / scale }, tol, at);
    }

    pub fn vector(
        &mut self,
        what: &'static str,
        a: &Vec3,
        b: &Vec3,
        scale: f64,
        tol: f64,
        at: &str,
    ) {
        for k in 0..3 {
            self.number(what, a[k], b[k], scale, tol, at);
        }
    }

    /// Orientations, `q` and `−q` being the same.
    pub fn quat(&mut self, what: &'static str, a: &Quaternion, b: &Quaternion, tol: f64, at: &str) {
        let (a, b) = (a.wxyz(), b.wxyz());
        let sign = if (0..4).map(|k| a[k] * b[k]).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
        for k in 0..4 {
            self.number(what, a[k], sign * b[k], 1.0, tol, at);
        }
    }

    pub fn table(&self) -> String {
        let mut out = format!("\n{}\n", self.file);
        for r in &self.rows {
            let mark = if r.worst <= r.tolerance { "" } else { "  FAILS" };
            let _ = writeln!(
                out,
                "  {:<28} worst {:>9.2e}   tolerance {:>8.1e}   at {}{mark}",
                r.quantity, r.worst, r.tolerance, r.place
            );
        }
        out
    }

    pub fn failures(&self) -> String {
        let mut out = String::new();
        if self.rows.is_empty() {
            let _ = writeln!(out, "{}: nothing compared", self.file);
        }
        for r in self.rows.iter().filter(|r| r.worst > r.tolerance) {
            let _ = writeln!(
                out,
                "{}: {} deviates by {:e} (tolerance {:e}) at {}",
                self.file, r.quantity, r.worst, r.tolerance, r.place
            );
        }
        out
    }
}
