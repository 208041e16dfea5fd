//! Ranking individuals, and selecting parents.

use std::cmp::Ordering;

use spelrum_engine::Random;

use super::below;

/// The method of drawing a parent from a ranked generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The study's: with individuals sorted best first, draws an end uniformly, and then uniformly one before that end.
    /// With n individuals the one of rank r (from 0) has the chance (1/(r+1) + … + 1/n) / n.
    Study,
    /// In proportion to fitness above the generation's least; uniformly if all are equal: Koza 1992, §6.4.1, with the
    /// worst as zero, since fitness may be negative. Individuals without a fitness are never drawn.
    Proportional,
    /// The best of this many, each drawn uniformly from all: the guide's §2.3.
    Tournament(u64),
}

/// The cost of a tree's size: against trees that grow without improving (the guide's §11.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parsimony {
    /// No cost.
    Free,
    /// This much fitness per node: *linear parametric* parsimony.
    PerNode(f64),
    /// Among equally fit individuals the smaller is better: *lexicographic* parsimony (Luke & Panait 2002).
    Lexicographic,
}

/// The part of an individual that ranking needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its fitness, if any. More is better.
    pub fitness: Option<f64>,
    /// Its number of nodes.
    pub size: usize,
}

/// A ranked generation.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The indices of its individuals, the best first; those without a fitness last, and equal ones by index.
    pub order: Vec<usize>,
    /// The worth of each after the cost of its size, in the same order.
    worth: Vec<Option<f64>>,
}

impl Ranking {
    /// Ranks a generation. NaN counts as no fitness.
    #[must_use]
    pub fn new(candidates: &[Candidate], parsimony: Parsimony) -> Self {
        let price = match parsimony {
            Parsimony::PerNode(price) => price,
            Parsimony::Free | Parsimony::Lexicographic => 0.0,
        };
        let worth = |candidate: &Candidate| {
            candidate
                .fitness
                .map(|fitness| fitness - price * candidate.size as f64)
                .filter(|worth| worth.is_finite())
        };
        let mut ranked: Vec<(usize, Option<f64>)> =
            candidates.iter().map(worth).enumerate().collect();
        ranked.sort_by(|(first, first_worth), (second, second_worth)| {
            let by_size = match parsimony {
                Parsimony::Lexicographic => candidates[*first].size.cmp(&candidates[*second].size),
                Parsimony::Free | Parsimony::PerNode(_) => Ordering::Equal,
            };
            descending(*first_worth, *second_worth).then(by_size).then(first.cmp(second))
        });
        let (order, worth) = ranked.into_iter().unzip();
        Self { order, worth }
    }

    /// Draws the index of a parent.
    ///
    /// # Panics
    /// If the generation is empty.
    #[must_use]
    pub fn select(&self, selection: Selection, random: &mut Random) -> usize {
        let all = self.order.len();
        let rank = match selection {
            Selection::Study => below(below(all, random) + 1, random),
            Selection::Proportional => self.in_proportion(random),
            Selection::Tournament(size) => {
                (1..size.max(1)).fold(below(all, random), |best, _| best.min(below(all, random)))
            }
        };
        self.order[rank]
    }

    fn in_proportion(&self, random: &mut Random) -> usize {
        let worths: Vec<f64> = self.worth.iter().copied().flatten().collect();
        let Some(&least) = worths.last() else { return below(self.order.len(), random) };
        let total: f64 = worths.iter().map(|worth| worth - least).sum();
        if !(total.is_finite() && total > 0.0) {
            return below(worths.len(), random);
        }
        let mut left = random.unit() * total;
        for (rank, worth) in worths.iter().enumerate() {
            left -= worth - least;
            if left < 0.0 {
                return rank;
            }
        }
        // Because of rounding: the last with a share. The least has none.
        worths.iter().rposition(|worth| *worth > least).unwrap_or(0)
    }
}

/// Greater first, absent last.
fn descending(own: Option<f64>, other: Option<f64>) -> Ordering {
    match (own, other) {
        (Some(own), Some(other)) => other.total_cmp(&own),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}
