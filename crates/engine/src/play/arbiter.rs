//! Playing one game: a pure function of its setup, and of the clock if a limit is a time.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::core::host::Host;
use crate::core::limits::MemoryRefused;
use crate::core::position::{Before, Ending, Line, Side};
use crate::core::problem::Problem;
use crate::core::rules::Rules;
use crate::core::termination::Termination;
use crate::games::game::Game;
use crate::network::{self, TrainError};
use crate::play::adjudication::{Adjudication, Adjudicator};
use crate::play::clock::Reading;
use crate::play::notation::opening_position;
use crate::play::player::Player;
use crate::play::records::{GameRecord, MoveRecord, Outcome};
use crate::play::seat::{
    Answer, ExternalPlayer, ExternalSeat, Fault, SearchSeat, Seat, Turn, seat_of,
};
use crate::tables;
use crate::with_game;

/// Everything that determines a game between two built-in players.
#[derive(Clone, Copy, Debug)]
pub struct GameSetup<'a> {
    /// The game and its rules.
    pub rules: &'a Rules,
    /// The position the game starts from, in the game's notation.
    pub opening: &'a str,
    /// The player who moves first from the opening, and the other.
    pub players: [&'a Player; 2],
    /// The ChaCha8 keys of their random numbers, in the same order.
    pub keys: [[u8; 32]; 2],
    /// A game that is still going on after this many plies from the opening is a draw.
    pub max_plies: Option<u32>,
    /// The scores or tables by which a game ends early.
    pub adjudication: Option<Adjudication>,
    /// For a replay: the node count at which the clock stopped each move's search, `None` for a
    /// move that ended otherwise. The clock is then not read for time limits. A count beyond those
    /// of a search has no effect. A player bounded by time that must move after the last of them loses
    /// on time, as in the recorded game: nothing else ended it there.
    pub stops: Option<&'a [Option<u64>]>,
}

/// The setup of a game without its players.
#[derive(Clone, Copy, Debug)]
pub struct Board<'a> {
    /// The game and its rules.
    pub rules: &'a Rules,
    /// The position the game starts from, in the game's notation.
    pub opening: &'a str,
    /// A game that is still going on after this many plies from the opening is a draw.
    pub max_plies: Option<u32>,
    /// The scores or tables by which a game ends early.
    pub adjudication: Option<Adjudication>,
}

/// A player of either kind.
pub enum Participant<'a> {
    /// A built-in player.
    Player {
        /// The player.
        player: &'a Player,
        /// The ChaCha8 key of its random numbers.
        key: [u8; 32],
    },
    /// Any other player, such as an external engine or a person.
    External(&'a mut dyn ExternalPlayer),
}

/// Why a game has no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    /// The host or the watcher stopped the game.
    #[error("the game was aborted")]
    Aborted,
    /// The opening is not a position of this game, or is already over.
    #[error("failed to read the opening: {0}")]
    Opening(#[from] Problem),
    /// A player was made for the rules of another game.
    #[error(
        "failed to play: a player was made for another game; make players and game from the same rules"
    )]
    OtherGame,
    /// An external engine without an [`ExternalPlayer`] here.
    #[error("failed to play: `{0}` is an external engine, which plays in sweeps alone")]
    NotOurs(String),
    /// A player did not get the memory that one of its parameters asks for.
    #[error("failed to play: {}; {}", .0, .0.remedy())]
    Memory(MemoryRefused),
    /// The network of a player could not be trained.
    #[error("failed to play: a player's network: {0}")]
    Network(TrainError),
}

/// Trains the network of a player that has one, so that its first move does not take that time.
pub(crate) fn prepare(player: &Player, host: &dyn Host) -> Result<(), PlayError> {
    network::prepare(player.parameters(), host).map_err(|error| match error {
        TrainError::Aborted => PlayError::Aborted,
        error @ (TrainError::Diverged { .. } | TrainError::TooFewPositions { .. }) => {
            PlayError::Network(error)
        }
    })
}

/// Plays one game between two built-in players. The thread needs
/// [`STACK_BYTES`](crate::search::STACK_BYTES) of stack.
///
/// # Errors
/// If the opening cannot be played from, a player was made for another game, or the host aborts.
pub fn play_game(setup: &GameSetup<'_>, host: &dyn Host) -> Result<GameRecord, PlayError> {
    play_watched(setup, host, &mut |_| ControlFlow::Continue(()))
}

