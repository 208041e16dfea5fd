//! Go against a slow reference, known numbers, another program's games, and known positions.

use std::collections::BTreeSet;

use proptest::prelude::*;
use spelrum_engine::evaluation::Features;
use spelrum_engine::games::go::{LENGTH, SUPERKO, TWO_PASSES};
use spelrum_engine::games::{Go, GoMove};
use spelrum_engine::{
    Before, Ending, Game, GameSetup, Knowledge, Line, Outcome, Played, Position, Rules, Side,
    Timeless, engine_moves, perft, play_game,
};

use super::evaluation::{evaluation, value};
use super::slow_go::SlowGo;
use super::{moves_of, random};
use crate::common::{key, player, start};

const KNOWN: &str = include_str!("../../vectors/go/openspiel.json");

fn rules(size: u32) -> Rules {
    Go::rules(size, 7.5, false).unwrap()
}

/// A position without a ko, from its rows.
fn board(rows: &[&str], side: char) -> Go {
    Go::parse(&rules(rows.len() as u32), &format!("{} {side} 0 0", rows.join("/"))).unwrap()
}

/// The rows of the position after these moves.
fn after(position: &Go, moves: &str) -> String {
    let played = Played::<Go>::parse(&rules(position.size()), &format!("{position}: {moves}"));
    played.unwrap().last().to_string().split(' ').next().unwrap().to_owned()
}

fn is_legal(position: &Go, mv: &str) -> bool {
    position.is_legal(position.parse_move(mv).unwrap())
}

/// A position with the moves before it.
struct Walk {
    position: Go,
    before: Vec<Before<GoMove>>,
}

impl Walk {
    fn from_start(position: Go) -> Self {
        Self { position, before: Vec::new() }
    }

    fn play(&mut self, mv: &str) {
        let mv = self.position.parse_move(mv).unwrap();
        assert!(self.position.is_legal(mv), "{mv} in {}", self.position);
        self.before.push(Before { mv, key: self.position.canonical_key() });
        self.position.play_unchecked(mv);
    }

    fn ending(&self) -> Option<Ending> {
        Line { position: &self.position, before: &self.before }.ending()
    }

