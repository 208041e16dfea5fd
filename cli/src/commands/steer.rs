//! `spelrum pause`, `resume`, `cancel`: steering an experiment.

use std::io::Write as _;

use clap::Args;
use spelrum_proto::v1;

use crate::arguments::CoordinatorArguments;
use crate::causes::failed_call;
use crate::error::Result;
use crate::exit::Exit;
use crate::{remote, summary};

/// Stop handing out an experiment's games until it is resumed
#[derive(Args, Debug)]
#[command(after_help = "Games that are leased are still played and counted.\n\n\
    Example:\n  spelrum pause pentago-depth --coordinator http://127.0.0.1:7878")]
pub(crate) struct Pause {
    #[command(flatten)]
    of: Of,
}

/// Hand out a paused experiment's games again
#[derive(Args, Debug)]
#[command(after_help = "\
    Example:\n  spelrum resume pentago-depth --coordinator http://127.0.0.1:7878")]
pub(crate) struct Resume {
    #[command(flatten)]
    of: Of,
}

/// End an experiment for good; what was counted stays
#[derive(Args, Debug)]
#[command(after_help = "This is final: workers drop its games, and it cannot be resumed.\n\n\
    Example:\n  spelrum cancel pentago-depth --coordinator http://127.0.0.1:7878")]
pub(crate) struct Cancel {
    #[command(flatten)]
    of: Of,
}

#[derive(Args, Debug)]
struct Of {
    /// The experiment's name or UUID
    experiment: String,
    #[command(flatten)]
    coordinator: CoordinatorArguments,
}

impl Pause {
    /// Pauses.
    pub(crate) async fn run(self) -> Result<Exit> {
        self.of.steer(v1::Action::Pause, "pause").await
    }
}

impl Resume {
    /// Resumes.
    pub(crate) async fn run(self) -> Result<Exit> {
        self.of.steer(v1::Action::Resume, "resume").await
    }
}

impl Cancel {
    /// Cancels.
    pub(crate) async fn run(self) -> Result<Exit> {
        self.of.steer(v1::Action::Cancel, "cancel").await
    }
}

impl Of {
    async fn steer(self, action: v1::Action, verb: &str) -> Result<Exit> {
        let mut client = remote::connect(&self.coordinator).await?;
        let request = v1::SteerRequest {
            experiment: self.experiment.clone(),
            action: action.into(),
            priority: None,
        };
        let answer = client
            .steer(request)
            .await
            .map_err(|status| failed_call(&format!("{verb} {}", self.experiment), &status))?
            .into_inner();
        let mut out = anstream::stdout().lock();
        if let Some(experiment) = answer.experiment {
            summary::experiments_table(&[experiment]).write(&mut out)?;
        }
        out.flush()?;
        Ok(Exit::Success)
    }
}
