//! The source of every random number of a tournament (invariant 1).
//!
//! Everything below is SHA-256 (FIPS 180-4) over a domain string, a zero byte and the inputs:
//! integers as eight big-endian bytes, a side as one byte, texts as UTF-8 and last. The domain
//! strings keep the derivations apart, so that no two of them ever share a stream.
//!
//! | what | SHA-256 of | taken as |
//! |---|---|---|
//! | definition hash | the definition's canonical JSON, nothing else | 32 bytes |
//! | cell seed | `spelrum cell seed v1`, 0, canonical JSON | the first 53 bits, big-endian |
//! | player key | `spelrum player key v1`, 0, cell seed, number, side | a ChaCha8 key |
//! | seed of a move | `spelrum move seed v1`, 0, player key, ply | the first 53 bits, big-endian |
//! | openings key | `spelrum openings key v1`, 0, JSON of seed, rules and openings rule | a ChaCha8 key |
//! | attempt key | `spelrum opening attempt v1`, 0, openings key, attempt | a ChaCha8 key |
//! | turn of an opening | `spelrum opening turn v1`, 0, openings key, place | the last three bits of the first byte |
//! | sample key | `spelrum sample v1`, 0, the sweep's seed | a ChaCha8 key |
//! | priority in a book | `spelrum book sample v1`, 0, the sweep's seed, the position without counters | the first 64 bits, big-endian |
//! | course seed | `spelrum course seed v1`, 0, the sweep's seed, run, cell | the first 53 bits, big-endian |
//! | series seed | `spelrum series seed v1`, 0, the sweep's seed, run, and two numbers | the first 53 bits, big-endian |
//! | tuning key | `spelrum tuning v1`, 0, the sweep's seed, run, step | a ChaCha8 key |
//! | verification key | `spelrum verification v1`, 0, the seed of `spelrum verify` | a ChaCha8 key |
//! | evolution key | `spelrum evolution v1`, 0, the sweep's seed, run, generation | a ChaCha8 key |
//!
//! The side is 0 for the player that moves first from the opening and 1 for the other. The openings key shuffles
//! enumerated positions; attempt keys draw single playouts.
//!
//! These derivations are part of the recorded data: a changed byte is another tournament. The
//! golden tests below pin them.

use serde::Serialize;
use sha2::{Digest, Sha256};
use spelrum_engine::Rules;

use crate::conditions::OpeningsRule;

/// The exclusive upper bound of seeds (2^53), so that JSON, SQLite and pandas all hold them exactly.
pub const SEED_END: u64 = 1 << 53;

/// A ChaCha8 key.
pub type Key = [u8; 32];

/// The seed of the cell with this canonical JSON; below [`SEED_END`].
#[must_use]
pub fn cell_seed(canonical_json: &str) -> u64 {
    let mut hasher = cell_seed_hasher();
    hasher.update(canonical_json);
    cell_seed_of(hasher.finalize().into())
}

/// A hasher for a cell's canonical JSON, in any number of parts.
pub(crate) fn cell_seed_hasher() -> Sha256 {
    domain("spelrum cell seed v1")
}

/// The seed from the result of [`cell_seed_hasher`].
pub(crate) fn cell_seed_of([a, b, c, d, e, f, g, h, ..]: Key) -> u64 {
    u64::from_be_bytes([a, b, c, d, e, f, g, h]) >> 11
}

/// The key of one side's random numbers in one game. `side` is 0 for the first mover.
pub(crate) fn player_key(cell_seed: u64, number: u64, side: u8) -> Key {
    derive("spelrum player key v1", &[&cell_seed.to_be_bytes(), &number.to_be_bytes(), &[side]])
}

/// The seed that a program gets with each of its moves, over a protocol that sends one. Below [`SEED_END`].
#[must_use]
pub fn move_seed(player_key: &Key, ply: u64) -> u64 {
    cell_seed_of(derive("spelrum move seed v1", &[player_key, &ply.to_be_bytes()]))
}

