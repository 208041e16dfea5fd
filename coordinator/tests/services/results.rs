//! Questions about results, over the API.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::{Body, to_bytes};
use spelrum_answers::{
    CellCursor, Detail, GameCursor, GameResult, GamesFilter, GamesOrder, GetCellGame,
    GetExperiment, GetGame, GetOutcomeLengths, GetOverview, GetPhases, GetProgress, GetRatings,
    GetReport, Lengths, ListCellGames, ListCells, ListExperiments, ListGames, ListSettledCells,
    Overview, PAGE_ITEMS_MAX, PhaseUnit, Phases, Report,
};
use spelrum_engine::Outcome;
use spelrum_model::{CellId, ExperimentState};
use spelrum_proto::api::content_length;
use spelrum_proto::{Reason, v1};
use tonic::Status;

use spelrum_test_support::{
    HandWorker, Served, Site, failed_result, quick_sweep, reason, submission,
};

async fn report(served: &Served, experiment: &str, detail: Detail) -> Result<Report, Status> {
    served.call(&GetReport { experiment: experiment.to_owned(), detail }).await
}

/// The reason why a question that has no type of its own is refused.
async fn refused(served: &Served, target: &str) -> Reason {
    reason(served.api().await.send("GET", target, None).await)
}

/// A sweep of so many cells.
fn wide_sweep(name: &str, cells: usize, games: u64) -> String {
    let depths: Vec<_> = (1..=cells).map(|depth| depth.to_string()).collect();
    quick_sweep(name, games).replace("depth = 1", "depth = \"$depth\"")
        + &format!("\n[axes]\ndepth = [{}]\n", depths.join(", "))
}

/// Whatever arrives meanwhile, the parts of a report agree with each other.
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
            let report = report(&served, "busy", Detail::Depths).await.unwrap();
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
    let report = report(&served, "busy", Detail::Cells).await.unwrap();
    assert_eq!(report.experiment.games_settled, 1_200);
}

/// A large report is sent while it is written, so that its text is never in memory as a whole.
#[tokio::test]
async fn a_large_report_comes_in_pieces() {
    let site = Site::new();
    let served = site.serve().await;
    let sweep = wide_sweep("large", 1_000, 2)
        .replace("depth = \"$depth\"", "depth = \"$depth\"\nnodes = \"$nodes\"")
        + "nodes = [10, 20, 30, 40, 50, 60, 70, 80]\n";
    let uuid = served.submit(&sweep).await.experiment_uuid;
    let target = format!("/api/v1/experiments/{uuid}/report?detail=depths");
    let answer = served.api().await.send("GET", &target, None).await.unwrap();
    assert_eq!(content_length(&answer), None, "its length is not known when it begins");
    let text = to_bytes(Body::new(answer.into_body()), usize::MAX).await.unwrap();
    assert!(text.len() > 1 << 20, "{}", text.len());
    let report: Report = serde_json::from_slice(&text).unwrap();
    assert_eq!((report.axes.len(), report.cells.len()), (2, 8_000));
    let places: BTreeSet<_> = report.cells.iter().map(|cell| &cell.axes).collect();
    assert_eq!(places.len(), 8_000, "each cell comes once");
    assert!(report.cells.iter().all(|cell| cell.axes.iter().all(Option::is_some)));
}

/// Players are rated at each point of the grid.
#[tokio::test]
async fn ratings_come_for_each_point() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&wide_sweep("rated", 3, 8)).await;
    HandWorker::new(&served).await.work_until_done().await;
    served.wait_for_state("rated", "finished").await;
    let ratings = served.call(&GetRatings { experiment: "rated".to_owned() }).await.unwrap();
    assert_eq!(ratings.axes, ["depth"]);
    let points: Vec<_> = ratings.groups.iter().map(|group| group.point[0].as_deref()).collect();
    assert_eq!(points, [Some("1"), Some("2"), Some("3")]);
    for group in &ratings.groups {
        assert_eq!((group.games, group.players.len(), group.meetings.len()), (8, 2, 1));
        let lead = group.difference(0, 1).unwrap();
        assert!(lead.elo >= 0.0 && lead.error > Some(0.0), "{lead:?}");
    }
    let unknown = GetRatings { experiment: "none".to_owned() };
    assert_eq!(reason(served.call(&unknown).await), Reason::UnknownExperiment);
}

