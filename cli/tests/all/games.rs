//! `spelrum games`: what it writes is what the database has, in every form, and text can be read again.

use bulletformat::ChessBoard;
use std::collections::BTreeMap;

use serde_json::Value;
use spelrum_engine::{BookFormat, Rules, Side, book_positions, replay_moves};

use crate::sandbox::{Sandbox, root, tic_tac_toe, wait_until};

fn played(sweep: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", sweep);
    sandbox.run(&["run", "sweep.toml", "--db", "x.db"]).expect_exit(0);
    sandbox
}

/// A game as it stands in a text.
#[derive(Debug)]
struct Written {
    tags: BTreeMap<String, String>,
    moves: Vec<String>,
    comments: usize,
    result: String,
}

fn read(text: &str) -> Vec<Written> {
    let mut games = Vec::new();
    let mut blocks = text.split("\n\n").filter(|block| !block.is_empty());
    while let Some(headers) = blocks.next() {
        let tag = |line: &str| {
            let line = line.strip_prefix('[').unwrap().strip_suffix(']').unwrap();
            let (tag, value) = line.split_once(' ').unwrap();
            (tag.to_owned(), serde_json::from_str(value).unwrap())
        };
        let tags = headers.lines().map(tag).collect();
        let (mut moves, mut comments) = (Vec::new(), 0);
        let body = blocks.next().unwrap().replace('\n', " ");
        let mut rest = body.as_str();
        while !rest.is_empty() {
            if let Some(comment) = rest.strip_prefix('{') {
                comments += 1;
                rest = comment.split_once('}').unwrap().1.trim_start();
            } else {
                let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
                moves.push(word.to_owned());
                rest = after.trim_start();
            }
        }
        let result = moves.pop().unwrap();
        games.push(Written { tags, moves, comments, result });
    }
    games
}

/// Plays a game's moves by the rules, and compares where they lead.
fn referee(game: &Written) {
    let rules: Rules = serde_json::from_str(&game.tags["Rules"]).unwrap();
    let moves = game.moves.iter().map(String::as_str);
    let positions = replay_moves(&rules, &game.tags["Opening"], moves).unwrap();
    let ending = positions.last().unwrap().ending.as_ref().expect("the game is over");
    let first = positions[0].to_move;
    let side = if first == Side::First { "first" } else { "second" };
    assert_eq!(game.tags["FirstSide"], side);
    let result = match ending.winner {
        None => "1/2-1/2",
        Some(winner) if winner == first => "1-0",
        Some(_) => "0-1",
    };
    assert_eq!((&*game.result, &*game.tags["Result"]), (result, result));
    assert_eq!(game.tags["Termination"], ending.termination.name());
    assert_eq!(game.tags["Plies"], game.moves.len().to_string());
}

#[test]
fn text_is_read_again_and_its_games_are_games() {
    let sandbox = played(&tic_tac_toe("small", 20));
    let text = sandbox.run(&["games", "--db", "x.db"]).expect_exit(0).stdout().to_owned();
    let games = read(&text);
    assert_eq!(games.len(), 40);
    games.iter().for_each(referee);
    let place = |game: &Written| -> (i64, i64) {
        (game.tags["Cell"].parse().unwrap(), game.tags["Number"].parse().unwrap())
    };
    assert!(games.windows(2).all(|two| place(&two[0]) < place(&two[1])), "in their order");
    let searches = sandbox.run(&["games", "--db", "x.db", "--searches"]).stdout().to_owned();
    assert!(searches.lines().all(|line| line.starts_with('[') || line.len() <= 110));
    for (game, with) in games.iter().zip(read(&searches)) {
        assert_eq!((&game.moves, &game.tags), (&with.moves, &with.tags));
        assert_eq!(with.comments, with.moves.len());
    }
}

