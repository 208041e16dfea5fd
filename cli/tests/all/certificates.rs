//! `spelrum certificate`: TLS for a cluster of one's own, as an operator sets it up and lives with it.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use spelrum_test_support::Tools;

use crate::sandbox::{Process, Ran, Sandbox, Service, tic_tac_toe, wait_until};

/// A CA, and a coordinator that takes client certificates of it and a file of tokens without any.
fn cluster() -> (Sandbox, Service) {
    let sandbox = Sandbox::new();
    sandbox.run(&["certificate", "create", "results.example.org"]).expect_exit(0);
    sandbox.write("tokens.toml", "");
    let coordinator = start(&sandbox, &["--client-ca", "ca.pem", "--tokens", "tokens.toml"]);
    (sandbox, coordinator)
}

fn start(sandbox: &Sandbox, more: &[&str]) -> Service {
    let start = [
        &["coordinator", "--db", "c.db", "--listen", "0.0.0.0:0"][..],
        &["--tls-cert", "coordinator.pem", "--tls-key", "coordinator.key"],
        more,
    ];
    let log = std::fs::File::create(sandbox.path("coordinator.log")).unwrap();
    let mut service = sandbox.coordinator_as(sandbox.spelrum(&start.concat()).stderr(log));
    service.url = service.url.replace("0.0.0.0", "127.0.0.1");
    service
}

fn client(sandbox: &Sandbox, name: &str, role: &str) {
    sandbox.run(&["certificate", "client", name, "--role", role]).expect_exit(0);
}

/// What comes of a command that shows this certificate.
fn with(sandbox: &Sandbox, certificate: &str, arguments: &[&str]) -> Ran {
    let mut command = sandbox.spelrum(arguments);
    Ran(command.env("SPELRUM_CA", "ca.pem").env("SPELRUM_CERT", certificate).output().unwrap())
}

fn mode(sandbox: &Sandbox, file: &str) -> u32 {
    sandbox.path(file).metadata().unwrap().permissions().mode() & 0o777
}

