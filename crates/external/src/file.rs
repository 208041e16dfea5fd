//! The engines file: the engines of this machine by name. It belongs to the worker, and nothing in it comes
//! from the network.

mod dialects;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use spelrum_toml::{Entry, Fault, Node, Scalar, Span, Table, Tree, did_you_mean, line_and_column};

use crate::accepted::AcceptedPrograms;
use crate::protocol::Protocol;
use crate::search_path::in_path;
use crate::source::Source;
use crate::spec::{
    AllowedOption, EngineSpec, OptionRule, OptionValue, Options, Patience, is_engine_name,
};
use crate::units::{self, NoAmount};

/// The engines of this machine, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineFile {
    engines: BTreeMap<String, EngineSpec>,
    /// Engines that are built from commits.
    sources: BTreeMap<String, Source>,
    /// The folder for their builds, if the file names it.
    builds: Option<PathBuf>,
    /// Programs that are accepted from a coordinator.
    accepted: Option<AcceptedPrograms>,
    /// The folders of this machine's Syzygy tables.
    syzygy: Vec<PathBuf>,
}

/// An error in an engines file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {problem}", path.display(), AtPlace(*.place))]
pub struct EngineFileError {
    /// The file.
    pub path: PathBuf,
    /// Line and column, from 1, if the problem has a place.
    pub place: Option<(usize, usize)>,
    /// The problem.
    pub problem: String,
    /// The remedy, as a sentence without an end mark.
    pub remedy: String,
}

struct AtPlace(Option<(usize, usize)>);

impl fmt::Display for AtPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((line, column)) => write!(f, ":{line}:{column}"),
            None => Ok(()),
        }
    }
}

/// More than any engines file has.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// The most engines that a worker may offer.
const ENGINES_MAX: usize = 100;
const AT_ONCE_MAX: u32 = 4_096;
/// How long a build may take, unless the file says otherwise.
const BUILD_TIMEOUT: Duration = Duration::from_mins(30);
/// The size of all accepted programs together, unless the file says otherwise.
const ACCEPTED_BYTES: u64 = 2 << 30;
/// The most extra files of an engine.
const FILES_MAX: usize = 100;

impl EngineFile {
    /// Reads a file. Paths in it are relative to its folder; commands without a `/` are looked up
    /// in the worker's `PATH`. Programs are checked when they are started.
    ///
    /// # Errors
    /// If it cannot be read, or is invalid, with the place.
    pub fn read(path: &Path) -> Result<Self, EngineFileError> {
        let unreadable = |problem: String| EngineFileError {
            path: path.to_owned(),
            place: None,
            problem,
            remedy: "name a TOML file that this user may read".to_owned(),
        };
        let metadata = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
        // Reading a pipe would wait for its writer.
        if !metadata.is_file() {
            return Err(unreadable(
                "it is a directory, a pipe or a device, and no ordinary file".to_owned(),
            ));
        }
        let length = metadata.len();
        if length > FILE_BYTES_MAX {
            return Err(unreadable(format!(
                "it has {length} bytes, which is too many for an engines file"
            )));
        }
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
        let path = std::path::absolute(path).map_err(|error| unreadable(error.to_string()))?;
        Self::parse(&text, &path)
    }

