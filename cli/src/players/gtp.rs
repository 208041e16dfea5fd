//! A built-in player as a GTP engine.
//!
//! Farnebäck, *Specification of the Go Text Protocol, version 2, draft 2* (2002), with each game's own moves. Takes
//! lines and returns answers; transport is the caller's concern.

use spelrum_engine::{
    Before, Game, GtpBoard, KeyProblem, Line, ParameterDefault, ParameterInfo, Parameters, Player,
    Problem, Protocol, Rules, Seat, Side, Turn, Value, seat_of,
};

use crate::local::clock::Clock;
use crate::players::built_in;

/// The supported commands and what each does.
const COMMANDS: &[(&str, &str)] = &[
    ("protocol_version", "2"),
    ("name", "who it is"),
    ("version", "which release"),
    ("known_command", "COMMAND: whether the command is known"),
    ("list_commands", "these"),
    ("help", "all commands, with what they do"),
    ("quit", "ends"),
    ("boardsize", "N: the game's, the only one"),
    ("clear_board", "begins a game"),
    ("play", "COLOUR MOVE: makes a move sent by the controller"),
    ("genmove", "COLOUR: moves for the side to move"),
    ("undo", "N: takes back the last N moves, or one"),
    ("showboard", "the board"),
    ("winner", "white, black, draw or none"),
    ("final_score", "by how much, as W+3, B+1 or 0"),
    ("all_legal", "every legal move"),
    ("set", "NAME VALUE: a parameter of the player, such as `set depth 3`"),
    ("parameters", "those that there are, with their values"),
];

/// The answer to a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The text to print, with all line ends; empty for a line without a command.
    pub(crate) text: String,
    /// Whether the controller asked to quit.
    pub(crate) is_last: bool,
}

/// The word for a pass, in games that allow passing.
const PASS: &str = "pass";

/// A player and its game.
pub(crate) struct GtpPlayer<G: Game> {
    name: String,
    rules: Rules,
    /// The parameters as given.
    given: Parameters,
    key: [u8; 32],
    board: GtpBoard,
    positions: Vec<G>,
    before: Vec<Before<G::Move>>,
    /// For each move, whether a controller sent or received it; false for a pass inferred from the move after it.
    is_explicit: Vec<bool>,
    /// Kept between moves, with everything it has learnt.
    seat: Option<Box<dyn Seat<G>>>,
}

impl<G: Game> GtpPlayer<G> {
    /// Starts a game with a sweep's parameters; a search limit is not required yet.
    ///
    /// # Errors
    /// If the parameters are not a player's, or the game cannot be played over GTP.
    pub(crate) fn new(
        algorithm: &str,
        given: Parameters,
        rules: Rules,
        key: [u8; 32],
    ) -> Result<Self, KeyProblem> {
        let name = format!("Spelrum {algorithm}");
        let start = G::start(&rules).map_err(|problem| problem.moved_to(None))?;
        let Some(board) = G::GTP_BOARD else {
            return Err(Problem::at(
                None,
                format!("{} is not played over GTP", G::NAME),
                "choose a game that is",
            ));
        };
        let player = Self {
            name,
            rules,
            given,
            key,
            board,
            positions: vec![start],
            before: Vec::new(),
            is_explicit: Vec::new(),
            seat: None,
        };
        // A limit may still be set; other errors are reported at once.
        match player.player() {
            Err(error) if error.place.is_some() => Err(error),
            Ok(_) | Err(_) => Ok(player),
        }
    }

    fn player(&self) -> Result<Player, KeyProblem> {
        Player::from_parameters(&self.rules, &self.given)
    }

    fn position(&self) -> &G {
        self.positions.last().unwrap_or_else(|| unreachable!("the start is always there"))
    }

