//! `spelrum coordinator`: the store and the scheduler, served over the network.

mod sharing;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use spelrum_coordinator::{self as coordinator, CoordinatorError};
use spelrum_engine::parse_duration_us;
use tokio::net::TcpListener;

use crate::arguments::{CoordinatorUrl, Database, DatabaseArgument, wait_from_text};
use crate::config;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::database_holder;
use crate::local::listener;
use crate::local::listener::{OwnerEntrance, TlsArguments};
use crate::local::preflight::{self, DATABASE_THREADS};
use crate::local::systemd;
use crate::terminal;
use crate::terminal::interrupt::Interrupts;
use crate::terminal::logging::LogArguments;

const EXAMPLES: &str = "\
It prints the address it listens on, then logs to stderr (RUST_LOG=debug for more). The database \
is created if it is not there. Ctrl-C or SIGTERM (or SIGHUP, SIGUSR1, SIGUSR2) answers the requests under \
way and ends; workers wait for the next start and lose nothing.

Examples:
  spelrum coordinator --db results.db
  spelrum certificate create HOST
  spelrum token create lab-workers --role work --tokens tokens.toml
  spelrum coordinator --db results.db --listen 0.0.0.0:7878 --tokens tokens.toml \\
      --tls-cert coordinator.pem --tls-key coordinator.key
  spelrum coordinator --db postgres://spelrum@db.example.org/spelrum --listen 0.0.0.0:7878 \\
      --advertise lab1.example.org:7878 --tokens tokens.toml \\
      --tls-cert coordinator.pem --tls-key coordinator.key

The last two accept other machines that have a token: workers and clients read theirs from SPELRUM_TOKEN or \
from the config file (spelrum config shows which). A client certificate can replace a token (--client-ca, \
spelrum certificate --help). A coordinator that listens on the network without tokens or without TLS does \
not start unless --without-token or --without-tls allows it: without tokens anyone who can reach it has full \
access, and without TLS anyone on the network path can read and use the tokens.

With the address of a PostgreSQL database, as in the last example, several coordinators share one database and \
survive the loss of a machine. One of them owns the database: each of its transactions is on the server before \
anything is acknowledged. The others keep a copy up to date (--copy), pass connections on to the owner, and one \
of them takes over at once when the owner ends, or 5 seconds after it fell silent. Give workers and clients all \
addresses: SPELRUM_COORDINATOR=https://lab1:7878,https://lab2:7878. The password comes from PGPASSWORD or \
PGPASSFILE. docs/operating.md leads from a file to a server and back.";

/// Store experiments and results, and hand out games to workers
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Coordinator {
    /// The results database: a file, or the address of a PostgreSQL database that several coordinators share,
    /// postgres://USER@HOST:PORT/DATABASE
    #[arg(long, value_name = "PATH|ADDRESS")]
    db: DatabaseArgument,
    /// With the address of a PostgreSQL database: the file for this coordinator's own copy, on a disk of
    /// this machine [default: spelrum-copy.db, in this directory]
    #[arg(long, value_name = "PATH")]
    copy: Option<PathBuf>,
    /// With the address of a PostgreSQL database: where the other coordinators reach this one, and no
    /// other [default: the address where it listens]
    #[arg(long, value_name = "HOST:PORT", value_parser = advertised)]
    advertise: Option<String>,
    /// Take over after this silence of the owner (for tests)
    #[arg(long, value_name = "DURATION", hide = true, value_parser = wait_from_text)]
    takeover_after: Option<Duration>,
    /// Where to listen for workers and clients; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7878")]
    listen: String,
    /// A file with a token for full access [default: SPELRUM_TOKEN, or the config file's]
    #[arg(long, value_name = "PATH")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    tls: TlsArguments,
    /// The tokens file, as spelrum token writes it: which tokens are accepted, with their roles;
    /// read again when it changes
    #[arg(long, value_name = "FILE", env = "SPELRUM_TOKENS")]
    tokens: Option<PathBuf>,
    /// Require no token: anyone who can reach it has full access, also from other machines
    #[arg(long, conflicts_with_all = ["token_file", "tokens", "client_ca"])]
    without_token: bool,
    /// A name by which workers and clients call it, as through a proxy; may be given more than once.
    /// Calls to other names are refused then. On loopback, only localhost and this machine's name are
    /// known without
    #[arg(long = "host", value_name = "NAME", value_parser = host)]
    hosts: Vec<String>,
    /// How often workers send a heartbeat. If a worker is silent for six times as long, its games
    /// go to other workers
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = heartbeat)]
    heartbeat: Duration,
    /// Open the database although the log that a crash left is missing or not its own: the results in that log
    /// are lost, and played again
    #[arg(long)]
    accept_loss: bool,
    /// The size of all pushed programs together (spelrum engine push), in a folder beside the database; the
    /// longest unused are removed first. 0 takes none
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size)]
    programs_size: u64,
    /// Let people play against built-in players and search positions in a browser or over the API: two searches at
    /// once, of at most 5 seconds each, on low-priority threads of the coordinator
    #[arg(long)]
    play: bool,
    #[command(flatten)]
    logs: LogArguments,
}