#[test]
fn every_form_and_source_tells_the_same() {
    let sandbox = played(&tic_tac_toe("small", 20));
    let csv = ["games", "--db", "x.db", "--format", "csv", "--searches", "--output", "g.csv"];
    sandbox.run(&csv).expect_exit(0);
    let csv = std::fs::read_to_string(sandbox.path("g.csv")).unwrap();
    assert_eq!(csv.lines().count(), 41);
    let json = sandbox.run(&["games", "--db", "x.db", "--format", "jsonl"]);
    let rows: Vec<Value> =
        json.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = sandbox.run(&["games", "--db", "x.db"]).stdout().to_owned();
    for (row, game) in rows.iter().zip(read(&text)) {
        assert_eq!(row["moves"].as_str().unwrap(), game.moves.join(" "));
        assert_eq!(row["result"], *game.result);
        assert!(row["depth"].is_i64(), "an axis of integers");
        assert_eq!(row["first_parameters"], *game.tags["FirstParameters"]);
    }
    let coordinator = sandbox.coordinator("x.db", "127.0.0.1:0");
    let url = &coordinator.url;
    assert_eq!(sandbox.run(&["games", "--coordinator", url]).expect_exit(0).stdout(), text);
    let json_there = sandbox.run(&["games", "--coordinator", url, "--format", "jsonl"]);
    assert_eq!(json_there.stdout(), json.stdout());
}

#[test]
fn games_are_chosen_by_cell_player_and_axis() {
    let sandbox = played(&tic_tac_toe("small", 20));
    let count = |more: &[&str]| {
        let arguments = [&["games", "--db", "x.db"], more].concat();
        read(sandbox.run(&arguments).expect_exit(0).stdout()).len()
    };
    assert_eq!(count(&["--axis", "depth=1"]), 20);
    assert_eq!(count(&["--axis", "depth=1", "--axis", "depth=2"]), 40);
    assert_eq!(count(&["--player", "random", "--cell", "1"]), 20);
    let failure = |more: &[&str]| {
        let arguments = [&["games", "--db", "x.db"], more].concat();
        sandbox.run(&arguments).expect_exit(3).stderr().to_owned()
    };
    assert_eq!(
        failure(&["--axis", "dept=1"]),
        "error: failed to choose games: there is no axis dept\nhelp: its axes are depth\n"
    );
    assert!(failure(&["--player", "nobody"]).contains("small has no such cell"));
}

#[test]
fn games_without_moves_say_so() {
    let sandbox = played(&format!("record = \"games\"\n{}", tic_tac_toe("small", 4)));
    let ran = sandbox.run(&["games", "--db", "x.db"]);
    let games = read(ran.expect_exit(0).stdout());
    assert!(games.iter().all(|game| game.moves.is_empty() && game.comments == 1));
    assert!(ran.stdout().contains("\n{moves are not stored} "));
    assert!(ran.stderr().starts_with("note: the moves of 8 of these 8 games are not stored"));
}

#[test]
fn the_example_of_the_document_is_a_game() {
    let page = std::fs::read_to_string(root().join("docs/export.md")).unwrap();
    let example = page.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    let games = read(&format!("{example}\n"));
    let sandbox = Sandbox::new();
    let sweep = root().join("sweeps/tic-tac-toe.toml");
    let run = ["run", sweep.to_str().unwrap(), "--db", "x.db", "--set", "games=20"];
    sandbox.run(&run).expect_exit(0);
    let all = read(sandbox.run(&["games", "--db", "x.db"]).stdout());
    let [shown] = &*games else { panic!("one game") };
    // What another run of the same sweep has otherwise.
    let differs = ["ExperimentUuid", "GameId", "Worker", "Started", "TimeUs"];
    let is_it =
        |game: &&Written| ["Cell", "Number"].iter().all(|tag| game.tags[*tag] == shown.tags[*tag]);
    let game = all.iter().find(is_it).unwrap();
    for (tag, value) in shown.tags.iter().filter(|(tag, _)| !differs.contains(&tag.as_str())) {
        assert_eq!(&game.tags[tag], value, "{tag}");
    }
    assert_eq!((&game.moves, &game.result), (&shown.moves, &shown.result));
    for tag in game.tags.keys().filter(|tag| *tag != "PliesMax") {
        assert!(page.contains(&format!("`{tag}`")), "{tag} is not in the table");
    }
}

