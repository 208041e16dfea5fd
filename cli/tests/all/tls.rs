//! TLS between a coordinator and everybody who calls it, as an operator sets it up.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use spelrum_test_support::{Authority, Tools, Validity};

use crate::sandbox::{Process, Ran, Sandbox, Service, Watched, root, tic_tac_toe, wait_until};

/// Of letters that HTTP/2 compresses to a byte each (RFC 7541, appendix B), so that who listens can find it.
const TOKEN: &str = "XZZXZXXZXZZXXZXZZXZXZZZX";

/// A coordinator with a certificate of this authority, whose own is in `ca.pem`.
fn coordinator(sandbox: &Sandbox, ca: &Authority, names: &[&str], validity: Validity) -> Service {
    sandbox.write("ca.pem", &ca.pem());
    ca.certify_in(&sandbox.path("."), names, validity);
    start(sandbox)
}

fn start(sandbox: &Sandbox) -> Service {
    let start = [
        &["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"][..],
        &["--tls-cert", "certificate.pem", "--tls-key", "key.pem"],
    ];
    let log = std::fs::File::create(sandbox.path("coordinator.log")).unwrap();
    sandbox.coordinator_as(sandbox.spelrum(&start.concat()).env("SPELRUM_TOKEN", TOKEN).stderr(log))
}

/// What comes of a command that brings the token.
fn run(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    Ran(sandbox.spelrum(arguments).env("SPELRUM_TOKEN", TOKEN).output().unwrap())
}

/// Hands on what travels between others, and keeps it.
struct Tap {
    address: String,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Tap {
    fn on(address: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let tap = Self { address: listener.local_addr().unwrap().to_string(), heard };
        let (heard, address) = (Arc::clone(&tap.heard), address.to_owned());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                let server = TcpStream::connect(&address).unwrap();
                for (mut from, mut to) in
                    [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
                {
                    let heard = Arc::clone(&heard);
                    std::thread::spawn(move || {
                        let mut piece = [0; 4_096];
                        while let Ok(read @ 1..) = from.read(&mut piece) {
                            heard.lock().unwrap().extend(&piece[..read]);
                            if to.write_all(&piece[..read]).is_err() {
                                break;
                            }
                        }
                        let _gone = to.shutdown(std::net::Shutdown::Both);
                    });
                }
            }
        });
        tap
    }

    fn has_heard(&self, text: &str) -> bool {
        let heard = self.heard.lock().unwrap();
        assert!(!heard.is_empty());
        let compressed = text.replace('X', "\u{fc}").replace('Z', "\u{fd}");
        let compressed: Vec<u8> =
            compressed.chars().filter_map(|letter| u8::try_from(letter).ok()).collect();
        heard.windows(text.len()).any(|window| window == text.as_bytes() || window == compressed)
    }
}

/// A sweep is submitted, played and read by TLS. Who listens on the way reads neither the token nor the sweep.
#[test]
fn everything_travels_by_tls() {
    let sandbox = Sandbox::new();
    let coordinator = coordinator(&sandbox, &Authority::new(), &["127.0.0.1"], Validity::Now);
    assert!(coordinator.url.starts_with("https://127.0.0.1:"), "{}", coordinator.url);
    let tap = Tap::on(coordinator.address());
    let url = format!("https://{}", tap.address);
    sandbox.write("secret-sweep.toml", &tic_tac_toe("secret-sweep", 20));
    let to = ["--coordinator", &url, "--ca", "ca.pem"];
    run(&sandbox, &[&["submit", "secret-sweep.toml"], &to[..]].concat()).expect_exit(0);
    let working = ["worker", "--slots", "1", "--exit-when-done"];
    run(&sandbox, &[&working, &to[..]].concat()).expect_exit(0);
    let asking = ["sql", "--csv", "SELECT count(*) AS n FROM games"];
    let ran = run(&sandbox, &[&asking, &to[..]].concat());
    assert_eq!(ran.expect_exit(0).stdout().lines().nth(1), Some("40"));
    for secret in [TOKEN, "secret-sweep"] {
        assert!(!tap.has_heard(secret), "{secret} could be read on the way");
    }

    // The tap hears what travels as it is.
    let plain = Sandbox::new();
    let start = ["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"];
    let coordinator = plain.coordinator_as(plain.spelrum(&start).env("SPELRUM_TOKEN", TOKEN));
    let tap = Tap::on(coordinator.address());
    run(&plain, &["list", "--coordinator", &tap.address]).expect_exit(0);
    assert!(tap.has_heard(TOKEN));
}

