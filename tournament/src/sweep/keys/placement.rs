//! The keys of `placement`.

use serde_json::{Value as Json, json};

use super::{Key, Kind};
use crate::labels::{LABEL_BYTES_MAX, LABELS_MAX};

/// The keys of `placement`.
pub(in crate::sweep) static PLACEMENT: [Key; 2] = [
    Key::new(
        "require",
        "Required labels",
        "Labels that a worker must have to get games of this sweep, each of them: \"site=lab2\", or \"gpu\", whatever its \
         value is.",
        Kind::Own(labels),
    ),
    Key::new(
        "prefer",
        "Preferred labels",
        "Workers that have all these labels get games of this sweep sooner than those of others of the same priority, \
         workers that lack one get them later.",
        Kind::Own(labels),
    ),
];

fn labels() -> Json {
    let text =
        format!("^[A-Za-z0-9_.-]{{1,{LABEL_BYTES_MAX}}}(=[A-Za-z0-9_.-]{{0,{LABEL_BYTES_MAX}}})?$");
    json!({
        "type": "array",
        "items": { "type": "string", "pattern": text },
        "maxItems": LABELS_MAX,
    })
}
