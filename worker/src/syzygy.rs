//! The machine's Syzygy tables, by which games end (`adjudication.syzygy`).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use spelrum_engine::{Ending, Side, Termination};
use spelrum_syzygy::{Board, Outcome, ProbeError, Tables};

/// The tables of this process: a machine has one set.
static TABLES: OnceLock<Tables> = OnceLock::new();

/// Files that were reported.
static REPORTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Installs the tables for the games that this process plays. Only the first count; returns whether it is these.
pub fn install_syzygy(tables: Tables) -> bool {
    TABLES.set(tables).is_ok()
}

/// How a game ends from a chess position (FEN) by the tables of this process. `None` if there are none, or they do not
/// tell: then the game goes on. A file that cannot be read is logged once.
pub(crate) fn syzygy_ending(position: &str, fifty_moves: bool) -> Option<Ending> {
    let tables = TABLES.get()?;
    let mover = if position.contains(" b ") { Side::Second } else { Side::First };
    let board: Board = position.parse().ok()?;
    let winner = match tables.outcome(&board, fifty_moves) {
        Ok(outcome) => winner(outcome?, mover),
        Err(error) => {
            report(&error);
            return None;
        }
    };
    Some(Ending { winner, termination: Termination::SYZYGY })
}

fn winner(outcome: Outcome, mover: Side) -> Option<Side> {
    match outcome {
        Outcome::Win => Some(mover),
        Outcome::Draw => None,
        Outcome::Loss => Some(mover.other()),
    }
}

fn report(error: &ProbeError) {
    let Some(file) = error.file() else {
        return tracing::debug!("{error}");
    };
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    if reported.insert(file.to_owned()) {
        tracing::error!("{error}; games go on where they need it");
    }
}
