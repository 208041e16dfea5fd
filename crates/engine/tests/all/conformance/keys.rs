//! Keys and symmetries.

use std::collections::BTreeMap;

use spelrum_engine::{Game, Knowledge, Sketch};

use super::{PlayedGame, Sample};
use crate::common::brute_force::{after, moves_of};

/// Orientations that games are mapped by, at most.
const ORIENTATIONS_MAX: usize = 16;

pub(super) fn check<G: Game>(sample: &Sample<'_, G>) {
    keys_tell_positions_apart(sample);
    images_are_played_like_their_originals(sample);
}

/// Whether the game has symmetries that a search is told of.
fn has_orientations<G: Knowledge>() -> bool {
    size_of::<G::Orientation>() > 0
}

/// The position's notation without the counters that may stand at its end, after spaces.
fn placement<G: Game>(position: &G) -> String {
    let text = position.to_string();
    let is_counter = |field: &&str| field.parse::<u32>().is_ok();
    let counters = text.split(' ').skip(1).filter(is_counter).count();
    text.rsplitn(counters + 1, ' ').last().unwrap_or(&text).to_owned()
}

/// What positions that are equal up to symmetry have in common: pieces, but not where a notation counts empty cells or
/// numbers squares. Where history matters, keys compare
/// what repetition does: counters are no part of them, nor what follows from those.
fn features<G: Game>(position: &G) -> impl Ord + use<G> {
    let is_board = matches!(position.sketch(), Sketch::Board { .. } | Sketch::Pieces { .. });
    let is_counted = |c: &char| !(is_board && c.is_ascii_digit());
    let mut characters: Vec<char> = placement(position).chars().filter(is_counted).collect();
    characters.sort_unstable();
    let ending = position.ending().map(|ending| (ending.termination.name(), ending.winner));
    let of_counters = (position.legal_move_count(), position.plies_left(), ending);
    (characters, position.to_move(), (!G::HISTORY_MATTERS).then_some(of_counters))
}

/// Whether a search may take what it knows of the one position for what it would find of the other:
/// they are equal, or differ in counters that decide nothing yet.
fn are_alike<G: Game>(position: &G, other: &G) -> bool {
    let is_alike = || {
        placement(position) == placement(other)
            && moves_of(position) == moves_of(other)
            && position.ending() == other.ending()
    };
    position == other || (G::HISTORY_MATTERS && is_alike())
}

fn keys_tell_positions_apart<G: Game>(sample: &Sample<'_, G>) {
    let mut by_canonical_key = BTreeMap::new();
    let (mut by_table_key, mut by_reduced_key) = (BTreeMap::new(), BTreeMap::new());
    let mut by_symmetric_key = BTreeMap::new();
    let mut seen = |position: &G| {
        let canonical = position.canonical_key();
        assert!(canonical < 1 << 53, "{position:?} has the key {canonical}");
        let equals = by_canonical_key.entry(canonical).or_insert_with(|| features(position));
        assert!(*equals == features(position), "{position:?} has the key of another position");
        if position.is_over() {
            return;
        }
        let reduced = *by_reduced_key.entry(position.reduced_key().0).or_insert(canonical);
        assert_eq!(reduced, canonical, "{position:?}: the keys disagree on what is equal to it");
        let other = by_table_key.entry(position.table_key()).or_insert_with(|| position.clone());
        assert!(are_alike(other, position), "{other:?} and {position:?} share a table key");
        let shared = *by_symmetric_key.entry(position.symmetric_table_key()).or_insert(canonical);
        assert_eq!(shared, canonical, "{position:?} shares a table key with what is not its image");
    };
    for position in sample.positions() {
        seen(position);
    }
    for position in sample.some_ongoing(60) {
        moves_of(position).into_iter().for_each(|mv| seen(&after(position, mv)));
    }
    if G::HISTORY_MATTERS {
        // Tables may tell counters apart, which the recorded key does not.
        return;
    }
    // As many classes by one key as by the other: none has what the other tells apart.
    let mut canonical: Vec<u64> = by_reduced_key.values().copied().collect();
    canonical.sort_unstable();
    canonical.dedup();
    assert_eq!(canonical.len(), by_reduced_key.len(), "a canonical key has several reduced ones");
}

/// The codes of the legal moves, mapped by a symmetry and sorted.
fn codes<G: Game>(position: &G, orientation: G::Orientation) -> Vec<u16> {
    let codes = moves_of(position).into_iter().map(|mv| G::oriented(G::move_code(mv), orientation));
    let mut codes: Vec<u16> = codes.collect();
    codes.sort_unstable();
    codes
}

