//! Games per second from end to end: leased, played, every move recorded, committed.
//!
//! A coordinator and a worker with two slots in one process, over loopback, on a new database.
//! `cargo bench -p spelrum-worker --bench throughput [GAMES]` prints one line for each kind of
//! game, beside the bare engine's rate on as many threads. Games of the last kind take well over
//! 100 ms: there the whole system must come close to the bare engine.

#![expect(clippy::print_stdout, reason = "it prints figures")]

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use spelrum_engine::Host;
use spelrum_model::PlayableCell;
use spelrum_sweep::{SweepText, plan_sweep};
use spelrum_test_support::Site;
use spelrum_worker::{Shutdown, run};
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;

type Failed = Box<dyn std::error::Error + Send + Sync>;

const SLOTS: u32 = 2;
const ROUNDS: u32 = 3;

fn main() -> Result<(), Failed> {
    let scale = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(40_000);
    for (name, games, game, players) in [
        ("random tic-tac-toe", scale, "tic-tac-toe", RANDOM),
        ("random Pentago", scale, "pentago", RANDOM),
        ("searching Pentago", scale / 400, "pentago", SEARCHING),
    ] {
        let sweep = format!(
            "name = \"bench\"\ngame = \"{game}\"\nseed = 1\ngames = {}\n\
             openings = {{ kind = \"random\", plies = 2 }}\n{players}",
            games / 2 * 2
        );
        // In turn, and the best of each: noise of a busy machine only slows.
        let (mut engine, mut system) = (0.0_f64, 0.0_f64);
        for _round in 0..ROUNDS {
            engine = engine.max(bare_engine(&sweep)?);
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            system = system.max(runtime.block_on(whole_system(&sweep))?);
        }
        println!(
            "{name:24} {:8.0} games/s whole system, {:8.0} games/s bare engine: {:.3}",
            system,
            engine,
            system / engine
        );
    }
    Ok(())
}

const RANDOM: &str = "[players.a]\nalgorithm = \"random\"\n[players.b]\nalgorithm = \"random\"\n";
const SEARCHING: &str = "[players.a]\nalgorithm = \"alpha-beta\"\nnodes = 300_000\n\
    evaluation = \"runs\"\n[players.b]\nalgorithm = \"alpha-beta\"\nnodes = 250_000\n\
    evaluation = \"runs\"\n";

async fn whole_system(sweep: &str) -> Result<f64, Failed> {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(sweep).await;
    let started = Instant::now();
    let config = spelrum_worker::Config {
        labels: Vec::new(),
        coordinator: spelrum_worker::Address {
            endpoint: Endpoint::new(served.url())?,
            token: None,
        },
        name: None,
        slots: NonZeroU32::new(SLOTS).ok_or("no slots")?,
        quiet: spelrum_worker::ExclusiveSlots::default(),
        memory_bytes: None,
        playing: spelrum_worker::Playing::Threads(None),
        build: spelrum_worker::Build::default(),
        exit_when_done: true,
        idle_max: None,
        others: Vec::new(),
        speed: None,
        programs: None,
    };
    let shutdown = Shutdown { finish: CancellationToken::new(), now: CancellationToken::new() };
    let summary = run(config, shutdown).await?;
    let took = started.elapsed();
    served.stop().await?;
    Ok(summary.acknowledged as f64 / took.as_secs_f64())
}

/// The same games on as many threads, without reports.
fn bare_engine(sweep: &str) -> Result<f64, Failed> {
    let plan =
        plan_sweep(&SweepText::new("bench.toml", sweep)).map_err(|error| error.to_string())?;
    let cell = PlayableCell::new(plan.definition(&plan.cells[0]))?;
    let games = plan.cells[0].games;
    let started = Instant::now();
    std::thread::scope(|scope| {
        for slot in 0..u64::from(SLOTS) {
            let cell = &cell;
            scope.spawn(move || {
                let host = Clock(Instant::now());
                for number in (slot..games).step_by(SLOTS as usize) {
                    let played = cell.play(number, None, &host);
                    assert!(played.is_ok(), "{played:?}");
                }
            });
        }
    });
    Ok(games as f64 / started.elapsed().as_secs_f64())
}

struct Clock(Instant);

impl Host for Clock {
    fn wall(&self) -> Duration {
        self.0.elapsed()
    }

    fn cpu(&self) -> Duration {
        Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
    }
}
