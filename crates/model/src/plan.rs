//! From a sweep to its cells.
//!
//! A sweep of 100,000 cells has few players, conditions and values on its axes, or many of only one of these: each is
//! stored once, and cells refer to them by number.

pub(crate) mod cell;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use spelrum_engine::{Parameters, memory_bytes_of};
use spelrum_statistics::{FIRST_CHECKPOINT, Precision, StopRule};

pub use cell::{AxisValue, PlannedCell, PlannedPlayer, Role};

use crate::capabilities::{EngineRequest, GameRequest};
use crate::claims::Claim;
use crate::conditions::{Conditions, Task};
use crate::course::planned::{CoursePlan, Meeting};
use crate::definition::{CellDefinition, DefinitionJson};
use crate::demands::Demands;
use crate::engines::{NeededEngine, OfferedEngine};
use crate::placement::TimedGames;
use crate::settings::ExperimentSettings;

/// A checked sweep, ready to be stored: the parsed form of `Submit`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The experiment's name.
    pub name: String,
    /// The game's name.
    pub game: String,
    /// The sweep's seed; the first of them if an axis gives several.
    pub seed: u64,
    /// The experiment's settings.
    pub settings: ExperimentSettings,
    /// The rule that ends a cell before all its games are played. Not part of a cell's definition.
    pub stop: Option<StopRule>,
    /// Whether engines may be rebuilt and continue in the same cells.
    pub any_build: bool,
    /// Whether the sweep names the builds of its engines, in its table `builds`.
    pub names_builds: bool,
    /// Names of the players that anchor the rating scale.
    pub anchors: Vec<String>,
    /// The axes, in the file's order. An axis whose values are tables appears once for each of their keys, as
    /// `budget.ab`. Players' own variations follow, for either [`Role`] of a cell.
    pub axes: Vec<PlannedAxis>,
    /// Conditions of games; distinct.
    pub conditions: Vec<Conditions>,
    /// Players; distinct by parameters. Cells refer to them by content and not by position, so that a cell of one plan
    /// means the same in another.
    pub players: Vec<Arc<PlannedPlayer>>,
    /// Cells, distinct by definition, in the order of the grid. Empty if a course creates them.
    pub cells: Vec<PlannedCell>,
    /// The course that decides which cells follow, by the results of earlier ones.
    pub course: Option<CoursePlan>,
    /// Pairings that are played under other names because their games would be identical.
    pub merged: Vec<MergedPairing>,
    /// The sweep's claims about its results, in the file's order. Not part of any cell.
    pub claims: Vec<Claim>,
    /// Entries skipped in its books with `bad = "skip"`. Not part of any cell.
    pub skipped: Vec<SkippedEntries>,
}

/// Entries of a book that were skipped: lines of EPD and games of PGN.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedEntries {
    /// The file, as the sweep names it.
    pub file: String,
    /// The number of skipped entries.
    pub count: u64,
    /// The lines of their problems, from 1; at most [`SkippedEntries::LINES_MAX`].
    pub lines: Vec<usize>,
    /// The problem of the first.
    pub first_problem: String,
}

impl SkippedEntries {
    /// Most lines kept.
    pub const LINES_MAX: usize = 10;

    /// Adds an entry with a problem at this line.
    pub fn add(&mut self, line: usize, problem: &str) {
        if self.count == 0 {
            problem.clone_into(&mut self.first_problem);
        }
        self.count += 1;
        if self.lines.len() < Self::LINES_MAX {
            self.lines.push(line);
        }
    }
}

impl Plan {
    /// Planned games that are not played because they would repeat others; `None` if there are no such games. For a
    /// course, those of its longest cells.
    #[must_use]
    pub fn repeated_games(&self) -> Option<RepeatedGames> {
        let mut repeated: Option<RepeatedGames> = None;
        for cell in self.all_cells().filter(|cell| cell.repeats) {
            let conditions = &self.conditions[cell.conditions];
            let Some(openings) = conditions.openings_count else { continue };
            let different = openings.saturating_mul(if conditions.swap_sides { 2 } else { 1 });
            let surplus = cell.games.saturating_sub(different);
            if surplus > 0 {
                let before =
                    repeated.unwrap_or(RepeatedGames { openings, different, cells: 0, repeats: 0 });
                let [openings, different] =
                    [openings.min(before.openings), different.min(before.different)];
                let (cells, repeats) = (before.cells + 1, before.repeats + surplus);
                repeated = Some(RepeatedGames { openings, different, cells, repeats });
            }
        }
        repeated
    }

