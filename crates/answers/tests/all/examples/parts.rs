//! Parts of the examples.

use spelrum_answers::{
    CellAccuracy, CellMargin, CellReplicates, CellResult, CellStop, ColourResult, Costs, CpuTimes,
    DisturbedGames, EnginesUsed, Evolution, ExperimentSummary, GameResult, GameSummary, MixedCell,
    MoveCost, Overruns, Played, PlayedOn, PlayerForfeits, Relative, ReplayedGames, Replicated,
    Report, RunResult, Scaled, ScaledGames, SettledGame, StatedCell, StatedClaim, UsedEngine,
    WorkerConduct, WorkerSummary,
};
use spelrum_engine::{EndedBy, MoveRecord, Outcome, Protocol, SearchReport, Side, Termination};
use spelrum_model::claims::Statement;
use spelrum_model::course::{
    Begun, Behind, Bounds, Confirmed, CourseKind, Estimate, Generation, Individual, Place,
    RaceStandings, Runner, Setting, SettingsScore,
};
use spelrum_model::engines::{EngineIdentity, Forfeit, OfferedEngine};
use spelrum_model::labels::Label;
use spelrum_model::speed::Scaling;
use spelrum_model::{
    AxisValue, CellId, DefinitionHash, ExperimentId, ExperimentState, GameEnd, GameId, Role, Task,
    WorkerId,
};
use spelrum_statistics::choice::{Accuracy, Estimate as Measured, WinsKept};
use spelrum_statistics::claims::{About, Bound, Quantifier};
use spelrum_statistics::{
    EloModel, Interval, OpeningSpread, OverGames, PairCounts, ScoreInterval, Sprt, StopRule,
};

pub(super) fn experiment() -> ExperimentSummary {
    ExperimentSummary {
        experiment: ExperimentId(1),
        uuid: "67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned(),
        name: "pentago-depth".to_owned(),
        game: "pentago".to_owned(),
        task: Task::Game,
        state: ExperimentState::Running,
        priority: 0,
        cells: 12,
        games_planned: 1_200,
        games_settled: 400,
        games_failed: 2,
        submitted_unix_us: 1_700_000_000_000_000,
    }
}

pub(super) fn axes() -> Vec<String> {
    ["depth", "nodes"].map(str::to_owned).to_vec()
}

pub(super) fn place() -> Vec<Option<String>> {
    vec![Some("3".to_owned()), None]
}

pub(super) fn interval(value: f64) -> Interval {
    Interval { value, low: value - 0.0625, high: value + 0.0625 }
}

fn score() -> ScoreInterval {
    ScoreInterval { score: 0.625, low: 0.5, high: 0.75 }
}

fn over_games(value: f64) -> OverGames {
    OverGames { value, interval: Some(interval(value)) }
}

pub(super) fn labels() -> Vec<Label> {
    ["gpu", "site=lab2"].map(|text| Label::parse(text).unwrap()).to_vec()
}

pub(super) fn cell() -> CellResult {
    let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Normalized).unwrap();
    let colour = |wins| ColourResult { wins, draws: 1, losses: 1, score: Some(score()) };
    CellResult {
        cell: CellId(7),
        axes: place(),
        player: "genetic".to_owned(),
        opponent: "ab".to_owned(),
        is_timed: false,
        swap_sides: true,
        is_self_play: false,
        openings_used: 5,
        games_planned: 100,
        stop: Some(CellStop {
            rule: StopRule::Sprt(sprt),
            games_max: 100,
            stopped_after: Some(10),
        }),
        is_one_round: false,
        games: 10,
        games_failed: 1,
        wins: 6,
        draws: 2,
        losses: 2,
        pairs: PairCounts([1, 0, 1, 2, 1]),
        pairs_won_by_first_mover: 1,
        pairs_won_by_second_mover: 0,
        distinct_games: 10,
        score: Some(score()),
        sequence_units: Some(4.0),
        openings: Some(OpeningSpread { effective: 4.5, variance: 0.25 }),
        first_mover: None,
        colours: Some([colour(4), colour(2)]),
        margin: Some(CellMargin { games: 9, mean: over_games(2.5) }),
    }
}

fn costs() -> Costs {
    Costs {
        searched_moves: 180,
        wall_us_mean: 1_500.5,
        wall_us_median: 1_400.0,
        wall_us_p90: 2_000.0,
        wall_us_p95: Some(2_100.0),
        wall_us_p99: 2_500.0,
        depth_mean: 3.5,
        nodes_mean: 900.0,
        evaluations_mean: 700.0,
        full_tree_share: Some(0.125),
        overruns: Some(Overruns {
            limit_us: 2_000,
            beyond_us: 2_304,
            moves: 3,
            longest_us: 2_600.0,
        }),
        wall_us_game_mean: Some(over_games(1_500.0)),
        wall_us_ratio: Some(OverGames { value: 1.25, interval: None }),
        cpu: Some(CpuTimes { us_mean: 1_450.0, us_game_mean: None, us_ratio: None }),
        is_compared_by_cpu: true,
    }
}

