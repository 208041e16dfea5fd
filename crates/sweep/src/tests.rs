//! Plans of sweeps, and the errors of sweeps that cannot be planned.

use spelrum_engine::games::{Nim, Pentago};
use std::collections::BTreeSet;

use miette::{GraphicalReportHandler, GraphicalTheme};
use proptest::prelude::*;
use spelrum_engine::Value;
use spelrum_model::{AxisValue, CellDefinition, Openings, OpeningsRule, PlannedCell, Record};

use super::*;

mod accuracy;
mod adjudication;
mod claimed_figures;
mod claims;
mod clocks;
mod course;
mod ending;
mod errors;
mod evolve;
mod files;
mod forfeits;
mod game_timeout;
mod keys;
mod merge;
mod options;
mod overrides;
mod page;
mod pairing;
mod placement;
mod race;
mod ranges;
mod sample;
mod seeds;
mod stop;
mod timing;
mod tune;
mod vary;

/// The design's own example.
const PENTAGO_DEPTH: &str = r#"
name = "pentago-depth"
description = "Alpha-beta against genetic minimax as the search deepens"
game = "pentago"
seed = 2014
games = 100
openings = { kind = "random", plies = 2 }
measure = "time"

[axes]
depth = [1, 2, 3, 4]

[players.alphabeta]
algorithm = "alpha-beta"
evaluation = "runs"
depth = "$depth"

[players.genetic]
algorithm = "genetic-minimax"
preset = "study"
evaluation = "runs"
depth = "$depth"
"#;

/// A plan with every cell spelt out.
struct Spelt {
    plan: Plan,
    axes: Vec<String>,
    cells: Vec<SpeltCell>,
}

#[derive(Debug)]
struct SpeltCell {
    definition: CellDefinition,
    player_names: [String; 2],
    axes: Vec<(String, AxisValue)>,
    games: u64,
    timed: bool,
}

impl std::ops::Deref for Spelt {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.plan
    }
}

impl Spelt {
    /// Also checks that a plan's data about a cell agree with its definition.
    fn new(plan: Plan) -> Self {
        let spelt = |cell: &PlannedCell| {
            let definition = plan.definition(cell);
            assert_eq!(cell.definition_hash, definition.hash());
            assert_eq!(cell.seed, definition.cell_seed());
            SpeltCell {
                definition,
                player_names: cell.player_names.clone().map(|name| name.to_string()),
                axes: plan.place(cell).map(|(name, value)| (name.into(), value.clone())).collect(),
                games: cell.games,
                timed: cell.timed,
            }
        };
        let axes = plan.axes.iter().map(|axis| axis.name.clone()).collect();
        let cells = plan.cells.iter().map(spelt).collect();
        Self { plan, axes, cells }
    }
}

fn planned(text: &str) -> Spelt {
    match plan_sweep(&SweepText::new("test.toml", text)) {
        Ok(plan) => Spelt::new(plan),
        Err(error) => panic!("{}", render(&error)),
    }
}

fn render(error: &SweepError) -> String {
    let mut text = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(100)
        .render_report(&mut text, error)
        .unwrap();
    text
}

/// A sweep of random tic-tac-toe with these lines at its head and these tables.
fn tic_tac_toe(head: &str, tables: &str) -> String {
    format!("name = \"t\"\ngame = \"tic-tac-toe\"\ngames = 2\n{head}\n{tables}")
}

const RANDOM_PLAYERS: &str = "
[players.a]
algorithm = \"random\"
[players.b]
algorithm = \"random\"
";

fn parameter<'a>(cell: &'a SpeltCell, player: usize, key: &str) -> Option<&'a Value> {
    cell.definition.players[player].get(key)
}

fn axes(cell: &SpeltCell) -> Vec<(&str, &str)> {
    cell.axes.iter().map(|(name, value)| (name.as_str(), value.text.as_str())).collect()
}

