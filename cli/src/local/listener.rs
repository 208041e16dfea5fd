//! Binding a listener, and the remedy when the port is taken.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use clap::Args;
use spelrum_coordinator::{Listeners, TlsFiles};
use spelrum_proto::Token;
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::arguments::CoordinatorUrl;
use crate::error::{CliError, Result};
use crate::exit::Exit;

/// How a coordinator is reached by others.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TlsArguments {
    /// Accept only TLS connections, with this certificate (PEM, followed by its intermediates)
    #[arg(long, value_name = "FILE", env = CERTIFICATE_VARIABLE, requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of --tls-cert: PEM
    #[arg(long, value_name = "FILE", env = KEY_VARIABLE, requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Also accept client certificates issued by these CAs (PEM); the certificate states the
    /// client's role (spelrum certificate client)
    #[arg(long, value_name = "FILE", env = CLIENT_CA_VARIABLE, requires = "tls_cert")]
    client_ca: Option<PathBuf>,
    /// Allow unencrypted connections from other machines; anyone on the network path can read tokens and results
    #[arg(long, conflicts_with_all = ["tls_cert", "tls_key", "client_ca"])]
    without_tls: bool,
}

const CERTIFICATE_VARIABLE: &str = "SPELRUM_TLS_CERT";
const KEY_VARIABLE: &str = "SPELRUM_TLS_KEY";
const CLIENT_CA_VARIABLE: &str = "SPELRUM_CLIENT_CA";

impl TlsArguments {
    /// Whether clients must present a certificate even where no token is demanded.
    pub(crate) fn demands_certificates(&self) -> bool {
        self.client_ca.is_some()
    }

    /// The certificate and key files, if TLS is used.
    pub(crate) fn files(&self) -> Option<TlsFiles> {
        let (certificate, key) = (self.tls_cert.clone()?, self.tls_key.clone()?);
        Some(TlsFiles { certificate, key, client_ca: self.client_ca.clone() })
    }

    /// Refuses an address that other machines can reach, if traffic would be unencrypted and that was not explicitly
    /// allowed.
    pub(crate) fn refuse_if_readable_by_others(&self, address: SocketAddr) -> Result<()> {
        if address.ip().is_loopback() || self.without_tls || self.files().is_some() {
            return Ok(());
        }
        Err(CliError::new(Exit::Usage, format!("listen on {address}"))
            .because(
                "connections are not encrypted, so anyone on the network path could read tokens, sweeps and \
                 results, and use the tokens",
            )
            .help(
                "make certificates (spelrum certificate create HOST) and give --tls-cert and --tls-key; or \
                 listen on 127.0.0.1; --without-tls allows it, for example behind a TLS proxy",
            ))
    }

    /// The first of these options given as a flag, if any: environment variables apply to every coordinator of the
    /// machine.
    pub(crate) fn flag(&self) -> Option<&'static str> {
        let files = [
            ("--tls-cert", &self.tls_cert, CERTIFICATE_VARIABLE),
            ("--tls-key", &self.tls_key, KEY_VARIABLE),
            ("--client-ca", &self.client_ca, CLIENT_CA_VARIABLE),
        ];
        let given = files.into_iter().find(|(_, path, variable)| {
            let path = path.as_deref().map(Path::as_os_str);
            path.is_some() && path != std::env::var_os(variable).as_deref()
        });
        given.map(|(flag, ..)| flag).or_else(|| self.without_tls.then_some("--without-tls"))
    }
}

/// The owner's entrance to a coordinator with TLS, whose certificate need not name this machine.
pub(crate) struct OwnerEntrance {
    pub(crate) listener: TcpListener,
    pub(crate) url: CoordinatorUrl,
    /// The token for this entrance.
    pub(crate) secret: String,
    pub(crate) token: Token,
}

impl OwnerEntrance {
    /// Opens a listener on loopback, with a random token.
    pub(crate) async fn open() -> Result<Self> {
        let listener = bind("127.0.0.1:0").await?;
        let url = url_from_here(&listener)?;
        let secret = random_token();
        let token = secret
            .parse()
            .map_err(|error| CliError::new(Exit::Internal, "make a token").because(error))?;
        Ok(Self { listener, url, secret, token })
    }
}

/// A random token of 244 bits, known only to this process and the database's owner.
pub(crate) fn random_token() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// The public listener, and the own one if there is one.
pub(crate) fn listeners(public: TcpListener, entrance: Option<OwnerEntrance>) -> Listeners {
    Listeners { public, own: entrance.map(|entrance| entrance.listener) }
}

/// Binds `ADDR:PORT`.
pub(crate) async fn bind(address: &str) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let action = format!("listen on {address}");
        if error.kind() == ErrorKind::AddrInUse {
            CliError::new(Exit::Busy, action)
                .because("another program listens there")
                .help("choose another port, or 0 for any free one: --listen 127.0.0.1:0")
        } else if error.kind() == ErrorKind::InvalidInput {
            CliError::new(Exit::Usage, action)
                .because(error)
                .help("write an address and a port, such as --listen 127.0.0.1:7878")
        } else {
            CliError::new(Exit::Network, action)
                .because(error)
                .help("listen on an address of this machine, such as --listen 127.0.0.1:7878")
        }
    })
}

/// The bound address.
pub(crate) fn address(listener: &TcpListener) -> Result<SocketAddr> {
    listener
        .local_addr()
        .map_err(|error| CliError::new(Exit::Network, "find its own address").because(error))
}

/// Refuses an address that other machines can reach if no token is demanded; the error names the option that allows
/// it.
pub(crate) fn refuse_if_open_to_others(address: SocketAddr, anyway: &str) -> Result<()> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    Err(open_to_others(format!("listen on {address}"), "listen on 127.0.0.1", anyway))
}

/// The error of a coordinator that others can reach and that demands no token.
pub(crate) fn open_to_others(action: String, instead: &str, anyway: &str) -> CliError {
    CliError::new(Exit::Usage, action)
        .because(
            "no token is required, so anyone who can reach it could submit sweeps, read results and report \
             games",
        )
        .help(format!(
            "demand tokens (spelrum token create), client certificates (--client-ca), or one token that nobody \
             can guess, as openssl rand -hex 32 prints it, in SPELRUM_TOKEN; or {instead}; {anyway} goes without"
        ))
}

/// The URL of this process's own listener: on loopback, if it listens on all addresses.
pub(crate) fn url_from_here(listener: &TcpListener) -> Result<CoordinatorUrl> {
    let mut address = address(listener)?;
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        IpAddr::V4(_) | IpAddr::V6(_) => {}
    }
    format!("http://{address}")
        .parse()
        .map_err(|problem: String| CliError::new(Exit::Internal, "name itself").because(problem))
}
