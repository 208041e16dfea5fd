//! Demands of games on their workers, apart from memory, and the workers' means to meet them.

use std::collections::BTreeSet;
use std::sync::Arc;

use spelrum_engine::{HASH_OPTION, hash_bytes};

use crate::capabilities::{Capabilities, EngineRequest, Inability};
use crate::engines::{NeededEngine, OfferedEngine, can_play};
use crate::labels::{Label, WantedLabel};
use crate::speed::{SPEED_FRESH_MS, SPEED_SLOW_MS, Speed};

/// The demands of a cell's games on a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Demands {
    /// The engines that each game needs, sorted.
    pub engines: Vec<NeededEngine>,
    /// The players' demands on these engines, sorted.
    pub requests: Vec<EngineRequest>,
    /// Required labels.
    pub require: Vec<WantedLabel>,
    /// Preferred labels: workers without them may still play. All cells of an experiment prefer the same.
    pub prefer: Vec<WantedLabel>,
    /// Bounds on the machine's speed.
    pub speed: Option<SpeedBounds>,
    /// The bound on a CPU quota.
    pub quota: Option<QuotaBound>,
}

/// Bounds on the speed of a worker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpeedBounds {
    /// The game at which speed is measured.
    pub game: String,
    /// The minimum, in nodes per second.
    pub speed_min: Option<u64>,
    /// The maximum variation between short spells, in thousandths of the speed.
    pub noise_max_permille: Option<u32>,
}

/// The CPU quota allowed for a worker without exclusive slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuotaBound {
    /// The longest period, in microseconds: a process that has used up the quota stands still until the next period.
    pub period_max_us: u64,
    /// Whether the sweep states it. A default does not apply to the only worker.
    pub is_said: bool,
}

/// The means of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Its engines.
    pub engines: Arc<[OfferedEngine]>,
    /// Its machine's labels.
    pub labels: Arc<[Label]>,
    /// Its speeds, each for another game, with their ages.
    pub speeds: Vec<Speed>,
    /// The period of its CPU quota, in microseconds, if it has one that can be used up and no exclusive slots.
    pub quota_period_us: Option<u64>,
    /// Whether it is the only possible worker.
    pub is_alone: bool,
}

/// An unmet demand of a worker.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unmet {
    /// Engines.
    Engines,
    /// This label.
    Label(WantedLabel),
    /// A CPU quota with at most this period.
    QuotaPeriod {
        /// The longest allowed period, in microseconds.
        most_us: u64,
        /// The worker's period.
        period_us: u64,
    },
    /// A minimum speed in nodes per second.
    Speed {
        /// The game.
        game: String,
        /// The minimum.
        least: u64,
        /// The worker's speed.
        nodes_per_second: u64,
    },
    /// A maximum variation of speed, in thousandths.
    Noise {
        /// The game.
        game: String,
        /// The maximum.
        most_permille: u32,
        /// The worker's variation.
        noise_permille: u32,
    },
    /// A measured speed at this game, no older than [`SPEED_FRESH_MS`].
    Measured(String),
}

/// The rank of games for a worker by their preferences, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preference {
    /// The worker has all preferred labels.
    Preferred,
    /// The games prefer no labels.
    Indifferent,
    /// The worker lacks a preferred label.
    Disliked,
}

impl Demands {
    /// Whether every worker meets the demands equally well.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// An equal value already in use; `None` if empty. Up to 100,000 cells may make the same demands.
    #[must_use]
    pub fn shared(self, demands_seen: &mut BTreeSet<Arc<Self>>) -> Option<Arc<Self>> {
        if self.is_nothing() {
            return None;
        }
        let existing = demands_seen.get(&self).map(Arc::clone);
        Some(existing.unwrap_or_else(|| {
            let demands = Arc::new(self);
            demands_seen.insert(Arc::clone(&demands));
            demands
        }))
    }

    /// Whether a machine with these engines has the needed ones with the requested capabilities.
    #[must_use]
    pub fn has_engines(&self, offered: &[OfferedEngine]) -> bool {
        can_play(&self.engines, offered) && self.inability(offered).is_none()
    }

    /// The first request that an engine cannot meet; `None` if none is known.
    #[must_use]
    pub fn inability(&self, offered: &[OfferedEngine]) -> Option<Inability> {
        self.requests
            .iter()
            .find_map(|request| request.unmet_by(capabilities_for(request, offered)?))
    }

