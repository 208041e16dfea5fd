//! The tables for people.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anstyle::Style;
use spelrum_tournament::Role;
use spelrum_tournament::results::{
    CellResult, CellStop, ExperimentSummary, MoveCost, Report, SprtStanding, Stronger,
};
use spelrum_tournament::stopping::StopRule;

use crate::output::{Column, TextTable, count, duration_us, optional, percent, signed};

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    heading(&report.experiment, out)?;
    if report.cells.is_empty() {
        return writeln!(out, "\nno cells");
    }
    title(out, "Who is stronger")?;
    strength(report).write(out)?;
    for note in notes(report) {
        writeln!(out, "{note}")?;
    }
    if !report.moves.is_empty() {
        title(out, "What a move costs")?;
        costs(report, &report.moves).write(out)?;
        writeln!(
            out,
            "Of searched moves: wall time, depth in plies; share: evaluations, of a full tree's leaves."
        )?;
    }
    if !report.depths.is_empty() {
        title(out, "What a move costs, by the depth that its search completed")?;
        costs(report, &report.depths).write(out)?;
    }
    Ok(())
}

pub(super) fn heading(experiment: &ExperimentSummary, out: &mut dyn Write) -> io::Result<()> {
    let bold = Style::new().bold();
    writeln!(
        out,
        "{bold}{}{bold:#}  {}, {}, {} of {} games",
        experiment.name,
        experiment.game,
        experiment.state.name(),
        count(experiment.games_settled),
        count(experiment.games_planned),
    )
}

pub(super) fn title(out: &mut dyn Write, title: &str) -> io::Result<()> {
    let bold = Style::new().bold();
    writeln!(out, "\n{bold}{title}{bold:#}\n")
}

/// Each cell: its games, the score with its interval, and what that says.
fn strength(report: &Report) -> TextTable {
    let mut columns = axis_columns(report);
    // The cells of one sweep are all alike in this, too.
    let is_tested = report.cells.iter().any(|cell| cell.sprt().is_some());
    columns.extend([
        Column::words("player"),
        Column::words("opponent"),
        Column::numbers("games"),
        Column::numbers("win"),
        Column::numbers("draw"),
        Column::numbers("loss"),
        Column::numbers("score"),
        Column::words("95% interval"),
    ]);
    // A test's answer takes the place of the difference, which is biased where a test has ended.
    columns.extend((!is_tested).then(|| Column::numbers("Elo")));
    columns.push(Column::words("stronger"));
    columns.extend(is_tested.then(|| Column::words("LLR")));
    let mut table = TextTable::new(&columns);
    for cell in &report.cells {
        let games = match cell.games == cell.games_planned {
            true => count(cell.games),
            false => format!("{}/{}", count(cell.games), count(cell.games_planned)),
        };
        let row = [
            cell.player.clone(),
            cell.opponent.clone(),
            games,
            count(cell.wins),
            count(cell.draws),
            count(cell.losses),
            optional(cell.score, |score| format!("{:.3}", score.score)),
            optional(cell.score, |score| format!("{:.3}–{:.3}", score.low, score.high)),
        ];
        let elo = (!is_tested).then(|| optional(cell.strength().elo, signed));
        let test = is_tested.then(|| optional(cell.sprt(), tested));
        let said = elo.into_iter().chain([stronger(cell)]).chain(test);
        table.row(places(report, &cell.axes).chain(row).chain(said));
    }
    table
}

/// A column for each axis of the grid. What players vary is in their names already.
fn axis_columns(report: &Report) -> Vec<Column> {
    report.axes.iter().filter(|axis| is_of_the_grid(axis)).map(Column::numbers).collect()
}

/// A cell's values on these axes; a dash on an axis that does not touch it.
fn places(report: &Report, values: &[Option<String>]) -> impl Iterator<Item = String> {
    let places = report.axes.iter().zip(values).filter(|(axis, _)| is_of_the_grid(axis));
    places.map(|(_, value)| optional(value.as_deref(), ToOwned::to_owned))
}

