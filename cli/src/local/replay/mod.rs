//! Replaying a recorded game, compared move by move.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use spelrum_engine::{
    Answer, ENGINE_REVISION, Ending, ExternalPlayer, Fault, GameRecord, Host, MoveRecord, Outcome,
    PlayError, Player, Termination, TextTurn, replay_moves,
};
use spelrum_model::GameEnd;
use spelrum_model::{CellId, Difference, OpeningsCache, PlayableCell, replayed_stops, stops};
use spelrum_report::replay::{Check, Compared, RecordedGame, Rerun};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::clock::Clock;

/// The cells of replayed games, each made playable once.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    openings: OpeningsCache,
    playable: BTreeMap<CellId, PlayableCell>,
}

/// A replay as seen from another thread.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    interrupted: AtomicBool,
    plies: AtomicU32,
}

impl Watch {
    /// Asks the replay to stop.
    pub(crate) fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Relaxed);
    }

    /// Plies of the current game played so far.
    pub(crate) fn plies(&self) -> u32 {
        self.plies.load(Ordering::Relaxed)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Replays a game from its cell's definition and its number (invariant 1), timed moves by their recorded node counts
/// (invariant 3). Returns `None` if interrupted.
///
/// Stops at the first difference: a different game would follow, with possibly unbounded searches.
pub(crate) fn replay_game(
    game: &RecordedGame,
    cells: &mut Cells,
    watch: &Arc<Watch>,
) -> Result<Option<Rerun>> {
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
    if cell.has_engines() {
        let Some(moves) = &game.moves else {
            return Err(failed()
                .because("an external engine played it, and its moves are not recorded")
                .help("a sweep with record = \"moves\" keeps them, until it is pruned"));
        };
        let texts = moves.iter().map(|record| record.mv.as_str());
        let positions =
            replay_moves(&game.definition.rules, &game.opening, texts).unwrap_or_default();
        let end_position = positions.into_iter().next_back().map(|last| last.position);
        let host = Replaying { clock: Clock::default(), watch, end: &game.end, end_position };
        return match check_by_rules(game, cell, moves, &host) {
            Ok(check) => Ok(check.map(|check| Rerun { check, moves: moves.clone() })),
            Err(error) => Err(failed().because(error)),
        };
    }
    if game.moves.is_none() && cell.has_time_limit() {
        return Err(failed()
            .because(
                "a time limit bounds its players, and where the clock stopped their searches is \
                 not recorded",
            )
            .help("a sweep with record = \"moves\" keeps that of its games, until it is pruned"));
    }
    let opening = cell.derive(game.game.number).opening;
    if let Some(difference) = Difference::between_openings(&game.opening, &opening) {
        return Ok(Some(Rerun { check: Check::Different(difference), moves: Vec::new() }));
    }
    let host = Replaying { clock: Clock::default(), watch, end: &game.end, end_position: None };
    let mut following = Following::new(game.moves.as_deref(), watch);
    let stops = game.moves.as_deref().map(|moves| stops(moves, game.end.termination));
    let stops = stops.and_then(|stops| replayed_stops(&stops));
    let played = cell.play_watched(game.game.number, stops.as_deref(), &host, &mut |played| {
        played.last().map_or(ControlFlow::Continue(()), |played| following.follow(played))
    });
    let check = match played {
        Ok((_, record)) => match following.difference.take() {
            Some(difference) => Check::Different(difference),
            None => match Difference::between_ends(&game.end, &record) {
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
        Err(
            error @ (PlayError::Opening(_)
            | PlayError::OtherGame
            | PlayError::NotOurs(_)
            | PlayError::Network(_)),
        ) => {
            return Err(failed().because(error));
        }
    };
    Ok(Some(Rerun { check, moves: following.moves }))
}

/// Checks a game of an external engine, which cannot be asked again: the rules must allow its moves, and our player
/// must answer them as recorded, unless a clock ended its searches. Returns `None` if interrupted.
fn check_by_rules(
    game: &RecordedGame,
    cell: &PlayableCell,
    moves: &[MoveRecord],
    host: &Replaying<'_>,
) -> Result<Option<Check>, PlayError> {
    let GameEnd { first_side, outcome, margin, termination, .. } = game.end;
    let (number, moves, wall_us) = (game.game.number, moves.to_vec(), game.wall_us.unwrap_or(0));
    let record = GameRecord { outcome, margin, termination, first_side, moves, wall_us };
    let derived = cell.derive(number);
    let forfeit = game.forfeit.as_ref();
    let ruled = cell.referee(number, &game.opening, &record).and_then(|()| {
        cell.referee_engines(number, &game.engines, (termination, outcome), forfeit)
    });
    if let Some(difference) = Difference::between_openings(&game.opening, &derived.opening) {
        return Ok(Some(Check::Different(difference)));
    }
    if let Err(problem) = ruled {
        return Ok(Some(Check::Irregular(problem.to_string())));
    }
    if let Some(difference) = Difference::between_ends(&game.end, &record) {
        return Ok(Some(Check::Different(difference)));
    }
    let players = cell.players_of(&derived);
    let is_ours = |player: &&Player| player.external().is_none();
    if !players.iter().any(is_ours)
        || players.iter().filter(|player| is_ours(player)).any(|player| player.is_timed())
    {
        return Ok(Some(Check::Same(Compared::Rules)));
    }
    let mut scripts = [Script::new(&record, host.watch), Script::new(&record, host.watch)];
    let [first, second]: [&mut dyn ExternalPlayer; 2] = {
        let [first, second] = &mut scripts;
        [first, second]
    };
    let [is_first_ours, is_second_ours] = players.each_ref().map(is_ours);
    let outside = [(!is_first_ours).then_some(first), (!is_second_ours).then_some(second)];
    let played = cell.play_with(&derived, outside, host);
    if let Some(difference) = scripts.into_iter().find_map(|script| script.difference) {
        return Ok(Some(Check::Different(difference)));
    }
    let played = match played {
        Ok(played) => played,
        Err(PlayError::Aborted) => return Ok(None),
        Err(error) => return Err(error),
    };
    let difference = difference_of(&record.moves, &played.moves, 0)
        .or_else(|| Difference::between_ends(&game.end, &played));
    Ok(Some(difference.map_or(Check::Same(Compared::OwnMoves), Check::Different)))
}

/// The first difference between a record's moves and these, from a ply on.
fn difference_of(
    recorded: &[MoveRecord],
    played: &[MoveRecord],
    from: usize,
) -> Option<Difference> {
    let played = (0..).zip(played).skip(from);
    let differs = |(ply, mv): (u32, &MoveRecord)| {
        let recorded = usize::try_from(ply).ok().and_then(|ply| recorded.get(ply));
        Difference::between_moves(ply, recorded, mv)
    };
    played.map(differs).find_map(|difference| difference)
}

/// The recorded moves of an external engine. Stops the game where our player differs: a different game would follow.
struct Script<'a> {
    record: &'a GameRecord,
    watch: &'a Watch,
    /// Moves seen so far.
    seen: usize,
    difference: Option<Difference>,
}

impl<'a> Script<'a> {
    fn new(record: &'a GameRecord, watch: &'a Watch) -> Self {
        Self { record, watch, seen: 0, difference: None }
    }
}

impl ExternalPlayer for Script<'_> {
    fn choose(&mut self, turn: &TextTurn<'_>, _: &dyn Host) -> Result<Answer<String>, Fault> {
        self.watch
            .plies
            .store(u32::try_from(turn.moves.len()).unwrap_or(u32::MAX), Ordering::Relaxed);
        self.difference = difference_of(&self.record.moves, turn.moves, self.seen);
        self.seen = turn.moves.len();
        if self.difference.is_some() {
            return Err(Fault::Aborted);
        }
        match self.record.moves.get(turn.moves.len()) {
            Some(MoveRecord { mv, search, .. }) => Ok(Answer { mv: mv.clone(), search: *search }),
            // The rules were checked before: according to the record, the engine lost here by this fault.
            None => Err(Fault::of_termination(self.record.termination)),
        }
    }
}

impl Cells {
    fn playable(&mut self, game: &RecordedGame) -> Result<&PlayableCell> {
        match self.playable.entry(game.game.cell) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(new) => {
                let cell = PlayableCell::with_cache(game.definition.clone(), &self.openings)
                    .map_err(|error| {
                        CliError::new(Exit::Input, format!("play in cell {}", game.game.cell))
                            .because(error)
                            .help("use the version of spelrum that wrote this database")
                    })?;
                Ok(new.insert(cell))
            }
        }
    }
}

