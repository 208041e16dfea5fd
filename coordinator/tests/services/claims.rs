//! Claims over real gRPC: what a client hears is what the file has.

use spelrum_answers::{Detail, Report};
use spelrum_proto::results::ReportReader;
use spelrum_proto::v1;
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
async fn a_client_hears_of_claims_what_the_file_has() {
    let site = Site::new();
    let served = site.serve().await;
    let stated =
        [claim("minimax is better", "score_above = 0.5"), claim("by far", "score_above = 0.99")];
    let first = served.submit(&sweep(&stated.concat())).await;
    assert!(first.claims.iter().all(|claim| claim.in_sweep && !claim.late), "{:?}", first.claims);
    let parts = async || {
        let request = v1::GetReportRequest { experiment: "claimed".to_owned(), depths: false };
        let mut parts = served.results().await.get_report(request).await.unwrap().into_inner();
        let first = parts.message().await.unwrap().unwrap();
        let mut reader = ReportReader::default();
        reader.take(first.clone()).unwrap();
        while let Some(part) = parts.message().await.unwrap() {
            reader.take(part).unwrap();
        }
        (first.claims, reader.finish().unwrap())
    };
    let (open, _) = parts().await;
    assert!(open.iter().all(|claim| claim.judgement == "open" && claim.p.is_none()), "{open:?}");
    HandWorker::new(&served).await.work_until_done().await;
    let later = served
        .submit(&sweep(&[stated[0].clone(), claim("so", "score_below = 0.9")].concat()))
        .await;
    let standings: Vec<_> =
        later.claims.iter().map(|claim| (&*claim.text, claim.late, claim.in_sweep)).collect();
    assert_eq!(
        standings,
        [("minimax is better", false, true), ("by far", false, false), ("so", true, true)]
    );
    let (wire, report) = parts().await;
    let judgements: Vec<&str> = wire.iter().map(|claim| &*claim.judgement).collect();
    assert_eq!(judgements, ["supported", "not_shown", "exploratory"]);
    assert!(wire[0].p_adjusted >= wire[0].p && wire[2].p_adjusted.is_none());
    assert_eq!(wire[2].reason.as_deref(), Some("stated after the first game was settled"));
    let band = wire[0].cells[0].band.unwrap();
    assert!(band.low > 0.5 && band.high < 1.0, "{band:?}");
    // The claim's player is the cell's second.
    assert!(wire[0].cells[0].second);
    let file: Report = Readers::open(&site.db())
        .await
        .unwrap()
        .report("claimed", Detail::Cells)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(report.claims, file.claims);
    assert_eq!(report.judged_claims(), file.judged_claims());
    served.stop().await.unwrap();
}
