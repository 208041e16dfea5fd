//! `spelrum plan`: what a sweep will show, before it is played.

use std::io::{BufWriter, Write as _};

use clap::Args;
use serde::Serialize;
use spelrum_answers::{Assumptions, Detail, PlannedSweep, planned};
use spelrum_report::data::write_json;
use spelrum_report::planned as planned_text;
use spelrum_report::text::duration_us;

use crate::arguments::SourceArguments;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::cost_estimate;
use crate::results::ResultsSource;
use crate::sweeps::file::SweepArguments;
use crate::sweeps::found_players::{self, Outcomes};
use crate::terminal;
use crate::terminal::notices;

const EXAMPLES: &str = "\
How many games, for which difference, with what power? For each cell: how wide the score's 95% interval will be, how \
probably it shows a lead of --margin, how many games that needs, and how many games a stop rule is expected to play; for the \
sweep, how probably all its claims will be supported if each is true by the margin, and how long it takes.

Nothing is known of the players beforehand. Without --like no game is drawn and a pair's two games do not agree: then \
intervals are widest. --drawn sets the share of draws between equals; --like takes the draws, the agreement of pairs and what \
openings decide from an experiment that was played, cell by cell where it has the same players and the same values. A plan \
never takes the lead itself from earlier results, since leads that were seen are exaggerated.

docs/statistics.md has the formulas, and how near they are to simulated sweeps.

JSON: name, game, margin, power, drawn, like, games_max, games_expected, seconds_expected, claims_supported, claims, \
elo (of an SPRT's hypotheses), stop_rule, cells (axes, player, opponent, games_max, is_known (by --like), variance (of a pair's or game's score), half_width, \
power, games_for_margin, games_for_width, games_expected, games_nine_in_ten). Expected games and seconds are of three cases: \
equal players, players half the margin apart, and the margin apart; of an SPRT its elo0, half way, and its elo1.

Examples:
  spelrum plan sweeps/pentago-depth.toml
  spelrum plan sweeps/pentago-depth.toml --margin 0.02 --power 0.9
  spelrum plan sweeps/pentago-depth.toml --set games=2000 --drawn 0.3
  spelrum plan sweeps/pentago-study-time.toml --like pentago-depth --db pentago-depth.db --json";

/// Show what a sweep will show: interval widths, power, and how many games it needs
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Plan {
    #[command(flatten)]
    sweep: SweepArguments,
    /// The lead that is to be shown, in points per game: 0.05 is a score of 0.55
    #[arg(long, value_name = "POINTS", default_value_t = 0.05, value_parser = margin)]
    margin: f64,
    /// How probably it is to be shown
    #[arg(long, value_name = "PROBABILITY", default_value_t = 0.8, value_parser = probability)]
    power: f64,
    /// The share of games that equal players draw
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share, conflicts_with = "like")]
    drawn: f64,
    /// An experiment whose games are alike: its name or UUID, a results database, or a sweep that was run here
    #[arg(long, value_name = "EXPERIMENT")]
    like: Option<String>,
    #[command(flatten)]
    source: SourceArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The plan in JSON.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    plan: &'a PlannedSweep,
    /// For each of the expected numbers of games; `None` if no game ended while they were timed.
    seconds_expected: [Option<f64>; 3],
}

fn number(
    text: &str,
    is_valid: impl Fn(f64) -> bool,
    what: &str,
) -> std::result::Result<f64, String> {
    text.parse().ok().filter(|&number| is_valid(number)).ok_or_else(|| what.to_owned())
}

fn margin(text: &str) -> std::result::Result<f64, String> {
    number(text, |margin| margin > 0.0 && margin < 0.5, "a margin is more than 0 and less than 0.5")
}

fn probability(text: &str) -> std::result::Result<f64, String> {
    number(text, |power| power > 0.0 && power < 1.0, "a probability is more than 0 and less than 1")
}

fn share(text: &str) -> std::result::Result<f64, String> {
    number(
        text,
        |drawn| (0.0..1.0).contains(&drawn),
        "a share of draws is at least 0 and less than 1",
    )
}

/// The least and the greatest; `None` if one is unknown.
fn range(seconds: [Option<f64>; 3]) -> Option<[f64; 2]> {
    let known: Option<Vec<f64>> = seconds.into_iter().collect();
    let known = known?;
    let least = known.iter().copied().fold(f64::INFINITY, f64::min);
    Some([least, known.into_iter().fold(0.0, f64::max)])
}

impl Plan {
    /// Plans, and prints the plan.
    pub(crate) async fn run(self) -> Result<Exit> {
        let sweep = found_players::read_sweep(&self.sweep, Outcomes::Here).await?;
        for remark in &sweep.remarks {
            notices::notify(remark);
        }
        let plan = &sweep.plan;
        let refused = |problem: &str, remedy: &str| {
            Err(CliError::new(Exit::Input, format!("plan {}", plan.name))
                .because(problem)
                .help(remedy))
        };
        if let Some(course) = &plan.course {
            let problem =
                format!("its cells follow from the results of its `{}`", course.kind().name());
            return refused(
                &problem,
                "spelrum submit FILE --dry-run shows how many games it plays at most",
            );
        }
        if !plan.task().is_game() {
            return refused(
                "its cells are choices, and have no score of games",
                "spelrum submit FILE --dry-run shows how many choices it makes",
            );
        }
        let like = match &self.like {
            None => None,
            Some(name) => {
                let (source, found) =
                    ResultsSource::open_experiment(&self.source, Some(name)).await?;
                Some(source.report(&found, Detail::Cells).await?)
            }
        };
        let assumptions = Assumptions { margin: self.margin, power: self.power, drawn: self.drawn };
        let planned = planned(plan, assumptions, like.as_ref());
        let cost = cost_estimate::estimate(plan, None)?;
        let mut out = BufWriter::new(terminal::stdout());
        let seconds = planned.games_expected.map(|games| cost.seconds_of(games));
        if self.json {
            write_json(&mut out, &Json { plan: &planned, seconds_expected: seconds })?;
        } else {
            planned_text::write(&planned, &mut out)?;
            if let Some([least, most]) = range(seconds) {
                let about = if cost.is_at_least() { "more than" } else { "about" };
                let [least, most] = [least, most].map(|seconds| duration_us(seconds * 1e6));
                let time = if least == most { least } else { format!("{least} to {most}") };
                writeln!(out, "Time: {about} {time} on {}.", cost.slots_text())?;
            }
        }
        out.flush()?;
        Ok(Exit::Success)
    }
}
