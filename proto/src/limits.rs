//! The bounds of everything on the wire (invariant 9). A sender keeps them so that receivers accept
//! its messages, and a receiver checks them because senders may be wrong.

/// The largest encoded message that both ends decode, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 4 << 20;

/// Every id, seed, key, count and duration on the wire is below this, so that it is exact in JSON,
/// JavaScript and a double.
pub const NUMBER_MAX: u64 = (1 << 53) - 1;

/// Results in one report.
pub const REPORT_RESULTS_MAX: usize = 1_000;

/// Games under way that are followed at once.
pub const FOLLOWED_MAX: usize = 16;

/// Moves of a followed game.
pub const FOLLOWED_MOVES_MAX: usize = 1_000;

/// Plies of one reported game.
pub const PLIES_MAX: usize = 10_000;

/// Playing threads of one worker, and games it plays at one moment.
pub const SLOTS_MAX: u32 = 4_096;

/// Leases named in one heartbeat or handed back in one call: more than the scheduler grants a
/// worker of `SLOTS_MAX` slots.
pub const LEASES_MAX: usize = 4 * SLOTS_MAX as usize;

/// Ranges of games in one lease.
pub const LEASE_RANGES_MAX: usize = 10_000;

/// Definitions sent along with one lease, in bytes.
pub const LEASE_DEFINITIONS_BYTES_MAX: usize = 512 << 10;

/// Logical processors of one machine.
pub const LOGICAL_CORES_MAX: u32 = 1 << 20;

/// A name for people, in bytes.
pub const NAME_BYTES_MAX: usize = 255;

/// A move in its game's notation, in bytes.
pub const MOVE_BYTES_MAX: usize = 64;

/// A position in its game's notation, in bytes.
pub const POSITION_BYTES_MAX: usize = 4_096;

/// The message of a failed game, in bytes.
pub const FAILURE_BYTES_MAX: usize = 4_096;

/// Rows of each kind in a training's report.
pub const TRAINING_ROWS_MAX: usize = 2_048;

/// A sweep file, in bytes.
pub const SWEEP_BYTES_MAX: usize = 1 << 20;

/// Files of one sweep.
pub const SWEEP_FILES_MAX: usize = 64;

/// One file of a sweep, in bytes; a larger book is reduced to the part that the sweep uses.
pub const SWEEP_FILE_BYTES_MAX: usize = 1 << 20;

/// All files of one sweep together, in bytes: with the sweep they fit a message.
pub const SWEEP_FILES_BYTES_MAX: usize = 5 << 19;

/// An SQL statement, in bytes.
pub const SQL_BYTES_MAX: usize = 64 << 10;

/// Rows of one query by default.
pub const QUERY_ROWS_DEFAULT: u32 = 10_000;

/// Experiments in one export.
pub const EXPORT_EXPERIMENTS_MAX: usize = 1_000;

/// The most speeds of a worker, one for each game.
pub const SPEEDS_MAX: usize = 100;

/// The most engines of a worker.
pub const ENGINES_MAX: usize = 100;

/// A piece of a pushed program, in bytes.
pub const PROGRAM_PIECE_BYTES_MAX: usize = 1 << 20;

/// Engines that a worker is asked to build or fetch in one answer.
pub const BUILDS_MAX: usize = 8;
