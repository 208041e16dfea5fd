//! A machine that gives too little: of threads, memory, open files, room for what is written. Each is named, with what
//! to do about it, and nothing waits for ever.

use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use spelrum_test_support::Tools;

use crate::disk::SmallDisk;
use crate::external_engines;
use crate::sandbox::{Process, Ran, Sandbox, tic_tac_toe};

/// What a shell starts the program with, below the limits of `ulimit`.
fn limited(tools: Tools, limits: &str, free: &Command) -> Ran {
    let mut command = tools.command("bash");
    command
        .args(["-c", &format!("{limits} && exec \"$@\""), "bash"])
        .arg(free.get_program())
        .args(free.get_args())
        .current_dir(free.get_current_dir().unwrap())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (name, value) in free.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    // One that waits for ever fails, and does not hang.
    let mut process = Process(command.spawn().unwrap());
    let (stdout, stderr) = (process.0.stdout.take().unwrap(), process.0.stderr.take().unwrap());
    let read = |mut pipe: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            pipe.read_to_end(&mut bytes).unwrap();
            bytes
        })
    };
    let (stdout, stderr) = (read(Box::new(stdout)), read(Box::new(stderr)));
    let status = process.wait();
    let [stdout, stderr] = [stdout, stderr].map(|reading| reading.join().unwrap());
    Ran(std::process::Output { status, stdout, stderr })
}

#[test]
fn too_few_open_files_are_told_with_how_to_have_more() {
    let Some(tools) = Tools::find(&["bash"]) else { return };
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 2));
    for command in [
        &["run", "sweep.toml"][..],
        &["report", "--db", "sweep.db"],
        &["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"],
        &["worker", "--coordinator", "http://127.0.0.1:1"],
    ] {
        for files in [12, 24, 40] {
            let ran = limited(tools, &format!("ulimit -n {files}"), &sandbox.spelrum(command));
            ran.expect_exit(1);
            assert_eq!(
                ran.stderr(),
                format!(
                    "error: failed to start: this process may have {files} files open, and needs 64\n\
                     help: raise the limit on open files: ulimit -n 4096, LimitNOFILE= in a systemd unit\n"
                ),
                "{command:?}"
            );
        }
        assert!(!sandbox.path("sweep.db").exists() && !sandbox.path("c.db").exists());
    }
    // A limit that may be raised is.
    let raised = limited(tools, "ulimit -S -n 24", &sandbox.spelrum(&["run", "sweep.toml"]));
    raised.expect_exit(0);
}

/// A worker with external engines has as many open files as it may, and as many slots as these are enough for. Where
/// something else has taken them, a slot that could not start its engine waits, and the others play on.
#[test]
fn a_worker_with_engines_plays_with_the_open_files_that_there_are() {
    let Some(tools) = Tools::find(&["bash"]) else { return };
    let games = 60;
    for (limits, notice, starts) in [
        ("ulimit -Sn 128", None, true),
        ("ulimit -n 128", Some("playing 6 games at once instead of 40"), true),
        // Files that it knows nothing of.
        (
            "ulimit -n 128 && for i in {40..126}; do eval \"exec $i</dev/null\"; done",
            Some("playing 6 games at once instead of 40"),
            false,
        ),
    ] {
        let Some(sandbox) = external_engines::sandbox(&[]) else { return };
        let players =
            ["a", "b"].map(|name| external_engines::external_player(name, "ours", "depth = 2"));
        sandbox.write("sweep.toml", &external_engines::sweep(games, &players.concat()));
        let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
        let coordinator = coordinator.url.as_str();
        sandbox.run(&["submit", "sweep.toml", "--coordinator", coordinator]).expect_exit(0);
        let worker = sandbox.spelrum(&[
            "worker",
            "--coordinator",
            coordinator,
            "--engines",
            "engines.toml",
            "--slots",
            "40",
            "--exit-when-done",
        ]);
        let ran = limited(tools, limits, &worker);
        let said = ran.stderr();
        assert_eq!(ran.0.status.code(), Some(0), "{limits}: {said}");
        let played = "SELECT count(*) FROM games WHERE failure IS NULL";
        assert_eq!(sandbox.sql("c.db", played), games.to_string(), "{limits}: {said}");
        assert_eq!(said.contains("games at once instead of"), notice.is_some(), "{said}");
        assert!(notice.is_none_or(|notice| said.contains(notice)), "{limits}: {said}");
        let waits = said.contains("an engine could not be started: its slot tries again");
        assert_ne!(waits, starts, "{limits}: {said}");
    }
}

/// Of addresses, which stacks and memory take: as few as there are, the program ends, and says which lack.
#[test]
fn too_little_memory_is_told_and_nothing_waits_for_ever() {
    let Some(tools) = Tools::find(&["bash"]) else { return };
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 2));
    let run = sandbox.spelrum(&["run", "sweep.toml", "--slots", "64"]);
    for kibibytes in (500_000..=900_000).step_by(50_000) {
        let ran = limited(tools, &format!("ulimit -v {kibibytes}"), &run);
        ran.expect_exit(1);
        let said = ran.stderr();
        assert!(said.contains("error: failed to "), "{kibibytes}: {said}");
        assert!(said.contains("raise the limit on "), "{kibibytes}: {said}");
    }
}

