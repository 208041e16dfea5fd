//! An engine that speaks UCI or UGI, with misbehaviour chosen by its arguments. `hello=` gives it another greeting,
//! `answers=` another answer.

use std::io::{self, BufRead as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use rustix::process::{getpgid, getppid, setpgid};

const OPTIONS: [&str; 8] = [
    "option name Debug Log File type string default <empty>",
    "option name Style type combo default Normal var Normal var Fail High",
    "option name Hash type spin default 16 min 1 max 1024",
    "option name Threads type spin default 1 min 1 max 8",
    "option name Clear Hash type button",
    "option name Ponder type check default false",
    "option name MultiPV type spin default 1 min 1 max 4",
    "option name UCI_Chess960 type check default false",
];

/// The processor time of each thread that burns some.
const BURNT: Duration = Duration::from_millis(200);

/// Late enough to be late wherever a tenth of that is allowed.
const LATE: Duration = Duration::from_secs(1);

struct Engine<'a> {
    hello: &'a str,
    words: &'a [String],
    games: u32,
    moves: u32,
    /// It is about to repeat its last answer.
    owes: bool,
}

pub(crate) fn run(hello: &str, words: &[String]) -> ExitCode {
    let hello = words.iter().find_map(|word| word.strip_prefix("hello=")).unwrap_or(hello);
    let mut engine = Engine { hello, words, games: 0, moves: 0, owes: false };
    if engine.does("dies-at-start") {
        let _ = writeln!(io::stderr(), "fatal: there is no net");
        return ExitCode::from(3);
    }
    if engine.does("deaf") {
        crate::linger();
    }
    if engine.does("forks") {
        crate::start(&["linger"], words, false);
        crate::start(&["linger"], words, true);
        // Its child becomes an orphan.
        crate::start(&["parent"], words, true);
    }
    if engine.does("joins-its-guard") {
        let guard = getppid().expect("it has a guard");
        let group = getpgid(Some(guard)).expect("the guard has a group");
        setpgid(None, Some(group)).expect("groups of one session can be joined");
    }
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if let Some(code) = engine.handle_line(&line) {
            return code;
        }
    }
    if engine.does("outlives-us") {
        crate::linger();
    }
    ExitCode::SUCCESS
}

