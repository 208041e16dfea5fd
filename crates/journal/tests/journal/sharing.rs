//! Coordinators that share a database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use spelrum_journal::{JournalError, Member, fetch, share};
use spelrum_store::{Readers, StoreError, Writer};
use spelrum_test_support::PostgresServer;
use sqlx::Row as _;

use crate::server::{Database, introduce, names, owner};

#[tokio::test]
async fn an_owner_that_was_replaced_writes_no_more_and_follows() {
    let Some(database) = Database::create("").await else { return };
    let (mut first, mut second) = (database.join("first").await, database.join("second").await);
    let mut old = first.follow().await.unwrap();
    introduce(&mut old, "one").await.unwrap();
    assert_eq!(*second.owner().borrow(), None, "it has not looked yet");
    // The owner is alive: nobody takes over.
    let mut seen = second.owner();
    tokio::select! {
        taken = second.follow() => panic!("{taken:?}"),
        changed = seen.changed() => changed.unwrap(),
    }
    assert_eq!(*seen.borrow(), Some(owner("first")));
    assert_eq!(*first.owner().borrow(), Some(owner("first")));

    // As if it had been silent.
    database.run("UPDATE spelrum_owner SET released = true").await;
    let mut new = second.follow().await.unwrap();
    introduce(&mut new, "two").await.unwrap();
    let refused = introduce(&mut old, "lost").await;
    assert!(matches!(refused, Err(StoreError::TakenOver { .. })), "{refused:?}");
    assert!(introduce(&mut old, "lost").await.unwrap_err().is_final());
    old.close().await.unwrap();
    // What the old owner does not own, it does not release.
    first.release().await.unwrap();
    introduce(&mut new, "three").await.unwrap();
    assert_eq!(names(&new.readers()).await, ["one", "two", "three"]);
    new.close().await.unwrap();
    second.release().await.unwrap();

    let again = first.follow().await.unwrap();
    assert_eq!(names(&again.readers()).await, ["one", "two", "three"]);
    assert_eq!(*first.owner().borrow(), Some(owner("first")));
    let epochs = again.readers().query("SELECT count(*) FROM coordinators", 1).await.unwrap();
    assert_eq!(epochs.rows[0][0], spelrum_store::SqlValue::Integer(4), "one made the database");
}

#[tokio::test]
async fn two_that_race_for_an_empty_server_get_one_database() {
    let Some(database) = Database::create("").await else { return };
    let (mut first, mut second) = tokio::join!(database.join("first"), database.join("second"));
    let (writer, mut other) = tokio::select! {
        writer = first.follow() => (writer.unwrap(), second),
        writer = second.follow() => (writer.unwrap(), first),
    };
    let mut writer = writer;
    introduce(&mut writer, "one").await.unwrap();
    let uuid = writer.database_uuid().await.unwrap();
    drop(writer);
    database.run("UPDATE spelrum_owner SET released = true").await;
    let mut writer = other.follow().await.unwrap();
    assert_eq!(writer.database_uuid().await.unwrap(), uuid);
    assert_eq!(names(&writer.readers()).await, ["one"]);
}

