//! Looks for the least of a function that can only be evaluated: no derivatives, many local least
//! values, noise.
//!
//! The method is the matrix adaptation evolution strategy (Beyer & Sendhoff, *Simplify your
//! covariance matrix adaptation evolution strategy*, 2017): CMA-ES without the decomposition of a
//! covariance matrix. Each generation draws points about a mean, and moves mean, step and shape
//! towards the best half of them.
//!
//! The same seed and the same values give the same points, bit for bit, on every machine. The
//! caller evaluates the points, in any order and on as many threads as it likes.

use hardstand_physics::math;

/// A search that is asked for points and told their values.
///
/// ```
/// use hardstand::optimize::Search;
/// let mut search = Search::new(&[0.5, 0.5], 0.2, 8, 1);
/// for _ in 0..60 {
///     let points = search.ask();
///     let bowl = |x: &Vec<f64>| (x[0] - 0.3) * (x[0] - 0.3) + 9.0 * (x[1] - 0.8) * (x[1] - 0.8);
///     let values: Vec<f64> = points.iter().map(bowl).collect();
///     search.tell(&values);
/// }
/// assert!(search.best().1 < 1e-9);
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    mean: Vec<f64>,
    step: f64,
    /// Turns and stretches the normal variates, row by row.
    shape: Vec<Vec<f64>>,
    /// Memory of the steps of the mean, in normal variates.
    path: Vec<f64>,
    weights: Vec<f64>,
    /// Normal variates of the points that were asked for.
    drawn: Vec<Vec<f64>>,
    points: Vec<Vec<f64>>,
    best: (Vec<f64>, f64),
    random: SplitMix,
}

impl Search {
    /// Begins at `mean` with a standard deviation of `step` in every direction, `population` points
    /// per generation (at least 4), and this seed. Scale the unknowns so that one step suits all.
    #[must_use]
    pub fn new(mean: &[f64], step: f64, population: usize, seed: u64) -> Self {
        let n = mean.len();
        let population = population.max(4);
        let half = population / 2;
        let sum = (half * (half + 1)) as f64 / 2.0;
        let unit = |i| (0..n).map(|k| if i == k { 1.0 } else { 0.0 }).collect();
        Self {
            mean: mean.to_vec(),
            step,
            shape: (0..n).map(unit).collect(),
            path: vec![0.0; n],
            weights: (0..half).map(|i| (half - i) as f64 / sum).collect(),
            drawn: vec![vec![0.0; n]; population],
            points: vec![vec![0.0; n]; population],
            best: (mean.to_vec(), f64::INFINITY),
            random: SplitMix(seed),
        }
    }

    /// Draws the points of the next generation.
    pub fn ask(&mut self) -> &[Vec<f64>] {
        for (z, x) in self.drawn.iter_mut().zip(&mut self.points) {
            for component in z.iter_mut() {
                *component = self.random.normal();
            }
            for ((x, row), mean) in x.iter_mut().zip(&self.shape).zip(&self.mean) {
                *x = mean + self.step * dot(row, z);
            }
        }
        &self.points
    }

    /// Takes the values of the points that [`ask`](Self::ask) gave, in its order, and moves. NaN
    /// counts as the worst value. Values that are missing do, too.
    pub fn tell(&mut self, values: &[f64]) {
        let value = |i: usize| values.get(i).copied().filter(|v| !v.is_nan());
        let value = |i: usize| value(i).unwrap_or(f64::INFINITY);
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
        if value(order[0]) < self.best.1 {
            self.best = (self.points[order[0]].clone(), value(order[0]));
        }
        let n = self.mean.len();
        let size = n as f64;
        let effective = 1.0 / dot(&self.weights, &self.weights);
        // the rates of the paper
        let c_path = (effective + 2.0) / (size + effective + 5.0);
        let c_one = 2.0 / ((size + 1.3) * (size + 1.3) + effective);
        let rank = 2.0 * (effective - 2.0 + 1.0 / effective);
        let c_rank = (rank / ((size + 2.0) * (size + 2.0) + effective)).min(1.0 - c_one);
        let damping =
            1.0 + c_path + 2.0 * (((effective - 1.0) / (size + 1.0)).sqrt() - 1.0).max(0.0);

        let chosen = || self.weights.iter().zip(&order);
        let mut z_mean = vec![0.0; n];
        let mut z_square = vec![vec![0.0; n]; n];
        for (w, &i) in chosen() {
            let z = &self.drawn[i];
            for a in 0..n {
                z_mean[a] += w * z[a];
                for b in 0..n {
                    z_square[a][b] += w * z[a] * z[b];
                }
            }
        }
        for (mean, row) in self.mean.iter_mut().zip(&self.shape) {
            *mean += self.step * dot(row, &z_mean);
        }
        let grow = (effective * c_path * (2.0 - c_path)).sqrt();
        for (path, z) in self.path.iter_mut().zip(&z_mean) {
            *path = (1.0 - c_path) * *path + grow * z;
        }
        let path = &self.path;
        for row in &mut self.shape {
            let before = row.clone();
            for b in 0..n {
                let along = dot(&before, path) * path[b] - before[b];
                let spread = (0..n).map(|a| before[a] * z_square[a][b]).sum::<f64>() - before[b];
                row[b] += 0.5 * (c_one * along + c_rank * spread);
            }
        }
        let usual = size.sqrt() * (1.0 - 1.0 / (4.0 * size) + 1.0 / (21.0 * size * size));
        let length = dot(path, path).sqrt();
        self.step *= math::exp(c_path / damping * (length / usual - 1.0));
    }

    /// The mean of the search: where noise has least effect.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The best point so far and its value; the first mean and infinity before the first one.
    #[must_use]
    pub fn best(&self) -> (&[f64], f64) {
        (&self.best.0, self.best.1)
    }

    /// Standard deviation of the next points along an average direction.
    #[must_use]
    pub const fn step(&self) -> f64 {
        self.step
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The generator SplitMix64 (Steele, Lea & Flood 2014).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitMix(pub u64);

impl SplitMix {
    /// A number from 0 up to, not including, 1.
    pub const fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
        (x >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A variate that is close to normal, with mean 0 and deviation 1: the sum of twelve uniform
    /// ones. Never beyond ±6, and without a logarithm.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
