//! The parameters of genetic minimax, and its presets.

use super::{principal, tree};
use crate::core::limits::Limits;
use crate::core::parameters::{
    AlgorithmInfo, ParameterDefault, ParameterInfo, Parameters, Preset, Settings, Value, count_of,
    shared,
};

/// Its entry in the registry.
pub(super) const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "genetic-minimax",
    meaning: "Breeds lines of play, and backs their values up a reservation tree.",
    parameters: &[
        shared::EVALUATION,
        shared::DEPTH.default_to(ParameterDefault::Required),
        ParameterInfo::limit(
            "generations",
            shared::COUNT_MAX,
            "Generations that a move's search may make, the first included.",
        )
        .default_to(generations(&TUNED)),
        shared::NODES,
        shared::EVALUATIONS,
        shared::MOVE_TIME,
        shared::CLOCK,
        shared::CLOCK_MARGIN,
        ParameterInfo::integer(
            "population",
            1..=GeneticParameters::MAX_POPULATION as i64,
            TUNED.population as i64,
            "Individuals (lines of play) in a generation.",
        ),
        ParameterInfo::word(
            "selection",
            &["roulette", "tournament", "rank", "stochastic-tournament"],
            word(TUNED.selection),
            "How parents are drawn: in proportion to fitness, the fittest of a few, in proportion to \
             rank, or of two drawn the fitter with a chance.",
        ),
        ParameterInfo::integer(
            "tournament_size",
            1..=GeneticParameters::MAX_POPULATION as i64,
            TUNED.tournament_size as i64,
            "Individuals that are drawn for a tournament.",
        )
        .only_with("selection", ParameterDefault::Word("tournament")),
        ParameterInfo::number(
            "tournament_chance",
            0.5..=1.0,
            TUNED.tournament_chance,
            "The chance that the fitter of two wins a stochastic tournament.",
        )
        .only_with("selection", ParameterDefault::Word("stochastic-tournament")),
        ParameterInfo::integer(
            "elites",
            0..=GeneticParameters::MAX_POPULATION as i64,
            TUNED.elites as i64,
            "The fittest individuals, so many, that stay for the next generation.",
        ),
        ParameterInfo::number(
            "crossover_rate",
            0.0..=1.0,
            TUNED.crossover_rate,
            "The share of pairs of parents that exchange genes.",
        ),
        ParameterInfo::number(
            "mutation_rate",
            0.0..=1.0,
            TUNED.mutation_rate,
            "The share of children of which one gene is drawn anew, or the chance of each gene.",
        ),
        ParameterInfo::number(
            "refute",
            0.0..=1.0,
            TUNED.refute,
            "The share of mutations that try another reply of the opponent's on the principal line.",
        ),
        ParameterInfo::switch(
            "seed_root",
            TUNED.seed_root,
            "Whether the first generation has every legal first move.",
        ),
        ParameterInfo::integer(
            "min_visits",
            0..=1_000_000,
            TUNED.min_visits as i64,
            "Different lines that must have begun with a move before it is played.",
        ),
        ParameterInfo::switch(
            "reject_duplicates",
            TUNED.reject_duplicates,
            "Whether children that are nothing new are mutated again.",
        ),
        ParameterInfo::integer(
            "max_tree_nodes",
            2..=GeneticParameters::MAX_TREE_NODES as i64,
            TUNED.max_tree_nodes as i64,
            "Nodes (of about 32 bytes) that the reservation tree may hold before the search ends.",
        ),
        added_later(ParameterInfo::word(
            "encoding",
            &["moves", "branches"],
            "moves",
            "What a gene is: a move, which is drawn anew where it is illegal, or the number of a move \
             among the legal ones, which is another move in another position.",
        )),
        added_later(ParameterInfo::word(
            "crossover",
            &["one-point", "two-point", "multi-point"],
            "one-point",
            "The cuts of two parents, who exchange every second segment: a tail, what lies between \
             two cuts, or `crossover_points` cuts.",
        )),
        ParameterInfo::integer(
            "crossover_points",
            1..=GeneticParameters::MAX_CROSSOVER_POINTS as i64,
            3,
            "Cuts of a multi-point crossover, or as many as the shorter parent has places for.",
        )
        .only_with("crossover", ParameterDefault::Word("multi-point")),
        added_later(ParameterInfo::word(
            "mutation",
            &["one-gene", "each-gene"],
            "one-gene",
            "What `mutation_rate` is of: children that redraw one gene, or each gene of every child.",
        )),
        added_later(ParameterInfo::integer(
            "line_plies",
            0..=shared::DEPTH_MAX,
            0,
            "Plies of an individual, whose end an alpha-beta search of the rest of the depth values; \
             0: as many as the depth.",
        )),
        added_later(ParameterInfo::switch(
            "deepen",
            false,
            "Whether the search behind individuals starts with no ply and gains one whenever \
             nothing is left to find, until it reaches the depth.",
        )),
        added_later(ParameterInfo::switch(
            "in_turn",
            false,
            "Whether the first generation's next first move comes only when every reply to the best \
             one so far has been tried.",
        )),
        added_later(ParameterInfo::switch(
            "order",
            false,
            "Whether refutations try replies in the order of the static evaluation of where they \
             lead. Those evaluations count.",
        )),
        added_later(ParameterInfo::integer(
            "killers",
            0..=GeneticParameters::MAX_KILLERS as i64,
            0,
            "Replies, those that refuted a line last, that refutations try first.",
        )),
    ],
    presets: &[
        // The defaults; the other presets state their differences.
        Preset { name: "tuned", values: &[] },
        Preset {
            name: "study",
            values: &[
                ("generations", generations(&STUDY)),
                ("selection", ParameterDefault::Word(word(STUDY.selection))),
                ("tournament_size", ParameterDefault::Integer(STUDY.tournament_size as i64)),
                ("elites", ParameterDefault::Integer(STUDY.elites as i64)),
                ("crossover_rate", ParameterDefault::Number(STUDY.crossover_rate)),
                ("mutation_rate", ParameterDefault::Number(STUDY.mutation_rate)),
                ("refute", ParameterDefault::Number(STUDY.refute)),
                ("seed_root", ParameterDefault::Bool(STUDY.seed_root)),
                ("min_visits", ParameterDefault::Integer(STUDY.min_visits as i64)),
                ("reject_duplicates", ParameterDefault::Bool(STUDY.reject_duplicates)),
                ("encoding", ParameterDefault::Word("branches")),
                ("crossover", ParameterDefault::Word("two-point")),
                ("mutation", ParameterDefault::Word("each-gene")),
            ],
        },
        Preset {
            name: "simple",
            values: &[
                ("generations", generations(&SIMPLE)),
                ("selection", ParameterDefault::Word(word(SIMPLE.selection))),
                ("tournament_size", ParameterDefault::Integer(SIMPLE.tournament_size as i64)),
                ("elites", ParameterDefault::Integer(SIMPLE.elites as i64)),
                ("crossover_rate", ParameterDefault::Number(SIMPLE.crossover_rate)),
                ("mutation_rate", ParameterDefault::Number(SIMPLE.mutation_rate)),
                ("refute", ParameterDefault::Number(SIMPLE.refute)),
                ("seed_root", ParameterDefault::Bool(SIMPLE.seed_root)),
                ("min_visits", ParameterDefault::Integer(SIMPLE.min_visits as i64)),
                ("reject_duplicates", ParameterDefault::Bool(SIMPLE.reject_duplicates)),
            ],
        },
        Preset {
            name: "strong",
            values: &[
                ("generations", generations(&STRONG)),
                ("refute", ParameterDefault::Number(STRONG.refute)),
                ("line_plies", ParameterDefault::Integer(STRONG.line_plies as i64)),
                ("deepen", ParameterDefault::Bool(STRONG.deepen)),
                ("in_turn", ParameterDefault::Bool(STRONG.in_turn)),
                ("order", ParameterDefault::Bool(STRONG.order)),
                ("killers", ParameterDefault::Integer(STRONG.killers as i64)),
            ],
        },
    ],
    bounded_by: &["generations", "nodes", "evaluations", "move_time", "clock"],
};

