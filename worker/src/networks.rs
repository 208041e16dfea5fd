//! Networks stored by the coordinator, which players here need not train.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use spelrum_engine::network::{Network, SuppliedNetwork, SupplyError};
use spelrum_model::{DefinitionHash, TrainingDefinition};
use spelrum_proto::v1;

/// The networks of cells here, by the definitions of their trainings. They are dropped with the last cell.
#[derive(Debug, Default)]
pub(crate) struct Networks(Mutex<BTreeMap<DefinitionHash, Weak<Supplied>>>);

/// A network that its players need not train, as long as this is kept.
#[derive(Debug)]
pub(crate) struct Supplied {
    pub(crate) training: TrainingDefinition,
    pub(crate) bytes: Vec<u8>,
    _network: SuppliedNetwork,
}

impl Supplied {
    /// Parses it, which takes a moment.
    ///
    /// # Errors
    /// If the bytes are not the network of such a training.
    pub(crate) fn new(training: TrainingDefinition, bytes: Vec<u8>) -> Result<Self, SupplyError> {
        let network = SuppliedNetwork::new(training.recipe().clone(), &bytes)?;
        Ok(Self { training, bytes, _network: network })
    }
}

/// The coordinator's answer about a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    /// Its bytes, unchecked.
    Trained(Vec<u8>),
    /// It will never exist.
    Failed(String),
    /// It does not exist yet, or the coordinator keeps none.
    NotYet,
}

impl From<v1::GetNetworkResponse> for Stored {
    fn from(answer: v1::GetNetworkResponse) -> Self {
        let v1::GetNetworkResponse { network, failure } = answer;
        if !network.is_empty() {
            Self::Trained(network)
        } else if !failure.is_empty() {
            Self::Failed(failure)
        } else {
            Self::NotYet
        }
    }
}

impl Networks {
    /// The network of a training, if a cell here has it.
    pub(crate) fn cached(&self, definition: DefinitionHash) -> Option<Arc<Supplied>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(&definition).and_then(Weak::upgrade)
    }

    /// Supplies the players here with a fetched network. Parsing it takes a moment.
    ///
    /// # Errors
    /// If the bytes are not such a network.
    pub(crate) async fn supply(
        &self,
        training: &TrainingDefinition,
        definition: DefinitionHash,
        bytes: Vec<u8>,
    ) -> Result<Arc<Supplied>, String> {
        let training = training.clone();
        let supplied = tokio::task::spawn_blocking(move || {
            Supplied::new(training, bytes).map_err(|error| error.to_string())
        });
        let supplied = supplied.await.unwrap_or_else(|panic| Err(panic.to_string()));
        let supplied = supplied.map_err(|problem| {
            format!("the network {definition} that the coordinator has cannot be used: {problem}")
        })?;
        let supplied = Arc::new(supplied);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, network| network.strong_count() > 0);
        kept.insert(definition, Arc::downgrade(&supplied));
        Ok(supplied)
    }
}

/// The hash of a training's fetched network; `None` if the bytes are not such a network.
pub(crate) async fn network_hash(
    training: &TrainingDefinition,
    bytes: Vec<u8>,
) -> Option<[u8; 32]> {
    let recipe = training.recipe().clone();
    let hashed = tokio::task::spawn_blocking(move || {
        let network = Network::from_bytes(&bytes).ok()?;
        recipe.makes(&network).then(|| network.sha256())
    });
    hashed.await.ok().flatten()
}

#[cfg(test)]
mod tests {
    use spelrum_engine::network::{Recipe, train};
    use spelrum_engine::{Timeless, tables};

    use super::*;

    fn training(seed: u64) -> TrainingDefinition {
        let json = format!(
            r#"{{"format":1,"training":[{{"ending":"KRK","hidden":[2],"epochs":1,"seed":{seed}}},{{}}]}}"#
        );
        TrainingDefinition::from_json(&json).unwrap()
    }

    fn bytes_of(recipe: &Recipe) -> Vec<u8> {
        let table = tables::shared(recipe.endgame());
        train(recipe, &table, &Timeless, |_| {}).unwrap().network.to_bytes()
    }

    #[tokio::test]
    async fn a_network_is_cached_while_a_cell_keeps_it() {
        let networks = Networks::default();
        let (one, other) = (training(1), training(2));
        let bytes = bytes_of(one.recipe());
        assert!(networks.cached(one.hash()).is_none());
        let supplied = networks.supply(&one, one.hash(), bytes.clone()).await.unwrap();
        assert!(Arc::ptr_eq(&networks.cached(one.hash()).unwrap(), &supplied));
        assert!(networks.cached(other.hash()).is_none());
        drop(supplied);
        assert!(networks.cached(one.hash()).is_none());
        let _other = networks.supply(&other, other.hash(), bytes).await.unwrap();
        assert_eq!(networks.0.lock().unwrap().len(), 1, "unused networks are dropped");
    }

    #[tokio::test]
    async fn bytes_that_are_not_the_network_are_refused() {
        let networks = Networks::default();
        let one = training(3);
        let bytes = bytes_of(one.recipe());
        let sha256: [u8; 32] = bytes[bytes.len() - 32..].try_into().unwrap();
        assert_eq!(network_hash(&one, bytes.clone()).await, Some(sha256));
        let mut damaged = bytes.clone();
        damaged[60] ^= 1;
        let wider = TrainingDefinition::from_json(&one.canonical_json().replace("[2]", "[3]"));
        for (training, bytes, word) in [
            (one.clone(), damaged, "hash"),
            (one.clone(), bytes[..bytes.len() - 1].to_vec(), ""),
            (one, vec![0; 9], "not a network"),
            (wider.unwrap(), bytes, "another form"),
        ] {
            assert_eq!(network_hash(&training, bytes.clone()).await, None);
            let hash = training.hash();
            let problem = networks.supply(&training, hash, bytes).await.unwrap_err();
            assert!(problem.contains(&hash.to_string()) && problem.contains(word), "{problem}");
            assert!(networks.cached(hash).is_none());
        }
    }

    #[test]
    fn what_the_coordinator_says_of_a_network() {
        let stored = |network: &[u8], failure: &str| {
            let (network, failure) = (network.to_vec(), failure.to_owned());
            Stored::from(v1::GetNetworkResponse { network, failure })
        };
        assert_eq!(stored(&[], ""), Stored::NotYet);
        assert_eq!(stored(&[], "it diverged"), Stored::Failed("it diverged".to_owned()));
        assert_eq!(stored(&[7], ""), Stored::Trained(vec![7]));
    }
}
