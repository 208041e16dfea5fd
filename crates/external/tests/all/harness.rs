//! Scripted engines, and searches for their processes.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use spelrum_external::gtp::Dialect;
use spelrum_external::{
    Choice, Colour, Conditions, Engine, EngineFailure, EngineSpec, FailureKind, Guard, Limits,
    Options, Patience, Protocol, Situation, Start, uci, xboard,
};

/// What these tests start: see `tests/program/program.rs`.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_spelrum-test-engine");

/// Longer than any finite operation takes, on the slowest machine.
pub(crate) const GENEROUS: Duration = Duration::from_mins(10);

/// The wait for an event that should not come.
pub(crate) const SHORT: Duration = Duration::from_millis(100);

/// Enough for a working engine to do one thing, and not many.
pub(crate) const LONGER: Duration = Duration::from_secs(10);

/// Never aborts.
pub(crate) fn never() -> bool {
    false
}

pub(crate) fn guard() -> Guard {
    Guard::from_program(PathBuf::from(PROGRAM), &["guard"])
}

/// A scripted engine with these arguments and generous timeouts.
pub(crate) fn spec(protocol: &str, words: &[&str]) -> EngineSpec {
    let kind = Protocol::named(protocol).expect("a protocol");
    EngineSpec {
        name: "scripted".to_owned(),
        protocol: kind,
        command: PathBuf::from(PROGRAM),
        args: [protocol].iter().chain(words).map(ToString::to_string).collect(),
        files: Vec::new(),
        directory: PathBuf::from("/"),
        environment: [("COLOUR".to_owned(), "blue".to_owned())].into(),
        memory_bytes: None,
        at_once: 8,
        patience: Patience {
            startup: GENEROUS,
            ready: GENEROUS,
            stop: GENEROUS,
            unbounded_move: GENEROUS,
            quit: GENEROUS,
        },
        options: EngineSpec::usual_options(),
        set: Options::new(),
        gtp: Dialect { limits: vec!["level {depth}".to_owned()], ..Dialect::default() },
        xboard: xboard::Dialect::default(),
        ugi: uci::Words::ugi(),
        logs: None,
    }
}

pub(crate) fn start(spec: &EngineSpec) -> Result<Engine, EngineFailure> {
    Engine::start(spec, &Options::new(), &guard(), &never)
}

/// The failure of an engine at its start.
pub(crate) fn start_failure(spec: &EngineSpec) -> EngineFailure {
    start(spec).map(|engine| format!("{engine:?}")).unwrap_err()
}

/// One ply deep, with as much time as an engine is waited for.
pub(crate) fn limits() -> Limits {
    Limits { depth: Some(1), ..Limits::default() }
}

/// With this margin beyond each move's time.
pub(crate) fn within(margin: Duration) -> Conditions {
    Conditions { board_size: Some(8), limits: limits(), margin, ..Conditions::default() }
}

pub(crate) fn conditions() -> Conditions {
    within(GENEROUS)
}

/// Begins a game with a new engine.
pub(crate) fn playing(spec: &EngineSpec) -> Engine {
    playing_within(spec, GENEROUS)
}

/// The same with this margin beyond each move's time.
pub(crate) fn playing_within(spec: &EngineSpec, margin: Duration) -> Engine {
    let mut engine =
        start(spec).unwrap_or_else(|failure| panic!("{failure}\n{}", failure.transcript));
    engine.new_game(&within(margin), &never).unwrap();
    engine
}

pub(crate) fn new_game(engine: &mut Engine) -> Result<(), EngineFailure> {
    engine.new_game(&conditions(), &never)
}

/// Has an engine move in the first position of chess.
pub(crate) fn choose(engine: &mut Engine, limits: Limits) -> Result<Choice, EngineFailure> {
    let (start, to_move) = (Start::Usual, Colour::White);
    engine.choose(&Situation { start, moves: &[], to_move, limits, clock: None }, &never)
}

/// The result of a scripted engine's first move.
pub(crate) fn first_move(words: &[&str]) -> Result<Choice, EngineFailure> {
    choose(&mut playing(&spec("uci", words)), limits())
}

pub(crate) fn kind_of(result: Result<Choice, EngineFailure>) -> FailureKind {
    result.unwrap_err().kind
}

/// The processes with a word among their arguments: their numbers, and their first arguments.
pub(crate) fn processes_with(mark: &str) -> Vec<(i32, String)> {
    let processes = Path::new("/proc").read_dir().unwrap();
    let marked = processes.filter_map(|entry| {
        let path = entry.ok()?.path();
        let pid = path.file_name()?.to_str()?.parse().ok()?;
        // A process may end at any time.
        let words = std::fs::read(path.join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).into_owned();
        let has_mark = words.split('\0').any(|word| word == mark);
        has_mark.then(|| (pid, words.split('\0').next().unwrap_or_default().to_owned()))
    });
    marked.collect()
}

/// How many children a process has, those included that have ended and that it has not reaped.
pub(crate) fn children_of(parent: i32) -> usize {
    let processes = Path::new("/proc").read_dir().unwrap();
    let parents = processes.filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.ok()?.path().join("stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse::<i32>().ok()
    });
    parents.filter(|process| *process == parent).count()
}

/// Waits until a condition holds.
pub(crate) fn wait_until(event: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + GENEROUS;
    while !is_so() {
        assert!(Instant::now() < deadline, "{event} within {GENEROUS:?}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