/// As [`play_game`], with a callback after each move, which may abort the game.
///
/// # Errors
/// As [`play_game`], or if the callback ends the game.
pub fn play_watched(
    setup: &GameSetup<'_>,
    host: &dyn Host,
    watch: Watch<'_>,
) -> Result<GameRecord, PlayError> {
    with_game!(setup.rules, G => {
        let board = Board {
            rules: setup.rules,
            opening: setup.opening,
            max_plies: setup.max_plies,
            adjudication: setup.adjudication,
        };
        let seat = |index: usize| {
            let player = setup.players[index];
            prepare(player, host)?;
            SearchSeat::<G>::new(player, setup.keys[index], setup.stops)
                .ok_or_else(|| no_seat(player))
        };
        let (mut first, mut second) = (seat(0)?, seat(1)?);
        arbitrate(&board, [&mut first, &mut second], host, watch)
    })
}

/// Plays one game between players of any kind: the one that moves first from the opening, and the
/// other.
///
/// # Errors
/// As [`play_watched`].
pub fn play_between(
    board: &Board<'_>,
    participants: [Participant<'_>; 2],
    host: &dyn Host,
    watch: Watch<'_>,
) -> Result<GameRecord, PlayError> {
    with_game!(board.rules, G => {
        let [first, second] = participants;
        let (mut first, mut second) = (seated::<G>(first, host)?, seated::<G>(second, host)?);
        arbitrate(board, [&mut *first, &mut *second], host, watch)
    })
}

fn seated<'a, G: Game>(
    participant: Participant<'a>,
    host: &dyn Host,
) -> Result<Box<dyn Seat<G> + 'a>, PlayError> {
    Ok(match participant {
        Participant::Player { player, key } => {
            prepare(player, host)?;
            seat_of(player, key).ok_or_else(|| no_seat(player))?
        }
        Participant::External(player) => Box::new(ExternalSeat(player)),
    })
}

/// The reason for which a player has no seat in a game.
pub(crate) fn no_seat(player: &Player) -> PlayError {
    match player.external() {
        Some(rules) => PlayError::NotOurs(rules.engine.clone()),
        None => PlayError::OtherGame,
    }
}

/// Called after each move of a game with all moves so far: it cannot change them, but it can end the
/// game. Its time is the next player's.
pub type Watch<'w> = &'w mut dyn FnMut(&[MoveRecord]) -> ControlFlow<()>;

