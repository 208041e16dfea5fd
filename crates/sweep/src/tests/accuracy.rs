//! Sweeps of kind `accuracy`: their players and positions. Refused ones are in `errors`.

use spelrum_model::{OpeningsRule, Task};

use super::planned;

const SWEEP: &str = "name = \"a\"
kind = \"accuracy\"
game = \"tic-tac-toe\"
seed = 3
positions = { kind = \"random\", plies = [2, 4] }
choices = 6

[reference]
algorithm = \"exact\"

[axes]
depth = [1, 2]

[players.model]
algorithm = \"alpha-beta\"
depth = \"$depth\"

[players.minimax]
like = \"model\"
algorithm = \"minimax\"

[players.random]
algorithm = \"random\"
";

/// Every player chooses alone, against the reference; a player independent of the axis does so once.
#[test]
fn every_player_meets_the_reference_alone() {
    let plan = planned(SWEEP);
    assert_eq!(plan.plan.task(), Task::Choice);
    let cells: Vec<_> =
        plan.cells.iter().map(|cell| cell.player_names.each_ref().map(String::as_str)).collect();
    let alone = |player| [player, "reference"];
    let (model, minimax) = (alone("model"), alone("minimax"));
    assert_eq!(cells, [model, minimax, alone("random"), model, minimax]);
    for cell in &plan.cells {
        let definition = &cell.definition;
        assert_eq!((definition.max_plies, definition.swap_sides), (Some(1), false));
        assert_eq!(definition.task, Task::Choice);
        assert_eq!(definition.openings, OpeningsRule::Strata { plies: [2, 4].into() });
        assert_eq!(cell.games, 6);
        assert_eq!(definition.openings.plies_of(4), Some(2));
        assert_eq!(definition.openings.plies_of(5), Some(4));
    }
}

/// A default bound for positions that cannot be solved.
#[test]
fn the_exact_reference_has_a_bound() {
    let nodes = |sweep: &str| {
        let plan = planned(sweep);
        let [_, reference] = &plan.cells[0].definition.players;
        reference.get("nodes").cloned()
    };
    assert_eq!(nodes(SWEEP), Some(spelrum_engine::Value::Integer(10_000_000_000)));
    let with_nodes = SWEEP.replace("\"exact\"", "\"exact\"\nnodes = 5000");
    assert_eq!(nodes(&with_nodes), Some(spelrum_engine::Value::Integer(5_000)));
}

/// More choices continue the same cells; positions, seed and reference make others.
#[test]
fn what_makes_another_cell() {
    let hash =
        |from: &str, to: &str| planned(&SWEEP.replace(from, to)).plan.cells[0].definition_hash;
    let same = hash("", "");
    assert_eq!(hash("choices = 6", "choices = 8"), same);
    for (from, to) in [
        ("[2, 4]", "[4, 2]"),
        ("[2, 4]", "4"),
        ("seed = 3", "seed = 4"),
        ("\"exact\"", "\"minimax\"\ndepth = 9"),
        ("algorithm = \"alpha-beta\"", "algorithm = \"minimax\""),
    ] {
        assert_ne!(hash(from, to), same, "{from} to {to}");
    }
}

/// A single number of plies keeps its meaning in either notation.
#[test]
fn one_number_of_plies_is_no_list() {
    let openings =
        |plies: &str| planned(&SWEEP.replace("[2, 4]", plies)).cells[0].definition.openings.clone();
    assert_eq!(openings("[2]"), OpeningsRule::Random { plies: 2 });
    assert_eq!(openings("2"), openings("[2]"));
}
