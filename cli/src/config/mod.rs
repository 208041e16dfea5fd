//! The coordinator to use, and its token: flags before the environment before the config file.

mod file;
mod secret;
mod tls;

use std::env::VarError;
use std::fmt;
use std::path::{Path, PathBuf};

use spelrum_proto::Token;
use tonic::transport::Endpoint;

use crate::arguments::{
    COORDINATOR_VARIABLE, CoordinatorArguments, CoordinatorChoice, CoordinatorChoices,
    CoordinatorUrl, TrustArguments,
};
use crate::error::{CliError, Result};
use crate::exit::Exit;

pub(crate) use file::{ConfigFile, EXAMPLE, Named, place};
pub(crate) use tls::TlsFiles;

/// The environment variable for the token.
pub(crate) const TOKEN_VARIABLE: &str = "SPELRUM_TOKEN";

/// The environment variable for the config file's path.
pub(crate) const CONFIG_VARIABLE: &str = "SPELRUM_CONFIG";

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A flag of the command line.
    Flag(&'static str),
    /// An environment variable.
    Environment(&'static str),
    /// A line of the config file.
    File { path: PathBuf, line: usize },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) | Self::Environment(name) => f.write_str(name),
            Self::File { path, line } => write!(f, "{}, line {line}", path.display()),
        }
    }
}

/// A value with its source.
#[derive(Clone, Debug)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    pub(crate) origin: Origin,
}

/// A coordinator to connect to.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) url: Sourced<CoordinatorUrl>,
    /// Its name in the config file, if chosen by name.
    pub(crate) name: Option<String>,
    pub(crate) token: Option<Sourced<Token>>,
    pub(crate) tls: TlsFiles,
    /// Its other addresses, which are tried in this order when it does not answer.
    pub(crate) others: Vec<Self>,
}

impl Target {
    /// The endpoint for connecting.
    ///
    /// # Errors
    /// If a TLS file cannot be read.
    pub(crate) fn endpoint(&self) -> Result<Endpoint> {
        self.tls.endpoint(&self.url.value)
    }
}

/// The selected coordinator, which is required.
pub(crate) fn coordinator(arguments: &CoordinatorArguments) -> Result<Target> {
    let file = ConfigFile::read()?;
    target(&file, arguments.coordinator.as_ref(), &arguments.trust)?.ok_or_else(|| {
        CliError::new(Exit::Usage, "find the coordinator").because("none is named").help(format!(
            "give --coordinator URL, set {COORDINATOR_VARIABLE}, or write `coordinator = …` into \
             the config file: spelrum config --help"
        ))
    })
}

/// Whether the command line, the environment or the config file names a coordinator.
pub(crate) fn names_coordinator(arguments: &CoordinatorArguments) -> Result<bool> {
    let file = ConfigFile::read()?;
    Ok(target(&file, arguments.coordinator.as_ref(), &arguments.trust)?.is_some())
}

/// The selected coordinator, if any.
pub(crate) fn target(
    file: &ConfigFile,
    flag: Option<&CoordinatorChoices>,
    trust: &TrustArguments,
) -> Result<Option<Target>> {
    let chosen = match (flag, environment(COORDINATOR_VARIABLE)?) {
        (Some(choices), _) => {
            Sourced { value: choices.clone(), origin: Origin::Flag("--coordinator") }
        }
        (None, Some(text)) => {
            let value = text.parse().map_err(|problem: String| {
                CliError::new(Exit::Usage, format!("read {COORDINATOR_VARIABLE}")).because(problem)
            })?;
            Sourced { value, origin: Origin::Environment(COORDINATOR_VARIABLE) }
        }
        (None, None) => match &file.coordinator {
            Some(choices) => choices.clone(),
            None => return Ok(None),
        },
    };
    let Sourced { value: CoordinatorChoices(choices), origin } = chosen;
    let is_alone = choices.len() == 1;
    let targets = choices.iter().map(|choice| one_target(file, choice, is_alone, &origin, trust));
    let mut targets = targets.collect::<Result<Vec<_>>>()?.into_iter();
    let first = targets.next();
    Ok(first.map(|target| Target { others: targets.collect(), ..target }))
}