const CHESS: &str = r#"
name = "openings"
game = "chess"
seed = 1
games = 4
max_plies = 61
openings = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 7",
]

[players.plain]
algorithm = "random"

[players.look-ahead]
algorithm = "alpha-beta"
evaluation = "material"
depth = 1
shuffle = true
"#;

/// What is written as PGN is read as PGN, and leads to the position that the moves in the database lead to.
#[test]
fn pgn_is_read_again() {
    let sandbox = played(CHESS);
    let json = sandbox.run(&["games", "--db", "x.db", "--format", "jsonl"]);
    let rows: Vec<Value> =
        json.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let rules = Rules::from_name("chess").unwrap();
    for searches in [&[][..], &["--searches"]] {
        let ran = sandbox.run(&[&["games", "--db", "x.db", "--format", "pgn"], searches].concat());
        let games: Vec<&str> = ran.expect_exit(0).stdout().split("[Event ").skip(1).collect();
        assert_eq!(games.len(), 4);
        for (game, row) in games.iter().zip(&rows) {
            let pgn = format!("[Event {game}");
            let moves: Vec<&str> = row["moves"].as_str().unwrap().split(' ').collect();
            let opening = row["opening"].as_str().unwrap();
            // One ply before the end, where no game is over.
            let plies = moves.len() - 1;
            let read = book_positions(&rules, BookFormat::Pgn, &pgn, Some(plies as u32)).unwrap();
            let replayed = replay_moves(&rules, opening, moves[..plies].iter().copied()).unwrap();
            assert_eq!(read[0].position, replayed.last().unwrap().position);
            assert_eq!(pgn.contains("[FEN "), !opening.ends_with(" 0 1"), "{pgn}");
            // Each first move has a name.
            assert!(pgn.contains("[ECO \"") && pgn.contains("[Opening \""), "{pgn}");
            let has_comments = pgn.lines().any(|line| !line.starts_with('[') && line.contains('{'));
            assert_eq!(has_comments, !searches.is_empty());
            assert!(pgn.lines().all(|line| line.starts_with('[') || line.len() <= 80), "{pgn}");
            // The result is white's, whoever moved first.
            let is_swapped = row["first_side"] == "second";
            let result = match row["result"].as_str().unwrap() {
                "1-0" if is_swapped => "0-1",
                "0-1" if is_swapped => "1-0",
                other => other,
            };
            assert!(pgn.contains(&format!("[Result \"{result}\"]")), "{pgn}");
            assert!(pgn.trim_end().ends_with(result), "{pgn}");
        }
    }
}

