//! Chess's evaluation `network`.

use cozy_chess::{BitBoard, Board, Color};

use super::shared::SharedNetwork;
use super::{Network, Recipe, TrainError};
use crate::core::host::Host;
use crate::core::parameters::{
    EvaluationInfo, ParameterInfo, Parameters, RecipeInfo, Settings, Value,
};
use crate::core::position::Side;
use crate::core::problem::KeyProblem;
use crate::core::score::WIN_MIN;
use crate::evaluation::{Contents, Evaluate, GameEvaluation};
use crate::games::Chess;
use crate::tables::{Endgame, PIECES_MAX};

/// The value of a network's greatest output.
const SCALE: f32 = 100_000.0;

const _: () = assert!(SCALE as i32 + 1 < WIN_MIN);

const KEY: &str = "network";

const RECIPE: RecipeInfo = RecipeInfo {
    keys: Recipe::PARAMETERS,
    canonical: |given| Recipe::from_parameters(given).map(|recipe| recipe.parameters().clone()),
};

/// `network`: a [`Network`]'s answer for the positions of its ending, in hundred-thousandths plus 1, for the
/// side with white's pieces, whichever colour they have; negated for the other. Every other position is 0:
/// losing a piece is worse than any answer of the network, and for positions with more pieces it has none.
///
/// A player names the network's recipe, from which its weights follow: it is trained in the process that
/// plays, once, by [`prepare`] or when the first position is evaluated. If training fails, every position is
/// 0, and [`prepare`] returns the error.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkEvaluation {
    network: SharedNetwork,
}

/// Trains the network of the player with these complete parameters, if it has one and this process has not
/// trained it. It takes a while: games with little time for moves should not begin with it.
///
/// # Errors
/// If the host aborts, or training fails.
pub fn prepare(player: &Parameters, host: &dyn Host) -> Result<(), TrainError> {
    recipe_of(player)
        .map_or(Ok(()), |recipe| SharedNetwork::from_recipe(recipe).prepare(host).map(|_| ()))
}

/// The memory in bytes that training the network of the player with these complete parameters may take; 0
/// without a network.
pub(crate) fn memory_bytes(player: &Parameters) -> u64 {
    recipe_of(player).map_or(0, |recipe| recipe.memory_bytes())
}

/// The recipe of the network of the player with these complete parameters; `None` without a network.
#[must_use]
pub fn recipe_of(player: &Parameters) -> Option<Recipe> {
    let is_network = matches!(player.get("evaluation"), Some(Value::Text(name)) if name == KEY);
    match player.get(KEY) {
        // Every player's recipe is valid.
        Some(Value::Table(recipe)) if is_network => Recipe::from_parameters(recipe).ok(),
        Some(_) | None => None,
    }
}

impl NetworkEvaluation {
    /// The evaluation by the network of this recipe.
    #[must_use]
    pub fn new(recipe: Recipe) -> Self {
        Self { network: SharedNetwork::from_recipe(recipe) }
    }

    /// The network, trained if necessary; `None` if training fails.
    #[must_use]
    pub fn network(&self) -> Option<&Network> {
        self.network.network()
    }

    fn endgame(&self) -> &Endgame {
        self.network.recipe().endgame()
    }

    /// The side to move, where white is the side with the ending's white pieces, and the pieces' squares from
    /// white's point of view; `None` for other pieces.
    #[inline]
    fn find(&self, board: &Board, changed: bool, squares: &mut [u8]) -> Option<Side> {
        let color = |color: Color| if changed { !color } else { color };
        let mut taken = BitBoard::EMPTY;
        for (place, &(side_color, piece)) in squares.iter_mut().zip(self.endgame().men()) {
            let square = (board.colored_pieces(color(side_color), piece) & !taken).next_square()?;
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
        parameters: &[ParameterInfo::recipe(
            KEY,
            &RECIPE,
            "what the network is made from: its weights follow from that",
        )],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        let Value::Table(recipe) = settings.value(KEY) else {
            unreachable!("the table of parameters has checked it")
        };
        Recipe::from_parameters(recipe).map(Self::new)
    }
}

impl Evaluate<Chess> for NetworkEvaluation {
    fn evaluate(&self, position: &Chess) -> i32 {
        let board = position.cozy();
        let men = self.endgame().men().len();
        if board.occupied().len() as usize != men {
            return 0;
        }
        let mut squares = [0; PIECES_MAX];
        let squares = &mut squares[..men];
        let mut find = |changed| self.find(board, changed, squares);
        let Some(to_move) = find(false).or_else(|| find(true)) else { return 0 };
        let Some(network) = self.network() else { return 0 };
        let score = 1 + (network.output(to_move, squares) * SCALE) as i32;
        if to_move == Side::First { score } else { -score }
    }

    fn is_symmetric(&self) -> bool {
        self.network.recipe().is_symmetric()
    }

    /// The side to move is an input, so the network learns the value of the turn.
    fn is_antisymmetric(&self) -> bool {
        false
    }
}