    /// Parses the text of a file at a path.
    ///
    /// # Errors
    /// As [`EngineFile::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, EngineFileError> {
        read_engines(text, path.parent().unwrap_or(Path::new("/"))).map_err(|fault| {
            EngineFileError {
                path: path.to_owned(),
                place: fault.place.map(|place| line_and_column(text, place.start)),
                problem: fault.problem.replace('\n', "; "),
                remedy: fault.remedy,
            }
        })
    }

    /// An engine by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&EngineSpec> {
        self.engines.get(name)
    }

    /// The same engines, with a log file in this folder of each of their processes' conversations.
    #[must_use]
    pub fn with_logs(mut self, folder: &Path) -> Self {
        let sources = self.sources.values_mut().map(|source| &mut source.engine);
        let sources = sources.chain(self.accepted.as_mut().map(|accepted| &mut accepted.engine));
        for engine in self.engines.values_mut().chain(sources) {
            engine.logs = Some(folder.to_owned());
        }
        self
    }

    /// The same file with the engines of these names alone, and without accepted programs.
    #[must_use]
    pub fn with_only(mut self, is_needed: impl Fn(&str) -> bool) -> Self {
        self.engines.retain(|name, _| is_needed(name));
        self.sources.retain(|name, _| is_needed(name));
        self.accepted = None;
        self
    }

    /// Adds an engine, or replaces the one of its name.
    pub(crate) fn add(&mut self, engine: EngineSpec) {
        self.engines.insert(engine.name.clone(), engine);
    }

    /// Removes an engine.
    pub(crate) fn remove(&mut self, name: &str) {
        self.engines.remove(name);
    }

    /// An engine that is built from commits, by its name.
    #[must_use]
    pub fn source(&self, name: &str) -> Option<&Source> {
        self.sources.get(name)
    }

    /// The engines that are built from commits, by name.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        self.sources.values()
    }

    /// The programs that are accepted from a coordinator, if any are.
    #[must_use]
    pub const fn accepted(&self) -> Option<&AcceptedPrograms> {
        self.accepted.as_ref()
    }

    /// The folder for builds: the one that the file names, or `spelrum/builds` in this user's folder for caches.
    /// `None` if there is neither: others could put programs into a shared folder.
    #[must_use]
    pub fn builds(&self) -> Option<PathBuf> {
        let folder =
            |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        self.builds.clone().or_else(|| {
            let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
            Some(caches?.join("spelrum").join("builds"))
        })
    }

    /// The folders of this machine's Syzygy tables; empty if the file names none.
    #[must_use]
    pub fn syzygy(&self) -> &[PathBuf] {
        &self.syzygy
    }

    /// All engines, by name.
    pub fn iter(&self) -> impl Iterator<Item = &EngineSpec> {
        self.engines.values()
    }
}

impl FromIterator<EngineSpec> for EngineFile {
    fn from_iter<T: IntoIterator<Item = EngineSpec>>(engines: T) -> Self {
        let engines = engines.into_iter().map(|spec| (spec.name.clone(), spec)).collect();
        Self { engines, ..Self::default() }
    }
}

const EXAMPLE: &str =
    "[engines.stockfish] and below it protocol = \"uci\" and command = \"stockfish\"";

/// The keys of an engine.
const ENGINE: [&str; 23] = [
    "protocol",
    "command",
    "git",
    "build",
    "bench",
    "build_timeout",
    "args",
    "files",
    "directory",
    "environment",
    "memory",
    "at_once",
    "startup_timeout",
    "ready_timeout",
    "stop_timeout",
    "move_timeout",
    "quit_timeout",
    "options",
    "set",
    "gtp",
    "xboard",
    "ugi",
    "syzygy",
];

fn read_engines(text: &str, folder: &Path) -> Result<EngineFile, Fault> {
    let root = spelrum_toml::parse(text, "docs/engines.md documents the format")?;
    root.check_keys("the engines file", &["engines", "builds", "accept_programs", "syzygy"])?;
    let builds = root.get("builds").map(Entry::text).transpose()?.map(|path| folder.join(path));
    let syzygy = root.value("syzygy").map(|node| syzygy_folders(node, folder)).transpose()?;
    let syzygy = syzygy.unwrap_or_default();
    let mut file = EngineFile { builds, syzygy, ..EngineFile::default() };
    file.accepted = root
        .get("accept_programs")
        .map(|entry| accepted(entry, folder, file.builds()))
        .transpose()?;
    let Some(engines) = root.value("engines") else { return Ok(file) };
    let entries = &engines.table("`engines`", EXAMPLE)?.entries;
    if entries.len() > ENGINES_MAX {
        let problem = format!("it has {} engines", entries.len());
        return Err(Fault::without_place(
            problem,
            format!("name at most {ENGINES_MAX} in one file"),
        ));
    }
    for entry in entries {
        let engine = RawEngine { syzygy: &file.syzygy, ..RawEngine::new(entry, folder)? };
        match engine.source()? {
            Some(source) => drop(file.sources.insert(entry.key.clone(), source)),
            None => file.add(engine.into_spec()?),
        }
    }
    Ok(file)
}

