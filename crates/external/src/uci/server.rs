//! The engine's side of a UCI conversation, as a state machine: for players offered to other
//! programs.
//!
//! It is independent of the rules of games. Lines go in; lines to send and actions to carry out
//! come out. One search runs at a time; the caller reports its end.

use std::fmt;

use super::command::{Command, CommandError, Go, Start};
use super::message::{BestMove, Info, Message};
use super::option::{Declared, Kind};
use super::words::Words;

/// An action to carry out, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send this line.
    Say(String),
    /// Send `readyok`, once all earlier actions are done.
    SayReady,
    /// Change an option, already checked against its declaration.
    Set(Setting),
    /// Clear the memory: another game begins.
    NewGame,
    /// Search this position, and call [`Server::searched`] at the end.
    Search {
        /// The first position of the game.
        start: Start,
        /// The moves since, unchecked.
        moves: Vec<String>,
        /// The limits of the search.
        go: Go,
    },
    /// End the running search as soon as it has a move.
    Stop,
    /// The opponent has played the expected move: the search's own limits count from now.
    PonderHit,
    /// End, including the running search.
    Quit,
}

/// An option and what it is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The option's name as it was declared.
    pub name: String,
    /// The value; `None` for a button.
    pub value: Option<String>,
}

/// Why a line was not obeyed, for `info string`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not understood.
    #[error("{0}")]
    Command(#[from] CommandError),
    /// A search runs.
    #[error("`{0}` has to wait for the end of the search; send `stop` first")]
    Searching(String),
    /// There is no such option.
    #[error("there is no option `{0}`")]
    NoOption(String),
    /// The option does not take the value.
    #[error("option `{name}`: {problem}")]
    Value {
        /// The option.
        name: String,
        /// The problem with the value.
        problem: String,
    },
}

/// The engine's side of one conversation.
#[derive(Debug)]
pub struct Server {
    words: Words,
    name: String,
    author: String,
    options: Vec<Declared>,
    start: Start,
    moves: Vec<String>,
    search: Searching,
}

/// The state of the search and its answer.
#[derive(Debug, PartialEq, Eq)]
enum Searching {
    No,
    /// Its answer is sent at its end.
    Free,
    /// Its answer is sent on `stop` or `ponderhit`, not before: it was begun by `go infinite` or
    /// `go ponder`.
    Held,
    /// It has ended before that, with this answer.
    Done(String),
}

impl Server {
    /// A conversation about to begin in these words.
    #[must_use]
    pub fn new(words: Words, name: String, author: String, options: Vec<Declared>) -> Self {
        let (start, moves) = (Start::Usual, Vec::new());
        Self { words, name, author, options, start, moves, search: Searching::No }
    }

    /// Takes a line from the engine's user.
    pub fn take(&mut self, line: &str) -> Vec<Action> {
        let Some(command) = Command::parse(line, &self.words) else { return Vec::new() };
        let obeyed = command.map_err(Refused::from).and_then(|command| self.obey(command));
        obeyed.unwrap_or_else(|refused| vec![say_info(&refused)])
    }

    /// The line that reports a search's progress.
    #[must_use]
    pub fn info(info: Info<'_>) -> String {
        Message::Info(info).to_string()
    }

    /// Takes the result of the finished search: a move, or `None` without a legal one.
    pub fn searched(&mut self, mv: Option<&str>, ponder: Option<&str>) -> Vec<Action> {
        let answer = BestMove { mv: mv.unwrap_or("(none)"), ponder }.to_string();
        match self.search {
            Searching::Free => {
                self.search = Searching::No;
                vec![Action::Say(answer)]
            }
            Searching::Held => {
                self.search = Searching::Done(answer);
                Vec::new()
            }
            // No search was requested.
            Searching::No | Searching::Done(_) => Vec::new(),
        }
    }

    fn obey(&mut self, command: Command) -> Result<Vec<Action>, Refused> {
        Ok(match command {
            Command::Uci => self.introduce(),
            Command::Debug(_) => Vec::new(),
            Command::IsReady if self.search == Searching::No => vec![Action::SayReady],
            // Searches are not waited for.
            Command::IsReady => vec![Action::Say(Message::ReadyOk.to_string())],
            Command::SetOption { name, value } => {
                self.wait_for_end("setoption")?;
                vec![Action::Set(self.setting(&name, value)?)]
            }
            Command::NewGame => {
                self.wait_for_end(&self.words.new_game())?;
                vec![Action::NewGame]
            }
            Command::Position { start, moves } => {
                self.wait_for_end("position")?;
                (self.start, self.moves) = (start, moves);
                Vec::new()
            }
            Command::Go(go) => {
                self.wait_for_end("go")?;
                self.search =
                    if go.infinite || go.ponder { Searching::Held } else { Searching::Free };
                let (start, moves) = (self.start.clone(), self.moves.clone());
                vec![Action::Search { start, moves, go }]
            }
            Command::Stop => self.let_answer(Action::Stop),
            Command::PonderHit => self.let_answer(Action::PonderHit),
            Command::Quit => vec![Action::Quit],
        })
    }

    fn introduce(&self) -> Vec<Action> {
        let mut lines =
            vec![Message::Name(&self.name).to_string(), Message::Author(&self.author).to_string()];
        lines
            .extend(self.options.iter().cloned().map(|option| Message::Option(option).to_string()));
        lines.push(self.words.ok());
        lines.into_iter().map(Action::Say).collect()
    }

    fn setting(&self, name: &str, value: Option<String>) -> Result<Setting, Refused> {
        let declared = self
            .options
            .iter()
            .find(|option| option.name.eq_ignore_ascii_case(name))
            .ok_or_else(|| Refused::NoOption(name.to_owned()))?;
        let name = declared.name.clone();
        // Some runners press a button with an empty value.
        let value = value.filter(|text| !text.is_empty() || declared.kind != Kind::Button);
        match declared.problem_with(value.as_deref()) {
            None => Ok(Setting { name, value }),
            Some(problem) => Err(Refused::Value { name, problem }),
        }
    }

    fn wait_for_end(&self, command: &str) -> Result<(), Refused> {
        if self.search == Searching::No {
            return Ok(());
        }
        Err(Refused::Searching(command.to_owned()))
    }

    fn let_answer(&mut self, action: Action) -> Vec<Action> {
        match std::mem::replace(&mut self.search, Searching::No) {
            Searching::No => Vec::new(),
            Searching::Free | Searching::Held => {
                self.search = Searching::Free;
                vec![action]
            }
            Searching::Done(answer) => vec![Action::Say(answer)],
        }
    }
}

fn say_info(words: &dyn fmt::Display) -> Action {
    // An input line cannot become two output lines.
    let words: String =
        words.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    Action::Say(Server::info(Info { string: Some(&words), ..Info::default() }))
}