/// The variables and the config file say the same as the flag, and `config` says which.
#[test]
fn whose_certificates_are_trusted_can_be_written_down() {
    let sandbox = Sandbox::new();
    let coordinator = coordinator(&sandbox, &Authority::new(), &["127.0.0.1"], Validity::Now);
    let url = coordinator.url.as_str();
    let list = ["list", "--coordinator", url];
    run(&sandbox, &list).expect_exit(5);
    let by_variable =
        sandbox.spelrum(&list).env("SPELRUM_TOKEN", TOKEN).env("SPELRUM_CA", "ca.pem").output();
    Ran(by_variable.unwrap()).expect_exit(0);
    std::fs::create_dir_all(sandbox.path("config/spelrum")).unwrap();
    std::fs::copy(sandbox.path("ca.pem"), sandbox.path("config/spelrum/lab.pem")).unwrap();
    sandbox.write(
        "config/spelrum/config.toml",
        &format!("[coordinators.lab]\nurl = \"{url}\"\nca = \"lab.pem\"\n"),
    );
    run(&sandbox, &["list", "--coordinator", "lab"]).expect_exit(0);
    run(&sandbox, &list).expect_exit(0);
    let config = |arguments: &[&str], variable: Option<&str>| {
        let mut command =
            sandbox.spelrum(&[&["config", "--json", "--coordinator", "lab"], arguments].concat());
        let ran = Ran(command.envs(variable.map(|path| ("SPELRUM_CA", path))).output().unwrap());
        let json: Value = serde_json::from_str(ran.expect_exit(0).stdout()).unwrap();
        (json["ca"]["file"].as_str().unwrap().to_owned(), json["ca"]["from"].to_string())
    };
    let (file, from) = config(&[], None);
    assert!(Path::new(&file).ends_with("config/spelrum/lab.pem"), "{file}");
    assert!(from.contains("config.toml, line 3"), "{from}");
    assert_eq!(config(&[], Some("a.pem")), ("a.pem".to_owned(), "\"SPELRUM_CA\"".to_owned()));
    let flag = config(&["--ca", "b.pem"], Some("a.pem"));
    assert_eq!(flag, ("b.pem".to_owned(), "\"--ca\"".to_owned()));
}

