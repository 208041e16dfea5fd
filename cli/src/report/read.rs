//! From the results' rows to a report.

use std::collections::HashMap;

use spelrum_coordinator::store::questions::{self, Question};
use spelrum_proto::v1;
use spelrum_tournament::{GameCounts, PairCounts, Role};

use super::{CellResult, MoveCost, Report, Stronger};
use crate::answer::{Answer, Row, ask, experiment_id, unexpected};
use crate::error::Result;
use crate::results::ResultsSource;

/// Asks everything a report needs.
pub(super) async fn report(source: &ResultsSource, of: &v1::ExperimentSummary) -> Result<Report> {
    let experiment = experiment_id(source, &of.experiment_uuid).await?;
    let ask = async |question: Question| ask(source, &question.of(experiment)).await;
    let axes = ask(questions::AXES).await?;
    let axes: Vec<_> = axes.rows().map(|row| row.text("axis")).collect::<Result<_>>()?;
    let places = Places::read(&axes, &ask(questions::CELL_AXES).await?)?;
    let results = ask(questions::CELL_RESULTS).await?;
    let moves = ask(questions::TIME_PER_MOVE).await?;
    let depths = ask(questions::TIME_PER_DEPTH).await?;
    let cells: Vec<_> =
        results.rows().map(|row| cell_result(&row, &places)).collect::<Result<_>>()?;
    let costs = |answer: &Answer, depth: &str| -> Result<Vec<MoveCost>> {
        let opponents = Opponents::of(&cells);
        answer.rows().map(|row| move_cost(&row, depth, &places, &opponents)).collect()
    };
    Ok(Report {
        experiment: of.name.clone(),
        experiment_uuid: of.experiment_uuid.clone(),
        game: of.game.clone(),
        state: of.state.clone(),
        games_planned: of.games_planned,
        games_settled: of.games_settled,
        games_failed: of.games_failed,
        moves: costs(&moves, "depth_mean")?,
        depths: costs(&depths, "depth")?,
        axes,
        cells,
    })
}

fn cell_result(row: &Row<'_>, places: &Places<'_>) -> Result<CellResult> {
    let cell_id = row.integer("cell_id")?;
    let score = row.optional_real("score")?;
    let interval = row.optional_real("score_low")?.zip(row.optional_real("score_high")?);
    let pairs = PairCounts([
        row.count("pairs_0")?,
        row.count("pairs_half")?,
        row.count("pairs_1")?,
        row.count("pairs_1_half")?,
        row.count("pairs_2")?,
    ]);
    let swap_sides = row.integer("swap_sides")? != 0;
    let (wins, draws, losses) = (row.count("wins")?, row.count("draws")?, row.count("losses")?);
    let strength = match swap_sides {
        true => pairs.strength(),
        false => GameCounts([losses, draws, wins]).strength(),
    };
    // Adding zero makes the zero of a draw positive.
    let finite = |figure: f64| (score.is_some() && figure.is_finite()).then_some(figure + 0.0);
    Ok(CellResult {
        cell_id,
        axes: places.of(cell_id),
        player: row.text("player")?,
        opponent: row.text("opponent")?,
        timed: row.integer("timed")? != 0,
        games_planned: row.count("games_planned")?,
        games: row.count("games")?,
        games_failed: row.count("games_failed")?,
        wins,
        draws,
        losses,
        score,
        score_low: interval.map(|(low, _)| low),
        score_high: interval.map(|(_, high)| high),
        elo: finite(strength.elo),
        elo_error: finite(strength.elo_error),
        nelo: finite(strength.nelo),
        nelo_error: finite(strength.nelo_error),
        los: finite(strength.los),
        stronger: Stronger::of(interval),
        pairs: pairs.0,
        distinct_games: row.count("distinct_games")?,
        swap_sides,
    })
}

/// `depth` names the column of the depth: a mean, or the one that all these searches completed.
fn move_cost(
    row: &Row<'_>,
    depth: &str,
    places: &Places<'_>,
    opponents: &Opponents<'_>,
) -> Result<MoveCost> {
    let cell_id = row.integer("cell_id")?;
    let player = row.text("player")?;
    let (role, opponent) = opponents.of_player(cell_id, &player)?;
    Ok(MoveCost {
        cell_id,
        axes: places.seen_by(role, cell_id),
        opponent,
        player,
        searched_moves: row.count("searched_moves")?,
        wall_us_mean: row.real("wall_us_mean")?,
        wall_us_median: row.real("wall_us_median")?,
        wall_us_p90: row.real("wall_us_p90")?,
        wall_us_p99: row.real("wall_us_p99")?,
        depth_mean: row.real(depth)?,
        nodes_mean: row.real("nodes_mean")?,
        evaluations_mean: row.real("evaluations_mean")?,
        full_tree_share: row.optional_real("full_tree_share")?,
    })
}

/// The cells' values on the axes, in the axes' order.
struct Places<'a> {
    axes: &'a [String],
    values: HashMap<i64, Vec<Option<String>>>,
}

impl<'a> Places<'a> {
    fn read(axes: &'a [String], answer: &Answer) -> Result<Self> {
        let mut places = Self { axes, values: HashMap::new() };
        for row in answer.rows() {
            let axis = row.text("axis")?;
            let Some(place) = axes.iter().position(|name| *name == axis) else { continue };
            let values = places.values.entry(row.integer("cell_id")?);
            values.or_insert_with(|| vec![None; axes.len()])[place] = Some(row.text("value_text")?);
        }
        Ok(places)
    }

    fn of(&self, cell_id: i64) -> Vec<Option<String>> {
        self.values.get(&cell_id).cloned().unwrap_or_else(|| vec![None; self.axes.len()])
    }

    /// The same for one of its players: `player.depth` is its own, `opponent.depth` the other's.
    fn seen_by(&self, role: Role, cell_id: i64) -> Vec<Option<String>> {
        let values = self.of(cell_id);
        let value = |(index, axis): (usize, &String)| match (role, Role::of_axis(axis)) {
            (Role::Opponent, Some((axis_role, parameter))) => {
                let other = axis_role.swapped().axis(parameter);
                values[self.axes.iter().position(|axis| *axis == other)?].clone()
            }
            (Role::Player, _) | (Role::Opponent, None) => values[index].clone(),
        };
        self.axes.iter().enumerate().map(value).collect()
    }
}

/// Whom a player meets in a cell.
struct Opponents<'a>(HashMap<i64, [&'a str; 2]>);

impl<'a> Opponents<'a> {
    fn of(cells: &'a [CellResult]) -> Self {
        let players = |cell: &'a CellResult| [cell.player.as_str(), cell.opponent.as_str()];
        Self(cells.iter().map(|cell| (cell.cell_id, players(cell))).collect())
    }

    /// Which role a player has in a cell, and whom it meets.
    fn of_player(&self, cell_id: i64, player: &str) -> Result<(Role, String)> {
        match self.0.get(&cell_id) {
            Some([first, second]) if *first == player => Ok((Role::Player, (*second).to_owned())),
            Some([first, _]) => Ok((Role::Opponent, (*first).to_owned())),
            None => Err(unexpected("cell_id", &format!("is {cell_id}, which has no result"))),
        }
    }
}
