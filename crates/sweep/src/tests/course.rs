//! Sweeps with `find`: their grid, and errors.

use spelrum_model::Plan;
use spelrum_model::course::{CourseKind, FindSettings, LedParameter, RunSettings, Unit};

use super::{PENTAGO_DEPTH, plan_sweep, render};
use crate::SweepText;

const FIND: &str = "name = \"handicap\"
game = \"pentago\"
seed = 3
games = 20
openings = { kind = \"random\", plies = 2 }

[axes]
depth = [1, 2]

[players.ab]
algorithm = \"alpha-beta\"
depth = \"$depth\"

[players.genetic]
algorithm = \"genetic-minimax\"
preset = \"study\"
depth = \"$depth\"

[find]
player = \"genetic\"
parameter = \"move_time\"
from = \"1ms\"
to = \"1s\"
";

fn plan(text: &str) -> Plan {
    plan_sweep(&SweepText::new("test.toml", text))
        .unwrap_or_else(|error| panic!("{}", render(&error)))
}

fn refused(text: &str) -> String {
    let error = plan_sweep(&SweepText::new("test.toml", text)).unwrap_err();
    format!("{}:{}: {}: {}", error.line.unwrap_or(0), text.lines().count(), error, error.remedy)
}

fn settings(plan: &Plan) -> Vec<FindSettings> {
    let course = plan.course.as_ref().unwrap();
    let find = |settings: &RunSettings| match settings {
        RunSettings::Find(find) => find.clone(),
        other @ (RunSettings::Tune(_) | RunSettings::Evolve(_) | RunSettings::Race(_)) => {
            panic!("{other:?}")
        }
    };
    course.runs.iter().map(|run| find(&run.settings)).collect()
}

/// Each point of the grid, and each opponent, has its own run; nothing else is played.
#[test]
fn points_become_runs() {
    let plan = plan(FIND);
    assert_eq!(plan.cells, []);
    let parameter = LedParameter {
        name: "move_time".to_owned(),
        key: "move_time_us".to_owned(),
        unit: Unit::Microseconds,
        low: 1_000.0,
        high: 1_000_000.0,
        log: true,
    };
    let find = FindSettings { parameter, steps: 50, at_once: 2 };
    assert_eq!(settings(&plan), [find.clone(), find]);
    let course = plan.course.as_ref().unwrap();
    assert_eq!(course.kind(), CourseKind::Find);
    assert_eq!(plan.games(), 2 * 50 * 20);
    let names: Vec<_> = plan.axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["depth", "run", "step"]);
    for run in &course.runs {
        // In the order of the pairing: the run decides about the second player.
        assert_eq!(run.meetings.len(), 1);
        assert_eq!(run.meetings[0].subject, 1);
        assert!(run.meetings[0].cell.timed);
    }
    assert!(plan.has_timed() && !plan.cells.iter().any(|cell| cell.timed));
    // Estimates use the runs' template cells at their most expensive.
    let foreseen = plan.foreseen();
    for cell in &foreseen.cells {
        let genetic = foreseen.definition(cell).players[1].clone();
        assert_eq!(genetic.get("move_time_us"), Some(&spelrum_engine::Value::Integer(1_000_000)));
    }
    assert_eq!(foreseen.cells.iter().map(|cell| cell.games).collect::<Vec<_>>(), [1_000, 1_000]);
    assert_eq!(foreseen.games(), plan.games());
    assert!(super::planned(PENTAGO_DEPTH).plan.course.is_none());
}

/// A course's settings may be an axis, even if nothing else differs.
#[test]
fn steps_can_be_an_axis() {
    let text = FIND.replace("depth = [1, 2]", "steps = [10, 20]").replace("\"$depth\"", "1")
        + "steps = \"$steps\"\nscale = \"linear\"\nat_once = 5\n";
    let swept: Vec<_> = settings(&plan(&text))
        .iter()
        .map(|settings| (settings.steps, settings.at_once, settings.parameter.log))
        .collect();
    assert_eq!(swept, [(10, 5, false), (20, 5, false)]);
    // Every opponent has its own run.
    let text = text.replace("[find]", "[players.random]\nalgorithm = \"random\"\n[find]")
        + "\n[players.c]\nlike = \"random\"\n";
    assert!(refused(&text).contains("pairing = { gauntlet = \"genetic\" }"), "{}", refused(&text));
    let text = format!("pairing = {{ gauntlet = \"genetic\" }}\n{text}");
    assert_eq!(settings(&plan(&text)).len(), 6);
}

