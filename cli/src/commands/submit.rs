//! `spelrum submit`: gives a coordinator a sweep, or says what that would mean.

use std::io::Write as _;

use clap::Args;
use serde::Serialize;

use crate::arguments::CoordinatorArguments;
use crate::calibration::{self, Estimate};
use crate::error::Result;
use crate::exit::Exit;
use crate::output::{count, write_json};
use crate::progress;
use crate::remote;
use crate::sweep_file::{SweepArguments, SweepFile};

const EXAMPLES: &str = "\
Submitting the same file twice is safe: the second time changes nothing.

JSON: experiment_uuid, name, cells, games, existed; with --dry-run: name, game, cells, games, pairs, \
openings, slots, seconds, seconds_at_least, bytes.

Examples:
  spelrum submit sweeps/pentago-depth.toml --dry-run       (needs no coordinator)
  spelrum submit sweeps/pentago-depth.toml --dry-run --set depth=1..6 --set games=1000
  spelrum submit sweeps/pentago-depth.toml --coordinator http://127.0.0.1:7878";

/// Give a coordinator a sweep to play
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Submit {
    #[command(flatten)]
    sweep: SweepArguments,
    #[command(flatten)]
    coordinator: CoordinatorArguments,
    /// Only say what the sweep would play: cells, games, openings, time and bytes
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json<'a> {
    experiment_uuid: &'a str,
    name: &'a str,
    cells: u64,
    games: u64,
    existed: bool,
}

impl Submit {
    /// Submits, or only says what would be.
    pub(crate) async fn run(self) -> Result<Exit> {
        let sweep = SweepFile::read(&self.sweep)?;
        if let Some(quickened) = &sweep.quickened {
            progress::say(quickened);
        }
        let mut out = anstream::stdout().lock();
        if self.dry_run {
            let estimate = calibration::estimate(&sweep.plan)?;
            if self.json {
                write_json(&mut out, &estimate)?;
            } else {
                dry_run_text(&sweep, &estimate, &mut out)?;
            }
            return Ok(Exit::Success);
        }
        let mut client = remote::connect(&self.coordinator).await?;
        let answer = remote::submit(&mut client, &sweep).await?;
        if self.json {
            let json = Json {
                experiment_uuid: &answer.experiment_uuid,
                name: &answer.name,
                cells: answer.cells,
                games: answer.games,
                existed: answer.existed,
            };
            write_json(&mut out, &json)?;
        } else if answer.existed {
            writeln!(out, "{} was submitted before; nothing has changed", answer.name)?;
        } else {
            writeln!(
                out,
                "submitted {}: {} games in {} cells",
                answer.name,
                count(answer.games),
                count(answer.cells),
            )?;
        }
        Ok(Exit::Success)
    }
}

fn dry_run_text(
    sweep: &SweepFile,
    estimate: &Estimate,
    out: &mut dyn std::io::Write,
) -> std::io::Result<()> {
    writeln!(out, "{} would play {}", sweep.plan.name, sweep.plan.game)?;
    for (what, value) in estimate.lines() {
        writeln!(out, "  {what:<9} {value}")?;
    }
    Ok(())
}
