//! Time per move in each phase of the game, and times of players over the same mix of phases.
//!
//! Two players see different phases of the game: one wins early and never plays the long endings, in which moves take
//! another time. Their mean times then have different mixes. Standardised times have one mix (direct standardisation;
//! Fleiss, Levin and Paik 2003, chapter 19): that of both players' moves together.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_engine::{Game, Rules, with_game};
use spelrum_model::{CellDefinition, CellId, DefinitionJson, OpeningsRule};
use spelrum_names::Names;

use crate::checked::{Inconsistent, check_places, checked_on_reading};
use crate::summary::ExperimentSummary;

/// Time per move by phase, from one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
pub struct Phases {
    /// The experiment.
    pub experiment: ExperimentSummary,
    /// The axes' names, in the sweep's order.
    pub axes: Vec<String>,
    /// Unit of phases.
    pub unit: PhaseUnit,
    /// Whether the experiment records moves; if not, there are no cells.
    pub moves_recorded: bool,
    /// The cells with searched moves that its sweep names, in the grid's order.
    pub cells: Vec<CellPhases>,
}

checked_on_reading!(Phases);

impl Phases {
    fn check(&self) -> Result<(), Inconsistent> {
        check_places("cells", &self.axes, self.cells.iter().map(|cell| &*cell.axes))
    }
}

/// Unit of phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Names)]
#[serde(rename_all = "snake_case")]
pub enum PhaseUnit {
    /// The number of empty cells before the move: in games where every move fills one.
    EmptyCells,
    /// The number of plies before the move, from the start of the game, or from the opening if openings are listed.
    Plies,
}

/// Time per move in one cell, by phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellPhases {
    /// The cell.
    pub cell: CellId,
    /// Values on the axes, in the axes' order; `None` on an axis that does not apply to the cell.
    pub axes: Vec<Option<String>>,
    /// The first player's name in the sweep.
    pub player: String,
    /// The second player's.
    pub opponent: String,
    /// The phases with a searched move, from the start of the game on.
    pub phases: Vec<PhaseTimes>,
}

/// Time per move in one phase.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseTimes {
    /// The phase, as a number of the [`PhaseUnit`].
    pub phase: u32,
    /// The player's moves and the opponent's; only the player's in self-play.
    pub players: [PhaseMoves; 2],
}

/// A player's searched moves in one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseMoves {
    /// Number of moves.
    pub searched_moves: u64,
    /// Their mean wall time, in microseconds; 0 without moves.
    pub wall_us_mean: f64,
}

/// Both players' mean times over the same mix of phases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StandardisedTimes {
    /// The player's and the opponent's mean time of a move, in microseconds.
    pub wall_us: [f64; 2],
    /// The share of all searched moves in phases that both players have seen.
    pub moves_share: f64,
}

/// Phases of a cell's moves, derived from its conditions.
#[derive(Clone, Debug)]
pub struct PhaseCounter {
    rules: Rules,
    is_listed: bool,
    /// The phase of openings that are not listed.
    opening: u32,
}

/// Running sums over the moves of one cell.
#[derive(Clone, Debug, Default)]
pub struct PhaseSums {
    /// By phase and player: the searched moves, and their time.
    moves: BTreeMap<u32, [(u64, f64); 2]>,
}

impl PhaseUnit {
    /// Returns the unit for a game.
    #[must_use]
    pub fn from_rules(rules: &Rules) -> Self {
        match empty_cells(rules, None) {
            Some(_) => Self::EmptyCells,
            None => Self::Plies,
        }
    }

    /// Returns the unit for the game with this name; plies for an unknown game.
    #[must_use]
    pub fn from_game_name(name: &str) -> Self {
        Rules::from_name(name).map_or(Self::Plies, |rules| Self::from_rules(&rules))
    }

    /// Compares two phases by their order in a game.
    fn order(self, a: u32, b: u32) -> Ordering {
        match self {
            Self::EmptyCells => b.cmp(&a),
            Self::Plies => a.cmp(&b),
        }
    }
}

/// Returns the empty cells of a position, or of the start; `None` in a game without cells, or if the position cannot
/// be parsed.
fn empty_cells(rules: &Rules, position: Option<&str>) -> Option<u32> {
    fn parse_and_count<G: Game>(rules: &Rules, position: Option<&str>) -> Option<u32> {
        let position = match position {
            Some(text) => G::parse(rules, text).ok()?,
            None => G::start(rules).ok()?,
        };
        position.empty_cells()
    }
    with_game!(rules, G => parse_and_count::<G>(rules, position))
}

impl PhaseCounter {
    /// Parses the start of a cell's definition, up to its players; `None` if it is invalid, or if its openings are at
    /// several distances from the start.
    #[must_use]
    pub fn from_prefix(prefix: &str) -> Option<Self> {
        let CellDefinition { rules, openings, .. } = DefinitionJson::conditions_of(prefix)?;
        let (is_listed, plies) = match openings {
            OpeningsRule::Start {} | OpeningsRule::Ending { .. } => (false, 0),
            OpeningsRule::Random { plies } | OpeningsRule::All { plies } => (false, plies),
            OpeningsRule::Listed { .. } => (true, 0),
            OpeningsRule::Strata { .. } => return None,
        };
        let opening = match empty_cells(&rules, None) {
            Some(cells) => cells.saturating_sub(plies),
            None => plies,
        };
        Some(Self { rules, is_listed, opening })
    }

