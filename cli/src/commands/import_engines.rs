//! `spelrum import-engines`: engines and matches from files of other match runners.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use spelrum_external::{EngineFile, EngineFileError};
use spelrum_report::data::{NewFile, write_json};
use spelrum_report::text::counted;
use toml_edit::{DocumentMut, Item, Table};

use super::new::{not_written, write_file};
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::sweeps::imports::ImportedFile;
use crate::sweeps::match_files::{
    Folders, MatchFiles, Program, engines_text, programs, syzygy_table,
};
use crate::sweeps::match_words::Remark;
use crate::terminal;
use crate::terminal::notices;

const EXAMPLES: &str = "\
A file is an engines.json of cutechess, a config.json that fastchess saved, an engine file of OpenBench, or a text \
with a command line of fastchess or cutechess, such as a script. Relative paths in it lead from its own folder. What \
is not taken over is named, with what to do instead.

All but engines.json describe a match too: its time control, openings, SPRT and adjudication. --sweep writes that as a \
sweep.

JSON: engines_file, engines, sweep (or null), not_taken_over (file, engine, problem, remedy).

Examples:
  spelrum import-engines engines.json                            (writes engines.toml)
  spelrum import-engines more.json --into engines.toml           (adds to it)
  spelrum import-engines config.json --sweep match.toml
  spelrum import-engines Engines/Ethereal.json --preset LTC --sweep match.toml";

/// Take engines and matches over from files of other match runners
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ImportEngines {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The engines file; engines are added if it exists [default: engines.toml, if there is none]
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
    /// Write the match as a sweep, too
    #[arg(long, value_name = "FILE")]
    sweep: Option<PathBuf>,
    /// The preset of an engine file of OpenBench [default: STC, or else the first]
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Overwrite the sweep, and engines of the same names
    #[arg(long)]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The engines file unless another is named.
const ENGINES_FILE: &str = "engines.toml";

#[derive(Serialize)]
struct Json<'a> {
    engines_file: String,
    engines: Vec<&'a str>,
    sweep: Option<String>,
    not_taken_over: &'a [NotTakenOver],
}

#[derive(Serialize)]
struct NotTakenOver {
    file: String,
    engine: Option<String>,
    problem: String,
    remedy: String,
}

impl ImportEngines {
    /// Writes the engines file, and the sweep.
    pub(crate) fn run(self) -> Result<Exit> {
        let into = self.into.clone().unwrap_or_else(|| ENGINES_FILE.into());
        let inputs = self.files.iter().map(|input| (input, "an imported file"));
        let written = self.sweep.iter().map(|sweep| (sweep, "the sweep")).chain(inputs.clone());
        let is_same = |one: &Path, other: &Path| {
            std::path::absolute(one).ok() == std::path::absolute(other).ok()
        };
        let clash = written.clone().find(|(path, _)| is_same(path, &into)).or_else(|| {
            inputs
                .clone()
                .find(|(path, _)| self.sweep.as_ref().is_some_and(|sweep| is_same(path, sweep)))
        });
        if let Some((path, what)) = clash {
            return Err(failed(path)
                .because(format!("{what} and a file that is written are the same"))
                .help("name another file with --into or --sweep"));
        }
        let files = self.files.iter().map(|path| ImportedFile::read(path, self.preset.as_deref()));
        let files = files.collect::<Result<Vec<_>>>()?;
        let mut remarks = Vec::new();
        let engines_folder = folder(&into)?;
        let mut taken: Vec<Program> = Vec::new();
        for file in &files {
            let folders = Folders {
                words: file.folder.clone(),
                engines: engines_folder.clone(),
                sweep: PathBuf::new(),
            };
            for program in usable(file, &folders, &mut remarks) {
                if taken.iter().any(|other| other.name == program.name) {
                    return Err(failed(&file.path)
                        .because(format!("another file has an engine {} as well", program.name))
                        .help("rename one of them, or import each file into an engines file of its own"));
                }
                taken.push(program);
            }
            self.remark_on(file, &mut remarks);
        }
        for NotTakenOver { file, engine, problem, remedy } in &remarks {
            let engine = engine.as_ref().map(|engine| format!(" {engine}:")).unwrap_or_default();
            notices::notify(&format!("note: {file}:{engine} {problem}; {remedy}"));
        }
        if taken.is_empty() {
            return Err(failed(&files[0].path)
                .because("it has no engine that can be taken over")
                .help("the notes above say what to correct in it"));
        }
        let sweep =
            self.sweep.as_ref().map(|path| self.sweep_text(path, &files, &taken, &engines_folder));
        let sweep = sweep.transpose()?;
        let tables = sweep.as_ref().map(|files| &files.syzygy_folders[..]).unwrap_or_default();
        let (engines, is_new) = self.engines_text(&into, &taken, tables)?;
        if let (Some(path), Some(files)) = (&self.sweep, &sweep) {
            write_file(path, &files.sweep, self.force).map_err(|error| not_written(path, error))?;
        }
        let (new, mut out) = NewFile::create(&into)?;
        out.write_all(engines.as_bytes()).map_err(|error| not_written(&into, error))?;
        new.finish()?;
        let passed: Vec<&str> =
            files.iter().flat_map(|file| &file.words.passed).map(String::as_str).collect();
        self.print(&into, is_new, &taken, sweep.as_ref(), &passed, &remarks)
    }