    /// Bytes of these engines' hash tables whose size the sweep does not set. Sizes set by the sweep are part of the
    /// cell's memory.
    #[must_use]
    pub fn unset_hash_bytes(&self, offered: &[OfferedEngine]) -> u64 {
        let unset = self.requests.iter().filter(|request| request.number_of(HASH_OPTION).is_none());
        let bytes = unset.filter_map(|request| {
            let capabilities = capabilities_for(request, offered)?;
            capabilities.number_of(HASH_OPTION).map(hash_bytes)
        });
        bytes.fold(0, u64::saturating_add)
    }

    /// The worker's first unmet demand; `None` if it meets all.
    #[must_use]
    pub fn unmet_by(&self, offer: &Offer) -> Option<Unmet> {
        if !self.has_engines(&offer.engines) {
            return Some(Unmet::Engines);
        }
        let mut lacking = self.require.iter().filter(|label| !label.is_met_by(&offer.labels));
        let label = lacking.next().cloned().map(Unmet::Label);
        let quota = || self.quota.and_then(|bound| bound.unmet_by(offer));
        // Last, so that no speed is measured in vain.
        let speed = || self.speed.as_ref().and_then(|bounds| bounds.unmet_by(&offer.speeds));
        label.or_else(quota).or_else(speed)
    }

    /// The rank of the games for a worker.
    #[must_use]
    pub fn preference(&self, offer: &Offer) -> Preference {
        if self.prefer.is_empty() {
            Preference::Indifferent
        } else if self.prefer.iter().all(|label| label.is_met_by(&offer.labels)) {
            Preference::Preferred
        } else {
            Preference::Disliked
        }
    }
}

/// The reported capabilities of the requested engine.
fn capabilities_for<'a>(
    request: &EngineRequest,
    offered: &'a [OfferedEngine],
) -> Option<&'a Capabilities> {
    let is_meant = |engine: &&OfferedEngine| {
        engine.engine == request.engine && engine.protocol == request.protocol
    };
    offered.iter().find(is_meant)?.capabilities.as_deref()
}

impl QuotaBound {
    fn unmet_by(self, offer: &Offer) -> Option<Unmet> {
        let most_us = self.period_max_us;
        let period_us = offer.quota_period_us.filter(|&period_us| period_us > most_us)?;
        let holds = self.is_said || !offer.is_alone;
        holds.then_some(Unmet::QuotaPeriod { most_us, period_us })
    }
}

impl SpeedBounds {
    /// The first bound that a machine with these speeds misses.
    #[must_use]
    pub fn unmet_by(&self, speeds: &[Speed]) -> Option<Unmet> {
        let game = || self.game.clone();
        let speed = speeds
            .iter()
            .find(|measured| measured.game == self.game && measured.age_ms <= SPEED_SLOW_MS);
        let Some(&Speed { nodes_per_second, noise_permille, age_ms, .. }) = speed else {
            return Some(Unmet::Measured(game()));
        };
        let slow = self.speed_min.filter(|&least| nodes_per_second < least);
        let slow = slow.map(|least| Unmet::Speed { game: game(), least, nodes_per_second });
        if slow.is_none() && age_ms > SPEED_FRESH_MS {
            return Some(Unmet::Measured(game()));
        }
        let noisy = || {
            let most_permille = self.noise_max_permille.filter(|&most| noise_permille > most)?;
            Some(Unmet::Noise { game: game(), most_permille, noise_permille })
        };
        slow.or_else(noisy)
    }
}

#[cfg(test)]
mod tests {
    use spelrum_engine::Protocol;

    use super::*;
    use crate::capabilities::{EngineOption, GameRequest, OptionKind};
    use crate::engines::EngineIdentity;

    fn speed(nodes_per_second: u64, noise_permille: u32, age_ms: u64) -> Speed {
        let (game, slots) = ("chess".to_owned(), 1);
        Speed { game, nodes_per_second, noise_permille, slots, age_ms }
    }

    #[test]
    fn the_bounds_of_a_speed_are_inclusive() {
        let bounds = SpeedBounds {
            game: "chess".to_owned(),
            speed_min: Some(1_000),
            noise_max_permille: Some(50),
        };
        let lacks = |speeds: &[Speed]| bounds.unmet_by(speeds);
        let game = || "chess".to_owned();
        assert_eq!(lacks(&[speed(1_000, 50, SPEED_FRESH_MS)]), None);
        let unknown = Some(Unmet::Measured(game()));
        assert_eq!(lacks(&[speed(9_999, 0, SPEED_FRESH_MS + 1)]), unknown);
        assert_eq!(lacks(&[Speed { game: "othello".to_owned(), ..speed(9_999, 0, 0) }]), unknown);
        assert_eq!(lacks(&[]), unknown);
        let slow = Unmet::Speed { game: game(), least: 1_000, nodes_per_second: 999 };
        assert_eq!(lacks(&[speed(999, 51, 0)]), Some(slow.clone()));
        // A result of too slow stays valid for longer.
        assert_eq!(lacks(&[speed(999, 0, SPEED_SLOW_MS)]), Some(slow));
        assert_eq!(lacks(&[speed(999, 0, SPEED_SLOW_MS + 1)]), unknown);
        let noisy = Unmet::Noise { game: game(), most_permille: 50, noise_permille: 51 };
        assert_eq!(lacks(&[speed(1_000, 51, 0)]), Some(noisy));
        let none = SpeedBounds { speed_min: None, noise_max_permille: None, ..bounds.clone() };
        assert_eq!(none.unmet_by(&[speed(1, 9_999, 0)]), None);
    }

