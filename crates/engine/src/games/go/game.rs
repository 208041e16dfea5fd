//! Go in the catalogue.

use super::evaluation::{GoArea, GoInfluence};
use super::{Go, GoMove, LENGTH, PLIES_PER_POINT, SIZE_MAX, SUPERKO, TWO_PASSES, gtp, notation};
use crate::core::external::{GtpBoard, Protocol};
use crate::core::parameters::{ParameterInfo, Value};
use crate::core::position::{Ending, Side};
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rules::Rules;
use crate::core::sketch::{Piece, RowNames, Sketch};
use crate::core::termination::Termination;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::Game;

/// The usual size.
const SIZE: i64 = 9;

impl Go {
    /// The rules of the game.
    ///
    /// # Errors
    /// If the size is not from 2 to 19, or komi is not a multiple of ½ from -361 to 361.
    pub fn rules(size: u32, komi: f64, suicide: bool) -> Result<Rules, KeyProblem> {
        let given = [
            ("size", Value::Integer(size.into())),
            ("komi", Value::Number(komi)),
            ("suicide", Value::Bool(suicide)),
        ];
        Rules::new::<Self>(&given.map(|(name, value)| (name.to_owned(), value)).into())
    }
}

impl Game for Go {
    const NAME: &'static str = "go";

    const MEANING: &'static str =
        "Stones surround area and capture on a board of up to 19×19 points; the larger area wins.";

    const RULES: &'static [ParameterInfo] = &[
        ParameterInfo::integer("size", 2..=SIZE_MAX as i64, SIZE, "Rows and columns of the board."),
        ParameterInfo::number(
            "komi",
            -361.0..=361.0,
            7.5,
            "Points that White gets in addition, in steps of 0.5. With whole points there are draws.",
        ),
        ParameterInfo::switch(
            "suicide",
            false,
            "Whether a stone may be put where its own group is then removed, if it is not alone.",
        ),
    ];

    const PROTOCOLS: &'static [Protocol] = &[Protocol::Gtp];

    const GTP_BOARD: Option<GtpBoard> = Some(GtpBoard {
        size: SIZE as u32,
        size_rule: Some("size"),
        komi_rule: Some("komi"),
        margins_per_point: 2,
        black: Side::First,
        has_passes: true,
    });

    const TERMINATIONS: &'static [Termination] = &[TWO_PASSES, LENGTH, SUPERKO];

    const LEAF_KINDS: &'static [&'static str] =
        &["passes_won", "passes_lost", "passes_drawn", "length_won", "length_lost", "length_drawn"];

    const MARGIN: Option<&'static str> = Some("half points");

    const ROW_NAMES: RowNames = RowNames::UpWithoutI;

    evaluations!(GoInfluence, GoArea, ExpressionEvaluation<Self>, NoEvaluation);

    fn check_rules(rules: &Rules) -> Result<(), KeyProblem> {
        let komi = rules.number("komi");
        if (2.0 * komi).fract() == 0.0 {
            return Ok(());
        }
        Err(Problem::of_key(
            "komi",
            format!("komi cannot be {komi}"),
            "write a multiple of 0.5, such as 7.5".to_owned(),
        ))
    }

    fn from_rules(rules: &Rules) -> Self {
        // Within the ranges of the table of rules.
        let size = rules.integer("size") as u32;
        Self::empty(size, (2.0 * rules.number("komi")) as i32, rules.switch("suicide"))
    }

    fn read(start: Self, text: &str) -> Result<Self, Problem> {
        notation::parse(start, text)
    }

    fn leaf_kind(ending: Ending, mover: Side) -> usize {
        let result = match ending.winner {
            Some(winner) if winner == mover => 0,
            Some(_) => 1,
            None => 2,
        };
        result + if ending.termination == TWO_PASSES { 0 } else { 3 }
    }

    fn parse_engine_move(&self, text: &str, _protocol: Protocol) -> Result<GoMove, Problem> {
        gtp::read(self, text)
    }

    fn moves_from_start(&self) -> Option<Vec<GoMove>> {
        Some(gtp::moves_to(self))
    }

    fn sketch(&self) -> Sketch {
        let [black, white] = self.stones;
        let size = self.size();
        let stone = |cell| match (black.has(cell), white.has(cell)) {
            (true, _) => Some(Side::First),
            (_, true) => Some(Side::Second),
            _ => None,
        };
        let row = |row| (0..size).map(move |column| stone(super::STRIDE * row + column));
        Sketch::Board {
            columns: size as usize,
            block: size as usize,
            pieces: [Piece::Disc, Piece::Ring],
            cells: (0..size).rev().flat_map(row).collect(),
        }
    }

    fn explain(rules: &Rules) -> String {
        let suicide = if rules.switch("suicide") {
            "A group of yours that is left without one is removed as well."
        } else {
            "Your own group must not be left without one."
        };
        format!(
            "A move is a point: d3 puts a stone on column d, row 3 from the bottom; there is no column i. pass puts \
             none.\nGroups of the other side that are left without a free point beside them are captured. \
             {suicide}\nA stone that restores an earlier board loses the game. After two passes the larger area wins: \
             stones, and free points that only they reach. White gets {} points; after {} plies the board is scored.",
            rules.number("komi"),
            PLIES_PER_POINT * (rules.integer("size") * rules.integer("size")) as u32,
        )
    }

    fn stones(&self) -> Option<u32> {
        Some(self.stone_count())
    }

    fn is_solved_soon(&self) -> bool {
        false
    }
}
