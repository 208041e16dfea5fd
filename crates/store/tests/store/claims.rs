//! Claims: what was stated before the first game stays, what comes later is exploratory, and no row outlives its
//! experiment.

use spelrum_answers::{Detail, Removing, Report, WhyExploratory};
use spelrum_model::claims::ClaimStanding;
use spelrum_model::{GameId, Plan, Role};
use spelrum_statistics::StopRule;
use spelrum_statistics::claims::{Judgement, NotJudged};
use spelrum_statistics::{EloModel, Sprt};
use spelrum_store::contract::WriteTransaction as _;
use spelrum_store::{Readers, Removed, Submitted, Writer};

use crate::fixture::{Store, add_cell, alpha_beta, claim, empty_plan, game, genetic, sweep};

/// A plan with cells of these games, and with these claims of their cells.
fn plan(games: &[u64], claims: &[(&str, &[usize])]) -> Plan {
    let mut plan = empty_plan("small");
    for (&games, depth) in games.iter().zip(1..) {
        add_cell(&mut plan, ["ab", "gm"], [alpha_beta(depth), genetic(depth)], depth, games);
    }
    plan.claims = claims
        .iter()
        .map(|(text, cells)| claim(text, cells.iter().copied(), Role::Opponent))
        .collect();
    plan
}

/// Submits a plan under its own text.
async fn submit(store: &mut Store, text: &str, plan: &Plan) -> Submitted {
    let mut transaction = store.writer.begin().await.unwrap();
    let uuid = format!("uuid of {text}");
    let submitted = transaction.submit(sweep(&uuid, text, plan)).await.unwrap();
    transaction.commit().await.unwrap();
    submitted
}

/// How claims stand: `late` or `stated`, and whether the sweep has them no longer.
fn standings(submitted: &Submitted) -> Vec<String> {
    let standing = |claim: &ClaimStanding| {
        let when = if claim.is_late { "late" } else { "stated" };
        let gone = if claim.in_sweep { "" } else { ", gone" };
        format!("{} {when}{gone}", claim.text)
    };
    submitted.claims.iter().map(standing).collect()
}

async fn report(readers: &Readers) -> Report {
    readers.report("small", Detail::Cells).await.unwrap().unwrap()
}

const TIMES: &str = "SELECT text || ' ' || submitted_unix_us FROM claims ORDER BY number";
const ROWS: &str = "SELECT count(*) FROM claims UNION ALL SELECT count(*) FROM claim_cells";

#[tokio::test]
async fn claims_are_as_the_sweep_says_until_the_first_game_is_settled() {
    let mut store = Store::with(&plan(&[4, 4], &[("a", &[0]), ("b", &[0, 1])])).await;
    assert_eq!(standings(&store.submitted), ["a stated", "b stated"]);
    assert_eq!(store.texts(ROWS).await, ["2", "3"]);
    let before = store.texts(TIMES).await;
    let same =
        submit(&mut store, "other text", &plan(&[4, 4], &[("a", &[0]), ("b", &[0, 1])])).await;
    assert_eq!(standings(&same), ["a stated", "b stated"]);
    assert_eq!(store.texts(TIMES).await, before, "stated once");
    // Of other cells it is another claim.
    let readers = store.writer.readers();
    let other = plan(&[4, 8], &[("c", &[1]), ("a", &[0, 1])]);
    let preview = readers.preview(sweep("uuid-3", "text 3", &other)).await.unwrap();
    let changed = submit(&mut store, "text 3", &other).await;
    assert_eq!(standings(&changed), ["c stated", "a stated"]);
    assert_eq!(preview.claims, changed.claims);
    assert_eq!(store.texts(ROWS).await, ["2", "3"]);
    let stated = report(&readers).await.claims;
    let games: Vec<u64> = stated[1].cells.iter().map(|cell| cell.games).collect();
    assert_eq!(games, [4, 8]);
    // More games before the first is settled: it is stated of these.
    submit(&mut store, "text 4", &plan(&[4, 12], &[("c", &[1]), ("a", &[0, 1])])).await;
    let report = report(&readers).await;
    assert_eq!(report.claims[0].cells[0].games, 12);
    assert!(report.judged_claims().iter().all(|claim| claim.exploratory.is_none()));
    submit(&mut store, "text 5", &plan(&[4, 12], &[])).await;
    assert_eq!(store.texts(ROWS).await, ["0", "0"]);
}

#[tokio::test]
async fn what_was_stated_before_the_first_game_stays() {
    let mut store = Store::with(&plan(&[4, 4], &[("a", &[0]), ("b", &[1])])).await;
    let cell = store.cell(0);
    store.store(&[game(cell, 0, 0)]).await;
    let later = plan(&[4, 4], &[("b", &[1]), ("c", &[0])]);
    let readers = store.writer.readers();
    let preview = readers.preview(sweep("uuid-2", "text 2", &later)).await.unwrap();
    let changed = submit(&mut store, "text 2", &later).await;
    assert_eq!(standings(&changed), ["a stated, gone", "b stated", "c late"]);
    assert_eq!(preview.claims, changed.claims);
    let again = submit(&mut store, "text 2", &later).await;
    assert_eq!((again.change.is_none(), standings(&again)), (true, standings(&changed)));
    // What is exploratory goes, and what comes back was never away.
    let back = submit(&mut store, "text 3", &plan(&[4, 4], &[("a", &[0]), ("b", &[1])])).await;
    assert_eq!(standings(&back), ["a stated", "b stated"]);
    let answer = report(&readers).await;
    assert!(answer.judged_claims().iter().all(|claim| claim.exploratory.is_none()));
    store.assert_recount().await;
}

