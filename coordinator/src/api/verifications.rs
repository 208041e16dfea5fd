//! Verification of games by other workers: the choice of games, and the outcomes.

use std::collections::BTreeSet;

use spelrum_answers::{
    ExperimentSummary, FoundGame, GameResult, GetVerifications, OrderVerifications,
    OrderedVerifications, SettledGame, VerificationsStanding, WhichGame,
};
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::ExperimentState;
use spelrum_model::{CellId, OpeningsCache, PlayableCell, draw, stops};
use spelrum_proto::limits::NAME_BYTES_MAX;
use spelrum_proto::work::check_length;
use spelrum_proto::{Reason, Refusal};

use super::{Answers, Api, Reply, place};
use crate::dispatcher::{Dispatch, cancelled, other_engine_revision};
use crate::services::reading_failed;
use spelrum_store::{Readers, ToVerify};

/// Games that are drawn at once (invariant 9).
const GAMES_MAX: u32 = 10_000;

/// Why a drawn game is not ordered.
enum NotOrdered {
    WithoutResult,
    WithEngines,
    NotRecorded,
    OtherEngine,
}

impl Answers<OrderVerifications> for Api {
    async fn answer(
        &self,
        order: OrderVerifications,
    ) -> Result<Reply<OrderedVerifications>, Refusal> {
        check_length("experiment", &order.experiment, NAME_BYTES_MAX)?;
        // Drawing reads many games.
        let _place = place(&self.queries, "too many queries are running")?;
        let experiment = self.summary(&order.experiment).await?;
        Ok(Reply::Small(draw_and_order(&self.dispatch, &self.readers, experiment, order).await?))
    }
}

/// Draws games, and orders those that can be verified and are not yet.
async fn draw_and_order(
    dispatch: &Dispatch,
    readers: &Readers,
    experiment: ExperimentSummary,
    order: OrderVerifications,
) -> Result<OrderedVerifications, Refusal> {
    let OrderVerifications { experiment: name, games, seed } = order;
    if games == 0 || games > GAMES_MAX {
        let problem = format!("the message's field games is {games}");
        let remedy = format!("draw 1 to {GAMES_MAX} games at once");
        return Err(Refusal::new(Reason::Malformed, problem, remedy));
    }
    if experiment.state == ExperimentState::Cancelled {
        return Err(cancelled(&name));
    }
    let revision = readers.engine_revision_of(experiment.experiment).await;
    let revision = revision.map_err(reading_failed)?;
    if revision != ENGINE_REVISION {
        return Err(other_engine_revision(&name, revision));
    }
    let cells = readers.cells_to_draw_from(experiment.experiment).await.map_err(reading_failed)?;
    let mut answer = OrderedVerifications::default();
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

impl Answers<GetVerifications> for Api {
    async fn answer(
        &self,
        question: GetVerifications,
    ) -> Result<Reply<VerificationsStanding>, Refusal> {
        let experiment = self.summary(&question.experiment).await?;
        let mut verifications =
            self.readers.verifications(experiment.experiment).await.map_err(reading_failed)?;
        let workforce = self.dispatch.workers().await?;
        let mut able = workforce.verifying;
        for (worker, _) in &workforce.withheld {
            able.remove(worker);
        }
        for worker in workforce.workers.iter().filter(|worker| worker.silent_ms > SILENT_MS) {
            able.remove(&worker.worker);
        }
        for waiting in &mut verifications.waiting {
            let player = waiting.played_by.as_ref().map(|worker| worker.worker);
            waiting.has_worker = able.iter().any(|worker| Some(*worker) != player);
        }
        Ok(Reply::Small(VerificationsStanding { experiment, verifications }))
    }
}

/// A worker that was silent for this long is not counted on.
const SILENT_MS: u64 = 60_000;

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
        stops: match &game.moves {
            Some(moves) => stops(moves, played.end.termination),
            None => Vec::new(),
        },
        definition_json: game.definition_json,
        played_by: game.summary.worker,
    })
}
