//! The evaluation `expression`: a formula over the features that a game names.

use std::marker::PhantomData;

use super::{Contents, Evaluate, GameEvaluation, score};
use crate::core::expression::{Compiled, Expression, FeatureInfo};
use crate::core::parameters::{EvaluationInfo, ParameterInfo, Settings};
use crate::core::position::{Position, Side};
use crate::core::problem::KeyProblem;

/// A game that names what formulas may count in its positions.
pub trait Features: Position {
    /// Its features. A formula names them, an [`Expression`] has their places in this list.
    const FEATURES: &'static [FeatureInfo];

    /// Writes the features whose places in the list are `wanted`, from `side`'s point of view, each into the
    /// place of `values` with the same index. `wanted` is in ascending order, without repetitions, and as
    /// long as `values`.
    ///
    /// Called once for each evaluation, so it should cost little where few features are wanted. Values are
    /// finite. A feature that is `own_` for one side is `opp_` for the other.
    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]);
}

/// The point of view of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The side that does not move, which in most games has just moved: its formula's value, negated. So a
    /// search one ply deep makes the move after which the formula has the greatest value for the mover.
    Mover,
    /// The formula's value for the side to move minus that for the other: antisymmetric.
    Difference,
}

const MOVER: &str = "mover";
const DIFFERENCE: &str = "difference";

/// `expression`: a [formula](Expression) over the game's features.
#[derive(Clone, Debug)]
pub struct ExpressionEvaluation<P> {
    formula: Compiled,
    view: View,
    is_symmetric: bool,
    game: PhantomData<fn() -> P>,
}

impl<P: Features> ExpressionEvaluation<P> {
    /// The evaluation by a formula.
    ///
    /// # Panics
    /// If it reads a feature that the game lacks.
    #[must_use]
    pub fn new(formula: &Expression, view: View) -> Self {
        let is_symmetric = |feature: u16| P::FEATURES[usize::from(feature)].is_symmetric;
        Self {
            formula: formula.compiled(),
            view,
            is_symmetric: formula.features().into_iter().all(is_symmetric),
            game: PhantomData,
        }
    }

    /// The formula's value from `side`'s point of view.
    #[inline]
    pub fn value(&self, position: &P, side: Side) -> f64 {
        self.formula.evaluate(|wanted, values| position.features(side, wanted, values))
    }
}

impl<P: Features> GameEvaluation<P> for ExpressionEvaluation<P> {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "expression",
        meaning: "A formula over the game's features.",
        parameters: &[
            ParameterInfo::formula(
                "formula",
                P::FEATURES,
                "formula in prefix notation with +, -, *, / and the game's features",
            ),
            ParameterInfo::word(
                "view",
                &[MOVER, DIFFERENCE],
                MOVER,
                "whose formula counts: that of who has just moved, or that of the side to move less \
                 the other's",
            ),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        let formula = Expression::parse(settings.word("formula"), P::FEATURES)
            .map_err(|error| error.moved_to(Some("formula".to_owned())))?;
        let view = match settings.word("view") {
            DIFFERENCE => View::Difference,
            _ => View::Mover,
        };
        Ok(Self::new(&formula, view))
    }
}

impl<P: Features> Evaluate<P> for ExpressionEvaluation<P> {
    #[inline]
    fn evaluate(&self, position: &P) -> i32 {
        let side = position.to_move();
        let others = self.value(position, side.other());
        match self.view {
            View::Mover => -score(others),
            View::Difference => score(self.value(position, side) - others),
        }
    }

    fn is_symmetric(&self) -> bool {
        self.is_symmetric
    }

    fn is_antisymmetric(&self) -> bool {
        self.view == View::Difference
    }
}
