//! External engines in sweeps: ours over UCI as one of them, and scripts that misbehave.

use std::path::Path;

use insta::assert_snapshot;
use spelrum_test_support::Tools;

use crate::sandbox::{Process, Sandbox, Watched, wait_until};

const SPELRUM: &str = env!("CARGO_BIN_EXE_spelrum");

/// An engine that says what it should up to the moment in which it is to move.
const SCRIPT: &str = r#"#!/bin/sh
while read -r line; do
    case "$line" in
        uci)
            test "$1" = deaf && continue
            test "$1" = dies && { echo "fatal: no net" >&2; exit 3; }
            echo "id name Scripted $1"
            echo "id author Nobody"
            echo "option name Hash type spin default 16 min 1 max 64"
            echo "option name Threads type spin default 1 min 1 max 64"
            echo uciok ;;
        isready) echo readyok ;;
        go*)
            case "$1" in
                crash) echo "info string about to" ; kill -SEGV $$ ;;
                leaves) exit 0 ;;
                illegal) echo "bestmove e2e5" ;;
                none) echo "bestmove (none)" ;;
                garbage) echo "bestmove  "; echo "bestmove ------" ;;
                babbles) while :; do echo "info depth 1 score cp 3"; done ;;
                sleeps) sleep 600 ;;
                late) sleep 3; echo "bestmove e2e4" ;;
                slow) echo + >>"$2"; sleep 1; echo - >>"$2"; echo "bestmove (none)" ;;
            esac ;;
        quit) exit 0 ;;
    esac
done
"#;

/// A sandbox with a script, and an engines file: our own program as one, loud and quiet, and the script
/// with each of these words. `None`, and the test is skipped, where scripts lack what they use.
pub(crate) fn sandbox(words: &[&str]) -> Option<Sandbox> {
    let _tools = Tools::find(&["head", "sh", "sleep", "tr"])?;
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    let script = sandbox.write("script.sh", SCRIPT);
    let loud = format!(
        "#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' x\necho\necho 'log: ready'\nexec {SPELRUM} \"$@\"\n"
    );
    let loud = sandbox.write("loud.sh", &loud);
    for path in [&script, &loud] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let player = r#"args = ["engine", "uci", "--player", "alpha-beta", "--set", "preset=chess", "--set", "evaluation=material"]"#;
    let mut file = format!(
        "[engines.ours]\nprotocol = \"uci\"\ncommand = {SPELRUM:?}\n{player}\n\
         [engines.ours.options]\nshuffle = {{ values = [true, false] }}\n\
         [engines.loud]\nprotocol = \"uci\"\ncommand = \"./loud.sh\"\n{player}\n"
    );
    for word in words {
        // Those that answer have as long as any machine needs; the others are waited for in vain.
        let timeouts = match *word {
            "deaf" => "startup_timeout = \"3s\"\n",
            "babbles" | "sleeps" | "late" => {
                "startup_timeout = \"5m\"\nstop_timeout = \"500ms\"\nmove_timeout = \"1s\"\n"
            }
            _ => "startup_timeout = \"5m\"\nstop_timeout = \"5m\"\nmove_timeout = \"5m\"\n",
        };
        file.push_str(&format!(
            "[engines.{word}]\nprotocol = \"uci\"\ncommand = \"./script.sh\"\nargs = [{word:?}, {:?}]\n{timeouts}",
            mark(&sandbox)
        ));
    }
    sandbox.write("engines.toml", &file);
    Some(sandbox)
}

/// A word that the engines of this test have, and no others.
fn mark(sandbox: &Sandbox) -> String {
    sandbox.path("mark").display().to_string()
}

pub(crate) fn sweep(games: u32, players: &str) -> String {
    format!(
        "name = \"match\"\ngame = \"chess\"\nseed = 5\ngames = {games}\nmax_plies = 40\n\
         openings = {{ kind = \"random\", plies = 3 }}\n{players}"
    )
}

pub(crate) const RANDOM: &str = "[players.random]\nalgorithm = \"random\"\n";

