//! Games that wait for workers, by what they need.

use std::cmp::Reverse;

use spelrum_answers::{GetQueue, QUEUED_GROUPS_MAX, Queue, QueuedGames};
use spelrum_model::demands::Demands;
use spelrum_proto::Refusal;
use spelrum_scheduling::scheduler::Queued;

use super::{Answers, Api, Reply};

impl Answers<GetQueue> for Api {
    async fn answer(&self, _question: GetQueue) -> Result<Reply<Queue>, Refusal> {
        let queued = self.dispatch.queued().await?;
        let games = queued.iter().fold(0_u64, |sum, queued| sum.saturating_add(queued.games));
        let mut groups: Vec<QueuedGames> = queued.iter().map(group).collect();
        // The first of equals stays first.
        groups.sort_by_key(|group| Reverse(group.games));
        groups.truncate(QUEUED_GROUPS_MAX);
        Ok(Reply::Small(Queue { games, groups }))
    }
}

fn group(queued: &Queued) -> QueuedGames {
    let Queued { demands, timed, memory_bytes, games } = queued;
    let nothing = Demands::default();
    let Demands { engines, require, .. } = demands.as_deref().unwrap_or(&nothing);
    let mut engines: Vec<String> = engines.iter().map(|needed| needed.engine.clone()).collect();
    engines.dedup();
    QueuedGames {
        games: *games,
        engines,
        labels: require.iter().map(ToString::to_string).collect(),
        bounds_machine: queued.bounds_machine(),
        timed: *timed,
        memory_bytes: *memory_bytes,
    }
}
