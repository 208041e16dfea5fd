//! This program's build, as recorded by `build.rs`.

use spelrum_worker::Build;

/// This build.
pub(crate) fn current() -> Build {
    Build { commit: env!("SPELRUM_COMMIT").to_owned(), profile: env!("SPELRUM_PROFILE").to_owned() }
}
