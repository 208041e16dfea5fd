//! Documents about an experiment.

use spelrum_answers::ExperimentSummary;

use crate::document::{Document, Part};
use crate::text::count;

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

#[cfg(test)]
pub(crate) mod tests {
    use spelrum_answers::{
        CellResult, CellStop, ColourResult, Costs, CpuTimes, EnginesUsed, MoveCost, Overruns,
        ReplayedGames, Report, UsedEngine,
    };
    use spelrum_model::ExperimentState;
    use spelrum_model::engines::EngineIdentity;
    use spelrum_model::{CellId, ExperimentId};
    use spelrum_statistics::{
        EloModel, Interval, OpeningSpread, OverGames, PairCounts, ScoreInterval, Sprt, StopRule,
    };

    use super::super::cells::{few_openings, notes, one_opening, openings_decide, stops};
    use super::super::registry;
    use super::*;
    use crate::answers::Answers;

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
            // One is still running.
            sequence_units: (games > 0 && games < 100).then_some(50.0),
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
                is_compared_by_cpu: false,
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
            replicated: None,
            equal_within: None,
            played_on: None,
            claims: Vec::new(),
        }
    }

    /// The page of these results.
    pub(crate) fn parts(report: &Report) -> Vec<Part> {
        let answers = Answers::default().with(report.clone());
        registry::page(&super::super::cells::TABLE, &answers).unwrap()
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

    /// Both clocks have a column each, for all players; a note states of which mean the interval is.
    #[test]
    fn processor_times_stand_beside_wall_times() {
        let mut report = report();
        report.depths.clear();
        let over_games =
            |value| Some(OverGames { value, interval: interval(value, value, 2.0 * value) });
        let cpu = Some(CpuTimes {
            us_mean: 7_000.0,
            us_game_mean: over_games(8_000.0),
            us_ratio: over_games(1.5),
        });
        let row = |text: &str, player: &str| {
            let costs = text.lines().skip_while(|line| *line != "What a move costs");
            let row = costs.skip(4).find(|line| line.contains(player)).unwrap_or_default();
            row.split_once("1,432").unwrap_or_default().1.trim().to_owned()
        };
        let unknown = shown(&report);
        assert!(row(&unknown, "alphabeta").starts_with("-  12.5 µs    -  11.5 µs"), "{unknown}");
        assert!(unknown.contains("interval of the mean wall time"), "{unknown}");
        // Known, but of a player with a time limit: its wall time has the interval.
        report.moves[1].costs.cpu = cpu.map(|cpu| CpuTimes { us_ratio: None, ..cpu });
        let limited = shown(&report);
        let its = row(&limited, "genetic");
        assert!(its.starts_with("8.00 ms  37.5 ms  ±9%  34.5 ms    ×10.0"), "{limited}");
        assert!(limited.contains("interval of the mean wall time"), "{limited}");
        report.moves[1].costs.cpu = cpu;
        report.moves[1].costs.is_compared_by_cpu = true;
        let mixed = shown(&report);
        let its = row(&mixed, "genetic");
        assert!(its.starts_with("8.00 ms  37.5 ms  ±100%  34.5 ms    ×1.50"), "{mixed}");
        assert!(row(&mixed, "alphabeta").starts_with("-  12.5 µs"), "{mixed}");
        assert!(mixed.contains("of processor time, but of wall"), "{mixed}");
        for moves in &mut report.moves {
            (moves.costs.cpu, moves.costs.is_compared_by_cpu) = (cpu, true);
        }
        let all = shown(&report);
        assert!(all.contains("interval of the mean processor time"), "{all}");
        for text in [unknown, limited, mixed, all] {
            assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        }
        // Over moves only, as by depth.
        for moves in &mut report.moves {
            moves.costs.wall_us_game_mean = None;
            moves.costs.cpu = Some(CpuTimes { us_mean: 7_000.0, ..CpuTimes::default() });
        }
        let over_moves = shown(&report);
        assert!(
            over_moves.contains("7.00 ms") && !over_moves.contains("over games, of the"),
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
