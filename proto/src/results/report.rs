//! Results of cells, and costs of moves.

use spelrum_answers::{
    CellAccuracy, CellMargin, CellResult, CellStop, CellsPage, ColourResult, Costs, CpuTimes,
    DisturbedGames, EnginesUsed, MixedCell, MoveCost, Overruns, PlayedOn, PlayerForfeits,
    ReplayedGames, Report, RunResult, Scaled, ScaledGames, SettledCells, StatedClaim, UsedEngine,
};
use spelrum_model::CellId;
use spelrum_statistics::{
    EloModel, Interval, OpeningSpread, OverGames, PairCounts, ScoreInterval, Sprt,
};
use spelrum_statistics::{Precision, StopRule};

use super::status::read_all;
use crate::speeds::scaling;
use crate::wire_error::{finite, id, number};
use crate::{Fault, WireError, v1};

impl From<CellResult> for v1::CellResult {
    /// Includes derived figures, for clients that do not compute them.
    fn from(cell: CellResult) -> Self {
        let strength = cell.strength();
        let llr = cell.sprt().map(|standing| standing.llr);
        Self {
            cell_id: cell.cell.0,
            stronger: cell.stronger().name().to_owned(),
            axes: places_to_wire(cell.axes),
            player: cell.player,
            opponent: cell.opponent,
            timed: cell.is_timed,
            swap_sides: cell.swap_sides,
            games_planned: cell.games_planned,
            stop: cell.stop.map(|stop| stop_to_wire(stop, llr)),
            self_play: cell.is_self_play,
            openings_used: cell.openings_used,
            one_round: cell.is_one_round,
            games: cell.games,
            games_failed: cell.games_failed,
            wins: cell.wins,
            draws: cell.draws,
            losses: cell.losses,
            pairs: cell.pairs.0.to_vec(),
            openings_effective: cell.openings.map(|openings| openings.effective),
            openings_variance: cell.openings.map(|openings| openings.variance),
            pairs_won_by_first_mover: cell.pairs_won_by_first_mover,
            pairs_won_by_second_mover: cell.pairs_won_by_second_mover,
            first_mover: cell.first_mover.map(Into::into),
            moving_first: cell.colours.map(|[first, _]| first.into()),
            moving_second: cell.colours.map(|[_, second]| second.into()),
            margin: cell.margin.map(|CellMargin { games, mean }| v1::CellMargin {
                games,
                mean: Some(over_games_to_wire(mean)),
            }),
            distinct_games: cell.distinct_games,
            score: cell.score.map(|score| score.score),
            score_low: cell.score.map(|score| score.low),
            score_high: cell.score.map(|score| score.high),
            elo: strength.elo,
            elo_low: strength.elo_low,
            elo_high: strength.elo_high,
            los: strength.los,
            elo_error: strength.elo_error,
            nelo: strength.nelo,
            nelo_error: None,
        }
    }
}

impl TryFrom<v1::CellResult> for CellResult {
    type Error = WireError;

