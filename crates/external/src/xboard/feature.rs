//! The features of an engine.

use crate::uci::{Declared, Kind};

/// What an engine knows, by its `feature` lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Features {
    /// It answers `ping` once all earlier commands are done.
    pub ping: bool,
    /// It knows `setboard`.
    pub setboard: bool,
    /// Moves are sent to it after `usermove`.
    pub usermove: bool,
    /// It wants `time` and `otim`.
    pub time: bool,
    /// It needs the old commands `white` and `black`.
    pub colors: bool,
    /// Its process plays more than one game.
    pub reuse: bool,
    /// It knows `memory`.
    pub memory: bool,
    /// It knows `cores`.
    pub smp: bool,
    /// Its name.
    pub name: String,
}

impl Default for Features {
    /// What holds of an engine that says nothing.
    fn default() -> Self {
        Self {
            ping: false,
            setboard: false,
            usermove: false,
            time: true,
            colors: true,
            reuse: true,
            memory: false,
            smp: false,
            name: String::new(),
        }
    }
}

/// Features without consequence here, which are accepted.
const OTHERS: [&str; 16] = [
    "analyze",
    "debug",
    "done",
    "draw",
    "egt",
    "exclude",
    "highlight",
    "ics",
    "name",
    "nps",
    "option",
    "pause",
    "playother",
    "sigint",
    "sigterm",
    "variants",
];

impl Features {
    /// Takes a feature. Returns whether it is accepted.
    pub(super) fn take(&mut self, name: &str, value: &str) -> bool {
        let is_on = value != "0";
        let flag = match name {
            "ping" => &mut self.ping,
            "setboard" => &mut self.setboard,
            "usermove" => &mut self.usermove,
            "time" => &mut self.time,
            "colors" => &mut self.colors,
            "reuse" => &mut self.reuse,
            "memory" => &mut self.memory,
            "smp" => &mut self.smp,
            "myname" => {
                value.clone_into(&mut self.name);
                return true;
            }
            // Moves are sent by their squares; answers are understood in either notation.
            "san" => return !is_on,
            name => return OTHERS.contains(&name),
        };
        *flag = is_on;
        true
    }
}

/// The features of a line after the word `feature`: their names and values, which may be quoted.
pub(super) fn parse_features(text: &str) -> Vec<(&str, &str)> {
    let (mut features, mut rest) = (Vec::new(), text.trim());
    while let Some((name, behind)) = rest.split_once('=') {
        // A word without a value is skipped.
        let name = name.split_whitespace().next_back().unwrap_or_default();
        let behind = behind.trim_start();
        let (value, after) = match behind.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => behind.split_once(char::is_whitespace).unwrap_or((behind, "")),
        };
        features.push((name, value));
        rest = after;
    }
    features
}

/// Types of options.
const TYPES: [&str; 10] =
    ["check", "spin", "slider", "combo", "button", "save", "reset", "string", "file", "path"];

/// Parses the value of a feature `option`; `None` without a name or with an unknown type.
pub(super) fn parse_option(text: &str) -> Option<Declared> {
    // Names may have dashes.
    let (name, kind, rest) = text.match_indices(" -").find_map(|(place, _)| {
        let behind = &text[place + 2..];
        let (kind, rest) = behind.split_once(' ').unwrap_or((behind, ""));
        TYPES.contains(&kind).then(|| (text[..place].trim(), kind, rest.trim()))
    })?;
    let kind = match kind {
        "check" => Kind::Check { default: rest == "1" },
        "spin" | "slider" => {
            let mut numbers = rest.split_whitespace().map(|word| word.parse().ok());
            let mut number = || numbers.next().flatten();
            let (default, min, max) = (number(), number(), number());
            let (min, max) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
            Kind::Spin { default: default.unwrap_or(0), min, max }
        }
        "combo" => {
            let choices: Vec<&str> = rest.split("///").map(str::trim).collect();
            let marked = choices.iter().find_map(|choice| choice.strip_prefix('*'));
            let plain = |choice: &&str| choice.strip_prefix('*').unwrap_or(choice).to_owned();
            let choices: Vec<String> = choices.iter().map(plain).collect();
            let default = marked.map(str::to_owned).or_else(|| choices.first().cloned());
            Kind::Combo { default: default.unwrap_or_default(), choices }
        }
        "button" | "save" | "reset" => Kind::Button,
        _ => Kind::Text { default: rest.to_owned() },
    };
    (!name.is_empty()).then(|| Declared { name: name.to_owned(), kind })
}
