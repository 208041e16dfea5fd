//! Rows that all stores are asked for.

use spelrum_answers::{
    ExperimentsPage, FoundGame, GameCursor, GamesPage, GamesQuestion, WhichGame,
};
use spelrum_model::{CellId, ExperimentId};
use spelrum_store::{Readers, StoreError};

/// Rows of which all others are sums.
pub(crate) trait Rows {
    /// A page of experiments, oldest first.
    async fn experiments(
        &self,
        after: Option<ExperimentId>,
        experiments_max: u32,
    ) -> Result<ExperimentsPage, StoreError>;

    /// A page of settled games.
    async fn games(
        &self,
        question: GamesQuestion,
        after: Option<GameCursor>,
        games_max: u32,
    ) -> Result<GamesPage, StoreError>;

    /// A settled game with its moves.
    async fn game(&self, which: WhichGame) -> Result<FoundGame, StoreError>;

    /// The definition of a cell.
    async fn definition_of(&self, cell: CellId) -> Result<Option<String>, StoreError>;
}

impl Rows for Readers {
    async fn experiments(
        &self,
        after: Option<ExperimentId>,
        experiments_max: u32,
    ) -> Result<ExperimentsPage, StoreError> {
        Self::experiments(self, after, experiments_max).await
    }

    async fn games(
        &self,
        question: GamesQuestion,
        after: Option<GameCursor>,
        games_max: u32,
    ) -> Result<GamesPage, StoreError> {
        Self::games(self, question, after, games_max).await
    }

    async fn game(&self, which: WhichGame) -> Result<FoundGame, StoreError> {
        Self::game(self, which).await
    }

    async fn definition_of(&self, cell: CellId) -> Result<Option<String>, StoreError> {
        Self::definition_of(self, cell).await
    }
}
