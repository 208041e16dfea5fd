//! The keys of `evolve`, for formulas that are bred.

use serde_json::json;
use spelrum_engine::expression::{DEPTH_MAX, NODES_MAX};
use spelrum_model::course::{Fitness, Meet, Reevaluate};
use spelrum_optimize::genetic_programming::selection::Selection;
use spelrum_optimize::genetic_programming::trees::Initial;
use spelrum_optimize::genetic_programming::variation::{Mutation, Points};

use crate::forms;
use crate::key::{Key, Keys, Number, Own, Swept, Switch, Text, Whole, Word};

/// Most cells of all runs of a sweep together, at their maximum (invariant 9).
pub(crate) const CELLS_MAX: u64 = 100_000;

/// Most individuals of a generation.
pub(crate) const POPULATION_MAX: usize = 10_000;

/// Most individuals of all runs of a sweep, in all generations (invariant 9).
pub(crate) const INDIVIDUALS_MAX: u64 = 200_000;

pub(crate) const RUNS: Key<Swept<Whole<u64>>> = Key::new(
    "runs",
    "Runs",
    "How many runs each point of the grid has, each with other random numbers.",
    Swept(Whole { min: 1, max: Some(100), default: Some(1) }),
);

pub(crate) const POPULATION: Key<Swept<Whole<usize>>> = Key::new(
    "population",
    "Population",
    "Individuals of a generation.",
    Swept(Whole { min: 2, max: Some(POPULATION_MAX), default: Some(25) }),
);

pub(crate) const GENERATIONS: Key<Swept<Whole<u64>>> = Key::new(
    "generations",
    "Generations",
    "The number of generations, including the random first one.",
    Swept(Whole { min: 1, max: Some(10_000), default: Some(50) }),
);

pub(crate) const ELITE: Key<Swept<Whole<usize>>> = Key::new(
    "elite",
    "Elite",
    "How many of the best enter the next generation unchanged.",
    Swept(Whole { min: 0, max: Some(POPULATION_MAX - 1), default: Some(5) }),
);

pub(crate) const MUTATION_RATE: Key<Swept<Number>> = Key::new(
    "mutation_rate",
    "Mutation rate",
    "The probability that the next breeding is a mutation, which has one child, and not a crossover, \
     which has two: at a rate p, p / (2 - p) of the children are mutations, 2.6% at 0.05.",
    Swept(Number::within(0.0, 1.0).or(0.05)),
)
.hint("it is a probability");

pub(crate) const MUTATION: Key<Swept<Word<Mutation>>> = Key::new(
    "mutation",
    "Mutation",
    "`\"label\"`: one node's label is replaced by another of its kind. `\"subtree\"`: a subtree is \
     replaced by one that is grown (Koza, section 6.5.1).",
    Swept(Word::first_of(&Mutation::ALL)),
);

pub(crate) const CROSSOVER_POINTS: Key<Swept<Word<Points>>> = Key::new(
    "crossover_points",
    "Crossover points",
    "Which nodes are swapped, with all nodes below them: any node, or with `\"functions\"` a function \
     nine times out of ten (Koza, section 6.5). Where a child would be too deep or large, a child of the \
     node that does not fit is taken instead.",
    Swept(Word::first_of(&Points::ALL)),
);

pub(crate) const SELECTION: Key<Swept<Word<Selection>>> = Key::new(
    "selection",
    "Selection",
    "How parents are drawn. `\"study\"`: from the individuals, sorted best first, an end is drawn, and \
     then an individual before it. `\"proportional\"`: in proportion to fitness above the least of the \
     generation. `\"tournament\"`: the best of `tournament_size`.",
    Swept(Word::first_of(&[
        ("study", Selection::Study),
        ("proportional", Selection::Proportional),
        ("tournament", Selection::Tournament(0)),
    ])),
);

pub(crate) const TOURNAMENT_SIZE: Key<Swept<Whole<u64>>> = Key::new(
    "tournament_size",
    "Tournament size",
    "The size of a tournament.",
    Swept(Whole { min: 1, max: Some(POPULATION_MAX as u64), default: Some(3) }),
);

pub(crate) const DUPLICATES: Key<Swept<Switch>> = Key::new(
    "duplicates",
    "Duplicates",
    "Whether two individuals of a generation may be the same after simplification. `false` breeds such a \
     child again, a hundred times at most.",
    Swept(Switch { default: true }),
);

pub(crate) const INITIAL: Key<Swept<Word<Initial>>> = Key::new(
    "initial",
    "Initial",
    "The first trees (Koza, section 6.2): `\"grow\"`, `\"full\"`, or with `\"ramped\"` half of each at \
     all depths from 2 on.",
    Swept(Word::first_of(&Initial::ALL)),
);

pub(crate) const INITIAL_DEPTH: Key<Swept<Whole<usize>>> = Key::new(
    "initial_depth",
    "Initial depth",
    "The greatest depth of the first trees.",
    Swept(Whole { min: 0, max: Some(DEPTH_MAX), default: None }),
)
.by_default("`depth`");

