//! The command line of a match, as authors of engines type it: in our words, or in those of fastchess and cutechess.

use std::path::PathBuf;

use spelrum_toml::did_you_mean;
use toml_edit::{Array, InlineTable, Value};

use super::match_options::{OPTIONS, Takes, Use};
use crate::error::CliError;
use crate::exit::Exit;

/// An engine on the command line, or what holds for all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct EngineWords {
    pub(crate) name: Option<String>,
    pub(crate) command: Option<String>,
    /// The algorithm of a built-in player, which has no program.
    pub(crate) algorithm: Option<String>,
    /// Its keys in an engines file.
    pub(crate) program: InlineTable,
    /// Its options; a built-in player's parameters.
    pub(crate) options: InlineTable,
    /// Its limits in a sweep, and its commit.
    pub(crate) limits: InlineTable,
    /// Whether its program is pushed to the coordinator.
    pub(crate) push: bool,
    /// The name that an `engines.json` has for it.
    pub(crate) configured: Option<String>,
}

/// A match on the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct MatchWords {
    pub(crate) engines: Vec<EngineWords>,
    pub(crate) common: EngineWords,
    /// Keys of the sweep.
    pub(crate) sweep: InlineTable,
    pub(crate) adjudication: InlineTable,
    /// The rule by which Syzygy tables end games, and the folders of the tables.
    pub(crate) syzygy: InlineTable,
    pub(crate) syzygy_folders: Vec<PathBuf>,
    pub(crate) chess960: bool,
    /// Another game than chess.
    pub(crate) game: Option<String>,
    pub(crate) is_gauntlet: bool,
    pub(crate) seeds: Option<u64>,
    games: Option<u64>,
    rounds: Option<u64>,
    pub(crate) no_swap: bool,
    pub(crate) name: Option<String>,
    pub(crate) pgn: Option<PathBuf>,
    pub(crate) write: Option<PathBuf>,
    /// Words for `spelrum run`.
    pub(crate) passed: Vec<String>,
    /// Words that are not needed, and why.
    pub(crate) notes: Vec<Remark>,
    /// Words that cannot be taken, and what to do instead.
    pub(crate) faults: Vec<Remark>,
}

/// Something to say about words of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remark {
    /// The engine that the words belong to, by its name, or else by its program; none if they are about the match.
    pub(crate) engine: Option<String>,
    pub(crate) problem: String,
    /// What to do instead, or the reason.
    pub(crate) remedy: String,
}

impl From<Remark> for CliError {
    fn from(Remark { problem, remedy, .. }: Remark) -> Self {
        Self::new(Exit::Usage, "read the match").because(problem).help(remedy)
    }
}

type Result<T> = std::result::Result<T, Remark>;

/// The clock of an engine that has none, whatever all others have.
pub(crate) const NO_CLOCK: &str = "inf";

/// The protocols of engines.
pub(crate) const PROTOCOLS: [&str; 5] = ["uci", "xboard", "ugi", "gtp", "lines"];

/// Games of two engines unless the command line says otherwise: without and with a sequential test.
const GAMES: u64 = 1_000;
const GAMES_OF_TEST: u64 = 20_000;

fn wrong(problem: impl Into<String>, remedy: impl Into<String>) -> Remark {
    Remark { engine: None, problem: problem.into(), remedy: remedy.into() }
}

fn number(what: &str, text: &str) -> Result<i64> {
    text.parse().ok().filter(|number| *number >= 0).ok_or_else(|| {
        wrong(format!("{what} is `{text}`, which is no whole number"), "write digits")
    })
}

fn decimal(what: &str, text: &str) -> Result<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| {
        wrong(format!("{what} is `{text}`, which is no number"), "write one such as 0.05")
    })
}

fn choice<'a>(what: &str, text: &str, of: &[(&str, &'a str)]) -> Result<&'a str> {
    let found = of.iter().find(|(word, _)| *word == text);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let words: Vec<&str> = of.iter().map(|(word, _)| *word).collect();
        wrong(format!("{what} is `{text}`"), format!("write one of: {}", words.join(", ")))
    })
}

