//! Users' own queries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The path of queries: `POST` with a [`RunQuery`] as JSON. The answer is lines of JSON: a [`QueryHead`], an array for
/// each row, and a [`QueryEnd`].
pub const QUERY_PATH: &str = "/api/v1/sql";

/// Runs one read-only SQL statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunQuery {
    /// The statement.
    #[schemars(length(min = 1))]
    pub sql: String,
    /// Most rows of the answer; 0 for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_max: Option<u32>,
}

/// The first line of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueryHead {
    /// The columns' names.
    pub columns: Vec<String>,
}

/// The last line of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum QueryEnd {
    /// All rows have come, or as many as were asked for.
    Done {
        /// Whether there are more.
        truncated: bool,
    },
    /// The query has failed after its first rows.
    Failed {
        /// Why, as problem details.
        problem: serde_json::Value,
    },
}
