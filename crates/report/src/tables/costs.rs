//! Cost of moves.

use spelrum_answers::{MoveCost, OVERRUN_TOLERANCE, OVERRUNS_WARNED_OF, Report};
use spelrum_statistics::OverGames;

use super::axes::names_opponents;
use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::rows::Rows;
use super::value::{Form, ends};
use super::{played_on, scaled};
use crate::document::TitledTable;
use crate::text::{count, counted, percent};

pub(crate) const MOVES: TableEntry = TableEntry::new(
    "moves",
    "What a move costs",
    &View { parts: |report| parts(moves(report)), rows: |report| rows(report, &report.moves) },
)
.with_choices()
.in_json("moves");

pub(crate) const DEPTHS: TableEntry = TableEntry::new(
    "depths",
    "What a move costs at each depth that searches completed",
    &View { parts: |report| parts(depths(report)), rows: |report| rows(report, &report.depths) },
)
.with_depths()
.with_choices()
.in_json("depths");

fn moves(report: &Report) -> Option<TitledTable> {
    let costs = &report.moves;
    let table = columns(report, costs, "reach").table(MOVES.name, "What a move costs", costs);
    (!costs.is_empty()).then(|| table.with_notes(notes_on_costs(report, costs)))
}

fn depths(report: &Report) -> Option<TitledTable> {
    let costs = &report.depths;
    let title = "What a move costs, by the depth that its search completed";
    (!costs.is_empty())
        .then(|| columns(report, costs, "its depth").table(DEPTHS.name, title, costs))
}

/// Returns the columns of the cost of a searched move; for people with this heading of its depth.
fn columns<'a>(
    report: &'a Report,
    costs: &'a [MoveCost],
    depth: &str,
) -> Columns<'a, &'a MoveCost> {
    let (has_errors, has_ratios) = (has_errors(costs), has_ratios(report, costs));
    let (has_shares, has_limits) = (costs.iter().any(has_share), costs.iter().any(has_limit));
    // External engines report no evaluations, and some neither depth nor nodes: their 0 means unknown.
    let reported = |moves: &MoveCost, mean: f64| {
        let engines = &report.engines.engines;
        (mean > 0.0 || !engines.iter().any(|engine| engine.player == moves.player)).then_some(mean)
    };
    let rounded = move |moves: &MoveCost, mean: f64| {
        Form::Count.text(&reported(moves, mean).map(|mean| mean.round() as u64).into())
    };
    // By wall time, and by processor time.
    let game_mean = |moves: &MoveCost| figures(moves.costs.wall_us_game_mean);
    let ratio = |moves: &MoveCost| figures(moves.costs.wall_us_ratio);
    let cpu_game_mean =
        |moves: &MoveCost| figures(moves.costs.cpu.and_then(|cpu| cpu.us_game_mean));
    let cpu_ratio = |moves: &MoveCost| figures(moves.costs.cpu.and_then(|cpu| cpu.us_ratio));
    Columns::<&MoveCost>::new()
        .cell(&report.axes, |moves| moves)
        .shown_if(names_opponents(report))
        .column("searched_moves", "moves", Form::Count, |moves| moves.costs.searched_moves)
        .text("cpu", Form::Duration, |moves| Some(moves.costs.cpu_mean()?.value))
        .text("wall", Form::Duration, |moves| moves.costs.wall_mean().value)
        .text("95%", Form::RelativeError, error_of_mean)
        .shown_if(has_errors)
        .key("wall_us_mean", |moves| moves.costs.wall_us_mean)
        .column("wall_us_median", "median", Form::Duration, |moves| moves.costs.wall_us_median)
        .text("ratio", Form::Ratio, |moves| Some(moves.costs.us_ratio()?.value))
        .shown_if(has_ratios)
        .key("wall_us_p90", |moves| moves.costs.wall_us_p90)
        .key("wall_us_p99", |moves| moves.costs.wall_us_p99)
        .column("depth_mean", depth, Form::Decimals(1), |moves| moves.costs.depth_mean)
        .shown_as(move |moves| {
            Form::Decimals(1).text(&reported(moves, moves.costs.depth_mean).into())
        })
        .column("nodes_mean", "nodes", Form::Count, |moves| moves.costs.nodes_mean)
        .shown_as(move |moves| rounded(moves, moves.costs.nodes_mean))
        .column("evaluations_mean", "evals", Form::Count, |moves| moves.costs.evaluations_mean)
        .shown_as(move |moves| rounded(moves, moves.costs.evaluations_mean))
        .key("full_tree_share", |moves| moves.costs.full_tree_share)
        .text("share", Form::Percent, share)
        .shown_if(has_shares)
        // Unknown for a player without a time limit for its moves.
        .key("time_limit_us", |moves| Some(moves.costs.overruns?.limit_us))
        .key("overrun_beyond_us", |moves| Some(moves.costs.overruns?.beyond_us))
        .key("overruns", |moves| Some(moves.costs.overruns?.moves))
        .column("overrun_share", "over", Form::Percent, |moves| moves.costs.overrun_share())
        .shown_if(has_limits)
        .column("wall_us_longest", "longest", Form::Duration, |moves| {
            Some(moves.costs.overruns?.longest_us)
        })
        .shown_if(has_limits)
        .key("wall_us_p95", |moves| moves.costs.wall_us_p95)
        .keys(["wall_us_game_mean", "wall_us_game_mean_low", "wall_us_game_mean_high"], game_mean)
        .keys(["wall_us_ratio", "wall_us_ratio_low", "wall_us_ratio_high"], ratio)
        .key("cpu_us_mean", |moves| Some(moves.costs.cpu?.us_mean))
        .keys(["cpu_us_game_mean", "cpu_us_game_mean_low", "cpu_us_game_mean_high"], cpu_game_mean)
        .keys(["cpu_us_ratio", "cpu_us_ratio_low", "cpu_us_ratio_high"], cpu_ratio)
}