#[test]
fn what_cannot_be_found_is_refused() {
    let with = |from: &str, to: &str| {
        let text = FIND.replace(from, to);
        assert_ne!(text, FIND, "{from}");
        refused(&text)
    };
    let mut refusals = Vec::new();
    for (from, to) in [
        ("parameter = \"move_time\"", "parameter = \"evaluation\""),
        ("parameter = \"move_time\"", "parameter = \"patience\""),
        ("player = \"genetic\"", "player = \"generic\""),
        ("player = \"genetic\"\n", ""),
        ("to = \"1s\"", "to = \"1ms\""),
        ("to = \"1s\"", "to = 7"),
        ("to = \"1s\"", "to = \"1s\"\nsteps = 0"),
        ("to = \"1s\"", "to = \"1s\"\nscale = \"square\""),
        ("to = \"1s\"", "to = \"1s\"\nstep = 3"),
        ("preset = \"study\"", "preset = \"study\"\nmove_time = \"1s\""),
        ("depth = [1, 2]", "depth = [1, 2]\nstep = [1]"),
        ("games = 20", "games = 20\nswap_sides = false"),
        ("games = 20", "games = 20\nstop = { precision = 0.1 }"),
        ("games = 20", "games = 20\nclaims = []"),
        (
            "seed = 3\ngames = 20\nopenings = { kind = \"random\", plies = 2 }\n\n[axes]\n",
            "seed = \"$seeds\"\ngames = 20\n[axes]\nseeds = { from = 1, to = 501, step = 1 }\n",
        ),
        ("to = \"1s\"", "to = \"1s\"\nsteps = 10001"),
        (
            "parameter = \"move_time\"\nfrom = \"1ms\"\nto = \"1s\"",
            "parameter = \"nodes\"\nfrom = 0\nto = 9",
        ),
    ] {
        refusals.push(with(from, to));
    }
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    22:23: player `genetic`: pentago has no evaluation "1ms": write "runs", "lines", "expression" or "none"
    21:23: player `genetic`: `genetic-minimax` has no parameter `patience`: its parameters are `evaluation`, `depth`, `generations`, `nodes`, `evaluations`, `move_time`, `clock`, `margin`, `population`, `selection`, `tournament_size`, `tournament_chance`, `elites`, `crossover_rate`, `mutation_rate`, `refute`, `seed_root`, `min_visits`, `reject_duplicates`, `max_tree_nodes`, `encoding`, `crossover`, `crossover_points`, `mutation`, `line_plies`, `deepen`, `in_turn`, `order`, `killers`, `weight_run3`, `weight_run4`, `weight_centre`, `preset`
    20:23: there is no player `generic`: did you mean `genetic`?
    19:22: `find` has no `player`: write, for example, find = { player = "genetic", parameter = "move_time", from = "1ms", to = "1s" }
    23:23: there is nothing between 1ms and 1ms: choose a greater end
    23:23: an end of `move_time` must be a duration, not a whole number: write, for example, from = "1ms", to = "1s"
    24:24: `steps` cannot be 0: choose 1 to 20000
    24:24: `scale` cannot be "square": the choices are `log`, `linear`
    24:24: unknown key `step` in `find`: did you mean `steps`?
    17:24: `move_time` of `genetic` is what `find` decides: remove it from the player
    9:24: an axis of a sweep with `find` cannot be named `step`: rename it: results have an axis of this name
    20:24: `find` needs pairs of games: remove swap_sides = false: who moves first would decide what is found
    5:24: a sweep with `find` has no `stop`: remove it: every cell has all its games
    5:24: there is no claim in `claims`: state one: [[claims]] and below it text = "ab beats gm", player = "ab", opponent = "gm" and score_above = 0.5; or remove `claims`
    18:22: `find` would have 1002 runs: sweep fewer values, or pair fewer players: at most 1000
    19:24: the 2 runs of `find` would have 20002 steps: choose fewer: at most 20000 in all
    22:23: player `genetic`: `nodes` cannot be 0: write an integer from 1 to 9007199254740991, or "unlimited"
    "#);
}

/// Slots are offered by the largest game of a run.
#[test]
fn memory_is_that_of_the_largest_value() {
    let bytes = |to: &str| {
        let text = FIND
            .replace("player = \"genetic\"", "player = \"ab\"")
            .replace("parameter = \"move_time\"", "parameter = \"table_mib\"")
            .replace(
                "depth = \"$depth\"\n\n[players.g",
                "depth = \"$depth\"\ntable = true\n\n[players.g",
            )
            .replace("from = \"1ms\"", "from = 1")
            .replace("to = \"1s\"", to);
        plan(&text).memory_bytes()
    };
    let [large, small] = [bytes("to = 1024"), bytes("to = 2")];
    assert!(large > small + (1000 << 20), "{large} {small}");
}
