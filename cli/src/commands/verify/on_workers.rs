//! Verification of an experiment's games by other workers than those that played them.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use spelrum_answers::{
    DifferentGame, GetVerifications, NamedWorker, OrderVerifications, OrderedVerifications,
    VerificationsStanding, VerifiedPair, WaitingVerifications,
};
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::{Difference, DifferentField, ExperimentState, GameId};
use spelrum_proto::Refusal;
use spelrum_proto::api::Api;
use spelrum_report::text::{Column, TextTable, count};

use crate::error::Result;
use crate::error::conversions::failed_call;
use crate::exit::Exit;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::notices::notify;
use crate::terminal::waiting::Waiting;

/// Interval between progress queries.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// A verification order.
pub(super) struct Order {
    /// The experiment's UUID.
    pub(super) experiment: String,
    pub(super) name: String,
    pub(super) games: u32,
    pub(super) seed: u64,
}

/// The result of a verification.
pub(super) struct Verified {
    seed: u64,
    ordered: OrderedVerifications,
    standing: VerificationsStanding,
}

/// Orders verifications, and waits until all of the experiment have a verdict. If interrupted, returns the exit code.
pub(super) async fn verify(api: &Api, order: Order) -> Result<std::result::Result<Verified, Exit>> {
    let Order { experiment, name, games, seed } = order;
    let action = format!("verify {name}");
    let failed = |status| failed_call(&action, &status);
    let interrupts = Interrupts::listen(|| {})?;
    let request = OrderVerifications { experiment: experiment.clone(), games, seed };
    let ordered = api.call(&request).await.map_err(failed)?;
    let (mut waiting, mut is_noted) = (Waiting::start(), false);
    let request = GetVerifications { experiment };
    let standing = loop {
        let answer = tokio::select! {
            answer = api.call(&request) => answer,
            () = interrupts.finish.cancelled() => return Ok(Err(leave(&interrupts, waiting))),
        };
        let mut pause = LOOK_INTERVAL;
        match answer {
            Ok(standing) => {
                let is_cancelled = standing.experiment.state == ExperimentState::Cancelled;
                if standing.verifications.waiting.is_empty() || is_cancelled {
                    break standing;
                }
                if let Some(note) = missing_verifier(&standing).filter(|_| !is_noted) {
                    is_noted = true;
                    notify(&note);
                }
                waiting.tick(|_| progress_text(&standing));
            }
            // A restarted coordinator continues where it was.
            Err(status) => match Refusal::from_status(&status) {
                Some(refusal) if refusal.retry_after.is_none() => return Err(failed(status)),
                refusal => {
                    let retry_after = refusal.and_then(|refusal| refusal.retry_after);
                    pause = retry_after.unwrap_or(LOOK_INTERVAL).max(LOOK_INTERVAL);
                    let message = status.message().to_owned();
                    waiting.tick(|_| format!("waiting for the coordinator: {message}"));
                }
            },
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = interrupts.finish.cancelled() => return Ok(Err(leave(&interrupts, waiting))),
        }
    };
    waiting.end();
    Ok(Ok(Verified { seed, ordered, standing }))
}

/// Reports that the ordered verifications stay.
fn leave(interrupts: &Interrupts, waiting: Waiting) -> Exit {
    waiting.end();
    notify("the order stays, and workers continue; run the same command to wait for them again");
    interrupts.exit().unwrap_or(Exit::Interrupted)
}

/// The progress, and what the verifications wait for.
fn progress_text(standing: &VerificationsStanding) -> String {
    let sum = |field: fn(&WaitingVerifications) -> u64| {
        standing.verifications.waiting.iter().map(field).sum()
    };
    let (games, leased): (u64, u64) = (sum(|row| row.games), sum(|row| row.leased));
    let done: u64 =
        standing.verifications.pairs.iter().map(|pair| pair.same + pair.different).sum();
    let mut text = format!(
        "{} verified, {} different, {} to go ({} with workers)",
        count(done),
        count(standing.verifications.different_total),
        count(games),
        count(leased)
    );
    if standing.experiment.state == ExperimentState::Paused {
        text += ": the experiment is paused; resume it with spelrum resume";
    } else if let Some(note) = missing_verifier(standing) {
        text += &format!(": {note}");
    }
    text
}

/// Workers whose games have no other worker to verify them.
fn missing_verifier(standing: &VerificationsStanding) -> Option<String> {
    let missing_verifier = standing.verifications.waiting.iter().find(|row| !row.has_worker)?;
    let worker = worker_text(missing_verifier.played_by.as_ref());
    Some(format!("games of {worker} wait for another worker, and none is connected"))
}

fn worker_text(worker: Option<&NamedWorker>) -> String {
    worker.map_or_else(
        || "an unknown worker".to_owned(),
        |worker| format!("worker {} ({} on {})", worker.worker, worker.name, worker.host),
    )
}

