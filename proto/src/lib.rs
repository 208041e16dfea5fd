//! The gRPC contract `spelrum.v1`, and its conversions from and to the project's own types.
//!
//! Only this crate knows wire types' details: the coordinator and the worker convert at the edge.

/// The generated messages, clients and servers.
#[expect(missing_docs, reason = "generated; the contract's comments are in spelrum.proto")]
pub mod v1 {
    tonic::include_proto!("spelrum.v1");
}

/// The protocol's major number: equal majors work together.
pub const PROTOCOL_MAJOR: u32 = 1;
/// The protocol's minor number: fields were added.
pub const PROTOCOL_MINOR: u32 = 0;

/// The contract's descriptors, for the reflection service.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/spelrum.v1.bin"));