const YES_OR_NO: [(&str, &str); 2] = [("true", "true"), ("false", "false")];

impl EngineWords {
    /// Takes `KEY=VALUE`, or a key that needs no value. Returns the reason if it is not needed.
    fn take(&mut self, word: &str) -> Result<Option<&'static str>> {
        const ALONE: [&str; 5] = ["ponder", "whitepov", "trust", "debug", "push"];
        const KEYS: [&str; 20] = [
            "cmd",
            "conf",
            "algorithm",
            "name",
            "dir",
            "args",
            "arg",
            "proto",
            "tc",
            "st",
            "nodes",
            "depth",
            "plies",
            "timemargin",
            "restart",
            "initstr",
            "commit",
            "bench",
            "push",
            "option.",
        ];
        let (key, value) =
            if ALONE.contains(&word) { (word, "true") } else { pair("an engine", word)? };
        if let Some(option) = key.strip_prefix("option.") {
            self.options.insert(option, option_value(value));
            return Ok(None);
        }
        match key {
            "cmd" => self.command = Some(value.to_owned()),
            "algorithm" => self.algorithm = Some(value.to_owned()),
            "name" => self.name = Some(value.to_owned()),
            "dir" => _ = self.program.insert("directory", value.into()),
            "args" => {
                let words = shlex::split(value).ok_or_else(|| {
                    wrong(format!("the arguments `{value}` have a quote without an end"), "end it")
                })?;
                self.program.insert("args", Value::Array(words.into_iter().collect()));
            }
            "arg" => {
                let args = self.program.get_or_insert("args", Array::new());
                if let Some(args) = args.as_array_mut() {
                    args.push(value);
                }
            }
            "proto" => {
                let mut names = PROTOCOLS.map(|name| (name, name)).to_vec();
                names.push(("cecp", "xboard"));
                let protocol = choice("the protocol", value, &names)?;
                self.program.insert("protocol", protocol.into());
            }
            "tc" if matches!(value, "inf" | "infinite") => {
                self.limits.insert("clock", NO_CLOCK.into());
            }
            "tc" => {
                let rest =
                    ["0/", "inf/", "infinite/"].iter().find_map(|all| value.strip_prefix(all));
                self.limits.insert("clock", rest.unwrap_or(value).into());
            }
            "st" => {
                let seconds = decimal("the time of a move", value)?;
                if seconds <= 0.0 {
                    return Err(wrong(
                        format!("the time of a move is `{value}`"),
                        "write seconds, such as 0.1",
                    ));
                }
                let us = (seconds * 1e6).round() as u64;
                let time = if us.is_multiple_of(1_000) {
                    format!("{}ms", us / 1_000)
                } else {
                    format!("{us}us")
                };
                self.limits.insert("move_time", time.into());
            }
            "nodes" => _ = self.limits.insert("nodes", number("`nodes`", value)?.into()),
            "depth" | "plies" => _ = self.limits.insert("depth", number("`depth`", value)?.into()),
            "timemargin" => {
                let ms = number("`timemargin`, in milliseconds,", value)?;
                self.limits.insert("margin", format!("{ms}ms").into());
            }
            "commit" => _ = self.limits.insert("commit", value.into()),
            "bench" => _ = self.limits.insert("bench", number("`bench`", value)?.into()),
            "push" => {
                self.push =
                    choice("`push`", value, &[("true", "true"), ("false", "false")])? == "true"
            }
            "initstr" => {
                for line in value.replace("\\n", "\n").lines() {
                    self.take_initial_line(line);
                }
            }
            "restart" | "ponder" | "whitepov" if matches!(value, "false" | "off" | "auto") => {}
            "restart" => {
                return Ok(Some(
                    "one process plays several games, and is notified of each new one",
                ));
            }
            "trust" => return Ok(Some("the rules decide games; claims of engines are ignored")),
            "stderr" | "debug" => {
                return Ok(Some(
                    "an engine's last lines are stored with each game it loses; spelrum run --engine-logs DIR logs everything",
                ));
            }
            "ponder" => {
                return Err(wrong(
                    "pondering is not supported",
                    "leave `ponder` out: both sides of a game share a core here",
                ));
            }
            "whitepov" => {
                return Err(wrong(
                    "scores from White's point of view are not supported",
                    "leave `whitepov` out, and end no game by such an engine's scores: no --resign, no --draw",
                ));
            }
            "book" | "bookdepth" => {
                return Err(wrong(
                    "books of Polyglot are not read",
                    "give all engines the openings of an EPD or PGN file: --book FILE",
                ));
            }
            "tscale" => {
                return Err(wrong(
                    "`tscale` is not supported",
                    "write `startup_timeout` and the other times into an engines file",
                ));
            }
            "conf" => self.configured = Some(value.to_owned()),
            _ => {
                return Err(wrong(
                    format!("an engine has no key `{key}`"),
                    did_you_mean(key, "keys", KEYS),
                ));
            }
        }
        Ok(None)
    }

    /// Takes a line that the engine is sent at its start: an option of UCI, or a command of XBoard.
    fn take_initial_line(&mut self, line: &str) {
        let option =
            line.strip_prefix("setoption name ").and_then(|rest| rest.split_once(" value "));
        if let Some((name, value)) = option {
            self.options.insert(name.trim(), option_value(value.trim()));
            return;
        }
        let none = InlineTable::from_iter([("setup", Array::new())]);
        let setup = self.program.get_or_insert("xboard", none);
        let setup = setup.as_inline_table_mut().and_then(|table| table.get_mut("setup"));
        if let Some(setup) = setup.and_then(Value::as_array_mut) {
            setup.push(line);
        }
    }

    /// What it says beyond an engine of this list, which says the rest.
    pub(crate) fn over(self, listed: &Self) -> Self {
        let mut merged = listed.clone();
        merged.name = self.name.or(merged.name);
        merged.command = self.command.or(merged.command);
        merged.algorithm = self.algorithm.or(merged.algorithm);
        for (key, value) in self.program {
            merged.program.insert(key, value);
        }
        for (key, value) in self.options {
            merged.options.insert(key, value);
        }
        for (key, value) in self.limits {
            merged.limits.insert(key, value);
        }
        merged
    }

    /// The engine's name, or else its program.
    pub(crate) fn label(&self) -> Option<String> {
        self.name.clone().or_else(|| self.command.clone()).or_else(|| self.configured.clone())
    }

    /// The engine's protocol, unless what holds for all engines says another.
    pub(crate) fn protocol(&self, common: &Self) -> String {
        let said = |words: &Self| words.program.get("protocol")?.as_str().map(str::to_owned);
        said(self).or_else(|| said(common)).unwrap_or_else(|| "uci".to_owned())
    }
}

