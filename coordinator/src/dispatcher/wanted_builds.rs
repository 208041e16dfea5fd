//! Commits of engines that workers are asked to build.

use std::collections::BTreeSet;

use spelrum_model::demands::Offer;
use spelrum_model::engines::BuiltEngines;
use spelrum_model::wanted::Wanted;
use spelrum_proto::limits::BUILDS_MAX;

/// The engines with commits that games wait for and that a worker may build: it lacks them, and meets the other demands
/// of the games.
pub(super) fn wanted_builds(wanted: &[Wanted], offer: &Offer, built: &BuiltEngines) -> Vec<String> {
    let suits = |waiting: &&Wanted| {
        waiting.demands.require.iter().all(|label| label.is_met_by(&offer.labels))
    };
    let needs = wanted.iter().filter(suits).flat_map(|waiting| &waiting.demands.engines);
    let lacks = |name: &&str| offer.engines.iter().all(|engine| engine.engine != *name);
    let names: BTreeSet<&str> = needs
        .map(|need| need.engine.as_str())
        .filter(|name| built.may_build(name))
        .filter(lacks)
        .collect();
    names.into_iter().take(BUILDS_MAX).map(str::to_owned).collect()
}