    /// Gathers what the file says that is not taken over: about its match only if that is asked for.
    fn remark_on(&self, file: &ImportedFile, remarks: &mut Vec<NotTakenOver>) {
        let said = file.words.faults.iter().chain(&file.words.notes);
        let said = said.filter(|remark| remark.engine.is_some() || self.sweep.is_some());
        remarks.extend(said.map(|remark| NotTakenOver::new(file, remark.clone())));
        if self.sweep.is_some() && file.words.pgn.is_some() {
            let problem = "no PGN is written while games are played".to_owned();
            let remedy = "write it from the database: spelrum games --format pgn".to_owned();
            remarks.push(NotTakenOver::new(file, Remark { engine: None, problem, remedy }));
        }
        if self.sweep.is_none() && file.has_match {
            let problem = "its match is not taken over".to_owned();
            let remedy = "--sweep match.toml writes it as a sweep".to_owned();
            remarks.push(NotTakenOver::new(file, Remark { engine: None, problem, remedy }));
        }
    }

    /// The match of the one file that has one.
    fn sweep_text(
        &self,
        path: &Path,
        files: &[ImportedFile],
        taken: &[Program],
        engines_folder: &Path,
    ) -> Result<MatchFiles> {
        let failed = || CliError::new(Exit::Input, format!("write {}", path.display()));
        if path.exists() && !self.force {
            return Err(not_written(path, ErrorKind::AlreadyExists.into()));
        }
        let matches: Vec<_> = files.iter().filter(|file| file.has_match).collect();
        let [file] = matches[..] else {
            let problem = match matches.len() {
                0 => "no file describes a match".to_owned(),
                count => format!("{count} files describe a match"),
            };
            let help = "import one config.json, command line or engine file of OpenBench, or leave --sweep out";
            return Err(failed().because(problem).help(help));
        };
        let folders = Folders {
            words: file.folder.clone(),
            engines: engines_folder.to_owned(),
            sweep: folder(path)?,
        };
        let files = MatchFiles::new(&file.words, &folders)?;
        match files.names.iter().find(|name| taken.iter().all(|program| program.name != **name)) {
            None => Ok(files),
            Some(name) => Err(failed()
                .because(format!("its player {name} is not taken over"))
                .help("the notes above say why; without --sweep the other engines are written")),
        }
    }

