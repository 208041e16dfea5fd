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
use spelrum_toml::{Fault, Table};

use crate::forms;
use crate::limits::{FORFEITS_MAX_DEFAULT, FORFEITS_MAX_MOST, POINTS_MAX};

pub(super) use openings::{
    OPENINGS_BOOK, OPENINGS_ENDING, OPENINGS_LISTED, OPENINGS_PLIES, OPENINGS_START,
};

/// A key of one of the language's tables.
#[derive(Debug)]
pub(super) struct Key {
    pub(super) name: &'static str,
    /// For editors: a heading. Empty where the name is clear enough.
    pub(super) title: &'static str,
    /// The meaning, for `docs/sweeps.md`, whose links it may have, and without these for editors.
    pub(super) meaning: &'static str,
    pub(super) kind: Kind,
    /// Whether its table must have it.
    pub(super) is_required: bool,
    /// The default in words, where the form has no value for it. Empty without one.
    pub(super) default: &'static str,
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
pub(super) const SWEEP: &[Key] = &[
    Key::new(
        "name",
        "Name",
        "Names the experiment and the database `<name>.db`: a letter, then letters, digits, `_`, `-`, at most \
         64.",
        Kind::Name,
    )
    .required(),
    Key::new(
        "description",
        "Description",
        "The question it asks, for readers; reports show it.",
        Kind::Text,
    ),
    Key::new(
        "kind",
        "Kind",
        "`\"games\"`: players meet each other. `\"accuracy\"`: players [choose moves alone](#accuracy), \
         compared with a reference that gives the value of every move.",
        Kind::Word { words: &["games", "accuracy"], default: Some("games") },
    ),
    Key::new(
        "game",
        "Game",
        "[The game](#game), or a table of its name and its rules, which may be axes: `{ name = \"nim\", heaps \
         = [3, 4, 5], misere = \"$misere\" }`.",
        Kind::Composite(Composite::Game),
    )
    .required(),
    Key::new(
        "seed",
        "Seed",
        "The source of every random number, of openings and of players: the same file gives the same games on \
         every machine. [An axis of seeds](#replicates), `seed = \"$seed\"`, repeats the sweep with each.",
        Kind::Own(forms::seed),
    ),
    Key::new(
        "games",
        "Games",
        "[Games in each cell](#games): even, at least 2, unless sides are fixed (`swap_sides`). A larger \
         number later continues the experiment.",
        Kind::Whole { min: 1, max: None, default: None },
    )
    .by_default("none; required with kind `games`"),
    Key::new(
        "swap_sides",
        "Swapped sides",
        "Whether games come in pairs from one opening, with [the players' sides swapped](#games). `false`: \
         the first player of a pairing moves first in every game, each from its own opening.",
        Kind::Switch { default: true },
    ),
    Key::new(
        "stop",
        "Stop",
        "[When a cell ends](#stop) before it has all its games: `{ precision = 0.03 }` or `{ sprt = { elo0 = \
         0, elo1 = 20 } }`. Another rule later is applied to the same games.",
        Kind::Composite(Composite::Stop),
    ),
    Key::new(
        "openings",
        "Openings",
        "[Where games start](#openings). Pair k has the same opening in every cell, so that cells can be \
         compared.",
        Kind::Composite(Composite::Openings),
    ),
    Key::new(
        "positions",
        "Positions",
        "Only for kind `accuracy`: the positions in which players choose, in the forms of [`openings`](#openings). \
         Position k is the same in every cell. `\"random\"` takes several distances in turn, so that each has \
         its share: `{ kind = \"random\", plies = [20, 24, 28] }`. In Pentago, tic-tac-toe and Connect Four a \
         ply is a stone on the board.",
        Kind::Composite(Composite::Openings),
    )
    .by_default("none; required with kind `accuracy`"),
    Key::new(
        "choices",
        "Choices",
        "Only for kind `accuracy`: the number of positions in which each player chooses, in each cell. All are \
         distinct up to symmetry, and a larger number later continues the experiment.",
        Kind::Whole { min: 1, max: None, default: None },
    )
    .by_default("none; required with kind `accuracy`"),
    Key::new(
        "reference",
        "Reference",
        "Only for kind `accuracy`: the player that gives the value of every legal move. `algorithm = \"exact\"`: a \
         win is 1, a draw 0 and a loss -1. `algorithm = \"minimax\"` with a `depth` and an `evaluation`, \
         where exact play is out of reach: its score of each move. `algorithm = \"table\"` in [chess \
         endings](#openings): 256 less the plies to mate for a win, the negative of that for a loss, and 0 \
         for a draw, so that the loss by a slower mate is counted in plies. A reference has no time limit, \
         since its values must follow from the position alone; `nodes` limits the work on one position (for \
         `exact` 10,000,000,000 by default), and a position that takes more is given up as failed.",
        Kind::Composite(Composite::ReferencePlayer),
    )
    .by_default("none; required with kind `accuracy`"),
    Key::new(
        "measure",
        "What is measured",
        "`\"score\"`: results are the question. `\"time\"`: times are part of the question, so every cell \
         counts as timed and is played on [exclusive slots](timing.md#quiet-slots).",
        Kind::Word { words: &["score", "time"], default: Some("score") },
    ),
    Key::new(
        "record",
        "What is stored",
        "`\"moves\"`: store every game with its moves. `\"games\"`: store no moves, only sums over them; \
         takes a fraction of the bytes.",
        Kind::Word { words: &["moves", "games"], default: Some("moves") },
    ),
    Key::new(
        "max_plies",
        "Longest game",
        "A game that has not ended this many plies after its opening is a draw.",
        Kind::Limit { max: u32::MAX },
    ),
    Key::new(
        "adjudication",
        "Adjudication",
        "[Which games end early](#adjudication) by the players' own scores, or by exact tables. Without it, \
         only the position or `max_plies` ends a game.",
        Kind::Composite(Composite::Adjudication),
    ),
    Key::new(
        "priority",
        "Priority",
        "Experiments with a larger number are played first; equal ones share the workers.",
        Kind::Whole { min: i32::MIN as i64, max: Some(i32::MAX as i64), default: Some(0) },
    ),
    Key::new(
        "allocate",
        "Allocate",
        "[Which cells are played first](#allocate). `\"grid\"`: cells are played one after the other. \
         `\"informative\"`: the cell with the least certain score goes first; each gets its games all the \
         same.",
        Kind::Word { words: &["grid", "informative"], default: Some("grid") },
    ),
    Key::new(
        "game_timeout",
        "Game timeout",
        "A game that takes longer than this wall time, such as `\"10m\"`, fails and is tried again. This \
         removes only long games: [the effect on figures](statistics.md#times).",
        Kind::Own(forms::timeout),
    ),
    Key::new(
        "forfeits",
        "Forfeits",
        "Whether games that a player [forfeits](engines.md#forfeits), by a crash, a stall, an illegal move or \
         too much time, pause the experiment. `\"lose\"`: forfeits are losses, however many there are. \
         `\"stop\"`: the experiment is paused once a player has forfeited more than `forfeits_max` games, \
         until it is resumed. Changes no cell.",
        Kind::Word { words: &["lose", "stop"], default: Some("lose") },
    ),
    Key::new(
        "forfeits_max",
        "Most forfeits",
        "With `forfeits = \"stop\"`: how many games one player may forfeit before the experiment is paused.",
        Kind::Whole {
            min: 0,
            max: Some(FORFEITS_MAX_MOST as i64),
            default: Some(FORFEITS_MAX_DEFAULT as i64),
        },
    ),
    Key::new(
        "timing",
        "Timing",
        "[Which timed games count as disturbed](#timing), and whether time limits are scaled by the speed of \
         workers.",
        Kind::Table(timing::TIMING),
    ),
    Key::new(
        "placement",
        "Placement",
        "[Which workers play](#placement) the sweep, by their labels, their speed and their quota of CPU \
         time. Changes who plays, never what.",
        Kind::Table(placement::PLACEMENT),
    ),
    Key::new(
        "pairing",
        "Pairing",
        "[Which players meet](#pairing) at each point of the grid.",
        Kind::Composite(Composite::Pairing),
    ),
    Key::new(
        "anchors",
        "Anchors",
        "[Players](#anchors) that every player meets at each point: the zero of the ratings.",
        Kind::Own(forms::anchors),
    ),
    Key::new(
        "axes",
        "Axes",
        "[What changes from cell to cell](#axes). Players, the game and openings name an axis as \
         `\"$depth\"`, or `\"$budget.ab\"` if its values are tables.",
        Kind::Own(forms::axes),
    ),
    Key::new(
        "sample",
        "Sample",
        "[Some points of the grid](#sample) instead of all, drawn by the seed.",
        Kind::Table(SAMPLE),
    ),
    Key::new(
        "players",
        "Players",
        "[The players](#players), each under a header such as `[players.alphabeta]`.",
        Kind::Composite(Composite::Players),
    )
    .required(),
    Key::new(
        "any_build",
        "Any build",
        "Whether a rebuilt engine continues the cells of [the build before it](engines.md#builds). `false`: a \
         rebuilt engine is another player, with its own cells beside the old ones.",
        Kind::Switch { default: false },
    ),
    Key::new(
        "builds",
        "Builds",
        "Which build of each engine plays. Spelrum appends this table to the sweep when the sweep is played, \
         and replaces an earlier one.",
        Kind::Own(forms::builds),
    ),
    Key::new(
        "find",
        "Find",
        "Finds [the value of a parameter](#find) at which two players are even, such as the time that makes \
         one the other's equal: `{ player = \"genetic\", parameter = \"move_time\", from = \"1ms\", to = \
         \"1s\" }`.",
        Kind::Table(course::find::FIND),
    ),
    Key::new(
        "tune",
        "Tune",
        "Finds [the best settings](#tune) of a player, and confirms them: `{ player = \"genetic\", parameters \
         = { crossover_rate = { from = 0.0, to = 1.0 } } }`.",
        Kind::Table(course::tune::TUNE),
    ),
    Key::new(
        "evolve",
        "Evolve",
        "[Breeds the formula](#evolve) by which a player evaluates positions, by genetic programming: `{ \
         player = \"evolved\", population = 25, generations = 50, fitness = \"score\" }`.",
        Kind::Table(course::evolve::EVOLVE),
    ),
    Key::new(
        "override",
        "Overrides",
        "[Other numbers of games](#overrides) for some cells, or none. Later overrides win.",
        Kind::Composite(Composite::Overrides),
    ),
    Key::new(
        "error_rate",
        "Error rate",
        "The highest allowed probability that any false [claim](#claims) is called supported.",
        Kind::Own(forms::error_rate),
    ),
    Key::new(
        "claims",
        "Claims",
        "[Claims](#claims) about the results, stated before there are any: they are judged together at one \
         `error_rate`. Later ones are exploratory. Claims change no game.",
        Kind::Composite(Composite::Claims),
    ),
];

/// The keys of `stop`, exactly one of which is given.
pub(super) const STOP: &[Key] = &[
    Key::new(
        "precision",
        "Precision",
        "Half the width of the 95% interval of the cell's score, in points of a game: a win is one.",
        Kind::Own(|| json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5 })),
    ),
    Key::new(
        "sprt",
        "Sequential test",
        "A cell ends when an SPRT (sequential probability ratio test) accepts H0 (Elo difference `elo0`) or \
         H1 (`elo1`) for its first player.",
        Kind::Table(SPRT),
    ),
];

