//! `spelrum engine`: our players for programs of others.

use std::io::{self, BufReader};

use clap::{Args, Subcommand};
use spelrum_external::uci::{Server, serve};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::player::{PlayerArguments, key_of_seed};
use crate::uci_player::UciPlayer;

const EXAMPLES: &str = "\
Its parameters are options, with what --set says as their defaults; so are the limits, of which 0 is \
none. What `go` says of depth, nodes and time bounds a move as well. Without either it thinks until it \
is told to stop. Searches deepen step by step unless --set iterative=false.

Examples:
  spelrum engine uci --player alpha-beta
  spelrum engine uci --player mcts --set move_time=1s
  fastchess -engine cmd=spelrum args=\"engine uci --player minimax --depth 3\" name=minimax ...";

/// Offer a player to other programs as an engine
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Engine {
    #[command(subcommand)]
    protocol: Protocol,
}

#[derive(Debug, Subcommand)]
enum Protocol {
    /// Play chess over the universal chess interface, for GUIs and match runners
    #[command(after_help = EXAMPLES)]
    Uci(PlayerArguments),
}

impl Engine {
    /// Serves whoever started it, until they have enough.
    pub(crate) fn run(self) -> Result<Exit> {
        let Protocol::Uci(arguments) = self.protocol;
        let mut player = UciPlayer::new(&arguments.given()?, key_of_seed(arguments.seed))
            .map_err(|error| arguments.not_made(error))?;
        let name = format!("Spelrum {} {}", env!("CARGO_PKG_VERSION"), arguments.algorithm());
        let server = Server::new(name, "the Spelrum maintainers".to_owned(), player.options());
        serve(server, &mut player, BufReader::new(io::stdin()), io::stdout())
            .map_err(|error| CliError::new(Exit::Internal, "hear what to do").because(error))?;
        Ok(Exit::Success)
    }
}
