//! Totals for monitoring a coordinator.

use spelrum_model::ExperimentState;

use super::machine::Scheduler;

/// Totals of everything that is not over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Experiments whose games are handed out.
    pub running: u64,
    /// Paused experiments.
    pub paused: u64,
    /// Games of running experiments that could be leased now and are not, whatever their demands.
    pub waiting_games: u64,
    /// Games in live leases, of running and paused experiments.
    pub leased_games: u64,
    /// Live leases.
    pub leases: u64,
}

impl Scheduler {
    /// Computes the totals. Takes time with the number of experiments that are not over.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts { leases: self.leases.count(), ..Counts::default() };
        let (mut waiting, mut leased) = (0, 0);
        for experiment in self.experiments.values().filter(|experiment| !experiment.is_over()) {
            leased += experiment.leased;
            match experiment.state {
                ExperimentState::Running => {
                    counts.running += 1;
                    waiting += experiment.waiting.min(experiment.room());
                }
                ExperimentState::Paused
                | ExperimentState::Cancelled
                | ExperimentState::Finished => counts.paused += 1,
            }
        }
        counts.waiting_games = u64::try_from(waiting).unwrap_or(u64::MAX);
        counts.leased_games = u64::try_from(leased).unwrap_or(u64::MAX);
        counts
    }
}
