//! Sums counted from games and moves as the rows go by, for comparison with the stored ones. Shares nothing with the
//! code that writes these.
//!
//! A count only confirms tables: where it and a table differ, or where a row is not as expected, the plain SQL of
//! `rollup_queries` decides and names the differences. What is kept in memory grows with cells, players, depths and
//! openings that come again, and with pairs of which one game has been read: not with games.

use std::collections::{BTreeSet, HashMap};

use rusqlite::Connection;

use crate::check::counted_games::Game;
use crate::check::counted_sums::{
    CellSums, Hashes, OpeningKey, OpeningSums, PlayedGame, SearchSums, WorkerSums,
};
use crate::check::taken_rows::TakenRow;

/// The tables that a count can confirm. `games` stands for which of them count.
pub(crate) const COUNTED: [&str; 8] = [
    "game_sides",
    "game_depths",
    "cell_depths",
    "cell_move_times",
    "cell_results",
    "cell_openings",
    "worker_results",
    "games",
];

/// What the count needs to know of a cell, and its sums.
#[derive(Debug)]
pub(crate) struct Cell {
    experiment: i64,
    swap_sides: bool,
    stop_number: Option<i64>,
    /// The number of its openings, if they come again among its games.
    openings: Option<i64>,
    /// Whether any of its games is settled.
    pub(crate) has_games: bool,
    pub(crate) sums: CellSums,
}

/// The count, while the games are read in the order of their ids.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    pub(crate) cells: HashMap<i64, Cell>,
    /// The buckets of times, by where they begin.
    buckets: Vec<(i64, i64)>,
    game: Game,
    /// The first game of each pair whose second one has not been read, by cell and pair.
    halves: HashMap<(i64, i64), (i64, PlayedGame)>,
    /// By cell, player and depth.
    pub(crate) depths: HashMap<(i64, i64, i64), SearchSums>,
    /// Searches by cell, player, depth and bucket: the sum of a hash of these over all searches.
    pub(crate) times: Hashes,
    /// Openings that come again, by cell and number.
    pub(crate) openings: HashMap<OpeningKey, OpeningSums>,
    /// All other openings: the sum of the hashes of their rows. Where an exclusion has taken games out again, sums of
    /// times may differ in their last bits, and are then recounted by SQL.
    pub(crate) single_openings: Hashes,
    /// By experiment and worker.
    pub(crate) workers: HashMap<(i64, i64), WorkerSums>,
    doubted: BTreeSet<&'static str>,
    /// Whether a row was not as expected.
    is_lost: bool,
}

impl Counting {
    /// Begins a count.
    pub(crate) fn begin(connection: &Connection) -> rusqlite::Result<Self> {
        let mut counting = Self::default();
        let mut statement = connection.prepare(
            "SELECT c.cell_id, c.experiment_id, c.swap_sides, c.stop_number, k.openings_count,
                (SELECT max(g.number) FROM games AS g WHERE g.cell_id = c.cell_id)
            FROM cells AS c JOIN conditions AS k ON k.conditions_id = c.conditions_id",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let swap_sides: i64 = row.get(2)?;
            counting.is_lost |= ![0, 1].contains(&swap_sides);
            let swap_sides = swap_sides == 1;
            let last: i64 = row.get::<_, Option<i64>>(5)?.unwrap_or(0);
            let last_unit = if swap_sides { last / 2 } else { last };
            let openings: Option<i64> = row.get(4)?;
            counting.is_lost |= openings.is_some_and(|openings| openings < 1);
            let cell = Cell {
                experiment: row.get(1)?,
                swap_sides,
                stop_number: row.get(3)?,
                openings: openings.filter(|openings| *openings <= last_unit),
                has_games: false,
                sums: CellSums::default(),
            };
            counting.cells.insert(row.get(0)?, cell);
        }
        counting.buckets = connection
            .prepare("SELECT from_us, time_bucket_id FROM time_buckets ORDER BY from_us")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        counting.distinct_games(connection)?;
        Ok(counting)
    }

