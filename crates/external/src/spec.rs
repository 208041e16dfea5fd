//! The definition of an engine on this machine, and the options open to sweeps.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use spelrum_toml::nearest;

use crate::gtp::Dialect;
use crate::protocol::Protocol;
use crate::uci::Words;
use crate::xboard;

/// An engine in the engines file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSpec {
    /// Its name in sweeps.
    pub name: String,
    /// Its protocol.
    pub protocol: Protocol,
    /// Its program.
    pub command: PathBuf,
    /// The arguments of its program.
    pub args: Vec<String>,
    /// The files that affect its play, beside its program: networks, or the program that a script starts.
    pub files: Vec<PathBuf>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Its environment, beside `PATH`: it inherits nothing else.
    pub environment: BTreeMap<String, String>,
    /// The address space limit of each of its processes, in bytes.
    pub memory_bytes: Option<u64>,
    /// The number that may run at once.
    pub at_once: u32,
    /// Its timeouts.
    pub patience: Patience,
    /// The options open to sweeps.
    pub options: Vec<AllowedOption>,
    /// The fixed options, closed to sweeps.
    pub set: Options,
    /// Its dialect of GTP.
    pub gtp: Dialect,
    /// Its dialect of the XBoard protocol.
    pub xboard: xboard::Dialect,
    /// Its words of UGI.
    pub ugi: Words,
    /// The folder for logs of its processes' conversations, if any.
    pub logs: Option<PathBuf>,
}

/// Timeouts of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For its greeting, and until it is ready with its options.
    pub startup: Duration,
    /// Until it is ready for a game, and for immediate answers.
    pub ready: Duration,
    /// For a move after `stop`. Beyond it the engine is killed, and its time is not measured.
    pub stop: Duration,
    /// For a move without a time limit: by depth or nodes alone.
    pub unbounded_move: Duration,
    /// Until it ends by itself.
    pub quit: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            startup: Duration::from_secs(10),
            ready: Duration::from_mins(1),
            stop: Duration::from_secs(2),
            unbounded_move: Duration::from_mins(10),
            quit: Duration::from_secs(2),
        }
    }
}

/// An option open to sweeps, and its allowed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedOption {
    /// Its name. Case is ignored.
    pub name: String,
    /// Its allowed values.
    pub rule: OptionRule,
    /// The command that sets it, with `{value}`, for GTP, which has none.
    pub command: Option<String>,
}

/// The allowed values of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionRule {
    /// A whole number in these bounds.
    Between {
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// One of these.
    OneOf(Vec<OptionValue>),
    /// It is a button, and may be pressed.
    Press,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionValue {
    /// `true` or `false`; a button is pressed by `true`.
    Flag(bool),
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
}

impl fmt::Display for OptionValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Checked options, by their names in the file.
pub type Options = BTreeMap<String, OptionValue>;

/// A refused option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct OptionRefused {
    /// The problem.
    pub problem: String,
    /// The remedy, as a sentence without an end mark.
    pub remedy: String,
}

impl EngineSpec {
    /// The words of UCI's frame that it is addressed in.
    pub(crate) fn words(&self) -> Words {
        if self.protocol == Protocol::Ugi { self.ugi.clone() } else { Words::uci() }
    }

    /// A line for people to type, which it answers.
    pub(crate) fn greeting(&self) -> String {
        match self.protocol {
            Protocol::Uci | Protocol::Ugi => self.words().hello,
            Protocol::Gtp => "name".to_owned(),
            Protocol::Lines => r#"{"spelrum":1}"#.to_owned(),
            Protocol::Xboard => "xboard` and `protover 2".to_owned(),
        }
    }

    /// The options open by default, which affect only memory or output: the table in MiB, one thread, since
    /// every slot has one, and analysis lines. Engines with more threads by default are set to one.
    #[must_use]
    pub fn usual_options() -> Vec<AllowedOption> {
        [("Hash", 1, 1_024), ("Threads", 1, 1), ("MultiPV", 1, 16)]
            .into_iter()
            .map(|(name, min, max)| AllowedOption {
                name: name.to_owned(),
                rule: OptionRule::Between { min, max },
                command: None,
            })
            .collect()
    }

