//! Nim in the catalogue.

use super::{LAST_OBJECT, Nim};
use crate::core::parameters::{ParameterInfo, Value};
use crate::core::position::{Ending, Side};
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rules::Rules;
use crate::core::sketch::Sketch;
use crate::core::termination::Termination;
use crate::evaluation::NoEvaluation;
use crate::evaluations;
use crate::games::game::Game;

impl Nim {
    /// The rules of the game: the objects in each heap, and whether taking the last one loses.
    ///
    /// # Errors
    /// If there are too many heaps or none, too many objects in one, or none at all.
    pub fn rules(heaps: &[u32], misere: bool) -> Result<Rules, KeyProblem> {
        let heaps = heaps.iter().map(|&objects| Value::Integer(objects.into())).collect();
        let given = [("heaps", Value::List(heaps)), ("misere", Value::Bool(misere))];
        Rules::new::<Self>(&given.map(|(name, value)| (name.to_owned(), value)).into())
    }
}

impl Game for Nim {
    const NAME: &'static str = "nim";

    const MEANING: &'static str = "Objects in heaps; a move takes some of one heap.";

    const RULES: &'static [ParameterInfo] = &[
        ParameterInfo::integers(
            "heaps",
            1..=Self::HEAPS_MAX,
            0..=Self::OBJECTS_MAX as i64,
            &[3, 4, 5],
            "Objects in each heap.",
        ),
        ParameterInfo::switch(
            "misere",
            false,
            "Whether taking the last object loses instead of winning.",
        ),
    ];

    const SAMPLE_RULES: &'static [&'static str] = &[
        r#"{"heaps": [2, 3, 4], "misere": true}"#,
        r#"{"heaps": [3, 4, 5], "misere": true}"#,
        r#"{"heaps": [7]}"#,
        r#"{"heaps": [4, 4, 4]}"#,
        r#"{"heaps": [30, 1, 0, 2, 30, 5, 5, 1], "misere": true}"#,
    ];

    const TERMINATIONS: &'static [Termination] = &[LAST_OBJECT];

    const LEAF_KINDS: &'static [&'static str] = &["win_last_object", "loss_last_object"];

    evaluations!(NoEvaluation);

    fn check_rules(rules: &Rules) -> Result<(), KeyProblem> {
        if rules.integers("heaps").iter().any(|&objects| objects > 0) {
            return Ok(());
        }
        Err(Problem::at(
            Some("heaps".to_owned()),
            "Nim needs at least one object",
            "give a heap that has objects, such as heaps = [3, 4, 5]",
        ))
    }

    fn from_rules(rules: &Rules) -> Self {
        let heaps = rules.integers("heaps");
        let mut objects = [0; Self::HEAPS_MAX];
        for (to, &from) in objects.iter_mut().zip(&heaps) {
            // Within the range of the table of rules.
            *to = from as u8;
        }
        let to_move = Side::First;
        Self { objects, heaps: heaps.len() as u8, to_move, misere: rules.switch("misere") }
    }

    fn read(start: Self, text: &str) -> Result<Self, Problem> {
        super::parse(start, text)
    }

    fn leaf_kind(ending: Ending, mover: Side) -> usize {
        usize::from(ending.winner != Some(mover))
    }

    fn sketch(&self) -> Sketch {
        Sketch::Heaps(self.heaps().collect())
    }

    fn explain(rules: &Rules) -> String {
        let last = if rules.switch("misere") { "loses" } else { "wins" };
        format!(
            "A move is a heap and how many objects to take from it: a2 takes two from heap \
             a.\nWhoever takes the last object {last}."
        )
    }
}
