//! Books of any size, plain or compressed: streamed, with only a part in memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::{DeflateDecoder, MultiGzDecoder};
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipArchive};
use sha2::{Digest as _, Sha256};
use spelrum_engine::{BookFormat, decode_text_file};
use spelrum_sweep::{BookFault, BookHead, BookReader, BookSample};

/// Bytes per read.
const PART_BYTES: usize = 1 << 20;

/// The longest game or line of a book, in bytes: as much is held in memory.
const RECORD_BYTES_MAX: usize = 16 << 20;

/// A book of which only a sample travels with its sweep.
pub(crate) struct BookFile {
    path: PathBuf,
    kind: Kind,
    format: BookFormat,
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Gzip,
    Zip,
}

/// The reason why a book cannot be read.
#[derive(Debug)]
pub(crate) enum BookFileError {
    /// The file cannot be read, or is of another kind.
    File(io::Error),
    /// The book's contents are invalid.
    Fault(BookFault),
}

impl From<io::Error> for BookFileError {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl BookFile {
    /// Opens the book at this path; `None` if its name has no book format's extension. An archive has the format of
    /// the one book in it.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        let kind = Kind::read(&mut File::open(path)?)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = match kind {
            Kind::Plain => name,
            Kind::Gzip => without_extension(name, ".gz"),
            Kind::Zip => Entry::open(path)?.name,
        };
        let format = BookFormat::from_file_name(&name);
        Ok(format.map(|format| Self { path: path.to_owned(), kind, format }))
    }

    /// The stored description of the file itself.
    pub(crate) fn head(&self) -> io::Result<BookHead> {
        let (mut hash, mut bytes) = (Sha256::new(), 0);
        let mut file = File::open(&self.path)?;
        let mut part = vec![0; PART_BYTES];
        loop {
            let read = file.read(&mut part)?;
            if read == 0 {
                break;
            }
            hash.update(&part[..read]);
            bytes += read as u64;
        }
        let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(BookHead { format: self.format.extension().to_owned(), bytes, sha256 })
    }

    /// A sweep's sample of the book, as text.
    pub(crate) fn sample(&self, sample: BookSample) -> Result<String, BookFileError> {
        let mut reader = BookReader::new(sample, self.format);
        match self.kind {
            Kind::Plain => read(&mut File::open(&self.path)?, &mut reader)?,
            Kind::Gzip => read(&mut MultiGzDecoder::new(File::open(&self.path)?), &mut reader)?,
            Kind::Zip => {
                let Entry { archive, wayfinder, method, .. } = Entry::open(&self.path)?;
                let entry = archive.get_entry(wayfinder).map_err(damaged)?;
                let data = entry.reader();
                if method == CompressionMethod::STORE {
                    read(&mut entry.verifying_reader(data), &mut reader)?;
                } else {
                    read(&mut entry.verifying_reader(DeflateDecoder::new(data)), &mut reader)?;
                }
            }
        }
        Ok(reader.text())
    }
}

/// Whether a file is compressed, by its first bytes.
pub(crate) fn is_compressed(path: &Path) -> io::Result<bool> {
    Ok(Kind::read(&mut File::open(path)?)? != Kind::Plain)
}

impl Kind {
    fn read(file: &mut File) -> io::Result<Self> {
        let mut first = [0; 4];
        let mut length = 0;
        while length < first.len() {
            match file.read(&mut first[length..])? {
                0 => break,
                read => length += read,
            }
        }
        Ok(match &first[..length] {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'P', b'K', 3, 4] | [b'P', b'K', 5, 6] => Self::Zip,
            _ => Self::Plain,
        })
    }
}

/// The book in an archive.
struct Entry {
    archive: ZipArchive<rawzip::FileReader>,
    name: String,
    wayfinder: rawzip::ZipArchiveEntryWayfinder,
    method: CompressionMethod,
}

impl Entry {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let archive = ZipArchive::from_file(file, &mut buffer).map_err(damaged)?;
        let mut books = Vec::new();
        let mut entries = archive.entries(&mut buffer);
        while let Some(entry) = entries.next_entry().map_err(damaged)? {
            let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
            // Some systems add metadata entries to archives.
            let is_hidden = name.split('/').any(|part| part.starts_with('.') || part == "__MACOSX");
            if !is_hidden && BookFormat::from_file_name(&name).is_some() {
                books.push((name, entry.wayfinder(), entry.compression_method()));
            }
        }
        let count = books.len();
        let (Some((name, wayfinder, method)), 1) = (books.pop(), count) else {
            let problem =
                format!("the archive has {count} files whose names end in .epd or .pgn, not one");
            return Err(io::Error::other(problem));
        };
        if method != CompressionMethod::STORE && method != CompressionMethod::DEFLATE {
            let problem =
                format!("`{name}` in the archive is compressed by another method than DEFLATE");
            return Err(io::Error::other(problem));
        }
        Ok(Self { archive, name, wayfinder, method })
    }
}

fn damaged(error: rawzip::Error) -> io::Error {
    io::Error::other(format!("the archive is damaged: {error}"))
}

