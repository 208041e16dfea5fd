//! Pages as files to publish: all links are relative, and a game's page has all its boards.

use maud::{Markup, html};
use spelrum_answers::{ExperimentSummary, GameSummary, SettledGame};
use spelrum_model::ExperimentState;

use super::game::{ShownPly, contents};
use super::games::table;
use super::layout::text;
use super::overview::experiments_table;
use crate::answers::Answers;
use crate::error::Result;
use crate::experiment::report_markup;
use crate::listing::done;
use crate::replay::RecordedGame;
use crate::text::{count, counted};

/// Games in a list.
pub const LIST_GAMES_MAX: usize = 250;

/// Games on an experiment's page; where there are more, lists have them.
pub const GAMES_SHOWN: usize = 20;

/// Boards on a game's page: of a longer game, the last.
const BOARDS_MAX: usize = 300;

/// Nothing comes from elsewhere. Where the pages are opened as files, `'self'` is not all of them.
const POLICY: &str = "default-src 'none'; style-src 'self' file:; script-src 'self' file:; base-uri 'none'; \
                      form-action 'none'";

/// The file of the first page. The names of all files are relative to the site's directory.
pub const INDEX: &str = "index.html";

/// The file of the stylesheet, which is [`STYLE`](super::STYLE).
pub const STYLE_FILE: &str = "static/pages.css";

/// The file of the script, which is [`SITE_SCRIPT`](super::SITE_SCRIPT).
pub const SCRIPT_FILE: &str = "static/site.js";

/// Returns the file of an experiment's page.
#[must_use]
pub fn experiment_file(experiment: &ExperimentSummary) -> String {
    format!("experiments/{}.html", experiment.experiment.0)
}

/// Returns the file of a list of an experiment's games: 1 is the first list.
#[must_use]
pub fn games_file(experiment: &ExperimentSummary, list: usize) -> String {
    format!("experiments/{}-games-{list}.html", experiment.experiment.0)
}

/// Returns the file of a game's page.
#[must_use]
pub fn game_file(game_id: i64) -> String {
    format!("games/{game_id}.html")
}

/// The directories of a site.
pub const DIRECTORIES: [&str; 3] = ["experiments", "games", "static"];

/// Whether a site may have a file of this name.
#[must_use]
pub fn is_file(file: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let page = file.strip_suffix(".html").and_then(|page| page.split_once('/'));
    match page {
        Some(("experiments", page)) => page.split("-games-").all(is_number),
        Some(("games", page)) => is_number(page),
        Some(_) => false,
        None => [INDEX, STYLE_FILE, SCRIPT_FILE].contains(&file),
    }
}

/// Whether a text is the first page of a site, of any version.
#[must_use]
pub fn is_index(text: &str) -> bool {
    text.contains("<meta name=\"generator\" content=\"spelrum ")
}

/// From the directory of all pages but the first to the site's.
const UP: &str = "../";

fn page(up: &str, title: &str, about: &str, contents: &Markup) -> String {
    let head = html! {
        meta http-equiv="Content-Security-Policy" content=(POLICY);
        link rel="stylesheet" href={ (up) (STYLE_FILE) };
        script src={ (up) (SCRIPT_FILE) } defer {}
    };
    let links = html! {
        a href={ (up) (INDEX) } aria-current=[up.is_empty().then_some("page")] { "Experiments" }
    };
    text(title, about, &head, &links, contents)
}

/// Returns the first page: experiments, newest first, with links to their pages.
#[must_use]
pub fn index(experiments: &[ExperimentSummary]) -> String {
    let contents = html! {
        header {
            h1 { "Experiments" }
            p class="about" { (counted(experiments.len() as u64, "experiment")) }
        }
        (experiments_table(experiments.iter().rev(), experiment_file))
    };
    page("", "Experiments", "", &contents)
}

