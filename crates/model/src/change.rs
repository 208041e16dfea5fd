//! What a sweep that has changed would change of its experiment: cells are told apart by the hash of
//! their definition alone, so that no game is lost or counted for another cell.
//!
//! A store shows what it has of an experiment, a bounded number of cells at a time; what that means
//! beside the plan is found out here.

use std::collections::{BTreeMap, BTreeSet};

use crate::allocation::Allocation;
use crate::builds::{former_name, without_build};
use crate::definition::{DefinitionHash, DefinitionJson};
use crate::disturbance::Timing;
use crate::engines::NeededEngine;
use crate::ids::CellId;
use crate::placement::Placement;
use crate::plan::{AxisValue, Plan, PlannedCell, Record};

/// The setting by whose change cells are served in another order.
pub const ALLOCATE: &str = "allocate";

/// What a change of the workers that a sweep asks for is called among the settings.
pub const PLACEMENT: &str = "placement";

/// The setting by whose change failed games are played again.
pub const GAME_TIMEOUT: &str = "game_timeout";

/// Cells that an experiment may have, together with those that its sweep no longer names
/// (invariant 9).
pub const CELLS_EVER_MAX: u64 = 1_000_000;

/// Cells that are named as examples of each kind.
const EXAMPLES_MAX: usize = 3;

/// What a sweep changes of its experiment, in counts and a few examples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Cells that are named as before: they keep their games.
    pub cells_kept: u64,
    /// Of these, those that get more games than before.
    pub cells_continued: u64,
    /// Cells that were never there.
    pub cells_added: u64,
    /// Cells that were named once, and are again: they come with their games.
    pub cells_returned: u64,
    /// Cells that are no longer named: their games stay, but leave the reports.
    pub cells_dropped: u64,
    /// Settled games of the cells that are named now.
    pub games_kept: u64,
    /// Games of these that are not settled.
    pub games_to_play: u64,
    /// Settled games of the cells that are no longer named.
    pub games_dropped: u64,
    /// Cells of a build that plays no more: they get no more games, and stay in the reports beside those of the
    /// build that plays now.
    pub cells_superseded: u64,
    /// Which engines are another build than before; each once.
    pub builds_changed: Vec<BuildChange>,
    /// Whether the axes' names, or the places of kept cells on them, differ.
    pub axes_changed: bool,
    /// Whether the game's rules, the openings, the limit of plies, who moves first or the seed
    /// differ, of any cell.
    pub rules_changed: bool,
    /// What else differs: `description`, `priority`, `allocate`, `record`, `game_timeout`, `forfeits`, `timing`,
    /// `placement`, `stop`, `anchors`.
    pub settings_changed: Vec<&'static str>,
    /// A few of the cells, kind by kind.
    pub examples: Vec<CellExample>,
}

/// A cell that is named for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellExample {
    /// What becomes of it.
    pub what: CellChange,
    /// Its place on the axes: `depth=3, rules=old`.
    pub axes: String,
    /// The name of its first player.
    pub player: String,
    /// And of its second.
    pub opponent: String,
    /// Its settled games.
    pub games_settled: u64,
    /// How many games it gets; for one that is dropped, how many it was to get.
    pub games_planned: u64,
}

/// An engine that is another build than before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildChange {
    /// What the sweep calls it.
    pub engine: String,
    /// What it was; `None` where nobody asked which.
    pub before: Option<String>,
    /// What it is; `None` if it may be any.
    pub now: Option<String>,
    /// How many settled games the build before has in the cells that it leaves.
    pub games: u64,
}

/// What becomes of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CellChange {
    /// It gets more games than before.
    Continued,
    /// It was never there.
    Added,
    /// It was named once, and is again.
    Returned,
    /// It is no longer named.
    Dropped,
}

