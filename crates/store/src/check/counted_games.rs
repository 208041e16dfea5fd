//! One game's rows, as a count reads them, and whether the sums over the game are those of its moves.

use std::collections::BTreeSet;

use crate::check::counted_sums::{SearchSums, near};
use crate::check::taken_rows::TakenRow;
use crate::schema::numbers::{SAFE_MAX, integer, real};

/// The greatest number of a game, and of plies of a game, that is counted with.
const NUMBER_MAX: i64 = 1 << 31;
/// The greatest margin: squares of it can be added up.
const MARGIN_MAX: u64 = 1 << 16;

/// The columns of a table of games that a count reads, after the game's id; the functions below read them in this
/// order.
pub(crate) fn wanted(table: &str) -> &'static [&'static str] {
    match table {
        "games" => &[
            "game_id",
            "cell_id",
            "number",
            "outcome",
            "plies",
            "worker_id",
            "started_unix_us",
            "wall_us",
            "counted",
            "not_counted_reason",
            "failure",
            "margin",
        ],
        "moves" => &[
            "game_id",
            "side",
            "player_id",
            "depth",
            "wall_us",
            "cpu_us",
            "nodes",
            "evaluations",
            "full_tree_leaves",
            "ended_by",
        ],
        "game_sides" => &[
            "game_id",
            "side",
            "player_id",
            "moves",
            "searched_moves",
            "wall_us",
            "cpu_us",
            "nodes",
            "evaluations",
            "full_tree_leaves",
            "wall_us_squared",
        ],
        "game_depths" => &[
            "game_id",
            "side",
            "depth",
            "searched_moves",
            "wall_us",
            "cpu_us",
            "nodes",
            "evaluations",
            "full_tree_leaves",
            "wall_us_squared",
            "move_times_json",
        ],
        _ => &["game_id"],
    }
}

/// The rows of one game.
#[derive(Debug, Default)]
pub(crate) struct Game {
    pub(crate) row: Option<GameRow>,
    moves: [MoveSums; 2],
    sides: [Option<SideRow>; 2],
    /// Searches by player and depth, from moves.
    searches: Vec<(i64, i64, SearchSums)>,
    /// Player, depth and time of each search.
    times: Vec<(i64, i64, i64)>,
    depths: Vec<DepthRow>,
}

/// A row of `games`.
#[derive(Debug)]
pub(crate) struct GameRow {
    pub(crate) cell: i64,
    pub(crate) number: i64,
    /// Half points of the player that moved first; `None` if the game failed.
    pub(crate) half_points: Option<i64>,
    pub(crate) plies: Option<i64>,
    pub(crate) worker: Option<i64>,
    pub(crate) started_unix_us: Option<i64>,
    pub(crate) wall_us: Option<i64>,
    pub(crate) counted: bool,
    pub(crate) not_counted_reason: Option<Vec<u8>>,
    pub(crate) has_failed: bool,
    pub(crate) margin: Option<i64>,
}

/// One side's moves.
#[derive(Clone, Copy, Debug, Default)]
struct MoveSums {
    player: i64,
    has_other_player: bool,
    moves: i64,
    searched_moves: i64,
    /// Wall time, processor time, nodes and evaluations of the searched moves.
    integers: [i128; 4],
    /// Leaves of the full tree, and squares of the wall time.
    reals: [f64; 2],
}

/// A row of `game_sides`.
#[derive(Clone, Copy, Debug)]
struct SideRow {
    player: i64,
    moves: i64,
    searched_moves: i64,
    integers: [i64; 4],
    reals: [f64; 2],
}

/// A row of `game_depths`.
#[derive(Debug)]
struct DepthRow {
    side: usize,
    depth: i64,
    sums: SearchSums,
    /// Searches by the bucket of their time.
    times: Vec<(i64, i64)>,
}

impl Game {
    /// Makes ready for the next game.
    pub(crate) fn clear(&mut self) {
        self.row = None;
        self.moves = <_>::default();
        self.sides = <_>::default();
        self.searches.clear();
        self.times.clear();
        self.depths.clear();
    }

    /// Reads a row of a table of games; `None` if it is not as expected.
    pub(crate) fn read(&mut self, table: &str, row: &TakenRow) -> Option<()> {
        match table {
            "games" => self.row = Some(GameRow::read(row)?),
            "moves" => self.read_move(row)?,
            "game_sides" => {
                let (side, row) = SideRow::read(row)?;
                *self.sides.get_mut(side)? = Some(row);
            }
            "game_depths" => self.depths.push(DepthRow::read(row)?),
            _ => {}
        }
        Some(())
    }

