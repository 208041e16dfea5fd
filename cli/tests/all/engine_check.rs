//! `spelrum engine check`: what is said of engines that are well, and in one sentence of those that are not.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::sandbox::{Sandbox, Watched, wait_until};

const SPELRUM: &str = env!("CARGO_BIN_EXE_spelrum");

/// An engine that answers each question with the same move, and misbehaves as its word says.
const SCRIPT: &str = r#"#!/bin/sh
test "$1" = exits && { echo "bad luck" >&2; exit 3; }
while read -r line; do
    case "$line" in
        uci)
            test "$1" = silent && continue
            echo "id name Scripted $1"
            echo "id author Nobody"
            echo "option name Hash type spin default 16 min 1 max 64"
            echo uciok ;;
        isready)
            test "$1" = dies-when-ready && { echo "no memory for tables" >&2; exit 4; }
            echo readyok ;;
        position*) position="$line" ;;
        go*)
            test "$1" = no-net && { echo "info string ERROR: The network file nn-1.nnue was not loaded"; exit 1; }
            test "$1" = crashes && kill -SEGV $$
            test "$1" = illegal && { echo "bestmove a1a8"; continue; }
            case "$1 $line" in
                "ignores go nodes"*) read -r stop ;;
                "overdoes go depth"*) echo "info depth 9 nodes 5 score cp 1" ;;
                *" go depth 4") echo "info depth 4 nodes 5000 score cp 1" ;;
                *" go nodes 10000") echo "info depth 6 nodes 10001 score cp 1" ;;
            esac
            case "$position" in
                *r3k2r*) echo "bestmove e5g6" ;;
                *KP5r*) echo "bestmove b4b1" ;;
                *) echo "bestmove e2e4" ;;
            esac ;;
        quit)
            test "$1" = stays && continue
            if test "$1" = leaves; then sleep 600 & fi
            test "$1" = writes && echo log > engine.log
            exit 0 ;;
    esac
done
"#;

const XBOARD: &str = "#!/bin/sh\nwhile read -r line; do case \"$line\" in protover*) echo 'feature myname=\"old\"';; \
                      *) echo \"Error (unknown command): $line\";; esac; done\n";

/// A sandbox with an engines file that has the script with each of these words.
fn sandbox(words: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new();
    executable(&sandbox, "script.sh", SCRIPT);
    let mut file = String::new();
    for word in words {
        file += &engine(word, "./script.sh", &format!("args = [\"{word}\"]"));
    }
    sandbox.write("engines.toml", &file);
    sandbox
}

fn engine(name: &str, command: &str, more: &str) -> String {
    format!(
        "[engines.{name}]\nprotocol = \"uci\"\ncommand = \"{command}\"\n{more}\n\
         startup_timeout = \"5s\"\nmove_timeout = \"2s\"\nquit_timeout = \"1s\"\n"
    )
}

