//! The most likely parameters, by Newton's method.
//!
//! The log-likelihood is concave, and with the prior strictly so: there is one maximum, and steps that are halved until
//! they climb reach it from anywhere.

use nalgebra::linalg::Cholesky;
use nalgebra::{DMatrix, DVector, Dyn};

use super::model::{Layout, Match};

/// Most steps. About ten suffice in practice, even if one player has won everything.
const STEPS_MAX: u32 = 100;
const HALVINGS_MAX: u32 = 40;
/// The maximum is found when no parameter moves by more: less than a millionth of an Elo point.
const STEP_MIN: f64 = 1e-9;
/// Steps with a smaller expected climb are not checked: it is lost in rounding.
const CLIMB_MIN: f64 = 1e-6;

/// The maximum, and its curvature.
pub(super) struct Maximum {
    pub(super) at: DVector<f64>,
    /// The negative second derivatives. `None` if rounding made them singular.
    pub(super) curvature: Option<Cholesky<f64, Dyn>>,
}

pub(super) fn maximum(layout: &Layout, matches: &[Match]) -> Maximum {
    let mut at = DVector::zeros(layout.parameters());
    let mut value = layout.value(&at, matches);
    for _ in 0..STEPS_MAX {
        let (gradient, curvature) = layout.derivatives(&at, matches);
        let Some(curvature) = Cholesky::new(curvature) else { break };
        let mut step = curvature.solve(&gradient);
        let climb = step.dot(&gradient);
        let mut next_value = layout.value(&(&at + &step), matches);
        for _ in 0..HALVINGS_MAX {
            if climb < CLIMB_MIN || next_value > value {
                break;
            }
            step /= 2.0;
            next_value = layout.value(&(&at + &step), matches);
        }
        at += &step;
        value = next_value;
        if step.amax() < STEP_MIN {
            break;
        }
    }
    let (_, curvature): (_, DMatrix<f64>) = layout.derivatives(&at, matches);
    Maximum { at, curvature: Cholesky::new(curvature) }
}
