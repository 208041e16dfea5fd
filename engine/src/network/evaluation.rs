//! Chess's evaluation `network`.

use std::sync::Arc;

use cozy_chess::{BitBoard, Board, Color};

use super::Network;
use crate::evaluation::{Contents, Evaluate, GameEvaluation, content_of};
use crate::games::Chess;
use crate::parameters::{EvaluationInfo, ParameterError, ParameterInfo, Settings};
use crate::position::Side;
use crate::score::WIN_MIN;
use crate::tables::PIECES_MAX;

/// What a network's greatest output is worth.
const SCALE: f32 = 100_000.0;

const _: () = assert!(SCALE as i32 + 1 < WIN_MIN);

/// `network`: what a [`Network`] says of the positions of its ending, in hundred-thousandths and 1 more,
/// for the side with white's pieces, whichever colour they have; less than 0 for the other. Every other
/// position is 0: that a piece is lost is worse than anything the network says, and that there are more
/// pieces than it knows tells it nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkEvaluation {
    network: Arc<Network>,
}

impl NetworkEvaluation {
    /// The evaluation by a network.
    #[must_use]
    pub fn new(network: Network) -> Self {
        Self { network: Arc::new(network) }
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Whose move it is, white being who has the ending's white pieces, and the pieces' squares as white
    /// sees the board; `None` of other pieces.
    #[inline]
    fn find(&self, board: &Board, changed: bool, squares: &mut [u8]) -> Option<Side> {
        let color = |color: Color| if changed { !color } else { color };
        let mut taken = BitBoard::EMPTY;
        for (place, &(of, piece)) in squares.iter_mut().zip(self.network.endgame().men()) {
            let square = (board.colored_pieces(color(of), piece) & !taken).next_square()?;
            taken |= square.bitboard();
            *place = square.relative_to(color(Color::White)) as u8;
        }
        Some(match color(board.side_to_move()) {
            Color::White => Side::First,
            Color::Black => Side::Second,
        })
    }
}

impl GameEvaluation<Chess> for NetworkEvaluation {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "network",
        meaning: "What a network learnt of an ending's distances to mate; 0 with other pieces.",
        parameters: &[ParameterInfo::content("weights", "the network's weights")],
    };

    fn from_settings(settings: &Settings, contents: &dyn Contents) -> Result<Self, ParameterError> {
        const KEY: &str = "weights";
        let bytes = content_of(settings, KEY, contents)?;
        let network = Network::from_bytes(&bytes).map_err(|error| {
            let problem = format!("what `{KEY}` stands for is no network: {error}");
            ParameterError::new(KEY, problem, "name the weights of a network".to_owned())
        })?;
        Ok(Self::new(network))
    }
}

impl Evaluate<Chess> for NetworkEvaluation {
    fn evaluate(&self, position: &Chess) -> i32 {
        let board = position.cozy();
        let men = self.network.endgame().men().len();
        if board.occupied().len() as usize != men {
            return 0;
        }
        let mut squares = [0; PIECES_MAX];
        let squares = &mut squares[..men];
        let mut find = |changed| self.find(board, changed, squares);
        let Some(to_move) = find(false).or_else(|| find(true)) else { return 0 };
        let score = 1 + (self.network.output(to_move, squares) * SCALE) as i32;
        if to_move == Side::First { score } else { -score }
    }

    fn is_symmetric(&self) -> bool {
        self.network.is_symmetric()
    }
}