/// Positions for training are those of the moves in the database, with white's scores and results. Which of them are
/// quiet is found here by counting pieces, and from the signs of check in PGN.
#[test]
fn positions_are_written_for_training() {
    let sandbox = played(CHESS);
    let rules = Rules::from_name("chess").unwrap();
    let json = sandbox.run(&["games", "--db", "x.db", "--format", "jsonl", "--searches"]);
    let pgn = sandbox.run(&["games", "--db", "x.db", "--format", "pgn"]);
    let (mut all, mut quiet) = (Vec::new(), Vec::new());
    let texts: Vec<String> =
        pgn.stdout().split("[Event ").skip(1).map(|game| game.replace('\n', " ")).collect();
    for (row, text) in json.stdout().lines().zip(&texts) {
        let row: Value = serde_json::from_str(row).unwrap();
        let words = |key: &str| row[key].as_str().unwrap().split(' ').map(ToOwned::to_owned);
        let moves: Vec<String> = words("moves").collect();
        let opening = row["opening"].as_str().unwrap();
        let positions = replay_moves(&rules, opening, moves.iter().map(String::as_str)).unwrap();
        // The moves behind the tags, without their numbers and the result.
        let movetext = text.rsplit(']').next().unwrap().split_whitespace();
        let is_move = |word: &&str| word.starts_with(char::is_alphabetic);
        let san: Vec<&str> = movetext.filter(is_move).collect();
        assert_eq!(san.len(), moves.len());
        let result = match text.split("[Result \"").nth(1).unwrap().split('"').next().unwrap() {
            "1-0" => "1.0",
            "0-1" => "0.0",
            _ => "0.5",
        };
        for (ply, (score, ended_by)) in words("scores").zip(words("ended_by")).enumerate() {
            let fen = &positions[ply].position;
            let Ok(score) = score.parse::<i32>() else { continue };
            if ended_by == "only_move" || score.abs() > 900_000 {
                continue;
            }
            let is_white = positions[ply].to_move == Side::First;
            let line = format!("{fen} | {} | {result}", if is_white { score } else { -score });
            let pieces = |fen: &str| fen.split(' ').next().unwrap().to_lowercase();
            let count = |fen: &str, what: fn(char) -> bool| {
                pieces(fen).chars().filter(|c| what(*c)).count()
            };
            let after = &positions[ply + 1].position;
            let changes = [|c: char| c.is_alphabetic(), |c| c == 'p']
                .iter()
                .any(|what| count(fen, *what) != count(after, *what));
            let is_check = ply > 0 && san[ply - 1].ends_with(['+', '#']);
            if !changes && !is_check && ply >= 2 && score.abs() <= 600 {
                quiet.push(line.clone());
            }
            all.push(line);
        }
    }
    assert!(quiet.len() > 5 && all.len() > quiet.len() + 10, "{} {}", all.len(), quiet.len());
    let written = |more: &[&str]| -> Vec<String> {
        let ran =
            sandbox.run(&[&["games", "--db", "x.db", "--format", "positions"], more].concat());
        ran.expect_exit(0).stdout().lines().map(ToOwned::to_owned).collect()
    };
    assert_eq!(written(&[]), all);
    let filters = ["--quiet-positions", "--from-ply", "2", "--score-max", "600"];
    assert_eq!(written(&filters), quiet);
    let once = written(&["--once"]);
    assert!(once.len() <= all.len() && once.iter().all(|line| all.contains(line)));
    let distinct: std::collections::BTreeSet<&str> =
        all.iter().map(|line| line.rsplitn(5, ' ').last().unwrap()).collect();
    assert!(once.len() <= distinct.len(), "positions that differ in nothing but clocks come once");
    let packed = ["games", "--db", "x.db", "--format", "bulletformat", "--output", "x.bin"];
    sandbox.run(&packed).expect_exit(0);
    assert_eq!(packed_boards(&std::fs::read(sandbox.path("x.bin")).unwrap()), {
        let read = |line: &String| line.parse::<ChessBoard>().unwrap();
        all.iter().map(read).collect::<Vec<_>>()
    });
    let ran = sandbox.run(&["games", "--db", "x.db", "--once"]);
    assert!(ran.expect_exit(3).stderr().contains("add --format positions"), "{}", ran.stderr());
}

/// Boards of bulletformat, as its own crate has them.
fn packed_boards(bytes: &[u8]) -> Vec<ChessBoard> {
    let board = |bytes: &[u8]| ChessBoard {
        occ: u64::from_le_bytes(bytes[..8].try_into().unwrap()),
        pcs: bytes[8..24].try_into().unwrap(),
        score: i16::from_le_bytes(bytes[24..26].try_into().unwrap()),
        result: bytes[26],
        ksq: bytes[27],
        opp_ksq: bytes[28],
        extra: bytes[29..32].try_into().unwrap(),
    };
    assert_eq!(bytes.len() % 32, 0);
    bytes.chunks_exact(32).map(board).collect()
}

#[test]
fn quiet_positions_are_of_chess() {
    let sandbox = played(&tic_tac_toe("small", 2));
    let positions = ["games", "--db", "x.db", "--format", "positions"];
    assert!(sandbox.run(&positions).expect_exit(0).stdout().lines().all(|line| {
        let fields: Vec<&str> = line.split(" | ").collect();
        fields.len() == 3 && fields[0].len() == 9 && ["1.0", "0.5", "0.0"].contains(&fields[2])
    }));
    let packed = ["games", "--db", "x.db", "--format", "bulletformat", "--output", "x.bin"];
    let ran = sandbox.run(&packed);
    assert!(ran.expect_exit(3).stderr().contains("bulletformat is for chess"), "{}", ran.stderr());
    assert!(!sandbox.path("x.bin").exists());
    let ran = sandbox.run(&[&positions[..], &["--quiet-positions"]].concat());
    assert!(
        ran.expect_exit(3).stderr().contains("leave --quiet-positions out"),
        "{}",
        ran.stderr()
    );
}

