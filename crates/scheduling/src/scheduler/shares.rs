//! Chooses the experiment of the next lease.
//!
//! A larger priority goes first. Experiments of equal priority share by time: each has a tag, its leased work
//! so far in microseconds; the smallest goes first and is charged for the lease. This is start-time fair
//! queueing (Goyal, Vin & Cheng 1996): an experiment that is new, or had no games to lease for a while,
//! continues from the tag that was served last, so that it neither catches up on work it did not want nor
//! waits for the others.
//!
//! An experiment may prefer, or avoid, the asking worker by its labels: then it counts as having had less
//! work, or more ([`Shares::order`]). So neither it nor the others wait longer than that much work takes.
//!
//! Tags are not durable: a restart lets experiments of equal priority start level.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use spelrum_model::ExperimentId;

/// The order in which experiments are served.
#[derive(Clone, Debug, Default)]
pub(super) struct Shares {
    shares: BTreeMap<ExperimentId, Share>,
    /// Experiments with games to lease, in order of service.
    ready: BTreeSet<Turn>,
    /// The tag that was served last at each priority that has experiments.
    clocks: BTreeMap<i32, u128>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    priority: i32,
    tag_us: u128,
    ready: bool,
}

/// A place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    priority: Reverse<i32>,
    tag_us: u128,
    /// The experiment.
    experiment: ExperimentId,
}

impl Share {
    const fn turn(&self, experiment: ExperimentId) -> Turn {
        Turn { priority: Reverse(self.priority), tag_us: self.tag_us, experiment }
    }
}

impl Shares {
    /// Adds an experiment, or changes its priority.
    pub(super) fn set_priority(&mut self, experiment: ExperimentId, priority: i32) {
        let ready = match self.shares.get(&experiment) {
            Some(share) if share.priority == priority => return,
            Some(share) => share.ready,
            None => false,
        };
        self.remove(experiment);
        let tag_us = *self.clocks.entry(priority).or_default();
        self.shares.insert(experiment, Share { priority, tag_us, ready: false });
        self.set_ready(experiment, ready);
    }

    /// Sets whether an experiment has games to lease.
    pub(super) fn set_ready(&mut self, experiment: ExperimentId, ready: bool) {
        let Some(share) = self.shares.get_mut(&experiment).filter(|share| share.ready != ready)
        else {
            return;
        };
        self.ready.remove(&share.turn(experiment));
        share.ready = ready;
        if ready {
            let clock = self.clocks.get(&share.priority).copied().unwrap_or_default();
            share.tag_us = share.tag_us.max(clock);
            self.ready.insert(share.turn(experiment));
        }
    }

    /// The experiments with games to lease, in order of service, each counted with this much less work, in
    /// microseconds, than it has had. Only those of equal priority change places by that.
    pub(super) fn order(
        &self,
        preference_us: impl Fn(ExperimentId) -> i128,
    ) -> impl Iterator<Item = ExperimentId> {
        let mut ready = self.ready.iter().peekable();
        let priorities = std::iter::from_fn(move || {
            let priority = ready.peek()?.priority;
            let mut equals: Vec<(i128, ExperimentId)> = Vec::new();
            while let Some(turn) = ready.next_if(|turn| turn.priority == priority) {
                let tag_us = i128::try_from(turn.tag_us).unwrap_or(i128::MAX / 2);
                equals.push((tag_us - preference_us(turn.experiment), turn.experiment));
            }
            equals.sort_unstable();
            Some(equals)
        });
        priorities.flatten().map(|(_, experiment)| experiment)
    }

    /// Charges an experiment for a lease.
    pub(super) fn charge(&mut self, experiment: ExperimentId, work_us: u128) {
        let Some(share) = self.shares.get_mut(&experiment) else { return };
        let was_ready = self.ready.remove(&share.turn(experiment));
        let clock = self.clocks.entry(share.priority).or_default();
        *clock = share.tag_us.max(*clock);
        share.tag_us = share.tag_us.saturating_add(work_us);
        if was_ready {
            self.ready.insert(share.turn(experiment));
        }
    }

