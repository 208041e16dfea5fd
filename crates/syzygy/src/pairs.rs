//! The compressed values of a table.
//!
//! Values are compressed by recursive pairing: a symbol is a value or a pair of symbols. Symbols are written in a
//! canonical Huffman code, whose longer codes have lower values, into blocks of equal length. A sparse index leads
//! from every so-many-th value to a block near it, from where the numbers of values in blocks lead on.

use crate::source::{Flaw, PART_MAX, Source};

/// How many blocks a value may be away from where the index leads. Real tables have it a few blocks away.
const STEPS_MAX: u32 = 1 << 16;

/// The second symbol of a symbol that is a value.
const IS_VALUE: u16 = 0xfff;

/// The values of one side to move, and with pawns of one file.
#[derive(Debug)]
pub(crate) enum Pairs {
    /// All are equal.
    Constant(u16),
    /// They are compressed.
    Blocks(Blocks),
}

/// Where the compressed values are, and how they are decoded.
#[derive(Debug)]
pub(crate) struct Blocks {
    index_bits: u32,
    index_len: u64,
    index_at: u64,
    /// Of the numbers of values in blocks; a few more than there are blocks.
    sizes_len: u64,
    sizes_at: u64,
    block_bits: u32,
    block_count: u64,
    data_at: u64,
    shortest_code: u32,
    /// For each length of codes from the shortest: the lowest code, at the high end of 64 bits, and its symbol.
    codes: Vec<(u64, u16)>,
    /// The two symbols of each; the first is the value if the second is [`IS_VALUE`].
    symbols: Vec<[u16; 2]>,
    /// How many values each stands for, less one.
    more_values: Vec<u8>,
}

impl Pairs {
    /// Reads the description of `size` values. Returns the flags, and moves `at` behind it.
    pub(crate) fn read(
        source: &Source,
        at: &mut u64,
        size: u64,
        is_wdl: bool,
    ) -> Result<(Self, u8), Flaw> {
        let [flags, first] = source.bytes(*at)?;
        if flags & 0x80 != 0 {
            *at += 2;
            return Ok((Self::Constant(if is_wdl { first.into() } else { 0 }), flags));
        }
        let [_, block_bits, index_bits, more_sizes, b0, b1, b2, b3, longest, shortest] =
            source.bytes(*at)?;
        let [block_bits, index_bits] = [block_bits, index_bits].map(u32::from);
        let are_bits_bounded =
            (1 << block_bits.min(31)) <= PART_MAX && (1..=32).contains(&index_bits);
        if !are_bits_bounded || !(1..=longest).contains(&shortest) || longest > 32 {
            return Err(Flaw::Content("the lengths of its blocks or codes are out of bounds"));
        }
        let lengths = usize::from(longest - shortest) + 1;
        *at += 10;
        let firsts = source.part(*at, 2 * lengths)?;
        *at += firsts.len() as u64;
        let count = source.number(*at)?;
        *at += 2;
        if count > 0x1000 {
            return Err(Flaw::Content("it has too many symbols"));
        }
        let symbols = source.part(*at, 3 * usize::from(count))?;
        *at += symbols.len() as u64 + u64::from(count % 2);
        let symbols: Vec<[u16; 2]> = symbols.chunks_exact(3).map(pair).collect();
        let block_count = u64::from(u32::from_le_bytes([b0, b1, b2, b3]));
        let blocks = Blocks {
            index_bits,
            index_len: size.div_ceil(1 << index_bits),
            index_at: 0,
            sizes_len: block_count + u64::from(more_sizes),
            sizes_at: 0,
            block_bits,
            block_count,
            data_at: 0,
            shortest_code: shortest.into(),
            codes: lowest_codes(&firsts, shortest.into())?,
            more_values: count_values(&symbols)?,
            symbols,
        };
        Ok((Self::Blocks(blocks), flags))
    }

    /// Sets the place of the index, and moves `at` behind it.
    pub(crate) fn place_index(&mut self, at: &mut u64) {
        if let Self::Blocks(blocks) = self {
            blocks.index_at = *at;
            *at += 6 * blocks.index_len;
        }
    }

    /// The same of the numbers of values in blocks.
    pub(crate) fn place_sizes(&mut self, at: &mut u64) {
        if let Self::Blocks(blocks) = self {
            blocks.sizes_at = *at;
            *at += 2 * blocks.sizes_len;
        }
    }

    /// The same of the blocks, which begin at a multiple of 64.
    pub(crate) fn place_data(&mut self, at: &mut u64) {
        *at = at.next_multiple_of(64);
        if let Self::Blocks(blocks) = self {
            blocks.data_at = *at;
            *at += blocks.block_count << blocks.block_bits;
        }
    }

    /// The value with this index.
    pub(crate) fn value(&self, source: &Source, index: u64) -> Result<u16, Flaw> {
        match self {
            Self::Constant(value) => Ok(*value),
            Self::Blocks(blocks) => {
                let (block, place) = blocks.find(source, index)?;
                blocks.decode(source, block, place)
            }
        }
    }
}

