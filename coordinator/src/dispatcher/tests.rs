use std::collections::BTreeMap;

use spelrum_engine::ENGINE_REVISION;
use spelrum_proto::Reason;
use spelrum_proto::work::{Caller, Grant};
use spelrum_tournament::scheduler::{Policy, Time};
use spelrum_tournament::{SweepText, plan_sweep};
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::request::Reply;
use super::*;
use crate::store::WorkerIntroduction;

/// A dispatcher whose turns the test takes.
struct Site {
    dispatcher: Dispatcher,
    epoch: i64,
    _directory: TempDir,
}

impl Site {
    async fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let writer = Writer::open(&directory.path().join("results.db")).await.unwrap();
        let epoch = writer.epoch();
        let (policy, faults) = (Policy::default(), Faults::default());
        let started = Dispatcher::start(writer, policy, Clock::start(), faults).await;
        let (dispatcher, _dispatch) = started.unwrap();
        Self { dispatcher, epoch, _directory: directory }
    }

    /// One request that arrived after so many milliseconds, and its answer.
    async fn ask<T>(
        &mut self,
        ms: u64,
        request: impl FnOnce(Reply<T>) -> Request,
    ) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        let arrived = Arrived { at: Time(ms), request: request(reply) };
        self.dispatcher.serve(Some(arrived)).await.unwrap();
        answer.await.expect("an answer")
    }

    async fn hello(&mut self, ms: u64, name: &str) -> Result<Caller, Refusal> {
        let introduction = introduction(name);
        let worker = self.ask(ms, |reply| Request::Hello { introduction, reply }).await?;
        Ok(Caller { worker, epoch: self.epoch })
    }

    async fn lease(&mut self, ms: u64, caller: Caller) -> Leased {
        self.ask(ms, |reply| Request::Lease { caller, slots: 1, reply }).await.unwrap()
    }

    async fn granted(&mut self, ms: u64, caller: Caller) -> Grant {
        match self.lease(ms, caller).await {
            Leased::Grant(grant) => grant,
            idle @ Leased::Idle { .. } => panic!("{idle:?}"),
        }
    }

    async fn submit(&mut self, name: &str) {
        let submission = Box::new(submission(name));
        self.ask(0, |reply| Request::Submit { submission, reply }).await.unwrap();
    }
}

fn introduction(name: &str) -> WorkerIntroduction {
    WorkerIntroduction {
        uuid: format!("of {name}"),
        name: name.to_owned(),
        host: "host".to_owned(),
        slots: 1,
        engine_revision: ENGINE_REVISION,
        version: "0".to_owned(),
        memory_bytes: None,
    }
}

/// A sweep of two games.
fn submission(name: &str) -> Submission {
    let toml = format!(
        r#"
        name = "{name}"
        game = "tic-tac-toe"
        seed = 7
        games = 2

        [players.random]
        algorithm = "random"

        [players.minimax]
        algorithm = "minimax"
        depth = 1
        "#
    );
    let plan = plan_sweep(&SweepText::new("test.toml", toml.clone())).unwrap();
    let uuid = format!("of {name}");
    Submission { uuid, toml, files: BTreeMap::new(), plan, new_experiment: false }
}

/// Starts of a program that ends at once take no place from a worker that lives.
#[tokio::test]
async fn newcomers_are_taken_in_or_asked_to_come_again() {
    let mut site = Site::new().await;
    site.dispatcher.roster = Roster::with_places(2);
    site.submit("sweep").await;
    let holder = site.hello(0, "holder").await.unwrap();
    site.granted(0, holder).await;
    site.hello(0, "start 1").await.unwrap();
    let refusal = site.hello(1_000, "start 2").await.unwrap_err();
    assert_eq!(refusal.reason, Reason::Busy, "one that may come again");
    assert!(refusal.retry_after.is_some() && !refusal.remedy.is_empty());
    assert!(site.hello(1_000, "start 1").await.is_ok(), "it has its place");
    for start in 2..6 {
        site.hello(start * 100_000, &format!("start {start}")).await.unwrap();
    }
    assert!(site.dispatcher.roster.knows(holder.worker));
    assert!(!site.dispatcher.roster.knows_uuid("of start 4"));
}

/// In one batch, too, there are only so many places.
#[tokio::test]
async fn newcomers_of_one_batch_share_the_places() {
    let mut site = Site::new().await;
    site.dispatcher.roster = Roster::with_places(2);
    let (dispatch, requests) = Dispatch::new(site.dispatcher.clock);
    site.dispatcher.requests = requests;
    let hellos = (0..5).map(|number| dispatch.hello(introduction(&format!("w{number}"))));
    let hellos = futures_util::future::join_all(hellos);
    let serving = async {
        tokio::task::yield_now().await;
        let first = site.dispatcher.requests.recv().await;
        site.dispatcher.serve(first).await.unwrap();
    };
    let (answers, ()) = tokio::join!(hellos, serving);
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 2);
}
