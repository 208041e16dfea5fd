//! The `Results` service over real gRPC.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use spelrum_answers::{GameResult, Overview, PhaseUnit, Phases, Report};
use spelrum_proto::limits::PAGE_SIZE_MAX;
use spelrum_proto::results::{
    OverviewReader, PhasesReader, RatingsReader, ReportReader, game_from_wire,
};
use spelrum_proto::v1::list_games_request::Of;
use spelrum_proto::{Reason, v1};
use tonic::Status;

use spelrum_test_support::{HandWorker, Served, Site, failed_result, quick_sweep, reason};

async fn report(served: &Served, experiment: &str, depths: bool) -> Result<Report, Status> {
    let request = v1::GetReportRequest { experiment: experiment.to_owned(), depths };
    let mut parts = served.results().await.get_report(request).await?.into_inner();
    let mut report = ReportReader::default();
    while let Some(part) = parts.message().await? {
        report.take(part).unwrap();
    }
    Ok(report.finish().unwrap())
}

/// A sweep of so many cells.
fn wide_sweep(name: &str, cells: usize, games: u64) -> String {
    let depths: Vec<_> = (1..=cells).map(|depth| depth.to_string()).collect();
    quick_sweep(name, games).replace("depth = 1", "depth = \"$depth\"")
        + &format!("\n[axes]\ndepth = [{}]\n", depths.join(", "))
}

/// Whatever arrives meanwhile, what a report says of one thing fits what it says of another.
#[tokio::test]
async fn a_report_is_of_one_moment_while_games_arrive() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&wide_sweep("busy", 6, 200)).await;
    let mut worker = HandWorker::new(&served).await;
    let is_done = AtomicBool::new(false);
    let working = async {
        worker.work_until_done().await;
        is_done.store(true, Ordering::Relaxed);
    };
    let reporting = async {
        let mut seen = Vec::new();
        while !is_done.load(Ordering::Relaxed) {
            let report = report(&served, "busy", true).await.unwrap();
            let games: u64 = report.cells.iter().map(|cell| cell.games).sum();
            assert_eq!(games, report.experiment.games_settled);
            assert_eq!(report.cells.len(), 6);
            for cost in &report.moves {
                let cell = report.cells.iter().find(|cell| cell.cell == cost.cell).unwrap();
                assert!(cell.games > 0, "moves without a game");
                let of_depths: u64 = report
                    .depths
                    .iter()
                    .filter(|row| row.cell == cost.cell && row.player == cost.player)
                    .map(|row| row.costs.searched_moves)
                    .sum();
                assert_eq!(of_depths, cost.costs.searched_moves);
            }
            seen.push(games);
        }
        seen
    };
    let ((), seen) = futures_util::future::join(working, reporting).await;
    assert!(seen.is_sorted() && seen.len() > 1, "{seen:?}");
    assert_eq!(report(&served, "busy", false).await.unwrap().experiment.games_settled, 1_200);
}

/// A report beyond one message comes in several, none of them large.
#[tokio::test]
async fn a_large_report_comes_in_parts() {
    let site = Site::new();
    let served = site.serve().await;
    let sweep = wide_sweep("large", 1_000, 2)
        .replace("depth = \"$depth\"", "depth = \"$depth\"\nnodes = \"$nodes\"")
        + "nodes = [10, 20, 30, 40, 50, 60, 70, 80]\n";
    let uuid = served.submit(&sweep).await.experiment_uuid;
    let request = v1::GetReportRequest { experiment: uuid.clone(), depths: true };
    let mut parts = served.results().await.get_report(request).await.unwrap().into_inner();
    let mut count = 0;
    while let Some(part) = parts.message().await.unwrap() {
        assert!(part.experiment.is_some() == (count == 0));
        assert!(prost::Message::encoded_len(&part) < 300 << 10);
        count += 1;
    }
    assert!(count > 1, "{count}");
    let report = report(&served, &uuid, true).await.unwrap();
    assert_eq!((report.axes.len(), report.cells.len()), (2, 8_000));
    let places: BTreeSet<_> = report.cells.iter().map(|cell| &cell.axes).collect();
    assert_eq!(places.len(), 8_000, "each cell is told once");
    assert!(report.cells.iter().all(|cell| cell.axes.iter().all(Option::is_some)));
}