/// A single failed game has been seen, too.
#[tokio::test]
async fn any_settled_game_makes_what_comes_exploratory() {
    let mut store = Store::with(&plan(&[4, 4], &[])).await;
    let cell = store.cell(1);
    let mut transaction = store.writer.begin().await.unwrap();
    let id = GameId { cell, number: 3 };
    transaction.settle_failed(&[(id, "no".to_owned())]).await.unwrap();
    transaction.commit().await.unwrap();
    let later = submit(&mut store, "text 2", &plan(&[4, 4], &[("a", &[0])])).await;
    assert_eq!(standings(&later), ["a late"]);
    let answer = report(&store.writer.readers()).await;
    assert_eq!(answer.judged_claims()[0].exploratory, Some(WhyExploratory::Late));
}

#[tokio::test]
async fn another_end_makes_a_claim_exploratory() {
    let claims: &[(&str, &[usize])] = &[("a", &[0]), ("b", &[1])];
    let mut store = Store::with(&plan(&[4, 4], claims)).await;
    let cell = store.cell(0);
    let games: Vec<_> = (0..4).map(|number| game(cell, number, number)).collect();
    store.store(&games).await;
    let readers = store.writer.readers();
    let why = async |readers: &Readers| {
        let report = report(readers).await;
        report.judged_claims().iter().map(|claim| claim.exploratory).collect::<Vec<_>>()
    };
    let judgements = async |readers: &Readers| {
        let report = report(readers).await;
        report.judged_claims().iter().map(|claim| claim.judged.judgement).collect::<Vec<_>>()
    };
    assert_eq!(why(&readers).await, [None, None]);
    assert_eq!(judgements(&readers).await[1], Judgement::Open);
    submit(&mut store, "text 2", &plan(&[8, 4], claims)).await;
    assert_eq!(why(&readers).await, [Some(WhyExploratory::OtherEnd), None]);
    submit(&mut store, "text 3", &plan(&[4, 4], claims)).await;
    assert_eq!(why(&readers).await, [None, None]);
    let mut stopped = plan(&[4, 4], claims);
    stopped.stop = StopRule::from_precision(0.1);
    submit(&mut store, "text 4", &stopped).await;
    assert_eq!(why(&readers).await, [Some(WhyExploratory::OtherEnd); 2]);
    stopped.stop =
        Some(StopRule::Sprt(Sprt::new(0.0, 10.0, 0.05, 0.05, EloModel::Normalized).unwrap()));
    submit(&mut store, "text 5", &stopped).await;
    let sequential = Judgement::NotJudged(NotJudged::Sequential);
    assert_eq!(judgements(&readers).await, [sequential; 2]);
    // A cell that the sweep no longer has.
    let mut fewer = plan(&[4, 4], claims);
    fewer.cells.remove(1);
    fewer.claims.pop();
    let gone = submit(&mut store, "text 6", &fewer).await;
    assert_eq!(standings(&gone), ["a stated", "b stated, gone"]);
    assert_eq!(judgements(&readers).await[1], Judgement::NotJudged(NotJudged::Gone));
}

#[tokio::test]
async fn no_claim_outlives_its_experiment() {
    let mut store = Store::with(&plan(&[4, 4], &[("a", &[0]), ("b", &[0, 1])])).await;
    let mut other = plan(&[4, 4], &[("a", &[0])]);
    other.name = "other".to_owned();
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.submit(sweep("uuid-2", "text", &other)).await.unwrap();
    transaction.commit().await.unwrap();
    let cell = store.cell(0);
    store.store(&[game(cell, 0, 0)]).await;
    assert_eq!(store.texts(ROWS).await, ["3", "4"]);
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.begin_removal(store.submitted.experiment, Removing::Everything, 1).await.unwrap();
    transaction.commit().await.unwrap();
    remove_all(&mut store.writer).await;
    assert_eq!(store.texts(ROWS).await, ["1", "1"]);
    assert_eq!(store.texts("SELECT count(*) FROM experiments").await, ["1"]);
    let violations = store.rows("SELECT * FROM pragma_foreign_key_check").await;
    assert_eq!(violations.len(), 0);
}

async fn remove_all(writer: &mut Writer) {
    loop {
        let mut transaction = writer.begin().await.unwrap();
        let removed = transaction.remove_some().await.unwrap();
        transaction.commit().await.unwrap();
        if removed == Removed::Nothing {
            return;
        }
    }
}
