//! Dense linear algebra by brute force: an independent reference for small matrices.

/// Rows.
pub type Matrix = Vec<Vec<f64>>;

pub fn zeros(rows: usize, columns: usize) -> Matrix {
    vec![vec![0.0; columns]; rows]
}

pub fn transpose(a: &Matrix) -> Matrix {
    let columns = a.first().map_or(0, Vec::len);
    (0..columns).map(|c| a.iter().map(|row| row[c]).collect()).collect()
}

/// `A Bᵀ`.
pub fn times_transposed(a: &Matrix, b: &Matrix) -> Matrix {
    a.iter().map(|a| b.iter().map(|b| dot(a, b)).collect()).collect()
}

pub fn apply(a: &Matrix, x: &[f64]) -> Vec<f64> {
    a.iter().map(|row| dot(row, x)).collect()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// Eigenvalues and eigenvectors (rows) of a symmetric matrix by Jacobi's rotations.
pub fn eigen(a: &Matrix) -> (Vec<f64>, Matrix) {
    let n = a.len();
    let (mut a, mut v) = (a.clone(), zeros(n, n));
    (0..n).for_each(|i| v[i][i] = 1.0);
    for _ in 0..60 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = 1.0f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                rotate(&mut a, p, q, c, t * c);
                a = transpose(&a);
                rotate(&mut a, p, q, c, t * c);
                rotate(&mut v, p, q, c, t * c);
            }
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), v)
}

fn rotate(a: &mut Matrix, p: usize, q: usize, c: f64, s: f64) {
    for k in 0..a[p].len() {
        let (x, y) = (a[p][k], a[q][k]);
        (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
    }
}

/// Shortest least-squares solution of a system.
pub struct Solution {
    /// `A⁺ b`.
    pub x: Vec<f64>,
    /// The largest eigenvalue or singular value, and the smallest one that counts over it.
    pub largest: f64,
    pub least: f64,
}

/// `A⁺ b` of a symmetric positive-semidefinite system. `None` if an eigenvalue is in the no man's
/// land between zero and not zero.
pub fn pinv_solve(a: &Matrix, b: &[f64]) -> Option<Solution> {
    let (values, vectors) = eigen(a);
    let largest = values.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let mut least: f64 = 1.0;
    let mut x = vec![0.0; b.len()];
    for (value, vector) in values.iter().zip(&vectors) {
        if value.abs() <= 1e-13 * largest {
            continue;
        }
        if value.abs() < 1e-7 * largest {
            return None;
        }
        least = least.min(value / largest);
        let k = dot(vector, b) / value;
        x.iter_mut().zip(vector).for_each(|(x, v)| *x += k * v);
    }
    Some(Solution { x, largest, least })
}

/// `A⁺ b` by the singular values of `A`, without squaring them: rotations make the rows orthogonal.
/// `None` if a singular value is in the no man's land between zero and not zero.
pub fn pinv_apply(a: &Matrix, b: &[f64]) -> Option<Solution> {
    let (mut a, mut b) = (a.clone(), b.to_vec());
    for _ in 0..60 {
        for p in 0..a.len() {
            for q in p + 1..a.len() {
                let (pp, qq, pq) = (dot(&a[p], &a[p]), dot(&a[q], &a[q]), dot(&a[p], &a[q]));
                if pq == 0.0 {
                    continue;
                }
                let theta = (qq - pp) / (2.0 * pq);
                let t = 1.0f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                rotate(&mut a, p, q, c, t * c);
                (b[p], b[q]) = (c * b[p] - t * c * b[q], t * c * b[p] + c * b[q]);
            }
        }
    }
    let largest = a.iter().map(|row| norm(row)).fold(0.0, f64::max);
    let mut least: f64 = 1.0;
    let mut x = vec![0.0; a.first().map_or(0, Vec::len)];
    for (row, b) in a.iter().zip(&b) {
        let value = norm(row);
        if value <= 1e-13 * largest {
            continue;
        }
        if value < 1e-10 * largest {
            return None;
        }
        least = least.min(value / largest);
        x.iter_mut().zip(row).for_each(|(x, r)| *x += b / value * (r / value));
    }
    Some(Solution { x, largest, least })
}
