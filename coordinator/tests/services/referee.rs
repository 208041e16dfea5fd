//! Records that are not of their games: they are kept apart, cost their worker and not the game.

use spelrum_proto::v1::{self, Verdict};

use spelrum_proto::Reason;
use spelrum_test_support::{HandWorker, Served, Site, game_of, quick_sweep, reason};

/// What is done to an honest record, and what the referee says.
type Change = fn(&mut v1::Game);

const CHANGES: &[(Change, &str)] = &[
    // What was counted once: a wrong opening, no moves, and a win.
    (
        |it| {
            it.opening = "x........".to_owned();
            it.moves.clear();
            it.outcome = v1::Outcome::Win.into();
        },
        "its moves_hash is not that of its moves",
    ),
    (|it| it.opening = "x........".to_owned(), "the opening of game"),
    (|it| it.moves_hash ^= 1, "its moves_hash is not that of its moves"),
    (|it| it.moves[0].position_key += 1, "move 0: the key of the position before it is"),
    (|it| it.moves[0].legal_moves += 1, "move 0: the number of legal moves is"),
    (|it| it.termination = "crash".to_owned(), "no player here can lose by crash"),
    (|it| it.termination = "max_plies".to_owned(), "the termination is"),
    (|it| it.first_side = 3 - it.first_side, "the side that moved first is"),
];

async fn refused(served: &Served) -> Vec<String> {
    let rows = served.query("SELECT problem FROM refused_results ORDER BY refused_result_id").await;
    let text = |value: Option<v1::sql_value::Value>| match value {
        Some(v1::sql_value::Value::Text(text)) => text,
        other => panic!("{other:?}"),
    };
    rows.unwrap().into_iter().map(|mut row| text(row.remove(0))).collect()
}

#[tokio::test]
async fn a_record_that_the_rules_do_not_allow_is_refused_and_the_game_played_again() {
    let site = Site::new();
    let served = site.serve().await;
    let games = 2 * CHANGES.len() as u64;
    served.submit(&quick_sweep("refused", games)).await;
    let mut liar = HandWorker::new(&served).await;
    for (change, expected) in CHANGES {
        let grant = liar.granted().await;
        let mut results = liar.play(&grant).await;
        change(game_of(&mut results[0]));
        let lie = vec![results[0].clone()];
        assert_eq!(liar.report(lie.clone()).await.unwrap(), [Verdict::Rejected], "{expected}");
        // A report that is repeated, since its reply was lost, is charged once.
        assert_eq!(liar.report(lie).await.unwrap(), [Verdict::Rejected]);
        let last = refused(&served).await.pop().unwrap();
        assert!(last.starts_with(expected), "{last}");
        liar.give_back(&[grant.lease_id]).await.unwrap();
    }
    assert_eq!(refused(&served).await.len(), CHANGES.len());
    for table in ["games", "uncounted_games", "attempts", "cell_results"] {
        assert_eq!(served.number(&format!("SELECT count(*) FROM {table}")).await, 0, "{table}");
    }
    let records = "SELECT count(*) FROM refused_results WHERE length(record) > 20";
    assert_eq!(served.number(records).await, CHANGES.len() as i64);

    let mut honest = HandWorker::new(&served).await;
    honest.work_until_done().await;
    let summary = served.reaches("refused", "finished").await;
    assert_eq!((summary.games_settled, summary.games_failed), (games, 0));
}

#[tokio::test]
async fn a_worker_whose_results_are_refused_gets_no_more_games() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("liar", 40)).await;
    let mut liar = HandWorker::new(&served).await;
    for _ in 0..10 {
        let grant = liar.granted().await;
        let mut results = liar.play(&grant).await;
        game_of(&mut results[0]).moves[0].legal_moves += 1;
        let verdicts = liar.report(results).await.unwrap();
        assert_eq!(verdicts[0], Verdict::Rejected);
    }
    assert_eq!(reason(liar.lease().await), Reason::Malformed);
    // Others, and the same machine after a restart, go on.
    let mut honest = HandWorker::new(&served).await;
    honest.work_until_done().await;
    assert_eq!(served.reaches("liar", "finished").await.games_settled, 40);
}
