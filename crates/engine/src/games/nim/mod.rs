//! Nim: take any number of objects from one heap; the last object decides.

mod game;

use std::fmt;

use crate::core::knowledge::Knowledge;
use crate::core::position::{Ending, LEAVES_MAX, Position, Side, SideName};
use crate::core::problem::Problem;
use crate::core::solver::{PlainSolver, Solvable};
use crate::core::termination::{Termination, TerminationInfo};

/// The last object was taken.
pub const LAST_OBJECT: Termination =
    Termination::new(&TerminationInfo { name: "last_object", words: "the last object is taken" });

/// A Nim position.
///
/// The notation is the objects in each heap, separated by commas, then `/w` or `/b` for the side to
/// move: `3,4,5/w`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Nim {
    /// Objects in each heap; zeros after the last heap.
    objects: [u8; Self::HEAPS_MAX],
    heaps: u8,
    to_move: Side,
    misere: bool,
}

/// Takes objects from a heap. The notation is the heap's letter (a is the first) and the number of
/// objects taken: `b3`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NimMove {
    heap: u8,
    objects: u8,
}

impl NimMove {
    /// Takes `objects` from the heap with this index, the first being 0.
    ///
    /// # Panics
    /// If `heap` is not below [`Nim::HEAPS_MAX`] or `objects` not from 1 to [`Nim::OBJECTS_MAX`].
    #[must_use]
    pub const fn new(heap: usize, objects: u32) -> Self {
        assert!(heap < Nim::HEAPS_MAX, "Nim has no such heap");
        assert!(objects >= 1 && objects <= Nim::OBJECTS_MAX, "no heap has so many objects");
        Self { heap: heap as u8, objects: objects as u8 }
    }

    /// Index of the heap, from 0.
    #[must_use]
    pub const fn heap(self) -> usize {
        self.heap as usize
    }

    /// Objects taken, at least 1.
    #[must_use]
    pub const fn objects(self) -> u32 {
        self.objects as u32
    }
}

impl Nim {
    /// The greatest number of heaps.
    pub const HEAPS_MAX: usize = 8;
    /// The greatest number of objects in a heap.
    pub const OBJECTS_MAX: u32 = 30;

    /// Objects in each heap.
    pub fn heaps(&self) -> impl Iterator<Item = u32> + Clone + use<'_> {
        self.used().iter().map(|&objects| u32::from(objects))
    }

    /// Whether taking the last object loses.
    #[must_use]
    pub const fn is_misere(&self) -> bool {
        self.misere
    }

    fn used(&self) -> &[u8] {
        &self.objects[..usize::from(self.heaps)]
    }
}

impl Position for Nim {
    type Move = NimMove;

    // The notation's letters, which are older than the words.
    const SIDES: [SideName; 2] = [
        SideName { word: "the first player", letter: 'w' },
        SideName { word: "the second player", letter: 'b' },
    ];

    const HISTORY_MATTERS: bool = false;

    fn to_move(&self) -> Side {
        self.to_move
    }

    fn ending(&self) -> Option<Ending> {
        let winner = if self.misere { self.to_move } else { self.to_move.other() };
        self.is_over().then_some(Ending { winner: Some(winner), termination: LAST_OBJECT })
    }

    fn is_over(&self) -> bool {
        self.objects == [0; Self::HEAPS_MAX]
    }

    fn legal_moves(&self, moves: &mut Vec<NimMove>) {
        for (heap, &objects) in (0..).zip(self.used()) {
            moves.extend((1..=objects).map(|objects| NimMove { heap, objects }));
        }
    }

    fn legal_move_count(&self) -> u32 {
        self.heaps().sum()
    }

    fn nth_legal_move(&self, index: u32) -> NimMove {
        let mut index = index;
        for (heap, objects) in self.heaps().enumerate() {
            if index < objects {
                return NimMove::new(heap, index + 1);
            }
            index -= objects;
        }
        panic!("there are fewer legal moves")
    }

    fn is_legal(&self, mv: NimMove) -> bool {
        self.used().get(mv.heap()).is_some_and(|&objects| mv.objects <= objects)
    }

