//! Settled games as lines of JSON, one after another, however many there are.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use futures_util::stream;
use serde::Serialize;
use spelrum_answers::{GameCursor, GamesOf, GamesQuestion, PAGE_ITEMS_MAX, StreamGames};
use spelrum_proto::Refusal;
use spelrum_proto::problem::Problem;
use spelrum_store::Readers;
use tokio::sync::OwnedSemaphorePermit;

use super::parameters::PathParameters;
use super::{Api, LINES_CONTENT_TYPE, parameters, place, reply};
use crate::services::reading_failed;

/// Sends a line for each game; at the end of those that are there it ends.
pub(super) async fn stream_games(
    State(api): State<Arc<Api>>,
    PathParameters(path): PathParameters,
    uri: Uri,
) -> Response {
    match start(&api, &path, &uri).await {
        Ok(answer) => answer,
        Err(refusal) => super::problem(refusal),
    }
}

async fn start(api: &Api, path: &[(String, String)], uri: &Uri) -> Result<Response, Refusal> {
    let asked: StreamGames = parameters::from_query(path, uri.query().unwrap_or_default())?;
    let place = place(&api.queries, "too many other queries are running")?;
    let scope = GamesOf::Experiment(api.summary(&asked.experiment).await?.experiment);
    let reading = Reading {
        readers: api.readers.clone(),
        question: GamesQuestion { scope, filter: asked.filter, order: asked.order },
        after: asked.after,
        has_moves: asked.moves,
        is_over: false,
        _place: place,
    };
    let pages = stream::unfold(Some(reading), async |reading| {
        let mut reading = reading?;
        match reading.next().await {
            Ok(Some(lines)) => Some((Ok::<_, std::convert::Infallible>(lines), Some(reading))),
            Ok(None) => None,
            // The last line, which is no game.
            Err(refusal) => Some((Ok(reply::line(&Failed { problem: refusal.into() })), None)),
        }
    });
    Ok(reply::named(Body::from_stream(pages), LINES_CONTENT_TYPE))
}

/// The last line of games that could not be read to the end.
#[derive(Serialize)]
struct Failed {
    problem: Problem,
}

struct Reading {
    readers: Readers,
    question: GamesQuestion,
    after: Option<GameCursor>,
    has_moves: bool,
    is_over: bool,
    _place: OwnedSemaphorePermit,
}

impl Reading {
    /// The lines of the next games.
    async fn next(&mut self) -> Result<Option<String>, Refusal> {
        if self.is_over {
            return Ok(None);
        }
        let (readers, question, after) = (&self.readers, self.question, self.after);
        let (lines, next, games) = if self.has_moves {
            let page = readers.whole_games(question, after, PAGE_ITEMS_MAX).await;
            let page = page.map_err(reading_failed)?;
            let lines = page.games.iter().map(reply::line).collect::<String>();
            (lines, page.next, page.games.len())
        } else {
            let page = readers.games(question, after, PAGE_ITEMS_MAX).await;
            let page = page.map_err(reading_failed)?;
            let lines = page.games.iter().map(reply::line).collect::<String>();
            (lines, page.next, page.games.len())
        };
        // In the order of settling there is always a next page, which may be empty.
        self.is_over = next.is_none() || games == 0;
        self.after = next;
        Ok(Some(lines).filter(|_| games > 0))
    }
}
