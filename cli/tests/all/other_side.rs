//! Our players on the other side of each protocol: they play the games, and choose the moves, that they do inside the
//! program.

use spelrum_engine::{Game, Position, Rules, with_game};

use crate::sandbox::Sandbox;

const SPELRUM: &str = env!("CARGO_BIN_EXE_spelrum");

/// One of our players as an external engine.
struct Side {
    protocol: &'static str,
    /// The games it can play.
    games: fn(&str) -> bool,
    /// What it reports of each of its moves.
    reports: &'static str,
    /// Its arguments beyond the game and the player.
    arguments: &'static [&'static str],
    /// Keys of its table in the engines file.
    keys: &'static str,
    /// Keys of its player.
    player: &'static str,
}

const NODES: &str = "coalesce(m.depth, '-') || '/' || coalesce(m.nodes, '-')";
const SCORES: &str = "m.depth || '/' || m.nodes || '/' || coalesce(m.score, '-')";
const UNSHUFFLED: &[&str] = &["--set", "shuffle=false"];

const SIDES: [Side; 5] = [
    Side {
        protocol: "lines",
        games: |_| true,
        reports: NODES,
        arguments: UNSHUFFLED,
        keys: "",
        player: "",
    },
    Side {
        protocol: "ugi",
        games: |_| true,
        reports: SCORES,
        arguments: &["--set", "iterative=false"],
        keys: "options.shuffle = { values = [true, false] }\n",
        player: "options = { shuffle = false }\n",
    },
    Side {
        protocol: "uci",
        games: |game| game == "chess",
        reports: SCORES,
        arguments: &["--set", "iterative=false"],
        keys: "options.shuffle = { values = [true, false] }\n",
        player: "options = { shuffle = false }\n",
    },
    Side {
        protocol: "gtp",
        games: |game| matches!(game, "pentago" | "othello"),
        reports: "''",
        arguments: UNSHUFFLED,
        keys: "gtp = { limits = [\"set depth {depth}\"] }\n",
        player: "",
    },
    // The engine makes passes itself.
    Side {
        protocol: "gtp",
        games: |game| game == "othello",
        reports: "''",
        arguments: UNSHUFFLED,
        keys: "gtp = { pass = false, limits = [\"set depth {depth}\"] }\n",
        player: "",
    },
];

/// Runs `each` for each protocol and each game that it has, with a sandbox that has the engines file, the table of the
/// player inside and that of the player outside, both without their depth.
fn for_each_game(mut each: impl FnMut(&Side, &str, &Sandbox, [&str; 2])) {
    for side in &SIDES {
        let Side { protocol, arguments, keys, player, .. } = side;
        for game in Rules::games().iter().map(|game| game.name).filter(|game| (side.games)(game)) {
            let sandbox = Sandbox::new();
            let mut words = vec!["engine", protocol, "--player", "alpha-beta"];
            if *protocol != "uci" {
                words.extend(["--game", game]);
            }
            words.extend(*arguments);
            let mut inside = "algorithm = \"alpha-beta\"\nshuffle = false\n".to_owned();
            if game == "chess" {
                words.extend(["--set", "evaluation=material"]);
                inside += "evaluation = \"material\"\n";
            }
            let engine = format!(
                "[engines.ours]\nprotocol = {protocol:?}\ncommand = {SPELRUM:?}\nargs = {words:?}\n"
            );
            sandbox.write("engines.toml", &(engine + keys));
            let outside = format!("algorithm = {protocol:?}\nengine = \"ours\"\n{player}");
            each(side, game, &sandbox, [&inside, &outside]);
        }
    }
}

/// Two plies, or one where there are too many moves for a test.
fn depth_in(game: &str) -> u32 {
    let rules = Rules::from_name(game).unwrap();
    let moves = with_game!(&rules, G => G::start(&rules).unwrap().legal_move_count());
    if moves > 1_000 { 1 } else { 2 }
}

fn run(sandbox: &Sandbox, sweep: &str) {
    sandbox.write("sweep.toml", sweep);
    let _gone = std::fs::remove_file(sandbox.path("match.db"));
    let arguments = ["run", "sweep.toml", "--db", "match.db", "--engines", "engines.toml"];
    sandbox.run(&arguments).expect_exit(0);
}

/// Node for node where the protocol reports nodes, from the usual start and from openings.
#[test]
fn a_player_over_each_protocol_plays_the_same_games() {
    let mut has_pass = false;
    for_each_game(|side, game, sandbox, players| {
        // Passes come late.
        let (plies, games, depth) =
            if side.protocol == "gtp" { (60, 20, 1) } else { (24, 4, depth_in(game)) };
        let other = players[0];
        let openings = format!("games = {games}\nopenings = {{ kind = \"random\", plies = 4 }}\n");
        for opening in ["games = 2\n", &openings] {
            let [inside, outside] = players.map(|player| {
                run(
                    sandbox,
                    &format!(
                        "name = \"match\"\ngame = {game:?}\nseed = 5\nmax_plies = {plies}\n{opening}\
                         [players.ours]\n{player}depth = {depth}\n[players.other]\n{other}depth = 1\n"
                    ),
                );
                let moves = format!(
                    "SELECT group_concat(it, ' ') FROM (SELECT g.number || ':' || m.ply || m.move || '/' || {} AS it
                     FROM moves AS m JOIN games AS g ON g.game_id = m.game_id ORDER BY g.number, m.ply)",
                    side.reports
                );
                sandbox.sql("match.db", &moves)
            });
            assert_eq!(outside, inside, "{game} over {}", side.protocol);
            has_pass |= side.keys.contains("pass = false") && inside.contains("pass");
        }
    });
    assert!(has_pass, "no game has a pass");
}

/// In an accuracy experiment, where each position comes alone.
#[test]
fn a_player_over_each_protocol_chooses_the_same_moves() {
    for_each_game(|side, game, sandbox, [inside, outside]| {
        let reference = match game {
            "chess" => "evaluation = \"material\"\n",
            _ => "",
        };
        let depth = depth_in(game);
        run(
            sandbox,
            &format!(
                "name = \"match\"\nkind = \"accuracy\"\ngame = {game:?}\nseed = 5\n\
                 positions = {{ kind = \"random\", plies = [3, 4] }}\nchoices = 24\n\
                 [reference]\nalgorithm = \"minimax\"\ndepth = 1\n{reference}\
                 [players.inside]\n{inside}depth = {depth}\n[players.outside]\n{outside}depth = {depth}\n"
            ),
        );
        let same = "WITH chosen AS (SELECT c.first_player_name AS player, g.number, m.move FROM moves AS m \
                    JOIN games AS g ON g.game_id = m.game_id JOIN cells AS c ON c.cell_id = g.cell_id) \
                    SELECT count(*) FROM chosen AS i JOIN chosen AS o ON i.number = o.number AND i.move = o.move \
                    WHERE i.player = 'inside' AND o.player = 'outside'";
        assert_eq!(sandbox.sql("match.db", same), "24", "{game} over {}", side.protocol);
    });
}

/// What a check of an engine finds of our players, in each game.
#[test]
fn a_check_finds_our_players_in_order() {
    for_each_game(|side, game, sandbox, _| {
        let ran = sandbox.run(&["engine", "check", "--engines", "engines.toml"]);
        let text = ran.expect_exit(0).stdout();
        // Chess also as Chess960.
        assert!(text.contains(&format!("  plays     {game}")), "{}: {text}", side.protocol);
        assert!(text.ends_with("ours: ok\n"), "{}: {text}", side.protocol);
    });
}
