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
pub(crate) static EVOLVE: [Key; 26] = [
    Key::new("player", "Player", "Player whose formula is evolved.", Kind::Text).required(),
    Key::new(
        "parameter",
        "Parameter",
        "The parameter of the player that is bred, a formula. Default: \"formula\".",
        Kind::Text,
    ),
    Key::new(
        "use",
        "Use",
        "Axes whose values are tables of these keys: at each point, what its table says holds: use = \"$wish\".",
        Kind::Own(|| {
            let axis = forms::reference();
            json!({ "anyOf": [axis, { "type": "array", "items": axis }] })
        }),
    ),
    Key::new(
        "games",
        "Games",
        "Games of each meeting. Default: the sweep's `games`.",
        Kind::Own(|| {
            let games = json!({ "type": "integer", "minimum": 2, "multipleOf": 2 });
            json!({ "anyOf": [games, forms::reference()] })
        }),
    ),
    Key::new(
        "runs",
        "Runs",
        "How often all of it is done, each time with other random numbers.",
        Kind::Own(|| integer_form(1, RUNS_EACH_MAX, 1)),
    ),
    Key::new(
        "population",
        "Population",
        "How many individuals a generation has.",
        Kind::Own(|| integer_form(2, POPULATION_MAX, POPULATION)),
    ),
    Key::new(
        "generations",
        "Generations",
        "How many generations there are, the random one at the beginning among them.",
        Kind::Own(|| integer_form(1, GENERATIONS_MAX, GENERATIONS)),
    ),
    Key::new(
        "elite",
        "Elite",
        "How many of the best are individuals of the next generation as they are.",
        Kind::Own(|| integer_form(0, POPULATION_MAX - 1, ELITE)),
    ),
    Key::new(
        "mutation_rate",
        "Mutation rate",
        "How probable it is that a child is a mutation, and not one of two that come of a crossover.",
        Kind::Own(|| {
            let rate = json!({ "type": "number", "minimum": 0, "maximum": 1 });
            json!({ "anyOf": [rate, forms::reference()], "default": MUTATION_RATE })
        }),
    ),
    Key::new(
        "mutation",
        "Mutation",
        "What a mutation does: \"label\" replaces the label of one node by another of its kind, \"subtree\" a \
         subtree by one that is grown.",
        Kind::Own(|| word(&["label", "subtree"])),
    ),
    Key::new(
        "crossover_points",
        "Crossover points",
        "Which nodes are swapped with all below them: \"uniform\", any, or \"functions\", nine times of ten a \
         function.",
        Kind::Own(|| word(&["uniform", "functions"])),
    ),
    Key::new(
        "selection",
        "Selection",
        "How parents are drawn: \"study\" (one of the best before an end that is drawn), \"proportional\" to \
         fitness, or \"tournament\", the best of some.",
        Kind::Own(|| word(&["study", "proportional", "tournament"])),
    ),
    Key::new(
        "tournament_size",
        "Tournament size",
        "Of how many a tournament takes the best.",
        Kind::Own(|| integer_form(1, POPULATION_MAX, TOURNAMENT_SIZE)),
    ),
    Key::new(
        "duplicates",
        "Duplicates",
        "Whether two individuals of a generation may be the same, simplified. Default: true.",
        Kind::Own(
            || json!({ "anyOf": [{ "type": "boolean" }, forms::reference()], "default": true }),
        ),
    ),
    Key::new(
        "initial",
        "Initial",
        "How the first trees are made: \"grow\", \"full\", or \"ramped\" half-and-half.",
        Kind::Own(|| word(&["ramped", "grow", "full"])),
    ),
    Key::new(
        "initial_depth",
        "Initial depth",
        "How deep the first trees may be. Default: `depth`.",
        Kind::Own(|| depth(None)),
    ),
    Key::new(
        "depth",
        "Depth",
        "How deep trees may be: edges from the root to the farthest leaf.",
        Kind::Own(|| depth(Some(DEPTH))),
    ),
    Key::new(
        "nodes",
        "Nodes",
        "How many nodes trees may have. Default: as many as formulas may have.",
        Kind::Own(|| {
            let nodes = json!({
                "type": "integer",
                "minimum": 1,
                "maximum": spelrum_engine::expression::NODES_MAX,
            });
            json!({ "anyOf": [nodes, forms::reference()] })
        }),
    ),
    Key::new(
        "functions",
        "Functions",
        "What trees are made of: some of +, -, * and /. Default: all four.",
        Kind::Own(|| {
            let function = json!({ "enum": ["+", "-", "*", "/"] });
            let list = json!({ "type": "array", "items": function });
            json!({ "anyOf": [list, forms::reference()] })
        }),
    ),
    Key::new(
        "features",
        "Features",
        "What trees may count: some of the game's features. Default: all of them.",
        Kind::Own(|| list_of("string")),
    ),
    Key::new(
        "constants",
        "Constants",
        "Numbers that trees may have. Default: none.",
        Kind::Own(|| list_of("number")),
    ),
    Key::new(
        "fitness",
        "Fitness",
        "What is fit: \"score\" (points per game), \"study\" (100 for each win, and the sum of the margins), or \
         \"margin\" (the mean margin).",
        Kind::Own(|| word(&["score", "study", "margin"])),
    ),
    Key::new(
        "parsimony",
        "Parsimony",
        "What size costs where individuals are ranked: \"none\"; \"lexicographic\", of equally fit ones the \
         smaller is better; or a number, so much fitness for each node.",
        Kind::Own(|| {
            let words = json!({ "enum": ["none", "lexicographic"] });
            let price = json!({ "type": "number", "minimum": 0 });
            json!({ "anyOf": [words, price, forms::reference()], "default": "none" })
        }),
    ),
    Key::new(
        "meet",
        "Meet",
        "Whom individuals meet: the sweep's \"opponents\"; each other in a \"league\"; or each other in a \
         \"knock-out\", where surviving rounds is fitness.",
        Kind::Own(|| word(&["opponents", "league", "knock-out"])),
    ),
    Key::new(
        "hall_of_fame",
        "Hall of fame",
        "How many of the best of earlier generations everybody meets, too.",
        Kind::Own(|| integer_form(0, 1_000, 0)),
    ),
    Key::new(
        "reevaluate",
        "Re-evaluation",
        "Who is measured: \"children\", so that the elite keep what they have; \"new\", formulas that the run has \
         not measured yet; or \"always\", everybody in every generation. Default: \"children\", and \"always\" \
         where individuals meet each other or a hall of fame.",
        Kind::Own(|| word(&["children", "new", "always"])),
    ),
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
