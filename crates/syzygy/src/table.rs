//! One file: its header, and the value of a position.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use cozy_chess::{Board, Color, Piece};

use crate::layout::{Layout, bring_leading_pawn_first};
use crate::material::Material;
use crate::pairs::Pairs;
use crate::source::{Flaw, Source};
use crate::{ProbeError, Wdl};

/// The pieces by their codes, from 1.
const PIECES: [Piece; 6] =
    [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen, Piece::King];

/// What the values of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Results.
    Wdl,
    /// Distances to a capture, a pawn move or mate.
    Dtz,
}

impl Kind {
    /// How names of such files end.
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            Self::Wdl => "rtbw",
            Self::Dtz => "rtbz",
        }
    }

    const fn magic(self) -> [u8; 4] {
        match self {
            Self::Wdl => [0x71, 0xe8, 0x23, 0x5d],
            Self::Dtz => [0xd7, 0x66, 0x0c, 0xa5],
        }
    }
}

/// A file, whose header is read when a position is first looked up. The file is opened for each position: a machine has
/// more tables than a process may have open files.
#[derive(Debug)]
pub(crate) struct Table {
    path: PathBuf,
    kind: Kind,
    material: Material,
    header: Mutex<Option<Arc<Header>>>,
}

#[derive(Debug)]
struct Header {
    /// The file's length, in bytes.
    len: u64,
    /// By file of the leading pawn; one without pawns. Each for one side to move, or for both.
    parts: Vec<Vec<Part>>,
    /// The pieces with the sides as in the file.
    stored: Material,
}

/// The values of one side to move, and with pawns of one file.
#[derive(Debug)]
struct Part {
    layout: Layout,
    pairs: Pairs,
    flags: u8,
    /// Of distances: the places of the lists through which values go, by result, and the lengths.
    lists: Option<[(u64, u64); 4]>,
}

/// Distances: the side to move of a part.
const SIDE: u8 = 1;
/// Distances: values are places in lists.
const IN_LISTS: u8 = 2;
/// Distances: those of wins are in plies.
const WINS_IN_PLIES: u8 = 4;
/// Distances: those of losses are in plies.
const LOSSES_IN_PLIES: u8 = 8;
/// Distances: the lists have two bytes for each value.
const WIDE: u8 = 16;

impl Table {
    /// A file of this material, which is not read yet.
    pub(crate) fn new(path: PathBuf, kind: Kind, material: Material) -> Self {
        Self { path, kind, material, header: Mutex::new(None) }
    }

    /// The result for the side to move, without captures and en passant.
    pub(crate) fn wdl(&self, board: &Board) -> Result<Wdl, ProbeError> {
        let read = || {
            let (source, header) = self.open()?;
            let (part, index) = header.find(board, |_, _| true)?.ok_or(NO_PART)?;
            match part.pairs.value(&source, index)? & 0xff {
                0 => Ok(Wdl::Loss),
                1 => Ok(Wdl::BlessedLoss),
                2 => Ok(Wdl::Draw),
                3 => Ok(Wdl::CursedWin),
                4 => Ok(Wdl::Win),
                _ => Err(Flaw::Content("it has a value that is not a result")),
            }
        };
        read().map_err(|flaw| self.error(flaw))
    }

    /// The distance of a position with this result, in plies; `None` if the file has the positions of the other side to
    /// move alone.
    pub(crate) fn distance(&self, board: &Board, wdl: Wdl) -> Result<Option<i32>, ProbeError> {
        let read = || {
            let (source, header) = self.open()?;
            let has_side = |part: &Part, side: u8| part.flags & SIDE == side;
            let is_symmetric = self.material.is_symmetric() && self.material.pawns() == [0, 0];
            let found = header.find(board, |part, side| is_symmetric || has_side(part, side))?;
            let Some((part, index)) = found else { return Ok(None) };
            let mut value = part.pairs.value(&source, index)?;
            if let Some(lists) = part.lists {
                let (start, len) = lists[wdl.list()];
                if u64::from(value) >= len {
                    return Err(Flaw::Content("it has a value outside its lists"));
                }
                value = if part.flags & WIDE == 0 {
                    let [byte] = source.bytes(start + u64::from(value))?;
                    byte.into()
                } else {
                    source.number(start + 2 * u64::from(value))?
                };
            }
            let is_in_plies = match wdl {
                Wdl::Win => part.flags & WINS_IN_PLIES != 0,
                Wdl::Loss => part.flags & LOSSES_IN_PLIES != 0,
                Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => false,
            };
            Ok(Some(if is_in_plies { i32::from(value) } else { 2 * i32::from(value) }))
        };
        read().map_err(|flaw| self.error(flaw))
    }

    fn open(&self) -> Result<(Source, Arc<Header>), Flaw> {
        let source = Source::open(&self.path)?;
        let mut known = self.header.lock().unwrap_or_else(PoisonError::into_inner);
        let header = match &*known {
            Some(header) => Arc::clone(header),
            None => {
                let header = Arc::new(Header::read(&source, self.kind, self.material)?);
                *known = Some(Arc::clone(&header));
                header
            }
        };
        if header.len != source.len {
            return Err(Flaw::Content("its length has changed since it was first read"));
        }
        Ok((source, header))
    }

    /// An error of this file.
    pub(crate) fn error(&self, flaw: Flaw) -> ProbeError {
        let path = self.path.clone();
        match flaw {
            Flaw::Io(source) => ProbeError::Unreadable { path, source },
            Flaw::Content(problem) => ProbeError::Damaged { path, problem },
        }
    }
}

const NO_PART: Flaw = Flaw::Content("it lacks one side to move");

