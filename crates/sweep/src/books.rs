//! Books that are too large to travel with a sweep: the sweep's sample is drawn where the file is, and only
//! the sample becomes the file's text.
//!
//! Such a text begins with a line about the file ([`BookHead`]). Samples follow: each a line on how it was
//! taken ([`BookSample`]), and its positions, one on a line, in the book's order. All lines of the first two
//! kinds begin with `#`, like comments of EPD.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use spelrum_engine::{BookFormat, Rules, book_entries};
use spelrum_model::{SkippedEntries, seeds};

/// Default number of positions that a sweep takes of such a book.
pub(super) const COUNT_DEFAULT: u32 = 1 << 14;

/// Maximum number of positions that a sweep may take of a book.
pub(super) const COUNT_MAX: u32 = 1 << 15;

const HEAD: &str = "#book ";
const SAMPLE: &str = "#sample ";
const SKIPPED: &str = "#skipped ";

/// Facts kept about the file of a large book.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookHead {
    /// Name ending of books in its format: see [`BookFormat::extension`].
    pub format: String,
    /// The file's length as it is on disk, compressed or not.
    pub bytes: u64,
    /// SHA-256 of the file as it is on disk, in hexadecimal.
    pub sha256: String,
}

impl BookHead {
    /// The text of the book's file before any sample is added.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{HEAD}{}\n", seeds::canonical_json(self))
    }

    /// The head of such a text; `None` if the text is a book that travels whole.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (head, _) = text.strip_prefix(HEAD)?.split_once('\n')?;
        serde_json::from_str(head).ok()
    }

    /// The book's form.
    pub(super) fn book_format(&self) -> Option<BookFormat> {
        BookFormat::ALL.into_iter().find(|format| format.extension() == self.format)
    }
}

/// Positions that a sweep takes of a book.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BookSample {
    /// The game's rules.
    pub rules: Rules,
    /// For games of PGN, the position after this many plies.
    pub plies: Option<u32>,
    /// The seed that draws them; `None` takes the book's first ones.
    pub seed: Option<u64>,
    /// How many positions of the book come before the first that may be taken.
    #[serde(skip_serializing_if = "is_zero")]
    pub before: u32,
    /// Number of positions, if the book has so many.
    pub count: u32,
    /// Whether unreadable entries are skipped.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skip_bad: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A sample in the text of a large book.
pub(super) struct Taken<'t> {
    /// The offset of its positions in the text.
    start: usize,
    text: &'t str,
    /// The entries that were skipped.
    pub(super) skipped: SkippedEntries,
}

impl<'t> Taken<'t> {
    /// Its positions, each with its offset in the text.
    pub(super) fn positions(&self) -> impl Iterator<Item = (usize, &'t str)> {
        let mut start = self.start;
        self.text.split_inclusive('\n').map(move |line| {
            let at = start;
            start += line.len();
            (at, line.trim_end())
        })
    }
}

impl BookSample {
    /// The sample in the text of a large book, if the text has it.
    pub(super) fn find<'t>(&self, text: &'t str) -> Option<Taken<'t>> {
        let head = self.head();
        let mut start = text.find(&head)? + head.len();
        let mut skipped = SkippedEntries::default();
        if let Some((line, _)) = text[start..].split_once('\n')
            && let Some(json) = line.strip_prefix(SKIPPED)
        {
            skipped = serde_json::from_str(json).ok()?;
            start += line.len() + 1;
        }
        let positions = &text[start..];
        let end = positions.find(SAMPLE).unwrap_or(positions.len());
        Some(Taken { start, text: &positions[..end], skipped })
    }

    fn head(&self) -> String {
        format!("{SAMPLE}{}\n", seeds::canonical_json(self))
    }
}

/// A fault in a book that is read in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookFault {
    /// The faulty line, from 1.
    pub line: usize,
    /// The problem.
    pub problem: String,
    /// The remedy.
    pub remedy: String,
}

