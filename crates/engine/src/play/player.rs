//! A player: an algorithm with all its parameters and limits, fixed.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::core::external::{self, EXTERNAL_ALGORITHMS, ExternalRules, Protocol};
use crate::core::limits::Limits;
use crate::core::parameters::{
    AlgorithmInfo, ClockRule, ParameterKind, Parameters, Settings, Value, scaled_us, wrong_word,
};
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rules::Rules;
use crate::evaluation::{Contents, EvaluationVisitor, GameEvaluation, NoContents, NoEvaluation};
use crate::games::game::Game;
use crate::play::common::Searched;
use crate::search::Search;
use crate::search::algorithm::Maker;
use crate::search::reference::Reference;
use crate::search::registry::{self, TABLES};
use crate::with_game;

/// A complete player: every parameter has its value, so that defaults may change later without
/// changing the meaning of a stored player.
#[derive(Clone)]
pub struct Player {
    parameters: Parameters,
    limits: Limits,
    clock: Option<ClockRule>,
    margin_us: u64,
    game: &'static str,
    draws_random_numbers: bool,
    source: MoveSource,
}

/// The source of its moves.
#[derive(Clone)]
enum MoveSource {
    /// Built in: a `Maker<G>` of the game `G` that the player was made for. It makes data shared by all its
    /// games, such as a compiled evaluation, once.
    Ours(Arc<dyn Any + Send + Sync>),
    /// An external engine.
    External(Arc<ExternalRules>),
}

impl Player {
    /// Makes a player from a sweep's parameters: `algorithm`, its parameters and its limits.
    /// Missing ones get their default (or the preset's value).
    ///
    /// # Errors
    /// An unknown algorithm or key (with the nearest known one), a value of the wrong type or outside its
    /// range, an algorithm that does not play this game, an evaluation that the game lacks, or a search
    /// without a limit.
    pub fn from_parameters(rules: &Rules, given: &Parameters) -> Result<Self, KeyProblem> {
        Self::with_contents(rules, given, &NoContents)
    }

    /// The same for a player whose parameters may name data by its content hash.
    ///
    /// # Errors
    /// As [`Player::from_parameters`], or if the data is missing.
    pub fn with_contents(
        rules: &Rules,
        given: &Parameters,
        contents: &dyn Contents,
    ) -> Result<Self, KeyProblem> {
        with_game!(rules, G => Self::compiled::<G, true>(given, contents))
    }

    /// The same for a game type, registered or not, whose searches are compiled for it alone.
    ///
    /// # Errors
    /// As [`Player::with_contents`].
    pub fn new<G: Game>(given: &Parameters, contents: &dyn Contents) -> Result<Self, KeyProblem> {
        Self::compiled::<G, false>(given, contents)
    }

    fn compiled<G: Game, const REGISTERED: bool>(
        given: &Parameters,
        contents: &dyn Contents,
    ) -> Result<Self, KeyProblem>
    where
        for<'a> Compile<'a, REGISTERED>: EvaluationVisitor<G, Output = Maker<G>>,
    {
        let info = chosen_algorithm(given)?;
        let settings = Settings::read(info, G::NAME, G::EVALUATIONS, given)?;
        if let Some(protocol) = Protocol::named(info.name) {
            return Self::new_external::<G>(protocol, &settings);
        }
        registry::check_game::<G>(info)?;
        if settings.clock().is_some() && settings.limit("move_time").is_some() {
            return Err(Problem::of_key(
                "move_time",
                "a built-in player with a `clock` decides itself how long a move may take"
                    .to_owned(),
                "leave out `move_time` or `clock`".to_owned(),
            ));
        }
        let margin_us = margin_us(&settings)?;
        let compile = Compile::<REGISTERED> { info, settings: &settings };
        let evaluates =
            info.parameters.iter().any(|parameter| parameter.kind == ParameterKind::Evaluation);
        let maker: Maker<G> = if evaluates {
            G::visit_evaluation(&settings, contents, compile)?
        } else {
            compile.visit(NoEvaluation)
        };
        Ok(Self {
            parameters: settings.canonical(),
            limits: Limits::from_settings(&settings),
            clock: settings.clock(),
            margin_us,
            game: G::NAME,
            draws_random_numbers: registry::draws_random_numbers(info, &settings),
            source: MoveSource::Ours(Arc::new(maker)),
        })
    }

