//! The value of a position by several tables: captures and en passant are searched, since tables leave out what a
//! capture decides.

use cozy_chess::{BitBoard, Board, Move, Piece, Square};

use crate::{ProbeError, Tables, Wdl};

/// A result, and whether a capture alone is enough for it.
type Found = (Wdl, bool);

/// How deep distances may be looked up behind positions of the side that a table lacks: the file has the other side.
const DEPTH_MAX: u32 = 1;

/// The result if the fifty-move rule begins to count here.
pub(crate) fn wdl(tables: &Tables, board: &Board) -> Result<Wdl, ProbeError> {
    let (found, _) = search(tables, board, Wdl::Loss, Wdl::Win)?;
    let Some(passing) = best_en_passant(tables, board)? else { return Ok(found) };
    let is_forced = || moves(board).into_iter().all(|mv| is_en_passant(board, mv));
    Ok(if passing >= found || (found == Wdl::Draw && is_forced()) { passing } else { found })
}

/// Plies to a capture, pawn move or mate under best play: positive for the side that wins, 0 for a draw, beyond 100 where
/// the fifty-move rule makes it a draw. It may be one too small, but not where that changes the result.
pub(crate) fn dtz(tables: &Tables, board: &Board) -> Result<i32, ProbeError> {
    dtz_within(tables, board, 0)
}

fn dtz_within(tables: &Tables, board: &Board, depth: u32) -> Result<i32, ProbeError> {
    let found = dtz_without_en_passant(tables, board, depth)?;
    let Some(passing) = best_en_passant(tables, board)?.map(Wdl::plies_of_zeroing) else {
        return Ok(found);
    };
    let is_better = match found {
        ..-100 => passing >= 0,
        -100..0 => !(-100..0).contains(&passing),
        0 => passing >= 0 || moves(board).into_iter().all(|mv| is_en_passant(board, mv)),
        1..=100 => passing == 1,
        101.. => passing > 0,
    };
    Ok(if is_better { passing } else { found })
}

fn dtz_without_en_passant(tables: &Tables, board: &Board, depth: u32) -> Result<i32, ProbeError> {
    let (wdl, is_by_capture) = search(tables, board, Wdl::Loss, Wdl::Win)?;
    if wdl == Wdl::Draw || is_by_capture {
        return Ok(wdl.plies_of_zeroing());
    }
    let is_win = wdl > Wdl::Draw;
    let pawns = board.pieces(Piece::Pawn);
    let legal = moves(board);
    let is_quiet = |mv: &&Move| !is_capture(board, **mv) && !is_en_passant(board, **mv);
    if is_win {
        for &mv in legal.iter().filter(|mv| pawns.has(mv.from)).filter(is_quiet) {
            if self::wdl(tables, &after(board, mv))?.for_other() == wdl {
                return Ok(wdl.plies_of_zeroing());
            }
        }
    }
    let table = tables.distances(board)?;
    if let Some(distance) = table.distance(board, wdl)? {
        let start = wdl.plies_of_zeroing();
        return Ok(start + if is_win { distance } else { -distance });
    }
    if depth > DEPTH_MAX {
        return Err(table.error(crate::source::Flaw::Content("it lacks both sides to move")));
    }
    let child_dtz = |child: &Board| Ok(-dtz_within(tables, child, depth + 1)?);
    let mut best: Option<i32> = None;
    if is_win {
        for &mv in legal.iter().filter(|mv| !pawns.has(mv.from)).filter(is_quiet) {
            let child = after(board, mv);
            let value = child_dtz(&child)?;
            let is_mate = value == 1 && !child.checkers().is_empty() && moves(&child).is_empty();
            let plies = if is_mate { 1 } else { value + 1 };
            if value > 0 && best.is_none_or(|best| plies < best) {
                best = Some(plies);
            }
        }
        // A win without a winning move is no position of these rules.
        return best
            .ok_or_else(|| table.error(crate::source::Flaw::Content("it contradicts others")));
    }
    for mv in legal {
        let child = after(board, mv);
        let is_zeroing = is_capture(board, mv) || pawns.has(mv.from);
        let value = match (is_zeroing, wdl) {
            (false, _) => child_dtz(&child)? - 1,
            (true, Wdl::Loss) => -1,
            (true, _) => {
                let (other, _) = search(tables, &child, Wdl::CursedWin, Wdl::Win)?;
                if other == Wdl::Win { 0 } else { -101 }
            }
        };
        best = Some(best.map_or(value, |best| best.min(value)));
    }
    Ok(best.map_or(-1, |best| best.min(-1)))
}

/// Alpha-beta over captures other than en passant, which end in the table's result.
fn search(tables: &Tables, board: &Board, mut alpha: Wdl, beta: Wdl) -> Result<Found, ProbeError> {
    for mv in moves(board).into_iter().filter(|&mv| is_capture(board, mv)) {
        let child = after(board, mv);
        let value = search(tables, &child, beta.for_other(), alpha.for_other())?.0.for_other();
        if value > alpha {
            if value >= beta {
                return Ok((value, true));
            }
            alpha = value;
        }
    }
    let value = tables.results(board)?;
    Ok(if alpha >= value { (alpha, alpha > Wdl::Draw) } else { (value, false) })
}

/// The best result by taking en passant; `None` if no pawn can.
fn best_en_passant(tables: &Tables, board: &Board) -> Result<Option<Wdl>, ProbeError> {
    let mut best = None;
    for mv in moves(board).into_iter().filter(|&mv| is_en_passant(board, mv)) {
        let value = search(tables, &after(board, mv), Wdl::Loss, Wdl::Win)?.0.for_other();
        best = best.max(Some(value));
    }
    Ok(best)
}

fn moves(board: &Board) -> Vec<Move> {
    let mut moves = Vec::new();
    board.generate_moves(|targets| {
        moves.extend(targets);
        false
    });
    moves
}

fn after(board: &Board, mv: Move) -> Board {
    let mut child = board.clone();
    child.play_unchecked(mv);
    child
}

fn is_capture(board: &Board, mv: Move) -> bool {
    board.colors(!board.side_to_move()).has(mv.to)
}

fn is_en_passant(board: &Board, mv: Move) -> bool {
    let is_pawn = board.pieces(Piece::Pawn).has(mv.from);
    let to: BitBoard = Square::new(mv.to.file(), mv.from.rank()).bitboard();
    let taken = board.colored_pieces(!board.side_to_move(), Piece::Pawn) & to;
    is_pawn && mv.from.file() != mv.to.file() && !board.occupied().has(mv.to) && !taken.is_empty()
}