const TUNED: GeneticParameters = GeneticParameters::tuned(1);
const STUDY: GeneticParameters = GeneticParameters::study(1);
const SIMPLE: GeneticParameters = GeneticParameters::simple(1);
const STRONG: GeneticParameters = GeneticParameters::strong(1);

const fn added_later(info: ParameterInfo) -> ParameterInfo {
    ParameterInfo { added_later: true, ..info }
}

const fn generations(values: &GeneticParameters) -> ParameterDefault {
    match values.generations {
        Some(generations) => ParameterDefault::Integer(generations as i64),
        None => ParameterDefault::Unlimited,
    }
}

const fn word(selection: Selection) -> &'static str {
    match selection {
        Selection::Roulette => "roulette",
        Selection::Tournament => "tournament",
        Selection::Rank => "rank",
        Selection::StochasticTournament => "stochastic-tournament",
    }
}

/// The most memory in bytes that a search with these parameters reserves.
pub(super) fn memory_bytes(parameters: &Parameters) -> u64 {
    /// Generations in memory at once: this one, the next, and the best lines of the last tree.
    const GENERATIONS: u64 = 3;
    /// A gene with the node that it leads to.
    const STEP_BYTES: u64 = 16;
    let plies = match count_of(parameters, "line_plies") {
        0 => count_of(parameters, "depth"),
        plies => plies,
    };
    // An unlimited depth is a word.
    let plies = if plies == 0 { shared::DEPTH_MAX as u64 } else { plies };
    let lines = GENERATIONS * count_of(parameters, "population") * plies * STEP_BYTES;
    let ordered = if parameters.get("order") == Some(&Value::Bool(true)) {
        principal::ORDERED_BYTES_MAX
    } else {
        0
    };
    tree::bytes(count_of(parameters, "max_tree_nodes")) + lines + ordered
}

