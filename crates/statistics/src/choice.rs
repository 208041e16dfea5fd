//! The quality of move choices, compared with a reference's values of all legal moves: how often a player chooses a
//! best move, the rank of its moves, its loss and, if the values show who wins, how often it keeps a win; beside a
//! random mover in the same positions.
//!
//! A position whose moves all have the same value carries no information and is skipped ([`Choice::new`]).
//! `docs/statistics.md` has the formulas.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ratio::{Ratio, RatioSums};
use crate::{GameCounts, Interval, ScoreTest};

/// One choice among the moves of a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The value of the chosen move.
    pub value: i64,
    /// The greatest value.
    pub best: i64,
    /// The smallest value.
    pub worst: i64,
    /// The number of legal moves.
    pub legal_moves: u32,
    /// The number of moves with the greatest value.
    pub best_moves: u32,
    /// The number of moves with a value above 0: the winning ones, if values show who wins.
    pub winning_moves: u32,
    /// The rank of the chosen move by value, 1 for the best: moves of equal value share their mean rank.
    pub rank: f64,
    /// The chosen move's loss of value against a best one.
    pub loss: i64,
    /// The expected rank of a uniformly random move.
    pub random_rank: f64,
    /// The expected loss of a random move, more than 0.
    pub random_loss: f64,
    /// The probability that a random move is best, less than 1.
    pub random_best: f64,
    /// The rank of a best move, less than that of a random one.
    pub best_rank: f64,
}

impl Choice {
    /// The choice of the move with this index, given the values of all legal moves. `None` if all values are equal, so
    /// that there was no choice, or if the index is out of range.
    #[must_use]
    pub fn new(values: &[i64], chosen: usize) -> Option<Self> {
        let value = *values.get(chosen)?;
        let [best, worst] = [*values.iter().max()?, *values.iter().min()?];
        if best == worst {
            return None;
        }
        let count = |is_meant: &dyn Fn(i64) -> bool| {
            let moves = values.iter().filter(|&&value| is_meant(value)).count();
            u32::try_from(moves).unwrap_or(u32::MAX)
        };
        let [better, equal] = [count(&|other| other > value), count(&|other| other == value)];
        let best_moves = count(&|other| other == best);
        let winning_moves = count(&|other| other > 0);
        let legal_moves = count(&|_| true);
        let moves = f64::from(legal_moves);
        let losses = values.iter().map(|&value| best.saturating_sub(value) as f64);
        Some(Self {
            value,
            best,
            worst,
            legal_moves,
            best_moves,
            winning_moves,
            rank: f64::from(better) + shared_rank(equal),
            loss: best.saturating_sub(value),
            random_rank: shared_rank(legal_moves),
            random_loss: losses.sum::<f64>() / moves,
            random_best: f64::from(best_moves) / moves,
            best_rank: shared_rank(best_moves),
        })
    }

    /// Whether a best move was chosen.
    #[must_use]
    pub const fn is_best(&self) -> bool {
        self.loss == 0
    }

    /// Whether a win was kept, by values that show who wins. `None` if there was no win, or no move loses it.
    #[must_use]
    pub const fn keeps_win(&self) -> Option<bool> {
        if self.best > 0 && self.worst <= 0 { Some(self.value > 0) } else { None }
    }

    /// The probability that a uniformly random move wins.
    fn random_keeps_win(&self) -> f64 {
        f64::from(self.winning_moves) / f64::from(self.legal_moves)
    }
}

/// The mean of the ranks from 1 to `moves`.
fn shared_rank(moves: u32) -> f64 {
    (f64::from(moves) + 1.0) / 2.0
}

/// Sums over choices, with the squares and products that intervals need: plain sums, so that a database can add them
/// up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AccuracySums {
    /// The number of choices.
    pub positions: f64,
    /// The number of choices of a best move.
    pub best: f64,
    /// The sum of ranks.
    pub rank: f64,
    /// The squares of the ranks.
    pub rank_squared: f64,
    /// The sum of losses.
    pub loss: f64,
    /// The squares of the losses.
    pub loss_squared: f64,
    /// [`Choice::random_best`].
    pub random_best: f64,
    /// [`Choice::random_rank`].
    pub random_rank: f64,
    /// [`Choice::random_loss`].
    pub random_loss: f64,
    /// [`Choice::best_rank`].
    pub best_rank: f64,
    /// Skill at choosing a best move (1) or not (0): the gain is the choice minus `random_best`, the room 1 -
    /// `random_best`.
    pub best_skill: SkillSums,
    /// Skill by rank: the gain is `random_rank` - `rank`, the room `random_rank` - `best_rank`.
    pub rank_skill: SkillSums,
    /// Skill by loss: the gain is `random_loss` - `loss`, the room `random_loss`.
    pub loss_skill: SkillSums,
    /// Wins that were available and could be lost; all 0 if values do not show who wins.
    pub wins: WinSums,
}

