//! Counts a move's nodes and evaluations against its limits.

use std::time::Duration;

use crate::core::host::Host;
use crate::core::limits::{EndedBy, Limits, NoMove, Stop};

/// Nodes between two looks, at most: a few microseconds of the fastest search. Looking more often cost a
/// tenth of its speed.
const NODES_BETWEEN_LOOKS_MAX: u64 = 256;

/// The same for nodes that each take as much work as a hundred ordinary ones.
const COSTLY_NODES_BETWEEN_LOOKS: u64 = 4;

/// Time between two readings of the clock, if the next nodes take as long as the last ones.
const TIME_BETWEEN_READINGS: Duration = Duration::from_micros(50);

/// Counts a search's nodes and evaluations and says when to stop.
///
/// A time limit is a node limit that the clock chose (invariant 3): the clock is read only here,
/// only before a node is made, and the node count at which it stopped the search is recorded.
/// Given that count instead of a clock, the same search stops at the same place.
///
/// The number of nodes between two readings follows from the time that the last ones took; it affects only
/// when the clock is read. While nodes cost the same, a limit is overrun by at most 50 microseconds or one
/// node, whichever is longer; when nodes suddenly become costly, by at most 256 of them, once.
pub struct Budget<'h> {
    host: &'h dyn Host,
    nodes: u64,
    evaluations: u64,
    /// The node count at which [`Budget::look`] is next due.
    next_look: u64,
    node_limit: u64,
    evaluation_limit: u64,
    deadline: Option<Deadline>,
    replayed_stop: Option<u64>,
}

/// The end of the move's time, and when to check it.
struct Deadline {
    at: Duration,
    /// The last reading of the clock, and the number of nodes at that moment.
    read_at: Duration,
    read_after: u64,
    /// Nodes until the next reading.
    interval: u64,
}

impl Deadline {
    fn new(now: Duration, time: Duration) -> Self {
        Self { at: now + time, read_at: now, read_after: 0, interval: 1 }
    }

    /// Reads the clock after this many nodes. The more time they took, the sooner the next reading;
    /// otherwise the interval at most doubles.
    fn read(&mut self, now: Duration, nodes: u64) {
        let made = u128::from(nodes - self.read_after);
        let took = now.saturating_sub(self.read_at).as_nanos();
        if made > 0 {
            let affordable = made * TIME_BETWEEN_READINGS.as_nanos() / took.max(1);
            let most = (2 * self.interval).min(NODES_BETWEEN_LOOKS_MAX);
            self.interval = u64::try_from(affordable).unwrap_or(u64::MAX).clamp(1, most);
        }
        (self.read_at, self.read_after) = (now, nodes);
    }
}

impl<'h> Budget<'h> {
    /// A budget for one move, its time running from now.
    #[must_use]
    pub fn new(limits: &Limits, host: &'h dyn Host) -> Self {
        let deadline =
            limits.move_time_us.map(|us| Deadline::new(host.wall(), Duration::from_micros(us)));
        Self::with(limits, host, deadline, None)
    }

    /// A budget for one move of a replay: `stop` is the node count at which the clock stopped the
    /// recorded search, `None` if something else ended it. The clock is not read.
    #[must_use]
    pub fn replay(limits: &Limits, host: &'h dyn Host, stop: Option<u64>) -> Self {
        Self::with(limits, host, None, stop)
    }

    fn with(
        limits: &Limits,
        host: &'h dyn Host,
        deadline: Option<Deadline>,
        replayed_stop: Option<u64>,
    ) -> Self {
        let mut budget = Self {
            host,
            nodes: 0,
            evaluations: 0,
            next_look: 0,
            node_limit: limits.nodes.unwrap_or(u64::MAX),
            evaluation_limit: limits.evaluations.unwrap_or(u64::MAX),
            deadline,
            replayed_stop,
        };
        budget.plan_next_look();
        budget
    }

    /// Counts a node; call before a move is made in the search.
    ///
    /// # Errors
    /// If a limit forbids it; then no node is counted and none must be made.
    #[inline]
    pub fn enter(&mut self) -> Result<(), Stop> {
        self.enter_many(1)
    }

    /// As [`Budget::enter`], for nodes that take tens of microseconds each: checks the clock after
    /// a few of them.
    ///
    /// # Errors
    /// If a limit forbids it; then no node is counted and none must be made.
    #[inline]
    pub fn enter_costly(&mut self) -> Result<(), Stop> {
        if self.nodes.is_multiple_of(COSTLY_NODES_BETWEEN_LOOKS) {
            self.look(1)?;
        }
        self.enter()
    }