fn without_extension(name: String, extension: &str) -> String {
    let at = name.len().saturating_sub(extension.len());
    match name.get(at..) {
        Some(end) if end.eq_ignore_ascii_case(extension) => name[..at].to_owned(),
        _ => name,
    }
}

/// Reads a book until the sample is complete.
fn read(book: &mut dyn Read, reader: &mut BookReader) -> Result<(), BookFileError> {
    let mut text = Vec::with_capacity(2 * PART_BYTES);
    let mut is_first = true;
    loop {
        let read = book.take(PART_BYTES as u64).read_to_end(&mut text)?;
        let complete = if read == 0 { text.len() } else { reader.whole_bytes(&text) };
        if complete == 0 && text.len() > RECORD_BYTES_MAX {
            let problem = "no game or line ends within 16 MiB: this is not a book";
            return Err(BookFileError::File(io::Error::other(problem)));
        }
        if is_first && (text.starts_with(&[0xff, 0xfe]) || text.starts_with(&[0xfe, 0xff])) {
            let problem =
                "a compressed book, or one of more than 1 MiB, cannot be UTF-16".to_owned();
            let remedy = "convert it to UTF-8".to_owned();
            return Err(BookFileError::Fault(BookFault { line: 1, problem, remedy }));
        }
        is_first = false;
        let part = decode_text_file(text[..complete].to_vec());
        let is_complete = reader.read(&part).map_err(BookFileError::Fault)?;
        text.drain(..complete);
        if is_complete || read == 0 {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use spelrum_engine::games::Chess;

    use super::*;

    const PGN: &str = "[Event \"a\"]\n\n1. e4 e5 *\n\n[Event \"b\"]\n\n1. d4 d5 *\n";

    fn zip(files: &[(&str, &str)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut archive = rawzip::ZipArchiveWriter::new(&mut bytes);
        for (name, text) in files {
            let method = CompressionMethod::DEFLATE;
            let (mut entry, config) =
                archive.new_file(name).compression_method(method).start().unwrap();
            let encoder =
                flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::default());
            let mut writer = config.wrap(encoder);
            writer.write_all(text.as_bytes()).unwrap();
            let (encoder, descriptor) = writer.finish().unwrap();
            encoder.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
        archive.finish().unwrap();
        bytes
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn taken(name: &str, bytes: &[u8]) -> Result<String, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let book = BookFile::open(&path).map_err(|error| error.to_string())?;
        let book = book.ok_or("no book")?;
        let head = book.head().unwrap();
        assert_eq!((head.bytes, head.sha256.len()), (bytes.len() as u64, 64));
        let sample = BookSample {
            rules: Chess::rules(),
            plies: None,
            seed: None,
            before: 0,
            count: 9,
            skip_bad: false,
        };
        book.sample(sample).map_err(|error| match error {
            BookFileError::File(error) => error.to_string(),
            BookFileError::Fault(fault) => format!("{}: {}", fault.line, fault.problem),
        })
    }

    #[test]
    fn compressed_books_are_as_good_as_plain_ones() {
        let plain = taken("b.pgn", PGN.as_bytes()).unwrap();
        assert_eq!(plain.lines().count(), 3, "{plain}");
        for (name, bytes) in [
            ("b.pgn.gz", gzip(PGN)),
            ("b.pgn.GZ", [gzip(&PGN[..40]), gzip(&PGN[40..])].concat()),
            ("b.pgn.zip", zip(&[("b.pgn", PGN)])),
            ("b.zip", zip(&[("README", "of it"), ("books/b.pgn", PGN), ("__MACOSX/._b.pgn", "?")])),
        ] {
            assert_eq!(taken(name, &bytes), Ok(plain.clone()), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let cut = |mut bytes: Vec<u8>| {
            bytes.truncate(bytes.len() / 2);
            bytes
        };
        let mut changed = zip(&[("b.pgn", PGN)]);
        let at = changed.windows(5).position(|window| window == b"b.pgn").unwrap() + 20;
        changed[at] ^= 1;
        for (name, bytes, problem) in [
            ("b.txt", b"".to_vec(), "no book"),
            ("b.gz", gzip(PGN), "no book"),
            ("b.zip", zip(&[]), "has 0 files"),
            ("b.zip", zip(&[("a.txt", "")]), "has 0 files"),
            ("b.zip", zip(&[("a.epd", ""), ("b.pgn", PGN)]), "has 2 files"),
            ("b.zip", cut(zip(&[("b.pgn", PGN)])), "damaged"),
            ("b.zip", changed, ""),
            ("b.pgn.gz", cut(gzip(PGN)), ""),
            (
                "b.pgn",
                [PGN, "[Event \"c\"]\n\n1. e4 e6 2. e6"].concat().into(),
                "10: `e6` is not legal",
            ),
            ("b.pgn", [b"\xff\xfe", PGN.as_bytes()].concat(), "1: a compressed book"),
        ] {
            let error = taken(name, &bytes).unwrap_err();
            assert!(error.contains(problem), "{name}: {error}");
        }
    }
}
