//! An engine that speaks GTP.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::breach::Breaches;
use crate::failure::FailureKind;
use crate::gtp::{Client, Dialect};
use crate::process::{Aborted, Process};
use crate::situation::{Choice, Colour, Conditions, Limits, Situation, Start};
use crate::spec::{EngineSpec, Options};

use super::asking::{Question, allowed, ask_move, word};

/// How GTP says that a side cannot move.
const PASS: &str = "pass";

#[derive(Debug)]
pub(super) struct OverGtp {
    client: Client,
    name: String,
    /// What it says that it knows; empty if it does not say.
    commands: BTreeSet<String>,
    /// The moves that it knows of.
    told: Vec<String>,
    is_on_clock: bool,
}

/// How an answer is waited for.
#[derive(Clone, Copy)]
struct Waits<'a> {
    within: Duration,
    aborted: Aborted<'a>,
}

impl OverGtp {
    /// Asks the engine who it is, and sets it up.
    pub(super) fn start(
        process: &mut Process,
        spec: &EngineSpec,
        options: &Options,
        aborted: Aborted<'_>,
    ) -> Result<Self, FailureKind> {
        let mut own = Self {
            client: Client::new(spec.gtp.ids),
            name: String::new(),
            commands: BTreeSet::new(),
            told: Vec::new(),
            is_on_clock: false,
        };
        let waits = Waits { within: spec.patience.startup, aborted };
        let mut ask = |command: &str| own.ask(process, command, waits);
        // Which of these it knows is its own affair.
        let [commands, name, version] =
            [ask("list_commands")?, ask("name")?, ask("version")?].map(Result::unwrap_or_default);
        own.commands = commands.split_whitespace().map(ToOwned::to_owned).collect();
        own.name = format!("{name} {version}").trim().to_owned();
        let set = spec.options.iter().filter_map(|option| {
            let (value, command) = (options.get(&option.name)?, option.command.as_ref()?);
            Some(command.replace("{value}", &value.to_string()))
        });
        for command in spec.gtp.setup.iter().cloned().chain(set) {
            own.order(process, &command, waits)?;
        }
        Ok(own)
    }

    pub(super) fn name(&self) -> String {
        self.name.clone()
    }

    pub(super) fn breaches(&mut self) -> &mut Breaches {
        self.client.breaches()
    }

    pub(super) fn new_game(
        &mut self,
        process: &mut Process,
        spec: &EngineSpec,
        conditions: &Conditions,
        aborted: Aborted<'_>,
    ) -> Result<(), FailureKind> {
        let mut commands = Vec::new();
        if let Some(size) = conditions.board_size
            && spec.gtp.boardsize
            && self.knows("boardsize")
        {
            commands.push(format!("boardsize {size}"));
        }
        commands.push("clear_board".to_owned());
        commands.extend(told_limits(&spec.gtp, &conditions.limits));
        if spec.gtp.limits.is_empty() && self.knows("time_settings") {
            commands.extend(time_settings(conditions));
        }
        self.is_on_clock = conditions.clock.is_some();
        self.told.clear();
        let waits = Waits { within: spec.patience.ready, aborted };
        for command in commands {
            self.order(process, &command, waits)?;
        }
        Ok(())
    }

    pub(super) fn choose(
        &mut self,
        process: &mut Process,
        spec: &EngineSpec,
        situation: &Situation<'_>,
        aborted: Aborted<'_>,
    ) -> Result<Choice, FailureKind> {
        let Start::Board { first, .. } = situation.start else {
            let problem = "GTP has no positions of chess";
            return Err(FailureKind::Unsupported(problem.to_owned()));
        };
        // Before anything is said of it.
        situation.moves.iter().try_for_each(|mv| word(mv).map(|_| ()))?;
        let waits = Waits { within: spec.patience.ready, aborted };
        self.tell(process, &spec.gtp, (first, situation.moves), waits)?;
        let colour = spec.gtp.colour(situation.to_move);
        if let Some(clock) = &situation.clock
            && self.is_on_clock
            && self.knows("time_left")
        {
            let seconds = clock.of(situation.to_move).time.as_secs();
            let stones = clock.moves_to_go.unwrap_or(0);
            let command = format!("time_left {colour} {seconds} {stones}");
            // Some say that they know it, and do not.
            self.ask(process, &command, waits)?.ok();
        }
        let command = format!("genmove {colour}");
        let text = format!("{}\n", self.client.ask(&command));
        let client = &mut self.client;
        let time = (allowed(situation, &spec.patience), &spec.patience);
        let (response, wall) =
            ask_move(process, &text, None, time, aborted, |line| client.take(line))?;
        let said = response.text.map_err(|said| FailureKind::Refused { command, said })?;
        let mv = said.lines().next().unwrap_or_default();
        if mv.is_empty() || mv.eq_ignore_ascii_case("resign") {
            return Err(FailureKind::NoMove(mv.to_owned()));
        }
        self.told.push(mv.to_owned());
        Ok(Choice {
            mv: mv.to_owned(),
            ponder: None,
            depth: None,
            seldepth: None,
            nodes: None,
            score: None,
            pv: None,
            engine_time: None,
            wall,
        })
    }

