//! `placement`: which workers play the sweep.

use super::fault::Fault;
use super::keys::{self, placement::PLACEMENT};
use super::tree::{Node, Table, Tree};
use crate::labels::{LABELS_MAX, WantedLabel};
use crate::placement::Placement;

const EXAMPLE: &str = "placement = { require = [\"site=lab2\"] }";

/// Reads `placement`.
pub(super) fn read(node: &Node) -> Result<Placement, Fault> {
    let table = node.table("`placement`", EXAMPLE)?;
    keys::check(table, "`placement`", &PLACEMENT)?;
    Ok(Placement { require: labels(table, "require")?, prefer: labels(table, "prefer")? })
}

fn labels(table: &Table, key: &str) -> Result<Vec<WantedLabel>, Fault> {
    let Some(entry) = table.get(key) else { return Ok(Vec::new()) };
    let what = format!("`{key}`");
    let Tree::Array(nodes) = &entry.value.tree else {
        return Err(entry.value.wrong_type(&what, "a list of labels", EXAMPLE));
    };
    if nodes.len() > LABELS_MAX {
        return Err(Fault::at(
            &entry.value.place,
            format!("{what} has {} labels", nodes.len()),
            format!("a worker has at most {LABELS_MAX}"),
        ));
    }
    let mut labels: Vec<WantedLabel> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let text = node.text(&format!("a label of {what}"), EXAMPLE)?;
        let label = WantedLabel::parse(text).map_err(|error| {
            Fault::at(
                &node.place,
                format!("\"{text}\" is not a label: {error}"),
                "write it as workers say it: \"site=lab2\"; or \"site\", whatever its value is",
            )
        })?;
        let is_other = |it: &&WantedLabel| {
            it.name == label.name
                && it.value != label.value
                && it.value.is_some()
                && label.value.is_some()
        };
        if let Some(other) = labels.iter().find(is_other) {
            return Err(Fault::at(
                &node.place,
                format!("no worker is both {other} and {label}"),
                "a worker has each label once: ask for one value, or for the name alone",
            ));
        }
        labels.push(label);
    }
    labels.sort_unstable();
    labels.dedup();
    Ok(labels)
}
