//! Arguments shared by several commands.

use std::ffi::OsString;
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anstream::ColorChoice;
use clap::Args;
use colorchoice_clap::Color;
use rustix::process::Signal;
use spelrum_engine::parse_duration_us;
use spelrum_journal::Address;
use spelrum_model::labels::{LABELS_MAX, Label, NoLabel, SYZYGY_LABEL};
use spelrum_worker::{Cores, ExclusiveSlots};
use tonic::transport::{Endpoint, Uri};

use crate::error::CliError;
use crate::exit::Exit;
use crate::local::cost_estimate::mebibytes;
use crate::terminal::notices;

/// The environment variable for trusted CA certificates.
pub(crate) const CA_VARIABLE: &str = "SPELRUM_CA";

/// The environment variable for the client certificate.
pub(crate) const CERTIFICATE_VARIABLE: &str = "SPELRUM_CERT";

/// The environment variable for the client certificate's private key.
pub(crate) const KEY_VARIABLE: &str = "SPELRUM_KEY";

/// The environment variable for the coordinator's address.
pub(crate) const COORDINATOR_VARIABLE: &str = "SPELRUM_COORDINATOR";

/// Most addresses of a coordinator.
const ADDRESSES_MAX: usize = 16;

/// What every command takes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Everywhere")]
#[command(mut_arg("color", |color| {
    color.help(COLOR_HELP).hide_default_value(true).hide_possible_values(true)
}))]
pub(crate) struct GlobalArguments {
    #[command(flatten)]
    color: Color,
    /// Suppress progress; print only warnings and errors
    #[arg(long, short, global = true)]
    quiet: bool,
    /// The parent process, whose end is a SIGTERM to this one: for libraries that start it
    #[arg(long, global = true, hide = true, value_name = "PID")]
    ends_with: Option<u32>,
}

/// Has the kernel send SIGTERM to this process when its parent ends, however that ends.
fn end_with(parent: u32) {
    // It cannot fail with a signal that exists.
    let _set = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
    // The parent may have ended before.
    let is_there = rustix::process::getppid()
        .is_some_and(|now| u32::try_from(now.as_raw_nonzero().get()) == Ok(parent));
    if !is_there {
        std::process::exit(Exit::Terminated.code().into());
    }
}

const COLOR_HELP: &str =
    "Colours: auto (on a terminal, unless NO_COLOR or CLICOLOR_FORCE say otherwise), always, never";

impl GlobalArguments {
    /// Applies these settings to everything printed from here on.
    pub(crate) fn apply(&self) {
        self.color.write_global();
        if self.quiet {
            notices::be_quiet();
        }
        if let Some(parent) = self.ends_with {
            end_with(parent);
        }
    }
}

/// Colour and quiet flags as arguments for a child process.
pub(crate) fn output_flags() -> impl Iterator<Item = OsString> {
    let color = match ColorChoice::global() {
        ColorChoice::Auto => "auto",
        ColorChoice::Always | ColorChoice::AlwaysAnsi => "always",
        ColorChoice::Never => "never",
    };
    let quiet = notices::is_quiet().then_some("--quiet");
    ["--color", color].into_iter().chain(quiet).map(OsString::from)
}

/// The colour choice of the command line before it is parsed, for errors in it.
pub(crate) fn asked_color(arguments: impl Iterator<Item = OsString>) -> Option<Color> {
    let mut arguments = arguments.take_while(|argument| argument != "--");
    while let Some(argument) = arguments.next() {
        let argument = argument.to_str()?;
        let when = match argument.strip_prefix("--color=") {
            Some(when) => when.to_owned(),
            None if argument == "--color" => arguments.next()?.into_string().ok()?,
            None => continue,
        };
        return Some(Color { color: when.parse().ok()? });
    }
    None
}

/// A results database on the command line: a file's path, or the address of a PostgreSQL database. It is read later,
/// since an error of the command line's parser would quote an address with its password.
#[derive(Clone)]
pub(crate) struct DatabaseArgument(OsString);

/// A results database.
pub(crate) enum Database {
    /// A file.
    File(PathBuf),
    /// On a server, shared by several coordinators.
    Shared(Box<Address>),
}

impl From<OsString> for DatabaseArgument {
    fn from(text: OsString) -> Self {
        Self(text)
    }
}

impl fmt::Debug for DatabaseArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseArgument(…)")
    }
}

impl DatabaseArgument {
    /// The database.
    ///
    /// # Errors
    /// If it is an address that cannot be understood.
    pub(crate) fn read(&self) -> Result<Database, CliError> {
        match self.0.to_str().filter(|text| Address::is_one(text)) {
            Some(address) => Ok(Database::Shared(Box::new(Address::parse(address)?))),
            None => Ok(Database::File(PathBuf::from(&self.0))),
        }
    }
}

