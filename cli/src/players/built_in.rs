//! A player from the command line: an algorithm and its parameters.

use clap::Args;
use spelrum_engine::{KeyProblem, ParameterInfo, Parameters, Player, Rules, Value, parameters_of};

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// A player and what decides its random numbers.
#[derive(Args, Debug)]
pub(crate) struct PlayerArguments {
    /// The algorithm: random, minimax, alpha-beta, genetic-minimax, mcts or exact
    #[arg(long, value_name = "ALGORITHM")]
    player: String,
    /// How many plies it looks ahead: short for --set depth=N
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Any parameter of the player, as a sweep would set it
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Decides its random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

impl PlayerArguments {
    /// The algorithm.
    pub(crate) fn algorithm(&self) -> &str {
        &self.player
    }

    /// The player's parameters as given.
    pub(crate) fn given(&self) -> Result<Parameters> {
        given(&self.player, self.depth, &self.settings)
    }

    /// The player's parameters as given, for a program that runs it and keeps its time.
    pub(crate) fn served(&self) -> Result<Parameters> {
        let given = self.given()?;
        if given.contains_key(CLOCK) {
            return Err(CliError::new(Exit::Input, format!("make the player {}", self.player))
                .because(
                    "the program that runs the player keeps its clock, and sends the time left",
                )
                .help("leave `clock` out, or play it in a sweep"));
        }
        Ok(given)
    }

    /// The error of a player that cannot be built.
    pub(crate) fn not_made(&self, error: KeyProblem) -> CliError {
        not_made(&self.player, error)
    }

    /// The player, for the rules' game.
    pub(crate) fn player(&self, rules: &Rules) -> Result<Player> {
        player(rules, &self.player, self.depth, &self.settings)
    }
}

/// The parameter of a player's clock.
pub(crate) const CLOCK: &str = "clock";

/// The parameters of an algorithm that a program which runs the player can set: not those of its clock.
pub(crate) fn settable(algorithm: &str) -> impl Iterator<Item = &'static ParameterInfo> {
    let is_of_clock = |info: &&ParameterInfo| {
        info.name == CLOCK || info.only_with.is_some_and(|(name, _)| name == CLOCK)
    };
    parameters_of(algorithm).iter().filter(move |info| !is_of_clock(info))
}

/// A player from an algorithm's name, an optional depth, and settings such as `move_time=100ms`.
pub(crate) fn player(
    rules: &Rules,
    algorithm: &str,
    depth: Option<u32>,
    settings: &[String],
) -> Result<Player> {
    let given = given(algorithm, depth, settings)?;
    Player::from_parameters(rules, &given).map_err(|error| not_made(algorithm, error))
}

fn given(algorithm: &str, depth: Option<u32>, settings: &[String]) -> Result<Parameters> {
    let mut given = Parameters::new();
    given.insert("algorithm".to_owned(), Value::Text(algorithm.to_owned()));
    if let Some(depth) = depth {
        given.insert("depth".to_owned(), Value::Integer(depth.into()));
    }
    given.extend(self::settings(settings)?);
    Ok(given)
}

fn not_made(algorithm: &str, error: KeyProblem) -> CliError {
    CliError::new(Exit::Input, format!("make the player {algorithm}"))
        .because(error.what)
        .help(error.remedy)
}

/// Parameters from texts such as `move_time=100ms`.
pub(crate) fn settings(texts: &[String]) -> Result<Parameters> {
    let mut given = Parameters::new();
    for text in texts {
        let (key, value) = text.split_once('=').ok_or_else(|| {
            CliError::new(Exit::Input, format!("read the setting {text}"))
                .because("it has no `=`")
                .help("write it like --set move_time=100ms")
        })?;
        given.insert(key.trim().to_owned(), setting_value(value.trim()));
    }
    Ok(given)
}

/// A value as in a sweep: a switch, a number, else a word.
fn setting_value(text: &str) -> Value {
    if let Ok(switch) = text.parse() {
        Value::Bool(switch)
    } else if let Ok(integer) = text.parse() {
        Value::Integer(integer)
    } else {
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Number(number),
            _ => Value::Text(text.to_owned()),
        }
    }
}

/// A ChaCha8 key from `--seed`: its eight bytes, little-endian, then zeros.
pub(crate) fn key_of_seed(seed: u64) -> [u8; 32] {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_a_sweep_would_have_them() {
        assert_eq!(setting_value("true"), Value::Bool(true));
        assert_eq!(setting_value("-3"), Value::Integer(-3));
        assert_eq!(setting_value("0.25"), Value::Number(0.25));
        assert_eq!(setting_value("100ms"), Value::Text("100ms".to_owned()));
        assert_eq!(setting_value("inf"), Value::Text("inf".to_owned()));
    }
}
