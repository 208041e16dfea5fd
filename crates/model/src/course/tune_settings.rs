//! Settings of a `[tune]` run: the tuned parameters, and the mapping from values to players.

use spelrum_engine::{Parameters, Player, Rules, Value, memory_bytes_of};
use spelrum_optimize::space::{Dimension, Level};

use super::note::Setting;
use super::parameter::{LedParameter, Unit, set_parameter};
use crate::plan::cell::AxisValue;

/// The settings of a `[tune]` run.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneSettings {
    /// The game's rules.
    pub rules: Rules,
    /// All parameters of the initial player.
    pub player: Parameters,
    /// The parameters to tune: at least one.
    pub parameters: Vec<TunedParameter>,
    /// The method.
    pub method: TuneMethod,
    /// Iterations of SPSA, generations of CMA-ES.
    pub steps: u64,
    /// The number of simultaneous iterations of SPSA.
    pub at_once: u64,
    /// The number of games of each confirming cell; 0: no confirmation.
    pub confirm: u64,
    /// Whether the player meets only itself with other settings.
    pub against_itself: bool,
}

/// The search method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TuneMethod {
    /// [`spelrum_optimize::spsa`].
    Spsa {
        /// r of the last iteration; the default if `None`.
        step: Option<f64>,
        /// c of the last iteration.
        perturbation: f64,
    },
    /// [`spelrum_optimize::cmaes`].
    CmaEs {
        /// The number of settings tried per generation.
        population: u64,
    },
}

/// A tuned parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedParameter {
    /// Its name in sweeps.
    pub name: String,
    /// Its possible values.
    pub values: Tunable,
    /// Its initial value.
    pub start: Level,
}

/// The possible values of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Tunable {
    /// Numbers in a range.
    Numbers(LedParameter),
    /// At least two values for the parameter of this name in definitions.
    Choices(String, Vec<Value>),
}

/// The default step of SPSA: fishtest's 0.002 at its usual 30,000 pairs, and proportionally more for fewer pairs.
#[must_use]
pub fn usual_step(iterations: u64, pairs: u64) -> f64 {
    60.0 / (iterations.max(1) as f64 * pairs.max(1) as f64)
}

/// With more ends than this, planning tries each only by itself.
const ENDS_IN_PAIRS_MAX: usize = 64;

/// Most keys that lose their effect by one setting.
const WITHOUT_EFFECT_MAX: usize = 64;

impl TunedParameter {
    /// The dimension of its search.
    #[must_use]
    pub fn dimension(&self) -> Dimension {
        match &self.values {
            Tunable::Numbers(LedParameter { unit: Unit::Whole, low, high, log: false, .. }) => {
                Dimension::Whole { steps: (high - low).max(1.0) as u64 }
            }
            Tunable::Numbers(_) => Dimension::Real,
            Tunable::Choices(_, values) => Dimension::Choice { options: values.len() },
        }
    }

    /// Its name and value in definitions.
    fn value(&self, level: Level) -> (String, Value) {
        match (&self.values, level) {
            (Tunable::Numbers(led), Level::Part(part)) => {
                (led.key.clone(), led.value(number(led, part)))
            }
            (Tunable::Numbers(led), Level::Choice(_)) => (led.key.clone(), led.value(led.low)),
            (Tunable::Choices(key, values), level) => {
                let chosen = if let Level::Choice(chosen) = level { chosen } else { 0 };
                (key.clone(), values[chosen.min(values.len() - 1)].clone())
            }
        }
    }

    /// A value of the parameter, as reports and SQL show it.
    #[must_use]
    pub fn shown(&self, level: Level) -> AxisValue {
        if let (Tunable::Numbers(led), Level::Part(part)) = (&self.values, level) {
            return led.shown(number(led, part));
        }
        match self.value(level).1 {
            Value::Bool(flag) => {
                AxisValue { number: Some(if flag { 1.0 } else { 0.0 }), text: flag.to_string() }
            }
            Value::Integer(integer) => {
                AxisValue { number: Some(integer as f64), text: integer.to_string() }
            }
            Value::Number(number) => AxisValue { number: Some(number), text: number.to_string() },
            Value::Text(text) => AxisValue { number: None, text },
            other @ (Value::List(_) | Value::Table(_)) => {
                AxisValue { number: None, text: other.to_string() }
            }
        }
    }

    /// Its ends: the smallest and the greatest number; all choices.
    #[must_use]
    pub fn ends(&self) -> Vec<Level> {
        match &self.values {
            Tunable::Numbers(_) => vec![Level::Part(0.0), Level::Part(1.0)],
            Tunable::Choices(_, values) => (0..values.len()).map(Level::Choice).collect(),
        }
    }
}

/// The number at a share of the parameter's range.
fn number(led: &LedParameter, part: f64) -> f64 {
    let part = part.clamp(0.0, 1.0);
    let number = match led.log {
        true => led.low * libm::exp(part * libm::log(led.high / led.low)),
        false => led.low + part * (led.high - led.low),
    };
    led.rounded(number).clamp(led.low, led.high)
}

/// The share of the range at which a number lies.
#[must_use]
pub fn part_of(led: &LedParameter, number: f64) -> f64 {
    let part = match led.log {
        true => libm::log(number / led.low) / libm::log(led.high / led.low),
        false => (number - led.low) / (led.high - led.low),
    };
    part.clamp(0.0, 1.0)
}

