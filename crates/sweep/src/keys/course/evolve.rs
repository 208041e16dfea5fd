//! The keys of `evolve`, for formulas that are bred.

use serde_json::json;

use super::super::{Key, Kind};
use super::integer_form;
use crate::forms;

/// Most cells of all runs of a sweep together, at their maximum (invariant 9).
pub(crate) const CELLS_MAX: u64 = 100_000;

/// Most individuals of a generation.
pub(crate) const POPULATION_MAX: i64 = 10_000;

/// Most individuals of all runs of a sweep, in all generations (invariant 9).
pub(crate) const INDIVIDUALS_MAX: u64 = 200_000;

/// Most generations of a run.
pub(crate) const GENERATIONS_MAX: i64 = 10_000;

/// Default number of individuals in a generation.
pub(crate) const POPULATION: i64 = 25;
/// Default number of generations.
pub(crate) const GENERATIONS: i64 = 50;
/// Default size of the elite.
pub(crate) const ELITE: i64 = 5;
/// Default frequency of mutations among children.
pub(crate) const MUTATION_RATE: f64 = 0.05;
/// Default maximum depth of trees.
pub(crate) const DEPTH: i64 = 5;
/// Default size of a tournament.
pub(crate) const TOURNAMENT_SIZE: i64 = 3;
/// Most runs at each point of the grid.
pub(crate) const RUNS_EACH_MAX: i64 = 100;

