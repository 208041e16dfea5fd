//! Games that are verified by other workers, over the network, with a kill in between and workers that lie.

use spelrum_answers::{
    Action, AttentionKind, GetVerifications, NamedWorker, OrderVerifications, OrderedVerifications,
    VerificationsStanding,
};
use spelrum_model::{
    CellId, ExperimentState, GameId, OpeningsCache, PlayableVerification, PlayedGame,
    VerificationDefinition,
};
use spelrum_proto::v1::{self, Verdict, result::What};
use spelrum_proto::{Reason, game};
use tonic::Status;

use spelrum_test_support::{HandWorker, Served, Site, failed_result, hello, quick_sweep, reason};

const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const SECOND: &str = "22222222-2222-4222-8222-222222222222";

async fn named(served: &Served, name: &str, uuid: &str, verifies: bool) -> HandWorker {
    let hello = v1::HelloRequest { name: name.to_owned(), verifies, ..hello(uuid) };
    HandWorker::introduced(served, hello).await
}

async fn order(served: &Served, games: u32) -> Result<OrderedVerifications, Status> {
    let experiment = "sweep".to_owned();
    served.call(&OrderVerifications { experiment, games, seed: 1 }).await
}

async fn standing(served: &Served) -> VerificationsStanding {
    served.call(&GetVerifications { experiment: "sweep".to_owned() }).await.unwrap()
}

/// What comes of the verification that was granted.
async fn verify(served: &Served, grant: &v1::Grant) -> v1::Result {
    let [leased] = &grant.games[..] else { panic!("{grant:?}") };
    let request = v1::GetCellRequest {
        definition_hash: leased.definition_hash.clone(),
        ..Default::default()
    };
    let json = served.work().await.get_cell(request).await.unwrap().into_inner().definition_json;
    assert!(VerificationDefinition::is_verification(&json), "{json}");
    let verification = PlayableVerification::from_json(&json, &OpeningsCache::default()).unwrap();
    let (derived, record) = verification.play(&spelrum_engine::Timeless).unwrap();
    let task = GameId { cell: CellId(leased.cell_id), number: 0 };
    let played = game::to_wire(PlayedGame::new(task, &derived, record, 1));
    v1::Result { lease_id: grant.lease_id, what: Some(What::Verification(played)) }
}

