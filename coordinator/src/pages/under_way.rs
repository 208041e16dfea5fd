//! The page of a game under way, which becomes that of a settled game.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use spelrum_answers::{FollowGame, GetCellGame};
use spelrum_model::CellId;
use spelrum_proto::Reason;
use spelrum_report::pages::{self, Place};
use spelrum_store::Question as _;

use super::{Pages, html, refused};

pub(super) async fn game(
    State(pages): State<Arc<Pages>>,
    Path((cell, number)): Path<(CellId, u64)>,
    uri: Uri,
) -> Response {
    let making = Arc::clone(&pages);
    let make = async move {
        let (game, playable) = making.api.follow(FollowGame { cell, number }).await?;
        let may_play = making.api.may_play();
        let made = tokio::task::spawn_blocking(move || {
            let [first, second] = &game.game.players;
            let title = format!("{first} against {second}, under way");
            let contents = pages::game_under_way(&game, &playable.definition().rules);
            pages::page(Place::Elsewhere, &title, "", &contents, may_play)
        });
        Ok(made.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())))
    };
    match pages.rendered.get(uri.path(), pages.live.last_change(), make).await {
        Ok(text) => html(StatusCode::OK, text.to_string()),
        Err(refusal) if refusal.reason == Reason::UnknownGame => {
            match (GetCellGame { cell, number }).answer(&pages.api.readers).await {
                Ok(game) => {
                    let page = format!("/games/{}", game.summary.game_id);
                    (StatusCode::SEE_OTHER, [(header::LOCATION, page)]).into_response()
                }
                Err(_) => refused(&refusal),
            }
        }
        Err(refusal) => refused(&refusal),
    }
}