    fn try_from(cell: v1::CellResult) -> Result<Self, WireError> {
        let pairs = <[u64; 5]>::try_from(cell.pairs.as_slice()).map_err(|_| {
            let value = cell.pairs.len() as u64;
            WireError::new("pairs", Fault::OutOfRange { value, min: 5, max: 5 })
        })?;
        for pairs in pairs {
            number("pairs", pairs)?;
        }
        let score = match (cell.score, cell.score_low, cell.score_high) {
            (None, None, None) => None,
            (Some(score), Some(low), Some(high)) => Some(ScoreInterval {
                score: finite("score", score)?,
                low: finite("score_low", low)?,
                high: finite("score_high", high)?,
            }),
            (_, _, _) => return Err(WireError::new("score", Fault::Missing)),
        };
        let colours = match (&cell.moving_first, &cell.moving_second) {
            (None, None) => None,
            (Some(first), Some(second)) => Some(colours_from_wire(&cell, first, second)?),
            (None, Some(_)) => return Err(WireError::new("moving_first", Fault::Missing)),
            (Some(_), None) => return Err(WireError::new("moving_second", Fault::Missing)),
        };
        Ok(Self {
            cell: CellId(id("cell_id", cell.cell_id)?),
            axes: places_from_wire(cell.axes),
            player: cell.player,
            opponent: cell.opponent,
            is_timed: cell.timed,
            swap_sides: cell.swap_sides,
            is_self_play: cell.self_play,
            openings_used: number("openings_used", cell.openings_used)?,
            games_planned: number("games_planned", cell.games_planned)?,
            stop: cell.stop.map(stop_from_wire).transpose()?,
            is_one_round: cell.one_round,
            games: number("games", cell.games)?,
            games_failed: number("games_failed", cell.games_failed)?,
            wins: number("wins", cell.wins)?,
            draws: number("draws", cell.draws)?,
            losses: number("losses", cell.losses)?,
            pairs: PairCounts(pairs),
            pairs_won_by_first_mover: number(
                "pairs_won_by_first_mover",
                cell.pairs_won_by_first_mover,
            )?,
            pairs_won_by_second_mover: number(
                "pairs_won_by_second_mover",
                cell.pairs_won_by_second_mover,
            )?,
            distinct_games: number("distinct_games", cell.distinct_games)?,
            score,
            openings: match (cell.openings_effective, cell.openings_variance) {
                (None, None) => None,
                (Some(effective), Some(variance)) => Some(OpeningSpread {
                    effective: finite("openings_effective", effective)?,
                    variance: finite("openings_variance", variance)?,
                }),
                (_, _) => return Err(WireError::new("openings_effective", Fault::Missing)),
            },
            first_mover: cell
                .first_mover
                .map(|score| score_from_wire("first_mover", &score))
                .transpose()?,
            colours,
            margin: cell.margin.map(margin_from_wire).transpose()?,
        })
    }
}

fn margin_from_wire(margin: v1::CellMargin) -> Result<CellMargin, WireError> {
    let mean = over_games_from_wire("margin.mean", margin.mean)?;
    let mean = mean.ok_or_else(|| WireError::new("margin.mean", Fault::Missing))?;
    Ok(CellMargin { games: number("margin.games", margin.games)?, mean })
}

impl From<ColourResult> for v1::ColourResult {
    fn from(ColourResult { wins, draws, losses, score }: ColourResult) -> Self {
        Self { wins, draws, losses, score: score.map(Into::into) }
    }
}

/// Parses the results of both colours, which together are the cell's.
fn colours_from_wire(
    cell: &v1::CellResult,
    first: &v1::ColourResult,
    second: &v1::ColourResult,
) -> Result<[ColourResult; 2], WireError> {
    let read = |colour: &v1::ColourResult| -> Result<ColourResult, WireError> {
        Ok(ColourResult {
            wins: number("wins", colour.wins)?,
            draws: number("draws", colour.draws)?,
            losses: number("losses", colour.losses)?,
            score: colour.score.as_ref().map(|wire| score_from_wire("score", wire)).transpose()?,
        })
    };
    let first = read(first).map_err(|error| error.within("moving_first"))?;
    let second = read(second).map_err(|error| error.within("moving_second"))?;
    for (field, total, parts) in [
        ("wins", cell.wins, [first.wins, second.wins]),
        ("draws", cell.draws, [first.draws, second.draws]),
        ("losses", cell.losses, [first.losses, second.losses]),
    ] {
        let [value, rest] = parts;
        if value + rest != total {
            let max = total.saturating_sub(rest);
            let error = WireError::new(field, Fault::OutOfRange { value, min: max, max });
            return Err(error.within("moving_first"));
        }
    }
    Ok([first, second])
}

impl From<ScoreInterval> for v1::Score {
    fn from(ScoreInterval { score, low, high }: ScoreInterval) -> Self {
        Self { score, low, high }
    }
}

