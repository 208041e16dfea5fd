//! Cells that are ready to be played, from the definitions that the coordinator sends.

use std::sync::Arc;

use spelrum_tournament::{DefinitionHash, OpeningsCache, PlayableCell};

/// A cell; `Err` if this engine cannot play it, whatever the reason: then each of its games is
/// reported as failed with that reason.
pub(crate) type Cell = Result<PlayableCell, String>;

/// Reads a definition, and checks that it is the one that was asked for. Finding the openings may
/// take a while.
pub(crate) async fn read(
    hash: DefinitionHash,
    json: String,
    openings: &Arc<OpeningsCache>,
) -> Cell {
    let openings = Arc::clone(openings);
    let cell = tokio::task::spawn_blocking(move || read_here(hash, &json, &openings))
        .await
        .unwrap_or_else(|panic| Err(format!("reading the definition: {panic}")));
    if let Err(problem) = &cell {
        tracing::error!("a cell cannot be played here: {problem}");
    }
    cell
}

fn read_here(hash: DefinitionHash, json: &str, openings: &OpeningsCache) -> Cell {
    if DefinitionHash::of_json(json) != hash {
        return Err("the cell's definition is not the one that its hash names".to_owned());
    }
    PlayableCell::from_json(json, openings).map_err(|error| error.to_string())
}