    /// Number of cells that end before the stop rule is first read: they have fewer pairs than [`FIRST_CHECKPOINT`], or
    /// fewer games if sides are fixed.
    #[must_use]
    pub fn cells_below_checkpoint(&self) -> u64 {
        let is_below = |cell: &&PlannedCell| {
            self.conditions[cell.conditions].openings_of(cell.games) < FIRST_CHECKPOINT
        };
        let cells = self.cells.iter().filter(is_below).count() as u64;
        if self.stop.is_some() { cells } else { 0 }
    }

    /// The openings of the cell that repeats the fewest, and the number of its pairs (games if sides are fixed). An
    /// SPRT weighs the pairs of one opening as one.
    #[must_use]
    pub fn sprt_over_repeated_openings(&self) -> Option<(u64, u64)> {
        let is_sprt = matches!(self.stop, Some(StopRule::Sprt(_)));
        self.fewest_repeated_openings().filter(|_| is_sprt)
    }

    fn fewest_repeated_openings(&self) -> Option<(u64, u64)> {
        let repeated = self.cells.iter().filter_map(|cell| {
            let conditions = &self.conditions[cell.conditions];
            let units = if conditions.swap_sides { cell.games / 2 } else { cell.games };
            // With a single opening the cell is about that opening.
            let openings =
                conditions.openings_count.filter(|&openings| openings > 1 && openings < units);
            openings.map(|openings| (openings, units))
        });
        repeated.min()
    }

    /// Among cells whose openings repeat, the fewest openings and the finest precision that an even score may reach, if
    /// that is coarser than the stop rule's: such cells play all their games.
    #[must_use]
    pub fn precision_out_of_reach(&self) -> Option<(u64, f64)> {
        let Some(StopRule::Precision(precision)) = self.stop else { return None };
        let (openings, _) = self.fewest_repeated_openings()?;
        let finest = Precision::finest_over(openings);
        (finest > precision.points()).then_some((openings, finest))
    }
}

/// Games that would repeat others, in cells whose players repeat a game with its opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedGames {
    /// The fewest openings of such a cell.
    pub openings: u64,
    /// Games from these openings before they repeat.
    pub different: u64,
    /// The number of such cells.
    pub cells: u64,
    /// Their games that would be repeats.
    pub repeats: u64,
}

/// A pairing whose players have the same parameters as another's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MergedPairing {
    /// Its players' names.
    pub names: [Arc<str>; 2],
    /// The names under which it is played.
    pub played_as: [Arc<str>; 2],
}

/// One axis of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedAxis {
    /// `depth`, or `budget.ab`; `player.depth` and `opponent.depth` for variations of a cell's first and second player.
    pub name: String,
    /// Its values, distinct, in the file's order.
    pub values: Vec<AxisValue>,
}

impl Plan {
    /// A cell's self-contained definition.
    #[must_use]
    pub fn definition(&self, cell: &PlannedCell) -> CellDefinition {
        let Conditions {
            seed,
            rules,
            openings,
            max_plies,
            adjudication,
            swap_sides,
            task,
            openings_count: _,
        } = self.conditions[cell.conditions].clone();
        CellDefinition {
            format: CellDefinition::FORMAT,
            seed,
            rules,
            openings,
            max_plies,
            adjudication,
            swap_sides,
            task,
            players: cell.players.each_ref().map(|player| Arc::new(player.parameters())),
        }
    }

