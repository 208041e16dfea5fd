//! Games of chess in Portable Game Notation (Edwards 1994, "Portable Game Notation Specification"), readable by every
//! chess program.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::Value;
use spelrum_answers::date_time;
use spelrum_answers::{Played, places_text};
use spelrum_engine::games::Chess;
use spelrum_engine::search::{WIN, WIN_MIN};
use spelrum_engine::{
    ClockRule, Game as _, MoveRecord, Outcome, RunningClock, Side, Termination, written_moves,
};

use super::names::Names;
use super::openings::name_opening;
use super::{GameView, WriteGames, write_wrapped};
use crate::error::{Error, Kind, Result};

/// Writes games as PGN.
pub struct Pgn<W> {
    /// Output.
    pub out: W,
    /// Whether each move has a comment about its search.
    pub searches: bool,
    names: Names,
}

impl<W> Pgn<W> {
    /// Writes to `out`.
    pub fn new(out: W, searches: bool) -> Self {
        Self { out, searches, names: Names::default() }
    }
}

impl<W: Write> WriteGames for Pgn<W> {
    fn begin(&mut self, _: &[String]) -> Result<()> {
        Ok(())
    }

    fn write(&mut self, game: &GameView<'_>) -> Result<()> {
        let name = game.definition.rules.name();
        if name != Chess::NAME {
            return Err(Error::new(Kind::Input, "write games as PGN")
                .because(format!("they are games of {name}, and PGN is for chess"))
                .help("--format text is the same form for every game"));
        }
        Ok(write_game(&mut self.out, game, self.searches, &mut self.names)?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }

    fn finish(&mut self) -> Result<()> {
        self.flush()
    }
}

/// Writes a game and an empty line.
fn write_game(
    out: &mut dyn Write,
    game: &GameView<'_>,
    searches: bool,
    names: &mut Names,
) -> io::Result<()> {
    let result = game.played().map_or("*", |played| result(&Sheet::new(played)));
    for (tag, value) in tags(game, result, names) {
        writeln!(out, "[{tag} \"{}\"]", quotable(&value))?;
    }
    writeln!(out)?;
    let mut words = match (game.played(), &game.whole.game.moves) {
        (Some(played), Some(moves)) => movetext(game, played, moves, searches)?,
        (Some(_), None) => vec!["{moves are not stored}".to_owned()],
        (None, _) => Vec::new(),
    };
    words.push(result.to_owned());
    write_wrapped(out, words)
}

/// A played game from white's side: a game may start with black to move.
struct Sheet {
    white_moves_first: bool,
    outcome: Outcome,
    termination: Termination,
}

impl Sheet {
    fn new(played: &Played) -> Self {
        Self {
            white_moves_first: played.end.first_side == Side::First,
            outcome: played.end.outcome,
            termination: played.end.termination,
        }
    }
}

fn result(sheet: &Sheet) -> &'static str {
    match (sheet.outcome, sheet.white_moves_first) {
        (Outcome::Draw, _) => "1/2-1/2",
        (Outcome::Win, true) | (Outcome::Loss, false) => "1-0",
        (Outcome::Win, false) | (Outcome::Loss, true) => "0-1",
    }
}

/// Why a game ended, in the words of the specification (9.8.1).
fn termination(sheet: &Sheet) -> &'static str {
    let words = [
        (Termination::TIME_FORFEIT, "time forfeit"),
        (Termination::ILLEGAL_MOVE, "rules infraction"),
        (Termination::CRASH, "abandoned"),
        (Termination::STALL, "abandoned"),
        (Termination::MAX_PLIES, "adjudication"),
        (Termination::RESIGN_RULE, "adjudication"),
        (Termination::DRAW_RULE, "adjudication"),
        (Termination::TABLE, "adjudication"),
        (Termination::SYZYGY, "adjudication"),
    ];
    let found = words.iter().find(|(termination, _)| *termination == sheet.termination);
    found.map_or("normal", |(_, words)| words)
}

