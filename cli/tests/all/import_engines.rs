//! `spelrum import-engines`: files of other match runners, in their true format, become ours.

use std::fmt::Write as _;

use insta::assert_snapshot;
use spelrum_test_support::Tools;

use crate::sandbox::{Ran, Sandbox};

const SPELRUM: &str = env!("CARGO_BIN_EXE_spelrum");

/// A list of engines as cutechess's GUI saves it, and as people write it.
const CUTECHESS: &str = r#"[
    {
        "command": "./fish",
        "name": "Fish 1.2 (dev)",
        "options": [
            { "alias": "", "default": 16, "max": 1024, "min": 1, "name": "Hash", "type": "spin", "value": 64 },
            { "alias": "", "default": 1, "max": 8, "min": 1, "name": "Threads", "type": "spin", "value": 1 },
            { "alias": "", "choices": ["Solid", "Wild"], "default": "Solid", "name": "Style", "type": "combo", "value": "Wild" },
            { "alias": "", "default": true, "name": "Own Book", "type": "check", "value": false },
            { "name": "Clear Hash", "type": "button" }
        ],
        "ponder": true,
        "protocol": "uci",
        "restart": "on",
        "stderrFile": "fish.log",
        "timeoutScaleFactor": 2.5,
        "variants": ["standard", "fischerandom", "crazyhouse"],
        "whitepov": true,
        "workingDirectory": ""
    },
    {
        "name": "old-timer",
        "command": "./old",
        "protocol": "xboard",
        "workingDirectory": "engines",
        "initStrings": ["book off", "easy"],
        "validateClaims": false,
        "rating": 2100
    },
    { "name": "nowhere", "command": "no-such-program", "protocol": "uci" },
    { "name": "shogi", "command": "./fish", "protocol": "usi" },
    { "name": "empty", "command": "", "protocol": "uci" },
    { "name": "odd", "command": "./fish", "initStrings": ["setoption name Hash value 8", "xyz"], "options": [7, { "name": "A" }], "ponder": "yes" }
]"#;

/// A tournament as fastchess saves it.
fn fastchess(command: &str, args: &str, more: &str) -> String {
    let engine = |name: &str, plies: u32| {
        format!(
            r#"{{ "name": "{name}", "dir": "", "cmd": "{command}", "args": "{args}", "restart": false,
                "options": [["max_ms", "0"]],
                "limit": {{ "tc": {{ "increment": 0, "fixed_time": 0, "time": 0, "moves": 0, "timemargin": 0 }},
                            "nodes": 0, "plies": {plies} }},
                "variant": 0 }}"#
        )
    };
    format!(
        r#"{{
            "resign": {{ "move_count": 3, "score": 600, "twosided": false, "enabled": true }},
            "draw": {{ "move_number": 34, "move_count": 8, "score": 20, "enabled": true }},
            "maxmoves": {{ "move_count": 20, "enabled": true }},
            "tb_adjudication": {{ "syzygy_dirs": "", "max_pieces": 0, "ignore_50_move_rule": false, "enabled": false }},
            "opening": {{ "file": "", "format": 2, "order": 1, "plies": -1, "start": 1 }},
            "pgn": {{ "event_name": "Fastchess Tournament", "site": "?", "file": "", "notation": 0 }},
            "epd": {{ "file": "", "append_file": true }},
            "sprt": {{ "alpha": 0.0, "beta": 0.0, "elo0": 0.0, "elo1": 0.0, "model": "normalized", "enabled": false }},
            "config_name": "config.json", "output": 0, "seed": 11640166910256665083, "variant": 0, "type": 0,
            "gauntlet_seeds": 1, "ratinginterval": 10, "scoreinterval": 1, "wait": 0, "autosaveinterval": 20,
            "games": 2, "rounds": 1, "concurrency": 2, "force_concurrency": false, "recover": false,
            "noswap": false, "reverse": false, "report_penta": true, "affinity": false,
            "check_mate_pvs": false, "show_latency": false,
            "log": {{ "file": "", "append_file": true, "level": 2 }},
            "engines": [{}, {}],
            "stats": {{ "new vs old": {{ "wins": 3, "losses": 1, "draws": 0 }} }}{more}
        }}"#,
        engine("new", 2),
        engine("old", 1),
    )
}

