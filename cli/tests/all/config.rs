//! Flags before the environment before the config file; whatever is wrong in the file is shown
//! where it stands; and no token is ever printed.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox, tic_tac_toe};

const FILE: &str = "config/spelrum/config.toml";

const LAB: &str = r#"
coordinator = "http://127.0.0.1:1111"
token = "top-secret"

[coordinators.lab]
url = "http://127.0.0.1:2222"
token_file = "lab-token"

[coordinators.open]
url = "127.0.0.1:3333"
"#;

/// A sandbox with this config file, which nobody else can read.
fn with_config(text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("config/spelrum")).unwrap();
    write_private(&sandbox, FILE, text);
    write_private(&sandbox, "config/spelrum/lab-token", "lab-secret\n");
    sandbox
}

fn write_private(sandbox: &Sandbox, name: &str, text: &str) {
    let path = sandbox.write(name, text);
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
}

fn masked(sandbox: &Sandbox, text: &str) -> String {
    text.replace(&sandbox.path("").display().to_string(), "[DIRECTORY]/")
}

/// What is in force, with these variables set.
fn config(sandbox: &Sandbox, arguments: &[&str], variables: &[(&str, &str)]) -> Value {
    let arguments = [&["config", "--json"], arguments].concat();
    let mut command = sandbox.spelrum(&arguments);
    command.envs(variables.iter().copied());
    let ran = Ran(command.output().unwrap());
    ran.expect_exit(0);
    assert_eq!(ran.stderr(), "");
    assert!(!ran.stdout().contains("secret"), "a token was printed: {}", ran.stdout());
    serde_json::from_str(&masked(sandbox, ran.stdout())).unwrap()
}

#[test]
fn flags_come_before_the_environment_before_the_file() {
    let sandbox = with_config(LAB);
    let at_file = |line: u32| format!("[DIRECTORY]/{FILE}, line {line}");
    let resolve = |arguments: &[&str], variables: &[(&str, &str)]| {
        let config = config(&sandbox, arguments, variables);
        json!([
            config["coordinator"]["url"],
            config["coordinator"]["from"],
            config["token"]["from"]
        ])
    };
    let variable = [("SPELRUM_COORDINATOR", "http://127.0.0.1:4444")];
    let flag = ["--coordinator", "127.0.0.1:5555"];
    assert_eq!(resolve(&[], &[]), json!(["http://127.0.0.1:1111", at_file(2), at_file(3)]));
    // A token goes nowhere but to the coordinator that it stands beside.
    assert_eq!(
        resolve(&[], &variable),
        json!(["http://127.0.0.1:4444", "SPELRUM_COORDINATOR", null])
    );
    assert_eq!(resolve(&flag, &variable), json!(["http://127.0.0.1:5555", "--coordinator", null]));
    let same = ["--coordinator", "http://127.0.0.1:1111/"];
    assert_eq!(resolve(&same, &[]), json!(["http://127.0.0.1:1111/", "--coordinator", at_file(3)]));
    // Names have addresses and tokens of their own.
    let lab = json!(["http://127.0.0.1:2222", at_file(6), at_file(7)]);
    assert_eq!(resolve(&["--coordinator", "lab"], &[]), lab);
    assert_eq!(resolve(&[], &[("SPELRUM_COORDINATOR", "lab")]), lab);
    let by_address = resolve(&["--coordinator", "127.0.0.1:2222"], &[]);
    assert_eq!(by_address, json!(["http://127.0.0.1:2222", "--coordinator", at_file(7)]));
    assert_eq!(resolve(&["--coordinator", "open"], &[])[2], Value::Null);
    // The environment's token goes wherever the call goes.
    let token = [("SPELRUM_TOKEN", "env-secret")];
    for arguments in [&[][..], &flag, &["--coordinator", "lab"], &["--coordinator", "open"]] {
        assert_eq!(resolve(arguments, &token)[2], "SPELRUM_TOKEN", "{arguments:?}");
    }
    // Of several addresses, to those without a token of their own.
    assert_eq!(resolve(&["--coordinator", "lab,open"], &token)[2], at_file(7));
    assert_eq!(resolve(&["--coordinator", "open,lab"], &token)[2], "SPELRUM_TOKEN");
}

