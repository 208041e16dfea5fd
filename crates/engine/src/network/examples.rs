//! A network's training and validation positions.

use std::collections::BTreeSet;

use super::recipe::Recipe;
use super::squares::{Orientation, Squares};
use super::train_error::TrainError;
use crate::core::host::Host;
use crate::core::rng::Random;
use crate::tables::{EndgameTable, TableValue};

/// A position that white wins, or a draw, as the network sees it: the squares in six bits each, those of the
/// first piece lowest, then the plies to mate, odd if white is to move, or one of the two numbers for a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Example(u32);

/// The plies of draws, with white to move and with black: odd and even.
const DRAWS: [u32; 2] = [255, 254];

impl Example {
    pub(super) fn new(squares: Squares, plies: u32) -> Self {
        let squares = squares.in_order().into_iter().rev();
        Self(squares.fold(plies, |packed, square| packed << 6 | u32::from(square)))
    }

    #[inline]
    pub(super) fn squares(self) -> Squares {
        Squares::new(&[0, 6, 12, 18].map(|shift| (self.0 >> shift & 63) as u8))
    }

    /// Plies to mate; `None` for a draw.
    #[inline]
    pub(super) const fn plies(self) -> Option<u32> {
        let plies = self.code();
        if plies < DRAWS[1] { Some(plies) } else { None }
    }

    #[inline]
    pub(super) const fn white_moves(self) -> bool {
        self.code() % 2 == 1
    }

    /// Plies to mate, or a draw's number for this side to move.
    #[inline]
    pub(super) const fn code(self) -> u32 {
        self.0 >> 24
    }
}

/// The examples of a recipe's network.
pub(super) struct Examples {
    pub(super) training: Vec<Example>,
    pub(super) validation: Vec<Example>,
    /// Positions that white wins; mirror images count once.
    pub(super) positions: u64,
}

/// The purposes of random numbers, each with its own stream.
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    Draw,
    Weights,
    Order,
}

/// The stream of a network's random numbers for one purpose.
pub(super) fn stream(seed: u64, network: usize, purpose: Purpose) -> Random {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8] = network as u8;
    key[9] = purpose as u8;
    Random::from_key(key)
}

/// Places of a table that are scanned between calls of the host.
const PLACES_BETWEEN_LOOKS: usize = 1 << 12;

impl Examples {
    /// Draws them: first validation positions, from all classes of mirror images, and then training
    /// positions, from the remaining classes.
    pub(super) fn draw(
        recipe: &Recipe,
        table: &EndgameTable,
        network: usize,
        host: &dyn Host,
    ) -> Result<Self, TrainError> {
        let architecture = &recipe.architecture;
        let orientation = Orientation::new(&architecture.endgame, architecture.rotations);
        let mut random = stream(recipe.seed, network, Purpose::Draw);
        let mut classes = classes(recipe, table, &orientation, network, host)?;
        let positions = classes.len() as u64;
        let needed = recipe.validation + recipe.examples.max(1);
        let too_few = |found: usize| {
            let (needed, found) = (needed as u64, found as u64);
            Err(TrainError::TooFewPositions { network: network as u32, needed, found })
        };
        if classes.len() <= recipe.validation {
            return too_few(classes.len());
        }
        random.shuffle(&mut classes);
        let mut training = classes.split_off(recipe.validation);
        let mut validation = classes;
        if !architecture.rotations {
            turn(&mut validation, &orientation, &mut random);
            if recipe.mirrored {
                training = images(&training, &orientation);
                random.shuffle(&mut training);
            } else {
                turn(&mut training, &orientation, &mut random);
            }
            if recipe.augmented {
                training = turns(&training, recipe.examples, &orientation, &mut random);
            }
        }
        if training.len() < recipe.examples {
            return too_few(training.len() + validation.len());
        }
        if recipe.examples > 0 {
            training.truncate(recipe.examples);
            training.shrink_to_fit();
        }
        Ok(Self { training, validation, positions })
    }
}