/// Where results are read from: a file or a coordinator.
#[derive(Args, Debug)]
pub(crate) struct SourceArguments {
    /// The results database
    #[arg(long, value_name = "PATH", conflicts_with = "coordinator")]
    pub(crate) db: Option<PathBuf>,
    /// The coordinator instead of a file: its URL, or its name in the config file; several,
    /// separated by commas, are tried in order [env: SPELRUM_COORDINATOR]
    #[arg(long, value_name = "URL")]
    pub(crate) coordinator: Option<CoordinatorChoices>,
    #[command(flatten)]
    pub(crate) trust: TrustArguments,
}

/// Whose certificates are trusted, and which is shown.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TrustArguments {
    /// CA certificates (PEM) to verify the coordinator with, if its URL is https:// [default: those
    /// of this system]
    #[arg(long, value_name = "FILE", env = CA_VARIABLE)]
    pub(crate) ca: Option<PathBuf>,
    /// The client certificate (PEM, with its private key) to present instead of a token
    #[arg(long, value_name = "FILE", env = CERTIFICATE_VARIABLE)]
    pub(crate) cert: Option<PathBuf>,
    /// The private key of --cert, if it is in a file of its own
    #[arg(long, value_name = "FILE", env = KEY_VARIABLE, requires = "cert")]
    pub(crate) key: Option<PathBuf>,
}

/// Which coordinator a command talks to.
#[derive(Args, Debug)]
pub(crate) struct CoordinatorArguments {
    /// The coordinator: its URL, or its name in the config file; several, separated by commas, are
    /// tried in order [env: SPELRUM_COORDINATOR]
    #[arg(long, value_name = "URL")]
    pub(crate) coordinator: Option<CoordinatorChoices>,
    #[command(flatten)]
    pub(crate) trust: TrustArguments,
}

/// What a worker says of its machine.
#[derive(Args, Debug)]
pub(crate) struct LabelArguments {
    /// A label that sweeps can require of a worker, such as site=lab2 or gpu; may be given several
    /// times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label_from_text)]
    labels: Vec<Label>,
}

pub(crate) fn label_from_text(text: &str) -> Result<Label, NoLabel> {
    Label::parse(text)
}

impl LabelArguments {
    /// The labels, and that of the machine's Syzygy tables, in the order of their names.
    ///
    /// # Errors
    /// If there are too many, or one is given twice, or the tables' is given.
    pub(crate) fn labels(&self, tables: Option<Label>) -> Result<Vec<Label>, CliError> {
        if let Some(label) = self.labels.iter().find(|label| label.name == SYZYGY_LABEL) {
            return Err(CliError::new(Exit::Usage, "label this machine")
                .because(format!("the label {label} is for machines with Syzygy tables"))
                .help("leave it out; name the folders of the tables in the engines file: [syzygy] path = \"…\""));
        }
        let mut labels = self.labels.clone();
        labels.extend(tables);
        labels.sort_unstable();
        let twice = labels.windows(2).find(|two| two[0].name == two[1].name);
        let problem = match twice {
            Some([first, second]) => format!("two labels have the same name: {first} and {second}"),
            _ if labels.len() > LABELS_MAX => {
                format!("{} labels are given, and a worker has at most {LABELS_MAX}", labels.len())
            }
            _ => return Ok(labels),
        };
        Err(CliError::new(Exit::Usage, "label this machine")
            .because(problem)
            .help("give each name once: --label site=lab2 --label gpu"))
    }
}

/// How many games to play at once.
#[derive(Args, Debug)]
pub(crate) struct SlotsArguments {
    /// How many games to play at once [default: the number of cores]
    #[arg(long, alias = "concurrency", value_name = "N", value_parser = slots_from_text)]
    slots: Option<NonZeroU32>,
    /// How much memory all these games together may take, such as 900MiB or 4GiB; games that may
    /// need more than a slot's part are not played here [default: three quarters of what is free]
    #[arg(long, value_name = "SIZE", value_parser = bytes_from_text)]
    memory: Option<u64>,
    /// How many of the slots are exclusive: games with time limits are played there alone, each on
    /// a core of its own; 0 plays them like all other games [default: as many as this machine can
    /// have]
    #[arg(long, value_name = "N")]
    quiet_slots: Option<u32>,
}

pub(crate) fn bytes_from_text(text: &str) -> Result<u64, &'static str> {
    let remedy = "write a whole number of MiB or GiB, such as 900MiB or 4GiB";
    let (number, shift) = [("MiB", 20), ("GiB", 30)]
        .into_iter()
        .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)))
        .ok_or(remedy)?;
    let number: NonZeroU32 = number.trim_end().parse().map_err(|_| remedy)?;
    Ok(u64::from(number.get()) << shift)
}

