//! `pairing` and `anchors`: which players meet at each point of the grid.
//!
//! A name means all variants of its player, or one variant by its own name.

use std::collections::BTreeSet;

use spelrum_toml::{Fault, Node, Span, Tree};

use crate::fields::texts;
use crate::forms;
use crate::key::{self, Key, Keys, Own, Switch};
use crate::players::Players;

/// The pairings, as indices of variants.
#[derive(Debug)]
pub(super) struct Pairing {
    /// The first of each moves first in even games, or in all if sides are fixed. Distinct.
    pub(super) pairs: Vec<(usize, usize)>,
    /// The variants that others' strength is measured against.
    pub(super) anchors: Vec<usize>,
}

const EXAMPLE: &str = "pairing = \"round-robin\", \"self-play\", { gauntlet = \"alphabeta\" }, \
                       { between = [\"alphabeta\", \"genetic\"] } or \
                       { pairs = [[\"alphabeta\", \"genetic\"]] }";

/// Reads `pairing` and `anchors`; without `pairing` all meet all, without `anchors` there are none.
pub(super) fn read(
    pairing: Option<&Node>,
    anchors: Option<&Node>,
    players: &Players,
) -> Result<Pairing, Fault> {
    let mut drawn = Draw { players, pairs: Vec::new(), seen: BTreeSet::new() };
    match pairing {
        None => drawn.all_meet_all()?,
        Some(node) => drawn.form(node)?,
    }
    let anchors = match anchors {
        Some(node) => drawn.anchors(node)?,
        None => Vec::new(),
    };
    drawn.check_everybody_plays()?;
    Ok(Pairing { pairs: drawn.pairs, anchors })
}

/// Pairs as they are drawn up.
struct Draw<'a> {
    players: &'a Players,
    pairs: Vec<(usize, usize)>,
    /// The same pairs, for lookup.
    seen: BTreeSet<(usize, usize)>,
}

