//! The form of every answer in JSON, by an example of each.

mod parts;

use std::collections::BTreeMap;

use serde::Serialize;
use spelrum_answers::{
    Attention, AttentionKind, CellCursor, CellGames, CellPhases, CellsPage, ClaimOf, Clusters,
    Comparisons, CoordinatorStatus, CpuQuota, CyclicRating, Detail, ExpectedGames, ExperimentsPage,
    GameCursor, GamesFilter, GamesOrder, GamesPage, Lengths, Machine, Measure, Meeting,
    OpeningCursor, OpeningResults, OpeningSums, OpeningsPage, Overview, PhaseMoves, PhaseTimes,
    PhaseUnit, Phases, Progress, RatedGroup, RatedPlayer, Ratings, Removal, Removing,
    ScaleDeparture, ScaleFit, SettledCells, SqlValue, Status, StopsOf, WholeGame, WholeGames,
    WorkerEffects, WorkerShare,
};
use spelrum_model::change::{BuildChange, CellChange, CellExample, Change};
use spelrum_model::claims::ClaimStanding;
use spelrum_model::{CellId, ExperimentId, ExperimentState, GameId, WorkerId};
use spelrum_statistics::comparisons::{
    BuildScore, Changed, Contrast, Effect, Effects, Gain, PointOfCurve,
};
use spelrum_statistics::curves::Crossing;
use spelrum_statistics::forecast::{Backlog, GameSpread};
use spelrum_statistics::ratings::{Cycles, Estimate};
use spelrum_statistics::{BetweenWorkers, GameTimes, Interval, WorkerEffect};

use parts::{
    axes, cell, experiment, failed_game, forfeits, interval, labels, place, played_game, report,
    run, worker,
};

/// The answer's JSON, with an indented line for each value.
fn pretty<T: Serialize>(answer: &T) -> String {
    serde_json::to_string_pretty(answer).unwrap()
}

const GAME: GameId = GameId { cell: CellId(7), number: 3 };

#[test]
fn a_report() {
    insta::assert_snapshot!(pretty(&report()));
}

#[test]
fn runs() {
    insta::assert_snapshot!(pretty(&[run()]));
}

#[test]
fn ratings() {
    let player = |name: &str, elo| RatedPlayer {
        name: name.to_owned(),
        rating: Some(Estimate { elo, error: Some(12.5) }),
        is_anchor: name == "ab",
        games: 10,
        wins: 5,
        draws: 2,
        losses: 3,
    };
    let cyclic_rating =
        CyclicRating { elo: 30.0, radius: 8.5, angle: 120.0, nash_share: 0.25, nash_elo: -4.5 };
    let group = RatedGroup {
        point: place(),
        players: vec![player("genetic", 40.25), player("ab", 0.0)],
        first_move: Some(Estimate { elo: 5.5, error: None }),
        draw_rate: 0.125,
        games: 12,
        self_play_games: 2,
        clusters: 5,
        clusters_are: Clusters::Openings,
        difference_errors: vec![Some(20.0)],
        meetings: vec![Meeting { player: 0, opponent: 1, wins: 5, draws: 2, losses: 3 }],
        fit: Some(ScaleFit {
            p_value: 0.01,
            is_rejected: true,
            freedom: 1,
            cycles: Cycles { elo: 60.5, low: 20.25, high: 90.0 },
            departures: vec![ScaleDeparture {
                player: 0,
                opponent: 1,
                score: 0.0625,
                error: 0.03125,
                p_value: 0.002,
            }],
            cyclic_ratings: vec![cyclic_rating; 2],
        }),
    };
    let ratings = Ratings { experiment: experiment(), axes: axes(), groups: vec![group] };
    insta::assert_snapshot!(pretty(&ratings));
}

