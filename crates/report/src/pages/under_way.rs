//! Games under way: their list, and the page of one that people follow.

use maud::{Markup, html};
use spelrum_answers::{FollowedGame, GamesUnderWay};
use spelrum_engine::{Rules, TextGame, written_moves};

use super::game::short_score;
use super::layout::shown;
use crate::board;
use crate::text::counted;

/// Returns a list of games under way with links to their pages; nothing if there are none.
pub(super) fn list(under_way: &GamesUnderWay) -> Markup {
    let GamesUnderWay { games, games_total } = under_way;
    html! {
        @if !games.is_empty() { section {
            h2 { "Games under way" }
            div class="wide" tabindex="0" { table {
                thead { tr {
                    th scope="col" { "game" } th scope="col" { "first player" } th scope="col" { "second player" }
                    th scope="col" class="n" { "worker" }
                } }
                tbody { @for game in games {
                    @let (cell, number) = (game.game.cell, game.game.number);
                    tr {
                        td { a href=(format!("/cells/{cell}/games/{number}")) { "cell " (cell) ", number " (number) } }
                        @for name in &game.players { td { bdi { (shown(name)) } } }
                        td class="n" { (game.worker) }
                    }
                } }
            } }
            @if *games_total > games.len() as u64 {
                p class="note" { (counted(*games_total, "game")) " are under way." }
            }
        } }
    }
}

/// Returns the contents of the page of a game under way by these rules: the board and the moves so far.
#[must_use]
pub fn game_under_way(followed: &FollowedGame, rules: &Rules) -> Markup {
    let info = rules.game();
    let game = &followed.game;
    let moves = followed.moves.as_deref().unwrap_or_default();
    let texts = || moves.iter().map(|mv| mv.mv.as_str());
    let written = written_moves(rules, &followed.opening, texts())
        .unwrap_or_else(|_| texts().map(ToOwned::to_owned).collect());
    // The coordinator has checked them.
    let mut position = TextGame::new(rules, &followed.opening).ok();
    let first_side = position.as_ref().map(TextGame::to_move);
    for mv in texts() {
        position = position.and_then(|mut position| position.play(mv).ok().map(|()| position));
    }
    let to_move = position.as_ref().map(TextGame::to_move);
    let mover = usize::from(to_move != first_side);
    html! {
        header {
            h1 { "Game of " (shown(&followed.experiment)) ", under way" }
            p class="about" {
                a href=(format!("/experiments/{}", shown(&followed.experiment_uuid))) { "Experiment" }
                ", cell " (game.game.cell) ", number " (game.game.number) ", " (info.name) ", worker " (game.worker)
            }
            p class="question" {
                bdi { (shown(&game.players[0])) } " against " bdi { (shown(&game.players[1])) }
            }
        }
        div class="game" data-follows {
            section class="position" {
                h2 {
                    @match written.last() {
                        Some(mv) => { "After ply " (written.len()) ": " (shown(mv)) },
                        None => "The opening",
                    }
                }
                @if let Some(position) = &position { (board::diagram(info, &position.diagram())) }
                p class="status" {
                    @if followed.moves.is_none() { "Its worker has not reported its moves yet." }
                    @else if position.as_ref().is_some_and(|position| position.ending().is_some()) { "The game is over." }
                    @else {
                        bdi { (shown(&game.players[mover])) }
                        @if let Some(side) = to_move { ", " (info.side(side).word) "," }
                        " is thinking."
                    }
                }
            }
            section class="list" {
                h2 { "Moves so far" }
                @if moves.is_empty() { p { "None." } } @else {
                    div class="wide moves" tabindex="0" role="region" aria-label="Moves" { table {
                        thead { tr { th scope="col" { "move" } th scope="col" { "depth" } th scope="col" { "score" } } }
                        // The newest first, where they are seen.
                        tbody { @for (index, (mv, written)) in moves.iter().zip(&written).enumerate().rev() { tr {
                            td { (index + 1) ". " (shown(written)) }
                            td { (if mv.depth == 0 { "-".to_owned() } else { mv.depth.to_string() }) }
                            td { (mv.score.map_or_else(|| "-".to_owned(), short_score)) }
                        } } }
                    } }
                    p class="note" { "The newest move is first. Scores are for the side that moves." }
                }
            }
            section class="details" {
                h2 { "The position" }
                p {
                    label for="notation" { "In the game's notation" } " "
                    input id="notation" class="notation" readonly value=(followed.position);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use spelrum_answers::{GameUnderWay, MoveSoFar};
    use spelrum_model::{CellId, GameId, WorkerId};

    use super::*;

    #[test]
    fn a_game_under_way_shows_what_is_known_and_nothing_unescaped() {
        let rules: Rules = serde_json::from_str(r#"{ "name": "tic-tac-toe" }"#).unwrap();
        let game = GameUnderWay {
            game: GameId { cell: CellId(3), number: 5 },
            players: ["<b>new</b>".to_owned(), "old".to_owned()],
            worker: WorkerId(7),
        };
        let all = GamesUnderWay { games: vec![game.clone()], games_total: 1_234 };
        let listed = list(&all).into_string();
        for part in ["href=\"/cells/3/games/5\"", "&lt;b&gt;new", "1,234 games are under way."] {
            assert!(listed.contains(part), "{part}: {listed}");
        }
        assert_eq!(list(&GamesUnderWay { games: Vec::new(), games_total: 0 }).into_string(), "");

        let mut followed = FollowedGame {
            game,
            experiment: "<i>depths".to_owned(),
            experiment_uuid: "0b1c6d1e".to_owned(),
            rules: "tic-tac-toe".to_owned(),
            opening: ".........".to_owned(),
            moves: None,
            position: ".........".to_owned(),
        };
        let page = |followed: &FollowedGame| game_under_way(followed, &rules).into_string();
        let waiting = page(&followed);
        assert!(waiting.contains("has not reported its moves yet") && waiting.contains("<svg"));
        let mv = |mv: &str, score| MoveSoFar { mv: mv.to_owned(), depth: 4, score };
        followed.moves = Some(vec![mv("b2", Some(-3)), mv("a1", None), mv("c3", None)]);
        let shown = page(&followed);
        for part in ["After ply 3: c3", "<bdi>old</bdi>, o, is thinking.", "1. b2", "<td>-3</td>"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("<b>") && !shown.contains("<i>"), "{shown}");
        // What the coordinator would not have taken.
        followed.moves = Some(vec![mv("<script>", None)]);
        assert!(!page(&followed).contains("<script>"));
    }
}