    fn read_move(&mut self, row: &TakenRow) -> Option<()> {
        let (player, depth) = (row.integer(2)?, row.integer(3)?);
        let integers = [row.integer(4)?, row.integer(5)?, row.integer(6)?, row.integer(7)?];
        let leaves = row.integer(8)? as f64;
        let side = self.moves.get_mut(usize::try_from(row.integer(1)?).ok()?)?;
        side.has_other_player |= side.moves > 0 && side.player != player;
        side.player = player;
        side.moves += 1;
        if row.text(9)? == b"only_move" {
            return Some(());
        }
        side.searched_moves += 1;
        for (sum, addend) in side.integers.iter_mut().zip(integers) {
            *sum += i128::from(addend);
        }
        let [wall_us, cpu_us, nodes, evaluations] = integers.map(|integer| integer as f64);
        let squared = wall_us * wall_us;
        side.reals[0] += leaves;
        side.reals[1] += squared;
        let sums = SearchSums {
            searched_moves: 1,
            reals: [wall_us, cpu_us, nodes, evaluations, leaves, squared],
        };
        let same = self.searches.iter_mut().find(|(p, d, _)| (*p, *d) == (player, depth));
        match same {
            Some((_, _, searches)) => searches.add(&sums),
            None => self.searches.push((player, depth, sums)),
        }
        self.times.push((player, depth, integers[0]));
        Some(())
    }

    /// The tables whose sums over this game are not those of its rows.
    pub(crate) fn differing(&self) -> BTreeSet<&'static str> {
        let mut differing = BTreeSet::new();
        let has_moves = self.moves.iter().any(|side| side.moves > 0);
        for (side, (moves, row)) in self.moves.iter().zip(&self.sides).enumerate() {
            if has_moves {
                let row = row.as_ref().filter(|row| row.moves > 0);
                let is_same = match (moves.moves > 0, row) {
                    (true, Some(row)) => moves.is_same(row),
                    (true, None) | (false, Some(_)) => false,
                    (false, None) => true,
                };
                if !is_same {
                    differing.insert("game_sides");
                }
            }
            let searched = row.as_ref().filter(|row| row.searched_moves > 0 && !has_moves);
            let is_same = match (self.depths_of(side), searched) {
                (Some(depths), Some(row)) => row.has_searches(&depths),
                (Some(_), None) | (None, Some(_)) => false,
                (None, None) => true,
            };
            if !is_same {
                differing.insert("game_depths");
            }
        }
        differing
    }

    /// One side's searches of all depths, in a game whose moves are not stored.
    fn depths_of(&self, side: usize) -> Option<DepthRow> {
        let mut depths = self.depths.iter().filter(|depth| depth.side == side).peekable();
        depths.peek()?;
        let nothing = DepthRow { side, depth: 0, sums: SearchSums::default(), times: Vec::new() };
        Some(depths.fold(nothing, |mut all, depth| {
            all.sums.add(&depth.sums);
            all.times.extend_from_slice(&depth.times);
            all
        }))
    }

    /// The mean times of the searched moves by side: by the wall clock, and in processor time.
    pub(crate) fn times(&self) -> Option<[Option<[f64; 2]>; 2]> {
        let mut times = [None; 2];
        for (times, row) in times.iter_mut().zip(&self.sides) {
            let Some(row) = row else { continue };
            if row.searched_moves < 0 {
                return None;
            }
            if row.searched_moves > 0 {
                let [wall_us, cpu_us, ..] = row.integers;
                *times = Some([wall_us, cpu_us].map(|us| us as f64 / row.searched_moves as f64));
            }
        }
        Some(times)
    }

    /// The searches by player and depth. The player of a game without moves is that of its side; `None` if the side is
    /// missing.
    pub(crate) fn searches(&self) -> impl Iterator<Item = (Option<i64>, i64, &SearchSums)> {
        let of_moves =
            self.searches.iter().map(|(player, depth, sums)| (Some(*player), *depth, sums));
        let of_depths = self.depths.iter().map(|row| (self.player(row.side), row.depth, &row.sums));
        of_moves.chain(of_depths)
    }

    /// Player, depth and time of each search whose move is stored.
    pub(crate) fn search_times(&self) -> impl Iterator<Item = (i64, i64, i64)> {
        self.times.iter().copied()
    }

    /// Player, depth, bucket and number of the searches of a game without moves.
    pub(crate) fn bucket_counts(&self) -> impl Iterator<Item = (Option<i64>, i64, i64, i64)> {
        self.depths.iter().flat_map(move |row| {
            let of_row = move |&(bucket, searches): &(i64, i64)| {
                (self.player(row.side), row.depth, bucket, searches)
            };
            row.times.iter().map(of_row)
        })
    }

    fn player(&self, side: usize) -> Option<i64> {
        self.sides.get(side)?.map(|row| row.player)
    }
}

