//! Hex in the catalogue.

use super::evaluation::{HexDistance, HexTwoDistance};
use super::{EDGES_JOINED, Hex, SIZE_MAX, notation};
use crate::core::parameters::{ParameterInfo, Value};
use crate::core::position::{Ending, Side};
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rules::Rules;
use crate::core::sketch::{Piece, Sketch};
use crate::core::termination::Termination;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::{Game, SideExchange};

impl Hex {
    /// The rules of the game: the number of cells in each row and column, and whether the second move may swap
    /// pieces.
    ///
    /// # Errors
    /// If the size is not from 3 to 19.
    pub fn rules(size: u32, has_swap_rule: bool) -> Result<Rules, KeyProblem> {
        let given = [("size", Value::Integer(size.into())), ("swap", Value::Bool(has_swap_rule))];
        Rules::new::<Self>(&given.map(|(name, value)| (name.to_owned(), value)).into())
    }
}

impl Game for Hex {
    const NAME: &'static str = "hex";

    const MEANING: &'static str =
        "Stones on a rhombus of hexagons; who joins the two edges of a colour wins.";

    const RULES: &'static [ParameterInfo] = &[
        ParameterInfo::integer("size", 3..=SIZE_MAX as i64, 11, "Cells in each row and column."),
        ParameterInfo::switch(
            "swap",
            true,
            "Whether the second player's first move may take over the first stone, mirrored.",
        ),
    ];

    const SAMPLE_RULES: &'static [&'static str] =
        &[r#"{"size": 4, "swap": false}"#, r#"{"size": 5}"#];

    const TERMINATIONS: &'static [Termination] = &[EDGES_JOINED];

    const LEAF_KINDS: &'static [&'static str] = &["edges_joined"];

    evaluations!(HexDistance, HexTwoDistance, ExpressionEvaluation<Self>, NoEvaluation);

    fn from_rules(rules: &Rules) -> Self {
        // Within the range of the table of rules.
        Self::empty(rules.integer("size") as u32, rules.switch("swap"))
    }

    fn read(start: Self, text: &str) -> Result<Self, Problem> {
        notation::parse(&start, text)
    }

    fn side_exchange(_rules: &Rules) -> SideExchange<Self> {
        SideExchange::By(Self::with_sides_exchanged)
    }

    fn leaf_kind(_ending: Ending, _mover: Side) -> usize {
        0
    }

    fn sketch(&self) -> Sketch {
        let cell = |bit| {
            let [red, blue] = self.stones.each_ref().map(|stones| stones.has(bit));
            if red { Some(Side::First) } else { blue.then_some(Side::Second) }
        };
        let columns = self.size() as usize;
        Sketch::Board {
            columns,
            block: columns,
            pieces: [Piece::Disc, Piece::Ring],
            cells: self.grid.cells().iter().map(cell).collect(),
        }
    }

    fn explain(rules: &Rules) -> String {
        let last = notation::letter(rules.integer("size") as u32 - 1);
        let swap = if rules.switch("swap") {
            format!(
                "\nInstead of its first stone, blue may write {}: red's stone becomes a blue one, with \
                 its\ncolumn and row exchanged.",
                notation::SWAP_PIECES
            )
        } else {
            String::new()
        };
        format!(
            "A move is a cell: columns a to {last} from the left, rows from 1 at the top; b3 is column b, \
             row 3. Each row\nis shifted to the right of the one above by half a cell, so a cell has six \
             neighbours.\nRed joins the top and bottom edges with its stones, blue the left and right \
             ones.{swap}"
        )
    }

    fn stones(&self) -> Option<u32> {
        Some(Self::stones(self))
    }

    /// With the swap rule, a move may fill no cell.
    fn empty_cells(&self) -> Option<u32> {
        (!self.has_swap_rule).then(|| Self::empty_cells(self))
    }

    /// The plain solver usually takes a second or two at most with so few empty cells.
    fn is_solved_soon(&self) -> bool {
        Self::empty_cells(self) <= SOLVED_SOON
    }
}

/// The number of empty cells up to which the solver takes only a moment.
const SOLVED_SOON: u32 = 16;
