//! Rows of `games` and `moves`, and of their siblings for games that do not count.

use std::sync::LazyLock;

use serde::Serialize;
use spelrum_engine::{Remarks, RunningClock, SearchDetails};
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
#[derive(Default)]
pub(crate) struct NoteRow<'g> {
    pub(crate) game: i64,
    ply: usize,
    note: Option<&'g str>,
    distribution_json: Option<String>,
    refused: u32,
    seldepth: Option<i64>,
    hashfull: Option<i64>,
    tbhits: Option<i64>,
    pv: Option<&'g str>,
    clock_left_us: Option<i64>,
}

impl Row for NoteRow<'_> {
    fn statements() -> &'static Statements {
        static STATEMENTS: LazyLock<Statements> = LazyLock::new(|| {
            let columns = "game_id, ply, note, distribution_json, refused, seldepth, hashfull, tbhits, pv, \
                clock_left_us";
            Statements::new("move_notes", columns)
        });
        &STATEMENTS
    }

    fn add_to(&self, values: &mut Values) {
        values.add(self.game).add(count(self.ply)).add(self.note);
        values.add(self.distribution_json.as_deref()).add(self.refused);
        values.add(self.seldepth).add(self.hashfull).add(self.tbhits).add(self.pv);
        values.add(self.clock_left_us);
    }
}

/// The rows of what players reported of a game's moves: what they say of their searches, and the time left on their
/// clocks, only if details are recorded.
pub(crate) fn note_rows<'g>(
    id: i64,
    game: &Checked<'g>,
) -> impl Iterator<Item = Result<NoteRow<'g>, StoreError>> {
    let detailed = game.cell.detailed_clocks(game.number);
    let factor = game.played.scaled.map_or(1_000, |scaled| scaled.factor_permille);
    let mut clocks = detailed
        .unwrap_or_default()
        .map(|clock| clock.map(|clock| RunningClock::new(clock.scaled(factor))));
    let moves = game.played.record.moves.iter().enumerate();
    moves.filter_map(move |(ply, mv)| {
        let clock_left_us = clocks[usize::from(mv.mover != 0)].as_mut().map(|clock| {
            clock.charge(mv.wall_us);
            integer(clock.left().time_us)
        });
        let row = NoteRow { game: id, ply, clock_left_us, ..NoteRow::default() };
        let Some(remarks) = mv.remarks.as_deref() else {
            return clock_left_us.is_some().then_some(Ok(row));
        };
        let Remarks { note, distribution, refused, details } = remarks;
        let is_told = !note.is_empty() || !distribution.is_empty() || *refused > 0;
        if !is_told && detailed.is_none() {
            return None;
        }
        let row = NoteRow {
            note: Some(note.as_str()).filter(|note| !note.is_empty()),
            refused: *refused,
            ..row
        };
        let row = match details {
            SearchDetails { seldepth, hashfull, tbhits, pv } if detailed.is_some() => NoteRow {
                seldepth: seldepth.map(i64::from),
                hashfull: hashfull.map(i64::from),
                tbhits: tbhits.map(integer),
                pv: Some(pv.as_str()).filter(|pv| !pv.is_empty()),
                ..row
            },
            _ => row,
        };
        let distribution_json = (!distribution.is_empty()).then(|| json(distribution)).transpose();
        Some(distribution_json.map(|distribution_json| NoteRow { distribution_json, ..row }))
    })
}
