//! A coordinator and a worker as one of the files starts them, on this machine.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::process::Signal;
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::sandbox::{Process, Ran, Sandbox, Service, tic_tac_toe, wait_until};

/// What a file has the program do, with its own paths and addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Launch {
    pub(super) arguments: Vec<String>,
    pub(super) environment: Vec<(String, String)>,
}

impl Launch {
    /// With other paths and addresses in the place of its own. Each must be in it: else the test would start
    /// something else than the file does.
    #[track_caller]
    pub(super) fn with(mut self, others: &[(&str, &str)]) -> Self {
        for (own, other) in others {
            let variables = self.environment.iter_mut().map(|(_, value)| value);
            let words: Vec<_> = self
                .arguments
                .iter_mut()
                .chain(variables)
                .filter(|word| word.contains(own))
                .collect();
            assert!(!words.is_empty(), "{own} is not in it");
            for word in words {
                *word = word.replace(own, other);
            }
        }
        self
    }

    /// The command for it.
    pub(super) fn command(&self, sandbox: &Sandbox) -> Command {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut command = sandbox.spelrum(&arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// A token of this role, as it is printed, in the sandbox's `tokens.toml`.
pub(super) fn token(sandbox: &Sandbox, role: &str) -> String {
    let ran = sandbox.run(&["token", "create", role, "--role", role, "--tokens", "tokens.toml"]);
    ran.expect_exit(0);
    ran.stdout().to_owned()
}

/// A CA in the sandbox's `ca.pem`, and by it a certificate for this name in `coordinator.pem` and `coordinator.key`.
pub(super) fn certificate(sandbox: &Sandbox, host: &str) {
    sandbox.run(&["certificate", "create", host]).expect_exit(0);
}

/// Where a coordinator is reached that listens everywhere.
fn url(coordinator: &Service) -> String {
    coordinator.url.replace("0.0.0.0", "127.0.0.1")
}

/// What it answers on HTTP to who trusts `ca.pem`, with the line of its status.
pub(super) fn get(sandbox: &Sandbox, coordinator: &Service, path: &str) -> String {
    let url = url(coordinator);
    let address = url.strip_prefix("https://").expect("it speaks TLS");
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(sandbox.path("ca.pem")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "127.0.0.1".try_into().unwrap();
    let tls = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(tls, TcpStream::connect(address).unwrap());
    // By its address, as the kubelet calls.
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// A coordinator that was started this way has a sweep played by a worker that was, and both end well when they are
/// told to. `worker` is given the coordinator's URL, and `submit` is a token of that role.
pub(super) fn assert_plays(
    sandbox: &Sandbox,
    mut coordinator: Service,
    submit: &str,
    worker: impl FnOnce(&str) -> Command,
) {
    let url = url(&coordinator);
    let client = |arguments: &[&str]| {
        let mut command = sandbox.spelrum(arguments);
        command.env("SPELRUM_COORDINATOR", &url).env("SPELRUM_CA", "ca.pem");
        command.env("SPELRUM_TOKEN", submit.trim());
        Ran(command.output().unwrap())
    };
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 10));
    client(&["submit", "sweep.toml"]).expect_exit(0);

    let path = sandbox.path("worker.log");
    let log = File::create(&path).unwrap();
    let said = || std::fs::read_to_string(&path).unwrap();
    let mut worker = Process(worker(&url).stdout(Stdio::null()).stderr(log).spawn().unwrap());
    wait_until("the sweep is played", || {
        let ended = worker.0.try_wait().unwrap();
        assert!(ended.is_none(), "{ended:?}: {}", said());
        client(&["list", "--json"]).stdout().contains("\"finished\"")
    });
    let games = client(&["sql", "--csv", "SELECT count(*) AS n FROM games WHERE counted = 1"]);
    assert_eq!(games.stdout().lines().collect::<Vec<_>>(), ["n", "20"]);

    // First the one that is ended most often; both by what every supervisor sends.
    worker.signal(Signal::TERM);
    assert_eq!(worker.wait().code(), Some(0), "{}", said());
    coordinator.process.signal(Signal::TERM);
    assert_eq!(coordinator.process.wait().code(), Some(0));
}
