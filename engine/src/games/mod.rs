//! The games, and the way from [`Rules`](crate::Rules) as data to a game as a type.

mod nim;
pub mod pentago;
mod tictactoe;

pub use nim::{Nim, NimMove};
pub use pentago::{Pentago, PentagoMove};
pub(crate) use tictactoe::LINES as TIC_TAC_TOE_LINES;
pub use tictactoe::{TicTacToe, TicTacToeMove};

/// Runs an expression with a type alias bound to the game that a [`Rules`](crate::Rules) names:
/// from the data form to static dispatch. The alias implements [`Game`](crate::Game).
///
/// ```
/// use spelrum_engine::{Game, Position, Rules, with_game};
///
/// fn count_moves<P: Game>(rules: &Rules) -> u32 {
///     P::start(rules).map_or(0, |position| position.legal_move_count())
/// }
///
/// let rules = Rules::from_name("tic-tac-toe")?;
/// assert_eq!(with_game!(&rules, P => count_moves::<P>(&rules)), 9);
/// # Ok::<(), spelrum_engine::RulesError>(())
/// ```
#[macro_export]
macro_rules! with_game {
    ($rules:expr, $game:ident => $body:expr) => {
        match $rules {
            $crate::Rules::Pentago { .. } => {
                type $game = $crate::games::Pentago;
                $body
            }
            $crate::Rules::TicTacToe { .. } => {
                type $game = $crate::games::TicTacToe;
                $body
            }
            $crate::Rules::Nim { .. } => {
                type $game = $crate::games::Nim;
                $body
            }
        }
    };
}
