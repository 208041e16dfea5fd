//! A game between a person and a built-in player. Each link is an address that holds the whole game.

use std::fmt::Write as _;

use maud::{Markup, html};
use spelrum_answers::{AnalyzedPosition, GameResult, PositionAnalysis, SettledGame};
use spelrum_engine::games::Chess;
use spelrum_engine::{
    Game, GameInfo, ParameterKind, Parameters, Player, Problem, Rules, Side, TextGame, Value,
    with_game, written_moves,
};

use super::game::rule_words;
use super::layout::shown;
use super::play_address::{PlayAddress, player_text, read_player};
use super::play_moves::{Next, next_choices};
use crate::board;
use crate::replay::recorded_game;
use crate::text::{count, duration_us, ended_by_text, score_text, shortened};

/// Players that a person can choose without describing one, as far as they play the game.
const PRESETS: [(&str, &str); 8] = [
    ("plays at random", "random"),
    ("looks two plies ahead", "alpha-beta depth=2"),
    ("looks four plies ahead", "alpha-beta depth=4 preset=full"),
    ("searches for half a second", "alpha-beta move_time=500ms preset=full"),
    ("searches for two seconds", "alpha-beta move_time=2s preset=full"),
    ("Monte Carlo tree search, one second", "mcts move_time=1s"),
    ("genetic minimax, one second", "genetic-minimax depth=6 move_time=1s"),
    ("solves the game as far as two seconds allow", "exact move_time=2s"),
];

/// The player that gives exact values.
pub const EXACT_PLAYER: &str = "exact move_time=4s";

/// Longest text to copy.
const TEXT_CHARACTERS_MAX: usize = 20_000;

/// Moves of a game in the list: each link holds the game up to there.
const MOVES_SHOWN: usize = 60;

/// The page on which a person chooses a game.
#[must_use]
pub fn choose_game() -> Markup {
    html! {
        header data-still {
            h1 { "Play" }
            p class="question" { "A game against one of the built-in players. Its address holds the whole game: go back, reload it, or share the link." }
        }
        dl class="games" {
            @for game in Rules::games() {
                dt { a href={ "/play?game=" (game.name) } { (game.name) } }
                dd { (game.meaning) }
            }
        }
    }
}

/// The page that a link from elsewhere leads to: nothing is searched before it is followed.
#[must_use]
pub fn go_on(address: &PlayAddress) -> Markup {
    html! {
        header data-still { h1 { "Play" } }
        p { a href=(address) { "Go on with this game of " (shown(&address.game)) } }
    }
}

/// The page on which a person chooses rules, a player and a side.
///
/// # Errors
/// If there is no such game, or it has no such rule.
pub fn choose_player(address: &PlayAddress, new_seed: u64) -> Result<Markup, Problem> {
    let rules = address.read_rules().map_err(|problem| problem.moved_to(()))?;
    let game = rules.game();
    let plays = |text: &str| {
        read_player(text).is_ok_and(|player| Player::from_parameters(&rules, &player).is_ok())
    };
    Ok(html! {
        header { h1 { "Play " (game.name) } p class="about" { (game.meaning) } }
        form class="setup" data-still method="get" action="/play" {
            input type="hidden" name="game" value=(game.name);
            input type="hidden" name="seed" value=(new_seed);
            @if !address.moves.is_empty() {
                input type="hidden" name="moves" value=(address.moves.join(" "));
                p class="note" { "The game goes on after " (address.moves.len()) " moves." }
            }
            @for (info, value) in rules.values() {
                @let id = format!("rule.{}", info.name);
                p {
                    label for=(id) { (info.name) }
                    @match info.kind {
                        ParameterKind::Switch => select id=(id) name=(id) {
                            @for choice in ["true", "false"] {
                                option selected[*value == Value::Bool(choice == "true")] { (choice) }
                            }
                        },
                        ParameterKind::Word(words) => select id=(id) name=(id) {
                            @for word in words {
                                option selected[*value == Value::Text((*word).to_owned())] { (word) }
                            }
                        },
                        _ => input id=(id) name=(id) value=(serde_json::to_string(value).unwrap_or_default());,
                    }
                    span class="note" { (info.meaning) }
                }
            }
            p {
                label for="player" { "Player" }
                select id="player" name="player" {
                    @for (meaning, text) in PRESETS.iter().filter(|(_, text)| plays(text)) {
                        option value=(text) { (meaning) " (" (text) ")" }
                    }
                }
            }
            p {
                label for="own_player" { "Or another one" }
                input id="own_player" name="own_player" placeholder="alpha-beta depth=3";
                span class="note" { "Its algorithm and parameters, as in a sweep." }
            }
            fieldset {
                legend { "Or a player of an experiment, with the parameters that it plays by" }
                p { label for="experiment" { "Experiment" } input id="experiment" name="experiment"; }
                p { label for="name" { "Player" } input id="name" name="name"; }
            }
            fieldset {
                legend { "You play" }
                @for side in [Side::First, Side::Second] {
                    label { input type="radio" name="side" value=(side.name()) checked[side == address.side]; " " (game.side(side).word) }
                }
                span class="note" { (game.side(Side::First).word) " moves first from the start." }
            }
            p {
                label for="opening" { "Position to begin with" }
                input id="opening" name="opening" value=(address.opening);
                span class="note" { "In the game's notation; the start position if this is empty." }
            }
            button { "Play" }
        }
    })
}

