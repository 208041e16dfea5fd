//! Every key of the sweep language, once: its name, its meaning, and its values.
//!
//! The keys of tables that have a reader of their own are beside it. The schema for editors
//! ([`super::schema`]) has exactly these. Players' parameters and games' rules are not among them: those are
//! the engine's.

pub(super) mod course;
mod openings;

use serde_json::json;
use spelrum_model::claims::DEFAULT_ERROR_RATE;
use spelrum_model::{Allocation, Record, Task};

use crate::forms;
use crate::key::{Key, Keys, Limit, Name, Number, Of, Own, Switch, Text, Whole, Word};
use crate::placement::PLACEMENT;
use crate::sample::SAMPLE;
use crate::timing::TIMING;

pub(super) use openings::{
    BOOK_COUNT, BOOK_START, IS_DRAWN, OPENINGS_BOOK, OPENINGS_ENDING, OPENINGS_LISTED,
    OPENINGS_PLIES, OPENINGS_START, SKIPS_BAD, STRATIFIED, TO_MOVE,
};

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

pub(super) const DESCRIPTION: Key<Text> = Key::new(
    "description",
    "Description",
    "The question it asks, for readers; reports show it.",
    Text,
)
.example("\"What it asks\"");

pub(super) const KIND: Key<Word<Task>> = Key::new(
    "kind",
    "Kind",
    "`\"games\"`: players meet each other. `\"accuracy\"`: players [choose moves alone](#accuracy), \
     compared with a reference that gives the value of every move.",
    Word::first_of(&[
        (Task::Game.experiments(), Task::Game),
        (Task::Choice.experiments(), Task::Choice),
    ]),
);

pub(super) const SWAP_SIDES: Key<Switch> = Key::new(
    "swap_sides",
    "Swapped sides",
    "Whether games come in pairs from one opening, with [the players' sides swapped](#games). `false`: \
     the first player of a pairing moves first in every game, each from its own opening.",
    Switch { default: true },
);

pub(super) const CHOICES: Key<Whole<u64>> = Key::new(
    "choices",
    "Choices",
    "Only for kind `accuracy`: the number of positions in which each player chooses, in each cell. All are \
     distinct up to symmetry, and a larger number later continues the experiment.",
    Whole { min: 1, max: None, default: None },
)
.by_default("none; required with kind `accuracy`").example("1000");

pub(super) const MEASURES_TIME: Key<Word<bool>> = Key::new(
    "measure",
    "What is measured",
    "`\"score\"`: results are the question. `\"time\"`: times are part of the question, so every cell \
     counts as timed and is played on [exclusive slots](timing.md#quiet-slots).",
    Word::first_of(&[("score", false), ("time", true)]),
);

pub(super) const RECORD: Key<Word<Record>> = Key::new(
    "record",
    "What is stored",
    "`\"moves\"`: store every game with its moves. `\"full\"`: store also what external engines tell of each \
     move's search (selective depth, fill of the table, table hits, principal variation), and the time left \
     on clocks ([`move_notes`](sql.md#move_notes)). `\"games\"`: store no moves, only sums over them; takes a \
     fraction of the bytes.",
    Word::first_of(&[("moves", Record::Moves), ("full", Record::Full), ("games", Record::Games)]),
);

pub(super) const MAX_PLIES: Key<Limit> = Key::new(
    "max_plies",
    "Longest game",
    "A game that has not ended this many plies after its opening is a draw.",
    Limit { min: 1, max: u32::MAX },
);

pub(super) const PRIORITY: Key<Whole<i32>> = Key::new(
    "priority",
    "Priority",
    "Experiments with a larger number are played first; equal ones share the workers.",
    Whole { min: i32::MIN, max: Some(i32::MAX), default: Some(0) },
)
.example("10")
.hint("0 is usual");

