//! References to axes, `"$depth"` and `"$budget.ab"`: finding them, and replacing them at a point.

use std::collections::BTreeSet;

use spelrum_toml::{Entry, Fault, Node, Scalar, Table, Tree, did_you_mean};

use crate::axes::Axis;

/// The axes, and the keys of their tables, that a sweep uses.
#[derive(Debug, Default)]
pub(super) struct Uses {
    axes: BTreeSet<usize>,
    keys: BTreeSet<(usize, String)>,
}

impl Uses {
    /// Notes every reference in a tree, after checking it against the axes.
    pub(super) fn note(&mut self, node: &Node, axes: &[Axis]) -> Result<(), Fault> {
        match &node.tree {
            Tree::Scalar(Scalar::Text(text)) => match reference(text) {
                Some(wanted) => self.note_reference(node, wanted, axes),
                None => Ok(()),
            },
            Tree::Scalar(_) => Ok(()),
            Tree::Array(nodes) => nodes.iter().try_for_each(|node| self.note(node, axes)),
            Tree::Table(table) => {
                table.entries.iter().try_for_each(|entry| self.note(&entry.value, axes))
            }
        }
    }

    /// Notes an axis whose whole tables are used.
    pub(super) fn note_tables(&mut self, axis: usize, axes: &[Axis]) {
        self.axes.insert(axis);
        self.keys.extend(axes[axis].keys.keys().map(|key| (axis, key.clone())));
    }

    /// The axes, ascending.
    pub(super) fn axes(&self) -> Vec<usize> {
        self.axes.iter().copied().collect()
    }

    /// Adds the uses of another part of the sweep.
    pub(super) fn extend(&mut self, other: &Self) {
        self.axes.extend(&other.axes);
        self.keys.extend(other.keys.iter().cloned());
    }

    /// Refuses unused axes, and unused keys of table-valued axes.
    pub(super) fn check_all_used(&self, axes: &[Axis]) -> Result<(), Fault> {
        for (index, axis) in axes.iter().enumerate() {
            if !self.axes.contains(&index) {
                return Err(Fault::at(
                    &axis.place,
                    format!("axis `{}` is never used", axis.name),
                    format!("use \"${}\" in a player, or remove the axis", axis.name),
                ));
            }
            let tables = axis.values.iter().filter_map(as_table);
            for entry in tables.flat_map(|table| &table.entries) {
                if !self.keys.contains(&(index, entry.key.clone())) {
                    return Err(Fault::at(
                        &entry.key_place,
                        format!("`{}` of axis `{}` is never used", entry.key, axis.name),
                        format!(
                            "use \"${}.{}\", or remove the key; use = \"${}\" in a player takes \
                             all keys",
                            axis.name, entry.key, axis.name
                        ),
                    ));
                }
            }
        }
        Ok(())
    }

    fn note_reference(
        &mut self,
        node: &Node,
        (name, key): (&str, Option<&str>),
        axes: &[Axis],
    ) -> Result<(), Fault> {
        let Some(index) = axes.iter().position(|axis| axis.name == name) else {
            let remedy = match axes {
                [] => "add axes, for example `[axes]` and below it `depth = [1, 2, 3]`".to_owned(),
                _ => did_you_mean(name, "axes", axes.iter().map(|axis| axis.name.as_str())),
            };
            return Err(Fault::at(&node.place, format!("there is no axis `{name}`"), remedy));
        };
        check_shape(node, &axes[index], key)?;
        self.axes.insert(index);
        self.keys.extend(key.map(|key| (index, key.to_owned())));
        Ok(())
    }
}

