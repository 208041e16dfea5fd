//! Results of the runs of an experiment that depends on its own results.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::course::{
    Begun, Confirmed, CourseKind, Ended, Estimate, Estimated, Note, Noted, RaceStandings,
};
use spelrum_model::seeds::canonical_json;

use crate::evolution::{Evolution, KnownEvolution};

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// Its number, from 0, in the order of the grid.
    pub run: u64,
    /// Its kind, players and start, from its first note.
    pub begun: Begun,
    /// Number of reported steps.
    pub steps: u64,
    /// Current best estimates, one per parameter; empty before the first step.
    pub estimates: Vec<Estimate>,
    /// Confirmed strength of the best, if the run confirms it and has done so.
    pub confirmed: Option<Confirmed>,
    /// Whether the run has ended.
    pub ended: bool,
    /// All parameters of its best player as JSON, once the run has ended, if the run decided which
    /// parameters that player has.
    pub player_json: Option<String>,
    /// Its generations, for an `[evolve]` run.
    pub evolution: Option<Evolution>,
    /// Its standings after the latest round, for a `[race]` run.
    pub race: Option<RaceStandings>,
}

/// Assembles runs from these notes, in the order of their numbers. Only a run's latest estimates are required, and of
/// its individuals only the [family](Evolution::family) of the best.
#[must_use]
pub fn runs_of(notes: impl IntoIterator<Item = Noted>) -> Vec<RunResult> {
    #[derive(Default)]
    struct Known {
        begun: Option<Begun>,
        latest: Option<(u64, Estimated)>,
        confirmed: Option<Confirmed>,
        ended: Option<Ended>,
        evolution: KnownEvolution,
    }
    let mut runs = BTreeMap::<u64, Known>::new();
    for Noted { run, note } in notes {
        let run = runs.entry(run).or_default();
        match note {
            Note::Begun(begun) => run.begun = Some(begun),
            Note::Estimated(step, estimated) => {
                if run.latest.as_ref().is_none_or(|(latest, _)| *latest < step) {
                    run.latest = Some((step, estimated));
                }
            }
            Note::Confirmed(confirmed) => run.confirmed = Some(confirmed),
            Note::Ended(ended) => run.ended = Some(ended),
            Note::Tried(..) => {}
            note @ (Note::Individual(..) | Note::Scored(..) | Note::Generation(..)) => {
                run.evolution.take(note);
            }
        }
    }
    let result = |(run, Known { begun, latest, confirmed, ended, evolution })| {
        let begun = begun?;
        let is_evolution = begun.kind == CourseKind::Evolve;
        let evolution = is_evolution.then(|| evolution.evolution());
        let steps = latest.as_ref().map_or(0, |(step, _)| step + 1);
        let (estimates, race) =
            latest.map_or_else(Default::default, |(_, latest)| (latest.estimates, latest.race));
        let player = ended.as_ref().and_then(|ended| ended.player.as_ref());
        let player_json = player.map(canonical_json);
        let ended = ended.is_some();
        Some(RunResult {
            run,
            begun,
            steps,
            estimates,
            confirmed,
            ended,
            player_json,
            evolution,
            race,
        })
    };
    runs.into_iter().filter_map(result).collect()
}
