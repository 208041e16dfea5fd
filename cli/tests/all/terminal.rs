//! Colours and bars are for terminals; pipes and files get text, and as little of it as is useful.

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Command;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::sandbox::{Ran, Sandbox, tic_tac_toe};

const ESCAPE: char = '\u{1b}';

/// A sandbox with a played sweep.
fn played() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    sandbox
}

/// The program with nothing in its environment about colours but this.
fn command(sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = sandbox.spelrum(arguments);
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "COLORTERM"] {
        command.env_remove(name);
    }
    command.env("TERM", "xterm-256color").envs(variables.iter().copied());
    command
}

/// All that it writes to pipes.
fn in_a_pipe(sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let ran = Ran(command(sandbox, arguments, variables).output().unwrap());
    format!("{}{}", ran.stdout(), ran.stderr())
}

/// All that it writes to a terminal that is its standard output and error.
fn on_a_terminal(sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    at_a_terminal(command(sandbox, arguments, variables), None)
}

/// The same, with a line that is typed there.
fn at_a_terminal(mut command: Command, typed: Option<&str>) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = std::fs::File::options().read(true).write(true).open(name).unwrap();
    if typed.is_some() {
        command.stdin(OwnedFd::from(theirs.try_clone().unwrap()));
    }
    let mut child = {
        command.stdout(OwnedFd::from(theirs.try_clone().unwrap()));
        command.stderr(OwnedFd::from(theirs));
        let child = command.spawn().unwrap();
        // Only the child holds the other end from here on.
        drop(command);
        child
    };
    let mut written = Vec::new();
    let mut ours = std::fs::File::from(ours);
    ours.write_all(typed.unwrap_or_default().as_bytes()).unwrap();
    let mut bytes = [0; 4096];
    // The end of the child is an error here (EIO).
    while let Ok(length @ 1..) = ours.read(&mut bytes) {
        written.extend_from_slice(&bytes[..length]);
    }
    child.wait().unwrap();
    String::from_utf8(written).unwrap()
}

#[test]
fn cells_are_dropped_after_a_yes() {
    let sandbox = played();
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    let submit = ["submit", "sweep.toml", "--coordinator", url];
    sandbox.run(&submit).expect_exit(0);
    let sweep = tic_tac_toe("small", 4).replace("[1, 2]", "[2]");
    sandbox.write("sweep.toml", &sweep);
    for (db, games, arguments) in
        [("small.db", 4, &["run", "sweep.toml"][..]), ("c.db", 0, &submit)]
    {
        let cells = || sandbox.sql(db, "SELECT count(*) FROM cells WHERE in_sweep = 1");
        let typed = |more: &[&str], line: &str| {
            at_a_terminal(command(&sandbox, &[arguments, more].concat(), &[]), Some(line))
        };
        let question =
            format!("1 cell with {games} games would leave the reports. Continue? [y/N]");
        let said = typed(&[], "\n");
        assert!(said.contains(&question) && said.contains("nothing is changed"), "{said}");
        assert_eq!(cells(), "2", "{said}");
        let said = typed(&["--yes"], "");
        assert!(!said.contains("[y/N]"), "{said}");
        assert_eq!(cells(), "1", "{said}");
    }
    // Both ask again when the other cell goes instead.
    sandbox.write("sweep.toml", &sweep.replace("[2]", "[1, 3]"));
    let said = at_a_terminal(command(&sandbox, &submit, &[]), Some("y\n"));
    assert!(said.contains("changed small: 8 games in 2 cells"), "{said}");
}

/// A table with headings, and an error: what has colours on a terminal.
const COLOURED: [&[&str]; 3] =
    [&["report", "--db", "small.db"], &["report", "--db", "nowhere.db"], &["report", "--dbb", "x"]];

