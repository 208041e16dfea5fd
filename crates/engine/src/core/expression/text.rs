//! Parsing and writing formulas.

use std::fmt::Write as _;
use std::ops::Range;

use super::{
    ARITY, DEPTH_MAX, Expression, FeatureInfo, Function, NODES_MAX, Node, too_deep, too_long,
};
use crate::core::nearest::nearest;
use crate::core::problem::{Problem, RangeProblem};

/// The longest text that is parsed, in bytes. Every expression within its bounds is shorter, if feature names
/// have at most 24 letters.
pub const FORMULA_BYTES_MAX: usize = 16_384;

impl Expression {
    /// Parses a formula over a game's features.
    ///
    /// # Errors
    /// If it is not a formula, or exceeds the bounds of expressions; the error has the place, as a character
    /// counted from 1, and a remedy.
    pub fn parse(text: &str, features: &[FeatureInfo]) -> Result<Self, RangeProblem> {
        let mut reader = Reader { text, features, nodes: Vec::new(), open: Vec::new() };
        let mut is_whole = false;
        for place in tokens(text) {
            if is_whole {
                let problem = format!("at {}, the formula has ended", reader.at(&place));
                let remedy = match &text[place.clone()] {
                    ")" => "leave out this `)`, which closes nothing",
                    _ => "leave out what follows, or join both by a function: (+ a b)",
                };
                return Err(reader.error(place.start..text.len(), problem, remedy));
            }
            is_whole = reader.take(place)?;
        }
        if is_whole {
            return Ok(Self { nodes: reader.nodes });
        }
        Err(reader.unfinished())
    }

    /// Its text, as [`Expression::parse`] reads it: one space between two parts, constants with the
    /// fewest digits that identify them.
    ///
    /// # Panics
    /// If it reads a feature that `features` lacks.
    #[must_use]
    pub fn text(&self, features: &[FeatureInfo]) -> String {
        let mut text = String::new();
        // For each open function, the number of operands to come.
        let mut open: Vec<usize> = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if index > 0 {
                text.push(' ');
            }
            match node {
                Node::Function(function) => {
                    text.push('(');
                    text.push(function.symbol());
                    open.push(ARITY);
                    continue;
                }
                Node::Constant(constant) => write_constant(&mut text, *constant),
                Node::Feature(feature) => text.push_str(features[usize::from(*feature)].name),
            }
            while let Some(operands) = open.last_mut() {
                *operands -= 1;
                if *operands > 0 {
                    break;
                }
                open.pop();
                text.push(')');
            }
        }
        text
    }
}

/// The fewest digits that read back to the same number: 10, 0.5, 1e300.
fn write_constant(text: &mut String, constant: f64) {
    // Writing to a string cannot fail.
    let _ = write!(text, "{constant:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
}

/// A function that is not closed.
struct Open {
    /// Where its parenthesis is.
    place: Range<usize>,
    /// None until it has been read.
    function: Option<Function>,
    operands: usize,
}

struct Reader<'a> {
    text: &'a str,
    features: &'a [FeatureInfo],
    nodes: Vec<Node>,
    open: Vec<Open>,
}

