//! Opening the results database for writing: everything that cannot work is refused before any change, each with its
//! own error.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use sqlx::migrate::{Migrate as _, MigrateError};
use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _, SqliteConnection};

use crate::clock::unix_now_us;
use crate::error::{StoreError, code, primary_code};
use crate::open::checkpoint::checkpoint;
use crate::open::connection::{COPIED, TOUCHES, writing};
use crate::open::file_identity::refuse_links;
use crate::open::lock::Lock;
use crate::open::log_loss::examine;
use crate::schema::migrations::{APPLICATION_ID, MIGRATIONS};

/// A database open for writing, locked, migrated, with the epoch raised.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) connection: SqliteConnection,
    pub(crate) epoch: i64,
    pub(crate) lock: Lock,
}

/// Opens or creates the database. `follows` says that its place in a journal stays: otherwise it goes on apart from that
/// journal, of which it is a copy no longer.
pub(crate) async fn open(path: &Path, follows: bool) -> Result<Opened, StoreError> {
    let path = absolute(path)?;
    refuse_other_text(&path)?;
    refuse_network(&path)?;
    // Before touching the file: see the module `lock`.
    let mut lock = Lock::take(&path)?;
    let state = inspect(&path).await?;
    if state == State::Ours {
        examine(&path, lock.record())?;
    } else {
        // The record is of a database that no longer exists.
        let forgotten = lock.forget();
        forgotten.map_err(|source| StoreError::File { path: path.clone(), source })?;
    }
    match connect(&path, state, follows).await {
        Ok((connection, epoch)) => {
            lock.opened();
            Ok(Opened { path, connection, epoch, lock })
        }
        Err(error) => {
            if state == State::Missing {
                remove_unfinished(&path);
            }
            Err(error)
        }
    }
}

/// Locks an existing database, and refuses what cannot be written to; returns its path without symbolic links.
pub(crate) async fn take_existing(path: &Path) -> Result<(PathBuf, Lock), StoreError> {
    let path = absolute(path)?;
    refuse_other_text(&path)?;
    refuse_network(&path)?;
    let lock = Lock::take(&path)?;
    if inspect(&path).await? != State::Ours {
        return Err(StoreError::NotADatabase { path });
    }
    examine(&path, lock.record())?;
    Ok((path, lock))
}

/// The file at the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No file.
    Missing,
    /// An empty file, which SQLite takes for an empty database.
    Empty,
    /// A database of this project.
    Ours,
}

async fn connect(
    path: &Path,
    state: State,
    follows: bool,
) -> Result<(SqliteConnection, i64), StoreError> {
    let mut options = writing(path).create_if_missing(state == State::Missing);
    if state != State::Ours {
        // These must come before the first page is written; the id comes with that page, so a database whose creation
        // was interrupted is still recognized as ours.
        options = options
            .auto_vacuum(SqliteAutoVacuum::Incremental)
            .pragma("application_id", APPLICATION_ID.to_string());
    }
    let mut connection = options.connect().await.map_err(|error| describe(path, error))?;
    let made = async {
        migrate(path, &mut connection).await?;
        // Last: everything before is in the file itself when this changes its format.
        connection.execute("PRAGMA journal_mode = WAL").await?;
        look_quickly(path, &mut connection).await?;
        raise_epoch(path, &mut connection, follows).await
    };
    match made.await {
        Ok(epoch) => Ok((connection, epoch)),
        Err(error) => {
            // Report the first error.
            let _ = connection.close().await;
            Err(error)
        }
    }
}

async fn migrate(path: &Path, connection: &mut SqliteConnection) -> Result<(), StoreError> {
    refuse_other_history(path, connection).await?;
    // All migrations or none.
    let mut transaction = connection.begin().await?;
    adopt_views(&mut transaction).await?;
    MIGRATIONS.run(&mut *transaction).await.map_err(|error| not_migrated(path, error))?;
    Ok(transaction.commit().await?)
}

