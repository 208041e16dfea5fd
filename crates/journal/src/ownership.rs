//! What a coordinator does while it owns a database: it appends, shows that it is alive, and replaces the base.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use spelrum_store::shared::{Journal, Place};
use spelrum_store::{Readers, StoreError};
use tokio::sync::{Notify, watch};

use crate::address::Address;
use crate::base::{Temporary, beside, remove, snapshot, upload};
use crate::compression::compress;
use crate::error::JournalError;
use crate::log::{Log as _, State, append};
use crate::owner::Owner;
use crate::patience::SILENCE;
use crate::server::Server;
use crate::trouble::Trouble;

/// Time between two beats: with one that stalls for as long as it may, and the next, less than the silence after which
/// others take over.
const BEAT: Duration = Duration::from_secs(1);
/// Time between two beats where the first was not answered.
const BEAT_AGAIN: Duration = Duration::from_millis(500);
/// Wait after a base that could not be replaced.
const BASE_AGAIN: Duration = Duration::from_secs(10);
/// A base is replaced when the changes after it have as many bytes as it and as this, or are so many.
const BASE_BYTES: i64 = 16 << 20;
const BASE_CHANGES: i64 = 1_000_000;
/// The file that is uploaded.
const UPLOAD: &str = "-upload";
/// Changes that stay though they are in the base: copies that are not far behind need no new base.
const KEPT_CHANGES: i64 = 1_000;

/// The changes after the base.
#[derive(Debug, Default)]
struct SinceBase {
    changes: AtomicI64,
    bytes: AtomicI64,
    grown: Notify,
}

/// The right to append to the journal, and what ends with it.
#[derive(Debug)]
pub(crate) struct Ownership {
    server: Server,
    term: i64,
    since_base: Arc<SinceBase>,
    /// Closed when this is dropped.
    _alive: watch::Sender<()>,
}

/// Ends with the ownership.
#[derive(Clone, Debug)]
struct Alive(watch::Receiver<()>);

impl Alive {
    fn is_over(&self) -> bool {
        self.0.has_changed().is_err()
    }

    /// Starts a task that ends with the ownership.
    fn spawn(mut self, work: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(async move {
            tokio::select! {
                () = work => {}
                _ = self.0.changed() => {}
            }
        });
    }
}

/// Begins to replace the base whenever the changes after it are many.
#[derive(Debug)]
pub(crate) struct Bases {
    address: Address,
    term: i64,
    since_base: Arc<SinceBase>,
    alive: Alive,
}

impl Ownership {
    /// Shows from now on that this coordinator, `me`, is alive. `published` receives the owner once another one took over,
    /// and that no coordinator owns it while the server takes no sign of life from this one for as long as others wait.
    pub(crate) fn begin(
        address: &Address,
        term: i64,
        me: Owner,
        published: watch::Sender<Option<Owner>>,
    ) -> (Self, Bases) {
        let (alive, ended) = watch::channel(());
        let ended = Alive(ended);
        let since_base = Arc::<SinceBase>::default();
        ended.clone().spawn(beat(Server::new(address.clone()), term, me, published));
        let bases = Bases {
            address: address.clone(),
            term,
            since_base: Arc::clone(&since_base),
            alive: ended,
        };
        let server = Server::new(address.clone());
        (Self { server, term, since_base, _alive: alive }, bases)
    }

    /// Makes a file the base, under this term.
    pub(crate) async fn upload(&mut self, file: &Path, state: State) -> Result<(), JournalError> {
        upload(&mut self.server, self.term, file, state).await.map(drop)
    }
}

impl Journal for Ownership {
    fn term(&self) -> i64 {
        self.term
    }

    fn append(&mut self, number: i64, changes: Vec<u8>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let place = Place { number, term: self.term };
            let changes = compress(&changes);
            append(&mut self.server, place, &changes).await?;
            let bytes = i64::try_from(changes.len()).unwrap_or(i64::MAX);
            self.since_base.changes.fetch_add(1, Ordering::Relaxed);
            self.since_base.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.since_base.grown.notify_one();
            Ok(())
        })
    }
}

