//! The scores of a game's searches by ply, as a small picture.

use std::fmt::Write as _;

use maud::{Markup, html};
use spelrum_engine::MoveRecord;
use spelrum_engine::search::WIN_MIN;

use crate::text::{count, shortened};

/// The picture's size, and where its plot begins and ends.
const SIZE: [f64; 2] = [640.0, 176.0];
const LEFT: f64 = 88.0;
const RIGHT: f64 = 632.0;
const MIDDLE: f64 = 84.0;
/// From the middle to the greatest score, without wins and beside them, and to wins.
const REACH: f64 = 60.0;
const REACH_BESIDE_WINS: f64 = 44.0;
const REACH_OF_WINS: f64 = 74.0;
/// The most points of a player, about.
const POINTS_MAX: usize = 400;
/// The longest name of a player.
const NAME_CHARACTERS_MAX: usize = 60;

/// Draws both players' scores as the first of them sees them, with a line after so many plies; `None` if no move has
/// a score.
pub(super) fn score_graph(names: &[String; 2], moves: &[MoveRecord], ply: usize) -> Option<Markup> {
    let scores = moves.iter().filter_map(|record| record.search.score);
    let (wins, others): (Vec<i32>, Vec<i32>) = scores.partition(|score| is_win(*score));
    if wins.is_empty() && others.is_empty() {
        return None;
    }
    let largest = others.iter().map(|score| score.unsigned_abs()).max().unwrap_or(0).max(1);
    let reach = if wins.is_empty() { REACH } else { REACH_BESIDE_WINS };
    let x = |plies: usize| LEFT + (RIGHT - LEFT) * plies as f64 / moves.len() as f64;
    let y = |score: i32| match is_win(score) {
        true => MIDDLE - REACH_OF_WINS * f64::from(score.signum()),
        false => MIDDLE - reach * f64::from(score) / f64::from(largest),
    };
    let line = |mover: u8| {
        let own: Vec<_> =
            moves.iter().enumerate().filter(|(_, record)| record.mover == mover).collect();
        let (mut path, mut goes_on) = (String::new(), false);
        for (index, record) in own.iter().step_by(own.len() / POINTS_MAX + 1) {
            let Some(score) = record.search.score else {
                goes_on = false;
                continue;
            };
            let score = if mover == 0 { score } else { score.saturating_neg() };
            let (command, dot) = if goes_on { ('L', "") } else { ('M', "h0") };
            // Writing into a text does not fail.
            let _ = write!(path, "{command}{:.1} {:.1}{dot}", x(index + 1), y(score));
            goes_on = true;
        }
        path
    };
    let first = shortened(&names[0], NAME_CHARACTERS_MAX);
    let label = |score: i32, text: String| (y(score), text);
    let mut labels = vec![label(0, "0".to_owned())];
    if !others.is_empty() {
        let text = count(largest.into());
        let largest = i32::try_from(largest).unwrap_or(i32::MAX);
        labels.extend([label(largest, format!("+{text}")), label(-largest, format!("-{text}"))]);
    }
    if !wins.is_empty() {
        labels.extend([label(WIN_MIN, "wins".to_owned()), label(-WIN_MIN, "loses".to_owned())]);
    }
    let [width, height] = SIZE;
    let about = format!(
        "The scores of both players' searches, as {first} sees them; the list of moves has them too"
    );
    Some(html! {
        svg class="scores" viewBox={ "0 0 " (width) " " (height) } role="img" aria-label=(about) {
            @for (y, text) in &labels {
                path class="grid" d={ "M" (LEFT) " " (format!("{y:.1}")) "H" (RIGHT) } {}
                text class="text" x=(LEFT - 6.0) y=(format!("{y:.1}")) dy="0.35em" text-anchor="end" { (text) }
            }
            path class="reference" d={ "M" (format!("{:.1}", x(ply))) " 6V162" } {}
            @for mover in [0, 1] { path class={ "line s" (mover) } d=(line(mover)) {} }
        }
        ul class="legend" {
            @for (mover, name) in names.iter().enumerate() {
                li {
                    svg class="key" viewBox="0 0 44 16" aria-hidden="true" { path class={ "line s" (mover) } d="M0 8h44" {} }
                    " " bdi { (shortened(name, NAME_CHARACTERS_MAX)) }
                }
            }
        }
    })
}

fn is_win(score: i32) -> bool {
    score.unsigned_abs() >= WIN_MIN.unsigned_abs()
}
