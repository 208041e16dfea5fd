//! What a coordinator does for callers while another one owns the database: it passes their connections on, byte for
//! byte. TLS ends at the owner, and so every coordinator needs a certificate of the same names.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use super::{ACCEPT_RETRY_AFTER, CONNECTIONS_MAX, is_client_error, open_files, with_address};
use crate::log_throttle::LogThrottle;

/// How long connecting to the owner may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

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
    let places = Arc::new(Semaphore::new(places));
    let throttle = LogThrottle::default();
    let warn = |problem: std::fmt::Arguments<'_>| {
        if let Some(times) = throttle.record(1) {
            tracing::warn!(times, "{problem}");
        }
    };
    let mut address = target(&owner.borrow_and_update());
    let all = CancellationToken::new();
    let _close_all_at_end = all.clone().drop_guard();
    let mut closing = all.child_token();
    let mut is_followed = true;
    loop {
        let accepted = tokio::select! {
            biased;
            changed = owner.changed(), if is_followed => {
                is_followed = changed.is_ok();
                let next = target(&owner.borrow_and_update()).filter(|_| is_followed);
                if next != address {
                    address = next;
                    closing.cancel();
                    closing = all.child_token();
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
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            warn(format_args!("all connections are at work: closed that of {peer}"));
            continue;
        };
        let closing = closing.clone();
        tokio::spawn(async move {
            let _place = place;
            let passed = closing.run_until_cancelled(pass(stream, &address)).await;
            if let Some(Err(error)) = passed {
                tracing::debug!(%peer, address, %error, "a connection to the owner ended");
            }
        });
    }
}

/// Passes on what both sides of a connection send, until both have ended.
async fn pass(mut stream: TcpStream, address: &str) -> io::Result<()> {
    let connecting = TcpStream::connect(address);
    let mut owner = tokio::time::timeout(CONNECT_PATIENCE, connecting).await??;
    owner.set_nodelay(true)?;
    tokio::io::copy_bidirectional(&mut stream, &mut owner).await?;
    Ok(())
}
