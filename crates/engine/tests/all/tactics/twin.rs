//! Textbook searches: no stacks, no tables, nothing shared. They respect the game's history rules
//! everywhere.

use spelrum_engine::search::alpha_beta::Options;
use spelrum_engine::search::{Evaluate, PLIES_MAX, WIN, WIN_MIN};
use spelrum_engine::{Before, Ending, Knowledge, Line, Position};

use crate::common::brute_force::{after, for_mover, moves_of};

/// A search in progress: what is asked, the line, and what it has cost.
#[derive(Clone)]
pub(crate) struct Twin<'a, P: Knowledge> {
    pub(crate) options: Options,
    evaluation: &'a dyn Evaluate<P>,
    /// The moves made, those before the root included.
    line: Vec<Before<P::Move>>,
    /// Positions since the root, or since the last pass, with the table keys that they have.
    keys: Vec<u64>,
    /// What came before a pass.
    first: usize,
    root_depth: u32,
    pub(crate) nodes: u64,
    pub(crate) evaluations: u64,
}

#[derive(Clone, Copy)]
struct Window(i32, i32);

impl Window {
    fn as_seen<P: Position>(self, position: &P, child: &P) -> Self {
        let is_same = position.to_move() == child.to_move();
        if is_same { self } else { Self(-self.1, -self.0) }
    }
}

impl<'a, P: Knowledge> Twin<'a, P> {
    pub(crate) fn new(
        options: Options,
        evaluation: &'a dyn Evaluate<P>,
        line: &[Before<P::Move>],
    ) -> Self {
        let root_depth = options.depth.unwrap();
        let line = line.to_vec();
        let (keys, first, nodes, evaluations) = (Vec::new(), 0, 0, 0);
        Self { options, evaluation, line, keys, first, root_depth, nodes, evaluations }
    }

    fn push(&mut self, position: &P, mv: P::Move) {
        self.line.push(Before { mv, key: position.canonical_key() });
        self.keys.push(position.table_key());
    }

    fn pop(&mut self) {
        self.line.pop();
        self.keys.pop();
    }

    fn make_child(&mut self, position: &P, mv: P::Move) -> P {
        self.nodes += 1;
        after(position, mv)
    }

    fn static_value(&mut self, position: &P) -> i32 {
        self.evaluations += 1;
        self.evaluation.evaluate(position)
    }

    fn ending(&self, position: &P) -> Option<Ending> {
        let line = Line { position, before: &self.line[self.first..] };
        position.ending().or_else(|| if P::HISTORY_MATTERS { P::adjudicate(line) } else { None })
    }

    fn comes_again(&self, position: &P, mv: P::Move, child: &P) -> bool {
        P::HISTORY_MATTERS
            && self.options.repetition
            && !position.is_irreversible(mv)
            && self.keys.contains(&child.table_key())
    }

    fn extension(&self, child: &P, depth: u32, ply: u32) -> u32 {
        let has_room = ply + depth < (2 * self.root_depth).min(PLIES_MAX);
        u32::from(self.options.check_extension && has_room && child.is_in_check())
    }

    /// Minimax's value, with quiescence and extensions if the options have them: every move, without
    /// any bounds.
    pub(crate) fn minimax(&mut self, position: &P, depth: u32, ply: u32) -> i32 {
        let values = moves_of(position).into_iter().map(|mv| {
            self.push(position, mv);
            let value = self.minimax_of_move(position, mv, depth, ply);
            self.pop();
            value
        });
        values.max().unwrap()
    }

    /// The value of a root move, for who makes it.
    pub(crate) fn minimax_of_root_move(&mut self, root: &P, mv: P::Move) -> i32 {
        self.push(root, mv);
        let value = self.minimax_of_move(root, mv, self.root_depth, 0);
        self.pop();
        value
    }

    fn minimax_of_move(&mut self, position: &P, mv: P::Move, depth: u32, ply: u32) -> i32 {
        let child = self.make_child(position, mv);
        if let Some(ending) = self.ending(&child) {
            return score(position, ending, ply + 1);
        }
        if self.comes_again(position, mv, &child) {
            return 0;
        }
        let depth = depth + self.extension(&child, depth, ply);
        let value = match depth {
            1 => self.quiet_minimax(&child, self.options.quiescence_plies, ply + 1),
            _ => self.minimax(&child, depth - 1, ply + 1),
        };
        for_mover(position, &child, value)
    }

    fn quiet_minimax(&mut self, position: &P, plies: u32, ply: u32) -> i32 {
        let is_in_check = position.is_in_check() && P::HAS_TACTICS;
        let mut best = -WIN;
        if plies == 0 || !is_in_check {
            best = self.static_value(position);
        }
        if plies == 0 {
            return best;
        }
        for mv in moves_of(position) {
            let is_losing = || self.options.exchange && position.exchange(mv) < 0;
            if !is_in_check && (!position.is_tactical(mv) || is_losing()) {
                continue;
            }
            let child = self.make_child(position, mv);
            let value = match child.ending() {
                Some(ending) => score(position, ending, ply + 1),
                None => {
                    let value = self.quiet_minimax(&child, plies - 1, ply + 1);
                    for_mover(position, &child, value)
                }
            };
            best = best.max(value);
        }
        best
    }

