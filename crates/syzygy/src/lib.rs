//! Syzygy tables of chess endings: which files a machine has, and what they say about a position.
//!
//! [`Tables::open`] lists folders, without reading a file. [`Tables::wdl`] and [`Tables::dtz`] look up a position, and
//! [`Tables::outcome`] says how a game ends from there. A file is opened for each lookup, only the parts that are needed
//! are read, and nothing is mapped into memory: a file that is missing, cut off or damaged is a [`ProbeError`] that
//! names it. Contents are not compared with the checksums at the files' ends, so damage among the values may
//! also give a wrong value.
//!
//! ```no_run
//! use std::path::PathBuf;
//!
//! use spelrum_syzygy::{Board, Outcome, Tables};
//!
//! let tables = Tables::open(&[PathBuf::from("/srv/syzygy")]).map_err(|(_, error)| error)?;
//! let board: Board = "8/2K5/4B3/3N4/8/8/4k3/8 b - - 0 1".parse().map_err(|_| "no position")?;
//! assert_eq!(tables.dtz(&board)?, -53);
//! assert_eq!(tables.outcome(&board, true)?, Some(Outcome::Loss));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The format
//!
//! The tables are by Ronald de Man, who published their generator and a prober at
//! <https://github.com/syzygy1/tb>. For each material there is a file with results (`KQvKR.rtbw`) and one with
//! distances to a capture or pawn move (`KQvKR.rtbz`), the latter for one side to move. Results are those from a fresh
//! count of the fifty-move rule, and tell wins that the rule makes draws from other draws. Positions in which a capture decides
//! have any value that compresses well: who looks up searches captures first. No position has castling rights or
//! en passant. The crate depends on neither sweeps nor the engine.

mod layout;
mod material;
mod pairs;
mod probe;
mod source;
mod table;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use cozy_chess::Color;

/// A position of chess, which is read from FEN by [`str::parse`].
pub use cozy_chess::Board;
pub use material::PIECES_MAX;

use material::Material;
use table::{Kind, Table};

/// The result for the side to move, from worst to best, if the fifty-move rule begins to count in the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wdl {
    /// It loses.
    Loss,
    /// It would lose, but draws by the fifty-move rule.
    BlessedLoss,
    /// It draws.
    Draw,
    /// It would win, but draws by the fifty-move rule.
    CursedWin,
    /// It wins.
    Win,
}

impl Wdl {
    /// The same for the other side.
    #[must_use]
    pub const fn for_other(self) -> Self {
        match self {
            Self::Loss => Self::Win,
            Self::BlessedLoss => Self::CursedWin,
            Self::Draw => Self::Draw,
            Self::CursedWin => Self::BlessedLoss,
            Self::Win => Self::Loss,
        }
    }

    /// The distance if a capture or pawn move keeps the result at once.
    const fn plies_of_zeroing(self) -> i32 {
        match self {
            Self::Loss => -1,
            Self::BlessedLoss => -101,
            Self::Draw => 0,
            Self::CursedWin => 101,
            Self::Win => 1,
        }
    }

    /// The list of a file of distances through which the values of this result go.
    const fn list(self) -> usize {
        match self {
            Self::Win | Self::Draw => 0,
            Self::Loss => 1,
            Self::CursedWin => 2,
            Self::BlessedLoss => 3,
        }
    }
}

/// How a game ends under best play, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It wins.
    Win,
    /// Nobody wins.
    Draw,
    /// It loses.
    Loss,
}

/// Why the tables do not give a position's value.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// No table has castling rights.
    #[error("Syzygy tables have no positions with castling rights")]
    Castling,
    /// No table has so many pieces.
    #[error("Syzygy tables have at most {PIECES_MAX} pieces, not {0}")]
    Pieces(usize),
    /// This file is in none of the folders.
    #[error("there is no Syzygy table {0}")]
    Missing(String),
    /// The file cannot be read.
    #[error("failed to read the Syzygy table {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not a Syzygy table, or damaged.
    #[error("the Syzygy table {} is damaged: {problem}; replace the file", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The contradiction.
        problem: &'static str,
    },
}

impl ProbeError {
    /// The file that is damaged or cannot be read.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Unreadable { path, .. } | Self::Damaged { path, .. } => Some(path),
            Self::Castling | Self::Pieces(_) | Self::Missing(_) => None,
        }
    }
}

/// The tables in a machine's folders.
#[derive(Debug)]
pub struct Tables {
    results: BTreeMap<Material, Table>,
    distances: BTreeMap<Material, Table>,
}

impl Tables {
    /// Lists the files of these folders whose names are those of tables. Of two with the same name the first folder's
    /// counts. No file is read before a position needs it.
    ///
    /// # Errors
    /// The folder that cannot be listed.
    pub fn open(folders: &[PathBuf]) -> Result<Self, (PathBuf, io::Error)> {
        let mut tables = Self { results: BTreeMap::new(), distances: BTreeMap::new() };
        for folder in folders {
            let failed = |error| (folder.clone(), error);
            for entry in folder.read_dir().map_err(failed)? {
                tables.add(entry.map_err(failed)?.path());
            }
        }
        Ok(tables)
    }

