//! The places of an engine's processes, from the kernel.

use std::collections::BTreeSet;
use std::fs;

use rustix::thread::{CpuSet, sched_getaffinity};
use spelrum_external::OptionValue;

use crate::harness::{choose, limits, new_game, playing, processes_with, spec, start, wait_until};

/// The hardware threads that every thread of a process may run on.
fn cpus_of(process: i32) -> BTreeSet<String> {
    let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { return BTreeSet::new() };
    let status = |thread: std::io::Result<fs::DirEntry>| {
        fs::read_to_string(thread.ok()?.path().join("status")).ok()
    };
    let list = |status: String| {
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Some(line.trim().to_owned())
    };
    threads.filter_map(status).filter_map(list).collect()
}

#[test]
fn an_engine_stays_where_it_is_kept_with_all_that_it_starts() {
    let allowed = sched_getaffinity(None).unwrap();
    let all: BTreeSet<u32> =
        (0..CpuSet::MAX_CPU as u32).filter(|&cpu| allowed.is_set(cpu as usize)).collect();
    let last = *all.last().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().display().to_string();
    let mut engine = playing(&spec("uci", &["forks", &mark]));
    wait_until("its processes run", || processes_with(&mark).len() >= 5);
    for (cpus, expected) in [
        ([last].into(), BTreeSet::from([last.to_string()])),
        (all, cpus_of(i32::try_from(std::process::id()).unwrap())),
    ] {
        // The second time changes nothing.
        for _ in 0..2 {
            engine.pin_to(&cpus).unwrap();
            for (process, name) in processes_with(&mark) {
                assert_eq!(cpus_of(process), expected, "{process}, `{name}`");
            }
        }
        new_game(&mut engine).unwrap();
        choose(&mut engine, limits()).unwrap();
    }
}

#[test]
fn how_many_threads_an_engine_thinks_on_is_known_of_uci_alone() {
    let threads = |protocol: &str, threads: Option<i64>| {
        let mut spec = spec(protocol, &[]);
        spec.set.extend(threads.map(|count| ("threads".to_owned(), OptionValue::Number(count))));
        start(&spec).unwrap().threads()
    };
    assert_eq!([None, Some(1)].map(|set| threads("uci", set)), [Some(1); 2]);
    assert_eq!(threads("uci", Some(2)), Some(2));
    assert_eq!(threads("gtp", None), None);
    let asked = [("Threads".to_owned(), OptionValue::Number(4))].into();
    assert_eq!(spec("uci", &[]).threads(&asked), Some(4));
}
