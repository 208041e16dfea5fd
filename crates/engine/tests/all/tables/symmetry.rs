//! Positions that are equal up to symmetry, or with colours exchanged, have the same value.

use spelrum_engine::Random;
use spelrum_engine::tables::{EndgameTable, TableValue};

use super::{SIDES, chess, table};

/// The square's eight images.
fn images(square: u8) -> [u8; 8] {
    let (file, rank) = (square % 8, square / 8);
    let (left, down) = (7 - file, 7 - rank);
    [
        (file, rank),
        (left, rank),
        (file, down),
        (left, down),
        (rank, file),
        (rank, left),
        (down, file),
        (down, left),
    ]
    .map(|(file, rank)| rank * 8 + file)
}

fn random_squares(random: &mut Random) -> [u8; 4] {
    std::array::from_fn(|_| random.below(64) as u8)
}

fn check_images(table: &EndgameTable, squares: [u8; 4]) -> bool {
    let images = squares.map(images);
    for side in SIDES {
        let value = table.value_at(side, &squares);
        for image in 0..8 {
            let squares = images.map(|of_square| of_square[image]);
            assert_eq!(table.value_at(side, &squares), value, "{side:?} {squares:?}");
        }
    }
    table.value_at(SIDES[1], &squares).is_some()
}

#[test]
fn the_eight_images_of_a_position_have_one_value() {
    let mut random = Random::from_key([7; 32]);
    for name in ["KBNK", "KRKB"] {
        let table = table(name);
        let legal =
            (0..20_000).filter(|_| check_images(&table, random_squares(&mut random))).count();
        assert!(legal > 10_000, "{legal}");
        // Both kings on the diagonal, and others that are mirrored in it.
        for other in 0..64 {
            for another in 0..64 {
                check_images(&table, [0, 18, other, another]);
                check_images(&table, [27, 63, other, another]);
            }
        }
    }
}

/// Reversed files are the one symmetry of pawns.
#[test]
fn a_pawn_s_position_has_the_value_of_its_mirror_image() {
    let table = table("KPK");
    let [mut same, mut turned] = [0; 2];
    for position in table.positions() {
        assert_eq!(position.images, 2);
        let squares: Vec<u8> = position.squares().collect();
        let image = |mask: u8| squares.iter().map(|square| square ^ mask).collect::<Vec<u8>>();
        let value = table.value_at(position.to_move(), &image(7));
        assert_eq!(value, Some(position.value), "{squares:?}");
        same += 1;
        turned += u32::from(table.value_at(position.to_move(), &image(56)) != value);
        for symmetry in 0..8 {
            let fen = table.turned_fen(&position, symmetry);
            assert_eq!(table.value(&chess(&fen)), value, "{fen}");
        }
    }
    assert!(same > 160_000 && turned > 50_000, "{same} {turned}");
}

#[test]
fn like_pieces_can_change_places() {
    let table = table("KBBK");
    let mut random = Random::from_key([8; 32]);
    for _ in 0..20_000 {
        let squares = random_squares(&mut random);
        let [white, black, first_piece, second_piece] = squares;
        for side in SIDES {
            let values = [squares, [white, black, second_piece, first_piece]]
                .map(|squares| table.value_at(side, &squares));
            assert_eq!(values[0], values[1], "{squares:?}");
        }
    }
}

#[test]
fn a_position_is_looked_up_with_its_colours_changed() {
    let table = table("KRK");
    let value = |fen| table.value(&chess(fen));
    let mate_in_16 = Some(TableValue::Win { plies: 31 });
    assert_eq!(value("8/8/8/8/8/2k5/1R6/K7 w - - 0 1"), mate_in_16);
    assert_eq!(value("8/8/8/8/8/2K5/1r6/k7 b - - 0 1"), mate_in_16);
    assert_eq!(value("8/8/8/8/8/8/8/k1K4R b - - 99 80"), value("8/8/8/8/8/8/8/K1k4r w - - 0 1"));
}

#[test]
fn other_positions_are_not_in_the_table() {
    let table = table("KRK");
    for fen in [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "8/8/8/8/2k5/8/1Q6/K7 w - - 0 1",
        "8/8/8/8/2k5/8/1P6/K7 w - - 0 1",
        "8/8/8/8/3k4/8/1RR5/K7 w - - 0 1",
        "8/8/8/8/8/2k5/8/K7 w - - 0 1",
        // The table knows no castling.
        "8/8/8/8/8/2k5/8/4K2R w K - 0 1",
    ] {
        assert_eq!(table.value(&chess(fen)), None, "{fen}");
    }
    assert!(table.value(&chess("8/8/8/8/8/2k5/8/4K2R w - - 0 1")).is_some());
}