/// A game under way, and what was found about its position.
#[derive(Debug)]
pub struct PlayedPosition<'a> {
    /// Its address.
    pub address: &'a PlayAddress,
    /// The position.
    pub answer: &'a AnalyzedPosition,
    /// What the player thinks of the position, if that is asked for.
    pub opinion: Option<PositionAnalysis>,
    /// What the exact player found, if that is asked for.
    pub exact: Option<PositionAnalysis>,
}

/// The page of a game under way.
///
/// # Errors
/// If the address is not one of a game.
pub fn play(position: &PlayedPosition<'_>) -> Result<Markup, Problem> {
    let PlayedPosition { address, answer, .. } = position;
    let starts = |half: &str| answer.legal_moves.iter().any(|mv| mv.starts_with(half));
    let whole_moves;
    let address = if starts(&address.half) {
        address
    } else {
        whole_moves = PlayAddress { half: String::new(), ..(*address).clone() };
        &whole_moves
    };
    let rules = address.read_rules().map_err(|problem| problem.moved_to(()))?;
    let game = rules.game();
    let opening = match address.opening.as_str() {
        "" => start(&rules)?,
        opening => opening.to_owned(),
    };
    let mut reached = TextGame::new(&rules, &opening)?;
    let mut movers = Vec::new();
    for mv in &address.moves {
        movers.push(reached.to_move());
        reached.play(mv)?;
    }
    let texts = || address.moves.iter().map(String::as_str);
    let written =
        written_moves(&rules, &opening, texts()).unwrap_or_else(|_| address.moves.clone());
    let mut diagram = reached.diagram();
    let is_over = answer.ending.is_some();
    let next = if is_over {
        Next::default()
    } else {
        next_choices(address, &answer.legal_moves, &mut diagram)
    };
    let word = |side: Side| game.side(side).word;
    let other = address.side.other();
    let status = match (&answer.ending, address.half.is_empty()) {
        (Some(ending), _) => {
            let result = match ending.winner {
                None => "A draw".to_owned(),
                Some(winner) if winner == address.side => "You win".to_owned(),
                Some(_) => "You lose".to_owned(),
            };
            format!("{result}: {}.", ending.words)
        }
        (None, true) => format!("Your move, {}.", word(address.side)),
        (None, false) => format!("{}, and then?", shown(&address.half)),
    };
    // The last earlier position in which the person was to move.
    let undo = movers.iter().rposition(|mover| *mover == address.side);
    Ok(html! {
        header data-still {
            h1 { "You against " (shown(&address.player)) }
            p class="about" {
                (game.name) @for rule in rule_words(&rules) { ", " (shown(&rule)) }
                "; you are " (word(address.side)) ", the player is " (word(other))
            }
        }
        div class="game" {
            section class="position" aria-label="Board" {
                (last_move(game, address, &movers, &written))
                (board::diagram_with_choices(game, &diagram, &next.on_board))
                p class="status" role="status" { (status) }
                @if !next.beside_board.is_empty() {
                    ul class="beside" { @for choice in &next.beside_board { li { a href=(choice.address) { (choice.name) } } } }
                }
                nav class="steps" aria-label="This game" {
                    @if !address.half.is_empty() { a href=(address.with_moves(&address.moves)) { "Another move" } }
                    @if let Some(undo) = undo { a href=(address.with_moves(&address.moves[..undo])) { "Undo" } }
                    a href=(PlayAddress { player: String::new(), ..address.with_moves(&[]) }) { "New game" }
                    @if !is_over {
                        a rel="nofollow" href=(PlayAddress { think: true, ..address.clone() }) { "What does it think?" }
                        a rel="nofollow" href=(PlayAddress { exact: true, ..address.clone() }) { "Exact value" }
                    }
                }
            }
            section class="list" {
                @if let Some(opinion) = &position.opinion { (opinion_markup(&rules, position, opinion)) }
                @if let Some(exact) = &position.exact { (exact_markup(word(answer.to_move), exact)) }
                h2 { "Moves" }
                (moves_markup(address, &movers, &written))
                h2 { "To copy" }
                (copy_markup(&rules, &opening, answer, &written, address))
            }
        }
    })
}

