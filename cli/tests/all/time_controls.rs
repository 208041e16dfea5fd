//! Games under clocks: two built-in players, one beside an external engine, and games that are lost on time.

use std::process::Stdio;

use serde_json::Value;
use spelrum_engine::ClockRule;

use crate::chess_files::python_chess;
use crate::sandbox::Sandbox;

const SPELRUM: &str = env!("CARGO_BIN_EXE_spelrum");

/// A sweep of chess whose players share a clock. The margin is for a busy machine.
fn chess(clock: &str, more: &str, second: &str) -> String {
    format!(
        "name = \"clocks\"\ngame = \"chess\"\ngames = 4\nmax_plies = 40\n{more}\n\
         openings = {{ kind = \"random\", plies = 2 }}\n\
         [players.deepening]\nalgorithm = \"alpha-beta\"\niterative = true\nclock = \"{clock}\"\n\
         margin = \"60s\"\n\
         [players.other]\n{second}\nclock = \"{clock}\"\nmargin = \"60s\"\n"
    )
}

const MCTS: &str = "algorithm = \"mcts\"\nplayout_plies = 20";

fn played(sweep: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", sweep);
    sandbox.write(
        "engines.toml",
        &format!(
            "[engines.ours]\nprotocol = \"uci\"\ncommand = {SPELRUM:?}\n\
             args = [\"engine\", \"uci\", \"--player\", \"alpha-beta\"]\n"
        ),
    );
    let run = ["run", "sweep.toml", "--db", "x.db", "--engines", "engines.toml"];
    sandbox.run(&run).expect_exit(0);
    sandbox
}

/// The clocks in the comments of a file of games are those that follow from the recorded times.
fn check_clocks(sandbox: &Sandbox, clock: ClockRule) {
    let pgn = ["games", "--db", "x.db", "--format", "pgn", "--searches"];
    let pgn = sandbox.run(&pgn).expect_exit(0).stdout().to_owned();
    let tenths = |text: &str| -> u64 {
        let digits = text.split([':', '.']).map(|digits| digits.parse::<u64>().unwrap());
        let [hours, minutes, seconds, tenths] = digits.collect::<Vec<_>>()[..] else {
            panic!("{text}")
        };
        ((hours * 60 + minutes) * 60 + seconds) * 10 + tenths
    };
    let pgn = pgn.replace('\n', " ");
    let mut written = pgn.split("[%clk ").skip(1).map(|rest| rest.split_once(']').unwrap().0);
    let moves = "SELECT group_concat(seat || ' ' || wall_us, ';') FROM
        (SELECT m.game_id || m.side AS seat, m.wall_us FROM moves AS m
            JOIN games AS g USING (game_id) ORDER BY g.cell_id, g.number, m.ply)";
    let moves = sandbox.sql("x.db", moves);
    let moves: Vec<(&str, u64)> = moves
        .split(';')
        .map(|text| text.split_once(' ').unwrap())
        .map(|(seat, wall_us)| (seat, wall_us.parse().unwrap()))
        .collect();
    assert!(moves.len() > 20);
    for (at, (seat, _)) in moves.iter().enumerate() {
        let own = moves[..=at].iter().filter(|(other, _)| other == seat);
        let left = clock.left(own.map(|(_, wall_us)| *wall_us));
        assert_eq!(tenths(written.next().unwrap()), left.time_us / 100_000);
    }
    assert_eq!(written.next(), None);
}

#[test]
fn two_built_in_players_share_a_time_control() {
    let sandbox = played(&chess("40/1+0.01", "", MCTS));
    assert_eq!(sandbox.sql("x.db", "SELECT sum(timed) FROM cells"), "1");
    let lost = "SELECT count(*) FROM games WHERE termination = 'time_forfeit'";
    assert_eq!(sandbox.sql("x.db", lost), "0");
    check_clocks(&sandbox, ClockRule::parse("40/1+0.01").unwrap());
    let pgn = sandbox.run(&["games", "--db", "x.db", "--format", "pgn"]).stdout().to_owned();
    assert_eq!(pgn.matches("[TimeControl \"40/1+0.01\"]").count(), 4, "{pgn}");
    // They replay by their recorded node counts.
    sandbox.run(&["replay", "1", "2", "3", "4", "--check-only", "--db", "x.db"]).expect_exit(0);
    sandbox.run(&["check", "--db", "x.db"]).expect_exit(0);
}

