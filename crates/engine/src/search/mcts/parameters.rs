//! The parameters of Monte Carlo tree search.

use super::tree;
use crate::core::parameters::{
    AlgorithmInfo, ParameterInfo, Parameters, Settings, count_of, shared,
};

/// Its entry in the registry.
pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "mcts",
    meaning: "Plays games at random from the ends of a tree that grows where they go well.",
    parameters: &[
        shared::EVALUATION,
        ParameterInfo::limit(
            "simulations",
            shared::COUNT_MAX,
            "Simulations (ways down the tree, each with its playouts) that a move's search may \
             make.",
        ),
        shared::NODES,
        shared::EVALUATIONS,
        shared::MOVE_TIME,
        shared::CLOCK,
        shared::CLOCK_MARGIN,
        ParameterInfo::word(
            "bound",
            &["ucb1", "ucb1-tuned"],
            "ucb1",
            "How far a child's value may lie above its mean: UCB1's bound, or the one that heeds \
             the variance.",
        ),
        ParameterInfo::number(
            "exploration",
            0.0..=10.0,
            DEFAULTS.exploration,
            "Factor of the bound: greater values favour children that have fewer visits.",
        ),
        ParameterInfo::number(
            "first_play_urgency",
            0.0..=MctsParameters::URGENCY_MAX,
            DEFAULTS.first_play_urgency,
            "The urgency of a child that has not been visited, a mean and a bound together; 1000 \
             visits every child before any a second time.",
        ),
        ParameterInfo::integer(
            "expand_visits",
            1..=1_000_000,
            DEFAULTS.expand_visits as i64,
            "Visits that a leaf needs before it gets children.",
        ),
        ParameterInfo::word(
            "playout",
            &["uniform", "decisive"],
            "decisive",
            "How a playout moves: at random, or it wins where it can with the next move and else \
             moves at random.",
        ),
        ParameterInfo::integer(
            "playouts",
            1..=1_000,
            DEFAULTS.playouts as i64,
            "Playouts from a leaf, whose mean is the simulation's result.",
        ),
        ParameterInfo::integer(
            "playout_plies",
            0..=shared::DEPTH_MAX,
            DEFAULTS.playout_plies as i64,
            "Plies of a playout after which the static evaluation takes its place.",
        ),
        ParameterInfo::number(
            "evaluation_scale",
            0.001..=1_000_000.0,
            DEFAULTS.evaluation_scale,
            "The static evaluation that is worth a score of 0.73; the curve is the logistic one.",
        ),
        ParameterInfo::switch(
            "solver",
            DEFAULTS.solver,
            "Whether wins, draws and losses that are proven travel up the tree.",
        ),
        ParameterInfo::word(
            "choice",
            &["robust", "max"],
            "robust",
            "Which move is played: the one with the most visits, or with the best mean.",
        ),
        ParameterInfo::switch(
            "reuse",
            DEFAULTS.reuse,
            "Whether what the last move's search found below this position is kept.",
        ),
        ParameterInfo::integer(
            "max_tree_nodes",
            MctsParameters::MIN_TREE_NODES as i64..=MctsParameters::MAX_TREE_NODES as i64,
            DEFAULTS.max_tree_nodes as i64,
            "Children (of about 40 bytes) that the tree has room for; when it is full it grows no \
             more.",
        ),
    ],
    presets: &[],
    bounded_by: &["simulations", "nodes", "evaluations", "move_time", "clock"],
};

const DEFAULTS: MctsParameters = MctsParameters::DEFAULT;

/// The most memory in bytes that a search with these parameters reserves.
pub(super) fn memory_bytes(parameters: &Parameters) -> u64 {
    tree::bytes(count_of(parameters, "max_tree_nodes"))
}

