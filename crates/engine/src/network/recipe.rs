//! Recipes of networks: all that determines their weights, as parameters.

use super::dense::{Activation, UNITS_MAX, numbers_of};
use super::inputs::{InputSet, Inputs};
use super::squares::{Orientation, Squares};
use crate::core::parameters::{
    AlgorithmInfo, ParameterDefault, ParameterInfo, Parameters, Settings, Value, shared,
};
use crate::core::position::Side;
use crate::core::problem::{KeyProblem, Problem};
use crate::tables::{Endgame, PIECES_MAX};
use spelrum_names::Names;

/// The most hidden layers.
pub(super) const LAYERS_MAX: usize = 3;
/// The most weights and biases of all networks of a recipe: with their description they stay below four
/// mebibytes, which fit one message between machines.
pub(super) const WEIGHTS_MAX: usize = 1_030_000;
/// The most examples shown over all epochs: days of work.
const STEPS_MAX: u64 = 100_000_000_000;
/// The distances of a square from the edge of the board.
pub(super) const REGIONS_MAX: usize = 4;
/// More examples than any table has.
const EXAMPLES_MAX: i64 = 1 << 24;

/// Targets: a position's value for the side with the pieces at mate, and the number of plies over
/// which it falls to 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) start: f64,
    pub(super) over: f64,
}

impl Target {
    /// The target for a position this many plies from mate, or for a draw.
    #[inline]
    pub(super) fn value(self, plies: Option<u32>) -> f32 {
        let Some(plies) = plies else { return 0.0 };
        (self.start - f64::from(plies) / self.over).clamp(0.0, 1.0) as f32
    }

    /// The number of plies that a network's answer stands for.
    pub(super) fn plies(self, answer: f32) -> f64 {
        (self.start - f64::from(answer)) * self.over
    }
}

/// The networks of a recipe, and the positions that they value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
#[names(rename_all = "kebab-case")]
pub(super) enum Networks {
    /// One, with the side to move as an input.
    One,
    /// One for white to move and one for black.
    Each,
    /// One for black to move, which values positions with white to move as if black were to move.
    Black,
}

impl Networks {
    pub(super) const fn count(self) -> usize {
        match self {
            Self::One | Self::Black => 1,
            Self::Each => 2,
        }
    }

    /// Whether a network learns from positions with white to move, and with black.
    pub(super) const fn learns(self, network: usize) -> [bool; 2] {
        match (self, network) {
            (Self::One, _) => [true, true],
            (Self::Each, 0) => [true, false],
            (Self::Each | Self::Black, _) => [false, true],
        }
    }
}

/// The loss function of a network's answer and its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
#[names(rename_all = "kebab-case")]
pub(super) enum Loss {
    /// Half its square.
    Squared,
    /// The cross-entropy of the two, each taken as the probability of one of two outcomes.
    CrossEntropy,
}

/// The decay of the learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
#[names(rename_all = "kebab-case")]
pub(super) enum Schedule {
    Constant,
    Linear,
    Cosine,
}

/// The shape of a network and its view of positions.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Architecture {
    pub(super) endgame: Endgame,
    pub(super) set: InputSet,
    pub(super) rotations: bool,
    pub(super) hidden: Vec<usize>,
    pub(super) activation: Activation,
    pub(super) target: Target,
    pub(super) networks: Networks,
    /// The number of regions that black's king can be in, each with networks of its own.
    pub(super) regions: usize,
}

impl Architecture {
    /// The number of its networks, those of the first region first.
    pub(super) const fn parts(&self) -> usize {
        self.networks.count() * self.regions
    }

    /// The network for a position.
    #[inline]
    pub(super) fn part(&self, to_move: Side, squares: Squares) -> usize {
        let of_side = match self.networks {
            Networks::One | Networks::Black => 0,
            Networks::Each => to_move.index(),
        };
        self.region(squares) * self.networks.count() + of_side
    }

    /// Whether a network learns from positions with white to move, and with black.
    pub(super) const fn learns(&self, part: usize) -> [bool; 2] {
        self.networks.learns(part % self.networks.count())
    }

    /// Whether a network learns from positions with the pieces on these squares.
    pub(super) fn has_region(&self, part: usize, squares: Squares) -> bool {
        self.region(squares) == part / self.networks.count()
    }

    /// Regions are counted from the edge; the last has the rest of the board.
    #[inline]
    fn region(&self, squares: Squares) -> usize {
        squares.black_king_to_edge().min(self.regions - 1)
    }

