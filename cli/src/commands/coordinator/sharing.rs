//! A coordinator that shares a database with others: it passes connections on to the one that owns the database, and
//! serves when it owns the database itself.

use std::convert::Infallible;
use std::time::Duration;

use spelrum_coordinator::{Coordinator, CoordinatorError, pass_on};
use spelrum_journal::{Address, Member, Owner};
use spelrum_store::{StoreError, Writer};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::Service;
use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::local::systemd;

/// The copy's file, where no other is named.
pub(super) const DEFAULT_COPY: &str = "spelrum-copy.db";

/// The error of a coordinator that is to lose results of a shared database.
pub(super) fn no_loss() -> CliError {
    CliError::new(Exit::Usage, "open the database")
        .because("--accept-loss is for a file whose log was lost, and this database is on a server")
        .help("leave it out; a copy that lacks its log is fetched anew from the server")
}

/// What the command line says of sharing.
pub(super) struct Options {
    /// Where the other coordinators connect to this one, if not where it listens.
    pub(super) advertised: Option<String>,
    /// How long an owner must be silent before this coordinator takes over, if not as long as usual.
    pub(super) silence: Option<Duration>,
}

/// Passes connections on and serves in turn, until asked to end.
pub(super) async fn run(
    service: &Service,
    server: &Address,
    listener: TcpListener,
    Options { advertised, silence }: Options,
) -> Result<Exit> {
    // Before it is needed, which may be in the middle of a night.
    service.config.check()?;
    let own_ip = service.address.ip();
    let address = match advertised {
        Some(address) => address,
        None if own_ip.is_unspecified() => {
            return Err(no_address(service, "on all addresses of this machine"));
        }
        None if own_ip.is_loopback() && !server.is_on_this_machine() => {
            return Err(no_address(service, "for this machine alone"));
        }
        None => service.address.to_string(),
    };
    let name = gethostname::gethostname().to_string_lossy().into_owned();
    let me = Owner { name, address: address.clone() };
    let mut member = Member::join(server, &service.config.db, me).await?;
    if let Some(silence) = silence {
        member = member.with_silence(silence);
    }
    let ended = take_turns(service, &mut member, listener, &address).await;
    let now = &service.interrupts.now;
    // A second signal ends it at once, as if killed. Otherwise the others need not wait, also where this machine's disk
    // has failed: theirs have not.
    if let Some(Err(error)) = now.run_until_cancelled(member.release()).await {
        tracing::warn!("{error}: the others take over when they have waited; {}", error.remedy());
    }
    ended
}

/// Passes connections on while another coordinator owns the database, and serves while this one does.
async fn take_turns(
    service: &Service,
    member: &mut Member,
    listener: TcpListener,
    address: &str,
) -> Result<Exit> {
    // Callers find it open all the time, whichever part accepts their connections.
    let listener = listener.into_std().map_err(no_listener)?;
    let listen_again = || listener.try_clone().and_then(TcpListener::from_std).map_err(no_listener);
    let mut is_announced = false;
    loop {
        let other = |owner: &Option<Owner>| {
            let other = owner.as_ref().filter(|owner| owner.address != address);
            other.map(|owner| owner.address.clone())
        };
        let owner = member.owner();
        // Created anew for each turn, since dropping the future that follows leaves everything right.
        let writer = tokio::select! {
            writer = member.follow() => writer?,
            never = pass_on(listen_again()?, owner.clone(), other) => match never {},
            never = log_owner(owner.clone(), address) => match never {},
            never = systemd::report_waiting() => match never {},
            () = other_owner(owner, address), if !is_announced => {
                service.announce()?;
                is_announced = true;
                continue;
            }
            () = service.interrupts.finish.cancelled() => return Ok(Exit::Success),
        };
        tracing::info!("this coordinator owns the database: it serves workers and clients");
        if !std::mem::replace(&mut is_announced, true) {
            service.announce()?;
        }
        use StoreError::{Journal, TakenOver};
        let served = tokio::select! {
            served = own(service, writer, listen_again()?) => served?,
            // Its writer is dropped, and callers go to the other owner before the next write would be refused.
            () = replaced(member.owner(), address) => {
                tracing::warn!("the server has not confirmed that this coordinator owns the database; {WAITS}");
                continue;
            }
        };
        match served {
            Err(CoordinatorError::Store(error @ (TakenOver { .. } | Journal { .. }))) => {
                tracing::warn!("{error}; {WAITS}");
            }
            served => return Ok(served?),
        }
    }
}

/// What an owner does that lost the database.
const WAITS: &str = "this coordinator waits now, and passes connections on";

/// Waits until this coordinator does not own the database any more, as far as the server confirms.
async fn replaced(mut owner: watch::Receiver<Option<Owner>>, own_address: &str) {
    let is_other =
        |owner: &Option<Owner>| owner.as_ref().is_none_or(|owner| owner.address != own_address);
    if owner.wait_for(is_other).await.is_err() {
        std::future::pending().await
    }
}

/// Waits until another coordinator owns the database, so that callers are answered.
async fn other_owner(mut owner: watch::Receiver<Option<Owner>>, own_address: &str) {
    let is_other =
        |owner: &Option<Owner>| owner.as_ref().is_some_and(|owner| owner.address != own_address);
    if owner.wait_for(is_other).await.is_err() {
        std::future::pending().await
    }
}

/// Serves the database as its owner.
async fn own(
    service: &Service,
    writer: Writer,
    listener: TcpListener,
) -> Result<std::result::Result<Exit, CoordinatorError>> {
    let (config, entrance) = service.entrance(&listener).await?;
    Ok(match Coordinator::with_writer(config, writer).await {
        Ok(coordinator) => service.serve(coordinator, listener, entrance).await,
        Err(error) => Err(error),
    })
}

/// Logs which coordinator owns the database, whenever that changes.
async fn log_owner(mut owner: watch::Receiver<Option<Owner>>, own_address: &str) -> Infallible {
    loop {
        match &*owner.borrow_and_update() {
            Some(Owner { name, address }) if address != own_address => {
                tracing::info!(
                    name,
                    address,
                    "another coordinator owns the database: connections are passed on to it"
                );
            }
            Some(Owner { name, address }) => tracing::info!(
                name,
                address,
                "the database's owner has the address of this coordinator: it was this one before a restart, or \
                 two have the same --advertise"
            ),
            None => tracing::info!("no coordinator owns the database: connections are closed"),
        }
        if owner.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}

fn no_address(service: &Service, listens: &str) -> CliError {
    CliError::new(Exit::Usage, "share a database")
        .because(format!(
            "it listens {listens} ({}), and the other coordinators need an address where they reach it",
            service.address
        ))
        .help("name one: --advertise HOST:PORT")
}

fn no_listener(error: std::io::Error) -> CliError {
    CliError::new(Exit::Network, "listen").because(error)
}
