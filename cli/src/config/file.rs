//! The config file: TOML with positions, so that errors point at their location.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy as _;
use miette::{Diagnostic, NamedSource, SourceSpan};
use spelrum_coordinator::access::read_small_file;
use spelrum_engine::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::secret::Secret;
use super::{CONFIG_VARIABLE, Origin, Sourced, TlsFiles};
use crate::arguments::{CoordinatorChoice, CoordinatorUrl};
use crate::error::{CliError, Result};
use crate::exit::Exit;

/// The largest config file.
const FILE_BYTES_MAX: usize = 64 << 10;

/// A file to start from.
pub(crate) const EXAMPLE: &str = r#"# Spelrum: which coordinator is meant, and with which token. Flags and the environment
# (SPELRUM_COORDINATOR, SPELRUM_TOKEN) come before what is written here.

# Where commands go that are given neither --coordinator nor --db: an address, or a name from below.
coordinator = "http://127.0.0.1:7878"

# The token of that coordinator; `spelrum coordinator` on this machine demands it. The file holds
# nothing else, and only you can read it: (umask 077; openssl rand -hex 32 >token)
# A relative path starts from this file's directory.
#token_file = "token"

# Others, by name: spelrum list --coordinator lab
#[coordinators.lab]
#url = "https://10.0.0.5:7878"
#ca = "lab-ca.pem"
#token_file = "~/.lab-token"
# Or a client certificate instead of a token (spelrum certificate client): cert = "ada.pem"
"#;

/// The contents of the config file.
#[derive(Clone, Debug)]
pub(crate) struct ConfigFile {
    pub(crate) path: PathBuf,
    /// Whether the file exists; without one, all settings are absent.
    pub(crate) exists: bool,
    pub(crate) coordinator: Option<Sourced<CoordinatorChoice>>,
    /// The top-level token.
    pub(crate) secret: Option<Secret>,
    /// TLS files for the top-level coordinator.
    pub(crate) tls: TlsFiles,
    pub(crate) coordinators: Vec<Named>,
}

/// A named coordinator.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) url: Sourced<CoordinatorUrl>,
    pub(crate) secret: Option<Secret>,
    pub(crate) tls: TlsFiles,
}

/// A problem in the config file, its location, and the remedy.
#[derive(Clone, Debug, thiserror::Error, Diagnostic)]
#[error("{problem}")]
struct ConfigError {
    problem: String,
    #[help]
    remedy: String,
    #[source_code]
    source_text: Arc<NamedSource<String>>,
    #[label("here")]
    place: Option<SourceSpan>,
}

impl ConfigFile {
    /// Reads the config file, if there is one. A file named by the environment must exist.
    pub(crate) fn read() -> Result<Self> {
        let (path, is_named) = place();
        let failed = || CliError::new(Exit::Usage, format!("read the config {}", path.display()));
        let not_a_config = |problem: String| {
            failed()
                .because(problem)
                .help("is it a config file? spelrum config --example shows one")
        };
        let read = read_small_file(&path, FILE_BYTES_MAX as u64);
        match read.map(String::from_utf8) {
            Ok(Err(_)) => Err(not_a_config("it is not UTF-8 text".to_owned())),
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                Err(not_a_config(error.to_string()))
            }
            Ok(Ok(text)) => Self::parse(&path, &text).map_err(|error| {
                let remedy = error.remedy.clone();
                CliError::new(Exit::Usage, format!("read the config {}", path.display()))
                    .in_file(error, remedy)
            }),
            Err(error) if error.kind() == ErrorKind::NotFound && !is_named => Ok(Self {
                path,
                exists: false,
                coordinator: None,
                secret: None,
                tls: TlsFiles::default(),
                coordinators: Vec::new(),
            }),
            Err(error) => Err(failed().because(error).help(format!(
                "make one with: spelrum config --example >{}; or unset {CONFIG_VARIABLE}",
                path.display()
            ))),
        }
    }

    /// The coordinator of this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Named> {
        self.coordinators.iter().find(|named| named.name == name)
    }

    /// Whether the top-level token is for this coordinator: the one beside the token, or any if there is none.
    pub(super) fn secret_is_for(&self, url: &CoordinatorUrl) -> bool {
        match self.coordinator.as_ref().map(|choice| &choice.value) {
            None => true,
            Some(CoordinatorChoice::At(beside)) => beside == url,
            Some(CoordinatorChoice::Named(name)) => {
                self.named(name).is_some_and(|named| named.url.value == *url)
            }
        }
    }

    fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        parse(path, text).map_err(|Fault { problem, remedy, place }| ConfigError {
            problem,
            remedy,
            source_text: Arc::new(NamedSource::new(
                path.display().to_string(),
                without_tokens(text),
            )),
            place: place.map(SourceSpan::from),
        })
    }
}

