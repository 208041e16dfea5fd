//! An engine that speaks CECP, the protocol of XBoard.

use std::time::{Duration, Instant};

use crate::breach::{BreachKind, Breaches};
use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::lines::GameEnd;
use crate::process::{Aborted, Lost, Timed};
use crate::situation::{Choice, Clock, Colour, Conditions, Limits, Remaining, Situation, Start};
use crate::spec::{EngineSpec, Options};
use crate::uci::{Declared, is_move};
use crate::xboard::{Client, Event, edit_commands};

use super::asking::{Budget, Question, allowed, ask_move, position, read_stale, word};
use super::settings::at_start;
use super::speaker::Speaker;

/// Features end with `done=1`; an engine that does not say it has said all after this time.
const DONE_AFTER: Duration = Duration::from_secs(2);
/// The longest wait for an engine to take the result of a game.
const END_MAX: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct OverXboard {
    client: Client,
    games: u64,
    /// The limits of this game, which other games do not reset for certain.
    kind: Option<LimitKind>,
    /// For the game.
    limits: Limits,
    margin: Duration,
    board: Board,
    /// The engine's side in this game, once it has moved.
    colour: Option<Colour>,
}

/// What the engine has on its board.
#[derive(Debug, Default)]
struct Board {
    /// The first position, unless it is the usual one; `None` if the board has to be set up.
    start: Option<Option<String>>,
    /// The moves since. One that the engine wrote in its own notation is `None`.
    moves: Vec<Option<String>>,
    /// Whether it answers the next move by itself.
    is_playing: bool,
}

impl Board {
    fn has(&self, start: Option<&str>, moves: &[String]) -> bool {
        self.start.as_ref().is_some_and(|has| has.as_deref() == start)
            && self.moves.len() <= moves.len()
            && self
                .moves
                .iter()
                .zip(moves)
                .all(|(has, mv)| has.as_ref().is_none_or(|has| has.eq_ignore_ascii_case(mv)))
    }
}

/// The limits that the protocol cannot withdraw from engines that keep them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LimitKind {
    depth: bool,
    clock: bool,
}

impl LimitKind {
    fn new(conditions: &Conditions) -> Self {
        Self { depth: conditions.limits.depth.is_some(), clock: conditions.clock.is_some() }
    }
}

/// The engine's answer to the question for a move.
enum Answer {
    Move(String),
    Claim(String),
    Refusal(String),
    /// It has nothing to say after a claim.
    Nothing,
}

impl Speaker for OverXboard {
    fn name(&self) -> String {
        self.client.features().name.clone()
    }

    fn declared(&self) -> Option<&[Declared]> {
        Some(self.client.options())
    }

    fn breaches(&mut self) -> &mut Breaches {
        self.client.breaches()
    }

    fn suits(&self, _spec: &EngineSpec, conditions: &Conditions) -> bool {
        let has_room = self.games == 0 || self.client.features().reuse;
        has_room && self.kind.is_none_or(|kind| kind == LimitKind::new(conditions))
    }

    fn new_game(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        conditions: &Conditions,
        aborted: Aborted<'_>,
    ) -> Result<(), FailureKind> {
        let limits = conditions.limits;
        check_conditions(conditions)?;
        if !self.suits(spec, conditions) {
            let problem = "its process cannot play another game, or none with other limits";
            return Err(FailureKind::Unsupported(problem.to_owned()));
        }
        (self.limits, self.margin, self.colour) = (limits, conditions.margin, None);
        self.kind = Some(LimitKind::new(conditions));
        self.games += 1;
        read_stale(process, |line| {
            self.client.take(line);
        });
        self.reset(process, spec, conditions.clock.is_some(), aborted)
    }

    fn choose(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        situation: &Situation<'_>,
        aborted: Aborted<'_>,
    ) -> Result<Choice, FailureKind> {
        read_stale(process, |line| {
            self.client.take(line);
        });
        let fen = match situation.start {
            Start::Usual => None,
            Start::Fen(fen) => Some(position(fen)?),
            Start::Board { .. } | Start::Any(_) => {
                let problem = "the XBoard protocol is spoken for chess positions only";
                return Err(FailureKind::Unsupported(problem.to_owned()));
            }
        };
        situation.moves.iter().try_for_each(|mv| word(mv).map(|_| ()))?;
        if situation.clock.is_none() && self.limits == Limits::default() {
            // It would think by whatever it takes as its clock.
            let problem = "a move without any limit";
            return Err(FailureKind::Unsupported(problem.to_owned()));
        }
        self.colour = Some(situation.to_move);
        // An engine that answered more than once may do so again, after the next question.
        if self.client.breaches().get(BreachKind::Unasked).is_some() {
            self.run(process, String::new(), &[], spec.patience.ready, aborted)?;
        }
        let text = self.question(process, spec, situation, fen, aborted)?;
        // Until it has answered, its board is unknown.
        let mut board = std::mem::take(&mut self.board);
        let (mv, wall) = self.ask(process, spec, &text, situation, aborted)?;
        board.moves.push(is_move(&mv).then(|| mv.clone()));
        board.is_playing = true;
        self.board = board;
        let report = self.client.take_report();
        Ok(Choice {
            mv,
            depth: report.depth,
            seldepth: report.seldepth,
            nodes: report.nodes,
            score: report.score,
            pv: report.pv,
            engine_time: report.time_ms.map(Duration::from_millis),
            wall,
            ..Choice::default()
        })
    }

