//! Capabilities that engines report at their start, and whether they suffice for a player.
//!
//! A worker collects them when it starts each engine of its engines file, and offers them with the engine. So a game
//! that an engine cannot play is refused before it begins, with the reason in one sentence.

use std::fmt;

use spelrum_engine::{HASH_OPTION, Parameters, Protocol, Rules, SourcedEngine, Value};

/// The option that makes a UCI engine castle as in Chess960.
pub const CHESS960_OPTION: &str = "UCI_Chess960";
/// The option for a UCI engine's number of threads.
pub const THREADS_OPTION: &str = "Threads";

/// Most options that a worker offers of one engine; also the most GTP commands.
pub const CAPABILITIES_MAX: usize = 500;
/// Most bytes of all names and texts that a worker offers of one engine.
pub const CAPABILITIES_BYTES_MAX: usize = 16 * 1_024;

/// The remedy for an option that an engine refuses.
const CHANGE_OPTIONS: &str = "change in the sweep what this player sets in `options`, or what its [find] or [tune] tries of them";

/// Most options named in a sentence.
const NAMED_MAX: usize = 4;

/// The capabilities of an engine, as reported at its start.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capabilities {
    /// The declared options, in the engine's order; `None` for GTP, which cannot declare any. Their defaults are the
    /// values in force unless a sweep sets them, including those from the engines file.
    pub declared: Option<Vec<EngineOption>>,
    /// The options that a sweep may set according to that machine's engines file.
    pub settable: Vec<EngineOption>,
    /// The capabilities of a GTP engine.
    pub gtp: Option<GtpCapabilities>,
    /// Whether the list was cut to stay within the bounds, so that absent entries may still exist.
    pub is_cut: bool,
}

/// An option and its possible values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EngineOption {
    /// Its name; case does not matter.
    pub name: String,
    /// The kind of its values.
    pub kind: OptionKind,
}

/// The possible values of an option, with its default as a text if it has one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionKind {
    /// `true` or `false`.
    Check {
        /// Its default.
        default: String,
    },
    /// A whole number.
    Spin {
        /// Its default.
        default: String,
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// One of several choices.
    Combo {
        /// Its default.
        default: String,
        /// The choices.
        choices: Vec<String>,
    },
    /// No value: setting it presses the button, which a sweep writes as `true`.
    Button,
    /// Any text.
    Text {
        /// Its default.
        default: String,
    },
}

/// The capabilities of a GTP engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GtpCapabilities {
    /// The commands listed by `list_commands`; empty without an answer.
    pub commands: Vec<String>,
    /// The board sizes tried, and whether each was accepted. Empty if the engines file disables setting the size.
    pub board_sizes: Vec<(u32, bool)>,
    /// The limits that can be set, by the engines file or by the protocol.
    pub limits: GtpLimits,
}

/// The limits that can be set for a GTP engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "each limit can be told or not, independently")]
pub struct GtpLimits {
    /// A depth in plies.
    pub depth: bool,
    /// A number of nodes.
    pub nodes: bool,
    /// Whole seconds for each move.
    pub seconds: bool,
    /// Milliseconds for each move.
    pub milliseconds: bool,
    /// The protocol's own `time_settings`.
    pub time_settings: bool,
}

/// A player's demands on its engine, besides being the program that the sweep wants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EngineRequest {
    /// The engine's name in sweeps.
    pub engine: String,
    /// The protocol.
    pub protocol: Protocol,
    /// The options that the player sets, with their values as texts.
    pub options: Vec<(String, String)>,
    /// The game.
    pub game: GameRequest,
    /// Whether moves are limited by depth.
    pub depth: bool,
    /// Whether moves are limited by nodes.
    pub nodes: bool,
    /// The time for each move, in microseconds.
    pub move_time_us: Option<u64>,
    /// Whether the player has a clock for its game.
    pub clock: bool,
}

/// The game that a player plays.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GameRequest {
    /// Its name.
    pub name: String,
    /// Whether castling follows Chess960.
    pub chess960: bool,
    /// The board size for GTP.
    pub board_size: Option<u32>,
}

