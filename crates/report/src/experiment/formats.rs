//! Contents and formats of a report.

use clap::ValueEnum;

use crate::tables::TableName;

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Aligned columns, to read
    Text,
    /// Tables as GitHub reads them
    Markdown,
    /// Tables with captions and labels, to be taken in with \input
    Latex,
    /// A page that stands alone, with plots
    Html,
    /// One table, with all digits
    Csv,
    /// The block that match runners print, for each match
    Match,
    /// Everything
    Json,
}

/// Contents of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Cells and moves, and ratings where they add to the cells.
    Usual,
    /// The same with costs of moves at each depth.
    WithDepths,
    /// Ratings and meetings, at all points of the grid.
    Ratings,
    /// Changes from cell to cell.
    Compared,
    /// Time per move by phase.
    Phases,
    /// One table.
    Table(TableName),
}
