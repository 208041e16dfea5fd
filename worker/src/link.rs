//! The link to the coordinator: says Hello, tries again, and tells what trying again cannot mend.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use spelrum_engine::ENGINE_REVISION;
use spelrum_proto::limits::{MESSAGE_BYTES_MAX, REPORT_RESULTS_MAX};
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::{Bearer, PROTOCOL_MAJOR, PROTOCOL_MINOR, Reason, Refusal, Token, v1};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Response, Status};
use uuid::Uuid;

use crate::WorkerError;
use crate::backoff::Backoff;

/// How long one call may take. A transaction takes milliseconds: beyond this the coordinator, or
/// the way there, is gone.
const CALL_PATIENCE: Duration = Duration::from_secs(15);

/// How long connecting may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// An idle connection is asked for a sign of life after so long.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Heartbeats are not more frequent than this, nor less, whatever a coordinator says.
const HEARTBEAT_MIN: Duration = Duration::from_millis(10);
const HEARTBEAT_MAX: Duration = Duration::from_secs(60 * 60);

/// A client; cheap to clone.
pub(crate) type Client = WorkClient<InterceptedService<Channel, Bearer>>;

/// How the worker introduces itself.
#[derive(Clone, Debug)]
pub(crate) struct Introduction {
    pub(crate) uuid: Uuid,
    pub(crate) name: String,
    pub(crate) host: String,
    pub(crate) slots: u32,
    pub(crate) memory_bytes: Option<u64>,
}

/// What a Hello brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    pub(crate) worker_id: i64,
    pub(crate) coordinator_epoch: i64,
    pub(crate) heartbeat_interval: Duration,
    pub(crate) report_results_max: usize,
    /// Counts the results databases that were met behind the coordinator's address. What is held
    /// belongs to one of them: the ids of another mean other games.
    pub(crate) generation: u64,
    /// Counts Hellos.
    serial: u64,
}

/// Why a call has no answer.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The coordinator refused it, and would again.
    Refused(Refusal),
    /// The worker cannot go on.
    Fatal(WorkerError),
}

/// What is done when another results database is met, with its generation, before any call to it.
pub(crate) type OnOtherDatabase = Box<dyn Fn(u64) + Send + Sync>;

/// The link.
pub(crate) struct Link {
    client: Client,
    /// The coordinator's address, for people.
    address: String,
    introduction: Introduction,
    /// The lock is held while saying Hello, so that one task does it for all.
    acquaintance: Mutex<Acquaintance>,
    on_other_database: OnOtherDatabase,
    /// Whether people have been told that the coordinator is away.
    away: AtomicBool,
}

/// What is known of the coordinator.
#[derive(Default)]
struct Acquaintance {
    session: Option<Session>,
    /// Of the latest session, if there was one.
    database_uuid: Option<String>,
    generation: u64,
    hellos: u64,
}

/// What one attempt came to.
enum Outcome<T> {
    Answer(T),
    /// Try again after this.
    After(Duration),
}

/// Why one attempt has no answer.
enum Failed {
    /// The coordinator was started anew.
    SayHello,
    /// It would refuse it again.
    Refused(Refusal),
    /// It does not want us.
    Fatal(WorkerError),
    /// It cannot be reached, or cannot do it now.
    Away { problem: String, retry_after: Option<Duration> },
}

