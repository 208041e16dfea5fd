//! Results: the settled one of each game, and those kept beside it (invariant 4).

use std::collections::{BTreeMap, BTreeSet};

use spelrum_engine::{Outcome, SearchDetails, Side};
use spelrum_model::engines::is_deterministic;
use spelrum_model::repeat::{SettledMove, SettledResult, SettledSearches, compare};
use spelrum_model::{ExperimentSettings, GameId, LeaseId, PlayedGame, Record, WorkerId};
use spelrum_store::StoreError;
use spelrum_store::decisions::{Reason, SideSums, count, hexadecimal, integer, scaled_columns};

use crate::cells::Cell;
use crate::numbers::{number, small};
use crate::scheduling::{settings_of, stored_cells, timed};
use crate::tasks;
use crate::transaction::PgTransaction;

/// A game ready for storing.
struct Checked<'g> {
    worker: WorkerId,
    played: &'g PlayedGame,
    cell: &'g Cell,
    opening_id: i64,
}

impl Checked<'_> {
    fn movers(&self) -> [i64; 2] {
        self.cell.movers(self.played.game.number)
    }
}

/// The cells of games, which are checked before any of them is stored.
async fn check(
    tx: &mut PgTransaction<'_>,
    games: &[(WorkerId, PlayedGame)],
) -> Result<BTreeMap<i64, Cell>, StoreError> {
    let cells = stored_cells(tx, games.iter().map(|(_, played)| played.game.cell)).await?;
    for (_, played) in games {
        let GameId { cell, number } = played.game;
        let invalid = |problem| StoreError::InvalidGame { cell_id: cell.0, number, problem };
        played.check().map_err(invalid)?;
        if !cells.contains_key(&cell.0) {
            return Err(invalid("there is no such cell".to_owned()));
        }
        if !played.values.is_empty() {
            return Err(invalid("this store cannot keep the values of moves yet".to_owned()));
        }
    }
    Ok(cells)
}

/// Games with their rows' keys; openings that are new are stored.
async fn prepare<'g>(
    tx: &mut PgTransaction<'_>,
    cells: &'g BTreeMap<i64, Cell>,
    games: &'g [(WorkerId, PlayedGame)],
) -> Result<Vec<Checked<'g>>, StoreError> {
    let mut checked: Vec<Checked<'g>> = games
        .iter()
        .map(|(worker, played)| {
            let cell = &cells[&played.game.cell.0];
            Checked { worker: *worker, played, cell, opening_id: 0 }
        })
        .collect();
    let openings: BTreeSet<(&str, &str)> =
        checked.iter().map(|game| (&*game.cell.game, &*game.played.opening)).collect();
    let (names, positions): (Vec<&str>, Vec<&str>) = openings.into_iter().unzip();
    run!(
        tx,
        "INSERT INTO openings (game, position) SELECT * FROM unnest($1::text[], $2::text[])
        ON CONFLICT DO NOTHING",
        &names,
        &positions,
    );
    let found = all!(
        tx,
        (String, String, i64),
        "SELECT o.game, o.position, o.opening_id FROM unnest($1::text[], $2::text[]) AS j (game, position)
        JOIN openings AS o ON o.game = j.game AND o.position = j.position",
        names,
        positions
    );
    let ids: BTreeMap<(&str, &str), i64> =
        found.iter().map(|(game, position, id)| ((&**game, &**position), *id)).collect();
    for game in &mut checked {
        game.opening_id = ids[&(&*game.cell.game, &*game.played.opening)];
    }
    Ok(checked)
}