/// The SHA-384 of `0002_views.sql` before its columns had comments. Databases of builds of that time, and those that are
/// converted from older development builds, have the same views.
const VIEWS_WITHOUT_COMMENTS: &str = "6d04fbaeaddba447b986081803186640f4225cd62427179c6bbccb0ccf3b4cad\
    7f315c3c8112f33b2cb039ec789543d9";

/// Lets a database whose views have no comments pass as one of ours.
async fn adopt_views(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    for views in MIGRATIONS.iter().filter(|migration| migration.version == 2) {
        sqlx::query(
            "UPDATE _sqlx_migrations SET checksum = ?1 WHERE version = 2 AND lower(hex(checksum)) = ?2",
        )
        .bind(&*views.checksum)
        .bind(VIEWS_WITHOUT_COMMENTS)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

fn not_migrated(path: &Path, error: MigrateError) -> StoreError {
    let path = || path.to_owned();
    #[expect(clippy::wildcard_enum_match_arm, reason = "the others are mistakes in the migrations")]
    match error {
        MigrateError::VersionMissing(found) => StoreError::NewerSchema {
            path: path(),
            found,
            known: MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0),
        },
        MigrateError::VersionMismatch(number) | MigrateError::Dirty(number) => {
            StoreError::OtherSchema { path: path(), number }
        }
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
            describe(&path(), error)
        }
        other => StoreError::Sql(sqlx::Error::Migrate(Box::new(other))),
    }
}

/// Refuses a database whose first migration differs from ours, such as one of a development build before the first
/// release: its later migrations must not make it look newer.
async fn refuse_other_history(
    path: &Path,
    connection: &mut SqliteConnection,
) -> Result<(), StoreError> {
    let table = &MIGRATIONS.table_name;
    let failed = |error| not_migrated(path, error);
    connection.ensure_migrations_table(table).await.map_err(failed)?;
    let applied = connection.list_applied_migrations(table).await.map_err(failed)?;
    match (applied.first(), MIGRATIONS.iter().next()) {
        (Some(there), Some(ours)) if there.checksum != ours.checksum => {
            Err(StoreError::OtherSchema { path: path.to_owned(), number: there.version })
        }
        _ => Ok(()),
    }
}

async fn raise_epoch(
    path: &Path,
    connection: &mut SqliteConnection,
    follows: bool,
) -> Result<i64, StoreError> {
    let now = unix_now_us();
    let version = env!("CARGO_PKG_VERSION");
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let was_copy = begin_copy_anew(&mut transaction).await?;
    // These digests describe the closed file.
    sqlx::query!("DELETE FROM table_digests").execute(&mut *transaction).await?;
    if !follows {
        let apart =
            "UPDATE databases SET journal_number = 0, journal_term = 0 WHERE journal_number <> 0";
        transaction.execute(apart).await?;
    }
    let epoch = sqlx::query_scalar!(
        r#"INSERT INTO coordinators (coordinator_epoch, started_unix_us, version)
        SELECT coalesce(max(coordinator_epoch), 0) + 1, ?, ? FROM coordinators
        RETURNING coordinator_epoch AS "coordinator_epoch!""#,
        now,
        version
    )
    .fetch_one(&mut *transaction)
    .await?;
    // The first page's change counter then distinguishes this start's log from those of earlier starts: SQLite counts
    // when a connection first writes that page.
    for touch in TOUCHES {
        transaction.execute(touch).await?;
    }
    transaction.commit().await?;
    if was_copy {
        // Puts the change into the file itself: otherwise the log's record would seem to be another database's.
        checkpoint(connection, path).await?;
    }
    Ok(epoch)
}

/// Separates a copy from its original, which has moved on: leases and cells have the same ids in both, but differ.
/// Returns whether the database is a copy.
async fn begin_copy_anew(connection: &mut SqliteConnection) -> Result<bool, StoreError> {
    // The query macros cannot describe a pragma.
    let copied: i64 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await?;
    if copied != i64::from(COPIED) {
        return Ok(false);
    }
    sqlx::query!("UPDATE databases SET uuid = lower(hex(randomblob(16)))")
        .execute(&mut *connection)
        .await?;
    connection.execute("PRAGMA user_version = 0").await?;
    tracing::info!("the database is a copy: workers of the one that it is of begin anew");
    Ok(true)
}

