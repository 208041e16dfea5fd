use proptest::prelude::*;
use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::{Parameters, Position as _, Rules, Timeless, Value};

use super::*;

/// Any algorithm, with a depth that a test can wait for.
fn player(rules: &Rules, algorithm: &str) -> Player {
    let mut parameters =
        Parameters::from([("algorithm".to_owned(), Value::Text(algorithm.to_owned()))]);
    if algorithm != "random" {
        parameters.insert("depth".to_owned(), Value::Integer(2));
        parameters.insert("nodes".to_owned(), Value::Integer(200));
    }
    Player::from_parameters(rules, &parameters).unwrap()
}

fn session<P: Game>(rules: &Rules, opponent: &str, person_begins: bool) -> Session<P> {
    let mut session = Session::new(Setup {
        rules: rules.clone(),
        start: P::start(rules).unwrap(),
        opponent: player(rules, opponent),
        adviser: player(rules, "random"),
        seed: 7,
        person_begins,
    });
    session.begin(&Timeless).unwrap();
    session
}

fn tic_tac_toe(person_begins: bool) -> Session<TicTacToe> {
    session(&TicTacToe::rules(), "alpha-beta", person_begins)
}

/// Lines and answers as a terminal shows them.
fn transcript<P: Game>(session: &mut Session<P>, lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&format!("{}{line}\n", session.prompt()));
        text.push_str(&session.line(line, &Timeless).unwrap().text);
    }
    text
}

#[test]
fn a_game_is_played_to_its_end() {
    let mut session: Session<TicTacToe> = session(&TicTacToe::rules(), "random", true);
    let mut lines = Vec::new();
    while !session.position().is_over() {
        lines.push(session.position().nth_legal_move(0).to_string());
        let line = lines.last().unwrap();
        assert!(session.line(line, &Timeless).unwrap().goes_on);
    }
    let ended = transcript(&mut session, &["b2", "hint", "view", "go", "moves", "board", "undo"]);
    insta::assert_snapshot!(ended);
}

#[test]
fn help_explains_every_game() {
    let nim = Nim::rules(&[3, 4, 5], true).unwrap();
    let pentago = Rules::from_name("pentago").unwrap();
    let late = Pentago::rules(false);
    let texts = [
        session::<Pentago>(&pentago, "random", true).help(),
        Pentago::explain(&late),
        TicTacToe::explain(&TicTacToe::rules()),
        Nim::explain(&nim),
    ];
    assert!(texts.iter().flat_map(|text| text.lines()).all(|line| line.chars().count() <= 100));
    insta::assert_snapshot!(texts.join("\n----\n"));
}

#[test]
fn what_is_not_a_move_says_so_and_names_the_nearest() {
    let long = "c3-2r".repeat(100);
    let mut game = session::<Pentago>(&Rules::from_name("pentago").unwrap(), "random", false);
    let before = game.played.clone();
    // The player's marble is on c3, where the turn took it.
    let lines = ["c3-2r", "c3 2r", "b1", "g7-1r", "b1-5r", "undp", "hlep", "ö", &long];
    insta::assert_snapshot!(transcript(&mut game, &lines));
    assert_eq!(game.played, before);
}

#[test]
fn a_space_is_as_good_as_a_hyphen() {
    let mut game = session::<Pentago>(&Rules::from_name("pentago").unwrap(), "random", true);
    game.line("  F6   2R ", &Timeless).unwrap();
    assert_eq!(game.played.moves[0].to_string(), "f6-2r");
}

#[test]
fn the_moves_of_pentago_stand_together() {
    let rules = Rules::from_name("pentago").unwrap();
    // White has four in a row, so that a marble on e1 wins without a turn.
    let start = Pentago::parse(&rules, "wwww..bbbb..........................").unwrap();
    let random = player(&rules, "random");
    let session = Session::new(Setup {
        rules,
        start,
        opponent: random.clone(),
        adviser: random,
        seed: 0,
        person_begins: true,
    });
    insta::assert_snapshot!(moves::listed(&session.position()));
}

#[test]
fn either_side_may_begin() {
    assert!(tic_tac_toe(true).is_persons_turn());
    assert_eq!(tic_tac_toe(true).played.moves.len(), 0);
    assert!(tic_tac_toe(false).is_persons_turn());
    assert_eq!(tic_tac_toe(false).played.moves.len(), 1);
    assert_eq!(tic_tac_toe(false).undo(), "There is no move of yours to take back.\n");
}

