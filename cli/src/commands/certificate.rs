//! `spelrum certificate`: TLS for a private cluster, without another tool.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use spelrum_answers::date_time;
use spelrum_coordinator::access::{Role, Roles, TokenBook, certificate_uris};

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::certificate_authority::{Authority, CertificateError, Certified, HostName, days};
use crate::terminal::notices::notify;

const EXAMPLES: &str = "\
A coordinator on the network needs TLS: a certificate that its clients trust. For your own cluster, create \
makes a certificate authority (CA) and a certificate for the coordinator. client makes certificates that \
workers and clients can show instead of a token, each with one or more roles:

  read     look at experiments and results, ask in SQL, export
  submit   submit sweeps, steer experiments and remove them; also read
  work     play games for the coordinator, and nothing else

The files, all PEM; those with a private key are readable by you alone, and nothing is written over:

  ca.pem            the CA: give it to every worker and client (--ca)
  ca.key            makes further certificates: keep it where no coordinator, worker or client is
  coordinator.pem   for the coordinator: --tls-cert
  coordinator.key   for the coordinator: --tls-key
  NAME.pem          for a worker or client, certificate and key in one: --cert

Certificates end. Before the coordinator's does, make another by the same CA (create --renew, with all names \
again) and restart the coordinator; workers and clients need no change. client --renew makes a new client \
certificate; the old one stays valid until it expires, or until revoke refuses all certificates of that name.

Examples:
  spelrum certificate create results.example.org 10.0.0.5
  spelrum coordinator --db results.db --listen 0.0.0.0:7878 --tokens tokens.toml \\
      --tls-cert coordinator.pem --tls-key coordinator.key --client-ca ca.pem
  spelrum worker --coordinator https://results.example.org:7878 --ca ca.pem
  spelrum certificate client lab-workers --role work
  spelrum worker --coordinator https://results.example.org:7878 --ca ca.pem --cert lab-workers.pem
  spelrum certificate create results.example.org 10.0.0.5 --renew
  spelrum certificate revoke lab-workers --tokens tokens.toml";

/// Create TLS certificates for a coordinator and its clients
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Certificate {
    #[command(subcommand)]
    command: CertificateCommand,
}

#[derive(Debug, Subcommand)]
enum CertificateCommand {
    /// Create a coordinator's certificate, and a CA if there is none
    Create(Create),
    /// Create a certificate that a worker or client presents instead of a token
    Client(Client),
    /// Revoke all client certificates with a name
    Revoke(Revoke),
}

#[derive(Args, Debug)]
struct Create {
    /// Every name and address by which the coordinator is called; those by which its own machine calls it
    /// (localhost, 127.0.0.1, ::1) are added
    #[arg(value_name = "HOST", required = true)]
    hosts: Vec<HostName>,
    #[command(flatten)]
    files: Files,
}

#[derive(Args, Debug)]
struct Client {
    /// The name of its owner or location
    name: String,
    /// Its role: read, submit or work; may be given several times
    #[arg(long = "role", value_name = "ROLE", required = true)]
    roles: Vec<Role>,
    #[command(flatten)]
    files: Files,
}

#[derive(Args, Debug)]
struct Files {
    /// Where the files are
    #[arg(long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// For how many days it is valid, but not for longer than the CA
    #[arg(long, value_name = "N", default_value_t = 365, value_parser = clap::value_parser!(u64).range(1..=3_650))]
    days: u64,
    /// Replace the existing certificate by a new one from the same CA
    #[arg(long)]
    renew: bool,
}

#[derive(Args, Debug)]
struct Revoke {
    /// The certificates' name
    name: String,
    /// The coordinator's tokens file, which it reads again within a second
    #[arg(long, value_name = "FILE", env = "SPELRUM_TOKENS")]
    tokens: PathBuf,
}

const CA: &str = "ca.pem";
const CA_KEY: &str = "ca.key";
const COORDINATOR: &str = "coordinator.pem";
const COORDINATOR_KEY: &str = "coordinator.key";

/// The names and addresses by which a machine calls itself.
const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

impl Certificate {
    /// Runs the subcommand.
    pub(crate) fn run(self) -> Result<Exit> {
        match self.command {
            CertificateCommand::Create(create) => create.run(),
            CertificateCommand::Client(client) => client.run(),
            CertificateCommand::Revoke(revoke) => revoke.run(),
        }
    }
}

