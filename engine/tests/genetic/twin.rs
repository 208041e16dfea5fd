//! The slow, obvious twin of genetic minimax: individuals are vectors of moves, the tree is built
//! anew from all lines whenever it is needed, and values are computed by recursion. It draws the
//! same random numbers in the same order, so that everything it finds must be equal.

use std::collections::BTreeMap;

use spelrum_engine::search::genetic::{GeneticParameters, Selection};
use spelrum_engine::search::{Budget, Evaluate, Found, Search, Stop, WIN, WIN_MIN};
use spelrum_engine::{Colour, EndedBy, Position, Random};

pub(crate) struct Twin<P: Position, E> {
    parameters: GeneticParameters,
    evaluation: E,
    /// All lines of all generations, with their leaves' values for the side to move at the root.
    pub(crate) lines: BTreeMap<Vec<P::Move>, i32>,
    pub(crate) population: Vec<Vec<P::Move>>,
    principal: Vec<P::Move>,
    /// The leaves of the whole game tree, if they can be counted.
    all_leaves: Option<usize>,
}

/// An individual in the making.
enum Draft<M> {
    /// A copy of a parent is not played again.
    Copy(Vec<M>),
    /// `None` is a gene to be drawn.
    Genes(Vec<Option<M>>),
}

/// A node of the tree that the twin builds.
pub(crate) struct TwinNode<M> {
    pub(crate) value: i32,
    pub(crate) visits: u32,
    pub(crate) is_complete: bool,
    pub(crate) maximises: bool,
    pub(crate) children: BTreeMap<M, Self>,
}

impl<P: Position, E: Evaluate<P>> Twin<P, E> {
    pub(crate) fn new(parameters: GeneticParameters, evaluation: E) -> Self {
        Self {
            parameters,
            evaluation,
            lines: BTreeMap::new(),
            population: Vec::new(),
            principal: Vec::new(),
            all_leaves: None,
        }
    }

    /// The reservation tree of all lines so far.
    pub(crate) fn tree(&self, root: &P) -> TwinNode<P::Move> {
        let lines: Vec<Line<'_, P::Move>> =
            self.lines.iter().map(|(line, &value)| (line.as_slice(), value)).collect();
        build(root, root.to_move(), &lines)
    }

    fn evolve(&mut self, root: &P, budget: &mut Budget<'_>, random: &mut Random) -> Stop {
        let mut generations = 0;
        let mut stale = 0;
        loop {
            let lines = self.lines.len();
            let next = if generations == 0 {
                self.first(root, budget, random)
            } else {
                self.breed(root, budget, random)
            };
            match next {
                Ok(next) => self.population = next,
                Err(stop) => return stop,
            }
            generations += 1;
            stale = if self.lines.len() > lines { 0 } else { stale + self.population.len() };
            if Some(generations) == self.parameters.generations
                || stale >= GeneticParameters::STALE_INDIVIDUALS
            {
                return Stop::Limit(EndedBy::Generations);
            }
        }
    }

