//! Verifying games, as the contract has it.

use proptest::prelude::*;
use spelrum_model::{Difference, GameId, PlayedVerification};
use spelrum_store::contract::WriteTransaction;
use spelrum_store::{StoreError, ToVerify};

use super::{Known, text};
use crate::fixture::game;

/// Something that is asked of a store.
#[derive(Clone, Debug)]
pub(super) enum Verification {
    Order { cell: u8, number: u8 },
    Verdict { worker: u8, verification: u8, differs: bool },
}

pub(super) fn verifications() -> impl Strategy<Value = Verification> {
    prop_oneof![
        (any::<u8>(), 0_u8..12).prop_map(|(cell, number)| Verification::Order { cell, number }),
        (0_u8..3, any::<u8>(), any::<bool>()).prop_map(|(worker, verification, differs)| {
            Verification::Verdict { worker, verification, differs }
        }),
    ]
}

/// Asks it, and learns which cells are verifications.
pub(super) async fn ask(
    transaction: &mut impl WriteTransaction,
    known: &Known,
    learnt: &mut Known,
    verification: &Verification,
) -> Result<String, StoreError> {
    Ok(match *verification {
        Verification::Order { cell, number } => match known.cell(cell) {
            Some(cell) => {
                // Nobody knows the ids of results here: one of these is it, if there is one.
                let to_verify = |game_id: i64| ToVerify {
                    game_id,
                    game: GameId { cell, number: number.into() },
                    definition_json: "{}".to_owned(),
                    stops: vec![game_id.unsigned_abs(), 1],
                    played_by: known.worker(number),
                };
                let games: Vec<_> = (1..=80).map(to_verify).collect();
                let experiment = known.cells[&cell];
                let ordered = transaction.order_verifications(experiment, &games).await;
                for state in ordered.iter().flatten() {
                    learnt.cells.insert(state.cell, experiment);
                    learnt.verifications.insert(state.cell);
                }
                text(&ordered)
            }
            None => String::new(),
        },
        Verification::Verdict { worker, verification, differs } => {
            let its = || known.verifications.iter().filter(|cell| known.cells.contains_key(*cell));
            let index = usize::from(verification).checked_rem(its().count());
            let cell = index.and_then(|index| its().nth(index).copied());
            match known.worker(worker).zip(cell) {
                Some((worker, cell)) => {
                    let fields = Vec::new();
                    let difference = differs.then_some(Difference { ply: Some(3), fields });
                    let verified = PlayedVerification { played: game(cell, 0, 1), difference };
                    let verified = [(worker, verified.clone()), (worker, verified)];
                    text(&transaction.store_verifications(&verified).await)
                }
                None => String::new(),
            }
        }
    })
}
