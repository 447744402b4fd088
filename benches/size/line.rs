//! A straight line through points.

/// `y = start + slope x`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) start: f64,
    pub(crate) slope: f64,
}

impl Line {
    /// The line with the least sum of squares of relative deviations.
    pub(crate) fn fit(points: &[(f64, f64)]) -> Self {
        let sum =
            |f: fn(f64, f64) -> f64| points.iter().map(|&(x, y)| f(x, y) / (y * y)).sum::<f64>();
        let (n, x, xx) = (sum(|_, _| 1.0), sum(|x, _| x), sum(|x, _| x * x));
        let (y, xy) = (sum(|_, y| y), sum(|x, y| x * y));
        let slope = (n * xy - x * y) / (n * xx - x * x);
        Self { start: (y - slope * x) / n, slope }
    }

    pub(crate) fn at(&self, x: f64) -> f64 {
        self.start + self.slope * x
    }

    /// How far a point lies above the line, as a share of the line's value.
    pub(crate) fn off(&self, x: f64, y: f64) -> f64 {
        y / self.at(x) - 1.0
    }
}
