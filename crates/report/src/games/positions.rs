//! Positions of games with their scores and results, as trainers of evaluations read them.

use std::collections::HashSet;
use std::io::{self, Write};

use spelrum_engine::games::Chess;
use spelrum_engine::search::WIN_MIN;
use spelrum_engine::{EndedBy, Game as _, Outcome, Side, Termination, replay_moves, written_moves};

use super::{GameView, WriteGames, bulletformat};
use crate::error::{Error, Kind, Result};

/// Which positions are written, of those whose search gave a score that is no win or loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct WhichPositions {
    /// Those before this ply from the opening are left out.
    pub from_ply: u32,
    /// Those with scores beyond it, or below its negative, are left out.
    pub score_max: Option<u32>,
    /// Only those of chess without a check, where the move played neither captures nor promotes.
    pub only_quiet: bool,
    /// Each position once, up to the game's symmetries: where it comes first.
    pub once: bool,
}

/// How a position is written with its score and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionForm {
    /// `POSITION | SCORE | RESULT` in a line, both for the side that moves first from the start of the game.
    Line,
    /// The 32 bytes of bullet's `ChessBoard`, of chess alone.
    Bulletformat,
}

/// Writes positions with their scores and results.
pub struct Positions<W> {
    /// Output.
    pub out: W,
    /// How they are written.
    pub form: PositionForm,
    /// Which are written.
    pub which: WhichPositions,
    /// The keys of those written, if each is written once.
    pub seen: HashSet<u64>,
}

impl<W: Write> Positions<W> {
    fn write_game(&mut self, game: &GameView<'_>) -> io::Result<()> {
        let (Some(played), Some(moves)) = (game.played(), &game.whole.game.moves) else {
            return Ok(());
        };
        // A fault says nothing of the positions before it; who resigns says that the game is lost.
        let termination = played.end.termination;
        if termination.is_forfeit() && termination != Termination::RESIGNATION {
            return Ok(());
        }
        let rules = &game.definition.rules;
        let texts = || moves.iter().map(|record| record.mv.as_str());
        let positions = replay_moves(rules, &played.opening, texts()).map_err(io::Error::other)?;
        let written = if self.which.only_quiet {
            written_moves(rules, &played.opening, texts()).map_err(io::Error::other)?
        } else {
            Vec::new()
        };
        let result = match (played.end.outcome, played.end.first_side) {
            (Outcome::Draw, _) => "0.5",
            (Outcome::Win, Side::First) | (Outcome::Loss, Side::Second) => "1.0",
            (Outcome::Loss, Side::First) | (Outcome::Win, Side::Second) => "0.0",
        };
        for (ply, record) in (0_u32..).zip(moves).skip(self.which.from_ply as usize) {
            let position = &positions[ply as usize];
            let Some(score) = record.search.score else { continue };
            let most = self.which.score_max.unwrap_or(u32::MAX).min(WIN_MIN.unsigned_abs() - 1);
            if score.unsigned_abs() > most || record.search.ended_by == EndedBy::OnlyMove {
                continue;
            }
            if self.which.only_quiet {
                let chess = Chess::parse(rules, &position.position).map_err(io::Error::other)?;
                if chess.is_check() || written[ply as usize].contains(['x', '=']) {
                    continue;
                }
            }
            if self.which.once && !self.seen.insert(record.position_key) {
                continue;
            }
            match self.form {
                PositionForm::Line => {
                    let is_first = position.to_move == Side::First;
                    let score = if is_first { score } else { score.saturating_neg() };
                    writeln!(self.out, "{} | {score} | {result}", position.position)?;
                }
                PositionForm::Bulletformat => {
                    let outcome = match played.end.outcome {
                        Outcome::Draw => Outcome::Draw,
                        outcome if record.mover == 0 => outcome,
                        Outcome::Win => Outcome::Loss,
                        Outcome::Loss => Outcome::Win,
                    };
                    let board = bulletformat::board(&position.position, score, outcome);
                    let board = board.ok_or_else(|| io::Error::other("a board of chess"))?;
                    self.out.write_all(&board)?;
                }
            }
        }
        Ok(())
    }
}

impl<W: Write> WriteGames for Positions<W> {
    fn begin(&mut self, _: &[String]) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, game: &GameView<'_>) -> Result<()> {
        let name = game.definition.rules.name();
        if self.form == PositionForm::Bulletformat && name != Chess::NAME {
            return Err(Error::new(Kind::Input, "write positions")
                .because(format!("they are of {name}, and bulletformat is for chess"))
                .help("use --format positions, which writes those of every game"));
        }
        if self.which.only_quiet && name != Chess::NAME {
            return Err(Error::new(Kind::Input, "choose quiet positions")
                .because(format!("they are of {name}, and captures and checks are of chess"))
                .help("leave --quiet-positions out"));
        }
        Ok(self.write_game(game)?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    fn finish(&mut self) -> Result<()> {
        self.flush()
    }
}
