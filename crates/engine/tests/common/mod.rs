//! Shared test helpers: players from JSON, positions from seeds, irregular clocks.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]
#![expect(unreachable_pub, reason = "a module of tests, shared by several crates")]

pub mod brute_force;

use std::cell::{Cell, RefCell};
use std::time::Duration;

use spelrum_engine::expression::FeatureInfo;
use spelrum_engine::{
    EndedBy, EvaluationInfo, Game, GameRecord, GameSetup, Host, Knowledge, MoveRecord,
    ParameterInfo, ParameterKind, Parameters, Player, Position, Random, Rules, Timeless, Value,
    play_game, with_game,
};

/// A player from its parameters in JSON.
pub fn player(rules: &Rules, json: &str) -> Player {
    let given = serde_json::from_str(json).unwrap();
    Player::from_parameters(rules, &given).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// The game's evaluations that can be made of parameters alone.
pub fn evaluations_of_parameters<G: Game>() -> impl Iterator<Item = &'static EvaluationInfo> {
    let needs_data = |info: &ParameterInfo| info.kind == ParameterKind::Content;
    G::EVALUATIONS.iter().filter(move |info| !info.parameters.iter().any(needs_data))
}

/// The parameters that choose an evaluation, with a formula or a recipe if it needs one.
pub fn chosen(info: &EvaluationInfo) -> Parameters {
    let mut chosen: Parameters =
        [("evaluation".to_owned(), Value::Text(info.name.to_owned()))].into();
    for parameter in info.parameters {
        if let ParameterKind::Formula(features) = parameter.kind {
            chosen.insert(parameter.name.to_owned(), Value::Text(formula(features)));
        }
        if let ParameterKind::Recipe(_) = parameter.kind {
            chosen.insert(parameter.name.to_owned(), Value::Table(recipe()));
        }
    }
    chosen
}

/// The same by the evaluation's name, as members of an object in JSON.
pub fn chosen_json(rules: &Rules, evaluation: &str) -> String {
    let info = rules.evaluations().iter().find(|info| info.name == evaluation).unwrap();
    let json = serde_json::to_string(&chosen(info)).unwrap();
    json[1..json.len() - 1].to_owned()
}

/// A recipe that trains in a moment.
fn recipe() -> Parameters {
    let numbers = [("examples", 500), ("validation", 100), ("epochs", 1)];
    let mut recipe: Parameters =
        numbers.map(|(key, number)| (key.to_owned(), Value::Integer(number))).into();
    recipe.insert("ending".to_owned(), Value::Text("KRK".to_owned()));
    recipe
}

/// A formula of several features with all functions in it, in which the sides do not weigh the same.
fn formula(features: &[FeatureInfo]) -> String {
    let mut names = features.iter().map(|info| info.name).cycle();
    let [a, b, c, d, e, f, g] = std::array::from_fn(|_| names.next().unwrap());
    format!("(+ (- (* 2 {a}) {b}) (/ (- {c} (* 1.5 {d})) (+ {e} (- {f} {g}))))")
}

/// The game's other rules that tests hold it to.
pub fn sample_rules<G: Game>() -> impl Iterator<Item = Rules> {
    G::SAMPLE_RULES.iter().map(|json| {
        let given = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
        Rules::new::<G>(&given).unwrap_or_else(|error| panic!("{json} of {}: {error}", G::NAME))
    })
}

/// The games under test: every game under the first of its other rules and under its usual ones, unless games are both
/// long and wide there, so that a slow search would take minutes.
pub fn all_rules() -> Vec<Rules> {
    const WIDE: u32 = 100;
    const LONG: u32 = 40;
    let usual = with_game!(each G => {
        let rules = Rules::usual::<G>();
        let start = G::start(&rules).unwrap();
        let is_small = start.legal_move_count() <= WIDE || start.plies_left() <= LONG;
        is_small.then_some(rules)
    });
    let others = with_game!(each G => sample_rules::<G>().next());
    usual.into_iter().chain(others).flatten().collect()
}

/// Every game under its usual rules and all its other ones that tests hold it to.
pub fn all_sample_rules() -> Vec<Rules> {
    let of_games = with_game!(each G => {
        std::iter::once(Rules::usual::<G>()).chain(sample_rules::<G>()).collect::<Vec<Rules>>()
    });
    of_games.concat()
}

/// The start position in the game's notation.
pub fn start(rules: &Rules) -> String {
    with_game!(rules, G => G::start(rules).unwrap().to_string())
}

/// A key of random numbers.
pub fn key(seed: u64) -> [u8; 32] {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key
}

/// A position that is not over, after this many random moves from the start (or as many as there
/// are before the game ends).
pub fn random_position<G: Game>(rules: &Rules, plies: u32, random: &mut Random) -> G {
    let mut position = G::start(rules).unwrap();
    for _ in 0..plies {
        let mut next = position.clone();
        next.play_unchecked(position.nth_legal_move(random.below(position.legal_move_count())));
        if next.is_over() {
            break;
        }
        position = next;
    }
    position
}

