//! Invariant 4: a game counts once, and everything else that arrives is kept with its reason.

use spelrum_engine::{Outcome, Side};
use spelrum_model::{CellId, GameId, PlayedGame, Record};
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::{SqlValue, StoreError};

use crate::fixture::{
    Store, add_cell, alpha_beta, empty_plan, game, introduction, of_worker, plan, termination,
    timed,
};

#[tokio::test]
async fn a_game_comes_back_as_it_was_stored() {
    let mut store = Store::new().await;
    let mut stored = game(store.cell(1), 3, 8);
    // The greatest numbers, and the longest words' kinds.
    stored.record.moves[0].search.nodes = (1 << 53) - 1;
    stored.record.moves[0].search.full_tree_leaves = (1 << 53) - 1;
    stored.record.moves[0].position_key = (1 << 53) - 1;
    stored.record.moves[0].mv = "å'\"\\ \u{1f600}".to_owned();
    stored.record.moves[1].search.score = Some(i32::MIN);
    stored.record.first_side = Side::Second;
    store.store(std::slice::from_ref(&stored)).await;

    let rows = store
        .rows(
            "SELECT g.cell_id, g.number, o.game, o.position, g.outcome, g.termination, g.plies,
                g.moves_hash, g.worker_id, g.engine_revision, g.started_unix_us, g.wall_us,
                g.counted, g.not_counted_reason, g.failure, g.first_side,
                g.first_player_id = c.second_player_id, g.second_player_id = c.first_player_id
            FROM games AS g JOIN openings AS o ON o.opening_id = g.opening_id
            JOIN cells AS c ON c.cell_id = g.cell_id",
        )
        .await;
    let integer = |number: u64| SqlValue::Integer(i64::try_from(number).unwrap());
    let text = |text: &str| SqlValue::Text(text.to_owned());
    assert_eq!(
        rows,
        [vec![
            SqlValue::Integer(stored.game.cell.0),
            integer(3),
            text("pentago"),
            text("opening 1"),
            text("loss"),
            text("five_by_placement"),
            integer(5),
            integer((1 << 52) + 8),
            SqlValue::Integer(store.worker.0),
            integer(1),
            SqlValue::Integer(stored.started_unix_us),
            integer(5008),
            integer(1),
            SqlValue::Null,
            SqlValue::Null,
            text("second"),
            integer(1),
            integer(1),
        ]]
    );

    let moves = store
        .rows(
            "SELECT m.ply, m.side, m.move, m.position_key, m.legal_moves, m.depth, m.nodes,
                m.evaluations, m.full_tree_leaves, m.score, m.wall_us, m.cpu_us, m.involuntary_switches,
                m.ended_by
            FROM moves AS m ORDER BY m.game_id, m.ply",
        )
        .await;
    let expected: Vec<Vec<SqlValue>> = (0..)
        .zip(&stored.record.moves)
        .map(|(ply, mv)| {
            vec![
                integer(ply),
                integer(mv.mover.into()),
                text(&mv.mv),
                integer(mv.position_key),
                integer(mv.legal_moves.into()),
                integer(mv.search.depth.into()),
                integer(mv.search.nodes),
                integer(mv.search.evaluations),
                integer(mv.search.full_tree_leaves),
                mv.search.score.map_or(SqlValue::Null, |score| SqlValue::Integer(score.into())),
                integer(mv.wall_us),
                integer(mv.cpu_us),
                mv.involuntary_switches.map_or(SqlValue::Null, integer),
                text(mv.search.ended_by.name()),
            ]
        })
        .collect();
    assert_eq!(moves, expected);
    // Game 3 is odd: the cell's second player moves first, and makes the moves of side 0.
    assert_eq!(
        store
            .integer(
                "SELECT count(*) FROM moves AS m JOIN games AS g ON g.game_id = m.game_id
                JOIN cells AS c ON c.cell_id = g.cell_id
                WHERE (m.side = 0) = (m.player_id = c.second_player_id)"
            )
            .await,
        5
    );
    store.assert_recount().await;
}

/// Many moves come in by statements of their own, few as JSON: the same rows, with the same types.
#[tokio::test]
async fn moves_are_stored_alike_however_many_come_at_once() {
    let moves = "SELECT m.*, typeof(m.move) || typeof(m.score) || typeof(m.ended_by) AS types
        FROM moves AS m ORDER BY game_id, ply";
    let (mut at_once, mut one_by_one) = (Store::new().await, Store::new().await);
    let games: Vec<PlayedGame> = (0..403)
        .map(|number| {
            let mut played = game(at_once.cell(1), number, number);
            let last = played.record.moves.len() - 1;
            played.record.moves[0].search.nodes = (1 << 53) - 1 - number;
            played.record.moves[1].search.score = (number % 3 > 0).then_some(i32::MIN);
            played.record.moves[last].mv = format!("å'\"\\ \u{1f600}{number}");
            played
        })
        .collect();
    at_once.store(&games).await;
    for game in &games {
        one_by_one.store(std::slice::from_ref(game)).await;
    }
    let stored = at_once.rows(moves).await;
    // As many as the large statement has, then as many as the small one has, and some.
    assert!(stored.len() > 1_024 + 64 && stored.len() % 64 > 0, "{}", stored.len());
    assert_eq!(stored, one_by_one.rows(moves).await);
    at_once.assert_recount().await;
}