#[test]
fn the_file_is_where_the_platform_has_it_or_where_the_environment_says() {
    let sandbox = Sandbox::new();
    let path = |variables: &[(&str, &str)]| {
        let mut command = sandbox.spelrum(&["config", "--path"]);
        command.env_remove("XDG_CONFIG_HOME").env("HOME", "/home/x");
        command.envs(variables.iter().copied());
        let ran = Ran(command.output().unwrap());
        ran.expect_exit(0);
        ran.stdout().trim_end().to_owned()
    };
    assert_eq!(path(&[]), "/home/x/.config/spelrum/config.toml");
    assert_eq!(path(&[("XDG_CONFIG_HOME", "/etc/x")]), "/etc/x/spelrum/config.toml");
    assert_eq!(path(&[("SPELRUM_CONFIG", "/home/x/own.toml")]), "/home/x/own.toml");
    let config = config(&sandbox, &[], &[]);
    assert_eq!(config["config_file_exists"], false);
    assert_eq!((&config["coordinator"], &config["token"]), (&Value::Null, &Value::Null));
}

#[test]
fn people_are_shown_what_is_in_force() {
    let sandbox = with_config(LAB);
    let ran = sandbox.run(&["config", "--coordinator", "lab"]);
    ran.expect_exit(0);
    // The rule is as long as the longest path.
    let text: Vec<_> = ran.stdout().lines().filter(|line| !line.starts_with('─')).collect();
    insta::assert_snapshot!(masked(&sandbox, &text.join("\n")));
    let ran = sandbox.run(&["config", "--coordinator", "lab", "--json"]);
    insta::assert_snapshot!(masked(&sandbox, ran.stdout()));
}

#[test]
fn the_example_is_a_config_file() {
    let example = Sandbox::new().run(&["config", "--example"]);
    example.expect_exit(0);
    insta::assert_snapshot!(example.stdout());
    config(&with_config(example.stdout()), &[], &[]);
    // Also with what it only mentions.
    let all = example.stdout().replace("\n#token", "\ntoken").replace("\n#url", "\nurl");
    let all = all.replace("\n#ca", "\nca");
    let sandbox = with_config(&all.replace("\n#[", "\n["));
    write_private(&sandbox, "config/spelrum/token", "secret\n");
    write_private(&sandbox, ".lab-token", "secret\n");
    let lab = config(&sandbox, &["--coordinator", "lab"], &[]);
    assert_eq!(lab["coordinator"]["url"], "https://10.0.0.5:7878");
    assert_eq!(lab["ca"]["file"], "[DIRECTORY]/config/spelrum/lab-ca.pem");
    assert_ne!(lab["token"], Value::Null);
}