/// Takes a sample of a book that is read in parts, holding only the sample in memory.
///
/// A drawn sample has the positions with the least hash under the seed: one pass finds them, whatever the
/// book's length, and a position that the book repeats has one chance.
#[derive(Debug)]
pub struct BookReader {
    sample: BookSample,
    format: BookFormat,
    /// Line feeds so far.
    lines: usize,
    /// Positions so far.
    read: u64,
    /// The sample so far: by priority and placement, each with its number in the book.
    kept: BTreeMap<(u64, String), (u64, String)>,
    /// The placements already in a sample without a seed.
    seen: BTreeSet<String>,
    skipped: SkippedEntries,
}

impl BookReader {
    /// A reader at the start of a book.
    #[must_use]
    pub fn new(sample: BookSample, format: BookFormat) -> Self {
        let (kept, seen, skipped) = (BTreeMap::new(), BTreeSet::new(), SkippedEntries::default());
        Self { sample, format, lines: 0, read: 0, kept, seen, skipped }
    }

    /// Length of the leading part of a text that consists of whole lines of EPD or whole games of PGN: the
    /// rest belongs to the next part.
    #[must_use]
    pub fn whole_bytes(&self, text: &[u8]) -> usize {
        match self.format {
            BookFormat::Epd => text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1),
            BookFormat::Pgn => whole_games(text),
        }
    }

    /// Reads the next part of the book. Returns whether the sample is complete, whatever follows.
    ///
    /// # Errors
    /// If an entry cannot be read, and the sample does not skip it: see [`book_entries`].
    pub fn read(&mut self, part: &str) -> Result<bool, BookFault> {
        let mut positions = Vec::new();
        for entry in book_entries(&self.sample.rules, self.format, part, self.sample.plies) {
            match entry {
                Ok(entry) => positions.push(entry.position),
                Err(error) => {
                    let before = part.as_bytes().iter().take(error.place.start);
                    let line = self.lines + before.filter(|&&byte| byte == b'\n').count() + 1;
                    if !self.sample.skip_bad || error.place.is_empty() {
                        let (problem, remedy) = (error.what, error.remedy);
                        return Err(BookFault { line, problem, remedy });
                    }
                    self.skipped.add(line, &error.what);
                }
            }
        }
        self.lines += part.bytes().filter(|&byte| byte == b'\n').count();
        let count = self.sample.count as usize;
        for position in positions {
            let number = self.read;
            self.read += 1;
            if number < u64::from(self.sample.before) {
                continue;
            }
            let placement = placement(&position);
            match self.sample.seed {
                None => {
                    if self.kept.len() >= count {
                        return Ok(true);
                    }
                    if self.seen.insert(placement.to_owned()) {
                        self.kept.insert((number, String::new()), (number, position));
                    }
                }
                Some(seed) => {
                    let priority = seeds::book_priority(seed, placement);
                    let last = self.kept.last_key_value().map(|(&(priority, _), _)| priority);
                    if self.kept.len() >= count && last < Some(priority) {
                        continue;
                    }
                    let key = (priority, placement.to_owned());
                    self.kept.entry(key).or_insert((number, position));
                    if self.kept.len() > count {
                        self.kept.pop_last();
                    }
                }
            }
        }
        Ok(self.sample.seed.is_none() && self.kept.len() >= count)
    }

    /// The positions, in the book's order, and the skipped entries.
    #[must_use]
    pub fn finish(self) -> (Vec<String>, SkippedEntries) {
        let mut kept: Vec<(u64, String)> = self.kept.into_values().collect();
        kept.sort_unstable();
        (kept.into_iter().map(|(_, position)| position).collect(), self.skipped)
    }

    /// The part of the book's text that contains the sample.
    #[must_use]
    pub fn text(self) -> String {
        let mut text = self.sample.head();
        let (positions, skipped) = self.finish();
        if skipped.count > 0 {
            text.push_str(&format!("{SKIPPED}{}\n", seeds::canonical_json(&skipped)));
        }
        for position in positions {
            text.push_str(&position);
            text.push('\n');
        }
        text
    }
}

