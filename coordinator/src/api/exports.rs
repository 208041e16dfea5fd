//! Exports experiments as a file, made by a thread of its own and sent in pieces as the client reads them.

use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use spelrum_answers::ExportExperiments;
use spelrum_model::ExperimentId;
use spelrum_proto::limits::EXPORT_EXPERIMENTS_MAX;
use spelrum_proto::{Reason, Refusal};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use super::{Api, parameters, place, reply};
use crate::dispatcher::unknown_experiment;
use crate::services::reading_failed;
use spelrum_store::{BackupError, Readers};

/// The content type of SQLite's files.
pub(super) const SQLITE_CONTENT_TYPE: &str = "application/vnd.sqlite3";

/// Bytes of a piece.
const PIECE_BYTES: usize = 256 << 10;

/// Most pieces that wait for their reader.
const PIECES_MAX: usize = 2;

/// Sends a file with experiments and all their data.
pub(super) async fn export(State(api): State<Arc<Api>>, body: Bytes) -> Response {
    match start(&api, &body).await {
        Ok(answer) => answer,
        Err(refusal) => super::problem(refusal),
    }
}

async fn start(api: &Api, body: &[u8]) -> Result<Response, Refusal> {
    let ExportExperiments { experiments: named } = parameters::from_body(&[], body)?;
    if named.is_empty() || named.len() > EXPORT_EXPERIMENTS_MAX {
        let problem = format!("{} experiments are to be exported", named.len());
        let remedy = format!("name 1 to {EXPORT_EXPERIMENTS_MAX}");
        return Err(Refusal::new(Reason::Malformed, problem, remedy));
    }
    let mut experiments = Vec::with_capacity(named.len());
    for name in &named {
        let id = api.readers.experiment_id(name).await.map_err(reading_failed)?;
        experiments.push(id.ok_or_else(|| unknown_experiment(name))?);
    }
    let place = place(&api.exports, "another export is being made")?;
    let (sender, pieces) = mpsc::channel(PIECES_MAX);
    let (made, size) = oneshot::channel();
    let readers = api.readers.clone();
    let work = move || make_and_send(&readers, &experiments, place, &sender, made);
    std::thread::Builder::new().name("export".to_owned()).spawn(work).map_err(|_| {
        Refusal::busy("no thread can be started", crate::services::BUSY_RETRY_AFTER)
    })?;
    // The answer begins when the file is made, with its size.
    let bytes = size.await.unwrap_or_else(|_dropped| {
        Err(Refusal::new(Reason::Internal, "the export ended early", "see the coordinator's log"))
    })?;
    let mut answer = reply::streamed(pieces, SQLITE_CONTENT_TYPE);
    answer.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
    Ok(answer)
}

fn make_and_send(
    readers: &Readers,
    experiments: &[ExperimentId],
    _place: OwnedSemaphorePermit,
    sender: &mpsc::Sender<std::io::Result<Bytes>>,
    made: oneshot::Sender<Result<u64, Refusal>>,
) {
    match make(readers, experiments, sender) {
        Ok((file, bytes)) => {
            if made.send(Ok(bytes)).is_ok()
                && let Err(error) = send(file, sender)
            {
                tracing::warn!(%error, "an export is not readable");
                // The client may be gone.
                let _unheard = sender.blocking_send(Err(error));
            }
        }
        Err(refusal) => drop(made.send(Err(refusal))),
    }
}

fn make(
    readers: &Readers,
    experiments: &[ExperimentId],
    sender: &mpsc::Sender<std::io::Result<Bytes>>,
) -> Result<(File, u64), Refusal> {
    let receiver = sender.clone();
    let look = move || {
        if receiver.is_closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match readers.export_unnamed(experiments, look) {
        Ok((file, made)) => Ok((file, made.bytes)),
        Err(BackupError::Store(error)) => Err(reading_failed(error)),
        Err(error) => {
            tracing::warn!("{error}; {}", error.remedy());
            let remedy = "see the coordinator's log: it makes the file beside its database, where there must \
                          be room for it";
            Err(Refusal::new(Reason::Internal, error.to_string(), remedy))
        }
    }
}

fn send(mut file: File, sender: &mpsc::Sender<std::io::Result<Bytes>>) -> std::io::Result<()> {
    loop {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        (&mut file).take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
        if piece.is_empty() || sender.blocking_send(Ok(piece.into())).is_err() {
            return Ok(());
        }
    }
}