fn tags(game: &GameView<'_>, result: &str, names: &mut Names) -> Vec<(&'static str, String)> {
    let summary = &game.whole.game.summary;
    let sheet = game.played().map(Sheet::new);
    let white_moves_first = sheet.as_ref().is_none_or(|sheet| sheet.white_moves_first);
    let players = by_color(white_moves_first, summary.players.each_ref());
    let parameters = by_color(white_moves_first, game.parameters());
    let [white, black] =
        [0, 1].map(|side| names.name(players[side], &parameters[side], game.axes, &game.cell.axes));
    let clocks = by_color(white_moves_first, clocks(game));
    let [white_parameters, black_parameters] = parameters;
    let unknown = || "?".to_owned();
    let date = |us| date_time(us).chars().take("2026-11-23".len()).collect::<String>();
    let date = game.whole.started_unix_us.map(|us| date(us).replace('-', "."));
    // The seven mandatory tags, in their order.
    let mut tags = vec![
        ("Event", game.experiment.name.clone()),
        ("Site", game.whole.worker_name.clone().unwrap_or_else(unknown)),
        ("Date", date.unwrap_or_else(|| "????.??.??".to_owned())),
        ("Round", format!("{}.{}", summary.game.cell, summary.game.number)),
        ("White", white),
        ("Black", black),
        ("Result", result.to_owned()),
    ];
    let rules = &game.definition.rules;
    if rules.switch("chess960") {
        tags.push(("Variant", "Chess960".to_owned()));
    }
    if let Some(played) = game.played() {
        let start = Chess::start(rules).map(|start| start.to_string());
        if start.as_ref() != Ok(&played.opening) {
            tags.extend([("SetUp", "1".to_owned()), ("FEN", played.opening.clone())]);
        }
        tags.push(("PlyCount", played.end.plies.to_string()));
        let moves = game.whole.game.moves.iter().flatten().map(|record| record.mv.as_str());
        if let Some(opening) = name_opening(rules, &played.opening, moves) {
            tags.extend([("ECO", opening.eco.to_owned()), ("Opening", opening.name.to_owned())]);
        }
    }
    match clocks {
        [Some(white), Some(black)] if white == black => {
            tags.push(("TimeControl", time_control(white)));
        }
        [white, black] => {
            tags.extend(white.map(|clock| ("WhiteTimeControl", time_control(clock))));
            tags.extend(black.map(|clock| ("BlackTimeControl", time_control(clock))));
        }
    }
    tags.extend(game.whole.time_factor.map(|factor| ("TimeFactor", factor.to_string())));
    if let (Some(started_us), Some(wall_us)) = (game.whole.started_unix_us, summary.wall_us) {
        let ended_us = started_us.saturating_add_unsigned(wall_us);
        tags.push(("GameStartTime", date_time(started_us)));
        tags.push(("GameEndTime", date_time(ended_us)));
    }
    if let Some(sheet) = &sheet {
        tags.extend([
            ("Termination", termination(sheet).to_owned()),
            ("TerminationDetails", sheet.termination.words().to_owned()),
        ]);
    }
    if let Some(failure) = game.failure() {
        tags.extend([("Termination", "unterminated".to_owned()), ("Failure", failure.to_owned())]);
    }
    tags.extend([("WhiteParameters", white_parameters), ("BlackParameters", black_parameters)]);
    let names = [["WhiteEngine", "WhiteEngineSHA256"], ["BlackEngine", "BlackEngineSHA256"]];
    for (names, engine) in names.into_iter().zip(by_color(white_moves_first, game.engines())) {
        tags.extend(engine.into_iter().flat_map(|values| names.into_iter().zip(values)));
    }
    for (name, build) in
        ["WhiteBuild", "BlackBuild"].into_iter().zip(by_color(white_moves_first, game.builds()))
    {
        tags.extend(build.map(|build| (name, build)));
    }
    tags.extend(game.forfeit().map(|message| ("Forfeit", message.to_owned())));
    if let Some(axes) = places_text(game.axes, &game.cell.axes) {
        tags.push(("Axes", axes));
    }
    tags.extend([
        ("ExperimentUuid", game.experiment.uuid.clone()),
        ("CellHash", game.whole.game.definition_hash.to_string()),
        ("Number", summary.game.number.to_string()),
        ("GameId", summary.game_id.to_string()),
        ("Seed", game.definition.seed.to_string()),
    ]);
    if let Some(played) = game.played() {
        tags.push(("EngineRevision", played.engine_revision.to_string()));
    }
    tags.extend(summary.not_counted_reason.clone().map(|reason| ("NotCounted", reason)));
    tags
}

