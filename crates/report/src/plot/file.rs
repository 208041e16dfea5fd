//! Plots as separate files, for a thesis, a README or slides: SVG with title, legend and styles.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

use maud::{Markup, PreEscaped, html};

use super::colors::with_colors;
use super::draw::{self, CHARACTER, Room, all_fitting, columns};
use super::svg::Drawn;
use super::{Chart, Figure, Key, NAME_CHARACTERS_MAX, Panel, PlotSize};
use crate::data::NewFile;
use crate::error::{Error, Kind};
use crate::text::shortened;

/// A page's colours, for light and then for dark.
const PALETTE: &str = include_str!("palette.css");
/// Rules for drawings, as in a page.
const RULES: &str = include_str!("plot.css");
/// Rules for the surroundings of plots in a page.
const FRAME: &str = "\
.page { fill: var(--page); }
svg .title { fill: var(--ink); font-size: 17px; font-weight: 600; font-family: system-ui, sans-serif; }
svg .heading { fill: var(--soft); font-size: 14px; font-family: system-ui, sans-serif; }
";

/// Margin around the picture.
const MARGIN: u32 = 16;
/// Left edge of texts in a plot.
const TEXT_LEFT: u32 = 4;
/// Approximate width of a character of a title and of a heading.
const TITLE_CHARACTER: f64 = 11.5;
const HEADING_CHARACTER: f64 = 8.0;
const TITLE_HEIGHT: u32 = 22;
const HEADING_HEIGHT: u32 = 19;
/// Sizes of the legend's lines, of the margins above and below it, and of the gaps before and between its names.
const LEGEND_HEIGHT: u32 = 20;
const LEGEND_GAP: u32 = 6;
const LINE_KEY: u32 = 44;
const BAR_KEY: u32 = 16;
const KEY_GAP: u32 = 6;
const NAME_GAP: u32 = 20;

/// Maximum number of characters of a file's name, without additions.
const FILE_NAME_MAX: usize = 80;
/// Maximum length of a plot's text description.
const ABOUT_CHARACTERS_MAX: usize = 2_000;

/// A plot as a separate file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotFile {
    /// In lower-case letters, digits and hyphens; with its extension.
    pub name: String,
    /// The picture.
    pub svg: String,
}

/// Returns all plots of these figures, each with its own name; each states its subject.
pub fn plot_files(
    figures: &[Figure],
    size: Option<PlotSize>,
    about: &str,
) -> io::Result<Vec<PlotFile>> {
    let room = size.map_or(Room::Page, Room::File);
    let mut names = BTreeSet::new();
    let plots =
        figures.iter().flat_map(|figure| figure.panels.iter().map(move |panel| (figure, panel)));
    let files = plots.map(|(figure, panel)| {
        let heading = panel.heading.as_deref().filter(|_| figure.panels.len() > 1);
        let base = file_name(&figure.title, heading);
        let numbered = (2_usize..).map(|number| format!("{base}-{number}"));
        let mut free = std::iter::once(base.clone()).chain(numbered);
        // There are fewer plots than numbers.
        let name = free.find(|name| names.insert(name.clone())).unwrap_or_default();
        let about = std::iter::once(about).chain(figure.notes.iter().map(|note| &**note));
        let about = about.collect::<Vec<_>>().join(" ");
        let svg = picture(&name, figure, panel, room, &about)?.into_string();
        Ok(PlotFile { name: format!("{name}.svg"), svg: format!("{svg}\n") })
    });
    files.collect()
}