/// Parses a size in bytes.
fn size(text: &str) -> std::result::Result<u64, String> {
    let units = [("MiB", 20), ("GiB", 30)];
    let number = units.into_iter().find_map(|(unit, shift)| {
        Some(u64::from(text.strip_suffix(unit)?.parse::<u32>().ok()?) << shift)
    });
    let number = number.or_else(|| (text == "0").then_some(0));
    number.ok_or_else(|| "write it like 500MiB or 4GiB".to_owned())
}

/// Parses a heartbeat interval, within useful bounds.
fn heartbeat(text: &str) -> std::result::Result<Duration, String> {
    let us = parse_duration_us(text).ok_or("write it like 500ms or 5s")?;
    let interval = Duration::from_micros(us);
    if (Duration::from_millis(100)..=Duration::from_secs(600)).contains(&interval) {
        Ok(interval)
    } else {
        Err("it must be from 100ms to 600s".to_owned())
    }
}

/// Parses a host name without port or path.
fn host(text: &str) -> std::result::Result<String, String> {
    let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if !text.is_empty() && text.len() <= 253 && text.bytes().all(is_of_names) {
        Ok(text.trim_end_matches('.').to_owned())
    } else {
        Err("write a name alone, such as results.example.org".to_owned())
    }
}

/// Parses the address that other coordinators connect to.
fn advertised(text: &str) -> std::result::Result<String, String> {
    let example = "write a host and a port, such as lab1.example.org:7878";
    if text.matches(':').count() > 1 && !text.contains(['/', '[']) {
        return Err("an IPv6 address needs brackets, as in [2001:db8::1]:7878".to_owned());
    }
    if text.contains('/') || text.parse::<CoordinatorUrl>().is_err() {
        return Err(example.to_owned());
    }
    let is_nowhere = |address: SocketAddr| address.ip().is_unspecified() || address.port() == 0;
    if text.parse().is_ok_and(is_nowhere) {
        return Err(format!("other machines cannot connect to it: {example}"));
    }
    Ok(text.to_owned())
}

/// Whether an advertised address is for this machine alone.
fn is_loopback(advertised: &str) -> bool {
    let ip = advertised.parse().map(|address: SocketAddr| address.ip());
    advertised.starts_with("localhost:") || ip.is_ok_and(|ip| ip.is_loopback())
}