impl Link {
    pub(crate) fn new(
        coordinator: Endpoint,
        token: Option<&Token>,
        introduction: Introduction,
        on_other_database: OnOtherDatabase,
    ) -> Self {
        let address = coordinator.uri().to_string();
        let channel = coordinator
            .connect_timeout(CONNECT_PATIENCE)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE)
            .keep_alive_while_idle(true)
            .http2_adaptive_window(true)
            .connect_lazy();
        Self {
            client: WorkClient::with_interceptor(channel, Bearer::new(token))
                .max_decoding_message_size(MESSAGE_BYTES_MAX)
                .max_encoding_message_size(MESSAGE_BYTES_MAX),
            address,
            introduction,
            acquaintance: Mutex::default(),
            on_other_database,
            away: AtomicBool::new(false),
        }
    }

    /// Calls until there is an answer, saying Hello as often as the coordinator wants to hear it.
    pub(crate) async fn call<T, F>(
        &self,
        what: &'static str,
        call: impl Fn(Client, Session) -> F,
    ) -> Result<T, CallError>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let mut backoff = Backoff::new();
        loop {
            match self.call_or_wait(what, &call, &mut backoff).await? {
                Outcome::Answer(answer) => return Ok(answer),
                Outcome::After(wait) => tokio::time::sleep(wait).await,
            }
        }
    }

    /// The same until `stop`; then `None`. A call that is under way at that moment still has its
    /// answer: what it did must be known.
    pub(crate) async fn call_until<T, F>(
        &self,
        stop: &CancellationToken,
        what: &'static str,
        call: impl Fn(Client, Session) -> F,
    ) -> Result<Option<T>, CallError>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let mut backoff = Backoff::new();
        while !stop.is_cancelled() {
            match self.call_or_wait(what, &call, &mut backoff).await? {
                Outcome::Answer(answer) => return Ok(Some(answer)),
                Outcome::After(wait) => {
                    stop.run_until_cancelled(tokio::time::sleep(wait)).await;
                }
            }
        }
        Ok(None)
    }

    /// One attempt, with a Hello before it if there is no session.
    async fn call_or_wait<T, F>(
        &self,
        what: &'static str,
        call: &impl Fn(Client, Session) -> F,
        backoff: &mut Backoff,
    ) -> Result<Outcome<T>, CallError>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let (session, attempted) = match self.hello_unless_met().await {
            Ok(session) => {
                let serial = session.serial;
                (serial, self.attempt(call(self.client.clone(), session)).await)
            }
            Err(failed) => (0, Err(failed)),
        };
        match attempted {
            Ok(answer) => Ok(Outcome::Answer(answer)),
            Err(Failed::Refused(refusal)) => Err(CallError::Refused(refusal)),
            Err(Failed::Fatal(error)) => Err(CallError::Fatal(error)),
            Err(Failed::SayHello) => {
                self.forget(session).await;
                // The first time at once: a coordinator was started anew. One that we say Hello
                // to in vain must not be flooded with it.
                let wait = backoff.wait(None);
                Ok(Outcome::After(if backoff.failures() > 1 { wait } else { Duration::ZERO }))
            }
            Err(Failed::Away { problem, retry_after }) => {
                self.tell_away(what, &problem);
                Ok(Outcome::After(backoff.wait(retry_after)))
            }
        }
    }

    /// The session; says Hello, until there is an answer, if there is none.
    pub(crate) async fn session(&self) -> Result<Session, CallError> {
        self.call("Hello", |_client, session| async { Ok(Response::new(session)) }).await
    }

    /// The session, with one attempt at a Hello if there is none.
    async fn hello_unless_met(&self) -> Result<Session, Failed> {
        let mut acquaintance = self.acquaintance.lock().await;
        if let Some(session) = &acquaintance.session {
            return Ok(session.clone());
        }
        let hello = self.attempt(self.say_hello()).await.map_err(|failed| match failed {
            // What refuses a Hello refuses the worker.
            Failed::Refused(refusal) => Failed::Fatal(WorkerError::Refused(refusal)),
            Failed::SayHello | Failed::Fatal(_) | Failed::Away { .. } => failed,
        })?;
        Ok(self.meet(&mut acquaintance, hello))
    }

    async fn say_hello(&self) -> Result<Response<v1::HelloResponse>, Status> {
        let Introduction { uuid, name, host, slots, memory_bytes } = self.introduction.clone();
        let hello = v1::HelloRequest {
            protocol_major: PROTOCOL_MAJOR,
            protocol_minor: PROTOCOL_MINOR,
            engine_revision: ENGINE_REVISION,
            worker_uuid: uuid.to_string(),
            name,
            host,
            slots,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            // 0 would be not to say.
            memory_bytes: memory_bytes.map_or(0, |bytes| bytes.max(1)),
        };
        self.client.clone().hello(hello).await
    }

    /// Makes a session of an answered Hello.
    fn meet(&self, acquaintance: &mut Acquaintance, hello: v1::HelloResponse) -> Session {
        let before = acquaintance.database_uuid.replace(hello.database_uuid.clone());
        if before.is_some_and(|before| before != hello.database_uuid) {
            tracing::warn!(
                "the coordinator has another results database than before: \
                 what was held for the other one is dropped"
            );
            acquaintance.generation += 1;
            (self.on_other_database)(acquaintance.generation);
        }
        acquaintance.hellos += 1;
        let heartbeat = Duration::from_millis(hello.heartbeat_interval_ms);
        let session = Session {
            worker_id: hello.worker_id,
            coordinator_epoch: hello.coordinator_epoch,
            heartbeat_interval: heartbeat.clamp(HEARTBEAT_MIN, HEARTBEAT_MAX),
            report_results_max: (hello.report_results_max as usize).clamp(1, REPORT_RESULTS_MAX),
            generation: acquaintance.generation,
            serial: acquaintance.hellos,
        };
        tracing::info!(
            worker_id = session.worker_id,
            coordinator_epoch = session.coordinator_epoch,
            "the coordinator knows this worker"
        );
        acquaintance.session = Some(session.clone());
        session
    }

    /// Forgets a session that the coordinator does not know.
    async fn forget(&self, serial: u64) {
        let mut acquaintance = self.acquaintance.lock().await;
        acquaintance.session.take_if(|session| session.serial == serial);
    }

    async fn attempt<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, Failed> {
        match tokio::time::timeout(CALL_PATIENCE, call).await {
            Ok(Ok(answer)) => {
                if self.away.swap(false, Ordering::Relaxed) {
                    tracing::info!("the coordinator is back");
                }
                Ok(answer.into_inner())
            }
            Ok(Err(status)) => Err(Failed::of(&status)),
            Err(_elapsed) => {
                let problem = format!("no answer within {} s", CALL_PATIENCE.as_secs());
                Err(Failed::Away { problem, retry_after: None })
            }
        }
    }

    /// Tells people once, and whoever debugs every time.
    fn tell_away(&self, what: &str, problem: &str) {
        if self.away.swap(true, Ordering::Relaxed) {
            tracing::debug!(what, problem, "the coordinator is still away");
        } else {
            let coordinator = &self.address;
            tracing::warn!(
                coordinator,
                what,
                problem,
                "the coordinator is away; trying again until it is back"
            );
        }
    }
}