fn score_from_wire(field: &'static str, score: &v1::Score) -> Result<ScoreInterval, WireError> {
    let v1::Score { score, low, high } = *score;
    Ok(ScoreInterval {
        score: finite(field, score)?,
        low: finite(field, low)?,
        high: finite(field, high)?,
    })
}

fn stop_to_wire(stop: CellStop, llr: Option<f64>) -> v1::CellStop {
    let (precision, over_pairs, sprt) = match stop.rule {
        StopRule::Precision(precision) => (precision.points(), precision.is_over_pairs(), None),
        StopRule::Sprt(sprt) => (0.0, sprt.is_over_pairs(), Some(sprt)),
    };
    v1::CellStop {
        precision,
        over_pairs,
        sprt: sprt.map(|sprt| v1::Sprt {
            elo0: sprt.elo0(),
            elo1: sprt.elo1(),
            alpha: sprt.alpha(),
            beta: sprt.beta(),
            model: sprt.model().name().to_owned(),
        }),
        llr,
        games_max: stop.games_max,
        stopped_after: stop.stopped_after,
    }
}

fn stop_from_wire(stop: v1::CellStop) -> Result<CellStop, WireError> {
    let rule = match stop.sprt {
        Some(sprt) => {
            let v1::Sprt { elo0, elo1, alpha, beta, model } = sprt;
            let model = EloModel::named(&model);
            let sprt = model.and_then(|model| Sprt::new(elo0, elo1, alpha, beta, model));
            let sprt = sprt.ok_or(WireError::new("sprt", Fault::Missing))?;
            StopRule::Sprt(if stop.over_pairs { sprt.over_pairs() } else { sprt })
        }
        None => {
            let precision = Precision::new(stop.precision)
                .ok_or(WireError::new("precision", Fault::Missing))?;
            let over_pairs = stop.over_pairs.then(|| precision.over_pairs());
            StopRule::Precision(over_pairs.unwrap_or(precision))
        }
    };
    let stopped_after = stop.stopped_after.map(|games| number("stopped_after", games));
    Ok(CellStop {
        rule,
        games_max: number("games_max", stop.games_max)?,
        stopped_after: stopped_after.transpose()?,
    })
}

impl From<MoveCost> for v1::MoveCost {
    fn from(cost: MoveCost) -> Self {
        let MoveCost { cell, axes, player, opponent, costs } = cost;
        Self {
            cell_id: cell.0,
            axes: places_to_wire(axes),
            player,
            opponent,
            searched_moves: costs.searched_moves,
            wall_us_mean: costs.wall_us_mean,
            wall_us_median: costs.wall_us_median,
            wall_us_p90: costs.wall_us_p90,
            wall_us_p99: costs.wall_us_p99,
            depth_mean: costs.depth_mean,
            nodes_mean: costs.nodes_mean,
            evaluations_mean: costs.evaluations_mean,
            full_tree_share: costs.full_tree_share,
            overruns: costs.overruns.map(|overruns| {
                let Overruns { limit_us, beyond_us, moves, longest_us } = overruns;
                v1::Overruns { limit_us, beyond_us, moves, longest_us }
            }),
            wall_us_game_mean: costs.wall_us_game_mean.map(over_games_to_wire),
            wall_us_ratio: costs.wall_us_ratio.map(over_games_to_wire),
            wall_us_p95: costs.wall_us_p95,
            cpu: costs.cpu.map(|cpu| v1::CpuTimes {
                us_mean: cpu.us_mean,
                us_game_mean: cpu.us_game_mean.map(over_games_to_wire),
                us_ratio: cpu.us_ratio.map(over_games_to_wire),
            }),
        }
    }
}

pub(super) fn interval_to_wire(value: f64, interval: Option<Interval>) -> v1::Interval {
    let (low, high) = interval.map(|interval| (interval.low, interval.high)).unzip();
    v1::Interval { value, low, high }
}

