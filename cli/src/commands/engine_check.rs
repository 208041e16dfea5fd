//! `spelrum engine check`: starts engines of an engines file, and reports their abilities and problems.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use spelrum_report::data::write_json;

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::players::engine_check::{self, Json};
use crate::players::engines_file::EnginesArguments;
use crate::sweeps::file::SweepArguments;
use crate::sweeps::found_players::{self, Outcomes};
use crate::terminal::interrupt::Interrupts;
use crate::terminal::notices;

pub(crate) const EXAMPLES: &str = "\
Each engine is started alone, asked for some moves under each kind of limit, asked about three positions twice \
in fresh games, and told to quit. The last lines have a verdict for each: `ok`, or what is wrong and what to do. \
The exit code is 0 if all are ok, and 3 if not.

With --sweep, only what the sweep asks of its engines is tried, and held against what they can do.

JSON: engines (engine, protocol, command, ok, problem, remedy, name, author, sha256, start_ms, games, limits, \
repeats, memory_bytes, quit_ms, files, breaches, options, commands, board_sizes).

Examples:
  spelrum engine check --engines deploy/engines.toml
  spelrum engine check stockfish --engines deploy/engines.toml
  spelrum engine check --engines deploy/engines.toml --sweep sweeps/chess-engines.toml";

#[derive(Args, Debug)]
pub(crate) struct EngineCheck {
    /// The engines, by their names in the engines file [default: all of it, or those of the sweep]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    engines: EnginesArguments,
    /// Check what the players of this sweep ask of their engines
    #[arg(long, value_name = "FILE")]
    sweep: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct AllJson<'a> {
    engines: Vec<Json<'a>>,
}

impl EngineCheck {
    /// Checks, and prints the results.
    pub(crate) async fn run(self) -> Result<Exit> {
        let Some(file) = self.engines.read()? else {
            return Err(CliError::new(Exit::Usage, "check engines")
                .because("no engines file is named")
                .help("say what the engines are on this machine, and name that file: --engines FILE; docs/engines.md has an example"));
        };
        let requests = match &self.sweep {
            Some(sweep) => {
                let arguments = SweepArguments::of_file(sweep.clone());
                let sweep = found_players::read_sweep(&arguments, Outcomes::Here).await?;
                Some(engine_check::requests(&sweep.plan))
            }
            None => None,
        };
        let mut names = self.names.clone();
        if let Some(requests) = requests.as_ref().filter(|_| names.is_empty()) {
            names.extend(requests.iter().map(|request| request.engine.clone()));
            names.dedup();
            if names.is_empty() {
                notices::notify("the sweep needs no engines");
                return Ok(Exit::Success);
            }
        }
        let specs = engine_check::named(&file, &names)?;
        let interrupts = Interrupts::listen(|| notices::notify("ending the engine under check"))?;
        let checked = engine_check::check_all(specs, requests, interrupts.finish.clone()).await?;
        if let Some(signal) = interrupts.exit() {
            return Ok(signal);
        }
        let mut out = anstream::stdout().lock();
        if self.json {
            let engines = checked.iter().map(Json::from).collect();
            write_json(&mut out, &AllJson { engines })?;
        } else {
            engine_check::write_all(&checked, &mut out)?;
        }
        Ok(engine_check::exit_of(&checked))
    }
}
