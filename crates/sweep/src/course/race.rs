//! `race`: which of several players is first.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_model::course::RaceSettings;
use spelrum_statistics::racing::RaceRule;
use spelrum_toml::{Fault, Tree};

use super::super::keys::course::race::{RACE_ERROR_RATE, RACE_ROUNDS, RACE_WITHIN};
use super::Course;
use crate::fields::texts;
use crate::pairing::Pairing;
use crate::players::Players;

/// An example of the table.
pub(super) const EXAMPLE: &str = "race = { players = [\"alphabeta\", \"genetic\"] }";

/// Most players in a race: every two are compared after each round (invariant 9).
const RACERS_MAX: usize = 500;

const PAIRING: &str = "write pairing = \"round-robin\", or pairing = { gauntlet = [...] } with the players that all \
                       of the race meet";

impl Course<'_> {
    /// The players that are compared, by their places among the variants, in the order of the sweep: all that play,
    /// unless the table names some.
    pub(super) fn racers(&self, players: &Players, pairing: &Pairing) -> Result<Vec<usize>, Fault> {
        let playing: BTreeSet<usize> = pairing.pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
        let Some(node) = self.value("players") else {
            return self.check_racers(playing, players, pairing);
        };
        let names = match &node.tree {
            Tree::Array(_) => texts(node, "`players`", EXAMPLE)?,
            Tree::Scalar(_) | Tree::Table(_) => vec![(self.text("players")?, &node.place)],
        };
        let mut racers = BTreeSet::new();
        for (name, place) in names {
            for racer in players.named(name, place)? {
                let name = &players.variants[racer].name;
                if !playing.contains(&racer) {
                    let problem = format!("`{name}` does not play");
                    return Err(Fault::at(place, problem, "add it to the `pairing`"));
                }
                if !racers.insert(racer) {
                    let problem = format!("`players` names `{name}` twice");
                    return Err(Fault::at(place, problem, "remove one of them"));
                }
            }
        }
        self.check_racers(racers, players, pairing)
    }

    /// Refuses players whose scores cannot be compared: all must meet the same opponents, beside each other.
    fn check_racers(
        &self,
        racers: BTreeSet<usize>,
        players: &Players,
        pairing: &Pairing,
    ) -> Result<Vec<usize>, Fault> {
        let place = self.value("players").map_or(&self.node.place, |node| &node.place);
        let name = |variant: usize| &players.variants[variant].name;
        if !(2..=RACERS_MAX).contains(&racers.len()) {
            let problem =
                format!("a race compares 2 to {RACERS_MAX} players, not {}", racers.len());
            let remedy = "name the players that may be first, each with the same opponents";
            return Err(Fault::at(place, problem, remedy));
        }
        let mut opponents = BTreeMap::<usize, BTreeSet<usize>>::new();
        for &(a, b) in &pairing.pairs {
            let problem = if a == b {
                format!("`{}` would meet itself", name(a))
            } else if !racers.contains(&a) && !racers.contains(&b) {
                format!("`{}` and `{}` meet, and the race compares neither", name(a), name(b))
            } else if opponents.entry(a).or_default().insert(b)
                && opponents.entry(b).or_default().insert(a)
            {
                continue;
            } else {
                format!("`{}` and `{}` meet twice", name(a), name(b))
            };
            return Err(Fault::at(place, problem, PAIRING));
        }
        let first = racers.first().copied().unwrap_or_default();
        for &racer in &racers {
            let others = |player: usize, other: usize| -> BTreeSet<usize> {
                opponents[&player].iter().copied().filter(|&met| met != other).collect()
            };
            let [ours, theirs] = [others(first, racer), others(racer, first)];
            if let Some(&other) = ours.symmetric_difference(&theirs).next() {
                let both = [name(first), name(racer)];
                let [met, not] = if ours.contains(&other) { both } else { [both[1], both[0]] };
                let problem = format!("`{met}` meets `{}`, and `{not}` does not", name(other));
                return Err(Fault::at(place, problem, PAIRING));
            }
        }
        Ok(racers.into_iter().collect())
    }

    /// The settings of a race of these players.
    pub(super) fn race(&self, players: Vec<String>) -> Result<RaceSettings, Fault> {
        let (rounds, within) = (RACE_ROUNDS.read(self.table)?, RACE_WITHIN.read(self.table)?);
        let rule = RaceRule::new(RACE_ERROR_RATE.read(self.table)?, within, rounds);
        let rule = rule.ok_or_else(|| {
            let remedy = format!("write, for example, {EXAMPLE}");
            Fault::at(&self.node.place, "a race cannot end by this", remedy)
        })?;
        Ok(RaceSettings { players, rule })
    }
}
