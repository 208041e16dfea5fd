//! Serves a built-in player as a UCI engine: connects it to input and output.

use std::io::{self, BufRead, Read as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use super::command::{Go, Start};
use super::message::{Info, Message};
use super::server::{Action, Server, Setting};

/// A player to serve. All methods run on the serving thread, in order.
pub trait Player {
    /// Changes an option that it declared.
    ///
    /// # Errors
    /// If it cannot, with a message.
    fn set(&mut self, setting: &Setting) -> Result<(), String>;

    /// Clears its memory of earlier games.
    ///
    /// # Errors
    /// If it cannot, with a message.
    fn new_game(&mut self) -> Result<(), String>;

    /// Chooses a move, checking `signals` now and then; `say` reports progress.
    ///
    /// # Errors
    /// If the position or a move is invalid, or it cannot search, with a message.
    fn search(
        &mut self,
        start: &Start,
        moves: &[String],
        go: &Go,
        signals: &Signals,
        say: &mut dyn FnMut(&Info<'_>),
    ) -> Result<Chosen, String>;
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The move; `None` if there is no legal one.
    pub mv: Option<String>,
    /// The answer that is expected.
    pub ponder: Option<String>,
}

/// Requests to the running search.
#[derive(Debug, Default)]
pub struct Signals {
    stop: AtomicBool,
    ponder_hit: AtomicBool,
}

impl Signals {
    /// Whether it should end, with the best move so far.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether a search during the opponent's time continues in its own.
    #[must_use]
    pub fn is_ponder_hit(&self) -> bool {
        self.ponder_hit.load(Ordering::Relaxed)
    }
}

/// The player's next task.
enum Job {
    Set(Setting),
    NewGame,
    Search { start: Start, moves: Vec<String>, go: Go, signals: Arc<Signals> },
    SayReady,
}

/// Serves a player until `quit` or the end of the input. The player thinks on this thread; another one reads
/// the input meanwhile.
///
/// # Errors
/// If the input cannot be read, or a thread cannot be started. A closed output is not an error: the
/// input ends soon.
pub fn serve<W: Write + Send>(
    server: Server,
    player: &mut dyn Player,
    mut input: impl BufRead + Send,
    output: W,
) -> io::Result<()> {
    let desk = Mutex::new(Desk { server, output });
    std::thread::scope(|scope| {
        let (jobs, to_do) = mpsc::channel();
        let desk = &desk;
        let hearing = std::thread::Builder::new().name("input".to_owned()).spawn_scoped(
            scope,
            move || {
                let mut signals = Arc::new(Signals::default());
                let result = read_lines(&mut input, desk, |action| {
                    let job = match action {
                        Action::Say(_) | Action::Quit => return,
                        Action::SayReady => Job::SayReady,
                        Action::Set(setting) => Job::Set(setting),
                        Action::NewGame => Job::NewGame,
                        Action::Search { start, moves, go } => {
                            signals = Arc::default();
                            Job::Search { start, moves, go, signals: Arc::clone(&signals) }
                        }
                        Action::Stop => return signals.stop.store(true, Ordering::Relaxed),
                        Action::PonderHit => {
                            return signals.ponder_hit.store(true, Ordering::Relaxed);
                        }
                    };
                    // The receiver lives until this function ends.
                    let _ = jobs.send(job);
                });
                signals.stop.store(true, Ordering::Relaxed);
                result
            },
        )?;
        to_do.into_iter().for_each(|job| carry_out(job, player, desk));
        hearing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The conversation and its output, one line at a time.
struct Desk<W> {
    server: Server,
    output: W,
}

impl<W: Write> Desk<W> {
    fn say(&mut self, line: &str) {
        let written = self.output.write_all(format!("{line}\n").as_bytes());
        let _ = written.and_then(|()| self.output.flush());
    }

    fn say_info(&mut self, words: &str) {
        let words: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.say(&Server::info(Info { string: Some(&words), ..Info::default() }));
    }
}

fn lock<W>(desk: &Mutex<Desk<W>>) -> MutexGuard<'_, Desk<W>> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The longest line that is read: a game with more plies than any has.
const LINE_BYTES_MAX: u64 = 1 << 20;

/// Takes lines until the end of the input, writes the answers, and passes on the jobs.
fn read_lines<W: Write>(
    input: &mut impl BufRead,
    desk: &Mutex<Desk<W>>,
    mut hand_on: impl FnMut(Action),
) -> io::Result<()> {
    let mut bytes = Vec::new();
    while input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes)? > 0 {
        let is_whole = bytes.ends_with(b"\n") || (bytes.len() as u64) < LINE_BYTES_MAX;
        let line = String::from_utf8_lossy(&bytes).into_owned();
        bytes.clear();
        if !is_whole {
            input.skip_until(b'\n')?;
            lock(desk).say_info("line too long; ignored");
            continue;
        }
        let mut desk = lock(desk);
        for action in desk.server.take(&line) {
            if action == Action::Quit {
                return Ok(());
            }
            if let Action::Say(line) = action {
                desk.say(&line);
            } else {
                hand_on(action);
            }
        }
    }
    Ok(())
}

fn carry_out<W: Write>(job: Job, player: &mut dyn Player, desk: &Mutex<Desk<W>>) {
    let done = match job {
        Job::Set(setting) => player.set(&setting),
        Job::NewGame => player.new_game(),
        Job::SayReady => {
            lock(desk).say(&Message::ReadyOk.to_string());
            Ok(())
        }
        Job::Search { start, moves, go, signals } => {
            let mut say = |info: &Info<'_>| lock(desk).say(&Server::info(*info));
            let chosen = player.search(&start, &moves, &go, &signals, &mut say);
            let mut desk = lock(desk);
            let chosen = chosen.unwrap_or_else(|problem| {
                desk.say_info(&problem);
                Chosen::default()
            });
            let actions = desk.server.searched(chosen.mv.as_deref(), chosen.ponder.as_deref());
            for action in actions {
                if let Action::Say(line) = action {
                    desk.say(&line);
                }
            }
            Ok(())
        }
    };
    if let Err(problem) = done {
        lock(desk).say_info(&problem);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uci::{Declared, Words};

    /// Plays `a1a2`, when its position demands: at once, once it is stopped, or never.
    #[derive(Default)]
    struct Fake {
        done: Vec<String>,
    }

    impl Player for Fake {
        fn set(&mut self, setting: &Setting) -> Result<(), String> {
            self.done.push(format!("{} = {:?}", setting.name, setting.value));
            if setting.value.as_deref() == Some("64") {
                Err("no\nmemory".to_owned())
            } else {
                Ok(())
            }
        }

        fn new_game(&mut self) -> Result<(), String> {
            self.done.push("new game".to_owned());
            Ok(())
        }

        fn search(
            &mut self,
            start: &Start,
            moves: &[String],
            go: &Go,
            signals: &Signals,
            say: &mut dyn FnMut(&Info<'_>),
        ) -> Result<Chosen, String> {
            self.done.push(format!("{start:?} {moves:?} {}", go.to_line(&Words::uci())));
            say(&Info { depth: Some(1), ..Info::default() });
            while go.infinite && !signals.is_stopped() {
                std::thread::yield_now();
            }
            while go.ponder && !signals.is_ponder_hit() {
                std::thread::yield_now();
            }
            if *start == Start::Usual {
                Ok(Chosen { mv: Some("a1a2".to_owned()), ponder: None })
            } else {
                Err("no position".to_owned())
            }
        }
    }

    /// Sends lines, each after the output that it waits for, and returns all output and all actions.
    fn served(conversation: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let option = Declared::parse("name Hash type spin default 16 min 1 max 64").unwrap();
        let server = Server::new(Words::uci(), "Us".to_owned(), "we".to_owned(), vec![option]);
        let (input, mut to_engine) = io::pipe().unwrap();
        let (from_engine, output) = io::pipe().unwrap();
        let mut fake = Fake::default();
        let output_lines = std::thread::scope(|scope| {
            let serving = scope.spawn(|| {
                let input = io::BufReader::new(input);
                serve(server, &mut fake, input, output)
            });
            let mut lines = io::BufReader::new(from_engine).lines().map(Result::unwrap);
            let mut output_lines = Vec::new();
            for (line, awaited) in conversation {
                to_engine.write_all(format!("{line}\n").as_bytes()).unwrap();
                while !awaited.is_empty() && output_lines.last().is_none_or(|line| line != awaited)
                {
                    output_lines.push(lines.next().unwrap());
                }
            }
            drop(to_engine);
            output_lines.extend(lines);
            serving.join().unwrap().unwrap();
            output_lines
        });
        (output_lines, fake.done)
    }

    #[test]
    fn a_player_is_served_in_order() {
        let (lines, done) = served(&[
            ("uci", "uciok"),
            ("setoption name Hash value 32\nucinewgame\nisready", "readyok"),
            ("position startpos moves a2a3\ngo depth 1", "bestmove a1a2"),
            ("position fen 8/8/8/8/8/8/8/8 w - - 0 1\ngo depth 1", "bestmove (none)"),
            ("setoption name Hash value 64", "info string no memory"),
            ("quit", ""),
        ]);
        assert_eq!(
            lines[3..],
            [
                "uciok",
                "readyok",
                "info depth 1",
                "bestmove a1a2",
                "info depth 1",
                "info string no position",
                "bestmove (none)",
                "info string no memory",
            ]
        );
        assert_eq!(
            done,
            [
                "Hash = Some(\"32\")",
                "new game",
                "Usual [\"a2a3\"] go depth 1",
                "Fen(\"8/8/8/8/8/8/8/8 w - - 0 1\") [] go depth 1",
                "Hash = Some(\"64\")",
            ]
        );
    }

    #[test]
    fn a_search_hears_signals_and_others_do_not_wait_for_it() {
        let (lines, _) = served(&[
            ("go infinite", "info depth 1"),
            ("isready", "readyok"),
            ("stop", "bestmove a1a2"),
            ("go ponder", "info depth 1"),
            ("ponderhit", "bestmove a1a2"),
        ]);
        assert_eq!(lines.len(), 5, "{lines:?}");
    }

    #[test]
    fn a_line_without_an_end_is_not_kept() {
        let long = "position startpos moves ".to_owned() + &"a2a3 ".repeat(500_000);
        let expected = "info string line too long; ignored";
        let (lines, done) = served(&[(&long, expected), ("isready", "readyok"), ("quit", "")]);
        assert_eq!(
            (lines.as_slice(), done.len()),
            (&[expected.to_owned(), "readyok".to_owned()][..], 0)
        );
    }

    #[test]
    fn the_end_of_the_input_ends_a_search() {
        let (lines, _) = served(&[("go infinite", "info depth 1")]);
        // The search is stopped; no answer was requested.
        assert_eq!(lines, ["info depth 1"]);
    }
}
