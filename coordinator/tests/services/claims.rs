//! Claims over the API: a client's report has the claims and verdicts of the file.

use spelrum_answers::{Detail, GetReport, Report};
use spelrum_model::Role;
use spelrum_model::claims::ClaimStanding;
use spelrum_statistics::claims::Judgement;
use spelrum_store::Readers;
use spelrum_test_support::{HandWorker, Site, quick_sweep};

fn sweep(claims: &str) -> String {
    // Over three openings little can be shown.
    let sweep = quick_sweep("claimed", 40)
        .replace(r#"openings = { kind = "random", plies = 1 }"#, r#"openings = "start""#);
    format!("{sweep}\n{claims}")
}

fn claim(text: &str, bound: &str) -> String {
    format!("[[claims]]\ntext = \"{text}\"\nplayer = \"minimax\"\nopponent = \"random\"\n{bound}\n")
}

#[tokio::test]
async fn a_clients_report_has_the_claims_of_the_file() {
    let site = Site::new();
    let served = site.serve().await;
    let stated =
        [claim("minimax is better", "score_above = 0.5"), claim("by far", "score_above = 0.99")];
    let first = served.submit(&sweep(&stated.concat())).await;
    let stated_first = |claim: &ClaimStanding| claim.in_sweep && !claim.is_late;
    assert!(first.claims.iter().all(stated_first), "{:?}", first.claims);
    let report = async || {
        let question = GetReport { experiment: "claimed".to_owned(), detail: Detail::Cells };
        served.call(&question).await.unwrap()
    };
    let before = report().await;
    let open = before.judged_claims();
    assert_eq!(open.len(), 2);
    for claim in &open {
        assert_eq!((claim.judged.judgement, claim.judged.figures), (Judgement::Open, None));
    }
    HandWorker::new(&served).await.work_until_done().await;
    let later = served
        .submit(&sweep(&[stated[0].clone(), claim("so", "score_below = 0.9")].concat()))
        .await;
    let standings: Vec<_> =
        later.claims.iter().map(|claim| (&*claim.text, claim.is_late, claim.in_sweep)).collect();
    assert_eq!(
        standings,
        [("minimax is better", false, true), ("by far", false, false), ("so", true, true)]
    );
    let report = report().await;
    let claims = report.judged_claims();
    let judgements: Vec<Judgement> = claims.iter().map(|claim| claim.judged.judgement).collect();
    assert_eq!(judgements, [Judgement::Supported, Judgement::NotShown, Judgement::Exploratory]);
    let figures = claims[0].judged.figures.unwrap();
    assert!(figures.p_adjusted >= Some(figures.p), "{figures:?}");
    assert_eq!(claims[2].judged.figures.unwrap().p_adjusted, None);
    let why = claims[2].exploratory.map(|why| why.reason());
    assert_eq!(why, Some("stated after the first game was settled"));
    let band = claims[0].judged.cases[0].band.unwrap();
    assert!(band.low > 0.5 && band.high < 1.0, "{band:?}");
    // The claim's player is the cell's second.
    assert_eq!(claims[0].claim.cells[0].player, Role::Opponent);
    let file: Report = Readers::open(&site.db())
        .await
        .unwrap()
        .report("claimed", Detail::Cells)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(report.claims, file.claims);
    assert_eq!(claims, file.judged_claims());
    served.stop().await.unwrap();
}
