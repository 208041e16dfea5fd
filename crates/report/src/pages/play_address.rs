//! The address of a game that a person plays in a browser: it holds the whole game, and the server nothing.

use std::collections::BTreeMap;
use std::fmt;

use spelrum_answers::AnalyzePosition;
use spelrum_engine::{KeyProblem, Parameters, Problem, Rules, Side, Value};

/// What names of rules begin with in an address.
const RULE: &str = "rule.";

/// A game under way, as its address has it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayAddress {
    /// The game's name; empty while none is chosen.
    pub game: String,
    /// Rules as texts, by name.
    pub rules: BTreeMap<String, String>,
    /// The position from which it begins; empty for the start position.
    pub opening: String,
    /// The player as text ([`player_text`]); empty while none is chosen.
    pub player: String,
    /// The person's side.
    pub side: Side,
    /// Decides the player's random numbers.
    pub seed: u64,
    /// The moves so far.
    pub moves: Vec<String>,
    /// The beginning of the move that the person is making.
    pub half: String,
    /// Whether the player's opinion of the position is shown.
    pub think: bool,
    /// Whether the position's exact value is shown.
    pub exact: bool,
}

impl PlayAddress {
    /// Reads an address from the decoded pairs of its query string. Unknown keys are ignored.
    ///
    /// # Errors
    /// If the side or the seed is none.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, Problem> {
        let mut address = Self {
            game: String::new(),
            rules: BTreeMap::new(),
            opening: String::new(),
            player: String::new(),
            side: Side::First,
            seed: 0,
            moves: Vec::new(),
            half: String::new(),
            think: false,
            exact: false,
        };
        let mut own_player = String::new();
        for (key, value) in pairs {
            let value = value.trim().to_owned();
            match key.as_str() {
                "game" => address.game = value,
                "opening" => address.opening = value,
                "player" => address.player = value,
                "own_player" => own_player = value,
                "side" => {
                    address.side = Side::named(&value).ok_or_else(|| {
                        Problem::new(format!("there is no side {value:?}"), "write first or second")
                    })?;
                }
                "seed" => {
                    address.seed = value.parse().map_err(|_| {
                        Problem::new(format!("{value:?} is not a seed"), "write a number from 0")
                    })?;
                }
                "moves" => address.moves = value.split_whitespace().map(Into::into).collect(),
                "half" => address.half = value,
                "think" => address.think = value == "1",
                "exact" => address.exact = value == "1",
                _ => {
                    if let Some(rule) = key.strip_prefix(RULE) {
                        address.rules.insert(rule.to_owned(), value);
                    }
                }
            }
        }
        // What a person writes goes before the choice from a list.
        if !own_player.is_empty() {
            address.player = own_player;
        }
        Ok(address)
    }

    /// The rules.
    ///
    /// # Errors
    /// If there is no such game, or a rule is not one of it.
    pub fn read_rules(&self) -> Result<Rules, KeyProblem> {
        Rules::from_parameters(&self.game, &self.rule_values())
    }

    fn rule_values(&self) -> Parameters {
        let value = |text: &String| {
            serde_json::from_str(text).unwrap_or_else(|_| Value::Text(text.clone()))
        };
        self.rules.iter().map(|(name, text)| (name.clone(), value(text))).collect()
    }

    /// The question about the position, without a player.
    #[must_use]
    pub fn question(&self) -> AnalyzePosition {
        AnalyzePosition {
            game: self.game.clone(),
            rules: self.rule_values(),
            opening: (!self.opening.is_empty()).then(|| self.opening.clone()),
            moves: self.moves.clone(),
            player: None,
            stored_player: None,
            seed: self.seed,
            time_ms: None,
            line_plies: 0,
        }
    }

    /// The same game with other moves, and nothing shown beside it.
    #[must_use]
    pub fn with_moves(&self, moves: &[String]) -> Self {
        let (half, think, exact) = (String::new(), false, false);
        Self { moves: moves.to_vec(), half, think, exact, ..self.clone() }
    }

    /// The same game after one more move.
    #[must_use]
    pub fn after(&self, mv: &str) -> Self {
        let mut moves = self.moves.clone();
        moves.push(mv.to_owned());
        self.with_moves(&moves)
    }
}