/// An engine of OpenBench.
const OPENBENCH: &str = r#"{
    "private": false,
    "nps": 1200000,
    "source": "https://example.org/fish",
    "build": {
        "path": "src",
        "compilers": ["g++>=11", "clang++"],
        "cpuflags": ["AVX2", "POPCNT"],
        "systems": ["Linux"]
    },
    "test_presets": {
        "default": {
            "base_branch": "main",
            "book_name": "DFRC.epd",
            "test_bounds": "[0.00, 3.00]",
            "test_confidence": "[0.10, 0.05]",
            "win_adj": "movecount=3 score=400",
            "draw_adj": "None",
            "syzygy_wdl": "OPTIONAL"
        },
        "LTC": { "both_options": "Threads=1 Hash=64", "both_time_control": "60.0+0.6", "workload_size": 8 },
        "STC": { "both_options": "Threads=1 Hash=8", "both_time_control": "10.0+0.1", "dev_network": "1BE07D43" },
        "Nodes": { "both_time_control": "N=25000", "test_max_games": 40000 }
    },
    "tune_presets": { "default": {} }
}"#;

/// What a command printed, and the files that it left.
fn outcome(sandbox: &Sandbox, ran: &Ran, files: &[&str]) -> String {
    let mut text = format!("{}---\n{}", ran.stderr(), ran.stdout());
    for file in files {
        let written = std::fs::read_to_string(sandbox.path(file)).unwrap();
        write!(text, "--- {file}\n{written}").unwrap();
    }
    let folder = sandbox.path("").display().to_string();
    text.replace(folder.trim_end_matches('/'), "FOLDER")
}

fn import(sandbox: &Sandbox, words: &[&str]) -> Ran {
    sandbox.run(&[&["import-engines"][..], words].concat())
}

fn fish(sandbox: &Sandbox) {
    std::fs::create_dir_all(sandbox.path("engines")).unwrap();
    for file in ["fish", "engines/old", "new"] {
        sandbox.write(file, "");
    }
}

#[test]
fn engines_of_cutechess_are_taken_over() {
    let sandbox = Sandbox::new();
    fish(&sandbox);
    sandbox.write("engines.json", CUTECHESS);
    let ran = import(&sandbox, &["engines.json"]);
    ran.expect_exit(0);
    assert_snapshot!(outcome(&sandbox, &ran, &["engines.toml"]));
    let json = import(&sandbox, &["engines.json", "--into", "again.toml", "--json"]);
    json.expect_exit(0);
    let json: serde_json::Value = serde_json::from_str(json.stdout()).unwrap();
    assert_eq!(json["engines"], serde_json::json!(["Fish-1.2--dev", "old-timer", "odd"]));
    assert_eq!(json["not_taken_over"][0]["engine"], "Fish 1.2 (dev)");
}