    /// An external engine, for a game with engines that speak its protocol.
    fn new_external<G: Game>(protocol: Protocol, settings: &Settings) -> Result<Self, KeyProblem> {
        if !(protocol.is_of_every_game() || G::PROTOCOLS.contains(&protocol)) {
            let everywhere = Protocol::ALL.iter().filter(|protocol| protocol.is_of_every_game());
            let protocols = G::PROTOCOLS.iter().chain(everywhere);
            let protocols = protocols.map(|protocol| format!("{:?}", protocol.name()));
            let remedy =
                format!("write algorithm = {}", protocols.collect::<Vec<_>>().join(" or "));
            let (name, game) = (protocol.name(), G::NAME);
            let problem = format!("programs that speak {name} do not play {game}");
            return Err(Problem::of_key("algorithm", problem, remedy));
        }
        Ok(Self {
            parameters: settings.canonical(),
            limits: Limits::from_settings(settings),
            clock: settings.clock(),
            margin_us: margin_us(settings)?,
            game: G::NAME,
            // One that draws from the seeds it is sent is reproducible too.
            draws_random_numbers: protocol == Protocol::Lines || !settings.switch("reproducible"),
            source: MoveSource::External(Arc::new(ExternalRules::from_settings(
                protocol, settings,
            )?)),
        })
    }

    /// All parameters, with defaults. `from_parameters` of these gives an equal player.
    ///
    /// A limit that is off is absent, or `"unlimited"` if its default is on; durations are
    /// integers in microseconds (`move_time_us`); a preset is resolved into its values.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Whether its games may begin with any position, so that [`Player::check_start`] can be skipped.
    #[must_use]
    pub fn begins_anywhere(&self) -> bool {
        registry::begins_anywhere(self.algorithm())
    }

    /// Checks that its games may begin with this position: a player of tables needs a position that has one.
    ///
    /// # Errors
    /// If they may not, with a remedy, or if the text is not a position of the game.
    pub fn check_start(&self, rules: &Rules, start: &str) -> Result<(), KeyProblem> {
        with_game!(rules, G => {
            let start = G::parse(rules, start).map_err(|problem| problem.moved_to(None))?;
            registry::check_start(self.algorithm(), &start)
        })
    }

    /// The limits of its moves.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Its clock for a game, if it has one.
    #[must_use]
    pub fn clock(&self) -> Option<ClockRule> {
        self.clock
    }

    /// Time by which a move may exceed its time before it loses the game, in microseconds. A built-in player loses no
    /// game by time without a clock.
    #[must_use]
    pub fn margin_us(&self) -> u64 {
        self.margin_us
    }

    /// The same player with this many thousandths of its time limit, and of its clock if it has one. Its
    /// parameters stay the same, so the two are equal.
    #[must_use]
    pub fn with_time_factor(&self, permille: u32) -> Self {
        let mut player = self.clone();
        player.limits.move_time_us = self.limits.move_time_us.map(|us| scaled_us(us, permille));
        player.clock = self.clock.map(|clock| clock.scaled(permille));
        player
    }

    /// The same player with at most this much time for a move, in microseconds, and without a clock. Its parameters
    /// stay the same, so the two are equal.
    #[must_use]
    pub fn with_time_max(&self, move_time_us: u64) -> Self {
        let mut player = self.clone();
        let own_us = player.limits.move_time_us.unwrap_or(u64::MAX);
        player.limits.move_time_us = Some(own_us.min(move_time_us));
        player.clock = None;
        player
    }

    /// Whether its moves depend on random numbers, so that a repeated opening may give a different game.
    #[must_use]
    pub fn draws_random_numbers(&self) -> bool {
        self.draws_random_numbers
    }

