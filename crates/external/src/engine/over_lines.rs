//! A player that speaks the protocol of lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::breach::{BreachKind, Breaches};
use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::lines::{
    Answer, Client, Decision, Event, GameEnd, GameSetup, Introduction, Report, Request,
    RequestClock, RequestLimits, Unreadable, distribution, side_name,
};
use crate::process::{Aborted, Lost, Timed};
use crate::situation::{AnyPosition, Choice, Colour, Conditions, Situation, Start};
use crate::spec::{EngineSpec, OptionValue, Options};
use crate::uci::{Bound, Score, ScoreValue};

use super::asking::{Question, allowed, read_stale};
use super::speaker::Speaker;

/// The longest wait for a player to take the result of a game.
const END_MAX: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct OverLines {
    client: Client,
    introduction: Introduction,
    /// The game that it was started for.
    game: Option<Arc<GameSetup>>,
    /// The games of the process so far.
    matches: Arc<AtomicU64>,
    match_number: u64,
    /// For the game.
    margin: Duration,
    retries: u32,
}

/// The deadlines of a request and all its retries.
#[derive(Clone, Copy)]
struct Deadlines {
    asked: Instant,
    allowed: Duration,
    /// Waited for after that, to measure how late it is.
    grace: Duration,
}

impl OverLines {
    /// Sends the start line, and waits for the player's answer.
    pub(super) fn start(
        process: &mut Connection,
        spec: &EngineSpec,
        options: &Options,
        game: Option<Arc<GameSetup>>,
        aborted: Aborted<'_>,
    ) -> Result<Self, FailureKind> {
        let mut client = Client::default();
        let options: Map<String, Value> = spec
            .set
            .iter()
            .chain(options)
            .map(|(name, value)| (name.clone(), json(value)))
            .collect();
        let text = client.start(game.as_deref(), &options);
        let asked = spec.greeting();
        let question = Question { asked: &asked, awaited: "{}", within: spec.patience.startup };
        let event = question.ask(process, &text, aborted, |line| client.take(line))?;
        let introduction = match event {
            Event::Started(introduction) => introduction,
            Event::Refused(said) => {
                let command = match &game {
                    Some(game) => format!("the game {}", game.name),
                    None => "the start".to_owned(),
                };
                return Err(FailureKind::Refused { command, said });
            }
            Event::Garbled(Unreadable { said, problem }) => {
                return Err(FailureKind::Unreadable { said, problem });
            }
            Event::Asked(_) | Event::Answered(_) => Introduction::default(),
        };
        let (matches, match_number) = (Arc::default(), 0);
        let (margin, retries) = (Duration::ZERO, 0);
        Ok(Self { client, introduction, game, matches, match_number, margin, retries })
    }

    /// Waits for the answer to a request, and answers the player's own questions meanwhile.
    fn await_answer(
        &mut self,
        process: &mut Connection,
        position: &AnyPosition<'_>,
        deadlines: Deadlines,
        aborted: Aborted<'_>,
    ) -> Result<(Answer, Duration), FailureKind> {
        let Deadlines { asked, allowed, grace } = deadlines;
        let (deadline, killed_at) = (asked + allowed, asked + allowed + grace);
        let took = |at: Instant| at.saturating_duration_since(asked);
        let failure = |lost, process: &mut Connection| match lost {
            Lost::Ended(exit) => FailureKind::Crash(exit),
            Lost::Aborted => FailureKind::Aborted,
            Lost::TimedOut => {
                let waited = took(Instant::now());
                process.end();
                FailureKind::Hang { allowed, waited }
            }
        };
        loop {
            let next = process.next_line(killed_at, aborted);
            // Also where nothing else came: it may be the reason.
            if let Some(stray) = process.take_stray() {
                self.client.breaches().note(BreachKind::Garbled, &stray);
            }
            let Timed { line, at } = next.map_err(|lost| failure(lost, process))?;
            let event = self.client.take(&line);
            process.reuse(line);
            if matches!(event, Some(Event::Answered(_))) {
                process.settle();
            }
            match event {
                Some(Event::Answered(_)) if at > deadline => {
                    return Err(FailureKind::OutOfTime { allowed, took: took(at) });
                }
                Some(Event::Answered(answer)) => return Ok((answer, took(at))),
                Some(Event::Asked(question)) => {
                    let after = question.moves().and_then(|moves| position.rules.after(&moves));
                    process
                        .send(&question.answer(&after), killed_at, aborted)
                        .map_err(|lost| failure(lost, process))?;
                }
                Some(Event::Started(_) | Event::Refused(_) | Event::Garbled(_)) | None => {}
            }
        }
    }
}

impl Speaker for OverLines {
    fn name(&self) -> String {
        self.introduction.name.clone()
    }

    fn author(&self) -> String {
        self.introduction.author.clone()
    }

    fn parallel(&self) -> u32 {
        self.introduction.parallel
    }

    fn suits(&self, _spec: &EngineSpec, conditions: &Conditions) -> bool {
        self.game == conditions.game
    }

    fn new_game(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        conditions: &Conditions,
        _aborted: Aborted<'_>,
    ) -> Result<(), FailureKind> {
        if !self.suits(spec, conditions) {
            let problem = "its process was started for another game";
            return Err(FailureKind::Unsupported(problem.to_owned()));
        }
        // No question is asked between games; the end of its output shows that a player is gone.
        read_stale(process, |line| {
            self.client.take(line);
        });
        if !process.is_running() {
            return Err(FailureKind::Gone);
        }
        self.match_number = self.matches.fetch_add(1, Ordering::Relaxed) + 1;
        (self.margin, self.retries) = (conditions.margin, conditions.retries);
        Ok(())
    }

