//! The first difference between a replayed game and its record.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use spelrum_engine::{EndedBy, GameRecord, MoveRecord};

use crate::game_end::GameEnd;

/// The first ply at which a game differs from its record, with all differences there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "GameDifference")]
pub struct Difference {
    /// The ply, from 0; `None` for properties of the whole game.
    pub ply: Option<u32>,
    /// The differing fields.
    pub fields: Vec<DifferentField>,
}

/// A differing field, by its name in the results database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferentField {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The recorded value; null if not recorded.
    pub recorded: Value,
    /// The value in the replay.
    pub played: Value,
}

/// A recorded game.
#[derive(Clone, Copy, Debug)]
pub struct Recorded<'a> {
    /// Its starting position.
    pub opening: &'a str,
    /// Its end.
    pub end: &'a GameEnd,
    /// Its moves, if recorded.
    pub moves: Option<&'a [MoveRecord]>,
}

impl Difference {
    /// Compares a game with its replay, from the opening to the end.
    #[must_use]
    pub fn between(recorded: Recorded<'_>, opening: &str, played: &GameRecord) -> Option<Self> {
        let of_moves = || {
            let moves = recorded.moves?;
            let differs = |(ply, mv): (u32, &MoveRecord)| {
                let recorded = usize::try_from(ply).ok().and_then(|ply| moves.get(ply));
                Self::between_moves(ply, recorded, mv)
            };
            (0..).zip(&played.moves).find_map(differs)
        };
        Self::between_openings(recorded.opening, opening)
            .or_else(of_moves)
            .or_else(|| Self::between_ends(recorded.end, played))
    }

    /// Compares two openings.
    #[must_use]
    pub fn between_openings(recorded: &str, played: &str) -> Option<Self> {
        Self::from_fields(None, [field("opening", recorded, played)])
    }

    /// Compares two moves without their times. The record may lack the ply.
    #[must_use]
    pub fn between_moves(
        ply: u32,
        recorded: Option<&MoveRecord>,
        played: &MoveRecord,
    ) -> Option<Self> {
        let Some(recorded) = recorded else {
            let more = DifferentField {
                name: "move".into(),
                recorded: Value::Null,
                played: json!(played.mv),
            };
            return Some(Self { ply: Some(ply), fields: vec![more] });
        };
        let (then, now) = (&recorded.search, &played.search);
        if now.ended_by == EndedBy::Time && then.ended_by != EndedBy::Time {
            // `stops`, and not the clock, which a replay does not read, ended this search: it went on where the
            // recorded one had ended. Its other figures mean nothing.
            let more = format!("more than {}", then.nodes);
            let nodes = DifferentField {
                name: "nodes".into(),
                recorded: json!(then.nodes),
                played: json!(more),
            };
            return Some(Self { ply: Some(ply), fields: vec![nodes] });
        }
        Self::from_fields(
            Some(ply),
            [
                field("side", recorded.mover, played.mover),
                field("position_key", recorded.position_key, played.position_key),
                field("legal_moves", recorded.legal_moves, played.legal_moves),
                field("move", recorded.mv.as_str(), played.mv.as_str()),
                field("depth", then.depth, now.depth),
                field("nodes", then.nodes, now.nodes),
                field("evaluations", then.evaluations, now.evaluations),
                field("full_tree_leaves", then.full_tree_leaves, now.full_tree_leaves),
                field("score", then.score, now.score),
                field("ended_by", json!(then.ended_by), json!(now.ended_by)),
            ],
        )
    }

    /// Compares the ends of two games.
    #[must_use]
    pub fn between_ends(recorded: &GameEnd, played: &GameRecord) -> Option<Self> {
        Self::from_fields(
            None,
            [
                field("first_side", recorded.first_side.name(), played.first_side.name()),
                field("outcome", json!(recorded.outcome), json!(played.outcome)),
                field("margin", recorded.margin, played.margin),
                field("termination", recorded.termination.name(), played.termination.name()),
                field("plies", recorded.plies, played.plies()),
                field("moves_hash", recorded.moves_hash, played.moves_hash()),
            ],
        )
    }

    fn from_fields<const N: usize>(
        ply: Option<u32>,
        fields: [Option<DifferentField>; N],
    ) -> Option<Self> {
        let fields: Vec<_> = fields.into_iter().flatten().collect();
        (!fields.is_empty()).then_some(Self { ply, fields })
    }
}

fn field<T: Into<Value>>(name: &'static str, recorded: T, played: T) -> Option<DifferentField> {
    let (recorded, played) = (recorded.into(), played.into());
    (recorded != played).then_some(DifferentField { name: name.into(), recorded, played })
}
