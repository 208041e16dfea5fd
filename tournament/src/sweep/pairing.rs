//! `pairing`: who meets whom at each point of the grid.

use std::collections::BTreeSet;

use super::fault::{Fault, Span, did_you_mean};
use super::file::{check_keys, texts};
use super::players::PlayerTemplate;
use super::tree::{Node, Tree};

/// The players who meet, by their places in the file; the first of each moves first in even games.
#[derive(Debug)]
pub(super) struct Pairing {
    pub(super) pairs: Vec<(usize, usize)>,
}

const EXAMPLE: &str = "pairing = \"round-robin\", { gauntlet = \"alphabeta\" }, \
                       { between = [\"alphabeta\", \"genetic\"] } or \
                       { pairs = [[\"alphabeta\", \"genetic\"]] }";

/// Reads `pairing`; without it, all meet all.
pub(super) fn read(node: Option<&Node>, players: &[PlayerTemplate]) -> Result<Pairing, Fault> {
    let Some(node) = node else { return round_robin(players) };
    let pairs = match &node.tree {
        Tree::Table(table) => {
            check_keys(table, "`pairing`", &["gauntlet", "between", "pairs"])?;
            let [form] = table.entries.as_slice() else {
                let problem = "`pairing` takes exactly one form";
                return Err(Fault::at(&node.place, problem, format!("write {EXAMPLE}")));
            };
            match form.key.as_str() {
                "gauntlet" => gauntlet(&form.value, players)?,
                "between" => vec![pair(&form.value, players)?],
                _ => pairs(&form.value, players)?,
            }
        }
        Tree::Scalar(_) | Tree::Array(_) => {
            let form = node.text("`pairing`", EXAMPLE)?;
            if form != "round-robin" {
                let problem = format!("there is no pairing \"{form}\"");
                return Err(Fault::at(&node.place, problem, format!("write {EXAMPLE}")));
            }
            return round_robin(players);
        }
    };
    check_everybody_plays(&pairs, players)?;
    Ok(Pairing { pairs })
}

/// Every player against every later one.
fn round_robin(players: &[PlayerTemplate]) -> Result<Pairing, Fault> {
    if players.len() < 2 {
        return Err(Fault {
            problem: match players {
                [] => "nobody plays".to_owned(),
                [only, ..] => format!("`{}` has nobody to play against", only.name),
            },
            remedy: "describe at least two players, each under a header such as \
                     [players.alphabeta]"
                .to_owned(),
            place: players.first().map(|player| player.place.clone()),
        });
    }
    let later = |first| (first + 1..players.len()).map(move |second| (first, second));
    Ok(Pairing { pairs: (0..players.len()).flat_map(later).collect() })
}

/// One player against all others.
fn gauntlet(node: &Node, players: &[PlayerTemplate]) -> Result<Vec<(usize, usize)>, Fault> {
    let name = node.text("`gauntlet`", "gauntlet = \"alphabeta\"")?;
    let hero = player(name, &node.place, players)?;
    let others = (0..players.len()).filter(|&other| other != hero);
    let pairs: Vec<_> = others.map(|other| (hero, other)).collect();
    if pairs.is_empty() {
        return Err(Fault::at(
            &node.place,
            format!("`{name}` has nobody to play against"),
            "describe another player under a header such as [players.random]",
        ));
    }
    Ok(pairs)
}

fn pairs(node: &Node, players: &[PlayerTemplate]) -> Result<Vec<(usize, usize)>, Fault> {
    let example = "pairs = [[\"alphabeta\", \"genetic\"]]";
    let Tree::Array(nodes) = &node.tree else {
        return Err(node.wrong_type("`pairs`", "a list of pairs", example));
    };
    if nodes.is_empty() {
        return Err(Fault::at(
            &node.place,
            "nobody plays",
            format!("write, for example, {example}"),
        ));
    }
    let mut pairs = Vec::new();
    let mut seen = BTreeSet::new();
    for node in nodes {
        let pair = pair(node, players)?;
        if !seen.insert(pair) {
            return Err(Fault::at(&node.place, "this pair is there twice", "remove one of them"));
        }
        pairs.push(pair);
    }
    Ok(pairs)
}

/// Two names; a player may meet itself.
fn pair(node: &Node, players: &[PlayerTemplate]) -> Result<(usize, usize), Fault> {
    let example = "[\"alphabeta\", \"genetic\"]";
    match texts(node, "a pair of players", example)?.as_slice() {
        [(first, first_place), (second, second_place)] => {
            Ok((player(first, first_place, players)?, player(second, second_place, players)?))
        }
        names => Err(Fault::at(
            &node.place,
            format!("a pair has two players, not {}", names.len()),
            format!("write, for example, {example}"),
        )),
    }
}

fn player(name: &str, place: &Span, players: &[PlayerTemplate]) -> Result<usize, Fault> {
    players.iter().position(|player| player.name == name).ok_or_else(|| {
        Fault::at(
            place,
            format!("there is no player `{name}`"),
            did_you_mean(name, "players", players.iter().map(|player| player.name.as_str())),
        )
    })
}

/// A player that plays nobody is a slip, unless it is there for others to be `like` it.
fn check_everybody_plays(
    pairs: &[(usize, usize)],
    players: &[PlayerTemplate],
) -> Result<(), Fault> {
    let playing: BTreeSet<usize> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
    let idle =
        |(index, player): &(usize, &PlayerTemplate)| !playing.contains(index) && !player.is_model;
    match players.iter().enumerate().find(idle) {
        None => Ok(()),
        Some((_, player)) => Err(Fault::at(
            &player.place,
            format!("the pairing gives `{}` nobody to play against", player.name),
            "pair it, or remove it",
        )),
    }
}