impl Create {
    fn run(self) -> Result<Exit> {
        let Self { mut hosts, files } = self;
        let called = hosts[0].clone();
        hosts.extend(LOOPBACK_NAMES.iter().filter_map(|host| host.parse().ok()));
        let mut seen = Vec::new();
        hosts.retain(|host| {
            let is_new = !seen.contains(host);
            seen.push(host.clone());
            is_new
        });
        files.make_directory()?;
        files.refuse_existing(&[COORDINATOR, COORDINATOR_KEY])?;
        let now = SystemTime::now();
        let is_there = files.path(CA).exists() || files.path(CA_KEY).exists();
        // Certificates of a new authority would not be trusted.
        let authority = match is_there || files.renew {
            true => files.authority(now)?,
            false => {
                let (authority, made) = Authority::new(rand::random(), now)
                    .map_err(|error| files.failed(CA, "make", error))?;
                files.write(CA_KEY, &made.key, Secret::Yes)?;
                files.write(CA, &made.certificate, Secret::No)?;
                authority
            }
        };
        let made = authority
            .for_coordinator(&hosts, now, days(files.days))
            .map_err(|error| files.failed(COORDINATOR, "make", error))?;
        files.write(COORDINATOR_KEY, &made.key, Secret::Yes)?;
        files.write(COORDINATOR, &made.certificate, Secret::No)?;

        let shown = |name: &str| files.path(name).display().to_string();
        let word = |name: &str| files.word(name);
        if !is_there {
            notify(&format!(
                "created a CA: {} to hand out, {} to keep secret",
                shown(CA),
                shown(CA_KEY)
            ));
        }
        let names: Vec<String> = hosts.iter().map(HostName::to_string).collect();
        notify(&format!(
            "made the coordinator's certificate, {} and {}, for {}, until {}",
            shown(COORDINATOR),
            shown(COORDINATOR_KEY),
            names.join(", "),
            until(&made)
        ));
        let called = match called {
            HostName::Address(address) if address.is_ipv6() => format!("[{address}]"),
            HostName::Name(_) | HostName::Address(_) => called.to_string(),
        };
        let (certificate, key, ca) = (word(COORDINATOR), word(COORDINATOR_KEY), word(CA));
        if files.renew {
            notify("Restart the coordinator with it; workers and clients need no change.");
            return Ok(Exit::Success);
        }
        notify(&format!(
            "\nStart the coordinator with it (spelrum token create makes tokens):\n  spelrum coordinator --db results.db \
             --listen 0.0.0.0:7878 --tokens tokens.toml \\\n      --tls-cert {certificate} --tls-key {key}\nand call it \
             with {ca}:\n  spelrum worker --coordinator https://{called}:7878 --ca {ca}\nClient certificates may take \
             the place of tokens: spelrum certificate client --help"
        ));
        Ok(Exit::Success)
    }
}

impl Client {
    fn run(self) -> Result<Exit> {
        let Self { name, roles, files } = self;
        let roles: Roles = roles.into_iter().collect();
        let wrong_name = |problem: String| {
            CliError::new(Exit::Input, format!("make a certificate for {name}"))
                .because(problem)
                .help("name it after its owner or location, such as lab-workers")
        };
        let uris = certificate_uris(&name, roles).map_err(|error| wrong_name(error.to_string()))?;
        let file = format!("{name}.pem");
        if [CA, COORDINATOR].contains(&&*file) {
            return Err(wrong_name(format!("{file} is another certificate's file")));
        }
        files.refuse_existing(&[&file])?;
        let now = SystemTime::now();
        let made = files
            .authority(now)?
            .for_client(&name, uris, now, days(files.days))
            .map_err(|error| files.failed(&file, "make", error))?;
        files.write(&file, &format!("{}{}", made.certificate, made.key), Secret::Yes)?;
        let (word, ca) = (files.word(&file), files.word(CA));
        notify(&format!(
            "made the certificate of `{name}`, who may {roles}: {}, with its private key, until {}",
            files.path(&file).display(),
            until(&made)
        ));
        notify(&format!(
            "\nIt is accepted by coordinators started with --client-ca {ca}. Copy it to where `{name}` is, \
             and show \
             it there:\n  export SPELRUM_CA={ca} SPELRUM_CERT={word}"
        ));
        Ok(Exit::Success)
    }
}

impl Revoke {
    fn run(self) -> Result<Exit> {
        let Self { name, tokens } = self;
        let since = date_time(unix_us(SystemTime::now()));
        // A missing file belongs to no coordinator, and is not created.
        TokenBook::read(&tokens)
            .and_then(|_| TokenBook::change(&tokens, |book| book.refuse_certificate(&name, &since)))
            .map_err(|error| {
                let remedy = error.remedy();
                CliError::new(Exit::Input, format!("revoke certificates in {}", tokens.display()))
                    .because(error)
                    .help(remedy)
            })?;
        notify(&format!(
            "certificates of `{name}` are now refused by coordinators with --tokens {}; create new ones \
             under another name",
            tokens.display()
        ));
        Ok(Exit::Success)
    }
}

