//! Growing an experiment: random sweeps one after the other, games in between, restarts, against a
//! map from definitions to games.

use spelrum_engine::games::Pentago;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spelrum_engine::Parameters;
use spelrum_model::change::{CellChange, Change};
use spelrum_model::demands::Offer;
use spelrum_model::{
    Allocation, AxisValue, CellDefinition, CellId, DefinitionHash, ExperimentState, GameId,
    GameRange, LeaseId, OpeningsRule, Plan, PlannedAxis, Task, WorkerId,
};
use spelrum_scheduling::scheduler::{
    CellProgress, CellState, Changes, Effect, Event, Policy, Report, Scheduler, Time, Verdict,
};
use spelrum_scheduling::stopping::Points;
use spelrum_store::contract::{Store as _, WriteTransaction as _};
use spelrum_store::{StoreError, Submitted, Sweep, Writer};

use crate::fixture::{
    Store, add_cell, add_cell_of, alpha_beta, empty_plan, game, genetic, introduction, plan, rows,
    sweep, text,
};

/// A plan with these cells: depth and games.
fn with_cells(cells: &[(i64, u64)]) -> Plan {
    let mut plan = empty_plan("small");
    for &(depth, games) in cells {
        add_cell(&mut plan, ["ab", "gm"], [alpha_beta(depth), genetic(depth)], depth, games);
    }
    plan
}

/// Submits a plan under its own text.
async fn grow(store: &mut Store, text: &str, plan: &Plan) -> Result<Submitted, StoreError> {
    let mut transaction = store.writer.begin().await.unwrap();
    let uuid = format!("uuid of {text}");
    let submitted = transaction.submit(sweep(&uuid, text, plan)).await?;
    transaction.commit().await.unwrap();
    Ok(submitted)
}

/// A sweep that is refused when half of it is stored leaves nothing of that half, though its transaction
/// goes on and is committed with what others asked for.
#[tokio::test]
async fn a_refused_sweep_leaves_no_half_of_it() {
    let mut store = Store::with(&with_cells(&[(1, 20)])).await;
    let counts = "SELECT (SELECT count(*) FROM experiments) || ' ' || (SELECT count(*) FROM cells)
        || ' ' || (SELECT count(*) FROM players) || ' ' || (SELECT count(*) FROM sweep_versions)";
    let before = store.texts(counts).await;
    let too_large = |name: &str| {
        let mut plan = with_cells(&[(1, 20), (2, 1 << 53)]);
        name.clone_into(&mut plan.name);
        plan
    };
    for plan in [too_large("another"), too_large("small")] {
        let mut transaction = store.writer.begin().await.unwrap();
        let error = transaction.submit(sweep("uuid-2", "text 2", &plan)).await.unwrap_err();
        assert!(matches!(error, StoreError::TooLarge { .. }), "{error:?}");
        transaction.introduce(&introduction("somebody else")).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(store.texts(counts).await, before);
        assert_eq!(store.integer("SELECT count(*) FROM workers").await, 2);
    }
    grow(&mut store, "text 3", &with_cells(&[(1, 20), (2, 20)])).await.unwrap();
}

