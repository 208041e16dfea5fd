//! An engine that speaks GTP, with deviations chosen by its arguments.

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

const MOVES: [&str; 3] = ["D3", "C5", "pass"];

pub(crate) fn run(words: &[String]) -> ExitCode {
    let does = |behaviour: &str| words.iter().any(|word| word == behaviour);
    let mut generated = 0;
    if does("greets") {
        say("==== Scripted ====\n= welcome\n\n");
    }
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let mut command = line.split_whitespace().peekable();
        let id = command.next_if(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        let name = command.next().unwrap_or_default();
        let rest: Vec<_> = command.collect();
        let answer = match name {
            "list_commands" if does("knows-little") => Err("unknown command"),
            "list_commands" => {
                Ok("name\nversion\nlist_commands\nboardsize\nclear_board\nplay\ngenmove\n\
                    time_settings\ntime_left\nlevel\nquit")
            }
            "protocol_version" => Ok("2"),
            "name" => Ok("Scripted"),
            "version" => Ok("1.0"),
            "boardsize" if rest != ["8"] => Err("unacceptable size"),
            "clear_board" => {
                generated = 0;
                Ok("")
            }
            "play" if does("refuses-pass") && rest.last() == Some(&"pass") => Err("syntax error"),
            "play" if does("hangs-in-play") => crate::linger(),
            "play" if does("thinks-in-play") => {
                crate::wait(Duration::from_millis(200));
                Ok("")
            }
            "play" if does("refuses-play") => Err("illegal move"),
            "genmove" if does("dies-in-search") => return ExitCode::from(9),
            "genmove" if does("hangs") => {
                crate::linger();
            }
            "genmove" if does("resigns") => Ok("resign"),
            "genmove" if does("refuses-genmove") => Err("cannot move"),
            "genmove" => {
                generated += 1;
                Ok(MOVES[(generated - 1) % MOVES.len()])
            }
            "quit" => {
                say("=\n\n");
                return ExitCode::SUCCESS;
            }
            "time_settings" if does("refuses-time") => Err("syntax error"),
            "boardsize" | "play" | "time_settings" | "time_left" | "level" | "komi" => Ok(""),
            _ => Err("unknown command"),
        };
        if does("chats") {
            say("thinking hard\n\n# so it is\n");
        }
        let (mark, text) = match answer {
            Ok(text) => ('=', text),
            Err(text) => ('?', text),
        };
        // As Edax writes it.
        let id = if does("old-id") { " 12" } else { id.unwrap_or_default() };
        let end = if does("cr") { "\r\n\r\n" } else { "\n\n" };
        say(&format!("{mark}{id} {text}{end}"));
    }
    ExitCode::SUCCESS
}

fn say(text: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
}
