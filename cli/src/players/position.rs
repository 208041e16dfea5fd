//! A position from the command line: its game, its rules and the board.

use clap::Args;
use spelrum_engine::{Game, Parameters, Rules, Value};

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// A game, its rules and a position.
#[derive(Args, Debug)]
pub(crate) struct PositionArguments {
    #[arg(help = games_by_name())]
    game: String,
    /// The position in the game's notation; Pentago also takes 36 characters `.wb`, row by row
    /// from the top left [default: the start position]
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    position: Option<String>,
    /// One of the game's rules, such as `win_before_rotation=false` or `heaps=[1,3,5]`
    #[arg(long = "rule", value_name = "KEY=VALUE")]
    rules: Vec<String>,
}

/// "pentago, tic-tac-toe or nim".
pub(crate) fn games_by_name() -> String {
    let names: Vec<&str> = Rules::games().iter().map(|game| game.name).collect();
    match names.as_slice() {
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
        [] => String::new(),
    }
}

/// The rules of a game, with those of the command line, such as `win_before_rotation=false`.
pub(crate) fn rules(game: &str, rules: &[String]) -> Result<Rules> {
    let mut given = Parameters::new();
    for rule in rules {
        let (key, value) = rule.split_once('=').ok_or_else(|| {
            CliError::new(Exit::Input, format!("read the rule {rule}"))
                .because("it has no `=`")
                .help("write it like --rule win_before_rotation=false")
        })?;
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::Text(value.to_owned()));
        given.insert(key.trim().to_owned(), value);
    }
    Rules::from_parameters(game, &given).map_err(|error| {
        CliError::new(Exit::Input, "read the game").because(error.what).help(error.remedy)
    })
}

impl PositionArguments {
    /// The game's rules.
    pub(crate) fn rules(&self) -> Result<Rules> {
        rules(&self.game, &self.rules)
    }

    /// The position, in the rules' game.
    pub(crate) fn position<P: Game>(&self, rules: &Rules) -> Result<P> {
        let Some(text) = &self.position else {
            return P::start(rules).map_err(|error| {
                CliError::new(Exit::Input, "set the game up").because(error.what).help(error.remedy)
            });
        };
        P::parse(rules, text).map_err(|error| {
            CliError::new(Exit::Input, format!("read the position {text}"))
                .because(error.what)
                .help(error.remedy)
        })
    }

    /// A position that still has moves; `action` is the action to name in the error.
    pub(crate) fn position_to_play<P: Game>(&self, rules: &Rules, action: &str) -> Result<P> {
        let position: P = self.position(rules)?;
        let Some(ending) = position.ending() else { return Ok(position) };
        let outcome = ending
            .winner
            .map_or_else(|| "a draw".to_owned(), |side| format!("won by {}", P::side_name(side)));
        Err(CliError::new(Exit::Input, action)
            .because(format!("the game is over: {outcome}"))
            .help("give a position that still has moves"))
    }
}
