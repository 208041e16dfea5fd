//! Calls: how long they take and what becomes of them, by method, and those that no service heard of.
//!
//! Labels are the methods of our own contract and the codes of gRPC. A call of any other method is of
//! `other`, and one that is refused before a service hears of it is counted by the reason alone: so nobody
//! adds a line to the page by what he calls.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry,
};
use prost::Message as _;
use prost_types::FileDescriptorSet;
use spelrum_proto::FILE_DESCRIPTOR_SET;
use tonic::Code;

use super::SECONDS;

/// The label of whatever is no method of ours.
const OTHER: &str = "other";

/// Calls.
pub(crate) struct Calls {
    /// By their paths.
    methods: BTreeMap<String, Arc<Method>>,
    other: Arc<Method>,
    outcomes: IntCounterVec,
    refused: [IntCounter; Why::ALL.len()],
}

/// A method that is called.
#[derive(Debug)]
struct Method {
    /// As the page and the log have it.
    name: String,
    seconds: Histogram,
}

/// Why a call was refused before a service heard of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It is not gRPC.
    NotGrpc,
    /// It is gRPC by an old HTTP.
    OldHttp,
    /// It is for another host.
    Host,
    /// A web page sent it.
    Origin,
    /// It has no token that may do it.
    Token,
    /// Its message did not come.
    Message,
    /// Too many others were under way.
    Crowded,
}

impl Why {
    const ALL: [Self; 7] = [
        Self::NotGrpc,
        Self::OldHttp,
        Self::Host,
        Self::Origin,
        Self::Token,
        Self::Message,
        Self::Crowded,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::NotGrpc => "not_grpc",
            Self::OldHttp => "old_http",
            Self::Host => "host",
            Self::Origin => "origin",
            Self::Token => "token",
            Self::Message => "message",
            Self::Crowded => "crowded",
        }
    }
}

impl Calls {
    pub(super) fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let seconds = HistogramOpts::new(
            "spelrum_rpc_seconds",
            "From a call's whole message to the beginning of its answer, in seconds, by method.",
        );
        let seconds = HistogramVec::new(seconds.buckets(SECONDS.to_vec()), &["method"])?;
        registry.register(Box::new(seconds.clone()))?;
        let outcomes = Opts::new(
            "spelrum_rpcs_total",
            "Calls that a service heard of, by method and by the code of the answer.",
        );
        let outcomes = IntCounterVec::new(outcomes, &["method", "code"])?;
        registry.register(Box::new(outcomes.clone()))?;
        let refused = Opts::new(
            "spelrum_calls_refused_total",
            "Calls that were refused before a service heard of them, by the reason.",
        );
        let refused = IntCounterVec::new(refused, &["why"])?;
        registry.register(Box::new(refused.clone()))?;
        let method = |name: &str| {
            // A rate is known from the first call on only if it was 0 before.
            outcomes.get_metric_with_label_values(&[name, name_of(Code::Ok)])?;
            let seconds = seconds.get_metric_with_label_values(&[name])?;
            Ok::<_, prometheus::Error>(Arc::new(Method { name: name.to_owned(), seconds }))
        };
        let mut methods = BTreeMap::new();
        for name in methods_of_the_contract() {
            methods.insert(format!("/{name}"), method(&name)?);
        }
        let other = method(OTHER)?;
        let [a, b, c, d, e, f, g] =
            Why::ALL.map(|why| refused.get_metric_with_label_values(&[why.name()]));
        Ok(Self { methods, other, outcomes, refused: [a?, b?, c?, d?, e?, f?, g?] })
    }

    /// What the page and the log call the method of this path.
    pub(crate) fn name(&self, path: &str) -> &str {
        &self.method(path).name
    }

    /// A service is about to hear of a call to this path.
    pub(crate) fn begin(self: &Arc<Self>, path: &str) -> UnderWay {
        let method = Arc::clone(self.method(path));
        UnderWay { calls: Arc::clone(self), method, began: Instant::now(), is_ended: false }
    }

    /// A call is refused, and no service hears of it.
    pub(crate) fn refused(&self, why: Why) {
        // Its place among all of them.
        self.refused[why as usize].inc();
    }

    fn method(&self, path: &str) -> &Arc<Method> {
        self.methods.get(path).unwrap_or(&self.other)
    }
}

/// A call that a service has heard of. One that is dropped without an end was given up: its caller has gone.
pub(crate) struct UnderWay {
    calls: Arc<Calls>,
    method: Arc<Method>,
    began: Instant,
    is_ended: bool,
}

impl UnderWay {
    /// The answer begins.
    pub(crate) fn answered(&self) {
        self.method.seconds.observe(self.began.elapsed().as_secs_f64());
    }

    /// The answer has ended, with this code.
    pub(crate) fn ended(&mut self, code: Code) {
        if !std::mem::replace(&mut self.is_ended, true) {
            let outcome = [&*self.method.name, name_of(code)];
            // There are two labels, as there should be.
            if let Ok(outcome) = self.calls.outcomes.get_metric_with_label_values(&outcome) {
                outcome.inc();
            }
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.ended(Code::Cancelled);
    }
}

/// All methods, `package.Service/Method`, as the contract has them.
fn methods_of_the_contract() -> Vec<String> {
    // Reflection tells the same bytes, and no coordinator starts with others than they should be.
    let files = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap_or_default();
    let mut methods = Vec::new();
    for file in &files.file {
        for service in &file.service {
            for method in &service.method {
                methods.push(format!("{}.{}/{}", file.package(), service.name(), method.name()));
            }
        }
    }
    methods
}

/// The code's name in gRPC's documentation.
const fn name_of(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_where_they_are_looked_for() {
        let calls = Calls::new(&Registry::new()).unwrap();
        for (place, why) in Why::ALL.into_iter().enumerate() {
            assert_eq!(why as usize, place);
            calls.refused(why);
            assert_eq!(calls.refused[place].get(), 1, "{why:?}");
        }
    }

    #[test]
    fn only_methods_of_the_contract_have_names() {
        let calls = Calls::new(&Registry::new()).unwrap();
        assert_eq!(calls.name("/spelrum.v1.Work/Lease"), "spelrum.v1.Work/Lease");
        let others =
            ["", "/", "/spelrum.v1.Work", "/spelrum.v1.Work/Lease/", "/spelrum.v1.Work/lease"];
        for path in others {
            assert_eq!(calls.name(path), OTHER, "{path}");
        }
        assert!(calls.methods.len() > 20, "the contract was not understood");
    }

    #[test]
    fn a_call_ends_once() {
        let calls = Arc::new(Calls::new(&Registry::new()).unwrap());
        let count = |code| {
            let name = [OTHER, name_of(code)];
            calls.outcomes.get_metric_with_label_values(&name).unwrap().get()
        };
        let mut call = calls.begin("/nothing");
        call.answered();
        call.ended(Code::NotFound);
        call.ended(Code::Ok);
        drop(call);
        assert_eq!([count(Code::NotFound), count(Code::Ok), count(Code::Cancelled)], [1, 0, 0]);
        drop(calls.begin("/nothing"));
        assert_eq!(count(Code::Cancelled), 1);
        assert_eq!(calls.other.seconds.get_sample_count(), 1, "one was answered");
    }
}
