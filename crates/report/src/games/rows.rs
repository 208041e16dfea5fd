//! Games as rows, for CSV, JSON lines and Parquet: one row each.

use std::io::Write;

use spelrum_answers::SqlValue;
use spelrum_engine::MoveRecord;

use super::{GameView, WriteGames, score};
use crate::data::{RowsFormat, WriteRows, rows_writer};
use crate::error::Result;

/// Writes games as rows.
pub struct Rows<W> {
    format: RowsFormat,
    searches: bool,
    margins: bool,
    /// Present until the columns are known.
    out: Option<W>,
    writer: Option<Box<dyn WriteRows>>,
    waiting: Vec<Vec<SqlValue>>,
}

/// Number of rows written at once.
const ROWS_AT_ONCE: usize = 100;

impl<W: Write + Send + 'static> Rows<W> {
    /// Creates a writer, with search results and with the margins of games that have them.
    pub fn new(format: RowsFormat, searches: bool, margins: bool, out: W) -> Self {
        Self { format, searches, margins, out: Some(out), writer: None, waiting: Vec::new() }
    }

    fn write_waiting(&mut self) -> Result<()> {
        if let Some(writer) = &mut self.writer {
            writer.write(&self.waiting)?;
        }
        self.waiting.clear();
        Ok(())
    }
}

impl<W: Write + Send + 'static> WriteGames for Rows<W> {
    fn begin(&mut self, axes: &[String]) -> Result<()> {
        if let Some(out) = self.out.take() {
            self.writer =
                Some(rows_writer(self.format, columns(axes, self.searches, self.margins), out)?);
        }
        Ok(())
    }

    fn write(&mut self, game: &GameView<'_>) -> Result<()> {
        self.waiting.push(row(game, self.searches, self.margins));
        if self.waiting.len() >= ROWS_AT_ONCE { self.write_waiting() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.write_waiting()
    }

    fn finish(&mut self) -> Result<()> {
        self.write_waiting()?;
        match &mut self.writer {
            None => Ok(()),
            Some(writer) => Ok(writer.finish()?),
        }
    }
}

/// The columns before the axes, and those behind.
const BEFORE: [&str; 8] = [
    "game_id",
    "experiment",
    "experiment_uuid",
    "game",
    "rules",
    "cell_id",
    "definition_hash",
    "number",
];
const BEHIND: [&str; 27] = [
    "seed",
    "first_player",
    "second_player",
    "first_parameters",
    "second_parameters",
    "opening",
    "first_side",
    "outcome",
    "result",
    "termination",
    "plies",
    "plies_max",
    "moves",
    "counted",
    "not_counted_reason",
    "failure",
    "engine_revision",
    "worker",
    "started_unix_us",
    "wall_us",
    "player",
    "opponent",
    "first_engine",
    "first_engine_sha256",
    "second_engine",
    "second_engine_sha256",
    "forfeit",
];
/// Column of games with margins: the first mover's.
const MARGIN: &str = "margin";
/// Columns of searches: a word for each move, `-` if there is no value.
const SEARCHES: [&str; 5] = ["depths", "scores", "nodes", "times_us", "ended_by"];

/// The columns' names.
fn columns(axes: &[String], searches: bool, margins: bool) -> Vec<String> {
    let fixed = || BEFORE.iter().chain(&BEHIND).chain(&SEARCHES).chain(margins.then_some(&MARGIN));
    // As in an experiment's own views: an axis may have any name.
    let axis = |name: &String| {
        let taken = fixed().any(|column| column.eq_ignore_ascii_case(name));
        if taken { format!("axis_{name}") } else { name.clone() }
    };
    let owned =
        |columns: &[&str]| columns.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let mut columns = owned(&BEFORE);
    columns.extend(axes.iter().map(axis));
    columns.extend(owned(&BEHIND));
    columns.extend(margins.then(|| MARGIN.to_owned()));
    if searches {
        columns.extend(owned(&SEARCHES));
    }
    columns
}

