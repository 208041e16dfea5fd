//! Servers and databases that do not suit: one clear message each, with a remedy.

use std::io::ErrorKind;
use std::path::Path;

use spelrum_journal::{Address, JournalError, Member, fetch};
use spelrum_store::{StoreError, Writer};

use crate::server::{Database, introduce, owner};

async fn refusal(address: &str, copy: &Path) -> JournalError {
    let address = Address::parse(address).unwrap();
    Member::join(&address, copy, owner("me")).await.unwrap_err()
}

/// The message, and that the remedy has these words.
fn assert_says(error: &JournalError, message: &str, remedy: &str) {
    assert!(error.to_string().contains(message), "{error}");
    assert!(error.remedy().contains(remedy), "{}", error.remedy());
}

#[test]
fn addresses_are_parsed_and_hide_passwords() {
    let address = Address::parse("postgres://me:secret@host:77/db?sslmode=require").unwrap();
    assert_eq!(address.to_string(), "postgres://me@host:77/db");
    assert!(!format!("{address:?}").contains("secret"));
    for wrong in [
        "file.db",
        "postgres://me:secret@host:secret/db",
        "postgres://secret@[",
        "postgres://a,b/secret",
        "postgres://host/db?pasword=secret",
    ] {
        let error = Address::parse(wrong).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
        assert_says(&error, "address", "postgres://user@host:port/database");
    }
    assert!(Address::is_one("postgresql://host/") && !Address::is_one("postgres.db"));
}

#[test]
fn a_full_disk_is_waited_for() {
    let path = Path::new("copy").to_owned();
    let full = || ErrorKind::StorageFull.into();
    let full = [
        StoreError::Full.into(),
        StoreError::Busy.into(),
        StoreError::File { path: path.clone(), source: full() }.into(),
        JournalError::File { path: path.clone(), source: full() },
    ];
    assert!(full.iter().all(|error: &JournalError| !error.is_lasting()));
    let denied = ErrorKind::PermissionDenied.into();
    assert!(JournalError::File { path, source: denied }.is_lasting());
}

#[tokio::test]
async fn servers_that_cannot_be_used_are_named() {
    let copy = tempfile::tempdir().unwrap();
    let copy = copy.path().join("copy");
    let error = refusal("postgres://me:secret@127.0.0.1:1/db", &copy).await;
    assert_says(&error, "127.0.0.1:1", "check the host and the port");
    assert!(!format!("{error:?} {error}").contains("secret"));
    let Some(database) = Database::create("").await else { return };
    let error = refusal(&database.text("nobody_of_this_name"), &copy).await;
    assert_says(&error, "as nobody_of_this_name", "PGPASSWORD");
    let missing = Database { name: "missing".to_owned(), ..Database::on(&database.socket, "") };
    let error = refusal(&missing.text("spelrum"), &copy).await;
    assert_says(&error, "no database of this name", "createdb --host=");
    let Some(latin) = Database::create("ENCODING 'LATIN1' LOCALE 'C'").await else { return };
    assert_says(&refusal(&latin.text("spelrum"), &copy).await, "LATIN1, not UTF8", "createdb");
    let read_only = format!("ALTER DATABASE {} SET default_transaction_read_only = on", latin.name);
    let Some(standby) = Database::create("").await else { return };
    standby.run(&read_only.replace(&latin.name, &standby.name)).await;
    assert_says(&refusal(&standby.text("spelrum"), &copy).await, "read-only", "promote");
    let Some(old) = Database::create("").await else { return };
    old.pretend("current_setting(name text) RETURNS text", "SELECT CASE WHEN name = 'server_version_num' THEN '120022' ELSE pg_catalog.current_setting(name) END").await;
    assert_says(&refusal(&old.text("spelrum"), &copy).await, "its version is 12, and", "upgrade");
    assert!(!copy.exists());
}

