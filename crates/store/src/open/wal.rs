//! The write-ahead log as bytes, read beside SQLite: its identity, and how far it was committed
//! (sqlite.org/fileformat2.html#the_write_ahead_log). Nothing here writes.
//!
//! SQLite has no locks on this file, so opening and closing it beside SQLite is safe, unlike the database.

use std::fs::File;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The path of a database's log.
pub(crate) fn log_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    path.into()
}

/// The bytes before the first frame.
pub(crate) const HEADER_BYTES: u64 = 32;

/// The bytes of a frame before its page.
const FRAME_HEADER_BYTES: u64 = 24;

/// Maximum number of times a log can have restarted since its record was stored: once, unless power failed before a
/// record was on disk.
const GENERATIONS_MAX: u32 = 1_000;

/// Identity of a log. At each restart by SQLite the first salt grows by one, and the second is random; in a new file
/// both are random. The number is the counter of the connection that began the log; the counter restarts at 0 in a
/// connection that found the log's index in order, as after a kill that a reader has outlived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    pub(crate) salts: [u32; 2],
    pub(crate) number: u32,
}

impl Generation {
    /// Whether a restart of the earlier log produced this one; everything in the earlier log was in the database by
    /// then.
    pub(crate) fn follows(self, earlier: Self) -> bool {
        let ahead = self.salts[0].wrapping_sub(earlier.salts[0]);
        (1..=GENERATIONS_MAX).contains(&ahead)
    }
}

/// The header of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) generation: Generation,
    pub(crate) page_bytes: u32,
    is_big_endian: bool,
    sum: Sum,
}

impl Header {
    /// Reads the header; `None` if incomplete or its checksum is wrong.
    pub(crate) fn read(log: &File) -> Result<Option<Self>> {
        let mut bytes = [0; HEADER_BYTES as usize];
        if !fill(log, &mut bytes, 0)? {
            return Ok(None);
        }
        const MAGIC: u32 = 0x377f_0682;
        let magic = number(&bytes, 0);
        let is_big_endian = magic & 1 == 1;
        let sum = Sum::default().with(&bytes[..24], is_big_endian);
        if magic & !1 != MAGIC || sum != Sum::read(&bytes, 24) {
            return Ok(None);
        }
        let salts = [number(&bytes, 16), number(&bytes, 20)];
        let generation = Generation { salts, number: number(&bytes, 12) };
        let page_bytes = number(&bytes, 8);
        Ok(Some(Self { generation, page_bytes, is_big_endian, sum }))
    }

    /// The length of a log with this many frames.
    pub(crate) fn bytes(&self, frames: u32) -> u64 {
        HEADER_BYTES + u64::from(frames) * (FRAME_HEADER_BYTES + u64::from(self.page_bytes))
    }

    /// Reads the header of a frame; frames are counted from 1.
    fn frame(&self, log: &File, frame: u32) -> Result<Option<Frame>> {
        let mut bytes = [0; FRAME_HEADER_BYTES as usize];
        let at = self.bytes(frame.saturating_sub(1));
        let is_there = frame > 0 && fill(log, &mut bytes, at)?;
        Ok(is_there.then(|| Frame::from_bytes(&bytes)))
    }

    /// Whether a frame belongs to this log rather than being left over from before a restart.
    fn has(&self, log: &File, frame: u32) -> Result<bool> {
        let found = self.frame(log, frame)?;
        Ok(found.is_some_and(|found| found.salts == self.generation.salts))
    }