pub(super) const GAMES_AT_ONCE: Key<Limit> = Key::new(
    "games_at_once",
    "Games at once",
    "The most games that workers hold at once, in play or next in line: leaves slots to other experiments, \
     and keeps engines within their licences or bandwidth. Changes no cell.",
    Limit { min: 2, max: u32::MAX },
)
.hint("a pair of games is handed out together");

pub(super) const ALLOCATE: Key<Word<Allocation>> = Key::new(
    "allocate",
    "Allocate",
    "[Which cells are played first](#allocate). `\"grid\"`: cells are played one after the other. \
     `\"informative\"`: the cell with the least certain score goes first; each gets its games all the \
     same.",
    Word::first_of(&[
        (Allocation::Grid.name(), Allocation::Grid),
        (Allocation::Informative.name(), Allocation::Informative),
    ]),
);

pub(super) const REPLICATES: Key<Text> = Key::new(
    "replicates",
    "Replicates",
    "[The axis whose values are replicates](#replicates), such as the seed of the sweep or of its networks: \
     reports show the mean over them, with an interval by how much they differ. Changes no cell.",
    Text,
)
.example("\"seed\"");

pub(super) const MONOTONE: Key<Own> = Key::new(
    "monotone",
    "Monotone",
    "[Axes along which scores only rise or only fall](#monotone), such as a limit that one player has and its \
     opponent lacks: curves, crossings and their bands keep to it. Changes no cell.",
    Own(forms::column_names),
)
.example("\"nodes\"");

pub(super) const FORFEITS_STOP: Key<Word<bool>> = Key::new(
    "forfeits",
    "Forfeits",
    "Whether games that a player [forfeits](engines.md#forfeits), by a crash, a stall, an illegal move or \
     too much time, pause the experiment. `\"lose\"`: forfeits are losses, however many there are. \
     `\"stop\"`: the experiment is paused once a player has forfeited more than `forfeits_max` games, \
     until it is resumed. Changes no cell.",
    Word::first_of(&[("lose", false), ("stop", true)]),
);

pub(super) const FORFEITS_MAX: Key<Whole<u64>> = Key::new(
    "forfeits_max",
    "Most forfeits",
    "With `forfeits = \"stop\"`: how many games one player may forfeit before the experiment is paused.",
    Whole { min: 0, max: Some(1_000_000_000), default: Some(3) },
)
.hint("with one more the experiment is paused");

pub(super) const ANY_BUILD: Key<Switch> = Key::new(
    "any_build",
    "Any build",
    "Whether a rebuilt engine continues the cells of [the build before it](engines.md#builds). `false`: a \
     rebuilt engine is another player, with its own cells beside the old ones.",
    Switch { default: false },
);

pub(super) const ERROR_RATE: Key<Number> = Key::new(
    "error_rate",
    "Error rate",
    "The highest allowed probability that any false [claim](#claims) is called supported.",
    Number::between(0.0, 0.5).or(DEFAULT_ERROR_RATE),
)
.hint("0.05 is usual");

