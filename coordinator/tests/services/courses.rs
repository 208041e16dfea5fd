//! Experiments whose results decide which cells they get, over the network: the same course through kills.

use std::sync::Arc;

use spelrum_answers::{Action, Detail, GetRuns, Removing, RunResult};
use spelrum_coordinator::CourseFactory;
use spelrum_engine::Value;
use spelrum_model::{AxisValue, ExperimentState, Plan};
use spelrum_proto::Reason;
use spelrum_scheduling::course::{self, CellOutcome, Course, Decision, NewCell};
use spelrum_store::Readers;
use tonic::Status;

use spelrum_test_support::{HandWorker, Served, Site, eventually, quick_sweep, reason, submission};

/// Findings of an experiment's runs, as a viewer asks for them.
async fn runs(served: &Served, experiment: &str) -> Result<Vec<RunResult>, Status> {
    served.call(&GetRuns { experiment: experiment.to_owned() }).await
}

/// Doubles minimax's depth, or adds one to it, by who won more in the cell before, until it has added so
/// many cells.
struct Climb {
    first: NewCell,
    left: usize,
    depth: i64,
    better: Option<bool>,
}

impl Climb {
    fn new(plan: &Plan, cells: usize) -> Self {
        let first = NewCell::from_planned(plan, &plan.cells[0]);
        Self { first, left: cells, depth: 1, better: None }
    }

    fn take(&mut self, cell: &NewCell) {
        let depth = cell.definition.players.iter().find_map(|player| player.get("depth"));
        let Some(&Value::Integer(depth)) = depth else { panic!("{cell:?}") };
        self.depth = depth;
        self.left -= 1;
        self.better = None;
    }

    fn next(&self, better: bool) -> NewCell {
        let mut cell = self.first.clone();
        let depth = if better { self.depth + 1 } else { self.depth * 2 };
        for player in &mut cell.definition.players {
            if player.contains_key("depth") {
                Arc::make_mut(player).insert("depth".to_owned(), Value::Integer(depth));
            }
        }
        let value = AxisValue { number: Some(depth as f64), text: depth.to_string() };
        cell.axes = vec![("depth".to_owned(), value)];
        cell
    }
}

impl Course for Climb {
    fn decide(&mut self) -> Decision {
        match self.better {
            _ if self.left == 0 => Decision::End,
            None => Decision::Wait,
            Some(better) => {
                let cell = self.next(better);
                self.take(&cell);
                Decision::Add(vec![cell])
            }
        }
    }

    fn adopt(&mut self, added: &[NewCell]) {
        added.iter().for_each(|cell| self.take(cell));
    }

    fn tell(&mut self, outcome: &CellOutcome) {
        assert_eq!(outcome.games, outcome.wins + outcome.draws + outcome.losses);
        self.better = Some(outcome.wins > outcome.losses);
    }
}

fn climbing(cells: usize) -> Arc<CourseFactory> {
    Arc::new(move |plan| Some(Box::new(Climb::new(plan, cells))))
}

fn sweep() -> String {
    quick_sweep("climb", 12).replace("depth = 1", "depth = \"$depth\"") + "\n[axes]\ndepth = [1]\n"
}

async fn play_all(served: &Served) {
    HandWorker::new(served).await.work_until_done().await;
    assert_eq!(served.summary("climb").await.state, ExperimentState::Finished);
}

/// What a course left behind, without ids.
async fn recorded_course(site: &Site) -> Vec<String> {
    let readers = Readers::open(&site.db()).await.unwrap();
    assert_eq!(readers.recount().await.unwrap(), []);
    let table = readers
        .query(
            "SELECT c.number, c.definition_hash, c.asked_after, a.value_text, t.games, t.wins,
                t.draws, t.losses, t.pairs_0, t.pairs_2, e.course, r.wins
            FROM cells AS c JOIN experiments AS e USING (experiment_id)
            JOIN cell_results AS r USING (cell_id)
            LEFT JOIN told_cells AS t USING (cell_id) LEFT JOIN cell_axes AS a USING (cell_id)
            ORDER BY c.number",
            100,
        )
        .await
        .unwrap();
    readers.close().await;
    table.rows.iter().map(|row| format!("{row:?}")).collect()
}