/// The length limit for games of hundreds of plies, which slow searches would take minutes for.
fn plies_max(rules: &Rules) -> Option<u32> {
    const LONG: u32 = 100;
    const CUT: u32 = 8;
    let plies_left = with_game!(rules, G => G::start(rules).unwrap().plies_left());
    (plies_left > LONG).then_some(CUT)
}

/// Plays a game of two players from the start: all of it, or the first plies of a long one.
pub fn play(rules: &Rules, players: [&Player; 2], seed: u64, host: &dyn Host) -> GameRecord {
    let setup = GameSetup {
        rules,
        opening: &start(rules),
        players,
        keys: [key(seed), key(seed + 1)],
        max_plies: plies_max(rules),
        adjudication: None,
        stops: None,
    };
    play_game(&setup, host).unwrap()
}

/// The record without fields that depend on clocks.
pub fn without_times(record: &GameRecord) -> GameRecord {
    let moves = record.moves.iter();
    let untimed = |record: &MoveRecord| MoveRecord {
        wall_us: 0,
        cpu_us: 0,
        involuntary_switches: None,
        ..record.clone()
    };
    let moves = moves.map(untimed);
    GameRecord { moves: moves.collect(), wall_us: 0, ..record.clone() }
}

/// Where the clock stopped each move's search, as a replay needs it.
pub fn stops(record: &GameRecord) -> Vec<Option<u64>> {
    let is_timed = |record: &&MoveRecord| record.search.ended_by == EndedBy::Time;
    record
        .moves
        .iter()
        .map(|record| Some(&record).filter(|r| is_timed(r)).map(|r| r.search.nodes))
        .collect()
}

/// Plays a game by an irregular clock and again from its record, with no clock and with a wild one,
/// and checks that both equal the recorded game, which is returned (invariant 3).
pub fn play_and_replay(
    rules: &Rules,
    players: [&Player; 2],
    seed: u64,
    step_us_max: u32,
) -> GameRecord {
    let recorded = play(rules, players, seed, &Irregular::new(seed, step_us_max));
    let stops = stops(&recorded);
    let again = |host: &dyn Host| without_times(&replay(rules, players, seed, &stops, host));
    assert_eq!(again(&Timeless), without_times(&recorded));
    assert_eq!(again(&Irregular::new(seed + 2, 100_000)), without_times(&recorded));
    recorded
}

/// The game of [`play`], stopped at these node counts.
pub fn replay(
    rules: &Rules,
    players: [&Player; 2],
    seed: u64,
    stops: &[Option<u64>],
    host: &dyn Host,
) -> GameRecord {
    let setup = GameSetup {
        rules,
        opening: &start(rules),
        players,
        keys: [key(seed), key(seed + 1)],
        max_plies: plies_max(rules),
        adjudication: None,
        stops: Some(stops),
    };
    play_game(&setup, host).unwrap()
}

/// A host whose clock advances by an irregular step at every look, sometimes not at all.
pub struct Irregular {
    now_us: Cell<u64>,
    random: RefCell<Random>,
    step_us_max: u32,
}

impl Irregular {
    pub fn new(seed: u64, step_us_max: u32) -> Self {
        let random = RefCell::new(Random::from_key(key(seed)));
        Self { now_us: Cell::new(0), random, step_us_max }
    }
}

impl Host for Irregular {
    fn wall(&self) -> Duration {
        let mut random = self.random.borrow_mut();
        let step_us = match random.below(4) {
            0 => 0,
            1 => random.below(self.step_us_max + 1),
            2 => random.below(self.step_us_max / 10 + 1),
            _ => 1,
        };
        self.now_us.set(self.now_us.get() + u64::from(step_us));
        Duration::from_micros(self.now_us.get())
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }
}

/// The nodes after which the clock is first read in a search under a time limit whose nodes take no
/// time; from then on after every 256.
pub const READINGS_OF_CHEAP_NODES: [u64; 11] = [1, 3, 7, 15, 31, 63, 127, 255, 511, 767, 1_023];

/// A host with a stopped clock that counts its readings; aborts after this many looks.
#[derive(Default)]
pub struct Counting {
    pub walls: Cell<u64>,
    pub looks: Cell<u64>,
    pub abort_at_look: Option<u64>,
    pub past_deadline_at_wall: Option<u64>,
}

impl Host for Counting {
    fn wall(&self) -> Duration {
        self.walls.set(self.walls.get() + 1);
        match self.past_deadline_at_wall {
            Some(at) if self.walls.get() >= at => Duration::from_secs(1_000_000),
            Some(_) | None => Duration::ZERO,
        }
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }

    fn aborted(&self) -> bool {
        self.looks.set(self.looks.get() + 1);
        self.abort_at_look.is_some_and(|at| self.looks.get() >= at)
    }
}
