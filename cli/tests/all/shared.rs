//! Several coordinators that share a database on a PostgreSQL server of the tests' own. Who has none skips these tests
//! by name, except in CI.

use std::fs::File;
use std::path::PathBuf;
use std::thread::park_timeout;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use spelrum_test_support::PostgresServer;

use crate::sandbox::{Process, Sandbox, Service, tic_tac_toe, wait_until};

/// Shorter than the 5 s of a release, longer than the second between two signs of life.
const TAKEOVER_AFTER: &str = "3s";

/// Said by a coordinator that owns the database from now on.
const OWNS: &str = "this coordinator owns the database";

/// Said by one that owns it no longer.
const WAITS: &str = "this coordinator waits now";

/// A coordinator of several.
struct Member {
    service: Service,
    log: PathBuf,
}

impl Member {
    fn start(sandbox: &Sandbox, address: &str, name: &str, more: &[&str]) -> Self {
        let copy = format!("{name}.db");
        let usual = ["coordinator", "--db", address, "--copy", &copy, "--heartbeat", "500ms"];
        let mut command = sandbox.spelrum(&[&usual[..], more].concat());
        let log = sandbox.path(&format!("{name}.log"));
        command.stderr(File::create(&log).unwrap());
        Self { service: sandbox.coordinator_as(&mut command), log }
    }

    /// Whether it owns the database, by its log.
    fn owns(&self) -> bool {
        let log = std::fs::read_to_string(&self.log).unwrap();
        log.rfind(OWNS) > log.rfind(WAITS)
    }
}

/// Three coordinators, their server and a worker that has all their addresses.
struct Cluster {
    sandbox: Sandbox,
    server: PostgresServer,
    /// Leads to the server, also to another one in its place.
    address: String,
    members: Vec<Member>,
}

const NAMES: [&str; 3] = ["first", "second", "third"];

impl Cluster {
    #[track_caller]
    fn start(more: &[&str]) -> Option<Self> {
        let server = PostgresServer::start()?;
        let sandbox = Sandbox::new();
        let more = [&["--listen", "127.0.0.1:0"], more].concat();
        let link = sandbox.path("server");
        std::os::unix::fs::symlink(server.socket_directory(), &link).unwrap();
        let address = format!("postgres://spelrum@localhost/postgres?host={}", link.display());
        let members = NAMES.map(|name| Member::start(&sandbox, &address, name, &more)).into();
        Some(Self { sandbox, server, address, members })
    }

    /// Loses the server, and has its synchronous standby take its place.
    fn promote_standby(&mut self) {
        let standby = self.server.standby();
        self.server.wait_for_standby();
        self.server = standby;
        self.server.promote();
        let link = self.sandbox.path("server");
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(self.server.socket_directory(), &link).unwrap();
    }

    /// The only coordinator that owns the database, apart from `gone`.
    fn owner(&self, gone: Option<usize>) -> usize {
        let owner = || {
            park_timeout(Duration::from_millis(20));
            let mut others = (0..self.members.len()).filter(|other| Some(*other) != gone);
            others.find(|other| self.members[*other].owns())
        };
        wait_until("a coordinator owns the database", || owner().is_some());
        owner().unwrap()
    }

    /// Settled games, as this coordinator answers.
    fn settled(&self, asked: usize) -> Option<u64> {
        let url = &self.members[asked].service.url;
        let statement = "SELECT count(*) FROM games";
        let ran = self.sandbox.run(&["sql", "--coordinator", url, "--csv", statement]);
        ran.stdout().lines().nth(1)?.parse().ok()
    }

    /// Waits until more games are settled than now, or all.
    fn wait_for_games(&self, asked: usize, planned: u64) {
        let mut before = None;
        wait_until("the sweep goes on", || {
            park_timeout(Duration::from_millis(20));
            let now = self.settled(asked);
            before = before.or(now);
            now > before || now == Some(planned)
        });
    }

    /// Starts a killed coordinator again, at its address.
    fn restart(&mut self, member: usize, more: &[&str]) {
        let listen = self.members[member].service.address().to_owned();
        let more = [&["--listen", &listen], more].concat();
        self.members[member] = Member::start(&self.sandbox, &self.address, NAMES[member], &more);
    }

    fn worker(&self) -> Process {
        let urls: Vec<&str> = self.members.iter().map(|member| &*member.service.url).collect();
        self.sandbox.worker(&urls.join(","), "2", &[])
    }
}