/// The keys of accepted programs, beside those of an engine that say nothing about where it is.
const ACCEPTED: [&str; 2] = ["names", "size"];
/// Keys of an engine that accepted programs lack.
const NOT_ACCEPTED: [&str; 9] =
    ["syzygy", "command", "git", "build", "bench", "build_timeout", "args", "files", "directory"];
const ACCEPTED_EXAMPLE: &str = "[accept_programs] and below it protocol = \"uci\"";

fn accepted(
    entry: &Entry,
    folder: &Path,
    builds: Option<PathBuf>,
) -> Result<AcceptedPrograms, Fault> {
    let owner = "`accept_programs`";
    let table = entry.value.table(owner, ACCEPTED_EXAMPLE)?;
    let of_engine = ENGINE.into_iter().filter(|key| !NOT_ACCEPTED.contains(key));
    table.check_keys(owner, &of_engine.chain(ACCEPTED).collect::<Vec<_>>())?;
    let raw = RawEngine { name: entry, table, protocol: protocol(table)?, folder, syzygy: &[] };
    let name = |(node, name): (&Node, &str)| {
        check_engine_name(name, &node.place).map(|()| name.to_owned())
    };
    let names = texts(table.value("names"), "`names`")?.into_iter().map(name);
    let names = names.collect::<Result<Vec<_>, _>>()?;
    if names.len() > ENGINES_MAX {
        let remedy = format!("list at most {ENGINES_MAX}, or leave `names` out for every name");
        return Err(Fault::at(&entry.key_place, "it accepts too many names", remedy));
    }
    let folder = builds.ok_or_else(|| {
        let problem = "neither HOME nor XDG_CACHE_HOME names a folder where programs are kept";
        Fault::at(&entry.key_place, problem, "write builds = \"/var/cache/spelrum\" at the top")
    })?;
    let size_max = raw.amount("size", units::memory)?.unwrap_or(ACCEPTED_BYTES);
    Ok(AcceptedPrograms {
        engine: raw.spec_of_program(PathBuf::new(), Vec::new())?,
        names: table.get("names").map(|_| names),
        folder: folder.join("programs"),
        size_max,
    })
}

fn protocol(table: &Table) -> Result<Protocol, Fault> {
    let entry = table.required("protocol", "protocol = \"uci\"")?;
    let text = entry.text()?;
    Protocol::named(text).ok_or_else(|| {
        let problem = format!("`protocol` cannot be \"{text}\"");
        let remedy = did_you_mean(text, "protocols", Protocol::ALL.map(Protocol::name));
        Fault::at(&entry.value.place, problem, remedy)
    })
}

/// An engine as written.
struct RawEngine<'a> {
    name: &'a Entry,
    table: &'a Table,
    protocol: Protocol,
    folder: &'a Path,
    /// The folders of the machine's Syzygy tables.
    syzygy: &'a [PathBuf],
}

impl<'a> RawEngine<'a> {
    fn new(name: &'a Entry, folder: &'a Path) -> Result<Self, Fault> {
        check_engine_name(&name.key, &name.key_place)?;
        let owner = format!("engine `{}`", name.key);
        let table = name.value.table(&owner, EXAMPLE)?;
        table.check_keys(&owner, &ENGINE)?;
        Ok(Self { name, table, protocol: protocol(table)?, folder, syzygy: &[] })
    }

