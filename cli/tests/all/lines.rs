//! Players that speak the protocol of lines: that of `docs/lines.md`, and scripts that misbehave.

use std::collections::BTreeSet;

use spelrum_engine::Rules;
use spelrum_test_support::Tools;

use crate::sandbox::{Ran, Sandbox, root};

fn run(sandbox: &Sandbox, more: &[&str]) -> Ran {
    let _gone = std::fs::remove_file(sandbox.path("match.db"));
    let arguments = ["run", "sweep.toml", "--db", "match.db", "--engines", "engines.toml"];
    sandbox.run(&[&arguments[..], more].concat())
}

/// All moves of all games, with their searches.
const MOVES: &str =
    "SELECT group_concat(it, ' ') FROM (SELECT g.number || ':' || m.ply || m.move || '/'
    || m.depth || '/' || m.nodes AS it FROM moves AS m JOIN games AS g ON g.game_id = m.game_id
    ORDER BY g.number, m.ply)";

/// The blocks of a language in `docs/lines.md`.
fn blocks(language: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/lines.md")).unwrap();
    let fence = format!("```{language}\n");
    let blocks = page.split(&fence).skip(1);
    blocks.map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// The page's player in its sweep, with its promise to repeat itself kept.
#[test]
fn the_player_of_the_page_plays_as_the_page_says() {
    let Some(_tools) = Tools::find(&["python3"]) else { return };
    let sandbox = Sandbox::new();
    sandbox.write("mine.py", &blocks("python")[0]);
    let [engines, sweep] = blocks("toml").try_into().unwrap();
    sandbox.write("engines.toml", &engines);
    sandbox.write("sweep.toml", &sweep.replace("games = 100", "games = 20"));
    run(&sandbox, &[]).expect_exit(0);
    let first = sandbox.sql("match.db", MOVES);
    assert_eq!(sandbox.sql("match.db", "SELECT count(*) FROM forfeited"), "0");
    run(&sandbox, &["--slots", "1"]).expect_exit(0);
    assert_eq!(sandbox.sql("match.db", MOVES), first);
    let ran = sandbox.run(&["engine", "check", "--engines", "engines.toml"]);
    ran.expect_exit(0);
    let games: Vec<_> = Rules::games().iter().map(|game| game.name).collect();
    let plays = format!("plays     {}", games.join(", "));
    assert!(ran.stdout().contains(&plays), "{}", ran.stdout());
    assert!(ran.stdout().contains("repeats   its moves in 3 of 3"), "{}", ran.stdout());
}

/// Eight games at once in one process are the games that are played one after the other.
#[test]
fn batched_games_are_the_same_games() {
    let Some(_tools) = Tools::find(&["python3"]) else { return };
    let sandbox = Sandbox::new();
    let player = root().join("crates/external/examples/batches.py");
    let original = std::fs::read_to_string(player).unwrap();
    // It says in which process it was asked, and with how many others.
    let player = original
        .replace("import json\n", "import json\nimport os\n")
        .replace("\"move\": move}", "\"move\": move, \"nodes\": os.getpid() * 100 + len(batch)}");
    sandbox.write("batches.py", &player);
    sandbox.write(
        "sweep.toml",
        "name = \"match\"\ngame = \"connect-four\"\nseed = 3\ngames = 32\n\
         openings = { kind = \"random\", plies = 2 }\n\
         players.mine = { algorithm = \"lines\", engine = \"mine\" }\n\
         players.other = { algorithm = \"lines\", engine = \"mine\", options = { other = 1 } }\n",
    );
    let moves = "SELECT group_concat(it, ' ') FROM (SELECT g.number || ':' || m.ply || m.move AS it
        FROM moves AS m JOIN games AS g ON g.game_id = m.game_id ORDER BY g.number, m.ply)";
    let played = |parallel: u32, slots: &str| {
        sandbox.write(
            "engines.toml",
            &format!(
                "[engines.mine]\nprotocol = \"lines\"\ncommand = \"python3\"\n\
                 args = [\"batches.py\", \"{parallel}\", \"0.001\"]\n\
                 options.other = {{ min = 0, max = 9 }}\n"
            ),
        );
        run(&sandbox, &["--slots", slots]).expect_exit(0);
        assert_eq!(sandbox.sql("match.db", "SELECT count(*) FROM forfeited"), "0");
        let processes = "SELECT count(DISTINCT nodes / 100) FROM moves";
        let largest = "SELECT max(nodes % 100) FROM moves";
        let [processes, largest] = [processes, largest]
            .map(|query| sandbox.sql("match.db", query).parse::<u32>().unwrap());
        (sandbox.sql("match.db", moves), processes, largest)
    };
    let (alone, _, largest) = played(1, "2");
    assert_eq!(largest, 1);
    let (together, processes, largest) = played(8, "8");
    sandbox.write("batches.py", &original);
    let checked = sandbox.run(&["engine", "check", "--engines", "engines.toml"]);
    let checked = checked.expect_exit(0).stdout().to_owned();
    assert!(checked.contains("parallel  8 requests at the same time; 8 answered"), "{checked}");
    assert_eq!(together, alone);
    assert_eq!(processes, 2, "one for each player's options");
    assert!((2..=8).contains(&largest), "{largest}");
}

