//! Logs of complete conversations with engines, for troubleshooting.

use std::fs::{self, OpenOptions};
use std::io::{self, LineWriter, Write as _};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::spec::EngineSpec;
use crate::text::LineSource;

/// The log of one process: its lines with the seconds since it was started.
#[derive(Debug)]
pub(crate) struct Log {
    started: Instant,
    /// `None` after a write error: a full disk ends no game.
    file: Option<LineWriter<fs::File>>,
}

impl Log {
    /// A new file in the folder, named after the engine, the time of day and the process.
    ///
    /// # Errors
    /// If it cannot be written there.
    pub(crate) fn start(folder: &Path, spec: &EngineSpec, process: u32) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Names may contain any characters.
        let name: String = spec
            .name
            .chars()
            .map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' })
            .collect();
        let path = folder.join(format!("{name}-{}-{process}.log", now.as_millis()));
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        Ok(Self { started: Instant::now(), file: Some(LineWriter::new(file)) })
    }

    /// Adds a line.
    pub(crate) fn add(&mut self, voice: LineSource, text: &str) {
        let at = self.started.elapsed().as_secs_f64();
        if let Some(file) = &mut self.file
            && writeln!(file, "{at:.6} {}{text}", voice.mark()).is_err()
        {
            self.file = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Protocol;

    #[test]
    fn a_log_has_all_lines_and_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        let spec = crate::spec::tests::plain("a/../b c", Protocol::Uci, "/sf".into());
        let mut log = Log::start(&logs, &spec, 7).unwrap();
        log.add(LineSource::Us, "go depth 1");
        log.add(LineSource::Output, "bestmove e2e4");
        let files: Vec<_> =
            fs::read_dir(&logs).unwrap().map(|entry| entry.unwrap().path()).collect();
        let [file] = files.as_slice() else { panic!("{files:?}") };
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("a_.._b_c-") && name.ends_with("-7.log"), "{name}");
        let text = fs::read_to_string(file).unwrap();
        let lines: Vec<_> = text.lines().map(|line| line.split_once(' ').unwrap().1).collect();
        assert_eq!(lines, ["> go depth 1", "< bestmove e2e4"]);
        assert!(Log::start(file, &spec, 7).is_err(), "a file is no folder");
    }
}