fn record_of(result: &mut v1::Result) -> &mut v1::Game {
    match &mut result.what {
        Some(What::Verification(game)) => game,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn another_worker_verifies_and_is_believed_of_what_the_rules_allow() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("sweep", 4)).await;
    let mut player = named(&served, "player", FIRST, true).await;
    assert_eq!(reason(order(&served, 100).await), Reason::WrongState, "nothing is played yet");
    player.work_until_done().await;
    served.wait_for_state("sweep", "finished").await;
    for games in [0, 10_001] {
        assert_eq!(reason(order(&served, games).await), Reason::Malformed);
    }
    let ordered = order(&served, 100).await.unwrap();
    assert_eq!((ordered.ordered, ordered.known, ordered.without_result), (4, 0, 0));
    served.wait_for_state("sweep", "running").await;
    let again = order(&served, 100).await.unwrap();
    assert_eq!((again.ordered, again.known), (0, 4));
    assert!(player.lease().await.unwrap().grant.is_none(), "it has played them");
    let mut old = named(&served, "old", "44444444-4444-4444-8444-444444444444", false).await;
    assert!(old.lease().await.unwrap().grant.is_none(), "it does not verify");
    let waiting = standing(&served).await.verifications.waiting;
    assert_eq!((waiting[0].games, waiting[0].has_worker), (4, false));

    let mut other = named(&served, "other", SECOND, true).await;
    let grant = other.granted().await;
    assert!(standing(&served).await.verifications.waiting[0].has_worker);
    let same = verify(&served, &grant).await;
    // What the rules do not allow, and what is no verification, is refused and played again.
    let mut cheat = same.clone();
    record_of(&mut cheat).moves[0].legal_moves += 1;
    assert_eq!(other.report(vec![cheat]).await.unwrap(), [Verdict::Rejected]);
    let grant = other.granted().await;
    let same = v1::Result { lease_id: grant.lease_id, ..verify(&served, &grant).await };
    let game = record_of(&mut same.clone()).clone();
    let masked = v1::Result { what: Some(What::Game(game)), ..same.clone() };
    assert_eq!(other.report(vec![masked]).await.unwrap(), [Verdict::Rejected]);

    let grant = other.granted().await;
    let same = verify(&served, &grant).await;
    assert_eq!(other.report(vec![same.clone()]).await.unwrap(), [Verdict::Counted]);
    assert_eq!(other.report(vec![same]).await.unwrap(), [Verdict::Uncounted], "it comes twice");
    let grant = other.granted().await;
    let mut differs = verify(&served, &grant).await;
    record_of(&mut differs).moves[0].nodes += 1;
    assert_eq!(other.report(vec![differs]).await.unwrap(), [Verdict::Counted]);
    // A failure is tried again, three times in all.
    for _ in 0..3 {
        let grant = other.granted().await;
        let mut result = verify(&served, &grant).await;
        let game = record_of(&mut result).clone();
        let failed = failed_result(&v1::Result { what: Some(What::Game(game)), ..result }, "boom");
        assert_eq!(other.report(vec![failed]).await.unwrap(), [Verdict::Noted]);
    }
    let grant = other.granted().await;
    let last = verify(&served, &grant).await;
    assert_eq!(other.report(vec![last]).await.unwrap(), [Verdict::Counted]);
    served.wait_for_state("sweep", "finished").await;
    let state = standing(&served).await.verifications;
    let [pair] = &state.pairs[..] else { panic!("{state:?}") };
    let name = |worker: &Option<NamedWorker>| worker.as_ref().unwrap().name.clone();
    assert_eq!((&*name(&pair.played_by), &*pair.verified_by.name), ("player", "other"));
    assert_eq!((pair.same, pair.different), (2, 1));
    assert_eq!((state.not_played, state.not_played_because.as_deref()), (1, Some("boom")));
    let [different] = &state.different[..] else { panic!("{state:?}") };
    let difference = &different.difference;
    assert_eq!((difference.ply, &*difference.fields[0].name), (Some(0), "nodes"));
    let attention = served.status().await.attention;
    assert!(attention.iter().any(|item| {
        item.kind == AttentionKind::Deviating && item.problem.contains("(other on ")
    }));
    assert_eq!(served.number("SELECT count(*) FROM games").await, 4);
    assert_eq!(served.number("SELECT count(*) FROM uncounted_games").await, 0);
    // Only what has no verdict is ordered again.
    assert_eq!(order(&served, 100).await.unwrap().ordered, 1);
}

/// What was ordered and what is under way outlive the coordinator; a cancelled experiment gets no verdicts.
#[tokio::test]
async fn an_order_outlives_the_coordinator() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("sweep", 4)).await;
    let mut player = named(&served, "player", FIRST, true).await;
    player.work_until_done().await;
    served.wait_for_state("sweep", "finished").await;
    assert_eq!(order(&served, 3).await.unwrap().ordered, 3);
    let mut other = named(&served, "other", SECOND, true).await;
    let grant = other.granted().await;
    let held = verify(&served, &grant).await;
    served.kill().await;
    let served = site.serve().await;
    let again = v1::HelloRequest { verifies: true, ..hello(SECOND) };
    let mut other = other.reconnect_as(&served, again).await;
    assert_eq!(other.report(vec![held]).await.unwrap(), [Verdict::Counted]);
    let grant = other.granted().await;
    let late = verify(&served, &grant).await;
    served.steer("sweep", Action::Cancel).await.unwrap();
    assert_eq!(other.report(vec![late]).await.unwrap(), [Verdict::Uncounted]);
    assert_eq!(reason(order(&served, 100).await), Reason::WrongState);
    let VerificationsStanding { experiment, verifications } = standing(&served).await;
    assert_eq!(experiment.state, ExperimentState::Cancelled);
    assert_eq!((verifications.pairs[0].same, verifications.waiting[0].games), (1, 2));
}
