//! `network`: what is said of a sweep's networks, the same on any number of threads, and what goes wrong.

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox};

/// Two kinds of two networks each, trained for a moment.
const SWEEP: &str = "name = \"small\"
game = \"chess\"
games = 2
swap_sides = false
pairing = { pairs = [[\"network\", \"table\"]] }
openings = { kind = \"ending\", ending = \"KRK\" }

[axes]
networks = [\"one\", \"each\"]
seed = [1, 2]

[players.network]
algorithm = \"alpha-beta\"
vary = { depth = [1, 2] }
evaluation = \"network\"

[players.network.network]
ending = \"KRK\"
inputs = \"one-hot\"
hidden = [8]
networks = \"$networks\"
examples = 2000
validation = 400
epochs = 12
patience = 3
seed = \"$seed\"

[players.table]
algorithm = \"table\"
";

fn run(sandbox: &Sandbox, more: &[&str]) -> Ran {
    sandbox.write("sweep.toml", SWEEP);
    sandbox.run(&[&["network", "sweep.toml"], more].concat())
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(ran.stdout()).unwrap()
}

#[test]
fn what_a_person_reads() {
    let sandbox = Sandbox::new();
    let shown = ["epoch", "distance", "square"].map(|by| {
        let ran = run(&sandbox, &["--by", by]);
        ran.expect_exit(0);
        assert_eq!(ran.stderr(), "");
        ran.stdout().to_owned()
    });
    assert!(shown.iter().flat_map(|text| text.lines()).all(|line| line.chars().count() <= 100));
    let summary = run(&sandbox, &[]);
    assert!(shown.iter().all(|text| text.starts_with(summary.stdout())));
    insta::assert_snapshot!(shown.join("\n"));
}

/// Learning curves and errors by distance, each with a line for each kind.
#[test]
fn curves_are_drawn() {
    let sandbox = Sandbox::new();
    let ran = run(&sandbox, &["--figures", "drawn"]);
    ran.expect_exit(0);
    let drawn = [
        "drawn/learning-curves.svg",
        "drawn/error-by-distance.svg",
        "drawn/error-by-square-networks-one.svg",
        "drawn/error-by-square-networks-each.svg",
    ];
    let names = drawn.join("\n");
    assert!(ran.stdout().ends_with(&format!("\n\n{names}\n")), "{}", ran.stdout());
    for name in &drawn[2..] {
        // A number on each square that black's king stands on, and the names of files and ranks.
        let svg = std::fs::read_to_string(sandbox.path(name)).unwrap();
        let squares = svg.matches("class=\"heat h").count();
        assert!((10..=64).contains(&squares), "{name}: {squares}");
        assert_eq!(svg.matches("<text x=").count(), squares + 16, "{name}");
        assert!(svg.contains("class=\"heat h0\"") && svg.contains("class=\"heat h7\""));
    }
    for name in &drawn[..2] {
        let svg = std::fs::read_to_string(sandbox.path(name)).unwrap();
        let lines = svg.matches("<path class=\"line s").count();
        // Two in the plot and two in its legend.
        assert_eq!((lines, svg.matches("networks=each").count()), (4, 1), "{name}");
    }
    sandbox.write("taken", "");
    let ran = run(&sandbox, &["--figures", "taken"]);
    ran.expect_exit(3);
    assert!(ran.stderr().contains("write figures into taken"), "{}", ran.stderr());
}

/// Every figure of the JSON follows from those beside it, and threads change none.
#[test]
fn its_json_is_whole_and_the_same_on_any_number_of_threads() {
    let sandbox = Sandbox::new();
    let ran = run(&sandbox, &["--json", "--slots", "1"]);
    ran.expect_exit(0);
    assert_eq!(run(&sandbox, &["--json", "--slots", "7"]).stdout(), ran.stdout());
    let json = json(&ran);
    assert_eq!(json["name"], "small");
    let networks = json["networks"].as_array().unwrap();
    assert_eq!(networks.len(), 4);
    for network in networks {
        assert_eq!(
            (&network["failure"], &network["recipe"]["ending"]),
            (&Value::Null, &"KRK".into())
        );
        assert_eq!(network["sha256"].as_str().map(str::len), Some(64));
        for run in network["runs"].as_array().unwrap() {
            let of_run = |list: &str| {
                let list = network[list].as_array().unwrap().iter();
                list.filter(|row| row["network"] == run["network"]).cloned().collect::<Vec<_>>()
            };
            let error = run["validation_error"].as_f64().unwrap();
            let best = run["best_epoch"].as_u64().unwrap() as usize;
            assert_eq!(of_run("epochs")[best - 1]["validation_error"], run["validation_error"]);
            for list in ["sides", "distances", "squares"] {
                let (mut positions, mut squares) = (0.0, 0.0);
                for row in of_run(list) {
                    let count = row["positions"].as_f64().unwrap();
                    positions += count;
                    squares += count * row["error"].as_f64().unwrap().powi(2);
                }
                assert_eq!(positions, 400.0, "{list}");
                assert!(((squares / positions).sqrt() - error).abs() < 1e-9, "{list}");
            }
        }
    }
}

#[test]
fn a_network_that_diverges_is_told_of_beside_the_others() {
    let sandbox = Sandbox::new();
    let wild = "hidden = [64, 64, 64]\nrate = 1000\nschedule = \"constant\"";
    let text = SWEEP.replace("hidden = [8]", wild).replace("patience = 3", "");
    sandbox.write("wild.toml", &text);
    let ran = sandbox.run(&["network", "wild.toml"]);
    ran.expect_exit(7);
    assert!(ran.stdout().contains("could not be trained: network 0 diverged"), "{}", ran.stdout());
    let ran = sandbox.run(&["network", "wild.toml", "--json"]);
    ran.expect_exit(7);
    let failed = json(&ran);
    let failure = failed["networks"][0]["failure"].as_str().unwrap();
    assert!(failure.contains("choose a smaller `rate`"), "{failure}");
    assert_eq!(failed["networks"][0]["sha256"], Value::Null);
}

#[test]
fn a_sweep_without_networks_says_so() {
    let sandbox = Sandbox::new();
    sandbox.write("plain.toml", &crate::sandbox::tic_tac_toe("plain", 2));
    let ran = sandbox.run(&["network", "plain.toml"]);
    ran.expect_exit(3);
    insta::assert_snapshot!(ran.stderr());
    run(&sandbox, &["--slots", "0"]).expect_exit(2);
    run(&sandbox, &["--json", "--by", "epoch"]).expect_exit(2);
    sandbox.run(&["network", "missing.toml"]).expect_exit(3);
}
