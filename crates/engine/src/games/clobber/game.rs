//! Clobber in the catalogue.

use super::evaluation::ClobberMobility;
use super::{Clobber, ClobberMove, notation};
use crate::core::knowledge::Knowledge;
use crate::core::parameters::{ParameterInfo, Value};
use crate::core::position::{Ending, Side};
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rules::Rules;
use crate::core::sketch::{Marked, Piece, RowNames, Sketch};
use crate::core::termination::Termination;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::Game;
use crate::games::rectangle::{SIZE_MAX, cell_of};

impl Clobber {
    /// The rules of the game: columns and rows of the board.
    ///
    /// # Errors
    /// If there are more than 10 of either, or none, or fewer than two cells.
    pub fn rules(columns: u32, rows: u32) -> Result<Rules, KeyProblem> {
        let given = [("columns", columns), ("rows", rows)];
        let given = given.map(|(name, value)| (name.to_owned(), Value::Integer(value.into())));
        Rules::new::<Self>(&given.into())
    }
}

impl Game for Clobber {
    const NAME: &'static str = "clobber";

    const MEANING: &'static str = "Stones move onto stones of the other side beside them, which are removed; the last move wins.";

    const RULES: &'static [ParameterInfo] = &[
        ParameterInfo::integer("columns", 1..=SIZE_MAX as i64, 6, "Columns of the board."),
        ParameterInfo::integer("rows", 1..=SIZE_MAX as i64, 5, "Rows of the board."),
    ];

    const SAMPLE_RULES: &'static [&'static str] = &[
        r#"{"columns": 4, "rows": 4}"#,
        r#"{"columns": 8, "rows": 8}"#,
        r#"{"columns": 10, "rows": 10}"#,
        r#"{"columns": 2, "rows": 9}"#,
    ];

    const TERMINATIONS: &'static [Termination] = &[Termination::CANNOT_MOVE];

    const LEAF_KINDS: &'static [&'static str] = &["last_move"];

    const ROW_NAMES: RowNames = RowNames::Up;

    evaluations!(ClobberMobility, ExpressionEvaluation<Self>, NoEvaluation);

    fn check_rules(rules: &Rules) -> Result<(), KeyProblem> {
        if rules.integer("columns") * rules.integer("rows") > 1 {
            return Ok(());
        }
        Err(Problem::of_key(
            "columns",
            "a board of one cell has no room for two stones",
            "give it more columns or rows",
        ))
    }

    fn from_rules(rules: &Rules) -> Self {
        // Within the ranges of the table of rules.
        Self::new(rules.integer("columns") as u32, rules.integer("rows") as u32)
    }

    fn read(start: Self, text: &str) -> Result<Self, Problem> {
        notation::parse(start, text)
    }

    fn leaf_kind(_ending: Ending, _mover: Side) -> usize {
        0
    }

    fn sketch(&self) -> Sketch {
        let side = |cell| match self.letter(cell) {
            'b' => Some(Side::First),
            'w' => Some(Side::Second),
            _ => None,
        };
        self.grid().sketch([Piece::Disc, Piece::Ring], side)
    }

    /// A removed stone does not change sides.
    fn marks(&self, mv: ClobberMove) -> Vec<Marked> {
        self.grid().marks_of_move(cell_of(mv.from.into()), cell_of(mv.to.into()))
    }

    fn explain(_rules: &Rules) -> String {
        "A move is a stone's cell and the one it moves to: a1-a2 takes your stone on a1 to a2,\nwhere a \
         stone of the other side lies beside it, and removes that stone.\nThe side that cannot move \
         loses."
            .to_owned()
    }

    fn stones(&self) -> Option<u32> {
        Some((self.own | self.other).count_ones())
    }

    fn is_solved_soon(&self) -> bool {
        self.plies_left() <= SOLVED_SOON
    }
}

/// The bound on the plies left from which the solver takes only a moment.
const SOLVED_SOON: u32 = 24;
