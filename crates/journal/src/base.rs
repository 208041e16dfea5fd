//! Complete files of the database in the journal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use spelrum_store::Readers;
use spelrum_store::shared::LocalCopy;
use uuid::Uuid;

use crate::compression::{compress, expand};
use crate::error::JournalError;
use crate::log::{Base, Database, Log, PART_TRIED, State};
use crate::server::Server;

/// The bytes of a file in a part.
const PART_BYTES: u64 = 1 << 20;

/// A path beside another one.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// What an error at a file becomes.
pub(crate) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> JournalError {
    move |source| JournalError::File { path: path.to_owned(), source }
}

/// Removes a database file that no process has open, and SQLite's and our own files beside it.
pub(crate) fn remove(path: &Path) -> Result<(), JournalError> {
    // The log first: without its database, it would belong to the next one of this name.
    for suffix in ["-wal", "-shm", "-journal", "-lock", "-unfinished", ""] {
        match std::fs::remove_file(beside(path, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(at(path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A database file that is removed when this is dropped, with what is beside it, however the work on it ends.
#[derive(Debug)]
pub struct Temporary(pub PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = remove(&self.0);
    }
}

pub(crate) fn state(copy: &LocalCopy) -> State {
    let (place, schema) = (copy.place(), copy.schema());
    State { place, schema, uuid: copy.database_uuid().to_owned() }
}

/// Reads what is in a file that no process has open, and makes it one file that is the same to every coordinator.
pub(crate) async fn settle(path: &Path) -> Result<State, JournalError> {
    let missing = || at(path)(std::io::ErrorKind::NotFound.into());
    let copy = LocalCopy::open(path).await?.ok_or_else(missing)?;
    let state = state(&copy);
    copy.close().await?;
    Ok(state)
}

/// Copies an open database into a new file, until `is_over`.
pub(crate) async fn snapshot(
    readers: Readers,
    to: &Path,
    is_over: impl Fn() -> bool + Send + 'static,
) -> Result<State, JournalError> {
    remove(to)?;
    let path = to.to_owned();
    let look = move |_| if is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let copying = tokio::task::spawn_blocking(move || readers.back_up(&path, look));
    match copying.await {
        Ok(copied) => copied?,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    };
    settle(to).await
}

/// Uploads a file, and makes it the base; returns it.
pub(crate) async fn upload(
    server: &mut Server,
    term: i64,
    file: &Path,
    state: State,
) -> Result<Base, JournalError> {
    let mut contents = File::open(file).map_err(at(file))?;
    // A message of an upload that was given up may still arrive: each has parts of its own.
    let upload = Uuid::new_v4().as_u64_pair().1.cast_signed();
    let (mut parts, mut bytes, mut sha256) = (0, 0, Sha256::new());
    loop {
        let mut part = Vec::new();
        (&mut contents).take(PART_BYTES).read_to_end(&mut part).map_err(at(file))?;
        if part.is_empty() {
            break;
        }
        sha256.update(&part);
        let compressed = compress(&part);
        bytes += i64::try_from(compressed.len()).unwrap_or(i64::MAX);
        server.store_part(term, upload, parts, &compressed).await?;
        parts += 1;
    }
    let sha256 = sha256.finalize().to_vec();
    let base = Base { place: state.place, upload, parts, bytes, sha256 };
    let database = Database { uuid: state.uuid, schema: state.schema, base };
    if !server.set_base(term, &database).await? {
        let head = server.head().await?;
        if head.term != term {
            return Err(JournalError::TakenOver { term: head.term, own: term });
        }
        let own = database.base.place.number;
        if head.last < own {
            return Err(JournalError::ChangesLost { last: head.last, own });
        }
        // A late message has deleted parts.
        return Err(JournalError::Refused);
    }
    Ok(database.base)
}

/// Downloads a base into a new file; returns whether the base was there to its end.
pub(crate) async fn download(
    log: &mut impl Log,
    base: &Base,
    to: &Path,
) -> Result<bool, JournalError> {
    remove(to)?;
    let mut file = File::create_new(to).map_err(at(to))?;
    let mut sha256 = Sha256::new();
    let (tries, wait) = PART_TRIED;
    let mut left = tries;
    let mut part = 0;
    while part < base.parts {
        match log.part(base, part).await {
            Ok(Some(compressed)) => {
                let contents = expand(&compressed)?;
                sha256.update(&contents);
                file.write_all(&contents).map_err(at(to))?;
                (part, left) = (part + 1, tries);
            }
            Ok(None) => return Ok(false),
            Err(error) if left == 0 || error.is_lasting() => return Err(error),
            Err(_) => {
                left -= 1;
                log.wait(wait).await;
            }
        }
    }
    if sha256.finalize().as_slice() != base.sha256 {
        return Err(JournalError::DamagedBase { problem: "its SHA-256 differs".to_owned() });
    }
    let path = to.to_owned();
    let synced = tokio::task::spawn_blocking(move || file.sync_all().map_err(at(&path))).await;
    match synced {
        Ok(synced) => synced.map(|()| true),
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

/// Renames a file, for good.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), JournalError> {
    std::fs::rename(from, to).map_err(at(to))?;
    let directory = match to.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    File::open(directory).and_then(|directory| directory.sync_all()).map_err(at(directory))
}
