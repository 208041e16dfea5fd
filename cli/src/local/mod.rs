//! Work on this machine: an embedded coordinator and worker, and the system resources they need.

pub(crate) mod build_info;
pub(crate) mod certificate_authority;
pub(crate) mod clock;
pub(crate) mod cost_estimate;
pub(crate) mod database_holder;
pub(crate) mod embedded;
pub(crate) mod endgame_tables;
pub(crate) mod listener;
pub(crate) mod network_training;
pub(crate) mod on_finish;
pub(crate) mod preflight;
pub(crate) mod replay;
pub(crate) mod systemd;
pub(crate) mod syzygy_tables;
