//! Failures of the crates below, with their exit code's class and their remedy.

use std::error::Error;

use spelrum_coordinator::CoordinatorError;
use spelrum_journal::JournalError;
use spelrum_proto::{Reason, Refusal, TrustError};
use spelrum_store::{BackupError, ImportError, StoreError};
use spelrum_worker::WorkerError;
use tonic::{Code, Status};

use crate::error::CliError;
use crate::exit::Exit;

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::from_sentence(exit_of(&error), &error).help(error.remedy())
    }
}

/// Except for locks held by other processes and invalid requests, failures are the database's.
fn exit_of(error: &StoreError) -> Exit {
    use StoreError as E;
    if matches!(error, E::Held { .. } | E::Busy | E::TakenOver { .. }) {
        Exit::Busy
    } else if matches!(error, E::UnknownValue { .. }) {
        Exit::Internal
    } else if matches!(
        error,
        E::NothingInCommon { .. }
            | E::Cancelled { .. }
            | E::OtherEngine { .. }
            | E::ManyCells { .. }
            | E::TooLarge { .. }
            | E::NotAQuery { .. }
            | E::WrongQuery { .. }
            | E::SlowQuery { .. }
            | E::SlowReader { .. }
            | E::LargeQuery { .. }
            | E::LongQuery { .. }
            | E::LargeReport { .. }
            | E::ManyToRate { .. }
            | E::ManyQueries
    ) {
        Exit::Input
    } else {
        Exit::Database
    }
}

impl From<BackupError> for CliError {
    fn from(error: BackupError) -> Self {
        if let BackupError::Store(error) = error {
            return error.into();
        }
        let exit = if matches!(error, BackupError::Exists { .. } | BackupError::NoDirectory { .. })
        {
            Exit::Input
        } else if matches!(error, BackupError::Busy { .. }) {
            Exit::Busy
        } else {
            Exit::Database
        };
        Self::from_sentence(exit, &error).help(error.remedy())
    }
}

impl From<JournalError> for CliError {
    fn from(error: JournalError) -> Self {
        use JournalError as E;
        if let E::Store(error) = error {
            let is_held = matches!(error, StoreError::Held { .. });
            let remedy = "each coordinator has a copy of its own: stop the other one, or name another file with --copy";
            let error = Self::from(error);
            return if is_held { error.help(remedy) } else { error };
        }
        if let E::Backup(error) = error {
            return error.into();
        }
        let exit = if matches!(error, E::Address { .. }) {
            Exit::Usage
        } else if matches!(error, E::OtherDatabase { .. } | E::InUse { .. }) {
            Exit::Input
        } else if matches!(error, E::TakenOver { .. }) {
            Exit::Busy
        } else {
            Exit::Database
        };
        Self::from_sentence(exit, &error).help(error.remedy())
    }
}

impl From<ImportError> for CliError {
    fn from(error: ImportError) -> Self {
        if let ImportError::Store(error) = error {
            return error.into();
        }
        Self::from_sentence(Exit::Input, &error).help(error.remedy())
    }
}

impl From<CoordinatorError> for CliError {
    fn from(error: CoordinatorError) -> Self {
        match error {
            CoordinatorError::Store(error) => error.into(),
            CoordinatorError::Tokens { .. } | CoordinatorError::Tls(_) => {
                Self::from_sentence(Exit::Usage, &error).help(error.remedy())
            }
            CoordinatorError::Reflection(_) | CoordinatorError::Metrics(_) => {
                Self::from_sentence(Exit::Internal, &error).help(error.remedy())
            }
        }
    }
}

impl From<WorkerError> for CliError {
    fn from(error: WorkerError) -> Self {
        let exit = match &error {
            WorkerError::Refused(_)
            | WorkerError::NoCoordinator(_)
            | WorkerError::Trust(_)
            | WorkerError::Malformed(_) => Exit::Network,
            WorkerError::Slots(_) => Exit::Usage,
            WorkerError::Thread(_) | WorkerError::Process(_) => Exit::Internal,
        };
        Self::from_sentence(exit, &error).help(error.remedy())
    }
}

/// A failed call; the party at fault decides the exit code.
pub(crate) fn failed_call(action: &str, status: &Status) -> CliError {
    if let Some(TrustError { problem, remedy, .. }) = TrustError::from_error(status) {
        return CliError::new(Exit::Network, action).because(problem).help(remedy);
    }
    match Refusal::from_status(status) {
        Some(refusal) => refused(action, &refusal),
        None if is_web_server(status) => CliError::new(Exit::Network, action)
            .because("the server at that address is a web server, not a spelrum coordinator")
            .help("check the address and its port; a proxy in between must pass gRPC on"),
        None if status.code() == Code::Unimplemented => CliError::new(Exit::Network, action)
            .because(status.message().to_owned())
            .help("use the same version of spelrum on both sides"),
        // The exact error depends on which side noticed first.
        None if status.source().is_some() => CliError::new(Exit::Network, action)
            .because("the connection ended without an answer")
            .help(
                "check that a spelrum coordinator of this version listens there; where several share a database, try \
                 again in 10 seconds: another one may be taking over",
            ),
        None => CliError::new(Exit::Network, action)
            .because(status.message().to_owned())
            .help("check that a spelrum coordinator of this version listens there"),
    }
}