    fn into_spec(self) -> Result<EngineSpec, Fault> {
        let command = self.table.required("command", "command = \"/usr/games/stockfish\"")?;
        let args = texts(self.table.value("args"), "`args`")?;
        let args = args.into_iter().map(without_nul).collect::<Result<_, _>>()?;
        let command = resolve_command(command, self.folder)?;
        self.spec_of_program(command, args)
    }

    fn spec_of_program(self, command: PathBuf, args: Vec<String>) -> Result<EngineSpec, Fault> {
        let directory = self.table.get("directory").map(Entry::text).transpose()?;
        Ok(EngineSpec {
            name: self.name.key.clone(),
            protocol: self.protocol,
            command,
            args,
            files: self.files()?,
            // Joined with an empty path, it would end with a slash.
            directory: directory.map_or(self.folder.to_owned(), |name| self.folder.join(name)),
            environment: self.environment()?,
            memory_bytes: self.amount("memory", units::memory)?,
            at_once: self.at_once()?,
            patience: self.patience()?,
            options: self.options()?,
            set: self.set()?,
            gtp: self.gtp()?,
            xboard: self.xboard()?,
            ugi: self.ugi()?,
            logs: None,
        })
    }

    /// The engine as one that is built from commits, if it has a repository.
    fn source(&self) -> Result<Option<Source>, Fault> {
        let Some(git) = self.table.get("git") else {
            let keys = ["build", "bench", "build_timeout"];
            let Some(key) = keys.into_iter().find_map(|key| self.table.get(key)) else {
                return Ok(None);
            };
            return Err(Fault::at(
                &key.key_place,
                format!("`{}` builds commits of a repository, and there is no `git`", key.key),
                "write git = \"https://…\", or leave it out",
            ));
        };
        let shell_command = |key: &str| -> Result<Option<String>, Fault> {
            let Some(entry) = self.table.get(key) else { return Ok(None) };
            without_nul((&entry.value, entry.text()?)).map(Some)
        };
        let build = self.table.required("build", "build = \"make -j2\"")?;
        let address = without_nul((&git.value, git.text()?))?;
        if address.is_empty() {
            return Err(Fault::at(
                &git.value.place,
                "the address is empty",
                "write git = \"https://…\"",
            ));
        }
        // Addresses have a colon: https://…, file://… and user@host:path.
        let path = self.folder.join(&address);
        let is_path = !address.contains(':');
        // Its paths lead from the folder of a commit.
        let in_commit = RawEngine { folder: Path::new(""), ..*self };
        let command = self.table.required("command", "command = \"./dev\"")?;
        let leads_into_commit = |text: &str| text.contains('/') && !text.starts_with('/');
        let has_files = in_commit.files()?.iter().any(|file| file.is_relative());
        if !leads_into_commit(command.text()?) && !has_files {
            return Err(Fault::at(
                &command.value.place,
                "the program is not one of the commit",
                "write a path in the folder of a commit, such as command = \"./dev\", or list the files of the \
                 commit that the program reads in `files`",
            ));
        }
        Ok(Some(Source {
            engine: in_commit.into_spec()?,
            git: if is_path { path.to_string_lossy().into_owned() } else { address },
            build: without_nul((&build.value, build.text()?))?,
            bench: shell_command("bench")?,
            timeout: self.amount("build_timeout", units::duration)?.unwrap_or(BUILD_TIMEOUT),
        }))
    }

    fn files(&self) -> Result<Vec<PathBuf>, Fault> {
        let mut files = Vec::new();
        for (node, file) in texts(self.table.value("files"), "`files`")? {
            if files.len() == FILES_MAX {
                let remedy = format!("name at most {FILES_MAX}");
                return Err(Fault::at(&node.place, "it needs too many files", remedy));
            }
            files.push(self.folder.join(file));
        }
        Ok(files)
    }

