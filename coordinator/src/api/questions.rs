//! Questions that the database answers.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use spelrum_proto::{Reason, Refusal};
use spelrum_store::{EachQuestion, Question, StoreError, Unanswered};

use super::parameters::PathParameters;
use super::{Api, Reply, Routes, parameters, place, replied};
use crate::dispatcher::unknown_experiment;
use crate::services::reading_failed;

impl EachQuestion for Routes {
    fn question<Q: Question>(&mut self) {
        self.add_handler::<Q, _, _>(handle::<Q>);
    }
}

async fn handle<Q: Question>(
    State(api): State<Arc<Api>>,
    PathParameters(path): PathParameters,
    uri: Uri,
    body: Bytes,
) -> Response {
    let answer = async {
        let question: Q = parameters::read(&path, &uri, &body)?;
        if Q::IS_LARGE { api.large(question).await } else { api.small(question).await }
    };
    replied(answer.await)
}

impl Api {
    async fn small<Q: Question>(&self, question: Q) -> Result<Reply<Q::Answer>, Refusal> {
        Ok(Reply::Small(question.answer(&self.readers).await.map_err(unanswered)?))
    }

    /// Work goes on after its caller has gone, and keeps its place for as long.
    async fn large<Q: Question>(&self, question: Q) -> Result<Reply<Q::Answer>, Refusal> {
        let place = place(&self.reports, "too many other reports are being made")?;
        let readers = self.readers.clone();
        let answering = async move { (question.answer(&readers).await, place) };
        match tokio::spawn(answering).await {
            Ok((answer, place)) => Ok(Reply::Large(answer.map_err(unanswered)?, place)),
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

/// The refusal of a question without an answer.
pub(crate) fn unanswered(why: Unanswered) -> Refusal {
    let problem = why.to_string();
    match why {
        // Too large, or too slow: the caller's error.
        Unanswered::Store(
            error @ (StoreError::ManyToRate { .. } | StoreError::SlowQuery { .. }),
        ) => Refusal::new(Reason::BadQuery, problem, error.remedy()),
        Unanswered::Store(error) => reading_failed(error),
        Unanswered::UnknownExperiment(name) => unknown_experiment(&name),
        Unanswered::UnknownCell(_) => {
            Refusal::new(Reason::UnknownCell, problem, "list an experiment's cells")
        }
        Unanswered::MissingGame(missing) => {
            Refusal::new(Reason::UnknownGame, problem, missing.remedy())
        }
        Unanswered::WithoutGames(_) => {
            Refusal::new(Reason::WrongState, problem, "ask for its report")
        }
        Unanswered::PageSize(_) => Refusal::new(
            Reason::Malformed,
            problem,
            format!("ask for 1 to {}", spelrum_answers::PAGE_ITEMS_MAX),
        ),
    }
}
