//! News of the runs of an experiment that depends on its own results.

use std::collections::BTreeMap;

use serde::Serialize;
use spelrum_answers::{RunResult, places_text};
use spelrum_model::course::{Bounds, Confirmed, Estimate, Generation, RaceStandings};
use spelrum_report::text::{count, counted, optional};

/// The last report of each run.
#[derive(Debug, Default)]
pub(super) struct ReportedRuns(BTreeMap<u64, Reported>);

#[derive(Clone, Copy, Debug, Default)]
struct Reported {
    steps: u64,
    is_confirmed: bool,
    has_ended: bool,
}

/// News of a run, also in JSON.
#[derive(Debug, Serialize)]
pub(super) struct RunNews {
    event: &'static str,
    run: u64,
    kind: &'static str,
    /// As `depth=2, budget=10ms`; null without axes.
    axes: Option<String>,
    player: String,
    #[serde(flatten)]
    detail: RunDetail,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RunDetail {
    Generation {
        generation: u64,
        best: Option<f64>,
        mean: Option<f64>,
        least: Option<f64>,
        distinct: u64,
        mean_size: f64,
    },
    Step {
        steps: u64,
        estimates: Vec<Found>,
    },
    /// Players that may be first; the one that is, once it is known.
    Round {
        steps: u64,
        may_be_first: u64,
        players: u64,
        first: Option<String>,
    },
    Confirmed {
        gain: f64,
        gain_low: f64,
        gain_high: f64,
    },
    Ended {
        ended: bool,
    },
}

/// The best value of a parameter, as far as known. Ends of its 95% interval are null where there is none, or where one
/// lies beyond the values tried.
#[derive(Debug, Serialize)]
struct Found {
    parameter: String,
    value: Option<f64>,
    value_text: String,
    low_text: Option<String>,
    high_text: Option<String>,
}

impl ReportedRuns {
    /// Whether there are runs.
    pub(super) fn is_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// News since the last call: every generation, but only the latest of other steps.
    pub(super) fn news(&mut self, runs: Vec<RunResult>) -> Vec<RunNews> {
        let mut news = Vec::new();
        for run in runs {
            let reported = self.0.entry(run.run).or_default();
            let before = *reported;
            let generations =
                run.evolution.map(|evolution| evolution.generations).unwrap_or_default();
            reported.steps = run.steps.max(generations.len() as u64);
            reported.is_confirmed = run.confirmed.is_some();
            reported.has_ended = run.ended;

            let mut details: Vec<RunDetail> = (0..)
                .zip(generations)
                .skip(before.steps as usize)
                .map(RunDetail::generation)
                .collect();
            if run.steps > before.steps && !run.estimates.is_empty() && details.is_empty() {
                let estimates = run.estimates.into_iter().map(Into::into).collect();
                details.push(RunDetail::Step { steps: run.steps, estimates });
            }
            if let Some(race) = run.race.filter(|_| run.steps > before.steps) {
                details.push(RunDetail::round(run.steps, race));
            }
            if let Some(confirmed) = run.confirmed.filter(|_| !before.is_confirmed) {
                details.push(confirmed.into());
            }
            if run.ended && !before.has_ended {
                details.push(RunDetail::Ended { ended: true });
            }
            let (axes, values): (Vec<_>, Vec<_>) = run
                .begun
                .axes
                .into_iter()
                .map(|place| (place.axis, Some(place.value.text)))
                .unzip();
            let axes = places_text(&axes, &values);
            news.extend(details.into_iter().map(|detail| RunNews {
                event: "run",
                run: run.run,
                kind: run.begun.kind.name(),
                axes: axes.clone(),
                player: run.begun.player.clone(),
                detail,
            }));
        }
        news
    }
}

impl RunNews {
    /// `run 1  depth=2  generation 7  best 0.910  mean 0.744  least 0.410  64 formulas of 11.2 nodes`,
    /// `run 1  depth=2  after 8 steps  simulations = 6 (4–7)`
    pub(super) fn text(&self) -> String {
        let mut text = format!("run {}", count(self.run));
        if let Some(axes) = &self.axes {
            text.push_str("  ");
            text.push_str(axes);
        }
        text.push_str("  ");
        text.push_str(&match &self.detail {
            RunDetail::Generation { generation, best, mean, least, distinct, mean_size } => {
                let [best, mean, least] =
                    [best, mean, least].map(|value| optional(*value, |value| format!("{value:.3}")));
                format!(
                    "generation {}  best {best}  mean {mean}  least {least}  {} formulas of {mean_size:.1} nodes",
                    count(*generation),
                    count(*distinct)
                )
            }
            RunDetail::Step { steps, estimates } => {
                let estimates: Vec<_> = estimates.iter().map(Found::text).collect();
                let noun = if *steps == 1 { "step" } else { "steps" };
                format!("after {} {noun}  {}", count(*steps), estimates.join("  "))
            }
            RunDetail::Round { steps, may_be_first, players, first } => {
                let (rounds, players) = (counted(*steps, "round"), counted(*players, "player"));
                match first {
                    Some(first) => format!("after {rounds}  {first} is first of {players}"),
                    None => {
                        format!("after {rounds}  {} of {players} may be first", count(*may_be_first))
                    }
                }
            }
            RunDetail::Confirmed { gain, gain_low, gain_high } => {
                let [gain, low, high] = [gain, gain_low, gain_high].map(|points| format!("{:+.1}", 100.0 * points));
                format!("confirmed  {gain} points of a hundred against the start ({low} to {high})")
            }
            RunDetail::Ended { .. } => "is done".to_owned(),
        });
        text
    }
}

impl RunDetail {
    fn generation((generation, statistics): (u64, Generation)) -> Self {
        let Generation { best, mean, least, distinct, mean_size, .. } = statistics;
        Self::Generation { generation, best, mean, least, distinct, mean_size }
    }

    fn round(steps: u64, race: RaceStandings) -> Self {
        let left = race.players.iter().filter(|runner| runner.out_after.is_none());
        let may_be_first = left.count() as u64;
        Self::Round { steps, may_be_first, players: race.players.len() as u64, first: race.first }
    }
}

impl From<Confirmed> for RunDetail {
    fn from(confirmed: Confirmed) -> Self {
        let [gain, gain_low, gain_high] = confirmed.gain();
        Self::Confirmed { gain, gain_low, gain_high }
    }
}

impl From<Estimate> for Found {
    fn from(Estimate { parameter, value, interval }: Estimate) -> Self {
        let Bounds { low, high } = interval.unwrap_or(Bounds { low: None, high: None });
        let [low_text, high_text] = [low, high].map(|end| end.map(|end| end.text));
        Self { parameter, value: value.number, value_text: value.text, low_text, high_text }
    }
}

impl Found {
    fn text(&self) -> String {
        let Self { parameter, value_text, low_text, high_text, .. } = self;
        let interval = match (low_text, high_text) {
            (Some(low), Some(high)) => format!(" ({low}–{high})"),
            (Some(low), None) => format!(" ({low} or more)"),
            (None, Some(high)) => format!(" ({high} or less)"),
            (None, None) => String::new(),
        };
        format!("{parameter} = {value_text}{interval}")
    }
}