#[test]
fn the_designs_example_is_planned() {
    let plan = planned(PENTAGO_DEPTH);
    assert_eq!((plan.name.as_str(), plan.game.as_str()), ("pentago-depth", "pentago"));
    assert_eq!(
        (plan.seed, plan.settings.scheduling.priority, plan.settings.record),
        (2014, 0, Record::Moves)
    );
    assert_eq!(plan.axes, ["depth"]);
    assert_eq!(plan.cells.len(), 4);
    for (depth, cell) in (1..).zip(&plan.cells) {
        assert_eq!(cell.player_names, ["alphabeta", "genetic"]);
        assert_eq!((cell.games, cell.timed), (100, true));
        let value = AxisValue { number: Some(f64::from(depth)), text: depth.to_string() };
        assert_eq!(cell.axes, [("depth".to_owned(), value)]);
        let definition = &cell.definition;
        assert_eq!(definition.rules, Pentago::rules(true));
        assert_eq!(definition.openings, OpeningsRule::Random { plies: 2 });
        assert_eq!((definition.seed, definition.max_plies), (2014, None));
        for player in [0, 1] {
            assert_eq!(parameter(cell, player, "depth"), Some(&Value::Integer(depth.into())));
            assert_eq!(parameter(cell, player, "evaluation"), Some(&Value::Text("runs".into())));
        }
        // Every parameter is spelt out: a preset is not part of a definition.
        assert_eq!(parameter(cell, 1, "preset"), None);
        assert!(parameter(cell, 1, "population").is_some());
    }
}

#[test]
fn defaults_are_as_documented() {
    let plan = planned(&tic_tac_toe("", RANDOM_PLAYERS));
    assert_eq!(
        (plan.seed, plan.settings.scheduling.priority, plan.settings.record),
        (1, 0, Record::Moves)
    );
    assert!(plan.axes.is_empty() && plan.settings.description.is_empty());
    let [cell] = plan.cells.as_slice() else { panic!("{:?}", plan.cells) };
    assert_eq!(cell.definition.openings, OpeningsRule::Start {});
    assert_eq!((cell.definition.max_plies, cell.timed, cell.games), (None, false, 2));
}

#[test]
fn every_key_is_taken() {
    let head = "description = \"d\"\nseed = 9007199254740991\npriority = -3\nrecord = \"games\"\n\
                measure = \"score\"\nmax_plies = 7\nopenings = \"start\"";
    let plan = planned(&tic_tac_toe(head, RANDOM_PLAYERS));
    assert_eq!((plan.settings.description.as_str(), plan.seed), ("d", (1 << 53) - 1));
    assert_eq!((plan.settings.scheduling.priority, plan.settings.record), (-3, Record::Games));
    assert_eq!(plan.cells[0].definition.max_plies, Some(7));
    assert!(!plan.cells[0].timed && !plan.has_timed());
    let plan = planned(&tic_tac_toe("max_plies = \"unlimited\"", RANDOM_PLAYERS));
    assert_eq!(plan.cells[0].definition.max_plies, None);
}

#[test]
fn a_time_limit_makes_a_cell_timed() {
    let tables = r#"
        [axes]
        time = ["10ms", "0.5s", "unlimited"]
        [players.a]
        algorithm = "alpha-beta"
        depth = 2
        move_time = "$time"
        [players.b]
        algorithm = "random"
    "#;
    let plan = planned(&tic_tac_toe("", tables));
    let facts: Vec<_> = plan
        .cells
        .iter()
        .map(|cell| {
            (cell.timed, cell.axes[0].1.number, parameter(cell, 0, "move_time_us").cloned())
        })
        .collect();
    assert_eq!(
        facts,
        [
            (true, Some(10.0), Some(Value::Integer(10_000))),
            (true, Some(500.0), Some(Value::Integer(500_000))),
            (false, None, None),
        ]
    );
}

#[test]
fn points_come_in_the_files_order_the_last_axis_fastest() {
    let tables = r#"
        [axes]
        zeta = [2, 1]
        alpha = [true, false]
        [players.a]
        algorithm = "alpha-beta"
        depth = "$zeta"
        iterative = "$alpha"
        [players.b]
        algorithm = "random"
    "#;
    let plan = planned(&tic_tac_toe("", tables));
    assert_eq!(plan.axes, ["zeta", "alpha"]);
    let places: Vec<_> = plan.cells.iter().map(axes).collect();
    let point = |zeta, alpha| vec![("zeta", zeta), ("alpha", alpha)];
    assert_eq!(
        places,
        [point("2", "true"), point("2", "false"), point("1", "true"), point("1", "false")]
    );
}

