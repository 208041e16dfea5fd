//! Every key of the sweep language, once: its name, its meaning, and its values.
//!
//! Reading refuses keys that are not here ([`check`]), and the schema for editors ([`super::schema`]) has
//! exactly these, so that the two agree. Players' parameters and games' rules are not among them: those are
//! the engine's.

pub(super) mod adjudication;
pub(super) mod course;
mod openings;
pub(super) mod placement;
pub(super) mod timing;

use serde_json::{Value as Json, json};

use crate::fault::Fault;
use crate::fields::check_keys;
use crate::forms;
use crate::limits::{FORFEITS_MAX_DEFAULT, FORFEITS_MAX_MOST, POINTS_MAX};
use crate::tree::Table;

pub(super) use openings::{
    OPENINGS_BOOK, OPENINGS_ENDING, OPENINGS_LISTED, OPENINGS_PLIES, OPENINGS_START,
};

/// A key of one of the language's tables.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    /// For editors: a heading. Empty where the name is clear enough.
    pub(super) title: &'static str,
    /// For editors: the meaning.
    pub(super) meaning: &'static str,
    pub(super) kind: Kind,
    /// Whether its table must have it.
    pub(super) is_required: bool,
}

/// The kinds of values of a key.
#[derive(Debug)]
pub(super) enum Kind {
    Text,
    /// A name that becomes a column, a file, a word in messages.
    Name,
    /// True or false.
    Switch {
        default: bool,
    },
    /// A whole number.
    Whole {
        min: i64,
        max: Option<i64>,
        default: Option<i64>,
    },
    /// A number from 1 on, or "unlimited", which is the default.
    Limit {
        max: u32,
    },
    /// One of a few words.
    Word {
        words: &'static [&'static str],
        default: Option<&'static str>,
    },
    /// A table of these keys.
    Table(&'static [Key]),
    /// A form that the schema composes from several tables.
    Composite(Composite),
    /// A form of its own.
    Own(fn() -> Json),
}

/// Keys whose form is made of several tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Composite {
    Game,
    Stop,
    Adjudication,
    Openings,
    ReferencePlayer,
    Pairing,
    Overrides,
    Claims,
    Players,
    TunedParameters,
}

