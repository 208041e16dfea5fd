//! Removals and priorities over the real API, with kills in between.

use spelrum_answers::{Action, AttentionKind, Removing, SubmitSweep};
use spelrum_proto::v1::Verdict;
use spelrum_proto::{Reason, Refusal, v1};

use spelrum_test_support::{HandWorker, Served, Site, failed_result, quick_sweep, reason};

/// An experiment whose every game is played.
async fn played(served: &Served, name: &str, games: u64) -> String {
    let uuid = served.submit(&quick_sweep(name, games)).await.experiment_uuid;
    HandWorker::new(served).await.work_until_done().await;
    served.wait_for_state(&uuid, "finished").await;
    uuid
}

async fn names(served: &Served) -> Vec<String> {
    served.status().await.experiments.into_iter().map(|experiment| experiment.name).collect()
}

#[tokio::test]
async fn a_deleted_experiment_is_gone_at_once_and_its_name_is_free() {
    let site = Site::new();
    let served = site.serve().await;
    played(&served, "other", 4).await;
    let sweep = quick_sweep("gone", 1_000);
    let uuid = served.submit(&sweep).await.experiment_uuid;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let mut results = worker.play(&grant).await;
    let last = results.pop().unwrap();
    worker.report(results.clone()).await.unwrap();

    // Not while it runs, or while somebody plays it.
    for preview in [true, false] {
        let refused = served.remove("gone", Removing::Everything, preview).await;
        assert_eq!(reason(refused), Reason::WrongState);
    }
    served.steer("gone", Action::Pause).await.unwrap();
    let held = served.remove("gone", Removing::Everything, false).await.unwrap_err();
    let refusal = Refusal::from_status(&held).unwrap();
    assert_eq!(refusal.reason, Reason::WrongState);
    assert!(refusal.retry_after.is_some(), "its leases end: {refusal:?}");
    served.steer("gone", Action::Cancel).await.unwrap();

    let preview = served.remove("gone", Removing::Everything, true).await.unwrap();
    assert_eq!(preview.experiment.uuid, uuid);
    let removable = preview.removable;
    assert_eq!((removable.cells, removable.games), (1, results.len() as u64));
    assert!(removable.moves > 0 && removable.bytes > 0);
    assert_eq!(names(&served).await, ["other", "gone"], "a preview changes nothing");

    let removed = served.remove(&uuid, Removing::Everything, false).await.unwrap();
    assert_eq!(removed, preview);
    assert_eq!(names(&served).await, ["other"]);
    let unknown = served.remove("gone", Removing::Everything, false).await;
    assert_eq!(reason(unknown), Reason::UnknownExperiment);
    assert_eq!(reason(served.steer(&uuid, Action::Pause).await), Reason::UnknownExperiment);

    // Late reports, of a game that had a result and of one that had none.
    let late = vec![results[0].clone(), last.clone(), failed_result(&last, "boom")];
    assert_eq!(worker.report(late.clone()).await.unwrap(), [Verdict::Rejected; 3]);
    assert_eq!(worker.heartbeat(&[grant.lease_id]).await.unwrap(), [grant.lease_id]);
    worker.give_back(&[grant.lease_id]).await.unwrap();
    served.removed().await;
    assert_eq!(worker.report(late).await.unwrap(), [Verdict::Rejected; 3]);
    assert_eq!(served.number("SELECT count(*) FROM games").await, 4);
    assert_eq!(served.number("SELECT count(*) FROM uncounted_games").await, 0);
    assert_eq!(served.number("SELECT count(*) FROM cells").await, 1);
    assert_eq!(served.number("SELECT count(*) FROM experiments").await, 1);

    // The same file, and even the same UUID, begin anew.
    let again =
        SubmitSweep { experiment_uuid: Some(uuid), sweep_toml: sweep, ..SubmitSweep::default() };
    let again = served.call(&again).await.unwrap();
    assert!(!again.existed);
    worker.work_until_done().await;
    assert_eq!(served.wait_for_state("gone", "finished").await.games_settled, 1_000);
}

/// Also one that is going on, while its games come in.
#[tokio::test]
async fn a_running_experiment_can_be_pruned() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("slim", 600)).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    worker.report(results.clone()).await.unwrap();
    assert!(served.number("SELECT count(*) FROM moves").await > 0);
    let removed = served.remove("slim", Removing::Moves, false).await.unwrap();
    assert_eq!(removed.removable.games, results.len() as u64);
    worker.work_until_done().await;
    served.removed().await;
    assert_eq!(served.wait_for_state("slim", "finished").await.games_settled, 600);
    assert_eq!(served.number("SELECT count(*) FROM moves").await, 0);
    assert_eq!(served.number("SELECT count(*) FROM game_sides").await, 1_200);
    // A repeat of a game that has lost its moves is still known as one.
    assert_eq!(worker.report(results).await.unwrap()[0], Verdict::Uncounted);
    assert_eq!(
        served.number("SELECT count(*) FROM uncounted_games WHERE reason <> 'repeat'").await,
        0
    );
    // Nothing is left to prune.
    let again = served.remove("slim", Removing::Moves, false).await.unwrap().removable;
    assert_eq!((again.games, again.moves, again.bytes), (0, 0, 0));
    assert!(served.status().await.removals.is_empty());
    // A removal says what is removed, in a word that is known.
    let api = served.api().await;
    for query in ["", "?preview=true", "?what=", "?what=all", "?what=everything&what=moves"] {
        let target = format!("/api/v1/experiments/slim{query}");
        let unclear = api.send("DELETE", &target, None).await;
        assert_eq!(reason(unclear), Reason::Malformed, "{query}");
    }
    assert_eq!(names(&served).await, ["slim"]);
}

