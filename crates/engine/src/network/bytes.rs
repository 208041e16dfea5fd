//! A network as bytes: its description, its weights, and a hash of both.
//!
//! ```text
//! 8    `SPELNET\n`
//! 2    the version of all this, little-endian as what follows
//! 2    n, the length of the ending's name
//! n    the ending's name
//! 1    the set of inputs, by its place among the words of `inputs`
//! 1    1 with rotations, else 0
//! 1    the activation, by its place among the words
//! 1    which networks there are, by its place among the words, and 16 for each region but the first
//! 8    the target at mate, a float of 64 bits
//! 8    the plies by which it is less by 1
//! 2    l, the number of hidden layers
//! 2·l  the units of each
//! …    the weights, floats of 32 bits: of each network and layer those of the first input to each unit,
//!      of the next input, and so on, then the units' biases; and the output's weights and bias
//! 32   the SHA-256 of all before it
//! ```

use sha2::{Digest, Sha256};

use super::Network;
use super::dense::Activation;
use super::dense::UNITS_MAX;
use super::inputs::InputSet;
use super::recipe::{Architecture, LAYERS_MAX, Networks, REGIONS_MAX, Target, WEIGHTS_MAX};

const MAGIC: &[u8; 8] = b"SPELNET\n";

/// Increases when the format changes, or a network's answers for the same weights.
const VERSION: u16 = 1;

/// What a region adds to the byte of the networks.
const REGION: u8 = 16;

const HASH_BYTES: usize = 32;

/// Bytes that are not a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetworkBytesError {
    /// They lack a network's header.
    #[error("it is not a network")]
    NotANetwork,
    /// Another version of the format.
    #[error("it is a network of version {found}, and this is version {VERSION}")]
    Version {
        /// Its version.
        found: u16,
    },
    /// Corrupted: the hash differs.
    #[error("its content does not have the hash that it was written with")]
    Hash,
    /// It describes an impossible network.
    #[error("it describes a network that cannot be: {problem}")]
    Description {
        /// What is wrong.
        problem: &'static str,
    },
    /// Truncated, or too long.
    #[error("it has {found} bytes, and should have {expected}")]
    Length {
        /// The actual number of bytes.
        found: usize,
        /// The expected number.
        expected: usize,
    },
    /// A weight is infinite or not a number.
    #[error("weight {index} is not a finite number")]
    NotFinite {
        /// Its index, from 0.
        index: usize,
    },
}

impl Network {
    /// The network as bytes, with a hash of them at the end. Equal networks have equal bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Architecture { endgame, set, rotations, hidden, activation, target, networks, regions } =
            &self.architecture;
        let name = endgame.name().as_bytes();
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.extend_from_slice(name);
        let networks = *networks as u8 + REGION * (*regions - 1) as u8;
        bytes.extend_from_slice(&[*set as u8, u8::from(*rotations), *activation as u8, networks]);
        for number in [target.start, target.over] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&(hidden.len() as u16).to_le_bytes());
        for units in hidden {
            bytes.extend_from_slice(&(*units as u16).to_le_bytes());
        }
        for number in self.parts.iter().flat_map(|part| part.numbers()) {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let hash = Sha256::digest(&bytes);
        bytes.extend_from_slice(&hash);
        bytes
    }

    /// The hash at the end of [`Network::to_bytes`]: equal for equal networks, on every machine.
    #[must_use]
    pub fn sha256(&self) -> [u8; HASH_BYTES] {
        let bytes = self.to_bytes();
        bytes.last_chunk().copied().unwrap_or_default()
    }

    /// Reads a network and checks it completely.
    ///
    /// # Errors
    /// If [`Network::to_bytes`] did not produce the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NetworkBytesError> {
        let Some((begin, hash)) = bytes.split_last_chunk::<HASH_BYTES>() else {
            return Err(NetworkBytesError::NotANetwork);
        };
        let Some(rest) = begin.strip_prefix(MAGIC) else {
            return Err(NetworkBytesError::NotANetwork);
        };
        let mut reader = Reader(rest);
        let found = u16::from_le_bytes(reader.take()?);
        if found != VERSION {
            return Err(NetworkBytesError::Version { found });
        }
        if Sha256::digest(begin).as_slice() != hash {
            return Err(NetworkBytesError::Hash);
        }
        let architecture = reader.architecture()?;
        let mut parts = Self::zeros(&architecture);
        let expected = bytes.len() - reader.0.len() + 4 * architecture.weights();
        if expected != bytes.len() {
            return Err(NetworkBytesError::Length { found: bytes.len(), expected });
        }
        let numbers = || reader.0.chunks_exact(4).filter_map(|number| number.first_chunk::<4>());
        let mut numbers = numbers().map(|bytes| f32::from_le_bytes(*bytes));
        if let Some(index) = numbers.clone().position(|number| !number.is_finite()) {
            return Err(NetworkBytesError::NotFinite { index });
        }
        parts.iter_mut().for_each(|part| part.set_numbers(&mut numbers));
        Ok(Self::new(architecture, parts))
    }
}

