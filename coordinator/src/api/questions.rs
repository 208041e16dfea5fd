//! Questions that the database answers.

use spelrum_answers::{
    Call, GetCellGame, GetComparisons, GetExperiment, GetGame, GetOverview, GetPhases, GetProgress,
    GetRatings, GetReport, GetRuns, ListCellGames, ListCells, ListExperiments, ListGames,
    ListSettledCells, ListWholeCellGames, ListWholeGames,
};
use spelrum_proto::{Reason, Refusal};

use super::{Answers, Api, Reply, Routes, place};
use crate::dispatcher::unknown_experiment;
use crate::services::reading_failed;
use spelrum_store::{Question, StoreError, Unanswered};

/// Adds the routes of all questions.
pub(super) fn add(routes: &mut Routes) {
    routes.add::<ListExperiments>();
    routes.add::<GetExperiment>();
    routes.add::<GetReport>();
    routes.add::<GetRatings>();
    routes.add::<GetComparisons>();
    routes.add::<GetPhases>();
    routes.add::<GetOverview>();
    routes.add::<GetProgress>();
    routes.add::<GetRuns>();
    routes.add::<ListCells>();
    routes.add::<ListSettledCells>();
    routes.add::<ListGames>();
    routes.add::<ListCellGames>();
    routes.add::<ListWholeGames>();
    routes.add::<ListWholeCellGames>();
    routes.add::<GetGame>();
    routes.add::<GetCellGame>();
}

/// Answers each question by one of the two functions below.
macro_rules! answered {
    ($answer:ident: $($question:ident),+ $(,)?) => {
        $(impl Answers<$question> for Api {
            async fn answer(
                &self,
                question: $question,
            ) -> Result<Reply<<$question as Call>::Answer>, Refusal> {
                self.$answer(question).await
            }
        })+
    };
}

answered!(large: GetReport, GetRatings, GetComparisons, GetPhases, GetOverview, GetRuns);

answered!(
    small: ListExperiments,
    GetExperiment,
    GetProgress,
    ListCells,
    ListSettledCells,
    ListGames,
    ListCellGames,
    ListWholeGames,
    ListWholeCellGames,
    GetGame,
    GetCellGame,
);

impl Api {
    async fn small<Q: Question>(&self, question: Q) -> Result<Reply<Q::Answer>, Refusal> {
        Ok(Reply::Small(question.answer(&self.readers).await.map_err(unanswered)?))
    }

    /// For an answer that may be large, or take long to compute. Work goes on after its caller has gone, and keeps its
    /// place for as long.
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
pub(super) fn unanswered(why: Unanswered) -> Refusal {
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