    /// A size set by the sweep is already in the cell's memory; otherwise the engine's default counts, on each side.
    #[test]
    fn hash_tables_count_where_the_sweep_does_not_set_them() {
        let request = |hash: Option<&str>| EngineRequest {
            engine: "fish".to_owned(),
            protocol: Protocol::Uci,
            options: hash.map(|mib| ("hash".to_owned(), mib.to_owned())).into_iter().collect(),
            game: GameRequest::default(),
            depth: true,
            nodes: false,
            move_time_us: None,
            clock: false,
        };
        let requests = |hash_sizes: [Option<&str>; 2]| Demands {
            requests: hash_sizes.map(request).into(),
            ..Demands::default()
        };
        let kind = OptionKind::Spin { default: "512".to_owned(), min: 1, max: 4_096 };
        let declared = Some(vec![EngineOption { name: "Hash".to_owned(), kind }]);
        let fish = |capabilities| OfferedEngine {
            engine: "fish".to_owned(),
            protocol: Protocol::Uci,
            at_once: 2,
            identity: EngineIdentity {
                name: String::new(),
                author: String::new(),
                sha256: [0; 32],
            },
            capabilities,
            build: [0; 32],
        };
        let here = [fish(Some(Arc::new(Capabilities { declared, ..Capabilities::default() })))];
        let mib = |hash_sizes| requests(hash_sizes).unset_hash_bytes(&here) >> 20;
        assert_eq!(mib([None, None]), 1_024);
        assert_eq!(mib([None, Some("64")]), 512);
        assert_eq!(mib([Some("64"), Some("64")]), 0);
        assert_eq!(requests([None, None]).unset_hash_bytes(&[fish(None)]), 0, "it is not known");
        assert_eq!(requests([None, None]).unset_hash_bytes(&[]), 0);
    }

    #[test]
    fn a_quota_with_a_long_period_is_told_unless_nobody_else_can_play() {
        let offer = |period_us, is_alone| Offer {
            quota_period_us: Some(period_us),
            is_alone,
            ..Offer::default()
        };
        let lacks = |is_said, offer: &Offer| {
            let quota = Some(QuotaBound { period_max_us: 1_000, is_said });
            Demands { quota, ..Demands::default() }.unmet_by(offer)
        };
        let long = Some(Unmet::QuotaPeriod { most_us: 1_000, period_us: 1_001 });
        for is_said in [false, true] {
            assert_eq!(lacks(is_said, &offer(1_000, false)), None);
            assert_eq!(lacks(is_said, &offer(1_001, false)), long);
            assert_eq!(lacks(is_said, &Offer::default()), None);
        }
        assert_eq!(lacks(false, &offer(1_001, true)), None);
        assert_eq!(lacks(true, &offer(1_001, true)), long);
    }

    #[test]
    fn what_can_be_measured_is_asked_for_last() {
        let demands = Demands {
            require: vec![WantedLabel::parse("gpu").unwrap()],
            speed: Some(SpeedBounds {
                game: "chess".to_owned(),
                speed_min: Some(1),
                noise_max_permille: None,
            }),
            quota: Some(QuotaBound { period_max_us: 1, is_said: true }),
            ..Demands::default()
        };
        let mut offer = Offer { quota_period_us: Some(2), ..Offer::default() };
        let mut lacks = Vec::new();
        for _ in 0..3 {
            lacks.extend(demands.unmet_by(&offer));
            match lacks.last() {
                Some(Unmet::Label(_)) => offer.labels = [Label::parse("gpu").unwrap()].into(),
                _ => offer.quota_period_us = None,
            }
        }
        let [Unmet::Label(_), Unmet::QuotaPeriod { .. }, Unmet::Measured(game)] = &lacks[..] else {
            panic!("{lacks:?}")
        };
        assert_eq!(game, "chess");
    }
}
