//! Memory available for playing.

use std::fs;
use std::path::Path;

/// The default amount of memory that a worker offers, in bytes: three quarters of the machine's available
/// memory or of its control group's remaining allowance, whichever is less. `None` if unknown.
#[must_use]
pub fn memory_to_offer() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let group = fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| {
        let paths = group_of(&text).into_iter();
        paths.filter_map(|path| left_in_group(Path::new("/sys/fs/cgroup"), path)).min()
    });
    machine.into_iter().chain(group).min().map(|bytes| bytes / 4 * 3)
}

/// Memory available without swapping, from `/proc/meminfo`, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The path of the process's control group in the hierarchy of version 2, if any.
fn group_of(cgroup: &str) -> Option<&str> {
    cgroup.lines().find_map(|line| line.strip_prefix("0::/"))
}

/// The remaining allowance of a control group and its ancestors, in bytes.
fn left_in_group(root: &Path, path: &str) -> Option<u64> {
    let number = |file: &Path| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let left = |group: &Path| {
        // `max` means no limit.
        let limit = number(&group.join("memory.max"))?;
        Some(limit.saturating_sub(number(&group.join("memory.current")).unwrap_or(0)))
    };
    let group_of_process = root.join(path);
    group_of_process.ancestors().take_while(|group| group.starts_with(root)).filter_map(left).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_has_to_spare_is_read() {
        let text = "MemTotal:       16384 kB\nMemFree:  100 kB\nMemAvailable:    8192 kB\n";
        assert_eq!(available(text), Some(8 << 20));
        assert_eq!(available("MemTotal: 5 kB\n"), None);
        assert_eq!(available("MemAvailable: much\n"), None);
    }

    /// The least of its own limit and those around it.
    #[test]
    fn what_a_group_may_still_take_is_read() {
        assert_eq!(group_of("1:name=systemd:/x\n0::/a/b\n"), Some("a/b"));
        assert_eq!(group_of("4:memory:/docker\n"), None);

        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let left = || left_in_group(root.path(), "a/b");
        assert_eq!(left(), None);
        fs::write(inner.join("memory.max"), "max\n").unwrap();
        fs::write(root.path().join("a/memory.max"), "5000\n").unwrap();
        assert_eq!(left(), Some(5_000));
        fs::write(root.path().join("a/memory.current"), "2000\n").unwrap();
        assert_eq!(left(), Some(3_000));
        fs::write(inner.join("memory.max"), "1000\n").unwrap();
        fs::write(inner.join("memory.current"), "2000\n").unwrap();
        assert_eq!(left(), Some(0));
    }

    #[test]
    fn this_machine_offers_some() {
        if cfg!(target_os = "linux") {
            assert!(memory_to_offer().is_some());
        }
    }
}
