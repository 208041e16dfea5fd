//! Data shared by cells whose listed positions are stored apart ([`crate::apart`]).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::{Openings, OpeningsCache};
use crate::definition::{CellDefinition, DefinitionJson};
use crate::split_definition;
use crate::split_definition::ListedPositions;

/// Data shared by cells with positions stored apart.
#[derive(Debug)]
pub(crate) struct SharedConditions {
    /// The definition without players.
    pub(crate) definition: CellDefinition,
    /// The prefix for hashes and seeds of cells.
    pub(crate) json: DefinitionJson,
    pub(crate) openings: Arc<Openings>,
    /// Keeps the positions available to others while a cell uses them.
    pub(crate) positions: Arc<ListedPositions>,
}

/// Shared data of cells with positions stored apart, for each set in use.
#[derive(Debug, Default)]
pub(super) struct Shared {
    listed: Mutex<BTreeMap<[u8; 32], Weak<ListedPositions>>>,
    /// Shared conditions by a definition up to its players.
    conditions: Mutex<BTreeMap<String, Weak<SharedConditions>>>,
}

impl Shared {
    /// Positions in use by some cell.
    fn listed(&self, hash: [u8; 32]) -> Option<Arc<ListedPositions>> {
        let listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        listed.get(&hash).and_then(Weak::upgrade)
    }

    /// Shares positions for as long as they are held.
    fn supply(&self, positions: ListedPositions) -> Arc<ListedPositions> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(positions) = listed.get(&positions.hash()).and_then(Weak::upgrade) {
            return positions;
        }
        let positions = Arc::new(positions);
        listed.retain(|_, positions| positions.strong_count() > 0);
        listed.insert(positions.hash(), Arc::downgrade(&positions));
        positions
    }

    /// The data shared by cells whose definitions begin like this.
    fn conditions(
        &self,
        prefix: &str,
        positions: &Arc<ListedPositions>,
        openings: &OpeningsCache,
    ) -> Result<Arc<SharedConditions>, String> {
        // Held during creation, so that slots that start together create it once.
        let mut conditions = self.conditions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(conditions) = conditions.get(prefix).and_then(Weak::upgrade) {
            return Ok(conditions);
        }
        let definition = split_definition::without_players(prefix, positions)
            .ok_or("its openings are not those that it is given")?;
        let made = openings
            .get(definition.seed, &definition.rules, &definition.openings)
            .map_err(|error| error.to_string())?;
        let shared = Arc::new(SharedConditions {
            json: DefinitionJson::from_definition(definition.clone()).without_prefix(),
            definition,
            openings: made,
            positions: Arc::clone(positions),
        });
        conditions.retain(|_, conditions| conditions.strong_count() > 0);
        conditions.insert(prefix.to_owned(), Arc::downgrade(&shared));
        Ok(shared)
    }
}

impl OpeningsCache {
    /// Positions with this hash, if some cell has them.
    #[must_use]
    pub fn listed(&self, hash: [u8; 32]) -> Option<Arc<ListedPositions>> {
        self.shared.listed(hash)
    }

    /// Shares positions with the cells that list them, for as long as they are held.
    pub fn supply(&self, positions: ListedPositions) -> Arc<ListedPositions> {
        self.shared.supply(positions)
    }

    /// The data shared by cells whose definitions begin like this.
    pub(crate) fn conditions(
        &self,
        prefix: &str,
        positions: &Arc<ListedPositions>,
    ) -> Result<Arc<SharedConditions>, String> {
        self.shared.conditions(prefix, positions, self)
    }
}

#[cfg(test)]
mod tests {
    use spelrum_engine::games::Nim;
    use spelrum_engine::{Parameters, Value};

    use super::*;
    use crate::conditions::{OpeningsRule, Task};
    use crate::game::PlayableCell;
    use crate::seeds;
    use crate::split_definition::SplitDefinition;

