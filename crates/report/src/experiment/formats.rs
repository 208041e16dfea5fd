//! What a report shows, and in which format.

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
    /// Everything
    Json,
}

/// What of the results is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Cells and moves, and ratings where they say what the cells do not.
    Usual,
    /// The same with what moves cost at each depth.
    WithDepths,
    /// Ratings and who met whom, at all points of the grid.
    Ratings,
    /// What changes from cell to cell.
    Compared,
    /// How long moves take by phase.
    Phases,
    /// One table.
    Table(TableName),
}
