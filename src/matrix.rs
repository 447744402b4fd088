//! Small symmetric matrices: solving, and eigenvalues by Jacobi's rotations.

/// A square matrix by rows.
pub(crate) type Matrix = Vec<Vec<f64>>;

/// Solves `A x = b` for a positive definite `A` (Cholesky); `None` if it is not.
pub(crate) fn cholesky_solve(a: &Matrix, b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            let rest = a[i][j] - dot;
            if i == j {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                l[i][i] = rest.sqrt();
            } else {
                l[i][j] = rest / l[j][j];
            }
        }
    }
    let mut x = b.to_vec();
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| l[i][k] * x[k]).sum();
        x[i] = (x[i] - dot) / l[i][i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| l[k][i] * x[k]).sum();
        x[i] = (x[i] - dot) / l[i][i];
    }
    Some(x)
}

/// Sweeps over all pairs; Jacobi's method converges quadratically, so ten would do.
const SWEEPS: usize = 60;

/// Eigenvalues and, as rows, eigenvectors of a symmetric matrix (Golub & Van Loan, 8.5).
pub(crate) fn eigen(a: &Matrix) -> (Vec<f64>, Matrix) {
    let n = a.len();
    let mut a = a.clone();
    let mut v: Matrix =
        (0..n).map(|i| (0..n).map(|k| if i == k { 1.0 } else { 0.0 }).collect()).collect();
    for _ in 0..SWEEPS {
        let off: f64 =
            (0..n).flat_map(|i| (0..i).map(move |k| (i, k))).map(|(i, k)| a[i][k] * a[i][k]).sum();
        if off == 0.0 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    let (x, y) = (row[p], row[q]);
                    (row[p], row[q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p][k], a[q][k]);
                    (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[p][k], v[q][k]);
                    (v[p][k], v[q][k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), v)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]
    use super::{cholesky_solve, eigen};

    #[test]
    fn a_solution_solves_and_eigenvectors_stay_in_their_direction() {
        let a = vec![vec![4.0, 1.0, 0.5], vec![1.0, 3.0, -1.0], vec![0.5, -1.0, 2.0]];
        let times = |x: &[f64]| -> Vec<f64> {
            a.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
        };
        let x = cholesky_solve(&a, &[1.0, 2.0, 3.0]).unwrap();
        for (found, wanted) in times(&x).iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - wanted).abs() < 1e-14, "{found} {wanted}");
        }
        let (values, vectors) = eigen(&a);
        for (value, vector) in values.iter().zip(&vectors) {
            for (found, x) in times(vector).iter().zip(vector) {
                assert!((found - value * x).abs() < 1e-13, "{found} {}", value * x);
            }
        }
        assert!(cholesky_solve(&vec![vec![1.0, 2.0], vec![2.0, 1.0]], &[0.0; 2]).is_none());
    }
}
