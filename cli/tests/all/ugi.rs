//! Players that speak UGI: scripts that greet or answer otherwise.

use std::os::unix::fs::PermissionsExt as _;

use crate::sandbox::{Ran, Sandbox};

/// An engine for tic-tac-toe: it is greeted by its first word, and answers as its second says, or in the first empty
/// cell.
const SCRIPT: &str = r#"#!/bin/sh
while read -r line; do
    case "$line" in
        "$1") echo "id name Scripted"; echo "option name Hash type spin default 1 min 1 max 4"; echo "$1ok" ;;
        isready) echo readyok ;;
        "$1newgame") position="" ;;
        position*) position="$line" ;;
        go*wtime*|go*depth*|go*movetime*)
            if test -n "$2"; then echo "bestmove $2"; continue; fi
            for cell in a1 b1 c1 a2 b2 c2 a3 b3 c3; do
                case "$position" in *$cell*) ;; *) echo "bestmove $cell with pleasure"; break ;; esac
            done ;;
        quit) exit 0 ;;
    esac
done
"#;

fn run(sandbox: &Sandbox) -> Ran {
    let _gone = std::fs::remove_file(sandbox.path("match.db"));
    sandbox.run(&["run", "sweep.toml", "--db", "match.db", "--engines", "engines.toml"])
}

fn check(sandbox: &Sandbox, more: &[&str]) -> Ran {
    sandbox.run(&[&["engine", "check", "--engines", "engines.toml"], more].concat())
}

/// A sandbox with an engines file of scripts with these names, arguments and dialects.
fn scripts(engines: &[(&str, [&str; 2], &str)]) -> Sandbox {
    let sandbox = Sandbox::new();
    let path = sandbox.write("script.sh", SCRIPT);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let engines = engines.iter().map(|(name, arguments, more)| {
        format!(
            "[engines.{name}]\nprotocol = \"ugi\"\ncommand = \"./script.sh\"\nargs = {arguments:?}\n{more}\n\
             startup_timeout = \"3s\"\n"
        )
    });
    sandbox.write("engines.toml", &engines.collect::<String>());
    sandbox
}

fn sweep(players: &str) -> String {
    format!("name = \"match\"\ngame = \"tic-tac-toe\"\nseed = 5\ngames = 2\n{players}")
}

/// The engines file has the words of TEI for a program that knows no others.
#[test]
fn a_program_with_other_words_plays() {
    let tei = "ugi = { hello = \"tei\", position = \"tps\", clocks = [\"wtime\", \"btime\"] }";
    let sandbox = scripts(&[("tak", ["tei", ""], tei)]);
    sandbox.write(
        "sweep.toml",
        &sweep(
            "players.tak = { algorithm = \"ugi\", engine = \"tak\", clock = \"1m\" }\n\
             players.random = { algorithm = \"random\" }\n",
        ),
    );
    run(&sandbox).expect_exit(0);
    assert_eq!(sandbox.sql("match.db", "SELECT count(*) FROM games"), "2");
    assert_eq!(sandbox.sql("match.db", "SELECT count(*) FROM forfeited"), "0");
    let ran = check(&sandbox, &["--sweep", "sweep.toml"]);
    assert!(ran.expect_exit(0).stdout().contains("  plays     tic-tac-toe\n"), "{}", ran.stdout());
}

#[test]
fn an_answer_that_is_no_move_is_a_forfeit_with_a_reason() {
    let names = ["occupied", "foreign", "none", "resigns"];
    let answers = ["a1", "e2e4", "(none)", "resign"];
    let engines: Vec<_> =
        names.iter().zip(answers).map(|(name, answer)| (*name, ["ugi", answer], "")).collect();
    let sandbox = scripts(&engines);
    let players: String = names
        .iter()
        .map(|name| {
            format!("players.{name} = {{ algorithm = \"ugi\", engine = \"{name}\", depth = 1 }}\n")
        })
        .collect();
    let other =
        "pairing = { gauntlet = \"random\" }\nplayers.random = { algorithm = \"random\" }\n";
    sandbox.write("sweep.toml", &sweep(&format!("{other}{players}")));
    run(&sandbox).expect_exit(0);
    let forfeits = "SELECT group_concat(it, '; ') FROM (SELECT DISTINCT second_player_name || ' '
        || termination || ' ' || message AS it FROM games JOIN cells USING (cell_id)
        JOIN forfeits USING (game_id) ORDER BY 1)";
    let said = sandbox.sql("match.db", forfeits);
    for reason in [
        "foreign illegal_move foreign: an illegal move: `e2e4`",
        "none illegal_move none: no move: it said `(none)`",
        "occupied illegal_move occupied: an illegal move: `a1`",
        "resigns resignation resigns: no move: it said `resign`",
    ] {
        assert!(said.contains(reason), "{said}\n{reason}");
    }
    let ran = check(&sandbox, &["foreign", "--sweep", "sweep.toml"]);
    let verdict = ran.expect_exit(3).stdout().lines().last().unwrap();
    let expected = "foreign: it does not play tic-tac-toe over UGI as Spelrum writes it; in tic-tac-toe it answered \
                    `e2e4`, which is not legal; take another engine, ";
    assert!(verdict.starts_with(expected), "{verdict}");
}

#[test]
fn a_greeting_that_fails_is_told_in_a_sentence() {
    let sandbox = scripts(&[
        ("chess", ["uci", ""], ""),
        ("tak", ["tei", ""], ""),
        ("mute", ["hush", ""], "ugi.hello = \"usi\""),
    ]);
    let ran = check(&sandbox, &[]);
    let text = ran.expect_exit(3).stdout();
    for verdict in [
        "chess: it speaks UCI, and the engines file says UGI; write protocol = \"uci\" there if it plays chess; if it \
         plays another game, write ugi = { hello = \"uci\" }\n",
        "tak: it answers `tei`, and Spelrum greets it by `ugi`; write ugi = { hello = \"tei\" } in the engines file\n",
        "mute: it printed nothing: no `usiok` within ",
        " after `usi`; if it is greeted by another word, write such as ugi = { hello = \"tei\" }; ",
    ] {
        assert!(text.contains(verdict), "{text}\n{verdict}");
    }
}