    fn environment(&self) -> Result<BTreeMap<String, String>, Fault> {
        let variable = |entry: &Entry| {
            let Entry { key, key_place, value } = entry;
            if key.is_empty() || key.contains(['=', '\0']) {
                let problem = format!("`{key}` is not a valid variable name");
                return Err(Fault::at(key_place, problem, "leave out `=`"));
            }
            Ok((key.clone(), without_nul((value, entry.text()?))?))
        };
        self.entries("environment")?.iter().map(variable).collect()
    }

    /// The entries of a table; none if it is absent.
    fn entries(&self, key: &str) -> Result<&'a [Entry], Fault> {
        let Some(node) = self.table.value(key) else { return Ok(&[]) };
        Ok(&node.table(&format!("`{key}`"), &format!("{key} = {{ NAME = \"value\" }}"))?.entries)
    }

    fn at_once(&self) -> Result<u32, Fault> {
        let Some(node) = self.table.value("at_once") else { return Ok(AT_ONCE_MAX) };
        let count = node.integer("`at_once`", "at_once = 2")?;
        let within = u32::try_from(count).ok().filter(|count| (1..=AT_ONCE_MAX).contains(count));
        within.ok_or_else(|| {
            let remedy = format!("write a number from 1 to {AT_ONCE_MAX}");
            Fault::at(&node.place, format!("`at_once` is {count}"), remedy)
        })
    }

    /// An amount with a unit.
    fn amount<T>(
        &self,
        key: &str,
        unit: fn(&str) -> Result<T, NoAmount>,
    ) -> Result<Option<T>, Fault> {
        let Some(entry) = self.table.get(key) else { return Ok(None) };
        unit(entry.text()?)
            .map(Some)
            .map_err(|NoAmount { problem, remedy }| Fault::at(&entry.value.place, problem, remedy))
    }

    fn patience(&self) -> Result<Patience, Fault> {
        let mut patience = Patience::default();
        for (field, key) in [
            (&mut patience.startup, "startup_timeout"),
            (&mut patience.ready, "ready_timeout"),
            (&mut patience.stop, "stop_timeout"),
            (&mut patience.unbounded_move, "move_timeout"),
            (&mut patience.quit, "quit_timeout"),
        ] {
            *field = self.amount(key, units::duration)?.unwrap_or(*field);
        }
        Ok(patience)
    }

    fn options(&self) -> Result<Vec<AllowedOption>, Fault> {
        let has_usual = self.protocol.has_usual_options();
        let mut options = if has_usual { EngineSpec::usual_options() } else { Vec::new() };
        let mut rules: Vec<&Entry> = self.entries("options")?.iter().collect();
        rules.sort_unstable_by_key(|entry| &entry.key);
        for entry in rules {
            let name = one_line("the name of an option", &entry.key, &entry.key_place)?;
            options.retain(|option| !option.name.eq_ignore_ascii_case(&name));
            options.extend(allowed(entry, self.protocol)?);
        }
        // Sweeps cannot change the machine's own settings.
        let set = self.set()?;
        options.retain(|option| !set.keys().any(|name| name.eq_ignore_ascii_case(&option.name)));
        Ok(options)
    }

    fn set(&self) -> Result<Options, Fault> {
        let set = self.entries("set")?;
        if !self.protocol.has_options()
            && let Some(entry) = set.first()
        {
            return Err(Fault::at(
                &entry.key_place,
                format!("{} has no options", self.protocol.title()),
                "write commands under `gtp.setup` instead",
            ));
        }
        let value = |entry: &Entry| {
            let name = one_line("the name of an option", &entry.key, &entry.key_place)?;
            Ok((name, option_value(&entry.value)?))
        };
        let mut options: Options = set.iter().map(value).collect::<Result<_, Fault>>()?;
        if let Some((name, text)) = self.syzygy_option()? {
            options.insert(name, OptionValue::Text(text));
        }
        Ok(options)
    }

    /// The option with the folders of the machine's Syzygy tables, if the engine is to have them.
    fn syzygy_option(&self) -> Result<Option<(String, String)>, Fault> {
        let Some(node) = self.table.value("syzygy") else { return Ok(None) };
        let Tree::Scalar(Scalar::Bool(is_wanted)) = node.tree else {
            let problem = format!("`syzygy` cannot be {}", node.kind());
            return Err(Fault::at(&node.place, problem, "write syzygy = true"));
        };
        if !is_wanted {
            return Ok(None);
        }
        let fault = |problem: &str, remedy| Err(Fault::at(&node.place, problem, remedy));
        if !self.protocol.has_options() {
            return fault("its protocol has no options", "remove `syzygy`");
        }
        let Ok(path) = std::env::join_paths(self.syzygy) else {
            return fault("a folder has a `:` in its name", "rename it");
        };
        if self.syzygy.is_empty() {
            return fault("the file names no Syzygy tables", SYZYGY_EXAMPLE);
        }
        Ok(Some(("SyzygyPath".to_owned(), path.to_string_lossy().into_owned())))
    }
}

