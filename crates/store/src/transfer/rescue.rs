//! Shutdown of the writer after a permanent error: committed data is saved if its file is damaged or no longer at its
//! path.

use std::path::{Path, PathBuf};

use sqlx::{Connection as _, SqliteConnection};

use crate::error::StoreError;
use crate::open::checkpoint::{self, Checkpointer};
use crate::open::file_identity::Fate;
use crate::open::writer::Writer;
use crate::transfer::salvage::{self, Salvaged};

impl Writer {
    /// Closes what can be closed. If the database is no longer at its path, committed data is saved: into the file
    /// itself if that was renamed, or else into a new file beside the path. If the database is damaged, all readable
    /// data is written into a new file, and the database and its log stay unchanged. Both are logged.
    pub async fn abandon(self, checkpointer: Checkpointer) {
        let found = self.files.now().check();
        let fate = matches!(found, Err(StoreError::Gone { .. })).then(|| self.files.now().fate());
        let is_damaged = found.is_err_and(|error| error.is_damage());
        let is_elsewhere = fate.is_some();
        let Self { path, mut connection, readers, keeper, files, mut lock, .. } = self;
        match fate {
            None if is_damaged => salvage(&mut connection, &path).await,
            None => {}
            Some(Fate::Renamed(now)) => complete(&mut connection, &path, &now).await,
            Some(Fate::Deleted) => save(&mut connection, &free_name(&path)).await,
        }
        if is_elsewhere {
            // The file now at the path has another log.
            let _stays = lock.forget();
        }
        let keeper = is_damaged.then_some(keeper);
        readers.close().await;
        // SQLite leaves the log of a moved file in place.
        for closed in [checkpointer.close().await, connection.close().await.map_err(Into::into)] {
            if let Err(error) = closed {
                tracing::warn!("failed to close the database: {error}");
            }
        }
        drop((keeper, files, lock));
    }
}

/// Writes the readable data of a damaged database into a new file.
async fn salvage(connection: &mut SqliteConnection, path: &Path) {
    let copy = free_name(path);
    let (file, db) = (copy.display(), path.display());
    let name = copy.to_string_lossy();
    // Uses the committing connection, whose memory may hold the only copy of some data.
    let is_whole = sqlx::query("VACUUM INTO ?").bind(&*name).execute(connection).await.is_ok();
    let salvaged = if is_whole { salvage::count(&copy) } else { salvage::salvage(path, &copy) };
    match salvaged {
        Ok(Salvaged { games, tables_cut }) if tables_cut.is_empty() => tracing::error!(
            %db,
            %file,
            games,
            "the database is damaged and stays as it is, with its log; all its tables could be read and were saved \
             into the new file: look at it with `spelrum check`"
        ),
        Ok(Salvaged { games, tables_cut }) => tracing::error!(
            %db,
            %file,
            games,
            incomplete = tables_cut.join(" "),
            "the database is damaged and stays as it is, with its log; what could be read was saved into the new \
             file, which lacks rows: restore a backup, or look at it with `spelrum check`"
        ),
        Err(error) => tracing::error!(
            %db,
            %file,
            "the database is damaged and stays as it is, with its log; nothing could be saved: {error}"
        ),
    }
}

/// Moves the log's contents into the file: the log kept its name, and the user who moved the file may be unaware of it.
async fn complete(connection: &mut SqliteConnection, path: &Path, now: &Path) {
    let file = now.display();
    match checkpoint::checkpoint(connection, path).await {
        Ok(done) if done.complete => tracing::error!(%file, "this file has everything now"),
        Ok(_) => tracing::error!(
            %file,
            "this file lacks the latest results: another process that reads it keeps them from being moved into it"
        ),
        Err(error) => {
            tracing::error!(%file, "failed to move the latest results into this file: {error}")
        }
    }
}

/// Writes the whole database into a new file.
async fn save(connection: &mut SqliteConnection, copy: &Path) {
    let file = copy.display();
    let path = copy.to_string_lossy();
    match sqlx::query("VACUUM INTO ?").bind(&*path).execute(connection).await {
        Ok(_) => {
            tracing::error!(%file, "the database was deleted; all of it was saved into this file")
        }
        Err(error) => {
            let error = StoreError::from(error);
            tracing::error!(%file, "the database was deleted, and could not be saved into this file: {error}");
        }
    }
}

/// A free name beside the path for saving a deleted database.
fn free_name(path: &Path) -> PathBuf {
    let named = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 1 { "-rescued".to_owned() } else { format!("-rescued-{number}") });
        PathBuf::from(name)
    };
    (1..=u32::MAX).map(named).find(|name| !name.exists()).unwrap_or_else(|| named(1))
}