/// The identity of a sequence of openings: equal in all cells with equal rules and openings.
#[must_use]
pub fn openings_identity(seed: u64, rules: &Rules, openings: &OpeningsRule) -> String {
    #[derive(Serialize)]
    struct Identity<'a> {
        seed: u64,
        rules: &'a Rules,
        openings: &'a OpeningsRule,
    }
    canonical_json(&Identity { seed, rules, openings })
}

/// The key of a sequence of openings.
#[must_use]
pub fn openings_key(identity: &str) -> Key {
    derive("spelrum openings key v1", &[identity.as_bytes()])
}

/// The priority of a position in a large book; smallest first.
#[must_use]
pub fn book_priority(seed: u64, placement: &str) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] =
        derive("spelrum book sample v1", &[&seed.to_be_bytes(), placement.as_bytes()]);
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// The key of one random playout towards an opening.
pub(crate) fn attempt_key(openings_key: &Key, attempt: u64) -> Key {
    derive("spelrum opening attempt v1", &[openings_key, &attempt.to_be_bytes()])
}

/// The symmetry of eight that turns the position at this place of a table into an opening.
pub(crate) fn opening_turn(openings_key: &Key, place: u64) -> u8 {
    derive("spelrum opening turn v1", &[openings_key, &place.to_be_bytes()])[0] & 7
}

/// The key of the random numbers that thin a grid.
#[must_use]
pub fn sample_key(seed: u64) -> Key {
    derive("spelrum sample v1", &[&seed.to_be_bytes()])
}

/// The seed of a run's cell number `cell`. Below [`SEED_END`].
#[must_use]
pub fn course_seed(seed: u64, run: u64, cell: u64) -> u64 {
    let inputs = [seed, run, cell].map(u64::to_be_bytes);
    cell_seed_of(derive("spelrum course seed v1", &inputs.each_ref().map(|input| input.as_slice())))
}

/// The seed of the cells of a series in a run. Below [`SEED_END`].
#[must_use]
pub fn series_seed(seed: u64, run: u64, first: u64, second: u64) -> u64 {
    let inputs = [seed, run, first, second].map(u64::to_be_bytes);
    cell_seed_of(derive("spelrum series seed v1", &inputs.each_ref().map(|input| input.as_slice())))
}

/// The key of the random numbers that a step of a run of `[tune]` draws.
#[must_use]
pub fn tuning_key(seed: u64, run: u64, step: u64) -> Key {
    let inputs = [seed, run, step].map(u64::to_be_bytes);
    derive("spelrum tuning v1", &inputs.each_ref().map(|input| input.as_slice()))
}

/// The key of the random numbers that draw games to verify.
pub(crate) fn verification_key(seed: u64) -> Key {
    derive("spelrum verification v1", &[&seed.to_be_bytes()])
}

/// The key of the random numbers that breed a generation of a run.
#[must_use]
pub fn evolution_key(seed: u64, run: u64, generation: u64) -> Key {
    let inputs = [seed, run, generation].map(u64::to_be_bytes);
    derive("spelrum evolution v1", &inputs.each_ref().map(|input| input.as_slice()))
}

/// JSON without white space: fields in their declared order, maps by key, floats in the shortest
/// form that reads back to the same number.
#[must_use]
pub fn canonical_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("maps with text keys and no foreign Serialize cannot fail")
}

fn domain(name: &str) -> Sha256 {
    let mut hasher = Sha256::new();
    hasher.update(name.as_bytes());
    hasher.update([0]);
    hasher
}

