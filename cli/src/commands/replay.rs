//! `spelrum replay`: recorded games move by move, and whether the engine repeats them.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use spelrum_answers::WhichGame;
use spelrum_model::{CellId, GameId};
use spelrum_report::replay::{
    Plies, RecordedGame, Replayed, Rerun, recorded_game, write_check, write_game, write_json,
    write_verdict,
};
use spelrum_report::text::duration_us;

use crate::arguments::SourceArguments;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal;
use crate::terminal::interrupt::Interrupts;

use crate::local::replay::{Cells, Watch, replay_game};
use crate::results::ResultsSource;
use crate::terminal::waiting::while_waiting;

const EXAMPLES: &str = "\
The game is also played again from its cell's definition and its number, and compared with the \
record: opening, moves, depths, nodes, evaluations, scores and result. Moves that a time limit \
ended are searched up to their recorded node counts, so that they come out the same on any \
machine. The exit code is 8 if anything differs, and the first difference is named.

An external engine is not run again: its moves are checked against the rules, and the built-in player \
plays against those moves.

Plies are counted from 0, as in the database.

With --tables, each move shows how much of its position's value it kept, and which player gave away a win \
or a draw. Tables are made where they are missing, which takes a second or two; the fifty moves and \
repetition are unknown to them. JSON then has by_table in each move that a table knows: best and made, \
each with value (1, 0, -1 for who moves) and plies (to mate).

Examples:
  spelrum replay 17 --db tic-tac-toe.db
  spelrum replay --cell 2 --number 5 --db tic-tac-toe.db --from 4
  spelrum replay 1 2 3 --db tic-tac-toe.db --check-only
  spelrum replay 1 --db kbnk-networks.db --tables
  spelrum sql --db tic-tac-toe.db 'SELECT game_id FROM games ORDER BY plies DESC LIMIT 1'";

