//! Positions for engines, in their protocols' notation.

use std::sync::Arc;

use spelrum_engine::{
    Game, Parameters, Problem, Protocol, Rules, Side, TextGame, Value, engine_moves, legal_moves,
    parse_engine_move, replay_moves, with_game,
};
use spelrum_external::lines::GameSetup;
use spelrum_external::{Colour, Situation, Start};
use spelrum_worker::{AtBoard, game_setup};

/// Chess: a middlegame, an endgame, and the initial position. The first is in no opening book, so limits are tried on
/// it.
const CHESS: [&str; 3] = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
];
/// Chess960, with castling rights of rooks that are not in corners.
const CHESS960: [&str; 1] = ["bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"];
/// Plies played from the first position in games without a position notation in GTP.
const PLIES: [usize; 3] = [0, 2, 4];
/// The deepest search that is asked for.
pub(super) const DEPTH_MAX: u32 = 4;
/// The number of lines of moves that every engine can look at quickly.
const LINES: usize = 250_000;
/// For random numbers of the player.
const SEED: u64 = 47;

/// A position of a game.
#[derive(Clone, Debug)]
pub(super) struct Board {
    rules: Rules,
    protocol: Protocol,
    /// The start of the game.
    opening: String,
    /// The moves since, in the game's notation, and as sent to the engine from the start of the game.
    moves: Vec<String>,
    sent: Vec<String>,
    to_move: Colour,
    /// For the protocol of lines.
    at_board: Option<AtBoard>,
}

impl Board {
    /// Positions of chess.
    pub(super) fn chess(protocol: Protocol, is_960: bool) -> Vec<Self> {
        let given = Parameters::from([("chess960".to_owned(), Value::Bool(is_960))]);
        let Ok(rules) = Rules::from_parameters("chess", &given) else { return Vec::new() };
        let fens: &[&str] = if is_960 { &CHESS960 } else { &CHESS };
        let board = |fen: &&str| Self {
            rules: rules.clone(),
            protocol,
            opening: (*fen).to_owned(),
            moves: Vec::new(),
            sent: Vec::new(),
            to_move: if fen.contains(" w ") { Colour::White } else { Colour::Black },
            at_board: None,
        };
        fens.iter().map(board).collect()
    }

    /// Positions of each game that engines play over GTP, by game.
    pub(super) fn of_gtp_games() -> Vec<(&'static str, u32, Vec<Self>)> {
        let games = Rules::games().into_iter().filter_map(|game| {
            let board = game.gtp_board.filter(|_| game.protocols.contains(&Protocol::Gtp))?;
            let rules = Rules::from_name(game.name).ok()?;
            let black = board.black;
            let boards = PLIES.into_iter().filter_map(|plies| Self::after(&rules, black, plies));
            Some((game.name, board.size, boards.collect()))
        });
        games.collect()
    }

    /// The position after this many plies, each the first legal move.
    fn after(rules: &Rules, black: Side, plies: usize) -> Option<Self> {
        let opening = start_position(rules)?;
        let mut moves = Vec::new();
        for _ in 0..plies {
            let position = position_after(rules, &opening, &moves).ok()?;
            moves.push(legal_moves(rules, &position).ok()?.into_iter().next()?);
        }
        let sent = engine_moves(rules, &opening, moves.iter().map(String::as_str), Protocol::Gtp);
        let first = if black == Side::First { Colour::Black } else { Colour::White };
        let to_move = if plies.is_multiple_of(2) { first } else { first.opponent() };
        let (rules, protocol) = (rules.clone(), Protocol::Gtp);
        let (sent, at_board) = (sent.ok()??, None);
        Some(Self { rules, protocol, opening, moves, sent, to_move, at_board })
    }

    /// Positions of any game, for a protocol of every game: after a few plies, each the first legal move.
    pub(super) fn of_any_game(rules: &Rules, protocol: Protocol) -> Vec<Self> {
        let boards = PLIES.into_iter().filter_map(|plies| Self::of_game(rules, protocol, plies));
        boards.collect()
    }

    fn of_game(rules: &Rules, protocol: Protocol, plies: usize) -> Option<Self> {
        let opening = start_position(rules)?;
        let mut game = TextGame::new(rules, &opening).ok()?;
        let mut moves = Vec::new();
        for _ in 0..plies {
            let mv = game.legal_moves().into_iter().next()?;
            game.play(&mv).ok()?;
            moves.push(mv);
        }
        if game.ending().is_some() {
            return None;
        }
        let is_first = game.to_move() == Side::First;
        let to_move = if is_first { Colour::White } else { Colour::Black };
        let (rules, sent) = (rules.clone(), moves.clone());
        let at_board = (protocol == Protocol::Lines).then(|| AtBoard::new(game));
        Some(Self { rules, protocol, opening, moves, sent, to_move, at_board })
    }

    /// The game, for the protocol of lines.
    pub(super) fn setup(&self) -> Option<Arc<GameSetup>> {
        self.at_board.as_ref().map(|_| Arc::new(game_setup(&self.rules)))
    }

    /// The board size for GTP.
    pub(super) fn size(&self) -> Option<u32> {
        let board = self.rules.game().gtp_board.filter(|_| self.protocol == Protocol::Gtp);
        board.map(|board| board.size)
    }