    fn end_game(&mut self, process: &mut Connection, end: &GameEnd<'_>) -> bool {
        let Some(colour) = self.colour else { return true };
        let result = match (end.result, colour) {
            ("win", Colour::White) | ("loss", Colour::Black) => "1-0",
            ("loss", Colour::White) | ("win", Colour::Black) => "0-1",
            _ => "1/2-1/2",
        };
        let text = format!("force\nresult {result} {{{}}}\n", end.termination);
        self.board = Board::default();
        process.send(&text, Instant::now() + END_MAX, &|| false).is_ok()
    }
}

impl OverXboard {
    /// Greets the engine, and sets its options.
    pub(super) fn start(
        process: &mut Connection,
        spec: &EngineSpec,
        options: &Options,
        aborted: Aborted<'_>,
    ) -> Result<Self, FailureKind> {
        let mut player = Self {
            client: Client::default(),
            games: 0,
            kind: None,
            limits: Limits::default(),
            margin: Duration::ZERO,
            board: Board::default(),
            colour: None,
        };
        let mut text = if spec.xboard.features {
            player.greet(process, spec.patience.startup, aborted)?;
            String::new()
        } else {
            player.client.greet_without_features().to_owned()
        };
        let mut words: Vec<&str> = Vec::new();
        for setting in at_start(player.client.options(), &spec.set, options)? {
            let command = player.client.set_option(setting.option, setting.value.as_deref());
            text.push_str(&command);
            text.push('\n');
        }
        for command in &spec.xboard.setup {
            text.push_str(command);
            text.push('\n');
            words.extend(command.split(' ').next().filter(|word| !word.is_empty()));
        }
        player.run(process, text, &words, spec.patience.startup, aborted)?;
        Ok(player)
    }

    /// Waits for the engine's features.
    fn greet(
        &mut self,
        process: &mut Connection,
        within: Duration,
        aborted: Aborted<'_>,
    ) -> Result<(), FailureKind> {
        let began = Instant::now();
        let end = began + within;
        let mut deadline = end;
        let mut text = self.client.greet().to_owned();
        loop {
            let is_greeted = process.send(&text, deadline, aborted).and_then(|_| {
                loop {
                    let Timed { line, .. } = process.next_line(deadline, aborted)?;
                    let event = self.client.take(&line);
                    process.reuse(line);
                    match event {
                        Some(Event::Greeted) => return Ok(true),
                        Some(Event::Declared) => return Ok(false),
                        _ => {}
                    }
                }
            });
            // It expects an answer to each feature.
            text = self.client.take_replies();
            let is_slow = self.client.is_slow();
            match is_greeted {
                Ok(true) => break,
                Ok(false) if is_slow => deadline = end,
                Ok(false) => deadline = end.min(Instant::now() + DONE_AFTER),
                Err(Lost::TimedOut) if deadline < end => break,
                Err(Lost::TimedOut) => {
                    let awaited =
                        if self.client.has_features() { "feature done=1" } else { "feature" };
                    let [asked, awaited] = ["protover 2", awaited].map(str::to_owned);
                    return Err(FailureKind::NoAnswer { asked, awaited, within });
                }
                Err(Lost::Ended(exit)) => return Err(FailureKind::Crash(exit)),
                Err(Lost::Aborted) => return Err(FailureKind::Aborted),
            }
        }
        self.client.end_greeting();
        // The last answers need no wait.
        self.run(process, text, &[], within, aborted)
    }