    /// The last frame from `known` on that belongs to this log. That includes frames of transactions that were rolled
    /// back.
    pub(crate) fn last(&self, log: &File, known: u32) -> Result<u32> {
        // All frames up to `low` belong to the log; `high` does not.
        let (mut low, mut step) = (known, 1);
        let mut high = loop {
            let next = low.saturating_add(step);
            if !self.has(log, next)? {
                break next;
            }
            low = next;
            step = step.saturating_mul(2);
        };
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.has(log, middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// Reads a whole frame: its header, and the separate checksum of its page.
    pub(crate) fn frame_and_sum(&self, log: &File, frame: u32) -> Result<Option<(Frame, u64)>> {
        let mut bytes = vec![0; FRAME_HEADER_BYTES as usize + self.page_bytes as usize];
        let at = self.bytes(frame.saturating_sub(1));
        if frame == 0 || !fill(log, &mut bytes, at)? {
            return Ok(None);
        }
        let (head, page) = bytes.split_at(FRAME_HEADER_BYTES as usize);
        Ok(Some((Frame::from_bytes(head), page_sum(page))))
    }
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The number of the frame's page.
    pub(crate) page: u32,
    /// In the last frame of a commit: the database's size in pages after it. Else 0.
    pub(crate) pages: u32,
    salts: [u32; 2],
    sum: Sum,
}

impl Frame {
    fn from_bytes(bytes: &[u8]) -> Self {
        let salts = [number(bytes, 8), number(bytes, 12)];
        Self { page: number(bytes, 0), pages: number(bytes, 4), salts, sum: Sum::read(bytes, 16) }
    }

    /// Whether the frame belongs to this log and ends a commit.
    pub(crate) fn ends_commit_of(&self, header: &Header) -> bool {
        self.salts == header.generation.salts && self.pages > 0
    }
}

/// A log as SQLite would apply it.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    pub(crate) header: Header,
    /// The last committed frame, 0 if none.
    pub(crate) frames: u32,
    /// The first and the last committed images of the database's first page.
    pub(crate) first_pages: Option<[Vec<u8>; 2]>,
}

/// Reads a whole log and checks every sum, as SQLite does before applying a log. `None` if the log is missing or
/// SQLite would apply nothing of it.
pub(crate) fn survey(path: &Path) -> Result<Option<Survey>> {
    let log = match File::open(path) {
        Ok(log) => log,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(header) = Header::read(&log)? else { return Ok(None) };
    if !(512..=65_536).contains(&header.page_bytes) {
        return Ok(None);
    }
    let mut survey = Survey { header, frames: 0, first_pages: None };
    let mut pages_since: Option<[Vec<u8>; 2]> = None;
    let mut sum = header.sum;
    let mut bytes = vec![0; FRAME_HEADER_BYTES as usize + header.page_bytes as usize];
    for frame in 1..u32::MAX {
        if !fill(&log, &mut bytes, header.bytes(frame - 1))? {
            break;
        }
        let (head, page) = bytes.split_at(FRAME_HEADER_BYTES as usize);
        let found = Frame::from_bytes(head);
        sum = sum.with(&head[..8], header.is_big_endian).with(page, header.is_big_endian);
        if found.salts != header.generation.salts || found.sum != sum {
            break;
        }
        if found.page == 1 {
            let first = match pages_since.take().or_else(|| survey.first_pages.clone()) {
                Some([first, _]) => first,
                None => page.to_vec(),
            };
            pages_since = Some([first, page.to_vec()]);
        }
        if found.pages > 0 {
            survey.frames = frame;
            if pages_since.is_some() {
                survey.first_pages = pages_since.take();
            }
        }
    }
    Ok((survey.frames > 0).then_some(survey))
}

/// The separate checksum of a page.
pub(crate) fn page_sum(page: &[u8]) -> u64 {
    let Sum(first, second) = Sum::default().with(page, false);
    u64::from(first) << 32 | u64::from(second)
}

/// SQLite's checksum of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum(u32, u32);

impl Sum {
    /// Reads a stored checksum, which is always big-endian.
    fn read(bytes: &[u8], at: usize) -> Self {
        Self(number(bytes, at), number(bytes, at + 4))
    }

    /// Continues over more bytes, a multiple of 8.
    fn with(self, bytes: &[u8], is_big_endian: bool) -> Self {
        let Self(mut first, mut second) = self;
        let word = |bytes: [u8; 4]| {
            if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        let (pairs, _) = bytes.as_chunks::<8>();
        for &[a, b, c, d, e, f, g, h] in pairs {
            first = first.wrapping_add(word([a, b, c, d])).wrapping_add(second);
            second = second.wrapping_add(word([e, f, g, h])).wrapping_add(first);
        }
        Self(first, second)
    }
}

/// A big-endian number; 0 beyond the end.
pub(crate) fn number(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |&four| u32::from_be_bytes(four))
}

/// Fills a buffer from an offset of a file; returns whether the file had enough bytes.
pub(crate) fn fill(file: &File, bytes: &mut [u8], at: u64) -> Result<bool> {
    match file.read_exact_at(bytes, at) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two generations observed in one database, before and after a kill that a reader had outlived.
    #[test]
    fn a_log_follows_another_whatever_its_connection_has_counted() {
        let before = Generation { salts: [0x92db_73cd, 0xe854_f36b], number: 1 };
        let after = Generation { salts: [0x92db_73ce, 0x7299_2767], number: 1 };
        assert!(after.follows(before));
        assert!(!before.follows(after) && !after.follows(after));
        let of_another = Generation { salts: [0xb360_e02b, 0x7b85_aa97], number: 2 };
        assert!(!of_another.follows(before));
    }
}