/// As engines files have it.
fn option_value(text: &str) -> Value {
    match (text, text.parse::<i64>()) {
        ("true", _) => true.into(),
        ("false", _) => false.into(),
        (_, Ok(number)) => number.into(),
        _ => text.into(),
    }
}

fn pair<'a>(of: &str, word: &'a str) -> Result<(&'a str, &'a str)> {
    word.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
        let problem = format!("`{word}` is no KEY=VALUE of {of}");
        wrong(problem, "engines without keys come first: spelrum match ./new ./old --clock 8+0.08")
    })
}

impl MatchWords {
    /// Returns the words if none is at fault.
    ///
    /// # Errors
    /// Their first fault, if there is any.
    pub(crate) fn checked(mut self) -> Result<Self> {
        if self.faults.is_empty() { Ok(self) } else { Err(self.faults.swap_remove(0)) }
    }

    /// Reads the words after `spelrum match`; those without a meaning here are its faults.
    pub(crate) fn gather(words: &[String]) -> Self {
        let mut read = Self::default();
        let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
        for word in words {
            let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
            let name =
                name.filter(|name| name.starts_with(|first: char| first.is_ascii_alphabetic()));
            match (name, groups.last_mut()) {
                (Some(name), _) => match name.split_once('=') {
                    Some((name, value)) => groups.push((name, vec![value])),
                    None => groups.push((name, Vec::new())),
                },
                (None, Some((_, values))) => values.push(word),
                (None, None) => {
                    let command = Some(word.clone());
                    read.engines.push(EngineWords { command, ..EngineWords::default() });
                }
            }
        }
        for (name, values) in groups {
            if let Err(fault) = read.take(name, &values) {
                read.faults.push(fault);
            }
        }
        let Self { engines, common, faults, .. } = &mut read;
        for engine in engines.iter_mut().filter(|engine| engine.protocol(common) != "xboard") {
            if engine.program.remove("xboard").is_some() {
                let fault = wrong(
                    "lines sent at the start are for XBoard alone",
                    "set options of a UCI engine by option.NAME=VALUE",
                );
                faults.push(Remark { engine: engine.label(), ..fault });
            }
        }
        read
    }

