//! Winning margins: the sums over a cell's games, and their interval.

use std::collections::BTreeMap;

use spelrum_statistics::{MarginSums, OverGames};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::encoding::rows;

/// The margins of a cell's counted games, as in `cell_results`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Margins {
    /// Games with a margin, their sum, and the sum of their squares.
    pub(crate) games: i64,
    pub(crate) sum: i64,
    pub(crate) squares: i64,
    /// Pairs in which both games have a margin, the sum of all these, and the sum of the products of the two.
    pub(crate) pairs: i64,
    pub(crate) pairs_sum: i64,
    pub(crate) products: i64,
}

impl Margins {
    /// Adds a counted game, if it has a margin.
    pub(crate) fn add(&mut self, margin: Option<i64>) {
        let Some(margin) = margin else { return };
        self.games += 1;
        self.sum += margin;
        self.squares += margin * margin;
    }

    /// Adds a pair of games, if both have a margin.
    pub(crate) fn add_pair(&mut self, margins: [Option<i64>; 2]) {
        let [Some(first), Some(second)] = margins else { return };
        self.pairs += 1;
        self.pairs_sum += first + second;
        self.products += first * second;
    }

    /// Adds another value's counts this many times; -1 subtracts them.
    pub(crate) fn add_counts(&mut self, other: &Self, times: i64) {
        for (sum, addend) in [
            (&mut self.games, other.games),
            (&mut self.sum, other.sum),
            (&mut self.squares, other.squares),
            (&mut self.pairs, other.pairs),
            (&mut self.pairs_sum, other.pairs_sum),
            (&mut self.products, other.products),
        ] {
            *sum += times * addend;
        }
    }

    /// The mean with its interval: over pairs, of which some may have a margin for only one game; over games where
    /// there are no pairs; or over openings, given the sums over them.
    pub(crate) fn mean(&self, openings: Option<&MarginSums>) -> Option<OverGames> {
        #[expect(clippy::cast_precision_loss, reason = "sums of squares of what is at most 10,000")]
        let real = |count: i64| count as f64;
        let of_units = MarginSums {
            games: real(self.games),
            sum: real(self.sum),
            games_squared: real(self.games + 2 * self.pairs),
            products: real(self.sum + self.pairs_sum),
            squares: real(self.squares + 2 * self.products),
        };
        openings.unwrap_or(&of_units).mean()
    }
}

/// A game's margin from the view of its cell's first player.
pub(crate) fn first_player_margin(
    first_player_moved_first: bool,
    margin: Option<i32>,
) -> Option<i64> {
    let margin = i64::from(margin?);
    Some(if first_player_moved_first { margin } else { -margin })
}

/// The sums of these cells' margins over openings.
pub(crate) async fn over_openings(
    connection: &mut SqliteConnection,
    cells: &[i64],
) -> Result<BTreeMap<i64, MarginSums>, StoreError> {
    if cells.is_empty() {
        return Ok(BTreeMap::new());
    }
    let list = rows(cells)?;
    let found = sqlx::query!(
        r#"SELECT o.cell_id AS "cell_id!", total(o.margin_games) AS "games!: f64",
            total(o.margin_sum) AS "sum!: f64",
            total(1.0 * o.margin_games * o.margin_games) AS "games_squared!: f64",
            total(1.0 * o.margin_games * o.margin_sum) AS "products!: f64",
            total(1.0 * o.margin_sum * o.margin_sum) AS "squares!: f64"
        FROM json_each(?) AS j CROSS JOIN cell_openings AS o ON o.cell_id = j.value
        GROUP BY o.cell_id"#,
        list
    )
    .fetch_all(connection)
    .await?;
    let sums = found.into_iter().map(|row| {
        let sums = MarginSums {
            games: row.games,
            sum: row.sum,
            games_squared: row.games_squared,
            products: row.products,
            squares: row.squares,
        };
        (row.cell_id, sums)
    });
    Ok(sums.collect())
}
