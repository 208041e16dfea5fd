//! Games that engines forfeit: whether the program or the machine is at fault, and how fast a worker may lose
//! them.
//!
//! A forfeit (a crash, no answer, an illegal move, too much time) is a result like any other: the program has
//! lost. But a program whose machine lacks something, such as its net, fails there and plays well elsewhere;
//! and a worker that fails at once is free at once, and takes most of the games.
//!
//! 1. For each cell, the games that each worker has played with an engine are counted, and how many of these
//!    the engine forfeited ([`evidence`]).
//! 2. A worker at which an engine has forfeited at least 4 games, and at least 4 times as many as expected
//!    from the others' rates in the same cells, is *barred* from the engine if the evidence for a different
//!    rate is 1,000 to 1 ([`EVIDENCE`]). Its leases of such games end, it gets no more of them, and all its
//!    games with the engine are discarded and replayed elsewhere: discarding forfeits alone would select
//!    results. An operator readmits the worker.
//! 3. Where all workers forfeit, the program is at fault, and loses. A lone worker is compared with no other.
//! 4. A worker gets no more games with an engine at once than it has slots until one has come to its end
//!    there. After a forfeit in the first moves it gets none for a second, and then a pair; after each
//!    further one in a row twice as long, up to ten minutes. This applies while another worker is there with
//!    the engine and without such a row.
//!
//! Bars are durable. The counts and rows are not: a restarted coordinator counts from 0.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_model::demands::{Demands, Offer};
use spelrum_model::withheld::Barred;
use spelrum_model::{CellId, WorkerId};
use spelrum_statistics::{Stratum, evidence_of_two_rates};

use super::api::Time;

/// Upper bound on an honest worker's chance of ever being barred from an engine: one in this many.
pub const EVIDENCE: f64 = 1_000.0;

/// Minimum number of forfeits for barring a worker.
const FORFEITS_MIN: u64 = 4;

/// Minimum ratio of forfeits to the number expected from the others' rates.
const TIMES_EXPECTED: f64 = 4.0;

/// Games with fewer plies than these were forfeited in the first moves.
const EARLY_PLIES: u64 = 8;

/// How long a worker waits after the first such game.
const PAUSE_MS: u64 = 1_000;

/// Maximum of this wait.
const PAUSE_MS_MAX: u64 = 600_000;

/// Maximum number of cells whose games are counted: the latest (invariant 9).
const CELLS_MAX: usize = 10_000;

/// Maximum number of remembered pairs of worker and engine (invariant 9).
const RECORDS_MAX: usize = 10_000;

/// A worker and an engine, by its name in sweeps.
type Use = (WorkerId, String);

/// Records of engines at workers.
#[derive(Clone, Debug, Default)]
pub(super) struct Forfeits {
    pub(super) barred: BTreeMap<Use, Barred>,
    /// For each cell, by engine and worker: games, and those that the engine forfeited.
    cells: BTreeMap<CellId, BTreeMap<(String, WorkerId), Count>>,
    /// The same over all these cells.
    totals: BTreeMap<(String, WorkerId), Count>,
    pub(super) records: BTreeMap<Use, Record>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    forfeits: u64,
    games: u64,
}

/// An engine's record at a worker.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record {
    /// Whether a game with it has come to its end there.
    pub(super) has_played: bool,
    /// Games forfeited in the first moves since.
    pub(super) failed_in_a_row: u32,
    /// End of the pause, until when the worker gets no games with it.
    pub(super) paused_until: Time,
}

/// The outcome of a game with engines.
pub(super) struct EngineGame<'g> {
    pub(super) worker: WorkerId,
    pub(super) cell: CellId,
    /// The engine that forfeited it, if any, and after how many plies.
    pub(super) forfeit: Option<(&'g str, u64)>,
}

impl Forfeits {
    /// Restores the durable state.
    pub(super) fn new(barred: Vec<(WorkerId, Barred)>) -> Self {
        let barred =
            barred.into_iter().map(|(worker, barred)| ((worker, barred.engine.clone()), barred));
        Self { barred: barred.collect(), ..Self::default() }
    }

    /// Forgets a removed cell.
    pub(super) fn forget(&mut self, cell: CellId) {
        for (key, count) in self.cells.remove(&cell).into_iter().flatten() {
            if let Some(total) = self.totals.get_mut(&key) {
                total.games -= count.games;
                total.forfeits -= count.forfeits;
                if total.games == 0 {
                    self.totals.remove(&key);
                }
            }
        }
    }

    /// Lets a worker play with an engine again, or with all, and counts its games anew. Returns whether it
    /// was barred.
    pub(super) fn readmit(&mut self, worker: WorkerId, engine: Option<&str>) {
        let is_selected = |name: &str| engine.is_none_or(|engine| engine == name);
        self.barred.retain(|(owner, name), _| *owner != worker || !is_selected(name));
        self.records.retain(|(owner, name), _| *owner != worker || !is_selected(name));
        self.forget_counts(worker, is_selected);
    }

    pub(super) fn forget_counts(&mut self, worker: WorkerId, is_selected: impl Fn(&str) -> bool) {
        for counts in self.cells.values_mut().chain([&mut self.totals]) {
            counts.retain(|(engine, owner), _| *owner != worker || !is_selected(engine));
        }
    }

    pub(super) fn is_barred(&self, worker: WorkerId, engine: &str) -> bool {
        // Bars are few: no string is allocated for the lookup.
        self.barred.keys().any(|(owner, name)| *owner == worker && name == engine)
    }

