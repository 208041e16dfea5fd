//! Files that an engine writes into its folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How many levels of subfolders are read.
const DEPTH_MAX: u32 = 3;
/// The most files read; the rest of a larger folder is ignored.
const FILES_MAX: usize = 5_000;

/// The files below a folder, with their lengths and modification times.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    files: BTreeMap<PathBuf, (u64, Option<SystemTime>)>,
}

impl Files {
    /// The folder's current files.
    pub(super) fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        gather(folder, DEPTH_MAX, &mut files);
        Self { folder: folder.to_owned(), files }
    }

    /// The files that are new or have changed since, relative to the folder.
    pub(super) fn changed_since(&self, before: &Self) -> Vec<String> {
        let is_news = |(path, now): &(&PathBuf, &(u64, Option<SystemTime>))| {
            before.files.get(*path) != Some(*now)
        };
        let shown = |path: &PathBuf| {
            let path = path.strip_prefix(&self.folder).unwrap_or(path);
            spelrum_external::text::shown(&path.display().to_string(), 200)
        };
        self.files.iter().filter(is_news).map(|(path, _)| shown(path)).collect()
    }
}

fn gather(folder: &Path, depth: u32, files: &mut BTreeMap<PathBuf, (u64, Option<SystemTime>)>) {
    let Ok(entries) = folder.read_dir() else { return };
    for entry in entries.flatten() {
        if files.len() >= FILES_MAX {
            return;
        }
        // Links are not followed: their targets are outside the folder.
        let Ok(metadata) = entry.path().symlink_metadata() else { continue };
        if metadata.is_dir() {
            if depth > 0 {
                gather(&entry.path(), depth - 1, files);
            }
        } else {
            files.insert(entry.path(), (metadata.len(), metadata.modified().ok()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_new_or_longer_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("old", "1");
        write("grows", "1");
        let before = Files::read(folder.path());
        assert_eq!(Files::read(folder.path()).changed_since(&before), [""; 0]);
        write("grows", "12");
        std::fs::create_dir(folder.path().join("logs")).unwrap();
        write("logs/game.log", "");
        assert_eq!(Files::read(folder.path()).changed_since(&before), ["grows", "logs/game.log"]);
    }
}
