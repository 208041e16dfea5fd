//! Amazons in the catalogue.

use super::evaluation::{AmazonsMobility, AmazonsTerritory};
use super::{Amazons, notation};
use crate::core::parameters::{ParameterInfo, Value};
use crate::core::position::{Ending, Side};
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rules::Rules;
use crate::core::sketch::{RowNames, Sketch};
use crate::core::termination::Termination;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::Game;

impl Amazons {
    /// The rules of the game: columns and rows of the board.
    ///
    /// # Errors
    /// If `size` is not from [`Amazons::SIZE_MIN`] to [`Amazons::SIZE_MAX`].
    pub fn rules(size: u32) -> Result<Rules, KeyProblem> {
        Rules::new::<Self>(&[("size".to_owned(), Value::Integer(size.into()))].into())
    }
}

impl Game for Amazons {
    const NAME: &'static str = "amazons";

    const MEANING: &'static str =
        "Queens move and shoot arrows that block cells; the side that cannot move loses.";

    const RULES: &'static [ParameterInfo] = &[ParameterInfo::integer(
        "size",
        Self::SIZE_MIN as i64..=Self::SIZE_MAX as i64,
        10,
        "Columns and rows of the board.",
    )];

    const SAMPLE_RULES: &'static [&'static str] = &[r#"{"size": 5}"#, r#"{"size": 6}"#];

    const TERMINATIONS: &'static [Termination] = &[Termination::CANNOT_MOVE];

    /// None: the moves of the last ply are counted without making them.
    const LEAF_KINDS: &'static [&'static str] = &[];

    const ENDED_GAMES_ARE_LEAVES: bool = true;

    const ROW_NAMES: RowNames = RowNames::Up;

    evaluations!(AmazonsTerritory, AmazonsMobility, ExpressionEvaluation<Self>, NoEvaluation);

    fn from_rules(rules: &Rules) -> Self {
        // Within the range of the table of rules.
        Self::new(rules.integer("size") as u32)
    }

    fn read(start: Self, text: &str) -> Result<Self, Problem> {
        notation::parse(start, text)
    }

    fn leaf_kind(_ending: Ending, _mover: Side) -> usize {
        unreachable!("no kinds of leaves are counted apart")
    }

    fn for_each_child(&self, mut visit: impl FnMut(&Self)) {
        use crate::core::position::Position;
        let _: Option<()> = self.each_move(|mv| {
            let mut child = *self;
            child.play_unchecked(mv);
            visit(&child);
            None
        });
    }

    /// White's amazons are capitals, and arrows crosses.
    fn sketch(&self) -> Sketch {
        let piece = |cell| match self.letter(cell) {
            'w' => Some('Q'),
            'b' => Some('q'),
            'x' => Some('x'),
            _ => None,
        };
        Sketch::Pieces {
            columns: self.size() as usize,
            cells: self.grid().cells_from_top().map(piece).collect(),
        }
    }

    fn explain(_rules: &Rules) -> String {
        "A move is an amazon's cell, the one it moves to and the one its arrow blocks: d1-d7/g7.\nBoth \
         move as a queen in chess does, over empty cells only.\nThe side that cannot move loses."
            .to_owned()
    }

    fn is_solved_soon(&self) -> bool {
        self.empty.count_ones() <= SOLVED_SOON
    }
}

/// The number of empty cells from which the solver takes only a moment.
const SOLVED_SOON: u32 = 8;