    /// Checks a sweep's options against the allowed ones, and returns them by their names in the file.
    ///
    /// # Errors
    /// If one may not be set, or not to this value, or twice.
    pub fn check_options(&self, wanted: &Options) -> Result<Options, OptionRefused> {
        let mut checked = Options::new();
        for (name, value) in wanted {
            let allowed = self
                .options
                .iter()
                .find(|option| option.name.eq_ignore_ascii_case(name))
                .ok_or_else(|| self.not_allowed(name))?;
            allowed.check(&self.name, value)?;
            if checked.insert(allowed.name.clone(), value.clone()).is_some() {
                return Err(OptionRefused {
                    problem: format!(
                        "`{}` of engine `{}` is set twice",
                        key(&allowed.name),
                        self.name
                    ),
                    remedy: "option names are case-insensitive; remove one".to_owned(),
                });
            }
        }
        Ok(checked)
    }

    fn not_allowed(&self, name: &str) -> OptionRefused {
        if self.set.iter().any(|(set, _)| set.eq_ignore_ascii_case(name)) {
            return OptionRefused {
                problem: format!(
                    "the engines file sets `{}` of engine `{}` itself",
                    key(name),
                    self.name
                ),
                remedy: "remove it from the sweep, or from the engine's `set` in the engines file"
                    .to_owned(),
            };
        }
        let names: Vec<_> =
            self.options.iter().map(|option| format!("`{}`", option.name)).collect();
        let may = if names.is_empty() { "no options".to_owned() } else { names.join(", ") };
        let near = nearest(name, self.options.iter().map(|option| option.name.as_str()));
        let near = near.map_or_else(String::new, |option| format!("did you mean `{option}`? "));
        OptionRefused {
            problem: format!("engine `{}` does not allow `{}`, only {may}", self.name, key(name)),
            remedy: format!(
                "{near}remove it from the sweep, or allow it under the engine's `options` in the engines file"
            ),
        }
    }
}

impl AllowedOption {
    fn check(&self, engine: &str, value: &OptionValue) -> Result<(), OptionRefused> {
        let is_allowed = match (&self.rule, value) {
            (OptionRule::Between { min, max }, OptionValue::Number(number)) => {
                (min..=max).contains(&number)
            }
            (OptionRule::Between { .. }, OptionValue::Flag(_) | OptionValue::Text(_)) => false,
            (OptionRule::OneOf(values), value) => values.contains(value),
            (OptionRule::Press, value) => *value == OptionValue::Flag(true),
        };
        if is_allowed {
            return Ok(());
        }
        let key = key(&self.name);
        let in_file = "in the engines file";
        let remedy = match (&self.rule, value) {
            (OptionRule::Between { min, max }, value) => {
                let may = match min == max {
                    true => format!("set it to {min}"),
                    false => format!("set it to a whole number from {min} to {max}"),
                };
                match value {
                    OptionValue::Number(number) => {
                        let (min, max) = (min.min(number), max.max(number));
                        format!(
                            "{may}, or allow more {in_file}: `{key} = {{ min = {min}, max = {max} }}`"
                        )
                    }
                    OptionValue::Flag(_) | OptionValue::Text(_) => may,
                }
            }
            (OptionRule::OneOf(values), _) => {
                let names: Vec<_> =
                    values.iter().map(|value| format!("`{}`", in_toml(value))).collect();
                format!(
                    "set it to one of {}, or add this value to `{key}` {in_file}",
                    names.join(", ")
                )
            }
            (OptionRule::Press, _) => "set it to `true`, which presses it".to_owned(),
        };
        let value = in_toml(value);
        Err(OptionRefused {
            problem: format!("engine `{engine}` does not allow `{key} = {value}`"),
            remedy,
        })
    }
}

/// An option as a key of a player in a sweep, or of an engine in the engines file.
fn key(option: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match !option.is_empty() && option.chars().all(is_bare) {
        true => format!("options.{option}"),
        false => format!("options.{option:?}"),
    }
}

fn in_toml(value: &OptionValue) -> String {
    match value {
        OptionValue::Flag(_) | OptionValue::Number(_) => value.to_string(),
        OptionValue::Text(text) => format!("{text:?}"),
    }
}

const NAME_BYTES_MAX: usize = 64;

