//! What games ask of the worker that plays them, beside memory, and what workers have of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use spelrum_engine::{HASH_OPTION, hash_bytes};

use crate::capabilities::{Capabilities, EngineRequest, Inability};
use crate::engines::{NeededEngine, OfferedEngine, can_play};
use crate::labels::{Label, WantedLabel};
use crate::speed::{SPEED_FRESH_MS, SPEED_SLOW_MS, Speed};

/// What the games of a cell ask of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Demands {
    /// The engines that each game needs, in an order of their own.
    pub engines: Vec<NeededEngine>,
    /// What their players ask of these engines, in an order of their own.
    pub requests: Vec<EngineRequest>,
    /// Labels that it must have.
    pub require: Vec<WantedLabel>,
    /// Labels that it had better have: who lacks one may play all the same. All cells of an experiment prefer the same.
    pub prefer: Vec<WantedLabel>,
    /// How fast its machine must be.
    pub speed: Option<SpeedBounds>,
    /// How its CPU time may be limited.
    pub quota: Option<QuotaBound>,
}

/// Between which bounds the speed of a worker must lie.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpeedBounds {
    /// The game at which it is measured.
    pub game: String,
    /// The least, in nodes per second.
    pub speed_min: Option<u64>,
    /// By how much it may differ between short spells: thousandths of it.
    pub noise_max_permille: Option<u32>,
}

/// Which quota of CPU time a worker may have that has no quiet slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct QuotaBound {
    /// The longest period, in microseconds: who has used the quota up stands still until the next.
    pub period_max_us: u64,
    /// Whether the sweep says so. If not, it does not hold where nobody else can play.
    pub is_said: bool,
}

/// What a worker has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// Its engines.
    pub engines: Arc<[OfferedEngine]>,
    /// What it says of its machine.
    pub labels: Arc<[Label]>,
    /// Its speeds, each of another game, with their ages.
    pub speeds: Vec<Speed>,
    /// The period of its quota of CPU time, in microseconds, if it has one that can be used up, and no quiet slots.
    pub quota_period_us: Option<u64>,
    /// Whether nobody else can play.
    pub is_alone: bool,
}

/// What a worker lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unmet {
    /// Engines.
    Engines,
    /// This label.
    Label(WantedLabel),
    /// A quota of CPU time with a period of no more than so many microseconds.
    QuotaPeriod {
        /// So many.
        most_us: u64,
        /// What it has.
        period_us: u64,
    },
    /// A speed of at least so many nodes per second.
    Speed {
        /// At this game.
        game: String,
        /// So many.
        least: u64,
        /// What it has.
        nodes_per_second: u64,
    },
    /// A speed that differs by no more than so many thousandths.
    Noise {
        /// At this game.
        game: String,
        /// So many.
        most_permille: u32,
        /// What it has.
        noise_permille: u32,
    },
    /// A speed at this game that is known, and no older than [`SPEED_FRESH_MS`].
    Measured(String),
}

/// How much games are for a worker by what they prefer: the lesser first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Liking {
    /// It has all labels that they prefer.
    Preferred,
    /// They prefer none.
    Indifferent,
    /// It lacks one.
    Disliked,
}

impl Demands {
    /// Whether every worker meets them, and none better than another.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The same, as it is known already; `None` if it is nothing. There may be 100,000 cells that ask for the same.
    #[must_use]
    pub fn shared(self, known: &mut BTreeSet<Arc<Self>>) -> Option<Arc<Self>> {
        if self.is_nothing() {
            return None;
        }
        let found = known.get(&self).map(Arc::clone);
        Some(found.unwrap_or_else(|| {
            let demands = Arc::new(self);
            known.insert(Arc::clone(&demands));
            demands
        }))
    }

    /// Whether a machine with these engines has those that are needed, and they can do what is asked of them.
    #[must_use]
    pub fn has_engines(&self, offered: &[OfferedEngine]) -> bool {
        can_play(&self.engines, offered) && self.inability(offered).is_none()
    }

