//! Binding a listener, and what to do when the port is taken.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use spelrum_proto::Token;
use tokio::net::TcpListener;

use crate::arguments::CoordinatorUrl;
use crate::error::{CliError, Result, warn};
use crate::exit::Exit;

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

/// Says so if other machines can reach this address and need no token.
pub(crate) fn warn_if_open_to_others(address: SocketAddr, token: Option<&Token>) {
    if !address.ip().is_loopback() && token.is_none() {
        warn(
            &format!(
                "whoever reaches {address} can submit sweeps, read results and report games: no \
                 token is demanded"
            ),
            "demand what nobody can guess, as openssl rand -hex 32 prints it: in SPELRUM_TOKEN, or \
             in a file for spelrum coordinator --token-file; or listen on 127.0.0.1",
        );
    }
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
