//! Checks reported records by replaying every game under the rules.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use prost::Message as _;
use spelrum_answers::{GameResult, Played, SettledGame};
use spelrum_engine::{Irregularity, MoveValue};
use spelrum_model::speed::ScaledTime;
use spelrum_model::{
    CellId, Difference, GameId, OpeningsCache, PlayableCell, PlayableVerification, PlayedGame,
    Recorded, Task, TrainingDefinition, VerificationDefinition,
};
use spelrum_proto::work::{Reported, ReportedWhat};
use spelrum_proto::{game, training};

use spelrum_store::{Readers, StoreError};

/// Cells that are kept (invariant 9).
const CELLS_MAX: NonZeroUsize = NonZeroUsize::new(1_024).expect("it is not zero");

/// Definitions read at once, in bytes (invariant 9).
const READ_BYTES_MAX: usize = 4 << 20;

/// The referee. It caches cells by their ids, which are never reused.
#[derive(Debug)]
pub(crate) struct Referee {
    readers: Readers,
    cells: Mutex<LruCache<CellId, Arc<Judged>>>,
    /// Cells of one sweep share their openings.
    openings: Arc<OpeningsCache>,
}

/// A cell, as needed to judge its results.
#[derive(Debug)]
enum Judged {
    Games(Arc<PlayableCell>),
    Training(TrainingDefinition),
    Verification(Box<PlayableVerification>),
}

impl Judged {
    /// Parses a definition; `None` if this engine does not play the cell.
    fn read(json: &str, openings: &OpeningsCache) -> Option<Self> {
        if TrainingDefinition::is_training(json) {
            return TrainingDefinition::from_json(json).ok().map(Self::Training);
        }
        if VerificationDefinition::is_verification(json) {
            let verification = PlayableVerification::from_json(json, openings).ok()?;
            return Some(Self::Verification(Box::new(verification)));
        }
        let cell = PlayableCell::from_json(json, openings).ok()?;
        Some(Self::Games(Arc::new(cell)))
    }
}

/// Earlier results that a result is checked against.
#[derive(Debug, Default)]
struct Before {
    /// The values of a position's moves, if the result is a choice in a position that was evaluated before.
    values: Vec<MoveValue>,
    /// The hash of a network that is trained already.
    sha256: Option<[u8; 32]>,
    /// The game that a verification is compared with.
    verified: Option<Box<SettledGame>>,
}

impl Referee {
    pub(crate) fn new(readers: Readers) -> Self {
        Self { readers, cells: Mutex::new(LruCache::new(CELLS_MAX)), openings: Arc::default() }
    }

