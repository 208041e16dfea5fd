//! Sweeps with `race`: their runs, and errors.

use spelrum_model::Plan;
use spelrum_model::course::{CourseKind, RaceSettings, RunSettings};
use spelrum_statistics::racing::RaceRule;

use super::{plan_sweep, render};
use crate::SweepText;

const RACE: &str = "name = \"best\"
game = \"connect-four\"
games = 10
openings = { kind = \"random\", plies = 4 }
pairing = { gauntlet = [\"random\", \"minimax\"] }

[axes]
width = [7, 8]

[players.mcts]
algorithm = \"mcts\"
vary = { simulations = [10, 20, 40] }

[players.random]
algorithm = \"random\"

[players.minimax]
algorithm = \"alpha-beta\"
depth = 1

[race]
players = \"mcts\"
rounds = 50
";

fn plan(text: &str) -> Plan {
    plan_sweep(&SweepText::new("test.toml", text))
        .unwrap_or_else(|error| panic!("{}", render(&error)))
}

fn refused(text: &str) -> String {
    let error = plan_sweep(&SweepText::new("test.toml", text)).unwrap_err();
    format!("{}: {}: {}", error.line.unwrap_or(0), error, error.remedy)
}

fn race(settings: &RunSettings) -> &RaceSettings {
    match settings {
        RunSettings::Race(race) => race,
        other @ (RunSettings::Find(_) | RunSettings::Tune(_) | RunSettings::Evolve(_)) => {
            panic!("{other:?}")
        }
    }
}

fn races(plan: &Plan) -> Vec<&RaceSettings> {
    plan.course.as_ref().unwrap().runs.iter().map(|run| race(&run.settings)).collect()
}

/// Each point of the grid has a race of all its players.
#[test]
fn points_become_races() {
    let text = RACE.replace("width = [7, 8]", "rounds = [50, 60]");
    let plan = plan(&text.replace("rounds = 50", "rounds = \"$rounds\"\nwithin = 0.02"));
    let names = ["mcts(simulations=10)", "mcts(simulations=20)", "mcts(simulations=40)"];
    let race = |rounds| RaceSettings {
        players: names.map(str::to_owned).into(),
        rule: RaceRule::new(0.05, 0.02, rounds).unwrap(),
    };
    assert_eq!(races(&plan), [&race(50), &race(60)]);
    let course = plan.course.as_ref().unwrap();
    assert_eq!((plan.cells.len(), course.kind()), (0, CourseKind::Race));
    for run in &course.runs {
        let pairings = run.meetings.iter().map(|meeting| {
            let names = &meeting.cell.player_names;
            (&*names[meeting.subject], &*names[1 - meeting.subject])
        });
        let expected = ["random", "minimax"]
            .into_iter()
            .flat_map(|opponent| names.map(|player| (player, opponent)));
        assert_eq!(pairings.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
    assert_eq!(plan.games(), (50 + 60) * 6 * 10);
    let axes: Vec<_> = plan.axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(axes, ["rounds", "opponent.simulations", "run", "step"]);
    assert_eq!(plan.foreseen().games(), plan.games());
}

/// Without names, all players of a round robin are compared.
#[test]
fn all_that_meet_are_in_the_race() {
    let text = RACE
        .replace("pairing = { gauntlet = [\"random\", \"minimax\"] }", "")
        .replace("[axes]\nwidth = [7, 8]\n", "")
        .replace("players = \"mcts\"\n", "");
    let plan = plan(&text);
    assert_eq!(races(&plan)[0].players.len(), 5);
    assert_eq!(plan.games(), 50 * 10 * 10);
}

#[test]
fn what_is_no_race_is_refused() {
    let text = RACE.replace("[axes]\nwidth = [7, 8]\n", "");
    plan(&text);
    let gauntlet = "pairing = { gauntlet = [\"random\", \"minimax\"] }";
    let mut refusals = Vec::new();
    for (from, to) in [
        ("players = \"mcts\"", "players = [\"mcts(simulations=10)\"]"),
        ("players = \"mcts\"", "players = [\"mcts\", \"mtcs\"]"),
        ("players = \"mcts\"", "players = [\"mcts\", \"mcts(simulations=10)\"]"),
        ("players = \"mcts\"", "players = 3"),
        ("players = \"mcts\"", "player = \"mcts\""),
        ("players = \"mcts\"", "players = [\"mcts\", \"random\"]"),
        ("players = \"mcts\"", "players = [\"mcts(simulations=10)\", \"mcts(simulations=20)\"]"),
        (gauntlet, "pairing = \"self-play\""),
        (
            gauntlet,
            "pairing = { pairs = [[\"mcts(simulations=10)\", \"random\"], [\"mcts(simulations=20)\", \"minimax\"], [\"mcts(simulations=40)\", \"minimax\"]] }",
        ),
        (
            gauntlet,
            "pairing = { pairs = [[\"mcts\", \"random\"], [\"random\", \"mcts\"], [\"mcts\", \"minimax\"]] }",
        ),
        ("rounds = 50", "rounds = 0"),
        ("rounds = 50", "rounds = 20000"),
        ("rounds = 50", "error_rate = 0"),
        ("rounds = 50", "within = 0.6"),
        ("games = 10", "games = 10\nstop = { precision = 0.1 }"),
        ("games = 10", "games = 10\nswap_sides = false"),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        refusals.push(refused(&changed));
    }
    // Without random numbers, and always from the start.
    let repeated = text
        .replace("openings = { kind = \"random\", plies = 4 }\n", "openings = \"start\"\n")
        .replace("games = 10", "games = 2")
        .replace(
            "\"mcts\"\nvary = { simulations = [10, 20, 40] }",
            "\"minimax\"\nshuffle = false\nvary = { depth = [1, 2] }",
        )
        .replace("depth = 1\n", "depth = 1\nshuffle = false\n");
    refusals.push(refused(&repeated));
    // One player under two names.
    let twice = text + "[players.again]\nalgorithm = \"mcts\"\nsimulations = 10\n";
    refusals.push(refused(&twice));
    let twice = twice.replace("players = \"mcts\"", "players = [\"mcts\", \"again\"]");
    refusals.push(refused(&twice));
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    20: a race compares 2 to 500 players, not 1: name the players that may be first, each with the same opponents
    20: there is no player `mtcs`: did you mean `mcts`?
    20: `players` names `mcts(simulations=10)` twice: remove one of them
    20: `players` must be a text, not a whole number: write, for example, race = { players = ["alphabeta", "genetic"] }
    20: unknown key `player` in `race`: did you mean `players`?
    20: `random` meets `mcts(simulations=20)`, and `mcts(simulations=10)` does not: write pairing = "round-robin", or pairing = { gauntlet = [...] } with the players that all of the race meet
    20: `random` and `mcts(simulations=40)` meet, and the race compares neither: write pairing = "round-robin", or pairing = { gauntlet = [...] } with the players that all of the race meet
    20: `mcts(simulations=10)` would meet itself: write pairing = "round-robin", or pairing = { gauntlet = [...] } with the players that all of the race meet
    20: `mcts(simulations=10)` meets `random`, and `mcts(simulations=20)` does not: write pairing = "round-robin", or pairing = { gauntlet = [...] } with the players that all of the race meet
    20: `random` and `mcts(simulations=10)` meet twice: write pairing = "round-robin", or pairing = { gauntlet = [...] } with the players that all of the race meet
    21: `rounds` cannot be 0: choose 1 to 20000
    19: the 1 runs of `race` would have 120000 cells: choose fewer rounds with more games, or fewer players: at most 100000 in all
    21: `error_rate` cannot be 0: choose a number above 0 up to 0.5
    21: `within` cannot be 0.6: choose a number from 0 up to 0.5
    4: a sweep with `race` has no `stop`: remove it: every cell has all its games
    20: `race` needs pairs of games: remove swap_sides = false: who moves first would decide what is found
    21: each round would repeat the last: it begins with the same openings, and neither `minimax` nor `mcts(depth=1)` draws random numbers: take openings = { kind = "random", plies = 4 }, or let a player draw random numbers (shuffle = true)
    20: `random` and `again` meet, and the race compares neither: write pairing = "round-robin", or pairing = { gauntlet = [...] } with the players that all of the race meet
    19: `random` against `again` is the same as `random` against `mcts(simulations=10)`: remove the player that is there twice
    "#);
}
