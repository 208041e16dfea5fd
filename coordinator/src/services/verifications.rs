//! Verification of games by other workers: the choice of games, and the outcomes.

use std::collections::BTreeSet;

use spelrum_answers::{ExperimentSummary, FoundGame, GameResult, SettledGame, WhichGame};
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::ExperimentState;
use spelrum_model::{
    CellId, Difference, DifferentField, OpeningsCache, PlayableCell, WorkerId, draw, stops,
};
use spelrum_proto::limits::NAME_BYTES_MAX;
use spelrum_proto::work::check_length;
use spelrum_proto::{Reason, Refusal, v1};

use super::reading_failed;
use crate::dispatcher::{Dispatch, cancelled, other_engine_revision, unknown_experiment};
use spelrum_store::{
    DifferentGame, NamedWorker, Readers, ToVerify, Verifications, VerifiedPair,
    WaitingVerifications,
};

/// Games that are drawn at once (invariant 9).
const GAMES_MAX: u32 = 10_000;

/// Why a drawn game is not ordered.
enum NotOrdered {
    WithoutResult,
    WithEngines,
    NotRecorded,
    OtherEngine,
}

/// Draws games, and orders those that can be verified and are not yet.
pub(super) async fn order(
    dispatch: &Dispatch,
    readers: &Readers,
    request: v1::OrderVerificationsRequest,
) -> Result<v1::OrderVerificationsResponse, Refusal> {
    let v1::OrderVerificationsRequest { experiment: name, games, seed } = request;
    check_length("experiment", &name, NAME_BYTES_MAX)?;
    if games == 0 || games > GAMES_MAX {
        let problem = format!("the message's field games is {games}");
        let remedy = format!("draw 1 to {GAMES_MAX} games at once");
        return Err(Refusal::new(Reason::Malformed, problem, remedy));
    }
    let experiment = find(readers, &name).await?;
    if experiment.state == ExperimentState::Cancelled {
        return Err(cancelled(&name));
    }
    let revision = readers.engine_revision_of(experiment.experiment).await;
    let revision = revision.map_err(reading_failed)?;
    if revision != ENGINE_REVISION {
        return Err(other_engine_revision(&name, revision));
    }
    let cells = readers.cells_to_draw_from(experiment.experiment).await.map_err(reading_failed)?;
    let mut answer = v1::OrderVerificationsResponse {
        experiment_uuid: experiment.uuid.clone(),
        ..Default::default()
    };
    let mut to_order = Vec::new();
    let mut cell: Option<(CellId, Option<[bool; 2]>)> = None;
    let openings = OpeningsCache::default();
    for game in draw(&cells, games.into(), seed) {
        let settled = readers.game(WhichGame::InCell(game)).await.map_err(reading_failed)?;
        let FoundGame::Settled(settled) = settled else {
            answer.without_result += 1;
            continue;
        };
        // Games come cell by cell.
        let facts = match cell {
            Some((id, facts)) if id == game.cell => facts,
            Some(_) | None => {
                let facts = recorded_facts(&settled, &openings);
                cell = Some((game.cell, facts));
                facts
            }
        };
        match to_verify(*settled, facts) {
            Ok(game) => to_order.push(game),
            Err(NotOrdered::WithoutResult) => answer.without_result += 1,
            Err(NotOrdered::WithEngines) => answer.with_engines += 1,
            Err(NotOrdered::NotRecorded) => answer.not_recorded += 1,
            Err(NotOrdered::OtherEngine) => answer.other_engine += 1,
        }
    }
    if to_order.is_empty() && answer.without_result == u64::from(games).min(planned(&cells)) {
        let problem = format!("none of the drawn games of {name:?} has a result");
        let remedy = "wait until more are played, or draw more: --games";
        return Err(Refusal::new(Reason::WrongState, problem, remedy));
    }
    let ids: Vec<i64> = to_order.iter().map(|game| game.game_id).collect();
    let already_known = readers.known_verifications(&ids).await.map_err(reading_failed)?;
    let already_known: BTreeSet<i64> = already_known.into_iter().collect();
    to_order.retain(|game| !already_known.contains(&game.game_id));
    answer.known = already_known.len() as u64;
    if !to_order.is_empty() {
        let count = to_order.len() as u64;
        answer.ordered = dispatch.verify(experiment.uuid, to_order).await?;
        // Another client has ordered these at the same moment, or their results are gone.
        answer.known += count.saturating_sub(answer.ordered);
    }
    Ok(answer)
}

