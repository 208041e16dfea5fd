//! The dispatcher's metrics: games, leases, workers, results, transactions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use prometheus::{
    Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};
use spelrum_model::WorkerId;
use spelrum_model::withheld::Withheld;
use spelrum_scheduling::scheduler::{Counts, Need, NeededMemory, NeededWorker};

use super::{SECONDS, gauge, gauge_value};

/// The dispatcher's metrics.
pub(crate) struct Work {
    games_queued: IntGauge,
    games_queued_by_need: BTreeMap<Need, IntGauge>,
    games_leased: IntGauge,
    leases: IntGauge,
    workers: IntGauge,
    running: IntGauge,
    paused: IntGauge,
    finished: IntCounter,
    failed: IntCounter,
    trained: IntCounter,
    verified: IntCounter,
    deviating: IntCounter,
    attempts: IntCounter,
    again: IntCounter,
    over: IntCounter,
    excluded: IntCounter,
    disturbed: IntCounter,
    irregular: IntCounter,
    not_leased: IntCounter,
    granted: IntCounter,
    expired: IntCounter,
    quarantined: IntCounter,
    workers_withheld: [IntGauge; 3],
    commit_seconds: Histogram,
    rolled_back: IntCounter,
}

/// Counts of one transaction of the dispatcher, added to the metrics after the commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Games with a result that counts.
    pub(crate) finished: u64,
    /// Games and trainings that were given up.
    pub(crate) failed: u64,
    /// Trainings that produced a network.
    pub(crate) trained: u64,
    /// Games that were replayed for comparison.
    pub(crate) verified: u64,
    /// Replays whose results differ.
    pub(crate) deviating: u64,
    /// Recorded failures of games that are retried.
    pub(crate) attempts: u64,
    /// Results of games that had one.
    pub(crate) again: u64,
    /// Results of experiments that are over.
    pub(crate) over: u64,
    /// Results of excluded workers.
    pub(crate) excluded: u64,
    /// Disturbed results, whose games are replayed.
    pub(crate) disturbed: u64,
    /// Results that violate the rules.
    pub(crate) irregular: u64,
    /// Results of games that were never leased to their worker.
    pub(crate) not_leased: u64,
    pub(crate) granted: u64,
    pub(crate) expired: u64,
    pub(crate) quarantined: u64,
}

