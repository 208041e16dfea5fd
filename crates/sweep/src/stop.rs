//! `stop`: when a cell has enough games.

use spelrum_statistics::{EloModel, SPRT_ELO_MAX, SPRT_ERROR_MAX, Sprt, StopRule};
use spelrum_toml::{Fault, Node};

use crate::key::{self, Key, Keys, Number, Of, Word};

const PRECISION_EXAMPLE: &str = "stop = { precision = 0.03 }";
const SPRT_EXAMPLE: &str = "stop = { sprt = { elo0 = 0, elo1 = 20 } }";

/// Reads `stop`.
pub(super) fn read(node: &Node) -> Result<StopRule, Fault> {
    let table = node.table("`stop`", PRECISION_EXAMPLE)?;
    key::check(table, "`stop`", STOP)?;
    match (PRECISION.optional(table)?, table.get("sprt")) {
        (Some(points), None) => {
            StopRule::from_precision(points).ok_or_else(|| nonsense(node, PRECISION_EXAMPLE))
        }
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

fn read_sprt(node: &Node) -> Result<Sprt, Fault> {
    let table = node.table("`sprt`", SPRT_EXAMPLE)?;
    key::check(table, "`sprt`", SPRT)?;
    let [elo0, elo1] = [ELO0.read(table)?, ELO1.read(table)?];
    if elo0 >= elo1 {
        return Err(Fault::at(
            ELO1.place(table, &node.place),
            format!("`elo1`, {elo1}, is not more than `elo0`, {elo0}"),
            "`elo1` is the strength to be shown, `elo0` the smaller one it is tested against",
        ));
    }
    let (alpha, beta) = (ALPHA.read(table)?, BETA.read(table)?);
    Sprt::new(elo0, elo1, alpha, beta, MODEL.read(table)?)
        .ok_or_else(|| nonsense(node, SPRT_EXAMPLE))
}

/// A rule that statistics refuses although each of its values is within its bounds.
fn nonsense(node: &Node, example: &str) -> Fault {
    Fault::at(&node.place, "a cell cannot end by this", format!("write, for example, {example}"))
}

const PRECISION: Key<Number> = Key::new(
    "precision",
    "Precision",
    "Half the width of the 95% interval of the cell's score, in points of a game: a win is one.",
    Number::between(0.0, 0.5),
)
.example("0.03")
.hint("0.03 takes some 500 pairs of games between equals, half of it four times as many");

/// The keys of `stop`, exactly one of which is given.
pub(super) const STOP: Keys = &[
    &PRECISION,
    &Key::new(
        "sprt",
        "Sequential test",
        "A cell ends when an SPRT (sequential probability ratio test) accepts H0 (Elo difference `elo0`) or \
         H1 (`elo1`) for its first player.",
        Of(SPRT),
    ),
];

const ELO0: Key<Number> = Key::new(
    "elo0",
    "",
    "The smaller hypothesis about the first player's strength, in Elo.",
    Number::within(-SPRT_ELO_MAX, SPRT_ELO_MAX),
)
.required()
.example("0");

const ELO1: Key<Number> = Key::new(
    "elo1",
    "",
    "The larger hypothesis about the first player's strength, in Elo.",
    Number::within(-SPRT_ELO_MAX, SPRT_ELO_MAX),
)
.required()
.example("20");

const ALPHA: Key<Number> = Key::new(
    "alpha",
    "",
    "The allowed probability of accepting `elo1` when `elo0` is true.",
    Number::between(0.0, SPRT_ERROR_MAX).or(0.05),
)
.hint("it is the probability of an error");

const BETA: Key<Number> = Key::new(
    "beta",
    "",
    "The allowed probability of accepting `elo0` when `elo1` is true.",
    Number::between(0.0, SPRT_ERROR_MAX).or(0.05),
)
.hint("it is the probability of an error");

const MODEL: Key<Word<EloModel>> = Key::new(
    "model",
    "",
    "The unit of the strengths: `\"logistic\"` is Elo as it follows from the score; `\"normalized\"` \
     needs as many games whatever the share of draws.",
    Word::first_of(&[
        (EloModel::Normalized.name(), EloModel::Normalized),
        (EloModel::Logistic.name(), EloModel::Logistic),
    ]),
);

/// The keys of `sprt`.
pub(super) const SPRT: Keys = &[&ELO0, &ELO1, &ALPHA, &BETA, &MODEL];
