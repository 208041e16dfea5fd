//! Figures of answers, worked out by hand from a few games of every kind: beyond a stop, failed,
//! with fixed sides, of a player with itself, by engines, by several workers, and of a cell that left its sweep.

use std::collections::BTreeMap;

use spelrum_answers::{
    ClaimOf, Detail, FoundGame, GamesFilter, GamesOf, GamesOrder, GamesQuestion, Lengths, MoveCost,
    PlayedOn, PlayerForfeits, Removing, ReplayedGames, Replicated, Report, ScaledGames, WhichGame,
};
use spelrum_engine::Outcome;
use spelrum_model::claims::Than;
use spelrum_model::course::{Begun, CourseKind, Estimate, Estimated, Note, Noted};
use spelrum_model::speed::ScaledTime;
use spelrum_model::{AxisValue, CellId, ExperimentState, GameId, Plan, PlayedGame, Role, WorkerId};
use spelrum_scheduling::scheduler::{Attempts, CellProgress, Changes};
use spelrum_statistics::StopRule;
use spelrum_statistics::claims::{About, Bound};
use spelrum_store::Readers;
use spelrum_store::contract::WriteTransaction as _;

use crate::fixture::{
    Store, add_cell, add_cell_of, alpha_beta, claim, crashed, empty_plan, fish, game, genetic,
    introduction, sweep, timed, with_engines,
};

/// A database and the cells of its experiment `mixed`, of which the last left the sweep.
struct Mixed {
    store: Store,
    cells: Vec<CellId>,
    /// The first two played what counts, the third one game that does not.
    workers: [WorkerId; 3],
}

fn plan(cells: usize, claimed: &str) -> Plan {
    let mut plan = empty_plan("mixed");
    plan.stop = StopRule::from_precision(0.1);
    let ours = |depth| [alpha_beta(depth), genetic(depth)];
    add_cell(&mut plan, ["ab", "gm"], ours(1), 1, 8);
    add_cell_of(&mut plan, false, ["ab", "gm"], ours(2), 2, 3);
    add_cell_of(&mut plan, false, ["fish", "ab"], [fish(&[]), alpha_beta(2)], 3, 4);
    add_cell(&mut plan, ["ab", "ab"], [alpha_beta(1), alpha_beta(1)], 4, 2);
    add_cell(&mut plan, ["ab", "timed"], [alpha_beta(2), timed(10)], 5, 4).timed = true;
    if cells == 6 {
        add_cell(&mut plan, ["ab", "gm"], ours(6), 6, 2);
    }
    plan.claims = vec![claim(claimed, 0..1, Role::Player)];
    plan
}

fn limited(game: PlayedGame, factor_permille: u32) -> PlayedGame {
    PlayedGame { scaled: Some(ScaledTime { factor_permille, nodes_per_second: 1 }), ..game }
}

async fn mixed() -> Mixed {
    let mut store = Store::with(&plan(6, "stated")).await;
    let cells: Vec<CellId> = store.submitted.cells.iter().map(|cell| cell.cell).collect();
    let mut transaction = store.writer.begin().await.unwrap();
    let second = transaction.introduce(&introduction("worker-2")).await.unwrap();
    let third = transaction.introduce(&introduction("worker-3")).await.unwrap();
    let first = store.worker;
    let theirs = |number, forfeit: Option<&str>| {
        crashed(with_engines(game(cells[2], number, 2), [Some(1), None], forfeit))
    };
    let games = [
        // `ab` wins in two plies; a draw of three, the last of them forced; two beyond the stop.
        (first, game(cells[0], 0, 0)),
        (second, game(cells[0], 1, 1)),
        (first, game(cells[0], 2, 2)),
        (third, game(cells[0], 3, 3)),
        // Sides are fixed: `ab` moves first, loses and wins.
        (first, game(cells[1], 0, 2)),
        (first, game(cells[1], 1, 0)),
        // `fish` loses both, one of them by a crash.
        (first, theirs(0, None)),
        (first, theirs(1, Some("it went away"))),
        // Who moves first wins both.
        (first, game(cells[3], 0, 0)),
        (first, game(cells[3], 1, 6)),
        (first, limited(game(cells[4], 0, 0), 1_250)),
        (second, game(cells[4], 1, 0)),
        (first, limited(game(cells[4], 2, 0), 4_000)),
        (first, game(cells[5], 0, 0)),
        (first, game(cells[5], 1, 0)),
    ];
    transaction.store_games(&games).await.unwrap();
    let failed = GameId { cell: cells[1], number: 2 };
    transaction.settle_failed(&[(failed, "broken".to_owned())]).await.unwrap();
    let stopped = |cell| CellProgress {
        cell,
        next_number: 4,
        returned: Vec::new(),
        decided_number: 2,
        stop_number: Some(2),
    };
    let lost = |cell, number, lost| Attempts {
        game: GameId { cell, number },
        lost,
        lost_alone: lost.min(1),
        failed: 1 - lost.min(1),
    };
    let changes = Changes {
        cells: vec![stopped(cells[0]), stopped(cells[4])],
        attempts: vec![
            lost(cells[0], 1, 1),
            lost(cells[0], 2, 1),
            lost(cells[1], 2, 0),
            lost(cells[2], 3, 2),
        ],
        ..Changes::default()
    };
    transaction.apply(&changes).await.unwrap();
    let fewer = plan(5, "late");
    transaction.submit(sweep("uuid-2", "fewer", &fewer)).await.unwrap();
    transaction.commit().await.unwrap();
    Mixed { store, cells, workers: [first, second, third] }
}

