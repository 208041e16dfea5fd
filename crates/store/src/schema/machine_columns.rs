//! Stored labels and limits of workers' machines.

use std::collections::BTreeMap;

use spelrum_answers::CpuQuota;
use spelrum_model::labels::{LABELS_MAX, Label};

use crate::error::StoreError;
use crate::schema::numbers::integer;

/// Encodes labels for storage.
pub(crate) fn labels_column(labels: &[Label]) -> Result<String, StoreError> {
    let values: BTreeMap<&str, &str> =
        labels.iter().map(|label| (&*label.name, &*label.value)).collect();
    serde_json::to_string(&values)
        .map_err(|error| StoreError::Sql(sqlx::Error::Encode(error.into())))
}

/// Parses stored labels, skipping invalid ones.
pub(crate) fn labels_of(column: &str) -> Vec<Label> {
    let values: BTreeMap<String, String> = serde_json::from_str(column).unwrap_or_default();
    let labels = values.into_iter().map(|(name, value)| Label { name, value });
    labels.filter(|label| label.check().is_ok()).take(LABELS_MAX).collect()
}

/// Encodes a limit of CPU time: the amount per period, and the period.
pub(crate) fn quota_columns(quota: Option<CpuQuota>) -> [Option<i64>; 2] {
    quota.map_or([None; 2], |quota| [quota.quota_us, quota.period_us].map(|us| Some(integer(us))))
}

/// Parses a stored limit.
pub(crate) fn quota_of([quota_us, period_us]: [Option<u64>; 2]) -> Option<CpuQuota> {
    CpuQuota::new(quota_us?, period_us?)
}
