//! A game between a person and a built-in player. Its address holds the whole game, so that nothing is kept here.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use spelrum_answers::{ANALYZED_MOVES_MAX, AnalyzePosition, PositionAnalysis, StoredPlayer};
use spelrum_engine::{Parameters, Problem};
use spelrum_proto::{Reason, Refusal};
use spelrum_report::pages::{self, EXACT_PLAYER, Markup, Place, PlayAddress, PlayedPosition};

use super::{Pages, html, is_opened, refused};

/// Longest query: each link of a page has it again.
const QUERY_BYTES_MAX: usize = 8 << 10;

/// Plies of the line that the player's opinion has.
const LINE_PLIES: u32 = 6;

pub(super) async fn play(
    State(pages): State<Arc<Pages>>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    pages.play(&uri, is_opened(&headers)).await.unwrap_or_else(|refusal| refused(&refusal))
}

impl Pages {
    async fn play(&self, uri: &Uri, is_opened: bool) -> Result<Response, Refusal> {
        self.api.check_may_play()?;
        let query = uri.query().unwrap_or_default().as_bytes();
        if query.len() > QUERY_BYTES_MAX {
            let problem = format!("the address has {} bytes", query.len());
            return Err(malformed(Problem::new(problem, "begin from a position")));
        }
        let pairs: Vec<(String, String)> = form_urlencoded::parse(query)
            .map(|(key, value)| (key.into_owned(), value.into_owned()))
            .collect();
        let mut address = PlayAddress::from_pairs(pairs.iter().cloned()).map_err(malformed)?;
        if address.moves.len() > ANALYZED_MOVES_MAX {
            let problem = format!("the game has {} moves", address.moves.len());
            return Err(malformed(Problem::new(problem, "begin from a position")));
        }
        let value = |key: &str| {
            let mut values = pairs.iter().filter(|(given, _)| given == key);
            values.next().map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
        };
        let stored = (value("experiment"), value("name"));
        if stored.0.is_some() != stored.1.is_some() {
            let problem = "a player of an experiment needs both, its experiment and its name";
            return Err(malformed(Problem::new(problem, "fill in both")));
        }
        if let (Some(experiment), Some(name)) = stored {
            let (experiment, name) = (experiment.to_owned(), name.to_owned());
            let stored = self.api.stored_player(&StoredPlayer { experiment, name }).await?;
            address.player = pages::player_text(&stored);
            return Ok(see(&address));
        }
        if address.game.is_empty() {
            let about = "A game against a built-in player";
            return Ok(page("Play", about, &pages::choose_game()));
        }
        if address.player.is_empty() {
            let seed = u64::from(rand::random::<u32>());
            let contents = pages::choose_player(&address, seed).map_err(malformed)?;
            return Ok(page(&format!("Play {}", address.game), "", &contents));
        }
        if value("own_player").is_some() {
            return Ok(see(&address));
        }
        // A link from elsewhere waits for a click.
        if !is_opened {
            return Ok(page("Play", "", &pages::go_on(&address)));
        }
        let question = address.question();
        let player = pages::read_player(&address.player).map_err(malformed)?;
        let answer = self.api.analyze(question.clone()).await?;
        if answer.ending.is_none() && answer.to_move != address.side {
            let reply = self.opinion(question, player, 0).await?;
            let reply = reply.map(|reply| reply.best_move).unwrap_or_default();
            return Ok(see(&address.after(&reply)));
        }
        let opinion = match address.think {
            true => self.opinion(question.clone(), player, LINE_PLIES).await?,
            false => None,
        };
        let exact = match address.exact {
            true => {
                let player = pages::read_player(EXACT_PLAYER).map_err(malformed)?;
                self.opinion(question, player, 0).await?
            }
            false => None,
        };
        let made = tokio::task::spawn_blocking(move || {
            let played = PlayedPosition { address: &address, answer: &answer, opinion, exact };
            let contents = pages::play(&played).map_err(malformed)?;
            Ok(page(&format!("{} against {}", address.game, address.player), "", &contents))
        });
        made.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    async fn opinion(
        &self,
        question: AnalyzePosition,
        player: Parameters,
        line_plies: u32,
    ) -> Result<Option<PositionAnalysis>, Refusal> {
        let question = AnalyzePosition { player: Some(player), line_plies, ..question };
        Ok(self.api.analyze(question).await?.analysis)
    }
}

/// A page that exists only where people may play.
fn page(title: &str, about: &str, contents: &Markup) -> Response {
    html(StatusCode::OK, pages::page(Place::Play, title, about, contents, true))
}

/// Leads to an address. It is plain ASCII.
fn see(address: &PlayAddress) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, address.to_string())]).into_response()
}

fn malformed(problem: Problem) -> Refusal {
    Refusal::new(Reason::Malformed, problem.what, problem.remedy)
}