impl Engine<'_> {
    fn does(&self, behaviour: &str) -> bool {
        self.words.iter().any(|word| word == behaviour)
    }

    fn handle_line(&mut self, line: &str) -> Option<ExitCode> {
        let word = line.split(' ').next().unwrap_or_default();
        if word == "isready" && std::mem::take(&mut self.owes) {
            self.say("bestmove h2h4");
        }
        let of_hello = word.strip_prefix(self.hello);
        match word {
            _ if of_hello == Some("") => self.introduce(),
            "isready" if self.does("unready-for-games") && self.games > 0 => {}
            "isready" => {
                if self.does("slow-readyok") {
                    crate::wait(Duration::from_millis(200));
                }
                self.say("readyok");
                if self.does("stops-reading") && self.games > 0 {
                    crate::linger();
                }
            }
            _ if of_hello == Some("newgame") => {
                self.games += 1;
                if self.does("burns-for-games") {
                    crate::burn(BURNT, 1);
                }
                if self.does("dies-between-games") && self.games == 2 {
                    return Some(ExitCode::from(5));
                }
            }
            "go" if self.does("twice-later") => {
                // The owed answer comes first, both at once.
                let stale = if self.owes { "bestmove h2h4\n" } else { "" };
                let file = ["a", "b", "c", "d", "e"][self.moves as usize % 5];
                (self.owes, self.moves) = (true, self.moves + 1);
                self.say(&format!("{stale}bestmove {file}2{file}3"));
            }
            "go" if self.does("litters") => {
                // Its child ends at once, and by then belongs only to the guard.
                let program = std::env::current_exe().expect("the program knows where it is");
                let parent = std::process::Command::new(program).arg("parent-of-nothing").status();
                parent.expect("a process can be started");
                return self.search();
            }
            "go" => return self.search(),
            "stop" if self.does("after-stop") => self.say("bestmove e2e4"),
            "quit" if self.does("holds-on") => {
                // As long as its starter has not ended it.
                let hold =
                    self.words.iter().find_map(|word| word.strip_prefix("hold=")).unwrap_or("");
                let _ = std::fs::write(format!("{hold}.seen"), "");
                while std::fs::exists(hold).unwrap_or(false) {
                    crate::wait(Duration::from_millis(5));
                }
                return Some(ExitCode::SUCCESS);
            }
            "quit" if !self.does("outlives-us") => return Some(ExitCode::SUCCESS),
            _ => {}
        }
        None
    }

    fn introduce(&self) {
        if self.does("silent") {
            return;
        }
        if self.does("garbage") {
            print(b"\x00\xff\xfe garbage \x1b[31m\n\n\r\n;;;;\nno uciok here\n");
        }
        if self.does("megabytes") {
            print(&vec![b'x'; 5_000_000]);
            print(b"\n");
        }
        self.say("Scripted by nobody");
        self.say("id name Scripted 1.0");
        self.say("id author nobody");
        for option in OPTIONS {
            let is_greedy = self.does("greedy") && option.contains("Threads");
            self.say(&if is_greedy {
                option.replace("default 1", "default 8")
            } else {
                option.into()
            });
        }
        if !self.does("no-uciok") {
            let hello = if self.does("says-uciok") { "uci" } else { self.hello };
            self.say(&format!("{hello}ok"));
        }
    }

    fn search(&mut self) -> Option<ExitCode> {
        self.moves += 1;
        self.say("info depth 1 seldepth 2 multipv 1 score cp 13 nodes 20 time 3 pv e2e4 e7e5");
        for word in self.words {
            match word.as_str() {
                "dies-in-search" => {
                    let _ = writeln!(io::stderr(), "terminate called");
                    return Some(ExitCode::from(7));
                }
                "exits-in-search-with-255" => return Some(ExitCode::from(255)),
                "aborts-in-search" => std::process::abort(),
                "info-for-ever" => loop {
                    self.say("info depth 1 score cp 13 nodes 20 time 3 pv e2e4 e7e5");
                },
                "after-stop" | "ignores-stop" => return None,
                "late" => crate::wait(LATE),
                "burns" => crate::burn(BURNT, 1),
                "burns-in-two-threads" => crate::burn(BURNT, 2),
                "floods" => {
                    for _ in 0..20_000 {
                        let _ = writeln!(io::stderr(), "a warning of which nobody hears more");
                        self.say("info string words and words and words and words and words");
                    }
                }
                "long-line" => {
                    print(b"info string ");
                    print(&vec![b'x'; 5_000_000]);
                    print(b"\n");
                }
                "tells-descriptors" => self.say(&format!("info string fds {}", descriptors())),
                "tells-surroundings" => {
                    let names: Vec<_> = std::env::vars().map(|(name, _)| name).collect();
                    let folder = std::env::current_dir().unwrap_or_default();
                    let folder = folder.display();
                    self.say(&format!("info string has {} in {folder}", names.join(" ")));
                }
                "takes-memory" => {
                    let memory = Vec::<u8>::new().try_reserve_exact(1 << 30);
                    let word = if memory.is_ok() { "granted" } else { "refused" };
                    self.say(&format!("info string memory {word}"));
                }
                _ => {}
            }
        }
        self.answer();
        if self.does("burns-afterwards") {
            crate::burn(BURNT, 1);
        }
        if self.does("dies-idle") {
            return Some(ExitCode::SUCCESS);
        }
        None
    }

    fn answer(&self) {
        let answers = [
            ("leading-spaces", "  \t bestmove  e2e4"),
            ("upper-case", "bestmove E2E4"),
            ("none", "bestmove (none)"),
            ("null", "bestmove 0000"),
            ("empty", "bestmove"),
            ("illegal", "bestmove e2e5"),
            ("interleaved", "info depth 3\nhash fullbestmove x\nsearching bestmove e2e4"),
            ("twice", "bestmove e2e4\nbestmove d2d4"),
        ];
        let answer = answers.iter().find(|(word, _)| self.does(word));
        let answer = answer.map_or("bestmove e2e4 ponder e7e5", |(_, answer)| answer);
        let own = self.words.iter().find_map(|word| word.strip_prefix("answers="));
        let answer = own.unwrap_or(answer);
        // A second search has another answer, to distinguish it from leftovers of the first.
        if self.moves == 2 {
            self.say("bestmove g1f3");
        } else {
            self.say(answer);
        }
    }

    fn say(&self, line: &str) {
        let end = if self.does("cr") { "\r\n" } else { "\n" };
        print(format!("{line}{end}").as_bytes());
    }
}

/// Prints at once. The reader may have gone.
fn print(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}

/// The open descriptors, without the one used for listing.
fn descriptors() -> String {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return String::new() };
    let mut numbers: Vec<u32> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let is_list = std::fs::read_link(&path).ok()?.ends_with("fd");
            if is_list { None } else { path.file_name()?.to_str()?.parse().ok() }
        })
        .collect();
    numbers.sort_unstable();
    numbers.iter().map(|number| format!(" {number}")).collect()
}