/// Nobody sends a token to who cannot prove to be the coordinator.
#[test]
fn what_is_not_trusted_says_why() {
    let mut said = Vec::new();
    let mut fails = |what: &str, sandbox: &Sandbox, url: &str, arguments: &[&str], code: i32| {
        let list = [&["list", "--coordinator", url], arguments].concat();
        let ran = run(sandbox, &list);
        ran.expect_exit(code);
        assert!(!ran.stderr().contains(TOKEN));
        let address = url.split_once("://").unwrap().1;
        let failure = ran.failure().replace(address, "[ADDRESS]");
        said.push(format!("{what}: {failure}"));
    };
    let ca = Authority::new();
    let trust = ["--ca", "ca.pem"];
    for (what, names, validity) in [
        ("expired", "127.0.0.1", Validity::Expired),
        ("not yet valid", "127.0.0.1", Validity::NotYet),
        ("another address", "127.0.0.2", Validity::Now),
        ("a name instead of an address", "localhost", Validity::Now),
    ] {
        let sandbox = Sandbox::new();
        let coordinator = coordinator(&sandbox, &ca, &[names], validity);
        fails(what, &sandbox, &coordinator.url, &trust, 5);
    }
    let sandbox = Sandbox::new();
    let coordinator = coordinator(&sandbox, &ca, &["127.0.0.1"], Validity::Now);
    sandbox.write("other.pem", &Authority::new().pem());
    sandbox.write("empty.pem", "");
    sandbox.write("damaged.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n");
    let url = coordinator.url.as_str();
    fails("another authority", &sandbox, url, &["--ca", "other.pem"], 5);
    fails("those of this system", &sandbox, url, &[], 5);
    fails("no file", &sandbox, url, &["--ca", "none.pem"], 2);
    fails("no certificate", &sandbox, url, &["--ca", "empty.pem"], 2);
    fails("a key", &sandbox, url, &["--ca", "key.pem"], 2);
    fails("half a certificate", &sandbox, url, &["--ca", "damaged.pem"], 2);
    let plain = url.replace("https://", "http://");
    fails("http:// where TLS is spoken", &sandbox, &plain, &[], 5);
    let other = Sandbox::new();
    let start = ["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"];
    let coordinator = other.coordinator_as(&mut other.spelrum(&start));
    let https = coordinator.url.replace("http://", "https://");
    fails("https:// where none is spoken", &sandbox, &https, &trust, 5);
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_coordinator_that_cannot_speak_tls_does_not_start() {
    let sandbox = Sandbox::new();
    let ca = Authority::new();
    ca.certify_in(&sandbox.path("."), &["127.0.0.1"], Validity::Now);
    sandbox.write("other-key.pem", &ca.certify(&["127.0.0.1"], Validity::Now).1);
    let whole = std::fs::read_to_string(sandbox.path("certificate.pem")).unwrap();
    sandbox.write("cut.pem", &whole[..whole.len() / 2]);
    sandbox.write("letters.pem", &whole.replace('M', "%"));
    let pem = |what: &str| format!("-----BEGIN {what}-----\nAAAAAAAA\n-----END {what}-----\n");
    sandbox.write("bytes.pem", &pem("CERTIFICATE"));
    sandbox.write("bytes-key.pem", &pem("PRIVATE KEY"));
    let pair = ["--tls-cert", "certificate.pem", "--tls-key", "key.pem"];
    let fails = |tls: &[&str]| {
        let start = ["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"];
        let ran = sandbox.run(&[&start[..], tls].concat());
        ran.expect_exit(2);
        ran.failure()
    };
    let said = [
        fails(&["--tls-cert", "certificate.pem"]),
        fails(&["--tls-cert", "none.pem", "--tls-key", "key.pem"]),
        fails(&["--tls-cert", "key.pem", "--tls-key", "key.pem"]),
        fails(&["--tls-cert", "certificate.pem", "--tls-key", "certificate.pem"]),
        fails(&["--tls-cert", "certificate.pem", "--tls-key", "other-key.pem"]),
        fails(&["--tls-cert", "cut.pem", "--tls-key", "key.pem"]),
        fails(&["--tls-cert", "letters.pem", "--tls-key", "key.pem"]),
        fails(&["--tls-cert", "bytes.pem", "--tls-key", "key.pem"]),
        fails(&["--tls-cert", "certificate.pem", "--tls-key", "bytes-key.pem"]),
        fails(&[&pair[..], &["--client-ca", "none.pem"]].concat()),
        fails(&[&pair[..], &["--client-ca", "key.pem"]].concat()),
        fails(&[&pair[..], &["--client-ca", "bytes.pem"]].concat()),
        fails(&["--client-ca", "certificate.pem"]),
        fails(&[&pair[..], &["--without-tls"]].concat()),
        fails(&[&pair[..], &["--client-ca", "certificate.pem", "--without-token"]].concat()),
    ];
    insta::assert_snapshot!(said.join("\n"));
    assert!(!sandbox.path("c.db").exists());
}

/// What would have no effect is not taken; variables are for every coordinator of a machine.
#[test]
fn a_run_that_listens_to_nobody_speaks_no_tls() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("alone", 2));
    Authority::new().certify_in(&sandbox.path("."), &["127.0.0.1"], Validity::Now);
    let pair = ["--tls-cert", "certificate.pem", "--tls-key", "key.pem"];
    for (flags, named) in [(&pair[..], "--tls-cert"), (&["--without-tls"], "--without-tls")] {
        let ran = sandbox.run(&[&["run", "sweep.toml"], flags].concat());
        ran.expect_exit(2);
        let said = format!("{named} only applies with --listen");
        assert!(ran.stderr().contains(&said), "{}", ran.stderr());
    }
    assert!(!sandbox.path("alone.db").exists());
    let mut run = sandbox.spelrum(&["run", "sweep.toml"]);
    run.env("SPELRUM_TLS_CERT", "none.pem").env("SPELRUM_TLS_KEY", "none.pem");
    Ran(run.output().unwrap()).expect_exit(0);
}

/// A worker waits for a certificate to be mended, and ends where it was told the wrong thing itself.
#[test]
fn a_worker_waits_for_a_better_certificate() {
    let sandbox = Sandbox::new();
    let ca = Authority::new();
    let mut bad = coordinator(&sandbox, &ca, &["127.0.0.1"], Validity::Expired);
    let url = bad.url.clone();
    let mut command = sandbox.spelrum(&["worker", "--slots", "1", "--coordinator", &url]);
    let log = std::fs::File::create(sandbox.path("worker.log")).unwrap();
    command.env("SPELRUM_TOKEN", TOKEN).env("SPELRUM_CA", "ca.pem").stderr(log);
    let mut worker = Process(command.spawn().unwrap());
    let log = || std::fs::read_to_string(sandbox.path("worker.log")).unwrap();
    wait_until("the worker says what is wrong", || log().contains("its certificate has expired"));
    bad.process.kill();
    ca.certify_in(&sandbox.path("."), &["127.0.0.1"], Validity::Now);
    let address = bad.address().to_owned();
    let again = [
        &["coordinator", "--db", "c.db", "--listen", &address][..],
        &["--tls-cert", "certificate.pem", "--tls-key", "key.pem"],
    ];
    let good = sandbox.coordinator_as(sandbox.spelrum(&again.concat()).env("SPELRUM_TOKEN", TOKEN));
    let workers = ["sql", "--csv", "SELECT count(*) AS n FROM workers", "--ca", "ca.pem"];
    wait_until("the worker is there", || {
        let ran = run(&sandbox, &[&workers[..], &["--coordinator", &good.url]].concat());
        ran.stdout().lines().nth(1) == Some("1")
    });
    assert_eq!(log().matches("trying again until it is back").count(), 1, "{}", log());
    worker.kill();

    let plain = good.url.replace("https://", "http://");
    let ran = run(&sandbox, &["worker", "--slots", "1", "--coordinator", &plain]);
    ran.expect_exit(5);
    assert!(ran.stderr().contains("speaks TLS"), "{}", ran.stderr());
    assert!(ran.stderr().contains("write https://"), "{}", ran.stderr());
}

