//! Files that are cut, overwritten or exchanged while the database is open, and what a crash leaves behind. What
//! SQLite itself and other programs may do to them is no damage.

use std::fs::{self, OpenOptions};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use spelrum_model::PlayedGame;
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::{Readers, StoreError, Writer, accept_loss};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};

use crate::fixture::{Store, game};

fn beside(path: &Path, suffix: &str) -> PathBuf {
    format!("{}{suffix}", path.display()).into()
}

fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

fn cut(path: &Path, bytes: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

/// Bytes that no page, frame or header has.
fn overwrite(path: &Path, at: u64, bytes: usize) {
    let noise = vec![0xa5; bytes];
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(&noise, at).unwrap();
}

fn games(store: &Store, numbers: std::ops::Range<u64>) -> Vec<PlayedGame> {
    numbers.map(|number| game(store.cell(0), number, 6)).collect()
}

/// A database with some games, all but the first of which are in the log alone.
async fn with_games() -> Store {
    let mut store = Store::new().await;
    let first = games(&store, 0..1);
    store.store(&first).await;
    assert!(store.writer.checkpoint().await.unwrap().complete);
    for number in 1..10 {
        let one = games(&store, number..number + 1);
        store.store(&one).await;
    }
    store
}

/// Stores a game: from its first statement to its commit.
async fn store_one(store: &mut Store) -> Result<(), StoreError> {
    let game = games(store, 20..21);
    let worker = store.worker;
    let mut transaction = store.writer.begin().await?;
    transaction.store_games(&crate::fixture::of_worker(worker, &game)).await?;
    transaction.commit().await
}

#[track_caller]
fn assert_damaged(result: Result<(), StoreError>, words: &str) {
    let error = result.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }) && error.is_final(), "{error:?}");
    assert!(error.to_string().contains(words), "{error}");
    assert!(error.remedy().contains("keep a copy"), "{}", error.remedy());
}

/// What somebody does to the files, and what is said of it.
type Doing = (&'static str, fn(&Path), &'static str);

const DAMAGE: &[Doing] = &[
    ("the log is emptied", |path| cut(&log_of(path), 0), "-wal was cut or overwritten"),
    ("the log is cut to its header", |path| cut(&log_of(path), 32), "-wal was cut from"),
    (
        "the log loses a byte",
        |path| cut(&log_of(path), length(&log_of(path)) - 1),
        "-wal was cut from",
    ),
    (
        "the log's header is overwritten",
        |path| overwrite(&log_of(path), 8, 8),
        "-wal was cut or overwritten",
    ),
    (
        "the log's last page is overwritten with what is before it",
        |path| overwrite(&log_of(path), length(&log_of(path)) - 24 - 4096, 24),
        "-wal was overwritten where the last commit is",
    ),
    ("the database is cut to 8 KiB", |path| cut(path, 8_192), "was cut to 8192 bytes"),
    ("the database is emptied", |path| cut(path, 0), "was overwritten at its beginning"),
    ("the database loses its last page", |path| cut(path, length(path) - 4_096), "was cut to"),
    (
        "the database's header is overwritten",
        |path| overwrite(path, 0, 100),
        "overwritten at its beginning",
    ),
];

#[tokio::test]
async fn nothing_is_committed_into_damaged_files() {
    for (_, damage, words) in DAMAGE {
        let mut store = with_games().await;
        damage(&store.path());
        assert_damaged(store_one(&mut store).await, words);
        // For good: also if somebody makes them as long again.
        cut(&log_of(&store.path()), 1 << 20);
        assert_damaged(store_one(&mut store).await, words);
        assert_damaged(store.writer.check().await, words);
    }
}

/// Invariant 5: whoever is told that something is stored finds it at the path.
#[tokio::test]
async fn what_is_damaged_during_a_transaction_is_not_acknowledged() {
    for (what, damage, words) in DAMAGE {
        let mut store = with_games().await;
        let (path, worker) = (store.path(), store.worker);
        let game = games(&store, 20..21);
        let mut transaction = store.writer.begin().await.unwrap();
        transaction.store_games(&crate::fixture::of_worker(worker, &game)).await.unwrap();
        damage(&path);
        let error = transaction.commit().await.unwrap_err();
        assert!(error.is_damage(), "{what}: {error:?}");
        // A log that was cut has a hole by then.
        let is_cut = words.contains("-wal was cut from");
        assert!(is_cut || error.to_string().contains(words), "{error}");
    }
}

