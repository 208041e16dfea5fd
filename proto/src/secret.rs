//! The secret by which a worker proves its identity, and debug output of messages without it.

use std::fmt;

use crate::wire_error::WireError;
use crate::{Fault, v1};

/// Bytes of a secret.
const SECRET_BYTES: usize = 32;

/// A worker's secret: Hello's answer brings it, and each later call of the worker carries it. Never printed.
#[derive(Clone, Copy)]
pub struct WorkerSecret([u8; SECRET_BYTES]);

impl WorkerSecret {
    /// A secret of random bytes.
    #[must_use]
    pub const fn new(random: [u8; SECRET_BYTES]) -> Self {
        Self(random)
    }

    /// Reads the field of a message; `None` if it is empty.
    ///
    /// # Errors
    /// If the field has another length.
    pub fn from_wire(field: &[u8]) -> Result<Option<Self>, WireError> {
        if field.is_empty() {
            return Ok(None);
        }
        let bytes = field.len();
        let secret = field.try_into().map(Self);
        let wrong = |_| WireError::new("worker_secret", Fault::NotASecret { bytes });
        secret.map(Some).map_err(wrong)
    }

    /// The field of a message: empty without a secret.
    #[must_use]
    pub fn to_wire(secret: Option<Self>) -> Vec<u8> {
        secret.map_or_else(Vec::new, |secret| secret.0.to_vec())
    }

    /// The bytes, for a hash of them.
    #[must_use]
    pub const fn expose(&self) -> &[u8; SECRET_BYTES] {
        &self.0
    }
}

impl fmt::Debug for WorkerSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkerSecret(hidden)")
    }
}

/// Prints some fields of a message, and an ellipsis for the others.
macro_rules! print_some {
    ($($message:ident: $($field:ident),+;)+) => {$(
        impl fmt::Debug for v1::$message {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($message))
                    $(.field(stringify!($field), &self.$field))+
                    .finish_non_exhaustive()
            }
        }
    )+};
}

print_some! {
    HelloRequest: protocol, worker_uuid, name, host, slots, version, engines, labels;
    HelloResponse: protocol, worker_id, coordinator_epoch, database_uuid;
    LeaseRequest: worker_id, coordinator_epoch, slots, speeds;
    ReportRequest: worker_id, coordinator_epoch, results;
    HeartbeatRequest: worker_id, coordinator_epoch, lease_ids, playing, followed;
    GiveBackRequest: worker_id, coordinator_epoch, lease_ids;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_travels_as_it_is_and_only_whole() {
        let secret = WorkerSecret::new([7; SECRET_BYTES]);
        let read = WorkerSecret::from_wire(&WorkerSecret::to_wire(Some(secret))).unwrap().unwrap();
        assert_eq!(read.expose(), secret.expose());
        assert!(WorkerSecret::from_wire(&WorkerSecret::to_wire(None)).unwrap().is_none());
        for bytes in [1, 31, 33] {
            let error = WorkerSecret::from_wire(&vec![7; bytes]).unwrap_err().to_string();
            assert!(error.contains("worker_secret") && !error.contains('7'), "{error}");
        }
    }

    #[test]
    fn no_message_prints_a_secret() {
        let worker_secret = vec![0xab; SECRET_BYTES];
        let printed = [
            format!("{:?}", WorkerSecret::new([0xab; SECRET_BYTES])),
            format!(
                "{:?}",
                v1::HelloRequest { worker_secret: worker_secret.clone(), ..Default::default() }
            ),
            format!(
                "{:?}",
                v1::HelloResponse { worker_secret: worker_secret.clone(), ..Default::default() }
            ),
            format!(
                "{:?}",
                v1::LeaseRequest { worker_secret: worker_secret.clone(), ..Default::default() }
            ),
            format!(
                "{:?}",
                v1::ReportRequest { worker_secret: worker_secret.clone(), ..Default::default() }
            ),
            format!(
                "{:?}",
                v1::HeartbeatRequest { worker_secret: worker_secret.clone(), ..Default::default() }
            ),
            format!("{:?}", v1::GiveBackRequest { worker_secret, ..Default::default() }),
        ];
        for text in printed {
            assert!(!text.contains("171") && !text.contains("secret:"), "{text}");
        }
    }
}