    /// Distinct games of the cells, in the order of the index that has them.
    fn distinct_games(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare(
            "SELECT cell_id, count(*) FROM (
                SELECT DISTINCT cell_id, moves_hash, opening_id, first_player_id
                FROM games WHERE counted = 1)
            GROUP BY cell_id",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match self.cells.get_mut(&row.get(0)?) {
                Some(cell) => cell.sums.distinct_games = row.get(1)?,
                None => self.is_lost = true,
            }
        }
        Ok(())
    }

    /// Takes note that a row is not as expected: nothing is confirmed.
    pub(crate) fn lose(&mut self) {
        self.is_lost = true;
    }

    pub(crate) fn doubt(&mut self, table: &'static str) {
        self.doubted.insert(table);
    }

    /// Reads a row of one of the tables of games, of the game that is read next.
    pub(crate) fn read(&mut self, table: &str, row: &TakenRow) {
        if self.game.read(table, row).is_none() {
            self.lose();
        }
    }

    /// Counts the game whose rows were read, and begins the next.
    pub(crate) fn end_game(&mut self) {
        if self.is_lost {
            return;
        }
        let mut game = std::mem::take(&mut self.game);
        if self.count(&game).is_none() {
            self.lose();
        }
        game.clear();
        self.game = game;
    }

    fn count(&mut self, game: &Game) -> Option<()> {
        let row = game.row.as_ref()?;
        for table in game.differing() {
            self.doubt(table);
        }
        let cell = self.cells.get_mut(&row.cell)?;
        cell.has_games = true;
        let is_before_stop = cell.stop_number.is_none_or(|stop| row.number < stop);
        let due = !row.has_failed && is_before_stop;
        let reason: Option<&[u8]> = match (row.has_failed, is_before_stop) {
            (true, _) => Some(b"failed"),
            (false, false) => Some(b"beyond_stop"),
            (false, true) => None,
        };
        if row.counted != due || row.not_counted_reason.as_deref() != reason {
            self.doubted.insert("games");
        }
        cell.sums.games_failed += i64::from(row.has_failed && is_before_stop);
        if let Some(half_points) = row.half_points {
            let sums = self.workers.entry((cell.experiment, row.worker?)).or_default();
            sums.started(row.started_unix_us);
            if row.counted {
                sums.add(row.plies?, row.wall_us);
            }
            let moved_first = !cell.swap_sides || row.number % 2 == 0;
            if row.counted {
                let played = PlayedGame::new(moved_first, half_points, row.margin, game.times()?);
                cell.sums.add(&played, row.plies?, row.wall_us);
                let (cell, number) = (row.cell, row.number);
                self.count_searches(cell, game)?;
                self.count_opening(cell, number, played)?;
            }
        } else if row.counted {
            return None;
        }
        Some(())
    }

    fn count_searches(&mut self, cell: i64, game: &Game) -> Option<()> {
        for (player, depth, searches) in game.searches() {
            self.depths.entry((cell, player?, depth)).or_default().add(searches);
        }
        for (player, depth, wall_us) in game.search_times() {
            let after = self.buckets.partition_point(|(from_us, _)| *from_us <= wall_us);
            let (_, bucket) = self.buckets.get(after.checked_sub(1)?)?;
            self.times.add(&[cell, player, depth, *bucket], 1);
        }
        for (player, depth, bucket, searches) in game.bucket_counts() {
            self.times.add(&[cell, player?, depth, bucket], searches);
        }
        Some(())
    }

    fn count_opening(&mut self, cell: i64, number: i64, played: PlayedGame) -> Option<()> {
        if !self.cells.get(&cell)?.swap_sides {
            return self.count_unit(cell, number, [Some(&played), None]);
        }
        let unit = number / 2;
        match self.halves.remove(&(cell, unit)) {
            None => {
                self.halves.insert((cell, unit), (number, played));
                Some(())
            }
            // The same number twice.
            Some((other, _)) if other == number => None,
            Some((other, first)) if other < number => {
                self.count_unit(cell, unit, [Some(&first), Some(&played)])
            }
            Some((_, second)) => self.count_unit(cell, unit, [Some(&played), Some(&second)]),
        }
    }

    /// Counts the games of a pair, or one game where there are no pairs or one game of the pair counts.
    fn count_unit(&mut self, cell: i64, unit: i64, games: [Option<&PlayedGame>; 2]) -> Option<()> {
        let of_cell = self.cells.get_mut(&cell)?;
        let mut sums = OpeningSums::default();
        for game in games.into_iter().flatten() {
            sums.add_game(game);
        }
        if let [Some(first), Some(second)] = games {
            of_cell.sums.add_pair(first, second);
            sums.add_pair(first, second);
        }
        if let Some(openings) = of_cell.openings {
            self.openings.entry((cell, unit % openings)).or_default().add(&sums);
        } else {
            self.single_openings.add_row((cell, unit), &sums);
        }
        Some(())
    }

    /// Ends the count: the tables that are still to be compared with it, if all rows were as expected.
    pub(crate) fn end(mut self) -> Option<Self> {
        for ((cell, unit), (_, played)) in std::mem::take(&mut self.halves) {
            self.count_unit(cell, unit, [Some(&played), None])?;
        }
        (!self.is_lost).then_some(self)
    }

    /// Whether the cell's openings come again.
    pub(crate) fn comes_again(&self, cell: i64) -> bool {
        self.cells.get(&cell).is_some_and(|cell| cell.openings.is_some())
    }

    /// The tables without a doubt.
    pub(crate) fn confirmed(&self) -> BTreeSet<&'static str> {
        COUNTED.into_iter().filter(|table| !self.doubted.contains(table)).collect()
    }
}
