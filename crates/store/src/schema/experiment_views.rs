//! An experiment's own views: results and times with a column for each of its axes.
//!
//! Every connection keeps the whole schema in memory, and rereads all of it after each change: 10,000 views are some
//! 50 MB and half a second for each change. So the file has only the views of the experiments stored or changed last.
//! All views keep their names for good, and queries through this program get missing views made for them (`query`).

use rusqlite::OptionalExtension as _;
use spelrum_model::{Role, Task};
use sqlx::AssertSqlSafe;

use crate::error::StoreError;
use crate::write::transaction::Transaction;

/// Maximum number of experiments with their own views in the file: the time of a submit, and of the first read after
/// it, grows with them.
pub(crate) const EXPERIMENTS_WITH_VIEWS_MAX: i64 = 100;

/// Experiments that lose their views at once: files from before this bound reach it gradually.
const TRIMMED_AT_ONCE: i64 = 4;

/// Creates the experiment's own views, those over all experiments with a column for each axis, and drops the oldest
/// surplus views.
pub(crate) async fn create_views(
    tx: &mut Transaction<'_>,
    experiment: i64,
) -> Result<(), StoreError> {
    let axes = sqlx::query_scalar!(
        "SELECT axis FROM experiment_axes WHERE experiment_id = ? ORDER BY number",
        experiment
    )
    .fetch_all(tx.connection())
    .await?;
    let [results_view, times_view] = view_names(tx, experiment).await?;
    let task = task_of(tx, experiment).await?;
    for (view, kind) in [(results_view, Kind::Results), (times_view, Kind::Times)] {
        let select = kind.select(experiment, &axes, task);
        let sql = format!("CREATE VIEW {} AS {select}", quoted(&view, '"'));
        change_schema(tx, sql).await?;
    }
    trim_views(tx).await
}

/// Drops the experiment's own views, if the file has them.
pub(crate) async fn drop_views(
    tx: &mut Transaction<'_>,
    experiment: i64,
) -> Result<(), StoreError> {
    for view in view_names(tx, experiment).await? {
        change_schema(tx, format!("DROP VIEW IF EXISTS {}", quoted(&view, '"'))).await?;
    }
    Ok(())
}

/// Restores an experiment's own views in the file, if missing.
pub(crate) async fn restore_views(
    tx: &mut Transaction<'_>,
    experiment: i64,
) -> Result<(), StoreError> {
    let lacks = sqlx::query_scalar!(
        r#"SELECT results_view <> '' AND NOT EXISTS (
            SELECT 1 FROM sqlite_schema AS s WHERE s.name IN (e.results_view, e.times_view)
        ) AS "lacks!: bool"
        FROM experiments AS e WHERE e.experiment_id = ?"#,
        experiment
    )
    .fetch_one(tx.connection())
    .await?;
    if lacks { create_views(tx, experiment).await } else { Ok(()) }
}

/// Gives an experiment's views their names. A name already taken, by a table or another experiment's view, gets the
/// experiment's id appended, and then a number if needed.
pub(crate) async fn name_views(
    tx: &mut Transaction<'_>,
    experiment: i64,
    name: &str,
) -> Result<(), StoreError> {
    let name = identifier(name);
    let with_id = format!("{name}_{experiment}");
    let numbered = (2_u64..).map(|number| format!("{with_id}_{number}"));
    for name in [name, with_id.clone()].into_iter().chain(numbered) {
        let views = ["results", "times"].map(|what| format!("{what}_{name}"));
        let [results_view, times_view] = &views;
        let taken = sqlx::query_scalar!(
            r#"SELECT EXISTS (
                SELECT 1 FROM experiments WHERE results_view = ?1 AND results_view <> ''
            ) OR EXISTS (
                SELECT 1 FROM experiments WHERE times_view = ?2 AND times_view <> ''
            ) OR EXISTS (
                SELECT 1 FROM sqlite_schema WHERE lower(name) IN (?1, ?2)
            ) AS "taken!: bool""#,
            results_view,
            times_view
        )
        .fetch_one(tx.connection())
        .await?;
        if taken {
            continue;
        }
        sqlx::query!(
            "UPDATE experiments SET results_view = ?2, times_view = ?3 WHERE experiment_id = ?1",
            experiment,
            results_view,
            times_view
        )
        .execute(tx.connection())
        .await?;
        break;
    }
    Ok(())
}

