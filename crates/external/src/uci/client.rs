//! The runner's side of a UCI conversation, as a state machine.

use crate::breach::{BreachKind, Breaches};
use crate::text::{Line, shown};

use super::message::{BestMove, Bound, Info, Message, Score};
use super::option::Declared;
use super::tokens::Tokens;
use super::words::{MoveForm, Words};

/// The runner's side of one engine's conversation.
#[derive(Debug, Default)]
pub struct Client {
    words: Words,
    waits_for: WaitsFor,
    name: String,
    author: String,
    options: Vec<Declared>,
    /// The bytes of its declarations.
    declared_bytes: usize,
    search: Search,
    breaches: Breaches,
}

/// The pending answer of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WaitsFor {
    #[default]
    Nothing,
    UciOk,
    ReadyOk,
    BestMove,
}

/// An awaited event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The engine has introduced itself.
    Greeted,
    /// All earlier commands are done.
    Ready,
    /// A search has ended.
    Chosen(Answer),
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The move, over UCI in lower case; otherwise the engine's text in its place.
    pub mv: Result<String, String>,
    /// The answer that the engine expects.
    pub ponder: Option<String>,
    /// The report of the search.
    pub report: SearchInfo,
}

/// An engine's report of a search at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchInfo {
    /// Search depth in plies of the score.
    pub depth: Option<u32>,
    /// Plies of the longest line, at the same time.
    pub seldepth: Option<u32>,
    /// The last exact score of its best line; the last bound if none was exact.
    pub score: Option<Score>,
    /// The line with that score, truncated to 4 KiB.
    pub pv: Option<String>,
    /// Nodes, by the last report.
    pub nodes: Option<u64>,
    /// Milliseconds by its own clock, by the last report.
    pub time_ms: Option<u64>,
    /// Nodes in a second, by the last report.
    pub nps: Option<u64>,
    /// Fill level of its table in thousandths, by the last report.
    pub hashfull: Option<u32>,
    /// Positions found in endgame tables, by the last report.
    pub tbhits: Option<u64>,
}

#[derive(Debug, Default)]
struct Search {
    report: SearchInfo,
    is_exact: bool,
}

impl Client {
    /// A conversation about to begin in these words.
    #[must_use]
    pub fn new(words: Words) -> Self {
        Self { words, ..Self::default() }
    }

    /// The words of the conversation.
    #[must_use]
    pub const fn words(&self) -> &Words {
        &self.words
    }

    /// Begins the conversation.
    pub fn greet(&mut self) -> &str {
        self.waits_for = WaitsFor::UciOk;
        &self.words.hello
    }

