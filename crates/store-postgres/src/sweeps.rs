//! Storing a sweep: a new experiment, or an existing one updated to a changed file.

use std::collections::BTreeMap;

use spelrum_engine::ENGINE_REVISION;
use spelrum_model::change::{
    ALLOCATE, Change, Comparison, DroppedCell, PLACEMENT, StoredCell, StoredDefinition,
    StoredExperiment, place_mark,
};
use spelrum_model::claims::{ClaimStanding, KnownClaim, Restated, Restatement};
use spelrum_model::{AxisValue, CellId, ExperimentId, ExperimentState, Plan};
use spelrum_store::decisions::{
    Candidate, awaits_builds, becomes, check_change, count, integer, safe, state_of,
};
use spelrum_store::{StoreError, Submitted, Sweep};

use crate::cells::{self, Cell, cells, places};
use crate::numbers::{number, small};
use crate::settings;
use crate::transaction::PgTransaction;
use crate::{experiments, parts, scheduling, tasks};

/// Stores a sweep. A refusal leaves the transaction as it was, still usable.
pub(crate) async fn submit(
    tx: &mut PgTransaction<'_>,
    sweep: Sweep<'_>,
) -> Result<Submitted, StoreError> {
    run!(tx, "SAVEPOINT submit");
    let submitted = store_sweep(tx, sweep).await;
    if submitted.is_err() {
        run!(tx, "ROLLBACK TO SAVEPOINT submit");
    }
    run!(tx, "RELEASE SAVEPOINT submit");
    submitted
}

async fn store_sweep(
    tx: &mut PgTransaction<'_>,
    sweep: Sweep<'_>,
) -> Result<Submitted, StoreError> {
    let name = (!sweep.new_experiment && sweep.fills.is_none()).then_some(&sweep.plan.name);
    let found = first!(
        tx,
        (i64, String, String, String, i64, bool, bool),
        "SELECT e.experiment_id, e.uuid, e.state, e.sweep_toml, e.engine_revision, e.course IS NOT NULL,
            v.uuid IS NOT NULL
        FROM experiments AS e
        LEFT JOIN sweep_versions AS v ON v.experiment_id = e.experiment_id AND v.uuid = $1
        WHERE v.uuid IS NOT NULL OR e.name = $2 OR e.uuid = $3
        ORDER BY v.uuid IS NULL, e.state NOT IN ('running', 'paused'), e.experiment_id DESC
        LIMIT 1",
        sweep.uuid,
        name,
        sweep.fills
    );
    let Some((id, uuid, state, toml, engine_revision, has_course, repeated)) = found else {
        return match sweep.fills {
            Some(_) => Err(StoreError::Missing { what: "an experiment" }),
            None => begin(tx, sweep).await,
        };
    };
    let files = files(tx, id).await?;
    let candidate = Candidate {
        state: state_of(&state),
        repeated: repeated || (sweep.fills.is_some() && !awaits_builds(&toml)),
        same_text: (toml == sweep.toml && files == *sweep.files)
            || (has_course && sweep.asks_what_did(&toml, files)),
        engine_revision: small(engine_revision),
        has_course,
    };
    if becomes(&sweep.plan.name, candidate)? {
        return grow(tx, sweep, id, uuid, candidate.state).await;
    }
    let games = value!(
        tx,
        i64,
        "SELECT coalesce(sum(coalesce(stop_number, games_planned)), 0)::bigint FROM cells
        WHERE experiment_id = $1 AND in_sweep = 1",
        id
    );
    Ok(Submitted {
        experiment: ExperimentId(id),
        uuid,
        existed: true,
        change: None,
        tell: false,
        cells: Vec::new(),
        attempts: Vec::new(),
        games: number(games),
        claims: claims(tx, id).await?.into_iter().map(|(_, known)| known.into()).collect(),
    })
}

