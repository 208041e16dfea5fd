//! The time that a sweep's games take: a few of them are played briefly, the rest is arithmetic.

use std::collections::BTreeMap;
use std::time::Duration;

use spelrum_engine::network::recipe_of;
use spelrum_engine::{Host, MoveValuesError, PlayError, memory_bytes_of};
use spelrum_model::engines::NeededEngine;
use spelrum_model::{
    CellDefinition, OpeningsCache, OpeningsRule, Plan, PlannedCell, PlannedPlayer, PlayableCell,
    Task,
};

/// The most cells measured, spread evenly over the sweep.
const SAMPLED_CELLS_MAX: usize = 64;
/// A cell whose games took this long together is measured well enough.
const ENOUGH: Duration = Duration::from_millis(20);

/// Numbers of concurrent games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayingSlots {
    /// Slots; at least 1.
    pub slots: u64,
    /// Slots that play timed games while the others are idle; 0 means all.
    pub quiet_slots: u64,
}

/// Bounds of what is played to measure.
#[derive(Clone, Copy, Debug)]
pub struct Calibration {
    /// The time for it, all games together.
    pub budget: Duration,
    /// Games that may take more memory than this, in bytes, are not played.
    pub game_bytes_max: u64,
    /// Whether endgame tables are made and networks trained that games need.
    pub prepares: bool,
}

/// The time that a plan's games take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlayingTime {
    /// Seconds to play everything; `None` if no game ended within the calibration.
    pub seconds: Option<f64>,
    /// Whether some games did not end within the calibration, or were not tried: then `seconds` is a lower bound.
    pub is_at_least: bool,
    /// Whether games of all cells were tried: none has an external engine, needs too much memory, or something that is not
    /// prepared.
    pub are_all_tried: bool,
    /// Mean number of plies of a game; `None` if no game ended within the calibration.
    pub plies: Option<f64>,
}

/// Why a plan's games could not be timed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotTimed {
    /// A cell cannot be played.
    #[error("{0}")]
    Cell(String),
    /// A game could not be played.
    #[error(transparent)]
    Game(PlayError),
}

impl PlayingSlots {
    /// Concurrent games of a cell.
    const fn for_cell(self, cell: &PlannedCell) -> u64 {
        if cell.timed && self.quiet_slots > 0 { self.quiet_slots } else { self.slots }
    }
}

/// Plays a few games of a plan for a bounded time by this clock, which tells the time since a fixed moment. External
/// engines play none.
///
/// # Errors
/// See [`NotTimed`].
pub fn playing_time(
    plan: &Plan,
    slots: PlayingSlots,
    calibration: Calibration,
    clock: &(dyn Fn() -> Duration + Sync),
) -> Result<PlayingTime, NotTimed> {
    let begun = clock();
    // By player: its memory; `None` for external engines.
    let memory: BTreeMap<&PlannedPlayer, Option<u64>> = plan
        .players
        .iter()
        .map(|player| {
            let parameters = player.parameters();
            let is_ours = NeededEngine::from_parameters(&parameters).is_none();
            (&**player, is_ours.then(|| memory_bytes_of(&parameters)))
        })
        .collect();
    let is_tried = |cell: &&PlannedCell| {
        if !calibration.prepares && needs_preparing(plan, cell) {
            return false;
        }
        let [first, second] = cell.players.each_ref().map(|player| memory[&**player]);
        let both = first.zip(second).map(|(first, second)| first.saturating_add(second));
        both.is_some_and(|bytes| bytes <= calibration.game_bytes_max)
    };
    let tried: Vec<&PlannedCell> = plan.cells.iter().filter(is_tried).collect();
    let sampled = spread(&tried);
    let mut cost = Cost::default();
    let cache = OpeningsCache::default();
    // The cache holds only what is in use.
    let mut last = None;
    for (index, cell) in sampled.iter().enumerate() {
        let cells_left = u32::try_from(sampled.len() - index).unwrap_or(u32::MAX);
        let left = (begun + calibration.budget).saturating_sub(clock());
        if left.is_zero() {
            cost.aborted = true;
            break;
        }
        let playable = last.insert(playable(plan.definition(cell), &cache)?);
        let measured = measure(playable, cell.games, &Until::new(clock, left / cells_left))?;
        cost.add(cell, &measured, slots.for_cell(cell));
    }
    let are_all_tried = tried.len() == plan.cells.len();
    let references = references(plan, slots, calibration, clock, &is_tried, &cache)?;
    let share = plan.games() as f64 / cost.games_stood_for.max(1.0);
    let finished = (cost.finished > 0).then_some(&cost);
    Ok(PlayingTime {
        seconds: finished.map(|cost| cost.seconds * share + references.seconds),
        is_at_least: references.is_least
            || !are_all_tried
            || finished.is_some_and(|cost| cost.aborted),
        are_all_tried,
        plies: finished.map(|cost| cost.plies as f64 / cost.finished as f64),
    })
}

/// The time for the references of an accuracy experiment.
#[derive(Default)]
struct References {
    seconds: f64,
    /// Whether that is a lower bound.
    is_least: bool,
}

