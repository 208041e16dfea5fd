//! An engine that speaks GTP.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::breach::Breaches;
use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::gtp::{Client, Dialect};
use crate::process::Aborted;
use crate::situation::{Choice, Colour, Conditions, Situation, Start};
use crate::spec::{EngineSpec, Options};
use crate::text::shown;

use super::asking::{Budget, Question, allowed, ask_move, word};
use super::bounds::{Bound, list_bounds, no_time_command};
use super::speaker::Speaker;

/// GTP's move for a side that cannot move.
const PASS: &str = "pass";

#[derive(Debug)]
pub(super) struct OverGtp {
    client: Client,
    name: String,
    /// The commands that it reports; empty if it reports none.
    commands: BTreeSet<String>,
    /// The moves that it has.
    sent: Vec<String>,
    is_on_clock: bool,
    margin: Duration,
    /// Its limits from earlier commands, of this game or another.
    bounded: BTreeSet<String>,
    /// The limits of its moves in this game.
    limits: Vec<Bound>,
}

/// The waits for answers: all of them up to one deadline.
#[derive(Clone, Copy)]
struct Waits<'a> {
    deadline: Instant,
    within: Duration,
    aborted: Aborted<'a>,
}

impl<'a> Waits<'a> {
    fn new(within: Duration, aborted: Aborted<'a>) -> Self {
        Self { deadline: Instant::now() + within, within, aborted }
    }
}

impl Speaker for OverGtp {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn commands(&self) -> Vec<&str> {
        self.commands.iter().map(String::as_str).collect()
    }

    fn takes_board(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        size: u32,
        aborted: Aborted<'_>,
    ) -> Result<Option<bool>, FailureKind> {
        if !spec.gtp.boardsize || !self.knows("boardsize") {
            return Ok(None);
        }
        let waits = Waits::new(spec.patience.ready, aborted);
        let command = Bound::from_board_size(size).command;
        Ok(Some(self.ask(process, &command, waits)?.is_ok()))
    }

    fn breaches(&mut self) -> &mut Breaches {
        self.client.breaches()
    }

    fn suits(&self, spec: &EngineSpec, conditions: &Conditions) -> bool {
        // Limits that cannot be sent are reported when they are sent.
        self.bounds(spec, conditions).map_or(true, |bounds| self.stale_bound(&bounds).is_none())
    }

    fn new_game(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        conditions: &Conditions,
        aborted: Aborted<'_>,
    ) -> Result<(), FailureKind> {
        let bounds = self.bounds(spec, conditions)?;
        if let Some(subject) = self.stale_bound(&bounds) {
            let problem = format!("the setting `{subject}` of an earlier game cannot be reset");
            return Err(FailureKind::Unsupported(problem));
        }
        self.is_on_clock = conditions.clock.is_some();
        self.margin = conditions.margin;
        let waits = Waits::new(spec.patience.ready, aborted);
        // For some engines a new size begins a new game, and some drop their limits with the old
        // one.
        let (board, limits): (Vec<_>, Vec<_>) = bounds.into_iter().partition(Bound::is_board_size);
        for bound in board {
            self.bound(process, bound, waits)?;
        }
        self.limits = limits;
        self.clear_board(process, waits)
    }

    fn choose(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        situation: &Situation<'_>,
        aborted: Aborted<'_>,
    ) -> Result<Choice, FailureKind> {
        let Start::Board { first, .. } = situation.start else {
            let problem = "GTP cannot transmit chess positions";
            return Err(FailureKind::Unsupported(problem.to_owned()));
        };
        // Before any output is read.
        situation.moves.iter().try_for_each(|mv| word(mv).map(|_| ()))?;
        let begun = Instant::now();
        let waits = Waits::new(spec.patience.ready, aborted);
        self.send_moves(process, &spec.gtp, (first, situation.moves), waits)?;
        let colour = spec.gtp.colour(situation.to_move);
        if let Some(clock) = &situation.clock
            && self.is_on_clock
            && self.knows("time_left")
        {
            let seconds = clock.remaining(situation.to_move).time.as_secs();
            let stones = clock.moves_to_go.unwrap_or(0);
            let command = format!("time_left {colour} {seconds} {stones}");
            // Some claim to know it, but do not.
            self.ask(process, &command, waits)?.ok();
        }
        let command = format!("genmove {colour}");
        let text = format!("{}\n", self.client.ask(&command));
        let client = &mut self.client;
        // It may think as soon as it has the last move.
        let budget = Budget {
            allowed: allowed(situation, &spec.patience, self.margin),
            spent: begun.elapsed(),
            stop: spec.patience.stop,
        };
        let (response, wall) =
            ask_move(process, &text, None, budget, aborted, |line| client.take(line))?;
        let answer = response.text.map_err(|answer| refused(&command, &answer))?;
        let mv = &shown(answer.lines().next().unwrap_or_default(), Breaches::SAID_BYTES_MAX);
        if mv.is_empty() || mv.eq_ignore_ascii_case("resign") {
            return Err(FailureKind::NoMove(mv.to_owned()));
        }
        self.sent.push(mv.to_owned());
        Ok(Choice { mv: mv.to_owned(), wall, ..Choice::default() })
    }
}