async fn begin(tx: &mut PgTransaction<'_>, sweep: Sweep<'_>) -> Result<Submitted, StoreError> {
    let Sweep { uuid, plan, .. } = sweep;
    let (seed, now) = (safe("the sweep's seed", plan.seed)?, tx.now_unix_us);
    let id = tx.take_ids("experiments", 1).await?;
    run!(
        tx,
        "INSERT INTO experiments (experiment_id, uuid, name, game, seed, state, sweep_toml, engine_revision,
            submitted_unix_us, kind)
        VALUES ($1, $2, $3, $4, $5, 'running', '', $6, $7, $8)",
        id,
        uuid,
        &plan.name,
        &plan.game,
        seed,
        i64::from(ENGINE_REVISION),
        now,
        plan.task().experiments(),
    );
    let numbers: Vec<usize> = (0..plan.cells.len()).collect();
    let mut cells = parts::cells(tx, id, plan, &numbers, 0, None).await?;
    cells.extend(tasks::add_trainings(tx, id, plan).await?);
    let games = plan.games();
    let cells_added = plan.cells.len() as u64;
    become_what(tx, id, sweep, &Change { cells_added, games_to_play: games, ..Change::default() })
        .await?;
    let claims = state_claims(tx, id, plan).await?;
    Ok(Submitted {
        experiment: ExperimentId(id),
        uuid: uuid.to_owned(),
        existed: false,
        change: None,
        tell: true,
        cells: cells::some_states(tx, id, &cells).await?,
        attempts: Vec::new(),
        games,
        claims,
    })
}

async fn grow(
    tx: &mut PgTransaction<'_>,
    sweep: Sweep<'_>,
    id: i64,
    uuid: String,
    state: ExperimentState,
) -> Result<Submitted, StoreError> {
    let plan = sweep.plan;
    let comparison = compare(tx, id, plan).await?;
    check_change(&comparison, &plan.name)?;
    let touched = grow_cells(tx, id, plan, &comparison).await?;
    let rules_differ = comparison.rules_differ();
    let change = comparison.change;
    become_what(tx, id, sweep, &change).await?;
    let claims = state_claims(tx, id, plan).await?;
    let was_finished = state == ExperimentState::Finished;
    // Only the scheduler determines where cells end by another rule.
    let tell = !was_finished || change.games_to_play > 0 || rules_differ;
    let (mut cells, mut attempts) = (Vec::new(), Vec::new());
    if !was_finished {
        cells = if change.has_changed(PLACEMENT) {
            cells::states_of(tx, id).await?
        } else {
            cells::some_states(tx, id, &touched).await?
        };
        // The scheduler already has their returned games.
        cells.iter_mut().for_each(|cell| cell.returned.clear());
    } else if tell {
        experiments::set_state(tx, ExperimentId(id), ExperimentState::Running).await?;
        cells = cells::states_of(tx, id).await?;
        attempts = scheduling::open_attempts(tx, Some(id)).await?;
    }
    Ok(Submitted {
        experiment: ExperimentId(id),
        uuid,
        existed: true,
        games: change.games_kept + change.games_to_play,
        change: Some(change),
        tell,
        cells,
        attempts,
        claims,
    })
}

