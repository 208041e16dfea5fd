//! Programs that are pushed to a coordinator, and that workers fetch.

use std::os::unix::fs::PermissionsExt as _;

use spelrum_test_support::Tools;

use crate::sandbox::{Sandbox, wait_until};

const SPELRUM: &str = env!("CARGO_BIN_EXE_spelrum");

/// Writes a script as a program.
fn program(sandbox: &Sandbox, name: &str, text: &str) {
    let path = sandbox.write(name, &format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn player(sandbox: &Sandbox, name: &str, player: &str) {
    let text = format!("exec {SPELRUM} engine ugi --game connect-four --player {player}");
    program(sandbox, name, &text);
}

/// Pushes a program. Returns the line for the sweep.
fn push(sandbox: &Sandbox, url: &str, path: &str, name: &str) -> String {
    let pushed = sandbox.run(&["engine", "push", path, "--name", name, "--coordinator", url]);
    let lines: Vec<&str> = pushed.expect_exit(0).stdout().lines().collect();
    let [first, line] = lines[..] else { panic!("{lines:?}") };
    assert!(
        first.starts_with(&format!("{path}: ")) && first.contains(" bytes, SHA-256 "),
        "{first}"
    );
    line.to_owned()
}

fn sweep(name: &str, players: [&str; 2]) -> String {
    let [dev, base] = players
        .map(|line| format!("{{ algorithm = \"ugi\", {line}, depth = 2, margin = \"60s\" }}"));
    format!(
        "name = \"{name}\"\ngame = \"connect-four\"\nseed = 5\ngames = 400\n\
         openings = {{ kind = \"random\", plies = 4 }}\nstop = {{ sprt = {{ elo0 = 0, elo1 = 100 }} }}\n\
         players.dev = {dev}\nplayers.base = {base}\n"
    )
}

#[test]
fn pushed_programs_play_on_the_workers_that_accept_them() {
    let Some(_tools) = Tools::find(&["sh"]) else { return };
    let sandbox = Sandbox::new();
    player(&sandbox, "dev", "alpha-beta --depth 2");
    player(&sandbox, "base", "random");
    program(&sandbox, "broken", "echo no licence >&2; exit 3");
    sandbox.write("refusing.toml", "builds = \"refused\"\n");
    let accepting =
        "builds = \"builds\"\n[accept_programs]\nprotocol = \"ugi\"\nnames = [\"dev\", \"base\"]\n";
    sandbox.write("accepting.toml", accepting);
    let coordinator = sandbox.coordinator_with("c.db", "127.0.0.1:0", "500ms");
    let url = &coordinator.url;
    let [dev, base] = ["dev", "base"].map(|name| push(&sandbox, url, name, name));
    assert_eq!(push(&sandbox, url, "dev", "dev"), dev, "it is there already");
    sandbox.write("sweep.toml", &sweep("match", [&dev, &base]));
    let here =
        sandbox.run(&["run", "sweep.toml", "--db", "here.db", "--engines", "accepting.toml"]);
    assert!(
        here.failure().contains("a program that is pushed to a coordinator"),
        "{}",
        here.stderr()
    );
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let _refusing = sandbox.worker(url, "1", &["--name", "refusing", "--engines", "refusing.toml"]);
    let status = || sandbox.run(&["status", "--coordinator", url]).stdout().to_owned();
    wait_until("the refusing worker is there", || {
        let said = status();
        said.contains("which no connected worker accepts") && said.contains("[accept_programs]")
    });
    let accepts =
        || sandbox.worker(url, "2", &["--name", "accepting", "--engines", "accepting.toml"]);
    let mut worker = accepts();
    sandbox.wait_until_finished(&coordinator);
    let players = "SELECT group_concat(DISTINCT w.name) || '/' || count(failure) FROM games AS g \
                   JOIN workers AS w USING (worker_id)";
    assert_eq!(sandbox.sql("c.db", players), "accepting/0");
    let report = sandbox.run(&["report", "match", "--db", "c.db"]);
    assert!(report.expect_exit(0).stdout().contains(": +100 Elo"), "{}", report.stdout());
    let kept = |folder: &str| {
        let entries = std::fs::read_dir(sandbox.path(folder)).into_iter().flatten().flatten();
        entries.filter(|entry| entry.metadata().is_ok_and(|file| file.is_file())).count()
    };
    assert_eq!((kept("c.db-programs"), kept("builds/programs"), kept("refused")), (2, 2, 0));

    // A program that does not start is said so, with its last lines.
    let broken = push(&sandbox, url, "broken", "dev");
    sandbox.write("broken.toml", &sweep("broken", [&broken, &base]));
    sandbox.run(&["submit", "broken.toml", "--coordinator", url]).expect_exit(0);
    let mut said = String::new();
    wait_until("the broken program is reported", || {
        said = status();
        said.contains("cannot run dev@")
    });
    assert!(said.contains("it was fetched, and does not start: "), "{said}");
    assert!(said.contains("its last output: `no licence`"), "{said}");
    sandbox.run(&["cancel", "broken", "--coordinator", url]).expect_exit(0);

    // What was kept is gone, and the worker is another: it is fetched again. One command pushes and plays.
    worker.kill();
    std::fs::remove_dir_all(sandbox.path("builds/programs")).unwrap();
    let _worker = accepts();
    let engines = ["cmd=./dev push=true name=dev", "cmd=./base push name=base"]
        .map(|engine| std::iter::once("--engine").chain(engine.split(' ')).collect::<Vec<_>>());
    let more = [
        "--depth",
        "2",
        "--games",
        "20",
        "--game",
        "connect-four",
        "--protocol",
        "ugi",
        "--name",
        "second",
        "--each",
        "timemargin=60000",
        "--coordinator",
        url,
    ];
    let line = [&["match"][..], &engines[0], &engines[1], &more].concat();
    let played = sandbox.run(&line);
    assert!(played.expect_exit(0).stdout().contains("Games: 20, "), "{}", played.stdout());
    assert_eq!(sandbox.sql("c.db", players), "accepting/0");
    assert_eq!(kept("builds/programs"), 2);
}