/// Submits a sweep, and plays so many of its games before each kill. Reports are committed at the second try.
async fn disturbed(
    site: &Site,
    course_factory: &Arc<CourseFactory>,
    sweep: &str,
    games: &[usize],
) -> Served {
    let mut served = site.serve_with_courses(Arc::clone(course_factory)).await;
    served.submit(sweep).await;
    for &results_max in games {
        let mut worker = HandWorker::new(&served).await;
        let mut left = results_max;
        while left > 0
            && let Some(grant) = worker.lease().await.unwrap().grant
        {
            let mut results = worker.play(&grant).await;
            results.truncate(left);
            left -= results.len();
            // A commit that fails takes back what the course decided in it.
            served.faults.fail_commits(1);
            // On a crowded machine it may be another commit that fails: that of a lease which ends.
            let report = async || worker.report(results.clone()).await.ok();
            eventually("the report is committed", report).await;
        }
        served.kill().await;
        served = site.serve_with_courses(Arc::clone(course_factory)).await;
    }
    served
}

#[tokio::test]
async fn a_course_is_the_same_through_kills() {
    let undisturbed = Site::new();
    let served = undisturbed.serve_with_courses(climbing(4)).await;
    served.submit(&sweep()).await;
    play_all(&served).await;
    served.stop().await.unwrap();
    let course = recorded_course(&undisturbed).await;
    assert_eq!(course.len(), 5, "{course:#?}");
    assert!(course[4].contains("ended") && course[4].contains("Integer(4)"), "{course:#?}");

    let site = Site::new();
    let served = disturbed(&site, &climbing(4), &sweep(), &[3, 12, 5, 7, 20, 1]).await;
    play_all(&served).await;
    served.stop().await.unwrap();
    assert_eq!(recorded_course(&site).await, course);
}

/// A course that asks for what is there already gets nothing more, and nobody waits for ever.
#[tokio::test]
async fn a_course_that_is_wrong_ends() {
    struct Again(NewCell);
    impl Course for Again {
        fn decide(&mut self) -> Decision {
            Decision::Add(vec![self.0.clone()])
        }
        fn adopt(&mut self, _added: &[NewCell]) {}
        fn tell(&mut self, _outcome: &CellOutcome) {}
    }
    let site = Site::new();
    let again: Arc<CourseFactory> =
        Arc::new(|plan| Some(Box::new(Again(NewCell::from_planned(plan, &plan.cells[0])))));
    let served = site.serve_with_courses(again).await;
    served.submit(&sweep()).await;
    assert_eq!(served.number("SELECT count(*) FROM experiments WHERE course = 'ended'").await, 1);
    play_all(&served).await;
    assert_eq!(served.number("SELECT count(*) FROM cells").await, 1);
    served.stop().await.unwrap();
}

/// What takes a course of its own is not changed by another sweep, and is removed whole.
#[tokio::test]
async fn a_changed_sweep_is_refused() {
    let site = Site::new();
    let served = site.serve_with_courses(climbing(2)).await;
    let uuid = served.submit(&sweep()).await.experiment_uuid;
    let again = served.submit(&sweep()).await;
    assert_eq!((again.experiment_uuid, again.existed), (uuid.clone(), true));
    let described =
        sweep().replace("name =", "# What was it?\ndescription = \"what it was\"\nname =");
    let again = served.submit(&described).await;
    assert_eq!((again.experiment_uuid, again.existed), (uuid.clone(), true));
    let more = sweep().replace("games = 12", "games = 14");
    let changed = served.call(&submission(&more)).await;
    assert_eq!(reason(changed), Reason::NameTaken);

    served.steer(&uuid, Action::Cancel).await.unwrap();
    served.remove(&uuid, Removing::Everything, false).await.unwrap();
    served.removed().await;
    assert_eq!(served.number("SELECT count(*) FROM cells").await, 0);
    assert_eq!(served.number("SELECT count(*) FROM told_cells").await, 0);
    served.stop().await.unwrap();
}

