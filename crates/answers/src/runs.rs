//! What came of the runs of an experiment that depends on its own results.

use std::collections::BTreeMap;

use spelrum_model::course::{
    Begun, Confirmed, CourseKind, Ended, Estimate, Estimated, Note, Noted,
};
use spelrum_model::seeds::canonical_json;

use crate::evolution::{Evolution, KnownEvolution};

/// A run, as far as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Its number, from 0, in the order of the grid.
    pub run: u64,
    /// What it is.
    pub begun: Begun,
    /// How many steps it was told of.
    pub steps: u64,
    /// What it holds for the best: one for each parameter, none before its first step.
    pub estimates: Vec<Estimate>,
    /// How good that proved to be, if the run confirms it and has.
    pub confirmed: Option<Confirmed>,
    /// Whether it is done.
    pub ended: bool,
    /// All parameters of its best player as JSON, once it is done, if it decided which of them that has.
    pub player_json: Option<String>,
    /// What it bred, if it is one of `[evolve]`.
    pub evolution: Option<Evolution>,
}

/// The runs that these notes are of, in the order of their numbers. Of the estimates of a run only the latest
/// need be there, and of its individuals only the [family](Evolution::family) of the best.
#[must_use]
pub fn runs_of(notes: impl IntoIterator<Item = Noted>) -> Vec<RunResult> {
    #[derive(Default)]
    struct Known {
        begun: Option<Begun>,
        latest: Option<(u64, Vec<Estimate>)>,
        confirmed: Option<Confirmed>,
        ended: Option<Ended>,
        evolution: KnownEvolution,
    }
    let mut runs = BTreeMap::<u64, Known>::new();
    for Noted { run, note } in notes {
        let known = runs.entry(run).or_default();
        match note {
            Note::Begun(begun) => known.begun = Some(begun),
            Note::Estimated(step, Estimated { estimates }) => {
                if known.latest.as_ref().is_none_or(|(latest, _)| *latest < step) {
                    known.latest = Some((step, estimates));
                }
            }
            Note::Confirmed(confirmed) => known.confirmed = Some(confirmed),
            Note::Ended(ended) => known.ended = Some(ended),
            Note::Tried(..) => {}
            note @ (Note::Individual(..) | Note::Scored(..) | Note::Generation(..)) => {
                known.evolution.take(note);
            }
        }
    }
    let result = |(run, Known { begun, latest, confirmed, ended, evolution })| {
        let begun = begun?;
        let is_evolution = begun.kind == CourseKind::Evolve;
        let evolution = is_evolution.then(|| evolution.evolution());
        let (steps, estimates) = latest.map_or((0, Vec::new()), |(step, it)| (step + 1, it));
        let player = ended.as_ref().and_then(|ended| ended.player.as_ref());
        let player_json = player.map(canonical_json);
        let ended = ended.is_some();
        Some(RunResult { run, begun, steps, estimates, confirmed, ended, player_json, evolution })
    };
    runs.into_iter().filter_map(result).collect()
}
