//! Chess endings in sweeps: drawn from a table, played by it, and by networks that learnt from it.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// King and rook against king, white to move, `games` times against the longest defence.
fn sweep(games: u32, players: &str) -> String {
    format!(
        "name = \"krk\"\ngame = \"chess\"\nseed = 7\ngames = {games}\nswap_sides = false\nmax_plies = 100\n\
         openings = {{ kind = \"ending\", ending = \"KRK\" }}\n\
         pairing = {{ pairs = [[\"white\", \"black\"]] }}\n\
         [players.black]\nalgorithm = \"table\"\n{players}"
    )
}

/// Two plies ahead by a network that was trained for a moment.
const NETWORK: &str = "[players.white]\nalgorithm = \"alpha-beta\"\ndepth = 2\nevaluation = \"network\"\n\
    [players.white.network]\nending = \"KRK\"\nepochs = 2\nexamples = 4000\nvalidation = 200\n";

#[test]
fn the_table_mates_in_as_many_moves_as_it_says() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(64, "[players.white]\nalgorithm = \"table\"\n"));
    sandbox.run(&["run", "sweep.toml", "--db", "x.db"]).expect_exit(0);
    sandbox.run(&["check", "--db", "x.db"]).expect_exit(0);
    let statement = "SELECT count(*), sum(mated), min(plies_more), max(plies_more), count(DISTINCT moves_to_mate), \
             min(attacker), max(attacker) FROM mates";
    assert_eq!(sandbox.sql("x.db", statement), "64,64,0,0,16,white,white");
    // Whoever imports them knows that as well.
    sandbox.run(&["export", "--db", "x.db", "--output", "e.db"]).expect_exit(0);
    sandbox.run(&["import", "e.db", "--db", "new.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("new.db", statement), "64,64,0,0,16,white,white");
    assert!(sandbox.path(".cache/spelrum/KRK.table").exists(), "the table is kept");
}

#[test]
fn a_network_plays_the_same_games_wherever_it_is_trained() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep(48, NETWORK));
    sandbox.run(&["run", "sweep.toml", "--db", "x.db"]).expect_exit(0);
    let mates: u64 = sandbox.sql("x.db", "SELECT sum(mated) FROM mates").parse().unwrap();
    assert!(mates > 24, "{mates} of 48");

    let coordinator = sandbox.coordinator("y.db", "127.0.0.1:0");
    let url = coordinator.address().to_owned();
    let workers = [(); 2].map(|()| sandbox.worker(&url, "1", &[]));
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    sandbox.wait_until_finished(&coordinator);
    drop((workers, coordinator));
    assert_eq!(sandbox.all_games("x.db"), sandbox.all_games("y.db"));
    let trained = "SELECT sha256, bytes, ending FROM networks";
    assert_eq!(sandbox.sql("x.db", trained), sandbox.sql("y.db", trained));
    sandbox.run(&["check", "--db", "y.db"]).expect_exit(0);

    // Another experiment of the database has it already, and so has a copy.
    let other = sweep(6, NETWORK).replace("\"krk\"", "\"other\"");
    sandbox.write("other.toml", &other);
    sandbox.run(&["run", "other.toml", "--db", "x.db"]).expect_exit(0);
    let trainings =
        "SELECT count(*), sum(next_number) FROM cells WHERE trains_network_id IS NOT NULL";
    assert_eq!(sandbox.sql("x.db", trainings), "1,1");
    sandbox.run(&["export", "krk", "other", "--db", "x.db", "--output", "e.db"]).expect_exit(0);
    sandbox.run(&["check", "--db", "e.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("e.db", trained), sandbox.sql("x.db", trained));
    let curve = "SELECT count(*) FROM network_epochs";
    assert_eq!(sandbox.sql("e.db", curve), sandbox.sql("x.db", curve));
    sandbox.run(&["import", "e.db", "--db", "new.db"]).expect_exit(0);
    assert_eq!(sandbox.all_games("new.db").lines().count(), 1 + 48 + 6);
    for of_networks in [trained, curve, "SELECT count(*) FROM players WHERE network_id IS NOT NULL"]
    {
        assert_eq!(sandbox.sql("new.db", of_networks), sandbox.sql("x.db", of_networks));
    }
    let none = "SELECT count(*) FROM cells WHERE trains_network_id IS NOT NULL";
    assert_eq!(sandbox.sql("new.db", none), "0", "nothing is to be trained");
    let everything = "SELECT group_concat(e.epoch || e.validation_error || s.error || d.nearer || q.square) AS it
        FROM network_epochs AS e JOIN network_sides AS s USING (network_id, part)
        JOIN network_distances AS d USING (network_id, part)
        JOIN network_squares AS q USING (network_id, part)";
    assert_eq!(sandbox.sql("new.db", everything), sandbox.sql("x.db", everything));

    // One that is not what its recipe makes is not taken.
    let file = rusqlite::Connection::open(sandbox.path("e.db")).unwrap();
    file.execute_batch("UPDATE networks SET content = zeroblob(length(content))").unwrap();
    drop(file);
    let ran = sandbox.run(&["import", "e.db", "--db", "none.db"]);
    assert!(ran.stderr().contains("not a network"), "{}", ran.stderr());
}

#[test]
fn a_network_that_diverges_costs_its_own_games_only() {
    let sandbox = Sandbox::new();
    let diverging =
        NETWORK.replace("epochs = 2", "epochs = 2\nrate = 1000").replace("white", "wild");
    let text = sweep(4, &[NETWORK, &diverging].concat())
        .replace("[\"white\", \"black\"]", "[\"wild\", \"black\"], [\"white\", \"black\"]");
    sandbox.write("sweep.toml", &text);
    let ran = sandbox.run(&["run", "sweep.toml", "--db", "x.db"]);
    assert!(
        ran.stdout().contains("diverged") || ran.stderr().contains("diverged"),
        "{}",
        ran.stderr()
    );
    let failed = |player: &str| {
        let statement =
            format!("SELECT games, games_failed FROM results WHERE player = '{player}'");
        sandbox.sql("x.db", &statement)
    };
    assert_eq!((failed("wild"), failed("white")), ("0,4".to_owned(), "4,0".to_owned()));
    let failure =
        sandbox.sql("x.db", "SELECT DISTINCT failure FROM games WHERE failure IS NOT NULL");
    assert!(
        failure.contains("network 0 diverged") && failure.contains("smaller `rate`"),
        "{failure}"
    );
    let of_network = sandbox.sql("x.db", "SELECT failure FROM networks WHERE failure IS NOT NULL");
    assert!(failure.contains(&of_network) && !of_network.is_empty(), "{failure}");
    // Tried again, it comes to the same.
    sandbox.run(&["retry", "krk", "--db", "x.db"]).expect_exit(0);
    assert_eq!(sandbox.sql("x.db", "SELECT count(*) FROM networks WHERE failure IS NOT NULL"), "0");
    sandbox.run(&["run", "sweep.toml", "--db", "x.db"]).expect_exit(7);
    assert_eq!((failed("wild"), failed("white")), ("0,4".to_owned(), "4,0".to_owned()));
}

#[test]
fn endings_are_solved_by_their_tables() {
    let sandbox = Sandbox::new();
    let solve = |fen: &str, more: &[&str]| {
        sandbox.run(&[&["solve", "chess", "--position", fen], more].concat())
    };
    let ran = solve("8/8/8/8/8/2k5/1R6/K7 w - - 0 1", &[]);
    let text = ran.expect_exit(0).stdout();
    assert!(text.contains("\nmate           in 31 plies, by the table\n"), "{text}");
    assert!(text.contains(" 8 of 16: a1b1 a1a2 "), "{text}");
    let json = |fen: &str| -> Value {
        serde_json::from_str(solve(fen, &["--json"]).expect_exit(0).stdout()).unwrap()
    };
    // The same with colours changed, and one that is lost, and one that captures draw.
    let won = json("k7/1r6/2K5/8/8/8/8/8 b - - 0 1");
    assert_eq!((&won["value"], &won["plies_to_mate"]), (&1.into(), &31.into()));
    let lost = json("k7/8/1K6/8/8/8/8/7R b - - 0 1");
    assert_eq!((&lost["value"], &lost["plies_to_mate"]), (&(-1).into(), &2.into()));
    let drawn = json("8/8/8/8/8/8/1kR5/7K b - - 0 1");
    assert_eq!((&drawn["value"], &drawn["plies_to_mate"]), (&0.into(), &Value::Null));
    assert_eq!(drawn["moves"], serde_json::json!(["b2c2"]));
}

/// Exact tables end games on worker and coordinator alike, and say afterwards who gave what away.
#[test]
fn tables_end_games_and_judge_their_moves() {
    let sandbox = Sandbox::new();
    let sweep = "name = \"ended\"\ngame = \"chess\"\ngames = 12\nadjudication = { tables = true }\n\
        openings = [\"8/8/4k3/3r4/8/2R5/3BK3/8 w - - 0 1\", \"8/4P3/8/8/1k6/8/8/4K3 w - - 0 1\"]\n\
        [players.ab]\nalgorithm = \"alpha-beta\"\ndepth = 1\n[players.random]\nalgorithm = \"random\"\n";
    sandbox.write("sweep.toml", sweep);
    sandbox.run(&["run", "sweep.toml", "--db", "x.db"]).expect_exit(0);
    sandbox.run(&["check", "--db", "x.db"]).expect_exit(0);
    let ends = "SELECT sum(termination = 'table') AS ended, count(DISTINCT outcome) AS outcomes FROM games";
    assert_eq!(sandbox.sql("x.db", ends), "11,2");
    let games = sandbox.run(&["games", "--db", "x.db", "--format", "pgn"]);
    let games = games.expect_exit(0).stdout();
    assert_eq!(games.matches("[Termination \"adjudication\"]").count(), 11, "{games}");
    let text = sandbox.run(&["games", "--db", "x.db"]);
    let text = text.expect_exit(0).stdout();
    assert_eq!(text.matches("[Adjudication \"tables = true\"]").count(), 12, "{text}");

    // The same games where nothing ends them, so that there are moves to judge.
    sandbox
        .write("sweep.toml", &sweep.replace("adjudication = { tables = true }", "max_plies = 14"));
    sandbox.run(&["run", "sweep.toml", "--db", "y.db"]).expect_exit(0);
    let replay = |number: &str, more: &[&str]| {
        let arguments = ["replay", "--cell", "1", "--number", number, "--db", "y.db", "--tables"];
        let ran = sandbox.run(&[&arguments[..], more].concat());
        ran.expect_exit(0).stdout().to_owned()
    };
    let replayed = ["2", "4", "5"].map(|number| replay(number, &[])).concat();
    let told_by_tables = ["table", "moves the best", "gives that away"];
    let about = |line: &&str| told_by_tables.iter().any(|words| line.contains(words));
    insta::assert_snapshot!(replayed.lines().filter(about).collect::<Vec<_>>().join("\n"));
    // Five pieces are in no table, until one is taken.
    let json: Value = serde_json::from_str(&replay("4", &["--json"])).unwrap();
    let moves = json["games"][0]["moves"].as_array().unwrap();
    let by_table: Vec<&Value> = moves.iter().filter_map(|mv| mv.get("by_table")).collect();
    assert!(!by_table.is_empty() && by_table.len() < moves.len());
    assert!(by_table.iter().all(|row| row["best"]["value"].is_i64() && row["made"].is_object()));

    // A game of which there are no tables says so.
    sandbox.write(
        "other.toml",
        "name = \"x\"\ngame = \"tic-tac-toe\"\ngames = 2\n[players.r]\nalgorithm = \"random\"\n[players.s]\nalgorithm = \"minimax\"\ndepth = 1\n",
    );
    sandbox.run(&["run", "other.toml", "--db", "z.db"]).expect_exit(0);
    let refused = sandbox.run(&["replay", "1", "--db", "z.db", "--tables"]);
    insta::assert_snapshot!(refused.expect_exit(3).stderr());
}