/// A sweep is submitted, played and read, each with a certificate that may do that and nothing else.
#[test]
fn each_certificate_does_its_part_and_no_other() {
    let (sandbox, coordinator) = cluster();
    let url = coordinator.url.as_str();
    for (name, role) in [("lab", "work"), ("ada", "submit"), ("guest", "read")] {
        client(&sandbox, name, role);
    }
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 20));
    let submitting = ["submit", "sweep.toml", "--coordinator", url];
    let working = ["worker", "--coordinator", url, "--slots", "1", "--exit-when-done"];
    let asking = ["sql", "--coordinator", url, "--csv", "SELECT count(*) AS n FROM games"];
    let mut refusals = Vec::new();
    for (certificate, arguments) in [
        ("lab.pem", &submitting[..]),
        ("guest.pem", &submitting),
        ("lab.pem", &asking),
        ("ada.pem", &working),
    ] {
        let ran = with(&sandbox, certificate, arguments);
        ran.expect_exit(5);
        refusals.push(format!("{}: {}", arguments[0], ran.error().replace(url, "[URL]")));
    }
    let bare = [&asking[..], &["--ca", "ca.pem"]].concat();
    let ran = sandbox.run(&bare);
    ran.expect_exit(5);
    refusals.push(format!("without one: {}", ran.stderr().replace(url, "[URL]")));
    insta::assert_snapshot!(refusals.join("\n"));

    with(&sandbox, "ada.pem", &submitting).expect_exit(0);
    with(&sandbox, "lab.pem", &working).expect_exit(0);
    let ran = with(&sandbox, "guest.pem", &asking);
    assert_eq!(ran.expect_exit(0).stdout().lines().nth(1), Some("40"));
    // Beside the coordinator in the config file, and with the key in a file of its own.
    let whole = std::fs::read_to_string(sandbox.path("guest.pem")).unwrap();
    let (certificate, key) = whole.split_at(whole.find("-----BEGIN PRIVATE KEY").unwrap());
    sandbox.write("guest-alone.pem", certificate);
    sandbox.write("guest-key.pem", key);
    let pair = ["--ca", "ca.pem", "--cert", "guest-alone.pem", "--key", "guest-key.pem"];
    sandbox.run(&[&asking[..], &pair].concat()).expect_exit(0);
    let beside = format!(
        "[coordinators.lab]\nurl = \"{url}\"\nca = \"{0}/ca.pem\"\ncert = \"{0}/guest-alone.pem\"\nkey = \
         \"{0}/guest-key.pem\"\n",
        sandbox.path("").display()
    );
    std::fs::create_dir_all(sandbox.path("config/spelrum")).unwrap();
    sandbox.write("config/spelrum/config.toml", &beside);
    sandbox.run(&["list", "--coordinator", "lab"]).expect_exit(0);
    let shown = sandbox.run(&["config", "--coordinator", "lab", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(shown.expect_exit(0).stdout()).unwrap();
    assert!(shown["cert"]["file"].as_str().unwrap().ends_with("/guest-alone.pem"), "{shown}");
    assert!(shown["key"]["from"].as_str().unwrap().ends_with("config.toml, line 5"), "{shown}");
    // A flag's certificate does not go with the file's key.
    let flag = ["config", "--coordinator", "lab", "--json", "--cert", "ada.pem"];
    let shown = sandbox.run(&flag);
    let shown: serde_json::Value = serde_json::from_str(shown.expect_exit(0).stdout()).unwrap();
    assert!(shown["cert"]["file"] == "ada.pem" && shown["key"].is_null(), "{shown}");
}

/// What cannot be shown, or is not taken, says why, and what to do.
#[test]
fn what_is_not_taken_says_why() {
    let (sandbox, coordinator) = cluster();
    let url = coordinator.url.as_str();
    client(&sandbox, "ada", "submit");
    client(&sandbox, "bob", "submit");
    // Of another CA.
    std::fs::create_dir(sandbox.path("other")).unwrap();
    let there = ["--directory", "other"];
    sandbox.run(&[&["certificate", "create", "elsewhere"], &there[..]].concat()).expect_exit(0);
    let client = ["certificate", "client", "eve", "--role", "submit"];
    sandbox.run(&[&client[..], &there].concat()).expect_exit(0);
    let whole = std::fs::read_to_string(sandbox.path("coordinator.pem")).unwrap();
    let key = std::fs::read_to_string(sandbox.path("coordinator.key")).unwrap();
    sandbox.write("of-a-coordinator.pem", &format!("{whole}{key}"));
    sandbox.write("damaged.pem", &whole[..100]);
    let pem = |what: &str| format!("-----BEGIN {what}-----\nAAAAAAAA\n-----END {what}-----\n");
    let bytes = format!("{}{}", pem("CERTIFICATE"), pem("PRIVATE KEY"));
    sandbox.write("bytes.pem", &bytes);
    sandbox.write("bytes-and-key.pem", &format!("{}{key}", pem("CERTIFICATE")));
    let mut said = Vec::new();
    for (code, shown) in [
        (5, &["--cert", "other/eve.pem"][..]),
        (5, &["--cert", "of-a-coordinator.pem"]),
        // Signed by itself.
        (5, &["--cert", "other/ca.pem", "--key", "other/ca.key"]),
        (2, &["--cert", "none.pem"]),
        (2, &["--cert", "damaged.pem"]),
        (2, &["--cert", "coordinator.key"]),
        (2, &["--cert", "coordinator.pem"]),
        (2, &["--cert", "ada.pem", "--key", "bob.pem"]),
        (2, &["--cert", "ada.pem", "--key", "none.pem"]),
        (2, &["--cert", "bytes.pem"]),
        (2, &["--cert", "bytes-and-key.pem"]),
        (2, &["--cert", "ada.pem", "--key", "bytes.pem"]),
        (2, &["--key", "ada.pem"]),
    ] {
        let list = [&["list", "--coordinator", url, "--ca", "ca.pem"], shown].concat();
        let ran = sandbox.run(&list);
        ran.expect_exit(code);
        said.push(format!("{}: {}", shown.join(" "), ran.failure().replace(url, "[URL]")));
    }
    // A worker does not wait for what only it can mend.
    let worker = ["worker", "--slots", "1", "--coordinator", url, "--ca", "ca.pem"];
    let ran = sandbox.run(&[&worker[..], &["--cert", "other/eve.pem"]].concat());
    ran.expect_exit(5);
    let last = ran.stderr().lines().skip_while(|line| !line.starts_with("error: "));
    said.push(format!("a worker: {}", last.collect::<Vec<_>>().join("\n").replace(url, "[URL]")));
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn nothing_is_written_over_and_keys_are_for_their_owner() {
    let sandbox = Sandbox::new();
    let create = ["certificate", "create", "results.example.org", "10.0.0.5", "fd00::5"];
    let made = sandbox.run(&create);
    made.expect_exit(0);
    let days = |text: &str| {
        let (before, after) = text.split_once("until ").unwrap();
        format!("{before}until [DATE]{}", &after[after.find('Z').unwrap() + 1..])
    };
    let mut said = vec![days(made.stderr())];
    client(&sandbox, "ada", "submit");
    let client = ["certificate", "client", "lab", "--role", "work", "--role", "read"];
    said.push(days(sandbox.run(&client).expect_exit(0).stderr()));
    for (file, expected) in [
        ("ca.pem", 0o644),
        ("ca.key", 0o600),
        ("coordinator.pem", 0o644),
        ("coordinator.key", 0o600),
        ("ada.pem", 0o600),
    ] {
        assert_eq!(mode(&sandbox, file), expected, "{file}");
    }
    let files = || {
        let read = |file: &str| std::fs::read_to_string(sandbox.path(file)).unwrap();
        ["ca.pem", "ca.key", "coordinator.pem", "coordinator.key", "ada.pem"].map(read)
    };
    let before = files();
    let mut fails = |arguments: &[&str], code: i32| {
        let ran = sandbox.run(&[&["certificate"], arguments].concat());
        ran.expect_exit(code);
        said.push(ran.failure());
    };
    fails(&["create", "results.example.org"], 3);
    fails(&["client", "ada", "--role", "read"], 3);
    fails(&["client", "coordinator", "--role", "read", "--renew"], 3);
    fails(&["client", "ca", "--role", "read", "--renew"], 3);
    fails(&["client", "../ada", "--role", "read"], 3);
    fails(&["client", "eve", "--role", "admin"], 2);
    fails(&["client", "eve"], 2);
    fails(&["client", "eve", "--role", "work", "--days", "0"], 2);
    fails(&["create", "https://results.example.org:7878"], 2);
    fails(&["create"], 2);
    fails(&["client", "eve", "--role", "work", "--directory", "nowhere"], 3);
    insta::assert_snapshot!(said.join("\n"));
    assert_eq!(files(), before);

    // Anew by the same CA, and only what was asked for.
    sandbox.run(&[&create[..], &["--renew"]].concat()).expect_exit(0);
    sandbox.run(&["certificate", "client", "ada", "--role", "read", "--renew"]).expect_exit(0);
    let after = files();
    assert_eq!(before[..2], after[..2]);
    assert!(before[2..].iter().zip(&after[2..]).all(|(before, after)| before != after));
    assert_eq!((mode(&sandbox, "coordinator.key"), mode(&sandbox, "ada.pem")), (0o600, 0o600));
}

/// What nobody would trust is not made.
#[test]
fn without_its_ca_nothing_is_renewed() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["certificate", "create", "results.example.org", "--renew"]);
    ran.expect_exit(3);
    assert!(ran.failure().contains("ca.pem and ca.key belong together"), "{}", ran.failure());
    for file in ["ca.pem", "ca.key", "coordinator.pem", "coordinator.key"] {
        assert!(!sandbox.path(file).exists(), "{file}");
    }
}

