//! Attacks the conversions of results: values round-trip, and malformed messages are refused with the field's
//! name (invariants 9, 10).

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use spelrum_answers::{
    Attention, AttentionKind, CellAccuracy, Clusters, CoordinatorStatus, EnginesUsed,
    ExperimentSummary, Meeting, PlayedOn, Progress, RatedGroup, RatedPlayer, Ratings, Removal,
    Removing, Report, SettledCells, SettledGame, StatedClaim, Status, StopsOf, WhichGame,
    WorkerSummary,
};
use spelrum_engine::Protocol;
use spelrum_model::ExperimentState;
use spelrum_model::engines::{EngineIdentity, OfferedEngine};
use spelrum_model::labels::Label;
use spelrum_model::{AxisValue, CellId, DefinitionHash, ExperimentId, GameId, Task, WorkerId};
use spelrum_proto::limits::NUMBER_MAX;
use spelrum_proto::results::{
    RatingsReader, ReportReader, claims_to_wire, game_from_wire, game_to_wire, progress_from_wire,
    settled_cells_from_wire, which_game,
};
use spelrum_proto::speeds::scaling_to_wire;
use spelrum_proto::{WireError, v1};
use spelrum_statistics::choice;
use spelrum_statistics::choice::{Accuracy, WinsKept};
use spelrum_statistics::forecast::{Backlog, GameSpread};
use spelrum_statistics::ratings::Estimate;
use spelrum_statistics::{Interval, ScoreInterval};

mod cells;
mod costs;
mod engines;
mod games;
mod runs;
mod stated;

use cells::{cell, colours_of};
use costs::move_cost;
use engines::{forfeit, identity, mixed_cell, player_forfeits, used_engine};
use games::{disturbed, game_summary, mv, replayed, scaled};
use runs::{course_estimate, run};
use stated::{claim, claim_of};

fn name() -> impl Strategy<Value = String> + Clone {
    "[a-zäλ ]{0,8}"
}

fn id() -> impl Strategy<Value = i64> + Clone {
    1..=i64::try_from(NUMBER_MAX).unwrap()
}

fn count() -> impl Strategy<Value = u64> + Clone {
    0..=NUMBER_MAX
}

fn figure() -> impl Strategy<Value = f64> + Clone {
    -1e18..1e18
}

fn state() -> impl Strategy<Value = ExperimentState> {
    proptest::sample::select(vec![
        ExperimentState::Running,
        ExperimentState::Paused,
        ExperimentState::Cancelled,
        ExperimentState::Finished,
    ])
}

prop_compose! {
    fn experiment()(
        names in [name(), name(), name()],
        state in state(),
        task in proptest::sample::select(Task::ALL.to_vec()),
        id in id(),
        counts in [count(), count(), count(), count()],
        priority in any::<i32>(),
        submitted_unix_us in any::<i64>(),
    ) -> ExperimentSummary {
        let [uuid, name, game] = names;
        let [cells, games_planned, games_settled, games_failed] = counts;
        ExperimentSummary {
            experiment: ExperimentId(id), uuid, name, game, task, state, priority, cells, games_planned,
            games_settled, games_failed, submitted_unix_us,
        }
    }
}

prop_compose! {
    fn offered()(
        engine in "[a-z]{1,6}",
        protocol in proptest::sample::select(Protocol::ALL.to_vec()),
        at_once in 1..=u32::MAX,
        texts in ["[A-Za-z0-9. ]{0,9}", "[A-Za-z ]{0,9}"],
        sha256 in any::<[u8; 32]>(),
        build in any::<[u8; 32]>(),
    ) -> OfferedEngine {
        let [name, author] = texts.map(|text| text.trim().to_owned());
        let identity = EngineIdentity { name, author, sha256 };
        OfferedEngine { engine, protocol, at_once, identity, capabilities: None, build }
    }
}

