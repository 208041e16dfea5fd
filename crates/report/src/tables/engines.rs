//! External engines of the players, for people and for programs.

use serde::Serialize;
use spelrum_answers::{MIXED_CELLS_MAX, MixedCell, Report, UsedEngine};
use spelrum_model::builds;
use spelrum_model::engines::EngineIdentity;

use super::csv::rows;
use super::entry::{Source, TableEntry, View, parts};
use super::forfeits;
use crate::document::TitledTable;
use crate::text::{Column, count, optional};

pub(crate) const TABLE: TableEntry = TableEntry::new(
    "engines",
    "Which external engines the players were",
    Source::Cells(View {
        parts: |report| parts(table(report)),
        rows: |report| rows(&report.experiment.name, &[], &Engines::from(report).engines),
    }),
)
.with_choices()
.shown_with_runs()
.on_page_after(forfeits::TABLE.name);

/// Explains how the two hashes relate.
const BUILD_NOTE: &str = "\
SHA-256: of the program file. Build: a SHA-256 over that, the engine's other files, arguments and
options; PGN shows the same digits in the names of players.";

/// Maximum number of named cells in which players were several programs.
const MIXED_NAMED: usize = 5;

/// The programs, and the cells that mix them. Keys are only ever added.
#[derive(Debug, Serialize)]
pub(crate) struct Engines<'a> {
    pub(crate) engines: Vec<Engine<'a>>,
    mixed_cells: Vec<Mixed<'a>>,
}

/// A program that played as a player.
#[derive(Debug, Serialize)]
pub(crate) struct Engine<'a> {
    player: &'a str,
    /// The engine's own name and author; empty if it does not report them.
    engine: &'a str,
    author: &'a str,
    sha256: String,
    cells: u64,
    games: u64,
    /// Null where the sweep sets `any_build`.
    build: Option<&'a str>,
}

/// A cell in which one player was several programs.
#[derive(Debug, Serialize)]
struct Mixed<'a> {
    cell_id: i64,
    player: &'a str,
    programs: u64,
}

impl<'a> From<&'a Report> for Engines<'a> {
    fn from(report: &'a Report) -> Self {
        let engine = |used: &'a UsedEngine| {
            let EngineIdentity { name, author, .. } = &used.engine;
            Engine {
                player: &used.player,
                engine: name,
                author,
                sha256: used.engine.sha256_hex(),
                cells: used.cells,
                games: used.games,
                build: used.build.as_deref(),
            }
        };
        let mixed = |cell: &'a MixedCell| Mixed {
            cell_id: cell.cell.0,
            player: &cell.player,
            programs: cell.programs,
        };
        Self {
            engines: report.engines.engines.iter().map(engine).collect(),
            mixed_cells: report.engines.mixed.iter().map(mixed).collect(),
        }
    }
}

/// Returns the program of each external engine, if any played.
fn table(report: &Report) -> Option<TitledTable> {
    if report.engines.is_empty() {
        return None;
    }
    let columns = vec![
        Column::words("player"),
        Column::words("engine"),
        Column::words("build"),
        Column::words("SHA-256"),
        Column::numbers("games"),
    ];
    let mut table = TitledTable::new(TABLE.name, "Which programs played", columns);
    for used in &report.engines.engines {
        table.row([
            used.player.clone(),
            used.engine.shown_name().to_owned(),
            optional(used.build.as_deref(), |build| builds::short(build).to_owned()),
            used.engine.sha256_short(),
            count(used.games),
        ]);
    }
    let has_builds = report.engines.engines.iter().any(|used| used.build.is_some());
    let notes = has_builds.then(|| BUILD_NOTE.to_owned()).into_iter().chain(mixes(report));
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
