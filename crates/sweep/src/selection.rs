//! Selections of cells: by values of axes, and players by name.

use std::collections::BTreeMap;

use spelrum_toml::{Entry, Fault, Node, Table, Tree, did_you_mean};

use crate::axes::{Axis, identity};
use crate::fields::texts;
use crate::player_template::Variant;
use crate::players::Players;

/// Maximum number of comparisons of selecting tables with tables on axes (invariant 9).
const COMPARISONS_MAX: usize = 1 << 22;

/// The named axes, with the indices of their selected values, ascending.
pub(super) type SelectedValues = Vec<(usize, Vec<u32>)>;

/// Resolves selections among these axes and players.
pub(super) struct Selector<'a> {
    axes: &'a [Axis],
    players: &'a Players,
    /// For axes named so far: each value by its meaning.
    indices: BTreeMap<usize, BTreeMap<String, u32>>,
    comparisons: usize,
}

impl<'a> Selector<'a> {
    pub(super) fn new(axes: &'a [Axis], players: &'a Players) -> Self {
        Self { axes, players, indices: BTreeMap::new(), comparisons: 0 }
    }

    /// The axis of this name, in a table that may also have `other_keys`.
    pub(super) fn axis(
        &self,
        Entry { key, key_place, .. }: &Entry,
        other_keys: &[&str],
    ) -> Result<usize, Fault> {
        let names = || self.axes.iter().map(|axis| axis.name.as_str());
        names().position(|name| name == key).ok_or_else(|| {
            let varies = |variant: &&Variant| {
                let varied = &self.players.templates[variant.template].varied;
                varied.iter().any(|varied| varied.key == *key)
            };
            let remedy = match self.players.variants.iter().find(varies) {
                Some(variant) => {
                    format!("name the player that varies it, such as player = \"{}\"", variant.name)
                }
                None => did_you_mean(key, "keys", names().chain(other_keys.iter().copied())),
            };
            Fault::at(key_place, format!("there is no axis `{key}`"), remedy)
        })
    }

    /// The values of an axis selected by `wanted`, or by a member of such a list.
    pub(super) fn values(&mut self, axis: usize, wanted: &Node) -> Result<Vec<u32>, Fault> {
        // The value of an axis may itself be a list.
        let mut selected = self.selected_by(axis, wanted)?;
        if !selected.is_empty() {
            return Ok(selected);
        }
        let listed = match &wanted.tree {
            Tree::Array(nodes) if !nodes.is_empty() => nodes.as_slice(),
            Tree::Array(_) | Tree::Scalar(_) | Tree::Table(_) => std::slice::from_ref(wanted),
        };
        for node in listed {
            let indices = self.selected_by(axis, node)?;
            if indices.is_empty() {
                let Axis { name, values, .. } = &self.axes[axis];
                return Err(Fault::at(
                    &node.place,
                    format!("the axis `{name}` has no value {}", shown(node)),
                    list_values(values),
                ));
            }
            selected.extend(indices);
        }
        selected.sort_unstable();
        selected.dedup();
        Ok(selected)
    }

    /// The values that one value selects.
    fn selected_by(&mut self, axis: usize, wanted: &Node) -> Result<Vec<u32>, Fault> {
        let values = (0..).zip(&self.axes[axis].values);
        let Tree::Table(table) = &wanted.tree else {
            let by_identity = self
                .indices
                .entry(axis)
                .or_insert_with(|| values.map(|(index, value)| (identity(value), index)).collect());
            return Ok(by_identity.get(&identity(wanted)).copied().into_iter().collect());
        };
        self.comparisons += self.axes[axis].values.len() * (table.entries.len() + 1);
        if self.comparisons > COMPARISONS_MAX {
            let problem = "the tables that name cells, and those on axes, are too many to compare";
            return Err(Fault::at(&wanted.place, problem, "write fewer tables"));
        }
        let is_selected = |(index, value)| has_entries(value, table).then_some(index);
        Ok(values.filter_map(is_selected).collect())
    }

    /// The names of these variants.
    pub(super) fn names(&self, variants: &[bool]) -> Vec<&'a str> {
        let chosen = self.players.variants.iter().zip(variants).filter(|(_, chosen)| **chosen);
        chosen.map(|(variant, _)| variant.name.as_str()).collect()
    }

    /// For each variant, whether it is named.
    pub(super) fn players(&self, Entry { key, value, .. }: &Entry) -> Result<Vec<bool>, Fault> {
        let label = format!("`{key}`");
        let example = format!("{key} = \"alphabeta\", or a list of players");
        let names = match &value.tree {
            Tree::Array(_) => texts(value, &label, &example)?,
            Tree::Scalar(_) | Tree::Table(_) => vec![(value.text(&label, &example)?, &value.place)],
        };
        let mut named = vec![false; self.players.variants.len()];
        for (name, place) in names {
            for variant in self.players.named(name, place)? {
                named[variant] = true;
            }
        }
        Ok(named)
    }
}

/// Whether a value is a table that has all these entries.
fn has_entries(value: &Node, wanted: &Table) -> bool {
    let Tree::Table(table) = &value.tree else { return false };
    wanted.entries.iter().all(|Entry { key, value: wanted, .. }| {
        table.get(key).is_some_and(|entry| identity(&entry.value) == identity(wanted))
    })
}

fn shown(node: &Node) -> String {
    match &node.tree {
        Tree::Table(_) => format!("with {node}"),
        Tree::Scalar(_) | Tree::Array(_) => format!("`{node}`"),
    }
}

/// A remedy that lists the values of an axis.
fn list_values(values: &[Node]) -> String {
    const LISTED_MAX: usize = 16;
    let shown = |node: &Node| match &node.tree {
        Tree::Table(_) => format!("{{ {node} }}"),
        Tree::Scalar(_) | Tree::Array(_) => node.to_string(),
    };
    let listed: Vec<String> = values.iter().take(LISTED_MAX).map(shown).collect();
    let more = if values.len() > LISTED_MAX { ", …" } else { "" };
    format!("its values are {}{more}", listed.join(", "))
}
