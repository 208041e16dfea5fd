//! The builds of an engine in order: how each scores against the same opponent, and where that changed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ComparedCell;
use super::along::without;
use crate::Interval;

/// Several builds of an engine that met one opponent under the same conditions, in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct History<Cell> {
    /// The engine's player, without a build.
    pub player: String,
    /// The opponent's name.
    pub opponent: String,
    /// Their values on the axes, without that of commits.
    pub place: Vec<Option<String>>,
    /// At least two, in the grid's order, in which an earlier build comes before those that replaced it.
    pub builds: Vec<BuildScore<Cell>>,
}

/// The score of a build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BuildScore<Cell> {
    /// Its cell.
    pub cell: Cell,
    /// The commit, or the first digits of its hash; `None` for the build that a sweep without commits has now.
    pub build: Option<String>,
    /// Points per game.
    pub score: f64,
    /// Its 95% interval; `None` with too few openings.
    pub interval: Option<Interval>,
    /// What it gained over the build before, opening by opening; `None` for the first one.
    pub gain: Option<Gain>,
}

/// The difference of a build's score from that of the build before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gain {
    /// Points per game.
    pub score: f64,
    /// Its 95% interval; `None` with too few openings.
    pub interval: Option<Interval>,
    /// Whether the strength changed, at a level of 5% for all steps of the history together (Holm 1979).
    pub is_clear: bool,
}

/// A cell's score for the player of a history.
struct Step<'a, Cell> {
    cell: &'a ComparedCell<Cell>,
    is_first: bool,
    build: Option<&'a str>,
}

/// The level at which a change is clear.
const LEVEL: f64 = 0.05;

/// The histories of all engines that have several builds: players that differ only in their build (`dev@1be07d43` and
/// `dev`), or in the value of an axis of commits. Cells come in the grid's order, and have no self-play.
#[must_use]
pub fn histories<Cell: Copy>(axes: usize, cells: &[ComparedCell<Cell>]) -> Vec<History<Cell>> {
    let commits = (0..axes).find(|&axis| {
        let mut values = cells.iter().filter_map(|cell| cell.place[axis].as_deref()).peekable();
        values.peek().is_some() && values.all(is_commit)
    });
    let mut courses: Vec<(History<Cell>, Vec<Step<'_, Cell>>)> = Vec::new();
    for cell in cells {
        let commit = commits.and_then(|axis| cell.place[axis].as_deref());
        let place = commits.map_or_else(|| cell.place.clone(), |axis| without(axis, &cell.place));
        let sides = [(&cell.player, &cell.opponent, true), (&cell.opponent, &cell.player, false)];
        // A commit of the axis may be either player's: it is told of the first.
        let sides = if commit.is_some() { &sides[..1] } else { &sides[..] };
        for &(player, opponent, is_first) in sides {
            let (name, build) = match (commit, built(player)) {
                (Some(commit), _) => (player.as_str(), Some(commit)),
                (None, Some((name, build))) => (name, Some(build)),
                (None, None) => (player.as_str(), None),
            };
            let step = Step { cell, is_first, build };
            let is_course = |(course, _): &&mut (History<Cell>, _)| {
                course.player == name && course.opponent == *opponent && course.place == place
            };
            if let Some((_, steps)) = courses.iter_mut().find(is_course) {
                // An engine that is at both ends of a pairing comes once.
                if steps.iter().all(|known| known.build != step.build) {
                    steps.push(step);
                }
            } else {
                let (player, opponent) = (name.to_owned(), opponent.clone());
                let course = History { player, opponent, place: place.clone(), builds: Vec::new() };
                courses.push((course, vec![step]));
            }
        }
    }
    courses.retain(|(_, steps)| steps.len() > 1);
    courses
        .into_iter()
        .map(|(course, steps)| History { builds: scored(&steps), ..course })
        .collect()
}

/// Whether a text is the hash of a commit of Git.
fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// The name and the build of a player that another build replaced.
fn built(player: &str) -> Option<(&str, &str)> {
    let (name, build) = player.rsplit_once('@')?;
    let is_build = build == "unknown"
        || (build.len() >= 8 && build.bytes().all(|digit| digit.is_ascii_hexdigit()));
    is_build.then_some((name, build))
}

fn scored<Cell: Copy>(steps: &[Step<'_, Cell>]) -> Vec<BuildScore<Cell>> {
    let score = |step: &Step<'_, Cell>| match step.is_first {
        true => step.cell.score.clone(),
        false => step.cell.score.seen_by_opponent(),
    };
    let gains: Vec<_> =
        steps.windows(2).map(|steps| score(&steps[1]).minus(&score(&steps[0]))).collect();
    let mut order: Vec<(usize, f64)> =
        gains.iter().map(|gain| gain.p_value(0.0).unwrap_or(1.0)).enumerate().collect();
    order.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let mut is_clear = vec![false; gains.len()];
    for (rank, (step, p)) in order.into_iter().enumerate() {
        if p > LEVEL / (gains.len() - rank) as f64 {
            break;
        }
        is_clear[step] = true;
    }
    let gains = gains.iter().zip(is_clear).map(|(gain, is_clear)| {
        let interval = gain.interval().map(|interval| interval.clamped(-1.0, 1.0));
        Some(Gain { score: gain.value(), interval, is_clear })
    });
    let of_step = |(step, gain): (&Step<'_, Cell>, Option<Gain>)| {
        let score = score(step);
        let interval = score.interval().map(|interval| interval.clamped(0.0, 1.0));
        BuildScore {
            cell: step.cell.cell,
            build: step.build.map(ToOwned::to_owned),
            score: score.value(),
            interval,
            gain,
        }
    };
    steps.iter().zip(std::iter::once(None).chain(gains)).map(of_step).collect()
}
