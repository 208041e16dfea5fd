//! Engines that machines build from commits which sweeps name.

use spelrum_test_support::Tools;

use crate::external_engines::nobody_has;
use crate::sandbox::{Sandbox, wait_until};

const SPELRUM: &str = env!("CARGO_BIN_EXE_spelrum");

/// A sandbox with a repository: its first commit is of a random mover, its second of a better player, and a third one is
/// on no branch. `None`, and the test is skipped, without the programs that make and build it.
fn sandbox() -> Option<(Sandbox, [String; 3])> {
    let tools = Tools::find(&["chmod", "cp", "git", "sh", "sleep"])?;
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("repository")).unwrap();
    git(&tools, &sandbox, &["init", "--quiet", "--initial-branch", "main"]);
    let commits = [("random", 2_222), ("alpha-beta --depth 2", 1_111), ("mcts", 1)].map(|(player, nodes)| {
        let script = format!(
            "#!/bin/sh\ntest \"$1\" = bench && {{ echo 'info nodes 7'; echo '{nodes} nodes 9 nps' >&2; exit; }}\n\
             exec {SPELRUM} engine ugi --game connect-four --player {player}\n"
        );
        sandbox.write("repository/player.sh", &script);
        git(&tools, &sandbox, &["add", "player.sh"]);
        git(&tools, &sandbox, &["commit", "--quiet", "--message", player]);
        git(&tools, &sandbox, &["rev-parse", "HEAD"])
    });
    git(&tools, &sandbox, &["reset", "--quiet", "--hard", "HEAD~1"]);
    Some((sandbox, commits))
}

fn git(tools: &Tools, sandbox: &Sandbox, arguments: &[&str]) -> String {
    let author = ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"];
    let mut command = tools.command("git");
    command.args(author).args(arguments).current_dir(sandbox.path("repository"));
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

fn engines(build: &str, more: &str) -> String {
    format!(
        "builds = \"builds\"\n[engines.dev]\nprotocol = \"ugi\"\ngit = \"repository\"\nbuild = {build:?}\n\
         command = \"./dev\"\n{more}"
    )
}

const BUILD: &str = "cp player.sh dev && chmod +x dev && echo built >> ../built.log";

fn sweep(games: u32, players: [&str; 2]) -> String {
    let [first, second] = players.map(|more| {
        format!("algorithm = \"ugi\"\nengine = \"dev\"\ndepth = 2\nmargin = \"60s\"\n{more}\n")
    });
    format!(
        "name = \"match\"\ngame = \"connect-four\"\nseed = 5\ngames = {games}\n\
         openings = {{ kind = \"random\", plies = 4 }}\nstop = {{ sprt = {{ elo0 = 0, elo1 = 100 }} }}\n\
         [players.dev]\n{first}[players.base]\n{second}"
    )
}

#[test]
fn workers_build_the_commits_of_a_match() {
    let Some((sandbox, [base, dev, _])) = sandbox() else { return };
    sandbox.write("engines.toml", &engines(BUILD, ""));
    sandbox.write(
        "broken.toml",
        &engines("echo no compiler >&2; exit 2", "").replace("\"builds\"", "\"broken\""),
    );
    let players = [format!("commit = \"{dev}\"\nbench = 1111"), format!("commit = \"{base}\"")];
    sandbox.write("sweep.toml", &sweep(400, players.each_ref().map(String::as_str)));
    let coordinator = sandbox.coordinator_with("c.db", "127.0.0.1:0", "500ms");
    let url = &coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let _broken = sandbox.worker(url, "1", &["--name", "broken", "--engines", "broken.toml"]);
    let status = || sandbox.run(&["status", "--coordinator", url]).stdout().to_owned();
    let names = [format!("dev@{dev}:1111"), format!("dev@{base}")];
    let problem = |name: &String| {
        format!(
            "cannot build {name}: the build failed (exit status 2); its last lines: no compiler"
        )
    };
    wait_until("a build has failed", || {
        let said = status();
        names.iter().all(|name| said.contains(&problem(name)))
    });
    assert!(status().contains("which no connected worker has"), "{}", status());
    let _good = sandbox.worker(url, "2", &["--name", "good", "--engines", "engines.toml"]);
    sandbox.wait_until_finished(&coordinator);
    let answer = sandbox.sql("c.db", "SELECT group_concat(DISTINCT w.name) || '/' || count(failure) FROM games AS g JOIN workers AS w \
         USING (worker_id)");
    assert_eq!(answer, "good/0");
    let report = sandbox.run(&["report", "match", "--db", "c.db"]);
    assert!(report.expect_exit(0).stdout().contains(": +100 Elo"), "{}", report.stdout());
    // Each commit once.
    let folder = std::fs::read_dir(sandbox.path("builds")).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(folder.join("built.log")).unwrap(), "built\nbuilt\n");
    assert!(!status().contains("cannot build"), "{}", status());
}

#[test]
fn what_cannot_be_built_is_said_in_a_sentence() {
    let Some((sandbox, [base, dev, stray])) = sandbox() else { return };
    let run = |engines: &str, first: &str, second: &str| {
        sandbox.write("engines.toml", engines);
        sandbox.write("sweep.toml", &sweep(4, [first, second]));
        let arguments = ["run", "sweep.toml", "--db", "m.db", "--engines", "engines.toml", "--new"];
        sandbox.run(&arguments)
    };
    let commit = |commit: &str| format!("commit = \"{commit}\"");
    let [base, first, stray, unknown] =
        [commit(&base), commit(&dev), commit(&stray), commit(&"a".repeat(40))];
    let good = engines(BUILD, "");
    for (engines, second, said) in [
        (good.clone(), stray.as_str(), "no branch and no tag of "),
        (good.clone(), &unknown, "no branch and no tag of "),
        (good.clone(), "commit = \"HEAD\"", "player `base`: \"HEAD\" is not a commit"),
        (good.clone(), "bench = 1", "there is no `commit` whose `bench` this could be"),
        (good.clone(), "", "and the sweep names none"),
        (
            good.clone(),
            &format!("{first}\nbench = 3"),
            "`bench` counts 1111 nodes here, and the sweep says 3",
        ),
        (
            good.replace("repository", "nowhere"),
            &base,
            "git fetch failed (exit status 128); its last lines: fatal: ",
        ),
        (
            good.replace("\"builds\"", "\"engines.toml/builds\""),
            &base,
            " for builds cannot be written: ",
        ),
        (engines("true", ""), &base, "it was built, and does not start: there is no program "),
        (
            engines("sleep 77002", "build_timeout = \"1s\"\n"),
            &base,
            "the build did not end within 1 s",
        ),
    ] {
        let ran = run(&engines, &first, second);
        assert!(
            ran.0.status.code() != Some(0) && ran.stderr().contains(said),
            "{said}: {}",
            ran.stderr()
        );
    }
    wait_until("the build has ended", || nobody_has("77002"));
    run(&good, &first, &base).expect_exit(0);
    let games = sandbox.sql("m.db", "SELECT count(*) || '/' || count(failure) FROM games");
    assert_eq!(games, "4/0");
}
