//! Runs of game numbers, so that statements look up ranges.

use serde::Serialize;
use spelrum_model::GameId;

use crate::schema::numbers::integer;

/// Consecutive numbers of one cell: the cell, the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Run(i64, i64, i64);

/// Groups games into runs: a run lasts while each number is the next one of the same cell.
pub(crate) fn runs(games: impl Iterator<Item = GameId>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for game in games {
        let (cell, number) = (game.cell.0, integer(game.number));
        match runs.last_mut() {
            Some(Run(same, _, last)) if *same == cell && last.checked_add(1) == Some(number) => {
                *last = number;
            }
            Some(_) | None => runs.push(Run(cell, number, number)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use spelrum_model::CellId;

    use super::*;

    #[test]
    fn a_run_ends_where_the_next_number_is_another() {
        let runs_of = |games: &[(i64, u64)]| {
            runs(games.iter().map(|&(cell, number)| GameId { cell: CellId(cell), number }))
        };
        assert_eq!(runs_of(&[]), []);
        assert_eq!(
            runs_of(&[(1, 0), (1, 1), (1, 2), (1, 4), (2, 5), (2, 6), (1, 7), (1, 7), (1, 6)]),
            [Run(1, 0, 2), Run(1, 4, 4), Run(2, 5, 6), Run(1, 7, 7), Run(1, 7, 7), Run(1, 6, 6)]
        );
    }
}