/// With `SPELRUM_OWNER_KILLS` the patience of a release, and more kills at the end, with another promotion right before each
/// twentieth: docs/reliability.md has figures.
///
/// A kill of the owner, a pause of the next that lasts until another has taken over, a restart of the server, its loss and
/// the promotion of its synchronous standby, another kill: the games are those of an undisturbed run, and what was paused
/// writes nothing more.
#[test]
fn three_coordinators_lose_nothing() {
    let kills = std::env::var("SPELRUM_OWNER_KILLS").ok();
    let hasty = ["--takeover-after", TAKEOVER_AFTER];
    let hasty = if kills.is_some() { &[][..] } else { &hasty };
    let kills: u32 = kills.map_or(1, |kills| kills.parse().unwrap());
    let Some(mut cluster) = Cluster::start(hasty) else { return };
    let games = 4_000 + 500 * (kills - 1);
    let planned = 2 * u64::from(games);
    let sweep = cluster.sandbox.write("sweep.toml", &tic_tac_toe("shared", games));
    let sweep = sweep.to_str().unwrap();
    let undisturbed = Sandbox::new();
    undisturbed.run(&["run", sweep, "--db", "undisturbed.db"]).expect_exit(0);

    let first = cluster.owner(None);
    let standby = (first + 1) % 3;
    let url = cluster.members[standby].service.url.clone();
    cluster.sandbox.run(&["submit", sweep, "--coordinator", &url]).expect_exit(0);
    let _worker = cluster.worker();
    cluster.wait_for_games(standby, planned);

    cluster.members[first].service.process.kill();
    let second = cluster.owner(Some(first));
    cluster.wait_for_games(second, planned);
    cluster.restart(first, hasty);
    wait_until("the restarted one passes connections on", || cluster.settled(first).is_some());

    // It believes that it owns the database until it sees the server again.
    cluster.members[second].service.process.signal(Signal::STOP);
    let third = cluster.owner(Some(second));
    cluster.wait_for_games(third, planned);
    cluster.members[second].service.process.signal(Signal::CONT);
    wait_until("the paused one waits", || !cluster.members[second].owns());
    wait_until("it passes connections on", || cluster.settled(second).is_some());

    cluster.server.stop();
    cluster.server.start_again();
    cluster.wait_for_games(second, planned);

    cluster.promote_standby();
    cluster.wait_for_games(second, planned);

    let (mut owner, mut silences) = (cluster.owner(None), Vec::new());
    let mut last = owner;
    for killed in 1..=kills {
        if killed % 20 == 0 {
            cluster.promote_standby();
        }
        cluster.members[owner].service.process.kill();
        let started = Instant::now();
        last = cluster.owner(Some(owner));
        cluster.wait_for_games(last, planned);
        silences.push(started.elapsed());
        if killed < kills && cluster.settled(last).is_some_and(|settled| settled < planned - 500) {
            cluster.restart(owner, hasty);
            owner = last;
        } else {
            break;
        }
    }
    silences.sort_unstable();
    let percentile = silences[(silences.len() * 99).div_ceil(100) - 1];
    println!(
        "{} kills of an owner, {} promotions; games came again within {percentile:.1?} in 99%; {} of {planned} games then",
        silences.len(),
        1 + silences.len() / 20,
        cluster.settled(last).unwrap_or_default()
    );
    cluster.sandbox.wait_until_finished(&cluster.members[last].service);

    let address = cluster.address.clone();
    cluster.sandbox.run(&["backup", "all.db", "--db", &address]).expect_exit(0);
    cluster.sandbox.run(&["check", "all.db"]).expect_exit(0);
    let games = undisturbed.all_games("undisturbed.db");
    assert!(cluster.sandbox.all_games("all.db") == games, "the games differ");
    // The copies become the same.
    for name in NAMES.into_iter().filter(|name| *name != NAMES[owner]) {
        let copy = format!("{name}.db");
        wait_until("the copy has all games", || cluster.sandbox.all_games(&copy) == games);
    }
}

/// Nobody takes over from an owner that is silent: only a release can hand over.
#[test]
fn an_owner_that_ends_hands_over_at_once_and_a_copy_has_one_coordinator() {
    let Some(mut cluster) = Cluster::start(&["--takeover-after", "3600s"]) else { return };
    let first = cluster.owner(None);
    let address = cluster.address.clone();
    let copy = format!("{}.db", NAMES[first]);
    let listen = ["--listen", "127.0.0.1:0"];
    let ran = cluster
        .sandbox
        .run(&[&["coordinator", "--db", &address, "--copy", &copy][..], &listen].concat());
    ran.expect_exit(6);
    assert!(ran.stderr().contains("name another file with --copy"), "{}", ran.stderr());

    cluster.members[first].service.process.signal(Signal::TERM);
    let second = cluster.owner(Some(first));
    assert!(cluster.members[first].service.process.wait().success());
    assert_eq!(cluster.settled(second), Some(0));
}