/// A cell of an experiment, as a store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCell {
    /// The cell.
    pub cell: CellId,
    /// Its place in the grid's order.
    pub number: u64,
    /// How many games it was to get.
    pub games_planned: u64,
    /// The lowest number that was never leased.
    pub next_number: u64,
    /// Whether the sweep names it as it is.
    pub in_sweep: bool,
    /// Whether its result depends on time, or the sweep measures time.
    pub timed: bool,
    /// The names of its players.
    pub player_names: [String; 2],
    /// Its settled games.
    pub games_settled: u64,
    /// Its [`place_mark`].
    pub place: String,
    /// Where its stop rule ends it.
    pub stop_number: Option<u64>,
    /// Whether its stop rule is the plan's; or it has none, and the plan neither.
    pub has_plans_rule: bool,
}

/// What an experiment is beside its cells, as a store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// For people.
    pub description: String,
    /// Larger goes first.
    pub priority: i64,
    /// Which cells go first.
    pub allocation: Allocation,
    /// What is stored of each game.
    pub record: Record,
    /// How long a game may take, in microseconds.
    pub game_timeout_us: Option<u64>,
    /// After more forfeits of one player than these it is paused.
    pub forfeits_max: Option<u64>,
    /// What it says of its timed games.
    pub timing: Timing,
    /// Which workers play it.
    pub placement: Placement,
    /// The names of its axes, in order.
    pub axes: Vec<String>,
    /// The players that others' strength is measured against, in order.
    pub anchors: Vec<String>,
    /// What the definitions of the cells that it names have in common: [`DefinitionJson::prefix`].
    pub definition_prefixes: BTreeSet<String>,
}

/// A plan beside an experiment.
#[derive(Debug)]
pub struct Comparison<'p> {
    plan: &'p Plan,
    places: Places<'p>,
    /// In counts, and a few examples.
    pub change: Change,
    /// Cells that the plan names and that are there.
    pub known: Vec<KnownCell>,
    /// Numbers in the plan of those that are not.
    pub added: Vec<usize>,
    /// Cells that the plan does not name any more.
    pub dropped: Vec<DroppedCell>,
    /// Cells that the plan names but for their builds.
    pub superseded: Vec<SupersededCell>,
    /// How many games each cell of the plan has left to play.
    pub games_left: Vec<u64>,
    /// Cells that the plan names with other builds, and that have no settled game.
    superseded_without_games: Vec<DroppedCell>,
    /// How many cells the plan names with other builds.
    cells_in_common: u64,
    /// How many of the known cells the sweep named before.
    still_named: u64,
    /// Cells that the experiment has, named or not.
    cells_there: u64,
}

/// A cell that is there and that the plan names.
#[derive(Clone, Copy, Debug)]
pub struct KnownCell {
    /// The cell.
    pub cell: CellId,
    /// Its number in the plan.
    pub number: usize,
    /// How many games it gets: no fewer than were leased.
    pub games: u64,
    /// The lowest number that was never leased.
    pub next_number: u64,
    /// Whether its games come in pairs.
    pub swap_sides: bool,
    /// Whether what is stored of it differs.
    pub row_differs: bool,
    /// Whether what the scheduler knows of it differs.
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
    /// The number in the plan of the cell that takes its place.
    pub number: usize,
    /// What its players are called from now on.
    pub names: [String; 2],
}

impl SupersededCell {
    /// How many games it gets: those that were leased, and no half pair.
    #[must_use]
    pub fn games(&self) -> u64 {
        let DroppedCell { games, next_number, swap_sides, .. } = self.cell;
        let leased = if swap_sides { next_number.next_multiple_of(2) } else { next_number };
        games.min(leased)
    }
}

/// A cell that the plan does not name any more.
#[derive(Clone, Debug)]
pub struct DroppedCell {
    /// The cell.
    pub cell: CellId,
    /// How many games it was to get.
    pub games: u64,
    /// The lowest number that was never leased.
    pub next_number: u64,
    /// Its settled games.
    pub games_settled: u64,
    /// Whether its games come in pairs.
    pub swap_sides: bool,
    /// Whether they are timed.
    pub timed: bool,
    /// Whether it is of a build that plays no more already.
    pub is_superseded: bool,
    /// Its definition, and the canonical JSON of its players, if one of them is an engine.
    pub engines: Option<StoredDefinition>,
}

/// The definition of a cell in which an engine plays.
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
        DefinitionHash::of_json(&[&self.prefix, &*first, ",", &second, "]}"].concat())
    }
}

