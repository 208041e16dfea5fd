//! A coordinator and workers on hosts of their own: network namespaces, joined by a switch in another one, so that
//! nothing of this machine's own network is touched.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use spelrum_test_support::{Tools, skip};

use super::cluster::{Cluster, Terms};
use super::kills;
use crate::sandbox::{Process, Sandbox, wait_until};

/// Tells the networks of one process apart.
static NETWORKS: AtomicU32 = AtomicU32::new(0);

/// A line that is far too small; the rate follows.
const SLOW_LINE: &[&str] = &["tbf", "burst", "4kb", "latency", "300ms", "rate"];

/// A line that loses a packet in ten.
const LOSSY: &[&str] =
    &["INPUT", "-m", "statistic", "--mode", "random", "--probability", "0.1", "-j", "DROP"];

/// Hosts that reach each other, and nobody else.
struct Network {
    tools: Tools,
    /// The beginning of its namespaces' names.
    name: String,
    hosts: usize,
}

impl Network {
    /// `None`, and the test is skipped, if this machine lets the test have none.
    fn new(hosts: usize) -> Option<Self> {
        let tools = Tools::find(&["cat", "ip", "iptables", "nsenter", "tc"])?;
        let number = NETWORKS.fetch_add(1, Ordering::Relaxed);
        let name = format!("spelrum-{}-{number}", std::process::id());
        let network = Self { tools, name, hosts };
        if let Err(why) = network.try_all() {
            skip(format!(
                "it needs network namespaces, with a bridge, a slow line and a firewall: {why}"
            ));
            return None;
        }
        let switch = network.namespace(0);
        let ip = |arguments: &[&str]| network.run("ip", arguments);
        ip(&["-n", &switch, "link", "add", "switch", "type", "bridge"]);
        ip(&["-n", &switch, "link", "set", "switch", "up"]);
        for host in 1..=hosts {
            let namespace = network.namespace(host);
            let port = port(host);
            ip(&["netns", "add", &namespace]);
            let peer = ["peer", "name", "eth0", "netns", &namespace];
            let link = ["-n", &switch, "link", "add", &port, "type", "veth"];
            ip(&[&link[..], &peer].concat());
            ip(&["-n", &switch, "link", "set", &port, "master", "switch", "up"]);
            let address = format!("{}/24", address(host));
            ip(&["-n", &namespace, "address", "add", &address, "dev", "eth0"]);
            ip(&["-n", &namespace, "link", "set", "eth0", "up"]);
            ip(&["-n", &namespace, "link", "set", "lo", "up"]);
        }
        Some(network)
    }

    /// Whether everything that a test does with a network works here: in the switch's namespace, which is left with
    /// nothing in it. Says what does not, and why.
    fn try_all(&self) -> Result<(), String> {
        let switch = self.namespace(0);
        self.try_run("ip", &["netns", "add", &switch])?;
        self.try_run("ip", &["-n", &switch, "link", "add", "trial", "type", "bridge"])?;
        self.try_run("ip", &["-n", &switch, "link", "delete", "trial"])?;
        self.try_run("ip", &["-n", &switch, "link", "add", "trial", "type", "veth"])?;
        let slow =
            [&["-n", &*switch, "qdisc", "replace", "dev", "trial", "root"], SLOW_LINE].concat();
        self.try_run("tc", &[&slow[..], &["64kbit"]].concat())?;
        self.try_run("ip", &["-n", &switch, "link", "delete", "trial"])?;
        for rule in [LOSSY, &["INPUT", "-p", "tcp", "--dport", "1", "-j", "DROP"]] {
            for change in ["-A", "-D"] {
                succeeded(self.firewall(0).arg(change).args(rule))?;
            }
        }
        Ok(())
    }

    fn try_run(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        succeeded(self.tools.command(program).args(arguments))
    }

    #[track_caller]
    fn run(&self, program: &str, arguments: &[&str]) {
        self.try_run(program, arguments).unwrap();
    }

    /// That of a host, from 1 on; 0 is the switch.
    fn namespace(&self, host: usize) -> String {
        format!("{}-{host}", self.name)
    }

    /// Runs what follows on a host, in its own process. Not by `ip netns exec`, which takes all mounts along: a disk
    /// that another test unmounts meanwhile would stay mounted there.
    fn enter(&self, host: usize) -> Command {
        let mut enter = self.tools.command("nsenter");
        enter.arg(format!("--net=/run/netns/{}", self.namespace(host)));
        enter
    }

