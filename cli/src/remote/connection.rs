//! A connection to a coordinator.

use std::error::Error as _;
use std::time::Duration;

use spelrum_answers::{ExperimentSummary, GetExperiment, SubmitSweep, SubmittedSweep};
use spelrum_proto::api::Api;
use spelrum_proto::limits::NAME_BYTES_MAX;
use spelrum_proto::{Bearer, Reason, Refusal, Token, TrustError};
use tonic::Status;
use tonic::transport::{Channel, Endpoint};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use uuid::Uuid;

use crate::arguments::{CoordinatorArguments, CoordinatorUrl};
use crate::config::{self, Target};
use crate::error::conversions::{failed_call, is_web_server, root_cause};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::sweeps::file::SweepFile;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Attempts at a greeting if the coordinator closes the connection before its answer is received.
const GREETINGS: u32 = 20;

/// Timeout of a greeting, long enough for a crowded machine.
const GREETING_PATIENCE: Duration = Duration::from_secs(60);

/// Connects to the coordinator named by the command line, the environment or the config file.
pub(crate) async fn connect(arguments: &CoordinatorArguments) -> Result<Api> {
    connect_to(&config::coordinator(arguments)?).await
}

/// Connects to a coordinator, at the first of its addresses where it can be reached.
pub(crate) async fn connect_to(target: &Target) -> Result<Api> {
    let mut connected = connect_to_one(target).await;
    for other in &target.others {
        match connected {
            Err(error) if error.exit() == Exit::Network => {
                connected = connect_to_one(other).await;
            }
            Ok(_) | Err(_) => break,
        }
    }
    connected
}

async fn connect_to_one(target: &Target) -> Result<Api> {
    let token = target.token.as_ref().map(|token| &token.value);
    Ok(Api::new(channel(&target.url.value, target.endpoint()?).await?, Bearer::new(token)))
}

/// Connects to a coordinator, or reports that it cannot be reached.
pub(crate) async fn connect_at(url: &CoordinatorUrl, token: Option<&Token>) -> Result<Api> {
    Ok(Api::new(channel(url, url.endpoint()).await?, Bearer::new(token)))
}

async fn channel(url: &CoordinatorUrl, endpoint: Endpoint) -> Result<Channel> {
    let action = format!("reach the coordinator at {url}");
    let connected = endpoint.connect_timeout(CONNECT_TIMEOUT).connect().await;
    let channel = connected.map_err(|error| {
        let failed = CliError::new(Exit::Network, &action);
        match TrustError::from_error(&error) {
            Some(TrustError { problem, remedy, .. }) => failed.because(problem).help(remedy),
            None => failed
                .because(root_cause(&error))
                .help("check the address, and that `spelrum coordinator` runs there"),
        }
    })?;
    match tokio::time::timeout(GREETING_PATIENCE, greet(&channel)).await {
        Ok(greeted) => greeted.map_err(|status| failed_call(&action, &status))?,
        Err(_) => {
            let seconds = GREETING_PATIENCE.as_secs();
            return Err(CliError::new(Exit::Network, action)
                .because(format!(
                    "the server at that address has not answered for {seconds} seconds"
                ))
                .help("check the address, and that `spelrum coordinator` runs there"));
        }
    }
    Ok(channel)
}

/// Checks that the server speaks gRPC and accepts the connection, by a call that needs no token. A server that refuses
/// a connection gives its reason and closes it; a call sent too late does not receive the reason, but the next one
/// may.
async fn greet(channel: &Channel) -> std::result::Result<(), Status> {
    let mut last = None;
    for _ in 0..GREETINGS {
        let request = HealthCheckRequest { service: String::new() };
        let Err(status) = HealthClient::new(channel.clone()).check(request).await else {
            return Ok(());
        };
        let is_lost = status.source().is_some() && TrustError::from_error(&status).is_none();
        if !is_lost {
            // Any answer of a gRPC service counts.
            let is_answer = status.source().is_none() && !is_web_server(&status);
            return if is_answer { Ok(()) } else { Err(status) };
        }
        last = Some(status);
    }
    last.map_or(Ok(()), Err)
}

/// Options of a submit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    /// Whether to create a new experiment even if one of the name exists.
    pub(crate) new_experiment: bool,
    /// Whether only to preview the submit.
    pub(crate) preview: bool,
}

/// The experiment of this name or UUID, if there is one.
pub(crate) async fn find(api: &Api, name: &str) -> Result<Option<ExperimentSummary>> {
    match api.call(&GetExperiment { experiment: name.to_owned() }).await {
        Ok(experiment) => Ok(Some(experiment)),
        Err(status) => match Refusal::from_status(&status) {
            Some(refusal) if refusal.reason == Reason::UnknownExperiment => Ok(None),
            _ => Err(failed_call(&format!("find experiment {name}"), &status)),
        },
    }
}

/// Submits a sweep under a new UUID, created here so that a repeated submit is a no-op.
pub(crate) async fn submit(api: &Api, sweep: &SweepFile, manner: Manner) -> Result<SubmittedSweep> {
    let request = SubmitSweep {
        experiment_uuid: Some(Uuid::new_v4().to_string()),
        sweep_toml: sweep.text.text.clone(),
        file_name: clipped(&sweep.text.name),
        files: sweep.text.files.clone(),
        preview: manner.preview,
        new_experiment: manner.new_experiment,
    };
    let submitted = api.call(&request).await;
    submitted.map_err(|status| failed_call(&format!("submit {}", sweep.text.name), &status))
}

/// The name for messages, shortened: paths and settings from the command line may be long.
fn clipped(name: &str) -> String {
    const CUT: &str = "…";
    if name.len() <= NAME_BYTES_MAX {
        return name.to_owned();
    }
    let end = name.floor_char_boundary(NAME_BYTES_MAX - CUT.len());
    format!("{}{CUT}", &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_clipped_between_characters() {
        assert_eq!(clipped("sweeps/nim.toml"), "sweeps/nim.toml");
        for name in ["x".repeat(256), "ä".repeat(128), format!("x{}", "ä".repeat(200))] {
            let clipped = clipped(&name);
            assert!(clipped.len() <= NAME_BYTES_MAX && clipped.len() > NAME_BYTES_MAX - 5);
            assert!(name.starts_with(clipped.strip_suffix('…').unwrap()));
        }
    }
}
