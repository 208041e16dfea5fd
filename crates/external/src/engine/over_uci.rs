//! An engine that speaks UCI, or UGI in the words of its dialect.

use std::time::Duration;

use crate::breach::{BreachKind, Breaches};
use crate::connection::Connection;
use crate::failure::FailureKind;
use crate::process::Aborted;
use crate::situation::{Choice, Colour, Conditions, Situation, Start};
use crate::spec::{EngineSpec, OptionValue, Options};
use crate::uci::{Answer, Client, Command, Declared, Event, Go, Words, whole_ms};

use super::asking::{Budget, Question, allowed, ask_move, position, read_stale, word};
use super::settings::{Setting, at_start, settings};
use super::speaker::Speaker;

/// The option that turns Chess960 on.
const CHESS960: &str = "UCI_Chess960";

#[derive(Debug, Default)]
pub(super) struct OverUci {
    client: Client,
    is_chess960: bool,
    /// For the game.
    margin: Duration,
}

impl Speaker for OverUci {
    fn name(&self) -> String {
        self.client.name().to_owned()
    }

    fn author(&self) -> String {
        self.client.author().to_owned()
    }

    fn declared(&self) -> Option<&[Declared]> {
        Some(self.client.options())
    }

    fn breaches(&mut self) -> &mut Breaches {
        self.client.breaches()
    }

    fn new_game(
        &mut self,
        process: &mut Connection,
        spec: &EngineSpec,
        conditions: &Conditions,
        aborted: Aborted<'_>,
    ) -> Result<(), FailureKind> {
        self.margin = conditions.margin;
        let mut text = String::new();
        if conditions.chess960 != self.is_chess960 {
            let value = OptionValue::Flag(conditions.chess960);
            let name = CHESS960.to_owned();
            let settings = settings(self.client.options(), [(&name, &value)].into_iter())?;
            text = set_option(&settings, self.client.words());
            self.is_chess960 = conditions.chess960;
        }
        text.push_str(&Command::NewGame.to_line(self.client.words()));
        text.push('\n');
        self.wait_until_ready(process, text, spec.patience.ready, aborted)
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
        let text = search_commands(situation, self.client.words())?;
        // An engine that answered more than once may do so again, after the next question.
        if self.client.breaches().get(BreachKind::Unasked).is_some() {
            self.wait_until_ready(process, String::new(), spec.patience.ready, aborted)?;
        }
        self.client.begin_search();
        let client = &mut self.client;
        let patience = &spec.patience;
        let (allowed, spent) = (allowed(situation, patience, self.margin), Duration::ZERO);
        let budget = Budget { allowed, spent, stop: patience.stop };
        let (answer, wall) = ask_move(process, &text, Some("stop\n"), budget, aborted, |line| {
            match client.take(line) {
                Some(Event::Chosen(answer)) => Some(answer),
                Some(Event::Greeted | Event::Ready) | None => None,
            }
        })?;
        let Answer { mv, ponder, report } = answer;
        Ok(Choice {
            mv: mv.map_err(FailureKind::NoMove)?,
            ponder,
            depth: report.depth,
            seldepth: report.seldepth,
            nodes: report.nodes,
            score: report.score,
            pv: report.pv,
            hashfull: report.hashfull,
            tbhits: report.tbhits,
            engine_time: report.time_ms.map(Duration::from_millis),
            wall,
            ..Choice::default()
        })
    }
}

impl OverUci {
    /// Greets the engine, and sets its options.
    pub(super) fn start(
        process: &mut Connection,
        spec: &EngineSpec,
        options: &Options,
        aborted: Aborted<'_>,
    ) -> Result<Self, FailureKind> {
        let words = spec.words();
        let within = spec.patience.startup;
        let question = Question { asked: &words.hello, awaited: &words.ok(), within };
        let mut player = Self { client: Client::new(words.clone()), ..Self::default() };
        let text = format!("{}\n", player.client.greet());
        let client = &mut player.client;
        question.ask(process, &text, aborted, |line| {
            client.take(line).filter(|event| *event == Event::Greeted)
        })?;
        let settings = at_start(player.client.options(), &spec.set, options)?;
        let text = set_option(&settings, &words);
        player.wait_until_ready(process, text, within, aborted)?;
        Ok(player)
    }

    fn wait_until_ready(
        &mut self,
        process: &mut Connection,
        mut text: String,
        within: Duration,
        aborted: Aborted<'_>,
    ) -> Result<(), FailureKind> {
        text.push_str(self.client.ask_ready());
        text.push('\n');
        let question = Question { asked: "isready", awaited: "readyok", within };
        let client = &mut self.client;
        question.ask(process, &text, aborted, |line| {
            client.take(line).filter(|event| *event == Event::Ready).map(|_| ())
        })
    }
}

