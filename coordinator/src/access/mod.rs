//! Who may do what: tokens and client certificates with roles.
//!
//! A token is a secret that whoever calls brings along. Each has roles ([`Role`]), and each call of a
//! service needs one. The tokens of a coordinator are in a file apart from the results, of which only
//! their hashes are known ([`TokenBook`]); beside them there may be one token that may do everything,
//! which its owner keeps in a file or the environment. A client certificate, by which somebody has proved
//! who they are when TLS began, says the same of them (`Certified`). `Guard` looks at every call.

mod book;
mod certified;
mod credential;
mod file;
mod guard;
mod role;

pub use book::{BookError, TOKENS_MAX, TokenBook, TokenEntry};
pub(crate) use certified::Certified;
pub use certified::certificate_uris;
pub(crate) use credential::{CalledBy, Credential};
pub use file::read_small_file;
pub(crate) use guard::Guard;
pub use role::{Role, Roles};
