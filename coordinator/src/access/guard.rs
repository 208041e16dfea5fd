//! Checks the token or the client certificate of every call.

use std::convert::Infallible;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use spelrum_proto::{Reason, Refusal, Token, presented_token};
use tokio::sync::watch;

use super::book::{BookError, TokenBook};
use super::certified::Certified;
use super::credential::Credential;
use super::role::{Role, Roles};

/// How often the token file is checked for changes.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Accepts calls whose token or client certificate has the role that they need; accepts every call if neither is
/// required.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    /// A token with full access.
    owner: Option<Token>,
    /// Another one, which does not make tokens required for other callers.
    own: Option<Token>,
    book: Option<Arc<SharedBook>>,
    /// Requires a token or a certificate, even without any tokens.
    takes_certificates: bool,
}

/// A token file as last read.
#[derive(Debug)]
struct SharedBook {
    path: PathBuf,
    read: RwLock<ReadBook>,
    /// Notifies calls under way that the book has changed.
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct ReadBook {
    book: TokenBook,
    /// Stamp of the file as last read.
    stamp: Option<Stamp>,
    /// Stamp of a changed file that is perhaps still being written and was not read yet.
    unsettled: Option<Stamp>,
}

/// Changes when a file is replaced or written to.
type Stamp = (u64, u64, Option<SystemTime>);

impl Guard {
    /// Requires one of these, if there are any: the owner's token, or one of a file.
    ///
    /// # Errors
    /// If the file cannot be read or is not a token file.
    pub(crate) fn new(owner: Option<Token>, book: Option<PathBuf>) -> Result<Self, BookError> {
        let book = book.map(|path| {
            let stamp = stamp(&path);
            let book = TokenBook::read(&path)?;
            Ok::<_, BookError>(Arc::new(SharedBook {
                path,
                read: RwLock::new(ReadBook { book, stamp, unsettled: None }),
                changed: watch::Sender::new(()),
            }))
        });
        Ok(Self { owner, own: None, book: book.transpose()?, takes_certificates: false })
    }

    /// Requires a certificate from callers without a token.
    #[must_use]
    pub(crate) fn with_certificates(self, takes_certificates: bool) -> Self {
        Self { takes_certificates, ..self }
    }

    /// Gives this token full access, beside those that are required.
    #[must_use]
    pub(crate) fn with_own_token(self, own_token: Option<Token>) -> Self {
        Self { own: own_token, ..self }
    }

    /// Checks a call that needs this role, with this `authorization` header, on a connection with this certificate. A token is
    /// judged alone: a revoked one is refused even with a valid certificate. Returns the credential that was accepted;
    /// `None` if none is required.
    ///
    /// # Errors
    /// A refusal that says what to do.
    pub(crate) fn check(
        &self,
        needed: Role,
        authorization: Option<&[u8]>,
        certified: Option<&Certified>,
    ) -> Result<Option<Credential>, Refusal> {
        if self.owner.is_none() && self.book.is_none() && !self.takes_certificates {
            return Ok(None);
        }
        if authorization.is_none()
            && let Some(certified) = certified
        {
            return self.check_certified(needed, certified, SystemTime::now()).map(Some);
        }
        let presented = presented_token(authorization)?;
        if [&self.owner, &self.own].into_iter().flatten().any(|token| token.is(presented)) {
            return Ok(Some(Credential::owner()));
        }
        let entry = self.book.as_ref().and_then(|book| book.find(presented));
        let Some((name, roles)) = entry else {
            return Err(Refusal::bad_token(
                "the token that was given is not one of the coordinator's",
            ));
        };
        let holder = format!("the token `{name}`");
        check_role(needed, roles, &holder, "a token", "spelrum token create")?;
        Ok(Some(Credential::token(&name)))
    }