impl Verified {
    pub(super) fn exit(&self) -> Exit {
        if self.standing.verifications.different_total > 0 {
            Exit::Different
        } else {
            Exit::Success
        }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { ordered, standing, .. } = self;
        for game in &standing.verifications.different {
            write_different(out, game)?;
        }
        let columns = [
            Column::words("played by"),
            Column::words("verified by"),
            Column::numbers("games"),
            Column::numbers("same"),
            Column::numbers("different"),
        ];
        let mut table = TextTable::new(&columns);
        let (mut same, mut different) = (0, 0);
        for pair in &standing.verifications.pairs {
            table.row([
                worker_text(pair.played_by.as_ref()),
                worker_text(Some(&pair.verified_by)),
                count(pair.same + pair.different),
                count(pair.same),
                count(pair.different),
            ]);
            same += pair.same;
            different += pair.different;
        }
        table.write(out)?;
        writeln!(out)?;
        let (name, same, different) = (&standing.experiment.name, count(same), count(different));
        writeln!(
            out,
            "{name}, played again by other workers: {same} the same, {different} different"
        )?;
        if standing.verifications.not_played > 0 {
            let games = count(standing.verifications.not_played);
            let why = standing.verifications.not_played_because.as_deref().unwrap_or_default();
            writeln!(out, "{games} could not be played again: {why}")?;
        }
        let waiting: u64 = standing.verifications.waiting.iter().map(|row| row.games).sum();
        if waiting > 0 {
            writeln!(
                out,
                "{} are not played again: the experiment is {}",
                count(waiting),
                standing.experiment.state.name()
            )?;
        }
        for (games, why) in [
            (ordered.without_result, "of the drawn games have no result"),
            (
                ordered.with_engines,
                "of the drawn games are not for workers, since external engines played: the rules were checked \
                 when they came in",
            ),
            (
                ordered.not_recorded,
                "of the drawn games cannot be played again: a clock bounds them, and their moves are not recorded",
            ),
            (ordered.other_engine, "of the drawn games are of another engine revision"),
        ] {
            if games > 0 {
                writeln!(out, "{} {why}", count(games))?;
            }
        }
        Ok(())
    }

    pub(super) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { seed, ordered, standing } = self;
        let json = Json {
            experiment: &standing.experiment.name,
            experiment_uuid: &standing.experiment.uuid,
            engine_revision: ENGINE_REVISION,
            seed: *seed,
            ordered: ordered.ordered,
            known: ordered.known,
            without_result: ordered.without_result,
            with_engines: ordered.with_engines,
            not_recorded: ordered.not_recorded,
            other_engine: ordered.other_engine,
            waiting: standing.verifications.waiting.iter().map(|row| row.games).sum(),
            not_played: standing.verifications.not_played,
            different: standing.verifications.different_total,
            pairs: standing.verifications.pairs.iter().map(JsonPair::from_pair).collect(),
            different_games: standing
                .verifications
                .different
                .iter()
                .map(JsonGame::from_game)
                .collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &json)?;
        writeln!(out)
    }
}

fn write_different(out: &mut dyn Write, game: &DifferentGame) -> io::Result<()> {
    let DifferentGame { game_id, game, played_by, verified_by, difference } = game;
    let (GameId { cell, number }, Difference { ply, fields }) = (game, difference);
    let label = match game_id {
        Some(id) => format!("Game {id}"),
        None => format!("Game {number} of cell {cell}, whose result was taken out"),
    };
    let at = ply.map_or_else(String::new, |ply| format!(" at ply {ply}"));
    let (played_by, verified_by) =
        (worker_text(played_by.as_ref()), worker_text(Some(verified_by)));
    writeln!(out, "{label}: different{at}; {played_by} played it, {verified_by} verified it")?;
    for DifferentField { name, recorded, played } in fields {
        writeln!(out, "  {name}: recorded {recorded}, played again {played}")?;
    }
    writeln!(out)
}

#[derive(Serialize)]
struct Json<'a> {
    experiment: &'a str,
    experiment_uuid: &'a str,
    engine_revision: u32,
    seed: u64,
    /// Drawn games: ordered now, and before.
    ordered: u64,
    known: u64,
    without_result: u64,
    with_engines: u64,
    not_recorded: u64,
    other_engine: u64,
    /// All verifications of the experiment.
    waiting: u64,
    not_played: u64,
    different: u64,
    pairs: Vec<JsonPair<'a>>,
    different_games: Vec<JsonGame<'a>>,
}

#[derive(Serialize)]
struct JsonWorker<'a> {
    worker_id: i64,
    name: &'a str,
    host: &'a str,
}

impl<'a> JsonWorker<'a> {
    fn from_worker(worker: Option<&'a NamedWorker>) -> Option<Self> {
        let worker = worker?;
        Some(Self { worker_id: worker.worker.0, name: &worker.name, host: &worker.host })
    }
}

#[derive(Serialize)]
struct JsonPair<'a> {
    played_by: Option<JsonWorker<'a>>,
    verified_by: Option<JsonWorker<'a>>,
    same: u64,
    different: u64,
}

impl<'a> JsonPair<'a> {
    fn from_pair(pair: &'a VerifiedPair) -> Self {
        Self {
            played_by: JsonWorker::from_worker(pair.played_by.as_ref()),
            verified_by: JsonWorker::from_worker(Some(&pair.verified_by)),
            same: pair.same,
            different: pair.different,
        }
    }
}

#[derive(Serialize)]
struct JsonGame<'a> {
    game_id: Option<i64>,
    cell_id: i64,
    number: u64,
    played_by: Option<JsonWorker<'a>>,
    verified_by: Option<JsonWorker<'a>>,
    ply: Option<u32>,
    fields: Vec<JsonField<'a>>,
}

#[derive(Serialize)]
struct JsonField<'a> {
    name: &'a str,
    recorded: &'a Value,
    played: &'a Value,
}

impl<'a> JsonGame<'a> {
    fn from_game(game: &'a DifferentGame) -> Self {
        let field = |difference: &'a DifferentField| JsonField {
            name: &difference.name,
            recorded: &difference.recorded,
            played: &difference.played,
        };
        Self {
            game_id: game.game_id,
            cell_id: game.game.cell.0,
            number: game.game.number,
            played_by: JsonWorker::from_worker(game.played_by.as_ref()),
            verified_by: JsonWorker::from_worker(Some(&game.verified_by)),
            ply: game.difference.ply,
            fields: game.difference.fields.iter().map(field).collect(),
        }
    }
}
