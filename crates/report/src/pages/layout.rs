//! What all pages have: their head, the links between them, and the place of their contents.

use maud::{DOCTYPE, Markup, html};

use crate::text::shortened;

/// Longest title.
const TITLE_CHARACTERS_MAX: usize = 200;

/// Longest description of a page where a link to it is shown.
const ABOUT_CHARACTERS_MAX: usize = 300;

/// A page's place among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Experiments, and what needs attention.
    Overview,
    /// The workers.
    Workers,
    /// A new sweep.
    Submit,
    /// Queries.
    Sql,
    /// A game against a built-in player.
    Play,
    /// Another page.
    Elsewhere,
}

/// The text of a page with these contents. `about` is what a link to the page shows of it elsewhere; if `may_play`, a link leads
/// to the page on which people play.
#[must_use]
pub fn page(place: Place, title: &str, about: &str, contents: &Markup, may_play: bool) -> String {
    let link = |path: &str, name: &str, of_place: Place| {
        let current = (place == of_place).then_some("page");
        html! { a href=(path) aria-current=[current] { (name) } }
    };
    let build = format!("{:016x}", super::BUILD);
    let head = html! {
        link rel="stylesheet" href={ "/static/pages.css?" (build) };
        script src={ "/static/pages.js?" (build) } defer {}
    };
    let links = html! {
        (link("/", "Overview", Place::Overview))
        (link("/workers", "Workers", Place::Workers))
        (link("/submit", "New sweep", Place::Submit))
        (link("/sql", "SQL", Place::Sql))
        @if may_play { (link("/play", "Play", Place::Play)) }
        span id="live" role="status" {}
    };
    text(title, about, &head, &links, contents)
}

/// The text of a page with this style and script in its head, and these links above its contents.
pub(super) fn text(
    title: &str,
    about: &str,
    head: &Markup,
    links: &Markup,
    contents: &Markup,
) -> String {
    let title = shortened(title, TITLE_CHARACTERS_MAX);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(concat!("spelrum ", env!("CARGO_PKG_VERSION")));
                meta property="og:title" content=(title);
                @if !about.is_empty() {
                    meta property="og:description" content=(shortened(about, ABOUT_CHARACTERS_MAX));
                }
                meta property="og:type" content="website";
                title { (title) " · spelrum" }
                (head)
            }
            body {
                a class="skip" href="#contents" { "Skip to the contents" }
                nav aria-label="Pages" { (links) }
                main id="contents" tabindex="-1" { (contents) }
            }
        }
    };
    markup.into_string()
}

/// A page of a heading and sentences, such as a refusal; `enter` is the path of a button that lets a browser in. The script
/// does not fetch it again.
#[must_use]
pub fn plain_page(title: &str, sentences: &[&str], enter: Option<&str>) -> String {
    let contents = html! {
        header data-still { h1 { (title) } }
        @for sentence in sentences.iter().filter(|sentence| !sentence.is_empty()) {
            p { (shortened(sentence, 2_000)) }
        }
        @if let Some(path) = enter {
            form method="post" action=(path) { button { "Open the pages" } }
        }
    };
    page(Place::Elsewhere, title, "", &contents, false)
}

/// A text of a sweep, a worker or an engine, in a cell or a sentence.
pub(super) fn shown(text: &str) -> String {
    shortened(text, TITLE_CHARACTERS_MAX)
}