/// The commands that set options, each with its end.
fn set_option(settings: &[Setting<'_>], words: &Words) -> String {
    let commands = settings.iter().map(|Setting { option, value }| Command::SetOption {
        name: option.name.clone(),
        value: value.clone(),
    });
    commands.map(|command| command.to_line(words) + "\n").collect()
}

/// `position` and `go`, each with its end.
fn search_commands(situation: &Situation<'_>, words: &Words) -> Result<String, FailureKind> {
    let mut text = match situation.start {
        Start::Usual => "position startpos".to_owned(),
        Start::Fen(fen) => format!("position {} {}", words.position, position(fen)?),
        Start::Board { .. } | Start::Any(_) => {
            let problem = "UCI supports chess positions only";
            return Err(FailureKind::Unsupported(problem.to_owned()));
        }
    };
    if !situation.moves.is_empty() {
        text.push_str(" moves");
    }
    for mv in situation.moves {
        text.push(' ');
        text.push_str(word(mv)?);
    }
    let limits = &situation.limits;
    let mut go = Go {
        depth: limits.depth,
        nodes: limits.nodes,
        // A limit below one would mean none.
        move_time_ms: limits.move_time.map(|time| whole_ms(time).max(1)),
        ..Go::default()
    };
    if let Some(clock) = &situation.clock {
        let [white, black] = [Colour::White, Colour::Black].map(|colour| clock.remaining(colour));
        go.white_time_ms = Some(whole_ms(white.time).max(1));
        go.black_time_ms = Some(whole_ms(black.time).max(1));
        go.white_increment_ms = Some(whole_ms(white.increment));
        go.black_increment_ms = Some(whole_ms(black.increment));
        go.moves_to_go = clock.moves_to_go;
    }
    if go == Go::default() {
        // Without a limit the engine would think until the longest wait is over, so the request is
        // refused.
        let problem = "a move without any limit";
        return Err(FailureKind::Unsupported(problem.to_owned()));
    }
    Ok(format!("{text}\n{}\n", go.to_line(words)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::situation::{Clock, Limits, Remaining};

    fn question(start: Start<'_>, moves: &[&str], limits: Limits, clock: Option<Clock>) -> String {
        question_in(&Words::uci(), start, moves, limits, clock)
    }

    fn question_in(
        words: &Words,
        start: Start<'_>,
        moves: &[&str],
        limits: Limits,
        clock: Option<Clock>,
    ) -> String {
        let moves: Vec<_> = moves.iter().map(ToString::to_string).collect();
        let to_move = Colour::White;
        let situation = Situation { start, moves: &moves, to_move, limits, clock };
        search_commands(&situation, words).unwrap_or_else(|failure| failure.to_string())
    }

    #[test]
    fn questions_say_position_and_limits() {
        let depth = Limits { depth: Some(3), ..Limits::default() };
        assert_eq!(question(Start::Usual, &[], depth, None), "position startpos\ngo depth 3\n");
        let all = Limits {
            nodes: Some(500),
            move_time: Some(Duration::from_micros(2_900)),
            ..Limits::default()
        };
        assert_eq!(
            question(Start::Fen("8/8/8/8/8/8/8/K1k5 w - - 0 1"), &["a1a2", "c1c2"], all, None),
            "position fen 8/8/8/8/8/8/8/K1k5 w - - 0 1 moves a1a2 c1c2\ngo nodes 500 movetime 2\n"
        );
        let side = |ms, increment| Remaining {
            time: Duration::from_millis(ms),
            increment: Duration::from_millis(increment),
        };
        let clock = Clock { white: side(10_000, 100), black: side(0, 50), moves_to_go: Some(40) };
        assert_eq!(
            question(Start::Usual, &["e2e4"], Limits::default(), Some(clock)),
            "position startpos moves e2e4\n\
             go wtime 10000 btime 1 winc 100 binc 50 movestogo 40\n"
        );
        let words = Words { position: "sfen".to_owned(), ..Words::ugi() };
        assert_eq!(
            question_in(&words, Start::Fen("3,4,5/w"), &["a1"], depth, Some(clock)),
            "position sfen 3,4,5/w moves a1\n\
             go p1time 10000 p2time 1 p1inc 100 p2inc 50 movestogo 40 depth 3\n"
        );
        assert_eq!(
            question(Start::Usual, &[], Limits::default(), None),
            "a move without any limit"
        );
        let usual = |mv| question(Start::Usual, &["e2e4", mv], depth, None);
        assert_eq!(usual("e7e5\nquit"), "cannot send `e7e5 quit`: not a valid move");
        assert_eq!(usual(""), "cannot send ``: not a valid move");
        assert_eq!(usual("e7e5 e2e4"), "cannot send `e7e5 e2e4`: not a valid move");
        assert_eq!(
            question(Start::Fen("8/8 w - - 0 1\rsetoption name A"), &[], depth, None),
            "cannot send `8/8 w - - 0 1 setoption name A`: not a valid position"
        );
        assert_eq!(
            question(Start::Fen("8/8 w - - 0 1 moves e2e4"), &[], depth, None),
            "cannot send `8/8 w - - 0 1 moves e2e4`: not a valid position"
        );
        let board = Start::Board { size: 8, first: Colour::Black };
        assert_eq!(question(board, &[], depth, None), "UCI supports chess positions only");
    }
}
