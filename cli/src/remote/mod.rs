//! A coordinator as a client reaches it: connections, retries and steering.

pub(crate) mod connection;
pub(crate) mod reconnecting;
pub(crate) mod retry_when_busy;
pub(crate) mod steering;
