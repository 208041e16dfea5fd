//! An engine that speaks XBoard, with misbehaviour chosen by its arguments. It knows no rules: it plays its moves in
//! order.

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

/// Late enough to be late wherever a tenth of that is allowed.
const LATE: Duration = Duration::from_secs(1);

const MOVES: [&str; 3] = ["e2e4", "g1f3", "f1c4"];
/// The same in algebraic notation.
const SAN: [&str; 3] = ["e4", "Nf3", "O-O"];

struct Engine<'a> {
    words: &'a [String],
    is_forced: bool,
    moves: usize,
    games: usize,
    pongs: usize,
    is_editing: bool,
}

pub(crate) fn run(words: &[String]) -> ExitCode {
    let mut engine =
        Engine { words, is_forced: true, moves: 0, games: 0, pongs: 0, is_editing: false };
    if engine.does("deaf") {
        crate::linger();
    }
    say("Scripted by nobody, GPL");
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if let Some(code) = engine.handle_line(&line) {
            return code;
        }
    }
    ExitCode::SUCCESS
}

impl Engine<'_> {
    fn does(&self, behaviour: &str) -> bool {
        self.words.iter().any(|word| word == behaviour)
    }

    fn knows(&self, command: &str) -> bool {
        !self.words.iter().any(|word| word.strip_prefix("knows-no-") == Some(command))
    }

    fn handle_line(&mut self, line: &str) -> Option<ExitCode> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if self.is_editing {
            self.is_editing = line != ".";
            return None;
        }
        if !self.knows(word) {
            say(&format!("Error (unknown command): {line}"));
            return None;
        }
        match word {
            "protover" if self.does("old") => say("Error (unknown command): protover"),
            "protover" => self.introduce(),
            "ping" if self.does("old") => say("Error (unknown command): ping"),
            "ping" if self.does("no-pong") && self.games > 0 => {}
            "ping" if self.does("wrong-pong") && self.games > 0 => say("pong 99"),
            "ping" => {
                self.pongs += 1;
                say(&format!("pong {rest}"));
                if self.does("two-pongs") {
                    say(&format!("pong {rest}"));
                }
            }
            "new" => {
                (self.is_forced, self.moves) = (false, 0);
                self.games += 1;
                if self.does("dies-between-games") && self.games == 2 {
                    return Some(ExitCode::from(5));
                }
            }
            "force" => self.is_forced = true,
            "edit" => self.is_editing = true,
            "setboard" if self.does("refuses-position") => say("tellusererror Illegal position"),
            "go" => {
                self.is_forced = false;
                return self.search();
            }
            "usermove" if self.does("refuses-moves") => say(&format!("Illegal move: {rest}")),
            "usermove" if !self.is_forced => return self.search(),
            "?" if self.does("after-stop") => say("move e2e4"),
            "quit" => return Some(ExitCode::SUCCESS),
            _ if self.does("old") && is_move(line) && !self.is_forced => return self.search(),
            _ => {}
        }
        None
    }

    fn introduce(&self) {
        if self.does("mute") {
            return;
        }
        if self.does("endless-features") {
            loop {
                say("feature option=\"A -check 0\"");
            }
        }
        say("feature myname=\"Scripted 1.0\" usermove=1 memory=1 smp=1 san=1 colors=0");
        say("feature option=\"Style -combo Normal /// *Wild\" option=\"Book -check 1\"");
        if !self.does("no-ping") {
            say("feature ping=1");
        }
        if !self.does("no-setboard") {
            say("feature setboard=1");
        }
        for (word, line) in [
            ("one-game", "feature reuse=0"),
            ("no-time", "feature time=0"),
            ("slow", "feature done=0"),
            ("never-done", "feature done=0"),
        ] {
            if self.does(word) {
                say(line);
            }
        }
        if self.does("slow") {
            crate::wait(Duration::from_secs(3));
        }
        if !self.does("never-done") && !self.does("no-done") {
            say("feature done=1");
        }
    }

    fn search(&mut self) -> Option<ExitCode> {
        self.moves += 1;
        say("  1     13      2        20 e2e4 e7e5");
        for word in self.words {
            match word.as_str() {
                "dies-in-search" => return Some(ExitCode::from(7)),
                "after-stop" | "ignores-stop" => return None,
                "late" => crate::wait(LATE),
                "floods" => {
                    for _ in 0..20_000 {
                        say("# words and words and words and words and words and words and words");
                        say("  1     13      2        20 e2e4 e7e5");
                    }
                }
                "thinks-for-ever" => loop {
                    say("  1     13      2        20 e2e4 e7e5");
                },
                "long-line" => {
                    let mut stdout = io::stdout().lock();
                    let _ = stdout.write_all(&vec![b'x'; 5_000_000]);
                    let _ = stdout.write_all(b"\n");
                }
                "resigns" => {
                    say("resign");
                    return None;
                }
                "resigns-by-result" => {
                    say("0-1 {White resigns}");
                    return None;
                }
                "claims" => {
                    say("1/2-1/2 {Draw by repetition}");
                    return None;
                }
                "claims-and-moves" => say("1/2-1/2 {Draw by repetition}"),
                "offers-draw" => say("offer draw"),
                _ => {}
            }
        }
        let place = (self.moves - 1) % MOVES.len();
        let mv = if self.does("san") { SAN[place] } else { MOVES[place] };
        if self.does("old") {
            say(&format!("{}. ... {mv}", self.moves));
            say(&format!("My move is: {mv}"));
            return None;
        }
        let answers = [
            ("illegal", "move e2e5"),
            ("promotes", "move e7e8Q"),
            ("none", "move"),
            ("cr", "move e2e4\r"),
            ("twice", "move e2e4\nmove a2a3"),
        ];
        let answer = answers.iter().find(|(word, _)| self.does(word));
        say(&answer.map_or_else(|| format!("move {mv}"), |(_, answer)| (*answer).to_owned()));
        if self.does("dies-idle") {
            return Some(ExitCode::SUCCESS);
        }
        None
    }
}

fn is_move(line: &str) -> bool {
    line.len() == 4
        && line.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && line.ends_with(char::is_numeric)
}

fn say(line: &str) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(format!("{line}\n").as_bytes()).and_then(|()| stdout.flush());
}