    /// What the first engine cannot do that is asked of it; `None` if nothing of that is known.
    #[must_use]
    pub fn inability(&self, offered: &[OfferedEngine]) -> Option<Inability> {
        self.requests
            .iter()
            .find_map(|request| request.unmet_by(capabilities_for(request, offered)?))
    }

    /// Bytes that the hash tables of these engines take where the sweep does not set their size. What it sets is part
    /// of the cell's memory.
    #[must_use]
    pub fn unset_hash_bytes(&self, offered: &[OfferedEngine]) -> u64 {
        let unset = self.requests.iter().filter(|it| it.number_of(HASH_OPTION).is_none());
        let bytes = unset.filter_map(|request| {
            let capabilities = capabilities_for(request, offered)?;
            capabilities.number_of(HASH_OPTION).map(hash_bytes)
        });
        bytes.fold(0, u64::saturating_add)
    }

    /// What of them a worker lacks first; `None` if it meets all.
    #[must_use]
    pub fn unmet_by(&self, offer: &Offer) -> Option<Unmet> {
        if !self.has_engines(&offer.engines) {
            return Some(Unmet::Engines);
        }
        let mut lacking = self.require.iter().filter(|label| !label.is_met_by(&offer.labels));
        let label = lacking.next().cloned().map(Unmet::Label);
        let quota = || self.quota.and_then(|bound| bound.unmet_by(offer));
        // Last, so that nobody measures a speed for nothing.
        let speed = || self.speed.as_ref().and_then(|bounds| bounds.unmet_by(&offer.speeds));
        label.or_else(quota).or_else(speed)
    }

    /// How much they are for a worker.
    #[must_use]
    pub fn liking(&self, offer: &Offer) -> Liking {
        if self.prefer.is_empty() {
            Liking::Indifferent
        } else if self.prefer.iter().all(|label| label.is_met_by(&offer.labels)) {
            Liking::Preferred
        } else {
            Liking::Disliked
        }
    }
}

/// What the engine that is asked for reported that it can do.
fn capabilities_for<'a>(
    request: &EngineRequest,
    offered: &'a [OfferedEngine],
) -> Option<&'a Capabilities> {
    let is_meant =
        |it: &&OfferedEngine| it.engine == request.engine && it.protocol == request.protocol;
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
    /// What of them a machine with these speeds lacks first.
    #[must_use]
    pub fn unmet_by(&self, speeds: &[Speed]) -> Option<Unmet> {
        let game = || self.game.clone();
        let known = speeds.iter().find(|it| it.game == self.game && it.age_ms <= SPEED_SLOW_MS);
        let Some(&Speed { nodes_per_second, noise_permille, age_ms, .. }) = known else {
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
        // Who is too slow is so for longer.
        assert_eq!(lacks(&[speed(999, 0, SPEED_SLOW_MS)]), Some(slow));
        assert_eq!(lacks(&[speed(999, 0, SPEED_SLOW_MS + 1)]), unknown);
        let noisy = Unmet::Noise { game: game(), most_permille: 50, noise_permille: 51 };
        assert_eq!(lacks(&[speed(1_000, 51, 0)]), Some(noisy));
        let none = SpeedBounds { speed_min: None, noise_max_permille: None, ..bounds.clone() };
        assert_eq!(none.unmet_by(&[speed(1, 9_999, 0)]), None);
    }

    /// What the sweep sets is in the cell's memory already; else the engine's own size counts, on each side.
    #[test]
    fn hash_tables_count_where_the_sweep_does_not_set_them() {
        let request = |hash: Option<&str>| EngineRequest {
            engine: "fish".to_owned(),
            protocol: Protocol::Uci,
            options: hash.map(|it| ("hash".to_owned(), it.to_owned())).into_iter().collect(),
            game: GameRequest::default(),
            depth: true,
            nodes: false,
            move_time_us: None,
            clock: false,
        };
        let requests = |of: [Option<&str>; 2]| Demands {
            requests: of.map(request).into(),
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
        let mib = |of| requests(of).unset_hash_bytes(&here) >> 20;
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
