//! A worker sends its token, and ends if it is refused.

use spelrum_proto::{Reason, Token};
use spelrum_worker::WorkerError;

use super::end_to_end::Working;
use spelrum_test_support::{Site, quick_sweep};

fn token(text: &str) -> Token {
    text.parse().unwrap()
}

#[tokio::test]
async fn a_worker_with_the_token_plays() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("guarded", 20)).await;
    served.stop().await.unwrap();
    let served = site.serve_with_token(&token("right")).await;
    let worker = Working::start_with(served.url(), 2, true, Some(token("right")));
    assert_eq!(worker.ended().await.unwrap().acknowledged, 20);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_worker_that_is_refused_for_its_token_ends() {
    let site = Site::new();
    let served = site.serve_with_token(&token("right")).await;
    for wrong in [None, Some(token("wrong"))] {
        // Without an end: it would wait for more.
        let worker = Working::start_with(served.url(), 1, false, wrong);
        let error = worker.ended().await.unwrap_err();
        let WorkerError::Refused(refusal) = &error else { panic!("{error:?}") };
        assert_eq!(refusal.reason, Reason::BadToken);
        assert!(error.remedy().contains("SPELRUM_TOKEN"), "{}", error.remedy());
    }
    served.stop().await.unwrap();
}
