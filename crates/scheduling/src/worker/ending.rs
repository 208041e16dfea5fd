//! Ending a worker.
//!
//! A finishing worker requests nothing more, lets the games in progress end and reports them. Leases without
//! games in progress or unreported go back at once, the others as soon as possible. The worker waits for an
//! absent coordinator, but not for ever; when ending now, it has little patience for all of this.

use super::api::{Action, Outcome};
use super::machine::Machine;
use super::phase::Phase;
use crate::scheduler::Time;

/// How long a worker whose games are over tries to report to an absent coordinator.
const LAST_REPORT_PATIENCE_MS: u64 = 60_000;

/// How long giving leases back may take, once everything is reported.
const GIVE_BACK_PATIENCE_MS: u64 = 5_000;

/// How long a worker that ends now tries to report finished games, and to give back the rest.
const NOW_PATIENCE_MS: u64 = 2_000;

impl<R: Outcome, C: Clone> Machine<R, C> {
    /// Starts to finish: requests nothing more.
    pub(super) fn finish(&mut self, actions: &mut Vec<Action<R, C>>) {
        if self.phase != Phase::Working {
            return;
        }
        self.phase = Phase::Finishing { report_until: None, now: false };
        self.games.clear();
        self.forget_unwanted_cells();
        self.leases.give_up_waiting();
        self.stop(false, |_| true, actions);
    }

    /// Starts to finish if the worker has had no games for as long as it waits for some. While it obtains the engines
    /// that games wait for, it is not idle.
    pub(super) fn end_when_idle(&mut self, actions: &mut Vec<Action<R, C>>) {
        let is_idle = self.idle_slots.len() == self.slots.len()
            && self.leases.is_empty()
            && self.outbox.load().results == 0
            && !self.speeds.is_wanted()
            && !self.is_obtaining;
        if !is_idle {
            self.idle_since = None;
            return;
        }
        self.idle_since.get_or_insert(self.now);
        let is_over = self.idle_ends_at().is_some_and(|at| at <= self.now);
        // A pending Lease may still grant games.
        if is_over && !self.lease.is_under_way() {
            self.finish(actions);
        }
    }

    /// When the worker ends if it gets no games until then.
    pub(super) fn idle_ends_at(&self) -> Option<Time> {
        let Time(since) = self.idle_since.filter(|_| self.phase == Phase::Working)?;
        Some(Time(since.saturating_add(self.settings.idle_max_ms?)))
    }

    /// Shortens the patience for the remaining calls.
    pub(super) fn end_now(&mut self, actions: &mut Vec<Action<R, C>>) {
        if let Phase::Finishing { now: true, .. } = self.phase {
            return;
        }
        self.finish(actions);
        self.stop(true, |_| true, actions);
        let until = Time(self.now.0 + NOW_PATIENCE_MS);
        self.phase = match self.phase {
            Phase::GivingBack { until: earlier } => Phase::GivingBack { until: until.min(earlier) },
            Phase::Finishing { report_until: Some(earlier), .. } => {
                Phase::Finishing { report_until: Some(until.min(earlier)), now: true }
            }
            Phase::Working | Phase::Finishing { .. } | Phase::Ended => {
                Phase::Finishing { report_until: Some(until), now: true }
            }
        };
    }

    /// Proceeds towards the end as far as possible.
    pub(super) fn advance(&mut self, actions: &mut Vec<Action<R, C>>) {
        if let Phase::Finishing { report_until, now } = self.phase {
            let is_reported = self.outbox.load().results == 0;
            // A pending Lease may still grant games.
            let is_over = self.is_playing_over() && !self.lease.is_under_way();
            let too_late = report_until.is_some_and(|until| until <= self.now);
            if too_late && now {
                return self.end(actions);
            }
            if too_late || is_over && is_reported {
                self.leases.give_up_all();
                let until = Time(self.now.0 + GIVE_BACK_PATIENCE_MS);
                let until = report_until.filter(|_| now).map_or(until, |now| now.min(until));
                self.phase = Phase::GivingBack { until };
            } else if report_until.is_none() && self.is_playing_over() {
                let until = Time(self.now.0 + LAST_REPORT_PATIENCE_MS);
                self.phase = Phase::Finishing { report_until: Some(until), now };
            }
        }
        if let Phase::GivingBack { until } = self.phase
            && (until <= self.now || self.leases.giving_back().is_empty())
        {
            self.end(actions);
        }
    }

    /// Ends, whatever is left.
    pub(super) fn end(&mut self, actions: &mut Vec<Action<R, C>>) {
        self.stop(true, |_| true, actions);
        actions.push(Action::End);
        self.phase = Phase::Ended;
    }

    /// Whether no slot plays, nor will again.
    pub(super) fn is_playing_over(&self) -> bool {
        self.is_ending() && self.idle_slots.len() == self.slots.len()
    }

    /// The latest time for the next step.
    pub(super) const fn ends_at(&self) -> Option<Time> {
        match self.phase {
            Phase::Finishing { report_until, .. } => report_until,
            Phase::GivingBack { until } => Some(until),
            Phase::Working | Phase::Ended => None,
        }
    }
}
