//! Fetching programs that were pushed to the coordinator, beside the games.

use std::sync::Arc;
use std::time::Duration;

use spelrum_model::engines::FailedBuild;
use spelrum_programs::{Incoming, ProgramError, Programs, Sha256Hex};
use spelrum_proto::{Refusal, v1};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};
use tonic::Status;

use crate::engines::program;
use crate::offered::Offered;
use crate::requests::Client;

/// How long a piece may take.
const PIECE_PATIENCE: Duration = Duration::from_secs(60);
/// Tries of each piece, and the wait between two.
const TRIES: u32 = 5;
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(2);
/// Programs that were used within this time are not removed for another.
const UNUSED_AFTER: Duration = Duration::from_mins(30);

/// Fetches programs, one after the other.
pub(crate) struct Fetching {
    programs: Programs,
    /// Held while programs are fetched.
    busy: Arc<Mutex<()>>,
}

impl Fetching {
    pub(crate) fn new(programs: Programs) -> Self {
        Self { programs, busy: Arc::default() }
    }

    /// Fetches the programs of these names in the background, and has them started. Nothing is fetched but what this
    /// machine accepts, whatever the coordinator asks for. While some are fetched, others wait until they are asked for
    /// again.
    pub(crate) fn fetch(&self, mut names: Vec<String>, client: &Client, offered: &Offered) {
        let Ok(busy) = Arc::clone(&self.busy).try_lock_owned() else { return };
        let built = offered.current().built;
        names.retain(|name| built.may_build(name));
        let (programs, client, offered) = (self.programs.clone(), client.clone(), offered.clone());
        tokio::spawn(async move {
            let _busy = busy;
            for name in names {
                let Some(sha256) = program(&name) else { continue };
                match fetch(&name, &sha256, &programs, client.clone()).await {
                    Ok(()) => offered.want_builds(vec![name]),
                    Err(problem) => offered.record_unfetched(FailedBuild { engine: name, problem }),
                }
            }
        });
    }
}

/// Fetches a program, unless it is here.
async fn fetch(
    name: &str,
    sha256: &Sha256Hex,
    programs: &Programs,
    mut client: Client,
) -> Result<(), String> {
    if programs.size(sha256).is_some() {
        return Ok(());
    }
    tracing::info!(engine = name, "fetching a program that was pushed");
    let (mut incoming, mut offset) = (None::<Incoming>, 0);
    loop {
        let request = v1::GetProgramRequest { sha256: sha256.to_bytes().to_vec(), offset };
        let v1::GetProgramResponse { size, piece } = piece(&mut client, request).await?;
        if piece.is_empty() {
            return Err(format!("the coordinator sent {offset} of {size} bytes"));
        }
        let (programs, sha256) = (programs.clone(), sha256.clone());
        let end = offset + piece.len() as u64;
        let stored = tokio::task::spawn_blocking(move || {
            let mut program = match incoming {
                Some(program) => program,
                None => programs.begin(&sha256, size, &|_, unused| unused < UNUSED_AFTER)?,
            };
            program.write(offset, &piece)?;
            if program.is_complete() {
                program.finish()?;
                return Ok(None);
            }
            Ok(Some(program))
        });
        let stored =
            stored.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
        let stored = stored.map_err(|error: ProgramError| {
            let has_no_room =
                matches!(error, ProgramError::TooLarge { .. } | ProgramError::NoRoom { .. });
            match has_no_room {
                true => format!("{error}; raise `size` of [accept_programs] in the engines file"),
                false => error.to_string(),
            }
        });
        (incoming, offset) = (stored?, end);
        if incoming.is_none() {
            return Ok(());
        }
    }
}

/// A piece of a program.
async fn piece(
    client: &mut Client,
    request: v1::GetProgramRequest,
) -> Result<v1::GetProgramResponse, String> {
    let mut problem = String::new();
    for _ in 0..TRIES {
        let answer = timeout(PIECE_PATIENCE, client.get_program(request.clone())).await;
        let answer = answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer in time")));
        let status = match answer {
            Ok(response) => return Ok(response.into_inner()),
            Err(status) => status,
        };
        problem = match Refusal::from_status(&status) {
            Some(refusal) if refusal.retry_after.is_none() => return Err(refusal.to_string()),
            Some(refusal) => refusal.to_string(),
            None => status.message().to_owned(),
        };
        sleep(TRIED_AGAIN_AFTER).await;
    }
    Err(format!("the coordinator did not send it: {problem}"))
}
