//! `spelrum status`: progress of experiments, activity of workers, and what needs attention.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;
use spelrum_answers as results;
use spelrum_answers::{CoordinatorStatus, ExperimentSummary, WhyExploratory};
use spelrum_model::ExperimentId;
use spelrum_report::data::write_json;
use spelrum_report::listing;
use spelrum_report::text::{count, counted, duration_us};

use crate::arguments::SourceArguments;
use crate::error::Result;
use crate::exit::Exit;
use crate::results::ResultsSource;
use crate::terminal;
use crate::terminal::progress::about;

const EXAMPLES: &str = "\
It shows the cells' stop rules, how many of them have ended and how many games are still expected, which claims are exploratory or no \
longer in their sweep, and how many rounds races have played and which players may still be first. Below the tables it lists what needs attention, each with a remedy: games that \
failed or \
were lost, results that contradict each other, workers that are silent or missing (one that \
fell silent while it held games until it is back, or dismissed, or for an hour), experiments that \
are paused or of another engine, a disk that is nearly full, removals under way. With --db, \
no workers are shown: only a coordinator knows which are connected.

Examples:
  spelrum status --coordinator http://127.0.0.1:7878
  spelrum status pentago-depth --coordinator http://127.0.0.1:7878 --json
  spelrum status --db results.db";

/// Most races that are shown; also the most experiments that are asked for theirs.
const RACES_MAX: usize = 50;

/// Most players of a race that are named.
const NAMED_MAX: usize = 8;

/// Show progress, workers and problems
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Status {
    /// An experiment's name or UUID [default: all]
    experiment: Option<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Fields that only a coordinator has are null for a file.
#[derive(Serialize)]
struct Json<'a> {
    version: Option<&'a str>,
    coordinator_epoch: Option<i64>,
    uptime_ms: Option<u64>,
    experiments: Vec<listing::Experiment<'a>>,
    experiments_total: u64,
    stops: Vec<Stops<'a>>,
    claims: Vec<Claim<'a>>,
    races: &'a [Race],
    workers: Option<Vec<listing::Worker<'a>>>,
    workers_total: Option<u64>,
    attention: Vec<Attention<'a>>,
    removals: Vec<Removal<'a>>,
}

/// The state of an experiment's claim.
#[derive(Serialize)]
struct Claim<'a> {
    experiment: Option<&'a str>,
    claim: &'a str,
    exploratory: bool,
    in_sweep: bool,
}

/// The state of an experiment's stop rule.
#[derive(Serialize)]
struct Stops<'a> {
    experiment: Option<&'a str>,
    rule: &'a str,
    cells: u64,
    cells_ended: u64,
    /// Of these, those that ended after one round of their openings: their players repeat their games.
    cells_one_round: u64,
    /// Games still expected, and a range that holds their number about four times out of five.
    games_expected: Option<results::ExpectedGames>,
}

/// The state of a race under way.
#[derive(Debug, Serialize)]
struct Race {
    experiment: String,
    run: u64,
    /// Its place on the axes, such as `depth = 3`; empty without axes.
    place: String,
    rounds: u64,
    rounds_max: u64,
    /// The players that may still be first, in the order of the sweep.
    left: Vec<String>,
    players: u64,
}

#[derive(Serialize)]
struct Attention<'a> {
    kind: &'a str,
    experiment: Option<&'a str>,
    count: u64,
    problem: &'a str,
    remedy: &'a str,
}

#[derive(Serialize)]
struct Removal<'a> {
    experiment: &'a str,
    what: &'a str,
    games: u64,
    games_done: u64,
    shrinking: bool,
}

impl Status {
    /// Queries and prints.
    pub(crate) async fn run(self) -> Result<Exit> {
        let source = ResultsSource::open(&self.source).await?;
        let status = source.status(self.experiment.as_deref()).await?;
        let races = races_under_way(&source, &status.experiments).await?;
        let mut out = terminal::stdout();
        if self.json {
            write_json(&mut out, &json(&status, &races))?;
        } else {
            let idle = source.idle_note(&status.experiments);
            text(&status, &races, idle.as_deref(), &mut out)?;
            self.note_on_commands(&status.attention, &mut out)?;
        }
        Ok(Exit::Success)
    }