    /// Counts several nodes; call before a batch of moves whose results are evaluated together.
    ///
    /// # Errors
    /// If a limit forbids some of them; then the allowed ones are counted, and their results are
    /// lost.
    #[inline]
    pub fn enter_many(&mut self, nodes: u32) -> Result<(), Stop> {
        let nodes = u64::from(nodes);
        if self.nodes + nodes > self.next_look {
            self.look(nodes)?;
        }
        self.nodes += nodes;
        Ok(())
    }

    /// Makes several nodes in one go: `make` gets the number of nodes that it may make and returns
    /// the number that it made. The effect is that of calling [`Budget::enter`] before each.
    ///
    /// # Errors
    /// If a limit forbids even one; then `make` is not called.
    ///
    /// # Panics
    /// If `make` reports more nodes than it may make.
    #[inline]
    pub fn enter_run(&mut self, make: impl FnOnce(u32) -> u32) -> Result<u32, Stop> {
        if self.nodes >= self.next_look {
            self.look(1)?;
        }
        let room = u32::try_from(self.next_look - self.nodes).unwrap_or(u32::MAX);
        let made = make(room);
        assert!(made <= room, "more nodes than there was room for");
        self.nodes += u64::from(made);
        Ok(made)
    }

    /// Checks the clock; call repeatedly in long work that makes no nodes, and before nodes are made.
    /// Work between two checks at the same node count must not matter if the later check stops the
    /// search: a replay stops at the first.
    ///
    /// # Errors
    /// If a limit forbids the next node, or time is up.
    pub fn look_between_nodes(&mut self) -> Result<(), Stop> {
        self.look(1)
    }

    /// Counts a static evaluation; call before it.
    ///
    /// # Errors
    /// If the limit on evaluations forbids it; then none is counted.
    #[inline]
    pub fn evaluate(&mut self) -> Result<(), Stop> {
        self.evaluate_many(1)
    }

    /// Counts several static evaluations that are made together; call before them.
    ///
    /// # Errors
    /// If the limit on evaluations forbids some of them; then the allowed ones are counted.
    #[inline]
    pub fn evaluate_many(&mut self, evaluations: u32) -> Result<(), Stop> {
        let evaluations = u64::from(evaluations);
        if evaluations > self.evaluation_limit - self.evaluations {
            self.evaluations = self.evaluation_limit;
            return Err(Stop::Limit(EndedBy::Evaluations));
        }
        self.evaluations += evaluations;
        Ok(())
    }

    /// Runs a function with at most this many of the remaining nodes, and also returns whether this
    /// share ran out rather than a limit of the move.
    pub(crate) fn with_share<T>(
        &mut self,
        nodes: u64,
        work: impl FnOnce(&mut Self) -> T,
    ) -> (T, bool) {
        let limit = self.node_limit;
        self.node_limit = limit.min(self.nodes.saturating_add(nodes));
        self.plan_next_look();
        let done = work(self);
        let is_spent = self.nodes >= self.node_limit && self.node_limit < limit;
        self.node_limit = limit;
        self.plan_next_look();
        (done, is_spent)
    }

    /// Nodes that the limit still allows.
    pub(crate) fn nodes_left(&self) -> u64 {
        self.node_limit - self.nodes
    }

    /// Nodes made so far.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Evaluations so far.
    #[must_use]
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    #[cold]
    fn look(&mut self, nodes: u64) -> Result<(), Stop> {
        if self.host.aborted() {
            return Err(Stop::NoMove(NoMove::Aborted));
        }
        if nodes > self.node_limit - self.nodes {
            self.nodes = self.node_limit;
            return Err(Stop::Limit(EndedBy::Nodes));
        }
        if self.replayed_stop.is_some_and(|stop| self.nodes >= stop) {
            return Err(Stop::Limit(EndedBy::Time));
        }
        if let Some(deadline) = &mut self.deadline {
            let now = self.host.wall();
            if now >= deadline.at {
                return Err(Stop::Limit(EndedBy::Time));
            }
            deadline.read(now, self.nodes);
        }
        self.plan_next_look();
        Ok(())
    }

    fn plan_next_look(&mut self) {
        // Without a clock to read, a look only checks whether the game is still wanted.
        let interval =
            self.deadline.as_ref().map_or(NODES_BETWEEN_LOOKS_MAX, |deadline| deadline.interval);
        let periodic = self.nodes.saturating_add(interval);
        self.next_look = periodic.min(self.node_limit).min(self.replayed_stop.unwrap_or(u64::MAX));
    }
}