    fn first(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Vec<Vec<P::Move>>, Stop> {
        let mut next = Vec::new();
        if self.parameters.seed_root {
            let mut moves = legal_moves(root);
            random.shuffle(&mut moves);
            for mv in moves {
                next.push(self.give_birth(Draft::Genes(vec![Some(mv)]), root, budget, random)?);
            }
        }
        while next.len() < self.parameters.population as usize {
            next.push(self.give_birth(Draft::Genes(vec![]), root, budget, random)?);
        }
        Ok(next)
    }

    fn breed(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Vec<Vec<P::Move>>, Stop> {
        let GeneticParameters { population, elites, crossover_rate, mutation_rate, refute, .. } =
            self.parameters;
        let tree = self.tree(root);
        let fitness: Vec<u32> =
            self.population.iter().map(|line| self.fitness(&tree, line)).collect();

        let mut best_first: Vec<usize> = (0..fitness.len()).collect();
        best_first.sort_by_key(|&index| std::cmp::Reverse(fitness[index]));
        let mut next: Vec<_> = best_first
            .iter()
            .take(elites.min(population) as usize)
            .map(|&index| self.population[index].clone())
            .collect();

        while next.len() < population as usize {
            let first = self.population[select(&self.parameters, &fitness, random)].clone();
            let second = self.population[select(&self.parameters, &fitness, random)].clone();
            let mut cut = None;
            if random.unit() < crossover_rate {
                let shorter = first.len().min(second.len()) as u32;
                if shorter > 1 {
                    cut = Some(1 + random.below(shorter - 1) as usize);
                }
            }
            for (own, other) in [(&first, &second), (&second, &first)] {
                if next.len() == population as usize {
                    break;
                }
                let child = match cut {
                    Some(cut) => [&own[..cut], &other[cut..]].concat(),
                    None => own.clone(),
                };
                let mut genes: Vec<Option<P::Move>> = child.into_iter().map(Some).collect();
                let is_mutated = random.unit() < mutation_rate;
                if is_mutated {
                    let refutes = refute > 0.0 && random.unit() < refute;
                    let principal = if refutes { self.principal_line(root) } else { vec![] };
                    let replies: Vec<usize> = (0..principal.len())
                        .filter(|&ply| {
                            let position = after(root, &principal[..ply]);
                            position.to_move() != root.to_move()
                                && !self.knows_all(&position, &principal[..ply])
                        })
                        .collect();
                    if replies.is_empty() {
                        let ply = random.below(genes.len() as u32);
                        genes[ply as usize] = None;
                    } else {
                        genes = principal.into_iter().map(Some).collect();
                        genes[replies[random.below(replies.len() as u32) as usize]] = None;
                    }
                }
                let draft = if cut.is_none() && !is_mutated {
                    Draft::Copy(own.clone())
                } else {
                    Draft::Genes(genes)
                };
                next.push(self.give_birth(draft, root, budget, random)?);
            }
        }
        Ok(next)
    }

    fn give_birth(
        &mut self,
        mut draft: Draft<P::Move>,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Vec<P::Move>, Stop> {
        let mut tries = 0;
        loop {
            let (line, value) = match draft {
                Draft::Copy(line) => (line, None),
                Draft::Genes(genes) => self.replay(&genes, root, budget, random)?,
            };
            if let Some(value) = value {
                self.lines.insert(line.clone(), value);
                if Some(self.lines.len()) == self.all_leaves {
                    return Err(Stop::Limit(EndedBy::Depth));
                }
                return Ok(line);
            }
            if !self.parameters.reject_duplicates || tries == GeneticParameters::DUPLICATE_TRIES {
                return Ok(line);
            }
            tries += 1;
            let ply = random.below(line.len() as u32) as usize;
            let mut genes: Vec<Option<P::Move>> = line.into_iter().map(Some).collect();
            genes[ply] = None;
            draft = Draft::Genes(genes);
        }
    }

    /// The line that a draft becomes, with its leaf's value if it is new.
    fn replay(
        &self,
        genes: &[Option<P::Move>],
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<(Vec<P::Move>, Option<i32>), Stop> {
        let mut position = root.clone();
        let mut line = Vec::new();
        loop {
            let moves = legal_moves(&position);
            let mut next = position.clone();
            match genes.get(line.len()) {
                Some(&Some(mv)) if moves.contains(&mv) => {
                    next.play_unchecked(mv);
                    line.push(mv);
                }
                _ => {
                    let knows_all = |&mv: &P::Move| {
                        let line = [&line[..], &[mv]].concat();
                        self.knows_all(&after(&position, &[mv]), &line)
                    };
                    let mut mv = moves[random.below(moves.len() as u32) as usize];
                    if self.parameters.reject_duplicates && knows_all(&mv) {
                        let open: Vec<_> = moves.into_iter().filter(|mv| !knows_all(mv)).collect();
                        if !open.is_empty() {
                            mv = open[random.below(open.len() as u32) as usize];
                        }
                    }
                    next.play_unchecked(mv);
                    line.push(mv);
                }
            }
            budget.enter()?;
            position = next;
            let ply = line.len() as i32;
            if let Some(ending) = position.ending() {
                let value = match ending.winner {
                    None => 0,
                    Some(winner) if winner == root.to_move() => WIN - ply,
                    Some(_) => ply - WIN,
                };
                let is_new = !self.lines.contains_key(&line);
                return Ok((line, is_new.then_some(value)));
            }
            if line.len() == self.parameters.depth as usize {
                if self.lines.contains_key(&line) {
                    return Ok((line, None));
                }
                budget.evaluate()?;
                let value = self.evaluation.evaluate(&position);
                let is_ours = position.to_move() == root.to_move();
                return Ok((line, Some(if is_ours { value } else { -value })));
            }
        }
    }

    /// Whether all lines that begin with this one, which leads to this position, are in the tree.
    fn knows_all(&self, position: &P, line: &[P::Move]) -> bool {
        let known =
            self.lines.range(line.to_vec()..).take_while(|(longer, _)| longer.starts_with(line));
        let known = known.count();
        let depth = self.parameters.depth - line.len() as u32;
        known > 0 && count_leaves(position, depth, known) == Some(known)
    }

    fn principal_line(&mut self, root: &P) -> Vec<P::Move> {
        let tree = self.tree(root);
        let holds = !self.principal.is_empty()
            && self.fitness(&tree, &self.principal) as usize == self.principal.len() + 1;
        if !holds {
            self.principal.clear();
            let mut node = &tree;
            while let Some((&mv, child)) = best(node, 0) {
                self.principal.push(mv);
                node = child;
            }
        }
        self.principal.clone()
    }

    /// By its definition: one plus the plies that the leaf's value climbs along its own path.
    pub(crate) fn fitness(&self, tree: &TwinNode<P::Move>, line: &[P::Move]) -> u32 {
        let mut path = vec![tree];
        for mv in line {
            path.push(&path[path.len() - 1].children[mv]);
        }
        let value = self.lines[line];
        path.iter().rev().take_while(|node| node.value == value).count() as u32
    }
}

impl<P: Position, E: Evaluate<P>> Search<P> for Twin<P, E> {
    fn search(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, Stop> {
        self.lines.clear();
        self.population.clear();
        self.principal.clear();
        self.all_leaves = count_leaves(root, self.parameters.depth, 100_000);
        let ended_by = match self.evolve(root, budget, random) {
            Stop::Limit(ended_by) => ended_by,
            Stop::Aborted => return Err(Stop::Aborted),
        };
        let tree = self.tree(root);
        let Some((&mv, child)) = best(&tree, self.parameters.min_visits) else {
            let moves = legal_moves(root);
            let mv = moves[random.below(moves.len() as u32) as usize];
            return Ok(Found { mv, depth: 0, score: None, ended_by });
        };
        let decided = budget.evaluations() == 0 || child.value.abs() >= WIN_MIN;
        Ok(Found {
            mv,
            depth: self.lines.keys().map(Vec::len).max().unwrap_or(0) as u32,
            score: Some(child.value),
            ended_by: if ended_by == EndedBy::Depth && decided {
                EndedBy::Proven
            } else {
                ended_by
            },
        })
    }
}

/// The child that looks best to whoever moves at the node: by value, ties by visits, then by
/// canonical order, among those that are complete or have enough visits.
fn best<M: Copy + Ord>(node: &TwinNode<M>, min_visits: u32) -> Option<(&M, &TwinNode<M>)> {
    let incomplete = node.children.values().filter(|child| !child.is_complete);
    let enough = min_visits.min(incomplete.map(|child| child.visits).max().unwrap_or(0));
    node.children
        .iter()
        .filter(|(_, child)| child.is_complete || child.visits >= enough)
        .min_by_key(|(_, child)| {
            let worth = if node.maximises { child.value } else { -child.value };
            (-worth, std::cmp::Reverse(child.visits))
        })
}

/// The rest of a line, and its leaf's value.
type Line<'a, M> = (&'a [M], i32);

/// Builds the subtree of some lines, given from this position on.
fn build<P: Position>(position: &P, us: Colour, lines: &[Line<'_, P::Move>]) -> TwinNode<P::Move> {
    let maximises = position.to_move() == us;
    if let [(line, value)] = lines
        && line.is_empty()
    {
        let children = BTreeMap::new();
        return TwinNode { value: *value, visits: 1, is_complete: true, maximises, children };
    }
    let mut tails: BTreeMap<P::Move, Vec<Line<'_, P::Move>>> = BTreeMap::new();
    for (line, value) in lines {
        tails.entry(line[0]).or_default().push((&line[1..], *value));
    }
    let children: BTreeMap<P::Move, TwinNode<P::Move>> = tails
        .into_iter()
        .map(|(mv, lines)| {
            let mut next = position.clone();
            next.play_unchecked(mv);
            (mv, build(&next, us, &lines))
        })
        .collect();
    let values = children.values().map(|child| child.value);
    TwinNode {
        value: if maximises { values.max() } else { values.min() }.unwrap_or(0),
        visits: children.values().map(|child| child.visits).sum(),
        is_complete: legal_moves(position)
            .iter()
            .all(|mv| children.get(mv).is_some_and(|child| child.is_complete)),
        maximises,
        children,
    }
}

fn select(parameters: &GeneticParameters, fitness: &[u32], random: &mut Random) -> usize {
    let shares: Vec<u32> = match parameters.selection {
        Selection::Roulette => fitness.to_vec(),
        Selection::Rank => fitness
            .iter()
            .map(|own| fitness.iter().filter(|other| *other <= own).count() as u32)
            .collect(),
        Selection::Tournament => {
            let mut drawn: Vec<usize> = (0..parameters.tournament_size)
                .map(|_| random.below(fitness.len() as u32) as usize)
                .collect();
            drawn.sort_by_key(|&index| std::cmp::Reverse(fitness[index]));
            return drawn[0];
        }
    };
    let mut stop = random.below(shares.iter().sum());
    for (index, share) in shares.into_iter().enumerate() {
        if stop < share {
            return index;
        }
        stop -= share;
    }
    unreachable!("the wheel stops somewhere")
}

pub(crate) fn legal_moves<P: Position>(position: &P) -> Vec<P::Move> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    moves
}

fn after<P: Position>(root: &P, line: &[P::Move]) -> P {
    let mut position = root.clone();
    for &mv in line {
        position.play_unchecked(mv);
    }
    position
}

/// The leaves of the game tree to this depth, `None` if there are more than `most`.
fn count_leaves<P: Position>(position: &P, depth: u32, most: usize) -> Option<usize> {
    if depth == 0 || position.ending().is_some() {
        return Some(1);
    }
    let mut leaves = 0;
    for mv in legal_moves(position) {
        let mut next = position.clone();
        next.play_unchecked(mv);
        leaves += count_leaves(&next, depth - 1, most - leaves)?;
        if leaves > most {
            return None;
        }
    }
    Some(leaves)
}
