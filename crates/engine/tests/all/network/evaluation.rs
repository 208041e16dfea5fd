//! Chess's evaluation by a network.

use std::ops::ControlFlow;
use std::sync::LazyLock;

use spelrum_engine::games::Chess;
use spelrum_engine::games::chess::CHECKMATE;
use spelrum_engine::network::{NetworkEvaluation, Recipe};
use spelrum_engine::search::{Evaluate, WIN_MIN};
use spelrum_engine::tables::{EndgameTable, TableValue};
use spelrum_engine::{
    Answer, Board, EndedBy, Fault, Game, GameSetup, Host, Outcome, PlayError, Player, Position,
    SearchReport, Seat, Side, Timeless, Turn, arbitrate, play_game, seat_of,
};

use super::{KRK, LARGE, PLAIN, recipe, table};
use crate::common::{key, player};

static KBNK: LazyLock<EndgameTable> = LazyLock::new(|| table("KBNK"));

fn chess(fen: &str) -> Chess {
    Chess::parse(&Chess::rules(), fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

/// Of bishop and knight, of which only one colour of the bishop's squares is learnt.
fn of_bishop_and_knight(rotations: bool) -> Recipe {
    recipe(&format!(
        r#"{{"ending": "KBNK", "inputs": "one-hot", "hidden": [12], "rotations": {rotations},
            "examples": 2000, "validation": 50, "epochs": 2}}"#
    ))
}

/// The position with every piece where a symmetry of the board puts it, and with the colours exchanged if
/// they are to be: then white is at the other end.
fn image(position: &Chess, symmetry: u32, exchanged: bool) -> Chess {
    let text = position.to_string();
    let fields: Vec<&str> = text.split(' ').collect();
    let mut cells = [' '; 64];
    for (rank, row) in fields[0].split('/').rev().enumerate() {
        let mut file = 0;
        for letter in row.chars() {
            if let Some(empty) = letter.to_digit(10) {
                file += empty as usize;
                continue;
            }
            let [mut to_file, mut to_rank] = [file, rank];
            if symmetry & 1 != 0 {
                to_file = 7 - to_file;
            }
            if (symmetry & 2 != 0) != exchanged {
                to_rank = 7 - to_rank;
            }
            if symmetry & 4 != 0 {
                (to_file, to_rank) = (to_rank, to_file);
            }
            let lower = letter.is_lowercase() != exchanged;
            let letter =
                if lower { letter.to_ascii_lowercase() } else { letter.to_ascii_uppercase() };
            cells[to_rank * 8 + to_file] = letter;
            file += 1;
        }
    }
    let row = |cells: &[char]| {
        let filled = cells.chunk_by(|a, b| *a == ' ' && *b == ' ').map(|cells| match cells {
            [' ', ..] => cells.len().to_string(),
            pieces => pieces.iter().collect(),
        });
        filled.collect::<String>()
    };
    let rows: Vec<String> = cells.chunks(8).rev().map(row).collect();
    let turn = if (fields[1] == "w") == exchanged { "b" } else { "w" };
    chess(&format!("{} {turn} - - 0 1", rows.join("/")))
}

/// Positions of a table that are not over, all over it.
fn positions(table: &EndgameTable, step: usize) -> impl Iterator<Item = Chess> + '_ {
    let positions = table.positions().step_by(step).map(|position| chess(&table.fen(&position)));
    positions.filter(|position| !position.is_over())
}

#[test]
fn values_are_of_the_side_with_the_pieces_and_bounded() {
    let recipes =
        [(&KRK, recipe(PLAIN)), (&KRK, recipe(LARGE)), (&KBNK, of_bishop_and_knight(false))];
    for (table, recipe) in recipes {
        let evaluation = NetworkEvaluation::new(recipe);
        for position in table.positions().step_by(table.len() / 400) {
            let (fen, to_move) = (table.fen(&position), position.to_move());
            let value = evaluation.evaluate(&chess(&fen));
            let squares: Vec<u8> = position.squares().collect();
            let output = evaluation.network().unwrap().output(to_move, &squares);
            let expected = 1 + (output * 100_000.0) as i32;
            assert_eq!(value, if to_move == Side::First { expected } else { -expected }, "{fen}");
            assert!(value != 0 && value.abs() < WIN_MIN);
        }
    }
}

/// Whoever has white's pieces has what white would have, seen from the other end of the board.
#[test]
fn colours_can_be_exchanged() {
    for json in [PLAIN, LARGE] {
        let evaluation = NetworkEvaluation::new(recipe(json));
        for position in positions(&KRK, 113) {
            let value = evaluation.evaluate(&position);
            assert_eq!(evaluation.evaluate(&image(&position, 0, true)), value, "{position}");
        }
    }
    for rotations in [false, true] {
        let evaluation = NetworkEvaluation::new(of_bishop_and_knight(rotations));
        for position in positions(&KBNK, 7_919) {
            let value = evaluation.evaluate(&position);
            assert_eq!(evaluation.evaluate(&image(&position, 0, true)), value, "{position}");
        }
    }
}

/// Images have the same value if the evaluation says so. It says so where the recipe turns the board.
#[test]
fn the_board_can_be_turned_where_the_evaluation_says_so() {
    for (table, step, recipe, is_symmetric) in [
        (&KRK, 331, recipe(PLAIN), false),
        (&KRK, 331, recipe(LARGE), true),
        (&KBNK, 20_011, of_bishop_and_knight(false), false),
        (&KBNK, 20_011, of_bishop_and_knight(true), true),
    ] {
        let evaluation = NetworkEvaluation::new(recipe);
        assert_eq!(evaluation.is_symmetric(), is_symmetric);
        let mut others = 0;
        for position in positions(table, step) {
            let value = evaluation.evaluate(&position);
            for symmetry in 0..8 {
                let image = image(&position, symmetry, false);
                others += u32::from(evaluation.evaluate(&image) != value);
            }
        }
        assert_eq!(others == 0, is_symmetric);
    }
}

