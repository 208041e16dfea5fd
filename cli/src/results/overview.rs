//! How an experiment's games were played, from a file or a coordinator.

use spelrum_proto::results::OverviewReader;
use spelrum_proto::v1;
use spelrum_tournament::results::{ExperimentSummary, Overview};
use tonic::Code;

use super::{ResultsSource, gone};
use crate::causes::{failed_call, malformed};
use crate::error::Result;
use crate::turn::take_turn;

impl ResultsSource {
    /// How its games were played, all of one moment. Nothing if the coordinator is of a release that does not tell
    /// it.
    pub(crate) async fn overview(&self, of: &ExperimentSummary) -> Result<Option<Overview>> {
        let action = format!("tell how the games of {} were played", of.name);
        let remote = match self {
            Self::File(readers) => {
                let overview = readers.overview(&of.uuid).await?;
                return overview.map(Some).ok_or_else(|| gone(action));
            }
            Self::Coordinator(remote) => remote,
        };
        let request = v1::GetOverviewRequest { experiment: of.uuid.clone() };
        let mut parts =
            match take_turn(async || remote.results.clone().get_overview(request.clone()).await)
                .await
            {
                Ok(parts) => parts.into_inner(),
                Err(status) if status.code() == Code::Unimplemented => return Ok(None),
                Err(status) => return Err(failed_call(&action, &status)),
            };
        let mut overview = OverviewReader::default();
        while let Some(part) =
            parts.message().await.map_err(|status| failed_call(&action, &status))?
        {
            overview.take(part).map_err(|error| malformed(&action, &error))?;
        }
        Ok(Some(overview.finish().map_err(|error| malformed(&action, &error))?))
    }
}
