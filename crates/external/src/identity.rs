//! Which program an engine is.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::{Access, access};
use sha2::{Digest as _, Sha256};

use crate::failure::{FailureKind, is_exhaustion};

/// What an engine says that it is, in at most 200 bytes each and without control characters, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `id name` over UCI, `name` and `version` over GTP; empty if it did not say.
    pub name: String,
    /// `id author` over UCI; empty if it did not say.
    pub author: String,
    /// The SHA-256 of its program. Of a script that starts something else, it is the script's.
    pub sha256: [u8; 32],
    /// Its build: see [`build_of`](crate::build_of).
    pub build: [u8; 32],
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
    hash_known(path, &metadata).map_err(|error| match is_exhaustion(&error) {
        true => FailureKind::Exhausted(error.to_string()),
        false => unusable(&error),
    })
}

/// The SHA-256 of a file that a program needs.
pub(crate) fn hash_file(path: &Path) -> Result<[u8; 32], FailureKind> {
    std::fs::metadata(path).and_then(|metadata| hash_known(path, &metadata)).map_err(|error| {
        match is_exhaustion(&error) {
            true => FailureKind::Exhausted(error.to_string()),
            false => FailureKind::NoFile { path: path.to_owned(), problem: error.to_string() },
        }
    })
}

/// What tells a file's contents from others without reading them: its device, number, length, and when it and its
/// entry changed last.
type Stamp = (u64, u64, u64, [i64; 4]);

/// Hashes of files by their stamps: networks have hundreds of megabytes, and engines start again and again.
static KNOWN: Mutex<BTreeMap<PathBuf, (Stamp, [u8; 32])>> = Mutex::new(BTreeMap::new());

/// More files than machines have for their engines.
const KNOWN_MAX: usize = 10_000;

fn stamp(metadata: &Metadata) -> Stamp {
    let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    (metadata.dev(), metadata.ino(), metadata.len(), times)
}

/// The SHA-256 of a file, which is read if it is not known to be what it was.
fn hash_known(path: &Path, metadata: &Metadata) -> io::Result<[u8; 32]> {
    let stamp = stamp(metadata);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, hash)) = known().get(path)
        && *of == stamp
    {
        return Ok(*hash);
    }
    let hash = hash(path)?;
    // A file that was written a moment ago may be written again without another stamp: clocks of file systems are
    // coarse.
    let changed = UNIX_EPOCH + Duration::from_secs(metadata.ctime().try_into().unwrap_or(0));
    if changed.elapsed().is_ok_and(|age| age >= SETTLED_AFTER) {
        let mut known = known();
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(path.to_owned(), (stamp, hash));
    }
    Ok(hash)
}

/// So long after its last change, a file that changes gets another stamp.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

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
        let identity =
            Identity { name: String::new(), author: String::new(), sha256, build: [0; 32] };
        // FIPS 180-4's example.
        assert_eq!(
            identity.sha256_hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
