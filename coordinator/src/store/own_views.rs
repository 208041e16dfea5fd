//! An experiment's own views: results and times with a column for each of its axes.

use spelrum_tournament::{Plan, PlannedAxis, Role};
use sqlx::AssertSqlSafe;

use super::error::StoreError;
use super::transaction::Transaction;

impl Transaction<'_> {
    /// Creates the experiment's own views: those of all experiments, with a column for each axis.
    pub(super) async fn create_views(
        &mut self,
        experiment: i64,
        plan: &Plan,
    ) -> Result<(), StoreError> {
        let [results_view, times_view] = self.view_names(experiment).await?;
        for (view, source, columns) in [
            (results_view, ("results", Rows::Cells), RESULTS_COLUMNS),
            (times_view, ("time_per_move", Rows::Players), TIMES_COLUMNS),
        ] {
            let sql = view_sql(&view, source, columns, experiment, plan);
            // Made of our own text, an integer, and names in quotes.
            sqlx::query(AssertSqlSafe(sql)).execute(self.connection()).await?;
        }
        Ok(())
    }

    /// Drops the experiment's own views.
    pub(super) async fn drop_views(&mut self, experiment: i64) -> Result<(), StoreError> {
        for view in self.view_names(experiment).await? {
            let sql = format!("DROP VIEW IF EXISTS {}", quoted(&view, '"'));
            sqlx::query(AssertSqlSafe(sql)).execute(self.connection()).await?;
        }
        Ok(())
    }

    /// Gives an experiment's views their names. One that is taken, by a table or by another
    /// experiment's view, gets the experiment's id behind it, and a number behind that if need be.
    pub(super) async fn name_views(
        &mut self,
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
                    SELECT 1 FROM sqlite_schema WHERE lower(name) IN (?1, ?2)
                ) AS "taken!: bool""#,
                results_view,
                times_view
            )
            .fetch_one(self.connection())
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
            .execute(self.connection())
            .await?;
            break;
        }
        Ok(())
    }

    async fn view_names(&mut self, experiment: i64) -> Result<[String; 2], StoreError> {
        let names = sqlx::query!(
            "SELECT results_view, times_view FROM experiments WHERE experiment_id = ?",
            experiment
        )
        .fetch_one(self.connection())
        .await?;
        Ok([names.results_view, names.times_view])
    }
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
    "cell_id",
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
    "cell_id",
];

/// Whose rows a view has.
#[derive(Clone, Copy)]
enum Rows {
    /// One for each cell, seen from its first player.
    Cells,
    /// One for each cell and player, seen from that player.
    Players,
}

/// An axis's value in an experiment's own views: an integer as an integer, a switch as 1 or 0 (switches
/// had no numbers once), another number (also a duration) as a real, all else as its text. What is written
/// with a point stays a real, so that `[0.5, 1.0]` is a column of one type.
const AXIS_VALUE: &str = "CASE a.value_text WHEN 'true' THEN 1 WHEN 'false' THEN 0 \
     WHEN CAST(CAST(a.value_number AS INTEGER) AS TEXT) THEN CAST(a.value_number AS INTEGER) \
     ELSE coalesce(a.value_number, a.value_text) END";

fn view_sql(
    view: &str,
    (source, rows): (&str, Rows),
    columns: &[&str],
    experiment: i64,
    plan: &Plan,
) -> String {
    let mut list = Vec::with_capacity(plan.axes.len() + columns.len());
    for (name, axis) in axis_columns(rows, plan) {
        // An axis may have any name, also that of another column.
        let taken = RESULTS_COLUMNS
            .iter()
            .chain(TIMES_COLUMNS)
            .any(|column| column.eq_ignore_ascii_case(&name));
        let name = if taken { format!("axis_{name}") } else { name };
        list.push(format!(
            "(SELECT {AXIS_VALUE} FROM cell_axes AS a \
             WHERE a.cell_id = s.cell_id AND a.axis = {axis}) AS {}",
            quoted(&name, '"'),
        ));
    }
    list.extend(columns.iter().map(|column| format!("s.{column}")));
    format!(
        "CREATE VIEW {} AS SELECT {} FROM {source} AS s \
         JOIN cells AS c ON c.cell_id = s.cell_id \
         WHERE s.experiment_id = {experiment} ORDER BY c.number",
        quoted(view, '"'),
        list.join(", "),
    )
}

/// A column for each axis, with an expression for the axis whose value it has.
///
/// `player.depth` is of the cell's first player. So where each player has rows of its own, the
/// rows of the second have it from `opponent.depth`, and there is a column for both as soon as
/// there is one.
fn axis_columns(rows: Rows, plan: &Plan) -> Vec<(String, String)> {
    let mut columns = Vec::<(String, String)>::new();
    for PlannedAxis { name, .. } in &plan.axes {
        let (Rows::Players, Some((_, parameter))) = (rows, Role::of_axis(name)) else {
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

/// A text in quotes, as SQL has them: a quote inside is doubled.
pub(super) fn quoted(text: &str, quote: char) -> String {
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
