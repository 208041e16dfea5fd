//! The coordinator's metrics for Prometheus: `GET /metrics` (docs/operating.md, "Metrics").
//!
//! Counters and histograms are atomics, changed where things happen; gauges are set periodically by the parts that own
//! the values. So the page is made from memory, waits for nothing, and works while the dispatcher waits for the disk.
//! Every client that reaches the port can read it: the page has only numbers and words of this program, never a name,
//! an address or other outside input, and outside input adds no line to it.

mod calls;
mod gauges;
mod process;
mod work;

use std::sync::Arc;

use prometheus::{IntGauge, Opts, Registry, TextEncoder};

pub(crate) use calls::{Calls, UnderWay, Why};
pub(crate) use work::{Done, Work};

use self::gauges::{gauge, gauge_value};
use crate::metrics::process::Process;

/// The page's format (Prometheus, "Exposition formats").
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Histogram bounds in seconds: from a commit without the disk to a disk that hangs.
const SECONDS: [f64; 12] =
    [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 2.5, 10.0];

/// All metrics; cheap to clone.
#[derive(Clone)]
pub(crate) struct Metrics {
    registry: Registry,
    process: Arc<Process>,
    /// The dispatcher's metrics.
    pub(crate) work: Arc<Work>,
    /// Calls, by outcome.
    pub(crate) calls: Arc<Calls>,
    wal_bytes: IntGauge,
    database_bytes: IntGauge,
    connections: IntGauge,
    /// Whether commits reach the disk.
    healthy: IntGauge,
}

impl Metrics {
    /// Creates the metrics, all zero.
    ///
    /// # Errors
    /// If a name is invalid or used twice: the program was built wrong.
    pub(crate) fn new(engine_revision: u32, routes: &[String]) -> Result<Self, prometheus::Error> {
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
            calls: Arc::new(Calls::new(&registry, routes)?),
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

    /// Records whether the coordinator is healthy.
    pub(crate) fn set_healthy(&self, is_well: bool) {
        self.healthy.set(is_well.into());
    }

    /// Records the sizes of the database and its log.
    pub(crate) fn set_sizes(&self, database_bytes: u64, wal_bytes: u64) {
        self.database_bytes.set(gauge_value(database_bytes));
        self.wal_bytes.set(gauge_value(wal_bytes));
    }

    /// Counts a connection for as long as the returned value lives.
    pub(crate) fn connection(&self) -> OpenConnection {
        self.connections.inc();
        OpenConnection(self.connections.clone())
    }

    /// Renders the page.
    ///
    /// # Errors
    /// If it cannot be rendered: the program was built wrong.
    pub(crate) fn page(&self) -> Result<String, prometheus::Error> {
        self.process.refresh();
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }
}

/// A connection, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct OpenConnection(IntGauge);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let Self(connections) = self;
        connections.dec();
    }
}