/// Nothing is copied from a log with holes into the database.
#[tokio::test]
async fn no_checkpoint_copies_a_damaged_log() {
    for (what, damage, words) in &DAMAGE[..5] {
        let mut store = with_games().await;
        let mut checkpointer = store.writer.checkpointer().await.unwrap();
        damage(&store.path());
        let before = fs::read(store.path()).unwrap();
        assert_damaged(checkpointer.run().await.map(drop), words);
        assert_damaged(store.writer.checkpoint().await.map(drop), words);
        // Nor when all is closed, and what is left of the log stays.
        let left = length(&log_of(&store.path()));
        let path = store.path();
        store.writer.abandon(checkpointer).await;
        assert!(fs::read(&path).unwrap() == before, "{what}");
        assert_eq!(length(&log_of(&path)), left, "{what}");
    }
}

/// Another log with all its sums right, written into the file of this one.
#[tokio::test]
async fn a_log_that_is_exchanged_in_place_is_noticed() {
    let other = with_games().await;
    let mut store = with_games().await;
    fs::write(log_of(&store.path()), fs::read(log_of(&other.path())).unwrap()).unwrap();
    assert_damaged(store_one(&mut store).await, "replaced by that of another database");
}

#[tokio::test]
async fn damage_that_anybody_reads_ends_the_writer() {
    let mut store = with_games().await;
    let mut checkpointer = store.writer.checkpointer().await.unwrap();
    assert!(store.writer.checkpoint().await.unwrap().complete);
    let pages = length(&store.path()) / 4_096;
    for page in 1..pages {
        overwrite(&store.path(), page * 4_096, 4_096);
    }
    // Nobody has met it yet.
    checkpointer.check().await.unwrap();
    let readers = Readers::clone(&store.writer.readers());
    let error = readers.query("SELECT count(*) FROM moves", 1).await.unwrap_err();
    assert!(error.is_damage(), "{error:?}");
    assert_damaged(store_one(&mut store).await, "malformed");
    assert!(store.writer.alarm().raised().await.is_final());
}

#[tokio::test]
async fn every_kind_of_reader_raises_the_alarm() {
    type Reading = fn(&Readers) -> std::pin::Pin<Box<dyn Future<Output = bool> + '_>>;
    let kinds: [(&str, Reading); 5] = [
        ("a user's query", |readers| {
            Box::pin(async { readers.query("SELECT * FROM games", 100).await.is_err() })
        }),
        ("a question for results", |readers| {
            Box::pin(async { readers.experiment("small").await.is_err() })
        }),
        ("the coordinator's own", |readers| Box::pin(async { readers.workers(10).await.is_err() })),
        ("a count", |readers| Box::pin(async { readers.recount().await.is_err() })),
        ("a backup", |readers| {
            Box::pin(async {
                let to = beside(readers.path(), "-copy");
                readers.back_up(&to, |_| ControlFlow::Continue(())).is_err()
            })
        }),
    ];
    for (what, meets_damage) in kinds {
        let mut store = with_games().await;
        assert!(store.writer.checkpoint().await.unwrap().complete);
        let readers = store.writer.readers();
        // Also its schema.
        overwrite(&store.path(), 100, length(&store.path()) as usize - 100);
        assert!(meets_damage(&readers).await, "{what}");
        assert_damaged(store.writer.check().await, "");
    }
}

/// What a user asks wrongly is no damage.
#[tokio::test]
async fn wrong_queries_raise_no_alarm() {
    let mut store = with_games().await;
    for wrong in [
        "SELECT * FROM no_table",
        "SELECT jsonb_extract(x'ff', '$')",
        "SELECT json('{')",
        "SELECT rtreecheck('games')",
        "ATTACH 'x' AS y",
    ] {
        let _refused = store.writer.readers().query(wrong, 10).await;
    }
    store_one(&mut store).await.unwrap();
}