/// How long something waits: from a tenth of a second to a day.
pub(crate) fn wait_from_text(text: &str) -> Result<Duration, &'static str> {
    let time = parse_duration_us(text).map(Duration::from_micros).ok_or("write it like 300s")?;
    let bounds = Duration::from_millis(100)..=Duration::from_hours(24);
    bounds.contains(&time).then_some(time).ok_or("it must be from 100ms to 86400s")
}

/// A number of slots.
pub(crate) fn slots_from_text(text: &str) -> Result<NonZeroU32, &'static str> {
    text.parse().map_err(|_| "write a whole number from 1 up")
}

/// Which of the slots are exclusive, and why not more, in a line.
pub(crate) fn describe_slots(slots: NonZeroU32, quiet: &ExclusiveSlots) -> String {
    let all = match slots.get() {
        1 => "1 slot".to_owned(),
        slots => format!("{slots} slots"),
    };
    let quiet_slots = match quiet.count() {
        count if count == slots.get() => return format!("{all}, quiet for timed games"),
        0 => "none of them is quiet".to_owned(),
        1 => "1 of them is quiet for timed games".to_owned(),
        count => format!("{count} of them are quiet for timed games"),
    };
    format!("{all}; {quiet_slots}: {}", quiet.why_not_more())
}

/// What this machine can play at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) slots: NonZeroU32,
    /// For all games together, in bytes; `None` if neither given nor reported by the system.
    pub(crate) memory_bytes: Option<u64>,
}

impl Offer {
    /// Memory per slot.
    fn slot_bytes(self) -> u64 {
        self.memory_bytes.map_or(u64::MAX, |bytes| bytes / u64::from(self.slots.get()))
    }

    /// The most slots that can each hold such a game.
    fn slots_for(self, game_bytes: u64) -> Option<NonZeroU32> {
        let memory_bytes = self.memory_bytes.unwrap_or(u64::MAX);
        let fitting = memory_bytes.checked_div(game_bytes).unwrap_or(u64::MAX);
        NonZeroU32::new(u32::try_from(fitting).unwrap_or(u32::MAX).min(self.slots.get()))
    }
}

impl SlotsArguments {
    /// Options with these numbers, where given.
    pub(crate) const fn new(slots: Option<NonZeroU32>, quiet_slots: Option<u32>) -> Self {
        Self { slots, memory: None, quiet_slots }
    }

    /// The requested number of slots, or one per core.
    pub(crate) fn offer(&self) -> Offer {
        let memory_bytes = self.memory.or_else(spelrum_worker::memory_to_offer);
        Offer { slots: self.slots(), memory_bytes }
    }

    /// The offer for games that may each need this much memory: fewer slots than cores if memory is short, unless a
    /// number was requested.
    ///
    /// # Errors
    /// If the requested slots, or even a single one, cannot hold such games.
    pub(crate) fn offer_for(&self, game_bytes: u64) -> Result<Offer, CliError> {
        let offer = self.offer();
        let fitting = offer.slots_for(game_bytes);
        match fitting {
            Some(slots) if slots == offer.slots || self.slots.is_none() => {
                Ok(Offer { slots, ..offer })
            }
            Some(_) | None => {
                let fewer = fitting.map(|slots| format!("use --slots {slots}, "));
                Err(CliError::new(Exit::Input, "play the sweep")
                    .because(format!(
                        "a game may need {} of memory, and each slot has {}",
                        mebibytes(game_bytes),
                        mebibytes(offer.slot_bytes())
                    ))
                    .help(format!(
                        "{}make the players' tables and trees smaller (table_mib, \
                         max_tree_nodes, Hash of an engine), or raise --memory if the machine has more",
                        fewer.unwrap_or_default()
                    )))
            }
        }
    }

    /// Which of the slots are exclusive.
    ///
    /// # Errors
    /// If more were requested than possible.
    pub(crate) fn quiet(&self, slots: NonZeroU32) -> Result<ExclusiveSlots, CliError> {
        let quiet = Cores::here().plan(slots, self.quiet_slots).if_allowed();
        let wanted = self.quiet_slots.unwrap_or(0);
        if wanted <= quiet.count() {
            return Ok(quiet);
        }
        let most = match quiet.count() {
            0 => "none".to_owned(),
            most => format!("{most} at most"),
        };
        Err(CliError::new(Exit::Input, format!("keep {wanted} slots quiet"))
            .because(format!("here {most} can be: {}", quiet.why_not_more()))
            .help(format!("say --quiet-slots {}, or leave it out", quiet.count())))
    }

