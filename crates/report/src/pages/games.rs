//! Lists of games, whose rows lead to their pages.

use maud::{Markup, html};
use spelrum_answers::{
    ExperimentSummary, GameResult, GameSummary, GamesFilter, GamesOrder, GamesPage, GamesUnderWay,
    Report, places_text,
};
use spelrum_engine::Outcome;
use spelrum_model::CellId;

use super::layout::shown;
use super::under_way;
use crate::text::counted;

/// The words of a list's address and of its form, for each filter and each order.
const FILTERS: [(GamesFilter, &str, &str); 4] = [
    (GamesFilter::All, "all", "all games"),
    (GamesFilter::Counted, "counted", "games that count"),
    (GamesFilter::Uncounted, "uncounted", "games that do not count"),
    (GamesFilter::Failed, "failed", "failed games"),
];
const ORDERS: [(GamesOrder, &str, &str); 3] = [
    (GamesOrder::Newest, "newest", "newest first"),
    (GamesOrder::Number, "number", "by cell and number"),
    (GamesOrder::Settled, "settled", "oldest first"),
];

/// The address of the games of a cell of an experiment, without the cell's id at its end.
pub(super) fn cell_games(experiment: &ExperimentSummary) -> String {
    format!("{}?cell=", address(experiment))
}

fn address(experiment: &ExperimentSummary) -> String {
    format!("/experiments/{}/games", experiment.uuid)
}

/// Games of an experiment under way, and a page of those that are settled, or with a report and the id of one of its
/// cells, of that cell's.
#[must_use]
pub fn games(
    experiment: &ExperimentSummary,
    cell: Option<(&Report, CellId)>,
    (filter, order): (GamesFilter, GamesOrder),
    (under_way, page): (&GamesUnderWay, &GamesPage),
) -> Markup {
    let (path, id) = (address(experiment), cell.map(|(_, id)| id.0));
    let next = page.next.map(|next| {
        let cell = id.map_or_else(String::new, |id| format!("cell={id}&"));
        let word = |words: &[(&'static str, bool)]| {
            words.iter().find(|(_, is)| *is).map_or("", |(word, _)| *word)
        };
        let filter = word(&FILTERS.map(|(value, word, _)| (word, value == filter)));
        let order = word(&ORDERS.map(|(value, word, _)| (word, value == order)));
        format!("{path}?{cell}filter={filter}&order={order}&after={}", String::from(next))
    });
    html! {
        header {
            h1 { "Games of " a href=(format!("/experiments/{}", experiment.uuid)) { (shown(&experiment.name)) } }
            @if let Some((report, id)) = cell { p class="about" { (cell_words(report, id)) } }
        }
        (under_way::list(under_way))
        form class="filters" action=(path) {
            @if let Some(id) = id { input type="hidden" name="cell" value=(id); }
            (choice("filter", "Games", FILTERS.map(|(value, word, text)| (word, text, value == filter))))
            (choice("order", "Order", ORDERS.map(|(value, word, text)| (word, text, value == order))))
            button { "Show" }
            @if id.is_some() { a href=(path) { "Games of all cells" } }
        }
        @if page.games.is_empty() { p { "There are no such games." } } @else { (table(&page.games, game_page)) }
        @if let Some(next) = next { p { a href=(next) rel="next" { "Further games" } } }
    }
}

/// A cell's players, place and result.
fn cell_words(report: &Report, id: CellId) -> String {
    let Some(cell) = report.cells.iter().find(|cell| cell.cell == id) else { return String::new() };
    let place = places_text(&report.axes, &cell.axes);
    let place = place.map_or_else(String::new, |place| format!(", {place}"));
    let score = cell.score.map_or_else(String::new, |score| {
        format!(", score {:.3} ({:.3}–{:.3})", score.score, score.low, score.high)
    });
    let games = counted(cell.games, "game");
    shown(&format!("{} against {}{place}: {games}{score}", cell.player, cell.opponent))
}

/// A choice of a form: words for the address and for people, and which of them is chosen.
fn choice<const N: usize>(name: &str, label: &str, options: [(&str, &str, bool); N]) -> Markup {
    html! {
        label { (label) " " select name=(name) {
            @for (word, text, is_chosen) in options { option value=(word) selected[is_chosen] { (text) } }
        } }
    }
}

/// The address of a game's page.
pub(super) fn game_page(game: i64) -> String {
    format!("/games/{game}")
}

/// Games as a table, each with its players, how it ended, and a link to its page.
pub(super) fn table(games: &[GameSummary], link: impl Fn(i64) -> String) -> Markup {
    html! {
        div class="wide" tabindex="0" { table {
            thead { tr {
                th scope="col" class="n" { "game" } th scope="col" { "first player" }
                th scope="col" { "second player" } th scope="col" { "result" } th scope="col" class="n" { "plies" }
                th scope="col" { "ended by" }
            } }
            tbody { @for game in games { (row(game, &link(game.game_id))) } }
        } }
    }
}

fn row(game: &GameSummary, link: &str) -> Markup {
    let [first, second] = &game.players;
    html! {
        tr {
            td class="n" { a href=(link) { (game.game_id) } }
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
