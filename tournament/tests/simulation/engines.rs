//! Engines of the simulated machines, and what cells need of them.

use spelrum_engine::Protocol;
use spelrum_tournament::demands::{Demands, Offer};
use spelrum_tournament::engines::{EngineIdentity, NeededEngine, OfferedEngine};

use crate::dice::Dice;
use crate::labels::{all_labels, lacking};
use crate::machines::{best_speed, lack};

/// What cells may need: one of a kind, two of it, two kinds, and one of a version.
const NEEDS: [&[(&str, Option<&str>)]; 5] = [
    &[("fish", None)],
    &[("bird", None)],
    &[("fish", None), ("fish", None)],
    &[("bird", None), ("fish", None)],
    &[("fish", Some("16"))],
];

pub(crate) fn need(engine: &str, version: Option<&str>) -> NeededEngine {
    let (engine, version) = (engine.to_owned(), version.map(str::to_owned));
    NeededEngine { engine, protocol: Protocol::Uci, version, sha256: None }
}

pub(crate) fn offer(engine: &str, version: &str, at_once: u32) -> OfferedEngine {
    let name = format!("{engine} {version}");
    let identity = EngineIdentity { name, author: String::new(), sha256: [0; 32] };
    OfferedEngine { engine: engine.to_owned(), protocol: Protocol::Uci, at_once, identity }
}

/// What a cell needs.
pub(crate) fn draw_need(dice: &mut Dice) -> Demands {
    let engines = dice.pick(&NEEDS).iter().map(|&(engine, version)| need(engine, version));
    Demands { engines: engines.collect(), ..Demands::default() }
}

/// What a machine has: often nothing, or not enough.
pub(crate) fn draw_offer(dice: &mut Dice) -> Offer {
    let fish = dice.pick(&[None, Some(("15", 1)), Some(("15", 2)), Some(("16", 1))]);
    let bird = dice.pick(&[None, None, Some(("1", 1))]);
    let fish = fish.map(|(version, at_once)| offer("fish", version, at_once));
    let bird = bird.map(|(version, at_once)| offer("bird", version, at_once));
    Offer { engines: fish.into_iter().chain(bird).collect(), ..Offer::default() }
}

/// What plays everything.
pub(crate) fn everything() -> Offer {
    let engines = [offer("fish", "16", 2), offer("bird", "1", 1)].into();
    let speeds = vec![best_speed()];
    Offer { engines, labels: all_labels(), speeds, measures: true, ..Offer::default() }
}

/// Whether a machine has all that is demanded: a twin of [`Demands::unmet_by`].
pub(crate) fn has_all(demands: &Demands, offer: &Offer) -> bool {
    has_engines(&demands.engines, &offer.engines)
        && lacking(&demands.require, &offer.labels).is_empty()
        && lack(demands, offer).is_none()
}

fn has_engines(needed: &[NeededEngine], offered: &[OfferedEngine]) -> bool {
    needed.iter().all(|need| {
        let seats = needed.iter().filter(|other| other.engine == need.engine).count();
        let mut its = offered.iter().filter(|offer| offer.engine == need.engine);
        its.any(|offer| {
            let version = need.version.as_deref().unwrap_or_default();
            offer.identity.name.contains(version) && seats <= offer.at_once as usize
        })
    })
}
