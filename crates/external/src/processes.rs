//! An engine's processes, if the system shows them.

#[cfg(target_os = "linux")]
pub(crate) use system::{numbers, tree};

/// The peak memory so far, in bytes, of the present processes below a guard; `None` if unknown.
#[cfg(target_os = "linux")]
pub(crate) fn peak_bytes(guard: u32) -> Option<u64> {
    let below = tree(guard).ok()?.into_iter().filter(|process| *process != guard);
    let peaks: Vec<u64> = below.filter_map(system::peak_bytes_of).collect();
    (!peaks.is_empty()).then(|| peaks.iter().sum())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn peak_bytes(_: u32) -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::BTreeMap;
    use std::io;

    /// A process and all its descendants.
    pub(crate) fn tree(root: u32) -> io::Result<Vec<u32>> {
        let mut children = BTreeMap::<u32, Vec<u32>>::new();
        for process in numbers("/proc")? {
            let stat = std::fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
            let stat = String::from_utf8_lossy(&stat);
            // Its state and parent, after a name in parentheses that may have any characters.
            let behind_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
            if let Some(parent) = behind_name.split(' ').nth(1).and_then(|word| word.parse().ok()) {
                children.entry(parent).or_default().push(process);
            }
        }
        let mut tree = vec![root];
        let mut next = 0;
        while let Some(process) = tree.get(next) {
            // A process has one parent, so this ends.
            tree.extend(children.remove(process).unwrap_or_default());
            next += 1;
        }
        Ok(tree)
    }

    /// The numeric entries of a folder.
    pub(crate) fn numbers(folder: &str) -> io::Result<Vec<u32>> {
        let entries = std::fs::read_dir(folder)?;
        Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
    }

    /// The peak memory of a process.
    pub(super) fn peak_bytes_of(process: u32) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kib * 1_024)
    }
}
