//! Adjudication of games by their players' own scores, or by tables: the rule, and the arbiter's record
//! of the scores.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::core::position::{Ending, Side};
use crate::core::termination::Termination;

/// The scores or tables by which a game ends before its position does.
///
/// Scores are those of the recorded searches ([`SearchReport::score`](crate::SearchReport::score)), each for
/// the mover. A move without a score ends the mover's runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjudication {
    /// When a game is lost. Applied before `draw`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resign: Option<ResignRule>,
    /// When a game is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawRule>,
    /// Whether a chess game ends, with the table's result, after the move that leads to a position of an
    /// exact table ([`tables::ending`](crate::tables::ending)). Applied before the scores; no effect in other
    /// games.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tables: bool,
    /// When a chess game ends by the Syzygy tables of the machine that plays it. Applied after `tables` and before the
    /// scores; no effect in other games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syzygy: Option<SyzygyRule>,
}

/// When a chess game ends by Syzygy tables ([`Host::syzygy_ending`](crate::Host::syzygy_ending)): after a move that leads to a position without
/// castling rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyzygyRule {
    /// The most pieces of the position, kings included.
    pub pieces: u8,
    /// Whether a win that the fifty-move rule makes a draw is one.
    pub fifty_moves: bool,
    /// The results with which games end.
    pub results: SyzygyResults,
}

/// The results with which Syzygy tables end a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyzygyResults {
    /// All.
    #[default]
    All,
    /// A win of either side.
    WinLoss,
    /// A draw.
    Draw,
}

impl SyzygyRule {
    /// Whether a game ends with this.
    pub(crate) fn covers(self, ending: &Ending) -> bool {
        match self.results {
            SyzygyResults::All => true,
            SyzygyResults::WinLoss => ending.winner.is_some(),
            SyzygyResults::Draw => ending.winner.is_none(),
        }
    }
}

/// When a game is lost by scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResignRule {
    /// A side loses if its scores are at most the negative of this.
    pub score: NonZeroU32,
    /// The number of its own consecutive moves.
    pub moves: NonZeroU32,
    /// Whether the other side must agree: in its last `moves` moves its scores are at least `score`.
    pub both: bool,
}

/// When a game is drawn by scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawRule {
    /// A game is drawn if neither side's scores are farther from 0 than this.
    pub score: u32,
    /// The number of consecutive moves of each side.
    pub moves: NonZeroU32,
    /// The number of full moves, of two plies each, that must have been played from the opening.
    pub after: u32,
    /// Whether counting restarts with a move after which no earlier position can recur (in chess a capture or
    /// a pawn move).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restart: bool,
}

impl fmt::Display for Adjudication {
    /// As a sweep would write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rules = Vec::new();
        if let Some(ResignRule { score, moves, both }) = self.resign {
            rules.push(format!("resign = {{ score = {score}, moves = {moves}, both = {both} }}"));
        }
        if let Some(DrawRule { score, moves, after, restart }) = self.draw {
            let restart = if restart { ", restart = true" } else { "" };
            rules.push(format!(
                "draw = {{ score = {score}, moves = {moves}, after = {after}{restart} }}"
            ));
        }
        if self.tables {
            rules.push("tables = true".to_owned());
        }
        if let Some(SyzygyRule { pieces, fifty_moves, results }) = self.syzygy {
            let results = match results {
                SyzygyResults::All => "",
                SyzygyResults::WinLoss => ", results = \"win_loss\"",
                SyzygyResults::Draw => ", results = \"draw\"",
            };
            let fifty_moves = if fifty_moves { "" } else { ", fifty_moves = false" };
            rules.push(format!("syzygy = {{ pieces = {pieces}{fifty_moves}{results} }}"));
        }
        f.write_str(&rules.join(", "))
    }
}

/// The length of each side's runs of scores in one game.
#[derive(Clone, Debug)]
pub(crate) struct Adjudicator {
    rule: Adjudication,
    plies: u64,
    /// For the first side and the second.
    runs: [Runs; 2],
}

/// The length of the current runs of a side's moves.
#[derive(Clone, Copy, Debug, Default)]
struct Runs {
    lost: u32,
    won: u32,
    level: u32,
}

impl Adjudicator {
    /// A new game's, with or without such a rule.
    pub(crate) fn new(rule: Option<Adjudication>) -> Self {
        Self { rule: rule.unwrap_or_default(), plies: 0, runs: [Runs::default(); 2] }
    }

