//! Starting an engine and trying its abilities: `spelrum engine check`.

mod batch;
mod board;
mod folder;
mod json;
mod running;
mod text;
mod trials;

use std::time::Duration;

use spelrum_external::{Diagnosis, EngineSpec, Guard, Protocol};
use spelrum_model::capabilities::{Capabilities, EngineRequest};

pub(crate) use json::Json;
pub(crate) use running::{check_all, check_for, named, requests};
pub(crate) use text::write_all;

use trials::Trials;

use crate::exit::Exit;

/// The check result of an engine.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The engine's name in sweeps.
    engine: String,
    protocol: Protocol,
    /// The program with its arguments.
    command: Vec<String>,
    /// The engine's name and author and its program's SHA-256, if it was started.
    identity: Option<spelrum_external::Identity>,
    started_in: Option<Duration>,
    capabilities: Capabilities,
    /// The games that the engine plays by the rules.
    games: Vec<String>,
    limits: Vec<TriedLimit>,
    repeats: Option<Repeats>,
    memory_bytes: Option<u64>,
    parting: Option<Left>,
    /// The number of requests that it answers at the same time.
    parallel: u32,
    /// The number that it answered at the same time, if it was tried.
    batch: Option<u32>,
    /// Breaches of its protocol.
    breaches: Vec<String>,
    /// The first problem.
    problem: Option<Diagnosis>,
}

/// A limit that the engine was asked to keep.
#[derive(Debug)]
struct TriedLimit {
    limit: Limit,
    /// The reported or measured value; `None` if the engine did not report one.
    reported: Option<u64>,
    kept: Kept,
}

/// A limit of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Nodes(u64),
    Depth(u32),
    MoveTimeMs(u64),
}

/// Whether a limit was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
    /// The engine did not report the value.
    Unknown,
}

/// How often the engine repeated its answer to a position in a fresh game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Repeats {
    same: usize,
    positions: usize,
}

/// Leftovers of an engine after `quit`.
#[derive(Debug)]
struct Left {
    took: Duration,
    /// New or changed files in the engine's folder.
    files: Vec<String>,
}

/// The exit code after checking these engines: success if none has a problem.
pub(crate) fn exit_of(checked: &[Checked]) -> Exit {
    if checked.iter().all(Checked::is_ok) { Exit::Success } else { Exit::Input }
}

/// Tries an engine. `requests` are the demands of a sweep's players; without any, everything is tried. `step` receives
/// each step's description.
fn check(
    spec: &EngineSpec,
    guard: &Guard,
    requests: Option<&[EngineRequest]>,
    aborted: &dyn Fn() -> bool,
    step: &dyn Fn(&str),
) -> Checked {
    Trials::new(spec, guard, requests, aborted, step).run()
}

impl Checked {
    /// Whether the engine has no problem.
    fn is_ok(&self) -> bool {
        self.problem.is_none()
    }

    fn new(spec: &EngineSpec) -> Self {
        let words = std::iter::once(spec.command.display().to_string()).chain(spec.args.clone());
        Self {
            engine: spec.name.clone(),
            protocol: spec.protocol,
            command: words.collect(),
            identity: None,
            started_in: None,
            capabilities: Capabilities::default(),
            games: Vec::new(),
            limits: Vec::new(),
            repeats: None,
            memory_bytes: None,
            parting: None,
            parallel: 1,
            batch: None,
            breaches: Vec::new(),
            problem: None,
        }
    }

    /// Records a problem, unless there is one already.
    fn note(&mut self, problem: impl Into<String>, remedy: impl Into<String>) {
        let diagnosis = Diagnosis { problem: problem.into(), remedy: remedy.into() };
        self.problem.get_or_insert(diagnosis);
    }
}

impl Limit {
    /// The limit's name in sweeps.
    const fn name(self) -> &'static str {
        match self {
            Self::Nodes(_) => "nodes",
            Self::Depth(_) => "depth",
            Self::MoveTimeMs(_) => "move_time",
        }
    }

    const fn asked(self) -> u64 {
        match self {
            Self::Nodes(limit) | Self::MoveTimeMs(limit) => limit,
            Self::Depth(limit) => limit as u64,
        }
    }
}