/// The clocks of the first and second mover, as scaled by their worker's speed, for those that have one.
fn clocks(game: &GameView<'_>) -> [Option<ClockRule>; 2] {
    // Factors are stored in thousandths.
    let permille = game.whole.time_factor.map(|factor| (factor * 1_000.0).round() as u32);
    game.parameters().map(|parameters| {
        let clock = clock(&parameters)?;
        Some(permille.map_or(clock, |permille| clock.scaled(permille)))
    })
}

/// The clock of a player with these parameters, if it has one.
fn clock(parameters: &str) -> Option<ClockRule> {
    let parameters: Value = serde_json::from_str(parameters).ok()?;
    ClockRule::parse(parameters.get("clock")?.as_str()?)
}

/// A clock in seconds, as in the tag: `40/60+0.6`. A time that is not in whole seconds has no form there, and is
/// unknown (`?`); increments have fractions in all programs.
fn time_control(clock: ClockRule) -> String {
    if !clock.time_us.is_multiple_of(1_000_000) {
        return "?".to_owned();
    }
    let seconds = |us: u64| us as f64 / 1e6;
    let moves = clock.moves.map(|moves| format!("{moves}/")).unwrap_or_default();
    let increment = match clock.increment_us {
        0 => String::new(),
        us => format!("+{}", seconds(us)),
    };
    format!("{moves}{}{increment}", clock.time_us / 1_000_000)
}

/// Orders values of the two sides by colour.
fn by_color<T>(white_moves_first: bool, [first, second]: [T; 2]) -> [T; 2] {
    if white_moves_first { [first, second] } else { [second, first] }
}

/// Formats a tag's value: in one line, with quotes and backslashes escaped.
fn quotable(value: &str) -> String {
    let mut quotable = String::with_capacity(value.len());
    for character in value.chars() {
        match character {
            '"' | '\\' => quotable.extend(['\\', character]),
            _ if character.is_control() => quotable.push(' '),
            _ => quotable.push(character),
        }
    }
    quotable
}

/// Numbers, moves and comments.
fn movetext(
    game: &GameView<'_>,
    played: &Played,
    moves: &[MoveRecord],
    searches: bool,
) -> io::Result<Vec<String>> {
    let texts = moves.iter().map(|record| record.mv.as_str());
    let written =
        written_moves(&game.definition.rules, &played.opening, texts).map_err(io::Error::other)?;
    let fields: Vec<&str> = played.opening.split(' ').collect();
    let mut number: u64 = fields.get(5).and_then(|field| field.parse().ok()).unwrap_or(1);
    let mut is_white = fields.get(1) != Some(&"b");
    let mut words = Vec::with_capacity(2 * moves.len());
    // After a comment black's move has its number too.
    let mut is_interrupted = true;
    let mut clocks = clocks(game).map(|clock| clock.map(RunningClock::new));
    for (san, record) in written.into_iter().zip(moves) {
        if is_white {
            words.push(format!("{number}."));
        } else if is_interrupted {
            words.push(format!("{number}..."));
        }
        words.push(san);
        if searches {
            let left_us = clocks[usize::from(record.mover.min(1))].as_mut().map(|clock| {
                clock.charge(record.wall_us);
                clock.left().time_us
            });
            words.push(comment(record, is_white, left_us));
        }
        is_interrupted = searches;
        number += u64::from(!is_white);
        is_white = !is_white;
    }
    Ok(words)
}

/// Formats a move's search as match runners do: the mover's score in pawns, if there is one, with the depth; the
/// time; and nodes. Then White's score, and the time left on the mover's clock, as board programs read them.
fn comment(record: &MoveRecord, is_white: bool, left_us: Option<u64>) -> String {
    let search = &record.search;
    let mut words = search.score.map(|value| format!("{}/{} ", score(value), search.depth));
    let words = words.get_or_insert_default();
    let _ = write!(words, "{:.3}s, n={}", record.wall_us as f64 / 1e6, search.nodes);
    if let Some(value) = search.score {
        let value = score(if is_white { value } else { value.saturating_neg() });
        let value = match value.split_once('M') {
            Some((sign, moves)) => format!("#{}{moves}", sign.trim_start_matches('+')),
            None => value.trim_start_matches('+').to_owned(),
        };
        let _ = write!(words, " [%eval {value},{}]", search.depth);
    }
    if let Some(us) = left_us {
        let seconds = us / 1_000_000;
        let (hours, minutes, tenths) = (seconds / 3_600, seconds / 60 % 60, us / 100_000 % 10);
        let _ = write!(words, " [%clk {hours}:{minutes:02}:{:02}.{tenths}]", seconds % 60);
    }
    format!("{{{words}}}")
}

