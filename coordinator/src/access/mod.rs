//! Access control: tokens and client certificates with roles.
//!
//! A token is a secret that callers send. Each token has roles ([`Role`]), and each call of a service needs one. The
//! tokens of a coordinator are in a file apart from the results, which stores only their hashes ([`TokenBook`]); in
//! addition there can be one token with full access, which its owner keeps in a file or the environment. A client
//! certificate, verified in the TLS handshake, states the same about its holder (`Certified`). `Guard` checks every
//! call.

mod book;
mod certified;
mod credential;
mod file;
mod guard;
mod role;
mod sessions;

pub use book::{BookError, TOKENS_MAX, TokenBook, TokenEntry};
pub(crate) use certified::Certified;
pub use certified::certificate_uris;
pub(crate) use credential::{CalledBy, CalledFrom, Credential, Passed};
pub use file::read_small_file;
pub(crate) use guard::Guard;
pub(crate) use role::API_PREFIX;
pub use role::{Role, Roles};
pub(crate) use sessions::Sessions;
