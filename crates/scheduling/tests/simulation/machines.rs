//! How fast the simulated machines are and how their CPU time is limited, and what sweeps ask of that.

use spelrum_model::CellId;
use spelrum_model::demands::{Demands, Offer, Unmet};
use spelrum_model::placement::{Placement, TimedGames};
use spelrum_model::speed::Speed;

use crate::dice::Dice;
use crate::worker::is_timed;

/// What timed cells play.
pub(crate) const GAME: &str = "go";

/// The time for a move there, in microseconds.
const MOVE_LIMIT_US: u64 = 10_000;

/// A speed that is older is not known, but for that it was too low.
const FRESH_MS: u64 = 600_000;
const SLOW_MS: u64 = 3_600_000;

/// What is known of a cell whose games are timed.
pub(crate) fn timed_games(cell: CellId) -> Option<TimedGames<'static>> {
    is_timed(cell).then_some(TimedGames { game: GAME, move_limit_us: Some(MOVE_LIMIT_US) })
}

pub(crate) fn speed(nodes_per_second: u64, noise_permille: u32) -> Speed {
    Speed { game: GAME.to_owned(), nodes_per_second, noise_permille, slots: 1, age_ms: 0 }
}

/// What meets all bounds.
pub(crate) fn best_speed() -> Speed {
    speed(1_000_000, 0)
}

/// How fast a machine is, as it will measure it, and how its CPU time is limited.
pub(crate) fn draw_machine(dice: &mut Dice, offer: &mut Offer) {
    offer.speeds = vec![speed(dice.pick(&[500, 1_500, 5_000]), dice.pick(&[5, 60]))];
    offer.quota_period_us = dice.pick(&[None, None, Some(800), Some(5_000)]);
}

/// What a sweep asks of it.
pub(crate) fn draw_bounds(dice: &mut Dice, placement: &mut Placement) {
    placement.speed_min = dice.pick(&[None, None, Some(1_000), Some(2_000)]);
    placement.noise_max_permille = dice.pick(&[None, None, Some(20)]);
    placement.quota_period_max_permille = dice.pick(&[None, Some(50), Some(500)]);
}

/// What a machine lacks of what is asked, labels and engines aside: a twin of [`Demands::unmet_by`].
pub(crate) fn lack(demands: &Demands, offer: &Offer) -> Option<Unmet> {
    if let Some(bound) = demands.quota {
        let (most_us, period_us) = (bound.period_max_us, offer.quota_period_us.unwrap_or(0));
        if most_us < period_us && (bound.is_said || !offer.is_alone) {
            return Some(Unmet::QuotaPeriod { most_us, period_us });
        }
    }
    let bounds = demands.speed.as_ref()?;
    let game = bounds.game.clone();
    let is_slow =
        |speed: &Speed| bounds.speed_min.is_some_and(|least| speed.nodes_per_second < least);
    let is_known = |speed: &&Speed| {
        speed.game == game
            && (speed.age_ms <= FRESH_MS || speed.age_ms <= SLOW_MS && is_slow(speed))
    };
    let newest = offer.speeds.iter().rfind(is_known);
    let Some(&Speed { nodes_per_second, noise_permille, .. }) = newest else {
        return Some(Unmet::Measured(game));
    };
    let least = bounds.speed_min.unwrap_or(0);
    let most_permille = bounds.noise_max_permille.unwrap_or(u32::MAX);
    if nodes_per_second < least {
        Some(Unmet::Speed { game, least, nodes_per_second })
    } else if noise_permille > most_permille {
        Some(Unmet::Noise { game, most_permille, noise_permille })
    } else {
        None
    }
}

/// The same machine, as if it were the best where its speed is not known.
pub(crate) fn hoped(offer: &Offer) -> Offer {
    let mut hoped = offer.clone();
    if !offer.speeds.iter().any(|speed| speed.age_ms <= FRESH_MS) {
        // What it was found too slow for is looked at first.
        hoped.speeds.insert(0, best_speed());
    }
    hoped
}
