//! A coordinator that is started again and again at one address, with a sweep that does not end before it may.

use super::judge::assert_complete;
use crate::sandbox::{Sandbox, Service, tic_tac_toe, wait_until};

/// Workers say that they live this often, so that the games of a killed one come back soon.
pub(super) const HEARTBEAT: &str = "200ms";

/// The database of a cluster's coordinator.
pub(super) const DB: &str = "c.db";

/// Games of each cell that the sweep begins with, and grows by.
const GAMES: u32 = 1_000;

/// With fewer games to play than this the sweep grows.
const GAMES_LEFT_MIN: u64 = 1_000;

pub(super) struct Cluster<'s> {
    pub(super) sandbox: &'s Sandbox,
    pub(super) coordinator: Service,
    db: &'static str,
    games: u32,
}

impl<'s> Cluster<'s> {
    /// A coordinator with a sweep.
    pub(super) fn start(sandbox: &'s Sandbox) -> Self {
        Self::start_with(sandbox, DB)
    }

    /// The same with this database.
    pub(super) fn start_with(sandbox: &'s Sandbox, db: &'static str) -> Self {
        let coordinator = sandbox.coordinator_with(db, "127.0.0.1:0", HEARTBEAT);
        let mut cluster = Self { sandbox, coordinator, db, games: 0 };
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
        let address = self.address();
        self.coordinator = self.sandbox.coordinator_with(self.db, &address, HEARTBEAT);
    }

    fn grow(&mut self) {
        self.games += GAMES;
        self.sandbox.write("sweep.toml", &tic_tac_toe("sweep", self.games));
        let submit = ["submit", "sweep.toml", "--coordinator", &self.url()];
        self.sandbox.run(&submit).expect_exit(0);
    }

    /// Lets the sweep grow, if it would be over soon.
    pub(super) fn keep_busy(&mut self) {
        let left = "SELECT (SELECT sum(games_planned) FROM cells) - (SELECT count(*) FROM games)";
        if self.number(left) < GAMES_LEFT_MIN {
            self.grow();
        }
    }

    /// Waits until more games are settled than now.
    pub(super) fn plays_on(&self) {
        let before = self.sandbox.settled(self.db);
        wait_until("it plays on", || self.sandbox.settled(self.db) > before);
    }

    /// Waits for the end, and judges.
    #[track_caller]
    pub(super) fn assert_ends_well(self) {
        self.sandbox.wait_until_finished(&self.coordinator);
        drop(self.coordinator);
        assert_complete(self.sandbox, self.db);
    }

    /// Results that were reported twice, and recognised.
    pub(super) fn repeats(&self) -> u64 {
        let repeats = "SELECT count(*) FROM uncounted_games WHERE reason = 'repeat'";
        self.number(repeats)
    }

    /// The one number of a query.
    pub(super) fn number(&self, query: &str) -> u64 {
        self.sandbox.sql(self.db, query).parse().unwrap()
    }
}
