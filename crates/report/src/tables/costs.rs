//! Cost of moves.

use spelrum_answers::{MoveCost, OVERRUN_TOLERANCE, OVERRUNS_WARNED_OF, Report};

use super::axes::{axis_columns, names_opponents, places};
use super::csv::rows;
use super::entry::{Source, TableEntry, View, parts};
use super::{json, played_on, scaled};
use crate::document::TitledTable;
use crate::text::{Column, count, duration_us, optional, percent, ratio, relative_error};

pub(crate) const MOVES: TableEntry = TableEntry::new(
    "moves",
    "What a move costs",
    Source::Cells(View {
        parts: |report| parts(moves(report)),
        rows: |report| {
            let json::Report { experiment, axes, moves, .. } = &json::Report::from(report);
            rows(experiment, axes, moves)
        },
    }),
)
.with_choices();

pub(crate) const DEPTHS: TableEntry = TableEntry::new(
    "depths",
    "What a move costs at each depth that searches completed",
    Source::Depths(View {
        parts: |report| parts(depths(report)),
        rows: |report| {
            let json::Report { experiment, axes, depths, .. } = &json::Report::from(report);
            rows(experiment, axes, depths)
        },
    }),
)
.with_choices();

fn moves(report: &Report) -> Option<TitledTable> {
    let costs = &report.moves;
    let names = [MOVES.name, "What a move costs"];
    (!costs.is_empty())
        .then(|| table(report, names, "reach", costs).with_notes(notes_on_costs(report, costs)))
}

fn depths(report: &Report) -> Option<TitledTable> {
    let names = [DEPTHS.name, "What a move costs, by the depth that its search completed"];
    (!report.depths.is_empty()).then(|| table(report, names, "its depth", &report.depths))
}

/// Returns a table of the cost of a searched move, by cell and player.
fn table(
    report: &Report,
    [name, title]: [&'static str; 2],
    depth: &str,
    costs: &[MoveCost],
) -> TitledTable {
    let names_opponents = names_opponents(report);
    let (has_shares, has_limits) = (costs.iter().any(has_share), costs.iter().any(has_limit));
    let (has_errors, has_ratios) = (has_errors(costs), has_ratios(report, costs));
    let mut columns = axis_columns(report);
    let optional_column = |is_there: bool, column| is_there.then(|| Column::numbers(column));
    columns.push(Column::words("player"));
    columns.extend(names_opponents.then(|| Column::words("opponent")));
    columns.extend([Column::numbers("moves"), Column::numbers("mean")]);
    columns.extend(optional_column(has_errors, "95%"));
    columns.extend([Column::numbers("median"), Column::numbers("p95")]);
    columns.extend(optional_column(has_ratios, "ratio"));
    columns.extend([depth, "nodes", "evals"].map(Column::numbers));
    columns.extend(optional_column(has_shares, "share"));
    columns.extend(
        ["over", "longest"].into_iter().filter_map(|heading| optional_column(has_limits, heading)),
    );
    let mut table = TitledTable::new(name, title, columns);
    for moves in costs {
        let costs = &moves.costs;
        // External engines report no evaluations, and some neither depth nor nodes: their 0 means unknown.
        let is_external = report.engines.engines.iter().any(|engine| engine.player == moves.player);
        let reported = |mean: f64| (!is_external || mean > 0.0).then_some(mean);
        let rounded = |mean: f64| optional(reported(mean), |mean| count(mean.round() as u64));
        let mean_us = costs.us_mean().value;
        let row = [Some(moves.player.clone())]
            .into_iter()
            .chain([names_opponents.then(|| moves.opponent.clone())])
            .chain([Some(count(costs.searched_moves)), Some(duration_us(mean_us))])
            .chain([has_errors.then(|| optional(error_of_mean(moves), relative_error))])
            .chain([Some(duration_us(costs.wall_us_median))])
            .chain([Some(optional(costs.wall_us_p95, duration_us))])
            .chain([
                has_ratios.then(|| optional(costs.us_ratio(), |estimate| ratio(estimate.value)))
            ])
            .chain([
                Some(optional(reported(costs.depth_mean), |mean| format!("{mean:.1}"))),
                Some(rounded(costs.nodes_mean)),
                Some(rounded(costs.evaluations_mean)),
                has_shares.then(|| optional(share(moves), percent)),
            ]);
        let limit = has_limits.then(|| overruns(moves)).into_iter().flatten();
        table.row(places(report, &moves.axes).chain(row.flatten()).chain(limit));
    }
    table
}

/// Returns half the width of the mean's interval, as a share of the mean.
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
    costs.cpu.map_or(costs.wall_us_game_mean, |cpu| cpu.us_game_mean).is_some()
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

/// Formats the number of moves that overran, and the longest.
fn overruns(moves: &MoveCost) -> [String; 2] {
    let longest = moves.costs.overruns.map(|overruns| overruns.longest_us);
    [optional(moves.costs.overrun_share(), percent), optional(longest, duration_us)]
}

/// Notes on the costs.
fn notes_on_costs(report: &Report, costs: &[MoveCost]) -> Vec<String> {
    let mut notes = vec![clock_note(costs).to_owned()];
    if costs.iter().any(is_over_games) {
        let error = match has_errors(costs) {
            true => "; 95%: half the width of its interval, over openings",
            false => "",
        };
        notes.push(format!(
            "Mean: over games, of the mean in each{error}.\n\
             Median, p95: what half and 95% of all moves did not exceed.",
        ));
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
    notes.extend(overrun_warning(costs));
    notes.extend(scaled::notes(report));
    notes.extend(played_on::note(report));
    notes
}

/// States the clock of the times, and the other columns beside them.
fn clock_note(costs: &[MoveCost]) -> &'static str {
    let by_cpu = costs.iter().filter(|moves| moves.costs.cpu.is_some()).count();
    if by_cpu == 0 {
        "Of searched moves: wall time; reach: the depth in plies that a search completed."
    } else if by_cpu == costs.len() {
        "Of searched moves: processor time, but in median and p95 wall time; reach: the depth in plies\n\
         that a search completed."
    } else {
        "Of searched moves: wall time, but the mean is processor time where no time limit ends moves and\n\
         it is known; reach: the depth in plies that a search completed."
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
