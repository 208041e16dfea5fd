//! How the writer ends after an error that does not mend: what was committed is saved if its file is not
//! at its path any more.

use std::path::{Path, PathBuf};

use sqlx::{Connection as _, SqliteConnection};

use super::error::StoreError;
use super::identity::Fate;
use super::{Checkpointer, Writer, checkpoint};

impl Writer {
    /// Closes what can be closed. If the database is not at its path any more, what was committed is
    /// saved: into the file, where that has only another name, or into a new one beside the path, and
    /// that is logged.
    pub async fn abandon(self, checkpointer: Checkpointer) {
        let is_gone = self.files.check().is_err();
        let fate = is_gone.then(|| self.files.fate());
        let Self { path, mut connection, readers, lock, .. } = self;
        match fate {
            None => {}
            Some(Fate::Renamed(now)) => complete(&mut connection, &path, &now).await,
            Some(Fate::Deleted) => save(&mut connection, &free_name(&path)).await,
        }
        readers.close().await;
        // SQLite leaves the log of a file that has moved where it is.
        for closed in [checkpointer.close().await, connection.close().await.map_err(Into::into)] {
            if let Err(error) = closed {
                tracing::warn!("failed to close the database: {error}");
            }
        }
        drop(lock);
    }
}

/// Moves what is in the log into the file: the log has kept its name, and whoever moved the file may not
/// know of it.
async fn complete(connection: &mut SqliteConnection, path: &Path, now: &Path) {
    let file = now.display();
    match checkpoint::checkpoint(connection, path).await {
        Ok(done) if done.complete => tracing::error!(%file, "this file has everything now"),
        Ok(_) => tracing::error!(
            %file,
            "this file lacks the latest results: somebody who reads it keeps them from being moved into it"
        ),
        Err(error) => {
            tracing::error!(%file, "failed to move the latest results into this file: {error}")
        }
    }
}

/// Writes all that is in the database into a new file.
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

/// Where a deleted database is saved: beside its path.
fn free_name(path: &Path) -> PathBuf {
    let named = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(if number == 1 { "-rescued".to_owned() } else { format!("-rescued-{number}") });
        PathBuf::from(name)
    };
    (1..=u32::MAX).map(named).find(|name| !name.exists()).unwrap_or_else(|| named(1))
}