/// The keys of a sweep.
pub(super) static SWEEP: [Key; 36] = [
    Key::new(
        "name",
        "Name",
        "Names the experiment and its database: a letter, then letters, digits, `_` and `-`.",
        Kind::Name,
    )
    .required(),
    Key::new(
        "description",
        "Description",
        "What the experiment asks, in a sentence; reports show it.",
        Kind::Text,
    ),
    Key::new(
        "kind",
        "Kind",
        "\"games\": players meet each other. \"accuracy\": each player chooses a move in given positions, and \
         a reference says what every move is worth. Default: \"games\".",
        Kind::Word { words: &["games", "accuracy"], default: Some("games") },
    ),
    Key::new(
        "game",
        "Game",
        "The game, or a table of its name and its rules, which may be axes: \
         { name = \"nim\", heaps = [3, 4, 5], misere = \"$misere\" }.",
        Kind::Composite(Composite::Game),
    )
    .required(),
    Key::new(
        "seed",
        "Seed",
        "Every random number of the experiment comes from it: openings, and whatever players draw. \
         The same file gives the same games on every machine. An axis of seeds plays everything as often \
         as it has values: seed = \"$seed\". Default: 1.",
        Kind::Own(forms::seed),
    ),
    Key::new(
        "games",
        "Games",
        "Games in each cell: even, since both players play both colours of each opening, unless \
         swap_sides is false. A larger number later continues the same experiment.",
        Kind::Whole { min: 1, max: None, default: None },
    ),
    Key::new(
        "swap_sides",
        "Swapped sides",
        "Whether each opening is played twice, with the players' sides swapped. false: the first of \
         a pairing moves first in every game, each from an opening of its own. Default: true.",
        Kind::Switch { default: true },
    ),
    Key::new(
        "stop",
        "Stop",
        "Ends a cell before it has all its games, once it is known well enough: \
         { precision = 0.03 } or { sprt = { elo0 = 0, elo1 = 20 } }. Another rule later is read over the \
         same games.",
        Kind::Composite(Composite::Stop),
    ),
    Key::new(
        "openings",
        "Openings",
        "Where games start. Pair k has the same opening in every cell, so that cells can be \
         compared. Default: \"start\".",
        Kind::Composite(Composite::Openings),
    ),
    Key::new(
        "positions",
        "Positions",
        "Of an accuracy experiment: where players choose, in the forms of `openings`. Position k is the same \
         in every cell. { kind = \"random\", plies = [20, 24, 28] } takes positions of each distance in turn.",
        Kind::Composite(Composite::Openings),
    ),
    Key::new(
        "choices",
        "Choices",
        "Of an accuracy experiment: in how many of the positions each player chooses, in each cell. A larger \
         number later continues the same experiment.",
        Kind::Whole { min: 1, max: None, default: None },
    ),
    Key::new(
        "reference",
        "Reference",
        "Of an accuracy experiment: who says what every move is worth. A player that sees all moves alike: \
         { algorithm = \"exact\" }, or { algorithm = \"minimax\", evaluation = \"runs\", depth = 4 }.",
        Kind::Composite(Composite::ReferencePlayer),
    ),
    Key::new(
        "measure",
        "What is measured",
        "\"score\": who wins. \"time\": also how long moves take, so that every cell counts as \
         timed. Default: \"score\".",
        Kind::Word { words: &["score", "time"], default: Some("score") },
    ),
    Key::new(
        "record",
        "What is stored",
        "\"moves\": every game with its moves. \"games\": games without moves, and what is summed \
         over them. Default: \"moves\".",
        Kind::Word { words: &["moves", "games"], default: Some("moves") },
    ),
    Key::new(
        "max_plies",
        "Longest game",
        "Plies from the opening after which a game is a draw. Default: \"unlimited\".",
        Kind::Limit { max: u32::MAX },
    ),
    Key::new(
        "adjudication",
        "Adjudication",
        "Ends games early by the players' own scores: `resign` where one side has lost, `draw` where neither \
         is ahead. Default: the position alone ends games.",
        Kind::Composite(Composite::Adjudication),
    ),
    Key::new(
        "priority",
        "Priority",
        "Experiments with a larger number are played first; equal ones share the workers. Default: \
         0.",
        Kind::Whole { min: i32::MIN as i64, max: Some(i32::MAX as i64), default: Some(0) },
    ),
    Key::new(
        "allocate",
        "Allocate",
        "\"grid\": cells are played one after the other. \"informative\": the cell whose score is known \
         least goes first; each gets its games all the same. Default: \"grid\".",
        Kind::Word { words: &["grid", "informative"], default: Some("grid") },
    ),
    Key::new(
        "game_timeout",
        "Game timeout",
        "A game that takes longer on the wall clock than this, such as \"10m\", fails and is tried \
         again. Default: \"unlimited\".",
        Kind::Own(forms::timeout),
    ),
    Key::new(
        "forfeits",
        "Forfeits",
        "What becomes of games that a player forfeits: by a crash, no answer, an illegal move or too much time. \
         \"lose\": they are losses. \"stop\": the experiment is paused after more than `forfeits_max`. \
         Default: \"lose\".",
        Kind::Word { words: &["lose", "stop"], default: Some("lose") },
    ),
    Key::new(
        "forfeits_max",
        "Most forfeits",
        "With forfeits = \"stop\": how many games one player may forfeit before the experiment is paused. \
         Default: 3.",
        Kind::Whole {
            min: 0,
            max: Some(FORFEITS_MAX_MOST as i64),
            default: Some(FORFEITS_MAX_DEFAULT as i64),
        },
    ),
    Key::new(
        "timing",
        "Timing",
        "Of timed games: which of them are disturbed, and whether these count or are played again. They are marked, \
         and reports say how many they are.",
        Kind::Table(&timing::TIMING),
    ),
    Key::new(
        "placement",
        "Placement",
        "Which workers play the sweep, by their labels, their speed and their quota of CPU time. Changes who plays, never \
         what.",
        Kind::Table(&placement::PLACEMENT),
    ),
    Key::new(
        "pairing",
        "Pairing",
        "Who meets whom at each point of the grid. Default: \"round-robin\".",
        Kind::Composite(Composite::Pairing),
    ),
    Key::new(
        "anchors",
        "Anchors",
        "Players that the others' strength is measured against: everybody else meets each of them \
         at each point.",
        Kind::Own(forms::anchors),
    ),
    Key::new(
        "axes",
        "Axes",
        "What changes from cell to cell. Players, the game and openings name an axis as \"$depth\", \
         or \"$budget.ab\" if its values are tables.",
        Kind::Own(forms::axes),
    ),
    Key::new(
        "sample",
        "Sample",
        "Plays some points of the grid instead of all of them, drawn by the seed.",
        Kind::Table(&SAMPLE),
    ),
    Key::new(
        "players",
        "Players",
        "Who plays: each player under a header such as [players.alphabeta].",
        Kind::Composite(Composite::Players),
    )
    .required(),
    Key::new(
        "any_build",
        "Any build",
        "Whether an engine that was rebuilt plays on in the cells of the program before it. Default: false, so \
         that a rebuilt engine is another player, with cells of its own beside the old ones.",
        Kind::Switch { default: false },
    ),
    Key::new(
        "builds",
        "Builds",
        "Which build of each engine plays. Written when the sweep is played, and not by its author.",
        Kind::Own(forms::builds),
    ),
    Key::new(
        "find",
        "Find",
        "Finds the value of a parameter at which two players are even, such as how much time one needs to be \
         the other's equal: { player = \"genetic\", parameter = \"move_time\", from = \"1ms\", to = \"1s\" }.",
        Kind::Table(&course::find::FIND),
    ),
    Key::new(
        "tune",
        "Tune",
        "Searches for better settings of a player, and confirms them: { player = \"genetic\", parameters = { \
         crossover_rate = { from = 0.0, to = 1.0 } } }.",
        Kind::Table(&course::tune::TUNE),
    ),
    Key::new(
        "evolve",
        "Evolve",
        "Breeds the formula by which a player evaluates positions, by genetic programming: \
         { player = \"evolved\", population = 25, generations = 50, fitness = \"score\" }.",
        Kind::Table(&course::evolve::EVOLVE),
    ),
    Key::new(
        "override",
        "Overrides",
        "Other numbers of games for some cells, or none. Later overrides win.",
        Kind::Composite(Composite::Overrides),
    ),
    Key::new(
        "error_rate",
        "Error rate",
        "Of the claims: how probable it may be that any that is false is called supported. Default: 0.05.",
        Kind::Own(forms::error_rate),
    ),
    Key::new(
        "claims",
        "Claims",
        "What is claimed of the results. Those that are stated before the first game are judged together at \
         one error rate; those that come later are exploratory. They change no game.",
        Kind::Composite(Composite::Claims),
    ),
];

