//! What a sweep that has changed would change of its experiment. Reads only: a preview asks it of a
//! reader, a submit of the writer.

use std::collections::{BTreeSet, HashSet};

use serde::Deserialize;
use spelrum_proto::v1;
use spelrum_tournament::stopping::StopRule;
use spelrum_tournament::{DefinitionJson, Plan, PlannedCell, Record};
use sqlx::SqliteConnection;

use super::cells::ROWS_AT_ONCE;
use super::error::StoreError;
use super::numbers::count;
use super::scheduling::unsigned;
use super::transaction::rows;

/// Cells that an experiment may have, together with those that its sweep no longer names
/// (invariant 9).
const CELLS_EVER_MAX: u64 = 1_000_000;

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
    /// Whether the axes' names, or the places of kept cells on them, differ.
    pub axes_changed: bool,
    /// Whether the game's rules, the openings, the limit of plies, who moves first or the seed
    /// differ, of any cell.
    pub rules_changed: bool,
    /// What else differs: `description`, `priority`, `record`, `game_timeout`, `stop`, `anchors`.
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

/// An experiment that a plan may change.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) experiment: i64,
    pub(super) description: String,
    pub(super) priority: i64,
    pub(super) record: String,
    pub(super) game_timeout_us: Option<i64>,
}

/// A plan beside the rows of an experiment.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    pub(super) change: Change,
    /// Cells that the plan names and that are there.
    pub(super) known: Vec<KnownCell>,
    /// Numbers in the plan of those that are not.
    pub(super) added: Vec<usize>,
    /// Cells that the plan does not name any more.
    pub(super) dropped: Vec<DroppedCell>,
    /// How many games each cell of the plan has left to play.
    pub(super) games_left: Vec<u64>,
    /// Cells that the experiment has, named or not.
    cells_there: u64,
}

/// A cell that is there and that the plan names.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownCell {
    pub(super) cell: i64,
    /// Its number in the plan.
    pub(super) number: usize,
    /// How many games it gets: no fewer than were leased.
    pub(super) games: u64,
    pub(super) next_number: u64,
    /// Whether its games come in pairs.
    pub(super) swap_sides: bool,
    /// Whether its row differs, whether in what the scheduler knows, and whether its place does.
    pub(super) row_differs: bool,
    pub(super) work_differs: bool,
    pub(super) place_differs: bool,
    /// Whether its stop rule does.
    pub(super) rule_differs: bool,
}

/// A cell that the plan does not name any more.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct DroppedCell {
    pub(super) cell: i64,
    pub(super) games: u64,
    pub(super) next_number: u64,
    pub(super) games_settled: u64,
    /// 1 if its games come in pairs.
    pub(super) swap_sides: u8,
}

/// A cell's row, as the comparison needs it.
#[derive(Deserialize)]
struct Row(usize, i64, i64, u64, u64, u8, u8, String, String, u64, Option<String>, Option<u64>, u8);

/// Compares a plan with the rows of an experiment, a bounded number of cells at a time.
pub(super) async fn compare(
    connection: &mut SqliteConnection,
    subject: &Subject,
    plan: &Plan,
) -> Result<Comparison, StoreError> {
    let places = Places::new(plan);
    let mut comparison = Comparison::default();
    let mut in_sweep = 0;
    for (chunk, cells) in plan.cells.chunks(ROWS_AT_ONCE).enumerate() {
        let first_number = chunk * ROWS_AT_ONCE;
        let mut known = vec![None; cells.len()];
        for row in find_cells(connection, subject.experiment, cells, plan.stop).await? {
            in_sweep += u64::from(row.5);
            let key = row.0;
            let entry = comparison.add_known(row, first_number + key, plan, &places);
            if let Some(place) = known.get_mut(key) {
                *place = Some(entry);
            }
        }
        for (index, (cell, known)) in cells.iter().zip(known).enumerate() {
            let left = known.unwrap_or_else(|| {
                comparison.add_new(first_number + index, plan, &places);
                cell.games
            });
            comparison.games_left.push(left);
            comparison.change.games_to_play += left;
        }
    }
    comparison.find_dropped(connection, subject.experiment, in_sweep).await?;
    comparison.compare_settings(connection, subject, plan).await?;
    comparison.change.examples.sort_by_key(|example| example.what);
    Ok(comparison)
}

