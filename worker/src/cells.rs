//! Definitions of cells, fetched once and kept: leases name cells by the hash of their definition.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use spelrum_proto::{Reason, v1};
use spelrum_tournament::{CellDefinition, DefinitionHash, OpeningsCache, PlayableCell};

use crate::link::{CallError, Link};
use crate::pool::Cell;

/// Cells that are kept (invariant 9).
const CELLS_MAX: NonZeroUsize = NonZeroUsize::new(1_024).expect("it is not zero");

/// The cache.
#[derive(Debug)]
pub(crate) struct Cells {
    known: Mutex<LruCache<DefinitionHash, Arc<Cell>>>,
    /// Cells of one sweep share their openings.
    openings: Arc<OpeningsCache>,
}

impl Cells {
    pub(crate) fn new() -> Self {
        Self { known: Mutex::new(LruCache::new(CELLS_MAX)), openings: Arc::default() }
    }

    /// The cell with this definition. One that cannot be played, whatever the reason, is a cell
    /// whose every game is reported as failed with that reason.
    pub(crate) async fn get(
        &self,
        hash: DefinitionHash,
        link: &Link,
    ) -> Result<Arc<Cell>, CallError> {
        if let Some(cell) = self.lock().get(&hash) {
            return Ok(Arc::clone(cell));
        }
        let fetched = link
            .call("GetCell", move |mut client, _session| async move {
                let request = v1::GetCellRequest { definition_hash: hash.0.to_vec() };
                client.get_cell(request).await
            })
            .await;
        let playable = match fetched {
            // Finding the openings may take a while.
            Ok(answer) => {
                let openings = Arc::clone(&self.openings);
                tokio::task::spawn_blocking(move || read(hash, &answer.definition_json, &openings))
                    .await
                    .unwrap_or_else(|panic| Err(format!("reading the definition: {panic}")))
            }
            // Not kept: another coordinator behind the same address, or the same one with its own
            // database back, may know it.
            Err(CallError::Refused(refusal)) if refusal.reason == Reason::UnknownCell => {
                tracing::error!("a cell cannot be played here: {}", refusal.problem);
                return Ok(Arc::new(Cell::new(Err(refusal.problem))));
            }
            Err(error) => return Err(error),
        };
        if let Err(problem) = &playable {
            tracing::error!("a cell cannot be played here: {problem}");
        }
        let cell = Arc::new(Cell::new(playable));
        self.lock().put(hash, Arc::clone(&cell));
        Ok(cell)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LruCache<DefinitionHash, Arc<Cell>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a definition, and checks that it is the one that was asked for.
fn read(
    hash: DefinitionHash,
    json: &str,
    openings: &OpeningsCache,
) -> Result<PlayableCell, String> {
    if DefinitionHash::of_json(json) != hash {
        return Err("the cell's definition is not the one that its hash names".to_owned());
    }
    let definition = serde_json::from_str::<CellDefinition>(json)
        .map_err(|error| format!("failed to read the cell's definition: {error}"))?;
    PlayableCell::with_cache(definition, openings).map_err(|error| error.to_string())
}
