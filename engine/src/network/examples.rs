//! Which positions a network learns from, and which it is validated by.

use super::recipe::Recipe;
use super::squares::{Orientation, Squares};
use super::train::TrainError;
use crate::host::Host;
use crate::rng::Random;
use crate::tables::{EndgameTable, TableValue};

/// A position that white wins, as the network sees it: the squares in six bits each, those of the first
/// piece lowest, then the plies to mate, which are odd where white is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Example(u32);

impl Example {
    fn new(squares: Squares, plies: u32) -> Self {
        let squares = squares.in_order().into_iter().rev();
        Self(squares.fold(plies, |packed, square| packed << 6 | u32::from(square)))
    }

    #[inline]
    pub(super) fn squares(self) -> Squares {
        Squares::new(&[0, 6, 12, 18].map(|shift| (self.0 >> shift & 63) as u8))
    }

    pub(super) const fn plies(self) -> u32 {
        self.0 >> 24
    }

    pub(super) const fn white_moves(self) -> bool {
        self.plies() % 2 == 1
    }
}

/// What a network of a recipe learns from.
pub(super) struct Examples {
    pub(super) training: Vec<Example>,
    pub(super) validation: Vec<Example>,
    /// Positions that white wins, those that are mirror images of each other counted once.
    pub(super) positions: u64,
}

/// What random numbers are for: streams of their own.
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

/// Places of a table that are looked at before the host is asked again.
const PLACES_BETWEEN_LOOKS: usize = 1 << 12;

impl Examples {
    /// Draws them: first those to validate by, of all classes of mirror images, and then those to learn
    /// from, of the classes that are left.
    pub(super) fn draw(
        recipe: &Recipe,
        table: &EndgameTable,
        network: usize,
        host: &dyn Host,
    ) -> Result<Self, TrainError> {
        let architecture = &recipe.architecture;
        let orientation = Orientation::of(&architecture.endgame, architecture.rotations);
        let mut random = stream(recipe.seed, network, Purpose::Draw);
        let mut classes =
            classes(table, &orientation, architecture.networks.learns(network), host)?;
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

/// One of each class of positions that white wins with these sides to move, in ascending order.
fn classes(
    table: &EndgameTable,
    orientation: &Orientation,
    learns: [bool; 2],
    host: &dyn Host,
) -> Result<Vec<Example>, TrainError> {
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
            TableValue::Win { .. } | TableValue::Loss { .. } | TableValue::Draw => continue,
        };
        if learns[side] {
            let mut squares = [0; crate::tables::PIECES_MAX];
            squares.iter_mut().zip(position.squares()).for_each(|(to, from)| *to = from);
            classes.push(Example::new(orientation.class(Squares::new(&squares)), plies));
        }
    }
    classes.sort_unstable();
    classes.dedup();
    Ok(classes)
}

/// All mirror images of these positions, each once, in ascending order.
fn images(of: &[Example], orientation: &Orientation) -> Vec<Example> {
    let each = |example: &Example| {
        let plies = example.plies();
        orientation.images(example.squares()).map(move |image| Example::new(image, plies))
    };
    let mut images: Vec<Example> = of.iter().flat_map(each).collect();
    images.sort_unstable();
    images.dedup();
    images
}

/// Replaces each by one of its mirror images.
fn turn(examples: &mut [Example], orientation: &Orientation, random: &mut Random) {
    for example in examples {
        let mut images = orientation.images(example.squares());
        let count = images.size_hint().0 as u32;
        if let Some(image) = images.nth(random.below(count) as usize) {
            *example = Example::new(image, example.plies());
        }
    }
}
