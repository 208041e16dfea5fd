//! A position from the command line: which game, under which rules, and where.

use clap::Args;
use serde_json::{Map, Value};
use spelrum_engine::{Colour, Game, Rules};

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// A game, its rules and a position.
#[derive(Args, Debug)]
pub(crate) struct PositionArguments {
    /// pentago, tic-tac-toe or nim
    game: String,
    /// The position in the game's notation; Pentago also takes 36 characters `.wb`, row by row
    /// from the top left [default: the start position]
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    position: Option<String>,
    /// One of the game's rules, such as `win_before_rotation=false` or `heaps=[1,3,5]`
    #[arg(long = "rule", value_name = "KEY=VALUE")]
    rules: Vec<String>,
}

impl PositionArguments {
    /// The game's rules.
    pub(crate) fn rules(&self) -> Result<Rules> {
        let failed = || CliError::new(Exit::Input, "read the game");
        // Names it if there is no such game, before any rule is blamed.
        Rules::from_name(&self.game)
            .map_err(|error| failed().because(error.problem).help(error.remedy))?;
        let mut table = Map::new();
        table.insert("name".to_owned(), Value::from(self.game.as_str()));
        for rule in &self.rules {
            let (key, value) = rule.split_once('=').ok_or_else(|| {
                CliError::new(Exit::Input, format!("read the rule {rule}"))
                    .because("it has no `=`")
                    .help("write it like --rule win_before_rotation=false")
            })?;
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            table.insert(key.trim().to_owned(), value);
        }
        let rules: Rules = serde_json::from_value(Value::Object(table)).map_err(|error| {
            failed()
                .because(error)
                .help("pentago has win_before_rotation, nim has heaps and misere")
        })?;
        rules.validate().map_err(|error| failed().because(error.problem).help(error.remedy))?;
        Ok(rules)
    }

    /// The position, of the game that the rules name.
    pub(crate) fn position<P: Game>(&self, rules: &Rules) -> Result<P> {
        let Some(text) = &self.position else {
            return P::start(rules).map_err(|error| {
                CliError::new(Exit::Input, "set the game up")
                    .because(error.problem)
                    .help(error.remedy)
            });
        };
        P::parse(rules, text).map_err(|error| {
            CliError::new(Exit::Input, format!("read the position {text}"))
                .because(error.problem)
                .help(error.remedy)
        })
    }

    /// A position that still has moves; `action` is what else cannot be done.
    pub(crate) fn position_to_play<P: Game>(&self, rules: &Rules, action: &str) -> Result<P> {
        let position: P = self.position(rules)?;
        let Some(ending) = position.ending() else { return Ok(position) };
        let who = ending.winner.map_or("a draw", |winner| match winner {
            // Not by its colour, which only Pentago's players have.
            Colour::White => "won by the player who moves first",
            Colour::Black => "won by the player who moves second",
        });
        Err(CliError::new(Exit::Input, action)
            .because(format!("the game is over: {who}"))
            .help("give a position that still has moves"))
    }
}