/// Removes what a process that was killed left.
fn remove_uploads(path: &Path) {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else { return };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let begin = beside(Path::new(name), UPLOAD);
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_one = entry.file_name().as_bytes().starts_with(begin.as_os_str().as_bytes());
        if is_one {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Raises the beat as long as the term is the head's.
async fn beat(mut server: Server, term: i64, me: Owner, published: watch::Sender<Option<Owner>>) {
    let (mut beaten, mut is_silent) = (server.now(), false);
    let mut trouble = Trouble::new("to show that this coordinator is alive");
    loop {
        let asked = server.now();
        let wait = match server.beat(term, None).await {
            Ok(true) => {
                beaten = asked;
                trouble.over();
                if std::mem::take(&mut is_silent) {
                    published.send_replace(Some(me.clone()));
                }
                BEAT
            }
            Ok(false) => match server.head().await {
                Ok(head) if head.term != term => {
                    tracing::warn!(
                        "another coordinator ({}) has taken the database over",
                        head.owner.name
                    );
                    published.send_replace(head.current_owner());
                    return;
                }
                _ => BEAT_AGAIN,
            },
            Err(error) => {
                trouble.met(&error);
                BEAT_AGAIN
            }
        };
        if !is_silent && server.now().saturating_sub(beaten) > SILENCE {
            is_silent = true;
            published.send_replace(None);
        }
        tokio::time::sleep(wait).await;
    }
}

impl Bases {
    /// Goes on until the ownership ends.
    pub(crate) fn begin(self, readers: Readers) {
        let alive = self.alive.clone();
        alive.spawn(async move {
            remove_uploads(readers.path());
            // A copying of an earlier term may not have ended yet.
            let suffix = format!("{UPLOAD}-{}", self.term);
            let copy = Temporary(beside(readers.path(), &suffix));
            let mut server = Server::new(self.address.clone());
            let mut trouble = Trouble::new("to replace the base in the journal");
            loop {
                let replaced = self.replace_when_due(&mut server, &readers, &copy.0).await;
                match replaced {
                    Ok(()) => trouble.over(),
                    Err(error) => {
                        trouble.met(&error);
                        tokio::time::sleep(BASE_AGAIN).await;
                    }
                }
            }
        });
    }

    async fn replace_when_due(
        &self,
        server: &mut Server,
        readers: &Readers,
        copy: &Path,
    ) -> Result<(), JournalError> {
        let base_bytes = server.head().await?.database.map_or(0, |database| database.base.bytes);
        // Also what earlier owners appended.
        let (changes, bytes) = server.since_base().await?;
        self.since_base.changes.store(changes, Ordering::Relaxed);
        self.since_base.bytes.store(bytes, Ordering::Relaxed);
        while self.since_base.changes.load(Ordering::Relaxed) < BASE_CHANGES
            && self.since_base.bytes.load(Ordering::Relaxed) < base_bytes.max(BASE_BYTES)
        {
            self.since_base.grown.notified().await;
        }
        self.replace(server, readers, copy).await
    }

    /// Replaces the base by the present state, and deletes what is not needed then.
    async fn replace(
        &self,
        server: &mut Server,
        readers: &Readers,
        copy: &Path,
    ) -> Result<(), JournalError> {
        let alive = self.alive.clone();
        let state = snapshot(readers.clone(), copy, move || alive.is_over()).await?;
        let number = state.place.number;
        let base = upload(server, self.term, copy, state).await?;
        remove(copy)?;
        server.forget(self.term, KEPT_CHANGES).await?;
        tracing::info!(
            "the base in the journal has all changes up to {number} ({} bytes)",
            base.bytes
        );
        Ok(())
    }
}