/// Stores results that count. A game that has its settled result, or comes twice, is kept beside that result.
pub(crate) async fn store(
    tx: &mut PgTransaction<'_>,
    games: &[(WorkerId, PlayedGame)],
) -> Result<(), StoreError> {
    let cells = check(tx, games).await?;
    let settings = settings_of(tx, &cells).await?;
    let checked = prepare(tx, &cells, games).await?;
    let there = all!(
        tx,
        (i64, i64),
        "SELECT cell_id, number FROM games WHERE (cell_id, number) IN (
            SELECT * FROM unnest($1::bigint[], $2::bigint[]))",
        checked.iter().map(|game| game.cell.cell_id).collect::<Vec<i64>>(),
        checked.iter().map(|game| integer(game.played.game.number)).collect::<Vec<i64>>()
    );
    let mut seen: BTreeSet<(i64, i64)> = there.into_iter().collect();
    let (new, again): (Vec<_>, Vec<_>) = checked
        .into_iter()
        .partition(|game| seen.insert((game.cell.cell_id, integer(game.played.game.number))));
    let first_id = tx.take_ids("games", new.len()).await?;
    let new: Vec<(i64, Checked<'_>)> = (first_id..).zip(new).collect();
    if !new.is_empty() {
        insert_games(tx, &new, &settings).await?;
        insert_sides(tx, &new).await?;
        insert_engines(tx, &new).await?;
        let record = |game: &Checked<'_>| settings[&game.cell.experiment_id].record;
        let with_moves: Vec<_> =
            new.iter().filter(|(_, game)| record(game) != Record::Games).collect();
        insert_moves(tx, "moves", &with_moves).await?;
        insert_notes(tx, &with_moves, &settings).await?;
    }
    for game in &again {
        keep(tx, game, None).await?;
    }
    Ok(())
}

