//! An external engine at the board.

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spelrum_engine::search::{WIN, WIN_MIN};
use spelrum_engine::{
    Answer, ClockRule, EndedBy, ExternalPlayer, ExternalRules, Fault, GameRecord, GtpBoard, Host,
    Outcome, Parameters, Player, Protocol, Remarks, Rules, SearchDetails, SearchReport, TextTurn,
    Value,
};
use spelrum_external::lines::{DISTRIBUTION_MOVES_MAX, GameEnd, NOTE_BYTES_MAX};
use spelrum_external::uci::{Score, ScoreValue};
use spelrum_external::{
    Breach, Choice, Clock, Colour, Conditions, EngineFailure, FailureKind, Identity, LeasedEngine,
    Limits, OptionValue, Options, Phase, Remaining, Situation,
};
use spelrum_model::PlayableCell;
use spelrum_model::engines::{EngineIdentity, FORFEIT_OUTPUT_BYTES_MAX, Forfeit};

use super::notation::Notation;
use super::over_gtp::OverGtp;
use super::over_lines::{OverLines, game_setup};
use super::over_uci::OverUci;
use super::over_ugi::OverUgi;
use super::over_xboard::OverXboard;

/// An engine that exceeds its time by this, or thinks this long without a time limit, is logged.
const OVERDUE_AFTER: Duration = Duration::from_secs(10);

/// The most bytes that an engine's notes, lines and probabilities take in one game.
const REMARKS_BYTES_MAX: usize = 512 << 10;

/// One side of one game, played by an external engine.
pub(super) struct EngineSeat {
    engine: LeasedEngine,
    rules: ExternalRules,
    conditions: Conditions,
    /// 0 if it moved first from the opening, 1 for the other.
    mover: u8,
    /// Its clock and the other side's, for those that have one.
    clocks: [Option<ClockRule>; 2],
    /// How its protocol writes the game.
    notation: Box<dyn Notation>,
    /// Its last choice, the time from the end of its input, and its processor time.
    chosen: String,
    took: Option<Duration>,
    used: Option<Duration>,
    remarks: Option<Box<Remarks>>,
    remarks_bytes: usize,
    /// The reason for which it had no move.
    failure: Option<EngineFailure>,
}

/// The name of a protocol in engines files and sweeps.
pub(super) const fn protocol(protocol: spelrum_external::Protocol) -> Protocol {
    match protocol {
        spelrum_external::Protocol::Uci => Protocol::Uci,
        spelrum_external::Protocol::Gtp => Protocol::Gtp,
        spelrum_external::Protocol::Lines => Protocol::Lines,
        spelrum_external::Protocol::Xboard => Protocol::Xboard,
        spelrum_external::Protocol::Ugi => Protocol::Ugi,
    }
}

/// How a player's protocol writes its games. `key` is that of the player's random numbers.
fn notation(
    rules: &ExternalRules,
    game: &Rules,
    chess960: bool,
    key: [u8; 32],
) -> Box<dyn Notation> {
    match rules.protocol {
        Protocol::Uci => Box::new(OverUci::new(chess960)),
        Protocol::Ugi => Box::new(OverUgi::new(game)),
        Protocol::Xboard => Box::new(OverXboard::new()),
        Protocol::Gtp => Box::new(OverGtp { board: gtp_board(game, rules), moves: Vec::new() }),
        Protocol::Lines => Box::new(OverLines::new(key)),
    }
}

/// The options of a player's program, and the conditions of its games.
pub(super) fn conditions(
    cell: &PlayableCell,
    player: &Player,
    rules: &ExternalRules,
) -> (Options, Conditions) {
    let limits = player.limits();
    let rules_values = cell.definition().rules.values();
    let chess960 = rules_values
        .filter(|(info, _)| info.name == "chess960")
        .any(|(_, value)| *value == Value::Bool(true));
    let is_lines = rules.protocol == Protocol::Lines;
    let conditions = Conditions {
        game: is_lines.then(|| Arc::new(game_setup(&cell.definition().rules))),
        retries: rules.retries,
        chess960,
        board_size: gtp_board(&cell.definition().rules, rules).map(|board| board.size),
        limits: Limits {
            depth: limits.depth,
            nodes: limits.nodes,
            move_time: limits.move_time_us.map(Duration::from_micros),
        },
        clock: player.clock().map(|clock| remaining(clock, [])),
        margin: Duration::from_micros(player.margin_us()),
    };
    (engine_options(player.parameters()), conditions)
}