#[test]
fn what_is_wrong_in_the_file_is_shown_where_it_stands() {
    let wrong = [
        ("an unknown key", "coordinatr = \"http://127.0.0.1:1\"\n"),
        ("an unknown key of a coordinator", "[coordinators.lab]\nur = \"127.0.0.1:1\"\n"),
        ("a name without an address", "[coordinators.lab]\ntoken_file = \"x\"\n"),
        ("a name that is not there", "coordinator = \"lob\"\n[coordinators.lab]\nurl = \"a:1\"\n"),
        ("an address without a port", "coordinator = \"http://lab\"\n"),
        ("a wrong type", "coordinator = 7878\n"),
        ("no table", "coordinators = \"lab\"\n"),
        ("a name like an address", "[coordinators.\"a:1\"]\nurl = \"a:1\"\n"),
        ("two tokens", "token = \"secret\"\ntoken_file = \"x\"\n"),
        ("a token that is none", "token = \"se cret\"\n"),
        ("no TOML", "coordinator = \n"),
    ];
    let mut said = String::new();
    for (what, text) in wrong {
        let sandbox = with_config(text);
        let ran = sandbox.run(&["config"]);
        ran.expect_exit(2);
        assert!(!ran.stderr().contains("cret\""), "a token was printed: {}", ran.stderr());
        said.push_str(&format!("# {what}\n{}\n", masked(&sandbox, &ran.failure())));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn what_is_not_there_is_said_with_the_remedy() {
    let sandbox = with_config(LAB);
    let mut said = String::new();
    let mut failure = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = sandbox.spelrum(arguments);
        command.envs(variables.iter().copied());
        let ran = Ran(command.output().unwrap());
        ran.expect_exit(2);
        said.push_str(&format!("{}\n", masked(&sandbox, &ran.failure())));
    };
    failure(&["list", "--coordinator", "lob"], &[]);
    failure(&["list", "--coordinator", "somewhere"], &[]);
    failure(&["list"], &[("SPELRUM_CONFIG", "nowhere.toml")]);
    failure(&["list"], &[("SPELRUM_TOKEN", "")]);
    failure(&["list"], &[("SPELRUM_COORDINATOR", "http://nowhere")]);
    failure(&["coordinator", "--db", "x.db", "--token-file", "nowhere"], &[]);
    std::fs::write(sandbox.path("empty"), "\n").unwrap();
    failure(&["coordinator", "--db", "x.db", "--token-file", "empty"], &[]);
    insta::assert_snapshot!(said);
    assert!(!sandbox.path("x.db").exists());
}

#[test]
fn a_token_that_others_can_read_is_warned_of() {
    let sandbox = with_config(LAB);
    let open = |name: &str| {
        std::fs::set_permissions(sandbox.path(name), PermissionsExt::from_mode(0o644)).unwrap();
    };
    open(FILE);
    open("config/spelrum/lab-token");
    let ran = sandbox.run(&["config"]);
    let said = ran.expect_exit(0).stderr().to_owned();
    let ran = sandbox.run(&["config", "--coordinator", "lab"]);
    insta::assert_snapshot!(masked(&sandbox, &format!("{said}{}", ran.expect_exit(0).stderr())));
    // Nothing is at stake where no token of the file is used.
    let ran = sandbox.run(&["config", "--coordinator", "open"]);
    assert_eq!(ran.expect_exit(0).stderr(), "");
}

#[test]
fn a_coordinator_with_a_token_serves_only_who_brings_it() {
    let sandbox = with_config("");
    // As editors of Windows write it.
    write_private(&sandbox, "token", "\u{feff}s3cret-s3cret\r\n");
    sandbox.write("sweep.toml", &tic_tac_toe("guarded", 4));
    let log = std::fs::File::create(sandbox.path("coordinator.log")).unwrap();
    let coordinator = sandbox.coordinator_as(
        sandbox
            .spelrum(&["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"])
            .args(["--token-file", "token"])
            .env("RUST_LOG", "trace")
            .stderr(log),
    );
    let url = coordinator.url.as_str();
    let refused = sandbox.run(&["submit", "sweep.toml", "--coordinator", url]);
    refused.expect_exit(5);
    insta::assert_snapshot!(refused.failure());
    let wrong = sandbox.spelrum(&["list", "--coordinator", url]).env("SPELRUM_TOKEN", "x").output();
    insta::assert_snapshot!(Ran(wrong.unwrap()).expect_exit(5).failure());
    let worker = sandbox.run(&["worker", "--coordinator", url, "--slots", "1"]);
    worker.expect_exit(5);
    assert!(worker.stderr().contains("demands a token, and none was given"), "{}", worker.stderr());

    // By the environment, and by the config file.
    let submit = ["submit", "sweep.toml", "--coordinator", url];
    let submitted = sandbox.spelrum(&submit).env("SPELRUM_TOKEN", "s3cret-s3cret").output();
    Ran(submitted.unwrap()).expect_exit(0);
    let token = sandbox.path("token").display().to_string();
    let lab = format!("[coordinators.lab]\nurl = \"{url}\"\ntoken_file = \"{token}\"\n");
    write_private(&sandbox, FILE, &lab);
    let worker = ["worker", "--coordinator", "lab", "--slots", "1", "--exit-when-done"];
    let worked = Ran(sandbox.spelrum(&worker).env("RUST_LOG", "trace").output().unwrap());
    worked.expect_exit(0);
    let status = sandbox.run(&["status", "guarded", "--coordinator", "lab", "--json"]);
    let status: Value = serde_json::from_str(status.expect_exit(0).stdout()).unwrap();
    assert_eq!(status["experiments"][0]["games_settled"], 8);

    // Whatever is logged and stored, the token is not.
    assert!(!worked.stderr().contains("s3cret"), "the worker logs its token");
    drop(coordinator);
    let log = std::fs::read_to_string(sandbox.path("coordinator.log")).unwrap();
    assert!(log.contains("TRACE"), "{log}");
    assert!(!log.contains("s3cret"), "the coordinator logs its token");
    for name in ["c.db", "c.db-wal"] {
        let stored = std::fs::read(sandbox.path(name)).unwrap_or_default();
        assert!(!stored.windows(6).any(|bytes| bytes == b"s3cret"), "{name} holds the token");
    }
}

/// Also by who only plays: whoever reaches it could do everything.
#[test]
fn listening_to_others_without_a_token_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("open", 2));
    let run = |listen: &[&str], variables: &[(&str, &str)]| {
        let mut command = sandbox.spelrum(&[&["run", "sweep.toml", "--listen"], listen].concat());
        command.envs(variables.iter().copied());
        Ran(command.output().unwrap())
    };
    let refused = run(&["0.0.0.0:0", "--without-tls"], &[]);
    refused.expect_exit(2);
    insta::assert_snapshot!(without_port(refused.stderr()));
    let open = ["coordinator", "--db", "c.db", "--listen", "0.0.0.0:0", "--without-tls"];
    let coordinator = sandbox.run(&open);
    coordinator.expect_exit(2);
    insta::assert_snapshot!(without_port(coordinator.stderr()));
    assert!(!sandbox.path("c.db").exists() && !sandbox.path("open.db").exists());
    run(&["127.0.0.1:0"], &[]).expect_exit(0);
    run(&["0.0.0.0:0", "--without-tls"], &[("SPELRUM_TOKEN", "s3cret")]).expect_exit(0);

    let open = [&open[..], &["--without-token"]].concat();
    let coordinator = sandbox.coordinator_as(&mut sandbox.spelrum(&open));
    let port = coordinator.address().rsplit_once(':').unwrap().1;
    sandbox.run(&["status", "--coordinator", &format!("http://127.0.0.1:{port}")]).expect_exit(0);
}