/// What a sweep's own course leaves behind is the same through kills, and a report tells of it.
#[tokio::test]
async fn a_search_for_even_players_is_the_same_through_kills() {
    let sweep = "name = \"even\"\ngame = \"tic-tac-toe\"\nseed = 5\ngames = 4\n\
        openings = { kind = \"random\", plies = 1 }\n\
        [axes]\ndepth = [1, 2]\n\
        [players.minimax]\nalgorithm = \"minimax\"\ndepth = \"$depth\"\nshuffle = true\n\
        [players.mcts]\nalgorithm = \"mcts\"\n\
        [find]\nplayer = \"mcts\"\nparameter = \"simulations\"\nfrom = 2\nto = 200\n\
        steps = 4\nat_once = 2\n";
    async fn found(site: &Site) -> Vec<String> {
        let readers = Readers::open(&site.db()).await.unwrap();
        assert_eq!(readers.recount().await.unwrap(), []);
        let table = readers
            .query(
                "SELECT 'cell', number, asked_after, definition_hash, wins, draws FROM cells
                    JOIN told_cells USING (cell_id)
                UNION ALL SELECT kind, run, step, trial, note, '' FROM course_notes
                ORDER BY 1, 2, 3, 4",
                100,
            )
            .await
            .unwrap();
        let report = readers.report("even", Detail::Cells).await.unwrap().unwrap();
        readers.close().await;
        assert_eq!(report.runs.len(), 2);
        assert!(report.runs.iter().all(|run| run.ended && run.steps == 4));
        table.rows.iter().map(|row| format!("{row:?}")).collect()
    }
    let undisturbed = Site::new();
    let served = undisturbed.serve_with_courses(Arc::new(course::course_from_plan)).await;
    served.submit(sweep).await;
    HandWorker::new(&served).await.work_until_done().await;
    assert_eq!(served.summary("even").await.state, ExperimentState::Finished);
    served.stop().await.unwrap();
    let expected = found(&undisturbed).await;
    // Cells; beginnings and ends; what was tried and estimated.
    assert_eq!(expected.len(), 8 + 2 + 2 + 8 + 8, "{expected:#?}");

    let site = Site::new();
    let usual: Arc<CourseFactory> = Arc::new(course::course_from_plan);
    let served = disturbed(&site, &usual, sweep, &[1, 5, 2, 7]).await;
    HandWorker::new(&served).await.work_until_done().await;
    assert_eq!(served.summary("even").await.state, ExperimentState::Finished);
    served.stop().await.unwrap();
    assert_eq!(found(&site).await, expected);
}

/// What is bred is the same through kills and commits that fail, individual by individual.
#[tokio::test]
async fn what_is_bred_is_the_same_through_kills() {
    let sweep = "name = \"bred\"\ngame = \"tic-tac-toe\"\nseed = 5\ngames = 2\n\
        pairing = { gauntlet = \"evolved\" }\n\
        [players.evolved]\nalgorithm = \"alpha-beta\"\ndepth = 1\nties = \"random\"\n\
        evaluation = \"expression\"\n\
        [players.random]\nalgorithm = \"random\"\n\
        [evolve]\nplayer = \"evolved\"\nruns = 2\npopulation = 4\ngenerations = 3\nelite = 1\n\
        hall_of_fame = 1\ndepth = 2\n";
    async fn bred(site: &Site) -> Vec<String> {
        let readers = Readers::open(&site.db()).await.unwrap();
        assert_eq!(readers.recount().await.unwrap(), []);
        let table = readers
            .query(
                "SELECT 'cell', number, asked_after, definition_hash, wins, draws FROM cells
                    JOIN told_cells USING (cell_id)
                UNION ALL SELECT kind, run, step, trial, note, '' FROM course_notes
                ORDER BY 1, 2, 3, 4",
                1000,
            )
            .await
            .unwrap();
        let report = readers.report("bred", Detail::Cells).await.unwrap().unwrap();
        readers.close().await;
        assert_eq!(report.runs.len(), 2);
        for run in &report.runs {
            let evolution = run.evolution.as_ref().unwrap();
            assert_eq!((run.steps, evolution.generations.len()), (3, 3));
            assert_eq!(evolution.family[0].generation, 2);
            assert_eq!(evolution.family[0].individual.formula, run.estimates[0].value.text);
        }
        table.rows.iter().map(|row| format!("{row:?}")).collect()
    }
    let undisturbed = Site::new();
    let served = undisturbed.serve_with_courses(Arc::new(course::course_from_plan)).await;
    served.submit(sweep).await;
    HandWorker::new(&served).await.work_until_done().await;
    assert_eq!(served.summary("bred").await.state, ExperimentState::Finished);
    let reported = runs(&served, "bred").await.unwrap();
    assert_eq!(reason(runs(&served, "bread").await), Reason::UnknownExperiment);
    served.stop().await.unwrap();
    let readers = Readers::open(&undisturbed.db()).await.unwrap();
    let report = readers.report("bred", Detail::Cells).await.unwrap().unwrap();
    readers.close().await;
    assert_eq!(reported, report.runs, "a viewer gets the runs of a report");
    let expected = bred(&undisturbed).await;
    // Four meet random play at first; then each a champion, too. Individuals and what came of each; generations,
    // estimates, beginnings and ends.
    let cells = 2 * (4 + 2 * 8);
    assert_eq!(expected.len(), cells + 2 * (2 * 12 + 2 * 3 + 2), "{expected:#?}");

    let site = Site::new();
    let usual: Arc<CourseFactory> = Arc::new(course::course_from_plan);
    let served = disturbed(&site, &usual, sweep, &[1, 5, 2, 17, 20]).await;
    HandWorker::new(&served).await.work_until_done().await;
    served.stop().await.unwrap();
    assert_eq!(bred(&site).await, expected);
}