/// The game's board, for a GTP engine.
fn gtp_board(game: &Rules, rules: &ExternalRules) -> Option<GtpBoard> {
    (rules.protocol == Protocol::Gtp).then_some(game.game().gtp_board).flatten()
}

/// The options that a player with these parameters sets.
#[must_use]
pub fn engine_options(parameters: &Parameters) -> Options {
    let Some(Value::Table(options)) = parameters.get("options") else { return Options::new() };
    let value = |value: &Value| match value {
        Value::Bool(flag) => Some(OptionValue::Flag(*flag)),
        Value::Integer(number) => Some(OptionValue::Number(*number)),
        Value::Text(text) => Some(OptionValue::Text(text.clone())),
        // Not in a player's options.
        Value::Number(_) | Value::List(_) | Value::Table(_) => None,
    };
    options.iter().filter_map(|(name, setting)| Some((name.clone(), value(setting)?))).collect()
}

fn remaining(clock: ClockRule, took_us: impl IntoIterator<Item = u64>) -> Remaining {
    Remaining {
        time: Duration::from_micros(clock.left(took_us).time_us),
        increment: Duration::from_micros(clock.increment_us),
    }
}

impl EngineSeat {
    pub(super) fn new(
        engine: LeasedEngine,
        game: &Rules,
        rules: ExternalRules,
        conditions: Conditions,
        (index, key): (usize, [u8; 32]),
        clocks: [Option<ClockRule>; 2],
    ) -> Self {
        let notation = notation(&rules, game, conditions.chess960, key);
        Self {
            engine,
            rules,
            conditions,
            mover: u8::from(index == 1),
            clocks,
            notation,
            chosen: String::new(),
            took: None,
            used: None,
            remarks: None,
            remarks_bytes: 0,
            failure: None,
        }
    }

    /// Its name in sweeps.
    pub(super) fn name(&self) -> &str {
        &self.rules.engine
    }

    pub(super) fn identity(&self) -> EngineIdentity {
        identity(self.engine.identity())
    }

    /// Its build.
    pub(super) fn build(&self) -> [u8; 32] {
        self.engine.identity().build
    }

    pub(super) fn take_breaches(&mut self) -> Vec<Breach> {
        self.engine.take_breaches()
    }

    /// The reason for which the game could not go on, if that is not a loss.
    pub(super) fn take_unplayable(&mut self) -> Option<EngineFailure> {
        self.failure
            .take_if(|failure| matches!(fault(failure), Fault::Aborted))
            .filter(|failure| failure.kind != FailureKind::Aborted)
    }

    /// Its forfeit, after the arbiter has decided it.
    pub(super) fn forfeit(&mut self) -> Forfeit {
        let failure = self.failure.take().unwrap_or_else(|| self.engine.illegal(&self.chosen));
        let output = &failure.transcript;
        let from = output.len().saturating_sub(FORFEIT_OUTPUT_BYTES_MAX);
        let output = output[output.ceil_char_boundary(from)..].to_owned();
        let mut message = failure.to_string();
        message.truncate(message.floor_char_boundary(FORFEIT_OUTPUT_BYTES_MAX));
        // It may quote the engine.
        let message = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        Forfeit { message, output }
    }

    /// Reports the result of its game.
    pub(super) fn end_game(&mut self, record: &GameRecord) {
        let result = match (record.outcome, self.mover) {
            (Outcome::Draw, _) => "draw",
            (Outcome::Win, 0) | (Outcome::Loss, 1) => "win",
            (Outcome::Win | Outcome::Loss, _) => "loss",
        };
        let moves: Vec<String> = record.moves.iter().map(|record| record.mv.clone()).collect();
        let termination = record.termination.name();
        self.engine.end_game(&GameEnd { result, termination, moves: &moves });
    }

    /// What an engine reported of its move, without its words where there is no room for them: a game's results are one
    /// message.
    fn keep(&mut self, choice: Choice) -> Option<Box<Remarks>> {
        let Choice { note, distribution, refused, seldepth, hashfull, tbhits, .. } = choice;
        let mut pv = choice.pv.unwrap_or_default();
        if pv.len() > Remarks::PV_BYTES_MAX {
            pv.truncate(pv.floor_char_boundary(Remarks::PV_BYTES_MAX));
            pv.truncate(pv.rfind(' ').unwrap_or(0));
        }
        let hashfull = hashfull.map(|permille| permille.min(1_000));
        let tbhits = tbhits.map(|hits| hits.min(NUMBER_MAX));
        let bytes =
            note.len() + pv.len() + distribution.keys().map(|mv| mv.len() + 8).sum::<usize>();
        let has_room = bytes <= REMARKS_BYTES_MAX - self.remarks_bytes;
        let remarks = if has_room {
            self.remarks_bytes += bytes;
            let details = SearchDetails { seldepth, hashfull, tbhits, pv };
            Remarks { note, distribution, refused, details }
        } else {
            Remarks { refused, ..Remarks::default() }
        };
        (remarks != Remarks::default()).then(|| Box::new(remarks))
    }