impl Header {
    fn read(source: &Source, kind: Kind, material: Material) -> Result<Self, Flaw> {
        let [m0, m1, m2, m3, flags] = source.bytes(0)?;
        if [m0, m1, m2, m3] != kind.magic() {
            return Err(Flaw::Content("it does not begin as such a table does"));
        }
        let (is_wdl, has_pawns) = (kind == Kind::Wdl, material.pawns() != [0, 0]);
        if (flags & 2 != 0) != has_pawns || (is_wdl && flags & 1 == 0 && !material.is_symmetric()) {
            return Err(Flaw::Content("its header contradicts its name"));
        }
        let (files, sides) =
            (if has_pawns { 4 } else { 1 }, if is_wdl && flags & 1 != 0 { 2 } else { 1 });
        let have_both_pawns = material.pawns().iter().all(|&pawns| pawns > 0);
        let mut at = 5;
        let mut layouts = Vec::new();
        for file in 0..files {
            for side in 0..sides {
                let orders = if have_both_pawns { 2 } else { 1 };
                let nibbles = source.part(at, orders + material.pieces())?;
                let mut nibbles = nibbles.into_iter().map(|byte| (byte >> (4 * side)) & 15);
                let first = nibbles.next().unwrap_or_default();
                let second = if orders == 2 { nibbles.next() } else { None }.unwrap_or(15);
                let layout = Layout::new(material, nibbles.collect(), [first, second], file);
                layouts.push(
                    layout.ok_or(Flaw::Content("its header has other pieces than its name"))?,
                );
                if side + 1 == sides {
                    at += (orders + material.pieces()) as u64;
                }
            }
        }
        at = at.next_multiple_of(2);
        let mut parts = Vec::new();
        for layout in layouts {
            let (pairs, flags) = Pairs::read(source, &mut at, layout.size, is_wdl)?;
            parts.push(Part { layout, pairs, flags, lists: None });
        }
        if !is_wdl {
            for part in parts.iter_mut().filter(|part| part.flags & IN_LISTS != 0) {
                part.lists = Some(read_lists(source, &mut at, part.flags & WIDE != 0)?);
            }
            at = at.next_multiple_of(2);
        }
        parts.iter_mut().for_each(|part| part.pairs.place_index(&mut at));
        parts.iter_mut().for_each(|part| part.pairs.place_sizes(&mut at));
        parts.iter_mut().for_each(|part| part.pairs.place_data(&mut at));
        if at > source.len {
            return Err(Flaw::Content("it is shorter than its header says"));
        }
        let stored = |part: &Part| Material::from_codes(&part.layout.codes);
        let first = parts.first().and_then(stored).ok_or(NO_PART)?;
        if parts.iter().any(|part| stored(part) != Some(first)) {
            return Err(Flaw::Content("its parts have different pieces"));
        }
        let mut parts = parts.into_iter();
        let parts = (0..files).map(|_| parts.by_ref().take(sides).collect()).collect();
        Ok(Self { len: source.len, parts, stored: first })
    }

    /// The part of a position, and the position's index there; `None` if `has_side` refuses the part for the side to
    /// move (1 for the second).
    fn find(
        &self,
        board: &Board,
        has_side: impl Fn(&Part, u8) -> bool,
    ) -> Result<Option<(&Part, u64)>, Flaw> {
        let is_black = board.side_to_move() == Color::Black;
        let is_exchanged = if self.stored.is_symmetric() {
            is_black
        } else {
            Material::from_board(board) != self.stored
        };
        let side = u8::from(is_black != is_exchanged);
        let first = &self.parts[0][0].layout;
        let mut squares = squares(board, &first.codes, is_exchanged);
        let file = match first.leading_pawns_len() {
            Some(pawns) => bring_leading_pawn_first(&mut squares[..pawns]),
            None => 0,
        };
        let sides = &self.parts[file];
        let part = sides.get(usize::from(side)).unwrap_or(&sides[0]);
        if !has_side(part, side) {
            return Ok(None);
        }
        let mut squares = self::squares(board, &part.layout.codes, is_exchanged);
        if let Some(pawns) = part.layout.leading_pawns_len() {
            bring_leading_pawn_first(&mut squares[..pawns]);
        }
        let index = part.layout.index(&mut squares);
        index.map(|index| Some((part, index))).ok_or(Flaw::Content("it has no such position"))
    }
}

/// The squares of a board's pieces in the order of these codes, with the sides exchanged or not.
fn squares(board: &Board, codes: &[u8], is_exchanged: bool) -> Vec<u8> {
    let mut squares = Vec::with_capacity(codes.len());
    for run in codes.chunk_by(|one, other| one == other) {
        let is_white = (run[0] >> 3 == 0) != is_exchanged;
        let color = if is_white { Color::White } else { Color::Black };
        let Some(&piece) = PIECES.get(usize::from(run[0] & 7).wrapping_sub(1)) else { continue };
        let turned = if is_exchanged { 56 } else { 0 };
        squares.extend(
            board.colored_pieces(color, piece).into_iter().map(|square| square as u8 ^ turned),
        );
    }
    squares
}

/// The places and lengths of the four lists of a part, whose lengths are before them; moves `at` behind them.
fn read_lists(source: &Source, at: &mut u64, is_wide: bool) -> Result<[(u64, u64); 4], Flaw> {
    let mut lists = [(0, 0); 4];
    if is_wide {
        *at = at.next_multiple_of(2);
    }
    for list in &mut lists {
        if is_wide {
            *list = (*at + 2, source.number(*at)?.into());
            *at += 2 + 2 * list.1;
        } else {
            let [len] = source.bytes(*at)?;
            *list = (*at + 1, len.into());
            *at += 1 + list.1;
        }
    }
    Ok(lists)
}
