//! Forms of keys in the schema that need no keys themselves.

use serde_json::{Value as Json, json};
use spelrum_model::seeds::SEED_END;

use crate::limits::DEFAULT_SEED;

/// The seed of every random number.
pub(super) fn seed() -> Json {
    let integer = json!({ "type": "integer", "minimum": 0, "maximum": SEED_END - 1 });
    json!({ "anyOf": [integer, reference()], "default": DEFAULT_SEED })
}

pub(super) const REFERENCE: &str = "reference";

pub(super) const RANGE: &str = "range";

pub(super) fn reference() -> Json {
    json!({ "$ref": format!("#/definitions/{REFERENCE}") })
}

pub(super) fn range() -> Json {
    json!({ "$ref": format!("#/definitions/{RANGE}") })
}

pub(super) const NAME_PATTERN: &str = "^[A-Za-z][A-Za-z0-9_-]{0,63}$";

pub(super) const DURATION_PATTERN: &str = "^[0-9]+(\\.[0-9]+)? *(us|µs|ms|s)$";

pub(super) const CLOCK_PATTERN: &str = concat!(
    "^([0-9]+ */ *)?[0-9]+(\\.[0-9]+)? *(us|µs|ms|s|m)?",
    "( *\\+ *[0-9]+(\\.[0-9]+)? *(us|µs|ms|s|m)?)?$"
);

pub(super) const TIMEOUT_PATTERN: &str = "^[0-9]+(\\.[0-9]+)? *(us|µs|ms|s|m|h)$";

/// A number, a duration, or an axis of such.
pub(super) fn led_end() -> Json {
    json!({ "anyOf": [{ "type": "number" }, { "type": "string" }] })
}

pub(super) fn unlimited() -> Json {
    json!({ "const": "unlimited" })
}

/// The name of a player, or of one of its variants.
fn player_name() -> Json {
    json!({
        "description": "A player: its name for all its variants, or one variant such as \
                        \"ab(depth=3)\".",
        "type": "string",
    })
}

/// As a key of the sweep: with units that moves do not need.
pub(super) fn timeout() -> Json {
    json!({
        "anyOf": [{ "type": "string", "pattern": TIMEOUT_PATTERN }, unlimited()],
        "default": "unlimited",
    })
}

pub(super) fn positions() -> Json {
    json!({ "type": "array", "minItems": 1, "items": { "type": "string" } })
}

pub(super) fn player_names() -> Json {
    json!({ "type": "array", "minItems": 1, "items": player_name() })
}

/// One player or several.
pub(super) fn heroes() -> Json {
    json!({ "anyOf": [player_name(), player_names()] })
}

/// At least two.
pub(super) fn groups() -> Json {
    json!({ "type": "array", "minItems": 2, "items": player_name() })
}

pub(super) fn pairs() -> Json {
    json!({
        "type": "array",
        "minItems": 1,
        "items": { "type": "array", "minItems": 2, "maxItems": 2, "items": player_name() },
    })
}

pub(super) fn anchors() -> Json {
    json!({ "type": "array", "items": player_name() })
}

pub(super) fn axes() -> Json {
    json!({
        "type": "object",
        "propertyNames": { "pattern": NAME_PATTERN, "not": { "enum": ["player", "opponent"] } },
        "additionalProperties": {
            "description": "The values of an axis: a list, or a range.",
            "anyOf": [{ "type": "array", "minItems": 1 }, range()],
        },
    })
}

/// A number or a duration.
pub(super) fn range_end() -> Json {
    json!({ "anyOf": [{ "type": "number" }, { "type": "string", "pattern": DURATION_PATTERN }] })
}

/// Builds by the names of engines.
pub(super) fn builds() -> Json {
    json!({
        "type": "object",
        "additionalProperties": { "type": "string", "pattern": "^([0-9a-f]{8,64}|awaited)$" },
    })
}

/// The name of a column of axes, or several.
pub(super) fn column_names() -> Json {
    let name = json!({ "type": "string" });
    json!({ "anyOf": [name, { "type": "array", "minItems": 1, "items": name }] })
}

/// An axis, or several.
pub(super) fn used_axes() -> Json {
    json!({ "anyOf": [reference(), { "type": "array", "minItems": 1, "items": reference() }] })
}
