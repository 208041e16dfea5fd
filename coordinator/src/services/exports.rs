//! Exports experiments as a file, made by a thread of its own and sent in pieces as the client reads them.

use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;

use futures_util::stream;
use spelrum_model::ExperimentId;
use spelrum_proto::{Reason, Refusal, v1};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_stream::Stream;
use tonic::Status;

use super::pages::QUIET;
use super::{BUSY_RETRY_AFTER, reading_failed};
use spelrum_store::{BackupError, Readers};

/// Bytes of a piece: well below a message.
const PIECE_BYTES: usize = 256 << 10;

/// Most pieces that wait for their reader.
const PIECES_MAX: usize = 2;

type Part = Result<v1::ExportExperimentsResponse, Refusal>;

/// Makes the file and sends it. The place is kept until the file is sent or the client is gone.
pub(super) fn export(
    readers: Readers,
    experiments: Vec<ExperimentId>,
    place: OwnedSemaphorePermit,
) -> impl Stream<Item = Result<v1::ExportExperimentsResponse, Status>> + Send {
    let (sender, pieces) = mpsc::channel::<Part>(PIECES_MAX);
    let failed = sender.clone();
    let work = move || {
        let _place = place;
        let sent = make(&readers, &experiments, &sender).and_then(|(file, bytes)| {
            send(file, bytes, &sender).map_err(|error| {
                let remedy = "try again; see that the coordinator's disk is whole";
                Refusal::new(
                    Reason::Internal,
                    format!("the export is not readable: {error}"),
                    remedy,
                )
            })
        });
        if let Err(refusal) = sent {
            // The client may be gone.
            let _unheard = sender.blocking_send(Err(refusal));
        }
    };
    if std::thread::Builder::new().name("export".to_owned()).spawn(work).is_err() {
        let refusal = Refusal::busy("no thread can be started", BUSY_RETRY_AFTER);
        let _there_is_room = failed.try_send(Err(refusal));
    }
    drop(failed);
    stream::unfold(pieces, async |mut pieces| {
        let next = match tokio::time::timeout(QUIET, pieces.recv()).await {
            // A sign of life: the export goes on.
            Err(_) => Ok(v1::ExportExperimentsResponse::default()),
            Ok(next) => next?.map_err(Status::from),
        };
        Some((next, pieces))
    })
}

fn make(
    readers: &Readers,
    experiments: &[ExperimentId],
    sender: &mpsc::Sender<Part>,
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

fn send(mut file: File, bytes: u64, sender: &mpsc::Sender<Part>) -> std::io::Result<()> {
    let mut head = Some(bytes);
    loop {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        (&mut file).take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
        let is_last = piece.is_empty();
        let bytes = head.take().unwrap_or(0);
        let part = v1::ExportExperimentsResponse { bytes, piece };
        if is_last || sender.blocking_send(Ok(part)).is_err() {
            return Ok(());
        }
    }
}
