//! Builds of engines: cells of a build that plays no more stay beside those that take their places.

use spelrum_engine::{Parameters, Value};
use spelrum_model::ExperimentState;
use spelrum_model::builds::{AWAITED_BUILD, with_builds};
use spelrum_model::change::BuildChange;
use spelrum_model::{CellId, ExperimentId, Plan, Role};
use spelrum_scheduling::scheduler::{CellProgress, Changes};
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::{StoreError, Submitted, Sweep};

use crate::fixture::{Store, add_cell, claim, empty_plan, game, genetic, parameters, sweep};

const OLD: &str = "0000000000000000000000000000000000000000000000000000000000000001";
const NEW: &str = "1111111111111111111111111111111111111111111111111111111111111111";

fn dev(depth: i64, build: Option<&str>) -> Parameters {
    let mut dev = parameters(&[
        ("algorithm", Value::Text("gtp".to_owned())),
        ("depth", Value::Integer(depth)),
        ("engine", Value::Text("dev".to_owned())),
    ]);
    dev.extend(build.map(|build| ("build".to_owned(), Value::Text(build.to_owned()))));
    dev
}

/// A plan of cells of these depths, in which this build of `dev` meets one of ours.
fn of_build(build: Option<&str>, depths: &[i64], games: u64) -> Plan {
    let mut plan = empty_plan("small");
    for &depth in depths {
        let players = [dev(depth, build), genetic(depth)];
        add_cell(&mut plan, ["dev", "gm"], players, depth, games);
    }
    plan
}

async fn submit(store: &mut Store, text: &str, plan: &Plan) -> Submitted {
    let mut transaction = store.writer.begin().await.unwrap();
    let uuid = format!("uuid of {text}");
    let submitted = transaction.submit(sweep(&uuid, text, plan)).await.unwrap();
    transaction.commit().await.unwrap();
    submitted
}

/// The cells of the report, in its order.
async fn cells(store: &Store) -> Vec<String> {
    store
        .texts(
            "SELECT axes || ' ' || player || ' ' || games || '/' || games_planned FROM results
            ORDER BY cell_number, cell_id",
        )
        .await
}

async fn play(store: &mut Store, cell: CellId, games: u64) {
    let games: Vec<_> = (0..games).map(|number| game(cell, number, number)).collect();
    store.store(&games).await;
    // They were leased.
    let progress = CellProgress {
        cell,
        next_number: games.len() as u64,
        returned: Vec::new(),
        decided_number: 0,
        stop_number: None,
    };
    let changes = Changes { cells: vec![progress], ..Changes::default() };
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.apply(&changes).await.unwrap();
    transaction.commit().await.unwrap();
}

#[tokio::test]
async fn cells_of_the_build_before_stay_beside_those_of_the_new_one() {
    let mut store = Store::with(&of_build(Some(OLD), &[1, 2, 3], 20)).await;
    let [first, second] = [store.cell(0), store.cell(1)];
    play(&mut store, first, 20).await;
    play(&mut store, second, 6).await;
    let rebuilt = of_build(Some(NEW), &[1, 2, 3], 20);
    let readers = store.writer.readers();
    let preview = readers.preview(sweep("uuid-2", "text 2", &rebuilt)).await.unwrap();
    let grown = submit(&mut store, "text 2", &rebuilt).await;
    let change = grown.change.unwrap();
    assert_eq!(preview.change.as_ref(), Some(&change));
    assert_eq!(preview.games_left, [20, 20, 20]);
    let [before, now] = [OLD, NEW].map(|build| Some(build.to_owned()));
    let changed = BuildChange { engine: "dev".to_owned(), before, now, games: 26 };
    assert_eq!(change.builds_changed, [changed]);
    assert_eq!(
        (change.cells_kept, change.cells_added, change.cells_superseded, change.cells_dropped),
        (0, 3, 2, 0)
    );
    // The scheduler gives none of their games away.
    let states = grown.cells.iter().map(|state| (state.cell, state.in_sweep, state.games));
    let states: Vec<_> = states.filter(|(cell, ..)| cell.0 <= 3).collect();
    assert_eq!(states, [(CellId(3), false, 20), (first, false, 20), (second, false, 6)]);
    let both = [
        "depth=1 dev@00000000 20/20",
        "depth=1 dev 0/20",
        "depth=2 dev@00000000 6/6",
        "depth=2 dev 0/20",
        "depth=3 dev 0/20",
    ];
    assert_eq!(cells(&store).await, both);
    store.assert_recount().await;

    // More games, and a point less, are for the build that plays. The rest stays as it is.
    let more = submit(&mut store, "text 3", &of_build(Some(NEW), &[2, 3], 24)).await;
    let change = more.change.unwrap();
    assert_eq!((change.cells_continued, change.cells_dropped, change.cells_superseded), (2, 2, 0));
    assert!(change.builds_changed.is_empty());
    let now = ["depth=2 dev@00000000 6/6", "depth=2 dev 0/24", "depth=3 dev 0/24"];
    assert_eq!(cells(&store).await, now);

    // A third build, of a player who has other settings too, has nothing to stand beside.
    let deeper = of_build(Some(&"2".repeat(64)), &[2, 4], 24);
    submit(&mut store, "text 4", &deeper).await;
    let now = ["depth=2 dev@00000000 6/6", "depth=2 dev 0/24", "depth=4 dev 0/24"];
    assert_eq!(cells(&store).await, now);

    // The first comes back, with its games.
    let back = submit(&mut store, "text 5", &of_build(Some(OLD), &[2], 20)).await;
    assert_eq!(back.change.unwrap().cells_returned, 1);
    assert_eq!(cells(&store).await, ["depth=2 dev 6/20"]);
    let builds = "SELECT number || ' ' || coalesce(build, '-') || ' ' || games || ' ' || is_current FROM builds";
    assert_eq!(store.texts(builds).await, [format!("1 {OLD} 6 1")]);
    store.assert_recount().await;
}