#[test]
fn comparisons() {
    let names = || ["genetic", "ab"].map(str::to_owned);
    let difference = |changed| {
        let [player, opponent] = names();
        spelrum_answers::CellDifference {
            cells: [CellId(8), CellId(7)],
            changed,
            place: place(),
            player,
            opponent,
            openings_shared: 50,
            score: 0.25,
            interval: Some(interval(0.25)),
        }
    };
    let [from, to] = ["3", "4"].map(str::to_owned);
    let contrasts = vec![Contrast { axis: 0, from: from.clone(), to: to.clone() }];
    let axis = Changed::Axis { axis: 0, from, to };
    let [player, opponent] = names();
    let effects = Effects {
        player,
        opponent,
        cells: 4,
        effects: vec![Effect { contrasts, score: 0.25, interval: None }],
        has_interactions: false,
        residual: Some(0.5),
    };
    let [player, opponent] = names();
    let curve = spelrum_answers::CellCurve {
        axis: 0,
        place: place(),
        player,
        opponent,
        points: vec![PointOfCurve {
            cell: CellId(7),
            value: "200us".to_owned(),
            number: 0.25,
            score: 0.625,
            fitted: Interval { value: 0.5, low: 0.25, high: 0.75 },
        }],
        is_cut: false,
        is_monotone: true,
        drawn: vec![(0.25, Interval { value: 0.5, low: 0.25, high: 0.75 })],
        crossing: Crossing {
            at: Some(0.25),
            between: vec![[0.25, 0.5]],
            is_open_below: true,
            is_open_above: false,
        },
    };
    let [player, opponent] = names();
    let replicates = spelrum_answers::CellReplicates {
        cell: CellId(7),
        place: place(),
        player,
        opponent,
        seeds: 3,
        score: 0.625,
        interval: None,
        deviation: Some(0.25),
        p_value: None,
        deviation_between: None,
    };
    let [player, opponent] = names();
    let build = |build: &str, gain| BuildScore {
        cell: CellId(7),
        build: Some(build.to_owned()),
        score: 0.625,
        interval: Some(Interval { value: 0.625, low: 0.5, high: 0.75 }),
        gain,
    };
    let gain = Gain { score: 0.125, interval: None, is_clear: true };
    let builds = vec![build("1be07d43", None), build("unknown", Some(gain))];
    let history = spelrum_answers::CellHistory { player, opponent, place: place(), builds };
    let comparisons = Comparisons {
        experiment: experiment(),
        axes: axes(),
        differences: vec![
            difference(axis),
            difference(Changed::Player { from: "mcts".to_owned() }),
        ],
        differences_truncated: false,
        effects: vec![effects],
        curves: vec![curve],
        curves_truncated: false,
        replicates: vec![replicates],
        histories: vec![history],
    };
    insta::assert_snapshot!(pretty(&comparisons));
}

#[test]
fn phases() {
    let moves = PhaseMoves { searched_moves: 40, wall_us_mean: 1_250.5 };
    let cell = CellPhases {
        cell: CellId(7),
        axes: place(),
        player: "genetic".to_owned(),
        opponent: "ab".to_owned(),
        phases: vec![PhaseTimes { phase: 36, players: [moves, PhaseMoves::default()] }],
    };
    let phases = Phases {
        experiment: experiment(),
        axes: axes(),
        unit: PhaseUnit::EmptyCells,
        moves_recorded: true,
        cells: vec![cell],
    };
    insta::assert_snapshot!(pretty(&phases));
}

#[test]
fn an_overview() {
    let share = WorkerShare {
        worker: WorkerId(2),
        name: "fast".to_owned(),
        host: "lab-1".to_owned(),
        slots: 8,
        engine_revision: 31,
        version: "0.1.0".to_owned(),
        machine: Machine {
            cpu_model: "A Processor".to_owned(),
            logical_cores: Some(8),
            operating_system: "linux x86_64".to_owned(),
            build_commit: "6c1f2b0b".to_owned(),
            build_profile: "release".to_owned(),
            cores: "8 cores".to_owned(),
            quiet_slots: Some(4),
            cpu_quota: CpuQuota::new(250_000, 100_000),
            labels: labels(),
        },
        games: 100,
        plies: 3_000,
        wall_us: 1.5e9,
    };
    let effects = WorkerEffects {
        measure: Measure::Time,
        units: 100,
        between: BetweenWorkers {
            deviation: interval(0.125),
            within: 0.5,
            p_value: 0.25,
            effects: vec![WorkerEffect { worker: 0, effect: 0.5, error: 0.125 }],
        },
        workers: vec![WorkerId(2)],
    };
    let cell = CellGames {
        cell: CellId(7),
        axes: place(),
        player: "genetic".to_owned(),
        opponent: "ab".to_owned(),
        lengths: Lengths(BTreeMap::from([(20, 4), (36, 6)])),
        terminations: BTreeMap::from([("full_board".to_owned(), 10)]),
    };
    let overview = Overview {
        experiment: experiment(),
        axes: axes(),
        workers: vec![share],
        worker_effects: vec![effects],
        cells: vec![cell],
    };
    insta::assert_snapshot!(pretty(&overview));
}

#[test]
fn progress() {
    let progress = Progress {
        state: ExperimentState::Running,
        cells: 12,
        cells_settled: 3,
        stop_rule: Some("precision 0.03".to_owned()),
        cells_stopped: 1,
        games_planned: 1_200,
        games_settled: 400,
        games_failed: 2,
        forfeits: vec![forfeits()],
        stopped_for: None,
        networks: 1,
        networks_settled: 0,
        wall_us: 2.5e9,
        games_expected: Some(ExpectedGames { games: 800, low: 610, high: 1_050 }),
        backlog: Backlog {
            games_left: 800,
            unseen_games_left: 100,
            seen_us: 4e9,
            seen_squares: 1e18,
            longest_us: 9e6,
            seen_cells: 11,
            means_us: 6e7,
            mean_squares: 4e14,
        },
        spread: GameSpread { squares: 25.5, weight: 99.5 },
        slots: 8,
        last_game_id: 402,
    };
    insta::assert_snapshot!(pretty(&progress));
}