impl Coordinator {
    /// Serves until asked to end.
    pub(crate) async fn run(self) -> Result<Exit> {
        self.logs.start("info");
        let interrupts = Interrupts::listen(|| {
            tracing::info!("ending: answering the requests under way; a second signal ends now");
            systemd::ending();
        })?;
        preflight::threads(DATABASE_THREADS)?;
        let database = self.db.read()?;
        let listener = listener::bind(&self.listen).await?;
        let address = listener::address(&listener)?;
        let token = match self.without_token {
            true => None,
            false => config::own_token(self.token_file.as_deref())?,
        };
        let demands_something =
            token.is_some() || self.tokens.is_some() || self.tls.demands_certificates();
        if !self.without_token && !demands_something {
            let anyway = "--without-token";
            listener::refuse_if_open_to_others(address, anyway)?;
            // Another coordinator passes on the callers that reach it.
            let advertised = self.advertise.as_ref().filter(|text| !is_loopback(text));
            if let (Database::Shared(_), Some(advertised)) = (&database, advertised) {
                let action = format!("share a database as {advertised}");
                let instead = "advertise an address of this machine alone";
                return Err(listener::open_to_others(action, instead, anyway));
            }
        }
        self.tls.refuse_if_readable_by_others(address)?;
        let db = match &database {
            Database::File(path) => {
                self.refuse_for_a_file()?;
                if self.accept_loss {
                    database_holder::accept_loss(path)?;
                }
                path.clone()
            }
            Database::Shared(_) => self.copy.unwrap_or_else(|| sharing::DEFAULT_COPY.into()),
        };
        let service = Service {
            config: coordinator::Config {
                db,
                heartbeat_interval: self.heartbeat,
                token,
                tokens: self.tokens,
                tls: self.tls.files(),
                own_token: None,
                holder_text: String::new(),
                hosts: self.hosts,
                is_alone: false,
            },
            address,
            programs_size: self.programs_size,
            play: self.play,
            interrupts,
        };
        match database {
            Database::File(_) => {
                let (config, entrance) = service.entrance(&listener).await?;
                let coordinator = coordinator::Coordinator::open(config).await?;
                service.announce()?;
                Ok(service.serve(coordinator, listener, entrance).await?)
            }
            Database::Shared(server) => {
                if self.accept_loss {
                    return Err(sharing::no_loss());
                }
                let options =
                    sharing::Options { advertised: self.advertise, silence: self.takeover_after };
                sharing::run(&service, &server, listener, options).await
            }
        }
    }

    /// Refuses what only coordinators that share a database take.
    fn refuse_for_a_file(&self) -> Result<()> {
        let copy = self.copy.as_ref().map(|_| "--copy");
        let Some(option) = copy.or(self.advertise.as_ref().map(|_| "--advertise")) else {
            return Ok(());
        };
        Err(CliError::new(Exit::Usage, "open the database")
            .because(format!("{option} is for a database that several coordinators share, and --db is a file"))
            .help("leave it out; or share the file first (spelrum share FILE postgres://…) and give that address"))
    }
}

/// How this process serves a database once it is open.
struct Service {
    config: coordinator::Config,
    /// Where it listens.
    address: SocketAddr,
    programs_size: u64,
    play: bool,
    interrupts: Interrupts,
}

impl Service {
    /// The URL where it listens.
    fn url(&self) -> String {
        let scheme = if self.config.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Reports that callers can connect.
    fn announce(&self) -> Result<()> {
        let listening = format!("listening on {}", self.url());
        let mut out = terminal::stdout();
        writeln!(out, "{listening}")?;
        out.flush()?;
        systemd::ready(&listening);
        Ok(())
    }

    /// The configuration with the way in for other commands of the database's owner on this machine.
    async fn entrance(
        &self,
        listener: &TcpListener,
    ) -> Result<(coordinator::Config, Option<OwnerEntrance>)> {
        let entrance = match &self.config.tls {
            Some(_) => Some(OwnerEntrance::open().await?),
            None => None,
        };
        let holder_text = match &entrance {
            Some(entrance) => database_holder::lock_text(&entrance.url, Some(&entrance.secret)),
            None => database_holder::lock_text(&listener::url_from_here(listener)?, None),
        };
        let own_token = entrance.as_ref().map(|entrance| entrance.token.clone());
        Ok((coordinator::Config { own_token, holder_text, ..self.config.clone() }, entrance))
    }

    /// Serves until asked to end.
    async fn serve(
        &self,
        coordinator: coordinator::Coordinator,
        listener: TcpListener,
        entrance: Option<OwnerEntrance>,
    ) -> std::result::Result<Exit, CoordinatorError> {
        let coordinator = coordinator.with_programs_bytes(self.programs_size).with_play(self.play);
        let health = coordinator.health();
        let Interrupts { finish, now, .. } = &self.interrupts;
        tokio::select! {
            served = coordinator.serve_at(listener::listeners(listener, entrance), finish.clone()) => {
                served?;
                Ok(Exit::Success)
            }
            never = systemd::report_health(&health) => match never {},
            () = now.cancelled() => Ok(self.interrupts.exit().unwrap_or(Exit::Interrupted)),
        }
    }
}