/// What was cut off before the file was whole is in nobody's way.
#[test]
fn what_was_left_behind_by_a_kill_is_written_over() {
    let sandbox = Sandbox::new();
    for file in ["ca.key", "ca.pem", "coordinator.key"] {
        sandbox.write(&format!("{file}.partial"), "-----BEGIN");
    }
    sandbox.run(&["certificate", "create", "results.example.org"]).expect_exit(0);
    assert_eq!(mode(&sandbox, "ca.key"), 0o600);
    let left = std::fs::read_dir(sandbox.path("")).unwrap();
    let left = left.filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "partial")
    });
    assert_eq!(left.count(), 0);
}

/// What is wrong with a CA is found before it makes anything.
#[test]
fn a_ca_that_is_not_whole_makes_nothing() {
    let sandbox = Sandbox::new();
    let create = |directory: &str| {
        sandbox.run(&["certificate", "create", "a.example", "--directory", directory])
    };
    for directory in ["good", "other"] {
        create(directory).expect_exit(0);
    }
    let read = |path: &str| std::fs::read_to_string(sandbox.path(path)).unwrap();
    let (ca, key) = (read("good/ca.pem"), read("good/ca.key"));
    let mut said = Vec::new();
    for (what, ca, key) in [
        ("without its key", Some(ca.clone()), None),
        ("without its certificate", None, Some(key.clone())),
        ("with another's key", Some(ca.clone()), Some(read("other/ca.key"))),
        ("cut off", Some(ca[..ca.len() / 2].to_owned()), Some(key.clone())),
        ("with half a key", Some(ca.clone()), Some(key[..key.len() / 2].to_owned())),
        ("no CA", Some(read("good/coordinator.pem")), Some(read("good/coordinator.key"))),
    ] {
        let directory = what.replace([' ', '\''], "-");
        std::fs::create_dir(sandbox.path(&directory)).unwrap();
        for (name, text) in [("ca.pem", ca), ("ca.key", key)] {
            if let Some(text) = text {
                sandbox.write(&format!("{directory}/{name}"), &text);
            }
        }
        let ran = create(&directory);
        ran.expect_exit(3);
        said.push(format!("{what}: {}", ran.failure().replace(&directory, "[DIR]")));
        assert!(!sandbox.path(&format!("{directory}/coordinator.pem")).exists());
    }
    insta::assert_snapshot!(said.join("\n"));
}