/// The rows of a few cells of a plan, as far as they are there. One row of JSON is a tenth of the
/// time of as many rows.
// CROSS JOIN holds SQLite to this order: each hash is looked up, and no table is scanned for it.
async fn find_cells(
    connection: &mut SqliteConnection,
    experiment: i64,
    cells: &[PlannedCell],
    rule: Option<StopRule>,
) -> Result<Vec<Row>, StoreError> {
    let precision = rule.map(|rule| rule.precision());
    let hashes: Vec<String> = cells.iter().map(|cell| cell.definition_hash.to_string()).collect();
    let hashes = rows(&hashes)?;
    let found = sqlx::query_scalar!(
        r#"SELECT json_group_array(json_array(j.key, c.cell_id, c.number, c.games_planned,
                c.next_number, c.in_sweep, c.timed, c.first_player_name, c.second_player_name,
                coalesce(r.games + r.games_failed, 0),
                (SELECT group_concat(p.text, char(10)) FROM (
                    SELECT a.axis || '=' || a.value_text
                        || CASE WHEN a.value_number IS NULL THEN '' ELSE '#' END AS text
                    FROM cell_axes AS a WHERE a.cell_id = c.cell_id ORDER BY a.axis) AS p),
                c.stop_number, c.stop_precision IS NOT ?3))
            AS "list!: String"
        FROM json_each(?1) AS j
        CROSS JOIN cells AS c ON c.definition_hash = j.value AND c.experiment_id = ?2
        LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id"#,
        hashes,
        experiment,
        precision
    )
    .fetch_one(connection)
    .await?;
    list(&found)
}

fn list<'j, T: Deserialize<'j>>(json: &'j str) -> Result<Vec<T>, StoreError> {
    serde_json::from_str(json).map_err(|error| sqlx::Error::Decode(error.into()).into())
}

impl Comparison {
    /// Refuses what would not be growing.
    pub(super) fn check(&self, name: &str) -> Result<(), StoreError> {
        let Change { cells_kept, cells_returned, cells_added, rules_changed, .. } = self.change;
        let cells = self.cells_there + cells_added;
        if cells_kept + cells_returned == 0 {
            Err(StoreError::NothingInCommon { name: name.to_owned(), rules_changed })
        } else if cells > CELLS_EVER_MAX {
            Err(StoreError::ManyCells { name: name.to_owned(), cells, max: CELLS_EVER_MAX })
        } else {
            Ok(())
        }
    }

    /// Takes in a cell that is there; returns how many games it has left.
    fn add_known(&mut self, row: Row, number: usize, plan: &Plan, places: &Places<'_>) -> u64 {
        let Row(
            _,
            cell,
            old_number,
            planned,
            next,
            in_sweep,
            timed,
            first,
            second,
            settled,
            place,
            stop,
            rule_differs,
        ) = row;
        let rule_differs = rule_differs == 1;
        let new = &plan.cells[number];
        let in_sweep = in_sweep == 1;
        let swap_sides = plan.conditions[new.conditions].swap_sides;
        // No pair that was begun is left half.
        let games = new.games.max(if swap_sides { next.next_multiple_of(2) } else { next });
        let [first_name, second_name] = &new.player_names;
        let games_differ = !in_sweep || games != planned;
        let row_differs = games_differ
            || old_number != count(number)
            || (timed == 1) != new.timed
            || *first != **first_name
            || *second != **second_name;
        let place_differs = places.mark(new) != place.unwrap_or_default();
        self.known.push(KnownCell {
            cell,
            number,
            games,
            next_number: next,
            swap_sides,
            row_differs,
            work_differs: games_differ || rule_differs,
            place_differs,
            rule_differs,
        });
        let change = &mut self.change;
        change.games_kept += settled;
        change.axes_changed |= place_differs;
        let example = |what| CellExample {
            what,
            axes: places.text(new),
            player: first_name.to_string(),
            opponent: second_name.to_string(),
            games_settled: settled,
            games_planned: games,
        };
        if !in_sweep {
            change.cells_returned += 1;
            change.give_example(CellChange::Returned, example);
        } else {
            change.cells_kept += 1;
            if games > planned {
                change.cells_continued += 1;
                change.give_example(CellChange::Continued, example);
            }
        }
        // By another rule the most that it gets, until the rule has read it.
        let end = stop.filter(|_| !rule_differs).unwrap_or(games);
        end.saturating_sub(settled)
    }