    /// Tells it the moves that it has not heard of. One that it made itself it has played.
    fn tell(
        &mut self,
        process: &mut Process,
        dialect: &Dialect,
        (first, moves): (Colour, &[String]),
        waits: Waits<'_>,
    ) -> Result<(), FailureKind> {
        let knows_these = self.told.len() <= moves.len()
            && self.told.iter().zip(moves).all(|(told, mv)| told.eq_ignore_ascii_case(mv));
        if !knows_these {
            self.order(process, "clear_board", waits)?;
            self.told.clear();
        }
        let turns = [first, first.other()].into_iter().cycle();
        let untold = turns.zip(moves).skip(self.told.len());
        for (colour, mv) in untold {
            if dialect.pass || !mv.eq_ignore_ascii_case(PASS) {
                let command = format!("play {} {mv}", dialect.colour(colour));
                self.order(process, &command, waits)?;
            }
            self.told.push(mv.clone());
        }
        Ok(())
    }

    fn knows(&self, command: &str) -> bool {
        self.commands.is_empty() || self.commands.contains(command)
    }

    /// Says a command that it must obey.
    fn order(
        &mut self,
        process: &mut Process,
        command: &str,
        waits: Waits<'_>,
    ) -> Result<(), FailureKind> {
        match self.ask(process, command, waits)? {
            Ok(_) => Ok(()),
            Err(said) => Err(FailureKind::Refused { command: command.to_owned(), said }),
        }
    }

    fn ask(
        &mut self,
        process: &mut Process,
        command: &str,
        Waits { within, aborted }: Waits<'_>,
    ) -> Result<Result<String, String>, FailureKind> {
        let text = format!("{}\n", self.client.ask(&command));
        let question = Question { asked: command, awaited: "= or ?", within };
        let client = &mut self.client;
        let response = question.ask(process, &text, aborted, |line| client.take(line))?;
        Ok(response.text)
    }
}

/// How its own commands tell what bounds its moves.
fn told_limits(dialect: &Dialect, limits: &Limits) -> Vec<String> {
    let time = limits.move_time;
    let values = [
        ("{seconds}", time.map(|time| time.as_secs().max(1))),
        ("{milliseconds}", time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))),
        ("{nodes}", limits.nodes),
        ("{depth}", limits.depth.map(u64::from)),
    ];
    let filled = dialect.limits.iter().map(|command| {
        values.iter().try_fold(command.clone(), |command, (name, value)| {
            if !command.contains(name) {
                return Some(command);
            }
            value.map(|value| command.replace(name, &value.to_string()))
        })
    });
    filled.flatten().collect()
}

/// How the protocol tells time: for the game, or for each move as a period of one. It knows whole
/// seconds, and no increment.
fn time_settings(conditions: &Conditions) -> Option<String> {
    match (conditions.clock, conditions.limits.move_time) {
        (Some(clock), _) => Some(format!("time_settings {} 0 0", clock.time.as_secs().max(1))),
        (None, Some(time)) => Some(format!("time_settings 0 {} 1", time.as_secs().max(1))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::situation::Remaining;

    #[test]
    fn limits_are_told_as_the_engine_has_them() {
        let limits =
            ["time -m {seconds} -g 0", "nodes {nodes}", "level {depth} {nodes}", "ponder off"];
        let dialect = Dialect { limits: limits.map(str::to_owned).into(), ..Dialect::default() };
        let time = Limits { move_time: Some(Duration::from_millis(2_700)), ..Limits::default() };
        assert_eq!(told_limits(&dialect, &time), ["time -m 2 -g 0", "ponder off"]);
        let nodes = Limits { nodes: Some(9), depth: Some(3), ..Limits::default() };
        assert_eq!(told_limits(&dialect, &nodes), ["nodes 9", "level 3 9", "ponder off"]);
    }

    #[test]
    fn time_is_told_in_whole_seconds() {
        let mut conditions = Conditions {
            chess960: false,
            board_size: None,
            limits: Limits::default(),
            clock: None,
        };
        assert_eq!(time_settings(&conditions), None);
        conditions.limits.move_time = Some(Duration::from_millis(100));
        assert_eq!(time_settings(&conditions).unwrap(), "time_settings 0 1 1");
        let (time, increment) = (Duration::from_secs(90), Duration::ZERO);
        conditions.clock = Some(Remaining { time, increment });
        assert_eq!(time_settings(&conditions).unwrap(), "time_settings 90 0 0");
    }
}
