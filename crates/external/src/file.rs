//! The engines file: the engines of this machine by name. It belongs to the worker, and nothing in it comes
//! from the network.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use serde::Deserialize;
use toml::{Spanned, Value};

use crate::gtp::Dialect;
use crate::spec::{
    AllowedOption, EngineSpec, OptionRule, OptionValue, Options, Patience, Protocol,
};
use crate::units::{self, NoAmount};

/// The engines of this machine, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineFile {
    engines: BTreeMap<String, EngineSpec>,
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
const NAME_BYTES_MAX: usize = 64;
/// The most engines that a worker may offer.
const ENGINES_MAX: usize = 100;
const AT_ONCE_MAX: u32 = 4_096;
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
        let error = |wrong: FileProblem| EngineFileError {
            path: path.to_owned(),
            place: wrong.at.map(|span| line_and_column(text, span.start)),
            problem: wrong.problem,
            remedy: wrong.remedy,
        };
        let raw: RawFile = toml::from_str(text).map_err(|parse_error| {
            error(FileProblem {
                at: parse_error.span(),
                problem: parse_error.message().replace('\n', "; "),
                remedy: "docs/engines.md documents the format".to_owned(),
            })
        })?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        if raw.engines.len() > ENGINES_MAX {
            return Err(error(FileProblem {
                at: None,
                problem: format!("it has {} engines", raw.engines.len()),
                remedy: format!("name at most {ENGINES_MAX} in one file"),
            }));
        }
        let engines = raw.engines.into_iter().map(|(name, engine)| {
            let spec = engine.into_spec(&name, folder)?;
            Ok((spec.name.clone(), spec))
        });
        Ok(Self { engines: engines.collect::<Result<_, _>>().map_err(error)? })
    }

    /// An engine by its name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&EngineSpec> {
        self.engines.get(name)
    }

    /// The same engines, with a log file in this folder of each of their processes' conversations.
    #[must_use]
    pub fn with_logs(mut self, folder: &Path) -> Self {
        for engine in self.engines.values_mut() {
            engine.logs = Some(folder.to_owned());
        }
        self
    }

    /// All engines, by name.
    pub fn iter(&self) -> impl Iterator<Item = &EngineSpec> {
        self.engines.values()
    }
}

impl FromIterator<EngineSpec> for EngineFile {
    fn from_iter<T: IntoIterator<Item = EngineSpec>>(engines: T) -> Self {
        Self { engines: engines.into_iter().map(|spec| (spec.name.clone(), spec)).collect() }
    }
}

fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// The problem and its place.
struct FileProblem {
    at: Option<Range<usize>>,
    problem: String,
    remedy: String,
}

