//! Results of training.

use sha2::{Digest, Sha256};
use spelrum_engine::network::{Network, TrainError, Trained, train};
use spelrum_engine::{Side, Timeless};

use super::{KRK, LARGE, PLAIN, REGIONS, recipe, table, trained};
use crate::common::Counting;

/// Machines and builds train the same networks: whoever changes one changes what recipes mean, which are
/// named by their hash elsewhere.
#[test]
fn weights_are_the_same_for_all_time() {
    let summary = |json: &str| {
        let trained = trained(json);
        let bytes = trained.network.to_bytes();
        let hash =
            bytes[bytes.len() - 32..].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let epochs = trained.epochs.iter().map(|epoch| {
            let errors = [epoch.training_error, epoch.validation_error];
            format!("{} {} {errors:?}", epoch.network, epoch.epoch)
        });
        format!("{hash}\n{}", epochs.collect::<Vec<_>>().join("\n"))
    };
    insta::assert_snapshot!([PLAIN, LARGE].map(summary).join("\n\n"));
}

fn check(trained: &Trained, networks: usize) {
    assert_eq!(trained.runs.len(), networks);
    for (network, run) in (0..).zip(&trained.runs) {
        assert_eq!(run.network, network);
        let epochs = trained.epochs.iter().filter(|epoch| epoch.network == network);
        let epochs: Vec<_> = epochs.collect();
        let numbers: Vec<u32> = epochs.iter().map(|epoch| epoch.epoch).collect();
        assert_eq!(numbers, (1..=epochs.len() as u32).collect::<Vec<_>>());
        let least = epochs.iter().map(|epoch| epoch.validation_error).fold(f64::MAX, f64::min);
        assert_eq!(run.validation_error, least);
        assert_eq!(epochs[run.best_epoch as usize - 1].validation_error, least);
        assert!(run.validation_error < run.constant_error / 2.0, "{run:?}");
        // The error over all is made of those of the sides.
        let sides = trained.sides.iter().filter(|side| side.network == network);
        let squares = sides.clone().map(|side| side.positions as f64 * side.error * side.error);
        let positions: u64 = sides.map(|side| side.positions).sum();
        assert_eq!(positions, run.validation);
        let error = (squares.sum::<f64>() / positions as f64).sqrt();
        assert!((error - run.validation_error).abs() < 1e-9, "{error} {run:?}");
    }
}

