//! Work that is compiled twice, for every processor and for those with wide instructions.

/// Does some work with AVX2, BMI and their like, if the processor has them: a board's four axes fit into one of its
/// registers. Results are the same.
///
/// The work is an expression. It gains only from functions that are inlined into it, which `#[inline(always)]` sees
/// to. Asking which processor this is costs about a nanosecond.
macro_rules! wide {
    ($work:expr) => {
        $crate::core::wide::widely(
            #[inline(always)]
            || $work,
        )
    };
}
pub(crate) use wide;

/// See [`wide!`].
#[inline(always)]
pub(crate) fn widely<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = fearless_simd::Level::new().as_avx2() {
        return fearless_simd::Simd::vectorize(avx2, work);
    }
    work()
}
