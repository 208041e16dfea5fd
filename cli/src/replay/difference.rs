//! Where a game played again first differs from its record.

use serde_json::{Value, json};
use spelrum_engine::{EndedBy, GameRecord, MoveRecord};
use spelrum_tournament::names;
use spelrum_tournament::results::GameEnd;

/// The first place where a game differs from its record, with all that differs there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// The ply, from 0; none for what the whole game has.
    pub(super) ply: Option<u32>,
    pub(super) fields: Vec<Field>,
}

/// One figure of two, by its name in the results database.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) recorded: Value,
    pub(super) played: Value,
}

impl Difference {
    /// Between two openings.
    pub(super) fn of_openings(recorded: &str, played: &str) -> Option<Self> {
        Self::of(None, [field("opening", recorded, played)])
    }

    /// Between two moves, their times apart. The record may lack the ply.
    pub(super) fn of_moves(
        ply: u32,
        recorded: Option<&MoveRecord>,
        played: &MoveRecord,
    ) -> Option<Self> {
        let Some(recorded) = recorded else {
            let more = Field { name: "move", recorded: Value::Null, played: json!(played.mv) };
            return Some(Self { ply: Some(ply), fields: vec![more] });
        };
        let (then, now) = (&recorded.search, &played.search);
        if now.ended_by == EndedBy::Time && then.ended_by != EndedBy::Time {
            // Not the clock, which a replay does not read, ended this search, but `stops`: where
            // the recorded one had ended, it wanted to go on. What it says of itself means nothing.
            let more = format!("more than {}", then.nodes);
            let nodes = Field { name: "nodes", recorded: json!(then.nodes), played: json!(more) };
            return Some(Self { ply: Some(ply), fields: vec![nodes] });
        }
        Self::of(
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

    /// Between what two games came to.
    pub(super) fn of_ends(recorded: &GameEnd, played: &GameRecord) -> Option<Self> {
        Self::of(
            None,
            [
                field(
                    "first_side",
                    names::of_side(recorded.first_side),
                    names::of_side(played.first_side),
                ),
                field("outcome", json!(recorded.outcome), json!(played.outcome)),
                field("margin", recorded.margin, played.margin),
                field("termination", recorded.termination.name(), played.termination.name()),
                field("plies", recorded.plies, played.plies()),
                field("moves_hash", recorded.moves_hash, played.moves_hash()),
            ],
        )
    }

    fn of<const N: usize>(ply: Option<u32>, fields: [Option<Field>; N]) -> Option<Self> {
        let fields: Vec<_> = fields.into_iter().flatten().collect();
        (!fields.is_empty()).then_some(Self { ply, fields })
    }
}

fn field<T: Into<Value>>(name: &'static str, recorded: T, played: T) -> Option<Field> {
    let (recorded, played) = (recorded.into(), played.into());
    (recorded != played).then_some(Field { name, recorded, played })
}