#[test]
fn table_valued_axes_are_columns() {
    let tables = r#"
        [axes]
        budget = [{ ab = 1, gm = "10ms" }, { ab = 2, gm = "unlimited" }]
        [players.a]
        algorithm = "alpha-beta"
        depth = "$budget.ab"
        [players.b]
        algorithm = "alpha-beta"
        depth = 2
        move_time = "$budget.gm"
    "#;
    let plan = planned(&tic_tac_toe("", tables));
    assert_eq!(plan.axes, ["budget.ab", "budget.gm"]);
    let places: Vec<_> = plan.cells.iter().map(axes).collect();
    assert_eq!(
        places,
        [
            [("budget.ab", "1"), ("budget.gm", "10ms")],
            [("budget.ab", "2"), ("budget.gm", "unlimited")],
        ]
    );
    assert_eq!(parameter(&plan.cells[1], 0, "depth"), Some(&Value::Integer(2)));
}

/// A cell shared by several points appears once, without the axes that do not affect it.
#[test]
fn equal_cells_are_merged() {
    let tables = r#"
        [axes]
        depth = [1, 2, 3]
        order = [false, true]
        [players.deep]
        algorithm = "alpha-beta"
        depth = "$depth"
        [players.ordered]
        algorithm = "alpha-beta"
        depth = 4
        order = "$order"
        [players.random]
        algorithm = "random"
    "#;
    let plan = planned(&tic_tac_toe("", tables));
    let count = |names: [&str; 2]| {
        let cells = plan.cells.iter().filter(|cell| cell.player_names == names);
        (cells.clone().count(), cells.map(|cell| cell.axes.len()).collect::<BTreeSet<_>>())
    };
    assert_eq!(count(["deep", "ordered"]), (6, BTreeSet::from([2])));
    assert_eq!(count(["deep", "random"]), (3, BTreeSet::from([1])));
    assert_eq!(count(["ordered", "random"]), (2, BTreeSet::from([1])));
    let hashes: BTreeSet<_> = plan.cells.iter().map(|cell| cell.definition.hash()).collect();
    assert_eq!(hashes.len(), plan.cells.len());
    let last = plan.cells.iter().rfind(|cell| cell.player_names[0] == "ordered").unwrap();
    assert_eq!(axes(last), [("order", "true")]);
    assert_eq!(last.axes[0].1.number, Some(1.0), "switches are numbers, as a player's are");

    // At depth 2 `deep` is `ordered` without its order: one cell against `random`, not two. It
    // keeps the name of its first occurrence, and its place on the axis that affects it there.
    let plan = planned(&tic_tac_toe("", &tables.replace("depth = 4", "depth = 2")));
    let same: Vec<_> = plan
        .cells
        .iter()
        .filter(|cell| cell.player_names[1] == "random")
        .map(|cell| (cell.player_names[0].as_str(), axes(cell)))
        .collect();
    assert_eq!(
        same,
        [
            ("deep", vec![("depth", "1")]),
            ("ordered", vec![("order", "false")]),
            ("ordered", vec![("order", "true")]),
            ("deep", vec![("depth", "3")]),
        ]
    );
}

/// Invariant 1: a cell's games do not depend on its place in the grid or on its neighbours.
#[test]
fn definitions_do_not_depend_on_the_grid() {
    let more = PENTAGO_DEPTH.replace("[1, 2, 3, 4]", "[5, 3]").replace("games = 100", "games = 2");
    let (plan, other) = (planned(PENTAGO_DEPTH), planned(&more));
    assert_eq!(plan.cells[2].definition, other.cells[1].definition);
    assert_eq!(plan.cells[2].definition.cell_seed(), other.cells[1].definition.cell_seed());
    assert_ne!(plan.cells[2].definition.hash(), plan.cells[1].definition.hash());
}

#[test]
fn rules_and_openings_may_be_swept() {
    let text = r#"
        name = "nim"
        game = { name = "nim", heaps = "$heaps", misere = "$misere" }
        games = 2
        openings = { kind = "random", plies = "$plies" }
        [axes]
        heaps = [[3, 4, 5], [2, 2]]
        misere = [false, true]
        plies = [0, 1]
        [players.a]
        algorithm = "random"
        [players.b]
        algorithm = "random"
    "#;
    let plan = planned(text);
    assert_eq!(plan.cells.len(), 8);
    let last = plan.cells.last().unwrap();
    assert_eq!(last.definition.rules, Nim::rules(&[2, 2], true).unwrap());
    assert_eq!(last.definition.openings, OpeningsRule::Random { plies: 1 });
    assert_eq!(axes(last), [("heaps", "[2, 2]"), ("misere", "true"), ("plies", "1")]);
}

