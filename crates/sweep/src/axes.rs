//! Axes: swept conditions and their values.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_engine::parse_duration_us;
use spelrum_model::{AxisValue, Role};
use spelrum_toml::{Entry, Fault, Node, Scalar, Span, Tree};

use crate::fields::check_name;
use crate::limits::POINTS_MAX;
use crate::range;

/// Maximum number of columns over all axes: one each, or one for each key of table values.
pub(super) const COLUMNS_MAX: usize = 64;

/// One axis of the grid.
#[derive(Debug)]
pub(super) struct Axis {
    pub(super) name: String,
    /// The place of its name.
    pub(super) place: Span,
    /// Never empty. Scalars, lists or tables, each with its place.
    pub(super) values: Vec<Node>,
    /// Number of values that are tables.
    pub(super) tables: usize,
    /// The keys of these tables, with the number of tables that have each.
    pub(super) keys: BTreeMap<String, usize>,
}

/// A column of reports and SQL: an axis itself, or one key of its tables, with its content at each value of
/// the axis (a table may lack the key).
#[derive(Debug)]
pub(super) struct Column {
    /// `depth`, or `budget.ab`.
    pub(super) name: String,
    /// The index of the axis in the file.
    pub(super) axis: usize,
    /// One for each value of the axis.
    pub(super) values: Vec<Option<AxisValue>>,
}

/// Reads `[axes]`.
pub(super) fn read(node: &Node) -> Result<Vec<Axis>, Fault> {
    let table = node.table("`axes`", "[axes]")?;
    let too_many = |columns: usize| {
        let problem = format!("{columns} swept conditions are too many");
        Fault::at(&node.place, problem, format!("sweep at most {COLUMNS_MAX}"))
    };
    if table.entries.len() > COLUMNS_MAX {
        return Err(too_many(table.entries.len()));
    }
    let mut axes = Vec::<Axis>::new();
    let (mut columns, mut count) = (0, 0);
    for entry in &table.entries {
        check_name("an axis", &entry.key, &entry.key_place)?;
        // Axes become columns, and SQL does not distinguish `Depth` from `depth`.
        if axes.iter().any(|axis| axis.name.eq_ignore_ascii_case(&entry.key)) {
            return Err(Fault::at(
                &entry.key_place,
                format!("there are two axes named `{}` but for upper and lower case", entry.key),
                "rename one of them",
            ));
        }
        let taken = [Role::Player, Role::Opponent].map(Role::prefix);
        if taken.iter().any(|taken| entry.key.eq_ignore_ascii_case(taken)) {
            return Err(Fault::at(
                &entry.key_place,
                format!("an axis cannot be named `{}`", entry.key),
                "rename it: columns such as player.depth are what players `vary`",
            ));
        }
        let values = values(&format!("the axis `{}`", entry.key), &entry.key, &entry.value)?;
        count += values.len();
        if count > POINTS_MAX {
            return Err(Fault::at(
                &entry.key_place,
                format!("the axes up to this one have {count} values together"),
                format!("sweep at most {POINTS_MAX} values"),
            ));
        }
        let axis = Axis::new(entry, values);
        columns += axis.keys.len() + usize::from(axis.tables < axis.values.len());
        if columns > COLUMNS_MAX {
            return Err(too_many(columns));
        }
        axes.push(axis);
    }
    Ok(axes)
}

/// The values of a list or a range: at least one, distinct. They belong to `label`, under the key `key`.
pub(super) fn values(label: &str, key: &str, node: &Node) -> Result<Vec<Node>, Fault> {
    let values = match &node.tree {
        Tree::Array(values) => values.clone(),
        Tree::Table(table) => range::expand(table, &node.place)?,
        Tree::Scalar(_) => {
            return Err(node.wrong_type(
                label,
                "a list of values or a range",
                &format!("{key} = [{node}]"),
            ));
        }
    };
    if values.is_empty() {
        return Err(Fault::at(
            &node.place,
            format!("{label} has no values, so there is nothing to play"),
            "give it a value, or remove it",
        ));
    }
    if values.len() > POINTS_MAX {
        return Err(Fault::at(
            &node.place,
            format!("{label} has {} values", values.len()),
            format!("sweep at most {POINTS_MAX} points"),
        ));
    }
    let mut seen = BTreeSet::new();
    for value in &values {
        if !seen.insert(identity(value)) {
            return Err(Fault::at(
                &value.place,
                format!("{label} has `{value}` twice"),
                "remove one of them",
            ));
        }
    }
    Ok(values)
}

/// Identical for values of equal meaning, such as "1s" and "1000ms".
pub(super) fn identity(node: &Node) -> String {
    match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => match parse_duration_us(text) {
            Some(us) => format!("{us}us"),
            None => format!("{text:?}"),
        },
        Tree::Scalar(Scalar::Integer(integer)) => format!("{:?}", *integer as f64),
        Tree::Scalar(Scalar::Number(number)) => format!("{number:?}"),
        Tree::Scalar(Scalar::Bool(_)) => node.to_string(),
        Tree::Array(nodes) => {
            format!("[{}]", nodes.iter().map(identity).collect::<Vec<_>>().join(","))
        }
        Tree::Table(table) => {
            let mut entries: Vec<_> = table
                .entries
                .iter()
                .map(|entry| format!("{:?}={}", entry.key, identity(&entry.value)))
                .collect();
            entries.sort_unstable();
            format!("{{{}}}", entries.join(","))
        }
    }
}

impl Axis {
    fn new(entry: &Entry, values: Vec<Node>) -> Self {
        let mut keys = BTreeMap::new();
        let mut tables = 0;
        for value in &values {
            if let Tree::Table(table) = &value.tree {
                tables += 1;
                for key in table.keys() {
                    *keys.entry(key.to_owned()).or_default() += 1;
                }
            }
        }
        Self { name: entry.key.clone(), place: entry.key_place.clone(), values, tables, keys }
    }

    /// The columns of this axis, whose index is `axis`.
    pub(super) fn columns(&self, axis: usize) -> Vec<Column> {
        let mut columns = Vec::<Column>::new();
        let mut put = |name: String, index: usize, value: &Node| {
            let column = match columns.iter().position(|column| column.name == name) {
                Some(column) => &mut columns[column],
                None => {
                    columns.push(Column { name, axis, values: vec![None; self.values.len()] });
                    let last = columns.len() - 1;
                    &mut columns[last]
                }
            };
            column.values[index] = Some(axis_value(value));
        };
        for (index, value) in self.values.iter().enumerate() {
            match &value.tree {
                Tree::Table(table) => {
                    for entry in &table.entries {
                        put(format!("{}.{}", self.name, entry.key), index, &entry.value);
                    }
                }
                Tree::Scalar(_) | Tree::Array(_) => put(self.name.clone(), index, value),
            }
        }
        columns
    }
}

/// A value as reports and SQL show it.
pub(super) fn axis_value(node: &Node) -> AxisValue {
    let number = match &node.tree {
        Tree::Scalar(Scalar::Integer(integer)) => Some(*integer as f64),
        Tree::Scalar(Scalar::Number(number)) => Some(*number),
        Tree::Scalar(Scalar::Text(text)) => parse_duration_us(text).map(|us| us as f64 / 1000.0),
        // In the form of a player's parameters.
        Tree::Scalar(Scalar::Bool(switch)) => Some(f64::from(u8::from(*switch))),
        Tree::Array(_) | Tree::Table(_) => None,
    };
    AxisValue { number, text: node.to_string() }
}
