//! A cell's definition, which determines its games (invariant 1), and its hash.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use spelrum_engine::{Adjudication, Parameters, Rules};

use crate::builds::without_build;
use crate::conditions::{Conditions, OpeningsRule, Task};
use crate::seeds;

/// Everything that, with a number, determines a game. Self-contained: a worker needs nothing else.
///
/// The number of games, the measurements and the recording are excluded, so that a cell keeps its games if its sweep
/// changes these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellDefinition {
    /// The version of this form: [`CellDefinition::FORMAT`].
    pub format: u32,
    /// The sweep's seed.
    pub seed: u64,
    /// The game and its rules.
    pub rules: Rules,
    /// The openings of pairs, or of games if sides are fixed.
    pub openings: OpeningsRule,
    /// A game still going on after this many plies from the opening is a draw.
    pub max_plies: Option<u32>,
    /// The rule by which players' scores end a game early. Absent from the JSON if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjudication: Option<Adjudication>,
    /// Whether the players swap sides in odd numbers, so that two games from one opening are a pair.
    /// If not, the first player moves first in every game, and game n starts from opening n. Absent
    /// from the JSON where they swap.
    #[serde(default = "swapped", skip_serializing_if = "is_swapped")]
    pub swap_sides: bool,
    /// The meaning of its numbers. Absent from the JSON for games.
    #[serde(default, skip_serializing_if = "Task::is_game")]
    pub task: Task,
    /// The first player (which moves first in even numbers, or in all) and the second, with every parameter spelt out.
    /// Shared, since a sweep of 100,000 cells has few players.
    pub players: [Arc<Parameters>; 2],
}

fn swapped() -> bool {
    true
}

fn is_swapped(swap_sides: &bool) -> bool {
    *swap_sides
}

/// SHA-256 of a definition's canonical JSON: the same cell has the same hash everywhere.
/// Written as 64 hexadecimal digits.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct DefinitionHash(
    #[serde(with = "hash_text")]
    #[schemars(with = "String", regex(pattern = "^[0-9a-f]{64}$"))]
    pub [u8; 32],
);

/// Hashes in JSON: 64 hexadecimal digits.
pub(crate) mod hash_text {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::DefinitionHash;

    pub(crate) fn serialize<S: Serializer>(
        hash: &[u8; 32],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&DefinitionHash(*hash))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<[u8; 32], D::Error> {
        let digits = String::deserialize(deserializer)?;
        digits.parse().map(|DefinitionHash(hash)| hash).map_err(D::Error::custom)
    }
}

impl CellDefinition {
    /// The only version of the form so far.
    pub const FORMAT: u32 = 1;

    /// The canonical JSON: the fields in the order above, maps by key, no white space, floats in
    /// their shortest form. Reading it back and writing it again gives the same bytes.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        seeds::canonical_json(self)
    }

    /// The hash that names the cell in leases and in the database.
    #[must_use]
    pub fn hash(&self) -> DefinitionHash {
        DefinitionHash::from_json(&self.canonical_json())
    }

    /// The cell's seed, below 2^53: derived from its definition alone, never from its place in a grid. Builds of
    /// engines are excluded, so that a rebuilt engine meets the same games of built-in players.
    #[must_use]
    pub fn cell_seed(&self) -> u64 {
        let mut unbuilt = self.clone();
        for player in &mut unbuilt.players {
            if player.contains_key("build") {
                Arc::make_mut(player).remove("build");
            }
        }
        seeds::cell_seed(&unbuilt.canonical_json())
    }
}

/// A definition's canonical JSON up to the players, which follow it: cells that share their conditions share this text
/// and its hash state.
#[derive(Clone, Debug)]
pub struct DefinitionJson {
    prefix: String,
    hash: Sha256,
    seed: Sha256,
}

impl DefinitionJson {
    /// The prefix of cells of these conditions.
    #[must_use]
    pub fn new(conditions: &Conditions) -> Self {
        Self::from_definition(CellDefinition {
            format: CellDefinition::FORMAT,
            seed: conditions.seed,
            rules: conditions.rules.clone(),
            openings: conditions.openings.clone(),
            max_plies: conditions.max_plies,
            adjudication: conditions.adjudication,
            swap_sides: conditions.swap_sides,
            task: conditions.task,
            players: Default::default(),
        })
    }

    /// The prefix of cells that differ from this one only in their players.
    pub(crate) fn from_definition(definition: CellDefinition) -> Self {
        let mut prefix =
            CellDefinition { players: Default::default(), ..definition }.canonical_json();
        prefix.truncate(prefix.len() - "{},{}]}".len());
        let mut hash = Sha256::new();
        let mut seed = seeds::cell_seed_hasher();
        for hasher in [&mut hash, &mut seed] {
            hasher.update(&prefix);
        }
        Self { prefix, hash, seed }
    }