/// Follows a game against its record and stops at the first difference.
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
            self.difference = Difference::between_moves(ply, recorded, played);
        }
        if self.difference.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The machine's clocks, and whether the replay was interrupted. What Syzygy tables gave is taken from the record: the
/// machine need not have them.
struct Replaying<'a> {
    clock: Clock,
    watch: &'a Watch,
    /// The recorded end.
    end: &'a GameEnd,
    /// Where it is, if the watch does not count the plies.
    end_position: Option<String>,
}

impl Host for Replaying<'_> {
    fn wall(&self) -> Duration {
        self.clock.wall()
    }

    fn cpu(&self) -> Duration {
        self.clock.cpu()
    }

    fn syzygy_ending(&self, position: &str, _fifty_moves: bool) -> Option<Ending> {
        let GameEnd { first_side, outcome, termination, plies, .. } = *self.end;
        let is_here = match &self.end_position {
            Some(end) => end == position,
            None => self.watch.plies() == plies,
        };
        let winner = match outcome {
            Outcome::Win => Some(first_side),
            Outcome::Draw => None,
            Outcome::Loss => Some(first_side.other()),
        };
        (is_here && termination == Termination::SYZYGY).then_some(Ending { winner, termination })
    }

    fn aborted(&self) -> bool {
        self.watch.is_interrupted()
    }
}