/// The keys of `stop`, exactly one of which is given.
pub(super) static STOP: [Key; 2] = [
    Key::new(
        "precision",
        "Precision",
        "Half the width of the 95% interval of the cell's score, in points of a game: a win is one.",
        Kind::Own(|| json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5 })),
    ),
    Key::new(
        "sprt",
        "Sequential test",
        "Plays until it is known whether the cell's first player is rather elo1 stronger than the \
         second, or elo0.",
        Kind::Table(&SPRT),
    ),
];

/// The keys of `sprt`.
pub(super) static SPRT: [Key; 5] = [
    Key::new("elo0", "", "The smaller difference in strength, in Elo.", Kind::Own(forms::sprt_elo))
        .required(),
    Key::new("elo1", "", "The larger difference in strength, in Elo.", Kind::Own(forms::sprt_elo))
        .required(),
    Key::new(
        "alpha",
        "",
        "How probable it may be that elo1 is taken where elo0 is true. Default: 0.05.",
        Kind::Own(forms::sprt_error),
    ),
    Key::new(
        "beta",
        "",
        "How probable it may be that elo0 is taken where elo1 is true. Default: 0.05.",
        Kind::Own(forms::sprt_error),
    ),
    Key::new(
        "model",
        "",
        "What the strengths are in. \"normalized\": in Elo that takes as many games to see whatever the \
         draws. \"logistic\": in Elo as it follows from the score. Default: \"normalized\".",
        Kind::Word { words: &["normalized", "logistic"], default: Some("normalized") },
    ),
];

/// The forms of `pairing` as a table, exactly one of which is given.
pub(super) static PAIRING_FORMS: [Key; 4] = [
    Key::new("round_robin", "", "These players meet each other.", Kind::Own(forms::player_names))
        .required(),
    Key::new(
        "gauntlet",
        "",
        "One player, or each of several, meets everybody else.",
        Kind::Own(forms::heroes),
    )
    .required(),
    Key::new(
        "between",
        "",
        "Every two of these meet, but not the variants of one.",
        Kind::Own(forms::groups),
    )
    .required(),
    Key::new(
        "pairs",
        "",
        "These pairs meet; twice the same player: it plays itself.",
        Kind::Own(forms::pairs),
    )
    .required(),
];

/// Keys that any of these forms may have besides.
pub(super) static PAIRING_BESIDES: [Key; 1] = [Key::new(
    "self_play",
    "Self-play",
    "Whether everybody who plays also plays against itself. Default: false.",
    Kind::Switch { default: false },
)];

/// The keys of `sample`.
pub(super) static SAMPLE: [Key; 3] = [
    Key::new(
        "method",
        "Method",
        "\"latin-hypercube\": every value of every axis equally often. \"random\": any points; more \
         of them later keep the earlier ones.",
        Kind::Word { words: &["latin-hypercube", "random"], default: None },
    )
    .required(),
    Key::new(
        "points",
        "Points",
        "How many points of the grid are played.",
        Kind::Whole { min: 1, max: Some(POINTS_MAX as i64), default: None },
    )
    .required(),
    Key::new(
        "axes",
        "Sampled axes",
        "Only these axes are thinned, at every combination of the others. Default: all of them.",
        Kind::Own(|| json!({ "type": "array", "minItems": 1, "items": { "type": "string" } })),
    ),
];