prop_compose! {
    fn worker()(
        id in id(),
        name in name(),
        host in name(),
        small in [any::<u32>(), any::<u32>()],
        counts in [count(), count(), count(), count(), count()],
        memory_bytes in option::of(1..=u64::MAX),
        engines in vec(offered(), 0..3),
        engines_more in count(),
        label in "[a-z]{1,3}",
        credential in option::of("token:[a-z]{1,3}"),
    ) -> WorkerSummary {
        let [slots, engine_revision] = small;
        let [silent_ms, leased_games, playing_games, reported_games, lost_games] = counts;
        WorkerSummary {
            worker: WorkerId(id), name, host, slots, engine_revision, silent_ms, leased_games,
            playing_games, reported_games, lost_games, memory_bytes,
            engines: engines.into(), engines_total: engines_more,
            labels: [Label { name: "site".to_owned(), value: label }].into(),
            credential,
        }
    }
}

prop_compose! {
    fn attention()(
        kind in "paused|conflicts|too_large|[a-z]{1,6}",
        experiment in option::of("[a-z]{1,6}"),
        count in any::<u64>(),
        problem in name(),
        remedy in name(),
    ) -> Attention {
        Attention { kind: AttentionKind::named(&kind), experiment, count, problem, remedy }
    }
}

prop_compose! {
    fn removal()(
        experiment in name(),
        is_all in any::<bool>(),
        games in count(),
        games_done in count(),
        is_shrinking in any::<bool>(),
    ) -> Removal {
        let what = if is_all { Removing::Everything } else { Removing::Moves };
        Removal { experiment, removing: what, games, games_done, is_shrinking }
    }
}

prop_compose! {
    fn stops()(experiment in id(), rule in name(), cells in count(), cells_ended in count(), cells_one_round in count()) -> StopsOf {
        StopsOf { experiment: ExperimentId(experiment), rule, cells, cells_ended, cells_one_round }
    }
}

prop_compose! {
    fn status()(
        experiments in vec(experiment(), 0..3),
        attention in vec(attention(), 0..3),
        removals in vec(removal(), 0..3),
        workers in vec(worker(), 0..3),
        (stops, claims) in (vec(stops(), 0..3), vec(claim_of(), 0..3)),
        version in name(),
        epoch in id(),
        counts in [count(), count(), count()],
    ) -> Status {
        let [experiments_total, uptime_ms, workers_total] = counts;
        let coordinator = CoordinatorStatus { version, epoch, uptime_ms, workers, workers_total };
        Status {
            experiments,
            experiments_total,
            stops,
            claims,
            attention,
            removals,
            coordinator: Some(coordinator),
        }
    }
}

prop_compose! {
    fn progress()(
        state in state(),
        counts in [
            count(), count(), count(), count(), count(), count(), count(), count(), count(), count(),
            count(), count(),
        ],
        stop_rule in option::of(name()),
        forfeits in vec(player_forfeits(), 0..3),
        stopped_for in option::of(name()),
        figures in [figure(), figure(), figure(), figure(), figure(), figure(), figure(), figure()],
        last_game_id in 0..1_000_i64,
    ) -> Progress {
        let [cells, cells_settled, games_planned, games_settled, games_failed, games_left,
            unseen_games_left, seen_cells, slots, cells_stopped, networks, networks_settled] = counts;
        let [wall_us, seen_us, seen_squares, longest_us, means_us, mean_squares, squares, weight] =
            figures;
        Progress {
            state, cells, cells_settled, stop_rule, cells_stopped, games_planned, games_settled, games_failed,
            forfeits, stopped_for, networks, networks_settled, wall_us,
            backlog: Backlog {
                games_left, unseen_games_left, seen_us, seen_squares, longest_us, seen_cells,
                means_us, mean_squares,
            },
            spread: GameSpread { squares, weight },
            slots,
            last_game_id,
        }
    }
}

fn axis_value() -> impl Strategy<Value = AxisValue> {
    (option::of(figure()), name()).prop_map(|(number, text)| AxisValue { number, text })
}

