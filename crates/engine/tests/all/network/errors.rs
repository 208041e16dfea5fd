//! Errors by distance and by square, against a count over the whole table; and supplied networks.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_engine::network::{
    Network, NetworkBytesError, NetworkEvaluation, SuppliedNetwork, SupplyError, recipe_of,
};
use spelrum_engine::tables::TableValue;
use spelrum_engine::{Parameters, Value};

use super::{KRK, LARGE, PLAIN, recipe, trained};

/// The eight images of some squares.
fn images(squares: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    (0..8).map(move |symmetry| {
        let image = |square: &u8| {
            let (mut file, mut rank) = (square % 8, square / 8);
            if symmetry & 1 != 0 {
                file = 7 - file;
            }
            if symmetry & 2 != 0 {
                rank = 7 - rank;
            }
            if symmetry & 4 != 0 {
                (file, rank) = (rank, file);
            }
            8 * rank + file
        };
        squares.iter().map(image).collect()
    })
}

/// How often, the sum of differences, and that of their squares.
type Sums = (u64, f64, f64);

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-4
}

/// Validated by every position but the one that is learnt from: what the errors are of is the whole table.
#[test]
fn errors_are_those_of_a_count_over_the_table() {
    let json = |validation: u64| {
        format!(
            r#"{{"ending": "KRK", "inputs": "one-hot", "hidden": [4], "networks": "one", "epochs": 1,
                "examples": 1, "validation": {validation}}}"#
        )
    };
    let all = trained(&json(1)).runs[0].positions;
    let trained = trained(&json(all - 1));
    let mut seen = BTreeSet::new();
    let (mut distances, mut squares) = (BTreeMap::<u32, Sums>::new(), BTreeMap::<u8, Sums>::new());
    for position in KRK.positions() {
        let (TableValue::Win { plies } | TableValue::Loss { plies }) = position.value else {
            continue;
        };
        let squares_of_position: Vec<u8> = position.squares().collect();
        if !seen.insert((plies, images(&squares_of_position).min())) {
            continue;
        }
        let output = f64::from(trained.network.output(position.to_move(), &squares_of_position));
        let wrong = 80.0 * (output - f64::from(0.9 - f64::from(plies) as f32 / 80.0).max(0.0));
        let kings = images(&squares_of_position).map(|image| (image[1] / 8, 7 - image[1] % 8));
        let (rank, from_right) = kings.max().unwrap();
        let king = 8 * rank + 7 - from_right;
        for sums in [distances.entry(plies).or_default(), squares.entry(king).or_default()] {
            *sums = (sums.0 + 1, sums.1 + wrong, sums.2 + wrong * wrong);
        }
    }
    assert_eq!(seen.len() as u64, all);
    let mut missing = 0;
    assert_eq!(trained.distances.len(), distances.len());
    for row in &trained.distances {
        let (count, sum, sum_of_squares) = distances[&row.plies];
        missing += count - row.positions;
        if count == row.positions {
            assert!(close(row.error, (sum_of_squares / count as f64).sqrt()), "{row:?}");
            assert!(close(row.nearer, sum / count as f64), "{row:?} {sum}");
        }
    }
    assert_eq!(missing, 1);
    assert_eq!(trained.squares.len(), squares.len());
    for row in &trained.squares {
        let (count, _, sum_of_squares) = squares[&row.square];
        missing += count - row.positions;
        if count == row.positions {
            assert!(close(row.error, (sum_of_squares / count as f64).sqrt()), "{row:?}");
        }
    }
    assert_eq!(missing, 2);
    assert_eq!(squares.len(), 10, "black's king is seen in one triangle");
}

/// Draws are nowhere among the distances, and among the squares.
#[test]
fn draws_have_no_distance() {
    let trained = trained(LARGE);
    for network in 0..2 {
        let distances = trained.distances.iter().filter(|row| row.network == network);
        let squares = trained.squares.iter().filter(|row| row.network == network);
        let positions: u64 = squares.map(|row| row.positions).sum();
        assert_eq!(positions, 200);
        let decided: u64 = distances.map(|row| row.positions).sum();
        assert!(decided <= 200 && (network == 0 || decided < 200), "{network}: {decided}");
    }
    assert!(trained.distances.iter().all(|row| row.plies % 2 == 1 - row.network));
}

/// Who is given a network has that one, whatever its recipe would have come to.
#[test]
fn a_supplied_network_is_the_one_that_plays() {
    // A recipe that no other test has: networks are shared by the whole process.
    let json = PLAIN.replace(r#""epochs": 4"#, r#""epochs": 9, "seed": 31"#);
    let other = trained(&json.replace("31", "32")).network;
    let supplied = SuppliedNetwork::new(recipe(&json), &other.to_bytes()).unwrap();
    let evaluation = NetworkEvaluation::new(recipe(&json));
    assert_eq!(evaluation.network(), Some(&other));
    drop((supplied, evaluation));
    // Nobody keeps it any more: it is trained again.
    let own = NetworkEvaluation::new(recipe(&json));
    assert_eq!(own.network(), Some(&trained(&json).network));
}

#[test]
fn what_is_not_the_recipes_network_is_not_taken() {
    let network: Network = trained(PLAIN).network;
    let error = SuppliedNetwork::new(recipe(LARGE), &network.to_bytes()).unwrap_err();
    assert_eq!(error, SupplyError::OtherForm);
    let mut damaged = network.to_bytes();
    damaged[60] ^= 1;
    let error = SuppliedNetwork::new(recipe(PLAIN), &damaged).unwrap_err();
    assert_eq!(error, SupplyError::Bytes(NetworkBytesError::Hash));
}

#[test]
fn a_hash_is_that_of_the_bytes() {
    let network = trained(PLAIN).network;
    assert_eq!(network.to_bytes().last_chunk(), Some(&network.sha256()));
    assert_ne!(network.sha256(), trained(LARGE).network.sha256());
}

#[test]
fn only_a_player_with_a_network_has_a_recipe() {
    let own = recipe(PLAIN);
    let player = |evaluation: &str| {
        let network = Value::Table(own.parameters().clone());
        let evaluation = Value::Text(evaluation.to_owned());
        Parameters::from([("evaluation".to_owned(), evaluation), ("network".to_owned(), network)])
    };
    assert_eq!(recipe_of(&player("network")), Some(own.clone()));
    assert_eq!(recipe_of(&player("material")), None);
    assert_eq!(recipe_of(&Parameters::new()), None);
    assert!(own.makes(&trained(PLAIN).network) && !own.makes(&trained(LARGE).network));
}