/// Stores the outcome of a comparison; returns the cells that are new to the scheduler, or different.
async fn grow_cells(
    tx: &mut PgTransaction<'_>,
    id: i64,
    plan: &Plan,
    comparison: &Comparison<'_>,
) -> Result<Vec<i64>, StoreError> {
    let mut touched = Vec::new();
    let is_all = comparison.change.has_changed(ALLOCATE);
    // Each with its number in the plan, its games, whether it is timed and superseded, and its players' names.
    let mut changed: Vec<(i64, usize, i64, bool, bool, [String; 2])> = Vec::new();
    for known in &comparison.known {
        let new = &plan.cells[known.number];
        let names = new.player_names.each_ref().map(|name| name.to_string());
        let games = safe("a cell's games", known.games)?;
        changed.push((known.cell.0, known.number, games, new.timed, false, names));
        touched.extend((is_all || known.work_differs).then_some(known.cell.0));
    }
    let dropped: Vec<i64> = comparison.dropped.iter().map(|dropped| dropped.cell.0).collect();
    touched.extend(&dropped);
    for kept in &comparison.superseded {
        let games = safe("a cell's games", kept.games())?;
        let cell = kept.cell.cell.0;
        changed.push((cell, kept.number, games, kept.cell.timed, true, kept.names.clone()));
        touched.extend((!kept.cell.is_superseded).then_some(cell));
    }
    run!(tx, "UPDATE cells SET in_sweep = 0, superseded = 0 WHERE cell_id = ANY($1)", dropped,);
    // The results so far of a cell may be why it has another end.
    run!(
        tx,
        "UPDATE cells SET number = j.number, games_planned = j.games, timed = j.timed, in_sweep = 1,
            superseded = j.superseded, first_player_name = j.first_name, second_player_name = j.second_name,
            games_planned_first = CASE
                WHEN games_planned_first IS NULL AND games_planned <> j.games AND j.superseded = 0 AND EXISTS (
                    SELECT 1 FROM games AS g WHERE g.cell_id = cells.cell_id AND g.counted = 1)
                THEN games_planned ELSE games_planned_first END
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::smallint[], $5::smallint[], $6::text[],
            $7::text[]) AS j (cell_id, number, games, timed, superseded, first_name, second_name)
        WHERE cells.cell_id = j.cell_id",
        changed.iter().map(|cell| cell.0).collect::<Vec<i64>>(),
        changed.iter().map(|cell| count(cell.1)).collect::<Vec<i64>>(),
        changed.iter().map(|cell| cell.2).collect::<Vec<i64>>(),
        changed.iter().map(|cell| i16::from(cell.3)).collect::<Vec<i16>>(),
        changed.iter().map(|cell| i16::from(cell.4)).collect::<Vec<i16>>(),
        changed.iter().map(|cell| cell.5[0].clone()).collect::<Vec<String>>(),
        changed.iter().map(|cell| cell.5[1].clone()).collect::<Vec<String>>(),
    );
    let placed: Vec<(i64, usize)> = changed.iter().map(|cell| (cell.0, cell.1)).collect();
    parts::place(tx, plan, &placed).await?;
    if !comparison.added.is_empty() {
        touched.extend(parts::cells(tx, id, plan, &comparison.added, 0, None).await?);
        touched.extend(tasks::add_trainings(tx, id, plan).await?);
    }
    // A new rule reads cells from the first unit. Those that the previous one ended stay ended until then.
    let others = comparison.known.iter().filter(|known| known.rule_differs);
    let others: Vec<i64> = others.map(|known| known.cell.0).collect();
    let rule = parts::stop_rule(tx, plan.stop).await?;
    run!(
        tx,
        "UPDATE cells SET stop_rule_id = $2, decided_number = 0,
            games_planned_first = CASE
                WHEN EXISTS (SELECT 1 FROM games AS g WHERE g.cell_id = cells.cell_id AND g.counted = 1)
                THEN coalesce(games_planned_first, games_planned) ELSE games_planned_first END
        WHERE cell_id = ANY($1)",
        others,
        rule,
    );
    Ok(touched)
}

async fn compare<'p>(
    tx: &mut PgTransaction<'_>,
    id: i64,
    plan: &'p Plan,
) -> Result<Comparison<'p>, StoreError> {
    let stored = cells!(tx, "c.experiment_id = $1", id);
    let by_hash: BTreeMap<&str, &Cell> =
        stored.iter().map(|cell| (&*cell.definition_hash, cell)).collect();
    let settled = all!(
        tx,
        (i64, i64),
        "SELECT c.cell_id, count(*) FROM cells AS c JOIN games AS g ON g.cell_id = c.cell_id
        WHERE c.experiment_id = $1 AND (c.stop_number IS NULL OR g.number < c.stop_number)
        GROUP BY c.cell_id",
        id
    );
    let settled: BTreeMap<i64, i64> = settled.into_iter().collect();
    let settled = |cell: &Cell| settled.get(&cell.cell_id).copied().map_or(0, number);
    let places = places(tx, id, true).await?;
    let place = |cell: i64| places.get(&cell).map_or(&[][..], Vec::as_slice);
    let rule = parts::stop_rule(tx, plan.stop).await?;
    let mut comparison = Comparison::new(plan);
    comparison.see(plan.cells.iter().map(|cell| {
        let there = by_hash.get(&*cell.definition_hash.to_string())?;
        Some(StoredCell {
            cell: CellId(there.cell_id),
            number: number(there.number),
            games_planned: there.games_planned,
            next_number: there.next_number,
            in_sweep: there.in_sweep && !there.superseded,
            timed: there.timed,
            player_names: there.names(),
            games_settled: settled(there),
            place: place_mark(place(there.cell_id).iter().map(|(axis, value)| (&**axis, value))),
            stop_number: there.stop_number(),
            has_plans_rule: there.stop_rule_id == rule,
        })
    }));
    let (axes, anchors) = axes_and_anchors(tx, id).await?;
    let named = || stored.iter().filter(|cell| cell.in_sweep);
    let superseded = named().filter(|cell| cell.superseded).count() as u64;
    let still_named = named().count() as u64 - superseded;
    if comparison.count(stored.len() as u64, still_named, superseded) {
        let dropped = named().map(|cell| DroppedCell {
            cell: CellId(cell.cell_id),
            games: cell.games_planned,
            next_number: cell.next_number,
            games_settled: settled(cell),
            swap_sides: cell.swap_sides,
            timed: cell.timed,
            is_superseded: cell.superseded,
            engines: cell.engines().iter().any(Option::is_some).then(|| StoredDefinition {
                prefix: cell.definition_prefix.clone(),
                players: [cell.first_json.clone(), cell.second_json.clone()],
            }),
        });
        comparison.drop_all_but_known(dropped.collect());
        for dropped in comparison.dropped_examples() {
            let cell = stored.iter().find(|cell| cell.cell_id == dropped.0);
            let names = cell.map(Cell::names).unwrap_or_default();
            comparison.name_dropped(dropped, axes_text(&axes, place(dropped.0)), names);
        }
    }
    comparison.see_settings(&StoredExperiment {
        settings: settings::read(tx, id).await?,
        axes,
        anchors,
        definition_prefixes: named().map(|cell| cell.definition_prefix.clone()).collect(),
    });
    Ok(comparison)
}