fn report() -> impl Strategy<Value = Report> {
    vec(name(), 0..3).prop_flat_map(|axes| {
        let costs = || vec(move_cost(axes.len()), 0..3);
        let first_mover = option::of([figure(), figure(), figure()]);
        let cells = vec(cell(axes.len()), 0..3);
        let asked = (name(), option::of(any::<u32>()));
        let used = (vec(used_engine(), 0..3), vec(player_forfeits(), 0..3));
        let engines = (used, vec(mixed_cell(), 0..3), vec(run(), 0..3));
        let played_on = option::of([count(), count(), count()]);
        let again = (vec(replayed(), 0..3), vec(disturbed(), 0..3), scaled(), played_on);
        let rest = (again, vec(claim(), 0..3), asked, vec(accuracy(), 0..3), engines);
        (experiment(), cells, costs(), costs(), rest, Just(axes), first_mover).prop_map(
            |(experiment, cells, moves, depths, rest, axes, first_mover)| {
                let (again, claims, asked, accuracy, (used, mixed, runs)) = rest;
                let (engines, forfeits) = used;
                let (replayed, disturbed, scaled, played_on) = again;
                Report {
                    experiment,
                    description: asked.0,
                    engine_revision: asked.1,
                    axes,
                    first_mover: first_mover.map(|[score, low, high]| ScoreInterval {
                        score,
                        low,
                        high,
                    }),
                    cells,
                    moves,
                    depths,
                    accuracy,
                    replayed,
                    disturbed,
                    scaled,
                    played_on: played_on.map(|[quiet, others, unknown]| PlayedOn {
                        quiet,
                        others,
                        unknown,
                    }),
                    claims,
                    engines: EnginesUsed { engines, mixed, forfeits },
                    runs,
                }
            },
        )
    })
}

prop_compose! {
    fn figure_with_interval()(
        value in figure(),
        bounds in option::of([figure(), figure()]),
    ) -> choice::Estimate {
        let interval = bounds.map(|[low, high]| Interval { value, low, high });
        choice::Estimate { value, interval }
    }
}

prop_compose! {
    fn wins_kept()(
        positions in count(),
        share in figure_with_interval(),
        random in figure(),
        skill in figure_with_interval(),
    ) -> WinsKept {
        WinsKept { positions, share, random, skill }
    }
}

prop_compose! {
    fn accuracy()(
        cell in id(),
        reference in name(),
        plies in option::of(any::<u32>()),
        positions in count(),
        measured in [figure_with_interval(), figure_with_interval(), figure_with_interval()],
        random in [figure(), figure(), figure()],
        skills in [figure_with_interval(), figure_with_interval(), figure_with_interval()],
        wins in option::of(wins_kept()),
    ) -> CellAccuracy {
        let [best, rank, loss] = measured;
        let [random_best, random_rank, random_loss] = random;
        let [best_skill, rank_skill, loss_skill] = skills;
        let accuracy = Accuracy {
            positions, best, rank, loss, random_best, random_rank, random_loss, best_skill,
            rank_skill, loss_skill, wins,
        };
        CellAccuracy { cell: CellId(cell), reference, plies, accuracy }
    }
}

prop_compose! {
    fn estimate()(elo in figure(), error in option::of(0.0..1e6)) -> Estimate {
        Estimate { elo, error }
    }
}

prop_compose! {
    fn rated_player()(
        name in name(),
        rating in option::of(estimate()),
        is_anchor in any::<bool>(),
        counts in [count(), count(), count(), count()],
    ) -> RatedPlayer {
        let [games, wins, draws, losses] = counts;
        RatedPlayer { name, rating, is_anchor, games, wins, draws, losses }
    }
}

