//! The JSON API by its own description: a program that knows nothing else of it makes calls, right and wrong ones, and
//! holds every answer against it.

use std::process::Stdio;

use spelrum_test_support::{Tools, skip};

use crate::sandbox::{Sandbox, tic_tac_toe};

const TOKEN: &str = "s3cret-s3cret";

/// Calls of each operation that are thrown, beside those that its parameters' bounds give.
const THROWN: &str = "20";

/// What is held against the description. Not that what fits it is accepted: only a coordinator knows whether a
/// sweep is one, or a query.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
                      response_schema_conformance,negative_data_rejection,missing_required_header,unsupported_method,\
                      allow_header_conformance,ignored_auth";

#[test]
fn the_api_is_as_described_whatever_it_is_asked() {
    let Some(tools) = Tools::find(&["python3"]) else { return };
    let version = "from importlib.metadata import version; print(version('schemathesis'))";
    let version = tools.command("python3").args(["-c", version]).stdin(Stdio::null()).output();
    if !String::from_utf8_lossy(&version.unwrap().stdout).starts_with("4.") {
        return skip("it needs a python3 with the package schemathesis 4");
    }
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("tic-tac-toe", 40));
    sandbox.run(&["run", "sweep.toml", "--db", "c.db"]).expect_exit(0);
    let start = ["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"];
    let coordinator = sandbox
        .coordinator_as(sandbox.spelrum(&start).env("SPELRUM_TOKEN", TOKEN).stderr(Stdio::null()));
    let description = format!("{}/api/v1/openapi.json", coordinator.url);
    // The events of an experiment end with it, until a change has it go on.
    for calls in ["--include-method", "--exclude-method"] {
        let ran = tools
            .command("python3")
            .args(["-m", "schemathesis.cli", "run", &description, "--no-color", calls, "GET"])
            .args(["--header", &format!("Authorization: Bearer {TOKEN}")])
            .args(["--phases", "examples,coverage,fuzzing", "--max-examples", THROWN])
            .args(["--generation-deterministic", "--request-timeout", "30", "--checks", CHECKS])
            .current_dir(sandbox.path(""))
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.success(), "{printed}{}", String::from_utf8_lossy(&ran.stderr));
    }
    // And what still answers is the same coordinator.
    let listed = sandbox
        .spelrum(&["list", "--coordinator", &coordinator.url])
        .env("SPELRUM_TOKEN", TOKEN)
        .stdout(Stdio::null())
        .status();
    assert!(listed.unwrap().success());
}