    /// Returns the phase of a move made `ply` plies after the opening. Openings that are not listed can be omitted.
    #[must_use]
    pub fn phase(&self, opening: Option<&str>, ply: u32) -> u32 {
        let listed = opening.filter(|_| self.is_listed);
        let empty = listed.and_then(|position| empty_cells(&self.rules, Some(position)));
        let of_opening = empty.unwrap_or(self.opening);
        match PhaseUnit::from_rules(&self.rules) {
            PhaseUnit::EmptyCells => of_opening.saturating_sub(ply),
            PhaseUnit::Plies => of_opening + ply,
        }
    }
}

impl PhaseSums {
    /// Adds searched moves of the cell's first player (0) or its second (1), and their total time in microseconds.
    ///
    /// # Panics
    /// If the player is another number.
    pub fn add(&mut self, phase: u32, player: usize, searched_moves: u64, wall_us: f64) {
        let (moves, us) = &mut self.moves.entry(phase).or_default()[player];
        *moves += searched_moves;
        *us += wall_us;
    }

    /// Returns the phases, from the start of the game on.
    #[must_use]
    pub fn times(self, unit: PhaseUnit) -> Vec<PhaseTimes> {
        let mean = |(searched_moves, us): (u64, f64)| PhaseMoves {
            searched_moves,
            wall_us_mean: if searched_moves == 0 { 0.0 } else { us / searched_moves as f64 },
        };
        let by_phase = self.moves.into_iter();
        let mut phases: Vec<PhaseTimes> =
            by_phase.map(|(phase, moves)| PhaseTimes { phase, players: moves.map(mean) }).collect();
        phases.sort_by(|a, b| unit.order(a.phase, b.phase));
        phases
    }
}

impl PhaseTimes {
    /// Returns the player's mean time divided by the opponent's; `None` where one of them did not search, or took no
    /// time.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let [player, opponent] = self.players;
        let is_known = player.searched_moves > 0 && opponent.searched_moves > 0;
        let ratio = player.wall_us_mean / opponent.wall_us_mean;
        (is_known && ratio.is_finite()).then_some(ratio)
    }
}

impl CellPhases {
    /// Returns both players' mean times over one mix of phases: each phase that both have seen is weighted by the
    /// moves of both together. `None` without such a phase.
    #[must_use]
    pub fn standardised(&self) -> Option<StandardisedTimes> {
        let (mut all, mut shared, mut wall_us) = (0.0, 0.0, [0.0; 2]);
        for PhaseTimes { players, .. } in &self.phases {
            let moves: f64 = players.iter().map(|player| player.searched_moves as f64).sum();
            all += moves;
            if players.iter().any(|player| player.searched_moves == 0) {
                continue;
            }
            shared += moves;
            for (sum, player) in wall_us.iter_mut().zip(players) {
                *sum += moves * player.wall_us_mean;
            }
        }
        (shared > 0.0).then(|| StandardisedTimes {
            wall_us: wall_us.map(|sum| sum / shared),
            moves_share: shared / all,
        })
    }
}

impl StandardisedTimes {
    /// Returns the player's time divided by the opponent's; `None` where the latter is 0.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        let ratio = self.wall_us[0] / self.wall_us[1];
        ratio.is_finite().then_some(ratio)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use spelrum_engine::Random;
    use spelrum_model::Conditions;

    use super::*;

    fn cell(phases: Vec<PhaseTimes>) -> CellPhases {
        let [player, opponent] = ["a", "b"].map(str::to_owned);
        CellPhases { cell: CellId(1), axes: Vec::new(), player, opponent, phases }
    }

    fn phases_of(rules: Rules, openings: OpeningsRule) -> PhaseCounter {
        let conditions = Conditions {
            seed: 1,
            rules,
            openings,
            max_plies: None,
            adjudication: None,
            swap_sides: true,
            task: spelrum_model::Task::Game,
            openings_count: None,
        };
        PhaseCounter::from_prefix(DefinitionJson::new(&conditions).prefix()).unwrap()
    }

    /// Phases counted from the opening match the board.
    #[test]
    fn each_move_fills_a_cell_where_cells_are_counted() {
        fn play<G: Game>(rules: &Rules) {
            let start = G::start(rules).unwrap();
            let Some(at_start) = start.empty_cells() else { return };
            let mut random = Random::from_key([5; 32]);
            for plies in [0, 2, 3] {
                let random_openings = phases_of(rules.clone(), OpeningsRule::Random { plies });
                let mut position = start.clone();
                let mut played = 0;
                while !position.is_over() {
                    let empty = position.empty_cells().unwrap();
                    assert_eq!(empty, at_start - played, "{position}");
                    if played >= plies {
                        assert_eq!(
                            random_openings.phase(None, played - plies),
                            empty,
                            "{position}"
                        );
                    }
                    let positions = Arc::from([position.to_string()]);
                    let listed_openings =
                        phases_of(rules.clone(), OpeningsRule::Listed { positions });
                    assert_eq!(
                        listed_openings.phase(Some(&position.to_string()), 0),
                        empty,
                        "{position}"
                    );
                    let mv = position.random_move(&mut random);
                    position.play_unchecked(mv);
                    played += 1;
                }
            }
        }
        let mut with_cells = 0;
        for game in Rules::games() {
            let rules = Rules::from_name(game.name).unwrap();
            with_cells += u32::from(PhaseUnit::from_rules(&rules) == PhaseUnit::EmptyCells);
            with_game!(&rules, G => play::<G>(&rules));
        }
        assert!(with_cells >= 3, "{with_cells}");
    }

