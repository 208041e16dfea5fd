//! Removing experiments, or their moves.
//!
//! A removal is carried out in one step: it need not be small for the file's sake, as in SQLite, but the writer waits
//! for it.

use spelrum_answers::Removing;
use spelrum_model::ExperimentId;
use spelrum_store::decisions::integer;
use spelrum_store::{Removed, StoreError};

use crate::transaction::PgTransaction;

/// Begins a removal. Repeating it changes nothing; one of the moves becomes one of everything.
pub(crate) async fn begin(
    tx: &mut PgTransaction<'_>,
    experiment: ExperimentId,
    what: Removing,
    games: u64,
) -> Result<(), StoreError> {
    let now = tx.now_unix_us;
    run!(
        tx,
        "INSERT INTO removals (experiment_id, experiment, what, requested_unix_us, games)
        SELECT experiment_id, name, $2, $3, $4 FROM experiments WHERE experiment_id = $1
        ON CONFLICT (experiment_id) DO UPDATE SET what = excluded.what",
        experiment.0,
        what.name(),
        now,
        integer(games),
    );
    match what {
        Removing::Everything => run!(
            tx,
            "UPDATE experiments SET uuid = 'removed ' || experiment_id, name = '', state = 'cancelled'
            WHERE experiment_id = $1",
            experiment.0,
        ),
        Removing::Moves => run!(
            tx,
            "UPDATE experiments SET record = 'games', pruned_unix_us = $2 WHERE experiment_id = $1",
            experiment.0,
            now,
        ),
    };
    Ok(())
}

/// Carries out a removal.
pub(crate) async fn remove_some(tx: &mut PgTransaction<'_>) -> Result<Removed, StoreError> {
    let next = first!(
        tx,
        (i64, String),
        "SELECT experiment_id, what FROM removals ORDER BY experiment_id LIMIT 1"
    );
    let Some((experiment, what)) = next else { return Ok(Removed::Nothing) };
    run!(tx, "DELETE FROM removals WHERE experiment_id = $1", experiment);
    if what == Removing::Moves.name() {
        run!(
            tx,
            "DELETE FROM moves WHERE game_id IN (
                SELECT g.game_id FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
                WHERE c.experiment_id = $1)",
            experiment,
        );
        run!(
            tx,
            "DELETE FROM move_notes WHERE game_id IN (
                SELECT g.game_id FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
                WHERE c.experiment_id = $1)",
            experiment,
        );
        return Ok(Removed::Some);
    }
    // What refers to the rows that these delete goes with them.
    for sql in [
        "DELETE FROM leases WHERE lease_id IN (SELECT r.lease_id FROM lease_ranges AS r
            JOIN cells AS c ON c.cell_id = r.cell_id WHERE c.experiment_id = $1)",
        "DELETE FROM games WHERE cell_id IN (SELECT cell_id FROM cells WHERE experiment_id = $1)",
        "DELETE FROM uncounted_games WHERE cell_id IN (SELECT cell_id FROM cells WHERE experiment_id = $1)",
        "DELETE FROM claims WHERE experiment_id = $1",
        "DELETE FROM cells WHERE experiment_id = $1",
        "DELETE FROM exclusions WHERE experiment_id = $1",
        "DELETE FROM experiment_axes WHERE experiment_id = $1",
        "DELETE FROM experiment_anchors WHERE experiment_id = $1",
        "DELETE FROM experiment_files WHERE experiment_id = $1",
        "DELETE FROM sweep_versions WHERE experiment_id = $1",
        "DELETE FROM course_notes WHERE experiment_id = $1",
        "DELETE FROM experiments WHERE experiment_id = $1",
    ] {
        run!(tx, sql, experiment);
    }
    Ok(Removed::Some)
}
