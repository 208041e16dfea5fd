//! A worker's side: what it holds, plays, and has not had acknowledged.

use std::collections::{BTreeMap, VecDeque};

use spelrum_tournament::{GameId, LeaseId, WorkerId};

use crate::desk::Result;

/// A process that plays. Killed, it starts again and remembers nothing.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) id: WorkerId,
    pub(crate) slots: u32,
    /// Which start of it this is: what was meant for an earlier one is not for this one.
    pub(crate) start: u32,
    /// Until when it is down or hangs.
    pub(crate) away_until: u64,
    /// What it holds: of each lease the games that it has not started.
    pub(crate) leases: BTreeMap<LeaseId, VecDeque<GameId>>,
    pub(crate) playing: Vec<Playing>,
    /// Results that were not acknowledged.
    pub(crate) results: VecDeque<Result>,
    /// The call for games under way.
    pub(crate) asking: Option<u64>,
    /// The report under way.
    pub(crate) reporting: Option<u64>,
    /// When it may ask again.
    pub(crate) ask_at: u64,
}

/// A game on a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Playing {
    pub(crate) lease: LeaseId,
    pub(crate) game: GameId,
    /// Different for each time that a game is played.
    pub(crate) playing: u64,
    pub(crate) started: u64,
}

/// What a worker asks of the coordinator.
#[derive(Clone, Debug)]
pub(crate) enum Call {
    Lease { slots: u32 },
    Heartbeat { leases: Vec<LeaseId>, playing: Vec<GameId> },
    GiveBack { lease: LeaseId },
    Report { results: Vec<Result> },
}

/// Most results in a report.
const RESULTS_MAX: usize = 3;

impl Worker {
    /// Just started.
    pub(crate) fn new(id: WorkerId, slots: u32) -> Self {
        Self {
            id,
            slots,
            start: 0,
            away_until: 0,
            leases: BTreeMap::new(),
            playing: Vec::new(),
            results: VecDeque::new(),
            asking: None,
            reporting: None,
            ask_at: 0,
        }
    }

    /// Killed: starts again at some time, as somebody else or under the same name.
    pub(crate) fn kill(&mut self, id: WorkerId, back: u64) {
        let start = self.start + 1;
        *self = Self { start, away_until: back, ask_at: back, ..Self::new(id, self.slots) };
    }

    /// The next game to play, if a slot is free.
    pub(crate) fn next_game(&mut self) -> Option<(LeaseId, GameId)> {
        if self.playing.len() >= self.slots as usize {
            return None;
        }
        let (lease, games) = self.leases.iter_mut().find(|(_, games)| !games.is_empty())?;
        games.pop_front().map(|game| (*lease, game))
    }

    /// Whether it wants more games, lest a slot become idle.
    pub(crate) fn wants_games(&self, now: u64) -> bool {
        let waiting: usize = self.leases.values().map(VecDeque::len).sum();
        self.asking.is_none() && self.ask_at <= now && waiting < self.slots as usize
    }

    /// The leases it needs: those with games that wait, are played, or are not acknowledged.
    pub(crate) fn heartbeat(&mut self) -> Call {
        let Self { leases, playing, results, .. } = self;
        leases.retain(|id, games| {
            !games.is_empty()
                || playing.iter().any(|p| p.lease == *id)
                || results.iter().any(|r| r.lease == *id)
        });
        Call::Heartbeat {
            leases: leases.keys().copied().collect(),
            playing: playing.iter().map(|p| p.game).collect(),
        }
    }

    /// The next results to report.
    pub(crate) fn report(&self) -> Option<Call> {
        let results: Vec<_> = self.results.iter().take(RESULTS_MAX).cloned().collect();
        (self.reporting.is_none() && !results.is_empty()).then_some(Call::Report { results })
    }

    /// The coordinator wants no more of a lease.
    pub(crate) fn drop_lease(&mut self, lease: LeaseId) {
        self.leases.remove(&lease);
        self.playing.retain(|playing| playing.lease != lease);
    }

    /// Hands everything back.
    pub(crate) fn leave(&mut self) -> Vec<Call> {
        self.playing.clear();
        std::mem::take(&mut self.leases).into_keys().map(|lease| Call::GiveBack { lease }).collect()
    }
}
