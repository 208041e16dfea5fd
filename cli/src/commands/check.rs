//! `spelrum check`: whether a results database is whole, and says what its games say.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use spelrum_coordinator::store::{Difference, Readers, StoreError};

use crate::error::Result;
use crate::exit::Exit;
use crate::interrupt::Interrupts;
use crate::output::{count, duration_us, optional, write_json};
use crate::waiting::while_waiting;

const EXAMPLES: &str = "\
It looks at every page of the file, at every reference between rows, and counts everything that is \
kept summed up (what report and the views read) again from the games and moves. Nothing is changed. \
It may be asked while a coordinator is at work, and reads the whole file. What it finds ends it with \
code 4.

To play single games again and compare them with their records: spelrum replay.

JSON: games (null if the file is damaged); damage (texts); differences (table, key, stored, counted).

Examples:
  spelrum check --db pentago-depth.db";

/// Check that a results database is whole and that its sums are those of its games
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The results database
    #[arg(long, value_name = "PATH")]
    db: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was found.
struct Found {
    /// Games that have their result; `None` if the file is damaged.
    games: Option<u64>,
    damage: Vec<String>,
    differences: Vec<Difference>,
}

#[derive(Serialize)]
struct Json<'f> {
    games: Option<u64>,
    damage: &'f [String],
    differences: Vec<DifferenceJson<'f>>,
}

#[derive(Serialize)]
struct DifferenceJson<'f> {
    table: &'f str,
    key: &'f str,
    stored: Option<&'f str>,
    counted: Option<&'f str>,
}

impl<'f> From<&'f Difference> for DifferenceJson<'f> {
    fn from(it: &'f Difference) -> Self {
        Self {
            table: it.table,
            key: &it.key,
            stored: it.stored.as_deref(),
            counted: it.counted.as_deref(),
        }
    }
}

impl Check {
    /// Checks and says what was found.
    pub(crate) async fn run(self) -> Result<Exit> {
        let readers = Readers::open(&self.db).await?;
        let interrupts = Interrupts::listen(|| {})?;
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let what = |elapsed: Duration| {
            format!("checking, {}; Ctrl-C gives up", duration_us(elapsed.as_micros() as f64))
        };
        let runtime = tokio::runtime::Handle::current();
        let work = move || runtime.block_on(look(&readers));
        let Some(found) = while_waiting(&interrupts, what, work).await? else {
            return Ok(interrupts.exit().unwrap_or(Exit::Interrupted));
        };
        let found = found?;
        let mut out = anstream::stdout().lock();
        if self.json {
            write_json(&mut out, &found.json())?;
        } else {
            found.write(&mut out)?;
        }
        Ok(if found.is_clean() { Exit::Success } else { Exit::Database })
    }
}

async fn look(readers: &Readers) -> std::result::Result<Found, StoreError> {
    let damage = readers.damage().await?;
    if !damage.is_empty() {
        // What is damaged would be counted wrongly, or not at all.
        return Ok(Found { games: None, damage, differences: Vec::new() });
    }
    let games = Some(readers.games_settled().await?);
    Ok(Found { games, damage, differences: readers.recount().await? })
}

impl Found {
    fn is_clean(&self) -> bool {
        self.damage.is_empty() && self.differences.is_empty()
    }

    fn json(&self) -> Json<'_> {
        let differences = self.differences.iter().map(DifferenceJson::from).collect();
        Json { games: self.games, damage: &self.damage, differences }
    }

    fn write(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
        let games = optional(self.games, count);
        if !self.damage.is_empty() {
            writeln!(out, "file: damaged")?;
            for damage in &self.damage {
                writeln!(out, "  {damage}")?;
            }
            return writeln!(
                out,
                "\nhelp: take a copy of the file before anything else; what can be read of it comes out \
                 with `sqlite3 FILE .recover`"
            );
        }
        writeln!(out, "file: whole, every page and every reference")?;
        if self.differences.is_empty() {
            return writeln!(out, "sums: those of the {games} settled games");
        }
        writeln!(out, "sums: not those of the {games} settled games")?;
        for difference in &self.differences {
            writeln!(out, "  {difference}")?;
        }
        writeln!(
            out,
            "\nhelp: the games themselves are whole; somebody else has written to the file, or this is a \
             fault of the program: please report it"
        )
    }
}
