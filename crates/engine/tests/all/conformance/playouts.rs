//! Random games: a game's own fast implementations against the plain ones.

use spelrum_engine::{Game, PlayoutRandom};

use super::Sample;
use crate::common::brute_force;

type Way<P> = fn(&mut P, &mut PlayoutRandom, u32) -> u32;

/// Whole games and pieces of games from every stage.
pub(super) fn check<G: Game>(sample: &Sample<'_, G>) {
    let start = &sample.games[0].positions[0];
    let cost = |_: &G| sample.moves_of_a_game;
    let starts = sample.some_affordable(100, cost).map(|_| start);
    for (seed, position) in (0..).zip(starts.chain(sample.some_affordable(300, cost))) {
        let ways: [(Way<G>, Way<G>); 2] = [
            (G::play_randomly, brute_force::play_randomly),
            (G::play_decisively, brute_force::play_decisively),
        ];
        for (fast, slow) in ways {
            let mut randoms = [(); 3].map(|()| PlayoutRandom::from_seed(seed));
            let [mut complete, mut expected, mut pieces] = [(); 3].map(|()| position.clone());
            let plies = fast(&mut complete, &mut randoms[0], u32::MAX);
            assert_eq!(plies, slow(&mut expected, &mut randoms[1], u32::MAX), "{position:?}");
            assert!(complete.is_over());
            assert_eq!(complete, expected, "{position:?}");
            let piece = 1 + seed as u32 % 8;
            let mut total = 0;
            while !pieces.is_over() {
                let played = fast(&mut pieces, &mut randoms[2], piece);
                assert!(played == piece || pieces.is_over(), "{played} plies instead of {piece}");
                total += played;
            }
            assert_eq!((total, &pieces), (plies, &complete), "{position:?}");
            assert_eq!(fast(&mut pieces, &mut randoms[2], 5), 0, "the game is over");
            // The same numbers were drawn.
            assert!(randoms.iter().all(|random| *random == randoms[0]), "{position:?}");
        }
    }
}
