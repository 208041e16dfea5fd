//! External engines that played.

use spelrum_model::engines::{EngineIdentity, Forfeit};

use super::Settled;

impl Settled {
    /// The external engines that played, and how one of them forfeited the game.
    pub(super) fn engines(&self) -> ([Option<EngineIdentity>; 2], Option<Forfeit>) {
        match self {
            Self::Played { game, .. } => (game.engines.clone(), game.forfeit.clone()),
            Self::Failed { .. } => ([None, None], None),
        }
    }
}