    /// Records a move's score, and whether the move is irreversible; returns the ending if the game is then
    /// over.
    pub(crate) fn after_move(
        &mut self,
        mover: Side,
        score: Option<i32>,
        is_irreversible: bool,
    ) -> Option<Ending> {
        self.plies += 1;
        let Adjudication { resign, draw, tables: _, syzygy: _ } = self.rule;
        if is_irreversible && draw.is_some_and(|rule| rule.restart) {
            self.runs.iter_mut().for_each(|runs| runs.level = 0);
        }
        let runs = &mut self.runs[mover.index()];
        let distance = score.map(i32::unsigned_abs);
        let is_far =
            |rule: ResignRule| distance.is_some_and(|distance| distance >= rule.score.get());
        let is_below_0 = score.is_some_and(i32::is_negative);
        let is_lost = resign.is_some_and(|rule| is_far(rule) && is_below_0);
        let is_won = resign.is_some_and(|rule| is_far(rule) && !is_below_0);
        let is_level =
            draw.is_some_and(|rule| distance.is_some_and(|distance| distance <= rule.score));
        go_on(&mut runs.lost, is_lost);
        go_on(&mut runs.won, is_won);
        go_on(&mut runs.level, is_level);
        resign.and_then(|rule| self.lost(rule)).or_else(|| self.drawn(draw?))
    }

    fn lost(&self, rule: ResignRule) -> Option<Ending> {
        let has_lost = |side: Side| {
            let [own, other] = [side, side.other()].map(|side| self.runs[side.index()]);
            own.lost >= rule.moves.get() && (!rule.both || other.won >= rule.moves.get())
        };
        // Never both: each move belongs to one side, and the first of two such runs ends the game.
        let loser = [Side::First, Side::Second].into_iter().find(|&side| has_lost(side))?;
        Some(Ending { winner: Some(loser.other()), termination: Termination::RESIGN_RULE })
    }

    fn drawn(&self, rule: DrawRule) -> Option<Ending> {
        let is_drawn = self.plies >= 2 * u64::from(rule.after)
            && self.runs.iter().all(|runs| runs.level >= rule.moves.get());
        is_drawn.then_some(Ending { winner: None, termination: Termination::DRAW_RULE })
    }
}