/// Who trusts the CA goes on when the coordinator has another certificate of it, and clients keep theirs.
#[test]
fn a_renewed_certificate_is_trusted_as_the_old_one_was() {
    let (sandbox, mut coordinator) = cluster();
    client(&sandbox, "ada", "submit");
    client(&sandbox, "lab", "work");
    let address = coordinator.address().to_owned();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 20));
    let url = coordinator.url.clone();
    let to = ["--coordinator", &url];
    with(&sandbox, "ada.pem", &[&["submit", "sweep.toml"], &to[..]].concat()).expect_exit(0);
    coordinator.process.kill();
    let renew = ["certificate", "create", "results.example.org", "--renew"];
    sandbox.run(&renew).expect_exit(0);
    let again = [
        &["coordinator", "--db", "c.db", "--listen", &address, "--client-ca", "ca.pem"][..],
        &["--tls-cert", "coordinator.pem", "--tls-key", "coordinator.key"],
    ];
    let _again = sandbox.coordinator_as(&mut sandbox.spelrum(&again.concat()));
    let working = ["worker", "--slots", "1", "--exit-when-done"];
    with(&sandbox, "lab.pem", &[&working, &to[..]].concat()).expect_exit(0);
    assert_eq!(sandbox.settled("c.db"), 40);
}

/// A run that listens to others needs no token where certificates are demanded, and is still its own owner.
#[test]
fn a_run_may_demand_certificates_alone() {
    let sandbox = Sandbox::new();
    sandbox.run(&["certificate", "create", "results.example.org"]).expect_exit(0);
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 2));
    let running = ["run", "sweep.toml", "--db", "r.db", "--slots", "1", "--listen", "0.0.0.0:0"];
    let tls = ["--tls-cert", "coordinator.pem", "--tls-key", "coordinator.key"];
    let bare = sandbox.run(&[&running[..], &tls].concat());
    bare.expect_exit(2);
    assert!(bare.stderr().contains("no token is required"), "{}", bare.stderr());
    sandbox.run(&[&running[..], &tls, &["--client-ca", "ca.pem"]].concat()).expect_exit(0);
    assert_eq!(sandbox.settled("r.db"), 4);
}

