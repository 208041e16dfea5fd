//! What engines report about themselves at their start, and whether that is enough for a player.
//!
//! A worker learns it when it starts each engine of its engines file, and offers it with the engine. So a
//! game that an engine cannot play is refused before it begins, with the reason in one sentence.

use std::fmt;

use spelrum_engine::{HASH_OPTION, Parameters, Protocol, Rules, Value};

/// The option by which a UCI engine is told to castle as in Chess960.
pub const CHESS960_OPTION: &str = "UCI_Chess960";
/// The option for the number of threads that a UCI engine thinks on.
pub const THREADS_OPTION: &str = "Threads";

/// The most options that a worker offers of one engine; also the most GTP commands.
pub const CAPABILITIES_MAX: usize = 500;
/// The most bytes of all names and texts that a worker offers of one engine.
pub const CAPABILITIES_BYTES_MAX: usize = 16 * 1_024;

/// Options that a sentence names at most.
const NAMED_MAX: usize = 4;

/// What an engine can do, as it reported at its start.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Capabilities {
    /// The options that it declares, in its order; `None` where its protocol cannot say: GTP. Their defaults are
    /// the values that they have unless a sweep sets them, so that those of the engines file are among them.
    pub declared: Option<Vec<EngineOption>>,
    /// The options that a sweep may set, as the engines file of that machine has them.
    pub settable: Vec<EngineOption>,
    /// What a GTP engine knows.
    pub gtp: Option<GtpCapabilities>,
    /// Whether something was left out to stay within the bounds: then what is absent may still be there.
    pub is_cut: bool,
}

/// An option, and the values that it takes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EngineOption {
    /// Its name. Names are equal regardless of case.
    pub name: String,
    /// The values.
    pub kind: OptionKind,
}

/// The values that an option takes, with its default as a text where it has one.
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
    /// One of several texts.
    Combo {
        /// Its default.
        default: String,
        /// The texts.
        choices: Vec<String>,
    },
    /// None: setting it presses it, which a sweep writes as `true`.
    Button,
    /// Any text.
    Text {
        /// Its default.
        default: String,
    },
}

/// What a GTP engine knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GtpCapabilities {
    /// The commands of its `list_commands`; empty if it did not answer.
    pub commands: Vec<String>,
    /// The board sizes that were tried, and whether it took them. None where the engines file says that it
    /// must not be told the size.
    pub board_sizes: Vec<(u32, bool)>,
    /// The limits that it can be told, by the engines file or by the protocol.
    pub limits: GtpLimits,
}

/// The limits that a GTP engine can be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::struct_excessive_bools, reason = "each limit can be told or not, independently")]
pub struct GtpLimits {
    /// Plies.
    pub depth: bool,
    /// Nodes.
    pub nodes: bool,
    /// Whole seconds for each move.
    pub seconds: bool,
    /// Milliseconds for each move.
    pub milliseconds: bool,
    /// The protocol's own `time_settings`.
    pub time_settings: bool,
}

/// What a player asks of its engine, beside being the program that the sweep wants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EngineRequest {
    /// The engine's name in sweeps.
    pub engine: String,
    /// The protocol.
    pub protocol: Protocol,
    /// The options that it sets, with their values as texts.
    pub options: Vec<(String, String)>,
    /// The game.
    pub game: GameRequest,
    /// Whether it bounds moves by depth.
    pub depth: bool,
    /// Whether it bounds moves by nodes.
    pub nodes: bool,
    /// The time for each move, in microseconds.
    pub move_time_us: Option<u64>,
    /// Whether it has a clock for its game.
    pub clock: bool,
}

/// The game that a player plays.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GameRequest {
    /// Its name.
    pub name: String,
    /// Whether castling is that of Chess960.
    pub chess960: bool,
    /// The size of its board for GTP.
    pub board_size: Option<u32>,
}

/// Why an engine cannot play for a player: a sentence without an end mark, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inability {
    /// What it cannot do.
    pub problem: String,
    /// What to do.
    pub remedy: &'static str,
}