    /// Waits until [`Self::check`] would refuse a call that it accepted, since its token or certificate was revoked.
    pub(crate) async fn refuses_later(
        &self,
        needed: Role,
        authorization: Option<&[u8]>,
        certified: Option<&Certified>,
    ) -> Refusal {
        let Some(book) = &self.book else { return std::future::pending().await };
        let mut changed = book.changed.subscribe();
        loop {
            if let Err(refusal) = self.check(needed, authorization, certified) {
                return refusal;
            }
            if changed.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    fn check_certified(
        &self,
        needed: Role,
        Certified { holder, until }: &Certified,
        now: SystemTime,
    ) -> Result<Credential, Refusal> {
        let refused = |problem: String| {
            let remedy = "ask whoever runs the coordinator for another certificate (spelrum certificate client)";
            Err(Refusal::new(Reason::BadToken, problem, remedy))
        };
        let Some((name, roles)) = holder else {
            return refused("the client certificate does not say what it may do".to_owned());
        };
        if now > *until {
            return refused(format!("the client certificate of `{name}` has expired"));
        }
        if self.book.as_ref().is_some_and(|book| book.refuses_certificate(name)) {
            return refused(format!("the client certificate of `{name}` was revoked"));
        }
        let holder = format!("the client certificate of `{name}`");
        check_role(needed, *roles, &holder, "a certificate", "spelrum certificate client")?;
        Ok(Credential::certificate(name))
    }

    /// Rereads the token file whenever it changes. If it cannot be read, the previous tokens stay in force.
    pub(crate) async fn watch(self) -> Infallible {
        let Some(shared) = self.book else { return std::future::pending().await };
        let mut last_problem = None;
        loop {
            tokio::time::sleep(LOOK_INTERVAL).await;
            let book = Arc::clone(&shared);
            // A file system may hang, and must block nothing else.
            let reread = tokio::task::spawn_blocking(move || book.reread()).await;
            let Ok(reread) = reread else { continue };
            match reread {
                Ok(None) => {}
                Ok(Some(tokens)) => {
                    last_problem = None;
                    tracing::info!(tokens, path = %shared.path.display(), "read the file of tokens again");
                }
                Err(error) => {
                    let problem = error.to_string();
                    if last_problem.as_ref() != Some(&problem) {
                        tracing::error!(
                            path = %shared.path.display(),
                            problem,
                            "the file of tokens cannot be read: those read before hold; mend it, or restart \
                             without it"
                        );
                        last_problem = Some(problem);
                    }
                }
            }
        }
    }
}

fn check_role(
    needed: Role,
    roles: Roles,
    holder: &str,
    credential: &str,
    command: &str,
) -> Result<(), Refusal> {
    if roles.allow(needed) {
        return Ok(());
    }
    let problem = format!("{holder} may {roles}, and this needs one that may {needed}");
    let remedy = format!(
        "ask whoever runs the coordinator for {credential} of the role {needed} ({command})"
    );
    Err(Refusal::new(Reason::WrongRole, problem, &remedy))
}

impl SharedBook {
    fn find(&self, presented: &[u8]) -> Option<(String, Roles)> {
        let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
        read.book.find(presented).map(|(name, roles)| (name.to_owned(), roles))
    }

    fn refuses_certificate(&self, name: &str) -> bool {
        let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
        read.book.refuses_certificate(name)
    }

    /// Rereads the file if it has changed, and returns its number of tokens. A file that is being written in place may
    /// lack some tokens for a moment, so it is read once two checks in a row find it unchanged.
    fn reread(&self) -> Result<Option<usize>, BookError> {
        let now = stamp(&self.path);
        let mut read = self.read.write().unwrap_or_else(PoisonError::into_inner);
        if now.is_some() && now == read.stamp {
            read.unsettled = None;
            return Ok(None);
        }
        let is_in_its_place = now.zip(read.stamp).is_some_and(|(now, before)| now.0 == before.0);
        if is_in_its_place && now != read.unsettled {
            read.unsettled = now;
            return Ok(None);
        }
        drop(read);
        let book = TokenBook::read_again(&self.path)?;
        let tokens = book.entries().len();
        *self.read.write().unwrap_or_else(PoisonError::into_inner) =
            ReadBook { book, stamp: now, unsettled: None };
        self.changed.send_replace(());
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

    const WORK: Role = Role::Work;
    const READ: Role = Role::Read;

    fn refusal_reason(guard: &Guard, needed: Role, token: &str) -> Option<Reason> {
        let value = format!("Bearer {token}");
        guard.check(needed, Some(value.as_bytes()), None).err().map(|refusal| refusal.reason)
    }

    #[test]
    fn what_is_not_demanded_is_not_looked_at() {
        let open = Guard::default();
        assert_eq!(open.check(WORK, None, None), Ok(None));
        assert_eq!(open.check(WORK, Some(b"Basic x"), None), Ok(None));
    }

    #[test]
    fn only_tokens_open_the_guard_and_only_for_their_roles() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tokens.toml");
        let worker = TokenBook::change(&path, |book| {
            book.add(
                "w",
                Role::ALL.into_iter().filter(|role| *role == Role::Work).collect(),
                "",
                [1; 32],
            )
        });
        let worker = worker.unwrap();
        let owner: Token = "s3cret-s3cret".parse().unwrap();
        let guard = Guard::new(Some(owner), Some(path.clone())).unwrap();
        assert_eq!(refusal_reason(&guard, WORK, "s3cret-s3cret"), None);
        let by = guard.check(WORK, Some(b"Bearer s3cret-s3cret"), None);
        assert_eq!(by, Ok(Some(Credential::owner())));
        assert_eq!(refusal_reason(&guard, READ, "s3cret-s3cret"), None);
        assert_eq!(refusal_reason(&guard, WORK, &worker), None);
        assert_eq!(refusal_reason(&guard, READ, &worker), Some(Reason::WrongRole));
        for wrong in ["", "s3cret-s3cre", "s3cret-s3cret2", &worker[1..]] {
            assert_eq!(refusal_reason(&guard, WORK, wrong), Some(Reason::BadToken), "{wrong:?}");
        }
        assert_eq!(guard.check(WORK, None, None).unwrap_err().reason, Reason::BadToken);
        assert!(!format!("{guard:?}").contains("s3cret"));

        // Without an owner's token only tokens of the file are accepted, and without those none.
        let shared = Guard::new(None, Some(path.clone())).unwrap();
        assert_eq!(refusal_reason(&shared, WORK, &worker), None);
        TokenBook::change(&path, |book| book.remove("w")).unwrap();
        assert_eq!(shared.book.as_ref().unwrap().reread().unwrap(), Some(0));
        assert_eq!(refusal_reason(&shared, WORK, &worker), Some(Reason::BadToken));
        assert_eq!(shared.book.as_ref().unwrap().reread().unwrap(), None);
        std::fs::write(&path, "nonsense").unwrap();
        assert_eq!(
            shared.book.as_ref().unwrap().reread().unwrap(),
            None,
            "somebody may be writing it"
        );
        assert!(shared.book.as_ref().unwrap().reread().is_err());
        std::fs::remove_file(&path).unwrap();
        assert!(shared.book.as_ref().unwrap().reread().is_err());
        assert!(matches!(Guard::new(None, Some(path)), Err(BookError::File(_))));
    }

    /// Whatever happens to the file, its tokens stay valid until a complete file replaces it.
    #[test]
    fn a_file_that_is_no_book_shuts_nobody_out() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tokens.toml");
        let roles: Roles = [Role::Work].into_iter().collect();
        let add = |name: &str, seed| {
            TokenBook::change(&path, |book| book.add(name, roles, "", [seed; 32]))
        };
        let [first, second] = [("a", 1), ("b", 2)].map(|(name, seed)| add(name, seed).unwrap());
        let guard = Guard::new(None, Some(path.clone())).unwrap();
        let reread = || guard.book.as_ref().unwrap().reread();
        let text = std::fs::read_to_string(&path).unwrap();
        let both_come_in =
            || [&first, &second].map(|token| refusal_reason(&guard, WORK, token)) == [None, None];

        // Empty, as `>tokens.toml` leaves the file: for a moment, and for longer.
        std::fs::write(&path, "").unwrap();
        assert!(matches!(reread(), Ok(None)) && both_come_in());
        let empty = reread().unwrap_err();
        assert_eq!(empty.to_string(), "it is not a file of tokens: it is empty");
        assert!(both_come_in());
        // Half of the file: a valid book with only the first token.
        let half = &text[..text.find("[b]").unwrap()];
        std::fs::write(&path, half).unwrap();
        assert!(matches!(reread(), Ok(None)) && both_come_in());
        std::fs::write(&path, &text).unwrap();
        assert!(matches!(reread(), Ok(None)) && both_come_in());
        assert_eq!(reread().unwrap(), Some(2));
        // A pipe without a writer, a folder, and a device that never ends.
        for other in ["mkfifo", "mkdir", "/dev/zero"] {
            let _gone = std::fs::remove_file(&path);
            match other {
                "mkfifo" => {
                    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
                    rustix::fs::mkfifoat(rustix::fs::CWD, &path, mode).unwrap();
                }
                "mkdir" => std::fs::create_dir(&path).unwrap(),
                device => std::os::unix::fs::symlink(device, &path).unwrap(),
            }
            // At once, unless it has the inode of the removed file, as a file changed in place has.
            let is_refused = || matches!(reread(), Err(BookError::File(_)));
            assert!((0..2).any(|_| is_refused()) && both_come_in(), "{other}");
            let _gone = std::fs::remove_dir(&path);
        }
        // A complete replacement, as `spelrum token` writes it, holds at once …
        let _gone = std::fs::remove_file(&path);
        std::fs::write(&path, &text).unwrap();
        TokenBook::change(&path, |book| book.remove("a")).unwrap();
        // … with the same exception.
        assert!((0..2).any(|_| reread().unwrap() == Some(1)));
        assert_eq!(refusal_reason(&guard, WORK, &first), Some(Reason::BadToken));
        assert_eq!(refusal_reason(&guard, WORK, &second), None);
    }

    fn certified(name: &str, roles: &[Role], until: SystemTime) -> Certified {
        Certified { holder: Some((name.to_owned(), roles.iter().copied().collect())), until }
    }

    #[test]
    fn a_certificate_opens_the_guard_for_its_roles_until_it_ends_or_is_revoked() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tokens.toml");
        let roles: Roles = [Role::Work].into_iter().collect();
        let token = TokenBook::change(&path, |book| book.add("w", roles, "", [1; 32])).unwrap();
        let now = SystemTime::now();
        let until = now + Duration::from_secs(60);
        let by = |guard: &Guard, needed: Role, certified: &Certified| {
            guard.check(needed, None, Some(certified)).err().map(|refusal| refusal.reason)
        };
        let worker = certified("w", &[Role::Work], until);
        for book in [None, Some(path.clone())] {
            let guard = Guard::new(None, book).unwrap().with_certificates(true);
            assert_eq!(by(&guard, WORK, &worker), None);
            let checked = guard.check(WORK, None, Some(&worker));
            assert_eq!(checked, Ok(Some(Credential::certificate("w"))));
            assert_eq!(by(&guard, READ, &worker), Some(Reason::WrongRole));
            let nobody = Certified { holder: None, until };
            assert_eq!(by(&guard, WORK, &nobody), Some(Reason::BadToken));
            let expired = certified("w", &[Role::Work], now - Duration::from_secs(1));
            assert_eq!(by(&guard, WORK, &expired), Some(Reason::BadToken));
            assert_eq!(guard.check(WORK, None, None).unwrap_err().reason, Reason::BadToken);
            // A token is judged alone, for better and for worse.
            let wrong = guard.check(WORK, Some(b"Bearer spelrum_0"), Some(&worker));
            assert_eq!(wrong.unwrap_err().reason, Reason::BadToken);
        }
        let guard = Guard::new(None, Some(path.clone())).unwrap().with_certificates(true);
        let bearer = format!("Bearer {token}");
        for certified in [&worker, &certified("ada", &[Role::Submit], until)] {
            let by = guard.check(WORK, Some(bearer.as_bytes()), Some(certified));
            assert_eq!(by, Ok(Some(Credential::token("w"))));
            let reading = guard.check(READ, Some(bearer.as_bytes()), Some(certified));
            assert_eq!(reading.unwrap_err().reason, Reason::WrongRole);
        }
        TokenBook::change(&path, |book| book.refuse_certificate("w", "")).unwrap();
        guard.book.as_ref().unwrap().reread().unwrap();
        assert_eq!(by(&guard, WORK, &worker), Some(Reason::BadToken));
        assert_eq!(by(&guard, WORK, &certified("w2", &[Role::Work], until)), None);
        // A token of the same name is a different credential.
        let by = guard.check(WORK, Some(bearer.as_bytes()), None);
        assert_eq!(by, Ok(Some(Credential::token("w"))));
    }
}
