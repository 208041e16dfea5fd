//! Accuracy experiments: what each move is worth is stored once, and how well players choose follows from the
//! rows.

use std::collections::BTreeMap;

use spelrum_answers::{CellAccuracy, Detail};
use spelrum_engine::{ALGORITHMS, MoveValue, Timeless, Value, values_decide_winner};
use spelrum_model::{CellId, GameId, OpeningsCache, Plan, PlayableCell, PlayedGame};
use spelrum_statistics::choice::{Accuracy, AccuracySums, Choice};
use spelrum_store::{Readers, SqlValue, Writer};
use spelrum_sweep::{SweepText, plan_sweep};

use crate::fixture::{Store, parameters};

const SWEEP: &str = "name = \"choices\"
kind = \"accuracy\"
game = \"tic-tac-toe\"
seed = 11
positions = { kind = \"random\", plies = [2, 4] }
choices = 20

[reference]
algorithm = \"exact\"

[axes]
depth = [1, 3]

[players.minimax]
algorithm = \"minimax\"
depth = \"$depth\"

[players.random]
algorithm = \"random\"
";

/// The same by scores, of which none says who wins.
const BY_SCORES: &str = "algorithm = \"minimax\"\ndepth = 2";

/// An ending with a table of its own.
const ENDING: &str = "name = \"choices\"
kind = \"accuracy\"
game = \"chess\"
seed = 11
positions = { kind = \"ending\", ending = \"KRK\" }
choices = 24

[reference]
algorithm = \"table\"

[players.minimax]
algorithm = \"minimax\"
depth = 1

[players.random]
algorithm = \"random\"
";

fn plan() -> Plan {
    planned(SWEEP)
}

fn planned(sweep: &str) -> Plan {
    plan_sweep(&SweepText::new("choices.toml", sweep)).unwrap()
}

/// Every choice of the plan's cells, which have these ids.
fn choices(plan: &Plan, ids: &[CellId]) -> Vec<PlayedGame> {
    let openings = OpeningsCache::default();
    let of_cell = |(cell, id): (_, &CellId)| {
        let playable = PlayableCell::with_cache(plan.definition(cell), &openings).unwrap();
        let choice = |number| {
            let (derived, record) = playable.play(number, None, &Timeless).unwrap();
            let values = playable.values(&derived.opening, &Timeless).unwrap();
            let game = GameId { cell: *id, number };
            PlayedGame::new(game, &derived, record, 1).with_values(values)
        };
        (0..cell.games).map(choice).collect::<Vec<_>>()
    };
    plan.cells.iter().zip(ids).flat_map(of_cell).collect()
}

async fn accuracy(store: &Readers) -> Vec<CellAccuracy> {
    store.report("choices", Detail::Cells).await.unwrap().unwrap().accuracy
}

/// The same but for what the order of sums leaves in the last digits.
fn assert_same(ours: &[CellAccuracy], theirs: &[CellAccuracy]) {
    let digits = |all: &[CellAccuracy]| {
        let rounded = |row: &CellAccuracy| {
            let text = format!("{:?}", row.accuracy);
            let figures = text.split(|c: char| !(c.is_ascii_digit() || "-.e".contains(c)));
            let figures = figures.filter_map(|figure| figure.parse::<f64>().ok());
            let figures: Vec<String> = figures
                .map(|figure| format!("{:.9}", (figure * 1e9).round() / 1e9 + 0.0))
                .collect();
            (row.cell, row.reference.clone(), row.plies, figures)
        };
        all.iter().map(rounded).collect::<Vec<_>>()
    };
    assert_eq!(digits(ours), digits(theirs));
}

#[tokio::test]
async fn choices_are_counted_as_they_come() {
    let plan = plan();
    let mut store = Store::with(&plan).await;
    let ids: Vec<CellId> = store.submitted.cells.iter().map(|cell| cell.cell).collect();
    let played = choices(&plan, &ids);
    assert_eq!(accuracy(&store.writer.readers()).await, []);

    // In pieces, as they come in; some of them again.
    for piece in played.chunks(7) {
        store.store(piece).await;
    }
    store.store(&played[..9]).await;

    // The obvious way: every choice on its own.
    let mut sums: BTreeMap<CellId, AccuracySums> = BTreeMap::new();
    for PlayedGame { game, record, values, .. } in &played {
        let chosen = values.iter().position(|value| value.mv == record.moves[0].mv).unwrap();
        let values: Vec<i64> = values.iter().map(|value| value.value).collect();
        if let Some(choice) = Choice::new(&values, chosen) {
            sums.entry(game.cell).or_default().add(&choice, true);
        }
    }
    let rows = accuracy(&store.writer.readers()).await;
    let whole: Vec<CellAccuracy> = rows.iter().filter(|row| row.plies.is_none()).cloned().collect();
    let expected = whole.iter().map(|row| CellAccuracy {
        accuracy: Accuracy::from_sums(&sums[&row.cell]).unwrap(),
        ..row.clone()
    });
    assert_eq!(whole.len(), ids.len());
    assert_same(&whole, &expected.collect::<Vec<_>>());
    assert!(whole.iter().all(|row| row.reference == "exact"));
    let plies: Vec<_> = rows.iter().map(|row| row.plies).collect();
    assert_eq!(plies, [None, Some(2), Some(4)].repeat(ids.len()));

    // Twenty positions, each valued once for all three cells.
    assert_eq!(store.integer("SELECT count(*) FROM valued_positions").await, 20);
    let values = store.integer("SELECT count(*) FROM move_values").await;
    assert_eq!(values, 10 * 7 + 10 * 5);
    let ranks = "SELECT count(*) FROM valued_positions AS p WHERE p.legal_moves * p.random_rank <>
        (SELECT sum(v.rank) FROM move_values AS v WHERE v.valued_position_id = p.valued_position_id)";
    assert_eq!(store.integer(ranks).await, 0);
    // The views agree with what is told.
    let asked = "SELECT sum(positions) FROM accuracy";
    let positions: u64 = whole.iter().map(|row| row.accuracy.positions).sum();
    assert_eq!(store.integer(asked).await, i64::try_from(positions).unwrap());
    let own = "SELECT count(*) FROM results_choices WHERE reference = 'reference' AND depth = 1";
    assert_eq!(store.integer(own).await, 1);
    store.assert_recount().await;
}

/// The names of references that say who wins are in the views, and are those that the engine has.
#[test]
fn the_views_know_which_references_say_who_wins() {
    let says = |name: &&&str| {
        values_decide_winner(&parameters(&[("algorithm", Value::Text((**name).to_owned()))]))
    };
    let names: Vec<&&str> = ALGORITHMS.iter().filter(says).collect();
    assert_eq!(names, [&"exact", &"table"]);
}

/// Counted from the rows of moves and values one by one, as SQL shows them and as a report tells them.
#[tokio::test]
async fn wins_kept_are_counted_where_the_reference_says_who_wins() {
    let by_scores = SWEEP.replace("algorithm = \"exact\"", BY_SCORES);
    for (toml, says_who_wins) in [(SWEEP, true), (&*by_scores, false), (ENDING, true)] {
        let plan = planned(toml);
        let mut store = Store::with(&plan).await;
        let ids: Vec<CellId> = store.submitted.cells.iter().map(|cell| cell.cell).collect();
        let played = choices(&plan, &ids);
        store.store(&played).await;
        let rows = accuracy(&store.writer.readers()).await;

        let mut winnable_in_all = 0;
        for cell in &ids {
            // How often kept, and the sum of a random mover's chances.
            let (mut winnable, mut kept, mut random) = (0_u32, 0_u32, 0.0);
            for PlayedGame { record, values, .. } in
                played.iter().filter(|played| played.game.cell == *cell)
            {
                let wins = values.iter().filter(|value| value.value > 0).count();
                if says_who_wins && wins > 0 && wins < values.len() {
                    let chosen =
                        values.iter().find(|value| value.mv == record.moves[0].mv).unwrap();
                    winnable += 1;
                    kept += u32::from(chosen.value > 0);
                    random += wins as f64 / values.len() as f64;
                }
            }
            winnable_in_all += winnable;
            let whole = rows.iter().find(|row| row.cell == *cell && row.plies.is_none()).unwrap();
            let sql = format!(
                "SELECT winnable, keeps_win, random_keeps_win, keeps_win_skill FROM accuracy
                WHERE cell_id = {}",
                cell.0
            );
            let rows = store.rows(&sql).await;
            let of_choices = format!(
                "SELECT count(keeps_win), coalesce(sum(keeps_win), 0), count(random_keeps_win)
                FROM choices WHERE cell_id = {}",
                cell.0
            );
            let [winnable, kept] = [winnable, kept].map(i64::from);
            let integers = [winnable, kept, winnable].map(SqlValue::Integer);
            assert_eq!(store.rows(&of_choices).await, [integers.to_vec()]);
            if winnable == 0 {
                assert_eq!(whole.accuracy.wins, None);
                let counted = if says_who_wins { SqlValue::Integer(0) } else { SqlValue::Null };
                assert_eq!(rows, [[counted, SqlValue::Null, SqlValue::Null, SqlValue::Null]]);
                continue;
            }
            let winnable_positions = winnable as f64;
            let [kept, random] = [kept as f64 / winnable_positions, random / winnable_positions];
            let wins = whole.accuracy.wins.unwrap();
            let [
                SqlValue::Integer(counted),
                SqlValue::Real(share),
                SqlValue::Real(chance),
                SqlValue::Real(skill),
            ] = *rows[0]
            else {
                panic!("{rows:?}")
            };
            assert_eq!((counted, wins.positions), (winnable, winnable as u64));
            for (found, expected) in [
                (share, kept),
                (chance, random),
                (skill, (kept - random) / (1.0 - random)),
                (wins.share.value, kept),
                (wins.random, random),
                (wins.skill.value, (kept - random) / (1.0 - random)),
            ] {
                assert!((found - expected).abs() < 1e-12, "{toml}: {found} for {expected}");
            }
        }
        assert_eq!(winnable_in_all > 10, says_who_wins, "{toml}: {winnable_in_all}");
    }
}

/// Every player is held against the same values: those that came first.
#[tokio::test]
async fn the_first_values_of_a_position_stay() {
    let plan = plan();
    let mut store = Store::with(&plan).await;
    let ids: Vec<CellId> = store.submitted.cells.iter().map(|cell| cell.cell).collect();
    let mut played = choices(&plan, &ids);
    let position = played[0].opening.clone();
    let values = played[0].values.clone();
    let of_first = played.iter().filter(|game| game.opening == position).count();
    assert_eq!(of_first, ids.len());
    for later in played.iter_mut().skip(1).filter(|game| game.opening == position) {
        later.values =
            values.iter().map(|value| MoveValue { value: -value.value, ..value.clone() }).collect();
    }
    store.store(&played).await;
    let readers = store.writer.readers();
    let revision = spelrum_engine::ENGINE_REVISION;
    for id in &ids {
        assert_eq!(readers.values_of(*id, &position, revision).await.unwrap(), values);
        assert_eq!(readers.values_of(*id, &position, revision + 1).await.unwrap(), []);
    }
    assert_eq!(readers.values_of(ids[0], "x...o....", revision).await.unwrap().len() % 7, 0);
}

/// What is in the file of an export counts the same where it is imported.
#[tokio::test]
async fn an_exported_experiment_brings_its_values() {
    let plan = plan();
    let mut store = Store::with_text(&plan, SWEEP).await;
    let ids: Vec<CellId> = store.submitted.cells.iter().map(|cell| cell.cell).collect();
    store.store(&choices(&plan, &ids)).await;
    let rows = accuracy(&store.writer.readers()).await;
    let file = store.directory.path().join("export.db");
    let experiment = [store.submitted.experiment];
    let readers = store.writer.readers();
    let to = file.clone();
    tokio::task::spawn_blocking(move || {
        readers.export(&experiment, &to, || std::ops::ControlFlow::Continue(())).unwrap();
    })
    .await
    .unwrap();

    let directory = tempfile::tempdir().unwrap();
    let mut other = Writer::open(&directory.path().join("other.db")).await.unwrap();
    let imported = other.import(&file, false, |_| std::ops::ControlFlow::Continue(())).await;
    assert!(imported.is_ok(), "{imported:?}");
    assert_same(&accuracy(&other.readers()).await, &rows);
    let differences = other.readers().recount().await.unwrap();
    assert!(differences.is_empty());
}
