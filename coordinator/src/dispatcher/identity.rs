//! How a worker proves its identity: by the secret from Hello's answer, and the token or client certificate of its
//! Hello. Ids count up, so any caller can name one.

use sha2::{Digest as _, Sha256};
use spelrum_model::WorkerId;
use spelrum_proto::{Reason, Refusal, WorkerSecret};
use subtle::ConstantTimeEq as _;

use crate::access::Credential;
use spelrum_store::WorkerProof;

/// The caller of a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The worker that the caller claims to be.
    pub(crate) worker: WorkerId,
    /// The coordinator's epoch as the caller learnt it.
    pub(crate) epoch: i64,
    /// The secret that the call presents.
    pub(crate) secret: Option<WorkerSecret>,
    /// The credential that let the call through.
    pub(crate) credential: Option<Credential>,
}

/// Answer to a Hello.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Welcome {
    /// The worker's id.
    pub(crate) worker: WorkerId,
    /// The secret that each of its calls must present.
    pub(crate) secret: WorkerSecret,
}

/// SHA-256 of a secret. A secret has 256 random bits, so a plain hash is enough.
#[derive(Clone, Copy, Debug)]
pub(super) struct SecretHash(pub(super) [u8; 32]);

impl SecretHash {
    pub(super) fn from_secret(secret: &WorkerSecret) -> Self {
        Self(Sha256::digest(secret.expose()).into())
    }

    /// Compares a secret with the hash in constant time.
    pub(super) fn admits(&self, secret: Option<&WorkerSecret>) -> bool {
        secret.is_some_and(|secret| Self::from_secret(secret).0.ct_eq(&self.0).into())
    }
}

/// What a worker's calls must present during this run of the coordinator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lock {
    /// The secret's hash.
    pub(super) secret: SecretHash,
    /// Whether the secret is stored: from the first call that presented it, so that a worker whose answer to Hello was
    /// lost can ask again.
    pub(super) is_stored: bool,
}

/// Why a call is not that of the worker it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Impostor {
    /// The secret is missing or wrong.
    Secret,
    /// The call came with another token or client certificate.
    Credential,
}

impl Lock {
    /// Whether a call can act for the worker that said Hello with this credential.
    pub(super) fn check(&self, hello_by: Option<&str>, caller: &Caller) -> Result<(), Impostor> {
        if !self.secret.admits(caller.secret.as_ref()) {
            return Err(Impostor::Secret);
        }
        let by = caller.credential.as_ref().map(Credential::as_str);
        if by == hello_by { Ok(()) } else { Err(Impostor::Credential) }
    }
}

/// The outcome of a Hello: the secret for the answer, and the requirements for later calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identified {
    pub(super) secret: WorkerSecret,
    pub(super) lock: Lock,
}

/// Checks a Hello that presents this secret. `kept` is the stored proof of the worker with its UUID; `random` becomes
/// the secret if the worker needs a new one.
pub(super) fn identify(
    kept: Option<&WorkerProof>,
    presented: Option<WorkerSecret>,
    by: Option<&str>,
    random: [u8; 32],
) -> Result<Identified, Impostor> {
    if let Some(WorkerProof { secret_sha256, credential }) = kept {
        let stored = secret_sha256.map(SecretHash);
        if stored.is_some_and(|hash| !hash.admits(presented.as_ref())) {
            return Err(Impostor::Secret);
        }
        check_credential(credential.as_deref(), by)?;
    }
    // A worker keeps its secret, even if no call has presented it yet.
    let secret = presented.unwrap_or_else(|| WorkerSecret::new(random));
    let is_stored = kept.is_some_and(|kept| kept.secret_sha256.is_some());
    Ok(Identified { secret, lock: Lock { secret: SecretHash::from_secret(&secret), is_stored } })
}

/// If no credential was required then, or is now, there are no names to compare.
fn check_credential(before: Option<&str>, now: Option<&str>) -> Result<(), Impostor> {
    match (before, now) {
        (Some(before), Some(now)) if before != now => Err(Impostor::Credential),
        _ => Ok(()),
    }
}

