//! Legal moves for people: Pentago has hundreds, most of which differ only in a turn.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use spelrum_engine::Position;

/// The number of suggestions after an illegal move.
const NEAREST: usize = 3;

/// Lines are broken before this column.
const WIDTH: usize = 78;

/// The legal moves. Moves with the same continuations after a hyphen are grouped.
pub(super) fn listed<P: Position>(position: &P) -> String {
    let texts = texts(position);
    // By continuations, in order of first appearance.
    let mut by_head: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut place_of = BTreeMap::new();
    for text in &texts {
        let (head, tail) = match text.split_once('-') {
            None => (text.as_str(), None),
            Some((head, tail)) => (head, Some(tail)),
        };
        let place = *place_of.entry((head, tail.is_some())).or_insert_with(|| {
            by_head.push((head, Vec::new()));
            by_head.len() - 1
        });
        by_head[place].1.extend(tail);
    }
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for (head, tails) in by_head {
        match groups.iter_mut().find(|(_, group_tails)| *group_tails == tails) {
            Some((heads, _)) => heads.push(head),
            None => groups.push((vec![head], tails)),
        }
    }
    let mut text = match texts.len() {
        0 => return super::over(),
        1 => "One legal move:\n".to_owned(),
        moves => format!("{moves} legal moves:\n"),
    };
    for (mut heads, tails) in groups {
        heads.sort_by_key(|head| (head.get(1..), head.get(..1)));
        text.push_str(&wrapped(&heads, "  "));
        if !tails.is_empty() {
            let tails: Vec<_> = tails.into_iter().map(|tail| format!("-{tail}")).collect();
            let tails: Vec<_> = tails.iter().map(String::as_str).collect();
            text.push_str(&wrapped(&tails, "    each with "));
        }
    }
    text
}

/// The legal moves most similar to a text.
pub(super) fn nearest_to<P: Position>(position: &P, text: &str) -> String {
    let mut texts: Vec<_> = texts(position)
        .into_iter()
        .map(|legal| {
            let alike = text.chars().zip(legal.chars()).take_while(|(a, b)| a == b).count();
            ((strsim::damerau_levenshtein(text, &legal), Reverse(alike)), legal)
        })
        .collect();
    // Equally similar moves stay in the game's order.
    texts.sort_by_key(|(distance, _)| *distance);
    let nearest: Vec<_> = texts.into_iter().take(NEAREST).map(|(_, legal)| legal).collect();
    nearest.join(", ")
}

fn texts<P: Position>(position: &P) -> Vec<String> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    moves.iter().map(ToString::to_string).collect()
}

fn wrapped(words: &[&str], start: &str) -> String {
    let mut text = start.to_owned();
    let mut column = start.len();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            if column + 1 + word.len() > WIDTH {
                text.push_str("\n  ");
                column = 2;
            } else {
                text.push(' ');
                column += 1;
            }
        }
        text.push_str(word);
        column += word.len();
    }
    text.push('\n');
    text
}
