//! Operator settings, and the bounds on workers' requests (invariant 9).

/// The scheduler's constants. [`Policy::default`] is right unless a test or an operator has special needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How long a lease lives without a heartbeat that names it: six heartbeats.
    pub lease_duration_ms: u64,
    /// Work that each slot of a worker gets at once, by measured game times.
    pub batch_ms: u64,
    /// Most games in a lease; at least 2, so that a pair fits.
    pub games_per_lease_max: u64,
    /// Most ranges in a lease; at least 1.
    pub ranges_per_lease_max: usize,
    /// Retry delay for a worker if all games are leased and some may come back.
    pub retry_waiting_ms: u64,
    /// Retry delay for a worker if only a new experiment could bring games.
    pub retry_done_ms: u64,
    /// Losses after which a game is leased alone.
    pub losses_until_alone: u32,
    /// Reported failures after which a game is settled as failed.
    pub failures_max: u32,
    /// Losses of leases that held only this game after which it is settled as failed.
    pub losses_alone_max: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            lease_duration_ms: 30_000,
            batch_ms: 4_000,
            games_per_lease_max: 4_096,
            ranges_per_lease_max: 1_024,
            retry_waiting_ms: 500,
            retry_done_ms: 2_000,
            losses_until_alone: 2,
            failures_max: 3,
            losses_alone_max: 10,
        }
    }
}
