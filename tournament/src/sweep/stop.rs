//! `stop`: when a cell has been played enough.

use super::fault::Fault;
use super::keys;
use super::tree::{Node, Scalar, Tree};
use crate::stopping::StopRule;

const EXAMPLE: &str = "stop = { precision = 0.03 }";

/// Reads `stop`.
pub(super) fn read(node: &Node) -> Result<StopRule, Fault> {
    let table = node.table("`stop`", EXAMPLE)?;
    keys::check(table, "`stop`", &keys::STOP)?;
    let Some(precision) = table.get("precision") else {
        let remedy = format!("write, for example, {EXAMPLE}; or remove `stop`");
        return Err(Fault::at(&node.place, "`stop` does not say when", remedy));
    };
    let node = &precision.value;
    let number = match node.tree {
        Tree::Scalar(Scalar::Number(number)) => number,
        Tree::Scalar(Scalar::Integer(integer)) => integer as f64,
        Tree::Scalar(Scalar::Bool(_) | Scalar::Text(_)) | Tree::Array(_) | Tree::Table(_) => {
            return Err(node.wrong_type("`precision`", "a number", EXAMPLE));
        }
    };
    StopRule::of_precision(number).ok_or_else(|| {
        Fault::at(
            &node.place,
            format!("no interval of a score is {number} points to either side"),
            "choose a number of points between 0 and 0.5, both excluded: 0.03 takes some 500 pairs of \
             games between equals, half of it four times as many",
        )
    })
}
