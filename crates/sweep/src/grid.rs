//! Turns a sweep into cells: every point of the grid, every pairing, equal cells merged.
//!
//! A sweep of 100,000 cells has few games, openings and players, or else many of one of them: each is made
//! once (see [`super::made`]), and cells refer to them by number.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::mem;
use std::sync::Arc;

use spelrum_model::course::{CourseKind, CoursePlan, Meeting, PlannedRun, RunSettings};
use spelrum_model::seeds::SEED_END;
use spelrum_model::{
    Conditions, DefinitionJson, MergedPairing, OpeningsRule, Plan, PlannedAxis, PlannedCell,
    PlannedPlayer, Task,
};
use spelrum_toml::{Fault, Span};

use crate::claim_cells::ClaimCells;
use crate::columns::{self, AxisColumns, ColumnSet, VariedColumns};
use crate::course::CourseInFile;
use crate::file::SweepFile;
use crate::instances::{Instances, PlayerTraits, Setting};
use crate::keys::course::RUNS_MAX;
use crate::points::Points;

/// Plans a parsed sweep. `openings_cost_max` bounds the cost of finding its openings:
/// [`super::instances::OPENINGS_COST_MAX`].
pub(super) fn plan(file: &SweepFile, openings_cost_max: u64) -> Result<Plan, Fault> {
    let instances = Instances::new(file, openings_cost_max)?;
    columns::check_varied(&file.axes, &file.players)?;
    let seed = instances.first_seed()?;
    let points = Points::new(file, seed)?;
    check_games(file, &points)?;
    let columns = AxisColumns::new(&file.axes);
    let claim_cells = ClaimCells::new(&file.claims, file.swap_sides);
    let merged = BTreeSet::new();
    let mut planner = Planner { file, seed, points, instances, columns, merged, claim_cells };
    let cells = planner.cells()?;
    planner.claim_cells.check(file)?;
    planner.check_openings(&cells)?;
    let runs = planner.runs(&cells)?;
    planner.check_bred(&cells, &runs)?;
    Ok(planner.finish(cells, runs))
}

/// Refuses more games than every reader of the database can count exactly.
fn check_games(file: &SweepFile, points: &Points) -> Result<(), Fault> {
    let cells = points.len() * file.pairing.pairs.len();
    let most_games = (SEED_END - 1) / cells as u64;
    let overridden =
        file.overrides.iter().filter_map(|given| Some((given.games?, &given.games_place)));
    let mut given = iter::once((file.games, &file.games_place)).chain(overridden);
    match given.find(|(games, _)| *games > most_games) {
        None => Ok(()),
        Some((games, place)) => Err(Fault::at(
            place,
            format!("{games} games in each of {cells} cells are too many"),
            format!("play at most {} in each", round_to_pairs(most_games, file.swap_sides)),
        )),
    }
}

/// This many games, or one less if games come in pairs and the number is odd.
fn round_to_pairs(games: u64, swap_sides: bool) -> u64 {
    if swap_sides { games & !1 } else { games }
}

struct Planner<'a> {
    file: &'a SweepFile,
    /// The sweep's seed; the first, if an axis gives it.
    seed: u64,
    points: Points,
    instances: Instances<'a>,
    columns: AxisColumns,
    /// Pairings, by the numbers of their variants, merged into others.
    merged: BTreeSet<((usize, usize), (usize, usize))>,
    claim_cells: ClaimCells<'a>,
}

/// A cell by the numbers of its parts.
struct DraftCell {
    setting: usize,
    players: [usize; 2],
    /// The variants that play.
    names: (usize, usize),
    /// The first point with this cell.
    point: usize,
    /// The columns on which all points with this cell under these names agree.
    columns: ColumnSet,
    /// The largest number of games at any of these points.
    games: Games,
}

/// A run of a course, by the numbers of its template cells.
#[derive(Clone)]
struct DraftRun {
    settings: RunSettings,
    /// The template cells, each with the player that the run decides about.
    meetings: Vec<(usize, usize)>,
    /// Number of repetitions.
    times: u64,
}

/// Turns the draft runs into planned ones, with their template cells.
fn planned_runs(runs: Vec<DraftRun>, cells: &[PlannedCell]) -> Vec<PlannedRun> {
    let meeting = |(cell, subject): (usize, usize)| Meeting { cell: cells[cell].clone(), subject };
    let run = |DraftRun { settings, meetings, times: _ }: DraftRun| PlannedRun {
        settings,
        meetings: meetings.into_iter().map(meeting).collect(),
    };
    runs.into_iter().map(run).collect()
}

