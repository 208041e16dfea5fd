//! `spelrum verify`: replays a sample of an experiment's games, and reports workers whose results differ.

mod on_workers;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroU64;

use clap::Args;
use serde::Serialize;
use spelrum_answers::{CellsPage, ExperimentSummary, WhichGame};
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::{CellId, WorkerId, draw};
use spelrum_report::Kind;
use spelrum_report::replay::{RecordedGame, Replayed, recorded_game, write_check};
use spelrum_report::text::{Column, TextTable, count};

use crate::arguments::SourceArguments;
use crate::commands::replay::Player;
use crate::error::{CliError, MessageStyle, Result};
use crate::exit::Exit;
use crate::remote::connection::connect_to;
use crate::results::{ResultsSource, coordinator};
use crate::terminal;
use crate::terminal::waiting::Waiting;

/// The most games that a coordinator draws at once.
const GAMES_MAX: u32 = 10_000;

/// The action of --on-workers, for messages.
const VERIFY_ON_WORKERS: &str = "verify games on workers";

const EXAMPLES: &str = "\
Each drawn game is played again by this program on this machine, as spelrum replay does it: moves that a \
time limit ended are searched up to their recorded node counts, and what an external engine did is checked by \
the rules. A worker whose games differ has bad memory, another build or other rules, so run this on a machine \
that you trust and that did not play all the games. The exit code is 8 if anything differs.

With --on-workers the coordinator hands the drawn games to its workers instead, each to a worker other than \
the one that played it, and stores the results: if two results differ, one of the two workers is wrong. \
Games that were verified \
before are not played again. A restarted worker counts as a new one.

The seed determines which games are drawn.

Examples:
  spelrum verify --db pentago-depth.db
  spelrum verify tic-tac-toe --db tic-tac-toe.db --games 1000 --seed 2
  spelrum verify study --coordinator http://HOST:7878 --json
  spelrum verify study --on-workers --games 1000 --coordinator http://HOST:7878";