const SYZYGY_EXAMPLE: &str = "write [syzygy] and below it path = \"/srv/syzygy\"";

/// The folders of Syzygy tables: a list, or a text in which `:` stands between them.
fn syzygy_folders(node: &Node, folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let table = node.table("`syzygy`", SYZYGY_EXAMPLE)?;
    table.check_keys("`syzygy`", &["path"])?;
    let path = table.required("path", "path = \"/srv/syzygy\"")?;
    let listed: Vec<PathBuf> = match &path.value.tree {
        Tree::Scalar(Scalar::Text(text)) => std::env::split_paths(text).collect(),
        Tree::Scalar(_) | Tree::Array(_) | Tree::Table(_) => {
            texts(Some(&path.value), "`path`")?.into_iter().map(|(_, text)| text.into()).collect()
        }
    };
    if listed.iter().all(|path| path.as_os_str().is_empty()) {
        return Err(Fault::at(&path.value.place, "`path` names no folder", SYZYGY_EXAMPLE));
    }
    Ok(listed.into_iter().map(|path| folder.join(path)).collect())
}

/// The texts of a list, with their nodes; none if it is absent.
fn texts<'a>(node: Option<&'a Node>, label: &str) -> Result<Vec<(&'a Node, &'a str)>, Fault> {
    const TEXTS: &str = "[\"one\", \"another\"]";
    let nodes = node.map_or(Ok(&[][..]), |node| node.list(label, "a list", TEXTS))?;
    nodes.iter().map(|node| Ok((node, node.text(label, TEXTS)?))).collect()
}

fn without_nul((node, text): (&Node, &str)) -> Result<String, Fault> {
    match text.contains('\0') {
        true => Err(Fault::at(&node.place, "the text contains a NUL byte", "leave it out")),
        false => Ok(text.to_owned()),
    }
}

fn one_line(name: &str, text: &str, place: &Span) -> Result<String, Fault> {
    match text.contains(char::is_control) {
        true => Err(Fault::at(place, format!("{name} has several lines"), "write it in one line")),
        false => Ok(text.to_owned()),
    }
}

fn check_engine_name(name: &str, place: &Span) -> Result<(), Fault> {
    if !is_engine_name(name) {
        return Err(Fault::at(
            place,
            format!("`{name}` is not a valid engine name"),
            "use up to 64 letters, digits, `-`, `_` and `.`",
        ));
    }
    Ok(())
}

