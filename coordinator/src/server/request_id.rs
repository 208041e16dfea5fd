//! A call's name in the log.

use std::fmt::{self, Display};
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::HeaderMap;
use uuid::Uuid;

/// The header in which a client, or a proxy before us, names its call.
const HEADER: &str = "x-request-id";

/// Longer names are ignored: the name is written with every line of the call.
const LENGTH_MAX: usize = 64;

/// Names calls that have no name.
#[derive(Debug)]
pub(super) struct RequestIds(AtomicU64);

/// A call's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestId<'h> {
    /// Given by the caller.
    Brought(&'h str),
    /// Generated here.
    Made(u64),
}

impl RequestIds {
    /// Starts at a random number, so that the names of two starts differ.
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(Uuid::new_v4().as_u64_pair().0))
    }

    /// The name that a call brings, if plain and short, or a new one.
    pub(super) fn request_id<'h>(&self, headers: &'h HeaderMap) -> RequestId<'h> {
        let name = headers.get(HEADER).and_then(|name| name.to_str().ok());
        match name.filter(|name| is_plain(name)) {
            Some(name) => RequestId::Brought(name),
            None => RequestId::Made(self.0.fetch_add(1, Ordering::Relaxed)),
        }
    }
}

/// Whether a name in a log line cannot be mistaken for anything else.
fn is_plain(name: &str) -> bool {
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    (1..=LENGTH_MAX).contains(&name.len()) && name.bytes().all(is_of_names)
}

impl Display for RequestId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Brought(name) => f.write_str(name),
            Self::Made(number) => write!(f, "{number:016x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_plain_name_is_taken_and_no_other() {
        let ids = RequestIds(AtomicU64::new(u64::MAX));
        let id_for = |name: &[u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_bytes(name).unwrap());
            ids.request_id(&headers).to_string()
        };
        let longest = "a".repeat(LENGTH_MAX);
        for plain in ["7", "a-b_c.D9", "4bf92f35-77b3-4da6-a3ce-929d0e0e4736", &*longest] {
            assert_eq!(id_for(plain.as_bytes()), plain);
        }
        assert_eq!(id_for(b""), "ffffffffffffffff");
        let long = "a".repeat(LENGTH_MAX + 1);
        let foreign: [&[u8]; 6] =
            [b"a b", b"a=1", b"a\tb", b"\"", "\u{e9}".as_bytes(), long.as_bytes()];
        for (made, foreign) in foreign.into_iter().enumerate() {
            assert_eq!(id_for(foreign), format!("{made:016x}"), "{foreign:?}");
        }
        assert_eq!(
            ids.request_id(&HeaderMap::new()).to_string(),
            "0000000000000006",
            "none was brought"
        );
    }
}