#[test]
fn a_tournament_of_fastchess_is_taken_over() {
    let sandbox = Sandbox::new();
    fish(&sandbox);
    let more = r#", "mystery": 1, "engine_limit": null"#;
    let text = fastchess("./fish", "-a 'b c'", more)
        .replace(r#""time": 0,"#, r#""time": 8000,"#)
        .replace(r#""increment": 0,"#, r#""increment": 80,"#)
        .replace(r#""plies": 2"#, r#""plies": 0"#)
        .replace(
            r#""file": "", "format": 2, "order": 1"#,
            r#""file": "UHO.epd", "format": 0, "order": 0"#,
        )
        .replace(r#""start": 1"#, r#""start": 41"#)
        .replace(r#""alpha": 0.0, "beta": 0.0"#, r#""alpha": 0.05, "beta": 0.05"#)
        .replace(
            r#""elo1": 0.0, "model": "normalized", "enabled": false"#,
            r#""elo1": 2.5, "model": "normalized", "enabled": true"#,
        );
    let folder = sandbox.path("there");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.json"), text).unwrap();
    let ran = import(&sandbox, &["there/config.json", "--sweep", "match.toml"]);
    ran.expect_exit(0);
    assert_snapshot!(outcome(&sandbox, &ran, &["engines.toml", "match.toml"]));
}

/// Both formats' engines play, from the files that were written.
#[test]
fn an_imported_match_is_played() {
    let sandbox = Sandbox::new();
    let args = "engine uci --player alpha-beta --set preset=chess --set evaluation=material";
    let config = fastchess(SPELRUM, args, "").replace(r#"[["max_ms", "0"]]"#, "[]");
    sandbox.write("config.json", &config);
    let imported = import(&sandbox, &["config.json", "--sweep", "match.toml"]);
    imported.expect_exit(0);
    let next = imported.stdout().lines().last().unwrap().trim().to_owned();
    assert_eq!(next, "spelrum run match.toml --engines engines.toml --slots 2");
    let words: Vec<&str> = next.split(' ').skip(1).collect();
    sandbox.run(&[&words[..], &["--db", "match.db"]].concat()).expect_exit(0);
    assert_eq!(sandbox.settled("match.db"), 2);
    assert_eq!(
        sandbox
            .sql("match.db", "SELECT count(*) FROM games WHERE termination IN ('crash', 'stall')"),
        "0"
    );
}

/// An installed engine that cutechess knows.
#[test]
fn an_imported_engine_plays() {
    let Some(_tools) = Tools::find(&["fairymax"]) else { return };
    let sandbox = Sandbox::new();
    let listed = r#"[{ "name": "Fairy-Max", "command": "fairymax", "protocol": "xboard", "workingDirectory": "" }]"#;
    sandbox.write("engines.json", listed);
    import(&sandbox, &["engines.json"]).expect_exit(0);
    sandbox.write(
        "match.toml",
        "name = \"match\"\ngame = \"chess\"\ngames = 2\nmax_plies = 12\n\
         openings = { kind = \"random\", plies = 4 }\n\
         [players.fairy]\nalgorithm = \"xboard\"\nengine = \"Fairy-Max\"\ndepth = 2\n\
         [players.ours]\nalgorithm = \"alpha-beta\"\npreset = \"chess\"\nevaluation = \"material\"\ndepth = 1\n",
    );
    sandbox.run(&["run", "match.toml", "--engines", "engines.toml"]).expect_exit(0);
    assert_eq!(sandbox.settled("match.db"), 2);
}

/// Engines that cutechess's file names, in a match: what is typed goes before what the file says.
#[test]
fn a_match_names_engines_of_cutechess() {
    let sandbox = Sandbox::new();
    fish(&sandbox);
    let listed = r#"[
        { "name": "old-timer", "command": "./old", "protocol": "xboard", "workingDirectory": "" },
        { "name": "fish", "command": "./fish", "protocol": "uci", "options": [
            { "name": "Hash", "type": "spin", "default": 16, "value": 64 },
            { "name": "Style", "type": "combo", "default": "Solid", "value": "Wild" }] },
        { "name": "ponderer", "command": "./fish", "protocol": "uci", "ponder": true }
    ]"#;
    sandbox.write("engines.json", listed);
    let line = |conf: &str| {
        let words = format!(
            "match -engine conf=old-timer -engine conf={conf} name=new option.Hash=8 -each depth=2 --write match.toml"
        );
        sandbox.run(&words.split(' ').collect::<Vec<_>>())
    };
    let unknown = line("young");
    assert!(
        unknown.error().contains("engines.json has no engine `young` that can play"),
        "{}",
        unknown.error()
    );
    let ponders = line("ponderer");
    assert!(ponders.error().contains("pondering is not supported"), "{}", ponders.error());
    line("fish").expect_exit(0);
    let written = std::fs::read_to_string(sandbox.path("match.engines.toml")).unwrap();
    assert!(written.contains("Hash = 8") && written.contains("Style = \"Wild\""), "{written}");
    assert!(written.contains("[engines.old-timer]"), "{written}");
    assert!(written.contains("[engines.new]") && !written.contains("64"), "{written}");
    std::fs::remove_file(sandbox.path("engines.json")).unwrap();
    let none = line("old-timer");
    assert!(none.error().contains("engines.json: "), "{}", none.error());
}

#[test]
fn a_command_line_is_taken_over() {
    let sandbox = Sandbox::new();
    fish(&sandbox);
    let script = "#!/bin/sh\n# cutechess-cli -engine is not run here\ncd /tmp/work\n\
        nice -n 5 cutechess-cli \\\n  -engine cmd=./new name=new proto=uci ponder \"option.Own Book=false\" \\\n  \
        -engine cmd=old dir=engines proto=xboard initstr='book off\\neasy' trust \\\n  \
        -each tc=0/8+0.08 tscale=2 -tb /tables -rounds 20 -games 2 -repeat \\\n  \
        -openings file=books/UHO.epd format=epd start=7 order=random -concurrency 4 -resultformat wide \\\n  \
        -sprt elo0=0 elo1=5 alpha=0.05 beta=0.05 -pgnout games.pgn > log.txt 2>&1 &\n";
    sandbox.write("match.sh", script);
    let engines = import(&sandbox, &["match.sh"]);
    engines.expect_exit(0);
    let with_sweep = ["match.sh", "--into", "more.toml", "--sweep", "match.toml"];
    let ran = import(&sandbox, &with_sweep);
    ran.expect_exit(0);
    let engines = outcome(&sandbox, &engines, &[]);
    assert_snapshot!(format!(
        "{engines}\n{}",
        outcome(&sandbox, &ran, &["more.toml", "match.toml"])
    ));
}

#[test]
fn an_engine_of_openbench_is_taken_over() {
    let sandbox = Sandbox::new();
    sandbox.write("Fish.json", OPENBENCH);
    let ran = import(&sandbox, &["Fish.json", "--sweep", "stc.toml"]);
    ran.expect_exit(0);
    let stc = outcome(&sandbox, &ran, &["engines.toml", "stc.toml"]);
    let nodes =
        ["Fish.json", "--preset", "Nodes", "--sweep", "nodes.toml", "--into", "nodes.engines.toml"];
    import(&sandbox, &nodes).expect_exit(0);
    let nodes = std::fs::read_to_string(sandbox.path("nodes.toml")).unwrap();
    assert_snapshot!(format!("{stc}--- nodes.toml\n{nodes}"));
    let unknown = import(&sandbox, &["Fish.json", "--preset", "VLTC", "--into", "x.toml"]);
    unknown.expect_exit(3);
    assert!(unknown.error().contains("its presets are LTC, Nodes, STC"), "{}", unknown.error());
}

/// Adding changes nothing else, and replaces nothing unasked.
#[test]
fn engines_are_added_to_a_file() {
    let sandbox = Sandbox::new();
    fish(&sandbox);
    let own = "# mine\n[engines.own]   # as it is\nprotocol = 'uci'\ncommand = \"./own\"\n";
    sandbox.write("engines.toml", own);
    let list = |hash: u32| {
        format!(
            r#"[{{ "name": "fish", "command": "./fish", "protocol": "uci", "options": [{{ "name": "Hash", "value": {hash} }}] }}]"#
        )
    };
    sandbox.write("engines.json", &list(16));
    import(&sandbox, &["engines.json"]).expect_exit(3);
    let add = ["engines.json", "--into", "engines.toml"];
    import(&sandbox, &add).expect_exit(0);
    let text = || std::fs::read_to_string(sandbox.path("engines.toml")).unwrap();
    let added = text();
    assert!(added.starts_with(own), "{added}");
    // Once more it changes nothing.
    import(&sandbox, &add).expect_exit(0);
    assert_eq!(text(), added);
    sandbox.write("engines.json", &list(32));
    let refused = import(&sandbox, &add);
    refused.expect_exit(3);
    assert_eq!(text(), added);
    import(&sandbox, &[&add[..], &["--force"]].concat()).expect_exit(0);
    assert_eq!(text(), added.replace("16", "32"));
    assert_snapshot!(format!("{}{added}", refused.error()));
}

#[test]
fn files_that_are_read_and_written_differ() {
    let sandbox = Sandbox::new();
    fish(&sandbox);
    let line = "fastchess -engine cmd=./fish name=x -engine cmd=./fish name=y -each nodes=5\n";
    sandbox.write("line.sh", line);
    for (words, what) in [
        (["--into", "x.toml", "--sweep", "./x.toml"], "the sweep"),
        (["--into", "x.toml", "--sweep", "line.sh"], "an imported file"),
        (["--sweep", "y.toml", "--into", "line.sh"], "an imported file"),
    ] {
        let ran = import(&sandbox, &[&["line.sh", "--force"], &words[..]].concat());
        let problem = format!("{what} and a file that is written are the same");
        assert!(ran.expect_exit(3).stderr().contains(&problem), "{}", ran.stderr());
    }
    assert_eq!(std::fs::read_to_string(sandbox.path("line.sh")).unwrap(), line);
    assert!(!sandbox.path("x.toml").exists() && !sandbox.path("y.toml").exists());
}

#[test]
fn unusable_files_are_refused() {
    let sandbox = Sandbox::new();
    fish(&sandbox);
    let twice = r#"[{ "name": "a", "command": "./fish", "protocol": "uci" }, { "name": "a", "command": "./new", "protocol": "uci" }]"#;
    let config = fastchess("./fish", "", "");
    let utf16: Vec<u8> = "\u{feff}[]".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let line = "fastchess -engine cmd=./fish name=x -engine cmd=./fish name=y";
    let big = " ".repeat((16 << 20) + 1);
    let files: [(&str, &[u8]); 19] = [
        ("text", b"hello\n"),
        ("empty", b" \n"),
        ("binary", b"\x00\xff\xfe\x01\n\n"),
        ("cut", &CUTECHESS.as_bytes()[..100]),
        ("number", b"7"),
        ("other", b"{ \"name\": \"package\", \"version\": 1 }"),
        ("none", b"[]"),
        ("utf16", &utf16),
        ("words", b"[\"a\", 5]"),
        ("twice", twice.as_bytes()),
        ("commandless", br#"[{ "name": "a", "protocol": "uci" }]"#),
        ("types", br#"[{ "name": 5, "command": ["a"], "protocol": "uci", "options": "Hash" }]"#),
        ("nul", br#"[{ "name": "a", "command": "./a\u0000b", "protocol": "uci" }]"#),
        ("no-list", br#"{ "engines": { "a": 1 } }"#),
        ("no-engine", br#"{ "engines": [] }"#),
        ("variable.sh", b"fastchess -engine cmd=$NEW -engine cmd=./old -each nodes=5\n"),
        ("quote.sh", b"fastchess -engine cmd='./new\n"),
        ("two.sh", b"fastchess -engine cmd=./fish\nfastchess -engine cmd=./fish\n"),
        ("big", big.as_bytes()),
    ];
    let mut said = String::new();
    let mut refuse = |words: &[&str]| {
        let ran = import(&sandbox, words);
        let folder = sandbox.path("").display().to_string();
        let error = ran.stderr().replace(folder.trim_end_matches('/'), "FOLDER");
        writeln!(said, "$ spelrum import-engines {}\n{error}", words.join(" ")).unwrap();
        assert!(ran.0.status.code().is_some_and(|code| code == 2 || code == 3), "{error}");
    };
    for (name, bytes) in files {
        std::fs::write(sandbox.path(name), bytes).unwrap();
        refuse(&[name]);
    }
    std::fs::write(sandbox.path("config.json"), config).unwrap();
    std::fs::write(sandbox.path("line.sh"), line).unwrap();
    std::fs::write(sandbox.path("there.toml"), "").unwrap();
    refuse(&["engines"]);
    refuse(&["absent.json"]);
    refuse(&["config.json", "--sweep", "there.toml"]);
    refuse(&["config.json", "line.sh", "--sweep", "match.toml"]);
    refuse(&["line.sh", "--sweep", "match.toml"]);
    refuse(&["config.json", "--into", "no/such/engines.toml"]);
    refuse(&["config.json", "config.json"]);
    for written in ["engines.toml", "match.toml"] {
        assert!(!sandbox.path(written).exists(), "{written} is left");
    }
    assert_snapshot!(said);
}