    /// The prefix without its text, for hashes and seeds only.
    pub(crate) fn without_prefix(self) -> Self {
        Self { prefix: String::new(), ..self }
    }

    /// Everything before the first player.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Parses such a prefix into a definition whose players have no parameters; `None` if invalid.
    #[must_use]
    pub fn conditions_of(prefix: &str) -> Option<CellDefinition> {
        serde_json::from_str(&[prefix, "{},{}]}"].concat()).ok()
    }

    /// The seed in such a prefix; `None` if invalid.
    #[must_use]
    pub fn seed_from_prefix(prefix: &str) -> Option<u64> {
        #[derive(serde::Deserialize)]
        struct Seeded {
            seed: u64,
        }
        let nobody = [prefix, "{},{}]}"].concat();
        serde_json::from_str::<Seeded>(&nobody).ok().map(|seeded| seeded.seed)
    }

    /// The whole definition, given the canonical JSON of both players.
    #[must_use]
    pub fn with_players(&self, first: &str, second: &str) -> String {
        [&self.prefix, first, ",", second, "]}"].concat()
    }

    /// The definition's hash and the cell's seed, given the canonical JSON of both players.
    #[must_use]
    pub fn hash_and_seed(&self, first: &str, second: &str) -> (DefinitionHash, u64) {
        let with_players = |hasher: &Sha256, [first, second]: [&str; 2]| {
            let mut hasher = hasher.clone();
            for part in [first, ",", second, "]}"] {
                hasher.update(part);
            }
            <[u8; 32]>::from(hasher.finalize())
        };
        let hash = with_players(&self.hash, [first, second]);
        let unbuilt = [first, second].map(|player| without_build(player).0);
        let seed = with_players(&self.seed, unbuilt.each_ref().map(|player| &**player));
        (DefinitionHash(hash), seeds::cell_seed_of(seed))
    }
}

impl DefinitionHash {
    /// The hash of a definition in canonical JSON.
    #[must_use]
    pub fn from_json(canonical_json: &str) -> Self {
        Self(Sha256::digest(canonical_json.as_bytes()).into())
    }
}

impl fmt::Display for DefinitionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A text that is not a definition hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a definition hash is 64 hexadecimal digits")]
pub struct HashError;