/// One of each class of positions that white wins, or that are draws if the recipe uses these, of which this
/// network learns, in ascending order.
fn classes(
    recipe: &Recipe,
    table: &EndgameTable,
    orientation: &Orientation,
    network: usize,
    host: &dyn Host,
) -> Result<Vec<Example>, TrainError> {
    let architecture = &recipe.architecture;
    let learns = architecture.learns(network);
    let mut classes = Vec::new();
    for place in 0..table.len() {
        if place.is_multiple_of(PLACES_BETWEEN_LOOKS) && host.aborted() {
            return Err(TrainError::Aborted);
        }
        let Some(position) = table.position(place) else { continue };
        let side = position.to_move().index();
        let plies = match position.value {
            TableValue::Win { plies } if side == 0 => plies,
            TableValue::Loss { plies } if side == 1 => plies,
            TableValue::Draw if recipe.draws => DRAWS[side],
            TableValue::Win { .. } | TableValue::Loss { .. } | TableValue::Draw => continue,
        };
        if learns[side] {
            let mut squares = [0; crate::tables::PIECES_MAX];
            squares.iter_mut().zip(position.squares()).for_each(|(to, from)| *to = from);
            let squares = Squares::new(&squares);
            if architecture.has_region(network, squares) {
                classes.push(Example::new(orientation.class(squares), plies));
            }
        }
    }
    classes.sort_unstable();
    classes.dedup();
    Ok(classes)
}

/// All mirror images of these positions, each once, in ascending order.
fn images(examples: &[Example], orientation: &Orientation) -> Vec<Example> {
    let each = |example: &Example| {
        let plies = example.code();
        orientation.images(example.squares()).map(move |image| Example::new(image, plies))
    };
    let mut images: Vec<Example> = examples.iter().flat_map(each).collect();
    images.sort_unstable();
    images.dedup();
    images
}

/// All turns of the board of so many of these positions that there are at least `count` examples, or of all,
/// mixed; of the last as many as are missing.
fn turns(
    examples: &[Example],
    count: usize,
    orientation: &Orientation,
    random: &mut Random,
) -> Vec<Example> {
    let each = |example: &Example| {
        let plies = example.code();
        orientation.turns(example.squares()).map(move |turned| Example::new(turned, plies))
    };
    // Positions that are turns of each other count once.
    let mut drawn: Vec<Example> = examples.iter().filter_map(|one| each(one).min()).collect();
    drawn.sort_unstable();
    drawn.dedup();
    random.shuffle(&mut drawn);
    let mut turns = Vec::new();
    for example in &drawn {
        if count > 0 && turns.len() >= count {
            break;
        }
        turns.extend(each(example).collect::<BTreeSet<_>>());
    }
    if count > 0 {
        turns.truncate(count);
    }
    random.shuffle(&mut turns);
    turns
}