/// What `uncounted_games` has of a game: its reasons, in order of arrival.
async fn reasons(store: &Store) -> Vec<String> {
    store.texts("SELECT reason FROM uncounted_games ORDER BY uncounted_game_id").await
}

#[tokio::test]
async fn a_repeat_is_kept_whole_and_does_not_count() {
    let mut store = Store::new().await;
    let first = game(store.cell(0), 0, 4);
    store.store(std::slice::from_ref(&first)).await;
    // In a report of its own, in one report with a new game, and twice in one report.
    let other = game(store.cell(0), 1, 5);
    store.store(std::slice::from_ref(&first)).await;
    store.store(&[first.clone(), other.clone()]).await;
    let third = game(store.cell(0), 2, 6);
    store.store(&[third.clone(), third.clone()]).await;
    assert_eq!(reasons(&store).await, ["repeat", "repeat", "repeat"]);
    assert_eq!(store.integer("SELECT count(*) FROM games").await, 3);
    assert_eq!(
        store.integer("SELECT count(*) FROM uncounted_moves").await,
        i64::try_from(2 * first.record.moves.len() + third.record.moves.len()).unwrap()
    );
    store.assert_recount().await;
}

#[tokio::test]
async fn a_deterministic_game_that_differs_is_a_conflict() {
    let mut store = Store::new().await;
    let settled = game(store.cell(0), 0, 4);
    store.store(std::slice::from_ref(&settled)).await;
    type Change = fn(&mut PlayedGame);
    let changes: Vec<(&str, Change)> = vec![
        ("repeat", |_| {}),
        ("conflict", |game| game.record.outcome = Outcome::Loss),
        ("conflict", |game| game.record.first_side = Side::Second),
        ("conflict", |game| game.record.termination = termination("five_by_rotation")),
        ("conflict", |game| game.moves_hash += 1),
        ("conflict", |game| game.record.moves[1].mv = "other".to_owned()),
        ("conflict", |game| game.record.moves[1].search.depth += 1),
        ("conflict", |game| game.record.moves[1].search.nodes += 1),
        ("conflict", |game| game.record.moves[1].search.score = None),
        ("conflict", |game| game.record.moves[1].search.score = Some(6)),
        ("conflict", |game| {
            game.record.moves.pop();
        }),
        ("conflict", |game| game.opening = "another".to_owned()),
        // What may differ: times, and whatever another engine does.
        ("repeat", |game| game.record.moves[1].wall_us += 1),
        ("repeat", |game| game.record.moves[1].cpu_us += 1),
        ("repeat", |game| game.record.moves[1].involuntary_switches = Some(9)),
        ("repeat", |game| game.started_unix_us += 1),
        ("repeat", |game| game.record.wall_us += 1),
        ("repeat", |game| {
            game.engine_revision += 1;
            game.record.moves[1].search.nodes += 1;
        }),
    ];
    let mut expected = Vec::new();
    for (reason, change) in changes {
        let mut again = settled.clone();
        change(&mut again);
        let mut transaction = store.writer.begin().await.unwrap();
        transaction.store_uncounted(&[(store.worker, again)], false).await.unwrap();
        transaction.commit().await.unwrap();
        expected.push(reason);
        assert_eq!(reasons(&store).await, expected);
    }
    assert_eq!(store.integer("SELECT count(*) FROM games").await, 1);
    store.assert_recount().await;
}

#[tokio::test]
async fn a_timed_game_may_differ() {
    let mut plan = empty_plan("timed");
    add_cell(&mut plan, ["ab", "timed"], [alpha_beta(2), timed(10_000)], 1, 20);
    let mut store = Store::with(&plan).await;
    store.store(&[game(store.cell(0), 0, 4)]).await;
    store.store(&[game(store.cell(0), 0, 5)]).await;
    assert_eq!(reasons(&store).await, ["repeat"]);
}

#[tokio::test]
async fn an_experiment_may_record_games_alone() {
    let mut plan = plan("games alone");
    plan.settings.record = Record::Games;
    let mut store = Store::with(&plan).await;
    let settled = game(store.cell(0), 0, 4);
    store.store(std::slice::from_ref(&settled)).await;
    assert_eq!(store.integer("SELECT count(*) FROM moves").await, 0);
    assert_eq!(store.integer("SELECT count(*) FROM game_sides").await, 2);
    assert_eq!(
        store.integer("SELECT sum(moves) FROM game_sides").await,
        i64::try_from(settled.record.moves.len()).unwrap()
    );
    assert!(store.integer("SELECT count(*) FROM time_per_move").await > 0);
    // Conflicts are found all the same, as far as the sums tell; what arrives is kept whole.
    let mut other = settled.clone();
    other.record.moves[0].search.nodes += 1;
    store.store(&[settled, other]).await;
    assert_eq!(reasons(&store).await, ["repeat", "conflict"]);
    assert!(store.integer("SELECT count(*) FROM uncounted_moves").await > 0);
    store.assert_recount().await;
}

