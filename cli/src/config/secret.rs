//! Tokens in files.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use spelrum_proto::{TOKEN_BYTES_MAX, Token};

use super::{Origin, Sourced};
use crate::error::{CliError, Result, warn};
use crate::exit::Exit;

/// Readable by the group, or by everyone.
const READABLE_BY_OTHERS: u32 = 0o044;

/// A token in the config file.
#[derive(Clone, Debug)]
pub(crate) enum Secret {
    /// `token = "…"`
    Inline(Sourced<Token>),
    /// `token_file = "…"`
    InFile(Sourced<PathBuf>),
}

impl Secret {
    /// Reads the token. Warns if other users can read it, too.
    pub(crate) fn read(&self) -> Result<Sourced<Token>> {
        match self {
            Self::Inline(token) => {
                if let Origin::File { path, .. } = &token.origin
                    && let Ok(metadata) = path.metadata()
                {
                    warn_if_others_read(path, &metadata);
                }
                Ok(token.clone())
            }
            Self::InFile(path) => {
                Ok(Sourced { value: token_in(&path.value)?, origin: path.origin.clone() })
            }
        }
    }
}

/// The token that a file consists of. Warns if other users can read it, too.
pub(super) fn token_in(path: &Path) -> Result<Token> {
    let failed = || CliError::new(Exit::Usage, format!("read the token in {}", path.display()));
    let mut text = String::new();
    let opened = File::open(path).and_then(|file| {
        let metadata = file.metadata()?;
        // Allows for white space, and a byte beyond the limit.
        file.take(TOKEN_BYTES_MAX as u64 + 64).read_to_string(&mut text)?;
        Ok(metadata)
    });
    let metadata = opened.map_err(|error| {
        failed().because(error).help(format!(
            "write a token into it that nobody can guess: \
             (umask 077; openssl rand -hex 32 >{})",
            path.display()
        ))
    })?;
    // Windows editors begin files with a byte order mark.
    let token = text.trim_start_matches('\u{feff}').parse().map_err(|error| {
        failed().because(error).help("a token file holds one line of visible ASCII, the token")
    })?;
    warn_if_others_read(path, &metadata);
    Ok(token)
}

fn warn_if_others_read(path: &Path, metadata: &Metadata) {
    if metadata.is_file() && metadata.mode() & READABLE_BY_OTHERS != 0 {
        let path = path.display();
        warn(
            &format!("{path} holds a token, and others on this machine can read it"),
            &format!("keep it to yourself: chmod 600 {path}"),
        );
    }
}
