//! Carries out the machine's requests, and reports the results to it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use spelrum_model::speed::Speed;
use spelrum_proto::Refusal;
use spelrum_scheduling::worker::{Answer, Call, CallId, Failure};
use tokio::sync::mpsc;

use crate::calibrating::Calibrating;
use crate::cells::Cell;
use crate::hub::{Hub, ToDo};
use crate::link::{Failed, Link};
use crate::outcome::Finished;
use crate::{Shutdown, WorkerError};

/// Works until the machine has ended.
pub(crate) async fn drive(
    hub: &Hub,
    link: &Link,
    calibrating: &Arc<Calibrating>,
    mut to_do: mpsc::UnboundedReceiver<ToDo>,
    shutdown: &Shutdown,
) -> Result<(), WorkerError> {
    let mut calls = FuturesUnordered::new();
    let mut measurements = FuturesUnordered::new();
    let mut fatal = None;
    let mut database = None;
    let (mut finishing, mut ending, mut is_explained) = (false, false, false);
    hub.advance_time();
    loop {
        is_explained |= finishing || ending || fatal.is_some();
        if !is_explained && hub.is_ending() {
            is_explained = true;
            tracing::info!("ending: no games came for as long as this worker waits");
        }
        let deadline = hub.next_deadline();
        let time_passes = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(to_do) = to_do.recv() => match to_do {
                ToDo::Call { call, patience, request } => calls.push(send(link, call, patience, request)),
                ToDo::Calibrate { game } => measurements.push(measure(calibrating, game)),
                ToDo::End => return fatal.map_or(Ok(()), Err),
            },
            Some((call, request, answer)) = calls.next() => {
                let answer = answer.map_err(|failed| failure(&request, failed, link, &mut fatal));
                if let Ok(Answer::Hello(session)) = &answer {
                    log_other_database(&mut database, &session.database);
                }
                let is_done = matches!(answer, Ok(Answer::Idle { all_done: true, .. }));
                let was_ending = hub.is_ending();
                hub.handle_answer(call, answer);
                if is_done && !was_ending && hub.is_ending() {
                    is_explained = true;
                    tracing::info!("nothing is left to do");
                }
            }
            Some((game, speed)) = measurements.next() => hub.handle_speed(game, speed),
            () = time_passes => hub.advance_time(),
            () = hub.earlier_deadline() => {}
            () = shutdown.finish.cancelled(), if !finishing => {
                finishing = true;
                hub.finish();
            }
            () = shutdown.now.cancelled(), if !ending => {
                ending = true;
                hub.end_now();
            }
        }
    }
}

/// Measures the speed of a game.
async fn measure(calibrating: &Arc<Calibrating>, game: String) -> (String, Option<Speed>) {
    let (calibrating, rules_name) = (Arc::clone(calibrating), game.clone());
    let measured = tokio::task::spawn_blocking(move || calibrating.measure(&rules_name)).await;
    // Panics are reported separately.
    (game, measured.ok().flatten())
}

async fn send(
    link: &Link,
    call: CallId,
    patience: Duration,
    request: Call<Finished>,
) -> (CallId, Call<Finished>, Result<Answer<Arc<Cell>>, Failed>) {
    let answer = link.send(&request, patience).await;
    (call, request, answer)
}

/// The machine's view of a failure; keeps errors that end the worker.
fn failure(
    request: &Call<Finished>,
    failed: Failed,
    link: &Link,
    fatal: &mut Option<WorkerError>,
) -> Failure {
    match failed {
        Failed::SayHello(_) => Failure::SayHello,
        Failed::Refused(refusal) => {
            log_refused(request, &refusal);
            Failure::Refused { problem: refusal.to_string() }
        }
        Failed::Fatal(error) => {
            fatal.get_or_insert(error);
            Failure::Unwanted
        }
        Failed::Away { .. } if link.places.has_untried() => Failure::Elsewhere,
        Failed::Away { retry_after, .. } => {
            let ms = |after: Duration| u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            Failure::Away { retry_after_ms: retry_after.map(ms) }
        }
        Failed::TimedOut => Failure::TimedOut,
    }
}

/// Logs when the results database is a different one.
fn log_other_database(before: &mut Option<String>, met: &str) {
    if before.replace(met.to_owned()).is_some_and(|before| before != met) {
        tracing::warn!(
            "the coordinator has another results database than before: \
             what was held for the other one is dropped"
        );
    }
}

fn log_refused(request: &Call<Finished>, refusal: &Refusal) {
    match request {
        // The refusal is logged elsewhere; which of a report's results caused it remains to be
        // found.
        Call::Hello | Call::Report { .. } => {}
        Call::Lease { .. } => tracing::error!(%refusal, "asking for games was refused"),
        Call::Heartbeat { .. } => tracing::error!(%refusal, "a heartbeat was refused"),
        Call::GiveBack { .. } => {
            tracing::warn!(%refusal, "could not give leases back: they end by themselves");
        }
        Call::GetCell(_) => {
            tracing::error!(%refusal, "a cell's definition was refused: its games are given back");
        }
    }
}
