//! How long won, drawn and lost games are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::CellId;

use crate::call::experiment_question;
use crate::checked::{Inconsistent, check_counts, check_places, checked_on_reading};
use crate::overview::Lengths;
use crate::summary::ExperimentSummary;

experiment_question! {
    /// Lengths of an experiment's games by their outcomes.
    GetOutcomeLengths: "/api/v1/experiments/{experiment}/outcome-lengths" -> OutcomeLengths
}

/// Lengths of games by their outcomes, from one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct OutcomeLengths {
    /// The experiment.
    pub experiment: ExperimentSummary,
    /// The axes' names, in the sweep's order.
    pub axes: Vec<String>,
    /// The cells with counted games that its sweep names, in the grid's order.
    pub cells: Vec<CellOutcomeLengths>,
}

/// Lengths of one cell's games by their outcomes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellOutcomeLengths {
    /// The cell.
    pub cell: CellId,
    /// Values on the axes, in the axes' order; `None` on an axis that does not apply to the cell.
    pub axes: Vec<Option<String>>,
    /// The first player's name in the sweep.
    pub player: String,
    /// The second player's.
    pub opponent: String,
    /// Games that the first player won.
    pub won: Lengths,
    /// Drawn games.
    pub drawn: Lengths,
    /// Games that the first player lost.
    pub lost: Lengths,
}

checked_on_reading!(OutcomeLengths);

impl OutcomeLengths {
    fn check(&self) -> Result<(), Inconsistent> {
        check_places("cells", &self.axes, self.cells.iter().map(|cell| &*cell.axes))?;
        let outcomes = self.cells.iter().flat_map(|cell| [&cell.won, &cell.drawn, &cell.lost]);
        check_counts("lengths of games", outcomes.flat_map(|games| games.0.values()).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer whose games have these lengths.
    fn answer(place: &str, [won, drawn, lost]: [&str; 3]) -> String {
        format!(
            r#"{{"experiment":{{"experiment":1,"uuid":"u","name":"n","game":"pentago","kind":"games","state":"running",
            "priority":0,"cells":1,"games_planned":4,"games_settled":4,"games_failed":0,"submitted_unix_us":0}},
            "axes":["depth"],"cells":[{{"cell":7,"axes":[{place}],"player":"alphabeta","opponent":"genetic",
            "won":{won},"drawn":{drawn},"lost":{lost}}}]}}"#
        )
    }

    #[test]
    fn an_answer_is_read_if_it_is_one() {
        let text = answer(r#""3""#, [r#"{"9":1,"11":2}"#, "{}", r#"{"36":1}"#]);
        let read: OutcomeLengths = serde_json::from_str(&text).unwrap();
        assert_eq!(read.cells[0].won.mean(), Some(31.0 / 3.0));
        assert_eq!([read.cells[0].drawn.games(), read.cells[0].lost.games()], [0, 1]);
        let again = serde_json::to_string(&read).unwrap();
        assert_eq!(serde_json::from_str::<OutcomeLengths>(&again).unwrap(), read);
        for wrong in [
            answer(r#""3","4""#, ["{}", "{}", "{}"]),
            answer(r#""3""#, ["{}", r#"{"9":-1}"#, "{}"]),
            answer(r#""3""#, ["{}", "{}", r#"{"9":18446744073709551615}"#]),
            answer(r#""3""#, ["{}", "{}", r#"{"nine":1}"#]),
        ] {
            assert!(serde_json::from_str::<OutcomeLengths>(&wrong).is_err(), "{wrong}");
        }
    }
}