#[test]
fn other_pieces_are_worth_nothing() {
    let evaluation = NetworkEvaluation::new(recipe(LARGE));
    for (fen, is_known) in [
        ("8/8/8/4k3/8/8/1R6/K7 w - - 0 1", true),
        ("8/8/8/4K3/8/8/1r6/k7 w - - 0 1", true),
        ("8/8/8/4k3/8/8/Q7/K7 w - - 0 1", false),
        ("8/8/8/4k3/8/8/1P6/K7 w - - 0 1", false),
        ("8/8/8/4k3/8/8/8/K7 w - - 0 1", false),
        ("8/8/8/4k3/8/8/1RR5/K7 w - - 0 1", false),
        ("8/8/8/4k2r/8/8/1R6/K7 w - - 0 1", false),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", false),
    ] {
        assert_eq!(evaluation.evaluate(&chess(fen)) != 0, is_known, "{fen}");
    }
}

/// A player that searches two plies by a network of this recipe.
fn player_of(recipe: &str, depth: u32) -> String {
    format!(
        r#"{{"algorithm": "alpha-beta", "depth": {depth}, "evaluation": "network", "network": {recipe}}}"#
    )
}

#[test]
fn a_player_spells_out_its_networks_recipe() {
    let given = player_of(r#"{"ending": "krk", "epochs": 2}"#, 2);
    let spelt = serde_json::to_string(player(&Chess::rules(), &given).parameters()).unwrap();
    let recipe = serde_json::to_string(recipe(r#"{"ending": "KRK", "epochs": 2}"#).parameters());
    assert!(spelt.contains(&format!(r#""network":{}"#, recipe.unwrap())), "{spelt}");
    let error = |json: &str| {
        let given = serde_json::from_str(json).unwrap();
        Player::from_parameters(&Chess::rules(), &given).unwrap_err().to_string()
    };
    let errors = [
        error(r#"{"algorithm": "alpha-beta", "depth": 1, "evaluation": "network"}"#),
        error(&player_of("3", 2)),
        error(&player_of("{}", 2)),
        error(&player_of(r#"{"ending": "KPK"}"#, 2)),
        error(&player_of(r#"{"ending": "KRK", "epoch": 2}"#, 2)),
        error(&player_of(r#"{"ending": "KRK"}"#, 2).replace(r#""network","#, r#""material","#)),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}

/// Who plays by it, before its first move; who plays without it is not asked.
#[test]
fn a_network_that_diverges_is_an_error_of_the_game() {
    let diverging = player_of(
        r#"{"ending": "KRK", "inputs": "one-hot", "hidden": [64, 64, 64], "rate": 1000,
            "examples": 2000, "schedule": "constant", "epochs": 50}"#,
        1,
    );
    let rules = Chess::rules();
    let players = [&player(&rules, &diverging), &player(&rules, r#"{"algorithm": "random"}"#)];
    for players in [players, [players[1], players[0]]] {
        let setup = GameSetup {
            rules: &rules,
            opening: "8/8/8/4k3/8/8/1R6/K7 w - - 0 1",
            players,
            keys: [key(1), key(2)],
            max_plies: Some(20),
            adjudication: None,
            stops: None,
        };
        let result = play_game(&setup, &Timeless);
        let Err(PlayError::Network(error)) = result else { panic!("{result:?}") };
        assert!(error.to_string().contains("choose a smaller `rate`"), "{error}");
    }
}

/// Defends as long as it can, by the table.
struct Defender;

impl Seat<Chess> for Defender {
    fn choose(
        &mut self,
        turn: &Turn<'_, Chess>,
        _host: &dyn Host,
    ) -> Result<Answer<<Chess as Position>::Move>, Fault> {
        let mut moves = Vec::new();
        turn.line.position.legal_moves(&mut moves);
        let longest = moves.into_iter().max_by_key(|mv| {
            let mut child = turn.line.position.clone();
            child.play_unchecked(*mv);
            match KRK.value(&child) {
                Some(TableValue::Win { plies }) => plies,
                _ => u32::MAX,
            }
        });
        let search = SearchReport {
            depth: 0,
            nodes: 0,
            evaluations: 0,
            full_tree_leaves: 0,
            score: None,
            ended_by: EndedBy::Depth,
            told_us: None,
        };
        Ok(Answer { mv: longest.unwrap(), search })
    }
}

/// What it is all for: a shallow search with what was learnt mates, whichever colour it has.
#[test]
fn a_search_with_a_network_mates() {
    let rules = Chess::rules();
    let player = player(&rules, &player_of(LARGE, 4));
    let won = KRK.positions().filter(|position| position.to_move() == Side::First).step_by(523);
    for (number, position) in won.enumerate() {
        let opening = image(&chess(&KRK.fen(&position)), 0, number % 2 == 1).to_string();
        let board = Board { rules: &rules, opening: &opening, max_plies: None, adjudication: None };
        let mut attacker = seat_of::<Chess>(&player, key(number as u64)).unwrap();
        let watch = &mut |_: &_| ControlFlow::Continue(());
        let seats: [&mut dyn Seat<Chess>; 2] = [&mut *attacker, &mut Defender];
        let record = arbitrate::<Chess>(&board, seats, &Timeless, watch).unwrap();
        let about = format!("{opening} {:?}", record.termination);
        assert_eq!((record.outcome, record.termination), (Outcome::Win, CHECKMATE), "{about}");
        assert!(record.moves.len() as u32 >= position.value.plies().unwrap());
    }
}
