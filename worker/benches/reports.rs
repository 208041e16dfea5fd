//! Durable results per second: reports of played games, every move recorded, over loopback.
//!
//! `cargo bench -p spelrum-worker --bench reports [GAMES]` prints one line for each kind of game and number
//! of workers. Each worker here is a separate connection that leases, reports the leased games in one call,
//! and leases again; the games were played before, so the benchmark measures the coordinator. All run in this
//! process, on its cores: the total CPU use in cores is printed beside the rate.

#![expect(clippy::print_stdout, reason = "it prints figures")]

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::{ENGINE_REVISION, Host};
use spelrum_model::{CellId, GameId, PlayableCell, PlayedGame};
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::{PROTOCOL, game, v1};
use spelrum_sweep::{SweepText, plan_sweep};
use spelrum_test_support::Site;
use tonic::transport::Endpoint;
use uuid::Uuid;

type Failed = Box<dyn std::error::Error + Send + Sync>;

const ROUNDS: u32 = 3;

fn main() -> Result<(), Failed> {
    let games = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(40_000_u64);
    for (name, game) in
        [("tic-tac-toe, about 8 plies", "tic-tac-toe"), ("Pentago, about 28 plies", "pentago")]
    {
        let sweep = format!(
            "name = \"bench\"\ngame = \"{game}\"\nseed = 1\ngames = {}\n\
             openings = {{ kind = \"random\", plies = 2 }}\n\
             [players.a]\nalgorithm = \"random\"\n[players.b]\nalgorithm = \"random\"\n",
            games / 2 * 2
        );
        let played = Arc::new(play_all(&sweep)?);
        let plies: usize = played.values().map(|game| game.moves.len()).sum();
        for workers in [1, 100, 256] {
            // The best of a few rounds: noise of a busy machine only slows.
            let mut best = Measured::default();
            for _round in 0..ROUNDS {
                let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
                let measured = runtime.block_on(report_all(&sweep, workers, &played))?;
                if measured.per_second > best.per_second {
                    best = measured;
                }
            }
            println!(
                "{name} (mean {:.1}), {workers:3} workers: {:6.0} results/s at {:3.0}% of a core, \
                 {:4.1} results a report",
                plies as f64 / played.len() as f64,
                best.per_second,
                100.0 * best.cores,
                best.per_report
            );
        }
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    per_second: f64,
    /// Cores kept busy.
    cores: f64,
    per_report: f64,
}

/// Every game of the sweep's cell, by its number.
fn play_all(sweep: &str) -> Result<HashMap<u64, v1::Game>, Failed> {
    let plan =
        plan_sweep(&SweepText::new("bench.toml", sweep)).map_err(|error| error.to_string())?;
    let cell = PlayableCell::new(plan.definition(&plan.cells[0]))?;
    let mut games = HashMap::new();
    for number in 0..plan.cells[0].games {
        let (derived, record) = cell.play(number, None, &NoClock)?;
        let id = GameId { cell: CellId(1), number };
        games.insert(number, game::to_wire(PlayedGame::new(id, &derived, record, 1)));
    }
    Ok(games)
}

async fn report_all(
    sweep: &str,
    workers: usize,
    played: &Arc<HashMap<u64, v1::Game>>,
) -> Result<Measured, Failed> {
    let site = Site::new();
    let served = site.serve_with(Duration::from_secs(60)).await;
    served.submit(sweep).await;
    let url = served.url();
    let mut ready = Vec::new();
    for _worker in 0..workers {
        ready.push(Reporter::hello(&url, Arc::clone(played)).await?);
    }
    let (started, busy) = (Instant::now(), processor_time());
    let running: Vec<_> = ready.into_iter().map(|reporter| tokio::spawn(reporter.run())).collect();
    let (mut results, mut reports) = (0_u64, 0_u64);
    for worker in running {
        let (its_results, its_reports) = worker.await??;
        results += its_results;
        reports += its_reports;
    }
    let (seconds, busy) = (started.elapsed().as_secs_f64(), processor_time() - busy);
    served.stop().await?;
    Ok(Measured {
        per_second: results as f64 / seconds,
        cores: busy.as_secs_f64() / seconds,
        per_report: results as f64 / reports as f64,
    })
}

/// A worker that reports games it did not play.
struct Reporter {
    client: WorkClient<tonic::transport::Channel>,
    worker_id: i64,
    coordinator_epoch: i64,
    worker_secret: Vec<u8>,
    played: Arc<HashMap<u64, v1::Game>>,
}

impl Reporter {
    async fn hello(url: &str, played: Arc<HashMap<u64, v1::Game>>) -> Result<Self, Failed> {
        let channel = Endpoint::new(url.to_owned())?.connect().await?;
        let mut client = WorkClient::new(channel);
        let hello = v1::HelloRequest {
            protocol: PROTOCOL,
            engine_revision: ENGINE_REVISION,
            worker_uuid: Uuid::new_v4().to_string(),
            name: "reporter".to_owned(),
            host: "here".to_owned(),
            slots: 1,
            version: "0".to_owned(),
            ..v1::HelloRequest::default()
        };
        let answer = client.hello(hello).await?.into_inner();
        let v1::HelloResponse { worker_id, coordinator_epoch, worker_secret, .. } = answer;
        Ok(Self { client, worker_id, coordinator_epoch, worker_secret, played })
    }

    /// Reports until nothing is left; returns the numbers of results and reports.
    async fn run(mut self) -> Result<(u64, u64), Failed> {
        let Self { worker_id, coordinator_epoch, .. } = self;
        let (mut results, mut reports) = (0, 0);
        loop {
            let worker_secret = self.worker_secret.clone();
            let lease = v1::LeaseRequest {
                worker_id,
                coordinator_epoch,
                slots: 1,
                worker_secret,
                ..Default::default()
            };
            let answer = self.client.lease(lease).await?.into_inner();
            let Some(grant) = answer.grant else {
                if answer.all_done {
                    return Ok((results, reports));
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
                continue;
            };
            let games = grant
                .games
                .iter()
                .flat_map(|range| range.first_number..range.first_number + range.count);
            let results_to_send: Vec<_> =
                games.map(|number| self.result(grant.lease_id, number)).collect();
            for some in results_to_send.chunks(256) {
                let request = v1::ReportRequest {
                    worker_id,
                    coordinator_epoch,
                    results: some.to_vec(),
                    worker_secret: self.worker_secret.clone(),
                };
                let verdicts = self.client.report(request).await?.into_inner().verdicts;
                assert!(verdicts.iter().all(|&verdict| verdict == i32::from(v1::Verdict::Counted)));
                results += verdicts.len() as u64;
                reports += 1;
            }
        }
    }

    fn result(&self, lease_id: i64, number: u64) -> v1::Result {
        let game = v1::result::What::Game(self.played[&number].clone());
        v1::Result { lease_id, what: Some(game) }
    }
}

fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}

struct NoClock;

impl Host for NoClock {
    fn wall(&self) -> Duration {
        Duration::ZERO
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }
}