/// Number of games of a pairing at a point, and the override that sets it, if any.
#[derive(Clone, Copy)]
struct Games {
    games: u64,
    overridden_by: Option<usize>,
}

impl Planner<'_> {
    /// The cells in the order of the grid, the last axis running fastest. A cell shared by several points, or
    /// by several pairings whose players turn out the same, takes its first place and the names it has there.
    fn cells(&mut self) -> Result<Vec<DraftCell>, Fault> {
        let mut cells = Vec::<DraftCell>::new();
        let mut cell_numbers = BTreeMap::new();
        let mut matched = vec![false; self.file.overrides.len()];
        let mut games = Vec::new();
        for number in 0..self.points.len() {
            let point = self.points.at(number);
            self.games_at(point, &mut games, &mut matched);
            for (&names, &games) in self.file.pairing.pairs.iter().zip(&games) {
                let Some(games) = games else { continue };
                let setting = self.instances.setting(point)?;
                let players = [
                    self.instances.player(names.0, setting, point)?,
                    self.instances.player(names.1, setting, point)?,
                ];
                let next = cells.len();
                let is_self_play = players[0] == players[1];
                let index = match self.file.course {
                    None => *cell_numbers.entry((setting, players)).or_insert(next),
                    // Each point has its own run, even if only the course's settings differ.
                    Some(_) => next,
                };
                // A player with the settings of the reference chooses alone all the same.
                let is_self_play = is_self_play && self.file.task == Task::Game;
                self.claim_cells.record(index, point, names, is_self_play)?;
                if index == next {
                    let columns = self.columns.all();
                    let point = number;
                    cells.push(DraftCell { setting, players, names, point, columns, games });
                    continue;
                }
                let cell = &mut cells[index];
                if cell.names != names {
                    self.merged.insert((names, cell.names));
                }
                if cell.names == names {
                    let first = self.points.at(cell.point);
                    cell.columns = self.columns.common(cell.columns, first, point);
                }
                if games.games > cell.games.games {
                    cell.games = games;
                }
            }
        }
        self.check_matched(&matched)?;
        match self.file.overrides.iter().rfind(|given| given.games.is_none()) {
            Some(skip) if cells.is_empty() => Err(Fault::at(
                &skip.place,
                "the overrides skip every cell, so there is nothing to play",
                "skip fewer of them",
            )),
            Some(_) | None => Ok(cells),
        }
    }

    /// Games of each pairing at a point: later overrides win; `None` if skipped. Marks the overrides that
    /// match any.
    fn games_at(&self, point: &[u32], games: &mut Vec<Option<Games>>, matched: &mut [bool]) {
        let by_the_sweep = Games { games: self.file.games, overridden_by: None };
        games.clear();
        games.resize(self.file.pairing.pairs.len(), Some(by_the_sweep));
        for (index, given) in self.file.overrides.iter().enumerate() {
            if !given.covers_point(point) {
                continue;
            }
            for (games, &pair) in games.iter_mut().zip(&self.file.pairing.pairs) {
                if given.covers_players(pair) {
                    matched[index] = true;
                    *games = given.games.map(|games| Games { games, overridden_by: Some(index) });
                }
            }
        }
    }

    /// Refuses an override that matches no cell: a slip.
    fn check_matched(&self, matched: &[bool]) -> Result<(), Fault> {
        match self.file.overrides.iter().zip(matched).find(|(_, matched)| !**matched) {
            None => Ok(()),
            Some((unmatched, _)) => Err(Fault::at(
                &unmatched.place,
                "this override matches no cell",
                match self.file.sample {
                    Some(_) => "name a point of the sample and players who meet, or remove it",
                    None => "name players who meet, or remove it",
                },
            )),
        }
    }

    /// Refuses repeated openings between players that would repeat the game with them, and repeated positions
    /// to choose in, for any player.
    fn check_openings(&mut self, cells: &[DraftCell]) -> Result<(), Fault> {
        let players = &self.instances.players;
        let choosing = self.file.task == Task::Choice;
        let settings = &self.instances.settings;
        // For openings of several distances the recurrence is unknown.
        let never_again = |cell: &DraftCell| {
            choosing || matches!(settings[cell.setting].rule, OpeningsRule::Strata { .. })
        };
        let draws = |&player: &usize| players[player].draws_random_numbers;
        let repeating: Vec<&DraftCell> = cells
            .iter()
            .filter(|cell| never_again(cell) || !cell.players.iter().any(draws))
            .collect();
        let mut wanted = BTreeMap::new();
        for cell in &repeating {
            let wanted = wanted.entry(cell.setting).or_default();
            *wanted = self.openings_of(cell).max(*wanted);
        }
        let mut distinct = BTreeMap::new();
        for (setting, wanted) in wanted {
            distinct.insert(setting, self.instances.distinct_openings(setting, wanted)?);
        }
        match repeating.iter().find(|cell| distinct[&cell.setting] < self.openings_of(cell)) {
            None => Ok(()),
            Some(cell) => Err(self.too_few_openings(cell, distinct[&cell.setting])),
        }
    }

    /// Number of openings from which a cell's games start.
    fn openings_of(&self, cell: &DraftCell) -> u64 {
        let games = self.most_games_of(cell);
        if self.file.swap_sides { games / 2 } else { games }
    }

    /// Number of games of a cell, or of the cells that a course makes of it.
    fn most_games_of(&self, cell: &DraftCell) -> u64 {
        let confirm = self.file.course.as_ref().map_or(0, |course| course.confirm);
        cell.games.games.max(confirm)
    }

    fn too_few_positions(&self, cell: &DraftCell, distinct: u64) -> Fault {
        let choices = cell.games.games;
        let positions = if distinct == 1 { "position" } else { "positions" };
        let more = match self.instances.settings[cell.setting].rule {
            OpeningsRule::Ending { .. } => "more distances, or another ending",
            OpeningsRule::Start {}
            | OpeningsRule::Random { .. }
            | OpeningsRule::Strata { .. }
            | OpeningsRule::All { .. }
            | OpeningsRule::Listed { .. } => "other plies, or a longer list",
        };
        Fault::at(
            &self.file.games_place,
            format!(
                "{choices} choices need as many positions, distinct up to symmetry, and before the first \
                 comes again there {} {distinct} {positions}",
                if distinct == 1 { "is" } else { "are" },
            ),
            format!("write choices = {distinct}, or take more positions: {more}"),
        )
    }

    fn too_few_openings(&self, cell: &DraftCell, distinct: u64) -> Fault {
        if self.file.task == Task::Choice {
            return self.too_few_positions(cell, distinct);
        }
        let [first, second] = self.names(cell);
        let is_of_several =
            matches!(self.instances.settings[cell.setting].rule, OpeningsRule::Strata { .. });
        let place: &Span = match (cell.games.overridden_by, &self.file.openings) {
            (Some(by), _) => &self.file.overrides[by].games_place,
            (None, Some(openings)) => &openings.place,
            (None, None) => &self.file.games_place,
        };
        let more = match &self.instances.settings[cell.setting].rule {
            OpeningsRule::Start {} => "openings = { kind = \"random\", plies = 2 }".to_owned(),
            OpeningsRule::Random { plies } | OpeningsRule::All { plies } => {
                format!("openings = {{ kind = \"random\", plies = {} }}", plies.saturating_add(1))
            }
            OpeningsRule::Strata { .. } => "more plies".to_owned(),
            OpeningsRule::Ending { .. } => "more distances, or another ending".to_owned(),
            OpeningsRule::Listed { .. } => "a longer list".to_owned(),
        };
        let openings = if distinct == 1 { "opening" } else { "openings" };
        let games = self.most_games_of(cell);
        let key = if games > cell.games.games { "confirm" } else { "games" };
        let (asked, possible) = match self.file.swap_sides {
            true => (format!("{games} games are {} pairs", self.openings_of(cell)), distinct * 2),
            false => {
                (format!("{games} games without swapped sides need as many openings"), distinct)
            }
        };
        Fault::at(
            place,
            format!(
                "{asked}, but there {} {distinct} distinct {openings}, and {}",
                if distinct == 1 { "is" } else { "are" },
                match is_of_several {
                    true => "those of several distances are played once each".to_owned(),
                    false => format!(
                        "neither `{first}` nor `{second}` draws random numbers: games would repeat"
                    ),
                },
            ),
            format!(
                "play {key} = {possible}, or take {more}, or let a player draw random numbers \
                 (shuffle = true)"
            ),
        )
    }

    /// The course's runs at each point: one per opponent, or one against all of them.
    fn runs(&self, cells: &[DraftCell]) -> Result<Vec<DraftRun>, Fault> {
        let Some(course) = &self.file.course else { return Ok(Vec::new()) };
        let mut runs = Vec::<DraftRun>::new();
        let mut latest = None;
        let mut raced = BTreeMap::new();
        for (number, cell) in cells.iter().enumerate() {
            let subject = course.position(cell.names);
            let is_of_latest = course.kind.meets_all() && latest == Some(cell.point);
            if course.kind == CourseKind::Race {
                if !is_of_latest {
                    raced.clear();
                }
                let same = raced.insert(cell.players, number).map(|same| &cells[same]);
                self.check_raced(course, cell, same)?;
            }
            if let Some(run) = runs.last_mut().filter(|_| is_of_latest) {
                run.meetings.push((number, subject));
                continue;
            }
            latest = Some(cell.point);
            let rules = &self.instances.settings[cell.setting].rules;
            let (player, _) = self
                .instances
                .players
                .get_index(cell.players[subject])
                .unwrap_or_else(|| unreachable!());
            let point = self.points.at(cell.point);
            let settings = course.settings(&self.file.axes, point, rules, &player.parameters())?;
            let times = course.runs_each(&self.file.axes, point)?;
            runs.push(DraftRun { settings, meetings: vec![(number, subject)], times });
        }
        let runs_max = runs.len().max(RUNS_MAX + 1);
        let runs: Vec<DraftRun> = runs
            .into_iter()
            .flat_map(|run| (0..run.times).map(move |_| run.clone()))
            .take(runs_max)
            .collect();
        course.check_size(runs.iter().map(|run| (&run.settings, run.meetings.len() as u64)))?;
        Ok(runs)
    }

    /// Refuses a cell of a race whose games add nothing: `same` is an earlier one of the same players.
    fn check_raced(
        &self,
        course: &CourseInFile,
        cell: &DraftCell,
        same: Option<&DraftCell>,
    ) -> Result<(), Fault> {
        let [first, second] = self.names(cell);
        let fault = |problem, remedy| Err(Fault::at(&course.node.place, problem, remedy));
        if cell.players[0] == cell.players[1] {
            let problem = format!("`{first}` and `{second}` are the same player");
            return fault(problem, "remove one of them");
        }
        if let Some(same) = same {
            let [third, fourth] = self.names(same);
            let problem =
                format!("`{first}` against `{second}` is the same as `{third}` against `{fourth}`");
            return fault(problem, "remove the player that is there twice");
        }
        let draws = |&player: &usize| self.instances.players[player].draws_random_numbers;
        let begins_alike = matches!(
            self.instances.settings[cell.setting].rule,
            OpeningsRule::Start {} | OpeningsRule::Listed { .. }
        );
        if begins_alike && !cell.players.iter().any(draws) {
            let problem = format!(
                "each round would repeat the last: it begins with the same openings, and neither `{first}` nor \
                 `{second}` draws random numbers"
            );
            let remedy = "take openings = { kind = \"random\", plies = 4 }, or let a player draw random numbers \
                          (shuffle = true)";
            return fault(problem, remedy);
        }
        Ok(())
    }

    /// Refuses individuals that would repeat their games: like [`Self::check_openings`], for the cells that
    /// evolution makes of these.
    fn check_bred(&mut self, cells: &[DraftCell], runs: &[DraftRun]) -> Result<(), Fault> {
        let Some(course) = &self.file.course else { return Ok(()) };
        for run in runs {
            let RunSettings::Evolve(evolve) = &run.settings else { continue };
            let [meets_opponents, meets_its_kind] = evolve.meets();
            for &(number, subject) in &run.meetings {
                let cell = &cells[number];
                let draws =
                    |place: usize| self.instances.players[cell.players[place]].draws_random_numbers;
                let repeats = meets_its_kind || meets_opponents && !draws(1 - subject);
                let games = evolve.games.unwrap_or(cell.games.games);
                if !repeats || draws(subject) {
                    continue;
                }
                let distinct = self.instances.distinct_openings(cell.setting, games / 2)?;
                if distinct < games / 2 {
                    let name = self.names(cell)[subject];
                    let problem = format!(
                        "an individual would repeat its games: {games} games are {} pairs, there {} {distinct} distinct \
                         {}, and `{name}` draws no random numbers",
                        games / 2,
                        if distinct == 1 { "is" } else { "are" },
                        if distinct == 1 { "opening" } else { "openings" },
                    );
                    let remedy = format!(
                        "play games = {}, or take more openings, such as openings = {{ kind = \"random\", plies = 4 }}, \
                         or let `{name}` have ties = \"random\"",
                        distinct * 2
                    );
                    return Err(Fault::at(&course.node.place, problem, remedy));
                }
            }
        }
        Ok(())
    }

    fn finish(self, cells: Vec<DraftCell>, runs: Vec<DraftRun>) -> Plan {
        let Self { file, seed, points, instances, columns, merged, claim_cells } = self;
        let variants = &file.players.variants;
        let names: Vec<Arc<str>> =
            variants.iter().map(|variant| Arc::from(variant.name.as_str())).collect();
        let varied =
            VariedColumns::new(&file.players, cells.iter().map(|cell| cell.names), columns.len());
        let condition = |Setting { seed, rules, rule, openings }| Conditions {
            seed,
            openings_count: openings.count(),
            rules,
            openings: rule,
            max_plies: file.max_plies,
            adjudication: file.adjudication.as_ref().map(|adjudication| adjudication.rule),
            swap_sides: file.swap_sides,
            task: file.task,
        };
        let conditions: Vec<Conditions> = instances.settings.into_values().map(condition).collect();
        let definitions: Vec<DefinitionJson> = conditions.iter().map(DefinitionJson::new).collect();
        let players: Vec<(Arc<PlannedPlayer>, PlayerTraits)> = instances
            .players
            .into_iter()
            .map(|(player, traits)| (Arc::new(player), traits))
            .collect();
        let named = |pair: (usize, usize)| [pair.0, pair.1].map(|name| Arc::clone(&names[name]));
        let planned = |cell: DraftCell| {
            let its = cell.players.map(|player| &players[player]);
            let [first, second] = its.map(|(player, _)| &*player.parameters_json);
            let (definition_hash, seed) = definitions[cell.setting].hash_and_seed(first, second);
            let place = columns.place(cell.columns, points.at(cell.point));
            PlannedCell {
                definition_hash,
                seed,
                conditions: cell.setting,
                players: its.map(|(player, _)| Arc::clone(player)),
                player_names: named(cell.names),
                axes: place.chain(varied.place(cell.names)).collect(),
                games: cell.games.games,
                timed: file.measures_time || its.iter().any(|(_, traits)| traits.is_timed),
                repeats: its.iter().all(|(_, traits)| traits.repeats),
            }
        };
        let mut cells: Vec<PlannedCell> = cells.into_iter().map(planned).collect();
        let mut axes = columns.into_planned();
        axes.extend(varied.into_planned());
        let course = (!runs.is_empty()).then(|| {
            let course = CoursePlan { runs: planned_runs(runs, &mem::take(&mut cells)) };
            let axis = |name: &&str| PlannedAxis { name: (*name).to_owned(), values: Vec::new() };
            axes.extend(course.kind().axes().iter().map(axis));
            course
        });
        Plan {
            name: file.name.clone(),
            game: conditions[0].rules.name().to_owned(),
            seed,
            settings: file.settings.clone(),
            stop: file.stop,
            any_build: file.any_build,
            names_builds: file.builds.is_some(),
            anchors: file
                .pairing
                .anchors
                .iter()
                .map(|&anchor| variants[anchor].name.clone())
                .collect(),
            axes,
            conditions,
            players: players.into_iter().map(|(player, _)| player).collect(),
            cells,
            course,
            merged: merged
                .into_iter()
                .map(|(names, played_as)| MergedPairing {
                    names: named(names),
                    played_as: named(played_as),
                })
                .collect(),
            claims: claim_cells.into_claims(),
            skipped: instances.skipped,
        }
    }

    fn names(&self, cell: &DraftCell) -> [&str; 2] {
        let (first, second) = cell.names;
        [first, second].map(|variant| self.file.players.variants[variant].name.as_str())
    }
}
