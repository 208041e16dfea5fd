//! The command line of a match, as authors of engines type it: in our words, or in those of fastchess and cutechess.

use std::path::{Path, PathBuf};

use spelrum_toml::did_you_mean;
use toml_edit::{Array, InlineTable, Value};

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    One,
    /// `KEY=VALUE`, any number of times.
    Pairs,
    /// One word, and then `KEY=VALUE`.
    OneAndPairs,
}

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// It says what is played.
    Ours,
    /// It goes to `spelrum run` as it is.
    Passed,
    /// Not needed here, for this reason.
    NotNeeded(&'static str),
    /// Not possible; do this.
    Refused(&'static str),
    /// The help.
    Help,
}

struct OptionWord {
    /// Its names: ours first.
    names: &'static [&'static str],
    takes: Takes,
    /// Its values in the help.
    values: &'static str,
    /// Its meaning in the help; not shown if empty.
    meaning: &'static str,
    becomes: Use,
}

const fn ours(
    names: &'static [&'static str],
    takes: Takes,
    values: &'static str,
    meaning: &'static str,
) -> OptionWord {
    OptionWord { names, takes, values, meaning, becomes: Use::Ours }
}

const fn passed(name: &'static [&'static str], takes: Takes, meaning: &'static str) -> OptionWord {
    let values = if matches!(takes, Takes::One) { "VALUE" } else { "" };
    OptionWord { names: name, takes, values, meaning, becomes: Use::Passed }
}

const fn not_needed(names: &'static [&'static str], why: &'static str) -> OptionWord {
    OptionWord {
        names,
        takes: Takes::OneAndPairs,
        values: "",
        meaning: "",
        becomes: Use::NotNeeded(why),
    }
}

const fn refused(names: &'static [&'static str], remedy: &'static str) -> OptionWord {
    OptionWord {
        names,
        takes: Takes::OneAndPairs,
        values: "",
        meaning: "",
        becomes: Use::Refused(remedy),
    }
}

