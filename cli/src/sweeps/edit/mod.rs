//! Changes to a sweep's text from the command line: `--set KEY=VALUE` and `--quick`.
//!
//! The text is changed, not its parsed form: the sweep that is planned, shown in errors, submitted and stored is one
//! text, and comments stay in place.

use std::fmt;
use std::str::FromStr;

use spelrum_engine::parse_duration_us;
use spelrum_sweep::{SweepText, sweep_keys};
use spelrum_toml::did_you_mean;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, TableLike, Value};

/// `KEY=VALUE`: one value of a sweep to be replaced or added.
///
/// The key is a dotted path, `players.ab.depth`, or the bare name of an axis. The value is a TOML value; texts need no
/// quotes, `1..3` is a range of whole numbers, and an axis takes one value or several separated by commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    path: Vec<String>,
    value: String,
    /// The assignment as given.
    text: String,
}

/// Changes to a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edits {
    /// The assignments, in this order.
    pub(crate) settings: Vec<Assignment>,
    /// Whether to play a tenth of the games, or make a tenth of the choices.
    pub(crate) quick: bool,
}

/// A sweep after the changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    /// The sweep; its name includes the changes.
    pub(crate) sweep: SweepText,
    /// The effect of [`Edits::quick`]: games or choices per cell before and after, first the sweep's own, then its overrides'.
    pub(crate) quickened: Vec<(i64, i64)>,
}

/// An invalid change, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub(crate) struct EditError {
    /// What is wrong.
    pub(crate) problem: String,
    /// What to write instead.
    pub(crate) remedy: String,
}

/// Changes a sweep's text. A text that is not TOML is returned unchanged: planning reports the error.
///
/// # Errors
/// If a setting names a key that sweeps do not have, or its value is invalid there. Planning checks the sweep as a
/// whole.
pub(crate) fn edit_sweep(sweep: &SweepText, edits: &Edits) -> Result<Edited, EditError> {
    let Edits { settings, quick } = edits;
    let unchanged = Edited { sweep: sweep.clone(), quickened: Vec::new() };
    if settings.is_empty() && !quick {
        return Ok(unchanged);
    }
    let Ok(mut document) = sweep.text.parse::<DocumentMut>() else { return Ok(unchanged) };
    let mut name = format!("{} with", sweep.name);
    for setting in settings {
        set(&mut document, setting)?;
        name.push_str(" --set ");
        name.push_str(&setting.text);
    }
    let mut quickened = Vec::new();
    if *quick {
        quickened = quicken(&mut document);
        name.push_str(" --quick");
    }
    let text = document.to_string();
    Ok(Edited { sweep: SweepText { name, text, files: sweep.files.clone() }, quickened })
}

impl FromStr for Assignment {
    type Err = EditError;

    fn from_str(text: &str) -> Result<Self, EditError> {
        let remedy = "write KEY=VALUE, for example depth=1..3, games=20 or players.ab.depth=3";
        let wrong = |problem: String| EditError { problem, remedy: remedy.to_owned() };
        let Some((key, value)) = text.split_once('=') else {
            return Err(wrong(format!("`{text}` has no `=`")));
        };
        let path = Key::parse(key.trim())
            .map_err(|_not_a_key| wrong(format!("`{}` is not a key of a sweep", key.trim())))?;
        let value = value.trim().to_owned();
        if value.is_empty() {
            return Err(wrong(format!("`{text}` has no value")));
        }
        let path = path.iter().map(|key| key.get().to_owned()).collect();
        Ok(Self { path, value, text: text.trim().to_owned() })
    }
}

/// As given.
impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Assignment {
    fn error(&self, problem: impl fmt::Display, remedy: impl Into<String>) -> EditError {
        EditError { problem: format!("--set {self}: {problem}"), remedy: remedy.into() }
    }
}

