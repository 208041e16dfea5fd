//! The credential that let a call through, by name.

use std::net::IpAddr;
use std::sync::Arc;

/// The name of a credential: a token's, a client certificate's, or that of the coordinator's owner, whose tokens have
/// none. Not a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Credential(Arc<str>);

impl Credential {
    /// The owner's token, or that of the coordinator's own process.
    pub(super) fn owner() -> Self {
        Self("owner".into())
    }

    /// A token of the file, by its name.
    pub(crate) fn token(name: &str) -> Self {
        Self(format!("token:{name}").into())
    }

    /// Client certificates of this name.
    pub(crate) fn certificate(name: &str) -> Self {
        Self(format!("certificate:{name}").into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The credential of a call, as attached for the services; `None` if none is required.
#[derive(Clone, Debug)]
pub(crate) struct CalledBy(pub(crate) Option<Credential>);

/// The address from which a call came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CalledFrom(pub(crate) IpAddr);

/// Marks a call that has passed. Services check for it, in case a path that leads to a service is not recognised as one
/// here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed;