/// The legal move with this code.
fn move_with_code<G: Game>(position: &G, code: u16) -> G::Move {
    let of_code = |&mv: &G::Move| G::move_code(mv) == code;
    let Some(mv) = moves_of(position).into_iter().find(of_code) else {
        panic!("{position:?} has no move of code {code}")
    };
    mv
}

/// The symmetries of the start among those that the positions' keys name, the default first: each once by what it does
/// to the start's moves.
pub(super) fn orientations_of_the_start<G: Game>(sample: &Sample<'_, G>) -> Vec<G::Orientation> {
    let start = &sample.games[0].positions[0];
    let usual = G::Orientation::default();
    let images = |orientation| {
        moves_of(start).into_iter().map(move |mv| G::oriented(G::move_code(mv), orientation))
    };
    let mut by_images = BTreeMap::from([(images(usual).collect::<Vec<u16>>(), usual)]);
    let mut orientations = vec![usual];
    for position in sample.some_ongoing(500) {
        let (_, orientation) = position.reduced_key();
        let is_new = by_images.insert(images(orientation).collect(), orientation).is_none();
        if is_new && codes(start, orientation) == codes(start, usual) {
            orientations.push(orientation);
        }
    }
    assert!(
        by_images.len() > 1 || !has_orientations::<G>(),
        "no position is mapped to another by its reduced key"
    );
    orientations.truncate(ORIENTATIONS_MAX);
    orientations
}

/// The game whose moves are these, mapped by a symmetry of the start.
pub(super) fn image_of<G: Game>(
    game: &PlayedGame<G>,
    orientation: G::Orientation,
) -> PlayedGame<G> {
    let start = game.positions[0].clone();
    let mut image = PlayedGame { positions: vec![start.clone()], moves: Vec::new() };
    let mut position = start;
    for &mv in &game.moves {
        let mv = move_with_code(&position, G::oriented(G::move_code(mv), orientation));
        position = after(&position, mv);
        image.moves.push(mv);
        image.positions.push(position.clone());
    }
    image
}

/// Every game mapped by symmetries of the start: the images have the same keys and endings, and what is known of the
/// one is known of the other.
fn images_are_played_like_their_originals<G: Game>(sample: &Sample<'_, G>) {
    let orientations = orientations_of_the_start(sample);
    let (mut images, mut different) = (0, 0);
    for (number, game) in sample.games.iter().enumerate() {
        for index in [number, number + 1] {
            let index = index % orientations.len();
            let image = image_of(game, orientations[index]);
            images += usize::from(index > 0);
            different += usize::from(image.positions != game.positions);
            for (position, image) in game.positions.iter().zip(&image.positions) {
                assert_equal_up_to_symmetry(position, image, orientations[index]);
            }
        }
    }
    assert!(2 * different >= images, "{different} of {images} images are not their originals");
}

fn assert_equal_up_to_symmetry<G: Game>(position: &G, image: &G, orientation: G::Orientation) {
    let about = || format!("{position:?} and its image {image:?}");
    assert_eq!(position.canonical_key(), image.canonical_key(), "{}", about());
    assert!(features(position) == features(image), "{}", about());
    if position.is_over() {
        return;
    }
    assert_eq!(codes(position, orientation), codes(image, G::Orientation::default()));
    assert_eq!(position.can_win_at_once(), image.can_win_at_once(), "{}", about());
    assert_eq!(position.plies_to_win(), image.plies_to_win(), "{}", about());
    let [(key, own), (image_key, of_image)] = [position.reduced_key(), image.reduced_key()];
    assert_eq!(key, image_key, "{}", about());
    for mv in moves_of(position) {
        let code = G::move_code(mv);
        assert_eq!(G::restored(G::oriented(code, own), own), code, "{mv} in {position:?}");
        let mapped = move_with_code(image, G::oriented(code, orientation));
        assert_eq!(position.move_kind(mv), image.move_kind(mapped), "{mv} in {}", about());
        // What one of them leaves in a table the other finds: a move to the same position.
        let found = move_with_code(image, G::restored(G::oriented(code, own), of_image));
        let [child, of_image] = [after(position, mv), after(image, found)];
        assert_eq!(child.canonical_key(), of_image.canonical_key(), "{mv} in {}", about());
        assert_eq!(child.reduced_key().0, of_image.reduced_key().0, "{mv} in {}", about());
    }
}