/// The keys of a sweep.
pub(super) const SWEEP: Keys = &[
    &Key::new(
        "name",
        "Name",
        "Names the experiment and the database `<name>.db`: a letter, then letters, digits, `_`, `-`, at most \
         64.",
        Name,
    )
    .required(),
    &DESCRIPTION,
    &KIND,
    &Key::new(
        "game",
        "Game",
        "[The game](#game), or a table of its name and its rules, which may be axes: `{ name = \"nim\", heaps \
         = [3, 4, 5], misere = \"$misere\" }`.",
        Composite::Game,
    )
    .required(),
    &Key::new(
        "seed",
        "Seed",
        "The source of every random number, of openings and of players: the same file gives the same games on \
         every machine. [An axis of seeds](#replicates), `seed = \"$seed\"`, repeats the sweep with each.",
        Own(forms::seed),
    ),
    &Key::new(
        "games",
        "Games",
        "[Games in each cell](#games): even, at least 2, unless sides are fixed (`swap_sides`). A larger \
         number later continues the experiment.",
        Whole::<u64> { min: 1, max: None, default: None },
    )
    .by_default("none; required with kind `games`"),
    &SWAP_SIDES,
    &Key::new(
        "stop",
        "Stop",
        "[When a cell ends](#stop) before it has all its games: `{ precision = 0.03 }` or `{ sprt = { elo0 = \
         0, elo1 = 20 } }`. Another rule later is applied to the same games.",
        Composite::Stop,
    ),
    &Key::new(
        "openings",
        "Openings",
        "[Where games start](#openings). Pair k has the same opening in every cell, so that cells can be \
         compared.",
        Composite::Openings,
    ),
    &Key::new(
        "positions",
        "Positions",
        "Only for kind `accuracy`: the positions in which players choose, in the forms of [`openings`](#openings). \
         Position k is the same in every cell. `\"random\"` takes several distances in turn, so that each has \
         its share: `{ kind = \"random\", plies = [20, 24, 28] }`. In Pentago, tic-tac-toe and Connect Four a \
         ply is a stone on the board.",
        Composite::Openings,
    )
    .by_default("none; required with kind `accuracy`"),
    &CHOICES,
    &Key::new(
        "reference",
        "Reference",
        "Only for kind `accuracy`: the player that gives the value of every legal move. `algorithm = \"exact\"`: a \
         win is 1, a draw 0 and a loss -1. `algorithm = \"minimax\"` with a `depth` and an `evaluation`, \
         where exact play is out of reach: its score of each move. `algorithm = \"table\"` in [chess \
         endings](#openings): 256 less the plies to mate for a win, the negative of that for a loss, and 0 \
         for a draw, so that the loss by a slower mate is counted in plies. A reference has no time limit, \
         since its values must follow from the position alone; `nodes` limits the work on one position (for \
         `exact` 10,000,000,000 by default), and a position that takes more is given up as failed.",
        Composite::ReferencePlayer,
    )
    .by_default("none; required with kind `accuracy`"),
    &MEASURES_TIME,
    &RECORD,
    &MAX_PLIES,
    &Key::new(
        "adjudication",
        "Adjudication",
        "[Which games end early](#adjudication) by the players' own scores, or by exact tables. Without it, \
         only the position or `max_plies` ends a game.",
        Composite::Adjudication,
    ),
    &PRIORITY,
    &GAMES_AT_ONCE,
    &ALLOCATE,
    &Key::new(
        "game_timeout",
        "Game timeout",
        "A game that takes longer than this wall time, such as `\"10m\"`, fails and is tried again. This \
         removes only long games: [the effect on figures](statistics.md#times).",
        Own(forms::timeout),
    ),
    &FORFEITS_STOP,
    &FORFEITS_MAX,
    &Key::new(
        "timing",
        "Timing",
        "[Which timed games count as disturbed](#timing), and whether time limits are scaled by the speed of \
         workers.",
        Of(TIMING),
    ),
    &Key::new(
        "placement",
        "Placement",
        "[Which workers play](#placement) the sweep, by their labels, their speed and their quota of CPU \
         time. Changes who plays, never what.",
        Of(PLACEMENT),
    ),
    &Key::new(
        "pairing",
        "Pairing",
        "[Which players meet](#pairing) at each point of the grid.",
        Composite::Pairing,
    ),
    &Key::new(
        "anchors",
        "Anchors",
        "[Players](#anchors) that every player meets at each point: the zero of the ratings.",
        Own(forms::anchors),
    ),
    &Key::new(
        "axes",
        "Axes",
        "[What changes from cell to cell](#axes). Players, the game and openings name an axis as \
         `\"$depth\"`, or `\"$budget.ab\"` if its values are tables.",
        Own(forms::axes),
    ),
    &REPLICATES,
    &MONOTONE,
    &Key::new(
        "sample",
        "Sample",
        "[Some points of the grid](#sample) instead of all, drawn by the seed.",
        Of(SAMPLE),
    ),
    &Key::new(
        "players",
        "Players",
        "[The players](#players), each under a header such as `[players.alphabeta]`.",
        Composite::Players,
    )
    .required(),
    &ANY_BUILD,
    &Key::new(
        "builds",
        "Builds",
        "Which build of each engine plays. Spelrum appends this table to the sweep when the sweep is played, \
         and replaces an earlier one.",
        Own(forms::builds),
    ),
    &Key::new(
        "find",
        "Find",
        "Finds [the value of a parameter](#find) at which two players are even, such as the time that makes \
         one the other's equal: `{ player = \"genetic\", parameter = \"move_time\", from = \"1ms\", to = \
         \"1s\" }`.",
        Of(course::find::FIND),
    ),
    &Key::new(
        "tune",
        "Tune",
        "Finds [the best settings](#tune) of a player, and confirms them: `{ player = \"genetic\", parameters \
         = { crossover_rate = { from = 0.0, to = 1.0 } } }`.",
        Of(course::tune::TUNE),
    ),
    &Key::new(
        "evolve",
        "Evolve",
        "[Breeds the formula](#evolve) by which a player evaluates positions, by genetic programming: `{ \
         player = \"evolved\", population = 25, generations = 50, fitness = \"score\" }`.",
        Of(course::evolve::EVOLVE),
    ),
    &Key::new(
        "race",
        "Race",
        "Finds [which player is first](#race), and plays no more games than that needs: `{ error_rate = 0.05, within \
         = 0.02 }`.",
        Of(course::race::RACE),
    ),
    &Key::new(
        "override",
        "Overrides",
        "[Other numbers of games](#overrides) for some cells, or none. Later overrides win.",
        Composite::Overrides,
    ),
    &ERROR_RATE,
    &Key::new(
        "claims",
        "Claims",
        "[Claims](#claims) about the results, stated before there are any: they are judged together at one \
         `error_rate`. Later ones are exploratory. Claims change no game.",
        Composite::Claims,
    ),
];