/// The outcomes of an experiment's verifications, and the workers that can do those still waiting.
pub(super) async fn standing(
    dispatch: &Dispatch,
    readers: &Readers,
    request: v1::GetVerificationsRequest,
) -> Result<v1::GetVerificationsResponse, Refusal> {
    let v1::GetVerificationsRequest { experiment: name } = request;
    check_length("experiment", &name, NAME_BYTES_MAX)?;
    let experiment = find(readers, &name).await?;
    let verifications =
        readers.verifications(experiment.experiment).await.map_err(reading_failed)?;
    let workforce = dispatch.workers().await?;
    let mut able = workforce.verifying;
    for (worker, _) in &workforce.withheld {
        able.remove(worker);
    }
    let silent = workforce.workers.iter().filter(|worker| worker.silent_ms > SILENT_MS);
    for worker in silent {
        able.remove(&worker.worker);
    }
    Ok(to_wire(experiment, verifications, &able))
}

/// A worker that was silent for this long is not counted on.
const SILENT_MS: u64 = 60_000;

async fn find(readers: &Readers, name: &str) -> Result<ExperimentSummary, Refusal> {
    let experiment = readers.experiment(name).await.map_err(reading_failed)?;
    experiment.ok_or_else(|| unknown_experiment(name))
}

fn planned(cells: &[(CellId, u64)]) -> u64 {
    cells.iter().fold(0, |sum, (_, games)| sum.saturating_add(*games))
}

/// Whether a cell has external engines, and whether a clock limits its players; `None` if this engine does not play the
/// cell.
fn recorded_facts(game: &SettledGame, openings: &OpeningsCache) -> Option<[bool; 2]> {
    let cell = PlayableCell::from_json(&game.definition_json, openings).ok()?;
    Some([cell.has_engines(), cell.has_time_limit()])
}

fn to_verify(game: SettledGame, facts: Option<[bool; 2]>) -> Result<ToVerify, NotOrdered> {
    let GameResult::Played(played) = &game.summary.result else {
        return Err(NotOrdered::WithoutResult);
    };
    if played.engine_revision != ENGINE_REVISION {
        return Err(NotOrdered::OtherEngine);
    }
    let Some([has_engines, has_time_limit]) = facts else { return Err(NotOrdered::OtherEngine) };
    if has_engines {
        return Err(NotOrdered::WithEngines);
    }
    if has_time_limit && game.moves.is_none() {
        return Err(NotOrdered::NotRecorded);
    }
    Ok(ToVerify {
        game_id: game.summary.game_id,
        game: game.summary.game,
        stops: game.moves.as_deref().map(stops).unwrap_or_default(),
        definition_json: game.definition_json,
        played_by: game.summary.worker,
    })
}

fn to_wire(
    experiment: ExperimentSummary,
    verifications: Verifications,
    able: &BTreeSet<WorkerId>,
) -> v1::GetVerificationsResponse {
    let Verifications {
        pairs,
        waiting,
        different,
        different_total,
        not_played,
        not_played_because,
    } = verifications;
    let pair = |pair: VerifiedPair| v1::VerifiedPair {
        played_by: pair.played_by.map(worker_to_wire),
        verified_by: Some(worker_to_wire(pair.verified_by)),
        same: pair.same,
        different: pair.different,
    };
    let wait = |waiting: WaitingVerifications| {
        let player = waiting.played_by.as_ref().map(|worker| worker.worker);
        v1::WaitingVerifications {
            has_worker: able.iter().any(|worker| Some(*worker) != player),
            played_by: waiting.played_by.map(worker_to_wire),
            games: waiting.games,
            leased: waiting.leased,
        }
    };
    v1::GetVerificationsResponse {
        experiment: experiment.name,
        experiment_uuid: experiment.uuid,
        state: experiment.state.name().to_owned(),
        pairs: pairs.into_iter().map(pair).collect(),
        waiting: waiting.into_iter().map(wait).collect(),
        different: different.into_iter().map(different_game).collect(),
        different_total,
        not_played,
        not_played_because: not_played_because.unwrap_or_default(),
    }
}

fn different_game(different: DifferentGame) -> v1::DifferentGame {
    let DifferentGame { game_id, game, played_by, verified_by, difference } = different;
    let Difference { ply, fields } = difference;
    let field = |DifferentField { name, recorded, played }: DifferentField| v1::DifferentField {
        name: name.into_owned(),
        recorded_json: recorded.to_string(),
        played_json: played.to_string(),
    };
    v1::DifferentGame {
        game_id,
        cell_id: game.cell.0,
        number: game.number,
        played_by: played_by.map(worker_to_wire),
        verified_by: Some(worker_to_wire(verified_by)),
        ply,
        fields: fields.into_iter().map(field).collect(),
    }
}

fn worker_to_wire(worker: NamedWorker) -> v1::NamedWorker {
    v1::NamedWorker { worker_id: worker.worker.0, name: worker.name, host: worker.host }
}