    fn choose(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        situation: &Situation<'_>,
        aborted: Aborted<'_>,
    ) -> Result<Choice, FailureKind> {
        let Start::Any(position) = situation.start else {
            let problem = "the protocol of lines needs the game's own notation";
            return Err(FailureKind::Unsupported(problem.to_owned()));
        };
        read_stale(process, |line| {
            self.client.take(line);
        });
        let patience = &spec.patience;
        let (allowed, grace) = (allowed(situation, patience, self.margin), patience.stop);
        let mut refused: Option<String> = None;
        let mut asked = None;
        for tries_left in (0..=self.retries).rev() {
            // A player that draws from the seed makes another move.
            let seed = another_seed(position.seed, self.retries - tries_left);
            let position = AnyPosition { seed, ..position };
            let request = request(situation, &position, self.match_number, refused.as_deref());
            let text = self.client.ask(&request);
            let until = asked.unwrap_or_else(Instant::now) + allowed;
            let sent = process.send(&text, until, aborted).map_err(|lost| match lost {
                Lost::Ended(exit) => FailureKind::Crash(exit),
                Lost::Aborted => FailureKind::Aborted,
                Lost::TimedOut => FailureKind::Hang { allowed, waited: allowed },
            })?;
            // The time of all tries together is limited.
            let deadlines = Deadlines { asked: *asked.get_or_insert(sent), allowed, grace };
            let (answer, wall) = self.await_answer(process, &position, deadlines, aborted)?;
            let (failure, problem) = match answer.decision {
                Decision::Move(mv) if position.legal.contains(&mv) => {
                    let mut report = answer.report;
                    let weights = report.distribution.take();
                    let mut choice = choice(mv, report, wall);
                    choice.refused = self.retries - tries_left;
                    match weights.map(|weights| distribution(&weights, position.legal)) {
                        Some(Ok(distribution)) => choice.distribution = distribution,
                        Some(Err(problem)) => {
                            self.client.breaches().note(BreachKind::Distribution, &problem);
                        }
                        None => {}
                    }
                    return Ok(choice);
                }
                Decision::Move(mv) => {
                    let problem = format!("`{mv}` is not a legal move here");
                    (FailureKind::IllegalMove(mv), problem)
                }
                Decision::Unreadable(Unreadable { said, problem }) => {
                    let refused = format!("`{said}` cannot be read: {problem}");
                    (FailureKind::Unreadable { said, problem }, refused)
                }
                Decision::Resign => return Err(FailureKind::NoMove("resign".to_owned())),
                Decision::Failed(reason) => return Err(FailureKind::Raised(reason)),
            };
            if tries_left == 0 {
                return Err(failure);
            }
            self.client.breaches().note(BreachKind::Refused, &problem);
            refused = Some(problem);
        }
        unreachable!("the last try returns")
    }

    fn end_game(&mut self, process: &mut Connection, end: &GameEnd<'_>) -> bool {
        let text = Client::end(self.match_number, end);
        process.send(&text, Instant::now() + END_MAX, &|| false).is_ok()
    }

    fn farewell(&self) -> Option<&'static str> {
        // It ends with its input.
        None
    }

    fn for_another_game(&self) -> Option<Box<dyn Speaker>> {
        let (introduction, game) = (self.introduction.clone(), self.game.clone());
        let (client, matches) = (self.client.sibling(), Arc::clone(&self.matches));
        let (match_number, margin, retries) = (0, Duration::ZERO, 0);
        Some(Box::new(Self { client, introduction, game, matches, match_number, margin, retries }))
    }

    fn breaches(&mut self) -> &mut Breaches {
        self.client.breaches()
    }
}

fn json(value: &OptionValue) -> Value {
    match value {
        OptionValue::Flag(flag) => Value::Bool(*flag),
        OptionValue::Number(number) => Value::from(*number),
        OptionValue::Text(text) => Value::String(text.clone()),
    }
}

/// The seed of another try, from that of the first: numbers that a multiplication spreads over 53 bits.
fn another_seed(seed: u64, tries: u32) -> u64 {
    seed.wrapping_add(u64::from(tries).wrapping_mul(0x9e37_79b9_7f4a_7c15)) & ((1 << 53) - 1)
}

fn request<'a>(
    situation: &'a Situation<'_>,
    position: &'a AnyPosition<'_>,
    match_number: u64,
    refused: Option<&'a str>,
) -> Request<'a> {
    let limits = &situation.limits;
    let clock = situation.clock.map(|clock| {
        let own = clock.remaining(situation.to_move);
        let opponent = clock.remaining(situation.to_move.opponent());
        RequestClock {
            seconds: own.time.as_secs_f64(),
            increment: own.increment.as_secs_f64(),
            opponent: opponent.time.as_secs_f64(),
            moves: clock.moves_to_go,
        }
    });
    Request {
        id: 0,
        match_number,
        refused,
        position: position.position,
        opening: position.opening,
        moves: situation.moves,
        legal: position.legal,
        to_move: side_name(situation.to_move == Colour::White),
        seed: position.seed,
        limits: RequestLimits {
            depth: limits.depth,
            nodes: limits.nodes,
            seconds: limits.move_time.map(|time| time.as_secs_f64()),
            clock,
        },
        board: position.board,
    }
}

fn choice(mv: String, report: Report, wall: Duration) -> Choice {
    let Report { score, depth, nodes, pv, seconds, note, distribution: _ } = report;
    Choice {
        mv,
        depth,
        nodes,
        score: score
            .map(|score| Score { value: ScoreValue::Centipawns(score), bound: Bound::Exact }),
        pv,
        note,
        engine_time: seconds.map(Duration::from_secs_f64),
        wall,
        ..Choice::default()
    }
}