    /// Asks whether all earlier commands are done.
    pub fn ask_ready(&mut self) -> &'static str {
        self.waits_for = WaitsFor::ReadyOk;
        "isready"
    }

    /// Notes that a search begins: `go` is sent next.
    pub fn begin_search(&mut self) {
        self.waits_for = WaitsFor::BestMove;
        self.search = Search::default();
    }

    /// Its name, in at most 200 bytes; empty if not reported.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its author, in at most 200 bytes; empty if not reported.
    #[must_use]
    pub fn author(&self) -> &str {
        &self.author
    }

    /// Its options, in the order in which it declared them.
    #[must_use]
    pub fn options(&self) -> &[Declared] {
        &self.options
    }

    /// An option, by its name in any case.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&Declared> {
        self.options.iter().find(|option| option.name.eq_ignore_ascii_case(name))
    }

    /// Its breaches of the protocol.
    pub fn breaches(&mut self) -> &mut Breaches {
        &mut self.breaches
    }

    /// Takes a line; returns the awaited event, if it is one.
    pub fn take(&mut self, line: &Line) -> Option<Event> {
        let text = line.text.as_str();
        if line.is_cut {
            self.breaches.note(BreachKind::LongLine, text);
        }
        let message = Message::parse(text, &self.words);
        let may_hide_another = match &message {
            // Where any word may be a move, text that only mentions an answer would look like one.
            None => self.words.moves == MoveForm::Chess || self.waits_for != WaitsFor::BestMove,
            Some(Message::Info(info)) => info.string.is_none(),
            Some(_) => false,
        };
        if may_hide_another && let Some((before, behind)) = self.split_interleaved(text) {
            self.breaches.note(BreachKind::Interleaved, text);
            if let Some(info @ Message::Info(_)) = Message::parse(before, &self.words) {
                self.handle_message(info, text);
            }
            let message = Message::parse(behind, &self.words)?;
            return self.handle_message(message, text);
        }
        if let Some(message) = message {
            return self.handle_message(message, text);
        }
        self.note_junk(text);
        None
    }

    fn handle_message(&mut self, message: Message<'_>, line: &str) -> Option<Event> {
        match message {
            Message::Info(info) => {
                if info.is_garbled {
                    self.breaches.note(BreachKind::Garbled, line);
                }
                if self.waits_for == WaitsFor::BestMove {
                    self.search.take(&info);
                }
                None
            }
            Message::BestMove(best) => {
                self.end_waiting(WaitsFor::BestMove, line)?;
                Some(Event::Chosen(self.answer(&best, line)))
            }
            Message::ReadyOk => self.end_waiting(WaitsFor::ReadyOk, line).map(|()| Event::Ready),
            Message::UciOk(_) => self.end_waiting(WaitsFor::UciOk, line).map(|()| Event::Greeted),
            Message::Name(name) => {
                self.name = shown(name, Breaches::SAID_BYTES_MAX);
                None
            }
            Message::Author(author) => {
                self.author = shown(author, Breaches::SAID_BYTES_MAX);
                None
            }
            Message::Option(declared) => {
                self.declared_bytes = self.declared_bytes.saturating_add(line.len());
                if self.declared_bytes <= DECLARED_BYTES_MAX {
                    // The last word counts.
                    self.options.retain(|option| !option.name.eq_ignore_ascii_case(&declared.name));
                    self.options.push(declared);
                }
                None
            }
            Message::Other(_) => None,
        }
    }

    fn end_waiting(&mut self, answered: WaitsFor, line: &str) -> Option<()> {
        if self.waits_for != answered {
            self.breaches.note(BreachKind::Unasked, line);
            return None;
        }
        self.waits_for = WaitsFor::Nothing;
        Some(())
    }

    fn answer(&mut self, best: &BestMove<'_>, line: &str) -> Answer {
        let mv = if self.words.is_move(best.mv) {
            let mv = self.written(best.mv);
            if mv != best.mv {
                self.breaches.note(BreachKind::UpperCase, line);
            }
            Ok(mv)
        } else {
            let text = if best.mv.is_empty() { line.trim_ascii() } else { best.mv };
            Err(shown(text, Breaches::SAID_BYTES_MAX))
        };
        let ponder = best.ponder.filter(|mv| self.words.is_move(mv)).map(|mv| self.written(mv));
        let mut report = std::mem::take(&mut self.search.report);
        report.pv = report.pv.map(|pv| shown_moves(&pv));
        Answer { mv, ponder, report }
    }

    /// A move as its protocol writes it.
    fn written(&self, mv: &str) -> String {
        match self.words.moves {
            MoveForm::Chess => mv.to_ascii_lowercase(),
            MoveForm::Word => mv.to_owned(),
        }
    }

    /// Looks for the awaited message after other text: threads that print at once, or an unfinished line. It
    /// must extend to the end of the line: otherwise the text only mentions it. Returns the text before it, and
    /// the message.
    fn split_interleaved<'t>(&self, line: &'t str) -> Option<(&'t str, &'t str)> {
        let ok;
        let awaited = match self.waits_for {
            WaitsFor::Nothing => return None,
            WaitsFor::UciOk => {
                ok = self.words.ok();
                ok.as_str()
            }
            WaitsFor::ReadyOk => "readyok",
            WaitsFor::BestMove => "bestmove",
        };
        // Nearly all lines end here.
        if !line.contains(awaited) {
            return None;
        }
        let line = line.trim_ascii_end();
        let mut words = Tokens::new(line);
        loop {
            let behind = words.rest();
            if words.next()? == awaited && self.ends_with(words) {
                return Some((&line[..line.len() - behind.len()], behind));
            }
        }
    }

    /// Whether these are the last words of the awaited message.
    fn ends_with(&self, mut words: Tokens<'_>) -> bool {
        if self.waits_for == WaitsFor::BestMove
            && !words.next().is_some_and(|mv| self.words.is_move(mv))
        {
            return false;
        }
        match words.next() {
            None => true,
            Some(word) => {
                let is_ponder = self.waits_for == WaitsFor::BestMove && word == "ponder";
                is_ponder && words.next().is_some() && words.next().is_none()
            }
        }
    }

    fn note_junk(&mut self, line: &str) {
        // Empty lines are ignored.
        let Some(first) = Tokens::new(line).next() else { return };
        // Before its greeting an engine may print any banner.
        let is_banner = self.waits_for == WaitsFor::UciOk;
        if matches!(first, "option" | "id") {
            self.breaches.note(BreachKind::Garbled, line);
        } else if !is_banner {
            self.breaches.note(BreachKind::Junk, line);
        }
    }
}

/// The most bytes of an engine's declarations.
const DECLARED_BYTES_MAX: usize = 256 * 1_024;

/// The kept bytes of a line of moves: several hundred moves.
const PV_BYTES_MAX: usize = 4 * 1_024;

/// A line of moves truncated to whole moves.
pub(crate) fn shown_moves(pv: &str) -> String {
    let mut shown = shown(pv, PV_BYTES_MAX);
    if pv.len() > PV_BYTES_MAX {
        shown.truncate(shown.rfind(' ').unwrap_or(0));
    }
    shown
}

impl Search {
    fn take(&mut self, info: &Info<'_>) {
        // Other lines than the best have their own depths and scores.
        if info.multipv.is_some_and(|line| line != 1) {
            return;
        }
        let report = &mut self.report;
        report.nodes = info.nodes.or(report.nodes);
        report.time_ms = info.time_ms.or(report.time_ms);
        report.nps = info.nps.or(report.nps);
        report.hashfull = info.hashfull.or(report.hashfull);
        report.tbhits = info.tbhits.or(report.tbhits);
        let Some(score) = info.score else {
            if report.score.is_none() {
                report.depth = info.depth.or(report.depth);
            }
            return;
        };
        let is_exact = score.bound == Bound::Exact;
        if is_exact || !self.is_exact {
            self.is_exact |= is_exact;
            report.score = Some(score);
            report.depth = info.depth.or(report.depth);
            report.seldepth = info.seldepth;
            match info.pv {
                Some(pv) => {
                    let kept = report.pv.get_or_insert_default();
                    kept.clear();
                    kept.push_str(pv);
                }
                None => report.pv = None,
            }
        }
    }
}