impl FromStr for DefinitionHash {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(HashError);
        }
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            for digit in pair {
                let value = char::from(*digit).to_digit(16).ok_or(HashError)?;
                *byte = *byte << 4 | u8::try_from(value).map_err(|_| HashError)?;
            }
        }
        Ok(Self(hash))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;
    use spelrum_engine::games::Nim;
    use spelrum_engine::{DrawRule, ResignRule, SyzygyResults, SyzygyRule, Value};

    use super::*;
    use crate::conditions::ToMove;

    fn definition() -> CellDefinition {
        let genetic = Parameters::from([
            ("algorithm".to_owned(), Value::Text("genetic-minimax".to_owned())),
            ("crossover".to_owned(), Value::Number(0.8)),
            ("depth".to_owned(), Value::Integer(4)),
            ("elite".to_owned(), Value::Number(1.0)),
            ("seed_root".to_owned(), Value::Bool(true)),
        ]);
        let random = Parameters::from([("algorithm".to_owned(), Value::Text("random".to_owned()))]);
        CellDefinition {
            format: CellDefinition::FORMAT,
            seed: 2014,
            rules: Nim::rules(&[3, 4, 5], false).unwrap(),
            openings: OpeningsRule::Random { plies: 2 },
            max_plies: None,
            adjudication: None,
            swap_sides: true,
            task: Task::Game,
            players: [Arc::new(genetic), Arc::new(random)],
        }
    }

    fn adjudication() -> Adjudication {
        let [score, moves] = [600, 3].map(|number| NonZeroU32::new(number).unwrap());
        Adjudication {
            resign: Some(ResignRule { score, moves, both: true }),
            draw: Some(DrawRule { score: 10, moves, after: 40, restart: false }),
            ..Adjudication::default()
        }
    }

    /// Expensive to change: every hash and seed in every database depends on these bytes.
    #[test]
    fn golden_canonical_json() {
        let definition = definition();
        assert_eq!(definition.canonical_json(), GOLDEN_JSON);
        assert_eq!(definition.hash().to_string(), GOLDEN_HASH);
        assert_eq!(definition.cell_seed(), GOLDEN_SEED);
    }

    #[test]
    fn a_definition_in_parts_is_the_same() {
        let (game, choice) = (Task::Game, Task::Choice);
        for (max_plies, adjudication, swap_sides, task) in [
            (None, None, true, game),
            (Some(30), None, true, game),
            (None, Some(adjudication()), true, game),
            (None, Some(adjudication()), false, game),
            (Some(1), None, false, choice),
        ] {
            let definition =
                CellDefinition { max_plies, adjudication, swap_sides, task, ..definition() };
            let CellDefinition { seed, rules, openings, .. } = definition.clone();
            let openings_count = None;
            let conditions = Conditions {
                seed,
                rules,
                openings,
                max_plies,
                adjudication,
                swap_sides,
                task,
                openings_count,
            };
            let json = DefinitionJson::new(&conditions);
            let [first, second] =
                [0, 1].map(|player| seeds::canonical_json(&definition.players[player]));
            assert_eq!(json.with_players(&first, &second), definition.canonical_json());
            assert_eq!(DefinitionJson::seed_from_prefix(json.prefix()), Some(definition.seed));
            let conditions = DefinitionJson::conditions_of(json.prefix()).unwrap();
            assert_eq!(
                (&conditions.rules, &conditions.openings),
                (&definition.rules, &definition.openings)
            );
            assert_eq!(conditions.adjudication, adjudication);
            assert!(DefinitionJson::conditions_of(&json.prefix()[1..]).is_none());
            assert_eq!(DefinitionJson::seed_from_prefix(&json.prefix()[1..]), None);
            let both = (definition.hash(), definition.cell_seed());
            assert_eq!(json.hash_and_seed(&first, &second), both);
        }
    }

    #[test]
    fn every_openings_rule_has_its_json() {
        let json = |rule: OpeningsRule| seeds::canonical_json(&rule);
        assert_eq!(json(OpeningsRule::Start {}), r#"{"kind":"start"}"#);
        assert_eq!(json(OpeningsRule::All { plies: 3 }), r#"{"kind":"all","plies":3}"#);
        assert_eq!(
            json(OpeningsRule::Strata { plies: Arc::from([20, 24]) }),
            r#"{"kind":"strata","plies":[20,24]}"#
        );
        let ending = |distance| OpeningsRule::Ending {
            ending: "KBNK".to_owned(),
            to_move: ToMove::White,
            distance,
            stratified: true,
        };
        assert_eq!(
            json(ending(None)),
            r#"{"kind":"ending","ending":"KBNK","to_move":"white","stratified":true}"#
        );
        assert_eq!(
            json(ending(Some([3, 10]))),
            r#"{"kind":"ending","ending":"KBNK","to_move":"white","distance":[3,10],"stratified":true}"#
        );
        assert_eq!(
            json(OpeningsRule::Listed { positions: Arc::from(["a \"b\"".to_owned()]) }),
            r#"{"kind":"listed","positions":["a \"b\""]}"#
        );
    }

    #[test]
    fn every_part_changes_the_hash_and_the_seed() {
        let base = definition();
        let changed: [fn(&mut CellDefinition); 9] = [
            |d| d.seed += 1,
            |d| d.rules = Nim::rules(&[3, 4, 5], true).unwrap(),
            |d| d.openings = OpeningsRule::All { plies: 2 },
            |d| d.max_plies = Some(0),
            |d| d.adjudication = Some(adjudication()),
            |d| d.swap_sides = false,
            |d| d.task = Task::Choice,
            |d| d.players.swap(0, 1),
            |d| {
                Arc::make_mut(&mut d.players[0]).insert("depth".to_owned(), Value::Integer(5));
            },
        ];
        for change in changed {
            let mut other = base.clone();
            change(&mut other);
            assert_ne!(base.hash(), other.hash());
            assert_ne!(base.cell_seed(), other.cell_seed());
        }
    }

    /// A rule that ends games early appears only in definitions that have one.
    #[test]
    fn golden_canonical_json_of_adjudication() {
        let resign = r#""resign":{"score":600,"moves":3,"both":true}"#;
        let draw = r#""draw":{"score":10,"moves":3,"after":40}"#;
        let tables = r#""tables":true"#;
        let syzygy = r#""syzygy":{"pieces":6,"fifty_moves":true,"results":"win_loss"}"#;
        let results = SyzygyResults::WinLoss;
        let rule = Some(SyzygyRule { pieces: 6, fifty_moves: true, results });
        let all_rules = adjudication();
        for (rule, json) in [
            (all_rules, [resign, ",", draw].concat()),
            (Adjudication { draw: None, ..all_rules }, resign.to_owned()),
            (Adjudication { resign: None, ..all_rules }, draw.to_owned()),
            (Adjudication { tables: true, ..all_rules }, [resign, ",", draw, ",", tables].concat()),
            (Adjudication { tables: true, ..Adjudication::default() }, tables.to_owned()),
            (Adjudication { syzygy: rule, ..Adjudication::default() }, syzygy.to_owned()),
        ] {
            let with = CellDefinition { adjudication: Some(rule), ..definition() };
            let max_plies = r#""max_plies":null"#;
            let rule = format!("{max_plies},\"adjudication\":{{{json}}}");
            let json = GOLDEN_JSON.replace(max_plies, &rule);
            assert_eq!(with.canonical_json(), json);
            assert_eq!(serde_json::from_str::<CellDefinition>(&json).unwrap(), with);
        }
        let with = CellDefinition { adjudication: Some(all_rules), ..definition() };
        assert_eq!(with.hash().to_string(), GOLDEN_ADJUDICATED_HASH);
        // A run of zero moves is invalid.
        let json = with.canonical_json();
        for (from, to) in [("\"moves\":3", "\"moves\":0"), ("\"both\":true", "\"one\":true")] {
            let json = json.replace(from, to);
            assert!(serde_json::from_str::<CellDefinition>(&json).is_err(), "{json}");
        }
    }

    /// Fixed sides appear before the players; swapped ones are omitted, as in every definition from before there was a
    /// choice.
    #[test]
    fn golden_canonical_json_of_fixed_sides() {
        let fixed = CellDefinition { swap_sides: false, ..definition() };
        let json = GOLDEN_JSON.replace("\"players\"", "\"swap_sides\":false,\"players\"");
        assert_eq!(fixed.canonical_json(), json);
        assert_eq!(fixed.hash().to_string(), GOLDEN_FIXED_HASH);
        assert_eq!(fixed.cell_seed(), GOLDEN_FIXED_SEED);
        let read = |json: &str| serde_json::from_str::<CellDefinition>(json).unwrap();
        assert_eq!(read(&json), fixed);
        let choices = CellDefinition { task: Task::Choice, ..fixed };
        let json = json.replace("\"players\"", "\"task\":\"choice\",\"players\"");
        assert_eq!(choices.canonical_json(), json);
        assert_eq!(read(&json), choices);
        assert!(read(GOLDEN_JSON).swap_sides);
    }

    #[test]
    fn unknown_fields_are_refused() {
        let json = GOLDEN_JSON.replace("\"max_plies\"", "\"most_plies\"");
        assert!(serde_json::from_str::<CellDefinition>(&json).is_err());
    }

    #[test]
    fn hashes_are_written_and_read() {
        let hash = definition().hash();
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert_eq!(hash.to_string().to_uppercase().parse(), Ok(hash));
        for wrong in ["", "00", &"g".repeat(64), &"0".repeat(63), &"é".repeat(32)] {
            assert_eq!(wrong.parse::<DefinitionHash>(), Err(HashError), "{wrong}");
        }
    }

    proptest! {
        /// Tests invariant 1 at its weakest point: a worker parses a definition from JSON, and must reproduce the
        /// coordinator's bytes for any floats.
        #[test]
        fn canonical_json_survives_a_round_trip(
            number in any::<f64>().prop_filter("finite", |x| x.is_finite()),
            integer in any::<i64>(),
            text in ".*",
        ) {
            let mut definition = definition();
            Arc::make_mut(&mut definition.players[0]).extend([
                ("number".to_owned(), Value::Number(number)),
                ("integer".to_owned(), Value::Integer(integer)),
                (text.clone(), Value::Text(text)),
            ]);
            let json = definition.canonical_json();
            let back: CellDefinition = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(&back, &definition);
            prop_assert_eq!(back.canonical_json(), json);
        }
    }

    const GOLDEN_ADJUDICATED_HASH: &str =
        "0f4fbc386024992b2ded8b4bb76b8d73be02a296c6d72d6ed7f0e649e34c88b0";
    const GOLDEN_JSON: &str = r#"{"format":1,"seed":2014,"rules":{"name":"nim","heaps":[3,4,5],"misere":false},"openings":{"kind":"random","plies":2},"max_plies":null,"players":[{"algorithm":"genetic-minimax","crossover":0.8,"depth":4,"elite":1.0,"seed_root":true},{"algorithm":"random"}]}"#;
    const GOLDEN_HASH: &str = "f3be5ea31d911e70f3f3c01eee641e5c65a1ca73ae12ac17e74d730086c23434";
    const GOLDEN_SEED: u64 = 1_416_116_860_640_186;
    const GOLDEN_FIXED_HASH: &str =
        "288fccf29725716130da21520c0263512229b412548d5b0e0d02ad572e48e70d";
    const GOLDEN_FIXED_SEED: u64 = 3_379_993_024_993_334;
}