/// The limit on threads does not hold for root, who can be somebody else.
#[test]
fn too_few_threads_are_told_and_nothing_waits_for_ever() {
    let Some(tools) = Tools::find(&["bash", "setpriv"]) else { return };
    if !rustix::process::getuid().is_root() {
        return spelrum_test_support::skip("it needs root, to be somebody with no other processes");
    }
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 2));
    // The program where anybody may run it.
    let open_to_all =
        |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    let public = tempfile::tempdir().unwrap();
    open_to_all(public.path());
    let program = public.path().join("spelrum");
    fs::copy(env!("CARGO_BIN_EXE_spelrum"), &program).unwrap();
    open_to_all(&sandbox.path("."));
    for threads in [1, 2, 3, 4, 6, 8, 10] {
        let run = sandbox.spelrum(&["run", "sweep.toml", "--slots", "4"]);
        let mut nobody = tools.command("setpriv");
        nobody.args(["--reuid", "54321", "--regid", "54321", "--clear-groups"]);
        nobody.args(["bash", "-c", &format!("ulimit -u {threads} && exec \"$@\""), "bash"]);
        nobody.arg(&program).args(run.get_args()).current_dir(sandbox.path("."));
        nobody.env("HOME", sandbox.path(".")).env("NO_COLOR", "1").stdin(Stdio::null());
        nobody.stdout(Stdio::null()).stderr(File::create(sandbox.path("said")).unwrap());
        let mut process = Process(nobody.spawn().unwrap());
        let status = process.wait();
        let said = fs::read_to_string(sandbox.path("said")).unwrap();
        assert_eq!(status.code(), Some(1), "{threads}: {said}");
        assert!(said.contains("Resource temporarily unavailable"), "{threads}: {said}");
        assert!(said.contains("help: raise the limit on threads"), "{threads}: {said}");
        assert!(!sandbox.path("sweep.db").exists(), "{threads}: nothing was begun");
    }
}

/// `/dev/full` takes nothing, as a full disk does.
#[test]
fn a_full_disk_of_the_output_is_told_as_one() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 2));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let said = "error: failed to write the output: No space left on device (os error 28)\n\
                help: free some space on the disk, or write to another one\n";
    for command in [
        &["--help"][..],
        &["report", "--db", "sweep.db"],
        &["report", "--db", "sweep.db", "--format", "csv"],
        &["sql", "--db", "sweep.db", "--csv", "SELECT * FROM games"],
        &["games", "--db", "sweep.db"],
        &["list", "--db", "sweep.db"],
        &["config", "--example"],
        &["man"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let ran = Ran(sandbox.spelrum(command).stdout(full).output().unwrap());
        ran.expect_exit(1);
        assert_eq!(ran.stderr(), said, "{command:?}");
    }
    let Ok(disk) = SmallDisk::mount_of(sandbox.path("full"), 1) else { return };
    disk.fill(0);
    for (command, file) in [
        (&["report", "--db", "sweep.db", "--html"][..], "full/report.html"),
        (&["sql", "--db", "sweep.db", "--csv", "SELECT * FROM games", "--output"], "full/rows.csv"),
    ] {
        let ran = sandbox.run(&[command, &[file]].concat());
        ran.expect_exit(1);
        assert!(ran.stderr().contains("No space left on device"), "{}", ran.stderr());
        assert!(ran.stderr().contains("\nhelp: free some space on the disk"), "{}", ran.stderr());
        assert!(!sandbox.path(file).exists());
    }
}

/// SQLite takes no other paths; everything else does.
#[test]
fn a_path_that_is_not_text_is_told_as_one() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 2));
    let name = |ending: &[u8]| std::ffi::OsString::from_vec([b"caf\xe9", ending].concat());
    let mut run = sandbox.spelrum(&["run", "sweep.toml", "--db"]);
    let ran = Ran(run.arg(name(b".db")).output().unwrap());
    ran.expect_exit(4);
    let directory = sandbox.path("").canonicalize().unwrap();
    assert_eq!(
        ran.stderr().replace(directory.to_str().unwrap(), "DIRECTORY"),
        "error: failed to open DIRECTORY/caf\u{fffd}.db: the path, or one of the directories on it, is not UTF-8 \
         text, and SQLite takes no other\nhelp: rename what is not, or name another path with --db\n"
    );
    let left: Vec<_> = fs::read_dir(&directory).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    // In a directory of such a name.
    let inside = sandbox.path("").join(name(b""));
    fs::create_dir(&inside).unwrap();
    fs::write(inside.join("sweep.toml"), tic_tac_toe("sweep", 2)).unwrap();
    let run =
        |arguments: &[&str]| Ran(sandbox.spelrum(arguments).current_dir(&inside).output().unwrap());
    assert!(run(&["run", "sweep.toml"]).expect_exit(4).stderr().contains("is not UTF-8 text"));
    let elsewhere = sandbox.path("sweep.db");
    let elsewhere = elsewhere.to_str().unwrap();
    run(&["run", "sweep.toml", "--db", elsewhere]).expect_exit(0);
    for command in ["list", "report", "check"] {
        fs::write(inside.join("there.db"), "").unwrap();
        let ran = run(&[command, "--db", "there.db"]);
        assert!(
            ran.expect_exit(4).stderr().contains("is not UTF-8 text"),
            "{command}: {}",
            ran.stderr()
        );
    }
    run(&["report", "--db", elsewhere, "--html", "report.html"]).expect_exit(0);
    assert!(inside.join("report.html").exists());
}
