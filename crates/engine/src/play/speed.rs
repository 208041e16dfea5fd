//! Measures how fast a machine searches: a plain search of fixed positions, repeatedly, by the
//! clock.

use std::time::Duration;

use crate::core::budget::Budget;
use crate::core::host::Host;
use crate::core::limits::Limits;
use crate::core::parameters::{Parameters, Value};
use crate::core::position::Line;
use crate::core::rng::Random;
use crate::core::rules::Rules;
use crate::games::game::Game;
use crate::play::player::Player;
use crate::with_game;

/// Number of positions that are searched in turn: the start, and positions of random play.
const POSITIONS: usize = 8;

/// A depth typical of players, so that the mix of making moves and evaluating is like theirs.
const DEPTH: i64 = 3;

/// Nodes of one search: even the shortest useful spell on a slow machine covers all positions.
const NODES: u64 = 2_000;

/// A slot's work in a short spell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spell {
    /// Nodes visited.
    pub nodes: u64,
    /// Its duration by the clock.
    pub wall: Duration,
}

/// Searches positions of a game by alpha-beta with its default evaluation, in this many spells of about this
/// length, after a first one that warms up and is dropped. Each spell searches the same positions from the
/// first on. Returns fewer spells if the host aborts, and none for a game that alpha-beta does not play under
/// these rules.
///
/// The thread needs [`STACK_BYTES`](crate::search::STACK_BYTES) of stack.
pub fn spells(rules: &Rules, count: u32, length: Duration, host: &dyn Host) -> Vec<Spell> {
    with_game!(rules, G => spells_of::<G>(rules, count, length, host))
}

fn spells_of<G: Game>(rules: &Rules, count: u32, length: Duration, host: &dyn Host) -> Vec<Spell> {
    let given: Parameters = [
        ("algorithm".to_owned(), Value::Text("alpha-beta".to_owned())),
        ("depth".to_owned(), Value::Integer(DEPTH)),
    ]
    .into();
    let Ok(player) = Player::from_parameters(rules, &given) else { return Vec::new() };
    let positions = positions::<G>(rules);
    let spell = || {
        // The rest of a spell before would make each spell different.
        let mut search = player.search::<G>()?;
        let mut random = Random::from_key([0; 32]);
        let began = host.wall();
        let mut nodes = 0;
        for position in positions.iter().cycle() {
            let wall = host.wall().saturating_sub(began);
            let left = length.saturating_sub(wall);
            if left.is_zero() {
                return Some(Spell { nodes, wall });
            }
            let limits = Limits {
                nodes: Some(NODES),
                move_time_us: u64::try_from(left.as_micros()).ok(),
                ..Limits::default()
            };
            let mut budget = Budget::new(&limits, host);
            let line = Line::from_start(position);
            search.search(line, &mut budget, &mut random).ok()?;
            nodes += budget.nodes();
        }
        None
    };
    // The first spell fills caches and wakes the core.
    (0..=count).map_while(|_| spell()).skip(1).collect()
}

/// The fixed positions. Each has a choice of moves; if the start has none, the list is empty.
fn positions<G: Game>(rules: &Rules) -> Vec<G> {
    let is_searched = |position: &G| {
        Line::from_start(position).ending().is_none() && position.legal_move_count() > 1
    };
    let start = G::from_rules(rules);
    if !is_searched(&start) {
        return Vec::new();
    }
    let mut random = Random::from_key([1; 32]);
    let mut positions = vec![start.clone()];
    while positions.len() < POSITIONS {
        let mut position = start.clone();
        // As many plies as there are positions already, or as many as there is a choice after.
        for _ in 0..positions.len() {
            let mut next = position.clone();
            next.play_unchecked(position.nth_legal_move(random.below(position.legal_move_count())));
            if !is_searched(&next) {
                break;
            }
            position = next;
        }
        positions.push(position);
    }
    positions
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A clock that advances by a microsecond at each reading.
    #[derive(Default)]
    struct Ticking {
        now_us: Cell<u64>,
        aborts_after_us: Option<u64>,
    }

    impl Host for Ticking {
        fn wall(&self) -> Duration {
            self.now_us.set(self.now_us.get() + 1);
            Duration::from_micros(self.now_us.get())
        }

        fn cpu(&self) -> Duration {
            Duration::ZERO
        }

        fn aborted(&self) -> bool {
            self.aborts_after_us.is_some_and(|after| self.now_us.get() > after)
        }
    }

    #[test]
    fn every_game_is_searched_the_same_way_in_each_spell() {
        let length = Duration::from_micros(400);
        for game in Rules::games() {
            let rules = Rules::from_name(game.name).unwrap();
            let measure = || spells(&rules, 3, length, &Ticking::default());
            let measured = measure();
            assert_eq!(measured.len(), 3, "{}", game.name);
            assert!(
                measured.iter().all(|spell| spell.nodes > 0 && spell.wall >= length),
                "{}",
                game.name
            );
            assert!(measured.windows(2).all(|two| two[0] == two[1]), "{}: {measured:?}", game.name);
            assert_eq!(measured, measure(), "{}", game.name);
        }
    }

    #[test]
    fn an_aborted_measurement_returns_the_spells_before() {
        let rules = Rules::from_name("pentago").unwrap();
        let host = Ticking { aborts_after_us: Some(1_000), ..Ticking::default() };
        let measured = spells(&rules, 50, Duration::from_micros(300), &host);
        assert!(measured.len() < 5, "{measured:?}");
        assert!(spells(&rules, 0, Duration::from_micros(300), &Ticking::default()).is_empty());
    }
}