    fn is_repeated(&self) -> bool {
        Go::adjudicate(Line { position: &self.position, before: &self.before }).is_some()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn games_are_their_slow_twins(
        size in prop_oneof![2_usize..=5, Just(7_usize), Just(9), Just(11)],
        komi in -9_i32..=15, suicide: bool, seed: u64, passes_rarely: bool,
    ) {
        let mut random = random(seed);
        let mut slow = SlowGo::empty(size, komi, suicide);
        let mut walk = Walk::from_start(Go::empty(size as u32, komi, suicide));
        let plies = random.below(3 * (size * size) as u32 + 1);
        for ply in 0..plies {
            let moves: Vec<String> = moves_of(&walk.position).iter().map(ToString::to_string).collect();
            let is_compared = size < 6 || ply % 16 == 0 || ply + 1 == plies;
            if is_compared {
                prop_assert_eq!(&moves, &slow.moves(), "{}", walk.position);
            }
            prop_assert_eq!(walk.position.is_over(), moves.is_empty());
            if moves.is_empty() {
                break;
            }
            let mut index = random.below(moves.len() as u32) as usize;
            if passes_rarely && index + 1 == moves.len() {
                index = random.below(moves.len() as u32) as usize;
            }
            slow = slow.play(&moves[index]);
            walk.play(&moves[index]);
            prop_assert_eq!(walk.is_repeated(), slow.is_repeated, "{} {:?}", walk.position, walk.before);
            if is_compared {
                prop_assert_eq!(walk.position.to_string(), slow.text());
                prop_assert_eq!(walk.position.half_points(), slow.margin(), "{}", walk.position);
            }
        }
        let position = walk.position;
        prop_assert_eq!(position.is_over(), slow.is_over());
        if let Some(ending) = position.ending() {
            let winner = [Some(Side::Second), None, Some(Side::First)][(slow.margin().signum() + 1) as usize];
            prop_assert_eq!(ending.winner, winner);
            prop_assert_eq!(position.margin(), Some(slow.margin()));
        }
        for side in [Side::First, Side::Second] {
            let own = Go::SIDES[side.index()].letter;
            for (index, info) in Go::FEATURES.iter().enumerate() {
                let mut value = [f64::NAN];
                position.features(side, &[index as u16], &mut value);
                let (whose, name) = info.name.split_once('_').unwrap();
                let letter = if (whose == "own") == (own == 'b') { 'b' } else { 'w' };
                prop_assert_eq!(value[0], f64::from(slow.feature(name, letter)), "{} of {}", name, position);
            }
        }
        prop_assert_eq!(slow.side(), Go::SIDES[position.to_move().index()].letter);
    }
}

/// Tromp & Farnebäck 2007, "Combinatorics of Go": the numbers of legal positions of 2×2 and 3×3 points, which are
/// also those that play reaches.
#[test]
fn legal_positions_are_as_many_as_published() {
    for (size, expected) in [(2_u32, 57), (3, 12_675)] {
        let rules = rules(size);
        let points = (size * size) as usize;
        let text = |number: usize| {
            let mut number = number;
            let points: Vec<char> = (0..points)
                .map(|_| {
                    let point = ['.', 'b', 'w'][number % 3];
                    number /= 3;
                    point
                })
                .collect();
            let rows: Vec<String> =
                points.chunks(size as usize).map(|row| row.iter().collect()).collect();
            format!("{} b 0 0", rows.join("/"))
        };
        let legal = (0..3_usize.pow(points as u32))
            .filter(|&number| Go::parse(&rules, &text(number)).is_ok());
        assert_eq!(legal.count(), expected, "{size}");

        let mut reached = BTreeSet::new();
        let mut left = vec![Go::start(&rules).unwrap()];
        while let Some(position) = left.pop() {
            let text = position.to_string().replace('k', ".");
            let [board, side] = [0, 1].map(|field| text.split(' ').nth(field).unwrap());
            if reached.insert(format!("{board} {side}")) {
                let position = Go::parse(&rules, &format!("{board} {side} 0 0")).unwrap();
                left.extend(moves_of(&position).into_iter().map(|mv| {
                    let mut child = position;
                    child.play_unchecked(mv);
                    child
                }));
            }
        }
        let boards: BTreeSet<&str> =
            reached.iter().map(|text| text.split(' ').next().unwrap()).collect();
        assert_eq!(boards.len(), expected, "{size}");
    }
}

/// Games and numbers of leaves of OpenSpiel, which ends games by superko, too.
#[test]
fn another_programs_games_are_played_alike() {
    let known: serde_json::Value = serde_json::from_str(KNOWN).unwrap();
    let mut ends = BTreeSet::new();
    for game in known["games"].as_array().unwrap() {
        let size = game["size"].as_u64().unwrap() as u32;
        let mut walk = Walk::from_start(Go::empty(size, 15, false));
        let counts = game["counts"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap());
        for (mv, count) in game["moves"].as_str().unwrap().split(' ').zip(counts) {
            assert_eq!(walk.ending(), None, "{game}");
            assert_eq!(
                u64::from(walk.position.legal_move_count()),
                count,
                "{} of {game}",
                walk.position
            );
            walk.play(mv);
        }
        let Ending { winner, termination } = walk.ending().unwrap();
        let end = game["end"].as_str().unwrap();
        ends.insert(end);
        assert_eq!(
            termination,
            match end {
                "passes" => TWO_PASSES,
                "length" => LENGTH,
                _ => SUPERKO,
            },
            "{game}"
        );
        // There, superko is a draw.
        if termination != SUPERKO {
            let first = if winner == Some(Side::First) { 1.0 } else { -1.0 };
            assert_eq!(game["first"].as_f64().unwrap(), first, "{game}");
        }
    }
    assert_eq!(ends.len(), 3);
    for known in known["perft"].as_array().unwrap() {
        let position = Go::empty(known["size"].as_u64().unwrap() as u32, 15, false);
        let leaves =
            known["leaves"].as_array().unwrap().iter().map(|leaves| leaves.as_u64().unwrap());
        // Games that were over earlier are leaves here.
        let mut over = 0;
        for (depth, leaves) in (1..).zip(leaves) {
            let counted = perft(&position, depth);
            assert_eq!(counted.leaves - over, leaves, "{known}");
            over = counted.ended.iter().map(|(_, leaves)| leaves).sum();
        }
    }
}

#[test]
fn a_ko_is_not_retaken_at_once() {
    let position = board(&[".....", ".bw..", "b.bw.", ".bw..", "....."], 'w');
    // White takes the stone on c3, which black may retake only after other moves.
    let taken = Played::<Go>::parse(&rules(5), &format!("{position}: b3")).unwrap().last();
    assert_eq!(taken.to_string(), "...../.bw../bwkw./.bw../..... b 0 1");
    assert!(!is_legal(&taken, "c3") && is_legal(&taken, "c5"));
    assert_eq!(after(&position, "b3 a1 e1 c3"), "...../.bw../bkbw./.bw../b...w");
    assert_eq!(Go::parse(&rules(5), &taken.to_string()), Ok(taken));
}

#[test]
fn captures_are_as_in_known_shapes() {
    // A snapback: white throws a stone in, black takes it, white takes the three.
    let snapback = board(&["..w..", "bbw..", "www..", ".....", "....."], 'w');
    assert_eq!(after(&snapback, "a5 b5"), ".bw../bbw../www../...../.....");
    assert_eq!(after(&snapback, "a5 b5 a5"), "w.w../..w../www../...../.....");
    // A group of two with its last free point filled; and the stones in the corner.
    let corner = board(&["bbw..", ".w...", ".....", ".....", "....."], 'w');
    assert_eq!(after(&corner, "a4"), "..w../ww.../...../...../.....");
    // Two groups are captured by one stone.
    let two = board(&[".bw.w", "..bbb", ".....", ".....", "....."], 'b');
    assert_eq!(after(&two, "d5"), ".b.b./..bbb/...../...../.....");
}

#[test]
fn suicide_is_a_rule() {
    let rows = "...../...../...../ww.../b.w.. b 0 0";
    let usual = Go::parse(&rules(5), rows).unwrap();
    assert!(!is_legal(&usual, "b1"));
    let tromp_taylor = Go::rules(5, 7.5, true).unwrap();
    let position = Go::parse(&tromp_taylor, rows).unwrap();
    assert!(is_legal(&position, "b1"));
    let last = Played::<Go>::parse(&tromp_taylor, &format!("{rows}: b1")).unwrap().last();
    assert_eq!(last.to_string(), "...../...../...../ww.../..w.. w 0 1");
    // A single stone would leave the board as before.
    let single = Go::parse(&tromp_taylor, "...../...../...../w..../.w... b 0 0").unwrap();
    assert!(!is_legal(&single, "a1"));
}

/// By hand on 2×2: White takes two stones, throws one in, and Black's capture restores the board after the first ply.
#[test]
fn a_stone_that_restores_an_earlier_board_loses() {
    let mut walk = Walk::from_start(Go::empty(2, 15, false));
    for mv in ["a1", "b1", "a2", "b2", "a1", "a2"] {
        walk.play(mv);
        assert_eq!(walk.ending(), None, "{mv}");
    }
    walk.play("a1");
    assert_eq!(walk.position.to_string(), "../b. w 0 7");
    assert_eq!(walk.ending(), Some(Ending { winner: Some(Side::Second), termination: SUPERKO }));
    // In a game that began after that board, the board is new.
    assert_eq!(Line { position: &walk.position, before: &walk.before[2..] }.ending(), None);
}

#[test]
fn areas_are_scored() {
    for (rows, lead) in [
        (&[".....", ".....", ".....", ".....", "....."][..], 0),
        (&[".....", ".....", "..b..", ".....", "....."], 25),
        (&["..b..", "..b..", "..b..", "..b..", "..bw."], 14),
        // A seki: neither side fills the points between them, which count for none.
        (&["bb.ww", "bb.ww", "bb.ww", "bb.ww", "bb.ww"], 0),
        (&[".bw..", "bbw..", "..w..", "bbw..", ".bw.."], -7),
        (&["bw", ".w"], -1),
        (&["b.", ".w"], 0),
    ] {
        let position = board(rows, 'b');
        assert_eq!(position.half_points(), 2 * lead - 15, "{rows:?}");
        let mut passed = position;
        passed.play_unchecked(GoMove::PASS);
        passed.play_unchecked(GoMove::PASS);
        assert_eq!(passed.margin(), Some(2 * lead - 15), "{rows:?}");
        assert_eq!(passed.ending().unwrap().termination, TWO_PASSES);
    }
    // Whole komi: draws.
    let even =
        Go::parse(&Go::rules(5, 25.0, false).unwrap(), "...../...../..b../...../..... b 2 9");
    assert_eq!(even.unwrap().ending(), Some(Ending { winner: None, termination: TWO_PASSES }));
}

#[test]
fn positions_that_play_does_not_reach_are_refused() {
    let is_read = |text: &str| Go::parse(&rules(3), text).is_ok();
    // Handicap stones: White to move.
    assert!(is_read("b.b/.../b.b w 0 0"));
    for text in [
        "b.b/.../b.b w 0",
        "b.b/.../b.b w 0 0 ",
        "b.b/... w 0 0",
        "b.b/..../b.b w 0 0",
        "b.b/.x./b.b w 0 0",
        "b.b/.../b.b x 0 0",
        "b.b/.../b.b w 3 3",
        "b.b/.../b.b w 1 0",
        "b.b/.../b.b w 0 28",
        "b.b/.../b.b w 0 07",
        "bw./w../... b 0 4",
        "k../.../... b 0 4",
        "kb./b../... b 0 4",
        "kb./b../... w 0 0",
    ] {
        assert!(!is_read(text), "{text}");
    }
    for (size, komi) in [(1, 7.5), (20, 7.5), (9, 7.25), (9, 400.0), (9, f64::NAN)] {
        assert!(Go::rules(size, komi, false).is_err(), "{size} {komi}");
    }
}

#[test]
fn games_end_at_their_length_at_the_latest() {
    let last = Go::parse(&rules(3), "bb./..b/... b 0 26").unwrap();
    assert_eq!(last.plies_left(), 1);
    // Any move ends it; the first that wins is the first in order.
    assert_eq!(last.winning_move().map(|mv| mv.to_string()).as_deref(), Some("a1"));
    let mut over = last;
    over.play_unchecked(GoMove::new(0, 0));
    assert_eq!(over.ending(), Some(Ending { winner: Some(Side::First), termination: LENGTH }));
    assert_eq!((over.legal_move_count(), over.plies_left()), (0, 0));
}

#[test]
fn komi_counts_in_evaluations() {
    let position = board(&[".....", ".....", "..b..", ".....", "....."], 'w');
    // 25 points of 10, one stone and 24 of territory; White has 15 half points of 5.
    assert_eq!(value(&evaluation(&rules(5), "area", &[10, 10, 5]), &position), -250 + 75);
}

/// Moves lead to openings with handicap stones and kos.
#[test]
fn engines_get_moves_that_lead_to_an_opening() {
    let sent = |opening: &str, moves: &[&str]| {
        let moves =
            engine_moves(&rules(3), opening, moves.iter().copied(), spelrum_engine::Protocol::Gtp);
        moves.unwrap().unwrap().join(" ")
    };
    assert_eq!(sent("b.b/.../b.. w 0 0", &["b2"]), "a1 pass a3 pass c3 b2");
    assert_eq!(sent(".../.../... w 0 0", &[]), "pass");
    assert_eq!(sent("b../..w/... b 0 2", &["b2"]), "a3 c2 b2");
}

#[test]
fn players_see_superko_and_pass_when_ahead() {
    // Black is far ahead after White's pass, and ends the game.
    let rules = rules(5);
    let players = r#"{"algorithm": "alpha-beta", "evaluation": "area", "depth": 2}"#;
    let player = player(&rules, players);
    let setup = GameSetup {
        rules: &rules,
        opening: "...../.bbb./.b.b./.bbb./..... b 1 20",
        players: [&player, &player],
        keys: [key(1), key(2)],
        max_plies: None,
        adjudication: None,
        stops: None,
    };
    let record = play_game(&setup, &Timeless).unwrap();
    assert_eq!(record.moves.len(), 1);
    assert_eq!((record.outcome, record.moves[0].mv.as_str()), (Outcome::Win, "pass"));
    assert_eq!(start(&rules), "...../...../...../...../..... b 0 0");
}