#[test]
fn the_ending_is_learnt() {
    let plain = trained(PLAIN);
    assert_eq!((plain.epochs.len(), plain.runs[0].examples), (4, 4_000));
    check(&trained(&PLAIN.replace(r#""epochs": 4"#, r#""epochs": 60"#)), 1);
    check(&trained(&LARGE.replace(r#""epochs": 3"#, r#""epochs": 12"#)), 2);
    let large = trained(LARGE);
    let sides: Vec<_> = large.sides.iter().map(|side| (side.network, side.to_move)).collect();
    assert_eq!(sides, [(0, Side::First), (1, Side::Second)]);
    // All positions but the 200 are examples.
    for run in &large.runs {
        assert_eq!(run.examples + run.validation, run.positions);
    }
    let mut reported = Vec::new();
    let again = train(&recipe(LARGE), &KRK, &Timeless, |epoch| reported.push(*epoch)).unwrap();
    assert_eq!(reported, large.epochs);
    assert_eq!(again, large);
}

/// The network is that of the best epoch: the first so many epochs, alone, give the same one.
#[test]
fn the_best_weights_are_kept() {
    let json = |epochs: u32, patience: u32| {
        format!(
            r#"{{"ending": "KRK", "inputs": "one-hot", "hidden": [16], "networks": "black",
                "examples": 300, "validation": 200, "epochs": {epochs}, "patience": {patience},
                "rate": 2, "schedule": "constant"}}"#
        )
    };
    let all = trained(&json(150, 0));
    let best = all.runs[0].best_epoch;
    assert_eq!(all.epochs.len(), 150);
    assert!(best < 140, "it learns by heart: {best}");
    let until_then = trained(&json(best, 0));
    assert_eq!(until_then.network, all.network);
    assert_eq!(until_then.epochs, all.epochs[..best as usize]);
    // With patience, it ends so many epochs after the first best, or after one that came before.
    let patient = trained(&json(150, 4));
    let last = patient.epochs.len();
    assert_eq!(patient.epochs, all.epochs[..last]);
    assert_eq!(last as u32, patient.runs[0].best_epoch + 4);
    assert_eq!(all.sides.len(), 1, "black's positions alone are learnt");
}

/// Each region's network answers as the only network of a recipe whose weights it has, where it is asked.
#[test]
fn regions_have_networks_of_their_own() {
    let trained = trained(REGIONS);
    assert_eq!((trained.runs.len(), trained.sides.len()), (8, 8));
    let names = [0, 1, 6, 7].map(|part| trained.network.part_name(part));
    assert_eq!(names, ["white, region 1", "black, region 1", "white, region 4", "black, region 4"]);
    let positions = |part: u32| trained.runs[part as usize].positions;
    assert!(
        positions(0) > positions(2) && positions(2) > positions(4) && positions(4) > positions(6)
    );
    let bytes = trained.network.to_bytes();
    let (header, weights) = (8 + 2 + (2 + 3) + 4 + 16 + 2 + 2, trained.network.weights() / 8);
    for region in 0..4 {
        // The two networks of this region alone, with the hash of such bytes.
        let begin = header + 4 * 2 * weights * region;
        let mut alone = [&bytes[..header], &bytes[begin..begin + 4 * 2 * weights]].concat();
        alone[18] %= 16;
        alone.extend_from_slice(&Sha256::digest(&alone));
        let alone = Network::from_bytes(&alone).unwrap();
        let mut same = 0;
        for position in KRK.positions().step_by(53) {
            let squares: Vec<u8> = position.squares().collect();
            let (file, rank) = (squares[1] % 8, squares[1] / 8);
            let to_edge = [file, 7 - file, rank, 7 - rank].into_iter().min();
            let answers = [&trained.network, &alone]
                .map(|network| network.output(position.to_move(), &squares));
            if to_edge == Some(region as u8) {
                assert_eq!(answers[0], answers[1]);
                same += 1;
            } else {
                assert_ne!(answers[0], answers[1]);
            }
        }
        assert!(same > 50, "{region}: {same}");
    }
}

#[test]
fn a_training_is_aborted_wherever_it_is() {
    let recipe = recipe(PLAIN);
    let count = Counting::default();
    train(&recipe, &KRK, &count, |_| {}).unwrap();
    let looks = count.looks.get();
    assert!(looks > 4 * 4_000 / 256, "{looks}");
    for at in [1, 2, looks / 2, looks] {
        let host = Counting { abort_at_look: Some(at), ..Counting::default() };
        let result = train(&recipe, &KRK, &host, |_| {});
        assert_eq!(result, Err(TrainError::Aborted), "at look {at} of {looks}");
        assert_eq!(host.looks.get(), at, "it ends at once");
    }
}

#[test]
fn weights_that_are_no_numbers_end_it() {
    let json = r#"{"ending": "KRK", "inputs": "one-hot", "hidden": [64, 64, 64], "rate": 1000,
        "examples": 2000, "schedule": "constant", "epochs": 50}"#;
    let result = train(&recipe(json), &KRK, &Timeless, |_| {});
    let Err(error @ TrainError::Diverged { network: 0, .. }) = result else { panic!("{result:?}") };
    assert!(error.to_string().contains("choose a smaller `rate`"), "{error}");
}

/// Nobody wins with two knights, but for mates that the other side walks into.
#[test]
fn an_ending_without_enough_wins_is_refused() {
    let result = train(&recipe(r#"{"ending": "KBK"}"#), &table("KBK"), &Timeless, |_| {});
    assert_eq!(result, Err(TrainError::TooFewPositions { network: 0, needed: 1_001, found: 0 }));
}

#[test]
#[should_panic(expected = "the table is of the recipe's ending")]
fn the_table_of_another_ending_is_refused() {
    drop(train(&recipe(r#"{"ending": "KQK"}"#), &KRK, &Timeless, |_| {}));
}
