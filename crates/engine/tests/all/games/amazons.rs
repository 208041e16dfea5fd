//! Amazons against a slow reference.

use std::collections::BTreeMap;

use proptest::prelude::*;
use spelrum_engine::evaluation::Features;
use spelrum_engine::games::Amazons;
use spelrum_engine::{Ending, Game, Position, Rules, Side, Termination};

use super::evaluation::{evaluation, value};
use super::{moves_of, random, random_game};

type Place = (i32, i32);

/// Amazons on cells by row from the bottom and column.
#[derive(Clone)]
struct Slow {
    size: i32,
    cells: BTreeMap<Place, char>,
    to_move: char,
}

const fn other(side: char) -> char {
    if side == 'w' { 'b' } else { 'w' }
}

fn all_directions() -> impl Iterator<Item = Place> {
    let steps = (-1..=1).flat_map(|up| (-1..=1).map(move |right| (up, right)));
    steps.filter(|&step| step != (0, 0))
}

impl Slow {
    fn new(size: i32) -> Self {
        let third = (size - 1) / 3;
        let last = size - 1;
        let mut cells: BTreeMap<Place, char> =
            (0..size).flat_map(|row| (0..size).map(move |column| ((row, column), '.'))).collect();
        for (row, column) in [(0, third), (third, 0)] {
            for column in [column, last - column] {
                cells.insert((row, column), 'w');
                cells.insert((last - row, column), 'b');
            }
        }
        Self { size, cells, to_move: 'w' }
    }

    fn text(&self) -> String {
        let rows = (0..self.size).rev();
        let cells = rows.flat_map(|row| (0..self.size).map(move |column| (row, column)));
        let cells: String = cells.map(|place| self.cells[&place]).collect();
        format!("{cells} {}", self.to_move)
    }

    fn places(&self, letter: char) -> Vec<Place> {
        self.cells.iter().filter(|(_, cell)| **cell == letter).map(|(&place, _)| place).collect()
    }

    fn is_empty(&self, place: Place) -> bool {
        self.cells.get(&place) == Some(&'.')
    }

    fn reach(&self, from: Place, longest: i32) -> Vec<Place> {
        let mut reached = Vec::new();
        for (up, right) in all_directions() {
            let places = (1..=longest).map(|step| (from.0 + up * step, from.1 + right * step));
            reached.extend(places.take_while(|&place| self.is_empty(place)));
        }
        reached
    }

    fn after_move(&self, from: Place, to: Place) -> Self {
        let mut next = self.clone();
        let amazon = next.cells.insert(from, '.').unwrap();
        next.cells.insert(to, amazon);
        next
    }

    fn moves(&self) -> Vec<[Place; 3]> {
        let mut moves = Vec::new();
        for from in self.places(self.to_move) {
            for to in self.reach(from, 10) {
                let arrows = self.after_move(from, to).reach(to, 10);
                moves.extend(arrows.into_iter().map(|arrow| [from, to, arrow]));
            }
        }
        moves
    }

    fn play(&self, [from, to, arrow]: [Place; 3]) -> Self {
        let mut next = self.after_move(from, to);
        next.cells.insert(arrow, 'x');
        next.to_move = other(self.to_move);
        next
    }

    fn ending(&self) -> Option<Ending> {
        let winner = Some(if self.to_move == 'w' { Side::Second } else { Side::First });
        let is_over = self.moves().is_empty();
        is_over.then_some(Ending { winner, termination: Termination::CANNOT_MOVE })
    }

    /// The fewest moves of so many steps at most from a side's amazons to each cell that they reach.
    fn distances(&self, side: char, longest: i32) -> BTreeMap<Place, u32> {
        let (mut distances, mut last) = (BTreeMap::new(), self.places(side));
        for distance in 1.. {
            let next = last.iter().flat_map(|&place| self.reach(place, longest));
            let mut next: Vec<Place> =
                next.filter(|place| !distances.contains_key(place)).collect();
            next.sort_unstable();
            next.dedup();
            if next.is_empty() {
                break;
            }
            distances.extend(next.iter().map(|&place| (place, distance)));
            last = next;
        }
        distances
    }

    fn nearer(&self, side: char, longest: i32) -> usize {
        let theirs = self.distances(other(side), longest);
        let own = self.distances(side, longest);
        own.iter().filter(|&(place, own)| theirs.get(place).is_none_or(|other| own < other)).count()
    }

    fn feature(&self, name: &str, side: char) -> i32 {
        let reached = |longest| {
            self.places(side).into_iter().map(move |place| self.reach(place, longest).len())
        };
        let count = match name {
            "queen_cells" => self.nearer(side, 10),
            "king_cells" => self.nearer(side, 1),
            "moves" => reached(10).sum(),
            "liberties" => reached(1).sum(),
            "empty" => self.places('.').len(),
            other => panic!("{other}"),
        };
        count as i32
    }
}

