//! What viewers ask: reports, lists in pages, and games.

use spelrum_answers::{
    Detail, FoundGame, GameCursor, GameResult, GameSummary, GamesFilter, GamesOf, GamesOrder,
    GamesQuestion, MissingGame, ReplayedGames, WhichGame,
};
use spelrum_engine::{EndedBy, Value};
use spelrum_model::{CellId, ExperimentId, GameId};
use spelrum_scheduling::scheduler::{Attempts, Changes};
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::{Readers, SqlValue};

use crate::fixture::{Store, add_cell, alpha_beta, empty_plan, game, genetic, plan, sweep, timed};

/// Two cells, of which the first is settled and the second has some games.
async fn played() -> Store {
    let mut store = Store::new().await;
    for (cell, games) in [(0, 20), (1, 7)] {
        let games: Vec<_> =
            (0..games).map(|number| game(store.cell(cell), number, number)).collect();
        store.store(&games).await;
    }
    store
}

#[tokio::test]
async fn a_report_has_what_the_views_have() {
    let store = played().await;
    let readers = store.writer.readers();
    let report = readers.report("small", Detail::Depths).await.unwrap().unwrap();
    assert_eq!(Some(&report.experiment), readers.experiment("uuid-1").await.unwrap().as_ref());
    assert_eq!((report.experiment.games_settled, &*report.axes), (27, &["depth".to_owned()][..]));
    let score = |figure: Option<f64>| figure.map_or(SqlValue::Null, SqlValue::Real);
    let integer = |count: u64| SqlValue::Integer(i64::try_from(count).unwrap());
    let cells = report.cells.iter().map(|cell| {
        vec![
            SqlValue::Integer(cell.cell.0),
            SqlValue::Text(cell.axes[0].clone().unwrap()),
            integer(cell.games),
            integer(cell.wins),
            integer(cell.losses),
            integer(cell.pairs.0[4]),
            integer(cell.distinct_games),
            score(cell.score.map(|score| score.score)),
            // A report has a sequence for the cell with games left.
            score(cell.score.map(|_| cell.tally().interval().high)),
        ]
    });
    let [settled, running] = &report.cells[..] else { panic!("{:?}", report.cells) };
    assert_eq!(settled.score, Some(settled.tally().interval()));
    assert_eq!(running.score, Some(running.tally().sequence(10.0).interval()));
    let in_views = "SELECT cell_id, substr(axes, 7), games, wins, losses, pairs_2, distinct_games, \
         score, score_high FROM results ORDER BY cell_number";
    assert_eq!(cells.collect::<Vec<_>>(), store.rows(in_views).await);
    let costs = |costs: &[spelrum_answers::MoveCost]| -> Vec<Vec<SqlValue>> {
        let cost = |cost: &spelrum_answers::MoveCost| {
            vec![
                SqlValue::Integer(cost.cell.0),
                SqlValue::Text(cost.player.clone()),
                integer(cost.costs.searched_moves),
                SqlValue::Real(cost.costs.wall_us_mean),
                SqlValue::Real(cost.costs.depth_mean),
                SqlValue::Real(cost.costs.nodes_mean),
                score(cost.costs.full_tree_share),
            ]
        };
        costs.iter().map(cost).collect()
    };
    let per_move = "SELECT cell_id, player, searched_moves, wall_us_mean, depth_mean, nodes_mean, \
         full_tree_share FROM time_per_move ORDER BY cell_id, player";
    assert_eq!(costs(&report.moves), store.rows(per_move).await);
    let per_depth = "SELECT cell_id, player, searched_moves, wall_us_mean, 1.0 * depth, nodes_mean, \
         full_tree_share FROM time_per_depth ORDER BY cell_id, player, depth";
    assert_eq!(costs(&report.depths), store.rows(per_depth).await);
    // Views have the middles of buckets, reports what is in them.
    let middles = "SELECT wall_us_p90 FROM time_per_move ORDER BY cell_id, player";
    for (cost, middle) in report.moves.iter().zip(store.texts(middles).await) {
        let (p90, middle) = (cost.costs.wall_us_p90, middle.parse::<f64>().unwrap());
        assert!((p90 - middle).abs() <= 0.0625 * middle, "{p90} {middle}");
    }
    assert!(report.moves.iter().all(|cost| cost.player != cost.opponent && cost.axes[0].is_some()));
    let short = readers.report("small", Detail::Cells).await.unwrap().unwrap();
    assert_eq!((short.cells, short.moves, short.depths.len()), (report.cells, report.moves, 0));
    assert_eq!(readers.report("nobody", Detail::Cells).await.unwrap(), None);
}

