//! Networks, as far as they are trained.

use spelrum_model::DefinitionHash;

use crate::error::StoreError;
use crate::read::readers::Readers;

/// What there is of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredNetwork {
    /// It was trained: its bytes.
    Trained(Vec<u8>),
    /// It could not be trained, and why.
    Failed(String),
}

impl Readers {
    /// The network that a training makes, by the hash of the training's definition, as far as it is settled.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn network(&self, hash: DefinitionHash) -> Result<Option<StoredNetwork>, StoreError> {
        let hash = hash.to_string();
        let found =
            sqlx::query!("SELECT content, failure FROM networks WHERE definition_hash = ?", hash)
                .fetch_optional(self.own())
                .await?;
        Ok(found.and_then(|row| match (row.content, row.failure) {
            (Some(bytes), _) => Some(StoredNetwork::Trained(bytes)),
            (None, Some(failure)) => Some(StoredNetwork::Failed(failure)),
            (None, None) => None,
        }))
    }

    /// The hash at the end of a network's bytes, if it is trained.
    ///
    /// # Errors
    /// If the database fails, or has something there that is not a hash.
    pub async fn network_sha256(
        &self,
        hash: DefinitionHash,
    ) -> Result<Option<[u8; 32]>, StoreError> {
        let hash = hash.to_string();
        let found =
            sqlx::query_scalar!("SELECT sha256 FROM networks WHERE definition_hash = ?", hash)
                .fetch_optional(self.own())
                .await?;
        let Some(text) = found.flatten() else { return Ok(None) };
        // Hashes have one form.
        match text.parse::<DefinitionHash>() {
            Ok(DefinitionHash(bytes)) => Ok(Some(bytes)),
            Err(_) => Err(StoreError::UnknownValue { column: "sha256", value: text }),
        }
    }
}
