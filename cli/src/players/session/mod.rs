//! A game between a person and a player, as lines of text: no terminal, no clock of its own.
//!
//! The state consists of the moves played. Each search starts afresh from its position, with random numbers derived
//! from the seed, the game and the ply, so that taking a move back takes back everything.

mod moves;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use spelrum_engine::{
    Analysis, Game, Host, PlayError, Played, Player, Rules, Side, Value, analyze, nearest,
};
use spelrum_report::text::{count, duration_us, ended_by_text, score_text};

use crate::players::built_in::key_of_seed;

/// The commands, by the words that a suggestion can name.
const COMMANDS: [&str; 10] =
    ["help", "moves", "hint", "view", "go", "undo", "board", "position", "new", "quit"];

const COMMANDS_HELP: &str = "\
moves      the legal moves
hint       what a player would do here
view       what the opponent thinks of the position: score, depth, nodes, best move
go         let a player make your move
undo       take back your last move and the reply to it
board      draw the board again
position   the position in the game's notation, as `spelrum analyze --position` takes it
new        another game
quit       end; so does the end of the input";

/// Longer lines contain no move, and are not repeated to the user.
const LINE_CHARACTERS_MAX: usize = 40;

/// A person's game against a player, and the games after it.
pub(crate) struct Session<P: Game> {
    setup: Setup<P>,
    played: Played<P>,
    /// The number of previous games.
    games: u64,
}

/// Settings that stay the same from game to game.
pub(crate) struct Setup<P> {
    /// The game's rules.
    pub(crate) rules: Rules,
    /// The position where games start; not over.
    pub(crate) start: P,
    /// The person's opponent.
    pub(crate) opponent: Player,
    /// The player that gives hints.
    pub(crate) adviser: Player,
    /// The seed of the players' random numbers.
    pub(crate) seed: u64,
    /// Whether the person moves first from the start.
    pub(crate) person_begins: bool,
}

/// The answer to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The text to print: empty, or whole lines.
    pub(crate) text: String,
    /// Whether the session continues.
    pub(crate) goes_on: bool,
}

impl<P: Game> Session<P> {
    /// A session before its first game.
    pub(crate) fn new(setup: Setup<P>) -> Self {
        let played = Played::from_start(setup.start.clone());
        Self { setup, played, games: 0 }
    }

    /// Begins the first game and returns the text to print before the first line is read.
    ///
    /// # Errors
    /// If the host aborts.
    pub(crate) fn begin(&mut self, host: &dyn Host) -> Result<String, PlayError> {
        let mut text = format!(
            "You play {} against {}, moving {}. `help` tells how.\n",
            self.setup.rules.name(),
            algorithm(&self.setup.opponent),
            if self.setup.person_begins { "first" } else { "second" },
        );
        self.reply(&mut text, host)?;
        Ok(text)
    }

    /// The prompt, with the side to move.
    pub(crate) fn prompt(&self) -> String {
        if self.position().is_over() {
            return "the game is over> ".to_owned();
        }
        format!("{} to move> ", self.side_to_move())
    }

    /// Takes a line: a command or a move. An invalid line changes nothing.
    ///
    /// # Errors
    /// If the host aborts a search; then nothing has changed.
    pub(crate) fn line(&mut self, line: &str, host: &dyn Host) -> Result<Answer, PlayError> {
        // Accepts `c3 2r` for `c3-2r`.
        let word = line.split_whitespace().collect::<Vec<_>>().join("-").to_lowercase();
        let text = match word.as_str() {
            "" => String::new(),
            "help" | "?" => self.help(),
            "moves" => moves::listed(&self.position()),
            "hint" => self.hint(host)?,
            "view" | "eval" => self.view(host)?,
            "go" => self.go(host)?,
            "undo" => self.undo(),
            "board" => self.board(),
            "position" => format!("{}\n", self.position()),
            "new" => self.another(host)?,
            "quit" | "exit" => return Ok(Answer { text: String::new(), goes_on: false }),
            mv => self.person_moves(mv, host)?,
        };
        Ok(Answer { text, goes_on: true })
    }

