//! Networks written and read again.

use sha2::{Digest, Sha256};
use spelrum_engine::Side;
use spelrum_engine::network::{Network, NetworkBytesError};

use super::{KRK, LARGE, PLAIN, REGIONS, trained};

#[test]
fn a_network_is_read_as_it_was_written() {
    for json in [PLAIN, LARGE, REGIONS] {
        let network = trained(json).network;
        let bytes = network.to_bytes();
        let read = Network::from_bytes(&bytes).unwrap();
        assert_eq!(read, network);
        assert_eq!(read.to_bytes(), bytes);
        let header = 8 + 2 + (2 + 3) + 4 + 16 + 2;
        let layers = if json == LARGE { 2 } else { 1 };
        assert_eq!(bytes.len(), header + 2 * layers + 4 * network.weights() + 32);
        for position in KRK.positions().step_by(97) {
            let squares: Vec<u8> = position.squares().collect();
            let to_move = position.to_move();
            assert_eq!(read.output(to_move, &squares), network.output(to_move, &squares));
        }
    }
}

/// With the hash that belongs to it.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - 32);
    let hash = Sha256::digest(&bytes);
    bytes.extend_from_slice(&hash);
    bytes
}

#[test]
fn any_byte_that_changed_is_noticed() {
    let bytes = trained(PLAIN).network.to_bytes();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        Network::from_bytes(&damaged).unwrap_err();
    }
    for length in 0..bytes.len() {
        Network::from_bytes(&bytes[..length]).unwrap_err();
    }
}

#[test]
fn other_bytes_are_refused_with_the_reason() {
    use NetworkBytesError::{Description, Hash, Length, NotANetwork, NotFinite, Version};
    let network = trained(PLAIN).network;
    let bytes = network.to_bytes();
    let error = |bytes: &[u8]| Network::from_bytes(bytes).unwrap_err();
    let with = |at: usize, new: &[u8]| {
        let mut changed = bytes.clone();
        changed[at..at + new.len()].copy_from_slice(new);
        error(&sealed(changed))
    };
    assert_eq!(error(&[]), NotANetwork);
    assert_eq!(error(&[7; 100]), NotANetwork);
    assert_eq!(error(&bytes[1..]), NotANetwork);
    assert_eq!(with(8, &[9, 0]), Version { found: 9 });
    let mut unsealed = bytes.clone();
    unsealed[60] ^= 1;
    assert_eq!(error(&unsealed), Hash);
    let description = |problem| Description { problem };
    assert_eq!(with(10, &[255, 255]), description("it ends too soon"));
    assert_eq!(with(12, &[255, 255]), description("its ending is no text"));
    assert_eq!(with(12, b"KPK"), description("there is no such ending"));
    assert_eq!(with(12, b"krk"), description("its ending has another name"));
    for at in 15..19 {
        assert_eq!(with(at, &[9]), description("a word is unknown"));
    }
    assert_eq!(with(18, &[64]), description("it has too many regions"));
    for number in [f64::NAN, f64::INFINITY, -1.0, 1e9] {
        assert_eq!(with(19, &number.to_le_bytes()), description("its target is out of range"));
        assert_eq!(with(27, &number.to_le_bytes()), description("its target is out of range"));
    }
    for layers in [0, 4, 200] {
        assert_eq!(with(35, &[layers, 0]), description("it has too few or too many layers"));
    }
    for units in [[0, 0], [1, 4], [255, 255]] {
        assert_eq!(with(37, &units), description("a layer has too few or too many units"));
    }
    // Squares of pairs to a thousand units.
    let mut many = bytes.clone();
    (many[15], many[37], many[38]) = (5, 0, 4);
    assert_eq!(error(&sealed(many)), description("it has too many weights"));
    let expected = bytes.len();
    for found in [expected - 4, expected - 1, expected + 1, expected + 4] {
        let mut other = bytes.clone();
        other.resize(found, 0);
        assert_eq!(error(&sealed(other)), Length { found, expected });
    }
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        assert_eq!(with(39 + 4 * 5, &number.to_le_bytes()), NotFinite { index: 5 });
        let last = network.weights() - 1;
        assert_eq!(with(39 + 4 * last, &number.to_le_bytes()), NotFinite { index: last });
    }
}

/// What a network says is what its bytes say: by a plain network that is read from them.
#[test]
fn the_weights_are_where_they_are_said_to_be() {
    let json = r#"{"ending": "KRK", "inputs": "coordinates", "rotations": false, "hidden": [5, 3],
        "activation": "tanh", "examples": 500, "epochs": 2}"#;
    let network = trained(json).network;
    let bytes = network.to_bytes();
    let numbers = bytes[41..bytes.len() - 32].chunks_exact(4);
    let numbers = numbers.map(|word| f64::from(f32::from_le_bytes(word.try_into().unwrap())));
    let numbers: Vec<f64> = numbers.collect();
    let of_side = numbers.len() / 2;
    for position in KRK.positions().step_by(211) {
        let squares: Vec<u8> = position.squares().collect();
        let coordinates = squares.iter().flat_map(|square| [square % 8, square / 8]);
        let mut values: Vec<f64> =
            coordinates.map(|coordinate| f64::from(coordinate) / 7.0).collect();
        let mut rest = &numbers[of_side * position.to_move().index()..];
        for units in [5, 3, 1] {
            let sum = |unit: usize| {
                let weights =
                    values.iter().enumerate().map(|(at, value)| value * rest[at * units + unit]);
                rest[values.len() * units + unit] + weights.sum::<f64>()
            };
            let sums: Vec<f64> = (0..units).map(sum).collect();
            rest = &rest[(values.len() + 1) * units..];
            values = sums.into_iter().map(libm::tanh).collect();
            if units == 1 {
                // The output's tangent was taken by mistake: a sigmoid is wanted.
                values = values.into_iter().map(libm::atanh).collect();
            }
        }
        let expected = 1.0 / (1.0 + libm::exp(-values[0]));
        let found = network.output(position.to_move(), &squares);
        assert!((f64::from(found) - expected).abs() < 1e-5, "{found} {expected}");
        let plies = network.plies(position.to_move(), &squares);
        assert!((plies - (0.9 - f64::from(found)) * 80.0).abs() < 1e-9);
    }
    assert_ne!(
        network.output(Side::First, &[0, 18, 40]),
        network.output(Side::Second, &[0, 18, 40])
    );
}
