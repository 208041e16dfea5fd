//! `spelrum check`: whether a results database is intact and agrees with its games.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use spelrum_report::data::write_json;
use spelrum_report::text::{count, counted, duration_us, optional};
use spelrum_store::{Compared, Difference, RESCUE_COMMAND, Readers, Refereed, StoreError};

use crate::error::Result;
use crate::exit::Exit;
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::waiting::while_waiting;

const EXAMPLES: &str = "\
It reads the whole file: every page and every reference between rows; every game against the digest that \
was stored with it; every other table against its digest, if the file was closed since it was last written; \
a sample of the games against the rules (all of them with --deep); and every sum that report and the views \
read against a recount. Nothing is changed. It can run beside a coordinator. Any finding ends it with code 4.

To search single games again and compare them with their records: spelrum replay.

JSON: games (null if the file is damaged); damage (texts); games_compared and tables_compared (null where \
there are no digests); changed (texts); games_refereed; irregular (texts); differences (table, key, stored, \
counted).

Examples:
  spelrum check pentago-depth.db";

/// Check a results database for damage and for sums that differ from its games
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Check {
    /// The results database
    #[arg(value_name = "PATH", required_unless_present = "named", conflicts_with = "named")]
    db: Option<PathBuf>,
    /// The same
    #[arg(id = "named", long = "db", value_name = "PATH")]
    named: Option<PathBuf>,
    /// Check every game against the rules, not only a sample
    #[arg(long)]
    deep: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The number of games checked against the rules without `--deep`.
const SAMPLE_GAMES: u32 = 500;

/// The findings.
#[derive(Default)]
struct Found {
    /// Games that have their result; `None` if the file is damaged.
    games: Option<u64>,
    damage: Vec<String>,
    compared: Compared,
    refereed: Refereed,
    differences: Vec<Difference>,
}

#[derive(Serialize)]
struct Json<'f> {
    games: Option<u64>,
    damage: &'f [String],
    games_compared: Option<u64>,
    tables_compared: Option<u64>,
    changed: &'f [String],
    games_refereed: u64,
    irregular: &'f [String],
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
    fn from(difference: &'f Difference) -> Self {
        Self {
            table: difference.table,
            key: &difference.key,
            stored: difference.stored.as_deref(),
            counted: difference.counted.as_deref(),
        }
    }
}

impl Check {
    /// Checks and reports the findings.
    pub(crate) async fn run(self) -> Result<Exit> {
        let readers = Readers::open(&self.db.or(self.named).unwrap_or_default()).await?;
        let interrupts = Interrupts::listen(|| {})?;
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let progress_text = |elapsed: Duration| {
            format!("checking, {}; Ctrl-C gives up", duration_us(elapsed.as_micros() as f64))
        };
        let runtime = tokio::runtime::Handle::current();
        let games_max = (!self.deep).then_some(SAMPLE_GAMES);
        let work = move || runtime.block_on(look(&readers, games_max));
        let Some(found) = while_waiting(&interrupts, progress_text, work).await? else {
            return Ok(interrupts.exit().unwrap_or(Exit::Interrupted));
        };
        let found = found?;
        let mut out = terminal::stdout();
        if self.json {
            write_json(&mut out, &found.json())?;
        } else {
            found.write(&mut out)?;
        }
        Ok(if found.is_clean() { Exit::Success } else { Exit::Database })
    }
}

async fn look(readers: &Readers, games_max: Option<u32>) -> std::result::Result<Found, StoreError> {
    let damage = readers.damage().await?;
    if !damage.is_empty() {
        // Damaged rows would be counted wrongly, or not at all.
        return Ok(Found { damage, ..Found::default() });
    }
    let compared = readers.compare_digests()?;
    let mut found = Found { compared, ..Found::default() };
    match count_again(readers, games_max, &mut found).await {
        // Changed rows may be unreadable.
        Err(StoreError::OpenedMeanwhile { path }) => Err(StoreError::OpenedMeanwhile { path }),
        Err(_) if !found.compared.changed.is_empty() => Ok(found),
        counted => counted.map(|()| found),
    }
}

async fn count_again(
    readers: &Readers,
    games_max: Option<u32>,
    found: &mut Found,
) -> std::result::Result<(), StoreError> {
    found.games = Some(readers.games_settled().await?);
    found.refereed = readers.referee_stored(games_max)?;
    found.differences = readers.recount_after(&found.compared).await?;
    Ok(())
}

impl Found {
    fn is_clean(&self) -> bool {
        let Self { damage, compared, refereed, differences, .. } = self;
        damage.is_empty()
            && compared.changed.is_empty()
            && refereed.irregular.is_empty()
            && differences.is_empty()
    }

    fn json(&self) -> Json<'_> {
        Json {
            games: self.games,
            damage: &self.damage,
            games_compared: self.compared.games,
            tables_compared: self.compared.tables,
            changed: &self.compared.changed,
            games_refereed: self.refereed.games,
            irregular: &self.refereed.irregular,
            differences: self.differences.iter().map(DifferenceJson::from).collect(),
        }
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
                "\nhelp: take a copy of the file before anything else; the sqlite3 shell writes the rows that it \
                 can read to a new file:\n  {RESCUE_COMMAND}"
            );
        }
        writeln!(out, "file: intact, every page and every reference")?;
        let Self { compared, refereed, differences, .. } = self;
        if compared.changed.is_empty() {
            writeln!(out, "rows: {}", compared_rows(compared))?;
        } else {
            writeln!(out, "rows: changed since they were written")?;
            list(out, &compared.changed)?;
        }
        let sample = counted(refereed.games, "game");
        if refereed.irregular.is_empty() {
            writeln!(out, "rules: {sample} refereed, all valid")?;
        } else {
            writeln!(out, "rules: {sample} refereed, and some are not valid")?;
            list(out, &refereed.irregular)?;
        }
        if differences.is_empty() {
            writeln!(out, "sums: match the {games} settled games")?;
        } else {
            writeln!(out, "sums: do not match the {games} settled games")?;
            list(out, differences)?;
        }
        if self.is_clean() {
            return Ok(());
        }
        let help = if compared.changed.is_empty() {
            "the games are as they were written; another program has written to the file, or this is a bug \
             in spelrum: please report it"
        } else {
            "the disk or another program has changed the file; restore a backup, or leave the data named \
             above out of your conclusions"
        };
        writeln!(out, "\nhelp: {help}")
    }
}

/// The rows compared with the digests, if nothing has changed.
fn compared_rows(compared: &Compared) -> String {
    let games = match compared.games {
        Some(games) => format!("{} games match their digests", count(games)),
        None => "no games were compared".to_owned(),
    };
    let tables = match compared.tables {
        Some(tables) => format!("so do the {} other tables", count(tables)),
        None => "other tables have no digests while the file is open or after a kill".to_owned(),
    };
    format!("{games}; {tables}")
}

fn list(out: &mut impl std::io::Write, findings: &[impl std::fmt::Display]) -> std::io::Result<()> {
    findings.iter().try_for_each(|finding| writeln!(out, "  {finding}"))
}