fn wrong<T>(at: Range<usize>, problem: impl Into<String>, remedy: &str) -> Result<T, FileProblem> {
    Err(FileProblem { at: Some(at), problem: problem.into(), remedy: remedy.to_owned() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    #[serde(default)]
    engines: BTreeMap<Spanned<String>, RawEngine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEngine {
    protocol: Protocol,
    command: Spanned<String>,
    #[serde(default)]
    args: Vec<Spanned<String>>,
    #[serde(default)]
    files: Vec<Spanned<PathBuf>>,
    directory: Option<PathBuf>,
    #[serde(default)]
    environment: BTreeMap<Spanned<String>, Spanned<String>>,
    memory: Option<Spanned<String>>,
    at_once: Option<Spanned<u32>>,
    startup_timeout: Option<Spanned<String>>,
    ready_timeout: Option<Spanned<String>>,
    stop_timeout: Option<Spanned<String>>,
    move_timeout: Option<Spanned<String>>,
    quit_timeout: Option<Spanned<String>>,
    #[serde(default)]
    options: BTreeMap<Spanned<String>, Spanned<Value>>,
    #[serde(default)]
    set: BTreeMap<Spanned<String>, Spanned<Value>>,
    gtp: Option<Spanned<Dialect>>,
}

impl RawEngine {
    fn into_spec(self, name: &Spanned<String>, folder: &Path) -> Result<EngineSpec, FileProblem> {
        let patience = self.patience()?;
        let (options, set) = (self.options()?, self.set()?);
        let at_once = match &self.at_once {
            None => AT_ONCE_MAX,
            Some(count) if (1..=AT_ONCE_MAX).contains(count.as_ref()) => *count.as_ref(),
            Some(count) => {
                let problem = format!("`at_once` is {}", count.as_ref());
                return wrong(
                    count.span(),
                    problem,
                    &format!("write a number from 1 to {AT_ONCE_MAX}"),
                );
            }
        };
        let memory_bytes =
            self.memory.as_ref().map(|text| read(text, units::memory)).transpose()?;
        for text in self.args.iter().chain(self.environment.values()) {
            if text.as_ref().contains('\0') {
                return wrong(text.span(), "the text contains a NUL byte", "leave it out");
            }
        }
        for variable in self.environment.keys() {
            if variable.as_ref().is_empty() || variable.as_ref().contains(['=', '\0']) {
                return wrong(
                    variable.span(),
                    format!("`{}` is not a valid variable name", variable.as_ref()),
                    "leave out `=`",
                );
            }
        }
        let gtp = self.dialect()?;
        if let Some(one_more) = self.files.get(FILES_MAX) {
            let problem = format!("it needs {} files", self.files.len());
            return wrong(one_more.span(), problem, &format!("name at most {FILES_MAX}"));
        }
        let files = self.files.into_iter().map(|file| folder.join(file.into_inner())).collect();
        let environment = self.environment.into_iter();
        Ok(EngineSpec {
            name: parse_name(name)?,
            protocol: self.protocol,
            command: resolve_command(&self.command, folder)?,
            args: self.args.into_iter().map(Spanned::into_inner).collect(),
            files,
            directory: self.directory.map_or(folder.to_owned(), |directory| folder.join(directory)),
            environment: environment.map(|(a, b)| (a.into_inner(), b.into_inner())).collect(),
            memory_bytes,
            at_once,
            patience,
            options,
            set,
            gtp,
            logs: None,
        })
    }

    fn patience(&self) -> Result<Patience, FileProblem> {
        let mut patience = Patience::default();
        for (field, given) in [
            (&mut patience.startup, &self.startup_timeout),
            (&mut patience.ready, &self.ready_timeout),
            (&mut patience.stop, &self.stop_timeout),
            (&mut patience.unbounded_move, &self.move_timeout),
            (&mut patience.quit, &self.quit_timeout),
        ] {
            if let Some(text) = given {
                *field = read(text, units::duration)?;
            }
        }
        Ok(patience)
    }

    fn options(&self) -> Result<Vec<AllowedOption>, FileProblem> {
        let mut options = match self.protocol {
            Protocol::Uci => EngineSpec::usual_options(),
            Protocol::Gtp => Vec::new(),
        };
        for (name, value) in &self.options {
            one_line("the name of an option", name)?;
            options.retain(|option| !option.name.eq_ignore_ascii_case(name.as_ref()));
            options.extend(allowed(name.as_ref(), value, self.protocol)?);
        }
        // Sweeps cannot change the machine's own settings.
        let is_set =
            |name: &str| self.set.keys().any(|key| key.as_ref().eq_ignore_ascii_case(name));
        options.retain(|option| !is_set(&option.name));
        Ok(options)
    }

    fn set(&self) -> Result<Options, FileProblem> {
        if let (Protocol::Gtp, Some(name)) = (self.protocol, self.set.keys().next()) {
            return wrong(
                name.span(),
                "GTP has no options",
                "write commands under `gtp.setup` instead",
            );
        }
        let set = self.set.iter().map(|(name, value)| {
            one_line("the name of an option", name)?;
            Ok((name.as_ref().clone(), option_value(value.as_ref(), &value.span())?))
        });
        set.collect()
    }

    fn dialect(&self) -> Result<Dialect, FileProblem> {
        let Some(dialect) = &self.gtp else { return Ok(Dialect::default()) };
        if self.protocol != Protocol::Gtp {
            return wrong(dialect.span(), "the engine does not speak GTP", "leave `gtp` out");
        }
        let Dialect { colours, setup, limits, .. } = dialect.as_ref();
        if colours.iter().chain(setup).chain(limits).any(|text| text.contains(char::is_control)) {
            return wrong(dialect.span(), "a command has several lines", "write one for each");
        }
        Ok(dialect.as_ref().clone())
    }
}

fn parse_name(name: &Spanned<String>) -> Result<String, FileProblem> {
    let text = name.as_ref();
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if text.is_empty() || text.len() > NAME_BYTES_MAX || !text.bytes().all(is_good) {
        return wrong(
            name.span(),
            format!("`{text}` is not a valid engine name"),
            "use up to 64 letters, digits, `-`, `_` and `.`",
        );
    }
    Ok(text.clone())
}

/// A command with a `/` is a path from the file's folder; otherwise it is looked up in `PATH`.
fn resolve_command(command: &Spanned<String>, folder: &Path) -> Result<PathBuf, FileProblem> {
    let text = command.as_ref();
    if text.is_empty() || text.contains('\0') {
        return wrong(command.span(), "the command is empty", "write the path of a program");
    }
    if text.contains('/') {
        return Ok(folder.join(text));
    }
    in_path(&std::env::var_os("PATH").unwrap_or_default(), text).map_or_else(
        || {
            wrong(
                command.span(),
                format!("there is no program `{text}` in the PATH"),
                "write its full path, such as /usr/games/stockfish",
            )
        },
        Ok,
    )
}

/// The first executable program with a name. Relative folders are skipped, since this process and the engine
/// have different working directories.
fn in_path(path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|program| program.is_file() && access(program, Access::EXEC_OK).is_ok())
}

fn read<T>(
    text: &Spanned<String>,
    unit: fn(&str) -> Result<T, NoAmount>,
) -> Result<T, FileProblem> {
    unit(text.as_ref()).or_else(|NoAmount { problem, remedy }| wrong(text.span(), problem, remedy))
}

fn one_line(name: &str, text: &Spanned<String>) -> Result<(), FileProblem> {
    if text.as_ref().contains(char::is_control) {
        return wrong(text.span(), format!("{name} has several lines"), "write it in one line");
    }
    Ok(())
}

fn option_value(value: &Value, at: &Range<usize>) -> Result<OptionValue, FileProblem> {
    match value {
        Value::Boolean(flag) => Ok(OptionValue::Flag(*flag)),
        Value::Integer(number) => Ok(OptionValue::Number(*number)),
        Value::String(text) if !text.contains(char::is_control) => {
            Ok(OptionValue::Text(text.clone()))
        }
        Value::String(_) => {
            wrong(at.clone(), "the text of an option has several lines", "write it in one")
        }
        Value::Float(_) | Value::Datetime(_) | Value::Array(_) | Value::Table(_) => wrong(
            at.clone(),
            format!("an option cannot be of type {}", value.type_str()),
            "write `true`, `false`, a whole number or a text",
        ),
    }
}

const RULES: &str = "write `{ min = 1, max = 20 }`, `{ values = [\"a\", \"b\"] }`, \
                     `{ button = true }`, or `false` for none";

/// The allowed values of an option; `None` if there are none.
fn allowed(
    name: &str,
    rule: &Spanned<Value>,
    protocol: Protocol,
) -> Result<Option<AllowedOption>, FileProblem> {
    let at = rule.span();
    if *rule.as_ref() == Value::Boolean(false) {
        return Ok(None);
    }
    let Value::Table(table) = rule.as_ref() else {
        return wrong(at, format!("`{name}` has a value, not a rule"), RULES);
    };
    let command = match (protocol, table.get("command")) {
        (Protocol::Uci, None) => None,
        (Protocol::Uci, Some(_)) => {
            return wrong(at, "UCI has its own command to set an option", "leave `command` out");
        }
        (Protocol::Gtp, Some(Value::String(text)))
            if text.contains("{value}") && !text.contains(char::is_control) =>
        {
            Some(text.clone())
        }
        (Protocol::Gtp, _) => {
            return wrong(
                at,
                format!("`{name}` has no command that sets it"),
                "write one with `{value}`, such as `command = \"level {value}\"`",
            );
        }
    };
    let mut keys: Vec<_> =
        table.keys().map(String::as_str).filter(|key| *key != "command").collect();
    keys.sort_unstable();
    let rule = match (keys.as_slice(), table) {
        (["max", "min"], table) => match (&table["min"], &table["max"]) {
            (Value::Integer(min), Value::Integer(max)) if min <= max => {
                OptionRule::Between { min: *min, max: *max }
            }
            _ => return wrong(at, format!("`{name}` has no bounds that leave a number"), RULES),
        },
        (["values"], table) => {
            let values = table["values"].as_array().filter(|values| !values.is_empty());
            let Some(values) = values else {
                return wrong(at, format!("`{name}` has no list of values"), RULES);
            };
            let values = values.iter().map(|value| option_value(value, &at));
            OptionRule::OneOf(values.collect::<Result<_, _>>()?)
        }
        (["button"], table)
            if table["button"] == Value::Boolean(true) && protocol == Protocol::Uci =>
        {
            OptionRule::Press
        }
        _ => return wrong(at, format!("what `{name}` may be cannot be understood"), RULES),
    };
    Ok(Some(AllowedOption { name: name.to_owned(), rule, command }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn parse(text: &str) -> Result<EngineFile, EngineFileError> {
        EngineFile::parse(text, Path::new("/etc/spelrum/engines.toml"))
    }

    #[test]
    fn a_file_says_all_there_is_to_say() {
        let file = parse(
            r#"
[engines.stockfish]
protocol = "uci"
command = "/usr/games/stockfish"
args = ["--quiet"]
files = ["big.nnue", "/nets/small.nnue"]
directory = "work"
environment = { OMP_NUM_THREADS = "1" }
memory = "2GiB"
at_once = 2
startup_timeout = "20s"
ready_timeout = "90s"
stop_timeout = "1s"
move_timeout = "2m"
quit_timeout = "3s"
set = { OwnBook = false, Threads = 1, SyzygyPath = "/tb", "Move Overhead" = 10 }

[engines.stockfish.options]
hash = { min = 1, max = 64 }
MultiPV = false
"Skill Level" = { min = 0, max = 20 }
EvalFile = { values = ["a.nnue", "b.nnue"] }
"Clear Hash" = { button = true }

[engines.edax]
protocol = "gtp"
command = "./edax"
options.level = { min = 1, max = 30, command = "level {value}" }
gtp = { ids = false, colours = ["b", "w"], pass = false, setup = ["komi 0"], limits = ["time -m {seconds}"] }
"#,
        )
        .unwrap();
        let stockfish = file.get("stockfish").unwrap();
        let s = Duration::from_secs;
        assert_eq!(stockfish.directory, Path::new("/etc/spelrum/work"));
        let files = ["/etc/spelrum/big.nnue", "/nets/small.nnue"];
        assert!(stockfish.files.iter().eq(files.map(Path::new)));
        assert_eq!((stockfish.memory_bytes, stockfish.at_once), (Some(2 << 30), 2));
        assert_eq!(
            stockfish.patience,
            Patience {
                startup: s(20),
                ready: s(90),
                stop: s(1),
                unbounded_move: s(120),
                quit: s(3),
            }
        );
        let names: Vec<_> = stockfish.options.iter().map(|option| option.name.as_str()).collect();
        assert_eq!(names, ["Clear Hash", "EvalFile", "Skill Level", "hash"]);
        assert_eq!(stockfish.set["OwnBook"], OptionValue::Flag(false));
        assert_eq!(stockfish.set["Move Overhead"], OptionValue::Number(10));
        let edax = file.get("edax").unwrap();
        assert_eq!(edax.command, Path::new("/etc/spelrum/./edax"));
        assert_eq!(edax.directory, Path::new("/etc/spelrum"));
        assert_eq!(edax.options[0].command.as_deref(), Some("level {value}"));
        assert!(!edax.gtp.ids && edax.gtp.boardsize);
        assert_eq!(file.iter().count(), 2);
        assert_eq!(parse("").unwrap(), EngineFile::default());
    }

    #[test]
    fn what_has_no_meaning_is_refused_with_its_place() {
        let uci = "[engines.sf]\nprotocol = \"uci\"\ncommand = \"/sf\"\n";
        let gtp = "[engines.x]\nprotocol = \"gtp\"\ncommand = \"/x\"\n";
        for (text, error) in [
            ("[engines.sf]\ncommand = \"/sf\"".to_owned(), "1:1: missing field `protocol`"),
            (
                "[engines.sf]\nprotocol = \"xboard\"\ncommand = \"/sf\"".to_owned(),
                "2:12: unknown variant `xboard`, expected `uci` or `gtp`",
            ),
            (format!("{uci}comand = 3"), "4:1: unknown field `comand`, expected one of "),
            (format!("{uci}at_once = 0"), "4:11: `at_once` is 0"),
            (format!("{uci}stop_timeout = \"5\""), "4:16: `5` is not a duration"),
            (format!("{uci}stop_timeout = \"0s\""), "4:16: `0s` is zero"),
            (format!("{uci}stop_timeout = \"5: x\""), "4:16: `5: x` is not a duration"),
            (format!("{uci}memory = \"5GB\""), "4:10: `5GB` is not an amount of memory"),
            (format!("{uci}memory = \"0MiB\""), "4:10: `0MiB` is zero"),
            (format!("{uci}options.A = 3"), "4:13: `A` has a value, not a rule"),
            (
                format!("{uci}options.A = {{ min = 3, max = 1 }}"),
                "4:13: `A` has no bounds that leave a number",
            ),
            (format!("{uci}options.A = {{ values = [] }}"), "4:13: `A` has no list of values"),
            (
                format!("{uci}options.A = {{ any = true }}"),
                "4:13: what `A` may be cannot be understood",
            ),
            (
                format!("{uci}options.A = {{ values = [\"a\\nquit\"] }}"),
                "4:13: the text of an option has several lines",
            ),
            (
                format!("{uci}options.A = {{ min = 1, max = 2, command = \"x\" }}"),
                "4:13: UCI has its own command to set an option",
            ),
            (format!("{uci}set.A = 1.5"), "4:9: an option cannot be of type float"),
            (format!("{uci}gtp = {{ ids = false }}"), "4:7: the engine does not speak GTP"),
            (
                format!("{uci}environment = {{ \"A=B\" = \"\" }}"),
                "4:17: `A=B` is not a valid variable name",
            ),
            (format!("{uci}args = [\"a\\u0000b\"]"), "4:9: the text contains a NUL byte"),
            (format!("{gtp}set.A = 1"), "4:5: GTP has no options"),
            (
                format!("{gtp}options.level = {{ min = 1, max = 2 }}"),
                "4:17: `level` has no command that sets it",
            ),
            (format!("{gtp}gtp.setup = [\"a\\nb\"]"), "4:1: a command has several lines"),
            (
                "[engines.\"a b\"]\nprotocol = \"uci\"\ncommand = \"/sf\"".to_owned(),
                "1:10: `a b` is not a valid engine name",
            ),
            (
                "[engines.sf]\nprotocol = \"uci\"\ncommand = \"\"".to_owned(),
                "3:11: the command is empty",
            ),
            (
                "[engines.sf]\nprotocol = \"uci\"\ncommand = \"no-such-engine\"".to_owned(),
                "3:11: there is no program `no-such-engine` in the PATH",
            ),
            ("engine = 3".to_owned(), "1:1: unknown field `engine`, expected `engines`"),
            ("[engines".to_owned(), "1:9: unclosed table"),
        ] {
            let refusal = parse(&text).unwrap_err();
            assert!(!refusal.remedy.is_empty());
            let refusal = refusal.to_string();
            let expected = format!("/etc/spelrum/engines.toml:{error}");
            assert!(refusal.starts_with(&expected), "{text}\n{refusal}\n{expected}");
        }
    }

    #[test]
    fn a_program_is_looked_for_where_it_can_be_run() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let [first, second] = ["first", "second"].map(|name| folder.path().join(name));
        for (place, mode) in [(&first, 0o644), (&second, 0o755)] {
            std::fs::create_dir(place).unwrap();
            std::fs::write(place.join("engine"), "").unwrap();
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(place.join("engine"), mode).unwrap();
        }
        let here = Path::new(".");
        let path = std::env::join_paths([here, Path::new(""), &first, &second]).unwrap();
        assert_eq!(in_path(&path, "engine"), Some(second.join("engine")));
        // A program that runs from the tests' working directory, by a path relative to it.
        let way = Path::new(&"../".repeat(64)).join(second.strip_prefix("/").unwrap());
        assert!(way.join("engine").is_file());
        assert_eq!(in_path(way.as_os_str(), "engine"), None);
        assert_eq!(in_path(OsStr::new(""), "engine"), None);
    }

    #[test]
    fn a_file_that_is_not_there_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engines.toml");
        let error = EngineFile::read(&path).unwrap_err();
        assert!(error.to_string().contains("engines.toml: No such file"), "{error}");
        let long = " ".repeat(2 << 20);
        std::fs::write(&path, long).unwrap();
        let error = EngineFile::read(&path).unwrap_err();
        assert!(error.to_string().ends_with("which is too many for an engines file"), "{error}");
        std::fs::write(&path, [0xff]).unwrap();
        assert!(EngineFile::read(&path).is_err());
        std::fs::write(&path, "").unwrap();
        assert_eq!(EngineFile::read(&path), Ok(EngineFile::default()));
    }
}