/// All that determines Monte Carlo tree search, except the limits in its budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MctsParameters {
    /// Simulations for a move; `None`: until another limit ends the search.
    pub simulations: Option<u64>,
    /// The bound that is added to a child's mean.
    pub bound: Bound,
    /// The bound's factor, from 0.
    pub exploration: f64,
    /// The urgency of a child without visits, 0 to [`Self::URGENCY_MAX`].
    pub first_play_urgency: f64,
    /// Visits before a leaf gets children, at least 1.
    pub expand_visits: u32,
    /// How playouts move.
    pub playout: PlayoutPolicy,
    /// Playouts of a simulation, at least 1.
    pub playouts: u32,
    /// Plies of a playout before it is evaluated.
    pub playout_plies: u32,
    /// The logistic curve's unit, above 0.
    pub evaluation_scale: f64,
    /// Whether proven values are propagated.
    pub solver: bool,
    /// Which root move is played.
    pub choice: Choice,
    /// Whether the tree is kept between the moves of a game.
    pub reuse: bool,
    /// Capacity of the tree in children, [`Self::MIN_TREE_NODES`] to [`Self::MAX_TREE_NODES`].
    pub max_tree_nodes: u32,
}

/// How far above its mean a child's value may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// `sqrt(ln N / n)` after n of its parent's N visits (Auer, Cesa-Bianchi & Fischer 2002; with
    /// an exploration of √2 it is theirs).
    Ucb1,
    /// `sqrt(ln N / n · min(1/4, V))`, V bounding the variance from above (the same, section 4;
    /// with an exploration of 1 it is theirs).
    Ucb1Tuned,
}

/// How playouts move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayoutPolicy {
    /// Each legal move is equally likely.
    Uniform,
    /// A move that wins at once if there is one (the first half of Teytaud & Teytaud 2010, "On the
    /// huge benefit of decisive moves in Monte-Carlo tree search algorithms"), else as above.
    Decisive,
}

/// Which root move is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The most visited.
    Robust,
    /// The one with the best mean.
    Max,
}

impl MctsParameters {
    /// An urgency that no visited child reaches.
    pub const URGENCY_MAX: f64 = 1_000.0;
    /// The smallest tree: a root's children in a game with few.
    pub const MIN_TREE_NODES: u32 = 64;
    /// The largest tree.
    pub const MAX_TREE_NODES: u32 = 1 << 28;

    /// The defaults, without limits. `docs/engine.md` has the experiments behind them.
    pub const DEFAULT: Self = Self {
        simulations: None,
        bound: Bound::Ucb1,
        exploration: 0.5,
        first_play_urgency: 1.0,
        expand_visits: 1,
        playout: PlayoutPolicy::Decisive,
        playouts: 1,
        playout_plies: shared::DEPTH_MAX as u32,
        evaluation_scale: 10.0,
        solver: true,
        choice: Choice::Robust,
        reuse: true,
        max_tree_nodes: 1 << 22,
    };

    /// The parameters in a player's settings.
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        // The table's ranges are inside the types'.
        let count = |name| u32::try_from(settings.integer(name)).unwrap_or(u32::MAX);
        Self {
            simulations: settings.limit("simulations"),
            bound: match settings.word("bound") {
                "ucb1-tuned" => Bound::Ucb1Tuned,
                _ => Bound::Ucb1,
            },
            exploration: settings.number("exploration"),
            first_play_urgency: settings.number("first_play_urgency"),
            expand_visits: count("expand_visits"),
            playout: match settings.word("playout") {
                "uniform" => PlayoutPolicy::Uniform,
                _ => PlayoutPolicy::Decisive,
            },
            playouts: count("playouts"),
            playout_plies: count("playout_plies"),
            evaluation_scale: settings.number("evaluation_scale"),
            solver: settings.switch("solver"),
            choice: match settings.word("choice") {
                "max" => Choice::Max,
                _ => Choice::Robust,
            },
            reuse: settings.switch("reuse"),
            max_tree_nodes: count("max_tree_nodes"),
        }
    }

    /// Asserts every range named above.
    pub(super) fn assert_in_range(&self) {
        assert!(self.exploration >= 0.0, "exploration out of range");
        assert!(
            (0.0..=Self::URGENCY_MAX).contains(&self.first_play_urgency),
            "urgency out of range"
        );
        assert!(self.expand_visits >= 1 && self.playouts >= 1, "a simulation needs a playout");
        assert!(self.evaluation_scale > 0.0, "a scale is above 0");
        assert!(
            (Self::MIN_TREE_NODES..=Self::MAX_TREE_NODES).contains(&self.max_tree_nodes),
            "tree size out of range"
        );
    }
}
