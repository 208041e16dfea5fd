//! `spelrum games`: an experiment's games, for other programs and for people.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use spelrum_answers::ExperimentSummary;
use spelrum_engine::{GameInfo, Rules};
use spelrum_report::data::{NewFile, RowsFormat, not_for_a_terminal};
use spelrum_report::games::{
    Pgn, PositionForm, Positions, Rows, Text, WhichPositions, WriteGames, WrittenGames,
};
use spelrum_report::text::count;

use crate::arguments::SourceArguments;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::results::ResultsSource;
use crate::results::{AxisPlace, Wanted, follow_games, write_games};
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::notices;

const EXAMPLES: &str = "\
By cell in the grid's order, then by number; those that count, unless --uncounted is given. Any number of \
games is written as it is read.

text is like chess's PGN: headers in brackets, then the moves in the game's notation and the result, 1-0 if \
who moved first has won. pgn is chess's PGN itself, for chess alone. csv, jsonl and parquet have one row for each game, with its moves as one text. positions has a line \
for each position that was searched, POSITION | SCORE | RESULT, for those who train evaluations. \
docs/export.md has all forms. Games whose moves are not stored say so.

With --follow games come as they are settled, those that are there first, until the experiment is over; \
Ctrl-C ends it sooner. A file is then written as they come, and one of this name is not replaced: games \
are written behind what it has.

To take whole experiments to another database: spelrum export.

Examples:
  spelrum games --db tic-tac-toe.db
  spelrum games pentago-depth --db pentago-depth.db --axis depth=3 --player genetic --searches
  spelrum games --db pentago-depth.db --format csv --output games.csv
  spelrum games pentago-depth --coordinator http://127.0.0.1:7878 --format jsonl
  spelrum games chess-engines --db chess-engines.db --format pgn --searches --follow >>games.pgn
  spelrum games chess-engines --db chess-engines.db --format positions --quiet-positions --once --score-max 2000";

/// Write an experiment's games as PGN, text, CSV or JSON lines
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Games {
    /// The experiment's name or UUID, a results database, or a sweep that was run here; may be left out if there is
    /// only one
    experiment: Option<String>,
    #[command(flatten)]
    source: SourceArguments,
    #[cfg_attr(
        feature = "parquet",
        doc = "How to write them: text, pgn (of chess), csv, jsonl (an object in each line), parquet or positions"
    )]
    #[cfg_attr(
        not(feature = "parquet"),
        doc = "How to write them: text, pgn (of chess), csv, jsonl (an object in each line) or positions"
    )]
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value_t = Format::Text,
        hide_possible_values = true
    )]
    format: Format,
    /// Write to this file, once all games are there; one of this name is replaced
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Keep running, and write each game as it is settled
    #[arg(long, short)]
    follow: bool,
    /// Include the search behind each move: depth, score, nodes and time
    #[arg(long)]
    searches: bool,
    /// Only games of this cell, by its cell_id; may be given again
    #[arg(long = "cell", value_name = "CELL_ID")]
    cells: Vec<i64>,
    /// Only games of this player, by its name in the sweep; may be given again
    #[arg(long = "player", value_name = "NAME")]
    players: Vec<String>,
    /// Only games of cells with this value on the axis; may be given again, for other values too
    #[arg(long = "axis", value_name = "AXIS=VALUE")]
    places: Vec<AxisPlace>,
    /// Also games that do not count, each with its reason, and those that failed
    #[arg(long)]
    uncounted: bool,
    #[command(flatten)]
    positions: PositionArguments,
}

/// Which positions are written.
#[derive(Args, Debug)]
#[command(next_help_heading = "With --format positions or bulletformat")]
struct PositionArguments {
    /// Leave out the positions before this ply from the opening
    #[arg(long, value_name = "PLY")]
    from_ply: Option<u32>,
    /// Leave out positions with greater scores, for either side; wins and losses that were found are always left out
    #[arg(long, value_name = "SCORE")]
    score_max: Option<u32>,
    /// Only positions of chess that are not in check and whose move neither captures nor promotes
    #[arg(long)]
    quiet_positions: bool,
    /// Each position once, up to symmetry
    #[arg(long)]
    once: bool,
}

impl PositionArguments {
    /// Which positions the arguments ask for.
    fn which(&self) -> WhichPositions {
        let Self { from_ply, score_max, quiet_positions: only_quiet, once } = *self;
        WhichPositions { from_ply: from_ply.unwrap_or(0), score_max, only_quiet, once }
    }

    /// The first of them that is given.
    fn given(&self) -> Option<&'static str> {
        let given = [
            (self.from_ply.is_some(), "--from-ply"),
            (self.score_max.is_some(), "--score-max"),
            (self.quiet_positions, "--quiet-positions"),
            (self.once, "--once"),
        ];
        given.into_iter().find_map(|(is_given, name)| is_given.then_some(name))
    }
}

