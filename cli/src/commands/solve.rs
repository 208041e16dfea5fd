//! `spelrum solve`: the exact value of a position, and every move that keeps it.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use spelrum_engine::search::Limits;
use spelrum_engine::{
    EndedBy, Game, Host, Rules, Side, SolveError, Solved, parse_duration_us, solve, with_game,
};
use spelrum_report::data::write_json;
use spelrum_report::text::{count, duration_us, ended_by_text};

use super::analyze::numbered_move;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::clock::Patience;
use crate::players::position::PositionArguments;
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::notices::notify;
use crate::terminal::waiting::while_waiting;

const EXAMPLES: &str = "\
The value is that of play without a mistake on either side, to the end of the game. In Pentago \
nearly every position of 20 marbles or more is solved within a second, and of 19 within a few. \
With 18 or fewer most are, those won or lost within some ten plies, and the others may take for \
ever: give a limit. A limit that ends the solving leaves the value unknown (in JSON `value`, \
`optimal_moves` and `moves` are null). A won position of so few marbles is shown with the winning \
moves found, and so is one whose other moves a limit left unknown: `optimal_moves` is null then.

In chess, endings of up to four pieces are answered from their tables (`spelrum table`), \
without a search: the moves are those that mate soonest, or are mated latest. Where the fifty moves may end \
the game before that, and in other positions of chess, mate is searched for, and found only where it is near.