fn derive(name: &str, inputs: &[&[u8]]) -> Key {
    let mut hasher = domain(name);
    for input in inputs {
        hasher.update(input);
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::DefinitionHash;
    use spelrum_engine::games::Pentago;

    fn hex(key: Key) -> String {
        DefinitionHash(key).to_string()
    }

    // The expected values come from a program in another language (Python's hashlib) that follows only the table above.

    #[test]
    fn golden_cell_seed() {
        assert_eq!(cell_seed("{}"), GOLDEN_CELL_SEED);
        assert!((0..100).all(|n: u32| cell_seed(&n.to_string()) < SEED_END));
    }

    #[test]
    fn golden_player_keys() {
        assert_eq!(hex(player_key(1, 2, 0)), GOLDEN_PLAYER_KEYS[0]);
        assert_eq!(hex(player_key(1, 2, 1)), GOLDEN_PLAYER_KEYS[1]);
        assert_eq!(hex(player_key(SEED_END - 1, u64::MAX, 1)), GOLDEN_PLAYER_KEYS[2]);
    }

    #[test]
    fn golden_move_seeds() {
        assert_eq!([0, 1, 59].map(|ply| move_seed(&[7; 32], ply)), GOLDEN_MOVE_SEEDS);
    }

    #[test]
    fn golden_openings_keys() {
        let identity =
            openings_identity(2014, &Pentago::rules(true), &OpeningsRule::Random { plies: 2 });
        assert_eq!(
            identity,
            r#"{"seed":2014,"rules":{"name":"pentago","win_before_rotation":true},"openings":{"kind":"random","plies":2}}"#
        );
        let key = openings_key(&identity);
        assert_eq!(hex(key), GOLDEN_OPENINGS_KEY);
        assert_eq!(hex(attempt_key(&key, 7)), GOLDEN_ATTEMPT_KEY);
    }

    #[test]
    fn golden_opening_turns() {
        let turns = [0, 1, 2, 3, 4, 5, 6, u64::MAX].map(|place| opening_turn(&[7; 32], place));
        assert_eq!(turns, GOLDEN_OPENING_TURNS);
    }

    #[test]
    fn golden_sample_key() {
        assert_eq!(hex(sample_key(2014)), GOLDEN_SAMPLE_KEY);
    }

    #[test]
    fn golden_tuning_key() {
        assert_eq!(hex(tuning_key(2014, 2, 49)), GOLDEN_TUNING_KEY);
    }

    #[test]
    fn golden_series_seed() {
        assert_eq!(series_seed(2014, 2, 49, 1), 2_263_729_806_399_334);
    }

    #[test]
    fn golden_evolution_key() {
        assert_eq!(hex(evolution_key(2014, 2, 49)), GOLDEN_EVOLUTION_KEY);
    }

    const GOLDEN_EVOLUTION_KEY: &str =
        "a8887ac6235c729a1dce9cc75b53f25727c4dc79985d2be164bd8a064c7bba9a";
    const GOLDEN_TUNING_KEY: &str =
        "6139888656413f507acd56e5c2980125010b14f1820693df8403b4b0b3d3cca3";
    const GOLDEN_MOVE_SEEDS: [u64; 3] =
        [8_879_993_042_591_974, 3_448_739_026_992_878, 3_698_398_821_858_130];
    const GOLDEN_CELL_SEED: u64 = 7_579_142_485_160_680;
    const GOLDEN_PLAYER_KEYS: [&str; 3] = [
        "b036b1edf742d0974d48ec0218f92249991c96f9c4d3b1ff1ede9f117ba79d56",
        "becfe1d8555b57acc9927d4d6d13cfd80694e66b1e5ffb107938069fce050922",
        "5d0c2e6274da0962761eafddef8edaa076a59124c38291dd87d00071637983e6",
    ];
    const GOLDEN_OPENINGS_KEY: &str =
        "cdf7b2284042fffa95b4a5901e08e5ec1290356c2846d779fc4f44f6f8d64245";
    const GOLDEN_ATTEMPT_KEY: &str =
        "a685d3242c94ffe6353e51e4b19749f2c03d824856c7a4ba604edb746e0248fa";
    const GOLDEN_OPENING_TURNS: [u8; 8] = [4, 0, 2, 4, 6, 2, 4, 4];
    const GOLDEN_SAMPLE_KEY: &str =
        "a3bbb624d1895f2e3b0ba865c6e6aa636522002c19024230cdbb97a91931b96e";
}