#[test]
fn players_take_over_from_the_one_they_are_like() {
    let tables = r#"
        [axes]
        depth = [1, 2]
        [players.iterative]
        like = "ordered"
        iterative = true
        [players.ordered]
        like = "fixed"
        order = true
        [players.fixed]
        algorithm = "alpha-beta"
        depth = "$depth"
    "#;
    let plan = planned(&tic_tac_toe("", tables));
    assert_eq!(plan.cells.len(), 6);
    let cell = &plan.cells[3];
    assert_eq!(cell.player_names, ["iterative", "ordered"]);
    for (key, first, second) in [("iterative", true, false), ("order", true, true)] {
        assert_eq!(parameter(cell, 0, key), Some(&Value::Bool(first)));
        assert_eq!(parameter(cell, 1, key), Some(&Value::Bool(second)));
    }
    assert_eq!(parameter(cell, 0, "depth"), Some(&Value::Integer(2)));
}

#[test]
fn listed_openings_are_normalized() {
    let pentago = |list: &str| {
        let text = tic_tac_toe("", RANDOM_PLAYERS)
            .replace("\"tic-tac-toe\"", "\"pentago\"")
            .replace("games = 2", &format!("games = 2\nopenings = {list}"));
        planned(&text).cells[0].definition.openings.clone()
    };
    let plain = format!("[\"{}\"]", ".".repeat(36));
    let normalized = pentago(&plain);
    assert_eq!(pentago(&format!("{{ kind = \"listed\", positions = {plain} }}")), normalized);
    let OpeningsRule::Listed { positions } = &normalized else { panic!("{normalized:?}") };
    assert_eq!(pentago(&format!("[\"{}\"]", positions[0])), normalized);
}

/// Deterministic players may play each opening only once.
#[test]
fn deterministic_players_need_an_opening_for_each_pair() {
    let sweep = |games: u64, shuffle: bool| {
        format!(
            "name = \"t\"\ngame = \"tic-tac-toe\"\ngames = {games}\n\
             openings = {{ kind = \"random\", plies = 2 }}\n\
             [players.a]\nalgorithm = \"minimax\"\ndepth = 2\nshuffle = {shuffle}\n\
             [players.b]\nalgorithm = \"alpha-beta\"\ndepth = 1\nshuffle = false"
        )
    };
    // There are 12 openings of two plies.
    assert_eq!(planned(&sweep(24, false)).cells[0].games, 24);
    assert!(plan_sweep(&SweepText::new("t", sweep(26, false))).is_err());
    assert_eq!(planned(&sweep(1_000_000, true)).cells[0].games, 1_000_000);
}

/// Without pairs each game has its own opening, and the number of games may be odd.
#[test]
fn fixed_sides_take_an_opening_for_each_game() {
    let sweep = |games: u64, swap_sides: &str| {
        format!(
            "name = \"t\"\ngame = \"tic-tac-toe\"\ngames = {games}\n{swap_sides}\n\
             openings = {{ kind = \"random\", plies = 2 }}\n\
             [players.a]\nalgorithm = \"minimax\"\ndepth = 2\nshuffle = false\n\
             [players.b]\nalgorithm = \"alpha-beta\"\ndepth = 1\nshuffle = false"
        )
    };
    let plan = planned(&sweep(11, "swap_sides = false"));
    assert_eq!(plan.cells[0].games, 11);
    assert!(!plan.cells[0].definition.swap_sides);
    // There are 12 openings of two plies.
    assert!(plan_sweep(&SweepText::new("t", sweep(13, "swap_sides = false"))).is_err());
    // A different cell than with swapped sides, which is the same whether stated or not.
    let hash = |text: &str| planned(text).cells[0].definition.hash();
    let swapped = hash(&sweep(12, ""));
    assert_eq!(swapped, hash(&sweep(12, "swap_sides = true")));
    assert_ne!(swapped, hash(&sweep(12, "swap_sides = false")));
}

/// In a round-robin the player named first moves first in even games.
#[test]
fn the_order_of_players_is_part_of_a_cell() {
    let players = [
        "[players.a]\nalgorithm = \"random\"\n",
        "[players.b]\nalgorithm = \"minimax\"\ndepth = 1\n",
    ];
    let hash = |players: [&str; 2]| {
        let sweep = format!("name = \"t\"\ngame = \"nim\"\ngames = 2\n{}", players.concat());
        planned(&sweep).cells[0].definition.hash()
    };
    assert_ne!(hash(players), hash([players[1], players[0]]));
}

