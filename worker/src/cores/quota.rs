//! How much CPU time the process gets in a period: the limits of control groups.
//!
//! `/proc/self/cgroup` tells which groups the process is in (cgroups(7)), `/proc/self/mountinfo`
//! where these are to be seen (proc_pid_mountinfo(5)). A limit holds for all that is below, so that
//! the smallest of all ancestors counts. Those outside a container cannot be seen from within.

use std::path::{Path, PathBuf};

use super::files::Files;

/// CPU time that all threads may take together in each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quota {
    pub(super) quota_us: u64,
    pub(super) period_us: u64,
}

impl Quota {
    fn new(quota_us: u64, period_us: u64) -> Option<Self> {
        (quota_us > 0 && period_us > 0).then_some(Self { quota_us, period_us })
    }

    /// Thousandths of a hardware thread.
    pub(super) fn milli_cpus(self) -> u64 {
        let milli = u128::from(self.quota_us) * 1_000 / u128::from(self.period_us);
        u64::try_from(milli).unwrap_or(u64::MAX)
    }

    /// Whether it is the stricter of two; of equal ones that with the longer period, which stops
    /// for longer.
    fn is_stricter(self, other: Self) -> bool {
        let [mine, theirs] = [(self, other), (other, self)]
            .map(|(one, two)| u128::from(one.quota_us) * u128::from(two.period_us));
        mine < theirs || mine == theirs && self.period_us > other.period_us
    }
}

/// A mounted hierarchy of control groups.
struct Mount {
    /// Which group stands at its top.
    root: PathBuf,
    point: PathBuf,
    /// Whether it is of the second version.
    is_v2: bool,
}

/// The strictest limit that can be seen; `None` if there is none.
pub(super) fn quota(files: &Files) -> Option<Quota> {
    let cgroup = files.text("proc/self/cgroup")?;
    let mountinfo = files.text("proc/self/mountinfo")?;
    let mut strictest: Option<Quota> = None;
    for mount in mountinfo.lines().filter_map(mount) {
        let Some(group) = cgroup.lines().find_map(|line| group(line, mount.is_v2)) else {
            continue;
        };
        // A group that is not below what is mounted here is that, in a container.
        let below = group.strip_prefix(&mount.root).unwrap_or(Path::new(""));
        for ancestor in below.ancestors() {
            let folder = mount.point.join(ancestor);
            let quota = if mount.is_v2 { of_v2(files, &folder) } else { of_v1(files, &folder) };
            if let Some(quota) = quota
                && strictest.is_none_or(|strictest| quota.is_stricter(strictest))
            {
                strictest = Some(quota);
            }
        }
    }
    strictest
}

/// A line of `/proc/self/cgroup`, if it names the group of this version whose CPU time is limited:
/// `0::/path`, or `4:cpu,cpuacct:/path`.
fn group(line: &str, is_v2: bool) -> Option<PathBuf> {
    let mut fields = line.splitn(3, ':');
    let (hierarchy, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let is_it = if is_v2 {
        hierarchy == "0" && controllers.is_empty()
    } else {
        controllers.split(',').any(|name| name == "cpu")
    };
    // A path to what is above all that can be seen begins with `/..`.
    let is_seen = path.starts_with('/') && !path.contains("/..");
    is_it.then(|| PathBuf::from(if is_seen { path } else { "/" }))
}

/// A line of `/proc/self/mountinfo`, if control groups with CPU time are mounted there.
fn mount(line: &str) -> Option<Mount> {
    let (place, what) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (root, point) = (unescaped(place.next()?), unescaped(place.next()?));
    let mut what = what.split(' ');
    let (kind, _source, options) = (what.next()?, what.next()?, what.next()?);
    let is_v2 = match kind {
        "cgroup2" => true,
        "cgroup" if options.split(',').any(|option| option == "cpu") => false,
        _ => return None,
    };
    Some(Mount { root: root.into(), point: point.into(), is_v2 })
}

/// Spaces and the like are written in octal there.
fn unescaped(text: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(text.to_owned(), |text, (escape, meant)| text.replace(escape, meant))
}

/// `max 100000`, or `150000 100000`.
fn of_v2(files: &Files, folder: &Path) -> Option<Quota> {
    let text = files.text(folder.join("cpu.max"))?;
    let (quota, period) = text.trim().split_once(' ')?;
    Quota::new(quota.parse().ok()?, period.parse().ok()?)
}

/// -1 is no limit.
fn of_v1(files: &Files, folder: &Path) -> Option<Quota> {
    let quota = files.number(folder.join("cpu.cfs_quota_us"))?;
    Quota::new(quota, files.number(folder.join("cpu.cfs_period_us"))?)
}