prop_compose! {
    fn rated_group(axes: usize)(players in 0..5_usize)(
        point in vec(option::of(name()), axes),
        players in vec(rated_player(), players),
        first_move in option::of(estimate()),
        draw_rate in 0.0..1.0,
        counts in [count(), count(), count()],
        by_pairs in any::<bool>(),
        difference_errors in vec(option::of(figure()), players * players.saturating_sub(1) / 2),
        met in vec((any::<u32>(), any::<u32>(), [count(), count(), count()]), 0..4),
    ) -> RatedGroup {
        let [games, self_play_games, clusters] = counts;
        let count = u32::try_from(players.len()).unwrap();
        let meeting = |(player, opponent, [wins, draws, losses]): (u32, u32, [u64; 3])| {
            let opponent = 1 + opponent % (count - 1);
            Meeting { player: player % opponent, opponent, wins, draws, losses }
        };
        let meetings = match count {
            0 | 1 => Vec::new(),
            _ => met.into_iter().map(meeting).collect(),
        };
        RatedGroup {
            point, players, first_move, draw_rate, games, self_play_games, clusters,
            clusters_are: if by_pairs { Clusters::Pairs } else { Clusters::Openings },
            difference_errors, meetings,
        }
    }
}

fn ratings() -> impl Strategy<Value = Ratings> {
    (experiment(), vec(name(), 0..3)).prop_flat_map(|(experiment, axes)| {
        vec(rated_group(axes.len()), 0..4).prop_map(move |groups| Ratings {
            experiment: experiment.clone(),
            axes: axes.clone(),
            groups,
        })
    })
}

