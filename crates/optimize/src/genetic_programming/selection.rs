//! Who is better than whom, and who becomes a parent.

use std::cmp::Ordering;

use spelrum_engine::Random;

use super::below;

/// How a parent is drawn from a ranked generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The study's: of the individuals, the best first, an end is drawn evenly, and of those before it one,
    /// evenly. With n individuals the one of rank r (from 0) has the chance (1/(r+1) + … + 1/n) / n.
    Study,
    /// In proportion to fitness above the least of the generation; evenly if all have the same: Koza 1992,
    /// §6.4.1, with the worst as the zero, since fitness may be negative. Who has no fitness is never drawn.
    Proportional,
    /// The best of so many, each drawn evenly from all: the guide's §2.3.
    Tournament(u64),
}

/// What the size of a tree costs it: against trees that grow without becoming better (the guide's §11.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parsimony {
    /// Nothing.
    Free,
    /// So much fitness for each node: *linear parametric* parsimony.
    PerNode(f64),
    /// Of equally fit individuals the smaller is better: *lexicographic* parsimony (Luke & Panait 2002).
    Lexicographic,
}

/// An individual, as far as ranking it goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Its fitness; `None` if it has none. More is better.
    pub fitness: Option<f64>,
    /// Its number of nodes.
    pub size: usize,
}

/// A generation in the order of its individuals.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The places of its individuals, the best first: those without a fitness last, and of equal ones the
    /// earlier first.
    pub order: Vec<usize>,
    /// What each of them is worth after what its size costs, in the same order.
    worth: Vec<Option<f64>>,
}

impl Ranking {
    /// Ranks a generation. What is not a number is no fitness.
    #[must_use]
    pub fn of(candidates: &[Candidate], parsimony: Parsimony) -> Self {
        let price = match parsimony {
            Parsimony::PerNode(price) => price,
            Parsimony::Free | Parsimony::Lexicographic => 0.0,
        };
        let worth = |it: &Candidate| {
            it.fitness.map(|fitness| fitness - price * it.size as f64).filter(|it| it.is_finite())
        };
        let mut ranked: Vec<(usize, Option<f64>)> =
            candidates.iter().map(worth).enumerate().collect();
        ranked.sort_by(|(one, own), (other, others)| {
            let by_size = match parsimony {
                Parsimony::Lexicographic => candidates[*one].size.cmp(&candidates[*other].size),
                Parsimony::Free | Parsimony::PerNode(_) => Ordering::Equal,
            };
            descending(*own, *others).then(by_size).then(one.cmp(other))
        });
        let (order, worth) = ranked.into_iter().unzip();
        Self { order, worth }
    }

    /// The place of a parent.
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
        // Rounding: the last with a share. The least has none.
        worths.iter().rposition(|worth| *worth > least).unwrap_or(0)
    }
}

/// The greater first, and none last.
fn descending(own: Option<f64>, other: Option<f64>) -> Ordering {
    match (own, other) {
        (Some(own), Some(other)) => other.total_cmp(&own),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}
