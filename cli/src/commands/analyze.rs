//! `spelrum analyze`: one position, one player, one search.

use clap::Args;
use serde::Serialize;
use spelrum_engine::{
    Analysis, EndedBy, Game, Parameters, Player, Position as _, Rules, analyze, with_game,
};
use spelrum_report::data::write_json;
use spelrum_report::text::{count, duration_us, ended_by_text, score_text};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::clock::Clock;
use crate::players::built_in::{PlayerArguments, key_of_seed};
use crate::players::position::PositionArguments;
use crate::terminal;

const EXAMPLES: &str = "\
The score is for the side to move; 999997 is a win in 3 plies, -999997 a loss in 3.

JSON: game, position, to_move (w or b), player, best_move, move (Pentago: cell, quadrant, direction), \
score, value (1, 0, -1 for the side to move where it is proven, else null), depth, nodes, \
evaluations, full_tree_leaves, legal_moves, ended_by, wall_us, cpu_us.

Examples:
  spelrum analyze tic-tac-toe --player minimax --depth 9
  spelrum analyze pentago --player alpha-beta --depth 3 \\
    --position w...b.....ww....w........b.....b..b.
  spelrum analyze pentago --player genetic-minimax --depth 4 --json \\
    --set preset=study --set move_time=500ms";

/// Search one position with a player
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Analyze {
    #[command(flatten)]
    position: PositionArguments,
    #[command(flatten)]
    player: PlayerArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    game: &'static str,
    /// The position in the game's notation.
    position: &'a str,
    to_move: char,
    player: &'a Parameters,
    /// The move in the game's notation.
    best_move: &'a str,
    /// Pentago: the move as `[cell, quadrant, direction]`, encoded as in the reference data.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    numbered_move: Option<[i32; 3]>,
    score: Option<i32>,
    /// 1, 0 or -1 for the side to move where the search has proven it.
    value: Option<i32>,
    depth: u32,
    nodes: u64,
    evaluations: u64,
    full_tree_leaves: u64,
    legal_moves: u32,
    ended_by: EndedBy,
    wall_us: u64,
    cpu_us: u64,
}

impl Analyze {
    /// Searches and prints.
    pub(crate) fn run(self) -> Result<Exit> {
        let rules = self.position.rules()?;
        let player = self.player.player(&rules)?;
        with_game!(&rules, P => self.search::<P>(&rules, &player))
    }

    fn search<P: Game>(&self, rules: &Rules, player: &Player) -> Result<Exit> {
        let position: P = self.position.position_to_play(rules, "search the position")?;
        let key = key_of_seed(self.player.seed);
        let found = analyze(rules, &position.to_string(), player, key, &Clock::default())
            .map_err(|error| CliError::of_engine("search the position", error))?;
        let mut out = terminal::stdout();
        if self.json {
            write_json(&mut out, &Json::new(rules, player, &found))?;
        } else {
            write_text(&mut out, &position.board(), &found)?;
        }
        Ok(Exit::Success)
    }
}

impl<'a> Json<'a> {
    fn new(rules: &Rules, player: &'a Player, found: &'a Analysis) -> Self {
        let search = &found.search;
        Self {
            game: rules.name(),
            position: &found.position,
            to_move: rules.game().side(found.to_move).letter,
            player: player.parameters(),
            best_move: &found.best_move,
            numbered_move: numbered_move(rules, &found.position, &found.best_move),
            score: search.score,
            value: search.proven_value(),
            depth: search.depth,
            nodes: search.nodes,
            evaluations: search.evaluations,
            full_tree_leaves: search.full_tree_leaves,
            legal_moves: found.legal_moves,
            ended_by: search.ended_by,
            wall_us: found.wall_us,
            cpu_us: found.cpu_us,
        }
    }
}

/// A move in the numbering of the game's reference data, if any.
pub(crate) fn numbered_move(rules: &Rules, position: &str, mv: &str) -> Option<[i32; 3]> {
    with_game!(rules, G => {
        let position = G::parse(rules, position).ok()?;
        G::numbered_move(position.parse_move(mv).ok()?)
    })
}

fn write_text(out: &mut dyn std::io::Write, board: &str, found: &Analysis) -> std::io::Result<()> {
    let search = &found.search;
    writeln!(out, "{}\n", board.trim_end())?;
    writeln!(out, "best move    {} (of {})", found.best_move, found.legal_moves)?;
    writeln!(out, "score        {}", score_text(search.score))?;
    writeln!(out, "depth        {} (ended by {})", search.depth, ended_by_text(search.ended_by))?;
    writeln!(out, "nodes        {}", count(search.nodes))?;
    writeln!(out, "evaluations  {}", count(search.evaluations))?;
    writeln!(
        out,
        "time         {} ({} of processor time)",
        duration_us(found.wall_us as f64),
        duration_us(found.cpu_us as f64)
    )
}
