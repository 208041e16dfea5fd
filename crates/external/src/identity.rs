//! Identities of engines' programs.

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

/// An engine's reported identity, in at most 200 bytes each and without control characters, and its hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// `id name` over UCI and UGI, `name` and `version` over GTP; empty if not reported.
    pub name: String,
    /// `id author` over UCI and UGI; empty if not reported.
    pub author: String,
    /// The SHA-256 of its program; for a script that starts another program, the script's.
    pub sha256: [u8; 32],
    /// Its build: see [`hash_build`](crate::hash_build).
    pub build: [u8; 32],
}

impl Identity {
    /// The hash in hexadecimal.
    #[must_use]
    pub fn sha256_hex(&self) -> String {
        self.sha256.iter().fold(String::with_capacity(64), |mut text, byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// The SHA-256 of an executable program.
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
    // Programs that can be run but not read are rare, and could not be identified.
    hash_known(path, &metadata).map_err(|error| match is_exhaustion(&error) {
        true => FailureKind::Exhausted(error.to_string()),
        false => unusable(&error),
    })
}

/// The SHA-256 of a required file.
pub(crate) fn hash_file(path: &Path) -> Result<[u8; 32], FailureKind> {
    std::fs::metadata(path).and_then(|metadata| hash_known(path, &metadata)).map_err(|error| {
        match is_exhaustion(&error) {
            true => FailureKind::Exhausted(error.to_string()),
            false => FailureKind::NoFile { path: path.to_owned(), problem: error.to_string() },
        }
    })
}

/// A stamp that changes with a file's contents, without reading them: its device, number, length, and the
/// last changes of it and its entry.
type Stamp = (u64, u64, u64, [i64; 4]);

/// Hashes of files by their stamps: networks have hundreds of megabytes, and engines start again and again.
static KNOWN: Mutex<BTreeMap<PathBuf, (Stamp, [u8; 32])>> = Mutex::new(BTreeMap::new());

/// More files than engines of a machine have.
const KNOWN_MAX: usize = 10_000;

fn stamp(metadata: &Metadata) -> Stamp {
    let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    (metadata.dev(), metadata.ino(), metadata.len(), times)
}

/// The SHA-256 of a file, which is read only if its stamp is unknown.
fn hash_known(path: &Path, metadata: &Metadata) -> io::Result<[u8; 32]> {
    let stamp = stamp(metadata);
    let cache = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((cached_stamp, hash)) = cache().get(path)
        && *cached_stamp == stamp
    {
        return Ok(*hash);
    }
    let hash = hash(path)?;
    // A recently written file may be written again with the same stamp: clocks of file systems are coarse.
    let changed = UNIX_EPOCH + Duration::from_secs(metadata.ctime().try_into().unwrap_or(0));
    if changed.elapsed().is_ok_and(|age| age >= SETTLED_AFTER) {
        let mut cache = cache();
        if cache.len() >= KNOWN_MAX {
            cache.clear();
        }
        cache.insert(path.to_owned(), (stamp, hash));
    }
    Ok(hash)
}

/// The time after its last change from which a change gives a file another stamp.
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