fn executable(sandbox: &Sandbox, name: &str, text: &str) {
    let path = sandbox.write(name, text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What the check says at its end, with the sandbox's folder as DIR.
fn verdicts(sandbox: &Sandbox, exit: i32, more: &[&str]) -> Vec<String> {
    let ran = sandbox.run(&[&["engine", "check", "--engines", "engines.toml"], more].concat());
    ran.expect_exit(exit);
    let folder = sandbox.path("").display().to_string();
    let folder = folder.trim_end_matches('/');
    let all = ran.stdout().rsplit("\n\n").next().unwrap_or_default();
    all.lines().map(|line| line.replace(folder, "DIR")).collect()
}

/// What is wrong with the script that has this word.
#[track_caller]
fn assert_wrong(word: &str, problem: &str) {
    let lines = verdicts(&sandbox(&[word]), 3, &[]);
    let [verdict] = &lines[..] else { panic!("{lines:?}") };
    assert!(verdict.starts_with(&format!("{word}: {problem}")), "{verdict}");
}

#[test]
fn an_engine_that_is_well_is_ok() {
    let sandbox = sandbox(&["well", "other"]);
    assert_eq!(verdicts(&sandbox, 0, &["well"]), ["well: ok"]);
    assert_eq!(verdicts(&sandbox, 0, &[]), ["other: ok", "well: ok"]);
    let ran = sandbox.run(&["engine", "check", "well", "--engines", "engines.toml", "--json"]);
    let json: Value = serde_json::from_str(ran.expect_exit(0).stdout()).unwrap();
    let well = &json["engines"][0];
    assert_eq!((&well["ok"], &well["problem"]), (&Value::from(true), &Value::Null));
    assert_eq!(
        (&well["name"], &well["author"]),
        (&Value::from("Scripted well"), &Value::from("Nobody"))
    );
    assert_eq!(well["games"], serde_json::json!(["chess"]));
    assert_eq!(well["repeats"], serde_json::json!({ "same": 3, "of": 3 }));
    assert_eq!(
        well["limits"][0],
        serde_json::json!({ "limit": "depth", "asked": 4, "reported": 4, "kept": true })
    );
    assert_eq!(
        well["limits"][1],
        serde_json::json!({ "limit": "nodes", "asked": 10_000, "reported": 10_001, "kept": true })
    );
    let hash = serde_json::json!({ "name": "Hash", "type": "spin", "default": "16", "min": 1, "max": 64,
        "choices": null });
    assert_eq!(well["options"], Value::Array(vec![hash]));
    assert_eq!(well["files"], serde_json::json!([]));
}

#[test]
fn engines_that_do_not_come_as_far_as_playing_are_told_in_a_sentence() {
    assert_wrong("exits", "it ended (exit status 3) after `uci`; its last output: `bad luck`");
    assert_wrong("silent", "it printed nothing: no `uciok` within 5 s after `uci`");
    assert_wrong(
        "dies-when-ready",
        "it ended (exit status 4) after `isready`; its last output: `no memory for tables`",
    );
}

#[test]
fn engines_that_fail_at_their_first_move_are_told_in_a_sentence() {
    assert_wrong(
        "no-net",
        "its network file is missing: `ERROR: The network file nn-1.nnue was not loaded`",
    );
    assert_wrong(
        "crashes",
        "it ended (signal 11, SIGSEGV) after `go depth 4`; its last output: `readyok`",
    );
    assert_wrong(
        "illegal",
        "it answered `a1a8`, which is not legal in \
         r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    );
}

#[test]
fn engines_that_ignore_a_limit_or_do_not_go_are_told_in_a_sentence() {
    assert_wrong(
        "ignores",
        "it does not keep to `nodes`: it was still thinking after 2 s on a limit of 10,000",
    );
    assert_wrong("overdoes", "it does not keep to `depth`: it reported 9 on a limit of 4");
    assert_wrong("stays", "it was still there 1.00 s after `quit`, and was killed");
    assert_wrong("leaves", "it left processes behind when it ended, which were killed: 1 (");
}

/// No move is late without a time limit, so an engine that ignores its other limits would hold its slot in silence.
#[test]
fn an_engine_that_ignores_its_limit_is_named_during_a_run() {
    let sandbox = sandbox(&["ignores"]);
    let file = engine("deaf", "./script.sh", "args = [\"ignores\"]");
    sandbox.write("engines.toml", &file.replace("move_timeout = \"2s\"\n", ""));
    sandbox.write(
        "sweep.toml",
        "name = \"match\"\ngame = \"chess\"\ngames = 2\nmax_plies = 4\n\
         [players.deaf]\nalgorithm = \"uci\"\nengine = \"deaf\"\nnodes = 100\n\
         [players.random]\nalgorithm = \"random\"\n",
    );
    let run = ["run", "sweep.toml", "--engines", "engines.toml", "--slots", "1"];
    let mut run = Watched::start(&sandbox, &run);
    run.read_until("engine deaf has been thinking for 10 s on a limit of 100 nodes");
    run.process.kill();
    assert_eq!(sandbox.sql("match.db", "SELECT count(*) FROM games"), "0");
}

#[test]
fn what_an_engine_writes_into_its_folder_is_told() {
    let sandbox = sandbox(&["writes"]);
    let ran = sandbox.run(&["engine", "check", "--engines", "engines.toml"]);
    let text = ran.expect_exit(0).stdout();
    assert!(text.contains("written in its folder: engine.log\n"), "{text}");
}

#[test]
fn programs_that_cannot_be_run_are_told_in_a_sentence() {
    let sandbox = Sandbox::new();
    sandbox.write("plain", "#!/bin/sh\n");
    executable(&sandbox, "no-interpreter", "#!/no/such/python\n");
    executable(&sandbox, "windows", "MZ\u{1}\u{2}");
    executable(&sandbox, "windows-ends", "#!/bin/sh\r\necho\r\n");
    executable(&sandbox, "xboard", XBOARD);
    let mut elf = std::fs::read(SPELRUM).unwrap();
    elf.truncate(4_096);
    // The processor's number: one that no machine of ours is.
    elf[18..20].copy_from_slice(&[243, 0]);
    std::fs::write(sandbox.path("foreign"), elf).unwrap();
    std::fs::set_permissions(sandbox.path("foreign"), std::fs::Permissions::from_mode(0o755))
        .unwrap();
    let names =
        ["missing", "plain", "no-interpreter", "windows", "windows-ends", "xboard", "foreign"];
    let mut file: String =
        names.iter().map(|name| engine(name, &format!("./{name}"), "")).collect();
    let ours = "args = [\"engine\", \"gtp\", \"--player\", \"random\"]\n";
    file += &engine("gtp", SPELRUM, ours);
    file += &engine("uci", SPELRUM, "args = [\"engine\", \"uci\", \"--player\", \"random\"]")
        .replace("protocol = \"uci\"", "protocol = \"gtp\"");
    sandbox.write("engines.toml", &file.replace("\"5s\"", "\"1s\""));
    let arch = std::env::consts::ARCH;
    let expected = [
        "missing: there is no program DIR/./missing; ".to_owned(),
        "plain: DIR/./plain is not executable by this user; make it so: chmod +x DIR/./plain".to_owned(),
        "no-interpreter: the script DIR/./no-interpreter is for the interpreter `/no/such/python`, which is not \
         on this machine; "
            .to_owned(),
        "windows: DIR/./windows is a program for Windows; ".to_owned(),
        "windows-ends: the script DIR/./windows-ends has Windows line ends, ".to_owned(),
        "xboard: it speaks XBoard, and the engines file says UCI; write protocol = \"xboard\" there".to_owned(),
        format!("foreign: DIR/./foreign is a program for riscv64, and this machine is {arch}; "),
        "gtp: it speaks GTP, and the engines file says UCI; write protocol = \"gtp\" there".to_owned(),
        "uci: it speaks UCI, and the engines file says GTP; ".to_owned(),
    ];
    let lines = verdicts(&sandbox, 3, &[]);
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    let mut expected = expected.to_vec();
    expected.sort_by_key(|line| line.split(": ").next().map(str::to_owned));
    for (line, expected) in lines.iter().zip(expected) {
        let line = line.replace("DIR/./", "DIR/").replace("DIR/", "DIR/./");
        assert!(line.starts_with(&expected), "{line}\n{expected}");
    }
}

/// What a sweep asks is held against what the engine reports, before a game and by `run` as well.
#[test]
fn what_a_sweep_asks_is_held_against_its_engines() {
    let sandbox = sandbox(&["well"]);
    let sweep = |more: &str, player: &str| {
        format!(
            "name = \"match\"\ngame = {{ name = \"chess\"{more} }}\nseed = 1\ngames = 2\n\
             [players.well]\nalgorithm = \"uci\"\nengine = \"well\"\ndepth = 4\n{player}\n\
             [players.random]\nalgorithm = \"random\"\n"
        )
    };
    let mut file = std::fs::read_to_string(sandbox.path("engines.toml")).unwrap();
    file += "[engines.well.options]\nContempt = { min = 0, max = 9 }\n";
    sandbox.write("engines.toml", &file);
    for (more, player, problem) in [
        (", chess960 = true", "", "well does not play Chess960"),
        ("", "options = { Contempt = 3 }", "well has no option `Contempt`; it has `Hash`"),
        ("", "options = { Hash = 512 }", "option `Hash` of well is from 1 to 64, not 512"),
    ] {
        sandbox.write("sweep.toml", &sweep(more, player));
        let lines = verdicts(&sandbox, 3, &["--sweep", "sweep.toml"]);
        let [verdict] = &lines[..] else { panic!("{lines:?}") };
        assert!(verdict.starts_with(&format!("well: {problem}; ")), "{verdict}");
        let dry = ["submit", "sweep.toml", "--dry-run", "--engines", "engines.toml"];
        let ran = sandbox.run(&dry);
        assert!(ran.expect_exit(3).stdout().contains(verdict.as_str()), "{}", ran.stdout());
        let ran = sandbox.run(&["run", "sweep.toml", "--db", "a.db", "--engines", "engines.toml"]);
        let error = ran.expect_exit(3).error();
        assert!(error.contains(problem), "{error}");
        assert!(error.lines().count() < 10, "{error}");
        assert_eq!(sandbox.settled("a.db"), 0);
        std::fs::remove_file(sandbox.path("a.db")).unwrap();
    }
    sandbox.write("sweep.toml", &sweep("", "options = { Hash = 32 }"));
    assert_eq!(verdicts(&sandbox, 0, &["--sweep", "sweep.toml"]), ["well: ok"]);
}

#[test]
fn a_name_that_the_file_lacks_and_a_check_without_a_file_are_refused() {
    let sandbox = sandbox(&["well"]);
    let ran = sandbox.run(&["engine", "check", "fish", "--engines", "engines.toml"]);
    let error = ran.expect_exit(3).error();
    assert!(error.contains("the engines file has no engine of this name; it has well"), "{error}");
    let ran = sandbox.run(&["engine", "check"]);
    assert!(ran.expect_exit(2).error().contains("--engines FILE"), "{}", ran.stderr());
}

/// Ctrl-C ends the engine under check, and the check.
#[test]
fn an_interrupted_check_leaves_nothing() {
    let sandbox = Sandbox::new();
    executable(&sandbox, "mute.sh", "#!/bin/sh\necho $$ > pid\nwhile read -r line; do :; done\n");
    sandbox.write("engines.toml", &engine("mute", "./mute.sh", "").replace("\"5s\"", "\"10m\""));
    let mut check = sandbox.start(&["engine", "check", "--engines", "engines.toml"]);
    let pid = || std::fs::read_to_string(sandbox.path("pid")).unwrap_or_default().trim().to_owned();
    wait_until("the engine runs", || !pid().is_empty());
    check.signal(rustix::process::Signal::INT);
    assert_eq!(check.wait().code(), Some(130));
    let pid = pid();
    wait_until("the engine is gone", || !std::path::Path::new("/proc").join(&pid).exists());
}