/// Its owner needs neither address nor certificate, as without TLS; and `run` calls itself so.
#[test]
fn the_database_s_owner_needs_no_certificate() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 20));
    let plain = sandbox.coordinator("c.db", "127.0.0.1:0");
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &plain.url]).expect_exit(0);
    drop(plain);
    // For a name that this machine does not have.
    let coordinator =
        coordinator(&sandbox, &Authority::new(), &["results.example.org"], Validity::Now);
    let there = ["--coordinator", &coordinator.url, "--ca", "ca.pem"];
    run(&sandbox, &[&["pause", "sweep"], &there[..]].concat()).expect_exit(5);
    let state = || sandbox.sql("c.db", "SELECT state FROM experiments");
    assert_eq!(state(), "running");
    // Without the token, too.
    sandbox.run(&["pause", "sweep", "--db", "c.db"]).expect_exit(0);
    assert_eq!(state(), "paused");
    sandbox.run(&["resume", "sweep", "--db", "c.db"]).expect_exit(0);
    assert_eq!(state(), "running");
    sandbox.run(&["pause", "other", "--db", "c.db"]).expect_exit(3);
    drop(coordinator);

    sandbox.write("long.toml", &tic_tac_toe("long", 100_000));
    let tls = ["--tls-cert", "certificate.pem", "--tls-key", "key.pem"];
    let running = ["run", "long.toml", "--db", "r.db", "--listen", "127.0.0.1:0", "--slots", "1"];
    let mut run = Watched::start(&sandbox, &[&running[..], &tls].concat());
    wait_until("games are played", || {
        sandbox.path("r.db").exists() && {
            let ran = sandbox.run(&["sql", "--db", "r.db", "--csv", "SELECT count(*) FROM games"]);
            ran.stdout().lines().nth(1).is_some_and(|games| games != "0")
        }
    });
    sandbox.run(&["pause", "long", "--db", "r.db"]).expect_exit(0);
    run.process.kill();
}

/// A real handshake, with somebody else's TLS.
#[test]
fn openssl_shakes_hands() {
    let Some(tools) = Tools::find(&["openssl"]) else { return };
    let sandbox = Sandbox::new();
    let coordinator = coordinator(&sandbox, &Authority::new(), &["127.0.0.1"], Validity::Now);
    let shake = |more: &[&str]| {
        let mut command = tools.command("openssl");
        command.args(["s_client", "-connect", coordinator.address(), "-CAfile"]);
        command.arg(sandbox.path("ca.pem")).args(["-verify_return_error", "-alpn", "h2"]);
        let output = command.args(more).stdin(Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let said = shake(&["-verify_ip", "127.0.0.1"]);
    for expected in ["TLSv1.3", "Verification: OK", "ALPN protocol: h2"] {
        assert!(said.contains(expected), "{expected}: {said}");
    }
    // Nothing older.
    let said = shake(&["-tls1_2"]);
    assert!(said.contains("no peer certificate available"), "{said}");
}

/// The command by which an operator looks from outside, as the page has it.
#[test]
fn the_operator_s_check_sees_a_refusal() {
    let Some(shell) = Tools::find(&["sh"]) else { return };
    let Some(_curl) = Tools::find_curl_with_http2() else { return };
    let page = std::fs::read_to_string(root().join("docs/operating.md")).unwrap();
    let (_, check) = page.split_once("$ curl ").expect("the page has the command");
    let (check, _) = check.split_once("```").unwrap();
    let (command, answer) = check.split_once("\n{").unwrap();
    let (problem, status) = answer.trim_end().rsplit_once('\n').unwrap();
    let sandbox = Sandbox::new();
    let coordinator = coordinator(&sandbox, &Authority::new(), &["127.0.0.1"], Validity::Now);
    let command =
        format!("curl {command}").replace("https://results.example.org:7878", &coordinator.url);
    assert!(command.contains(&coordinator.url), "{command}");
    let mut shell = shell.command("sh");
    let ran = shell.args(["-c", &command]).current_dir(sandbox.path(".")).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let promised = format!("{{{}", problem.trim_end_matches('…'));
    assert!(said.starts_with(&promised), "{said}, and the page has {promised}");
    assert_eq!(said.lines().last(), Some(status), "{said}");
}
