//! Stop rules as rows, shared by cells.

use std::collections::BTreeMap;

use spelrum_statistics::{EloModel, Sprt};
use spelrum_statistics::{Precision, StopRule};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::write::transaction::Transaction;

/// A row of `stop_rules`, or its columns in a join: NULL for a cell without a rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleRow {
    pub(crate) precision: Option<f64>,
    /// Whether the rule is read over pairs even where openings repeat.
    pub(crate) over_pairs: bool,
    pub(crate) elo0: Option<f64>,
    pub(crate) elo1: Option<f64>,
    pub(crate) alpha: Option<f64>,
    pub(crate) beta: Option<f64>,
    pub(crate) model: Option<String>,
}

impl RuleRow {
    /// The rule, if any.
    pub(crate) fn read(&self) -> Option<StopRule> {
        if let Some(precision) = self.precision {
            let precision = Precision::new(precision)?;
            let over_pairs = self.over_pairs.then(|| precision.over_pairs());
            return Some(StopRule::Precision(over_pairs.unwrap_or(precision)));
        }
        let model = self.model.as_deref().and_then(EloModel::named)?;
        let sprt = Sprt::new(self.elo0?, self.elo1?, self.alpha?, self.beta?, model)?;
        Some(StopRule::Sprt(if self.over_pairs { sprt.over_pairs() } else { sprt }))
    }
}

impl From<StopRule> for RuleRow {
    fn from(rule: StopRule) -> Self {
        match rule {
            StopRule::Precision(precision) => Self {
                precision: Some(precision.points()),
                over_pairs: precision.is_over_pairs(),
                ..Self::default()
            },
            StopRule::Sprt(sprt) => Self {
                precision: None,
                over_pairs: sprt.is_over_pairs(),
                elo0: Some(sprt.elo0()),
                elo1: Some(sprt.elo1()),
                alpha: Some(sprt.alpha()),
                beta: Some(sprt.beta()),
                model: Some(sprt.model().name().to_owned()),
            },
        }
    }
}

/// All rules by their ids; few, since people write them.
pub(crate) async fn all(
    connection: &mut SqliteConnection,
) -> Result<BTreeMap<i64, StopRule>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT stop_rule_id, precision, over_pairs, elo0, elo1, alpha, beta, model
        FROM stop_rules"#
    )
    .fetch_all(connection)
    .await?;
    let rules = rows.into_iter().filter_map(|row| {
        let (precision, over_pairs) = (row.precision, row.over_pairs);
        let (elo0, elo1) = (row.elo0, row.elo1);
        let (alpha, beta, model) = (row.alpha, row.beta, row.model);
        let rule = RuleRow { precision, over_pairs, elo0, elo1, alpha, beta, model }.read()?;
        Some((row.stop_rule_id, rule))
    });
    Ok(rules.collect())
}

/// The id of a stored rule.
pub(crate) async fn find(
    connection: &mut SqliteConnection,
    rule: StopRule,
) -> Result<Option<i64>, StoreError> {
    let rules = all(connection).await?;
    Ok(rules.into_iter().find_map(|(id, there)| (there == rule).then_some(id)))
}

/// The id of a rule, which is stored if new.
pub(crate) async fn stop_rule(
    tx: &mut Transaction<'_>,
    rule: Option<StopRule>,
) -> Result<Option<i64>, StoreError> {
    let Some(rule) = rule else { return Ok(None) };
    if let Some(id) = find(tx.connection(), rule).await? {
        return Ok(Some(id));
    }
    let text = rule.to_string();
    let kind = match rule {
        StopRule::Precision(_) => "precision",
        StopRule::Sprt(_) => "sprt",
    };
    let RuleRow { precision, over_pairs, elo0, elo1, alpha, beta, model } = rule.into();
    let id = sqlx::query!(
        "INSERT INTO stop_rules (rule, kind, precision, over_pairs, elo0, elo1, alpha, beta, model)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        text,
        kind,
        precision,
        over_pairs,
        elo0,
        elo1,
        alpha,
        beta,
        model
    )
    .execute(tx.connection())
    .await?
    .last_insert_rowid();
    Ok(Some(id))
}