/// Formats a score in pawns, or as moves to mate.
fn score(score: i32) -> String {
    let sign = if score < 0 { '-' } else { '+' };
    let size = score.saturating_abs().min(WIN);
    if size >= WIN_MIN {
        format!("{sign}M{}", (WIN - size + 1) / 2)
    } else {
        format!("{sign}{:.2}", f64::from(size) / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use spelrum_engine::SearchReport;

    use super::*;

    #[test]
    fn values_of_tags_are_one_quoted_line() {
        assert_eq!(quotable("a \"b\" \\ c\nd\u{1b}é"), "a \\\"b\\\" \\\\ c d é");
    }

    #[test]
    fn scores_are_in_pawns_or_moves_to_mate() {
        let scores = [0, 5, -125, WIN - 1, WIN - 2, WIN - 3, -(WIN - 4)].map(score);
        assert_eq!(scores, ["+0.00", "+0.05", "-1.25", "+M1", "+M1", "+M2", "-M2"]);
    }

    #[test]
    fn comments_are_read_by_board_programs() {
        let search =
            SearchReport { depth: 12, nodes: 7, score: Some(-35), ..SearchReport::UNKNOWN };
        let record = MoveRecord {
            mover: 1,
            mv: "e2e4".to_owned(),
            position_key: 0,
            legal_moves: 20,
            search,
            wall_us: 102_400,
            cpu_us: 0,
            involuntary_switches: None,
            remarks: None,
        };
        let black = comment(&record, false, Some(3_661_290_000));
        assert_eq!(black, "{-0.35/12 0.102s, n=7 [%eval 0.35,12] [%clk 1:01:01.2]}");
        let mate = SearchReport { score: Some(-(WIN - 4)), ..search };
        let mated = comment(&MoveRecord { search: mate, ..record.clone() }, true, None);
        assert_eq!(mated, "{-M2/12 0.102s, n=7 [%eval #-2,12]}");
        let none = SearchReport { score: None, ..search };
        assert_eq!(comment(&MoveRecord { search: none, ..record }, true, None), "{0.102s, n=7}");
    }

    #[test]
    fn time_controls_are_in_seconds() {
        let written = ["40/1m+600ms", "10s+100ms", "2m", "8.5s+100ms", "500ms"]
            .map(|text| time_control(ClockRule::parse(text).unwrap()));
        assert_eq!(written, ["40/60+0.6", "10+0.1", "120", "?", "?"]);
        assert_eq!(clock("{\"clock\":\"8s\"}").map(time_control).as_deref(), Some("8"));
        assert_eq!(clock("{\"depth\":3}"), None);
    }

    #[test]
    fn terminations_use_the_words_of_the_specification() {
        let words = |ended| {
            let (white_moves_first, outcome) = (true, Outcome::Draw);
            termination(&Sheet { white_moves_first, outcome, termination: ended })
        };
        for &ended in Termination::OF_ARBITER {
            assert_eq!(words(ended) == "adjudication", ended.is_adjudication(), "{ended:?}");
        }
        assert_eq!(words(Termination::FULL_BOARD), "normal");
    }

    #[test]
    fn results_are_whites() {
        let sheet = |outcome, white_moves_first| Sheet {
            white_moves_first,
            outcome,
            termination: Termination::MAX_PLIES,
        };
        let results = [
            (Outcome::Win, true),
            (Outcome::Win, false),
            (Outcome::Loss, true),
            (Outcome::Loss, false),
            (Outcome::Draw, false),
        ]
        .map(|(outcome, first)| result(&sheet(outcome, first)));
        assert_eq!(results, ["1-0", "0-1", "0-1", "1-0", "1/2-1/2"]);
    }
}