#[test]
fn the_same_seed_gives_the_same_games_and_another_game_other_moves() {
    let play = |lines: &[&str]| {
        transcript(
            &mut session::<Pentago>(&Rules::from_name("pentago").unwrap(), "random", false),
            lines,
        )
    };
    assert_eq!(play(&["board", "new", "new"]), play(&["board", "new", "new"]));
    let mut session = session::<Pentago>(&Rules::from_name("pentago").unwrap(), "random", false);
    let first = session.played.clone();
    session.line("new", &Timeless).unwrap();
    assert_ne!(session.played, first);
}

#[test]
fn both_sides_can_be_watched() {
    let rules = Nim::rules(&[1, 2], false).unwrap();
    let mut session: Session<Nim> = session(&rules, "minimax", true);
    let mut text = String::new();
    while let Some(shown) = session.watch(&Timeless).unwrap() {
        text.push_str(&shown);
    }
    insta::assert_snapshot!(text);
}

/// A host that aborts.
struct Gone;

impl Host for Gone {
    fn wall(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }

    fn cpu(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }

    fn aborted(&self) -> bool {
        true
    }
}

#[test]
fn an_interrupted_search_changes_nothing() {
    for line in ["a1", "go", "new", "hint", "view"] {
        let mut session = tic_tac_toe(false);
        let line = if line == "a1" {
            session.position().nth_legal_move(0).to_string()
        } else {
            line.to_owned()
        };
        let before = session.played.clone();
        assert_eq!(session.line(&line, &Gone), Err(PlayError::Aborted), "{line}");
        assert_eq!((session.played, session.games), (before, 0), "{line}");
    }
}

/// Lines that people write, and arbitrary ones.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => (0_u32..300).prop_map(|index| format!("legal {index}")),
        3 => Just("undo".to_owned()),
        3 => prop::sample::select(
            &["help", "moves", "hint", "view", "go", "board", "position", "new", "", "QUIT"][..]
        ).prop_map(ToOwned::to_owned),
        1 => "[a-g][0-9](-[0-9][rl])?",
        1 => ".{0,60}",
    ]
}

/// The output that a person sees, and the state behind it.
fn seen<P: Game>(session: &Session<P>) -> (Played<P>, String, String, u64) {
    (session.played.clone(), session.board(), session.prompt(), session.games)
}

fn obeys<P: Game>(rules: &Rules, opponent: &str, begins: bool, lines: &[String]) {
    let mut session = session::<P>(rules, opponent, begins);
    // The state before each move of this game that was not taken back.
    let mut before = Vec::new();
    for line in lines {
        let position = session.position();
        let line = match line.strip_prefix("legal ").and_then(|index| index.parse::<u32>().ok()) {
            Some(_) if position.is_over() => "board".to_owned(),
            Some(index) => position.nth_legal_move(index % position.legal_move_count()).to_string(),
            None => line.clone(),
        };
        let then = seen(&session);
        let answer = session.line(&line, &Timeless).unwrap();
        assert_eq!(answer.goes_on, line.trim().to_lowercase() != "quit");
        let now = seen(&session);
        // It is the person's turn, unless the game is over.
        assert!(session.position().is_over() || session.is_persons_turn());
        match line.trim().to_lowercase().as_str() {
            "undo" => match before.pop() {
                Some(restored) => assert_eq!(now, restored),
                None => assert_eq!(now, then),
            },
            "new" => {
                before.clear();
                assert_eq!(now.3, then.3 + 1);
            }
            // A move: legal, so that it went on, and again the same after it was taken back.
            _ if now.0.moves.len() > then.0.moves.len() => {
                session.undo();
                assert_eq!(seen(&session), then);
                session.line(&line, &Timeless).unwrap();
                assert_eq!(seen(&session), now);
                before.push(then);
            }
            _ => assert_eq!(now, then),
        }
        let text = session.played.to_string();
        assert_eq!(Played::parse(rules, &text).unwrap(), session.played);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No input breaks the session or loses a move, and undo restores the state exactly.
    #[test]
    fn any_lines_are_answered(
        opponent in prop::sample::select(&["random", "alpha-beta", "genetic-minimax"][..]),
        begins in any::<bool>(),
        game in 0..4,
        lines in prop::collection::vec(line(), 0..40),
    ) {
        match game {
            0 => obeys::<TicTacToe>(&TicTacToe::rules(), opponent, begins, &lines),
            1 => {
                let rules = Nim::rules(&[3, 4, 5], true).unwrap();
                obeys::<Nim>(&rules, opponent, begins, &lines);
            }
            2 => {
                let rules = Pentago::rules(false);
                obeys::<Pentago>(&rules, opponent, begins, &lines);
            }
            _ => {
                let rules = Rules::from_name("pentago").unwrap();
                obeys::<Pentago>(&rules, opponent, begins, &lines);
            }
        }
    }
}
