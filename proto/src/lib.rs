//! The workers' gRPC contract `spelrum.v1` with its conversions from and to the project's own types, and the client of
//! the coordinator's JSON API ([`api`]).
//!
//! It depends on the types that travel (model, answers) and must never know how they are stored, decided or shown.
//! Wire types stay within this crate: the coordinator and the worker convert at the edge. Messages are parsed
//! once, in [`work`], [`speeds`], [`game`] and [`training`], into types that cannot be malformed; a malformed
//! one is a [`WireError`] that names the field. The API's calls and answers are types of `spelrum_answers`. Refusals
//! that a program must distinguish travel as a [`Refusal`], in a gRPC status or in a [`problem`]:
//!
//! ```
//! use spelrum_proto::{Reason, Refusal};
//! use tonic::Status;
//!
//! let refusal =
//!     Refusal::new(Reason::UnknownExperiment, "no experiment is named `nim`", "spelrum list");
//! let received = Refusal::from_status(&Status::from(refusal)).expect("a refusal");
//! assert_eq!(received.reason, Reason::UnknownExperiment);
//! assert_eq!(received.remedy, "spelrum list");
//! ```

pub mod api;
mod capabilities;
pub mod engines;
pub mod game;
pub mod labels;
pub mod limits;
pub mod names;
pub mod problem;
mod refusal;
mod secret;
pub mod speeds;
mod token;
pub mod training;
mod trust_error;
mod wire_error;
pub mod work;

pub use refusal::{Place, Reason, Refusal};
pub use secret::WorkerSecret;
pub use token::{Bearer, TOKEN_BYTES_MAX, Token, TokenError, presented_token};
pub use trust_error::{SPEAKS_TLS, TrustError};
pub use wire_error::{Fault, WireError};

/// The generated messages, clients and servers.
#[expect(
    missing_docs,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    reason = "generated; the contract's comments are in proto/spelrum/v1"
)]
pub mod v1 {
    tonic::include_proto!("spelrum.v1");
}

/// The protocol's number. A worker and a coordinator must have the same one.
pub const PROTOCOL: u32 = 1;

/// The contract's descriptors, for the reflection service.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/spelrum.v1.bin"));
