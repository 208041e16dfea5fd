//! Which program an engine is.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use sha2::{Digest as _, Sha256};

use crate::failure::FailureKind;

/// What an engine says that it is, in at most 200 bytes each and without control characters, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `id name` over UCI, `name` and `version` over GTP; empty if it did not say.
    pub name: String,
    /// `id author` over UCI; empty if it did not say.
    pub author: String,
    /// The SHA-256 of its program. Of a script that starts something else, it is the script's.
    pub sha256: [u8; 32],
}

impl Identity {
    /// The hash in hexadecimal.
    #[must_use]
    pub fn sha256_hex(&self) -> String {
        self.sha256.iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a text never fails.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// The SHA-256 of a program that can be run.
pub(crate) fn hash_program(path: &Path) -> Result<[u8; 32], FailureKind> {
    let unusable = |problem: &dyn ToString| FailureKind::NotExecutable {
        path: path.to_owned(),
        problem: problem.to_string(),
    };
    let metadata = std::fs::metadata(path).map_err(|error| {
        let is_missing =
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        if is_missing { FailureKind::Missing(PathBuf::from(path)) } else { unusable(&error) }
    })?;
    if !metadata.is_file() {
        return Err(unusable(&"it is no file"));
    }
    access(path, Access::EXEC_OK).map_err(|error| unusable(&io::Error::from(error)))?;
    // Programs that can be run and not read are rare, and nobody could say which they are.
    hash(path).map_err(|error| unusable(&error))
}

fn hash(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = File::open(path)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 64 * 1_024]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hash.finalize().into()),
            length => hash.update(&buffer[..length]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_cannot_be_run_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine");
        assert_eq!(hash_program(&path), Err(FailureKind::Missing(path.clone())));
        let problem = |path: &Path| {
            let FailureKind::NotExecutable { problem, .. } = hash_program(path).unwrap_err() else {
                panic!("{} can be run", path.display());
            };
            problem
        };
        assert_eq!(problem(folder.path()), "it is no file");
        std::fs::write(&path, "abc").unwrap();
        assert!(problem(&path).starts_with("Permission denied"), "{}", problem(&path));
    }

    #[test]
    fn the_hash_is_of_the_bytes() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine");
        std::fs::write(&path, "abc").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        let sha256 = hash_program(&path).unwrap();
        let identity = Identity { name: String::new(), author: String::new(), sha256 };
        // FIPS 180-4's example.
        assert_eq!(
            identity.sha256_hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