pub(super) fn interval_from_wire(
    field: &'static str,
    interval: v1::Interval,
) -> Result<(f64, Option<Interval>), WireError> {
    let v1::Interval { value, low, high } = interval;
    let value = finite(field, value)?;
    let bounds = low.zip(high).map(|(low, high)| {
        Ok(Interval { value, low: finite(field, low)?, high: finite(field, high)? })
    });
    Ok((value, bounds.transpose()?))
}

fn over_games_to_wire(OverGames { value, interval }: OverGames) -> v1::Interval {
    interval_to_wire(value, interval)
}

fn over_games_from_wire(
    field: &'static str,
    interval: Option<v1::Interval>,
) -> Result<Option<OverGames>, WireError> {
    let interval = interval.map(|interval| interval_from_wire(field, interval)).transpose()?;
    Ok(interval.map(|(value, interval)| OverGames { value, interval }))
}

fn overruns_from_wire(overruns: v1::Overruns) -> Result<Overruns, WireError> {
    Ok(Overruns {
        limit_us: number("limit_us", overruns.limit_us)?,
        beyond_us: number("beyond_us", overruns.beyond_us)?,
        moves: number("moves", overruns.moves)?,
        longest_us: finite("longest_us", overruns.longest_us)?,
    })
}

impl From<ReplayedGames> for v1::ReplayedGames {
    fn from(replayed: ReplayedGames) -> Self {
        Self { cell_id: replayed.cell.0, games: replayed.games }
    }
}

impl TryFrom<v1::ReplayedGames> for ReplayedGames {
    type Error = WireError;

    fn try_from(replayed: v1::ReplayedGames) -> Result<Self, WireError> {
        let cell = CellId(id("cell_id", replayed.cell_id)?);
        Ok(Self { cell, games: number("games", replayed.games)? })
    }
}

impl From<ScaledGames> for v1::ScaledGames {
    fn from(scaled: ScaledGames) -> Self {
        let ScaledGames { cell, games, games_at_bound, factor_permille_min, factor_permille_max } =
            scaled;
        Self { cell_id: cell.0, games, games_at_bound, factor_permille_min, factor_permille_max }
    }
}

impl TryFrom<v1::ScaledGames> for ScaledGames {
    type Error = WireError;

    fn try_from(scaled: v1::ScaledGames) -> Result<Self, WireError> {
        Ok(Self {
            cell: CellId(id("cell_id", scaled.cell_id)?),
            games: number("games", scaled.games)?,
            games_at_bound: number("games_at_bound", scaled.games_at_bound)?,
            factor_permille_min: scaled.factor_permille_min,
            factor_permille_max: scaled.factor_permille_max,
        })
    }
}

impl From<PlayedOn> for v1::PlayedOn {
    fn from(PlayedOn { quiet, others, unknown }: PlayedOn) -> Self {
        Self { quiet, others, unknown }
    }
}

impl TryFrom<v1::PlayedOn> for PlayedOn {
    type Error = WireError;

    fn try_from(played: v1::PlayedOn) -> Result<Self, WireError> {
        Ok(Self {
            quiet: number("quiet", played.quiet)?,
            others: number("others", played.others)?,
            unknown: number("unknown", played.unknown)?,
        })
    }
}

impl From<DisturbedGames> for v1::DisturbedGames {
    fn from(disturbed: DisturbedGames) -> Self {
        let DisturbedGames { cell, games, replayed, half_points_before } = disturbed;
        Self { cell_id: cell.0, games, replayed, half_points_before }
    }
}

impl TryFrom<v1::DisturbedGames> for DisturbedGames {
    type Error = WireError;

    fn try_from(disturbed: v1::DisturbedGames) -> Result<Self, WireError> {
        let half_points_before = disturbed.half_points_before;
        number("half_points_before", half_points_before.unsigned_abs())?;
        Ok(Self {
            cell: CellId(id("cell_id", disturbed.cell_id)?),
            games: number("games", disturbed.games)?,
            replayed: number("replayed", disturbed.replayed)?,
            half_points_before,
        })
    }
}

impl TryFrom<v1::MoveCost> for MoveCost {
    type Error = WireError;

