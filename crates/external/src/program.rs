//! Diagnoses why an executable file is not a program of this machine, by its first bytes.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::diagnosis::Diagnosis;

/// The bytes read: more than the headers of a program.
const HEAD_BYTES: u64 = 64 * 1_024;

/// Processors by their numbers in ELF, with their names in Rust.
const MACHINES: [(u16, &str); 8] = [
    (3, "x86"),
    (8, "mips"),
    (20, "powerpc"),
    (21, "powerpc64"),
    (40, "arm"),
    (62, "x86_64"),
    (183, "aarch64"),
    (243, "riscv64"),
];

/// The problem with a file that the system does not run; `None` if there is no visible one. A text
/// without an interpreter may still be run by the shell, unless the system `refused` it.
pub(crate) fn unusable_file(path: &Path, refused: bool) -> Option<Diagnosis> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let shown = path.display();
    if let Some(rest) = head.strip_prefix(b"#!") {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let interpreter = line.split_whitespace().next().unwrap_or_default();
        if line.ends_with('\r') {
            return Some(Diagnosis::new(
                format!(
                    "the script {shown} has Windows line ends, so that the system looks for `{interpreter}\\r`"
                ),
                format!("convert it: sed -i 's/\\r$//' {shown}"),
            ));
        }
        let is_there = Path::new(interpreter).exists();
        return (!is_there).then(|| {
            Diagnosis::new(
                format!("the script {shown} is for the interpreter `{interpreter}`, which is not on this machine"),
                "install it, or correct the script's first line",
            )
        });
    }
    if head.is_empty() {
        return Some(Diagnosis::new(format!("{shown} is empty"), "install the engine anew"));
    }
    if head.starts_with(b"\x7fELF") {
        return diagnose_elf(&head, path);
    }
    let system = match head.get(..4)? {
        [b'M', b'Z', ..] => "Windows",
        [0xcf, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe] => "macOS",
        _ if std::str::from_utf8(&head).is_ok() => {
            if !refused {
                return None;
            }
            return Some(Diagnosis::new(
                format!("{shown} is a text whose first line names no interpreter"),
                "begin it with a line such as `#!/bin/sh`",
            ));
        }
        _ => {
            return Some(Diagnosis::new(
                format!("{shown} is not a program of this system"),
                "write the path of the engine's program as `command` in the engines file",
            ));
        }
    };
    Some(Diagnosis::new(
        format!("{shown} is a program for {system}"),
        format!("take a build for {} on {}", std::env::consts::OS, std::env::consts::ARCH),
    ))
}

/// For a program in this system's format: another processor, or a missing loader.
fn diagnose_elf(head: &[u8], path: &Path) -> Option<Diagnosis> {
    let is_little = head.get(5) == Some(&1);
    let pair: [u8; 2] = head.get(18..20)?.try_into().ok()?;
    let machine = if is_little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) };
    let machine = MACHINES.iter().find(|(number, _)| *number == machine);
    let name = machine.map_or("another processor", |(_, name)| *name);
    if name != std::env::consts::ARCH && !(name == "x86" && std::env::consts::ARCH == "x86_64") {
        return Some(Diagnosis::new(
            format!(
                "{} is a program for {name}, and this machine is {}",
                path.display(),
                std::env::consts::ARCH
            ),
            format!("take a build for {}", std::env::consts::ARCH),
        ));
    }
    let loader = loader(head)?;
    (!Path::new(&loader).exists()).then(|| {
        Diagnosis::new(
            format!("{} needs the loader {loader}, which is not on this machine", path.display()),
            "build it on this machine, take a static build, or install the C library that it was built for",
        )
    })
}

/// The loader that a program requests: a path near its beginning, ended by a zero byte.
fn loader(head: &[u8]) -> Option<String> {
    let at = head.windows(5).position(|bytes| bytes == b"/lib/" || bytes == b"/lib6")?;
    let path = head[at..].split(|byte| *byte == 0).next()?;
    let path = String::from_utf8(path.to_vec()).ok()?;
    (path.contains("/ld") && path.len() < 200).then_some(path)
}