fn is_of_the_grid(axis: &str) -> bool {
    Role::of_axis(axis).is_none()
}

/// The logarithm of a sequential test's likelihood ratio, and which strength it has taken.
fn tested(standing: SprtStanding) -> String {
    let llr = format!("{:.2}", standing.llr + 0.0);
    standing.verdict.map_or(llr.clone(), |verdict| format!("{llr} {}", verdict.name()))
}

/// A dash in self-play: nobody is stronger than itself.
fn stronger(cell: &CellResult) -> String {
    optional((!cell.is_self_play).then(|| cell.stronger()), |stronger| match stronger {
        Stronger::Player => cell.player.clone(),
        Stronger::Opponent => cell.opponent.clone(),
        Stronger::Unclear => "unclear".to_owned(),
    })
}

/// What a reader of the first table must know besides.
fn notes(report: &Report) -> Vec<String> {
    // The cells of one sweep are all alike in this.
    let score = match report.cells.iter().all(|cell| cell.swap_sides) {
        true => "Score: the player's points per game, over pairs of games with colours swapped.",
        false => "Score: the player's points per game; the player moves first in every game.",
    };
    let mut notes = vec![score.to_owned()];
    let incomplete = report.cells.iter().filter(|cell| !cell.is_complete()).count();
    if incomplete > 0 {
        notes.push(format!("{} of {} cells are incomplete.", incomplete, report.cells.len()));
    }
    notes.extend(stops(report));
    if report.experiment.games_failed > 0 {
        notes.push(format!(
            "{} games failed and count for nobody; see why: spelrum sql 'SELECT * FROM failures'.",
            count(report.experiment.games_failed)
        ));
        notes.push("Once that is mended, spelrum retry lets them be played again.".to_owned());
    }
    let games: u64 = report.cells.iter().map(|cell| cell.games).sum();
    let distinct: u64 = report.cells.iter().map(|cell| cell.distinct_games).sum();
    if distinct < games {
        notes.push(format!(
            "{} of {} games are equal to another game of their cell.",
            count(games - distinct),
            count(games),
        ));
    }
    notes.extend(few_openings(report));
    notes.extend(many_verdicts(report));
    notes
}

/// The more pairs start from one opening, the more the interval is about the openings that were played.
fn few_openings(report: &Report) -> Option<String> {
    let again = |cell: &&CellResult| cell.openings_used < cell.tally().units();
    let cells: Vec<&CellResult> = report.cells.iter().filter(again).collect();
    let least = cells.iter().map(|cell| cell.openings_used).min()?;
    let most = cells.iter().map(|cell| cell.openings_used).max()?;
    let openings = match (least, most) {
        (1, 1) => "one opening".to_owned(),
        (least, most) if least == most => format!("{} openings", count(least)),
        (least, most) => format!("{} to {} openings", count(least), count(most)),
    };
    Some(format!(
        "{} of {} cells start again and again from {openings}: their intervals are for these\n\
         openings, and too narrow for others.",
        count(cells.len() as u64),
        count(report.cells.len() as u64),
    ))
}

/// One verdict in twenty is wrong where all are even.
fn many_verdicts(report: &Report) -> Option<String> {
    const FEW: usize = 5;
    let judged = report.cells.iter().filter(|cell| !cell.is_self_play && cell.score.is_some());
    let judged = judged.count();
    (judged > FEW).then(|| {
        format!(
            "One verdict in twenty is wrong where all are even: of {} here, {} or so.",
            count(judged as u64),
            count((judged as u64).div_ceil(20)),
        )
    })
}