/// Drops surplus views, some at a time: the latest stay.
async fn trim_views(tx: &mut Transaction<'_>) -> Result<(), StoreError> {
    // SQLite numbers the schema's entries in order of creation.
    let surplus = sqlx::query_scalar!(
        r#"SELECT e.experiment_id AS "experiment_id!"
        FROM sqlite_schema AS s
        CROSS JOIN experiments AS e ON e.results_view = s.name AND e.results_view <> ''
        WHERE s.type = 'view' ORDER BY s.rowid DESC LIMIT ?2 OFFSET ?1"#,
        EXPERIMENTS_WITH_VIEWS_MAX,
        TRIMMED_AT_ONCE
    )
    .fetch_all(tx.connection())
    .await?;
    for experiment in surplus {
        drop_views(tx, experiment).await?;
    }
    Ok(())
}

async fn change_schema(tx: &mut Transaction<'_>, sql: String) -> Result<(), StoreError> {
    // Made of our own text, an integer, and quoted names; never used again, so it must not evict other prepared
    // statements.
    sqlx::query(AssertSqlSafe(sql)).persistent(false).execute(tx.connection()).await?;
    Ok(())
}

/// The task of an experiment.
async fn task_of(tx: &mut Transaction<'_>, experiment: i64) -> Result<Task, StoreError> {
    let kind =
        sqlx::query_scalar!("SELECT kind FROM experiments WHERE experiment_id = ?", experiment)
            .fetch_one(tx.connection())
            .await?;
    Ok(Task::from_experiments(&kind).unwrap_or_default())
}

async fn view_names(tx: &mut Transaction<'_>, experiment: i64) -> Result<[String; 2], StoreError> {
    let names = sqlx::query!(
        "SELECT results_view, times_view FROM experiments WHERE experiment_id = ?",
        experiment
    )
    .fetch_one(tx.connection())
    .await?;
    Ok([names.results_view, names.times_view])
}

/// Makes an experiment's own view for this connection only, if one has this name. Returns whether it did.
pub(crate) fn make_for_connection(
    connection: &rusqlite::Connection,
    view: &str,
) -> rusqlite::Result<bool> {
    make_in(connection, "temp", view)
}

/// Makes an experiment's own view in a schema of the connection, if one has this name. Returns whether it did.
pub(crate) fn make_in(
    connection: &rusqlite::Connection,
    schema: &str,
    view: &str,
) -> rusqlite::Result<bool> {
    let view = view.to_ascii_lowercase();
    let are_results = view.starts_with("results_");
    let find = if are_results {
        "SELECT experiment_id, kind FROM experiments WHERE results_view = ? AND results_view <> ''"
    } else {
        "SELECT experiment_id, kind FROM experiments WHERE times_view = ? AND times_view <> ''"
    };
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?));
    let found = connection.query_row(find, [&view], read).optional()?;
    let Some((experiment, kind)) = found else { return Ok(false) };
    let task = Task::from_experiments(&kind).unwrap_or_default();
    let kind = if are_results { Kind::Results } else { Kind::Times };
    let axes = connection
        .prepare("SELECT axis FROM experiment_axes WHERE experiment_id = ? ORDER BY number")?
        .query_map([experiment], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<String>>>()?;
    let select = kind.select(experiment, &axes, task);
    let view = quoted(&view, '"');
    connection.execute_batch(&format!("CREATE VIEW {schema}.{view} AS {select}"))?;
    Ok(true)
}

/// The columns that an experiment's view takes from `results`.
const RESULTS_COLUMNS: &[&str] = &[
    "player",
    "opponent",
    "games_planned",
    "games",
    "wins",
    "draws",
    "losses",
    "score",
    "score_low",
    "score_high",
    "pairs",
    "distinct_games",
    "plies_mean",
    "games_failed",
];

/// The columns that an accuracy experiment's view takes from `accuracy`.
const ACCURACY_COLUMNS: &[&str] = &[
    "player",
    "reference",
    "choices_planned",
    "choices",
    "positions",
    "best",
    "random_best",
    "best_skill",
    "rank",
    "random_rank",
    "rank_skill",
    "loss",
    "random_loss",
    "loss_skill",
    "winnable",
    "keeps_win",
    "random_keeps_win",
    "keeps_win_skill",
    "choices_failed",
];

/// The columns that an experiment's view takes from `time_per_move`.
const TIMES_COLUMNS: &[&str] = &[
    "player",
    "searched_moves",
    "wall_us_mean",
    "wall_us_median",
    "wall_us_p90",
    "wall_us_p99",
    "cpu_us_mean",
    "depth_mean",
    "nodes_mean",
    "evaluations_mean",
    "full_tree_share",
    "nodes_per_second",
];