    /// What alpha-beta finds of a root with a depth and these options: its value, and the move.
    pub(crate) fn search(&mut self, root: &P) -> (i32, P::Move) {
        let mut best = None;
        for (index, mv) in self.in_order(root).into_iter().enumerate() {
            let (alpha, depth) = (best.map_or(-WIN, |(value, _)| value), self.root_depth);
            let child = self.make_child(root, mv);
            self.push(root, mv);
            let value = self.move_value(
                root,
                (mv, &child),
                (depth, 0, index == 0, 0),
                Window(alpha, WIN - 1),
            );
            self.pop();
            if value > alpha {
                best = Some((value, mv));
            }
            if value == WIN - 1 {
                break;
            }
        }
        best.unwrap()
    }

    /// Winning and even tactical moves, quiet ones, losing ones.
    fn in_order(&self, position: &P) -> Vec<P::Move> {
        let mut moves = moves_of(position);
        if self.options.captures && P::HAS_TACTICS {
            moves.sort_by_key(|&mv| match position.is_tactical(mv) {
                true if position.exchange(mv) < 0 => (2, -i32::from(position.capture_rank(mv))),
                true => (0, -i32::from(position.capture_rank(mv))),
                false => (1, 0),
            });
        }
        moves
    }

    fn move_value(
        &mut self,
        position: &P,
        (mv, child): (P::Move, &P),
        (depth, ply, is_first, reduction): (u32, u32, bool, u32),
        window: Window,
    ) -> i32 {
        if let Some(ending) = self.ending(child) {
            return score(position, ending, ply + 1);
        }
        if self.comes_again(position, mv, child) {
            return 0;
        }
        let extension = self.extension(child, depth, ply);
        let depth = depth + extension;
        if depth == 1 {
            let value = self.at_horizon(child, ply + 1, window.as_seen(position, child));
            return for_mover(position, child, value);
        }
        let null = Window(window.0, window.0 + 1);
        let search_child = |twin: &mut Self, depth: u32, window: Window| {
            let window = window.as_seen(position, child);
            for_mover(position, child, twin.value(child, depth - 1, ply + 1, false, window))
        };
        if extension == 0 && reduction > 0 {
            let value = search_child(self, depth - reduction, null);
            if value <= window.0 {
                return value;
            }
        }
        if self.options.pvs && !is_first && window.1 > window.0 + 1 {
            let value = search_child(self, depth, null);
            if value <= window.0 || value >= window.1 {
                return value;
            }
        }
        search_child(self, depth, window)
    }

    fn value(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        is_passed: bool,
        Window(mut alpha, beta): Window,
    ) -> i32 {
        let beta = beta.min(WIN - ply as i32 - 1);
        if alpha >= beta {
            return beta;
        }
        let options = self.options;
        let is_bound = !options.pvs || beta == alpha + 1;
        let prunes = is_bound
            && alpha > -WIN_MIN
            && beta < WIN_MIN
            && !position.is_in_check()
            && position.plies_left() > depth;
        // Nothing is cut off by a static value right before the horizon, if that is where the search ends.
        let sees_tactics = options.quiescence_plies > 0 || options.check_extension;
        let uses_standing = (depth > 1 || sees_tactics)
            && ((options.futility > 0 && depth <= 4)
                || (options.reverse_futility > 0 && depth <= 6));
        let standing = (prunes && uses_standing).then(|| self.static_value(position));
        let margin = (options.reverse_futility * depth) as i32;
        if let Some(value) = standing
            && depth <= 6
            && margin > 0
            && value - margin >= beta
        {
            return value - margin;
        }
        let window = Window(alpha, beta);
        if let Some(bound) = self.pass(position, depth, ply, (is_passed, standing), window) {
            return bound;
        }
        let margin = (options.futility * depth) as i32;
        let futile = standing
            .map(|value| value + margin)
            .filter(|&value| prunes && margin > 0 && depth <= 4 && value <= alpha);
        let mut best = -WIN;
        for (index, mv) in self.in_order(position).into_iter().enumerate() {
            if prunes && depth <= 4 && index > 0 && best > -WIN_MIN {
                let leaves_out = match position.is_tactical(mv) {
                    true => options.exchange_pruning && position.exchange(mv) < -100 * depth as i32,
                    false => options.late_move_pruning && index >= 3 + (depth * depth) as usize,
                };
                if leaves_out {
                    continue;
                }
            }
            let child = self.make_child(position, mv);
            let is_quiet = !position.is_tactical(mv) && !child.is_in_check();
            if let Some(value) = futile.filter(|_| index > 0 && is_quiet && !child.is_over()) {
                best = best.max(value);
                continue;
            }
            let reduces = options.reductions && depth > 2 && !position.is_in_check();
            let reduction = match index {
                2.. if options.log_reductions && reduces && is_quiet => {
                    let plies = (0.5 + log2(depth) * log2(index as u32 + 1) * 2.0 / 9.0) as u32;
                    let is_wide = beta > alpha + 1;
                    plies.saturating_sub(u32::from(is_wide)).min(depth - 2)
                }
                _ if options.log_reductions => 0,
                3..6 if reduces && is_quiet => 1,
                6.. if reduces && is_quiet => depth / 3,
                _ => 0,
            };
            self.push(position, mv);
            let step = (depth, ply, index == 0, reduction);
            let value = self.move_value(position, (mv, &child), step, Window(alpha, beta));
            self.pop();
            best = best.max(value);
            if best >= beta {
                break;
            }
            alpha = alpha.max(best);
        }
        best
    }

