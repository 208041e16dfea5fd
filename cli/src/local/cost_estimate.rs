//! A sweep's cost.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use serde::Serialize;
use spelrum_answers::{Calibration, NotTimed, PlayingSlots, playing_time};
use spelrum_engine::{Parameters, Value, memory_bytes_of};
use spelrum_external::{EngineFile, OptionValue, Options};
use spelrum_model::capabilities::{EngineRequest, GameRequest, THREADS_OPTION};
use spelrum_model::engines::NeededEngine;
use spelrum_model::{OpeningsCache, Plan, PlannedCell, PlannedPlayer, Record, Task};
use spelrum_report::text::{count, duration_us};
use spelrum_statistics::StopRule;
use spelrum_store::{GAME_BYTES, MOVE_BYTES};
use spelrum_worker::Cores;

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// The most openings drawn for counting.
const OPENINGS_COUNTED_MAX: u64 = 100_000;

/// Bounds of what is played to measure.
const CALIBRATION: Calibration =
    Calibration { budget: Duration::from_secs(3), game_bytes_max: u64::MAX, prepares: true };

/// A sweep's cost. The JSON form has these keys.
#[derive(Debug, Serialize)]
pub(crate) struct Estimate {
    name: String,
    game: String,
    #[serde(skip)]
    task: Task,
    cells: u64,
    games: u64,
    /// Pairs of the cell with most; 0 if sides are fixed.
    pairs: u64,
    /// Whether the games come in pairs.
    #[serde(skip)]
    swap_sides: bool,
    /// Openings of the cell that needs most: one for each pair, or for each game.
    #[serde(skip)]
    openings_wanted: u64,
    /// Distinct openings for them, in the cell with fewest, counted up to [`OPENINGS_COUNTED_MAX`].
    openings: u64,
    #[serde(flatten)]
    slots: Slots,
    /// The number of timed cells.
    #[serde(skip)]
    timed_cells: u64,
    /// Seconds to play everything; `None` if no game ended within the calibration.
    seconds: Option<f64>,
    /// Whether some games did not end within the calibration, or were not tried: then `seconds` is a lower bound.
    seconds_at_least: bool,
    /// Whether the games depend on earlier results: then `cells` are runs, and all figures are upper bounds.
    depends_on_results: bool,
    /// Text of the rule that may end a cell before it has all its games; then all figures are upper bounds.
    stop_rule: Option<String>,
    #[serde(skip)]
    stop: Option<StopRule>,
    /// Whether external engines play in some cells, which are not calibrated.
    #[serde(skip)]
    engines: bool,
    /// The most memory that a game may take, in bytes, by the sweep and the engines file.
    game_memory_bytes: u64,
    /// The most slots that a game takes.
    game_slots: u32,
    /// Bytes of database; `None` if no game ended within the calibration.
    bytes: Option<u64>,
}

impl Estimate {
    /// The facts for people, as names and values.
    pub(crate) fn lines(&self) -> Vec<(&'static str, String)> {
        let most = self.depends_on_results || self.stop.is_some();
        let about = match (self.seconds_at_least, most) {
            (true, _) => "more than",
            (false, true) => "at most about",
            (false, false) => "about",
        };
        let if_all = if self.seconds_at_least && most { ", if all are played" } else { "" };
        let time = match self.seconds {
            Some(seconds) => {
                let time = duration_us(seconds * 1e6);
                format!("{about} {time} on {}{if_all}", self.slots_text())
            }
            None if self.engines => {
                "unknown: games of external engines are not timed here".to_owned()
            }
            None => "unknown: no game ended within the calibration".to_owned(),
        };
        let bytes = match self.bytes {
            Some(bytes) if most => format!("at most about {}", mebibytes(bytes)),
            Some(bytes) => format!("about {}", mebibytes(bytes)),
            None => "unknown".to_owned(),
        };
        let mut lines = vec![
            (if self.depends_on_results { "runs" } else { "cells" }, count(self.cells)),
            (
                self.task.noun(2),
                (if most { "at most " } else { "" }).to_owned() + &count(self.games),
            ),
            (if self.task.is_game() { "openings" } else { "positions" }, self.openings_text()),
            ("time", time),
            ("database", bytes),
        ];
        lines.extend(self.stop.map(|rule| ("stop rule", rule.describe())));
        if self.engines {
            let memory = mebibytes(self.game_memory_bytes);
            let slots = match self.game_slots {
                1 => "1 slot".to_owned(),
                slots => format!("{slots} slots"),
            };
            lines.push((
                "each game",
                format!("takes up to {memory} of memory plus the engines' defaults, and {slots}"),
            ));
        }
        lines
    }
}

