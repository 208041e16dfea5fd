//! The config file: TOML with positions, so that errors point at their location.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy as _;
use miette::{Diagnostic, NamedSource, SourceSpan};
use spelrum_coordinator::access::read_small_file;
use spelrum_toml::{Entry, Fault, Table, line_and_column, nearest};

use super::secret::Secret;
use super::{CONFIG_VARIABLE, Origin, Sourced, TlsFiles};
use crate::arguments::{CoordinatorChoice, CoordinatorChoices, CoordinatorUrl};
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
    pub(crate) coordinator: Option<Sourced<CoordinatorChoices>>,
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
        let is_its = |choice: &CoordinatorChoice| match choice {
            CoordinatorChoice::At(beside) => beside == url,
            CoordinatorChoice::Named(name) => {
                self.named(name).is_some_and(|named| named.url.value == *url)
            }
        };
        self.coordinator.as_ref().is_none_or(|choices| choices.value.0.iter().any(is_its))
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

/// The keys of a coordinator's token and TLS files, at the top and below a name.
const ACCESS: [&str; 5] = ["token", "token_file", "ca", "cert", "key"];

fn parse(path: &Path, text: &str) -> Result<ConfigFile, Fault> {
    let reader = Reader { path, text };
    let root = spelrum_toml::parse(text, "spelrum config --example shows how it is written")?;
    root.check_keys("the config", &[&["coordinator"], &ACCESS[..], &["coordinators"]].concat())?;
    let named = match root.value("coordinators") {
        None => Vec::new(),
        Some(node) => node.table("`coordinators`", "[coordinators.lab]")?.entries.iter().collect(),
    };
    let config = ConfigFile {
        path: path.to_owned(),
        exists: true,
        coordinator: root.get("coordinator").map(|entry| reader.parsed(entry)).transpose()?,
        secret: reader.secret(&root)?,
        tls: reader.tls(&root)?,
        coordinators: named
            .into_iter()
            .map(|entry| reader.named(entry))
            .collect::<Result<_, _>>()?,
    };
    let choices = config.coordinator.iter().flat_map(|choices| &choices.value.0);
    let mut names = choices.filter_map(|choice| match choice {
        CoordinatorChoice::Named(name) => Some(name),
        CoordinatorChoice::At(_) => None,
    });
    if let Some(name) = names.find(|name| config.named(name).is_none()) {
        let names = config.coordinators.iter().map(|named| named.name.as_str());
        let remedy = match nearest(name, names) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!(
                "add [coordinators.{name}], or write an address such as \"http://{name}:7878\""
            ),
        };
        let problem = format!("there is no [coordinators.{name}]");
        let place = root.value("coordinator").map(|node| node.place.clone());
        return Err(Fault { problem, remedy, place });
    }
    Ok(config)
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
}

impl Reader<'_> {
    fn named(&self, Entry { key: name, key_place: place, value }: &Entry) -> Result<Named, Fault> {
        let table = value.table(&format!("`{name}`"), "[coordinators.lab]")?;
        let owner = format!("[coordinators.{name}]");
        table.check_keys(&owner, &[&["url"], &ACCESS[..]].concat())?;
        let (secret, tls) = (self.secret(table)?, self.tls(table)?);
        if name.contains([':', '/']) || name.is_empty() {
            let problem = "this name would be taken for an address";
            return Err(Fault::at(place, problem, "use a name without `:` and `/`"));
        }
        let url = table.get("url").ok_or_else(|| {
            let problem = format!("{owner} has no `url`");
            Fault::at(place, problem, "add a line such as url = \"http://10.0.0.5:7878\"")
        })?;
        Ok(Named { name: name.clone(), url: self.parsed(url)?, secret, tls })
    }

    /// The TLS files; a key requires a certificate.
    fn tls(&self, table: &Table) -> Result<TlsFiles, Fault> {
        let file = |key: &str| table.get(key).map(|entry| self.file(entry)).transpose();
        let tls = TlsFiles { ca: file("ca")?, cert: file("cert")?, key: file("key")? };
        match table.get("key") {
            Some(key) if tls.cert.is_none() => {
                let problem = "there is no `cert` for this `key`";
                Err(Fault::at(&key.key_place, problem, "add a line such as cert = \"ada.pem\""))
            }
            Some(_) | None => Ok(tls),
        }
    }

    /// Parses a text value.
    fn parsed<T: std::str::FromStr<Err = String>>(
        &self,
        entry: &Entry,
    ) -> Result<Sourced<T>, Fault> {
        let value = entry.text()?.parse().map_err(|problem: String| {
            let key = &entry.key;
            let (problem, remedy) = match problem.rsplit_once(": ") {
                Some((why, remedy)) => (format!("`{key}` is not an address: {why}"), remedy),
                None => (format!("`{key}` is not an address"), problem.as_str()),
            };
            Fault::at(&entry.value.place, problem, remedy)
        })?;
        Ok(Sourced { value, origin: self.origin(entry) })
    }

    fn secret(&self, table: &Table) -> Result<Option<Secret>, Fault> {
        match (table.get("token"), table.get("token_file")) {
            (Some(_), Some(entry)) => {
                let problem =
                    "there is a token already: `token` and `token_file` exclude each other";
                Err(Fault::at(&entry.key_place, problem, "keep `token_file`"))
            }
            (Some(entry), None) => {
                let value = entry.text()?.parse().map_err(|error| {
                    let remedy =
                        "write visible ASCII in quotes, as `openssl rand -hex 32` makes it";
                    Fault::at(&entry.key_place, format!("this is not a token: {error}"), remedy)
                })?;
                Ok(Some(Secret::Inline(Sourced { value, origin: self.origin(entry) })))
            }
            (None, Some(entry)) => Ok(Some(Secret::InFile(self.file(entry)?))),
            (None, None) => Ok(None),
        }
    }

    /// A path in the file, relative to the home directory after `~/`, else to the file's directory.
    fn file(&self, entry: &Entry) -> Result<Sourced<PathBuf>, Fault> {
        let text = entry.text()?;
        let home = text.strip_prefix("~/").zip(etcetera::home_dir().ok());
        let value = match home {
            Some((below, home)) => home.join(below),
            None => self.path.parent().unwrap_or(Path::new("")).join(text),
        };
        Ok(Sourced { value, origin: self.origin(entry) })
    }

    fn origin(&self, entry: &Entry) -> Origin {
        let (line, _) = line_and_column(self.text, entry.value.place.start);
        Origin::File { path: self.path.to_owned(), line }
    }
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