proptest! {
    #[test]
    fn a_status_comes_back_as_it_went(status in status()) {
        let wire = v1::StatusResponse::from(status.clone());
        prop_assert_eq!(Status::try_from(wire), Ok(status));
    }

    #[test]
    fn progress_comes_back_as_it_went(progress in progress()) {
        let wire = v1::GetProgressResponse::from(progress.clone());
        prop_assert_eq!(progress_from_wire(wire), Ok(progress));
    }

    /// Whatever parts it travels in.
    #[test]
    fn a_report_comes_back_as_it_went(report in report()) {
        let claims = claims_to_wire(&report);
        let Report {
            experiment,
            description,
            engine_revision,
            axes,
            first_mover,
            cells,
            moves,
            depths,
            accuracy,
            replayed,
            disturbed,
            scaled,
            played_on,
            claims: _,
            engines,
            runs,
        } = report.clone();
        let mut reader = ReportReader::default();
        let (experiment, first_mover) = (Some(experiment.into()), first_mover.map(Into::into));
        let first = v1::GetReportResponse {
            experiment,
            description,
            engine_revision,
            axes,
            first_mover,
            claims,
            scale: scaled.scaling.map(scaling_to_wire),
            played_on: played_on.map(Into::into),
            ..Default::default()
        };
        reader.take(first).unwrap();
        for cell in cells {
            let cells = vec![cell.into()];
            reader.take(v1::GetReportResponse { cells, ..Default::default() }).unwrap();
        }
        let moves = moves.into_iter().map(Into::into).collect();
        let depths = depths.into_iter().map(Into::into).collect();
        reader.take(v1::GetReportResponse { moves, depths, ..Default::default() }).unwrap();
        let replayed = replayed.into_iter().map(Into::into).collect();
        let disturbed = disturbed.into_iter().map(Into::into).collect();
        let scaled = scaled.cells.into_iter().map(Into::into).collect();
        let part = v1::GetReportResponse { replayed, disturbed, scaled, ..Default::default() };
        reader.take(part).unwrap();
        let mixed_cells = engines.mixed.into_iter().map(Into::into).collect();
        let forfeits = engines.forfeits.into_iter().map(Into::into).collect();
        reader.take(v1::GetReportResponse { mixed_cells, forfeits, ..Default::default() }).unwrap();
        for engine in engines.engines {
            let engines = vec![engine.into()];
            reader.take(v1::GetReportResponse { engines, ..Default::default() }).unwrap();
        }
        let accuracy = accuracy.into_iter().map(Into::into).collect();
        reader.take(v1::GetReportResponse { accuracy, ..Default::default() }).unwrap();
        for run in runs {
            let runs = vec![run.into()];
            reader.take(v1::GetReportResponse { runs, ..Default::default() }).unwrap();
        }
        prop_assert_eq!(reader.finish(), Ok(report));
    }

    /// Every malformed claim is refused with its field's name.
    #[test]
    fn a_malformed_claim_is_refused(report in report(), what in 0..5) {
        let Some(mut claim) = claims_to_wire(&report).pop() else { return Ok(()) };
        let field = match what {
            0 => { claim.score = None; "score" }
            1 => { claim.hash.pop(); "hash" }
            2 => { claim.r#in = "most".to_owned(); "in" }
            3 => { claim.error_rate = f64::NAN; "error_rate" }
            _ => { claim.score = Some(v1::claim::Score::Below(f64::INFINITY)); "below" }
        };
        prop_assert_eq!(StatedClaim::try_from(claim).unwrap_err().field, field);
    }

    #[test]
    fn ratings_come_back_as_they_went(ratings in ratings()) {
        let Ratings { experiment, axes, groups } = ratings.clone();
        let experiment = Some(experiment.into());
        let mut groups: Vec<v1::RatedGroup> = groups.into_iter().map(Into::into).collect();
        let later = groups.split_off(groups.len() / 2);
        let mut reader = RatingsReader::default();
        reader.take(v1::GetRatingsResponse { experiment, axes, groups }).unwrap();
        let second = v1::GetRatingsResponse { groups: later, ..v1::GetRatingsResponse::default() };
        reader.take(second).unwrap();
        prop_assert_eq!(reader.finish(), Ok(ratings));
    }

    #[test]
    fn settled_cells_come_back_as_they_went(
        cells in vec(cell(2), 0..3),
        last_game_id in 0..1_000_i64,
    ) {
        let axes = vec!["depth".to_owned(), "nodes".to_owned()];
        let settled = SettledCells { axes, cells, last_game_id };
        let wire = v1::ListCellsResponse::from(settled.clone());
        prop_assert_eq!(settled_cells_from_wire(wire), Ok(settled));
    }

    #[test]
    fn a_game_comes_back_as_it_went(
        summary in game_summary(),
        texts in [name(), name(), name()],
        hash in any::<[u8; 32]>(),
        moves in option::of(vec(mv(), 0..3)),
        engines in [option::of(identity()), option::of(identity())],
        forfeit in option::of(forfeit()),
    ) {
        let [experiment, experiment_uuid, definition_json] = texts;
        let definition_hash = DefinitionHash(hash);
        let game = SettledGame {
            summary, experiment, experiment_uuid, definition_hash, definition_json, moves, engines,
            forfeit,
        };
        prop_assert_eq!(game_from_wire(game_to_wire(game.clone())), Ok(game));
    }

    #[test]
    fn how_a_game_is_named_comes_back(id in id(), number in count()) {
        for which in [
            WhichGame::Id(id),
            WhichGame::InCell(GameId { cell: CellId(id), number }),
        ] {
            prop_assert_eq!(which_game(&which.into()), Ok(which));
        }
    }
}

fn sample<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>) -> T {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    strategy.new_tree(&mut runner).unwrap().current()
}

fn field<T: std::fmt::Debug>(read: Result<T, WireError>) -> String {
    read.unwrap_err().field
}

fn colour(report: &mut v1::GetReportResponse) -> &mut v1::ColourResult {
    report.cells[0].moving_first.as_mut().unwrap()
}

fn wins(report: &mut v1::GetReportResponse) -> &mut v1::WinsKept {
    report.accuracy[0].wins.as_mut().unwrap()
}

