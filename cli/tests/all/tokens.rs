//! Tokens with roles, as an operator makes them and as workers and clients bring them.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, Service, tic_tac_toe, wait_until};

/// A token as it is printed, this once.
fn create(sandbox: &Sandbox, name: &str, roles: &[&str]) -> String {
    let roles = roles.iter().flat_map(|role| ["--role", role]);
    let arguments = ["token", "create", name, "--tokens", "tokens.toml"];
    let arguments: Vec<&str> = arguments.into_iter().chain(roles).collect();
    let ran = sandbox.run(&arguments);
    ran.expect_exit(0);
    ran.stdout().trim_end().to_owned()
}

fn coordinator(sandbox: &Sandbox) -> Service {
    let start =
        ["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0", "--tokens", "tokens.toml"];
    let log = std::fs::File::create(sandbox.path("coordinator.log")).unwrap();
    sandbox.coordinator_as(sandbox.spelrum(&start).env("RUST_LOG", "trace").stderr(log))
}

/// What comes of a command that brings this token.
fn with(sandbox: &Sandbox, token: &str, arguments: &[&str]) -> Ran {
    Ran(sandbox.spelrum(arguments).env("SPELRUM_TOKEN", token).output().unwrap())
}

/// A sweep is submitted, played and read, each with a token that may do that and nothing else.
#[test]
fn each_token_does_its_part_and_no_other() {
    let sandbox = Sandbox::new();
    let work = create(&sandbox, "lab-workers", &["work"]);
    let submit = create(&sandbox, "ada", &["submit"]);
    let read = create(&sandbox, "guest", &["read"]);
    let coordinator = coordinator(&sandbox);
    let url = coordinator.url.as_str();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 20));
    let submitting = ["submit", "sweep.toml", "--coordinator", url];
    let working = ["worker", "--coordinator", url, "--slots", "1", "--exit-when-done"];
    let reading = ["report", "--coordinator", url];
    let asking = ["sql", "--coordinator", url, "--csv", "SELECT count(*) AS n FROM games"];
    let ending = ["cancel", "sweep", "--coordinator", url];
    let mut refusals = Vec::new();
    for (token, arguments) in [
        (&work, &submitting[..]),
        (&read, &submitting),
        (&read, &ending),
        (&work, &asking),
        (&work, &reading),
        (&read, &working),
        (&submit, &working),
        (&"spelrum_00".to_owned(), &reading),
    ] {
        let ran = with(&sandbox, token, arguments);
        ran.expect_exit(5);
        refusals.push(format!("{}: {}", arguments[0], ran.error().replace(url, "[URL]")));
    }
    let ran = sandbox.run(&reading);
    ran.expect_exit(5);
    refusals.push(format!("without a token: {}", ran.stderr().replace(url, "[URL]")));
    insta::assert_snapshot!(refusals.join("\n"));

    with(&sandbox, &submit, &submitting).expect_exit(0);
    with(&sandbox, &work, &working).expect_exit(0);
    for token in [&read, &submit] {
        with(&sandbox, token, &reading).expect_exit(0);
        let ran = with(&sandbox, token, &asking);
        ran.expect_exit(0);
        assert_eq!(ran.stdout().lines().nth(1), Some("40"));
    }
    drop(coordinator);

    // The tokens are nowhere but where they were printed.
    let log = std::fs::read_to_string(sandbox.path("coordinator.log")).unwrap();
    assert!(log.contains("TRACE"));
    let mut files = Vec::new();
    for entry in std::fs::read_dir(sandbox.path(".")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            files.push((path.display().to_string(), std::fs::read(path).unwrap()));
        }
    }
    for token in [&work, &submit, &read] {
        let secret = token.strip_prefix("spelrum_").unwrap().as_bytes();
        assert_eq!(secret.len(), 64);
        for (name, bytes) in &files {
            assert!(
                !bytes.windows(secret.len()).any(|window| window == secret),
                "{name} has a token"
            );
        }
    }
}