const OPTIONS: &[OptionWord] = &[
    ours(&["engine"], Takes::Pairs, "cmd=PROGRAM KEY=VALUE…", "an engine, with keys of its own"),
    ours(&["each"], Takes::Pairs, "KEY=VALUE…", "the same keys for all engines"),
    ours(
        &["clock", "tc"],
        Takes::One,
        "8+0.08",
        "seconds for a game and an increment for each move, or 40/60+0.6",
    ),
    ours(&["move-time", "st"], Takes::One, "SECONDS", "time of each move"),
    ours(&["nodes"], Takes::One, "N", "nodes of each move"),
    ours(&["depth"], Takes::One, "N", "plies of each search"),
    ours(&["option"], Takes::Pairs, "NAME=VALUE…", "options of all engines: Hash=16"),
    ours(
        &["book", "openings"],
        Takes::OneAndPairs,
        "FILE [order=random] [plies=N] [count=N]",
        "openings from an EPD or PGN file, also .gz or .zip; without it, four random plies",
    ),
    ours(
        &["games"],
        Takes::One,
        "N",
        "games of two engines [default: 1000; with --sprt at most 20000]",
    ),
    ours(&["rounds"], Takes::One, "N", "rounds, each of --games games [default of those: 2]"),
    ours(
        &["sprt"],
        Takes::OneAndPairs,
        "ELO0,ELO1 [alpha=0.05] [beta=0.05] [model=normalized]",
        "end once an SPRT (sequential probability ratio test) has decided",
    ),
    ours(
        &["tournament"],
        Takes::One,
        "round-robin|gauntlet",
        "the pairing of three or more engines",
    ),
    ours(
        &["seeds"],
        Takes::One,
        "N",
        "how many engines, from the first, meet all others in a gauntlet",
    ),
    ours(&["resign"], Takes::Pairs, "movecount=N score=CP [twosided=true]", "end lost games early"),
    ours(&["draw"], Takes::Pairs, "movenumber=N movecount=N score=CP", "end drawn games early"),
    ours(&["max-moves", "maxmoves"], Takes::One, "N", "a game is drawn after this many moves"),
    ours(&["variant"], Takes::One, "standard|fischerandom", "chess or Chess960"),
    ours(&["seed", "srand"], Takes::One, "N", "the seed that openings are drawn by [default: 1]"),
    ours(
        &["name", "event"],
        Takes::One,
        "NAME",
        "the experiment's name [default: the engines' names]",
    ),
    ours(
        &["pgn", "pgnout"],
        Takes::OneAndPairs,
        "FILE",
        "write all games to this file at the end; it replaces an existing one",
    ),
    ours(&["noswap"], Takes::Nothing, "", "the first engine has white in every game"),
    ours(
        &["write"],
        Takes::One,
        "SWEEP",
        "write the sweep and its engines file instead of playing",
    ),
    passed(&["db"], Takes::One, "the database [default: the name with .db]"),
    passed(&["slots", "concurrency"], Takes::One, "games at once [default: the number of cores]"),
    passed(&["new"], Takes::Nothing, "begin anew beside a match of this name"),
    passed(&["yes"], Takes::Nothing, "do not ask before cells are dropped"),
    passed(&["dry-run"], Takes::Nothing, "only show what would be played"),
    passed(&["json"], Takes::Nothing, "the result as JSON"),
    passed(&["memory"], Takes::One, ""),
    passed(&["quiet-slots"], Takes::One, ""),
    passed(&["listen"], Takes::One, "let workers of other machines join (spelrum run --help)"),
    passed(&["tls-cert"], Takes::One, ""),
    passed(&["tls-key"], Takes::One, ""),
    passed(&["accept-loss"], Takes::Nothing, ""),
    passed(&["on-finish"], Takes::One, ""),
    not_needed(&["repeat"], "the two games of an opening are always played with sides swapped"),
    not_needed(&["recover"], "an engine that fails loses its game, and is started again"),
    not_needed(
        &["ratinginterval", "scoreinterval", "report", "output"],
        "`spelrum watch` shows the standing",
    ),
    not_needed(&["autosaveinterval", "config"], "each game is in the database at once"),
    not_needed(&["log", "debug"], "the last lines of an engine are kept with each lost game"),
    not_needed(
        &["crc32", "site", "wait", "show-latency", "strict", "check-mate-pvs"],
        "it changes no game",
    ),
    not_needed(&["quiet", "q"], "write it first: spelrum --quiet match"),
    not_needed(&["use-affinity", "force-concurrency"], "timed games get cores of their own"),
    not_needed(
        &["startup-ms", "ucinewgame-ms", "ping-ms"],
        "the usual times are longer; an engines file has them",
    ),
    refused(
        &["tb", "tbpieces", "tbignore50", "tbadjudicate"],
        "Syzygy tables are not read yet: leave it out",
    ),
    OptionWord {
        names: &["help", "h"],
        takes: Takes::Nothing,
        values: "",
        meaning: "",
        becomes: Use::Help,
    },
    refused(&["epdout"], "write it from the database: spelrum games --format jsonl"),
    refused(&["quick"], "write spelrum match ENGINE ENGINE --clock 10+0.1 --book FILE"),
    refused(&["reverse"], "it has no counterpart: leave it out"),
];

/// The options for the help, a line each.
pub(crate) fn options_help() -> String {
    let shown = OPTIONS.iter().filter(|option| !option.meaning.is_empty());
    let lines = shown.map(|option| {
        let names =
            option.names.iter().enumerate().map(|(place, name)| {
                if place == 0 { format!("--{name}") } else { format!("-{name}") }
            });
        let names = names.collect::<Vec<_>>().join(", ");
        let words = format!("{names} {}", option.values);
        format!("  {}\n          {}\n", words.trim_end(), option.meaning)
    });
    lines.collect()
}

/// An engine on the command line, or what holds for all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct EngineWords {
    pub(crate) name: Option<String>,
    pub(crate) command: Option<String>,
    /// Its keys in an engines file.
    pub(crate) program: InlineTable,
    /// Its options.
    pub(crate) options: InlineTable,
    /// Its limits in a sweep.
    pub(crate) limits: InlineTable,
}

/// A match on the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct MatchWords {
    pub(crate) engines: Vec<EngineWords>,
    pub(crate) common: EngineWords,
    /// Keys of the sweep.
    pub(crate) sweep: InlineTable,
    pub(crate) adjudication: InlineTable,
    pub(crate) chess960: bool,
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
    /// Options that are not needed, and why.
    pub(crate) notes: Vec<String>,
}