/// Plays one game between two seats: the one that moves first from the opening, and the other.
///
/// The arbiter checks every move. It ends the game by the rules, by tables or the players' scores
/// ([`Adjudication`]), or at the greatest number of plies, in this order, and awards it to the other side if
/// a seat has a [`Fault`] or exceeds its time ([`Seat::forfeits_after`]). The losing move is then not
/// recorded. A move's times run from the call of its seat to the making of its record, unless the seat
/// reports its wall time ([`Seat::measured_time`]). A seat that thinks elsewhere has the processor time that it
/// reports ([`Seat::measured_cpu_time`]), or 0.
///
/// # Errors
/// If the opening cannot be played from, or the host or the watcher ends the game.
pub fn arbitrate<G: Game>(
    board: &Board<'_>,
    seats: [&mut dyn Seat<G>; 2],
    host: &dyn Host,
    watch: Watch<'_>,
) -> Result<GameRecord, PlayError> {
    let mut position: G = opening_position(board.rules, board.opening)?;
    let first_side = position.to_move();
    let plies_max = board.max_plies.map_or(usize::MAX, |plies| plies as usize);
    let mut adjudicator = Adjudicator::new(board.adjudication);
    let is_ended_by_tables = board.adjudication.is_some_and(|rule| rule.tables);
    let syzygy = board.adjudication.and_then(|rule| rule.syzygy);
    let mut adjudicated = None;
    let mut before: Vec<Before<G::Move>> = Vec::new();
    let mut moves: Vec<MoveRecord> = Vec::new();
    let started = Reading::take(host);
    let mut turn_started = started;
    let ending = loop {
        let line = Line { position: &position, before: &before };
        if let Some(ending) = line.ending() {
            break ending;
        }
        if let Some(ending) = adjudicated {
            break ending;
        }
        if moves.len() >= plies_max {
            break Ending { winner: None, termination: Termination::MAX_PLIES };
        }
        let side = position.to_move();
        let mover = usize::from(side != first_side);
        let (rules, opening) = (board.rules, board.opening);
        let turn = Turn { rules, opening, line, moves: &moves, mover: u8::from(mover == 1) };
        let answer = seats[mover].choose(&turn, host).and_then(|answer| legal(&position, answer));
        let Answer { mv, search } = match answer {
            Ok(answer) => answer,
            Err(fault) => break forfeit(side, &fault)?,
        };
        let mut record = MoveRecord {
            mover: u8::from(mover == 1),
            mv: mv.to_string(),
            position_key: position.canonical_key(),
            legal_moves: position.legal_move_count(),
            search,
            wall_us: 0,
            cpu_us: 0,
            involuntary_switches: None,
            remarks: None,
        };
        let mut now = Reading::take(host);
        (record.wall_us, record.cpu_us) = now.since(turn_started);
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        if seats[mover].thinks_here() {
            record.involuntary_switches = now.switches_since(turn_started);
        } else {
            record.cpu_us = seats[mover].measured_cpu_time().map_or(0, us);
            record.remarks = seats[mover].remarks();
        }
        if let Some(took) = seats[mover].measured_time() {
            record.wall_us = us(took);
        }
        let allowed_us = seats[mover].forfeits_after().map(|allowed| allowed.as_micros());
        if allowed_us.is_some_and(|allowed_us| u128::from(record.wall_us) > allowed_us) {
            break forfeit(side, &Fault::OutOfTime(format!("{} µs", record.wall_us)))?;
        }
        if search.depth > 0
            && let Some(leaves) = position.full_tree_leaves(search.depth)
        {
            // Not charged to the next player.
            record.search.full_tree_leaves = leaves;
            now = Reading::take(host);
        }
        turn_started = now;
        let score = record.search.score;
        before.push(Before { mv, key: record.position_key });
        position.play_unchecked(mv);
        moves.push(record);
        if watch(&moves).is_break() {
            return Err(PlayError::Aborted);
        }
        let is_irreversible = position.is_after_irreversible_move();
        adjudicated = adjudicator.after_move(side, score, is_irreversible);
        let by_exact_table = || is_ended_by_tables.then(|| tables::ending(&position)).flatten();
        let by_syzygy = || {
            let rule = syzygy?;
            let text = tables::syzygy_position(&position, rule.pieces)?;
            host.syzygy_ending(&text, rule.fifty_moves).filter(|ending| rule.covers(ending))
        };
        adjudicated = by_exact_table().or_else(by_syzygy).or(adjudicated);
        if is_ended_by_tables || syzygy.is_some() {
            // Making or reading a table is not charged to the next player.
            turn_started = Reading::take(host);
        }
    };
    let outcome = match ending.winner {
        None => Outcome::Draw,
        Some(winner) if winner == first_side => Outcome::Win,
        Some(_) => Outcome::Loss,
    };
    // A game that ended otherwise is unfinished by its rules, and has no margin.
    let margin =
        position.margin().map(|ahead| if first_side == Side::First { ahead } else { -ahead });
    let (wall_us, _) = turn_started.since(started);
    let termination = ending.termination;
    Ok(GameRecord { outcome, margin, termination, first_side, moves, wall_us })
}

fn legal<G: Game>(position: &G, answer: Answer<G::Move>) -> Result<Answer<G::Move>, Fault> {
    if position.is_legal(answer.mv) {
        Ok(answer)
    } else {
        Err(Fault::IllegalMove(format!("`{}` in `{position}`", answer.mv)))
    }
}

/// The end of a game that a side lost by its own fault.
fn forfeit(side: Side, fault: &Fault) -> Result<Ending, PlayError> {
    let termination = match fault {
        Fault::IllegalMove(_) => Termination::ILLEGAL_MOVE,
        Fault::Crash(_) => Termination::CRASH,
        Fault::OutOfTime(_) => Termination::TIME_FORFEIT,
        Fault::Stall(_) => Termination::STALL,
        Fault::Resignation(_) => Termination::RESIGNATION,
        Fault::Aborted => return Err(PlayError::Aborted),
        Fault::Memory(refused) => return Err(PlayError::Memory(*refused)),
    };
    Ok(Ending { winner: Some(side.other()), termination })
}