/// All that determines a genetic search, except the limits in its budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneticParameters {
    /// Plies of look-ahead, 1 to [`Self::MAX_DEPTH`]: those of an individual, unless
    /// [`Self::line_plies`] sets another number. Games that end sooner make shorter ones.
    pub depth: u32,
    /// Generations, the first included; `None` is unlimited, and then another limit must end the
    /// search.
    pub generations: Option<u64>,
    /// Individuals in a generation, 1 to [`Self::MAX_POPULATION`]. With [`Self::seed_root`] only
    /// the first generation is larger if there are more legal first moves.
    pub population: u32,
    /// The selection of parents.
    pub selection: Selection,
    /// Individuals drawn for one tournament, at least 1; used only by [`Selection::Tournament`].
    pub tournament_size: u32,
    /// The chance that the fitter of two wins, 0.5 to 1; used only by
    /// [`Selection::StochasticTournament`].
    pub tournament_chance: f64,
    /// The number of fittest individuals that pass into the next generation unchanged. From the
    /// population's size on, nothing new is bred.
    pub elites: u32,
    /// The share of pairs of parents that are crossed, 0 to 1; the others are copied.
    pub crossover_rate: f64,
    /// The cuts of two parents that are crossed, 1 to [`Self::MAX_CROSSOVER_POINTS`], or as many as
    /// the shorter one has places for: every second segment between them is exchanged.
    pub crossover_points: u32,
    /// The meaning of [`Self::mutation_rate`].
    pub mutation: Mutation,
    /// The share of children with one redrawn gene, or each gene's chance to be redrawn, 0 to 1.
    pub mutation_rate: f64,
    /// What a gene is.
    pub encoding: Encoding,
    /// The share of mutations that replace the child by the principal line with another reply of
    /// the opponent, 0 to 1.
    pub refute: f64,
    /// Whether the first generation has every legal first move.
    pub seed_root: bool,
    /// The visits that a first move needs to be played, unless its subtree is completely known.
    pub min_visits: u32,
    /// Whether a child whose whole line is already in the reservation tree is mutated until it is
    /// new, at most [`Self::DUPLICATE_TRIES`] times. Genes are then drawn only from moves to
    /// incompletely known subtrees, if there are any.
    pub reject_duplicates: bool,
    /// Nodes that the reservation tree may hold, 2 to [`Self::MAX_TREE_NODES`]; if the next line
    /// does not fit, the search ends as at a node limit. A node takes 32 bytes with a move of 2.
    pub max_tree_nodes: u32,
    /// Plies of an individual, at most [`Self::MAX_DEPTH`]; an alpha-beta search of the remaining
    /// depth values its leaf. From the depth up, and with 0, the static evaluation does.
    pub line_plies: u32,
    /// Whether leaves are first valued by their static evaluation, and then by a search of one ply
    /// more, in a new tree that starts from the best lines of the last one, each time the move is
    /// settled, until it is settled with the whole depth. It is settled when the tree is complete,
    /// or when individuals of two plies have tried every reply to the best move.
    pub deepen: bool,
    /// Whether each individual of the first generation waits until every reply on the best line so
    /// far has been tried. A leaf then matters only if it is better than the current best move.
    pub in_turn: bool,
    /// Whether refutations try the opponent's replies in the order of the static evaluation of the
    /// resulting positions, the opponent's best first, and not at random.
    pub order: bool,
    /// The number of most recent refuting replies that refutations try first, at most
    /// [`Self::MAX_KILLERS`].
    pub killers: u32,
}

