//! Descriptions of recorded machines (`worker/tests/machines/`), and their exclusive slots.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use spelrum_answers::CpuQuota;
use spelrum_worker::Cores;

fn recording(name: &str) -> String {
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    fs::read_to_string(machines.join(name).with_extension("txt")).unwrap()
}

fn names() -> Vec<String> {
    let machines = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines");
    let paths = fs::read_dir(machines).unwrap().map(|entry| entry.unwrap().path());
    let texts = paths.filter(|path| path.extension().is_some_and(|extension| extension == "txt"));
    let mut names: Vec<String> =
        texts.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

/// The files of a machine: `== path` begins each.
fn files(recording: &str) -> Vec<(PathBuf, String)> {
    let parts = recording.strip_prefix("== ").unwrap().split("\n== ");
    parts
        .map(|part| {
            let (path, text) = part.split_once('\n').unwrap();
            (path.into(), format!("{text}\n"))
        })
        .collect()
}

fn cores(files: &[(PathBuf, String)]) -> Cores {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Cores::below(root.path())
}

fn slots(slots: u32) -> NonZeroU32 {
    NonZeroU32::new(slots).unwrap()
}

/// For each machine: its kinds of cores, its quota, and with 16 slots the hardware threads of the
/// exclusive ones, of everything else, and the reason for which there are no more.
#[test]
fn machines_are_understood() {
    let quota = |quota_us, period_us| Some(CpuQuota { quota_us, period_us });
    let expected = [
        ("big-little", "2 fast cores, 4 slower cores", None, "4-5 of 0-5, rest 0-3", "slower"),
        ("cpuset", "4 cores of 2 threads", None, "1,3 of 1-3,9,11,14, rest 2,14", "only some"),
        ("docker-v1", "8 cores", quota(350_000, 100_000), "5-7 of 0-7, rest 0-4", "3.500"),
        (
            "hybrid",
            "6 fast cores of 2 threads, 8 slower cores",
            None,
            "0,2,4,6,8,10 of 0-19, rest 12-19",
            "slower",
        ),
        ("laptop", "4 cores of 2 threads", None, "1-3 of 0-7, rest 0,4", "one core is left"),
        (
            "nested-v2",
            "8 cores of 2 threads",
            quota(125_000, 50_000),
            "12,14 of 0-15, rest 0-11",
            "2.500",
        ),
        ("offline", "3 cores", None, "1,3 of 0-1,3, rest 0", "one core is left"),
        ("one-core", "1 core of 2 threads", None, "none", "shares one core"),
    ];
    assert_eq!(names(), expected.map(|machine| machine.0));
    for (name, kinds, quota, quiet, why) in expected {
        let cores = cores(&files(&recording(name)));
        let planned = cores.plan(slots(16), None);
        assert_eq!(cores.kinds(), kinds, "{name}");
        assert_eq!(cores.quota(), quota, "{name}");
        assert_eq!(planned.to_string(), quiet, "{name}");
        assert!(planned.why_not_more().contains(why), "{name}: {}", planned.why_not_more());
    }
}

#[test]
fn there_are_no_more_than_slots_and_than_are_wanted() {
    let cores = cores(&files(&recording("laptop")));
    let planned = |count, wanted| {
        let planned = cores.plan(slots(count), wanted);
        (planned.count(), planned.why_not_more())
    };
    assert_eq!(planned(2, None), (2, "all slots are".to_owned()));
    assert_eq!(planned(8, Some(1)), (1, "no more were asked for".to_owned()));
    assert_eq!(planned(8, Some(0)), (0, "no more were asked for".to_owned()));
    assert_eq!(planned(8, Some(4)).0, 3, "there cannot be more");
}

/// Without a required file there are no exclusive slots; without any other, there are.
#[test]
fn what_is_missing_is_not_known() {
    let all = files(&recording("laptop"));
    let without = |name: &str| {
        let left: Vec<_> = all.iter().filter(|file| !file.0.ends_with(name)).cloned().collect();
        assert!(left.len() < all.len(), "{name}");
        cores(&left).plan(slots(8), None)
    };
    assert_eq!(without("proc/self/status").count(), 0);
    for name in [
        "cpu/online",
        "proc/self/cgroup",
        "proc/self/mountinfo",
        "core_cpus_list",
        "cpuinfo_max_freq",
    ] {
        assert_eq!(without(name).count(), 3, "{name}");
    }
    let bare: Vec<_> =
        all.iter().filter(|file| !file.0.to_string_lossy().contains("topology")).cloned().collect();
    let planned = cores(&bare).plan(slots(8), None);
    assert_eq!(planned.count(), 0);
    assert!(planned.why_not_more().contains("does not report"));
    assert_eq!(Cores::below(Path::new("/nowhere")).plan(slots(8), None).count(), 0);
}

/// This machine is one.
#[test]
fn this_machine_is_understood() {
    let cores = Cores::here();
    let planned = cores.plan(slots(2), None);
    assert!(planned.count() <= 1 || cfg!(target_os = "linux"));
    if cfg!(target_os = "linux") {
        assert!(!cores.kinds().is_empty(), "{cores:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Any content is parsed or treated as unknown.
    #[test]
    fn damaged_files_are_no_reason_to_panic(
        machine in 0..8_usize,
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        length in 0..40_usize,
        junk in prop::sample::select(vec!["", "-", ",", "\u{0}", "max", "99999999999999999999", "\u{fffd}", "../..", "0-4294967295"]),
        count in 1..4_u32,
    ) {
        let mut files = files(&recording(&names()[machine]));
        for _ in 0..count {
            let (_, text) = which.get(&files).clone();
            let from = text.floor_char_boundary(at.index(text.len() + 1));
            let to = text.floor_char_boundary((from + length).min(text.len())).max(from);
            let damaged = format!("{}{junk}{}", &text[..from], &text[to..]);
            let place = which.index(files.len());
            files[place].1 = damaged;
        }
        let cores = cores(&files);
        for count in [1, 2, 64] {
            let planned = cores.plan(slots(count), None);
            prop_assert!(planned.count() <= count);
            prop_assert!(planned.count() == 0 || !planned.to_string().ends_with("rest "));
        }
        let quota = cores.quota();
        prop_assert!(quota.is_none_or(|quota| quota.quota_us > 0 && quota.period_us > 0));
    }
}
