//! Players that are external engines: their parameters in a sweep.
//!
//! They have tables of parameters like built-in algorithms, but no search: a caller that plays such a game
//! provides an [`ExternalPlayer`](crate::ExternalPlayer).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_names::Names;

use crate::core::parameters::{
    AlgorithmInfo, ParameterDefault, ParameterInfo, Parameters, Settings, Value, shared,
};
use crate::core::position::Side;
use crate::core::problem::{KeyProblem, Problem};

/// The protocol of an external engine.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    Names,
)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// The universal chess interface.
    Uci,
    /// The Go text protocol, in version 2.
    Gtp,
    /// JSON objects in lines, in the notation of each game: `docs/lines.md`.
    Lines,
    /// The chess engine communication protocol, which XBoard speaks.
    Xboard,
    /// The universal game interface: UCI's frame, in the notation of each game.
    Ugi,
}

impl Protocol {
    /// Whether it has no notation of its own, so that it is spoken in every game.
    #[must_use]
    pub const fn is_of_every_game(self) -> bool {
        match self {
            Self::Uci | Self::Gtp | Self::Xboard => false,
            Self::Lines | Self::Ugi => true,
        }
    }
}

/// A game's board as programs that speak the Go text protocol know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GtpBoard {
    /// Rows, and columns.
    pub size: u32,
    /// Which side is Black.
    pub black: Side,
    /// Whether a side may have to pass. An engine that must move after the end of the game then passes; in a
    /// game without passes it resigns.
    pub has_passes: bool,
}

/// The `algorithm`s of players that are external engines.
pub const EXTERNAL_ALGORITHMS: &[&str] = &Protocol::NAMES;

/// An external engine in a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalRules {
    /// How it is spoken to.
    pub protocol: Protocol,
    /// Its name in the engines file of the machine that plays, or that of an engine with a source: see [`SourcedEngine`].
    pub engine: String,
    /// A text that the engine's reported name must contain.
    pub version: Option<String>,
    /// The SHA-256 of its program.
    pub sha256: Option<[u8; 32]>,
    /// The build that may play, or a prefix of its hash: see [`AWAITED_BUILD`]. Any, if absent.
    pub build: Option<String>,
    /// Whether it plays the same game each time.
    pub reproducible: bool,
    /// How often it may answer again after an illegal or unreadable move, over the protocol of lines.
    pub retries: u32,
}

/// The build of a player whose build is not known yet; no program matches it.
pub const AWAITED_BUILD: &str = "awaited";

/// Least digits of a build's prefix, so that two builds do not match by chance.
const BUILD_DIGITS_MIN: usize = 8;

/// Digits of a Git commit's hash.
const COMMIT_DIGITS: usize = 40;

/// Digits of a program's SHA-256.
const PROGRAM_DIGITS: usize = 64;

/// The most nodes of a `bench`: every integer up to here is exact in JSON.
const BENCH_MAX: i64 = (1 << 53) - 1;

/// An engine that machines do not have from the start, and obtain when a sweep names it. Its text, such as `dev@` and the
/// 40 digits of a commit, names the obtained engine wherever engines have names. Names in engines files have no `@`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcedEngine {
    /// The engine's name in sweeps and engines files.
    pub engine: String,
    /// Its source.
    pub source: EngineSource,
}

/// Where machines obtain an engine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EngineSource {
    /// Built from a commit.
    Commit {
        /// The commit, as 40 hexadecimal digits in lower case.
        commit: String,
        /// The number of nodes that its `bench` must count; follows after a colon in the name.
        bench: Option<u64>,
    },
    /// A program that was pushed to the coordinator.
    Program {
        /// The SHA-256 of the program, as 64 hexadecimal digits in lower case.
        sha256: String,
    },
}

impl SourcedEngine {
    /// Parses the name of such an engine; `None` if it is another name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (engine, rest) = name.split_once('@')?;
        let source = if is_hash(rest, PROGRAM_DIGITS) {
            EngineSource::Program { sha256: rest.to_owned() }
        } else {
            let (commit, bench) = match rest.split_once(':') {
                Some((commit, bench)) => (commit, Some(bench.parse().ok()?)),
                None => (rest, None),
            };
            EngineSource::Commit { commit: is_commit(commit).then(|| commit.to_owned())?, bench }
        };
        let sourced = Self { engine: engine.to_owned(), source };
        // One text for each engine, so that names are compared as texts.
        (!engine.is_empty() && sourced.to_string() == name).then_some(sourced)
    }

    /// The name of a player's engine, by its fully spelt-out parameters: with its source, if it has one. `None` if they
    /// name no engine.
    #[must_use]
    pub fn engine_name(parameters: &Parameters) -> Option<String> {
        let text = |name: &str| match parameters.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            Some(_) | None => None,
        };
        let engine = text("engine")?;
        let bench = match parameters.get("bench") {
            Some(Value::Integer(bench)) => u64::try_from(*bench).ok(),
            Some(_) | None => None,
        };
        Some(sourced_name(engine, text("commit"), bench, text("program")))
    }
}

