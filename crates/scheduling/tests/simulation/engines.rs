//! Engines of the simulated machines, and what cells need of them.

use std::sync::Arc;

use spelrum_engine::Protocol;
use spelrum_model::capabilities::{
    CHESS960_OPTION, Capabilities, EngineOption, EngineRequest, GameRequest, OptionKind,
};
use spelrum_model::demands::{Demands, Offer};
use spelrum_model::engines::{EngineIdentity, NeededEngine, OfferedEngine};

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
    NeededEngine { engine, protocol: Protocol::Uci, version, sha256: None, build: None }
}

pub(crate) fn offer(engine: &str, version: &str, at_once: u32) -> OfferedEngine {
    let name = format!("{engine} {version}");
    let identity = EngineIdentity { name, author: String::new(), sha256: [0; 32] };
    OfferedEngine {
        engine: engine.to_owned(),
        protocol: Protocol::Uci,
        at_once,
        identity,
        capabilities: None,
        build: [1; 32],
    }
}

/// What a cell needs; the second fish of a cell plays Chess960.
pub(crate) fn draw_need(dice: &mut Dice) -> Demands {
    let needs = dice.pick(&NEEDS);
    let engines = needs.iter().map(|&(engine, version)| need(engine, version));
    let is_second = needs.len() == 2 && needs[0].0 == "fish";
    let requests = is_second.then(chess960).into_iter().collect();
    Demands { engines: engines.collect(), requests, ..Demands::default() }
}

/// A fish that castles as in Chess960.
fn chess960() -> EngineRequest {
    EngineRequest {
        engine: "fish".to_owned(),
        protocol: Protocol::Uci,
        options: Vec::new(),
        game: GameRequest { chess960: true, ..GameRequest::from_game_name("chess") },
        depth: true,
        nodes: false,
        move_time_us: None,
        clock: false,
    }
}

/// What an engine reports that does, or does not.
fn reports(plays_chess960: bool) -> Option<Arc<Capabilities>> {
    let kind = OptionKind::Check { default: "false".to_owned() };
    let option = EngineOption { name: CHESS960_OPTION.to_owned(), kind };
    let declared = Some(plays_chess960.then_some(option).into_iter().collect());
    Some(Arc::new(Capabilities { declared, ..Capabilities::default() }))
}

/// What a machine has: often nothing, or not enough.
pub(crate) fn draw_offer(dice: &mut Dice) -> Offer {
    let fish = dice.pick(&[None, Some(("15", 1)), Some(("15", 2)), Some(("16", 1))]);
    // What a worker does not report is not held against it.
    let fish_reports = if fish == Some(("15", 2)) { reports(dice.chance(500)) } else { None };
    let bird = dice.pick(&[None, None, Some(("1", 1))]);
    let fish = fish.map(|(version, at_once)| OfferedEngine {
        capabilities: fish_reports,
        ..offer("fish", version, at_once)
    });
    let bird = bird.map(|(version, at_once)| offer("bird", version, at_once));
    Offer { engines: fish.into_iter().chain(bird).collect(), ..Offer::default() }
}

/// What plays everything.
pub(crate) fn everything() -> Offer {
    let engines = [offer("fish", "16", 2), offer("bird", "1", 1)].into();
    let speeds = vec![best_speed()];
    Offer { engines, labels: all_labels(), speeds, ..Offer::default() }
}

/// Whether a machine has all that is demanded: a twin of [`Demands::unmet_by`].
pub(crate) fn has_all(demands: &Demands, offer: &Offer) -> bool {
    has_engines(&demands.engines, &offer.engines)
        && (demands.requests.is_empty() || plays_chess960(&offer.engines))
        && lacking(&demands.require, &offer.labels).is_empty()
        && lack(demands, offer).is_none()
}

/// All requests are for this.
fn plays_chess960(offered: &[OfferedEngine]) -> bool {
    offered.iter().filter(|engine| engine.engine == "fish").all(|engine| {
        match &engine.capabilities {
            None => true,
            Some(reported) => reported.declared.iter().flatten().count() == 1,
        }
    })
}

fn has_engines(needed: &[NeededEngine], offered: &[OfferedEngine]) -> bool {
    needed.iter().all(|need| {
        let seats = needed.iter().filter(|needed| needed.engine == need.engine).count();
        let mut its = offered.iter().filter(|offer| offer.engine == need.engine);
        its.any(|offer| {
            let version = need.version.as_deref().unwrap_or_default();
            offer.identity.name.contains(version) && seats <= offer.at_once as usize
        })
    })
}