    /// A command on a host.
    fn on(&self, host: usize, command: &Command) -> Command {
        let mut on = self.enter(host);
        on.arg(command.get_program()).args(command.get_args());
        if let Some(directory) = command.get_current_dir() {
            on.current_dir(directory);
        }
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => on.env(name, value),
                None => on.env_remove(name),
            };
        }
        on
    }

    /// Pulls a host's cable, or puts it back.
    fn set_link(&self, host: usize, state: &str) {
        self.run("ip", &["-n", &self.namespace(0), "link", "set", &port(host), state]);
    }

    /// Lets pass no more than so much to a host, as through a line that is far too small.
    fn slow_down(&self, host: usize, rate: &str) {
        let port = port(host);
        let namespace = self.namespace(0);
        let begin = ["-n", &namespace, "qdisc", "replace", "dev", &port, "root"];
        self.run("tc", &[&begin[..], SLOW_LINE, &[rate]].concat());
    }

    fn speed_up(&self, host: usize) {
        self.run("tc", &["-n", &self.namespace(0), "qdisc", "del", "dev", &port(host), "root"]);
    }

    /// A host's own firewall, to be told a rule.
    fn firewall(&self, host: usize) -> Command {
        let mut firewall = self.enter(host);
        firewall.args(["iptables", "-w"]);
        firewall
    }

    #[track_caller]
    fn filter(&self, host: usize, rule: &[&str]) {
        succeeded(self.firewall(host).args(rule)).unwrap();
    }

    /// Lets packets of the connections that a host has now vanish, from the coordinator only.
    fn swallow(&self, host: usize) {
        let list = self.enter(host).args(["cat", "/proc/net/tcp"]).output().unwrap();
        let list = String::from_utf8(list.stdout).unwrap();
        // Established connections have the state 1; the port is in hexadecimal.
        let ports = list.lines().skip(1).filter_map(|line| {
            let mut words = line.split_whitespace();
            let (local, state) = (words.nth(1)?, words.nth(1)?);
            let port = local.split_once(':')?.1;
            (state == "01").then(|| u16::from_str_radix(port, 16).unwrap().to_string())
        });
        let ports: Vec<String> = ports.collect();
        assert!(!ports.is_empty(), "it has no connection: {list}");
        for port in ports {
            self.filter(host, &["-A", "INPUT", "-p", "tcp", "--dport", &port, "-j", "DROP"]);
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for host in 0..=self.hosts {
            let _gone = self.try_run("ip", &["netns", "delete", &self.namespace(host)]);
        }
    }
}

/// The switch's end of a host's cable.
fn port(host: usize) -> String {
    format!("port{host}")
}

fn address(host: usize) -> String {
    format!("10.77.0.{host}")
}

/// What a command that failed was, and printed.
fn succeeded(command: &mut Command) -> Result<(), String> {
    let ran = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = String::from_utf8_lossy(&ran.stderr);
    if ran.status.success() { Ok(()) } else { Err(format!("{command:?}: {}", said.trim_end())) }
}

/// Where the coordinator is, and where a worker of each name.
const COORDINATOR: usize = 1;
const WORKERS: [(usize, &str); 3] = [(2, "ada"), (3, "bob"), (4, "eve")];

fn worker(sandbox: &Sandbox, network: &Network, (host, name): (usize, &str), url: &str) -> Process {
    let work = ["worker", "--coordinator", url, "--slots", "1", "--name", name];
    let mut command = network.on(host, &sandbox.spelrum(&work));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Process(command.spawn().unwrap())
}

/// Waits until more games of each worker are there than now.
fn play_on(cluster: &mut Cluster<'_>, workers: &[&str]) {
    for worker in workers {
        let games = format!(
            "SELECT count(*) FROM games JOIN workers USING (worker_id) WHERE name = '{worker}'"
        );
        let before = cluster.number(&games);
        wait_until("a worker plays on", || {
            cluster.keep_busy();
            cluster.number(&games) > before
        });
    }
}

#[test]
fn hosts_that_are_cut_off_slow_or_lossy_change_nothing() {
    let Some(network) = Network::new(4) else { return };
    let sandbox = Sandbox::new();
    let terms = Terms {
        listen: format!("{}:0", address(COORDINATOR)),
        place: Box::new(|command| network.on(COORDINATOR, &command)),
        ..Terms::default()
    };
    let mut cluster = Cluster::start_as(&sandbox, terms);
    let url = cluster.url();
    let _workers = WORKERS.map(|index| worker(&sandbox, &network, index, &url));
    play_on(&mut cluster, &["ada", "bob", "eve"]);
    // Of the connections that it has, nothing comes back any more. It notices that by itself, some time later.
    cluster.lose(&["ada"], || network.swallow(2));
    for _ in 0..kills().div_ceil(10) {
        for (host, away) in
            [(COORDINATOR, &["bob", "eve"][..]), (3, &["bob"]), (4, &["eve"]), (COORDINATOR, &[])]
        {
            cluster.lose(away, || network.set_link(host, "down"));
            network.set_link(host, "up");
            play_on(&mut cluster, &["bob", "eve"]);
        }
        network.slow_down(3, "64kbit");
        network.slow_down(COORDINATOR, "256kbit");
        network.filter(4, &[&["-A"], LOSSY].concat());
        play_on(&mut cluster, &["bob", "eve"]);
        cluster.kill_coordinator();
        play_on(&mut cluster, &["bob", "eve"]);
        network.filter(4, &[&["-D"], LOSSY].concat());
        network.speed_up(3);
        network.speed_up(COORDINATOR);
    }
    play_on(&mut cluster, &["ada"]);
    cluster.assert_ends_well();
}