    /// Executes a line.
    pub(crate) fn execute(&mut self, line: &str) -> Reply {
        let line: String = line
            .chars()
            .map(|character| if character == '\t' { ' ' } else { character })
            .filter(|character| !character.is_control())
            .collect();
        let line = line.split('#').next().unwrap_or_default();
        let mut tokens = line.split_whitespace().peekable();
        let id = tokens.next_if(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(command) = tokens.next() else {
            return Reply { text: String::new(), is_last: false };
        };
        let arguments: Vec<&str> = tokens.collect();
        let answer = self.command(command, &arguments);
        let (mark, text) = match &answer {
            Ok(text) => ('=', text.as_str()),
            Err(problem) => ('?', problem.as_str()),
        };
        let id = id.unwrap_or_default();
        let gap = if text.is_empty() { "" } else { " " };
        Reply { text: format!("{mark}{id}{gap}{text}\n\n"), is_last: command == "quit" }
    }

    fn command(&mut self, command: &str, arguments: &[&str]) -> Result<String, String> {
        match command {
            "protocol_version" => Ok("2".to_owned()),
            "name" => Ok(self.name.clone()),
            "version" => Ok(env!("CARGO_PKG_VERSION").to_owned()),
            "known_command" => {
                let is_known = |(name, _): &(&str, &str)| arguments.first() == Some(name);
                Ok(COMMANDS.iter().any(is_known).to_string())
            }
            "list_commands" => {
                Ok(COMMANDS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("\n"))
            }
            "help" => {
                let lines = COMMANDS.iter().map(|(name, does)| format!("{name}: {does}"));
                Ok(lines.collect::<Vec<_>>().join("\n"))
            }
            "quit" => Ok(String::new()),
            "boardsize" => match arguments {
                [size] if size.parse() == Ok(self.board.size) => Ok(String::new()),
                _ => Err("unacceptable size".to_owned()),
            },
            "clear_board" => {
                self.take_back_to(0);
                self.seat = None;
                Ok(String::new())
            }
            "play" => self.play(arguments),
            "genmove" => self.genmove(arguments),
            "undo" => self.undo(arguments),
            "showboard" => Ok(format!("\n{}", self.position().board())),
            "winner" => Ok(self.winner().to_owned()),
            "final_score" => Ok(self.final_score()),
            "all_legal" => Ok(self.all_legal()),
            "set" => self.set(arguments),
            "parameters" => Ok(self.parameters()),
            _ => Err("unknown command".to_owned()),
        }
    }

    fn play(&mut self, arguments: &[&str]) -> Result<String, String> {
        let &[colour, text] = arguments else {
            return Err("write a colour and a move".to_owned());
        };
        let side = self.side(colour)?;
        // After the end, controllers may repeat the player's own last answer.
        let is_over = self.board.has_passes && self.position().is_over();
        if is_over && text.eq_ignore_ascii_case(PASS) {
            return Ok(String::new());
        }
        self.on_turn_of(side, |player| player.apply_move(text))
    }

    /// Makes a move sent by the controller.
    fn apply_move(&mut self, text: &str) -> Result<String, String> {
        let mv =
            self.position().parse_engine_move(text, Protocol::Gtp).map_err(|error| error.what)?;
        if !self.position().is_legal(mv) {
            return Err("illegal move".to_owned());
        }
        self.make(mv, true);
        Ok(String::new())
    }

    fn side(&self, colour: &str) -> Result<Side, String> {
        match colour.to_ascii_lowercase().as_str() {
            "w" | "white" => Ok(self.board.black.other()),
            "b" | "black" => Ok(self.board.black),
            _ => Err("the colours are white and black".to_owned()),
        }
    }

    /// Runs an action on a side's turn, inferring a pass of the other side if needed. On failure the game is
    /// unchanged.
    fn on_turn_of(
        &mut self,
        side: Side,
        act: impl FnOnce(&mut Self) -> Result<String, String>,
    ) -> Result<String, String> {
        let count = self.before.len();
        self.pass_for(side);
        let answer = if self.position().to_move() == side {
            act(self)
        } else {
            Err("it is the other side's turn".to_owned())
        };
        if answer.is_err() {
            self.take_back_to(count);
        }
        answer
    }

    /// Passes for the other side if it has no other move: some controllers never send passes.
    fn pass_for(&mut self, side: Side) {
        let position = self.position();
        if position.to_move() != side && position.legal_move_count() == 1 {
            let mv = position.nth_legal_move(0);
            if move_text::<G>(mv) == PASS {
                self.make(mv, false);
            }
        }
    }

    fn make(&mut self, mv: G::Move, is_explicit: bool) {
        let mut position = self.position().clone();
        self.before.push(Before { mv, key: position.canonical_key() });
        self.is_explicit.push(is_explicit);
        position.play_unchecked(mv);
        self.positions.push(position);
    }

    /// Takes back moves until `count` are left.
    fn take_back_to(&mut self, count: usize) {
        self.before.truncate(count);
        self.is_explicit.truncate(count);
        self.positions.truncate(count + 1);
    }

    /// Follows each game's existing engines: in games without passes, the colour is ignored and the side to move
    /// plays.
    fn genmove(&mut self, arguments: &[&str]) -> Result<String, String> {
        if self.position().is_over() {
            return Ok(if self.board.has_passes { PASS } else { "resign" }.to_owned());
        }
        if let (true, [colour, ..]) = (self.board.has_passes, arguments) {
            let side = self.side(colour)?;
            return self.on_turn_of(side, Self::choose);
        }
        self.choose()
    }

    fn choose(&mut self) -> Result<String, String> {
        if self.seat.is_none() {
            let player = self.player().map_err(|error| error.to_string())?;
            self.seat = seat_of::<G>(&player, self.key);
        }
        let opening = self.positions.first().map(ToString::to_string).unwrap_or_default();
        let position = self.position().clone();
        let line = Line { position: &position, before: &self.before };
        let turn = Turn { rules: &self.rules, opening: &opening, line, moves: &[], mover: 0 };
        let seat = self.seat.as_mut().ok_or("this player cannot play here")?;
        let mv = seat.choose(&turn, &Clock::default()).map_err(|fault| fault.to_string())?.mv;
        self.make(mv, true);
        Ok(move_text::<G>(mv))
    }

    /// An inferred pass is taken back with the move after it: a controller that counts moves does not count that pass.
    fn undo(&mut self, arguments: &[&str]) -> Result<String, String> {
        let count: usize = match arguments {
            [] => 1,
            [count, ..] => count.parse().map_err(|_| "write a number of moves".to_owned())?,
        };
        let mut left = self.before.len();
        for _ in 0..count {
            left = left.checked_sub(1).ok_or("cannot undo")?;
            while left > 0 && !self.is_explicit[left - 1] {
                left -= 1;
            }
        }
        self.take_back_to(left);
        self.seat = None;
        Ok(String::new())
    }

    fn winner(&self) -> &'static str {
        match self.position().ending() {
            None => "none",
            Some(ending) => match ending.winner {
                None => "draw",
                Some(winner) if winner == self.board.black => "black",
                Some(_) => "white",
            },
        }
    }