/// Refuses a key where some value is not a table with that key, and no key where some is a table.
fn check_shape(node: &Node, axis: &Axis, key: Option<&str>) -> Result<(), Fault> {
    let name = &axis.name;
    let Some(key) = key else {
        if axis.tables == 0 {
            return Ok(());
        }
        let keys = axis.keys.keys().map(|key| format!("\"${name}.{key}\""));
        return Err(Fault::at(
            &node.place,
            format!("the axis `{name}` has tables for values"),
            format!(
                "use one of {}, or use = \"${name}\" for all of them",
                keys.collect::<Vec<_>>().join(", ")
            ),
        ));
    };
    let lacks_key = |value: &&Node| as_table(value).is_none_or(|table| table.get(key).is_none());
    if axis.keys.get(key) == Some(&axis.values.len()) {
        Ok(())
    } else if axis.tables == 0 {
        Err(Fault::at(
            &node.place,
            format!("the values of the axis `{name}` have no `{key}`"),
            format!("use \"${name}\", or make every value a table"),
        ))
    } else if !axis.keys.contains_key(key) {
        Err(Fault::at(
            &node.place,
            format!("the values of the axis `{name}` have no `{key}`"),
            did_you_mean(key, "keys", axis.keys.keys().map(String::as_str)),
        ))
    } else {
        let place = axis.values.iter().find(lacks_key).map_or(&axis.place, |value| &value.place);
        Err(Fault::at(
            place,
            format!("this value of the axis `{name}` has no `{key}`"),
            format!("give it one: \"${name}.{key}\" is used"),
        ))
    }
}

/// A tree at a point: references replaced by the axes' values, which keep their own places.
/// `point` has, for each axis, the index of its value. Every reference was noted before.
pub(super) fn substitute(node: &Node, axes: &[Axis], point: &[u32]) -> Node {
    let tree = match &node.tree {
        Tree::Scalar(Scalar::Text(text)) => match value_at(text, axes, point) {
            Some(value) => return value.clone(),
            None => node.tree.clone(),
        },
        Tree::Scalar(_) => node.tree.clone(),
        Tree::Array(nodes) => {
            Tree::Array(nodes.iter().map(|node| substitute(node, axes, point)).collect())
        }
        Tree::Table(table) => {
            let entry = |entry: &Entry| Entry {
                value: substitute(&entry.value, axes, point),
                ..entry.clone()
            };
            let entries = table.entries.iter().map(entry).collect();
            Tree::Table(Table { place: table.place.clone(), entries })
        }
    };
    Node { place: node.place.clone(), tree }
}

/// The source of a parameter's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source<'a> {
    /// Written in the player.
    Written(&'a Node),
    /// The value of an axis.
    Axis(usize),
    /// A key of the table that is the value of an axis.
    Key(usize, &'a str),
}

impl<'a> Source<'a> {
    /// The source of a node's value. Every reference was noted before.
    pub(super) fn from_node(node: &'a Node, axes: &[Axis]) -> Self {
        let Tree::Scalar(Scalar::Text(text)) = &node.tree else { return Self::Written(node) };
        let Some((name, key)) = reference(text) else { return Self::Written(node) };
        match axes.iter().position(|axis| axis.name == name) {
            None => Self::Written(node),
            Some(axis) => key.map_or(Self::Axis(axis), |key| Self::Key(axis, key)),
        }
    }

    /// The table or list as written, with references replaced at a point.
    pub(super) fn filled(self, axes: &[Axis], point: &[u32]) -> Option<Node> {
        match self {
            Self::Written(node @ Node { tree: Tree::Table(_) | Tree::Array(_), .. }) => {
                Some(substitute(node, axes, point))
            }
            Self::Written(_) | Self::Axis(_) | Self::Key(..) => None,
        }
    }

    /// The value at a point.
    pub(super) fn at(self, axes: &'a [Axis], point: &[u32]) -> Option<&'a Node> {
        let value = |axis: usize| axes[axis].values.get(point[axis] as usize);
        match self {
            Self::Written(node) => Some(node),
            Self::Axis(axis) => value(axis),
            Self::Key(axis, key) => as_table(value(axis)?)?.get(key).map(|entry| &entry.value),
        }
    }
}

fn value_at<'a>(text: &str, axes: &'a [Axis], point: &[u32]) -> Option<&'a Node> {
    let (name, key) = reference(text)?;
    let (axis, &index) = axes.iter().zip(point).find(|(axis, _)| axis.name == name)?;
    let value = axis.values.get(index as usize)?;
    match key {
        None => Some(value),
        Some(key) => as_table(value)?.get(key).map(|entry| &entry.value),
    }
}

/// The axis and the key that a text refers to, if it is a reference.
pub(super) fn reference(text: &str) -> Option<(&str, Option<&str>)> {
    let path = text.strip_prefix('$')?;
    Some(path.split_once('.').map_or((path, None), |(name, key)| (name, Some(key))))
}

fn as_table(node: &Node) -> Option<&Table> {
    match &node.tree {
        Tree::Table(table) => Some(table),
        Tree::Scalar(_) | Tree::Array(_) => None,
    }
}
