//! Tables for people.

use spelrum_answers::{
    CellFailures, CellResult, CellStop, ExperimentSummary, Report, SprtOutcome, SprtStanding,
    Stronger,
};
use spelrum_model::Task;
use spelrum_statistics::StopRule;

use super::axes::{axis_columns, places};
use super::{accuracy, colours, costs, disturbance, engines, evolution, forfeits, margins, runs};
use crate::document::{Document, Part, TitledTable};
use crate::text::{Column, count, counted, optional, signed};

/// Returns a report in tables for people.
pub(crate) fn parts(report: &Report) -> Vec<Part> {
    let run_tables = runs::table(report);
    if report.cells.is_empty() {
        let none = Part::Words("no cells".to_owned());
        let bred = [evolution::table(report), evolution::family(report)].into_iter().flatten();
        let run_tables: Vec<Part> = run_tables.into_iter().chain(bred).map(Part::Table).collect();
        return if run_tables.is_empty() { vec![none] } else { run_tables };
    }
    let mut tables = match report.experiment.task {
        Task::Game => vec![strength(report).with_notes(notes(report))],
        Task::Choice => accuracy::tables(report),
    };
    let bred = [evolution::table(report), evolution::family(report)].into_iter().flatten();
    tables.splice(0..0, run_tables.into_iter().chain(bred));
    tables.extend(margins::table(report));
    tables.extend(colours::table(report).filter(|_| report.experiment.task.is_game()));
    tables.extend(costs::tables(report));
    tables.extend(forfeits::table(report));
    tables.extend(engines::table(report));
    tables.extend(disturbance::table(report));
    tables.extend(failures(report).filter(|_| report.experiment.task.is_game()));
    tables.into_iter().map(Part::Table).collect()
}

/// Creates a document about an experiment.
pub(crate) fn document(experiment: &ExperimentSummary, parts: Vec<Part>) -> Document {
    let about = format!(
        "{}, {}, {} of {} {}",
        experiment.game,
        experiment.state.name(),
        count(experiment.games_settled),
        count(experiment.games_planned),
        experiment.task.noun(experiment.games_planned),
    );
    Document { title: experiment.name.clone(), about, parts }
}

/// Returns a table of cells: games, the score with its interval, and the stronger player.
fn strength(report: &Report) -> TitledTable {
    let mut columns = axis_columns(report);
    // All cells of one sweep are alike in this, too.
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
    columns.push(Column::numbers("Elo"));
    // A test answers the question itself; an interval at its stop is not valid.
    columns.push(Column::words(if is_tested { "LLR" } else { "stronger" }));
    let mut table = TitledTable::new("cells", "Who is stronger", columns);
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
            optional(cell.strength().elo, signed),
            if is_tested { tested(cell) } else { stronger(cell) },
        ];
        table.row(places(report, &cell.axes).chain(row));
    }
    table
}

/// Formats the log-likelihood ratio of an SPRT, and the Elo difference that the test has accepted.
fn tested(cell: &CellResult) -> String {
    let Some((SprtStanding { llr, outcome, .. }, StopRule::Sprt(sprt))) =
        cell.sprt().zip(cell.stop.map(|stop| stop.rule))
    else {
        return optional(None::<f64>, signed);
    };
    let llr = format!("{:.2}", llr + 0.0);
    match outcome {
        None => llr,
        Some(SprtOutcome::Taken(verdict)) => {
            format!("{llr}: {}", elo_text(sprt.accepted_elo(verdict)))
        }
        Some(SprtOutcome::NotJudged) => "not judged".to_owned(),
    }
}

/// `+10 Elo`
fn elo_text(elo: f64) -> String {
    if elo == 0.0 { "0 Elo".to_owned() } else { format!("{elo:+} Elo") }
}

/// Returns the stronger player; a dash in self-play.
fn stronger(cell: &CellResult) -> String {
    optional((!cell.is_self_play).then(|| cell.stronger()), |stronger| match stronger {
        Stronger::Player => cell.player.clone(),
        Stronger::Opponent => cell.opponent.clone(),
        Stronger::Unclear => "unclear".to_owned(),
    })
}

