//! How often simulations in tests repeat.

/// The rounds that `SPELRUM_COVERAGE_ROUNDS` asks for; otherwise so many. The figures of docs/statistics.md are of more
/// rounds than tests usually take.
pub(crate) fn rounds_or(few: u32) -> u32 {
    asked().unwrap_or(few)
}

/// The rounds that `SPELRUM_COVERAGE_ROUNDS` asks for, if it is set.
pub(crate) fn asked() -> Option<u32> {
    std::env::var("SPELRUM_COVERAGE_ROUNDS").ok().map(|rounds| rounds.parse().unwrap())
}
