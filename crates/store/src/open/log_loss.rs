//! Recovery checks after a crash: whether the log beside a database is its own and has all that was committed.
//!
//! SQLite applies any valid log of the right name, and takes a database without a log for complete. So before SQLite
//! opens anything, the log is compared with its record in the lock's file ([`Record`]); without that file, with the
//! database itself. A properly closed database has neither a log nor a lock file.

use std::fs::File;
use std::path::{Path, PathBuf};

use spelrum_answers::date_time;

use crate::error::StoreError;
use crate::open::connection::COPIED;
use crate::open::lock::{Left, Lock, Record, left};
use crate::open::wal::{HEADER_BYTES, Survey, fill, log_path, number, page_sum, survey};

/// The loss reported when a database is opened without its log: what was wrong, and where a foreign log is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The problem with the log.
    pub problem: String,
    /// The foreign log that was put aside.
    pub put_aside: Option<PathBuf>,
}

/// Lets a database be opened whose log is missing, cut short or another's: from then on it has only the data in its
/// own file. Nothing is deleted. Returns what was wrong, if anything.
///
/// # Errors
/// If a process has the database open, or a file cannot be renamed.
pub fn accept_loss(path: &Path) -> Result<Option<Loss>, StoreError> {
    let Ok(path) = path.canonicalize() else { return Ok(None) };
    let mut lock = Lock::take(&path)?;
    let problem = match examine(&path, lock.record()) {
        Ok(()) => return Ok(None),
        Err(StoreError::LogLost { problem, .. }) => problem,
        Err(error) => return Err(error),
    };
    let log = log_path(&path);
    let is_cut_short = survey(&log)
        .ok()
        .flatten()
        .zip(lock.record())
        .is_some_and(|(log, record)| log.header.generation == record.generation);
    let mut put_aside = None;
    if log.exists() && !is_cut_short {
        let free = (1..=u32::MAX).map(|number| {
            let mut name = log.as_os_str().to_owned();
            name.push(format!("-aside-{number}"));
            PathBuf::from(name)
        });
        let aside = free.into_iter().find(|name| !name.exists()).unwrap_or_else(|| log.clone());
        let failed = |source| StoreError::File { path: log.clone(), source };
        std::fs::rename(&log, &aside).map_err(failed)?;
        put_aside = Some(aside);
    }
    let failed = |source| StoreError::File { path: path.clone(), source };
    lock.forget().map_err(failed)?;
    Ok(Some(Loss { problem, put_aside }))
}

/// Checks the files beside a database that is only read.
///
/// # Errors
/// As [`examine`].
pub(crate) fn examine_to_read(path: &Path) -> Result<(), StoreError> {
    match left(path) {
        Left::Unknown => Ok(()),
        Left::Behind(record) => examine(path, record),
    }
}

/// Checks the log of a database that no process has open.
///
/// # Errors
/// [`StoreError::LogLost`] if the log is another database's, missing or incomplete.
pub(crate) fn examine(path: &Path, record: Option<Record>) -> Result<(), StoreError> {
    let log = log_path(path);
    let has_log = std::fs::metadata(&log).is_ok_and(|log| log.len() >= HEADER_BYTES);
    if record.is_none() && !has_log {
        return Ok(());
    }
    let failed = |source| StoreError::File { path: path.to_owned(), source };
    let Some(database) = Database::read(path).map_err(failed)? else { return Ok(()) };
    let found = survey(&log).map_err(|source| StoreError::File { path: log.clone(), source })?;
    let lost = |problem: String| Err(StoreError::LogLost { path: path.to_owned(), problem });
    let foreign = || {
        lost(format!("its log ({}) is that of another database, or of another time", log.display()))
    };
    if database.is_unopened_copy {
        // Put in the place of the database that crashed: neither the record nor a log belongs to this one.
        return if found.is_some() { foreign() } else { Ok(()) };
    }
    let Some(record) = record else {
        return match found {
            Some(found) if !database.may_have(&found) => foreign(),
            Some(_) | None => Ok(()),
        };
    };
    if let Some(found) = &found {
        let generation = found.header.generation;
        if generation == record.generation && found.frames >= record.frames
            || generation.follows(record.generation)
        {
            return Ok(());
        }
    }
    let is_applied = database.has(&record).map_err(failed)?;
    match found {
        // Another program has opened the database since, and applied all of the log.
        None if is_applied => Ok(()),
        Some(found) if is_applied && database.may_have(&found) => Ok(()),
        None => lost(format!(
            "its log ({}) is missing or damaged: results stored since {} may be lost",
            log.display(),
            date_time(record.since_unix_us)
        )),
        Some(found) if found.header.generation == record.generation => lost(format!(
            "its log ({}) was cut short: {} of {} pages are left, and the latest results are lost",
            log.display(),
            found.frames,
            record.frames
        )),
        Some(_) => foreign(),
    }
}

/// A database file without its log.
struct Database {
    file: File,
    page_bytes: u32,
    /// Grows when a program begins to write that was not the last to do so.
    changes: u32,
    is_unopened_copy: bool,
}

impl Database {
    /// Reads the beginning; `None` if the file is missing or not a database, which other checks report better.
    ///
    /// The database is opened and closed here beside SQLite, which ends locks that this process may have on it: no
    /// process has it open for writing.
    fn read(path: &Path) -> std::io::Result<Option<Self>> {
        let Ok(file) = File::open(path) else { return Ok(None) };
        let mut head = [0; 100];
        if !fill(&file, &mut head, 0)? {
            return Ok(None);
        }
        let page_bytes = page_bytes(&head);
        let is_unopened_copy = number(&head, 60) == COPIED;
        Ok(Some(Self { file, page_bytes, changes: number(&head, 24), is_unopened_copy }))
    }

    /// Whether a log can be this database's: the log begins where the database was, and does not end before it. Each
    /// start of a coordinator changes the count, and each log of that start has the page with the count.
    fn may_have(&self, log: &Survey) -> bool {
        if log.header.page_bytes != self.page_bytes {
            return false;
        }
        let Some([first, last]) = &log.first_pages else { return true };
        let (first, last) = (number(first, 24), number(last, 24));
        first.saturating_sub(1) <= self.changes && self.changes <= last
    }

    /// Whether the database has the last page committed into a log.
    fn has(&self, record: &Record) -> std::io::Result<bool> {
        let mut page = vec![0; self.page_bytes as usize];
        let at = u64::from(record.page.saturating_sub(1)) * u64::from(self.page_bytes);
        Ok(fill(&self.file, &mut page, at)? && page_sum(&page) == record.sum)
    }
}

/// The page size, from the first bytes of a database.
pub(crate) fn page_bytes(head: &[u8]) -> u32 {
    // Two bytes; the largest size does not fit.
    match number(head, 16) >> 16 {
        1 => 65_536,
        bytes => bytes,
    }
}
