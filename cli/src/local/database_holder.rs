//! Discovering the coordinator that holds a database's lock, for other commands of the same user: the lock file beside
//! the database, readable only by its owner, has the address and token.

use std::path::Path;

use spelrum_proto::Token;
use spelrum_store::{Loss, accept_loss as accept, read_lock_text};

use crate::arguments::CoordinatorUrl;
use crate::config;
use crate::error::{Result, warn};
use crate::remote::connection;
use spelrum_proto::api::Api;

/// The contents of a coordinator's lock: its address, and its token if random.
pub(crate) fn lock_text(url: &CoordinatorUrl, token: Option<&str>) -> String {
    match token {
        Some(token) => format!("{url}\n{token}\n"),
        None => format!("{url}\n"),
    }
}

/// Connects to the coordinator that has a database open; `None` if the lock names no address.
pub(crate) async fn connect(db: &Path) -> Result<Option<Api>> {
    let Some((url, token)) = read_lock_text(db).as_deref().and_then(read) else {
        return Ok(None);
    };
    let token = match token {
        Some(token) => Some(token),
        None => config::own_token(None)?,
    };
    connection::connect_at(&url, token.as_ref()).await.map(Some)
}

/// Allows opening a database whose log after a crash is missing or foreign, and says what that costs.
pub(crate) fn accept_loss(db: &Path) -> Result<()> {
    let Some(Loss { problem, put_aside }) = accept(db)? else { return Ok(()) };
    let aside = put_aside.map(|log| format!("; that log is {} now", log.display()));
    let remedy =
        "lost games are played again; submit those sweeps again that the database no longer has";
    warn(&format!("{problem}: going on without it{}", aside.unwrap_or_default()), remedy);
    Ok(())
}

/// Parses the lock's contents after the first line, which names the process.
fn read(text: &str) -> Option<(CoordinatorUrl, Option<Token>)> {
    let mut lines = text.lines().skip(1);
    let url = lines.next()?.parse().ok()?;
    let token = match lines.next() {
        Some(token) => Some(token.parse().ok()?),
        None => None,
    };
    Some((url, token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_read_again() {
        let url: CoordinatorUrl = "http://127.0.0.1:7878".parse().unwrap();
        let with = |text: String| read(&format!("process 12\n{text}"));
        let (address, token) = with(lock_text(&url, None)).unwrap();
        assert!(address.to_string() == url.to_string() && token.is_none());
        assert!(with(lock_text(&url, Some("secret-of-the-run"))).unwrap().1.is_some());
        for text in [
            "",
            "process 12",
            "process 12\n",
            "process 12\nnowhere at all",
            "process 1\nhttp://127.0.0.1:1\n\u{7}",
        ] {
            assert!(read(text).is_none(), "{text:?}");
        }
    }
}