/// A player that says more than it does: it answers the first of the requests at hand.
#[test]
fn a_check_finds_requests_that_are_forgotten() {
    let Some(_tools) = Tools::find(&["python3"]) else { return };
    let sandbox = Sandbox::new();
    let player = r#"import json, os, time
while True:
    time.sleep(0.2)
    message = json.loads(os.read(0, 1 << 16).split(b"\n")[0] or b"null")
    if not message:
        break
    if "spelrum" in message:
        print('{"parallel": 4}', flush=True)
    elif "legal" in message:
        print(json.dumps({"id": message["id"], "move": message["legal"][0]}), flush=True)
"#;
    sandbox.write("mine.py", player);
    sandbox.write(
        "engines.toml",
        "[engines.mine]\nprotocol = \"lines\"\ncommand = \"python3\"\nargs = [\"mine.py\"]\n\
         move_timeout = \"2s\"\nstop_timeout = \"100ms\"\n",
    );
    let ran = sandbox.run(&["engine", "check", "--engines", "engines.toml"]);
    let verdict = ran.expect_exit(3).stdout().lines().last().unwrap();
    assert!(verdict.starts_with("mine: asked 4 times at the same time, it failed"), "{verdict}");
}

/// A script that answers with the lines of the page gets the lines of the page, `…` aside.
#[test]
fn the_transcript_of_the_page_is_true() {
    let Some(_tools) = Tools::find(&["sh"]) else { return };
    let sandbox = Sandbox::new();
    let transcript = blocks("text").remove(0);
    let lines = |mark: &str| -> Vec<String> {
        let lines = transcript.lines().filter_map(|line| line.strip_prefix(mark));
        lines.map(str::to_owned).collect()
    };
    let (to_player, answers) = (lines("> "), lines("< "));
    assert_eq!(answers.len() + 1, to_player.len(), "the last line has no answer");
    let mut script =
        "while read -r line; do\ncase \"$line\" in *'\"game\"'*) ;; '{\"spelrum\"'*) name=1; echo '".to_owned();
    script += &format!("{}'; continue;; esac\n", answers[0]);
    script += "printf '%s\\n' \"$line\" >>heard.txt\ncount=$((count + 1))\ncase $count in\n";
    for (place, answer) in (1..).zip(&answers) {
        script += &format!("{place}) echo '{answer}' ;;\n");
    }
    script += "esac\ndone\n";
    sandbox.write("script.sh", &script);
    let engines =
        "[engines.mine]\nprotocol = \"lines\"\ncommand = \"sh\"\nargs = [\"script.sh\"]\n";
    sandbox.write("engines.toml", engines);
    sandbox.write(
        "sweep.toml",
        "name = \"page\"\ngame = \"connect-four\"\nseed = 1\ngames = 1\nswap_sides = false\n\
         players.mine = { algorithm = \"lines\", engine = \"mine\", depth = 3 }\n\
         players.other = { algorithm = \"random\" }\n",
    );
    run(&sandbox, &[]).expect_exit(0);
    let heard = std::fs::read_to_string(sandbox.path("heard.txt")).unwrap();
    let heard: Vec<&str> = heard.lines().collect();
    assert_eq!(heard.len(), to_player.len(), "{heard:#?}");
    assert_valid("to_player", heard.iter().copied());
    assert_valid("from_player", answers.iter().map(String::as_str));
    for (heard, shown) in heard.iter().zip(&to_player) {
        let [heard, shown] = [heard, shown.as_str()].map(|line| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
        });
        assert_like(&heard, &shown);
    }
}