    /// Plays the next move of a game in which the adviser replaces the person. Returns the text to print, or `None`
    /// after the last move.
    ///
    /// # Errors
    /// If the host aborts.
    pub(crate) fn watch(&mut self, host: &dyn Host) -> Result<Option<String>, PlayError> {
        if self.position().is_over() {
            return Ok(None);
        }
        let player = match self.is_persons_turn() {
            true => self.setup.adviser.clone(),
            false => self.setup.opponent.clone(),
        };
        let side = self.side_to_move();
        let mv = self.player_moves(&player, host)?;
        let board = self.position().board();
        Ok(Some(format!("{} ({side}) plays {mv}.\n\n{}\n\n", algorithm(&player), board.trim_end())))
    }

    fn position(&self) -> P {
        self.played.last()
    }

    /// The game's name for the side: the board's last line begins with it.
    fn side_to_move(&self) -> String {
        P::side_name(self.position().to_move()).to_owned()
    }

    fn is_persons_turn(&self) -> bool {
        self.position().to_move() == self.person()
    }

    fn person(&self) -> Side {
        let first = self.setup.start.to_move();
        if self.setup.person_begins { first } else { first.other() }
    }

    fn help(&self) -> String {
        format!("{}\n\n{COMMANDS_HELP}\n", P::explain(&self.setup.rules))
    }

    fn hint(&self, host: &dyn Host) -> Result<String, PlayError> {
        if self.position().is_over() {
            return Ok(over());
        }
        let found = self.search(&self.setup.adviser, host)?;
        Ok(format!("{} would play {}.\n", algorithm(&self.setup.adviser), found.best_move))
    }

    fn view(&self, host: &dyn Host) -> Result<String, PlayError> {
        if self.position().is_over() {
            return Ok(over());
        }
        let found = self.search(&self.setup.opponent, host)?;
        let search = &found.search;
        Ok(format!(
            "best move    {} (of {})\nscore        {}\ndepth        {} (ended by {})\n\
             nodes        {}\nevaluations  {}\ntime         {}\n",
            found.best_move,
            found.legal_moves,
            score_text(search.score),
            search.depth,
            ended_by_text(search.ended_by),
            count(search.nodes),
            count(search.evaluations),
            duration_us(found.wall_us as f64),
        ))
    }

    fn go(&mut self, host: &dyn Host) -> Result<String, PlayError> {
        if self.position().is_over() {
            return Ok(over());
        }
        let before = self.played.moves.len();
        let adviser = self.setup.adviser.clone();
        let mv = self.player_moves(&adviser, host)?;
        let mut text = format!("{} plays {mv} for you.\n", algorithm(&adviser));
        self.reply_or_take_back(before, &mut text, host)?;
        Ok(text)
    }

    /// Goes back to the person's previous turn.
    fn undo(&mut self) -> String {
        let person = self.person();
        let mut position = self.setup.start.clone();
        let mut back_to = None;
        for (ply, &mv) in self.played.moves.iter().enumerate() {
            if position.to_move() == person {
                back_to = Some(ply);
            }
            position.play_unchecked(mv);
        }
        match back_to {
            None => "There is no move of yours to take back.\n".to_owned(),
            Some(ply) => {
                self.played.moves.truncate(ply);
                self.board()
            }
        }
    }

    fn another(&mut self, host: &dyn Host) -> Result<String, PlayError> {
        let moves = std::mem::take(&mut self.played.moves);
        self.games += 1;
        let mut text = String::new();
        match self.reply(&mut text, host) {
            Ok(()) => Ok(text),
            Err(aborted) => {
                self.played.moves = moves;
                self.games -= 1;
                Err(aborted)
            }
        }
    }

