//! Compares a changed sweep with its stored experiment. Cells are matched by the hash of their definition alone, so
//! that no game is lost or counted for another cell.
//!
//! A store passes in the experiment a bounded number of cells at a time; this module compares them with the plan.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::builds::{former_name, without_build};
use crate::definition::{DefinitionHash, DefinitionJson};
use crate::engines::NeededEngine;
use crate::ids::CellId;
use crate::plan::{AxisValue, Plan, PlannedCell};
use crate::settings::ExperimentSettings;

pub use crate::settings::{ALLOCATE, GAME_TIMEOUT, PLACEMENT};

/// Most cells of an experiment, including those that its sweep no longer names (invariant 9).
pub const CELLS_EVER_MAX: u64 = 1_000_000;

/// Most examples of each kind.
const EXAMPLES_MAX: usize = 3;

/// The effect of a sweep on its experiment: counts and a few examples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Cells named as before; they keep their games.
    pub cells_kept: u64,
    /// Kept cells that get more games than before.
    pub cells_continued: u64,
    /// New cells.
    pub cells_added: u64,
    /// Cells that were named once and are named again, with their games.
    pub cells_returned: u64,
    /// Cells no longer named: their games stay, but leave the reports.
    pub cells_dropped: u64,
    /// Settled games of the cells named now.
    pub games_kept: u64,
    /// Unsettled games of the cells named now.
    pub games_to_play: u64,
    /// Settled games of the cells no longer named.
    pub games_dropped: u64,
    /// Cells of a retired build: they get no more games, and stay in the reports beside those of the current build.
    pub cells_superseded: u64,
    /// Engines whose build differs; each once.
    pub builds_changed: Vec<BuildChange>,
    /// Whether the axes' names, or the places of kept cells on them, differ.
    pub axes_changed: bool,
    /// Whether the rules, the openings, the limit of plies, the side that moves first or the seed differ in any cell.
    pub rules_changed: bool,
    /// Other settings that differ, by key of the sweep file: [`ExperimentSettings`], `stop`, `anchors`.
    pub settings_changed: Vec<Cow<'static, str>>,
    /// A few cells of each kind.
    pub examples: Vec<CellExample>,
}

impl Change {
    /// Whether the setting with this key of the sweep file differs.
    #[must_use]
    pub fn has_changed(&self, setting: &str) -> bool {
        self.settings_changed.iter().any(|changed| changed == setting)
    }
}

/// A cell described for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellExample {
    /// The change to the cell.
    pub change: CellChange,
    /// Its place on the axes: `depth=3, rules=old`.
    pub axes: String,
    /// The name of its first player.
    pub player: String,
    /// The name of its second player.
    pub opponent: String,
    /// Its settled games.
    pub games_settled: u64,
    /// Games planned; for a dropped cell, games planned before.
    pub games_planned: u64,
}

/// An engine whose build differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuildChange {
    /// Its name in the sweep.
    pub engine: String,
    /// The previous build; `None` if it was never resolved.
    pub before: Option<String>,
    /// The current build; `None` if any is allowed.
    pub now: Option<String>,
    /// Settled games of the previous build in the cells that it leaves.
    pub games: u64,
}

/// The change to a cell.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CellChange {
    /// It gets more games than before.
    Continued,
    /// The cell is new.
    Added,
    /// It was named once and is named again.
    Returned,
    /// It is no longer named.
    Dropped,
}

/// A cell of an experiment, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCell {
    /// The cell.
    pub cell: CellId,
    /// Its place in the grid's order.
    pub number: u64,
    /// Games planned.
    pub games_planned: u64,
    /// The lowest number never leased.
    pub next_number: u64,
    /// Whether the sweep still names it.
    pub in_sweep: bool,
    /// Whether its result depends on time, or the sweep measures time.
    pub timed: bool,
    /// The names of its players.
    pub player_names: [String; 2],
    /// Its settled games.
    pub games_settled: u64,
    /// Its [`place_mark`].
    pub place: String,
    /// The number at which its stop rule ended it.
    pub stop_number: Option<u64>,
    /// Whether its stop rule equals the plan's; also if neither has one.
    pub has_plans_rule: bool,
}

