//! Reaching a coordinator as a client.

use std::time::Duration;

use spelrum_proto::limits::MESSAGE_BYTES_MAX;
use spelrum_proto::v1::experiments_client::ExperimentsClient;
use tonic::transport::Channel;

use crate::arguments::CoordinatorUrl;
use crate::causes::root_cause;
use crate::error::{CliError, Result};
use crate::exit::Exit;

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