/// Returns the page of an experiment with its report, what a link to it shows, and the first
/// of the games that the site has.
///
/// # Errors
/// If an answer is missing that its report needs.
pub fn experiment(
    experiment: &ExperimentSummary,
    about: &str,
    answers: &Answers,
    games: &[GameSummary],
) -> Result<String> {
    let report = report_markup(experiment, answers, None)?;
    let contents = html! {
        @if experiment.state != ExperimentState::Finished {
            p {
                (count(experiment.games_settled)) " of " (counted(experiment.games_planned, "game")) ", "
                (done(experiment)) ", " strong { (experiment.state.name()) }
            }
        }
        (report)
        section {
            h2 { "Games" }
            @if games.is_empty() {
                p { "No game has a page here." }
            } @else {
                (games_here(experiment, games.len()))
                (table(&games[..games.len().min(GAMES_SHOWN)], |id| format!("{UP}{}", game_file(id))))
                @if games.len() > GAMES_SHOWN {
                    p { a href={ (UP) (games_file(experiment, 1)) } { "All games with a page here" } }
                }
            }
        }
    };
    Ok(page(UP, &experiment.name, about, &contents))
}

/// How many of an experiment's games have pages.
fn games_here(experiment: &ExperimentSummary, games: usize) -> Markup {
    let settled = experiment.games_settled;
    html! {
        @if settled > games as u64 {
            p class="note" { "The newest " (count(games as u64)) " of " (counted(settled, "game")) " have a page here." }
        }
    }
}

/// Returns a list of an experiment's games: the `list`th, counted from 1, of these in pieces of [`LIST_GAMES_MAX`].
#[must_use]
pub fn games(experiment: &ExperimentSummary, games: &[GameSummary], list: usize) -> String {
    let lists = games.len().div_ceil(LIST_GAMES_MAX);
    let listed = games.chunks(LIST_GAMES_MAX).nth(list - 1).unwrap_or_default();
    let title = format!("Games of {}", experiment.name);
    let contents = html! {
        header {
            h1 { (super::layout::shown(&title)) }
            p class="about" { a href={ (UP) (experiment_file(experiment)) } { "Experiment" } }
            (games_here(experiment, games.len()))
        }
        (table(listed, |id| format!("{UP}{}", game_file(id))))
        @if lists > 1 {
            nav aria-label="Lists of games" {
                @for number in 1..=lists {
                    a href={ (UP) (games_file(experiment, number)) } aria-current=[(number == list).then_some("page")] { (number) }
                }
            }
        }
    };
    page(UP, &title, "", &contents)
}

/// Returns the page of a game of this experiment, with the board after each of its plies.
///
/// # Errors
/// If the definition of its cell is damaged.
pub fn game(experiment: &ExperimentSummary, game: SettledGame) -> Result<String> {
    let [first, second] = &game.summary.players;
    let title = format!("{first} against {second}, game {}", game.summary.game_id);
    let link = format!("{UP}{}", experiment_file(experiment));
    Ok(page(UP, &title, "", &contents(game, &link, boards)?))
}

fn boards(game: &RecordedGame) -> Markup {
    const LINK: &str = "#ply-";
    let last = ShownPly::new(game, None, LINK);
    let first = last.ply().saturating_sub(BOARDS_MAX - 1);
    let mut shown = ShownPly::new(game, u32::try_from(first).ok(), LINK);
    let mut plies = Vec::new();
    loop {
        let ply = shown.ply();
        plies.push(html! {
            div id={ "ply-" (ply) } class="ply" {
                @if last.ply() > 0 { nav class="steps" aria-label="Plies" { (shown.step_links(first)) } }
                (shown.position())
                (shown.search())
                (shown.notation(&format!("notation-{ply}")))
            }
        });
        if !shown.advance() {
            break;
        }
    }
    html! {
        div id="game" class="game" {
            section class="position" {
                @if last.ply() > 0 {
                    // The script shows it.
                    div class="plies" hidden {
                        label for="ply" { "Ply" }
                        input id="ply" type="range" min=(first) max=(last.ply()) value=(last.ply());
                    }
                }
                div class="boards" { @for ply in &plies { (ply) } }
            }
            section class="list" { (last.list_of(first..last.ply())) }
            section class="details" { (last.scores()) }
        }
    }
}