impl GameRequest {
    /// The game of these rules.
    #[must_use]
    pub fn of_rules(rules: &Rules) -> Self {
        let mut values = rules.values();
        let chess960 =
            values.any(|(info, value)| info.name == "chess960" && *value == Value::Bool(true));
        Self { chess960, ..Self::of_game(rules.name()) }
    }

    /// A game under its usual rules. One that no engine of today knows asks for nothing.
    #[must_use]
    pub fn of_game(name: &str) -> Self {
        let board = Rules::from_name(name).ok().and_then(|rules| rules.game().gtp_board);
        let board_size = board.map(|board| board.size);
        Self { name: name.to_owned(), chess960: false, board_size }
    }
}

impl EngineRequest {
    /// What a player with these parameters, which are all spelt out, asks; `None` if it is a built-in one.
    #[must_use]
    pub fn of_parameters(parameters: &Parameters, game: GameRequest) -> Option<Self> {
        let text = |name: &str| match parameters.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            Some(_) | None => None,
        };
        let protocol = Protocol::named(&text("algorithm")?)?;
        let options = match parameters.get("options") {
            Some(Value::Table(options)) => {
                let set = options.iter().map(|(name, value)| (name.clone(), said(value)));
                set.collect()
            }
            Some(_) | None => Vec::new(),
        };
        let move_time_us = match parameters.get("move_time_us") {
            Some(Value::Integer(us)) => u64::try_from(*us).ok(),
            Some(_) | None => None,
        };
        Some(Self {
            engine: text("engine")?,
            protocol,
            options,
            game,
            depth: parameters.contains_key("depth"),
            nodes: parameters.contains_key("nodes"),
            move_time_us,
            clock: parameters.contains_key("clock"),
        })
    }

    /// The whole number that it sets this option to, if it does.
    #[must_use]
    pub fn number_of(&self, option: &str) -> Option<i64> {
        let (_, value) = self.options.iter().find(|(name, _)| name.eq_ignore_ascii_case(option))?;
        value.parse().ok()
    }

    /// Whether an engine with these capabilities may refuse it: nothing of it can be refused by one that
    /// reported nothing.
    #[must_use]
    pub fn unmet_by(&self, capabilities: &Capabilities) -> Option<Inability> {
        let option = || self.options.iter().find_map(|it| self.option_unmet(capabilities, it));
        match self.protocol {
            Protocol::Uci => self.chess960_unmet(capabilities).or_else(option),
            Protocol::Gtp => {
                let gtp = capabilities.gtp.as_ref();
                gtp.and_then(|gtp| self.gtp_unmet(gtp, capabilities.is_cut)).or_else(option)
            }
        }
    }

    fn chess960_unmet(
        &self,
        Capabilities { declared, is_cut, .. }: &Capabilities,
    ) -> Option<Inability> {
        let declared = declared.as_ref().filter(|_| self.game.chess960 && !is_cut)?;
        let knows = named(declared, CHESS960_OPTION)
            .is_some_and(|it| matches!(it.kind, OptionKind::Check { .. }));
        (!knows).then(|| Inability {
            problem: format!("{} does not play Chess960", self.engine),
            remedy: "take another engine for this player, or leave chess960 out of the game's rules",
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
                        near(declared, name)
                    ),
                    remedy: "change `options` of this player in the sweep",
                });
            };
            if let Some(problem) = option.problem_with(engine, value, "") {
                let remedy = "change `options` of this player in the sweep";
                return Some(Inability { problem, remedy });
            }
        }
        let remedy = "change it in the sweep; the owner of the worker can allow it under the engine's `options` \
                      in its engines file";
        let Some(option) = named(settable, name) else {
            return (!is_cut).then(|| Inability {
                problem: format!(
                    "option `{name}` of {engine} may not be set by a sweep on that machine; it allows {}",
                    near(settable, name)
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
            gtp.commands.is_empty() || is_cut || gtp.commands.iter().any(|it| it == command)
        };
        if let Some(command) = ["clear_board", "play", "genmove"].into_iter().find(|it| !knows(it))
        {
            return inability(
                format!("{engine} does not know the GTP command `{command}`"),
                "take another engine for this player",
            );
        }
        let limits = gtp.limits;
        let untold = |what: &str, name: &str| {
            inability(
                format!(
                    "{engine} has no command for {what}: no line of its `gtp.limits` has `{name}`"
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
    /// Why it does not take a value. `place` says where that is so, behind a blank.
    fn problem_with(&self, engine: &str, value: &str, place: &str) -> Option<String> {
        let takes = match &self.kind {
            OptionKind::Check { .. } if matches!(value, "true" | "false") => return None,
            OptionKind::Button if value == "true" => return None,
            OptionKind::Text { .. } => return None,
            OptionKind::Spin { min, max, .. } => {
                let is_within = value.parse().is_ok_and(|it: i64| (*min..=*max).contains(&it));
                if is_within {
                    return None;
                }
                if min == max { format!("{min}") } else { format!("from {min} to {max}") }
            }
            OptionKind::Combo { choices, .. } => {
                if choices.iter().any(|it| it.eq_ignore_ascii_case(value)) {
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

    /// The bytes of its texts.
    fn bytes(&self) -> usize {
        let of_kind = match &self.kind {
            OptionKind::Check { default } | OptionKind::Text { default } => default.len(),
            OptionKind::Spin { default, .. } => default.len() + 2 * size_of::<i64>(),
            OptionKind::Combo { default, choices } => {
                default.len() + choices.iter().map(|it| it.len() + 2).sum::<usize>()
            }
            OptionKind::Button => 0,
        };
        self.name.len() + of_kind + 8
    }
}

impl Capabilities {
    /// The whole number that this option has unless a sweep sets it, if the engine declares it.
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

    /// The same within the bounds: what is too much is left out, from the end.
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
            let kept =
                options.iter().take(CAPABILITIES_MAX).take_while(|it| keep(it.bytes())).count();
            is_cut |= kept < options.len();
            options.truncate(kept);
        };
        cut(&mut self.settable);
        // What decides which games a worker gets comes first, so that it is known whatever an engine declares beside.
        let first = [CHESS960_OPTION, HASH_OPTION, THREADS_OPTION];
        if let Some(declared) = &mut self.declared {
            declared.sort_by_key(|it| !first.iter().any(|name| it.name.eq_ignore_ascii_case(name)));
            cut(declared);
        }
        if let Some(gtp) = &mut self.gtp {
            let all = gtp.commands.len();
            let kept = gtp
                .commands
                .iter()
                .take(CAPABILITIES_MAX)
                .take_while(|it| keep(it.len() + 2))
                .count();
            is_cut |= kept < all;
            gtp.commands.truncate(kept);
        }
        self.is_cut = is_cut;
        self
    }

    /// Whether it is within the bounds.
    #[must_use]
    pub fn is_within_bounds(&self) -> bool {
        let count = |it: &Self| {
            let declared = it.declared.as_ref().map(Vec::len);
            (declared, it.settable.len(), it.gtp.as_ref().map(|gtp| gtp.commands.len()))
        };
        count(&self.clone().within_bounds()) == count(self)
    }
}

/// A value as a text.
fn said(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Bool(flag) => flag.to_string(),
        Value::Integer(number) => number.to_string(),
        // Not in a player's options.
        Value::Number(_) | Value::List(_) | Value::Table(_) => String::new(),
    }
}

fn named<'a>(options: &'a [EngineOption], name: &str) -> Option<&'a EngineOption> {
    options.iter().find(|it| it.name.eq_ignore_ascii_case(name))
}

/// Some options, the nearest to a name by spelling first.
fn near(options: &[EngineOption], name: &str) -> String {
    if options.is_empty() {
        return "none".to_owned();
    }
    let name = name.to_ascii_lowercase();
    let distance = |other: &str| strsim::osa_distance(&name, &other.to_ascii_lowercase());
    let mut names: Vec<&str> = options.iter().map(|it| it.name.as_str()).collect();
    names.sort_by_key(|other| distance(other));
    list(names.into_iter())
}

fn list<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(NAMED_MAX);
    let mut texts: Vec<String> = names.take(NAMED_MAX).map(|it| format!("`{it}`")).collect();
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
