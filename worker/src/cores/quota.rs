//! The process's CPU quota: the limits of control groups.
//!
//! `/proc/self/cgroup` names the process's groups (cgroups(7)), `/proc/self/mountinfo` their mount
//! points (proc_pid_mountinfo(5)). A limit holds for all descendants, so the smallest among all
//! ancestors counts. Those outside a container are invisible from within.

use std::path::{Path, PathBuf};

use spelrum_answers::CpuQuota;

use super::files::Files;

/// The quota in thousandths of a hardware thread.
pub(super) fn milli_cpus(quota: CpuQuota) -> u64 {
    let milli = u128::from(quota.quota_us) * 1_000 / u128::from(quota.period_us);
    u64::try_from(milli).unwrap_or(u64::MAX)
}

/// Whether one quota is stricter than another; among equals the longer period, which stops for
/// longer.
fn is_stricter(first: CpuQuota, second: CpuQuota) -> bool {
    let [of_first, of_second] = [(first, second), (second, first)]
        .map(|(a, b)| u128::from(a.quota_us) * u128::from(b.period_us));
    of_first < of_second || of_first == of_second && first.period_us > second.period_us
}

/// A mounted hierarchy of control groups.
struct Mount {
    /// The group at its top.
    root: PathBuf,
    point: PathBuf,
    /// Whether it is of the second version.
    is_v2: bool,
}

/// The strictest visible limit; `None` if there is none.
pub(super) fn quota(files: &Files) -> Option<CpuQuota> {
    let cgroup = files.text("proc/self/cgroup")?;
    let mountinfo = files.text("proc/self/mountinfo")?;
    let mut strictest: Option<CpuQuota> = None;
    for mount in mountinfo.lines().filter_map(mount) {
        let Some(group) = cgroup.lines().find_map(|line| group(line, mount.is_v2)) else {
            continue;
        };
        // In a container, a group outside the mount is the mount's own.
        let below = group.strip_prefix(&mount.root).unwrap_or(Path::new(""));
        for ancestor in below.ancestors() {
            let folder = mount.point.join(ancestor);
            let quota = if mount.is_v2 { of_v2(files, &folder) } else { of_v1(files, &folder) };
            if let Some(quota) = quota
                && strictest.is_none_or(|strictest| is_stricter(quota, strictest))
            {
                strictest = Some(quota);
            }
        }
    }
    strictest
}

/// A line of `/proc/self/cgroup`, if it names the group of this version with a CPU controller:
/// `0::/path`, or `4:cpu,cpuacct:/path`.
fn group(line: &str, is_v2: bool) -> Option<PathBuf> {
    let mut fields = line.splitn(3, ':');
    let (hierarchy, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let is_it = if is_v2 {
        hierarchy == "0" && controllers.is_empty()
    } else {
        controllers.split(',').any(|name| name == "cpu")
    };
    // A path above the visible hierarchy begins with `/..`.
    let is_seen = path.starts_with('/') && !path.contains("/..");
    is_it.then(|| PathBuf::from(if is_seen { path } else { "/" }))
}

/// A line of `/proc/self/mountinfo`, if it mounts control groups with a CPU controller.
fn mount(line: &str) -> Option<Mount> {
    let (place, filesystem) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, point) = (unescaped(place.next()?), unescaped(place.next()?));
    let mut filesystem = filesystem.split(' ');
    let (kind, _source, options) = (filesystem.next()?, filesystem.next()?, filesystem.next()?);
    let is_v2 = match kind {
        "cgroup2" => true,
        "cgroup" if options.split(',').any(|option| option == "cpu") => false,
        _ => return None,
    };
    Some(Mount { root: root.into(), point: point.into(), is_v2 })
}

/// Decodes octal escapes of spaces and the like.
fn unescaped(text: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes
        .iter()
        .fold(text.to_owned(), |text, (escape, character)| text.replace(escape, character))
}

/// `max 100000`, or `150000 100000`.
fn of_v2(files: &Files, folder: &Path) -> Option<CpuQuota> {
    let text = files.text(folder.join("cpu.max"))?;
    let (quota, period) = text.trim().split_once(' ')?;
    CpuQuota::new(quota.parse().ok()?, period.parse().ok()?)
}

/// -1 means no limit.
fn of_v1(files: &Files, folder: &Path) -> Option<CpuQuota> {
    let quota = files.number(folder.join("cpu.cfs_quota_us"))?;
    CpuQuota::new(quota, files.number(folder.join("cpu.cfs_period_us"))?)
}
