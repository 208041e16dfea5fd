//! External engines of the players, for people and for programs.

use spelrum_answers::{MIXED_CELLS_MAX, MixedCell, Report, UsedEngine};
use spelrum_model::builds;

use super::column::Columns;
use super::entry::{TableEntry, View, parts};
use super::forfeits;
use super::rows::Rows;
use super::value::Form;
use crate::document::TitledTable;

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "engines",
    "Which external engines the players were",
    &View { parts: |report| parts(table(report)), rows },
)
.with_choices()
.shown_with_runs()
.on_page_after(forfeits::TABLE.name)
.in_json("engines");

/// Explains how the two hashes relate.
const BUILD_NOTE: &str = "\
SHA-256: of the program file. Build: a SHA-256 over that, the engine's other files, arguments and
options; PGN shows the same digits in the names of players.";

/// Maximum number of named cells in which players were several programs.
const MIXED_NAMED: usize = 5;

fn columns<'a>() -> Columns<'a, &'a UsedEngine> {
    Columns::<&UsedEngine>::new()
        .column("player", "player", Form::Words, |used| &used.player)
        // Empty, like the author, if the engine does not report it.
        .column("engine", "engine", Form::Words, |used| &used.engine.name)
        .shown_as(|used| used.engine.shown_name().to_owned())
        .key("author", |used| &used.engine.author)
        .text("build", Form::Words, |used| used.build.as_deref().map(builds::short))
        .column("sha256", "SHA-256", Form::Words, |used| used.engine.sha256_hex())
        .shown_as(|used| used.engine.sha256_short())
        .key("cells", |used| used.cells)
        .column("games", "games", Form::Count, |used| used.games)
        // Null where the sweep sets `any_build`.
        .key("build", |used| used.build.as_deref())
}

/// Returns the programs that played.
pub(crate) fn rows(report: &Report) -> Rows<'_> {
    Rows::without_places(columns(), report.engines.engines.iter().collect())
}

/// Returns the cells in which one player was several programs.
pub(crate) fn mixed_cells(report: &Report) -> Rows<'_> {
    let columns = Columns::<&MixedCell>::new()
        .key("cell_id", |cell| cell.cell.0)
        .key("player", |cell| &cell.player)
        .key("programs", |cell| cell.programs);
    Rows::without_places(columns, report.engines.mixed.iter().collect())
}

/// Returns the program of each external engine, if any played.
fn table(report: &Report) -> Option<TitledTable> {
    if report.engines.is_empty() {
        return None;
    }
    let engines = &report.engines.engines;
    let has_builds = engines.iter().any(|used| used.build.is_some());
    let notes = has_builds.then(|| BUILD_NOTE.to_owned()).into_iter().chain(mixes(report));
    let table = columns().table(TABLE.name, "Which programs played", engines);
    Some(table.with_notes(notes.collect()))
}

/// Warns of results that mix several programs.
fn mixes(report: &Report) -> Option<String> {
    let mixed = &report.engines.mixed;
    if mixed.is_empty() {
        return None;
    }
    let named = mixed.iter().take(MIXED_NAMED);
    let named = named.map(|cell| format!("{} in cell {}", cell.player, cell.cell));
    let more = match mixed.len() {
        all if all <= MIXED_NAMED => "",
        MIXED_CELLS_MAX.. => ", and in more than a thousand others",
        _ => ", and in others",
    };
    Some(format!(
        "Warning: a player was more than one program, so that its results are a mixture:\n{}{more}.\n\
         See which: spelrum sql 'SELECT * FROM engines_used'. In the sweep, sha256 demands one program.",
        named.collect::<Vec<_>>().join(", "),
    ))
}