    fn play_unchecked(&mut self, mv: NimMove) {
        let heap = &mut self.objects[mv.heap()];
        *heap = heap.saturating_sub(mv.objects);
        self.to_move = self.to_move.other();
    }

    /// The heaps in descending order, five bits each, and below them one bit for the side to move:
    /// exact, since the order of heaps is the game's only symmetry. The rules are not included.
    fn canonical_key(&self) -> u64 {
        let mut objects = self.objects;
        objects.sort_unstable_by(|a, b| b.cmp(a));
        let heaps = objects.iter().fold(0, |key, &objects| key << 5 | u64::from(objects));
        heaps << 1 | self.to_move.index() as u64
    }

    /// The exact number of sequences of moves: Nim's tree narrows by the moves made, so no plain
    /// product bounds it well.
    fn full_tree_leaves(&self, depth: u32) -> Option<u64> {
        Some(count_sequences(self.used(), depth))
    }

    fn board(&self) -> String {
        let mut board = String::new();
        for (letter, objects) in ('a'..).zip(self.heaps()) {
            let row = format!("{letter} {objects:>2}  {}", "o ".repeat(objects as usize));
            board.push_str(row.trim_end());
            board.push('\n');
        }
        board.push_str(&self.status());
        board
    }

    fn parse_move(&self, text: &str) -> Result<NimMove, Problem> {
        let last = (b'a' + self.heaps - 1) as char;
        let error = || {
            Problem::new(
                format!("`{text}` is not a Nim move"),
                format!("write a heap from a to {last} and how many objects to take, such as a2"),
            )
        };
        let mut characters = text.chars();
        let heap =
            characters.next().filter(|heap| ('a'..=last).contains(heap)).ok_or_else(error)?;
        let objects = parse_number(characters.as_str())
            .filter(|objects| (1..=Self::OBJECTS_MAX).contains(objects))
            .ok_or_else(error)?;
        Ok(Self::move_of(heap, objects))
    }
}

impl Nim {
    fn move_of(heap: char, objects: u32) -> NimMove {
        NimMove::new(heap as usize - 'a' as usize, objects)
    }
}

impl Knowledge for Nim {
    const MOVE_CODES: usize = Self::HEAPS_MAX * (Self::OBJECTS_MAX as usize + 1);

    type Orientation = ();

    fn move_code(mv: NimMove) -> u16 {
        u16::from(mv.heap) * (Self::OBJECTS_MAX as u16 + 1) + u16::from(mv.objects)
    }

    fn table_key(&self) -> u64 {
        let heaps = self.objects.iter().fold(0, |key, &objects| key << 5 | u64::from(objects));
        heaps << 1 | self.to_move.index() as u64
    }

    fn symmetric_table_key(&self) -> u64 {
        self.canonical_key()
    }

    fn plies_left(&self) -> u32 {
        self.heaps().sum()
    }
}

impl Solvable for Nim {
    type Solver = PlainSolver;
}

/// Parses a position that play can reach from the start.
fn parse(start: Nim, text: &str) -> Result<Nim, Problem> {
    let error = |problem: String| {
        Problem::new(
            problem,
            format!(
                "write a Nim position as its heaps and who moves, such as {start} or {}/b",
                start.to_string().trim_end_matches("/w")
            ),
        )
    };
    let (heaps, to_move) = match text.split_once('/') {
        Some((heaps, "w")) => (heaps, Side::First),
        Some((heaps, "b")) => (heaps, Side::Second),
        Some((_, other)) => return Err(error(format!("`{other}` is neither w nor b"))),
        None => return Err(error(format!("`{text}` does not say who is to move"))),
    };
    let mut position = Nim { to_move, ..start };
    let mut count = 0;
    for (heap, number) in heaps.split(',').enumerate() {
        count += 1;
        let objects = parse_number(number)
            .ok_or_else(|| error(format!("heap {} is `{number}`", heap + 1)))?;
        match start.used().get(heap) {
            Some(&limit) if objects > u32::from(limit) => {
                let heap = heap + 1;
                let problem = format!("heap {heap} has {objects} objects of {limit} at the start");
                return Err(error(problem));
            }
            Some(_) => position.objects[heap] = objects as u8,
            None => {}
        }
    }
    if count != start.heaps {
        return Err(error(format!("the number of heaps is {count} instead of {}", start.heaps)));
    }
    check_turn(&start, &position).map_err(error)?;
    Ok(position)
}

