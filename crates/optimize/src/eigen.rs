//! Eigenvalues and eigenvectors of a symmetric matrix by Jacobi's method (Golub & Van Loan 2013, section 8.5), row by
//! row: only + - * / sqrt in a fixed order, for identical bits on every machine. Libraries multiply differently by
//! processor.

/// Most sweeps over all elements; a dozen suffice for any matrix of a search.
const SWEEPS_MAX: usize = 64;

/// The decomposition of a symmetric matrix: B diag(d) Bᵀ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Eigen {
    /// The eigenvalues d.
    pub(super) values: Vec<f64>,
    /// The eigenvectors, as columns of B.
    pub(super) vectors: Vec<Vec<f64>>,
}

impl Eigen {
    /// Decomposes a symmetric matrix.
    #[expect(clippy::needless_range_loop, reason = "formulas of matrices have indices")]
    pub(super) fn from_matrix(matrix: &[Vec<f64>]) -> Self {
        let n = matrix.len();
        let mut a = matrix.to_vec();
        let mut b: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| if i == j { 1.0 } else { 0.0 }).collect()).collect();
        for _ in 0..SWEEPS_MAX {
            let mut off = 0.0;
            let mut on = 0.0;
            for i in 0..n {
                on += a[i][i] * a[i][i];
                for j in i + 1..n {
                    off += a[i][j] * a[i][j];
                }
            }
            if off <= 1e-30 * on {
                break;
            }
            for p in 0..n {
                for q in p + 1..n {
                    rotate(&mut a, &mut b, p, q);
                }
            }
        }
        Self { values: (0..n).map(|i| a[i][i]).collect(), vectors: b }
    }
}

/// Makes the elements at (p, q) and (q, p) zero.
#[expect(clippy::needless_range_loop, reason = "formulas of matrices have indices")]
fn rotate(a: &mut [Vec<f64>], b: &mut [Vec<f64>], p: usize, q: usize) {
    let apq = a[p][q];
    if apq == 0.0 {
        return;
    }
    let tau = (a[q][q] - a[p][p]) / (2.0 * apq);
    let root = (1.0 + tau * tau).sqrt();
    let t = if tau >= 0.0 { 1.0 / (tau + root) } else { 1.0 / (tau - root) };
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = t * c;
    for row in a.iter_mut().chain(b.iter_mut()) {
        let (x, y) = (row[p], row[q]);
        row[p] = c * x - s * y;
        row[q] = s * x + c * y;
    }
    for k in 0..a.len() {
        let (x, y) = (a[p][k], a[q][k]);
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
    }
    a[p][q] = 0.0;
    a[q][p] = 0.0;
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, SymmetricEigen};
    use spelrum_engine::Random;

    use super::*;

    /// Compares with a library, which need not give the same bits everywhere.
    #[test]
    #[expect(clippy::needless_range_loop, reason = "formulas of matrices have indices")]
    fn matrices_are_taken_apart() {
        let mut random = Random::from_key([5; 32]);
        for n in [1, 2, 3, 7, 20] {
            let mut matrix = vec![vec![0.0; n]; n];
            for i in 0..n {
                for j in 0..=i {
                    matrix[i][j] = random.unit() - 0.5;
                    matrix[j][i] = matrix[i][j];
                }
            }
            let Eigen { values, vectors } = Eigen::from_matrix(&matrix);
            for i in 0..n {
                for j in 0..n {
                    let again: f64 =
                        (0..n).map(|k| vectors[i][k] * values[k] * vectors[j][k]).sum();
                    assert!((again - matrix[i][j]).abs() < 1e-12, "{again} {}", matrix[i][j]);
                    let product: f64 = (0..n).map(|k| vectors[k][i] * vectors[k][j]).sum();
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
                }
            }
            let twin = SymmetricEigen::new(DMatrix::from_fn(n, n, |i, j| matrix[i][j]));
            let mut twin: Vec<f64> = twin.eigenvalues.iter().copied().collect();
            let mut values = values;
            twin.sort_by(f64::total_cmp);
            values.sort_by(f64::total_cmp);
            assert!(
                values.iter().zip(&twin).all(|(found, expected)| (found - expected).abs() < 1e-10)
            );
        }
    }
}