    /// Both clocks before a move, by the recorded times.
    fn clock(&self, turn: &TextTurn<'_>, own_colour: Colour) -> Option<Clock> {
        let [own_clock, other_clock] = self.clocks;
        let rule = own_clock?;
        let took = |mover: u8| {
            turn.moves
                .iter()
                .filter(move |record| record.mover == mover)
                .map(|record| record.wall_us)
        };
        let mine = remaining(rule, took(self.mover));
        // A side without a clock is reported with the other's time.
        let other = other_clock.map_or(mine, |rule| remaining(rule, took(1 - self.mover)));
        let (white, black) = match own_colour {
            Colour::White => (mine, other),
            Colour::Black => (other, mine),
        };
        Some(Clock { white, black, moves_to_go: rule.left(took(self.mover)).moves_to_go })
    }

    fn search_report(&self, choice: &Choice) -> SearchReport {
        let limits = &self.conditions.limits;
        let has_time = limits.move_time.is_some() || self.clocks[0].is_some();
        let depth = choice.depth.unwrap_or(0);
        let is_deep = limits.depth.is_some_and(|limit| depth >= limit);
        let ended_by = if is_deep {
            EndedBy::Depth
        } else if has_time {
            EndedBy::Time
        } else if limits.nodes.is_some() {
            EndedBy::Nodes
        } else {
            EndedBy::Depth
        };
        SearchReport {
            depth,
            // Its reports are limited to storable numbers.
            nodes: choice.nodes.unwrap_or(0).min(NUMBER_MAX),
            evaluations: 0,
            full_tree_leaves: 0,
            score: choice.score.map(score),
            ended_by,
            told_us: choice
                .engine_time
                .map(|time| u64::try_from(time.as_micros()).unwrap_or(NUMBER_MAX).min(NUMBER_MAX)),
        }
    }
}

/// Logs an engine that thinks on its move much longer than its limit usually takes.
struct Overdue<'a> {
    engine: &'a str,
    limit: String,
    begun: Instant,
    named_after: Duration,
    is_named: Cell<bool>,
}

impl<'a> Overdue<'a> {
    fn new(engine: &'a str, situation: &Situation<'_>) -> Self {
        let Limits { depth, nodes, move_time } = situation.limits;
        let clock = situation.clock.map(|clock| clock.remaining(situation.to_move).time);
        let limits = [
            nodes.map(|nodes| format!("{nodes} nodes")),
            depth.map(|depth| format!("depth {depth}")),
            move_time.map(|time| format!("{} ms", time.as_millis())),
            clock.map(|time| format!("{} ms on its clock", time.as_millis())),
        ];
        let limits = limits.into_iter().flatten().collect::<Vec<_>>().join(" and ");
        let limit = match limits.as_str() {
            "" => "without a limit".to_owned(),
            limits => format!("on a limit of {limits}"),
        };
        // An engine with time may use it.
        let time = move_time.into_iter().chain(clock).min().unwrap_or_default();
        let named_after = time.saturating_add(OVERDUE_AFTER);
        Self { engine, limit, begun: Instant::now(), named_after, is_named: Cell::new(false) }
    }

    /// Checks the clock; a waiting caller does so many times a second.
    fn check(&self) {
        let waited = self.begun.elapsed();
        if waited >= self.named_after && !self.is_named.replace(true) {
            let Self { engine, limit, .. } = self;
            tracing::warn!(
                "engine {engine} has been thinking for {} s {limit}; `spelrum engine check {engine} \
                 --engines FILE` tries whether it keeps its limits",
                waited.as_secs()
            );
        }
    }
}

/// The greatest number in a result.
const NUMBER_MAX: u64 = (1 << 53) - 1;

/// Converts an engine's score: hundredths of a pawn stay, and mates become wins in plies.
fn score(Score { value, .. }: Score) -> i32 {
    let plies = |moves: i64| i32::try_from(2 * moves.min(4_000)).unwrap_or(0);
    match value {
        ScoreValue::Centipawns(value) => {
            let bound = i64::from(WIN_MIN - 1);
            i32::try_from(value.clamp(-bound, bound)).unwrap_or(0)
        }
        ScoreValue::Mate(moves) if moves > 0 => WIN - plies(moves) + 1,
        ScoreValue::Mate(moves) => -(WIN - plies(moves.saturating_abs())),
    }
}