#[tokio::test]
async fn pages_of_cells_are_the_report_in_parts() {
    let mut plan = empty_plan("many");
    for depth in 1..=7 {
        add_cell(&mut plan, ["ab", "gm"], [alpha_beta(depth), genetic(depth)], depth, 2);
    }
    let mut store = Store::with(&plan).await;
    store.store(&[game(store.cell(3), 0, 1), game(store.cell(3), 1, 2)]).await;
    let readers = store.writer.readers();
    let whole = readers.report("many", Detail::Cells).await.unwrap().unwrap().cells;
    for size in [1, 3, 7, 100] {
        let (mut cells, mut after) = (Vec::new(), None);
        loop {
            let page = readers.cells(store.submitted.experiment, after, size).await.unwrap();
            assert_eq!(page.axes, ["depth"]);
            assert!(page.cells.len() <= size as usize);
            cells.extend(page.cells);
            assert!(cells.len() <= whole.len(), "a page goes on after the last one");
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(cells, whole, "in pages of {size}");
    }
    let none = readers.cells(ExperimentId(99), None, 10).await.unwrap();
    assert_eq!((none.cells.len(), none.next), (0, None));
}

#[tokio::test]
async fn experiments_are_listed_in_pages_and_found_by_uuid_or_name() {
    let mut store = Store::new().await;
    let mut transaction = store.writer.begin().await.unwrap();
    for number in 2..=5 {
        let (uuid, plan) = (format!("uuid-{number}"), plan(&format!("plan {number}")));
        transaction.submit(sweep(&uuid, "text", &plan)).await.unwrap();
    }
    transaction.commit().await.unwrap();
    store.store(&[game(store.cell(0), 0, 1)]).await;
    let readers = store.writer.readers();
    let all = readers.experiments(None, 5).await.unwrap();
    assert_eq!((all.experiments.len(), all.next), (5, None));
    let first = readers.experiments(None, 3).await.unwrap();
    assert_eq!(first.experiments, all.experiments[..3]);
    let rest = readers.experiments(first.next, 3).await.unwrap();
    assert_eq!((&rest.experiments[..], rest.next), (&all.experiments[3..], None));
    let beyond = readers.experiments(Some(ExperimentId(i64::MAX)), 3).await.unwrap();
    assert!(beyond.experiments.is_empty());

    for which in ["small", "uuid-1"] {
        let found = readers.experiment(which).await.unwrap().unwrap();
        assert_eq!(found.name, "small");
        assert_eq!((found.cells, found.games_planned), (2, 40));
        assert_eq!((found.games_settled, found.games_failed, found.priority), (1, 0, 3));
        assert_eq!(readers.experiment_id(which).await.unwrap(), Some(found.experiment));
    }
    for which in ["", "uuid-9", "SMALL", "%", "' OR 1 --"] {
        assert_eq!(readers.experiment(which).await.unwrap(), None);
    }
}

/// All games of a list, in pages of this size.
async fn listed(readers: &Readers, question: GamesQuestion, size: u32) -> Vec<GameSummary> {
    let (mut games, mut after) = (Vec::new(), None::<GameCursor>);
    loop {
        let page = readers.games(question, after, size).await.unwrap();
        assert!(page.games.len() <= size as usize);
        games.extend(page.games);
        after = page.next;
        if after.is_none() {
            return games;
        }
    }
}

#[tokio::test]
async fn games_are_listed_in_either_order_in_pages() {
    let mut store = played().await;
    let [first, second] = [store.cell(0), store.cell(1)];
    // Another experiment's games in between, and one that came late.
    let mut transaction = store.writer.begin().await.unwrap();
    let other = plan("other");
    let other = transaction.submit(sweep("uuid-2", "text", &other)).await.unwrap();
    transaction.commit().await.unwrap();
    store.store(&[game(other.cells[0].cell, 0, 1), game(second, 9, 9)]).await;
    store.store(&[game(second, 8, 8)]).await;
    let readers = store.writer.readers();
    let experiment = GamesOf::Experiment(store.submitted.experiment);
    let in_order: Vec<_> = (0..20)
        .map(|number| GameId { cell: first, number })
        .chain((0..10).filter(|&number| number != 7).map(|number| GameId { cell: second, number }))
        .collect();
    for size in [1, 4, 29, 1_000] {
        let ids = async |scope, order| -> Vec<GameId> {
            let question = GamesQuestion { scope, filter: GamesFilter::All, order };
            listed(&readers, question, size).await.into_iter().map(|game| game.game).collect()
        };
        assert_eq!(ids(experiment, GamesOrder::Number).await, in_order);
        assert_eq!(ids(GamesOf::Cell(second), GamesOrder::Number).await, in_order[20..]);
        let question = GamesQuestion {
            scope: experiment,
            filter: GamesFilter::All,
            order: GamesOrder::Newest,
        };
        let newest: Vec<_> =
            listed(&readers, question, size).await.into_iter().map(|game| game.game_id).collect();
        assert_eq!(newest.len(), 29);
        assert!(newest.is_sorted_by(|later, earlier| later > earlier));
        let mut settled = newest.clone();
        settled.reverse();
        let question = GamesQuestion { order: GamesOrder::Settled, ..question };
        let games = listed(&readers, question, size).await;
        assert_eq!(games.iter().map(|game| game.game_id).collect::<Vec<_>>(), settled);
        let of_second = ids(GamesOf::Cell(second), GamesOrder::Settled).await;
        let numbers: Vec<_> = of_second.iter().map(|game| game.number).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 9, 8]);
        let of_second = ids(GamesOf::Cell(second), GamesOrder::Newest).await;
        let numbers: Vec<_> = of_second.iter().map(|game| game.number).collect();
        assert_eq!(numbers, [8, 9, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(ids(GamesOf::Cell(CellId(99)), GamesOrder::Newest).await, []);
        assert_eq!(ids(GamesOf::Experiment(ExperimentId(99)), GamesOrder::Number).await, []);
    }
    for filter in [GamesFilter::Uncounted, GamesFilter::Failed] {
        for (of, order) in [
            (experiment, GamesOrder::Newest),
            (experiment, GamesOrder::Number),
            (experiment, GamesOrder::Settled),
            (GamesOf::Cell(first), GamesOrder::Settled),
            (GamesOf::Cell(first), GamesOrder::Newest),
            (GamesOf::Cell(first), GamesOrder::Number),
        ] {
            let question = GamesQuestion { scope: of, filter, order };
            assert_eq!(listed(&readers, question, 3).await, []);
        }
    }
}

#[tokio::test]
async fn a_game_is_found_by_its_id_and_by_its_number() {
    let store = played().await;
    let cell = store.cell(1);
    let readers = store.writer.readers();
    let found = async |which| match readers.game(which).await.unwrap() {
        FoundGame::Settled(game) => Ok(*game),
        FoundGame::Missing(missing) => Err(missing),
    };
    for number in 0..4 {
        let id = GameId { cell, number };
        let game = found(WhichGame::InCell(id)).await.unwrap();
        assert_eq!(game.summary.game, id);
        assert_eq!(found(WhichGame::Id(game.summary.game_id)).await.as_ref(), Ok(&game));
        // Who moved first is told by name: the cell's second player in odd numbers.
        let players = if number % 2 == 0 { ["ab", "gm"] } else { ["gm", "ab"] };
        assert_eq!(game.summary.players, players);
        assert_eq!((&*game.experiment, &*game.experiment_uuid), ("small", "uuid-1"));
        assert!(game.definition().is_ok());
        let stored = crate::fixture::game(cell, number, number);
        assert_eq!(game.moves.as_ref(), Some(&stored.record.moves));
        let GameResult::Played(played) = &game.summary.result else { panic!("{game:?}") };
        assert_eq!(played.opening, stored.opening);
        assert_eq!(played.end.outcome, stored.record.outcome);
        assert_eq!(played.end.plies, stored.record.plies());
        assert_eq!(played.end.moves_hash, stored.moves_hash);
        assert_eq!(game.summary.wall_us, Some(stored.record.wall_us));
        assert_eq!(game.summary.worker, Some(store.worker));
    }
    let unsettled = GameId { cell, number: 7 };
    assert_eq!(found(WhichGame::InCell(unsettled)).await, Err(MissingGame::Unsettled(unsettled)));
    let beyond = GameId { cell, number: u64::MAX };
    assert_eq!(
        found(WhichGame::InCell(beyond)).await,
        Err(MissingGame::Beyond { game: beyond, games_planned: 20 })
    );
    let nowhere = GameId { cell: CellId(99), number: 0 };
    assert_eq!(found(WhichGame::InCell(nowhere)).await, Err(MissingGame::Cell(CellId(99))));
    for id in [0, -1, 99, i64::MAX] {
        assert_eq!(found(WhichGame::Id(id)).await, Err(MissingGame::Id(id)));
    }
}

/// A game whose definition was tampered with is told apart.
#[tokio::test]
async fn a_definition_is_checked_against_its_hash() {
    let store = played().await;
    let FoundGame::Settled(mut game) = store.writer.readers().game(WhichGame::Id(1)).await.unwrap()
    else {
        panic!("it is there")
    };
    game.definition_json.push(' ');
    assert!(game.definition().is_err());
}

/// Of the moves of a player with a time limit those are told that took too long, by the buckets that they are
/// in; a share of a full tree is told of a player who searches to one depth.
#[tokio::test]
async fn time_limits_and_shares_are_told_where_there_are_any() {
    let mut plan = empty_plan("timed");
    let mut deepening = timed(200);
    deepening.insert("iterative".to_owned(), Value::Bool(true));
    add_cell(&mut plan, ["deep", "fixed"], [deepening, alpha_beta(2)], 1, 20);
    let mut store = Store::with(&plan).await;
    let games: Vec<_> = (0..20).map(|number| game(store.cell(0), number, number % 7)).collect();
    store.store(&games).await;
    let report = store.writer.readers().report("timed", Detail::Depths).await.unwrap().unwrap();
    let [deep, fixed] = &report.moves[..] else { panic!("two players: {report:?}") };
    // The slow and obvious twin.
    let its = games.iter().flat_map(|game| {
        let side = u8::from(game.game.number % 2 == 1);
        let moves = game.record.moves.iter();
        moves.filter(move |mv| mv.mover == side && mv.search.ended_by != EndedBy::OnlyMove)
    });
    let times: Vec<u64> = its.map(|mv| mv.wall_us).collect();
    let overruns = deep.costs.overruns.unwrap();
    assert_eq!((overruns.limit_us, overruns.beyond_us), (200, 224));
    assert_eq!(overruns.moves, times.iter().filter(|&&us| us >= 224).count() as u64);
    assert!(overruns.moves > 0 && overruns.moves < deep.costs.searched_moves);
    #[expect(clippy::cast_precision_loss, reason = "small")]
    let longest = *times.iter().max().unwrap() as f64;
    assert!((overruns.longest_us - longest).abs() <= 0.125 * longest);
    assert_eq!((deep.costs.full_tree_share, fixed.costs.overruns), (None, None));
    assert!(fixed.costs.full_tree_share.is_some());
    for depth in &report.depths {
        assert_eq!(depth.costs.overruns.is_some(), depth.player == "deep");
        assert_eq!(depth.costs.full_tree_share.is_some(), depth.player == "fixed");
    }
    let by_depth = report.depths.iter().filter_map(|depth| depth.costs.overruns);
    assert_eq!(by_depth.map(|depth| depth.moves).sum::<u64>(), overruns.moves);
}

#[tokio::test]
async fn games_that_were_played_again_are_told_by_cell() {
    let mut store = played().await;
    let attempts = |number, lost, failed| Attempts {
        game: GameId { cell: store.cell(0), number },
        lost,
        lost_alone: 0,
        failed,
    };
    // The last is not settled.
    let attempts = [(1, 1, 0), (2, 0, 1), (3, 0, 0), (99, 1, 0)].map(|(n, l, f)| attempts(n, l, f));
    let changes = Changes { attempts: attempts.to_vec(), ..Changes::default() };
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.apply(&changes).await.unwrap();
    transaction.commit().await.unwrap();
    let report = store.writer.readers().report("small", Detail::Cells).await.unwrap().unwrap();
    assert_eq!(report.replayed, [ReplayedGames { cell: store.cell(0), games: 2 }]);
}
