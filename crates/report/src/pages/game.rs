//! The page of a game: the board after any of its plies, its moves with their searches, and how to go on with it.

use std::ops::Range;

use maud::{Markup, html};
use spelrum_answers::{GameResult, SettledGame};
use spelrum_engine::games::Chess;
use spelrum_engine::search::{WIN, WIN_MIN};
use spelrum_engine::{
    Game as _, MoveRecord, Outcome, Parameters, Rules, Side, TextGame, Value, written_moves,
};
use spelrum_model::engines::Forfeit;

use super::score_graph::score_graph;
use crate::board;
use crate::error::Result;
use crate::games::name_opening;
use crate::replay::{RecordedGame, end, recorded_game, remark_words, search_words};
use crate::text::{count, duration_us, escaped, shortened};

/// Moves in the list: of a longer game, those around the position.
const MOVES_SHOWN: usize = 300;
/// Longest text of a name or a notation.
const NAME_CHARACTERS_MAX: usize = 200;
/// Longest text of a sentence or a player's parameters.
const SENTENCE_CHARACTERS_MAX: usize = 2_000;
/// Link to another ply of a page, before its number.
const QUERY: &str = "?ply=";
/// Longest text in several lines.
const TEXT_CHARACTERS_MAX: usize = 5_000;

/// Returns the contents of the page of a game, with its board after so many plies; by default, and beyond its end,
/// after all. Links lead to the same page with another `ply` in its query.
///
/// # Errors
/// If the definition of its cell is damaged.
pub fn game(game: SettledGame, ply: Option<u32>, links: &Markup) -> Result<Markup> {
    let link = format!("/experiments/{}", shortened(&game.experiment_uuid, NAME_CHARACTERS_MAX));
    contents(game, &link, |game| {
        let shown = ShownPly::new(game, ply, QUERY);
        html! {
            div id="game" class="game" data-ply=(shown.ply) {
                section class="position" {
                    (shown.steps())
                    div data-part="position" { (shown.position()) }
                }
                section class="list" data-part="moves" { (shown.list()) }
                section class="details" data-part="details" { (shown.details()) (links) }
            }
        }
    })
}

/// What the page of a game has above its boards, with this link to its experiment, and the boards of a game that did not
/// fail.
pub(super) fn contents(
    game: SettledGame,
    link: &str,
    boards: impl FnOnce(&RecordedGame) -> Markup,
) -> Result<Markup> {
    let title = html! {
        h1 { "Game " (game.summary.game_id) " of " (shortened(&game.experiment, NAME_CHARACTERS_MAX)) }
        p class="about" {
            a href=(link) { "Experiment" }
            ", cell " (game.summary.game.cell) ", number " (game.summary.game.number)
        }
    };
    if let GameResult::Failed(reason) = &game.summary.result {
        let [first, second] =
            game.summary.players.each_ref().map(|name| shortened(name, NAME_CHARACTERS_MAX));
        return Ok(html! {
            header { (title) p class="question" { bdi { (first) } " against " bdi { (second) } " failed." } }
            pre { (lines(reason)) }
        });
    }
    let game = recorded_game(game)?;
    let moves = game.moves.as_deref().unwrap_or_default();
    Ok(html! {
        header { (title) (result(&game)) (facts(&game, moves)) }
        (boards(&game))
    })
}