/// The keys of `evolve`.
pub(crate) const EVOLVE: &[Key] = &[
    Key::new("player", "Player", "The player whose formula is bred. Every other player in the `pairing` meets it, all in one run.", Kind::Text).required(),
    Key::new(
        "parameter",
        "Parameter",
        "The parameter that is bred. The player itself does not set it.",
        Kind::Text,
    ).by_default("`\"formula\"`"),
    Key::new(
        "use",
        "Use",
        "Axes whose values are tables of these keys, which override the keys set here: `use = \"$wish\"`.",
        Kind::Own(|| {
            let axis = forms::reference();
            json!({ "anyOf": [axis, { "type": "array", "items": axis }] })
        }),
    ),
    Key::new(
        "games",
        "Games",
        "Games of each meeting.",
        Kind::Own(|| {
            let games = json!({ "type": "integer", "minimum": 2, "multipleOf": 2 });
            json!({ "anyOf": [games, forms::reference()] })
        }),
    ).by_default("the sweep's"),
    Key::new(
        "runs",
        "Runs",
        "How many runs each point of the grid has, each with other random numbers.",
        Kind::Own(|| integer_form(1, RUNS_EACH_MAX, 1)),
    ),
    Key::new(
        "population",
        "Population",
        "Individuals of a generation.",
        Kind::Own(|| integer_form(2, POPULATION_MAX, POPULATION)),
    ),
    Key::new(
        "generations",
        "Generations",
        "The number of generations, including the random first one.",
        Kind::Own(|| integer_form(1, GENERATIONS_MAX, GENERATIONS)),
    ),
    Key::new(
        "elite",
        "Elite",
        "How many of the best enter the next generation unchanged.",
        Kind::Own(|| integer_form(0, POPULATION_MAX - 1, ELITE)),
    ),
    Key::new(
        "mutation_rate",
        "Mutation rate",
        "The probability that the next breeding is a mutation, which has one child, and not a crossover, \
         which has two: at a rate p, p / (2 - p) of the children are mutations, 2.6% at 0.05.",
        Kind::Own(|| {
            let rate = json!({ "type": "number", "minimum": 0, "maximum": 1 });
            json!({ "anyOf": [rate, forms::reference()], "default": MUTATION_RATE })
        }),
    ),
    Key::new(
        "mutation",
        "Mutation",
        "`\"label\"`: one node's label is replaced by another of its kind. `\"subtree\"`: a subtree is \
         replaced by one that is grown (Koza, section 6.5.1).",
        Kind::Own(|| word(&["label", "subtree"])),
    ).by_default("`\"label\"`"),
    Key::new(
        "crossover_points",
        "Crossover points",
        "Which nodes are swapped, with all nodes below them: any node, or with `\"functions\"` a function \
         nine times out of ten (Koza, section 6.5). Where a child would be too deep or large, a child of the \
         node that does not fit is taken instead.",
        Kind::Own(|| word(&["uniform", "functions"])),
    ).by_default("`\"uniform\"`"),
    Key::new(
        "selection",
        "Selection",
        "How parents are drawn. `\"study\"`: from the individuals, sorted best first, an end is drawn, and \
         then an individual before it. `\"proportional\"`: in proportion to fitness above the least of the \
         generation. `\"tournament\"`: the best of `tournament_size`.",
        Kind::Own(|| word(&["study", "proportional", "tournament"])),
    ).by_default("`\"study\"`"),
    Key::new(
        "tournament_size",
        "Tournament size",
        "The size of a tournament.",
        Kind::Own(|| integer_form(1, POPULATION_MAX, TOURNAMENT_SIZE)),
    ),
    Key::new(
        "duplicates",
        "Duplicates",
        "Whether two individuals of a generation may be the same after simplification. `false` breeds such a \
         child again, a hundred times at most.",
        Kind::Own(
            || json!({ "anyOf": [{ "type": "boolean" }, forms::reference()], "default": true }),
        ),
    ),
    Key::new(
        "initial",
        "Initial",
        "The first trees (Koza, section 6.2): `\"grow\"`, `\"full\"`, or with `\"ramped\"` half of each at \
         all depths from 2 on.",
        Kind::Own(|| word(&["ramped", "grow", "full"])),
    ).by_default("`\"ramped\"`"),
    Key::new(
        "initial_depth",
        "Initial depth",
        "The greatest depth of the first trees.",
        Kind::Own(|| depth(None)),
    ).by_default("`depth`"),
    Key::new(
        "depth",
        "Depth",
        "The greatest depth of trees: edges from the root to the farthest leaf.",
        Kind::Own(|| depth(Some(DEPTH))),
    ),
    Key::new(
        "nodes",
        "Nodes",
        "The most nodes that a tree may have.",
        Kind::Own(|| {
            let nodes = json!({
                "type": "integer",
                "minimum": 1,
                "maximum": spelrum_engine::expression::NODES_MAX,
            });
            json!({ "anyOf": [nodes, forms::reference()] })
        }),
    ).by_default("the most there may be"),
    Key::new(
        "functions",
        "Functions",
        "Functions that trees are made of: some of `+`, `-`, `*` and `/`.",
        Kind::Own(|| {
            let function = json!({ "enum": ["+", "-", "*", "/"] });
            let list = json!({ "type": "array", "items": function });
            json!({ "anyOf": [list, forms::reference()] })
        }),
    ).by_default("all"),
    Key::new(
        "features",
        "Features",
        "Features that trees may count.",
        Kind::Own(|| list_of("string")),
    ).by_default("all of the game"),
    Key::new(
        "constants",
        "Constants",
        "Numbers that trees may have.",
        Kind::Own(|| list_of("number")),
    ),
    Key::new(
        "fitness",
        "Fitness",
        "`\"score\"`: points per game. `\"study\"`: 100 for each win, and the sum of the margins. \
         `\"margin\"`: the mean margin. The latter two need a game that has margins, and are refused with \
         `[adjudication]` and `max_plies`, which end games without one. A game that an external engine \
         forfeits has no margin, and counts as a margin of 0.",
        Kind::Own(|| word(&["score", "study", "margin"])),
    ).by_default("`\"score\"`"),
    Key::new(
        "parsimony",
        "Parsimony",
        "The cost of size where individuals are ranked. `\"lexicographic\"`: of equally fit individuals the \
         smaller is better. A number: the fitness that each node costs.",
        Kind::Own(|| {
            let words = json!({ "enum": ["none", "lexicographic"] });
            let price = json!({ "type": "number", "minimum": 0 });
            json!({ "anyOf": [words, price, forms::reference()], "default": "none" })
        }),
    ),
    Key::new(
        "meet",
        "Meet",
        "The opponents of individuals: the sweep's opponents; each other in a `\"league\"`; or each other in \
         a `\"knock-out\"`, where an individual's fitness is the number of rounds it survives, whatever \
         `fitness` is, and points per game break ties.",
        Kind::Own(|| word(&["opponents", "league", "knock-out"])),
    ).by_default("`\"opponents\"`"),
    Key::new(
        "hall_of_fame",
        "Hall of fame",
        "How many of the best of earlier generations every individual also meets.",
        Kind::Own(|| integer_form(0, 1_000, 0)),
    ),
    Key::new(
        "reevaluate",
        "Re-evaluation",
        "Which individuals are measured. `\"children\"`: the elite keep their fitness, as in the study. \
         `\"new\"`: only formulas that the run has not measured yet. `\"always\"`: all individuals.",
        Kind::Own(|| word(&["children", "new", "always"])),
    ).by_default("`\"children\"`; where their opponents change, `\"always\"`"),
];

/// One of these words, the first by default, or an axis of such.
fn word(words: &[&str]) -> serde_json::Value {
    json!({ "anyOf": [{ "enum": words }, forms::reference()] })
}

fn depth(default: Option<i64>) -> serde_json::Value {
    let max = spelrum_engine::expression::DEPTH_MAX;
    let depth = json!({ "type": "integer", "minimum": 0, "maximum": max });
    let any = json!([depth, forms::reference()]);
    match default {
        Some(default) => json!({ "anyOf": any, "default": default }),
        None => json!({ "anyOf": any }),
    }
}

fn list_of(kind: &str) -> serde_json::Value {
    let list = json!({ "type": "array", "items": { "type": kind } });
    json!({ "anyOf": [list, forms::reference()] })
}