/// A command with a `/` is a path from the file's folder; otherwise it is looked up in `PATH`.
fn resolve_command(command: &Entry, folder: &Path) -> Result<PathBuf, Fault> {
    let (text, place) = (command.text()?, &command.value.place);
    if text.is_empty() || text.contains('\0') {
        return Err(Fault::at(place, "the command is empty", "write the path of a program"));
    }
    if text.contains('/') {
        return Ok(folder.join(text));
    }
    in_path(&std::env::var_os("PATH").unwrap_or_default(), text).ok_or_else(|| {
        Fault::at(
            place,
            format!("there is no program `{text}` in the PATH"),
            "write its full path, such as /usr/games/stockfish",
        )
    })
}

fn option_value(node: &Node) -> Result<OptionValue, Fault> {
    match &node.tree {
        Tree::Scalar(Scalar::Bool(flag)) => Ok(OptionValue::Flag(*flag)),
        Tree::Scalar(Scalar::Integer(number)) => Ok(OptionValue::Number(*number)),
        Tree::Scalar(Scalar::Text(text)) => {
            one_line("the text of an option", text, &node.place).map(OptionValue::Text)
        }
        Tree::Scalar(Scalar::Number(_)) | Tree::Array(_) | Tree::Table(_) => Err(Fault::at(
            &node.place,
            format!("an option cannot be {}", node.kind()),
            "write `true`, `false`, a whole number or a text",
        )),
    }
}

const RULES: &str = "write `{ min = 1, max = 20 }`, `{ values = [\"a\", \"b\"] }`, \
                     `{ button = true }`, or `false` for none";

/// The allowed values of an option; `None` if there are none.
fn allowed(entry: &Entry, protocol: Protocol) -> Result<Option<AllowedOption>, Fault> {
    let Entry { key: name, value: node, .. } = entry;
    let fault = |problem: String, remedy: &str| Err(Fault::at(&node.place, problem, remedy));
    let table = match &node.tree {
        Tree::Scalar(Scalar::Bool(false)) => return Ok(None),
        Tree::Table(table) => table,
        Tree::Scalar(_) | Tree::Array(_) => {
            return fault(format!("`{name}` has a value, not a rule"), RULES);
        }
    };
    let scalar = |key: &str| match table.value(key).map(|node| &node.tree) {
        Some(Tree::Scalar(scalar)) => Some(scalar),
        Some(Tree::Array(_) | Tree::Table(_)) | None => None,
    };
    let command = match (protocol.has_options(), scalar("command")) {
        (true, _) if table.get("command").is_none() => None,
        (false, Some(Scalar::Text(text)))
            if text.contains("{value}") && !text.contains(char::is_control) =>
        {
            Some(text.clone())
        }
        (true, _) => {
            let problem = format!("{} has its own command to set an option", protocol.title());
            return fault(problem, "leave `command` out");
        }
        (false, _) => {
            return fault(
                format!("`{name}` has no command that sets it"),
                "write one with `{value}`, such as `command = \"level {value}\"`",
            );
        }
    };
    let mut keys: Vec<_> = table.keys().filter(|key| *key != "command").collect();
    keys.sort_unstable();
    let rule = match keys.as_slice() {
        ["max", "min"] => match (scalar("min"), scalar("max")) {
            (Some(Scalar::Integer(min)), Some(Scalar::Integer(max))) if min <= max => {
                OptionRule::Between { min: *min, max: *max }
            }
            _ => return fault(format!("`{name}` has no bounds that leave a number"), RULES),
        },
        ["values"] => match table.value("values").map(|values| &values.tree) {
            Some(Tree::Array(values)) if !values.is_empty() => {
                OptionRule::OneOf(values.iter().map(option_value).collect::<Result<_, _>>()?)
            }
            _ => return fault(format!("`{name}` has no list of values"), RULES),
        },
        ["button"]
            if scalar("button") == Some(&Scalar::Bool(true)) && protocol.has_usual_options() =>
        {
            OptionRule::Press
        }
        _ => return fault(format!("what `{name}` may be cannot be understood"), RULES),
    };
    Ok(Some(AllowedOption { name: name.clone(), rule, command }))
}

#[cfg(test)]
mod tests;
