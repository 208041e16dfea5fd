//! The list of games, and the way from [`Rules`] as data to a game as a type.
//!
//! A game is registered by its line in [`with_game!`]; everything else that lists games uses this
//! module.

use std::sync::LazyLock;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::core::expression::FeatureInfo;
use crate::core::parameters::{
    AlgorithmInfo, EvaluationInfo, ParameterKind, Parameters, Settings, Value, nearest, shared,
};
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rules::{GameInfo, Rules};
use crate::core::termination::Termination;
use crate::evaluation::{EvaluationVisitor, NoContents};
use crate::games::game::Game;

/// Runs an expression with a type alias bound to the game of some [`Rules`](crate::Rules): from
/// data to static dispatch. The alias implements [`Game`](crate::Game).
///
/// ```
/// use spelrum_engine::{Game, Position, Rules, with_game};
///
/// fn count_moves<P: Game>(rules: &Rules) -> u32 {
///     P::start(rules).map_or(0, |position| position.legal_move_count())
/// }
///
/// let rules = Rules::from_name("tic-tac-toe")?;
/// assert_eq!(with_game!(&rules, P => count_moves::<P>(&rules)), 9);
/// # Ok::<(), spelrum_engine::KeyProblem>(())
/// ```
///
/// With `each` instead of rules, it runs the expression for every game, in an array:
///
/// ```
/// use spelrum_engine::{Game, with_game};
///
/// assert!(with_game!(each P => P::NAME).contains(&"nim"));
/// ```
#[macro_export]
macro_rules! with_game {
    (@games [$($searches:ident $game:ident,)+] searches => $macro:ident! { $($arguments:tt)* }) => {
        $macro! { ($($arguments)*) [] [] $($searches $game,)+ }
    };
    (@games [$($searches:ident $game:ident,)+] each $alias:ident => $body:expr) => {
        [$({
            type $alias = $crate::games::$game;
            $body
        }),+]
    };
    (@games [$($searches:ident $game:ident,)+] $rules:expr, $alias:ident => $body:expr) => {
        match $rules {
            $(rules if $crate::Rules::is_of::<$crate::games::$game>(rules) => {
                type $alias = $crate::games::$game;
                $body
            })+
            rules => unreachable!("rules are of a game that is registered, not {}", rules.name()),
        }
    };
    ($($call:tt)+) => {
        // Every game, in display order. `own`: every search is compiled for it alone; `shared`: it takes part in
        // `CommonPosition` (play/common.rs).
        $crate::with_game! { @games [
            own Pentago,
            shared TicTacToe,
            shared Nim,
            own ConnectFour,
            own Chess,
            own Othello,
            shared Hex,
            shared Mnk,
            shared Breakthrough,
            shared UltimateTicTacToe,
            shared Clobber,
            shared Amazons,
        ] $($call)+ }
    };
}

impl Rules {
    /// Every game, in display order.
    #[must_use]
    pub fn games() -> Vec<&'static GameInfo> {
        with_game!(each G => G::INFO).to_vec()
    }

    /// A game under its usual rules, by its name alone.
    ///
    /// # Errors
    /// If no game has this name; the remedy names the nearest one.
    pub fn from_name(name: &str) -> Result<Self, KeyProblem> {
        Self::from_parameters(name, &Parameters::new())
    }

    /// A game by its name, under these rules; those that are not named are as usual.
    ///
    /// # Errors
    /// If no game has this name, or as [`Rules::new`].
    pub fn from_parameters(name: &str, given: &Parameters) -> Result<Self, KeyProblem> {
        let mut rules_by_name =
            with_game!(each G => (G::NAME == name).then(|| Self::new::<G>(given)))
                .into_iter()
                .flatten();
        rules_by_name.next().unwrap_or_else(|| Err(unknown_game(name)))
    }

    /// The game's evaluations with their parameters, the default first: more parameters for players
    /// that search.
    #[must_use]
    pub const fn evaluations(&self) -> &'static [EvaluationInfo] {
        self.game().evaluations
    }

    /// The features that formulas of the game may count ([`crate::evaluation::Features`]); empty for a game
    /// without formulas.
    #[must_use]
    pub fn features(&self) -> &'static [FeatureInfo] {
        let parameters = self.evaluations().iter().flat_map(|evaluation| evaluation.parameters);
        let mut features = parameters.filter_map(|info| {
            if let ParameterKind::Formula(features) = info.kind { Some(features) } else { None }
        });
        features.next().unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Rules {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut given = Parameters::deserialize(deserializer)?;
        match given.remove("name") {
            Some(Value::Text(name)) => {
                Self::from_parameters(&name, &given).map_err(D::Error::custom)
            }
            Some(other) => Err(D::Error::custom(format!("{other} is not a game's name"))),
            None => Err(D::Error::missing_field("name")),
        }
    }
}

/// Every termination that a game or the arbiter may end with, each once.
pub fn terminations() -> impl Iterator<Item = Termination> {
    TERMINATIONS.iter().copied()
}

static TERMINATIONS: LazyLock<Vec<Termination>> = LazyLock::new(|| {
    let mut all: Vec<Termination> = Vec::new();
    let of_games = Rules::games().into_iter().flat_map(|game| game.terminations);
    for &termination in of_games.chain(Termination::OF_ARBITER) {
        if !all.contains(&termination) {
            all.push(termination);
        }
    }
    all
});

/// The termination with this stored name.
#[must_use]
pub fn termination_named(name: &str) -> Option<Termination> {
    terminations().find(|termination| termination.name() == name)
}

impl<'de> Deserialize<'de> for Termination {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        termination_named(&name)
            .ok_or_else(|| D::Error::custom(format_args!("unknown termination {name:?}")))
    }
}

/// Makes a game's evaluation from its parameters alone, as they appear among a player's parameters,
/// and passes it on as its own type.
///
/// # Errors
/// If the game lacks the evaluation, or a key or value is not one of its parameters.
pub fn with_evaluation<G: Game, V: EvaluationVisitor<G>>(
    given: &Parameters,
    visitor: V,
) -> Result<V::Output, KeyProblem> {
    const ALONE: AlgorithmInfo = AlgorithmInfo {
        name: "evaluation",
        meaning: "An evaluation without a search.",
        parameters: &[shared::EVALUATION],
        presets: &[],
        bounded_by: &[],
    };
    let settings = Settings::read(&ALONE, G::NAME, G::EVALUATIONS, given)?;
    G::visit_evaluation(&settings, &NoContents, visitor)
}

fn unknown_game(name: &str) -> KeyProblem {
    let games: Vec<&str> = Rules::games().iter().map(|game| game.name).collect();
    Problem::at(
        None,
        format!("there is no game `{name}`"),
        match nearest(&name.to_lowercase(), games.iter().copied()) {
            Some(game) => format!("did you mean `{game}`?"),
            None => format!("the games are {}", games.join(", ")),
        },
    )
}
