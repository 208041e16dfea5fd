//! What every store decides alike, beyond the functions of `spelrum_model`: for another store, such as the slow twin that
//! tests compare this one with.

pub use crate::schema::numbers::safe;
pub use crate::write::forgetting::{LEASES_AT_ONCE, WORKERS_AT_ONCE};
pub use crate::write::refused_results::OF_WORKER_MAX;
pub use crate::write::requirements::Needs;
pub use crate::write::submit::{Candidate, awaits_builds, becomes};
pub use crate::write::sweep_changes::check as check_change;
pub use crate::write::uncounted_games::Reason;
pub use crate::write::worker_speeds::{APART_US, is_known, measured_unix_us};
