//! Requests to one process at the same time, each in a game of its own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use spelrum_external::{
    Choice, Conditions, EngineFailure, EngineFile, EngineSpec, FailureKind, Guard, Options, Phase,
    Pool,
};

use super::board::Board;

/// The most requests at the same time.
pub(super) const BATCH_MAX: u32 = 32;
/// The interval at which a check is asked whether it should go on.
const SLICE: Duration = Duration::from_millis(20);

/// Asks about as many positions at the same time, from the first again after the last. Returns each answer with its
/// position.
pub(super) fn ask_at_once<'a>(
    spec: &EngineSpec,
    guard: &Guard,
    (boards, games): (&'a [Board], u32),
    conditions: &Conditions,
    aborted: &dyn Fn() -> bool,
) -> Result<Vec<(&'a Board, Choice)>, EngineFailure> {
    let spec = EngineSpec { at_once: games, ..spec.clone() };
    let name = spec.name.clone();
    let pool = Pool::new([spec].into_iter().collect::<EngineFile>(), guard.clone(), 0);
    let names = vec![name.as_str(); games as usize];
    let mut room = pool.reserve(&names, aborted).map_err(|no_room| EngineFailure {
        engine: name.clone(),
        kind: FailureKind::Unsupported(no_room.to_string()),
        during: Phase::Start,
        transcript: String::new(),
    })?;
    let boards = boards.iter().cycle().take(games as usize);
    let mut seats = Vec::new();
    for board in boards {
        seats.push((board, room.take(&name, &Options::new(), conditions, aborted)?));
    }
    let is_aborted = AtomicBool::new(false);
    thread::scope(|scope| {
        let limits = conditions.limits;
        let games: Vec<_> = seats
            .iter_mut()
            .map(|(board, engine)| {
                let (board, is_aborted) = (*board, &is_aborted);
                let aborted = move || is_aborted.load(Ordering::Relaxed);
                scope.spawn(move || {
                    engine.choose(&board.situation(limits), &aborted).map(|choice| (board, choice))
                })
            })
            .collect();
        while games.iter().any(|game| !game.is_finished()) {
            if aborted() {
                is_aborted.store(true, Ordering::Relaxed);
            }
            thread::park_timeout(SLICE);
        }
        games
            .into_iter()
            .map(|game| game.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}