    /// Whether cells that are there get another stop rule.
    pub(super) fn rules_differ(&self) -> bool {
        self.known.iter().any(|cell| cell.rule_differs)
    }

    fn add_new(&mut self, number: usize, plan: &Plan, places: &Places<'_>) {
        self.added.push(number);
        self.change.cells_added += 1;
        let cell = &plan.cells[number];
        let [player, opponent] = &cell.player_names;
        self.change.give_example(CellChange::Added, |what| CellExample {
            what,
            axes: places.text(cell),
            player: player.to_string(),
            opponent: opponent.to_string(),
            games_settled: 0,
            games_planned: cell.games,
        });
    }

    /// Finds the cells that were named and are no longer. Most often there are none: `still` of
    /// those that were are named now.
    async fn find_dropped(
        &mut self,
        connection: &mut SqliteConnection,
        experiment: i64,
        still: u64,
    ) -> Result<(), StoreError> {
        let there = sqlx::query!(
            r#"SELECT count(*) AS "cells!: i64", coalesce(sum(in_sweep), 0) AS "named!: i64"
            FROM cells WHERE experiment_id = ?"#,
            experiment
        )
        .fetch_one(&mut *connection)
        .await?;
        self.cells_there = unsigned(there.cells);
        if unsigned(there.named) == still {
            return Ok(());
        }
        let found = sqlx::query_scalar!(
            r#"SELECT json_group_array(json_array(c.cell_id, c.games_planned, c.next_number,
                coalesce(r.games + r.games_failed, 0), c.swap_sides)) AS "list!: String"
            FROM cells AS c LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
            WHERE c.experiment_id = ? AND c.in_sweep = 1"#,
            experiment
        )
        .fetch_one(&mut *connection)
        .await?;
        let still: HashSet<i64> = self.known.iter().map(|known| known.cell).collect();
        let dropped = list::<DroppedCell>(&found)?.into_iter();
        self.dropped = dropped.filter(|cell| !still.contains(&cell.cell)).collect();
        self.change.cells_dropped = self.dropped.len() as u64;
        self.change.games_dropped = self.dropped.iter().map(|cell| cell.games_settled).sum();
        for of in self.dropped.iter().take(EXAMPLES_MAX) {
            let cell = sqlx::query!(
                r#"SELECT axes, player, opponent FROM results WHERE cell_id = ?"#,
                of.cell
            )
            .fetch_one(&mut *connection)
            .await?;
            self.change.give_example(CellChange::Dropped, |what| CellExample {
                what,
                axes: cell.axes.unwrap_or_default(),
                player: cell.player,
                opponent: cell.opponent,
                games_settled: of.games_settled,
                games_planned: of.games,
            });
        }
        Ok(())
    }

    async fn compare_settings(
        &mut self,
        connection: &mut SqliteConnection,
        subject: &Subject,
        plan: &Plan,
    ) -> Result<(), StoreError> {
        let Subject { experiment, description, priority, record, game_timeout_us } = subject;
        let axes = sqlx::query_scalar!(
            "SELECT axis FROM experiment_axes WHERE experiment_id = ? ORDER BY number",
            experiment
        )
        .fetch_all(&mut *connection)
        .await?;
        let anchors = sqlx::query_scalar!(
            "SELECT player FROM experiment_anchors WHERE experiment_id = ? ORDER BY number",
            experiment
        )
        .fetch_all(&mut *connection)
        .await?;
        let conditions = sqlx::query_scalar!(
            "SELECT definition_prefix FROM conditions WHERE conditions_id IN (
                SELECT conditions_id FROM cells WHERE experiment_id = ? AND in_sweep = 1)",
            experiment
        )
        .fetch_all(&mut *connection)
        .await?;
        let before: BTreeSet<&str> = conditions.iter().map(String::as_str).collect();
        let now: Vec<DefinitionJson> =
            plan.conditions.iter().map(|of| DefinitionJson::new(plan.seed, of)).collect();
        let now: BTreeSet<&str> = now.iter().map(DefinitionJson::prefix).collect();
        let stop_differs = self.rules_differ();
        let change = &mut self.change;
        change.rules_changed = before != now;
        change.axes_changed |= !axes.iter().eq(plan.axes.iter().map(|axis| &axis.name));
        change.settings_changed = [
            ("description", *description != plan.description),
            ("priority", *priority != i64::from(plan.priority)),
            ("record", record != record_name(plan.record)),
            ("game_timeout", game_timeout_us.map(unsigned) != plan.game_timeout_us),
            ("stop", stop_differs),
            ("anchors", anchors != plan.anchors),
        ]
        .into_iter()
        .filter_map(|(what, differs)| differs.then_some(what))
        .collect();
        Ok(())
    }
}

