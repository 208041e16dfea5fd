//! What every store decides and writes alike, beyond the functions of `spelrum_model`: for another store, such as the
//! slow twin that tests compare SQLite's with.

pub use crate::read::engines::identity;
pub use crate::schema::encoding::{hexadecimal, remarks};
pub use crate::schema::experiment_states::{state_name, state_of};
pub use crate::schema::machine_columns::{labels_column, quota_columns};
pub use crate::schema::numbers::{count, integer, safe, scaled_columns, scaling};
pub use crate::schema::settings::Columns as SettingsColumns;
pub use crate::write::forgetting::{LEASES_AT_ONCE, WORKERS_AT_ONCE};
pub use crate::write::refused_results::{OF_WORKER_MAX, RECORD_BYTES_MAX};
pub use crate::write::requirements::Needs;
pub use crate::write::rollup_sums::SideSums;
pub use crate::write::scheduling::end_name;
pub use crate::write::stop_readings::Read as CellReading;
pub use crate::write::stop_rules::{RuleRow, rule_kind};
pub use crate::write::submit::{Candidate, awaits_builds, becomes};
pub use crate::write::sweep_changes::check as check_change;
pub use crate::write::uncounted_games::Reason;
pub use crate::write::verifications::{RESULT_IS_GONE, VERIFICATION_NUMBER};
pub use crate::write::worker_speeds::{APART_US, is_known, measured_unix_us};
