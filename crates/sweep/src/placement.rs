//! `placement`: which workers play the sweep.

use spelrum_model::labels::{LABELS_MAX, WantedLabel};
use spelrum_model::placement::{Placement, QUOTA_PERIOD_MOST};
use spelrum_model::speed::Scaling;
use spelrum_toml::{Fault, Node, Table, Tree};

use crate::keys::{self, placement::PLACEMENT};

const EXAMPLE: &str = "placement = { require = [\"site=lab2\"] }";
const BOUNDS: &str =
    "placement = { speed_min = 10_000_000, noise_max = 0.05, quota_period_max = 0.1 }";

/// Reads `placement`.
pub(super) fn read(node: &Node) -> Result<Placement, Fault> {
    let table = node.table("`placement`", EXAMPLE)?;
    keys::check(table, "`placement`", PLACEMENT)?;
    Ok(Placement {
        require: labels(table, "require")?,
        prefer: labels(table, "prefer")?,
        speed_min: speed_min(table)?,
        noise_max_permille: permille(
            table,
            "noise_max",
            1.0,
            "such as 0.05: `spelrum speed` shows a machine's noise",
        )?,
        quota_period_max_permille: permille(
            table,
            "quota_period_max",
            QUOTA_PERIOD_MOST,
            "such as 0.1, a tenth of the time for a move",
        )?,
    })
}

fn speed_min(table: &Table) -> Result<Option<u64>, Fault> {
    let Some(entry) = table.get("speed_min") else { return Ok(None) };
    let nodes = entry.value.integer("`speed_min`", BOUNDS)?;
    let speed =
        u64::try_from(nodes).ok().filter(|speed| (1..=Scaling::REFERENCE_MAX).contains(speed));
    speed.map(Some).ok_or_else(|| {
        Fault::at(
            &entry.value.place,
            format!("`speed_min` is {nodes}"),
            "it is in nodes per second, such as 10_000_000: `spelrum speed` shows a machine's",
        )
    })
}

/// A share up to `most`, in thousandths.
fn permille(table: &Table, key: &str, most: f64, such_as: &str) -> Result<Option<u32>, Fault> {
    let Some(entry) = table.get(key) else { return Ok(None) };
    let share = entry.value.number(&format!("`{key}`"), BOUNDS)?;
    if !(0.0..=most).contains(&share) {
        return Err(Fault::at(
            &entry.value.place,
            format!("`{key}` is {share}"),
            format!("it is a share from 0 to {most}, {such_as}"),
        ));
    }
    Ok(Some((share * 1_000.0).round() as u32))
}

fn labels(table: &Table, key: &str) -> Result<Vec<WantedLabel>, Fault> {
    let Some(entry) = table.get(key) else { return Ok(Vec::new()) };
    let key_text = format!("`{key}`");
    let Tree::Array(nodes) = &entry.value.tree else {
        return Err(entry.value.wrong_type(&key_text, "a list of labels", EXAMPLE));
    };
    if nodes.len() > LABELS_MAX {
        return Err(Fault::at(
            &entry.value.place,
            format!("{key_text} has {} labels", nodes.len()),
            format!("a worker has at most {LABELS_MAX}"),
        ));
    }
    let mut labels: Vec<WantedLabel> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let text = node.text(&format!("a label of {key_text}"), EXAMPLE)?;
        let label = WantedLabel::parse(text).map_err(|error| {
            Fault::at(
                &node.place,
                format!("\"{text}\" is not a label: {error}"),
                "write it as workers say it: \"site=lab2\"; or \"site\", whatever its value is",
            )
        })?;
        let is_other = |wanted: &&WantedLabel| {
            wanted.name == label.name
                && wanted.value != label.value
                && wanted.value.is_some()
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
