//! Worker effects: what workers add to scores, times and nodes.
//!
//! Workers with the same name and host are treated as one worker that was restarted.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use spelrum_model::{CellId, WorkerId};
use spelrum_names::Names;
use spelrum_statistics::{BetweenWorkers, WorkerSum};

/// Measures that may depend on the worker.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Names,
)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The points per game of each cell's first player, over pairs where sides swap.
    Score,
    /// Logarithm of the mean thread CPU time of a game's searched moves, for each of its players whose moves have no
    /// time limit; of wall time for external engines.
    Time,
    /// Logarithm of their mean number of nodes, for players whose moves have a time limit.
    Nodes,
}

/// Effects of workers on one measure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WorkerEffects {
    /// The measure.
    pub measure: Measure,
    /// Number of pairs, games, or games of players.
    pub units: u64,
    /// Differences between workers, which are numbered by their places in [`workers`](Self::workers).
    pub between: BetweenWorkers,
    /// The first start of each worker that is compared.
    pub workers: Vec<WorkerId>,
}

/// Reads effects on measures; skips measures of later versions.
pub(super) fn read_known_effects<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<WorkerEffects>, D::Error> {
    /// Effects whose measure may be unknown.
    #[derive(Deserialize)]
    struct Form {
        measure: String,
        units: u64,
        between: BetweenWorkers,
        workers: Vec<WorkerId>,
    }
    let mut known = Vec::new();
    for Form { measure, units, between, workers } in Vec::<Form>::deserialize(deserializer)? {
        let Some(measure) = Measure::named(&measure) else { continue };
        let mut effects = between.effects.iter();
        if effects.len() != workers.len() || effects.any(|effect| effect.worker >= workers.len()) {
            return Err(D::Error::custom("effects of workers differ from the workers"));
        }
        known.push(WorkerEffects { measure, units, between, workers });
    }
    Ok(known)
}

/// One counted game, as used to compare workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedGame {
    /// Its cell.
    pub cell: CellId,
    /// Its number there.
    pub number: u64,
    /// Whether players swap sides in odd numbers.
    pub swap_sides: bool,
    /// The worker that played the game.
    pub worker: WorkerId,
    /// Half points of the cell's first player.
    pub half_points: u8,
    /// Searched moves of the cell's first and second player; empty where moves are not recorded.
    pub moves: [ComparedMoves; 2],
}

/// Searched moves of one player in a game.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComparedMoves {
    /// Whether they have a time limit.
    pub is_timed: bool,
    /// Number of moves.
    pub moves: u64,
    /// Total thread CPU time, in microseconds; 0 where unknown.
    pub cpu_us: f64,
    /// Total wall time, in microseconds.
    pub wall_us: f64,
    /// Total nodes.
    pub nodes: f64,
}

/// Summed moves of one side of a counted game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedRow {
    /// The game's cell.
    pub cell_id: i64,
    /// The game's number there.
    pub number: u64,
    /// Whether players swap sides in odd numbers.
    pub swap_sides: bool,
    /// The cell's first player.
    pub first_player_id: i64,
    /// The cell's second player.
    pub second_player_id: i64,
    /// The worker that played the game.
    pub worker_id: i64,
    /// Half points of the player who moved first.
    pub half_points: u8,
    /// The side, 0 for the player who moved first; `None` where no searched move is recorded.
    pub side: Option<u8>,
    /// Number of searched moves.
    pub moves: u64,
    /// Their thread CPU time, in microseconds.
    pub cpu_us: f64,
    /// Their wall time, in microseconds.
    pub wall_us: f64,
    /// Their nodes.
    pub nodes: f64,
}