#[tokio::test]
async fn a_changed_sweep_keeps_what_it_still_names() {
    let mut store = Store::with(&with_cells(&[(1, 20), (2, 20), (3, 20)])).await;
    let cells: Vec<CellId> = (0..3).map(|index| store.cell(index)).collect();
    for &cell in &cells {
        let games: Vec<_> = (0..4).map(|number| game(cell, number, number)).collect();
        store.store(&games).await;
    }
    let mut changed = with_cells(&[(4, 10), (2, 30), (1, 20)]);
    changed.settings.description = "another question".to_owned();
    changed.anchors = vec!["gm".to_owned()];
    let readers = store.writer.readers();
    let preview = readers.preview(sweep("uuid-2", "text 2", &changed)).await.unwrap();
    assert_eq!(preview.games_left, [10, 26, 16]);
    assert_eq!(store.integer("SELECT count(*) FROM cells").await, 3, "a preview changes nothing");

    let grown = grow(&mut store, "text 2", &changed).await.unwrap();
    let change = grown.change.clone().unwrap();
    assert_eq!(preview.change.as_ref(), Some(&change));
    let examples: Vec<String> = change
        .examples
        .iter()
        .map(|example| {
            let (what, axes, settled, planned) =
                (example.change, &example.axes, example.games_settled, example.games_planned);
            format!(
                "{what:?} {axes} {} - {} {settled} of {planned}",
                example.player, example.opponent
            )
        })
        .collect();
    assert_eq!(
        examples,
        [
            "Continued depth=2 ab - gm 4 of 30",
            "Added depth=4 ab - gm 0 of 10",
            "Dropped depth=3 ab - gm 4 of 20",
        ]
    );
    let expected = Change {
        cells_kept: 2,
        cells_continued: 1,
        cells_added: 1,
        cells_dropped: 1,
        games_kept: 8,
        games_to_play: 52,
        games_dropped: 4,
        settings_changed: vec!["description".into(), "anchors".into()],
        examples: change.examples.clone(),
        ..Change::default()
    };
    assert_eq!(change, expected);
    assert!(grown.existed && grown.tell);
    let states: Vec<_> =
        grown.cells.iter().map(|cell| (cell.cell, cell.in_sweep, cell.games)).collect();
    // The cell of depth 1 is as it was.
    assert_eq!(states, [(cells[1], true, 30), (cells[2], false, 20), (CellId(4), true, 10)]);
    assert_eq!(
        store.texts("SELECT axes || ' ' || games FROM results ORDER BY cell_number").await,
        ["depth=4 0", "depth=2 4", "depth=1 4"]
    );
    assert_eq!(store.integer("SELECT count(*) FROM results_small").await, 3);
    assert_eq!(store.integer("SELECT count(*) FROM game_players").await, 16);
    assert_eq!(store.texts("SELECT description FROM experiments").await, ["another question"]);
    assert_eq!(store.texts("SELECT player FROM experiment_anchors").await, ["gm"]);
    assert_eq!(
        store.texts("SELECT version || ' ' || sweep_toml FROM sweep_versions").await,
        ["1 text", "2 text 2"]
    );
    let summary = store.writer.readers().experiment("small").await.unwrap().unwrap();
    assert_eq!((summary.cells, summary.games_planned, summary.games_settled), (3, 60, 8));

    // The answer was lost: the same again, and then the same text.
    let again = grow(&mut store, "text 2", &changed).await.unwrap();
    assert!(again.existed && again.change.is_none() && !again.tell);
    let mut transaction = store.writer.begin().await.unwrap();
    let again = transaction.submit(sweep("another", "text 2", &changed)).await.unwrap();
    assert!(again.existed && again.change.is_none());
    drop(transaction);
    // An answer that was lost long ago: nothing goes back.
    let mut transaction = store.writer.begin().await.unwrap();
    let first = with_cells(&[(1, 20)]);
    let again = transaction.submit(sweep("uuid-1", "text", &first)).await.unwrap();
    assert!(again.existed && again.change.is_none());
    drop(transaction);

    let back = grow(&mut store, "text 3", &with_cells(&[(3, 2), (2, 30)])).await.unwrap();
    let change = back.change.unwrap();
    assert_eq!((change.cells_returned, change.cells_dropped, change.games_kept), (1, 2, 8));
    // The cell that came back has more games than it is to get now: it has none left.
    assert_eq!(change.games_to_play, 26);
    store.assert_recount().await;
}

/// Switches had no numbers once: a sweep that is the same says nothing of its axes.
#[tokio::test]
async fn a_switch_that_had_no_number_has_not_moved() {
    let with_switch = |number| {
        let mut plan = plan("small");
        let value = AxisValue { number, text: "true".to_owned() };
        plan.axes.push(PlannedAxis { name: "order".to_owned(), values: vec![value] });
        plan.cells.iter_mut().for_each(|cell| cell.axes.push((1, 0)));
        plan
    };
    let mut store = Store::with(&with_switch(None)).await;
    let grown = grow(&mut store, "text 2", &with_switch(Some(1.0))).await.unwrap();
    let change = grown.change.unwrap();
    assert!(!change.axes_changed);
    assert_eq!((change.cells_kept, change.cells_added, change.cells_dropped), (2, 0, 0));
    assert_eq!(store.texts("SELECT \"order\" FROM results_small").await, ["1", "1"]);
}