    fn pass(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        (is_passed, standing): (bool, Option<i32>),
        Window(alpha, beta): Window,
    ) -> Option<i32> {
        let reduction = self.options.null_reduction;
        let is_asked = reduction > 0 && !is_passed && depth > 1;
        let deeper = if self.options.null_adaptive { depth / 4 } else { 0 };
        let reduction = reduction + deeper;
        let is_bound = !self.options.pvs || beta == alpha + 1;
        if !is_asked || !is_bound || beta.abs() >= WIN_MIN {
            return None;
        }
        let passed = position.passed().filter(|passed| !passed.is_over())?;
        let standing = standing.unwrap_or_else(|| self.static_value(position));
        if standing < beta || position.plies_left() <= depth {
            return None;
        }
        self.nodes += 1;
        let kept = (self.first, std::mem::take(&mut self.keys));
        self.first = self.line.len();
        let window = Window(beta - 1, beta).as_seen(position, &passed);
        let value = if depth <= 1 + reduction {
            self.at_horizon(&passed, ply + 1, window)
        } else {
            self.value(&passed, depth - 1 - reduction, ply + 1, true, window)
        };
        (self.first, self.keys) = kept;
        let value = for_mover(position, &passed, value);
        (value >= beta).then_some(value.min(WIN_MIN - 1))
    }

    fn at_horizon(&mut self, position: &P, ply: u32, window: Window) -> i32 {
        if P::HAS_TACTICS && self.options.quiescence_plies > 0 {
            self.quiet(position, self.options.quiescence_plies, ply, window)
        } else {
            self.static_value(position)
        }
    }

    fn quiet(
        &mut self,
        position: &P,
        plies: u32,
        ply: u32,
        Window(mut alpha, beta): Window,
    ) -> i32 {
        let beta = beta.min(WIN - ply as i32 - 1);
        if alpha >= beta {
            return beta;
        }
        let mut best = -WIN;
        let is_in_check = position.is_in_check();
        if plies == 0 || !is_in_check {
            best = self.static_value(position);
            if plies == 0 || best >= beta {
                return best;
            }
            alpha = alpha.max(best);
        }
        let delta = self.options.delta as i32;
        let delta = (delta > 0 && !is_in_check).then_some(best + delta);
        let mut moves = moves_of(position);
        moves.retain(|&mv| is_in_check || position.is_tactical(mv));
        if self.options.captures {
            moves.sort_by_key(|&mv| match position.is_tactical(mv) {
                true => -1 - i32::from(position.capture_rank(mv)),
                false => 0,
            });
        }
        for mv in moves {
            if self.options.exchange && !is_in_check && position.exchange(mv) < 0 {
                continue;
            }
            if let Some(delta) = delta
                && delta + position.exchange(mv) <= alpha
                && alpha < WIN_MIN
            {
                best = best.max(delta + position.exchange(mv));
                continue;
            }
            let child = self.make_child(position, mv);
            let value = match child.ending() {
                Some(ending) => score(position, ending, ply + 1),
                None => {
                    let window = Window(alpha, beta).as_seen(position, &child);
                    for_mover(position, &child, self.quiet(&child, plies - 1, ply + 1, window))
                }
            };
            best = best.max(value);
            if best >= beta {
                break;
            }
            alpha = alpha.max(best);
        }
        best
    }
}

/// The logarithm to the base of two, in straight lines between the powers.
fn log2(number: u32) -> f64 {
    let power = libm::floor(libm::log2(f64::from(number)));
    power + f64::from(number) / libm::exp2(power) - 1.0
}

fn score<P: Position>(position: &P, ending: Ending, ply: u32) -> i32 {
    match ending.winner {
        None => 0,
        Some(winner) if winner == position.to_move() => WIN - ply as i32,
        Some(_) => ply as i32 - WIN,
    }
}