/// A cell's place on these axes, as text for people.
fn axes_text(axes: &[String], place: &[(String, AxisValue)]) -> String {
    let text = |axis: &String| {
        let (_, value) = place.iter().find(|(name, _)| name == axis)?;
        Some(format!("{axis}={}", value.text))
    };
    axes.iter().filter_map(text).collect::<Vec<_>>().join(", ")
}

async fn axes_and_anchors(
    tx: &mut PgTransaction<'_>,
    id: i64,
) -> Result<(Vec<String>, Vec<String>), StoreError> {
    let axes = "SELECT axis FROM experiment_axes WHERE experiment_id = $1 ORDER BY number";
    let anchors = "SELECT player FROM experiment_anchors WHERE experiment_id = $1 ORDER BY number";
    let axes = all!(tx, (String,), axes, id).into_iter().map(|(axis,)| axis).collect();
    let anchors = all!(tx, (String,), anchors, id).into_iter().map(|(player,)| player).collect();
    Ok((axes, anchors))
}

/// The files that an experiment's sweep names.
pub(crate) async fn files(
    tx: &mut PgTransaction<'_>,
    id: i64,
) -> Result<BTreeMap<String, String>, StoreError> {
    let files = "SELECT name, text FROM experiment_files WHERE experiment_id = $1";
    Ok(all!(tx, (String, String), files, id).into_iter().collect())
}

/// Sets an experiment's text, files, settings, axes and anchors, and records the version.
async fn become_what(
    tx: &mut PgTransaction<'_>,
    id: i64,
    sweep: Sweep<'_>,
    change: &Change,
) -> Result<(), StoreError> {
    let Sweep { uuid, toml, files, plan, .. } = sweep;
    settings::write(tx, id, toml, &plan.settings).await?;
    run!(tx, "DELETE FROM experiment_axes WHERE experiment_id = $1", id);
    run!(tx, "DELETE FROM experiment_anchors WHERE experiment_id = $1", id);
    run!(tx, "DELETE FROM experiment_files WHERE experiment_id = $1", id);
    run!(
        tx,
        "INSERT INTO experiment_axes (experiment_id, axis, number)
        SELECT $1, axis, number - 1 FROM unnest($2::text[]) WITH ORDINALITY AS j (axis, number)",
        id,
        plan.axes.iter().map(|axis| axis.name.to_string()).collect::<Vec<String>>(),
    );
    run!(
        tx,
        "INSERT INTO experiment_anchors (experiment_id, player, number)
        SELECT $1, player, number - 1 FROM unnest($2::text[]) WITH ORDINALITY AS j (player, number)",
        id,
        &plan.anchors,
    );
    run!(
        tx,
        "INSERT INTO experiment_files (experiment_id, name, text)
        SELECT $1, * FROM unnest($2::text[], $3::text[])",
        id,
        files.keys().collect::<Vec<_>>(),
        files.values().collect::<Vec<_>>(),
    );
    let now = tx.now_unix_us;
    run!(
        tx,
        "INSERT INTO sweep_versions (experiment_id, version, uuid, sweep_toml, submitted_unix_us, cells_kept,
            cells_continued, cells_added, cells_returned, cells_dropped, games_kept, games_to_play)
        SELECT $1, coalesce(max(version), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
        FROM sweep_versions WHERE experiment_id = $1",
        id,
        uuid,
        toml,
        now,
        integer(change.cells_kept),
        integer(change.cells_continued),
        integer(change.cells_added),
        integer(change.cells_returned),
        integer(change.cells_dropped),
        integer(change.games_kept),
        integer(change.games_to_play),
    );
    Ok(())
}

