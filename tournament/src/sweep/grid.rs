//! From a sweep to its cells: every point of the grid, every pairing, equal cells merged.
//!
//! A sweep of 100,000 cells has few games, openings and players, so each is made once for each
//! combination of the values of the axes it names, and cells refer to them by number.

use std::collections::BTreeMap;
use std::sync::Arc;

use spelrum_engine::Rules;

use super::axes::{Axis, Column, POINTS_MAX};
use super::fault::{Fault, Span};
use super::file::SweepFile;
use super::players::PlayerTemplate;
use super::resolve;
use super::template::{Uses, substitute};
use super::tree::Node;
use crate::definition::{DefinitionJson, OpeningsRule};
use crate::openings::{Openings, OpeningsError};
use crate::plan::{AxisValue, Conditions, Plan, PlannedAxis, PlannedCell, PlannedPlayer};
use crate::seeds::{SEED_END, canonical_json};

/// Most cells of a sweep, before equal ones are merged (invariant 9).
const CELLS_MAX: usize = POINTS_MAX;

/// Most games with openings: each is enumerated and held while planning (invariant 9).
const SETTINGS_MAX: usize = 1_000;

/// Plans a sweep that was read.
pub(super) fn plan(file: &SweepFile) -> Result<Plan, Fault> {
    let axes = &file.axes;
    let mut uses = Uses::default();
    let mut setting_uses = Uses::default();
    for node in [Some(&file.game), file.openings.as_ref()].into_iter().flatten() {
        setting_uses.note(node, axes)?;
    }
    uses.extend(&setting_uses);
    let mut player_axes = Vec::with_capacity(file.players.len());
    for player in &file.players {
        let mut player_uses = Uses::default();
        for entry in &player.parameters.entries {
            player_uses.note(&entry.value, axes)?;
        }
        uses.extend(&player_uses);
        // A player is read under the rules of its game.
        player_uses.extend(&setting_uses);
        player_axes.push(player_uses.axes());
    }
    uses.check_all_used(axes)?;
    let points = count_points(file)?;

    let mut planner = Planner {
        file,
        settings: Interned::default(),
        setting_choices: Choices::new(setting_uses.axes(), axes),
        players: Interned::default(),
        player_choices: player_axes.into_iter().map(|used| Choices::new(used, axes)).collect(),
    };
    let cells = planner.cells(points)?;
    planner.check_openings(&cells)?;
    Ok(planner.finish(cells))
}

/// The points of the grid, unless they make too many cells or games.
fn count_points(file: &SweepFile) -> Result<usize, Fault> {
    let axes = &file.axes;
    let pairings = file.pairing.pairs.len();
    let points = axes.iter().try_fold(1, |points: usize, axis| {
        let points = points.checked_mul(axis.values.len())?;
        (points.checked_mul(pairings)? <= CELLS_MAX).then_some(points)
    });
    let Some(points) = points.filter(|points| points * pairings <= CELLS_MAX) else {
        let sizes: Vec<String> =
            axes.iter().map(|axis| format!("{} {}", axis.values.len(), axis.name)).collect();
        let largest = axes.iter().max_by_key(|axis| axis.values.len());
        let place = largest.map_or(&file.games_place, |axis| &axis.place);
        return Err(Fault::at(
            place,
            format!("{} × {pairings} pairings are more than {CELLS_MAX} cells", sizes.join(" × ")),
            "sweep fewer values, or fewer axes at a time",
        ));
    };
    let most_games = (SEED_END - 1) / (points * pairings) as u64;
    if file.games > most_games {
        return Err(Fault::at(
            &file.games_place,
            format!("{} games in each of {} cells are too many", file.games, points * pairings),
            format!("play at most {} in each", most_games & !1),
        ));
    }
    Ok(points)
}

struct Planner<'a> {
    file: &'a SweepFile,
    settings: Interned<Setting>,
    setting_choices: Choices,
    players: Interned<ResolvedPlayer>,
    /// One for each player of the file.
    player_choices: Vec<Choices>,
}

/// A game with openings.
struct Setting {
    rules: Rules,
    rule: OpeningsRule,
    openings: Openings,
}

/// A player at the points that give it the same parameters.
struct ResolvedPlayer {
    planned: PlannedPlayer,
    draws_random_numbers: bool,
    is_timed: bool,
}

/// A cell by the numbers of its parts.
struct DraftCell {
    setting: usize,
    players: [usize; 2],
    /// Places in the file.
    names: (usize, usize),
    /// The first point that has it: the index of the value on each axis.
    point: Box<[usize]>,
    /// The columns on which all points that have it under these names agree, as bits.
    columns: u64,
}

