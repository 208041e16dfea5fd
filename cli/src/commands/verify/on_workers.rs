//! Verification of an experiment's games by other workers than those that played them.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use spelrum_engine::ENGINE_REVISION;
use spelrum_proto::{Refusal, v1};
use spelrum_report::text::{Column, TextTable, count};

use crate::error::Result;
use crate::error::conversions::failed_call;
use crate::exit::Exit;
use crate::remote::connection::Client;
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
    ordered: v1::OrderVerificationsResponse,
    standing: v1::GetVerificationsResponse,
}

/// Orders verifications, and waits until all of the experiment have a verdict. If interrupted, returns the exit code.
pub(super) async fn verify(
    client: &mut Client,
    order: Order,
) -> Result<std::result::Result<Verified, Exit>> {
    let Order { experiment, name, games, seed } = order;
    let action = format!("verify {name}");
    let failed = |status| failed_call(&action, &status);
    let interrupts = Interrupts::listen(|| {})?;
    let request = v1::OrderVerificationsRequest { experiment: experiment.clone(), games, seed };
    let ordered = client.order_verifications(request).await.map_err(failed)?.into_inner();
    let (mut waiting, mut is_noted) = (Waiting::start(), false);
    let request = v1::GetVerificationsRequest { experiment };
    let standing = loop {
        let answer = tokio::select! {
            answer = client.get_verifications(request.clone()) => answer,
            () = interrupts.finish.cancelled() => return Ok(Err(leave(&interrupts, waiting))),
        };
        let mut pause = LOOK_INTERVAL;
        match answer {
            Ok(answer) => {
                let standing = answer.into_inner();
                if standing.waiting.is_empty() || standing.state == "cancelled" {
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
fn progress_text(standing: &v1::GetVerificationsResponse) -> String {
    let sum =
        |field: fn(&v1::WaitingVerifications) -> u64| standing.waiting.iter().map(field).sum();
    let (games, leased): (u64, u64) = (sum(|row| row.games), sum(|row| row.leased));
    let done: u64 = standing.pairs.iter().map(|pair| pair.same + pair.different).sum();
    let mut text = format!(
        "{} verified, {} different, {} to go ({} with workers)",
        count(done),
        count(standing.different_total),
        count(games),
        count(leased)
    );
    if standing.state == "paused" {
        text += ": the experiment is paused; resume it with spelrum resume";
    } else if let Some(note) = missing_verifier(standing) {
        text += &format!(": {note}");
    }
    text
}

/// Workers whose games have no other worker to verify them.
fn missing_verifier(standing: &v1::GetVerificationsResponse) -> Option<String> {
    let missing_verifier = standing.waiting.iter().find(|row| !row.has_worker)?;
    let worker = worker_text(missing_verifier.played_by.as_ref());
    Some(format!("games of {worker} wait for another worker, and none is connected"))
}

fn worker_text(worker: Option<&v1::NamedWorker>) -> String {
    worker.map_or_else(
        || "an unknown worker".to_owned(),
        |worker| format!("worker {} ({} on {})", worker.worker_id, worker.name, worker.host),
    )
}

impl Verified {
    pub(super) fn exit(&self) -> Exit {
        if self.standing.different_total > 0 { Exit::Different } else { Exit::Success }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { ordered, standing, .. } = self;
        for game in &standing.different {
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
        for pair in &standing.pairs {
            table.row([
                worker_text(pair.played_by.as_ref()),
                worker_text(pair.verified_by.as_ref()),
                count(pair.same + pair.different),
                count(pair.same),
                count(pair.different),
            ]);
            same += pair.same;
            different += pair.different;
        }
        table.write(out)?;
        writeln!(out)?;
        let (name, same, different) = (&standing.experiment, count(same), count(different));
        writeln!(
            out,
            "{name}, played again by other workers: {same} the same, {different} different"
        )?;
        if standing.not_played > 0 {
            let (games, why) = (count(standing.not_played), &standing.not_played_because);
            writeln!(out, "{games} could not be played again: {why}")?;
        }
        let waiting: u64 = standing.waiting.iter().map(|row| row.games).sum();
        if waiting > 0 {
            writeln!(
                out,
                "{} are not played again: the experiment is {}",
                count(waiting),
                standing.state
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
            experiment: &standing.experiment,
            experiment_uuid: &standing.experiment_uuid,
            engine_revision: ENGINE_REVISION,
            seed: *seed,
            ordered: ordered.ordered,
            known: ordered.known,
            without_result: ordered.without_result,
            with_engines: ordered.with_engines,
            not_recorded: ordered.not_recorded,
            other_engine: ordered.other_engine,
            waiting: standing.waiting.iter().map(|row| row.games).sum(),
            not_played: standing.not_played,
            different: standing.different_total,
            pairs: standing.pairs.iter().map(JsonPair::from_pair).collect(),
            different_games: standing.different.iter().map(JsonGame::from_game).collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &json)?;
        writeln!(out)
    }
}

fn write_different(out: &mut dyn Write, game: &v1::DifferentGame) -> io::Result<()> {
    let v1::DifferentGame { game_id, cell_id, number, played_by, verified_by, ply, fields } = game;
    let label = match game_id {
        Some(id) => format!("Game {id}"),
        None => format!("Game {number} of cell {cell_id}, whose result was taken out"),
    };
    let at = ply.map_or_else(String::new, |ply| format!(" at ply {ply}"));
    let (played_by, verified_by) =
        (worker_text(played_by.as_ref()), worker_text(verified_by.as_ref()));
    writeln!(out, "{label}: different{at}; {played_by} played it, {verified_by} verified it")?;
    for v1::DifferentField { name, recorded_json, played_json } in fields {
        writeln!(out, "  {name}: recorded {recorded_json}, played again {played_json}")?;
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
    fn from_worker(worker: Option<&'a v1::NamedWorker>) -> Option<Self> {
        let worker = worker?;
        Some(Self { worker_id: worker.worker_id, name: &worker.name, host: &worker.host })
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
    fn from_pair(pair: &'a v1::VerifiedPair) -> Self {
        Self {
            played_by: JsonWorker::from_worker(pair.played_by.as_ref()),
            verified_by: JsonWorker::from_worker(pair.verified_by.as_ref()),
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
    recorded: Value,
    played: Value,
}

impl<'a> JsonGame<'a> {
    fn from_game(game: &'a v1::DifferentGame) -> Self {
        let value = |json: &str| serde_json::from_str(json).unwrap_or_default();
        let field = |difference: &'a v1::DifferentField| JsonField {
            name: &difference.name,
            recorded: value(&difference.recorded_json),
            played: value(&difference.played_json),
        };
        Self {
            game_id: game.game_id,
            cell_id: game.cell_id,
            number: game.number,
            played_by: JsonWorker::from_worker(game.played_by.as_ref()),
            verified_by: JsonWorker::from_worker(game.verified_by.as_ref()),
            ply: game.ply,
            fields: game.fields.iter().map(field).collect(),
        }
    }
}
