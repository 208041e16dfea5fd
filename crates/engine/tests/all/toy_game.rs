//! An invented game with features that the real ones lack: a repetition rule, and an evaluation that is
//! large, slow to make, asymmetric, and reads a text, nested values and data by its hash.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::key;
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use spelrum_engine::evaluation::{Contents, GameEvaluation, NoContents, NoEvaluation, content_of};
use spelrum_engine::search::alpha_beta::{self, AlphaBeta};
use spelrum_engine::search::minimax::{self, Minimax};
use spelrum_engine::search::{Budget, Evaluate, Found, Limits, Search};
use spelrum_engine::{
    Answer, Before, Board, Ending, EvaluationInfo, Fault, Game, Host, KeyProblem, Knowledge, Line,
    Outcome, ParameterInfo, Parameters, PlainSolver, Player, Position, Problem, Promise, Random,
    Rules, SearchReport, Seat, Settings, Side, SideName, Solvable, Termination, TerminationInfo,
    Timeless, Turn, Value, arbitrate, evaluations, parameters_of, seat_of,
};

/// A counter on a ring of cells, moved in turn by one cell to the left or right. The side that
/// brings it to the goal wins; a position that occurs for the third time is a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Ring {
    cell: u8,
    cells: u8,
    to_move: Side,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Way {
    Left,
    Right,
}

const GOAL: u8 = 0;
const AT_GOAL: Termination =
    Termination::new(&TerminationInfo { name: "at_goal", words: "the counter is at the goal" });
const REPETITION: Termination =
    Termination::new(&TerminationInfo { name: "repetition", words: "the same position again" });

impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.cell, Self::SIDES[self.to_move.index()].letter)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Left { "l" } else { "r" })
    }
}

impl Position for Ring {
    type Move = Way;

    const SIDES: [SideName; 2] =
        [SideName { word: "odd", letter: 'o' }, SideName { word: "even", letter: 'e' }];

    const HISTORY_MATTERS: bool = true;

    fn to_move(&self) -> Side {
        self.to_move
    }

    fn ending(&self) -> Option<Ending> {
        let winner = Some(self.to_move.other());
        (self.cell == GOAL).then_some(Ending { winner, termination: AT_GOAL })
    }

    fn margin(&self) -> Option<i32> {
        let cells = i32::from(self.cells);
        let winner = self.ending()?.winner;
        Some(if winner == Some(Side::First) { cells } else { -cells })
    }

    fn legal_moves(&self, moves: &mut Vec<Way>) {
        moves.extend((0..self.legal_move_count()).map(|index| self.nth_legal_move(index)));
    }

    fn legal_move_count(&self) -> u32 {
        if self.cell == GOAL { 0 } else { 2 }
    }

    fn nth_legal_move(&self, index: u32) -> Way {
        [Way::Left, Way::Right][index as usize]
    }

    fn is_legal(&self, _mv: Way) -> bool {
        self.cell != GOAL
    }

    fn play_unchecked(&mut self, mv: Way) {
        let step = if mv == Way::Left { self.cells - 1 } else { 1 };
        self.cell = (self.cell + step) % self.cells;
        self.to_move = self.to_move.other();
    }

    fn canonical_key(&self) -> u64 {
        // The ring looks the same from the other side.
        let cell = self.cell.min((self.cells - self.cell) % self.cells);
        u64::from(cell) << 1 | self.to_move.index() as u64
    }

    fn adjudicate(line: Line<'_, Self>) -> Option<Ending> {
        let now = line.position.canonical_key();
        let before = line.before.iter().filter(|before| before.key == now).count();
        (before >= 2).then_some(Ending { winner: None, termination: REPETITION })
    }

    fn board(&self) -> String {
        format!("{self}\n{}", self.status())
    }

    fn parse_move(&self, text: &str) -> Result<Way, Problem> {
        match text {
            "l" => Ok(Way::Left),
            "r" => Ok(Way::Right),
            _ => Err(Problem::new(format!("`{text}` is not a way"), "write l or r")),
        }
    }
}