/// The clock of an engine that has none, whatever all others have.
pub(crate) const NO_CLOCK: &str = "inf";

/// Games of two engines unless the command line says otherwise: without and with a sequential test.
const GAMES: u64 = 1_000;
const GAMES_OF_TEST: u64 = 20_000;

fn wrong(problem: impl Into<String>, remedy: impl Into<String>) -> CliError {
    let remedy: String = remedy.into();
    CliError::new(Exit::Usage, "read the match").because(problem.into()).help(remedy)
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
    /// Takes `KEY=VALUE`.
    fn take(&mut self, word: &str) -> Result<()> {
        const KEYS: [&str; 14] = [
            "cmd",
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
            "option.",
        ];
        let (key, value) = pair("an engine", word)?;
        if let Some(option) = key.strip_prefix("option.") {
            self.options.insert(option, option_value(value));
            return Ok(());
        }
        match key {
            "cmd" => self.command = Some(value.to_owned()),
            "name" => self.name = Some(value.to_owned()),
            "dir" => _ = self.program.insert("directory", absolute(value)?.into()),
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
                let names = [("uci", "uci"), ("xboard", "xboard"), ("cecp", "xboard")];
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
            // Every engine gets `ucinewgame` before each game, and a failed engine is restarted.
            "restart" | "trust" | "whitepov" | "stderr" => {}
            "ponder" if value == "false" => {}
            "ponder" => {
                return Err(wrong(
                    "pondering is not supported",
                    "leave `ponder` out: both sides of a game share a core here",
                ));
            }
            _ => {
                return Err(wrong(
                    format!("an engine has no key `{key}`"),
                    did_you_mean(key, "keys", KEYS),
                ));
            }
        }
        Ok(())
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

fn absolute(path: &str) -> Result<String> {
    let path = std::path::absolute(Path::new(path));
    path.map(|path| path.display().to_string())
        .map_err(|error| wrong(error.to_string(), "name a folder that is there"))
}

fn pair<'a>(of: &str, word: &'a str) -> Result<(&'a str, &'a str)> {
    word.split_once('=').filter(|(key, _)| !key.is_empty()).ok_or_else(|| {
        let problem = format!("`{word}` is no KEY=VALUE of {of}");
        wrong(problem, "engines without keys come first: spelrum match ./new ./old --clock 8+0.08")
    })
}

impl MatchWords {
    /// Reads the words after `spelrum match`.
    ///
    /// # Errors
    /// If an option or a key is unknown, or has a value without a meaning.
    pub(crate) fn read(words: &[String]) -> Result<Self> {
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
            read.take(name, &values)?;
        }
        Ok(read)
    }

    fn take(&mut self, name: &str, values: &[&str]) -> Result<()> {
        let Some(option) = OPTIONS.iter().find(|option| option.names.contains(&name)) else {
            let names = OPTIONS.iter().flat_map(|option| option.names.iter().copied());
            let remedy = did_you_mean(name, "options", names);
            let problem = format!("there is no option `{name}`");
            return Err(wrong(problem, format!("{remedy} (spelrum match --help has all of them)")));
        };
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
                self.notes.push(format!("note: {name} is not needed: {why}"));
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
                let mut engine = EngineWords::default();
                pairs.iter().try_for_each(|word| engine.take(word))?;
                self.engines.push(engine);
            }
            "each" => pairs.iter().try_for_each(|word| self.common.take(word))?,
            "option" => {
                pairs.iter().try_for_each(|word| self.common.take(&format!("option.{word}")))?;
            }
            "clock" => self.common.take(&format!("tc={word}"))?,
            "move-time" => self.common.take(&format!("st={word}"))?,
            "nodes" | "depth" => self.common.take(&format!("{name}={word}"))?,
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
                (key @ ("plies" | "count"), count) => {
                    book.insert(key, number(&format!("`{key}`"), count)?.into());
                }
                ("start", "1") | ("format" | "policy", _) => {}
                ("start", _) => {
                    let problem = "openings are to begin within the book";
                    return Err(wrong(problem, "leave `start` out, and cut the book"));
                }
                (key, _) => {
                    let keys = ["file", "order", "plies", "count", "format", "policy"];
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
