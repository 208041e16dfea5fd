//! A coordinator that is started again and again at one address, with a sweep that does not end before it may.

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::judge::assert_complete;
use crate::sandbox::{Process, Ran, Sandbox, Service, tic_tac_toe, wait_until};

/// Workers say that they live this often, so that the games of a killed one come back soon.
pub(super) const HEARTBEAT: &str = "200ms";

/// The database of a cluster's coordinator.
pub(super) const DB: &str = "c.db";

/// A sweep whose games take about a thousandth of a second, so that what befalls them comes in their midst.
fn sweep(games: u32) -> String {
    tic_tac_toe("sweep", games).replace("alpha-beta", "minimax").replace("[1, 2]", "[4, 5]")
}

/// Games of each cell that the sweep begins with, and grows by.
const GAMES: u32 = 1_000;

/// With fewer games to play than this the sweep grows: a coordinator that dies at its 12th commit plays up to 1,000.
const GAMES_LEFT_MIN: u64 = 1_500;

/// How a coordinator is started.
pub(super) struct Terms<'s> {
    pub(super) db: &'static str,
    pub(super) listen: String,
    pub(super) heartbeat: &'static str,
    /// Puts a command where it is to run.
    pub(super) place: Box<dyn Fn(Command) -> Command + 's>,
}

impl Default for Terms<'_> {
    fn default() -> Self {
        Self {
            db: DB,
            listen: "127.0.0.1:0".to_owned(),
            heartbeat: HEARTBEAT,
            place: Box::new(|command| command),
        }
    }
}

impl Terms<'_> {
    fn command(&self, sandbox: &Sandbox) -> Command {
        let open = ["--without-token", "--without-tls"];
        let listen = ["--listen", &self.listen, "--heartbeat", self.heartbeat];
        let start = [&["coordinator", "--db", self.db], &listen[..], &open[..]].concat();
        let mut command = (self.place)(sandbox.spelrum(&start));
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn coordinator(&self, sandbox: &Sandbox) -> Service {
        sandbox.coordinator_as(&mut self.command(sandbox))
    }
}

pub(super) struct Cluster<'s> {
    pub(super) sandbox: &'s Sandbox,
    pub(super) coordinator: Service,
    terms: Terms<'s>,
    games: u32,
}

impl<'s> Cluster<'s> {
    /// A coordinator with a sweep.
    pub(super) fn start(sandbox: &'s Sandbox) -> Self {
        Self::start_as(sandbox, Terms::default())
    }

    pub(super) fn start_as(sandbox: &'s Sandbox, mut terms: Terms<'s>) -> Self {
        let coordinator = terms.coordinator(sandbox);
        coordinator.address().clone_into(&mut terms.listen);
        let mut cluster = Self { sandbox, coordinator, terms, games: 0 };
        cluster.grow();
        cluster
    }

    pub(super) fn url(&self) -> String {
        self.coordinator.url.clone()
    }

    pub(super) fn address(&self) -> String {
        self.coordinator.address().to_owned()
    }

    /// SIGKILL, and another one at the same address.
    pub(super) fn kill_coordinator(&mut self) {
        self.coordinator.process.kill();
        self.restart();
    }

    /// Another one at the address of one that has ended.
    pub(super) fn restart(&mut self) {
        self.coordinator = self.terms.coordinator(self.sandbox);
    }

    /// SIGKILL, and another one that ends by it at a named point, which it has passed so many times before; that
    /// may be while it starts. And a third.
    #[track_caller]
    pub(super) fn die_at(&mut self, point: &str, passes: u32) {
        self.coordinator.process.kill();
        let mut doomed = self.terms.command(self.sandbox);
        doomed.env("SPELRUM_TEST_KILL_AT", format!("{point} {passes}"));
        let ended = Process(doomed.stdout(Stdio::null()).spawn().unwrap()).wait();
        assert_eq!(ended.signal(), Some(Signal::KILL.as_raw()), "at {point} {passes}: {ended}");
        self.restart();
    }

    fn grow(&mut self) {
        self.games += GAMES;
        self.sandbox.write("sweep.toml", &sweep(self.games));
        let submit = ["submit", "sweep.toml", "--coordinator", &self.url()];
        let submitted = (self.terms.place)(self.sandbox.spelrum(&submit)).output().unwrap();
        Ran(submitted).expect_exit(0);
    }

    /// A worker of this name, which finds the coordinator there.
    pub(super) fn worker(&self, name: &str, url: &str, slots: &str) -> Process {
        self.sandbox.worker(url, slots, &["--name", name])
    }

    /// Lets the sweep grow, if it would be over soon. The coordinator is well.
    pub(super) fn keep_busy(&mut self) {
        let left = "SELECT (SELECT sum(games_planned) FROM cells) - (SELECT count(*) FROM games)";
        if self.number(left) < GAMES_LEFT_MIN {
            self.grow();
        }
    }

    /// Waits until more games are settled than now. The coordinator is well.
    pub(super) fn plays_on(&mut self) {
        self.keep_busy();
        let before = self.sandbox.settled(self.terms.db);
        wait_until("it plays on", || self.sandbox.settled(self.terms.db) > before);
    }

    /// Waits for the end, and judges.
    #[track_caller]
    pub(super) fn assert_ends_well(self) {
        wait_until("the experiment is finished", || {
            self.sandbox.sql(self.terms.db, "SELECT state FROM experiments") == "finished"
        });
        drop(self.coordinator);
        assert_complete(self.sandbox, self.terms.db);
    }

    /// Lets something befall workers that hold games, and waits until those are taken away from them.
    pub(super) fn lose(&mut self, workers: &[&str], befall: impl FnOnce()) {
        wait_until("all have games", || {
            self.keep_busy();
            workers.iter().all(|worker| self.leases(worker) > 0)
        });
        befall();
        wait_until("none has games", || workers.iter().all(|worker| self.leases(worker) == 0));
    }

    /// How many leases the workers of a name hold.
    fn leases(&self, worker: &str) -> u64 {
        self.number(&format!(
            "SELECT count(*) FROM leases JOIN workers USING (worker_id)
             WHERE name = '{worker}' AND ended_by IS NULL"
        ))
    }

    /// Results that were reported twice, and recognised.
    pub(super) fn repeats(&self) -> u64 {
        let repeats = "SELECT count(*) FROM uncounted_games WHERE reason = 'repeat'";
        self.number(repeats)
    }

    /// The one number of a query.
    pub(super) fn number(&self, query: &str) -> u64 {
        self.sandbox.sql(self.terms.db, query).parse().unwrap()
    }
}