/// Returns a figure over games with the ends of its interval.
fn figures(figure: Option<OverGames>) -> [Option<f64>; 3] {
    let [low, high] = ends(figure.and_then(|figure| figure.interval));
    [figure.map(|figure| figure.value), low, high]
}

pub(crate) fn rows<'a>(report: &'a Report, costs: &'a [MoveCost]) -> Rows<'a> {
    Rows::new(&report.axes, columns(report, costs, ""), costs.iter().collect())
}

/// Returns half the width of the interval of the mean by which players are compared, as a share of that mean.
fn error_of_mean(moves: &MoveCost) -> Option<f64> {
    let mean = moves.costs.us_mean();
    // The lower bound may be clipped at zero.
    let error = mean.interval?.high - mean.value;
    (mean.value > 0.0).then(|| error / mean.value)
}

/// Whether errors are known: not for one opening alone.
fn has_errors(costs: &[MoveCost]) -> bool {
    costs.iter().any(|moves| error_of_mean(moves).is_some())
}

fn is_over_games(moves: &MoveCost) -> bool {
    let costs = &moves.costs;
    costs.wall_us_game_mean.is_some() || costs.cpu.is_some_and(|cpu| cpu.us_game_mean.is_some())
}

/// Whether ratios are shown: not where a time limit decides the time of moves, nor where opponents are named, because
/// other columns need the room.
fn has_ratios(report: &Report, costs: &[MoveCost]) -> bool {
    !names_opponents(report)
        && !costs.iter().any(has_limit)
        && costs.iter().any(|moves| moves.costs.us_ratio().is_some())
}

/// A search that evaluates nothing has no share in a tree of evaluations.
fn share(moves: &MoveCost) -> Option<f64> {
    moves.costs.full_tree_share.filter(|_| moves.costs.evaluations_mean > 0.0)
}

fn has_share(moves: &MoveCost) -> bool {
    share(moves).is_some()
}

fn has_limit(moves: &MoveCost) -> bool {
    moves.costs.overruns.is_some()
}