    /// Takes words of an engine.
    fn take_keys(&mut self, mut engine: EngineWords, words: &[&str]) -> EngineWords {
        let taken: Vec<_> = words.iter().map(|word| (*word, engine.take(word))).collect();
        let label = engine.label().or_else(|| Some("each engine".to_owned()));
        for (word, taken) in taken {
            let engine = label.clone();
            match taken {
                Ok(None) => {}
                Ok(Some(why)) => {
                    let key = word.split_once('=').map_or(word, |(key, _)| key);
                    let note = wrong(format!("{key} is not needed"), why);
                    self.notes.push(Remark { engine, ..note });
                }
                Err(fault) => self.faults.push(Remark { engine, ..fault }),
            }
        }
        engine
    }

    fn take_common(&mut self, words: &[&str]) {
        let common = std::mem::take(&mut self.common);
        self.common = self.take_keys(common, words);
        let EngineWords { configured, algorithm, .. } = &mut self.common;
        for (key, value) in [("conf", configured.take()), ("algorithm", algorithm.take())] {
            if value.is_some() {
                let problem = format!("`{key}` belongs to one engine");
                self.faults.push(wrong(problem, "write it after --engine"));
            }
        }
    }

    fn take(&mut self, name: &str, values: &[&str]) -> Result<()> {
        let Some(option) = OPTIONS.iter().find(|option| option.names.contains(&name)) else {
            let names = OPTIONS.iter().flat_map(|option| option.names.iter().copied());
            let remedy = did_you_mean(name, "options", names);
            let problem = format!("there is no option `{name}`");
            return Err(wrong(problem, format!("{remedy} (spelrum match --help has all of them)")));
        };
        let typed = name;
        let name = option.names[0];
        match option.becomes {
            Use::Help => {
                return Err(wrong("the help stands alone", "write spelrum match --help"));
            }
            Use::Ours => {}
            Use::Passed => {
                self.passed.push(format!("--{name}"));
                self.passed.extend(values.iter().map(ToString::to_string));
            }
            Use::NotNeeded(why) => {
                self.notes.push(wrong(format!("{typed} is not needed"), why));
                return Ok(());
            }
            Use::Refused(remedy) => {
                return Err(wrong(format!("`{name}` is not supported"), remedy));
            }
        }
        let (word, pairs) = match (option.takes, values) {
            (Takes::Nothing, []) => ("", &[][..]),
            (Takes::One, [word]) => (*word, &[][..]),
            (Takes::Pairs, [_, ..]) => ("", values),
            (Takes::OneAndPairs, [word, pairs @ ..]) if !word.contains('=') => (*word, pairs),
            (Takes::OneAndPairs, [_, ..]) => ("", values),
            _ => {
                let form = format!("--{name} {}", option.values);
                return Err(wrong(
                    format!("`{name}` has {} values", values.len()),
                    format!("write {}; engines come first", form.trim_end()),
                ));
            }
        };
        match name {
            "engine" => {
                let engine = self.take_keys(EngineWords::default(), pairs);
                self.engines.push(engine);
            }
            "each" => self.take_common(pairs),
            "option" => {
                let words: Vec<String> =
                    pairs.iter().map(|word| format!("option.{word}")).collect();
                self.take_common(&words.iter().map(String::as_str).collect::<Vec<_>>());
            }
            "clock" => self.take_common(&[&format!("tc={word}")]),
            "move-time" => self.take_common(&[&format!("st={word}")]),
            "nodes" | "depth" => self.take_common(&[&format!("{name}={word}")]),
            "protocol" => self.take_common(&[&format!("proto={word}")]),
            "game" => self.game = Some(word.to_owned()),
            "book" => self.take_book(word, pairs)?,
            "games" => self.games = Some(number("`games`", word)?.unsigned_abs()),
            "rounds" => self.rounds = Some(number("`rounds`", word)?.unsigned_abs()),
            "sprt" => self.take_sprt(word, pairs)?,
            "tournament" => {
                let kinds = [("roundrobin", ""), ("round-robin", ""), ("gauntlet", "gauntlet")];
                self.is_gauntlet = choice("the tournament", word, &kinds)? == "gauntlet";
            }
            "seeds" => self.seeds = Some(number("`seeds`", word)?.unsigned_abs().max(1)),
            "resign" => self.take_resign(pairs)?,
            "draw" => self.take_draw(pairs)?,
            "tb" => self.syzygy_folders = std::env::split_paths(word).collect(),
            "tbpieces" => _ = self.syzygy.insert("pieces", number("`tbpieces`", word)?.into()),
            "tbignore50" => _ = self.syzygy.insert("fifty_moves", false.into()),
            "tbadjudicate" => {
                let results = [("BOTH", "all"), ("WIN_LOSS", "win_loss"), ("DRAW", "draw")];
                let results = choice("`tbadjudicate`", word, &results)?;
                self.syzygy.insert("results", results.into());
            }
            "max-moves" => {
                let plies = number("`max-moves`", word)?.saturating_mul(2);
                self.sweep.insert("max_plies", plies.into());
            }
            "variant" => {
                let kinds = [
                    ("standard", "chess"),
                    ("chess", "chess"),
                    ("fischerandom", "960"),
                    ("chess960", "960"),
                ];
                self.chess960 = choice("the variant", word, &kinds)? == "960";
            }
            "seed" => _ = self.sweep.insert("seed", number("`seed`", word)?.into()),
            "name" => self.name = Some(word.to_owned()),
            "pgn" => self.take_pgn(word, pairs)?,
            "noswap" => self.no_swap = true,
            "write" => self.write = Some(PathBuf::from(word)),
            _ => {}
        }
        Ok(())
    }

