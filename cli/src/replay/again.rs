//! Playing a recorded game again, and comparing move by move while it is played.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use spelrum_engine::{ENGINE_REVISION, EndedBy, Host, MoveRecord, PlayError};
use spelrum_tournament::{CellId, OpeningsCache, PlayableCell};

use super::{Check, Compared, Difference, RecordedGame};
use crate::clock::Clock;
use crate::error::{CliError, Result};
use crate::exit::Exit;

/// A game played again.
#[derive(Debug)]
pub(crate) struct Again {
    /// Whether it was the same game.
    pub(super) check: Check,
    /// Its moves, as far as it was played.
    pub(super) moves: Vec<MoveRecord>,
}

impl Again {
    /// Whether it was another game than the recorded one.
    pub(crate) fn is_different(&self) -> bool {
        matches!(self.check, Check::Different(_))
    }
}

/// The cells whose games are played again, each made playable once.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    openings: OpeningsCache,
    playable: BTreeMap<CellId, PlayableCell>,
}

/// What is seen of a game from another thread while it is played again.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    interrupted: AtomicBool,
    plies: AtomicU32,
}

impl Watch {
    /// Asks to give it up.
    pub(crate) fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// How many plies of the current game have been played.
    pub(crate) fn plies(&self) -> u32 {
        self.plies.load(Ordering::Relaxed)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Plays a game again from its cell's definition and its number (invariant 1), timed moves by
/// their recorded node counts (invariant 3). `None` if it was interrupted.
///
/// It ends at the first difference: what follows would be another game, and one whose searches
/// nothing may bound.
pub(crate) fn play_again(
    game: &RecordedGame,
    cells: &mut Cells,
    watch: &Arc<Watch>,
) -> Result<Option<Again>> {
    watch.plies.store(0, Ordering::Relaxed);
    let failed = || CliError::new(Exit::Input, format!("check game {}", game.game_id));
    if game.engine_revision != ENGINE_REVISION {
        return Err(failed()
            .because(format!(
                "engine revision {} played it, and this is engine revision {ENGINE_REVISION}, \
                 which may play otherwise",
                game.engine_revision
            ))
            .help(format!(
                "check it with a version of spelrum that has engine revision {}; --no-check shows \
                 the record alone",
                game.engine_revision
            )));
    }
    let cell = cells.playable(game)?;
    if game.moves.is_none() && cell.has_time_limit() {
        return Err(failed()
            .because(
                "a time limit bounds its players, and where the clock stopped their searches is \
                 not recorded",
            )
            .help("a sweep with record = \"moves\" keeps that of its games, until it is pruned"));
    }
    let opening = cell.derive(game.it.number).opening;
    if let Some(difference) = Difference::of_openings(&game.opening, &opening) {
        return Ok(Some(Again { check: Check::Different(difference), moves: Vec::new() }));
    }
    let host = Replaying { clock: Clock::default(), watch };
    let mut following = Following::new(game.moves.as_deref(), watch);
    let stops = game.moves.as_deref().map(stops);
    let played = cell.play_watched(game.it.number, stops.as_deref(), &host, &mut |played| {
        following.follow(played)
    });
    let check = match played {
        Ok((_, record)) => match following.difference.take() {
            Some(difference) => Check::Different(difference),
            None => match Difference::of_ends(&game.end, &record) {
                Some(difference) => Check::Different(difference),
                None if game.has_moves() => Check::Same(Compared::Moves),
                None => Check::Same(Compared::Hash),
            },
        },
        Err(PlayError::Aborted) => match following.difference.take() {
            Some(difference) => Check::Different(difference),
            None => return Ok(None),
        },
        Err(PlayError::Memory(refused)) => {
            return Err(failed().help(refused.remedy()).because(refused));
        }
        Err(error @ (PlayError::Opening(_) | PlayError::OtherGame | PlayError::NotOurs(_))) => {
            return Err(failed().because(error));
        }
    };
    Ok(Some(Again { check, moves: following.moves }))
}

/// Where the searches of a replay end: where the clock ended the recorded one, and otherwise one
/// node further than the recorded one went, which bounds a search that goes astray and changes
/// nothing for one that does not. The same for the one ply more that such a game may have.
fn stops(moves: &[MoveRecord]) -> Vec<Option<u64>> {
    let stop = |record: &MoveRecord| match record.search.ended_by {
        EndedBy::Time => record.search.nodes,
        EndedBy::Depth
        | EndedBy::Nodes
        | EndedBy::Evaluations
        | EndedBy::Generations
        | EndedBy::Simulations
        | EndedBy::Proven
        | EndedBy::OnlyMove => record.search.nodes.saturating_add(1),
    };
    moves.iter().map(|record| Some(stop(record))).chain([Some(1)]).collect()
}

impl Cells {
    fn playable(&mut self, game: &RecordedGame) -> Result<&PlayableCell> {
        match self.playable.entry(game.it.cell) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let cell = PlayableCell::with_cache(game.definition.clone(), &self.openings)
                    .map_err(|error| {
                        CliError::new(Exit::Input, format!("play in cell {}", game.it.cell))
                            .because(error)
                            .help("use the version of spelrum that wrote this database")
                    })?;
                Ok(new.insert(cell))
            }
        }
    }
}

/// Follows a game against its record, and gives it up at the first difference.
struct Following<'a> {
    watch: &'a Watch,
    recorded: Option<&'a [MoveRecord]>,
    moves: Vec<MoveRecord>,
    difference: Option<Difference>,
}

impl<'a> Following<'a> {
    fn new(recorded: Option<&'a [MoveRecord]>, watch: &'a Watch) -> Self {
        Self { watch, recorded, moves: Vec::new(), difference: None }
    }

    fn follow(&mut self, played: &MoveRecord) -> ControlFlow<()> {
        let ply = self.watch.plies.fetch_add(1, Ordering::Relaxed);
        self.moves.push(played.clone());
        if let Some(recorded) = self.recorded {
            let recorded = usize::try_from(ply).ok().and_then(|ply| recorded.get(ply));
            self.difference = Difference::of_moves(ply, recorded, played);
        }
        if self.difference.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The machine's clocks, and whether somebody gave up.
struct Replaying<'a> {
    clock: Clock,
    watch: &'a Watch,
}

impl Host for Replaying<'_> {
    fn wall(&self) -> Duration {
        self.clock.wall()
    }

    fn cpu(&self) -> Duration {
        self.clock.cpu()
    }

    fn aborted(&self) -> bool {
        self.watch.is_interrupted()
    }
}
