//! Excluding workers, as the contract has it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use spelrum_model::withheld::Barred;
use spelrum_model::{CellId, GameId};
use spelrum_store::contract::WriteTransaction;
use spelrum_store::{StoreError, TakenOut};

use super::{Known, text};

/// Something that is asked of a store.
#[derive(Clone, Debug)]
pub(super) enum Exclusion {
    Begin { worker: u8, experiment: Option<u8>, since: Option<i64> },
    All,
    Readmit { worker: u8, only: bool },
    Bar { worker: u8, engine: &'static str },
    InheritBars { worker: u8 },
    Stop,
    Inherit { worker: u8 },
    Ask { worker: u8, experiment: Option<u8> },
}

pub(super) fn exclusions() -> impl Strategy<Value = Exclusion> {
    // Games begin at a time by their numbers.
    let since = || prop::option::weighted(0.3, 1_700_000_000_000_000_i64..1_700_000_000_000_012);
    let experiment = || prop::option::of(any::<u8>());
    prop_oneof![
        3 => (0_u8..3, experiment(), since()).prop_map(|(worker, experiment, since)| {
            Exclusion::Begin { worker, experiment, since }
        }),
        3 => Just(Exclusion::All),
        1 => (0_u8..4, any::<bool>())
            .prop_map(|(worker, only)| Exclusion::Readmit { worker, only }),
        2 => (0_u8..3, prop::sample::select(vec!["fish", "bird"]))
            .prop_map(|(worker, engine)| Exclusion::Bar { worker, engine }),
        1 => (0_u8..4).prop_map(|worker| Exclusion::InheritBars { worker }),
        2 => Just(Exclusion::Stop),
        1 => (0_u8..4).prop_map(|worker| Exclusion::Inherit { worker }),
        1 => (0_u8..4, experiment())
            .prop_map(|(worker, experiment)| Exclusion::Ask { worker, experiment }),
    ]
}

/// Asks it; what a store does in pieces counts as a whole.
pub(super) async fn ask(
    transaction: &mut impl WriteTransaction,
    known: &Known,
    exclusion: &Exclusion,
) -> Result<String, StoreError> {
    let experiment = |index: Option<u8>| index.and_then(|index| known.experiment(index));
    Ok(match *exclusion {
        Exclusion::Begin { worker, experiment: from, since } => match known.worker(worker) {
            Some(worker) => {
                let begun = transaction.begin_exclusion(worker, experiment(from), since).await;
                text(&begun)
            }
            None => String::new(),
        },
        Exclusion::All => {
            let mut all: BTreeMap<CellId, TakenOut> = BTreeMap::new();
            while let Some(taken) = transaction.exclude_some().await? {
                for mut taken in taken {
                    if let Some(before) = all.remove(&taken.cell) {
                        taken.games.extend(before.games);
                        taken.games.sort_unstable();
                    }
                    all.insert(taken.cell, taken);
                }
            }
            let mut answers = vec![format!("{:?}", all.values())];
            for taken in all.values() {
                answers.push(text(&transaction.reload_experiment(taken.experiment).await));
            }
            answers.join(" ")
        }
        Exclusion::Readmit { worker, only } => match known.worker(worker) {
            Some(worker) => text(&transaction.readmit(&[worker], only.then_some("fish")).await),
            None => String::new(),
        },
        Exclusion::Bar { worker, engine } => match known.worker(worker) {
            Some(worker) => {
                let engine = engine.to_owned();
                let barred = Barred { engine, forfeits: 6, games: 7, of_others: [1, 20] };
                text(&transaction.bar(worker, &barred).await)
            }
            None => String::new(),
        },
        Exclusion::InheritBars { worker } => match known.worker(worker) {
            Some(worker) => text(&transaction.inherit_bars(worker).await),
            None => String::new(),
        },
        Exclusion::Stop => {
            // Those that there may be: of others nothing is known.
            let cells: Vec<CellId> = (1..60).map(CellId).collect();
            let sides = GameId { cell: cells[0], number: 1 };
            let sides = text(&transaction.engines_of_sides(sides).await);
            format!("{sides} {}", text(&transaction.stop_for_forfeits(&cells).await))
        }
        Exclusion::Inherit { worker } => match known.worker(worker) {
            Some(worker) => text(&transaction.inherit_exclusions(worker).await),
            None => String::new(),
        },
        Exclusion::Ask { worker, experiment: from } => {
            let from = experiment(from);
            let name = format!("name of worker {worker}");
            let by_name = transaction.excludable(&name, from).await;
            let by_id = transaction.excludable(&worker.to_string(), from).await;
            format!("{} {}", text(&by_name), text(&by_id))
        }
    })
}
