//! A finished game or training on its way to the coordinator.

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::{CellId, GameId, LeaseId};
use spelrum_proto::limits::FAILURE_BYTES_MAX;
use spelrum_proto::v1::{self, result::What};
use spelrum_proto::work;
use spelrum_scheduling::worker::Outcome;

/// A result, and its size in a report.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    pub(crate) result: v1::Result,
    bytes: usize,
}

impl Finished {
    pub(crate) fn new(lease: LeaseId, what: What) -> Self {
        Self::from_result(v1::Result { lease_id: lease.0, what: Some(what) })
    }

    /// A result that was made elsewhere.
    pub(crate) fn from_result(result: v1::Result) -> Self {
        Self { bytes: work::encoded_len(&result), result }
    }

    /// The number of the game in its cell.
    pub(crate) fn number(&self) -> Option<u64> {
        Some(match self.result.what.as_ref()? {
            What::Game(game) | What::Verification(game) => game.number,
            What::Training(training) => training.number,
            What::FailedGame(failed) => failed.number,
        })
    }
}

impl Outcome for Finished {
    fn lease(&self) -> LeaseId {
        LeaseId(self.result.lease_id)
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn is_failure(&self) -> bool {
        matches!(self.result.what, Some(What::FailedGame(_)))
    }

    fn refused(&self, problem: &str) -> Option<Self> {
        let (cell, number) = match &self.result.what {
            Some(What::Game(game) | What::Verification(game)) => (game.cell_id, game.number),
            Some(What::Training(training)) => (training.cell_id, training.number),
            Some(What::FailedGame(_)) | None => {
                let lease = self.result.lease_id;
                tracing::error!(lease, problem, "a failure was refused: its game is given up");
                return None;
            }
        };
        tracing::error!(cell, number, problem, "a result was refused");
        let game = GameId { cell: CellId(cell), number };
        let what = failed(game, &format!("its result was refused: {problem}"));
        Some(Self::new(self.lease(), what))
    }
}

/// A game that could not be played, or a failed training.
pub(crate) fn failed(game: GameId, message: &str) -> What {
    let message = &message[..message.floor_char_boundary(FAILURE_BYTES_MAX)];
    What::FailedGame(v1::FailedGame {
        cell_id: game.cell.0,
        number: game.number,
        engine_revision: ENGINE_REVISION,
        message: message.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: GameId = GameId { cell: CellId(3), number: 8 };

    #[test]
    fn messages_are_cut_between_characters() {
        let what = failed(GAME, &"ö".repeat(FAILURE_BYTES_MAX));
        let What::FailedGame(failed) = what else { panic!("{what:?}") };
        assert_eq!((failed.cell_id, failed.number), (3, 8));
        assert!(failed.message.len() <= FAILURE_BYTES_MAX && failed.message.ends_with('ö'));
    }

    #[test]
    fn a_refused_result_becomes_a_failure_and_a_refused_failure_nothing() {
        let game = v1::Game { cell_id: 3, number: 8, ..Default::default() };
        let training = v1::Training { cell_id: 3, number: 8, ..Default::default() };
        let verification = What::Verification(game.clone());
        for what in [What::Game(game), What::Training(training), verification] {
            let finished = Finished::new(LeaseId(5), what);
            assert!(!finished.is_failure());
            let failure = finished.refused("no room").unwrap();
            assert!(failure.is_failure() && failure.lease() == LeaseId(5));
            let expected = failed(GAME, "its result was refused: no room");
            assert_eq!(failure.result.what, Some(expected));
            assert_eq!(failure.bytes(), work::encoded_len(&failure.result));
            assert!(failure.refused("no room").is_none());
        }
    }
}
