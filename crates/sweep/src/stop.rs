//! `stop`: when a cell has enough games.

use spelrum_statistics::{EloModel, SPRT_ELO_MAX, SPRT_ERROR_MAX, Sprt, StopRule};
use spelrum_toml::{Fault, Node, Table, did_you_mean};

use crate::keys;

const PRECISION_EXAMPLE: &str = "stop = { precision = 0.03 }";
const SPRT_EXAMPLE: &str = "stop = { sprt = { elo0 = 0, elo1 = 20 } }";

/// Default error rates of an SPRT (sequential probability ratio test).
const SPRT_ERROR: f64 = 0.05;

/// Reads `stop`.
pub(super) fn read(node: &Node) -> Result<StopRule, Fault> {
    let table = node.table("`stop`", PRECISION_EXAMPLE)?;
    keys::check(table, "`stop`", keys::STOP)?;
    match (table.get("precision"), table.get("sprt")) {
        (Some(precision), None) => read_precision(&precision.value),
        (None, Some(sprt)) => read_sprt(&sprt.value).map(StopRule::Sprt),
        (None, None) => Err(Fault::at(
            &node.place,
            "`stop` does not say when",
            format!("write, for example, {PRECISION_EXAMPLE} or {SPRT_EXAMPLE}; or remove `stop`"),
        )),
        (Some(_), Some(sprt)) => Err(Fault::at(
            &sprt.key_place,
            "a cell ends by a precision or by a sequential test, not by both",
            "keep `precision` to know the score well, or `sprt` to know which of two strengths is right",
        )),
    }
}

fn read_precision(node: &Node) -> Result<StopRule, Fault> {
    let points = node.number("`precision`", PRECISION_EXAMPLE)?;
    StopRule::from_precision(points).ok_or_else(|| {
        Fault::at(
            &node.place,
            format!("no interval of a score is {points} points to either side"),
            "choose a number of points between 0 and 0.5, both excluded: 0.03 takes some 500 pairs of \
             games between equals, half of it four times as many",
        )
    })
}

fn read_sprt(node: &Node) -> Result<Sprt, Fault> {
    let table = node.table("`sprt`", SPRT_EXAMPLE)?;
    keys::check(table, "`sprt`", keys::SPRT)?;
    let strength = |key: &str| {
        let Some(entry) = table.get(key) else {
            let remedy = format!("write both strengths, for example {SPRT_EXAMPLE}");
            return Err(Fault::at(&node.place, format!("`sprt` has no `{key}`"), remedy));
        };
        let elo = entry.value.number(&format!("`{key}`"), SPRT_EXAMPLE)?;
        if elo.abs() <= SPRT_ELO_MAX {
            return Ok((elo, entry));
        }
        Err(Fault::at(
            &entry.value.place,
            format!("`{key}` is {elo} Elo"),
            format!("strengths that can be tested are from -{SPRT_ELO_MAX} to {SPRT_ELO_MAX} Elo"),
        ))
    };
    let ((elo0, _), (elo1, entry)) = (strength("elo0")?, strength("elo1")?);
    if elo0 >= elo1 {
        return Err(Fault::at(
            &entry.value.place,
            format!("`elo1`, {elo1}, is not more than `elo0`, {elo0}"),
            "`elo1` is the strength to be shown, `elo0` the smaller one it is tested against",
        ));
    }
    let [alpha, beta] = [error(table, "alpha")?, error(table, "beta")?];
    let model = model(table)?;
    Sprt::new(elo0, elo1, alpha, beta, model).ok_or_else(|| {
        Fault::at(
            &node.place,
            "this is not a sequential test",
            format!("write, for example, {SPRT_EXAMPLE}"),
        )
    })
}

fn error(table: &Table, key: &str) -> Result<f64, Fault> {
    let Some(entry) = table.get(key) else { return Ok(SPRT_ERROR) };
    let probability = entry.value.number(&format!("`{key}`"), SPRT_EXAMPLE)?;
    if probability > 0.0 && probability < SPRT_ERROR_MAX {
        return Ok(probability);
    }
    Err(Fault::at(
        &entry.value.place,
        format!("`{key}` is {probability}"),
        format!(
            "it is a probability of an error between 0 and {SPRT_ERROR_MAX}, both excluded, such as 0.05"
        ),
    ))
}

fn model(table: &Table) -> Result<EloModel, Fault> {
    let Some(entry) = table.get("model") else { return Ok(EloModel::default()) };
    let name = entry.value.text("`model`", "model = \"normalized\"")?;
    EloModel::named(name).ok_or_else(|| {
        let names = EloModel::ALL.iter().map(|model| model.name());
        Fault::at(
            &entry.value.place,
            format!("`{name}` is not a model of Elo"),
            did_you_mean(name, "models", names),
        )
    })
}