impl Estimate {
    /// Whether there is nothing to play.
    pub(crate) const fn is_empty(&self) -> bool {
        self.games == 0
    }

    /// Whether times are lower bounds.
    pub(crate) const fn is_at_least(&self) -> bool {
        self.seconds_at_least
    }

    /// The seconds that so many of its games take; `None` if no game ended within the calibration.
    pub(crate) fn seconds_of(&self, games: f64) -> Option<f64> {
        self.seconds.map(|seconds| seconds * games / (self.games as f64).max(1.0))
    }

    pub(crate) fn slots_text(&self) -> String {
        let Slots { slots, quiet_slots } = self.slots;
        let slots_text = |count: u64, kind: &str| match count {
            1 => format!("1 {kind}slot like this machine's"),
            _ => format!("{count} {kind}slots like this machine's"),
        };
        match (quiet_slots, self.timed_cells) {
            (_, 0) => slots_text(slots, ""),
            (0, _) => slots_text(slots, "") + ", none of them quiet for timed games",
            (quiet, timed) if timed == self.cells => slots_text(quiet, "quiet "),
            (quiet, _) => format!("{}, timed games on {quiet}", slots_text(slots, "")),
        }
    }

    fn openings_text(&self) -> String {
        let more = if self.openings == OPENINGS_COUNTED_MAX { "or more " } else { "" };
        let noun = if self.swap_sides { "pairs" } else { self.task.noun(2) };
        let (openings, wanted) = (count(self.openings), count(self.openings_wanted));
        format!("{openings} {more}distinct, for {wanted} {noun} a cell")
    }
}

/// The number of concurrent games in an estimate.
#[derive(Clone, Copy, Debug, Serialize)]
struct Slots {
    /// This machine's cores.
    slots: u64,
    /// Slots that play timed games while the others are idle; 0 means all.
    quiet_slots: u64,
}

impl Slots {
    fn here() -> Self {
        let slots = std::thread::available_parallelism().ok();
        let slots =
            slots.and_then(|cores| u32::try_from(cores.get()).ok()).and_then(NonZeroU32::new);
        let slots = slots.unwrap_or(NonZeroU32::MIN);
        let quiet = Cores::here().plan(slots, None).if_allowed();
        Self { slots: slots.get().into(), quiet_slots: quiet.count().into() }
    }
}

/// Plays a few games of the plan for a bounded time.
pub(crate) fn estimate(plan: &Plan, file: Option<&EngineFile>) -> Result<Estimate> {
    const ACTION: &str = "time a game of the sweep";
    let depends_on_results = plan.course.is_some();
    let plan = &plan.foreseen();
    let games = plan.games();
    let slots = Slots::here();
    let begun = Instant::now();
    let at_once = PlayingSlots { slots: slots.slots, quiet_slots: slots.quiet_slots };
    let time = playing_time(plan, at_once, CALIBRATION, &|| begun.elapsed());
    let time = time.map_err(|error| match error {
        NotTimed::Cell(problem) => CliError::new(Exit::Internal, ACTION).because(problem),
        NotTimed::Game(error) => CliError::of_engine(ACTION, error),
    })?;
    let (game_memory_bytes, game_slots) = game_resources(plan, file);
    let swap_sides = plan.conditions.iter().all(|conditions| conditions.swap_sides);
    let wanted = plan.cells.iter().map(|cell| openings_of(plan, cell)).max().unwrap_or(0);
    Ok(Estimate {
        name: plan.name.clone(),
        game: plan.game.clone(),
        task: plan.task(),
        cells: plan.cells.len() as u64,
        games,
        pairs: if swap_sides { wanted } else { 0 },
        swap_sides,
        openings_wanted: wanted,
        openings: openings(plan)?,
        slots,
        timed_cells: plan.cells.iter().filter(|cell| cell.timed).count() as u64,
        seconds: time.seconds,
        seconds_at_least: time.is_at_least,
        depends_on_results,
        stop_rule: plan.stop.map(|rule| rule.to_string()),
        stop: plan.stop,
        engines: !time.are_all_tried,
        game_memory_bytes,
        game_slots,
        bytes: time.plies.map(|plies| {
            let moves = match plan.settings.record {
                Record::Moves | Record::Full => plies * MOVE_BYTES,
                Record::Games => 0.0,
            };
            (games as f64 * (GAME_BYTES + moves)) as u64
        }),
    })
}

