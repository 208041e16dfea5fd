//! Calls: their durations and outcomes by method, and calls refused before they reached a service.
//!
//! Labels are the methods of our own contract, the routes of the API, and the codes of gRPC. Calls of unknown methods are counted as `other`,
//! and refused calls only by the reason, so no caller can add lines to the page.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry,
};
use prost::Message as _;
use prost_types::FileDescriptorSet;
use spelrum_names::Names;
use spelrum_proto::FILE_DESCRIPTOR_SET;
use tonic::Code;

use super::SECONDS;

/// The label of unknown methods.
const OTHER: &str = "other";

pub(crate) struct Calls {
    /// By their paths; routes of the API by method and path.
    methods: BTreeMap<String, Arc<Method>>,
    other: Arc<Method>,
    outcomes: IntCounterVec,
    refused: [IntCounter; Why::ALL.len()],
}

/// A method of the contract, or `other`.
#[derive(Debug)]
struct Method {
    /// The method's name on the page and in the log.
    name: String,
    seconds: Histogram,
}

/// Why a call was refused before it reached a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
pub(crate) enum Why {
    /// Not gRPC.
    NotGrpc,
    /// A body that is not JSON.
    NotJson,
    /// gRPC over an old HTTP.
    OldHttp,
    /// Sent to another host.
    Host,
    /// Sent by a web page.
    Origin,
    /// No token with the role that the call needs.
    Token,
    /// Its message did not arrive.
    Message,
    /// Too many other calls were under way.
    Crowded,
}

impl Calls {
    /// Counters for the contract's methods and these routes of the API.
    pub(super) fn new(registry: &Registry, routes: &[String]) -> Result<Self, prometheus::Error> {
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
            // A rate includes the first call only if the counter was 0 before.
            outcomes.get_metric_with_label_values(&[name, name_of(Code::Ok)])?;
            let seconds = seconds.get_metric_with_label_values(&[name])?;
            Ok::<_, prometheus::Error>(Arc::new(Method { name: name.to_owned(), seconds }))
        };
        let mut methods = BTreeMap::new();
        for name in methods_of_the_contract() {
            methods.insert(format!("/{name}"), method(&name)?);
        }
        for name in routes {
            methods.insert(name.clone(), method(name)?);
        }
        let other = method(OTHER)?;
        let [a, b, c, d, e, f, g, h] =
            Why::ALL.map(|why| refused.get_metric_with_label_values(&[why.name()]));
        Ok(Self { methods, other, outcomes, refused: [a?, b?, c?, d?, e?, f?, g?, h?] })
    }

    /// The name of this path's method on the page and in the log.
    pub(crate) fn name(&self, path: &str) -> &str {
        &self.method(path).name
    }

    /// Starts counting a call that is about to reach its service.
    pub(crate) fn begin(self: &Arc<Self>, path: &str) -> UnderWay {
        let method = Arc::clone(self.method(path));
        UnderWay { calls: Arc::clone(self), method, began: Instant::now(), is_ended: false }
    }

    /// Counts a call refused before it reached a service.
    pub(crate) fn refused(&self, why: Why) {
        // The variant's position.
        self.refused[why as usize].inc();
    }

    fn method(&self, path: &str) -> &Arc<Method> {
        self.methods.get(path).unwrap_or(&self.other)
    }
}

/// A call that has reached its service. If dropped without an end, it counts as cancelled: its caller has gone.
pub(crate) struct UnderWay {
    calls: Arc<Calls>,
    method: Arc<Method>,
    began: Instant,
    is_ended: bool,
}

impl UnderWay {
    /// Records that the answer begins.
    pub(crate) fn answered(&self) {
        self.method.seconds.observe(self.began.elapsed().as_secs_f64());
    }

    /// Records that the answer has ended, with this code.
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

/// All methods of the contract, as `package.Service/Method`.
fn methods_of_the_contract() -> Vec<String> {
    // Reflection serves the same bytes, and no coordinator starts with invalid ones.
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
        let calls = Calls::new(&Registry::new(), &[]).unwrap();
        for (place, why) in Why::ALL.into_iter().enumerate() {
            assert_eq!(why as usize, place);
            calls.refused(why);
            assert_eq!(calls.refused[place].get(), 1, "{why:?}");
        }
    }

    #[test]
    fn only_methods_of_the_contract_have_names() {
        let calls = Calls::new(&Registry::new(), &[]).unwrap();
        assert_eq!(calls.name("/spelrum.v1.Work/Lease"), "spelrum.v1.Work/Lease");
        let others =
            ["", "/", "/spelrum.v1.Work", "/spelrum.v1.Work/Lease/", "/spelrum.v1.Work/lease"];
        for path in others {
            assert_eq!(calls.name(path), OTHER, "{path}");
        }
        assert_eq!(calls.methods.len(), 10, "the methods of the contract");
    }

    #[test]
    fn a_call_ends_once() {
        let calls = Arc::new(Calls::new(&Registry::new(), &[]).unwrap());
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