    /// A depth that every engine reaches quickly: less where a position has many moves.
    pub(super) fn depth(&self) -> u32 {
        let moves = legal_moves(&self.rules, &self.opening).map_or(1, |moves| moves.len());
        LINES.checked_ilog(moves).unwrap_or(DEPTH_MAX).clamp(1, DEPTH_MAX)
    }

    /// The question to an engine.
    pub(super) fn situation(&self, limits: spelrum_external::Limits) -> Situation<'_> {
        let start = match (&self.at_board, self.size()) {
            (Some(at_board), _) => Start::Any(at_board.for_request(&self.opening, SEED)),
            // Over UGI, sweeps send both.
            (None, None) if self.protocol == Protocol::Ugi && self.moves.is_empty() => Start::Usual,
            (None, None) => Start::Fen(&self.opening),
            (None, Some(size)) => {
                let is_even = self.moves.len().is_multiple_of(2);
                let first = if is_even { self.to_move } else { self.to_move.opponent() };
                Start::Board { size, first }
            }
        };
        Situation { start, moves: &self.sent, to_move: self.to_move, limits, clock: None }
    }

    /// Whether an engine's answer is a legal move.
    pub(super) fn is_legal(&self, text: &str) -> bool {
        let moves = || self.moves.iter().map(String::as_str);
        let is_legal =
            |mv: &str| replay_moves(&self.rules, &self.opening, moves().chain([mv])).is_ok();
        match self.protocol {
            Protocol::Lines | Protocol::Ugi => is_legal(text),
            Protocol::Uci | Protocol::Gtp | Protocol::Xboard => {
                parse_engine_move(&self.rules, &self.opening, moves(), text, self.protocol)
                    .is_ok_and(|mv| is_legal(&mv))
            }
        }
    }

    /// The position, for people.
    pub(super) fn shown(&self) -> String {
        position_after(&self.rules, &self.opening, &self.moves).unwrap_or_default()
    }
}

fn start_position(rules: &Rules) -> Option<String> {
    fn typed<G: Game>(rules: &Rules) -> Option<String> {
        Some(G::start(rules).ok()?.to_string())
    }
    with_game!(rules, G => typed::<G>(rules))
}

fn position_after(rules: &Rules, opening: &str, moves: &[String]) -> Result<String, Problem> {
    let positions = replay_moves(rules, opening, moves.iter().map(String::as_str))?;
    Ok(positions.last().map_or_else(String::new, |position| position.position.clone()))
}

#[cfg(test)]
mod tests {
    use spelrum_external::Limits;

    use super::*;

    #[test]
    fn all_positions_have_legal_moves() {
        let mut boards =
            [Board::chess(Protocol::Uci, false), Board::chess(Protocol::Uci, true)].concat();
        assert_eq!(boards.len(), 4);
        let games = Board::of_gtp_games();
        let names: Vec<_> = games.iter().map(|(name, size, _)| (*name, *size)).collect();
        assert!(names.contains(&("pentago", 6)) && names.contains(&("othello", 8)), "{names:?}");
        let expected = boards.len() + PLIES.len() * games.len();
        boards.extend(games.into_iter().flat_map(|(_, _, boards)| boards));
        assert_eq!(boards.len(), expected);
        for game in Rules::games() {
            let rules = Rules::from_name(game.name).unwrap();
            let [in_lines, over_ugi] = [Protocol::Lines, Protocol::Ugi]
                .map(|protocol| Board::of_any_game(&rules, protocol));
            assert!(in_lines.len() >= 2 && in_lines[0].setup().is_some(), "{}", game.name);
            assert!(over_ugi.len() >= 2 && over_ugi[0].setup().is_none(), "{}", game.name);
            let starts = over_ugi.iter().map(|board| board.situation(Limits::default()).start);
            let usual: Vec<_> = starts.map(|start| matches!(start, Start::Usual)).collect();
            assert!(usual[0] && !usual[1], "{}", game.name);
            boards.extend(in_lines.into_iter().chain(over_ugi));
        }
        for board in boards {
            let moves = legal_moves(&board.rules, &board.shown()).unwrap();
            assert!(!moves.is_empty(), "{}", board.shown());
            if board.protocol.is_of_every_game() {
                assert!(moves.iter().all(|mv| board.is_legal(mv)), "{}", board.shown());
            }
            assert!(!board.is_legal("a1a1"), "{}", board.shown());
        }
    }

    #[test]
    fn games_of_many_moves_are_searched_less_deep() {
        let depths = ["tic-tac-toe", "chess", "pentago"].map(|game| {
            let rules = Rules::from_name(game).unwrap();
            Board::of_any_game(&rules, Protocol::Ugi)[0].depth()
        });
        assert_eq!(depths, [4, 4, 2]);
    }

    #[test]
    fn castling_is_understood() {
        let boards = Board::chess(Protocol::Uci, false);
        assert!(boards[0].is_legal("e1g1") && boards[0].is_legal("e1h1"));
        assert!(!boards[0].is_legal("O-O"));
        let over_xboard = Board::chess(Protocol::Xboard, false);
        assert!(["e1g1", "e1h1", "O-O", "Nxd7"].iter().all(|mv| over_xboard[0].is_legal(mv)));
        let from_b1 = "4k3/8/8/8/8/8/8/1K3R2 w F - 0 1".to_owned();
        let board = Board { opening: from_b1, ..Board::chess(Protocol::Uci, true).remove(0) };
        assert!(board.is_legal("b1f1") && !board.is_legal("b1g1"));
    }
}
