//! Programs that are known by their SHA-256, in a folder of bounded size: those that were pushed to a coordinator, and
//! those that a worker fetched.
//!
//! A program arrives in pieces, in a file of its own that gets its name once all of it is on the disk and has the hash.
//! So a process that is killed leaves no half of a program, and two that store the same one do not disturb each other.
//! Nothing but a hash, in hexadecimal, becomes the name of a file. The crate must never know why a program is kept: the
//! caller names those that have to stay.
//!
//! ```
//! use spelrum_programs::{Programs, Sha256Hex};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let programs = Programs::new(folder.path().join("programs"), 1 << 20);
//! let hash: Sha256Hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".parse()?;
//! let mut incoming = programs.begin(&hash, 3, &|_, _| false)?;
//! incoming.write(0, b"abc")?;
//! incoming.finish()?;
//! assert_eq!(programs.size(&hash), Some(3));
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// The extension of files that are not complete.
const PART: &str = "part";
/// The extension of the folder in which a program runs, which is removed with it.
const RUN: &str = "run";
/// An incomplete file that was not written for this long was left by a process that was killed.
const PART_LEFT_AFTER: Duration = Duration::from_hours(1);

/// A SHA-256 as 64 hexadecimal digits in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256Hex(String);

/// The text is not a SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not a SHA-256: 64 hexadecimal digits in lower case")]
pub struct NoSha256;

impl FromStr for Sha256Hex {
    type Err = NoSha256;

    fn from_str(text: &str) -> Result<Self, NoSha256> {
        let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        let is_hash = text.len() == 64 && text.bytes().all(is_digit);
        is_hash.then(|| Self(text.to_owned())).ok_or(NoSha256)
    }
}

impl From<[u8; 32]> for Sha256Hex {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl Sha256Hex {
    /// The hash itself.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(self.0.as_bytes().chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16).unwrap_or(0) as u8;
            *byte = digit(digits[0]) << 4 | digit(digits[1]);
        }
        bytes
    }
}

impl fmt::Display for Sha256Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a program was not stored.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It is larger than the folder may be.
    #[error("the program has {size} bytes, and all programs together may have {size_max}")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The bound in bytes.
        size_max: u64,
    },
    /// Programs that have to stay leave no room.
    #[error("the programs that are in use leave no room for {size} bytes within {size_max}")]
    NoRoom {
        /// Its size in bytes.
        size: u64,
        /// The bound in bytes.
        size_max: u64,
    },
    /// A piece does not follow the one before, or exceeds the stated size.
    #[error(
        "the piece at {offset} does not continue the program, of which {written} bytes are here"
    )]
    WrongPiece {
        /// Where the piece begins.
        offset: u64,
        /// The bytes that have arrived.
        written: u64,
    },
    /// The bytes are another program's.
    #[error(
        "the program has another SHA-256 than stated: it was damaged on the way, or has changed"
    )]
    WrongHash,
    /// The folder cannot be written.
    #[error("the folder {} for programs cannot be written: {source}", folder.display())]
    Unwritable {
        /// The folder.
        folder: PathBuf,
        /// The problem.
        source: io::Error,
    },
}

/// A folder of programs.
#[derive(Clone, Debug)]
pub struct Programs {
    folder: PathBuf,
    size_max: u64,
    /// Bytes of programs that are arriving.
    arriving: Arc<AtomicU64>,
}

/// A stored program.
struct Stored {
    hash: Sha256Hex,
    size: u64,
    used: SystemTime,
}

impl Programs {
    /// Programs in this folder, which is created for the first, of so many bytes together.
    #[must_use]
    pub fn new(folder: PathBuf, size_max: u64) -> Self {
        Self { folder, size_max, arriving: Arc::default() }
    }

    /// The place of a program, whether or not it is there.
    #[must_use]
    pub fn path(&self, hash: &Sha256Hex) -> PathBuf {
        self.folder.join(&hash.0)
    }

    /// The place of the folder in which a program runs.
    #[must_use]
    pub fn run_folder(&self, hash: &Sha256Hex) -> PathBuf {
        self.path(hash).with_extension(RUN)
    }

    /// The size of a program in bytes, if it is there.
    #[must_use]
    pub fn size(&self, hash: &Sha256Hex) -> Option<u64> {
        // Not of what a link leads to.
        let metadata = fs::symlink_metadata(self.path(hash)).ok()?;
        metadata.is_file().then_some(metadata.len())
    }