    /// Marks records that violate the rules. A record of a missing cell, or of one that this engine does not play, is
    /// left unchanged, since such a cell was never leased.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn judge(&self, results: Vec<Reported>) -> Result<Vec<Reported>, StoreError> {
        let judged = results.iter().filter(|result| is_judged(&result.what));
        let cells = self.cells(judged.map(|result| result.game.cell)).await?;
        let mut judged = Vec::with_capacity(results.len());
        for result in results {
            let mut before = Before::default();
            let cell = match &result.what {
                ReportedWhat::Played(played) => {
                    let cell = cells.get(&result.game.cell).map(Arc::clone);
                    if is_choice(cell.as_deref()) {
                        let revision = played.engine_revision;
                        let position = &played.opening;
                        before.values =
                            self.readers.values_of(result.game.cell, position, revision).await?;
                    }
                    cell
                }
                ReportedWhat::Trained(_) => {
                    let cell = cells.get(&result.game.cell).map(Arc::clone);
                    if let Some(Judged::Training(training)) = cell.as_deref() {
                        before.sha256 = self.readers.network_sha256(training.hash()).await?;
                    }
                    cell
                }
                ReportedWhat::Verified(_) => {
                    let cell = cells.get(&result.game.cell).map(Arc::clone);
                    if let Some(Judged::Verification(_)) = cell.as_deref() {
                        let verified = self.readers.verified_game(result.game.cell).await?;
                        before.verified = verified.map(Box::new);
                    }
                    cell
                }
                ReportedWhat::Failed { .. } | ReportedWhat::Irregular { .. } => None,
            };
            judged.push((cell, before, result));
        }
        // Some 10 microseconds for a game, so a full report would block the listening threads for too long.
        let judged = tokio::task::spawn_blocking(move || {
            let judged = judged.into_iter();
            judged.map(|(cell, before, result)| judge(cell.as_deref(), &before, result)).collect()
        });
        Ok(judged.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic())))
    }

    /// Those of these cells whose games this engine plays.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn games(
        &self,
        ids: Vec<CellId>,
    ) -> Result<BTreeMap<CellId, Arc<PlayableCell>>, StoreError> {
        let cells = self.cells(ids.into_iter()).await?.into_iter();
        let games = cells.filter_map(|(id, cell)| match &*cell {
            Judged::Games(games) => Some((id, Arc::clone(games))),
            Judged::Training(_) | Judged::Verification(_) => None,
        });
        Ok(games.collect())
    }

    /// Those of these cells that this engine plays, each read once.
    async fn cells(
        &self,
        ids: impl Iterator<Item = CellId>,
    ) -> Result<BTreeMap<CellId, Arc<Judged>>, StoreError> {
        let (mut cells, mut missing) = (BTreeMap::new(), BTreeSet::new());
        {
            let mut kept = self.lock();
            for id in ids {
                if cells.contains_key(&id) || missing.contains(&id) {
                    continue;
                }
                if let Some(cell) = kept.get(&id) {
                    cells.insert(id, Arc::clone(cell));
                } else {
                    missing.insert(id);
                }
            }
        }
        while !missing.is_empty() {
            let ids: Vec<_> = missing.iter().copied().collect();
            let definitions = self.readers.definitions_of(&ids, READ_BYTES_MAX).await?;
            // They come in the order of their ids: those before the last one found do not exist.
            match definitions.last_key_value() {
                Some((&last, _)) => missing = missing.split_off(&CellId(last.0 + 1)),
                None => missing.clear(),
            }
            let openings = Arc::clone(&self.openings);
            // Finding the openings may take a while.
            let read = tokio::task::spawn_blocking(move || {
                let read = definitions.into_iter().filter_map(|(id, json)| {
                    // A definition that cannot be read must not keep the report's other cells from being judged.
                    let read = catch_unwind(AssertUnwindSafe(|| Judged::read(&json, &openings)));
                    Some((id, Arc::new(read.ok()??)))
                });
                read.collect::<Vec<_>>()
            });
            let read = read.await.unwrap_or_else(|panic| resume_unwind(panic.into_panic()));
            let mut kept = self.lock();
            for (id, cell) in read {
                kept.put(id, Arc::clone(&cell));
                cells.insert(id, cell);
            }
        }
        Ok(cells)
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<CellId, Arc<Judged>>> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a result is checked by the rules of its cell.
fn is_judged(what: &ReportedWhat) -> bool {
    match what {
        ReportedWhat::Played(_) | ReportedWhat::Trained(_) | ReportedWhat::Verified(_) => true,
        ReportedWhat::Failed { .. } | ReportedWhat::Irregular { .. } => false,
    }
}

fn is_choice(cell: Option<&Judged>) -> bool {
    matches!(cell, Some(Judged::Games(cell)) if cell.definition().task == Task::Choice)
}

fn judge(cell: Option<&Judged>, before: &Before, result: Reported) -> Reported {
    let Reported { lease, game: id, what: content } = result;
    let content = match (cell, content) {
        (Some(cell), ReportedWhat::Played(played)) => match judge_game(cell, before, id, &played) {
            Ok(()) => ReportedWhat::Played(played),
            Err(irregularity) => ReportedWhat::Irregular {
                engine_revision: played.engine_revision,
                record: game::to_wire(played).encode_to_vec(),
                problem: irregularity.to_string(),
            },
        },
        (Some(cell), ReportedWhat::Trained(trained)) => {
            let judged = match cell {
                Judged::Training(definition) => definition.referee(&trained, before.sha256),
                Judged::Games(_) | Judged::Verification(_) => {
                    Err(Irregularity::new("its cell asks for games, and this is a training"))
                }
            };
            match judged {
                Ok(()) => ReportedWhat::Trained(trained),
                Err(irregularity) => ReportedWhat::Irregular {
                    engine_revision: trained.engine_revision,
                    record: training::to_wire(*trained).encode_to_vec(),
                    problem: irregularity.to_string(),
                },
            }
        }
        (Some(cell), ReportedWhat::Verified(mut verified)) => {
            let judged = match cell {
                Judged::Verification(definition) => definition.referee(&verified.played),
                Judged::Games(_) | Judged::Training(_) => {
                    Err(Irregularity::new("it is a verification, and its cell asks for none"))
                }
            };
            match judged {
                Ok(()) => {
                    verified.difference =
                        before.verified.as_ref().and_then(|game| compare(game, &verified.played));
                    ReportedWhat::Verified(verified)
                }
                Err(irregularity) => ReportedWhat::Irregular {
                    engine_revision: verified.played.engine_revision,
                    record: game::to_wire(verified.played).encode_to_vec(),
                    problem: irregularity.to_string(),
                },
            }
        }
        (_, content) => content,
    };
    Reported { lease, game: id, what: content }
}

fn judge_game(
    cell: &Judged,
    before: &Before,
    id: GameId,
    played: &PlayedGame,
) -> Result<(), Irregularity> {
    let cell = match cell {
        Judged::Games(cell) => cell,
        Judged::Training(_) => {
            return Err(Irregularity::new("its cell asks for a training, and this is a game"));
        }
        Judged::Verification(_) => {
            return Err(Irregularity::new("its cell asks for a verification, and this is a game"));
        }
    };
    if played.record.moves_hash() != played.moves_hash {
        return Err(Irregularity::new("its moves_hash is not that of its moves"));
    }
    cell.referee(id.number, &played.opening, &played.record)?;
    cell.referee_numbers(id.number, &played.record)?;
    played.scaled.map_or(Ok(()), ScaledTime::check_speed)?;
    cell.referee_values(&played.opening, &played.values)?;
    same_values(&before.values, &played.values)?;
    let end = (played.record.termination, played.record.outcome);
    cell.referee_engines(id.number, &played.engines, end, played.forfeit.as_ref())
}

/// The difference between a replayed game and the stored one, if any.
fn compare(stored: &SettledGame, played: &PlayedGame) -> Option<Difference> {
    match &stored.summary.result {
        GameResult::Played(Played { opening, end, .. }) => {
            let recorded = Recorded { opening, end, moves: stored.moves.as_deref() };
            Difference::between(recorded, &played.opening, &played.record)
        }
        GameResult::Failed(_) => None,
    }
}

/// Checks that a reference gives a position the same values as before, whichever worker asked.
fn same_values(before: &[MoveValue], after: &[MoveValue]) -> Result<(), Irregularity> {
    match before.iter().zip(after).find(|(before, after)| before != after) {
        None => Ok(()),
        Some((MoveValue { mv, value }, after)) => Err(Irregularity::new(format!(
            "the reference's value of `{mv}` is {} here, and was {value} when it was first reported",
            after.value
        ))),
    }
}