/// Why a plan cannot be what becomes of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CannotGrow {
    /// It has no cell in common with it.
    NothingInCommon {
        /// Whether what all cells share is different.
        rules_changed: bool,
    },
    /// It would have too many cells.
    ManyCells {
        /// How many.
        cells: u64,
    },
}

impl<'p> Comparison<'p> {
    /// Begins to compare.
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

    /// Takes in what is there of the plan's next cells: for each of them, the cell that the experiment
    /// has of the same definition, if it has one.
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

    /// Takes in how many cells the experiment has, how many of these its sweep named, and how many were named with
    /// other builds; returns whether some of them are named no longer, or no longer so, and must be
    /// [told](Self::drop_all_but_known).
    pub fn count(&mut self, cells_there: u64, named: u64, superseded: u64) -> bool {
        self.cells_there = cells_there;
        named != self.still_named || superseded > 0
    }

    /// Takes in all cells that the sweep named, with whatever builds, in the grid's order; those that the plan names too are
    /// left out.
    pub fn drop_all_but_known(&mut self, named: Vec<DroppedCell>) {
        let still: BTreeSet<CellId> = self.known.iter().map(|known| known.cell).collect();
        let by_hash = self.unbuilt_cells();
        for cell in named.into_iter().filter(|cell| !still.contains(&cell.cell)) {
            let number = cell.engines.as_ref().and_then(|it| by_hash.get(&it.unbuilt_hash()));
            match number {
                Some(&number) => self.supersede(cell, number),
                None => self.dropped.push(cell),
            }
        }
        self.change.cells_dropped = self.dropped.len() as u64;
        self.change.games_dropped = self.dropped.iter().map(|cell| cell.games_settled).sum();
        self.dropped.append(&mut self.superseded_without_games);
    }

    /// The plan's cells in which engines play, by the hashes of their definitions without builds.
    fn unbuilt_cells(&self) -> BTreeMap<DefinitionHash, usize> {
        let plan = self.plan;
        let definitions: Vec<DefinitionJson> =
            plan.conditions.iter().map(DefinitionJson::new).collect();
        let cells = plan.cells.iter().enumerate();
        let with_engines = cells.filter(|(_, cell)| cell.players.iter().any(|it| it.is_outside()));
        let hashes = with_engines.map(|(number, cell)| {
            let [first, second] =
                cell.players.each_ref().map(|player| without_build(&player.parameters_json).0);
            (definitions[cell.conditions].hash_and_seed(&first, &second).0, number)
        });
        hashes.collect()
    }

