//! Waiting for a turn at a busy coordinator.

use std::time::{Duration, Instant};

use spelrum_proto::{Reason, Refusal};
use tonic::Status;

use crate::terminal::notices::notify;

/// Several times longer than the work of other clients takes.
const PATIENCE: Duration = Duration::from_secs(900);

/// Repeats a call while the coordinator answers that it is busy and when to retry. Reports the wait once.
///
/// # Errors
///
/// Any other answer, or a coordinator busy for a very long time.
pub(crate) async fn take_turn<T>(
    mut call: impl AsyncFnMut() -> Result<T, Status>,
) -> Result<T, Status> {
    let start = Instant::now();
    let mut has_told = false;
    loop {
        let status = match call().await {
            Ok(answer) => return Ok(answer),
            Err(status) => status,
        };
        let busy = Refusal::from_status(&status).filter(|refusal| refusal.reason == Reason::Busy);
        let Some((problem, wait)) =
            busy.and_then(|refusal| Some((refusal.problem, refusal.retry_after?)))
        else {
            return Err(status);
        };
        if start.elapsed() >= PATIENCE {
            return Err(status);
        }
        if !has_told {
            has_told = true;
            notify(&format!("waiting for a turn at the coordinator: {problem}"));
        }
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_finds_it_busy_comes_again_and_who_is_refused_does_not() {
        let busy = || Status::from(Refusal::busy("too many others", Duration::from_millis(1)));
        let mut calls = 0;
        let answered = take_turn(async || {
            calls += 1;
            if calls < 4 { Err(busy()) } else { Ok(calls) }
        });
        assert_eq!(answered.await.unwrap(), 4);
        let mut calls = 0;
        let refused = take_turn(async || {
            calls += 1;
            Err::<(), _>(Status::from(Refusal::new(Reason::BadQuery, "no", "")))
        });
        assert_eq!(
            Refusal::from_status(&refused.await.unwrap_err()).unwrap().reason,
            Reason::BadQuery
        );
        assert_eq!(calls, 1);
    }
}