#[tokio::test]
async fn what_comes_after_a_cancel_says_so() {
    let mut store = Store::new().await;
    let mut transaction = store.writer.begin().await.unwrap();
    let late = game(store.submitted.cells[0].cell, 0, 4);
    transaction.store_uncounted(&[(store.worker, late)], true).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(reasons(&store).await, ["after_cancel"]);
    assert_eq!(store.integer("SELECT count(*) FROM games").await, 0);
}

#[tokio::test]
async fn a_game_that_failed_is_settled_and_never_counts() {
    let mut store = Store::new().await;
    let failed = GameId { cell: store.cell(0), number: 1 };
    store.store(&[game(store.cell(0), 0, 4)]).await;
    let mut transaction = store.writer.begin().await.unwrap();
    // Of one that comes twice the first.
    let list = ["it's broken", "still"].map(|message| (failed, message.to_owned()));
    transaction.settle_failed(&list).await.unwrap();
    // Again, and for a game that has its result: no change.
    transaction.settle_failed(&list).await.unwrap();
    let played = GameId { cell: store.submitted.cells[0].cell, number: 0 };
    transaction.settle_failed(&[(played, "no".to_owned())]).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(store.texts("SELECT failure FROM games WHERE counted = 0").await, ["it's broken"]);
    let row = store
        .rows("SELECT games, games_failed, wins + draws + losses, pairs FROM results LIMIT 1")
        .await;
    assert_eq!(row, [[1, 1, 1, 0].map(SqlValue::Integer)]);
    store.assert_recount().await;
    // A result that comes after all is kept, and changes nothing.
    store.store(&[game(store.cell(0), 1, 4)]).await;
    assert_eq!(reasons(&store).await, ["repeat"]);
    store.assert_recount().await;
    // Nor is an id of a game lost by it.
    store.store(&[game(store.cell(0), 2, 4)]).await;
    assert_eq!(store.integer("SELECT max(game_id) FROM games").await, 3);
}

/// Invariant 5, from the other side: what was not committed was never there.
#[tokio::test]
async fn a_dropped_transaction_leaves_nothing_behind() {
    let mut store = Store::new().await;
    let cell = store.cell(0);
    let mut abandoned = game(cell, 0, 4);
    abandoned.opening = "abandoned".to_owned();
    let mut transaction = store.writer.begin().await.unwrap();
    let both = of_worker(store.worker, &[abandoned.clone(), game(cell, 1, 5)]);
    transaction.store_games(&both).await.unwrap();
    transaction.introduce(&introduction("abandoned")).await.unwrap();
    drop(transaction);
    // The id that the abandoned opening had is given to another one now.
    let mut kept = game(cell, 0, 6);
    kept.opening = "kept".to_owned();
    store.store(&[kept]).await;
    abandoned.game.number = 1;
    store.store(&[abandoned]).await;
    assert_eq!(
        store
            .texts(
                "SELECT o.position FROM games AS g JOIN openings AS o
                ON o.opening_id = g.opening_id ORDER BY g.number"
            )
            .await,
        ["kept", "abandoned"]
    );
    assert_eq!(store.integer("SELECT count(*) FROM workers").await, 1);
    store.assert_recount().await;
}

#[tokio::test]
async fn a_result_that_no_engine_reports_is_refused() {
    let mut store = Store::new().await;
    let good = game(store.cell(0), 0, 4);
    let changes: Vec<fn(&mut PlayedGame)> = vec![
        |game| game.game.cell = CellId(999),
        |game| game.game.number = 1 << 53,
        |game| game.moves_hash = u64::MAX,
        |game| game.opening = "x".repeat(100_000),
        |game| game.started_unix_us = i64::MIN,
        |game| game.record.moves[0].mover = 2,
        |game| game.record.moves[0].search.nodes = 1 << 53,
        |game| game.record.moves[0].mv = "a\0b".to_owned(),
        |game| game.record.moves[0].mv.clear(),
        |game| game.record.wall_us = 1 << 53,
    ];
    for change in changes {
        let mut bad = good.clone();
        change(&mut bad);
        let mut transaction = store.writer.begin().await.unwrap();
        let error = transaction.store_games(&[(store.worker, bad)]).await.unwrap_err();
        assert!(matches!(error, StoreError::InvalidGame { .. }), "{error:?}");
        assert!(!error.is_transient());
    }
    store.store(&[good]).await;
    store.assert_recount().await;
}