#[test]
fn a_revoked_certificate_ends_its_worker() {
    let (sandbox, coordinator) = cluster();
    client(&sandbox, "lab", "work");
    let mut worker =
        sandbox.spelrum(&["worker", "--slots", "1", "--coordinator", &coordinator.url]);
    worker.env("SPELRUM_CA", "ca.pem").env("SPELRUM_CERT", "lab.pem");
    let mut worker = Process(worker.spawn().unwrap());
    let workers = "SELECT count(*) AS n FROM workers";
    wait_until("the worker has come", || sandbox.sql("c.db", workers) == "1");
    let revoke = ["certificate", "revoke", "lab", "--tokens"];
    sandbox.run(&[&revoke[..], &["none.toml"]].concat()).expect_exit(3);
    sandbox.run(&[&revoke[..], &["tokens.toml"]].concat()).expect_exit(0);
    assert_eq!(worker.wait().code(), Some(5));
    sandbox.run(&[&revoke[..], &["tokens.toml"]].concat()).expect_exit(3);
    let list = sandbox.run(&["token", "list", "--tokens", "tokens.toml"]);
    let last: Vec<&str> =
        list.expect_exit(0).stdout().lines().last().unwrap().split_whitespace().collect();
    assert!(last[0] == "lab" && last[1].starts_with("20"), "{last:?}");
    // Tokens that are made later leave it as it is.
    let create = ["token", "create", "lab", "--role", "work", "--tokens", "tokens.toml"];
    sandbox.run(&create).expect_exit(0);
    let list = sandbox.run(&["token", "list", "--tokens", "tokens.toml"]);
    assert!(list.stdout().contains("revoked certificates"), "{}", list.stdout());
}

/// They are what they say by another program's rules, too.
#[test]
fn openssl_takes_the_certificates_for_what_they_are() {
    let Some(tools) = Tools::find(&["openssl"]) else { return };
    let sandbox = Sandbox::new();
    sandbox.run(&["certificate", "create", "results.example.org", "10.0.0.5"]).expect_exit(0);
    client(&sandbox, "ada", "submit");
    let openssl = |arguments: &[&str]| {
        let mut command = tools.command("openssl");
        command.args(arguments).current_dir(sandbox.path(".")).stdin(Stdio::null());
        Ran(command.output().unwrap())
    };
    let verify = |purpose: &str, more: &[&str]| {
        let verify = ["verify", "-x509_strict", "-CAfile", "ca.pem", "-purpose", purpose];
        openssl(&[&verify, more].concat())
    };
    verify("sslserver", &["coordinator.pem"]).expect_exit(0);
    let passes = |purpose: &str, more: &[&str]| verify(purpose, more).0.status.success();
    for name in ["results.example.org", "localhost"] {
        assert!(passes("sslserver", &["-verify_hostname", name, "coordinator.pem"]), "{name}");
    }
    for address in ["10.0.0.5", "127.0.0.1", "::1"] {
        assert!(passes("sslserver", &["-verify_ip", address, "coordinator.pem"]), "{address}");
    }
    assert!(!passes("sslserver", &["-verify_hostname", "example.org", "coordinator.pem"]));
    assert!(passes("sslclient", &["ada.pem"]));
    assert!(!passes("sslclient", &["coordinator.pem"]) && !passes("sslserver", &["ada.pem"]));
    let text = openssl(&["x509", "-in", "ada.pem", "-noout", "-text"]);
    assert!(text.stdout().contains("URI:spelrum:submit:ada"), "{}", text.stdout());
    // Its own key, and no other, in each file.
    let key = |file: &str| {
        let key = openssl(&["pkey", "-in", file, "-pubout"]);
        key.expect_exit(0).stdout().to_owned()
    };
    let certified = |file: &str| {
        let key = openssl(&["x509", "-in", file, "-noout", "-pubkey"]);
        key.expect_exit(0).stdout().to_owned()
    };
    assert_eq!(key("ada.pem"), certified("ada.pem"));
    assert_eq!(key("coordinator.key"), certified("coordinator.pem"));
    assert_eq!(key("ca.key"), certified("ca.pem"));
}
