//! Scheduling: which worker plays which games, when a cell ends, and which cells an experiment gets next.
//!
//! All machines here are *sans I/O*: events go in, each with its time, and effects come out. The owner of a machine
//! stores the effects and carries them out. So the simulator in `tests/simulation/` tests the machines that run in
//! production, with lost messages, kills and clocks of its own.
//!
//! | module | subject |
//! |---|---|
//! | [`scheduler`] | the coordinator's machine: leases, attempts, shares, withheld games |
//! | [`worker`] | the worker's machine: held leases, calls and reports |
//! | [`stopping`] | where a cell ends: results, read in number order |
//! | [`course`] | experiments whose next cells depend on their results: `[find]`, `[tune]`, `[evolve]` |
//!
//! The crate depends on the model (ids, demands, plans), on statistics and optimize for decisions by results, and on
//! the engine for parameters of players. It must stay independent of clocks, threads, networks and databases, of how
//! a sweep is written, and of how results are shown.
//!
//! # A lease
//!
//! ```
//! use spelrum_model::demands::Offer;
//! use spelrum_model::{CellId, ExperimentId, SchedulingSettings, WorkerId};
//! use spelrum_scheduling::scheduler::{CellState, Effect, Event, Policy, Scheduler, Snapshot, Time};
//!
//! let mut scheduler = Scheduler::restore(Snapshot::default(), Policy::default(), Time(0));
//! let submitted = Event::Submitted {
//!     experiment: ExperimentId(1),
//!     settings: SchedulingSettings::default(),
//!     open: false,
//!     cells: vec![CellState::new(CellId(10), 100)],
//!     attempts: Vec::new(),
//! };
//! scheduler.handle(submitted, Time(1));
//! let wanted = Event::LeaseWanted {
//!     worker: WorkerId(7),
//!     slots: 1,
//!     quiet_slots: 0,
//!     memory_bytes: None,
//!     offer: Offer::default(),
//!     trains: false,
//!     verifies: false,
//! };
//! let effects = scheduler.handle(wanted, Time(2));
//! let [Effect::Grant { ranges, .. }] = &effects[..] else { panic!("{effects:?}") };
//! // Whole pairs, from the first number on.
//! assert_eq!((ranges[0].cell, ranges[0].first, ranges[0].count % 2), (CellId(10), 0, 0));
//! ```

pub mod course;
pub mod scheduler;
pub mod stopping;
pub mod worker;
