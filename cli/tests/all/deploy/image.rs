//! The image: what is in it, and the static binary run in it where the system lets somebody be locked in.

#![expect(clippy::print_stderr, reason = "a test that locks nobody in says so")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use spelrum_test_support::{Tools, skip};

use super::files::{USER, path, text};
use super::launch::{assert_plays, certificate, get, token};
use crate::sandbox::{Ran, Sandbox};

/// What packs the image, as `deploy/container/rootfs` says, and unpacks it.
fn tools() -> Option<Tools> {
    Tools::find(&[
        "bash", "chroot", "dirname", "grep", "install", "mkdir", "mktemp", "readelf", "realpath",
        "rm", "tar", "unshare",
    ])
}

/// The script that packs the files of the image.
fn pack(tools: Tools, binary: &Path, archive: &Path) -> Ran {
    let mut command = tools.command("bash");
    // Whatever the mask of whoever runs it.
    command.arg("-c").arg("umask 077; exec \"$@\"").arg("-");
    Ran(command.arg(path("container/rootfs")).arg(binary).arg(archive).output().unwrap())
}

fn tar(tools: Tools, arguments: &[&str], archive: &Path) -> String {
    let ran =
        Ran(tools.command("tar").args(arguments).arg("--file").arg(archive).output().unwrap());
    ran.expect_exit(0);
    ran.stdout().to_owned()
}

/// A binary that was built for the image: `.ci/run` has one.
fn static_binary() -> Option<PathBuf> {
    if let Some(binary) = std::env::var_os("SPELRUM_STATIC_BINARY") {
        return Some(PathBuf::from(binary));
    }
    skip("it needs SPELRUM_STATIC_BINARY, as deploy/container/README.md builds it");
    None
}

/// Two files: whoever gets in finds no shell, and there is nothing to keep up to date.
#[test]
fn the_image_has_the_binary_and_nothing_else() {
    let (Some(tools), Some(binary)) = (tools(), static_binary()) else { return };
    let sandbox = Sandbox::new();
    let archive = sandbox.path("image/rootfs.tar");
    pack(tools, &binary, &archive).expect_exit(0);
    let listed = tar(tools, &["--list", "--verbose", "--numeric-owner"], &archive);
    let modes_owners_and_names = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        [words[0], words[1], words[words.len() - 1]].join(" ")
    };
    let listed: Vec<String> = listed.lines().map(modes_owners_and_names).collect();
    let expected = [
        "drwxr-xr-x 0/0 etc/",
        "-rw-r--r-- 0/0 etc/passwd",
        "-rwxr-xr-x 0/0 spelrum",
        &format!("drwxr-xr-x {USER}/{USER} data/"),
    ];
    assert_eq!(listed, expected);
    let root = sandbox.path("rootfs");
    fs::create_dir(&root).unwrap();
    tar(tools, &["--extract", "--directory", root.to_str().unwrap()], &archive);
    let passwd = fs::read_to_string(root.join("etc/passwd")).unwrap();
    assert_eq!(passwd, format!("spelrum:x:{USER}:{USER}:Spelrum:/data:/spelrum\n"));
    assert!(fs::read(root.join("spelrum")).unwrap() == fs::read(&binary).unwrap());
    // The same again is the same image, and nothing is written over what is there.
    let again = sandbox.path("again.tar");
    pack(tools, &binary, &again).expect_exit(0);
    assert!(fs::read(&again).unwrap() == fs::read(&archive).unwrap());
    pack(tools, &binary, &again).expect_exit(1);
}

#[test]
fn what_would_not_start_in_the_image_is_refused() {
    let Some(tools) = tools() else { return };
    let sandbox = Sandbox::new();
    let archive = sandbox.path("rootfs.tar");
    let dynamic = pack(tools, Path::new(env!("CARGO_BIN_EXE_spelrum")), &archive);
    dynamic.expect_exit(1);
    let said = dynamic.stderr();
    assert!(said.contains("needs the libraries of this machine"), "{said}");
    for wrong in [sandbox.write("text", "#!/bin/sh\n"), sandbox.path("absent"), sandbox.path("")] {
        let refused = pack(tools, &wrong, &archive);
        refused.expect_exit(1);
        assert!(refused.stderr().contains("is not a program"), "{}", refused.stderr());
    }
    assert!(!archive.exists());
}

#[test]
fn the_containerfile_adds_no_rights_and_no_other_files() {
    let text = text("container/Containerfile");
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    let expected = [
        "FROM scratch",
        "ADD rootfs.tar /",
        "USER 65532:65532",
        "ENV HOME=/data TMPDIR=/data",
        "WORKDIR /data",
        "VOLUME /data",
        "EXPOSE 7878",
        "STOPSIGNAL SIGTERM",
        "ENTRYPOINT [\"/spelrum\"]",
        "CMD [\"--help\"]",
    ];
    assert_eq!(lines, expected);
    assert_eq!(USER, 65_532);
}