/// The keys of `sprt`.
pub(super) const SPRT: &[Key] = &[
    Key::new(
        "elo0",
        "",
        "The smaller hypothesis about the first player's strength, in Elo.",
        Kind::Own(forms::sprt_elo),
    )
    .required(),
    Key::new(
        "elo1",
        "",
        "The larger hypothesis about the first player's strength, in Elo.",
        Kind::Own(forms::sprt_elo),
    )
    .required(),
    Key::new(
        "alpha",
        "",
        "The allowed probability of accepting `elo1` when `elo0` is true.",
        Kind::Own(forms::sprt_error),
    )
    .by_default("`0.05`"),
    Key::new(
        "beta",
        "",
        "The allowed probability of accepting `elo0` when `elo1` is true.",
        Kind::Own(forms::sprt_error),
    )
    .by_default("`0.05`"),
    Key::new(
        "model",
        "",
        "The unit of the strengths: `\"logistic\"` is Elo as it follows from the score; `\"normalized\"` \
         needs as many games whatever the share of draws.",
        Kind::Word { words: &["normalized", "logistic"], default: Some("normalized") },
    ),
];

/// The forms of `pairing` as a table, exactly one of which is given.
pub(super) const PAIRING_FORMS: &[Key] = &[
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
pub(super) const PAIRING_BESIDES: &[Key] = &[Key::new(
    "self_play",
    "Self-play",
    "Whether every player that plays also plays against itself.",
    Kind::Switch { default: false },
)];

/// The keys of `sample`.
pub(super) const SAMPLE: &[Key] = &[
    Key::new(
        "method",
        "Method",
        "`\"latin-hypercube\"`: every value of every axis is used equally often, give or take one. \
         `\"random\"`: any points; more of them later keep the earlier ones.",
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
        "Only these axes are sampled, at every combination of the others.",
        Kind::Own(|| json!({ "type": "array", "minItems": 1, "items": { "type": "string" } })),
    )
    .by_default("all"),
];

/// The keys of an override.
pub(super) const OVERRIDE: &[Key] = &[
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
pub(super) const CLAIM: &[Key] = &[
    Key::new(
        "text",
        "Text",
        "The claim, in one line: reports use it as the claim's name.",
        Kind::Text,
    )
    .required(),
    Key::new(
        "player",
        "Player",
        "The player, or variant, whose score the claim is about.",
        Kind::Text,
    )
    .required(),
    Key::new("opponent", "Opponent", "The player that it meets, on either side.", Kind::Text)
        .by_default("any player"),
    Key::new(
        "at",
        "At",
        "Which cells: values of axes, as in an [override](#overrides).",
        Kind::Own(|| json!({ "type": "object", "minProperties": 1 })),
    )
    .by_default("every cell in which they meet"),
    Key::new(
        "score_above",
        "Score above",
        "The player's mean score is above this bound: 0.5 is even. A claim has either this or `score_below`.",
        Kind::Own(forms::claimed_score),
    ),
    Key::new(
        "score_below",
        "Score below",
        "The player's mean score is below this bound: 0.5 is even.",
        Kind::Own(forms::claimed_score),
    ),
    Key::new(
        "in",
        "In",
        "`\"every\"`: the claim holds if it holds in each of these cells. `\"some\"`: in at least one.",
        Kind::Word { words: &["every", "some"], default: Some("every") },
    ),
];

/// The keys of a range.
pub(super) const RANGE: &[Key] = &[
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
        "With `count`: equal distances (`\"linear\"`) or equal ratios (`\"log\"`).",
        Kind::Word { words: &["linear", "log"], default: Some("linear") },
    ),
];

/// The keys of `from` of a player.
pub(super) const FOUND: &[Key] = &[
    Key::new("experiment", "", "Its name or UUID. The run must be finished.", Kind::Text)
        .required(),
    Key::new(
        "run",
        "",
        "Which of its runs, by the number in its report.",
        Kind::Whole { min: 0, max: None, default: Some(0) },
    ),
    Key::new(
        "best",
        "",
        "The run's best player; no other is kept.",
        Kind::Own(|| json!({ "const": true })),
    )
    .by_default("`true`"),
    Key::new(
        "db",
        "",
        "The results database that has the experiment. Without this key, `submit` asks the coordinator, and `run` \
         looks into the database that it makes for such an experiment, `EXPERIMENT.db` in the directory where it \
         is run.",
        Kind::Text,
    ),
];

/// The keys of a player that are not parameters. The schema lists for each algorithm the keys of `vary`.
pub(super) const PLAYER: &[Key] = &[
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
        Kind::Table(FOUND),
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
        Self { name, title, meaning, kind, is_required: false, default: "" }
    }

    const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    const fn by_default(mut self, words: &'static str) -> Self {
        self.default = words;
        self
    }

    /// The default of a key whose form is this schema: words, or the schema's value as code.
    pub(super) fn default_text(&self, schema: &Json) -> Option<String> {
        match schema.get("default") {
            _ if !self.default.is_empty() => Some(self.default.to_owned()),
            Some(value) => Some(format!("`{value}`")),
            None => None,
        }
    }
}

/// The names of keys.
pub(super) fn names(keys: &'static [Key]) -> impl Iterator<Item = &'static str> {
    keys.iter().map(|key| key.name)
}

/// Refuses the first key of a table that is not one of these.
pub(super) fn check(table: &Table, owner: &str, keys: &'static [Key]) -> Result<(), Fault> {
    table.check_keys(owner, &names(keys).collect::<Vec<_>>())
}
