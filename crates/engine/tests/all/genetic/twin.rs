//! The slow reference of genetic minimax: individuals are vectors of moves, the tree is rebuilt
//! from all lines whenever it is needed, and values are computed by recursion. It draws the same
//! random numbers in the same order, so all its results must be equal.

#[path = "leaf_twin.rs"]
mod leaf_twin;
#[path = "operators_twin.rs"]
mod operators_twin;

use std::collections::{BTreeMap, BTreeSet};

use spelrum_engine::search::genetic::{Encoding, GeneticParameters, Mutation};
use spelrum_engine::search::{Budget, Evaluate, Found, NoMove, Search, Stop, WIN, WIN_MIN};
use spelrum_engine::{EndedBy, Position, Random, Side};

use leaf_twin::{LeafTwin, static_value};
use operators_twin::{Gene, Genes, cross, cuts, select};

pub(crate) struct Twin<P: Position, E> {
    parameters: GeneticParameters,
    evaluation: E,
    /// All lines of all generations, with their leaves' values for the side to move at the root.
    pub(crate) lines: BTreeMap<Vec<P::Move>, i32>,
    pub(crate) population: Vec<Vec<P::Move>>,
    principal: Vec<P::Move>,
    /// Replies in static order behind the beginnings of lines.
    orders: BTreeMap<Vec<P::Move>, Vec<P::Move>>,
    /// The replies that refuted something last, the last first.
    killers: Vec<P::Move>,
    seeds: Vec<Vec<P::Move>>,
    leaf: LeafTwin<P::Move>,
    leaf_depth: u32,
    floor: i32,
    /// The leaves of the whole game tree, if they can be counted.
    all_leaves: Option<usize>,
}

/// An individual in the making.
enum Draft<M> {
    /// A copy of a parent is not played again.
    Copy(Vec<M>),
    Genes(Genes<M>),
}

