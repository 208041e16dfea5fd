//! No process of an engine is left, however this program ends.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use spelrum_external::{Exit, FailureKind};

use crate::harness::{
    PROGRAM, children_of, choose, kind_of, limits, playing, processes_with, spec, wait_until,
};

/// A word that no other process has.
fn mark(folder: &tempfile::TempDir) -> String {
    format!("mark={}", folder.path().display())
}

fn wait_until_gone(mark: &str) {
    wait_until("every process is gone", || processes_with(mark).is_empty());
}

/// A program that holds an engine with these arguments, once it has it.
fn holder(folder: &Path, words: &[&str], mark: &str, search: bool) -> Child {
    let words: Vec<_> = words.iter().map(|word| format!("\"{word}\", ")).collect();
    let file = folder.join("engines.toml");
    let text = format!(
        "[engines.engine]\nprotocol = \"uci\"\ncommand = \"{PROGRAM}\"\n\
         args = [\"uci\", {}\"{mark}\"]\nstartup_timeout = \"10m\"\n",
        words.concat()
    );
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(PROGRAM);
    command.arg("hold").arg(file).stdout(Stdio::piped());
    if search {
        command.arg("search");
    }
    let mut holder = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    holder
}

#[test]
fn engines_end_with_a_worker_that_is_killed() {
    for (words, search) in [
        (&[][..], false),
        (&["outlives-us"], false),
        (&["forks", "outlives-us"], false),
        (&["ignores-stop"], true),
        (&["info-for-ever", "forks"], true),
        (&["joins-its-guard", "outlives-us"], false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mark = mark(&folder);
        let mut holder = holder(folder.path(), words, &mark, search);
        // The guard and the engine; forked processes may take their time.
        let expected = if words.contains(&"forks") { 5 } else { 2 };
        wait_until("its processes run", || processes_with(&mark).len() >= expected);
        // SIGKILL: no cleanup.
        holder.kill().unwrap();
        holder.wait().unwrap();
        wait_until_gone(&mark);
    }
}

#[test]
fn an_engine_ends_when_it_is_dropped_with_all_that_it_forked() {
    let folder = tempfile::tempdir().unwrap();
    let mark = mark(&folder);
    let engine = playing(&spec("uci", &["forks", "outlives-us", &mark]));
    wait_until("its processes run", || processes_with(&mark).len() >= 5);
    drop(engine);
    assert_eq!(processes_with(&mark), []);
}

#[test]
fn an_engine_that_ignores_quit_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mark = mark(&folder);
    let mut stubborn = spec("uci", &["outlives-us", &mark]);
    stubborn.patience.quit = crate::harness::SHORT;
    playing(&stubborn).close();
    assert_eq!(processes_with(&mark), []);
    // An engine that gets it ends by itself.
    let mut obedient = spec("uci", &[&mark]);
    obedient.patience.quit = crate::harness::GENEROUS;
    playing(&obedient).close();
    assert_eq!(processes_with(&mark), []);
}

/// A wrapper that ignores everything but SIGKILL.
#[test]
fn signals_that_are_ignored_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mark = mark(&folder);
    let mut wrapped = spec("uci", &[]);
    wrapped.command = "/bin/sh".into();
    let script = format!("trap '' TERM HUP INT PIPE; {PROGRAM} uci outlives-us {mark}; exit 3");
    wrapped.args = vec!["-c".to_owned(), script, "sh".to_owned(), mark.clone()];
    let engine = playing(&wrapped);
    for (pid, name) in processes_with(&mark) {
        if name != "spelrum-guard" {
            kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
        }
    }
    assert!(processes_with(&mark).len() >= 3);
    drop(engine);
    assert_eq!(processes_with(&mark), []);
}

#[test]
fn what_an_engine_leaves_behind_when_it_crashes_goes_too() {
    let folder = tempfile::tempdir().unwrap();
    let mark = mark(&folder);
    let mut engine = playing(&spec("uci", &["forks", "dies-in-search", &mark]));
    wait_until("its processes run", || processes_with(&mark).len() >= 5);
    let kind = kind_of(choose(&mut engine, limits()));
    assert!(matches!(kind, FailureKind::Crash(Exit::Code(7))), "{kind:?}");
    assert_eq!(processes_with(&mark), []);
}

/// Engines are used for thousands of games, and process numbers are limited.
#[test]
#[cfg(target_os = "linux")]
fn a_guard_reaps_what_it_inherits() {
    let folder = tempfile::tempdir().unwrap();
    let mark = mark(&folder);
    let mut engine = playing(&spec("uci", &["litters", &mark]));
    let guard = guard_of(&mark);
    for _ in 0..3 {
        choose(&mut engine, limits()).unwrap();
    }
    wait_until("the engine is its only child", || children_of(guard) == 1);
}

fn guard_of(mark: &str) -> i32 {
    let guards: Vec<_> =
        processes_with(mark).into_iter().filter(|(_, name)| name == "spelrum-guard").collect();
    let [(guard, _)] = guards.as_slice() else { panic!("{guards:?}") };
    *guard
}

#[test]
#[cfg(target_os = "linux")]
fn an_engine_ends_with_its_guard() {
    let folder = tempfile::tempdir().unwrap();
    let mark = mark(&folder);
    let mut engine = playing(&spec("uci", &["ignores-stop", "outlives-us", &mark]));
    kill_process(Pid::from_raw(guard_of(&mark)).unwrap(), Signal::KILL).unwrap();
    let kind = kind_of(choose(&mut engine, limits()));
    assert!(matches!(kind, FailureKind::Crash(Exit::Unknown)), "{kind:?}");
    wait_until_gone(&mark);
}

#[test]
fn a_superfluous_guard_says_so() {
    for args in [&["guard"][..], &["guard", "watch"], &["guard", "become", "0", "-", "/bin/true"]] {
        let mut command = Command::new(PROGRAM);
        command.args(args).stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut guard = command.spawn().unwrap();
        // As long as it is open, the guarded program runs.
        let _input = guard.stdin.take();
        let output = guard.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(126), "{args:?}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.starts_with("guard: "), "{args:?}: {message}");
    }
}
