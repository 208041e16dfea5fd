//! Engines that workers are asked to obtain: commits to build, and programs to fetch.

use spelrum_model::demands::Offer;
use spelrum_model::engines::BuiltEngines;
use spelrum_model::wanted::Wanted;
use spelrum_proto::limits::BUILDS_MAX;

/// The engines that games wait for and that a worker may build or fetch: it lacks them, and has the labels that the games
/// require.
pub(super) fn wanted_builds(wanted: &[Wanted], offer: &Offer, built: &BuiltEngines) -> Vec<String> {
    let suits = |waiting: &&Wanted| {
        waiting.demands.require.iter().all(|label| label.is_met_by(&offer.labels))
    };
    let needs = wanted.iter().filter(suits).flat_map(|waiting| &waiting.demands.engines);
    let lacks = |name: &&str| offer.engines.iter().all(|engine| engine.engine != *name);
    let names = needs.map(|need| need.engine.as_str()).filter(|name| built.may_build(name));
    // In the order in which the games are leased.
    let mut builds: Vec<String> = Vec::new();
    for name in names.filter(lacks) {
        if builds.len() < BUILDS_MAX && !builds.iter().any(|other| other == name) {
            builds.push(name.to_owned());
        }
    }
    builds
}
