//! What a change of a journal holds, as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use spelrum_answers::SqlValue;

use crate::error::StoreError;

/// The tables that each copy has for itself: the schema's history, and digests of a closed file.
pub(crate) const OWN_TABLES: [&str; 2] = ["_sqlx_migrations", "table_digests"];

/// What one transaction has changed.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Changes<R = Vec<Vec<SqlValue>>> {
    /// The last migration of the owner's database.
    pub(crate) schema: i64,
    pub(crate) tables: BTreeMap<String, TableChanges<R>>,
    /// The greatest id that each table with AUTOINCREMENT has had.
    pub(crate) ids: BTreeMap<String, i64>,
    /// All views with their statements in order of creation, if any was created or dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) views: Option<Vec<(String, String)>>,
}

/// What has changed in one table.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableChanges<R = Vec<Vec<SqlValue>>> {
    pub(crate) columns: Vec<String>,
    /// Rows as they are now, each with the values of these columns.
    pub(crate) rows: R,
    /// Key columns, and the keys of rows that are there no longer.
    pub(crate) key: Vec<String>,
    pub(crate) deleted: R,
}

impl Changes<Box<RawValue>> {
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        serde_json::to_vec(self).map_err(|error| StoreError::Sql(sqlx::Error::Encode(error.into())))
    }
}

impl Changes {
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, StoreError> {
        serde_json::from_slice(bytes).map_err(|error| StoreError::Journal {
            problem: format!("a change is not one of this build: {error}"),
            remedy: "use the release of the coordinator that wrote it, or a later one".to_owned(),
        })
    }
}

/// A name as an identifier of SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
