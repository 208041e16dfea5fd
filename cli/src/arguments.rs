//! Arguments that several commands share.

use std::ffi::OsString;
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use tonic::transport::{Endpoint, Uri};

use crate::progress;

/// The environment variable for the coordinator's address.
pub(crate) const COORDINATOR_VARIABLE: &str = "SPELRUM_COORDINATOR";

/// What every command takes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct GlobalArguments {
    /// Colours: auto (on a terminal, unless NO_COLOR or CLICOLOR_FORCE say otherwise), always, never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_default_value = true,
        hide_possible_values = true
    )]
    color: ColorWhen,
    /// Do not tell how it goes, only what is wrong
    #[arg(long, short, global = true)]
    quiet: bool,
}

/// When there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

impl GlobalArguments {
    /// From here on, they hold for everything that is printed.
    pub(crate) fn apply(&self) {
        self.color.apply();
        if self.quiet {
            progress::be_quiet();
        }
    }
}

impl ColorWhen {
    /// What the command line says, before it is known to be right: errors in it have colours, too.
    pub(crate) fn asked(arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut arguments = arguments.take_while(|argument| argument != "--");
        while let Some(argument) = arguments.next() {
            let argument = argument.to_str()?;
            let when = match argument.strip_prefix("--color=") {
                Some(when) => when.to_owned(),
                None if argument == "--color" => arguments.next()?.into_string().ok()?,
                None => continue,
            };
            return Self::from_str(&when, false).ok();
        }
        None
    }

    /// From here on, it holds for everything that is printed.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// Where results are read from: a file or a coordinator.
#[derive(Args, Debug)]
pub(crate) struct SourceArguments {
    /// The results database
    #[arg(long, value_name = "PATH", conflicts_with = "coordinator")]
    pub(crate) db: Option<PathBuf>,
    /// The coordinator instead of a file: its URL, or its name in the config file [env:
    /// SPELRUM_COORDINATOR]
    #[arg(long, value_name = "URL")]
    pub(crate) coordinator: Option<CoordinatorChoice>,
}

/// Which coordinator a command talks to.
#[derive(Args, Debug)]
pub(crate) struct CoordinatorArguments {
    /// The coordinator: its URL, or its name in the config file [env: SPELRUM_COORDINATOR]
    #[arg(long, value_name = "URL")]
    pub(crate) coordinator: Option<CoordinatorChoice>,
}

/// How many games to play at once.
#[derive(Args, Debug)]
pub(crate) struct SlotsArguments {
    /// How many games to play at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = slots_from_text)]
    slots: Option<NonZeroU32>,
}

fn slots_from_text(text: &str) -> Result<NonZeroU32, &'static str> {
    text.parse().map_err(|_| "write a whole number from 1 up")
}

impl SlotsArguments {
    /// The number of slots.
    pub(crate) fn slots(&self) -> NonZeroU32 {
        self.slots.unwrap_or_else(|| {
            std::thread::available_parallelism()
                .ok()
                .and_then(|cores| NonZeroU32::try_from(cores).ok())
                .unwrap_or(NonZeroU32::MIN)
        })
    }
}

/// What names a coordinator.
#[derive(Clone, Debug)]
pub(crate) enum CoordinatorChoice {
    /// Its address.
    At(CoordinatorUrl),
    /// Its name in the config file.
    Named(String),
}

impl FromStr for CoordinatorChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // An address has a port.
        if text.is_empty() || text.contains([':', '/']) {
            text.parse().map(Self::At)
        } else {
            Ok(Self::Named(text.to_owned()))
        }
    }
}

/// A coordinator's address: `http://HOST:PORT`, the scheme optional.
#[derive(Clone)]
pub(crate) struct CoordinatorUrl {
    text: String,
    uri: Uri,
}

impl CoordinatorUrl {
    /// For connecting.
    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint::from(self.uri.clone())
    }
}

impl PartialEq for CoordinatorUrl {
    fn eq(&self, other: &Self) -> bool {
        self.uri == other.uri
    }
}

impl fmt::Debug for CoordinatorUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl fmt::Display for CoordinatorUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for CoordinatorUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let example = "write it like http://127.0.0.1:7878";
        let url = match text.split_once("://") {
            None => format!("http://{text}"),
            Some(("http", _)) => text.to_owned(),
            Some(("https", _)) => {
                return Err("a coordinator does not speak TLS itself: use http:// on loopback or \
                            through a tunnel"
                    .to_owned());
            }
            Some((scheme, _)) => return Err(format!("unknown scheme {scheme}: {example}")),
        };
        let uri: Uri = url.parse().map_err(|_| example.to_owned())?;
        match (uri.host(), uri.port()) {
            (Some(host), Some(_)) if !host.is_empty() => Ok(Self { text: url, uri }),
            _ => Err(format!("it has no host or no port: {example}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_counted_from_one() {
        assert_eq!(slots_from_text("8").map(NonZeroU32::get), Ok(8));
        for text in ["0", "-1", "all", ""] {
            assert_eq!(slots_from_text(text), Err("write a whole number from 1 up"), "{text:?}");
        }
    }

    #[test]
    fn a_coordinator_url_needs_no_scheme() {
        let url: CoordinatorUrl = "localhost:7878".parse().unwrap();
        assert_eq!(url.to_string(), "http://localhost:7878");
        assert_eq!(url.endpoint().uri().port_u16(), Some(7878));
    }

    #[test]
    fn a_name_is_told_from_an_address() {
        let named = |text: &str| matches!(text.parse(), Ok(CoordinatorChoice::Named(_)));
        let at = |text: &str| matches!(text.parse(), Ok(CoordinatorChoice::At(_)));
        assert!(named("lab") && named("localhost"));
        assert!(at("lab:7878") && at("http://lab:7878"));
        assert!("http://lab".parse::<CoordinatorChoice>().is_err());
        assert!("".parse::<CoordinatorChoice>().is_err());
    }

    #[test]
    fn a_coordinator_url_that_is_none_is_refused() {
        for text in ["", "http://", "localhost", "https://a:1", "ftp://a:1", "a b:1", ":7878"] {
            assert!(text.parse::<CoordinatorUrl>().is_err(), "{text:?} was taken");
        }
    }
}