/// Sums over choices in won positions in which some moves win and some do not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WinSums {
    /// The number of such positions.
    pub positions: f64,
    /// The number of winning moves chosen.
    pub kept: f64,
    /// The sum of the probabilities that a random move wins.
    pub random: f64,
    /// Skill at choosing a winning move (1) or not (0), like `best_skill`.
    pub skill: SkillSums,
}

/// The gain over a random mover in each position, and the possible gain: sums, squares and products.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SkillSums {
    /// The gains, which may be negative.
    pub gain: f64,
    /// The gains of a best move, each more than 0.
    pub room: f64,
    /// The squares of the gains.
    pub gain_squared: f64,
    /// Each gain times its room.
    pub gain_room: f64,
    /// The squares of the rooms.
    pub room_squared: f64,
}

impl AccuracySums {
    /// Adds a choice. `says_who_wins`: whether the reference's values show who wins (`values_decide_winner` of the
    /// engine); otherwise wins are unknown.
    pub fn add(&mut self, choice: &Choice, says_who_wins: bool) {
        let best = f64::from(u8::from(choice.is_best()));
        let loss = choice.loss as f64;
        let Choice { rank, random_best, random_rank, random_loss, best_rank, .. } = *choice;
        self.positions += 1.0;
        self.best += best;
        self.rank += rank;
        self.rank_squared += rank * rank;
        self.loss += loss;
        self.loss_squared += loss * loss;
        self.random_best += random_best;
        self.random_rank += random_rank;
        self.random_loss += random_loss;
        self.best_rank += best_rank;
        self.best_skill.add(best - random_best, 1.0 - random_best);
        self.rank_skill.add(random_rank - rank, random_rank - best_rank);
        self.loss_skill.add(random_loss - loss, random_loss);
        if let Some(keeps_win) = choice.keeps_win().filter(|_| says_who_wins) {
            let kept = f64::from(u8::from(keeps_win));
            let random = choice.random_keeps_win();
            self.wins.positions += 1.0;
            self.wins.kept += kept;
            self.wins.random += random;
            self.wins.skill.add(kept - random, 1.0 - random);
        }
    }

    /// A mean over the choices, given its sum, the sum of squares, and the sums for a perfect and a random player.
    fn mean(&self, sum: f64, squares: f64, ends: [f64; 2]) -> Option<Estimate> {
        let Self { positions, .. } = *self;
        let sums =
            RatioSums { base: positions, sum, base_squared: positions, products: sum, squares };
        Some(Estimate::from_ratio(&Ratio::from_sums(sums)?, ends.map(|end| end / positions)))
    }
}

impl AddAssign for AccuracySums {
    fn add_assign(&mut self, other: Self) {
        let Self {
            positions,
            best,
            rank,
            rank_squared,
            loss,
            loss_squared,
            random_best,
            random_rank,
            random_loss,
            best_rank,
            best_skill,
            rank_skill,
            loss_skill,
            wins,
        } = other;
        for (sum, added) in [
            (&mut self.positions, positions),
            (&mut self.best, best),
            (&mut self.rank, rank),
            (&mut self.rank_squared, rank_squared),
            (&mut self.loss, loss),
            (&mut self.loss_squared, loss_squared),
            (&mut self.random_best, random_best),
            (&mut self.random_rank, random_rank),
            (&mut self.random_loss, random_loss),
            (&mut self.best_rank, best_rank),
        ] {
            *sum += added;
        }
        self.best_skill += best_skill;
        self.rank_skill += rank_skill;
        self.loss_skill += loss_skill;
        self.wins += wins;
    }
}

impl AddAssign for WinSums {
    fn add_assign(&mut self, other: Self) {
        let Self { positions, kept, random, skill } = other;
        self.positions += positions;
        self.kept += kept;
        self.random += random;
        self.skill += skill;
    }
}

impl AddAssign for SkillSums {
    fn add_assign(&mut self, other: Self) {
        let Self { gain, room, gain_squared, gain_room, room_squared } = other;
        self.gain += gain;
        self.room += room;
        self.gain_squared += gain_squared;
        self.gain_room += gain_room;
        self.room_squared += room_squared;
    }
}

impl SkillSums {
    fn add(&mut self, gain: f64, room: f64) {
        self.gain += gain;
        self.room += room;
        self.gain_squared += gain * gain;
        self.gain_room += gain * room;
        self.room_squared += room * room;
    }

    fn skill(&self) -> Option<Estimate> {
        let Self { gain, room, gain_squared, gain_room, room_squared } = *self;
        let ratio = Ratio::from_sums(RatioSums {
            base: room,
            sum: gain,
            base_squared: room_squared,
            products: gain_room,
            squares: gain_squared,
        })?;
        Some(Estimate::from_ratio(&ratio, [1.0, 0.0]).clamped(f64::NEG_INFINITY, 1.0))
    }
}

