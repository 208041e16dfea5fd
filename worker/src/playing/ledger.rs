//! The ledger: the game that each slot of the playing process is at, stored outside that process.
//!
//! It is an unnamed file that both processes have open. A note costs one system call, which games of
//! microseconds can afford, and wakes no process.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// A note of a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Note {
    /// The game that it plays, or played last.
    pub(super) number: u64,
    /// Differs from note to note, even for one game. 0: none yet.
    pub(super) sequence: u64,
    /// Whether the game's time runs: it may wait for external engines before it begins.
    pub(super) time_runs: bool,
}

/// Bytes of a note.
const NOTE: usize = 24;

/// The file.
#[derive(Debug)]
pub(super) struct Ledger(File);

impl Ledger {
    /// A new one, without notes.
    ///
    /// # Errors
    /// If the system cannot create a file.
    pub(super) fn new() -> io::Result<Self> {
        unnamed_file().map(Self)
    }

    /// A ledger opened by another process.
    pub(super) const fn from_file(file: File) -> Self {
        Self(file)
    }

    /// The file, to be passed on.
    pub(super) fn file(&self) -> io::Result<File> {
        self.0.try_clone()
    }

    /// Makes a note.
    pub(super) fn note(&self, slot: usize, note: Note) -> io::Result<()> {
        let mut bytes = [0; NOTE];
        bytes[..8].copy_from_slice(&note.number.to_le_bytes());
        bytes[8..16].copy_from_slice(&note.sequence.to_le_bytes());
        bytes[16] = u8::from(note.time_runs);
        self.0.write_all_at(&bytes, (slot * NOTE) as u64)
    }

    /// The last note of a slot.
    pub(super) fn slot_note(&self, slot: usize) -> Note {
        let mut bytes = [0; NOTE];
        // Bytes beyond the end count as no note.
        if self.0.read_exact_at(&mut bytes, (slot * NOTE) as u64).is_err() {
            return Note::default();
        }
        let number = |at: usize| bytes[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
        Note { number: number(0), sequence: number(8), time_runs: bytes[16] != 0 }
    }

    /// Clears all notes.
    pub(super) fn clear(&self) -> io::Result<()> {
        self.0.set_len(0)
    }
}

#[cfg(target_os = "linux")]
fn unnamed_file() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};

    Ok(memfd_create("spelrum-ledger", MemfdFlags::CLOEXEC)?.into())
}

#[cfg(not(target_os = "linux"))]
fn unnamed_file() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("spelrum-{}", uuid::Uuid::new_v4()));
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_note_of_each_slot_is_kept() {
        let ledger = Ledger::new().unwrap();
        assert_eq!(ledger.slot_note(0), Note::default());
        let note = Note { number: 7, sequence: 1, time_runs: true };
        ledger.note(2, note).unwrap();
        // As another process has it.
        let other = Ledger::from_file(ledger.file().unwrap());
        assert_eq!((other.slot_note(2), other.slot_note(1)), (note, Note::default()));
        assert_eq!(other.slot_note(3), Note::default());
        let later = Note { number: u64::MAX, sequence: 2, time_runs: false };
        other.note(2, later).unwrap();
        assert_eq!(ledger.slot_note(2), later);
        ledger.clear().unwrap();
        assert_eq!(other.slot_note(2), Note::default());
    }
}