/// The keys of an override.
pub(super) static OVERRIDE: [Key; 3] = [
    Key::new(
        "where",
        "Where",
        "Which cells: values of axes (a list means any of them), and `player` and `opponent` by \
         name.",
        Kind::Own(|| json!({ "type": "object", "minProperties": 1 })),
    )
    .required(),
    Key::new(
        "games",
        "Games",
        "Games in each of these cells: even, unless swap_sides is false.",
        Kind::Whole { min: 1, max: None, default: None },
    ),
    Key::new("skip", "Skip", "These cells are not played.", Kind::Own(|| json!({ "const": true }))),
];

/// The keys of a claim.
pub(super) static CLAIM: [Key; 7] = [
    Key::new(
        "text",
        "Text",
        "What is claimed, in words: reports name the claim by it.",
        Kind::Text,
    )
    .required(),
    Key::new("player", "Player", "Player whose score the claim is about.", Kind::Text).required(),
    Key::new("opponent", "Opponent", "Whom it meets. Default: anybody.", Kind::Text),
    Key::new(
        "at",
        "At",
        "In which cells: values of axes (a list means any of them). Default: all in which they meet.",
        Kind::Own(|| json!({ "type": "object", "minProperties": 1 })),
    ),
    Key::new(
        "score_above",
        "Score above",
        "The player's mean score is above this: 0.5 is even.",
        Kind::Own(forms::claimed_score),
    ),
    Key::new(
        "score_below",
        "Score below",
        "The player's mean score is below this: 0.5 is even.",
        Kind::Own(forms::claimed_score),
    ),
    Key::new(
        "in",
        "In",
        "\"every\": in each of these cells. \"some\": in at least one. Default: \"every\".",
        Kind::Word { words: &["every", "some"], default: Some("every") },
    ),
];

/// The keys of a range.
pub(super) static RANGE: [Key; 6] = [
    Key::new("from", "", "The first value.", Kind::Own(forms::range_end)).required(),
    Key::new(
        "to",
        "",
        "The last value; a step or a factor must meet it.",
        Kind::Own(forms::range_end),
    )
    .required(),
    Key::new("step", "", "What is added from value to value.", Kind::Own(forms::range_end)),
    Key::new(
        "factor",
        "",
        "What each value is multiplied by.",
        Kind::Own(|| json!({ "type": "number", "exclusiveMinimum": 0 })),
    ),
    Key::new(
        "count",
        "",
        "How many values, both ends among them.",
        Kind::Whole { min: 2, max: Some(POINTS_MAX as i64), default: None },
    ),
    Key::new(
        "scale",
        "",
        "With `count`: equal distances (\"linear\") or equal ratios (\"log\"). Default: \"linear\".",
        Kind::Word { words: &["linear", "log"], default: Some("linear") },
    ),
];

/// The keys of a player that are not parameters. The schema lists for each algorithm the keys of `vary`.
pub(super) static PLAYER: [Key; 4] = [
    Key::new(
        "like",
        "Like",
        "Starts from what another player says; keys here replace its keys.",
        Kind::Text,
    ),
    Key::new(
        "from",
        "From",
        "Starts from what a run of another experiment with find, tune or evolve found: from = { experiment = \
         \"othello-gp\", run = 2, best = true }. Keys here replace what it says.",
        Kind::Own(forms::found),
    ),
    Key::new(
        "use",
        "Use",
        "Merges the tables of an axis into the player: \"$selection\", or a list of such.",
        Kind::Own(forms::used_axes),
    ),
    Key::new(
        "vary",
        "Vary",
        "One player for each combination of these values, lists or ranges: \
         vary = { depth = [1, 2, 3] } makes ab(depth=1), ab(depth=2) and ab(depth=3).",
        Kind::Own(
            || json!({ "type": "object", "minProperties": 1, "additionalProperties": false }),
        ),
    ),
];

impl Key {
    const fn new(
        name: &'static str,
        title: &'static str,
        meaning: &'static str,
        kind: Kind,
    ) -> Self {
        Self { name, title, meaning, kind, is_required: false }
    }

    const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }
}

/// The names of keys.
pub(super) fn names(keys: &'static [Key]) -> impl Iterator<Item = &'static str> {
    keys.iter().map(|key| key.name)
}

/// Refuses the first key of a table that is not one of these.
pub(super) fn check(table: &Table, owner: &str, keys: &'static [Key]) -> Result<(), Fault> {
    check_keys(table, owner, &names(keys).collect::<Vec<_>>())
}