async fn overview(served: &Served, experiment: &str) -> Result<Overview, Status> {
    served.call(&GetOverview { experiment: experiment.to_owned() }).await
}

/// Its sums are those of the report, and of the workers.
#[tokio::test]
async fn an_overview_agrees_with_the_report() {
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
    let report = report(&served, "played", Detail::Cells).await.unwrap();
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

/// Each game is counted where the list of games has it.
#[tokio::test]
async fn lengths_by_outcome_are_those_of_the_games() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&wide_sweep("played", 3, 20)).await;
    let ask = GetOutcomeLengths { experiment: "played".to_owned() };
    assert!(served.call(&ask).await.unwrap().cells.is_empty());
    HandWorker::new(&served).await.work_until_done().await;
    served.wait_for_state("played", "finished").await;
    let lengths = served.call(&ask).await.unwrap();
    let report = report(&served, "played", Detail::Cells).await.unwrap();
    assert_eq!(lengths.cells.len(), 3);
    for (cell, result) in lengths.cells.iter().zip(&report.cells) {
        let games = [&cell.won, &cell.drawn, &cell.lost].map(Lengths::games);
        assert_eq!((cell.cell, games), (result.cell, [result.wins, result.draws, result.losses]));
        let (filter, order) = (GamesFilter::Counted, GamesOrder::Number);
        let (after, limit) = (None, None);
        let games = ListCellGames { cell: cell.cell, filter, order, after, limit };
        let mut listed = [const { BTreeMap::new() }; 3];
        for game in served.call(&games).await.unwrap().games {
            let GameResult::Played(played) = game.result else { panic!("all are played") };
            let is_first = game.players[0] == cell.player;
            let half_points = match (played.end.outcome, is_first) {
                (Outcome::Draw, _) => 1,
                (Outcome::Win, true) | (Outcome::Loss, false) => 2,
                (Outcome::Win, false) | (Outcome::Loss, true) => 0,
            };
            *listed[half_points].entry(played.end.plies).or_default() += 1;
        }
        assert_eq!([&cell.lost.0, &cell.drawn.0, &cell.won.0], listed.each_ref());
    }
    let unknown = GetOutcomeLengths { experiment: "none".to_owned() };
    assert_eq!(reason(served.call(&unknown).await), Reason::UnknownExperiment);
}

async fn phases(served: &Served, experiment: &str) -> Result<Phases, Status> {
    served.call(&GetPhases { experiment: experiment.to_owned() }).await
}

/// Their moves are those of the report, by phase; an answer without recorded moves says so.
#[tokio::test]
async fn phases_come_where_moves_are_recorded() {
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
    let report = report(&served, "recorded", Detail::Cells).await.unwrap();
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
    let api = served.api().await;
    let question = GetProgress { experiment: "watched".to_owned() };
    let before = api.call(&question).await.unwrap();
    assert_eq!(before.state, ExperimentState::Running);
    assert_eq!((before.cells, before.games_planned), (3, 12));
    assert_eq!((before.games_settled, before.last_game_id), (0, 0));
    assert_eq!((before.backlog.games_left, before.backlog.seen_cells), (12, 0));
    HandWorker::new(&served).await.work_until_done().await;
    served.wait_for_state("watched", "finished").await;
    let after = api.call(&question).await.unwrap();
    assert_eq!(after.state, ExperimentState::Finished);
    assert_eq!((after.cells_settled, after.games_settled), (3, 12));
    assert_eq!((after.backlog.games_left, after.last_game_id), (0, 12));

    let mut settled_ids = Vec::new();
    let mut after_game_id = 0;
    loop {
        let experiment = "watched".to_owned();
        let question = ListSettledCells { experiment, after_game_id, limit: Some(2) };
        let answer = api.call(&question).await.unwrap();
        assert_eq!(answer.axes, ["depth"]);
        assert!(answer.cells.len() <= 2);
        after_game_id = answer.last_game_id;
        if answer.cells.is_empty() {
            break;
        }
        settled_ids.extend(answer.cells.into_iter().map(|cell| cell.cell));
    }
    settled_ids.sort_unstable();
    assert_eq!(settled_ids, [1, 2, 3].map(CellId));
    assert_eq!(after_game_id, 12);
}

