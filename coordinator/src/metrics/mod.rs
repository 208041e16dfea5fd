//! What a coordinator counts of itself, for Prometheus: `GET /metrics` (docs/operating.md, "Metrics").
//!
//! Counters and histograms are atomics, changed where things happen; gauges are told from time to time by
//! whoever knows them. So the page is made of what is in memory, waits for nobody, and answers while the
//! dispatcher waits for the disk. Whoever reaches the port may read it: it has numbers and words of this
//! program only, never a name, an address or whatever else came from outside, and what comes from outside
//! adds no line to it.

mod calls;
mod gauges;
mod process;
mod work;

use std::sync::Arc;

use prometheus::{IntGauge, Opts, Registry, TextEncoder};

pub(crate) use calls::{Calls, UnderWay, Why};
pub(crate) use work::{Done, Work};

use self::gauges::{gauge, whole};
use crate::metrics::process::Process;

/// The page's form (Prometheus, "Exposition formats").
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Bounds of what is measured in seconds: from a commit without the disk to a disk that hangs.
const SECONDS: [f64; 12] =
    [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 2.5, 10.0];

/// Everything that is counted; cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics {
    registry: Registry,
    process: Arc<Process>,
    /// What the dispatcher does.
    pub(crate) work: Arc<Work>,
    /// Calls, by what becomes of them.
    pub(crate) calls: Arc<Calls>,
    wal_bytes: IntGauge,
    database_bytes: IntGauge,
    connections: IntGauge,
    /// Whether what is committed comes to the disk.
    healthy: IntGauge,
}

impl Metrics {
    /// All begin with nothing.
    ///
    /// # Errors
    /// If two have one name, or a name is none: the program was built wrong.
    pub(crate) fn new(engine_revision: u32) -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let build = Opts::new("spelrum_build_info", "Which program this is; always 1.")
            .const_label("version", env!("CARGO_PKG_VERSION"))
            .const_label("engine_revision", engine_revision.to_string());
        let build = IntGauge::with_opts(build)?;
        build.set(1);
        registry.register(Box::new(build))?;
        let healthy = gauge(
            &registry,
            "spelrum_healthy",
            "1 if what was written came to the disk when that was looked at last, else 0.",
        )?;
        healthy.set(1);
        Ok(Self {
            work: Arc::new(Work::new(&registry)?),
            calls: Arc::new(Calls::new(&registry)?),
            wal_bytes: gauge(
                &registry,
                "spelrum_wal_bytes",
                "Size of the database's write-ahead log, looked at twice a second.",
            )?,
            database_bytes: gauge(
                &registry,
                "spelrum_database_bytes",
                "Size of the database's file without its log, looked at twice a second.",
            )?,
            connections: gauge(&registry, "spelrum_connections", "Connections that are open.")?,
            process: Arc::new(Process::new(&registry)?),
            healthy,
            registry,
        })
    }

    /// Takes note of whether the coordinator is well.
    pub(crate) fn set_healthy(&self, is_well: bool) {
        self.healthy.set(is_well.into());
    }

    /// Takes note of how large the database and its log are.
    pub(crate) fn set_sizes(&self, database_bytes: u64, wal_bytes: u64) {
        self.database_bytes.set(whole(database_bytes));
        self.wal_bytes.set(whole(wal_bytes));
    }

    /// A connection is open, for as long as what this returns is there.
    pub(crate) fn connection(&self) -> OpenConnection {
        self.connections.inc();
        OpenConnection(self.connections.clone())
    }

    /// The page.
    ///
    /// # Errors
    /// If it cannot be written: the program was built wrong.
    pub(crate) fn page(&self) -> Result<String, prometheus::Error> {
        self.process.look();
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}

/// A connection, which counts while this is there.
#[derive(Debug)]
pub(crate) struct OpenConnection(IntGauge);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let Self(connections) = self;
        connections.dec();
    }
}