/// The subject of a view.
#[derive(Clone, Copy)]
enum Kind {
    /// A row for each cell, from its first player's view; for an accuracy experiment, how well that player chooses.
    Results,
    /// A row for each cell and player, from that player's view.
    Times,
}

/// An axis's value in an experiment's own views: integers as integers, switches as 1 or 0 (older switches have no
/// numbers), other numbers (also durations) as reals, everything else as text. A number written with a point stays a
/// real, so that `[0.5, 1.0]` is a column of one type.
const AXIS_VALUE: &str = "CASE a.value_text WHEN 'true' THEN 1 WHEN 'false' THEN 0 \
     WHEN CAST(CAST(a.value_number AS INTEGER) AS TEXT) THEN CAST(a.value_number AS INTEGER) \
     ELSE coalesce(a.value_number, a.value_text) END";

impl Kind {
    fn select(self, experiment: i64, axes: &[String], task: Task) -> String {
        // Fewer words make the schema faster to read: names get a table prefix only where needed. An axis can be
        // called `number`.
        let (results, results_columns) = match task {
            Task::Game => ("results AS s", RESULTS_COLUMNS),
            Task::Choice => ("accuracy AS s", ACCURACY_COLUMNS),
        };
        let (source, columns, order) = match self {
            Self::Results => (results, results_columns, "s.cell_number"),
            Self::Times => (
                "time_per_move AS s JOIN cells AS c ON c.cell_id = s.cell_id",
                TIMES_COLUMNS,
                "c.number",
            ),
        };
        let mut list = Vec::with_capacity(axes.len() + columns.len());
        for (name, axis) in self.axis_columns(axes) {
            // An axis can have any name, also that of another column.
            let taken = ["cell_id"]
                .iter()
                .chain(results_columns)
                .chain(TIMES_COLUMNS)
                .any(|column| column.eq_ignore_ascii_case(&name));
            let name = if taken { format!("axis_{name}") } else { name };
            list.push(format!(
                "(SELECT {AXIS_VALUE} FROM cell_axes AS a \
                 WHERE a.cell_id = s.cell_id AND a.axis = {axis}) AS {}",
                quoted(&name, '"'),
            ));
        }
        list.extend(columns.iter().map(|column| (*column).to_owned()));
        format!(
            "SELECT {}, s.cell_id FROM {source} WHERE s.experiment_id = {experiment} ORDER BY {order}",
            list.join(", "),
        )
    }

    /// A column for each axis, with an expression for the axis whose value the column has.
    ///
    /// `player.depth` concerns the cell's first player. So where each player has separate rows, the second player's
    /// rows take it from `opponent.depth`, and both columns exist as soon as one does.
    fn axis_columns(self, axes: &[String]) -> Vec<(String, String)> {
        let mut columns = Vec::<(String, String)>::new();
        for name in axes {
            let (Self::Times, Some((_, parameter))) = (self, Role::from_axis(name)) else {
                columns.push((name.clone(), quoted(name, '\'')));
                continue;
            };
            for role in [Role::Player, Role::Opponent] {
                let own = role.axis(parameter);
                if columns.iter().all(|(known, _)| *known != own) {
                    let others = quoted(&role.swapped().axis(parameter), '\'');
                    let axis = format!(
                        "CASE WHEN s.player_id = c.first_player_id THEN {} ELSE {others} END",
                        quoted(&own, '\''),
                    );
                    columns.push((own, axis));
                }
            }
        }
        columns
    }
}

/// A quoted text in SQL: a quote inside is doubled.
pub(crate) fn quoted(text: &str, quote: char) -> String {
    let doubled = text.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}

/// A name that needs no quotes in SQL: lower-case ASCII letters, digits and underscores.
fn identifier(name: &str) -> String {
    name.chars()
        .map(|character| match character.to_ascii_lowercase() {
            plain @ ('a'..='z' | '0'..='9') => plain,
            _ => '_',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        assert_eq!(identifier("pentago-depth"), "pentago_depth");
        assert_eq!(identifier("Été \"x\"; DROP"), "_t___x___drop");
    }

    #[test]
    fn quotes_are_doubled() {
        assert_eq!(quoted("it's", '\''), "'it''s'");
        assert_eq!(quoted("a\"b", '"'), "\"a\"\"b\"");
    }
}