    /// The remedies name commands without the database or coordinator that this command was given.
    fn note_on_commands(
        &self,
        attention: &[results::Attention],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let has_command = attention.iter().any(|item| item.remedy.contains("spelrum "));
        match &self.source.db {
            Some(db) if has_command => {
                writeln!(out, "give these commands --db {} also", db.display())
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The races of experiments that are not over.
async fn races_under_way(
    source: &ResultsSource,
    experiments: &[ExperimentSummary],
) -> Result<Vec<Race>> {
    let open = experiments.iter().rev().filter(|experiment| !experiment.state.is_over());
    let mut races = Vec::new();
    for experiment in open.take(RACES_MAX) {
        for run in source.runs(experiment).await? {
            let Some(standings) = run.race else { continue };
            let left = standings.players.iter().filter(|player| player.out_after.is_none());
            let place: Vec<String> = run
                .begun
                .axes
                .iter()
                // What players vary is theirs, and not of the race.
                .filter(|place| !place.axis.contains('.'))
                .map(|place| format!("{}={}", place.axis, place.value.text))
                .collect();
            races.push(Race {
                experiment: experiment.name.clone(),
                run: run.run,
                place: place.join(", "),
                rounds: run.steps,
                rounds_max: standings.rounds_max,
                left: left.map(|player| player.player.clone()).collect(),
                players: standings.players.len() as u64,
            });
        }
    }
    races.truncate(RACES_MAX);
    Ok(races)
}

fn json<'a>(status: &'a results::Status, races: &'a [Race]) -> Json<'a> {
    let coordinator = status.coordinator.as_ref();
    Json {
        version: coordinator.map(|coordinator| &*coordinator.version),
        coordinator_epoch: coordinator.map(|coordinator| coordinator.epoch),
        uptime_ms: coordinator.map(|coordinator| coordinator.uptime_ms),
        experiments: status.experiments.iter().map(Into::into).collect(),
        experiments_total: status.experiments_total,
        stops: status
            .stops
            .iter()
            .map(|row| Stops {
                experiment: name_of(status, row.experiment),
                rule: &row.rule,
                cells: row.cells,
                cells_ended: row.cells_ended,
                cells_one_round: row.cells_one_round,
                games_expected: row.games_expected,
            })
            .collect(),
        claims: status
            .claims
            .iter()
            .map(|row| Claim {
                experiment: name_of(status, row.experiment),
                claim: &row.claim.text,
                exploratory: row.claim.is_late,
                in_sweep: row.claim.in_sweep,
            })
            .collect(),
        races,
        workers: coordinator
            .map(|coordinator| coordinator.workers.iter().map(Into::into).collect()),
        workers_total: coordinator.map(|coordinator| coordinator.workers_total),
        attention: status
            .attention
            .iter()
            .map(|item| Attention {
                kind: item.kind.name(),
                experiment: item.experiment.as_deref(),
                count: item.count,
                problem: &item.problem,
                remedy: &item.remedy,
            })
            .collect(),
        removals: status
            .removals
            .iter()
            .map(|removal| Removal {
                experiment: &removal.experiment,
                what: removal.removing.name(),
                games: removal.games,
                games_done: removal.games_done,
                shrinking: removal.is_shrinking,
            })
            .collect(),
    }
}

fn text(
    status: &results::Status,
    races: &[Race],
    idle: Option<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if let Some(coordinator) = &status.coordinator {
        writeln!(
            out,
            "coordinator {}, up for {}, start number {}\n",
            coordinator.version,
            duration_us(coordinator.uptime_ms as f64 * 1e3),
            coordinator.epoch,
        )?;
    }
    if status.experiments.is_empty() {
        writeln!(out, "no experiments yet: spelrum submit FILE")?;
    } else {
        listing::experiments_table(&status.experiments).write(out)?;
        let shown = status.experiments.len();
        cut(shown, status.experiments_total, "unfinished and newest", "experiments", out)?;
    }
    if let Some(note) = idle {
        writeln!(out, "{note}")?;
    }
    stops(status, out)?;
    claims(status, out)?;
    race_lines(races, out)?;
    writeln!(out)?;
    // Only a coordinator knows its workers.
    if let Some(CoordinatorStatus { workers, workers_total, .. }) = &status.coordinator {
        if workers.is_empty() {
            writeln!(out, "no workers: spelrum worker --coordinator URL\n")?;
        } else {
            listing::workers_table(workers).write(out)?;
            cut(workers.len(), *workers_total, "busiest", "workers", out)?;
            writeln!(out)?;
            let (engines, labels) =
                (listing::engines_lines(workers), listing::labels_lines(workers));
            for (title, lines) in [("engines", engines), ("labels", labels)] {
                if !lines.is_empty() {
                    writeln!(out, "{title}:")?;
                    lines.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
                    writeln!(out)?;
                }
            }
        }
    }
    attention(&status.attention, out)
}

/// The state of stop rules.
fn stops(status: &results::Status, out: &mut dyn Write) -> io::Result<()> {
    if !status.stops.is_empty() {
        writeln!(out, "\nstop rules:")?;
    }
    for row in &status.stops {
        let (ended, cells) = (count(row.cells_ended), counted(row.cells, "cell"));
        let name = name_of(status, row.experiment).unwrap_or("?");
        let one_round = match row.cells_one_round {
            0 => String::new(),
            cells => format!(
                ", {} of them after one round of openings, since their players repeat their games",
                count(cells)
            ),
        };
        let expected = row.games_expected.map_or_else(String::new, |expected| {
            format!("; {} games more are expected", about(&expected))
        });
        writeln!(
            out,
            "  {name}: {}; it has ended {ended} of {cells}{one_round}{expected}",
            row.rule
        )?;
    }
    Ok(())
}

/// Exploratory claims, and claims that remain without their sweep.
fn claims(status: &results::Status, out: &mut dyn Write) -> io::Result<()> {
    if !status.claims.is_empty() {
        writeln!(out, "\nclaims:")?;
    }
    for row in &status.claims {
        let name = name_of(status, row.experiment).unwrap_or("?");
        let text = &row.claim.text;
        if row.claim.is_late {
            let why = WhyExploratory::Late.reason();
            writeln!(out, "  {name}: \"{text}\" is exploratory: {why}")?;
        } else {
            writeln!(out, "  {name}: \"{text}\" stays: it was stated before the first game")?;
        }
    }
    Ok(())
}

/// The state of races.
fn race_lines(races: &[Race], out: &mut dyn Write) -> io::Result<()> {
    if !races.is_empty() {
        writeln!(out, "\nraces:")?;
    }
    for Race { experiment, run, place, rounds, rounds_max, left, players } in races {
        let place = match place.as_str() {
            "" if *run == 0 => String::new(),
            "" => format!(", run {run}"),
            place => format!(", run {run} ({place})"),
        };
        let (rounds, most) = (count(*rounds), counted(*rounds_max, "round"));
        let mut named = left.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        if left.len() > NAMED_MAX {
            named += &format!(" and {} more", count((left.len() - NAMED_MAX) as u64));
        }
        let (remaining, players) = (count(left.len() as u64), counted(*players, "player"));
        writeln!(
            out,
            "  {experiment}{place}: {rounds} of at most {most} played; {remaining} of {players} may be first: {named}"
        )?;
    }
    Ok(())
}

/// The name of an experiment, if the status has it.
fn name_of(status: &results::Status, experiment: ExperimentId) -> Option<&str> {
    let experiment = status.experiments.iter().find(|row| row.experiment == experiment);
    experiment.map(|row| row.name.as_str())
}

/// Reports that a table is incomplete.
fn cut(shown: usize, total: u64, order: &str, noun: &str, out: &mut dyn Write) -> io::Result<()> {
    if (shown as u64) < total {
        writeln!(out, "(the {} {order} of {} {noun})", count(shown as u64), count(total))?;
    }
    Ok(())
}

/// What needs attention, and the remedies.
fn attention(attention: &[results::Attention], out: &mut dyn Write) -> io::Result<()> {
    if attention.is_empty() {
        return writeln!(out, "no problems");
    }
    writeln!(out, "needs attention:")?;
    for item in attention {
        match &item.experiment {
            None => writeln!(out, "  {}", item.problem)?,
            Some(experiment) => writeln!(out, "  {experiment}: {}", item.problem)?,
        }
        writeln!(out, "    {}", item.remedy)?;
    }
    Ok(())
}
