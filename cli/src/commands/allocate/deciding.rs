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
    /// Jobs that wait for a node.
    pub(super) pending: u32,
    /// Jobs with a node.
    pub(super) running: u32,
}

impl Jobs {
    pub(super) fn all(self) -> u32 {
        self.pending.saturating_add(self.running)
    }
}

/// Bounds on the number of jobs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Queued games per job.
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

/// Engines, labels and memory of the submitted workers.
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

/// The use of the submitted jobs, as far as the queue shows it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// Queued games when jobs were submitted, or ended, last.
    games: u64,
    /// Jobs after the last look.
    jobs: u32,
    /// Whether all of them ran then.
    all_ran: bool,
    /// Looks, one after the other, that showed jobs which had ended for nothing.
    in_vain: u32,
}

impl Use {
    /// Records a look. Returns whether jobs have ended since the last and no fewer games are queued. The count of such
    /// looks begins anew when fewer are, or when all jobs have run from one look to the next.
    pub(super) fn look(&mut self, games: u64, jobs: Jobs) -> bool {
        let have_ended = jobs.all() < self.jobs;
        let run_on = !have_ended && self.all_ran;
        let is_in_vain = have_ended && games > 0 && games >= self.games;
        if is_in_vain {
            self.in_vain = self.in_vain.saturating_add(1);
        } else if have_ended || run_on || games < self.games {
            self.in_vain = 0;
        }
        if have_ended || self.jobs == 0 {
            self.games = games;
        }
        self.jobs = jobs.all();
        self.all_ran = !is_in_vain && jobs.running > 0 && jobs.pending == 0;
        is_in_vain
    }

    /// Records a submission.
    pub(super) const fn submitted(&mut self, games: u64, jobs: u32) {
        self.games = games;
        self.jobs = self.jobs.saturating_add(jobs);
        self.all_ran = false;
    }

    /// Looks in a row that showed jobs which had ended for nothing, apart from looks that showed nothing.
    pub(super) const fn in_vain(self) -> u32 {
        self.in_vain
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

    fn running(running: u32) -> Jobs {
        Jobs { pending: 0, running }
    }

    #[test]
    fn jobs_that_end_at_once_are_in_vain_each_time() {
        for others in [0, 3] {
            let mut jobs_use = Use::default();
            for round in 0..5 {
                assert!(!jobs_use.look(20, running(others)));
                jobs_use.submitted(20, 2);
                // Jobs that have no node yet say nothing.
                assert!(!jobs_use.look(20, Jobs { pending: 2, running: others }));
                assert!(jobs_use.look(20, running(others)), "{round}");
                assert_eq!(jobs_use.in_vain(), round + 1);
            }
        }
    }

    #[test]
    fn jobs_that_play_begin_the_count_anew() {
        let in_vain_once = || {
            let mut jobs_use = Use::default();
            assert!(!jobs_use.look(20, running(5)), "it is not known since when these run");
            assert!(jobs_use.look(20, running(4)));
            jobs_use
        };
        let mut fewer_games = in_vain_once();
        assert!(!fewer_games.look(19, running(4)));
        assert_eq!(fewer_games.in_vain(), 0);
        let mut run_on = in_vain_once();
        for in_vain in [1, 0] {
            assert!(!run_on.look(20, running(4)));
            assert_eq!(run_on.in_vain(), in_vain);
        }
        // Some end since nothing is left for them, one after the other.
        let mut done = in_vain_once();
        assert!(!done.look(0, running(3)) && !done.look(0, running(2)));
        assert_eq!(done.in_vain(), 0);
        // All have ended, and some of their games are still queued.
        let mut ended = in_vain_once();
        assert!(!ended.look(10, running(0)));
        assert_eq!(ended.in_vain(), 0);
        assert!(!ended.look(30, running(0)), "games were submitted, and no jobs were there");
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
            assert_eq!(offered.playable(std::slice::from_ref(&group)), games, "{group:?}");
        }
    }
}