/// The config file's path, and whether the environment names it.
pub(crate) fn place() -> (PathBuf, bool) {
    if let Some(path) = std::env::var_os(CONFIG_VARIABLE).filter(|path| !path.is_empty()) {
        return (path.into(), true);
    }
    // A service may have no home directory, and then no config file.
    let directory = etcetera::choose_base_strategy()
        .map_or_else(|_| PathBuf::from("~/.config"), |strategy| strategy.config_dir());
    (directory.join("spelrum").join("config.toml"), false)
}

/// A problem, before the file's text is attached.
struct Fault {
    problem: String,
    remedy: String,
    place: Option<Range<usize>>,
}

impl Fault {
    fn at(place: Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { problem: problem.into(), remedy: remedy.into(), place: Some(place) }
    }
}

type Entry<'t> = (Spanned<std::borrow::Cow<'t, str>>, Spanned<DeValue<'t>>);

fn parse(path: &Path, text: &str) -> Result<ConfigFile, Fault> {
    let reader = Reader { path, text };
    let root = DeTable::parse(text).map_err(|error| Fault {
        problem: format!("this is not TOML: {}", error.message()),
        remedy: "spelrum config --example shows how it is written".to_owned(),
        place: error.span().map(|span| span.start.min(text.len())..span.end.min(text.len())),
    })?;
    let mut config = ConfigFile {
        path: path.to_owned(),
        exists: true,
        coordinator: None,
        secret: None,
        tls: TlsFiles::default(),
        coordinators: Vec::new(),
    };
    for (key, value) in in_order(root.into_inner()) {
        match key.get_ref().as_ref() {
            "coordinator" => config.coordinator = Some(reader.parsed(&key, &value)?),
            "token" | "token_file" => reader.secret(&mut config.secret, &key, &value)?,
            "ca" | "cert" | "key" => reader.tls(&mut config.tls, &key, &value)?,
            "coordinators" => {
                let named = reader.table(&key, value, "`[coordinators.lab]`")?;
                for (name, value) in in_order(named) {
                    config.coordinators.push(reader.named(&name, value)?);
                }
            }
            _ => {
                let keys =
                    ["coordinator", "token", "token_file", "ca", "cert", "key", "coordinators"];
                return Err(unknown(&key, &keys));
            }
        }
    }
    reader.check_tls(&config.tls)?;
    if let Some(Sourced {
        value: CoordinatorChoice::Named(name),
        origin: Origin::File { line, .. },
    }) = &config.coordinator
        && config.named(name).is_none()
    {
        let names: Vec<_> = config.coordinators.iter().map(|named| named.name.as_str()).collect();
        let remedy = match nearest(name, names) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!(
                "add [coordinators.{name}], or write an address such as \"http://{name}:7878\""
            ),
        };
        let place = line_place(text, *line);
        return Err(Fault::at(place, format!("there is no [coordinators.{name}]"), remedy));
    }
    Ok(config)
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Reader<'_> {
    fn named(
        &self,
        name: &Spanned<std::borrow::Cow<'_, str>>,
        value: Spanned<DeValue<'_>>,
    ) -> Result<Named, Fault> {
        let place = name.span();
        let mut url = None;
        let mut secret = None;
        let mut tls = TlsFiles::default();
        for (key, value) in in_order(self.table(name, value, "`[coordinators.lab]`")?) {
            match key.get_ref().as_ref() {
                "url" => url = Some(self.parsed(&key, &value)?),
                "token" | "token_file" => self.secret(&mut secret, &key, &value)?,
                "ca" | "cert" | "key" => self.tls(&mut tls, &key, &value)?,
                _ => {
                    let keys = ["url", "token", "token_file", "ca", "cert", "key"];
                    return Err(unknown(&key, &keys));
                }
            }
        }
        self.check_tls(&tls)?;
        let name = name.get_ref().to_string();
        if name.contains([':', '/']) || name.is_empty() {
            let problem = "this name would be taken for an address";
            return Err(Fault::at(place, problem, "use a name without `:` and `/`"));
        }
        let url = url.ok_or_else(|| {
            let problem = format!("[coordinators.{name}] has no `url`");
            Fault::at(place, problem, "add a line such as url = \"http://10.0.0.5:7878\"")
        })?;
        Ok(Named { name, url, secret, tls })
    }

    /// The path of a TLS file, relative to the config file's directory.
    fn tls(
        &self,
        tls: &mut TlsFiles,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), Fault> {
        let path = self.path_from_here(self.text(key, value)?);
        let named = Some(Sourced { value: path, origin: self.origin(&value.span()) });
        match key.get_ref().as_ref() {
            "ca" => tls.ca = named,
            "cert" => tls.cert = named,
            _ => tls.key = named,
        }
        Ok(())
    }

    /// A key requires a certificate.
    fn check_tls(&self, tls: &TlsFiles) -> Result<(), Fault> {
        match tls {
            TlsFiles {
                cert: None,
                key: Some(Sourced { origin: Origin::File { line, .. }, .. }),
                ..
            } => {
                let problem = "there is no `cert` for this `key`";
                let remedy = "add a line such as cert = \"ada.pem\"";
                Err(Fault::at(line_place(self.text, *line), problem, remedy))
            }
            TlsFiles { .. } => Ok(()),
        }
    }

    /// Parses a text value.
    fn parsed<T: std::str::FromStr<Err = String>>(
        &self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<Sourced<T>, Fault> {
        let text = self.text(key, value)?;
        let parsed = text.parse().map_err(|problem: String| {
            let key = key.get_ref();
            let (problem, remedy) = match problem.rsplit_once(": ") {
                Some((why, remedy)) => (format!("`{key}` is not an address: {why}"), remedy),
                None => (format!("`{key}` is not an address"), problem.as_str()),
            };
            Fault::at(value.span(), problem, remedy)
        })?;
        Ok(Sourced { value: parsed, origin: self.origin(&value.span()) })
    }

    fn secret(
        &self,
        secret: &mut Option<Secret>,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), Fault> {
        if secret.is_some() {
            let problem = "there is a token already: `token` and `token_file` exclude each other";
            return Err(Fault::at(key.span(), problem, "keep `token_file`"));
        }
        let text = self.text(key, value)?;
        let origin = self.origin(&value.span());
        *secret = Some(if key.get_ref() == "token" {
            let value = text.parse().map_err(|error| {
                let remedy = "write visible ASCII in quotes, as `openssl rand -hex 32` makes it";
                Fault::at(key.span(), format!("this is not a token: {error}"), remedy)
            })?;
            Secret::Inline(Sourced { value, origin })
        } else {
            Secret::InFile(Sourced { value: self.path_from_here(text), origin })
        });
        Ok(())
    }

    /// A path in the file, relative to the home directory after `~/`, else to the file's directory.
    fn path_from_here(&self, text: &str) -> PathBuf {
        let home = text.strip_prefix("~/").zip(etcetera::home_dir().ok());
        match home {
            Some((below, home)) => home.join(below),
            None => self.path.parent().unwrap_or(Path::new("")).join(text),
        }
    }

    fn text<'v>(
        &self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &'v Spanned<DeValue<'_>>,
    ) -> Result<&'v str, Fault> {
        value.get_ref().as_str().ok_or_else(|| {
            let problem = format!("`{}` must be a text", key.get_ref());
            Fault::at(value.span(), problem, "put it in quotes")
        })
    }

    fn table<'v>(
        &self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: Spanned<DeValue<'v>>,
        example: &str,
    ) -> Result<DeTable<'v>, Fault> {
        match value.into_inner() {
            DeValue::Table(table) => Ok(table),
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => {
                let problem = format!("`{}` must be a table", key.get_ref());
                Err(Fault::at(key.span(), problem, format!("write it as a header: {example}")))
            }
        }
    }

    fn origin(&self, place: &Range<usize>) -> Origin {
        let line = self.text.bytes().take(place.start).filter(|&byte| byte == b'\n').count() + 1;
        Origin::File { path: self.path.to_owned(), line }
    }
}

