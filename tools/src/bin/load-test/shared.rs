//! What the simulated workers share: their settings, the tally, and the cells that they have fetched.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use spelrum_model::{DefinitionHash, OpeningsCache, PlayableCell};
use spelrum_proto::Token;
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;

use crate::tally::Tally;

/// A fleet's settings.
#[derive(Clone, Debug)]
pub(crate) struct Fleet {
    /// The coordinators, and the workers' token.
    pub(crate) coordinators: Vec<Endpoint>,
    pub(crate) token: Option<Token>,
    /// The number of workers, each with one slot.
    pub(crate) workers: u32,
    /// Each worker's time for a game.
    pub(crate) game_time: Duration,
    /// Workers that connect per second.
    pub(crate) joins_per_second: u32,
}

/// State shared by all workers.
pub(crate) struct Shared {
    pub(crate) fleet: Fleet,
    pub(crate) tally: Tally,
    pub(crate) openings: OpeningsCache,
    /// Each definition is parsed once, however many workers fetch it.
    pub(crate) cells: Mutex<BTreeMap<DefinitionHash, Arc<PlayableCell>>>,
    pub(crate) stop: CancellationToken,
}

impl Shared {
    pub(crate) fn new(fleet: Fleet) -> Self {
        Self {
            fleet,
            tally: Tally::default(),
            openings: OpeningsCache::default(),
            cells: Mutex::default(),
            stop: CancellationToken::new(),
        }
    }

    pub(crate) fn cell(&self, hash: DefinitionHash) -> Option<Arc<PlayableCell>> {
        let cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        cells.get(&hash).cloned()
    }

    /// Parses a cell's definition, unless another worker already has.
    pub(crate) fn read(
        &self,
        hash: DefinitionHash,
        json: &str,
    ) -> Result<Arc<PlayableCell>, String> {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cell) = cells.get(&hash) {
            return Ok(Arc::clone(cell));
        }
        let cell =
            PlayableCell::from_json(json, &self.openings).map_err(|error| error.to_string())?;
        if cell.has_engines() || cell.has_time_limit() {
            return Err("its games take real time: a fleet plays sweeps without external engines \
                        and time limits"
                .to_owned());
        }
        let cell = Arc::new(cell);
        cells.insert(hash, Arc::clone(&cell));
        Ok(cell)
    }
}
