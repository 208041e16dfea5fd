//! Binding a listener, and what to do when the port is taken.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

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
    /// Speak TLS, and nothing else, with this certificate: PEM, and after it those that it rests on
    #[arg(long, value_name = "FILE", env = "SPELRUM_TLS_CERT", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of --tls-cert: PEM
    #[arg(long, value_name = "FILE", env = "SPELRUM_TLS_KEY", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl TlsArguments {
    /// Where certificate and key are, if it is to speak TLS.
    pub(crate) fn files(&self) -> Option<TlsFiles> {
        let (certificate, key) = (self.tls_cert.clone()?, self.tls_key.clone()?);
        Some(TlsFiles { certificate, key, client_ca: None })
    }
}

/// Where a coordinator that speaks TLS is reached by its owner: its certificate need not name this machine.
pub(crate) struct OwnDoor {
    pub(crate) listener: TcpListener,
    pub(crate) url: CoordinatorUrl,
    /// What opens it.
    pub(crate) secret: String,
    pub(crate) token: Token,
}

impl OwnDoor {
    /// On loopback, with a token that nobody else knows.
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

/// A token that nobody outside of this process knows: 244 random bits.
pub(crate) fn random_token() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// Both doors, or the one.
pub(crate) fn listeners(public: TcpListener, own: Option<OwnDoor>) -> Listeners {
    Listeners { public, own: own.map(|own| own.listener) }
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

/// The address it got.
pub(crate) fn address(listener: &TcpListener) -> Result<SocketAddr> {
    listener
        .local_addr()
        .map_err(|error| CliError::new(Exit::Network, "learn the own address").because(error))
}

/// Refuses an address that other machines can reach, where no token is demanded; what lets it be so is told.
pub(crate) fn refuse_if_open_to_others(address: SocketAddr, anyway: &str) -> Result<()> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    Err(CliError::new(Exit::Usage, format!("listen on {address}"))
        .because(
            "whoever reaches it could submit sweeps, read results and report games: no token is \
             demanded",
        )
        .help(format!(
            "demand tokens (spelrum token create), or one that nobody can guess, as openssl rand -hex 32 prints \
             it, in SPELRUM_TOKEN; or listen on 127.0.0.1; {anyway} goes without"
        )))
}

/// Where this process reaches its own listener: on loopback, should it listen everywhere.
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