/// Times the references of an accuracy experiment, each of which values a position once for all players.
fn references(
    plan: &Plan,
    slots: PlayingSlots,
    calibration: Calibration,
    clock: &(dyn Fn() -> Duration + Sync),
    is_tried: &dyn Fn(&&PlannedCell) -> bool,
    cache: &OpeningsCache,
) -> Result<References, NotTimed> {
    let mut references = References::default();
    if plan.task() == Task::Game {
        return Ok(references);
    }
    // By conditions and reference: a cell, and the highest number of choices.
    let mut valued: BTreeMap<(usize, &PlannedPlayer), (&PlannedCell, u64)> = BTreeMap::new();
    for cell in plan.cells.iter().filter(is_tried) {
        let (_, choices) =
            valued.entry((cell.conditions, &*cell.players[1])).or_insert((cell, cell.games));
        *choices = (*choices).max(cell.games);
    }
    // Experiments with all their choices made have no cell left.
    let slice = calibration.budget / u32::try_from(valued.len().max(1)).unwrap_or(u32::MAX);
    let begun = clock();
    for (cell, choices) in valued.into_values() {
        if clock().saturating_sub(begun) >= calibration.budget {
            references.is_least = true;
            break;
        }
        let playable = playable(plan.definition(cell), cache)?;
        let host = Until::new(clock, slice);
        let mut done = 0_u64;
        while done < choices && !host.aborted() {
            match playable.values(&playable.derive(done).opening, &host) {
                // A position out of reach takes time as well.
                Ok(_) | Err(MoveValuesError::Limit { .. }) => done += 1,
                Err(MoveValuesError::Aborted) => break,
                Err(error) => return Err(NotTimed::Cell(error.to_string())),
            }
        }
        let valuing = choices as f64 * host.wall().as_secs_f64() / done.max(1) as f64;
        references.seconds += valuing / slots.for_cell(cell) as f64;
        references.is_least |= done == 0;
    }
    Ok(references)
}

fn playable(definition: CellDefinition, cache: &OpeningsCache) -> Result<PlayableCell, NotTimed> {
    let playable = PlayableCell::with_cache(definition, cache);
    playable.map_err(|error| NotTimed::Cell(error.to_string()))
}

/// Whether a cell's games wait for an endgame table that is made, or for a network that is trained.
fn needs_preparing(plan: &Plan, cell: &PlannedCell) -> bool {
    let conditions = &plan.conditions[cell.conditions];
    matches!(conditions.openings, OpeningsRule::Ending { .. })
        || conditions.adjudication.is_some_and(|adjudication| adjudication.tables)
        || cell.players.iter().any(|player| recipe_of(&player.parameters()).is_some())
}

/// Up to [`SAMPLED_CELLS_MAX`] cells, evenly spaced.
fn spread<'c>(cells: &[&'c PlannedCell]) -> Vec<&'c PlannedCell> {
    let sampled = cells.len().min(SAMPLED_CELLS_MAX);
    (0..sampled).map(|index| cells[index * cells.len() / sampled]).collect()
}

/// The cost of the sampled cells together.
#[derive(Default)]
struct Cost {
    games_stood_for: f64,
    /// On all slots together.
    seconds: f64,
    finished: u64,
    plies: u64,
    aborted: bool,
}

impl Cost {
    /// Adds a cell with this many concurrent games.
    fn add(&mut self, cell: &PlannedCell, measured: &Measured, at_once: u64) {
        let games = cell.games as f64;
        let per_game = measured.wall.as_secs_f64() / measured.finished.max(1) as f64;
        self.games_stood_for += games;
        self.seconds += games * per_game / at_once as f64;
        self.finished += measured.finished;
        self.plies += measured.plies;
        self.aborted |= measured.finished == 0;
    }
}

/// Games of one cell, played one after the other.
#[derive(Default)]
struct Measured {
    wall: Duration,
    finished: u64,
    plies: u64,
}

fn measure(playable: &PlayableCell, games: u64, host: &Until<'_>) -> Result<Measured, NotTimed> {
    let mut measured = Measured::default();
    for number in 0..games {
        let before = host.wall();
        match playable.play(number, None, host) {
            Ok((_, record)) => {
                measured.finished += 1;
                measured.plies += u64::from(record.plies());
                measured.wall += host.wall() - before;
            }
            Err(PlayError::Aborted) => {
                if measured.finished == 0 {
                    measured.wall = host.wall() - before;
                }
                break;
            }
            Err(error) => return Err(NotTimed::Game(error)),
        }
        if measured.wall >= ENOUGH || host.aborted() {
            break;
        }
    }
    Ok(measured)
}

/// A clock with a deadline.
struct Until<'c> {
    clock: &'c (dyn Fn() -> Duration + Sync),
    start: Duration,
    slice: Duration,
}

impl<'c> Until<'c> {
    fn new(clock: &'c (dyn Fn() -> Duration + Sync), slice: Duration) -> Self {
        Self { clock, start: clock(), slice }
    }
}

impl Host for Until<'_> {
    fn wall(&self) -> Duration {
        (self.clock)().saturating_sub(self.start)
    }

    fn cpu(&self) -> Duration {
        // The calibration does not use the CPU time of a move.
        Duration::ZERO
    }

    fn aborted(&self) -> bool {
        self.wall() >= self.slice
    }
}
