//! `spelrum table`: an exact table of a chess endgame, and its counts.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;
use spelrum_engine::Problem;
use spelrum_engine::tables::{
    Endgame, EndgameTable, Longest, Metric, Progress, SideCounts, TableCounts,
};
use spelrum_report::data::write_json;
use spelrum_report::text::{Column, TextTable, count, duration_us, percent};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::endgame_tables::{Origin, TableCache};
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::waiting::while_waiting;

const EXAMPLES: &str = "\
An endgame is named by white's pieces and then black's, each with its king first: K, Q, R, B, N, P, up to \
four in all. For every position the table knows who mates and in how many plies, if who \
wins does so as fast as possible and who loses as slowly; captures and promotions lead to the table of \
the pieces that are left. There is no castling, and the rules of fifty moves and of repetition are left out.

The counts are of all legal positions, those that are the same up to symmetry each for itself; two \
like pieces count once. A win in n moves has n moves of the winner, a loss in n moves as many of \
the loser: mates are losses in 0.

A table is made once, in seconds, and kept in $XDG_CACHE_HOME/spelrum or ~/.cache/spelrum (4 MB for \
four pieces, 15 MB with pawns). It is checked by its hash whenever it is read, and made again if it is damaged.

With --metric conversion the distances are to the first capture or promotion, or to mate where it comes \
before: the side that wins hastens that, the other delays it. Where the side that loses has to convert, \
that counts as if the next move of the other were it.

JSON: endgame, metric (mate, conversion), sha256 (of the table's bytes: the same on every machine), file (null if it is not kept), \
origin (read, made), and sides, with white to move and with black: to_move (w or b), legal, wins, \
draws, losses, mates, stalemates, win_histogram_by_moves (from 1 on), loss_histogram_by_moves (from 0 \
on), longest_win and longest_loss (plies, moves, positions, and one of them as FEN: example).

Examples:
  spelrum table KRK
  spelrum table KPK
  spelrum table KQKR --metric conversion
  spelrum table KBNK --json
  spelrum table KQKR --cache /var/cache/spelrum";

/// Build an exact table of a chess endgame, and show its counts
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Table {
    /// White's pieces, then black's, such as KRK, KBNK or KQKR
    #[arg(value_name = "ENDGAME")]
    name: String,
    /// Count distances to this: mate, or conversion, the first capture or promotion or mate
    #[arg(long, value_name = "METRIC", default_value = "mate", value_parser = PossibleValuesParser::new(Metric::NAMES))]
    metric: String,
    /// Keep tables in this directory [default: $XDG_CACHE_HOME/spelrum or ~/.cache/spelrum]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache: Option<PathBuf>,
    /// Make the table anew, and keep it nowhere
    #[arg(long)]
    no_cache: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    endgame: &'a str,
    metric: &'static str,
    sha256: String,
    file: Option<String>,
    origin: &'static str,
    sides: [SideJson<'a>; 2],
}

#[derive(Serialize)]
struct SideJson<'a> {
    to_move: char,
    legal: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    mates: u64,
    stalemates: u64,
    win_histogram_by_moves: &'a [u64],
    loss_histogram_by_moves: &'a [u64],
    longest_win: Option<LongestJson<'a>>,
    longest_loss: Option<LongestJson<'a>>,
}

#[derive(Serialize)]
struct LongestJson<'a> {
    plies: u32,
    moves: u32,
    positions: u64,
    example: &'a str,
}

impl Table {
    /// Builds or reads the table, and prints.
    pub(crate) async fn run(self) -> Result<Exit> {
        let endgame: Endgame = self.name.parse().map_err(|error: Problem| {
            CliError::new(Exit::Input, "read the endgame's name")
                .because(error.what)
                .help(error.remedy)
        })?;
        let cache = match self.cache {
            Some(directory) => Some(TableCache::at(directory)),
            None if self.no_cache => None,
            None => TableCache::of_user(),
        };
        let metric = Metric::from_name(&self.metric).unwrap_or_default();
        let interrupts = Interrupts::listen(|| {})?;
        let progress: Arc<Mutex<String>> = Arc::default();
        let latest = Arc::clone(&progress);
        let progress_text = move |elapsed: Duration| {
            let progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            let elapsed = duration_us(elapsed.as_micros() as f64);
            format!("making {progress}, {elapsed}; Ctrl-C gives up")
        };
        let work = {
            let (cache, endgame) = (cache.clone(), endgame.clone());
            move || {
                let on_progress = |progress: Progress<'_>| {
                    let share = progress.decided as f64 / progress.places as f64;
                    *latest.lock().unwrap_or_else(PoisonError::into_inner) = format!(
                        "{}: {} plies from the end, {} decided",
                        progress.endgame,
                        progress.plies,
                        percent(share)
                    );
                };
                let (table, origin) = match cache {
                    Some(cache) => cache.table(&endgame, metric, on_progress),
                    None => {
                        (EndgameTable::make_by(&endgame, metric, on_progress), Origin::MadeOnly)
                    }
                };
                let counts = table.counts();
                (table, origin, counts)
            }
        };
        let Some((table, origin, counts)) = while_waiting(&interrupts, progress_text, work).await?
        else {
            return Ok(interrupts.exit().unwrap_or(Exit::Interrupted));
        };
        let file = match origin {
            Origin::Read | Origin::Made => cache.map(|cache| cache.file(&endgame, metric)),
            Origin::MadeOnly => None,
        };
        let mut out = terminal::stdout();
        if self.json {
            write_json(&mut out, &json(&table, origin, file, &counts))?;
        } else {
            write_text(&mut out, &endgame, metric, &counts)?;
        }
        Ok(Exit::Success)
    }
}