#[tokio::test]
async fn names_places_and_axes_are_replaced() {
    let mut store = Store::new().await;
    let mut changed = empty_plan("small");
    for depth in 1..=2_i64 {
        let definition = CellDefinition {
            format: 1,
            seed: 7,
            rules: Pentago::rules(true),
            openings: OpeningsRule::Random { plies: 2 },
            max_plies: Some(40),
            adjudication: None,
            swap_sides: true,
            task: Task::Game,
            players: [alpha_beta(depth), genetic(depth)].map(std::sync::Arc::new),
        };
        let word = AxisValue { number: None, text: format!("d{depth}") };
        let axes = [("how deep", word.clone()), ("a", word)];
        let cell = changed.add_cell(&definition, ["alpha", "genes"], &axes, 20);
        cell.timed = true;
    }
    let grown = grow(&mut store, "text 2", &changed).await.unwrap();
    let change = grown.change.unwrap();
    assert!(change.axes_changed && !change.rules_changed);
    assert_eq!((change.cells_kept, change.cells_added, change.cells_dropped), (2, 0, 0));
    let states: Vec<_> = grown.cells.iter().map(|state| (state.timed, state.games)).collect();
    assert_eq!(states, [(true, 20); 2], "the scheduler learns that they are timed");
    assert_eq!(
        store.texts("SELECT axes || ' ' || player || ' ' || timed FROM results").await,
        ["how deep=d1, a=d1 alpha 1", "how deep=d2, a=d2 alpha 1"]
    );
    assert_eq!(
        store.texts("SELECT \"how deep\" || opponent FROM results_small").await,
        ["d1genes", "d2genes"]
    );
    assert_eq!(store.integer("SELECT count(*) FROM cell_axes").await, 4);
    let again = grow(&mut store, "text 3", &changed).await.unwrap().change.unwrap();
    assert!(!again.axes_changed && again.settings_changed.is_empty());
}

/// Where sides are fixed, a cell that is cut short ends where it is: no pair has to be completed.
#[tokio::test]
async fn a_cell_of_fixed_sides_grows_by_single_games() {
    let fixed = |games| {
        let mut plan = empty_plan("small");
        add_cell_of(&mut plan, false, ["ab", "gm"], [alpha_beta(1), genetic(1)], 1, games);
        plan
    };
    let mut store = Store::with(&fixed(5)).await;
    let state = |games| CellState {
        memory_bytes: store.submitted.cells[0].memory_bytes,
        swap_sides: false,
        next_number: 5,
        ..CellState::new(store.submitted.cells[0].cell, games)
    };
    let progress = CellProgress {
        cell: store.submitted.cells[0].cell,
        next_number: 5,
        returned: Vec::new(),
        decided_number: 0,
        stop_number: None,
    };
    let changes = Changes { cells: vec![progress], ..Changes::default() };
    let (grown, fewer) = (state(7), state(5));
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.apply(&changes).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(grow(&mut store, "more", &fixed(7)).await.unwrap().cells, [grown]);
    assert_eq!(grow(&mut store, "fewer", &fixed(3)).await.unwrap().cells, [fewer]);
    // With swapped sides it is another cell.
    let mut swapped = empty_plan("small");
    add_cell(&mut swapped, ["ab", "gm"], [alpha_beta(1), genetic(1)], 1, 20);
    let error = grow(&mut store, "swapped", &swapped).await.unwrap_err();
    assert!(matches!(error, StoreError::NothingInCommon { rules_changed: true, .. }), "{error}");
}

