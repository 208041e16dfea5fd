//! Games that wait for workers, by what they need: for programs that start workers as games wait.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::call;

/// Most groups of an answer.
pub const QUEUED_GROUPS_MAX: usize = 1_000;

/// Games of running experiments that could be leased now and are not, by what they need of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetQueue {}
call!(GetQueue: Get "/api/v1/queue" -> Queue);

/// The games that wait for workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// All groups together, including trainings of networks and verifications. Where an experiment bounds its leased games,
    /// it bounds each group by itself: any of these games may be the next.
    pub games: u64,
    /// The same by their needs, the largest groups first: at most 1,000.
    pub groups: Vec<QueuedGames>,
}

/// Games that need the same of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueuedGames {
    /// The number of games.
    pub games: u64,
    /// The names of the external engines that each needs.
    pub engines: Vec<String>,
    /// The labels that their sweep requires, such as `site=lab2` or `gpu`.
    pub labels: Vec<String>,
    /// Whether their sweep bounds the machine's speed or its variation, or the period of a CPU quota.
    pub bounds_machine: bool,
    /// Whether they are timed: a worker that has exclusive slots plays them there.
    pub timed: bool,
    /// The memory that a game may take, in bytes.
    pub memory_bytes: u64,
}
