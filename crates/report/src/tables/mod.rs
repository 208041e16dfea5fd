//! Tables of an experiment's results, one per file: for people, and the same rows for programs.

pub(crate) mod accuracy;
pub(crate) mod axes;
pub(crate) mod cells;
pub(crate) mod claims;
pub(crate) mod claims_json;
pub(crate) mod colours;
pub(crate) mod column;
pub(crate) mod comparisons;
pub(crate) mod costs;
pub(crate) mod curves;
pub(crate) mod disturbance;
pub(crate) mod engines;
pub(crate) mod entry;
pub(crate) mod evolution;
pub(crate) mod failures;
pub(crate) mod forfeits;
pub(crate) mod history;
pub(crate) mod margins;
pub(crate) mod outcome_lengths;
pub(crate) mod overview;
pub(crate) mod phases;
pub(crate) mod played_on;
pub(crate) mod race;
pub(crate) mod ratings;
pub(crate) mod registry;
pub(crate) mod replicated;
pub(crate) mod rows;
pub(crate) mod runs;
mod scale_fit;
pub(crate) mod scaled;
pub(crate) mod side_by_side;
pub(crate) mod text;
pub(crate) mod value;
pub(crate) mod worker_effects;

pub use forfeits::Forfeits;
pub use registry::TableName;