async fn insert_games(
    tx: &mut PgTransaction<'_>,
    games: &[(i64, Checked<'_>)],
    settings: &BTreeMap<i64, ExperimentSettings>,
) -> Result<(), StoreError> {
    macro_rules! column {
        ($type:ty, $value:expr) => {
            games.iter().map(|(_, game)| $value(game)).collect::<Vec<$type>>()
        };
    }
    let disturbances: Vec<Option<(f64, bool)>> = games
        .iter()
        .map(|(_, game)| {
            let timed = timed(game.cell, &settings[&game.cell.experiment_id])?;
            let PlayedGame { game, record, .. } = game.played;
            let share = timed.robbed_share(game.number, &record.moves)?;
            Some((share, timed.disturbs(share)))
        })
        .collect();
    let counts = |game: &Checked<'_>| game.cell.counts(game.played.game.number);
    run!(
        tx,
        "INSERT INTO games (game_id, cell_id, number, opening_id, first_player_id, second_player_id, first_side,
            outcome, termination, plies, moves_hash, worker_id, engine_revision, started_unix_us, wall_us, counted,
            not_counted_reason, margin, robbed_share, disturbed, time_factor, speed)
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
            $7::text[], $8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],
            $14::bigint[], $15::bigint[], $16::smallint[], $17::text[], $18::integer[], $19::double precision[],
            $20::smallint[], $21::double precision[], $22::bigint[])",
        games.iter().map(|(id, _)| *id).collect::<Vec<i64>>(),
        column!(i64, |game: &Checked<'_>| game.cell.cell_id),
        column!(i64, |game: &Checked<'_>| integer(game.played.game.number)),
        column!(i64, |game: &Checked<'_>| game.opening_id),
        column!(i64, |game: &Checked<'_>| game.movers()[0]),
        column!(i64, |game: &Checked<'_>| game.movers()[1]),
        column!(&str, |game: &Checked<'_>| game.played.record.first_side.name()),
        column!(&str, |game: &Checked<'_>| game.played.record.outcome.name()),
        column!(&str, |game: &Checked<'_>| game.played.record.termination.name()),
        column!(i64, |game: &Checked<'_>| count(game.played.record.moves.len())),
        column!(i64, |game: &Checked<'_>| integer(game.played.moves_hash)),
        column!(i64, |game: &Checked<'_>| game.worker.0),
        column!(i64, |game: &Checked<'_>| i64::from(game.played.engine_revision)),
        column!(i64, |game: &Checked<'_>| game.played.started_unix_us),
        column!(i64, |game: &Checked<'_>| integer(game.played.record.wall_us)),
        column!(i16, |game: &Checked<'_>| i16::from(counts(game))),
        column!(Option<&str>, |game: &Checked<'_>| (!counts(game)).then_some("beyond_stop")),
        column!(Option<i32>, |game: &Checked<'_>| game.played.record.margin),
        disturbances.iter().map(|known| known.map(|(share, _)| share)).collect::<Vec<_>>(),
        disturbances.iter().map(|known| known.map(|(_, is)| i16::from(is))).collect::<Vec<_>>(),
        column!(Option<f64>, |game: &Checked<'_>| scaled_columns(game.played.scaled).0),
        column!(Option<i64>, |game: &Checked<'_>| scaled_columns(game.played.scaled).1),
    );
    Ok(())
}

async fn insert_sides(
    tx: &mut PgTransaction<'_>,
    games: &[(i64, Checked<'_>)],
) -> Result<(), StoreError> {
    let (mut ids, mut sides, mut players) = (vec![], vec![], vec![]);
    let (mut whole, mut sums): ([Vec<i64>; 6], [Vec<f64>; 2]) = Default::default();
    for (id, game) in games {
        let both = SideSums::from_moves(&game.played.record.moves);
        for ((side, player), of_side) in (0_i16..).zip(game.movers()).zip(&both) {
            ids.push(*id);
            sides.push(side);
            players.push(player);
            let (columns, reals) = of_side.columns();
            whole.iter_mut().zip(columns).for_each(|(column, value)| column.push(value));
            sums.iter_mut().zip(reals).for_each(|(column, value)| column.push(value));
        }
    }
    let [moves, searched, wall, cpu, nodes, evaluations] = whole;
    let [leaves, squared] = sums;
    run!(
        tx,
        "INSERT INTO game_sides (game_id, side, player_id, moves, searched_moves, wall_us, cpu_us, nodes,
            evaluations, full_tree_leaves, wall_us_squared)
        SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
            $7::bigint[], $8::bigint[], $9::bigint[], $10::double precision[], $11::double precision[])",
        ids,
        sides,
        players,
        moves,
        searched,
        wall,
        cpu,
        nodes,
        evaluations,
        leaves,
        squared,
    );
    Ok(())
}

async fn insert_engines(
    tx: &mut PgTransaction<'_>,
    games: &[(i64, Checked<'_>)],
) -> Result<(), StoreError> {
    let sides = |game: &Checked<'_>| (0_i16..).zip(game.played.engines.clone());
    let engines: Vec<_> = games
        .iter()
        .flat_map(|(id, game)| sides(game).filter_map(|(side, engine)| Some((*id, side, engine?))))
        .collect();
    let names: Vec<String> = engines.iter().map(|(.., engine)| engine.name.clone()).collect();
    let authors: Vec<String> = engines.iter().map(|(.., engine)| engine.author.clone()).collect();
    let hashes: Vec<String> =
        engines.iter().map(|(.., engine)| hexadecimal(&engine.sha256)).collect();
    if !engines.is_empty() {
        run!(
            tx,
            "INSERT INTO engines (name, author, sha256)
            SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::text[]) ON CONFLICT DO NOTHING",
            &names,
            &authors,
            &hashes,
        );
        run!(
            tx,
            "INSERT INTO game_engines (game_id, side, engine_id)
            SELECT j.game_id, j.side, e.engine_id
            FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::smallint[])
                AS j (name, author, sha256, game_id, side)
            JOIN engines AS e ON e.name = j.name AND e.author = j.author AND e.sha256 = j.sha256",
            names,
            authors,
            hashes,
            engines.iter().map(|(id, ..)| *id).collect::<Vec<i64>>(),
            engines.iter().map(|(_, side, _)| *side).collect::<Vec<i16>>(),
        );
    }
    for (id, game) in games {
        if let Some(forfeit) = &game.played.forfeit {
            let sql = "INSERT INTO forfeits (game_id, message, output) VALUES ($1, $2, $3)";
            run!(tx, sql, id, &forfeit.message, &forfeit.output);
        }
    }
    Ok(())
}

/// Inserts moves into `moves` or, without the column of that table alone, into `uncounted_moves`.
async fn insert_moves(
    tx: &mut PgTransaction<'_>,
    table: &str,
    games: &[&(i64, Checked<'_>)],
) -> Result<(), StoreError> {
    let rows = || {
        games.iter().flat_map(|(id, game)| {
            let movers = game.movers();
            let moves = (0_i64..).zip(&game.played.record.moves);
            moves.map(move |(ply, mv)| (*id, ply, movers[usize::from(mv.mover != 0)], mv))
        })
    };
    macro_rules! column {
        ($type:ty, $value:expr) => {
            rows().map(|(_, _, _, mv)| $value(mv)).collect::<Vec<$type>>()
        };
    }
    use spelrum_engine::MoveRecord as Move;
    macro_rules! insert {
        ($key:literal, $reported:literal, $reported_value:literal) => {
            concat!(
                "INSERT INTO ", $key, ", ply, side, player_id, move, position_key, legal_moves, depth, nodes,
                    evaluations, full_tree_leaves, score, wall_us, cpu_us, ended_by, involuntary_switches", $reported, ")
                SELECT id, ply, side, player_id, move, position_key, legal_moves, depth, nodes, evaluations, leaves,
                    score, wall_us, cpu_us, ended_by, switches", $reported_value,
                " FROM unnest($1::bigint[], $2::bigint[], $3::smallint[], $4::bigint[], $5::text[], $6::bigint[],
                    $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::integer[],
                    $13::bigint[], $14::bigint[], $15::text[], $16::bigint[], $17::bigint[])
                    AS j (id, ply, side, player_id, move, position_key, legal_moves, depth, nodes, evaluations,
                        leaves, score, wall_us, cpu_us, ended_by, switches, told)"
            )
        };
    }
    let sql = match table {
        "moves" => insert!("moves (game_id", ", told_us", ", told"),
        _ => insert!("uncounted_moves (uncounted_game_id", "", ""),
    };
    run!(
        tx,
        sql,
        rows().map(|(id, ..)| id).collect::<Vec<i64>>(),
        rows().map(|(_, ply, ..)| ply).collect::<Vec<i64>>(),
        column!(i16, |mv: &Move| i16::from(mv.mover != 0)),
        rows().map(|(_, _, player, _)| player).collect::<Vec<i64>>(),
        column!(String, |mv: &Move| mv.mv.clone()),
        column!(i64, |mv: &Move| integer(mv.position_key)),
        column!(i64, |mv: &Move| i64::from(mv.legal_moves)),
        column!(i64, |mv: &Move| i64::from(mv.search.depth)),
        column!(i64, |mv: &Move| integer(mv.search.nodes)),
        column!(i64, |mv: &Move| integer(mv.search.evaluations)),
        column!(i64, |mv: &Move| integer(mv.search.full_tree_leaves)),
        column!(Option<i32>, |mv: &Move| mv.search.score),
        column!(i64, |mv: &Move| integer(mv.wall_us)),
        column!(i64, |mv: &Move| integer(mv.cpu_us)),
        column!(&str, |mv: &Move| mv.search.ended_by.name()),
        column!(Option<i64>, |mv: &Move| mv.involuntary_switches.map(integer)),
        column!(Option<i64>, |mv: &Move| mv.search.told_us.map(integer)),
    );
    Ok(())
}

/// Inserts what players reported of moves; of their searches only if details are recorded.
async fn insert_notes(
    tx: &mut PgTransaction<'_>,
    games: &[&(i64, Checked<'_>)],
    settings: &BTreeMap<i64, ExperimentSettings>,
) -> Result<(), StoreError> {
    for (id, game) in games {
        let is_full = settings[&game.cell.experiment_id].record == Record::Full;
        for (ply, mv) in (0_i64..).zip(&game.played.record.moves) {
            let Some(remarks) = mv.remarks.as_deref() else { continue };
            let nothing = SearchDetails::default();
            let details = if is_full { &remarks.details } else { &nothing };
            let is_said = !remarks.note.is_empty()
                || !remarks.distribution.is_empty()
                || remarks.refused > 0
                || *details != nothing;
            if !is_said {
                continue;
            }
            let distribution = (!remarks.distribution.is_empty())
                .then(|| serde_json::to_string(&remarks.distribution))
                .transpose()
                .map_err(|error| sqlx::Error::Encode(error.into()))?;
            run!(
                tx,
                "INSERT INTO move_notes (game_id, ply, note, distribution_json, refused, seldepth, hashfull, tbhits,
                    pv)
                VALUES ($1, $2, nullif($3, ''), $4, $5, $6, $7, $8, nullif($9, ''))",
                id,
                ply,
                &remarks.note,
                distribution,
                i64::from(remarks.refused),
                details.seldepth.map(i64::from),
                details.hashfull.map(i64::from),
                details.tbhits.map(integer),
                &details.pv,
            );
        }
    }
    Ok(())
}

/// Stores other results completely, each with the reason why it does not count.
pub(crate) async fn store_uncounted(
    tx: &mut PgTransaction<'_>,
    games: &[(WorkerId, PlayedGame)],
    after_cancel: bool,
) -> Result<(), StoreError> {
    let cells = check(tx, games).await?;
    for game in &prepare(tx, &cells, games).await? {
        keep(tx, game, after_cancel.then_some(Reason::AfterCancel)).await?;
    }
    Ok(())
}

/// Stores results of disturbed games that will be replayed: each once, by its lease.
pub(crate) async fn store_disturbed(
    tx: &mut PgTransaction<'_>,
    games: &[(WorkerId, LeaseId, PlayedGame)],
) -> Result<(), StoreError> {
    let played: Vec<(WorkerId, PlayedGame)> =
        games.iter().map(|(worker, _, game)| (*worker, game.clone())).collect();
    let cells = check(tx, &played).await?;
    for (game, (_, lease, _)) in prepare(tx, &cells, &played).await?.into_iter().zip(games) {
        let is_kept = value!(
            tx,
            bool,
            "SELECT EXISTS (SELECT 1 FROM uncounted_games
                WHERE cell_id = $1 AND number = $2 AND lease_id = $3 AND reason = 'disturbed')",
            game.cell.cell_id,
            integer(game.played.game.number),
            lease.0
        );
        if !is_kept {
            insert_uncounted(tx, &game, Reason::Disturbed, Some(*lease)).await?;
        }
    }
    Ok(())
}

/// Keeps a result beside the settled one, with the given reason or a computed one.
async fn keep(
    tx: &mut PgTransaction<'_>,
    game: &Checked<'_>,
    reason: Option<Reason>,
) -> Result<(), StoreError> {
    let is_excluded = value!(
        tx,
        bool,
        "SELECT EXISTS (SELECT 1 FROM exclusions
            WHERE worker_id = $1 AND readmitted_unix_us IS NULL
                AND (experiment_id IS NULL OR experiment_id = $2) AND (engine IS NULL OR engine = ANY($3)))",
        game.worker.0,
        game.cell.experiment_id,
        game.cell.engines().into_iter().flatten().collect::<Vec<String>>()
    );
    let reason = match reason {
        _ if is_excluded => Reason::Excluded,
        Some(reason) => reason,
        None => compare(settled(tx, game).await?.as_ref(), game.played).into(),
    };
    insert_uncounted(tx, game, reason, None).await
}

async fn insert_uncounted(
    tx: &mut PgTransaction<'_>,
    game: &Checked<'_>,
    reason: Reason,
    lease: Option<LeaseId>,
) -> Result<(), StoreError> {
    let now = tx.now_unix_us;
    let PlayedGame { record, moves_hash, engine_revision, started_unix_us, .. } = game.played;
    let (time_factor, speed) = scaled_columns(game.played.scaled);
    let [first, second] = game.movers();
    let id = value!(
        tx,
        i64,
        "INSERT INTO uncounted_games (cell_id, number, reason, opening_id, first_player_id, second_player_id,
            first_side, outcome, termination, plies, moves_hash, worker_id, engine_revision, started_unix_us, wall_us,
            received_unix_us, margin, lease_id, time_factor, speed)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
        RETURNING uncounted_game_id",
        game.cell.cell_id,
        integer(game.played.game.number),
        reason.name(),
        game.opening_id,
        first,
        second,
        record.first_side.name(),
        record.outcome.name(),
        record.termination.name(),
        count(record.moves.len()),
        integer(*moves_hash),
        game.worker.0,
        i64::from(*engine_revision),
        started_unix_us,
        integer(record.wall_us),
        now,
        record.margin,
        lease.map(|lease| lease.0),
        time_factor,
        speed
    );
    let of_game = Checked { opening_id: game.opening_id, ..*game };
    insert_moves(tx, "uncounted_moves", &[&(id, of_game)]).await
}

/// The stored record of a game's settled result, unless the game finally failed.
async fn settled(
    tx: &mut PgTransaction<'_>,
    game: &Checked<'_>,
) -> Result<Option<SettledResult>, StoreError> {
    let found = first!(
        tx,
        (i64, String, String, Option<i32>, String, i64, i64, i64, String, i64),
        "SELECT g.game_id, g.first_side, g.outcome, g.margin, g.termination, g.plies, g.moves_hash,
            g.engine_revision, o.position,
            (SELECT coalesce(sum(s.nodes), 0)::bigint FROM game_sides AS s WHERE s.game_id = g.game_id)
        FROM games AS g JOIN openings AS o ON o.opening_id = g.opening_id
        WHERE g.cell_id = $1 AND g.number = $2 AND g.outcome IS NOT NULL",
        game.cell.cell_id,
        integer(game.played.game.number)
    );
    let Some((id, side, outcome, margin, termination, plies, hash, revision, opening, nodes)) =
        found
    else {
        return Ok(None);
    };
    let moves = all!(
        tx,
        (String, i64, i64, Option<i32>),
        "SELECT move, depth, nodes, score FROM moves WHERE game_id = $1 ORDER BY ply",
        id
    );
    let settled_move = |(mv, depth, nodes, score)| SettledMove {
        mv,
        depth: small(depth),
        nodes: number(nodes),
        score,
    };
    let named = Side::named(&side).zip(Outcome::named(&outcome));
    Ok(named.map(|(first_side, outcome)| SettledResult {
        is_deterministic: game.cell.parameters().iter().all(is_deterministic),
        engine_revision: small(revision),
        opening,
        first_side,
        outcome,
        margin,
        termination,
        plies: number(plies),
        moves_hash: number(hash),
        searches: if moves.is_empty() {
            SettledSearches::Nodes(number(nodes))
        } else {
            SettledSearches::Moves(moves.into_iter().map(settled_move).collect())
        },
    }))
}

/// Settles games as failed. They have no outcome and never count; a game that has a result is unchanged.
pub(crate) async fn settle_failed(
    tx: &mut PgTransaction<'_>,
    games: &[(GameId, String)],
) -> Result<(), StoreError> {
    tasks::settle_failed(tx, games).await?;
    // The first of duplicates wins.
    let mut seen = BTreeSet::new();
    let games: Vec<_> = games.iter().filter(|(game, _)| seen.insert(*game)).collect();
    let new = all!(
        tx,
        (i64, i64, String),
        "SELECT j.cell_id, j.number, j.message
        FROM unnest($1::bigint[], $2::bigint[], $3::text[]) WITH ORDINALITY AS j (cell_id, number, message, place)
        JOIN cells AS c ON c.cell_id = j.cell_id
        WHERE c.number >= 0 AND NOT EXISTS (
            SELECT 1 FROM games AS g WHERE g.cell_id = j.cell_id AND g.number = j.number)
        ORDER BY j.place",
        games.iter().map(|(game, _)| game.cell.0).collect::<Vec<i64>>(),
        games.iter().map(|(game, _)| integer(game.number)).collect::<Vec<i64>>(),
        games.iter().map(|(_, message)| &**message).collect::<Vec<&str>>()
    );
    let first_id = tx.take_ids("games", new.len()).await?;
    run!(
        tx,
        "INSERT INTO games (game_id, cell_id, number, first_player_id, second_player_id, counted,
            not_counted_reason, failure)
        SELECT j.game_id, j.cell_id, j.number,
            CASE j.number % 2 * c.swap_sides WHEN 0 THEN c.first_player_id ELSE c.second_player_id END,
            CASE j.number % 2 * c.swap_sides WHEN 0 THEN c.second_player_id ELSE c.first_player_id END,
            0, 'failed', j.message
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[]) AS j (game_id, cell_id, number, message)
        JOIN cells AS c ON c.cell_id = j.cell_id",
        (first_id..).take(new.len()).collect::<Vec<i64>>(),
        new.iter().map(|(cell, ..)| *cell).collect::<Vec<i64>>(),
        new.iter().map(|(_, number, _)| *number).collect::<Vec<i64>>(),
        new.iter().map(|(.., message)| &**message).collect::<Vec<&str>>(),
    );
    Ok(())
}

/// Moves settled results of an excluded worker to those that do not count.
pub(crate) async fn take_out(tx: &mut PgTransaction<'_>, games: &[i64]) -> Result<(), StoreError> {
    // The results that these conflicted with have no conflict any more.
    run!(
        tx,
        "UPDATE uncounted_games AS u SET reason = 'repeat' FROM games AS g
        WHERE g.game_id = ANY($1) AND u.cell_id = g.cell_id AND u.number = g.number AND u.reason = 'conflict'",
        games,
    );
    let now = tx.now_unix_us;
    let kept = all!(
        tx,
        (i64, i64, i64),
        "INSERT INTO uncounted_games (cell_id, number, reason, opening_id, first_player_id, second_player_id,
            first_side, outcome, termination, plies, moves_hash, worker_id, engine_revision, started_unix_us, wall_us,
            received_unix_us, margin, time_factor, speed)
        SELECT cell_id, number, 'excluded', opening_id, first_player_id, second_player_id, first_side, outcome,
            termination, plies, moves_hash, worker_id, engine_revision, started_unix_us, wall_us, $2, margin,
            time_factor, speed
        FROM games WHERE game_id = ANY($1) ORDER BY cell_id, number
        RETURNING uncounted_game_id, cell_id, number",
        games,
        now
    );
    run!(
        tx,
        "INSERT INTO uncounted_moves (uncounted_game_id, ply, side, player_id, move, position_key, legal_moves, depth,
            nodes, evaluations, full_tree_leaves, score, wall_us, cpu_us, ended_by, involuntary_switches)
        SELECT j.id, m.ply, m.side, m.player_id, m.move, m.position_key, m.legal_moves, m.depth, m.nodes,
            m.evaluations, m.full_tree_leaves, m.score, m.wall_us, m.cpu_us, m.ended_by, m.involuntary_switches
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS j (id, cell_id, number)
        JOIN games AS g ON g.cell_id = j.cell_id AND g.number = j.number
        JOIN moves AS m ON m.game_id = g.game_id",
        kept.iter().map(|(id, ..)| *id).collect::<Vec<i64>>(),
        kept.iter().map(|(_, cell, _)| *cell).collect::<Vec<i64>>(),
        kept.iter().map(|(.., number)| *number).collect::<Vec<i64>>(),
    );
    run!(tx, "DELETE FROM games WHERE game_id = ANY($1)", games);
    Ok(())
}