    fn take_book(&mut self, word: &str, pairs: &[&str]) -> Result<()> {
        let mut book = InlineTable::from_iter([("kind", "book")]);
        let mut file = (!word.is_empty()).then_some(word);
        for word in pairs {
            match pair("a book", word)? {
                ("file", path) => file = Some(path),
                ("order", order) => {
                    let orders = [("random", "drawn"), ("drawn", "drawn"), ("sequential", "")];
                    if choice("the order of openings", order, &orders)? == "drawn" {
                        book.insert("order", "drawn".into());
                    }
                }
                (key @ ("plies" | "count" | "start"), count) => {
                    book.insert(key, number(&format!("`{key}`"), count)?.into());
                }
                ("format" | "policy", _) => {}
                (key, _) => {
                    let keys = ["file", "order", "plies", "start", "count", "format", "policy"];
                    return Err(wrong(
                        format!("a book has no key `{key}`"),
                        did_you_mean(key, "keys", keys),
                    ));
                }
            }
        }
        let Some(file) = file else {
            return Err(wrong("the book has no file", "write --book FILE"));
        };
        book.insert("file", file.into());
        self.sweep.insert("openings", book.into());
        Ok(())
    }

    fn take_sprt(&mut self, word: &str, pairs: &[&str]) -> Result<()> {
        let mut test = InlineTable::new();
        let listed = word.split(',').filter(|text| !text.is_empty());
        for (key, text) in ["elo0", "elo1", "alpha", "beta"].into_iter().zip(listed) {
            test.insert(key, decimal(&format!("`{key}`"), text)?.into());
        }
        for word in pairs {
            match pair("a sequential test", word)? {
                (key @ ("elo0" | "elo1" | "alpha" | "beta"), text) => {
                    test.insert(key, decimal(&format!("`{key}`"), text)?.into());
                }
                ("model", model) => {
                    let models = [("normalized", "normalized"), ("logistic", "logistic")];
                    test.insert("model", choice("the model", model, &models)?.into());
                }
                (key, _) => {
                    let problem = format!("a sequential test has no key `{key}`");
                    return Err(wrong(problem, "it has elo0, elo1, alpha, beta and model"));
                }
            }
        }
        if !(test.contains_key("elo0") && test.contains_key("elo1")) {
            let problem = "the sequential test lacks one of its hypotheses";
            return Err(wrong(problem, "write --sprt 0,5, or -sprt elo0=0 elo1=5"));
        }
        self.sweep.insert("stop", InlineTable::from_iter([("sprt", test)]).into());
        Ok(())
    }