/// The sweeps that come with the program.
#[test]
fn the_example_sweeps_are_planned() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sweeps");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut names = Vec::new();
    let mut summary = String::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let plan = planned(&text);
        assert_eq!(plan.name, stem);
        assert!(!plan.settings.description.is_empty(), "{stem}");
        let (cells, players) = (plan.cells.len(), plan.plan.players.len());
        summary += &format!("{stem}: {cells} cells, {players} players, {} games\n", plan.games());
        names.push(stem);
    }
    insta::assert_snapshot!(summary);
    for needed in ["nim", "pentago-depth", "pentago-effort", "pentago-time", "tic-tac-toe"] {
        assert!(names.iter().any(|name| name == needed), "{needed}");
    }
}

/// At most 100,000 cells; their games stay below 2^53.
#[test]
fn the_largest_grid_is_planned() {
    let sweep = |values: usize, games: u64| {
        format!(
            "name = \"t\"\ngame = \"tic-tac-toe\"\ngames = {games}\n\
             [axes]\nx = {{ from = 1, to = {values}, step = 1 }}\n\
             y = {{ from = 1, to = 100, step = 1 }}\n\
             [players.a]\nalgorithm = \"alpha-beta\"\ndepth = 1\nnodes = \"$x\"\n\
             [players.b]\nalgorithm = \"alpha-beta\"\ndepth = 1\nnodes = \"$y\""
        )
    };
    assert_eq!(planned(&sweep(1000, 1_000)).cells.len(), 100_000);
    assert!(plan_sweep(&SweepText::new("t", sweep(1001, 1_000))).is_err());
    assert!(plan_sweep(&SweepText::new("t", sweep(1000, 90_071_992_548))).is_err());
}

/// Finding the openings of any number of settings has one bound (invariant 9).
#[test]
fn finding_openings_is_bounded_over_the_whole_sweep() {
    let sweep = |plies: &str, games: u64, shuffle: bool| {
        let text = format!(
            "name = \"t\"\ngame = {{ name = \"pentago\", win_before_rotation = \"$rule\" }}\n\
             games = {games}\nopenings = {{ kind = \"random\", plies = \"$plies\" }}\n\
             [axes]\nplies = {plies}\nrule = [true, false]\n\
             [players.a]\nalgorithm = \"alpha-beta\"\ndepth = 1\nshuffle = {shuffle}\n\
             [players.b]\nalgorithm = \"alpha-beta\"\ndepth = 2\nshuffle = false"
        );
        let files = Files::new(&SweepText::default()).unwrap();
        file::read(&parse(&text).unwrap(), Arc::new(files)).unwrap()
    };
    let cost = |plies: u32| -> u64 {
        let cost = |win_before_rotation| {
            let rules = Pentago::rules(win_before_rotation);
            Openings::new(1, &rules, &OpeningsRule::Random { plies }).unwrap().cost()
        };
        cost(true) + cost(false)
    };
    let file = sweep("[1, 2]", 4, true);
    assert!(grid::plan(&file, cost(1) + cost(2)).is_ok());
    let fault = grid::plan(&file, cost(1) + cost(2) - 1).unwrap_err();
    assert_eq!(fault.problem, "finding the openings of this sweep takes too long");
    assert_eq!(fault.place, file.openings.as_ref().map(|node| node.place.clone()));
    insta::assert_snapshot!(fault.remedy);
    // Drawn openings cost as many as are drawn: more for more games that must not repeat.
    let drawn = cost(5);
    assert!(grid::plan(&sweep("[5]", 4_000, true), drawn).is_ok());
    assert!(grid::plan(&sweep("[5]", 4_000, false), drawn).is_err());
    assert!(grid::plan(&sweep("[5]", 4_000, false), drawn + 1_000_000).is_ok());
}

#[test]
fn errors_know_their_line() {
    let error =
        plan_sweep(&SweepText::new("x.toml", PENTAGO_DEPTH.replace("runs", "runz"))).unwrap_err();
    assert_eq!(error.line, Some(15));
    let missing = plan_sweep(&SweepText::new("x.toml", "")).unwrap_err();
    assert_eq!((missing.line, missing.place), (None, None));
}

/// Bounded, and never a panic: mutations of a sweep that uses the whole language.
const WHOLE_LANGUAGE: &str = r#"
name = "everything"
game = { name = "nim", heaps = "$heaps", misere = false }
seed = 3
games = 4
openings = { kind = "random", plies = 1 }
measure = "time"
record = "games"
max_plies = "unlimited"
adjudication = { resign = { score = 600, both = false }, draw = { score = 10, after = 3 } }
priority = 2
pairing = { pairs = [["a", "b"], ["b", "c"], ["c", "c"]], self_play = true }
anchors = ["d"]
sample = { method = "latin-hypercube", points = 20, axes = ["heaps", "time", "depth"] }