/// Databases up to this size are read completely when opened (8 ms of a core, in a debug build).
const READ_WHOLE_BYTES_MAX: u64 = 4 << 20;

/// Checks the file in a time that does not grow with its size: SQLite has read its beginning and schema and compared
/// its length; this also reads the first and last row of each table. A small file is read completely.
async fn look_quickly(path: &Path, connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    if bytes <= READ_WHOLE_BYTES_MAX {
        // The query macros cannot describe a pragma.
        let found: String =
            sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut *connection).await?;
        return match found.as_str() {
            "ok" => Ok(()),
            _ => Err(StoreError::Damaged { path: path.to_owned(), problem: found }),
        };
    }
    look_at_ends(connection).await
}

/// Reads the first and the last row of each table.
pub(crate) async fn look_at_ends(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let tables: Vec<(String, bool)> = sqlx::query_as(
        "SELECT name, wr FROM pragma_table_list
        WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .fetch_all(&mut *connection)
    .await?;
    for (table, has_no_rowid) in tables {
        let mut key = vec!["rowid".to_owned()];
        if has_no_rowid {
            key = sqlx::query_scalar(
                "SELECT '\"' || name || '\"' FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk",
            )
            .bind(&table)
            .fetch_all(&mut *connection)
            .await?;
        }
        let table = table.replace('"', "\"\"");
        for order in [key.join(", "), key.join(" DESC, ") + " DESC"] {
            let end = format!("SELECT * FROM \"{table}\" ORDER BY {order} LIMIT 1");
            connection.execute(AssertSqlSafe(end)).await?;
        }
    }
    Ok(())
}

/// The path without symbolic links, its directory checked.
fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    let failed = |source| StoreError::File { path: path.to_owned(), source };
    match path.canonicalize() {
        Ok(path) => return Ok(path),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) if error.kind() == ErrorKind::NotADirectory => {}
        Err(error) => return Err(failed(error)),
    }
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    let missing =
        || StoreError::MissingDirectory { path: path.to_owned(), directory: directory.to_owned() };
    let name = path.file_name().ok_or_else(missing)?;
    let directory = directory.canonicalize().map_err(|_| missing())?;
    if !directory.is_dir() {
        return Err(missing());
    }
    Ok(directory.join(name))
}

/// Refuses a path that is not UTF-8 text, before anything is made beside it.
fn refuse_other_text(path: &Path) -> Result<(), StoreError> {
    match path.to_str() {
        Some(_) => Ok(()),
        None => Err(StoreError::NotUtf8 { path: path.to_owned() }),
    }
}

/// Inspects the file at the path without changing anything.
async fn inspect(path: &Path) -> Result<State, StoreError> {
    let read_only = |what: &Path| StoreError::ReadOnly { path: path.into(), what: what.into() };
    let failed = |source: std::io::Error| StoreError::File { path: path.to_owned(), source };
    // SQLite creates its own files beside the database.
    if let Some(directory) = path.parent()
        && cannot_be_written(directory)
    {
        return Err(read_only(directory));
    }
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(State::Missing),
        Err(error) => return Err(failed(error)),
    };
    if metadata.is_file() && cannot_be_written(path) {
        return Err(read_only(path));
    }
    refuse_links(path, &metadata)?;
    if metadata.is_file() && metadata.len() == 0 {
        return Ok(State::Empty);
    }
    require_ours(path).await?;
    Ok(State::Ours)
}

/// Whether a file or directory is read-only. Root can write to read-only files, but these are left alone all the same.
pub(crate) fn cannot_be_written(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().readonly())
        || access(path, Access::WRITE_OK).is_err()
}

/// The smallest database: one page of the smallest size.
const DATABASE_BYTES_MIN: u64 = 512;

