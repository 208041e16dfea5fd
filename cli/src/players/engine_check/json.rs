//! Check results of engines, for programs.

use serde::Serialize;
use spelrum_model::capabilities::{EngineOption, OptionKind};

use super::{Checked, Kept, TriedLimit};

/// A checked engine.
#[derive(Debug, Serialize)]
pub(crate) struct Json<'a> {
    engine: &'a str,
    protocol: &'static str,
    command: &'a [String],
    ok: bool,
    problem: Option<&'a str>,
    remedy: Option<&'a str>,
    name: Option<&'a str>,
    author: Option<&'a str>,
    sha256: Option<String>,
    start_ms: Option<f64>,
    games: &'a [String],
    limits: Vec<JsonLimit>,
    repeats: Option<JsonRepeats>,
    memory_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    batch: Option<u32>,
    quit_ms: Option<f64>,
    files: Option<&'a [String]>,
    breaches: &'a [String],
    options: Vec<JsonOption<'a>>,
    commands: Option<&'a [String]>,
    board_sizes: Option<Vec<u32>>,
}

#[derive(Debug, Serialize)]
struct JsonLimit {
    limit: &'static str,
    asked: u64,
    reported: Option<u64>,
    kept: Option<bool>,
}

#[derive(Debug, Serialize)]
struct JsonRepeats {
    same: usize,
    #[serde(rename = "of")]
    positions: usize,
}

#[derive(Debug, Serialize)]
struct JsonOption<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    default: Option<&'a str>,
    min: Option<i64>,
    max: Option<i64>,
    choices: Option<&'a [String]>,
}

impl<'a> From<&'a Checked> for Json<'a> {
    fn from(checked: &'a Checked) -> Self {
        let identity = checked.identity.as_ref();
        let problem = checked.problem.as_ref();
        let gtp = checked.capabilities.gtp.as_ref();
        let options = match &checked.capabilities.declared {
            Some(declared) => declared,
            None => &checked.capabilities.settable,
        };
        let taken = gtp.map(|gtp| gtp.board_sizes.iter().filter(|(_, taken)| *taken));
        Self {
            engine: &checked.engine,
            protocol: checked.protocol.name(),
            command: &checked.command,
            ok: checked.is_ok(),
            problem: problem.map(|problem| problem.problem.as_str()),
            remedy: problem.map(|problem| problem.remedy.as_str()),
            name: identity.map(|identity| identity.name.as_str()),
            author: identity.map(|identity| identity.author.as_str()),
            sha256: identity.map(spelrum_external::Identity::sha256_hex),
            start_ms: checked.started_in.map(|time| time.as_secs_f64() * 1e3),
            games: &checked.games,
            limits: checked.limits.iter().map(JsonLimit::from).collect(),
            repeats: checked
                .repeats
                .map(|repeats| JsonRepeats { same: repeats.same, positions: repeats.positions }),
            memory_bytes: checked.memory_bytes,
            batch: checked.batch,
            parallel: Some(checked.parallel).filter(|parallel| *parallel > 1),
            quit_ms: checked.parting.as_ref().map(|parting| parting.took.as_secs_f64() * 1e3),
            files: checked.parting.as_ref().map(|parting| parting.files.as_slice()),
            breaches: &checked.breaches,
            options: options.iter().map(JsonOption::from).collect(),
            commands: gtp.map(|gtp| gtp.commands.as_slice()),
            board_sizes: taken.map(|sizes| sizes.map(|(size, _)| *size).collect()),
        }
    }
}

impl From<&TriedLimit> for JsonLimit {
    fn from(TriedLimit { limit, reported, kept }: &TriedLimit) -> Self {
        let kept = match kept {
            Kept::Yes => Some(true),
            Kept::No => Some(false),
            Kept::Unknown => None,
        };
        Self { limit: limit.name(), asked: limit.asked(), reported: *reported, kept }
    }
}

impl<'a> From<&'a EngineOption> for JsonOption<'a> {
    fn from(EngineOption { name, kind }: &'a EngineOption) -> Self {
        let option =
            |kind, default| Self { name, kind, default, min: None, max: None, choices: None };
        match kind {
            OptionKind::Check { default } => option("check", Some(default.as_str())),
            OptionKind::Spin { default, min, max } => {
                Self { min: Some(*min), max: Some(*max), ..option("spin", Some(default)) }
            }
            OptionKind::Combo { default, choices } => {
                Self { choices: Some(choices), ..option("combo", Some(default)) }
            }
            OptionKind::Button => option("button", None),
            OptionKind::Text { default } => option("string", Some(default)),
        }
    }
}