/// Each game once, as soon as it is settled, through a coordinator that is killed in between.
#[test]
fn games_are_followed_while_they_are_played() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", CHESS);
    let mut coordinator = sandbox.coordinator_with("c.db", "127.0.0.1:0", "200ms");
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let follow = |source: [&str; 2], out: &str| {
        let arguments = [&["games", "openings"][..], &source, &["--format", "pgn", "--searches"]];
        let following = [&arguments.concat()[..], &["--follow", "--output", out]].concat();
        sandbox.start(&following)
    };
    let games = |file: &str| {
        let pgn = std::fs::read_to_string(sandbox.path(file)).unwrap_or_default();
        let rounds = pgn.lines().filter(|line| line.starts_with("[Round "));
        rounds.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut followers =
        [follow(["--coordinator", &url], "there.pgn"), follow(["--db", "c.db"], "here.pgn")];
    let _worker = sandbox.worker(&url, "1", &[]);
    wait_until("a game is told", || !games("there.pgn").is_empty());
    coordinator.process.kill();
    coordinator = sandbox.coordinator_with("c.db", &address, "200ms");
    for follower in &mut followers {
        assert_eq!(follower.wait().code(), Some(0));
    }
    drop(coordinator);
    let ids = "SELECT group_concat(round, '') FROM (SELECT '[Round \"' || cell_id || '.' || number || \
               '\"]' AS round FROM games ORDER BY game_id)";
    let expected = sandbox.sql("c.db", ids).replace("\"\"", "\"");
    for file in ["there.pgn", "here.pgn"] {
        assert_eq!(games(file).len(), 4);
        assert_eq!(games(file).concat(), expected.trim_matches('"'), "{file}");
    }
    // All at once are the same games.
    let all = sandbox.run(&["games", "--db", "c.db", "--format", "pgn", "--searches"]);
    let sorted = |text: &str| {
        let mut games: Vec<_> = text.split("[Event ").map(str::to_owned).collect();
        games.sort();
        games
    };
    let followed = std::fs::read_to_string(sandbox.path("there.pgn")).unwrap();
    assert_eq!(sorted(all.stdout()), sorted(&followed));
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let sandbox = played(&tic_tac_toe("small", 2));
    let follow = ["games", "--db", "x.db", "--follow"];
    let ran = sandbox.run(&[&follow[..], &["--format", "parquet", "--output", "x"]].concat());
    assert!(ran.expect_exit(3).stderr().contains("--format csv or jsonl"));
    let ran = sandbox.run(&[&follow[..], &["--player", "nobody"]].concat());
    assert!(ran.expect_exit(3).stderr().contains("has no such cell"));
    // All games of a finished experiment are written.
    let ran = sandbox.run(&[&follow[..], &["--format", "csv"]].concat());
    assert_eq!(ran.expect_exit(0).stdout().lines().count(), 1 + 4);
}

/// A rating program takes equal names for one player.
#[test]
fn players_that_differ_by_an_axis_have_different_names_in_pgn() {
    let sandbox = played(
        "name = \"axes\"\ngame = \"chess\"\ngames = 2\nmax_plies = 4\nseed = \"$seed\"\n\n[axes]\ndepth = [1, 2]\nseed = [1, 2]\n\n\
         [players.fish]\nalgorithm = \"alpha-beta\"\npreset = \"chess\"\ndepth = \"$depth\"\n\n\
         [players.random]\nalgorithm = \"random\"\n",
    );
    let ran = sandbox.run(&["games", "--db", "x.db", "--format", "pgn"]);
    let mut names: Vec<&str> = ran
        .expect_exit(0)
        .stdout()
        .lines()
        .filter(|line| line.starts_with("[White ") || line.starts_with("[Black "))
        .filter_map(|line| line.split('"').nth(1))
        .collect();
    names.sort_unstable();
    names.dedup();
    let [one, two, random] = names[..] else { panic!("{names:?}") };
    assert!(one.starts_with("fish (depth=1") && two.starts_with("fish (depth=2"), "{names:?}");
    assert_eq!(random, "random");
}