/// The keys of `from` of a player.
pub(super) const FOUND: Keys = &[
    &Key::new("experiment", "", "Its name or UUID. The run must be finished.", Text).required(),
    &Key::new(
        "run",
        "",
        "Which of its runs, by the number in its report.",
        Whole::<u64> { min: 0, max: None, default: Some(0) },
    ),
    &Key::new(
        "best",
        "",
        "The run's best player; no other is kept.",
        Own(|| json!({ "const": true })),
    )
    .by_default("`true`"),
    &Key::new(
        "db",
        "",
        "The results database that has the experiment. Without this key, `submit` asks the coordinator, and `run` \
         looks into the database that it makes for such an experiment, `EXPERIMENT.db` in the directory where it \
         is run.",
        Text,
    ),
];

/// The keys of a player that are not parameters. The schema lists for each algorithm the keys of `vary`.
pub(super) const PLAYER: Keys = &[
    &Key::new(
        "like",
        "Like",
        "Starts from what another player says; keys here replace its keys.",
        Text,
    ),
    &Key::new(
        "from",
        "From",
        "Starts from what a run of another experiment with find, tune or evolve found: from = { experiment = \
         \"othello-gp\", run = 2, best = true }. Keys here replace what it says.",
        Of(FOUND),
    ),
    &Key::new(
        "use",
        "Use",
        "Merges the tables of an axis into the player: \"$selection\", or a list of such.",
        Own(forms::used_axes),
    ),
    &Key::new(
        "vary",
        "Vary",
        "One player for each combination of these values, lists or ranges: \
         vary = { depth = [1, 2, 3] } makes ab(depth=1), ab(depth=2) and ab(depth=3).",
        Own(|| json!({ "type": "object", "minProperties": 1, "additionalProperties": false })),
    ),
];