    /// Sends commands, and waits until they are done, if the engine reports that. An error about a command with one of
    /// these words is a failure.
    fn run(
        &mut self,
        process: &mut Connection,
        mut text: String,
        words: &[&str],
        within: Duration,
        aborted: Aborted<'_>,
    ) -> Result<(), FailureKind> {
        // Late features are answered too.
        text.insert_str(0, &self.client.take_replies());
        let ping = self.client.ping();
        let asked = ping.as_deref().map_or("its commands", str::trim_end);
        let question = Question { asked, awaited: "pong", within };
        let client = &mut self.client;
        match &ping {
            Some(ping) => {
                text.push_str(ping);
                question.ask(process, &text, aborted, |line| {
                    client.take(line).filter(|event| *event == Event::Ready)
                })?;
            }
            None => question.tell(process, &text, aborted)?,
        }
        match self.client.take_error(words) {
            Some((word, said)) => Err(refused(&word, said)),
            None => Ok(()),
        }
    }

    /// Begins a game on the engine's side, with the limits of each move.
    fn reset(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        has_clock: bool,
        aborted: Aborted<'_>,
    ) -> Result<(), FailureKind> {
        self.board = Board::default();
        let mut text = "new\nforce\nhard\neasy\npost\n".to_owned();
        if !has_clock {
            // Without a time control it would take its own. A depth alone is bounded as all such moves are.
            let time = self.limits.move_time.unwrap_or(spec.patience.unbounded_move);
            text.push_str(&format!("st {}\n", time.as_secs().max(1)));
        }
        if let Some(depth) = self.limits.depth {
            text.push_str(&format!("sd {depth}\n"));
        }
        self.run(process, text, &["st", "sd"], spec.patience.ready, aborted)?;
        self.board.start = Some(None);
        Ok(())
    }

    /// Brings the engine's board up to the position, and returns the commands that let it think.
    fn question(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        situation: &Situation<'_>,
        fen: Option<&str>,
        aborted: Aborted<'_>,
    ) -> Result<String, FailureKind> {
        let Situation { moves, to_move, .. } = *situation;
        let clock = situation.clock.as_ref();
        let time = clock.map_or_else(String::new, |clock| self.time(clock, to_move));
        let mut setup = String::new();
        let is_new = self.board.moves.is_empty();
        if !self.board.has(fen, moves) {
            if !(is_new && self.board.start == Some(None)) {
                self.reset(process, spec, clock.is_some(), aborted)?;
            }
            if let Some(fen) = fen {
                setup = self.set_up(fen)?;
            }
            self.board.start = Some(fen.map(str::to_owned));
        } else if let ([mv], true) = (&moves[self.board.moves.len()..], self.board.is_playing) {
            self.board.moves.push(Some(mv.clone()));
            let mv = self.client.send_move(mv);
            return Ok(time + &mv);
        }
        if self.board.moves.is_empty()
            && let Some(clock) = clock
        {
            setup.push_str(&level(clock, to_move));
        }
        if self.board.is_playing {
            setup.push_str("force\n");
        }
        for mv in &moves[self.board.moves.len()..] {
            setup.push_str(&self.client.send_move(mv));
        }
        self.board.moves = moves.iter().cloned().map(Some).collect();
        if !setup.is_empty() {
            let words = ["setboard", "edit", "level", "position", "Illegal", "Invalid"];
            self.run(process, setup, &words, spec.patience.ready, aborted)?;
        }
        Ok(match (self.client.features().colors, to_move) {
            (false, _) => format!("{time}go\n"),
            // The first word is for old engines that want their clocks set so.
            (true, Colour::White) if time.is_empty() => "white\ngo\n".to_owned(),
            (true, Colour::Black) if time.is_empty() => "black\ngo\n".to_owned(),
            (true, Colour::White) => format!("black\n{time}white\ngo\n"),
            (true, Colour::Black) => format!("white\n{time}black\ngo\n"),
        })
    }

    /// The commands that set up a position.
    fn set_up(&self, fen: &str) -> Result<String, FailureKind> {
        if self.client.features().setboard {
            return Ok(format!("setboard {fen}\n"));
        }
        edit_commands(fen).ok_or_else(|| {
            FailureKind::Unsupported(format!(
                "it does not know `setboard`, and `edit` cannot express castling rights or en passant of `{fen}`; \
                 begin its games from the usual position"
            ))
        })
    }

    /// Both clocks, in hundredths of a second.
    fn time(&self, clock: &Clock, to_move: Colour) -> String {
        if !self.client.features().time {
            return String::new();
        }
        let own = clock.remaining(to_move).time.as_millis() / 10;
        let other = clock.remaining(to_move.opponent()).time.as_millis() / 10;
        format!("time {}\notim {}\n", own.max(1), other.max(1))
    }

