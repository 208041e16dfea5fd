//! Random states of a coordinator.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use spelrum_answers::{
    Attention, AttentionKind, CoordinatorStatus, ExpectedGames, Removal, Removing, Status, StopsOf,
    WorkerSummary,
};
use spelrum_engine::Protocol;
use spelrum_model::engines::{EngineIdentity, OfferedEngine};
use spelrum_model::labels::Label;
use spelrum_model::{ExperimentId, WorkerId};

use super::stated::claim_of;
use super::{count, experiment, id, name};

prop_compose! {
    fn offered()(
        engine in "[a-z]{1,6}",
        protocol in proptest::sample::select(Protocol::ALL.to_vec()),
        at_once in 1..=u32::MAX,
        texts in ["[A-Za-z0-9. ]{0,9}", "[A-Za-z ]{0,9}"],
        sha256 in any::<[u8; 32]>(),
        build in any::<[u8; 32]>(),
    ) -> OfferedEngine {
        let [name, author] = texts.map(|text| text.trim().to_owned());
        let identity = EngineIdentity { name, author, sha256 };
        OfferedEngine { engine, protocol, at_once, identity, capabilities: None, build }
    }
}

prop_compose! {
    fn worker()(
        id in id(),
        name in name(),
        host in name(),
        small in [any::<u32>(), any::<u32>()],
        counts in [count(), count(), count(), count(), count()],
        memory_bytes in option::of(1..=u64::MAX),
        engines in vec(offered(), 0..3),
        engines_more in count(),
        label in "[a-z]{1,3}",
        credential in option::of("token:[a-z]{1,3}"),
    ) -> WorkerSummary {
        let [slots, engine_revision] = small;
        let [silent_ms, leased_games, playing_games, reported_games, lost_games] = counts;
        WorkerSummary {
            worker: WorkerId(id), name, host, slots, quiet_slots: slots / 2,
            engine_revision, silent_ms, leased_games,
            playing_games, reported_games, lost_games, memory_bytes,
            engines: engines.into(), engines_total: engines_more, built: std::sync::Arc::default(),
            labels: [Label { name: "site".to_owned(), value: label }].into(),
            credential,
            conduct: Default::default(),
        }
    }
}

prop_compose! {
    fn attention()(
        kind in "paused|conflicts|too_large|[a-z]{1,6}",
        experiment in option::of("[a-z]{1,6}"),
        count in any::<u64>(),
        problem in name(),
        remedy in name(),
    ) -> Attention {
        Attention { kind: AttentionKind::named(&kind), experiment, count, problem, remedy }
    }
}

prop_compose! {
    fn removal()(
        experiment in name(),
        is_all in any::<bool>(),
        games in count(),
        games_done in count(),
        is_shrinking in any::<bool>(),
    ) -> Removal {
        let what = if is_all { Removing::Everything } else { Removing::Moves };
        Removal { experiment, removing: what, games, games_done, is_shrinking }
    }
}

prop_compose! {
    fn stops()(experiment in id(), rule in name(), cells in count(), cells_ended in count(), cells_one_round in count()) -> StopsOf {
        StopsOf { experiment: ExperimentId(experiment), rule, cells, cells_ended, cells_one_round, games_expected: Some(ExpectedGames { games: cells, low: 0, high: cells }) }
    }
}

prop_compose! {
    pub(crate) fn status()(
        experiments in vec(experiment(), 0..3),
        attention in vec(attention(), 0..3),
        removals in vec(removal(), 0..3),
        workers in vec(worker(), 0..3),
        (stops, claims) in (vec(stops(), 0..3), vec(claim_of(), 0..3)),
        version in name(),
        epoch in id(),
        counts in [count(), count(), count()],
        has_coordinator in any::<bool>(),
    ) -> Status {
        let [experiments_total, uptime_ms, workers_total] = counts;
        let coordinator = CoordinatorStatus { version, epoch, uptime_ms, workers, workers_total };
        Status {
            experiments,
            experiments_total,
            stops,
            claims,
            attention,
            removals,
            coordinator: has_coordinator.then_some(coordinator),
        }
    }
}