/// Each message is one of the schema beside the page.
fn assert_valid<'m>(kind: &str, messages: impl Iterator<Item = &'m str>) {
    let schema = std::fs::read_to_string(root().join("docs/lines.schema.json")).unwrap();
    let mut schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    schema["anyOf"] = serde_json::json!([{ "$ref": format!("#/$defs/{kind}") }]);
    let schema = jsonschema::validator_for(&schema).unwrap();
    for message in messages {
        let value = serde_json::from_str(message).unwrap();
        assert!(schema.is_valid(&value), "{message}: {:?}", schema.iter_errors(&value).next());
        let nothing = serde_json::json!({ "id": "one", "move": 7 });
        assert!(!schema.is_valid(&nothing), "whatever it is, it is valid");
    }
}

/// Whether a message has the keys of the page, with the same values but where the page has `…`, or a seed.
fn assert_like(heard: &serde_json::Value, shown: &serde_json::Value) {
    use serde_json::Value;
    match (heard, shown) {
        (_, Value::String(any)) if any == "…" => {}
        (Value::Object(heard), Value::Object(shown)) => {
            let keys =
                |map: &serde_json::Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
            assert_eq!(keys(heard), keys(shown));
            for (key, value) in heard.iter().filter(|(key, _)| *key != "seed") {
                assert_like(value, &shown[key]);
            }
        }
        (Value::Array(heard), Value::Array(shown)) if heard.len() == shown.len() => {
            heard.iter().zip(shown).for_each(|(heard, shown)| assert_like(heard, shown));
        }
        (heard, shown) => assert_eq!(heard, shown),
    }
}

/// A game of tic-tac-toe against a script whose answers to requests are these; `%` is the number of the request.
fn against(answer: &str, more: &str) -> Option<(Sandbox, String)> {
    let _tools = Tools::find(&["sh"])?;
    let sandbox = Sandbox::new();
    let script = format!(
        "while read -r line; do case \"$line\" in\n\
         '{{\"spelrum\"'*) echo '{{}}' ;;\n\
         '{{\"id\"'*) id=${{line#*:}}; id=${{id%%,*}}\n{answer} ;;\nesac; done\n"
    );
    sandbox.write("script.sh", &script);
    let engines =
        "[engines.mine]\nprotocol = \"lines\"\ncommand = \"sh\"\nargs = [\"script.sh\"]\n";
    sandbox.write("engines.toml", engines);
    let sweep = format!(
        "name = \"match\"\ngame = \"tic-tac-toe\"\nseed = 1\ngames = 4\n\
         players.mine = {{ algorithm = \"lines\", engine = \"mine\"{more} }}\n\
         players.other = {{ algorithm = \"random\" }}\n"
    );
    sandbox.write("sweep.toml", &sweep);
    run(&sandbox, &[]);
    let forfeits =
        "SELECT group_concat(DISTINCT g.termination || ': ' || f.message) FROM forfeits AS f
        JOIN games AS g ON g.game_id = f.game_id";
    let forfeits = sandbox.sql("match.db", forfeits);
    Some((sandbox, forfeits))
}

