//! Looks at the token of every call.

use std::convert::Infallible;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use spelrum_proto::{Reason, Refusal, Token, presented_token};

use super::book::{BookError, TokenBook};
use super::role::{Role, Roles};

/// How often it is seen whether the file of tokens has changed.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Lets a call through that brings a token which may do it; every call, if no token is demanded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// One that may do everything.
    owner: Option<Token>,
    /// One more, which does not demand that others have one.
    own: Option<Token>,
    book: Option<Arc<SharedBook>>,
}

/// A file of tokens as it was read last.
#[derive(Debug)]
struct SharedBook {
    path: PathBuf,
    read: RwLock<ReadBook>,
}

#[derive(Debug)]
struct ReadBook {
    book: TokenBook,
    /// What told it from others.
    stamp: Option<Stamp>,
}

/// What is another after a file was replaced or written to.
type Stamp = (u64, u64, Option<SystemTime>);

impl Guard {
    /// Demands one of these, if there are any: the owner's token, or one of a file.
    ///
    /// # Errors
    /// If the file cannot be read, or is not one of tokens.
    pub(crate) fn new(owner: Option<Token>, book: Option<PathBuf>) -> Result<Self, BookError> {
        let book = book.map(|path| {
            let stamp = stamp(&path);
            let book = TokenBook::read(&path)?;
            Ok::<_, BookError>(Arc::new(SharedBook {
                path,
                read: RwLock::new(ReadBook { book, stamp }),
            }))
        });
        Ok(Self { owner, own: None, book: book.transpose()? })
    }

    /// Lets this token do everything, beside those that are demanded.
    #[must_use]
    pub(crate) fn with_own(self, own: Option<Token>) -> Self {
        Self { own, ..self }
    }

    /// Lets a call of a path through that brings this as `authorization`.
    ///
    /// # Errors
    /// A refusal that says what to do about it.
    pub(crate) fn check(&self, path: &str, authorization: Option<&[u8]>) -> Result<(), Refusal> {
        if self.owner.is_none() && self.book.is_none() {
            return Ok(());
        }
        let presented = presented_token(authorization)?;
        if [&self.owner, &self.own].into_iter().flatten().any(|all| all.is(presented)) {
            return Ok(());
        }
        let found = self.book.as_ref().and_then(|book| book.find(presented));
        let Some((name, roles)) = found else {
            return Err(Refusal::bad_token(
                "the token that was given is not one of the coordinator's",
            ));
        };
        let needed = Role::needed_by(path);
        if roles.may(needed) {
            return Ok(());
        }
        let problem =
            format!("the token `{name}` may {roles}, and this needs one that may {needed}");
        let remedy = format!(
            "ask whoever runs the coordinator for a token of the role {needed} (spelrum token create)"
        );
        Err(Refusal::new(Reason::WrongRole, problem, &remedy))
    }

    /// Reads the file of tokens again whenever it has changed. One that cannot be read is not taken: what was
    /// read before holds.
    pub(crate) async fn watch(self) -> Infallible {
        let Some(shared) = self.book else { return std::future::pending().await };
        let mut said = None;
        loop {
            tokio::time::sleep(LOOK_INTERVAL).await;
            let book = Arc::clone(&shared);
            // A file's system may hang, and must hang nothing else.
            let looked = tokio::task::spawn_blocking(move || book.look()).await;
            let Ok(looked) = looked else { continue };
            match looked {
                Ok(None) => {}
                Ok(Some(tokens)) => {
                    said = None;
                    tracing::info!(tokens, path = %shared.path.display(), "read the file of tokens again");
                }
                Err(error) => {
                    let problem = error.to_string();
                    if said.as_ref() != Some(&problem) {
                        tracing::error!(
                            path = %shared.path.display(),
                            problem,
                            "the file of tokens cannot be read: those read before hold; mend it, or restart \
                             without it"
                        );
                        said = Some(problem);
                    }
                }
            }
        }
    }
}

impl SharedBook {
    fn find(&self, presented: &[u8]) -> Option<(String, Roles)> {
        let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
        read.book.find(presented).map(|(name, roles)| (name.to_owned(), roles))
    }

    /// Reads it if it has changed: how many tokens it has then.
    fn look(&self) -> Result<Option<usize>, BookError> {
        let now = stamp(&self.path);
        let before = self.read.read().unwrap_or_else(PoisonError::into_inner).stamp;
        if now.is_some() && now == before {
            return Ok(None);
        }
        let book = TokenBook::read(&self.path)?;
        let tokens = book.entries().len();
        *self.read.write().unwrap_or_else(PoisonError::into_inner) = ReadBook { book, stamp: now };
        Ok(Some(tokens))
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = path.metadata().ok()?;
    Some((metadata.ino(), metadata.len(), metadata.modified().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: &str = "/spelrum.v1.Work/Hello";
    const READ: &str = "/spelrum.v1.Results/GetReport";

    fn said(guard: &Guard, path: &str, token: &str) -> Option<Reason> {
        let value = format!("Bearer {token}");
        guard.check(path, Some(value.as_bytes())).err().map(|refusal| refusal.reason)
    }

    #[test]
    fn what_is_not_demanded_is_not_looked_at() {
        let open = Guard::default();
        assert_eq!(open.check(WORK, None), Ok(()));
        assert_eq!(open.check(WORK, Some(b"Basic x")), Ok(()));
    }

    #[test]
    fn only_tokens_open_the_guard_and_only_for_their_roles() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tokens.toml");
        let worker = TokenBook::change(&path, |book| {
            book.add(
                "w",
                Role::ALL.into_iter().filter(|it| *it == Role::Work).collect(),
                "",
                [1; 32],
            )
        });
        let worker = worker.unwrap();
        let owner: Token = "s3cret-s3cret".parse().unwrap();
        let guard = Guard::new(Some(owner), Some(path.clone())).unwrap();
        assert_eq!(said(&guard, WORK, "s3cret-s3cret"), None);
        assert_eq!(said(&guard, READ, "s3cret-s3cret"), None);
        assert_eq!(said(&guard, WORK, &worker), None);
        assert_eq!(said(&guard, READ, &worker), Some(Reason::WrongRole));
        for wrong in ["", "s3cret-s3cre", "s3cret-s3cret2", &worker[1..]] {
            assert_eq!(said(&guard, WORK, wrong), Some(Reason::BadToken), "{wrong:?}");
        }
        assert_eq!(guard.check(WORK, None).unwrap_err().reason, Reason::BadToken);
        assert!(!format!("{guard:?}").contains("s3cret"));

        // Without an owner's token nobody comes in but those of the file, and without those nobody.
        let shared = Guard::new(None, Some(path.clone())).unwrap();
        assert_eq!(said(&shared, WORK, &worker), None);
        TokenBook::change(&path, |book| book.remove("w")).unwrap();
        assert_eq!(shared.book.as_ref().unwrap().look().unwrap(), Some(0));
        assert_eq!(said(&shared, WORK, &worker), Some(Reason::BadToken));
        assert_eq!(shared.book.as_ref().unwrap().look().unwrap(), None);
        std::fs::write(&path, "nonsense").unwrap();
        assert!(shared.book.as_ref().unwrap().look().is_err());
        std::fs::remove_file(&path).unwrap();
        assert!(shared.book.as_ref().unwrap().look().is_err());
        assert!(matches!(Guard::new(None, Some(path)), Err(BookError::File(_))));
    }
}