/// Writes plots into a directory, which is created if missing, and prints their paths.
///
/// # Errors
/// If the directory cannot be written to.
pub fn write_plots(files: &[PlotFile], directory: &Path, out: &mut dyn Write) -> Result<(), Error> {
    let failed = |error: io::Error| {
        Error::new(Kind::Input, format!("write figures into {}", directory.display()))
            .because(error)
            .help("name a directory that you may write to, and check the room on the disk")
    };
    std::fs::create_dir_all(directory).map_err(failed)?;
    for figure in files {
        let path = directory.join(&figure.name);
        let (new_file, mut file) = NewFile::create(&path)?;
        file.write_all(figure.svg.as_bytes()).map_err(failed)?;
        new_file.finish()?;
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

/// Joins the words of the title and of the plot's heading, with characters valid in every file system.
fn file_name(title: &str, heading: Option<&str>) -> String {
    let mut name = String::new();
    for character in title.chars().chain([' ']).chain(heading.unwrap_or_default().chars()) {
        match character {
            letter if letter.is_ascii_alphanumeric() => name.push(letter.to_ascii_lowercase()),
            _ if name.is_empty() || name.ends_with('-') => {}
            _ => name.push('-'),
        }
        if name.len() == FILE_NAME_MAX {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "plot".to_owned() } else { name.to_owned() }
}

/// Draws the plot with its surroundings in a page.
fn picture(
    name: &str,
    figure: &Figure,
    panel: &Panel,
    room: Room,
    about: &str,
) -> io::Result<Markup> {
    let drawn = draw::chart(&panel.chart, room).map_err(io::Error::other)?;
    let mut header = Header { width: drawn.size.0, height: MARGIN, elements: Vec::new() };
    let title = shortened(&figure.title, NAME_CHARACTERS_MAX);
    header.text("title", &title, TITLE_CHARACTER, TITLE_HEIGHT);
    let heading = panel.heading.as_ref().map(|heading| shortened(heading, NAME_CHARACTERS_MAX));
    if let Some(heading) = &heading {
        header.text("heading", heading, HEADING_CHARACTER, HEADING_HEIGHT);
    }
    header.legend(&panel.chart)?;
    let Header { height: top, elements, .. } = header;
    let Drawn { size: (width, height), elements: plot, areas: _ } = drawn;
    let (width, height) = (width + 2 * MARGIN, top + height + MARGIN);
    let full_title = heading.map_or_else(|| title.clone(), |heading| format!("{title}: {heading}"));
    let [title_id, about_id] = ["title", "about"].map(|part| format!("{name}-{part}"));
    Ok(html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height)
            viewBox=(format!("0 0 {width} {height}")) role="img"
            aria-labelledby=(title_id) aria-describedby=(about_id) {
            title id=(title_id) { (full_title) }
            desc id=(about_id) { (shortened(about, ABOUT_CHARACTERS_MAX)) }
            style { (PreEscaped(style())) }
            rect class="page" width=(width) height=(height) {}
            @for element in elements { (element) }
            (moved((MARGIN, top), plot))
        }
    })
}

fn moved((right, down): (u32, u32), elements: String) -> Markup {
    html! { g transform=(format!("translate({right} {down})")) { (PreEscaped(elements)) } }
}

/// The growing area above a plot.
struct Header {
    /// Of the plot.
    width: u32,
    height: u32,
    elements: Vec<Markup>,
}

impl Header {
    const LEFT: u32 = MARGIN + TEXT_LEFT;

    /// Adds a text in as many lines as it needs.
    fn text(&mut self, class: &str, text: &str, character: f64, height: u32) {
        let columns_max = (f64::from(self.width - TEXT_LEFT) / character) as usize;
        for line in lines(text, columns_max) {
            self.height += height;
            // Letters reach below their baseline.
            let y = self.height - height / 4;
            self.elements.push(html! { text class=(class) x=(Self::LEFT) y=(y) { (line) } });
        }
    }

    /// Adds the names of the series, in as many columns as fit.
    fn legend(&mut self, chart: &Chart) -> io::Result<()> {
        let keys = chart.keys();
        let Some((first, _)) = keys.first() else { return Ok(()) };
        let before = KEY_GAP + if matches!(first, Key::Line(_)) { LINE_KEY } else { BAR_KEY };
        let room = self.width - TEXT_LEFT - before;
        let characters_max = (f64::from(room) / CHARACTER) as usize;
        let names = keys.iter().map(|(_, name)| *name).collect::<Vec<_>>();
        let names = all_fitting(&names, characters_max);
        let longest = names.iter().map(|name| columns(name)).max().unwrap_or_default();
        let step = before + (CHARACTER * longest as f64) as u32 + NAME_GAP;
        let in_line = (self.width - TEXT_LEFT + NAME_GAP) / step;
        let top = self.height + LEGEND_GAP;
        for (((key, _), name), place) in keys.iter().zip(names).zip(0..) {
            let x = Self::LEFT + place % in_line.max(1) * step;
            let y = top + place / in_line.max(1) * LEGEND_HEIGHT;
            self.elements.push(match key {
                Key::Line(series) => {
                    let drawn = draw::key(*series).map_err(io::Error::other)?;
                    moved((x, y + 2), drawn.elements)
                }
                Key::Bar(class) => html! {
                    rect class=(format!("bar {class}")) x=(x) y=(y + 4) width=(BAR_KEY) height="12" {}
                },
            });
            self.elements.push(html! { text class="text" x=(x + before) y=(y + 15) { (name) } });
            self.height = y + LEGEND_HEIGHT;
        }
        self.height += LEGEND_GAP;
        Ok(())
    }
}

/// Wraps a text to this many columns, broken between words where possible.
fn lines(text: &str, columns_max: usize) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for character in text.chars() {
        if columns(&line) >= columns_max {
            let between = line.rsplit_once(' ').filter(|(kept, _)| !kept.is_empty());
            let (kept, rest) = between.unwrap_or((&line, ""));
            let (kept, rest) = (kept.to_owned(), rest.to_owned());
            lines.push(kept);
            line = rest;
        }
        line.push(character);
    }
    lines.push(line);
    lines
}

/// Returns the styles with colours substituted: light unless dark is requested.
fn style() -> String {
    let (light, dark) = PALETTE.split_once("@media").unwrap_or((PALETTE, ""));
    let rules = format!("{FRAME}{RULES}");
    let [light, dark] = [light, dark].map(|palette| with_colors(&rules, palette));
    format!("\n{light}@media screen and (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        for (title, heading, name) in [
            ("Score by depth", None, "score-by-depth"),
            (
                "Score by depth",
                Some("A against B, nodes 30"),
                "score-by-depth-a-against-b-nodes-30",
            ),
            ("Score", Some("../../etc/passwd\0"), "score-etc-passwd"),
            ("Score", Some("棋é\u{202e}"), "score"),
            ("棋", None, "plot"),
        ] {
            assert_eq!(file_name(title, heading), name);
        }
        assert_eq!(file_name("Score", Some(&"x".repeat(1_000))).len(), FILE_NAME_MAX);
    }

    #[test]
    fn texts_are_broken_into_lines_between_words() {
        assert_eq!(lines("one two three", 20), ["one two three"]);
        assert_eq!(lines("one two three", 8), ["one two", "three"]);
        assert_eq!(lines("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(lines("", 4), [""]);
        assert_eq!(lines(" 棋棋棋", 4), [" 棋棋", "棋"]);
    }

    #[test]
    fn every_color_is_in_the_styles_for_light_and_for_dark() {
        let style = style();
        assert!(!style.contains("var(") && !style.contains("--"), "{style}");
        let [light, dark] = ["#0072b2", "#56b4e9"]
            .map(|blue| style.find(&format!(".s0 {{ stroke: {blue}; }}")).unwrap());
        assert!(light < style.find("@media").unwrap() && style.find("@media").unwrap() < dark);
    }
}