#[test]
fn a_status() {
    let claim = ClaimStanding { text: "Depth pays".to_owned(), is_late: true, in_sweep: true };
    let attention = Attention {
        kind: AttentionKind::SilentWorkers,
        experiment: Some("pentago-depth".to_owned()),
        count: 2,
        problem: "2 workers are silent".to_owned(),
        remedy: "restart them".to_owned(),
    };
    let status = Status {
        experiments: vec![experiment()],
        experiments_total: 1,
        stops: vec![StopsOf {
            experiment: ExperimentId(1),
            rule: "precision 0.03".to_owned(),
            cells: 12,
            cells_ended: 1,
            cells_one_round: 0,
            games_expected: Some(ExpectedGames { games: 800, low: 610, high: 1_050 }),
        }],
        claims: vec![ClaimOf { experiment: ExperimentId(1), claim }],
        attention: vec![attention],
        removals: vec![Removal {
            experiment: "old".to_owned(),
            removing: Removing::Moves,
            games: 1_000,
            games_done: 250,
            is_shrinking: false,
        }],
        coordinator: Some(CoordinatorStatus {
            version: "0.1.0".to_owned(),
            epoch: 4,
            uptime_ms: 60_000,
            workers: vec![worker()],
            workers_total: 1,
        }),
    };
    insta::assert_snapshot!(pretty(&status));
}

#[test]
fn pages_of_experiments() {
    let page = ExperimentsPage { experiments: vec![experiment()], next: Some(ExperimentId(1)) };
    insta::assert_snapshot!(pretty(&page));
}

#[test]
fn pages_of_cells() {
    let next = Some(CellCursor { number: 4, cell: CellId(7) });
    let page = CellsPage { axes: axes(), cells: vec![cell()], next };
    let settled = SettledCells { axes: axes(), cells: Vec::new(), last_game_id: 402 };
    insta::assert_snapshot!(format!("{}\n{}", pretty(&page), pretty(&settled)));
}

#[test]
fn pages_of_openings() {
    let times = GameTimes { games: 4, wall_us_mean_sum: 5_000.5, wall_us_mean_log_sum: 28.5 };
    let sums = OpeningSums {
        opening_number: 3,
        games: 4,
        wins: 2,
        draws: 1,
        losses: 1,
        first_mover_half_points: 5,
        games_moving_first: 2,
        half_points_moving_first: 3,
        pairs: 2,
        pairs_half_points: 5,
        pairs_won_by_first_mover: 1,
        pairs_won_by_second_mover: 0,
        times: [times; 2],
    };
    let cell = CellCursor { number: 4, cell: CellId(7) };
    let page = OpeningsPage {
        cells: vec![OpeningResults { cell: CellId(7), openings: vec![sums] }],
        next: Some(OpeningCursor { cell, opening_number: 3 }),
    };
    insta::assert_snapshot!(pretty(&page));
}

#[test]
fn games() {
    let next = Some(GameCursor { game_id: 402, game: GAME });
    let (played, failed) = (played_game(), failed_game());
    let page = GamesPage { games: vec![played.summary.clone(), failed], next };
    let whole = WholeGame {
        game: played.clone(),
        worker_name: Some("fast".to_owned()),
        started_unix_us: Some(1_700_000_000_000_000),
        time_factor: Some(1.5),
    };
    let answers = [
        pretty(&played),
        pretty(&page),
        pretty(&WholeGames { games: vec![whole.clone(), whole], next }),
    ];
    insta::assert_snapshot!(answers.join("\n"));
}

/// Flat, so that a query string can hold them.
#[test]
fn requests() {
    let json = [
        serde_json::to_string(&[Detail::Cells, Detail::Depths]).unwrap(),
        serde_json::to_string(&[GamesFilter::All, GamesFilter::Uncounted]).unwrap(),
        serde_json::to_string(&[GamesOrder::Newest, GamesOrder::Settled]).unwrap(),
        serde_json::to_string(&GameCursor { game_id: 402, game: GAME }).unwrap(),
        serde_json::to_string(&CellCursor { number: 4, cell: CellId(7) }).unwrap(),
    ];
    insta::assert_snapshot!(json.join("\n"));
}

#[test]
fn a_change() {
    let change = Change {
        cells_kept: 4,
        cells_continued: 1,
        cells_added: 2,
        games_kept: 400,
        games_to_play: 300,
        builds_changed: vec![BuildChange {
            engine: "fish".to_owned(),
            before: Some("ab12".to_owned()),
            now: None,
            games: 10,
        }],
        axes_changed: true,
        settings_changed: vec!["description".into(), "game_timeout".into()],
        examples: vec![CellExample {
            change: CellChange::Added,
            axes: "depth=3, rules=old".to_owned(),
            player: "genetic".to_owned(),
            opponent: "ab".to_owned(),
            games_settled: 0,
            games_planned: 100,
        }],
        ..Change::default()
    };
    insta::assert_snapshot!(pretty(&change));
}

#[test]
fn rows() {
    let row = [
        SqlValue::Null,
        SqlValue::Integer(1),
        SqlValue::Real(1.0),
        SqlValue::Real(f64::NEG_INFINITY),
        SqlValue::Text("x".to_owned()),
        SqlValue::Blob(vec![0, 255]),
    ];
    insta::assert_snapshot!(serde_json::to_string(&[row]).unwrap());
}