/// The selection of parents by fitness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// With a probability proportional to fitness.
    Roulette,
    /// The fittest of some drawn uniformly with replacement; of equals the first drawn.
    Tournament,
    /// With a probability proportional to the number of individuals that are no fitter than this
    /// one.
    Rank,
    /// The fitter of two drawn uniformly with replacement, with a chance; otherwise the other.
    StochasticTournament,
}

/// The genes that a mutation redraws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// One, uniformly drawn.
    OneGene,
    /// Each with a chance of its own. A child with any is mutated.
    EachGene,
}

/// The meaning of a gene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// A move. Where it is illegal, another is drawn.
    Moves,
    /// The number of a branch: the place of a move among the legal moves in canonical order, modulo
    /// their number. Refutations are of moves all the same.
    Branches,
}

impl GeneticParameters {
    /// The names of the presets.
    pub const PRESETS: &[&str] = &["study", "simple", "tuned", "strong"];
    /// The default preset.
    pub const DEFAULT_PRESET: &str = "tuned";
    /// The greatest depth.
    pub const MAX_DEPTH: u32 = shared::DEPTH_MAX as u32;
    /// The largest population, and the most first moves that `seed_root` seeds. Sums of ranks and
    /// of fitness over one population stay below 2^32.
    pub const MAX_POPULATION: u32 = 16_384;
    /// The largest tree.
    pub const MAX_TREE_NODES: u32 = 1 << 28;
    /// The most cuts of a crossover.
    pub const MAX_CROSSOVER_POINTS: u32 = Self::MAX_DEPTH - 1;
    /// The most killers.
    pub const MAX_KILLERS: u32 = 64;
    /// The number of mutations of a duplicate before it is kept as it is.
    pub const DUPLICATE_TRIES: u32 = 4;
    /// This many consecutive individuals, in whole generations, without a new line end the search,
    /// as a limit on generations does: the population has converged beyond the reach of mutation,
    /// and a search limited only by evaluations would never end. Copies make no nodes, so the clock
    /// is not checked meanwhile: this number of them takes about a millisecond.
    pub const STALE_INDIVIDUALS: usize = 20_000;