pub(crate) fn external_player(name: &str, engine: &str, more: &str) -> String {
    format!("[players.{name}]\nalgorithm = \"uci\"\nengine = \"{engine}\"\n{more}\n")
}

pub(crate) fn run(sandbox: &Sandbox, more: &[&str]) -> crate::sandbox::Ran {
    let arguments = ["run", "sweep.toml", "--db", "match.db", "--engines", "engines.toml"];
    sandbox.run(&[&arguments[..], more].concat())
}

/// Whether no process is left that has this word among its own.
pub(crate) fn nobody_has(word: &str) -> bool {
    let processes = Path::new("/proc").read_dir().unwrap().filter_map(|entry| {
        // A process may end at any time.
        let words = std::fs::read(entry.ok()?.path().join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).into_owned();
        words.split('\0').any(|argument| argument.contains(word)).then_some(())
    });
    processes.count() == 0
}

/// A game whose engines think on several threads takes as many slots, so that no core has two of them.
#[test]
fn a_game_takes_a_slot_for_each_thread_of_its_engine() {
    let Some(sandbox) = sandbox(&["slow"]) else { return };
    let file = sandbox.path("engines.toml");
    let engines = std::fs::read_to_string(&file).unwrap();
    let log = sandbox.path("mark");
    for (set, options) in [
        ("set = { Threads = 2 }\n", ""),
        ("options.Threads = { min = 1, max = 4 }\n", "options = { Threads = 2 }"),
    ] {
        std::fs::write(&file, format!("{engines}{set}")).unwrap();
        let player = external_player("slow", "slow", &format!("depth = 1\n{options}"));
        let other = external_player("other", "ours", "depth = 1");
        sandbox.write("sweep.toml", &sweep(8, &format!("{player}{other}")));
        for file in [sandbox.path("match.db"), log.clone()] {
            let _gone = std::fs::remove_file(file);
        }
        run(&sandbox, &["--slots", "4"]);
        assert_eq!(
            sandbox.sql("match.db", "SELECT count(*) FROM games WHERE outcome IS NOT NULL"),
            "8"
        );
        // A line for each search that begins and ends.
        let searches = std::fs::read_to_string(&log).unwrap();
        let at_once = searches.lines().scan(0, |thinking, line| {
            *thinking += if line == "+" { 1 } else { -1 };
            Some(*thinking)
        });
        let at_once = at_once.max().unwrap();
        assert!(
            at_once <= 2,
            "{at_once} engines of two threads thought on four slots:\n{searches}"
        );
    }
}

