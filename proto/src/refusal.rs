//! Refusals of calls, with a reason for programs and a remedy for people.
//!
//! A refusal travels as a gRPC status with the standard error details (`google.rpc.ErrorInfo` and
//! `RetryInfo`): any client can read its message, and Spelrum's clients parse all of it.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_names::Names;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

use crate::WireError;

/// The longest text of a refusal, in bytes: statuses travel in headers, which are small.
const TEXT_BYTES_MAX: usize = 1_024;

/// The domain of every [`Reason`] in `google.rpc.ErrorInfo`.
const DOMAIN: &str = "spelrum.v1";

/// A refused call. It had no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The kind of the refusal.
    pub reason: Reason,
    /// The problem.
    pub problem: String,
    /// The remedy; may be empty.
    pub remedy: String,
    /// When to retry, if a retry can help.
    pub retry_after: Option<Duration>,
    /// The place in the sweep, for [`Reason::BadSweep`].
    pub place: Option<Place>,
}

/// A place in a sweep file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The line, from 1.
    pub line: Option<usize>,
    /// Where the place begins in the text, in bytes.
    pub offset: usize,
    /// Its length in bytes.
    pub length: usize,
}

/// The kinds of refusals. Their names are part of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Names)]
#[names(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Reason {
    /// The message is malformed or exceeds a bound.
    Malformed,
    /// The call comes from a web page of another site.
    CrossSite,
    /// The call is for another host.
    WrongHost,
    /// The call's body is not declared as JSON.
    NotJson,
    /// There is no such call.
    UnknownCall,
    /// The call is made with another method.
    WrongMethod,
    /// The coordinator does not know the worker, or has restarted: say Hello, then retry.
    SayHello,
    /// The call does not prove that it is the worker's: say Hello with the worker's secret, then retry.
    WrongSecret,
    /// The worker speaks another protocol.
    Protocol,
    /// Another revision of the engine.
    EngineRevision,
    /// The call lacks the token that the coordinator requires.
    BadToken,
    /// The call's token lacks the role for this.
    WrongRole,
    /// The coordinator is busy or cannot write at the moment: retry.
    Busy,
    /// The coordinator is shutting down.
    Ending,
    /// The sweep is invalid.
    BadSweep,
    /// The name is taken by an experiment with another sweep.
    NameTaken,
    /// There is no such experiment.
    UnknownExperiment,
    /// The experiment's state does not allow it.
    WrongState,
    /// There is no such worker.
    UnknownWorker,
    /// There is no such cell.
    UnknownCell,
    /// There is no such settled game.
    UnknownGame,
    /// There is no such program.
    UnknownProgram,
    /// The SQL statement is invalid, not read-only, or exceeds a bound.
    BadQuery,
    /// A limit of the coordinator is reached.
    TooMany,
    /// The coordinator failed in a way that a retry will not fix.
    Internal,
}

impl Reason {
    /// The gRPC code it travels under.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::Malformed | Self::NotJson | Self::BadSweep | Self::BadQuery => {
                Code::InvalidArgument
            }
            Self::SayHello
            | Self::WrongSecret
            | Self::Protocol
            | Self::EngineRevision
            | Self::WrongState => Code::FailedPrecondition,
            Self::BadToken => Code::Unauthenticated,
            Self::WrongRole | Self::CrossSite | Self::WrongHost => Code::PermissionDenied,
            Self::Busy | Self::Ending => Code::Unavailable,
            Self::NameTaken => Code::AlreadyExists,
            Self::UnknownExperiment
            | Self::UnknownWorker
            | Self::UnknownCell
            | Self::UnknownGame
            | Self::UnknownProgram => Code::NotFound,
            Self::TooMany => Code::ResourceExhausted,
            Self::Internal => Code::Internal,
            Self::UnknownCall | Self::WrongMethod => Code::Unimplemented,
        }
    }

    /// The HTTP status of the problem that it is answered with.
    #[must_use]
    pub const fn http_status(self) -> u16 {
        match self {
            Self::Malformed => 400,
            Self::BadToken => 401,
            Self::WrongRole | Self::CrossSite => 403,
            Self::NotJson => 415,
            Self::WrongHost => 421,
            Self::UnknownCall
            | Self::UnknownExperiment
            | Self::UnknownWorker
            | Self::UnknownCell
            | Self::UnknownGame
            | Self::UnknownProgram => 404,
            Self::WrongMethod => 405,
            Self::SayHello
            | Self::WrongSecret
            | Self::Protocol
            | Self::EngineRevision
            | Self::NameTaken
            | Self::WrongState => 409,
            Self::BadSweep | Self::BadQuery => 422,
            Self::TooMany => 429,
            Self::Internal => 500,
            Self::Busy | Self::Ending => 503,
        }
    }
}

