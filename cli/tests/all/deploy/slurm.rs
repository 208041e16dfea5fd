//! The array job of Slurm, run by a shell as Slurm runs it.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use spelrum_test_support::Tools;

use super::files::{path, text};
use crate::sandbox::{Process, Ran, Sandbox, tic_tac_toe, wait_until};

const SCRIPT: &str = "slurm/workers.sbatch";

/// What the script needs.
fn tools() -> Option<Tools> {
    Tools::find(&["bash", "hostname"])
}

/// The script as a task of an array, with the program on its path.
fn task(tools: Tools, sandbox: &Sandbox, coordinator: Option<&str>) -> Command {
    let programs = sandbox.path("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let program = programs.join("spelrum");
    if !program.exists() {
        symlink(env!("CARGO_BIN_EXE_spelrum"), &program).unwrap();
    }
    let inherited = std::env::var("PATH").unwrap();
    let mut command = tools.command("bash");
    command
        .arg(path(SCRIPT))
        .current_dir(sandbox.path(""))
        .env_clear()
        .env("PATH", format!("{}:{inherited}", programs.display()))
        .env("HOME", sandbox.path(""))
        .env("SLURM_ARRAY_JOB_ID", "4711")
        .env("SLURM_ARRAY_TASK_ID", "3")
        .env("SLURM_CPUS_PER_TASK", "1")
        .env("SLURM_MEM_PER_CPU", "1024")
        .env("SLURMD_NODENAME", "node7")
        .stdin(Stdio::null());
    if let Some(url) = coordinator {
        command.env("SPELRUM_COORDINATOR", url);
    }
    command
}

#[test]
fn the_options_are_slurms_and_come_first() {
    let text = text(SCRIPT);
    let options: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("#SBATCH --")).collect();
    let names: Vec<&str> = options.iter().map(|option| option.split('=').next().unwrap()).collect();
    // As sbatch(1) has them.
    let known = [
        "job-name",
        "array",
        "nodes",
        "ntasks",
        "cpus-per-task",
        "mem-per-cpu",
        "time",
        "output",
        "signal",
        "no-requeue",
    ];
    assert_eq!(names, known);
    // After the first command none is read.
    let first_command = text.lines().position(|line| !line.starts_with('#')).unwrap();
    assert!(text.lines().skip(first_command).all(|line| !line.contains("#SBATCH")));
    // To the shell alone: in its place is the worker by then.
    assert!(options.contains(&"signal=B:TERM@900"));
    assert!(text.lines().any(|line| line.starts_with("exec ")));
}

#[test]
fn a_task_plays_until_nothing_is_left() {
    let Some(tools) = tools() else { return };
    let sandbox = Sandbox::new();
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 10));
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    Ran(task(tools, &sandbox, Some(url)).output().unwrap()).expect_exit(0);
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM games WHERE counted = 1"), "20");
    assert_eq!(sandbox.sql("c.db", "SELECT name FROM workers"), "node7-4711-3");
    // The tasks after it have nothing to do, and end at once.
    Ran(task(tools, &sandbox, Some(url)).output().unwrap()).expect_exit(0);
    // Where Slurm says nothing of processors and memory, as it may.
    let mut bare = task(tools, &sandbox, Some(url));
    for variable in ["SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_CPU", "SLURMD_NODENAME"] {
        bare.env_remove(variable);
    }
    Ran(bare.output().unwrap()).expect_exit(0);
}

/// The signal before the time is over ends it with nothing left behind, and so does the one of `scancel`.
#[test]
fn a_task_that_is_told_to_end_hands_back_what_it_has_not_played() {
    let Some(tools) = tools() else { return };
    let sandbox = Sandbox::new();
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 4_000));
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let mut command = task(tools, &sandbox, Some(url));
    let mut task = Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    wait_until("a game is settled", || sandbox.settled("c.db") > 0);
    // What was the shell is the worker.
    task.signal(Signal::TERM);
    assert_eq!(task.wait().code(), Some(0));
    assert_eq!(sandbox.sql("c.db", "SELECT count(*) FROM leases WHERE ended_by IS NULL"), "0");
}

#[test]
fn a_task_without_a_coordinator_says_what_is_missing() {
    let Some(tools) = tools() else { return };
    let sandbox = Sandbox::new();
    let ran = Ran(task(tools, &sandbox, None).output().unwrap());
    ran.expect_exit(2);
    let help =
        "export SPELRUM_COORDINATOR=https://HOST:7878, SPELRUM_CA and SPELRUM_TOKEN before sbatch";
    let said = format!("error: SPELRUM_COORDINATOR is not set\nhelp: {help}\n");
    assert_eq!(ran.stderr(), said);
}