/// A table's entries in the file's order.
fn in_order<'t>(table: DeTable<'t>) -> Vec<Entry<'t>> {
    let mut entries: Vec<Entry<'t>> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn unknown(key: &Spanned<std::borrow::Cow<'_, str>>, keys: &[&str]) -> Fault {
    let remedy = match nearest(key.get_ref(), keys.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the keys are `{}`", keys.join("`, `")),
    };
    Fault::at(key.span(), format!("unknown key `{}`", key.get_ref()), remedy)
}

/// The text for display, with tokens replaced by stars of the same length.
///
/// Does not parse TOML, which may be what is wrong.
fn without_tokens(text: &str) -> String {
    let masked = |line: &str| {
        let value = line.match_indices("token").find_map(|(start, word)| {
            let rest = &line[start + word.len()..];
            let after_key = rest.trim_start_matches(['"', '\'']).trim_start();
            after_key.starts_with('=').then(|| line.len() - after_key.len() + 1)
        });
        let Some(value) = value else { return line.to_owned() };
        let end = line.trim_end().len().max(value);
        format!("{}{}{}", &line[..value], "*".repeat(end - value), &line[end..])
    };
    text.split_inclusive('\n').map(masked).collect()
}

/// A line without its end; lines count from 1.
fn line_place(text: &str, line: usize) -> Range<usize> {
    let start = text.split_inclusive('\n').take(line - 1).map(str::len).sum::<usize>();
    let length = text[start..].lines().next().map_or(0, str::len);
    start..start + length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_not_shown() {
        let text = "token_file = \"a\"\n  token=\"se cret\" \n'token' = 'sé'\n\
                    lab = { url = \"b\", token = \"secret\" }\ntoken =\ntokens";
        let shown = without_tokens(text);
        assert_eq!(
            shown,
            "token_file = \"a\"\n  token=********* \n'token' =******\n\
             lab = { url = \"b\", token =***********\ntoken =\ntokens"
        );
        assert_eq!(shown.len(), text.len());
    }
}
