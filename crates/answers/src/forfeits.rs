//! Games that players lost by failing, not by their play.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_engine::Termination;
use spelrum_names::Names;

use crate::attention::{Attention, AttentionKind};
use crate::checked::{Inconsistent, check_counts};

/// Share of forfeited games above which a player gets a warning.
pub const FORFEITS_WARNED_OF: f64 = 0.02;

/// Kinds of forfeits, by the names of their terminations. Resignation is not among them: it is the player's judgement
/// of its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Names)]
pub enum ForfeitKind {
    /// Its program ended or could not be understood.
    Crash,
    /// The player overstepped its time.
    TimeForfeit,
    /// The player did not answer.
    Stall,
    /// Its answer was not a legal move.
    IllegalMove,
}

/// Counted games that a player forfeited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "PlayerForfeitsForm", into = "PlayerForfeitsForm")]
pub struct PlayerForfeits {
    /// The player's name in the sweep.
    pub player: String,
    /// Its counted games.
    pub games: u64,
    /// Of these, forfeited games, in the order of [`ForfeitKind::ALL`].
    pub by_kind: [u64; 4],
}

/// Forfeits in JSON, by the names of their kinds.
#[derive(Serialize, Deserialize, JsonSchema)]
struct PlayerForfeitsForm {
    /// The player's name in the sweep.
    player: String,
    /// Its counted games.
    games: u64,
    /// Games in which its program ended or could not be understood.
    crash: u64,
    /// Games in which it overstepped its time.
    time_forfeit: u64,
    /// Games in which it did not answer.
    stall: u64,
    /// Games in which its answer was not a legal move.
    illegal_move: u64,
}

impl TryFrom<PlayerForfeitsForm> for PlayerForfeits {
    type Error = Inconsistent;

    fn try_from(form: PlayerForfeitsForm) -> Result<Self, Inconsistent> {
        let PlayerForfeitsForm { player, games, crash, time_forfeit, stall, illegal_move } = form;
        let by_kind = [crash, time_forfeit, stall, illegal_move];
        check_counts("forfeits", by_kind)?;
        Ok(Self { player, games, by_kind })
    }
}

impl From<PlayerForfeits> for PlayerForfeitsForm {
    fn from(PlayerForfeits { player, games, by_kind }: PlayerForfeits) -> Self {
        let [crash, time_forfeit, stall, illegal_move] = by_kind;
        Self { player, games, crash, time_forfeit, stall, illegal_move }
    }
}

impl ForfeitKind {
    /// Returns the kind of a game that ended this way.
    #[must_use]
    pub fn from_termination(termination: Termination) -> Option<Self> {
        Self::named(termination.name())
    }

    /// Formats a number of these, in words.
    #[must_use]
    pub fn counted(self, games: u64) -> String {
        let (singular, plural) = match self {
            Self::Crash => ("crash", "crashes"),
            Self::TimeForfeit => ("time forfeit", "time forfeits"),
            Self::Stall => ("stall", "stalls"),
            Self::IllegalMove => ("illegal move", "illegal moves"),
        };
        format!("{games} {}", if games == 1 { singular } else { plural })
    }
}

impl PlayerForfeits {
    /// Returns the number of games that the player forfeited.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_kind.iter().sum()
    }

    /// Returns the share of its games that the player forfeited.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.total() as f64 / self.games.max(1) as f64
    }

    /// Whether the share is so large that the player's results reflect its program or its machines more than its
    /// play.
    #[must_use]
    pub fn is_notable(&self) -> bool {
        self.share() > FORFEITS_WARNED_OF
    }

    /// `12 of 40 games: 11 crashes, 1 time forfeit`
    #[must_use]
    pub fn in_words(&self) -> String {
        let kinds = ForfeitKind::ALL.into_iter().zip(self.by_kind);
        let kinds: Vec<String> = kinds
            .filter(|(_, games)| *games > 0)
            .map(|(kind, games)| kind.counted(games))
            .collect();
        let noun = if self.games == 1 { "game" } else { "games" };
        format!("{} of {} {noun}: {}", self.total(), self.games, kinds.join(", "))
    }
}

/// Sums counts by player, from rows with one kind of one player each.
#[must_use]
pub fn forfeits_by_player(
    counts: impl IntoIterator<Item = (String, ForfeitKind, u64)>,
    games_of: impl Fn(&str) -> u64,
) -> Vec<PlayerForfeits> {
    let mut players = std::collections::BTreeMap::<String, [u64; 4]>::new();
    for (player, kind, games) in counts {
        players.entry(player).or_default()[kind as usize] += games;
    }
    let players = players.into_iter();
    players
        .map(|(player, by_kind)| PlayerForfeits { games: games_of(&player), player, by_kind })
        .collect()
}

/// Games of an experiment that a player forfeited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForfeitedGames {
    /// The experiment's name.
    pub experiment: String,
    /// The player and its counts.
    pub forfeits: PlayerForfeits,
    /// Whether the experiment is paused for them.
    pub is_stopped: bool,
}

/// Reports forfeits if there are many: a few happen to any engine that plays by the clock.
pub(super) fn attention_of_forfeits(games: &ForfeitedGames) -> Option<Attention> {
    let ForfeitedGames { experiment, forfeits, is_stopped } = games;
    if !is_stopped && !forfeits.is_notable() {
        return None;
    }
    let player = &forfeits.player;
    let forfeited = format!("{player} forfeited {}", forfeits.in_words());
    let query = format!(
        "see what it said last: spelrum sql \"SELECT * FROM forfeited WHERE experiment = '{experiment}'\""
    );
    let (problem, remedy) = if *is_stopped {
        (
            format!("it is paused, since {forfeited}: more than its sweep allows"),
            format!("{query}; then resume it: spelrum resume {experiment}"),
        )
    } else {
        let remedy = format!(
            "{query}; if a machine is at fault, have its games replayed elsewhere: spelrum worker exclude WORKER"
        );
        (forfeited, remedy)
    };
    Some(Attention {
        kind: AttentionKind::Forfeits,
        experiment: Some(experiment.clone()),
        count: forfeits.total(),
        problem,
        remedy,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_players_forfeited_is_told_by_kind() {
        let counts = [
            ("fish".to_owned(), ForfeitKind::TimeForfeit, 1),
            ("bird".to_owned(), ForfeitKind::Stall, 1),
            ("fish".to_owned(), ForfeitKind::Crash, 2),
        ];
        let players = forfeits_by_player(counts, |player| if player == "fish" { 100 } else { 1 });
        let words: Vec<String> = players.iter().map(PlayerForfeits::in_words).collect();
        assert_eq!(words, ["1 of 1 game: 1 stall", "3 of 100 games: 2 crashes, 1 time forfeit"]);
        assert!(players.iter().all(PlayerForfeits::is_notable));
    }

    #[test]
    fn kinds_are_the_forfeits_that_are_no_decisions() {
        let kinds = Termination::OF_ARBITER.iter().filter(|termination| termination.is_forfeit());
        for &termination in kinds {
            let kind = ForfeitKind::from_termination(termination);
            assert_eq!(kind.is_none(), termination == Termination::RESIGNATION);
            assert!(kind.is_none_or(|kind| kind.name() == termination.name()));
        }
        for (at, kind) in ForfeitKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
        }
    }
}
