//! A remote coordinator: connections, retries and steering.

pub(crate) mod connection;
pub(crate) mod pushing;
pub(crate) mod reconnecting;
pub(crate) mod retry_when_busy;
pub(crate) mod steering;