/// Why an engine cannot play for a player: a sentence without a final full stop, and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inability {
    /// The problem.
    pub problem: String,
    /// The remedy.
    pub remedy: &'static str,
}

impl GameRequest {
    /// The game of these rules.
    #[must_use]
    pub fn from_rules(rules: &Rules) -> Self {
        let mut values = rules.values();
        let chess960 =
            values.any(|(info, value)| info.name == "chess960" && *value == Value::Bool(true));
        Self { chess960, ..Self::from_game_name(rules.name()) }
    }

    /// A game under its usual rules. A game that no current engine supports makes no demands.
    #[must_use]
    pub fn from_game_name(name: &str) -> Self {
        let board = Rules::from_name(name).ok().and_then(|rules| rules.game().gtp_board);
        let board_size = board.map(|board| board.size);
        Self { name: name.to_owned(), chess960: false, board_size }
    }
}

impl EngineRequest {
    /// The demands of a player with these fully spelt-out parameters; `None` for a built-in player.
    #[must_use]
    pub fn from_parameters(parameters: &Parameters, game: GameRequest) -> Option<Self> {
        let text = |name: &str| match parameters.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            Some(_) | None => None,
        };
        let protocol = Protocol::named(&text("algorithm")?)?;
        let options = match parameters.get("options") {
            Some(Value::Table(options)) => {
                let set = options.iter().map(|(name, value)| (name.clone(), option_text(value)));
                set.collect()
            }
            Some(_) | None => Vec::new(),
        };
        let move_time_us = match parameters.get("move_time_us") {
            Some(Value::Integer(us)) => u64::try_from(*us).ok(),
            Some(_) | None => None,
        };
        Some(Self {
            engine: SourcedEngine::engine_name(parameters)?,
            protocol,
            options,
            game,
            depth: parameters.contains_key("depth"),
            nodes: parameters.contains_key("nodes"),
            move_time_us,
            clock: parameters.contains_key("clock"),
        })
    }

    /// The whole number to which the player sets this option, if any.
    #[must_use]
    pub fn number_of(&self, option: &str) -> Option<i64> {
        let (_, value) = self.options.iter().find(|(name, _)| name.eq_ignore_ascii_case(option))?;
        value.parse().ok()
    }

    /// Whether an engine with these capabilities may refuse the player. An engine without reported capabilities refuses
    /// none.
    #[must_use]
    pub fn unmet_by(&self, capabilities: &Capabilities) -> Option<Inability> {
        let option =
            || self.options.iter().find_map(|option| self.option_unmet(capabilities, option));
        match self.protocol {
            Protocol::Uci | Protocol::Ugi => self.chess960_unmet(capabilities).or_else(option),
            Protocol::Gtp => {
                let gtp = capabilities.gtp.as_ref();
                gtp.and_then(|gtp| self.gtp_unmet(gtp, capabilities.is_cut)).or_else(option)
            }
            Protocol::Xboard => self.no_chess960_over_xboard().or_else(option),
            Protocol::Lines => option(),
        }
    }

    fn chess960_unmet(
        &self,
        Capabilities { declared, is_cut, .. }: &Capabilities,
    ) -> Option<Inability> {
        let declared = declared.as_ref().filter(|_| self.game.chess960 && !is_cut)?;
        let knows = named(declared, CHESS960_OPTION)
            .is_some_and(|option| matches!(option.kind, OptionKind::Check { .. }));
        (!knows).then(|| Inability {
            problem: format!("{} does not play Chess960", self.engine),
            remedy: "take another engine for this player, or leave chess960 out of the game's rules",
        })
    }

    fn no_chess960_over_xboard(&self) -> Option<Inability> {
        self.game.chess960.then(|| Inability {
            problem: format!("{} speaks XBoard, over which Spelrum plays no Chess960", self.engine),
            remedy: "take a UCI engine for this player, or leave chess960 out of the game's rules",
        })
    }

    fn option_unmet(
        &self,
        capabilities: &Capabilities,
        (name, value): &(String, String),
    ) -> Option<Inability> {
        let engine = &self.engine;
        let Capabilities { declared, settable, is_cut, .. } = capabilities;
        if let Some(declared) = declared {
            let Some(option) = named(declared, name) else {
                return (!is_cut).then(|| Inability {
                    problem: format!(
                        "{engine} has no option `{name}`; it has {}",
                        nearest_names(declared, name)
                    ),
                    remedy: CHANGE_OPTIONS,
                });
            };
            if let Some(problem) = option.problem_with(engine, value, "") {
                return Some(Inability { problem, remedy: CHANGE_OPTIONS });
            }
        }
        let remedy = "change it in the sweep; the owner of the worker can allow it under the engine's `options` \
                      in its engines file";
        let Some(option) = named(settable, name) else {
            return (!is_cut).then(|| Inability {
                problem: format!(
                    "option `{name}` of {engine} may not be set by a sweep on that machine; it allows {}",
                    nearest_names(settable, name)
                ),
                remedy,
            });
        };
        let problem = option.problem_with(engine, value, " on that machine")?;
        Some(Inability { problem, remedy })
    }

    fn gtp_unmet(&self, gtp: &GtpCapabilities, is_cut: bool) -> Option<Inability> {
        let engine = &self.engine;
        let inability = |problem: String, remedy| Some(Inability { problem, remedy });
        if let Some(size) = self.game.board_size
            && gtp.board_sizes.contains(&(size, false))
        {
            let game = &self.game.name;
            return inability(
                format!("{engine} does not take a board of size {size}, which {game} has"),
                "take another engine for this player",
            );
        }
        let knows = |command: &str| {
            gtp.commands.is_empty() || is_cut || gtp.commands.iter().any(|known| known == command)
        };
        if let Some(command) =
            ["clear_board", "play", "genmove"].into_iter().find(|command| !knows(command))
        {
            return inability(
                format!("{engine} does not know the GTP command `{command}`"),
                "take another engine for this player",
            );
        }
        let limits = gtp.limits;
        let untold = |limit: &str, name: &str| {
            inability(
                format!(
                    "{engine} has no command for {limit}: no line of its `gtp.limits` has `{name}`"
                ),
                "add such a line in the engines file, or bound this player's moves by something else",
            )
        };
        if self.depth && !limits.depth {
            return untold("a depth", "{depth}");
        }
        if self.nodes && !limits.nodes {
            return untold("a number of nodes", "{nodes}");
        }
        let each_move = limits.seconds || limits.milliseconds;
        match self.move_time_us {
            Some(us) if us < 1_000_000 && !limits.milliseconds => {
                return untold("a time of less than a second", "{milliseconds}");
            }
            Some(_) if !each_move && (!limits.time_settings || self.clock) => {
                return untold("a time for each move", "{seconds}");
            }
            Some(_) | None => {}
        }
        if self.clock && !limits.time_settings {
            return inability(
                format!("{engine} has no command for a clock: it does not know `time_settings`"),
                "bound this player's moves by `depth`, `nodes` or `move_time`",
            );
        }
        None
    }
}