fn set(document: &mut DocumentMut, setting: &Assignment) -> Result<(), EditError> {
    let path = full_path(document, setting)?;
    let value = value(setting, is_list(&path))?;
    let Some((key, parents)) = path.split_last() else { return Ok(()) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (index, parent) in parents.iter().enumerate() {
        let missing = || Item::Value(Value::InlineTable(InlineTable::new()));
        let item = table.entry(parent).or_insert_with(missing);
        if !item.is_table_like() {
            return Err(no_table(setting, item, &path[..=index], &path[index + 1..]));
        }
        let Some(below) = item.as_table_like_mut() else { return Ok(()) };
        table = below;
    }
    put(table, key, value);
    Ok(())
}

/// The error of a path that goes through a value that is not a table.
fn no_table(setting: &Assignment, item: &Item, above: &[String], below: &[String]) -> EditError {
    let (above, below) = (above.join("."), below.join("."));
    // A game's name is short for a table.
    let name = match item.as_str() {
        Some(name) if above == "game" => format!("name = \"{name}\", "),
        Some(_) | None => String::new(),
    };
    setting.error(
        format_args!("`{above}` is not a table there, so it has no `{below}`"),
        format!("set it whole: --set '{above}={{ {name}{below} = {} }}'", setting.value),
    )
}

/// Replaces or adds a value; surrounding text such as comments stays.
fn put(table: &mut dyn TableLike, key: &str, mut value: Value) {
    value.decor_mut().clear();
    if let Some(Item::Value(before)) = table.get_mut(key) {
        *value.decor_mut() = before.decor().clone();
        *before = value;
        return;
    }
    // A table with a header is removed with the header.
    table.remove(key);
    table.insert(key, Item::Value(value));
}

/// The path from the file's root: a bare name that is not a key of a sweep is an axis.
fn full_path(document: &DocumentMut, setting: &Assignment) -> Result<Vec<String>, EditError> {
    let path = &setting.path;
    let names = |table: &str| -> Vec<String> {
        let table = document.get(table).and_then(Item::as_table_like);
        let keys = table.into_iter().flat_map(|table| table.iter());
        keys.map(|(key, _)| key.to_owned()).collect()
    };
    let (axes, players) = (names(AXES), names(PLAYERS));
    match path.as_slice() {
        [first, player, ..] if first == PLAYERS && !players.contains(player) => {
            let remedy = did_you_mean(player, "players", players.iter().map(String::as_str));
            Err(setting.error(format_args!("there is no player `{player}`"), remedy))
        }
        [first, ..] if sweep_keys().any(|key| key == first) => Ok(path.clone()),
        [axis] if axes.contains(axis) => Ok(vec![AXES.to_owned(), axis.clone()]),
        [] => Ok(Vec::new()),
        [axis, below @ ..] if axes.contains(axis) => {
            let (value, below) = (&setting.value, below.join("."));
            let remedy = format!("set its values whole: --set '{axis}=[{{ {below} = {value} }}]'");
            Err(setting
                .error(format_args!("`{axis}` is an axis, and its values have no name"), remedy))
        }
        [first, ..] => {
            let has_it = |player: &&String| {
                document.get(PLAYERS).and_then(|players| players.get(*player)?.get(first)).is_some()
            };
            let remedy = match players.iter().find(has_it) {
                Some(player) => format!("a player's value is set as {PLAYERS}.{player}.{first}"),
                None => {
                    let keys: Vec<&str> = sweep_keys().collect();
                    let names = axes.iter().map(String::as_str).chain(keys.iter().copied());
                    did_you_mean(first, "axes and keys", names)
                }
            };
            let problem =
                format_args!("`{first}` is neither a key of a sweep nor an axis of this one");
            Err(setting.error(problem, remedy))
        }
    }
}

const AXES: &str = "axes";
const PLAYERS: &str = "players";

/// Whether the key takes a list, so that a single value becomes a list of one.
fn is_list(path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    matches!(
        path.as_slice(),
        [AXES, _]
            | [PLAYERS, _, "vary", _]
            | ["anchors"]
            | ["sample", "axes"]
            | ["pairing", "between" | "round_robin"]
    )
}

/// Parses a setting's value.
fn value(setting: &Assignment, is_list: bool) -> Result<Value, EditError> {
    let text = setting.value.as_str();
    if let Some(range) = whole_range(text) {
        return Ok(Value::InlineTable(range));
    }
    if let Ok(value) = text.parse::<Value>() {
        let is_whole = !is_list || value.is_array() || value.is_inline_table();
        return Ok(if is_whole { value } else { list([value]) });
    }
    // Tries TOML first, so that a comma inside quotes is not a separator.
    if is_list && let Ok(Value::Array(values)) = format!("[{text}]").parse() {
        return Ok(list(values));
    }
    if let Some(opening) = text.chars().next().filter(|first| "[{\"'".contains(*first)) {
        return Err(setting.error(
            format_args!("what begins with {opening} here is not a TOML value"),
            "write, for example, [1, 2], { from = 1, to = 9, step = 2 } or \"text\"",
        ));
    }
    if !is_list {
        return Ok(Value::from(text));
    }
    if let Some((from, to)) = text.split_once("..")
        && [from, to].iter().all(|end| is_measure(end))
    {
        return Err(setting.error(
            "such a range goes over whole numbers",
            "write, for example, { from = \"10ms\", to = \"50ms\", step = \"10ms\" }",
        ));
    }
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if parts.iter().any(|part| part.is_empty()) {
        let problem = "there is nothing between two commas";
        return Err(setting.error(problem, "write values such as 1,2,5 or 10ms,20ms"));
    }
    Ok(list(parts.into_iter().map(|part| part.parse().unwrap_or_else(|_| Value::from(part)))))
}

fn list(values: impl IntoIterator<Item = Value>) -> Value {
    let mut list = Array::new();
    for mut value in values {
        value.decor_mut().clear();
        list.push(value);
    }
    Value::Array(list)
}

/// `1..3`, both ends included.
fn whole_range(text: &str) -> Option<InlineTable> {
    let (from, to) = text.split_once("..")?;
    let [from, to] = [from, to].map(|end| end.trim().parse::<i64>().ok());
    let (from, to) = (from?, to?);
    let mut range = InlineTable::new();
    range.insert("from", from.into());
    range.insert("to", to.into());
    range.insert("step", if from <= to { 1 } else { -1 }.into());
    Some(range)
}

fn is_measure(text: &str) -> bool {
    text.parse::<f64>().is_ok() || parse_duration_us(text).is_some()
}

/// Divides every number of games, or of choices, by ten.
fn quicken(document: &mut DocumentMut) -> Vec<(i64, i64)> {
    let mut changed = Vec::new();
    let swap_sides = document.get("swap_sides").and_then(Item::as_bool).unwrap_or(true);
    let mut quicken = |table: &mut dyn TableLike| {
        // Choices are made alone, and so not in pairs.
        for (key, together) in [("games", if swap_sides { 2 } else { 1 }), ("choices", 1)] {
            if let Some(number) = table.get(key).and_then(Item::as_integer)
                && number > 0
            {
                let fewer = tenth(number, together);
                put(table, key, fewer.into());
                changed.push((number, fewer));
            }
        }
    };
    quicken(document.as_table_mut());
    match document.get_mut("override") {
        Some(Item::ArrayOfTables(tables)) => {
            tables.iter_mut().for_each(|table| quicken(table));
        }
        Some(Item::Value(Value::Array(values))) => {
            let tables = values.iter_mut().filter_map(Value::as_inline_table_mut);
            tables.for_each(|table| quicken(table));
        }
        Some(Item::None | Item::Value(_) | Item::Table(_)) | None => {}
    }
    changed
}

/// A tenth, rounded up to whole pairs, or to whole games if sides are fixed. These are the experiment's first games,
/// so playing the rest later continues the same experiment.
fn tenth(number: i64, together: i64) -> i64 {
    let tenths = number / (10 * together) + i64::from(number % (10 * together) > 0);
    together * tenths
}

#[cfg(test)]
mod tests;