#[test]
fn a_malformed_report_is_refused_by_field() {
    type Spoil = fn(&mut v1::GetReportResponse);
    let spoils: &[(&str, Spoil)] = &[
        ("experiment", |report| report.experiment = None),
        ("experiment.experiment_id", |report| {
            report.experiment.as_mut().unwrap().experiment_id = 0
        }),
        ("experiment.state", |report| {
            report.experiment.as_mut().unwrap().state = "asleep".to_owned()
        }),
        ("cells[0].cell_id", |report| report.cells[0].cell_id = -1),
        ("cells[0].pairs", |report| report.cells[0].pairs = vec![1; 4]),
        ("cells[0].pairs", |report| report.cells[0].pairs = vec![u64::MAX; 5]),
        ("cells[0].score", |report| report.cells[0].score = None),
        ("cells[0].score", |report| report.cells[0].score = Some(f64::NAN)),
        ("cells[0].games", |report| report.cells[0].games = 1 << 53),
        ("cells[0].moving_first", |report| report.cells[0].moving_first = None),
        ("cells[0].moving_second", |report| report.cells[0].moving_second = None),
        ("cells[0].moving_first.wins", |report| report.cells[0].wins += 1),
        ("cells[0].moving_first.draws", |report| colour(report).draws = 1 << 53),
        ("cells[0].moving_second.losses", |report| {
            report.cells[0].moving_second.as_mut().unwrap().losses = u64::MAX;
        }),
        ("cells[0].moving_first.score", |report| {
            colour(report).score = Some(v1::Score { score: f64::NAN, low: 0.0, high: 1.0 });
        }),
        ("cells.axes", |report| report.cells[0].axes.clear()),
        ("moves[0].cpu.us_mean", |report| {
            let us_mean = f64::NAN;
            report.moves[0].cpu = Some(v1::CpuTimes { us_mean, ..v1::CpuTimes::default() });
        }),
        ("moves[0].wall_us_mean", |report| report.moves[0].wall_us_mean = f64::INFINITY),
        ("moves.axes", |report| report.moves[0].axes.push(v1::AxisPlace::default())),
        ("engines[0].engine", |report| report.engines[0].engine = None),
        ("engines[0].engine.sha256", |report| {
            report.engines[0].engine.as_mut().unwrap().sha256 = vec![1]
        }),
        ("engines[0].games", |report| report.engines[0].games = 1 << 53),
        ("accuracy[0].wins.positions", |report| wins(report).positions = 1 << 53),
        ("accuracy[0].wins.random", |report| wins(report).random = f64::NAN),
        ("accuracy[0].wins.share", |report| wins(report).share = None),
        ("accuracy[0].wins.skill", |report| wins(report).skill = None),
        ("scaled[0].cell_id", |report| report.scaled[0].cell_id = 0),
        ("forfeits[0].stalls", |report| report.forfeits[0].stalls = 1 << 53),
        ("mixed_cells[0].cell_id", |report| report.mixed_cells[0].cell_id = 0),
        ("runs[0].kind", |report| report.runs[0].kind = "climb".to_owned()),
        ("runs[0].steps", |report| report.runs[0].steps = 1 << 53),
        ("runs[0].value", |report| report.runs[0].estimates[0].value = None),
        ("runs[0].interval", |report| {
            let text = "∞".to_owned();
            let low = Some(v1::CourseValue { number: Some(f64::INFINITY), text });
            report.runs[0].estimates[0].interval = Some(v1::CourseBounds { low, high: None });
        }),
    ];
    let mut cell = sample(cell(1));
    cell.score = Some(ScoreInterval { score: 0.5, low: 0.4, high: 0.6 });
    (cell.wins, cell.draws, cell.losses) = (7, 2, 3);
    cell.colours = Some(colours_of([7, 2, 3], [4, 2, 0], [None; 2]));
    let mut run = sample(run());
    run.estimates = vec![sample(course_estimate())];
    let mut accuracy = sample(accuracy());
    accuracy.accuracy.wins = Some(sample(wins_kept()));
    let good = v1::GetReportResponse {
        experiment: Some(sample(experiment()).into()),
        axes: vec!["depth".to_owned()],
        cells: vec![cell.into()],
        moves: vec![sample(move_cost(1)).into()],
        accuracy: vec![accuracy.into()],
        replayed: vec![v1::ReplayedGames { cell_id: 1, games: 1 }],
        disturbed: vec![v1::DisturbedGames { cell_id: 1, ..Default::default() }],
        scaled: vec![v1::ScaledGames { cell_id: 1, ..Default::default() }],
        engines: vec![sample(used_engine()).into()],
        mixed_cells: vec![sample(mixed_cell()).into()],
        forfeits: vec![sample(player_forfeits()).into()],
        runs: vec![run.into()],
        ..Default::default()
    };
    let read = |part: v1::GetReportResponse| ReportReader::default().take(part);
    assert_eq!(read(good.clone()), Ok(()));
    for (expected, spoil) in spoils {
        let mut bad = good.clone();
        spoil(&mut bad);
        assert_eq!(field(read(bad)), *expected);
    }
    assert_eq!(field(ReportReader::default().finish()), "experiment");
}