impl EngineOption {
    /// Why the option rejects a value. `place` says where the option was found, after a blank.
    fn problem_with(&self, engine: &str, value: &str, place: &str) -> Option<String> {
        let takes = match &self.kind {
            OptionKind::Check { .. } if matches!(value, "true" | "false") => return None,
            OptionKind::Button if value == "true" => return None,
            OptionKind::Text { .. } => return None,
            OptionKind::Spin { min, max, .. } => {
                let is_within =
                    value.parse().is_ok_and(|number: i64| (*min..=*max).contains(&number));
                if is_within {
                    return None;
                }
                if min == max { format!("{min}") } else { format!("from {min} to {max}") }
            }
            OptionKind::Combo { choices, .. } => {
                if choices.iter().any(|choice| choice.eq_ignore_ascii_case(value)) {
                    return None;
                }
                format!("one of {}", list(choices.iter().map(String::as_str)))
            }
            OptionKind::Check { .. } => "`true` or `false`".to_owned(),
            OptionKind::Button => "a button, which only `true` presses".to_owned(),
        };
        let value =
            if value.parse::<i64>().is_ok() { value.to_owned() } else { format!("`{value}`") };
        Some(format!("option `{}` of {engine} is {takes}{place}, not {value}", self.name))
    }

    /// The total bytes of its texts.
    fn bytes(&self) -> usize {
        let of_kind = match &self.kind {
            OptionKind::Check { default } | OptionKind::Text { default } => default.len(),
            OptionKind::Spin { default, .. } => default.len() + 2 * size_of::<i64>(),
            OptionKind::Combo { default, choices } => {
                default.len() + choices.iter().map(|choice| choice.len() + 2).sum::<usize>()
            }
            OptionKind::Button => 0,
        };
        self.name.len() + of_kind + 8
    }
}

