//! Networks: trained for others on a lease, and used when they are supplied.
//!
//! Workers here share the test's process and thereby its networks: each test has its own recipes.

use spelrum_engine::network::{SuppliedNetwork, train};
use spelrum_engine::search::STACK_BYTES;
use spelrum_engine::{Timeless, tables};
use spelrum_model::{
    CellId, FinishedTraining, GameId, OpeningsCache, PlayableCell, PlayedGame, TrainedNetwork,
    TrainingDefinition,
};
use spelrum_proto::v1::{self, result::What};
use spelrum_proto::{game, training};
use spelrum_test_support::eventually;
use spelrum_worker::Summary;
use tonic::Status;

use super::end_to_end::Working;
use super::misbehaving::{Fake, Script, Seen, definition_of, failure};

const GAMES: u64 = 6;

/// The training of a small network.
fn small(seed: u64) -> TrainingDefinition {
    recipe(&format!(r#""hidden":[3],"epochs":1,"examples":500,"seed":{seed}"#))
}

fn recipe(settings: &str) -> TrainingDefinition {
    let json = format!(r#"{{"format":1,"training":[{{"ending":"KRK",{settings}}},{{}}]}}"#);
    TrainingDefinition::from_json(&json).unwrap()
}

fn trained(training: &TrainingDefinition) -> TrainedNetwork {
    let table = tables::shared(training.recipe().endgame());
    TrainedNetwork::from_trained(train(training.recipe(), &table, &Timeless, |_| {}).unwrap())
}

/// A cell in which both players use the network of [`small`].
fn games_with(seed: u64) -> String {
    definition_of(format!(
        r#"
        name = "networks"
        game = "chess"
        games = {GAMES}
        openings = {{ kind = "ending", ending = "KRK" }}
        max_plies = 6

        [players.one]
        algorithm = "alpha-beta"
        depth = 1
        evaluation = "network"
        network = {{ ending = "KRK", hidden = [3], epochs = 1, examples = 500, seed = {seed} }}

        [players.other]
        algorithm = "alpha-beta"
        depth = 2
        evaluation = "network"
        network = {{ ending = "KRK", hidden = [3], epochs = 1, examples = 500, seed = {seed} }}
        "#
    ))
}

/// The time-independent parts of a game's moves.
fn moves_of(game: &v1::Game) -> Vec<(String, u64, Option<i32>)> {
    let moves = game.moves.iter();
    moves.map(|mv| (mv.r#move.clone(), mv.nodes, mv.score)).collect()
}

type Moves = Vec<Vec<(String, u64, Option<i32>)>>;

/// The games as they are played here.
fn played_here(definition: String) -> Moves {
    let play = move || {
        let cell = PlayableCell::from_json(&definition, &OpeningsCache::default()).unwrap();
        let played = (0..GAMES).map(|number| {
            let (derived, record) = cell.play(number, None, &Timeless).unwrap();
            let game = GameId { cell: CellId(1), number };
            moves_of(&game::to_wire(PlayedGame::new(game, &derived, record, 0)))
        });
        played.collect()
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(play).unwrap().join().unwrap()
}

/// The reported games, in order.
fn reported(seen: &Seen) -> Moves {
    let game = |results: &Vec<What>| match results.as_slice() {
        [What::Game(game)] => moves_of(game),
        other => panic!("{other:?}"),
    };
    seen.results.values().map(game).collect()
}

fn given(bytes: &[u8]) -> Result<v1::GetNetworkResponse, Status> {
    Ok(v1::GetNetworkResponse { network: bytes.to_vec(), ..Default::default() })
}

fn not_yet() -> Result<v1::GetNetworkResponse, Status> {
    Ok(v1::GetNetworkResponse::default())
}

fn failed(problem: &str) -> Result<v1::GetNetworkResponse, Status> {
    Ok(v1::GetNetworkResponse { failure: problem.to_owned(), ..Default::default() })
}

fn damaged(bytes: &[u8]) -> Result<v1::GetNetworkResponse, Status> {
    let mut bytes = bytes.to_vec();
    bytes[60] ^= 1;
    given(&bytes)
}

/// What a worker reports of a training.
async fn report_of(
    training: &TrainingDefinition,
    networks: impl IntoIterator<Item = Result<v1::GetNetworkResponse, Status>>,
) -> FinishedTraining {
    let script = Script {
        definition: training.canonical_json(),
        games: 1,
        networks: networks.into_iter().collect(),
        ..Default::default()
    };
    let (url, seen) = Fake::serve(script).await;
    let summary = Working::start(url, 2, true).ended().await.unwrap();
    assert_eq!((summary.acknowledged, summary.failed), (1, 0));
    let seen = seen.lock().unwrap();
    assert!(seen.trains);
    assert!(seen.networks.iter().all(|asked| *asked == training.hash().0));
    match seen.results[&0].as_slice() {
        [What::Training(training)] => training::from_wire(training.clone()).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Invariant 2, for networks: every worker trains the same network.
#[tokio::test]
async fn a_training_is_reported_with_its_network() {
    let training = small(1);
    let expected = trained(&training);
    let task = GameId { cell: CellId(1), number: 0 };
    let networks = [
        vec![not_yet()],
        vec![failed("somebody's failed")],
        // The storing side must learn that it differs.
        vec![damaged(&expected.bytes)],
        vec![given(&trained(&recipe(r#""hidden":[2],"epochs":1,"examples":500"#)).bytes)],
        vec![Err(Status::unavailable("not now")), not_yet()],
    ];
    for networks in networks {
        let finished = report_of(&training, networks).await;
        training.referee(&finished, None).unwrap();
        assert_eq!(finished.task, task);
        assert!(finished.wall_us > 0 && finished.started_unix_us > 0);
        assert_eq!(finished.trained.as_ref(), Some(&expected));
    }
}

#[tokio::test]
async fn a_network_that_is_there_is_not_trained_again() {
    let one = small(2);
    let network = trained(&one).bytes;
    let sha256 = network[network.len() - 32..].try_into().unwrap();
    let finished = report_of(&one, [given(&network)]).await;
    assert_eq!((finished.trained.as_ref(), finished.sha256), (None, sha256));
    one.referee(&finished, Some(sha256)).unwrap();
}

/// The answer for one lease does not affect the next.
#[tokio::test]
async fn a_training_is_asked_for_anew_each_time() {
    let one = small(3);
    let script = Script {
        definition: one.canonical_json(),
        games: 1,
        leases_twice: true,
        networks: [not_yet(), given(&trained(&one).bytes)].into(),
        ..Default::default()
    };
    let (url, seen) = Fake::serve(script).await;
    Working::start(url, 1, true).ended().await.unwrap();
    let seen = seen.lock().unwrap();
    let is_found: Vec<_> = seen.results[&0]
        .iter()
        .map(|what| match what {
            What::Training(training) => training.trained.is_none(),
            What::Game(_) | What::Verification(_) | What::FailedGame(_) => panic!("{what:?}"),
        })
        .collect();
    assert_eq!((seen.fetches, is_found.as_slice()), (2, &[false, true][..]));
}

#[tokio::test]
async fn a_training_that_comes_to_nothing_is_a_failure() {
    // No position of it is won.
    let drawn = small(4).canonical_json().replace("KRK", "KBK");
    let no_ending = small(4).canonical_json().replace("KRK", "KXK");
    for (definition, poison, message) in [
        (drawn, None, "positions"),
        (no_ending, None, "recipe"),
        (small(4).canonical_json(), Some(0), "its result was refused: it cannot be stored"),
    ] {
        let script = Script { definition, poison, games: 1, ..Default::default() };
        let (url, seen) = Fake::serve(script).await;
        let summary = Working::start(url, 1, true).ended().await.unwrap();
        assert_eq!((summary.acknowledged, summary.failed), (1, 1));
        let seen = seen.lock().unwrap();
        let [what] = seen.results[&0].as_slice() else { panic!("{:?}", seen.results) };
        assert!(failure(what).contains(message), "{}", failure(what));
    }
}

#[tokio::test]
async fn a_training_that_is_not_wanted_any_more_is_abandoned() {
    let long = recipe(r#""hidden":[40],"epochs":100000,"seed":5"#);
    let script = Script { definition: long.canonical_json(), games: 1, ..Default::default() };
    let (url, seen) = Fake::serve(script).await;
    let working = Working::start(url, 1, true);
    let named = v1::GameId { cell_id: 1, number: 0 };
    eventually("it is named", async || seen.lock().unwrap().named.contains(&named).then_some(()))
        .await;
    working.shutdown.now.cancel();
    assert_eq!(working.ended().await.unwrap(), Summary::default());
}

/// Recipes are trusted: a supplied network is used whatever its weights, which a network of another seed
/// shows.
#[tokio::test]
async fn players_have_the_network_that_is_given() {
    let foreign = trained(&small(7)).bytes;
    let own = played_here(games_with(6));
    let expected = {
        let _supplied = SuppliedNetwork::new(small(6).recipe().clone(), &foreign).unwrap();
        played_here(games_with(6))
    };
    assert_ne!(own, expected);
    let answers = [given(&foreign)];
    // An unreachable coordinator is asked again.
    let after_a_while = [Err(Status::unavailable("not now")), given(&foreign)];
    for (networks, asked) in [(answers.to_vec(), 1), (after_a_while.to_vec(), 2)] {
        let script = Script {
            definition: games_with(6),
            games: GAMES,
            networks: networks.into(),
            ..Default::default()
        };
        let (url, seen) = Fake::serve(script).await;
        let summary = Working::start(url, 2, true).ended().await.unwrap();
        assert_eq!((summary.acknowledged, summary.failed), (GAMES, 0));
        let seen = seen.lock().unwrap();
        assert_eq!(reported(&seen), expected);
        assert_eq!(
            (seen.fetches, &seen.networks),
            (asked, &vec![small(6).hash().0.to_vec(); asked])
        );
    }
}

#[tokio::test]
async fn missing_networks_are_trained_where_they_play() {
    let expected = played_here(games_with(8));
    let script = Script {
        definition: games_with(8),
        games: GAMES,
        networks: [not_yet()].into(),
        ..Default::default()
    };
    let (url, seen) = Fake::serve(script).await;
    let summary = Working::start(url, 2, true).ended().await.unwrap();
    assert_eq!((summary.acknowledged, summary.failed), (GAMES, 0));
    assert_eq!(reported(&seen.lock().unwrap()), expected);
}

/// Games without their network fail with a reason; the next lease asks again.
#[tokio::test]
async fn games_without_their_network_fail() {
    let own = trained(&small(9)).bytes;
    let other_form = trained(&recipe(r#""hidden":[2],"epochs":1,"examples":500"#)).bytes;
    let name = small(9).hash().to_string();
    for (answer, words) in [
        (failed("it diverged"), ["its network could not be trained", "it diverged"]),
        (damaged(&own), [&*name, "hash"]),
        (given(&other_form), [&*name, "another form"]),
    ] {
        let script = Script {
            definition: games_with(9),
            games: GAMES,
            leases_twice: true,
            networks: [answer, given(&own)].into(),
            ..Default::default()
        };
        let (url, seen) = Fake::serve(script).await;
        let summary = Working::start(url, 1, true).ended().await.unwrap();
        assert_eq!((summary.acknowledged, summary.failed), (2 * GAMES, GAMES));
        let seen = seen.lock().unwrap();
        for results in seen.results.values() {
            let message = failure(&results[0]);
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
            assert!(matches!(results[1], What::Game(_)), "{results:?}");
        }
    }
}
