//! The programs of others that this worker plays with.

mod seat;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use spelrum_engine::{GameRecord, Host, Outcome, OutsidePlayer, PlayError, Player};
use spelrum_external::{
    Breach, BreachKind, Conditions, EngineFailure, EngineFile, FailureKind, Guard, Identity,
    NoRoom, Options, Pool, Reservation,
};
use spelrum_tournament::engines::{EngineIdentity, Forfeit, NeededEngine, OfferedEngine};
use spelrum_tournament::{DerivedGame, PlayableCell};

use seat::EngineSeat;
pub use seat::options_of;

/// What is shown of what was said before a failure, in bytes from its end.
const SHOWN_BYTES: usize = 2_048;
/// After a game that could not begin; twice as long after each that follows.
const UNPLAYABLE_WAIT: Duration = Duration::from_millis(100);
/// So often that is doubled: up to a minute and a half.
const UNPLAYABLE_DOUBLINGS: u32 = 10;
/// So many engines are tried at the same time, to learn what they are.
const TRIED_AT_ONCE: usize = 8;

/// The engines of this machine, ready to play. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Engines(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    pool: Pool,
    offered: Vec<OfferedEngine>,
    /// Which kinds of breaches of which engine people were told of.
    told: Mutex<BTreeSet<(String, BreachKind)>>,
    /// How many games in a row could not begin.
    unplayable: AtomicU32,
}

/// A game in which programs of others took part.
pub(crate) struct EnginesGame {
    pub(crate) derived: DerivedGame,
    pub(crate) record: GameRecord,
    pub(crate) engines: [Option<EngineIdentity>; 2],
    pub(crate) forfeit: Option<Forfeit>,
}

/// Who wants a game.
pub(crate) trait Wanting: Host {
    /// Whether a game that has not begun is to be begun no more.
    fn wants_none(&self) -> bool;

    /// It has room, and begins now: its time runs from here on.
    fn begins(&self);
}

/// Why a game with programs of others has no record.
pub(crate) enum NoGame {
    /// It was not wanted any more, or took too long.
    Aborted,
    /// It could not be played: nobody's loss.
    Unplayable(String),
}