/// A game's values, in the order of the columns.
fn row(game: &GameView<'_>, searches: bool, margins: bool) -> Vec<SqlValue> {
    let record = &game.whole.game;
    let summary = &record.summary;
    let played = game.played();
    let [first, second] = summary.players.clone();
    let [first_parameters, second_parameters] = game.parameters();
    let mut row = vec![
        SqlValue::Integer(summary.game_id),
        text(&game.experiment.name),
        text(&game.experiment.uuid),
        text(game.definition.rules.name()),
        SqlValue::Text(game.rules()),
        SqlValue::Integer(summary.game.cell.0),
        SqlValue::Text(record.definition_hash.to_string()),
        integer(summary.game.number),
    ];
    row.extend(game.cell.axes.iter().map(|value| optional(value.as_deref(), axis_value)));
    row.extend([
        integer(game.definition.seed),
        SqlValue::Text(first),
        SqlValue::Text(second),
        SqlValue::Text(first_parameters),
        SqlValue::Text(second_parameters),
        optional(played, |played| text(&played.opening)),
        optional(played, |played| text(played.end.first_side.name())),
        optional(played, |played| text(played.end.outcome.name())),
        optional(played, |played| text(score(played.end.outcome))),
        optional(played, |played| text(played.end.termination.name())),
        optional(played, |played| SqlValue::Integer(played.end.plies.into())),
        optional(game.definition.max_plies, |plies| SqlValue::Integer(plies.into())),
        optional(record.moves.as_deref(), |moves| words(moves, |mv| mv.mv.clone())),
        SqlValue::Integer(summary.not_counted_reason.is_none().into()),
        optional(summary.not_counted_reason.as_deref(), text),
        optional(game.failure(), text),
        optional(played, |played| SqlValue::Integer(played.engine_revision.into())),
        optional(game.whole.worker_name.as_deref(), text),
        optional(game.whole.started_unix_us, SqlValue::Integer),
        optional(summary.wall_us, integer),
        text(&game.cell.player),
        text(&game.cell.opponent),
    ]);
    for engine in game.engines() {
        let [name, sha256] = engine.map_or([None, None], |texts| texts.map(Some));
        row.extend([name, sha256].map(|value| optional(value, SqlValue::Text)));
    }
    row.push(optional(game.forfeit(), text));
    if margins {
        let margin = played.and_then(|played| played.end.margin);
        row.push(optional(margin, |margin| SqlValue::Integer(margin.into())));
    }
    if searches {
        let of_moves = |word: fn(&MoveRecord) -> String| {
            optional(record.moves.as_deref(), |moves| words(moves, word))
        };
        row.extend([
            of_moves(|mv| mv.search.depth.to_string()),
            of_moves(|mv| {
                mv.search.score.map_or_else(|| "-".to_owned(), |score| score.to_string())
            }),
            of_moves(|mv| mv.search.nodes.to_string()),
            of_moves(|mv| mv.wall_us.to_string()),
            of_moves(|mv| mv.search.ended_by.name().to_owned()),
        ]);
    }
    row
}

fn words(moves: &[MoveRecord], word: impl Fn(&MoveRecord) -> String) -> SqlValue {
    SqlValue::Text(moves.iter().map(word).collect::<Vec<_>>().join(" "))
}

fn text(text: &str) -> SqlValue {
    SqlValue::Text(text.to_owned())
}

/// For numbers below 2^53.
fn integer(number: u64) -> SqlValue {
    SqlValue::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn optional<T>(value: Option<T>, read: impl FnOnce(T) -> SqlValue) -> SqlValue {
    value.map_or(SqlValue::Null, read)
}

/// Converts an axis's value: to a number if it is written like one, otherwise to text.
fn axis_value(value: &str) -> SqlValue {
    let is_plain = value.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match (value.parse(), value.parse::<f64>()) {
        (Ok(integer), _) if is_plain => SqlValue::Integer(integer),
        (_, Ok(real)) if is_plain && real.is_finite() => SqlValue::Real(real),
        _ => text(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only columns that are present reserve a name.
    #[test]
    fn an_axis_called_like_a_column_is_renamed() {
        let axes = ["margin", "Seed", "depth"].map(str::to_owned);
        let named = |margins: bool| {
            let columns = columns(&axes, false, margins);
            columns[BEFORE.len()..BEFORE.len() + axes.len()].join(" ")
        };
        assert_eq!(named(false), "margin axis_Seed depth");
        assert_eq!(named(true), "axis_margin axis_Seed depth");
    }
}