/// Genes, and the moves before the one that is another reply of the opponent's.
type Refutation<M> = (Genes<M>, Vec<M>);

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
            orders: BTreeMap::new(),
            killers: Vec::new(),
            seeds: Vec::new(),
            leaf: LeafTwin { killer: None, saw_horizon: false },
            leaf_depth: 0,
            floor: -WIN,
            all_leaves: None,
        }
    }

    fn line_plies(&self) -> u32 {
        match self.parameters.line_plies {
            0 => self.parameters.depth,
            plies => plies.min(self.parameters.depth),
        }
    }

    /// The reservation tree of all lines so far.
    pub(crate) fn tree(&self, root: &P) -> TwinNode<P::Move> {
        let lines: Vec<Line<'_, P::Move>> =
            self.lines.iter().map(|(line, &value)| (line.as_slice(), value)).collect();
        build(root, root.to_move(), &lines)
    }

    fn evolve(
        &mut self,
        root: &P,
        generations: &mut u64,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Stop {
        let mut stale = 0;
        self.population.clear();
        loop {
            let lines = self.lines.len();
            let next = if self.population.is_empty() {
                self.first(root, budget, random)
            } else {
                self.breed(root, budget, random)
            };
            match next {
                Ok(next) => self.population = next,
                Err(stop) => return stop,
            }
            *generations += 1;
            stale = if self.lines.len() > lines { 0 } else { stale + self.population.len() };
            if self.parameters.generations.is_some_and(|limit| *generations >= limit)
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
        if !self.seeds.is_empty() {
            for seed in self.seeds.clone() {
                let genes = seed.into_iter().map(|mv| Some(Gene::Move(mv))).collect();
                self.introduce(genes, &mut next, root, budget, random)?;
            }
            return Ok(next);
        }
        if self.parameters.seed_root {
            let mut moves = legal_moves(root);
            random.shuffle(&mut moves);
            for mv in moves {
                self.introduce(vec![Some(Gene::Move(mv))], &mut next, root, budget, random)?;
            }
        }
        while next.len() < self.parameters.population as usize {
            next.push(self.give_birth(Draft::Genes(vec![]), root, budget, random)?);
        }
        Ok(next)
    }

    /// One more individual; with `in_turn` all refutations of the principal line on top.
    fn introduce(
        &mut self,
        genes: Genes<P::Move>,
        next: &mut Vec<Vec<P::Move>>,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<(), Stop> {
        next.push(self.give_birth(Draft::Genes(genes), root, budget, random)?);
        if self.parameters.in_turn {
            while let Some(refutation) = self.refutation(root, budget, random)? {
                next.push(self.bear_refutation(refutation, root, budget, random)?);
            }
            let tree = self.tree(root);
            let child = &tree.children[&self.principal[0]];
            if child.is_complete {
                self.floor = self.floor.max(child.value);
            }
        }
        Ok(())
    }

    /// The moves of the principal line with another reply, `None` being drawn.
    fn refutation(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Option<Refutation<P::Move>>, Stop> {
        let principal = self.principal_line(root);
        let replies: Vec<usize> = (0..principal.len())
            .filter(|&ply| {
                let position = after(root, &principal[..ply]);
                position.to_move() != root.to_move()
                    && !self.knows_all(&position, &principal[..ply])
            })
            .collect();
        if replies.is_empty() {
            return Ok(None);
        }
        let ply = replies[random.below(replies.len() as u32) as usize];
        let before = principal[..ply].to_vec();
        let mut genes: Genes<P::Move> =
            principal.into_iter().map(|mv| Some(Gene::Move(mv))).collect();
        genes[ply] = self.chosen_reply(root, &before, budget)?.map(Gene::Move);
        Ok(Some((genes, before)))
    }

    fn chosen_reply(
        &mut self,
        root: &P,
        before: &[P::Move],
        budget: &mut Budget<'_>,
    ) -> Result<Option<P::Move>, Stop> {
        let is_new = |mv: &P::Move| {
            let line = [before, &[*mv]].concat();
            !self.lines.keys().any(|other| other.starts_with(&line))
        };
        let killers: Vec<P::Move> = self.killers.iter().copied().filter(is_new).collect();
        let position = after(root, before);
        let lacks_order = self.parameters.order && !self.orders.contains_key(before);
        if !killers.is_empty() || lacks_order {
            for _ in before {
                budget.enter()?;
            }
            if let Some(&killer) = killers.iter().find(|&&mv| position.is_legal(mv)) {
                return Ok(Some(killer));
            }
        }
        if lacks_order {
            let ply = before.len() as u32 + 1;
            let mut valued = Vec::new();
            for mv in legal_moves(&position) {
                valued.push((mv, static_value(&self.evaluation, &position, mv, ply, budget)?));
            }
            valued.sort_by_key(|&(_, value)| std::cmp::Reverse(value));
            let order = valued.into_iter().map(|(mv, _)| mv).collect();
            self.orders.insert(before.to_vec(), order);
        }
        let is_new = |mv: &&P::Move| {
            let line = [before, &[**mv]].concat();
            !self.lines.keys().any(|other| other.starts_with(&line))
        };
        Ok(self.orders.get(before).and_then(|order| order.iter().find(is_new)).copied())
    }

    /// Makes a refutation an individual, and its reply a killer if it changed where it was aimed.
    fn bear_refutation(
        &mut self,
        (genes, before): Refutation<P::Move>,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Vec<P::Move>, Stop> {
        let value = |twin: &Self| {
            let tree = twin.tree(root);
            before.iter().fold(&tree, |node, mv| &node.children[mv]).value
        };
        let old = value(self);
        let line = self.give_birth(Draft::Genes(genes), root, budget, random)?;
        if value(self) != old {
            let reply = line[before.len()];
            self.killers.retain(|&killer| killer != reply);
            self.killers.insert(0, reply);
            self.killers.truncate(self.parameters.killers as usize);
        }
        Ok(line)
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
            let cuts = if random.unit() < crossover_rate {
                cuts(self.parameters.crossover_points, first.len().min(second.len()), random)
            } else {
                BTreeSet::new()
            };
            for (own, other) in [(&first, &second), (&second, &first)] {
                if next.len() == population as usize {
                    break;
                }
                let mut genes = cross(&self.genes(root, own), &self.genes(root, other), &cuts);
                let draws = match self.parameters.mutation {
                    Mutation::OneGene => 1,
                    Mutation::EachGene => genes.len(),
                };
                let mutates: Vec<bool> =
                    (0..draws).map(|_| random.unit() < mutation_rate).collect();
                let is_mutated = mutates.contains(&true);
                if is_mutated {
                    let refutes = refute > 0.0 && random.unit() < refute;
                    let refutation =
                        if refutes { self.refutation(root, budget, random)? } else { None };
                    if let Some(refutation) = refutation {
                        next.push(self.bear_refutation(refutation, root, budget, random)?);
                        continue;
                    }
                    if refutes && self.is_settled(root) {
                        return Err(Stop::Limit(EndedBy::Depth));
                    }
                    match self.parameters.mutation {
                        Mutation::OneGene => {
                            let ply = random.below(genes.len() as u32);
                            genes[ply as usize] = None;
                        }
                        Mutation::EachGene => {
                            let mutated = genes.iter_mut().zip(mutates).filter(|(_, is)| *is);
                            mutated.for_each(|(gene, _)| *gene = None);
                        }
                    }
                }
                let draft = if cuts.is_empty() && !is_mutated {
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
                Draft::Genes(genes) => self.graft(&genes, root, budget, random)?,
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
            let mut genes = self.genes(root, &line);
            genes[ply] = None;
            draft = Draft::Genes(genes);
        }
    }

    /// A leaf's value for the side to move at the root: exact where it is better than its siblings
    /// and than the floor.
    fn leaf_value(
        &mut self,
        root: &P,
        line: &[P::Move],
        leaf: &P,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let (mut alpha, mut beta) = (-WIN, WIN);
        if self.leaf_depth > 0 {
            let parent = &line[..line.len() - 1];
            let siblings = self.lines.iter().filter(|(other, _)| other.starts_with(parent));
            let siblings = siblings.map(|(_, &value)| value);
            alpha = self.floor;
            if after(root, parent).to_move() == root.to_move() {
                alpha = siblings.max().map_or(alpha, |best| best.max(alpha));
            } else if let Some(best) = siblings.min() {
                (alpha, beta) = ((alpha - 1).max(-WIN), best);
            }
        }
        let sign = if leaf.to_move() == root.to_move() { 1 } else { -1 };
        let window = if sign == 1 { [alpha, beta] } else { [-beta, -alpha] };
        let (depth, ply) = (self.leaf_depth, line.len() as u32);
        let Self { leaf: search, evaluation, .. } = self;
        let value = sign * search.value(evaluation, leaf, (depth, ply), window, budget)?;
        if [alpha, beta] == [-WIN, WIN] {
            return Ok(value);
        }
        Ok(if value >= beta {
            value.max(beta + 1)
        } else if value <= alpha {
            value.min(alpha - 1)
        } else {
            value
        })
    }

    /// The genes of an individual.
    fn genes(&self, root: &P, line: &[P::Move]) -> Genes<P::Move> {
        let number = |(ply, mv): (usize, &P::Move)| {
            let moves = legal_moves(&after(root, &line[..ply]));
            moves.iter().position(|other| other == mv).map(Gene::Branch)
        };
        match self.parameters.encoding {
            Encoding::Moves => line.iter().map(|&mv| Some(Gene::Move(mv))).collect(),
            Encoding::Branches => line.iter().enumerate().map(number).collect(),
        }
    }

    /// Whether every reply to the best move is in the tree, lines being two plies long.
    fn is_settled(&self, root: &P) -> bool {
        let tree = self.tree(root);
        self.parameters.deepen
            && self.line_plies() <= 2
            && tree.children[&self.principal[0]].is_complete
            && tree.children.len() == legal_moves(root).len()
            && tree.children.values().all(|child| child.is_complete || !child.maximises)
    }

    /// The line that a draft becomes, with its leaf's value if it is new.
    fn graft(
        &mut self,
        genes: &[Option<Gene<P::Move>>],
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<(Vec<P::Move>, Option<i32>), Stop> {
        let mut position = root.clone();
        let mut line = Vec::new();
        loop {
            let moves = legal_moves(&position);
            let mut next = position.clone();
            let inherited = match genes.get(line.len()).copied().flatten() {
                Some(Gene::Move(mv)) => moves.contains(&mv).then_some(mv),
                Some(Gene::Branch(number)) => Some(moves[number % moves.len()]),
                None => None,
            };
            let mv = inherited.unwrap_or_else(|| {
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
                mv
            });
            next.play_unchecked(mv);
            line.push(mv);
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
            if line.len() == self.line_plies() as usize {
                if self.lines.contains_key(&line) {
                    return Ok((line, None));
                }
                let value = self.leaf_value(root, &line, &position, budget)?;
                return Ok((line, Some(value)));
            }
        }
    }

    /// Whether all lines that begin with this one, which leads to this position, are in the tree.
    fn knows_all(&self, position: &P, line: &[P::Move]) -> bool {
        let known =
            self.lines.range(line.to_vec()..).take_while(|(longer, _)| longer.starts_with(line));
        let known = known.count();
        let depth = self.line_plies() - line.len() as u32;
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
        at: spelrum_engine::Line<'_, P>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, NoMove> {
        let root = at.position;
        self.killers.clear();
        self.seeds.clear();
        let leaf_depth = self.parameters.depth - self.line_plies();
        self.leaf_depth = if self.parameters.deepen { 0 } else { leaf_depth };
        self.all_leaves = count_leaves(root, self.line_plies(), 100_000);
        let mut generations = 0;
        let mut settled: Option<Found<P::Move>> = None;
        loop {
            self.lines.clear();
            self.principal.clear();
            self.orders.clear();
            self.leaf = LeafTwin { killer: None, saw_horizon: false };
            self.floor = -WIN;
            let ended_by = match self.evolve(root, &mut generations, budget, random) {
                Stop::Limit(ended_by) => ended_by,
                Stop::NoMove(reason) => return Err(reason),
            };
            let tree = self.tree(root);
            if ended_by != EndedBy::Depth {
                return Ok(self.cut_off(&tree, settled, ended_by, root, random));
            }
            let mv = if tree.is_complete {
                *best(&tree, self.parameters.min_visits).expect("it is complete").0
            } else {
                self.principal[0]
            };
            let found = self.found(&tree, mv, ended_by);
            if found.ended_by == EndedBy::Proven || self.leaf_depth == leaf_depth {
                return Ok(found);
            }
            settled = Some(found);
            let mut firsts: Vec<_> = tree.children.iter().collect();
            firsts.sort_by_key(|(first, node)| {
                (**first != mv, std::cmp::Reverse((node.value, node.visits)))
            });
            self.seeds = firsts.into_iter().map(|(&mv, node)| best_line(mv, node)).collect();
            self.leaf_depth += 1;
        }
    }
}

impl<P: Position, E: Evaluate<P>> Twin<P, E> {
    fn found(&self, tree: &TwinNode<P::Move>, mv: P::Move, ended_by: EndedBy) -> Found<P::Move> {
        let value = tree.children[&mv].value;
        let is_proven =
            ended_by == EndedBy::Depth && (!self.leaf.saw_horizon || value.abs() >= WIN_MIN);
        let longest = self.lines.keys().map(Vec::len).max().unwrap_or(0) as u32;
        Found {
            mv,
            depth: longest + self.leaf_depth,
            score: Some(value),
            ended_by: if is_proven { EndedBy::Proven } else { ended_by },
        }
    }

    fn cut_off(
        &self,
        tree: &TwinNode<P::Move>,
        settled: Option<Found<P::Move>>,
        ended_by: EndedBy,
        root: &P,
        random: &mut Random,
    ) -> Found<P::Move> {
        if let Some(settled) = settled {
            if !tree.children.get(&settled.mv).is_some_and(|child| child.is_complete) {
                return Found { ended_by, ..settled };
            }
            let best = tree
                .children
                .iter()
                .filter(|(_, child)| child.is_complete)
                .max_by_key(|(mv, child)| {
                    (child.value, **mv == settled.mv, std::cmp::Reverse(**mv))
                })
                .expect("one is");
            return Found { depth: settled.depth, ..self.found(tree, *best.0, ended_by) };
        }
        match best(tree, self.parameters.min_visits) {
            Some((&mv, _)) => self.found(tree, mv, ended_by),
            None => {
                let moves = legal_moves(root);
                let mv = moves[random.below(moves.len() as u32) as usize];
                Found { mv, depth: 0, score: None, ended_by }
            }
        }
    }
}

/// A first move and the best play behind it.
fn best_line<M: Copy + Ord>(mv: M, node: &TwinNode<M>) -> Vec<M> {
    let mut line = vec![mv];
    let mut node = node;
    while let Some((&mv, child)) = best(node, 0) {
        line.push(mv);
        node = child;
    }
    line
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
fn build<P: Position>(position: &P, us: Side, lines: &[Line<'_, P::Move>]) -> TwinNode<P::Move> {
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
