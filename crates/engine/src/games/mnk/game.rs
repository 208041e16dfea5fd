//! m,n,k games in the catalogue.

use super::evaluation::MnkLines;
use super::{LINE_COMPLETED, Mnk, Shape, notation};
use crate::core::cells::{Cells, Grid, SIDE_MAX};
use crate::core::parameters::{ParameterInfo, Value};
use crate::core::position::{Ending, Side};
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rules::Rules;
use crate::core::sketch::{Piece, Sketch};
use crate::core::termination::Termination;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::Game;

/// The rule by which longer lines win as well, and the other.
const OVERLINES: [&str; 2] = ["win", "no-win"];

impl Mnk {
    /// The rules of the game: columns, rows, the stones of a winning line, and whether longer lines win as well.
    ///
    /// # Errors
    /// If a number is not from 1 to 19, or no line is as long.
    pub fn rules(
        columns: u32,
        rows: u32,
        in_a_row: u32,
        overlines_win: bool,
    ) -> Result<Rules, KeyProblem> {
        let overlines = OVERLINES[usize::from(!overlines_win)].to_owned();
        let given = [
            ("columns", Value::Integer(columns.into())),
            ("rows", Value::Integer(rows.into())),
            ("in_a_row", Value::Integer(in_a_row.into())),
            ("overlines", Value::Text(overlines)),
        ];
        Rules::new::<Self>(&given.map(|(name, value)| (name.to_owned(), value)).into())
    }
}

impl Game for Mnk {
    const NAME: &'static str = "mnk";

    const MEANING: &'static str =
        "Stones on a board of m columns and n rows; k in a row win: Gomoku, by default.";

    const RULES: &'static [ParameterInfo] = &[
        ParameterInfo::integer("columns", 1..=SIDE_MAX as i64, 15, "Columns of the board (m)."),
        ParameterInfo::integer("rows", 1..=SIDE_MAX as i64, 15, "Rows of the board (n)."),
        ParameterInfo::integer(
            "in_a_row",
            1..=SIDE_MAX as i64,
            5,
            "Stones in a row, a column or a diagonal that win (k).",
        ),
        ParameterInfo::word(
            "overlines",
            &OVERLINES,
            "win",
            "Whether longer lines win as well (`win`, free Gomoku), or exactly so many stones are needed \
             (`no-win`, standard Gomoku).",
        ),
    ];

    const SAMPLE_RULES: &'static [&'static str] = &[
        r#"{"columns": 4, "rows": 3, "in_a_row": 3}"#,
        r#"{"columns": 7, "rows": 7, "in_a_row": 4, "overlines": "no-win"}"#,
    ];

    const TERMINATIONS: &'static [Termination] = &[LINE_COMPLETED, Termination::FULL_BOARD];

    const LEAF_KINDS: &'static [&'static str] = &["line_completed", "draw_full_board"];

    evaluations!(MnkLines, ExpressionEvaluation<Self>, NoEvaluation);

    fn check_rules(rules: &Rules) -> Result<(), KeyProblem> {
        let [columns, rows, in_a_row] =
            ["columns", "rows", "in_a_row"].map(|name| rules.integer(name));
        if in_a_row <= columns.max(rows) {
            return Ok(());
        }
        Err(Problem::at(
            Some("in_a_row".to_owned()),
            format!("a board of {columns}×{rows} cells has no line of {in_a_row}"),
            format!("let at most {} stones in a row win", columns.max(rows)),
        ))
    }

    fn from_rules(rules: &Rules) -> Self {
        // Within the ranges of the table of rules.
        let [columns, rows, in_a_row] =
            ["columns", "rows", "in_a_row"].map(|name| rules.integer(name) as u32);
        let overlines_win = rules.word("overlines") == OVERLINES[0];
        let shape =
            Shape { grid: Grid::new(columns, rows), in_a_row: in_a_row as u8, overlines_win };
        Self::of_stones(shape, [Cells::default(); 2])
    }

    fn read(start: Self, text: &str) -> Result<Self, Problem> {
        notation::parse(start.shape, text)
    }

    fn leaf_kind(ending: Ending, _mover: Side) -> usize {
        usize::from(ending.winner.is_none())
    }

    fn sketch(&self) -> Sketch {
        let columns = self.columns() as usize;
        Sketch::of_board(self, columns, columns, [Piece::Cross, Piece::Ring])
    }

    fn explain(rules: &Rules) -> String {
        let [columns, rows, in_a_row] =
            ["columns", "rows", "in_a_row"].map(|name| rules.integer(name));
        let exactly = if rules.word("overlines") == OVERLINES[0] { "" } else { "Exactly " };
        let last = notation::letter(columns as u32 - 1);
        let wins =
            if in_a_row == 1 { "stone wins" } else { "in a row, a column or a diagonal win" };
        format!(
            "A move is a cell: columns a to {last} from the left, rows 1 to {rows} from the top.\n\
             {exactly}{in_a_row} {wins}."
        )
    }

    fn stones(&self) -> Option<u32> {
        Some(Self::stones(self))
    }

    fn empty_cells(&self) -> Option<u32> {
        Some(Self::empty_cells(self))
    }

    /// The plain solver usually takes a second or two at most with so few empty cells.
    fn is_solved_soon(&self) -> bool {
        Self::empty_cells(self) <= SOLVED_SOON
    }
}

/// The number of empty cells up to which the solver takes only a moment.
const SOLVED_SOON: u32 = 12;