/// Where stop rules stand.
fn stops(report: &Report) -> Vec<String> {
    let rules: Vec<CellStop> = report.cells.iter().filter_map(|cell| cell.stop).collect();
    // One sweep has one rule.
    let Some(CellStop { rule, .. }) = rules.first() else { return Vec::new() };
    let games_max = rules.iter().map(|stop| stop.games_max).max().unwrap_or_default();
    let ended: Vec<u64> = rules.iter().filter_map(|stop| stop.stopped_after).collect();
    let games_max = count(games_max);
    let after = match (ended.iter().min(), ended.iter().max()) {
        (Some(least), Some(most)) if least == most => format!(", after {} games", count(*least)),
        (Some(least), Some(most)) => format!(", after {} to {} games", count(*least), count(*most)),
        (_, _) => String::new(),
    };
    let mut notes = vec![
        format!("Stop rule: {rule}; at most {games_max} games."),
        format!("It has ended {} of {} cells{after}.", ended.len(), rules.len()),
    ];
    if let StopRule::Sprt(sprt) = rule {
        let [lower, upper] = sprt.bounds();
        notes.push(format!(
            "LLR: logarithm of the test's likelihood ratio; {upper:.2} is elo1, {lower:.2} is elo0."
        ));
    }
    if !ended.is_empty() {
        let biased = match rule {
            StopRule::Sprt(_) => {
                "A score at a stop is a little too far from even: the test waited for it."
            }
            StopRule::Precision(_) => {
                "An interval at a stop is a little too sure of itself: the rule waited for it."
            }
        };
        notes.push(biased.to_owned());
    }
    notes
}

/// Each cell and player: what a searched move costs.
fn costs(report: &Report, costs: &[MoveCost]) -> TextTable {
    let pairings: BTreeSet<_> =
        report.cells.iter().map(|cell| (&cell.player, &cell.opponent)).collect();
    let mut columns = axis_columns(report);
    columns.push(Column::words("player"));
    // Where only two players meet, it goes without saying whom each has met.
    columns.extend((pairings.len() > 1).then(|| Column::words("opponent")));
    columns.extend([
        Column::numbers("moves"),
        Column::numbers("mean"),
        Column::numbers("median"),
        Column::numbers("90%"),
        Column::numbers("plies"),
        Column::numbers("nodes"),
        Column::numbers("evals"),
        Column::numbers("share"),
    ]);
    let mut table = TextTable::new(&columns);
    for moves in costs {
        let opponent = (pairings.len() > 1).then(|| moves.opponent.clone());
        let who = [moves.player.clone()].into_iter().chain(opponent);
        table.row(places(report, &moves.axes).chain(who).chain(cost(moves)));
    }
    table
}

fn cost(moves: &MoveCost) -> [String; 8] {
    let costs = &moves.costs;
    [
        count(costs.searched_moves),
        duration_us(costs.wall_us_mean),
        duration_us(costs.wall_us_median),
        duration_us(costs.wall_us_p90),
        format!("{:.1}", costs.depth_mean),
        count(costs.nodes_mean.round() as u64),
        count(costs.evaluations_mean.round() as u64),
        // A search that evaluates nothing has no share in a tree of evaluations.
        optional(costs.full_tree_share.filter(|_| costs.evaluations_mean > 0.0), percent),
    ]
}

#[cfg(test)]
mod tests {
    use spelrum_tournament::results::Costs;
    use spelrum_tournament::scheduler::ExperimentState;
    use spelrum_tournament::{CellId, EloModel, ExperimentId, PairCounts, ScoreInterval, Sprt};

    use super::*;

