//! `spelrum perft`: move counts, the reference for every move generator.

use std::io::Write as _;

use clap::Args;
use serde::Serialize;
use spelrum_engine::{Game, Rules, perft, with_game};
use spelrum_report::data::{Pairs, write_json};
use spelrum_report::text::{Column, TextTable, count};

use crate::error::Result;
use crate::exit::Exit;
use crate::players::position::PositionArguments;
use crate::terminal;

const EXAMPLES: &str = "\
A game that ends before the depth is one leaf where it ends. The columns after the leaves count \
those that ended, by kind, over all depths up to this one. In chess only the positions at the depth are \
counted, as everybody does.

JSON: game, board, to_move (w or b), stones (Pentago), and perft (depth, leaves, and those that \
ended, by kind).

Examples:
  spelrum perft tic-tac-toe --depth 9
  spelrum perft pentago --position w...b.....ww....w........b.....b..b. --depth 3 --json";

/// Count the move sequences from a position
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Perft {
    #[command(flatten)]
    position: PositionArguments,
    /// The length of the sequences, in plies; every shorter one is counted as well
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    depth: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Keys and encoding are those of the reference data.
#[derive(Serialize)]
struct Json<'a> {
    game: &'static str,
    board: String,
    to_move: char,
    /// Pentago: marbles on the board.
    #[serde(skip_serializing_if = "Option::is_none")]
    stones: Option<u32>,
    perft: Vec<Depth<'a>>,
}

#[derive(Serialize)]
struct Depth<'a> {
    depth: u32,
    leaves: u64,
    #[serde(flatten)]
    ended: Pairs<'a, u64>,
}

impl<'a> Depth<'a> {
    fn new(depth: u32, counts: &'a spelrum_engine::Perft) -> Self {
        Self { depth, leaves: counts.leaves, ended: Pairs(&counts.ended) }
    }
}

impl Perft {
    /// Counts and prints.
    pub(crate) fn run(self) -> Result<Exit> {
        let rules = self.position.rules()?;
        with_game!(&rules, P => self.count::<P>(&rules))
    }

    fn count<P: Game>(&self, rules: &Rules) -> Result<Exit> {
        let position: P = self.position.position(rules)?;
        let counts: Vec<_> =
            (1..=self.depth).map(|depth| (depth, perft(&position, depth))).collect();
        let mut out = terminal::stdout();
        if self.json {
            let board = position.to_string();
            let json = Json {
                game: rules.name(),
                stones: position.stones(),
                board,
                to_move: rules.game().side(position.to_move()).letter,
                perft: counts.iter().map(|(depth, counts)| Depth::new(*depth, counts)).collect(),
            };
            write_json(&mut out, &json)?;
        } else {
            let mut columns = vec![Column::numbers("depth"), Column::numbers("leaves")];
            columns
                .extend(P::LEAF_KINDS.iter().map(|kind| Column::numbers(kind.replace('_', " "))));
            let mut table = TextTable::new(&columns);
            for (depth, counts) in &counts {
                let figures = [u64::from(*depth), counts.leaves];
                let ended = counts.ended.iter().map(|(_, leaves)| *leaves);
                table.row(figures.into_iter().chain(ended).map(count));
            }
            writeln!(out, "{}\n", position.board().trim_end())?;
            table.write(&mut out)?;
        }
        Ok(Exit::Success)
    }
}