#[test]
fn malformed_ratings_are_refused_by_field() {
    let mut player = sample(rated_player());
    player.rating = None;
    let group = RatedGroup {
        players: vec![player.clone(), player],
        difference_errors: vec![None],
        meetings: vec![Meeting { player: 0, opponent: 1, wins: 1, draws: 0, losses: 0 }],
        ..sample(rated_group(0))
    };
    let refused = |change: &dyn Fn(&mut v1::RatedGroup)| {
        let mut group = v1::RatedGroup::from(group.clone());
        change(&mut group);
        let experiment = Some(sample(experiment()).into());
        let part = v1::GetRatingsResponse { experiment, axes: Vec::new(), groups: vec![group] };
        field(RatingsReader::default().take(part))
    };
    assert_eq!(refused(&|group| group.draw_rate = f64::NAN), "groups[0].draw_rate");
    assert_eq!(refused(&|group| group.clusters_are.clear()), "groups[0].clusters_are");
    assert_eq!(refused(&|group| group.difference_errors.clear()), "groups[0].difference_errors");
    assert_eq!(refused(&|group| group.meetings[0].player = 1), "groups[0].meetings.player");
    assert_eq!(refused(&|group| group.meetings[0].opponent = 2), "groups[0].meetings.opponent");
    assert_eq!(refused(&|group| group.meetings[0].opponent = 0), "groups[0].meetings.opponent");
    assert_eq!(refused(&|group| group.players[1].wins = u64::MAX), "groups[0].players[1].wins");
    let bad = Some(v1::Estimate { elo: f64::INFINITY, elo_error: None });
    assert_eq!(refused(&|group| group.players[0].rating = bad), "groups[0].players[0].rating.elo");
    assert_eq!(refused(&|group| group.first_move = bad), "groups[0].first_move.elo");
    assert_eq!(refused(&|group| group.point.push(v1::AxisPlace::default())), "groups.point");
    assert_eq!(field(RatingsReader::default().finish()), "experiment");
}

#[test]
fn what_one_look_can_tell_of_the_time_left_is_told() {
    let mut progress = sample(progress());
    progress.state = ExperimentState::Running;
    progress.games_settled = 10;
    progress.wall_us = 1e7;
    progress.slots = 2;
    progress.backlog = Backlog {
        games_left: 10,
        seen_us: 1e7,
        longest_us: 1e6,
        seen_cells: 1,
        means_us: 1e6,
        mean_squares: 1e12,
        ..Backlog::default()
    };
    progress.spread = GameSpread::default();
    let forecast = v1::GetProgressResponse::from(progress.clone()).forecast.unwrap();
    assert_eq!(forecast.left_us, 5e6);
    progress.state = ExperimentState::Paused;
    assert_eq!(v1::GetProgressResponse::from(progress).forecast, None);
}
