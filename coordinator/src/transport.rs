//! How a call came.

/// The transport of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// By TLS, so that our own pages are https://, too.
    Tls,
    /// Without TLS, maybe from a proxy that speaks TLS with a page.
    Plain,
}