#[test]
fn an_external_engine_plays_under_the_clock_of_its_opponent() {
    let sandbox = played(&chess("1+0.05", "", "algorithm = \"uci\"\nengine = \"ours\""));
    assert_eq!(sandbox.sql("x.db", "SELECT count(*) FROM games WHERE counted = 1"), "4");
    check_clocks(&sandbox, ClockRule::parse("1+0.05").unwrap());
    sandbox.run(&["replay", "1", "2", "3", "4", "--check-only", "--db", "x.db"]).expect_exit(0);
}

/// What other programs read of games whose clocks were scaled, and are no whole seconds.
#[test]
fn scaled_clocks_are_written_as_they_ran() {
    // No machine is so fast.
    let timing = "timing = { reference_speed = 1000000000000, factor_max = 3 }";
    let sandbox = played(&chess("0.1+0.01", timing, MCTS));
    check_clocks(&sandbox, ClockRule::parse("0.3+0.03").unwrap());
    let pgn = sandbox.run(&["games", "--db", "x.db", "--format", "pgn"]).stdout().to_owned();
    assert_eq!(pgn.matches("[TimeControl \"?\"]\n[TimeFactor \"3\"]\n").count(), 4, "{pgn}");
}

#[test]
fn python_chess_reads_the_time_controls() {
    let Some(tools) = python_chess() else { return };
    for (clock, seconds) in [("1.5+0.01", "0"), ("2+0.01", "2")] {
        let sandbox = played(&chess(clock, "", MCTS));
        let pgn = ["games", "--db", "x.db", "--format", "pgn", "--searches", "--output", "g.pgn"];
        sandbox.run(&pgn).expect_exit(0);
        let read = "import chess.pgn, sys\nf = open(sys.argv[1])\nwhile True:\n    \
                    g = chess.pgn.read_game(f)\n    if g is None: break\n    \
                    parts = g.time_control().parts\n    \
                    assert all(n.clock() is not None for n in g.mainline())\n    \
                    print(sum(part.time for part in parts))";
        let mut python = tools.command("python3");
        let python = python.args(["-c", read]).arg(sandbox.path("g.pgn")).stdin(Stdio::null());
        let output = python.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{seconds}\n").repeat(4));
    }
}

/// No search always ends within a microsecond; the games are losses like those of an engine.
#[test]
fn a_built_in_player_loses_on_time() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "sweep.toml",
        "name = \"late\"\ngame = \"pentago\"\ngames = 10\n\
         openings = { kind = \"random\", plies = 2 }\n\
         [players.hasty]\nalgorithm = \"genetic-minimax\"\ndepth = 4\nclock = \"1us\"\nmargin = \"1us\"\n\
         [players.random]\nalgorithm = \"random\"\n",
    );
    sandbox.run(&["run", "sweep.toml", "--db", "late.db"]).expect_exit(0);
    let lost = "SELECT count(*) FROM games WHERE termination = 'time_forfeit' AND counted = 1";
    let lost: u64 = sandbox.sql("late.db", lost).parse().unwrap();
    assert!(lost > 0);
    let forfeited = "SELECT count(*) FROM forfeited WHERE player = 'hasty'";
    assert_eq!(sandbox.sql("late.db", forfeited), lost.to_string());
    let report = sandbox.run(&["report", "--db", "late.db", "--json"]);
    let report: Value = serde_json::from_str(report.expect_exit(0).stdout()).unwrap();
    assert!(report.to_string().contains("time_forfeit"), "{report}");
    let ids: Vec<String> = (1..=10).map(|id: u32| id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let replay = [&["replay", "--check-only", "--db", "late.db"], &ids[..]].concat();
    sandbox.run(&replay).expect_exit(0);
    sandbox.run(&["check", "--db", "late.db"]).expect_exit(0);
}