impl ComparedGame {
    /// Puts games together from their sides, given which players' moves have a time limit. Sides of a game follow each
    /// other.
    pub fn from_rows(
        rows: impl IntoIterator<Item = ComparedRow>,
        is_timed: impl Fn(i64) -> bool,
    ) -> Vec<Self> {
        let mut games: Vec<Self> = Vec::new();
        for row in rows {
            let (cell, number, swap_sides) = (CellId(row.cell_id), row.number, row.swap_sides);
            let is_swapped = swap_sides && number % 2 == 1;
            if games.last().is_none_or(|last| (last.cell, last.number) != (cell, number)) {
                games.push(Self {
                    cell,
                    number,
                    swap_sides,
                    worker: WorkerId(row.worker_id),
                    half_points: if is_swapped { 2 - row.half_points } else { row.half_points },
                    moves: [row.first_player_id, row.second_player_id].map(|player| {
                        ComparedMoves { is_timed: is_timed(player), ..ComparedMoves::default() }
                    }),
                });
            }
            let (Some(side), Some(game)) = (row.side, games.last_mut()) else { continue };
            let its = &mut game.moves[usize::from((side == 1) != is_swapped)];
            let ComparedRow { moves, cpu_us, wall_us, nodes, .. } = row;
            *its = ComparedMoves { is_timed: its.is_timed, moves, cpu_us, wall_us, nodes };
        }
        games
    }
}

/// Warnings need a p-value below this: the probability of such differences between workers by chance.
pub const P_VALUE_WARNED_OF: f64 = 0.01;

/// Maximum number of compared workers: those with the most of these games.
const WORKERS_MAX: usize = 256;

/// Maximum number of an experiment's games by which workers are compared.
const GAMES_MAX: u64 = 50_000;

/// Number of first games of each cell by which workers are compared, given the number of cells: an even number.
#[must_use]
pub const fn compared_games(cells: u64) -> u64 {
    let each = GAMES_MAX / if cells == 0 { 1 } else { cells };
    if each < 2 { 2 } else { each - each % 2 }
}

/// A worker, with its name and that of its host.
pub type NamedStart<'a> = (WorkerId, [&'a str; 2]);

