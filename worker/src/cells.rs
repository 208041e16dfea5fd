//! Cells that are ready to play, from the coordinator's definitions.

use std::sync::Arc;

use spelrum_model::{
    DefinitionHash, ListedPositions, OpeningsCache, PlayableCell, PlayableVerification,
    TrainingDefinition, VerificationDefinition,
};

use crate::networks::Supplied;

/// A cell, or `Err` with a reason if this engine cannot use it: then each of its games, or its training, is
/// reported as failed with that reason.
pub(crate) type Cell = Result<Ready, String>;

/// The kind of work.
#[derive(Debug)]
pub(crate) enum Ready {
    /// Games are to be played.
    Games(Box<Games>),
    /// A network is to be trained.
    Training {
        /// Its definition.
        training: Box<TrainingDefinition>,
        /// The hash of the network, if it existed when the cell was fetched.
        found: Option<[u8; 32]>,
    },
    /// A game is to be replayed.
    Verification(Box<Verifying>),
}

/// A game to replay.
#[derive(Debug)]
pub(crate) struct Verifying {
    pub(crate) verification: PlayableVerification,
    /// Its definition as received.
    pub(crate) json: String,
    /// As [`Games::networks`].
    pub(crate) networks: Vec<Arc<Supplied>>,
}

/// A cell of games.
#[derive(Debug)]
pub(crate) struct Games {
    pub(crate) cell: PlayableCell,
    /// Its definition as received, without its positions if they are separate.
    pub(crate) json: String,
    /// The positions that are separate from it, if any.
    pub(crate) listed: Option<Arc<ListedPositions>>,
    /// Its players' networks that need no training here, kept for as long as the cell.
    pub(crate) networks: Vec<Arc<Supplied>>,
}

impl Ready {
    /// The networks for its players, if it has games.
    pub(crate) fn networks(&mut self) -> Option<&mut Vec<Arc<Supplied>>> {
        match self {
            Self::Games(games) => Some(&mut games.networks),
            Self::Verification(verifying) => Some(&mut verifying.networks),
            Self::Training { .. } => None,
        }
    }

    /// The trainings of its players' networks, each once.
    pub(crate) fn trainings(&self) -> Vec<TrainingDefinition> {
        let cell = match self {
            Self::Games(games) => &games.cell,
            Self::Verification(verifying) => &verifying.verification.cell,
            Self::Training { .. } => return Vec::new(),
        };
        let mut trainings = Vec::new();
        for player in &cell.definition().players {
            trainings.extend(
                TrainingDefinition::from_parameters(player)
                    .filter(|training| !trainings.contains(training)),
            );
        }
        trainings
    }
}

/// Parses a definition and checks its hash. Finding the openings may take a while. It has no
/// networks yet.
pub(crate) async fn read(
    hash: DefinitionHash,
    json: String,
    listed: Option<Arc<ListedPositions>>,
    openings: &Arc<OpeningsCache>,
) -> Cell {
    let openings = Arc::clone(openings);
    tokio::task::spawn_blocking(move || read_blocking(hash, json, listed.as_ref(), &openings))
        .await
        .unwrap_or_else(|panic| Err(format!("reading the definition: {panic}")))
}

/// As [`read`], on a thread that may be blocked.
pub(crate) fn read_blocking(
    hash: DefinitionHash,
    json: String,
    listed: Option<&Arc<ListedPositions>>,
    openings: &OpeningsCache,
) -> Cell {
    let mismatch = || Err("the cell's definition is not the one that its hash names".to_owned());
    match listed {
        None if DefinitionHash::from_json(&json) != hash => mismatch(),
        None => from_definition(json, openings),
        Some(listed) => match from_split(json, listed, openings)? {
            (_, definition_hash) if definition_hash != hash => mismatch(),
            (ready, _) => Ok(ready),
        },
    }
}

/// The cell of a definition with separate positions, and the hash of the whole.
pub(crate) fn from_split(
    json: String,
    listed: &Arc<ListedPositions>,
    openings: &OpeningsCache,
) -> Result<(Ready, DefinitionHash), String> {
    let (cell, hash) =
        PlayableCell::from_split(&json, listed, openings).map_err(|error| error.to_string())?;
    let (listed, networks) = (Some(Arc::clone(listed)), Vec::new());
    Ok((Ready::Games(Box::new(Games { cell, json, listed, networks })), hash))
}

/// The cell of a definition.
pub(crate) fn from_definition(json: String, openings: &OpeningsCache) -> Cell {
    if TrainingDefinition::is_training(&json) {
        return TrainingDefinition::from_json(&json)
            .map(|training| Ready::Training { training: Box::new(training), found: None })
            .map_err(|error| error.to_string());
    }
    if VerificationDefinition::is_verification(&json) {
        return PlayableVerification::from_json(&json, openings)
            .map(|verification| {
                let networks = Vec::new();
                Ready::Verification(Box::new(Verifying { verification, json, networks }))
            })
            .map_err(|error| error.to_string());
    }
    PlayableCell::from_json(&json, openings)
        .map(|cell| {
            Ready::Games(Box::new(Games { cell, json, listed: None, networks: Vec::new() }))
        })
        .map_err(|error| error.to_string())
}