    fn add(&mut self, path: PathBuf) {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let name = path.file_stem().and_then(|stem| stem.to_str()).and_then(Material::parse);
        let kind =
            [Kind::Wdl, Kind::Dtz].into_iter().find(|kind| extension == Some(kind.extension()));
        if let (Some(kind), Some(material)) = (kind, name) {
            let tables = match kind {
                Kind::Wdl => &mut self.results,
                Kind::Dtz => &mut self.distances,
            };
            let table = Table::new(path, kind, material);
            tables.entry(material.ordered()).or_insert(table);
        }
    }

    /// The number of files with results and of files with distances that have this many pieces.
    #[must_use]
    pub fn counts(&self, pieces: usize) -> [usize; 2] {
        [&self.results, &self.distances]
            .map(|tables| tables.keys().filter(|material| material.pieces() == pieces).count())
    }

    /// The number of materials of this many pieces.
    #[must_use]
    pub fn materials(pieces: usize) -> usize {
        Material::all(pieces).count()
    }

    /// The greatest number of pieces up to which there are all files, those with results and those with distances;
    /// 0 if a file of three pieces is missing. [`PIECES_MAX`] at most.
    #[must_use]
    pub fn complete_pieces(&self) -> usize {
        let is_complete = |&pieces: &usize| self.first_missing(pieces).is_none();
        (3..=PIECES_MAX).take_while(is_complete).last().unwrap_or(0)
    }

    /// The name of a file of this many pieces that is missing; `None` if there are all.
    #[must_use]
    pub fn first_missing(&self, pieces: usize) -> Option<String> {
        let kinds = [(Kind::Wdl, &self.results), (Kind::Dtz, &self.distances)];
        kinds.into_iter().find_map(|(kind, tables)| {
            let missing = Material::all(pieces).find(|material| !tables.contains_key(material))?;
            Some(format!("{missing}.{}", kind.extension()))
        })
    }

    /// The result for the side to move if the fifty-move rule begins to count here.
    ///
    /// # Errors
    /// If the position has castling rights or too many pieces, or a file that it needs is missing, unreadable or
    /// damaged.
    pub fn wdl(&self, board: &Board) -> Result<Wdl, ProbeError> {
        check(board)?;
        probe::wdl(self, board)
    }

    /// Plies to a capture, pawn move or mate under best play: positive if the side to move wins, 0 for a draw, negative
    /// if it loses, farther than 100 from 0 where the fifty-move rule makes it a draw. A file may have distances in full
    /// moves, so that the number may be one too near to 0, but not where that changes the result of [`Tables::wdl`].
    ///
    /// # Errors
    /// As [`Tables::wdl`].
    pub fn dtz(&self, board: &Board) -> Result<i32, ProbeError> {
        check(board)?;
        probe::dtz(self, board)
    }

    /// How a game ends from here under best play by both; with `fifty_moves` under the fifty-move rule, which has already
    /// counted the board's halfmove clock. `None` if that depends on the one ply by which a distance may be too small.
    /// Distances are looked up only where the clock is running and a side wins.
    ///
    /// # Errors
    /// As [`Tables::wdl`].
    pub fn outcome(&self, board: &Board, fifty_moves: bool) -> Result<Option<Outcome>, ProbeError> {
        let wdl = self.wdl(board)?;
        let clock = i32::from(board.halfmove_clock());
        let outcome = match wdl {
            Wdl::Win => Outcome::Win,
            Wdl::Loss => Outcome::Loss,
            Wdl::CursedWin if !fifty_moves => Outcome::Win,
            Wdl::BlessedLoss if !fifty_moves => Outcome::Loss,
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => Outcome::Draw,
        };
        if !fifty_moves || clock == 0 || outcome == Outcome::Draw {
            return Ok(Some(outcome));
        }
        let plies = self.dtz(board)?.abs();
        Ok(match (plies + clock, plies) {
            (..100, _) | (100, 1) => Some(outcome),
            (100, _) => None,
            _ => Some(Outcome::Draw),
        })
    }

    /// The result that a table has.
    fn results(&self, board: &Board) -> Result<Wdl, ProbeError> {
        if board.occupied().len() == 2 {
            return Ok(Wdl::Draw);
        }
        table(&self.results, board, Kind::Wdl)?.wdl(board)
    }

    /// The table with a position's distance.
    fn distances(&self, board: &Board) -> Result<&Table, ProbeError> {
        table(&self.distances, board, Kind::Dtz)
    }
}

fn table<'t>(
    tables: &'t BTreeMap<Material, Table>,
    board: &Board,
    kind: Kind,
) -> Result<&'t Table, ProbeError> {
    let material = Material::from_board(board).ordered();
    let missing = || ProbeError::Missing(format!("{material}.{}", kind.extension()));
    tables.get(&material).ok_or_else(missing)
}

fn check(board: &Board) -> Result<(), ProbeError> {
    let pieces = board.occupied().len() as usize;
    if pieces > PIECES_MAX {
        return Err(ProbeError::Pieces(pieces));
    }
    let has_rights = |color| {
        let rights = board.castle_rights(color);
        rights.short.is_some() || rights.long.is_some()
    };
    if has_rights(Color::White) || has_rights(Color::Black) {
        return Err(ProbeError::Castling);
    }
    Ok(())
}