    pub(super) fn inputs(&self) -> Inputs {
        let men = self.endgame.men().len();
        Inputs { set: self.set, men, has_turn: self.networks == Networks::One }
    }

    /// Weights and biases of all its networks.
    pub(super) fn weights(&self) -> usize {
        self.parts() * numbers_of(self.inputs().count(), &self.hidden)
    }
}

/// All that determines a network's weights by training.
///
/// Every parameter has a value, so that defaults may change later. Equal recipes give equal weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    parameters: Parameters,
    pub(super) architecture: Architecture,
    /// Only without rotations.
    pub(super) mirrored: bool,
    /// Only without rotations.
    pub(super) augmented: bool,
    pub(super) draws: bool,
    /// 0: all examples.
    pub(super) examples: usize,
    pub(super) validation: usize,
    pub(super) epochs: u32,
    pub(super) batch: usize,
    pub(super) rate: f64,
    pub(super) schedule: Schedule,
    pub(super) loss: Loss,
    pub(super) balance: f64,
    pub(super) patience: u32,
    pub(super) seed: u64,
}

const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "network",
    meaning: "A network that learns how far positions of an ending are from mate.",
    parameters: Recipe::PARAMETERS,
    presets: &[],
    bounded_by: &[],
};

impl Recipe {
    /// The recipe's keys in a sweep.
    pub const PARAMETERS: &'static [ParameterInfo] = &[
        ParameterInfo::text(
            "ending",
            8,
            "Which pieces there are, white's and then black's: KRK, KBNK. White has more.",
        ),
        ParameterInfo::word(
            "inputs",
            &InputSet::NAMES,
            "king-pairs",
            "What the network is told: file and rank of each piece (coordinates); moves of a king from \
             black's king to a8 and to each other piece (distances); both; and those of the other \
             pieces to each other (all-distances); the square of each piece among 64 (one-hot); that, \
             and each piece's together with that of black's king among 4096 (king-pairs).",
        ),
        ParameterInfo::switch(
            "rotations",
            true,
            "Whether the board is turned and mirrored so that black's king is on the highest rank \
             and then on the first file that it can have. A single bishop is on a light square in \
             any case.",
        ),
        ParameterInfo::switch(
            "mirrored",
            true,
            "Whether examples are drawn from all positions of the board; if not, there is one of all \
             that are mirror images of each other.",
        )
        .only_with("rotations", ParameterDefault::Bool(false)),
        ParameterInfo::switch(
            "augmented",
            false,
            "Whether a quarter of the examples is drawn, and the others are these with the board turned \
             by a quarter, a half and three quarters.",
        )
        .only_with("rotations", ParameterDefault::Bool(false))
        .added_later(),
        ParameterInfo::integers(
            "hidden",
            1..=LAYERS_MAX,
            1..=UNITS_MAX as i64,
            &[40, 32],
            "Units of each hidden layer.",
        ),
        ParameterInfo::word(
            "activation",
            &Activation::NAMES,
            "relu",
            "What a unit of a hidden layer makes of its sum. The output is a sigmoid.",
        ),
        ParameterInfo::word(
            "networks",
            &Networks::NAMES,
            "each",
            "Whether one network is told whose move it is, or there is one for each side to move, or \
             one for black to move, which values the others as if it were black's move.",
        ),
        ParameterInfo::integer(
            "regions",
            1..=REGIONS_MAX as i64,
            1,
            "How many regions of the board have networks of their own, by the distance of black's king \
             from the edge: 2 are the edge and the rest, 4 the edge, the squares beside it, those beside \
             them and the centre. Each network learns from as many examples.",
        )
        .added_later(),
        ParameterInfo::number(
            "target_start",
            0.0..=1.0,
            0.9,
            "The network's target for mate.",
        ),
        ParameterInfo::number(
            "target_over",
            1.0..=1_000.0,
            80.0,
            "Plies from mate over which the target falls by 1; it never falls below 0.",
        ),
        ParameterInfo::switch(
            "draws",
            false,
            "Whether the network also learns from draws, with target 0.",
        ),
        ParameterInfo::integer(
            "examples",
            0..=EXAMPLES_MAX,
            0,
            "Positions that each network learns from, of those that white wins; 0 is all but those to \
             validate by.",
        ),
        ParameterInfo::integer(
            "validation",
            1..=1_000_000,
            1_000,
            "Positions that each network is validated by. No example is a mirror image of one.",
        ),
        ParameterInfo::integer(
            "epochs",
            1..=100_000,
            24,
            "How often each example is shown at most.",
        ),
        ParameterInfo::integer(
            "batch",
            1..=4_096,
            1,
            "Examples per weight update, which is the mean of their individual updates.",
        ),
        ParameterInfo::number(
            "rate",
            0.000_001..=1_000.0,
            0.4,
            "By how much of the error's gradient the weights are changed.",
        ),
        ParameterInfo::word(
            "schedule",
            &Schedule::NAMES,
            "linear",
            "Whether the rate stays as it is or goes down to 0 over all epochs, in a line or by a \
             cosine.",
        ),
        ParameterInfo::word(
            "loss",
            &Loss::NAMES,
            "cross-entropy",
            "The error whose gradient it is: half the squared difference, or the cross-entropy.",
        ),
        ParameterInfo::number(
            "balance",
            0.0..=1.0,
            0.7,
            "How far rare distances to mate are shown as often as frequent ones: 0 shows each example \
             once an epoch, 1 each distance as often as any other.",
        ),
        ParameterInfo::integer(
            "patience",
            0..=100_000,
            0,
            "After how many epochs without a better one training ends; 0 is never. The weights of the \
             best are kept in any case.",
        ),
        ParameterInfo::integer(
            "seed",
            0..=shared::COUNT_MAX,
            0,
            "What examples, their order and the first weights are drawn by.",
        ),
    ];

    /// Makes a recipe from a sweep's parameters. Missing ones get their default.
    ///
    /// # Errors
    /// An unknown key, a value of another type or outside its range, an ending without a table or in which
    /// white is not the stronger side, more weights than 1,030,000, or more than 10^11 examples shown in all
    /// epochs.
    pub fn from_parameters(given: &Parameters) -> Result<Self, KeyProblem> {
        const ALGORITHM: &str = "algorithm";
        if given.contains_key(ALGORITHM) {
            return Err(Problem::of_key(
                ALGORITHM,
                format!("`{}` has no parameter `{ALGORITHM}`", INFO.name),
                "leave it out".to_owned(),
            ));
        }
        let settings = Settings::read(&INFO, "chess", &[], given)?;
        let endgame = endgame_of(settings.word("ending"))?;
        let mut parameters = settings.canonical();
        parameters.remove(ALGORITHM);
        parameters.insert("ending".to_owned(), Value::Text(endgame.name().to_owned()));
        let count = |name: &str| u64::try_from(settings.integer(name)).unwrap_or(0);
        // The table's ranges are far inside those of these types.
        let small = |name: &str| u32::try_from(count(name)).unwrap_or(u32::MAX);
        let hidden = settings.integers("hidden").into_iter();
        let recipe = Self {
            architecture: Architecture {
                endgame,
                set: settings.choice("inputs", InputSet::named),
                rotations: settings.switch("rotations"),
                hidden: hidden.map(|units| usize::try_from(units).unwrap_or(UNITS_MAX)).collect(),
                activation: settings.choice("activation", Activation::named),
                target: Target {
                    start: settings.number("target_start"),
                    over: settings.number("target_over"),
                },
                networks: settings.choice("networks", Networks::named),
                regions: small("regions") as usize,
            },
            mirrored: matches!(settings.optional_value("mirrored"), Some(Value::Bool(true))),
            augmented: matches!(settings.optional_value("augmented"), Some(Value::Bool(true))),
            draws: settings.switch("draws"),
            examples: small("examples") as usize,
            validation: small("validation") as usize,
            epochs: small("epochs"),
            batch: small("batch") as usize,
            rate: settings.number("rate"),
            schedule: settings.choice("schedule", Schedule::named),
            loss: settings.choice("loss", Loss::named),
            balance: settings.number("balance"),
            patience: small("patience"),
            seed: count("seed"),
            parameters,
        };
        recipe.check()?;
        Ok(recipe)
    }

    /// Whether its network gives the same answer for all positions that are mirror images of each
    /// other.
    pub(super) fn is_symmetric(&self) -> bool {
        Orientation::new(self.endgame(), self.architecture.rotations).is_symmetric()
    }

    fn check(&self) -> Result<(), KeyProblem> {
        let weights = self.weights();
        if weights > WEIGHTS_MAX {
            return Err(Problem::of_key(
                "hidden",
                format!("the networks have {weights} weights"),
                format!("at most {WEIGHTS_MAX} are allowed: choose fewer units, or other `inputs`"),
            ));
        }
        let steps = self.steps();
        if steps > STEPS_MAX {
            return Err(Problem::of_key(
                "epochs",
                format!("up to {steps} examples are shown in all epochs"),
                format!("at most {STEPS_MAX} are allowed: choose fewer `epochs` or `examples`"),
            ));
        }
        Ok(())
    }

    /// All parameters, with defaults. [`Recipe::from_parameters`] of these gives an equal recipe, and equal
    /// recipes have equal ones.
    #[must_use]
    pub const fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The ending whose table it learns from.
    #[must_use]
    pub const fn endgame(&self) -> &Endgame {
        &self.architecture.endgame
    }

    /// The number of weights and biases of its networks.
    #[must_use]
    pub fn weights(&self) -> usize {
        self.architecture.weights()
    }

    /// The number of its networks: one, or one for each side to move, for each region.
    #[must_use]
    pub fn networks(&self) -> usize {
        self.architecture.parts()
    }

    /// The number of epochs for each, at most.
    #[must_use]
    pub const fn epochs(&self) -> u32 {
        self.epochs
    }

    /// Whether a network has the shape that the recipe makes. Only training shows whether its weights follow
    /// from the recipe.
    #[must_use]
    pub fn makes(&self, network: &super::Network) -> bool {
        self.architecture == network.architecture
    }

    /// The greatest number of examples shown, over all epochs; if all were requested, training may show some
    /// more.
    #[must_use]
    pub fn steps(&self) -> u64 {
        let asked = if self.examples == 0 { u64::MAX } else { self.examples as u64 };
        let each = (0..self.networks()).map(|network| asked.min(self.positions_max(network)));
        each.sum::<u64>() * u64::from(self.epochs)
    }

    /// The approximate bytes that training takes, without the table.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        /// Weights: the current, the best so far, and a gradient.
        const WEIGHT_BYTES: u64 = 3 * 4;
        const EXAMPLE_BYTES: u64 = 4;
        const BESIDE_BYTES: u64 = 1 << 20;
        // As drawn, in groups, and in the order of an epoch.
        let drawn = |network| 3 * EXAMPLE_BYTES * self.positions_max(network);
        let most = (0..self.networks()).map(drawn).max().unwrap_or(0);
        // A layer of one unit takes the memory of eight.
        let lanes = if self.architecture.hidden.iter().any(|units| *units < 8) { 8 } else { 2 };
        BESIDE_BYTES + most + WEIGHT_BYTES * lanes * self.weights() as u64
    }

    /// A bound on the positions that a network can learn from.
    fn positions_max(&self, network: usize) -> u64 {
        const PAIRS_OF_KINGS: u64 = 462;
        let sides = self.architecture.learns(network).map(u64::from).iter().sum::<u64>();
        let others = self.architecture.endgame.men().len() - 2;
        let images = match (self.mirrored, self.augmented) {
            (true, _) => 8,
            (false, true) => 4,
            (false, false) => 1,
        };
        sides * images * (PAIRS_OF_KINGS << (6 * others))
    }
}