/// The coordinator at one address, which is alone or one of several.
fn one_target(
    file: &ConfigFile,
    choice: &CoordinatorChoice,
    is_alone: bool,
    origin: &Origin,
    trust: &TrustArguments,
) -> Result<Target> {
    let (url, entry) = match choice {
        CoordinatorChoice::At(value) => {
            let entry = file.coordinators.iter().find(|named| named.url.value == *value);
            (Sourced { value: value.clone(), origin: origin.clone() }, entry)
        }
        CoordinatorChoice::Named(name) => {
            let named = file.named(name).ok_or_else(|| unknown_name(file, name))?;
            (named.url.clone(), Some(named))
        }
    };
    // A token is only sent to the coordinator it is configured for.
    let entry_secret = entry.and_then(|named| named.secret.as_ref());
    let secret =
        entry_secret.or_else(|| file.secret.as_ref().filter(|_| file.secret_is_for(&url.value)));
    // The one token of the environment cannot be that of each of several addresses.
    let of_environment = environment_token()?.filter(|_| is_alone || entry_secret.is_none());
    let token = match (of_environment, secret) {
        (Some(token), _) => Some(token),
        (None, Some(secret)) => Some(secret.read()?),
        (None, None) => None,
    };
    let top = file.secret_is_for(&url.value).then_some(&file.tls);
    let tls = TlsFiles::chosen(trust, entry.map(|named| &named.tls).into_iter().chain(top));
    let name = entry.map(|named| named.name.clone());
    Ok(Target { url, name, token, tls, others: Vec::new() })
}

/// The token that a coordinator of this machine demands, if one is set.
pub(crate) fn own_token(token_file: Option<&Path>) -> Result<Option<Token>> {
    if let Some(path) = token_file {
        return Ok(Some(secret::token_in(path)?));
    }
    if let Some(token) = environment_token()? {
        return Ok(Some(token.value));
    }
    let file = ConfigFile::read()?;
    file.secret.as_ref().map(|secret| Ok(secret.read()?.value)).transpose()
}

fn environment_token() -> Result<Option<Sourced<Token>>> {
    let Some(text) = environment(TOKEN_VARIABLE)? else { return Ok(None) };
    // An empty value is a mistake, and must not open a coordinator to everyone.
    let value = text.parse().map_err(|error| {
        CliError::new(Exit::Usage, format!("read the token in {TOKEN_VARIABLE}"))
            .because(error)
            .help(format!("set it to the token itself, or unset {TOKEN_VARIABLE}"))
    })?;
    Ok(Some(Sourced { value, origin: Origin::Environment(TOKEN_VARIABLE) }))
}

/// An environment variable, if set.
fn environment(name: &'static str) -> Result<Option<String>> {
    match std::env::var(name) {
        Ok(text) => Ok(Some(text)),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(CliError::new(Exit::Usage, format!("read {name}"))
            .because("it is not UTF-8 text")
            .help(format!("set {name} to plain text, or unset it"))),
    }
}

fn unknown_name(file: &ConfigFile, name: &str) -> CliError {
    let problem = if file.exists {
        format!("it is not an address, and the config file has no [coordinators.{name}]")
    } else {
        "it is not an address, and there is no config file with names".to_owned()
    };
    let names: Vec<_> = file.coordinators.iter().map(|named| named.name.as_str()).collect();
    let help = match spelrum_engine::nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None if names.is_empty() => format!(
            "write an address, such as http://{name}:7878, or name one in {}",
            file.path.display()
        ),
        None => format!("it has {}; an address is written http://HOST:PORT", names.join(", ")),
    };
    CliError::new(Exit::Usage, format!("find the coordinator {name}")).because(problem).help(help)
}
