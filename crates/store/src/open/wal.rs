//! The write-ahead log as bytes, read beside SQLite: which log it is, and how far it was committed
//! (sqlite.org/fileformat2.html#the_write_ahead_log). Nothing here writes.
//!
//! SQLite has no locks on this file, so it may be opened and closed beside SQLite, unlike the database.

use std::fs::File;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The log of a database.
pub(crate) fn log_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    path.into()
}

/// The bytes before the first frame.
pub(crate) const HEADER_BYTES: u64 = 32;

/// The bytes of a frame before its page.
const FRAME_HEADER_BYTES: u64 = 24;

/// How many times a log may have begun anew since it was remembered: once, unless power failed before a
/// record of it was on disk.
const GENERATIONS_MAX: u32 = 1_000;

/// Which log it is. Each time SQLite begins it anew, the first salt grows by one, and the second is random; in a
/// new file both salts are. The number is the count of the connection that began it, which starts at 0 again in one
/// that found the log's index in order, as after a kill that a reader has outlived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Generation {
    pub(crate) salts: [u32; 2],
    pub(crate) number: u32,
}

impl Generation {
    /// Whether this is what another one became by beginning anew: everything of that one was in the
    /// database then.
    pub(crate) fn follows(self, earlier: Self) -> bool {
        let ahead = self.salts[0].wrapping_sub(earlier.salts[0]);
        (1..=GENERATIONS_MAX).contains(&ahead)
    }
}

/// The first bytes of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) generation: Generation,
    pub(crate) page_bytes: u32,
    is_big_endian: bool,
    sum: Sum,
}

impl Header {
    /// Reads it; `None` if there is no whole one, or its checksum is wrong.
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

    /// How long a log with so many frames is.
    pub(crate) fn bytes(&self, frames: u32) -> u64 {
        HEADER_BYTES + u64::from(frames) * (FRAME_HEADER_BYTES + u64::from(self.page_bytes))
    }

    /// Reads what is before the page of a frame; frames are counted from 1.
    fn frame(&self, log: &File, frame: u32) -> Result<Option<Frame>> {
        let mut bytes = [0; FRAME_HEADER_BYTES as usize];
        let at = self.bytes(frame.saturating_sub(1));
        let is_there = frame > 0 && fill(log, &mut bytes, at)?;
        Ok(is_there.then(|| Frame::of(&bytes)))
    }

    /// Whether a frame is of this log, and not left over from before it began anew.
    fn has(&self, log: &File, frame: u32) -> Result<bool> {
        let found = self.frame(log, frame)?;
        Ok(found.is_some_and(|found| found.salts == self.generation.salts))
    }

    /// The last frame from `known` on that is of this log. Frames that a transaction had written before it
    /// was rolled back are of this log too.
    pub(crate) fn last(&self, log: &File, known: u32) -> Result<u32> {
        // All before `low` are, and `high` is not.
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

    /// Reads a whole frame: what is before its page, and the checksum of the page by itself.
    pub(crate) fn frame_and_sum(&self, log: &File, frame: u32) -> Result<Option<(Frame, u64)>> {
        let mut bytes = vec![0; FRAME_HEADER_BYTES as usize + self.page_bytes as usize];
        let at = self.bytes(frame.saturating_sub(1));
        if frame == 0 || !fill(log, &mut bytes, at)? {
            return Ok(None);
        }
        let (head, page) = bytes.split_at(FRAME_HEADER_BYTES as usize);
        Ok(Some((Frame::of(head), page_sum(page))))
    }
}

/// What is before the page of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Which page it is.
    pub(crate) page: u32,
    /// Of the last frame of a commit: how many pages the database has then. Else 0.
    pub(crate) pages: u32,
    salts: [u32; 2],
    sum: Sum,
}

impl Frame {
    fn of(bytes: &[u8]) -> Self {
        let salts = [number(bytes, 8), number(bytes, 12)];
        Self { page: number(bytes, 0), pages: number(bytes, 4), salts, sum: Sum::read(bytes, 16) }
    }

    /// Whether it is of this log and ends a commit.
    pub(crate) fn ends_commit_of(&self, header: &Header) -> bool {
        self.salts == header.generation.salts && self.pages > 0
    }
}

/// A log as SQLite would apply it.
#[derive(Clone, Debug)]
pub(crate) struct Survey {
    pub(crate) header: Header,
    /// The last frame that was committed, 0 if none was.
    pub(crate) frames: u32,
    /// The first and the last committed images of the database's first page.
    pub(crate) first_pages: Option<[Vec<u8>; 2]>,
}

/// Reads a whole log and checks every sum, as SQLite does before it applies one. `None` if there is none, or
/// nothing in it that SQLite would apply.
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
        let found = Frame::of(head);
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

/// The checksum of a page by itself.
pub(crate) fn page_sum(page: &[u8]) -> u64 {
    let Sum(first, second) = Sum::default().with(page, false);
    u64::from(first) << 32 | u64::from(second)
}

/// SQLite's checksum of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum(u32, u32);

impl Sum {
    /// One that is written down, which is always big-endian.
    fn read(bytes: &[u8], at: usize) -> Self {
        Self(number(bytes, at), number(bytes, at + 4))
    }

    /// Goes on over more bytes, a multiple of 8.
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

/// Fills a buffer from a place of a file; whether there was enough.
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

    /// As two logs were seen that one database had, before and after: a reader had outlived the kill in between.
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