    fn take_resign(&mut self, pairs: &[&str]) -> Result<()> {
        let mut rule = InlineTable::from_iter([("both", false)]);
        for word in pairs {
            match pair("resign", word)? {
                ("movecount", text) => {
                    _ = rule.insert("moves", number("`movecount`", text)?.into())
                }
                ("score", text) => _ = rule.insert("score", number("`score`", text)?.into()),
                ("twosided", text) => {
                    let both = choice("`twosided`", text, &YES_OR_NO)? == "true";
                    rule.insert("both", both.into());
                }
                (key, _) => {
                    let problem = format!("resign has no key `{key}`");
                    return Err(wrong(problem, "it has movecount, score and twosided"));
                }
            }
        }
        self.adjudication.insert("resign", rule.into());
        Ok(())
    }

    fn take_draw(&mut self, pairs: &[&str]) -> Result<()> {
        let mut rule = InlineTable::from_iter([("restart", true)]);
        for word in pairs {
            match pair("draw", word)? {
                ("movenumber", text) => {
                    _ = rule.insert("after", number("`movenumber`", text)?.into())
                }
                ("movecount", text) => {
                    _ = rule.insert("moves", number("`movecount`", text)?.into())
                }
                ("score", text) => _ = rule.insert("score", number("`score`", text)?.into()),
                (key, _) => {
                    let problem = format!("draw has no key `{key}`");
                    return Err(wrong(problem, "it has movenumber, movecount and score"));
                }
            }
        }
        self.adjudication.insert("draw", rule.into());
        Ok(())
    }

    /// Games are written with all that is known of their moves.
    fn take_pgn(&mut self, word: &str, pairs: &[&str]) -> Result<()> {
        let mut file = (!word.is_empty()).then_some(word);
        for word in pairs {
            let (key, value) = pair("pgn", word)?;
            match key {
                "file" => file = Some(value),
                // What to write of moves: here it is all that is known.
                "append" | "nodes" | "seldepth" | "nps" | "hashfull" | "tbhits" | "timeleft"
                | "latency" | "min" | "notation" | "match_line" | "pv" => {}
                _ => {
                    let problem = format!("the PGN has no key `{key}`");
                    return Err(wrong(problem, did_you_mean(key, "keys", ["file"])));
                }
            }
        }
        let file = file.ok_or_else(|| wrong("the PGN has no file", "write --pgn FILE"))?;
        self.pgn = Some(PathBuf::from(file));
        Ok(())
    }

    /// Whether a coordinator's workers play.
    pub(crate) fn is_remote(&self) -> bool {
        self.passed_value("--coordinator").is_some()
    }

    /// The value of an option that another command takes.
    pub(crate) fn passed_value(&self, name: &str) -> Option<&str> {
        let place = self.passed.iter().position(|word| word == name)?;
        self.passed.get(place + 1).map(String::as_str)
    }

    /// The games of two engines: even where sides are swapped.
    pub(crate) fn games(&self) -> u64 {
        let usual = if self.sweep.contains_key("stop") { GAMES_OF_TEST } else { GAMES };
        let games = match (self.rounds, self.games) {
            (Some(rounds), games) => rounds.saturating_mul(games.unwrap_or(2)),
            (None, games) => games.unwrap_or(usual),
        };
        if self.no_swap { games } else { games.next_multiple_of(2) }
    }
}
