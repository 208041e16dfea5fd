//! `spelrum network`: trains the networks of a sweep on this machine, and shows how well they learnt.

use std::io::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use spelrum_report::data::write_json;
use spelrum_report::networks::{By, NetworkJson, figures, group_recipes, write_by, write_summary};
use spelrum_report::plot::{plot_files, write_plots};
use spelrum_report::text::{count, duration_us};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::network_training::{recipes_of, train_all};
use crate::sweeps::file::SweepArguments;
use crate::sweeps::found_players::{self, Outcomes};
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::waiting::while_waiting;

const EXAMPLES: &str = "\
A network follows from its recipe: what is trained here has the weights that it has wherever the sweep \
is played, bit for bit. Networks whose recipes differ in the seed alone are one line.

An error says by how many plies to mate a network is wrong: the root of the mean square over positions \
that it did not learn from. What matters in play is whether it distinguishes good moves from bad ones, which \
only games can show: play the sweep.

JSON: name; networks: recipe, failure (null if it was trained), sha256 (the same on every machine), weights, \
runs (one for each network of a recipe: positions that there are, examples learnt from, validation, best_epoch, \
validation_error, constant_error), epochs (training_error, validation_error), sides (to_move, positions, \
mean_plies, spread, error), distances (plies, positions, error, nearer: by how many plies mate is taken for \
nearer than it is), squares (of black's king, as the network sees the board). A network that could not be trained \
ends it with code 7.

Examples:
  spelrum network sweeps/krk-networks.toml
  spelrum network sweeps/krk-networks.toml --by distance --figures figures
  spelrum network sweeps/kbnk-small.toml --set seed=2 --json > networks.json";

/// Train a sweep's networks, and show how well they learned
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Network {
    #[command(flatten)]
    sweep: SweepArguments,
    /// Also show errors by this
    #[arg(long, value_name = "WHAT", value_enum)]
    by: Option<By>,
    /// Also write learning curves and errors by distance and by square into this directory, each as an SVG file
    #[arg(long, value_name = "DIR", conflicts_with = "json")]
    figures: Option<PathBuf>,
    /// Train so many at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    slots: Option<NonZeroUsize>,
    /// Print JSON
    #[arg(long, conflicts_with = "by")]
    json: bool,
}

#[derive(Serialize)]
struct Json<'n> {
    name: &'n str,
    networks: Vec<NetworkJson<'n>>,
}

impl Network {
    /// Trains and prints.
    pub(crate) async fn run(self) -> Result<Exit> {
        let sweep = found_players::read_sweep(&self.sweep, Outcomes::Here).await?;
        let recipes = Arc::new(recipes_of(&sweep.plan));
        let total = recipes.len();
        if total == 0 {
            return Err(CliError::new(Exit::Input, "find a network in the sweep")
                .because("no player of it has the evaluation `network`")
                .help("spelrum run plays it; docs/sweeps.md says how a network is named"));
        }
        let slots = match self.slots {
            Some(slots) => slots,
            None => std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        };
        let interrupts = Interrupts::listen(|| {})?;
        let done = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&done);
        let progress_text = move |elapsed: Duration| {
            let done = count(counter.load(Ordering::Relaxed) as u64);
            let elapsed = duration_us(elapsed.as_micros() as f64);
            format!(
                "{done} of {} networks trained, {elapsed}; Ctrl-C gives up",
                count(total as u64)
            )
        };
        let work = {
            let recipes = Arc::clone(&recipes);
            move || train_all(&recipes, slots, |trained| done.store(trained, Ordering::Relaxed))
        };
        let Some(outcomes) = while_waiting(&interrupts, progress_text, work).await? else {
            return Ok(interrupts.exit().unwrap_or(Exit::Interrupted));
        };
        let outcomes = outcomes
            .map_err(|error| CliError::new(Exit::Internal, "start a thread").because(error))?;
        let mut out = terminal::stdout();
        if self.json {
            let networks = recipes
                .iter()
                .zip(&outcomes)
                .map(|(recipe, outcome)| NetworkJson::new(recipe, outcome));
            let json = Json { name: &sweep.plan.name, networks: networks.collect() };
            write_json(&mut out, &json)?;
        } else {
            let kinds = group_recipes(&recipes);
            write_summary(&mut out, &kinds, &outcomes)?;
            if let Some(by) = self.by {
                write_by(&mut out, by, &kinds, &outcomes)?;
            }
            if let Some(directory) = &self.figures {
                let about =
                    format!("{}, by spelrum {}.", sweep.plan.name, env!("CARGO_PKG_VERSION"));
                let files = plot_files(&figures(&kinds, &outcomes), None, &about)?;
                writeln!(out)?;
                write_plots(&files, directory, &mut out)?;
            }
        }
        let failed = outcomes.iter().any(std::result::Result::is_err);
        Ok(if failed { Exit::FailedGames } else { Exit::Success })
    }
}
