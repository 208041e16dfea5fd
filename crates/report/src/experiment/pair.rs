//! Comparison of two experiments.

use std::io::{BufWriter, Write};

use maud::Markup;
use spelrum_answers::{ExperimentSummary, Overview, Report, SideBySide};
use spelrum_model::Task;

use super::checks::reject_game_tables;
use super::formats::{ReportFormat, Shown};
use crate::data::{write_csv, write_json};
use crate::document::LatexStyle;
use crate::error::{Error, Kind, Result};
use crate::match_block;
use crate::tables::side_by_side::PairReport;

/// Two experiments with their matching cells.
pub struct Pair<'r> {
    reports: [&'r Report; 2],
    matched: SideBySide<'r>,
}

impl<'r> Pair<'r> {
    /// Checks that two experiments can be compared, before their results are requested.
    ///
    /// # Errors
    /// If they are the same, or one has no games.
    pub fn check(experiments: [&ExperimentSummary; 2]) -> Result<()> {
        for experiment in experiments {
            if experiment.task == Task::Choice {
                reject_game_tables(experiment, Shown::Compared)?;
            }
        }
        if experiments[0].uuid == experiments[1].uuid {
            return Err(failed(experiments)
                .because("they are the same experiment")
                .help("name another one"));
        }
        Ok(())
    }

    /// Matches the cells of two experiments by their players and their places on the axes.
    ///
    /// # Errors
    /// If no cells match.
    pub fn new(experiments: [&ExperimentSummary; 2], reports: [&'r Report; 2]) -> Result<Self> {
        let matched = SideBySide::new(reports[0], reports[1]);
        if matched.cells.is_empty() {
            return Err(failed(experiments)
                .because("no cell of either has a counterpart in the other, with the same player names and the same values on the axes that both have")
                .help("show each by itself: spelrum report NAME"));
        }
        Ok(Self { reports, matched })
    }

    /// Both as the contents of a page, with how each was played where known.
    pub(crate) fn markup(&self, overviews: [Option<&Overview>; 2]) -> Result<Markup> {
        let document = self.report(overviews).document();
        Ok(document.html_contents("", std::iter::empty(), &[], None)?)
    }

    fn report<'p>(&'p self, overviews: [Option<&'p Overview>; 2]) -> PairReport<'p> {
        PairReport { reports: self.reports, overviews, matched: &self.matched }
    }

    /// Writes both, with how each was played where known.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn write(
        &self,
        overviews: [Option<&Overview>; 2],
        format: ReportFormat,
        latex: LatexStyle,
        out: &mut dyn Write,
    ) -> Result<()> {
        let mut out = BufWriter::new(out);
        let report = self.report(overviews);
        match format {
            ReportFormat::Text => report.document().write_text(&mut out)?,
            ReportFormat::Markdown => report.document().write_markdown(&mut out)?,
            ReportFormat::Latex => report.document().write_latex(latex, &mut out)?,
            ReportFormat::Html => {
                let by = concat!("spelrum ", env!("CARGO_PKG_VERSION")).to_owned();
                let facts = [("page by", by)].into_iter();
                report.document().write_html("", facts, &[], &mut out)?;
            }
            ReportFormat::Csv => {
                let rows = report.json().cells.csv(&self.reports[0].experiment.name);
                write_csv(&mut out, &rows.headings, &rows.rows)?;
            }
            ReportFormat::Match => {
                for report in self.reports {
                    match_block::write(report, &mut out)?;
                }
            }
            ReportFormat::Json => write_json(&mut out, &report.json())?,
        }
        out.flush()?;
        Ok(())
    }
}

fn failed([first, second]: [&ExperimentSummary; 2]) -> Error {
    Error::new(Kind::Input, format!("show {} with {}", first.name, second.name))
}
