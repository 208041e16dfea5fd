//! The store's work beside many experiments, counted in SQLite's instructions: tests that reach into the writer's
//! connection.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use spelrum_model::ExperimentId;
use spelrum_model::ExperimentState;
use spelrum_sweep::{SweepText, plan_sweep};
use sqlx::{AssertSqlSafe, Executor as _};

use crate::contract::WriteTransaction as _;
use crate::open::writer::Writer;
use crate::read::summaries::{STATUS_EXPERIMENTS_MAX, current};
use crate::schema::experiment_views::EXPERIMENTS_WITH_VIEWS_MAX;
use crate::write::submit::{Submitted, Sweep};

async fn submit(writer: &mut Writer, name: &str) -> Submitted {
    let toml = format!(
        "name = \"{name}\"\ngame = \"tic-tac-toe\"\ngames = 2\n\
         [players.a]\nalgorithm = \"random\"\n\
         [players.b]\nalgorithm = \"minimax\"\ndepth = 1\n"
    );
    let plan = plan_sweep(&SweepText::new("test.toml", toml.clone())).unwrap();
    let files = BTreeMap::new();
    let sweep = Sweep {
        uuid: name,
        toml: &toml,
        files: &files,
        plan: &plan,
        new_experiment: false,
        fills: None,
    };
    let mut transaction = writer.begin().await.unwrap();
    let submitted = transaction.submit(sweep).await.unwrap();
    transaction.commit().await.unwrap();
    submitted
}

/// Adds finished experiments that copy the first, except for its views.
async fn copy_first(writer: &mut Writer, copies: u32) {
    let sql = format!(
        "INSERT INTO experiments (uuid, name, description, game, seed, state, priority, record, sweep_toml,
            engine_revision, submitted_unix_us, results_view, times_view)
        WITH RECURSIVE copies (number) AS (
            SELECT max(experiment_id) FROM experiments
            UNION ALL SELECT number + 1 FROM copies LIMIT {copies})
        SELECT 'uuid ' || number, 'copy ' || number, description, game, seed, 'finished', priority, record,
            sweep_toml, engine_revision, submitted_unix_us, 'results_copy_' || number,
            'times_copy_' || number
        FROM copies, experiments AS e WHERE e.experiment_id = 1;
        INSERT INTO sweep_versions (experiment_id, version, uuid, sweep_toml, submitted_unix_us, cells_kept,
            cells_continued, cells_added, cells_returned, cells_dropped, games_kept, games_to_play)
        SELECT experiment_id, 1, uuid, sweep_toml, 0, 0, 0, 1, 0, 0, 0, 2 FROM experiments
        WHERE experiment_id NOT IN (SELECT experiment_id FROM sweep_versions);
        INSERT INTO cells (experiment_id, number, definition_hash, conditions_id, seed, first_player_id,
            second_player_id, first_player_name, second_player_name, openings, games_planned, timed)
        SELECT e.experiment_id, c.number, definition_hash, conditions_id, c.seed, first_player_id,
            second_player_id, first_player_name, second_player_name, openings, games_planned, timed
        FROM experiments AS e JOIN cells AS c ON c.experiment_id = 1
        WHERE e.experiment_id NOT IN (SELECT experiment_id FROM cells)"
    );
    writer.connection.execute(AssertSqlSafe(sql)).await.unwrap();
}

/// Counts the instructions of the writer's connection from here on.
async fn count(writer: &mut Writer) -> Arc<AtomicU64> {
    let count = Arc::new(AtomicU64::new(0));
    let counting = Arc::clone(&count);
    writer.connection.lock_handle().await.unwrap().set_progress_handler(1, move || {
        counting.fetch_add(1, Ordering::Relaxed);
        true
    });
    count
}

#[tokio::test]
async fn a_submit_takes_no_more_beside_many_experiments() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(&directory.path().join("x.db")).await.unwrap();
    for number in 0..=EXPERIMENTS_WITH_VIEWS_MAX {
        submit(&mut writer, &format!("first-{number}")).await;
    }
    let count = count(&mut writer).await;
    let mut instructions = Vec::new();
    for copies in [1, 2_000] {
        copy_first(&mut writer, copies).await;
        for what in ["new", "known"] {
            let before = count.load(Ordering::Relaxed);
            let name = if what == "new" { format!("after-{copies}") } else { "first-7".to_owned() };
            submit(&mut writer, &name).await;
            instructions.push(count.load(Ordering::Relaxed) - before);
        }
        // The known experiment had lost its views, and gets them back.
        submit(&mut writer, &format!("another-after-{copies}")).await;
    }
    let [few_new, few_known, many_new, many_known] = instructions[..] else { unreachable!() };
    assert!(few_new > 1_000, "they are counted: {few_new}");
    assert!(many_new < few_new + few_new / 10, "{few_new} become {many_new}");
    assert!(many_known < few_known + few_known / 10, "{few_known} become {many_known}");
}

/// For experiments that it does not show, `status` reads only their states.
#[tokio::test]
async fn status_is_about_what_is_not_over_and_the_newest() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Writer::open(&directory.path().join("x.db")).await.unwrap();
    let ExperimentId(first) = submit(&mut writer, "first").await.experiment;
    let second = submit(&mut writer, "second").await.experiment;
    let mut transaction = writer.begin().await.unwrap();
    transaction.set_state(second, ExperimentState::Cancelled).await.unwrap();
    transaction.commit().await.unwrap();
    copy_first(&mut writer, STATUS_EXPERIMENTS_MAX).await;
    let count = count(&mut writer).await;
    let (shown, total) = current(&mut writer.connection).await.unwrap();
    let few = count.swap(0, Ordering::Relaxed);
    // The old one is still running; the newest fill the remaining places.
    let ids: Vec<i64> = shown.iter().map(|experiment| experiment.experiment.0).collect();
    let newest = second.0 + 2..=second.0 + i64::from(STATUS_EXPERIMENTS_MAX);
    assert_eq!(ids, std::iter::once(first).chain(newest).collect::<Vec<_>>());
    assert_eq!(total, u64::from(STATUS_EXPERIMENTS_MAX) + 2);
    assert_eq!(shown[0].cells, 1);
    assert_eq!(shown[0].games_planned, 2);

    let more = 2_000;
    copy_first(&mut writer, more).await;
    count.store(0, Ordering::Relaxed);
    let (shown, total) = current(&mut writer.connection).await.unwrap();
    let many = count.load(Ordering::Relaxed);
    assert_eq!(shown.len(), ids.len());
    assert_eq!(shown[0].experiment.0, first);
    assert_eq!(total, u64::from(STATUS_EXPERIMENTS_MAX + more) + 2);
    let each = (many - few) / u64::from(more);
    assert!(each < 30, "{few} become {many}: {each} for each that is not shown");
}
