//! Calls of the coordinator's API: a question or a change, as a type with its path.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use spelrum_names::Names;

/// How a call is sent, and what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
#[names(rename_all = "UPPERCASE")]
pub enum Method {
    /// Asks a question. The parameters that are not in the path are in the query string.
    Get,
    /// Changes something, or asks with more than a query string holds. The parameters that are not in the path are
    /// a JSON object in the body.
    Post,
    /// Removes something. The parameters are as in a question.
    Delete,
}

impl Method {
    /// Whether parameters are in the body.
    #[must_use]
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Post)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A call: its parameters are the fields. Fields of the names in the path's braces are sent there.
///
/// Parameters of a call without a body are numbers, texts and names of variants: a query string has no structure.
pub trait Call: Clone + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// How the call is sent.
    const METHOD: Method;
    /// The path, such as `/api/v1/experiments/{experiment}/report`.
    const PATH: &'static str;
    /// The answer.
    type Answer: Serialize + DeserializeOwned + JsonSchema + Send + 'static;
}

/// A question about one experiment, without other parameters.
pub trait ExperimentQuestion: Call {
    /// The question about this experiment, by its UUID or name.
    fn about(experiment: String) -> Self;
}

/// Implements [`Call`]: `call!(GetReport: Get "/api/v1/experiments/{experiment}/report" -> Report);`
macro_rules! call {
    ($call:ty: $method:ident $path:literal -> $answer:ty) => {
        impl $crate::call::Call for $call {
            const METHOD: $crate::call::Method = $crate::call::Method::$method;
            const PATH: &'static str = $path;
            type Answer = $answer;
        }
    };
}
pub(crate) use call;

/// A question about one experiment, by its UUID or name: among several of a name the newest that is not over, else the
/// newest.
macro_rules! experiment_question {
    ($(#[$doc:meta])* $call:ident: $path:literal -> $answer:ty) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $call {
            /// The experiment's UUID or name: among several of a name the newest that is not over, else the newest.
            pub experiment: String,
        }
        $crate::call::call!($call: Get $path -> $answer);
        impl $crate::call::ExperimentQuestion for $call {
            fn about(experiment: String) -> Self {
                Self { experiment }
            }
        }
    };
}
pub(crate) use experiment_question;