    /// An upper bound on the memory that it reserves in a game, in bytes: tables and trees at their
    /// greatest size. The operating system provides less if less is used.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        registry::memory_bytes_of(&self.parameters)
    }

    /// Whether a time limit or a clock limits its moves.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.limits.move_time_us.is_some() || self.clock.is_some()
    }

    /// The description of an external engine; `None` for a built-in player.
    #[must_use]
    pub fn external(&self) -> Option<&ExternalRules> {
        match &self.source {
            MoveSource::Ours(_) => None,
            MoveSource::External(rules) => Some(rules),
        }
    }

    /// Whether its games must be reproducible: for an external engine only if a sweep says so (invariant 2).
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        !self.is_timed() && self.external().is_none_or(|rules| rules.reproducible)
    }

    /// Whether its games are assumed to be reproducible: a built-in player that draws no random numbers, or
    /// an external engine whose moves no clock limits, until it is seen to differ.
    #[must_use]
    pub fn repeats(&self) -> bool {
        !self.is_timed() && (self.external().is_some() || !self.draws_random_numbers)
    }

    /// A search for one side of one game, compiled for the game and the evaluation; `None` if the
    /// player was made for another game, or is an external engine.
    pub(crate) fn search<G: Game>(&self) -> Option<Box<dyn Search<G>>> {
        self.maker::<G>().map(Maker::make)
    }

    /// The reference that gives every move of a position a value by this player; `None` if it was made for
    /// another game, or of parameters that [`check_reference`](crate::check_reference) rejects.
    pub(crate) fn reference<G: Game>(&self) -> Option<Box<dyn Reference<G>>> {
        self.maker::<G>().and_then(Maker::make_reference)
    }

    fn algorithm(&self) -> &str {
        match self.parameters.get("algorithm") {
            Some(Value::Text(name)) => name,
            Some(_) | None => "",
        }
    }

    fn maker<G: Game>(&self) -> Option<&Maker<G>> {
        match &self.source {
            MoveSource::Ours(maker) => maker.downcast_ref(),
            MoveSource::External(_) => None,
        }
    }
}

impl PartialEq for Player {
    fn eq(&self, other: &Self) -> bool {
        self.game == other.game && self.parameters == other.parameters
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player")
            .field("game", &self.game)
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}

/// Gives the search its evaluation as a type. A registered game says what its searches are compiled for; for any
/// other the call in the inner loop is static.
struct Compile<'a, const REGISTERED: bool> {
    info: &'a AlgorithmInfo,
    settings: &'a Settings,
}

impl<G: Searched> EvaluationVisitor<G> for Compile<'_, true> {
    type Output = Maker<G>;

    fn visit<E: GameEvaluation<G>>(self, evaluation: E) -> Maker<G> {
        G::maker(self.info, self.settings, evaluation)
    }
}

impl<G: Game> EvaluationVisitor<G> for Compile<'_, false> {
    type Output = Maker<G>;

    fn visit<E: GameEvaluation<G>>(self, evaluation: E) -> Maker<G> {
        registry::maker(self.info, self.settings, evaluation)
    }
}

/// The margin of a player's time; 0 if it has none.
fn margin_us(settings: &Settings) -> Result<u64, KeyProblem> {
    match (settings.optional_value("margin"), settings.limit("margin")) {
        (None, _) => Ok(0),
        (Some(_), Some(us)) => Ok(us),
        (Some(_), None) => Err(Problem::of_key(
            "margin",
            "an unlimited margin would let any move be late".to_owned(),
            "write a time, such as \"50ms\"".to_owned(),
        )),
    }
}

fn chosen_algorithm(given: &Parameters) -> Result<&'static AlgorithmInfo, KeyProblem> {
    const KEY: &str = "algorithm";
    let names = || TABLES.iter().map(|info| info.name).chain(EXTERNAL_ALGORITHMS.iter().copied());
    let Some(value) = given.get(KEY) else {
        let missing = wrong_word(KEY, &Value::Text(String::new()), names());
        return Err(Problem { what: format!("`{KEY}` is missing"), ..missing });
    };
    let is_named = |info: &&AlgorithmInfo| matches!(value, Value::Text(name) if name == info.name);
    TABLES.iter().chain(external::TABLES).find(is_named).ok_or_else(|| {
        let error = wrong_word(KEY, value, names());
        Problem { what: format!("there is no algorithm {value}"), ..error }
    })
}
