//! How many worker jobs are submitted: independent of the batch system.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

use spelrum_answers::QueuedGames;
use spelrum_model::labels::{Label, WantedLabel};

/// Longest wait after failures.
const WAIT_MAX: Duration = Duration::from_mins(30);

/// Worker jobs in the batch system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Jobs {
    /// They wait for a node.
    pub(super) pending: u32,
    /// They have a node.
    pub(super) running: u32,
}

impl Jobs {
    pub(super) fn all(self) -> u32 {
        self.pending.saturating_add(self.running)
    }
}

/// How many jobs are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// A job for each so many queued games.
    pub(super) games_per_job: NonZeroU64,
    /// Most jobs at once, pending and running.
    pub(super) jobs_max: NonZeroU32,
}

/// The number of jobs to submit. Queued games are those that no worker has, so a running job does not count against
/// them; a pending job will take its part.
pub(super) fn jobs_to_submit(queued: u64, jobs: Jobs, bounds: Bounds) -> u32 {
    let Bounds { games_per_job, jobs_max } = bounds;
    let wanted = u32::try_from(queued.div_ceil(games_per_job.get())).unwrap_or(u32::MAX);
    let room = jobs_max.get().saturating_sub(jobs.all());
    wanted.saturating_sub(jobs.pending).min(room)
}

/// What the submitted workers offer.
#[derive(Clone, Debug)]
pub(super) struct Offered<'a> {
    pub(super) engines: &'a [String],
    pub(super) labels: &'a [Label],
    /// The memory of a slot, in bytes.
    pub(super) slot_bytes: u64,
}

impl Offered<'_> {
    /// The queued games that these workers can play. Whether they are fast enough shows only once they run.
    pub(super) fn playable(&self, groups: &[QueuedGames]) -> u64 {
        let playable = groups.iter().filter(|group| self.can_play(group));
        playable.fold(0, |sum, group| sum.saturating_add(group.games))
    }

    fn can_play(&self, group: &QueuedGames) -> bool {
        let has_label = |text: &String| {
            let wanted = WantedLabel::parse(text);
            wanted.is_ok_and(|wanted| wanted.is_met_by(self.labels))
        };
        group.memory_bytes <= self.slot_bytes
            && group.engines.iter().all(|engine| self.engines.contains(engine))
            && group.labels.iter().all(has_label)
    }
}

/// The wait before the next round, after so many failures in a row.
pub(super) fn wait_after(interval: Duration, failures: u32) -> Duration {
    let wait = interval.saturating_mul(1 << failures.min(16));
    wait.min(WAIT_MAX.max(interval))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bounds() -> impl Strategy<Value = Bounds> {
        (1..=20_000_u64, 1..=1_000_u32).prop_map(|(games, jobs)| Bounds {
            games_per_job: NonZeroU64::new(games).unwrap(),
            jobs_max: NonZeroU32::new(jobs).unwrap(),
        })
    }

    fn jobs() -> impl Strategy<Value = Jobs> {
        (0..1_200_u32, 0..1_200_u32).prop_map(|(pending, running)| Jobs { pending, running })
    }

    proptest! {
        #[test]
        fn never_more_than_the_bound_nor_than_games(
            queued in prop_oneof![0..100_000_u64, any::<u64>()],
            jobs in jobs(),
            bounds in bounds(),
        ) {
            let new = jobs_to_submit(queued, jobs, bounds);
            prop_assert!(new == 0 || jobs.all() + new <= bounds.jobs_max.get());
            // The last of the new jobs has a game, also after those that are pending.
            let before = u64::from(jobs.pending) + u64::from(new.saturating_sub(1));
            prop_assert!(new == 0 || before * bounds.games_per_job.get() < queued);
            // Nothing is held back without a reason.
            let is_full = jobs.all() + new >= bounds.jobs_max.get();
            let after = u128::from(jobs.pending + new) * u128::from(bounds.games_per_job.get());
            prop_assert!(is_full || after >= u128::from(queued));
        }

        #[test]
        fn once_submitted_no_more_are(queued: u64, jobs in jobs(), bounds in bounds()) {
            let new = jobs_to_submit(queued, jobs, bounds);
            let next = Jobs { pending: jobs.pending + new, ..jobs };
            prop_assert_eq!(jobs_to_submit(queued, next, bounds), 0);
        }

        #[test]
        fn more_games_want_more_jobs_and_jobs_want_fewer(
            queued in 0..1_000_000_u64,
            more in 0..1_000_000_u64,
            jobs in jobs(),
            bounds in bounds(),
        ) {
            let new = jobs_to_submit(queued, jobs, bounds);
            prop_assert!(jobs_to_submit(queued + more, jobs, bounds) >= new);
            for next in [
                Jobs { pending: jobs.pending + 1, ..jobs },
                Jobs { running: jobs.running + 1, ..jobs },
            ] {
                prop_assert!(jobs_to_submit(queued, next, bounds) <= new);
            }
        }

        #[test]
        fn waits_grow_and_are_bounded(interval in 1..100_000_u64, failures in 0..100_u32) {
            let interval = Duration::from_millis(interval);
            let wait = wait_after(interval, failures);
            prop_assert!(wait >= interval && wait <= WAIT_MAX.max(interval));
            prop_assert!(wait_after(interval, failures + 1) >= wait);
        }
    }

    #[test]
    fn only_games_that_the_workers_can_play_count() {
        let group = |engines: &[&str], labels: &[&str], memory_bytes| QueuedGames {
            games: 10,
            engines: engines.iter().map(|name| (*name).to_owned()).collect(),
            labels: labels.iter().map(|name| (*name).to_owned()).collect(),
            bounds_machine: false,
            timed: false,
            memory_bytes,
        };
        let (engines, labels) = (["fish".to_owned()], [Label::parse("site=lab2").unwrap()]);
        let offered = Offered { engines: &engines, labels: &labels, slot_bytes: 1_000 };
        for (games, group) in [
            (10, group(&[], &[], 1_000)),
            (10, group(&["fish"], &["site"], 0)),
            (10, group(&[], &["site=lab2"], 0)),
            (0, group(&[], &[], 1_001)),
            (0, group(&["fish", "bird"], &[], 0)),
            (0, group(&[], &["site=lab1"], 0)),
            (0, group(&[], &["site", "gpu"], 0)),
            (0, group(&[], &["no label, of another release"], 0)),
        ] {
            assert_eq!(offered.playable(&[group.clone()]), games, "{group:?}");
        }
    }
}