fn accuracy() -> CellAccuracy {
    let measured = |value| Measured { value, interval: Some(interval(value)) };
    CellAccuracy {
        cell: CellId(7),
        reference: "exact".to_owned(),
        plies: Some(6),
        accuracy: Accuracy {
            positions: 100,
            best: measured(0.75),
            rank: measured(1.5),
            loss: Measured { value: 0.25, interval: None },
            random_best: 0.125,
            random_rank: 9.5,
            random_loss: 1.5,
            best_skill: measured(0.5),
            rank_skill: measured(0.875),
            loss_skill: measured(0.75),
            wins: Some(WinsKept {
                positions: 40,
                share: measured(0.875),
                random: 0.25,
                skill: measured(0.75),
            }),
        },
    }
}

fn claim() -> StatedClaim {
    StatedClaim {
        text: "Depth pays".to_owned(),
        statement: Statement {
            player: "genetic".to_owned(),
            opponent: Some("ab".to_owned()),
            at: vec![("depth".to_owned(), vec!["3".to_owned()])],
            about: About::Score(Bound::Above(0.5)),
            than: None,
            over: None,
            quantifier: Quantifier::Every,
            error_rate: 0.05,
        },
        hash: DefinitionHash([0xab; 32]),
        is_late: false,
        in_sweep: true,
        stop_rule: None,
        cells: vec![StatedCell { cell: CellId(7), player: Role::Player, games: 100 }],
        estimates: Vec::new(),
        means: Vec::new(),
        leads: Vec::new(),
    }
}

fn identity() -> EngineIdentity {
    EngineIdentity { name: "Fish 15.1".to_owned(), author: String::new(), sha256: [0xcd; 32] }
}

pub(super) fn forfeits() -> PlayerForfeits {
    PlayerForfeits { player: "fish".to_owned(), games: 50, by_kind: [1, 2, 0, 3] }
}

pub(super) fn report() -> Report {
    let used = UsedEngine {
        player: "fish".to_owned(),
        engine: identity(),
        build: Some("ef".repeat(32)),
        cells: 1,
        games: 10,
    };
    let cost = MoveCost {
        cell: CellId(7),
        axes: place(),
        player: "genetic".to_owned(),
        opponent: "ab".to_owned(),
        costs: costs(),
    };
    Report {
        experiment: experiment(),
        description: "Does depth pay?".to_owned(),
        engine_revision: Some(31),
        axes: axes(),
        first_mover: Some(score()),
        cells: vec![cell()],
        moves: vec![cost],
        depths: Vec::new(),
        accuracy: vec![accuracy()],
        replayed: vec![ReplayedGames { cell: CellId(7), games: 1 }],
        disturbed: vec![DisturbedGames {
            cell: CellId(7),
            games: 2,
            replayed: 1,
            half_points_before: -1,
        }],
        scaled: Scaled {
            scaling: Some(Scaling { reference: 2_000_000, factor_max_permille: 4_000 }),
            cells: vec![ScaledGames {
                cell: CellId(7),
                games: 10,
                games_at_bound: 1,
                factor_permille_min: 800,
                factor_permille_max: 4_000,
            }],
        },
        played_on: Some(PlayedOn { quiet: 8, others: 2, unknown: 0 }),
        claims: vec![claim()],
        engines: EnginesUsed {
            engines: vec![used],
            mixed: vec![MixedCell { cell: CellId(7), player: "fish".to_owned(), programs: 2 }],
            forfeits: vec![forfeits()],
        },
        runs: Vec::new(),
        replicated: Some(replicated()),
        equal_within: None,
    }
}

fn replicated() -> Replicated {
    Replicated {
        axis: "seed".to_owned(),
        axes: vec!["depth".to_owned(), "seed".to_owned()],
        groups: vec![CellReplicates {
            cell: CellId(7),
            place: vec![Some("2".to_owned()), None],
            player: "genetic".to_owned(),
            opponent: "ab".to_owned(),
            seeds: 3,
            score: 0.625,
            interval: None,
            deviation: Some(0.25),
            p_value: Some(0.03125),
            deviation_between: None,
        }],
    }
}