/// A run that goes on, or ends.
fn go_on(run: &mut u32, goes_on: bool) {
    *run = if goes_on { run.saturating_add(1) } else { 0 };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rule as written, over all moves so far: the slow reference.
    fn ending(rule: Adjudication, moves: &[(Side, Option<i32>, bool)]) -> Option<Ending> {
        let since = moves.iter().rposition(|(.., is_irreversible)| *is_irreversible).unwrap_or(0);
        let plies = moves.len();
        let all: Vec<_> = moves.iter().map(|(mover, score, _)| (*mover, *score)).collect();
        let restarts = rule.draw.is_some_and(|draw| draw.restart);
        let counted = if restarts { &all[since..] } else { &all[..] };
        type Moves<'m> = &'m [(Side, Option<i32>)];
        let all_of_last =
            |side: Side, moves: Moves<'_>, count: NonZeroU32, is: &dyn Fn(i64) -> bool| {
                let own = moves.iter().rev().filter(|(mover, _)| *mover == side);
                let last: Vec<Option<i32>> =
                    own.map(|(_, score)| *score).take(count.get() as usize).collect();
                last.len() == count.get() as usize
                    && last.iter().all(|score| score.is_some_and(|score| is(score.into())))
            };
        let sides = [Side::First, Side::Second];
        if let Some(ResignRule { score, moves, both }) = rule.resign {
            let score = i64::from(score.get());
            for side in sides {
                let agrees = all_of_last(side.other(), &all, moves, &|own| own >= score);
                if all_of_last(side, &all, moves, &|own| own <= -score) && (agrees || !both) {
                    let termination = Termination::RESIGN_RULE;
                    return Some(Ending { winner: Some(side.other()), termination });
                }
            }
        }
        let DrawRule { score, moves: count, after, restart: _ } = rule.draw?;
        let is_level = |own: i64| own.abs() <= i64::from(score);
        (plies >= 2 * after as usize
            && sides.iter().all(|&side| all_of_last(side, counted, count, &is_level)))
        .then_some(Ending { winner: None, termination: Termination::DRAW_RULE })
    }

    fn rules() -> impl Strategy<Value = Adjudication> {
        let moves = || (1..4_u32).prop_map(|count| NonZeroU32::new(count).unwrap());
        let score = (1..4_u32).prop_map(|count| NonZeroU32::new(count).unwrap());
        let resign = (score, moves(), any::<bool>()).prop_map(|(score, moves, both)| ResignRule {
            score,
            moves,
            both,
        });
        let draw = (0..3_u32, moves(), 0..6_u32, any::<bool>());
        let draw = draw.prop_map(|(score, moves, after, restart)| DrawRule {
            score,
            moves,
            after,
            restart,
        });
        (prop::option::of(resign), prop::option::of(draw)).prop_map(|(resign, draw)| Adjudication {
            resign,
            draw,
            tables: false,
            syzygy: None,
        })
    }

    /// Each player has an opinion that seldom changes, so that runs get long.
    fn games() -> impl Strategy<Value = Vec<(Side, Option<i32>, bool)>> {
        let score = prop_oneof![
            8 => (-4..=4_i32).prop_map(Some),
            1 => Just(None),
            1 => prop_oneof![Just(Some(i32::MIN)), Just(Some(i32::MAX))],
        ];
        let begins_anew = prop::bool::weighted(0.4);
        let stretch = (score.clone(), score, 1..6_usize, prop::bool::weighted(0.1), begins_anew);
        prop::collection::vec(stretch, 1..8).prop_map(|stretches| {
            let mut side = Side::First;
            let mut moves = Vec::new();
            for (first, second, plies, keeps_turn, begins_anew) in stretches {
                for ply in 0..plies {
                    let score = if side == Side::First { first } else { second };
                    moves.push((side, score, begins_anew && ply == 1));
                    side = if keeps_turn { side } else { side.other() };
                }
            }
            moves
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn counting_is_the_rule(rule in rules(), moves in games()) {
            let mut adjudicator = Adjudicator::new(Some(rule));
            for (index, &(mover, score, is_irreversible)) in moves.iter().enumerate() {
                let ended = adjudicator.after_move(mover, score, is_irreversible);
                prop_assert_eq!(ended, ending(rule, &moves[..=index]), "ply {}", index);
                if ended.is_some() {
                    break;
                }
            }
        }
    }

    #[test]
    fn without_a_rule_nothing_ends() {
        for rule in [None, Some(Adjudication::default())] {
            let mut adjudicator = Adjudicator::new(rule);
            for ply in 0..100 {
                let side = if ply % 2 == 0 { Side::First } else { Side::Second };
                assert_eq!(adjudicator.after_move(side, Some(0), false), None);
            }
        }
    }

    #[test]
    fn a_rule_is_written_as_in_a_sweep() {
        let (three, far) = (NonZeroU32::new(3).unwrap(), NonZeroU32::new(600).unwrap());
        let resign = Some(ResignRule { score: far, moves: three, both: true });
        let draw = Some(DrawRule { score: 10, moves: three, after: 40, restart: false });
        let text = Adjudication { resign, draw, ..Adjudication::default() }.to_string();
        assert_eq!(
            text,
            "resign = { score = 600, moves = 3, both = true }, \
             draw = { score = 10, moves = 3, after = 40 }"
        );
        assert_eq!(Adjudication { draw, ..Adjudication::default() }.to_string(), text[50..]);
        assert_eq!(Adjudication { resign, ..Adjudication::default() }.to_string(), text[..48]);
        let draw = draw.map(|rule| DrawRule { restart: true, ..rule });
        assert_eq!(
            Adjudication { draw, ..Adjudication::default() }.to_string(),
            "draw = { score = 10, moves = 3, after = 40, restart = true }"
        );
        let rule = SyzygyRule { pieces: 6, fifty_moves: true, results: SyzygyResults::All };
        let text =
            |rule| Adjudication { syzygy: Some(rule), ..Adjudication::default() }.to_string();
        assert_eq!(text(rule), "syzygy = { pieces = 6 }");
        let rule = SyzygyRule { fifty_moves: false, results: SyzygyResults::WinLoss, ..rule };
        let whole = "syzygy = { pieces = 6, fifty_moves = false, results = \"win_loss\" }";
        assert_eq!(text(rule), whole);
    }
}