[axes]
heaps = [[3, 4, 5], [1, 2]]
time = { from = "1ms", to = "8ms", factor = 2 }
budget = [{ ab = 1, gm = 2.5 }, { ab = 2, gm = 1e-3 }]
depth = { from = 1, to = 3, step = 1 }
tables = [{ population = 10 }, { population = 12, elites = 2 }]

[players.a]
algorithm = "alpha-beta"
depth = "$depth"
move_time = "$time"
[players.b]
like = "a"
nodes = "$budget.ab"
[players.c]
algorithm = "genetic-minimax"
depth = "$depth"
crossover_rate = "$budget.gm"
use = "$tables"
[players.d]
algorithm = "alpha-beta"
vary = { depth = [1, 2], order = [true, false] }

[[override]]
where = { depth = [1, 2], player = "d", opponent = "a" }
games = 6
[[override]]
where = { budget = { ab = 1 }, player = "d(depth=1,order=true)" }
skip = true
"#;

#[test]
fn the_mutated_sweep_is_read_to_its_last_line() {
    // Its one mistake, a rate above 1, is found at the very end of planning.
    let error = plan_sweep(&SweepText::new("x.toml", WHOLE_LANGUAGE)).unwrap_err();
    assert!(error.problem.contains("crossover_rate"), "{}", render(&error));
    assert!(planned(&WHOLE_LANGUAGE.replace("2.5", "0.5")).cells.len() > 10);
}

/// Nesting is bounded in any notation: nothing overflows the stack.
#[test]
fn deep_nesting_is_refused() {
    for text in [
        "[".repeat(200_000),
        format!("x = {}", "[".repeat(200_000)),
        format!("x = {}", "{a=".repeat(200_000)),
        format!("x = {}1{}", "[".repeat(60), "]".repeat(60)),
        format!("[{}a]", "a.".repeat(200_000)),
        format!("{}a = 1", "a.".repeat(200_000)),
        format!("axes = {{ {}a = 1 }}", "a.".repeat(200_000)),
    ] {
        check_no_panic(&text);
    }
}

/// The texts that mutations insert.
const SPLICES: [&str; 30] = [
    "0",
    "-1",
    "2",
    "9223372036854775807",
    "99999999999999999999",
    "1e308",
    "0.1",
    "nan",
    "true",
    "\"\"",
    "\"$\"",
    "\"$depth\"",
    "\"$budget.\"",
    "\"unlimited\"",
    "\"10ms\"",
    "\"é\"",
    "[]",
    "{}",
    "[[]]",
    "{ from = 1, to = 1e9, step = 1 }",
    "{ from = 1, to = 2, factor = 1.0000000001 }",
    "\n",
    "=",
    "[",
    "}",
    "#",
    "\0",
    "like = \"b\"\n",
    "kind = \"all\"",
    "plies = 200",
];

fn check_no_panic(text: &str) {
    if let Err(error) = plan_sweep(&SweepText::new("x.toml", text)) {
        assert!(!error.problem.is_empty() && !error.remedy.is_empty());
        render(&error);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn mutated_sweeps_never_panic(
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..12_usize, 0..SPLICES.len()), 1..4),
    ) {
        let mut text: Vec<char> = WHOLE_LANGUAGE.replace("2.5", "0.5").chars().collect();
        for (place, length, splice) in cuts {
            let start = place.index(text.len());
            let end = (start + length).min(text.len());
            text.splice(start..end, SPLICES[splice].chars());
        }
        check_no_panic(&text.into_iter().collect::<String>());
    }

    /// Replaces whole values, so that the text stays TOML and gets further.
    #[test]
    fn replaced_values_never_panic(
        line in any::<prop::sample::Index>(),
        splice in 0..SPLICES.len(),
        at_first_equals in any::<bool>(),
    ) {
        let text = WHOLE_LANGUAGE.replace("2.5", "0.5");
        let lines: Vec<&str> = text.lines().filter(|line| line.contains('=')).collect();
        let line = lines[line.index(lines.len())];
        let start = if at_first_equals { line.find('=') } else { line.rfind('=') }.unwrap();
        check_no_panic(&text.replace(line, &format!("{}= {}", &line[..start], SPLICES[splice])));
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,60}") {
        check_no_panic(&text);
    }
}
