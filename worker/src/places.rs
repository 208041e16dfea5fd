//! The coordinator's addresses, and which of them calls go to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use spelrum_proto::Bearer;
use spelrum_proto::limits::MESSAGE_BYTES_MAX;
use spelrum_proto::v1::work_client::WorkClient;

use crate::Address;
use crate::requests::Client;

/// How long connecting may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// The interval of keep-alive pings on an idle connection.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// The addresses, in the order in which they are tried.
pub(crate) struct Places {
    places: Vec<Place>,
    /// Where the coordinator answered last, or is tried next.
    current: AtomicUsize,
}

/// An address of the coordinator.
pub(crate) struct Place {
    number: usize,
    /// For people.
    pub(crate) address: String,
    pub(crate) client: Client,
}

impl Places {
    pub(crate) fn new<'a>(addresses: impl Iterator<Item = &'a Address>) -> Self {
        let places = addresses.enumerate().map(|(number, address)| Place::new(number, address));
        Self { places: places.collect(), current: AtomicUsize::new(0) }
    }

    /// Where the coordinator answered last, or is tried next.
    pub(crate) fn current(&self) -> &Place {
        &self.places[self.current.load(Ordering::Relaxed)]
    }

    /// Moves on to the next address, since the coordinator did not answer at this one. Of several calls that fail
    /// together, the first moves on.
    pub(crate) fn move_on_from(&self, place: &Place) {
        let next = (place.number + 1) % self.places.len();
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        let _moved = self.current.compare_exchange(place.number, next, success, failure);
    }
}

impl Place {
    fn new(number: usize, Address { endpoint, token }: &Address) -> Self {
        let address = endpoint.uri().to_string();
        let channel = endpoint
            .clone()
            .connect_timeout(CONNECT_PATIENCE)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .keep_alive_while_idle(true)
            .http2_adaptive_window(true)
            .connect_lazy();
        let client = WorkClient::with_interceptor(channel, Bearer::new(token.as_ref()))
            .max_decoding_message_size(MESSAGE_BYTES_MAX)
            .max_encoding_message_size(MESSAGE_BYTES_MAX);
        Self { number, address, client }
    }
}