/// Show a recorded game move by move, and check that the engine repeats it
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Replay {
    /// The games, by their game_id in the database
    #[arg(value_name = "GAME_ID", required_unless_present = "cell", conflicts_with = "cell")]
    games: Vec<i64>,
    /// Instead: the game of this cell, by its cell_id …
    #[arg(long, value_name = "CELL_ID", requires = "number")]
    cell: Option<i64>,
    /// … with this number, from 0
    #[arg(long, value_name = "N", requires = "cell")]
    number: Option<u64>,
    #[command(flatten)]
    source: SourceArguments,
    /// Show this ply alone
    #[arg(long, value_name = "PLY", conflicts_with = "from")]
    ply: Option<u32>,
    /// Show the game from this ply on
    #[arg(long, value_name = "PLY")]
    from: Option<u32>,
    /// Check without showing the moves
    #[arg(long, conflicts_with_all = ["ply", "from", "no_check"])]
    check_only: bool,
    /// Show the record without playing the game again
    #[arg(long)]
    no_check: bool,
    /// Also say what exact tables know of each move, once a chess game has four pieces or fewer and no pawn: a
    /// post-mortem
    #[arg(long, conflicts_with = "check_only")]
    tables: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Replay {
    /// Reads the games, replays them one by one and prints them.
    pub(crate) async fn run(self) -> Result<Exit> {
        let source = ResultsSource::open(&self.source).await?;
        let mut games = Vec::new();
        for wanted in self.requested_games() {
            let game = recorded_game(source.game(wanted).await?)?;
            self.check_selection(&game)?;
            games.push(game);
        }
        let mut player = Player::new(games.len())?;
        let mut replayed = Vec::new();
        for game in games {
            let (game, again) = if self.no_check {
                (game, None)
            } else {
                match player.replay_game(game).await? {
                    Some((game, again)) => (game, Some(again)),
                    None => return Ok(player.interrupts.exit().unwrap_or(Exit::Interrupted)),
                }
            };
            let mut result = Replayed { game, again, by_tables: None };
            if self.tables {
                result = match player.look_up_tables(result).await? {
                    Some(result) => result,
                    None => return Ok(player.interrupts.exit().unwrap_or(Exit::Interrupted)),
                };
            }
            if !self.json {
                self.write(&result, replayed.is_empty())?;
            }
            replayed.push(result);
        }
        let mut out = terminal::stdout();
        if self.json {
            write_json(&mut out, &replayed, (!self.check_only).then(|| self.plies()))?;
        } else if self.check_only && replayed.len() > 1 {
            write_verdict(&mut out, &replayed)?;
        }
        let is_different = replayed.iter().any(Replayed::is_different);
        Ok(if is_different { Exit::Different } else { Exit::Success })
    }

    fn requested_games(&self) -> Vec<WhichGame> {
        match (self.cell, self.number) {
            (Some(cell), Some(number)) => {
                vec![WhichGame::InCell(GameId { cell: CellId(cell), number })]
            }
            _ => self.games.iter().copied().map(WhichGame::Id).collect(),
        }
    }

    fn plies(&self) -> Plies {
        match self.ply {
            Some(ply) => Plies { from: ply, before: ply.checked_add(1) },
            None => Plies { from: self.from.unwrap_or(0), before: None },
        }
    }

    /// Whether the game has the requested data.
    fn check_selection(&self, game: &RecordedGame) -> Result<()> {
        let failed = || CliError::new(Exit::Input, format!("show game {}", game.game_id));
        if self.no_check && !game.has_moves() {
            return Err(failed().because("its moves are not recorded").help(
                "omit --no-check: the engine then replays the game, if no time limit bounds its players, \
                 and shows the replay",
            ));
        }
        match (self.ply.or(self.from), game.plies().checked_sub(1)) {
            (Some(ply), Some(last)) if ply > last => Err(failed()
                .because(format!("it has no ply {ply}"))
                .help(format!("its plies have the numbers 0 to {last}"))),
            _ => Ok(()),
        }
    }

    fn write(&self, replayed: &Replayed, is_first: bool) -> Result<()> {
        let mut out = std::io::BufWriter::new(terminal::stdout());
        if self.check_only {
            write_check(&mut out, replayed)?;
        } else {
            if !is_first {
                writeln!(out)?;
            }
            write_game(&mut out, replayed, self.plies())?;
        }
        out.flush()?;
        Ok(())
    }
}

/// Replays games, showing progress.
pub(crate) struct Player {
    pub(crate) interrupts: Interrupts,
    watch: Arc<Watch>,
    cells: Cells,
    games: usize,
    game: usize,
}

impl Player {
    /// A replay of this many games.
    pub(crate) fn new(games: usize) -> Result<Self> {
        // Stops without a message, since nothing is lost.
        let interrupts = Interrupts::listen(|| {})?;
        Ok(Self { interrupts, watch: Arc::default(), cells: Cells::default(), games, game: 0 })
    }

    /// Replays a game; `None` if interrupted.
    pub(crate) async fn replay_game(
        &mut self,
        game: RecordedGame,
    ) -> Result<Option<(RecordedGame, Rerun)>> {
        self.game += 1;
        let (game_id, plies) = (game.game_id, game.plies());
        let watch = Arc::clone(&self.watch);
        let mut cells = std::mem::take(&mut self.cells);
        let progress_text = |elapsed: Duration| {
            let ply = self.watch.plies();
            let time = duration_us(elapsed.as_micros() as f64);
            let place = match self.games {
                1 => String::new(),
                games => format!(" ({} of {games})", self.game),
            };
            format!("playing game {game_id} again{place}: {ply} of {plies} plies, {time}")
        };
        let work = move || {
            let again = replay_game(&game, &mut cells, &watch);
            (game, cells, again)
        };
        let Some((game, cells, again)) =
            while_waiting(&self.interrupts, progress_text, work).await?
        else {
            self.watch.interrupt();
            return Ok(None);
        };
        self.cells = cells;
        Ok(again?.map(|again| (game, again)))
    }

    /// Looks up a game's positions in tables; `None` if interrupted.
    async fn look_up_tables(&self, mut replayed: Replayed) -> Result<Option<Replayed>> {
        let game_id = replayed.game.game_id;
        let progress_text = |elapsed: Duration| {
            let time = duration_us(elapsed.as_micros() as f64);
            format!("looking game {game_id} up in exact tables, {time}")
        };
        let work = move || replayed.ask_tables().map(|()| replayed);
        Ok(while_waiting(&self.interrupts, progress_text, work).await?.transpose()?)
    }
}