/// How a process has the image for its root.
#[derive(Clone, Copy)]
enum Locked {
    /// As the image's own user, to whom all but its volume is read-only.
    AsUser,
    /// As whoever runs the test, in a namespace of users.
    AsSelf,
    /// Not at all: neither is allowed here.
    Not,
}

impl Locked {
    fn tried(tools: Tools, root: &Path) -> Self {
        let runs = |locked: &Self| {
            let output = locked.command(tools, root, &["--version"]).output();
            output.is_ok_and(|output| output.status.success())
        };
        [Self::AsUser, Self::AsSelf].into_iter().find(runs).unwrap_or_else(|| {
            eprintln!("not locked in: neither chroot nor namespaces of users are allowed here");
            Self::Not
        })
    }

    fn command(self, tools: Tools, root: &Path, arguments: &[&str]) -> Command {
        let mut command = match self {
            Self::AsUser => {
                let mut command = tools.command("chroot");
                command.arg(format!("--userspec={USER}:{USER}")).arg(root).arg("/spelrum");
                command
            }
            Self::AsSelf => {
                let mut command = tools.command("unshare");
                command.args(["--user", "--map-root-user", "--root"]).arg(root).arg("/spelrum");
                command
            }
            Self::Not => Command::new(root.join("spelrum")),
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.args(arguments).env_clear().env("PATH", path);
        command.env("HOME", self.data(root)).env("TMPDIR", self.data(root));
        command
    }

    /// Where the volume is for the process.
    fn data(self, root: &Path) -> String {
        match self {
            Self::AsUser | Self::AsSelf => "/data".to_owned(),
            Self::Not => root.join("data").display().to_string(),
        }
    }
}

/// Coordinator and worker, alone in the image, play the games that any other build plays. A query that sorts more
/// than it may have in memory finds room beside the database.
#[test]
fn the_static_binary_plays_the_same_games_in_the_image() {
    let (Some(tools), Some(binary)) = (tools(), static_binary()) else { return };
    let sandbox = Sandbox::new();
    let (root, archive) = (sandbox.path("rootfs"), sandbox.path("rootfs.tar"));
    pack(tools, &binary, &archive).expect_exit(0);
    fs::create_dir(&root).unwrap();
    let owners = ["--same-permissions", "--numeric-owner"];
    tar(
        tools,
        &[&owners[..], &["--extract", "--directory", root.to_str().unwrap()]].concat(),
        &archive,
    );
    let data = root.join("data");
    let (work, submit) = (token(&sandbox, "work"), token(&sandbox, "submit"));
    certificate(&sandbox, "coordinator");
    for file in ["tokens.toml", "coordinator.pem", "coordinator.key", "ca.pem"] {
        fs::copy(sandbox.path(file), data.join(file)).unwrap();
        fs::set_permissions(data.join(file), fs::Permissions::from_mode(0o644)).unwrap();
    }

    let locked = Locked::tried(tools, &root);
    let inside = locked.data(&root);
    let [db, tokens, pem, key, ca] =
        ["results.db", "tokens.toml", "coordinator.pem", "coordinator.key", "ca.pem"]
            .map(|file| format!("{inside}/{file}"));
    let listen = ["coordinator", "--db", &db, "--listen", "127.0.0.1:0", "--tokens", &tokens];
    let arguments = [&listen[..], &["--tls-cert", &pem, "--tls-key", &key]].concat();
    let coordinator = sandbox.coordinator_as(&mut locked.command(tools, &root, &arguments));
    assert!(get(&sandbox, &coordinator, "/healthz").starts_with("HTTP/1.1 200 "));
    let sorting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
        SELECT count(*) AS n FROM (SELECT i FROM n ORDER BY hex(i * 7919 % 100003) LIMIT 150000)";
    let mut sort = sandbox.spelrum(&["sql", "--coordinator", &coordinator.url, "--csv", sorting]);
    sort.env("SPELRUM_TOKEN", submit.trim()).env("SPELRUM_CA", "ca.pem");
    let sorted = Ran(sort.output().unwrap());
    sorted.expect_exit(0);
    assert_eq!(sorted.stdout().lines().collect::<Vec<_>>(), ["n", "150000"]);
    assert_plays(&sandbox, coordinator, &submit, |url| {
        let mut worker =
            locked.command(tools, &root, &["worker", "--coordinator", url, "--slots", "1"]);
        worker.env("SPELRUM_TOKEN", work.trim()).env("SPELRUM_CA", &ca);
        worker
    });

    sandbox.run(&["run", "sweep.toml", "--db", "here.db"]).expect_exit(0);
    let image = data.join("results.db");
    let same = sandbox.all_games(image.to_str().unwrap());
    assert_eq!(same, sandbox.all_games("here.db"));
    assert!(same.lines().count() > 20);
}