/// Each way to lose a game by a fault has its termination, the games go on, and nobody is left behind.
#[test]
fn misbehaviour_is_a_forfeit_with_a_name() {
    let words = ["crash", "leaves", "illegal", "none", "garbage", "babbles", "sleeps", "late"];
    let Some(sandbox) = sandbox(&words) else { return };
    let limit = |word: &str| match word {
        // By nodes alone there is a cap on the wall.
        "babbles" => "nodes = 100",
        "sleeps" => "move_time = \"100ms\"\ndepth = 3",
        "late" => "clock = \"300ms+1ms\"\nmargin = \"100ms\"",
        _ => "depth = 2",
    };
    let players: String =
        words.iter().map(|word| external_player(word, word, limit(word))).collect();
    let pairing = "pairing = { gauntlet = \"random\" }\n";
    sandbox.write("sweep.toml", &sweep(2, &format!("{pairing}{RANDOM}{players}")));
    run(&sandbox, &["--slots", "4"]).expect_exit(0);
    let ran = sandbox.run(&[
        "sql",
        "--db",
        "match.db",
        "SELECT second_player_name AS engine, termination, count(*) AS games,
             sum((outcome = 'win') = (games.first_player_id = cells.first_player_id)) AS lost
         FROM games JOIN cells USING (cell_id) GROUP BY 1, 2 ORDER BY 1",
    ]);
    assert_snapshot!(ran.stdout(), @r#"
    engine   termination   games  lost
    ───────────────────────────────────
    babbles  stall             2     2
    crash    crash             2     2
    garbage  illegal_move      2     2
    illegal  illegal_move      2     2
    late     stall             2     2
    leaves   crash             2     2
    none     illegal_move      2     2
    sleeps   stall             2     2
    "#);
    wait_until("nobody is left", || nobody_has(&mark(&sandbox)));
}

/// Megabytes before the first word, and prints in between, cost nothing.
#[test]
fn noise_costs_nothing() {
    let Some(sandbox) = sandbox(&[]) else { return };
    sandbox.write(
        "sweep.toml",
        &sweep(2, &format!("{RANDOM}{}", external_player("loud", "loud", "depth = 1"))),
    );
    run(&sandbox, &["--engine-logs", "logs"]).expect_exit(0);
    let logs = std::fs::read_dir(sandbox.path("logs")).unwrap();
    let logs: Vec<_> =
        logs.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    assert!(logs.iter().any(|log| log.contains(" < bestmove ") && log.contains(" > go depth 1")));
    let forfeits = "SELECT count(*) FROM games WHERE termination IN
        ('crash', 'illegal_move', 'time_forfeit', 'stall')";
    assert_eq!(sandbox.sql("match.db", forfeits), "0");
    assert_eq!(sandbox.sql("match.db", "SELECT count(*) FROM games"), "2");
}

/// Where a sweep says that an engine plays the same again, it is looked at: one that does passes, and one
/// that plays by the number of its games does not.
#[test]
fn what_is_said_to_be_reproducible_is_played_twice() {
    let Some(sandbox) = sandbox(&[]) else { return };
    let steady = external_player("ours", "ours", "depth = 1\nreproducible = true");
    sandbox.write("sweep.toml", &sweep(28, &format!("{steady}{RANDOM}")));
    run(&sandbox, &["--slots", "2"]).expect_exit(0);
    let ends = "SELECT count(*) || '/' || count(outcome) FROM games";
    assert_eq!(sandbox.sql("match.db", ends), "28/28");

    let script = "#!/bin/sh\nmv=d2d4\nwhile read -r line; do case \"$line\" in\n\
        uci) echo uciok ;;\nisready) echo readyok ;;\nquit) exit 0 ;;\n\
        ucinewgame) if test $mv = e2e4; then mv=d2d4; else mv=e2e4; fi ;;\n\
        go*) echo \"bestmove $mv\" ;;\nesac; done\n";
    std::fs::write(sandbox.path("loud.sh"), script).unwrap();
    let fickle = external_player("fickle", "loud", "depth = 1\nreproducible = true");
    let sweep = sweep(2, &format!("{fickle}{RANDOM}")).replace("max_plies = 40", "max_plies = 1");
    let sweep = sweep.replace("{ kind = \"random\", plies = 3 }", "\"start\"");
    sandbox.write("sweep.toml", &sweep.replace("\"match\"", "\"fickle\""));
    run(&sandbox, &["--slots", "1"]).expect_exit(7);
    let failure = sandbox.sql("match.db", "SELECT failure FROM games WHERE failure IS NOT NULL");
    assert!(failure.contains("played again it was another game: at ply 0"), "{failure}");
}

/// What a sweep would cost is told without asking programs that are not here.
#[test]
fn costs_are_told_without_engines() {
    let sandbox = Sandbox::new();
    let player = external_player("it", "x", "depth = 1\noptions = { Hash = 128, Threads = 4 }");
    sandbox.write("sweep.toml", &sweep(4, &format!("{RANDOM}{player}")));
    let ran = sandbox.run(&["run", "sweep.toml", "--dry-run"]);
    let said = ran.expect_exit(0).stdout();
    assert!(said.contains("games of external engines are not timed here"), "{said}");
    assert!(
        said.contains("takes up to 130.0 MiB of memory plus the engines' defaults, and 4 slots"),
        "{said}"
    );
    // What the engines file sets counts likewise.
    let player = external_player("it", "x", "depth = 1\noptions = { Hash = 128 }");
    sandbox.write("sweep.toml", &sweep(4, &format!("{RANDOM}{player}")));
    let more = "[engines.x]\nprotocol = \"uci\"\ncommand = \"/none\"\nset = { Threads = 2 }\n";
    sandbox.write("more.toml", more);
    let ran = sandbox.run(&["run", "sweep.toml", "--dry-run", "--engines", "more.toml"]);
    let said = ran.expect_exit(0).stdout();
    assert!(
        said.contains("takes up to 130.0 MiB of memory plus the engines' defaults, and 2 slots"),
        "{said}"
    );
    let warned = "warning: there is no program /none for the engine x";
    assert!(ran.stderr().contains(warned), "{}", ran.stderr());
}

/// What cannot be played is said before anything is played, with what to do about it.
#[test]
fn what_cannot_be_played_is_said_first() {
    let Some(sandbox) = sandbox(&["deaf", "dies"]) else { return };
    let engines = std::fs::read_to_string(sandbox.path("engines.toml")).unwrap();
    let more = "[engines.missing]\nprotocol = \"uci\"\ncommand = \"/no/such/engine\"\n\
                [engines.text]\nprotocol = \"uci\"\ncommand = \"./engines.toml\"\n\
                [engines.one]\nprotocol = \"uci\"\ncommand = \"./script.sh\"\nat_once = 1\n";
    sandbox.write("engines.toml", &format!("{engines}{more}"));
    let failure = |player: &str| {
        sandbox.write("sweep.toml", &sweep(2, &format!("{RANDOM}{player}")));
        let directory = sandbox.path("");
        let failure = run(&sandbox, &["--new"]).failure();
        let directory = directory.to_str().unwrap();
        let failure = failure.replace(directory, "DIRECTORY/");
        let failure = failure.replace(directory.trim_end_matches('/'), "DIRECTORY");
        // The build depends on the program.
        let mut parts = failure.split(", build ");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + ", build BUILD" + &part[8..])
    };
    let player_on = |engine: &str| external_player("it", engine, "depth = 1");
    let failures: Vec<_> = [
        player_on("missing"),
        player_on("text"),
        player_on("deaf"),
        player_on("dies"),
        player_on("nowhere"),
        external_player("it", "ours", "depth = 1\noptions = { EvalFile = \"/etc/passwd\" }"),
        external_player("it", "ours", "depth = 1\noptions = { Hash = 100000 }"),
        external_player("it", "ours", "depth = 1\noptions = { Threads = 4 }"),
        external_player("it", "ours", "depth = 1\nversion = \"99\""),
        format!("{}{}", player_on("one"), external_player("other", "one", "depth = 2")),
    ]
    .iter()
    .map(|player| failure(player))
    .collect();
    assert_snapshot!(failures.join("\n"), @r#"
    exit code 3
    error: failed to start the engine missing: there is no program /no/such/engine
    help: install it, or write its path as `command` in the engines file; `spelrum engine check missing --engines FILE` tries more

    exit code 3
    error: failed to start the engine text: DIRECTORY/./engines.toml is not executable by this user
    help: make it so: chmod +x DIRECTORY/./engines.toml; `spelrum engine check text --engines FILE` tries more

    exit code 3
    error: failed to start the engine deaf: it printed nothing: no `uciok` within 3 s after `uci`
    help: if it needs arguments, write them as `args`; run it by hand in DIRECTORY and type `uci`: DIRECTORY/./script.sh deaf DIRECTORY/mark; `spelrum engine check deaf --engines FILE` tries more

    exit code 3
    error: failed to start the engine dies: its network file is missing: `fatal: no net`
    help: put the file into DIRECTORY, or name it in the engines file: set = { EvalFile = "…" }; `spelrum engine check dies --engines FILE` tries more

    exit code 3
    error: failed to set up the engines of match: the sweep needs the engine nowhere (uci), and the engines file has deaf, dies, loud, missing, one, ours, text
    help: add it to the file, or write one of those names in the sweep

    exit code 3
    error: failed to set up the engines of match: player `it`: engine `ours` does not allow `options.EvalFile`, only `Hash`, `Threads`, `MultiPV`, `shuffle`
    help: remove it from the sweep, or allow it under the engine's `options` in the engines file

    exit code 3
    error: failed to set up the engines of match: player `it`: engine `ours` does not allow `options.Hash = 100000`
    help: set it to a whole number from 1 to 1024, or allow more in the engines file: `options.Hash = { min = 1, max = 100000 }`

    exit code 3
    error: failed to set up the engines of match: player `it`: engine `ours` does not allow `options.Threads = 4`
    help: set it to 1, or allow more in the engines file: `options.Threads = { min = 1, max = 4 }`

    exit code 3
    error: failed to play match here: a cell needs ours (uci), version "99", build BUILD; here ours is Spelrum 0.1.0 alpha-beta, 4096 at once
    help: change what the sweep demands, `at_once` in the engines file, or the program

    exit code 3
    error: failed to play match here: a cell needs one (uci), build BUILD and one (uci), build BUILD; here one is Scripted, 1 at once
    help: change what the sweep demands, `at_once` in the engines file, or the program
    "#);
    sandbox.write(
        "sweep.toml",
        &sweep(
            2,
            &format!(
                "{RANDOM}{}",
                external_player("it", "ours", "depth = 1\noptions = { Threads = 4 }")
            ),
        ),
    );
    let dry = sandbox.run(&["submit", "sweep.toml", "--dry-run", "--engines", "engines.toml"]);
    let refused = dry.failure();
    assert!(!refused.contains("to play ") && refused.contains("player `it`"), "{refused}");
    sandbox.write("sweep.toml", &sweep(2, &format!("{RANDOM}{}", player_on("one"))));
    let none = sandbox.run(&["run", "sweep.toml", "--db", "other.db"]);
    assert_snapshot!(none.failure(), @r#"
    exit code 3
    error: failed to set up the engines of match: the sweep needs the external engine one (uci)
    help: say what it is on this machine in an engines file, and name that: --engines FILE; docs/engines.md has an example
    "#);
    // A dry run promises nothing that `run` refuses.
    let player = external_player("it", "ours", "depth = 1\noptions = { Hash = 100000 }");
    sandbox.write("sweep.toml", &sweep(2, &format!("{RANDOM}{player}")));
    let dry = run(&sandbox, &["--dry-run"]).failure();
    assert_eq!(dry, run(&sandbox, &["--new"]).failure());
    assert!(dry.contains("engine `ours` does not allow `options.Hash = 100000`"), "{dry}");
}

/// A sweep says what is wrong with a player of others, with its place.
#[test]
fn sweeps_are_checked() {
    let sandbox = Sandbox::new();
    let failure = |game: &str, player: &str| {
        let sweep = sweep(2, &format!("{RANDOM}[players.it]\nalgorithm = \"uci\"\n{player}"));
        sandbox.write("sweep.toml", &sweep.replace("chess", game));
        sandbox.run(&["run", "sweep.toml", "--dry-run"]).failure()
    };
    let failures: Vec<_> = [
        ("chess", "depth = 1"),
        ("chess", "engine = \"x\""),
        ("tic-tac-toe", "engine = \"x\"\ndepth = 1"),
        ("chess", "engine = \"x\"\nclock = \"10x\""),
        ("chess", "engine = \"x\"\nclock = \"10s\"\nreproducible = true"),
        ("chess", "engine = \"x\"\ndepth = 1\noptions = { A = [1] }"),
        ("chess", "engine = \"x\"\ndepth = 1\nsha256 = \"abc\""),
        ("chess", "engine = \"x\"\ndepth = 1\nmargin = \"unlimited\""),
    ]
    .iter()
    .map(|(game, player)| failure(game, player))
    .collect();
    assert_snapshot!(failures.join("\n"), @r#"
    exit code 3
    error: failed to read the sweep sweep.toml
      × player `it`: `engine` is missing
        ╭─[sweep.toml:9:10]
      8 │ algorithm = "random"
      9 │ [players.it]
        ·          ─┬
        ·           ╰── here
     10 │ algorithm = "uci"
        ╰────
      help: write a text of at most 64 bytes

    exit code 3
    error: failed to read the sweep sweep.toml
      × player `it`: nothing bounds the moves of `x`
        ╭─[sweep.toml:9:10]
      8 │ algorithm = "random"
      9 │ [players.it]
        ·          ─┬
        ·           ╰── here
     10 │ algorithm = "uci"
        ╰────
      help: give at least one of `depth`, `nodes`, `move_time`, `clock`

    exit code 3
    error: failed to read the sweep sweep.toml
      × player `it`: programs that speak uci do not play tic-tac-toe
        ╭─[sweep.toml:10:13]
      9 │ [players.it]
     10 │ algorithm = "uci"
        ·             ──┬──
        ·               ╰── here
     11 │ engine = "x"
        ╰────
      help: write algorithm = "lines" or "ugi"

    exit code 3
    error: failed to read the sweep sweep.toml
      × player `it`: `clock` cannot be "10x"
        ╭─[sweep.toml:12:9]
     11 │ engine = "x"
     12 │ clock = "10x"
        ·         ──┬──
        ·           ╰── here
        ╰────
      help: write a clock such as "10s", "10s+100ms" or "40/60s"

    exit code 3
    error: failed to read the sweep sweep.toml
      × player `it`: games limited by time are not reproducible
        ╭─[sweep.toml:13:16]
     12 │ clock = "10s"
     13 │ reproducible = true
        ·                ──┬─
        ·                  ╰── here
        ╰────
      help: bound the player by `depth` or `nodes` alone, or leave out `reproducible`

    exit code 3
    error: failed to read the sweep sweep.toml
      × player `it`: the option `A` cannot be [1]
        ╭─[sweep.toml:13:11]
     12 │ depth = 1
     13 │ options = { A = [1] }
        ·           ─────┬─────
        ·                ╰── here
        ╰────
      help: write true or false, a whole number, or a text

    exit code 3
    error: failed to read the sweep sweep.toml
      × player `it`: `sha256` cannot be "abc"
        ╭─[sweep.toml:13:10]
     12 │ depth = 1
     13 │ sha256 = "abc"
        ·          ──┬──
        ·            ╰── here
        ╰────
      help: write a SHA-256 as 64 hexadecimal digits in lower case

    exit code 3
    error: failed to read the sweep sweep.toml
      × player `it`: an unlimited margin would let any move be late
        ╭─[sweep.toml:13:10]
     12 │ depth = 1
     13 │ margin = "unlimited"
        ·          ─────┬─────
        ·               ╰── here
        ╰────
      help: write a time, such as "50ms"
    "#);
}

/// Killed again and again, a match with engines ends with exactly its games, and none is left behind.
#[test]
fn a_killed_run_leaves_no_engine_and_loses_nothing() {
    let Some(sandbox) = sandbox(&[]) else { return };
    let engines = std::fs::read_to_string(sandbox.path("engines.toml")).unwrap();
    // A word of the engines' own, which nobody else has.
    let engines = engines.replace(
        "\"engine\", \"uci\"",
        &format!("\"engine\", \"uci\", \"--seed\", \"{}\"", 77_001),
    );
    sandbox.write("engines.toml", &engines);
    let players = format!("{RANDOM}{}", external_player("ours", "ours", "depth = 4"));
    sandbox.write("sweep.toml", &sweep(300, &players));
    let arguments =
        ["run", "sweep.toml", "--db", "match.db", "--engines", "engines.toml", "--slots", "2"];
    for part in 1..=3 {
        let mut run = Watched::start(&sandbox, &arguments);
        run.read_until("games in 1 cell");
        wait_until("games are settled", || {
            sandbox.sql("match.db", "SELECT count(*) FROM games").parse::<u32>().unwrap()
                >= 20 * part
        });
        run.process.kill();
        wait_until("the engines have gone", || nobody_has("77001"));
    }
    sandbox.run(&arguments).expect_exit(0);
    let games = "SELECT count(*) || '/' || count(DISTINCT number) || '/' || max(number) FROM games";
    assert_eq!(sandbox.sql("match.db", games), "300/300/299");
    wait_until("the engines have gone", || nobody_has("77001"));
}

/// A coordinator hands such games to whoever has the engines, and to nobody else; a second signal ends a
/// worker with all that it started.
#[test]
fn workers_get_what_they_can_play() {
    let Some(sandbox) = sandbox(&["sleeps"]) else { return };
    let players = format!(
        "pairing = {{ gauntlet = \"random\" }}\n{RANDOM}{}{}",
        external_player("ours", "ours", "depth = 1"),
        external_player("sleeps", "sleeps", "depth = 1"),
    );
    sandbox.write("sweep.toml", &sweep(4, &players).replace("max_plies = 40", "max_plies = 10"));
    let coordinator = sandbox.coordinator_with("c.db", "127.0.0.1:0", "500ms");
    let url = &coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let _without = sandbox.worker(url, "2", &["--name", "without"]);
    let only = "[engines.ours]\n";
    let engines = std::fs::read_to_string(sandbox.path("engines.toml")).unwrap();
    let end = engines.find("[engines.loud]").unwrap();
    assert!(engines.starts_with(only));
    sandbox.write("one.toml", &engines[..end]);
    let _with = sandbox.worker(url, "2", &["--name", "with", "--engines", "one.toml"]);
    let settled = |player: &str| {
        let statement = format!(
            "SELECT count(*) FROM games JOIN cells USING (cell_id)
             WHERE second_player_name = '{player}'"
        );
        sandbox.sql("c.db", &statement)
    };
    wait_until("what can be played is played", || settled("ours") == "4");
    assert_eq!(settled("sleeps"), "0");
    let by =
        "SELECT group_concat(DISTINCT w.name) FROM games AS g JOIN workers AS w USING (worker_id)";
    assert_eq!(sandbox.sql("c.db", by), "with");
    let mut third: Process =
        sandbox.worker(url, "2", &["--name", "third", "--engines", "engines.toml"]);
    wait_until("an engine sleeps", || !nobody_has(&mark(&sandbox)));
    third.kill();
    wait_until("nobody is left", || nobody_has(&mark(&sandbox)));
}

/// An engine that does not start any more costs no game: its machine says that it has it no longer, and says it
/// again once it starts.
#[test]
fn an_engine_that_stops_starting_fails_no_game() {
    let Some(_tools) = Tools::find(&["sh", "wc"]) else { return };
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    // It starts once to be looked at and once to play, and then only when it is mended.
    let [starts, mended] = ["starts", "mended"].map(|name| sandbox.path(name));
    let frail = format!(
        "#!/bin/sh\necho >> {starts:?}\n\
         test $(wc -l < {starts:?}) -ge 3 && ! test -e {mended:?} && {{ echo 'no net' >&2; exit 3; }}\n\
         exec {SPELRUM} engine uci --player alpha-beta --set evaluation=material\n"
    );
    let path = sandbox.write("frail.sh", &frail);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.write(
        "engines.toml",
        "[engines.frail]\nprotocol = \"uci\"\ncommand = \"./frail.sh\"\nat_once = 1\n\
         [engines.frail.options]\nshuffle = { values = [true, false] }\n",
    );
    // Other options need another process.
    let players = format!(
        "pairing = {{ gauntlet = \"random\" }}\n{RANDOM}{}{}",
        external_player("one", "frail", "depth = 1\noptions = { shuffle = true }"),
        external_player("other", "frail", "depth = 1\noptions = { shuffle = false }"),
    );
    sandbox.write("sweep.toml", &sweep(4, &players).replace("max_plies = 40", "max_plies = 10"));
    let coordinator = sandbox.coordinator_with("c.db", "127.0.0.1:0", "500ms");
    let url = &coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let _worker = sandbox.worker(url, "2", &["--name", "frail", "--engines", "engines.toml"]);
    let status = || sandbox.run(&["status", "--coordinator", url]).stdout().to_owned();
    wait_until("nobody has the engine", || {
        let said = status();
        assert!(!said.contains("finished"), "{said}");
        // The other options may have their turn before all games with the first are played.
        sandbox.settled("c.db") >= 1 && said.contains("which no connected worker has")
    });
    sandbox.write("mended", "");
    sandbox.wait_until_finished(&coordinator);
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) || '/' || count(failure) FROM games"), "8/0");
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM attempts"), "0");
}