    /// Bytes of a program from an offset, at most so many, if the program is there.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self, hash: &Sha256Hex, offset: u64, most: u64) -> io::Result<Option<Vec<u8>>> {
        if self.size(hash).is_none() {
            return Ok(None);
        }
        let mut file = File::open(self.path(hash))?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Records the use of a program: those unused for longest are removed first.
    pub fn record_use(&self, hash: &Sha256Hex) {
        let now = SystemTime::now();
        // Without the time it is removed sooner, and can be stored again.
        let _recorded = File::open(self.path(hash)).and_then(|file| file.set_modified(now));
    }

    /// Removes a program, and the folder in which it ran.
    pub fn remove(&self, hash: &Sha256Hex) {
        // What cannot be removed takes space only. The folder first: without its program nothing leads to it.
        let _folder = fs::remove_dir_all(self.run_folder(hash));
        let _program = fs::remove_file(self.path(hash));
    }

    /// Begins to store a program of this size. Removes those that were unused for longest where there is no room, but none
    /// of which `stays` says so, by the hash and the time since its last use.
    ///
    /// # Errors
    /// If it is too large, there is no room, or the folder cannot be written.
    pub fn begin(
        &self,
        hash: &Sha256Hex,
        size: u64,
        stays: &dyn Fn(&Sha256Hex, Duration) -> bool,
    ) -> Result<Incoming, ProgramError> {
        let size_max = self.size_max;
        if size > size_max {
            return Err(ProgramError::TooLarge { size, size_max });
        }
        let arriving = self.arriving.fetch_add(size, Ordering::Relaxed) + size;
        // Gives its room back when dropped.
        let room = Room { arriving: Arc::clone(&self.arriving), size };
        let mut builder = fs::DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(&self.folder);
        made.map_err(|source| self.unwritable(source))?;
        self.remove_parts();
        let mut stored = self.stored();
        stored.retain(|program| program.hash != *hash);
        let mut kept: u64 = stored.iter().map(|program| program.size).sum();
        stored.sort_unstable_by_key(|program| program.used);
        for program in stored {
            if kept + arriving <= size_max {
                break;
            }
            let unused = program.used.elapsed().unwrap_or_default();
            if !stays(&program.hash, unused) {
                self.remove(&program.hash);
                kept -= program.size;
            }
        }
        if kept + arriving > size_max {
            return Err(ProgramError::NoRoom { size, size_max });
        }
        let part = self.folder.join(format!("{}.{PART}", Uuid::new_v4()));
        // Executable, as workers need it.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(&part);
        let file = file.map_err(|source| self.unwritable(source))?;
        let programs = self.clone();
        let (part, hasher) = (Part(part), Sha256::new());
        Ok(Incoming {
            programs,
            hash: hash.clone(),
            size,
            file,
            part,
            hasher,
            written: 0,
            _room: room,
        })
    }

    /// The programs that are there.
    fn stored(&self) -> Vec<Stored> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let stored = entries.filter_map(|entry| {
            let hash = entry.file_name().to_str()?.parse().ok()?;
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(Stored { hash, size: metadata.len(), used: metadata.modified().ok()? })
        });
        stored.collect()
    }

    /// Removes what processes that were killed left incomplete.
    fn remove_parts(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let is_part =
                Path::new(&entry.file_name()).extension().is_some_and(|part| part == PART);
            let age = entry.metadata().and_then(|metadata| metadata.modified());
            let age = age.ok().and_then(|written| written.elapsed().ok());
            if is_part && age.is_some_and(|age| age > PART_LEFT_AFTER) {
                let _gone = fs::remove_file(entry.path());
            }
        }
    }

    fn unwritable(&self, source: io::Error) -> ProgramError {
        ProgramError::Unwritable { folder: self.folder.clone(), source }
    }
}

/// A program that arrives. Dropped before its end, it leaves nothing.
#[derive(Debug)]
pub struct Incoming {
    programs: Programs,
    hash: Sha256Hex,
    size: u64,
    file: File,
    part: Part,
    hasher: Sha256,
    written: u64,
    _room: Room,
}

/// An incomplete file, which is removed when dropped.
#[derive(Debug)]
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        // Gone if it has got its name.
        let _gone = fs::remove_file(&self.0);
    }
}