/// Whether a text may be the name of an engine.
pub(crate) fn is_engine_name(name: &str) -> bool {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(is_good)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An engine with default settings.
    pub(crate) fn plain(name: &str, protocol: Protocol, command: PathBuf) -> EngineSpec {
        EngineSpec {
            name: name.to_owned(),
            protocol,
            command,
            args: Vec::new(),
            files: Vec::new(),
            directory: "/".into(),
            environment: BTreeMap::new(),
            memory_bytes: None,
            at_once: 1,
            patience: Patience::default(),
            options: EngineSpec::usual_options(),
            set: Options::new(),
            gtp: Dialect::default(),
            xboard: xboard::Dialect::default(),
            ugi: Words::ugi(),
            logs: None,
        }
    }

    fn check(name: &str, value: OptionValue) -> Result<Options, String> {
        let mut spec = plain("sf", Protocol::Uci, "/sf".into());
        let allow = |name: &str, rule| AllowedOption { name: name.to_owned(), rule, command: None };
        let text = |text: &str| OptionValue::Text(text.to_owned());
        spec.options.extend([
            allow("EvalFile", OptionRule::OneOf(vec![text("a.nnue"), text("b.nnue")])),
            allow("Clear Hash", OptionRule::Press),
        ]);
        spec.check_options(&[(name.to_owned(), value)].into()).map_err(|error| error.to_string())
    }

    #[test]
    fn options_that_the_file_sets_are_refused_with_that_reason() {
        let mut spec = plain("sf", Protocol::Uci, "/sf".into());
        spec.options.retain(|option| option.name != "Hash");
        spec.set = [("Hash".to_owned(), OptionValue::Number(64))].into();
        let refused = spec.check_options(&[("hash".to_owned(), OptionValue::Number(32))].into());
        assert_eq!(
            refused.unwrap_err().to_string(),
            "the engines file sets `options.hash` of engine `sf` itself; remove it from the sweep, or from the \
             engine's `set` in the engines file"
        );
    }

    #[test]
    fn options_are_set_within_what_is_allowed() {
        let number = OptionValue::Number;
        let single = |name: &str, value| Ok(Options::from([(name.to_owned(), value)]));
        assert_eq!(check("hash", number(64)), single("Hash", number(64)));
        assert_eq!(
            check("Clear Hash", OptionValue::Flag(true)),
            single("Clear Hash", OptionValue::Flag(true))
        );
        let text = OptionValue::Text("b.nnue".to_owned());
        assert_eq!(check("EvalFile", text.clone()), single("EvalFile", text));
        for (name, value, error) in [
            (
                "Hash",
                number(4_096),
                "engine `sf` does not allow `options.Hash = 4096`; set it to a whole number from 1 to 1024, or \
                 allow more in the engines file: `options.Hash = { min = 1, max = 4096 }`",
            ),
            (
                "Threads",
                number(4),
                "engine `sf` does not allow `options.Threads = 4`; set it to 1, or allow more in the engines file: \
                 `options.Threads = { min = 1, max = 4 }`",
            ),
            (
                "Threads",
                OptionValue::Text("1".to_owned()),
                "engine `sf` does not allow `options.Threads = \"1\"`; set it to 1",
            ),
            (
                "EvalFile",
                OptionValue::Text("/etc/passwd".to_owned()),
                "engine `sf` does not allow `options.EvalFile = \"/etc/passwd\"`; set it to one of `\"a.nnue\"`, \
                 `\"b.nnue\"`, or add this value to `options.EvalFile` in the engines file",
            ),
            (
                "Clear Hash",
                OptionValue::Flag(false),
                "engine `sf` does not allow `options.\"Clear Hash\" = false`; set it to `true`, which presses it",
            ),
            (
                "hahs",
                number(64),
                "engine `sf` does not allow `options.hahs`, only `Hash`, `Threads`, `MultiPV`, `EvalFile`, \
                 `Clear Hash`; did you mean `Hash`? remove it from the sweep, or allow it under the engine's \
                 `options` in the engines file",
            ),
            (
                "SyzygyPath",
                OptionValue::Text("/".to_owned()),
                "engine `sf` does not allow `options.SyzygyPath`, only `Hash`, `Threads`, `MultiPV`, `EvalFile`, \
                 `Clear Hash`; remove it from the sweep, or allow it under the engine's `options` in the engines \
                 file",
            ),
        ] {
            assert_eq!(check(name, value).unwrap_err(), error);
        }
        let twice = [("Hash".to_owned(), number(1)), ("hash".to_owned(), number(2))].into();
        let spec = plain("sf", Protocol::Uci, "/sf".into());
        assert_eq!(
            spec.check_options(&twice).unwrap_err().to_string(),
            "`options.Hash` of engine `sf` is set twice; option names are case-insensitive; remove one"
        );
    }
}
