//! Othello in the catalogue.

use super::evaluation::{OthelloDiscs, OthelloMobility, OthelloSquares};
use super::{NO_MOVES, Othello, OthelloMove, State, WIPED_OUT, gtp, notation};
use crate::core::external::{GtpBoard, Protocol};
use crate::core::parameters::ParameterInfo;
use crate::core::position::{Ending, Side};
use crate::core::problem::Problem;
use crate::core::rules::Rules;
use crate::core::sketch::{Piece, Sketch};
use crate::core::termination::Termination;
use crate::core::wide::wide;
use crate::evaluation::{ExpressionEvaluation, NoEvaluation};
use crate::evaluations;
use crate::games::game::Game;

impl Othello {
    /// The rules of the game.
    #[must_use]
    pub fn rules() -> Rules {
        Rules::usual::<Self>()
    }
}

impl Game for Othello {
    const NAME: &'static str = "othello";

    const MEANING: &'static str =
        "Discs that enclose others flip them, on a board of 8×8 squares; more discs win.";

    const RULES: &'static [ParameterInfo] = &[];

    const PROTOCOLS: &'static [Protocol] = &[Protocol::Gtp];

    const GTP_BOARD: Option<GtpBoard> =
        Some(GtpBoard { size: 8, black: Side::First, has_passes: true });

    const TERMINATIONS: &'static [Termination] = &[Termination::FULL_BOARD, NO_MOVES, WIPED_OUT];

    /// None: perft of Othello counts leaves alone.
    const LEAF_KINDS: &'static [&'static str] = &[];

    const MARGIN: Option<&'static str> = Some("discs");

    const ENDED_GAMES_ARE_LEAVES: bool = true;

    fn for_each_child(&self, mut visit: impl FnMut(&Self)) {
        if self.state == State::MustPass {
            visit(&Self::of_discs(self.other, self.own, self.to_move.other()));
        }
        let mut squares = self.moves;
        wide!({
            while squares != 0 {
                visit(&self.after(OthelloMove::lowest(squares)));
                squares &= squares - 1;
            }
        });
    }

    evaluations!(
        OthelloMobility,
        OthelloSquares,
        OthelloDiscs,
        ExpressionEvaluation<Self>,
        NoEvaluation
    );

    fn from_rules(_rules: &Rules) -> Self {
        Self::initial()
    }

    fn read(_start: Self, text: &str) -> Result<Self, Problem> {
        notation::parse(text)
    }

    fn leaf_kind(_ending: Ending, _mover: Side) -> usize {
        unreachable!("no kinds of leaves are counted apart")
    }

    fn parse_engine_move(&self, text: &str, _protocol: Protocol) -> Result<OthelloMove, Problem> {
        gtp::read(text)
    }

    fn moves_from_start(&self) -> Option<Vec<OthelloMove>> {
        gtp::moves_to(self)
    }

    fn sketch(&self) -> Sketch {
        let [black, white] = self.black_and_white();
        let cell = |square| match (black >> square & 1, white >> square & 1) {
            (0, 0) => None,
            (0, _) => Some(Side::Second),
            _ => Some(Side::First),
        };
        Sketch::Board {
            columns: 8,
            block: 8,
            pieces: [Piece::Disc, Piece::Ring],
            cells: (0..super::SQUARES).map(cell).collect(),
        }
    }

    fn explain(_rules: &Rules) -> String {
        "A move is a square: d3 puts a disc on column d, row 3 from the top. It must enclose a run of \
         the\nother side's discs in a straight line with another of yours; all that is enclosed \
         flips.\nWho has no such move passes: write pass. When neither side can move, more discs win."
            .to_owned()
    }

    fn stones(&self) -> Option<u32> {
        Some(self.discs())
    }

    fn is_solved_soon(&self) -> bool {
        self.empty_squares() <= SOLVED_SOON
    }
}

/// The number of empty squares up to which the solver usually takes a second or two at most.
const SOLVED_SOON: u32 = 22;
