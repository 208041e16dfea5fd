//! How an experiment's games were played, from a file or a coordinator.

use spelrum_answers::{ExperimentSummary, Overview};
use spelrum_proto::results::OverviewReader;
use spelrum_proto::v1;

use super::source::{ResultsSource, gone};
use crate::error::Result;
use crate::error::conversions::{failed_call, malformed};
use crate::remote::retry_when_busy::take_turn;

impl ResultsSource {
    /// How the experiment's games were played, from one snapshot.
    pub(crate) async fn overview(&self, experiment: &ExperimentSummary) -> Result<Overview> {
        let action = format!("read how the games of {} were played", experiment.name);
        let remote = match self {
            Self::File(readers) => {
                let overview = readers.overview(&experiment.uuid).await?;
                return overview.ok_or_else(|| gone(action));
            }
            Self::Coordinator(remote) => remote,
        };
        let request = v1::GetOverviewRequest { experiment: experiment.uuid.clone() };
        let parts =
            take_turn(async || remote.results.clone().get_overview(request.clone()).await).await;
        let mut parts = parts.map_err(|status| failed_call(&action, &status))?.into_inner();
        let mut overview = OverviewReader::default();
        while let Some(part) =
            parts.message().await.map_err(|status| failed_call(&action, &status))?
        {
            overview.take(part).map_err(|error| malformed(&action, &error))?;
        }
        overview.finish().map_err(|error| malformed(&action, &error))
    }
}