    /// The number of slots.
    fn slots(&self) -> NonZeroU32 {
        self.slots.unwrap_or_else(|| {
            std::thread::available_parallelism()
                .ok()
                .and_then(|cores| NonZeroU32::try_from(cores).ok())
                .unwrap_or(NonZeroU32::MIN)
        })
    }
}

/// A way to name a coordinator.
#[derive(Clone, Debug)]
pub(crate) enum CoordinatorChoice {
    /// Its address.
    At(CoordinatorUrl),
    /// Its name in the config file.
    Named(String),
}

/// The addresses of a coordinator, in the order in which they are tried. There is at least one.
#[derive(Clone, Debug)]
pub(crate) struct CoordinatorChoices(pub(crate) Vec<CoordinatorChoice>);

impl FromStr for CoordinatorChoices {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.split(',').count() > ADDRESSES_MAX {
            return Err(format!("it has more than {ADDRESSES_MAX} addresses"));
        }
        text.split(',').map(|choice| choice.trim().parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for CoordinatorChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Addresses have a port.
        if text.is_empty() || text.contains([':', '/']) {
            text.parse().map(Self::At)
        } else {
            Ok(Self::Named(text.to_owned()))
        }
    }
}

/// A coordinator's address: `http://HOST:PORT`, the scheme optional, or `https://HOST:PORT`.
#[derive(Clone)]
pub(crate) struct CoordinatorUrl {
    text: String,
    uri: Uri,
}

impl CoordinatorUrl {
    /// The endpoint for connecting without TLS.
    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint::from(self.uri.clone())
    }

    /// Whether the URL uses TLS.
    pub(crate) fn is_https(&self) -> bool {
        self.uri.scheme_str() == Some("https")
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
            Some(("http" | "https", _)) => text.to_owned(),
            Some((scheme, _)) => return Err(format!("unknown scheme {scheme}: {example}")),
        };
        let uri: Uri = url.parse().map_err(|_| example.to_owned())?;
        let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
        // The parser drops fragments.
        let path = uri.path_and_query().map_or_else(String::new, ToString::to_string);
        let has_more = !matches!(&*path, "" | "/");
        match (uri.host(), uri.port()) {
            _ if has_user => Err(format!("it has a user name; tokens admit callers: {example}")),
            _ if has_more || url.contains('#') => {
                Err(format!("it has more than a host and a port: {example}"))
            }
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
    fn quiet_slots_are_told_in_a_line() {
        let text = |slots, quiet: &str| {
            describe_slots(NonZeroU32::new(slots).unwrap(), &quiet.parse().expect("a plan"))
        };
        assert_eq!(text(1, "none"), "1 slot; none of them is quiet: no more were asked for");
        assert_eq!(text(1, "1 of 0-1, rest 0"), "1 slot, quiet for timed games");
        assert_eq!(text(2, "1-2 of 0-3, rest 0,3"), "2 slots, quiet for timed games");
        assert_eq!(
            text(2, "1 of 0-1, rest 0"),
            "2 slots; 1 of them is quiet for timed games: no more were asked for"
        );
        assert_eq!(
            text(4, "1-3 of 0-3, rest 0"),
            "4 slots; 3 of them are quiet for timed games: no more were asked for"
        );
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
        let choices = |text: &str| text.parse().map(|CoordinatorChoices(choices)| choices);
        let several = choices("lab, a:1").unwrap();
        assert!(
            matches!(&several[..], [CoordinatorChoice::Named(_), CoordinatorChoice::At(_)]),
            "{several:?}"
        );
        assert!(["", "a:1,", "a:1,http://b", ","].iter().all(|text| choices(text).is_err()));
        assert!(choices(&["a:1"; 17].join(",")).is_err());
    }

    #[test]
    fn a_coordinator_url_that_is_none_is_refused() {
        for text in ["", "http://", "localhost", "https://a", "ftp://a:1", "a b:1", ":7878"] {
            assert!(text.parse::<CoordinatorUrl>().is_err(), "{text:?} was taken");
        }
        let problem = |text: &str| text.parse::<CoordinatorUrl>().unwrap_err();
        for text in ["http://user@a:1", "user:secret@a:1"] {
            assert!(problem(text).starts_with("it has a user name"), "{text}");
        }
        for text in ["http://a:1/path", "a:1?query", "a:1/#fragment", "a:1#fragment"] {
            assert!(problem(text).starts_with("it has more than a host and a port"), "{text}");
        }
        assert!("https://a:1/".parse::<CoordinatorUrl>().is_ok());
    }
}