/// The missing objects must have been taken by a number of moves that leaves this player to move. A
/// heap that lacks objects lacks them by one move or more, at most one for each object.
fn check_turn(start: &Nim, position: &Nim) -> Result<(), String> {
    let taken = start.heaps().zip(position.heaps()).map(|(before, now)| before - now);
    let least = taken.clone().filter(|&taken| taken > 0).count() as u32;
    let most: u32 = taken.sum();
    let parity = position.to_move.index() as u32;
    if (least..=most).any(|moves| moves % 2 == parity) {
        return Ok(());
    }
    Err(format!(
        "with so many objects taken it cannot be {}'s turn",
        Nim::side_name(position.to_move)
    ))
}

/// Digits only: no sign, no spaces, no leading zero.
fn parse_number(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// The sequences of `depth` moves, and the shorter ones that end the game, saturating at
/// [`LEAVES_MAX`].
///
/// A heap of h objects passes through m of its h smaller sizes in C(h, m) ways, ending empty in
/// C(h - 1, m - 1) of them; the moves of several heaps interleave freely, so that their counts
/// convolve with binomial coefficients (a product of exponential generating functions).
fn count_sequences(heaps: &[u8], depth: u32) -> u64 {
    let objects: usize = heaps.iter().map(|&objects| usize::from(objects)).sum();
    let depth = usize::try_from(depth).unwrap_or(usize::MAX).min(objects);
    let choose = binomials(depth.max(Nim::OBJECTS_MAX as usize));
    let interleave = |ways: &[u64], own: &dyn Fn(usize) -> u64| -> Vec<u64> {
        (0..=depth)
            .map(|moves| {
                (0..=moves).fold(0, |sum: u64, mine| {
                    let both = own(mine).saturating_mul(ways[moves - mine]);
                    sum.saturating_add(both.saturating_mul(choose[moves][mine]))
                })
            })
            .collect()
    };
    let mut going = vec![0; depth + 1];
    going[0] = 1;
    let mut ended = going.clone();
    for &heap in heaps.iter().filter(|&&objects| objects > 0) {
        let heap = usize::from(heap);
        going = interleave(&going, &|moves| choose[heap].get(moves).copied().unwrap_or(0));
        ended = interleave(&ended, &|moves| match moves {
            0 => 0,
            moves => choose[heap - 1].get(moves - 1).copied().unwrap_or(0),
        });
    }
    let shorter = ended[..depth].iter().fold(0_u64, |sum, &ways| sum.saturating_add(ways));
    going[depth].saturating_add(shorter).min(LEAVES_MAX)
}

/// Pascal's triangle up to row `last`, saturating.
fn binomials(last: usize) -> Vec<Vec<u64>> {
    let mut rows: Vec<Vec<u64>> = vec![vec![1]];
    for row in 1..=last {
        let above = &rows[row - 1];
        let inner = above.windows(2).map(|pair| pair[0].saturating_add(pair[1]));
        rows.push([1].into_iter().chain(inner).chain([1]).collect());
    }
    rows
}

impl fmt::Display for Nim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (heap, objects) in self.used().iter().enumerate() {
            let comma = if heap == 0 { "" } else { "," };
            write!(f, "{comma}{objects}")?;
        }
        f.write_str(match self.to_move {
            Side::First => "/w",
            Side::Second => "/b",
        })
    }
}

impl fmt::Debug for Nim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Nim({self}{})", if self.misere { " misere" } else { "" })
    }
}

impl fmt::Display for NimMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", (b'a' + self.heap) as char, self.objects)
    }
}

impl fmt::Debug for NimMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