    /// A cell's place on the axes: their names and its values.
    pub fn place<'a>(
        &'a self,
        cell: &'a PlannedCell,
    ) -> impl Iterator<Item = (&'a str, &'a AxisValue)> {
        cell.axes.iter().map(|&(axis, value)| {
            let axis = &self.axes[axis];
            (axis.name.as_str(), &axis.values[value])
        })
    }

    /// Most memory of any of its games, in bytes: both players together.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.memory_bytes_with(&[])
    }

    /// Most memory, including the hash tables of these engines where players do not set their size.
    #[must_use]
    pub fn memory_bytes_with(&self, offered: &[OfferedEngine]) -> u64 {
        if self.course.is_some() {
            return self.foreseen().memory_bytes_with(offered);
        }
        let of_player = |parameters: &Parameters| {
            let request = EngineRequest::from_parameters(parameters, GameRequest::default());
            let demands = Demands { requests: request.into_iter().collect(), ..Demands::default() };
            memory_bytes_of(parameters).saturating_add(demands.unset_hash_bytes(offered))
        };
        let of_players: BTreeMap<&PlannedPlayer, u64> = self
            .players
            .iter()
            .map(|player| (&**player, of_player(&player.parameters())))
            .collect();
        let of_cell = |cell: &PlannedCell| -> u64 {
            cell.players.iter().map(|player| of_players[&**player]).sum()
        };
        self.cells.iter().map(of_cell).max().unwrap_or(0)
    }

    /// The meaning of its cells' numbers, shared by all cells.
    #[must_use]
    pub fn task(&self) -> Task {
        self.conditions.first().map_or_else(Task::default, |conditions| conditions.task)
    }

    /// Total games of its cells; with a course, the most it plays.
    #[must_use]
    pub fn games(&self) -> u64 {
        let planned: u64 = self.cells.iter().map(|cell| cell.games).sum();
        planned + self.course.as_ref().map_or(0, CoursePlan::games_at_most)
    }

    /// The engines whose builds must be named, each once per demand; empty if any build is allowed or builds are named. A
    /// commit names its build.
    #[must_use]
    pub fn unbuilt(&self) -> BTreeSet<NeededEngine> {
        if self.any_build || self.names_builds {
            return BTreeSet::new();
        }
        let needs = self.players.iter().filter(|player| player.is_external());
        let needs = needs.filter_map(|player| NeededEngine::from_parameters(&player.parameters()));
        needs.filter(|need| need.build.is_none() && !need.has_source()).collect()
    }

    /// Whether any of its cells, or of its course's cells, is timed.
    #[must_use]
    pub fn has_timed(&self) -> bool {
        self.all_cells().any(|cell| cell.timed)
    }

    /// Demands of its cells and its course's cells on workers, apart from engines and memory; each once.
    #[must_use]
    pub fn demands(&self) -> BTreeSet<Demands> {
        let limits: BTreeMap<&PlannedPlayer, Option<u64>> =
            self.players.iter().map(|player| (&**player, player.move_limit_us())).collect();
        let of_cell = |cell: &PlannedCell| {
            let limits = cell.players.iter().filter_map(|player| limits[&**player]);
            let timed = TimedGames { game: &self.game, move_limit_us: limits.min() };
            self.settings.placement.demands(Vec::new(), cell.timed.then_some(timed))
        };
        self.all_cells().map(of_cell).collect()
    }

    /// Engines needed by its cells and its course's cells, and the demands on them; each once.
    #[must_use]
    pub fn engine_demands(&self) -> BTreeSet<Demands> {
        let foreseen = self.foreseen();
        let parameters: BTreeMap<&PlannedPlayer, Parameters> =
            foreseen.players.iter().map(|player| (&**player, player.parameters())).collect();
        let of_cell = |cell: &PlannedCell| {
            let players = || cell.players.iter().map(|player| &parameters[&**player]);
            let game = GameRequest::from_rules(&foreseen.conditions[cell.conditions].rules);
            Demands {
                engines: players().filter_map(NeededEngine::from_parameters).collect(),
                requests: players()
                    .filter_map(|parameters| {
                        EngineRequest::from_parameters(parameters, game.clone())
                    })
                    .collect(),
                ..Demands::default()
            }
        };
        let planned = foreseen.cells.iter().map(of_cell).filter(|cell| !cell.engines.is_empty());
        planned.chain(self.demands_of_tried()).collect()
    }

    /// The demands on engines of the players at the ends of what a course tries, without their opponents.
    fn demands_of_tried(&self) -> Vec<Demands> {
        let demands = |(_, parameters, conditions): (&str, Parameters, usize)| {
            let game = GameRequest::from_rules(&self.conditions[conditions].rules);
            Some(Demands {
                engines: vec![NeededEngine::from_parameters(&parameters)?],
                requests: EngineRequest::from_parameters(&parameters, game).into_iter().collect(),
                ..Demands::default()
            })
        };
        self.externals_tried().into_iter().filter_map(demands).collect()
    }

    /// The external players at the ends of what a course tries, each with its name in the sweep and the number of its
    /// conditions. Empty without a course.
    #[must_use]
    pub fn externals_tried(&self) -> Vec<(&str, Parameters, usize)> {
        let runs = self.course.iter().flat_map(|course| &course.runs);
        let met = runs.flat_map(|run| run.meetings.iter().map(move |meeting| (run, meeting)));
        let external = met.filter(|(_, met)| met.cell.players[met.subject].is_external());
        let tried = external.flat_map(|(run, Meeting { cell, subject })| {
            let ends = run.settings.ends(&cell.players[*subject].parameters());
            let name = &*cell.player_names[*subject];
            ends.into_iter().map(move |player| (name, player, cell.conditions))
        });
        tried.collect()
    }

    fn all_cells(&self) -> impl Iterator<Item = &PlannedCell> {
        let runs = self.course.iter().flat_map(|course| &course.runs);
        let met = runs.flat_map(|run| &run.meetings).map(|meeting| &meeting.cell);
        self.cells.iter().chain(met)
    }

    /// The plan reduced to what is left to play: this many games in each cell, in the grid's order. Numbers of other cells,
    /// as another release may plan, are ignored.
    #[must_use]
    pub fn left(mut self, games_left: &[u64]) -> Self {
        if games_left.len() == self.cells.len() {
            for (cell, &games) in self.cells.iter_mut().zip(games_left) {
                cell.games = games;
            }
            self.cells.retain(|cell| cell.games > 0);
        }
        self
    }

    /// The plan without a course: instead, the cells of the course's runs, with their longest games, most memory and
    /// most games.
    #[must_use]
    pub fn foreseen(&self) -> Self {
        let mut foreseen = self.clone();
        let Some(course) = foreseen.course.take() else { return foreseen };
        for run in course.runs {
            let mut games = run.games_at_most();
            let mut meetings = run.meetings.len() as u64;
            for Meeting { mut cell, subject } in run.meetings {
                let meets_itself = cell.player_names[0] == cell.player_names[1];
                for place in [Some(subject), meets_itself.then_some(1 - subject)] {
                    let Some(place) = place else { continue };
                    let parameters = run.settings.dearest(cell.players[place].parameters());
                    cell.players[place] =
                        player_in(&mut foreseen.players, PlannedPlayer::new(&parameters));
                }
                // Whole pairs, and no more in all than the run has.
                cell.games = games.div_ceil(2 * meetings).saturating_mul(2).min(games);
                games -= cell.games;
                meetings -= 1;
                foreseen.cells.push(cell);
            }
        }
        foreseen
    }

    /// Adds a cell from its parts, reusing those that the plan already has. For hand-made plans of a few cells, since
    /// it searches the whole plan.
    pub fn add_cell(
        &mut self,
        definition: &CellDefinition,
        player_names: [&str; 2],
        axes: &[(&str, AxisValue)],
        games: u64,
    ) -> &mut PlannedCell {
        self.add_cell_with_openings(definition, player_names, axes, games, None)
    }

    /// Adds such a cell whose first opening returns after this many.
    pub fn add_cell_with_openings(
        &mut self,
        definition: &CellDefinition,
        player_names: [&str; 2],
        axes: &[(&str, AxisValue)],
        games: u64,
        openings_count: Option<u64>,
    ) -> &mut PlannedCell {
        let conditions = Conditions {
            seed: definition.seed,
            rules: definition.rules.clone(),
            openings: definition.openings.clone(),
            max_plies: definition.max_plies,
            adjudication: definition.adjudication,
            swap_sides: definition.swap_sides,
            task: definition.task,
            openings_count,
        };
        let json = DefinitionJson::new(&conditions);
        let conditions = number_of(&mut self.conditions, conditions);
        let players = [0, 1].map(|index| {
            let player: &Parameters = &definition.players[index];
            player_in(&mut self.players, PlannedPlayer::new(player))
        });
        let axes = axes
            .iter()
            .map(|(name, value)| {
                let position = self.axes.iter().position(|axis| axis.name == *name);
                let axis = position.unwrap_or_else(|| {
                    self.axes.push(PlannedAxis { name: (*name).to_owned(), values: Vec::new() });
                    self.axes.len() - 1
                });
                (axis, number_of(&mut self.axes[axis].values, value.clone()))
            })
            .collect();
        let [first, second] = &players;
        let (definition_hash, seed) =
            json.hash_and_seed(&first.parameters_json, &second.parameters_json);
        let player_names = player_names.map(Arc::from);
        let (timed, repeats) = (false, false);
        self.cells.push(PlannedCell {
            definition_hash,
            seed,
            conditions,
            players,
            player_names,
            axes,
            games,
            timed,
            repeats,
        });
        let last = self.cells.len() - 1;
        &mut self.cells[last]
    }
}

fn number_of<T: PartialEq>(items: &mut Vec<T>, item: T) -> usize {
    items.iter().position(|other| *other == item).unwrap_or_else(|| {
        items.push(item);
        items.len() - 1
    })
}

/// The player of this content, added if absent.
fn player_in(players: &mut Vec<Arc<PlannedPlayer>>, player: PlannedPlayer) -> Arc<PlannedPlayer> {
    let number = number_of(players, Arc::new(player));
    Arc::clone(&players[number])
}