/// Connections are cut while changes are appended: each is there once, whatever became of the answer.
#[tokio::test]
async fn lost_answers_neither_lose_nor_double_changes() {
    let Some(database) = Database::create("").await else { return };
    let mut member = database.join("copy").await;
    let mut writer = member.follow().await.unwrap();
    let mut killer = database.connect().await;
    let killing = tokio::spawn(async move {
        let sql = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
                AND query LIKE '%spelrum_changes%'";
        let mut killed = 0_i64;
        loop {
            tokio::time::sleep(Duration::from_millis(7)).await;
            killed += sqlx::raw_sql(sql).fetch_one(&mut killer).await.unwrap().get::<i64, _>(0);
            if killed >= 12 {
                return;
            }
        }
    });
    let mut expected = Vec::new();
    while !killing.is_finished() || expected.len() < 20 {
        let name = format!("worker {}", expected.len());
        introduce(&mut writer, &name).await.unwrap();
        expected.push(name);
    }
    killing.await.unwrap();
    assert_eq!(names(&writer.readers()).await, expected);
    let place = writer.place().number;
    assert_eq!(database.number("SELECT count(*) FROM spelrum_changes").await, place);
    assert_eq!(database.number("SELECT max(number) FROM spelrum_changes").await, place);
    let file = database.copy("plain.db");
    fetch(&database.address(), &file).await.unwrap();
    assert_eq!(names(&Readers::open(&file).await.unwrap()).await, expected);
    // It is a database of its own.
    let mut plain = Writer::open(&file).await.unwrap();
    assert_ne!(plain.database_uuid().await.unwrap(), writer.database_uuid().await.unwrap());
}

/// A connection that nothing comes from any more is given up.
#[tokio::test]
async fn stalled_connections_are_given_up() {
    let Some(database) = Database::create("").await else { return };
    let mut member = database.join("copy").await;
    let mut writer = member.follow().await.unwrap();
    introduce(&mut writer, "before").await.unwrap();
    let sql = "SELECT pid::bigint FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%spelrum%'";
    let backends: Vec<i64> = database.run(sql).await.iter().map(|row| row.get(0)).collect();
    let signal = |signal: Signal| {
        for backend in &backends {
            let backend = Pid::from_raw(i32::try_from(*backend).unwrap()).unwrap();
            kill_process(backend, signal).unwrap();
        }
    };
    let named: Vec<_> = backends.iter().map(ToString::to_string).collect();
    let at_work = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND pid IN ({})",
        named.join(", ")
    );
    // One that is stopped amid a statement keeps the row's lock: all others would wait for it.
    signal(Signal::STOP);
    while database.number(&at_work).await > 0 {
        signal(Signal::CONT);
        tokio::time::sleep(Duration::from_millis(20)).await;
        signal(Signal::STOP);
    }
    let appended = introduce(&mut writer, "meanwhile").await;
    signal(Signal::CONT);
    appended.unwrap();
    introduce(&mut writer, "after").await.unwrap();
    assert_eq!(names(&writer.readers()).await, ["before", "meanwhile", "after"]);
}