impl TuneSettings {
    /// All parameters of the player with these settings, without those that have no effect.
    #[must_use]
    pub fn player_with(&self, levels: &[Level]) -> Parameters {
        self.checked_player_with(levels).unwrap_or_else(|(given, _)| given)
    }

    /// The same parameters, or the problem with them.
    pub fn checked_player_with(
        &self,
        levels: &[Level],
    ) -> Result<Parameters, (Parameters, spelrum_engine::KeyProblem)> {
        let mut given = self.player.clone();
        for (parameter, level) in self.parameters.iter().zip(levels) {
            let (name, value) = parameter.value(*level);
            set_parameter(&mut given, &name, value);
        }
        let mut left = WITHOUT_EFFECT_MAX;
        loop {
            let error = match Player::from_parameters(&self.rules, &given) {
                Ok(player) => return Ok(player.parameters().clone()),
                Err(error) => error,
            };
            let key = error.place.as_ref().filter(|_| error.is_without_effect() && left > 0);
            let Some(key) = key else { return Err((given, error)) };
            let canonical = format!("{key}_us");
            if given.remove(key).or_else(|| given.remove(&canonical)).is_none() {
                return Err((given, error));
            }
            left -= 1;
        }
    }

    /// The player's initial settings.
    #[must_use]
    pub fn start(&self) -> Vec<Setting> {
        let setting = |parameter: &TunedParameter| Setting {
            parameter: parameter.name.clone(),
            value: parameter.shown(parameter.start),
        };
        self.parameters.iter().map(setting).collect()
    }

    /// The initial player, with each parameter by itself at its ends.
    pub(super) fn ends(&self) -> Vec<Parameters> {
        let start: Vec<Level> = self.parameters.iter().map(|parameter| parameter.start).collect();
        let mut players = vec![self.player_with(&start)];
        for (place, parameter) in self.parameters.iter().enumerate() {
            players.extend(parameter.ends().into_iter().map(|end| {
                let mut levels = start.clone();
                levels[place] = end;
                self.player_with(&levels)
            }));
        }
        players
    }

    /// The player with most memory, or else with all numbers at their greatest.
    #[must_use]
    pub fn dearest(&self) -> Parameters {
        let greatest: Vec<Level> = self
            .parameters
            .iter()
            .map(|parameter| match parameter.values {
                Tunable::Numbers(_) => Level::Part(1.0),
                Tunable::Choices(..) => parameter.start,
            })
            .collect();
        let mut dearest = self.player_with(&greatest);
        for (place, parameter) in self.parameters.iter().enumerate() {
            for end in parameter.ends() {
                let mut levels = greatest.clone();
                levels[place] = end;
                let player = self.player_with(&levels);
                if memory_bytes_of(&player) > memory_bytes_of(&dearest) {
                    dearest = player;
                }
            }
        }
        dearest
    }

    /// Most games of the run, against this many opponents with this many games each.
    #[must_use]
    pub const fn games_at_most(&self, opponents: u64, games: u64) -> u64 {
        let [searching, confirming] = self.cells(opponents);
        let searched = searching.saturating_mul(games);
        searched.saturating_add(confirming.saturating_mul(self.confirm))
    }

    /// Most cells that the run creates.
    #[must_use]
    pub const fn cells_at_most(&self, opponents: u64) -> u64 {
        let [searching, confirming] = self.cells(opponents);
        searching.saturating_add(confirming)
    }

    /// The number of cells for searching, and for confirming.
    const fn cells(&self, opponents: u64) -> [u64; 2] {
        let (meetings, sides) = if self.against_itself { (1, 1) } else { (opponents, 2) };
        let trials = match self.method {
            TuneMethod::Spsa { .. } => sides,
            TuneMethod::CmaEs { population } => population,
        };
        let of_step = meetings.saturating_mul(trials);
        let confirming = if self.confirm > 0 { meetings.saturating_mul(sides) } else { 0 };
        [self.steps.saturating_mul(of_step), confirming]
    }

    /// Checks that all settings are valid: each parameter at its ends, combined with each other one at its ends unless
    /// there are too many.
    ///
    /// # Errors
    /// The invalid parameter, and the reason.
    pub fn check(&self) -> Result<(), (usize, spelrum_engine::KeyProblem)> {
        let start: Vec<Level> = self.parameters.iter().map(|parameter| parameter.start).collect();
        self.checked_player_with(&start).map_err(|(_, error)| (0, error))?;
        let ends: usize = self.parameters.iter().map(|parameter| parameter.ends().len()).sum();
        for (first_index, first) in self.parameters.iter().enumerate() {
            for (second_index, second) in self.parameters.iter().enumerate().skip(first_index) {
                if first_index != second_index && ends > ENDS_IN_PAIRS_MAX {
                    continue;
                }
                for first in first.ends() {
                    for second in second.ends() {
                        let mut levels = start.clone();
                        levels[first_index] = first;
                        levels[second_index] = second;
                        self.checked_player_with(&levels)
                            .map_err(|(_, error)| (second_index, error))?;
                    }
                }
            }
        }
        Ok(())
    }
}
