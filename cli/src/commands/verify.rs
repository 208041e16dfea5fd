//! `spelrum verify`: plays a sample of an experiment's games again, and tells whose do not come out the same.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::num::NonZeroU64;

use clap::Args;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand::seq::index;
use serde::Serialize;
use spelrum_engine::ENGINE_REVISION;
use spelrum_tournament::results::{ExperimentSummary, WhichGame};
use spelrum_tournament::{CellId, GameId, WorkerId};

use crate::arguments::SourceArguments;
use crate::commands::replay::Player;
use crate::error::{CliError, MessageStyle, Result};
use crate::exit::Exit;
use crate::output::{Column, TextTable, count};
use crate::replay::{RecordedGame, Replayed, recorded_game, write_check};
use crate::results::ResultsSource;

const EXAMPLES: &str = "\
Each drawn game is played again by this program on this machine, as spelrum replay does it: moves that a \
time limit ended are searched up to their recorded node counts, and what a program of others did is checked by \
the rules. A worker whose games come out otherwise has bad memory, another build or another idea of the rules. So \
run it on a machine that you trust, and that is not the only one which played. The exit code is 8 if anything \
differs.

Which games are drawn follows from the seed: another seed draws others.

Examples:
  spelrum verify --db pentago-depth.db
  spelrum verify tic-tac-toe --db tic-tac-toe.db --games 1000 --seed 2
  spelrum verify study --coordinator http://HOST:7878 --json";

/// Play a sample of an experiment's games again, and say whose differ
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Verify {
    /// The experiment, by name or UUID; not needed if there is only one
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
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Verify {
    /// Draws games, plays them again and tells what came of it.
    pub(crate) async fn run(self) -> Result<Exit> {
        let source = ResultsSource::open(&self.source).await?;
        let experiment = source.experiment(self.experiment.as_deref()).await?;
        let (drawn, unsettled) = self.draw(&source, &experiment).await?;
        if drawn.is_empty() {
            return Err(CliError::new(Exit::Input, format!("verify {}", experiment.name))
                .because("none of the drawn games has a result")
                .help("wait until more are played, or draw more: --games"));
        }
        let mut player = Player::new(drawn.len())?;
        let mut found = Found { seed: self.seed, unsettled, ..Found::of(&experiment) };
        for (worker, game) in drawn {
            match player.play_again(game).await {
                Ok(Some((game, again))) => {
                    let again = Some(again);
                    found.add(worker, Replayed { game, again, by_tables: None });
                }
                Ok(None) => return Ok(player.interrupts.exit().unwrap_or(Exit::Interrupted)),
                // Of another engine revision, or without what is needed to play it again.
                Err(error) if error.exit() == Exit::Input => found.add_unchecked(error),
                Err(error) => return Err(error),
            }
        }
        if found.workers.is_empty()
            && let Some(error) = found.unchecked
        {
            return Err(error);
        }
        let mut out = anstream::stdout().lock();
        if self.json {
            found.write_json(&mut out)?;
        } else {
            found.write(&mut out)?;
        }
        Ok(if found.different.is_empty() { Exit::Success } else { Exit::Different })
    }

    /// Games with results, and who played them; and how many drawn ones have none.
    async fn draw(
        &self,
        source: &ResultsSource,
        experiment: &ExperimentSummary,
    ) -> Result<(Vec<(Option<WorkerId>, RecordedGame)>, u64)> {
        let mut cells: Vec<(CellId, u64)> = Vec::new();
        let mut from = None;
        loop {
            let (_, page, next) = source.cells(experiment, from).await?;
            cells.extend(page.iter().map(|cell| (cell.cell, cell.games_planned)));
            if next.is_none() {
                break;
            }
            from = next;
        }
        let (mut drawn, mut unsettled) = (Vec::new(), 0);
        for game in sample(&cells, self.games.get(), self.seed) {
            match source.game(WhichGame::InCell(game)).await {
                Ok(settled) => {
                    let worker = settled.summary.worker;
                    match recorded_game(settled) {
                        Ok(game) => drawn.push((worker, game)),
                        Err(error) if error.exit() == Exit::Input => unsettled += 1,
                        Err(error) => return Err(error),
                    }
                }
                Err(error) if error.exit() == Exit::Input => unsettled += 1,
                Err(error) => return Err(error),
            }
        }
        Ok((drawn, unsettled))
    }
}

/// So many different games of cells with so many each, in the order of the cells and numbers.
fn sample(cells: &[(CellId, u64)], games: u64, seed: u64) -> Vec<GameId> {
    let fits = |games: u64| usize::try_from(games).unwrap_or(usize::MAX);
    let planned = cells.iter().fold(0_u64, |sum, (_, games)| sum.saturating_add(*games));
    let amount = fits(games.min(planned));
    let mut places =
        index::sample(&mut StdRng::seed_from_u64(seed), fits(planned), amount).into_vec();
    places.sort_unstable();
    let mut cells = cells.iter();
    let (mut cell, mut before) = (cells.next(), 0);
    let of_place = |place: usize| {
        let place = place as u64;
        loop {
            let &(id, games) = cell?;
            if place - before < games {
                return Some(GameId { cell: id, number: place - before });
            }
            before += games;
            cell = cells.next();
        }
    };
    places.into_iter().filter_map(of_place).collect()
}

/// What came of it.
#[derive(Default)]
struct Found {
    experiment: String,
    experiment_uuid: String,
    seed: u64,
    unsettled: u64,
    /// Games that were played again, and those that differ, by worker.
    workers: BTreeMap<Option<WorkerId>, (u64, u64)>,
    different: Vec<Replayed>,
    /// How many could not be played again, and why the first could not.
    not_checked: u64,
    unchecked: Option<CliError>,
}

impl Found {
    fn of(experiment: &ExperimentSummary) -> Self {
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
            different_game_ids: self.different.iter().map(|it| it.game.game_id).collect(),
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
    /// The engine that played them again.
    engine_revision: u32,
    seed: u64,
    /// Played again.
    games: u64,
    /// Drawn, and not settled or failed.
    without_result: u64,
    /// Drawn, and not to be played again here.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_different_games_of_the_plan() {
        let cells = [(CellId(3), 5), (CellId(4), 0), (CellId(9), 2)];
        let all: Vec<GameId> = sample(&cells, 7, 1);
        let numbers =
            |cell, games: u64| (0..games).map(move |number| GameId { cell: CellId(cell), number });
        assert_eq!(all, numbers(3, 5).chain(numbers(9, 2)).collect::<Vec<_>>());
        assert_eq!(sample(&cells, 100, 2), all, "there are no more");
        let some = sample(&cells, 3, 1);
        assert!(some.len() == 3 && some.is_sorted() && some.iter().all(|game| all.contains(game)));
        assert_eq!(sample(&cells, 3, 1), some);
        assert!((2..20).any(|seed| sample(&cells, 3, seed) != some));
        assert_eq!(sample(&[], 3, 1), []);
    }
}
