//! `spelrum speed`: this machine's search speed, as measured by a worker.

use std::io::Write as _;
use std::num::NonZeroU32;

use clap::Args;
use serde::Serialize;
use spelrum_engine::{Rules, with_game};
use spelrum_model::speed::Speed;
use spelrum_report::data::write_json;
use spelrum_report::text::{Column, TextTable, count, percent};
use spelrum_worker::measured_speed;

use crate::arguments::{SlotsArguments, describe_slots, slots_from_text};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::terminal;

const EXAMPLES: &str = "\
A worker measures the same before it plays games whose time limits are scaled, and again every ten \
minutes: a plain alpha-beta search with the game's default evaluation, by the clock, on all quiet \
slots at once (on all slots where none is quiet), for half a second. The noise is by how much that \
differed between spells of 50 ms and between slots.

Take the speed of the machine that limits are meant for, and write it into the sweep:

  [timing]
  reference_speed = 30_000_000

Time limits then last longer on slower machines and shorter on faster ones, so that all of them \
search about the same number of nodes.

JSON: speeds (game, nodes_per_second, noise, slots).

Examples:
  spelrum speed
  spelrum speed pentago --quiet-slots 1
  spelrum speed pentago --json";

/// Measure this machine's search speed, for scaled time limits
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SpeedOf {
    /// The game [default: every game]
    game: Option<String>,
    /// As of a worker that plays so many games at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = slots_from_text)]
    slots: Option<NonZeroU32>,
    /// How many of its slots are quiet; 0 measures on all of them [default: as many as this machine
    /// can have]
    #[arg(long, value_name = "N")]
    quiet_slots: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The error of a failed measurement of this machine's speed at a game.
pub(crate) fn speed_unmeasured(game: &str) -> CliError {
    CliError::new(Exit::Internal, format!("measure the speed of {game}"))
        .because("the system gave no threads for it")
        .help("use fewer slots, or raise the limit on threads")
}

#[derive(Serialize)]
struct Json<'a> {
    speeds: Vec<JsonSpeed<'a>>,
}

#[derive(Serialize)]
struct JsonSpeed<'a> {
    game: &'a str,
    nodes_per_second: u64,
    /// As a share of the speed.
    noise: f64,
    slots: u32,
}

impl SpeedOf {
    /// Measures and prints.
    pub(crate) fn run(self) -> Result<Exit> {
        let rules = match &self.game {
            Some(game) => vec![Rules::from_name(game).map_err(|error| {
                CliError::new(Exit::Input, "measure the speed of a game")
                    .because(error.what)
                    .help(error.remedy)
            })?],
            None => with_game!(each G => Rules::usual::<G>()).to_vec(),
        };
        let arguments = SlotsArguments::new(self.slots, self.quiet_slots);
        let slots = arguments.offer().slots;
        let quiet = arguments.quiet(slots)?;
        let measure = |rules: &Rules| {
            measured_speed(rules, slots, &quiet).ok_or_else(|| speed_unmeasured(rules.name()))
        };
        let speeds: Vec<Speed> = rules.iter().map(measure).collect::<Result<_>>()?;
        let mut out = terminal::stdout();
        if self.json {
            let speeds = speeds.iter().map(JsonSpeed::new).collect();
            write_json(&mut out, &Json { speeds })?;
            return Ok(Exit::Success);
        }
        writeln!(out, "{}\n", describe_slots(slots, &quiet))?;
        let mut table = TextTable::new(&[
            Column::words("game"),
            Column::numbers("nodes per second"),
            Column::numbers("noise"),
            Column::numbers("slots"),
        ]);
        for speed in &speeds {
            let Speed { game, nodes_per_second, noise_permille, slots, age_ms: _ } = speed;
            table.row([
                game.clone(),
                count(*nodes_per_second),
                percent(f64::from(*noise_permille) / 1_000.0),
                slots.to_string(),
            ]);
        }
        table.write(&mut out)?;
        if let Some(Speed { game, nodes_per_second, .. }) = speeds.first() {
            writeln!(
                out,
                "\nTime limits of {game} are worth the same on every machine as here with \
                 reference_speed = {nodes_per_second}\nunder [timing] of their sweep."
            )?;
        }
        Ok(Exit::Success)
    }
}

impl<'a> JsonSpeed<'a> {
    fn new(speed: &'a Speed) -> Self {
        let Speed { game, nodes_per_second, noise_permille, slots, age_ms: _ } = speed;
        let noise = f64::from(*noise_permille) / 1_000.0;
        Self { game, nodes_per_second: *nodes_per_second, noise, slots: *slots }
    }
}
