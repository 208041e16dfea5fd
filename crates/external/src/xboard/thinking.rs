//! Lines of thinking output.

use crate::uci::{Bound, Score, ScoreValue};

/// An engine's report of its search: `ply score time nodes pv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thinking<'a> {
    /// Plies searched.
    pub depth: u32,
    /// Its value for the side to move.
    pub score: Score,
    /// Its time, in milliseconds.
    pub time_ms: u64,
    /// Nodes.
    pub nodes: u64,
    /// Plies of the longest line.
    pub seldepth: Option<u32>,
    /// The best line as written, or a remark in parentheses.
    pub pv: &'a str,
}

/// Scores from here on are mates, and the rest is the number of moves.
const MATE: i64 = 100_000;
/// More moves than any mate needs: other numbers up there are evaluations.
const MATE_MOVES_MAX: i64 = 10_000;

impl<'a> Thinking<'a> {
    /// Parses a line; `None` if it is something else.
    #[must_use]
    pub fn parse(line: &'a str) -> Option<Self> {
        let (ply, rest) = next_word(line)?;
        let digits = ply.bytes().take_while(u8::is_ascii_digit).count();
        let depth = ply[..digits].parse().ok()?;
        // After a sign beside the ply, times are in seconds, as those of GNU Chess.
        let unit_ms = match ply.len() - digits {
            0 => 10,
            1 => 1_000,
            _ => return None,
        };
        let (score, rest) = next_number::<i64>(rest)?;
        let (time, rest) = next_number::<u64>(rest)?;
        let (nodes, rest) = next_number::<u64>(rest)?;
        let (seldepth, pv) = split_optional(rest);
        let pv = pv.trim();
        let bound = match pv.as_bytes().last() {
            Some(b'?') => Bound::Upper,
            Some(b'!') => Bound::Lower,
            _ => Bound::Exact,
        };
        let pv = pv.trim_end_matches(['?', '!']).trim_end();
        let is_mate = (MATE + 1..=MATE + MATE_MOVES_MAX).contains(&score.saturating_abs());
        let value = if is_mate {
            ScoreValue::Mate(score - score.signum() * MATE)
        } else {
            ScoreValue::Centipawns(score)
        };
        let (score, time_ms) = (Score { value, bound }, time.saturating_mul(unit_ms));
        Some(Self { depth, score, time_ms, nodes, seldepth, pv })
    }
}

/// The selective depth and the line of moves: optional numbers come before a tab.
fn split_optional(rest: &str) -> (Option<u32>, &str) {
    let first = rest.find(|c: char| !c.is_whitespace() && !c.is_ascii_digit());
    let numbers = &rest[..first.unwrap_or(rest.len())];
    let Some(tab) = numbers.trim_start_matches(' ').rfind('\t') else { return (None, rest) };
    let place = numbers.len() - numbers.trim_start_matches(' ').len() + tab;
    let mut words = numbers[..place].split_whitespace();
    // A single number is that of positions found in endgame tables.
    let seldepth =
        words.next().and_then(|word| word.parse().ok()).filter(|_| words.next().is_some());
    (seldepth, &rest[place..])
}

fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn next_number<T: std::str::FromStr>(text: &str) -> Option<(T, &str)> {
    let (word, rest) = next_word(text)?;
    Some((word.strip_prefix('+').unwrap_or(word).parse().ok()?, rest))
}
