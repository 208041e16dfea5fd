//! Valid names of endgames, and errors for others.

use spelrum_engine::tables::{Endgame, EndgameTable};

fn endgame(name: &str) -> Endgame {
    name.parse().unwrap()
}

#[test]
fn names_have_white_s_pieces_first_and_each_side_s_in_order() {
    for (name, written, letters) in [
        ("KK", "KK", "Kk"),
        ("KRK", "KRK", "KkR"),
        ("kbnk", "KBNK", "KkBN"),
        ("KNBK", "KBNK", "KkBN"),
        ("KRKB", "KRKB", "KkRb"),
        ("KKR", "KKR", "Kkr"),
        ("KKNQ", "KKQN", "Kkqn"),
        ("KPK", "KPK", "KkP"),
        ("KPBK", "KBPK", "KkBP"),
        ("KRKP", "KRKP", "KkRp"),
    ] {
        let endgame = endgame(name);
        assert_eq!(endgame.name(), written);
        assert_eq!(endgame.to_string(), written);
        assert_eq!(endgame.letters().collect::<String>(), letters);
    }
}

#[test]
fn other_names_are_refused_with_a_remedy() {
    let refusals =
        ["", "R", "KR", "RKK", "KRKK", "KXK", "KBBKN", "KQQQK", "K RK", "KRK\n", "KÄK", "♔♖♚"];
    let said: Vec<String> = refusals
        .map(|name| {
            let error = name.parse::<Endgame>().unwrap_err();
            format!("{name:?}: {}; {}", error.what, error.remedy)
        })
        .into();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_long_name_is_refused_in_a_short_message() {
    let error = "K".repeat(100_000).parse::<Endgame>().unwrap_err();
    assert_eq!(error.what, "it has 100000 kings, not two");
    assert!(error.to_string().len() < 200, "{error}");
}

#[test]
fn bare_kings_draw_everywhere() {
    let counts = EndgameTable::make(&endgame("KK"), |_| {}).counts();
    for side in counts.sides {
        assert_eq!((side.legal, side.draws, side.stalemates), (3612, 3612, 0));
        assert_eq!((side.longest_win, side.longest_loss), (None, None));
    }
}