/// Bytes of memory and slots of a plan's largest game: one slot for each thread of the player with most, since players
/// think in turn. Options set by the engines file count as if the sweep set them.
fn game_resources(plan: &Plan, file: Option<&EngineFile>) -> (u64, u32) {
    let of_player = |player: &PlannedPlayer| {
        let mut parameters = player.parameters();
        let engine = NeededEngine::from_parameters(&parameters);
        if let Some(spec) = engine.and_then(|need| file?.get(&need.engine)) {
            set_options(&mut parameters, &spec.set);
        }
        let request = EngineRequest::from_parameters(&parameters, GameRequest::default());
        let threads = request.and_then(|request| request.number_of(THREADS_OPTION));
        (
            memory_bytes_of(&parameters),
            threads.and_then(|threads| u32::try_from(threads).ok()).unwrap_or(1),
        )
    };
    let of_players: BTreeMap<&PlannedPlayer, (u64, u32)> =
        plan.players.iter().map(|player| (&**player, of_player(player))).collect();
    plan.cells.iter().fold((0, 1), |(memory, slots), cell| {
        let [first, second] = cell.players.each_ref().map(|player| of_players[&**player]);
        (memory.max(first.0.saturating_add(second.0)), slots.max(first.1).max(second.1))
    })
}

/// Adds options to a player's.
fn set_options(parameters: &mut Parameters, set: &Options) {
    let none = || Value::Table(Parameters::new());
    let Value::Table(options) = parameters.entry("options".to_owned()).or_insert_with(none) else {
        return;
    };
    for (name, value) in set {
        let value = match value {
            OptionValue::Flag(flag) => Value::Bool(*flag),
            OptionValue::Number(number) => Value::Integer(*number),
            OptionValue::Text(text) => Value::Text(text.clone()),
        };
        options.insert(name.clone(), value);
    }
}

/// The number of openings of a cell's games.
fn openings_of(plan: &Plan, cell: &PlannedCell) -> u64 {
    plan.conditions[cell.conditions].openings_of(cell.games)
}

/// The distinct openings of the cell with fewest, at most as many as it needs.
fn openings(plan: &Plan) -> Result<u64> {
    let cache = OpeningsCache::default();
    // For each of the plan's conditions.
    let made = plan
        .conditions
        .iter()
        .map(|conditions| cache.get(plan.seed, &conditions.rules, &conditions.openings))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| CliError::new(Exit::Internal, "count the openings").because(error))?;
    let mut wanted = vec![None; made.len()];
    for cell in &plan.cells {
        let most = &mut wanted[cell.conditions];
        *most = (*most).max(Some(openings_of(plan, cell).min(OPENINGS_COUNTED_MAX)));
    }
    let distinct =
        made.iter().zip(wanted).filter_map(|(openings, wanted)| Some(openings.distinct(wanted?)));
    Ok(distinct.min().unwrap_or(0))
}

/// Bytes in a suitable unit.
pub(crate) fn mebibytes(bytes: u64) -> String {
    match bytes as f64 {
        bytes if bytes < 1048576.0 => format!("{:.0} KiB", (bytes / 1024.0).ceil()),
        bytes if bytes < 1073741824.0 => format!("{:.1} MiB", bytes / 1048576.0),
        bytes => format!("{:.1} GiB", bytes / 1073741824.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timed_games_are_said_to_be_played_on_quiet_slots() {
        let text = |slots, quiet_slots, timed_cells| {
            let slots = Slots { slots, quiet_slots };
            let estimate = Estimate {
                name: String::new(),
                game: String::new(),
                task: Task::Game,
                cells: 3,
                games: 6,
                pairs: 1,
                swap_sides: true,
                openings_wanted: 1,
                openings: 1,
                slots,
                timed_cells,
                seconds: None,
                seconds_at_least: false,
                depends_on_results: false,
                stop_rule: None,
                stop: None,
                engines: false,
                game_memory_bytes: 0,
                game_slots: 1,
                bytes: None,
            };
            estimate.slots_text()
        };
        assert_eq!(text(1, 0, 0), "1 slot like this machine's");
        assert_eq!(text(8, 7, 0), "8 slots like this machine's");
        assert_eq!(text(2, 1, 3), "1 quiet slot like this machine's");
        assert_eq!(text(8, 7, 3), "7 quiet slots like this machine's");
        assert_eq!(text(8, 7, 2), "8 slots like this machine's, timed games on 7");
        assert_eq!(
            text(8, 0, 2),
            "8 slots like this machine's, none of them quiet for timed games"
        );
    }
}
