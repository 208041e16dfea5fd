//! Options of external engines that are axes, or that `find` and `tune` decide.

use spelrum_engine::{Parameters, Value};
use spelrum_model::Plan;
use spelrum_model::course::{LedParameter, RunSettings, Tunable, Unit, parameter};

use super::{plan_sweep, render};
use crate::SweepText;

const FIND: &str = "name = \"handicap\"
game = \"chess\"
games = 4
openings = { kind = \"random\", plies = 4 }

[players.ab]
algorithm = \"alpha-beta\"
depth = 3

[players.fish]
algorithm = \"uci\"
engine = \"fish\"
nodes = 500
options = { Hash = 16 }

[find]
player = \"fish\"
parameter = \"options.Skill Level\"
from = 0
to = 20
scale = \"linear\"
";

const TUNE: &str = "name = \"tuning\"
game = \"chess\"
games = 4
openings = { kind = \"random\", plies = 4 }
pairing = \"self-play\"

[players.fish]
algorithm = \"uci\"
engine = \"fish\"
nodes = 500
options = { \"Skill Level\" = 5, Ponder = false, Style = \"Solid\" }

[tune]
player = \"fish\"
steps = 10

[tune.parameters]
nodes = { from = 100, to = 1000 }
options.\"Skill Level\" = { from = 0, to = 20 }
options.Ponder = {}
options.Style = { choices = [\"Solid\", \"Risky\"] }
options.Contempt = { from = -100, to = 100, start = 0 }
";

fn plan(text: &str) -> Plan {
    plan_sweep(&SweepText::new("test.toml", text))
        .unwrap_or_else(|error| panic!("{}", render(&error)))
}

fn settings(plan: &Plan) -> &RunSettings {
    &plan.course.as_ref().unwrap().runs[0].settings
}

fn option(player: &Parameters, name: &str) -> String {
    parameter(player, &format!("options.{name}")).map_or("none".to_owned(), Value::to_string)
}

#[test]
fn an_axis_gives_an_option_its_values() {
    let axis = FIND
        .split("[find]")
        .next()
        .unwrap()
        .replace("[players.ab]", "[axes]\nskill = { from = 0, to = 20, step = 10 }\n[players.ab]")
        .replace("Hash = 16", "Hash = 16, \"Skill Level\" = \"$skill\"");
    let plan = plan(&axis);
    let values = plan.players.iter().filter(|player| player.is_external());
    let values: Vec<_> = values.map(|player| option(&player.parameters(), "Skill Level")).collect();
    assert_eq!(values, ["0", "10", "20"]);
}

#[test]
fn an_option_is_found_between_its_ends_beside_the_others() {
    for written in ["options.Skill Level", "options.\\\"Skill Level\\\"", "options.'Skill Level'"] {
        let plan = plan(&FIND.replace("options.Skill Level", written));
        let RunSettings::Find(find) = settings(&plan) else { panic!("{plan:?}") };
        let parameter = LedParameter {
            name: "options.Skill Level".to_owned(),
            key: "options.Skill Level".to_owned(),
            unit: Unit::Whole,
            low: 0.0,
            high: 20.0,
            log: false,
        };
        assert_eq!(find.parameter, parameter);
        let tried: Vec<_> = plan
            .externals_tried()
            .into_iter()
            .map(|(name, player, _)| {
                (name, option(&player, "Skill Level"), option(&player, "Hash"))
            })
            .collect();
        let end = |skill: &str| ("fish", skill.to_owned(), "16".to_owned());
        assert_eq!(tried, [end("0"), end("20")]);
    }
}

#[test]
fn options_are_tuned_with_other_parameters() {
    let plan = plan(TUNE);
    let RunSettings::Tune(tune) = settings(&plan) else { panic!("{plan:?}") };
    let starts: Vec<String> = tune
        .start()
        .iter()
        .map(|setting| format!("{} = {}", setting.parameter, setting.value.text))
        .collect();
    let expected = [
        "nodes = 500",
        "options.Contempt = 0",
        "options.Ponder = false",
        "options.Skill Level = 5",
        "options.Style = Solid",
    ];
    let mut sorted = starts;
    sorted.sort_unstable();
    assert_eq!(sorted, expected);
    let whole = |name: &str| {
        let tuned = tune.parameters.iter().find(|tuned| tuned.name == name).unwrap();
        let Tunable::Numbers(led) = &tuned.values else { panic!("{tuned:?}") };
        led.unit
    };
    assert_eq!(whole("options.Contempt"), Unit::Whole);
    // Every end of each, with all others at their start.
    let seen: Vec<String> = plan
        .externals_tried()
        .into_iter()
        .map(|(_, player, _)| {
            let options = ["Skill Level", "Ponder", "Style", "Contempt"];
            options.map(|name| option(&player, name)).join(" ")
        })
        .collect();
    for end in [
        "0 false \"Solid\" 0",
        "20 false \"Solid\" 0",
        "5 true \"Solid\" 0",
        "5 false \"Risky\" 0",
        "5 false \"Solid\" -100",
        "5 false \"Solid\" 100",
    ] {
        assert!(seen.iter().any(|seen| seen == end), "{end}: {seen:?}");
    }
    // Memory is of the dearest player.
    let hash = TUNE.replace("options.Contempt = { from = -100, to = 100, start = 0 }", "")
        + "options.Hash = { from = 1, to = 64, start = 16 }\n";
    assert!((128..136).contains(&(self::plan(&hash).memory_bytes() >> 20)));
}

#[test]
fn what_cannot_be_decided_is_refused_with_a_remedy() {
    let find = |from: &str, to: &str| FIND.replace(from, to);
    let tune = |from: &str, to: &str| TUNE.replace(from, to);
    let all = [
        find("Hash = 16", "\"skill level\" = 3"),
        find("from = 0\n", "from = 0.5\n"),
        find("from = 0\n", "from = \"low\"\n"),
        find("scale = \"linear\"", ""),
        find("to = 20", "to = 0"),
        find("options.Skill Level", "Skill Level"),
        find("options.Skill Level", "options"),
        find("player = \"fish\"", "player = \"ab\"").replace("options = { Hash = 16 }\n", ""),
        tune(", start = 0", ""),
        tune("options.Ponder = {}", "Ponder = {}"),
        tune("options.Ponder = {}", "clock = { from = 0, to = 1 }"),
        tune("options.Ponder = {}", "options.Ponder = { from = 0, to = 1 }"),
        tune("options.Ponder = {}", "options.Ponder = 3"),
        tune("options.Ponder = {}", "options.\"skill level\" = { from = 0, to = 10 }"),
        tune("to = 20", "to = 4"),
        tune("choices = [\"Solid\", \"Risky\"]", "choices = [\"Risky\", \"Wild\"]"),
        tune("choices = [\"Solid\", \"Risky\"]", ""),
        tune("\"Skill Level\" = 5", "Hash = 5"),
    ];
    let errors: Vec<String> = all
        .iter()
        .map(|text| render(&plan_sweep(&SweepText::new("test.toml", text)).unwrap_err()))
        .collect();
    insta::assert_snapshot!(errors.join("\n"));
}