    /// Forgets an experiment.
    pub(super) fn remove(&mut self, experiment: ExperimentId) {
        if let Some(share) = self.shares.remove(&experiment) {
            self.ready.remove(&share.turn(experiment));
            if self.shares.values().all(|remaining| remaining.priority != share.priority) {
                self.clocks.remove(&share.priority);
            }
        }
    }

    /// Whether an experiment is among those with games to lease.
    pub(super) fn is_ready(&self, experiment: ExperimentId) -> bool {
        self.shares.get(&experiment).is_some_and(|share| share.ready)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: ExperimentId = ExperimentId(1);
    const B: ExperimentId = ExperimentId(2);
    const C: ExperimentId = ExperimentId(3);

    fn ready(priorities: &[(ExperimentId, i32)]) -> Shares {
        let mut shares = Shares::default();
        for &(experiment, priority) in priorities {
            shares.set_priority(experiment, priority);
            shares.set_ready(experiment, true);
        }
        shares
    }

    fn serve(shares: &mut Shares, work_us: u128) -> ExperimentId {
        let experiment = shares.order(|_| 0).next().unwrap();
        shares.charge(experiment, work_us);
        experiment
    }

    #[test]
    fn a_larger_priority_goes_first() {
        let mut shares = ready(&[(A, 0), (B, 1)]);
        assert!((0..10).all(|_| serve(&mut shares, 1_000_000) == B));
        shares.set_ready(B, false);
        assert_eq!(serve(&mut shares, 1), A);
        shares.set_ready(B, true);
        assert_eq!(serve(&mut shares, 1), B);
        shares.set_priority(A, 2);
        assert_eq!(serve(&mut shares, 1), A);
    }

    #[test]
    fn a_newcomer_does_not_catch_up() {
        let mut shares = ready(&[(A, 0)]);
        for _ in 0..100 {
            serve(&mut shares, 10);
        }
        shares.set_priority(B, 0);
        shares.set_ready(B, true);
        let served: Vec<_> = (0..6).map(|_| serve(&mut shares, 10)).collect();
        assert_eq!(served, [B, A, B, A, B, A]);
    }

    #[test]
    fn one_that_had_nothing_to_lease_does_not_catch_up() {
        let mut shares = ready(&[(A, 0), (B, 0)]);
        shares.set_ready(B, false);
        for _ in 0..100 {
            assert_eq!(serve(&mut shares, 10), A);
        }
        shares.set_ready(B, true);
        let served: Vec<_> = (0..5).map(|_| serve(&mut shares, 10)).collect();
        assert_eq!(served, [B, A, B, A, B]);
    }

    #[test]
    fn one_that_cannot_be_served_is_passed_over() {
        let shares = ready(&[(A, 1), (B, 0)]);
        assert!(shares.order(|_| 0).eq([A, B]));
    }

    #[test]
    fn a_head_start_changes_places_among_equals_only() {
        let mut shares = ready(&[(A, 1), (B, 0), (C, 0)]);
        let likes =
            |liked: ExperimentId| move |experiment| if experiment == liked { 100 } else { 0 };
        assert!(shares.order(|_| 0).eq([A, B, C]));
        assert!(shares.order(likes(C)).eq([A, C, B]));
        // While it lasts.
        shares.charge(C, 99);
        assert!(shares.order(likes(C)).eq([A, C, B]));
        shares.charge(C, 2);
        assert!(shares.order(likes(C)).eq([A, B, C]));
    }

    proptest! {
        /// However large the leases, no two experiments that always have games drift apart by
        /// more than the largest lease of either.
        #[test]
        fn equal_priorities_share_by_time(
            sizes in prop::collection::vec([1_u128..50, 1_u128..500, 1_u128..5_000], 1..200),
        ) {
            let experiments = [A, B, C];
            let mut shares = ready(&experiments.map(|experiment| (experiment, 7)));
            let mut work = [0_u128; 3];
            for size in sizes {
                let turn = shares.order(|_| 0).next().unwrap();
                let index = experiments.iter().position(|&e| e == turn).unwrap();
                shares.charge(turn, size[index]);
                work[index] += size[index];
                let spread = work.iter().max().unwrap() - work.iter().min().unwrap();
                prop_assert!(spread <= 5_000, "{:?}", work);
            }
        }
    }
}
