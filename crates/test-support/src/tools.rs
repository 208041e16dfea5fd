//! Programs and rights that a test uses beyond Rust and a C compiler. A test asks for them before anything else, and
//! is skipped by name where this machine lacks one; where nothing may be skipped, as in CI, it fails.

use std::fmt::Display;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Set where a skipped test is a failure.
pub const SKIP_NOTHING: &str = "SPELRUM_SKIP_NOTHING";

/// Programs of this machine, each found on the `PATH`.
#[derive(Clone, Copy)]
pub struct Tools(&'static [&'static str]);

impl Tools {
    /// `None`, and the calling test is skipped, if one of them is missing.
    ///
    /// # Panics
    ///
    /// If one is missing where nothing may be skipped.
    #[track_caller]
    pub fn find(programs: &'static [&'static str]) -> Option<Self> {
        Self::look_for(programs).inspect_err(|why| skip(why)).ok()
    }

    /// The same for a test that goes on without them.
    ///
    /// # Errors
    ///
    /// Which are missing, in words.
    pub fn look_for(programs: &'static [&'static str]) -> Result<Self, String> {
        let is_missing = |program: &&str| path_of(program).is_none();
        let missing: Vec<&str> = programs.iter().copied().filter(is_missing).collect();
        if missing.is_empty() {
            return Ok(Self(programs));
        }
        Err(format!("it needs {} on the PATH", missing.join(", ")))
    }

    /// `curl`, if it speaks HTTP/2. Skips and panics as [`Self::find`].
    #[track_caller]
    pub fn find_curl_with_http2() -> Option<Self> {
        let tools = Self::find(&["curl"])?;
        let version = tools.command("curl").arg("--version").stdin(Stdio::null()).output();
        if version.is_ok_and(|ran| String::from_utf8_lossy(&ran.stdout).contains("HTTP2")) {
            return Some(tools);
        }
        skip("it needs a curl that speaks HTTP/2");
        None
    }

    /// One of the programs.
    ///
    /// # Panics
    ///
    /// If the test did not ask for it.
    #[track_caller]
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        assert!(self.0.contains(&program), "a test uses {program} and did not ask for it");
        Command::new(program)
    }
}

/// Where a program is: the first of its name on the `PATH`.
#[must_use]
pub fn path_of(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let directories = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
    directories.map(|directory| directory.join(program)).find(|file| file.is_file())
}

/// Reports that the calling test is skipped, and why. The test returns next.
///
/// # Panics
///
/// Where nothing may be skipped.
#[track_caller]
pub fn skip(reason: impl Display) {
    assert!(std::env::var_os(SKIP_NOTHING).is_none(), "nothing may be skipped here: {reason}");
    // The test runner names a test's thread after the test.
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // Not by a macro, whose output the test runner keeps to itself.
    let line = format!("skipped {test}: {reason}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}