impl Mixed {
    fn readers(&self) -> Readers {
        self.store.writer.readers()
    }

    async fn report(&self) -> Report {
        self.readers().report("mixed", Detail::Cells).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn a_summary_counts_the_cells_that_the_sweep_names() {
    let mixed = mixed().await;
    let summary = mixed.report().await.experiment;
    assert_eq!((summary.cells, summary.games_planned), (5, 2 + 3 + 4 + 2 + 2));
    assert_eq!((summary.games_settled, summary.games_failed), (11, 1));
}

#[tokio::test]
async fn what_is_told_of_whole_experiments_leaves_out_what_does_not_count() {
    let mixed = mixed().await;
    let cells = &mixed.cells;
    let report = mixed.report().await;
    // A game beyond the stop was lost, too, and one that failed was attempted before.
    assert_eq!(report.replayed, [ReplayedGames { cell: cells[0], games: 1 }]);
    let scaled = ScaledGames {
        cell: cells[4],
        games: 1,
        games_at_bound: 0,
        factor_permille_min: 1_250,
        factor_permille_max: 1_250,
    };
    assert_eq!(report.scaled.cells, [scaled]);
    assert_eq!(report.played_on, Some(PlayedOn { quiet: 0, others: 1, unknown: 1 }));
    let overview = mixed.readers().overview("mixed").await.unwrap().unwrap();
    assert_eq!(overview.cells[0].lengths, Lengths(BTreeMap::from([(2, 1), (3, 1)])));
    let shares = overview.workers.iter().map(|share| (share.worker, share.games));
    assert_eq!(shares.collect::<Vec<_>>(), [(mixed.workers[0], 10), (mixed.workers[1], 2)]);
}

#[tokio::test]
async fn searched_moves_are_told_by_phase_and_without_forced_ones() {
    let mixed = mixed().await;
    let phases = mixed.readers().phases("mixed").await.unwrap().unwrap();
    let moves = phases.cells[0].phases.iter().flat_map(|phase| phase.players);
    assert_eq!(moves.map(|moves| moves.searched_moves).sum::<u64>(), 2 + 2);
    // Of the second ply: 137 microseconds of `gm`, and 174 of `ab`.
    let [_, second] = &phases.cells[0].phases[..] else { panic!("{phases:?}") };
    assert_eq!(second.players.map(|moves| moves.wall_us_mean), [174.0, 137.0]);
}

/// Over three games of a side: 100 and 137 microseconds, and (100 + 618) / 2. The fourth side only had a forced move.
#[tokio::test]
async fn a_player_that_meets_itself_has_the_games_of_both_sides() {
    let mixed = mixed().await;
    let report = mixed.report().await;
    let its = report.moves.iter().find(|cost| cost.cell == mixed.cells[3]).unwrap();
    let mean = its.costs.wall_us_game_mean.unwrap().value;
    assert!((mean - (100.0 + 137.0 + 359.0) / 3.0).abs() < 1e-9, "{mean}");
}

#[tokio::test]
async fn engines_and_forfeits_are_told_of_who_had_them() {
    let mixed = mixed().await;
    let engines = mixed.report().await.engines;
    let used = engines.engines.iter().map(|used| (&*used.player, used.cells, used.games));
    assert_eq!(used.collect::<Vec<_>>(), [("fish", 1, 2)]);
    let [PlayerForfeits { player, games, by_kind }] = &engines.forfeits[..] else {
        panic!("{engines:?}")
    };
    assert_eq!((&**player, *games, by_kind.iter().sum::<u64>()), ("fish", 2, 1));
}

#[tokio::test]
async fn work_that_is_left_ends_where_cells_were_stopped() {
    let mixed = mixed().await;
    let experiment = mixed.store.submitted.experiment;
    let progress = mixed.readers().progress(experiment).await.unwrap().unwrap();
    assert_eq!((progress.backlog.games_left, progress.cells, progress.cells_settled), (2, 5, 4));
    assert_eq!(progress.cells_stopped, 2);
    // One for each of the six cells with two counted games.
    assert!((progress.spread.weight - 6.0).abs() < 1e-9, "{progress:?}");
    let settled = mixed.readers().settled_cells(experiment, 0, 10).await.unwrap();
    let settled: Vec<CellId> = settled.cells.iter().map(|cell| cell.cell).collect();
    // By their last games: a failed one came last.
    assert_eq!(settled, [0, 3, 4, 1].map(|index| mixed.cells[index]));
}

#[tokio::test]
async fn lists_of_games_leave_out_cells_that_left_the_sweep() {
    let mixed = mixed().await;
    let scope = GamesOf::Experiment(mixed.store.submitted.experiment);
    for order in [GamesOrder::Newest, GamesOrder::Number, GamesOrder::Settled] {
        let numbers = async |filter| {
            let question = GamesQuestion { scope, filter, order };
            let page = mixed.readers().games(question, None, 100).await.unwrap();
            assert!(page.games.iter().all(|game| game.game.cell != mixed.cells[5]), "{order:?}");
            page.games.len()
        };
        assert_eq!(numbers(GamesFilter::All).await, 14, "{order:?}");
        assert_eq!(numbers(GamesFilter::Counted).await, 10, "{order:?}");
        assert_eq!(numbers(GamesFilter::Uncounted).await, 4, "{order:?}");
        assert_eq!(numbers(GamesFilter::Failed).await, 1, "{order:?}");
    }
    let which = WhichGame::InCell(GameId { cell: mixed.cells[1], number: 1 });
    let FoundGame::Settled(game) = mixed.readers().game(which).await.unwrap() else { panic!() };
    assert_eq!(game.summary.players, ["ab", "gm"]);
}

#[tokio::test]
async fn pairs_that_one_mover_won_are_told_by_opening() {
    let mixed = mixed().await;
    let readers = mixed.readers();
    let openings = readers.openings(mixed.store.submitted.experiment, None, 100).await.unwrap();
    let its = openings.cells.iter().find(|part| part.cell == mixed.cells[3]).unwrap();
    let won = its
        .openings
        .iter()
        .map(|sums| (sums.pairs, sums.pairs_won_by_first_mover, sums.pairs_won_by_second_mover));
    assert_eq!(won.collect::<Vec<_>>(), [(1, 1, 0)]);
}

#[tokio::test]
async fn status_counts_stops_claims_and_lost_games() {
    let mixed = mixed().await;
    let readers = mixed.readers();
    let experiments = [mixed.report().await.experiment];
    let [stops] = &readers.stops(&experiments).await.unwrap()[..] else { panic!("one rule") };
    assert_eq!((stops.cells, stops.cells_ended), (5, 2));
    let claims = readers.claims_to_report(&experiments).await.unwrap();
    let claims =
        claims.iter().map(|ClaimOf { claim, .. }| (&*claim.text, claim.is_late, claim.in_sweep));
    let expected = [("stated", false, false), ("late", true, true)];
    assert_eq!(claims.collect::<Vec<_>>(), expected);
    let findings = readers.findings(&experiments).await.unwrap();
    let [lost] = &findings.lost[..] else { panic!("{findings:?}") };
    assert_eq!((lost.games, lost.suspects), (1, 0));
    let most = findings.failed[0].most.clone().unwrap();
    assert_eq!((findings.failed[0].games, &*most.message), (1, "broken"));
    // Also of the cell that left, and without what is beyond a stop.
    let removable = readers.removable("uuid-1", Removing::Everything).await.unwrap();
    assert_eq!((removable.cells, removable.games), (6, 13));
}

/// Of several experiments of a name the newest that is not over.
#[tokio::test]
async fn an_open_experiment_is_found_before_a_newer_one_that_is_over() {
    let mut store = Store::new().await;
    let mut transaction = store.writer.begin().await.unwrap();
    let plan = crate::fixture::plan("small");
    let newer = spelrum_store::Sweep { new_experiment: true, ..sweep("uuid-2", "text", &plan) };
    let newer = transaction.submit(newer).await.unwrap().experiment;
    transaction.commit().await.unwrap();
    let found = async |store: &Store| store.writer.readers().experiment_id("small").await.unwrap();
    assert_eq!(found(&store).await, Some(newer));
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.set_state(newer, ExperimentState::Finished).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(found(&store).await, Some(store.submitted.experiment));
}

/// With fixed sides the first player moves first in odd numbers, too.
#[tokio::test]
async fn who_moved_first_is_rated_where_sides_are_fixed() {
    let mut plan = empty_plan("fixed");
    add_cell_of(&mut plan, false, ["ab", "gm"], [alpha_beta(1), genetic(1)], 1, 20);
    let mut store = Store::with(&plan).await;
    // The first mover wins most games.
    let games: Vec<_> = (0..20)
        .map(|number| {
            let mut game = game(store.cell(0), number, 0);
            if number % 5 == 4 {
                game.record.outcome = Outcome::Loss;
            }
            game
        })
        .collect();
    store.store(&games).await;
    let ratings = store.writer.readers().ratings("fixed").await.unwrap().unwrap();
    let [group] = &ratings.groups[..] else { panic!("{ratings:?}") };
    let meeting = &group.meetings[0];
    assert_eq!((meeting.wins, meeting.draws, meeting.losses), (16, 0, 4));
    // `ab` always moved first, so the advantage of the first move cannot be separated from its strength.
    assert_eq!(group.first_move, None);
}

/// Each cell is compared by its own openings: the first player wins all of three, then loses all, then draws two.
#[tokio::test]
async fn cells_are_compared_by_their_own_openings() {
    let mut plan = empty_plan("compared");
    for depth in 1..=3 {
        add_cell(&mut plan, ["ab", "gm"], [alpha_beta(depth), genetic(depth)], depth, 6);
    }
    let mut store = Store::with(&plan).await;
    let outcomes = [[Outcome::Win, Outcome::Loss], [Outcome::Loss, Outcome::Win]];
    let mut games = Vec::new();
    for (cell, by_mover) in outcomes.into_iter().enumerate() {
        for number in 0..6 {
            let mut game = game(store.cell(cell), number, 0);
            game.record.outcome = by_mover[usize::from(number % 2 == 1)];
            games.push(game);
        }
    }
    games.extend((0..4).map(|number| game(store.cell(2), number, 1)));
    store.store(&games).await;
    let compared = store.writer.readers().comparisons("compared").await.unwrap().unwrap();
    let gains = compared.differences.iter();
    let gains: Vec<_> = gains.map(|gain| (gain.openings_shared, gain.score)).collect();
    assert_eq!(gains, [(3, -1.0), (2, 0.5)]);
}

/// Claims of gains and of times have the figures and the intervals of the tables.
#[tokio::test]
async fn claims_are_about_the_figures_of_the_report() {
    let mut plan = empty_plan("claimed");
    for depth in 1..=3 {
        add_cell(&mut plan, ["ab", "gm"], [alpha_beta(depth), genetic(depth)], depth, 6);
    }
    let bound = Bound::Above(0.25);
    let mut gain = claim("gm gains", [1, 0, 2, 1], Role::Opponent);
    gain.statement.about = About::Gain(bound);
    gain.statement.than = Some(Than::Before("depth".to_owned()));
    let mut times = claim("gm is slower", [0, 1], Role::Opponent);
    times.statement.about = About::TimeRatio(bound);
    plan.claims = vec![gain, times];
    let mut store = Store::with(&plan).await;
    let mut games = Vec::new();
    for cell in 0..3 {
        for number in 0..6 {
            let mut game = game(store.cell(cell), number, number);
            let is_won = (number / 2 + cell as u64).is_multiple_of(3);
            game.record.outcome = if is_won { Outcome::Win } else { Outcome::Draw };
            games.push(game);
        }
    }
    store.store(&games).await;
    let readers = store.writer.readers();
    let report = readers.report("claimed", Detail::Cells).await.unwrap().unwrap();
    let differences = readers.comparisons("claimed").await.unwrap().unwrap().differences;
    let [gain, times] = &report.claims[..] else { panic!("{:?}", report.claims) };
    let gains: Vec<_> = gain.estimates.iter().map(|estimate| estimate.unwrap()).collect();
    assert_eq!((gains.len(), differences.len()), (2, 2));
    for (gain, difference) in gains.iter().zip(&differences) {
        // The claim's player is the second.
        let (ours, theirs) = (gain.interval(0.05), difference.interval.unwrap());
        assert!((gain.value + difference.score).abs() < 1e-12, "{gain:?} {difference:?}");
        assert!((ours.low + theirs.high).abs() < 1e-9 || theirs.high >= 1.0);
    }
    for (number, time) in times.estimates.iter().enumerate() {
        let cost = |cost: &&MoveCost| cost.cell == store.cell(number) && cost.player == "gm";
        let shown = report.moves.iter().find(cost).unwrap().costs.us_ratio().unwrap();
        let ours = time.unwrap().interval(0.05).map(f64::exp);
        assert!((ours.value - shown.value).abs() < 1e-9, "{ours:?} {shown:?}");
        assert!((ours.high - shown.interval.unwrap().high).abs() < 1e-6 * ours.high);
    }
    let judged = report.judged_claims();
    assert_eq!(judged[0].judged.cases.len(), 2);
    assert!(judged.iter().all(|claim| claim.judged.figures.is_some()), "{judged:?}");
}

/// Cells that differ only on the axis of replicates are one row: the mean of their scores, also after the sweep names
/// the axis for games that were played before.
#[tokio::test]
async fn replicates_are_reported_as_their_mean() {
    check_replicates("depth", "depth").await;
    // A column of tables.
    check_replicates("run", "run.depth").await;
}

async fn check_replicates(replicates: &str, column: &str) {
    let mut plan = empty_plan("replicated");
    for depth in 1..=3 {
        add_cell(&mut plan, ["ab", "gm"], [alpha_beta(depth), genetic(depth)], depth, 6);
    }
    column.clone_into(&mut plan.axes[0].name);
    let mut store = Store::with(&plan).await;
    let mut games = Vec::new();
    // The first wins all of its games, the second loses all, and the third draws all.
    for (cell, score) in [Outcome::Win, Outcome::Loss, Outcome::Draw].into_iter().enumerate() {
        for number in 0..6 {
            let mut game = game(store.cell(cell), number, number);
            game.record.outcome = match (score, number % 2) {
                (Outcome::Win, 1) => Outcome::Loss,
                (Outcome::Loss, 1) => Outcome::Win,
                (score, _) => score,
            };
            games.push(game);
        }
    }
    store.store(&games).await;
    let report = store.writer.readers().report("replicated", Detail::Cells).await.unwrap().unwrap();
    assert_eq!((report.cells.len(), report.replicated), (3, None));

    plan.settings.replicates = Some(replicates.to_owned());
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.submit(sweep("uuid-2", "named", &plan)).await.unwrap();
    transaction.commit().await.unwrap();
    let report = store.writer.readers().report("replicated", Detail::Cells).await.unwrap().unwrap();
    assert_eq!(report.cells.len(), 3);
    let Some(Replicated { axis, groups, .. }) = report.replicated else { panic!("no replicates") };
    let [group] = &groups[..] else { panic!("{groups:?}") };
    assert_eq!((&*axis, group.seeds, group.score), (replicates, 3, 0.5));
    assert_eq!((&group.place, group.deviation), (&vec![None], Some(0.5)));
    let interval = group.interval.unwrap();
    assert!(interval.low < 0.1 && interval.high > 0.9, "{interval:?}");
}

#[tokio::test]
async fn a_run_is_reported_with_its_latest_estimate() {
    let mut store = Store::new().await;
    let experiment = store.submitted.experiment;
    let value = |number: f64| AxisValue { number: Some(number), text: number.to_string() };
    let estimated = |step, number| {
        let parameter = "depth".to_owned();
        let estimates = vec![Estimate { parameter, value: value(number), interval: None }];
        Note::Estimated(step, Estimated { estimates, race: None })
    };
    let begun = Begun {
        kind: CourseKind::Find,
        player: "ab".to_owned(),
        opponents: vec!["gm".to_owned()],
        axes: Vec::new(),
        start: Vec::new(),
    };
    let notes = [Note::Begun(begun), estimated(0, 2.0), estimated(1, 4.0), estimated(2, 3.0)];
    let mut transaction = store.writer.begin().await.unwrap();
    transaction.note(experiment, &notes.map(|note| Noted { run: 0, note })).await.unwrap();
    transaction.commit().await.unwrap();
    let runs = store.writer.readers().runs(experiment).await.unwrap();
    let [run] = &runs[..] else { panic!("{runs:?}") };
    assert_eq!((run.steps, run.estimates[0].value.number), (3, Some(3.0)));
}