/// Replaces each by one of its mirror images.
fn turn(examples: &mut [Example], orientation: &Orientation, random: &mut Random) {
    for example in examples {
        let mut images = orientation.images(example.squares());
        let count = images.size_hint().0 as u32;
        if let Some(image) = images.nth(random.below(count) as usize) {
            *example = Example::new(image, example.code());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::core::host::Timeless;
    use crate::core::position::Side;

    fn table(name: &str) -> EndgameTable {
        EndgameTable::make(&name.parse().unwrap(), |_| {})
    }

    fn recipe(name: &str, more: &str) -> Recipe {
        let json = format!(r#"{{"ending": "{name}", "validation": 100{more}}}"#);
        Recipe::from_parameters(&serde_json::from_str(&json).unwrap()).unwrap()
    }

    fn draw(recipe: &Recipe, table: &EndgameTable, network: usize) -> Examples {
        Examples::draw(recipe, table, network, &Timeless).unwrap()
    }

    fn orientation(recipe: &Recipe) -> Orientation {
        Orientation::new(recipe.endgame(), recipe.architecture.rotations)
    }

    /// Every example matches the table, none occurs twice, and no mirror image of a validation position is a
    /// training position.
    #[test]
    fn examples_are_of_the_table() {
        for (name, more) in [
            ("KRK", ""),
            ("KRK", r#", "rotations": false"#),
            ("KRK", r#", "rotations": false, "mirrored": false, "networks": "one""#),
            ("KQK", r#", "rotations": false, "draws": true, "networks": "black""#),
            ("KRK", r#", "regions": 3, "hidden": [8]"#),
        ] {
            let (recipe, table) = (recipe(name, more), table(name));
            let orientation = orientation(&recipe);
            for network in 0..recipe.networks() {
                let examples = draw(&recipe, &table, network);
                let learns = recipe.architecture.learns(network);
                let class =
                    |example: &Example| (orientation.class(example.squares()), example.code());
                let validation: BTreeSet<_> = examples.validation.iter().map(class).collect();
                assert_eq!((examples.validation.len(), validation.len()), (100, 100));
                let training: BTreeSet<_> = examples.training.iter().map(class).collect();
                assert!(training.is_disjoint(&validation));
                assert_eq!((training.len() + validation.len()) as u64, examples.positions);
                let distinct: BTreeSet<_> = examples.training.iter().copied().collect();
                assert_eq!(distinct.len(), examples.training.len());
                if recipe.mirrored {
                    assert!(training.len() * 7 < distinct.len());
                } else {
                    assert_eq!(training.len(), distinct.len());
                }
                for example in examples.training.iter().chain(&examples.validation) {
                    let side = usize::from(!example.white_moves());
                    assert!(learns[side]);
                    let to_move = [Side::First, Side::Second][side];
                    let squares = example.squares().in_order();
                    let expected = match (table.value_at(to_move, &squares[..3]), side) {
                        (Some(TableValue::Win { plies }), 0)
                        | (Some(TableValue::Loss { plies }), 1) => Some(plies),
                        (Some(TableValue::Draw), _) if recipe.draws => None,
                        (other, _) => panic!("{example:?} has the value {other:?}"),
                    };
                    assert_eq!(example.plies(), expected);
                    assert_eq!(orientation.seen(example.squares()), example.squares());
                }
            }
        }
    }

    /// All positions of a class give as many as a count of the whole board.
    #[test]
    fn none_is_left_out() {
        let counts = table("KRK").counts();
        let table = table("KRK");
        let all = |more: &str, network: usize| {
            let recipe = recipe("KRK", more);
            let (examples, orientation) = (draw(&recipe, &table, network), orientation(&recipe));
            let images = |example: &Example| {
                let images: BTreeSet<_> = orientation.images(example.squares()).collect();
                images.len() as u64
            };
            let validation = examples.validation.iter().map(images).sum::<u64>();
            match recipe.mirrored {
                true => examples.training.len() as u64 + validation,
                false => examples.training.iter().map(images).sum::<u64>() + validation,
            }
        };
        for more in ["", r#", "rotations": false"#, r#", "rotations": false, "mirrored": false"#] {
            let found = [0, 1].map(|network| all(more, network));
            assert_eq!(found, [counts.sides[0].wins, counts.sides[1].losses], "{more}");
        }
        let draws = r#", "draws": true"#;
        assert_eq!(all(draws, 1), counts.sides[1].legal);
        let one = r#", "networks": "one", "draws": true"#;
        assert_eq!(all(one, 0), counts.sides[0].legal + counts.sides[1].legal);
    }

    /// Every square of black's king is in one region, counted by hand: 28 on the edge, 20 beside it, 16 within.
    #[test]
    fn regions_divide_the_board() {
        let table = table("KRK");
        let recipe = recipe("KRK", r#", "rotations": false, "regions": 3, "hidden": [8]"#);
        let kings = |network: usize| -> BTreeSet<u8> {
            let examples = draw(&recipe, &table, network).training;
            examples.iter().map(|example| example.squares().in_order()[1]).collect()
        };
        for side in [0, 1] {
            let [edge, next, centre] = [0, 2, 4].map(|region| kings(region + side));
            assert_eq!([edge.len(), next.len(), centre.len()], [28, 20, 16]);
            assert!(edge.contains(&7) && next.contains(&9) && centre.contains(&18));
            assert_eq!(edge.union(&next).chain(&centre).collect::<BTreeSet<_>>().len(), 64);
        }
        let positions = |network: usize| draw(&recipe, &table, network).positions;
        let whole = draw(&self::recipe("KRK", r#", "rotations": false"#), &table, 0).positions;
        assert_eq!([0, 2, 4].map(positions).iter().sum::<u64>(), whole);
    }

    /// The square that the obvious quarter turn of the board brings a square to.
    fn quarter_turn(square: u8) -> u8 {
        let (file, rank) = (square % 8, square / 8);
        8 * (7 - file) + rank
    }

    /// A quarter as many positions as examples, each with its three turns; without mirror images no two positions
    /// are images of each other, and with them some are.
    #[test]
    fn augmented_examples_come_in_fours() {
        let table = table("KRK");
        for mirrored in [false, true] {
            let more = format!(
                r#", "rotations": false, "augmented": true, "mirrored": {mirrored}, "networks": "one",
                    "examples": 8000"#
            );
            let recipe = recipe("KRK", &more);
            let (examples, orientation) = (draw(&recipe, &table, 0), orientation(&recipe));
            let all: BTreeSet<Example> = examples.training.iter().copied().collect();
            assert_eq!((examples.training.len(), all.len()), (8_000, 8_000));
            let class = |example: &Example| (orientation.class(example.squares()), example.code());
            let validation: BTreeSet<_> = examples.validation.iter().map(class).collect();
            let classes: BTreeSet<_> = all.iter().map(class).collect();
            assert!(classes.is_disjoint(&validation));
            assert_eq!(classes.len() == 2_000, !mirrored, "{}", classes.len());
            assert!(classes.len() > 1_700);
            for example in &all {
                let turned = example.squares().in_order().map(quarter_turn);
                assert!(all.contains(&Example::new(Squares::new(&turned[..3]), example.code())));
            }
            // Mixed: neighbours are no turns of each other, but by chance.
            let pairs = examples.training.windows(2);
            let turns = pairs.filter(|pair| class(&pair[0]) == class(&pair[1])).count();
            assert!(turns < 50, "{turns}");
        }
        // The last position in as many turns as there is room for.
        let more = r#", "rotations": false, "augmented": true, "examples": 998"#;
        assert_eq!(draw(&recipe("KRK", more), &table, 1).training.len(), 998);
    }

    /// A quarter turn and a reversal of files: the bishop stays on a light square.
    #[test]
    fn augmented_examples_of_one_bishop_are_all_images() {
        let table = table("KBNK");
        let more = r#", "rotations": false, "mirrored": false, "augmented": true, "examples": 400"#;
        let recipe = recipe("KBNK", more);
        let (examples, orientation) = (draw(&recipe, &table, 1), orientation(&recipe));
        let all: BTreeSet<Example> = examples.training.iter().copied().collect();
        for example in &all {
            assert_eq!(orientation.seen(example.squares()), example.squares());
            let images: BTreeSet<Squares> = orientation.images(example.squares()).collect();
            let found =
                images.iter().filter(|image| all.contains(&Example::new(**image, example.code())));
            assert_eq!(found.count(), images.len());
        }
    }

    #[test]
    fn a_seed_draws_one_and_the_same() {
        let table = table("KRK");
        let drawn = |seed: u32, network: usize| {
            let recipe = recipe("KRK", &format!(r#", "examples": 500, "seed": {seed}"#));
            let examples = draw(&recipe, &table, network);
            assert_eq!(examples.training.len(), 500);
            (examples.training, examples.validation)
        };
        assert_eq!(drawn(1, 0), drawn(1, 0));
        assert_ne!(drawn(1, 0), drawn(2, 0));
        let words = |purpose| stream(3, 0, purpose).seed();
        let words = [Purpose::Draw, Purpose::Weights, Purpose::Order].map(words);
        assert_eq!(BTreeSet::from(words).len(), 3);
    }

    #[test]
    fn too_few_are_not_enough() {
        let table = table("KRK");
        let needed = |more: &str| {
            let json = format!(r#"{{"ending": "KRK"{more}}}"#);
            let recipe = Recipe::from_parameters(&serde_json::from_str(&json).unwrap()).unwrap();
            match Examples::draw(&recipe, &table, 0, &Timeless) {
                Err(TrainError::TooFewPositions { network: 0, needed, found }) => (needed, found),
                Err(other) => panic!("{other}"),
                Ok(examples) => panic!("{} were drawn", examples.training.len()),
            }
        };
        let (_, all) = needed(r#", "validation": 1000000"#);
        assert_eq!(needed(&format!(r#", "validation": {all}"#)), (all + 1, all));
        let more = all - 99;
        assert_eq!(
            needed(&format!(r#", "validation": 100, "examples": {more}"#)),
            (100 + more, all)
        );
        let recipe = recipe("KRK", &format!(r#", "examples": {}"#, all - 100));
        assert_eq!(draw(&recipe, &table, 0).training.len() as u64, all - 100);
    }

    /// The number of times that each class is turned each way.
    #[test]
    fn positions_are_turned_every_way() {
        let recipe = recipe("KRK", r#", "rotations": false, "mirrored": false"#);
        let examples = draw(&recipe, &table("KRK"), 0);
        let mut counts: BTreeMap<u8, u32> = BTreeMap::new();
        for example in &examples.training {
            *counts.entry(example.squares().in_order()[1]).or_default() += 1;
        }
        assert_eq!(counts.len(), 64, "black's king is everywhere");
    }
}