fn start(rules: &Rules) -> Result<String, Problem> {
    fn typed<G: Game>(rules: &Rules) -> Result<String, Problem> {
        Ok(G::start(rules).map_err(|problem| problem.moved_to(()))?.to_string())
    }
    with_game!(rules, G => typed::<G>(rules))
}

fn last_move(
    game: &GameInfo,
    address: &PlayAddress,
    movers: &[Side],
    written: &[String],
) -> Markup {
    html! {
        h2 class="reached" {
            @match movers.last().zip(written.last()) {
                None => "Before the first move",
                Some((mover, mv)) => {
                    (written.len()) ": " (shown(mv)) " by " (game.side(*mover).word)
                    (if *mover == address.side { " (you)" } else { " (the player)" })
                }
            }
        }
    }
}

/// The moves so far; those after which the person moves lead back there.
fn moves_markup(address: &PlayAddress, movers: &[Side], written: &[String]) -> Markup {
    let first = written.len().saturating_sub(MOVES_SHOWN);
    html! {
        @if written.is_empty() { p class="note" { "None yet." } }
        @if first > 0 { p class="note" { "The last " (MOVES_SHOWN) " of " (written.len()) "." } }
        ol class="played" start=(first + 1) {
            @for index in first..written.len() {
                @let mv = shown(&written[index]);
                @let next_mover = movers.get(index + 1);
                li { @match next_mover {
                    Some(mover) if *mover == address.side => a href=(address.with_moves(&address.moves[..=index])) { (mv) },
                    Some(_) | None => (mv),
                } }
            }
        }
    }
}

fn opinion_markup(
    rules: &Rules,
    position: &PlayedPosition<'_>,
    opinion: &PositionAnalysis,
) -> Markup {
    let line =
        written_moves(rules, &position.answer.position, opinion.line.iter().map(String::as_str));
    let line = line.unwrap_or_else(|_| opinion.line.clone()).join(" ");
    html! {
        h2 { "What the player thinks" }
        dl class="opinion" {
            dt { "Best move" } dd { (shown(&opinion.best_move)) }
            dt { "Score for " (rules.game().side(position.answer.to_move).word) } dd { (score_text(opinion.score)) }
            dt { "Line" } dd { (shown(&line)) }
            dt { "Search" }
            dd {
                "depth " (opinion.depth) ", " (count(opinion.nodes)) " nodes, "
                (duration_us(opinion.wall_us as f64)) ", ended by " (ended_by_text(opinion.ended_by))
            }
        }
        p class="note" { "Each ply of the line after the first is found by a search of its own." }
    }
}

fn exact_markup(side: &str, exact: &PositionAnalysis) -> Markup {
    html! {
        h2 { "Exact value" }
        p { @match exact.value {
            Some(value) => {
                (side) " " (match value { 1 => "wins", -1 => "loses", _ => "draws" }) " with best play by both sides; "
                (shown(&exact.best_move)) " reaches it."
            }
            None => "The position could not be solved in the time that a search has here.",
        } }
    }
}

/// The game as a text: PGN for chess, else its opening and moves; and the position.
fn copy_markup(
    rules: &Rules,
    opening: &str,
    answer: &AnalyzedPosition,
    written: &[String],
    address: &PlayAddress,
) -> Markup {
    let text = match rules.name() == Chess::NAME {
        true => pgn(rules, opening, answer, written, address),
        false => format!("{opening}: {}", address.moves.join(" ")),
    };
    let text = text.chars().take(TEXT_CHARACTERS_MAX).collect::<String>();
    html! {
        p {
            label for="text" { (if rules.name() == Chess::NAME { "PGN" } else { "The game" }) }
            textarea id="text" class="notation" rows="4" readonly { (text) }
        }
        p {
            label for="notation" { "The position" }
            input id="notation" class="notation" readonly value=(answer.position);
        }
    }
}

