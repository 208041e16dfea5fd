//! The messages of the `Work` service, parsed into types that cannot be malformed.

use std::time::Duration;

use spelrum_answers::{CpuQuota, Machine};
use spelrum_model::speed::Scaling;
use spelrum_model::{
    CellId, DefinitionHash, FinishedTraining, GameId, GameRange, LeaseId, PlayedGame,
    PlayedVerification, WorkerId,
};
use uuid::Uuid;

use crate::game::game_id;
use crate::limits::{
    FAILURE_BYTES_MAX, LEASE_DEFINITIONS_BYTES_MAX, LEASE_RANGES_MAX, LEASES_MAX,
    LOGICAL_CORES_MAX, NAME_BYTES_MAX, NUMBER_MAX, REPORT_RESULTS_MAX, SLOTS_MAX,
};
use crate::wire_error::{at_most, id, in_range, number, plain_text, text};
use crate::{Fault, WireError, engines, game, labels, speeds, training, v1};

/// The caller, and the run of the coordinator that it expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The worker.
    pub worker: WorkerId,
    /// The coordinator's epoch known to the worker.
    pub epoch: i64,
}

/// Parses the caller.
///
/// # Errors
/// If an id is invalid.
pub fn caller(worker_id: i64, coordinator_epoch: i64) -> Result<Caller, WireError> {
    Ok(Caller {
        worker: WorkerId(id("worker_id", worker_id)?),
        epoch: id("coordinator_epoch", coordinator_epoch)?,
    })
}

/// Checks a worker's introduction; the receiver checks versions.
///
/// # Errors
/// The first field that is malformed.
pub fn check_hello(hello: &v1::HelloRequest) -> Result<(), WireError> {
    uuid("worker_uuid", &hello.worker_uuid)?;
    plain_text("name", &hello.name, NAME_BYTES_MAX)?;
    plain_text("host", &hello.host, NAME_BYTES_MAX)?;
    plain_text("version", &hello.version, NAME_BYTES_MAX)?;
    slots(hello.slots)?;
    engines::offers(&hello.engines)?;
    engines::built(&hello.built_engines, &hello.accepted_programs, &hello.failed_builds)?;
    machine(hello).map(drop)
}

/// Parses the machine behind a worker's results.
///
/// # Errors
/// The first field that is malformed.
pub fn machine(hello: &v1::HelloRequest) -> Result<Machine, WireError> {
    let text_or_empty = |field: &str, value: &str| match value {
        "" => Ok(String::new()),
        _ => plain_text(field, value, NAME_BYTES_MAX).map(str::to_owned),
    };
    in_range("logical_cores", hello.logical_cores.into(), 0, LOGICAL_CORES_MAX.into())?;
    Ok(Machine {
        cpu_model: text_or_empty("cpu_model", &hello.cpu_model)?,
        logical_cores: Some(hello.logical_cores).filter(|&cores| cores > 0),
        operating_system: text_or_empty("operating_system", &hello.operating_system)?,
        build_commit: text_or_empty("build_commit", &hello.build_commit)?,
        build_profile: text_or_empty("build_profile", &hello.build_profile)?,
        cores: text_or_empty("cores", &hello.cores)?,
        quiet_slots: match hello.quiet_slots {
            Some(quiet) => {
                Some(in_range("quiet_slots", quiet.into(), 0, hello.slots.into())? as u32)
            }
            None => None,
        },
        cpu_quota: CpuQuota::new(
            number("cpu_quota_us", hello.cpu_quota_us)?,
            number("cpu_period_us", hello.cpu_period_us)?,
        ),
        labels: labels::labels(&hello.labels)?,
    })
}

/// Checks the length of an arbitrary text.
///
/// # Errors
/// If it is longer than `max` bytes.
pub fn check_length(field: &str, value: &str, max: usize) -> Result<(), WireError> {
    text(field, value, max).map(drop)
}

/// The bytes that a result takes in a report.
#[must_use]
pub fn encoded_len(result: &v1::Result) -> usize {
    // The length before it and the field's tag take at most six bytes.
    prost::Message::encoded_len(result) + 6
}

/// Parses a UUID, in any of its usual forms.
///
/// # Errors
/// If it is invalid.
pub fn uuid(field: &str, text: &str) -> Result<Uuid, WireError> {
    Uuid::try_parse(text).map_err(|_| WireError::new(field, Fault::NotAUuid))
}

/// Checks a number of playing threads.
///
/// # Errors
/// If it is 0 or beyond [`SLOTS_MAX`].
pub fn slots(slots: u32) -> Result<u32, WireError> {
    in_range("slots", slots.into(), 1, SLOTS_MAX.into())?;
    Ok(slots)
}