#[test]
fn a_file_goes_to_a_server_and_back() {
    let Some(server) = PostgresServer::start() else { return };
    let (sandbox, address) = (Sandbox::new(), server.address());
    sandbox.run(&["backup", "none.db", "--db", &address]).expect_exit(4);
    sandbox.write("sweep.toml", &tic_tac_toe("shared", 40));
    sandbox.run(&["run", "sweep.toml", "--db", "file.db"]).expect_exit(0);
    let shared = sandbox.run(&["share", "file.db", &address]);
    shared.expect_exit(0);
    let again = sandbox.run(&["share", "file.db", &address]);
    assert!(again.expect_exit(3).stderr().contains("the server has a shared database already"));
    sandbox.run(&["backup", "back.db", "--db", &address]).expect_exit(0);
    let exists = sandbox.run(&["backup", "back.db", "--db", &address]);
    assert!(exists.expect_exit(3).stderr().contains("nothing is ever written over"));
    assert!(sandbox.all_games("back.db") == sandbox.all_games("file.db"));
    let report = |db: &str| {
        let ran = sandbox.run(&["report", "--db", db, "--json"]);
        ran.expect_exit(0);
        ran.stdout().to_owned()
    };
    assert_eq!(report("back.db"), report("file.db"));

    // A coordinator goes on with it, and its games come back as well.
    sandbox.write("more.toml", &tic_tac_toe("shared", 60));
    let member = Member::start(&sandbox, &address, "member", &["--listen", "127.0.0.1:0"]);
    sandbox.run(&["submit", "more.toml", "--coordinator", &member.service.url]).expect_exit(0);
    let _worker = sandbox.worker(&member.service.url, "2", &[]);
    sandbox.wait_until_finished(&member.service);
    sandbox.run(&["backup", "more.db", "--db", &address]).expect_exit(0);
    sandbox.run(&["run", "more.toml", "--db", "file.db"]).expect_exit(0);
    assert!(sandbox.all_games("more.db") == sandbox.all_games("file.db"));
}

#[test]
fn an_address_is_refused_where_a_file_is_needed() {
    let sandbox = Sandbox::new();
    let address = "postgres://ada:secret@127.0.0.1:1/results";
    for command in [
        &["report", "--db", address][..],
        &["run", "sweep.toml", "--db", address],
        &["check", address],
        &["games", "--db", address],
        &["backup", address, "--db", "results.db"],
        &["share", address, address],
    ] {
        let ran = sandbox.run(command);
        let stderr = ran.expect_exit(2).stderr();
        let expected = format!("`spelrum {}` needs a file there", command[0]);
        assert!(stderr.contains(&expected) && stderr.contains("spelrum backup FILE"), "{stderr}");
        assert!(!stderr.contains("secret"), "{stderr}");
    }
    for (more, expected) in [
        (&["--db", "results.db", "--copy", "copy.db"][..], "--copy is for a database that"),
        (&["--db", "results.db", "--advertise", "lab:7878"], "--advertise is for a database that"),
        (&["--db", address, "--accept-loss"], "--accept-loss is for a file"),
        (&["--db", "postgres://ada:secret@lab:port/results"], "write postgres://user@host"),
        (&["--db", address, "--advertise", "http://lab:7878"], "write a host and a port"),
        (&["--db", address, "--advertise", "0.0.0.0:7878"], "cannot connect to it"),
        (&["--db", address, "--advertise", "2001:db8::1:7878"], "an IPv6 address needs brackets"),
        // Other machines reach it through the coordinators there.
        (&["--db", address, "--advertise", "lab:7878"], "no token is required"),
        (&["--db", "postgres://ada:secret@lab.invalid/results"], "--advertise HOST:PORT"),
    ] {
        let listen = ["coordinator", "--listen", "127.0.0.1:0"];
        let ran = sandbox.run(&[&listen[..], more].concat());
        let stderr = ran.expect_exit(2).stderr();
        assert!(stderr.contains(expected) && !stderr.contains("secret"), "{stderr}");
    }
    let ran = sandbox.run(&["coordinator", "--db", address, "--listen", "127.0.0.1:0"]);
    let stderr = ran.expect_exit(4).stderr();
    assert!(stderr.contains("127.0.0.1:1") && !stderr.contains("secret"), "{stderr}");
    let everywhere = ["--listen", "0.0.0.0:0", "--without-token", "--without-tls"];
    let ran = sandbox.run(&[&["coordinator", "--db", address][..], &everywhere].concat());
    assert!(ran.expect_exit(2).stderr().contains("--advertise HOST:PORT"), "{}", ran.stderr());
}
