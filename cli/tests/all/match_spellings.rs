//! Each spelling of a match that docs/engines.md lists plays against an engine of Debian, and other programs read its
//! games.

use spelrum_test_support::Tools;

use crate::chess_files::python_chess;
use crate::sandbox::Sandbox;

/// Two engines, then what is typed.
const TWO: &str = "-engine cmd=sjaakii name=a proto=uci -engine cmd=sjaakii name=b proto=uci";

/// Command lines behind `spelrum match`, each with the number of its games.
const SPELLINGS: [(&str, u32); 17] = [
    ("sjaakii sjaakii --depth 1 --games 2", 2),
    ("-each tc=10+0.1 timemargin=5000 -rounds 1", 2),
    ("-each tc=40/60+0.6 timemargin=5000 -rounds 1 -games 2 -repeat", 2),
    ("-each tc=0:10+0.1 timemargin=5000 -rounds 1", 2),
    ("-each st=0.05 timemargin=5000 -rounds 1", 2),
    ("-each nodes=50 -rounds 1", 2),
    ("-each depth=1 tc=inf -rounds 1", 2),
    ("-each depth=1 option.Hash=8 restart=off ponder=off -rounds 1", 2),
    ("--clock 10+0.1 --option Hash=8 --games 2 --slots 2", 2),
    ("-each depth=1 -openings file=book.pgn format=pgn order=random plies=2 -rounds 2", 4),
    ("-each depth=1 -openings file=book.epd format=epd order=sequential start=2 -rounds 1", 2),
    ("-each depth=1 --book book.epd order=random --games 2", 2),
    ("-each depth=1 -sprt elo0=-100 elo1=100 alpha=0.4 beta=0.4 model=logistic -rounds 10", 20),
    ("-each depth=1 --sprt 0,5 --games 4", 4),
    (
        "-each depth=1 -resign movecount=1 score=5 -draw movenumber=1 movecount=1 score=5 -rounds 1",
        2,
    ),
    ("-each depth=1 -rounds 1 -srand 7 -concurrency 2 -recover -ratinginterval 10", 2),
    (
        "-engine cmd=sjaakii name=c proto=xboard -each depth=1 -tournament gauntlet -seeds 1 -rounds 1",
        4,
    ),
];

const EPD: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -\n\
    rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq -\n";
const PGN: &str = "[Result \"*\"]\n\n1. e4 c5 2. Nf3 *\n\n[Result \"*\"]\n\n1. d4 Nf6 2. c4 *\n";

/// Prints the number of games of a file, and of those that were read with errors.
const READ: &str = "import chess.pgn
with open('all.pgn') as games:
    read = list(iter(lambda: chess.pgn.read_game(games), None))
print(len(read), sum(1 for game in read if game.errors))
";

#[test]
fn every_spelling_plays_and_its_games_are_read_by_others() {
    let Some(tools) = Tools::find(&["sjaakii", "pgn-extract"]) else { return };
    let Some(python) = python_chess() else { return };
    let sandbox = Sandbox::new();
    sandbox.write("book.epd", EPD);
    sandbox.write("book.pgn", PGN);
    let mut all = String::new();
    let mut played = 0;
    for (number, (words, games)) in SPELLINGS.iter().enumerate() {
        let has_engines = words.starts_with("sjaakii");
        let (db, pgn) = (format!("{number}.db"), format!("{number}.pgn"));
        let mut line = vec!["match"];
        if !has_engines {
            line.extend(TWO.split(' '));
        }
        line.extend(words.split(' '));
        line.extend(["-maxmoves", "3", "--db", &db, "--pgn", &pgn]);
        let ran = sandbox.run(&line);
        ran.expect_exit(0);
        assert!(ran.stdout().contains("Results of "), "{words}: {}", ran.stdout());
        let counted = sandbox.settled(&db);
        // An SPRT may end before.
        let is_sprt = words.contains("sprt");
        let is_all = counted == u64::from(*games) || is_sprt && counted >= 2;
        assert!(is_all, "{words}: {counted}");
        let forfeits = sandbox.sql(&db, "SELECT count(*) FROM forfeited");
        assert_eq!(forfeits, "0", "{words}");
        let text = std::fs::read_to_string(sandbox.path(&pgn)).unwrap();
        played += text.matches("[Result ").count();
        all.push_str(&text);
    }
    sandbox.write("all.pgn", &all);
    let read = python.command("python3").args(["-c", READ]).current_dir(sandbox.path(".")).output();
    let read = String::from_utf8(read.unwrap().stdout).unwrap();
    assert_eq!(read.trim(), format!("{played} 0"));
    let mut extract = tools.command("pgn-extract");
    let checked = extract.args(["-r", "all.pgn"]).current_dir(sandbox.path(".")).output().unwrap();
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(said.contains(&format!("{played} games matched out of {played}.")), "{said}");
}