/// An experiment apart from its cells, as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredExperiment {
    /// Its settings.
    pub settings: ExperimentSettings,
    /// The names of its axes, in order.
    pub axes: Vec<String>,
    /// The players that anchor the rating scale, in order.
    pub anchors: Vec<String>,
    /// Prefixes shared by the definitions of its named cells: [`DefinitionJson::prefix`].
    pub definition_prefixes: BTreeSet<String>,
}

/// A comparison of a plan with an experiment.
#[derive(Debug)]
pub struct Comparison<'p> {
    plan: &'p Plan,
    places: Places<'p>,
    /// Counts and a few examples.
    pub change: Change,
    /// Existing cells that the plan names.
    pub known: Vec<KnownCell>,
    /// Numbers in the plan of the new cells.
    pub added: Vec<usize>,
    /// Cells that the plan no longer names.
    pub dropped: Vec<DroppedCell>,
    /// Cells that the plan names with other builds.
    pub superseded: Vec<SupersededCell>,
    /// Games left to play in each cell of the plan.
    pub games_left: Vec<u64>,
    /// Cells that the plan names with other builds and that have no settled game.
    superseded_without_games: Vec<DroppedCell>,
    /// Number of cells that the plan names with other builds.
    cells_in_common: u64,
    /// Number of known cells that the sweep named before.
    still_named: u64,
    /// All cells of the experiment, named or not.
    cells_there: u64,
}

/// An existing cell that the plan names.
#[derive(Clone, Copy, Debug)]
pub struct KnownCell {
    /// The cell.
    pub cell: CellId,
    /// Its number in the plan.
    pub number: usize,
    /// Games it gets: at least those leased.
    pub games: u64,
    /// The lowest number never leased.
    pub next_number: u64,
    /// Whether its games come in pairs.
    pub swap_sides: bool,
    /// Whether its stored row differs.
    pub row_differs: bool,
    /// Whether the scheduler's data about it differs.
    pub work_differs: bool,
    /// Whether its place on the axes differs.
    pub place_differs: bool,
    /// Whether its stop rule differs.
    pub rule_differs: bool,
}

/// A cell that the plan names with other builds.
#[derive(Clone, Debug)]
pub struct SupersededCell {
    /// The cell.
    pub cell: DroppedCell,
    /// The number in the plan of the cell that replaces it.
    pub number: usize,
    /// The new names of its players.
    pub names: [String; 2],
}

impl SupersededCell {
    /// Games it gets: those leased, rounded up to whole pairs.
    #[must_use]
    pub fn games(&self) -> u64 {
        let DroppedCell { games, next_number, swap_sides, .. } = self.cell;
        let leased = if swap_sides { next_number.next_multiple_of(2) } else { next_number };
        games.min(leased)
    }
}

/// A cell that the plan no longer names.
#[derive(Clone, Debug)]
pub struct DroppedCell {
    /// The cell.
    pub cell: CellId,
    /// Games planned before.
    pub games: u64,
    /// The lowest number never leased.
    pub next_number: u64,
    /// Its settled games.
    pub games_settled: u64,
    /// Whether its games come in pairs.
    pub swap_sides: bool,
    /// Whether its games are timed.
    pub timed: bool,
    /// Whether it already belongs to a retired build.
    pub is_superseded: bool,
    /// Its definition and its players' canonical JSON, if one of them is an engine.
    pub engines: Option<StoredDefinition>,
}

/// The definition of a cell with an external engine.
#[derive(Clone, Debug)]
pub struct StoredDefinition {
    /// Everything before the first player: [`DefinitionJson::prefix`].
    pub prefix: String,
    /// The canonical JSON of its players.
    pub players: [String; 2],
}

impl StoredDefinition {
    /// The hash of the definition without builds.
    fn unbuilt_hash(&self) -> DefinitionHash {
        let [first, second] = self.players.each_ref().map(|json| without_build(json).0);
        DefinitionHash::from_json(&[&self.prefix, &*first, ",", &second, "]}"].concat())
    }
}

/// Why an experiment cannot adopt a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotGrow {
    /// The plan and the experiment have no cell in common.
    NothingInCommon {
        /// Whether the part shared by all cells differs.
        rules_changed: bool,
    },
    /// The experiment would have too many cells.
    ManyCells {
        /// Their number.
        cells: u64,
    },
}