impl Reader<'_> {
    /// Reads one token, and returns whether the formula is then complete.
    fn take(&mut self, place: Range<usize>) -> Result<bool, RangeProblem> {
        let token = &self.text[place.clone()];
        if let Some(open) = self.open.last_mut()
            && open.function.is_none()
        {
            let Some(function) = function(token) else {
                let at = self.at(&place);
                let problem = format!("at {at}, no function follows the parenthesis");
                let remedy = "write +, -, * or / and two operands, such as (+ a b)";
                return Err(self.error(place, problem, remedy));
            };
            open.function = Some(function);
            self.push(Node::Function(function), &place)?;
            return Ok(false);
        }
        if token == ")" {
            return self.close(place);
        }
        if let Some(Open { function: Some(function), operands: ARITY, .. }) = self.open.last() {
            let symbol = function.symbol();
            let problem = format!("at {}, `{symbol}` has a third operand", self.at(&place));
            let remedy = format!(
                "close it before with `)`, or nest another function: ({symbol} ({symbol} a b) c)"
            );
            return Err(self.error(place, problem, &remedy));
        }
        if token == "(" {
            if self.open.len() == DEPTH_MAX {
                let subject = format!("the function at {}", self.at(&place));
                return Err(too_deep(place, &subject));
            }
            self.open.push(Open { place, function: None, operands: 0 });
            return Ok(false);
        }
        let node = self.leaf(token, &place)?;
        self.push(node, &place)?;
        Ok(self.count_operand())
    }

    fn leaf(&self, token: &str, place: &Range<usize>) -> Result<Node, RangeProblem> {
        let at = self.at(place);
        if function(token).is_some() {
            let problem = format!("at {at}, the function `{token}` stands without a parenthesis");
            let remedy = format!("write ({token} a b)");
            return Err(self.error(place.clone(), problem, &remedy));
        }
        if token.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
            let problem = match token.parse::<f64>() {
                // Adding 0 turns -0 into 0.
                Ok(constant) if constant.is_finite() => return Ok(Node::Constant(constant + 0.0)),
                Ok(_) => format!("at {at}, {token} is beyond all finite numbers"),
                Err(_) => format!("at {at}, `{token}` is not a number"),
            };
            return Err(self.error(place.clone(), problem, "write one such as 10, -0.5 or 1e6"));
        }
        if let Some(feature) = self.features.iter().position(|info| info.name == token) {
            // No game has as many features as there are numbers.
            return Ok(Node::Feature(u16::try_from(feature).unwrap_or(u16::MAX)));
        }
        let names = self.features.iter().map(|info| info.name);
        let remedy = match nearest(token, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the features are {}", names.collect::<Vec<_>>().join(", ")),
        };
        let problem = format!("at {at}, there is no feature `{token}`");
        Err(self.error(place.clone(), problem, &remedy))
    }

    fn push(&mut self, node: Node, place: &Range<usize>) -> Result<(), RangeProblem> {
        if self.nodes.len() == NODES_MAX {
            let has = format!("more than {NODES_MAX} nodes at {}", self.at(place));
            return Err(too_long(place.clone(), has));
        }
        self.nodes.push(node);
        Ok(())
    }

    /// Takes a closing parenthesis.
    fn close(&mut self, place: Range<usize>) -> Result<bool, RangeProblem> {
        let at = self.at(&place);
        match self.open.pop() {
            None => {
                let problem = format!("at {at}, `)` closes nothing");
                Err(self.error(place, problem, "leave it out"))
            }
            Some(Open { function: Some(function), operands, .. }) if operands < ARITY => {
                let symbol = function.symbol();
                let has = match operands {
                    0 => "no operand",
                    _ => "one operand",
                };
                let problem = format!("at {at}, `{symbol}` has {has} instead of two");
                Err(self.error(place, problem, &format!("write ({symbol} a b)")))
            }
            Some(_) => Ok(self.count_operand()),
        }
    }

    /// Counts an operand; returns whether no function is open any more.
    fn count_operand(&mut self) -> bool {
        match self.open.last_mut() {
            None => true,
            Some(open) => {
                open.operands += 1;
                false
            }
        }
    }

    /// The text has ended before the formula.
    fn unfinished(&self) -> RangeProblem {
        let end = self.text.len()..self.text.len();
        match self.open.last() {
            None => self.error(end, "there is no formula".to_owned(), "write one such as (+ a b)"),
            Some(open) => {
                let problem = format!("the parenthesis at {} is not closed", self.at(&open.place));
                self.error(open.place.start..end.end, problem, "write `)` after its operands")
            }
        }
    }

    /// The place of a token, for messages.
    fn at(&self, place: &Range<usize>) -> String {
        format!("character {}", self.text[..place.start].chars().count() + 1)
    }

    fn error(&self, place: Range<usize>, problem: String, remedy: &str) -> RangeProblem {
        Problem::at(place, problem, remedy.to_owned())
    }
}

fn function(token: &str) -> Option<Function> {
    let mut letters = token.chars();
    let (letter, None) = (letters.next()?, letters.next()) else { return None };
    Function::ALL.into_iter().find(|function| function.symbol() == letter)
}

/// Where the tokens are: parentheses, and what lies between them and white space.
fn tokens(text: &str) -> impl Iterator<Item = Range<usize>> {
    let is_end = |letter: char| letter.is_whitespace() || "()".contains(letter);
    let mut from = 0;
    std::iter::from_fn(move || {
        from += text[from..].find(|letter: char| !letter.is_whitespace())?;
        let rest = &text[from..];
        let len = match rest.find(is_end) {
            Some(0) => 1,
            Some(end) => end,
            None => rest.len(),
        };
        from += len;
        Some(from - len..from)
    })
}
