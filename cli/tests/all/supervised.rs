//! What a coordinator tells systemd: a socket of the test's own is in the place of systemd's.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use rusqlite::Connection;
use rustix::process::Signal;

use crate::sandbox::{Sandbox, Service};

/// Nothing that is waited for takes nearly so long.
const DEADLINE: Duration = Duration::from_secs(600);

struct Supervisor(UnixDatagram);

impl Supervisor {
    fn new(sandbox: &Sandbox) -> Self {
        let socket = UnixDatagram::bind(sandbox.path("notify")).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        Self(socket)
    }

    /// A coordinator that it watches, and that must say every 400 ms that it works.
    fn coordinator(sandbox: &Sandbox) -> Service {
        sandbox.coordinator_as(
            sandbox
                .spelrum(&["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"])
                .env("NOTIFY_SOCKET", sandbox.path("notify"))
                .env("WATCHDOG_USEC", "400000")
                .env("RUST_LOG", "off"),
        )
    }

    /// What it is told next.
    fn hears(&self) -> String {
        let mut bytes = [0; 4_096];
        let length = self.0.recv(&mut bytes).expect("the coordinator says something");
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }
}

#[test]
fn systemd_hears_when_a_coordinator_is_ready_that_it_works_and_that_it_ends() {
    let sandbox = Sandbox::new();
    let supervisor = Supervisor::new(&sandbox);
    let mut coordinator = Supervisor::coordinator(&sandbox);
    let ready = supervisor.hears();
    assert_eq!(ready, format!("READY=1\nSTATUS=listening on {}\n", coordinator.url));
    for _ in 0..3 {
        assert_eq!(supervisor.hears(), "WATCHDOG=1\n");
    }
    coordinator.process.signal(Signal::TERM);
    let last = std::iter::repeat_with(|| supervisor.hears()).find(|said| said != "WATCHDOG=1\n");
    assert_eq!(last.as_deref(), Some("STOPPING=1\n"));
    assert_eq!(coordinator.process.wait().code(), Some(0));
}

/// A process that runs but cannot commit does not pass for one that works.
#[test]
fn systemd_hears_nothing_good_of_a_coordinator_that_cannot_commit() {
    let sandbox = Sandbox::new();
    let supervisor = Supervisor::new(&sandbox);
    let mut coordinator = Supervisor::coordinator(&sandbox);
    assert!(supervisor.hears().starts_with("READY=1\n"));
    assert_eq!(supervisor.hears(), "WATCHDOG=1\n");
    let other = Connection::open(sandbox.path("c.db")).unwrap();
    other.busy_timeout(DEADLINE).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Signs of life from before the lock may still wait to be read.
    let problem = std::iter::repeat_with(|| supervisor.hears()).find(|said| said != "WATCHDOG=1\n");
    let problem = problem.unwrap();
    assert!(problem.starts_with("STATUS=failed to"), "{problem}");
    // Nor any later, as long as the lock is held.
    let next = supervisor.hears();
    assert!(next.starts_with("STATUS=failed to"), "{next}");
    other.execute_batch("ROLLBACK").unwrap();
    let mended = std::iter::repeat_with(|| supervisor.hears())
        .find(|said| !said.starts_with("STATUS=failed to"));
    assert_eq!(mended.as_deref(), Some("WATCHDOG=1\nSTATUS=works again\n"));
    assert_eq!(supervisor.hears(), "WATCHDOG=1\n");
    coordinator.process.signal(Signal::TERM);
    assert_eq!(coordinator.process.wait().code(), Some(0));
}