/// The quality of a player's choices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Accuracy {
    /// The number of choices.
    pub positions: u64,
    /// The share of best moves among the chosen moves.
    pub best: Estimate,
    /// The mean rank of the chosen moves.
    pub rank: Estimate,
    /// The mean loss, in the reference's unit.
    pub loss: Estimate,
    /// A random mover's expected share of best moves in the same positions.
    pub random_best: f64,
    /// A random mover's expected mean rank.
    pub random_rank: f64,
    /// A random mover's expected mean loss.
    pub random_loss: f64,
    /// The share of best moves on a scale from 0, a random mover, to 1, always a best move.
    pub best_skill: Estimate,
    /// The mean rank on that scale.
    pub rank_skill: Estimate,
    /// The mean loss on that scale.
    pub loss_skill: Estimate,
    /// How often it kept a win; `None` if the reference does not show who wins, or no position had a win that a move
    /// could lose.
    pub wins: Option<WinsKept>,
}

/// How often a player keeps a win, over the positions in which some moves win and some do not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WinsKept {
    /// The number of these positions.
    pub positions: u64,
    /// The share of winning moves among the moves chosen there.
    pub share: Estimate,
    /// A random mover's expected share.
    pub random: f64,
    /// The share on a scale from 0, a random mover, to 1, which never loses a win.
    pub skill: Estimate,
}

impl WinsKept {
    fn from_sums(sums: &WinSums) -> Option<Self> {
        let WinSums { positions, kept, random, skill } = *sums;
        if positions < 1.0 {
            return None;
        }
        Some(Self {
            positions: positions as u64,
            share: Estimate::from_share(kept, positions),
            random: random / positions,
            skill: skill.skill()?,
        })
    }
}

impl Accuracy {
    /// The test of the share of best moves, which is that of its interval.
    #[must_use]
    pub fn test_of_best(&self) -> ScoreTest {
        let best = (self.best.value * self.positions as f64).round() as u64;
        GameCounts([self.positions.saturating_sub(best), 0, best]).test()
    }

    /// Figures from sums; `None` without choices.
    #[must_use]
    pub fn from_sums(sums: &AccuracySums) -> Option<Self> {
        let AccuracySums {
            positions, best, rank, loss, random_best, random_rank, random_loss, ..
        } = *sums;
        if positions < 1.0 {
            return None;
        }
        let of_rank = sums.mean(rank, sums.rank_squared, [sums.best_rank, random_rank])?;
        let of_loss = sums.mean(loss, sums.loss_squared, [0.0, random_loss])?;
        Some(Self {
            positions: positions as u64,
            best: Estimate::from_share(best, positions),
            rank: of_rank.clamped(1.0, f64::INFINITY),
            loss: of_loss.clamped(0.0, f64::INFINITY),
            random_best: random_best / positions,
            random_rank: random_rank / positions,
            random_loss: random_loss / positions,
            best_skill: sums.best_skill.skill()?,
            rank_skill: sums.rank_skill.skill()?,
            loss_skill: sums.loss_skill.skill()?,
            wins: WinsKept::from_sums(&sums.wins),
        })
    }
}

/// A figure over positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AccuracyEstimate")]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Its 95% interval; `None` for a single position, or hardly more by weight.
    pub interval: Option<Interval>,
}

impl Estimate {
    /// A share of positions, with the interval of a score.
    fn from_share(part: f64, positions: f64) -> Self {
        let counts = [positions - part, 0.0, part].map(|choices| choices.round() as u64);
        let share = GameCounts(counts).interval();
        let interval = Interval { value: share.score, low: share.low, high: share.high };
        Self { value: share.score, interval: (positions >= 2.0).then_some(interval) }
    }

    /// A ratio over positions, given its values for a perfect and for a random player. Its interval adds one position
    /// with a best choice and one as expected of a random mover (compare Agresti and Coull 1998, who add successes and
    /// failures): otherwise few equal choices would leave no doubt.
    fn from_ratio(ratio: &Ratio, ends: [f64; 2]) -> Self {
        let Ratio { value, variance, freedom, .. } = *ratio;
        let [least, most] = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        let between = value.clamp(least, most);
        let positions = freedom + 1.0;
        let squares: f64 = ends.iter().map(|end| (between - end) * (between - end)).sum();
        let added = squares / (positions * (positions + 1.0));
        let shift = (ends[0] + ends[1] - 2.0 * value) / (positions + 2.0);
        let interval = ratio.interval(variance + added, freedom);
        // The figure lies within in theory, up to rounding.
        let interval = interval.map(|interval| Interval {
            value,
            low: (interval.low + shift).min(value),
            high: (interval.high + shift).max(value),
        });
        Self { value, interval }
    }

    fn clamped(self, least: f64, most: f64) -> Self {
        Self { interval: self.interval.map(|interval| interval.clamped(least, most)), ..self }
    }
}

#[cfg(test)]
mod tests;