/// Of a database from before builds, or of a sweep of any.
#[tokio::test]
async fn cells_of_an_unknown_build_stay_beside_those_of_a_known_one() {
    let mut store = Store::with(&of_build(None, &[1], 20)).await;
    let cell = store.cell(0);
    play(&mut store, cell, 20).await;
    let grown = submit(&mut store, "text 2", &of_build(Some(NEW), &[1], 20)).await;
    assert_eq!(grown.change.unwrap().builds_changed[0].before, None);
    assert_eq!(cells(&store).await, ["depth=1 dev@unknown 20/20", "depth=1 dev 0/20"]);
    let builds = "SELECT number || ' ' || coalesce(build, '-') || ' ' || games || ' ' || is_current FROM builds";
    assert_eq!(store.texts(builds).await, ["1 - 20 0".to_owned(), format!("2 {NEW} 0 1")]);
    // It is known no more, and goes on with them.
    let any = submit(&mut store, "text 3", &of_build(None, &[1], 30)).await;
    assert_eq!(any.change.unwrap().cells_returned, 1);
    assert_eq!(cells(&store).await, ["depth=1 dev 20/30"]);
}

/// What was claimed of the build before its first game stays said of it. Of the new build it is said after games.
#[tokio::test]
async fn claims_stay_with_the_build_that_they_were_stated_of() {
    let with_claim = |build| {
        let mut plan = of_build(Some(build), &[1], 20);
        plan.claims = vec![claim("it is better", [0], Role::Opponent)];
        plan
    };
    let mut store = Store::with(&with_claim(OLD)).await;
    let cell = store.cell(0);
    play(&mut store, cell, 20).await;
    let grown = submit(&mut store, "text 2", &with_claim(NEW)).await;
    let stand: Vec<_> = grown.claims.iter().map(|claim| (claim.is_late, claim.in_sweep)).collect();
    assert_eq!(stand, [(false, false), (true, true)]);
    let cells = "SELECT cell_id || '' FROM claim_cells ORDER BY claim_id";
    assert_eq!(store.texts(cells).await, ["1", "2"]);
}

/// The submit that names a build which was awaited is about its experiment alone, and is carried out once.
#[tokio::test]
async fn awaited_builds_are_filled_in_once() {
    let text = |build: &str| with_builds("text", &[("dev".to_owned(), build.to_owned())].into());
    let awaited = text(AWAITED_BUILD);
    let mut store = Store::with_text(&of_build(Some(AWAITED_BUILD), &[1], 20), &awaited).await;
    let waiting = store.writer.readers().sweeps_that_await_builds().await.unwrap();
    let waiting: Vec<_> = waiting.iter().map(|sweep| (&*sweep.uuid, &*sweep.toml)).collect();
    assert_eq!(waiting, [("uuid-1", &*awaited)]);
    // Another experiment of its name is not meant.
    let plan = of_build(Some(AWAITED_BUILD), &[1], 20);
    let mut transaction = store.writer.begin().await.unwrap();
    let newer = Sweep { new_experiment: true, ..sweep("uuid-2", &awaited, &plan) };
    transaction.submit(newer).await.unwrap();
    let filled = of_build(Some(NEW), &[1], 20);
    let toml = text(NEW);
    let fill = Sweep { fills: Some("uuid-1"), ..sweep("fill", &toml, &filled) };
    let first = transaction.submit(fill).await.unwrap();
    assert_eq!((first.experiment, first.tell), (ExperimentId(1), true));
    let change = first.change.unwrap();
    assert_eq!((change.cells_added, change.cells_superseded, change.cells_dropped), (1, 0, 0));
    assert!(change.builds_changed.is_empty(), "no game was played by it");
    // Another worker came at the same moment, with another build.
    let toml = text(OLD);
    let other = of_build(Some(OLD), &[1], 20);
    let fill = Sweep { fills: Some("uuid-1"), ..sweep("fill 2", &toml, &other) };
    let second = transaction.submit(fill).await.unwrap();
    assert!(second.change.is_none() && !second.tell);
    let gone = Sweep { fills: Some("uuid-3"), ..sweep("fill 3", &toml, &other) };
    let error = transaction.submit(gone).await.unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error:?}");
    transaction.commit().await.unwrap();
    let waiting = store.writer.readers().sweeps_that_await_builds().await.unwrap();
    assert_eq!(waiting.iter().map(|sweep| &*sweep.uuid).collect::<Vec<_>>(), ["uuid-2"]);
    let summary = store.writer.readers().experiment("uuid-1").await.unwrap().unwrap();
    assert_eq!((summary.cells, summary.state), (1, ExperimentState::Running));
}