/// The room of a program that arrives.
#[derive(Debug)]
struct Room {
    arriving: Arc<AtomicU64>,
    size: u64,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.arriving.fetch_sub(self.size, Ordering::Relaxed);
    }
}

impl Incoming {
    /// The bytes that have arrived.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Whether all bytes have arrived.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.written == self.size
    }

    /// Whether this is the program of this hash and size.
    #[must_use]
    pub fn is_for(&self, hash: &Sha256Hex, size: u64) -> bool {
        self.hash == *hash && self.size == size
    }

    /// Writes the next piece.
    ///
    /// # Errors
    /// If it is not the next one, or cannot be written.
    pub fn write(&mut self, offset: u64, piece: &[u8]) -> Result<(), ProgramError> {
        let written = self.written;
        let end = offset.saturating_add(piece.len() as u64);
        if offset != written || end > self.size {
            return Err(ProgramError::WrongPiece { offset, written });
        }
        self.file.write_all(piece).map_err(|source| self.programs.unwritable(source))?;
        self.hasher.update(piece);
        self.written = end;
        Ok(())
    }

    /// Stores the program: afterwards it is on the disk.
    ///
    /// # Errors
    /// If it is not complete, has another hash, or cannot be written.
    pub fn finish(self) -> Result<(), ProgramError> {
        let Self { programs, hash, file, part, hasher, written, .. } = &self;
        if !self.is_complete() {
            return Err(ProgramError::WrongPiece { offset: self.size, written: *written });
        }
        if Sha256Hex::from(<[u8; 32]>::from(hasher.clone().finalize())) != *hash {
            return Err(ProgramError::WrongHash);
        }
        let named = file
            .sync_all()
            .and_then(|()| fs::rename(&part.0, programs.path(hash)))
            .and_then(|()| File::open(&programs.folder)?.sync_all());
        named.map_err(|source| programs.unwritable(source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn hash(bytes: &[u8]) -> Sha256Hex {
        <[u8; 32]>::from(Sha256::digest(bytes)).into()
    }

    fn store(programs: &Programs, bytes: &[u8], age_days: u32) -> Result<Sha256Hex, ProgramError> {
        store_beside(programs, bytes, age_days, &|_, _| false)
    }

    fn store_beside(
        programs: &Programs,
        bytes: &[u8],
        age_days: u32,
        stays: &dyn Fn(&Sha256Hex, Duration) -> bool,
    ) -> Result<Sha256Hex, ProgramError> {
        let hash = hash(bytes);
        let mut incoming = programs.begin(&hash, bytes.len() as u64, stays)?;
        for (number, piece) in bytes.chunks(2).enumerate() {
            incoming.write(2 * number as u64, piece)?;
        }
        incoming.finish()?;
        let file = File::open(programs.path(&hash)).unwrap();
        file.set_modified(SystemTime::now() - age_days * DAY).unwrap();
        Ok(hash)
    }

    fn files(programs: &Programs) -> usize {
        fs::read_dir(&programs.folder).map_or(0, Iterator::count)
    }

    fn folder() -> (tempfile::TempDir, Programs) {
        let folder = tempfile::tempdir().unwrap();
        let programs = Programs::new(folder.path().join("some/programs"), 10);
        (folder, programs)
    }

    #[test]
    fn a_program_is_stored_in_pieces_and_read_in_pieces() {
        let (_folder, programs) = folder();
        let hash = store(&programs, b"abcde", 0).unwrap();
        assert_eq!(programs.size(&hash), Some(5));
        assert_eq!(programs.read(&hash, 0, 3).unwrap().unwrap(), b"abc");
        assert_eq!(programs.read(&hash, 3, 3).unwrap().unwrap(), b"de");
        assert_eq!(programs.read(&hash, 9, 3).unwrap().unwrap(), b"");
        assert_eq!(programs.read(&super::tests::hash(b"x"), 0, 3).unwrap(), None);
        assert_eq!(store(&programs, b"abcde", 0).unwrap(), hash, "again");
        assert_eq!(files(&programs), 1);
        assert_eq!(Sha256Hex::from(hash.to_bytes()), hash);
    }

    #[test]
    fn what_is_not_the_program_leaves_nothing() {
        let (_folder, programs) = folder();
        let abc = hash(b"abc");
        let begin = |size| programs.begin(&abc, size, &|_, _| false).unwrap();
        let mut wrong = begin(3);
        wrong.write(0, b"abd").unwrap();
        assert!(matches!(wrong.finish(), Err(ProgramError::WrongHash)));
        let mut part = begin(3);
        part.write(0, b"ab").unwrap();
        assert!(matches!(
            part.write(1, b"b"),
            Err(ProgramError::WrongPiece { offset: 1, written: 2 })
        ));
        assert!(matches!(part.write(2, b"cd"), Err(ProgramError::WrongPiece { .. })), "too long");
        assert!(matches!(part.write(u64::MAX, b"c"), Err(ProgramError::WrongPiece { .. })));
        assert_eq!(files(&programs), 1);
        assert!(matches!(part.finish(), Err(ProgramError::WrongPiece { .. })), "too short");
        drop(begin(3));
        assert_eq!((files(&programs), programs.size(&abc)), (0, None));
        assert_eq!(programs.arriving.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn two_may_store_the_same_program_at_once() {
        let (_folder, programs) = folder();
        let abc = hash(b"abc");
        let mut both = [0, 1].map(|_| programs.begin(&abc, 3, &|_, _| false).unwrap());
        for incoming in &mut both {
            incoming.write(0, b"abc").unwrap();
        }
        for incoming in both {
            incoming.finish().unwrap();
        }
        assert_eq!((files(&programs), programs.size(&abc)), (1, Some(3)));
    }

    #[test]
    fn the_longest_unused_makes_room_unless_it_stays() {
        let (_folder, programs) = folder();
        let old = store(&programs, b"1234", 3).unwrap();
        fs::create_dir_all(programs.run_folder(&old).join("0")).unwrap();
        let older = store(&programs, b"abcd", 5).unwrap();
        programs.record_use(&older);
        let third = store(&programs, b"xyz", 1).unwrap();
        assert_eq!(programs.size(&old), None);
        assert!(!programs.run_folder(&old).exists());
        assert!(programs.size(&older).is_some() && programs.size(&third).is_some());
        let stays = |hash: &Sha256Hex, unused: Duration| *hash == third || unused < DAY / 2;
        let refused = store_beside(&programs, b"123456", 0, &stays);
        assert!(matches!(refused, Err(ProgramError::NoRoom { size: 6, size_max: 10 })));
        assert!(matches!(
            store(&programs, b"12345678901", 0),
            Err(ProgramError::TooLarge { size: 11, size_max: 10 })
        ));
        let first = programs.begin(&hash(b"q"), 6, &|_, _| false).unwrap();
        assert!(matches!(
            programs.begin(&hash(b"r"), 5, &|_, _| false),
            Err(ProgramError::NoRoom { .. })
        ));
        drop(first);
    }

    #[test]
    fn other_files_and_links_are_no_programs() {
        let (folder, programs) = folder();
        let abc = store(&programs, b"abc", 0).unwrap();
        for name in ["../x", "", "a", &"A".repeat(64), &"g".repeat(64), &format!("{abc}.part")] {
            assert_eq!(name.parse::<Sha256Hex>(), Err(NoSha256), "{name}");
        }
        let secret = folder.path().join("secret");
        fs::write(&secret, "secret").unwrap();
        let linked = hash(b"def");
        std::os::unix::fs::symlink(&secret, programs.path(&linked)).unwrap();
        assert_eq!(programs.size(&linked), None);
        assert_eq!(programs.read(&linked, 0, 9).unwrap(), None);
        store(&programs, b"def", 0).unwrap();
        assert_eq!(programs.read(&linked, 0, 9).unwrap().unwrap(), b"def");
        assert_eq!(fs::read(&secret).unwrap(), b"secret", "the link is replaced, not followed");
        fs::write(programs.folder.join("notes"), "x").unwrap();
        let left = programs.folder.join("left.part");
        fs::write(&left, "x").unwrap();
        File::open(&left).unwrap().set_modified(SystemTime::now() - DAY).unwrap();
        store(&programs, b"1234567890", 0).unwrap();
        assert!(!left.exists() && programs.folder.join("notes").exists());
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let programs = Programs::new(folder.path().join("file/programs"), 10);
        let said = store(&programs, b"abc", 0).unwrap_err().to_string();
        assert!(said.contains("file/programs for programs cannot be written: "), "{said}");
    }
}