/// Notes on the costs.
fn notes_on_costs(report: &Report, costs: &[MoveCost]) -> Vec<String> {
    let means = match costs.iter().any(is_over_games) {
        true => CLOCKS_OVER_GAMES,
        false => CLOCKS,
    };
    let mut notes = vec![
        "Of searched moves; reach: the depth in plies that a search completed.".to_owned(),
        means.to_owned(),
    ];
    if has_errors(costs) {
        notes.push(error_note(costs).to_owned());
    }
    if has_ratios(report, costs) {
        notes.push(
            "Ratio: the player's geometric mean over games, divided by its opponent's.".to_owned(),
        );
    }
    if costs.iter().any(has_share) {
        notes.push(
            "Share: evaluations, of the leaves of a full tree; of players who search to one depth."
                .to_owned(),
        );
    }
    if costs.iter().any(has_limit) {
        notes.push(format!(
            "Over: moves that took {:.0} % longer than their time limit, or more (up to 24 %, as\n\
             times are kept in steps).",
            100.0 * OVERRUN_TOLERANCE,
        ));
    }
    notes.extend(clock_floor(costs));
    notes.extend(overrun_warning(costs));
    notes.extend(scaled::notes(report));
    notes.extend(played_on::note(report));
    notes
}

/// Times below this, in microseconds, may be off by a tenth: see `docs/timing.md`.
const NEAR_FLOOR_US: f64 = 5.0;

/// States how fine the clock is, if a shown mean or median is not far above that.
fn clock_floor(costs: &[MoveCost]) -> Option<String> {
    let is_near = |moves: &&MoveCost| {
        let means = [Some(moves.costs.wall_mean()), moves.costs.cpu_mean()];
        let means = means.into_iter().flatten().map(|mean| mean.value);
        let mut shown = means.chain([moves.costs.wall_us_median]);
        moves.costs.searched_moves > 0 && shown.any(|us| us < NEAR_FLOOR_US)
    };
    let near = costs.iter().filter(is_near).count() as u64;
    (near > 0).then(|| {
        format!(
            "In {} of {} a time is below {NEAR_FLOOR_US} µs, near the clock's floor: each move's is kept in whole\n\
             microseconds, rounded down, and includes about one for reading the clocks.",
            count(near),
            counted(costs.len() as u64, "line"),
        )
    })
}

/// States the clocks of the times.
const CLOCKS: &str = "Cpu: mean processor time, - where it is not known; wall: mean wall time. Median: the wall time that\n\
     half of all moves did not exceed.";

/// The same of means over games.
const CLOCKS_OVER_GAMES: &str = "Cpu: mean processor time, - where it is not known; wall: mean wall time; both over games, of the\n\
     mean in each. Median: the wall time that half of all moves did not exceed.";

/// States the clock whose mean has the interval.
fn error_note(costs: &[MoveCost]) -> &'static str {
    let by_cpu = costs.iter().filter(|moves| moves.costs.is_compared_by_cpu).count();
    if by_cpu == 0 {
        "95%: half the width of the interval of the mean wall time, over openings."
    } else if by_cpu == costs.len() {
        "95%: half the width of the interval of the mean processor time, over openings."
    } else {
        "95%: half the width of the interval of the mean, over openings: of processor time, but of wall\n\
         time where a time limit ends moves or processor time is not known."
    }
}

/// Warns of players that exceed their time, whose strength is not that of the sweep's limit.
fn overrun_warning(costs: &[MoveCost]) -> Option<String> {
    let share = |moves: &&MoveCost| moves.costs.overrun_share().unwrap_or_default();
    let exceeding = costs.iter().filter(|moves| share(moves) > OVERRUNS_WARNED_OF);
    let limited = costs.iter().filter(|moves| has_limit(moves)).count() as u64;
    let worst = exceeding.clone().max_by(|a, b| share(a).total_cmp(&share(b)))?;
    Some(format!(
        "Warning: in {} of {} lines more than {} of the moves are over their limit, most by {}: the\n\
         machine had other work, or too many slots. Its players had other times than they were given.",
        count(exceeding.count() as u64),
        count(limited),
        percent(OVERRUNS_WARNED_OF),
        worst.player,
    ))
}

#[cfg(test)]
mod tests {
    use crate::tables::text::tests::{report, shown};

    #[test]
    fn times_near_the_floor_of_the_clock_are_warned_of() {
        let mut report = report();
        assert!(!shown(&report).contains("clock's floor"));
        // The mean is shown to be far above it, and half of all moves are not.
        report.moves[0].costs.wall_us_median = 4.9;
        let text = shown(&report);
        assert!(text.contains("In 1 of 2 lines a time is below 5 µs"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}