/// A chess position without its two counters, which do not distinguish positions.
fn placement(position: &str) -> &str {
    position.rsplitn(3, ' ').last().unwrap_or(position)
}

/// Where the last game of a text begins: at a tag behind moves, or at a first move behind a blank line.
fn whole_games(text: &[u8]) -> usize {
    let (mut end, mut at) = (0, 0);
    let (mut in_comment, mut has_moves, mut is_after_blank) = (false, false, false);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let (start, begins_in_comment) = (at, in_comment);
        at += line.len();
        let content = line.trim_ascii();
        if !begins_in_comment {
            let is_tag = content.starts_with(b"[");
            let is_first_move =
                is_after_blank && content.starts_with(b"1.") && !content.starts_with(b"1..");
            if has_moves && (is_tag || is_first_move) {
                (end, has_moves) = (start, false);
            }
            is_after_blank = content.is_empty();
            if is_tag || content.is_empty() || line.starts_with(b"%") {
                continue;
            }
            has_moves = true;
        }
        for &byte in line {
            match byte {
                b'}' => in_comment = false,
                b'{' => in_comment = true,
                b';' if !in_comment => break,
                _ => {}
            }
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use spelrum_engine::games::Chess;

    use super::*;

    fn sample(seed: Option<u64>, count: u32) -> BookSample {
        BookSample {
            rules: Chess::rules(),
            plies: Some(2),
            seed,
            before: 0,
            count,
            skip_bad: false,
        }
    }

    /// Reads a text in parts of this many bytes, as a file is read.
    fn read(sample: BookSample, format: BookFormat, text: &str, bytes: usize) -> Vec<String> {
        let mut reader = BookReader::new(sample, format);
        let mut rest = Vec::new();
        for part in text.as_bytes().chunks(bytes) {
            rest.extend_from_slice(part);
            let complete: Vec<u8> = rest.drain(..reader.whole_bytes(&rest)).collect();
            reader.read(std::str::from_utf8(&complete).unwrap()).unwrap();
        }
        reader.read(std::str::from_utf8(&rest).unwrap()).unwrap();
        reader.finish().0
    }

    const PGN: &str = "[Event \"a { b\"]\n[Site \"?\"]\n\n1. e4 {a\n[b]\n\n1. c} e5 2. Nf3\nNc6 *\n\n\
        [Event \"b\"]\n\n1. d4 ; {\nd5 *\n\n1. c4 c5\n2. g3 *\n\n[Event \"c\"]\n1. e4 e5 *\n1. b3 b6 *\n";

    #[test]
    fn parts_are_as_good_as_the_whole() {
        let entries =
            spelrum_engine::book_positions(&Chess::rules(), BookFormat::Pgn, PGN, Some(2)).unwrap();
        let positions: Vec<String> = entries.into_iter().map(|entry| entry.position).collect();
        assert_eq!(positions.len(), 4);
        let epd = positions.join(" ;\n");
        for bytes in [1, 2, 7, 50, 1_000] {
            assert_eq!(read(sample(None, 9), BookFormat::Pgn, PGN, bytes), positions, "{bytes}");
            let two = read(sample(None, 2), BookFormat::Pgn, PGN, bytes);
            assert_eq!(two, positions[..2], "{bytes}");
            let of_epd = BookSample { plies: None, ..sample(Some(3), 9) };
            assert_eq!(read(of_epd, BookFormat::Epd, &epd, bytes), positions, "{bytes}");
        }
    }

    /// Part of the recorded data: another sample is another tournament.
    #[test]
    fn a_sample_is_drawn_by_its_seed() {
        let all = read(sample(None, 9), BookFormat::Pgn, PGN, 50);
        // Those before the start are not taken, however the others are: the fourth game repeats the first one.
        let from_third = |seed, count| BookSample { before: 2, ..sample(seed, count) };
        let rest = [&all[2], &all[0], &all[3]].map(String::clone);
        assert_eq!(read(from_third(None, 9), BookFormat::Pgn, PGN, 50), rest);
        assert_eq!(read(from_third(None, 1), BookFormat::Pgn, PGN, 7), rest[..1]);
        assert_eq!(read(from_third(Some(1), 9), BookFormat::Pgn, PGN, 50), rest);
        let drawn = |seed, count| read(sample(Some(seed), count), BookFormat::Pgn, PGN, 50);
        let numbers = |seed, count| -> Vec<usize> {
            let number = |position| all.iter().position(|listed| *listed == position).unwrap();
            drawn(seed, count).into_iter().map(number).collect()
        };
        assert_eq!((1..5).map(|seed| numbers(seed, 2)).collect::<Vec<_>>(), GOLDEN);
        // Larger samples contain the smaller ones.
        for seed in 0..20 {
            let (two, three) = (numbers(seed, 2), numbers(seed, 3));
            assert!(two.iter().all(|number| three.contains(number)), "{seed}");
        }
        // A repeated entry has one chance, and its first occurrence stays.
        let twice = [PGN, "\n", PGN].concat();
        assert_eq!(read(sample(Some(1), 3), BookFormat::Pgn, &twice, 50), drawn(1, 3));
    }

    const GOLDEN: [[usize; 2]; 4] = [[1, 3], [0, 3], [0, 1], [2, 3]];

    #[test]
    fn a_fault_has_the_line_of_the_whole_book() {
        let mut reader =
            BookReader::new(BookSample { plies: None, ..sample(None, 9) }, BookFormat::Epd);
        let line = "4k3/8/8/8/8/8/4P3/4K3 w - -\n";
        assert_eq!(reader.read(&line.repeat(3)), Ok(false));
        let fault = reader.read(&[line, "4k3/8 w - -\n"].concat()).unwrap_err();
        assert_eq!(fault.line, 5);
        assert!(fault.problem.contains("2 ranks"), "{fault:?}");
    }

    #[test]
    fn bad_entries_are_skipped_and_counted_in_every_part() {
        let line = "4k3/8/8/8/8/8/4P3/4K3 w - -\n";
        let sample = BookSample { plies: None, skip_bad: true, ..sample(None, 9) };
        let mut reader = BookReader::new(sample.clone(), BookFormat::Epd);
        for _ in 0..2 {
            assert_eq!(reader.read(&[line, "4k3/8 w - -\n"].concat()), Ok(false));
        }
        let text = reader.text();
        let taken = sample.find(&text).unwrap();
        assert_eq!((taken.skipped.count, &taken.skipped.lines[..]), (2, &[2, 4][..]));
        assert!(taken.skipped.first_problem.contains("2 ranks"));
        assert_eq!(taken.positions().count(), 1);
    }

    #[test]
    fn a_text_has_its_head_and_its_samples() {
        let head = BookHead { format: "pgn".into(), bytes: 3, sha256: "ab".into() };
        let mut text = head.text();
        assert!(sample(None, 2).find(&text).is_none());
        for seed in [None, Some(1)] {
            let mut reader = BookReader::new(sample(seed, 2), BookFormat::Pgn);
            reader.read(PGN).unwrap();
            text.push_str(&reader.text());
        }
        assert_eq!(BookHead::from_text(&text), Some(head));
        assert_eq!(BookHead::from_text(PGN), None);
        for seed in [None, Some(1)] {
            let taken = sample(seed, 2).find(&text).unwrap();
            assert_eq!(taken.positions().count(), 2);
            assert!(taken.positions().all(|(start, position)| text[start..].starts_with(position)));
        }
        assert!(sample(Some(2), 2).find(&text).is_none());
    }
}
