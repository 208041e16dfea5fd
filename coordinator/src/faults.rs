//! Faults that tests order: commits that fail as on a full disk or take arbitrarily long, a result that the store
//! cannot take, and a process that ends by SIGKILL at a named point. Without the feature `faults`, which only tests
//! enable, no fault can be ordered.

#[cfg(feature = "faults")]
mod ordered;

#[cfg(feature = "faults")]
pub use ordered::Faults;

#[cfg(not(feature = "faults"))]
use spelrum_model::GameId;

#[cfg(not(feature = "faults"))]
use spelrum_store::StoreError;

/// No faults.
#[cfg(not(feature = "faults"))]
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults;

#[cfg(not(feature = "faults"))]
impl Faults {
    pub(crate) fn from_environment() -> Self {
        Self
    }

    pub(crate) async fn at_commit(&self) -> Result<(), StoreError> {
        Ok(())
    }

    pub(crate) fn after_commit(&self) {}

    pub(crate) fn amid_answers(&self) {}

    pub(crate) fn at_result(&self, _game: GameId) -> Result<(), StoreError> {
        Ok(())
    }
}