impl<'p> Comparison<'p> {
    /// Starts a comparison.
    #[must_use]
    pub fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            places: Places::new(plan),
            change: Change::default(),
            known: Vec::new(),
            added: Vec::new(),
            dropped: Vec::new(),
            superseded: Vec::new(),
            superseded_without_games: Vec::new(),
            cells_in_common: 0,
            games_left: Vec::with_capacity(plan.cells.len()),
            still_named: 0,
            cells_there: 0,
        }
    }

    /// Adds the plan's next cells: for each, the experiment's cell with the same definition, if any.
    pub fn see(&mut self, there: impl IntoIterator<Item = Option<StoredCell>>) {
        for there in there {
            let number = self.games_left.len();
            let left = match there {
                Some(there) => self.add_known(&there, number),
                None => self.add_new(number),
            };
            self.games_left.push(left);
            self.change.games_to_play += left;
        }
    }

    /// Adds the number of the experiment's cells, of those its sweep named, and of those named with other builds.
    /// Returns whether the caller must pass the named cells to [`drop_all_but_known`](Self::drop_all_but_known) because
    /// some were dropped or changed.
    pub fn count(&mut self, cells_there: u64, named: u64, superseded: u64) -> bool {
        self.cells_there = cells_there;
        named != self.still_named || superseded > 0
    }

    /// Adds all cells that the sweep named, with any builds, in the grid's order; skips those that the plan names too.
    pub fn drop_all_but_known(&mut self, named: Vec<DroppedCell>) {
        let still: BTreeSet<CellId> = self.known.iter().map(|known| known.cell).collect();
        let by_hash = self.unbuilt_cells();
        for cell in named.into_iter().filter(|cell| !still.contains(&cell.cell)) {
            let number = cell
                .engines
                .as_ref()
                .and_then(|definition| by_hash.get(&definition.unbuilt_hash()));
            match number {
                Some(&number) => self.supersede(cell, number),
                None => self.dropped.push(cell),
            }
        }
        self.change.cells_dropped = self.dropped.len() as u64;
        self.change.games_dropped = self.dropped.iter().map(|cell| cell.games_settled).sum();
        self.dropped.append(&mut self.superseded_without_games);
    }

    /// The plan's cells with external engines, by the hashes of their definitions without builds.
    fn unbuilt_cells(&self) -> BTreeMap<DefinitionHash, usize> {
        let plan = self.plan;
        let definitions: Vec<DefinitionJson> =
            plan.conditions.iter().map(DefinitionJson::new).collect();
        let cells = plan.cells.iter().enumerate();
        let with_engines =
            cells.filter(|(_, cell)| cell.players.iter().any(|player| player.is_external()));
        let hashes = with_engines.map(|(number, cell)| {
            let [first, second] =
                cell.players.each_ref().map(|player| without_build(&player.parameters_json).0);
            (definitions[cell.conditions].hash_and_seed(&first, &second).0, number)
        });
        hashes.collect()
    }

    /// Adds a cell that the plan names with other builds. A cell without results leaves the reports.
    fn supersede(&mut self, cell: DroppedCell, number: usize) {
        self.cells_in_common += 1;
        let Some(definition) = cell.engines.as_ref().filter(|_| cell.games_settled > 0) else {
            // The cell that replaces it has the same games.
            self.superseded_without_games.push(cell);
            return;
        };
        let planned = &self.plan.cells[number];
        let mut names = planned.player_names.each_ref().map(|name| name.to_string());
        for ((name, json), player) in
            names.iter_mut().zip(&definition.players).zip(&planned.players)
        {
            let now_json = &player.parameters_json;
            let [(_, before), (_, now)] = [json, now_json].map(|json| without_build(json));
            if before == now {
                continue;
            }
            *name = former_name(name, before);
            let need = serde_json::from_str(now_json).ok();
            let need = need.as_ref().and_then(NeededEngine::from_parameters);
            if let Some(need) = need.filter(|_| !cell.is_superseded) {
                let [before, now] = [before, now].map(|build| build.map(str::to_owned));
                let is_same = |change: &&mut BuildChange| {
                    change.engine == need.engine && change.before == before && change.now == now
                };
                let changed = &mut self.change.builds_changed;
                match changed.iter_mut().find(is_same) {
                    Some(known) => known.games += cell.games_settled,
                    None => changed.push(BuildChange {
                        engine: need.engine,
                        before,
                        now,
                        games: cell.games_settled,
                    }),
                }
            }
        }
        self.change.cells_superseded += u64::from(!cell.is_superseded);
        self.superseded.push(SupersededCell { cell, number, names });
    }

    /// Dropped cells to use as examples.
    #[must_use]
    pub fn dropped_examples(&self) -> Vec<CellId> {
        let dropped = usize::try_from(self.change.cells_dropped).unwrap_or(usize::MAX);
        self.dropped.iter().take(EXAMPLES_MAX.min(dropped)).map(|cell| cell.cell).collect()
    }

    /// Adds one of them as an example.
    pub fn name_dropped(&mut self, cell: CellId, axes: String, players: [String; 2]) {
        let Some(dropped_cell) = self.dropped.iter().find(|dropped| dropped.cell == cell) else {
            return;
        };
        let [player, opponent] = players;
        self.change.give_example(CellChange::Dropped, |change| CellExample {
            change,
            axes,
            player,
            opponent,
            games_settled: dropped_cell.games_settled,
            games_planned: dropped_cell.games,
        });
    }

    /// Adds the experiment's settings apart from its cells.
    pub fn see_settings(&mut self, before: &StoredExperiment) {
        let plan = self.plan;
        let now: BTreeSet<String> = plan
            .conditions
            .iter()
            .map(|conditions| DefinitionJson::new(conditions).prefix().to_owned())
            .collect();
        let stop_differs = self.rules_differ();
        let change = &mut self.change;
        change.rules_changed = before.definition_prefixes != now;
        change.axes_changed |= !before.axes.iter().eq(plan.axes.iter().map(|axis| &axis.name));
        change.settings_changed =
            before.settings.differences(&plan.settings).map(Cow::Borrowed).collect();
        change.settings_changed.extend(stop_differs.then_some(Cow::Borrowed("stop")));
        let anchors_differ = before.anchors != plan.anchors;
        change.settings_changed.extend(anchors_differ.then_some(Cow::Borrowed("anchors")));
        change.examples.sort_by_key(|example| example.change);
    }

    /// Checks that the plan extends the experiment.
    ///
    /// # Errors
    /// If they have no cell in common, or the experiment would have too many cells.
    pub fn check(&self) -> Result<(), CannotGrow> {
        let Change { cells_kept, cells_returned, cells_added, rules_changed, .. } = self.change;
        let cells = self.cells_there + cells_added;
        if cells_kept + cells_returned + self.cells_in_common == 0 {
            Err(CannotGrow::NothingInCommon { rules_changed })
        } else if cells > CELLS_EVER_MAX {
            Err(CannotGrow::ManyCells { cells })
        } else {
            Ok(())
        }
    }

    /// Adds an existing cell; returns how many games it has left.
    fn add_known(&mut self, there: &StoredCell, number: usize) -> u64 {
        let new = &self.plan.cells[number];
        let StoredCell { in_sweep, next_number, games_planned, games_settled, .. } = *there;
        self.still_named += u64::from(in_sweep);
        let swap_sides = self.plan.conditions[new.conditions].swap_sides;
        // A pair is never left half played.
        let leased = if swap_sides { next_number.next_multiple_of(2) } else { next_number };
        let games = new.games.max(leased);
        let [first_name, second_name] = &new.player_names;
        let games_differ = !in_sweep || games != games_planned;
        let row_differs = games_differ
            || there.number != number as u64
            || there.timed != new.timed
            || there.player_names[0] != **first_name
            || there.player_names[1] != **second_name;
        let place_differs = self.places.mark(new) != there.place;
        self.known.push(KnownCell {
            cell: there.cell,
            number,
            games,
            next_number,
            swap_sides,
            row_differs,
            work_differs: games_differ || there.timed != new.timed || !there.has_plans_rule,
            place_differs,
            rule_differs: !there.has_plans_rule,
        });
        let (places, change) = (&self.places, &mut self.change);
        change.games_kept += games_settled;
        change.axes_changed |= place_differs;
        let example = |change| CellExample {
            change,
            axes: places.text(new),
            player: first_name.to_string(),
            opponent: second_name.to_string(),
            games_settled,
            games_planned: games,
        };
        if !in_sweep {
            change.cells_returned += 1;
            change.give_example(CellChange::Returned, example);
        } else {
            change.cells_kept += 1;
            if games > games_planned {
                change.cells_continued += 1;
                change.give_example(CellChange::Continued, example);
            }
        }
        // Under another rule an upper bound, until that rule has been evaluated.
        let end = there.stop_number.filter(|_| there.has_plans_rule).unwrap_or(games);
        end.saturating_sub(games_settled)
    }

    /// Whether existing cells get another stop rule, which must then be evaluated to find where they end.
    #[must_use]
    pub fn rules_differ(&self) -> bool {
        self.known.iter().any(|cell| cell.rule_differs)
    }

    /// Adds a new cell; returns how many games it has left.
    fn add_new(&mut self, number: usize) -> u64 {
        self.added.push(number);
        self.change.cells_added += 1;
        let cell = &self.plan.cells[number];
        let [player, opponent] = &cell.player_names;
        let places = &self.places;
        self.change.give_example(CellChange::Added, |change| CellExample {
            change,
            axes: places.text(cell),
            player: player.to_string(),
            opponent: opponent.to_string(),
            games_settled: 0,
            games_planned: cell.games,
        });
        cell.games
    }
}