    /// The engine's move, and its time. A claim that the game is over is no move; but some claim, and move then.
    fn ask(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        text: &str,
        situation: &Situation<'_>,
        aborted: Aborted<'_>,
    ) -> Result<(String, Duration), FailureKind> {
        let patience = &spec.patience;
        let allowed = allowed(situation, patience, self.margin);
        let mut budget = Budget { allowed, spent: Duration::ZERO, stop: patience.stop };
        let client = &mut self.client;
        client.begin_search();
        let mut text = text.to_owned();
        let mut claim: Option<String> = None;
        loop {
            let asked = ask_move(process, &text, Some("?\n"), budget, aborted, |line| match client
                .take(
                line,
            )? {
                Event::Chosen(mv) => Some(Answer::Move(mv)),
                Event::Claimed(said) => Some(Answer::Claim(said)),
                Event::Refused(said) => Some(Answer::Refusal(said)),
                Event::Ready => Some(Answer::Nothing),
                Event::Declared | Event::Greeted => None,
            });
            let (answer, wall) = match (asked, claim.take()) {
                (Ok(answer), said) => {
                    claim = said;
                    answer
                }
                (Err(FailureKind::Hang { .. } | FailureKind::OutOfTime { .. }), Some(said)) => {
                    return Err(FailureKind::NoMove(said));
                }
                (Err(failure), _) => return Err(failure),
            };
            match answer {
                Answer::Move(mv) if mv.is_empty() => return Err(FailureKind::NoMove(mv)),
                Answer::Move(mv) => return Ok((mv, wall)),
                Answer::Claim(said) if is_resignation(&said, situation.to_move) => {
                    return Err(FailureKind::NoMove("resign".to_owned()));
                }
                Answer::Claim(said) => {
                    if claim.is_some() {
                        return Err(FailureKind::NoMove(said));
                    }
                    (claim, text) = (Some(said), client.await_move_again());
                    budget.spent = wall;
                }
                Answer::Refusal(said) => {
                    let command = situation.moves.last().cloned().unwrap_or_default();
                    return Err(FailureKind::Refused { command, said });
                }
                Answer::Nothing => return Err(FailureKind::NoMove(claim.unwrap_or_default())),
            }
        }
    }
}

/// The commands of `XBoard` that limit a move, and what they cannot say.
fn check_conditions(conditions: &Conditions) -> Result<(), FailureKind> {
    let Conditions { limits, clock, chess960, .. } = conditions;
    let problem = if *chess960 {
        "Chess960 is not played over the XBoard protocol"
    } else if limits.nodes.is_some() {
        "the XBoard protocol has no command for a number of nodes"
    } else if limits.move_time.is_some() && clock.is_some() {
        "the XBoard protocol has no command for a time for each move beside a clock"
    } else if limits.move_time.is_some_and(|time| time.as_secs() == 0) {
        "the XBoard protocol has whole seconds for a move; give less as a clock, which has hundredths"
    } else {
        return Ok(());
    };
    Err(FailureKind::Unsupported(problem.to_owned()))
}

/// `level`, with whole seconds and an increment that may have fractions.
fn level(clock: &Clock, to_move: Colour) -> String {
    let Remaining { time, increment } = clock.remaining(to_move);
    let seconds = time.as_secs().max(1);
    let base = match seconds % 60 {
        // Old engines know no seconds.
        0 => (seconds / 60).to_string(),
        rest => format!("{}:{rest:02}", seconds / 60),
    };
    let increment = increment.as_millis();
    let (whole, fraction) = (increment / 1_000, increment % 1_000);
    let fraction = if fraction == 0 { String::new() } else { format!(".{fraction:03}") };
    let fraction = fraction.trim_end_matches('0');
    format!("level {} {base} {whole}{fraction}\n", clock.moves_to_go.unwrap_or(0))
}

/// Whether an engine with this colour gives up by this claim.
fn is_resignation(claim: &str, colour: Colour) -> bool {
    let lost = match colour {
        Colour::White => "0-1",
        Colour::Black => "1-0",
    };
    claim.starts_with("resign") || claim.starts_with(lost)
}

/// The failure of an engine that does not know a command for a limit or a position: the game is not the requested one.
fn refused(word: &str, said: String) -> FailureKind {
    match word {
        "st" | "sd" | "level" | "setboard" | "edit" | "position" => {
            FailureKind::Unsupported(format!("it refuses `{word}`: `{said}`"))
        }
        "Illegal" | "Invalid" if said.contains("position") => {
            FailureKind::Unsupported(format!("it refuses the position: `{said}`"))
        }
        "Illegal" | "Invalid" => {
            FailureKind::Refused { command: "the moves of the game".to_owned(), said }
        }
        _ => FailureKind::Refused { command: word.to_owned(), said },
    }
}