/// What is told over the network is what the file says.
#[tokio::test]
async fn ratings_are_told_for_each_point() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&wide_sweep("rated", 3, 8)).await;
    HandWorker::new(&served).await.work_until_done().await;
    served.wait_for_state("rated", "finished").await;
    let request = v1::GetRatingsRequest { experiment: "rated".to_owned() };
    let mut parts = served.results().await.get_ratings(request).await.unwrap().into_inner();
    let mut ratings = RatingsReader::default();
    while let Some(part) = parts.message().await.unwrap() {
        ratings.take(part).unwrap();
    }
    let ratings = ratings.finish().unwrap();
    assert_eq!(ratings.axes, ["depth"]);
    let points: Vec<_> = ratings.groups.iter().map(|group| group.point[0].as_deref()).collect();
    assert_eq!(points, [Some("1"), Some("2"), Some("3")]);
    for group in &ratings.groups {
        assert_eq!((group.games, group.players.len(), group.meetings.len()), (8, 2, 1));
        let lead = group.difference(0, 1).unwrap();
        assert!(lead.elo >= 0.0 && lead.error > Some(0.0), "{lead:?}");
    }
    let request = v1::GetRatingsRequest { experiment: "none".to_owned() };
    let refused = served.results().await.get_ratings(request).await;
    assert_eq!(reason(refused), Reason::UnknownExperiment);
}

async fn overview(served: &Served, experiment: &str) -> Result<Overview, Status> {
    let request = v1::GetOverviewRequest { experiment: experiment.to_owned() };
    let mut parts = served.results().await.get_overview(request).await?.into_inner();
    let mut overview = OverviewReader::default();
    while let Some(part) = parts.message().await? {
        overview.take(part).unwrap();
    }
    Ok(overview.finish().unwrap())
}

/// Its sums are those of the report, and of who played.
#[tokio::test]
async fn how_games_were_played_is_told() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&wide_sweep("played", 2, 8)).await;
    served.submit(&wide_sweep("waiting", 2, 8).replace("seed = 7", "seed = 8")).await;
    let nobody = overview(&served, "played").await.unwrap();
    assert!(nobody.workers.is_empty() && nobody.cells.is_empty());
    HandWorker::new(&served).await.work_until_done().await;
    for name in ["played", "waiting"] {
        served.wait_for_state(name, "finished").await;
    }
    let read = overview(&served, "played").await.unwrap();
    let [worker] = &read.workers[..] else { panic!("one worker: {read:?}") };
    assert_eq!((worker.games, &*worker.machine.cpu_model), (16, "a processor"));
    assert_eq!((worker.machine.logical_cores, &*worker.host), (Some(4), "here"));
    let report = report(&served, "played", false).await.unwrap();
    assert_eq!(read.cells.len(), report.cells.len());
    for (cell, result) in read.cells.iter().zip(&report.cells) {
        assert_eq!((cell.cell, &cell.axes), (result.cell, &result.axes));
        assert_eq!(cell.lengths.games(), result.games);
        assert_eq!(cell.terminations.values().sum::<u64>(), result.games);
    }
    let plies = |(plies, games): (&u32, &u64)| u64::from(*plies) * games;
    let all: u64 = read.cells.iter().flat_map(|cell| cell.lengths.0.iter()).map(plies).sum();
    assert_eq!(all, worker.plies);
    assert_eq!(reason(overview(&served, "none").await), Reason::UnknownExperiment);
}

async fn phases(served: &Served, experiment: &str) -> Result<Phases, Status> {
    let request = v1::GetPhasesRequest { experiment: experiment.to_owned() };
    let mut parts = served.results().await.get_phases(request).await?.into_inner();
    let mut phases = PhasesReader::default();
    while let Some(part) = parts.message().await? {
        phases.take(part).unwrap();
    }
    Ok(phases.finish().unwrap())
}

