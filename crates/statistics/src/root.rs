//! The convergence criterion of root searches.

use roots::Convergency;

/// The root is found once the two ends of its bracket differ by no more than this.
pub(super) struct Tolerance(pub(super) f64);

impl Convergency<f64> for Tolerance {
    fn is_root_found(&mut self, left: f64) -> bool {
        left == 0.0
    }

    fn is_converged(&mut self, low: f64, high: f64) -> bool {
        (low - high).abs() <= self.0
    }

    fn is_iteration_limit_reached(&mut self, iterations: usize) -> bool {
        iterations > 200
    }
}