/// Whether more than one worker played.
#[must_use]
pub fn are_compared(workers: &[NamedStart<'_>]) -> bool {
    workers.iter().any(|(_, named)| *named != workers[0].1)
}

/// Computes worker effects on each measure with data, from these games in the order of cells and numbers.
#[must_use]
pub fn worker_effects(workers: &[NamedStart<'_>], games: &[ComparedGame]) -> Vec<WorkerEffects> {
    let mut firsts: BTreeMap<[&str; 2], usize> = BTreeMap::new();
    let mut starts: BTreeMap<WorkerId, usize> = BTreeMap::new();
    let mut ids = Vec::new();
    for &(worker, named) in workers {
        let place = *firsts.entry(named).or_insert_with(|| {
            ids.push(worker);
            ids.len() - 1
        });
        starts.insert(worker, place);
    }
    if ids.len() < 2 {
        return Vec::new();
    }
    if ids.len() > WORKERS_MAX {
        let mut played = vec![0_u64; ids.len()];
        games
            .iter()
            .filter_map(|game| starts.get(&game.worker))
            .for_each(|&worker| played[worker] += 1);
        let mut most: Vec<usize> = (0..ids.len()).collect();
        most.sort_by_key(|&place| (core::cmp::Reverse(played[place]), place));
        most.truncate(WORKERS_MAX);
        starts.retain(|_, place| most.contains(place));
    }
    let (mut scores, mut times, mut nodes) = (Sums::default(), Sums::default(), Sums::default());
    for (index, game) in games.iter().enumerate() {
        let Some(&worker) = starts.get(&game.worker) else { continue };
        let points = f64::from(game.half_points) / 2.0;
        if !game.swap_sides {
            scores.add((game.cell, 0), worker, points);
        } else if game.number.is_multiple_of(2)
            && let Some(second) = games.get(index + 1)
            && (second.cell, second.number) == (game.cell, game.number + 1)
            && starts.get(&second.worker) == Some(&worker)
        {
            let both = f64::from(game.half_points + second.half_points) / 4.0;
            scores.add((game.cell, 0), worker, both);
        }
        let moves_first = !game.swap_sides || game.number.is_multiple_of(2);
        for (role, moves) in (0_u8..).zip(&game.moves) {
            // The first mover has other moves to make.
            let stratum = (game.cell, 2 * role + u8::from(moves_first));
            let time = if moves.cpu_us > 0.0 { moves.cpu_us } else { moves.wall_us };
            let (sums, amount) = match moves.is_timed {
                true => (&mut nodes, moves.nodes),
                false => (&mut times, time),
            };
            if moves.moves > 0 && amount > 0.0 {
                sums.add(stratum, worker, libm::log(amount / moves.moves as f64));
            }
        }
    }
    [(Measure::Score, scores), (Measure::Time, times), (Measure::Nodes, nodes)]
        .into_iter()
        .filter_map(|(measure, sums)| sums.effects(measure, &ids))
        .collect()
}

/// Sums by stratum and worker.
#[derive(Debug, Default)]
struct Sums {
    strata: BTreeMap<(CellId, u8), usize>,
    sums: BTreeMap<(usize, usize), WorkerSum>,
}

impl Sums {
    fn add(&mut self, stratum: (CellId, u8), worker: usize, measured: f64) {
        let count = self.strata.len();
        let stratum = *self.strata.entry(stratum).or_insert(count);
        let none = WorkerSum { stratum, worker, units: 0.0, sum: 0.0, squares: 0.0 };
        let sum = self.sums.entry((stratum, worker)).or_insert(none);
        sum.units += 1.0;
        sum.sum += measured;
        sum.squares += measured * measured;
    }

    fn effects(self, measure: Measure, ids: &[WorkerId]) -> Option<WorkerEffects> {
        let sums: Vec<WorkerSum> = self.sums.into_values().collect();
        let mut between = BetweenWorkers::from_sums(&sums)?;
        let workers = between.effects.iter().map(|effect| ids[effect.worker]).collect();
        for (place, effect) in between.effects.iter_mut().enumerate() {
            effect.worker = place;
        }
        let units = sums.iter().map(|sum| sum.units).sum::<f64>() as u64;
        Some(WorkerEffects { measure, units, between, workers })
    }
}

impl Measure {
    /// Whether the measure is a logarithm, so that effects are factors.
    #[must_use]
    pub const fn is_logarithm(self) -> bool {
        match self {
            Self::Score => false,
            Self::Time | Self::Nodes => true,
        }
    }
}

impl WorkerEffects {
    /// Whether workers differ significantly.
    #[must_use]
    pub fn are_significant(&self) -> bool {
        self.between.p_value < P_VALUE_WARNED_OF
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Games of number 1, won by who moved first: the second player, where players swap sides.
    #[test]
    fn moves_are_of_the_player_whose_side_they_are() {
        let row = |cell_id, swap_sides, side| ComparedRow {
            cell_id,
            number: 1,
            swap_sides,
            first_player_id: 5,
            second_player_id: 6,
            worker_id: 1,
            half_points: 2,
            side,
            moves: side.map_or(0, |side| u64::from(side) + 1),
            cpu_us: 0.0,
            wall_us: 0.0,
            nodes: 0.0,
        };
        let rows = [
            row(1, true, Some(0)),
            row(1, true, Some(1)),
            row(2, false, Some(0)),
            row(2, false, Some(1)),
            row(3, true, None),
        ];
        let games = ComparedGame::from_rows(rows, |player| player == 6);
        let facts = |game: &ComparedGame| (game.half_points, game.moves.map(|moves| moves.moves));
        let facts: Vec<_> = games.iter().map(facts).collect();
        assert_eq!(facts, [(0, [2, 1]), (2, [1, 2]), (0, [0, 0])]);
        assert!(games.iter().all(|game| game.moves.map(|moves| moves.is_timed) == [false, true]));
    }

    const WORKERS: [NamedStart<'_>; 4] = [
        (WorkerId(1), ["fast", "a"]),
        (WorkerId(2), ["slow", "b"]),
        (WorkerId(3), ["fast", "a"]),
        (WorkerId(9), ["idle", "c"]),
    ];

    /// Games of a cell by workers in turn; the slow worker takes three times as long and loses a point in ten.
    fn games(cell: i64, is_timed: bool) -> Vec<ComparedGame> {
        let game = |number: u64| {
            let is_slow = number / 2 % 3 == 1;
            let worker = WorkerId(if is_slow {
                2
            } else if number < 50 {
                1
            } else {
                3
            });
            let chance = (number * 7 + number / 2 * 5) % 11;
            let factor = if is_slow { 3.0 } else { 1.0 };
            let moves = ComparedMoves {
                is_timed,
                moves: 10,
                cpu_us: 1_000.0 * factor * (1.0 + chance as f64 / 40.0),
                wall_us: 1e6,
                nodes: 5e4 / factor * (1.0 + chance as f64 / 40.0),
            };
            let half_points = if chance < 5 { 2 } else { 0 };
            let other = ComparedMoves { moves: 0, ..moves };
            let cell = CellId(cell);
            ComparedGame {
                cell,
                number,
                swap_sides: true,
                worker,
                half_points,
                moves: [moves, other],
            }
        };
        (0..120).map(game).collect()
    }

    #[test]
    fn a_slower_worker_shows_in_times_and_not_in_scores() {
        let effects = worker_effects(&WORKERS, &[games(4, false), games(5, false)].concat());
        let measures: Vec<Measure> = effects.iter().map(|effect| effect.measure).collect();
        assert_eq!(measures, [Measure::Score, Measure::Time]);
        let (score, time) = (&effects[0], &effects[1]);
        assert_eq!(time.workers, [WorkerId(1), WorkerId(2)], "one that was started again is one");
        assert_eq!((score.units, time.units), (120, 240));
        assert!(!score.are_significant() && time.are_significant());
        let [fast, slow] = time.between.effects[..] else { panic!("two workers") };
        assert!((slow.effect - fast.effect - libm::log(3.0)).abs() < 0.02, "{time:?}");
        assert_eq!((fast.worker, slow.worker), (0, 1));
    }

    #[test]
    fn where_time_is_limited_nodes_are_compared() {
        let effects = worker_effects(&WORKERS, &games(4, true));
        let measures: Vec<Measure> = effects.iter().map(|effect| effect.measure).collect();
        assert_eq!(measures, [Measure::Score, Measure::Nodes]);
        let [fast, slow] = effects[1].between.effects[..] else { panic!("two workers") };
        assert!((slow.effect - fast.effect + libm::log(3.0)).abs() < 0.02);
    }

    /// A pair is one unit, and only of one worker; without pairs a game is.
    #[test]
    fn units_are_pairs_of_one_worker() {
        let units = |swap_sides| {
            let mut games = games(4, false);
            games.iter_mut().for_each(|game| game.swap_sides = swap_sides);
            games[1].worker = WorkerId(2);
            games.remove(60);
            worker_effects(&WORKERS, &games)[0].units
        };
        assert_eq!((units(true), units(false)), (58, 119));
    }

    #[test]
    fn one_worker_is_not_compared() {
        assert_eq!(worker_effects(&WORKERS[..1], &games(4, false)), []);
        assert!(!are_compared(&[]) && !are_compared(&WORKERS[..1]) && are_compared(&WORKERS));
        let again = [WORKERS[0], WORKERS[2]];
        assert!(!are_compared(&again) && worker_effects(&again, &games(4, false)).is_empty());
    }

    /// The comparison takes the cube of their number.
    #[test]
    fn of_very_many_workers_those_with_most_games_are_compared() {
        let names: Vec<String> = (0..1_000).map(|index| index.to_string()).collect();
        let workers: Vec<NamedStart<'_>> =
            (0..).zip(&names).map(|(id, name)| (WorkerId(id), [&**name, "host"])).collect();
        let all: Vec<ComparedGame> = (0..30_i64)
            .flat_map(|cell| games(cell, false))
            .enumerate()
            .map(|(index, game)| {
                // One in four has eight games, the others about two.
                let place = (index / 2 % 400) as i64;
                let worker =
                    WorkerId(if place < 250 { 4 * place } else { index as i64 / 2 % 1_000 });
                ComparedGame { worker, ..game }
            })
            .collect();
        let effects = worker_effects(&workers, &all);
        assert_eq!(effects[0].workers.len(), 256);
        let of_most = effects[0].workers.iter().filter(|worker| worker.0 % 4 == 0).count();
        assert!(of_most >= 250, "{of_most}");
    }

    #[test]
    fn a_sample_has_pairs_of_every_cell() {
        let games = [0, 1, 3, 25_000, 1_000_000].map(compared_games);
        assert_eq!(games, [50_000, 50_000, 16_666, 2, 2]);
    }
}