    fn try_from(cost: v1::MoveCost) -> Result<Self, WireError> {
        Ok(Self {
            cell: CellId(id("cell_id", cost.cell_id)?),
            axes: places_from_wire(cost.axes),
            player: cost.player,
            opponent: cost.opponent,
            costs: Costs {
                searched_moves: number("searched_moves", cost.searched_moves)?,
                wall_us_mean: finite("wall_us_mean", cost.wall_us_mean)?,
                wall_us_median: finite("wall_us_median", cost.wall_us_median)?,
                wall_us_p90: finite("wall_us_p90", cost.wall_us_p90)?,
                wall_us_p95: cost.wall_us_p95.map(|us| finite("wall_us_p95", us)).transpose()?,
                wall_us_p99: finite("wall_us_p99", cost.wall_us_p99)?,
                depth_mean: finite("depth_mean", cost.depth_mean)?,
                nodes_mean: finite("nodes_mean", cost.nodes_mean)?,
                evaluations_mean: finite("evaluations_mean", cost.evaluations_mean)?,
                full_tree_share: cost
                    .full_tree_share
                    .map(|share| finite("full_tree_share", share))
                    .transpose()?,
                overruns: cost.overruns.map(overruns_from_wire).transpose()?,
                wall_us_game_mean: over_games_from_wire(
                    "wall_us_game_mean",
                    cost.wall_us_game_mean,
                )?,
                wall_us_ratio: over_games_from_wire("wall_us_ratio", cost.wall_us_ratio)?,
                cpu: cost.cpu.map(cpu_times_from_wire).transpose()?,
            },
        })
    }
}

fn cpu_times_from_wire(cpu: v1::CpuTimes) -> Result<CpuTimes, WireError> {
    let read = || {
        Ok(CpuTimes {
            us_mean: finite("us_mean", cpu.us_mean)?,
            us_game_mean: over_games_from_wire("us_game_mean", cpu.us_game_mean)?,
            us_ratio: over_games_from_wire("us_ratio", cpu.us_ratio)?,
        })
    };
    read().map_err(|error: WireError| error.within("cpu"))
}

pub(super) fn places_to_wire(values: Vec<Option<String>>) -> Vec<v1::AxisPlace> {
    values.into_iter().map(|value| v1::AxisPlace { value }).collect()
}

pub(super) fn places_from_wire(places: Vec<v1::AxisPlace>) -> Vec<Option<String>> {
    places.into_iter().map(|place| place.value).collect()
}

impl From<CellsPage> for v1::ListCellsResponse {
    /// Without the token for the next page, which only the server can make.
    fn from(page: CellsPage) -> Self {
        let cells = page.cells.into_iter().map(Into::into).collect();
        Self { axes: page.axes, cells, ..Self::default() }
    }
}

impl From<SettledCells> for v1::ListCellsResponse {
    fn from(settled: SettledCells) -> Self {
        Self {
            axes: settled.axes,
            cells: settled.cells.into_iter().map(Into::into).collect(),
            last_game_id: settled.last_game_id,
            next_page_token: String::new(),
        }
    }
}

/// Parses cells and their axes.
///
/// # Errors
/// The first field that is malformed.
pub fn cells_from_wire(
    axes: &[String],
    cells: Vec<v1::CellResult>,
) -> Result<Vec<CellResult>, WireError> {
    let cells: Vec<CellResult> = read_all("cells", cells)?;
    check_places("cells", axes, cells.iter().map(|cell| cell.axes.len()))?;
    Ok(cells)
}

/// Parses cells without unsettled games.
///
/// # Errors
/// The first field that is malformed.
pub fn settled_cells_from_wire(answer: v1::ListCellsResponse) -> Result<SettledCells, WireError> {
    let cells = cells_from_wire(&answer.axes, answer.cells)?;
    let last_game_id = answer.last_game_id;
    if last_game_id < 0 {
        return Err(WireError::new("last_game_id", Fault::Negative(last_game_id)));
    }
    Ok(SettledCells { axes: answer.axes, cells, last_game_id })
}

