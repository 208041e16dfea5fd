//! `spelrum play`: a person against a player, line by line.

use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use spelrum_engine::{Game, Host, PlayError, Rules, with_game};
use spelrum_report::text::duration_us;
use tokio::sync::mpsc;

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::clock::Patience;
use crate::players::built_in::{PlayerArguments, player};
use crate::players::position::PositionArguments;
use crate::players::session::{Answer, Session, Setup};
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::waiting::while_waiting;

/// Longer lines are read in pieces.
const LINE_BYTES_MAX: u64 = 4_096;

const EXAMPLES: &str = "\
You type moves; `help` says how they are written, and what else you can ask: `moves` (the legal \
ones), `hint`, `view` (what the player thinks), `undo`, `position`, `new`, `quit`. Lines may also \
come from a file or a pipe.

Examples:
  spelrum play tic-tac-toe --player alpha-beta --depth 9
  spelrum play pentago --player alpha-beta --depth 2 --second
  spelrum play pentago --player genetic-minimax --depth 4 --set preset=study \\
    --hint-player alpha-beta --hint-set depth=3
  spelrum play nim --rule heaps=[1,3,5] --player minimax --depth 9 --watch";

/// Play against a player yourself
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Play {
    #[command(flatten)]
    position: PositionArguments,
    #[command(flatten)]
    player: PlayerArguments,
    /// Let the player move first
    #[arg(long, conflicts_with = "watch")]
    second: bool,
    /// Who gives hints [default: the player]
    #[arg(long, value_name = "ALGORITHM")]
    hint_player: Option<String>,
    /// Any parameter of who gives hints
    #[arg(long = "hint-set", value_name = "KEY=VALUE", requires = "hint_player")]
    hint_settings: Vec<String>,
    /// Watch a game in which who gives hints moves for you
    #[arg(long)]
    watch: bool,
}

impl Play {
    /// Plays until the user quits or the input ends.
    pub(crate) async fn run(self) -> Result<Exit> {
        let rules = self.position.rules()?;
        with_game!(&rules, P => self.play::<P>(&rules).await)
    }

    async fn play<P: Game>(&self, rules: &Rules) -> Result<Exit> {
        let opponent = self.player.player(rules)?;
        let adviser = match &self.hint_player {
            Some(algorithm) => player(rules, algorithm, None, &self.hint_settings)?,
            None => opponent.clone(),
        };
        let session = Session::new(Setup {
            rules: rules.clone(),
            start: self.position.position_to_play::<P>(rules, "play from the position")?,
            opponent,
            adviser,
            seed: self.player.seed,
            person_begins: !self.second,
        });
        let mut table = Table::new(session)?;
        let ended = if self.watch { table.watch().await } else { table.converse().await };
        ended.map(|end| match end {
            End::OfInput => Exit::Success,
            End::Interrupted => table.interrupts.exit().unwrap_or(Exit::Interrupted),
        })
    }
}

/// The reason for a session's end.
enum End {
    OfInput,
    Interrupted,
}

/// The session, between the input lines and the output.
struct Table<P: Game> {
    /// `None` while a player thinks on another thread.
    session: Option<Session<P>>,
    interrupts: Interrupts,
    given_up: Arc<AtomicBool>,
}

impl<P: Game> Table<P> {
    fn new(session: Session<P>) -> Result<Self> {
        let interrupts = Interrupts::listen(|| {})?;
        Ok(Self { session: Some(session), interrupts, given_up: Arc::default() })
    }

    /// Prompts for lines and answers them.
    async fn converse(&mut self) -> Result<End> {
        let Some(begun) = self.think(|session, host| session.begin(host)).await? else {
            return Ok(End::Interrupted);
        };
        print(&begun)?;
        // Repeats the input where no terminal echoes it.
        let is_echoed = !std::io::stdin().is_terminal();
        let mut lines = lines_of_input();
        loop {
            print(&self.session.as_ref().map(Session::prompt).unwrap_or_default())?;
            let line = tokio::select! {
                line = lines.recv() => line,
                () = self.interrupts.finish.cancelled() => {
                    print("\n")?;
                    return Ok(End::Interrupted);
                }
            };
            let Some(line) = line else {
                print("\n")?;
                return Ok(End::OfInput);
            };
            let line = line
                .map_err(|error| CliError::new(Exit::Input, "read the next line").because(error))?;
            if is_echoed {
                print(&format!("{line}\n"))?;
            }
            let answer = self.think(move |session, host| session.line(&line, host)).await?;
            let Some(Answer { text, goes_on }) = answer else { return Ok(End::Interrupted) };
            print(&text)?;
            if !goes_on {
                return Ok(End::OfInput);
            }
        }
    }

    /// Shows a game between the players.
    async fn watch(&mut self) -> Result<End> {
        loop {
            match self.think(|session, host| session.watch(host)).await? {
                None => return Ok(End::Interrupted),
                Some(None) => return Ok(End::OfInput),
                Some(Some(text)) => print(&text)?,
            }
        }
    }

    /// Runs a possibly long step of the session. `None` if interrupted.
    async fn think<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Session<P>, &dyn Host) -> Result<T, PlayError> + Send + 'static,
    ) -> Result<Option<T>> {
        let Some(mut session) = self.session.take() else { return Ok(None) };
        let host = Patience::new(&self.given_up);
        let work = move || {
            let done = work(&mut session, &host);
            (session, done)
        };
        let progress_text =
            |elapsed: Duration| format!("thinking, {}", duration_us(elapsed.as_micros() as f64));
        let Some((session, done)) = while_waiting(&self.interrupts, progress_text, work).await?
        else {
            self.given_up.store(true, Ordering::Relaxed);
            return Ok(None);
        };
        self.session = Some(session);
        match done {
            Ok(done) => Ok(Some(done)),
            Err(PlayError::Aborted) => Ok(None),
            Err(error) => Err(CliError::of_engine("play", error)),
        }
    }
}

fn print(text: &str) -> Result<()> {
    let mut out = terminal::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// The lines of standard input, from a thread that is never joined: it may block on a terminal forever.
fn lines_of_input() -> mpsc::Receiver<std::io::Result<String>> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
            let next = match read {
                Ok(0) => return,
                Ok(_) => Ok(printable(&String::from_utf8_lossy(&line))),
                Err(error) => Err(error),
            };
            let is_last = next.is_err();
            if sender.blocking_send(next).is_err() || is_last {
                return;
            }
        }
    });
    lines
}

/// Escapes control characters of a line that is repeated on a terminal.
fn printable(line: &str) -> String {
    line.chars().filter(|character| !character.is_control()).collect()
}