/// Parses the SHA-256 of a definition.
///
/// # Errors
/// If it is not 32 bytes long.
pub fn definition_hash(bytes: &[u8]) -> Result<DefinitionHash, WireError> {
    bytes
        .try_into()
        .map(DefinitionHash)
        .map_err(|_| WireError::new("definition_hash", Fault::NotAHash { bytes: bytes.len() }))
}

/// One reported result.
#[derive(Clone, Debug, PartialEq)]
pub struct Reported {
    /// The lease it was played under.
    pub lease: LeaseId,
    /// The game.
    pub game: GameId,
    /// The outcome of the game.
    pub what: ReportedWhat,
}

/// The outcome of a reported game.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly all of them are the large one")]
pub enum ReportedWhat {
    /// It was played; the record, checked.
    Played(PlayedGame),
    /// It was a training; the well-formed result.
    Trained(Box<FinishedTraining>),
    /// It was a verification and was played; the checked record, not compared yet.
    Verified(Box<PlayedVerification>),
    /// The reported record breaks the rules. No message states it: the coordinator finds out.
    Irregular {
        /// The engine that played it.
        engine_revision: u32,
        /// The record as received: a [`v1::Game`] or [`v1::Training`], encoded.
        record: Vec<u8>,
        /// The problem with it.
        problem: String,
    },
    /// It could not be played.
    Failed {
        /// The engine that failed.
        engine_revision: u32,
        /// The reason.
        message: String,
    },
}

/// Parses a report's results.
///
/// # Errors
/// The first field that is malformed.
pub fn results(results: Vec<v1::Result>) -> Result<Vec<Reported>, WireError> {
    at_most("results", results.len(), REPORT_RESULTS_MAX)?;
    let mut read = Vec::with_capacity(results.len());
    for (place, result) in results.into_iter().enumerate() {
        let result =
            reported(result).map_err(|error| error.within(format_args!("results[{place}]")))?;
        read.push(result);
    }
    Ok(read)
}

fn reported(result: v1::Result) -> Result<Reported, WireError> {
    let lease = LeaseId(id("lease_id", result.lease_id)?);
    let what = result.what.ok_or_else(|| WireError::new("what", Fault::Missing))?;
    let (game, what) = match what {
        v1::result::What::Game(played) => {
            let played = game::from_wire(played).map_err(|error| error.within("game"))?;
            (played.game, ReportedWhat::Played(played))
        }
        v1::result::What::Training(trained) => {
            let trained = training::from_wire(trained).map_err(|error| error.within("training"))?;
            (trained.task, ReportedWhat::Trained(Box::new(trained)))
        }
        v1::result::What::Verification(played) => {
            let played = game::from_wire(played).map_err(|error| error.within("verification"))?;
            let (task, difference) = (played.game, None);
            (task, ReportedWhat::Verified(Box::new(PlayedVerification { played, difference })))
        }
        v1::result::What::FailedGame(failed) => {
            failed_game(failed).map_err(|error| error.within("failed_game"))?
        }
    };
    Ok(Reported { lease, game, what })
}

fn failed_game(failed: v1::FailedGame) -> Result<(GameId, ReportedWhat), WireError> {
    let game = game_id(failed.cell_id, failed.number)?;
    in_range("engine_revision", failed.engine_revision.into(), 1, u32::MAX.into())?;
    text("message", &failed.message, FAILURE_BYTES_MAX)?;
    let what =
        ReportedWhat::Failed { engine_revision: failed.engine_revision, message: failed.message };
    Ok((game, what))
}

/// Parses a list of leases.
///
/// # Errors
/// If there are too many, or one is not a valid id.
pub fn lease_ids(ids: &[i64]) -> Result<Vec<LeaseId>, WireError> {
    at_most("lease_ids", ids.len(), LEASES_MAX)?;
    ids.iter().map(|&lease| id("lease_ids", lease).map(LeaseId)).collect()
}

/// Parses the games that a worker is playing.
///
/// # Errors
/// If there are too many, or one is malformed.
pub fn playing(games: &[v1::GameId]) -> Result<Vec<GameId>, WireError> {
    at_most("playing", games.len(), SLOTS_MAX as usize)?;
    games
        .iter()
        .map(|game| game_id(game.cell_id, game.number).map_err(|error| error.within("playing")))
        .collect()
}

/// A lease as its worker receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The lease.
    pub lease: LeaseId,
    /// The time it lives without a heartbeat that names it.
    pub duration: Duration,
    /// Its games.
    pub games: Vec<LeasedGames>,
}