/// The consequence of a failure. [`Fault::Aborted`]: none, the game has no result.
fn fault(failure: &EngineFailure) -> Fault {
    let words = failure.kind.to_string();
    match &failure.kind {
        FailureKind::Aborted
        // The engine lacked instructions, through no fault of its own.
        | FailureKind::Unsupported(_)
        | FailureKind::NotAllowed(_)
        | FailureKind::Missing(_)
        | FailureKind::NotExecutable { .. }
        | FailureKind::NoFile { .. }
        | FailureKind::NoProcess(_)
        | FailureKind::Exhausted(_)
        | FailureKind::Option { .. } => Fault::Aborted,
        FailureKind::OutOfTime { .. } => Fault::OutOfTime(words),
        FailureKind::Hang { .. } | FailureKind::NoAnswer { .. } => Fault::Stall(words),
        FailureKind::NoMove(word) if word.eq_ignore_ascii_case("resign") => {
            Fault::Resignation(words)
        }
        FailureKind::NoMove(_) | FailureKind::IllegalMove(_) | FailureKind::Unreadable { .. } => {
            Fault::IllegalMove(words)
        }
        FailureKind::Crash(_)
        | FailureKind::Raised(_)
        | FailureKind::Gone
        | FailureKind::Refused { .. } => Fault::Crash(words),
    }
}

impl ExternalPlayer for EngineSeat {
    fn choose(&mut self, turn: &TextTurn<'_>, host: &dyn Host) -> Result<Answer<String>, Fault> {
        if let Err(problem) = self.notation.follow(turn) {
            let kind = FailureKind::Unsupported(problem);
            let (engine, transcript) = (self.rules.engine.clone(), String::new());
            self.failure = Some(EngineFailure { engine, kind, during: Phase::Move, transcript });
            return Err(Fault::Aborted);
        }
        let to_move = self.notation.colour(turn.to_move);
        let clock = self.clock(turn, to_move);
        let limits = self.conditions.limits;
        let (start, moves) = self.notation.position(turn);
        let situation = Situation { start, moves, to_move, limits, clock };
        let overdue = Overdue::new(&self.rules.engine, &situation);
        let aborted = || {
            overdue.check();
            host.aborted()
        };
        match self.engine.choose(&situation, &aborted) {
            Ok(choice) => {
                let search = self.search_report(&choice);
                self.chosen.clone_from(&choice.mv);
                (self.took, self.used) = (Some(choice.wall), choice.cpu);
                let mv = self.notation.parse_move(turn, choice.mv.clone())?;
                self.remarks = self.keep(choice);
                Ok(Answer { mv, search })
            }
            Err(failure) => {
                let fault = fault(&failure);
                self.failure = Some(failure);
                Err(fault)
            }
        }
    }

    /// Lateness is judged by the same time that its clock is charged.
    fn measured_time(&self) -> Option<Duration> {
        self.took
    }

    fn measured_cpu_time(&self) -> Option<Duration> {
        self.used
    }

    fn remarks(&mut self) -> Option<Box<Remarks>> {
        self.remarks.take()
    }
}

const _: () = assert!(
    NOTE_BYTES_MAX <= Remarks::NOTE_BYTES_MAX && DISTRIBUTION_MOVES_MAX <= Remarks::MOVES_MAX,
    "results have room for all that engines tell"
);

/// The identity of a program, as workers report it.
pub(super) fn identity(identity: &Identity) -> EngineIdentity {
    let Identity { name, author, sha256, build: _ } = identity.clone();
    EngineIdentity { name, author, sha256 }
}

#[cfg(test)]
mod tests {
    use spelrum_external::uci::Bound;

    use super::*;

    #[test]
    fn scores_are_ours() {
        let scored = |value| score(Score { value, bound: Bound::Exact });
        assert_eq!(scored(ScoreValue::Centipawns(-35)), -35);
        assert_eq!(scored(ScoreValue::Centipawns(i64::MAX)), WIN_MIN - 1);
        // Mate in one is a win in one ply; mated in one, a loss in two.
        assert_eq!(scored(ScoreValue::Mate(1)), WIN - 1);
        assert_eq!(scored(ScoreValue::Mate(-1)), -(WIN - 2));
        assert_eq!(scored(ScoreValue::Mate(0)), -WIN);
        assert!(scored(ScoreValue::Mate(i64::MAX)) >= WIN_MIN);
        assert!(scored(ScoreValue::Mate(i64::MIN)) <= -WIN_MIN);
    }
}