/// A text in several lines, with hidden characters escaped.
fn lines(text: &str) -> String {
    let text = escaped(text);
    match text.char_indices().nth(TEXT_CHARACTERS_MAX) {
        None => text.into_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// How the game ended.
fn result(game: &RecordedGame) -> Markup {
    html! {
        p class="question" { (shortened(&end(game), SENTENCE_CHARACTERS_MAX)) }
        @if let Some(Forfeit { message, output }) = &game.forfeit {
            p { "The fault: " (shortened(message, SENTENCE_CHARACTERS_MAX)) "." }
            @if !output.is_empty() {
                details { summary { "Last lines exchanged with the program" } pre { (lines(output)) } }
            }
        }
        @if let Some(reason) = &game.not_counted_reason {
            p { "The game does not count: " (shortened(reason, SENTENCE_CHARACTERS_MAX)) "." }
        }
    }
}

/// The players and the opening.
fn facts(game: &RecordedGame, moves: &[MoveRecord]) -> Markup {
    let definition = &game.definition;
    let info = definition.rules.game();
    let swapped = definition.swap_sides && game.game.number % 2 == 1;
    let sides = [game.end.first_side, game.end.first_side.other()];
    let winner = match game.end.outcome {
        Outcome::Win => Some(0),
        Outcome::Draw => None,
        Outcome::Loss => Some(1),
    };
    let opening = (info.name == Chess::NAME).then(|| {
        name_opening(
            &definition.rules,
            &game.opening,
            moves.iter().map(|record| record.mv.as_str()),
        )
    });
    html! {
        dl {
            @for (mover, name) in game.names.iter().enumerate() {
                dt { @if mover == 0 { "First mover" } @else { "Second mover" } }
                dd {
                    bdi { (shortened(name, NAME_CHARACTERS_MAX)) } ", " (info.side(sides[mover]).word)
                    @if winner == Some(mover) { ", " strong { "won" } }
                    @if let Some(engine) = &game.engines[mover] {
                        br;
                        "Program " bdi { (shortened(engine.shown_name(), NAME_CHARACTERS_MAX)) }
                        ", SHA-256 " (engine.sha256_short()) "…"
                    }
                    br;
                    code { (parameters_text(&definition.players[if swapped { 1 - mover } else { mover }])) }
                }
            }
            dt { "Game" }
            dd { (info.name) @for word in rule_words(&definition.rules) { ", " (word) } }
            dt { "Opening" }
            dd {
                @if let Some(opening) = opening.flatten() { (opening.name) " (" (opening.eco) ")" br; }
                code { (shortened(&game.opening, NAME_CHARACTERS_MAX)) }
            }
        }
    }
}

fn parameters_text(parameters: &Parameters) -> String {
    let words = parameters.iter().map(|(name, value)| format!("{name}={}", value_text(value)));
    shortened(&words.collect::<Vec<_>>().join(" "), SENTENCE_CHARACTERS_MAX)
}

/// A value as in a sweep, without the quotes of a word.
fn value_text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Bool(_)
        | Value::Integer(_)
        | Value::Number(_)
        | Value::List(_)
        | Value::Table(_) => serde_json::to_string(value).unwrap_or_default(),
    }
}

/// Rules that differ from the usual ones, each as `KEY=VALUE`.
pub(super) fn rule_words(rules: &Rules) -> Vec<String> {
    let usual = Rules::from_name(rules.name()).ok();
    let usual = |name: &str| {
        let mut values = usual.iter().flat_map(Rules::values);
        values.find(|(info, _)| info.name == name).map(|(_, value)| value.clone())
    };
    let unusual = rules.values().filter(|(info, value)| usual(info.name).as_ref() != Some(*value));
    unusual.map(|(info, value)| format!("{}={}", info.name, value_text(value))).collect()
}

/// A game after some of its plies.
pub(super) struct ShownPly<'g> {
    game: &'g RecordedGame,
    moves: &'g [MoveRecord],
    /// The moves in the customary notation.
    written: Vec<String>,
    /// Plies played.
    ply: usize,
    /// What a link to a ply has before its number.
    link: &'static str,
    /// The position, and why it is not that after all these plies if so.
    position: Option<TextGame>,
    problem: Option<String>,
}

impl<'g> ShownPly<'g> {
    pub(super) fn new(game: &'g RecordedGame, ply: Option<u32>, link: &'static str) -> Self {
        let moves = game.moves.as_deref().unwrap_or_default();
        let ply = ply.map_or(moves.len(), |ply| moves.len().min(ply as usize));
        let rules = &game.definition.rules;
        let texts = || moves.iter().map(|record| record.mv.as_str());
        let written = written_moves(rules, &game.opening, texts())
            .unwrap_or_else(|_| texts().map(ToOwned::to_owned).collect());
        let (position, problem) = match TextGame::new(rules, &game.opening) {
            Ok(position) => (Some(position), None),
            Err(problem) => (None, Some(format!("The opening is not valid: {problem}"))),
        };
        let mut shown = Self { game, moves, written, ply: 0, link, position, problem };
        while shown.ply < ply {
            shown.advance();
        }
        shown
    }

    /// Goes on by a ply, and returns whether there was one.
    pub(super) fn advance(&mut self) -> bool {
        let Some(record) = self.moves.get(self.ply) else { return false };
        self.ply += 1;
        if let Some(position) = self.position.as_mut().filter(|_| self.problem.is_none()) {
            let played = position.play(&record.mv);
            let number = self.ply;
            self.problem =
                played.err().map(|problem| format!("Move {number} is not legal: {problem}"));
        }
        true
    }