#[tokio::test]
async fn missing_rights_are_named_and_few_suffice() {
    let Some(database) = Database::create("").await else { return };
    let copy = database.copy("copy");
    let role = format!("few_{}", database.name);
    database
        .run(&format!("CREATE ROLE {role} LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC"))
        .await;
    let error = refusal(&database.text(&role), &copy).await;
    assert_says(
        &error,
        "create tables",
        &format!("superuser, run: GRANT CREATE, USAGE ON SCHEMA public TO \"{role}\""),
    );
    // Somebody else makes the tables.
    drop(database.join("other").await);
    let error = refusal(&database.text(&role), &copy).await;
    assert_says(
        &error,
        "write to the journal",
        "GRANT DELETE, INSERT, SELECT, UPDATE ON public.spelrum_owner, ",
    );
    let grant = error.remedy();
    let (_, grant) = grant.split_once(": ").unwrap();
    database.run(grant).await;
    let address = Address::parse(&database.text(&role)).unwrap();
    let mut member = Member::join(&address, &copy, owner("me")).await.unwrap();
    let mut writer = member.follow().await.unwrap();
    introduce(&mut writer, "one").await.unwrap();
    // Whoever only reads needs no more than that.
    let reader = format!("reads_{}", database.name);
    database.run(&format!("CREATE ROLE {reader} LOGIN")).await;
    let address = Address::parse(&database.text(&reader)).unwrap();
    let file = database.copy("fetched");
    let error = fetch(&address, &file).await.unwrap_err();
    assert_says(&error, "read the journal", "GRANT SELECT ON public.spelrum_owner, ");
    let grant = error.remedy();
    database.run(grant.split_once(": ").unwrap().1).await;
    fetch(&address, &file).await.unwrap();
}

#[tokio::test]
async fn who_only_reads_creates_nothing() {
    let Some(database) = Database::create("").await else { return };
    let file = database.copy("fetched");
    let empty = fetch(&database.address(), &file).await.unwrap_err();
    assert_says(&empty, "none yet", "spelrum share");
    let tables = "SELECT 1 FROM pg_tables WHERE tablename = 'spelrum_owner'";
    assert_eq!(database.run(tables).await.len(), 0);
    assert!(!file.exists());
}

#[tokio::test]
async fn a_copy_of_a_lost_journal_is_named() {
    let Some(database) = Database::create("").await else { return };
    let mut member = database.join("copy").await;
    let mut writer = member.follow().await.unwrap();
    introduce(&mut writer, "one").await.unwrap();
    writer.close().await.unwrap();
    member.release().await.unwrap();
    database.run("DROP TABLE spelrum_owner, spelrum_changes, spelrum_bases").await;
    let copy = database.copy("copy");
    let error = refusal(&database.text("spelrum"), &copy).await;
    assert_says(&error, "is empty, and", "spelrum backup rescued.db --db");
    // While it follows.
    let error = member.follow().await.unwrap_err();
    assert_says(&error, "is a copy of an earlier one", "spelrum share rescued.db ADDRESS");
    assert!(copy.exists());
}

#[tokio::test]
async fn databases_of_something_else_are_left_alone() {
    let Some(database) = Database::create("").await else { return };
    database.run("CREATE TABLE spelrum_changes (number bigint, author text)").await;
    let copy = database.copy("copy");
    let error = refusal(&database.text("spelrum"), &copy).await;
    assert_says(&error, "its table spelrum_changes is not Spelrum's", "search_path");
    assert_eq!(
        database.run("SELECT 1 FROM pg_tables WHERE tablename = 'spelrum_owner'").await.len(),
        0
    );

    database.run("DROP TABLE spelrum_changes").await;
    let mut member = database.join("first").await;
    let empty = fetch(&database.address(), &database.copy("fetched")).await.unwrap_err();
    assert_says(&empty, "none yet", "spelrum share");
    // Somebody's database where the copy would be: with an empty journal, and with one of another database.
    Writer::open(&copy).await.unwrap().close().await.unwrap();
    let before = std::fs::read(&copy).unwrap();
    let error = refusal(&database.text("spelrum"), &copy).await;
    assert_says(&error, "not a copy of the database in the journal", "left as it is");
    member.follow().await.unwrap().close().await.unwrap();
    let error = refusal(&database.text("spelrum"), &copy).await;
    assert_says(&error, "not a copy of the database in the journal", "spelrum share");
    assert!(std::fs::read(&copy).unwrap() == before, "it is as it was");
    let taken = fetch(&database.address(), &copy).await.unwrap_err();
    assert_says(&taken, "already", "another file");

    let fresh = database.copy("fresh");
    database.run("UPDATE spelrum_owner SET schema = schema + 1").await;
    assert_says(&refusal(&database.text("spelrum"), &fresh).await, "its schema is", "upgrade");
    database
        .run("ALTER TABLE spelrum_owner ADD later int; UPDATE spelrum_owner SET format = 2")
        .await;
    assert_says(&refusal(&database.text("spelrum"), &fresh).await, "its format is 2", "upgrade");
}
