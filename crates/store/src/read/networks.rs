//! Trained networks.

use spelrum_model::DefinitionHash;

use crate::error::StoreError;
use crate::read::readers::Readers;

/// A settled network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredNetwork {
    /// Bytes of a trained network.
    Trained(Vec<u8>),
    /// Why the training failed.
    Failed(String),
}

impl Readers {
    /// Returns the network of a training, by the hash of the training's definition, if it is settled.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn network(&self, hash: DefinitionHash) -> Result<Option<StoredNetwork>, StoreError> {
        let hash = hash.to_string();
        let found =
            sqlx::query!("SELECT content, failure FROM networks WHERE definition_hash = ?", hash)
                .fetch_optional(self.reads())
                .await?;
        Ok(found.and_then(|row| match (row.content, row.failure) {
            (Some(bytes), _) => Some(StoredNetwork::Trained(bytes)),
            (None, Some(failure)) => Some(StoredNetwork::Failed(failure)),
            (None, None) => None,
        }))
    }

    /// The hash at the end of a network's bytes, if the network is trained.
    ///
    /// # Errors
    /// If the database fails, or the stored text is not a hash.
    pub async fn network_sha256(
        &self,
        hash: DefinitionHash,
    ) -> Result<Option<[u8; 32]>, StoreError> {
        let hash = hash.to_string();
        let found =
            sqlx::query_scalar!("SELECT sha256 FROM networks WHERE definition_hash = ?", hash)
                .fetch_optional(self.reads())
                .await?;
        let Some(text) = found.flatten() else { return Ok(None) };
        // Hashes have one form.
        match text.parse::<DefinitionHash>() {
            Ok(DefinitionHash(bytes)) => Ok(Some(bytes)),
            Err(_) => Err(StoreError::UnknownValue { column: "sha256", value: text }),
        }
    }
}