/// An experiment's claims with their ids, in their order.
async fn claims(tx: &mut PgTransaction<'_>, id: i64) -> Result<Vec<(i64, KnownClaim)>, StoreError> {
    let found = all!(
        tx,
        (i64, String, String, bool, bool),
        "SELECT claim_id, text, hash, exploratory = 1, in_sweep = 1 FROM claims
        WHERE experiment_id = $1 ORDER BY number",
        id
    );
    let known = |(claim, text, hash, is_late, in_sweep): (i64, String, String, bool, bool)| {
        let hash = hash.parse().map_err(|_| StoreError::Missing { what: "a claim's hash" })?;
        Ok((claim, KnownClaim { text, hash, is_late, in_sweep }))
    };
    found.into_iter().map(known).collect()
}

/// Sets an experiment's claims to those of a plan whose cells are stored.
async fn state_claims(
    tx: &mut PgTransaction<'_>,
    id: i64,
    plan: &Plan,
) -> Result<Vec<ClaimStanding>, StoreError> {
    let claims = claims(tx, id).await?;
    if claims.is_empty() && plan.claims.is_empty() {
        return Ok(Vec::new());
    }
    // What was taken out since has been seen.
    let has_settled = value!(
        tx,
        bool,
        "SELECT EXISTS (SELECT 1 FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
                WHERE c.experiment_id = $1)
            OR EXISTS (SELECT 1 FROM uncounted_games AS u JOIN cells AS c ON c.cell_id = u.cell_id
                WHERE c.experiment_id = $1 AND u.reason IN ('disturbed', 'excluded'))",
        id
    );
    let known: Vec<KnownClaim> = claims.iter().map(|(_, known)| known.clone()).collect();
    let restatement = Restatement::new(plan, &known, has_settled);
    let rule = plan.stop.map(|rule| rule.to_string());
    for ((claim, _), (becomes, stated)) in claims.iter().zip(&restatement.known) {
        if *becomes == Restated::Withdrawn {
            run!(tx, "DELETE FROM claims WHERE claim_id = $1", claim);
            continue;
        }
        let in_sweep = i16::from(*becomes == Restated::Again);
        run!(tx, "UPDATE claims SET in_sweep = $2 WHERE claim_id = $1", claim, in_sweep);
        // Before the first game, a claim covers the current cells.
        if let Some(stated) = stated.filter(|_| !has_settled) {
            run!(tx, "DELETE FROM claim_cells WHERE claim_id = $1", claim);
            run!(tx, "UPDATE claims SET stop_rule = $2 WHERE claim_id = $1", claim, &rule);
            claim_cells(tx, id, *claim, plan, stated).await?;
        }
    }
    for added in &restatement.added {
        let (claim, now) = (&plan.claims[added.claim], tx.now_unix_us);
        let claim = value!(
            tx,
            i64,
            "INSERT INTO claims (experiment_id, number, text, definition_json, hash, submitted_unix_us,
                exploratory, in_sweep, stop_rule)
            SELECT $1, coalesce(max(number) + 1, 0), $2, $3, $4, $5, $6, 1, $7
            FROM claims WHERE experiment_id = $1
            RETURNING claim_id",
            id,
            &claim.text,
            &added.definition_json,
            added.hash.to_string(),
            now,
            i16::from(added.is_late),
            &rule
        );
        claim_cells(tx, id, claim, plan, added.claim).await?;
    }
    Ok(restatement.standings(plan, &known))
}

/// Stores the cells of a plan's claim, with the games planned for them now.
async fn claim_cells(
    tx: &mut PgTransaction<'_>,
    id: i64,
    claim: i64,
    plan: &Plan,
    stated: usize,
) -> Result<(), StoreError> {
    let cells = &plan.claims[stated].cells;
    let hash = |cell: usize| plan.cells[cell].definition_hash.to_string();
    run!(
        tx,
        "INSERT INTO claim_cells (claim_id, number, cell_id, player, games)
        SELECT $2, j.number - 1, c.cell_id, j.player, c.games_planned
        FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS j (hash, player, number)
        JOIN cells AS c ON c.definition_hash = j.hash AND c.experiment_id = $1",
        id,
        claim,
        cells.iter().map(|claimed| hash(claimed.cell)).collect::<Vec<String>>(),
        cells.iter().map(|claimed| claimed.player.name()).collect::<Vec<&str>>(),
    );
    Ok(())
}
