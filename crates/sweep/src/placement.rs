//! `placement`: which workers play the sweep.

use serde_json::{Value as Json, json};
use spelrum_model::labels::{LABEL_BYTES_MAX, LABELS_MAX, WantedLabel};
use spelrum_model::placement::{Placement, QUOTA_PERIOD_MAX_PERMILLE, QUOTA_PERIOD_MOST};
use spelrum_model::speed::Scaling;
use spelrum_toml::{Fault, Node, Table};

use crate::key::{self, Key, Keys, Number, Own, Whole};

const EXAMPLE: &str = "placement = { require = [\"site=lab2\"] }";

/// Reads `placement`.
pub(super) fn read(node: &Node) -> Result<Placement, Fault> {
    let table = node.table("`placement`", EXAMPLE)?;
    key::check(table, "`placement`", PLACEMENT)?;
    let permille = |share: f64| (share * 1_000.0).round() as u32;
    Ok(Placement {
        require: labels(table, &REQUIRE)?,
        prefer: labels(table, &PREFER)?,
        speed_min: SPEED_MIN.optional(table)?,
        noise_max_permille: NOISE_MAX.optional(table)?.map(permille),
        quota_period_max_permille: QUOTA_PERIOD_MAX.optional(table)?.map(permille),
    })
}

fn labels(table: &Table, key: &Key<Own>) -> Result<Vec<WantedLabel>, Fault> {
    let Some(entry) = table.get(key.name) else { return Ok(Vec::new()) };
    let key_text = format!("`{}`", key.name);
    let nodes = entry.value.list(&key_text, "a list of labels", EXAMPLE)?;
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

const REQUIRE: Key<Own> = Key::new(
    "require",
    "Required labels",
    "Labels that a worker must have, all of them, to get games of this sweep: `[\"site=lab2\", \"gpu\"]`. \
     A label is `name=value`, or a name alone for any value; a list has at most 32.",
    Own(label_list),
);

const PREFER: Key<Own> = Key::new(
    "prefer",
    "Preferred labels",
    "Workers with these labels, all of them, are given games of this sweep before those of others of the \
     same priority; workers that lack a label get them later.",
    Own(label_list),
);

const SPEED_MIN: Key<Whole<u64>> = Key::new(
    "speed_min",
    "Least speed",
    "A worker that is slower gets no timed games (nodes per second, as `spelrum speed` shows).",
    Whole { min: 1, max: Some(Scaling::REFERENCE_MAX), default: None },
)
.example("10_000_000")
.hint("nodes per second, as `spelrum speed` shows them");

const NOISE_MAX: Key<Number> = Key::new(
    "noise_max",
    "Greatest noise",
    "A worker whose speed varies by more than this share, over time and between its slots (as `spelrum \
     speed` shows), gets no timed games.",
    Number::within(0.0, 1.0),
)
.example("0.05").hint("it is a share: `spelrum speed` shows a machine's noise");

const QUOTA_PERIOD_MAX: Key<Number> = Key::new(
    "quota_period_max",
    "Longest period of a quota",
    "A worker without exclusive slots gets no timed games if its CPU quota has periods longer than this \
     share of the shortest time limit for a move.",
    Number::within(0.0, QUOTA_PERIOD_MOST).or(QUOTA_PERIOD_MAX_PERMILLE as f64 / 1e3),
)
.hint("0.1 is a tenth of the time for a move");

/// The keys of `placement`.
pub(super) const PLACEMENT: Keys = &[&REQUIRE, &PREFER, &SPEED_MIN, &NOISE_MAX, &QUOTA_PERIOD_MAX];

fn label_list() -> Json {
    let text =
        format!("^[A-Za-z0-9_.-]{{1,{LABEL_BYTES_MAX}}}(=[A-Za-z0-9_.-]{{0,{LABEL_BYTES_MAX}}})?$");
    json!({
        "type": "array",
        "items": { "type": "string", "pattern": text },
        "maxItems": LABELS_MAX,
    })
}