impl Capabilities {
    /// The whole number that this option has by default, if the engine declares it.
    #[must_use]
    pub fn number_of(&self, option: &str) -> Option<i64> {
        match &named(self.declared.as_ref()?, option)?.kind {
            OptionKind::Spin { default, .. } => default.parse().ok(),
            OptionKind::Check { .. }
            | OptionKind::Combo { .. }
            | OptionKind::Button
            | OptionKind::Text { .. } => None,
        }
    }

    /// A copy cut to the bounds, from the end.
    #[must_use]
    pub fn within_bounds(mut self) -> Self {
        let mut left = CAPABILITIES_BYTES_MAX;
        let mut keep = |bytes: usize| {
            let has_room = bytes <= left;
            left = left.saturating_sub(bytes);
            has_room
        };
        let mut is_cut = self.is_cut;
        let mut cut = |options: &mut Vec<EngineOption>| {
            let kept = options
                .iter()
                .take(CAPABILITIES_MAX)
                .take_while(|option| keep(option.bytes()))
                .count();
            is_cut |= kept < options.len();
            options.truncate(kept);
        };
        cut(&mut self.settable);
        // Options that decide which games a worker gets come first, so that they survive a cut.
        let first = [CHESS960_OPTION, HASH_OPTION, THREADS_OPTION];
        if let Some(declared) = &mut self.declared {
            declared.sort_by_key(|option| {
                !first.iter().any(|name| option.name.eq_ignore_ascii_case(name))
            });
            cut(declared);
        }
        if let Some(gtp) = &mut self.gtp {
            let all = gtp.commands.len();
            let kept = gtp
                .commands
                .iter()
                .take(CAPABILITIES_MAX)
                .take_while(|command| keep(command.len() + 2))
                .count();
            is_cut |= kept < all;
            gtp.commands.truncate(kept);
        }
        self.is_cut = is_cut;
        self
    }

    /// Whether the list is within the bounds.
    #[must_use]
    pub fn is_within_bounds(&self) -> bool {
        let count = |capabilities: &Self| {
            let declared = capabilities.declared.as_ref().map(Vec::len);
            (
                declared,
                capabilities.settable.len(),
                capabilities.gtp.as_ref().map(|gtp| gtp.commands.len()),
            )
        };
        count(&self.clone().within_bounds()) == count(self)
    }
}

/// A value as a text.
fn option_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Bool(flag) => flag.to_string(),
        Value::Integer(number) => number.to_string(),
        // Not possible in a player's options.
        Value::Number(_) | Value::List(_) | Value::Table(_) => String::new(),
    }
}

fn named<'a>(options: &'a [EngineOption], name: &str) -> Option<&'a EngineOption> {
    options.iter().find(|option| option.name.eq_ignore_ascii_case(name))
}

/// Some options, the closest in spelling to a name first.
fn nearest_names(options: &[EngineOption], name: &str) -> String {
    if options.is_empty() {
        return "none".to_owned();
    }
    let name = name.to_ascii_lowercase();
    let distance = |other: &str| strsim::osa_distance(&name, &other.to_ascii_lowercase());
    let mut names: Vec<&str> = options.iter().map(|option| option.name.as_str()).collect();
    names.sort_by_key(|other| distance(other));
    list(names.into_iter())
}

fn list<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let mut texts: Vec<String> = names.take(NAMED_MAX).map(|name| format!("`{name}`")).collect();
    if more > 0 {
        texts.push(format!("{more} more"));
    }
    texts.join(", ")
}

impl fmt::Display for Inability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

#[cfg(test)]
mod tests;