fn pgn(
    rules: &Rules,
    opening: &str,
    answer: &AnalyzedPosition,
    written: &[String],
    address: &PlayAddress,
) -> String {
    let player = address.player.replace('\\', "\\\\").replace('"', "\\\"");
    let [white, black] = match address.side {
        Side::First => ["You", player.as_str()],
        Side::Second => [player.as_str(), "You"],
    };
    let result = match &answer.ending {
        None => "*",
        Some(ending) => match ending.winner {
            None => "1/2-1/2",
            Some(Side::First) => "1-0",
            Some(Side::Second) => "0-1",
        },
    };
    let variant = if rules.switch("chess960") { "[Variant \"Chess960\"]\n" } else { "" };
    let set_up = match start(rules) {
        Ok(usual) if usual == opening => String::new(),
        Ok(_) | Err(_) => format!("[SetUp \"1\"]\n[FEN \"{opening}\"]\n"),
    };
    let black_begins = opening.split(' ').nth(1) == Some("b");
    let mut text = format!(
        "[Event \"?\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n[White \"{white}\"]\n\
         [Black \"{black}\"]\n[Result \"{result}\"]\n{variant}{set_up}\n"
    );
    for (index, mv) in written.iter().enumerate() {
        let ply = index + usize::from(black_begins);
        match (ply % 2, index) {
            // Writing into a text does not fail.
            (0, _) => _ = write!(text, "{}. ", ply / 2 + 1),
            (_, 0) => text.push_str("1... "),
            _ => {}
        }
        text.push_str(mv);
        text.push(' ');
    }
    text + result
}

/// Links from a ply of a settled game: to go on from there against the player that does not move there, and to what it
/// thinks. Nothing for a game that failed or whose definition is damaged, and after its end.
#[must_use]
pub fn continue_game(
    game: &SettledGame,
    ply: Option<u32>,
    can_search: impl Fn(&Rules, &Parameters) -> bool,
) -> Markup {
    if matches!(game.summary.result, GameResult::Failed(_)) {
        return html! {};
    }
    let Ok(game) = recorded_game(game.clone()) else { return html! {} };
    let rules = &game.definition.rules;
    let moves = game.moves.as_deref().unwrap_or_default();
    let ply = ply.map_or(moves.len(), |ply| moves.len().min(ply as usize));
    let moves: Vec<String> = moves[..ply].iter().map(|record| record.mv.clone()).collect();
    let Ok(mut reached) = TextGame::new(rules, &game.opening) else { return html! {} };
    if moves.iter().any(|mv| reached.play(mv).is_err()) || reached.ending().is_some() {
        return html! {};
    }
    let side = reached.to_move();
    let opponent = usize::from(side == game.end.first_side);
    let swapped = game.definition.swap_sides && game.game.number % 2 == 1;
    let parameters = |mover: usize| {
        let parameters = &game.definition.players[if swapped { 1 - mover } else { mover }];
        can_search(rules, parameters).then(|| player_text(parameters))
    };
    let rule = |word: String| {
        word.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let address = PlayAddress {
        game: rules.name().to_owned(),
        rules: rule_words(rules).into_iter().filter_map(rule).collect(),
        opening: game.opening.clone(),
        // A player that cannot search here does not play here: a person chooses another one.
        player: parameters(opponent).unwrap_or_default(),
        side,
        seed: 0,
        moves,
        half: String::new(),
        think: false,
        exact: false,
    };
    let thinker = parameters(1 - opponent).or_else(|| parameters(opponent));
    html! {
        h2 { "Play on from here" }
        ul {
            li { a href=(address) {
                "You as " (rules.game().side(side).word) " against "
                @if address.player.is_empty() { "a built-in player" } @else { bdi { (shortened(&game.names[opponent], 80)) } }
            } }
            @if let Some(thinker) = thinker {
                li { a rel="nofollow" href=(PlayAddress { think: true, player: thinker.clone(), ..address.clone() }) { "What the player thinks of this position" } }
                li { a rel="nofollow" href=(PlayAddress { exact: true, player: thinker, ..address.clone() }) { "The exact value of this position" } }
            }
        }
    }
}
