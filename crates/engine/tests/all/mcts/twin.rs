//! Monte Carlo tree search as described: nodes that own their children, every list made in full,
//! proven values recomputed each time, playouts move by move.

use spelrum_engine::search::mcts::{Bound, Choice, MctsParameters, PlayoutPolicy};
use spelrum_engine::search::{Budget, Evaluate, Found, NoMove, Search, Stop, WIN};
use spelrum_engine::{Before, EndedBy, Ending, Line, PlayoutRandom, Position, Random, Side};

pub(super) struct Twin<P: Position, E> {
    parameters: MctsParameters,
    evaluation: E,
    kept: Option<Node<P>>,
}

struct Node<P: Position> {
    position: P,
    /// The legal moves in the order in which they are tried.
    order: Vec<P::Move>,
    children: Vec<Child<P>>,
    /// Visits that counted as a draw in hand.
    draws: usize,
}

struct Child<P: Position> {
    mv: P::Move,
    results: Vec<f64>,
    known: Known,
    node: Option<Node<P>>,
}

/// For who moves to the position, with the plies to the end of the line that shows it.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    No,
    Win(i32),
    Draw,
    Loss(i32),
}

impl<P: Position, E: Evaluate<P>> Twin<P, E> {
    pub(super) fn new(parameters: MctsParameters, evaluation: E) -> Self {
        Self { parameters, evaluation, kept: None }
    }

    /// A simulation from a node, with the moves that led to it: its result for white.
    fn simulate(
        &self,
        node: &mut Node<P>,
        before: &mut Vec<Before<P::Move>>,
        budget: &mut Budget<'_>,
        random: &mut PlayoutRandom,
    ) -> Result<f64, Stop> {
        let mover = node.position.to_move();
        let (place, draws) = self.select(node);
        let is_new = place == node.children.len();
        let mv = if is_new { node.order[place] } else { node.children[place].mv };
        budget.enter()?;
        let mut position = node.position.clone();
        before.push(Before { mv, key: position.canonical_key() });
        position.play_unchecked(mv);

        let mut known = Known::No;
        let by_itself = position.ending();
        let ending = by_itself.or_else(|| P::adjudicate(Line { position: &position, before }));
        let result = if let Some(ending) = ending {
            known = match ending.winner {
                None => Known::Draw,
                Some(winner) if winner == mover => Known::Win(1),
                Some(_) => Known::Loss(1),
            };
            result_of(ending)
        } else if is_new {
            self.play_out(&position, mover, &mut known, budget, random)?
        } else {
            let child = &mut node.children[place];
            if child.node.is_none() && child.results.len() < self.parameters.expand_visits as usize
            {
                self.play_out(&position, mover, &mut known, budget, random)?
            } else {
                let below = child.node.get_or_insert_with(|| Node::new(&position, random));
                let result = self.simulate(below, before, budget, random)?;
                let side = position.to_move();
                known = match below.known() {
                    Known::Win(plies) if side == mover => Known::Win(plies + 1),
                    Known::Loss(plies) if side == mover => Known::Loss(plies + 1),
                    Known::Win(plies) => Known::Loss(plies + 1),
                    Known::Loss(plies) => Known::Win(plies + 1),
                    known @ (Known::No | Known::Draw) => known,
                };
                result
            }
        };
        if is_new {
            node.children.push(Child { mv, results: Vec::new(), known: Known::No, node: None });
        }
        let child = &mut node.children[place];
        child.results.push(for_side(mover, result));
        if self.parameters.solver {
            child.known = known;
        }
        if draws {
            node.draws += 1;
            return Ok(0.5);
        }
        Ok(result)
    }

    /// The place of the child to look at, and whether a draw in hand is better.
    fn select(&self, node: &Node<P>) -> (usize, bool) {
        let mut best = None;
        for (place, child) in node.children.iter().enumerate() {
            if child.known != Known::No {
                continue;
            }
            let urgency = self.urgency(node, &child.results);
            if best.is_none_or(|(_, greatest)| urgency > greatest) {
                best = Some((place, urgency));
            }
        }
        let untried = node.children.len() < node.order.len();
        let first_play = self.parameters.first_play_urgency as f32;
        let (place, urgency) = match best {
            Some((place, urgency)) if !untried || urgency >= first_play => (place, urgency),
            _ => (node.children.len(), first_play),
        };
        let has_draw = node.children.iter().any(|child| child.known == Known::Draw);
        let draws = vec![0.5; node.draws.max(1)];
        (place, has_draw && self.urgency(node, &draws) > urgency)
    }