    pub(super) fn ply(&self) -> usize {
        self.ply
    }

    /// The move that led here.
    fn last(&self) -> Option<(&MoveRecord, &str)> {
        let index = self.ply.checked_sub(1)?;
        Some((self.moves.get(index)?, self.written.get(index)?))
    }

    fn side(&self, mover: u8) -> Side {
        if mover == 0 { self.game.end.first_side } else { self.game.end.first_side.other() }
    }

    fn side_word(&self, record: &MoveRecord) -> &'static str {
        self.game.definition.rules.game().side(self.side(record.mover)).word
    }

    /// Links and a slider to other plies.
    fn steps(&self) -> Markup {
        let last = self.moves.len();
        html! {
            @if last > 0 {
                nav class="steps" aria-label="Plies" data-part="steps" { (self.step_links(0)) }
                form class="plies" method="get" {
                    label for="ply" { "Ply" }
                    input id="ply" type="range" name="ply" min="0" max=(last) value=(self.ply);
                    button { "Show" }
                }
            }
        }
    }

    /// Links to other plies from this one on.
    pub(super) fn step_links(&self, from: usize) -> Markup {
        let last = self.moves.len();
        // There is but one of each in a page that shows one ply.
        let have_ids = self.link == QUERY;
        let steps = [
            ("first", "first", "f", "First", Some(from)),
            ("back", "prev", "b", "Back", self.ply.checked_sub(1).filter(|ply| *ply >= from)),
            ("next", "next", "n", "Next", Some(self.ply + 1)),
            ("last", "last", "l", "Last", Some(last)),
        ];
        html! {
            @for (id, rel, key, words, ply) in steps {
                @let id = have_ids.then_some(id);
                @match ply.filter(|ply| *ply <= last && *ply != self.ply) {
                    Some(ply) => a id=[id] rel=(rel) accesskey=[id.map(|_| key)] href={ (self.link) (ply) } { (words) },
                    None => a id=[id] role="link" aria-disabled="true" tabindex="-1" { (words) },
                }
            }
        }
    }

    /// The board and what was played last.
    pub(super) fn position(&self) -> Markup {
        let last = self.moves.len();
        html! {
            h2 class="reached" {
                @match self.last() {
                    Some((record, written)) => {
                        (self.ply) " of " (last) ": " (shortened(written, NAME_CHARACTERS_MAX)) " by " (self.side_word(record))
                    }
                    None => "The opening",
                }
            }
            @if let Some(position) = &self.position {
                (board::diagram(self.game.definition.rules.game(), &position.diagram()))
            }
            @if let Some(problem) = &self.problem {
                p role="alert" { (shortened(problem, SENTENCE_CHARACTERS_MAX)) }
            }
            p class="status" { (self.status()) }
        }
    }

    /// The side to move, or how the game ended.
    fn status(&self) -> String {
        let board = self.position.as_ref().map(TextGame::board).unwrap_or_default();
        match self.game.has_moves() && self.ply == self.moves.len() {
            true => shortened(&end(self.game), SENTENCE_CHARACTERS_MAX),
            false => board.lines().last().unwrap_or_default().to_owned(),
        }
    }

    /// The moves, each with its search and a link to the position after it.
    fn list(&self) -> Markup {
        let start = self.ply.saturating_sub(MOVES_SHOWN / 2);
        let start = start.min(self.moves.len().saturating_sub(MOVES_SHOWN));
        self.list_of(start..self.moves.len().min(start + MOVES_SHOWN))
    }

    /// These moves.
    pub(super) fn list_of(&self, range: Range<usize>) -> Markup {
        if !self.game.has_moves() {
            return html! {
                p { "The moves of this game are not recorded. " code { "spelrum replay" } " plays the game again." }
            };
        }
        let dash = || "-".to_owned();
        html! {
            h2 { "Moves" }
            @if range.len() < self.moves.len() {
                p class="note" {
                    "Moves " (range.start + 1) " to " (range.end) " of " (self.moves.len())
                    "."
                }
            }
            div class="wide moves" tabindex="0" role="region" aria-label="Moves" {
                table {
                    thead { tr {
                        th scope="col" { "move" } th scope="col" { "by" } th scope="col" { "depth" }
                        th scope="col" { "nodes" } th scope="col" { "score" } th scope="col" { "time" }
                    } }
                    tbody { @for index in range {
                        @let (record, written) = (&self.moves[index], &self.written[index]);
                        @let (search, ply) = (&record.search, index + 1);
                        @let is_unknown = search.nodes == 0;
                        tr {
                            td { a href={ (self.link) (ply) } aria-current=[(ply == self.ply).then_some("step")] { (ply) ". " (shortened(written, NAME_CHARACTERS_MAX)) } }
                            td { (self.side_word(record)) }
                            td { (if search.depth == 0 { dash() } else { search.depth.to_string() }) }
                            td { (if is_unknown { dash() } else { count(search.nodes) }) }
                            td { (search.score.map_or_else(dash, short_score)) }
                            td { (duration_us(record.wall_us as f64)) }
                        }
                    } }
                }
            }
            p class="note" { "Scores are for the side that moves." }
        }
    }

    /// The search of the last move, the scores of the game, and the position in other forms.
    fn details(&self) -> Markup {
        html! {
            (self.search())
            (self.scores())
            @if let Some(position) = &self.position {
                h2 { "The position" }
                (self.notation("notation"))
                details { summary { "As text" } pre { (position.board()) } }
            }
            h2 { "Commands" }
            pre class="commands" { @for line in self.commands() { (line) "\n" } }
            p class="note" {
                "For " code { "replay" } ", " code { "--coordinator URL" } " or the variable "
                code { "SPELRUM_COORDINATOR" } " names this coordinator."
            }
        }
    }

    /// The search of the last move.
    pub(super) fn search(&self) -> Markup {
        html! {
            @if let Some((record, written)) = self.last() {
                h2 { "The search for " (shortened(written, NAME_CHARACTERS_MAX)) }
                p {
                    bdi { (shortened(&self.game.names[usize::from(record.mover.min(1))], NAME_CHARACTERS_MAX)) }
                    " chose it from " (record.legal_moves) " legal moves: " (search_words(self.game, record)) "."
                }
                @if let Some(remarks) = &record.remarks {
                    ul class="remarks" { @for words in remark_words(remarks) {
                        li { (shortened(&words, SENTENCE_CHARACTERS_MAX)) }
                    } }
                    @if !remarks.note.is_empty() { pre class="note-of-engine" { (lines(&remarks.note)) } }
                }
            }
        }
    }

    /// The scores of the game.
    pub(super) fn scores(&self) -> Markup {
        html! {
            @if let Some(graph) = score_graph(&self.game.names, self.moves, self.ply) { h2 { "Scores" } (graph) }
        }
    }

    /// The position in the game's notation, in an element with this id.
    pub(super) fn notation(&self, id: &str) -> Markup {
        html! {
            @if let Some(position) = &self.position {
                p {
                    label for=(id) { "In the game's notation" } " "
                    input id=(id) class="notation" readonly value=(position.position());
                }
            }
        }
    }

    /// What a user may run next.
    fn commands(&self) -> Vec<String> {
        let rules = &self.game.definition.rules;
        let mut commands = Vec::new();
        if let Some(position) =
            self.position.as_ref().filter(|position| position.ending().is_none())
        {
            let rules: String = rule_words(rules)
                .iter()
                .map(|rule| format!(" --rule {}", shell_word(rule)))
                .collect();
            let name = self.game.definition.rules.name();
            let place = format!("{name}{rules} --position {}", shell_word(&position.position()));
            commands.push(format!("spelrum analyze {place} --player alpha-beta --depth 4"));
            commands.push(format!("spelrum solve {place} --time 10s"));
        }
        let from = self.ply.saturating_sub(1);
        let from = if from == 0 { String::new() } else { format!(" --from {from}") };
        commands.push(format!("spelrum replay {}{from}", self.game.game_id));
        commands
    }
}

/// A score in a table: a win or a loss by its distance.
pub(super) fn short_score(score: i32) -> String {
    match score {
        WIN_MIN => "win".to_owned(),
        score if score == -WIN_MIN => "loss".to_owned(),
        score if score > WIN_MIN => format!("win in {}", WIN - score),
        score if score < -WIN_MIN => format!("loss in {}", WIN + score),
        score => score.to_string(),
    }
}

/// A word for a POSIX shell.
fn shell_word(word: &str) -> String {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "-_.,/=+:".contains(character);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