impl Planner<'_> {
    /// The cells in the order of the grid, the last axis running fastest. A cell that several
    /// points have, or several pairings whose players turn out the same, stands where it comes
    /// first, under the names it has there.
    fn cells(&mut self, points: usize) -> Result<Vec<DraftCell>, Fault> {
        let columns = columns(&self.file.axes);
        let mut cells = Vec::<DraftCell>::new();
        let mut known = BTreeMap::new();
        let mut point = vec![0; self.file.axes.len()];
        for _ in 0..points {
            let setting = self.setting(&point)?;
            for &names in &self.file.pairing.pairs {
                let players = [
                    self.player(names.0, setting, &point)?,
                    self.player(names.1, setting, &point)?,
                ];
                let next = cells.len();
                let index = *known.entry((setting, players)).or_insert(next);
                if index == next {
                    let columns = (0..columns.len()).fold(0, |bits, column| bits | 1 << column);
                    let point = point.clone().into_boxed_slice();
                    cells.push(DraftCell { setting, players, names, point, columns });
                } else if cells[index].names == names {
                    cells[index].keep_common(&columns, &point);
                }
            }
            advance(&mut point, &self.file.axes);
        }
        Ok(cells)
    }

    /// The game and openings at a point.
    fn setting(&mut self, point: &[usize]) -> Result<usize, Fault> {
        let (file, slot) = (self.file, self.setting_choices.slot(point));
        if let Some(known) = self.setting_choices.made[slot] {
            return Ok(known);
        }
        let at_point = |node: &Node| substitute(node, &file.axes, point);
        let rules = resolve::game(&at_point(&file.game))?;
        let openings = file.openings.as_ref().map(at_point);
        let rule = match &openings {
            Some(node) => resolve::openings(node)?,
            None => OpeningsRule::Start {},
        };
        let place = openings.as_ref().unwrap_or(&file.game);
        if self.settings.items.len() >= SETTINGS_MAX {
            let problem = "this sweep has too many games and openings";
            let remedy = format!("sweep at most {SETTINGS_MAX} combinations of them");
            return Err(Fault::at(&place.place, problem, remedy));
        }
        let setting = setting(file.seed, rules, &rule)
            .map_err(|error| resolve::openings_fault(&error, place))?;
        let identity = canonical_json(&(&setting.rules, &setting.rule));
        let index = self.settings.number(identity, || setting);
        self.setting_choices.made[slot] = Some(index);
        Ok(index)
    }

    /// One of the file's players at a point.
    fn player(&mut self, player: usize, setting: usize, point: &[usize]) -> Result<usize, Fault> {
        let choices = &mut self.player_choices[player];
        let slot = choices.slot(point);
        if let Some(known) = choices.made[slot] {
            return Ok(known);
        }
        let PlayerTemplate { name, place, parameters, .. } = &self.file.players[player];
        let mut at_point = parameters.clone();
        for entry in &mut at_point.entries {
            entry.value = substitute(&entry.value, &self.file.axes, point);
        }
        let made = resolve::player(&self.settings.items[setting].rules, name, place, &at_point)?;
        let identity = canonical_json(made.parameters());
        let index = self.players.number(identity, || ResolvedPlayer {
            planned: PlannedPlayer::new(made.parameters()),
            draws_random_numbers: made.draws_random_numbers(),
            is_timed: made.is_timed(),
        });
        choices.made[slot] = Some(index);
        Ok(index)
    }

    /// Refuses repeated openings between players that would repeat the game with them.
    fn check_openings(&self, cells: &[DraftCell]) -> Result<(), Fault> {
        let pairs = self.file.games / 2;
        let mut distinct = vec![None; self.settings.items.len()];
        for cell in cells {
            if cell.players.iter().any(|&player| self.players.items[player].draws_random_numbers) {
                continue;
            }
            let openings = &self.settings.items[cell.setting].openings;
            let distinct = *distinct[cell.setting].get_or_insert_with(|| openings.distinct(pairs));
            if distinct < pairs {
                return Err(self.too_few_openings(cell, pairs, distinct));
            }
        }
        Ok(())
    }

    fn too_few_openings(&self, cell: &DraftCell, pairs: u64, distinct: u64) -> Fault {
        let [first, second] = self.names(cell);
        let place: &Span =
            self.file.openings.as_ref().map_or(&self.file.games_place, |node| &node.place);
        let more = match &self.settings.items[cell.setting].rule {
            OpeningsRule::Start {} => "openings = { kind = \"random\", plies = 2 }".to_owned(),
            OpeningsRule::Random { plies } | OpeningsRule::All { plies } => {
                format!("openings = {{ kind = \"random\", plies = {} }}", plies.saturating_add(1))
            }
            OpeningsRule::Listed { .. } => "a longer list".to_owned(),
        };
        let openings = if distinct == 1 { "opening" } else { "openings" };
        Fault::at(
            place,
            format!(
                "{} games are {pairs} pairs, but there {} {distinct} distinct {openings}, and \
                 neither `{first}` nor `{second}` draws random numbers: games would repeat",
                self.file.games,
                if distinct == 1 { "is" } else { "are" },
            ),
            format!(
                "play games = {}, or take {more}, or let a player draw random numbers \
                 (shuffle = true)",
                distinct * 2
            ),
        )
    }

    fn finish(self, cells: Vec<DraftCell>) -> Plan {
        let file = self.file;
        let columns = columns(&file.axes);
        let (axes, places): (Vec<_>, Vec<_>) = columns.iter().map(planned_axis).unzip();
        let names: Vec<Arc<str>> =
            file.players.iter().map(|player| Arc::from(player.name.as_str())).collect();
        let conditions: Vec<Conditions> = self
            .settings
            .items
            .into_iter()
            .map(|Setting { rules, rule, .. }| Conditions {
                rules,
                openings: rule,
                max_plies: file.max_plies,
            })
            .collect();
        let definitions: Vec<DefinitionJson> = conditions
            .iter()
            .map(|conditions| DefinitionJson::new(file.seed, conditions))
            .collect();
        let players = &self.players.items;
        let planned = |cell: DraftCell| {
            let [first, second] = cell.players.map(|player| &players[player]);
            let (definition_hash, seed) = definitions[cell.setting]
                .hash_and_seed(&first.planned.parameters_json, &second.planned.parameters_json);
            let place = |(index, column): (usize, &Column)| {
                let value = places[index][cell.point[column.axis]]?;
                (cell.columns >> index & 1 == 1).then_some((index, value))
            };
            PlannedCell {
                definition_hash,
                seed,
                conditions: cell.setting,
                players: cell.players,
                player_names: [cell.names.0, cell.names.1].map(|name| Arc::clone(&names[name])),
                axes: columns.iter().enumerate().filter_map(place).collect(),
                games: file.games,
                timed: file.measures_time || first.is_timed || second.is_timed,
            }
        };
        let cells = cells.into_iter().map(planned).collect();
        Plan {
            name: file.name.clone(),
            description: file.description.clone(),
            game: conditions[0].rules.name().to_owned(),
            seed: file.seed,
            priority: file.priority,
            record: file.record,
            game_timeout_us: None,
            anchors: Vec::new(),
            axes,
            conditions,
            players: self.players.items.into_iter().map(|player| player.planned).collect(),
            cells,
        }
    }

    fn names(&self, cell: &DraftCell) -> [&str; 2] {
        let (first, second) = cell.names;
        [first, second].map(|player| self.file.players[player].name.as_str())
    }
}