    fn urgency(&self, node: &Node<P>, results: &[f64]) -> f32 {
        let visits: usize = node.children.iter().map(|child| child.results.len()).sum();
        let ln = libm::log((visits + node.draws) as f64);
        let visits = results.len() as f64;
        let mean = results.iter().sum::<f64>() / visits;
        match self.parameters.bound {
            Bound::Ucb1 => {
                let factor = (self.parameters.exploration * ln.sqrt()) as f32;
                mean as f32 + factor * (1.0 / visits.sqrt()) as f32
            }
            Bound::Ucb1Tuned => {
                let squares: f64 = results.iter().map(|result| result * result).sum();
                let share = ln / visits;
                let variance = squares / visits - mean * mean + (2.0 * share).sqrt();
                let bound = (share * variance.clamp(0.0, 0.25)).sqrt();
                (mean + self.parameters.exploration * bound) as f32
            }
        }
    }

    fn play_out(
        &self,
        start: &P,
        mover: Side,
        known: &mut Known,
        budget: &mut Budget<'_>,
        random: &mut PlayoutRandom,
    ) -> Result<f64, Stop> {
        let parameters = &self.parameters;
        let is_decisive = parameters.playout == PlayoutPolicy::Decisive;
        let side = start.to_move();
        if is_decisive && winning_move(start).is_some() {
            budget.enter()?;
            *known = if side == mover { Known::Win(2) } else { Known::Loss(2) };
            return Ok(for_side(side, 1.0));
        }
        let mut sum = 0.0;
        for _ in 0..parameters.playouts {
            let mut position = start.clone();
            for _ in 0..parameters.playout_plies {
                if position.is_over() {
                    break;
                }
                let winning = if is_decisive { winning_move(&position) } else { None };
                budget.enter()?;
                let mv = winning.unwrap_or_else(|| {
                    let moves = moves_of(&position);
                    moves[random.below(moves.len() as u32) as usize]
                });
                position.play_unchecked(mv);
            }
            sum += match position.ending() {
                Some(ending) => result_of(ending),
                None => {
                    budget.evaluate()?;
                    let value = f64::from(self.evaluation.evaluate(&position));
                    let chance = 1.0 / (1.0 + libm::exp(-value / parameters.evaluation_scale));
                    for_side(position.to_move(), chance)
                }
            };
        }
        Ok(sum / f64::from(parameters.playouts))
    }

    fn choose(&self, node: &Node<P>, ended_by: EndedBy) -> Found<P::Move> {
        let untried = node.children.len() < node.order.len();
        let mut best: Option<&Child<P>> = None;
        for child in &node.children {
            if best.is_none_or(|best| self.is_better(child, best, node.draws)) {
                best = Some(child);
            }
        }
        match best {
            Some(best) if !(untried && matches!(best.known, Known::Loss(_))) => {
                let score = match best.known {
                    Known::No => ((2.0 * best.mean() - 1.0) * 1_000.0).round() as i32,
                    Known::Draw => 0,
                    Known::Win(plies) => WIN - plies,
                    Known::Loss(plies) => plies - WIN,
                };
                Found { mv: best.mv, depth: best.line(), score: Some(score), ended_by }
            }
            _ => Found { mv: node.order[node.children.len()], depth: 0, score: None, ended_by },
        }
    }

    fn is_better(&self, child: &Child<P>, than: &Child<P>, draws: usize) -> bool {
        let by_known = |child: &Child<P>| match child.known {
            Known::Win(plies) => 1_000_000 - plies,
            Known::No | Known::Draw => 0,
            Known::Loss(plies) => plies - 1_000_000,
        };
        let (visits, mean) = (child.visits(draws) as f64, child.mean());
        let (other_visits, other_mean) = (than.visits(draws) as f64, than.mean());
        let by_choice = match self.parameters.choice {
            Choice::Robust => [visits, mean] > [other_visits, other_mean],
            Choice::Max => [mean, visits] > [other_mean, other_visits],
        };
        by_known(child) > by_known(than) || by_known(child) == by_known(than) && by_choice
    }
}

