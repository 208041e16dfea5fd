//! Networks by their recipes, each held once in a process while in use: trained here, or supplied.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use super::{Network, NetworkBytesError, Recipe, TrainError, train};
use crate::core::host::{Host, Timeless};
use crate::tables;

/// A network that is trained on first use. Equal recipes share one.
#[derive(Clone, Debug)]
pub(super) struct SharedNetwork {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    recipe: Recipe,
    /// Held during training, so that only one thread trains it.
    training: Mutex<()>,
    /// The result; an abort leaves none.
    trained: OnceLock<Result<Network, TrainError>>,
}

/// The networks in use, by the JSON of their recipes.
static KNOWN: Mutex<BTreeMap<String, Weak<Inner>>> = Mutex::new(BTreeMap::new());

impl SharedNetwork {
    /// The shared network of this recipe.
    pub(super) fn from_recipe(recipe: Recipe) -> Self {
        // Parameters have text keys and finite numbers, which JSON can represent.
        let key = serde_json::to_string(recipe.parameters()).unwrap_or_default();
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(inner) = known.get(&key).and_then(Weak::upgrade) {
            return Self { inner };
        }
        known.retain(|_, inner| inner.strong_count() > 0);
        let inner = Inner { recipe, training: Mutex::new(()), trained: OnceLock::new() };
        let inner = Arc::new(inner);
        known.insert(key, Arc::downgrade(&inner));
        Self { inner }
    }

    /// Its recipe.
    pub(super) fn recipe(&self) -> &Recipe {
        &self.inner.recipe
    }

    /// Trains it, unless that is done already. Concurrent callers wait.
    pub(super) fn prepare(&self, host: &dyn Host) -> Result<&Network, TrainError> {
        let Inner { recipe, training, trained } = &*self.inner;
        if trained.get().is_none() {
            let _training = training.lock().unwrap_or_else(PoisonError::into_inner);
            if trained.get().is_none() {
                let table = tables::shared(recipe.endgame());
                match train(recipe, &table, host, |_| {}) {
                    Err(TrainError::Aborted) => return Err(TrainError::Aborted),
                    outcome => {
                        let _ = trained.set(outcome.map(|trained| trained.network));
                    }
                }
            }
        }
        match trained.get() {
            Some(Ok(network)) => Ok(network),
            Some(Err(error)) => Err(*error),
            None => Err(TrainError::Aborted),
        }
    }

    /// The network, trained here if necessary; `None` if training fails.
    #[inline]
    pub(super) fn network(&self) -> Option<&Network> {
        match self.inner.trained.get() {
            Some(trained) => trained.as_ref().ok(),
            None => self.prepare(&Timeless).ok(),
        }
    }
}

/// A network that was trained elsewhere, for all players of this process that name its recipe, as long as
/// this value exists.
#[derive(Clone, Debug, PartialEq)]
pub struct SuppliedNetwork {
    _kept: SharedNetwork,
}

/// Bytes that are not the network of a recipe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SupplyError {
    /// They are not a network.
    #[error(transparent)]
    Bytes(#[from] NetworkBytesError),
    /// They are a network of another shape than the recipe makes.
    #[error("it is a network of another form than its recipe makes")]
    OtherForm,
}

impl SuppliedNetwork {
    /// Reads the network of a recipe from the bytes of [`Network::to_bytes`]. If this process has it already,
    /// that one stays.
    ///
    /// # Errors
    /// If the bytes are not a network, or it has another shape than the recipe makes.
    pub fn new(recipe: Recipe, bytes: &[u8]) -> Result<Self, SupplyError> {
        let network = Network::from_bytes(bytes)?;
        if !recipe.makes(&network) {
            return Err(SupplyError::OtherForm);
        }
        let shared = SharedNetwork::from_recipe(recipe);
        // A concurrent training gives the same result.
        let _ = shared.inner.trained.set(Ok(network));
        Ok(Self { _kept: shared })
    }
}

impl PartialEq for SharedNetwork {
    fn eq(&self, other: &Self) -> bool {
        self.inner.recipe == other.inner.recipe
    }
}
