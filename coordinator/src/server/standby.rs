//! What a coordinator does for callers while another one owns the database: it passes their connections on, byte for
//! byte. TLS ends at the owner, and so every coordinator needs a certificate of the same names.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncWriteExt as _, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use super::{ACCEPT_RETRY_AFTER, CONNECTIONS_MAX, is_client_error, open_files, with_address};
use crate::log_throttle::LogThrottle;

/// How long connecting to the owner may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// How long a caller may send to an owner that has ended its side.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// When an idle connection is probed, and again: one whose other side is gone without a word ends within two minutes, and
/// would hold its place for hours otherwise.
const PROBED: TcpKeepalive = TcpKeepalive::new()
    .with_time(Duration::from_secs(60))
    .with_interval(Duration::from_secs(15))
    .with_retries(4);

/// Passes the connections of `listener` on to the address that `target` makes of the latest value of `owner`, until
/// dropped. Connections end with this future, and when the address changes. Where there is no address, they are closed
/// at once, so that callers try their next one.
///
/// The owner sees this machine as the peer of all these connections.
pub async fn pass_on<O>(
    listener: TcpListener,
    mut owner: watch::Receiver<O>,
    target: impl Fn(&O) -> Option<String>,
) -> Infallible {
    // Two files for each.
    let places = open_files::connections_max(2 * CONNECTIONS_MAX) / 2;
    let throttle = LogThrottle::default();
    let warn = |problem: std::fmt::Arguments<'_>| {
        if let Some(times) = throttle.record(1) {
            tracing::warn!(times, "{problem}");
        }
    };
    let mut address = target(&owner.borrow_and_update());
    let mut tasks = JoinSet::new();
    // By the order in which they came.
    let mut open: BTreeMap<u64, AbortHandle> = BTreeMap::new();
    let mut next_number = 0_u64;
    let mut is_followed = true;
    loop {
        let accepted = tokio::select! {
            biased;
            changed = owner.changed(), if is_followed => {
                is_followed = changed.is_ok();
                let next = target(&owner.borrow_and_update()).filter(|_| is_followed);
                if next != address {
                    address = next;
                    tasks.abort_all();
                    open.clear();
                }
                continue;
            }
            Some(ended) = tasks.join_next() => {
                // That of an aborted one was removed.
                if let Ok(number) = ended {
                    open.remove(&number);
                }
                continue;
            }
            accepted = listener.accept() => accepted,
        };
        let (stream, peer, _local) = match accepted.and_then(with_address) {
            Ok(accepted) => accepted,
            Err(error) if is_client_error(&error) => continue,
            Err(error) => {
                warn(format_args!("could not accept a connection: {error}"));
                tokio::time::sleep(ACCEPT_RETRY_AFTER).await;
                continue;
            }
        };
        let Some(address) = address.clone() else { continue };
        if open.len() >= places
            && let Some((_, oldest)) = open.pop_first()
        {
            warn(format_args!(
                "all {places} connections are at work: closed the oldest for that of {peer}"
            ));
            oldest.abort();
        }
        let number = next_number;
        next_number += 1;
        let task = tasks.spawn(async move {
            if let Err(error) = pass(stream, &address).await {
                tracing::debug!(%peer, address, %error, "a connection to the owner ended");
            }
            number
        });
        open.insert(number, task);
    }
}

/// Passes on what both sides of a connection send, until both have ended. A caller that does not end when the owner has
/// does not hold its place for long.
async fn pass(mut stream: TcpStream, address: &str) -> io::Result<()> {
    let connecting = TcpStream::connect(address);
    let mut owner = tokio::time::timeout(CONNECT_PATIENCE, connecting).await??;
    owner.set_nodelay(true)?;
    for side in [&stream, &owner] {
        SockRef::from(side).set_tcp_keepalive(&PROBED)?;
    }
    let (mut from_caller, mut to_caller) = stream.split();
    let (mut from_owner, mut to_owner) = owner.split();
    let mut calls = pin!(async {
        copy(&mut from_caller, &mut to_owner).await?;
        to_owner.shutdown().await
    });
    let mut answers = pin!(async {
        copy(&mut from_owner, &mut to_caller).await?;
        to_caller.shutdown().await
    });
    tokio::select! {
        ended = &mut calls => {
            ended?;
            answers.await
        }
        ended = &mut answers => {
            ended?;
            tokio::time::timeout(END_PATIENCE, calls).await?
        }
    }
}