    /// The engines file with these engines, and whether it is a new one.
    fn engines_text(
        &self,
        into: &Path,
        programs: &[Program],
        tables: &[String],
    ) -> Result<(String, bool)> {
        let failed = || CliError::new(Exit::Input, format!("write {}", into.display()));
        let old = match std::fs::read_to_string(into) {
            Ok(_) if self.into.is_none() => {
                return Err(failed()
                    .because("it exists already")
                    .help(format!("add to it with --into {ENGINES_FILE}, or name another file")));
            }
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok((engines_text(programs, tables), true));
            }
            Err(error) => {
                return Err(failed()
                    .because(error)
                    .help("name an engines file that you may write to"));
            }
        };
        let absolute = std::path::absolute(into).map_err(|error| failed().because(error))?;
        // Before it is changed, so that its lines are those that the user sees.
        EngineFile::parse(&old, &absolute).map_err(|error| unreadable(into, error))?;
        let mut document: DocumentMut = old.parse().map_err(|error| failed().because(error))?;
        if !tables.is_empty() {
            document.entry("syzygy").or_insert_with(|| syzygy_table(tables));
        }
        let mut none = Table::new();
        none.set_implicit(true);
        let engines = document.entry("engines").or_insert(Item::Table(none)).as_table_like_mut();
        let Some(engines) = engines else {
            return Err(failed().because("its `engines` are no table"));
        };
        for Program { name, entry } in programs {
            let new = entry.clone().into_table();
            let is_other =
                |old: &Item| old.as_table().is_none_or(|old| old.to_string() != new.to_string());
            if engines.get(name).is_some_and(is_other) && !self.force {
                return Err(failed()
                    .because(format!("it already has another engine called {name}"))
                    .help("rename one of them, or replace it with --force"));
            }
            engines.insert(name, Item::Table(new));
        }
        let text = document.to_string();
        EngineFile::parse(&text, &absolute).map_err(|error| unreadable(into, error))?;
        Ok((text, false))
    }

    fn print(
        &self,
        into: &Path,
        is_new: bool,
        taken: &[Program],
        sweep: Option<&MatchFiles>,
        passed: &[&str],
        remarks: &[NotTakenOver],
    ) -> Result<Exit> {
        let mut out = terminal::stdout();
        let names: Vec<&str> = taken.iter().map(|program| &*program.name).collect();
        let path = self.sweep.as_ref().map(|path| path.display().to_string());
        let engines_file = into.display().to_string();
        if self.json {
            let json = Json { engines_file, engines: names, sweep: path, not_taken_over: remarks };
            write_json(&mut out, &json)?;
            return Ok(Exit::Success);
        }
        let done = if is_new { "wrote" } else { "added to" };
        let engines = counted(names.len() as u64, "engine");
        writeln!(out, "{done} {engines_file}: {engines}, {}", names.join(", "))?;
        let mut next =
            vec![format!("spelrum engine check {} --engines {engines_file}", names.join(" "))];
        if let (Some(path), Some(MatchFiles { name, .. })) = (path, sweep) {
            writeln!(out, "wrote {path}, the experiment {name}")?;
            let passed = shlex::try_join(passed.iter().copied()).unwrap_or_default();
            next.push(
                format!("spelrum run {path} --engines {engines_file} {passed}")
                    .trim_end()
                    .to_owned(),
            );
        }
        writeln!(out, "\nnext:")?;
        next.iter().try_for_each(|command| writeln!(out, "  {command}"))?;
        Ok(Exit::Success)
    }
}

impl NotTakenOver {
    fn new(file: &ImportedFile, remark: Remark) -> Self {
        let Remark { engine, problem, remedy } = remark;
        Self { file: file.path.display().to_string(), engine, problem, remedy }
    }
}

fn failed(path: &Path) -> CliError {
    CliError::new(Exit::Input, format!("import {}", path.display()))
}

fn unreadable(into: &Path, error: EngineFileError) -> CliError {
    let remedy = error.remedy.clone();
    CliError::new(Exit::Input, format!("add to {}", into.display())).because(error).help(remedy)
}

/// The folder of a file, absolute.
fn folder(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).map_err(|error| not_written(path, error))?;
    Ok(absolute.parent().unwrap_or(Path::new("/")).to_owned())
}

/// The engines of a file that an engines file can have. The others are left out, with a remark.
fn usable(file: &ImportedFile, folders: &Folders, remarks: &mut Vec<NotTakenOver>) -> Vec<Program> {
    let mut usable = Vec::new();
    for (engine, program) in file.words.engines.iter().zip(programs(&file.words, folders)) {
        let mut remark = |problem: String, remedy: String| {
            let engine = engine.label();
            remarks.push(NotTakenOver::new(file, Remark { engine, problem, remedy }));
        };
        let Some(program) = program else {
            remark("it has no program, and is left out".to_owned(), "write cmd=PROGRAM".to_owned());
            continue;
        };
        let text = engines_text([&program], &[]);
        let read = EngineFile::parse(&text, &folders.engines.join(ENGINES_FILE));
        let spec = match read {
            Ok(read) => read,
            Err(EngineFileError { problem, remedy, .. }) => {
                remark(format!("it is left out: {problem}"), remedy);
                continue;
            }
        };
        if let Some(name) = engine.name.as_ref().filter(|name| **name != program.name) {
            remark(
                format!("it is called {} here", program.name),
                format!("`{name}` has other characters than letters, digits, `-`, `_` and `.`"),
            );
        }
        if let Some(spec) = spec.get(&program.name).filter(|spec| !spec.command.is_file()) {
            let command: PathBuf = spec.command.components().collect();
            let problem = format!("there is no program {}", command.display());
            remark(problem, "put it there, or correct `command` in the engines file".to_owned());
        }
        usable.push(program);
    }
    usable
}