impl Knowledge for Ring {
    const MOVE_CODES: usize = 2;

    type Orientation = bool;

    fn move_code(mv: Way) -> u16 {
        mv as u16
    }

    fn table_key(&self) -> u64 {
        u64::from(self.cell) << 1 | self.to_move.index() as u64
    }

    fn reduced_key(&self) -> (u64, bool) {
        (self.canonical_key(), 2 * self.cell > self.cells)
    }

    fn oriented(code: u16, is_mirrored: bool) -> u16 {
        code ^ u16::from(is_mirrored)
    }

    fn restored(code: u16, is_mirrored: bool) -> u16 {
        code ^ u16::from(is_mirrored)
    }

    fn plies_left(&self) -> u32 {
        1_000
    }
}

impl Solvable for Ring {
    type Solver = PlainSolver;
}

/// Values each cell by data that is named by its hash, scaled as a formula says, shifted by nested
/// values. Mirrored cells have values of their own.
#[derive(Clone)]
struct Heights {
    heights: Arc<[u8]>,
    scale: i32,
    shift: i32,
}

/// How often one was made.
static MADE: AtomicUsize = AtomicUsize::new(0);

impl Evaluate<Ring> for Heights {
    fn evaluate(&self, position: &Ring) -> i32 {
        let height = i32::from(self.heights[usize::from(position.cell)]) * self.scale + self.shift;
        if position.to_move == Side::First { height } else { -height }
    }

    fn is_symmetric(&self) -> bool {
        false
    }
}

impl GameEvaluation<Ring> for Heights {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "heights",
        meaning: "The height of the counter's cell.",
        parameters: &[
            ParameterInfo::content("heights", "The heights, a byte for each cell."),
            ParameterInfo::text("formula", 20, "How they are scaled, such as \"* 3\"."),
            ParameterInfo::nested("recipe", "What is added: { plus = 1, minus = { of = 2 } }."),
        ],
    };

    fn from_settings(settings: &Settings, contents: &dyn Contents) -> Result<Self, KeyProblem> {
        MADE.fetch_add(1, Ordering::Relaxed);
        let heights = content_of(settings, "heights", contents)?;
        let formula = settings.word("formula");
        let scale = formula.strip_prefix("* ").and_then(|scale| scale.parse().ok());
        let scale = scale.ok_or_else(|| {
            let problem = format!("`formula` cannot be {formula:?}");
            Problem::of_key("formula", problem, "write it like \"* 3\"".to_owned())
        })?;
        let Value::Table(recipe) = settings.value("recipe") else {
            unreachable!("the kind was checked before")
        };
        let shift = match recipe.get("plus") {
            Some(Value::Integer(plus)) => *plus as i32,
            _ => 0,
        };
        Ok(Self { heights, scale, shift })
    }
}

impl Game for Ring {
    const NAME: &'static str = "ring";
    const MEANING: &'static str = "A counter on a ring.";
    const RULES: &'static [ParameterInfo] = &[
        ParameterInfo::integer("cells", 3..=30, 8, "Cells of the ring."),
        ParameterInfo::integer("goals", 1..=3, 1, "Added when the first sweeps had been played.")
            .added_later(),
    ];
    const TERMINATIONS: &'static [Termination] = &[AT_GOAL, REPETITION];
    const LEAF_KINDS: &'static [&'static str] = &["at_goal"];
    const MARGIN: Option<&'static str> = Some("cells");

    evaluations!(NoEvaluation, Heights);

    fn from_rules(rules: &Rules) -> Self {
        let cells = rules.values().find(|(info, _)| info.name == "cells").unwrap().1;
        let Value::Integer(cells) = cells else { panic!("{cells} is an integer") };
        Self { cell: *cells as u8 / 2, cells: *cells as u8, to_move: Side::First }
    }

    fn read(start: Self, text: &str) -> Result<Self, Problem> {
        let error = || Problem::new(format!("`{text}` is not a cell and a side"), "write 3o");
        let (cell, to_move) = match text.strip_suffix('o') {
            Some(cell) => (cell, Side::First),
            None => (text.strip_suffix('e').ok_or_else(error)?, Side::Second),
        };
        let cell = cell.parse().ok().filter(|&cell| cell < start.cells).ok_or_else(error)?;
        Ok(Self { cell, to_move, ..start })
    }

    fn leaf_kind(_ending: Ending, _mover: Side) -> usize {
        0
    }

    fn explain(_rules: &Rules) -> String {
        "l or r.".to_owned()
    }
}