impl Draw<'_> {
    fn form(&mut self, node: &Node) -> Result<(), Fault> {
        let Tree::Table(table) = &node.tree else {
            return match node.text("`pairing`", EXAMPLE)? {
                "round-robin" => self.all_meet_all(),
                "self-play" => {
                    self.everybody_meets_itself(0..self.players.variants.len());
                    Ok(())
                }
                other => {
                    let problem = format!("there is no pairing \"{other}\"");
                    Err(Fault::at(&node.place, problem, format!("write {EXAMPLE}")))
                }
            };
        };
        let known_keys: Vec<&str> =
            key::names(PAIRING_FORMS).chain(key::names(PAIRING_BESIDES)).collect();
        table.check_keys("`pairing`", &known_keys)?;
        let is_form = |key: &str| key::names(PAIRING_FORMS).any(|form| form == key);
        let mut forms = table.entries.iter().filter(|entry| is_form(&entry.key));
        let (Some(form), None) = (forms.next(), forms.next()) else {
            let problem = "`pairing` takes exactly one form";
            return Err(Fault::at(&node.place, problem, format!("write {EXAMPLE}")));
        };
        match form.key.as_str() {
            "round_robin" => self.round_robin(&form.value)?,
            "gauntlet" => self.gauntlet(&form.value)?,
            "between" => self.between(&form.value)?,
            _ => self.listed(&form.value)?,
        }
        if SELF_PLAY.read(table)? {
            self.everybody_meets_itself(self.playing());
        }
        Ok(())
    }

    /// Every player against every later one.
    fn all_meet_all(&mut self) -> Result<(), Fault> {
        let everybody: Vec<usize> = (0..self.players.variants.len()).collect();
        if let [only] = everybody.as_slice() {
            return Err(Fault::at(
                self.place(*only),
                format!("`{}` has no opponent", self.name(*only)),
                "describe at least two players, each under a header such as [players.alphabeta]",
            ));
        }
        self.each_meets_later(&everybody);
        Ok(())
    }

    fn each_meets_later(&mut self, players: &[usize]) {
        for (index, &first) in players.iter().enumerate() {
            for &second in &players[index + 1..] {
                self.add(first, second);
            }
        }
    }

    fn everybody_meets_itself(&mut self, players: impl IntoIterator<Item = usize>) {
        for player in players {
            self.add(player, player);
        }
    }

    fn add(&mut self, first: usize, second: usize) {
        if self.seen.insert((first, second)) {
            self.pairs.push((first, second));
        }
    }

    /// The named players meet each other, in the file's order.
    fn round_robin(&mut self, node: &Node) -> Result<(), Fault> {
        let groups =
            self.groups(node, "`round_robin`", "round_robin = [\"alphabeta\", \"genetic\"]")?;
        let mut named: Vec<usize> = groups.concat();
        named.sort_unstable();
        if named.len() < 2 {
            return Err(Fault::at(
                &node.place,
                "a round-robin of one player has no games",
                "name at least two players, or choose \"self-play\"",
            ));
        }
        self.each_meets_later(&named);
        Ok(())
    }

    /// Heroes against every other player.
    fn gauntlet(&mut self, node: &Node) -> Result<(), Fault> {
        let example = "gauntlet = \"alphabeta\", or a list of players";
        let heroes = match &node.tree {
            Tree::Array(_) => self.groups(node, "`gauntlet`", example)?.concat(),
            Tree::Scalar(_) | Tree::Table(_) => {
                self.players.named(node.text("`gauntlet`", example)?, &node.place)?
            }
        };
        for &hero in &heroes {
            for other in 0..self.players.variants.len() {
                if !heroes.contains(&other) {
                    self.add(hero, other);
                }
            }
        }
        if self.pairs.is_empty() {
            let problem = match heroes.as_slice() {
                [hero] => format!("`{}` has no opponent", self.name(*hero)),
                _ => "the heroes of this gauntlet have no opponent".to_owned(),
            };
            return Err(Fault::at(
                &node.place,
                problem,
                "describe another player under a header such as [players.random]",
            ));
        }
        Ok(())
    }

    /// Every two different groups.
    fn between(&mut self, node: &Node) -> Result<(), Fault> {
        let example = "between = [\"alphabeta\", \"genetic\"]";
        let groups = self.groups(node, "`between`", example)?;
        if groups.len() < 2 {
            return Err(Fault::at(
                &node.place,
                format!("`between` takes at least two players, not {}", groups.len()),
                format!("write, for example, {example}"),
            ));
        }
        for (index, group) in groups.iter().enumerate() {
            for other in &groups[index + 1..] {
                self.every_two(group, other);
            }
        }
        Ok(())
    }

    fn every_two(&mut self, first: &[usize], second: &[usize]) {
        for &first in first {
            for &second in second {
                self.add(first, second);
            }
        }
    }

    fn listed(&mut self, node: &Node) -> Result<(), Fault> {
        let example = "pairs = [[\"alphabeta\", \"genetic\"]]";
        let Tree::Array(nodes) = &node.tree else {
            return Err(node.wrong_type("`pairs`", "a list of pairs", example));
        };
        if nodes.is_empty() {
            return Err(Fault::at(
                &node.place,
                "`pairs` lists no pair",
                format!("write, for example, {example}"),
            ));
        }
        let mut seen = BTreeSet::new();
        for node in nodes {
            let (first, second) = self.pair(node)?;
            if !seen.insert((first.clone(), second.clone())) {
                return Err(Fault::at(
                    &node.place,
                    "this pair is there twice",
                    "remove one of them",
                ));
            }
            if first == second {
                self.everybody_meets_itself(first);
            } else {
                self.every_two(&first, &second);
            }
        }
        Ok(())
    }

    /// Two names, equal ones for a player that meets itself.
    fn pair(&self, node: &Node) -> Result<(Vec<usize>, Vec<usize>), Fault> {
        let example = "[\"alphabeta\", \"genetic\"]";
        match texts(node, "a pair of players", example)?.as_slice() {
            [(first, first_place), (second, second_place)] => Ok((
                self.players.named(first, first_place)?,
                self.players.named(second, second_place)?,
            )),
            names => Err(Fault::at(
                &node.place,
                format!("a pair has two players, not {}", names.len()),
                format!("write, for example, {example}"),
            )),
        }
    }

    /// The variants that each name of a list means, each at most once.
    fn groups(&self, node: &Node, label: &str, example: &str) -> Result<Vec<Vec<usize>>, Fault> {
        let mut seen = BTreeSet::new();
        let mut groups = Vec::new();
        for (name, place) in texts(node, label, example)? {
            let group = self.players.named(name, place)?;
            if let Some(&twice) = group.iter().find(|&&player| !seen.insert(player)) {
                return Err(Fault::at(
                    place,
                    format!("{label} names `{}` twice", self.name(twice)),
                    "remove one of them",
                ));
            }
            groups.push(group);
        }
        Ok(groups)
    }

    /// Adds the pairs of each playing variant with each anchor; existing pairs stay as they are.
    fn anchors(&mut self, node: &Node) -> Result<Vec<usize>, Fault> {
        let anchors = self.groups(node, "`anchors`", "anchors = [\"random\"]")?.concat();
        let opponents: Vec<usize> =
            self.playing().into_iter().filter(|player| !anchors.contains(player)).collect();
        if opponents.is_empty() && !anchors.is_empty() {
            return Err(Fault::at(
                &node.place,
                "everybody who plays is an anchor, so nobody is measured against one",
                "leave a player out of `anchors`",
            ));
        }
        for player in opponents {
            for &anchor in &anchors {
                if !self.seen.contains(&(anchor, player)) {
                    self.add(player, anchor);
                }
            }
        }
        Ok(anchors)
    }

    /// The variants in any pair, in the file's order.
    fn playing(&self) -> BTreeSet<usize> {
        self.pairs.iter().flat_map(|&(first, second)| [first, second]).collect()
    }

    /// A player without opponents is a slip, unless other players are `like` it.
    fn check_everybody_plays(&self) -> Result<(), Fault> {
        let playing = self.playing();
        let is_idle = |variant: &usize| {
            !playing.contains(variant) && !self.players.template(*variant).is_model
        };
        match (0..self.players.variants.len()).find(is_idle) {
            None => Ok(()),
            Some(idle) => Err(Fault::at(
                self.place(idle),
                format!("the pairing gives `{}` no opponent", self.name(idle)),
                "pair it, or remove it",
            )),
        }
    }

    fn name(&self, variant: usize) -> &str {
        &self.players.variants[variant].name
    }

    fn place(&self, variant: usize) -> &Span {
        &self.players.template(variant).place
    }
}

/// The forms of `pairing` as a table, exactly one of which is given.
pub(super) const PAIRING_FORMS: Keys = &[
    &Key::new("round_robin", "", "These players meet each other.", Own(forms::player_names))
        .required(),
    &Key::new(
        "gauntlet",
        "",
        "One player, or each of several, meets every other player.",
        Own(forms::heroes),
    )
    .required(),
    &Key::new(
        "between",
        "",
        "Every two of these meet, but not the variants of one.",
        Own(forms::groups),
    )
    .required(),
    &Key::new(
        "pairs",
        "",
        "These pairs meet; twice the same player: it plays itself.",
        Own(forms::pairs),
    )
    .required(),
];

const SELF_PLAY: Key<Switch> = Key::new(
    "self_play",
    "Self-play",
    "Whether every player that plays also plays against itself.",
    Switch { default: false },
);

/// Keys that any of these forms may have besides.
pub(super) const PAIRING_BESIDES: Keys = &[&SELF_PLAY];