#[tokio::test]
async fn what_cannot_grow_is_refused() {
    let mut store = Store::new().await;
    let other = with_cells(&[(8, 20)]);
    let error = grow(&mut store, "other", &other).await.unwrap_err();
    assert!(matches!(error, StoreError::NothingInCommon { rules_changed: false, .. }), "{error}");
    let mut messages = vec![format!("{error}\n{}", error.remedy())];
    let mut seed = empty_plan("small");
    seed.seed = 8;
    add_cell(&mut seed, ["ab", "gm"], [alpha_beta(1), genetic(1)], 1, 20);
    let error = grow(&mut store, "seed", &seed).await.unwrap_err();
    assert!(matches!(error, StoreError::NothingInCommon { rules_changed: true, .. }), "{error}");
    messages.push(format!("{error}\n{}", error.remedy()));
    let readers = store.writer.readers();
    let error = readers.preview(sweep("uuid-2", "other", &other)).await.unwrap_err();
    assert!(matches!(error, StoreError::NothingInCommon { .. }), "{error}");

    let experiment = store.submitted.experiment;
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.set_state(experiment, ExperimentState::Cancelled).await.unwrap();
    transaction.commit().await.unwrap();
    for text in ["text", "changed"] {
        let error = grow(&mut store, text, &plan("small")).await.unwrap_err();
        assert!(matches!(error, StoreError::Cancelled { .. }), "{error}");
        messages.push(format!("{error}\n{}", error.remedy()));
    }
    messages.dedup();
    insta::assert_snapshot!(messages.join("\n\n"));

    // A new one of the same name: from then on it is meant.
    let mut transaction = store.writer.begin().await.unwrap();
    let small = plan("small");
    let anew = Sweep { new_experiment: true, ..sweep("uuid-5", "text", &small) };
    let first = transaction.submit(anew).await.unwrap();
    assert!(!first.existed);
    assert_ne!(first.experiment, experiment);
    assert!(transaction.submit(anew).await.unwrap().existed, "a repeated submit is a no-op");
    transaction.commit().await.unwrap();
    let again = grow(&mut store, "text", &plan("small")).await.unwrap();
    assert_eq!(again.experiment, first.experiment);
    // Whoever is not over is meant before whoever is newer.
    let mut transaction = store.writer.begin().await.unwrap();
    let newest = Sweep { uuid: "uuid-6", ..anew };
    let newest = transaction.submit(newest).await.unwrap();
    transaction.set_state(newest.experiment, ExperimentState::Finished).await.unwrap();
    transaction.commit().await.unwrap();
    let summary = store.writer.readers().experiment("small").await.unwrap().unwrap();
    assert_eq!(summary.uuid, "uuid-5");
    let mut transaction = store.writer.begin().await.unwrap();
    let found = transaction.experiment("small").await.unwrap().unwrap();
    assert_eq!(found.uuid, "uuid-5");
}

/// What a random client, worker or machine does next.
#[derive(Clone, Debug)]
enum Step {
    /// A sweep of these cells (which of the pool, how many pairs), with such names and axes.
    Submit { cells: Vec<(usize, u64)>, look: u8 },
    /// A worker takes a lease, and plays so many games of it.
    Play { games: usize, give_back: bool },
    /// The coordinator is killed and starts again.
    Restart,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let cells = prop::collection::vec((0..6_usize, 1..6_u64), 1..6);
    let submit = (cells, 0..4_u8).prop_map(|(cells, look)| Step::Submit { cells, look });
    let play =
        (0..12_usize, any::<bool>()).prop_map(|(games, give_back)| Step::Play { games, give_back });
    prop::collection::vec(prop_oneof![2 => submit, 5 => play, 1 => Just(Step::Restart)], 1..24)
}

/// The slow, obvious twin: how many games each definition has, and which of them are settled.
#[derive(Debug, Default)]
struct Twin {
    games: BTreeMap<DefinitionHash, BTreeSet<u64>>,
    leased: BTreeMap<DefinitionHash, u64>,
    planned: BTreeMap<DefinitionHash, u64>,
}

/// A coordinator without its network, and a client and a worker of it.
struct Desk {
    directory: tempfile::TempDir,
    writer: Writer,
    scheduler: Scheduler,
    worker: WorkerId,
    submits: usize,
    last_plan: Vec<(usize, u64, u8)>,
    held: Vec<(LeaseId, Vec<GameRange>)>,
    twin: Twin,
}

