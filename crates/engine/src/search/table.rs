//! The player of chess endings, which looks up its moves in exact tables.

use std::any::{Any, TypeId};

use super::algorithm::{Algorithm, Maker};
use super::random::RandomMove;
use super::reference::Reference;
use super::{Budget, Found, NoMove, Search, Stop, make_child, root};
use crate::core::limits::EndedBy;
use crate::core::parameters::{AlgorithmInfo, ParameterInfo, Parameters, Settings};
use crate::core::position::{Line, Position};
use crate::core::problem::{KeyProblem, Problem};
use crate::core::rng::Random;
use crate::core::score;
use crate::core::solver::Solvable;
use crate::evaluation::Evaluation;
use crate::games::Chess;
use crate::tables::{self, Endgame, Metric, PIECES_MAX, TableValue};

const INFO: AlgorithmInfo = AlgorithmInfo {
    name: "table",
    meaning: "Plays chess endings of up to four pieces by exact tables: the fastest mate, the \
              longest defence.",
    parameters: &[
        root::SHUFFLE,
        ParameterInfo::word(
            "metric",
            Metric::NAMES,
            "mate",
            "What it hastens where it wins and delays where it loses: mate, or the next capture or promotion \
             that keeps the result.",
        )
        .added_later(),
    ],
    presets: &[],
    bounded_by: &[],
};

/// The table player as an algorithm.
pub(crate) struct TablePlay;

impl Algorithm for TablePlay {
    const INFO: AlgorithmInfo = INFO;

    const BEGINS_ANYWHERE: bool = false;

    const VALUES_DECIDE_WINNER: bool = true;

    fn draws_random_numbers(settings: &Settings) -> bool {
        settings.switch("shuffle")
    }

    /// The tables of one ending and of the endings that captures lead to, as they are made. The process
    /// shares them, but each game may have another ending.
    fn memory_bytes(_parameters: &Parameters) -> u64 {
        // With pawns promotions lead to more: 44 MB to make a table of four pieces, four of 14 MB that promotions
        // lead to, and ten of 4 MB after these.
        160 << 20
    }

    fn check_game<P: Solvable>() -> Result<(), KeyProblem> {
        if TypeId::of::<P>() == TypeId::of::<Chess>() {
            return Ok(());
        }
        Err(Problem::of_key(
            "algorithm",
            "`table` plays only chess endings".to_owned(),
            "choose another algorithm, or play endings of chess".to_owned(),
        ))
    }

    fn check_start<P: Solvable>(start: &P) -> Result<(), KeyProblem> {
        if chess(start).is_some_and(|position| Endgame::from_position(position).is_some()) {
            return Ok(());
        }
        Err(Problem::of_key(
            "algorithm",
            format!("`table` has no table of `{start}`, and games may begin there"),
            format!(
                "begin with an ending, openings = {{ kind = \"ending\", ending = \"KRK\" }}, or list \
                 positions of at most {PIECES_MAX} pieces without rights to castle"
            ),
        ))
    }

    fn check_reference(parameters: &Parameters) -> Result<(), KeyProblem> {
        match parameters.get("metric") {
            None => Ok(()),
            Some(_) => Err(Problem::of_key(
                "metric",
                "a reference counts distances to mate".to_owned(),
                "leave `metric` out".to_owned(),
            )),
        }
    }

    fn maker<P: Solvable, E: Evaluation<P>>(settings: &Settings, _evaluation: E) -> Maker<P> {
        let shuffle = settings.switch("shuffle");
        let metric = settings.choice("metric", Metric::from_name);
        Maker::new(move || Box::new(TableSearch { shuffle, metric }))
            .with_reference(|| Box::new(TableValues))
    }
}

/// Plays a move of the best value in the table of the position's pieces or, after captures, of the remaining
/// ones: the fastest mate, the longest defence, or any draw. Among equals the first that was tried.
///
/// A mate in n plies scores as in a search. Tables ignore the fifty-move rule and repetition, and so does
/// this player. In a position without a table it plays as [`RandomMove`].
#[derive(Clone, Copy, Debug)]
struct TableSearch {
    /// Whether moves are tried in random order.
    shuffle: bool,
    /// What it hastens and delays.
    metric: Metric,
}

impl<P: Position> Search<P> for TableSearch {
    fn search(
        &mut self,
        line: Line<'_, P>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, NoMove> {
        let root = line.position;
        let Some(position) = chess(root).filter(|position| tables::value(position).is_some())
        else {
            return RandomMove.search(line, budget, random);
        };
        let mut moves = Vec::new();
        root::list_moves(root, self.shuffle, random, &mut moves);
        let mut best = root::Best::unsearched(moves[0]);
        for mv in moves {
            let child = match make_child(root, mv, budget) {
                Ok(child) => child,
                Err(Stop::NoMove(reason)) => return Err(reason),
                Err(Stop::Limit(limit)) => return Ok(best.found(0, limit)),
            };
            let child = chess(&child).expect("a move of chess leads to a position of chess");
            let value = tables::move_value(position, child, self.metric);
            best.offer(mv, scored(value.expect(CLOSED)));
        }
        let found = best.found(1, EndedBy::Proven);
        // Scores are of mates.
        let score = match self.metric {
            Metric::Mate => found.score,
            Metric::Conversion => {
                let mut child = root.clone();
                child.play_unchecked(found.mv);
                Some(scored(known_value(&child).for_mover()))
            }
        };
        Ok(Found { score, ..found })
    }
}

/// Exact values of moves in plies: [`TableValue::on_scale`]. A position without a table ends them like a
/// depth limit.
#[derive(Clone, Copy, Debug)]
struct TableValues;

impl<P: Position> Reference<P> for TableValues {
    fn move_values(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        values: &mut Vec<(P::Move, i32)>,
    ) -> Result<(), Stop> {
        if value_of(position).is_none() {
            return Err(Stop::Limit(EndedBy::Depth));
        }
        values.clear();
        let mut moves = Vec::new();
        position.legal_moves(&mut moves);
        for mv in moves {
            let child = make_child(position, mv, budget)?;
            values.push((mv, known_value(&child).for_mover().on_scale()));
        }
        Ok(())
    }
}

/// The position as one of chess; `None` for every other game.
pub(super) fn chess<P: Position>(position: &P) -> Option<&Chess> {
    (position as &dyn Any).downcast_ref()
}

fn value_of<P: Position>(position: &P) -> Option<TableValue> {
    tables::value(chess(position)?)
}

const CLOSED: &str = "moves of pieces that a table has lead to such pieces";

/// The value of the position after a move, from a position that has a table.
fn known_value<P: Position>(child: &P) -> TableValue {
    value_of(child).expect(CLOSED)
}

fn scored(value: TableValue) -> i32 {
    match value {
        TableValue::Win { plies } => score::won_in(plies),
        TableValue::Draw => 0,
        TableValue::Loss { plies } => -score::won_in(plies),
    }
}