/// What a real engine reports of each search is kept, and the time left on both clocks, if the sweep asks for it.
#[test]
fn details_of_searches_and_clocks_are_kept_if_asked_for() {
    let Some(_sjaakii) = Tools::find(&["sjaakii"]) else { return };
    let sandbox = Sandbox::new();
    sandbox.write("engines.toml", "[engines.sjaakii]\nprotocol = \"uci\"\ncommand = \"sjaakii\"\n");
    let sweep = |record: &str| {
        format!(
            "name = \"{record}\"\ngame = \"chess\"\nseed = 5\ngames = 2\nmax_plies = 12\nrecord = \"{record}\"\n\
             players.them = {{ algorithm = \"uci\", engine = \"sjaakii\", clock = \"3/2s+100ms\", margin = \"60s\" }}\n\
             players.us = {{ algorithm = \"alpha-beta\", preset = \"chess\", clock = \"2s+50ms\", margin = \"60s\" }}\n"
        )
    };
    for record in ["full", "moves"] {
        sandbox.write("sweep.toml", &sweep(record));
        let run = ["run", "sweep.toml", "--engines", "engines.toml", "--db", "x.db"];
        sandbox.run(&run).expect_exit(0);
    }
    let ask = |record: &str, what: &str| {
        let from = "FROM moves AS m JOIN games AS g USING (game_id) JOIN cells AS c USING (cell_id)
            JOIN experiments AS e USING (experiment_id) JOIN players AS p USING (player_id)
            LEFT JOIN move_notes AS n USING (game_id, ply)";
        sandbox.sql("x.db", &format!("SELECT {what} {from} WHERE e.name = '{record}'"))
    };
    assert_eq!(ask("moves", "count(n.pv), count(n.clock_left_us), count(n.seldepth)"), "0,0,0");
    // Every move has a clock; only the engine tells of lines. They begin with its move, except where it changed its mind
    // afterwards, which it does as often as the machine is slow.
    let kept = "count(*) = count(n.clock_left_us), sum(n.pv IS NOT NULL AND p.algorithm <> 'uci'), \
        sum(p.algorithm = 'uci' AND (n.pv = m.move OR n.pv LIKE m.move || ' %')) > 0";
    assert_eq!(ask("full", kept), "1,0,1");
    // The clock that the rule and the times of the moves give, the third move of a session included.
    let clocks = "SELECT count(*) FROM (
        SELECT n.clock_left_us AS shown, p.algorithm = 'uci' AS is_engine,
            row_number() OVER moves AS made, sum(m.wall_us) OVER moves AS used
        FROM moves AS m JOIN move_notes AS n USING (game_id, ply) JOIN players AS p USING (player_id)
        WINDOW moves AS (PARTITION BY m.game_id, m.side ORDER BY m.ply))
        WHERE shown IS NOT 2000000 + made * iif(is_engine, 100000, 50000)
            + iif(is_engine, made / 3 * 2000000, 0) - used AND used < 2000000";
    assert_eq!(sandbox.sql("x.db", clocks), "0");
    let game = ask("full", "min(g.game_id)");
    let replayed = sandbox.run(&["replay", &game, "--db", "x.db"]);
    assert!(replayed.expect_exit(0).stdout().contains("  it searched: "), "{}", replayed.stdout());
    // A copy has them, too, and its check finds nothing amiss.
    sandbox.run(&["export", "full", "--db", "x.db", "--output", "y.db"]).expect_exit(0);
    sandbox.run(&["import", "y.db", "--db", "z.db"]).expect_exit(0);
    sandbox.run(&["check", "z.db"]).expect_exit(0);
    let rows = "SELECT group_concat(coalesce(pv, '-') || clock_left_us || coalesce(seldepth, '-')) FROM (
        SELECT * FROM move_notes WHERE game_id IN (
            SELECT game_id FROM games JOIN cells USING (cell_id) JOIN experiments USING (experiment_id)
            WHERE name = 'full') ORDER BY game_id, ply)";
    assert_eq!(sandbox.sql("x.db", rows), sandbox.sql("z.db", rows));
}