    /// The parts that the study describes: numbers of branches as genes, stochastic tournaments,
    /// two-point crossover, mutation gene by gene and elitism over a reservation tree.
    #[must_use]
    pub const fn study(depth: u32) -> Self {
        Self {
            selection: Selection::StochasticTournament,
            crossover_points: 2,
            mutation: Mutation::EachGene,
            encoding: Encoding::Branches,
            ..Self::simple(depth)
        }
    }

    /// Nearly the simple genetic algorithm (Goldberg 1989) over a reservation tree: a random first
    /// generation, roulette, one-point crossover, mutation of one gene and elitism.
    #[must_use]
    pub const fn simple(depth: u32) -> Self {
        Self {
            generations: Some(100),
            selection: Selection::Roulette,
            tournament_size: 2,
            elites: 2,
            crossover_rate: 0.8,
            mutation_rate: 0.1,
            refute: 0.0,
            seed_root: false,
            min_visits: 0,
            reject_duplicates: false,
            ..Self::tuned(depth)
        }
    }

    /// The strongest by experiment: see `docs/genetic-minimax.md`.
    #[must_use]
    pub const fn tuned(depth: u32) -> Self {
        Self {
            depth,
            generations: Some(400),
            population: 100,
            selection: Selection::Tournament,
            tournament_size: 4,
            tournament_chance: 0.75,
            elites: 4,
            crossover_rate: 0.5,
            crossover_points: 1,
            mutation: Mutation::OneGene,
            mutation_rate: 1.0,
            encoding: Encoding::Moves,
            refute: 0.9,
            seed_root: true,
            min_visits: 16,
            reject_duplicates: true,
            max_tree_nodes: 1 << 22,
            line_plies: 0,
            deepen: false,
            in_turn: false,
            order: false,
            killers: 0,
        }
    }

    /// All features that make it stronger: individuals of a move and a reply, valued by a search
    /// beyond them that deepens while there is time.
    #[must_use]
    pub const fn strong(depth: u32) -> Self {
        Self {
            generations: None,
            refute: 1.0,
            line_plies: 2,
            deepen: true,
            in_turn: true,
            order: true,
            killers: 4,
            ..Self::tuned(depth)
        }
    }

    /// The preset with this name.
    #[must_use]
    pub fn preset(name: &str, depth: u32) -> Option<Self> {
        match name {
            "study" => Some(Self::study(depth)),
            "simple" => Some(Self::simple(depth)),
            "tuned" => Some(Self::tuned(depth)),
            "strong" => Some(Self::strong(depth)),
            _ => None,
        }
    }

