//! `use` in a player: the table that an axis has at a point, merged into the player.

use spelrum_toml::{Entry, Fault, Node, Tree, did_you_mean};

use crate::axes::Axis;
use crate::player_template::PlayerTemplate;
use crate::resolve::PlayerEntry;
use crate::template::reference;
use crate::{key, keys};

const EXAMPLE: &str = "use = \"$selection\", an axis whose values are tables";

/// Reads `use`: the references, each a text.
pub(super) fn read(node: &Node) -> Result<Vec<Node>, Fault> {
    let nodes = match &node.tree {
        Tree::Array(nodes) => nodes.clone(),
        Tree::Scalar(_) | Tree::Table(_) => vec![node.clone()],
    };
    for node in &nodes {
        let text = node.text("`use`", EXAMPLE)?;
        let problem = match reference(text) {
            None => format!("`use` takes axes, and \"{text}\" is not one"),
            Some((_, Some(_))) => format!("`use` merges whole tables, and \"{text}\" is a part"),
            Some((_, None)) => continue,
        };
        return Err(Fault::at(&node.place, problem, format!("write, for example, {EXAMPLE}")));
    }
    Ok(nodes)
}

/// The axes whose tables a player uses, in the order in which it names them.
pub(super) fn axes(template: &PlayerTemplate, axes: &[Axis]) -> Result<Vec<usize>, Fault> {
    let mut used = Vec::<usize>::new();
    for node in &template.uses {
        let axis = axis(node, axes)?;
        for entry in axes[axis].values.iter().flat_map(entries) {
            check_key(entry, template, used.iter().map(|&axis| &axes[axis]), &axes[axis])?;
        }
        used.push(axis);
    }
    Ok(used)
}

/// The axes whose tables the table of a course uses.
pub(super) fn axes_of_course(node: &Node, axes: &[Axis]) -> Result<Vec<usize>, Fault> {
    let Tree::Table(table) = &node.tree else { return Ok(Vec::new()) };
    let Some(entry) = table.get("use") else { return Ok(Vec::new()) };
    read(&entry.value)?.iter().map(|node| axis(node, axes)).collect()
}

/// The table of a course at a point, where the tables of these axes override its own settings.
pub(super) fn merge_course(node: &Node, used: &[usize], axes: &[Axis], point: &[u32]) -> Node {
    let Tree::Table(table) = &node.tree else { return node.clone() };
    let mut table = table.clone();
    table.entries.retain(|entry| entry.key != "use");
    let tables = used.iter().map(|&axis| &axes[axis].values[point[axis] as usize]);
    for entry in tables.flat_map(entries) {
        table.entries.retain(|existing| existing.key != entry.key);
        table.entries.push(entry.clone());
    }
    Node { place: node.place.clone(), tree: Tree::Table(table) }
}

/// The axis that a reference names, all of whose values must be tables.
fn axis(node: &Node, axes: &[Axis]) -> Result<usize, Fault> {
    let name = node.text("`use`", EXAMPLE)?.trim_start_matches('$');
    let Some(index) = axes.iter().position(|axis| axis.name == name) else {
        let remedy = match axes {
            [] => "add axes, for example `[axes]` and below it \
                   `selection = [{ population = 20 }, { population = 40 }]`"
                .to_owned(),
            _ => did_you_mean(name, "axes", axes.iter().map(|axis| axis.name.as_str())),
        };
        return Err(Fault::at(&node.place, format!("there is no axis `{name}`"), remedy));
    };
    let is_table = |value: &&Node| matches!(value.tree, Tree::Table(_));
    match axes[index].values.iter().find(|value| !is_table(value)) {
        None => Ok(index),
        Some(value) => Err(Fault::at(
            &value.place,
            format!("this value of the axis `{name}` is {}, and `use` merges tables", value.kind()),
            format!(
                "make it a table such as {{ depth = 3 }}, or write \"${name}\" as the value of a \
                 parameter"
            ),
        )),
    }
}

/// Refuses a key that is not a parameter, or that the player gets from two sources.
fn check_key<'a>(
    entry: &Entry,
    template: &PlayerTemplate,
    mut before: impl Iterator<Item = &'a Axis>,
    axis: &Axis,
) -> Result<(), Fault> {
    let Entry { key, key_place, .. } = entry;
    let name = &template.name;
    let fault = |problem, remedy: &str| Err(Fault::at(key_place, problem, remedy));
    if key::names(keys::PLAYER).any(|reserved| reserved == key) {
        return fault(
            format!("`{key}` of the player `{name}` cannot come from an axis"),
            "write it in the player itself",
        );
    }
    if template.varied.iter().any(|varied| varied.key == *key) {
        return fault(
            format!("the player `{name}` varies `{key}`, which it also has from `{}`", axis.name),
            "leave one of them out",
        );
    }
    if let Some(other) = before.find(|other| other.keys.contains_key(key)) {
        return fault(
            format!(
                "the player `{name}` has `{key}` from `{}`, and from `{}`",
                other.name, axis.name
            ),
            "let one of the axes alone have it",
        );
    }
    Ok(())
}

/// Overrides the player's settings with those of the tables at a point.
pub(super) fn merge<'a>(
    player_entries: &mut Vec<PlayerEntry<'a>>,
    used: &[usize],
    axes: &'a [Axis],
    point: &[u32],
) {
    let tables = used.iter().map(|&axis| &axes[axis].values[point[axis] as usize]);
    for Entry { key, key_place, value } in tables.flat_map(entries) {
        let merged = PlayerEntry { key, key_place, value };
        match player_entries.iter_mut().find(|entry| entry.key == key) {
            Some(existing) => *existing = merged,
            None => player_entries.push(merged),
        }
    }
}

fn entries(node: &Node) -> &[Entry] {
    match &node.tree {
        Tree::Table(table) => &table.entries,
        Tree::Scalar(_) | Tree::Array(_) => &[],
    }
}
