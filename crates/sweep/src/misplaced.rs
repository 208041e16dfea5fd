//! Keys of the sweep itself that are placed below a header: TOML assigns them to that table.

use spelrum_toml::{Fault, Span, Table, Tree};

use crate::{key, keys};

/// The fault with another remedy, if a key only has to be moved.
pub(super) fn explain_misplaced(fault: Fault, root: &Table) -> Fault {
    let below = |is_wanted: &dyn Fn(&str, &Span, &Span) -> bool| {
        // Except `[[override]]`, which is a list and has its own `games`.
        root.entries.iter().find_map(|header| match &header.value.tree {
            Tree::Table(table) => find(table, &header.key, is_wanted),
            Tree::Array(_) | Tree::Scalar(_) => None,
        })
    };
    let remedy = |key: &str, header: &str| {
        format!(
            "`{key}` is a key of the sweep, and below [{header}] it belongs to that table: move it above the first header"
        )
    };
    match &fault.place {
        None => {
            let missing =
                fault.problem.strip_prefix('`').and_then(|rest| rest.strip_suffix("` is missing"));
            let Some(missing) = missing else { return fault };
            let Some((key, header, place)) = below(&|key, _, _| key == missing) else {
                return fault;
            };
            Fault { remedy: remedy(&key, &header), place: Some(place), ..fault }
        }
        Some(at) => {
            let is_unknown = ["unknown key", "has no parameter", "must be a list"];
            if !is_unknown.iter().any(|words| fault.problem.contains(words)) {
                return fault;
            }
            let misplaced = below(&|key, key_place, place| {
                let is_at = |place: &Span| place.start <= at.start && at.end <= place.end;
                is_missing_sweep_key(key, root) && (is_at(key_place) || is_at(place))
            });
            match misplaced {
                Some((key, header, _)) => Fault { remedy: remedy(&key, &header), ..fault },
                None => fault,
            }
        }
    }
}

/// Whether the key exists for sweeps but is missing in this file.
fn is_missing_sweep_key(key: &str, root: &Table) -> bool {
    key::names(keys::SWEEP).any(|name| name == key) && root.get(key).is_none()
}

/// The first such entry of a table and the tables below it: its key, its header, and the key's place.
fn find(
    table: &Table,
    header: &str,
    is_wanted: &dyn Fn(&str, &Span, &Span) -> bool,
) -> Option<(String, String, Span)> {
    table.entries.iter().find_map(|entry| {
        if let Tree::Table(below) = &entry.value.tree
            && let entry_below @ Some(_) =
                find(below, &format!("{header}.{}", entry.key), is_wanted)
        {
            return entry_below;
        }
        is_wanted(&entry.key, &entry.key_place, &entry.value.place)
            .then(|| (entry.key.clone(), header.to_owned(), entry.key_place.clone()))
    })
}