    /// The parameters in a player's settings.
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        let limits = Limits::from_settings(settings);
        // The table's ranges are inside the types'.
        let count = |name| u32::try_from(settings.integer(name)).unwrap_or(u32::MAX);
        let selection = match settings.word("selection") {
            "roulette" => Selection::Roulette,
            "rank" => Selection::Rank,
            "stochastic-tournament" => Selection::StochasticTournament,
            _ => Selection::Tournament,
        };
        Self {
            depth: limits.depth.unwrap_or(Self::MAX_DEPTH),
            generations: limits.generations,
            population: count("population"),
            selection,
            tournament_size: match selection {
                Selection::Tournament => count("tournament_size"),
                Selection::Roulette | Selection::Rank | Selection::StochasticTournament => 1,
            },
            tournament_chance: match selection {
                Selection::StochasticTournament => settings.number("tournament_chance"),
                Selection::Roulette | Selection::Rank | Selection::Tournament => 1.0,
            },
            elites: count("elites"),
            crossover_rate: settings.number("crossover_rate"),
            crossover_points: match settings.word("crossover") {
                "one-point" => 1,
                "two-point" => 2,
                _ => count("crossover_points"),
            },
            mutation: match settings.word("mutation") {
                "each-gene" => Mutation::EachGene,
                _ => Mutation::OneGene,
            },
            mutation_rate: settings.number("mutation_rate"),
            encoding: match settings.word("encoding") {
                "branches" => Encoding::Branches,
                _ => Encoding::Moves,
            },
            refute: settings.number("refute"),
            seed_root: settings.switch("seed_root"),
            min_visits: count("min_visits"),
            reject_duplicates: settings.switch("reject_duplicates"),
            max_tree_nodes: count("max_tree_nodes"),
            line_plies: count("line_plies"),
            deepen: settings.switch("deepen"),
            in_turn: settings.switch("in_turn"),
            order: settings.switch("order"),
            killers: count("killers"),
        }
    }

    /// Plies of an individual whose game does not end sooner.
    #[must_use]
    pub(super) fn plies_of_line(&self) -> u32 {
        if self.line_plies == 0 { self.depth } else { self.line_plies.min(self.depth) }
    }

    /// Asserts every range named above.
    pub(super) fn assert_in_range(&self) {
        assert!((1..=Self::MAX_DEPTH).contains(&self.depth), "depth out of range");
        assert!((1..=Self::MAX_POPULATION).contains(&self.population), "population out of range");
        assert!(self.tournament_size >= 1, "a tournament needs somebody");
        assert!((0.5..=1.0).contains(&self.tournament_chance), "the fitter one loses too often");
        assert!(
            (1..=Self::MAX_CROSSOVER_POINTS).contains(&self.crossover_points),
            "crossover points out of range"
        );
        for share in [self.crossover_rate, self.mutation_rate, self.refute] {
            assert!((0.0..=1.0).contains(&share), "a share lies between 0 and 1");
        }
        assert!(
            (2..=Self::MAX_TREE_NODES).contains(&self.max_tree_nodes),
            "tree size out of range"
        );
        assert!(self.line_plies <= Self::MAX_DEPTH, "line too long");
        assert!(self.killers <= Self::MAX_KILLERS, "too many killers");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::TicTacToe;
    use crate::games::game::Game as _;

    fn read(given: &str) -> GeneticParameters {
        let given = format!(r#"{{"depth": 4, "nodes": 9, {given}}}"#);
        let given = serde_json::from_str(&given).unwrap();
        let settings =
            Settings::read(&INFO, TicTacToe::NAME, TicTacToe::EVALUATIONS, &given).unwrap();
        GeneticParameters::from_settings(&settings)
    }

    /// The table states only the differences of presets; searches are made from all their values.
    #[test]
    fn the_tables_presets_are_the_constructors() {
        for name in GeneticParameters::PRESETS {
            let preset = GeneticParameters::preset(name, 4).unwrap();
            let selection = Selection::Tournament;
            let expected = GeneticParameters { selection, tournament_chance: 1.0, ..preset };
            let given = format!(r#""preset": "{name}", "selection": "tournament""#);
            assert_eq!(read(&given), expected, "{name}");
            let selection = Selection::StochasticTournament;
            let expected = GeneticParameters { selection, tournament_size: 1, ..preset };
            let given = format!(r#""preset": "{name}", "selection": "stochastic-tournament""#);
            assert_eq!(read(&given), expected, "{name}");
            assert!(INFO.presets.iter().any(|preset| preset.name == *name));
        }
        assert_eq!(INFO.presets.len(), GeneticParameters::PRESETS.len());
        assert_eq!(INFO.presets[0].name, GeneticParameters::DEFAULT_PRESET);
    }

    #[test]
    fn words_of_crossover_are_numbers_of_points() {
        for (given, points) in [
            (r#""crossover": "one-point""#, 1),
            (r#""crossover": "two-point""#, 2),
            (r#""crossover": "multi-point""#, 3),
            (r#""crossover": "multi-point", "crossover_points": 1"#, 1),
        ] {
            assert_eq!(read(given).crossover_points, points, "{given}");
        }
    }
}