/// The unread bytes.
struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], NetworkBytesError> {
        let cut = NetworkBytesError::Description { problem: "it ends too soon" };
        let (taken, rest) = self.0.split_first_chunk().ok_or(cut)?;
        self.0 = rest;
        Ok(*taken)
    }

    fn short(&mut self) -> Result<usize, NetworkBytesError> {
        Ok(usize::from(u16::from_le_bytes(self.take()?)))
    }

    /// One of these values, by its index.
    fn one_of<T: Copy>(&mut self, values: &[T]) -> Result<T, NetworkBytesError> {
        let [place] = self.take()?;
        Self::at(place, values)
    }

    fn at<T: Copy>(place: u8, values: &[T]) -> Result<T, NetworkBytesError> {
        let unknown = NetworkBytesError::Description { problem: "a word is unknown" };
        values.get(usize::from(place)).copied().ok_or(unknown)
    }

    fn architecture(&mut self) -> Result<Architecture, NetworkBytesError> {
        let wrong = |problem| NetworkBytesError::Description { problem };
        let length = self.short()?;
        let Some((name, rest)) = self.0.split_at_checked(length) else {
            return Err(wrong("it ends too soon"));
        };
        self.0 = rest;
        let name = std::str::from_utf8(name).map_err(|_| wrong("its ending is no text"))?;
        let endgame: crate::tables::Endgame =
            name.parse().map_err(|_| wrong("there is no such ending"))?;
        if endgame.has_pawns() {
            return Err(wrong("there is no such ending"));
        }
        if endgame.name() != name {
            return Err(wrong("its ending has another name"));
        }
        let set = self.one_of(&InputSet::ALL)?;
        let rotations = self.one_of(&[false, true])?;
        let activation = self.one_of(&Activation::ALL)?;
        let [networks] = self.take()?;
        let regions = usize::from(networks / REGION) + 1;
        if regions > REGIONS_MAX {
            return Err(wrong("it has too many regions"));
        }
        let networks = Self::at(networks % REGION, &Networks::ALL)?;
        let [start, over] = [self.take()?, self.take()?].map(f64::from_le_bytes);
        if !(0.0..=1.0).contains(&start) || !(1.0..=1_000.0).contains(&over) {
            return Err(wrong("its target is out of range"));
        }
        let layers = self.short()?;
        if !(1..=LAYERS_MAX).contains(&layers) {
            return Err(wrong("it has too few or too many layers"));
        }
        let mut hidden = Vec::with_capacity(layers);
        for _ in 0..layers {
            let units = self.short()?;
            if !(1..=UNITS_MAX).contains(&units) {
                return Err(wrong("a layer has too few or too many units"));
            }
            hidden.push(units);
        }
        let target = Target { start, over };
        let architecture =
            Architecture { endgame, set, rotations, hidden, activation, target, networks, regions };
        if architecture.weights() > WEIGHTS_MAX {
            return Err(wrong("it has too many weights"));
        }
        Ok(architecture)
    }
}