/// Their moves are those of the report, told apart; where none are recorded, that is said.
#[tokio::test]
async fn phases_are_told_where_moves_are_recorded() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&wide_sweep("recorded", 2, 8)).await;
    let games = wide_sweep("games_only", 1, 8).replace("seed = 7", "seed = 8\nrecord = \"games\"");
    served.submit(&games).await;
    HandWorker::new(&served).await.work_until_done().await;
    for name in ["recorded", "games_only"] {
        served.wait_for_state(name, "finished").await;
    }
    let read = phases(&served, "recorded").await.unwrap();
    assert!(read.moves_recorded && read.unit == PhaseUnit::EmptyCells);
    assert_eq!((&*read.axes, read.cells.len()), (&["depth".to_owned()][..], 2));
    let report = report(&served, "recorded", false).await.unwrap();
    for cell in &read.cells {
        // One mark is on the board where games begin; the ninth move is the only one.
        let empty: Vec<u32> = cell.phases.iter().map(|times| times.phase).collect();
        assert!(empty.is_sorted_by(|a, b| a > b) && empty[0] == 8, "{empty:?}");
        assert!(empty.iter().all(|&empty| empty >= 2), "{empty:?}");
        for (player, name) in [&cell.player, &cell.opponent].into_iter().enumerate() {
            let cost = report
                .moves
                .iter()
                .find(|row| row.cell == cell.cell && row.player == *name)
                .unwrap();
            let moves = cell.phases.iter().map(|times| times.players[player]);
            let count: u64 = moves.clone().map(|moves| moves.searched_moves).sum();
            assert_eq!(count, cost.costs.searched_moves, "{name}");
            let us: f64 = moves.map(|row| row.searched_moves as f64 * row.wall_us_mean).sum();
            assert!((us / count as f64 - cost.costs.wall_us_mean).abs() < 1e-6, "{name}");
        }
        assert!(cell.standardised().is_some_and(|times| times.moves_share > 0.5));
    }
    let none = phases(&served, "games_only").await.unwrap();
    assert!(!none.moves_recorded && none.cells.is_empty());
    assert_eq!(reason(phases(&served, "none").await), Reason::UnknownExperiment);
}

#[tokio::test]
async fn progress_and_settled_cells_lead_through_an_experiment() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&wide_sweep("watched", 3, 4)).await;
    let mut client = served.results().await;
    let request = v1::GetProgressRequest { experiment: "watched".to_owned() };
    let before = client.get_progress(request.clone()).await.unwrap().into_inner();
    assert_eq!((&*before.state, before.cells, before.games_planned), ("running", 3, 12));
    assert_eq!((before.games_settled, before.last_game_id, before.forecast), (0, 0, None));
    HandWorker::new(&served).await.work_until_done().await;
    served.wait_for_state("watched", "finished").await;
    let after = client.get_progress(request).await.unwrap().into_inner();
    assert_eq!((&*after.state, after.cells_settled, after.games_settled), ("finished", 3, 12));
    assert_eq!(after.backlog.unwrap().games_left, 0);
    assert_eq!(after.last_game_id, 12);

    let mut settled_ids = Vec::new();
    let mut settled_after = 0;
    loop {
        let request = v1::ListCellsRequest {
            experiment: "watched".to_owned(),
            page_size: 2,
            page_token: String::new(),
            settled_after: Some(settled_after),
        };
        let answer = client.list_cells(request).await.unwrap().into_inner();
        assert_eq!((&*answer.axes, &*answer.next_page_token), (&["depth".to_owned()][..], ""));
        settled_after = answer.last_game_id;
        if answer.cells.is_empty() {
            break;
        }
        settled_ids.extend(answer.cells.into_iter().map(|cell| cell.cell_id));
    }
    settled_ids.sort_unstable();
    assert_eq!(settled_ids, [1, 2, 3]);
    assert_eq!(settled_after, 12);
}

