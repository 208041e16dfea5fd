//! Sweeps with `tune`: their plans, and errors.

use spelrum_model::Plan;
use spelrum_model::course::{CourseKind, RunSettings, TuneMethod, TuneSettings};

use super::{plan_sweep, render};
use crate::SweepText;

const TUNE: &str = "name = \"tuning\"
game = \"pentago\"
seed = 3
games = 20
openings = { kind = \"random\", plies = 4 }
pairing = { gauntlet = \"genetic\" }

[players.ab]
algorithm = \"alpha-beta\"
depth = 2

[players.random]
algorithm = \"random\"

[players.genetic]
algorithm = \"genetic-minimax\"
preset = \"simple\"
selection = \"tournament\"
depth = 4
nodes = 500

[tune]
player = \"genetic\"
steps = 150
confirm = 200

[tune.parameters]
crossover_rate = { from = 0.0, to = 1.0, start = 0.9 }
population = { from = 10, to = 200, scale = \"log\" }
weight_run3 = { from = 0, to = 8 }
selection = { choices = [\"roulette\", \"tournament\"] }
";

fn plan(text: &str) -> Plan {
    plan_sweep(&SweepText::new("test.toml", text))
        .unwrap_or_else(|error| panic!("{}", render(&error)))
}

fn settings(plan: &Plan) -> Vec<TuneSettings> {
    let course = plan.course.as_ref().unwrap();
    let tune = |settings: &RunSettings| match settings {
        RunSettings::Tune(tune) => (**tune).clone(),
        RunSettings::Find(_) | RunSettings::Evolve(_) | RunSettings::Race(_) => {
            panic!("{settings:?}")
        }
    };
    course.runs.iter().map(|run| tune(&run.settings)).collect()
}

/// The same against itself, by another method.
fn against_itself(method: &str) -> String {
    let (before, rest) = TUNE.split_once("pairing").unwrap();
    let (_, rest) = rest.split_once("[players.genetic]").unwrap();
    format!("{before}pairing = \"self-play\"\n[players.genetic]{rest}")
        .replace("steps = 150", &format!("method = \"{method}\"\nsteps = 150"))
}

#[test]
fn a_run_meets_all_opponents() {
    let plan = plan(TUNE);
    assert_eq!(plan.cells, []);
    let course = plan.course.as_ref().unwrap();
    assert_eq!(course.kind(), CourseKind::Tune);
    assert_eq!(course.runs.len(), 1);
    assert_eq!(course.runs[0].meetings.len(), 2);
    // Two sides, two opponents.
    assert_eq!(plan.games(), 150 * 4 * 20 + 4 * 200);
    assert_eq!(plan.foreseen().games(), plan.games());
    assert!(plan.memory_bytes() > 0);
    let names: Vec<_> = plan.axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["run", "step", "trial"]);
    let start: Vec<_> =
        settings(&plan)[0].start().into_iter().map(|setting| setting.value.text).collect();
    assert_eq!(start, ["0.9", "100", "3", "tournament"]);
}

#[test]
fn axes_give_runs_of_their_own() {
    let text = TUNE.replace("[players.ab]", "[axes]\nsteps = [10, 20]\n\n[players.ab]");
    let steps: Vec<_> = settings(&plan(&text.replace("steps = 150", "steps = \"$steps\"")))
        .iter()
        .map(|settings| settings.steps)
        .collect();
    assert_eq!(steps, [10, 20]);
    let itself = settings(&plan(&against_itself("cma-es"))).remove(0);
    assert!(itself.against_itself);
    // Two numbers, one whole number, two for the choice.
    assert_eq!(itself.method, TuneMethod::CmaEs { population: 4 + 4 });
}

#[test]
fn what_cannot_be_tuned_is_refused() {
    let mut refusals = Vec::new();
    for (from, to) in [
        ("player = \"genetic\"", "player = \"ab\""),
        ("to = 8", "to = 8, choices = [1, 2]"),
        ("{ from = 0, to = 8 }", "{ from = 4, to = 8 }"),
        ("{ from = 0, to = 8 }", "{ from = 0 }"),
        ("{ from = 0, to = 8 }", "{ from = 0, to = 8, step = 1 }"),
        ("weight_run3 =", "weight_run9 ="),
        ("\"roulette\", \"tournament\"", "\"roulette\", \"rank\""),
        ("\"roulette\", \"tournament\"", "\"roulette\", \"roulette\""),
        ("\"roulette\", \"tournament\"", "\"tournament\", \"lottery\""),
        ("{ from = 10, to", "{ from = 0, to"),
        ("from = 0.0, to = 1.0, start = 0.9", "from = 0.0, to = 1.0, start = 1.5"),
        ("confirm = 200", "confirm = 201"),
        ("confirm = 200", "confirm = 200\npopulation = 8"),
        ("confirm = 200", "confirm = 200\nmethod = \"hill\""),
        ("confirm = 200", "confirm = 200\nperturbation = 0.0"),
        ("steps = 150", "steps = 15000"),
        ("seed = 3", "seed = 3\nstop = { precision = 0.1 }"),
    ] {
        let text = TUNE.replace(from, to);
        assert_ne!(text, TUNE, "{from}");
        let error =
            plan_sweep(&SweepText::new("test.toml", &text)).map(|_| (from, to)).unwrap_err();
        refusals.push(format!("{}: {}: {}", error.line.unwrap_or(0), error, error.remedy));
    }
    insta::assert_snapshot!(refusals.join("\n"));
}
