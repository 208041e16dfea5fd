//! Reads small files whose paths may lead to anything.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Reads an ordinary file of at most this many bytes. A pipe without a writer would block its reader, and a device such
/// as `/dev/zero` never ends.
///
/// # Errors
///
/// If the file cannot be read, is not an ordinary file, or is longer.
pub fn read_small_file(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let wrong = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
    // Opening a pipe would wait for its other end.
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(nonblocking).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(wrong(
            "it is a directory, a pipe or a device, and no ordinary file".to_owned(),
        ));
    }
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(wrong(format!("it has more than {} KiB", bytes_max >> 10)));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use rustix::fs::{Mode, mkfifoat};

    use super::*;

    #[test]
    fn only_an_ordinary_file_of_some_length_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        std::fs::write(path("file"), [7; 2_048]).unwrap();
        assert_eq!(read_small_file(&path("file"), 2_048).unwrap(), [7; 2_048]);
        let long = read_small_file(&path("file"), 1_024).unwrap_err();
        assert_eq!(long.to_string(), "it has more than 1 KiB");
        // A pipe without a writer.
        mkfifoat(rustix::fs::CWD, path("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        for other in [path("pipe"), directory.path().to_owned(), "/dev/zero".into()] {
            let error = read_small_file(&other, 1_024).unwrap_err();
            assert!(error.to_string().contains("no ordinary file"), "{}: {error}", other.display());
        }
        let absent = read_small_file(&path("absent"), 1_024).unwrap_err();
        assert_eq!(absent.kind(), io::ErrorKind::NotFound);
    }
}
