//! The units of systemd: what their services may, and what they start. `.ci/run` has systemd read them.

use super::files::text;
use super::launch::{Launch, assert_plays, certificate, get, token};
use crate::sandbox::Sandbox;

/// What a service goes without, whatever becomes of it.
const HARDENED: [&str; 24] = [
    "CapabilityBoundingSet=",
    "DynamicUser=yes",
    "LockPersonality=yes",
    "NoNewPrivileges=yes",
    "PrivateDevices=yes",
    "PrivateTmp=yes",
    "PrivateUsers=yes",
    "ProtectClock=yes",
    "ProtectControlGroups=yes",
    "ProtectHome=yes",
    "ProtectHostname=yes",
    "ProtectKernelLogs=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelTunables=yes",
    "ProtectProc=invisible",
    "ProtectSystem=strict",
    "RemoveIPC=yes",
    "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
    "RestrictNamespaces=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "SystemCallArchitectures=native",
    "SystemCallFilter=@system-service",
    "UMask=0077",
];

fn unit(name: &str) -> String {
    text(&format!("systemd/spelrum-{name}.service"))
}

/// The values of a setting, in order.
fn values<'a>(unit: &'a str, setting: &str) -> Vec<&'a str> {
    let value = |line: &'a str| line.strip_prefix(setting)?.strip_prefix('=');
    unit.lines().filter_map(value).collect()
}

/// What it starts, without systemd's own syntax.
fn launch(unit: &str) -> Launch {
    let [command] = values(unit, "ExecStart")[..] else { panic!("it starts one program") };
    let command = command.strip_prefix("/usr/local/bin/spelrum ").unwrap();
    let arguments = command.split(' ').map(str::to_owned).collect();
    let mut launch = Launch { arguments, environment: Vec::new() };
    for variable in values(unit, "Environment") {
        let (name, value) = variable.split_once('=').unwrap();
        launch = launch.with(&[(&format!("${{{name}}}"), value)]);
    }
    launch
}

#[test]
fn services_have_no_rights() {
    for name in ["coordinator", "worker"] {
        let unit = unit(name);
        for line in HARDENED {
            assert_eq!(
                unit.lines().filter(|candidate| *candidate == line).count(),
                1,
                "{name}: {line}"
            );
        }
        // A later line would take an earlier one back or add to it.
        for setting in ["CapabilityBoundingSet", "SystemCallFilter", "RestrictAddressFamilies"] {
            assert_eq!(values(&unit, setting).len(), 1, "{name}: {setting}");
        }
        for setting in ["AmbientCapabilities", "User", "ReadWritePaths", "BindPaths"] {
            assert_eq!(values(&unit, setting), [""; 0], "{name}: {setting}");
        }
    }
    assert_eq!(values(&unit("coordinator"), "MemoryDenyWriteExecute"), ["yes"]);
}

/// As it is installed on a coordinator's machine, and begins: for this machine alone.
#[test]
fn a_coordinator_begins_on_loopback() {
    let sandbox = Sandbox::new();
    let coordinator = launch(&unit("coordinator"))
        .with(&[("/var/lib/spelrum/", ""), ("127.0.0.1:7878", "127.0.0.1:0")]);
    let coordinator = sandbox.coordinator_as(&mut coordinator.command(&sandbox));
    assert!(coordinator.url.starts_with("http://127.0.0.1:"), "{}", coordinator.url);
    sandbox.run(&["list", "--coordinator", &coordinator.url]).expect_exit(0);
}

/// What starts one of several coordinators takes the place of what starts the one with a file.
#[test]
fn a_coordinator_of_several_is_started_in_place_of_the_one() {
    let shared = text("systemd/spelrum-coordinator.service.d/shared.conf");
    let [reset, command] = values(&shared, "ExecStart")[..] else { panic!("it has two lines") };
    assert_eq!(reset, "");
    let command = command.strip_prefix("/usr/local/bin/spelrum ").unwrap();
    let state = values(&unit("coordinator"), "StateDirectory").concat();
    assert!(command.contains(&format!(" --copy /var/lib/{state}/")), "{command}");
    let help = Sandbox::new().run(&["coordinator", "--help"]);
    let help = help.expect_exit(0).stdout();
    for flag in command.split(' ').filter(|word| word.starts_with("--")) {
        assert!(help.contains(flag), "there is no {flag}");
    }
    let readme = text("README.md");
    let variables = command.split("${").skip(1).map(|rest| rest.split('}').next().unwrap());
    for variable in variables.filter(|variable| *variable != "SPELRUM_LISTEN") {
        assert!(readme.contains(&format!("\n{variable}=")), "the README does not set {variable}");
    }
}

/// With what the README adds for a network.
#[test]
fn the_units_services_come_up_and_play() {
    let sandbox = Sandbox::new();
    let (work, submit) = (token(&sandbox, "work"), token(&sandbox, "submit"));
    certificate(&sandbox, "results.example.org");
    let coordinator = unit("coordinator");
    assert_eq!(values(&coordinator, "StateDirectory"), ["spelrum"]);
    let network = text("systemd/spelrum-coordinator.service.d/network.conf");
    let credential = values(&network, "LoadCredential");
    assert_eq!(credential, ["coordinator.key:/etc/spelrum/coordinator.key"]);
    // The later one counts.
    let [listen] = values(&coordinator, "Environment")[..] else { panic!("it has one variable") };
    let added = values(&network, "Environment");
    let (own, other) = (listen.split_once('=').unwrap(), added[0].split_once('=').unwrap());
    assert_eq!((own, other.0), (("SPELRUM_LISTEN", "127.0.0.1:7878"), "SPELRUM_LISTEN"));
    let mut coordinator = launch(&coordinator).with(&[("/var/lib/spelrum/", ""), (own.1, other.1)]);
    for variable in &added[1..] {
        let (name, value) = variable.split_once('=').unwrap();
        coordinator.environment.push((name.to_owned(), value.to_owned()));
    }
    let coordinator = coordinator.with(&[
        ("0.0.0.0:7878", "0.0.0.0:0"),
        ("/etc/spelrum/", ""),
        // The directory of the service's credentials.
        ("%d/", ""),
    ]);
    let coordinator = sandbox.coordinator_as(&mut coordinator.command(&sandbox));
    assert!(get(&sandbox, &coordinator, "/healthz").starts_with("HTTP/1.1 200 "));

    let mut worker = launch(&unit("worker"));
    assert_plays(&sandbox, coordinator, &submit, |url| {
        for (name, value) in
            [("SPELRUM_COORDINATOR", url), ("SPELRUM_CA", "ca.pem"), ("SPELRUM_TOKEN", &work)]
        {
            worker.environment.push((name.to_owned(), value.to_owned()));
        }
        worker.command(&sandbox)
    });
}
