//! The options of a match: their names in our words and in those of fastchess and cutechess, and what becomes of each.

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    One,
    /// `KEY=VALUE`, any number of times.
    Pairs,
    /// One word, and then `KEY=VALUE`.
    OneAndPairs,
}

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
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

pub(super) struct OptionWord {
    /// Its names: ours first.
    pub(super) names: &'static [&'static str],
    pub(super) takes: Takes,
    /// Its values in the help.
    pub(super) values: &'static str,
    /// Its meaning in the help; not shown if empty.
    meaning: &'static str,
    pub(super) becomes: Use,
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

pub(super) const OPTIONS: &[OptionWord] = &[
    ours(
        &["engine"],
        Takes::Pairs,
        "cmd=PROGRAM KEY=VALUE…",
        "an engine, with keys of its own; algorithm=NAME for a built-in player",
    ),
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
    ours(
        &["game"],
        Takes::One,
        "NAME",
        "the game, for engines over ugi, gtp or lines [default: chess]",
    ),
    ours(&["protocol"], Takes::One, "NAME", "the protocol of all engines [default: uci]"),
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
    passed(
        &["coordinator"],
        Takes::One,
        "let the workers of this coordinator play: its URL or name",
    ),
    passed(&["ca"], Takes::One, ""),
    passed(&["cert"], Takes::One, ""),
    passed(&["key"], Takes::One, ""),
    not_needed(&["repeat"], "the two games of an opening are always played with sides swapped"),
    not_needed(&["recover"], "an engine that fails loses its game, and is started again"),
    not_needed(
        &["ratinginterval", "scoreinterval", "outcomeinterval", "resultformat", "report", "output"],
        "`spelrum watch` shows the standing",
    ),
    not_needed(&["autosaveinterval", "config"], "each game is in the database at once"),
    not_needed(&["log", "debug"], "the last lines of an engine are kept with each lost game"),
    not_needed(
        &["crc32", "site", "wait", "bookmode", "show-latency", "strict", "check-mate-pvs"],
        "it changes no game",
    ),
    not_needed(&["quiet", "q"], "write it first: spelrum --quiet match"),
    not_needed(&["use-affinity", "force-concurrency"], "timed games get cores of their own"),
    not_needed(
        &["startup-ms", "ucinewgame-ms", "ping-ms"],
        "the usual times are longer; an engines file has them",
    ),
    ours(
        &["tb"],
        Takes::One,
        "FOLDERS",
        "end games by the Syzygy tables in these folders, with `:` between them",
    ),
    ours(
        &["tbpieces"],
        Takes::One,
        "N",
        "the most pieces of such a position [default: as many as there are all tables of]",
    ),
    ours(&["tbignore50"], Takes::Nothing, "", "count wins that the fifty-move rule makes draws"),
    ours(
        &["tbadjudicate"],
        Takes::One,
        "BOTH|WIN_LOSS|DRAW",
        "the results by which tables end games [default: BOTH]",
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
