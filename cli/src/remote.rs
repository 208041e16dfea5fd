//! A coordinator as a client reaches it.

use std::time::Duration;

use spelrum_proto::limits::MESSAGE_BYTES_MAX;
use spelrum_proto::v1;
use spelrum_proto::v1::experiments_client::ExperimentsClient;
use tonic::transport::Channel;
use uuid::Uuid;

use crate::arguments::CoordinatorUrl;
use crate::causes::{failed_call, root_cause};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::sweep_file::SweepFile;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Connects to a coordinator, or says that it cannot be reached.
pub(crate) async fn connect(url: &CoordinatorUrl) -> Result<ExperimentsClient<Channel>> {
    let channel =
        url.endpoint().connect_timeout(CONNECT_TIMEOUT).connect().await.map_err(|error| {
            CliError::new(Exit::Network, format!("reach the coordinator at {url}"))
                .because(root_cause(&error))
                .help("check the address, and that `spelrum coordinator` runs there")
        })?;
    Ok(ExperimentsClient::new(channel).max_decoding_message_size(MESSAGE_BYTES_MAX))
}

/// Submits a sweep under a new UUID: made here, so that a repeated submit is a no-op.
pub(crate) async fn submit(
    client: &mut ExperimentsClient<Channel>,
    sweep: &SweepFile,
) -> Result<v1::SubmitResponse> {
    let request = v1::SubmitRequest {
        experiment_uuid: Uuid::new_v4().to_string(),
        sweep_toml: sweep.text.text.clone(),
        file_name: sweep.text.name.clone(),
    };
    let answer = client
        .submit(request)
        .await
        .map_err(|status| failed_call(&format!("submit {}", sweep.text.name), &status))?;
    Ok(answer.into_inner())
}
