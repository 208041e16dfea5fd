//! Networks by their recipes, each had once in a process while anybody keeps it: trained here, or supplied.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use super::{Network, NetworkBytesError, Recipe, TrainError, train};
use crate::core::host::{Host, Timeless};
use crate::tables;

/// A network that is trained when it is needed first. Equal recipes share one.
#[derive(Clone, Debug)]
pub(super) struct SharedNetwork {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    recipe: Recipe,
    /// Held while it is trained, so that nobody trains the same beside it.
    training: Mutex<()>,
    /// What came of it; an abort comes to nothing.
    trained: OnceLock<Result<Network, TrainError>>,
}

/// Those that somebody has, by the JSON of their recipes.
static KNOWN: Mutex<BTreeMap<String, Weak<Inner>>> = Mutex::new(BTreeMap::new());

impl SharedNetwork {
    /// The one of this recipe.
    pub(super) fn of(recipe: Recipe) -> Self {
        // Parameters have keys that are texts and finite numbers, which JSON has.
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

    /// Trains it, if nobody has: a while. Who comes while another trains it waits for that.
    pub(super) fn prepare(&self, host: &dyn Host) -> Result<&Network, TrainError> {
        let Inner { recipe, training, trained } = &*self.inner;
        if trained.get().is_none() {
            let _training = training.lock().unwrap_or_else(PoisonError::into_inner);
            if trained.get().is_none() {
                let table = tables::shared(recipe.endgame());
                match train(recipe, &table, host, |_| {}) {
                    Err(TrainError::Aborted) => return Err(TrainError::Aborted),
                    outcome => {
                        let _ = trained.set(outcome.map(|it| it.network));
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

    /// The network, trained here if nobody has; `None` where training comes to nothing.
    #[inline]
    pub(super) fn network(&self) -> Option<&Network> {
        match self.inner.trained.get() {
            Some(trained) => trained.as_ref().ok(),
            None => self.prepare(&Timeless).ok(),
        }
    }
}

/// A network that was trained elsewhere, for all players here that name its recipe: they have it for as long
/// as this is kept.
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
    /// They are a network of another form than the recipe makes.
    #[error("it is a network of another form than its recipe makes")]
    OtherForm,
}

impl SuppliedNetwork {
    /// Takes the network of a recipe from what [`Network::to_bytes`] made of it. If somebody here has it
    /// already, that one stays.
    ///
    /// # Errors
    /// If the bytes are not a network, or of another form than the recipe makes.
    pub fn new(recipe: Recipe, bytes: &[u8]) -> Result<Self, SupplyError> {
        let network = Network::from_bytes(bytes)?;
        if !recipe.makes(&network) {
            return Err(SupplyError::OtherForm);
        }
        let shared = SharedNetwork::of(recipe);
        // Who trains it at this moment comes to the same.
        let _ = shared.inner.trained.set(Ok(network));
        Ok(Self { _kept: shared })
    }
}

impl PartialEq for SharedNetwork {
    fn eq(&self, other: &Self) -> bool {
        self.inner.recipe == other.inner.recipe
    }
}
