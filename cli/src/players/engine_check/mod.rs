//! Starting an engine and trying what it can do: `spelrum engine check`.

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

/// What is known of an engine once it was tried.
#[derive(Debug)]
pub(crate) struct Checked {
    /// What sweeps call it.
    engine: String,
    protocol: Protocol,
    /// Its program with its arguments.
    command: Vec<String>,
    /// Its name, its author and its program's SHA-256, if it was started.
    identity: Option<spelrum_external::Identity>,
    started_in: Option<Duration>,
    capabilities: Capabilities,
    /// The games that it plays by the rules.
    games: Vec<String>,
    limits: Vec<TriedLimit>,
    repeats: Option<Repeats>,
    memory_bytes: Option<u64>,
    parting: Option<Left>,
    /// What it did against its protocol.
    breaches: Vec<String>,
    /// The first thing that is wrong.
    problem: Option<Diagnosis>,
}

/// A limit that it was asked to keep.
#[derive(Debug)]
struct TriedLimit {
    limit: Limit,
    /// What it reported, or took; `None` if it did not say.
    reported: Option<u64>,
    kept: Kept,
}

/// What bounds a move.
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
    /// It did not report what it did.
    Unknown,
}

/// How often it answered a position the same way in a fresh game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Repeats {
    same: usize,
    of: usize,
}

/// What was left of it after `quit`.
#[derive(Debug)]
struct Left {
    took: Duration,
    /// The files in its folder that are new or have changed.
    files: Vec<String>,
}

/// How a command ends that has checked these: well if nothing is wrong with any.
pub(crate) fn exit_of(checked: &[Checked]) -> Exit {
    if checked.iter().all(Checked::is_ok) { Exit::Success } else { Exit::Input }
}

/// Tries an engine. `requests` is what a sweep's players ask of it; without any, all is tried that engines are
/// asked for. `step` is told what is tried.
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
    /// Whether nothing is wrong with it.
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
            breaches: Vec::new(),
            problem: None,
        }
    }

    /// Notes what is wrong, unless something was before.
    fn note(&mut self, problem: impl Into<String>, remedy: impl Into<String>) {
        let diagnosis = Diagnosis { problem: problem.into(), remedy: remedy.into() };
        self.problem.get_or_insert(diagnosis);
    }
}

impl Limit {
    /// Its name in sweeps.
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