impl Failed {
    /// What a status means. One without a refusal does not come from a coordinator: it comes from
    /// the way there, or from a proxy on it.
    fn of(status: &Status) -> Self {
        let Some(refusal) = Refusal::of(status) else {
            let (code, message) = (status.code(), status.message());
            return if matches!(
                code,
                Code::Unimplemented | Code::Unauthenticated | Code::PermissionDenied
            ) {
                Self::Fatal(WorkerError::NoCoordinator(format!("{code}: {message}")))
            } else if matches!(code, Code::InvalidArgument | Code::OutOfRange) {
                let refusal = Refusal::new(Reason::Malformed, message, SAME_RELEASE);
                Self::Fatal(WorkerError::Refused(refusal))
            } else {
                Self::Away { problem: format!("{code}: {message}"), retry_after: None }
            };
        };
        match refusal.reason {
            Reason::SayHello => Self::SayHello,
            Reason::Busy | Reason::Ending => {
                Self::Away { retry_after: refusal.retry_after, problem: refusal.problem }
            }
            Reason::ProtocolMajor
            | Reason::EngineRevision
            | Reason::BadToken
            | Reason::Malformed => Self::Fatal(WorkerError::Refused(refusal)),
            Reason::UnknownCell
            | Reason::Internal
            | Reason::TooMany
            | Reason::BadSweep
            | Reason::NameTaken
            | Reason::UnknownExperiment
            | Reason::WrongState
            | Reason::BadQuery => Self::Refused(refusal),
        }
    }
}

const SAME_RELEASE: &str = "use a worker and a coordinator of the same release";

#[cfg(test)]
mod tests {
    use super::*;

    /// What trying again mends is tried again; what it cannot mend ends the worker with a remedy.
    #[test]
    fn statuses_are_told_apart() {
        let away = |status: &Status| matches!(Failed::of(status), Failed::Away { .. });
        let fatal = |status: &Status| matches!(Failed::of(status), Failed::Fatal(_));
        assert!(away(&Status::unavailable("connection refused")));
        assert!(away(&Status::unknown("h2 protocol error")));
        assert!(away(&Status::internal("stream reset")));
        assert!(away(&Refusal::busy("full", Duration::ZERO).into()));
        assert!(fatal(&Status::unimplemented("")));
        assert!(fatal(&Status::invalid_argument("")));
        let mismatches =
            [Reason::ProtocolMajor, Reason::EngineRevision, Reason::BadToken, Reason::Malformed];
        for reason in mismatches {
            assert!(fatal(&Refusal::new(reason, "", "").into()), "{reason:?}");
        }
        let hello = Refusal::new(Reason::SayHello, "", "").into();
        assert!(matches!(Failed::of(&hello), Failed::SayHello));
        let internal = Refusal::new(Reason::Internal, "", "").into();
        assert!(matches!(Failed::of(&internal), Failed::Refused(_)));
    }
}
