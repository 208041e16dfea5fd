//! An engine's build: a hash of the program and all else that determines how it plays.

use sha2::{Digest as _, Sha256};

use crate::failure::FailureKind;
use crate::gtp::Dialect;
use crate::identity::{hash_file, hash_program};
use crate::spec::{EngineSpec, OptionValue};

/// The prefix of the hash. Changing it would change every engine's build.
const DOMAIN: &str = "spelrum engine build v1";

/// An engine's build: SHA-256 over the hashes of its program and of its files, in order, and over its
/// arguments, environment and settings. Paths do not count, except in arguments, environment and options.
///
/// # Errors
/// If one of the files is missing or cannot be read.
pub fn hash_build(spec: &EngineSpec) -> Result<[u8; 32], FailureKind> {
    let EngineSpec { protocol, args, environment, set, gtp, xboard, .. } = spec;
    let mut build = Build(Sha256::new());
    build.text(DOMAIN);
    build.text(protocol.name());
    build.0.update(hash_program(&spec.command)?);
    build.count(spec.files.len());
    for file in &spec.files {
        build.0.update(hash_file(file)?);
    }
    build.texts(args);
    build.count(environment.len());
    for (variable, value) in environment {
        build.text(variable);
        build.text(value);
    }
    build.count(set.len());
    for (name, value) in set {
        build.text(name);
        build.text(match value {
            OptionValue::Flag(_) => "flag",
            OptionValue::Number(_) => "number",
            OptionValue::Text(_) => "text",
        });
        build.text(&value.to_string());
    }
    // Of the dialect only the commands count.
    let Dialect { setup, limits, .. } = gtp;
    build.texts(setup);
    build.texts(limits);
    // Builds of engines with other protocols are as they were.
    if !xboard.setup.is_empty() {
        build.texts(&xboard.setup);
    }
    Ok(build.0.finalize().into())
}

/// A hash with unambiguous boundaries between fields.
struct Build(Sha256);

impl Build {
    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text);
    }

    fn texts(&mut self, texts: &[String]) {
        self.count(texts.len());
        texts.iter().for_each(|text| self.text(text));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;
    use crate::protocol::Protocol;
    use crate::spec::tests::plain;
    use crate::xboard;

    fn write(path: &Path, text: &str) {
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }

    fn number(value: i64) -> OptionValue {
        OptionValue::Number(value)
    }

    #[test]
    fn all_that_decides_how_an_engine_plays_is_in_its_build() {
        let folder = tempfile::tempdir().unwrap();
        let [program, first, second] = ["dev", "a", "b"].map(|name| folder.path().join(name));
        for (file, text) in [(&program, "program"), (&first, "one"), (&second, "two")] {
            write(file, text);
        }
        let spec = plain("dev", Protocol::Uci, program.clone());
        let base = hash_build(&spec).unwrap();
        assert_eq!(hash_build(&spec).unwrap(), base);
        let set = |name: &str, value| [(name.to_owned(), value)].into();
        let variants = [
            EngineSpec { files: vec![first.clone()], ..spec.clone() },
            EngineSpec { files: vec![second.clone()], ..spec.clone() },
            EngineSpec { files: vec![first.clone(), second.clone()], ..spec.clone() },
            EngineSpec { files: vec![second.clone(), first.clone()], ..spec.clone() },
            EngineSpec { args: vec!["ab".to_owned()], ..spec.clone() },
            EngineSpec { args: vec!["a".to_owned(), "b".to_owned()], ..spec.clone() },
            EngineSpec { environment: [("a".to_owned(), "b".to_owned())].into(), ..spec.clone() },
            EngineSpec {
                xboard: xboard::Dialect { setup: vec!["a".to_owned()], features: true },
                ..spec.clone()
            },
            EngineSpec { set: set("Skill", number(1)), ..spec.clone() },
            EngineSpec { set: set("Skill", number(2)), ..spec.clone() },
            EngineSpec { set: set("Skill", OptionValue::Text("1".to_owned())), ..spec.clone() },
            EngineSpec {
                gtp: Dialect { setup: vec!["komi 0".to_owned()], ..Dialect::default() },
                ..spec.clone()
            },
            EngineSpec { protocol: Protocol::Gtp, ..spec.clone() },
        ];
        let mut builds: Vec<_> = variants.iter().map(|spec| hash_build(spec).unwrap()).collect();
        builds.push(base);
        write(&program, "another program");
        builds.push(hash_build(&spec).unwrap());
        let count = builds.len();
        builds.sort_unstable();
        builds.dedup();
        assert_eq!(builds.len(), count, "each is another build");
    }

    /// Machine-specific settings do not change the build.
    #[test]
    fn the_same_engine_in_another_place_is_the_same_build() {
        let [here, there] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let builds = [here.path(), there.path()].map(|folder| {
            let (program, file) = (folder.join("dev"), folder.join("net"));
            write(&program, "program");
            write(&file, "net");
            let spec = plain("dev", Protocol::Uci, program);
            let at_once = if folder == here.path() { 1 } else { 7 };
            let directory = folder.to_owned();
            hash_build(&EngineSpec { files: vec![file], at_once, directory, ..spec }).unwrap()
        });
        assert_eq!(builds[0], builds[1]);
    }

    /// A script's build changes once its files name the program that it starts.
    #[test]
    fn a_script_is_another_build_once_what_it_starts_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let [script, program] = ["dev.sh", "dev"].map(|name| folder.path().join(name));
        write(&script, "#!/bin/sh\nexec ./dev");
        write(&program, "one");
        let alone = plain("dev", Protocol::Uci, script);
        let spec = EngineSpec { files: vec![program.clone()], ..alone.clone() };
        let before = [&alone, &spec].map(|engine| hash_build(engine).unwrap());
        write(&program, "two");
        let after = [&alone, &spec].map(|engine| hash_build(engine).unwrap());
        assert_eq!(before[0], after[0], "its files do not name the other program");
        assert_ne!(before[1], after[1]);
        std::fs::remove_file(&program).unwrap();
        let missing = hash_build(&spec).unwrap_err().to_string();
        assert!(missing.contains("dev"), "{missing}");
    }
}