    #[test]
    fn plies_are_counted_where_no_cells_are() {
        let nim = || Rules::from_name("nim").unwrap();
        assert_eq!(PhaseUnit::from_game_name("nim"), PhaseUnit::Plies);
        assert_eq!(PhaseUnit::from_game_name("no game"), PhaseUnit::Plies);
        assert_eq!(phases_of(nim(), OpeningsRule::Start {}).phase(None, 3), 3);
        assert_eq!(
            phases_of(nim(), OpeningsRule::Random { plies: 2 }).phase(Some("ignored"), 3),
            5
        );
        assert!(PhaseCounter::from_prefix("nothing").is_none());
    }

    #[test]
    fn phases_go_from_the_start_to_the_end() {
        let mut sums = PhaseSums::default();
        for phase in [3, 9, 5] {
            sums.add(phase, 1, 2, 10.0);
        }
        let phases = |unit| -> Vec<u32> {
            sums.clone().times(unit).iter().map(|times| times.phase).collect()
        };
        assert_eq!(phases(PhaseUnit::EmptyCells), [9, 5, 3]);
        assert_eq!(phases(PhaseUnit::Plies), [3, 5, 9]);
        let times = sums.times(PhaseUnit::Plies);
        assert_eq!(times[0].players[1], PhaseMoves { searched_moves: 2, wall_us_mean: 5.0 });
        assert_eq!(times[0].players[0], PhaseMoves::default());
        assert_eq!(times[0].ratio(), None);
    }

    /// One player sees the quick phase, the other the slow one; where they meet they are equal.
    #[test]
    fn players_of_equal_speed_are_equal_in_the_same_phases() {
        let mut sums = PhaseSums::default();
        for (phase, player, moves, us) in [
            (9, 0, 30, 10.0),
            (9, 1, 10, 10.0),
            (5, 0, 10, 1_000.0),
            (5, 1, 30, 1_000.0),
            (1, 1, 20, 1.0),
        ] {
            sums.add(phase, player, moves, moves as f64 * us);
        }
        let times = cell(sums.times(PhaseUnit::EmptyCells)).standardised().unwrap();
        assert_eq!(times.wall_us, [505.0, 505.0]);
        assert_eq!((times.ratio(), times.moves_share), (Some(1.0), 0.8));
        assert_eq!(cell(Vec::new()).standardised(), None);
        let mut alone = PhaseSums::default();
        alone.add(3, 0, 5, 5.0);
        assert_eq!(cell(alone.times(PhaseUnit::Plies)).standardised(), None);
        let mut timeless = PhaseSums::default();
        timeless.add(3, 0, 5, 5.0);
        timeless.add(3, 1, 5, 0.0);
        let timeless = cell(timeless.times(PhaseUnit::Plies));
        assert_eq!(timeless.standardised().unwrap().ratio(), None);
        assert_eq!(timeless.phases[0].ratio(), None);
    }

    proptest! {
        /// The slow twin: every move takes the mean time of the player's moves in its phase.
        #[test]
        fn a_standardised_time_is_a_mean_over_all_moves(
            moves in prop::collection::vec((0..6_u32, 0..2_usize, 0.0..1_000.0_f64), 0..60),
        ) {
            let mut sums = PhaseSums::default();
            for &(phase, player, us) in &moves {
                sums.add(phase, player, 1, us);
            }
            let mean_of = |phase: u32, player: usize| {
                let moves_there = moves.iter().filter(|mv| (mv.0, mv.1) == (phase, player));
                let times: Vec<f64> = moves_there.map(|mv| mv.2).collect();
                (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
            };
            let seen = |phase| Some([mean_of(phase, 0)?, mean_of(phase, 1)?]);
            let shared: Vec<[f64; 2]> = moves.iter().filter_map(|mv| seen(mv.0)).collect();
            let standardised = cell(sums.times(PhaseUnit::EmptyCells)).standardised();
            prop_assert_eq!(standardised.is_some(), !shared.is_empty());
            if let Some(standardised) = standardised {
                let count = shared.len() as f64;
                prop_assert!((standardised.moves_share - count / moves.len() as f64).abs() < 1e-12);
                for player in [0, 1] {
                    let mean = shared.iter().map(|means| means[player]).sum::<f64>() / count;
                    prop_assert!((standardised.wall_us[player] - mean).abs() < 1e-6);
                }
            }
        }
    }
}
