//! What let a call through, by its name.

use std::sync::Arc;

/// The name of what let a call through: a token's, a client certificate's, or that of the coordinator's owner, whose
/// tokens have none. No secret.
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

/// What let a call through, as services find it on the call; `None` where nothing is demanded.
#[derive(Clone, Debug)]
pub(crate) struct CalledBy(pub(crate) Option<Credential>);