impl GameRow {
    fn read(row: &TakenRow) -> Option<Self> {
        let half_points = match row.text(3) {
            Some(b"win") => Some(2),
            Some(b"draw") => Some(1),
            Some(b"loss") => Some(0),
            Some(_) => return None,
            None => None,
        };
        let counted = match row.integer(8)? {
            0 => false,
            1 => true,
            _ => return None,
        };
        let game = Self {
            cell: row.integer(1)?,
            number: row.integer(2).filter(|number| is_number(*number))?,
            half_points,
            plies: row.integer(4),
            worker: row.integer(5),
            started_unix_us: row.integer(6),
            wall_us: row.integer(7),
            counted,
            not_counted_reason: row.text(9).map(<[u8]>::to_vec),
            has_failed: !row.is_null(10),
            margin: row.integer(11),
        };
        let is_bounded = game.plies.is_none_or(is_number)
            && game.margin.is_none_or(|margin| margin.unsigned_abs() <= MARGIN_MAX);
        is_bounded.then_some(game)
    }
}

impl MoveSums {
    fn is_same(&self, row: &SideRow) -> bool {
        let bounded = self.integers.map(|sum| sum.min(i128::from(integer(SAFE_MAX))));
        !self.has_other_player
            && (self.player, self.moves, self.searched_moves)
                == (row.player, row.moves, row.searched_moves)
            && bounded == row.integers.map(i128::from)
            && self.reals.iter().zip(&row.reals).all(|(counted, stored)| near(*counted, *stored))
    }
}

impl SideRow {
    fn read(row: &TakenRow) -> Option<(usize, Self)> {
        let side = usize::try_from(row.integer(1)?).ok()?;
        let sums = Self {
            player: row.integer(2)?,
            moves: row.integer(3)?,
            searched_moves: row.integer(4)?,
            integers: [row.integer(5)?, row.integer(6)?, row.integer(7)?, row.integer(8)?],
            reals: [row.real(9)?, row.real(10)?],
        };
        Some((side, sums))
    }

    /// Whether these are the side's searches.
    fn has_searches(&self, depths: &DepthRow) -> bool {
        let [wall_us, cpu_us, nodes, evaluations, leaves, squared] = depths.sums.reals;
        let bounded = [wall_us, cpu_us, nodes, evaluations].map(|sum| sum.min(real(SAFE_MAX)));
        let timed = depths.times.iter().fold(0_i64, |sum, (_, moves)| sum.saturating_add(*moves));
        depths.sums.searched_moves == self.searched_moves
            && timed == self.searched_moves
            && bounded.iter().zip(self.integers).all(|(sum, stored)| near(*sum, stored as f64))
            && near(leaves, self.reals[0])
            && near(squared, self.reals[1])
    }
}

impl DepthRow {
    fn read(row: &TakenRow) -> Option<Self> {
        let reals =
            [row.real(4)?, row.real(5)?, row.real(6)?, row.real(7)?, row.real(8)?, row.real(9)?];
        Some(Self {
            side: usize::try_from(row.integer(1)?).ok().filter(|side| *side < 2)?,
            depth: row.integer(2)?,
            sums: SearchSums { searched_moves: row.integer(3)?, reals },
            times: move_times(row.text(10)?)?,
        })
    }
}

/// Buckets and numbers of searches, as `{"3":5,"7":1}`; `None` of any other text.
fn move_times(json: &[u8]) -> Option<Vec<(i64, i64)>> {
    let json = std::str::from_utf8(json).ok()?.strip_prefix('{')?.strip_suffix('}')?;
    if json.is_empty() {
        return Some(Vec::new());
    }
    let number = |text: &str| -> Option<i64> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit())
            && (text == "0" || !text.starts_with('0'));
        text.parse().ok().filter(|_| is_plain)
    };
    json.split(',')
        .map(|member| {
            let (bucket, searches) = member.strip_prefix('"')?.split_once("\":")?;
            // A bucket of no search is in no sum, and yet a row.
            Some((number(bucket)?, number(searches).filter(|searches| *searches > 0)?))
        })
        .collect()
}

/// Whether a game's number can be counted with.
fn is_number(number: i64) -> bool {
    (0..=NUMBER_MAX).contains(&number)
}