JSON, with the keys of the reference data: game, board, to_move (w or b), stones (Pentago), value \
(1, 0, -1 for the side to move), plies_to_mate (from a table; 0 where it is mate), legal_moves, optimal_moves (how many), optimal_moves_x8 (Pentago: \
where a placement that makes five counts eight times), optimal_list (Pentago: cell, quadrant, \
direction), moves (the same in the game's notation), nodes, ended_by, wall_us, cpu_us.

Examples:
  spelrum solve tic-tac-toe
  spelrum solve pentago --position bw....b..ww.wb.wwbbwwb...bbb...w..bw
  spelrum solve pentago --position bwbbw.wwwbww.b.w....w.bwb.bbwb.wbb.w --json
  spelrum solve nim --rule heaps=[3,4,5] --time 10s
  spelrum solve chess --position '8/8/8/8/8/2k5/1R6/K7 w - - 0 1'";

/// Find the exact value of a position and every move that reaches it
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Solve {
    #[command(flatten)]
    position: PositionArguments,
    /// Give up after making so many nodes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Give up after so long, such as 500ms or 10s
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Keys and encoding are those of the reference data.
#[derive(Serialize)]
struct Json<'a> {
    game: &'static str,
    board: &'a str,
    to_move: char,
    /// Pentago: marbles on the board.
    #[serde(skip_serializing_if = "Option::is_none")]
    stones: Option<u32>,
    value: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plies_to_mate: Option<u32>,
    legal_moves: u32,
    optimal_moves: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal_moves_x8: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal_list: Option<Vec<[i32; 3]>>,
    moves: Option<&'a [String]>,
    nodes: u64,
    ended_by: EndedBy,
    wall_us: u64,
    cpu_us: u64,
}

/// The output.
struct Report {
    board: String,
    stones: Option<u32>,
    to_move: Side,
    legal_moves: u32,
    solved: Option<Solved>,
    nodes: u64,
    ended_by: EndedBy,
    wall_us: u64,
    cpu_us: u64,
}

impl Solve {
    /// Solves and prints.
    pub(crate) async fn run(self) -> Result<Exit> {
        let rules = self.position.rules()?;
        with_game!(&rules, P => self.solve::<P>(&rules).await)
    }

    async fn solve<P: Game>(&self, rules: &Rules) -> Result<Exit> {
        let position: P = self.position.position_to_play(rules, "solve the position")?;
        let limits = Limits { nodes: self.nodes, move_time_us: self.time, ..Limits::default() };
        let interrupts = Interrupts::listen(|| {})?;
        if !position.is_solved_soon() && position.table_solution().is_none() {
            notify("so many cells are empty that this may take very long; Ctrl-C gives up");
        }
        let given_up: Arc<AtomicBool> = Arc::default();
        let host = Patience::new(&given_up);
        let work = {
            let (rules, board) = (rules.clone(), position.to_string());
            move || {
                let begun = (host.wall(), host.cpu());
                let solved = solve(&rules, &board, &limits, &host);
                let us = |now: Duration, then: Duration| {
                    u64::try_from(now.saturating_sub(then).as_micros()).unwrap_or(u64::MAX)
                };
                (solved, us(host.wall(), begun.0), us(host.cpu(), begun.1))
            }
        };
        let progress_text = |elapsed: Duration| {
            format!("solving, {}; Ctrl-C gives up", duration_us(elapsed.as_micros() as f64))
        };
        let interrupted = || Ok(interrupts.exit().unwrap_or(Exit::Interrupted));
        let Some((solved, wall_us, cpu_us)) =
            while_waiting(&interrupts, progress_text, work).await?
        else {
            given_up.store(true, Ordering::Relaxed);
            return interrupted();
        };
        let (solved, nodes, ended_by) = match solved {
            Ok(solved) => {
                let nodes = solved.nodes;
                (Some(solved), nodes, EndedBy::Proven)
            }
            Err(SolveError::Limit { limit, nodes }) => (None, nodes, limit),
            Err(SolveError::Aborted) => return interrupted(),
            Err(SolveError::Memory(refused)) => {
                let error = CliError::new(Exit::Input, "solve the position");
                return Err(error.help(refused.remedy()).because(refused));
            }
            Err(error @ SolveError::Position(_)) => {
                return Err(CliError::new(Exit::Internal, "solve the position").because(error));
            }
        };
        let report = Report {
            board: position.to_string(),
            stones: position.stones(),
            to_move: position.to_move(),
            legal_moves: position.legal_move_count(),
            solved,
            nodes,
            ended_by,
            wall_us,
            cpu_us,
        };
        let mut out = terminal::stdout();
        if self.json {
            write_json(&mut out, &report.json(rules))?;
        } else {
            writeln!(out, "{}\n", position.board().trim_end())?;
            report.write_text(&mut out)?;
        }
        Ok(Exit::Success)
    }
}

impl Report {
    fn json(&self, rules: &Rules) -> Json<'_> {
        let moves = self.solved.as_ref().map(|solved| solved.optimal_moves.as_slice());
        let are_all = self.solved.as_ref().is_some_and(|solved| solved.are_all);
        let list: Option<Vec<[i32; 3]>> = moves.and_then(|moves| {
            moves.iter().map(|mv| numbered_move(rules, &self.board, mv)).collect()
        });
        Json {
            game: rules.name(),
            board: &self.board,
            to_move: rules.game().side(self.to_move).letter,
            stones: self.stones,
            value: self.solved.as_ref().map(|solved| solved.value),
            plies_to_mate: self.solved.as_ref().and_then(|solved| solved.plies_to_mate),
            legal_moves: self.legal_moves,
            optimal_moves: moves.filter(|_| are_all).map(<[String]>::len),
            optimal_moves_x8: list.as_ref().filter(|_| are_all).map(|moves| {
                moves.iter().map(|[_, quadrant, _]| if *quadrant < 0 { 8 } else { 1 }).sum()
            }),
            optimal_list: list,
            moves,
            nodes: self.nodes,
            ended_by: self.ended_by,
            wall_us: self.wall_us,
            cpu_us: self.cpu_us,
        }
    }

    fn write_text(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        /// The most moves shown: more would hide the important ones; JSON has them all.
        const MOVES_SHOWN: usize = 16;
        let legal = self.legal_moves;
        match &self.solved {
            None => {
                let limit = ended_by_text(self.ended_by);
                writeln!(out, "value          unknown: {limit} ended the solving")?;
            }
            Some(solved) => {
                let value = match solved.value {
                    1 => "1: a win",
                    0 => "0: a draw",
                    _ => "-1: a loss",
                };
                writeln!(out, "value          {value} for the side to move")?;
                if let Some(plies) = solved.plies_to_mate {
                    let plies =
                        if plies == 1 { "1 ply".to_owned() } else { format!("{plies} plies") };
                    writeln!(out, "mate           in {plies}, by the table")?;
                }
                let moves = &solved.optimal_moves;
                let shown = &moves[..moves.len().min(MOVES_SHOWN)];
                let at_least = if solved.are_all { "" } else { "at least " };
                writeln!(
                    out,
                    "optimal moves  {at_least}{} of {legal}: {}{}",
                    moves.len(),
                    shown.join(" "),
                    { if shown.len() < moves.len() { " … (all with --json)" } else { "" } }
                )?;
            }
        }
        writeln!(out, "nodes          {}", count(self.nodes))?;
        writeln!(
            out,
            "time           {} ({} of processor time)",
            duration_us(self.wall_us as f64),
            duration_us(self.cpu_us as f64)
        )
    }
}

/// Parses a time limit, in microseconds.
fn time(text: &str) -> std::result::Result<u64, String> {
    let us = parse_duration_us(text).ok_or("write it like 500ms or 10s")?;
    match us {
        0 => Err("it must be longer than nothing".to_owned()),
        us => Ok(us),
    }
}