#[test]
fn pgn_is_for_chess() {
    let sandbox = played(&tic_tac_toe("small", 2));
    let ran = sandbox.run(&["games", "--db", "x.db", "--format", "pgn"]);
    assert!(ran.expect_exit(3).stderr().contains("--format text"));
}

/// Games that scores end are the same whoever plays them, and are told as what they are.
#[test]
fn games_that_scores_end_come_again() {
    let head = "seed = 1\ngames = 16\nmax_plies = 60";
    let rules = "[adjudication]\nresign = { score = 300, moves = 2 }\n\
                 draw = { score = 20, moves = 3, after = 4 }\n\n[players.plain]";
    let players = "[players.plain]\nalgorithm = \"alpha-beta\"\nevaluation = \"material\"\n\
                   depth = 2\nshuffle = true\n\n[players.look-ahead]";
    let sweep = CHESS
        .replace("seed = 1\ngames = 4\nmax_plies = 61", head)
        .replace("[players.plain]\nalgorithm = \"random\"\n\n[players.look-ahead]", players)
        .replace("[players.plain]", rules);
    let sandbox = played(&sweep);
    let games = "SELECT group_concat(number || ' ' || termination || ' ' || outcome || ' ' || moves_hash, ';')
                 FROM (SELECT * FROM games ORDER BY number)";
    let first = sandbox.sql("x.db", games);
    assert!(first.contains(" resign_rule "), "{first}");
    assert!(first.contains(" draw_rule "), "{first}");
    assert_eq!(played(&sweep).sql("x.db", games), first);

    let coordinator = sandbox.coordinator_with("c.db", "127.0.0.1:0", "500ms");
    let url = &coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let _workers = ["one", "two"].map(|name| sandbox.worker(url, "1", &["--name", name]));
    wait_until("all games are settled", || {
        sandbox.sql("c.db", "SELECT count(*) FROM games") == "16"
    });
    assert_eq!(sandbox.sql("c.db", games), first);

    let by_rule = "SELECT count(*) FROM games WHERE termination LIKE '%!_rule' ESCAPE '!'";
    let by_rule: usize = sandbox.sql("x.db", by_rule).parse().unwrap();
    let longest = "SELECT count(*) FROM games WHERE termination = 'max_plies'";
    let longest: usize = sandbox.sql("x.db", longest).parse().unwrap();
    let pgn = sandbox.run(&["games", "--db", "x.db", "--format", "pgn"]);
    let adjudicated = pgn.expect_exit(0).stdout().matches("[Termination \"adjudication\"]").count();
    assert_eq!(adjudicated, by_rule + longest);
    let text = sandbox.run(&["games", "--db", "x.db"]);
    let page = std::fs::read_to_string(root().join("docs/export.md")).unwrap();
    assert!(page.contains("| `Adjudication` |"));
    for game in read(text.expect_exit(0).stdout()) {
        let rule = "resign = { score = 300, moves = 2, both = true }, \
                    draw = { score = 20, moves = 3, after = 4 }";
        assert_eq!(game.tags["Adjudication"], rule);
    }
    // A game is checked by playing it again.
    let id = "SELECT min(game_id) FROM games WHERE termination = 'resign_rule'";
    let id = sandbox.sql("x.db", id);
    let replay = sandbox.run(&["replay", &id, "--db", "x.db"]);
    let words = "by the players' scores one side had lost";
    assert!(replay.expect_exit(0).stdout().contains(words), "{}", replay.stdout());
    sandbox.run(&["check", "--db", "x.db"]).expect_exit(0);
}
