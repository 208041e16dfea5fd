//! Chess's evaluation by a network.

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use sha2::{Digest, Sha256};
use spelrum_engine::evaluation::{Contents, NoContents};
use spelrum_engine::games::Chess;
use spelrum_engine::games::chess::CHECKMATE;
use spelrum_engine::network::{Network, NetworkEvaluation, train};
use spelrum_engine::search::{Evaluate, WIN_MIN};
use spelrum_engine::tables::{EndgameTable, TableValue};
use spelrum_engine::{
    Answer, Board, EndedBy, Fault, Game, Host, Outcome, Player, Position, SearchReport, Seat, Side,
    Timeless, Turn, arbitrate, seat_of,
};

use super::{KRK, LARGE, PLAIN, recipe, table, trained};
use crate::common::key;

static KBNK: LazyLock<EndgameTable> = LazyLock::new(|| table("KBNK"));

fn chess(fen: &str) -> Chess {
    Chess::parse(&Chess::rules(), fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

/// Of bishop and knight, of which only one colour of the bishop's squares is learnt.
fn of_bishop_and_knight(rotations: bool) -> Network {
    let recipe = recipe(&format!(
        r#"{{"ending": "KBNK", "inputs": "one-hot", "hidden": [12], "rotations": {rotations},
            "examples": 2000, "validation": 50, "epochs": 2}}"#
    ));
    train(&recipe, &KBNK, &Timeless, |_| {}).unwrap().network
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
    let networks = [
        (&KRK, trained(PLAIN).network),
        (&KRK, trained(LARGE).network),
        (&KBNK, of_bishop_and_knight(false)),
    ];
    for (table, network) in networks {
        let evaluation = NetworkEvaluation::new(network);
        for position in table.positions().step_by(table.len() / 400) {
            let (fen, to_move) = (table.fen(&position), position.to_move());
            let value = evaluation.evaluate(&chess(&fen));
            let squares: Vec<u8> = position.squares().collect();
            let output = evaluation.network().output(to_move, &squares);
            let expected = 1 + (output * 100_000.0) as i32;
            assert_eq!(value, if to_move == Side::First { expected } else { -expected }, "{fen}");
            assert!(value != 0 && value.abs() < WIN_MIN);
        }
    }
}

/// Whoever has white's pieces has what white would have, seen from the other end of the board.
#[test]
fn colours_can_be_exchanged() {
    for network in [trained(PLAIN).network, trained(LARGE).network] {
        let evaluation = NetworkEvaluation::new(network);
        assert!(evaluation.is_antisymmetric());
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
    for (table, step, network, is_symmetric) in [
        (&KRK, 331, trained(PLAIN).network, false),
        (&KRK, 331, trained(LARGE).network, true),
        (&KBNK, 20_011, of_bishop_and_knight(false), false),
        (&KBNK, 20_011, of_bishop_and_knight(true), true),
    ] {
        let evaluation = NetworkEvaluation::new(network);
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
    let evaluation = NetworkEvaluation::new(trained(LARGE).network);
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

/// Data by its hash, or under that of other data.
struct Shelf {
    name: String,
    data: Arc<[u8]>,
}

impl Shelf {
    fn of(bytes: &[u8]) -> Self {
        Self { name: hash(bytes), data: bytes.into() }
    }
}

impl Contents for Shelf {
    fn content(&self, sha256: &str) -> Option<Arc<[u8]>> {
        (self.name == sha256).then(|| Arc::clone(&self.data))
    }
}

fn hash(data: &[u8]) -> String {
    Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn player_of(hash: &str, contents: &dyn Contents, more: &str) -> Result<Player, String> {
    let json = format!(
        r#"{{"algorithm": "alpha-beta", "evaluation": "network", "weights": "{hash}"{more}}}"#
    );
    let given = serde_json::from_str(&json).unwrap();
    Player::with_contents(&Chess::rules(), &given, contents).map_err(|error| error.to_string())
}

#[test]
fn a_player_names_its_weights_by_their_hash() {
    let bytes = trained(PLAIN).network.to_bytes();
    let (of_bytes, depth) = (hash(&bytes), r#", "depth": 2"#);
    let player = player_of(&of_bytes, &Shelf::of(&bytes), depth).unwrap();
    let json = serde_json::to_string(player.parameters()).unwrap();
    assert!(json.contains(r#""evaluation":"network","#), "{json}");
    assert!(json.contains(&format!(r#""weights":"{of_bytes}""#)), "{json}");
    let refused = |bytes: &[u8]| {
        let hash = hash(bytes);
        player_of(&hash, &Shelf::of(bytes), depth).unwrap_err().replace(&hash, "HASH")
    };
    let other = Shelf { name: of_bytes.clone(), data: [1, 2, 3].into() };
    let errors = [
        player_of(&of_bytes, &NoContents, depth).unwrap_err().replace(&of_bytes, "HASH"),
        player_of(&of_bytes, &other, depth).unwrap_err().replace(&of_bytes, "HASH"),
        player_of("weights.bin", &NoContents, depth).unwrap_err(),
        refused(b"SQLite format 3\0"),
        refused(&bytes[..bytes.len() - 1]),
        refused(&[&bytes[..], &[0]].concat()),
    ];
    insta::assert_snapshot!(errors.join("\n"));
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
    let bytes = trained(LARGE).network.to_bytes();
    let player = player_of(&hash(&bytes), &Shelf::of(&bytes), r#", "depth": 4"#).unwrap();
    let rules = Chess::rules();
    let won = KRK.positions().filter(|it| it.to_move() == Side::First).step_by(523);
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