/// Rules with openings, listed ones as the game itself writes them.
fn setting(seed: u64, rules: Rules, rule: &OpeningsRule) -> Result<Setting, OpeningsError> {
    let openings = Openings::new(seed, &rules, rule)?;
    let normalized = openings.normalized(rule);
    Ok(Setting { rules, rule: normalized, openings })
}

impl DraftCell {
    /// Another point has this cell too: drops the columns on which the points differ, since the
    /// cell has no one place there.
    fn keep_common(&mut self, columns: &[Column], point: &[usize]) {
        for (index, column) in columns.iter().enumerate() {
            let value = |point: &[usize]| &column.values[point[column.axis]];
            if value(&self.point) != value(point) {
                self.columns &= !(1 << index);
            }
        }
    }
}

/// A column with its distinct values, and which of them it has at each value of its axis.
fn planned_axis(column: &Column) -> (PlannedAxis, Vec<Option<usize>>) {
    let mut values = Vec::new();
    let mut numbers = BTreeMap::new();
    let place = |value: &Option<AxisValue>| {
        let value = value.as_ref()?;
        let key = (value.text.clone(), value.number.is_some());
        Some(*numbers.entry(key).or_insert_with(|| {
            values.push(value.clone());
            values.len() - 1
        }))
    };
    let places = column.values.iter().map(place).collect();
    (PlannedAxis { name: column.name.clone(), values }, places)
}

fn columns(axes: &[Axis]) -> Vec<Column> {
    axes.iter().enumerate().flat_map(|(index, axis)| axis.columns(index)).collect()
}

/// The next point, the last axis running fastest.
fn advance(point: &mut [usize], axes: &[Axis]) {
    for (index, axis) in point.iter_mut().zip(axes).rev() {
        *index += 1;
        if *index < axis.values.len() {
            return;
        }
        *index = 0;
    }
}

/// What was made at each combination of the values of some axes.
struct Choices {
    /// The axes, each with the number of its values.
    axes: Vec<(usize, usize)>,
    /// By [`Choices::slot`].
    made: Vec<Option<usize>>,
}

impl Choices {
    /// Nothing made yet. The axes' sizes multiply to no more than the points of the grid.
    fn new(used: Vec<usize>, axes: &[Axis]) -> Self {
        let axes: Vec<_> = used.into_iter().map(|axis| (axis, axes[axis].values.len())).collect();
        let combinations = axes.iter().map(|&(_, size)| size).product();
        Self { axes, made: vec![None; combinations] }
    }

    /// The number of the combination that a point has.
    fn slot(&self, point: &[usize]) -> usize {
        self.axes.iter().fold(0, |slot, &(axis, size)| slot * size + point[axis])
    }
}

/// Things numbered by a text that is equal for equal things.
struct Interned<T> {
    numbers: BTreeMap<String, usize>,
    items: Vec<T>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { numbers: BTreeMap::new(), items: Vec::new() }
    }
}

impl<T> Interned<T> {
    /// The number of what has this identity, made if it is new.
    fn number(&mut self, identity: String, make: impl FnOnce() -> T) -> usize {
        let next = self.items.len();
        let number = *self.numbers.entry(identity).or_insert(next);
        if number == next {
            self.items.push(make());
        }
        number
    }
}