impl Blocks {
    /// The block of a value, and its place there.
    fn find(&self, source: &Source, index: u64) -> Result<(u64, u64), Flaw> {
        let astray = || Flaw::Content("its index leads nowhere");
        let entry = index >> self.index_bits;
        if entry >= self.index_len {
            return Err(astray());
        }
        let [b0, b1, b2, b3, p0, p1] = source.bytes(self.index_at + 6 * entry)?;
        let mut block = u64::from(u32::from_le_bytes([b0, b1, b2, b3]));
        // The index has the places of values in the middle of its stretches.
        let stretch = 1_i64 << self.index_bits;
        let mut place =
            index as i64 % stretch - stretch / 2 + i64::from(u16::from_le_bytes([p0, p1]));
        let values = |block: u64| {
            let is_inside = block < self.sizes_len;
            let number =
                if is_inside { source.number(self.sizes_at + 2 * block) } else { Err(astray()) };
            number.map(|number| i64::from(number) + 1)
        };
        for _ in 0..STEPS_MAX {
            if place < 0 {
                block = block.checked_sub(1).ok_or_else(astray)?;
                place += values(block)?;
                continue;
            }
            let here = values(block)?;
            if place < here {
                return Ok((block, place as u64));
            }
            place -= here;
            block += 1;
        }
        Err(astray())
    }

    fn decode(&self, source: &Source, block: u64, mut place: u64) -> Result<u16, Flaw> {
        let broken = || Flaw::Content("a block of it cannot be decoded");
        if block >= self.block_count {
            return Err(broken());
        }
        let bytes = source.part(self.data_at + (block << self.block_bits), 1 << self.block_bits)?;
        let mut bits_read = 0_usize;
        let mut symbol = loop {
            if bits_read >= 8 * bytes.len() {
                return Err(broken());
            }
            let code = bits(&bytes, bits_read);
            let longer =
                self.codes.iter().position(|&(lowest, _)| code >= lowest).ok_or_else(broken)?;
            let (lowest, first) = self.codes[longer];
            let len = self.shortest_code as usize + longer;
            let symbol = usize::from(first) + ((code - lowest) >> (64 - len)) as usize;
            let values = u64::from(*self.more_values.get(symbol).ok_or_else(broken)?) + 1;
            if place < values {
                break symbol;
            }
            place -= values;
            bits_read += len;
        };
        // Each symbol stands for fewer values than the one of which it is a part.
        loop {
            let [first, second] = self.symbols[symbol];
            if second == IS_VALUE {
                return Ok(first);
            }
            let values = u64::from(self.more_values[usize::from(first)]) + 1;
            symbol = if place < values {
                first.into()
            } else {
                place -= values;
                second.into()
            };
        }
    }
}

/// 64 bits from this one on, the first as the highest; zeros behind the end.
fn bits(bytes: &[u8], from: usize) -> u64 {
    let mut window = [0; 16];
    let rest = &bytes[from / 8..];
    let len = rest.len().min(9);
    window[..len].copy_from_slice(&rest[..len]);
    (u128::from_be_bytes(window) << (from % 8) >> 64) as u64
}

/// The two symbols of three bytes, 12 bits each.
fn pair(bytes: &[u8]) -> [u16; 2] {
    let [low, middle, high] = [bytes[0], bytes[1], bytes[2]].map(u16::from);
    [(middle & 15) << 8 | low, high << 4 | middle >> 4]
}

/// The lowest code of each length, from the lengths' first symbols.
fn lowest_codes(firsts: &[u8], shortest: usize) -> Result<Vec<(u64, u16)>, Flaw> {
    let wrong = || Flaw::Content("its codes contradict each other");
    let firsts = firsts.chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    let mut codes: Vec<(u64, u16)> = firsts.map(|first| (0, first)).collect();
    // The longest codes begin at 0. Each pair of codes of a length takes one of the length before.
    let mut lowest = 0_u64;
    for place in (0..codes.len()).rev() {
        if let Some(&(_, longer)) = codes.get(place + 1) {
            lowest = (lowest + u64::from(codes[place].1))
                .checked_sub(longer.into())
                .ok_or_else(wrong)?
                / 2;
        }
        let len = shortest + place;
        if lowest.checked_shr(len as u32).unwrap_or(0) > 0 {
            return Err(wrong());
        }
        codes[place].0 = lowest << (64 - len);
    }
    Ok(codes)
}

/// How many values each symbol stands for, less one. A table has at most 256 for a symbol.
fn count_values(symbols: &[[u16; 2]]) -> Result<Vec<u8>, Flaw> {
    let mut counts: Vec<Option<u8>> =
        symbols.iter().map(|pair| (pair[1] == IS_VALUE).then_some(0)).collect();
    loop {
        let (mut is_complete, mut has_changed) = (true, false);
        for symbol in 0..symbols.len() {
            if counts[symbol].is_some() {
                continue;
            }
            let parts =
                symbols[symbol].map(|part| counts.get(usize::from(part)).copied().flatten());
            if let [Some(first), Some(second)] = parts {
                let wrong = || Flaw::Content("a symbol of it stands for too many values");
                let sum = first.checked_add(second).and_then(|sum| sum.checked_add(1));
                counts[symbol] = Some(sum.ok_or_else(wrong)?);
                has_changed = true;
            } else {
                is_complete = false;
            }
        }
        if is_complete {
            return Ok(counts.into_iter().flatten().collect());
        }
        if !has_changed {
            return Err(Flaw::Content("its symbols are made of each other"));
        }
    }
}