pub(super) fn run() -> RunResult {
    let value = AxisValue::from_integer;
    let score =
        |score| SettingsScore { games: 200, score, low: score - 0.125, high: score + 0.125 };
    let individual = Individual {
        formula: "own + 0".to_owned(),
        simplified: "own".to_owned(),
        size: 3,
        depth: 1,
        operator: "crossover".to_owned(),
        parents: vec![2, 5],
    };
    let generation = Generation {
        individuals: 20,
        measured: 19,
        best_individual: 4,
        best: Some(0.75),
        mean: Some(0.5),
        least: Some(0.125),
        sd: None,
        distinct: 15,
        mean_size: 6.5,
        mean_depth: 2.25,
    };
    RunResult {
        run: 0,
        begun: Begun {
            kind: CourseKind::Tune,
            player: "genetic".to_owned(),
            opponents: vec!["ab".to_owned()],
            axes: vec![Place { axis: "depth".to_owned(), value: value(3) }],
            start: vec![Setting { parameter: "population".to_owned(), value: value(20) }],
        },
        steps: 12,
        estimates: vec![Estimate {
            parameter: "population".to_owned(),
            value: value(36),
            interval: Some(Bounds { low: Some(value(30)), high: None }),
        }],
        confirmed: Some(Confirmed { found: score(0.625), start: Some(score(0.5)) }),
        ended: true,
        player_json: Some(r#"{"algorithm":"genetic-minimax"}"#.to_owned()),
        evolution: Some(Evolution {
            generations: vec![generation],
            family: vec![Relative { generation: 1, index: 4, individual, fitness: Some(0.75) }],
        }),
        race: Some(RaceStandings {
            rounds_max: 100,
            error_rate: 0.05,
            within: 0.02,
            first: Some("ab".to_owned()),
            players: vec![Runner {
                player: "genetic".to_owned(),
                games: 240,
                score: Some(0.375),
                behind: Some(Behind { points: 0.25, low: 0.0625, high: 0.5 }),
                out_after: Some(12),
                out_by: Some("ab".to_owned()),
            }],
        }),
    }
}

pub(super) fn worker() -> WorkerSummary {
    WorkerSummary {
        worker: WorkerId(2),
        name: "fast".to_owned(),
        host: "lab-1".to_owned(),
        slots: 8,
        quiet_slots: 2,
        engine_revision: 31,
        silent_ms: 250,
        leased_games: 16,
        playing_games: 8,
        reported_games: 400,
        lost_games: 0,
        memory_bytes: Some(1 << 30),
        engines: [OfferedEngine {
            engine: "fish".to_owned(),
            protocol: Protocol::Uci,
            at_once: 4,
            identity: identity(),
            capabilities: None,
            build: [0xef; 32],
        }]
        .into(),
        engines_total: 1,
        built: std::sync::Arc::default(),
        labels: labels().into(),
        credential: Some("token:lab".to_owned()),
        conduct: WorkerConduct {
            version: "0.1.0".to_owned(),
            known_ms: 60_000,
            failed_games: 2,
            forfeited_games: 1,
            withheld: Vec::new(),
        },
    }
}

pub(super) fn played_game() -> SettledGame {
    let end = GameEnd {
        first_side: Side::First,
        outcome: Outcome::Win,
        margin: Some(12),
        termination: Termination::TIME_FORFEIT,
        plies: 1,
        moves_hash: 123_456_789,
    };
    let played = Played { opening: "a1 b2".to_owned(), end, engine_revision: 31 };
    let mv = MoveRecord {
        mover: 1,
        mv: "c3 TL+".to_owned(),
        position_key: 987_654_321,
        legal_moves: 288,
        search: SearchReport {
            depth: 4,
            nodes: 1_000,
            evaluations: 900,
            full_tree_leaves: 0,
            score: Some(-5),
            ended_by: EndedBy::OnlyMove,
            told_us: None,
        },
        wall_us: 1_250,
        cpu_us: 1_200,
        involuntary_switches: Some(1),
        remarks: None,
    };
    SettledGame {
        summary: GameSummary {
            game_id: 402,
            game: GameId { cell: CellId(7), number: 3 },
            players: ["ab", "fish"].map(str::to_owned),
            result: GameResult::Played(played),
            not_counted_reason: None,
            wall_us: Some(3_000),
            worker: Some(WorkerId(2)),
        },
        experiment: "pentago-depth".to_owned(),
        experiment_uuid: "67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned(),
        definition_hash: DefinitionHash([0x12; 32]),
        definition_json: r#"{"format":1}"#.to_owned(),
        moves: Some(vec![mv]),
        engines: [None, Some(identity())],
        forfeit: Some(Forfeit {
            message: "it overstepped its time".to_owned(),
            output: "> go\n".to_owned(),
        }),
    }
}

pub(super) fn failed_game() -> GameSummary {
    GameSummary {
        game_id: 403,
        game: GameId { cell: CellId(7), number: 4 },
        players: ["fish", "ab"].map(str::to_owned),
        result: GameResult::Failed("out of memory".to_owned()),
        not_counted_reason: Some("failed".to_owned()),
        wall_us: None,
        worker: None,
    }
}