impl Desk {
    async fn open() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut writer = Writer::open(&directory.path().join("x.db")).await.unwrap();
        let mut transaction = writer.begin().await.unwrap();
        let worker = transaction.introduce(&introduction("w")).await.unwrap();
        transaction.commit().await.unwrap();
        let scheduler = Scheduler::restore(writer.snapshot().await.unwrap(), policy(), Time(0));
        let (submits, last_plan, held, twin) = (0, Vec::new(), Vec::new(), Twin::default());
        Self { directory, writer, scheduler, worker, submits, last_plan, held, twin }
    }

    async fn restart(&mut self) {
        let path = self.directory.path().join("x.db");
        let spare = Writer::open(&self.directory.path().join("spare.db")).await.unwrap();
        std::mem::replace(&mut self.writer, spare).close().await.unwrap();
        self.writer = Writer::open(&path).await.unwrap();
        let snapshot = self.writer.snapshot().await.unwrap();
        self.scheduler = Scheduler::restore(snapshot, policy(), Time(0));
    }

    async fn submit(&mut self, cells: &[(usize, u64)], look: u8) -> Result<(), TestCaseError> {
        let mut seen = BTreeSet::new();
        let wanted: Vec<_> = cells.iter().copied().filter(|(cell, _)| seen.insert(*cell)).collect();
        let plan = pool_plan(&wanted, look);
        self.submits += 1;
        let toml = format!("{wanted:?} {look}");
        let uuid = format!("uuid {}", self.submits);
        let ever = self.ever();
        let mut transaction = self.writer.begin().await.unwrap();
        let submitted = match transaction.submit(sweep(&uuid, &toml, &plan)).await {
            Ok(submitted) => submitted,
            Err(StoreError::NothingInCommon { .. }) => {
                let known = |cell: &(usize, u64)| {
                    ever.contains(&pool_plan(&[*cell], 0).cells[0].definition_hash)
                };
                prop_assert!(!wanted.iter().any(known), "nothing in common");
                return Ok(());
            }
            Err(error) => panic!("{error}"),
        };
        let named: Vec<_> = wanted.iter().map(|&(cell, pairs)| (cell, pairs, look)).collect();
        let unchanged = named == self.last_plan;
        prop_assert_eq!(unchanged, submitted.existed && submitted.change.is_none());
        if let Some(change) = &submitted.change {
            let settled = |hash| self.twin.games.get(hash).map_or(0, |games| games.len() as u64);
            let hashes: BTreeSet<_> = plan.cells.iter().map(|cell| cell.definition_hash).collect();
            let before: BTreeSet<_> = self.twin.planned.keys().copied().collect();
            prop_assert_eq!(
                change.cells_kept + change.cells_returned,
                hashes.intersection(&ever).count() as u64
            );
            prop_assert_eq!(change.cells_added, hashes.difference(&ever).count() as u64);
            prop_assert_eq!(change.cells_kept, hashes.intersection(&before).count() as u64);
            prop_assert_eq!(change.cells_dropped, before.difference(&hashes).count() as u64);
            prop_assert_eq!(change.games_kept, hashes.iter().map(settled).sum::<u64>());
            prop_assert_eq!(
                change.games_dropped,
                before.difference(&hashes).map(settled).sum::<u64>()
            );
            let dropped =
                change.examples.iter().any(|example| example.change == CellChange::Dropped);
            prop_assert_eq!(dropped, change.cells_dropped > 0);
        }
        self.last_plan = named;
        self.twin.planned = plan
            .cells
            .iter()
            .map(|cell| {
                let leased = self.twin.leased.get(&cell.definition_hash).copied().unwrap_or(0);
                (cell.definition_hash, cell.games.max(leased.next_multiple_of(2)))
            })
            .collect();
        for &hash in self.twin.planned.keys() {
            self.twin.leased.entry(hash).or_default();
        }
        if submitted.tell {
            let event = Event::Submitted {
                experiment: submitted.experiment,
                settings: plan.settings.scheduling,
                open: false,
                cells: submitted.cells,
                attempts: submitted.attempts,
            };
            for effect in self.scheduler.handle(event, Time(0)) {
                if let Effect::Finished { experiment } = effect {
                    transaction.set_state(experiment, ExperimentState::Finished).await.unwrap();
                }
            }
        }
        transaction.apply(&self.scheduler.take_changes()).await.unwrap();
        transaction.commit().await.unwrap();
        Ok(())
    }

    fn ever(&self) -> BTreeSet<DefinitionHash> {
        self.twin.leased.keys().copied().collect()
    }

    /// A worker asks for games, plays some of those that it holds, and hands back the others, or
    /// keeps them for later.
    async fn play(&mut self, games: usize, give_back: bool) -> Result<(), TestCaseError> {
        let worker = self.worker;
        let mut transaction = self.writer.begin().await.unwrap();
        let wanted = Event::LeaseWanted {
            worker,
            slots: 2,
            quiet_slots: 0,
            memory_bytes: None,
            offer: Offer::default(),
            trains: false,
            verifies: false,
        };
        for effect in self.scheduler.handle(wanted, Time(0)) {
            if let Effect::Grant { lease, ranges, .. } = effect {
                self.held.push((lease, ranges));
            }
        }
        transaction.apply(&self.scheduler.take_changes()).await.unwrap();
        let mut played = 0;
        let held = std::mem::take(&mut self.held);
        for (lease, ranges) in held {
            let cells: Vec<_> = ranges.iter().map(|range| range.cell).collect();
            let leased = transaction.leased_cells(&cells).await.unwrap();
            let hashes: Vec<_> = leased.iter().map(|cell| cell.definition).collect();
            for (range, hash) in ranges.iter().zip(&hashes) {
                let leased = self.twin.leased.entry(*hash).or_default();
                *leased = range.end().max(*leased);
            }
            let all = ranges.iter().zip(hashes).flat_map(|(range, hash)| {
                let cell = range.cell;
                (range.first..range.end()).map(move |number| (GameId { cell, number }, hash))
            });
            for (id, hash) in all {
                if played == games {
                    break;
                }
                played += 1;
                let facts = transaction.facts(&[(worker, lease, id)]).await.unwrap()[0];
                let event = Event::Reported {
                    worker,
                    lease,
                    game: id,
                    report: Report::Played {
                        wall_us: 1,
                        points: Points::One,
                        moves_hash: 0,
                        forfeit: None,
                    },
                    settled: facts.settled,
                    leased: facts.leased,
                };
                let result = game(id.cell, id.number, id.number);
                for effect in self.scheduler.handle(event, Time(0)) {
                    match effect {
                        Effect::Verdict { verdict: Verdict::Counts, .. } => {
                            let new = self.twin.games.entry(hash).or_default().insert(id.number);
                            prop_assert!(new, "counted twice");
                            transaction.store_games(&[(worker, result.clone())]).await.unwrap();
                        }
                        Effect::Verdict { verdict, .. } => {
                            let known = self.twin.games.get(&hash);
                            let known = known.is_some_and(|games| games.contains(&id.number));
                            let late = verdict == Verdict::AfterCancel;
                            prop_assert!(known || late, "{verdict:?}: a game is lost");
                            let result = [(worker, result.clone())];
                            transaction.store_uncounted(&result, late).await.unwrap();
                        }
                        Effect::Finished { experiment } => {
                            let state = ExperimentState::Finished;
                            transaction.set_state(experiment, state).await.unwrap();
                        }
                        other @ (Effect::Grant { .. }
                        | Effect::Idle { .. }
                        | Effect::Drop { .. }
                        | Effect::Quarantined { .. }
                        | Effect::Barred { .. }
                        | Effect::SettleFailed { .. }) => panic!("{other:?}"),
                    }
                }
            }
            if give_back {
                let event = Event::GivenBack { worker, lease };
                for effect in self.scheduler.handle(event, Time(0)) {
                    if let Effect::Finished { experiment } = effect {
                        let state = ExperimentState::Finished;
                        transaction.set_state(experiment, state).await.unwrap();
                    }
                }
            } else {
                self.held.push((lease, ranges));
            }
        }
        transaction.apply(&self.scheduler.take_changes()).await.unwrap();
        transaction.commit().await.unwrap();
        Ok(())
    }

    /// What is on disk is what the twin has.
    async fn check(&mut self) -> Result<(), TestCaseError> {
        self.scheduler.assert_consistent();
        let readers = self.writer.readers();
        let count = |found: Vec<Vec<_>>| -> Vec<String> {
            found.iter().map(|row| row.iter().map(text).collect::<Vec<_>>().join(" ")).collect()
        };
        let games = rows(
            &readers,
            "SELECT c.definition_hash, g.number FROM games AS g
            JOIN cells AS c ON c.cell_id = g.cell_id ORDER BY 1, 2",
        )
        .await;
        let expected: Vec<String> = self
            .twin
            .games
            .iter()
            .flat_map(|(hash, games)| games.iter().map(move |number| format!("{hash} {number}")))
            .collect();
        prop_assert_eq!(count(games), expected);
        let cells = rows(
            &readers,
            "SELECT definition_hash, games_planned FROM cells WHERE in_sweep = 1 ORDER BY 1",
        )
        .await;
        let expected: Vec<String> =
            self.twin.planned.iter().map(|(hash, games)| format!("{hash} {games}")).collect();
        prop_assert_eq!(count(cells), expected);
        // Cursor and ranges: below the cursor each number is settled, returned or in a live lease,
        // and beyond it nothing is.
        let wrong = rows(
            &readers,
            "WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 40)
            SELECT c.cell_id, n.n FROM cells AS c, numbers AS n
            WHERE (n.n < c.next_number) <> (
                EXISTS (SELECT 1 FROM games AS g WHERE g.cell_id = c.cell_id AND g.number = n.n)
                OR EXISTS (SELECT 1 FROM returned_ranges AS r WHERE r.cell_id = c.cell_id
                    AND n.n >= r.first_number AND n.n < r.first_number + r.games)
                OR EXISTS (SELECT 1 FROM lease_ranges AS r JOIN leases AS l ON l.lease_id = r.lease_id
                    WHERE l.ended_by IS NULL AND r.cell_id = c.cell_id
                    AND n.n >= r.first_number AND n.n < r.first_number + r.games))",
        )
        .await;
        prop_assert!(wrong.is_empty(), "{wrong:?}");
        let differences = readers.recount().await.unwrap();
        prop_assert!(differences.is_empty(), "{differences:?}");
        let state = rows(&readers, "SELECT state FROM experiments").await;
        let settled = |(hash, games): (&DefinitionHash, &u64)| {
            self.twin.games.get(hash).map_or(0, |games| games.len() as u64) == *games
        };
        if count(state) == ["finished"] {
            prop_assert!(self.twin.planned.iter().all(settled), "finished too early");
        }
        Ok(())
    }

    async fn run(steps: &[Step]) -> Result<(), TestCaseError> {
        let mut desk = Self::open().await;
        for step in steps {
            match step {
                Step::Submit { cells, look } => desk.submit(cells, *look).await?,
                Step::Play { games, give_back } => desk.play(*games, *give_back).await?,
                Step::Restart => desk.restart().await,
            }
            desk.check().await?;
        }
        // Left alone, everything that is named is played to its end.
        for _ in 0..40 {
            desk.play(usize::MAX, true).await?;
        }
        desk.check().await?;
        for (hash, games) in &desk.twin.planned {
            let settled = desk.twin.games.get(hash).map_or(0, |games| games.len() as u64);
            prop_assert_eq!(settled, *games, "not played to the end");
        }
        desk.writer.close().await.unwrap();
        Ok(())
    }
}