/// Everything that SQLite does to the files in the course of things, with another program's help.
#[tokio::test]
async fn what_sqlite_does_itself_is_no_damage() {
    let mut store = Store::new().await;
    let mut checkpointer = store.writer.checkpointer().await.unwrap();
    let mut shell = SqliteConnectOptions::new().filename(store.path()).connect().await.unwrap();
    for round in 0..40 {
        let some = games(&store, round * 10..round * 10 + 10);
        store.store(&some).await;
        checkpointer.check().await.unwrap();
        match round % 8 {
            // The log begins anew with the next commit, and is cut then if it was long.
            0 => _ = store.writer.checkpoint().await.unwrap(),
            1 => _ = checkpointer.run().await.unwrap(),
            // Rolled back, with pages in the log already.
            2 => {
                let more = games(&store, 5_000..5_200);
                let mut transaction = store.writer.begin().await.unwrap();
                let worker = crate::fixture::of_worker(store.worker, &more);
                transaction.store_games(&worker).await.unwrap();
                drop(transaction);
            }
            3 => _ = shell.execute("PRAGMA wal_checkpoint(RESTART)").await.unwrap(),
            4 => _ = shell.execute("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap(),
            5 => _ = shell.execute("UPDATE databases SET uuid = uuid").await.unwrap(),
            6 => _ = shell.execute("VACUUM").await.unwrap(),
            _ => store.writer.begin().await.unwrap().commit().await.unwrap(),
        }
        checkpointer.check().await.unwrap();
    }
    shell.close().await.unwrap();
    checkpointer.close().await.unwrap();
    let path = store.path();
    store.assert_recount().await;
    store.writer.close().await.unwrap();
    let names: Vec<_> = fs::read_dir(store.directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, ["results.db"]);
    Readers::open(&path).await.unwrap();
}

/// What a killed process leaves of a database: these files, under another name.
fn crash(store: &Store, suffixes: &[&str]) -> PathBuf {
    let crashed = store.directory.path().join("crashed.db");
    for suffix in ["", "-wal", "-shm", "-lock"] {
        let _is_not_there = fs::remove_file(beside(&crashed, suffix));
    }
    for suffix in suffixes {
        fs::copy(beside(&store.path(), suffix), beside(&crashed, suffix)).unwrap();
    }
    crashed
}

async fn count_games(path: &Path) -> u64 {
    let readers = Readers::open(path).await.unwrap();
    let games = readers.games_settled().await.unwrap();
    readers.close().await;
    games
}

/// Neither who writes nor who reads opens it; nothing is changed by that.
async fn assert_lost(path: &Path, words: &str) {
    let log = fs::read(log_of(path)).ok();
    let errors =
        [Writer::open(path).await.unwrap_err(), Readers::open(path).await.map(drop).unwrap_err()];
    for error in errors {
        assert!(matches!(error, StoreError::LogLost { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.remedy().contains("--accept-loss"), "{}", error.remedy());
    }
    assert!(fs::read(log_of(path)).ok() == log);
}

#[tokio::test]
async fn a_crash_whose_log_is_gone_is_said_and_refused() {
    let store = with_games().await;
    let crashed = crash(&store, &["", "-lock"]);
    assert_lost(&crashed, "is missing or damaged: results stored since 20").await;
    fs::write(log_of(&crashed), "").unwrap();
    assert_lost(&crashed, "is missing or damaged").await;

    // Put back: all is there.
    fs::copy(log_of(&store.path()), log_of(&crashed)).unwrap();
    assert_eq!(count_games(&crashed).await, 10);
    Writer::open(&crashed).await.unwrap().close().await.unwrap();
    assert!(!beside(&crashed, "-lock").exists());

    // Given up: what is in the file is there.
    let crashed = crash(&store, &["", "-lock"]);
    let loss = accept_loss(&crashed).unwrap().unwrap();
    assert!(loss.problem.contains("is missing") && loss.put_aside.is_none(), "{loss:?}");
    assert_eq!(count_games(&crashed).await, 1);
    let writer = Writer::open(&crashed).await.unwrap();
    let held = accept_loss(&store.path()).unwrap_err();
    assert!(held.to_string().contains("has it open"), "{held}");
    writer.close().await.unwrap();
    assert_eq!(accept_loss(&crashed).unwrap(), None);
}

#[tokio::test]
async fn a_log_that_is_cut_after_a_crash_is_said_and_refused() {
    let store = with_games().await;
    let crashed = crash(&store, &["", "-wal", "-lock"]);
    cut(&log_of(&crashed), length(&log_of(&crashed)) - 1);
    assert_lost(&crashed, "was cut short").await;
    // What is left of it is applied by whoever wants that.
    let loss = accept_loss(&crashed).unwrap().unwrap();
    assert_eq!(loss.put_aside, None);
    assert_eq!(count_games(&crashed).await, 9);
}

/// The log of another database, and an older one of the same, with and without what a crash leaves.
#[tokio::test]
async fn a_log_of_another_file_is_not_applied() {
    let (store, other) = (with_games().await, with_games().await);
    let crashed = crash(&store, &["", "-lock"]);
    fs::copy(log_of(&other.path()), log_of(&crashed)).unwrap();
    assert_lost(&crashed, "is that of another database, or of another time").await;
    let loss = accept_loss(&crashed).unwrap().unwrap();
    let aside = loss.put_aside.unwrap();
    assert!(fs::read(&aside).unwrap() == fs::read(log_of(&other.path())).unwrap());
    assert_eq!(count_games(&crashed).await, 1);

    // Closed as it should: it has no log, and this is an older one.
    let older = fs::read(log_of(&store.path())).unwrap();
    let path = store.path();
    store.writer.close().await.unwrap();
    for _start in 0..2 {
        Writer::open(&path).await.unwrap().close().await.unwrap();
    }
    fs::write(log_of(&path), &older).unwrap();
    assert_lost(&path, "is that of another database, or of another time").await;
    fs::remove_file(log_of(&path)).unwrap();
    assert_eq!(count_games(&path).await, 10);
}

#[tokio::test]
async fn what_is_whole_is_opened_whatever_else_was_left() {
    let mut store = with_games().await;
    // Without what only this program leaves.
    let crashed = crash(&store, &["", "-wal"]);
    assert_eq!(count_games(&crashed).await, 10);
    Writer::open(&crashed).await.unwrap().close().await.unwrap();

    // Another program has opened it after the crash, and the log is in the file.
    let crashed = crash(&store, &["", "-wal", "-lock"]);
    let mut shell = SqliteConnectOptions::new().filename(&crashed).connect().await.unwrap();
    shell.execute("SELECT count(*) FROM games").await.unwrap();
    shell.close().await.unwrap();
    assert!(!log_of(&crashed).exists());
    assert_eq!(count_games(&crashed).await, 10);
    Writer::open(&crashed).await.unwrap().close().await.unwrap();

    // The log has begun anew since it was remembered.
    let crashed = crash(&store, &["", "-wal", "-lock"]);
    assert!(store.writer.checkpoint().await.unwrap().complete);
    store_one(&mut store).await.unwrap();
    for suffix in ["", "-wal"] {
        fs::copy(beside(&store.path(), suffix), beside(&crashed, suffix)).unwrap();
    }
    assert_eq!(count_games(&crashed).await, 11);
    Writer::open(&crashed).await.unwrap().close().await.unwrap();

    // A backup in the place of what has crashed.
    let crashed = crash(&store, &["-lock"]);
    let readers = store.writer.readers();
    readers.back_up(&crashed, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(count_games(&crashed).await, 11);
    fs::copy(log_of(&store.path()), log_of(&crashed)).unwrap();
    assert_lost(&crashed, "is that of another database").await;
    fs::remove_file(log_of(&crashed)).unwrap();
    let writer = Writer::open(&crashed).await.unwrap();
    // The file says at once that it is no copy any more, so that its log is known.
    fs::copy(&crashed, store.directory.path().join("again.db")).unwrap();
    fs::copy(beside(&crashed, "-lock"), store.directory.path().join("again.db-lock")).unwrap();
    drop(writer);
    let again = store.directory.path().join("again.db");
    assert_eq!(count_games(&again).await, 11);
}

#[tokio::test]
async fn a_start_looks_whether_the_file_is_sound() {
    let store = with_games().await;
    let path = store.path();
    store.writer.close().await.unwrap();
    for page in [3, 40] {
        let whole = fs::read(&path).unwrap();
        overwrite(&path, page * 4_096, 4_096);
        let error = Writer::open(&path).await.unwrap_err();
        assert!(error.is_damage(), "{error:?}");
        fs::write(&path, whole).unwrap();
    }
    cut(&path, length(&path) - 4_096);
    let error = Writer::open(&path).await.unwrap_err();
    assert!(error.is_damage(), "{error:?}");
}

/// What can be read of a damaged database is in the new file, past what cannot.
#[tokio::test]
async fn what_can_be_read_is_saved() {
    let mut store = Store::new().await;
    for round in 0..40 {
        let some = games(&store, round * 50..round * 50 + 50);
        store.store(&some).await;
    }
    assert!(store.writer.checkpoint().await.unwrap().complete);
    let checkpointer = store.writer.checkpointer().await.unwrap();
    // The last pages are of the tables that have most rows.
    let pages = length(&store.path()) / 4_096;
    for page in (pages - 60..pages - 20).step_by(4) {
        overwrite(&store.path(), page * 4_096, 4_096);
    }
    let path = store.path();
    let readers = store.writer.readers();
    assert!(readers.damage().await.is_ok_and(|damage| !damage.is_empty()));
    let _meets = readers.recount().await;
    let error = store.writer.check().await.unwrap_err();
    assert!(error.is_damage(), "{error:?}");
    let before = fs::read(&path).unwrap();
    store.writer.abandon(checkpointer).await;
    assert!(fs::read(&path).unwrap() == before);
    let saved = count_games(&beside(&path, "-rescued")).await;
    assert!(saved > 1_000, "{saved}");
    // It can be opened, whatever it lacks.
    let rescued = Readers::open(&beside(&path, "-rescued")).await.unwrap();
    assert_eq!(
        rescued.damage().await.unwrap().iter().filter(|damage| damage.contains("refers")).count(),
        0
    );
}
