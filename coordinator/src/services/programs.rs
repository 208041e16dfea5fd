//! The `Programs` service, for those who push programs, and the pieces that workers get of them.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use spelrum_engine::{EngineSource, SourcedEngine};
use spelrum_programs::{Incoming, ProgramError, Programs, Sha256Hex};
use spelrum_proto::limits::PROGRAM_PIECE_BYTES_MAX;
use spelrum_proto::v1::programs_server;
use spelrum_proto::{Reason, Refusal, v1, work as wire};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tonic::{Request, Response, Status};

use super::BUSY_RETRY_AFTER;
use crate::dispatcher::Dispatch;

/// Uploads at once (invariant 9).
const UPLOADS_MAX: usize = 16;
/// An upload of which no piece came for this long has been given up.
const PIECE_PATIENCE: Duration = Duration::from_secs(60);
/// A program is named by a sweep soon after it was pushed.
const STAYS_AFTER_PUSH: Duration = Duration::from_mins(10);

/// The uploads under way, by their callers' names for them.
type Uploads = Mutex<BTreeMap<[u8; 16], (Upload, Instant)>>;

/// An upload, with its place among those that can be under way.
struct Upload {
    incoming: Incoming,
    _place: OwnedSemaphorePermit,
}

/// Takes pushed programs.
pub(crate) struct ProgramsService {
    programs: Programs,
    dispatch: Dispatch,
    uploads: Arc<Uploads>,
    places: Arc<Semaphore>,
}

/// A checked piece.
struct Piece {
    hash: Sha256Hex,
    size: u64,
    upload: [u8; 16],
    offset: u64,
    bytes: Vec<u8>,
}

impl ProgramsService {
    pub(crate) fn new(programs: Programs, dispatch: Dispatch) -> Self {
        let places = Arc::new(Semaphore::new(UPLOADS_MAX));
        Self { programs, dispatch, uploads: Arc::default(), places }
    }

    /// Begins an upload. Programs that experiments name which are not over make no room for it.
    async fn begin(&self, hash: &Sha256Hex, size: u64) -> Result<Upload, Refusal> {
        lock(&self.uploads).retain(|_, (_, last)| last.elapsed() < PIECE_PATIENCE);
        let place = Arc::clone(&self.places)
            .try_acquire_owned()
            .map_err(|_| Refusal::busy("too many programs are being pushed", BUSY_RETRY_AFTER))?;
        let engines = self.dispatch.needed_engines().await?;
        let named: Vec<_> = engines.iter().filter_map(|name| program(name)).collect();
        let (programs, hash) = (self.programs.clone(), hash.clone());
        let begun = spawn_blocking(move || {
            let stays =
                |kept: &Sha256Hex, unused| unused < STAYS_AFTER_PUSH || named.contains(kept);
            let incoming = programs.begin(&hash, size, &stays)?;
            Ok(Upload { incoming, _place: place })
        });
        begun.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic())).map_err(refused)
    }

    /// Stores a piece. Returns whether the program is complete.
    async fn store(&self, piece: Piece) -> Result<bool, Refusal> {
        let Piece { hash, size, upload, offset, bytes } = piece;
        let under_way = lock(&self.uploads).remove(&upload);
        if self.programs.size(&hash).is_some() {
            self.programs.record_use(&hash);
            return Ok(true);
        }
        if bytes.is_empty() {
            return Ok(false);
        }
        let under_way = under_way.filter(|(upload, _)| upload.incoming.is_for(&hash, size));
        let mut begun = match under_way {
            Some((begun, _)) if offset > 0 => begun,
            other if offset == 0 => {
                // What begins anew gives its place up first.
                drop(other);
                self.begin(&hash, size).await?
            }
            _ => {
                let problem = "the upload of this program is not under way";
                return Err(Refusal::new(Reason::WrongState, problem, "push it again"));
            }
        };
        // The answer to the piece before may have been lost.
        let is_repeated = offset + bytes.len() as u64 == begun.incoming.written();
        let stored = spawn_blocking(move || {
            if !is_repeated {
                begun.incoming.write(offset, &bytes)?;
            }
            if begun.incoming.is_complete() {
                return begun.incoming.finish().map(|()| None);
            }
            Ok(Some(begun))
        });
        let stored = stored.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
        let Some(begun) = stored.map_err(refused)? else {
            tracing::info!(program = %hash, size, "stored a program that was pushed");
            return Ok(true);
        };
        lock(&self.uploads).insert(upload, (begun, Instant::now()));
        if offset == 0 {
            tokio::spawn(drop_when_idle(Arc::downgrade(&self.uploads), upload));
        }
        Ok(false)
    }
}