#[test]
fn a_terminal_has_colours_unless_told_otherwise() {
    let sandbox = played();
    for arguments in COLOURED {
        let shown = |more: &[&str], variables: &[(&str, &str)]| {
            on_a_terminal(&sandbox, &[more, arguments].concat(), variables).contains(ESCAPE)
        };
        assert!(shown(&[], &[]), "{arguments:?}");
        assert!(shown(&["--color", "auto"], &[]), "{arguments:?}");
        assert!(shown(&["--color=always"], &[("NO_COLOR", "1")]), "{arguments:?}");
        assert!(!shown(&["--color", "never"], &[]), "{arguments:?}");
        assert!(!shown(&[], &[("NO_COLOR", "1")]), "{arguments:?}");
        assert!(!shown(&[], &[("TERM", "dumb")]), "{arguments:?}");
    }
}

#[test]
fn a_pipe_has_no_colours_unless_told_otherwise() {
    let sandbox = played();
    for arguments in COLOURED {
        let shown = |more: &[&str], variables: &[(&str, &str)]| {
            in_a_pipe(&sandbox, &[more, arguments].concat(), variables).contains(ESCAPE)
        };
        assert!(!shown(&[], &[]), "{arguments:?}");
        assert!(!shown(&["--color=auto"], &[]), "{arguments:?}");
        assert!(shown(&["--color", "always"], &[]), "{arguments:?}");
        assert!(shown(&[], &[("CLICOLOR_FORCE", "1")]), "{arguments:?}");
        assert!(!shown(&["--color=never"], &[("CLICOLOR_FORCE", "1")]), "{arguments:?}");
    }
    // Also after the command.
    assert!(
        in_a_pipe(&sandbox, &["list", "--db", "small.db", "--color=always"], &[]).contains(ESCAPE)
    );
    let wrong = in_a_pipe(&sandbox, &["--color=sometimes", "list"], &[]);
    assert!(wrong.contains("auto, always, never"), "{wrong}");
}

#[test]
fn whatever_ends_in_a_pipe_is_plain() {
    let sandbox = played();
    sandbox.write("more.toml", &tic_tac_toe("more", 40));
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    let position = ["--position", "........."];
    let commands: Vec<Vec<&str>> = vec![
        vec!["--help"],
        vec!["run", "--help"],
        vec!["run", "more.toml"],
        vec!["report", "--db", "small.db", "--depths"],
        vec!["sql", "--db", "small.db", "SELECT 1 AS one"],
        vec!["list", "--db", "small.db"],
        vec!["submit", "more.toml", "--dry-run"],
        vec!["submit", "more.toml", "--coordinator", url],
        vec!["worker", "--coordinator", url, "--exit-when-done"],
        vec!["status", "--coordinator", url],
        vec!["watch", "--db", "small.db"],
        vec!["config"],
        [&["perft", "tic-tac-toe", "--depth", "2"], &position[..]].concat(),
        [&["solve", "tic-tac-toe"], &position[..]].concat(),
        [&["analyze", "tic-tac-toe", "--player", "minimax", "--depth", "2"], &position[..]]
            .concat(),
        vec!["run", "nowhere.toml"],
        vec!["nonsense"],
    ];
    for arguments in commands {
        let written = in_a_pipe(&sandbox, &arguments, &[]);
        let control = |character: &char| character.is_control() && *character != '\n';
        assert!(!written.is_empty(), "{arguments:?}");
        assert_eq!(written.chars().find(control), None, "{arguments:?}: {written:?}");
    }
}

