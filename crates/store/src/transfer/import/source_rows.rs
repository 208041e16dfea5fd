//! Rows read from the file, before validation.

use std::collections::BTreeMap;

use spelrum_engine::{MoveRecord, MoveValue};
use spelrum_model::ExperimentSettings;
use spelrum_model::course::Noted;
use spelrum_model::engines::Forfeit;
use spelrum_model::speed::ScaledTime;
use spelrum_statistics::StopRule;

use super::claims::SourceClaim;
use crate::write::game_engines::Engines;

pub(super) struct SourceExperiment {
    pub(super) id: i64,
    pub(super) uuid: String,
    pub(super) name: String,
    pub(super) game: String,
    pub(super) seed: u64,
    pub(super) state: String,
    pub(super) settings: ExperimentSettings,
    pub(super) sweep_toml: String,
    pub(super) engine_revision: u32,
    pub(super) submitted_unix_us: i64,
    pub(super) finished_unix_us: Option<i64>,
    pub(super) course: Option<String>,
    pub(super) pruned_unix_us: Option<i64>,
    pub(super) engine_cpu_known: bool,
    pub(super) axes: Vec<String>,
    pub(super) anchors: Vec<String>,
    pub(super) files: BTreeMap<String, String>,
    pub(super) versions: Vec<SourceVersion>,
    pub(super) cells: Vec<SourceCell>,
    pub(super) claims: Vec<SourceClaim>,
    /// Notes of its course.
    pub(super) notes: Vec<Noted>,
}

/// A version of the sweep's text.
pub(super) struct SourceVersion {
    pub(super) uuid: String,
    pub(super) sweep_toml: String,
    pub(super) submitted_unix_us: i64,
    /// Cells kept, continued, added, returned, dropped; games kept, to play.
    pub(super) counts: [i64; 7],
}

/// A cell, with all that determines its games.
pub(super) struct SourceCell {
    pub(super) id: i64,
    pub(super) number: i64,
    pub(super) definition_hash: String,
    pub(super) definition_prefix: String,
    pub(super) parameters: [String; 2],
    pub(super) names: [String; 2],
    pub(super) games: u64,
    /// The games planned before the cell's end was changed.
    pub(super) games_first: Option<u64>,
    pub(super) timed: bool,
    pub(super) repeats: bool,
    pub(super) in_sweep: bool,
    pub(super) superseded: bool,
    pub(super) asked_after: Option<i64>,
    pub(super) rule: Option<StopRule>,
    pub(super) openings_count: Option<u64>,
    /// Axis, number and text.
    pub(super) places: Vec<(String, Option<f64>, String)>,
}

/// A settled game, or a result kept beside one.
pub(super) struct SourceGame {
    pub(super) number: u64,
    pub(super) what: SourceResult,
    /// Why the result is kept beside the settled ones.
    pub(super) reason: Option<String>,
    pub(super) received_unix_us: i64,
}

#[expect(clippy::large_enum_variant, reason = "nearly all of them are the large one")]
pub(super) enum SourceResult {
    Played(SourcePlayed),
    /// With the message.
    Failed(String),
}

pub(super) struct SourcePlayed {
    pub(super) opening: String,
    pub(super) first_side: String,
    pub(super) outcome: String,
    pub(super) termination: String,
    pub(super) plies: u64,
    pub(super) moves_hash: u64,
    pub(super) worker: i64,
    pub(super) engine_revision: u32,
    pub(super) started_unix_us: i64,
    pub(super) wall_us: u64,
    pub(super) margin: Option<i32>,
    pub(super) searches: SourceSearches,
    /// For a settled choice: values of the moves in its position.
    pub(super) values: Vec<MoveValue>,
    /// For a settled game: the external engines that played it, and how one of them forfeited it.
    pub(super) engines: Engines,
    pub(super) forfeit: Option<Forfeit>,
    /// For a settled game: share of a player's time lost to other processes.
    pub(super) robbed_share: Option<f64>,
    pub(super) scaled: Option<ScaledTime>,
}

pub(super) enum SourceSearches {
    Moves(Vec<MoveRecord>),
    Sums { sides: Vec<SideRow>, depths: Vec<DepthRow> },
}

/// A row of `game_sides` without its game and player.
pub(super) struct SideRow {
    pub(super) side: i64,
    pub(super) moves: i64,
    pub(super) searched_moves: i64,
    pub(super) wall_us: i64,
    pub(super) cpu_us: i64,
    pub(super) nodes: i64,
    pub(super) evaluations: i64,
    pub(super) full_tree_leaves: f64,
    pub(super) wall_us_squared: f64,
}

/// A row of `game_depths` without its game.
pub(super) struct DepthRow {
    pub(super) side: i64,
    pub(super) depth: u32,
    pub(super) searched_moves: i64,
    pub(super) wall_us: f64,
    pub(super) cpu_us: f64,
    pub(super) nodes: f64,
    pub(super) evaluations: f64,
    pub(super) full_tree_leaves: f64,
    pub(super) wall_us_squared: f64,
    pub(super) times: BTreeMap<u32, i64>,
}