impl OverGtp {
    /// Asks the engine for its identity, and sets it up.
    pub(super) fn start(
        process: &mut Connection,
        spec: &EngineSpec,
        options: &Options,
        aborted: Aborted<'_>,
    ) -> Result<Self, FailureKind> {
        let mut player = Self {
            client: Client::new(spec.gtp.ids),
            name: String::new(),
            commands: BTreeSet::new(),
            sent: Vec::new(),
            is_on_clock: false,
            margin: Duration::ZERO,
            bounded: BTreeSet::new(),
            limits: Vec::new(),
        };
        let waits = Waits::new(spec.patience.startup, aborted);
        if !spec.gtp.ids {
            player.synchronize(process, waits)?;
        }
        let mut ask = |command: &str| player.ask(process, command, waits);
        // The engine may lack any of these commands.
        let [commands, name, version] =
            [ask("list_commands")?, ask("name")?, ask("version")?].map(Result::unwrap_or_default);
        player.commands = commands.split_whitespace().map(ToOwned::to_owned).collect();
        player.name = shown(format!("{name} {version}").trim(), Breaches::SAID_BYTES_MAX);
        let set = spec.options.iter().filter_map(|option| {
            let (value, command) = (options.get(&option.name)?, option.command.as_ref()?);
            Some(command.replace("{value}", &value.to_string()))
        });
        for command in spec.gtp.setup.iter().cloned().chain(set) {
            player.run_command(process, &command, waits)?;
        }
        Ok(player)
    }

    fn bounds(
        &self,
        spec: &EngineSpec,
        conditions: &Conditions,
    ) -> Result<Vec<Bound>, FailureKind> {
        let is_sized = spec.gtp.boardsize && self.knows("boardsize");
        let board = conditions.board_size.filter(|_| is_sized).map(Bound::from_board_size);
        let limits = list_bounds(&spec.gtp, conditions, |command| self.knows(command))?;
        Ok(board.into_iter().chain(limits).collect())
    }

    fn stale_bound(&self, bounds: &[Bound]) -> Option<&String> {
        self.bounded.iter().find(|subject| bounds.iter().all(|bound| bound.subject != **subject))
    }

    /// Empties the board, which for some begins a new game without limits.
    fn clear_board(
        &mut self,
        process: &mut Connection,
        waits: Waits<'_>,
    ) -> Result<(), FailureKind> {
        self.sent.clear();
        self.run_command(process, "clear_board", waits)?;
        for bound in self.limits.clone() {
            self.bound(process, bound, waits)?;
        }
        Ok(())
    }

    /// Sends it the moves that it lacks. It has its own moves already.
    fn send_moves(
        &mut self,
        process: &mut Connection,
        dialect: &Dialect,
        (first, moves): (Colour, &[String]),
        waits: Waits<'_>,
    ) -> Result<(), FailureKind> {
        let knows_these = self.sent.len() <= moves.len()
            && self.sent.iter().zip(moves).all(|(sent, mv)| sent.eq_ignore_ascii_case(mv));
        if !knows_these {
            self.clear_board(process, waits)?;
        }
        let turns = [first, first.opponent()].into_iter().cycle();
        let unsent = turns.zip(moves).skip(self.sent.len());
        for (colour, mv) in unsent {
            if dialect.pass || !mv.eq_ignore_ascii_case(PASS) {
                let command = format!("play {} {mv}", dialect.colour(colour));
                self.run_command(process, &command, waits)?;
            }
            self.sent.push(mv.clone());
        }
        Ok(())
    }

    /// Without numbers, a greeting that looks like an answer would shift every later answer to the wrong
    /// command. This command's answer is recognisable: a number.
    fn synchronize(
        &mut self,
        process: &mut Connection,
        waits: Waits<'_>,
    ) -> Result<(), FailureKind> {
        self.ask_for("a number", process, "protocol_version", waits, |answer| {
            answer.as_ref().map_or(true, |answer| answer.parse::<u32>().is_ok())
        })?
        // An engine that lacks the command has answered, too.
        .ok();
        Ok(())
    }

    /// Sends it the limits of its moves.
    fn bound(
        &mut self,
        process: &mut Connection,
        bound: Bound,
        waits: Waits<'_>,
    ) -> Result<(), FailureKind> {
        if !bound.may_be_refused() {
            self.run_command(process, &bound.command, waits)?;
        } else if self.ask(process, &bound.command, waits)?.is_err() {
            return Err(no_time_command());
        }
        self.bounded.insert(bound.subject);
        Ok(())
    }

    fn knows(&self, command: &str) -> bool {
        self.commands.is_empty() || self.commands.contains(command)
    }

    /// Sends a command that it must obey.
    fn run_command(
        &mut self,
        process: &mut Connection,
        command: &str,
        waits: Waits<'_>,
    ) -> Result<(), FailureKind> {
        match self.ask(process, command, waits)? {
            Ok(_) => Ok(()),
            Err(problem) => Err(refused(command, &problem)),
        }
    }

    fn ask(
        &mut self,
        process: &mut Connection,
        command: &str,
        waits: Waits<'_>,
    ) -> Result<Result<String, String>, FailureKind> {
        self.ask_for("= or ?", process, command, waits, |_| true)
    }

    /// Sends a command, and skips answers until one fits.
    fn ask_for(
        &mut self,
        awaited: &'static str,
        process: &mut Connection,
        command: &str,
        Waits { deadline, within, aborted }: Waits<'_>,
        is_answer: impl Fn(&Result<String, String>) -> bool,
    ) -> Result<Result<String, String>, FailureKind> {
        let text = format!("{}\n", self.client.ask(&command));
        let question = Question { asked: command, awaited, within };
        let client = &mut self.client;
        question.ask_until(deadline, process, &text, aborted, |line| {
            let answer = client.take(line)?.text;
            if !is_answer(&answer) {
                client.keep_waiting();
                return None;
            }
            Some(answer)
        })
    }
}

fn refused(command: &str, answer: &str) -> FailureKind {
    let answer = shown(answer, Breaches::SAID_BYTES_MAX);
    FailureKind::Refused { command: command.to_owned(), said: answer }
}