#[test]
fn the_reason_of_a_lost_game_is_kept() {
    let cases = [
        (
            r#"printf '%s\n' "{\"id\":$id,\"error\":\"Traceback\\n  ZeroDivisionError\"}""#,
            "crash: mine: it failed: Traceback ⏎   ZeroDivisionError",
        ),
        (r#"echo "{\"id\":$id,\"move\":\"z9\"}""#, "illegal_move: mine: an illegal move: `z9`"),
        (r#"echo "{\"id\":$id,\"resign\":true}""#, "resignation: mine: no move: it said `resign`"),
        ("exit 3", "crash: mine: it ended (exit status 3) while it was to move"),
    ];
    for (answer, expected) in cases {
        let Some((_sandbox, forfeits)) = against(answer, "") else { return };
        assert_eq!(forfeits, expected);
    }
}

/// Refused moves are asked for again, and each try is in the last lines of a lost game.
#[test]
fn retries_are_kept_with_a_lost_game() {
    let illegal = r#"echo "{\"id\":$id,\"move\":\"z9\"}""#;
    let Some((sandbox, forfeits)) = against(illegal, ", retries = 2") else { return };
    assert_eq!(forfeits, "illegal_move: mine: an illegal move: `z9`");
    let refusals =
        "SELECT (length(output) - length(replace(output, '\"refused\"', ''))) / 9 FROM forfeits";
    assert_eq!(sandbox.sql("match.db", &format!("{refusals} LIMIT 1")), "2");
    let corrected = r#"case "$line" in
        *'"refused"'*) mv=${line#*'"legal":["'}; mv=${mv%%'"'*}
            echo "{\"id\":$id,\"move\":\"$mv\"}" ;;
        *) echo "{\"id\":$id,\"move\":7}" ;; esac"#;
    let Some((sandbox, forfeits)) = against(corrected, ", retries = 1") else { return };
    assert_eq!(forfeits, "");
    assert_eq!(
        sandbox.sql("match.db", "SELECT count(*) FROM games WHERE outcome IS NOT NULL"),
        "4"
    );
}

/// Words, probabilities and refused answers are kept with the moves, shown by replays, and copied with the games.
#[test]
fn what_a_player_tells_of_its_moves_is_kept() {
    let telling = r#"seed=${line#*'"seed":'}; echo "${seed%%,*}" >>seeds.txt
        mv=${line#*'"legal":["'}; mv=${mv%%'"'*}
        case "$line" in
        *'"refused"'*) printf '%s\n' "{\"id\":$id,\"move\":\"$mv\",\"note\":\"it is\\nfirst\\u001b[31m\",\"distribution\":{\"$mv\":3,\"c3\":1}}" ;;
        *) echo "{\"id\":$id,\"move\":\"z9\"}" ;; esac"#;
    let Some((sandbox, forfeits)) = against(telling, ", retries = 1") else { return };
    assert_eq!(forfeits, "");
    let seeds = std::fs::read_to_string(sandbox.path("seeds.txt")).unwrap();
    let distinct: BTreeSet<&str> = seeds.lines().collect();
    assert_eq!(distinct.len(), seeds.lines().count(), "each try has a seed of its own");
    let notes = "SELECT count(DISTINCT note) || ' ' || min(refused) || ' ' || max(note) \
        FROM move_notes JOIN moves USING (game_id, ply)";
    let flat = format!("SELECT replace(({notes}), char(10), '/') AS notes");
    assert_eq!(sandbox.sql("match.db", &flat), "1 1 it is/first [31m");
    let other =
        "SELECT count(*) AS others FROM move_notes AS n JOIN moves AS m USING (game_id, ply)
        WHERE m.move <> 'c3' AND n.distribution_json ->> m.move <> 750000";
    assert_eq!(sandbox.sql("match.db", other), "0", "all that are kept are three to one");
    let ran = sandbox.run(&["replay", "1", "--db", "match.db", "--no-check"]);
    let replay = ran.expect_exit(0).stdout();
    assert!(replay.contains("  asked again after 1 refused answer\n"), "{replay}");
    assert!(replay.contains("75.0 %, c3 25.0 %\n  | it is\n  | first [31m\n"), "{replay}");
    let copied = "SELECT count(*) || ' ' || sum(refused) || ' ' || sum(length(distribution_json)) \
        FROM move_notes";
    let before = sandbox.sql("match.db", copied);
    sandbox.run(&["import", "match.db", "--db", "copy.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("copy.db", copied), before);
    sandbox.run(&["check", "--db", "copy.db"]).expect_exit(0);
}

/// A definition has `retries` only where the sweep has it.
#[test]
fn retries_are_part_of_a_player_only_if_given() {
    let resign = r#"echo "{\"id\":$id,\"resign\":true}""#;
    let retries = "SELECT count(parameters_json ->> '$.retries') FROM players";
    let Some((sandbox, _)) = against(resign, "") else { return };
    assert_eq!(sandbox.sql("match.db", retries), "0");
    let Some((sandbox, _)) = against(resign, ", retries = 0") else { return };
    assert_eq!(sandbox.sql("match.db", retries), "1");
}

#[test]
fn a_check_says_what_is_wrong() {
    let Some((sandbox, _)) = against(r#"echo "{\"id\":$id,\"move\":\"z9\"}""#, "") else { return };
    let verdict = || {
        let ran = sandbox.run(&["engine", "check", "--engines", "engines.toml"]);
        ran.expect_exit(3);
        ran.stdout().lines().last().unwrap().to_owned()
    };
    assert!(verdict().starts_with("mine: an illegal move: `z9`"), "{}", verdict());
    sandbox.write(
        "script.sh",
        "while read -r line; do echo '{\"error\":\"no game is mine\"}'; done\n",
    );
    assert!(verdict().contains("no game is mine"), "{}", verdict());
    let file = std::fs::read_to_string(sandbox.path("engines.toml")).unwrap();
    sandbox.write("engines.toml", &format!("{file}startup_timeout = \"1s\"\n"));
    sandbox.write("script.sh", "while read -r line; do :; done\n");
    assert!(verdict().contains("flush=True"), "{}", verdict());
}