#[tonic::async_trait]
impl programs_server::Programs for ProgramsService {
    async fn push(
        &self,
        request: Request<v1::PushRequest>,
    ) -> Result<Response<v1::PushResponse>, Status> {
        let piece = checked(request.into_inner())?;
        Ok(Response::new(v1::PushResponse { stored: self.store(piece).await? }))
    }
}

/// Drops an upload, with what it has written, once no piece has come for long.
async fn drop_when_idle(uploads: Weak<Uploads>, upload: [u8; 16]) {
    loop {
        tokio::time::sleep(PIECE_PATIENCE).await;
        // Those of a coordinator that has ended are gone.
        let Some(uploads) = uploads.upgrade() else { return };
        let mut uploads = lock(&uploads);
        match uploads.get(&upload) {
            Some((_, last)) if last.elapsed() < PIECE_PATIENCE => {}
            Some(_) => {
                uploads.remove(&upload);
                return;
            }
            // In the hands of a call, or over; the next upload removes what is left of one.
            None => return,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn checked(request: v1::PushRequest) -> Result<Piece, Refusal> {
    let v1::PushRequest { sha256, size, upload, offset, piece } = request;
    let malformed = |problem: &str| Refusal::new(Reason::Malformed, problem, "push it anew");
    let hash = wire::definition_hash(&sha256)?.0.into();
    let upload = upload.try_into().map_err(|_| malformed("the field upload has not 16 bytes"))?;
    if piece.len() > PROGRAM_PIECE_BYTES_MAX {
        return Err(malformed("the field piece has more than 1 MiB"));
    }
    if size == 0 || offset >= size || (piece.is_empty() && offset > 0) {
        return Err(malformed("the piece is empty, or not of a program of this size"));
    }
    Ok(Piece { hash, size, upload, offset, bytes: piece })
}

/// The hash of a pushed program, if the name is that of one.
pub(super) fn program(name: &str) -> Option<Sha256Hex> {
    match SourcedEngine::parse(name)?.source {
        EngineSource::Program { sha256 } => sha256.parse().ok(),
        EngineSource::Commit { .. } => None,
    }
}

fn refused(error: ProgramError) -> Refusal {
    let (reason, remedy) = match &error {
        ProgramError::TooLarge { .. } => (
            Reason::TooMany,
            "push a smaller program, or start the coordinator with a larger --programs-size",
        ),
        ProgramError::NoRoom { .. } => (
            Reason::TooMany,
            "wait until an experiment that names one is over, or start the coordinator with a larger --programs-size",
        ),
        ProgramError::WrongPiece { .. } | ProgramError::WrongHash => {
            (Reason::Malformed, "push it again")
        }
        ProgramError::Unwritable { .. } => {
            tracing::error!(%error, "a program that was pushed cannot be stored");
            (Reason::Internal, "make room on the coordinator's disk, or let its user write there")
        }
    };
    Refusal::new(reason, error.to_string(), remedy)
}

/// A piece of a program.
pub(super) async fn read_piece(
    programs: Programs,
    sha256: &[u8],
    offset: u64,
) -> Result<v1::GetProgramResponse, Refusal> {
    let hash: Sha256Hex = wire::definition_hash(sha256)?.0.into();
    let unknown = format!("the coordinator has no program {hash}");
    let read = spawn_blocking(move || {
        let size = programs.size(&hash);
        if offset == 0 {
            programs.record_use(&hash);
        }
        Ok::<_, std::io::Error>(size.zip(programs.read(
            &hash,
            offset,
            PROGRAM_PIECE_BYTES_MAX as u64,
        )?))
    });
    match read.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic())) {
        Ok(Some((size, piece))) => Ok(v1::GetProgramResponse { size, piece }),
        Ok(None) => {
            Err(Refusal::new(Reason::UnknownProgram, unknown, "push it: spelrum engine push"))
        }
        Err(error) => {
            let problem = format!("the program cannot be read: {error}");
            Err(Refusal::new(Reason::Internal, problem, "push it again"))
        }
    }
}