#[tokio::test]
async fn a_base_replaces_many_changes_and_is_fetched() {
    let Some(database) = Database::create("").await else { return };
    let mut member = database.join("copy").await;
    let mut writer = member.follow().await.unwrap();
    // Older changes, of which the latest 1,000 stay.
    let older = "INSERT INTO spelrum_changes SELECT number, 1, '' FROM generate_series(-3000, -1) AS number";
    database.run(older).await;
    for name in ["one", "two"] {
        introduce(&mut writer, name).await.unwrap();
    }
    writer.close().await.unwrap();
    member.release().await.unwrap();
    // As if that change were large: what is after its end is not read.
    let larger =
        "UPDATE spelrum_changes SET changes = changes || decode(repeat('00', 17000000), 'hex')
        WHERE number = 1";
    database.run(larger).await;
    let mut writer = member.follow().await.unwrap();
    let mut expected = vec!["one".to_owned(), "two".to_owned()];
    let began = Instant::now();
    let base = "SELECT base_number FROM spelrum_owner";
    while database.number(base).await == 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "the base is not replaced");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(
        database.number("SELECT count(DISTINCT upload) FROM spelrum_bases").await,
        2,
        "the one before it stays"
    );
    let kept = "SELECT count(*) - (SELECT last - 1 FROM spelrum_owner) FROM spelrum_changes WHERE number <> 0";
    while database.number(kept).await > 1_000 {
        assert!(began.elapsed() < Duration::from_secs(60), "needless changes are not deleted");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    introduce(&mut writer, "after").await.unwrap();
    expected.push("after".to_owned());
    writer.close().await.unwrap();
    member.release().await.unwrap();
    // Without the changes in the base, and with a damaged copy.
    database
        .run("DELETE FROM spelrum_changes WHERE number <= (SELECT base_number FROM spelrum_owner)")
        .await;
    let copy = database.copy("damaged");
    std::fs::copy(database.copy("copy"), &copy).unwrap();
    let mut bytes = std::fs::read(&copy).unwrap();
    bytes[4_096..40_960].fill(7);
    std::fs::write(&copy, bytes).unwrap();
    for name in ["fresh", "damaged"] {
        let mut other = database.join(name).await;
        let writer = other.follow().await.unwrap();
        assert!(names(&writer.readers()).await == expected, "{name}");
        writer.close().await.unwrap();
        other.release().await.unwrap();
    }
    assert!(database.copy("damaged-replaced").exists());
    let files = database.directory.path().read_dir().unwrap();
    let left: Vec<_> = files
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("-base") || name.contains("-upload"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

#[tokio::test]
async fn a_file_is_shared_and_stays() {
    let Some(database) = Database::create("").await else { return };
    let file = database.copy("file.db");
    let missing = share(&database.address(), &file).await;
    assert!(matches!(missing, Err(JournalError::Store(StoreError::MissingDatabase { .. }))));
    let mut writer = Writer::open(&file).await.unwrap();
    introduce(&mut writer, "one").await.unwrap();
    let held = share(&database.address(), &file).await;
    assert!(matches!(held, Err(JournalError::Store(StoreError::Held { .. }))), "{held:?}");
    writer.close().await.unwrap();
    // Parts are lost on the way: the base does not count.
    let lose =
        "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER lose BEFORE INSERT ON spelrum_bases FOR EACH ROW EXECUTE FUNCTION lose()";
    database.run(lose).await;
    let lost = share(&database.address(), &file).await;
    assert!(matches!(lost, Err(JournalError::Refused)), "{lost:?}");
    database.run("DROP TRIGGER lose ON spelrum_bases").await;
    share(&database.address(), &file).await.unwrap();
    let twice = share(&database.address(), &file).await;
    assert!(matches!(twice, Err(JournalError::InUse { .. })), "{twice:?}");

    let mut member = database.join("copy").await;
    let mut writer = member.follow().await.unwrap();
    introduce(&mut writer, "two").await.unwrap();
    assert_eq!(names(&writer.readers()).await, ["one", "two"]);
    assert_eq!(names(&Readers::open(&file).await.unwrap()).await, ["one"]);
    // A copy whose changes the journal has not is replaced, and kept.
    writer.close().await.unwrap();
    member.release().await.unwrap();
    database.run("DELETE FROM spelrum_changes; UPDATE spelrum_owner SET last = 0").await;
    let writer = member.follow().await.unwrap();
    assert_eq!(names(&writer.readers()).await, ["one"]);
    let kept = database.copy("copy-replaced");
    assert_eq!(names(&Readers::open(&kept).await.unwrap()).await, ["one", "two"]);
    // And so is the next one: what was kept stays.
    writer.close().await.unwrap();
    member.release().await.unwrap();
    database.run("DELETE FROM spelrum_changes; UPDATE spelrum_owner SET last = 0").await;
    let writer = member.follow().await.unwrap();
    assert_eq!(names(&writer.readers()).await, ["one"]);
    assert_eq!(names(&Readers::open(&kept).await.unwrap()).await, ["one", "two"]);
    assert!(database.copy("copy-replaced-2").exists());
}

/// A pooler gives each statement another connection.
#[tokio::test]
async fn a_pooler_in_transaction_mode_changes_nothing() {
    let Some(database) = Database::create("").await else { return };
    let Some((database, _pooler)) = database.through_pooler() else { return };
    let file = database.copy("file.db");
    Writer::open(&file).await.unwrap().close().await.unwrap();
    share(&database.address(), &file).await.unwrap();
    let (mut first, mut second) = (database.join("first").await, database.join("second").await);
    let mut expected = Vec::new();
    for turn in 0..4 {
        let (owner, other) =
            if turn % 2 == 0 { (&mut first, &mut second) } else { (&mut second, &mut first) };
        let mut writer = owner.follow().await.unwrap();
        let writing = async {
            for number in 0..40 {
                let name = format!("{turn} {number}");
                introduce(&mut writer, &name).await.unwrap();
                expected.push(name);
            }
        };
        tokio::select! {
            () = writing => {}
            taken = other.follow() => panic!("the owner is alive: {taken:?}"),
        }
        assert_eq!(names(&writer.readers()).await, expected);
        writer.close().await.unwrap();
        owner.release().await.unwrap();
    }
    let fetched = database.copy("fetched.db");
    fetch(&database.address(), &fetched).await.unwrap();
    assert_eq!(names(&Readers::open(&fetched).await.unwrap()).await, expected);
}

/// Terms grow, whatever the server's clock says.
#[tokio::test]
async fn a_clock_of_the_server_that_jumps_changes_nothing() {
    let Some(database) = Database::create("").await else { return };
    let clock = "SELECT at FROM public.clock";
    database.run("CREATE TABLE public.clock AS SELECT now() AS at").await;
    database.pretend("clock_timestamp() RETURNS timestamptz", clock).await;
    let (mut first, mut second) = (database.join("first").await, database.join("second").await);
    let (mut expected, mut terms) = (Vec::new(), Vec::new());
    for (year, owner) in [(2200, &mut first), (1960, &mut second)] {
        database.run(&format!("UPDATE public.clock SET at = '{year}-01-01'")).await;
        let mut writer = owner.follow().await.unwrap();
        for again in ["2300", "1950"] {
            database.run(&format!("UPDATE public.clock SET at = '{again}-01-01'")).await;
            let name = format!("{year} {again}");
            introduce(&mut writer, &name).await.unwrap();
            expected.push(name);
        }
        terms.push(writer.place().term);
        writer.close().await.unwrap();
        owner.release().await.unwrap();
    }
    assert_eq!(terms[1], terms[0] + 1);
    assert!(terms[0] > 7_000_000_000_000, "{terms:?} are not by the clock that was put in place");
    let writer = first.follow().await.unwrap();
    assert_eq!(names(&writer.readers()).await, expected);
}

/// While its beats are not taken, others may have taken the database over.
#[tokio::test]
async fn an_owner_that_cannot_show_that_it_is_alive_owns_nothing() {
    let Some(database) = Database::create("").await else { return };
    let mut member = database.join("copy").await;
    let writer = member.follow().await.unwrap();
    let mut seen = member.owner();
    assert_eq!(*seen.borrow_and_update(), Some(owner("copy")));
    let mut other = database.connect().await;
    let hold = "BEGIN; SELECT 1 FROM spelrum_owner FOR UPDATE";
    sqlx::raw_sql(hold).execute(&mut other).await.unwrap();
    seen.changed().await.unwrap();
    assert_eq!(*seen.borrow_and_update(), None);
    sqlx::raw_sql("ROLLBACK").execute(&mut other).await.unwrap();
    seen.changed().await.unwrap();
    assert_eq!(*seen.borrow_and_update(), Some(owner("copy")));
    writer.close().await.unwrap();
}

/// What is acknowledged is on the server's disk, whatever the role's setting.
#[tokio::test]
async fn writes_are_durable_whatever_the_role_says() {
    let Some(database) = Database::create("").await else { return };
    let name = &database.name;
    database.run(&format!("ALTER DATABASE {name} SET synchronous_commit = off")).await;
    let mut member = database.join("copy").await;
    // Fails where the setting is off.
    let check = "CREATE FUNCTION check_durable() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF current_setting('synchronous_commit') <> 'on' THEN RAISE division_by_zero; END IF;
            RETURN NULL;
        END $$;
        CREATE TRIGGER check_durable AFTER INSERT OR UPDATE ON spelrum_owner
            FOR EACH ROW EXECUTE FUNCTION check_durable();
        CREATE TRIGGER check_durable AFTER INSERT ON spelrum_changes
            FOR EACH ROW EXECUTE FUNCTION check_durable();";
    database.run(check).await;
    let mut writer = member.follow().await.unwrap();
    introduce(&mut writer, "one").await.unwrap();
    writer.close().await.unwrap();
    member.release().await.unwrap();
}

/// Reads the server's settings anew, until new connections have this one.
async fn reload(database: &Database, standbys: &str) {
    database.run("SELECT pg_reload_conf()").await;
    while database.run("SHOW synchronous_standby_names").await[0].get::<&str, _>(0) != standbys {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The server is lost, and its synchronous standby is promoted in its place.
#[tokio::test]
async fn a_promoted_standby_has_all_that_was_acknowledged() {
    let Some(primary) = PostgresServer::start() else { return };
    let standby = primary.standby();
    let directory = tempfile::tempdir().unwrap();
    let link = directory.path().join("server");
    std::os::unix::fs::symlink(primary.socket_directory(), &link).unwrap();
    let database = Database::on(&link, "postgres");
    database.run("ALTER SYSTEM SET synchronous_standby_names = '*'").await;
    reload(&database, "*").await;
    let mut member = database.join("copy").await;
    let mut writer = member.follow().await.unwrap();
    // Without the standby nothing is acknowledged, whatever the role's own timeout.
    database.run("ALTER ROLE spelrum SET statement_timeout = 200").await;
    database.run("ALTER SYSTEM SET synchronous_standby_names = 'missing'").await;
    reload(&database, "missing").await;
    let sent = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%spelrum%' AND pid <> pg_backend_pid()";
    database.run(sent).await;
    let acknowledged = AtomicBool::new(false);
    let appending = async {
        introduce(&mut writer, "before").await.unwrap();
        acknowledged.store(true, Ordering::Relaxed);
    };
    let returning = async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        // Somebody ends the wait: the server answers as if the standby had the change.
        let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity
            WHERE query LIKE '%INTO spelrum_changes%' AND pid <> pg_backend_pid()";
        database.run(cancel).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(!acknowledged.load(Ordering::Relaxed), "the standby is missing");
        database.run("ALTER SYSTEM SET synchronous_standby_names = '*'").await;
        reload(&database, "*").await;
    };
    tokio::join!(appending, returning);
    database.run("ALTER ROLE spelrum RESET statement_timeout").await;
    let at_standby = Database::on(standby.socket_directory(), "postgres");
    let (address, other) = (at_standby.address(), database.copy("other"));
    let refused = Member::join(&address, &other, owner("other")).await;
    assert!(matches!(refused, Err(JournalError::ReadOnly { .. })));
    // It can be read, once what it has received is applied.
    let place = writer.place().number;
    while at_standby.number("SELECT last FROM spelrum_owner").await < place {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let file = database.copy("of-standby.db");
    fetch(&address, &file).await.unwrap();
    assert_eq!(names(&Readers::open(&file).await.unwrap()).await, ["before"]);

    drop(primary);
    let promoting = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        at_standby.run("ALTER SYSTEM RESET synchronous_standby_names").await;
        at_standby.run("SELECT pg_promote()").await;
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(standby.socket_directory(), &link).unwrap();
    };
    let (appended, ()) = tokio::join!(introduce(&mut writer, "meanwhile"), promoting);
    appended.unwrap();
    introduce(&mut writer, "after").await.unwrap();
    drop(writer);
    let file = database.copy("plain.db");
    fetch(&database.address(), &file).await.unwrap();
    let readers = Readers::open(&file).await.unwrap();
    assert_eq!(names(&readers).await, ["before", "meanwhile", "after"]);
}