pub(crate) const DEPTH: Key<Swept<Whole<usize>>> = Key::new(
    "depth",
    "Depth",
    "The greatest depth of trees: edges from the root to the farthest leaf.",
    Swept(Whole { min: 0, max: Some(DEPTH_MAX), default: Some(5) }),
);

pub(crate) const NODES: Key<Swept<Whole<usize>>> = Key::new(
    "nodes",
    "Nodes",
    "The most nodes that a tree may have.",
    Swept(Whole { min: 1, max: Some(NODES_MAX), default: None }),
)
.by_default("the most there may be");

pub(crate) const FITNESS: Key<Swept<Word<Fitness>>> = Key::new(
    "fitness",
    "Fitness",
    "`\"score\"`: points per game. `\"study\"`: 100 for each win, and the sum of the margins. \
     `\"margin\"`: the mean margin. The latter two need a game that has margins, and are refused with \
     `[adjudication]` and `max_plies`, which end games without one. A game that an external engine \
     forfeits has no margin, and counts as a margin of 0.",
    Swept(Word::first_of(&Fitness::ALL)),
);

pub(crate) const MEET: Key<Swept<Word<Meet>>> = Key::new(
    "meet",
    "Meet",
    "The opponents of individuals: the sweep's opponents; each other in a `\"league\"`; or each other in \
     a `\"knock-out\"`, where an individual's fitness is the number of rounds it survives, whatever \
     `fitness` is, and points per game break ties.",
    Swept(Word::first_of(&Meet::ALL)),
);

pub(crate) const HALL_OF_FAME: Key<Swept<Whole<usize>>> = Key::new(
    "hall_of_fame",
    "Hall of fame",
    "How many of the best of earlier generations every individual also meets.",
    Swept(Whole { min: 0, max: Some(1_000), default: Some(0) }),
);

pub(crate) const REEVALUATE: Key<Swept<Word<Reevaluate>>> = Key::new(
    "reevaluate",
    "Re-evaluation",
    "Which individuals are measured. `\"children\"`: the elite keep their fitness, as in the study. \
     `\"new\"`: only formulas that the run has not measured yet. `\"always\"`: all individuals.",
    Swept(Word { words: &Reevaluate::ALL, first_by_default: false }),
)
.by_default("`\"children\"`; where their opponents change, `\"always\"`");

/// The keys of `evolve`.
pub(crate) const EVOLVE: Keys = &[
    &Key::new(
        "player",
        "Player",
        "The player whose formula is bred. Every other player in the `pairing` meets it, all in one run.",
        Text,
    )
    .required(),
    &Key::new(
        "parameter",
        "Parameter",
        "The parameter that is bred. The player itself does not set it.",
        Text,
    )
    .by_default("`\"formula\"`"),
    &Key::new(
        "use",
        "Use",
        "Axes whose values are tables of these keys, which override the keys set here: `use = \"$wish\"`.",
        Own(|| {
            let axis = forms::reference();
            json!({ "anyOf": [axis, { "type": "array", "items": axis }] })
        }),
    ),
    &Key::new(
        "games",
        "Games",
        "Games of each meeting: even unless sides are fixed (`swap_sides`).",
        Own(|| {
            let games = json!({ "type": "integer", "minimum": 1 });
            json!({ "anyOf": [games, forms::reference()] })
        }),
    )
    .by_default("the sweep's"),
    &RUNS,
    &POPULATION,
    &GENERATIONS,
    &ELITE,
    &MUTATION_RATE,
    &MUTATION,
    &CROSSOVER_POINTS,
    &SELECTION,
    &TOURNAMENT_SIZE,
    &DUPLICATES,
    &INITIAL,
    &INITIAL_DEPTH,
    &DEPTH,
    &NODES,
    &Key::new(
        "functions",
        "Functions",
        "Functions that trees are made of: some of `+`, `-`, `*` and `/`.",
        Own(|| {
            let function = json!({ "enum": ["+", "-", "*", "/"] });
            let list = json!({ "type": "array", "items": function });
            json!({ "anyOf": [list, forms::reference()] })
        }),
    )
    .by_default("all"),
    &Key::new(
        "features",
        "Features",
        "Features that trees may count.",
        Own(|| list_of("string")),
    )
    .by_default("all of the game but sums of others"),
    &Key::new(
        "constants",
        "Constants",
        "Numbers that trees may have.",
        Own(|| list_of("number")),
    ),
    &FITNESS,
    &Key::new(
        "parsimony",
        "Parsimony",
        "The cost of size where individuals are ranked. `\"lexicographic\"`: of equally fit individuals the \
         smaller is better. A number: the fitness that each node costs.",
        Own(|| {
            let words = json!({ "enum": ["none", "lexicographic"] });
            let price = json!({ "type": "number", "minimum": 0 });
            json!({ "anyOf": [words, price, forms::reference()], "default": "none" })
        }),
    ),
    &MEET,
    &HALL_OF_FAME,
    &REEVALUATE,
];

fn list_of(kind: &str) -> serde_json::Value {
    let list = json!({ "type": "array", "items": { "type": kind } });
    json!({ "anyOf": [list, forms::reference()] })
}