#[tokio::test]
async fn cells_and_games_come_in_pages_across_a_restart() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&wide_sweep("paged", 5, 4)).await;
    HandWorker::new(&served).await.work_until_done().await;
    let experiment = "paged".to_owned();
    let cells = |page_token: String| v1::ListCellsRequest {
        experiment: experiment.clone(),
        page_size: 2,
        page_token,
        settled_after: None,
    };
    let games = |page_token: String, order: v1::GamesOrder| v1::ListGamesRequest {
        of: Some(Of::Experiment(experiment.clone())),
        page_size: 7,
        page_token,
        filter: 0,
        order: order.into(),
    };
    let mut client = served.results().await;
    let first = client.list_cells(cells(String::new())).await.unwrap().into_inner();
    served.stop().await.unwrap();
    let served = site.serve().await;
    let mut client = served.results().await;
    let (mut listed_cells, mut token) = (first.cells, first.next_page_token);
    while !token.is_empty() {
        let page = client.list_cells(cells(token)).await.unwrap().into_inner();
        listed_cells.extend(page.cells);
        token = page.next_page_token;
    }
    let report = report(&served, "paged", false).await.unwrap();
    let expected: Vec<_> = report.cells.into_iter().map(v1::CellResult::from).collect();
    assert_eq!(listed_cells, expected);

    let orders = [v1::GamesOrder::Unspecified, v1::GamesOrder::Number, v1::GamesOrder::Settled];
    for order in orders {
        let (mut listed, mut token) = (Vec::new(), String::new());
        loop {
            let page = client.list_games(games(token, order)).await.unwrap().into_inner();
            assert!(page.games.len() <= 7);
            // What was settled last tells where the next games will come.
            let may_go_on = order == v1::GamesOrder::Settled && !page.games.is_empty();
            assert!(!may_go_on || !page.next_page_token.is_empty());
            listed.extend(
                page.games.into_iter().map(|game| (game.game_id, game.cell_id, game.number)),
            );
            token = page.next_page_token;
            if token.is_empty() {
                break;
            }
        }
        assert_eq!(listed.len(), 20);
        match order {
            v1::GamesOrder::Unspecified => assert!(listed.is_sorted_by(|a, b| a.0 > b.0)),
            v1::GamesOrder::Number => assert!(listed.is_sorted_by_key(|game| (game.1, game.2))),
            v1::GamesOrder::Settled => assert!(listed.is_sorted_by(|a, b| a.0 < b.0)),
        }
    }
}

/// More than one answer could hold.
#[tokio::test]
async fn more_than_a_thousand_experiments_are_listed() {
    let site = Site::new();
    let served = site.serve().await;
    let mut clients = served.experiments().await;
    for number in 0..1_010 {
        let name = format!("sweep-{number}");
        let request = spelrum_test_support::submission(&quick_sweep(&name, 2));
        clients.submit(request).await.unwrap();
    }
    let mut client = served.results().await;
    let (mut names, mut page_token) = (Vec::new(), String::new());
    loop {
        let request = v1::ListExperimentsRequest {
            page_size: PAGE_SIZE_MAX,
            page_token,
            experiment: String::new(),
        };
        let page = client.list_experiments(request).await.unwrap().into_inner();
        names.extend(page.experiments.into_iter().map(|experiment| experiment.name));
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    let expected: Vec<_> = (0..1_010).map(|number| format!("sweep-{number}")).collect();
    assert_eq!(names, expected);
    let named = v1::ListExperimentsRequest {
        experiment: "sweep-7".to_owned(),
        ..v1::ListExperimentsRequest::default()
    };
    let named = client.list_experiments(named).await.unwrap().into_inner();
    assert_eq!((named.experiments.len(), &*named.experiments[0].name), (1, "sweep-7"));
    assert_eq!(named.next_page_token, "");
}

#[tokio::test]
async fn a_game_is_told_with_its_moves_or_why_it_failed() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("games", 4)).await;
    let mut worker = HandWorker::new(&served).await;
    // The first game fails until it has finally failed.
    loop {
        let Some(grant) = worker.lease().await.unwrap().grant else { break };
        let mut results = worker.play(&grant).await;
        for result in &mut results {
            if matches!(&result.what, Some(v1::result::What::Game(game)) if game.number == 0) {
                *result = failed_result(result, "out of marbles");
            }
        }
        worker.report(results).await.unwrap();
    }
    let mut client = served.results().await;
    let in_cell = |number| v1::GetGameRequest {
        which: Some(v1::get_game_request::Which::InCell(v1::GameId { cell_id: 1, number })),
    };
    let game = client.get_game(in_cell(1)).await.unwrap().into_inner();
    let game = game_from_wire(game).unwrap();
    let GameResult::Played(played) = &game.summary.result else { panic!("{game:?}") };
    assert_eq!(game.moves.as_ref().map(Vec::len), Some(played.end.plies as usize));
    assert!(game.definition().is_ok());
    let failed = client.get_game(in_cell(0)).await.unwrap().into_inner();
    let failed = game_from_wire(failed).unwrap();
    assert_eq!(failed.summary.result, GameResult::Failed("out of marbles".to_owned()));
    for filter in [v1::GamesFilter::Uncounted, v1::GamesFilter::Failed] {
        let request = v1::ListGamesRequest {
            of: Some(Of::CellId(1)),
            filter: filter.into(),
            ..v1::ListGamesRequest::default()
        };
        let games = client.list_games(request).await.unwrap().into_inner().games;
        assert_eq!(games, [v1::GameSummary::from(failed.summary.clone())]);
    }
    assert_eq!(reason(client.get_game(in_cell(4)).await), Reason::UnknownGame);
    assert_eq!(reason(client.get_game(in_cell(1 << 53)).await), Reason::Malformed);
    let by_id =
        |game_id| v1::GetGameRequest { which: Some(v1::get_game_request::Which::GameId(game_id)) };
    assert_eq!(reason(client.get_game(by_id(99)).await), Reason::UnknownGame);
    assert_eq!(reason(client.get_game(by_id(0)).await), Reason::Malformed);
    assert_eq!(reason(client.get_game(v1::GetGameRequest::default()).await), Reason::Malformed);
}

