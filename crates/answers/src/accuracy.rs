//! Accuracy experiments: how well players choose, compared with a reference.

use spelrum_engine::{Parameters, Value, values_say_who_wins};
use spelrum_model::CellId;
use spelrum_statistics::choice::{Accuracy, AccuracySums};

/// Accuracy of a player over the positions of one cell, or over those at one distance from the start.
#[derive(Clone, Debug, PartialEq)]
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
    pub fn of_strata(strata: &[Stratum]) -> Vec<Self> {
        let mut all = Vec::new();
        for of_cell in strata.chunk_by(|one, other| one.cell == other.cell) {
            let Some(first) = of_cell.first() else { continue };
            let mut whole = Stratum { plies: None, sums: AccuracySums::default(), ..first.clone() };
            of_cell.iter().for_each(|stratum| whole.sums += stratum.sums);
            let parts = of_cell.iter().filter(|_| of_cell.len() > 1);
            all.extend([&whole].into_iter().chain(parts).filter_map(Self::of));
        }
        all
    }

    fn of(Stratum { cell, reference, plies, sums }: &Stratum) -> Option<Self> {
        let accuracy = Accuracy::of(sums)?;
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
    values_say_who_wins(&serde_json::from_str(parameters_json).unwrap_or_default())
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
                sums.add(&Choice::of(&[1, 0, -1], chosen).unwrap(), true);
            });
            sums
        };
        let stratum = |cell, plies, chosen: &[usize]| Stratum {
            cell: CellId(cell),
            reference: format!("reference of {cell}"),
            plies,
            sums: sums(chosen),
        };
        let of = CellAccuracy::of_strata(&[
            stratum(1, Some(2), &[0, 1]),
            stratum(1, Some(4), &[2, 2]),
            stratum(2, Some(2), &[0]),
            stratum(3, None, &[]),
        ]);
        let shown: Vec<_> = of
            .iter()
            .map(|it| (it.cell.0, &*it.reference, it.plies, it.accuracy.positions))
            .collect();
        let (one, two) = ("reference of 1", "reference of 2");
        let expected =
            [(1, one, None, 4), (1, one, Some(2), 2), (1, one, Some(4), 2), (2, two, None, 1)];
        assert_eq!(shown, expected);
        // The order of sums differs.
        let whole = Accuracy::of(&sums(&[0, 1, 2, 2])).unwrap();
        assert_eq!((of[0].accuracy.best, of[0].accuracy.rank), (whole.best, whole.rank));
        assert_eq!(of[0].accuracy.wins.map(|it| it.share), whole.wins.map(|it| it.share));
        let wins: Vec<_> = of.iter().map(|it| it.accuracy.wins.unwrap().positions).collect();
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