/// The ending of this name, if white is the stronger side in it.
fn endgame_of(name: &str) -> Result<Endgame, KeyProblem> {
    const KEY: &str = "ending";
    let endgame: Endgame = name.parse().map_err(|error: Problem| {
        let problem = format!("`{KEY}` cannot be {name:?}: {}", error.what);
        Problem::of_key(KEY, problem, error.remedy)
    })?;
    if endgame.has_pawns() {
        return Err(Problem::of_key(
            KEY,
            format!("`{KEY}` cannot be {name:?}: there is a pawn"),
            "networks learn kings, queens, rooks, bishops and knights alone: name an ending without P"
                .to_owned(),
        ));
    }
    let pieces_of = |color| {
        let men = endgame.men().iter().filter(move |man| man.0 == color);
        men.map(|man| man.1).collect::<Vec<_>>()
    };
    let [white, black] = [cozy_chess::Color::White, cozy_chess::Color::Black].map(pieces_of);
    if white.len() < 2 || white == black {
        return Err(Problem::of_key(
            KEY,
            format!("white is not the stronger side in {endgame}"),
            "name the pieces of the side that wins first: KRK, KBNK, KQKR".to_owned(),
        ));
    }
    Ok(endgame)
}

const _: () = assert!(PIECES_MAX == 4, "what networks are told is of three or four pieces");
const _: () = assert!(matches!(Recipe::PARAMETERS[0].default, ParameterDefault::Required));
