//! Breakthrough in the catalogue.

use super::evaluation::BreakthroughPieces;
use super::{ALL_CAPTURED, Breakthrough, BreakthroughMove, FAR_ROW, notation};
use crate::core::knowledge::Knowledge;
use crate::core::parameters::{ParameterInfo, Value};
use crate::core::position::{Ending, Side};
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rules::Rules;
use crate::core::sketch::{Marked, Piece, RowNames, Sketch};
use crate::core::termination::Termination;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::{Game, SideExchange};
use crate::games::grid::Cell;

impl Breakthrough {
    /// The rules of the game: columns, rows, and rows of pawns on either side.
    ///
    /// # Errors
    /// If columns or rows are not from 3 to 8, or the rows of pawns not 1 or 2, or they have no room.
    pub fn rules(columns: u32, rows: u32, pawn_rows: u32) -> Result<Rules, KeyProblem> {
        let given = [("columns", columns), ("rows", rows), ("pawn_rows", pawn_rows)];
        let given = given.map(|(name, value)| (name.to_owned(), Value::Integer(value.into())));
        Rules::new::<Self>(&given.into())
    }
}

impl Game for Breakthrough {
    const NAME: &'static str = "breakthrough";

    const MEANING: &'static str =
        "Pawns that capture diagonally; the first to reach the far row wins.";

    const RULES: &'static [ParameterInfo] = &[
        ParameterInfo::integer("columns", 3..=8, 8, "Columns of the board."),
        ParameterInfo::integer("rows", 3..=8, 8, "Rows of the board."),
        ParameterInfo::integer("pawn_rows", 1..=2, 2, "Rows of pawns of each side at the start."),
    ];

    const SAMPLE_RULES: &'static [&'static str] = &[
        r#"{"columns": 3, "rows": 4, "pawn_rows": 1}"#,
        r#"{"columns": 5, "rows": 5}"#,
        r#"{"columns": 8, "rows": 4}"#,
        r#"{"columns": 4, "rows": 7}"#,
    ];

    const TERMINATIONS: &'static [Termination] = &[FAR_ROW, ALL_CAPTURED];

    const LEAF_KINDS: &'static [&'static str] = &["far_row", "all_captured"];

    const ROW_NAMES: RowNames = RowNames::Up;

    evaluations!(BreakthroughPieces, ExpressionEvaluation<Self>, NoEvaluation);

    fn check_rules(rules: &Rules) -> Result<(), KeyProblem> {
        let [rows, pawn_rows] = ["rows", "pawn_rows"].map(|name| rules.integer(name));
        if 2 * pawn_rows <= rows {
            return Ok(());
        }
        Err(Problem::of_key(
            "pawn_rows",
            format!("{rows} rows have no room for {pawn_rows} rows of pawns on either side"),
            "give a board of 3 rows pawn_rows = 1",
        ))
    }

    fn from_rules(rules: &Rules) -> Self {
        // Within the ranges of the table of rules.
        let [columns, rows, pawn_rows] =
            ["columns", "rows", "pawn_rows"].map(|name| rules.integer(name) as u32);
        Self::new(columns, rows, pawn_rows)
    }

    fn side_exchange(_rules: &Rules) -> SideExchange<Self> {
        SideExchange::By(|position| Some(position.with_sides_exchanged()))
    }

    fn read(start: Self, text: &str) -> Result<Self, Problem> {
        notation::parse(start, text)
    }

    fn leaf_kind(ending: Ending, _mover: Side) -> usize {
        usize::from(ending.termination == ALL_CAPTURED)
    }

    fn sketch(&self) -> Sketch {
        let side = |cell| match self.letter(cell) {
            'w' => Some(Side::First),
            'b' => Some(Side::Second),
            _ => None,
        };
        self.grid().sketch([Piece::Ring, Piece::Disc], side)
    }

    /// A captured pawn does not change sides.
    fn marks(&self, mv: BreakthroughMove) -> Vec<Marked> {
        let [from, to] = [mv.from(), mv.to()].map(|(column, row)| Cell::new(column, row));
        self.grid().marks_of_move(from, to)
    }

    fn explain(_rules: &Rules) -> String {
        "A move is a pawn's cell and the one it moves to: a2-a3 moves straight forward, a2-b3 \
         diagonally,\nand a2xb3 captures, which pawns do diagonally only.\nThe first pawn on the far \
         row wins, or the capture of all pawns."
            .to_owned()
    }

    fn is_solved_soon(&self) -> bool {
        self.plies_left() <= SOLVED_SOON
    }
}

/// The bound on the plies left from which the solver takes only a moment.
const SOLVED_SOON: u32 = 30;