    fn report() -> Report {
        let cell = |depth: &str, score: Option<[f64; 3]>, games, pairs| CellResult {
            cell: CellId(1),
            axes: vec![(depth != "-").then(|| depth.to_owned())],
            player: "alphabeta".to_owned(),
            opponent: "genetic".to_owned(),
            is_timed: true,
            swap_sides: true,
            is_self_play: false,
            openings_used: games / 2,
            games_planned: 100,
            stop: None,
            games,
            games_failed: 0,
            wins: games / 2,
            draws: games / 4,
            losses: games / 4,
            pairs: PairCounts(pairs),
            distinct_games: games,
            score: score.map(|[score, low, high]| ScoreInterval { score, low, high }),
        };
        let cost = |player: &str, scale: f64, share| MoveCost {
            cell: CellId(1),
            axes: vec![Some("1".to_owned())],
            player: player.to_owned(),
            opponent: "the other".to_owned(),
            costs: Costs {
                searched_moves: 1_432,
                wall_us_mean: 12.3 * scale,
                wall_us_median: 11.5 * scale,
                wall_us_p90: 31.5 * scale,
                wall_us_p99: 55.0 * scale,
                depth_mean: 1.0,
                nodes_mean: 212.4 * scale,
                evaluations_mean: 201.7 * scale,
                full_tree_share: share,
            },
        };
        Report {
            experiment: ExperimentSummary {
                experiment: ExperimentId(1),
                uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
                name: "pentago-depth".to_owned(),
                game: "pentago".to_owned(),
                state: ExperimentState::Running,
                priority: 0,
                cells: 4,
                games_planned: 300,
                games_settled: 150,
                games_failed: 2,
                submitted_unix_us: 0,
            },
            axes: vec!["depth".to_owned()],
            cells: vec![
                cell("1", Some([0.6255, 0.5512, 0.6998]), 100, [2, 5, 20, 12, 11]),
                cell("2", Some([0.5, 0.41, 0.59]), 50, [3, 5, 9, 5, 3]),
                cell("unlimited", None, 0, [0; 5]),
                cell("-", Some([0.2, 0.1, 0.3]), 100, [22, 16, 10, 2, 0]),
            ],
            moves: vec![cost("alphabeta", 1.0, Some(0.91)), cost("genetic", 3_000.0, None)],
            depths: vec![cost("alphabeta", 1.0, Some(0.91))],
        }
    }

    /// `ab(depth=3)` says it already.
    #[test]
    fn what_players_vary_has_no_columns() {
        let tables = |report: &Report| {
            let mut out = Vec::new();
            write(report, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let plain = report();
        let mut varied = report();
        varied.axes = ["player.nodes", "depth", "opponent.depth"].map(str::to_owned).into();
        let cells = varied.cells.iter_mut().map(|cell| &mut cell.axes);
        let moves = varied.moves.iter_mut().chain(&mut varied.depths).map(|moves| &mut moves.axes);
        for axes in cells.chain(moves) {
            axes.insert(0, Some("10".to_owned()));
            axes.push(None);
        }
        assert_eq!(tables(&varied), tables(&plain));
    }

    #[test]
    fn stops_are_told() {
        let mut report = report();
        assert_eq!(stops(&report), Vec::<String>::new());
        let rule = StopRule::of_precision(0.03).unwrap();
        for (cell, stopped_after) in report.cells.iter_mut().zip([Some(200), None, Some(1_250)]) {
            cell.stop = Some(CellStop { rule, games_max: 2_000, stopped_after });
        }
        insta::assert_snapshot!(stops(&report).join("\n"));
    }

    #[test]
    fn sequential_tests_are_told_by_cell() {
        let mut report = report();
        let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Normalized).unwrap();
        for (cell, stopped_after) in report.cells.iter_mut().zip([Some(200), None, None]) {
            let rule = StopRule::Sprt(sprt);
            cell.stop = Some(CellStop { rule, games_max: 2_000, stopped_after });
        }
        report.cells[1].is_self_play = true;
        let mut out = Vec::new();
        write(&Report { moves: Vec::new(), depths: Vec::new(), ..report }, &mut out).unwrap();
        let styled = String::from_utf8(out).unwrap();
        let text = anstream::adapter::strip_str(&styled).to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_tables_are_readable_in_100_columns() {
        let mut out = Vec::new();
        write(&report(), &mut out).unwrap();
        let styled = String::from_utf8(out).unwrap();
        let text = anstream::adapter::strip_str(&styled).to_string();
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }
}