/// Data by its hash, some of it under a wrong one.
struct Shelf(Vec<(String, Arc<[u8]>)>);

impl Contents for Shelf {
    fn content(&self, sha256: &str) -> Option<Arc<[u8]>> {
        self.0.iter().find(|(name, _)| name == sha256).map(|(_, data)| Arc::clone(data))
    }
}

const HEIGHTS: &[u8] = &[0, 9, 1, 7, 3, 3, 8, 2];

fn hash(data: &[u8]) -> String {
    Sha256::digest(data).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn given(json: &str) -> Parameters {
    let text = json.replace("HEIGHTS", &hash(HEIGHTS));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn shelf() -> Shelf {
    Shelf(vec![(hash(HEIGHTS), HEIGHTS.into()), ("0".repeat(64), HEIGHTS.into())])
}

const BY_HEIGHTS: &str = r#"{"algorithm": "alpha-beta", "depth": 3, "evaluation": "heights",
    "heights": "HEIGHTS", "formula": "* 2", "recipe": {"plus": 5, "minus": {"of": [1, 2.5, true]}}}"#;

/// Always the same way.
struct Stubborn(Way);

impl Seat<Ring> for Stubborn {
    fn choose(&mut self, turn: &Turn<'_, Ring>, _host: &dyn Host) -> Result<Answer<Way>, Fault> {
        let keys: Vec<u64> = turn.line.before.iter().map(|before| before.key).collect();
        assert_eq!(keys.len(), turn.moves.len());
        assert!(turn.moves.iter().map(|record| record.position_key).eq(keys));
        Ok(Answer { mv: self.0, search: SearchReport::UNKNOWN })
    }
}

#[test]
fn the_arbiter_ends_a_game_by_what_came_before() {
    let rules = Rules::usual::<Ring>();
    let board = Board { rules: &rules, opening: "4o", max_plies: Some(50), adjudication: None };
    let play = |ways: [Way; 2]| {
        let [mut first, mut second] = ways.map(Stubborn);
        let watch = &mut |_: &_| ControlFlow::Continue(());
        arbitrate::<Ring>(&board, [&mut first, &mut second], &Timeless, watch).unwrap()
    };
    let repeated = play([Way::Left, Way::Right]);
    assert_eq!((repeated.outcome, repeated.termination), (Outcome::Draw, REPETITION));
    // The opening comes up before plies 0, 2 and 4.
    assert_eq!(repeated.moves.len(), 4);
    assert_eq!(repeated.margin, None, "the counter is not at the goal");
    let decided = play([Way::Left, Way::Left]);
    assert_eq!((decided.outcome, decided.termination), (Outcome::Loss, AT_GOAL));
    assert_eq!(decided.moves.len(), 4);
}

/// The second side may be the one that moves first from an opening.
#[test]
fn a_game_says_which_side_moved_first() {
    let rules = Rules::usual::<Ring>();
    for (opening, side) in [("3o", Side::First), ("3e", Side::Second)] {
        let board = Board { rules: &rules, opening, max_plies: None, adjudication: None };
        let [mut first, mut second] = [Way::Left, Way::Left].map(Stubborn);
        let watch = &mut |_: &_| ControlFlow::Continue(());
        let record =
            arbitrate::<Ring>(&board, [&mut first, &mut second], &Timeless, watch).unwrap();
        assert_eq!(record.first_side, side);
        assert_eq!(record.outcome, Outcome::Win, "who moves first makes the third step");
        assert_eq!(record.margin, Some(8), "a margin is seen from who moves first");
    }
}

/// A search that looks at the moves before its root finds them there.
struct Remembering(Vec<Vec<Before<Way>>>);

impl Search<Ring> for Remembering {
    fn search(
        &mut self,
        line: Line<'_, Ring>,
        _budget: &mut Budget<'_>,
        _random: &mut Random,
    ) -> Result<Found<Way>, spelrum_engine::search::NoMove> {
        self.0.push(line.before.to_vec());
        let ended_by = spelrum_engine::EndedBy::Depth;
        Ok(Found { mv: Way::Left, depth: 0, score: None, ended_by })
    }
}

#[test]
fn a_search_gets_the_line_to_its_root() {
    let start = Ring { cell: 4, cells: 8, to_move: Side::First };
    let before = [Before { mv: Way::Right, key: start.canonical_key() }];
    let mut now = start;
    now.play_unchecked(Way::Right);
    let mut search = Remembering(Vec::new());
    let mut budget = Budget::new(&Limits::default(), &Timeless);
    let line = Line { position: &now, before: &before };
    search.search(line, &mut budget, &mut Random::from_key(key(1))).unwrap();
    assert_eq!(search.0, [before.to_vec()]);
}

#[test]
fn an_evaluation_reads_texts_nested_values_and_data() {
    let shelf = shelf();
    let player = Player::new::<Ring>(&given(BY_HEIGHTS), &shelf).unwrap();
    // The canonical map reads back to an equal player, nested values and all.
    let json = serde_json::to_string(player.parameters()).unwrap();
    let again = Player::new::<Ring>(&serde_json::from_str(&json).unwrap(), &shelf).unwrap();
    assert_eq!(player, again);
    assert!(json.contains(r#""recipe":{"minus":{"of":[1,2.5,true]},"plus":5}"#), "{json}");

    let with = |key: &str, value: &str| {
        let mut given = given(BY_HEIGHTS);
        given.insert(key.to_owned(), serde_json::from_str(value).unwrap());
        Player::new::<Ring>(&given, &shelf).unwrap_err().to_string()
    };
    let zeros = format!("{:?}", "0".repeat(64));
    let ones = format!("{:?}", "1".repeat(64));
    let long = format!("{:?}", "* ".repeat(20));
    let refused = [
        with("formula", r#""+ 2""#),
        with("formula", &long),
        with("formula", "3"),
        with("recipe", "[1]"),
        with("heights", &zeros).replace(&hash(HEIGHTS), "HASH"),
        with("heights", &ones),
        with("heights", r#""../weights.bin""#),
        with("heights", &format!("{:?}", hash(HEIGHTS).to_uppercase()))
            .replace(&hash(HEIGHTS).to_uppercase(), "HASH"),
        Player::new::<Ring>(&given(BY_HEIGHTS), &NoContents)
            .unwrap_err()
            .to_string()
            .replace(&hash(HEIGHTS), "HASH"),
        Player::new::<Ring>(
            &given(r#"{"algorithm": "minimax", "depth": 1, "evaluation": "heights"}"#),
            &shelf,
        )
        .unwrap_err()
        .to_string(),
    ];
    insta::assert_snapshot!(refused.join("\n"), @r#"
    `formula` cannot be "+ 2"; write it like "* 3"
    `formula` cannot be "* * * * * * * * * * * * * * * * * * * * "; write a text of at most 20 bytes
    `formula` cannot be 3; write a text of at most 20 bytes
    `recipe` cannot be [1]; write a table of at most 10000 values, 32 deep
    the data kept under the hash 0000000000000000000000000000000000000000000000000000000000000000 has the hash HASH; make or fetch the data again
    the data with the hash 1111111111111111111111111111111111111111111111111111111111111111 is not here; make or fetch the data again
    `heights` cannot be "../weights.bin"; write a SHA-256 as 64 hexadecimal digits in lower case
    `heights` cannot be "HASH"; write a SHA-256 as 64 hexadecimal digits in lower case
    the data with the hash HASH is not here; make or fetch the data again
    `heights` is missing; write a SHA-256 as 64 hexadecimal digits in lower case
    "#);
    let mut deep = Value::Integer(1);
    for _ in 0..40 {
        deep = Value::Table([("in".to_owned(), deep)].into());
    }
    let mut parameters = given(BY_HEIGHTS);
    parameters.insert("recipe".to_owned(), deep);
    assert!(Player::new::<Ring>(&parameters, &shelf).is_err(), "40 deep");
}

/// What is slow to make is made for the player, not for each of its games.
#[test]
fn an_evaluation_is_made_once_for_all_games() {
    let player = Player::new::<Ring>(&given(BY_HEIGHTS), &shelf()).unwrap();
    let made = MADE.load(Ordering::Relaxed);
    let rules = Rules::usual::<Ring>();
    let board = Board { rules: &rules, opening: "4o", max_plies: Some(20), adjudication: None };
    for game in 0..100_u64 {
        let seat = |side| seat_of::<Ring>(&player, key(2 * game + side)).unwrap();
        let (mut first, mut second) = (seat(0), seat(1));
        let watch = &mut |_: &_| ControlFlow::Continue(());
        arbitrate(&board, [&mut *first, &mut *second], &Timeless, watch).unwrap();
    }
    // Other tests of this file make some at the same time, but not a hundred.
    assert!(MADE.load(Ordering::Relaxed) < made + 100);
}

proptest! {
    /// With the switches that take mirrored positions for one, alpha-beta still finds what minimax
    /// finds of an evaluation that tells them apart, since it asks the evaluation first.
    #[test]
    fn symmetric_tables_are_not_used_with_an_evaluation_that_is_not(
        heights in prop::collection::vec(any::<u8>(), 12),
        cell in 1_u8..12,
        depth in 1_u32..7,
        iterative: bool,
        seed: u64,
    ) {
        let position = Ring { cell, cells: 12, to_move: Side::First };
        let evaluation = Heights { heights: heights.into(), scale: 1, shift: 0 };
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let options = minimax::Options { depth: Some(depth), shuffle: false };
        let expected = Minimax::new(options, evaluation.clone())
            .search(Line::from_start(&position), &mut budget, &mut Random::from_key(key(seed)))
            .unwrap();
        let options = alpha_beta::Options {
            depth: Some(depth),
            iterative,
            table_mib: Some(1),
            table_symmetry: true,
            distinct: true,
            ..alpha_beta::Options::default()
        };
        let found = AlphaBeta::new(options, evaluation)
            .search(Line::from_start(&position), &mut budget, &mut Random::from_key(key(seed)))
            .unwrap();
        prop_assert_eq!(found.score, expected.score);
    }
}

/// A rule that is added later is left out while it is at its default: definitions of before keep
/// their bytes, and are read as they were meant.
#[test]
fn a_rule_that_is_added_later_changes_no_old_definition() {
    let json = |rules: &Rules| serde_json::to_string(rules).unwrap();
    let rules = |json: &str| Rules::new::<Ring>(&serde_json::from_str(json).unwrap()).unwrap();
    assert_eq!(json(&rules("{}")), r#"{"name":"ring","cells":8}"#);
    assert_eq!(json(&rules(r#"{"goals": 1, "cells": 9}"#)), r#"{"name":"ring","cells":9}"#);
    assert_eq!(json(&rules(r#"{"goals": 2}"#)), r#"{"name":"ring","cells":8,"goals":2}"#);
    assert_eq!(rules(r#"{"goals": 1}"#), rules("{}"));
}

/// A game where history matters keeps only the promises that do not rest on it.
#[test]
fn a_table_promises_nothing_where_history_matters() {
    let promises = |history_matters: bool| -> Vec<&str> {
        let infos = parameters_of("alpha-beta").iter();
        let preserving = infos
            .filter(|info| info.promise_where(history_matters) == Some(Promise::ValuePreserving));
        preserving.map(|info| info.name).collect()
    };
    let (all, kept) = (promises(false), promises(true));
    let lost: Vec<&&str> = all.iter().filter(|name| !kept.contains(name)).collect();
    assert_eq!(lost, [&"table", &"table_mib", &"table_symmetry"]);
    assert!(Ring::INFO.history_matters);
}