#[tokio::test]
async fn cells_and_games_come_in_pages_across_a_restart() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&wide_sweep("paged", 5, 4)).await;
    HandWorker::new(&served).await.work_until_done().await;
    let cells = |after: Option<CellCursor>| ListCells {
        experiment: "paged".to_owned(),
        after,
        limit: Some(2),
    };
    let games = |after: Option<GameCursor>, order: GamesOrder| ListGames {
        experiment: "paged".to_owned(),
        filter: GamesFilter::All,
        order,
        after,
        limit: Some(7),
    };
    let first = served.call(&cells(None)).await.unwrap();
    served.stop().await.unwrap();
    let served = site.serve().await;
    let api = served.api().await;
    let (mut listed_cells, mut next) = (first.cells, first.next);
    while next.is_some() {
        let page = api.call(&cells(next)).await.unwrap();
        assert!(page.cells.len() <= 2);
        listed_cells.extend(page.cells);
        next = page.next;
    }
    let report = report(&served, "paged", Detail::Cells).await.unwrap();
    assert_eq!(listed_cells, report.cells);

    for order in [GamesOrder::Newest, GamesOrder::Number, GamesOrder::Settled] {
        let (mut listed, mut next) = (Vec::new(), None);
        loop {
            let page = api.call(&games(next, order)).await.unwrap();
            assert!(page.games.len() <= 7);
            // In order of settlement, more games may follow any page.
            let may_go_on = order == GamesOrder::Settled && !page.games.is_empty();
            assert!(!may_go_on || page.next.is_some());
            listed.extend(page.games.into_iter().map(|game| (game.game_id, game.game)));
            next = page.next;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(listed.len(), 20);
        match order {
            GamesOrder::Newest => assert!(listed.is_sorted_by(|a, b| a.0 > b.0)),
            GamesOrder::Number => assert!(listed.is_sorted_by_key(|listed| listed.1)),
            GamesOrder::Settled => assert!(listed.is_sorted_by(|a, b| a.0 < b.0)),
        }
    }
}

