//! Rows of `games` and `moves`, and of their siblings for games that do not count.

use std::sync::LazyLock;

use serde::Serialize;
use spelrum_engine::Remarks;
use spelrum_model::PlayedGame;

use crate::error::StoreError;
use crate::schema::encoding::json;
use crate::schema::numbers::{count, integer, scaled_columns};
use crate::write::checked_games::Checked;
use crate::write::insert::{Row, Statements, Values};

/// The stored reason why a played game does not count.
pub(crate) const BEYOND_STOP: &str = "beyond_stop";

/// A row of `games`, or of `uncounted_games` without its id.
#[derive(Serialize)]
pub(crate) struct GameRow(
    pub(crate) Option<i64>,
    i64,
    i64,
    i64,
    i64,
    i64,
    &'static str,
    &'static str,
    &'static str,
    i64,
    i64,
    i64,
    i64,
    i64,
    i64,
    bool,
    Option<&'static str>,
    Option<i32>,
    Option<f64>,
    Option<bool>,
    Option<f64>,
    Option<i64>,
);

impl GameRow {
    /// The row of a game, which counts unless a reason is given.
    pub(crate) fn new(
        id: Option<i64>,
        checked: &Checked<'_>,
        not_counted_reason: Option<&'static str>,
    ) -> Self {
        let PlayedGame { engine_revision, record, moves_hash, .. } = checked.played;
        let [first, second] = checked.movers();
        let disturbance = checked.cell.disturbance(checked.number, &record.moves);
        let (time_factor, speed) = scaled_columns(checked.played.scaled);
        Self(
            id,
            checked.cell_id(),
            checked.number,
            checked.opening_id,
            first,
            second,
            record.first_side.name(),
            record.outcome.name(),
            record.termination.name(),
            count(record.moves.len()),
            integer(*moves_hash),
            i64::from(*engine_revision),
            checked.played.started_unix_us,
            integer(record.wall_us),
            checked.worker.0,
            not_counted_reason.is_none(),
            not_counted_reason,
            record.margin,
            disturbance.map(|(share, _)| share),
            disturbance.map(|(_, is_disturbed)| is_disturbed),
            time_factor,
            speed,
        )
    }
}

impl Row for GameRow {
    fn statements() -> &'static Statements {
        static STATEMENTS: LazyLock<Statements> = LazyLock::new(|| {
            let columns = "game_id, cell_id, number, opening_id, first_player_id, second_player_id, \
                first_side, outcome, termination, plies, moves_hash, worker_id, engine_revision, \
                started_unix_us, wall_us, counted, not_counted_reason, margin, robbed_share, \
                disturbed, time_factor, speed";
            Statements::new("games", columns)
        });
        &STATEMENTS
    }

    fn add_to(&self, values: &mut Values) {
        let Self(id, cell, number, opening, first, second, first_side, outcome, termination, ..) =
            *self;
        let Self(.., plies, hash, revision, started, wall_us, worker, _, _, _, _, _, _, _) = *self;
        let Self(.., counted, reason, margin, robbed_share, disturbed, time_factor, speed) = *self;
        values.add(id).add(cell).add(number).add(opening).add(first).add(second);
        values.add(first_side).add(outcome).add(termination).add(plies);
        values.add(hash).add(worker).add(revision).add(started).add(wall_us);
        values.add(counted).add(reason).add(margin).add(robbed_share).add(disturbed);
        values.add(time_factor).add(speed);
    }
}

/// A row of `moves` or `uncounted_moves`.
#[derive(Serialize)]
pub(crate) struct MoveRow<'g>(
    pub(crate) i64,
    usize,
    u8,
    i64,
    &'g str,
    i64,
    u32,
    u32,
    i64,
    i64,
    i64,
    Option<i32>,
    i64,
    i64,
    &'static str,
    Option<i64>,
    Option<i64>,
);

impl Row for MoveRow<'_> {
    fn statements() -> &'static Statements {
        static STATEMENTS: LazyLock<Statements> = LazyLock::new(|| {
            let columns = "game_id, ply, side, player_id, move, position_key, legal_moves, depth, nodes, \
                evaluations, full_tree_leaves, score, wall_us, cpu_us, ended_by, told_us, \
                involuntary_switches";
            Statements::new("moves", columns)
        });
        &STATEMENTS
    }

    fn add_to(&self, values: &mut Values) {
        let Self(game, ply, side, player, mv, key, legal, depth, nodes, evaluations, leaves, ..) =
            *self;
        let Self(.., score, wall_us, cpu_us, ended_by, involuntary_switches, told_us) = *self;
        values.add(game).add(count(ply)).add(side);
        values.add(player).add(mv).add(key).add(legal).add(depth).add(nodes);
        values.add(evaluations).add(leaves).add(score);
        values.add(wall_us).add(cpu_us).add(ended_by).add(told_us).add(involuntary_switches);
    }
}

/// The rows of a game's moves.
pub(crate) fn move_rows<'g>(id: i64, game: &Checked<'g>) -> impl Iterator<Item = MoveRow<'g>> {
    let movers = game.movers();
    game.played.record.moves.iter().enumerate().map(move |(ply, mv)| {
        let search = &mv.search;
        MoveRow(
            id,
            ply,
            mv.mover,
            movers[usize::from(mv.mover != 0)],
            &mv.mv,
            integer(mv.position_key),
            mv.legal_moves,
            search.depth,
            integer(search.nodes),
            integer(search.evaluations),
            integer(search.full_tree_leaves),
            search.score,
            integer(mv.wall_us),
            integer(mv.cpu_us),
            search.ended_by.name(),
            mv.involuntary_switches.map(integer),
            search.told_us.map(integer),
        )
    })
}

/// A row of `move_notes`.
pub(crate) struct NoteRow<'g>(pub(crate) i64, usize, Option<&'g str>, Option<String>, u32);

impl Row for NoteRow<'_> {
    fn statements() -> &'static Statements {
        static STATEMENTS: LazyLock<Statements> = LazyLock::new(|| {
            Statements::new("move_notes", "game_id, ply, note, distribution_json, refused")
        });
        &STATEMENTS
    }

    fn add_to(&self, values: &mut Values) {
        let Self(game, ply, note, distribution, refused) = self;
        values.add(*game).add(count(*ply)).add(*note).add(distribution.as_deref()).add(*refused);
    }
}

/// The rows of what players reported of a game's moves.
pub(crate) fn note_rows<'g>(
    id: i64,
    game: &Checked<'g>,
) -> impl Iterator<Item = Result<NoteRow<'g>, StoreError>> {
    let moves = game.played.record.moves.iter().enumerate();
    let remarks = moves.filter_map(|(ply, mv)| Some((ply, mv.remarks.as_deref()?)));
    remarks.map(move |(ply, Remarks { note, distribution, refused })| {
        let note = Some(note.as_str()).filter(|note| !note.is_empty());
        let distribution = (!distribution.is_empty()).then_some(distribution);
        Ok(NoteRow(id, ply, note, distribution.map(json).transpose()?, *refused))
    })
}