impl Change {
    fn give_example(
        &mut self,
        change: CellChange,
        example: impl FnOnce(CellChange) -> CellExample,
    ) {
        if self.examples.iter().filter(|example| example.change == change).count() < EXAMPLES_MAX {
            self.examples.push(example(change));
        }
    }
}

/// A cell's place in a form for comparing: a line `depth=3#` for each axis, in the order of their names, with a mark if
/// the value is a number (the number follows from the text). Switches have no mark, since they once had no numbers.
#[must_use]
pub fn place_mark<'p>(place: impl Iterator<Item = (&'p str, &'p AxisValue)>) -> String {
    let mut place: Vec<_> = place.collect();
    place.sort_unstable_by_key(|&(axis, _)| axis);
    let marks: Vec<String> = place.into_iter().map(|(axis, value)| mark(axis, value)).collect();
    marks.join("\n")
}

fn mark(axis: &str, value: &AxisValue) -> String {
    let is_switch = matches!(&*value.text, "true" | "false");
    let number = if value.number.is_some() && !is_switch { "#" } else { "" };
    format!("{axis}={}{number}", value.text)
}

/// Places of a plan's cells in a form for comparing, computed once for all cells.
#[derive(Debug)]
struct Places<'p> {
    plan: &'p Plan,
    /// For each axis, its position in the order of names.
    order: Vec<usize>,
    /// For each axis and value: see [`place_mark`].
    marks: Vec<Vec<String>>,
}

impl<'p> Places<'p> {
    fn new(plan: &'p Plan) -> Self {
        let mut sorted: Vec<usize> = (0..plan.axes.len()).collect();
        sorted.sort_by_key(|&axis| &plan.axes[axis].name);
        let mut order = vec![0; sorted.len()];
        for (place, &axis) in sorted.iter().enumerate() {
            order[axis] = place;
        }
        let marks = plan
            .axes
            .iter()
            .map(|axis| axis.values.iter().map(|value| mark(&axis.name, value)).collect())
            .collect();
        Self { plan, order, marks }
    }

    fn mark(&self, cell: &PlannedCell) -> String {
        let mut axes = cell.axes.clone();
        axes.sort_unstable_by_key(|&(axis, _)| self.order[axis]);
        let marks: Vec<&str> =
            axes.into_iter().map(|(axis, value)| &*self.marks[axis][value]).collect();
        marks.join("\n")
    }

    /// The text for people, as the view `results` has it.
    fn text(&self, cell: &PlannedCell) -> String {
        let place = self.plan.place(cell).map(|(axis, value)| format!("{axis}={}", value.text));
        place.collect::<Vec<_>>().join(", ")
    }
}
