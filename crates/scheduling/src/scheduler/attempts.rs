//! Games that were lost or failed, and when to give them up.
//!
//! To the coordinator, a game that kills its worker looks like a machine that was taken away. Repetition
//! under suspicion distinguishes them:
//!
//! 1. A lost lease costs an attempt only to the games its worker had reported as started.
//! 2. After two losses a game is leased alone, so that it takes no other lease's games with it.
//! 3. After two more, alone, it is a *suspect*: no worker holds two suspects at a time. Otherwise an innocent
//!    game beside the guilty one each time would be given up with it.
//! 4. After ten losses alone it is settled as failed. A game of an innocent program gets there
//!    only by ten preemptions in a row.
//!
//! A game that kills its worker before any heartbeat named it escapes step 1, but only once: the games of a
//! lost lease are marked until they are settled, and their next worker names each in a heartbeat, and waits
//! for the answer, before it plays it. The marks are not durable: a coordinator that restarts at that moment
//! gives such a game one more free shot.
//!
//! A reported failure needs no guessing: three of them settle the game as failed. After the first it is
//! leased alone, so that another worker may try it next (`conduct`).
//!
//! Trainings are leased alone from the start: each takes a slot for long. So are verifications: each must go
//! to a worker other than the original one.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_model::{CellId, GameId, GameRange};

use super::api::Attempts;
use super::policy::Policy;
use super::ranges::Numbers;

/// Losses alone after which a game is a suspect.
const LOSSES_UNTIL_SUSPECT: u32 = 2;

/// Lost or failed games that are not settled: few, since such games are leased again before new ones.
#[derive(Clone, Debug, Default)]
pub(super) struct AttemptBook {
    attempts: BTreeMap<GameId, Attempts>,
    changed: BTreeMap<GameId, Attempts>,
    /// For each cell, games that were in a lost lease.
    lost: BTreeMap<CellId, Numbers>,
    /// Cells whose tasks are never leased with others.
    always_alone: BTreeSet<CellId>,
}

/// How a game is to be leased next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// In any batch.
    Shared,
    /// In a lease of its own.
    Alone,
    /// In a lease of its own, by a worker that holds no other suspect.
    Suspect,
    /// Not at all: it has finally failed.
    GiveUp,
}

impl AttemptBook {
    /// Restores the durable state.
    pub(super) fn restore(&mut self, attempts: Attempts) {
        self.attempts.insert(attempts.game, attempts);
    }

    /// Notes that the tasks of a cell are never leased with others.
    pub(super) fn always_alone(&mut self, cell: CellId) {
        self.always_alone.insert(cell);
    }

    /// Records a lost lease that had reported the game as started.
    pub(super) fn lost(&mut self, game: GameId, alone: bool) {
        self.note(game, |attempts| {
            attempts.lost += 1;
            attempts.lost_alone += u32::from(alone);
        });
    }

    /// Records games that were in a lost lease, reported as started or not.
    pub(super) fn lost_with_lease(&mut self, range: GameRange) {
        self.lost.entry(range.cell).or_default().insert(range.first..range.end());
    }

    /// Whether a game of the range was in a lost lease, as far as remembered.
    pub(super) fn any_lost(&self, range: GameRange) -> bool {
        let number = |number| GameId { cell: range.cell, number };
        self.lost.get(&range.cell).is_some_and(|lost| lost.overlap(&(range.first..range.end())) > 0)
            || self
                .attempts
                .range(number(range.first)..number(range.end()))
                .any(|(_, attempts)| attempts.lost > 0)
    }

    /// Notes a failure that a worker reported.
    pub(super) fn failed(&mut self, game: GameId) {
        self.note(game, |attempts| attempts.failed += 1);
    }

    /// How a game is to be leased next.
    pub(super) fn next(&self, game: GameId, policy: &Policy) -> Next {
        match self.attempts.get(&game).map_or(Next::Shared, |attempts| decide(attempts, policy)) {
            Next::Shared if self.always_alone.contains(&game.cell) => Next::Alone,
            next @ (Next::Shared | Next::Alone | Next::Suspect | Next::GiveUp) => next,
        }
    }

    /// The games of a range that are not to be leased in any batch.
    pub(super) fn set_apart(&self, range: GameRange, policy: &Policy) -> Vec<GameId> {
        let number = |number| GameId { cell: range.cell, number };
        if self.always_alone.contains(&range.cell) {
            return (range.first..range.end()).map(number).collect();
        }
        self.attempts
            .range(number(range.first)..number(range.end()))
            .filter(|(_, attempts)| decide(attempts, policy) != Next::Shared)
            .map(|(&game, _)| game)
            .collect()
    }

    /// Number of times a game was lost alone.
    pub(super) fn lost_alone(&self, game: GameId) -> u32 {
        self.attempts.get(&game).map_or(0, |attempts| attempts.lost_alone)
    }

    /// Forgets a game that was settled.
    pub(super) fn settled(&mut self, game: GameId) {
        self.attempts.remove(&game);
        if let Some(lost) = self.lost.get_mut(&game.cell) {
            lost.remove(game.number..game.number + 1);
            if lost.count() == 0 {
                self.lost.remove(&game.cell);
            }
        }
    }

    /// Forgets a deleted cell, including changes that are not durable yet.
    pub(super) fn remove(&mut self, cell: CellId) {
        self.forget(cell);
        self.changed.retain(|game, _| game.cell != cell);
    }

    /// Forgets a cell whose experiment is over.
    pub(super) fn forget(&mut self, cell: CellId) {
        self.lost.remove(&cell);
        self.always_alone.remove(&cell);
        let number = |number| GameId { cell, number };
        let its = self.attempts.range(number(0)..=number(u64::MAX));
        let games: Vec<_> = its.map(|(&game, _)| game).collect();
        for game in games {
            self.attempts.remove(&game);
        }
    }

    /// Attempts changed since the last call.
    pub(super) fn take_changed(&mut self) -> Vec<Attempts> {
        std::mem::take(&mut self.changed).into_values().collect()
    }

    /// The games with attempts.
    pub(super) fn games(&self) -> impl Iterator<Item = GameId> + '_ {
        self.attempts.keys().copied()
    }

    /// The games that were in a lost lease.
    pub(super) fn lost_games(&self) -> impl Iterator<Item = GameId> + '_ {
        let numbers = |lost: &Numbers| lost.iter().flatten().collect::<Vec<_>>();
        let games = move |(&cell, lost)| (cell, numbers(lost));
        self.lost.iter().map(games).flat_map(|(cell, numbers)| {
            numbers.into_iter().map(move |number| GameId { cell, number })
        })
    }

    fn note(&mut self, game: GameId, change: impl FnOnce(&mut Attempts)) {
        let none = Attempts { game, lost: 0, lost_alone: 0, failed: 0 };
        let attempts = self.attempts.entry(game).or_insert(none);
        change(attempts);
        self.changed.insert(game, *attempts);
    }
}

/// Applies the rules above.
const fn decide(attempts: &Attempts, policy: &Policy) -> Next {
    if attempts.failed >= policy.failures_max || attempts.lost_alone >= policy.losses_alone_max {
        Next::GiveUp
    } else if attempts.lost_alone >= LOSSES_UNTIL_SUSPECT {
        Next::Suspect
    } else if attempts.lost >= policy.losses_until_alone || attempts.failed > 0 {
        Next::Alone
    } else {
        Next::Shared
    }
}