impl<P: Position, E: Evaluate<P>> Search<P> for Twin<P, E> {
    fn search(
        &mut self,
        line: Line<'_, P>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, NoMove> {
        let root = line.position;
        let mut random = PlayoutRandom::from_seed(random.seed());
        if self.parameters.playout == PlayoutPolicy::Decisive
            && let Some(mv) = winning_move(root)
            && budget.enter().is_ok()
        {
            return Ok(Found { mv, depth: 1, score: Some(WIN - 1), ended_by: EndedBy::Proven });
        }
        let kept = self.kept.take().and_then(|kept| {
            if kept.position == *root {
                return Some(kept);
            }
            let same = kept
                .children
                .into_iter()
                .filter(|child| child.node.as_ref().is_some_and(|node| node.position == *root));
            same.max_by_key(|child| child.results.len()).and_then(|child| child.node)
        });
        let mut node = kept.unwrap_or_else(|| Node::new(root, &mut random));
        let mut simulations = 0;
        let ended_by = loop {
            if self.parameters.solver && node.known() != Known::No {
                break EndedBy::Proven;
            }
            if Some(simulations) == self.parameters.simulations {
                break EndedBy::Simulations;
            }
            match self.simulate(&mut node, &mut line.before.to_vec(), budget, &mut random) {
                Ok(_) => simulations += 1,
                Err(Stop::Limit(ended_by)) => break ended_by,
                Err(Stop::NoMove(reason)) => return Err(reason),
            }
        };
        let found = self.choose(&node, ended_by);
        if self.parameters.reuse {
            let played = node.children.into_iter().find(|child| child.mv == found.mv);
            self.kept = played.and_then(|child| child.node);
        }
        Ok(found)
    }
}

impl<P: Position> Node<P> {
    fn new(position: &P, random: &mut PlayoutRandom) -> Self {
        let moves = moves_of(position);
        let start = random.below(moves.len() as u32) as usize;
        // The first prime from each of 1,000,000, 1,250,000, 1,500,000 and so on: coprime to every
        // number of moves.
        let from = 1_000_000 + 250_000 * random.below(16) as usize;
        let stride = (from..).find(|&number| is_prime(number)).expect("there are more primes");
        let order = (0..moves.len()).map(|step| moves[(start + step * stride) % moves.len()]);
        Self { position: position.clone(), order: order.collect(), children: Vec::new(), draws: 0 }
    }

    fn known(&self) -> Known {
        let known = || self.children.iter().map(|child| child.known);
        let wins = known().filter_map(|known| match known {
            Known::Win(plies) => Some(plies),
            Known::No | Known::Draw | Known::Loss(_) => None,
        });
        if let Some(plies) = wins.min() {
            return Known::Win(plies);
        }
        if self.children.len() < self.order.len() || known().any(|known| known == Known::No) {
            return Known::No;
        }
        if known().any(|known| known == Known::Draw) {
            return Known::Draw;
        }
        let losses = known().filter_map(|known| match known {
            Known::Loss(plies) => Some(plies),
            Known::No | Known::Draw | Known::Win(_) => None,
        });
        Known::Loss(losses.max().expect("every child loses"))
    }
}

impl<P: Position> Child<P> {
    fn mean(&self) -> f64 {
        match self.known {
            Known::No => self.results.iter().sum::<f64>() / self.results.len() as f64,
            Known::Win(_) => 1.0,
            Known::Draw => 0.5,
            Known::Loss(_) => 0.0,
        }
    }

    fn visits(&self, draws: usize) -> usize {
        if self.known == Known::Draw { draws.max(self.results.len()) } else { self.results.len() }
    }

    /// Plies of the most visited line from here on, this move included.
    fn line(&self) -> u32 {
        let Some(node) = &self.node else { return 1 };
        let key = |child: &Self| {
            let known = match child.known {
                Known::Win(plies) => (2, -plies),
                Known::No | Known::Draw => (1, 0),
                Known::Loss(plies) => (0, plies),
            };
            (known, child.visits(node.draws), child.mean())
        };
        let mut best: Option<&Self> = None;
        for child in &node.children {
            if best.is_none_or(|best| key(child) > key(best)) {
                best = Some(child);
            }
        }
        1 + best.map_or(0, Self::line)
    }
}

fn moves_of<P: Position>(position: &P) -> Vec<P::Move> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    moves
}

fn winning_move<P: Position>(position: &P) -> Option<P::Move> {
    moves_of(position).into_iter().find(|&mv| {
        let mut child = position.clone();
        child.play_unchecked(mv);
        child.ending().is_some_and(|ending| ending.winner == Some(position.to_move()))
    })
}

fn result_of(ending: Ending) -> f64 {
    match ending.winner {
        Some(Side::First) => 1.0,
        None => 0.5,
        Some(Side::Second) => 0.0,
    }
}

fn for_side(side: Side, result: f64) -> f64 {
    if side == Side::First { result } else { 1.0 - result }
}

fn is_prime(number: usize) -> bool {
    (2..)
        .take_while(|divisor| divisor * divisor <= number)
        .all(|divisor| !number.is_multiple_of(divisor))
}