fn policy() -> Policy {
    Policy { games_per_lease_max: 4, ranges_per_lease_max: 2, ..Policy::default() }
}

/// Cells of a pool; how they are named and placed depends on the look, what they play does not.
fn pool_plan(cells: &[(usize, u64)], look: u8) -> Plan {
    let mut plan = empty_plan("pool");
    plan.settings.scheduling.priority = i32::from(look);
    plan.settings.scheduling.allocation =
        if look == 1 { Allocation::Informative } else { Allocation::Grid };
    for &(index, pairs) in cells {
        let depth = i64::try_from(index).unwrap();
        let player = |parameters: Parameters| std::sync::Arc::new(parameters);
        let definition = CellDefinition {
            format: 1,
            seed: plan.seed,
            rules: Pentago::rules(true),
            openings: OpeningsRule::Random { plies: 2 },
            max_plies: None,
            adjudication: None,
            swap_sides: true,
            task: Task::Game,
            players: [player(alpha_beta(depth + 1)), player(genetic(2))],
        };
        let names = if look.is_multiple_of(2) { ["ab", "gm"] } else { ["x", "y"] };
        let axis = if look < 2 { "depth" } else { "other" };
        let value = AxisValue { number: None, text: format!("{index}") };
        plan.add_cell(&definition, names, &[(axis, value)], 2 * pairs);
    }
    plan
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// No game is ever lost or counted twice, whatever the sweep becomes.
    #[test]
    fn no_game_is_lost_or_counted_twice(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(Desk::run(&steps))?;
    }
}