    /// The margin, or 1 in games without one.
    fn final_score(&self) -> String {
        let by = self.position().margin().map_or(1, i32::abs);
        match self.winner() {
            "white" => format!("W+{by}"),
            "black" => format!("B+{by}"),
            _ => "0".to_owned(),
        }
    }

    fn all_legal(&self) -> String {
        if self.position().is_over() {
            return String::new();
        }
        let mut moves = Vec::new();
        self.position().legal_moves(&mut moves);
        moves.into_iter().map(move_text::<G>).collect::<Vec<_>>().join(" ")
    }

    fn infos(&self) -> impl Iterator<Item = &'static ParameterInfo> {
        let text = |name: &str| match self.given.get(name) {
            Some(Value::Text(text)) => text.as_str(),
            Some(_) | None => "",
        };
        built_in::settable(text("algorithm"))
    }

    /// Sets a parameter for the next search. Accepts parameters that do not bound a search yet, and an evaluation
    /// whose formula is still to be set.
    fn set(&mut self, arguments: &[&str]) -> Result<String, String> {
        let Some((name, value @ [_, ..])) = arguments.split_first() else {
            return Err("write a name and a value".to_owned());
        };
        if *name == built_in::CLOCK {
            return Err("the controller keeps the clock; set `move_time`".to_owned());
        }
        // Formulas contain spaces.
        let value = value.join(" ");
        let setting = [format!("{name}={value}")];
        let given =
            built_in::settings(&setting).map_err(|_| format!("`{value}` is not a value"))?;
        let before = self.given.clone();
        self.given.extend(given);
        match self.player() {
            Err(error) if error.place.as_deref().is_some_and(|key| !self.may_still_come(key)) => {
                self.given = before;
                Err(error.to_string())
            }
            Ok(_) | Err(_) => {
                self.seat = None;
                Ok(String::new())
            }
        }
    }

    /// Whether this parameter is required by the evaluation and not set yet.
    fn may_still_come(&self, key: &str) -> bool {
        let mut infos = G::EVALUATIONS.iter().flat_map(|evaluation| evaluation.parameters);
        !self.given.contains_key(key)
            && infos.any(|info| info.name == key && info.default == ParameterDefault::Required)
    }

    fn parameters(&self) -> String {
        let lines = self.infos().map(|info| {
            let value = self.given.get(info.name).map(ToString::to_string);
            format!("{} = {}", info.name, value.unwrap_or_else(|| info.default.to_string()))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn move_text<G: Game>(mv: G::Move) -> String {
    G::engine_move(mv, Protocol::Gtp).unwrap_or_else(|| mv.to_string())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use spelrum_engine::Position as _;
    use spelrum_engine::games::{Othello, Pentago};

    use super::*;

    fn player<G: Game>(depth: Option<i64>) -> GtpPlayer<G> {
        let mut given = Parameters::from([
            ("algorithm".to_owned(), Value::Text("alpha-beta".to_owned())),
            ("shuffle".to_owned(), Value::Bool(false)),
        ]);
        given.extend(depth.map(|depth| ("depth".to_owned(), Value::Integer(depth))));
        GtpPlayer::new("alpha-beta", given, Rules::usual::<G>(), [0; 32]).unwrap()
    }

    fn answers<G: Game>(player: &mut GtpPlayer<G>, lines: &[&str]) -> String {
        let answers: String = lines.iter().map(|line| player.execute(line).text).collect();
        answers.replace("= \n", "=\n")
    }

    #[test]
    fn it_keeps_to_the_protocol() {
        let mut player = player::<Pentago>(Some(1));
        assert_snapshot!(answers(&mut player, &[
            "1 protocol_version", "", "# nothing", "2 boardsize 6", "3 boardsize 19", "known_command play",
            "4 play b a1s", "5 play w A1S", "6 play white b1t", "7 play b a1s", "8 play w q9", "play b",
            "9 nonsense", "undo 5", "undo", "winner", "10 final_score # who", "showboard",
        ]), @r#"
    =1 2

    =2

    ?3 unacceptable size

    = true

    ?4 it is the other side's turn

    =5

    ?6 it is the other side's turn

    =7

    ?8 `q9` is not a move of Pentago over GTP

    ? write a colour and a move

    ?9 unknown command

    ? cannot undo

    =

    = none

    =10 0

    =
        a b c   d e f
    1   . . .   . . .
    2   . . .   . . .
    3   w . .   . . .

    4   . . .   . . .
    5   . . .   . . .
    6   . . .   . . .
    black to move
    "#);
        assert!(player.execute("quit").is_last);
    }

    #[test]
    fn it_plays_to_the_end_and_then_gives_up() {
        let mut player = player::<Pentago>(None);
        assert_snapshot!(answers(&mut player, &["genmove w", "set depth 1", "set deepth 1", "set depth x"]), @r#"
    ? nothing bounds the search of `alpha-beta`; limit at least one of `depth`, `nodes`, `evaluations`, `move_time`, `clock`

    =

    ? `alpha-beta` has no parameter `deepth`; did you mean `depth`?

    ? `depth` cannot be "x"; write an integer from 1 to 1000, or "unlimited"
    "#);
        let mut moves = 0;
        while player.execute("winner").text == "= none\n\n" {
            let legal = player.execute("all_legal").text;
            let reply = player.execute("genmove w").text;
            let mv = reply.strip_prefix("= ").unwrap().trim();
            assert!(legal.split_whitespace().any(|word| word == mv) || mv.ends_with('s'), "{mv}");
            moves += 1;
        }
        assert!((9..=36).contains(&moves), "{moves}");
        assert_eq!(player.execute("7 genmove b").text, "=7 resign\n\n");
    }

    #[test]
    fn othello_begins_with_black_and_has_passes() {
        let mut player = player::<Othello>(Some(1));
        assert_snapshot!(answers(&mut player, &[
            "boardsize 6", "boardsize 8", "play w d3", "play b D3", "genmove b", "play b pass",
            "play w pass", "play w c5", "all_legal", "final_score",
        ]), @r"
    ? unacceptable size

    =

    ? it is the other side's turn

    =

    ? it is the other side's turn

    ? it is the other side's turn

    ? illegal move

    =

    = b6 c6 d6 e6 f6

    = 0
    ");
    }

    /// The game continues whether or not the controller sends passes; after its end, the player answers with passes.
    #[test]
    fn othello_is_played_to_the_end_whoever_tells_of_passes() {
        let mut passes = 0;
        for (seed, sends_passes) in (0..12).flat_map(|seed| [(seed, false), (seed, true)]) {
            let mut player = player::<Othello>(Some(1));
            for mv in ["d3", "c4", "f5", "e6"].into_iter().skip(seed % 4).take(1) {
                player.execute(&format!("play b {mv}"));
            }
            player.execute(&format!("set shuffle {}", seed >= 4));
            while player.execute("winner").text == "= none\n\n" {
                let position = *player.position();
                let colour = if position.to_move() == Side::First { "b" } else { "w" };
                if position.own_moves() == 0 && !sends_passes {
                    passes += 1;
                    let other = if colour == "b" { "w" } else { "b" };
                    let reply = player.execute(&format!("genmove {other}")).text;
                    assert!(reply.starts_with("= ") && !reply.contains("pass"), "{reply}");
                } else {
                    let reply = player.execute(&format!("genmove {colour}")).text;
                    assert_eq!(reply == "= pass\n\n", position.own_moves() == 0, "{reply}");
                }
            }
            assert_eq!(player.execute("genmove b").text, "= pass\n\n");
            let end = *player.position();
            assert_eq!(answers(&mut player, &["play b pass", "play w PASS"]), "=\n\n=\n\n");
            for line in ["play b a1", "play white", "play red pass"] {
                assert!(player.execute(line).text.starts_with('?'), "{line}");
            }
            assert_eq!(*player.position(), end);
            let margin = player.position().disc_difference();
            let expected = match margin {
                0 => "0".to_owned(),
                1.. => format!("B+{margin}"),
                ..0 => format!("W+{}", -margin),
            };
            assert_eq!(player.execute("final_score").text, format!("= {expected}\n\n"));
        }
        assert!(passes > 0, "no game had a pass");
    }

    /// A game of Othello whose side to move must pass, with the colours of that side and of the other.
    fn before_a_pass() -> (GtpPlayer<Othello>, [&'static str; 2]) {
        for (mv, shuffle) in ["d3", "c4", "f5", "e6"].map(|mv| [(mv, false), (mv, true)]).concat() {
            let mut player = player::<Othello>(Some(1));
            player.execute(&format!("play b {mv}"));
            player.execute(&format!("set shuffle {shuffle}"));
            while player.execute("winner").text == "= none\n\n" {
                let position = *player.position();
                let is_black = position.to_move() == Side::First;
                let colours = if is_black { ["b", "w"] } else { ["w", "b"] };
                if position.own_moves() == 0 {
                    return (player, colours);
                }
                player.execute(&format!("genmove {}", colours[0]));
            }
        }
        panic!("no game had a pass");
    }

    /// A controller that never sent a pass does not know to take one back.
    #[test]
    fn a_pass_that_nobody_told_is_taken_back_with_its_move() {
        let (mut player, [passing, moving]) = before_a_pass();
        let (position, count) = (*player.position(), player.before.len());
        // A pass that was sent counts as a move.
        player.execute(&format!("play {passing} pass"));
        player.execute(&format!("genmove {moving}"));
        assert_eq!(player.before.len(), count + 2);
        assert_eq!(player.execute("undo").text, "=\n\n");
        assert_eq!(player.before.len(), count + 1);
        assert_eq!(player.execute("undo").text, "=\n\n");
        assert_eq!(*player.position(), position);

        player.execute(&format!("genmove {moving}"));
        assert_eq!(player.before.len(), count + 2);
        assert_eq!(player.execute("undo").text, "=\n\n");
        assert_eq!(*player.position(), position);

        player.execute(&format!("genmove {moving}"));
        let moves = count + 1;
        let too_many = format!("undo {}", moves + 1);
        assert_eq!(player.execute(&too_many).text, "? cannot undo\n\n");
        assert_eq!(player.before.len(), count + 2);
        assert_eq!(player.execute("undo 2").text, "=\n\n");
        assert_eq!(player.before.len(), count - 1);
        assert_eq!(player.is_explicit.len(), count - 1);
    }

    /// Includes a pass that the command would have inferred.
    #[test]
    fn what_is_refused_changes_no_game() {
        let (mut player, [_, moving]) = before_a_pass();
        let (position, count) = (*player.position(), player.before.len());
        player.execute("set depth unlimited");
        for line in ["play M q9", "play M d4", "play M pass", "play M", "genmove M", "undo 99"] {
            let line = line.replace('M', moving);
            let reply = player.execute(&line).text;
            assert!(reply.starts_with('?'), "{line}: {reply}");
            assert_eq!((*player.position(), player.before.len()), (position, count), "{line}");
        }
        player.execute("set depth 1");
        assert!(player.execute(&format!("genmove {moving}")).text.starts_with("= "));
    }

    #[test]
    fn a_formula_is_set_behind_its_evaluation() {
        let mut player = player::<Othello>(Some(1));
        let mut says = |line: &str, reply: &str| {
            let text = player.execute(line).text;
            assert!(text.starts_with(reply), "{line}: {text}");
        };
        let formula = "set formula (- own_bricks opp_bricks)";
        says(formula, "? `formula` is not a parameter of the evaluation");
        says("set evaluation expresion", "? othello has no evaluation \"expresion\"");
        says("set evaluation expression", "=\n");
        says("genmove b", "? `formula` is missing");
        says("set formula (- own_bricks", "? `formula`: ");
        says("set depth", "? write a name and a value");
        says(formula, "=\n");
        says("genmove b", "= ");
        says("set formula (+ own_bricks) 3", "? `formula`: ");
        says("genmove w", "= ");
    }
}
