//! What results come from.

/// The machine of a worker, and the program that it runs. Every text is empty where the worker does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Machine {
    /// The machine's processor, as it names itself.
    pub cpu_model: String,
    /// How many logical processors of it the worker may use.
    pub logical_cores: Option<u32>,
    /// Its operating system, with the architecture.
    pub operating_system: String,
    /// The Git commit that was checked out where the program was built, in hexadecimal.
    pub build_commit: String,
    /// How the program was compiled: `release` or `debug`.
    pub build_profile: String,
}
