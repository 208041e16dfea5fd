//! Chess in the catalogue.

use super::evaluation::{ChessMaterial, ChessPositional};
use super::{
    CHECKMATE, Chess, ChessMove, FIFTY_MOVES, INSUFFICIENT_MATERIAL, STALEMATE,
    THREEFOLD_REPETITION, book, fen,
};
use crate::core::book::{BookFormat, BookPosition};
use crate::core::external::Protocol;
use crate::core::parameters::{ParameterInfo, Value};
use crate::core::position::{Ending, Position as _, Side};
use crate::core::problem::{KeyProblem, Problem, RangeProblem};
use crate::core::rules::Rules;
use crate::core::sketch::{RowNames, Sketch};
use crate::core::termination::Termination;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::{Game, SideExchange};
use crate::network::NetworkEvaluation;
use crate::tables::{self, TableValue};

/// The number of chess's own start position among those of Chess960.
const USUAL_START: i64 = 518;

impl Chess {
    /// The rules of chess.
    #[must_use]
    pub fn rules() -> Rules {
        Rules::usual::<Self>()
    }

    /// The rules of Chess960 with this start position.
    ///
    /// # Errors
    /// If there is no start position of this number.
    pub fn chess960_rules(start: u32) -> Result<Rules, KeyProblem> {
        let given = [("chess960", Value::Bool(true)), ("start", Value::Integer(start.into()))];
        Rules::new::<Self>(&given.map(|(name, value)| (name.to_owned(), value)).into())
    }
}

impl Game for Chess {
    const NAME: &'static str = "chess";

    const MEANING: &'static str = "Chess by the laws of FIDE, and Chess960.";