/// Successive games of one cell in a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeasedGames {
    /// The numbers of the games.
    pub range: GameRange,
    /// Their cell's definition.
    pub definition: DefinitionHash,
    /// A game that takes longer is abandoned and fails; in whole milliseconds. It affects no move:
    /// a game has its regular result, or none.
    pub game_timeout: Option<Duration>,
    /// Whether each must be named in a heartbeat before it is played.
    pub name_before_play: bool,
    /// Whether they are to be played on exclusive slots, if there are any.
    pub timed: bool,
    /// The scaling of their players' time limits, if any.
    pub scaling: Option<Scaling>,
}

impl From<Grant> for v1::Grant {
    fn from(grant: Grant) -> Self {
        Self {
            lease_id: grant.lease.0,
            duration_ms: u64::try_from(grant.duration.as_millis()).unwrap_or(NUMBER_MAX),
            games: grant
                .games
                .into_iter()
                .map(|games| v1::LeasedGames {
                    cell_id: games.range.cell.0,
                    definition_hash: games.definition.0.to_vec(),
                    first_number: games.range.first,
                    count: games.range.count,
                    game_timeout_ms: games.game_timeout.map_or(0, |timeout| {
                        // Rounded up: a fraction of a millisecond must not become 0, which means no limit.
                        u64::try_from(timeout.as_micros().div_ceil(1_000)).unwrap_or(NUMBER_MAX)
                    }),
                    name_before_play: games.name_before_play,
                    timed: games.timed,
                    scale: games.scaling.map(speeds::scaling_to_wire),
                })
                .collect(),
        }
    }
}

impl TryFrom<v1::Grant> for Grant {
    type Error = WireError;

    fn try_from(grant: v1::Grant) -> Result<Self, WireError> {
        at_most("games", grant.games.len(), LEASE_RANGES_MAX)?;
        let games = grant
            .games
            .iter()
            .enumerate()
            .map(|(place, leased)| {
                leased_games(leased).map_err(|error| error.within(format_args!("games[{place}]")))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            lease: LeaseId(id("lease_id", grant.lease_id)?),
            duration: Duration::from_millis(number("duration_ms", grant.duration_ms)?),
            games,
        })
    }
}

/// Parses the definitions that are sent along with a lease.
///
/// # Errors
/// If there are too many, or one has no valid hash.
pub fn leased_cells(
    cells: Vec<v1::LeasedCell>,
) -> Result<Vec<(DefinitionHash, v1::GetCellResponse)>, WireError> {
    at_most("cells", cells.len(), LEASE_RANGES_MAX)?;
    let mut bytes = 0;
    let mut read = Vec::with_capacity(cells.len());
    for (place, cell) in cells.into_iter().enumerate() {
        let cell = leased_cell(cell, &mut bytes);
        read.push(cell.map_err(|error| error.within(format_args!("cells[{place}]")))?);
    }
    Ok(read)
}

/// Parses a definition that is sent along, and adds its length to that of those before.
fn leased_cell(
    v1::LeasedCell { definition_hash: hash, cell }: v1::LeasedCell,
    bytes: &mut usize,
) -> Result<(DefinitionHash, v1::GetCellResponse), WireError> {
    let cell = cell.ok_or_else(|| WireError::new("cell", Fault::Missing))?;
    *bytes += cell.definition_json.len();
    if *bytes > LEASE_DEFINITIONS_BYTES_MAX {
        let fault = Fault::TooLong { bytes: *bytes, max: LEASE_DEFINITIONS_BYTES_MAX };
        return Err(WireError::new("cell.definition_json", fault));
    }
    Ok((definition_hash(&hash)?, cell))
}

fn scaling(scale: v1::TimeScale) -> Result<Scaling, WireError> {
    speeds::scaling(scale).map_err(|error| error.within("scale"))
}

fn leased_games(leased: &v1::LeasedGames) -> Result<LeasedGames, WireError> {
    let first = number("first_number", leased.first_number)?;
    let range = GameRange {
        cell: CellId(id("cell_id", leased.cell_id)?),
        first,
        count: in_range("count", leased.count, 1, NUMBER_MAX - first)?,
    };
    let timeout_ms = number("game_timeout_ms", leased.game_timeout_ms)?;
    Ok(LeasedGames {
        range,
        definition: definition_hash(&leased.definition_hash)?,
        game_timeout: (timeout_ms > 0).then(|| Duration::from_millis(timeout_ms)),
        name_before_play: leased.name_before_play,
        timed: leased.timed,
        scaling: leased.scale.map(scaling).transpose()?,
    })
}
