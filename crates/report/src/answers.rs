//! The answers that a report is made of.

use spelrum_answers::{Comparisons, Overview, Phases, Ratings, Report};

use crate::error::{Error, Kind, Result};

/// Answers about an experiment; each is `None` if it was not needed or not available.
#[derive(Debug, Default)]
pub struct Answers {
    /// The results by cell.
    pub report: Option<Report>,
    /// Strength of players on one scale.
    pub ratings: Option<Ratings>,
    /// The differences between cells.
    pub comparisons: Option<Comparisons>,
    /// The times of moves by phase.
    pub phases: Option<Phases>,
    /// How games were played.
    pub overview: Option<Overview>,
}

impl Answers {
    pub(crate) fn report(&self) -> Result<&Report> {
        require(self.report.as_ref(), "results by cell")
    }

    pub(crate) fn ratings(&self) -> Result<&Ratings> {
        require(self.ratings.as_ref(), "ratings")
    }

    pub(crate) fn comparisons(&self) -> Result<&Comparisons> {
        require(self.comparisons.as_ref(), "comparisons")
    }

    pub(crate) fn phases(&self) -> Result<&Phases> {
        require(self.phases.as_ref(), "times by phase")
    }

    pub(crate) fn overview(&self) -> Result<&Overview> {
        require(self.overview.as_ref(), "figures of how games were played")
    }
}

fn require<'a, T>(answer: Option<&'a T>, name: &str) -> Result<&'a T> {
    answer.ok_or_else(|| {
        Error::new(Kind::Internal, "write the report").because(format!("it has no {name}"))
    })
}