/// Whether a status comes from plain HTTP instead of gRPC, as from a web server or a proxy. tonic reports that only as
/// text.
pub(crate) fn is_web_server(status: &Status) -> bool {
    let message = status.message();
    [
        "grpc-status header missing",
        "while receiving response with status",
        "invalid compression flag",
    ]
    .iter()
    .any(|words| message.contains(words))
}

fn refused(action: &str, refusal: &Refusal) -> CliError {
    let exit = match refusal.reason {
        Reason::BadSweep
        | Reason::UnknownGame
        | Reason::NameTaken
        | Reason::UnknownExperiment
        | Reason::UnknownWorker
        | Reason::WrongState
        | Reason::TooMany
        | Reason::UnknownCell
        | Reason::UnknownProgram
        | Reason::BadQuery => Exit::Input,
        Reason::Malformed
        | Reason::CrossSite
        | Reason::WrongHost
        | Reason::NotJson
        | Reason::UnknownCall
        | Reason::WrongMethod
        | Reason::SayHello
        | Reason::WrongSecret
        | Reason::Protocol
        | Reason::EngineRevision
        | Reason::BadToken
        | Reason::WrongRole
        | Reason::Busy
        | Reason::Ending
        | Reason::Internal => Exit::Network,
    };
    let error = if refusal.problem.starts_with("failed to ") {
        CliError::from_sentence(exit, &refusal.problem)
    } else {
        CliError::new(exit, action).because(refusal.problem.clone())
    };
    match (refusal.reason, refusal.remedy.as_str()) {
        (_, "") => error,
        (_, remedy) => error.help(remedy),
    }
}

/// The innermost error: those around it only name the layers it passed.
pub(crate) fn root_cause(error: &(dyn Error + 'static)) -> String {
    std::iter::successors(Some(error), |&error| error.source())
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::error::MessageStyle;

    /// Covers failures that a test of the whole program cannot cause.
    #[test]
    fn the_database_s_failures_have_their_class_and_remedy() {
        let path = || "results.db".into();
        let failures = [
            StoreError::NewerSchema { path: path(), found: 9, known: 2 },
            StoreError::NetworkFileSystem { path: path(), kind: "nfs" },
            StoreError::Full,
            StoreError::Busy,
            StoreError::TakenOver { found: 3, own: 2 },
            StoreError::SlowQuery { seconds: 30 },
            StoreError::SlowReader { seconds: 300 },
            StoreError::File { path: path(), source: io::ErrorKind::PermissionDenied.into() },
        ];
        let messages: Vec<_> = failures
            .into_iter()
            .map(|failure| {
                let error = CliError::from(failure);
                let message = error.message(MessageStyle::Plain).unwrap_or_default();
                format!("exit code {}\n{message}", error.exit().code())
            })
            .collect();
        insta::assert_snapshot!(messages.join("\n"));
    }

    #[test]
    fn refusals_have_the_class_of_whose_fault_they_are() {
        let exit = |reason| {
            let status = Status::from(Refusal::new(reason, "it is so", "do better"));
            failed_call("try", &status).exit()
        };
        assert_eq!(exit(Reason::BadSweep), Exit::Input);
        assert_eq!(exit(Reason::UnknownExperiment), Exit::Input);
        assert_eq!(exit(Reason::Protocol), Exit::Network);
        assert_eq!(exit(Reason::Busy), Exit::Network);
    }

    /// For `run`, a full disk is the database's failure and not the network's.
    #[test]
    fn what_the_own_coordinator_cannot_do_is_the_database_s() {
        let of_own = |reason| {
            let status = Status::from(Refusal::new(reason, "it is so", "do better"));
            failed_call("try", &status).of_own_coordinator().exit()
        };
        assert_eq!(of_own(Reason::Busy), Exit::Database);
        assert_eq!(of_own(Reason::Internal), Exit::Database);
        assert_eq!(of_own(Reason::NameTaken), Exit::Input);
    }

    #[test]
    fn another_version_is_named_as_such() {
        let status =
            Status::unimplemented("the coordinator of version 9.0.0 does not know this call");
        let error = failed_call("list the experiments", &status);
        assert_eq!(
            error.message(MessageStyle::Plain).as_deref(),
            Some(
                "error: failed to list the experiments: the coordinator of version 9.0.0 does not know this \
                 call\nhelp: use the same version of spelrum on both sides\n"
            )
        );
    }
}