impl Impostor {
    /// The refusal of a call that fails the check of the worker it names.
    pub(super) fn refuse_call(self, worker: WorkerId) -> Refusal {
        let problem = match self {
            Self::Secret => {
                format!(
                    "the call names worker {worker} and does not bring the secret of that worker"
                )
            }
            Self::Credential => format!(
                "the call names worker {worker}, which said Hello by another token or client certificate"
            ),
        };
        Refusal::new(Reason::WrongSecret, problem, "say Hello again, then repeat the call")
    }

    /// The refusal of a Hello with the UUID of another worker.
    pub(super) fn refuse_hello(self) -> Refusal {
        let problem = match self {
            Self::Secret => {
                "there is a worker with this worker_uuid, and Hello does not bring the secret of that worker"
            }
            Self::Credential => {
                "there is a worker with this worker_uuid, which came by another token or client certificate"
            }
        };
        let remedy = "start the worker again: a new start has a new worker_uuid";
        Refusal::new(Reason::WrongSecret, problem, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANDOM: [u8; 32] = [7; 32];
    fn kept(secret: Option<&WorkerSecret>, credential: Option<&str>) -> WorkerProof {
        WorkerProof {
            secret_sha256: secret.map(|secret| SecretHash::from_secret(secret).0),
            credential: credential.map(str::to_owned),
        }
    }

    fn caller(secret: Option<WorkerSecret>, credential: Option<Credential>) -> Caller {
        Caller { worker: WorkerId(1), epoch: 1, secret, credential }
    }

    #[test]
    fn a_secret_that_was_brought_is_asked_for_from_then_on() {
        let met = identify(None, None, None, RANDOM).unwrap();
        let secret = met.secret;
        assert_eq!(secret.expose(), &RANDOM);
        assert!(!met.lock.is_stored);
        let stored = kept(Some(&secret), None);
        let again = identify(Some(&stored), Some(secret), None, [1; 32]).unwrap();
        assert_eq!(again.secret.expose(), secret.expose());
        assert!(again.lock.is_stored);
        let other_secret = WorkerSecret::new([1; 32]);
        for presented in [None, Some(other_secret)] {
            let met = identify(Some(&stored), presented, None, RANDOM);
            assert_eq!(met.unwrap_err(), Impostor::Secret);
        }
        assert_eq!(again.lock.check(None, &caller(Some(secret), None)), Ok(()));
        for presented in [None, Some(other_secret)] {
            let checked = again.lock.check(None, &caller(presented, None));
            assert_eq!(checked, Err(Impostor::Secret));
        }
    }

    /// Otherwise a lost answer to its first Hello would lock a worker out.
    #[test]
    fn a_secret_that_was_never_brought_is_given_anew() {
        let first = identify(None, None, None, [1; 32]).unwrap();
        let row = kept(None, None);
        let second = identify(Some(&row), None, None, [2; 32]).unwrap();
        assert_eq!(second.secret.expose(), &[2; 32]);
        // The answer came after all: both sides go on with it.
        let third = identify(Some(&row), Some(second.secret), None, [3; 32]);
        assert_eq!(third.unwrap().secret.expose(), &[2; 32]);
        let late = identify(Some(&row), Some(first.secret), None, [3; 32]);
        assert_eq!(late.unwrap().secret.expose(), &[1; 32]);
    }

    #[test]
    fn the_right_secret_by_another_token_is_refused() {
        let secret = WorkerSecret::new(RANDOM);
        let row = kept(Some(&secret), Some("token:a"));
        let by = |by| identify(Some(&row), Some(secret), by, RANDOM);
        let met = by(Some("token:a")).unwrap();
        assert_eq!(by(Some("certificate:a")).unwrap_err(), Impostor::Credential);
        assert!(by(None).is_ok(), "tokens are demanded no more");
        let foreign = caller(Some(secret), Some(Credential::certificate("a")));
        assert_eq!(met.lock.check(Some("token:a"), &foreign), Err(Impostor::Credential));
    }

    #[test]
    fn no_refusal_tells_a_secret_or_whose_token_it_was() {
        for impostor in [Impostor::Secret, Impostor::Credential] {
            for refusal in [impostor.refuse_call(WorkerId(3)), impostor.refuse_hello()] {
                assert_eq!(refusal.reason, Reason::WrongSecret);
                assert!(!refusal.remedy.is_empty() && !refusal.problem.contains("token:"));
            }
        }
    }
}