#[test]
fn a_revoked_token_ends_its_worker() {
    let sandbox = Sandbox::new();
    let token = create(&sandbox, "w", &["work"]);
    let coordinator = coordinator(&sandbox);
    let worker = ["worker", "--coordinator", &coordinator.url, "--slots", "1"];
    let mut command = sandbox.spelrum(&worker);
    command.env("SPELRUM_TOKEN", &token);
    let mut worker = crate::sandbox::Process(command.spawn().unwrap());
    let workers = "SELECT count(*) AS n FROM workers";
    wait_until("the worker has come", || sandbox.sql("c.db", workers) == "1");
    sandbox.run(&["token", "revoke", "w", "--tokens", "tokens.toml"]).expect_exit(0);
    assert_eq!(worker.wait().code(), Some(5));
}

#[test]
fn tokens_are_listed_without_themselves() {
    let sandbox = Sandbox::new();
    let both = create(&sandbox, "both", &["work", "read"]);
    create(&sandbox, "ada", &["submit"]);
    let mode = sandbox.path("tokens.toml").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let list = sandbox.run(&["token", "list", "--tokens", "tokens.toml"]);
    list.expect_exit(0);
    let rows: Vec<Vec<&str>> =
        list.stdout().lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0][..2], ["ada", "submit"]);
    assert_eq!(rows[1][..3], ["both", "read,", "work"]);
    assert!(rows[0][2].starts_with("20") && rows[0][2].ends_with('Z'), "{rows:?}");
    assert!(!list.stdout().contains(&both[8..]));
    let json = sandbox.run(&["token", "list", "--tokens", "tokens.toml", "--json"]);
    let json: Value = serde_json::from_str(json.expect_exit(0).stdout()).unwrap();
    assert_eq!(json[1]["name"], "both");
    assert_eq!(json[1]["roles"], serde_json::json!(["read", "work"]));
}

#[test]
fn what_cannot_be_done_with_tokens_says_why() {
    let sandbox = Sandbox::new();
    create(&sandbox, "ada", &["submit"]);
    let before = std::fs::read_to_string(sandbox.path("tokens.toml")).unwrap();
    sandbox.write("damaged.toml", "[ada]\nroles = [\"admin\"]\nsha256 = \"\"\ncreated = \"\"\n");
    let said = |arguments: &[&str], code: i32| {
        let ran = sandbox.run(arguments);
        ran.expect_exit(code);
        ran.stderr().to_owned()
    };
    let tokens = ["--tokens", "tokens.toml"];
    let all = [
        said(&[&["token", "create", "ada", "--role", "work"], &tokens[..]].concat(), 3),
        said(&[&["token", "create", "a b", "--role", "work"], &tokens[..]].concat(), 3),
        said(&[&["token", "create", "eve", "--role", "admin"], &tokens[..]].concat(), 2),
        said(&[&["token", "revoke", "eve"], &tokens[..]].concat(), 3),
        said(&["token", "revoke", "eve", "--tokens", "none.toml"], 3),
        said(&["token", "list", "--tokens", "none.toml"], 3),
        said(&["token", "list", "--tokens", "damaged.toml"], 3),
        said(&["coordinator", "--db", "c.db", "--tokens", "damaged.toml"], 2),
        said(&["coordinator", "--db", "c.db", "--tokens", "none.toml"], 2),
    ];
    insta::assert_snapshot!(all.join("\n"));
    assert_eq!(std::fs::read_to_string(sandbox.path("tokens.toml")).unwrap(), before);
    assert!(!sandbox.path("none.toml").exists() && !sandbox.path("c.db").exists());
}

/// Made at the same moment, none is lost.
#[test]
fn tokens_that_are_made_at_once_are_all_there() {
    let sandbox = Sandbox::new();
    let made: Vec<_> = (0..8)
        .map(|number| {
            let name = format!("t{number}");
            let create = ["token", "create", &name, "--role", "work", "--tokens", "tokens.toml"];
            sandbox.start(&create)
        })
        .collect();
    for mut process in made {
        assert_eq!(process.wait().code(), Some(0));
    }
    let list = sandbox.run(&["token", "list", "--tokens", "tokens.toml"]);
    assert_eq!(list.expect_exit(0).stdout().lines().count(), 2 + 8);
}
