//! Engines and matches from files of other match runners.

mod command_line;
mod cutechess;
mod fastchess;
mod keys;
mod openbench;

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use spelrum_engine::decode_text_file;

use self::keys::{NotOurs, Words};
use super::match_words::{MatchWords, Remark};
use crate::error::{CliError, Result};
use crate::exit::Exit;

/// More than any list of engines has.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A file of another match runner.
#[derive(Debug)]
pub(crate) struct ImportedFile {
    pub(crate) path: PathBuf,
    /// Its folder, absolute.
    pub(crate) folder: PathBuf,
    /// Its engines and its match, in the words of a command line.
    pub(crate) words: MatchWords,
    /// Whether it describes a match beside its engines.
    pub(crate) has_match: bool,
}

impl ImportedFile {
    /// Reads a file of any of the formats. `preset` is the one of OpenBench's presets to take.
    ///
    /// # Errors
    /// If the file cannot be read, has none of the formats, or has no engine.
    pub(crate) fn read(path: &Path, preset: Option<&str>) -> Result<Self> {
        let failed = || CliError::new(Exit::Input, format!("import {}", path.display()));
        let text = read_text(path)
            .map_err(|NotOurs { problem, remedy }| failed().because(problem).help(remedy))?;
        let name = path.file_stem().unwrap_or(OsStr::new("engine")).to_string_lossy();
        let (read, has_match) = understand(&text, &name, preset)
            .map_err(|NotOurs { problem, remedy }| failed().because(problem).help(remedy))?;
        let Words { words, remarks } = read;
        let mut words = MatchWords::gather(&words);
        words.faults.splice(0..0, remarks);
        let folder = std::path::absolute(path)
            .map_err(|error| failed().because(error).help("name a file that is there"))?;
        let folder = folder.parent().unwrap_or(Path::new("/")).to_owned();
        look_up_engines(&mut words, &folder);
        Ok(Self { path: path.to_owned(), folder, words, has_match })
    }
}

/// Takes engines that are named by `conf=` from the `engines.json` of cutechess in this folder. An engine that is not
/// there is a fault of the words.
pub(crate) fn look_up_engines(words: &mut MatchWords, folder: &Path) {
    if words.engines.iter().all(|engine| engine.configured.is_none()) {
        return;
    }
    let path = folder.join("engines.json");
    let listed = read_text(&path).and_then(|text| understand(&text, "engines", None));
    let listed = listed.map(|(Words { words, remarks }, _)| {
        let mut listed = MatchWords::gather(&words);
        listed.faults.splice(0..0, remarks);
        listed
    });
    for engine in &mut words.engines {
        let Some(name) = engine.configured.clone() else { continue };
        let problem = match &listed {
            Err(NotOurs { problem, .. }) => format!("{}: {problem}", path.display()),
            Ok(listed) => {
                let is_about = |remark: &&Remark| remark.engine.as_ref() == Some(&name);
                words.faults.extend(listed.faults.iter().filter(is_about).cloned());
                words.notes.extend(listed.notes.iter().filter(is_about).cloned());
                if let Some(listed) =
                    listed.engines.iter().find(|listed| listed.name.as_ref() == Some(&name))
                {
                    *engine = std::mem::take(engine).over(listed);
                    continue;
                }
                format!("{} has no engine `{name}` that can play", path.display())
            }
        };
        let remedy = "write its command: cmd=PROGRAM".to_owned();
        words.faults.push(Remark { engine: Some(name), problem, remedy });
    }
}

fn read_text(path: &Path) -> std::result::Result<String, NotOurs> {
    let failed = |error: std::io::Error| {
        NotOurs::new(error.to_string(), "name a file that is there, and that you may read")
    };
    // Reading a pipe would wait for its writer.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(NotOurs::new(
            "it is a directory, a pipe or a device, and not an ordinary file",
            "name the file itself, such as engines.json",
        ));
    }
    let mut bytes = Vec::new();
    let mut file = std::fs::File::open(path).map_err(failed)?.take(FILE_BYTES_MAX + 1);
    file.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(NotOurs::new(
            "it has more than 16 MiB, which no list of engines has",
            "name the file of the match runner that lists engines",
        ));
    }
    let text = decode_text_file(bytes);
    if text.trim().is_empty() {
        return Err(NotOurs::new("it is empty", KINDS));
    }
    Ok(text)
}

const KINDS: &str = "name an engines.json of cutechess, a config.json of fastchess, an engine file of OpenBench, or \
                     a file with a command line of one of them";

/// The words of the file, and whether they describe a match.
fn understand(
    text: &str,
    name: &str,
    preset: Option<&str>,
) -> std::result::Result<(Words, bool), NotOurs> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Ok((command_line::read(text)?, true));
    }
    let json = serde_json::from_str(text).map_err(|error| {
        NotOurs::new(
            format!("it is not valid JSON: {error}"),
            "correct that place, or save the file again with its own program",
        )
    })?;
    match json {
        Json::Array(engines) => Ok((cutechess::read(engines)?, false)),
        Json::Object(object) if object.contains_key("engines") => {
            Ok((fastchess::read(object)?, true))
        }
        Json::Object(object) if object.contains_key("build") => {
            Ok((openbench::read(name, object, preset)?, true))
        }
        Json::Object(_) | Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {
            Err(NotOurs::new("it is JSON of another program", KINDS))
        }
    }
}
