//! `spelrum backup`: a copy of a results database, even while a coordinator has it open.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use spelrum_report::data::write_json;
use spelrum_report::text::{counted, duration_us};
use spelrum_store::{BackedUp, BackupError, Copied, Readers};
use tokio::sync::oneshot;

use crate::arguments::{Database, DatabaseArgument};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::notices::notify;
use crate::terminal::waiting::while_waiting;

const EXAMPLES: &str = "\
The copy is a snapshot of one moment; a coordinator or run that is writing to the database is not held up. \
The result is one file that every command accepts with --db. It is checked and on disk when this command \
ends, and existing files are never overwritten: until then it is called DEST-unfinished.

docs/operating.md explains how to restore a backup, and how to move to another machine.

JSON: backup (the path), bytes, games (those with a result).

With the address of a PostgreSQL database that coordinators share, the result is the same: one file, as complete as \
what the server had when the copy began. Coordinators need not run.

Examples:
  spelrum backup results-monday.db --db results.db
  spelrum backup results-monday.db --db postgres://spelrum@db.example.org/spelrum";

/// Copy a results database, even while it is being written
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Backup {
    /// The file to make
    #[arg(value_name = "DEST")]
    to: PathBuf,
    /// The results database: a file, or the address of a PostgreSQL database that coordinators share
    #[arg(long, value_name = "PATH|ADDRESS")]
    db: DatabaseArgument,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'p> {
    backup: &'p str,
    bytes: u64,
    games: u64,
}

impl Backup {
    /// Copies, and reports the copy's contents.
    pub(crate) async fn run(self) -> Result<Exit> {
        let interrupts = Interrupts::listen(|| {})?;
        let (db, _fetched) = match self.db.read()? {
            Database::File(path) => (path, None),
            Database::Shared(server) => {
                let fetched = Fetched::beside(&self.to)?;
                notify(&format!("fetching the database from {server}"));
                tokio::select! {
                    done = spelrum_journal::fetch(&server, &fetched.0) => done?,
                    () = interrupts.finish.cancelled() => return Ok(interrupted(&interrupts)),
                }
                (fetched.0.clone(), Some(fetched))
            }
        };
        let readers = Readers::open(&db).await?;
        let per_mille = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&per_mille);
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let progress_text = move |elapsed: Duration| {
            let percent = seen.load(Ordering::Relaxed) as f64 / 10.0;
            let elapsed = duration_us(elapsed.as_micros() as f64);
            format!("copying, {percent:.1} %, {elapsed}; Ctrl-C gives up")
        };
        let unwanted = interrupts.finish.clone();
        let look = move |copied: Copied| {
            per_mille.store(copied.pages * 1_000 / copied.pages_total.max(1), Ordering::Relaxed);
            if unwanted.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (sender, receiver) = oneshot::channel();
        let to = self.to.clone();
        let work = move || {
            // After a second Ctrl-C the receiver is gone.
            let _unheard = sender.send(readers.back_up(&to, look));
        };
        while_waiting(&interrupts, progress_text, work).await?;
        // After a first Ctrl-C, the copy is being removed or already finished.
        let backed_up = tokio::select! {
            biased;
            backed_up = receiver => backed_up,
            () = interrupts.now.cancelled() => return Ok(interrupted(&interrupts)),
        };
        match backed_up {
            Ok(Ok(backed_up)) => {
                self.print_result(&backed_up)?;
                Ok(Exit::Success)
            }
            Ok(Err(BackupError::GivenUp)) => Ok(interrupted(&interrupts)),
            Ok(Err(error)) => Err(error.into()),
            Err(gone) => Err(CliError::new(Exit::Internal, "wait for a thread").because(gone)),
        }
    }

    fn print_result(&self, backed_up: &BackedUp) -> Result<()> {
        let BackedUp { bytes, games } = *backed_up;
        let path = self.to.to_string_lossy();
        let mut out = terminal::stdout();
        if self.json {
            write_json(&mut out, &Json { backup: &path, bytes, games })?;
        } else {
            let (games, bytes) = (counted(games, "settled game"), counted(bytes, "byte"));
            writeln!(out, "{path}: whole, {games}, {bytes}")?;
        }
        Ok(())
    }
}

/// A database fetched from a server, until it was checked and copied to its place.
struct Fetched(PathBuf);

impl Fetched {
    /// A name beside a copy that is not there yet.
    fn beside(to: &Path) -> Result<Self> {
        if to.symlink_metadata().is_ok() {
            let (to, there) = (to.to_owned(), to.to_owned());
            return Err(BackupError::Exists { to, there }.into());
        }
        let mut path = to.as_os_str().to_owned();
        path.push(format!("-fetched-{}", std::process::id()));
        Ok(Self(path.into()))
    }
}

impl Drop for Fetched {
    fn drop(&mut self) {
        // There may be none.
        let _gone = std::fs::remove_file(&self.0);
    }
}

fn interrupted(interrupts: &Interrupts) -> Exit {
    interrupts.exit().unwrap_or(Exit::Interrupted)
}
