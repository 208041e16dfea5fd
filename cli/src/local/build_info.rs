//! Which program this is: what `build.rs` learnt when it was built.

use spelrum_worker::Build;

/// This one.
pub(crate) fn this() -> Build {
    Build { commit: env!("SPELRUM_COMMIT").to_owned(), profile: env!("SPELRUM_PROFILE").to_owned() }
}