impl Work {
    pub(super) fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let labelled = |name: &str, help: &str, label: &str| {
            let counters = IntCounterVec::new(Opts::new(name, help), &[label])?;
            registry.register(Box::new(counters.clone()))?;
            Ok::<_, prometheus::Error>(counters)
        };
        let counter = |name: &str, help: &str| {
            let counter = IntCounter::new(name, help)?;
            registry.register(Box::new(counter.clone()))?;
            Ok::<_, prometheus::Error>(counter)
        };
        let settled = labelled(
            "spelrum_games_settled_total",
            "Games that were settled: finished with a result that counts, failed for good; \
             networks that were trained, and games that were verified.",
            "kind",
        )?;
        let uncounted = labelled(
            "spelrum_results_uncounted_total",
            "Results that came and do not count: of games that had one (again), of experiments that \
             are over (over), or of workers that are excluded (excluded); or their games are played again, \
             since they were disturbed (disturbed).",
            "why",
        )?;
        let refused = labelled(
            "spelrum_results_refused_total",
            "Results that were refused: the rules do not allow them (irregular), or their worker \
             never had the game (not_leased).",
            "why",
        )?;
        let experiments = IntGaugeVec::new(
            Opts::new("spelrum_experiments", "Experiments that are not over, by their state."),
            &["state"],
        )?;
        registry.register(Box::new(experiments.clone()))?;
        let withheld = IntGaugeVec::new(
            Opts::new(
                "spelrum_workers_withheld",
                "Workers that get no games: somebody has excluded them (excluded), or they fail much more \
                 than others (quarantined); or none of an engine that dies there alone (barred).",
            ),
            &["why"],
        )?;
        registry.register(Box::new(withheld.clone()))?;
        let commit_seconds = HistogramOpts::new(
            "spelrum_commit_seconds",
            "How long a commit of the dispatcher took, in seconds.",
        );
        let commit_seconds = Histogram::with_opts(commit_seconds.buckets(SECONDS.to_vec()))?;
        registry.register(Box::new(commit_seconds.clone()))?;
        Ok(Self {
            games_queued: gauge(
                registry,
                "spelrum_games_queued",
                "Games and trainings that could be leased now and are not.",
            )?,
            games_queued_by_need: queued_by_need(registry)?,
            games_leased: gauge(
                registry,
                "spelrum_games_leased",
                "Games and trainings that workers have.",
            )?,
            leases: gauge(registry, "spelrum_leases", "Live leases.")?,
            workers: gauge(
                registry,
                "spelrum_workers",
                "Workers that were heard of within the life of a lease.",
            )?,
            running: experiments.get_metric_with_label_values(&["running"])?,
            paused: experiments.get_metric_with_label_values(&["paused"])?,
            finished: settled.get_metric_with_label_values(&["finished"])?,
            failed: settled.get_metric_with_label_values(&["failed"])?,
            trained: settled.get_metric_with_label_values(&["trained"])?,
            verified: settled.get_metric_with_label_values(&["verified"])?,
            deviating: counter(
                "spelrum_verifications_different_total",
                "Games that came out otherwise when another worker played them again.",
            )?,
            attempts: counter(
                "spelrum_attempts_failed_total",
                "Failures of games that workers reported and that are tried again.",
            )?,
            again: uncounted.get_metric_with_label_values(&["again"])?,
            over: uncounted.get_metric_with_label_values(&["over"])?,
            excluded: uncounted.get_metric_with_label_values(&["excluded"])?,
            disturbed: uncounted.get_metric_with_label_values(&["disturbed"])?,
            irregular: refused.get_metric_with_label_values(&["irregular"])?,
            not_leased: refused.get_metric_with_label_values(&["not_leased"])?,
            granted: counter("spelrum_leases_granted_total", "Leases that were granted.")?,
            expired: counter(
                "spelrum_lease_expired_total",
                "Leases that ran out: their workers were silent.",
            )?,
            quarantined: counter(
                "spelrum_workers_quarantined_total",
                "How often a worker was quarantined: it failed much more than others.",
            )?,
            workers_withheld: [
                withheld.get_metric_with_label_values(&["excluded"])?,
                withheld.get_metric_with_label_values(&["quarantined"])?,
                withheld.get_metric_with_label_values(&["barred"])?,
            ],
            commit_seconds,
            rolled_back: counter(
                "spelrum_transactions_rolled_back_total",
                "Transactions of the dispatcher that failed; whoever called hears of it.",
            )?,
        })
    }

    /// Records a committed transaction and its duration.
    pub(crate) fn committed(&self, done: Done, took: Duration) {
        self.commit_seconds.observe(took.as_secs_f64());
        // All fields by name: none can be forgotten.
        let Done {
            finished,
            failed,
            trained,
            verified,
            deviating,
            attempts,
            again,
            over,
            excluded,
            disturbed,
            irregular,
            not_leased,
            granted,
            expired,
            quarantined,
        } = done;
        for (counter, count) in [
            (&self.finished, finished),
            (&self.failed, failed),
            (&self.trained, trained),
            (&self.verified, verified),
            (&self.deviating, deviating),
            (&self.attempts, attempts),
            (&self.again, again),
            (&self.over, over),
            (&self.excluded, excluded),
            (&self.disturbed, disturbed),
            (&self.irregular, irregular),
            (&self.not_leased, not_leased),
            (&self.granted, granted),
            (&self.expired, expired),
            (&self.quarantined, quarantined),
        ] {
            if count > 0 {
                counter.inc_by(count);
            }
        }
    }

    /// Records a failed transaction.
    pub(crate) fn rolled_back(&self) {
        self.rolled_back.inc();
    }

    /// Sets the gauges to the current totals.
    pub(crate) fn set(&self, counts: Counts, workers: u64, withheld: &[(WorkerId, Withheld)]) {
        let why = |is_it: fn(&Withheld) -> bool| {
            let workers: BTreeSet<_> =
                withheld.iter().filter(|(_, why)| is_it(why)).map(|(worker, _)| worker).collect();
            gauge_value(workers.len() as u64)
        };
        let [of_excluded, of_quarantined, of_barred] = &self.workers_withheld;
        of_excluded.set(why(|why| matches!(why, Withheld::Excluded)));
        of_quarantined.set(why(|why| matches!(why, Withheld::Quarantined { .. })));
        of_barred.set(why(|why| matches!(why, Withheld::Barred(_))));
        self.games_queued.set(gauge_value(counts.waiting_games));
        for (need, gauge) in &self.games_queued_by_need {
            gauge.set(gauge_value(counts.waiting_games_by_need.get(need).copied().unwrap_or(0)));
        }
        self.games_leased.set(gauge_value(counts.leased_games));
        self.leases.set(gauge_value(counts.leases));
        self.running.set(gauge_value(counts.running));
        self.paused.set(gauge_value(counts.paused));
        self.workers.set(gauge_value(workers));
    }
}

/// The gauges of queued games, one for each need. Names of engines and labels come from outside, and are not here.
fn queued_by_need(registry: &Registry) -> Result<BTreeMap<Need, IntGauge>, prometheus::Error> {
    let gauges = IntGaugeVec::new(
        Opts::new(
            "spelrum_games_queued_by_need",
            "Games and trainings that could be leased now and are not, by what they need: any worker, one of \
             some speed, with labels or with external engines (worker); whether they are timed; the memory that \
             a game may take.",
        ),
        &["worker", "timed", "memory"],
    )?;
    registry.register(Box::new(gauges.clone()))?;
    let mut by_need = BTreeMap::new();
    for worker in NeededWorker::ALL {
        for timed in [false, true] {
            for memory in NeededMemory::ALL {
                let labels = [worker.name(), if timed { "yes" } else { "no" }, memory.name()];
                let gauge = gauges.get_metric_with_label_values(&labels)?;
                by_need.insert(Need { worker, timed, memory }, gauge);
            }
        }
    }
    Ok(by_need)
}
