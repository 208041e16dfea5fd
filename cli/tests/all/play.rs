//! A person against a player, through a pipe.

use std::io::{Read as _, Write as _};
use std::process::{ChildStdin, Stdio};

use rustix::process::Signal;

use crate::sandbox::{Process, Ran, Sandbox};

/// Plays with these lines as the whole input.
fn play(arguments: &[&str], lines: &str) -> Ran {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .spelrum(&[&["play"], arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A session that ends before its input does reads no more of it.
    let _unread = child.stdin.take().unwrap().write_all(lines.as_bytes());
    Ran(child.wait_with_output().unwrap())
}

const NIM: [&str; 7] = ["nim", "--rule", "heaps=[1,2]", "--player", "minimax", "--depth", "9"];

#[test]
fn a_game_through_a_pipe_reads_like_one_on_a_terminal() {
    let lines = "help\nb9\nb2\nundo\nview\nb1\nhint\nb1\nposition\nquit\nnever read\n";
    let ran = play(&[&NIM[..], &["--set", "shuffle=false"]].concat(), lines);
    ran.expect_exit(0);
    assert_eq!(ran.stderr(), "");
    insta::with_settings!({filters => vec![(r"time  .*", "time [time]")]}, {
        insta::assert_snapshot!(ran.stdout());
    });
}

#[test]
fn the_end_of_the_input_ends_the_session() {
    for lines in ["", "b1", "b1\n", "\u{1b}[2J\n\n"] {
        let ran = play(&NIM, lines);
        ran.expect_exit(0);
        assert!(ran.stdout().ends_with("> \n") || ran.stdout().ends_with("wins.\n"));
        assert!(!ran.stdout().contains('\u{1b}'), "what is typed does not steer the terminal");
    }
}

#[test]
fn lines_that_are_no_text_are_no_moves() {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .spelrum(&[&["play"], &NIM[..]].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&[0xff, 0xfe, b'\n']).unwrap();
    stdin.write_all(&vec![b'x'; 100_000]).unwrap();
    drop(stdin);
    let ran = Ran(child.wait_with_output().unwrap());
    ran.expect_exit(0);
    assert!(ran.stdout().contains("is not a Nim move"), "{}", ran.stdout());
}

#[test]
fn players_can_be_watched() {
    let ran = play(&[&NIM[..], &["--watch"]].concat(), "");
    ran.expect_exit(0);
    assert!(ran.stdout().starts_with("minimax (the first player) plays "), "{}", ran.stdout());
    assert!(ran.stdout().ends_with("wins: the last object is taken\n\n"), "{}", ran.stdout());
}

#[test]
fn an_adviser_may_be_another_player() {
    let more = ["--second", "--hint-player", "alpha-beta", "--hint-set", "depth=2"];
    let ran = play(&[&["tic-tac-toe", "--player", "random"], &more[..]].concat(), "hint\n");
    ran.expect_exit(0);
    assert!(ran.stdout().contains("random plays "), "{}", ran.stdout());
    assert!(ran.stdout().contains("alpha-beta would play "), "{}", ran.stdout());
}

#[test]
fn what_cannot_be_played_is_an_error() {
    let won = ["tic-tac-toe", "--position", "xxxoo....", "--player", "random"];
    insta::assert_snapshot!(play(&won, "").expect_exit(3).failure());
    let unknown = ["tic-tac-toe", "--player", "random", "--hint-player", "oracle"];
    insta::assert_snapshot!(play(&unknown, "").expect_exit(3).failure());
}

/// Starts a session, and waits until it has said this. Its input stays open: it would end with it.
fn waiting_for(arguments: &[&str], lines: &str, said: &str) -> (Process, ChildStdin) {
    let sandbox = Sandbox::new();
    let mut child = sandbox
        .spelrum(&[&["play"], arguments].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Waiting for a child closes what it still has of its input.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    let stdout = child.stdout.as_mut().unwrap();
    let mut seen = String::new();
    while !seen.ends_with(said) {
        let mut byte = [0];
        stdout.read_exact(&mut byte).unwrap();
        seen.push(byte[0].into());
    }
    (Process(child), stdin)
}

#[test]
fn an_interrupt_ends_the_session_at_the_prompt_and_in_thought() {
    let (mut asked, _stdin) = waiting_for(&NIM, "", "the first player to move> ");
    asked.signal(Signal::INT);
    assert_eq!(asked.wait().code(), Some(130));
    // Nobody would wait for this one.
    let slow = ["pentago", "--player", "minimax", "--depth", "9"];
    let (mut thinking, _stdin) = waiting_for(&slow, "c3-1r\n", "c3-1r\n");
    thinking.signal(Signal::TERM);
    assert_eq!(thinking.wait().code(), Some(143));
}