/// More than one answer could hold.
#[tokio::test]
async fn more_than_a_thousand_experiments_are_listed() {
    let site = Site::new();
    let served = site.serve().await;
    let api = served.api().await;
    for number in 0..1_010 {
        let name = format!("sweep-{number}");
        api.call(&submission(&quick_sweep(&name, 2))).await.unwrap();
    }
    let (mut names, mut after) = (Vec::new(), None);
    loop {
        let question = ListExperiments { after, limit: Some(PAGE_ITEMS_MAX) };
        let page = api.call(&question).await.unwrap();
        names.extend(page.experiments.into_iter().map(|experiment| experiment.name));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let expected: Vec<_> = (0..1_010).map(|number| format!("sweep-{number}")).collect();
    assert_eq!(names, expected);
    assert_eq!(served.summary("sweep-7").await.name, "sweep-7");
}

#[tokio::test]
async fn a_game_comes_with_its_moves_or_why_it_failed() {
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
    let api = served.api().await;
    let in_cell = |number| GetCellGame { cell: CellId(1), number };
    let game = api.call(&in_cell(1)).await.unwrap();
    let GameResult::Played(played) = &game.summary.result else { panic!("{game:?}") };
    assert_eq!(game.moves.as_ref().map(Vec::len), Some(played.end.plies as usize));
    assert!(game.definition().is_ok());
    let by_id = |game_id| GetGame { game_id };
    assert_eq!(api.call(&by_id(game.summary.game_id)).await.unwrap(), game);
    let failed = api.call(&in_cell(0)).await.unwrap();
    assert_eq!(failed.summary.result, GameResult::Failed("out of marbles".to_owned()));
    for filter in [GamesFilter::Uncounted, GamesFilter::Failed] {
        let (order, after, limit) = (GamesOrder::Newest, None, None);
        let question = ListCellGames { cell: CellId(1), filter, order, after, limit };
        let page = api.call(&question).await.unwrap();
        assert_eq!(&page.games[..], std::slice::from_ref(&failed.summary));
    }
    for number in [4, 1 << 53, u64::MAX] {
        assert_eq!(reason(api.call(&in_cell(number)).await), Reason::UnknownGame, "{number}");
    }
    for game_id in [99, 0, -1, i64::MIN, i64::MAX] {
        assert_eq!(reason(api.call(&by_id(game_id)).await), Reason::UnknownGame, "{game_id}");
    }
    for wrong in ["cells/1/games/-1", "cells/x/games/1", "games/x", "games/9223372036854775808"] {
        let target = format!("/api/v1/{wrong}");
        assert_eq!(refused(&served, &target).await, Reason::Malformed, "{wrong}");
    }
}

/// Invariants 9 and 10.
#[tokio::test]
async fn hostile_questions_are_refused() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&wide_sweep("a", 3, 2)).await;
    served.submit(&wide_sweep("b", 3, 2)).await;
    HandWorker::new(&served).await.work_until_done().await;
    let api = served.api().await;
    let cells = |experiment: &str, after: Option<CellCursor>| ListCells {
        experiment: experiment.to_owned(),
        after,
        limit: Some(1),
    };
    let next = api.call(&cells("a", None)).await.unwrap().next;
    let cursor = String::from(next.unwrap());
    api.call(&cells("a", next)).await.unwrap();
    // A cursor is only a place: it leads to no other experiment's cells.
    let page = api.call(&cells("b", next)).await.unwrap();
    let report_of_b = report(&served, "b", Detail::Cells).await.unwrap();
    assert!(page.cells.iter().all(|cell| report_of_b.cells.contains(cell)), "{page:?}");
    for hostile in
        ["x", "' OR 1=1 --", &"9".repeat(10_000), &format!("{cursor}-1-1"), "-1-2-3", "é-1-2"]
    {
        let after: String = form_urlencoded::byte_serialize(hostile.as_bytes()).collect();
        for list in ["experiments/a/cells", "experiments/a/games", "cells/1/games", "experiments"] {
            let target = format!("/api/v1/{list}?after={after}");
            assert_eq!(refused(&served, &target).await, Reason::Malformed, "{list} {hostile}");
        }
    }
    for wrong in [
        "experiments/a/cells?limit=-1",
        "experiments/a/cells?limit=1&limit=1",
        "experiments/a/cells?size=1",
        "experiments/a/settled-cells?after=0-1",
        "experiments/a/settled-cells?after_game_id=9223372036854775808",
        "experiments/a/games?filter=none",
        "experiments/a/games?order=1",
    ] {
        let target = format!("/api/v1/{wrong}");
        assert_eq!(refused(&served, &target).await, Reason::Malformed, "{wrong}");
    }
    let games = |experiment: &str, limit: Option<u32>| ListGames {
        experiment: experiment.to_owned(),
        filter: GamesFilter::All,
        order: GamesOrder::Newest,
        after: None,
        limit,
    };
    for limit in [0, PAGE_ITEMS_MAX + 1, u32::MAX].map(Some) {
        let many = ListCells { limit, ..cells("a", None) };
        assert_eq!(reason(api.call(&many).await), Reason::Malformed);
        let many = ListSettledCells { experiment: "a".to_owned(), after_game_id: 0, limit };
        assert_eq!(reason(api.call(&many).await), Reason::Malformed);
        let many = ListExperiments { after: None, limit };
        assert_eq!(reason(api.call(&many).await), Reason::Malformed);
        assert_eq!(reason(api.call(&games("a", limit)).await), Reason::Malformed);
    }
    for cell in [99, 0, -1].map(CellId) {
        let nowhere = ListCellGames {
            cell,
            filter: GamesFilter::All,
            order: GamesOrder::Newest,
            after: None,
            limit: None,
        };
        assert_eq!(reason(api.call(&nowhere).await), Reason::UnknownCell);
    }

    for unknown in ["nobody", "", &"x".repeat(256), "a/b?c=d&é%00"] {
        let expected = Reason::UnknownExperiment;
        assert_eq!(reason(report(&served, unknown, Detail::Cells).await), expected);
        assert_eq!(reason(api.call(&cells(unknown, None)).await), expected);
        let progress = GetProgress { experiment: unknown.to_owned() };
        assert_eq!(reason(api.call(&progress).await), expected);
        assert_eq!(reason(api.call(&games(unknown, None)).await), expected);
        if !unknown.is_empty() {
            let experiment = GetExperiment { experiment: unknown.to_owned() };
            assert_eq!(reason(api.call(&experiment).await), expected);
        }
    }
}