impl From<Change> for v1::SubmitChange {
    fn from(change: Change) -> Self {
        Self {
            cells_kept: change.cells_kept,
            cells_continued: change.cells_continued,
            cells_added: change.cells_added,
            cells_dropped: change.cells_dropped,
            cells_returned: change.cells_returned,
            games_kept: change.games_kept,
            games_to_play: change.games_to_play,
            games_dropped: change.games_dropped,
            axes_changed: change.axes_changed,
            rules_changed: change.rules_changed,
            settings_changed: change.settings_changed.into_iter().map(str::to_owned).collect(),
            examples: change.examples.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<CellExample> for v1::CellExample {
    fn from(example: CellExample) -> Self {
        let what = match example.what {
            CellChange::Continued => v1::CellChange::Continued,
            CellChange::Added => v1::CellChange::Added,
            CellChange::Returned => v1::CellChange::Returned,
            CellChange::Dropped => v1::CellChange::Dropped,
        };
        Self {
            what: what.into(),
            axes: example.axes,
            player: example.player,
            opponent: example.opponent,
            games_settled: example.games_settled,
            games_planned: example.games_planned,
        }
    }
}

impl Change {
    fn give_example(&mut self, what: CellChange, example: impl FnOnce(CellChange) -> CellExample) {
        if self.examples.iter().filter(|given| given.what == what).count() < EXAMPLES_MAX {
            self.examples.push(example(what));
        }
    }
}

/// How the places of a plan's cells look in the database, to be compared with what is there.
struct Places<'p> {
    plan: &'p Plan,
    /// For each axis, where it is in the order in which the database has them.
    order: Vec<usize>,
    /// For each axis and value: name, value, and whether it is a number. The number follows from
    /// the text.
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
        let mark = |axis: &str, value: &spelrum_tournament::AxisValue| {
            let number = if value.number.is_some() { "#" } else { "" };
            format!("{axis}={}{number}", value.text)
        };
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

/// What is stored of each game, as it is stored.
pub(super) fn record_name(record: Record) -> &'static str {
    match record {
        Record::Moves => "moves",
        Record::Games => "games",
    }
}