    fn definition(positions: Arc<[String]>, random: bool) -> CellDefinition {
        let rules = Nim::rules(&[30, 30, 3], false).unwrap();
        let player = |depth: Option<i64>| -> Arc<Parameters> {
            let algorithm = if depth.is_some() { "minimax" } else { "random" };
            let algorithm = ("algorithm".to_owned(), Value::Text(algorithm.to_owned()));
            let depth = depth.map(|depth| ("depth".to_owned(), Value::Integer(depth)));
            Arc::new([algorithm].into_iter().chain(depth).collect())
        };
        let players = [player(None), player((!random).then_some(1))];
        CellDefinition {
            format: CellDefinition::FORMAT,
            seed: 1,
            rules,
            openings: OpeningsRule::Listed { positions },
            max_plies: None,
            adjudication: None,
            swap_sides: true,
            task: Task::Game,
            players,
        }
    }

    fn many() -> Arc<[String]> {
        let heaps = (4..29).flat_map(|a| (a..29).map(move |b| (a, b)));
        heaps.flat_map(|(a, b)| (1..4).map(move |c| format!("{b},{a},{c}/w"))).collect()
    }

    #[test]
    fn both_parts_are_the_whole() {
        let json = definition(many(), true).canonical_json();
        let split = SplitDefinition::from_json(&json).unwrap();
        assert!(split.json.len() < 400, "{}", split.json);
        let positions = ListedPositions::from_json(split.positions_json).unwrap();
        assert_eq!((positions.hash(), &*positions.json()), (split.hash, split.positions_json));
        // A short list stays in place, as does text that only looks like positions.
        let few = definition(Arc::from(["1 1 1 ]\\\"".to_owned()]), true).canonical_json();
        assert_eq!(SplitDefinition::from_json(&few), None);
        assert_eq!(SplitDefinition::from_json(&split.json), None);
        assert_eq!(SplitDefinition::from_json(&json[..json.len() / 2]), None);
        let odd: Arc<[String]> = (0..1_000).map(|number| format!("\\\"] {number}")).collect();
        let json = definition(odd.clone(), true).canonical_json();
        let split = SplitDefinition::from_json(&json).unwrap();
        assert_eq!(
            ListedPositions::from_json(split.positions_json).unwrap().json(),
            seeds::canonical_json(&odd)
        );
    }

    #[test]
    fn cells_share_what_stands_apart() {
        let cache = OpeningsCache::default();
        let cells = [true, false].map(|random| {
            let definition = definition(many(), random);
            let json = definition.canonical_json();
            let cell = PlayableCell::from_json(&json, &cache).unwrap();
            assert_eq!(*cell.definition(), definition);
            let split = SplitDefinition::from_json(&json).unwrap();
            let positions = cache.listed(split.hash).expect("the cell has them");
            let (again, hash) = PlayableCell::from_split(&split.json, &positions, &cache).unwrap();
            assert_eq!(hash, definition.hash());
            let alone = PlayableCell::new(definition).unwrap();
            for number in [0, 7, 5_000] {
                assert_eq!(again.derive(number), alone.derive(number));
                assert_eq!(cell.derive(number), alone.derive(number));
            }
            cell
        });
        let positions = cells.each_ref().map(|cell| {
            let OpeningsRule::Listed { positions } = &cell.definition().openings else {
                panic!("they are listed");
            };
            Arc::clone(positions)
        });
        assert!(Arc::ptr_eq(&positions[0], &positions[1]));
        let hash =
            SplitDefinition::from_json(&cells[0].definition().canonical_json()).unwrap().hash;
        drop(cells);
        assert!(cache.listed(hash).is_none(), "what no cell has is not kept");
    }

    #[test]
    fn other_positions_are_refused() {
        let cache = OpeningsCache::default();
        let json = definition(many(), true).canonical_json();
        let split = SplitDefinition::from_json(&json).unwrap();
        let other = cache.supply(ListedPositions::from_json("[\"1 1 1\"]").unwrap());
        let error = PlayableCell::from_split(&split.json, &other, &cache).unwrap_err();
        assert!(error.to_string().contains("not those"), "{error}");
    }
}