fn json<'a>(
    table: &'a EndgameTable,
    origin: Origin,
    file: Option<PathBuf>,
    counts: &'a TableCounts,
) -> Json<'a> {
    let side = |to_move, counts: &'a SideCounts| SideJson {
        to_move,
        legal: counts.legal,
        wins: counts.wins,
        draws: counts.draws,
        losses: counts.losses,
        mates: counts.mates,
        stalemates: counts.stalemates,
        win_histogram_by_moves: counts.wins_by_moves.as_slice(),
        loss_histogram_by_moves: counts.losses_by_moves.as_slice(),
        longest_win: counts.longest_win.as_ref().map(longest_json),
        longest_loss: counts.longest_loss.as_ref().map(longest_json),
    };
    let [white, black] = &counts.sides;
    Json {
        endgame: table.endgame().name(),
        metric: table.metric().name(),
        sha256: table.sha256().iter().map(|byte| format!("{byte:02x}")).collect(),
        file: file.map(|file| file.display().to_string()),
        origin: match origin {
            Origin::Read => "read",
            Origin::Made | Origin::MadeOnly => "made",
        },
        sides: [side('w', white), side('b', black)],
    }
}

fn longest_json(longest: &Longest) -> LongestJson<'_> {
    LongestJson {
        plies: longest.plies,
        moves: moves(longest),
        positions: longest.positions,
        example: &longest.fen,
    }
}

/// The number of moves of the side to move until the end.
fn moves(longest: &Longest) -> u32 {
    longest.plies.div_ceil(2)
}

fn write_text(
    out: &mut dyn Write,
    endgame: &Endgame,
    metric: Metric,
    counts: &TableCounts,
) -> io::Result<()> {
    match metric {
        Metric::Mate => writeln!(out, "{endgame}\n")?,
        Metric::Conversion => writeln!(out, "{endgame}, to conversion\n")?,
    }
    let columns =
        [Column::words(""), Column::numbers("white to move"), Column::numbers("black to move")];
    let mut table = TextTable::new(&columns);
    let mut row = |name: &str, figure: fn(&SideCounts) -> u64| {
        let cells = counts.sides.iter().map(|side| count(figure(side)));
        table.row([name.to_owned()].into_iter().chain(cells));
    };
    row("legal positions", |side| side.legal);
    row("won by the side to move", |side| side.wins);
    row("drawn", |side| side.draws);
    row("  stalemates", |side| side.stalemates);
    row("lost by the side to move", |side| side.losses);
    row("  mates", |side| side.mates);
    table.write(out)?;
    write_histograms(out, counts)?;
    for (side, name) in counts.sides.iter().zip(["white", "black"]) {
        for (longest, verb) in [(&side.longest_win, "wins"), (&side.longest_loss, "loses")] {
            let Some(longest) = longest else { continue };
            writeln!(
                out,
                "\n{name} to move {verb} in {} moves ({} plies) at most: {}, such as\n  {}",
                moves(longest),
                longest.plies,
                positions(longest.positions),
                longest.fen
            )?;
        }
    }
    Ok(())
}

fn positions(number: u64) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} position{plural}", count(number))
}

/// The number of positions won and lost by number of moves, with a column for each side that has any.
fn write_histograms(out: &mut dyn Write, counts: &TableCounts) -> io::Result<()> {
    let mut columns = vec![Column::numbers("moves")];
    let mut histograms: Vec<(&[u64], usize)> = Vec::new();
    for (side, name) in counts.sides.iter().zip(["white", "black"]) {
        // Wins take at least one move; losses can take none.
        let kinds = [(&side.wins_by_moves, "wins", 1), (&side.losses_by_moves, "loses", 0)];
        for (histogram, verb, first) in kinds {
            if !histogram.is_empty() {
                columns.push(Column::numbers(format!("{name} to move {verb}")));
                histograms.push((histogram, first));
            }
        }
    }
    let end = histograms.iter().map(|(histogram, first)| histogram.len() + first).max();
    let Some(end) = end else { return Ok(()) };
    let mut table = TextTable::new(&columns);
    for moves in 0..end {
        let cells = histograms.iter().map(|(histogram, first)| {
            let number = moves.checked_sub(*first).and_then(|place| histogram.get(place));
            number.map_or_else(String::new, |number| count(*number))
        });
        table.row([moves.to_string()].into_iter().chain(cells));
    }
    writeln!(out)?;
    table.write(out)
}