    /// Takes in a cell that the plan names with other builds. One without a result has nothing to show.
    fn supersede(&mut self, cell: DroppedCell, number: usize) {
        self.cells_in_common += 1;
        let Some(definition) = cell.engines.as_ref().filter(|_| cell.games_settled > 0) else {
            // It is not missed: its games are those of the cell that takes its place.
            self.superseded_without_games.push(cell);
            return;
        };
        let planned = &self.plan.cells[number];
        let mut names = planned.player_names.each_ref().map(|name| name.to_string());
        for ((name, json), player) in
            names.iter_mut().zip(&definition.players).zip(&planned.players)
        {
            let now_json = &player.parameters_json;
            let [(_, before), (_, now)] = [json, now_json].map(|it| without_build(it));
            if before == now {
                continue;
            }
            *name = former_name(name, before);
            let need = serde_json::from_str(now_json).ok();
            let need = need.as_ref().and_then(NeededEngine::of_parameters);
            if let Some(need) = need.filter(|_| !cell.is_superseded) {
                let [before, now] = [before, now].map(|it| it.map(str::to_owned));
                let is_same = |it: &&mut BuildChange| {
                    it.engine == need.engine && it.before == before && it.now == now
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

    /// The cells that are dropped and should be named as examples.
    #[must_use]
    pub fn dropped_examples(&self) -> Vec<CellId> {
        let dropped = usize::try_from(self.change.cells_dropped).unwrap_or(usize::MAX);
        self.dropped.iter().take(EXAMPLES_MAX.min(dropped)).map(|cell| cell.cell).collect()
    }

    /// Names one of them.
    pub fn name_dropped(&mut self, cell: CellId, axes: String, players: [String; 2]) {
        let Some(of) = self.dropped.iter().find(|dropped| dropped.cell == cell) else { return };
        let [player, opponent] = players;
        self.change.give_example(CellChange::Dropped, |what| CellExample {
            what,
            axes,
            player,
            opponent,
            games_settled: of.games_settled,
            games_planned: of.games,
        });
    }

    /// Takes in what the experiment is beside its cells.
    pub fn see_settings(&mut self, before: &Settings) {
        let plan = self.plan;
        let now: BTreeSet<String> =
            plan.conditions.iter().map(|of| DefinitionJson::new(of).prefix().to_owned()).collect();
        let stop_differs = self.rules_differ();
        let change = &mut self.change;
        change.rules_changed = before.definition_prefixes != now;
        change.axes_changed |= !before.axes.iter().eq(plan.axes.iter().map(|axis| &axis.name));
        change.settings_changed = [
            ("description", before.description != plan.description),
            ("priority", before.priority != i64::from(plan.priority)),
            (ALLOCATE, before.allocation != plan.allocation),
            ("record", before.record != plan.record),
            (GAME_TIMEOUT, before.game_timeout_us != plan.game_timeout_us),
            ("forfeits", before.forfeits_max != plan.forfeits_max),
            ("timing", before.timing != plan.timing),
            (PLACEMENT, before.placement != plan.placement),
            ("stop", stop_differs),
            ("anchors", before.anchors != plan.anchors),
        ]
        .into_iter()
        .filter_map(|(what, differs)| differs.then_some(what))
        .collect();
        change.examples.sort_by_key(|example| example.what);
    }

    /// Refuses what would not be growing.
    ///
    /// # Errors
    /// If the plan has no cell in common with the experiment, or it would have too many cells.
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

    /// Takes in a cell that is there; returns how many games it has left.
    fn add_known(&mut self, there: &StoredCell, number: usize) -> u64 {
        let new = &self.plan.cells[number];
        let StoredCell { in_sweep, next_number, games_planned, games_settled, .. } = *there;
        self.still_named += u64::from(in_sweep);
        let swap_sides = self.plan.conditions[new.conditions].swap_sides;
        // No pair that was begun is left half.
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
        let example = |what| CellExample {
            what,
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
        // By another rule the most that it gets, until the rule has read it.
        let end = there.stop_number.filter(|_| there.has_plans_rule).unwrap_or(games);
        end.saturating_sub(games_settled)
    }

    /// Whether cells that are there get another stop rule: where they end is found out by reading it.
    #[must_use]
    pub fn rules_differ(&self) -> bool {
        self.known.iter().any(|cell| cell.rule_differs)
    }

    /// Takes in a cell that is not there; returns how many games it has left.
    fn add_new(&mut self, number: usize) -> u64 {
        self.added.push(number);
        self.change.cells_added += 1;
        let cell = &self.plan.cells[number];
        let [player, opponent] = &cell.player_names;
        let places = &self.places;
        self.change.give_example(CellChange::Added, |what| CellExample {
            what,
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
    fn give_example(&mut self, what: CellChange, example: impl FnOnce(CellChange) -> CellExample) {
        if self.examples.iter().filter(|given| given.what == what).count() < EXAMPLES_MAX {
            self.examples.push(example(what));
        }
    }
}

/// How a cell's place looks for comparing: one line for each axis in the order of their names, as
/// `depth=3#`, with a mark where the value is a number. The number follows from the text. Switches have no
/// mark: they had no numbers once.
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

/// How the places of a plan's cells look, made once for all of them.
#[derive(Debug)]
struct Places<'p> {
    plan: &'p Plan,
    /// For each axis, where it is in the order of their names.
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

    /// For people, as the view `results` has it.
    fn text(&self, cell: &PlannedCell) -> String {
        let place = self.plan.place(cell).map(|(axis, value)| format!("{axis}={}", value.text));
        place.collect::<Vec<_>>().join(", ")
    }
}
