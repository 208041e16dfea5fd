//! A description of the worker's machine, as far as its system reports it.

use std::env::consts;
use std::fs;
use std::num::NonZero;
use std::thread;

use spelrum_proto::limits::LOGICAL_CORES_MAX;

/// The processor's name; empty if unknown.
pub(crate) fn cpu_model() -> String {
    fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| named(&text)).unwrap_or_default()
}

/// The number of logical processors that this process may use.
pub(crate) fn logical_cores() -> Option<u32> {
    let cores = thread::available_parallelism().map(NonZero::get).ok()?;
    u32::try_from(cores).ok().map(|cores| cores.min(LOGICAL_CORES_MAX))
}

/// The operating system, its kernel and the architecture, as far as known.
pub(crate) fn operating_system() -> String {
    let release = fs::read_to_string("/etc/os-release").ok().and_then(|text| pretty_name(&text));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").ok();
    let kernel = kernel.map(|version| format!("Linux {}", version.trim()));
    let parts = release.into_iter().chain(kernel).collect::<Vec<_>>();
    let system = if parts.is_empty() { consts::OS.to_owned() } else { parts.join(", ") };
    format!("{system}, {}", consts::ARCH)
}

/// The first processor's name in `/proc/cpuinfo`. Some architectures have none: then the machine's name.
fn named(cpuinfo: &str) -> Option<String> {
    let value = |key: &str| {
        cpuinfo.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let words: Vec<&str> = value.split_whitespace().collect();
            (name.trim() == key && !words.is_empty()).then(|| words.join(" "))
        })
    };
    ["model name", "cpu model", "uarch", "cpu", "Model", "Hardware"].into_iter().find_map(value)
}

/// The system's name in `/etc/os-release` (os-release(5)).
fn pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let name = value.trim().trim_matches(['"', '\'']).replace('\\', "");
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_named() {
        let x86 = "processor\t: 0\nvendor_id\t: Someone\nmodel\t\t: 85\n\
                   model name\t: A Processor   @ 2.70GHz\nprocessor\t: 1\nmodel name\t: Another\n";
        assert_eq!(named(x86).as_deref(), Some("A Processor @ 2.70GHz"));
        let arm = "processor\t: 0\nCPU part\t: 0xd08\n\nModel\t\t: A Board Rev 1.4\n";
        assert_eq!(named(arm).as_deref(), Some("A Board Rev 1.4"));
        assert_eq!(named("model name :  \nprocessor: 0\n"), None);
        assert_eq!(named(""), None);
    }

    #[test]
    fn systems_are_named() {
        let text = "ID=some\nPRETTY_NAME=\"Some System 12 (word)\"\n";
        assert_eq!(pretty_name(text).as_deref(), Some("Some System 12 (word)"));
        assert_eq!(pretty_name("PRETTY_NAME=Plain\n").as_deref(), Some("Plain"));
        assert_eq!(pretty_name("PRETTY_NAME=\"\"\nNAME=x\n"), None);
    }

    #[test]
    fn this_machine_has_a_description() {
        assert!(logical_cores().is_some_and(|cores| cores > 0));
        assert!(operating_system().ends_with(consts::ARCH));
    }
}