/// Checks that each item has a value, or none, on every axis.
fn check_places(
    field: &str,
    axes: &[String],
    mut lengths: impl Iterator<Item = usize>,
) -> Result<(), WireError> {
    let axes = axes.len();
    match lengths.find(|&length| length != axes) {
        None => Ok(()),
        Some(length) => {
            let (value, axes) = (length as u64, axes as u64);
            let fault = Fault::OutOfRange { value, min: axes, max: axes };
            Err(WireError::new(format!("{field}.axes"), fault))
        }
    }
}

/// Assembles a report from its parts.
#[derive(Debug, Default)]
pub struct ReportReader {
    report: Option<Report>,
}

impl ReportReader {
    /// Adds the next part.
    ///
    /// # Errors
    /// The first field that is malformed.
    pub fn take(&mut self, part: v1::GetReportResponse) -> Result<(), WireError> {
        let v1::GetReportResponse {
            experiment,
            axes,
            first_mover,
            cells,
            moves,
            depths,
            replayed,
            claims,
            description,
            engine_revision,
            engines,
            mixed_cells,
            accuracy,
            runs,
            disturbed,
            scale,
            scaled,
            played_on,
            forfeits,
        } = part;
        let report = match (&mut self.report, experiment) {
            (Some(report), _) => report,
            (none @ None, Some(experiment)) => none.insert(Report {
                experiment: experiment
                    .try_into()
                    .map_err(|error: WireError| error.within("experiment"))?,
                description,
                engine_revision,
                axes,
                first_mover: first_mover
                    .map(|score| score_from_wire("first_mover", &score))
                    .transpose()?,
                cells: Vec::new(),
                moves: Vec::new(),
                depths: Vec::new(),
                accuracy: Vec::new(),
                replayed: Vec::new(),
                disturbed: Vec::new(),
                scaled: Scaled {
                    scaling: scale
                        .map(|scale| scaling(scale).map_err(|error| error.within("scale")))
                        .transpose()?,
                    cells: Vec::new(),
                },
                played_on: played_on
                    .map(PlayedOn::try_from)
                    .transpose()
                    .map_err(|error| error.within("played_on"))?,
                claims: Vec::new(),
                engines: EnginesUsed::default(),
                runs: Vec::new(),
            }),
            (None, None) => return Err(WireError::new("experiment", Fault::Missing)),
        };
        report.cells.extend(cells_from_wire(&report.axes, cells)?);
        for (field, costs, rows) in
            [("moves", moves, &mut report.moves), ("depths", depths, &mut report.depths)]
        {
            let costs: Vec<MoveCost> = read_all(field, costs)?;
            check_places(field, &report.axes, costs.iter().map(|cost| cost.axes.len()))?;
            rows.extend(costs);
        }
        report.claims.extend(read_all::<_, StatedClaim>("claims", claims)?);
        report.accuracy.extend(read_all::<_, CellAccuracy>("accuracy", accuracy)?);
        report.replayed.extend(read_all::<_, ReplayedGames>("replayed", replayed)?);
        report.disturbed.extend(read_all::<_, DisturbedGames>("disturbed", disturbed)?);
        report.scaled.cells.extend(read_all::<_, ScaledGames>("scaled", scaled)?);
        report.engines.engines.extend(read_all::<_, UsedEngine>("engines", engines)?);
        report.runs.extend(read_all::<_, RunResult>("runs", runs)?);
        report.engines.mixed.extend(read_all::<_, MixedCell>("mixed_cells", mixed_cells)?);
        report.engines.forfeits.extend(read_all::<_, PlayerForfeits>("forfeits", forfeits)?);
        Ok(())
    }

    /// The report, after the last part.
    ///
    /// # Errors
    /// If there was no part.
    pub fn finish(self) -> Result<Report, WireError> {
        self.report.ok_or_else(|| WireError::new("experiment", Fault::Missing))
    }
}