    /// Whether a worker is barred from an engine that these demands name.
    pub(super) fn bars(&self, worker: WorkerId, demands: Option<&Demands>) -> bool {
        let engines = demands.into_iter().flat_map(|demands| &demands.engines);
        !self.barred.is_empty()
            && engines.into_iter().any(|needed| self.is_barred(worker, &needed.engine))
    }

    /// All bars, by worker.
    pub(super) fn barred(&self) -> impl Iterator<Item = (WorkerId, &Barred)> {
        self.barred.iter().map(|((worker, _), barred)| (*worker, barred))
    }

    /// Records that a worker offers these engines.
    pub(super) fn has(&mut self, worker: WorkerId, offer: &Offer) {
        for offered in &*offer.engines {
            let key = (worker, offered.engine.clone());
            if !self.records.contains_key(&key) {
                if self.records.len() >= RECORDS_MAX {
                    // Ids grow, so this is the earliest worker.
                    self.records.pop_first();
                }
                self.records.insert(key, Record::default());
            }
        }
    }

    /// Records a game of these engines.
    pub(super) fn note(&mut self, game: &EngineGame<'_>, engines: &BTreeSet<&str>, now: Time) {
        if !self.cells.contains_key(&game.cell) && self.cells.len() >= CELLS_MAX {
            // Ids grow: the oldest.
            if let Some(&oldest) = self.cells.keys().next() {
                self.forget(oldest);
            }
        }
        let counts = self.cells.entry(game.cell).or_default();
        for &engine in engines {
            let forfeited = game.forfeit.filter(|(name, _)| *name == engine);
            let key = (engine.to_owned(), game.worker);
            let total = self.totals.entry(key.clone()).or_default();
            for count in [counts.entry(key).or_default(), total] {
                count.games += 1;
                count.forfeits += u64::from(forfeited.is_some());
            }
            let record = self.records.entry((game.worker, engine.to_owned())).or_default();
            match forfeited {
                Some((_, plies)) if plies < EARLY_PLIES => {
                    let pause_ms = PAUSE_MS << record.failed_in_a_row.min(10);
                    record.failed_in_a_row = record.failed_in_a_row.saturating_add(1);
                    let until = now.0.saturating_add(pause_ms.min(PAUSE_MS_MAX));
                    record.paused_until = Time(until);
                }
                Some(_) | None => {
                    *record = Record { has_played: true, ..Record::default() };
                }
            }
        }
    }

    /// Counts of an engine at a worker, and at all others.
    fn worker_and_others(&self, worker: WorkerId, engine: &str) -> [Count; 2] {
        let (mut worker_count, mut other_count) = (Count::default(), Count::default());
        for (&(_, player), count) in counts_of_engine(&self.totals, engine) {
            let sum = if player == worker { &mut worker_count } else { &mut other_count };
            sum.games += count.games;
            sum.forfeits += count.forfeits;
        }
        [worker_count, other_count]
    }

    /// The evidence that the worker is at fault for an engine's forfeits, if sufficient.
    pub(super) fn evidence(&self, worker: WorkerId, engine: &str) -> Option<Barred> {
        let (mut strata, mut expected, mut compared) = (Vec::new(), 0.0, 0);
        for counts in self.cells.values() {
            let (mut worker_count, mut other_count) = (Count::default(), Count::default());
            for (&(_, player), count) in counts_of_engine(counts, engine) {
                let sum = if player == worker { &mut worker_count } else { &mut other_count };
                sum.games += count.games;
                sum.forfeits += count.forfeits;
            }
            if worker_count.games == 0 {
                continue;
            }
            if other_count.games > 0 {
                expected += worker_count.games as f64 * other_count.forfeits as f64
                    / other_count.games as f64;
                compared += worker_count.forfeits;
            }
            let [first, second] =
                [worker_count, other_count].map(|count| [count.forfeits, count.games]);
            strata.push(Stratum { first, second });
        }
        let is_much = compared >= FORFEITS_MIN && compared as f64 >= TIMES_EXPECTED * expected;
        if !is_much || evidence_of_two_rates(&strata) < libm::log(EVIDENCE) {
            return None;
        }
        let [worker_count, other_count] = self.worker_and_others(worker, engine);
        Some(Barred {
            engine: engine.to_owned(),
            forfeits: worker_count.forfeits,
            games: worker_count.games,
            of_others: [other_count.forfeits, other_count.games],
        })
    }

    /// The workers at which an engine's forfeits deserve the full test.
    pub(super) fn suspected(&self, engine: &str) -> Vec<WorkerId> {
        let mut all = Count::default();
        for (_, count) in counts_of_engine(&self.totals, engine) {
            all.games += count.games;
            all.forfeits += count.forfeits;
        }
        let is_suspected = |(_, count): &(&(String, WorkerId), &Count)| {
            let other_counts = [all.forfeits - count.forfeits, all.games - count.games];
            // 1.5 times the others' rate: a coarse filter before the evidence.
            count.forfeits >= FORFEITS_MIN
                && other_counts[1] > 0
                && 2 * count.forfeits * other_counts[1] >= 3 * other_counts[0] * count.games
        };
        let suspects = counts_of_engine(&self.totals, engine).filter(is_suspected);
        suspects.map(|((_, worker), _)| *worker).collect()
    }
}

/// The counts of an engine.
fn counts_of_engine<'c>(
    counts: &'c BTreeMap<(String, WorkerId), Count>,
    engine: &str,
) -> impl Iterator<Item = (&'c (String, WorkerId), &'c Count)> {
    let from = (engine.to_owned(), WorkerId(i64::MIN));
    let to = (engine.to_owned(), WorkerId(i64::MAX));
    counts.range(from..=to)
}