/// Refuses a file that is not a database of this project.
///
/// SQLite reads the file: closing a handle of our own would release the locks that other connections of this process
/// have on it.
pub(crate) async fn require_ours(path: &Path) -> Result<(), StoreError> {
    refuse_other_text(path)?;
    let not_a_database = || StoreError::NotADatabase { path: path.to_owned() };
    let metadata = std::fs::metadata(path)
        .map_err(|source| StoreError::File { path: path.to_owned(), source })?;
    if !metadata.is_file() || metadata.len() < DATABASE_BYTES_MIN {
        return Err(not_a_database());
    }
    // An `immutable` database gets no locks and no files beside it, so another program's database stays unchanged. The
    // id is in the file itself from its first page on, never only in a log; but a checkpoint that is writing at this
    // moment can make the rest look damaged.
    let mut id = application_id(path, true).await;
    if id.as_ref().is_err_and(|error| primary_code(error) == Some(code::CORRUPT)) {
        id = application_id(path, false).await;
    }
    match id {
        Ok(id) if id == i64::from(APPLICATION_ID) => Ok(()),
        Ok(_) => Err(StoreError::OtherApplication { path: path.to_owned() }),
        Err(error) => Err(describe(path, error)),
    }
}

async fn application_id(path: &Path, immutable: bool) -> Result<i64, sqlx::Error> {
    let mut connection = SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .immutable(immutable)
        .disable_statement_logging()
        .connect()
        .await?;
    // The query macros cannot describe a pragma.
    let id = sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut connection).await;
    connection.close().await?;
    id
}

/// Removes the files of a failed creation; no database existed before.
fn remove_unfinished(path: &Path) {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        // A file that cannot be removed was never created, or stays for the next start to finish.
        let _ = std::fs::remove_file(file);
    }
}

/// Adds the path to SQLite's errors at opening.
pub(crate) fn describe(path: &Path, error: sqlx::Error) -> StoreError {
    if primary_code(&error) == Some(code::NOTADB) {
        return StoreError::NotADatabase { path: path.to_owned() };
    }
    error.into()
}

#[cfg(target_os = "linux")]
fn refuse_network(path: &Path) -> Result<(), StoreError> {
    let directory = path.parent().unwrap_or(path);
    let statistics = rustix::fs::statfs(directory)
        .map_err(|error| StoreError::File { path: directory.to_owned(), source: error.into() })?;
    // The type of `f_type` differs between architectures; the numbers fit into 32 bits.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "only the low 32 bits are the number"
    )]
    let number = statistics.f_type as u32;
    match network_file_system(number) {
        Some(kind) => Err(StoreError::NetworkFileSystem { path: path.to_owned(), kind }),
        None => Ok(()),
    }
}

/// Other systems have no numbers that identify network file systems.
#[cfg(not(target_os = "linux"))]
fn refuse_network(_path: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// The name of a network file system by its number in `statfs` (linux/magic.h and the file
/// systems' own headers).
#[cfg(any(target_os = "linux", test))]
fn network_file_system(number: u32) -> Option<&'static str> {
    Some(match number {
        0x0000_6969 => "NFS",
        0x0000_517b => "SMB",
        0xff53_4d42 => "CIFS",
        0xfe53_4d42 => "SMB2",
        0x5346_414f | 0x6b41_4653 => "AFS",
        0x0102_1997 => "9P",
        0x00c3_6400 => "Ceph",
        0x0bd0_0bd0 => "Lustre",
        0x4750_4653 => "GPFS",
        0x7375_7245 => "Coda",
        0x1983_0326 => "BeeGFS",
        0x0116_1970 => "GFS2",
        0x7461_636f => "OCFS2",
        0x0000_564c => "NCP",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known() {
        assert_eq!(network_file_system(0x6969), Some("NFS"));
        assert_eq!(network_file_system(0xff53_4d42), Some("CIFS"));
        // ext4, tmpfs, btrfs, xfs, overlayfs.
        for local in [0xef53, 0x0102_1994, 0x9123_683e, 0x5846_5342, 0x794c_7630] {
            assert_eq!(network_file_system(local), None);
        }
    }
}
