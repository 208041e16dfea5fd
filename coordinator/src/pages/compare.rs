//! Two experiments side by side.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use serde::Deserialize;
use spelrum_answers::{Detail, ExperimentSummary, GetExperiment, GetOverview, GetReport};
use spelrum_proto::{Reason, Refusal};
use spelrum_report::experiment::Pair;
use spelrum_report::pages::{self, Place};
use spelrum_store::Question as _;

use super::{Pages, address};
use crate::api::{from_query, unanswered};

/// The experiments, by UUID or name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compared {
    a: String,
    b: String,
}

pub(super) async fn compare(State(pages): State<Arc<Pages>>, uri: Uri) -> Response {
    let making = Arc::clone(&pages);
    let query = uri.query().unwrap_or_default().to_owned();
    let make = async move {
        let Compared { a, b } = from_query(&[], &query)?;
        making.compare([a, b]).await
    };
    pages.page(address(&uri), make).await
}

/// What cannot be compared.
fn unlike(error: &spelrum_report::Error) -> Refusal {
    let cause = error.cause.as_ref().map_or_else(|| error.to_string(), ToString::to_string);
    Refusal::new(Reason::WrongState, cause, "choose two other experiments")
}

impl Pages {
    async fn compare(&self, [a, b]: [String; 2]) -> Result<String, Refusal> {
        let readers = &self.api.readers;
        let summary = async |experiment| {
            GetExperiment { experiment }.answer(readers).await.map_err(unanswered)
        };
        let experiments = [summary(a).await?, summary(b).await?];
        Pair::check(experiments.each_ref()).map_err(|error| unlike(&error))?;
        let report = async |experiment: &ExperimentSummary| {
            let question = GetReport { experiment: experiment.uuid.clone(), detail: Detail::Cells };
            question.answer(readers).await.map_err(unanswered)
        };
        let reports = [report(&experiments[0]).await?, report(&experiments[1]).await?];
        // What is known only of some is left out, as on the command line.
        let overview = async |experiment: &ExperimentSummary| {
            GetOverview { experiment: experiment.uuid.clone() }.answer(readers).await.ok()
        };
        let overviews = [overview(&experiments[0]).await, overview(&experiments[1]).await];
        let may_play = self.api.may_play();
        let made = tokio::task::spawn_blocking(move || {
            let pair = Pair::new(experiments.each_ref(), reports.each_ref());
            let pair = pair.map_err(|error| unlike(&error))?;
            let contents = pages::compared(&pair, overviews.each_ref().map(Option::as_ref));
            let contents = contents.map_err(super::internal)?;
            let title = format!("{} and {}", experiments[0].name, experiments[1].name);
            Ok(pages::page(Place::Elsewhere, &title, "", &contents, may_play))
        });
        made.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }
}