/// Whether only its owner may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Secret {
    Yes,
    No,
}

impl Files {
    fn path(&self, name: &str) -> PathBuf {
        match self.directory == Path::new(".") {
            true => PathBuf::from(name),
            false => self.directory.join(name),
        }
    }

    /// The path, quoted for a shell.
    fn word(&self, name: &str) -> String {
        let path = self.path(name).display().to_string();
        shlex::try_quote(&path).map_or_else(|_| path.clone(), |word| word.into_owned())
    }

    fn make_directory(&self) -> Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(&self.directory).map_err(|error| {
            CliError::new(Exit::Input, format!("make the directory {}", self.directory.display()))
                .because(error)
                .help("name one that you may write to: --directory DIR")
        })
    }

    /// Refuses to overwrite files, before anything is made.
    fn refuse_existing(&self, names: &[&str]) -> Result<()> {
        let found = names.iter().map(|name| self.path(name)).find(|path| path.exists());
        match found {
            Some(path) if !self.renew => Err(already_exists(&path)),
            Some(_) | None => Ok(()),
        }
    }

    /// The existing CA.
    fn authority(&self, now: SystemTime) -> Result<Authority> {
        let read = |name: &str| {
            let path = self.path(name);
            std::fs::read_to_string(&path).map_err(|error| {
                CliError::new(Exit::Input, format!("read {}", path.display()))
                    .because(error)
                    .help(format!(
                        "{CA} and {CA_KEY} belong together: make them with spelrum certificate create, or name \
                         their directory (--directory DIR)"
                    ))
            })
        };
        Authority::read(&read(CA)?, &read(CA_KEY)?, now)
            .map_err(|error| self.failed(CA, "use", error))
    }

    fn failed(&self, name: &str, verb: &str, error: CertificateError) -> CliError {
        let help = match &error {
            CertificateError::Making(_) => "report this as a fault of the program",
            CertificateError::NoAuthority
            | CertificateError::NotAnAuthority
            | CertificateError::NoKey
            | CertificateError::OtherKey => {
                "bring back the two files as spelrum certificate create made them, or make another CA in another \
                 directory"
            }
            CertificateError::Expired => {
                "make another CA in another directory, and give its ca.pem to all workers and clients"
            }
        };
        CliError::new(Exit::Input, format!("{verb} {}", self.path(name).display()))
            .because(error)
            .help(help)
    }

    /// Writes a file atomically.
    fn write(&self, name: &str, text: &str, secret: Secret) -> Result<()> {
        let path = self.path(name);
        let write = || -> io::Result<()> {
            let mode = if secret == Secret::Yes { 0o600 } else { 0o644 };
            let partial = self.path(&format!("{name}.partial"));
            if let Err(error) = std::fs::remove_file(&partial)
                && error.kind() != ErrorKind::NotFound
            {
                return Err(error);
            }
            let new = OpenOptions::new().write(true).create_new(true).mode(mode).open(&partial);
            let mut file = new?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            if self.renew { std::fs::rename(&partial, &path) } else { publish(&partial, &path) }
        };
        write().map_err(|error| {
            if error.kind() == ErrorKind::AlreadyExists {
                return already_exists(&path);
            }
            CliError::new(Exit::Input, format!("write {}", path.display()))
                .because(error)
                .help("name a directory that you may write to: --directory DIR")
        })
    }
}

/// Gives a complete file its name, unless that is taken.
fn publish(partial: &Path, path: &Path) -> io::Result<()> {
    let published = match renameat_with(CWD, partial, CWD, path, RenameFlags::NOREPLACE) {
        // Some file systems lack this operation.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match path.try_exists()? {
            true => Err(ErrorKind::AlreadyExists.into()),
            false => std::fs::rename(partial, path),
        },
        renamed => renamed.map_err(io::Error::from),
    };
    if published.is_err() {
        // The earlier error says more.
        let _stays = std::fs::remove_file(partial);
    }
    published
}

fn already_exists(path: &Path) -> CliError {
    CliError::new(Exit::Input, format!("write {}", path.display()))
        .because("it exists already")
        .help("--renew makes it anew by the same CA; --directory DIR is another place, with another CA")
}

fn until(made: &Certified) -> String {
    date_time(unix_us(made.until))
}

fn unix_us(time: SystemTime) -> i64 {
    let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_micros()).unwrap_or_default()
}
