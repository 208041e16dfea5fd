//! Excluding workers, as the contract has it.

use std::collections::BTreeMap;

use proptest::prelude::*;
use spelrum_coordinator::store::contract::WriteTransaction;
use spelrum_coordinator::store::{StoreError, TakenOut};
use spelrum_tournament::CellId;

use super::{Known, text};

/// Something that is asked of a store.
#[derive(Clone, Debug)]
pub(super) enum Exclusion {
    Begin { worker: u8, experiment: Option<u8>, since: Option<i64> },
    All,
    Readmit { worker: u8 },
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
        1 => (0_u8..4).prop_map(|worker| Exclusion::Readmit { worker }),
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
                answers.push(text(&transaction.whole(taken.experiment).await));
            }
            answers.join(" ")
        }
        Exclusion::Readmit { worker } => match known.worker(worker) {
            Some(worker) => text(&transaction.readmit(&[worker]).await),
            None => String::new(),
        },
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