/// Names and failures come from other people and machines: on a terminal nothing of them acts, in whatever form they are
/// written; a pipe gets data as it is.
#[test]
fn texts_of_others_do_not_act_on_a_terminal() {
    let sandbox = played();
    // What sets a window's title, clears the screen, reads back to front, and is not seen.
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}back\u{200b}\u{9b}1m";
    let db = rusqlite::Connection::open(sandbox.path("small.db")).unwrap();
    db.execute("UPDATE experiments SET name = 'small' || ?1", [hostile]).unwrap();
    drop(db);
    let failures = ["sql", "--db", "small.db", "SELECT name AS failure FROM experiments"];
    for more in [&["--csv"][..], &["--json"], &["--jsonl"], &["--format", "table"]] {
        let arguments = [&failures[..], more].concat();
        let written = on_a_terminal(&sandbox, &arguments, &[("NO_COLOR", "1")]);
        assert!(written.contains("owned"), "{more:?}: {written:?}");
        let acts = |character: char| {
            let is_line_end = matches!(character, '\n' | '\r');
            (character.is_control() && !is_line_end) || "\u{202e}\u{200b}".contains(character)
        };
        assert!(!written.contains(acts), "{more:?}: {written:?}");
    }
    let csv = in_a_pipe(&sandbox, &["sql", "--db", "small.db", "--csv", failures[3]], &[]);
    assert!(csv.contains(hostile), "{csv:?}");
    // Colours of ours are there, and nothing else acts.
    let nowhere = format!("nowhere{hostile}.db");
    for arguments in [
        &["list", "--db", "small.db"][..],
        &["status", "--db", "small.db"],
        &["report", "--db", "small.db"],
        &["games", "--db", "small.db"],
        &["games", "--db", "small.db", "--format", "jsonl"],
        &["report", "--db", "small.db", "--format", "markdown"],
        &["list", "--db", &nowhere],
    ] {
        let written = on_a_terminal(&sandbox, arguments, &[]);
        for acting in ["\u{1b}]", "\u{1b}[2J", "\u{7}", "\u{9b}", "\u{202e}", "\u{200b}"] {
            assert!(!written.contains(acting), "{arguments:?}: {written:?}");
        }
    }
    let list = in_a_pipe(&sandbox, &["list", "--db", "small.db"], &[]);
    assert!(list.contains("\\u{1b}]0;owned\\u{7}\\u{1b}[2J\\u{202e}back\\u{200b}"), "{list}");
}

#[test]
fn a_terminal_has_a_bar() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 2_000));
    let written = on_a_terminal(&sandbox, &["run", "sweep.toml"], &[]);
    assert!(written.contains("of 4,000 games"), "{written:?}");
    assert!(written.contains('\r'), "{written:?}");
    assert!(written.contains("4,000 of 4,000 games settled"), "{written:?}");
    // A terminal that cannot move its cursor gets lines.
    sandbox.write("dumb.toml", &tic_tac_toe("dumb", 2_000));
    let written = on_a_terminal(&sandbox, &["run", "dumb.toml"], &[("TERM", "dumb")]);
    assert!(!written.replace("\r\n", "\n").contains(['\r', ESCAPE]), "{written:?}");
}

#[test]
fn a_log_has_a_first_and_a_last_line() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 20));
    let ran = sandbox.run(&["run", "sweep.toml"]);
    ran.expect_exit(0);
    let lines: Vec<_> = ran.stderr().lines().collect();
    assert_eq!(lines[0], "playing small: 40 games in 2 cells, into small.db");
    assert!(lines[lines.len() - 1].starts_with("40 of 40 games settled"), "{lines:?}");
}

#[test]
fn quiet_silences_progress_but_not_errors() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 20));
    let ran = sandbox.run(&["run", "sweep.toml", "--quiet"]);
    ran.expect_exit(0);
    assert_eq!(ran.stderr(), "");
    assert!(ran.stdout().contains("Who is stronger"), "{}", ran.stdout());
    sandbox.write("more.toml", &tic_tac_toe("more", 2_000));
    let written = on_a_terminal(&sandbox, &["-q", "run", "more.toml", "--json"], &[]);
    assert!(written.starts_with('{'), "{written:?}");
    let failed = sandbox.run(&["-q", "run", "nowhere.toml"]);
    assert!(failed.expect_exit(3).stderr().starts_with("error: "), "{}", failed.stderr());

    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let worker = ["worker", "--coordinator", url, "--exit-when-done", "--quiet"];
    assert_eq!(sandbox.run(&worker).expect_exit(0).stderr(), "");
}
