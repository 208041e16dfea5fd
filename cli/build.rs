//! Tells the program which commit it is built of, and how it is compiled. Without git, or outside of a checkout of
//! this project, the commit is empty; whoever packages it can say it: SPELRUM_COMMIT.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=SPELRUM_COMMIT");
    let commit = env::var("SPELRUM_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = commit.or_else(checked_out).unwrap_or_default();
    println!("cargo:rustc-env=SPELRUM_COMMIT={commit}");
    println!("cargo:rustc-env=SPELRUM_PROFILE={}", env::var("PROFILE").unwrap_or_default());
}

/// The commit that is checked out here. What of git tells that another one is, cargo watches.
fn checked_out() -> Option<String> {
    // A directory of another project, or one that git ignores, has its own commits.
    if git(&["ls-files", "--full-name", "Cargo.toml"])? != "cli/Cargo.toml" {
        return None;
    }
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_default();
    for watched in ["HEAD", "logs/HEAD", "packed-refs", &branch] {
        let path = git(&["rev-parse", "--git-path", watched]);
        // What is not there would count as changed at every build.
        if let Some(path) = path.filter(|path| !watched.is_empty() && Path::new(path).is_file()) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "HEAD"]).filter(|commit| commit.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A line that git says, if it does.
fn git(arguments: &[&str]) -> Option<String> {
    let said = Command::new("git").args(arguments).output().ok()?;
    let line = String::from_utf8(said.stdout).ok()?.trim().to_owned();
    (said.status.success() && !line.is_empty()).then_some(line)
}