impl fmt::Display for PlayAddress {
    /// A path with its query string.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/play?game={}", encoded(&self.game))?;
        for (name, value) in &self.rules {
            write!(f, "&{RULE}{}={}", encoded(name), encoded(value))?;
        }
        if !self.opening.is_empty() {
            write!(f, "&opening={}", encoded(&self.opening))?;
        }
        if !self.player.is_empty() {
            write!(f, "&player={}", encoded(&self.player))?;
        }
        if self.side != Side::First {
            write!(f, "&side={}", self.side.name())?;
        }
        if self.seed != 0 {
            write!(f, "&seed={}", self.seed)?;
        }
        if !self.moves.is_empty() {
            write!(f, "&moves={}", encoded(&self.moves.join(" ")))?;
        }
        if !self.half.is_empty() {
            write!(f, "&half={}", encoded(&self.half))?;
        }
        for (is_on, name) in [(self.think, "think"), (self.exact, "exact")] {
            if is_on {
                write!(f, "&{name}=1")?;
            }
        }
        Ok(())
    }
}

/// A text for a query string.
fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Reads a player: a JSON object of its parameters, or its algorithm and `key=value` words, such as
/// `alpha-beta depth=4`.
///
/// # Errors
/// If the text is neither.
pub fn read_player(text: &str) -> Result<Parameters, Problem> {
    if text.starts_with('{') {
        return serde_json::from_str(text).map_err(|error| {
            Problem::new(
                format!("the player cannot be read: {error}"),
                "write it like {\"algorithm\": \"alpha-beta\", \"depth\": 4}",
            )
        });
    }
    let mut parameters = Parameters::new();
    for (index, word) in text.split_whitespace().enumerate() {
        let (key, value) = match (word.split_once('='), index) {
            (Some((key, value)), _) => (key, value_of(value)),
            (None, 0) => ("algorithm", Value::Text(word.to_owned())),
            (None, _) => {
                let problem = format!("`{word}` in the player has no `=`");
                return Err(Problem::new(problem, "write it like alpha-beta depth=4"));
            }
        };
        parameters.insert(key.to_owned(), value);
    }
    Ok(parameters)
}

/// A player's parameters as [`read_player`] reads them: words if they can be, else JSON.
#[must_use]
pub fn player_text(parameters: &Parameters) -> String {
    let algorithm = parameters.get("algorithm").map(ToString::to_string).unwrap_or_default();
    let others = parameters.iter().filter(|(key, _)| *key != "algorithm");
    let words = others.map(|(key, value)| match value {
        Value::Text(text) => format!(" {key}={text}"),
        value @ (Value::Bool(_)
        | Value::Integer(_)
        | Value::Number(_)
        | Value::List(_)
        | Value::Table(_)) => format!(" {key}={value}"),
    });
    let words = format!("{}{}", algorithm.trim_matches('"'), words.collect::<String>());
    match read_player(&words) {
        Ok(read) if read == *parameters => words,
        Ok(_) | Err(_) => serde_json::to_string(parameters).unwrap_or_default(),
    }
}

fn value_of(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Bool(_) | Value::Integer(_) | Value::Number(_))) => value,
        Ok(_) | Err(_) => Value::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(query: &[(&str, &str)]) -> Vec<(String, String)> {
        query.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn an_address_holds_the_whole_game() {
        let address = PlayAddress::from_pairs(pairs(&[
            ("game", "nim"),
            ("rule.heaps", "[1,3,5]"),
            ("rule.misere", "true"),
            ("player", "minimax depth=9"),
            ("own_player", " "),
            ("side", "second"),
            ("moves", "a1  b2"),
            ("half", "<b>\"&"),
            ("think", "1"),
            ("colour", "x"),
        ]))
        .unwrap();
        assert_eq!(address.read_rules().unwrap().integers("heaps"), [1, 3, 5]);
        assert_eq!(
            address.to_string(),
            "/play?game=nim&rule.heaps=%5B1%2C3%2C5%5D&rule.misere=true&player=minimax+depth%3D9\
             &side=second&moves=a1+b2&half=%3Cb%3E%22%26&think=1"
        );
        assert_eq!(address.after("c1").to_string().split_once("&moves=").unwrap().1, "a1+b2+c1");
        for wrong in [("side", "both"), ("seed", "-1")] {
            assert!(PlayAddress::from_pairs(pairs(&[wrong])).is_err());
        }
    }

    #[test]
    fn a_player_is_read_as_it_was_written() {
        let read = |text: &str| read_player(text).map_err(|problem| problem.what);
        for text in [
            "alpha-beta depth=4 table=true",
            "mcts exploration=0.5 move_time=1s",
            r#"{"algorithm":"alpha-beta","depth":3,"formula":"(+ 1 2)"}"#,
        ] {
            assert_eq!(player_text(&read(text).unwrap()), text);
        }
        assert!(read("alpha-beta deep").unwrap_err().contains("has no `=`"));
        assert!(read("{\"algorithm\": ").unwrap_err().contains("cannot be read"));
        assert_eq!(read("").unwrap(), Parameters::new());
    }
}