impl Refusal {
    /// A refusal with the problem and the remedy.
    #[must_use]
    pub fn new(reason: Reason, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            reason,
            problem: problem.into(),
            remedy: remedy.into(),
            retry_after: None,
            place: None,
        }
    }

    /// A temporary refusal, with the time of the next try.
    #[must_use]
    pub fn busy(problem: impl Into<String>, retry_after: Duration) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(Reason::Busy, problem, "trying again will help")
        }
    }

    /// The refusal in a status; `None` if it has none, for example because no coordinator sent it.
    #[must_use]
    pub fn from_status(status: &Status) -> Option<Self> {
        let details = status.get_error_details();
        let info = details.error_info().filter(|info| info.domain == DOMAIN)?;
        let number = |key: &str| info.metadata.get(key)?.parse().ok();
        Some(Self {
            reason: Reason::named(&info.reason)?,
            problem: info.metadata.get("problem").cloned().unwrap_or_default(),
            remedy: info.metadata.get("remedy").cloned().unwrap_or_default(),
            retry_after: details.retry_info().and_then(|retry| retry.retry_delay),
            place: number("offset").zip(number("length")).map(|(offset, length)| Place {
                line: number("line"),
                offset,
                length,
            }),
        })
    }
}

impl From<Refusal> for Status {
    fn from(mut refusal: Refusal) -> Self {
        shorten(&mut refusal.problem);
        shorten(&mut refusal.remedy);
        let message = refusal.to_string();
        let mut metadata = HashMap::from([
            ("problem".to_owned(), refusal.problem),
            ("remedy".to_owned(), refusal.remedy),
        ]);
        if let Some(place) = refusal.place {
            metadata.insert("offset".to_owned(), place.offset.to_string());
            metadata.insert("length".to_owned(), place.length.to_string());
            if let Some(line) = place.line {
                metadata.insert("line".to_owned(), line.to_string());
            }
        }
        let mut details = ErrorDetails::with_error_info(refusal.reason.name(), DOMAIN, metadata);
        if let Some(retry_after) = refusal.retry_after {
            details.set_retry_info(Some(retry_after));
        }
        Self::with_error_details(refusal.reason.code(), message, details)
    }
}

impl From<WireError> for Refusal {
    fn from(error: WireError) -> Self {
        Self::new(
            Reason::Malformed,
            error.to_string(),
            "use a client of this coordinator's version",
        )
    }
}

/// Truncates a text that is too long for a header, at a character boundary.
fn shorten(text: &mut String) {
    if text.len() > TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX - '…'.len_utf8()));
        text.push('…');
    }
}

impl std::error::Error for Refusal {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)?;
        if !self.remedy.is_empty() {
            write!(f, "; {}", self.remedy)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_survive_the_wire() {
        for reason in Reason::ALL {
            let mut refusal = Refusal::new(reason, "the cat sat on the cable", "move the cat");
            for (retry_after, place) in [
                (None, None),
                (
                    Some(Duration::from_millis(250)),
                    Some(Place { line: Some(3), offset: 17, length: 4 }),
                ),
                (None, Some(Place { line: None, offset: 0, length: 0 })),
            ] {
                refusal.retry_after = retry_after;
                refusal.place = place;
                let status = Status::from(refusal.clone());
                assert_eq!(status.code(), reason.code());
                assert_eq!(status.message(), "the cat sat on the cable; move the cat");
                assert_eq!(Refusal::from_status(&status).as_ref(), Some(&refusal));
            }
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let refusal = Refusal::new(Reason::BadQuery, "é".repeat(5_000), "");
        let read = Refusal::from_status(&Status::from(refusal)).unwrap();
        assert!(read.problem.len() <= TEXT_BYTES_MAX && read.problem.ends_with("é…"));
    }

    #[test]
    fn other_statuses_carry_none() {
        assert_eq!(Refusal::from_status(&Status::unavailable("connection refused")), None);
        let garbage = Status::with_details(Code::Internal, "", vec![0xff; 9].into());
        assert_eq!(Refusal::from_status(&garbage), None);
        let foreign = ErrorDetails::with_error_info("BUSY", "example.com", HashMap::new());
        let foreign = Status::with_error_details(Code::Unavailable, "", foreign);
        assert_eq!(Refusal::from_status(&foreign), None);
    }
}