/// How games are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Headers and moves
    Text,
    /// Portable Game Notation, of chess
    Pgn,
    /// CSV with a heading line (RFC 4180)
    Csv,
    /// A JSON object in each line
    Jsonl,
    /// A Parquet file
    #[cfg_attr(not(feature = "parquet"), value(hide = true))]
    Parquet,
    /// A position in each line
    Positions,
    /// Positions of chess for bullet's trainer, 32 bytes each
    Bulletformat,
}

impl Games {
    /// The writer for games in the chosen format.
    fn writer(
        &self,
        experiment: &ExperimentSummary,
        out: impl Write + Send + 'static,
    ) -> Box<dyn WriteGames> {
        let searches = self.searches;
        let is_its = |game: &&GameInfo| game.name == experiment.game;
        let margins =
            Rules::games().into_iter().find(is_its).is_some_and(|game| game.margin.is_some());
        let rows = match self.format {
            Format::Text => return Box::new(Text { out, searches }),
            Format::Pgn => return Box::new(Pgn::new(out, searches)),
            Format::Positions | Format::Bulletformat => {
                let form = match self.format == Format::Bulletformat {
                    true => PositionForm::Bulletformat,
                    false => PositionForm::Line,
                };
                let (which, seen) = (self.positions.which(), HashSet::new());
                return Box::new(Positions { out, form, which, seen });
            }
            Format::Csv => RowsFormat::Csv,
            Format::Jsonl => RowsFormat::Jsonl,
            Format::Parquet => RowsFormat::Parquet,
        };
        Box::new(Rows::new(rows, searches, margins, out))
    }

    /// Reads and writes.
    pub(crate) async fn run(self) -> Result<Exit> {
        let are_positions = matches!(self.format, Format::Positions | Format::Bulletformat);
        let binary = match self.format {
            Format::Parquet => Some("Parquet"),
            Format::Bulletformat => Some("bulletformat"),
            Format::Text | Format::Pgn | Format::Csv | Format::Jsonl | Format::Positions => None,
        };
        if let Some(format) = binary
            && self.output.is_none()
            && io::stdout().is_terminal()
        {
            return Err(not_for_a_terminal(format).into());
        }
        if let Some(name) = self.positions.given().filter(|_| !are_positions) {
            return Err(CliError::new(Exit::Input, "write games")
                .because(format!("{name} chooses positions, and whole games are written"))
                .help("add --format positions"));
        }
        if self.follow {
            return self.follow().await;
        }
        let written = match &self.output {
            None => self.write(BufWriter::new(terminal::data_stdout())).await?,
            Some(path) => {
                let (new, file) = NewFile::create(path)?;
                let written = self.write(BufWriter::new(file)).await?;
                new.finish()?;
                written
            }
        };
        remark(written);
        Ok(Exit::Success)
    }

    fn wanted(&self) -> Wanted {
        Wanted {
            cells: self.cells.clone(),
            players: self.players.clone(),
            places: self.places.clone(),
            uncounted: self.uncounted,
        }
    }

    /// Writes games as they are settled, until the experiment or the reader ends.
    async fn follow(&self) -> Result<Exit> {
        const ACTION: &str = "follow games";
        if self.format == Format::Parquet {
            return Err(CliError::new(Exit::Input, ACTION)
                .because("a Parquet file can be read only once it is whole")
                .help("choose --format csv or jsonl, or leave --follow out"));
        }
        let out: Box<dyn Write + Send> = match &self.output {
            None => terminal::data_stdout(),
            Some(path) => {
                let file = File::options().append(true).create(true).open(path);
                Box::new(file.map_err(|error| {
                    let action = format!("write {}", path.display());
                    CliError::new(Exit::Input, action).because(error)
                })?)
            }
        };
        let (source, experiment) =
            ResultsSource::open_experiment(&self.source, self.experiment.as_deref()).await?;
        let (wanted, mut written) = (self.wanted(), WrittenGames::default());
        let mut writer = self.writer(&experiment, BufWriter::new(out));
        let interrupts = Interrupts::listen(|| {})?;
        let exit = tokio::select! {
            followed = follow_games(&source, &experiment, &wanted, &mut *writer, &mut written) => {
                followed.map(|()| Exit::Success)?
            }
            () = interrupts.finish.cancelled() => interrupts.exit().unwrap_or(Exit::Interrupted),
        };
        writer.finish()?;
        remark(written);
        Ok(exit)
    }

    async fn write(&self, out: impl Write + Send + 'static) -> Result<WrittenGames> {
        let (source, experiment) =
            ResultsSource::open_experiment(&self.source, self.experiment.as_deref()).await?;
        let wanted = self.wanted();
        let mut writer = self.writer(&experiment, out);
        write_games(&source, &experiment, &wanted, &mut *writer).await
    }
}

/// Notes if there are no games, or moves are not stored.
fn remark(written: WrittenGames) {
    let WrittenGames { games, without_moves } = written;
    if games == 0 {
        notices::notify("note: there are no such games yet");
    } else if without_moves > 0 {
        notices::notify(&format!(
            "note: the moves of {} of these {} games are not stored (record = \"games\", or pruned); spelrum \
             replay plays such a game again",
            count(without_moves),
            count(games)
        ));
    }
}
