//! Games as rows of a table that lead to their pages.

use maud::{Markup, html};
use spelrum_answers::{GameResult, GameSummary};
use spelrum_engine::Outcome;

use super::layout::shown;

/// A game: its players, how it ended, and a link to its moves.
pub(super) fn row(game: &GameSummary) -> Markup {
    let [first, second] = &game.players;
    html! {
        tr {
            td class="n" { a href={ "/games/" (game.game_id) } { (game.game_id) } }
            td { (shown(first)) } td { (shown(second)) }
            @match &game.result {
                GameResult::Played(played) => {
                    td { (result(played.end.outcome)) } td class="n" { (played.end.plies) }
                    td { (played.end.termination.name()) }
                }
                GameResult::Failed(why) => { td { "failed" } td {} td class="long" { (shown(why)) } }
            }
        }
    }
}

/// A result for the player that moved first.
fn result(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win => "1-0",
        Outcome::Draw => "1/2-1/2",
        Outcome::Loss => "0-1",
    }
}
