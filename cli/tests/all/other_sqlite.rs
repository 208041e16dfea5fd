//! Results databases in other programs' SQLite, also in older releases of it: whole to its checks, and the same after
//! a dump and a restore.

use std::fs;
use std::process::{Command, Stdio};

use rusqlite::functions::FunctionFlags;
use serde_json::Value;
use spelrum_test_support::{Tools, skip};

use crate::sandbox::{Ran, Sandbox, root, tic_tac_toe};

/// Two experiments, one of which asks something of its workers.
fn played() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("plain.toml", &tic_tac_toe("plain", 40));
    let placed = format!("{}\n[placement]\nprefer = [\"site=lab\"]\n", tic_tac_toe("placed", 40));
    sandbox.write("placed.toml", &placed);
    for sweep in ["plain.toml", "placed.toml"] {
        sandbox.run(&["run", sweep, "--db", "played.db", "--quiet"]).expect_exit(0);
    }
    sandbox
}

fn output(command: &mut Command) -> Ran {
    Ran(command.stdin(Stdio::null()).output().unwrap())
}

/// Damages two pages in the middle of a database.
fn damage(sandbox: &Sandbox, database: &str) {
    let mut bytes = fs::read(sandbox.path(database)).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 8192].fill(0xa5);
    fs::write(sandbox.path(database), bytes).unwrap();
}

/// SQLite before 3.45 computes 0 for `json_valid(NULL)`, and newer ones NULL, which a CHECK accepts.
#[test]
fn sqlite_before_3_45_finds_databases_whole() {
    let sandbox = played();
    let connection = rusqlite::Connection::open(sandbox.path("played.db")).unwrap();
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    let older = |context: &rusqlite::functions::Context<'_>| {
        let text = context.get::<Option<String>>(0)?;
        Ok(text.is_some_and(|text| serde_json::from_str::<Value>(&text).is_ok()))
    };
    connection.create_scalar_function("json_valid", 1, flags, older).unwrap();
    let valid: bool =
        connection.query_row("SELECT json_valid(NULL)", [], |row| row.get(0)).unwrap();
    assert!(!valid);
    let said: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(said, "ok");
}

#[test]
fn the_sqlite3_shell_reads_dumps_and_restores() {
    let Some(tools) = Tools::find(&["sqlite3", "sh", "sed"]) else { return };
    let sandbox = played();
    let ask = |database: &str, question: &str| {
        let path = sandbox.path(database);
        let ran = output(tools.command("sqlite3").arg("-bail").arg(path).arg(question));
        ran.expect_exit(0).stdout().to_owned()
    };
    assert_eq!(ask("played.db", "PRAGMA integrity_check"), "ok\n");
    let views = ask("played.db", "SELECT name FROM sqlite_schema WHERE type = 'view'");
    for view in views.lines() {
        ask("played.db", &format!("SELECT count(*) FROM \"{view}\""));
    }
    fs::copy(sandbox.path("played.db"), sandbox.path("damaged.db")).unwrap();
    damage(&sandbox, "damaged.db");
    let checked = sandbox.run(&["check", "--db", "damaged.db"]);
    let help = checked.expect_exit(4).stdout();
    let advice = help.lines().map(str::trim).find(|line| line.contains("sqlite3 FILE")).unwrap();
    let page = fs::read_to_string(root().join("docs/operating.md")).unwrap();
    assert!(page.contains(advice), "{advice}");
    for (from, to) in [("played.db", "restored.db"), ("damaged.db", "rescued.db")] {
        let command = advice.replace("FILE", from).replace("NEW", to);
        let mut shell = tools.command("sh");
        output(shell.args(["-c", &command]).current_dir(sandbox.path("."))).expect_exit(0);
        let checked = sandbox.run(&["check", "--db", to, "--json"]);
        let checked: Value = serde_json::from_str(checked.stdout()).unwrap();
        assert_eq!(checked["damage"], Value::Array(Vec::new()), "{to}");
    }
    assert_eq!(ask("restored.db", ".dump"), ask("played.db", ".dump"));
    sandbox.run(&["check", "--db", "restored.db", "--deep"]).expect_exit(0);
    assert!(sandbox.settled("rescued.db") > 0);
}

const READER: &str = "
import sqlite3
played, restored = sqlite3.connect('played.db'), sqlite3.connect('restored.db')
print(*played.execute('PRAGMA integrity_check').fetchone())
for (view,) in played.execute(\"SELECT name FROM sqlite_schema WHERE type = 'view'\").fetchall():
    played.execute(f'SELECT count(*) FROM \"{view}\"').fetchone()
restored.executescript('\\n'.join(played.iterdump()))
print(list(restored.iterdump()) == list(played.iterdump()))
print(*restored.execute('SELECT count(*) FROM experiments').fetchone())
";

#[test]
fn python_reads_dumps_and_restores() {
    let Some(tools) = Tools::find(&["python3"]) else { return };
    if !output(tools.command("python3").args(["-c", "import sqlite3"])).0.status.success() {
        return skip("it needs a python3 with its module sqlite3");
    }
    let sandbox = played();
    let mut python = tools.command("python3");
    let ran = output(python.args(["-c", READER]).current_dir(sandbox.path(".")));
    assert_eq!(ran.expect_exit(0).stdout(), "ok\nTrue\n2\n");
}
