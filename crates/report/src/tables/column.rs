//! Columns of a table: from one list, a table for people and rows for programs.

use spelrum_answers::{CellGames, CellPhases, CellResult, MoveCost};
use spelrum_model::{CellId, Role};

use super::value::{Form, Value};
use crate::document::TitledTable;
use crate::text::Column as TextColumn;

/// A column of rows of the type `R`.
struct Column<'a, R> {
    /// Its name for programs; `None` for a column that only people see.
    key: Option<&'static str>,
    /// Its heading for people; `None` for a column that only programs see.
    heading: Option<String>,
    form: Form,
    value: Box<dyn Fn(R) -> Value<'a> + 'a>,
    /// What people read, where that does not follow from the value.
    text: Option<Box<dyn Fn(R) -> String + 'a>>,
}

/// The columns of a table, in its order.
pub(crate) struct Columns<'a, R>(Vec<Column<'a, R>>);

/// What identifies a cell in every table.
#[derive(Clone, Copy)]
pub(crate) struct CellKey<'a> {
    pub(crate) cell: CellId,
    pub(crate) axes: &'a [Option<String>],
    pub(crate) player: &'a str,
    pub(crate) opponent: &'a str,
}

impl<'a, R: Copy + 'a> Columns<'a, R> {
    pub(crate) const fn new() -> Self {
        Self(Vec::new())
    }

    fn push(
        mut self,
        key: Option<&'static str>,
        heading: Option<String>,
        form: Form,
        value: impl Fn(R) -> Value<'a> + 'a,
    ) -> Self {
        self.0.push(Column { key, heading, form, value: Box::new(value), text: None });
        self
    }

    /// Adds a column with a key and a heading.
    pub(crate) fn column<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        heading: impl Into<String>,
        form: Form,
        value: impl Fn(R) -> V + 'a,
    ) -> Self {
        self.push(Some(key), Some(heading.into()), form, move |row| value(row).into())
    }

    /// Adds a column for programs.
    pub(crate) fn key<V: Into<Value<'a>>>(
        self,
        key: &'static str,
        value: impl Fn(R) -> V + 'a,
    ) -> Self {
        self.push(Some(key), None, Form::Words, move |row| value(row).into())
    }

    /// Adds several columns for programs.
    pub(crate) fn keys<V: Into<Value<'a>>, const N: usize>(
        mut self,
        keys: [&'static str; N],
        values: impl Fn(R) -> [V; N] + Copy + 'a,
    ) -> Self {
        for (index, key) in keys.into_iter().enumerate() {
            self = self.key(key, move |row| values(row).into_iter().nth(index));
        }
        self
    }

    /// Adds a column for people.
    pub(crate) fn text<V: Into<Value<'a>>>(
        self,
        heading: impl Into<String>,
        form: Form,
        value: impl Fn(R) -> V + 'a,
    ) -> Self {
        self.push(None, Some(heading.into()), form, move |row| value(row).into())
    }

    /// Shows people other words for the last column.
    pub(crate) fn shown_as(mut self, text: impl Fn(R) -> String + 'a) -> Self {
        if let Some(column) = self.0.last_mut() {
            column.text = Some(Box::new(text));
        }
        self
    }

    /// Shows people the last column only on a condition.
    pub(crate) fn shown_if(mut self, is_shown: bool) -> Self {
        if let Some(column) = self.0.last_mut().filter(|_| !is_shown) {
            column.heading = None;
        }
        self
    }

    /// Adds these columns.
    pub(crate) fn and(mut self, columns: Self) -> Self {
        self.0.extend(columns.0);
        self
    }

    /// Makes these the columns of longer rows.
    pub(crate) fn of_part<L: Copy + 'a>(self, part: impl Fn(L) -> R + Copy + 'a) -> Columns<'a, L> {
        let columns = self.0.into_iter().map(|Column { key, heading, form, value, text }| Column {
            key,
            heading,
            form,
            value: Box::new(move |row| value(part(row))) as Box<dyn Fn(L) -> Value<'a> + 'a>,
            text: text
                .map(|text| Box::new(move |row| text(part(row))) as Box<dyn Fn(L) -> String + 'a>),
        });
        Columns(columns.collect())
    }

    /// Adds a cell's place: for people, a column for each axis of the grid. Parameters that players vary are in their
    /// names already.
    pub(crate) fn places(
        mut self,
        axes: &'a [String],
        places: impl Fn(R) -> &'a [Option<String>] + Copy + 'a,
    ) -> Self {
        self = self.key("axes", move |row| Value::places(places(row)));
        for (index, axis) in axes.iter().enumerate() {
            if Role::from_axis(axis).is_none() {
                let value = move |row| places(row).get(index).and_then(Option::as_deref);
                self = self.text(axis, Form::Digits, value);
            }
        }
        self
    }

    /// Adds a cell's id, place and players.
    pub(crate) fn cell<C: Into<CellKey<'a>>>(
        self,
        axes: &'a [String],
        cell: impl Fn(R) -> C + Copy + 'a,
    ) -> Self {
        let key = move |row| -> CellKey<'a> { cell(row).into() };
        self.key("cell_id", move |row| key(row).cell.0)
            .places(axes, move |row| key(row).axes)
            .column("player", "player", Form::Words, move |row| key(row).player)
            .column("opponent", "opponent", Form::Words, move |row| key(row).opponent)
    }

    /// Returns the keys for programs.
    pub(crate) fn programs_keys(&self) -> Vec<&'static str> {
        self.0.iter().filter_map(|column| column.key).collect()
    }

    /// Returns a row's values for programs, in the order of the keys.
    pub(crate) fn values(&self, row: R) -> Vec<Value<'a>> {
        let columns = self.0.iter().filter(|column| column.key.is_some());
        columns.map(|column| (column.value)(row)).collect()
    }

    /// Returns these rows as a table for people.
    pub(crate) fn table(
        &self,
        name: &'static str,
        title: impl Into<String>,
        rows: impl IntoIterator<Item = R>,
    ) -> TitledTable {
        let shown = self.0.iter().filter_map(|column| Some((column.heading.as_ref()?, column)));
        let shown: Vec<_> = shown.collect();
        let headings = shown.iter().map(|(heading, column)| match column.form.is_of_words() {
            true => TextColumn::words(*heading),
            false => TextColumn::numbers(*heading),
        });
        let mut table = TitledTable::new(name, title, headings.collect());
        for row in rows {
            table.row(shown.iter().map(|(_, column)| match &column.text {
                Some(text) => text(row),
                None => column.form.text(&(column.value)(row)),
            }));
        }
        table
    }
}

impl<'a> From<&'a CellResult> for CellKey<'a> {
    fn from(cell: &'a CellResult) -> Self {
        let CellResult { cell, axes, player, opponent, .. } = cell;
        Self { cell: *cell, axes, player, opponent }
    }
}

impl<'a> From<&'a MoveCost> for CellKey<'a> {
    fn from(cost: &'a MoveCost) -> Self {
        let MoveCost { cell, axes, player, opponent, .. } = cost;
        Self { cell: *cell, axes, player, opponent }
    }
}

impl<'a> From<&'a CellGames> for CellKey<'a> {
    fn from(cell: &'a CellGames) -> Self {
        let CellGames { cell, axes, player, opponent, .. } = cell;
        Self { cell: *cell, axes, player, opponent }
    }
}

impl<'a> From<&'a CellPhases> for CellKey<'a> {
    fn from(cell: &'a CellPhases) -> Self {
        let CellPhases { cell, axes, player, opponent, .. } = cell;
        Self { cell: *cell, axes, player, opponent }
    }
}