/// Invariants 9 and 10.
#[tokio::test]
async fn hostile_questions_are_refused() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&wide_sweep("a", 3, 2)).await;
    served.submit(&wide_sweep("b", 3, 2)).await;
    HandWorker::new(&served).await.work_until_done().await;
    let mut client = served.results().await;
    let cells = |experiment: &str, page_token: &str| v1::ListCellsRequest {
        experiment: experiment.to_owned(),
        page_size: 1,
        page_token: page_token.to_owned(),
        settled_after: None,
    };
    let token = client.list_cells(cells("a", "")).await.unwrap().into_inner().next_page_token;
    assert!(!token.is_empty());
    client.list_cells(cells("a", &token)).await.unwrap();
    assert_eq!(reason(client.list_cells(cells("b", &token)).await), Reason::Malformed);
    for hostile in ["x", "' OR 1=1 --", &"9".repeat(10_000), &format!("{token}-1"), "é-1-2"] {
        assert_eq!(reason(client.list_cells(cells("a", hostile)).await), Reason::Malformed);
        let games = v1::ListGamesRequest {
            of: Some(Of::CellId(1)),
            page_token: hostile.to_owned(),
            ..v1::ListGamesRequest::default()
        };
        assert_eq!(reason(client.list_games(games).await), Reason::Malformed);
        let experiments = v1::ListExperimentsRequest {
            page_token: hostile.to_owned(),
            ..v1::ListExperimentsRequest::default()
        };
        assert_eq!(reason(client.list_experiments(experiments).await), Reason::Malformed);
    }
    let many = v1::ListCellsRequest { page_size: PAGE_SIZE_MAX + 1, ..cells("a", "") };
    assert_eq!(reason(client.list_cells(many).await), Reason::Malformed);
    let negative = v1::ListCellsRequest { settled_after: Some(-1), ..cells("a", "") };
    assert_eq!(reason(client.list_cells(negative).await), Reason::Malformed);
    let both = v1::ListCellsRequest { settled_after: Some(0), ..cells("a", &token) };
    assert_eq!(reason(client.list_cells(both).await), Reason::Malformed);
    let nobody = v1::ListGamesRequest::default();
    assert_eq!(reason(client.list_games(nobody).await), Reason::Malformed);
    let nowhere = v1::ListGamesRequest { of: Some(Of::CellId(99)), ..Default::default() };
    assert_eq!(reason(client.list_games(nowhere).await), Reason::UnknownCell);

    for (which, expected) in [
        ("nobody", Reason::UnknownExperiment),
        ("", Reason::UnknownExperiment),
        (&"x".repeat(256), Reason::Malformed),
    ] {
        assert_eq!(reason(report(&served, which, false).await), expected);
        assert_eq!(reason(client.list_cells(cells(which, "")).await), expected);
        let progress = v1::GetProgressRequest { experiment: which.to_owned() };
        assert_eq!(reason(client.get_progress(progress).await), expected);
        let games = v1::ListGamesRequest {
            of: Some(Of::Experiment(which.to_owned())),
            ..v1::ListGamesRequest::default()
        };
        assert_eq!(reason(client.list_games(games).await), expected);
        if !which.is_empty() {
            let experiments = v1::ListExperimentsRequest {
                experiment: which.to_owned(),
                ..v1::ListExperimentsRequest::default()
            };
            assert_eq!(reason(client.list_experiments(experiments).await), expected);
        }
    }
}
