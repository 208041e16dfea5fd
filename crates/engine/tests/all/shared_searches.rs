//! Games that share their searches come out as if every search were compiled for each of them alone.

use spelrum_engine::evaluation::NoContents;
use spelrum_engine::games::Nim;
use spelrum_engine::{
    ALGORITHMS, Game, Parameters, Player, Rules, Timeless, Value, check_reference,
};
use spelrum_engine::{move_values, presets_of};

use crate::common::{chosen, evaluations_of_parameters, play, start, without_times};

/// Limits under which a game takes a moment.
const LIMITS: [(&str, i64); 2] = [("depth", 4), ("nodes", 2_000)];

/// One game: compiling searches for it is what sharing saves. `values.rs` holds those of all games to minimax.
#[test]
fn games_that_share_searches_come_out_as_with_their_own() {
    let compared = played_alike::<Nim>(&Nim::rules(&[2, 3, 4], true).unwrap());
    assert!(compared > 15, "{compared} pairs of players");
}

/// Plays games and values moves with every algorithm and evaluation, in both ways.
fn played_alike<G: Game>(rules: &Rules) -> u64 {
    let mut compared = 0;
    for given in players::<G>() {
        // Some play only one game; others have no depth.
        let Ok(shared) = Player::from_parameters(rules, &given) else { continue };
        let own = Player::new::<G>(&given, &NoContents).unwrap();
        assert_eq!(shared, own);
        for seed in 0..3 {
            let [by_shared, by_own] = [&shared, &own]
                .map(|player| without_times(&play(rules, [player; 2], seed, &Timeless)));
            assert_eq!(by_shared, by_own, "{given:?}");
        }
        if check_reference(&shared).is_ok() {
            let values = [&shared, &own]
                .map(|player| move_values(rules, &start(rules), player, &Timeless).unwrap());
            assert_eq!(values[0], values[1], "{given:?}");
        }
        compared += 1;
    }
    compared
}

/// Players of every algorithm, preset and evaluation, with each limit.
fn players<G: Game>() -> Vec<Parameters> {
    let mut players = Vec::new();
    for &algorithm in ALGORITHMS {
        let presets = presets_of(algorithm).into_iter().map(Some).chain([None]);
        for preset in presets {
            for evaluation in evaluations_of_parameters::<G>() {
                for (limit, value) in LIMITS {
                    let mut given = chosen(evaluation);
                    let words = [("algorithm", Some(algorithm)), ("preset", preset)];
                    for (key, word) in words {
                        let word = word.map(|word| (key.to_owned(), Value::Text(word.into())));
                        given.extend(word);
                    }
                    given.insert(limit.to_owned(), Value::Integer(value));
                    players.push(given);
                }
            }
        }
    }
    // Without parameters at all.
    players.extend(
        ALGORITHMS
            .iter()
            .map(|&algorithm| [("algorithm".to_owned(), Value::Text(algorithm.into()))].into()),
    );
    players
}