fn name([from, to, arrow]: [Place; 3]) -> String {
    let cell = |(row, column): Place| format!("{}{}", (b'a' + column as u8) as char, row + 1);
    format!("{}-{}/{}", cell(from), cell(to), cell(arrow))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn positions_are_their_slow_twins(size in 4_u32..=10, played in 0_u32..=100, seed: u64) {
        let rules = Amazons::rules(size).unwrap();
        let (mut position, mut slow) = (Amazons::start(&rules).unwrap(), Slow::new(size as i32));
        let mut random = random(seed);
        for _ in 0..(size * size - 8) * played / 100 {
            let Some(from) = slow.places(slow.to_move).into_iter().find(|&from| !slow.reach(from, 1).is_empty())
            else { break };
            // One of the amazon's moves, drawn in two steps.
            let pick = |places: Vec<Place>, random: &mut spelrum_engine::Random| {
                places[random.below(places.len() as u32) as usize]
            };
            let to = pick(slow.reach(from, 10), &mut random);
            let arrow = pick(slow.after_move(from, to).reach(to, 10), &mut random);
            let mv = position.parse_move(&name([from, to, arrow])).unwrap();
            prop_assert!(position.is_legal(mv), "{} in {:?}", mv, position);
            position.play_unchecked(mv);
            slow = slow.play([from, to, arrow]);
        }
        prop_assert_eq!(position.to_string(), slow.text());
        prop_assert_eq!(position.ending(), slow.ending(), "{:?}", position);
        let mut expected: Vec<String> = slow.moves().into_iter().map(name).collect();
        let mut moves: Vec<String> = moves_of(&position).iter().map(ToString::to_string).collect();
        expected.sort_unstable();
        moves.sort_unstable();
        prop_assert_eq!(moves, expected, "{:?}", position);

        let lead = |name| slow.feature(name, slow.to_move) - slow.feature(name, other(slow.to_move));
        let territory = evaluation(&rules, "territory", &[4_999, -71]);
        let expected = 4_999 * lead("queen_cells") - 71 * lead("king_cells");
        prop_assert_eq!(value(&territory, &position), expected, "{:?}", position);
        let mobility = evaluation(&rules, "mobility", &[-301, 5_000]);
        let expected = -301 * lead("moves") + 5_000 * lead("liberties");
        prop_assert_eq!(value(&mobility, &position), expected, "{:?}", position);
        for (index, info) in (0..).zip(Amazons::FEATURES) {
            for (side, letter) in [(Side::First, 'w'), (Side::Second, 'b')] {
                let counted = match info.name.split_once('_') {
                    Some(("own", name)) => slow.feature(name, letter),
                    Some(("opp", name)) => slow.feature(name, other(letter)),
                    _ => slow.feature(info.name, letter),
                };
                let mut feature = [f64::NAN];
                position.features(side, &[index], &mut feature);
                prop_assert_eq!(feature[0], f64::from(counted), "{} of {:?}", info.name, position);
            }
        }
    }
}

/// As is well known of the usual board.
#[test]
fn there_are_2176_first_moves() {
    assert_eq!(Amazons::new(10).legal_move_count(), 2_176);
}

#[test]
fn boards_for_people() {
    insta::assert_snapshot!(Amazons::new(10).board(), @r"
    10 . . . b . . b . . .
     9 . . . . . . . . . .
     8 . . . . . . . . . .
     7 b . . . . . . . . b
     6 . . . . . . . . . .
     5 . . . . . . . . . .
     4 w . . . . . . . . w
     3 . . . . . . . . . .
     2 . . . . . . . . . .
     1 . . . w . . w . . .
       a b c d e f g h i j
    white to move
    ");
    let over = random_game(Amazons::new(6), 1).pop().unwrap();
    insta::assert_snapshot!(over.board(), @r"
    6 x x . x x b
    5 b x x x x x
    4 x b x x x x
    3 x x w x x x
    2 x x x x x w
    1 b w x x w x
      a b c d e f
    white wins: the side to move cannot move
    ");
}

#[test]
fn texts_that_are_not_positions_or_moves() {
    let rules = Amazons::rules(4).unwrap();
    let texts =
        [".bb.b..bw..w.ww.", ".bb.b..bw..w.ww. x", ".bb.b..bw..w.ww.-w", ".bb.b..bw..wwwww w"];
    let refusal = |text: &str| format!("{}\n", Amazons::parse(&rules, text).unwrap_err());
    insta::assert_snapshot!(texts.map(refusal).concat(), @r"
    the position's length is 16 instead of 18; write an Amazons position as 16 characters, row by row from the top left: w and b for amazons, x for arrows, . for empty; then a space and who is to move, w or b
    character 18 of the position is 'x'; write an Amazons position as 16 characters, row by row from the top left: w and b for amazons, x for arrows, . for empty; then a space and who is to move, w or b
    character 17 of the position is '-'; write an Amazons position as 16 characters, row by row from the top left: w and b for amazons, x for arrows, . for empty; then a space and who is to move, w or b
    6 white and 4 black amazons cannot be on one board; give each side at most 4 amazons, as at the start
    ");
    let position = Amazons::new(4);
    let texts = ["b1-b2", "b1-b2-b3", "b1-b2/b2", "b1-c3/c2", "b1-b2/c4", "e1-e2/e3", "b1-b2/b3 "];
    let moves = texts.map(|text| position.parse_move(text).unwrap_err().what);
    insta::assert_snapshot!(moves.join("\n"), @r"
    `b1-b2` is not an Amazons move
    `b1-b2-b3` is not an Amazons move
    `b1-b2/b2` is not an Amazons move
    `b1-c3/c2` is not an Amazons move
    `b1-b2/c4` is not an Amazons move
    `e1-e2/e3` is not an Amazons move
    `b1-b2/b3 ` is not an Amazons move
    ");
}

/// Keys are recorded: these never change.
#[test]
fn golden_keys() {
    let game = random_game(Amazons::start(&Rules::usual::<Amazons>()).unwrap(), 1);
    let keys: Vec<u64> = game.iter().step_by(20).map(Position::canonical_key).collect();
    insta::assert_compact_debug_snapshot!(keys, @"[6750611628140180, 6441892113194129, 3176812940235217, 7919173012367428]");
}
