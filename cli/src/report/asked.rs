//! Answers that an older coordinator may lack, where a user asked for them by name.

use spelrum_tournament::results::{Comparisons, ExperimentSummary, Overview, Phases, Ratings};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::results::ResultsSource;

pub(super) async fn comparisons(
    source: &ResultsSource,
    of: &ExperimentSummary,
) -> Result<Comparisons> {
    source.comparisons(of).await?.ok_or_else(|| {
        CliError::new(Exit::Input, format!("compare the cells of {}", of.name))
            .because("the coordinator is of an earlier release, which compares none")
            .help("update it, or read its database: spelrum report --compare --db FILE")
    })
}

/// How long moves took by phase, where moves are recorded.
pub(super) async fn phases_of(source: &ResultsSource, of: &ExperimentSummary) -> Result<Phases> {
    let failed = || CliError::new(Exit::Input, format!("tell the phases of {}", of.name));
    let phases = source.phases(of).await?.ok_or_else(|| {
        failed()
            .because("the coordinator is of an earlier release, which does not tell them")
            .help("update it, or read its database: spelrum report --phases --db FILE")
    })?;
    if !phases.moves_recorded {
        return Err(failed()
            .because(
                "its moves are not kept: its sweep says record = \"games\", or they were pruned",
            )
            .help("play it with record = \"moves\""));
    }
    Ok(phases)
}

pub(super) async fn asked_for(source: &ResultsSource, of: &ExperimentSummary) -> Result<Ratings> {
    source.ratings(of).await?.ok_or_else(|| {
        CliError::new(Exit::Input, format!("rate the players of {}", of.name))
            .because("the coordinator is of an earlier release, which has no ratings")
            .help("update it, or read its database: spelrum report --ratings --db FILE")
    })
}

pub(super) async fn overview_of(
    source: &ResultsSource,
    of: &ExperimentSummary,
) -> Result<Overview> {
    source.overview(of).await?.ok_or_else(|| {
        CliError::new(Exit::Input, format!("tell how the games of {} were played", of.name))
            .because("the coordinator is of an earlier release, which does not tell it")
            .help("update it, or read its database: spelrum report --table workers --db FILE")
    })
}