/// Whoever is on the way could read the tokens, and use them.
#[test]
fn listening_to_others_without_tls_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("open", 2));
    let run = |arguments: &[&str]| {
        Ran(sandbox.spelrum(arguments).env("SPELRUM_TOKEN", "s3cret").output().unwrap())
    };
    let mut said = Vec::new();
    for listen in ["0.0.0.0:0", "[::]:0"] {
        for command in [&["run", "sweep.toml"][..], &["coordinator", "--db", "c.db"]] {
            let ran = run(&[command, &["--listen", listen]].concat());
            ran.expect_exit(2);
            let port = ran
                .stderr()
                .split(": connections are not")
                .next()
                .unwrap()
                .rsplit(':')
                .next()
                .unwrap();
            said.push(format!("{}: {}", command[0], ran.stderr().replace(port, "[PORT]")));
        }
    }
    insta::assert_snapshot!(said.join("\n"));
    assert!(!sandbox.path("c.db").exists() && !sandbox.path("open.db").exists());
}

/// The text with `[PORT]` for the port that the system chose.
fn without_port(text: &str) -> String {
    let (before, after) = text.split_once("0.0.0.0:").unwrap();
    let after = after.trim_start_matches(|character: char| character.is_ascii_digit());
    format!("{before}0.0.0.0:[PORT]{after}")
}

/// Nobody but `run` itself can talk to a coordinator that nobody was told of.
#[test]
fn a_run_s_own_coordinator_is_closed_to_others() {
    let sandbox = Sandbox::new();
    let endless = "name = \"endless\"\ngame = \"pentago\"\ngames = 2\n[players.slow]\n\
        algorithm = \"minimax\"\ndepth = 30\nmove_time = \"60s\"\n[players.random]\n\
        algorithm = \"random\"\n";
    sandbox.write("sweep.toml", endless);
    let mut run = crate::sandbox::Watched::start(&sandbox, &["run", "sweep.toml", "--slots", "1"]);
    run.read_until("playing endless");
    let ports = listening_ports(run.process.0.id());
    assert!(!ports.is_empty());
    for port in ports {
        let ran = sandbox.run(&["list", "--coordinator", &format!("127.0.0.1:{port}")]);
        ran.expect_exit(5);
        assert!(ran.stderr().contains("demands a token"), "{}", ran.stderr());
    }
}

/// The TCP ports that a process listens on (proc_net(5)).
fn listening_ports(pid: u32) -> Vec<u16> {
    let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .filter_map(|fd| std::fs::read_link(fd.unwrap().path()).ok())
        .filter_map(|link| {
            let name = link.to_string_lossy().into_owned();
            Some(name.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect();
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).unwrap();
    table
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields[3] == "0A" && sockets.iter().any(|inode| inode == fields[9]))
        .map(|fields| u16::from_str_radix(fields[1].split_once(':').unwrap().1, 16).unwrap())
        .collect()
}