impl Engines {
    /// Starts each engine of a file once, to learn what it is, and ends it again. Those that do not start
    /// are not offered; why is returned beside. Blocks for as long as that takes.
    #[must_use]
    pub fn find(
        file: EngineFile,
        guard: Guard,
        slots: NonZeroU32,
        aborted: &(dyn Fn() -> bool + Sync),
    ) -> (Self, Vec<EngineFailure>) {
        let names: Vec<String> = file.iter().map(|spec| spec.name.clone()).collect();
        // Both sides of every game may be engines.
        let pool = Pool::new(file, guard, 2 * slots.get() as usize);
        let mut found = Vec::new();
        for some in names.chunks(TRIED_AT_ONCE) {
            let tried = thread::scope(|scope| {
                let threads: Vec<_> =
                    some.iter().map(|name| scope.spawn(|| offer(&pool, name, aborted))).collect();
                threads.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
            });
            found.extend(
                tried
                    .into_iter()
                    .map(|it| it.unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
            );
        }
        pool.close_idle();
        let (mut offered, mut failures) = (Vec::new(), Vec::new());
        for it in found {
            match it {
                Ok(engine) => offered.push(engine),
                Err(failure) => failures.push(failure),
            }
        }
        let told = Mutex::default();
        let unplayable = AtomicU32::new(0);
        (Self(Arc::new(Shared { pool, offered, told, unplayable })), failures)
    }

    /// Those that can play.
    #[must_use]
    pub fn offered(&self) -> &[OfferedEngine] {
        &self.0.offered
    }

    /// Ends those that nobody uses. Blocks until they are gone.
    pub(crate) fn close(&self) {
        self.0.pool.close_idle();
    }

    /// Plays the game with this number. Where games cannot begin, the next ones wait ever longer: a machine
    /// that cannot play what others can must not be the one that gets through all of them.
    pub(crate) fn play(
        &self,
        cell: &PlayableCell,
        number: u64,
        host: &dyn Wanting,
    ) -> Result<EnginesGame, NoGame> {
        let played = self.play_now(cell, number, host);
        match &played {
            Ok(_) => self.0.unplayable.store(0, Ordering::Relaxed),
            Err(NoGame::Aborted) => {}
            Err(NoGame::Unplayable(_)) => {
                let in_a_row = self.0.unplayable.fetch_add(1, Ordering::Relaxed);
                let wait = UNPLAYABLE_WAIT.saturating_mul(1 << in_a_row.min(UNPLAYABLE_DOUBLINGS));
                let until = Instant::now() + wait;
                while Instant::now() < until && !host.wants_none() {
                    thread::park_timeout(
                        UNPLAYABLE_WAIT.min(until.saturating_duration_since(Instant::now())),
                    );
                }
            }
        }
        played
    }

    fn play_now(
        &self,
        cell: &PlayableCell,
        number: u64,
        host: &dyn Wanting,
    ) -> Result<EnginesGame, NoGame> {
        let derived = cell.derive(number);
        let players = cell.players_of(&derived);
        let names: Vec<&str> = players
            .iter()
            .filter_map(|player| player.outside().map(|rules| rules.engine.as_str()))
            .collect();
        let mut room =
            self.0.pool.reserve(&names, &|| host.wants_none()).map_err(
                |no_room| match no_room {
                    NoRoom::Aborted => NoGame::Aborted,
                    NoRoom::Unknown(_) | NoRoom::TooMany { .. } => {
                        NoGame::Unplayable(no_room.to_string())
                    }
                },
            )?;
        host.begins();
        let [first, second] = [0, 1].map(|index| self.seat(cell, players, index, &mut room, host));
        let mut seats = [first?, second?];
        let played = {
            let [first, second] = &mut seats;
            let outside = [outside(first), outside(second)];
            cell.play_with(&derived, outside, host)
        };
        for seat in seats.iter_mut().flatten() {
            let breaches = seat.take_breaches();
            self.tell(seat.name(), &breaches);
        }
        let record = played.map_err(|error| match error {
            PlayError::Aborted => {
                let unplayable = seats.iter_mut().flatten().find_map(EngineSeat::take_unplayable);
                unplayable
                    .map_or(NoGame::Aborted, |failure| NoGame::Unplayable(explained(&failure)))
            }
            PlayError::Opening(_)
            | PlayError::OtherGame
            | PlayError::NotOurs(_)
            | PlayError::Memory(_) => NoGame::Unplayable(error.to_string()),
        })?;
        let loser = usize::from(record.outcome == Outcome::Win);
        let forfeit = seats[loser].as_mut().filter(|_| record.termination.is_forfeit());
        let forfeit = forfeit.map(|seat| {
            let forfeit = seat.forfeit();
            let (engine, message) = (seat.name(), &forfeit.message);
            tracing::warn!(engine, message, "a game was lost by forfeit");
            forfeit
        });
        let engines = seats.each_ref().map(|seat| seat.as_ref().map(EngineSeat::identity));
        Ok(EnginesGame { derived, record, engines, forfeit })
    }

    /// Seats the program of others that takes this side, if one does.
    fn seat(
        &self,
        cell: &PlayableCell,
        players: [&Player; 2],
        index: usize,
        room: &mut Reservation,
        host: &dyn Wanting,
    ) -> Result<Option<EngineSeat>, NoGame> {
        let Some(rules) = players[index].outside() else { return Ok(None) };
        let (options, conditions) = seat::conditions(cell, players[index], rules);
        let taken = room.take(&rules.engine, &options, &conditions, &|| host.aborted());
        let engine = taken.map_err(|failure| {
            let is_unwanted = failure.kind == FailureKind::Aborted;
            if is_unwanted { NoGame::Aborted } else { NoGame::Unplayable(explained(&failure)) }
        })?;
        let other_clock = players[1 - index].outside().and_then(|rules| rules.clock);
        let seat = EngineSeat::new(engine, rules.clone(), conditions, index, other_clock);
        // It may have been replaced since it was offered.
        let needed = NeededEngine::of(rules);
        if !needed.is_met_by(&offered(&rules.engine, rules.protocol, 1, seat.identity())) {
            let problem = format!("{needed} is needed, and is {} here", seat.identity().name);
            return Err(NoGame::Unplayable(problem));
        }
        Ok(Some(seat))
    }

    /// Tells people of each kind of breach once.
    fn tell(&self, engine: &str, breaches: &[Breach]) {
        let mut told = self.0.told.lock().unwrap_or_else(PoisonError::into_inner);
        for breach in breaches {
            if told.insert((engine.to_owned(), breach.kind)) {
                tracing::warn!(engine, %breach, "an engine departs from its protocol; told once");
            }
        }
    }
}

fn outside(seat: &mut Option<EngineSeat>) -> Option<&mut dyn OutsidePlayer> {
    seat.as_mut().map(|seat| seat as &mut dyn OutsidePlayer)
}

/// Learns what an engine is.
fn offer(
    pool: &Pool,
    name: &str,
    aborted: &(dyn Fn() -> bool + Sync),
) -> Result<OfferedEngine, EngineFailure> {
    let aborted = || aborted();
    let mut room = pool.reserve(&[name], &aborted).map_err(|no_room| EngineFailure {
        engine: name.to_owned(),
        kind: FailureKind::Unsupported(no_room.to_string()),
        during: spelrum_external::Phase::Start,
        transcript: String::new(),
    })?;
    let engine = room.take(name, &Options::new(), &Conditions::default(), &aborted)?;
    let spec = engine.spec();
    let protocol = seat::protocol(spec.protocol);
    Ok(offered(name, protocol, spec.at_once, identity(engine.identity())))
}

fn offered(
    engine: &str,
    protocol: spelrum_engine::Protocol,
    at_once: u32,
    identity: EngineIdentity,
) -> OfferedEngine {
    OfferedEngine { engine: engine.to_owned(), protocol, at_once, identity }
}

fn identity(identity: &Identity) -> EngineIdentity {
    let Identity { name, author, sha256 } = identity.clone();
    EngineIdentity { name, author, sha256 }
}

/// A failure with the last that was said.
fn explained(failure: &EngineFailure) -> String {
    let said = &failure.transcript;
    if said.is_empty() {
        return failure.to_string();
    }
    let from = said.ceil_char_boundary(said.len().saturating_sub(SHOWN_BYTES));
    format!("{failure}; the last that was said: {}", said[from..].trim_end().replace('\n', " | "))
}
