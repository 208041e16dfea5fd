//! Search results and reasons for their end, in words.

use spelrum_engine::EndedBy;
use spelrum_engine::search::{WIN, WIN_MIN};

/// Formats a score for the side to move; a win or a loss with its distance.
pub fn score_text(score: Option<i32>) -> String {
    match score {
        None => "none: this algorithm does not score moves".to_owned(),
        Some(WIN_MIN) => format!("{WIN_MIN}: a win"),
        Some(score) if score == -WIN_MIN => format!("{score}: a loss"),
        Some(score) if score >= WIN_MIN => format!("{score}: a win in {}", plies(WIN - score)),
        Some(score) if score <= -WIN_MIN => format!("{score}: a loss in {}", plies(WIN + score)),
        Some(score) => score.to_string(),
    }
}

fn plies(plies: i32) -> String {
    if plies == 1 { "1 ply".to_owned() } else { format!("{plies} plies") }
}

/// Completes "ended by".
pub fn ended_by_text(ended_by: EndedBy) -> &'static str {
    match ended_by {
        EndedBy::Depth => "its depth",
        EndedBy::Nodes => "the limit on nodes",
        EndedBy::Evaluations => "the limit on evaluations",
        EndedBy::Generations => "the limit on generations",
        EndedBy::Simulations => "the limit on simulations",
        EndedBy::Time => "the time limit",
        EndedBy::Proven => "a proof: deeper search changes nothing",
        EndedBy::OnlyMove => "having only one move",
    }
}