/// Name of the table of failures.
pub(crate) const FAILURES: &str = "failures";

/// Notes on the first table.
fn notes(report: &Report) -> Vec<String> {
    // All cells of one sweep are alike in this.
    let score = match report.cells.iter().all(|cell| cell.swap_sides) {
        true => "Score: the player's points per game, over pairs of games with colours swapped.",
        false => "Score: the player's points per game; the player moves first in every game.",
    };
    let mut notes = vec![score.to_owned()];
    let incomplete = report.cells.iter().filter(|cell| !cell.is_complete()).count();
    if incomplete > 0 {
        let is = if incomplete == 1 { "is" } else { "are" };
        let cells = counted(report.cells.len() as u64, "cell");
        notes.push(format!("{incomplete} of {cells} {is} incomplete."));
    }
    notes.extend(forfeited(report));
    notes.extend(stops(report));
    notes.extend(one_round(report));
    if report.experiment.games_failed > 0 {
        notes.push(format!(
            "{} failed and do not count; see why: spelrum sql 'SELECT * FROM failures'.",
            counted(report.experiment.games_failed, "game")
        ));
        notes.push("After fixing the cause, replay them with spelrum retry.".to_owned());
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
    notes.extend(report.first_mover.map(|score| {
        let [score, low, high] = [score.score, score.low, score.high];
        format!("Who moves first scores {score:.3} ({low:.3}–{high:.3}).")
    }));
    notes.extend(openings_decide(report));
    notes.extend(one_opening(report));
    notes.extend(few_openings(report));
    notes.extend(many_verdicts(report));
    notes
}

/// Warns that scores include many failures.
fn forfeited(report: &Report) -> Option<String> {
    let notable = report.engines.forfeits.iter().filter(|entry| entry.is_notable());
    let notable: Vec<String> = notable
        .map(|entry| {
            format!("{} of {} games of {}", count(entry.total()), count(entry.games), entry.player)
        })
        .collect();
    (!notable.is_empty()).then(|| {
        format!("Warning: forfeits decided {}; see the table Forfeits.", notable.join(", "))
    })
}

/// Warns if one colour wins both games of most pairs, so that scores hardly distinguish players.
fn openings_decide(report: &Report) -> Option<String> {
    const FEW_PAIRS: u64 = 20;
    let pairs: u64 = report.cells.iter().map(|cell| cell.pairs.pairs()).sum();
    let first: u64 = report.cells.iter().map(|cell| cell.pairs_won_by_first_mover).sum();
    let second: u64 = report.cells.iter().map(|cell| cell.pairs_won_by_second_mover).sum();
    (pairs >= FEW_PAIRS && 2 * (first + second) > pairs).then(|| {
        format!(
            "Openings decide: in {} of {} pairs one colour won both games, the first mover in {},\n\
             the second in {}. Other openings tell players apart sooner.",
            count(first + second),
            count(pairs),
            count(first),
            count(second),
        )
    })
}

/// Notes cells that ended because their players' games would repeat.
fn one_round(report: &Report) -> Option<String> {
    let ended: Vec<&CellResult> = report.cells.iter().filter(|cell| cell.is_one_round).collect();
    let not_judged = |cell: &&&CellResult| {
        cell.sprt().is_some_and(|standing| standing.outcome == Some(SprtOutcome::NotJudged))
    };
    let open = match ended.iter().filter(not_judged).count() {
        0 => String::new(),
        open => format!(
            "\nSPRTs not judged in {}: repeated games are not evidence. Take more openings.",
            count(open as u64)
        ),
    };
    (!ended.is_empty()).then(|| {
        format!(
            "{} of {} ended after one round of openings: the players repeat their games.{open}",
            count(ended.len() as u64),
            counted(report.cells.len() as u64, "cell"),
        )
    })
}

/// States that results are limited to one opening, if there is only one.
fn one_opening(report: &Report) -> Option<String> {
    let is_one = |cell: &&CellResult| cell.openings_used == 1 && cell.tally().units() > 1;
    let cells = report.cells.iter().filter(is_one).count() as u64;
    (cells > 0).then(|| {
        format!(
            "Single opening in {} of {}: the interval is for that opening alone.",
            count(cells),
            counted(report.cells.len() as u64, "cell"),
        )
    })
}

/// States that each opening is one unit of the interval, if openings repeat.
fn few_openings(report: &Report) -> Option<String> {
    const FEW: u64 = 10;
    let comes_again = |cell: &&CellResult| cell.openings.is_some();
    let cells: Vec<&CellResult> = report.cells.iter().filter(comes_again).collect();
    let least = cells.iter().map(|cell| cell.openings_used).min()?;
    let most = cells.iter().map(|cell| cell.openings_used).max()?;
    let openings = match least == most {
        true => counted(least, "opening"),
        false => format!("{} to {} openings", count(least), count(most)),
    };
    let wide = match least < FEW {
        true => {
            ", and\nwide because these are few. An axis over single openings gives each its own interval."
        }
        false => ".",
    };
    Some(format!(
        "{} of {} cells start again and again from {openings}: their intervals are over them{wide}",
        count(cells.len() as u64),
        count(report.cells.len() as u64),
    ))
}

/// Warns that one verdict in twenty is wrong where all players are equal.
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

/// Describes the state of stop rules.
fn stops(report: &Report) -> Vec<String> {
    let rules: Vec<CellStop> = report.cells.iter().filter_map(|cell| cell.stop).collect();
    // One sweep has one rule.
    let Some(CellStop { rule, .. }) = rules.first() else { return Vec::new() };
    let games_max = rules.iter().map(|stop| stop.games_max).max().unwrap_or_default();
    let ended: Vec<u64> = report.cells.iter().filter_map(CellResult::ended_by_rule).collect();
    let games_max = counted(games_max, "game");
    let after = match (ended.iter().min(), ended.iter().max()) {
        (Some(least), Some(most)) if least == most => {
            format!(", after {}", counted(*least, "game"))
        }
        (Some(least), Some(most)) => format!(", after {} to {} games", count(*least), count(*most)),
        (_, _) => String::new(),
    };
    let mut notes = vec![
        format!("Stop rule: {rule}; at most {games_max}."),
        format!("It has ended {} of {}{after}.", ended.len(), counted(rules.len() as u64, "cell")),
    ];
    if let StopRule::Sprt(sprt) = rule {
        let [lower, upper] = sprt.bounds();
        let [elo0, elo1] = [elo_text(sprt.elo0()), elo_text(sprt.elo1())];
        notes.push(format!(
            "LLR: logarithm of the SPRT's likelihood ratio. At {upper:.2} the test accepts {elo1} for the player\n\
             (elo1), at {lower:.2} it accepts {elo0} (elo0)."
        ));
    }
    if !ended.is_empty() {
        let biased = match rule {
            StopRule::Sprt(_) => {
                "Score and Elo of a cell that an SPRT stopped are biased away from even: the test waited for it.\n\
                 Report the test's answer; measure the difference in a match of fixed length."
            }
            StopRule::Precision(_) => {
                "An interval at a stop is a little too sure of itself: the rule waited for it."
            }
        };
        notes.push(biased.to_owned());
    }
    notes
}

/// Returns the cells with failures.
fn failures(report: &Report) -> Option<TitledTable> {
    let failures = report.failures();
    let mut columns = axis_columns(report);
    columns.extend([
        Column::words("player"),
        Column::words("opponent"),
        Column::numbers("games"),
        Column::numbers("failed"),
        Column::numbers("replayed"),
        Column::numbers("score"),
        Column::numbers("if lost"),
        Column::numbers("if won"),
    ]);
    let mut table = TitledTable::new(FAILURES, "What went wrong", columns);
    for CellFailures { cell, replayed } in &failures {
        let bounds = cell.score_bounds();
        let row = [
            cell.player.clone(),
            cell.opponent.clone(),
            count(cell.games),
            count(cell.games_failed),
            count(*replayed),
            optional(cell.score, |score| format!("{:.3}", score.score)),
            optional(bounds, |[worst, _]| format!("{worst:.3}")),
            optional(bounds, |[_, best]| format!("{best:.3}")),
        ];
        table.row(places(report, &cell.axes).chain(row));
    }
    let notes = [
        "Failed: games without a result. Replayed: games that count, but were lost or failed before.",
        "If lost, if won: the score of all games, had the player lost, or won, those that failed.",
    ];
    (!failures.is_empty()).then(|| table.with_notes(notes.map(ToOwned::to_owned).to_vec()))
}

#[cfg(test)]
pub(crate) mod tests {
    use spelrum_answers::{
        ColourResult, Costs, CpuTimes, EnginesUsed, MoveCost, Overruns, ReplayedGames, UsedEngine,
    };
    use spelrum_model::ExperimentState;
    use spelrum_model::engines::EngineIdentity;
    use spelrum_model::{CellId, ExperimentId};
    use spelrum_statistics::{
        EloModel, Interval, OpeningSpread, OverGames, PairCounts, ScoreInterval, Sprt,
    };

    use super::*;

    fn interval(value: f64, low: f64, high: f64) -> Option<Interval> {
        Some(Interval { value, low, high })
    }

    /// Half of the games with each colour, and all draws where the player moves first.
    fn colours(games: u64) -> [ColourResult; 2] {
        let (wins, losses) = (games / 4, games / 8);
        let score = |score| Some(ScoreInterval { score, low: score - 0.1, high: score + 0.1 });
        [
            ColourResult { wins, draws: games / 4, losses, score: score(0.7004) },
            ColourResult { wins, draws: 0, losses, score: score(0.55) },
        ]
    }

    pub(crate) fn report() -> Report {
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
            is_one_round: false,
            games,
            games_failed: 0,
            wins: games / 2,
            draws: games / 4,
            losses: games / 4,
            pairs: PairCounts(pairs),
            pairs_won_by_first_mover: 0,
            pairs_won_by_second_mover: 0,
            distinct_games: games,
            score: score.map(|[score, low, high]| ScoreInterval { score, low, high }),
            openings: None,
            first_mover: None,
            colours: (games > 0).then(|| colours(games)),
            margin: None,
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
                wall_us_p95: Some(40.1 * scale),
                wall_us_p99: 55.0 * scale,
                depth_mean: 1.0,
                nodes_mean: 212.4 * scale,
                evaluations_mean: 201.7 * scale,
                full_tree_share: share,
                overruns: None,
                wall_us_game_mean: Some(OverGames {
                    value: 12.5 * scale,
                    interval: interval(12.5, 11.4, 13.6 * scale).filter(|_| scale > 1.0),
                }),
                wall_us_ratio: Some(OverGames {
                    value: scale / 300.0,
                    interval: interval(scale / 300.0, scale / 400.0, scale / 200.0),
                }),
                cpu: None,
            },
        };
        let by_depth = |mut cost: MoveCost| {
            cost.costs.wall_us_game_mean = None;
            cost.costs.wall_us_ratio = None;
            cost
        };
        Report {
            experiment: ExperimentSummary {
                experiment: ExperimentId(1),
                uuid: "00000000-0000-4000-8000-000000000000".to_owned(),
                name: "pentago-depth".to_owned(),
                game: "pentago".to_owned(),
                task: spelrum_model::Task::Game,
                state: ExperimentState::Running,
                priority: 0,
                cells: 4,
                games_planned: 300,
                games_settled: 150,
                games_failed: 2,
                submitted_unix_us: 0,
            },
            axes: vec!["depth".to_owned()],
            description: String::new(),
            engine_revision: None,
            engines: EnginesUsed::default(),
            runs: Vec::new(),
            first_mover: Some(ScoreInterval { score: 0.54, low: 0.5102, high: 0.5698 }),
            cells: vec![
                cell("1", Some([0.6255, 0.5512, 0.6998]), 100, [2, 5, 20, 12, 11]),
                cell("2", Some([0.5, 0.41, 0.59]), 50, [3, 5, 9, 5, 3]),
                cell("unlimited", None, 0, [0; 5]),
                cell("-", Some([0.2, 0.1, 0.3]), 100, [22, 16, 10, 2, 0]),
            ],
            moves: vec![cost("alphabeta", 1.0, Some(0.91)), cost("genetic", 3_000.0, None)],
            depths: vec![by_depth(cost("alphabeta", 1.0, Some(0.91)))],
            accuracy: Vec::new(),
            replayed: Vec::new(),
            disturbed: Vec::new(),
            scaled: Default::default(),
            played_on: None,
            claims: Vec::new(),
        }
    }

    pub(crate) fn shown(report: &Report) -> String {
        let mut out = Vec::new();
        document(&report.experiment, parts(report)).write_text(&mut out).unwrap();
        anstream::adapter::strip_str(&String::from_utf8(out).unwrap()).to_string()
    }

    /// `ab(depth=3)` states it already.
    #[test]
    fn what_players_vary_has_no_columns() {
        let tables = |report: &Report| shown(report);
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
    fn time_limits_that_are_overrun_are_warned_of() {
        let mut report = report();
        for (moves, overran) in report.moves.iter_mut().zip([1, 100]) {
            let (limit_us, beyond_us) = (10_000, 11_264);
            moves.costs.overruns =
                Some(Overruns { limit_us, beyond_us, moves: overran, longest_us: 98_304.0 });
            moves.costs.full_tree_share = None;
        }
        report.depths.clear();
        let text = shown(&report);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
        report.moves[1].costs.overruns = report.moves[0].costs.overruns;
        assert!(!shown(&report).contains("Warning"));
    }

    /// Players without a time limit are compared by processor time, and a note states the clock of each player's
    /// times.
    #[test]
    fn processor_times_take_the_place_of_wall_times() {
        let mut report = report();
        report.depths.clear();
        let over_games =
            |value| Some(OverGames { value, interval: interval(value, value, 2.0 * value) });
        let cpu = Some(CpuTimes {
            us_mean: 7_000.0,
            us_game_mean: over_games(8_000.0),
            us_ratio: over_games(1.5),
        });
        assert!(shown(&report).contains("Of searched moves: wall time; reach"));
        report.moves[0].costs.cpu = cpu;
        let mixed = shown(&report);
        assert!(mixed.contains("8.00 ms  ±100%") && mixed.contains("×1.50"), "{mixed}");
        assert!(mixed.contains("but the mean is processor time where no time limit"), "{mixed}");
        report.moves.iter_mut().for_each(|moves| moves.costs.cpu = cpu);
        let all = shown(&report);
        assert!(all.contains("Of searched moves: processor time, but in median"), "{all}");
        assert!(
            [mixed, all].iter().all(|text| text.lines().all(|line| line.chars().count() <= 100))
        );
        // Over moves only, as by depth.
        for moves in &mut report.moves {
            let cpu = CpuTimes { us_mean: 7_000.0, ..CpuTimes::default() };
            moves.costs.cpu = Some(cpu);
        }
        let over_moves = shown(&report);
        assert!(
            over_moves.contains("7.00 ms") && !over_moves.contains("Mean: over games"),
            "{over_moves}"
        );
    }

    /// External engines report no evaluations, and some neither depth nor nodes.
    #[test]
    fn what_an_external_engine_does_not_report_is_unknown() {
        let mut report = report();
        report.depths.clear();
        for (moves, depth) in report.moves.iter_mut().zip([0.0, 7.0]) {
            moves.costs.evaluations_mean = 0.0;
            moves.costs.depth_mean = depth;
            moves.costs.nodes_mean = 100.0 * depth;
        }
        let rows = |report: &Report| -> Vec<String> {
            let text = shown(report);
            let costs =
                text.lines().skip_while(|line| *line != "What a move costs").skip(4).take(2);
            costs
                .map(|line| line.split_whitespace().rev().take(3).collect::<Vec<_>>().join(" "))
                .collect()
        };
        assert_eq!(rows(&report), ["0 0 0.0", "0 700 7.0"], "{}", shown(&report));
        report.engines.engines = ["alphabeta", "genetic"]
            .map(|player| UsedEngine {
                player: player.to_owned(),
                engine: EngineIdentity {
                    name: String::new(),
                    author: String::new(),
                    sha256: [7; 32],
                },
                build: None,
                cells: 1,
                games: 100,
            })
            .into();
        assert_eq!(rows(&report), ["- - -", "- 700 7.0"], "{}", shown(&report));
    }

    #[test]
    fn failures_are_listed_by_cell() {
        let mut report = report();
        report.moves.clear();
        report.depths.clear();
        for (cell, id) in report.cells.iter_mut().zip(1..) {
            cell.cell = CellId(id);
        }
        report.cells[1].games_failed = 10;
        report.replayed = vec![
            ReplayedGames { cell: CellId(2), games: 3 },
            ReplayedGames { cell: CellId(4), games: 1 },
            ReplayedGames { cell: CellId(99), games: 1 },
        ];
        let text = shown(&report);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn notes_describe_stops() {
        let mut report = report();
        assert_eq!(stops(&report), Vec::<String>::new());
        let rule = StopRule::from_precision(0.03).unwrap();
        for (cell, stopped_after) in report.cells.iter_mut().zip([Some(200), None, Some(1_250)]) {
            cell.stop = Some(CellStop { rule, games_max: 2_000, stopped_after });
        }
        insta::assert_snapshot!(stops(&report).join("\n"));
    }

    /// Few openings widen an interval, a single one limits the result to it, and colours may decide.
    #[test]
    fn notes_describe_openings() {
        let mut report = report();
        assert_eq!((few_openings(&report), one_opening(&report)), (None, None));
        assert_eq!(openings_decide(&report), None);
        let openings = OpeningSpread { effective: 8.0, variance: 0.05 };
        report.cells[0].openings = Some(openings);
        report.cells[0].openings_used = 8;
        report.cells[1].openings = Some(openings);
        report.cells[1].openings_used = 12;
        report.cells[3].openings_used = 1;
        report.cells[3].pairs_won_by_first_mover = 50;
        report.cells[0].pairs_won_by_second_mover = 13;
        let text = notes(&report).join("\n");
        for note in [
            "2 of 4 cells start again and again from 8 to 12 openings: their intervals are over them, and\n\
             wide because these are few. An axis over single openings gives each its own interval.",
            "Single opening in 1 of 4 cells: the interval is for that opening alone.",
            "Openings decide: in 63 of 125 pairs one colour won both games, the first mover in 50,\n\
             the second in 13. Other openings tell players apart sooner.",
        ] {
            assert!(text.contains(note), "{text}");
            assert!(note.lines().all(|line| line.chars().count() <= 100), "{note}");
        }
        // One pair in two is not most of them.
        report.cells[3].pairs_won_by_first_mover = 49;
        assert_eq!(openings_decide(&report), None);
    }

    #[test]
    fn sprts_are_shown_by_cell() {
        let mut report = report();
        let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Normalized).unwrap();
        for (cell, stopped_after) in report.cells.iter_mut().zip([Some(200), None, None]) {
            let rule = StopRule::Sprt(sprt);
            cell.stop = Some(CellStop { rule, games_max: 2_000, stopped_after });
        }
        report.cells[1].is_self_play = true;
        let text = shown(&Report { moves: Vec::new(), depths: Vec::new(), ..report });
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn the_tables_are_readable_in_100_columns() {
        let text = shown(&report());
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        insta::assert_snapshot!(text);
    }
}