    const RULES: &'static [ParameterInfo] = &[
        ParameterInfo::switch(
            "chess960",
            false,
            "Whether to play Chess960: castling is written as the king's and the rook's square, \
             and the game may begin from another position.",
        ),
        ParameterInfo::integer(
            "start",
            0..=959,
            USUAL_START,
            "The number of the start position among the 960; 518 is the usual one of chess.",
        ),
    ];

    const READS_OTHER_FORMS: bool = true;

    /// Both rooks beside the king.
    const SAMPLE_RULES: &'static [&'static str] = &[r#"{"chess960": true, "start": 500}"#];

    const PROTOCOLS: &'static [Protocol] = &[Protocol::Uci, Protocol::Xboard];

    const ROW_NAMES: RowNames = RowNames::Up;

    /// Some programs write castling onto the rook in ordinary chess too, as in Chess960. Over XBoard, they write squares
    /// or algebraic notation.
    fn parse_engine_move(&self, text: &str, protocol: Protocol) -> Result<ChessMove, Problem> {
        if protocol == Protocol::Xboard {
            // Some write squares in upper case; in algebraic notation a capital is a piece.
            let lower = text.to_ascii_lowercase();
            return self.read_san(text).or_else(|error| self.read_san(&lower).map_err(|_| error));
        }
        let mv = self.parse_move(text)?;
        if self.is_legal(mv) || self.is_chess960 {
            return Ok(mv);
        }
        let onto_rook = [("e1h1", "e1g1"), ("e1a1", "e1c1"), ("e8h8", "e8g8"), ("e8a8", "e8c8")];
        let castling = onto_rook.into_iter().find(|(onto_rook, _)| *onto_rook == text);
        let castling = castling.map(|(_, castling)| self.parse_move(castling)).transpose()?;
        Ok(castling
            .filter(|castling| self.is_legal(*castling) && self.is_castling(*castling))
            .unwrap_or(mv))
    }

    const TERMINATIONS: &'static [Termination] =
        &[CHECKMATE, STALEMATE, INSUFFICIENT_MATERIAL, FIFTY_MOVES, THREEFOLD_REPETITION];

    /// None: perft of chess counts the positions at its depth alone.
    const LEAF_KINDS: &'static [&'static str] = &[];

    /// The board's own moves need no conversion.
    fn for_each_child(&self, mut visit: impl FnMut(&Self)) {
        if self.is_drawn_by_rule() {
            return;
        }
        self.cozy().generate_moves(|moves| {
            for mv in moves {
                let mut child = self.clone();
                child.board.play_unchecked(mv);
                visit(&child);
            }
            false
        });
    }

    evaluations!(
        ChessPositional,
        ChessMaterial,
        ExpressionEvaluation<Self>,
        NetworkEvaluation,
        NoEvaluation
    );

    fn check_rules(rules: &Rules) -> Result<(), KeyProblem> {
        let start = rules.integer("start");
        if rules.switch("chess960") || start == USUAL_START {
            return Ok(());
        }
        Err(Problem::at(
            Some("start".to_owned()),
            format!("chess does not begin from start position {start}"),
            "leave `start` out, or say chess960 = true",
        ))
    }

    fn from_rules(rules: &Rules) -> Self {
        if rules.switch("chess960") {
            // Within the range of the table of rules.
            Self::chess960(rules.integer("start") as u32)
        } else {
            Self::initial()
        }
    }

    /// The board is turned upside down, so that pawns move the right way.
    fn side_exchange(_rules: &Rules) -> SideExchange<Self> {
        SideExchange::By(|position| {
            fen::read(position, &fen::with_colors_exchanged(&position.to_string())).ok()
        })
    }

    fn read(start: Self, text: &str) -> Result<Self, Problem> {
        fen::read(&start, text)
    }

    fn leaf_kind(_ending: Ending, _mover: Side) -> usize {
        unreachable!("no kinds of leaves are counted apart")
    }

    fn explain(rules: &Rules) -> String {
        let castling = if rules.switch("chess960") {
            "Castling is the king's square and that of the rook: e1h1."
        } else {
            "Castling is the king's move: e1g1 or e1c1."
        };
        format!(
            "A move is the square left and the square reached: e2e4. A pawn that reaches the last \
             rank says what it becomes, q, r, b or n: e7e8q. {castling}\nWhoever mates the king \
             wins; stalemate, the third repetition and fifty moves without a capture or a pawn's \
             move draw."
        )
    }

    fn read_book(
        start: &Self,
        format: BookFormat,
        text: &str,
        plies: Option<u32>,
    ) -> Vec<Result<BookPosition<Self>, RangeProblem>> {
        book::read(start, format, text, plies)
    }

    fn written(&self, mv: Self::Move) -> String {
        self.san(mv)
    }

    fn sketch(&self) -> Sketch {
        Sketch::Pieces { columns: 8, cells: fen::rows(&self.board).flatten().collect() }
    }

    fn table_solution(&self) -> Option<(TableValue, Vec<ChessMove>)> {
        tables::solve(self).map(|solution| (solution.value, solution.best_moves))
    }

    fn is_solved_soon(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn castling_onto_the_rook_is_parsed() {
        let parsed = |fen: &str, text: &str| {
            let position = Chess::parse(&Chess::rules(), fen).unwrap();
            position.parse_engine_move(text, Protocol::Uci).unwrap().to_string()
        };
        let open = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        assert_eq!(parsed(open, "e1h1"), "e1g1");
        assert_eq!(parsed(open, "e1a1"), "e1c1");
        assert_eq!(parsed(open, "e1g1"), "e1g1");
        assert_eq!(parsed(&open.replace('w', "b"), "e8h8"), "e8g8");
        let by_xboard = |fen: &str, text: &str| {
            let position = Chess::parse(&Chess::rules(), fen).unwrap();
            position.parse_engine_move(text, Protocol::Xboard).map(|mv| mv.to_string()).ok()
        };
        for castling in ["O-O", "0-0", "e1g1", "e1h1", "O-O+", "E1G1"] {
            assert_eq!(by_xboard(open, castling).as_deref(), Some("e1g1"), "{castling}");
        }
        let en_passant = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1";
        for capture in ["exd6", "e5d6", "e5xd6"] {
            assert_eq!(by_xboard(en_passant, capture).as_deref(), Some("e5d6"), "{capture}");
        }
        let promotion = "8/P3k3/8/8/8/8/8/4K3 w - - 0 1";
        for text in ["a8=Q", "a8Q", "a7a8q", "a7a8Q", "A7A8Q", "a7a8=q"] {
            assert_eq!(by_xboard(promotion, text).as_deref(), Some("a7a8q"), "{text}");
        }
        for text in ["a7a8", "Ke9", "", "@@@@", "a8=K", "resign"] {
            assert_eq!(by_xboard(promotion, text), None, "{text}");
        }
        // A rook's own move stays as written, as does castling without the right to it.
        assert_eq!(parsed("3k4/8/8/8/8/8/8/K3R3 w - - 0 1", "e1h1"), "e1h1");
        assert_eq!(parsed("r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1", "e1h1"), "e1h1");
        assert_eq!(parsed("3k4/8/8/8/8/8/8/K3Q2R w - - 0 1", "e1h1"), "e1h1");
    }
}
