//! Accuracy experiments: how well players choose, compared with a reference.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_engine::{Parameters, Value, values_decide_winner};
use spelrum_model::CellId;
use spelrum_statistics::choice::{Accuracy, AccuracySums};

/// Accuracy of a player over the positions of one cell, or over those at one distance from the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellAccuracy {
    /// The cell, which defines the choosing player.
    pub cell: CellId,
    /// The reference, in words: `exact`, or `minimax to depth 4 by runs`.
    pub reference: String,
    /// Plies of random play from the start of the game to the positions; `None` for all positions of the cell.
    pub plies: Option<u32>,
    /// Over its counted choices in positions whose moves differ in value.
    pub accuracy: Accuracy,
}

/// Sums of one cell's choices in the positions at one distance from the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Stratum {
    /// The cell.
    pub cell: CellId,
    /// [`CellAccuracy::reference`].
    pub reference: String,
    /// Plies of random play to the positions; `None` for listed positions.
    pub plies: Option<u32>,
    /// The sums.
    pub sums: AccuracySums,
}

impl CellAccuracy {
    /// Computes accuracies from strata sorted by cell: for each cell over all strata, then for each stratum if there
    /// are several. Cells without choices are skipped.
    #[must_use]
    pub fn from_strata(strata: &[Stratum]) -> Vec<Self> {
        let mut all = Vec::new();
        for cell_strata in strata.chunk_by(|a, b| a.cell == b.cell) {
            let Some(first) = cell_strata.first() else { continue };
            let mut cell_total =
                Stratum { plies: None, sums: AccuracySums::default(), ..first.clone() };
            cell_strata.iter().for_each(|stratum| cell_total.sums += stratum.sums);
            let parts = cell_strata.iter().filter(|_| cell_strata.len() > 1);
            all.extend([&cell_total].into_iter().chain(parts).filter_map(Self::from_stratum));
        }
        all
    }

    fn from_stratum(Stratum { cell, reference, plies, sums }: &Stratum) -> Option<Self> {
        let accuracy = Accuracy::from_sums(sums)?;
        Some(Self { cell: *cell, reference: reference.clone(), plies: *plies, accuracy })
    }
}

/// A reference in words, by its parameters in JSON.
#[must_use]
pub fn reference_text(parameters_json: &str) -> String {
    let parameters: Parameters = serde_json::from_str(parameters_json).unwrap_or_default();
    let text = |key: &str| match parameters.get(key) {
        Some(Value::Text(text)) => Some(text.clone()),
        Some(Value::Integer(number)) => Some(number.to_string()),
        Some(_) | None => None,
    };
    let algorithm = text("algorithm").unwrap_or_default();
    let depth = text("depth").map(|depth| format!(" to depth {depth}"));
    let evaluation = text("evaluation")
        .filter(|_| depth.is_some())
        .map(|evaluation| format!(" by {evaluation}"));
    [Some(algorithm), depth, evaluation].into_iter().flatten().collect()
}

/// Whether a reference's values state the winner, by its parameters in JSON.
#[must_use]
pub fn says_who_wins(parameters_json: &str) -> bool {
    values_decide_winner(&serde_json::from_str(parameters_json).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use spelrum_statistics::choice::Choice;

    use super::*;

    #[test]
    fn strata_come_behind_their_cell() {
        let sums = |chosen: &[usize]| {
            let mut sums = AccuracySums::default();
            chosen.iter().for_each(|&chosen| {
                sums.add(&Choice::new(&[1, 0, -1], chosen).unwrap(), true);
            });
            sums
        };
        let stratum = |cell, plies, chosen: &[usize]| Stratum {
            cell: CellId(cell),
            reference: format!("reference of {cell}"),
            plies,
            sums: sums(chosen),
        };
        let accuracies = CellAccuracy::from_strata(&[
            stratum(1, Some(2), &[0, 1]),
            stratum(1, Some(4), &[2, 2]),
            stratum(2, Some(2), &[0]),
            stratum(3, None, &[]),
        ]);
        let shown: Vec<_> = accuracies
            .iter()
            .map(|stratum| {
                (stratum.cell.0, &*stratum.reference, stratum.plies, stratum.accuracy.positions)
            })
            .collect();
        let (one, two) = ("reference of 1", "reference of 2");
        let expected =
            [(1, one, None, 4), (1, one, Some(2), 2), (1, one, Some(4), 2), (2, two, None, 1)];
        assert_eq!(shown, expected);
        // The order of sums differs.
        let expected_total = Accuracy::from_sums(&sums(&[0, 1, 2, 2])).unwrap();
        assert_eq!(
            (accuracies[0].accuracy.best, accuracies[0].accuracy.rank),
            (expected_total.best, expected_total.rank)
        );
        assert_eq!(
            accuracies[0].accuracy.wins.map(|wins| wins.share),
            expected_total.wins.map(|wins| wins.share)
        );
        let wins: Vec<_> =
            accuracies.iter().map(|stratum| stratum.accuracy.wins.unwrap().positions).collect();
        assert_eq!(wins, [4, 2, 2, 1]);
    }

    #[test]
    fn references_in_words() {
        assert_eq!(reference_text(r#"{"algorithm":"exact"}"#), "exact");
        let minimax = r#"{"algorithm":"minimax","depth":4,"evaluation":"runs","shuffle":true}"#;
        assert_eq!(reference_text(minimax), "minimax to depth 4 by runs");
        assert_eq!(reference_text("no JSON"), "");
    }

    #[test]
    fn which_references_say_who_wins() {
        for (json, says) in [
            (r#"{"algorithm":"exact","nodes":1000}"#, true),
            (r#"{"algorithm":"table"}"#, true),
            (r#"{"algorithm":"minimax","depth":4,"evaluation":"runs"}"#, false),
            (r#"{"nodes":1000}"#, false),
            ("no JSON", false),
        ] {
            assert_eq!(says_who_wins(json), says, "{json}");
        }
    }
}
