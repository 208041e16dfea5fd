//! `spelrum stats`: the figures of match runners for counts given by hand, and those of reports.

use serde_json::Value as Json;

use crate::sandbox::Sandbox;

fn json(sandbox: &Sandbox, arguments: &[&str]) -> Json {
    let mut all = vec!["stats", "--json"];
    all.extend(arguments);
    let ran = sandbox.run(&all);
    serde_json::from_str(ran.expect_exit(0).stdout()).unwrap()
}

#[test]
fn figures_are_those_of_the_reference() {
    let sandbox = Sandbox::new();
    let text = include_str!("../../../crates/statistics/tests/vectors/statistics/match.json");
    let references: Vec<Json> = serde_json::from_str(text).unwrap();
    for reference in references {
        let counts = reference["counts"].as_array().unwrap();
        let counts = counts.iter().map(Json::to_string).collect::<Vec<_>>().join(",");
        let form = if reference["kind"] == "trinomial" { "--wdl" } else { "--pentanomial" };
        let [elo0, elo1] = ["elo0", "elo1"].map(|key| reference[key].to_string());
        let model = reference["model"].as_str().unwrap();
        let arguments = [form, &counts, "--elo0", &elo0, "--elo1", &elo1, "--model", model];
        let figures = json(&sandbox, &arguments);
        for key in ["kind", "model"] {
            assert_eq!(figures[key], reference[key], "{counts}");
        }
        for key in
            ["score", "elo", "elo_error", "nelo", "nelo_error", "los", "llr", "lower", "upper"]
        {
            let [ours, theirs] = [&figures, &reference].map(|from| from[key].as_f64().unwrap());
            assert!((ours / theirs - 1.0).abs() < 1e-5, "{key} of {counts}: {ours} for {theirs}");
        }
    }
}

#[test]
fn every_edge_has_its_figures() {
    let sandbox = Sandbox::new();
    let mut all = Vec::new();
    for arguments in [
        &["--wdl", "250,500,200"][..],
        &["--pentanomial", "12,7,48,4,29", "--elo0", "0", "--elo1", "10"],
        &["--pentanomial", "0,0,100,0,0", "--elo0", "0", "--elo1", "10"],
        &[
            "--pentanomial",
            "10,30,60,45,1500",
            "--elo0",
            "-5",
            "--elo1",
            "5",
            "--model",
            "logistic",
        ],
        &["--wdl", "0,0,0", "--elo0", "0", "--elo1", "5"],
        &["--wdl", "1,0,0"],
        &["--wdl", "9,0,0"],
        &["--pentanomial", "0,0,0,9,0"],
        &["--pentanomial", "0,2,0,0,0"],
    ] {
        let mut command = vec!["stats"];
        command.extend(arguments);
        let ran = sandbox.run(&command);
        all.push(format!("$ spelrum {}\n{}", command.join(" "), ran.expect_exit(0).stdout()));
    }
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn what_is_not_a_match_is_refused() {
    let sandbox = Sandbox::new();
    let mut all = Vec::new();
    for arguments in [
        &["--wdl", "1,2"][..],
        &["--wdl", "1,2,3,4"],
        &["--wdl", "1,2,-3"],
        &["--wdl", "1,2,many"],
        &["--wdl", "1,2,3", "--pentanomial", "1,2,3,4,5"],
        &["--wdl", "1,2,3", "--elo0", "0"],
        &["--wdl", "1,2,3", "--elo0", "5", "--elo1", "0"],
        &["--wdl", "1,2,3", "--elo0", "0", "--elo1", "5", "--alpha", "0.7"],
        &[],
    ] {
        let mut command = vec!["stats"];
        command.extend(arguments);
        all.push(format!("$ spelrum {}\n{}", command.join(" "), sandbox.run(&command).failure()));
    }
    insta::assert_snapshot!(all.join("\n"));
}
