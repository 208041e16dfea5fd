//! Written texts are parsed back; invalid ones are refused with a place and a remedy.

use proptest::prelude::*;
use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::{Game, Played, Position, Problem, Rules, with_game};

use crate::common::all_sample_rules;

use super::{moves_of, pentago, random, random_board, random_game};

fn round_trips<P: Game>(rules: &Rules, seed: u64) {
    let positions = random_game(P::start(rules).unwrap(), seed);
    for position in &positions {
        assert_eq!(P::parse(rules, &position.to_string()).as_ref(), Ok(position));
        for mv in moves_of(position) {
            assert_eq!(position.parse_move(&mv.to_string()), Ok(mv));
        }
    }
    let mut random = random(seed);
    let mut played = Played::from_start(positions[positions.len() / 2].clone());
    let mut last = played.start.clone();
    while !last.is_over() {
        let mv = last.random_move(&mut random);
        played.moves.push(mv);
        last.play_unchecked(mv);
    }
    assert_eq!(played.last(), last);
    assert_eq!(Played::parse(rules, &played.to_string()), Ok(played));
}

/// Every game under all its rules that tests look at, and Nim under any.
fn every_rules() -> impl Strategy<Value = Rules> {
    let all = all_sample_rules();
    prop_oneof![
        all.len() as u32 => prop::sample::select(all),
        2 => (prop::collection::vec(0_u32..=30, 1..=8), any::<bool>())
            .prop_filter("an object", |(heaps, _)| heaps.iter().any(|&heap| heap > 0))
            .prop_map(|(heaps, misere)| Nim::rules(&heaps, misere).unwrap()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn positions_moves_and_games_round_trip(rules in every_rules(), seed: u64) {
        with_game!(&rules, P => round_trips::<P>(&rules, seed));
    }

    #[test]
    fn any_board_round_trips(marbles in 0_usize..=36, seed: u64) {
        let text = random_board(marbles, seed);
        let position = Pentago::parse(&pentago(), &text).unwrap();
        prop_assert_eq!(position.to_string(), text);
    }

    /// Nothing panics, and what is read is written back as it was.
    #[test]
    fn any_text_is_read_exactly_or_refused(
        rules in every_rules(), text in "[.wbxo0-9a-h,/+ \\-:é]{0,40}",
    ) {
        with_game!(&rules, P => {
            if let Ok(position) = P::parse(&rules, &text) {
                let form = position.to_string();
                assert!(form == text || P::READS_OTHER_FORMS, "{form} is not {text}");
                assert_eq!(P::parse(&rules, &form).as_ref(), Ok(&position));
            }
            if let Ok(mv) = P::start(&rules).unwrap().parse_move(&text) {
                assert_eq!(mv.to_string(), text);
            }
            let _either = Played::<P>::parse(&rules, &text);
        });
    }
}

fn refusal<P: Game>(rules: &str, text: &str) -> Problem {
    let rules: Rules = serde_json::from_str(rules).unwrap();
    P::parse(&rules, text).unwrap_err()
}

/// What each text gets for an answer, for a snapshot.
fn listed<E: std::fmt::Display>(texts: &[&str], answer: impl Fn(&str) -> E) -> String {
    texts.iter().map(|text| format!("`{text}`: {}\n", answer(text))).collect()
}

const PENTAGO: &str = r#"{"name":"pentago"}"#;

#[test]
fn what_is_not_a_pentago_position() {
    let texts = [
        "",
        ".....................................",
        "..w.x...............................",
        "..w.W...............................",
        "ww..................................",
        "b...................................",
        "....................................+",
        // Two parallel fives cannot come from one placement.
        "wwwwwbbb.bbbbbb................wwwww+",
    ];
    insta::assert_snapshot!(listed(&texts, |text| refusal::<Pentago>(PENTAGO, text).what), @r"
    ``: the position's length is 0 instead of 36
    `.....................................`: the position's length is 37 instead of 36
    `..w.x...............................`: character 5 of the position is 'x'
    `..w.W...............................`: character 5 of the position is 'W'
    `ww..................................`: 2 white and 0 black marbles cannot be on one board
    `b...................................`: 0 white and 1 black marbles cannot be on one board
    `....................................+`: the position ends in `+`, but the player who moved last is not the only one with five in a row
    `wwwwwbbb.bbbbbb................wwwww+`: the position ends in `+`, but no single placement makes all the fives on it
    ");
    let other_rules = r#"{"name":"pentago","win_before_rotation":false}"#;
    let ended = "wwwww.bbb.........b.................+";
    insta::assert_snapshot!(refusal::<Pentago>(other_rules, ended).what, @"the position ends in `+`, but under these rules five counts only after the turn of a quadrant");
    let other_game = refusal::<Pentago>(r#"{"name":"nim"}"#, &".".repeat(36));
    insta::assert_snapshot!(other_game, @"these are rules of nim, not of pentago; give the rules of pentago");
}

#[test]
fn what_is_not_a_pentago_move() {
    let texts = ["g1-1r", "c3-5r", "é3-1r", "c3-1", "c3-", "C3-1R", ""];
    let problem = |text: &str| Pentago::empty(true).parse_move(text).unwrap_err().what;
    insta::assert_snapshot!(listed(&texts, problem), @r"
    `g1-1r`: `g1-1r` is not a Pentago move: `g1` is not a cell from a1 to f6
    `c3-5r`: `c3-5r` is not a Pentago move: `5r` is not a turn of a quadrant
    `é3-1r`: `é3-1r` is not a Pentago move: `é3` is not a cell from a1 to f6
    `c3-1`: `c3-1` is not a Pentago move: `1` is not a turn of a quadrant
    `c3-`: `c3-` is not a Pentago move: `` is not a turn of a quadrant
    `C3-1R`: `C3-1R` is not a Pentago move: `C3` is not a cell from a1 to f6
    ``: `` is not a Pentago move: `` is not a cell from a1 to f6
    ");
}

#[test]
fn what_is_not_a_tic_tac_toe_text() {
    let texts = ["xo", "xo..w....", "xx.......", "xxxooo..."];
    let problem = |text: &str| refusal::<TicTacToe>(r#"{"name":"tic-tac-toe"}"#, text).what;
    insta::assert_snapshot!(listed(&texts, problem), @r"
    `xo`: the position's length is 2 instead of 9
    `xo..w....`: character 5 of the position is 'w'
    `xx.......`: 2 x and 0 o cannot be on one board
    `xxxooo...`: the player to move has three in a row already
    ");
    let problem = |text: &str| TicTacToe::empty().parse_move(text).unwrap_err().what;
    insta::assert_snapshot!(listed(&["d1", ""], problem), @r"
    `d1`: `d1` is not a tic-tac-toe move
    ``: `` is not a tic-tac-toe move
    ");
}

#[test]
fn what_is_not_a_nim_text() {
    let texts = ["3,4", "3,4/x", "3,+4/w", "3,5/w", "3/w", "3,4,5/w", "3,4/b", "2,4/w"];
    let problem = |text: &str| refusal::<Nim>(r#"{"name":"nim","heaps":[3,4]}"#, text).what;
    insta::assert_snapshot!(listed(&texts, problem), @r"
    `3,4`: `3,4` does not say who is to move
    `3,4/x`: `x` is neither w nor b
    `3,+4/w`: heap 2 is `+4`
    `3,5/w`: heap 2 has 5 objects of 4 at the start
    `3/w`: the number of heaps is 1 instead of 2
    `3,4,5/w`: the number of heaps is 3 instead of 2
    `3,4/b`: with so many objects taken it cannot be the second player's turn
    `2,4/w`: with so many objects taken it cannot be the first player's turn
    ");
    let nim = Nim::start(&Nim::rules(&[3, 4], true).unwrap()).unwrap();
    let problem = |text: &str| nim.parse_move(text).unwrap_err().what;
    insta::assert_snapshot!(listed(&["c1", "a0", "a01", "a31", ""], problem), @r"
    `c1`: `c1` is not a Nim move
    `a0`: `a0` is not a Nim move
    `a01`: `a01` is not a Nim move
    `a31`: `a31` is not a Nim move
    ``: `` is not a Nim move
    ");
}

#[test]
fn remedies() {
    let texts =
        ["?", "ww..................................", "....................................+"];
    insta::assert_snapshot!(listed(&texts, |text| refusal::<Pentago>(PENTAGO, text).remedy), @r"
    `?`: write a Pentago position as 36 characters, row by row from the top left: w for white, b for black, . for empty
    `ww..................................`: white moves first: give as many white as black marbles, or one more
    `....................................+`: leave out `+`, which marks a game that ended by a placement
    ");
    let tic_tac_toe = |text: &str| refusal::<TicTacToe>(r#"{"name":"tic-tac-toe"}"#, text).remedy;
    insta::assert_snapshot!(listed(&["?", "o........", "xxxooo..."], tic_tac_toe), @r"
    `?`: write a tic-tac-toe position as nine characters, row by row from the top left: x (who moves first), o, . for empty
    `o........`: x moves first: give as many x as o, or one more
    `xxxooo...`: the game ends with the first three: take back the moves after it
    ");
    let rules = Nim::rules(&[3, 4], false).unwrap();
    insta::assert_snapshot!(Nim::parse(&rules, "?").unwrap_err().remedy, @"write a Nim position as its heaps and who moves, such as 3,4/w or 3,4/b");
    let moves = [
        Pentago::empty(true).parse_move("?").unwrap_err().remedy,
        TicTacToe::empty().parse_move("?").unwrap_err().remedy,
        Nim::start(&rules).unwrap().parse_move("?").unwrap_err().remedy,
    ];
    insta::assert_snapshot!(moves.join("\n"), @r"
    write a cell and a turn such as c3-2r (quadrants 1 top left, 2 top right, 3 bottom left, 4 bottom right; r clockwise, l counter-clockwise), or the cell alone if the placement makes five
    write a cell from a1 (top left) to c3
    write a heap from a to b and how many objects to take, such as a2
    ");
}

#[test]
fn what_is_not_a_game() {
    let texts =
        ["c3-2r c3-1l", "c3-2r d9", "w: c3-2r", "wwwww.bbb.........b.................+: a2-1r"];
    let refusal = |text: &str| Played::<Pentago>::parse(&pentago(), text).unwrap_err();
    insta::assert_snapshot!(listed(&texts, |text| refusal(text).what), @r"
    `c3-2r c3-1l`: ply 2: `c3-1l` is not legal in `..............w.....................`
    `c3-2r d9`: ply 2: `d9` is not a Pentago move: `d9` is not a cell from a1 to f6
    `w: c3-2r`: the position's length is 1 instead of 36
    `wwwww.bbb.........b.................+: a2-1r`: ply 1: `a2-1r` is not legal in `wwwww.bbb.........b.................+`
    ");
    insta::assert_snapshot!(listed(&[texts[0], texts[3]], |text| refusal(text).remedy), @r"
    `c3-2r c3-1l`: a legal move is `a1-1r`
    `wwwww.bbb.........b.................+: a2-1r`: leave it out: the game is over (white wins: five in a row by a placement)
    ");
}

#[test]
fn a_game_without_a_position_starts_from_the_start() {
    let played = Played::<TicTacToe>::parse(&TicTacToe::rules(), "b2 a1").unwrap();
    assert_eq!(played.last().to_string(), "o...x....");
    assert_eq!(played.to_string(), ".........: b2 a1");
}

#[test]
fn boards_for_people() {
    let board = |text| Pentago::parse(&pentago(), text).unwrap().board();
    insta::assert_snapshot!(board("w...b.....ww....w........b.....b..b."), @r"
        a b c   d e f
    1   w . .   . b .
    2   . . .   . w w
    3   . . .   . w .

    4   . . .   . . .
    5   . b .   . . .
    6   . b .   . b .
    white to move
    ");
    insta::assert_snapshot!(board("wwwww.bbb.........b.................+"), @r"
        a b c   d e f
    1   w w w   w w .
    2   b b b   . . .
    3   . . .   . . .

    4   b . .   . . .
    5   . . .   . . .
    6   . . .   . . .
    white wins: five in a row by a placement
    ");
    let tic_tac_toe = TicTacToe::parse(&TicTacToe::rules(), "xo..x....").unwrap();
    insta::assert_snapshot!(tic_tac_toe.board(), @r"
       a b c
    1  x o .
    2  . x .
    3  . . .
    o to move
    ");
    let nim = Nim::rules(&[3, 4, 1], true).unwrap();
    insta::assert_snapshot!(Nim::parse(&nim, "3,0,1/b").unwrap().board(), @r"
    a  3  o o o
    b  0
    c  1  o
    the second player to move
    ");
    insta::assert_snapshot!(Nim::parse(&nim, "0,0,0/b").unwrap().board(), @r"
    a  0
    b  0
    c  0
    the second player wins: the last object is taken
    ");
}

#[test]
fn what_is_not_a_game_or_its_rules_is_refused() {
    let games: Vec<&str> = Rules::games().iter().map(|game| game.name).collect();
    let game = |text: &str| {
        Rules::from_name(text).unwrap_err().to_string().replace(&games.join(", "), "GAMES")
    };
    insta::assert_snapshot!(listed(&["pentaggo", "Tic-Tac-Toe", "bridge", ""], game), @r"
    `pentaggo`: there is no game `pentaggo`; did you mean `pentago`?
    `Tic-Tac-Toe`: there is no game `Tic-Tac-Toe`; did you mean `tic-tac-toe`?
    `bridge`: there is no game `bridge`; the games are GAMES
    ``: there is no game ``; the games are GAMES
    ");
    let nim = |heaps: &[u32]| Nim::rules(heaps, false).unwrap_err();
    let problems = [&[][..], &[0, 0], &[3, 31], &[1; 9]].map(|heaps| nim(heaps).to_string());
    insta::assert_snapshot!(problems.join("\n"), @r"
    `heaps` cannot be []; write a list of 1 to 8 integers from 0 to 30
    Nim needs at least one object; give a heap that has objects, such as heaps = [3, 4, 5]
    `heaps` cannot be [3, 31]; write a list of 1 to 8 integers from 0 to 30
    `heaps` cannot be [1, 1, 1, 1, 1, 1, 1, 1, 1]; write a list of 1 to 8 integers from 0 to 30
    ");
}

#[test]
fn rules_have_a_name_and_a_json_form() {
    for name in Rules::games().iter().map(|game| game.name) {
        let rules = Rules::from_name(name).unwrap();
        assert_eq!(rules.name(), name);
        let json = serde_json::to_value(&rules).unwrap();
        assert_eq!(json["name"], name);
        assert_eq!(
            serde_json::from_str::<Rules>(&format!(r#"{{"name":"{name}"}}"#)).unwrap(),
            rules
        );
    }
    let json = |rules: &Rules| serde_json::to_string(rules).unwrap();
    insta::assert_snapshot!(json(&Rules::from_name("pentago").unwrap()), @r#"{"name":"pentago","win_before_rotation":true}"#);
    insta::assert_snapshot!(json(&Rules::from_name("tic-tac-toe").unwrap()), @r#"{"name":"tic-tac-toe"}"#);
    insta::assert_snapshot!(json(&Rules::from_name("nim").unwrap()), @r#"{"name":"nim","heaps":[3,4,5],"misere":false}"#);
    assert_eq!(Nim::rules(&[3, 4, 5], false).unwrap(), Rules::from_name("nim").unwrap());
    for unknown in [r#"{"name":"bridge"}"#, r#"{"name":"tic-tac-toe","size":4}"#, "{}"] {
        assert!(serde_json::from_str::<Rules>(unknown).is_err());
    }
}