/// An engine's name, with its source if it has one.
fn sourced_name(
    engine: String,
    commit: Option<String>,
    bench: Option<u64>,
    program: Option<String>,
) -> String {
    let source = match (commit, program) {
        (Some(commit), _) => EngineSource::Commit { commit, bench },
        (None, Some(sha256)) => EngineSource::Program { sha256 },
        (None, None) => return engine,
    };
    SourcedEngine { engine, source }.to_string()
}

impl fmt::Display for SourcedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@", self.engine)?;
        match &self.source {
            EngineSource::Commit { commit, bench } => {
                f.write_str(commit)?;
                bench.map_or(Ok(()), |bench| write!(f, ":{bench}"))
            }
            EngineSource::Program { sha256 } => f.write_str(sha256),
        }
    }
}

fn is_commit(text: &str) -> bool {
    is_hash(text, COMMIT_DIGITS)
}

fn is_hash(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// The parameters of all protocols, which differ only in the messages.
const PARAMETERS: [ParameterInfo; 14] = [
    ParameterInfo::text(
        "engine",
        64,
        "The program: a name in the engines file of each machine that plays.",
    ),
    ParameterInfo::nested("options", "Engine options to set, by the engine's own names.")
        .default_to(ParameterDefault::Absent),
    shared::DEPTH,
    shared::NODES,
    shared::MOVE_TIME,
    shared::CLOCK,
    shared::MARGIN,
    ParameterInfo::text(
        "version",
        200,
        "A text that the engine's reported name must contain.",
    )
    .default_to(ParameterDefault::Absent),
    ParameterInfo::content("sha256", "The SHA-256 of the program: no other may play.")
        .default_to(ParameterDefault::Absent),
    ParameterInfo::text(
        "build",
        64,
        "The build that may play, as the first digits of its hash. If absent, the build present when the \
         sweep is played is required, unless the sweep sets `any_build`.",
    )
    .default_to(ParameterDefault::Absent),
    ParameterInfo::text(
        "commit",
        COMMIT_DIGITS,
        "The Git commit of the engine, as 40 hexadecimal digits. Machines build it whose engines file names the \
         engine's repository.",
    )
    .default_to(ParameterDefault::Absent),
    ParameterInfo::integer(
        "bench",
        1..=BENCH_MAX,
        1,
        "The number of nodes that the engine's `bench` must count at this commit; a build that counts another number \
         does not play.",
    )
    .default_to(ParameterDefault::Absent),
    ParameterInfo::content(
        "program",
        "The SHA-256 of a program that was pushed to the coordinator (`spelrum engine push`). Workers fetch it whose \
         engines file accepts programs.",
    )
    .default_to(ParameterDefault::Absent),
    ParameterInfo::switch(
        "reproducible",
        false,
        "Whether the engine is deterministic: a replay that differs is then a conflict, and some games are \
         replayed as a check.",
    ),
];

/// The parameters of the protocol of lines.
const PARAMETERS_OF_LINES: [ParameterInfo; 15] = {
    let retries = ParameterInfo::integer(
        "retries",
        0..=100,
        0,
        "The number of times that it may answer again after an illegal or unreadable move, within the time of the \
         move. 0 if absent.",
    );
    let mut parameters = [retries.default_to(ParameterDefault::Absent); 15];
    let mut place = 0;
    while place < PARAMETERS.len() {
        parameters[place] = PARAMETERS[place];
        place += 1;
    }
    parameters
};

/// The limits of such a player's moves. Except over the protocol of lines, at least one must be set.
const BOUNDED_BY: [&str; 4] = ["depth", "nodes", "move_time", "clock"];

/// The tables of all protocols, in the form of algorithms.
pub(crate) const TABLES: &[AlgorithmInfo] = &[
    AlgorithmInfo {
        name: Protocol::Uci.name(),
        meaning: "An external engine that speaks the universal chess interface (UCI).",
        parameters: &PARAMETERS,
        presets: &[],
        bounded_by: &[],
    },
    AlgorithmInfo {
        name: Protocol::Gtp.name(),
        meaning: "An external engine that speaks the Go text protocol (GTP).",
        parameters: &PARAMETERS,
        presets: &[],
        bounded_by: &[],
    },
    AlgorithmInfo {
        name: Protocol::Lines.name(),
        meaning: "A program of any kind, in any game, that speaks the protocol of lines (docs/lines.md). It needs no \
                  limit.",
        parameters: &PARAMETERS_OF_LINES,
        presets: &[],
        bounded_by: &[],
    },
    AlgorithmInfo {
        name: Protocol::Xboard.name(),
        meaning: "An external engine that speaks the XBoard protocol (CECP), as many older chess engines do.",
        parameters: &PARAMETERS,
        presets: &[],
        bounded_by: &[],
    },
    AlgorithmInfo {
        name: Protocol::Ugi.name(),
        meaning: "An external engine, in any game, that speaks the universal game interface (UGI), or the same in other \
                  words, such as TEI.",
        parameters: &PARAMETERS,
        presets: &[],
        bounded_by: &[],
    },
];

/// The option for the size of an engine's hash table, in MiB, over UCI, UGI and XBoard.
pub const HASH_OPTION: &str = "Hash";

/// More than any machine has, and far below what a byte count holds.
const HASH_MIB_MAX: u64 = 1 << 30;

/// Bytes of a hash table of this size in MiB, as an option states it.
#[must_use]
pub fn hash_bytes(mib: i64) -> u64 {
    u64::try_from(mib).unwrap_or(0).min(HASH_MIB_MAX) << 20
}

/// Bytes of an external engine's hash table, if its player sets the size; otherwise 0.
pub(crate) fn memory_bytes(parameters: &Parameters) -> u64 {
    let has_hash = matches!(
        parameters.get("algorithm"),
        Some(Value::Text(name))
            if [Protocol::Uci, Protocol::Ugi, Protocol::Xboard].map(Protocol::name).contains(&name.as_str())
    );
    let Some(Value::Table(options)) = parameters.get("options").filter(|_| has_hash) else {
        return 0;
    };
    let hash = options.iter().find(|(name, _)| name.eq_ignore_ascii_case(HASH_OPTION));
    match hash.map(|(_, value)| value) {
        Some(Value::Integer(mib)) => hash_bytes(*mib),
        Some(Value::Text(mib)) => hash_bytes(mib.parse().unwrap_or(0)),
        Some(_) | None => 0,
    }
}

impl ExternalRules {
    /// The settings of such a player.
    pub(crate) fn from_settings(
        protocol: Protocol,
        settings: &Settings,
    ) -> Result<Self, KeyProblem> {
        let text = |name: &str| match settings.optional_value(name) {
            Some(Value::Text(text)) => Some(text.as_str()),
            Some(_) | None => None,
        };
        let engine = settings.word("engine");
        if engine.is_empty() || engine.chars().any(char::is_control) {
            return Err(Problem::of_key(
                "engine",
                format!("{engine:?} is not the name of an engine"),
                "write its name in the engines file, such as \"stockfish\"".to_owned(),
            ));
        }
        if let Some(Value::Table(options)) = settings.optional_value("options") {
            check_options(options)?;
        }
        let clock = settings.clock();
        let move_time = settings.limit("move_time");
        let is_bounded = clock.is_some()
            || ["depth", "nodes"].iter().any(|name| settings.limit(name).is_some())
            || move_time.is_some();
        if !is_bounded && protocol != Protocol::Lines {
            return Err(Problem::at(
                None,
                format!("nothing bounds the moves of `{engine}`"),
                format!("give at least one of `{}`", BOUNDED_BY.join("`, `")),
            ));
        }
        if protocol == Protocol::Xboard {
            check_xboard_limits(settings.limit("nodes"), move_time, clock.is_some())?;
        }
        let reproducible = settings.switch("reproducible");
        if reproducible && (clock.is_some() || move_time.is_some()) {
            return Err(Problem::of_key(
                "reproducible",
                "games limited by time are not reproducible".to_owned(),
                "bound the player by `depth` or `nodes` alone, or leave out `reproducible`"
                    .to_owned(),
            ));
        }
        let build = text("build").map(str::to_owned);
        if let Some(build) = &build {
            check_build(build)?;
        }
        let bench = match settings.optional_value("bench") {
            Some(Value::Integer(nodes)) => u64::try_from(*nodes).ok(),
            Some(_) | None => None,
        };
        check_commit(text("commit"), bench, build.as_deref())?;
        check_program(text("program"), text("commit"), build.as_deref())?;
        let [commit, program] = ["commit", "program"].map(|name| text(name).map(str::to_owned));
        let engine = sourced_name(engine.to_owned(), commit, bench, program);
        Ok(Self {
            protocol,
            engine,
            version: text("version").filter(|version| !version.is_empty()).map(str::to_owned),
            sha256: text("program").or(text("sha256")).and_then(hash_of_hex),
            build,
            reproducible,
            retries: match settings.optional_value("retries") {
                Some(Value::Integer(count)) => u32::try_from(*count).unwrap_or(0),
                Some(_) | None => 0,
            },
        })
    }
}

/// The `XBoard` protocol has commands for a depth, for whole seconds of a move, and for a clock.
fn check_xboard_limits(
    nodes: Option<u64>,
    move_time_us: Option<u64>,
    has_clock: bool,
) -> Result<(), KeyProblem> {
    let refuse = |key, problem: &str, remedy: &str| {
        Err(Problem::of_key(key, problem.to_owned(), remedy.to_owned()))
    };
    if nodes.is_some() {
        return refuse(
            "nodes",
            "the XBoard protocol has no command for a number of nodes",
            "bound the player by `depth`, `move_time` or `clock`",
        );
    }
    match move_time_us {
        Some(_) if has_clock => refuse(
            "move_time",
            "the XBoard protocol has no command for a time for each move beside a clock",
            "leave one of them out",
        ),
        Some(time) if !time.is_multiple_of(1_000_000) || time == 0 => refuse(
            "move_time",
            "the XBoard protocol has whole seconds for a move",
            "write such as \"1s\", or a `clock` such as \"5s+50ms\", which engines get in hundredths of a second",
        ),
        Some(_) | None => Ok(()),
    }
}

/// A build is identified by the first digits of its hash.
fn check_build(build: &str) -> Result<(), KeyProblem> {
    let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    let is_named = build.len() >= BUILD_DIGITS_MIN && build.bytes().all(is_digit);
    if is_named || build == AWAITED_BUILD {
        return Ok(());
    }
    Err(Problem::of_key(
        "build",
        format!("{build:?} is not a build"),
        format!(
            "write the first {BUILD_DIGITS_MIN} to 64 digits of its hash, in lower case, as `report` shows it"
        ),
    ))
}

/// A commit says which build plays.
fn check_commit(
    commit: Option<&str>,
    bench: Option<u64>,
    build: Option<&str>,
) -> Result<(), KeyProblem> {
    let (key, problem, remedy) = match (commit, bench, build) {
        (Some(commit), _, _) if !is_commit(commit) => (
            "commit",
            format!("{commit:?} is not a commit"),
            "write all 40 digits of its hash, in lower case, as `git rev-parse NAME` prints them",
        ),
        (Some(_), _, Some(_)) => (
            "build",
            "a player with a `commit` has the build of that commit, which differs from machine to machine".to_owned(),
            "leave out `build`",
        ),
        (None, Some(_), _) => (
            "bench",
            "there is no `commit` whose `bench` this could be".to_owned(),
            "give the commit, or leave out `bench`",
        ),
        (Some(_) | None, _, _) => return Ok(()),
    };
    Err(Problem::of_key(key, problem, remedy.to_owned()))
}

/// A pushed program is neither built nor one of several builds.
fn check_program(
    program: Option<&str>,
    commit: Option<&str>,
    build: Option<&str>,
) -> Result<(), KeyProblem> {
    let Some(key) = program.and(commit.map(|_| "commit").or(build.map(|_| "build"))) else {
        return Ok(());
    };
    Err(Problem::of_key(
        key,
        format!("a player with a `program` has no `{key}`: its program is known by its hash"),
        format!("leave out `{key}` or `program`"),
    ))
}

/// Options are scalars: structured values have no form in most protocols.
fn check_options(options: &Parameters) -> Result<(), KeyProblem> {
    for (name, value) in options {
        let is_scalar = match value {
            Value::Bool(_) | Value::Integer(_) | Value::Text(_) => true,
            Value::Number(_) | Value::List(_) | Value::Table(_) => false,
        };
        if !is_scalar {
            return Err(Problem::of_key(
                "options",
                format!("the option `{name}` cannot be {value}"),
                "write true or false, a whole number, or a text".to_owned(),
            ));
        }
    }
    Ok(())
}

/// Parses 64 hexadecimal digits, which the table has checked.
fn hash_of_hex(digits: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(hash)
}