/// Replay a random sample of games and report workers whose results differ
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Verify {
    /// The experiment's name or UUID, a results database, or a sweep that was run here; may be left out if there is
    /// only one
    #[arg(value_name = "EXPERIMENT")]
    experiment: Option<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// How many games to draw
    #[arg(long, value_name = "N", default_value = "100")]
    games: NonZeroU64,
    /// Draws other games
    #[arg(long, value_name = "N", default_value = "1")]
    seed: u64,
    /// Let other workers of the coordinator play them than those that played
    #[arg(long)]
    on_workers: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Verify {
    /// Draws games, replays them and reports the result.
    pub(crate) async fn run(self) -> Result<Exit> {
        if self.on_workers {
            if self.source.db.is_some() {
                return Err(CliError::new(Exit::Usage, VERIFY_ON_WORKERS)
                    .because("a coordinator orders its workers, and --db names a file")
                    .help("name the coordinator that has it: --coordinator URL"));
            }
            coordinator(&self.source, VERIFY_ON_WORKERS)?;
        }
        let (source, experiment) =
            ResultsSource::open_experiment(&self.source, self.experiment.as_deref()).await?;
        if self.on_workers {
            return self.on_workers(experiment).await;
        }
        let mut waiting = Waiting::start();
        // Drawing from a distant coordinator takes a while.
        let drawn = self.draw(&source, &experiment, &mut waiting).await;
        waiting.end();
        let (drawn, unsettled) = drawn?;
        if drawn.is_empty() {
            return Err(CliError::new(Exit::Input, format!("verify {}", experiment.name))
                .because("none of the drawn games has a result")
                .help("wait until more are played, or draw more: --games"));
        }
        let mut player = Player::new(drawn.len())?;
        let mut found = Found { seed: self.seed, unsettled, ..Found::new(&experiment) };
        for (worker, game) in drawn {
            match player.replay_game(game).await {
                Ok(Some((game, again))) => {
                    let again = Some(again);
                    found.add(worker, Replayed { game, again, by_tables: None });
                }
                Ok(None) => return Ok(player.interrupts.exit().unwrap_or(Exit::Interrupted)),
                // Another engine revision, or something is missing for the replay.
                Err(error) if error.exit() == Exit::Input => found.add_unchecked(error),
                Err(error) => return Err(error),
            }
        }
        if found.workers.is_empty()
            && let Some(error) = found.unchecked
        {
            return Err(error);
        }
        let mut out = terminal::stdout();
        if self.json {
            found.write_json(&mut out)?;
        } else {
            found.write(&mut out)?;
        }
        Ok(if found.different.is_empty() { Exit::Success } else { Exit::Different })
    }

    /// Has workers replay the drawn games.
    async fn on_workers(&self, experiment: ExperimentSummary) -> Result<Exit> {
        let games = u32::try_from(self.games.get()).ok().filter(|games| *games <= GAMES_MAX);
        let Some(games) = games else {
            return Err(CliError::new(Exit::Usage, VERIFY_ON_WORKERS)
                .because(format!("--games is {}", count(self.games.get())))
                .help(format!("draw at most {} at once", count(GAMES_MAX.into()))));
        };
        let target = coordinator(&self.source, VERIFY_ON_WORKERS)?;
        let client = connect_to(&target).await?;
        let order = on_workers::Order {
            experiment: experiment.uuid,
            name: experiment.name,
            games,
            seed: self.seed,
        };
        let verified = match on_workers::verify(&client, order).await? {
            Ok(verified) => verified,
            Err(exit) => return Ok(exit),
        };
        let mut out = terminal::stdout();
        if self.json {
            verified.write_json(&mut out)?;
        } else {
            verified.write(&mut out)?;
        }
        Ok(verified.exit())
    }

    /// Games with results and their workers, and the number of drawn games without a result.
    async fn draw(
        &self,
        source: &ResultsSource,
        experiment: &ExperimentSummary,
        waiting: &mut Waiting,
    ) -> Result<(Vec<(Option<WorkerId>, RecordedGame)>, u64)> {
        let mut cells: Vec<(CellId, u64)> = Vec::new();
        let mut from = None;
        loop {
            let CellsPage { cells: page, next, .. } = source.cells(experiment, from).await?;
            cells.extend(page.iter().map(|cell| (cell.cell, cell.games_planned)));
            waiting.tick(|_| format!("looking at {} cells", count(cells.len() as u64)));
            if next.is_none() {
                break;
            }
            from = next;
        }
        let (mut drawn, mut unsettled) = (Vec::new(), 0);
        let sample = draw(&cells, self.games.get(), self.seed);
        let total = count(sample.len() as u64);
        for (place, game) in (1..).zip(sample) {
            waiting.tick(|_| format!("fetching game {} of {total}", count(place)));
            match source.game(WhichGame::InCell(game)).await {
                Ok(settled) => {
                    let worker = settled.summary.worker;
                    match recorded_game(settled) {
                        Ok(game) => drawn.push((worker, game)),
                        Err(error) if error.kind == Kind::Input => unsettled += 1,
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(error) if error.exit() == Exit::Input => unsettled += 1,
                Err(error) => return Err(error),
            }
        }
        Ok((drawn, unsettled))
    }
}

/// The result of a verification.
#[derive(Default)]
struct Found {
    experiment: String,
    experiment_uuid: String,
    seed: u64,
    unsettled: u64,
    /// Replayed games, and those that differ, by worker.
    workers: BTreeMap<Option<WorkerId>, (u64, u64)>,
    different: Vec<Replayed>,
    /// The number of games that could not be replayed, and the error of the first.
    not_checked: u64,
    unchecked: Option<CliError>,
}

impl Found {
    fn new(experiment: &ExperimentSummary) -> Self {
        let (experiment, experiment_uuid) = (experiment.name.clone(), experiment.uuid.clone());
        Self { experiment, experiment_uuid, ..Self::default() }
    }

    fn add(&mut self, worker: Option<WorkerId>, replayed: Replayed) {
        let (games, different) = self.workers.entry(worker).or_default();
        *games += 1;
        if replayed.is_different() {
            *different += 1;
            self.different.push(replayed);
        }
    }

    fn add_unchecked(&mut self, error: CliError) {
        self.not_checked += 1;
        self.unchecked.get_or_insert(error);
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for replayed in &self.different {
            write_check(out, replayed)?;
            writeln!(out)?;
        }
        let columns = [
            Column::numbers("worker"),
            Column::numbers("games"),
            Column::numbers("same"),
            Column::numbers("different"),
        ];
        let mut table = TextTable::new(&columns);
        let (mut same, mut different) = (0, 0);
        for (worker, &(games, differ)) in &self.workers {
            let worker = worker.map_or_else(String::new, |worker| worker.to_string());
            table.row([worker, count(games), count(games - differ), count(differ)]);
            same += games - differ;
            different += differ;
        }
        table.write(out)?;
        writeln!(out)?;
        let Self { experiment, unsettled, not_checked, .. } = self;
        let (same, different) = (count(same), count(different));
        writeln!(out, "{experiment}, played again: {same} the same, {different} different")?;
        if *unsettled > 0 {
            writeln!(out, "{} of the drawn games have no result", count(*unsettled))?;
        }
        if let Some(error) = &self.unchecked {
            let why = error.message(MessageStyle::Plain).unwrap_or_default();
            let why = why.lines().next().unwrap_or_default().trim_start_matches("error: ");
            writeln!(out, "{} could not be played again: {why}", count(*not_checked))?;
        }
        Ok(())
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let workers = self.workers.iter().map(|(worker, &(games, different))| JsonWorker {
            worker_id: worker.map(|worker| worker.0),
            games,
            different,
        });
        let json = Json {
            experiment: &self.experiment,
            experiment_uuid: &self.experiment_uuid,
            engine_revision: ENGINE_REVISION,
            seed: self.seed,
            games: self.workers.values().map(|(games, _)| games).sum(),
            without_result: self.unsettled,
            not_checked: self.not_checked,
            different_game_ids: self
                .different
                .iter()
                .map(|replayed| replayed.game.game_id)
                .collect(),
            workers: workers.collect(),
        };
        serde_json::to_writer_pretty(&mut *out, &json)?;
        writeln!(out)
    }
}

#[derive(Serialize)]
struct Json<'a> {
    experiment: &'a str,
    experiment_uuid: &'a str,
    /// The revision of the engine that replayed them.
    engine_revision: u32,
    seed: u64,
    /// Replayed games.
    games: u64,
    /// Drawn games that are not settled, or failed.
    without_result: u64,
    /// Drawn games that cannot be replayed here.
    not_checked: u64,
    different_game_ids: Vec<i64>,
    workers: Vec<JsonWorker>,
}

#[derive(Serialize)]
struct JsonWorker {
    worker_id: Option<i64>,
    games: u64,
    different: u64,
}