/// Kills, and commits that fail, in the middle of removals.
#[tokio::test]
async fn a_removal_goes_on_after_every_restart() {
    for what in [Removing::Everything, Removing::Moves] {
        let site = Site::new();
        let mut served = site.serve().await;
        played(&served, "stays", 20).await;
        played(&served, "goes", 4_000).await;
        let kept = "SELECT count(*) FROM moves JOIN games USING (game_id)
            WHERE cell_id = (SELECT min(cell_id) FROM cells)";
        let kept_before = served.number(kept).await;
        served.remove("goes", what, false).await.unwrap();
        for _ in 0..3 {
            served.kill().await;
            served = site.serve().await;
            served.faults.fail_commits(1);
        }
        served.removed().await;
        let goes = i64::from(what == Removing::Moves);
        assert_eq!(served.number("SELECT count(*) FROM experiments").await, 1 + goes);
        assert_eq!(served.number("SELECT count(*) FROM cells").await, 1 + goes);
        assert_eq!(served.number("SELECT count(*) FROM games").await, 20 + goes * 4_000);
        assert_eq!(served.number("SELECT count(*) FROM moves").await, kept_before);
        assert_eq!(served.number(kept).await, kept_before);
        assert_eq!(
            served.number("SELECT freelist_count FROM pragma_freelist_count").await,
            0,
            "the file has shrunk"
        );
        served.stop().await.unwrap();
    }
}

#[tokio::test]
async fn a_priority_holds_from_the_next_lease_on_and_survives_a_restart() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("first", 100)).await;
    served.submit(&quick_sweep("second", 100)).await;
    served.prioritize("second", 7).await.unwrap();
    assert_eq!(served.summary("second").await.priority, 7);
    let second = served
        .number("SELECT cell_id FROM cells JOIN experiments USING (experiment_id) WHERE name = 'second'")
        .await;
    let mut worker = HandWorker::new(&served).await;
    assert_eq!(worker.granted().await.games[0].cell_id, second);
    served.stop().await.unwrap();

    let served = site.serve().await;
    let mut worker = HandWorker::new(&served).await;
    assert_eq!(worker.granted().await.games[0].cell_id, second);
    // Also of a paused one.
    served.steer("second", Action::Pause).await.unwrap();
    served.prioritize("second", -7).await.unwrap();
    served.steer("second", Action::Resume).await.unwrap();
    assert_ne!(worker.granted().await.games[0].cell_id, second);

    served.steer("second", Action::Cancel).await.unwrap();
    assert_eq!(reason(served.prioritize("second", 1).await), Reason::WrongState);
    assert_eq!(reason(served.prioritize("third", 1).await), Reason::UnknownExperiment);
    assert_eq!(reason(served.steer("first", Action::Priority).await), Reason::Malformed);
}

#[tokio::test]
async fn status_names_what_needs_somebody() {
    let site = Site::new();
    let served = site.serve().await;
    let attention_now = async || -> Vec<(String, String, u64)> {
        let attention = served.status().await.attention;
        let items = attention.into_iter().filter(|item| item.kind != AttentionKind::LittleSpace);
        items.map(|item| (item.kind.name().to_owned(), item.problem, item.count)).collect()
    };
    assert_eq!(attention_now().await, []);
    served.submit(&quick_sweep("needy", 100)).await;
    let waiting = "100 games wait to be played, and no worker is connected".to_owned();
    assert_eq!(attention_now().await, [("no_workers".to_owned(), waiting, 100)]);

    let mut worker = HandWorker::new(&served).await;
    assert_eq!(attention_now().await, []);
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    worker.report(results[1..].to_vec()).await.unwrap();
    let mut lease_id = grant.lease_id;
    for message in ["boom\nat line 7", "boom\nat line 7", "boom\nat line 7"] {
        let failed = v1::Result { lease_id, ..failed_result(&results[0], message) };
        worker.report(vec![failed]).await.unwrap();
        if let Some(next) = worker.lease().await.unwrap().grant {
            lease_id = next.lease_id;
        }
    }
    // A deterministic game that comes out differently.
    let mut differs = results[1].clone();
    spelrum_test_support::game_mut(&mut differs).moves[0].nodes += 1;
    worker.report(vec![differs]).await.unwrap();
    // And one that is not a game.
    let mut cheat = results[1].clone();
    spelrum_test_support::game_mut(&mut cheat).moves[0].legal_moves += 1;
    worker.report(vec![cheat]).await.unwrap();
    served.steer("needy", Action::Pause).await.unwrap();
    let left = 100 - results.len() as u64;
    assert_eq!(
        attention_now().await,
        [
            (
                "conflicts".to_owned(),
                "1 result of 1 worker differs from the settled one of the same game, which must \
                 not happen: worker 1 (by hand on here) is part of 1"
                    .to_owned(),
                1
            ),
            (
                "refused".to_owned(),
                "1 result of 1 worker was refused, since the rules do not allow it: move 0: the \
                 number of legal moves is 8, not 9"
                    .to_owned(),
                1
            ),
            ("failed_games".to_owned(), "1 game has finally failed: boom".to_owned(), 1),
            ("paused".to_owned(), format!("it is paused, with {left} games to play"), left),
        ]
    );
}