    fn person_moves(&mut self, text: &str, host: &dyn Host) -> Result<String, PlayError> {
        let position = self.position();
        if position.is_over() {
            return Ok(over());
        }
        match self.legal_move(&position, text) {
            Err(problem) => Ok(problem),
            Ok(mv) => {
                let before = self.played.moves.len();
                self.played.moves.push(mv);
                let mut text = String::new();
                self.reply_or_take_back(before, &mut text, host)?;
                Ok(text)
            }
        }
    }

    /// The move, or what is wrong with it and the nearest legal ones.
    fn legal_move(&self, position: &P, text: &str) -> Result<P::Move, String> {
        if text.chars().count() > LINE_CHARACTERS_MAX {
            return Err("That is neither a move nor a command; `help` tells how.\n".to_owned());
        }
        let problem = match position.parse_move(text) {
            Ok(mv) if position.is_legal(mv) => return Ok(mv),
            Ok(_) => format!("`{text}` is not legal here."),
            Err(error) => {
                if let Some(command) = nearest(text, COMMANDS) {
                    return Err(format!(
                        "There is no command `{text}`. Did you mean `{command}`?\n"
                    ));
                }
                format!("{}. `help` tells how moves are written.", error.what)
            }
        };
        Err(format!("{problem}\nThe nearest legal moves: {}\n", moves::nearest_to(position, text)))
    }

    /// Lets the opponent reply; if the host aborts, takes back the person's move.
    fn reply_or_take_back(
        &mut self,
        before: usize,
        text: &mut String,
        host: &dyn Host,
    ) -> Result<(), PlayError> {
        self.reply(text, host).inspect_err(|_| self.played.moves.truncate(before))
    }

    /// Lets the opponent move until the person's turn, and draws the board.
    fn reply(&mut self, text: &mut String, host: &dyn Host) -> Result<(), PlayError> {
        let opponent = self.setup.opponent.clone();
        while !self.position().is_over() && !self.is_persons_turn() {
            let mv = self.player_moves(&opponent, host)?;
            let _infallible = writeln!(text, "{} plays {mv}.", algorithm(&opponent));
        }
        text.push_str(&self.board());
        Ok(())
    }

    /// Plays a player's move in a position that is not over.
    fn player_moves(&mut self, player: &Player, host: &dyn Host) -> Result<P::Move, PlayError> {
        let found = self.search(player, host)?;
        let mv = self.position().parse_move(&found.best_move)?;
        self.played.moves.push(mv);
        Ok(mv)
    }

    fn search(&self, player: &Player, host: &dyn Host) -> Result<Analysis, PlayError> {
        let position = self.position().to_string();
        analyze(&self.setup.rules, &position, player, self.key(), host)
    }

    /// The key of the seed, as in `spelrum analyze`, with the ply and the game appended.
    fn key(&self) -> [u8; 32] {
        let mut key = key_of_seed(self.setup.seed);
        key[8..16].copy_from_slice(&(self.played.moves.len() as u64).to_le_bytes());
        key[16..24].copy_from_slice(&self.games.to_le_bytes());
        key
    }

    /// The board, and the result if the game is over; the prompt shows the side to move.
    fn board(&self) -> String {
        let position = self.position();
        let board = position.board();
        let Some(ending) = position.ending() else {
            return format!("\n{}\n\n", without_turn(&board));
        };
        let verdict = match ending.winner {
            None => "A draw",
            Some(winner) if winner == self.person() => "You win",
            Some(_) => "You lose",
        };
        format!("\n{}\n\n{verdict}: {}.\n", without_turn(&board), ending.termination.words())
    }
}

/// A board without its last line.
fn without_turn(board: &str) -> &str {
    board.trim_end().rsplit_once('\n').map_or("", |(board, _)| board)
}

fn over() -> String {
    "The game is over: `undo` takes your last move back, `new` begins another game.\n".to_owned()
}

/// A player's algorithm name.
fn algorithm(player: &Player) -> &str {
    match player.parameters().get("algorithm") {
        Some(Value::Text(name)) => name,
        _ => "the player",
    }
}
